/* What the parameters hide and hide-subtree take out of sight. */
#ifndef AS_SERVER_TREE_HIDDEN_H
#define AS_SERVER_TREE_HIDDEN_H

#include "server/tables.h"

/* Appends to out (double), for each metric, what no row has any more: of subtrees all of it, of nodes alone what they have that those below them have not; bottom-up and flat exclusive values. NAN where
 * values do not add up. */
assay_status as_tree_hidden_values(as_viewing *viewing, const as_asked_view *asked, as_vec *out, assay_error *error);

#endif
