#include "server/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/scaling/coordinates.h"
#include "analysis/scaling/strong.h"
#include "cli/profile_choice.h"
#include "core/parallel.h"
#include "core/words.h"
#include "dataset/build.h"
#include "dataset/merge.h"
#include "render/plot_axis.h"

#define CONFIDENCE    0.95
#define FURTHER       4 /* times the largest number of processes: what is predicted where nobody says otherwise */
#define MOST_TOGETHER 4096

/* ---- which inputs ------------------------------------------------------------------------------------------------ */

bool as_inputs_fit(const as_view_input *a, const as_view_input *b) {
    as_dataset *both[] = {a->ds, b->ds};
    return a->ds && b->ds && as_can_merge(both, 2);
}

bool as_inputs_are_points(const as_view_input *a, const as_view_input *b) {
    return as_inputs_fit(a, b) && a->ds->n_points == 1 && b->ds->n_points == 1;
}

/* Inputs of one point each are one experiment; others only where somebody says so: two whole experiments are more
 * likely to be compared. */
static bool belongs(const as_request *request, const as_view_input *input, const as_view_input *other) {
    const char *together = as_request_text(request, "together");
    if (input == other) return true;
    if (!as_inputs_fit(input, other)) return false;
    return together ? strcmp(together, "1") == 0 : as_inputs_are_points(input, other);
}

static assay_status find_inputs(const as_viewing *viewing, const as_request *request, as_scale_view *s,
                                assay_error *error) {
    for (size_t i = 0; i < as_viewing_inputs(viewing) && s->inputs.count < MOST_TOGETHER; i++) {
        if (belongs(request, s->input, as_viewing_input(viewing, i)) && !as_vec_append(&s->inputs, &i, 1))
            return as_fail_memory(error, NULL);
    }
    return ASSAY_OK;
}

/* ---- the experiment ---------------------------------------------------------------------------------------------- */

/* The values of one input change with `scaling`: it is read once more, as the command reads it. */
static assay_status read_again(const as_viewing *viewing, as_scale_view *s, assay_error *error) {
    const char *path = s->input->file;
    struct stat about; /* a pipe would keep everybody waiting */
    if (stat(path, &about) != 0 || (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)))
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "",
                       "%s cannot be read once more, as another kind of scaling needs", s->input->path);
    assay_status status = as_read(path, &viewing->config, &s->own, error);
    if (status != ASSAY_OK) s->own = NULL;
    return status;
}

static assay_status merge_inputs(const as_viewing *viewing, as_scale_view *s, assay_error *error) {
    as_dataset **parts = calloc(s->inputs.count, sizeof *parts);
    if (!parts) return as_fail_memory(error, NULL);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < s->inputs.count && status == ASSAY_OK; i++) {
        parts[i] = as_viewing_input(viewing, AS_AT(size_t, &s->inputs, i))->ds;
        status = as_ds_load(parts[i], ASSAY_NONE, error);
    }
    if (status == ASSAY_OK) status = as_merge(parts, s->inputs.count, &s->own, error);
    free(parts);
    return status;
}

/* The number of each context of the input in `own`, which has them by name. */
static bool map_contexts(as_scale_view *s) {
    const as_dataset *from = s->input->ds, *to = s->own;
    size_t n_from = AS_COUNT(from, contexts), n_to = AS_COUNT(to, contexts);
    as_map children;
    as_map_init(&children, NULL);
    s->to_own = malloc((n_from + 1) * sizeof *s->to_own);
    s->from_own = malloc((n_to + 1) * sizeof *s->from_own);
    bool fine = s->to_own && s->from_own;
    for (assay_id i = 0; i < n_to && fine; i++) {
        const as_context *context = as_ds_context(to, i);
        s->from_own[i] = ASSAY_NONE;
        fine = as_map_put(&children, as_pair(context->parent, context->name), i);
    }
    for (assay_id i = 0; i < n_from && fine; i++) {
        const as_context *context = as_ds_context(from, i);
        assay_id parent = context->parent == ASSAY_NONE ? ASSAY_NONE : s->to_own[context->parent];
        const char *name = as_ds_text(from, context->name);
        as_str known = name ? as_find(&to->strings, name, strlen(name)) : AS_NO_STR;
        bool has_parent = context->parent == ASSAY_NONE || parent != ASSAY_NONE;
        s->to_own[i] = has_parent ? as_map_get(&children, as_pair(parent, known)) : ASSAY_NONE;
        if (s->to_own[i] != ASSAY_NONE && s->from_own[s->to_own[i]] == ASSAY_NONE) s->from_own[s->to_own[i]] = i;
    }
    as_map_free(&children);
    return fine;
}

assay_id as_scale_context(const as_scale_view *s, assay_id context) {
    if (!s->from_own) return context;
    assay_id known = s->from_own[context];
    return known != ASSAY_NONE ? known : (assay_id)AS_COUNT(s->input->ds, contexts) + context;
}

static assay_id own_context(const as_scale_view *s, int64_t context) {
    int64_t n = (int64_t)AS_COUNT(s->input->ds, contexts), n_own = (int64_t)AS_COUNT(s->study.ds, contexts);
    if (context < n) return s->to_own ? s->to_own[context] : (assay_id)context;
    return s->to_own && context - n < n_own ? (assay_id)(context - n) : ASSAY_NONE;
}

/* ---- the method -------------------------------------------------------------------------------------------------- */

/* The "key=value" of each parameter O, in the scale's own memory: the options of a fit point to them. */
static const char *const *method_options(const as_request *request, as_scale_view *s) {
    const char **options = as_arena_array(&s->texts, request->parameters.count + 1, sizeof *options);
    size_t n = 0;
    for (size_t i = 0; options && i < request->parameters.count; i++) {
        const as_parameter *parameter = &AS_AT(as_parameter, &request->parameters, i);
        if (strcmp(parameter->name, "O") != 0 || !*parameter->value) continue;
        options[n] = as_arena_copy(&s->texts, parameter->value, strlen(parameter->value));
        if (!options[n++]) return NULL;
    }
    return options;
}

static bool has_series(const as_study *study, assay_id metric) {
    for (size_t i = 0; i < study->n_series; i++) {
        if (as_ds_series(study->ds, study->series[i])->metric == metric) return true;
    }
    return false;
}

/* Of all metrics that were chosen, the main one, else the first. */
static void keep_one_metric(as_scale_view *s) {
    as_study *study = &s->study;
    s->metric = as_main_metric(study->ds, false);
    if (s->metric == ASSAY_NONE || !has_series(study, s->metric))
        s->metric = as_ds_series(study->ds, study->series[0])->metric;
    size_t n = 0;
    for (size_t i = 0; i < study->n_series; i++) {
        if (as_ds_series(study->ds, study->series[i])->metric == s->metric) study->series[n++] = study->series[i];
    }
    study->n_series = n;
}

/* ---- models of the file ------------------------------------------------------------------------------------------ */

static bool copy_model(as_dataset *ds, const as_models_aside *from, assay_id id, assay_id set) {
    const as_model *model = &AS_AT(as_model, &from->models, id);
    as_model copy = *model;
    copy.set = set;
    copy.first_segment = (uint32_t)ds->segments.count;
    copy.first_term = (uint32_t)ds->terms.count;
    uint32_t n_segments = model->n_segments + model->n_pieces;
    if (!as_vec_append(&ds->segments, &AS_AT(as_segment, &from->segments, model->first_segment), n_segments) ||
        !as_vec_append(&ds->terms, &AS_AT(as_term, &from->terms, model->first_term), model->n_terms))
        return false;
    for (uint32_t i = 0; i < model->n_terms; i++)
        AS_AT(as_term, &ds->terms, copy.first_term + i).model = (assay_id)ds->models.count;
    return as_vec_append(&ds->models, &copy, 1);
}

static bool count_point(void *user, const as_measurement *measurement) {
    as_fit_note *note = user;
    if (isfinite(measurement->mean)) note->n_points++;
    return true;
}

/* The models of a set for the chosen series, in their order. Series without one are chosen no more. */
static bool take_models(as_scale_view *s, assay_id set, as_fit *fit) {
    as_dataset *ds = s->study.ds;
    as_map by_context;
    as_map_init(&by_context, NULL);
    *fit = (as_fit){.options = s->study.options, .notes = calloc(s->study.n_series + 1, sizeof *fit->notes)};
    bool fine = fit->notes && as_vec_append(&ds->model_sets, &AS_AT(as_model_set, &s->aside.model_sets, set), 1);
    for (assay_id i = 0; i < s->aside.models.count && fine; i++) {
        const as_model *model = &AS_AT(as_model, &s->aside.models, i);
        if (model->set == set && model->metric == s->metric) fine = as_map_put(&by_context, model->context, i);
    }
    size_t n = 0;
    for (size_t i = 0; i < s->study.n_series && fine; i++) {
        const as_series *series = as_ds_series(ds, s->study.series[i]);
        uint32_t model = as_map_get(&by_context, series->context);
        if (model == AS_MAP_NONE) continue;
        s->study.series[n] = s->study.series[i];
        fit->notes[n] = (as_fit_note){.series = s->study.series[i], .rival = AS_NO_STR, .noise = NAN};
        fine = copy_model(ds, &s->aside, model, 0) && as_measure(ds, series, count_point, &fit->notes[n]);
        n++;
    }
    s->study.n_series = fit->n = n;
    as_map_free(&by_context);
    return fine;
}

static assay_status open_stored(as_scale_view *s, assay_error *error) {
    as_fit fit;
    if (!take_models(s, s->set, &fit)) {
        as_fit_free(&fit);
        return as_fail_memory(error, NULL);
    }
    if (fit.n == 0) {
        as_fit_free(&fit);
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "this set has no models of this metric");
    }
    const char *measure = as_ds_text(s->study.ds, AS_AT(as_model_set, &s->study.ds->model_sets, 0).measure);
    for (as_statistic i = AS_MEAN; measure && i <= AS_MAXIMUM; i++) {
        if (strcmp(as_statistic_name(i), measure) == 0) s->study.options.measure = fit.options.measure = i;
    }
    return as_predictor_of(&s->study, &s->request, &fit, &s->predictor) ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* ---- forecasts --------------------------------------------------------------------------------------------------- */

enum { MOST_FORECASTS = 600 };

static void forget_forecasts(as_scale_view *s) {
    for (size_t i = 0; s->n_forecasts && i < s->predictor.fit.n; i++) {
        if (!s->forecasts[i]) continue;
        as_forecast_free(s->forecasts[i]);
        s->forecasts[i] = NULL;
        s->n_forecasts--;
    }
}

const as_forecast *as_scale_forecast(as_scale_view *s, uint32_t model) {
    as_forecast **kept = &s->forecasts[model];
    if (*kept) return *kept;
    *kept = as_forecast_new(s->study.ds, &s->predictor.fit.options, as_scale_note(s, model)->series,
                            as_scale_model(s, model));
    if (*kept) __atomic_add_fetch(&s->n_forecasts, 1, __ATOMIC_RELAXED);
    return *kept;
}

typedef struct intervals {
    as_scale_view *scale;
    const double *point;
    as_prediction *rows;
    bool failed;
} intervals;

static void set_interval(void *user, size_t i) {
    intervals *of = user;
    const as_forecast *forecast = as_scale_forecast(of->scale, of->rows[i].model);
    if (forecast)
        of->rows[i].interval = as_forecast_at(forecast, of->point, of->scale->request.confidence);
    else
        __atomic_store_n(&of->failed, true, __ATOMIC_RELAXED);
}

bool as_scale_intervals(as_scale_view *s, const double *point, as_prediction *rows, size_t n) {
    intervals of = {.scale = s, .point = point, .rows = rows};
    if (s->n_forecasts + n > MOST_FORECASTS) forget_forecasts(s);
    as_parallel(n, 0, set_interval, &of);
    return !of.failed;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void free_scale(void *object) {
    as_scale_view *s = object;
    forget_forecasts(s);
    free(s->forecasts);
    as_predictor_close(&s->predictor);
    as_models_aside_free(&s->aside);
    if (!s->own) s->study.ds = NULL;
    s->own = NULL; /* it is the study's */
    as_study_close(&s->study);
    for (size_t i = 0; i < AS_SCALE_ORDERS; i++) free(s->orders[i]);
    free(s->to_own);
    free(s->from_own);
    free(s->now);
    free(s->point);
    free(s->base);
    free(s->pattern);
    free(s->matches);
    as_vec_free(&s->inputs);
    as_arena_free(&s->texts);
    free(s);
}

static size_t size_of(const as_scale_view *s) {
    size_t per_model =
        sizeof(as_model) + sizeof(as_segment) + 2 * sizeof(as_term) + sizeof(as_fit_note) + 8 * sizeof(double);
    size_t n = s->predictor.fit.n * per_model + AS_COUNT(s->study.ds, series) * 4 * sizeof(uint32_t);
    return s->own ? n + (size_t)s->own->budget.used : n;
}

/* The values at the largest point are of use for every answer. */
static bool evaluate_now(as_scale_view *s) {
    const as_dataset *ds = s->study.ds;
    size_t n = as_ds_parameters(ds);
    s->now = malloc((s->predictor.fit.n + 1) * sizeof *s->now);
    s->forecasts = calloc(s->predictor.fit.n + 1, sizeof *s->forecasts);
    s->point = malloc(n * sizeof *s->point);
    s->base = malloc(n * sizeof *s->base);
    as_prediction total;
    if (!s->now || !s->forecasts || !s->point || !s->base || !as_largest_point(ds, &s->largest)) return false;
    as_scale_evaluate(s, as_ds_point(ds, s->largest));
    memcpy(s->now, s->predictor.values, s->predictor.fit.n * sizeof *s->now);
    if (!as_predict_total(&s->predictor, s->metric, s->point, s->base, &total)) return false;
    s->total_now = total.value;
    return true;
}

/* Leaves the models of the fit in the dataset, and puts those of the file aside. */
static assay_status find_models(as_request_cli *made, as_scale_view *s, assay_error *error) {
    assay_status status = ASSAY_OK;
    s->request.confidence = CONFIDENCE;
    as_predict_processes(&made->cli, s->study.ds, &s->request);
    as_models_exchange(s->study.ds, &s->aside);
    if (s->set != ASSAY_NONE)
        status = open_stored(s, error);
    else
        status =
            as_request_cli_status(made, as_predictor_open(&made->cli, &s->study, &s->request, &s->predictor), error);
    if (status == ASSAY_OK && (!evaluate_now(s) || !as_strong_detect(s->study.ds, &s->strong)))
        status = as_fail_memory(error, NULL);
    if (status != ASSAY_OK) as_models_exchange(s->study.ds, &s->aside);
    return status;
}

static assay_status choose_set(const as_request *request, as_scale_view *s, assay_error *error) {
    int64_t set, n = (int64_t)AS_COUNT(s->input->ds, model_sets);
    AS_TRY(as_request_number(request, "set", 0, n ? n - 1 : 0, -1, &set, error));
    s->set = set < 0 ? ASSAY_NONE : (assay_id)set;
    if (set >= 0 && (n == 0 || s->own))
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                       n ? "the models of a file are those of its own values: leave out 'scaling' and 'together'"
                         : "this input holds no models");
    return ASSAY_OK;
}

static assay_status make(as_viewing *viewing, const as_request *request, as_request_cli *made, as_scale_view *s,
                         assay_error *error) {
    AS_TRY(find_inputs(viewing, request, s, error));
    if (!(made->cli.options = method_options(request, s))) return as_fail_memory(error, NULL);
    if (s->inputs.count > 1) {
        AS_TRY(merge_inputs(viewing, s, error));
        if (!map_contexts(s)) return as_fail_memory(error, NULL);
    } else if (as_request_text(request, "scaling")) {
        AS_TRY(read_again(viewing, s, error));
    }
    AS_TRY(choose_set(request, s, error));
    as_dataset *ds = s->own ? s->own : s->input->ds;
    as_models_aside_init(&s->aside, ds);
    AS_TRY(as_request_cli_status(made, as_study_of(&made->cli, ds, s->input->path, &s->study), error));
    keep_one_metric(s);
    return find_models(made, s, error);
}

/* What is kept is named by all that was asked for, and by all formulas: it has an entry for each metric. */
static assay_status key_of(const as_viewing *viewing, const as_request *request, as_vec *key, assay_error *error) {
    char inputs[48]; /* with others open, others belong together */
    snprintf(inputs, sizeof inputs, "scale %zu", as_viewing_inputs(viewing));
    bool fine = as_vec_text(key, inputs) && as_vec_text(key, viewing->asked_words ? viewing->asked_words : "") &&
                as_request_words(request, "d together set O " AS_SCALE_WORDS, key);
    return fine && as_vec_append(key, "", 1) ? ASSAY_OK : as_fail_memory(error, NULL);
}

static assay_status make_new(as_viewing *viewing, const as_view_input *input, const as_request *request,
                             const char *key, as_scale_view **out, assay_error *error) {
    as_scale_view *s = calloc(1, sizeof *s);
    as_request_cli made;
    if (!s) return as_fail_memory(error, NULL);
    as_vec_init(&s->inputs, sizeof(size_t), NULL);
    as_arena_init(&s->texts, NULL);
    assay_status status = as_request_cli_make(request, "predict", AS_SCALE_WORDS, NULL, &made, error);
    s->input = input;
    if (status == ASSAY_OK) status = make(viewing, request, &made, s, error);
    as_request_cli_free(&made);
    if (status != ASSAY_OK) {
        if (s->own && !s->study.ds) as_dataset_free(s->own);
        free_scale(s);
        return status;
    }
    size_t bytes = size_of(s);
    if (!s->own) as_models_exchange(s->study.ds, &s->aside); /* as it is found */
    *out = s;
    return as_viewing_keep(viewing, key, s, bytes, free_scale) ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_scale_open(as_viewing *viewing, const as_request *request, as_scale_view **out, assay_error *error) {
    as_view_input *input;
    as_vec key;
    AS_TRY(
        as_request_input_alone(viewing, request, "d", &input, error)); /* models are put into its dataset, and texts */
    as_vec_init(&key, 1, NULL);
    assay_status status = key_of(viewing, request, &key, error);
    *out = status == ASSAY_OK ? as_viewing_find(viewing, key.data) : NULL;
    if (status == ASSAY_OK && !*out) status = make_new(viewing, input, request, key.data, out, error);
    as_vec_free(&key);
    if (status == ASSAY_OK && !(*out)->own) as_models_exchange((*out)->study.ds, &(*out)->aside);
    return status;
}

void as_scale_close(as_scale_view *s) {
    if (!s->own) as_models_exchange(s->study.ds, &s->aside);
}

/* ---- what requests ask for --------------------------------------------------------------------------------------- */

static assay_status fail_context(assay_error *error, const char *text) {
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'context' cannot be '%.100s'; it takes numbers such as 3,17",
                   text);
}

assay_status as_scale_chosen(const as_scale_view *s, const as_request *request, size_t most, as_vec *out,
                             assay_error *error) {
    const char *text = as_request_text(request, "context");
    const as_dataset *ds = as_scale_ds(s);
    if (!text) return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'context' says which call paths are meant: 3,17");
    as_map models;
    as_map_init(&models, NULL);
    assay_status status = ASSAY_OK;
    for (uint32_t i = 0; i < s->predictor.fit.n && status == ASSAY_OK; i++) {
        if (!as_map_put(&models, as_scale_model(s, i)->context, i)) status = as_fail_memory(error, NULL);
    }
    for (const char *end; status == ASSAY_OK && text && out->count < most; text = *end ? end + 1 : NULL) {
        as_number number;
        end = text + strcspn(text, ",");
        bool is_number = as_number_parse(text, (size_t)(end - text), &number) && number.kind == AS_INT && number.i >= 0;
        assay_id context = is_number ? own_context(s, number.i) : ASSAY_NONE;
        uint32_t model = context < AS_COUNT(ds, contexts) ? as_map_get(&models, context) : AS_MAP_NONE;
        bool is_new = true;
        for (size_t i = 0; i < out->count; i++) is_new &= AS_AT(uint32_t, out, i) != model;
        if (!is_number)
            status = fail_context(error, text);
        else if (model != AS_MAP_NONE && is_new && !as_vec_append(out, &model, 1))
            status = as_fail_memory(error, NULL);
    }
    as_map_free(&models);
    if (status == ASSAY_OK && out->count == 0)
        status = as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "this call path has no measurements of %s",
                         as_ds_text(ds, as_ds_metric(ds, s->metric)->name));
    return status;
}

assay_status as_scale_at(const as_scale_view *s, const as_request *request, double *out, assay_error *error) {
    const as_dataset *ds = as_scale_ds(s);
    const char *text = as_request_text(request, "at");
    size_t n = as_ds_parameters(ds);
    memcpy(out, as_ds_point(ds, s->largest), n * sizeof *out);
    double *processes = &out[s->request.processes];
    if (!text) {
        if (*processes > 0) *processes *= FURTHER;
        return ASSAY_OK;
    }
    as_vec points;
    as_vec_init(&points, sizeof(double), NULL);
    assay_status status = as_points_parse(ds, text, &points, error);
    if (status == ASSAY_OK && points.count != n)
        status = as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'at' takes one point, no range");
    if (status == ASSAY_OK) memcpy(out, points.data, n * sizeof *out);
    as_vec_free(&points);
    return status;
}

assay_status as_scale_parameter(const as_scale_view *s, const char *name, assay_id usual, assay_id *out,
                                assay_error *error) {
    const as_dataset *ds = as_scale_ds(s);
    as_nearest nearest = as_nearest_start(name ? name : "", name ? strlen(name) : 0);
    *out = usual;
    if (!name) return ASSAY_OK;
    for (size_t i = 0; i < as_ds_parameters(ds); i++) {
        *out = (assay_id)i;
        if (strcmp(as_ds_parameter(ds, i), name) == 0) return ASSAY_OK;
        as_nearest_offer(&nearest, as_ds_parameter(ds, i));
    }
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "there is no parameter '%.100s'; how about '%s'?", name,
                   nearest.word ? nearest.word : as_ds_parameter(ds, 0));
}

void as_scale_evaluate(as_scale_view *s, const double *point) {
    size_t bytes = as_ds_parameters(as_scale_ds(s)) * sizeof *point;
    if (s->has_values && memcmp(s->point, point, bytes) == 0) return;
    as_predict_values(&s->predictor, point, s->base);
    memmove(s->point, point, bytes);
    s->has_values = true;
}

assay_status as_scale_log(const as_request *request, int *out, assay_error *error) {
    int64_t log;
    AS_TRY(as_request_number(request, "log", 0, 1, -1, &log, error));
    *out = (int)log;
    return ASSAY_OK;
}

bool as_scale_along(const as_scale_view *s, assay_id parameter, double to, int log, size_t n, as_vec *out,
                    bool *is_log) {
    as_vec values;
    as_vec_init(&values, sizeof(double), NULL);
    bool fine = as_parameter_values(as_scale_ds(s), parameter, &values) && values.count;
    if (fine) {
        const double *v = values.data;
        double first = v[0], last = fmax(v[values.count - 1], to);
        as_axis axis = {.scale = log < 0 ? AS_SCALE_AUTO : log ? AS_SCALE_LOG : AS_SCALE_LINEAR, .tight = true};
        as_axis_fit_parameter(&axis, v, values.count, last);
        *is_log = axis.scale == AS_SCALE_LOG && first > 0;
        for (size_t i = 0; i < n && fine; i++) {
            double part = (double)i / (double)(n - 1);
            double x = *is_log ? first * pow(last / first, part) : first + (last - first) * part;
            if (i + 1 == n) x = last; /* rounding leads nowhere else */
            fine = as_vec_append(out, &x, 1);
        }
    }
    as_vec_free(&values);
    return fine;
}

/* Pre-order of the call tree: that of the numbers of contexts. */
static int compare_contexts(const void *a, const void *b, void *user) {
    const as_scale_view *s = user;
    assay_id x = as_scale_model(s, *(const uint32_t *)a)->context, y = as_scale_model(s, *(const uint32_t *)b)->context;
    return (x > y) - (x < y);
}

const uint32_t *as_scale_ordered(as_scale_view *s, as_scale_order order) {
    static const char *const names[] = {"growth", "error", "name", "file"};
    size_t n = s->predictor.fit.n;
    if (s->orders[order]) return s->orders[order];
    uint32_t *rows = malloc((n + 1) * sizeof *rows);
    as_model_view view = {.study = &s->study, .fit = &s->predictor.fit};
    if (!rows || !as_model_order(&view, names[order], rows, n)) {
        free(rows);
        return NULL;
    }
    if (order == AS_BY_TREE) qsort_r(rows, n, sizeof *rows, compare_contexts, s);
    return s->orders[order] = rows;
}
