/* Rows of views as answers: columns of what a row is, and its numbers. Shared by the endpoints over call trees. */
#ifndef AS_SERVER_TREE_ROWS_H
#define AS_SERVER_TREE_ROWS_H

#include "server/tables.h"

/* What a row is besides its name; sums of these in "flags". */
enum {
    AS_ROW_APART = AS_ITEM_APART,
    AS_ROW_ASIDE = AS_ITEM_ASIDE,
    AS_ROW_INLINED = AS_ITEM_INLINED,
    AS_ROW_CUT = AS_ITEM_CUT, /* what is below it could not be followed */
    AS_ROW_HOT = 16,
    AS_ROW_MATCH = 32,          /* its name matches */
    AS_ROW_LEADS_TO_MATCH = 64, /* one below it does */
    AS_ROW_INNER = 128 /* of whole trees, top-down: no call, but a part of the function above, as a loop or a line */
};

/* One row: an item of a table, with what the endpoint knows of it. */
typedef struct as_tree_row {
    const as_asked_table *of;
    uint32_t item;
    uint32_t children; /* how many; UINT32_MAX: nobody knows yet */
    unsigned flags;    /* AS_ROW_… beside the item's own */
} as_tree_row;

/* "metrics": what the columns are: id, name, unit, whole … */
void as_build_view_metrics(as_builder *builder, const as_asked_view *asked, const as_asked_table *table);
/* "rows": {"node": […], "depth": […], "name": […], …} and "inclusive", "exclusive": [one array for each metric]. rows:
 * as_tree_row. */
void as_build_tree_rows(as_builder *builder, as_asked_view *asked, const as_vec *rows);

#endif
