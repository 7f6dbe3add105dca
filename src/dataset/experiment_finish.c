/* From values in the order of the file to blocks sorted by context, run and location.
 *
 * Columns are moved into the dataset's arena and given back as they go, so that the peak is hardly above what stays. */
#include "dataset/experiment_private.h"

#include <stdio.h>
#include <stdlib.h>

enum { RELEASE_ROWS = 1 << 17 };

/* Where the rows of a metric go. */
typedef struct row_plan {
    as_block block; /* contexts and starts are set, columns follow */
    assay_id *contexts;
    uint64_t *starts;
    uint64_t *targets; /* for each segment: its first row in the block */
} row_plan;

/* ---- sorting by context ------------------------------------------------------------------------------------------ */

static int compare_ids(const void *a, const void *b) {
    assay_id x = *(const assay_id *)a, y = *(const assay_id *)b;
    return (x > y) - (x < y);
}

/* The n contexts that have rows, ascending. Going through all contexts would be too much for each of many metrics that
 * have few of them. */
static void list_contexts(const as_vec *segments, const assay_id *new_ids, const uint64_t *counts, size_t n_all,
                          const row_plan *plan, size_t n) {
    size_t k = 0;
    if (n > n_all / 16) {
        for (size_t c = 0; c < n_all; c++) {
            if (counts[c]) plan->contexts[k++] = (assay_id)c;
        }
        return;
    }
    for (size_t i = 0; i < segments->count; i++) {
        if (plan->targets[i]) plan->contexts[k++] = new_ids[AS_AT(as_row_segment, segments, i).context];
    }
    qsort(plan->contexts, n, sizeof *plan->contexts, compare_ids);
}

/* Counts the rows of each context, then gives every segment its place; segments of one context keep their order.
 * next: a zero for each context, before and after. */
static bool plan_rows(as_experiment *e, const as_metric_column *column, const assay_id *new_ids, uint64_t *next,
                      row_plan *plan) {
    as_dataset *ds = e->ds;
    size_t n_segments = column->segments.count, n = 0;
    plan->targets = malloc((n_segments + 1) * sizeof *plan->targets);
    if (!plan->targets) return false;
    for (size_t i = 0; i < n_segments; i++) {
        const as_row_segment *segment = &AS_AT(as_row_segment, &column->segments, i);
        uint64_t *count = &next[new_ids[segment->context]];
        plan->targets[i] = *count == 0; /* until it gets its place: whether it is the first of its context */
        n += *count == 0;
        *count += segment->count;
    }
    plan->contexts = as_arena_array(&ds->arena, n, sizeof *plan->contexts);
    plan->starts = as_arena_array(&ds->arena, n + 1, sizeof *plan->starts);
    if (!plan->contexts || !plan->starts) return false;
    list_contexts(&column->segments, new_ids, next, ds->contexts.count, plan, n);
    uint64_t row = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t count = next[plan->contexts[i]];
        next[plan->contexts[i]] = plan->starts[i] = row;
        row += count;
    }
    plan->starts[n] = row;
    for (size_t i = 0; i < n_segments; i++) {
        const as_row_segment *segment = &AS_AT(as_row_segment, &column->segments, i);
        plan->targets[i] = next[new_ids[segment->context]];
        next[new_ids[segment->context]] += segment->count;
    }
    for (size_t i = 0; i < n; i++) next[plan->contexts[i]] = 0;
    plan->block = (as_block){.run = ASSAY_NONE,
                             .n_contexts = (uint32_t)n,
                             .contexts = plan->contexts,
                             .starts = plan->starts,
                             .dtype = column->dtype};
    return true;
}

/* Moves a column to its final place and frees the old one, bit by bit, so that memory does not hold both. NULL when
 * memory is out. */
static void *move_column(as_dataset *ds, as_vec *rows, const as_vec *segments, const uint64_t *targets) {
    char *moved = as_arena_array(&ds->arena, rows->count, rows->size);
    if (!moved) return NULL;
    size_t row = 0, released = 0;
    for (size_t i = 0; i < segments->count; i++) {
        size_t n = AS_AT(as_row_segment, segments, i).count;
        memcpy(moved + targets[i] * rows->size, (char *)rows->data + row * rows->size, n * rows->size);
        row += n;
        if (row - released < RELEASE_ROWS) continue;
        as_vec_consumed(rows, released, row);
        released = row;
    }
    as_vec_free(rows);
    return moved;
}

/* ---- sorting by point -------------------------------------------------------------------------------------------- */

typedef struct sort_row {
    assay_id point;
    uint32_t location;
    uint64_t order, value;
} sort_row;

static int compare_rows(const void *a, const void *b) {
    const sort_row *x = a, *y = b;
    if (x->point != y->point) return x->point < y->point ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Rows of one context in order of point; the rows of a point keep their order, which counts its repetitions. */
static bool sort_context(assay_id *points, uint32_t *locations, uint64_t *values, size_t n) {
    size_t sorted = 1;
    while (sorted < n && points[sorted - 1] <= points[sorted]) sorted++;
    if (sorted >= n) return true;
    sort_row *rows = malloc(n * sizeof *rows);
    if (!rows) return false;
    for (size_t i = 0; i < n; i++) rows[i] = (sort_row){points[i], locations ? locations[i] : 0, i, values[i]};
    qsort(rows, n, sizeof *rows, compare_rows);
    for (size_t i = 0; i < n; i++) {
        points[i] = rows[i].point;
        if (locations) locations[i] = rows[i].location;
        values[i] = rows[i].value;
    }
    free(rows);
    return true;
}

/* Whether every context has the same rows, in order of point. */
static bool is_regular(const as_metric_column *column, const row_plan *plan) {
    size_t period = column->points.count;
    if (!column->is_regular || column->locations.count || column->segments.count != plan->block.n_contexts ||
        period > UINT32_MAX || column->values.count != column->segments.count * period)
        return false;
    for (size_t i = 1; i < period; i++) {
        if (AS_AT(assay_id, &column->points, i - 1) > AS_AT(assay_id, &column->points, i)) return false;
    }
    return true;
}

/* The points of the rows in their final order, one list where it does for all contexts. NULL when memory is out. */
static assay_id *move_points(as_dataset *ds, as_metric_column *column, row_plan *plan) {
    if (!is_regular(column, plan))
        return as_column_spread_points(column) ? move_column(ds, &column->points, &column->segments, plan->targets)
                                               : NULL;
    plan->block.period = (uint32_t)column->points.count;
    assay_id *points = as_arena_array(&ds->arena, column->points.count, sizeof *points);
    if (points) memcpy(points, column->points.data, column->points.count * sizeof *points);
    as_vec_free(&column->points);
    return points;
}

static bool make_block(as_experiment *e, assay_id metric, const assay_id *new_ids, uint64_t *next) {
    as_metric_column *column = &AS_AT(as_metric_column, &e->columns, metric);
    if (!column->values.count) return true;
    row_plan plan = {0};
    bool fine = plan_rows(e, column, new_ids, next, &plan);
    bool has_locations = column->locations.count != 0;
    assay_id *points = fine ? move_points(e->ds, column, &plan) : NULL;
    uint32_t *locations =
        points && has_locations ? move_column(e->ds, &column->locations, &column->segments, plan.targets) : NULL;
    uint64_t *values = points && (locations || !has_locations)
                           ? move_column(e->ds, &column->values, &column->segments, plan.targets)
                           : NULL;
    free(plan.targets);
    as_vec_free(&column->segments);
    if (!values) return false;
    for (uint32_t i = 0; i < plan.block.n_contexts && !plan.block.period; i++) {
        uint64_t first = plan.starts[i], n = plan.starts[i + 1] - first;
        if (!sort_context(points + first, locations ? locations + first : NULL, values + first, n)) return false;
    }
    plan.block.metric = metric;
    plan.block.runs = points; /* points until number_runs() */
    plan.block.locations = locations;
    plan.block.values = values;
    return as_add_block(e->ds, &plan.block);
}

static bool make_blocks(as_experiment *e, const assay_id *new_ids) {
    uint64_t *next = calloc(e->ds->contexts.count + 1, sizeof *next);
    bool fine = next != NULL;
    for (size_t metric = 0; metric < e->columns.count && fine; metric++)
        fine = make_block(e, (assay_id)metric, new_ids, next);
    free(next);
    return fine;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Calls step for each entry of block->runs with the point that still stands there, and its repetition. */
static void each_row(const as_block *block, void (*step)(void *user, uint64_t row, assay_id point, uint32_t repetition),
                     void *user) {
    for (uint32_t i = 0; i < (block->period ? 1 : block->n_contexts); i++) {
        assay_id point = ASSAY_NONE;
        uint32_t repetition = 0;
        for (uint64_t row = block->starts[i]; row < block->starts[i + 1]; row++) {
            assay_id here = block->runs[row];
            uint32_t location = block->locations ? block->locations[row] : 0;
            if (here != point)
                repetition = 0;
            else if (location == 0 || location == AS_NO_LOCATION)
                repetition++;
            point = here;
            step(user, row, here, repetition);
        }
    }
}

static void count_runs(void *user, uint64_t row, assay_id point, uint32_t repetition) {
    (void)row;
    uint32_t *counts = user;
    if (repetition >= counts[point]) counts[point] = repetition + 1;
}

typedef struct run_numbers {
    assay_id *runs;
    const assay_id *first; /* run of repetition 0, by point */
} run_numbers;

static void set_run(void *user, uint64_t row, assay_id point, uint32_t repetition) {
    const run_numbers *numbers = user;
    numbers->runs[row] = numbers->first[point] + repetition;
}

/* Runs are the (point, repetition) that occur, in that order; rows get their numbers instead of their points. */
static bool number_runs(as_dataset *ds) {
    assay_id *counts = calloc(ds->n_points + 1, sizeof *counts);
    if (!counts) return false;
    for (size_t i = 0; i < ds->blocks.count; i++) each_row(as_ds_block(ds, i), count_runs, counts);
    bool fine = true;
    for (size_t point = 0; point < ds->n_points && fine; point++) {
        assay_id first = (assay_id)ds->runs.count;
        for (uint32_t k = 0; k < counts[point] && fine; k++) {
            as_run run = AS_RUN_INIT;
            run.point = (assay_id)point;
            run.repetition = k;
            fine = as_add_run(ds, &run) != ASSAY_NONE;
        }
        counts[point] = first;
    }
    for (size_t i = 0; i < ds->blocks.count && fine; i++) {
        const as_block *block = as_ds_block(ds, i);
        run_numbers numbers = {.runs = (assay_id *)(uintptr_t)block->runs,
                               .first = counts}; /* the array is ours, made in make_block() */
        each_row(block, set_run, &numbers);
    }
    free(counts);
    return fine;
}

assay_id as_run_of(const as_dataset *ds, assay_id point, uint32_t repetition) {
    size_t low = 0, high = ds->runs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const as_run *run = as_ds_run(ds, (assay_id)middle);
        if (run->point < point || (run->point == point && run->repetition < repetition))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == ds->runs.count) return ASSAY_NONE;
    const as_run *run = as_ds_run(ds, (assay_id)low);
    return run->point == point && run->repetition == repetition ? (assay_id)low : ASSAY_NONE;
}

/* ---- statistics, locations, series ------------------------------------------------------------------------------- */

/* Puts statistics where their series begins; order: in which they are taken, NULL for that of the source. */
static void distribute_statistics(as_experiment *e, const size_t *order) {
    as_dataset *ds = e->ds;
    as_measurement *placed = ds->measurements.data;
    for (size_t i = 0; i < ds->series.count; i++) AS_AT(as_series, &ds->series, i).n_measurements = 0;
    for (size_t i = 0; i < e->statistics.count; i++) {
        const as_measurement *row = &AS_AT(as_measurement, &e->statistics, order ? order[i] : i);
        as_series *series = &AS_AT(as_series, &ds->series, as_experiment_series(e, row->metric, row->context));
        placed[series->first_measurement + series->n_measurements++] = *row;
    }
}

static bool is_in_order(const as_dataset *ds) {
    const as_measurement *placed = ds->measurements.data;
    for (size_t i = 0; i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        for (uint32_t k = 1; k < series->n_measurements; k++) {
            if (placed[series->first_measurement + k - 1].point > placed[series->first_measurement + k].point)
                return false;
        }
    }
    return true;
}

/* The statistics' indices by point, in the order of the source where points are the same; to be freed. NULL when memory
 * is out. */
static size_t *order_by_point(const as_experiment *e) {
    size_t n = e->statistics.count, n_points = e->ds->n_points;
    size_t *order = malloc((n + 1) * sizeof *order), *next = calloc(n_points + 1, sizeof *next);
    for (size_t i = 0; i < n && order && next; i++) next[AS_AT(as_measurement, &e->statistics, i).point + 1]++;
    for (size_t i = 0; i < n_points && order && next; i++) next[i + 1] += next[i];
    for (size_t i = 0; i < n && order && next; i++) order[next[AS_AT(as_measurement, &e->statistics, i).point]++] = i;
    if (!next) {
        free(order);
        order = NULL;
    }
    free(next);
    return order;
}

/* Statistics grouped by series in the order of points; a series' own ones keep the order of the source where points
 * repeat. */
static bool place_statistics(as_experiment *e) {
    as_dataset *ds = e->ds;
    size_t n = e->statistics.count;
    if (!n) return true;
    if (!as_vec_reserve(&ds->measurements, n)) return false;
    for (size_t i = 0; i < n; i++) {
        const as_measurement *row = &AS_AT(as_measurement, &e->statistics, i);
        AS_AT(as_series, &ds->series, as_experiment_series(e, row->metric, row->context)).n_measurements++;
    }
    uint64_t first = 0;
    for (size_t i = 0; i < ds->series.count; i++) {
        as_series *series = &AS_AT(as_series, &ds->series, i);
        series->first_measurement = first;
        first += series->n_measurements;
    }
    distribute_statistics(e, NULL);
    if (!is_in_order(ds)) { /* most sources go through the points in one order */
        size_t *order = order_by_point(e);
        if (!order) return false;
        distribute_statistics(e, order);
        free(order);
    }
    ds->measurements.count = n;
    return true;
}

static bool add_locations(as_experiment *e) {
    for (uint32_t i = 0; i < e->n_locations; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", i);
        as_location location = AS_LOCATION_INIT;
        location.name = as_ds_intern_text(e->ds, name);
        location.kind = as_ds_intern_text(e->ds, "location");
        location.leaf = true;
        if (as_add_location(e->ds, &location) == ASSAY_NONE) return false;
    }
    return true;
}

/* How many different points a series has data at. */
static size_t measured_points(const as_dataset *ds, const as_series *series) {
    size_t n = 0;
    assay_id point = ASSAY_NONE;
    for (uint32_t i = 0; i < series->n_measurements; i++) {
        assay_id here = as_ds_measurement(ds, series->first_measurement + i)->point;
        n += here != point;
        point = here;
    }
    if (n) return n;
    const as_block *block = as_ds_metric_block(ds, series->metric);
    uint32_t index = block ? as_block_find(block, series->context) : UINT32_MAX;
    if (index == UINT32_MAX) return 0;
    const assay_id *runs = as_block_runs(block, index);
    for (uint64_t row = 0; row < block->starts[index + 1] - block->starts[index]; row++) {
        assay_id here = as_ds_run(ds, runs[row])->point;
        n += here != point;
        point = here;
    }
    return n;
}

bool as_add_missing_points(as_dataset *ds, as_place place, const as_series *first, size_t n_missing,
                           size_t n_incomplete) {
    as_vec path;
    as_vec_init(&path, 1, NULL);
    if (as_context_path(ds, first->context, &path)) {
        char more[64] = "";
        if (n_incomplete > 1) snprintf(more, sizeof more, ", and %zu more are incomplete", n_incomplete - 1);
        as_add_problem(ds, AS_WARNING, place, "missing-points",
                       "call path '%s' (metric '%s') has no data at %zu of %zu points%s", (const char *)path.data,
                       as_ds_text(ds, as_ds_metric(ds, first->metric)->name), n_missing, ds->n_points, more);
    }
    bool fine = path.count != 0;
    as_vec_free(&path);
    return fine;
}

static bool report_missing_points(as_dataset *ds, as_place place) {
    size_t incomplete = 0, first_missing = 0;
    const as_series *first = NULL;
    for (size_t i = 0; i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        size_t n = measured_points(ds, series);
        if (n == ds->n_points) continue;
        if (!incomplete++) first = series, first_missing = ds->n_points - n;
    }
    return !incomplete || as_add_missing_points(ds, place, first, first_missing, incomplete);
}

static bool name_types(as_experiment *e, as_place place) {
    for (size_t i = 0; i < e->columns.count; i++) {
        const as_metric_column *column = &AS_AT(as_metric_column, &e->columns, i);
        as_metric *metric = &AS_AT(as_metric, &e->ds->metrics, i);
        bool has_values = as_ds_metric_block(e->ds, (assay_id)i) != NULL;
        if (metric->dtype == AS_NO_STR)
            metric->dtype = as_ds_intern_text(e->ds, as_dtype_name(has_values ? column->dtype : AS_DTYPE_DOUBLE));
        if (metric->dtype == AS_NO_STR) return false;
        if (column->is_inexact) {
            as_add_problem(e->ds, AS_WARNING, place, "inexact-integer",
                           "metric '%s' has integers above 2^53 beside reals; they are rounded to the nearest real",
                           as_ds_text(e->ds, metric->name));
        }
    }
    return true;
}

bool as_experiment_finish(as_experiment *e, as_place whole_file, const assay_id **new_ids) {
    as_dataset *ds = e->ds;
    const assay_id *ids;
    if (!as_tree_finish(&e->tree, &ids)) return false;
    as_tree_free(&e->tree); /* its maps are large, and the columns move next */
    as_map_free(&e->repetitions);
    if (!make_blocks(e, ids) || !number_runs(ds) || !add_locations(e) || !place_statistics(e)) return false;
    for (size_t i = 0; i < ds->series.count; i++) {
        as_series *series = &AS_AT(as_series, &ds->series, i);
        series->context = ids[series->context];
    }
    for (size_t i = 0; i < ds->measurements.count; i++) {
        as_measurement *measurement = &AS_AT(as_measurement, &ds->measurements, i);
        measurement->context = ids[measurement->context];
    }
    if (new_ids) *new_ids = ids;
    bool has_all = ds->share.count < 2; /* else what is missing is not known */
    return (!has_all || report_missing_points(ds, whole_file)) && name_types(e, whole_file);
}
