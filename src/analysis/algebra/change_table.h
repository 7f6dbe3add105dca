/* What changed between two profiles as a table: for whoever looks at the same comparison again and again, here and there, sorted this way and that (the viewer), where a walk shows it once.
 *
 * The items are the nodes of as_comparison_walk() in the order of the source, as a table of a view (views/table.h) has them, so that its functions for children and for searching do. They have their names in a
 * dataset of strings alone: the united call trees are not needed any more. A table takes about 40 bytes an item, values 32. */
#ifndef AS_ANALYSIS_CHANGE_TABLE_H
#define AS_ANALYSIS_CHANGE_TABLE_H

#include "analysis/algebra/compare.h"
#include "analysis/views/table.h"

/* Of as_view_item.flags: which side has it. */
enum { AS_ITEM_IN_BASE = 64, AS_ITEM_IN_TARGET = 128 };

typedef struct as_change_table {
    unsigned n_owners;
    as_dataset *names;
    as_view_table view; /* of `names`; as_view_item.context is the number of the item itself */
    assay_id *own[2];   /* of each item the context of each side, of functions the first one; ASSAY_NONE: none */
    as_vec only[2];     /* assay_id: of regions that only this side has, its first context */
    bool
        has_roles; /* lines and call sites are items, too: exclusive values of a function are also those of its lines */
} as_change_table;

/* The numbers of one metric; NAN: not known. Whole numbers beyond 2^53 are rounded. */
typedef struct as_change_values {
    as_change_value whole;                 /* of all */
    double sums[2];                        /* what shares are of; NAN: none */
    bool has_exclusive, adds_up, is_in[2]; /* is_in: whether each side has the metric */
    uint32_t n;
    double *inclusive[2], *exclusive[2]; /* n each; exclusive NULL where there are none */
} as_change_values;

/* The table of call paths. comparison: united, and loaded without metrics; nothing of it is kept. as_change_table_free() in every case. */
assay_status as_change_table_new(const as_comparison *comparison, as_change_table **out, assay_error *error);
/* The values of a metric (of the united dataset) in such a table, in the runs and at the locations that the sources name. One side is read after the other, and only these numbers of it stay. comparison: of the same sides, with their metrics; it need
 * be neither united nor loaded. as_change_values_free() in every case. */
assay_status as_change_values_new(const as_change_table *table, const as_comparison *comparison,
                                  const as_view_source sources[2], assay_id metric, as_change_values **out,
                                  assay_error *error);
/* The table of functions and its values, likewise; metric ASSAY_NONE: *values is NULL. Functions are paired as as_comparison_walk() does. */
assay_status as_change_functions_new(const as_comparison *comparison, const as_view_source sources[2], assay_id metric,
                                     as_change_table **out, as_change_values **values, assay_error *error);
/* Another owner, who calls as_change_table_free(), too: the table goes with the last one. */
static inline as_change_table *as_change_table_share(as_change_table *table) {
    table->n_owners++;
    return table;
}
/* NULL is fine. */
void as_change_table_free(as_change_table *table);
void as_change_values_free(as_change_values *values);
size_t as_change_table_bytes(const as_change_table *table);
size_t as_change_values_bytes(const as_change_values *values);

/* The item of a context of a side, or of the nearest one above it that is shown; AS_NO_ITEM: there is none. of: the side. */
uint32_t as_change_item_of(const as_change_table *table, size_t side, const as_dataset *of, assay_id context);

/* What each item did itself on a side, what stands below it not counted; of metrics that are neither inclusive nor exclusive their value. To be freed; NULL when memory is out. */
double *as_change_own(const as_change_table *table, const as_change_values *values, size_t side);

#endif
