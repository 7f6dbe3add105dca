/* Experiments while they are read: where values go until the file is over. How they become blocks is in
 * experiment_finish.c. */
#include "dataset/experiment_private.h"

#include <stdlib.h>

static const double EXACT_INTEGERS = 9007199254740992.0; /* 2^53 */

as_experiment *as_experiment_new(as_dataset *ds) {
    as_experiment *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->ds = ds;
    as_tree_init(&e->tree, ds);
    as_vec_init(&e->columns, sizeof(as_metric_column), &ds->budget);
    as_map_init(&e->metric_by_name, &ds->budget);
    as_map_init(&e->point_by_hash, &ds->budget);
    as_map_init(&e->series_by_key, &ds->budget);
    as_map_init(&e->repetitions, &ds->budget);
    as_vec_init(&e->statistics, sizeof(as_measurement), &ds->budget);
    as_vec_init(&e->ownership, 1, &ds->budget);
    as_vec_init(&e->path, 1, &ds->budget);
    return e;
}

void as_experiment_free(as_experiment *e) {
    if (!e) return;
    for (size_t i = 0; i < e->columns.count; i++) {
        as_metric_column *column = &AS_AT(as_metric_column, &e->columns, i);
        as_vec_free(&column->segments);
        as_vec_free(&column->points);
        as_vec_free(&column->locations);
        as_vec_free(&column->values);
    }
    as_vec_free(&e->columns);
    as_vec_free(&e->statistics);
    as_vec_free(&e->ownership);
    as_vec_free(&e->path);
    as_map_free(&e->metric_by_name);
    as_map_free(&e->point_by_hash);
    as_map_free(&e->series_by_key);
    as_map_free(&e->repetitions);
    as_tree_free(&e->tree);
    free(e);
}

as_tree *as_experiment_tree(as_experiment *e) { return &e->tree; }

assay_id as_experiment_callpath(as_experiment *e, const char *path, size_t size) {
    return as_tree_path(&e->tree, path, size);
}

assay_id as_experiment_metric(as_experiment *e, const char *name, size_t size) {
    as_str text = as_ds_intern(e->ds, name, size);
    if (text == AS_NO_STR) return ASSAY_NONE;
    uint32_t known = as_map_get(&e->metric_by_name, text);
    if (known != AS_MAP_NONE) return known;
    as_metric metric = AS_METRIC_INIT;
    metric.name = text;
    as_metric_column *column = as_vec_push(&e->columns);
    if (!column) return ASSAY_NONE;
    column->dtype = AS_DTYPE_INT64; /* until a value says otherwise */
    column->is_regular = true;
    as_vec_init(&column->segments, sizeof(as_row_segment), &e->ds->budget);
    as_vec_init(&column->points, sizeof(assay_id), &e->ds->budget);
    as_vec_init(&column->locations, sizeof(uint32_t), &e->ds->budget);
    as_vec_init(&column->values, sizeof(double), &e->ds->budget);
    assay_id id = as_add_metric(e->ds, &metric);
    return id != ASSAY_NONE && as_map_put(&e->metric_by_name, text, id) ? id : ASSAY_NONE;
}

assay_id as_experiment_point(as_experiment *e, const double *coordinates) {
    as_dataset *ds = e->ds;
    size_t n = ds->parameters.count;
    if (!as_vec_reserve(&ds->coordinates, n)) return ASSAY_NONE;
    double *place = (double *)ds->coordinates.data + ds->coordinates.count;
    for (size_t i = 0; i < n; i++) place[i] = coordinates[i] == 0 ? 0 : coordinates[i];
    for (uint64_t key = as_hash(place, n * sizeof *place);; key = key * 0x9e3779b97f4a7c15u + 1) {
        uint32_t known = as_map_get(&e->point_by_hash, key);
        if (known == AS_MAP_NONE) {
            if (ds->n_points >= ASSAY_NONE - 1 || !as_map_put(&e->point_by_hash, key, (uint32_t)ds->n_points))
                return ASSAY_NONE;
            ds->coordinates.count += n;
            return (assay_id)ds->n_points++;
        }
        if (memcmp(as_ds_point(ds, known), place, n * sizeof *place) == 0) return known;
    }
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* When memory is out it is kept: that is no harm, and soon somebody will say so. */
static bool find_owner(as_experiment *e, assay_id context) {
    while (e->ownership.count <= context) {
        if (!as_vec_push(&e->ownership)) return true;
    }
    if (!as_path_join(&e->ds->strings, e->tree.nodes.data, context, &e->path)) return true;
    bool is_own = as_share_has(e->ds->share, e->path.data, e->path.count - 1);
    AS_AT(char, &e->ownership, context) = is_own ? AS_PATH_OWN : AS_PATH_FOREIGN;
    return is_own;
}

bool as_experiment_keeps(as_experiment *e, assay_id context) {
    if (e->ds->share.count < 2) return true;
    char known = context < e->ownership.count ? AS_AT(char, &e->ownership, context) : AS_PATH_UNKNOWN;
    return known == AS_PATH_UNKNOWN ? find_owner(e, context) : known == AS_PATH_OWN;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

uint32_t as_experiment_series(as_experiment *e, assay_id metric, assay_id context) {
    uint64_t key = as_pair(metric, context);
    uint32_t known = as_map_get(&e->series_by_key, key);
    if (known != AS_MAP_NONE) return known;
    as_series series = {.metric = metric, .context = context};
    uint32_t id = (uint32_t)e->ds->series.count;
    if (id >= UINT32_MAX - 1 || !as_vec_append(&e->ds->series, &series, 1) || !as_map_put(&e->series_by_key, key, id))
        return UINT32_MAX;
    return id;
}

bool as_experiment_has_series(const as_experiment *e, assay_id metric, assay_id context) {
    return as_map_get(&e->series_by_key, as_pair(metric, context)) != AS_MAP_NONE;
}

/* The nearest real; remembers where that is another number. */
static double exact_real(as_metric_column *column, as_number value) {
    double real = as_number_real(value);
    if (value.kind == AS_REAL || fabs(real) < EXACT_INTEGERS) return real;
    bool exact =
        value.kind == AS_INT ? real < 0x1p63 && (int64_t)real == value.i : real < 0x1p64 && (uint64_t)real == value.u;
    if (!exact) column->is_inexact = true;
    return real;
}

/* All values so far become reals. */
static void make_reals(as_metric_column *column) {
    for (size_t i = 0; i < column->values.count; i++) {
        as_number value = column->dtype == AS_DTYPE_INT64
                              ? (as_number){.kind = AS_INT, .i = AS_AT(int64_t, &column->values, i)}
                              : (as_number){.kind = AS_UINT, .u = AS_AT(uint64_t, &column->values, i)};
        AS_AT(double, &column->values, i) = exact_real(column, value);
    }
    column->dtype = AS_DTYPE_DOUBLE;
}

/* The bits of a value in the column's type, which it changes where the value does not fit: integers stay integers as
 * long as all are. */
static uint64_t bits_of(as_metric_column *column, as_number value) {
    if (value.kind == AS_INT && column->dtype == AS_DTYPE_INT64) {
        column->has_negative |= value.i < 0;
        return (uint64_t)value.i;
    }
    if (value.kind == AS_UINT && column->dtype == AS_DTYPE_INT64 && !column->has_negative)
        column->dtype = AS_DTYPE_UINT64;
    if (column->dtype == AS_DTYPE_UINT64 && (value.kind == AS_UINT || (value.kind == AS_INT && value.i >= 0)))
        return value.u;
    if (column->dtype != AS_DTYPE_DOUBLE) make_reals(column);
    double real = value.kind == AS_REAL ? value.r : exact_real(column, value);
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* The segment that takes values of this context: the last one, or a new one. */
static bool open_segment(as_experiment *e, as_metric_column *column, as_cell_key key) {
    if (as_experiment_series(e, key.metric, key.context) == UINT32_MAX) return false;
    as_row_segment *segment = as_vec_push(&column->segments);
    if (!segment) return false;
    segment->context = key.context;
    return true;
}

static bool count_repetition(as_experiment *e, as_cell_key key) {
    uint32_t series = as_experiment_series(e, key.metric, key.context);
    if (series == UINT32_MAX) return false;
    uint32_t so_far = as_map_get(&e->repetitions, as_pair(series, key.point));
    return as_map_put(&e->repetitions, as_pair(series, key.point), so_far == AS_MAP_NONE ? 1 : so_far + 1);
}

bool as_column_spread_points(as_metric_column *column) {
    size_t period = column->points.count, rows = column->values.count;
    column->is_regular = false;
    if (rows <= period) return true;
    if (!as_vec_reserve(&column->points, rows - period)) return false;
    assay_id *points = column->points.data;
    memcpy(points + period, points, (rows - period < period ? rows - period : period) * sizeof *points);
    for (size_t row = 2 * period; row < rows; row++) points[row] = points[row - period];
    column->points.count = rows;
    return true;
}

/* Notes the point of the next row, number k of the last segment. Where all call paths have the same points in the same
 * order, as most files have them, one list does for all. */
static bool add_point(as_metric_column *column, uint32_t k, assay_id point) {
    if (column->is_regular && column->segments.count > 1) {
        size_t period = column->points.count;
        bool begins = k == 0, is_whole = column->values.count == (column->segments.count - 1) * period;
        if ((!begins || is_whole) && k < period && AS_AT(assay_id, &column->points, k) == point) return true;
        if (!as_column_spread_points(column)) return false;
    }
    return as_vec_append(&column->points, &point, 1);
}

static bool add_value(as_experiment *e, as_metric_column *column, as_cell_key key, as_number value) {
    size_t n = column->segments.count;
    as_row_segment *last = n ? &AS_AT(as_row_segment, &column->segments, n - 1) : NULL;
    if (!last || last->context != key.context || last->count == UINT32_MAX) {
        if (!open_segment(e, column, key)) return false;
        last = &AS_AT(as_row_segment, &column->segments, column->segments.count - 1);
    }
    if (!add_point(column, last->count, key.point) || !as_vec_reserve(&column->values, 1)) return false;
    AS_AT(uint64_t, &column->values, column->values.count) = bits_of(column, value);
    column->values.count++;
    last->count++;
    return true;
}

/* All there is of a call path that is not kept. */
static bool make_series(as_experiment *e, as_cell_key key) {
    return as_experiment_series(e, key.metric, key.context) != UINT32_MAX;
}

bool as_experiment_value(as_experiment *e, as_cell_key key, as_number value) {
    if (!as_experiment_keeps(e, key.context)) return make_series(e, key);
    as_metric_column *column = &AS_AT(as_metric_column, &e->columns, key.metric);
    if (column->locations.count) return as_experiment_value_at(e, key, AS_NO_LOCATION, value);
    return add_value(e, column, key, value) && (!e->counts_repetitions || count_repetition(e, key));
}

bool as_experiment_value_at(as_experiment *e, as_cell_key key, uint32_t location, as_number value) {
    if (!as_experiment_keeps(e, key.context)) return make_series(e, key);
    as_metric_column *column = &AS_AT(as_metric_column, &e->columns, key.metric);
    size_t missing = column->values.count - column->locations.count; /* rows before the first that had a location */
    if (!as_vec_reserve(&column->locations, missing + 1)) return false;
    memset((uint32_t *)column->locations.data + column->locations.count, 0xff, missing * sizeof(uint32_t));
    column->locations.count += missing;
    if (!add_value(e, column, key, value) || !as_vec_append(&column->locations, &location, 1)) return false;
    if (location != AS_NO_LOCATION && location >= e->n_locations) e->n_locations = location + 1;
    bool begins = location == 0 || location == AS_NO_LOCATION;
    return !begins || !e->counts_repetitions || count_repetition(e, key);
}

/* Makes up for the values that came before anybody asked. */
static bool count_all_repetitions(as_experiment *e) {
    e->counts_repetitions = true;
    for (size_t metric = 0; metric < e->columns.count; metric++) {
        as_metric_column *column = &AS_AT(as_metric_column, &e->columns, metric);
        if (!as_column_spread_points(column)) return false;
        size_t row = 0;
        for (size_t i = 0; i < column->segments.count; i++) {
            const as_row_segment *segment = &AS_AT(as_row_segment, &column->segments, i);
            for (uint32_t k = 0; k < segment->count; k++, row++) {
                as_cell_key key = {(assay_id)metric, segment->context, AS_AT(assay_id, &column->points, row)};
                if (as_row_begins_repetition(column, row) && !count_repetition(e, key)) return false;
            }
        }
    }
    return true;
}

uint32_t as_experiment_repetition(as_experiment *e, as_cell_key key) {
    if (!e->counts_repetitions && !count_all_repetitions(e)) return UINT32_MAX;
    uint32_t series = as_map_get(&e->series_by_key, as_pair(key.metric, key.context));
    uint32_t count = series == AS_MAP_NONE ? AS_MAP_NONE : as_map_get(&e->repetitions, as_pair(series, key.point));
    return count == AS_MAP_NONE ? 0 : count;
}

bool as_experiment_statistics(as_experiment *e, as_cell_key key, const as_measurement *statistics) {
    if (!make_series(e, key)) return false;
    if (!as_experiment_keeps(e, key.context)) return true;
    as_measurement *row = as_vec_push(&e->statistics);
    if (!row) return false;
    *row = *statistics;
    row->metric = key.metric;
    row->context = key.context;
    row->point = key.point;
    return true;
}
