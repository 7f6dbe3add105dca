/* Operations on sparse profiles, row by row: the result is sparse as well, and no more than one row of it is ever there
 * with all its columns. */
#ifndef AS_ANALYSIS_ALGEBRA_SPARSE_H
#define AS_ANALYSIS_ALGEBRA_SPARSE_H

#include "analysis/algebra/operation.h"

/* How the values that several runs have at one place become one. */
typedef enum as_sparse_rule {
    AS_SPARSE_SUM,  /* each times its run's factor, added up */
    AS_SPARSE_MEAN, /* added up, by the number of runs */
    AS_SPARSE_LAST  /* each column from the last run that has it */
} as_sparse_rule;

typedef struct as_sparse_term {
    const as_part_run *run;
    double factor; /* 1 or -1; of AS_SPARSE_SUM */
} as_sparse_term;

/* Whether all of these runs have the metric of the result as a sparse profile. */
bool as_is_sparse_operation(const as_operation *op, assay_id metric, const as_sparse_term *terms, size_t n);
/* Adds the profile of (metric, run) to the result, or none where there are no values. Contexts of a part that the
 * result lacks are left out. */
assay_status as_combine_sparse(as_operation *op, assay_id metric, assay_id run, as_sparse_rule rule,
                               const as_sparse_term *terms, size_t n);

#endif
