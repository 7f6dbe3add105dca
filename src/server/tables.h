/* The views that requests are about, as tables (analysis/views/table.h) that are kept from request to request.
 *
 * Parameters: d the input; view top-down (usual), bottom-up or flat; by of flat views region, file, module, kind or
 * scope (usual where the input tells where code stands, else region), or of any input that has such kernel, api or
 * nvtx, which are trees of their own; run, location, hide and hide-subtree as the options of `tree`; root a context
 * whose subtree is all that is looked at; metric (a name, as the option) or metrics (numbers of the dataset, "3,0"), by
 * default what `tree` shows.
 *
 * Nodes have numbers that stay the same for a file: top-down that of the context; bottom-up the origin and, above 32
 * bits, the depth (as_view_node.origin); flat that of the item. */
#ifndef AS_SERVER_TABLES_H
#define AS_SERVER_TABLES_H

#include "analysis/views/table.h"
#include "cli/tree_view.h"
#include "server/request.h"

/* What a request asks to look at. */
typedef struct as_asked_view {
    as_view_input *input;
    int64_t number; /* of the input */
    as_request_cli made;
    as_tree_view tree; /* ds, request, runs, locations, metrics as the command chooses them; no data */
    assay_id root;     /* ASSAY_NONE: all */
    /* as_regrouping: the dataset is made of the input's, and has other contexts; -1: it is the input's */
    int regrouped;
    char *places; /* the words of run and location: what values depend on */
    char *hides;  /* the words of hide and hide-subtree: what tables depend on */
} as_asked_view;

/* ASSAY_E_USAGE where a parameter cannot be understood; ASSAY_E_UNSUPPORTED where the input has no call tree.
 * as_asked_view_free() in every case. The view must not move in memory. */
assay_status as_asked_view_make(as_viewing *viewing, const as_request *request, as_asked_view *out, assay_error *error);
void as_asked_view_free(as_asked_view *asked);
/* The same with nothing hidden. It has all else from the first, which must live as long; nothing of it is freed. */
as_asked_view as_asked_view_of_all(const as_asked_view *asked);
/* The number of a metric in the input's dataset; ASSAY_NONE: it has none of that name. */
assay_id as_asked_input_metric(const as_asked_view *asked, assay_id metric);
static inline assay_id as_asked_metric(const as_asked_view *asked, size_t i) {
    return AS_AT(assay_id, &asked->tree.metrics, i);
}

/* What something is called that belongs to the table of the view and one metric: "what of …". NULL when memory is
 * out. */
char *as_asked_key(const as_viewing *viewing, const as_asked_view *asked, const char *what, assay_id metric);
/* Where its values come from. */
as_view_source as_asked_source(const as_asked_view *asked);

/* A table and the values of the metrics that are asked for; borrowed from the viewing until the request ends. */
typedef struct as_asked_table {
    const as_view_table *table;
    uint64_t number;               /* of the table, among all that were made; 0: it is not known */
    const as_view_values **values; /* one for each metric; to be freed */
    size_t n_values;
} as_asked_table;

/* The table of the view: all of it, bottom-up as many levels as can be had quickly. as_asked_table_free() in every
 * case. */
assay_status as_asked_table_get(as_viewing *viewing, const as_asked_view *asked, as_asked_table *out,
                                assay_error *error);
/* The same with no more than the first n of the metrics. */
assay_status as_asked_table_some(as_viewing *viewing, const as_asked_view *asked, size_t n, as_asked_table *out,
                                 assay_error *error);
void as_asked_table_free(as_asked_table *table);

/* The value of all that is looked at in one metric, without a table. */
assay_status as_asked_whole(as_viewing *viewing, const as_asked_view *asked, assay_id metric, as_view_number *out,
                            assay_error *error);

/* Bottom-up: where an item of the table is cut (AS_ITEM_CUT), a table of its function alone that goes further up, and
 * the item that it is there. Where nothing goes further *item is AS_NO_ITEM. as_asked_table_free() in every case. */
assay_status as_asked_table_above(as_viewing *viewing, const as_asked_view *asked, const as_view_item *cut, size_t n,
                                  as_asked_table *out, uint32_t *item, assay_error *error);

/* The row of a number: the table that has it, and its item there. ASSAY_E_UNSUPPORTED where the view has no such row.
 * as_asked_table_free() in every case. */
assay_status as_asked_row_get(as_viewing *viewing, const as_asked_view *asked, int64_t node, as_asked_table *out,
                              uint32_t *item, assay_error *error);
/* Appends the contexts that an item stands for (as_view_item_contexts()), of those that are looked at. */
assay_status as_asked_contexts(const as_asked_view *asked, const as_view_table *table, uint32_t item, as_vec *out,
                               assay_error *error);
/* The values of one more metric, of as_asked_table_get()'s table; NULL of another one. */
assay_status as_asked_more_values(as_viewing *viewing, const as_asked_view *asked, const as_asked_table *table,
                                  assay_id metric, const as_view_values **out, assay_error *error);

/* The number of an item, and the item of a number (AS_NO_ITEM: there is none in this table). */
int64_t as_asked_node(const as_view_table *table, uint32_t item);
uint32_t as_asked_item(const as_view_table *table, int64_t node);

#endif
