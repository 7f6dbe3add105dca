/* Scaling models of all call paths of a metric (api/scale): how they grow, and what each will cost at a point. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/scaling/coordinates.h"
#include "analysis/scaling/strong.h"
#include "cli/profile_choice.h"
#include "cli/row_order.h"
#include "server/report_choice.h"
#include "server/scale.h"

enum { USUAL_ROWS = 200, MOST_ROWS = 1000, SPARK_PLACES = 16, PATH_BYTES = 400, DIGITS = 4 };

typedef struct page {
    as_scale_view *scale;
    double *at, *base;
    as_prediction total;
    uint32_t *models; /* those that match, sorted */
    size_t n;         /* of them */
    size_t offset;
    as_prediction *rows; /* those in sight */
    size_t n_rows;
    as_builder builder;
    as_vec text;
} page;

/* ---- which rows -------------------------------------------------------------------------------------------------- */

static assay_status keep_matching(page *p, const as_request *request, assay_error *error) {
    const bool *matches;
    size_t n = 0;
    AS_TRY(as_scale_matching(p->scale, request, &matches, error));
    for (size_t i = 0; matches && i < p->n; i++) {
        if (matches[p->models[i]]) p->models[n++] = p->models[i];
    }
    if (matches) p->n = n;
    return ASSAY_OK;
}

/* Fills p->models in the order asked for. */
static assay_status sort_models(page *p, const char *sort, assay_error *error) {
    static const char *const fixed[] = {"growth", "error", "name", "tree"};
    as_scale_view *s = p->scale;
    size_t n = p->n = s->predictor.fit.n;
    as_scale_order order = AS_BY_GROWTH;
    while (order < AS_SCALE_ORDERS && strcmp(fixed[order], sort) != 0) order++;
    p->models = malloc((n + 1) * sizeof *p->models);
    double *numbers = malloc((n + 1) * sizeof *numbers);
    assay_status status = p->models && numbers ? ASSAY_OK : as_fail_memory(error, NULL);
    if (status != ASSAY_OK) goto end;
    if (order < AS_SCALE_ORDERS) {
        const uint32_t *rows = as_scale_ordered(s, order);
        if (rows)
            memcpy(p->models, rows, n * sizeof *rows);
        else
            status = as_fail_memory(error, NULL);
        goto end;
    }
    bool by_change = strcmp(sort, "change") == 0, by_now = strcmp(sort, "now") == 0;
    if (!by_change && !by_now && strcmp(sort, "share") != 0) {
        status = as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                         "'sort' cannot be '%.100s'; growth, share, change, now, error, name or tree", sort);
        goto end;
    }
    for (uint32_t i = 0; i < n; i++) {
        double value = s->predictor.values[i];
        p->models[i] = i;
        numbers[i] = by_change ? value / s->now[i] : by_now ? s->now[i] : value;
    }
    as_rows_by_number(p->models, n, numbers);
end:
    free(numbers);
    return status;
}

static void reverse(uint32_t *rows, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t other = rows[i];
        rows[i] = rows[n - 1 - i];
        rows[n - 1 - i] = other;
    }
}

static assay_status choose_rows(page *p, const as_request *request, assay_error *error) {
    as_scale_view *s = p->scale;
    const char *sort = as_request_text(request, "sort");
    int64_t offset, limit;
    AS_TRY(as_request_number(request, "offset", 0, UINT32_MAX, 0, &offset, error));
    AS_TRY(as_request_number(request, "limit", 0, MOST_ROWS, USUAL_ROWS, &limit, error));
    as_scale_evaluate(s, p->at);
    memcpy(p->base, s->base, as_ds_parameters(as_scale_ds(s)) * sizeof *p->base);
    if (!as_predict_total(&s->predictor, s->metric, p->at, p->base, &p->total)) return as_fail_memory(error, NULL);
    AS_TRY(sort_models(p, sort ? sort : "growth", error));
    AS_TRY(keep_matching(p, request, error));
    if (as_request_flag(request, "reverse")) reverse(p->models, p->n);
    p->offset = (size_t)offset < p->n ? (size_t)offset : p->n;
    p->n_rows = p->n - p->offset < (size_t)limit ? p->n - p->offset : (size_t)limit;
    p->rows = calloc(p->n_rows + 1, sizeof *p->rows);
    if (!p->rows) return as_fail_memory(error, NULL);
    for (size_t i = 0; i < p->n_rows; i++)
        p->rows[i] = as_predict_path(&s->predictor, &p->total, p->models[p->offset + i], p->at, p->base);
    return as_scale_intervals(s, p->at, p->rows, p->n_rows) ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static const as_model *model_of(const page *p, size_t row) { return as_scale_model(p->scale, p->rows[row].model); }

typedef enum number_column {
    N_VALUE,
    N_LOW,
    N_HIGH,
    N_SHARE,
    N_NOW,
    N_SHARE_NOW,
    N_SPEEDUP,
    N_STRONG,
    N_WEAK,
    N_AR2,
    N_SMAPE,
    N_NOISE
} number_column;

static double number_of(const page *p, size_t row, number_column column) {
    const as_prediction *r = &p->rows[row];
    const as_scale_view *s = p->scale;
    switch (column) {
    case N_VALUE: return r->value;
    case N_LOW: return r->interval.low;
    case N_HIGH: return r->interval.high;
    case N_SHARE: return r->share;
    case N_NOW: return s->now[r->model];
    case N_SHARE_NOW: return s->total_now > 0 ? s->now[r->model] / s->total_now : NAN;
    case N_SPEEDUP: return r->speedup;
    case N_STRONG: return r->efficiency_strong;
    case N_WEAK: return r->efficiency_weak;
    case N_AR2: return model_of(p, row)->AR2;
    case N_SMAPE: return model_of(p, row)->SMAPE;
    case N_NOISE: return (double)as_scale_note(s, r->model)->noise;
    }
    return NAN;
}

static void build_numbers(page *p) {
    static const char *const names[] = {
        "value",           "low", "high",  "share", "now", "share_now", "speedup", "efficiency_strong",
        "efficiency_weak", "AR2", "SMAPE", "noise"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        as_build_array(&p->builder, names[k], false);
        for (size_t i = 0; i < p->n_rows; i++) as_build_number(&p->builder, NULL, number_of(p, i, (number_column)k));
        as_build_end(&p->builder);
    }
}

static bool text_of(const page *p, const as_model *model, size_t column, as_vec *out) {
    const as_dataset *ds = as_scale_ds(p->scale);
    switch (column) {
    case 0: return as_context_path_end(ds, model->context, PATH_BYTES, out, NULL);
    case 1: return as_model_function_text(ds, model, out);
    case 2: return as_model_function_rounded(ds, model, DIGITS, out);
    default: return as_growth_text(ds, model, out);
    }
}

static bool build_texts(page *p) {
    static const char *const names[] = {"callpath", "function", "text", "growth"};
    const as_dataset *ds = as_scale_ds(p->scale);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        as_build_array(&p->builder, names[k], false);
        for (size_t i = 0; i < p->n_rows; i++) {
            if (!text_of(p, model_of(p, i), k, &p->text)) return false;
            as_build_text(&p->builder, NULL, p->text.data);
        }
        as_build_end(&p->builder);
    }
    as_build_array(&p->builder, "name", false);
    for (size_t i = 0; i < p->n_rows; i++)
        as_build_text(&p->builder, NULL, as_ds_text(ds, as_ds_context(ds, model_of(p, i)->context)->name));
    as_build_end(&p->builder);
    as_build_array(&p->builder, "order", false);
    for (size_t i = 0; i < p->n_rows; i++)
        as_build_text(&p->builder, NULL, as_order_name(as_model_growth(ds, model_of(p, i)).order));
    as_build_end(&p->builder);
    return true;
}

static void build_ids(page *p) {
    const as_dataset *ds = as_scale_ds(p->scale);
    as_build_array(&p->builder, "context", false);
    for (size_t i = 0; i < p->n_rows; i++)
        as_build_int(&p->builder, NULL, as_scale_context(p->scale, model_of(p, i)->context));
    as_build_end(&p->builder);
    as_build_array(&p->builder, "depth", false);
    for (size_t i = 0; i < p->n_rows; i++)
        as_build_int(&p->builder, NULL, as_ds_context(ds, model_of(p, i)->context)->depth);
    as_build_end(&p->builder);
    as_build_array(&p->builder, "points", false);
    for (size_t i = 0; i < p->n_rows; i++)
        as_build_int(&p->builder, NULL, as_scale_note(p->scale, p->rows[i].model)->n_points);
    as_build_end(&p->builder);
    as_build_array(&p->builder, "flags", false);
    for (size_t i = 0; i < p->n_rows; i++)
        as_build_flags(&p->builder, NULL, as_scale_note(p->scale, p->rows[i].model)->flags);
    as_build_end(&p->builder);
}

/* Each model from the smallest measured number of processes to where it is predicted: enough to see its shape. */
static bool build_sparks(page *p) {
    const as_dataset *ds = as_scale_ds(p->scale);
    assay_id over = p->scale->request.processes;
    double low, high, *point = malloc(as_ds_parameters(ds) * sizeof *point);
    if (!point) return false;
    as_parameter_extent(ds, over, &low, &high);
    low = fmin(low, p->at[over]);
    high = fmax(high, p->at[over]);
    memcpy(point, p->at, as_ds_parameters(ds) * sizeof *point);
    as_build_array(&p->builder, "spark", false);
    for (size_t i = 0; i < p->n_rows; i++) {
        as_build_array(&p->builder, NULL, false);
        for (int k = 0; k < SPARK_PLACES; k++) {
            double part = (double)k / (SPARK_PLACES - 1);
            point[over] = low > 0 ? low * pow(high / low, part) : low + (high - low) * part;
            as_build_number(&p->builder, NULL, as_real_round(as_model_at(ds, model_of(p, i), point), DIGITS));
        }
        as_build_end(&p->builder);
    }
    as_build_end(&p->builder);
    free(point);
    return true;
}

/* ---- what there is to choose from -------------------------------------------------------------------------------- */

enum { MOST_VALUES = 1000 };

/* The parameters with their measured values. */
static bool build_parameters(page *p) {
    const as_dataset *ds = as_scale_ds(p->scale);
    const as_predict_request *request = &p->scale->request;
    as_vec values;
    as_vec_init(&values, sizeof(double), NULL);
    bool fine = true;
    as_build_array(&p->builder, "parameters", false);
    for (assay_id k = 0; k < as_ds_parameters(ds) && fine; k++) {
        fine = as_parameter_values(ds, k, &values);
        as_build_object(&p->builder, NULL, false);
        as_build_text(&p->builder, "name", as_ds_parameter(ds, k));
        as_build_bool(&p->builder, "is_processes", k == request->processes && !request->is_guessed);
        as_build_array(&p->builder, "values", false);
        for (size_t i = 0; i < values.count && i < MOST_VALUES; i++)
            as_build_number(&p->builder, NULL, AS_AT(double, &values, i));
        as_build_end(&p->builder);
        as_build_end(&p->builder);
    }
    as_build_end(&p->builder);
    as_vec_free(&values);
    return fine;
}

/* The metrics that could be modelled, and the sets of models that the file has. */
static void build_choices(page *p) {
    const as_scale_view *s = p->scale;
    const as_dataset *ds = as_scale_ds(s), *file = s->input->ds;
    const as_metric_series *by_metric = &s->predictor.by_metric;
    as_build_array(&p->builder, "metrics", false);
    for (assay_id i = 0; i < AS_COUNT(ds, metrics); i++) {
        if (by_metric->starts[i] == by_metric->starts[i + 1]) continue;
        as_build_object(&p->builder, NULL, false);
        as_build_text(&p->builder, "name", as_ds_text(ds, as_ds_metric(ds, i)->name));
        as_build_text(&p->builder, "unit", as_ds_text(ds, as_ds_metric(ds, i)->unit));
        as_build_int(&p->builder, "callpaths", by_metric->starts[i + 1] - by_metric->starts[i]);
        as_build_end(&p->builder);
    }
    as_build_end(&p->builder);
    const as_vec *sets = s->own ? &file->model_sets : &s->aside.model_sets; /* the scale is open */
    as_build_array(&p->builder, "sets", false);
    for (size_t i = 0; i < sets->count; i++) {
        const as_model_set *set = &AS_AT(as_model_set, sets, i);
        as_build_object(&p->builder, NULL, false);
        as_build_text(&p->builder, "name", as_ds_text(file, set->name));
        as_build_text(&p->builder, "modeler", as_ds_text(file, set->modeler));
        as_build_text(&p->builder, "measure", as_ds_text(file, set->measure));
        as_build_end(&p->builder);
    }
    as_build_end(&p->builder);
}

static void build_inputs(page *p, const as_viewing *viewing) {
    const as_scale_view *s = p->scale;
    as_build_array(&p->builder, "inputs", false);
    for (size_t i = 0; i < s->inputs.count; i++) as_build_int(&p->builder, NULL, (int64_t)AS_AT(size_t, &s->inputs, i));
    as_build_end(&p->builder);
    as_build_array(&p->builder, "could_join", false);
    for (size_t i = 0; i < as_viewing_inputs(viewing); i++) {
        const as_view_input *other = as_viewing_input(viewing, i);
        if (other != s->input && as_inputs_fit(s->input, other)) as_build_int(&p->builder, NULL, (int64_t)i);
    }
    as_build_end(&p->builder);
}

static void build_choice(page *p) {
    const as_scale_view *s = p->scale;
    const as_dataset *ds = as_scale_ds(s);
    const as_metric *metric = as_ds_metric(ds, s->metric);
    as_build_text(&p->builder, "metric", as_ds_text(ds, metric->name));
    as_build_text(&p->builder, "unit", as_ds_text(ds, metric->unit));
    as_build_text(&p->builder, "kind", as_kind_name(as_measured_kind(ds, s->metric)));
    as_build_known(&p->builder, "set", s->set == ASSAY_NONE ? -1 : (int64_t)s->set, false);
    as_build_text(&p->builder, "modeler", as_modeler_name(s->study.options.modeler));
    as_build_text(&p->builder, "measure", as_statistic_name(s->study.options.measure));
    as_build_text(&p->builder, "scaling", as_scaling_name(as_ds_scaling(ds)));
    as_build_text(&p->builder, "looks_strong", s->strong == ASSAY_NONE ? NULL : as_ds_parameter(ds, s->strong));
    as_build_bool(&p->builder, "is_work", s->predictor.is_work);
    as_build_bool(&p->builder, "looks_inclusive", s->predictor.guessed == s->metric);
    as_build_int(&p->builder, "unknown", (int64_t)s->predictor.n_unknown);
    as_build_int(&p->builder, "n_points", (int64_t)ds->n_points);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void build_total(page *p) {
    const as_prediction *total = &p->total;
    as_build_object(&p->builder, "total", false);
    as_build_number(&p->builder, "value", total->value);
    as_build_number(&p->builder, "low", total->interval.low);
    as_build_number(&p->builder, "high", total->interval.high);
    as_build_number(&p->builder, "now", p->scale->total_now);
    as_build_number(&p->builder, "speedup", total->speedup);
    as_build_number(&p->builder, "efficiency_strong", total->efficiency_strong);
    as_build_number(&p->builder, "efficiency_weak", total->efficiency_weak);
    as_build_end(&p->builder);
}

static bool build(page *p, const as_viewing *viewing) {
    const as_dataset *ds = as_scale_ds(p->scale);
    assay_id parameter;
    double times = as_extrapolation(ds, p->at, &parameter);
    as_build_object(&p->builder, NULL, false);
    build_inputs(p, viewing);
    if (!build_parameters(p)) return false;
    build_choices(p);
    build_choice(p);
    as_build_point(&p->builder, "at", ds, p->at);
    as_build_point(&p->builder, "base", ds, p->base);
    as_build_point(&p->builder, "largest", ds, as_ds_point(ds, p->scale->largest));
    as_build_number(&p->builder, "extrapolation", times);
    as_build_text(&p->builder, "extrapolated", times > 1 ? as_ds_parameter(ds, parameter) : NULL);
    build_total(p);
    as_build_int(&p->builder, "n_models", (int64_t)p->scale->predictor.fit.n);
    as_build_int(&p->builder, "n", (int64_t)p->n);
    as_build_int(&p->builder, "offset", (int64_t)p->offset);
    as_build_object(&p->builder, "rows", false);
    build_ids(p);
    build_numbers(p);
    if (!build_texts(p) || !build_sparks(p)) return false;
    as_build_end(&p->builder);
    as_build_end(&p->builder);
    return true;
}

static assay_status answer(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    page p = {.builder = as_builder_of(out)};
    AS_TRY(as_scale_open(viewing, request, &p.scale, error));
    size_t n = as_ds_parameters(as_scale_ds(p.scale));
    p.builder.compact = true;
    p.at = calloc(n, sizeof *p.at);
    p.base = calloc(n, sizeof *p.base);
    as_vec_init(&p.text, 1, NULL);
    assay_status status = p.at && p.base ? ASSAY_OK : as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = as_scale_at(p.scale, request, p.at, error);
    if (status == ASSAY_OK) status = choose_rows(&p, request, error);
    if (status == ASSAY_OK && !build(&p, viewing)) status = as_fail_memory(error, NULL);
    as_scale_close(p.scale);
    free(p.at);
    free(p.base);
    free(p.models);
    free(p.rows);
    as_vec_free(&p.text);
    return status;
}

const as_endpoint as_endpoint_scale = {.path = "scale", .answer = answer, .report = as_report_scale};
