/* Inclusive values of contexts, from whatever a dataset keeps: profiles, blocks or statistics. */
#include <math.h>
#include <stdlib.h>

#include "core/words.h"
#include "formats/afperf/write_foreign.h"

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* Also with its unit behind it, as HPCToolkit has it: "time (s)". */
static bool is_called(const as_dataset *ds, const as_metric *metric, const char *name) {
    const char *text = metric->name == AS_NO_STR ? "" : as_ds_text(ds, metric->name),
               *unit = as_ds_text(ds, metric->unit);
    size_t size = strlen(name), unit_size = unit ? strlen(unit) : 0;
    if (strncmp(text, name, size) != 0) return false;
    const char *rest = text + size;
    return !*rest || (unit_size && strncmp(rest, " (", 2) == 0 && strncmp(rest + 2, unit, unit_size) == 0 &&
                      strcmp(rest + 2 + unit_size, ")") == 0);
}

double as_af_unit_seconds(const as_dataset *ds, assay_id metric) {
    const as_metric *about = as_ds_metric(ds, metric);
    const char *unit = as_ds_text(ds, about->unit);
    if (!unit || !*unit) return is_called(ds, about, "time") ? 1 : 0;
    return as_unit_seconds(unit);
}

as_af_use as_af_use_of(const as_dataset *ds, assay_id metric) {
    const as_metric *about = as_ds_metric(ds, metric);
    if (about->part_of != ASSAY_NONE) return AS_AF_USE_SIDE;
    if (about->kind == AS_KIND_DERIVED) return AS_AF_USE_DERIVED;
    as_value_type type = as_ds_metric_type(ds, metric);
    if (as_dtype_is_composite(type.dtype) || as_dtype_is_extreme(type.dtype)) return AS_AF_USE_NO_NUMBER;
    if (is_called(ds, about, "time") && as_af_unit_seconds(ds, metric) > 0) return AS_AF_USE_TIME;
    if (is_called(ds, about, "visits")) return AS_AF_USE_VISITS;
    if (is_called(ds, about, "time covered")) return AS_AF_USE_COVERED;
    return AS_AF_USE_MEASURED;
}

assay_id as_af_metric_for(const as_dataset *ds, as_af_use use) {
    for (assay_id i = 0; i < ds->metrics.count; i++) {
        if (as_af_use_of(ds, i) == use) return i;
    }
    return ASSAY_NONE;
}

assay_id as_af_time_metric(const as_dataset *ds) {
    assay_id found = as_af_metric_for(ds, AS_AF_USE_TIME);
    for (assay_id i = 0; found == ASSAY_NONE && i < ds->metrics.count; i++) {
        if (as_af_use_of(ds, i) == AS_AF_USE_MEASURED && as_af_unit_seconds(ds, i) > 0) found = i;
    }
    return found;
}

/* ---- runs and contexts ------------------------------------------------------------------------------------------- */

size_t as_af_runs(const as_dataset *ds) { return ds->runs.count ? ds->runs.count : ds->n_points; }

as_af_written_run as_af_run_at(const as_dataset *ds, size_t index) {
    if (ds->runs.count) return (as_af_written_run){(assay_id)index, as_ds_run(ds, (assay_id)index)->point};
    return (as_af_written_run){ASSAY_NONE, (assay_id)index};
}

bool as_af_has_place(const as_dataset *ds, assay_id context) {
    const as_context *about = as_ds_context(ds, context);
    return about->name != AS_NO_STR && about->role != AS_ROLE_PLACELESS && !as_context_is_root(ds, context);
}

bool as_af_is_section(const as_dataset *ds, assay_id context) {
    return as_ds_context(ds, context)->subtree == 1 && as_context_is_section(ds, context);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

bool as_af_values_init(as_af_values *values, const as_dataset *ds) {
    values->n = ds->contexts.count;
    values->numbers = calloc(values->n + 1, sizeof *values->numbers);
    values->has = calloc(values->n + 1, sizeof *values->has);
    return values->numbers && values->has;
}

void as_af_values_free(as_af_values *values) {
    free(values->numbers);
    free(values->has);
    *values = (as_af_values){0};
}

static as_number add(as_number a, as_number b) {
    if (a.kind == AS_REAL || b.kind == AS_REAL)
        return (as_number){.kind = AS_REAL, .r = as_number_real(a) + as_number_real(b)};
    return as_whole_number((a.kind == AS_INT ? (as_whole)a.i : (as_whole)a.u) +
                           (b.kind == AS_INT ? (as_whole)b.i : (as_whole)b.u));
}

/* Over the locations of a row; reals in the order that others add them up in. */
static as_number row_sum(const as_profile *view, uint32_t index, double *reals) {
    const char *row = as_profile_row(view, index);
    if (!as_dtype_is_integer(view->type.dtype)) {
        as_values_widen(view->type, row, view->n_columns, 0, reals);
        return (as_number){.kind = AS_REAL, .r = as_reals_sum(reals, view->n_columns)};
    }
    as_whole sum = 0;
    for (uint32_t i = 0; i < view->n_columns; i++) {
        as_number number = as_part_get(view->type, row + (size_t)i * view->type.size, 0);
        if (number.kind == AS_UINT && number.u <= AS_COUNTER_LIMIT) sum += number.u;
        if (number.kind == AS_INT) sum += number.i;
    }
    return as_whole_number(sum);
}

static assay_status load_rows(as_af_values *values, const as_dataset *ds, assay_id metric, assay_id run,
                              assay_error *error) {
    as_slice slice;
    assay_status status = as_slice_open_all(ds, metric, run, &slice, error);
    double *reals = status == ASSAY_OK ? malloc(((size_t)slice.view.n_columns + 1) * sizeof *reals) : NULL;
    if (status == ASSAY_OK && !reals) status = as_fail_memory(error, NULL);
    for (uint32_t i = 0; status == ASSAY_OK && i < slice.view.n_rows; i++) {
        assay_id context = slice.view.contexts[i];
        values->numbers[context] = row_sum(&slice.view, i, reals);
        values->has[context] = true;
    }
    free(reals);
    as_slice_close(&slice);
    return status;
}

/* What a source has that stores statistics only. */
static assay_status load_means(as_af_values *values, const as_dataset *ds, assay_id metric, assay_id point,
                               assay_error *error) {
    if (!as_ds_load_measurements(ds)) return as_fail_memory(error, NULL);
    for (size_t i = 0; i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        for (uint32_t k = 0; series->metric == metric && k < series->n_measurements; k++) {
            const as_measurement *m = as_ds_measurement(ds, series->first_measurement + k);
            double mean = isnan(m->mean) ? m->median : m->mean;
            if (m->point != point || isnan(mean)) continue;
            values->numbers[series->context] = (as_number){.kind = AS_REAL, .r = mean};
            values->has[series->context] = true;
        }
    }
    return ASSAY_OK;
}

/* Whether the values of contexts do not have those below them yet. */
static bool is_own(const as_metric *metric) {
    return !metric->is_stored && (metric->kind == AS_KIND_EXCLUSIVE || metric->kind == AS_KIND_NONE);
}

assay_status as_af_values_load(as_af_values *values, const as_dataset *ds, assay_id metric, as_af_written_run run,
                               assay_error *error) {
    memset(values->has, 0, values->n * sizeof *values->has);
    AS_TRY(run.run == ASSAY_NONE ? load_means(values, ds, metric, run.point, error)
                                 : load_rows(values, ds, metric, run.run, error));
    bool adds_up = is_own(as_ds_metric(ds, metric)) && as_af_use_of(ds, metric) != AS_AF_USE_VISITS;
    for (assay_id i = (assay_id)values->n; adds_up && i-- > 0;) {
        assay_id parent = as_ds_context(ds, i)->parent;
        if (!values->has[i] || parent == ASSAY_NONE) continue;
        values->numbers[parent] =
            values->has[parent] ? add(values->numbers[parent], values->numbers[i]) : values->numbers[i];
        values->has[parent] = true;
    }
    return ASSAY_OK;
}
