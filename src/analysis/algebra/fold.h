/* Subtrees that are folded into their callers, of metrics that store inclusive and exclusive values: what a subtree has
 * in all becomes the caller's own. */
#ifndef AS_ANALYSIS_ALGEBRA_FOLD_H
#define AS_ANALYSIS_ALGEBRA_FOLD_H

#include "analysis/algebra/operation.h"

/* The inclusive value of a context of the part is added to the exclusive one of a context of the result. */
typedef struct as_fold {
    assay_id to, from;
    bool is_nested; /* `to` is a loop, and there is another between the two: lexical values leave it out */
} as_fold;

/* Adds what the pruned subtree of `context` goes to: its caller, and what is around it in the same function. into: for
 * each context of the part where it goes in the result. False when memory is out. */
bool as_add_folds(const as_dataset *part, const assay_id *into, assay_id context, as_vec *folds);

/* Whether a metric of the result is one whose values grow by what is folded: the exclusive side of an inclusive one, of
 * doubles. */
bool as_has_folds(const as_operation *op, assay_id metric);
/* The profile of such a metric in the result's run, from that of the only part: sorts folds (as_fold). */
assay_status as_fold_values(as_operation *op, assay_id metric, assay_id run, as_vec *folds);

#endif
