/* The whole program: what the series of a metric add up to. */
#ifndef AS_ANALYSIS_SCALING_TOTALS_H
#define AS_ANALYSIS_SCALING_TOTALS_H

#include "dataset/dataset.h"

/* The series of each metric: those of metric m are series[starts[m]] … series[starts[m + 1] - 1], ascending. */
typedef struct as_metric_series {
    uint32_t *starts, *series; /* malloc */
} as_metric_series;
bool as_metric_series_init(as_metric_series *out, const as_dataset *ds);
void as_metric_series_free(as_metric_series *of);

/* For each series of the dataset whether it is a part of its metric's total: all are, but of an inclusive metric only
 * those that no other series of the metric lies above. Sections are parts only where there is nothing else. A metric of
 * which the source does not say what it is counts as inclusive where, at the first and the last point, nothing is
 * smaller than the sum of what lies below it, and the roots are hardly larger; *guessed (ASSAY_NONE: none) is then the
 * first of these. malloc, the caller frees it; NULL when memory is out. */
bool *as_total_parts(const as_dataset *ds, const as_metric_series *by_metric, assay_id *guessed);
/* What a call path's values have to do with those of the call paths below it. */
typedef enum as_nesting {
    AS_NESTING_NONE,     /* nothing is known of it, or there are none below */
    AS_NESTING_APART,    /* exclusive values, or not plainly inclusive ones */
    AS_NESTING_INCLUSIVE /* so the source says, or so they look, as above */
} as_nesting;
/* False when memory is out. */
bool as_metric_nesting(const as_dataset *ds, assay_id metric, as_nesting *out);
/* A dataset with the same parameters and points, and one series for each metric: the sums of its parts (of the
 * statistics; variances of the repetitions are added, as if call paths varied independently), at the points where all
 * parts have a finite mean. Series i is of the i-th metric that has such a point; *metrics (malloc, the caller frees
 * it): which that is. The caller frees the dataset. NULL when memory is out. */
as_dataset *as_totals(const as_dataset *ds, const as_metric_series *by_metric, const bool *parts, assay_id **metrics);

#endif
