/* What operations on one part share that give each of its contexts a place in another tree: cut.c, regroup.c. */
#ifndef AS_ANALYSIS_ALGEBRA_CUTTING_H
#define AS_ANALYSIS_ALGEBRA_CUTTING_H

#include "analysis/algebra/operation.h"

/* u.maps[0].contexts of the operation: for each context of the part the one of the result that is made of it;
 * ASSAY_NONE: none. Where several share one, it is made of the first. */
typedef struct as_cutting {
    as_operation *op;
    const as_dataset *part;
    assay_id *into;    /* for each context of the part: where its values go in the result; ASSAY_NONE: nowhere */
    bool is_pruned;    /* some contexts share one of the result */
    bool keeps_blocks; /* values that the part has in blocks stay in such; else all become profiles */
    as_vec folds;      /* as_fold: what else becomes of subtrees that are pruned */
    uint64_t n_opaque; /* private: values that cannot be added */
} as_cutting;

/* Runs, attributes and values of the result, once its tree is there. Exclusive values of contexts that share one are
 * added; of others only the context that the shared one is made of counts. */
assay_status as_cutting_fill(as_cutting *cutting);

/* cutting_blocks.c: whether all values of a metric of the part are in blocks, and of one type. */
bool as_cutting_has_blocks(const as_cutting *cutting, assay_id metric);
/* Makes those of the part's metric `own` one block of the result's; adds: values of contexts that share one are added.
 * False when memory is out. */
bool as_cutting_move_blocks(as_cutting *cutting, assay_id metric, assay_id own, bool adds);

#endif
