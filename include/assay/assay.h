/* assay: open every performance measurement, whatever tool wrote it.
 *
 * This is the whole public interface of libassay. A dataset is what one call of assay_open() yields; it owns all it
 * hands out. Every string is UTF-8, NUL-terminated, borrowed from the dataset and valid until assay_close().
 *
 * Errors: functions that can fail return an assay_status and fill the caller's assay_error (which may be NULL).
 * The library never prints, exits or aborts on any input, and numbers never depend on the locale.
 * Threads: different datasets may be used by different threads at the same time; one dataset by one thread at a
 * time. */
#ifndef ASSAY_ASSAY_H
#define ASSAY_ASSAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ASSAY_API __attribute__((visibility("default")))
#else
#define ASSAY_API
#endif

/* ---- versions, errors -------------------------------------------------------------------------------------------- */

/* "0.1.0": the version of the library that is running. */
ASSAY_API const char *assay_version(void);

typedef enum assay_status {
    ASSAY_OK = 0,
    ASSAY_E_IO = -1,          /* the operating system refused: a missing file, a full disk */
    ASSAY_E_NOMEM = -2,       /* out of memory, or a limit of assay_config reached */
    ASSAY_E_FORMAT = -3,      /* the input breaks the rules of its format */
    ASSAY_E_AMBIGUOUS = -4,   /* no format, or more than one, claims the input: name one in assay_config.format */
    ASSAY_E_UNSUPPORTED = -5, /* known, but not possible: a format that cannot be written, a loss under strict */
    ASSAY_E_SQL = -6,         /* SQLite refused the statement */
    ASSAY_E_CANCELLED = -7,   /* the progress function said stop */
    ASSAY_E_USAGE = -8        /* an unknown option, format name or value in the caller's arguments */
} assay_status;

/* What went wrong and where. The caller owns it; nothing in it needs freeing. */
typedef struct assay_error {
    assay_status code;
    int64_t offset;        /* byte in the file, -1 where it has none */
    uint32_t line, column; /* from 1, the column in bytes; 0 where unknown */
    char rule[48];   /* the name of the rule that was broken, as `assay validate` prints it; "" where there is none */
    char path[1024]; /* the file; "" where none is at fault */
    char message[1024]; /* what is wrong, and after a semicolon what to do; no file name, no newline */
} assay_error;

/* Writes "FILE:LINE:COL: message" (as much of it as is known) to buffer; always terminated. Returns buffer. */
ASSAY_API const char *assay_error_text(const assay_error *error, char *buffer, size_t size);

/* ---- opening and saving ------------------------------------------------------------------------------------------ */

typedef struct assay_dataset assay_dataset;

/* An index into one dataset. ASSAY_NONE: absent. */
typedef uint32_t assay_id;
#define ASSAY_NONE ((assay_id)-1)

/* Zero-initialise it; every field is optional. */
typedef struct assay_config {
    const char *format;         /* assay_open: read as this format; assay_save: write this one. NULL: found out */
    const char *const *options; /* options of the format, "key=value", ended by NULL */
    uint64_t memory_limit;      /* bytes a dataset may take; 0: three quarters of the machine's memory */
    uint32_t depth_limit;       /* nesting of JSON and the like; 0: 1024, of stacks 65,536 frames */
    bool keep_going;            /* assay_open: record every broken rule as a problem instead of stopping at the first */
    bool strict;                /* assay_save: refuse (ASSAY_E_UNSUPPORTED) where something would be lost */
    /* Called now and then with what is being done and how much of it is done (0..1); returning false cancels. */
    bool (*progress)(void *user, const char *stage, double fraction);
    void *user;
} assay_config;

/* Opens the file or directory at path as one dataset ("-": standard input). On success *out is the caller's, to be
 * given to assay_close(). */
ASSAY_API assay_status assay_open(const char *path, const assay_config *config, assay_dataset **out,
                                  assay_error *error);

/* Makes one dataset of several that measured the same parameters: points are united, metrics matched by name and call
 * paths by path; what both measured at one point becomes further repetitions. ASSAY_E_UNSUPPORTED where they have other
 * parameters, or other units of a metric. The parts stay the caller's. */
ASSAY_API assay_status assay_merge(assay_dataset *const *parts, size_t n, assay_dataset **out, assay_error *error);

/* Writes the dataset to path ("-": standard output). The file appears whole or not at all.
 * The format is config->format, or the one that path's ending names. What the format cannot hold is left out: see
 * assay_losses(). */
ASSAY_API assay_status assay_save(const assay_dataset *dataset, const char *path, const assay_config *config,
                                  assay_error *error);

/* Calls loss once for each kind of thing that saving in this format would lose. */
ASSAY_API assay_status assay_losses(const assay_dataset *dataset, const char *format,
                                    void (*loss)(void *user, const char *text), void *user, assay_error *error);

ASSAY_API void assay_close(assay_dataset *dataset);

/* ---- what is in it ----------------------------------------------------------------------------------------------- */

ASSAY_API const char *assay_format_name(const assay_dataset *dataset);
/* NULL where the format has no version or the file does not say it. */
ASSAY_API const char *assay_format_version(const assay_dataset *dataset);

typedef enum assay_kind {
    ASSAY_PARAMETERS,
    ASSAY_POINTS,
    ASSAY_RUNS,
    ASSAY_METRICS,
    ASSAY_REGIONS,
    ASSAY_CONTEXTS,
    ASSAY_LOCATIONS,
    ASSAY_VALUES,
    ASSAY_EVENTS,
    ASSAY_RECORDS,
    ASSAY_MODELS,
    ASSAY_ATTRIBUTES,
    ASSAY_PROBLEMS
} assay_kind;
ASSAY_API uint64_t assay_count(const assay_dataset *dataset, assay_kind kind);

typedef struct assay_metric {
    const char *name, *display_name, *unit, *dtype, *kind, *description; /* NULL where the source says nothing */
    assay_id parent;
} assay_metric;
/* False where there is no such metric. */
ASSAY_API bool assay_metric_get(const assay_dataset *dataset, assay_id id, assay_metric *out);

typedef struct assay_problem {
    const char *severity; /* "note", "warning", "error" */
    const char *rule, *file, *message;
    int64_t offset;
    uint32_t line, column;
} assay_problem;
ASSAY_API bool assay_problem_get(const assay_dataset *dataset, assay_id id, assay_problem *out);

/* ---- scaling models ---------------------------------------------------------------------------------------------- */

/* How models are fitted. Zero-initialise it; every field is optional. */
typedef struct assay_fit_config {
    const char *modeler; /* "basic", "refining", "segmented", "multi-parameter"; NULL: basic, or multi-parameter where
                                   there are several parameters */
    const char *measure; /* "mean", "median", "minimum", "maximum" of the repetitions; NULL: mean */
    const char *const *options; /* options of the modeler, "key=value", ended by NULL: see docs/models.md */
    const char *name;           /* of the set of models; NULL: "assay" */
    unsigned threads;           /* 0: as many as the machine has cores. The models do not depend on it */
    bool replace; /* drop the models the dataset has; otherwise they stay, and the new ones come behind them */
    /* As in assay_config. */
    bool (*progress)(void *user, const char *stage, double fraction);
    void *user;
} assay_fit_config;

/* Fits a model to every (metric, call path) that has data. They are then part of the dataset: assay_model_get(), the
 * tables model and term of SQL, assay_save(). *first (may be NULL): the id of the first new one; they go on to
 * assay_count(dataset, ASSAY_MODELS). ASSAY_E_USAGE where a name or an option is unknown or does not fit,
 * ASSAY_E_UNSUPPORTED where the dataset has no parameters. No query may be open. */
ASSAY_API assay_status assay_fit(assay_dataset *dataset, const assay_fit_config *config, assay_id *first,
                                 assay_error *error);

typedef struct assay_model {
    const char *set;      /* the name of its set of models */
    const char *modeler;  /* what found it */
    const char *measure;  /* what it models: "mean", … */
    const char *metric;   /* the name */
    const char *callpath; /* "main->sort->merge" */
    const char *function; /* "12.5 + 0.3 * p^(3/2) * log2(p)^(1)" */
    const char *growth;   /* how it grows for large values: "constant", "logarithmic", "linear", "quadratic", … */
    assay_id metric_id, context_id;
    double RSS, rRSS, SMAPE, AR2, RE; /* NAN where the source does not say it */
} assay_model;
/* False where there is no such model, or memory is out. */
ASSAY_API bool assay_model_get(assay_dataset *dataset, assay_id id, assay_model *out);

typedef struct assay_prediction {
    double value; /* of the model's function there; NAN where it has none */
    double low,
        high; /* a new measurement lies between them with a probability of 95 %; NAN where nothing can be said */
    double extrapolation; /* how far outside of what was measured: 4 is at four times the largest value; 1 inside */
} assay_prediction;

/* Predicts a model at n points. points: a number for each parameter, one point behind the other; out: room for n.
 * config: the one the model was fitted with, which the interval depends on (docs/predictions.md); NULL: none was given.
 * ASSAY_E_USAGE where there is no such model, or a number is not finite. */
ASSAY_API assay_status assay_predict(const assay_dataset *dataset, assay_id model, const assay_fit_config *config,
                                     const double *points, size_t n, assay_prediction *out, assay_error *error);

/* ---- the algebra of profiles ------------------------------------------------------------------------------------- */

/* How profiles are combined. Zero-initialise it; NULL is the same. The rules are in docs/algebra.md. */
typedef struct assay_algebra_config {
    /* only contexts equal in name, file, lines, call site and parameters belong together; else those of one name,
     * too */
    bool exact_match;
    bool all_metrics; /* assay_diff: keep what only one side measured, the other one being 0 */
} assay_algebra_config;

/* The results are datasets of their own, to be closed; the inputs stay the caller's, and may be closed before them.
 * What could not be kept is among the result's problems.
 *
 * What changed: target less base. Integer metrics become INT64, exact. */
ASSAY_API assay_status assay_diff(const assay_dataset *base, const assay_dataset *target,
                                  const assay_algebra_config *config, assay_dataset **out, assay_error *error);
/* The mean of repetitions. */
ASSAY_API assay_status assay_mean(assay_dataset *const *parts, size_t n, const assay_algebra_config *config,
                                  assay_dataset **out, assay_error *error);
/* One profile of several with other metrics or locations: each column comes whole from the last part that has it. */
ASSAY_API assay_status assay_merge_profiles(assay_dataset *const *parts, size_t n, const assay_algebra_config *config,
                                            assay_dataset **out, assay_error *error);
/* The subtrees of some regions as trees of their own, and without those of others, whose values go to their callers.
 * roots, prunes: names ended by NULL; NULL: none. ASSAY_E_USAGE where a name is not in the call tree. */
ASSAY_API assay_status assay_cut(const assay_dataset *dataset, const char *const *roots, const char *const *prunes,
                                 assay_dataset **out, assay_error *error);

/* ---- SQL --------------------------------------------------------------------------------------------------------- */

typedef struct assay_query assay_query;

/* Prepares a statement over the tables of the dataset (docs/sql.md). The dataset must stay open while the query is. */
ASSAY_API assay_status assay_query_open(assay_dataset *dataset, const char *sql, assay_query **out, assay_error *error);
/* Steps to the next row: ASSAY_OK and *row true, or ASSAY_OK and *row false behind the last one. */
ASSAY_API assay_status assay_query_next(assay_query *query, bool *row, assay_error *error);
ASSAY_API int assay_query_columns(const assay_query *query);
ASSAY_API const char *assay_query_column_name(const assay_query *query, int column);
ASSAY_API bool assay_query_is_null(const assay_query *query, int column);
ASSAY_API int64_t assay_query_int(const assay_query *query, int column);
ASSAY_API double assay_query_double(const assay_query *query, int column);
/* Valid until the next step. */
ASSAY_API const char *assay_query_text(const assay_query *query, int column);
ASSAY_API void assay_query_close(assay_query *query);

#ifdef __cplusplus
}
#endif
#endif
