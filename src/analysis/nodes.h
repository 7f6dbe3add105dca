/* Inclusive and exclusive values of the call tree, summed over locations, in the metric's own arithmetic.
 *
 * What the source stores decides: exclusive values are summed over the subtree to give the inclusive one, of inclusive
 * values the children's are taken off to give the exclusive one. Metrics of other kinds have no second value: `inclusive` is the value as it stands. */
#ifndef AS_ANALYSIS_NODES_H
#define AS_ANALYSIS_NODES_H

#include "dataset/dataset.h"

typedef struct as_node {
    assay_id context;
    bool has_exclusive;
    /* Integers beyond 64 bits become reals; a difference of unsigned values is never below 0. */
    as_number inclusive, exclusive;
} as_node;

/* The nodes of the subtree of `root` (ASSAY_NONE: of all contexts) with data of this run and metric, contexts ascending,
 * into out, a vector of as_node (cleared first). Metrics of exclusive values have a node wherever the subtree has data, others where the context has.
 * One pass over the contexts. scratch: a vector of as_node_sum, kept by the caller from call to call. False when memory is out. */
bool as_nodes(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, as_vec *scratch, as_vec *out);

typedef struct as_node_sum {
    __int128 whole, other; /* integers: the context's own value; the sum over its subtree, or its children */
    double real_whole, real_other;
    bool has_own, has_data;
} as_node_sum;

#endif
