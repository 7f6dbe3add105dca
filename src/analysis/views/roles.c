/* What a context's role means to the views. */
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

assay_id as_view_call_site(const as_dataset *ds, assay_id context) {
    const as_context *c = as_ds_context(ds, context);
    bool is_below = c->parent != ASSAY_NONE && as_ds_context(ds, c->parent)->role == AS_ROLE_CALL_SITE;
    return c->role == AS_ROLE_CALL && is_below ? c->parent : ASSAY_NONE;
}
