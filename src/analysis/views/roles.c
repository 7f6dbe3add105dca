/* What a context's role means to the views. */
#include <stdlib.h>

#include "analysis/views/view_private.h"

bool as_view_shows(const as_dataset *ds, assay_id context) {
    const as_context *c = as_ds_context(ds, context);
    return c->role == AS_ROLE_CALL_SITE ? c->subtree == 1 : c->role != AS_ROLE_PLACELESS;
}

bool as_view_has_roles(const as_dataset *ds) {
    for (assay_id id = 0; id < AS_COUNT(ds, contexts); id++) {
        if (as_ds_context(ds, id)->role != AS_ROLE_CALL) return true;
    }
    return false;
}

bool as_view_has_root(const as_view_data *data) {
    return data->n_roots == 1 && as_context_is_root(data->source.ds, data->roots[0]);
}

bool as_view_is_call(const as_dataset *ds, assay_id context) {
    return as_ds_context(ds, context)->role == AS_ROLE_CALL && !as_context_is_root(ds, context);
}

/* ---- calls and where they come from ---------------------------------------------------------------------------------- */

bool as_view_is_node(const as_view_walker *walker, assay_id context) {
    return as_view_shows(walker->data->source.ds, context) && !(walker->is_joined && walker->is_joined[context]);
}

assay_id as_view_call_site(const as_view_walker *walker, assay_id context) {
    const as_dataset *ds = walker->data->source.ds;
    const as_context *c = as_ds_context(ds, context);
    if (c->parent == ASSAY_NONE || c->role != AS_ROLE_CALL) return ASSAY_NONE;
    bool is_site =
        as_ds_context(ds, c->parent)->role == AS_ROLE_CALL_SITE || (walker->is_joined && walker->is_joined[c->parent]);
    return is_site ? c->parent : ASSAY_NONE;
}

/* Whether a context has a value of its own in some column. */
static bool does_something(const as_view_data *data, assay_id context) {
    for (size_t k = 0; k < data->n_columns; k++) {
        as_view_value value = as_view_value_of(&data->columns[k], context);
        const as_view_number *own = data->columns[k].has_exclusive ? &value.exclusive : &value.inclusive;
        if (own->is_known && own->real != 0) return true;
    }
    return false;
}

bool as_view_join_calls(as_view_walker *walker) {
    const as_view_data *data = walker->data;
    const as_dataset *ds = data->source.ds;
    size_t n = AS_COUNT(ds, contexts);
    as_str line = as_find(&ds->strings, "line", 4), instruction = as_find(&ds->strings, "instruction", 11);
    if (line == AS_NO_STR && instruction == AS_NO_STR) return true;
    bool *has_inner = calloc(n + 1, sizeof *has_inner);
    walker->is_joined = calloc(n + 1, sizeof *walker->is_joined);
    for (assay_id id = (assay_id)n; has_inner && walker->is_joined && id-- > 0;) {
        const as_context *c = as_ds_context(ds, id);
        if (c->role != AS_ROLE_CALL && c->parent != ASSAY_NONE) has_inner[c->parent] = true;
        const as_region *region = c->region == ASSAY_NONE ? NULL : as_ds_region(ds, c->region);
        if (c->role != AS_ROLE_INNER || !region || region->kind == AS_NO_STR) continue;
        bool calls = c->subtree > 1 && !has_inner[id] && (region->kind == line || region->kind == instruction);
        bool is_unknown = region->kind == line && region->line_begin <= 0;
        walker->is_joined[id] = is_unknown || (calls && !does_something(data, id));
    }
    bool fine = has_inner && walker->is_joined;
    free(has_inner);
    return fine;
}
