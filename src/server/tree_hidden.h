/* What the parameters hide and hide-subtree take out of sight. */
#ifndef AS_SERVER_TREE_HIDDEN_H
#define AS_SERVER_TREE_HIDDEN_H

#include "server/tables.h"

/* Appends to out (double), for each metric, what no row of the view's table has any more (as_view_values.hidden); bottom-up that of the functions which are hidden. */
assay_status as_tree_hidden_values(as_viewing *viewing, const as_asked_view *asked, const as_asked_table *table,
                                   as_vec *out, assay_error *error);

#endif
