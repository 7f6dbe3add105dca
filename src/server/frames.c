#include "server/frames.h"

#include <stdlib.h>
#include <string.h>

#include "server/tables.h"

static void release(void *frames) { as_flame_frames_free(frames); }

static char *key_of(const as_viewing *viewing, const as_asked_view *asked, assay_id metric) {
    return as_asked_key(viewing, asked, "frames", metric);
}

/* Under which key there are frames of another metric, which stay until the request ends; NULL: there are none. */
static char *find_others(as_viewing *viewing, const as_asked_view *asked) {
    for (assay_id metric = 0; metric < AS_COUNT(asked->tree.ds, metrics); metric++) {
        as_asked_view other = *asked;
        other.tree.metrics = (as_vec){.data = &metric, .count = 1, .capacity = 1, .size = sizeof metric};
        char *key = key_of(viewing, &other, metric);
        if (key && as_viewing_find(viewing, key)) return key;
        free(key);
    }
    return NULL;
}

/* Those frames, where they are of the same table: they differ in numbers alone. NULL: they are not. There is no room
 * for both, so they go. */
static as_flame_frames *take_others(as_viewing *viewing, const char *key, uint64_t table) {
    as_flame_frames *frames = key ? as_viewing_take(viewing, key) : NULL;
    if (!frames || (table && frames->table == table)) return frames;
    as_flame_frames_free(frames);
    return NULL;
}

static assay_status make(as_viewing *viewing, const as_asked_view *asked, const char *key, const as_flame_frames **out,
                         assay_error *error) {
    as_asked_table table;
    as_flame_frames *frames = NULL;
    const as_dataset *ds = asked->tree.ds;
    char *others = find_others(viewing, asked);
    assay_status status = as_asked_table_get(viewing, asked, &table, error);
    if (status == ASSAY_OK && !table.values[0]->adds_up)
        status =
            as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "the values of '%s' do not add up; choose another metric",
                    as_ds_text(ds, as_ds_metric(ds, as_asked_metric(asked, 0))->name));
    if (status == ASSAY_OK) {
        frames = take_others(viewing, others, table.number);
        status = frames ? as_flame_frames_renew(frames, table.table, table.values[0], error)
                        : as_flame_frames_new(table.table, table.values[0], &frames, error);
        if (frames) frames->table = table.number;
    }
    if (status != ASSAY_OK)
        as_flame_frames_free(frames);
    else if (!as_viewing_keep(viewing, key, frames, as_flame_frames_bytes(frames), release))
        status = as_fail_memory(error, NULL);
    *out = status == ASSAY_OK ? frames : NULL;
    as_asked_table_free(&table);
    free(others);
    return status;
}

static assay_status find(as_viewing *viewing, as_asked_view *asked, as_asked_frames *out, assay_error *error) {
    if (asked->tree.metrics.count == 0)
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "%s: has no metrics", asked->input->path);
    asked->tree.metrics.count = 1; /* stacks have one amount */
    out->metric = as_asked_metric(asked, 0);
    char *key = key_of(viewing, asked, out->metric);
    if (!key) return as_fail_memory(error, NULL);
    assay_status status = ASSAY_OK;
    out->frames = as_viewing_find(viewing, key);
    if (!out->frames) status = make(viewing, asked, key, &out->frames, error);
    free(key);
    return status;
}

assay_status as_asked_frames_find(as_viewing *viewing, const as_request *request, as_asked_frames *out,
                                  assay_error *error) {
    static const char *const takes[] = {"d", "metric", "run", "location"};
    as_request plain = *request; /* the whole tree, top-down, whatever is drawn of it */
    as_asked_view asked;
    bool fine = true;
    as_vec_init(&plain.parameters, sizeof(as_parameter), NULL);
    for (size_t i = 0; fine && i < request->parameters.count; i++) {
        const as_parameter *parameter = &AS_AT(as_parameter, &request->parameters, i);
        for (size_t k = 0; fine && k < sizeof takes / sizeof *takes; k++) {
            if (strcmp(parameter->name, takes[k]) == 0) fine = as_vec_append(&plain.parameters, parameter, 1);
        }
    }
    if (!fine) {
        as_vec_free(&plain.parameters);
        return as_fail_memory(error, NULL);
    }
    assay_status status = as_asked_view_make(viewing, &plain, &asked, error);
    if (status == ASSAY_OK) status = find(viewing, &asked, out, error);
    as_asked_view_free(&asked);
    as_vec_free(&plain.parameters);
    return status;
}
