/* What changed between two profiles as a table: for whoever looks at the same comparison again and again, here and
 * there, sorted this way and that (the viewer), where a walk shows it once.
 *
 * The items are the nodes of as_comparison_walk() in the order of the source, as a table of a view (views/table.h) has
 * them, so that its functions for children and for searching do. They have their names in a dataset of strings alone,
 * and the call trees are never united: pairs of contexts (4 bytes each) are enough to make a table at any time. A table
 * takes about 28 bytes an item, and of functions 4 for each context; values take 32 an item, or 16 where exclusive ones
 * stay in the files until they are needed. */
#ifndef AS_ANALYSIS_CHANGE_TABLE_H
#define AS_ANALYSIS_CHANGE_TABLE_H

#include "analysis/algebra/compare.h"
#include "analysis/views/table.h"

/* Of as_view_item.flags: which side has it. */
enum { AS_ITEM_IN_BASE = 64, AS_ITEM_IN_TARGET = 128 };

/* Which contexts are pairs. */
typedef struct as_change_pairs {
    size_t n;
    assay_id *base_of; /* of each context of the target; ASSAY_NONE: it has no mate */
} as_change_pairs;

typedef struct as_change_table {
    unsigned n_owners;
    as_dataset *names;
    as_view_table view; /* of `names`; items have their contexts as as_change_context() says */
    as_vec only[2];     /* assay_id: of regions that only this side has, its first context */
    bool
        has_roles; /* lines and call sites are items, too: exclusive values of a function are also those of its lines */
    uint32_t
        *items_of[2];  /* private, of functions: of each context of a side the item it counts in, AS_NO_ITEM: none */
    size_t n_contexts; /* private: of both, of these */
} as_change_table;

/* The numbers of one metric; NAN: not known. Whole numbers beyond 2^53 are rounded. */
typedef struct as_change_values {
    as_change_value whole;                 /* of all */
    double sums[2];                        /* what shares are of; NAN: none */
    bool has_exclusive, adds_up, is_in[2]; /* is_in: whether each side has the metric */
    /* private: as_change_number() knows how they are kept */
    bool by_context;                     /* of each context of a side (an item without has 0); else of each item */
    size_t n[2];                         /* so many */
    double *inclusive[2], *exclusive[2]; /* exclusive NULL where there are none */
    as_stored_sums stored[2];            /* by_context: what inclusive ones belong to */
    as_stored_sums own[2];               /* the same of exclusive ones */
    bool lacks_own;                      /* these are not read yet */
    assay_id own_metrics[2];             /* of each side the metric of exclusive values */
    double factor;                       /* of the target, to the base's unit */
} as_change_values;

/* as_change_pairs_free() in every case. */
assay_status as_change_pairs_new(const as_dataset *const sides[2], as_matching matching, as_change_pairs **out,
                                 assay_error *error);
/* The table of call paths; nothing of the pairs is kept. as_change_table_free() in every case. */
assay_status as_change_table_new(const as_dataset *const sides[2], const as_change_pairs *pairs, as_change_table **out,
                                 assay_error *error);
/* The table of functions, which are paired as as_comparison_walk() does, likewise. */
assay_status as_change_functions_new(const as_dataset *const sides[2], as_change_table **out, assay_error *error);
/* The values of a metric (of the united dataset) in such a table, in the runs and at the locations that the sources
 * name. comparison: of the same sides, with their metrics; it need be neither united nor loaded.
 * as_change_values_free() in every case. Exclusive values that are of use for few items only are not among them where
 * they can be had one by one, unless all are wanted (with_own): as_change_values_complete() reads all later,
 * as_change_exclusive() some. */
assay_status as_change_values_new(const as_change_table *table, const as_comparison *comparison,
                                  const as_view_source sources[2], assay_id metric, bool with_own,
                                  as_change_values **out, assay_error *error);
/* Reads the exclusive values that are not there yet; sources: the same. */
assay_status as_change_values_complete(as_change_values *values, const as_view_source sources[2], assay_error *error);
/* How much as_change_values_new() will take, about. */
size_t as_change_values_expected(const as_change_table *table, const as_comparison *comparison,
                                 const as_view_source sources[2], assay_id metric);
/* Another owner, who calls as_change_table_free(), too: the table goes with the last one. */
static inline as_change_table *as_change_table_share(as_change_table *table) {
    table->n_owners++;
    return table;
}
/* NULL is fine. */
void as_change_pairs_free(as_change_pairs *pairs);
void as_change_table_free(as_change_table *table);
void as_change_values_free(as_change_values *values);
size_t as_change_table_bytes(const as_change_table *table);
size_t as_change_values_bytes(const as_change_values *values);

/* The context of an item on a side, of functions the first one; ASSAY_NONE: none. */
static inline assay_id as_change_context(const as_change_table *table, size_t side, uint32_t i) {
    const as_view_item *item = as_view_item_at(&table->view, i);
    return side == AS_BASE ? item->context : item->call_site;
}
/* What an item has on a side; NAN where the metric has no exclusive values, or they were not read. */
static inline double as_change_number(const as_change_table *table, const as_change_values *values, size_t side,
                                      uint32_t i, bool exclusive) {
    const double *numbers = exclusive ? values->exclusive[side] : values->inclusive[side];
    if (!numbers) return NAN;
    if (!values->by_context) return numbers[i];
    assay_id own = as_change_context(table, side, i);
    return own == ASSAY_NONE ? 0 : numbers[own];
}

/* The exclusive numbers of some items on a side, whether they were read before or not. */
assay_status as_change_exclusive(const as_change_table *table, const as_change_values *values,
                                 const as_view_source sources[2], size_t side, const uint32_t *items, size_t n,
                                 double *out, assay_error *error);

/* The item of a context of a side, or of the nearest one above it that is shown; AS_NO_ITEM: there is none. of: the
 * side. */
uint32_t as_change_item_of(const as_change_table *table, size_t side, const as_dataset *of, assay_id context);
/* What each item did itself on each side, what stands below it not counted; of metrics that are neither inclusive nor
 * exclusive their value. own: to be freed, in every case. */
assay_status as_change_own(const as_change_table *table, const as_change_values *values,
                           const as_view_source sources[2], double *own[2], assay_error *error);

#endif
