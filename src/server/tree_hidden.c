#include "server/tree_hidden.h"

assay_status as_tree_hidden_values(as_viewing *viewing, const as_asked_view *asked, const as_asked_table *table,
                                   as_vec *out, assay_error *error) {
    as_asked_view listed = *asked; /* what it points to stays that of the other */
    as_asked_table functions = {0};
    assay_status status = ASSAY_OK;
    if (asked->tree.request.kind == AS_VIEW_BOTTOM_UP) {
        listed.tree.request.kind = AS_VIEW_FLAT;
        listed.tree.request.group = AS_GROUP_REGION;
        status = as_asked_table_get(viewing, &listed, &functions, error);
        table = &functions;
    }
    for (size_t k = 0; status == ASSAY_OK && k < table->n_values; k++) {
        if (!as_vec_append(out, &table->values[k]->hidden, 1)) status = as_fail_memory(error, NULL);
    }
    as_asked_table_free(&functions);
    return status;
}
