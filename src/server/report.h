/* The viewer's page as one file: the page itself, and inside it the answers to what its screens ask for
 * (docs/viewer-api.md), packed.
 *
 * What a report has of a screen is decided by the screen's endpoints: as_endpoint.report asks for answers, the most
 * telling first, as long as there is room. Each input has its share of the room, and what one leaves is for the next.
 * Nothing in the file depends on when or where it was made. */
#ifndef AS_SERVER_REPORT_H
#define AS_SERVER_REPORT_H

#include "server/request.h"

typedef struct as_html_report as_html_report;

/* title: of the page; NULL: made of the names of the inputs. limit: bytes of the whole file. NULL when memory is out.
 * The viewing must last. */
as_html_report *as_html_report_new(as_viewing *viewing, const char *title, uint64_t limit);
void as_html_report_free(as_html_report *report);
/* Whether there is any for data, beside the page and its title. */
bool as_html_report_has_room(const as_html_report *report);

typedef enum as_html_report_kept {
    AS_REPORT_KEPT,
    AS_REPORT_TOO_LARGE, /* for what is left: nothing was kept; ask for less */
    AS_REPORT_REFUSED    /* there is no such answer: why is kept, where that is due to what was asked for */
} as_html_report_kept;

/* The input that is at hand, with its number; NULL: what is about several of them is. */
const as_view_input *as_html_report_input(const as_html_report *report, size_t *number);

/* Keeps the answer to a request of n parameters, under the name by which the page asks for it: parameters by name,
 * those of one name as they are given, without the number of the first input (d=0). Asking again changes nothing. */
as_html_report_kept as_html_report_keep(as_html_report *report, const char *path, const as_parameter *parameters,
                                        size_t n);
/* The same with no more than this part of what is left. */
as_html_report_kept as_html_report_keep_part(as_html_report *report, const char *path, const as_parameter *parameters,
                                             size_t n, double part);
/* The same with one more parameter, of whose values (from the largest answer to the smallest, ended by NULL) the first
 * is taken for which there is room. Which; NULL: there is for none, or no such answer. */
const char *as_html_report_keep_first(as_html_report *report, const char *path, const as_parameter *parameters,
                                      size_t n, const char *name, const char *const *values, double part);
/* Whether there was no such answer to what was last asked for: that is no matter of room. */
bool as_html_report_last_refused(const as_html_report *report);
/* Of the answer last asked for, kept or not: how much it takes packed, and a number it has under a key that no other
 * part of it has; NAN: there is none. */
uint64_t as_html_report_last_size(const as_html_report *report);
double as_html_report_last_number(const as_html_report *report, const char *key);

/* The page is told which metrics the report has of the input at hand. */
void as_html_report_tell_metrics(as_html_report *report, const assay_id *metrics, size_t n);

/* A sentence for the reader about what was left out: "call paths under 0.1 % of the time". */
void as_html_report_note(as_html_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Bytes that there were for all of the input at hand, packed. */
uint64_t as_html_report_room(const as_html_report *report);
/* Bytes that are left for what is to be kept of the input at hand, unpacked about ten times as much. */
uint64_t as_html_report_left(const as_html_report *report);

/* What should be in the report could not be had: there will be none (as_html_report_write()). What does not apply to an
 * input (ASSAY_E_USAGE, ASSAY_E_UNSUPPORTED) is no such failure. error NULL: memory is out. */
void as_html_report_fail(as_html_report *report, const assay_error *error);

/* Asks every endpoint what to keep. */
void as_html_report_gather(as_html_report *report);
/* The notes so far, ended by NULL; borrowed. */
const char *const *as_html_report_notes(const as_html_report *report);
/* A summary as text, for who reads the page without its script: what the input is, the way to what costs most, and the
 * functions that do (report_text.c). False when memory is out. */
bool as_html_report_text(const as_view_input *input, as_output *out);

/* Writes the page. Fails as the first answer did that could not be had, and when memory is out: then out must not be
 * used. */
assay_status as_html_report_write(as_html_report *report, as_output *out, assay_error *error);

#endif
