/* Comparisons of two inputs that requests are about: tables of what changed (analysis/algebra/change_table.h), kept
 * from request to request.
 *
 * Parameters: a and b, the inputs (by default 0 and 1); both may be one input with several runs; metric, metric_a,
 * metric_b, run, run_a, run_b and location as the options of `diff`; pairing, which is its --match. Where the two have
 * no metric in common the main ones are set against each other, as it does. */
#ifndef AS_SERVER_CHANGES_H
#define AS_SERVER_CHANGES_H

#include "analysis/algebra/change_table.h"
#include "cli/diff_view.h"
#include "server/request.h"

/* How keys of functions end; those of call paths are the same without. */
#define AS_FLAT_KEY " flat"

typedef struct as_asked_changes {
    as_view_input *inputs[2];
    int64_t numbers[2];
    const as_dataset *sides[2];
    as_request_cli made;
    as_diff_view diff; /* metrics, runs and locations as the command chooses them; no values */
    as_matching matching;
    bool flat;
    bool wants_own;  /* exclusive numbers of all items will be needed */
    assay_id metric; /* of the united dataset; ASSAY_NONE: there is none */
    char *key;       /* says all of this in words */
    as_change_table *table;
    const as_change_values *values; /* NULL where there is no metric; both are the viewing's, until the request ends */
} as_asked_changes;

/* as_asked_changes_free() in every case. It must not move in memory. */
assay_status as_asked_changes_make(as_viewing *viewing, const as_request *request, bool flat, as_asked_changes *out,
                                   assay_error *error);
/* The same in two steps: what is asked for, without table and values; then these. Who has the table of the same trees
 * says so in between (out->table). */
assay_status as_asked_changes_choose(as_viewing *viewing, const as_request *request, bool flat, as_asked_changes *out,
                                     assay_error *error);
assay_status as_asked_changes_find(as_viewing *viewing, as_asked_changes *asked, assay_error *error);
/* Exclusive numbers of all items, too, which values need not have (as_change_values_complete()). */
assay_status as_asked_changes_complete(as_viewing *viewing, as_asked_changes *asked, assay_error *error);
/* Those of some items on a side. */
assay_status as_asked_exclusive(const as_asked_changes *asked, size_t side, const uint32_t *items, size_t n,
                                double *out, assay_error *error);
/* Says that the table is in use, for who has it from elsewhere. */
void as_asked_changes_touch(as_viewing *viewing, const as_asked_changes *asked);
/* Lets the values go, for who has taken what is needed of them: there is not always room for all. */
void as_asked_changes_forget_values(as_viewing *viewing, as_asked_changes *asked);
void as_asked_changes_free(as_asked_changes *asked);

/* The metric of a side, or ASSAY_NONE. */
static inline assay_id as_asked_metric_of(const as_asked_changes *asked, size_t side) {
    return asked->metric == ASSAY_NONE ? ASSAY_NONE
                                       : as_comparison_metric(&asked->diff.comparison, side, asked->metric);
}
/* With normalize=1 what the base's values are multiplied by, so that both have the same sum; else 1. */
double as_asked_scale(const as_asked_changes *asked, const as_request *request);
/* ASSAY_E_UNSUPPORTED where there is nothing to compare but names. */
assay_status as_asked_changes_need_metric(const as_asked_changes *asked, assay_error *error);

/* "a" and "b": what is compared; "metric" … "scale": what all of them have. */
void as_build_changes_head(as_builder *builder, const as_asked_changes *asked, double scale);

#endif
