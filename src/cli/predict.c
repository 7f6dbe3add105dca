/* Predictions: values, intervals, shares, speed-up and efficiency of all call paths at a point. */
#include "cli/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/scaling/coordinates.h"
#include "analysis/scaling/strong.h"
#include "cli/progress.h"
#include "core/parallel.h"

/* ---- fitting ----------------------------------------------------------------------------------------------------- */

static bool show_progress(void *user, double fraction) {
    (void)user;
    return as_progress_step(NULL, NULL, fraction);
}

/* All series of the metrics that some chosen series has. NULL when memory is out. */
static uint32_t *series_of_metrics(const as_predictor *p, size_t *n) {
    const as_dataset *ds = p->study->ds;
    uint32_t *series = calloc(ds->series.count + 1, sizeof *series);
    bool *metrics = calloc(ds->metrics.count + 1, sizeof *metrics);
    *n = 0;
    for (size_t i = 0; metrics && i < p->study->n_series; i++)
        metrics[as_ds_series(ds, p->study->series[i])->metric] = true;
    for (size_t i = 0; series && metrics && i < ds->series.count; i++) {
        if (metrics[as_ds_series(ds, i)->metric]) series[(*n)++] = (uint32_t)i;
    }
    if (!metrics) {
        free(series);
        series = NULL;
    }
    free(metrics);
    return series;
}

static as_exit fit_all(as_cli *cli, as_study *study, as_predictor *p) {
    size_t n;
    uint32_t *series = series_of_metrics(p, &n);
    if (!series) return as_cli_memory(cli);
    assay_error error;
    as_ds_forget_models(study->ds);
    if (!cli->quiet) as_progress_begin("modelling", as_cli_operand(cli, 0));
    assay_status status = as_fit_models(study->ds, &study->options, (as_choice){series, n}, "prediction", NULL,
                                        show_progress, NULL, &p->fit, &error);
    as_progress_end();
    free(series);
    return status == ASSAY_OK ? AS_EXIT_FINE : as_cli_error(cli, &error);
}

/* A call path of which nothing finite was measured must not make the total of all others unknown; nor one without a
 * model. */
static void leave_out_unknown(as_predictor *p) {
    for (size_t i = 0; i < p->study->ds->series.count; i++) p->parts[i] &= p->models[i] != AS_TOTAL;
    for (size_t i = 0; i < p->fit.n; i++) {
        const as_fit_note *note = &p->fit.notes[i];
        if (note->n_points || !p->parts[note->series]) continue;
        p->parts[note->series] = false;
        p->n_unknown++;
    }
}

/* Fills the lists that say what belongs to what. False when memory is out. */
static bool make_lists(as_predictor *p) {
    const as_study *study = p->study;
    size_t n = study->ds->series.count, n_metrics = study->ds->metrics.count;
    assay_id *total_metrics = NULL;
    p->models = malloc((n + 1) * sizeof *p->models);
    p->wanted = calloc(n + 1, sizeof *p->wanted);
    p->values = calloc(p->fit.n + 1, sizeof *p->values);
    p->base_values = calloc(p->fit.n + 1, sizeof *p->base_values);
    p->total_series = malloc((n_metrics + 1) * sizeof *p->total_series);
    if (!p->models || !p->wanted || !p->values || !p->base_values || !p->total_series) return false;
    if (!as_metric_series_init(&p->by_metric, study->ds)) return false;
    if (!(p->parts = as_total_parts(study->ds, &p->by_metric, &p->guessed))) return false;
    for (size_t i = 0; i < n; i++) p->models[i] = AS_TOTAL;
    for (uint32_t i = 0; i < p->fit.n; i++) p->models[p->fit.notes[i].series] = i;
    leave_out_unknown(p);
    if (!(p->totals = as_totals(study->ds, &p->by_metric, p->parts, &total_metrics))) return false;
    for (size_t i = 0; i < study->n_series; i++) p->wanted[study->series[i]] = true;
    for (size_t i = 0; i < n_metrics; i++) p->total_series[i] = AS_TOTAL;
    for (uint32_t i = 0; i < p->totals->series.count; i++) p->total_series[total_metrics[i]] = i;
    free(total_metrics);
    return true;
}

void as_predict_processes(as_cli *cli, const as_dataset *ds, as_predict_request *request) {
    const char *given = as_cli_value(cli, "processes");
    double largest;
    request->processes = ASSAY_NONE;
    for (size_t i = 0; given && i < as_ds_parameters(ds); i++) {
        if (strcmp(as_ds_parameter(ds, i), given) == 0) request->processes = (assay_id)i;
    }
    if (request->processes == ASSAY_NONE) request->processes = as_study_guess_processes(ds);
    request->is_guessed = request->processes == ASSAY_NONE;
    if (request->is_guessed) request->processes = 0;
    as_parameter_extent(ds, request->processes, &request->fewest, &largest);
}

as_exit as_predictor_open(as_cli *cli, as_study *study, const as_predict_request *request, as_predictor *p) {
    *p = (as_predictor){.study = study, .request = request};
    as_exit status = fit_all(cli, study, p);
    if (status != AS_EXIT_FINE) return status;
    as_fit fit = p->fit;
    return as_predictor_of(study, request, &fit, p) ? AS_EXIT_FINE : as_cli_memory(cli);
}

bool as_predictor_of(const as_study *study, const as_predict_request *request, const as_fit *fit, as_predictor *p) {
    *p = (as_predictor){.study = study, .request = request, .fit = *fit};
    p->is_work = as_ds_scaling(study->ds) == AS_SCALING_STRONG;
    return make_lists(p);
}

void as_predictor_close(as_predictor *p) {
    as_fit_free(&p->fit);
    as_metric_series_free(&p->by_metric);
    free(p->models);
    free(p->parts);
    free(p->wanted);
    free(p->values);
    free(p->base_values);
    free(p->total_series);
    as_dataset_free(p->totals);
}

/* ---- one prediction ---------------------------------------------------------------------------------------------- */

void as_predict_base(const as_predictor *p, const double *point, double *out) {
    size_t n = as_ds_parameters(p->study->ds);
    memcpy(out, p->request->base ? p->request->base : point, n * sizeof *out);
    if (!p->request->base) out[p->request->processes] = p->request->fewest;
}

/* T(base) / T(point) and what follows from it. */
static void compare(const as_predictor *p, const double *point, const double *base, double base_value,
                    as_prediction *row) {
    double processes = point[p->request->processes], before = base[p->request->processes];
    double time = p->is_work ? row->value / processes : row->value;
    double base_time = p->is_work ? base_value / before : base_value;
    bool is_known = time > 0 && base_time > 0 && isfinite(base_time / time);
    row->speedup = is_known ? base_time / time : NAN;
    row->efficiency_weak = row->speedup;
    bool has_processes = processes > 0 && before > 0;
    row->efficiency_strong = has_processes ? row->speedup / (processes / before) : NAN;
}

static bool set_interval(const as_predictor *p, const double *point, as_prediction *row) {
    as_forecast *forecast = as_forecast_new(p->study->ds, &p->fit.options, p->fit.notes[row->model].series,
                                            as_predicted_model(p, row->model));
    if (!forecast) return false;
    row->interval = as_forecast_at(forecast, point, p->request->confidence);
    as_forecast_free(forecast);
    return true;
}

/* The model of the only call path that a metric's total is made of; AS_TOTAL: there is none, or several. */
static uint32_t only_part(const as_predictor *p, assay_id metric) {
    uint32_t only = AS_TOTAL;
    for (uint32_t i = p->by_metric.starts[metric]; i < p->by_metric.starts[metric + 1]; i++) {
        uint32_t series = p->by_metric.series[i];
        if (!p->parts[series]) continue;
        if (only != AS_TOTAL) return AS_TOTAL;
        only = p->models[series];
    }
    return only;
}

/* The interval of a total is that of a series of its own: errors of its parts make up for each other. It holds the sum
 * of the models. A total of one call path is this call path. */
static bool set_total_interval(const as_predictor *p, const double *point, as_prediction *row) {
    as_prediction part = {.model = only_part(p, row->metric)};
    row->interval = (as_interval){NAN, NAN};
    if (part.model != AS_TOTAL) {
        if (!set_interval(p, point, &part)) return false;
        row->interval = part.interval;
        return true;
    }
    if (p->total_series[row->metric] == AS_TOTAL || !isfinite(row->value)) return true;
    as_forecast *forecast = as_forecast_new(p->totals, &p->fit.options, p->total_series[row->metric], NULL);
    if (!forecast) return false;
    as_interval interval = as_forecast_at(forecast, point, p->request->confidence);
    as_forecast_free(forecast);
    if (isnan(interval.low)) return true;
    row->interval = (as_interval){fmin(interval.low, row->value), fmax(interval.high, row->value)};
    return true;
}

/* ---- one point --------------------------------------------------------------------------------------------------- */

static int dearer_first(const void *x, const void *y) {
    const as_prediction *a = x, *b = y;
    if (isnan(a->value) != isnan(b->value)) return isnan(a->value) ? 1 : -1;
    if (a->value != b->value && !isnan(a->value)) return a->value > b->value ? -1 : 1;
    return (a->model > b->model) - (a->model < b->model);
}

/* The sum of a metric's parts; models without a value at this point (between segments) make it unknown, as does having
 * no part. */
static as_prediction total_of(const as_predictor *p, assay_id metric, double *base_value) {
    as_prediction total = {.model = AS_TOTAL, .metric = metric};
    size_t n_parts = 0;
    *base_value = 0;
    for (uint32_t i = p->by_metric.starts[metric]; i < p->by_metric.starts[metric + 1]; i++) {
        uint32_t series = p->by_metric.series[i];
        if (!p->parts[series]) continue;
        total.value += p->values[p->models[series]];
        *base_value += p->base_values[p->models[series]];
        n_parts++;
    }
    if (n_parts == 0) total.value = NAN;
    total.share = isnan(total.value) ? NAN : 1;
    return total;
}

bool as_predict_total(const as_predictor *p, assay_id metric, const double *point, const double *base,
                      as_prediction *out) {
    double base_value;
    *out = total_of(p, metric, &base_value);
    compare(p, point, base, base_value, out);
    return set_total_interval(p, point, out);
}

as_prediction as_predict_path(const as_predictor *p, const as_prediction *total, uint32_t model, const double *point,
                              const double *base) {
    as_prediction row = {.model = model, .metric = total->metric, .value = p->values[model], .interval = {NAN, NAN}};
    row.share = total->value > 0 ? row.value / total->value : NAN;
    compare(p, point, base, p->base_values[model], &row);
    return row;
}

/* The call paths of a metric that are wanted. */
static bool add_paths(as_predictor *p, const as_prediction *total, const double *point, const double *base,
                      as_vec *rows) {
    assay_id metric = total->metric;
    for (uint32_t i = p->by_metric.starts[metric]; i < p->by_metric.starts[metric + 1]; i++) {
        uint32_t series = p->by_metric.series[i];
        if (!p->wanted[series]) continue;
        as_prediction row = as_predict_path(p, total, p->models[series], point, base);
        if (!as_vec_append(rows, &row, 1)) return false;
    }
    return true;
}

/* Intervals take most of the time, and each is for itself: threads make a stretch of them at a time. */
enum { STRETCH = 32 };

typedef struct stretches {
    const as_predictor *p;
    const double *point;
    as_prediction *rows;
    size_t n;
    bool failed;
} stretches;

static void set_intervals(void *user, size_t i) {
    stretches *s = user;
    size_t end = (i + 1) * STRETCH < s->n ? (i + 1) * STRETCH : s->n;
    for (size_t k = i * STRETCH; k < end; k++) {
        if (!set_interval(s->p, s->point, &s->rows[k])) __atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
    }
}

static bool add_metric(as_predictor *p, assay_id metric, const double *point, const double *base, as_vec *rows,
                       size_t *hidden) {
    size_t first = rows->count, limit = p->request->limit;
    as_prediction total;
    if (!as_predict_total(p, metric, point, base, &total) || !as_vec_append(rows, &total, 1)) return false;
    if (!add_paths(p, &total, point, base, rows)) return false;
    size_t n = rows->count - first - 1;
    qsort(&AS_AT(as_prediction, rows, first + 1), n, sizeof(as_prediction), dearer_first);
    if (limit && limit < n) {
        *hidden += n - limit;
        rows->count -= n - limit;
    }
    stretches s = {
        .p = p, .point = point, .rows = &AS_AT(as_prediction, rows, first + 1), .n = rows->count - first - 1};
    as_parallel((s.n + STRETCH - 1) / STRETCH, p->study->options.threads, set_intervals, &s);
    return !s.failed;
}

/* Whether some series of the metric was modelled; then all were. */
static bool is_modelled(const as_predictor *p, assay_id metric) {
    uint32_t first = p->by_metric.starts[metric];
    return first < p->by_metric.starts[metric + 1] && p->models[p->by_metric.series[first]] != AS_TOTAL;
}

/* Models are evaluated a window at a time. */
enum { WINDOW = 4096 };

typedef struct windows {
    as_predictor *p;
    const double *point, *base;
} windows;

static void evaluate_window(void *user, size_t i) {
    const windows *w = user;
    as_predictor *p = w->p;
    size_t end = (i + 1) * WINDOW < p->fit.n ? (i + 1) * WINDOW : p->fit.n;
    for (size_t k = i * WINDOW; k < end; k++) {
        const as_model *model = as_predicted_model(p, (uint32_t)k);
        p->values[k] = as_model_at(p->study->ds, model, w->point);
        p->base_values[k] = as_model_at(p->study->ds, model, w->base);
    }
}

void as_predict_values(as_predictor *p, const double *point, double *base) {
    as_predict_base(p, point, base);
    windows w = {.p = p, .point = point, .base = base};
    as_parallel((p->fit.n + WINDOW - 1) / WINDOW, p->study->options.threads, evaluate_window, &w);
}

bool as_predict_at(as_predictor *p, const double *point, as_vec *rows, size_t *hidden) {
    double *base = malloc(as_ds_parameters(p->study->ds) * sizeof *base);
    if (!base) return false;
    as_predict_values(p, point, base);
    bool fine = true;
    *hidden = 0;
    for (assay_id metric = 0; metric < p->study->ds->metrics.count && fine; metric++)
        fine = !is_modelled(p, metric) || add_metric(p, metric, point, base, rows, hidden);
    free(base);
    return fine;
}
