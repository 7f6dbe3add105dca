/* Sums over locations of sparse profiles, without rows that have a number for each location: inside
 * analysis/nodes.c. */
#ifndef AS_ANALYSIS_STORED_NODES_H
#define AS_ANALYSIS_STORED_NODES_H

#include "analysis/nodes.h"

/* Puts a node with the sum as `inclusive` behind those of list for each of the contexts first … first + n - 1 that has
 * values at the locations wanted (one bool for each of the dataset; NULL: all). exclusive: NULL, or a profile with the
 * same columns, whose sums are the nodes' exclusive values. Each sum is that of the row with all its zeros, to the last
 * bit. */
assay_status as_sparse_nodes(const as_dataset *ds, const as_profile *profile, const as_profile *exclusive,
                             assay_id first, uint32_t n, const bool *wanted, as_node_list *list, assay_error *error);

/* The same without nodes, of all contexts. out: all zero. */
assay_status as_sparse_sums(const as_dataset *ds, const as_profile *profile, const as_profile *exclusive,
                            const bool *wanted, as_stored_sums *out, assay_error *error);

/* Makes nodes of a pair: list has those of the inclusive metric, other those of the exclusive one, both as values in
 * `inclusive`. False when memory is out. */
bool as_nodes_pair(as_node_list *list, const as_node_list *other);

#endif
