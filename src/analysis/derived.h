/* Values of derived metrics, from those of the metrics their formulas use (dataset/formulas.h).
 *
 * AS_DERIVED_POST: the formula of the sums over locations, once of inclusive and once of exclusive ones. AS_DERIVED_PRE_EXCLUSIVE and _INCLUSIVE: the formula at each context and
 * location, then summed over locations, and along the call tree like exclusive and inclusive values; CubePL's "aggr", "plus" and "minus" stand in for these sums
 * and the difference. Operands of composite types count as the number people see. */
#ifndef AS_ANALYSIS_DERIVED_H
#define AS_ANALYSIS_DERIVED_H

#include "analysis/nodes.h"

/* Like as_nodes_find_at(), which calls it. Contexts whose values are 0 have no node; nor has any where the formula cannot be used or computed, which a problem
 * of the dataset says. */
assay_status as_derived_nodes(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, const bool *locations,
                              as_node_list *list, assay_error *error);

#endif
