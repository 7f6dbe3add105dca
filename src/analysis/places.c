#include "analysis/places.h"

#include <stdlib.h>

static void mark_columns(const as_dataset *ds, assay_id run, bool *has_values) {
    for (size_t i = 0; i < AS_COUNT(ds, profiles); i++) {
        const as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        if (profile->run != run || !profile->columns) continue;
        for (uint32_t k = 0; k < profile->n_columns; k++) has_values[profile->columns[k]] = true;
    }
    for (size_t i = 0; i < AS_COUNT(ds, blocks); i++) {
        const as_block *block = as_ds_block(ds, i);
        for (uint64_t row = 0; block->locations && row < as_block_rows(block); row++) {
            assay_id location = as_block_location(block, row);
            if (as_block_run(block, row) == run && location != ASSAY_NONE) has_values[location] = true;
        }
    }
}

/* The process a leaf belongs to: a rank above it, or what lies above it, where that has a rank; else the leaf
 * itself. */
static assay_id process_of(const as_dataset *ds, assay_id leaf) {
    assay_id above = as_ds_location(ds, leaf)->parent;
    for (assay_id id = above; id != ASSAY_NONE; id = as_ds_location(ds, id)->parent) {
        const char *kind = as_ds_text(ds, as_ds_location(ds, id)->kind);
        if (kind && (strcmp(kind, "rank") == 0 || strcmp(kind, "process") == 0)) return id;
    }
    return above != ASSAY_NONE && as_ds_location(ds, above)->rank >= 0 ? above : leaf;
}

/* ---- who takes part ---------------------------------------------------------------------------------------------- */

/* Whether what a run has at its locations lies in full rows: then a 0 is a number like any other. */
static bool has_full_rows(const as_dataset *ds, assay_id run) {
    for (size_t i = 0; i < AS_COUNT(ds, profiles); i++) {
        const as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        if (profile->run == run && profile->columns && !as_profile_is_sparse(profile)) return true;
    }
    return false;
}

/* Contexts whose path has a process or thread in it. False when memory is out. */
static bool mark_named(const as_dataset *ds, as_places *out) {
    if (!as_ds_names_places(ds)) return true;
    out->is_named = malloc((AS_COUNT(ds, contexts) + 1) * sizeof *out->is_named);
    for (assay_id id = 0; out->is_named && id < AS_COUNT(ds, contexts); id++) {
        const as_context *context = as_ds_context(ds, id);
        out->is_named[id] = as_region_is_place(ds, context->region) ||
                            (context->parent != ASSAY_NONE && out->is_named[context->parent]);
    }
    return out->is_named != NULL;
}

static void count_sharing(as_places *places) {
    places->n_sharing = 0;
    for (uint32_t i = 0; i < places->n && !places->is_named; i++)
        places->n_sharing += !places->is_gpu || !places->is_gpu[i];
}

/* Leaves is_gpu NULL where everybody takes part in everything. False when memory is out. */
static bool mark_gpus(const as_dataset *ds, as_places *out) {
    bool has_gpu = false;
    if (!has_full_rows(ds, out->run)) {
        if (!mark_named(ds, out)) return false;
        out->is_gpu = malloc(((size_t)out->n + 1) * sizeof *out->is_gpu);
        if (!out->is_gpu) return false;
        for (uint32_t i = 0; i < out->n; i++) out->is_gpu[i] = true;
        for (assay_id id = 0; id < AS_COUNT(ds, locations); id++) {
            uint32_t place = out->place[id];
            bool is_gpu = as_location_is_gpu(ds, id);
            if (place != UINT32_MAX && as_ds_location(ds, id)->leaf) out->is_gpu[place] &= is_gpu;
            has_gpu |= place != UINT32_MAX && is_gpu;
        }
    }
    if (!has_gpu && !out->is_named) {
        free(out->is_gpu);
        out->is_gpu = NULL;
    }
    count_sharing(out);
    return true;
}

void as_places_choose(const as_places *places, assay_id context, const uint32_t *of, uint32_t n, bool *takes_part) {
    bool is_host_there = false;
    if (places->is_named && places->is_named[context]) return;
    for (uint32_t i = 0; i < n && !is_host_there; i++) is_host_there = takes_part[i] && !places->is_gpu[of ? of[i] : i];
    for (uint32_t i = 0; i < n && is_host_there; i++) takes_part[i] |= !places->is_gpu[of ? of[i] : i];
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

assay_status as_places_of_run(const as_dataset *ds, assay_id run, as_over over, as_places *out, assay_error *error) {
    size_t n = AS_COUNT(ds, locations);
    *out = (as_places){.over = over, .run = run};
    out->ids = malloc((n + 1) * sizeof *out->ids);
    out->place = malloc((n + 1) * sizeof *out->place);
    bool *is_place = calloc(n + 1, 1), *has_values = calloc(n + 1, 1);
    bool fine = out->ids && out->place && is_place && has_values;
    if (fine) mark_columns(ds, run, has_values);
    for (assay_id id = 0; fine && id < n; id++) {
        if (AS_COUNT(ds, runs) == 1) has_values[id] = as_ds_location(ds, id)->leaf;
        if (has_values[id]) is_place[over == AS_OVER_PROCESSES ? process_of(ds, id) : id] = true;
    }
    for (assay_id id = 0; fine && id < n; id++) {
        out->place[id] = UINT32_MAX;
        if (!is_place[id]) continue;
        out->place[id] = out->n;
        out->ids[out->n++] = id;
    }
    uint32_t n_locations = 0;
    for (assay_id id = 0; fine && id < n; id++) {
        n_locations += has_values[id];
        if (has_values[id] && over == AS_OVER_PROCESSES) out->place[id] = out->place[process_of(ds, id)];
    }
    out->is_shared = n_locations > out->n;
    fine = fine && mark_gpus(ds, out);
    free(is_place);
    free(has_values);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_places_of_runs(const assay_id *runs, uint32_t n, as_places *out, assay_error *error) {
    *out = (as_places){
        .over = AS_OVER_RUNS, .n = n, .n_sharing = n, .ids = malloc((n + 1) * sizeof *runs), .run = ASSAY_NONE};
    if (!out->ids) return as_fail_memory(error, NULL);
    if (n) memcpy(out->ids, runs, n * sizeof *runs);
    return ASSAY_OK;
}

assay_status as_places_narrow(as_places *places, size_t n_locations, const bool *wanted, assay_error *error) {
    uint32_t *new_place = malloc(((size_t)places->n + 1) * sizeof *new_place), n = 0;
    if (!new_place) return as_fail_memory(error, NULL);
    for (uint32_t i = 0; i < places->n; i++) new_place[i] = UINT32_MAX;
    for (size_t id = 0; id < n_locations; id++) {
        if (places->place[id] == UINT32_MAX) continue;
        if (!wanted[id])
            places->place[id] = UINT32_MAX;
        else
            new_place[places->place[id]] = 0; /* something is left of it */
    }
    for (uint32_t i = 0; i < places->n; i++) {
        if (new_place[i] == UINT32_MAX) continue;
        places->ids[n] = places->ids[i];
        if (places->is_gpu) places->is_gpu[n] = places->is_gpu[i];
        new_place[i] = n++;
    }
    for (size_t id = 0; id < n_locations; id++) {
        if (places->place[id] != UINT32_MAX) places->place[id] = new_place[places->place[id]];
    }
    places->is_narrowed |= n < places->n;
    places->n = n;
    count_sharing(places);
    free(new_place);
    return ASSAY_OK;
}

void as_places_free(as_places *places) {
    free(places->ids);
    free(places->place);
    free(places->is_gpu);
    free(places->is_named);
    *places = (as_places){0};
}
