#include "server/change_noise.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/stored_rows.h"

enum { MOST_WORK = 20000000, WORK_OF_CONTEXT = 50 };

/* ---- places ---------------------------------------------------------------------------------------------------------- */

static void release(void *object) {
    as_location_pairs *pairs = object;
    if (!pairs) return;
    for (size_t side = 0; side < 2; side++) as_places_free(&pairs->places[side]);
    free(pairs->target_of);
    free(pairs);
}

/* Leaves n 0 where some place has no mate. */
static assay_status pair_places(const as_asked_changes *asked, as_location_pairs *out, assay_error *error) {
    as_dataset *ds = as_dataset_new(asked->sides[AS_BASE]->budget.limit);
    as_union u = {0};
    bool fine = ds && as_union_init(&u, ds, asked->sides, 2) && as_unite_locations(&u);
    size_t n_united = fine ? AS_COUNT(ds, locations) : 0;
    uint32_t n = out->places[AS_BASE].n, found = 0, *place_of = malloc((n_united + 1) * sizeof *place_of);
    out->target_of = malloc(((size_t)n + 1) * sizeof *out->target_of);
    fine = fine && place_of && out->target_of;
    for (size_t i = 0; fine && i < n_united; i++) place_of[i] = UINT32_MAX;
    for (uint32_t i = 0; fine && i < out->places[AS_TARGET].n; i++)
        place_of[u.maps[AS_TARGET].locations[out->places[AS_TARGET].ids[i]]] = i;
    for (uint32_t i = 0; fine && i < n; i++) {
        out->target_of[i] = place_of[u.maps[AS_BASE].locations[out->places[AS_BASE].ids[i]]];
        found += out->target_of[i] != UINT32_MAX;
    }
    free(place_of);
    as_union_free(&u);
    as_dataset_free(ds);
    if (fine && found == n) out->n = n;
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* Nothing is found where the sides have other numbers of places, or too few, or one of them lacks the metric. */
static assay_status find_pairs(const as_asked_changes *asked, as_location_pairs *out, assay_error *error) {
    for (size_t side = 0; side < 2; side++) {
        if (as_asked_metric_of(asked, side) == ASSAY_NONE) return ASSAY_OK;
    }
    for (size_t side = 0; side < 2; side++) {
        const as_dataset *ds = asked->sides[side];
        as_places *places = &out->places[side];
        AS_TRY(as_places_of_run(ds, asked->diff.runs[side].runs[0], AS_OVER_LOCATIONS, places, error));
        if (places->n && asked->diff.locations[side].wanted)
            AS_TRY(as_places_narrow(places, AS_COUNT(ds, locations), asked->diff.locations[side].wanted, error));
        if (places->n < AS_LEAST_LOCATIONS || places->n != out->places[AS_BASE].n ||
            !as_has_statistics(ds, places, as_asked_metric_of(asked, side)))
            return ASSAY_OK;
    }
    return pair_places(asked, out, error);
}

static bool has_single_runs(const as_asked_changes *asked) {
    return asked->values && asked->values->adds_up && asked->diff.runs[AS_BASE].n_runs == 1 &&
           asked->diff.runs[AS_TARGET].n_runs == 1;
}

static assay_status keep_pairs(as_viewing *viewing, const as_asked_changes *asked, const as_location_pairs **out,
                               assay_error *error) {
    char *key = NULL;
    if (asprintf(&key, "locations of %s", asked->key) < 0) return as_fail_memory(error, NULL);
    as_location_pairs *pairs = as_viewing_find(viewing, key);
    assay_status status = ASSAY_OK;
    if (!pairs) {
        pairs = calloc(1, sizeof *pairs);
        status = pairs ? find_pairs(asked, pairs, error) : as_fail_memory(error, NULL);
        size_t bytes = 0;
        for (size_t side = 0; status == ASSAY_OK && side < 2; side++)
            bytes += (2 * pairs->places[side].n + AS_COUNT(asked->sides[side], locations)) * sizeof(assay_id);
        if (status != ASSAY_OK)
            release(pairs);
        else if (!as_viewing_keep(viewing, key, pairs, sizeof *pairs + bytes, release))
            status = as_fail_memory(error, NULL);
    }
    if (status == ASSAY_OK && pairs->n) *out = pairs;
    free(key);
    return status;
}

assay_status as_change_spreads_open(as_viewing *viewing, const as_asked_changes *asked, double scale,
                                    as_change_spreads *out, assay_error *error) {
    *out = (as_change_spreads){.asked = asked, .scale = scale, .work_left = MOST_WORK};
    as_map_init(&out->places, NULL);
    if (!has_single_runs(asked)) return ASSAY_OK;
    AS_TRY(keep_pairs(viewing, asked, &out->pairs, error));
    if (!out->pairs) return ASSAY_OK;
    out->changes = malloc(out->pairs->n * sizeof *out->changes);
    out->has = malloc(out->pairs->n * sizeof *out->has);
    out->room = malloc(AS_SPREAD_ROOM(out->pairs->n));
    return out->changes && out->has && out->room ? ASSAY_OK : as_fail_memory(error, NULL);
}

void as_change_spreads_free(as_change_spreads *spreads) {
    free(spreads->changes);
    free(spreads->has);
    free(spreads->room);
    as_map_free(&spreads->places);
    for (size_t side = 0; side < 2; side++) as_view_functions_free(&spreads->functions[side]);
}

assay_status as_change_spreads_expect(as_change_spreads *s, const uint32_t *items, size_t n, assay_error *error) {
    if (!s->pairs || !s->asked->flat) return ASSAY_OK;
    assay_id *firsts = malloc((n + 1) * sizeof *firsts);
    bool fine = firsts != NULL;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; fine && i < n; i++) fine = as_map_put(&s->places, items[i], (uint32_t)i);
    for (size_t side = 0; fine && side < 2 && status == ASSAY_OK; side++) {
        as_view_source source = as_diff_view_source(&s->asked->diff, side);
        for (size_t i = 0; i < n; i++) firsts[i] = as_change_context(s->asked->table, side, items[i]);
        status = as_view_functions_find(&source, firsts, n, &s->functions[side], error);
    }
    free(firsts);
    return fine ? status : as_fail_memory(error, NULL);
}

/* ---- changes --------------------------------------------------------------------------------------------------------- */

/* False where that would take too long. */
static bool spend(as_change_spreads *s, size_t side, assay_id context) {
    const as_dataset *ds = s->asked->sides[side];
    uint64_t n = as_has_stored_rows(ds, as_asked_metric_of(s->asked, side)) ? 1 : as_ds_context(ds, context)->subtree;
    uint64_t work = n * s->pairs->n + WORK_OF_CONTEXT;
    if (work > s->work_left) return false;
    s->work_left -= work;
    return true;
}

/* Adds what a context of a side has at each location. */
static assay_status add_side(as_change_spreads *s, size_t side, assay_id context, bool exclusive, assay_error *error) {
    const as_asked_changes *asked = s->asked;
    as_number *values;
    as_spread ignored;
    double factor = side == AS_BASE ? -s->scale : asked->target_scale;
    AS_TRY(as_location_values(asked->sides[side], &s->pairs->places[side], as_asked_metric_of(asked, side), context,
                              exclusive ? AS_EXCLUSIVE_VALUES : AS_INCLUSIVE_VALUES, &values, &ignored, error));
    for (uint32_t i = 0; values && i < s->pairs->n; i++) {
        double value = as_number_real(values[side == AS_BASE ? i : s->pairs->target_of[i]]);
        if (isnan(value)) continue;
        s->changes[i] += factor * value;
        s->has[i] = true;
    }
    free(values);
    return ASSAY_OK;
}

/* Adds what an item has on a side. *is_known: false where that would take too long. */
static assay_status add_item(as_change_spreads *s, size_t side, uint32_t item, bool exclusive, bool *is_known,
                             assay_error *error) {
    const as_view_functions *functions = &s->functions[side];
    const assay_id first = as_change_context(s->asked->table, side, item), *contexts = &first;
    size_t n = 1;
    if (s->asked->flat) {
        uint32_t at = as_map_get(&s->places, item);
        contexts = functions->contexts + functions->starts[at];
        n = functions->starts[at + 1] - functions->starts[at];
    }
    assay_id end = 0; /* behind the last that was added, and what it calls */
    for (size_t i = 0; i < n; i++) {
        const as_context *context = as_ds_context(s->asked->sides[side], contexts[i]);
        if (!exclusive && contexts[i] < end && !context->is_aside) continue;
        if (!(*is_known = spend(s, side, contexts[i]))) return ASSAY_OK;
        AS_TRY(add_side(s, side, contexts[i], exclusive, error));
        if (contexts[i] + context->subtree > end) end = contexts[i] + context->subtree;
    }
    return ASSAY_OK;
}

assay_status as_change_spread_of(as_change_spreads *s, const uint32_t *items, size_t n, bool exclusive,
                                 double quartiles[2], assay_error *error) {
    bool is_in[2] = {false, false};
    quartiles[0] = quartiles[1] = NAN;
    if (!s->pairs) return ASSAY_OK;
    for (uint32_t i = 0; i < s->pairs->n; i++) {
        s->changes[i] = 0;
        s->has[i] = false;
    }
    for (size_t k = 0; k < 2 * n; k++) {
        size_t side = k % 2;
        bool is_known = true;
        if (as_change_context(s->asked->table, side, items[k / 2]) == ASSAY_NONE) continue;
        AS_TRY(add_item(s, side, items[k / 2], exclusive, &is_known, error));
        if (!is_known) return ASSAY_OK;
        is_in[side] = true;
    }
    uint32_t n_there = 0;
    for (uint32_t i = 0; i < s->pairs->n; i++) {
        if (s->has[i]) s->changes[n_there++] = s->changes[i];
    }
    if (!is_in[AS_BASE] || !is_in[AS_TARGET] || n_there < AS_LEAST_LOCATIONS) return ASSAY_OK;
    as_spread spread;
    as_spread_reals(s->changes, n_there, AS_PART_ADD, s->room, &spread);
    quartiles[0] = spread.q1;
    quartiles[1] = spread.q3;
    return ASSAY_OK;
}
