/* Sums become the values of the dataset: a profile for each metric and run, and series where there are parameters. */
#include <stdlib.h>

#include "formats/afperf/reading.h"

enum { VISITS, TIME, COVERED, FIRST_MEASURE };

/* Cells in the order of their runs and contexts. */
static int compare_places(const as_af_capture *capture, uint32_t a, uint32_t b) {
    const as_af_cell *cells = capture->cells.data, *x = &cells[a], *y = &cells[b];
    assay_id x_run = AS_AF_RUN(capture, x->run)->final, y_run = AS_AF_RUN(capture, y->run)->final;
    if (x_run != y_run) return x_run < y_run ? -1 : 1;
    return (x->context > y->context) - (x->context < y->context);
}

static int compare_cells(const void *a, const void *b, void *user) {
    return compare_places(user, *(const uint32_t *)a, *(const uint32_t *)b);
}

static void put_value(as_value_type type, char *values, size_t i, as_whole whole, double real) {
    int64_t wide = (int64_t)whole;
    if (type.dtype == AS_DTYPE_DOUBLE)
        memcpy(values + 8 * i, &real, sizeof real);
    else
        memcpy(values + 8 * i, &wide, sizeof wide);
}

static bool has_own(const as_af_cell *cell, assay_id metric) {
    return cell->visits && (metric != COVERED || cell->is_section);
}

/* One of the own metrics of one run, whose cells are order[0] … order[n - 1]. */
static bool add_own_metric(as_af_capture *capture, assay_id metric, const uint32_t *order, uint32_t n) {
    as_dataset *ds = capture->ds;
    const as_af_cell *cells = capture->cells.data;
    const as_af_run *run = AS_AF_RUN(capture, cells[order[0]].run);
    as_profile profile = {.metric = metric,
                          .run = run->final,
                          .type = as_value_type_of(metric == VISITS ? AS_DTYPE_UINT64 : AS_DTYPE_DOUBLE, 1),
                          .n_columns = 1};
    for (uint32_t i = 0; i < n; i++) profile.n_rows += has_own(&cells[order[i]], metric);
    if (!profile.n_rows) return true;
    assay_id *contexts = as_arena_array(&ds->arena, profile.n_rows, sizeof *contexts);
    char *values = as_arena_array(&ds->arena, profile.n_rows, 8);
    if (!contexts || !values) return false;
    for (uint32_t i = 0, row = 0; i < n; i++) {
        const as_af_cell *cell = &cells[order[i]];
        if (!has_own(cell, metric)) continue;
        contexts[row] = cell->context;
        put_value(profile.type, values, row++, (as_whole)cell->visits,
                  (double)(metric == TIME ? cell->time : cell->covered) / run->per_second);
    }
    profile.contexts = contexts;
    profile.values = values;
    return as_add_profile(ds, &profile);
}

static bool add_own(as_af_capture *capture, const uint32_t *order, uint32_t n) {
    for (assay_id metric = 0; metric < FIRST_MEASURE; metric++) {
        if (!add_own_metric(capture, metric, order, n)) return false;
    }
    return true;
}

/* ---- measures ---------------------------------------------------------------------------------------------------- */

static int compare_sums(const void *a, const void *b, void *user) {
    const as_af_sum *x = a, *y = b;
    if (x->metric != y->metric) return x->metric < y->metric ? -1 : 1;
    return compare_places(user, x->cell, y->cell);
}

/* What one metric has at a context, in one run. */
typedef struct measured {
    assay_id context;
    bool is_gap, is_real;
    double real;
    as_whole whole;
} measured;

static int compare_contexts(const void *a, const void *b) {
    const measured *x = a, *y = b;
    return (x->context > y->context) - (x->context < y->context);
}

static bool put_measured(as_vec *all, as_map *at, const measured *m) {
    return as_map_put(at, m->context, (uint32_t)all->count) && as_vec_append(all, m, 1);
}

/* Hands what gaps have to the gaps around them: a child comes behind its parent. */
static bool add_up_gaps(const as_dataset *ds, as_vec *all, as_map *at) {
    measured *list = all->data;
    qsort(list, all->count, sizeof *list, compare_contexts);
    for (uint32_t i = 0; i < all->count; i++) {
        if (!as_map_put(at, list[i].context, i)) return false;
    }
    for (size_t i = all->count; i-- > 0;) {
        assay_id parent = as_ds_context(ds, list[i].context)->parent;
        if (parent == ASSAY_NONE) continue;
        measured *around = &list[as_map_get(at, parent)];
        if (!around->is_gap) continue;
        around->is_real |= list[i].is_real;
        around->real += list[i].is_real ? list[i].real : (double)list[i].whole;
        around->whole += list[i].is_real ? 0 : list[i].whole;
    }
    return true;
}

/* The n sums of one metric in one run in order of contexts, and where it was measured inside a region but not around
 * it, the sum of what is inside: inclusive values hold what is below them. */
static bool gather(const as_af_capture *capture, const as_af_sum *sums, uint32_t n, as_vec *all, as_map *at) {
    const as_dataset *ds = capture->ds;
    const as_af_cell *cells = capture->cells.data;
    as_map_expect(at, n);
    for (uint32_t i = 0; i < n; i++) {
        const measured m = {cells[sums[i].cell].context, false, sums[i].is_real, sums[i].real, sums[i].whole};
        if (!put_measured(all, at, &m)) return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        assay_id id = cells[sums[i].cell].context;
        while ((id = as_ds_context(ds, id)->parent) != ASSAY_NONE && as_map_get(at, id) == AS_MAP_NONE) {
            if (!put_measured(all, at, &(measured){.context = id, .is_gap = true})) return false;
        }
    }
    return all->count == n || add_up_gaps(ds, all, at);
}

static bool add_measured(as_af_capture *capture, const as_af_sum *sums, const as_vec *all) {
    as_dataset *ds = capture->ds;
    const as_af_cell *cells = capture->cells.data;
    const measured *list = all->data;
    bool is_real = false;
    for (size_t i = 0; i < all->count; i++)
        is_real |= list[i].is_real || list[i].whole > INT64_MAX || list[i].whole < INT64_MIN;
    as_profile profile = {.metric = sums->metric,
                          .run = AS_AF_RUN(capture, cells[sums->cell].run)->final,
                          .type = as_value_type_of(is_real ? AS_DTYPE_DOUBLE : AS_DTYPE_INT64, 1),
                          .n_rows = (uint32_t)all->count,
                          .n_columns = 1};
    assay_id *contexts = as_arena_array(&ds->arena, all->count, sizeof *contexts);
    char *values = as_arena_array(&ds->arena, all->count, 8);
    if (!contexts || !values) return false;
    for (size_t i = 0; i < all->count; i++) {
        contexts[i] = list[i].context;
        put_value(profile.type, values, i, list[i].whole, list[i].is_real ? list[i].real : (double)list[i].whole);
    }
    profile.contexts = contexts;
    profile.values = values;
    return as_add_profile(ds, &profile);
}

static bool add_measure(as_af_capture *capture, const as_af_sum *sums, uint32_t n) {
    as_vec all; /* measured */
    as_map at;  /* context -> its number in all */
    as_vec_init(&all, sizeof(measured), &capture->ds->budget);
    as_map_init(&at, &capture->ds->budget);
    bool fine = gather(capture, sums, n, &all, &at) && add_measured(capture, sums, &all);
    as_map_free(&at);
    as_vec_free(&all);
    return fine;
}

static bool add_measures(as_af_capture *capture, const as_vec *all) {
    as_af_sum *sums = all->data;
    const as_af_cell *cells = capture->cells.data;
    if (all->count) qsort_r(sums, all->count, sizeof *sums, compare_sums, capture);
    for (size_t from = 0, end; from < all->count; from = end) {
        for (end = from + 1; end < all->count && sums[end].metric == sums[from].metric &&
                             cells[sums[end].cell].run == cells[sums[from].cell].run;)
            end++;
        if (!add_measure(capture, sums + from, (uint32_t)(end - from))) return false;
    }
    return true;
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

static int compare_series(const void *a, const void *b) {
    const as_series *x = a, *y = b;
    if (x->context != y->context) return x->context < y->context ? -1 : 1;
    return (x->metric > y->metric) - (x->metric < y->metric);
}

/* Every (metric, context) with values once; first_measurement counts, for a moment, the points that it has values
 * at. */
static bool add_series(as_af_reading *reading) {
    as_dataset *ds = reading->ds;
    as_map known;
    as_vec last; /* assay_id: the last point of each series */
    as_map_init(&known, &ds->budget);
    as_vec_init(&last, sizeof(assay_id), &ds->budget);
    bool fine = true;
    for (size_t i = 0; fine && i < ds->profiles.count; i++) {
        const as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        assay_id point = as_ds_run(ds, profile->run)->point;
        for (uint32_t row = 0; fine && row < profile->n_rows; row++) {
            as_series series = {.metric = profile->metric, .context = profile->contexts[row]};
            uint64_t key = as_pair(series.metric, series.context);
            uint32_t index = as_map_get(&known, key);
            if (index == AS_MAP_NONE) {
                assay_id none = ASSAY_NONE;
                index = (uint32_t)ds->series.count;
                fine = as_vec_append(&ds->series, &series, 1) && as_vec_append(&last, &none, 1) &&
                       as_map_put(&known, key, index);
            }
            if (!fine || AS_AT(assay_id, &last, index) == point) continue;
            AS_AT(assay_id, &last, index) = point;
            AS_AT(as_series, &ds->series, index).first_measurement++;
        }
    }
    as_map_free(&known);
    as_vec_free(&last);
    size_t n_incomplete = 0, n_missing = 0, first = 0;
    if (fine && ds->series.count) qsort(ds->series.data, ds->series.count, sizeof(as_series), compare_series);
    for (size_t i = 0; fine && i < ds->series.count; i++) {
        as_series *series = &AS_AT(as_series, &ds->series, i);
        size_t n = series->first_measurement;
        series->first_measurement = 0;
        if (n < ds->n_points && !n_incomplete++) n_missing = ds->n_points - n, first = i;
    }
    if (!fine || !n_incomplete) return fine;
    return as_add_missing_points(ds, as_place_file(reading->reader->input->path), as_ds_series(ds, first), n_missing,
                                 n_incomplete);
}

bool as_af_add_profiles(as_af_reading *reading, const as_vec *sums) {
    as_af_capture *capture = reading->capture;
    size_t n = capture->cells.count;
    if (!as_budget_allows(&reading->ds->budget, (n + 1) * sizeof(uint32_t))) return false;
    uint32_t *order = malloc((n + 1) * sizeof *order);
    const as_af_cell *cells = capture->cells.data;
    bool fine = order;
    for (size_t i = 0; fine && i < n; i++) order[i] = (uint32_t)i;
    if (fine && n) qsort_r(order, n, sizeof *order, compare_cells, capture);
    for (size_t from = 0, end; fine && from < n; from = end) {
        for (end = from + 1; end < n && cells[order[end]].run == cells[order[from]].run;) end++;
        fine = add_own(capture, order + from, (uint32_t)(end - from));
    }
    free(order);
    fine = fine && add_measures(capture, sums);
    return fine && (!as_ds_parameters(reading->ds) || add_series(reading));
}
