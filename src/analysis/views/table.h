/* A view as a table: for whoever looks at the same view again and again, here and there, sorted this way and that (the
 * viewer), where a walk shows it once.
 *
 * The items are the nodes of the view in pre-order, siblings as in the source: the same file gives the same numbers.
 * Columns are apart from the table: an inclusive and an exclusive number for each item, of one metric, some runs and
 * some locations. A table takes about 30 bytes an item, a column 16. Tables know which contexts are in their items, so
 * that the values of another metric need no other walk.
 *
 * Bottom-up views of large trees have no end that anybody would read. Their tables hold the levels that can be had in
 * bounded time; items at the rim say that there is more (AS_ITEM_CUT), and a table of that function alone
 * (as_view_request.wanted) goes further up. */
#ifndef AS_ANALYSIS_VIEWS_TABLE_H
#define AS_ANALYSIS_VIEWS_TABLE_H

#include <math.h>

#include "analysis/views/view.h"

#define AS_NO_ITEM UINT32_MAX

enum {
    AS_ITEM_APART = 1, /* no part of what is above it, nor of the whole: what stands aside, sections beside regions */
    AS_ITEM_ASIDE = 2,
    AS_ITEM_INLINED = 4,
    AS_ITEM_CUT = 8 /* there is something below it that the table does not have */
};

typedef struct as_view_item {
    uint32_t parent; /* AS_NO_ITEM: it is of the first level */
    uint32_t end;    /* what follows it, up to this, lies below it */
    uint32_t depth;
    assay_id context;   /* of several the first; ASSAY_NONE: a file, module or kind */
    assay_id call_site; /* as that of as_view_node; bottom-up: its origin */
    as_str name;
    uint8_t level, flags; /* as_view_level, AS_ITEM_… */
} as_view_item;

typedef struct as_view_table {
    const as_dataset *ds;    /* must last */
    as_view_request request; /* as far as it counts; what it points to is the caller's, and may be changed by it */
    as_vec items;            /* as_view_item */
    as_view_cut cut;         /* what is not in it */
    /* private, of flat views: for each context the item it is a part of, and that of calls below its caller;
     * AS_NO_ITEM: none. NULL: nobody knows, or there are no such */
    uint32_t *own_items, *call_items;
    /* private, bottom-up: those whose values are the item's are contexts[starts[i]] … contexts[starts[i + 1] - 1].
     * NULL: nobody knows, or something is hidden, whose values are told, too */
    assay_id *contexts;
    uint32_t *starts;
    uint32_t *sources;     /* private, of as_view_table_hide(): for each item the one that it is there */
    assay_id skipped_root; /* private: that of without_root; ASSAY_NONE: none */
    bool leaves_apart;     /* private: as that of as_view_data */
} as_view_table;

typedef struct as_view_values as_view_values;

/* Makes the table of a view. Of the request only what the view is like counts: kind, group, wanted, hidden, max_levels,
 * max_steps, joins_calls, joinings, without_root. data may have no columns, but for joins_calls without joinings.
 * values: NULL, or gets the first column's (NULL where there is none), for which the view is walked through once
 * only. */
assay_status as_view_table_new(const as_view_data *data, const as_view_request *request, as_view_table **out,
                               as_view_values **values, assay_error *error);
/* Makes the table of the same view with request.hidden, where nothing is hidden yet; of flat and top-down views only:
 * bottom-up, what is hidden changes what others are. hidden must last as long as the table. */
assay_status as_view_table_hide(const as_view_table *all, const uint8_t *hidden, as_view_table **out,
                                assay_error *error);
struct as_view_values;
/* The same in the place of a table and some of its values, where there is no room for both. When memory is out they may
 * only be freed. */
assay_status as_view_table_hide_here(as_view_table *table, const uint8_t *hidden, struct as_view_values *const *values,
                                     size_t n_values, assay_error *error);
/* NULL is fine. */
void as_view_table_free(as_view_table *table);
size_t as_view_table_bytes(const as_view_table *table);

static inline uint32_t as_view_items(const as_view_table *table) { return (uint32_t)table->items.count; }
static inline const as_view_item *as_view_item_at(const as_view_table *table, uint32_t i) {
    return &AS_AT(as_view_item, &table->items, i);
}
/* Top-down: the item of a context, or that of the one it is a part of; AS_NO_ITEM: there is none. Binary search. */
uint32_t as_view_item_of(const as_view_table *table, assay_id context);
/* The item as a walk shows it, without values. */
as_view_node as_view_item_node(const as_view_table *table, uint32_t i);

/* Appends to out (assay_id), ascending, the contexts whose values those of the item are made of: bottom-up the calls of
 * its function on this way. None where that cannot be told: bottom-up with something hidden, or beyond 64 levels. False
 * when memory is out. */
bool as_view_item_contexts(const as_view_table *table, uint32_t i, as_vec *out);

/* The first item below i (AS_NO_ITEM: of the first level), or AS_NO_ITEM; the next one beside it. */
static inline uint32_t as_view_first_child(const as_view_table *table, uint32_t i) {
    uint32_t first = i == AS_NO_ITEM ? 0 : i + 1;
    uint32_t end = i == AS_NO_ITEM ? as_view_items(table) : as_view_item_at(table, i)->end;
    return first < end ? first : AS_NO_ITEM;
}
static inline uint32_t as_view_next_sibling(const as_view_table *table, uint32_t i) {
    const as_view_item *item = as_view_item_at(table, i);
    uint32_t end = item->parent == AS_NO_ITEM ? as_view_items(table) : as_view_item_at(table, item->parent)->end;
    return item->end < end ? item->end : AS_NO_ITEM;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The numbers of one metric; NAN: not known. Whole numbers beyond 2^53 are rounded. */
struct as_view_values {
    assay_id metric;
    as_dtype dtype;
    bool has_inclusive, has_exclusive; /* one of both at least */
    bool adds_up;                      /* shares of the whole, and the hot path, mean something */
    double whole;                      /* as that of as_view_column */
    as_view_number all;                /* the value of all that is looked at; of formulas and the like not known */
    double hidden; /* what no item has any more, in tables of as_view_table_hide(), and bottom-up; else 0 */
    uint32_t n;
    double *inclusive, *exclusive; /* n each; exclusive is NULL where there are none */
    double *weights;               /* the largest size in each subtree, where parents need not have values; else NULL */
};

/* Takes the first column of data, which must be of the same dataset and roots as the table was made of; of the same
 * columns, where joins_calls depends on them. */
assay_status as_view_values_new(const as_view_table *table, const as_view_data *data, as_view_values **out,
                                assay_error *error);
/* Takes those of a table that as_view_table_hide() made from the values of the other one. What is hidden: of subtrees
 * all of it, of nodes alone what they have that those below them have not; flat, and bottom-up, exclusive values. NAN
 * where values do not add up. */
assay_status as_view_values_hide(const as_view_table *table, const as_view_table *all, const as_view_values *of,
                                 as_view_values **out, assay_error *error);
void as_view_values_free(as_view_values *values);
size_t as_view_values_bytes(const as_view_values *values);

/* What an item is sorted and drawn by: its size, that of what lies below it where it has no value; what is no number
 * counts as large. */
static inline double as_view_item_size(const as_view_values *values, uint32_t i, bool exclusive) {
    bool takes_exclusive = (exclusive || !values->has_inclusive) && values->exclusive;
    double value = takes_exclusive ? values->exclusive[i] : values->inclusive[i];
    if (!isnan(value)) return fabs(value);
    return values->weights ? values->weights[i] : 0;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

typedef struct as_view_order {
    as_view_sorting by;
    const as_view_values *values; /* of AS_SORT_INCLUSIVE and _EXCLUSIVE */
    bool is_reversed;             /* smallest, or last, first; what stands apart is behind the others in any case */
    const uint8_t *marks;         /* NULL, or of as_view_search(): only items with a mark */
} as_view_order;

/* Appends to out (uint32_t) the items below i (AS_NO_ITEM: of the first level) from `offset` on in this order, `limit`
 * of them. *n: how many there are. */
bool as_view_children(const as_view_table *table, const as_view_order *order, uint32_t i, size_t offset, size_t limit,
                      as_vec *out, size_t *n);

/* Marks (1) the items that as_view_walk() with min_share and this order would show: those that, or one below which,
 * have at least this part of what small is measured by, in the first of n values or one of the others, each by its own
 * scale. marks: room for each item. */
void as_view_mark_large(const as_view_table *table, const as_view_values *const *values, size_t n,
                        as_view_sorting order, double share, uint8_t *marks);

/* Appends the items of the hot path below i (AS_NO_ITEM: from the first level on): the largest child, as long as it has
 * this part of its parent; 0: half. */
bool as_view_hot_path(const as_view_table *table, const as_view_values *values, uint32_t i, double threshold,
                      as_vec *out);

/* ---- search ------------------------------------------------------------------------------------------------------ */

enum {
    AS_MARK_MATCH = 1, /* its name matches */
    AS_MARK_ABOVE = 2, /* one below it does */
    AS_MARK_BELOW = 4  /* one above it does */
};

typedef struct as_view_found {
    uint8_t *marks; /* of each item */
    uint32_t n;     /* that match */
} as_view_found;

/* Which names match a text, among all items or those with a mark: /PATTERN/ is a regular expression (core/pattern.h),
 * anything else is a part of the name, in which small letters stand for large ones, too. ASSAY_E_USAGE where the
 * pattern is none. as_view_found_free() in every case. */
assay_status as_view_search(const as_view_table *table, const char *text, const uint8_t *among, as_view_found *out,
                            assay_error *error);
void as_view_found_free(as_view_found *found);
/* What all that matches has together: a match below a match counts once (exclusive values top-down are all counted),
 * what stands apart not at all. NAN where values do not add up. */
double as_view_found_sum(const as_view_table *table, const as_view_found *found, const as_view_values *values,
                         bool exclusive);
/* The match behind (or before) an item in this order, as a reader of the whole tree would meet it; i AS_NO_ITEM: the
 * first (the last) one. AS_NO_ITEM where there is none. */
uint32_t as_view_next_match(const as_view_table *table, const as_view_order *order, const as_view_found *found,
                            uint32_t i, bool is_backwards);

#endif
