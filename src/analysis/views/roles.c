/* What a context's role means to the views. */
#include <stdlib.h>

#include "analysis/views/view_private.h"
#include "dataset/pieces.h"

bool as_view_has_scopes(const as_dataset *ds) {
    return as_ds_has_roles(ds) || (AS_COUNT(ds, contexts) && as_context_is_root(ds, 0));
}

bool as_view_has_root(const as_view_data *data) {
    return data->n_roots == 1 && as_context_is_root(data->source.ds, data->roots[0]);
}

bool as_view_is_call(const as_dataset *ds, assay_id context) {
    return as_ds_context(ds, context)->role == AS_ROLE_CALL && !as_context_is_root(ds, context);
}

/* ---- calls and where they come from ------------------------------------------------------------------------------ */

/* Whether a context has a value of its own in some column. */
static bool does_something(const as_view_data *data, assay_id context) {
    for (size_t k = 0; k < data->n_columns; k++) {
        const as_view_column *column = &data->columns[k];
        const as_stored_sums *sums = &column->sums;
        if (column->has_sums && column->is_stored && sums->exclusive.count) { /* of all of them at once */
            if (AS_AT(double, &sums->exclusive, context) != 0) return true;
            continue;
        }
        as_view_value value = as_view_value_of(&data->columns[k], context);
        const as_view_number *own = data->columns[k].has_exclusive ? &value.exclusive : &value.inclusive;
        if (own->is_known && own->real != 0) return true;
    }
    return false;
}

void as_view_unjoin(const as_view_data *data, uint8_t *joinings) {
    for (assay_id id = 0; id < AS_COUNT(data->source.ds, contexts); id++) {
        if (joinings[id] == AS_JOINS_WHERE_IDLE && does_something(data, id)) joinings[id] = AS_JOINS_NEVER;
    }
}

bool as_view_join_calls(as_view_walker *walker) {
    const as_view_data *data = walker->data;
    const as_dataset *ds = data->source.ds;
    const uint8_t *known = walker->request->joinings;
    size_t n = AS_COUNT(ds, contexts);
    if (!as_ds_has_roles(ds)) return true;
    uint8_t *found = known ? NULL : as_find_joinings(ds);
    walker->is_joined = calloc(n + 1, sizeof *walker->is_joined);
    bool fine = (known || found) && walker->is_joined;
    if (fine && found) as_view_unjoin(data, found);
    for (assay_id id = 0; fine && id < n; id++) walker->is_joined[id] = (known ? known : found)[id] != AS_JOINS_NEVER;
    free(found);
    return fine;
}
