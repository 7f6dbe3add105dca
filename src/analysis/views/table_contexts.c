/* Which contexts an item of a table stands for. */
#include "analysis/views/table.h"
#include "analysis/views/view_private.h"

/* A call of the same function, as groups.c tells them apart. */
static bool is_same_function(const as_dataset *ds, assay_id a, assay_id b) {
    const as_context *x = as_ds_context(ds, a), *y = as_ds_context(ds, b);
    return x->region == y->region && (x->region != ASSAY_NONE || x->name == y->name) && x->is_aside == y->is_aside;
}

static bool is_function(const as_dataset *ds, assay_id id) {
    const as_context *context = as_ds_context(ds, id);
    return as_view_is_call(ds, id) || (context->role == AS_ROLE_INNER && context->is_inlined);
}

/* Whether the callers of a context are those that the items from its function to this one are. */
static bool is_called_so(const as_view_table *table, const as_view_item *item, assay_id context) {
    const as_dataset *ds = table->ds;
    assay_id callers[64]; /* that of the item last */
    uint32_t n = item->depth;
    if (n > sizeof callers / sizeof *callers) return false;
    for (; item->depth > 0; item = as_view_item_at(table, item->parent)) callers[item->depth - 1] = item->context;
    for (uint32_t i = 0; i < n; i++) {
        do context = as_ds_context(ds, context)->parent;
        while (context != ASSAY_NONE && !is_function(ds, context));
        if (context == ASSAY_NONE || !is_same_function(ds, context, callers[i])) return false;
    }
    return true;
}

bool as_view_item_contexts(const as_view_table *table, uint32_t i, as_vec *out) {
    const as_view_item *item = as_view_item_at(table, i);
    if (table->request.kind == AS_VIEW_TOP_DOWN) return as_vec_append(out, &item->context, 1);
    if (table->own_items) return as_view_flat_contexts(table, i, out);
    bool is_bottom_up = table->request.kind == AS_VIEW_BOTTOM_UP;
    assay_id function = is_bottom_up ? item->call_site : item->context;
    if (function == ASSAY_NONE || item->level != AS_LEVEL_CONTEXT || (is_bottom_up && table->request.hidden))
        return true;
    for (assay_id id = function; id < AS_COUNT(table->ds, contexts); id++) {
        bool is_one = is_same_function(table->ds, id, function) && is_function(table->ds, id) &&
                      (!is_bottom_up || is_called_so(table, item, id));
        if (is_one && !as_vec_append(out, &id, 1)) return false;
    }
    return true;
}
