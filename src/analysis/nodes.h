/* Inclusive and exclusive values of the call tree, summed over locations, in the metric's own arithmetic: see analysis/rows.h.
 *
 * Metrics of kinds without a second value have theirs in `inclusive`. Derived metrics are computed (analysis/derived.h). */
#ifndef AS_ANALYSIS_NODES_H
#define AS_ANALYSIS_NODES_H

#include "dataset/dataset.h"

typedef struct as_node {
    assay_id context;
    bool has_own; /* the source has a row for this very context */
    bool has_exclusive;
    bool is_whole; /* the type is an integer, and the following are exact */
    as_whole whole_inclusive, whole_exclusive;
    /* The same as numbers: those beyond 64 bits are reals. Of a composite type: the number people see (as_parts_shown()) */
    as_number inclusive, exclusive;
} as_node;

/* The nodes of one metric in one run, with room that is kept from call to call. */
typedef struct as_node_list {
    as_vec nodes;     /* as_node, contexts ascending */
    uint32_t n_parts; /* of a composite type, else 0 */
    as_vec parts;     /* double; of a composite type: for each node n_parts inclusive and n_parts exclusive ones */
    as_vec sums;      /* private */
} as_node_list;

void as_node_list_init(as_node_list *list);
/* The same, and what it takes counts as the dataset's, which must live longer. */
void as_node_list_init_of(as_node_list *list, const as_dataset *ds);
void as_node_list_free(as_node_list *list);
static inline size_t as_node_count(const as_node_list *list) { return list->nodes.count; }
static inline const as_node *as_node_at(const as_node_list *list, size_t i) { return &AS_AT(as_node, &list->nodes, i); }
/* The parts of node i, inclusive or exclusive; NULL unless the type is composite. */
const double *as_node_parts(const as_node_list *list, size_t i, bool exclusive);

/* The nodes of the subtree of `root` (ASSAY_NONE: of all contexts) with data of this run and metric into list. Metrics of exclusive values have a
 * node wherever the subtree has data, those of inclusive values where the context or a child has (a missing row is zeros), others where the context has. One pass over the contexts. */
assay_status as_nodes_find(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, as_node_list *list,
                           assay_error *error);
/* The same of the values at some locations (one bool for each of the dataset; NULL: all). Those that are no place are then left out. */
assay_status as_nodes_find_at(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, const bool *locations,
                              as_node_list *list, assay_error *error);

#endif
