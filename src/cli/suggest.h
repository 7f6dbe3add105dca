/* The verb suggest in two halves: what was asked and found (verb_suggest.c), and how it is shown (suggest_answer.c). */
#ifndef AS_CLI_SUGGEST_H
#define AS_CLI_SUGGEST_H

#include "analysis/scaling/advisor.h"
#include "cli/study.h"

typedef struct as_suggest {
    as_study study;
    assay_id metric;
    double seconds; /* of one unit of it */
    as_campaign campaign;
    as_advice_options options;
    as_vec *values; /* of --values: a vector of double for each parameter */
    as_fit fit;
    as_advice advice;
    double *low, *high; /* of the runtimes, one a suggestion; NAN: unknown */
    as_vec notes;       /* char *, of malloc: what the reader should know besides */
} as_suggest;

static inline const char *as_suggest_parameter(const as_suggest *s, size_t parameter) {
    return as_ds_parameter(s->study.ds, parameter);
}

/* Prints the answer in the style of the command line. */
as_exit as_suggest_print(as_cli *cli, const as_suggest *suggest);

/* The whole verb for a dataset that was read from `path`, and stays; models are added to it. */
as_exit as_suggest_of(as_cli *cli, as_dataset *ds, const char *path);

#endif
