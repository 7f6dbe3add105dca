#include "analysis/location_statistics.h"

#include <stdlib.h>

#include "analysis/derived.h"
#include "analysis/nodes.h"
#include "analysis/rows.h"
#include "analysis/scaling/totals.h"
#include "analysis/stored_rows.h"
#include "dataset/formulas.h"

bool as_is_computed(const as_dataset *ds, const as_places *places, assay_id metric) {
    bool is_derived = as_ds_metric(ds, metric)->kind == AS_KIND_DERIVED;
    return places->over != AS_OVER_RUNS && (is_derived || as_dtype_is_composite(as_ds_metric_type(ds, metric).dtype));
}

bool as_has_statistics(const as_dataset *ds, const as_places *places, assay_id metric) {
    const as_derived *derived = as_ds_derived(ds, metric);
    if (places->over == AS_OVER_RUNS) return true;
    if ((places->is_shared || places->is_narrowed) && as_is_computed(ds, places, metric)) return false;
    if (as_ds_metric(ds, metric)->kind == AS_KIND_DERIVED) return derived && as_derived_has_values(derived);
    return as_ds_metric_type(ds, metric).dtype != AS_DTYPE_OPAQUE;
}

/* ---- rows of places ---------------------------------------------------------------------------------------------- */

/* The numbers of one context, each of one place: integers or reals, the others being NULL. Kinds that are not asked
 * for, or not there, are NULL as well. */
typedef struct place_row {
    assay_id context;
    uint32_t n;
    const uint32_t *places; /* NULL: the first number is of place 0, and so on */
    as_part_rule rule;
    const as_whole *wholes[2]; /* inclusive, exclusive */
    const double *reals[2];
    const double *whole; /* what all places have together, where that is no sum of theirs */
} place_row;

/* Who asks for rows, and of which contexts. */
typedef struct request {
    const as_dataset *ds;
    const as_places *places;
    assay_id metric, first;
    uint32_t n;
    as_value_kinds kinds;
    bool (*take)(void *user, const place_row *row);
    void *user;
} request;

/* ---- over locations ---------------------------------------------------------------------------------------------- */

/* How the columns of a slice become numbers of places. */
typedef struct columns {
    const request *request;
    uint32_t n;        /* numbers of a row */
    uint32_t *targets; /* for each column the number it goes to, or UINT32_MAX; NULL: columns are taken as they are */
    uint32_t *places;  /* of each number; NULL with targets */
    as_part_rule rule;
    as_whole *wholes[2]; /* room for a row each; with targets */
    double *reals[2];
    bool *takes_part; /* room for a row, where not every place does at every context; else NULL */
    uint32_t *parts;
    as_whole *part_wholes;
    double *part_reals;
} columns;

static uint32_t place_of_column(const as_profile *view, const as_places *places, uint32_t column) {
    assay_id location = as_profile_location(view, column);
    return location == ASSAY_NONE ? UINT32_MAX : places->place[location];
}

static bool is_as_it_is(const as_profile *view, const as_places *places) {
    if (view->n_columns != places->n || !view->columns) return false;
    for (uint32_t i = 0; i < places->n; i++) {
        if (place_of_column(view, places, i) != i) return false;
    }
    return true;
}

/* A place without a column has 0 where numbers are added, and no part in minima and maxima. numbers: room for one of
 * each place. */
static void map_columns(columns *c, const as_profile *view, uint32_t *numbers) {
    const as_places *places = c->request->places;
    for (uint32_t i = 0; i < places->n; i++) numbers[i] = c->rule == AS_PART_ADD ? 0 : UINT32_MAX;
    for (uint32_t i = 0; i < view->n_columns; i++) {
        uint32_t place = place_of_column(view, places, i);
        if (place != UINT32_MAX) numbers[place] = 0;
    }
    for (uint32_t i = 0; i < places->n; i++) {
        if (numbers[i] == UINT32_MAX) continue;
        numbers[i] = c->n;
        c->places[c->n++] = i;
    }
    for (uint32_t i = 0; i < view->n_columns; i++) {
        uint32_t place = place_of_column(view, places, i);
        c->targets[i] = place == UINT32_MAX ? UINT32_MAX : numbers[place];
    }
}

static bool open_parts(columns *c) {
    size_t room = (size_t)c->request->places->n + 1;
    if (!c->request->places->is_gpu || c->rule != AS_PART_ADD) return true;
    c->takes_part = malloc(room * sizeof *c->takes_part);
    c->parts = malloc(room * sizeof *c->parts);
    c->part_wholes = malloc(room * sizeof *c->part_wholes);
    c->part_reals = malloc(room * sizeof *c->part_reals);
    return c->takes_part && c->parts && c->part_wholes && c->part_reals;
}

static bool open_columns(columns *c, const as_profile *view) {
    const as_places *places = c->request->places;
    if (!open_parts(c)) return false;
    if (is_as_it_is(view, places)) {
        c->n = places->n;
        return true;
    }
    size_t room = (size_t)places->n + 1;
    uint32_t *numbers = malloc(room * sizeof *numbers);
    c->targets = malloc(((size_t)view->n_columns + 1) * sizeof *c->targets);
    c->places = malloc(room * sizeof *c->places);
    bool fine = numbers && c->targets && c->places;
    for (int kind = 0; kind < 2 && fine; kind++) {
        c->wholes[kind] = malloc(room * sizeof *c->wholes[kind]);
        c->reals[kind] = malloc(room * sizeof *c->reals[kind]);
        fine = c->wholes[kind] && c->reals[kind];
    }
    if (fine) map_columns(c, view, numbers);
    free(numbers);
    return fine;
}

static void close_columns(columns *c) {
    free(c->targets);
    free(c->places);
    free(c->takes_part);
    free(c->parts);
    free(c->part_wholes);
    free(c->part_reals);
    for (int kind = 0; kind < 2; kind++) {
        free(c->wholes[kind]);
        free(c->reals[kind]);
    }
}

static const as_whole *deal_wholes(const columns *c, const as_whole *from, uint32_t n, as_whole *to) {
    if (!c->targets || !from) return from;
    memset(to, 0, c->n * sizeof *to);
    for (uint32_t i = 0; i < n; i++) {
        if (c->targets[i] != UINT32_MAX) to[c->targets[i]] += from[i];
    }
    return to;
}

static const double *deal_reals(const columns *c, const double *from, uint32_t n, double *to) {
    if (!c->targets || !from) return from;
    double start = c->rule == AS_PART_ADD ? 0 : c->rule == AS_PART_MINIMUM ? INFINITY : -INFINITY;
    for (uint32_t i = 0; i < c->n; i++) to[i] = start;
    for (uint32_t i = 0; i < n; i++) {
        if (c->targets[i] == UINT32_MAX) continue;
        double *sum = &to[c->targets[i]];
        if (c->rule == AS_PART_ADD)
            *sum += from[i];
        else if (isnan(from[i]) || (c->rule == AS_PART_MINIMUM ? from[i] < *sum : from[i] > *sum))
            *sum = from[i];
    }
    return to;
}

/* Marks what is other than 0. Returns whether anything is. */
static bool mark_values(const place_row *row, int kind, bool *out) {
    const as_whole *wholes = row->wholes[kind];
    const double *reals = row->reals[kind];
    bool any = false;
    for (uint32_t i = 0; i < row->n; i++) {
        out[i] = wholes ? wholes[i] != 0 : reals && reals[i] != 0;
        any |= out[i];
    }
    return any;
}

/* Hands on those that take part, one kind after the other: they differ in who has a value. Both are in the row,
 * whatever is asked for: where nobody has one of a kind, those that have one of the other kind have 0. */
static bool take_parts_of(const columns *c, const place_row *all) {
    for (int kind = 1; kind >= 0; kind--) { /* backwards, like all of it */
        const as_whole *wholes = all->wholes[kind];
        const double *reals = all->reals[kind];
        place_row out = {.context = all->context, .places = c->parts, .rule = all->rule};
        bool is_asked = c->request->kinds & (kind ? AS_EXCLUSIVE_VALUES : AS_INCLUSIVE_VALUES);
        if (!is_asked || (!wholes && !reals)) continue;
        if (!mark_values(all, kind, c->takes_part)) mark_values(all, 1 - kind, c->takes_part);
        as_places_choose(c->request->places, all->context, all->places, all->n, c->takes_part);
        for (uint32_t i = 0; i < all->n; i++) {
            if (!c->takes_part[i]) continue;
            c->parts[out.n] = all->places ? all->places[i] : i;
            c->part_wholes[out.n] = wholes ? wholes[i] : 0;
            c->part_reals[out.n++] = reals ? reals[i] : 0;
        }
        if (wholes) out.wholes[kind] = c->part_wholes;
        if (reals) out.reals[kind] = c->part_reals;
        if (out.n && !c->request->take(c->request->user, &out)) return false;
    }
    return true;
}

static bool take_context(void *user, const as_context_row *row) {
    const columns *c = user;
    unsigned kinds = c->takes_part ? AS_INCLUSIVE_VALUES | AS_EXCLUSIVE_VALUES : c->request->kinds;
    if (row->context - c->request->first >= c->request->n || c->n == 0) return true;
    place_row out = {.context = row->context, .n = c->n, .places = c->places, .rule = c->rule};
    if (kinds & AS_INCLUSIVE_VALUES) {
        out.wholes[0] = deal_wholes(c, row->inclusive, row->n, c->wholes[0]);
        out.reals[0] = deal_reals(c, row->inclusive_real, row->n, c->reals[0]);
    }
    /* Where a minimum has no row of its own there is none, while the own part of a sum is 0. */
    if (kinds & AS_EXCLUSIVE_VALUES && (row->has_own || c->rule == AS_PART_ADD)) {
        out.wholes[1] = deal_wholes(c, row->exclusive, row->n, c->wholes[1]);
        out.reals[1] = deal_reals(c, row->exclusive_real, row->n, c->reals[1]);
    }
    return c->takes_part ? take_parts_of(c, &out) : c->request->take(c->request->user, &out);
}

/* ---- computed at each location ----------------------------------------------------------------------------------- */

/* Room for the numbers of a row. */
typedef struct computed {
    const request *request;
    bool *takes_part;
    uint32_t *places;
    double *reals;
} computed;

/* The numbers of one kind that have a place, and which of them take part; returns how many there are. */
static uint32_t choose_computed(const computed *c, const as_computed_row *row, int kind) {
    const as_places *places = c->request->places;
    uint32_t n = 0;
    for (uint32_t i = 0; i < row->n; i++) {
        assay_id location = row->locations[i];
        uint32_t place = location == ASSAY_NONE ? UINT32_MAX : places->place[location];
        if (place == UINT32_MAX || isnan(row->values[kind][i])) continue;
        c->places[n] = place;
        c->reals[n] = row->values[kind][i];
        c->takes_part[n] = !places->is_gpu || c->reals[n] != 0;
        n++;
    }
    if (places->is_gpu) as_places_choose(places, row->context, c->places, n, c->takes_part);
    return n;
}

static bool take_computed(void *user, const as_computed_row *row) {
    const computed *c = user;
    for (int kind = 1; kind >= 0; kind--) { /* backwards, like all of it */
        place_row out = {.context = row->context, .places = c->places, .whole = &row->whole[kind]};
        if (!row->values[kind]) continue;
        uint32_t n = choose_computed(c, row, kind);
        for (uint32_t i = 0; i < n; i++) {
            if (!c->takes_part[i]) continue;
            c->places[out.n] = c->places[i];
            c->reals[out.n++] = c->reals[i];
        }
        out.reals[kind] = c->reals;
        if (out.n && !c->request->take(c->request->user, &out)) return false;
    }
    return true;
}

/* Rows come from the last context to the first. */
static assay_status take_computed_rows(const request *r, assay_error *error) {
    size_t room = AS_COUNT(r->ds, locations) + 1;
    computed c = {.request = r,
                  .takes_part = malloc(room * sizeof *c.takes_part),
                  .places = malloc(room * sizeof *c.places),
                  .reals = malloc(room * sizeof *c.reals)};
    bool fine = c.takes_part && c.places && c.reals;
    const bool wanted[2] = {r->kinds & AS_INCLUSIVE_VALUES, r->kinds & AS_EXCLUSIVE_VALUES};
    assay_id root = r->n == AS_COUNT(r->ds, contexts) ? ASSAY_NONE : r->first;
    assay_status status =
        fine ? as_computed_rows(r->ds, r->places->run, r->metric, root, wanted, take_computed, &c, error)
             : as_fail_memory(error, NULL);
    free(c.takes_part);
    free(c.places);
    free(c.reals);
    return status;
}

static assay_status take_rows(as_stored_rows *rows, const columns *c, assay_error *error) {
    for (const as_context_row *row;;) {
        AS_TRY(as_stored_rows_next(rows, &row, error));
        if (!row) return ASSAY_OK;
        if (!take_context((void *)(uintptr_t)c, row)) return as_fail_memory(error, NULL);
    }
}

static assay_status take_stored(const request *r, assay_error *error) {
    as_stored_rows *rows;
    columns c = {.request = r, .rule = AS_PART_ADD};
    assay_status status = as_stored_rows_open(r->ds, r->places->run, r->metric, r->first, r->n, &rows, error);
    if (status == ASSAY_OK && !open_columns(&c, as_stored_rows_view(rows))) status = as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = take_rows(rows, &c, error);
    close_columns(&c);
    as_stored_rows_close(rows);
    return status;
}

/* Rows come from the last context to the first. */
static assay_status take_locations(const request *r, assay_error *error) {
    as_slice slice;
    bool fine = true;
    if (as_is_computed(r->ds, r->places, r->metric)) return take_computed_rows(r, error);
    if (as_has_stored_rows(r->ds, r->metric)) return take_stored(r, error);
    AS_TRY(as_slice_open(r->ds, r->metric, r->places->run, r->first, r->n, &slice, error));
    if (slice.view.n_rows) {
        columns c = {.request = r, .rule = as_part_rule_of(slice.view.type.dtype, 0)};
        fine = open_columns(&c, &slice.view) && as_rows_each(r->ds, &slice, 0, take_context, &c);
        close_columns(&c);
    }
    as_slice_close(&slice);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* ---- over runs --------------------------------------------------------------------------------------------------- */

/* The sums of every run, and how far each has been read. */
typedef struct runs {
    const request *request;
    as_node_list *lists;
    size_t *next;
    bool *is_zero; /* what a run lacks is 0 */
    as_part_rule rule;
    uint32_t *places;
    as_whole *wholes[2];
    double *reals[2];
} runs;

static bool open_runs(runs *all, const request *r) {
    size_t room = (size_t)r->places->n + 1;
    *all = (runs){.request = r,
                  .lists = malloc(room * sizeof *all->lists),
                  .next = calloc(room, sizeof *all->next),
                  .is_zero = calloc(room, sizeof *all->is_zero),
                  .places = malloc(room * sizeof *all->places)};
    bool fine = all->next && all->is_zero && all->places;
    for (int kind = 0; kind < 2 && fine; kind++) {
        all->wholes[kind] = malloc(room * sizeof *all->wholes[kind]);
        all->reals[kind] = malloc(room * sizeof *all->reals[kind]);
        fine = all->wholes[kind] && all->reals[kind];
    }
    for (uint32_t i = 0; all->lists && i < r->places->n; i++) as_node_list_init_of(&all->lists[i], r->ds);
    return fine && all->lists;
}

static void close_runs(runs *all) {
    for (uint32_t i = 0; all->lists && i < all->request->places->n; i++) as_node_list_free(&all->lists[i]);
    free(all->lists);
    free(all->next);
    free(all->is_zero);
    free(all->places);
    for (int kind = 0; kind < 2; kind++) {
        free(all->wholes[kind]);
        free(all->reals[kind]);
    }
}

/* The next node of a run, or NULL. */
static const as_node *next_node(const runs *all, uint32_t i) {
    return all->next[i] < as_node_count(&all->lists[i]) ? as_node_at(&all->lists[i], all->next[i]) : NULL;
}

/* The context after those that were read, or ASSAY_NONE. */
static assay_id next_context(const runs *all) {
    assay_id context = ASSAY_NONE;
    for (uint32_t i = 0; i < all->request->places->n; i++) {
        const as_node *node = next_node(all, i);
        if (node && node->context < context) context = node->context;
    }
    return context;
}

/* Hands over what all runs have of one context. */
static bool take_runs_at(runs *all, assay_id context) {
    const request *r = all->request;
    place_row out = {.context = context, .places = all->places, .rule = all->rule};
    bool is_whole = true, has_exclusive = false;
    for (uint32_t i = 0; i < r->places->n; i++) {
        const as_node *node = next_node(all, i);
        bool has_node = node && node->context == context;
        if (!has_node && !all->is_zero[i]) continue;
        all->places[out.n] = i;
        all->wholes[0][out.n] = has_node ? node->whole_inclusive : 0;
        all->wholes[1][out.n] = has_node ? node->whole_exclusive : 0;
        all->reals[0][out.n] = has_node ? as_number_real(node->inclusive) : 0;
        all->reals[1][out.n++] = has_node ? as_number_real(node->exclusive) : 0;
        is_whole = is_whole && (!has_node || node->is_whole);
        has_exclusive = has_exclusive || (has_node && node->has_exclusive);
        all->next[i] += has_node;
    }
    for (int kind = 0; kind < 2; kind++) {
        if (!(r->kinds & (kind ? AS_EXCLUSIVE_VALUES : AS_INCLUSIVE_VALUES)) || (kind && !has_exclusive)) continue;
        if (is_whole)
            out.wholes[kind] = all->wholes[kind];
        else
            out.reals[kind] = all->reals[kind];
    }
    return context - r->first >= r->n || r->take(r->user, &out);
}

/* Rows come from the first context to the last. */
static assay_status take_runs(const request *r, assay_error *error) {
    runs all;
    assay_status status = open_runs(&all, r) ? ASSAY_OK : as_fail_memory(error, NULL);
    assay_id root = r->n == AS_COUNT(r->ds, contexts) ? ASSAY_NONE : r->first;
    for (uint32_t i = 0; i < r->places->n && status == ASSAY_OK; i++) {
        const as_profile *profile = as_ds_profile(r->ds, r->metric, r->places->ids[i]);
        if (profile && as_dtype_is_extreme(profile->type.dtype)) all.rule = as_part_rule_of(profile->type.dtype, 0);
        all.is_zero[i] = profile && all.rule == AS_PART_ADD;
        status = as_nodes_find(r->ds, r->places->ids[i], r->metric, root, &all.lists[i], error);
    }
    for (assay_id context; status == ASSAY_OK && (context = next_context(&all)) != ASSAY_NONE;) {
        if (!take_runs_at(&all, context)) status = as_fail_memory(error, NULL);
    }
    close_runs(&all);
    return status;
}

static assay_status take_all(const request *r, assay_error *error) {
    return r->places->over == AS_OVER_RUNS ? take_runs(r, error) : take_locations(r, error);
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

typedef struct statistics {
    as_vec *out;
    void *room;        /* of as_spread_… */
    bool is_backwards; /* rows come from the last to the first */
} statistics;

static bool has_kind(const place_row *row, int kind) { return row->wholes[kind] || row->reals[kind]; }

static void find_spread(const place_row *row, int kind, void *room, as_spread *out) {
    if (row->wholes[kind])
        as_spread_integers(row->wholes[kind], row->n, room, out);
    else
        as_spread_reals(row->reals[kind], row->n, row->rule, room, out);
    if (row->whole) out->sum = *row->whole;
    if (row->places) {
        out->min_at = row->places[out->min_at];
        out->max_at = row->places[out->max_at];
    }
}

static bool add_spreads(void *user, const place_row *row) {
    statistics *s = user;
    size_t before = s->out->count;
    bool is_zero = true;
    for (int i = 0; i < 2 && row->n; i++) {
        int kind = s->is_backwards ? 1 - i : i;
        if (!has_kind(row, kind)) continue;
        as_context_spread *item = as_vec_push(s->out);
        if (!item) return false;
        item->context = row->context;
        item->is_exclusive = kind;
        find_spread(row, kind, s->room, &item->spread);
        is_zero = is_zero && item->spread.min == 0 && item->spread.max == 0;
    }
    if (is_zero) s->out->count = before;
    return true;
}

static void turn_around(as_context_spread *items, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        as_context_spread item = items[i];
        items[i] = items[n - 1 - i];
        items[n - 1 - i] = item;
    }
}

assay_status as_location_statistics(const as_dataset *ds, const as_places *places, assay_id metric,
                                    as_value_kinds kinds, as_vec *out, assay_error *error) {
    statistics s = {.out = out,
                    .room = malloc(AS_SPREAD_ROOM((size_t)places->n + 1)),
                    .is_backwards = places->over != AS_OVER_RUNS};
    size_t before = out->count;
    request r = {.ds = ds,
                 .places = places,
                 .metric = metric,
                 .n = (uint32_t)AS_COUNT(ds, contexts),
                 .kinds = kinds,
                 .take = add_spreads,
                 .user = &s};
    assay_status status = s.room ? take_all(&r, error) : as_fail_memory(error, NULL);
    if (status == ASSAY_OK && s.is_backwards && out->count > before)
        turn_around(&AS_AT(as_context_spread, out, before), out->count - before);
    free(s.room);
    return status;
}

/* ---- one context ------------------------------------------------------------------------------------------------- */

typedef struct values_taken {
    const as_places *places;
    assay_id context;
    as_number *values;
    as_number *room; /* for these; NULL: they get their own */
    as_spread *spread;
} values_taken;

static bool take_values(void *user, const place_row *row) {
    values_taken *v = user;
    int kind = has_kind(row, 1);
    if (row->context != v->context || !has_kind(row, kind) || !row->n) return true;
    void *room = v->spread ? malloc(AS_SPREAD_ROOM(row->n)) : NULL;
    v->values = v->room ? v->room : malloc((size_t)v->places->n * sizeof *v->values);
    if ((v->spread && !room) || !v->values) {
        free(room);
        return false;
    }
    for (uint32_t i = 0; i < v->places->n; i++) v->values[i] = (as_number){.kind = AS_REAL, .r = NAN};
    for (uint32_t i = 0; i < row->n; i++) {
        as_number *value = &v->values[row->places ? row->places[i] : i];
        *value = row->wholes[kind] ? as_whole_number(row->wholes[kind][i])
                                   : (as_number){.kind = AS_REAL, .r = row->reals[kind][i]};
    }
    if (v->spread) find_spread(row, kind, room, v->spread);
    free(room);
    return true;
}

assay_status as_location_values(const as_dataset *ds, const as_places *places, assay_id metric, assay_id context,
                                as_value_kinds kind, as_number **values, as_spread *out, assay_error *error) {
    values_taken taken = {.places = places, .context = context, .spread = out};
    request r = {.ds = ds,
                 .places = places,
                 .metric = metric,
                 .first = context,
                 .n = as_has_stored_rows(ds, metric) ? 1 : as_ds_context(ds, context)->subtree,
                 .kinds = kind,
                 .take = take_values,
                 .user = &taken};
    assay_status status = take_all(&r, error);
    if (status != ASSAY_OK) {
        free(taken.values);
        taken.values = NULL;
    }
    *values = taken.values;
    return status;
}

/* ---- one context after the other --------------------------------------------------------------------------------- */

struct as_location_reader {
    request request;
    as_stored_rows *rows; /* NULL: each context is read by itself */
    columns columns;
    as_number *values;
};

static bool is_read_by_rows(const request *r) {
    return r->places->over != AS_OVER_RUNS && !as_is_computed(r->ds, r->places, r->metric) &&
           as_stored_rows_is_sparse(r->ds, r->places->run, r->metric);
}

static assay_status open_rows(as_location_reader *reader, assay_error *error) {
    const request *r = &reader->request;
    AS_TRY(as_stored_rows_open(r->ds, r->places->run, r->metric, 0, 0, &reader->rows, error));
    reader->values = malloc(((size_t)r->places->n + 1) * sizeof *reader->values);
    bool fine = reader->values && open_columns(&reader->columns, as_stored_rows_view(reader->rows));
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_location_reader_open(const as_dataset *ds, const as_places *places, assay_id metric,
                                     as_value_kinds kind, as_location_reader **out, assay_error *error) {
    as_location_reader *reader = *out = calloc(1, sizeof *reader);
    if (!reader) return as_fail_memory(error, NULL);
    reader->request = (request){.ds = ds, .places = places, .metric = metric, .kinds = kind, .take = take_values};
    reader->columns = (columns){.request = &reader->request, .rule = AS_PART_ADD};
    return is_read_by_rows(&reader->request) ? open_rows(reader, error) : ASSAY_OK;
}

assay_status as_location_reader_next(as_location_reader *reader, assay_id context, const as_number **values,
                                     assay_error *error) {
    request *r = &reader->request;
    *values = NULL;
    if (!reader->rows) {
        free(reader->values);
        assay_status status =
            as_location_values(r->ds, r->places, r->metric, context, r->kinds, &reader->values, NULL, error);
        *values = reader->values;
        return status;
    }
    values_taken taken = {.places = r->places, .context = context, .room = reader->values};
    r->first = context;
    r->n = 1;
    r->user = &taken;
    as_stored_rows_seek(reader->rows, context, 1);
    AS_TRY(take_rows(reader->rows, &reader->columns, error));
    *values = taken.values;
    return ASSAY_OK;
}

void as_location_reader_close(as_location_reader *reader) {
    if (!reader) return;
    if (reader->rows) close_columns(&reader->columns);
    as_stored_rows_close(reader->rows);
    free(reader->values);
    free(reader);
}

/* ---- all contexts together --------------------------------------------------------------------------------------- */

/* Sums of places over some contexts. */
typedef struct totals {
    const bool *is_part; /* of each context */
    uint32_t n_parts;    /* that had a row */
    bool *has;           /* of each place: some part has a number there */
    as_whole *wholes;
    double *reals;
    bool is_real;
    as_part_rule rule;
    double whole; /* of the last part, where it is no sum */
    bool has_whole;
} totals;

static void add_to_total(totals *t, uint32_t place, const as_whole *whole, const double *real) {
    if (whole)
        t->wholes[place] += *whole;
    else
        t->reals[place] = t->has[place] ? as_part_combine(t->rule, t->reals[place], *real) : *real;
    t->has[place] = true;
}

static bool take_part(void *user, const place_row *row) {
    totals *t = user;
    int kind = has_kind(row, 1);
    if (!t->is_part[row->context] || !has_kind(row, kind) || !row->n) return true;
    t->n_parts++;
    t->is_real = t->is_real || row->reals[kind];
    t->rule = row->rule;
    t->has_whole = row->whole != NULL;
    if (row->whole) t->whole = *row->whole;
    for (uint32_t i = 0; i < row->n; i++)
        add_to_total(t, row->places ? row->places[i] : i, row->wholes[kind] ? &row->wholes[kind][i] : NULL,
                     row->reals[kind] ? &row->reals[kind][i] : NULL);
    return true;
}

/* Those that views take for the whole of a metric: the roots, or of one that is neither inclusive nor exclusive what
 * its total is made of. */
static assay_status mark_parts(const as_dataset *ds, assay_id metric, bool *is_part, assay_error *error) {
    const as_metric *m = as_ds_metric(ds, metric);
    bool has_wholes = as_ds_has_wholes(ds);
    if (as_metric_is_only_exclusive(m)) return ASSAY_OK;
    if (m->is_stored || m->kind == AS_KIND_INCLUSIVE || m->kind == AS_KIND_EXCLUSIVE || m->kind == AS_KIND_DERIVED) {
        for (assay_id id = 0; id < AS_COUNT(ds, contexts); id += as_ds_context(ds, id)->subtree) {
            const as_context *root = as_ds_context(ds, id);
            is_part[id] =
                root->role != AS_ROLE_PLACELESS && (!has_wholes || (!root->is_aside && !as_context_is_section(ds, id)));
        }
        return ASSAY_OK;
    }
    as_metric_series by_metric = {0};
    assay_id guessed;
    bool *parts = as_metric_series_init(&by_metric, ds) ? as_total_parts(ds, &by_metric, &guessed) : NULL;
    for (uint32_t i = parts ? by_metric.starts[metric] : 0; parts && i < by_metric.starts[metric + 1]; i++)
        is_part[as_ds_series(ds, by_metric.series[i])->context] = parts[by_metric.series[i]];
    as_metric_series_free(&by_metric);
    free(parts);
    return parts ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* Stored values are those of the parts alone; others come of all that lies below. */
static assay_status take_parts(const request *all, const bool *is_part, assay_error *error) {
    if (!as_has_stored_rows(all->ds, all->metric) || all->places->over == AS_OVER_RUNS) return take_all(all, error);
    for (assay_id id = 0; id < AS_COUNT(all->ds, contexts); id++) {
        request one = *all;
        one.first = id;
        one.n = 1;
        if (is_part[id]) AS_TRY(take_all(&one, error));
    }
    return ASSAY_OK;
}

/* The numbers of all places into values, and how they lie. */
static bool finish_totals(const totals *t, const as_places *places, as_number *values, as_spread *out) {
    uint32_t n = 0, *of = malloc(((size_t)places->n + 1) * sizeof *of);
    void *room = malloc(AS_SPREAD_ROOM((size_t)places->n + 1));
    if (of && room) {
        for (uint32_t i = 0; i < places->n; i++) {
            values[i] = (as_number){.kind = AS_REAL, .r = NAN};
            if (!t->has[i]) continue;
            if (t->is_real) t->reals[i] += (double)t->wholes[i];
            values[i] = t->is_real ? (as_number){.kind = AS_REAL, .r = t->reals[i]} : as_whole_number(t->wholes[i]);
            of[n] = i;
            t->wholes[n] = t->wholes[i];
            t->reals[n++] = t->reals[i];
        }
        place_row row = {.n = n, .places = of, .rule = t->rule, .whole = t->has_whole ? &t->whole : NULL};
        if (t->is_real)
            row.reals[0] = t->reals;
        else
            row.wholes[0] = t->wholes;
        if (n) find_spread(&row, 0, room, out);
    }
    bool fine = of && room;
    free(of);
    free(room);
    return fine;
}

/* Of those that is_part marks, one bool for each context. */
static assay_status sum_parts(const as_dataset *ds, const as_places *places, assay_id metric, const bool *is_part,
                              as_value_kinds kind, as_number **values, as_spread *out, assay_error *error) {
    size_t n = (size_t)places->n + 1;
    totals t = {.is_part = is_part,
                .has = calloc(n, sizeof *t.has),
                .wholes = calloc(n, sizeof *t.wholes),
                .reals = calloc(n, sizeof *t.reals)};
    request r = {.ds = ds,
                 .places = places,
                 .metric = metric,
                 .n = (uint32_t)AS_COUNT(ds, contexts),
                 .kinds = kind,
                 .take = take_part,
                 .user = &t};
    assay_status status = t.has && t.wholes && t.reals ? take_parts(&r, is_part, error) : as_fail_memory(error, NULL);
    bool is_one = t.n_parts == 1 || (t.n_parts > 1 && !as_is_computed(ds, places, metric));
    if (status == ASSAY_OK && is_one) {
        *values = malloc(n * sizeof **values);
        if (!*values || !finish_totals(&t, places, *values, out)) status = as_fail_memory(error, NULL);
    }
    if (status != ASSAY_OK) {
        free(*values);
        *values = NULL;
    }
    free(t.has);
    free(t.wholes);
    free(t.reals);
    return status;
}

assay_status as_location_totals(const as_dataset *ds, const as_places *places, assay_id metric, as_number **values,
                                as_spread *out, assay_error *error) {
    bool *is_part = calloc(AS_COUNT(ds, contexts) + 1, sizeof *is_part);
    *values = NULL;
    assay_status status = is_part ? mark_parts(ds, metric, is_part, error) : as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = sum_parts(ds, places, metric, is_part, AS_INCLUSIVE_VALUES, values, out, error);
    free(is_part);
    return status;
}

assay_status as_location_sums(const as_dataset *ds, const as_places *places, assay_id metric, const assay_id *contexts,
                              size_t n, as_value_kinds kind, as_number **values, as_spread *out, assay_error *error) {
    bool *is_part = calloc(AS_COUNT(ds, contexts) + 1, sizeof *is_part);
    assay_id end = 0;
    *values = NULL;
    for (size_t i = 0; is_part && i < n; i++) {
        bool is_below = contexts[i] < end && !as_ds_context(ds, contexts[i])->is_aside;
        if (is_below && kind == AS_INCLUSIVE_VALUES) continue;
        is_part[contexts[i]] = true;
        assay_id behind = contexts[i] + as_ds_context(ds, contexts[i])->subtree;
        if (behind > end) end = behind; /* one aside may end before the one that it lies in */
    }
    assay_status status =
        is_part ? sum_parts(ds, places, metric, is_part, kind, values, out, error) : as_fail_memory(error, NULL);
    free(is_part);
    return status;
}
