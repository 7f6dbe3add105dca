#include "server/change_noise.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/stored_rows.h"
#include "core/parallel.h"

enum { MOST_WORK = 20000000, WORK_OF_CONTEXT = 50, ITEMS_AT_ONCE = 8 };

/* Of who finds the changes of one item after the other. */
typedef struct spread_room {
    double *changes; /* of each location */
    bool *has;       /* likewise */
    void *sorting;
    as_location_reader *readers[2];
} spread_room;

static assay_status make_room(spread_room *room, const as_change_spreads *s, bool exclusive, assay_error *error) {
    size_t n = s->pairs->n;
    *room = (spread_room){.changes = malloc((n + 1) * sizeof *room->changes),
                          .has = malloc((n + 1) * sizeof *room->has),
                          .sorting = malloc(AS_SPREAD_ROOM(n))};
    if (!room->changes || !room->has || !room->sorting) return as_fail_memory(error, NULL);
    for (size_t side = 0; side < 2; side++)
        AS_TRY(as_location_reader_open(
            s->asked->sides[side], &s->pairs->places[side], as_asked_metric_of(s->asked, side),
            exclusive ? AS_EXCLUSIVE_VALUES : AS_INCLUSIVE_VALUES, &room->readers[side], error));
    return ASSAY_OK;
}

static void free_room(spread_room *room) {
    for (size_t side = 0; side < 2; side++) as_location_reader_close(room->readers[side]);
    free(room->changes);
    free(room->has);
    free(room->sorting);
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

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
    return keep_pairs(viewing, asked, &out->pairs, error);
}

void as_change_spreads_free(as_change_spreads *spreads) {
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

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* The contexts of an item on a side. first: room for one. */
static const assay_id *contexts_of(const as_change_spreads *s, size_t side, uint32_t item, assay_id *first, size_t *n) {
    *first = as_change_context(s->asked->table, side, item);
    *n = 1;
    if (!s->asked->flat) return first;
    const as_view_functions *functions = &s->functions[side];
    uint32_t at = as_map_get(&s->places, item);
    *n = functions->starts[at + 1] - functions->starts[at];
    return functions->contexts + functions->starts[at];
}

/* What lies inside a context that counts counts with it. *end: behind the last of these, and what it calls; at first
 * 0. */
static bool counts(const as_change_spreads *s, size_t side, assay_id id, bool exclusive, assay_id *end) {
    const as_context *context = as_ds_context(s->asked->sides[side], id);
    if (!exclusive && id < *end && !context->is_aside) return false;
    if (id + context->subtree > *end) *end = id + context->subtree;
    return true;
}

/* False where reading some items would take too long. */
static bool spend(as_change_spreads *s, const uint32_t *items, size_t n, bool exclusive) {
    for (size_t k = 0; k < 2 * n; k++) {
        size_t side = k % 2, n_contexts;
        const as_dataset *ds = s->asked->sides[side];
        bool is_stored = as_has_stored_rows(ds, as_asked_metric_of(s->asked, side));
        assay_id end = 0, first;
        if (as_change_context(s->asked->table, side, items[k / 2]) == ASSAY_NONE) continue;
        const assay_id *contexts = contexts_of(s, side, items[k / 2], &first, &n_contexts);
        for (size_t i = 0; i < n_contexts; i++) {
            if (!counts(s, side, contexts[i], exclusive, &end)) continue;
            uint64_t n_rows = is_stored ? 1 : as_ds_context(ds, contexts[i])->subtree;
            uint64_t work = n_rows * s->pairs->n + WORK_OF_CONTEXT;
            if (work > s->work_left) return false;
            s->work_left -= work;
        }
    }
    return true;
}

/* Adds what a context of a side has at each location. */
static assay_status add_side(const as_change_spreads *s, spread_room *room, size_t side, assay_id context,
                             assay_error *error) {
    const as_asked_changes *asked = s->asked;
    const as_number *values;
    double factor = side == AS_BASE ? -s->scale : asked->diff.comparison.factors[asked->metric];
    AS_TRY(as_location_reader_next(room->readers[side], context, &values, error));
    for (uint32_t i = 0; values && i < s->pairs->n; i++) {
        double value = as_number_real(values[side == AS_BASE ? i : s->pairs->target_of[i]]);
        if (isnan(value)) continue;
        room->changes[i] += factor * value;
        room->has[i] = true;
    }
    return ASSAY_OK;
}

/* What is to be told of the contexts that are read next, which lie anywhere; NULL: nothing. */
static const as_profile_source *fetching_source(const as_change_spreads *s, size_t side, bool exclusive) {
    const as_dataset *ds = s->asked->sides[side];
    assay_id metric = as_asked_metric_of(s->asked, side), partner = as_ds_metric(ds, metric)->exclusive;
    if (exclusive && partner != ASSAY_NONE) metric = partner;
    const as_profile *profile = as_ds_profile(ds, metric, s->asked->diff.runs[side].runs[0]);
    return profile && profile->source && profile->source->fetch_row ? profile->source : NULL;
}

static void fetch_ahead(const as_profile_source *source, const assay_id *contexts, size_t n, size_t i) {
    enum { SOON = 8, LATER = 16 };
    if (source && n - i > SOON)
        source->fetch_row(source, contexts[i + SOON], n - i > LATER ? contexts[i + LATER] : ASSAY_NONE);
}

static assay_status find_quartiles(const as_change_spreads *s, spread_room *room, const uint32_t *items, size_t n,
                                   bool exclusive, double quartiles[2], assay_error *error) {
    bool is_in[2] = {false, false};
    for (uint32_t i = 0; i < s->pairs->n; i++) {
        room->changes[i] = 0;
        room->has[i] = false;
    }
    for (size_t k = 0; k < 2 * n; k++) {
        size_t side = k % 2, n_contexts;
        assay_id end = 0, first;
        if (as_change_context(s->asked->table, side, items[k / 2]) == ASSAY_NONE) continue;
        const assay_id *contexts = contexts_of(s, side, items[k / 2], &first, &n_contexts);
        const as_profile_source *source = n_contexts > 1 ? fetching_source(s, side, exclusive) : NULL;
        for (size_t i = 0; i < n_contexts; i++) {
            fetch_ahead(source, contexts, n_contexts, i);
            if (counts(s, side, contexts[i], exclusive, &end)) AS_TRY(add_side(s, room, side, contexts[i], error));
        }
        is_in[side] = true;
    }
    uint32_t n_there = 0;
    for (uint32_t i = 0; i < s->pairs->n; i++) {
        if (room->has[i]) room->changes[n_there++] = room->changes[i];
    }
    if (!is_in[AS_BASE] || !is_in[AS_TARGET] || n_there < AS_LEAST_LOCATIONS) return ASSAY_OK;
    as_spread spread;
    as_spread_reals(room->changes, n_there, AS_PART_ADD, room->sorting, &spread);
    quartiles[0] = spread.q1;
    quartiles[1] = spread.q3;
    return ASSAY_OK;
}

/* ---- of many ----------------------------------------------------------------------------------------------------- */

typedef struct spreading {
    const as_change_spreads *s;
    const uint32_t *items, *starts; /* starts: NULL: each item is a group */
    const bool *is_wanted;
    size_t n; /* groups */
    bool exclusive;
    double (*quartiles)[2];
    assay_status *ends; /* of each piece */
    assay_error *errors;
} spreading;

static const uint32_t *group_of(const spreading *w, size_t i, size_t *n) {
    *n = w->starts ? w->starts[i + 1] - w->starts[i] : 1;
    return &w->items[w->starts ? w->starts[i] : i];
}

static void find_piece(void *user, size_t piece) {
    const spreading *w = user;
    spread_room room;
    assay_error *error = &w->errors[piece];
    assay_status status = make_room(&room, w->s, w->exclusive, error);
    for (size_t i = piece * ITEMS_AT_ONCE; i < w->n && i < (piece + 1) * ITEMS_AT_ONCE && status == ASSAY_OK; i++) {
        size_t n;
        const uint32_t *items = group_of(w, i, &n);
        if (w->is_wanted[i]) status = find_quartiles(w->s, &room, items, n, w->exclusive, w->quartiles[i], error);
    }
    w->ends[piece] = status;
    free_room(&room);
}

/* Rows of sparse profiles are for several threads; others may have to be loaded first. */
static bool can_share(const as_change_spreads *s) {
    for (size_t side = 0; side < 2; side++) {
        assay_id run = s->asked->diff.runs[side].runs[0];
        if (!as_stored_rows_is_sparse(s->asked->sides[side], run, as_asked_metric_of(s->asked, side))) return false;
    }
    return true;
}

assay_status as_change_spreads_of(as_change_spreads *s, const uint32_t *items, const uint32_t *starts, size_t n,
                                  bool exclusive, double (*quartiles)[2], assay_error *error) {
    size_t n_pieces = (n + ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE;
    bool *is_wanted = calloc(n + 1, sizeof *is_wanted);
    spreading w = {s, items, starts, is_wanted, n, exclusive, .quartiles = quartiles};
    w.ends = calloc(n_pieces + 1, sizeof *w.ends);
    w.errors = calloc(n_pieces + 1, sizeof *w.errors);
    assay_status status = is_wanted && w.ends && w.errors ? ASSAY_OK : as_fail_memory(error, NULL);
    for (size_t i = 0; i < n && status == ASSAY_OK; i++) {
        quartiles[i][0] = quartiles[i][1] = NAN;
        size_t n_items;
        const uint32_t *group = group_of(&w, i, &n_items);
        is_wanted[i] = s->pairs && spend(s, group, n_items, exclusive);
    }
    if (status == ASSAY_OK && s->pairs) as_parallel(n_pieces, can_share(s) ? 0 : 1, find_piece, &w);
    for (size_t i = 0; i < n_pieces && status == ASSAY_OK; i++) {
        status = w.ends[i];
        if (status != ASSAY_OK) *error = w.errors[i];
    }
    free(is_wanted);
    free(w.ends);
    free(w.errors);
    return status;
}
