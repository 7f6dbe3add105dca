/* Strong scaling: seeing it, and modelling the total instead. */
#include "analysis/scaling/strong.h"

#include <stdlib.h>
#include <strings.h>

enum { MAX_LOOKED_AT = 20000 }; /* series that detection looks at: enough to see where the whole goes */

/* The dataset's attribute, or NULL. */
static as_attribute *scaling_attribute(const as_dataset *ds) {
    for (size_t i = 0; i < ds->attributes.count; i++) {
        as_attribute *attribute = &AS_AT(as_attribute, &ds->attributes, i);
        if (attribute->owner == AS_OWNER_DATASET && strcmp(as_ds_text(ds, attribute->key), "scaling") == 0)
            return attribute;
    }
    return NULL;
}

as_scaling as_ds_scaling(const as_dataset *ds) {
    const as_attribute *attribute = scaling_attribute(ds);
    if (!attribute || attribute->value.type != AS_CELL_TEXT) return AS_SCALING_WEAK;
    as_scaling scaling = AS_SCALING_STRONG;
    while (scaling > AS_SCALING_WEAK && strcmp(attribute->value.text, as_scaling_name(scaling)) != 0) scaling--;
    return scaling;
}

bool as_set_scaling(as_dataset *ds, as_scaling scaling) {
    as_attribute *attribute = scaling_attribute(ds);
    if (!attribute) return as_add_attribute(ds, AS_OWNER_DATASET, 0, "scaling", as_cell_text(as_scaling_name(scaling)));
    attribute->value = as_cell_text(as_scaling_name(scaling)); /* static, so it outlives the dataset */
    return true;
}

/* ---- detection --------------------------------------------------------------------------------------------------- */

/* Sums over the call tree at each point, and the root's own values. */
struct totals {
    double *sums, *roots; /* one for each point; roots NAN: not measured there */
    bool to_roots;
};

static bool add_to_totals(void *user, const as_measurement *measurement) {
    struct totals *totals = user;
    if (totals->to_roots) totals->roots[measurement->point] = measurement->mean;
    totals->sums[measurement->point] += measurement->mean;
    return true;
}

/* The root called main, else the first. */
static assay_id find_root(const as_dataset *ds) {
    for (assay_id id = 0; id < ds->contexts.count; id += as_ds_context(ds, id)->subtree) {
        const char *name = as_ds_text(ds, as_ds_context(ds, id)->name);
        if (name && strcasecmp(name, "main") == 0) return id;
    }
    return 0;
}

static bool sum_metric(const as_dataset *ds, assay_id metric, assay_id root, struct totals *totals) {
    size_t step = ds->series.count / MAX_LOOKED_AT + 1;
    for (size_t i = 0; i < ds->n_points; i++) totals->sums[i] = 0, totals->roots[i] = NAN;
    for (size_t i = 0; i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        totals->to_roots = series->context == root;
        bool is_aside = as_ds_context(ds, series->context)->is_aside;
        if (series->metric != metric || is_aside || (i % step && !totals->to_roots)) continue;
        if (!as_measure(ds, series, add_to_totals, totals)) return false;
    }
    return true;
}

/* For sorting points into lines along one parameter. */
struct line_order {
    const as_dataset *ds;
    size_t along;
};

static int compare_points(const void *a, const void *b, void *user) {
    const struct line_order *order = user;
    const double *x = as_ds_point(order->ds, *(const assay_id *)a), *y = as_ds_point(order->ds, *(const assay_id *)b);
    for (size_t i = 0; i < as_ds_parameters(order->ds); i++) {
        if (i != order->along && x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return (x[order->along] > y[order->along]) - (x[order->along] < y[order->along]);
}

static bool on_one_line(const struct line_order *order, assay_id a, assay_id b) {
    const double *x = as_ds_point(order->ds, a), *y = as_ds_point(order->ds, b);
    for (size_t i = 0; i < as_ds_parameters(order->ds); i++) {
        if (i != order->along && x[i] != y[i]) return false;
    }
    return true;
}

/* Whether the sums fall strictly along the longest line. points: those the root was measured at. */
static bool falls_along(const as_dataset *ds, size_t along, assay_id *points, size_t n, const struct totals *totals) {
    struct line_order order = {.ds = ds, .along = along};
    qsort_r(points, n, sizeof *points, compare_points, &order);
    size_t best = 0, best_size = 0;
    double best_sum = -INFINITY;
    for (size_t first = 0, end; first < n; first = end) {
        double sum = 0;
        for (end = first; end < n && on_one_line(&order, points[first], points[end]); end++)
            sum += totals->roots[points[end]];
        if (end - first < best_size || (end - first == best_size && !(sum > best_sum))) continue;
        best = first;
        best_size = end - first;
        best_sum = sum;
    }
    for (size_t i = best + 1; i < best + best_size; i++) {
        if (!(totals->sums[points[i]] < totals->sums[points[i - 1]])) return false;
    }
    return best_size > 1;
}

/* Adds 1 to the score of each parameter along which the metric falls. */
static bool score_metric(const as_dataset *ds, assay_id metric, assay_id *points, struct totals *totals,
                         uint32_t *scores) {
    if (!sum_metric(ds, metric, find_root(ds), totals)) return false;
    size_t n = 0;
    for (assay_id point = 0; point < ds->n_points; point++) {
        if (!isnan(totals->roots[point])) points[n++] = point;
    }
    for (size_t i = 0; i < as_ds_parameters(ds); i++) scores[i] += falls_along(ds, i, points, n, totals);
    return true;
}

static assay_id find_time(const as_dataset *ds) {
    for (assay_id id = 0; id < ds->metrics.count; id++) {
        const char *name = as_ds_text(ds, as_ds_metric(ds, id)->name);
        if (name && strcmp(name, "time") == 0) return id;
    }
    return ASSAY_NONE;
}

bool as_strong_detect(const as_dataset *ds, assay_id *parameter) {
    *parameter = ASSAY_NONE;
    size_t n_parameters = as_ds_parameters(ds);
    if (ds->n_points < 2 || n_parameters == 0 || ds->contexts.count == 0) return true;
    struct totals totals = {.sums = calloc(ds->n_points, sizeof(double)),
                            .roots = calloc(ds->n_points, sizeof(double))};
    assay_id *points = calloc(ds->n_points, sizeof *points), time = find_time(ds);
    uint32_t *scores = calloc(n_parameters, sizeof *scores);
    bool fine = totals.sums && totals.roots && points && scores;
    for (assay_id metric = 0; fine && metric < ds->metrics.count; metric++) {
        if (time == ASSAY_NONE || metric == time) fine = score_metric(ds, metric, points, &totals, scores);
    }
    for (size_t i = 0; fine && i < n_parameters; i++) {
        if (scores[i] && (*parameter == ASSAY_NONE || scores[i] > scores[*parameter])) *parameter = (assay_id)i;
    }
    free(totals.sums);
    free(totals.roots);
    free(points);
    free(scores);
    return fine;
}

/* ---- values times processes -------------------------------------------------------------------------------------- */

static double factor_at(const as_dataset *ds, assay_id point, assay_id parameter) {
    return point == ASSAY_NONE ? 1 : as_ds_point(ds, point)[parameter];
}

static bool scale_block(as_dataset *ds, as_block *block, assay_id parameter) {
    uint64_t rows = as_block_rows(block);
    double *scaled = as_arena_array(&ds->arena, (size_t)rows, sizeof *scaled);
    if (!scaled) return false;
    for (uint64_t row = 0; row < rows; row++) {
        assay_id run = as_block_run(block, row);
        assay_id point = run == ASSAY_NONE ? ASSAY_NONE : as_ds_run(ds, run)->point;
        scaled[row] = as_block_real(block, row) * factor_at(ds, point, parameter);
    }
    block->values = scaled;
    block->dtype = AS_DTYPE_DOUBLE;
    return true;
}

static void scale_measurement(as_measurement *m, double factor) {
    double low = m->minimum * factor, high = m->maximum * factor;
    m->mean *= factor;
    m->median *= factor;
    m->minimum = factor < 0 ? high : low;
    m->maximum = factor < 0 ? low : high;
    m->std *= fabs(factor);
}

/* All values of a metric are reals now. */
static bool set_real(as_dataset *ds, assay_id metric) {
    as_str real = as_ds_intern_text(ds, as_dtype_name(AS_DTYPE_DOUBLE));
    AS_AT(as_metric, &ds->metrics, metric).dtype = real;
    return real != AS_NO_STR;
}

bool as_scale_strong(as_dataset *ds, assay_id parameter) {
    for (size_t i = 0; i < ds->blocks.count; i++) {
        as_block *block = &AS_AT(as_block, &ds->blocks, i);
        if (!scale_block(ds, block, parameter) || !set_real(ds, block->metric)) return false;
    }
    if (!as_ds_load_measurements(ds)) return false;
    ds->measurement_source = NULL; /* its values are not those of the scaled ones */
    for (size_t i = 0; i < ds->measurements.count; i++) {
        as_measurement *m = &AS_AT(as_measurement, &ds->measurements, i);
        scale_measurement(m, factor_at(ds, m->point, parameter));
    }
    return true;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static bool has_places(const as_block *block) {
    for (uint64_t row = 0; block->locations && row < as_block_rows(block); row++) {
        if (block->locations[row] != ASSAY_NONE) return true;
    }
    return false;
}

bool as_has_places(const as_dataset *ds) {
    for (size_t i = 0; i < ds->profiles.count; i++) {
        if (AS_AT(as_profile, &ds->profiles, i).columns) return true;
    }
    for (size_t i = 0; i < ds->blocks.count; i++) {
        if (has_places(as_ds_block(ds, i))) return true;
    }
    return false;
}

/* A block as it is rewritten: no row more than before. */
struct rows {
    uint64_t *starts;
    assay_id *runs, *locations;
    double *values;
    uint64_t n;
};

static void put_row(struct rows *to, const as_block *block, uint64_t row, double value, bool with_location) {
    to->runs[to->n] = as_block_run(block, row);
    to->locations[to->n] = with_location ? as_block_location(block, row) : ASSAY_NONE;
    to->values[to->n++] = value;
}

/* Rows first … end - 1 are one repetition of a context. */
static void put_repetition(struct rows *to, const as_block *block, uint64_t first, uint64_t end, as_scaling scaling) {
    double sum = 0;
    bool any = false;
    for (uint64_t row = first; row < end; row++) {
        double value = as_block_real(block, row);
        sum += value;
        any |= value != 0;
    }
    if (scaling == AS_SCALING_STRONG) {
        put_row(to, block, first, sum, false);
        return;
    }
    for (uint64_t row = first; row < end; row++) {
        double value = as_block_real(block, row);
        if (!any || value != 0) put_row(to, block, row, value, true);
    }
}

static bool rewrite_block(as_dataset *ds, as_block *block, as_scaling scaling) {
    uint64_t rows = as_block_rows(block);
    struct rows to = {.starts = as_arena_array(&ds->arena, (size_t)block->n_contexts + 1, sizeof *to.starts),
                      .runs = as_arena_array(&ds->arena, (size_t)rows, sizeof *to.runs),
                      .locations = as_arena_array(&ds->arena, (size_t)rows, sizeof *to.locations),
                      .values = as_arena_array(&ds->arena, (size_t)rows, sizeof *to.values)};
    if (!to.starts || !to.runs || !to.locations || !to.values) return false;
    for (uint32_t i = 0; i < block->n_contexts; i++) {
        to.starts[i] = to.n;
        for (uint64_t first = block->starts[i], end; first < block->starts[i + 1]; first = end) {
            for (end = first + 1; end < block->starts[i + 1] && as_block_run(block, end) == as_block_run(block, first);)
                end++;
            put_repetition(&to, block, first, end, scaling);
        }
    }
    to.starts[block->n_contexts] = to.n;
    block->starts = to.starts;
    block->runs = to.runs;
    block->period = 0;
    block->locations = scaling == AS_SCALING_STRONG ? NULL : to.locations;
    block->values = to.values;
    block->dtype = AS_DTYPE_DOUBLE;
    return set_real(ds, block->metric);
}

bool as_scale_places(as_dataset *ds, as_scaling scaling) {
    ds->pooling = scaling;
    if (scaling == AS_SCALING_WEAK) return true;
    for (size_t i = 0; i < ds->blocks.count; i++) {
        as_block *block = &AS_AT(as_block, &ds->blocks, i);
        if (has_places(block) && !rewrite_block(ds, block, scaling)) return false;
    }
    for (size_t i = 0; i < ds->series.count; i++) {
        as_series *series = &AS_AT(as_series, &ds->series, i);
        const as_block *block = as_ds_metric_block(ds, series->metric);
        if (block && as_block_find(block, series->context) != UINT32_MAX) series->n_measurements = 0;
    }
    return true;
}
