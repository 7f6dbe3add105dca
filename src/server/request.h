/* A request of the viewer and its answer, wherever they come from and go to: HTTP (http.h), or a report that keeps the
 * answers.
 *
 * An endpoint is one `const struct as_endpoint`, named in server/endpoints.def; the files api_NAME.c have them. It
 * looks at the viewing and writes JSON. Paths, parameters and answers are in docs/viewer-api.md. Answers are bounded:
 * what a screen can show, never the whole of a large dataset. */
#ifndef AS_SERVER_REQUEST_H
#define AS_SERVER_REQUEST_H

#include "cli/cli.h"
#include "render/json_builder.h"
#include "server/viewing.h"

typedef struct as_parameter {
    const char *name, *value;
} as_parameter;

typedef struct as_request {
    const char *path; /* of the endpoint: "tree" */
    bool is_post;
    as_vec parameters; /* as_parameter; strings are the caller's */
    const char *body;  /* of a POST, NUL-terminated; "" where there is none */
    size_t body_size;
    /* Whether nobody waits for the answer any more: what takes long may stop. NULL: nobody can tell. */
    bool (*is_gone)(const void *connection);
    const void *connection; /* NULL: it is no client that asks, but a report */
} as_request;

struct as_html_report;

typedef struct as_endpoint {
    const char *path;
    bool is_post;
    /* Writes JSON to out. On failure what was written is thrown away, and the error is the answer: ASSAY_E_USAGE where
     * the request is wrong, others where it could not be done. */
    assay_status (*answer)(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error);
    /* Asks for the answers that a report should have of one input (as_html_report_input()), the most telling first, and
     * when it was called for each once more for what is about several of them. NULL: none. Reports take them in the
     * order of endpoints.def. */
    void (*report)(as_viewing *viewing, struct as_html_report *report);
} as_endpoint;

/* All of them, ended by NULL. */
extern const as_endpoint *const as_endpoints[];

/* Fills out with the answer, or with {"error": MESSAGE, "rule", "file", "line", "column", "offset"}. Returns the status
 * of HTTP that fits: 200; 400 usage; 404 no such endpoint; 405; 422 what was asked for cannot be had; 507 memory is
 * out; error: what it is made of, where it is not 200. Takes the viewing's lock. */
unsigned as_request_answer(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error);
/* The same of an error alone. */
void as_answer_error(as_output *out, const assay_error *error);

/* A number as answers have them: integers with all their digits, beyond 2^53 (where JavaScript loses some) as text. */
void as_answer_number(as_builder *builder, const char *key, as_number number);

/* A value of a table or an attribute; of longer texts the first `longest` bytes, and "…". */
enum { AS_LONGEST_VALUE = 4000 };
void as_answer_cell(as_builder *builder, const char *key, const as_cell *cell, size_t longest);

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* The first value, or NULL. "" counts as not given. */
const char *as_request_text(const as_request *request, const char *name);
/* A whole number from low to high; `usual` where it is not given. ASSAY_E_USAGE for anything else. */
assay_status as_request_number(const as_request *request, const char *name, int64_t low, int64_t high, int64_t usual,
                               int64_t *out, assay_error *error);
/* A finite number. */
assay_status as_request_real(const as_request *request, const char *name, double usual, double *out,
                             assay_error *error);
/* "1" or "true". */
bool as_request_flag(const as_request *request, const char *name);
/* The input that the parameter (usually "d") numbers, by default 0: one that could be read. */
assay_status as_request_input(const as_viewing *viewing, const as_request *request, const char *name,
                              as_view_input **out, assay_error *error);
/* The same for who changes its dataset (as_viewing_wait_alone()): it has the formulas of the request also behind
 * waiting. */
assay_status as_request_input_alone(as_viewing *viewing, const as_request *request, const char *name,
                                    as_view_input **out, assay_error *error);
/* The same for who reads it without the viewing's lock (as_viewing_leave()): those come first who wait to change it. */
assay_status as_request_input_to_read(as_viewing *viewing, const as_request *request, const char *name,
                                      as_view_input **out, assay_error *error);

/* ---- the words of the command ------------------------------------------------------------------------------------ */

/* Appends the parameters of the names in `takes` ("metric run location") as text, all of them in their order, so that
 * other choices give another text: what something made of them is kept under. False when memory is out. */
bool as_request_words(const as_request *request, const char *takes, as_vec *out);

/* A command line made of parameters: those of the names in `takes` ("metric run location") become the options of the
 * verb that have these names (with a - for each _), so that as_choose_runs() and its like understand them as the
 * command does. Several of one name are several options. What would be printed as an error is kept. */
typedef struct as_request_cli {
    as_cli cli;
    as_vec words;       /* char *: "--metric=time" */
    char message[2048]; /* the last error */
} as_request_cli;

/* out: cli.out, may be NULL. as_request_cli_free() in every case. */
assay_status as_request_cli_make(const as_request *request, const char *verb, const char *takes, as_output *out,
                                 as_request_cli *made, assay_error *error);
void as_request_cli_free(as_request_cli *made);
/* What a function of the command answered, as a status: error gets the message that would have been printed. */
assay_status as_request_cli_status(const as_request_cli *made, as_exit status, assay_error *error);

#endif
