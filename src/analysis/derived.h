/* Values of derived metrics, from those of the metrics their formulas use (dataset/formulas.h).
 *
 * AS_DERIVED_POST: the formula of the sums over locations, once of inclusive and once of exclusive ones.
 * AS_DERIVED_PRE_EXCLUSIVE and _INCLUSIVE: the formula at each context and location, then summed over locations, and
 * along the call tree like exclusive and inclusive values; CubePL's "aggr", "plus" and "minus" stand in for these sums
 * and the difference. Operands of composite types count as the number people see. */
#ifndef AS_ANALYSIS_DERIVED_H
#define AS_ANALYSIS_DERIVED_H

#include "analysis/nodes.h"

/* Like as_nodes_find_at(), which calls it. Contexts whose values are 0 have no node; nor has any where the formula
 * cannot be used or computed, which a problem of the dataset says. */
assay_status as_derived_nodes(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, const bool *locations,
                              as_node_list *list, assay_error *error);

/* What one context has, location by location. */
typedef struct as_computed_row {
    assay_id context;
    uint32_t n;
    const assay_id *locations; /* of the n numbers; ASSAY_NONE: no place */
    const double *values[2];   /* inclusive, exclusive; NULL where not asked for */
    double whole[2];           /* of all locations together, as as_nodes_find() has it */
} as_computed_row;

/* Calls visit for the contexts of the subtree of root (ASSAY_NONE: all), the last one first, with the values of a
 * derived metric at each location: the formula of what is there; operands that reach beyond (whole contexts, the whole
 * program) are those of all locations. Also of stored metrics, of a composite type as the number people see. wanted:
 * which of inclusive and exclusive. visit returns false when memory is out. No rows where the formula cannot be used or
 * computed. */
assay_status as_computed_rows(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, const bool wanted[2],
                              bool (*visit)(void *user, const as_computed_row *row), void *user, assay_error *error);

#endif
