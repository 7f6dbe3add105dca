/* The public functions about scaling models. */
#include <stdlib.h>

#include "analysis/scaling/coordinates.h"
#include "analysis/scaling/evaluate.h"
#include "analysis/scaling/interval.h"
#include "dataset/build.h"

static const assay_fit_config no_config = {0};

static assay_status parse_options(const as_dataset *ds, const assay_fit_config *config, as_fit_options *options,
                                  assay_error *error) {
    if (!as_ds_parameters(ds))
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-parameters",
                       "the data has no parameters that a model could be a function of");
    for (const char *const *given = config->options; given && *given; given++) {
        if (!as_fit_option_known(*given))
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "no modeler has the option '%s'", *given);
    }
    AS_TRY(
        as_fit_options_parse(as_ds_parameters(ds), config->modeler, config->measure, config->options, options, error));
    options->threads = config->threads;
    return ASSAY_OK;
}

static bool tell_progress(void *user, double fraction) {
    const assay_fit_config *config = user;
    return config->progress(config->user, "fitting", fraction);
}

assay_status assay_fit(assay_dataset *ds, const assay_fit_config *config, assay_id *first, assay_error *error) {
    if (!config) config = &no_config;
    assay_error unwanted;
    if (!error) error = &unwanted;
    as_fit_options options;
    AS_TRY(parse_options(ds, config, &options, error));
    uint32_t *series = NULL;
    size_t n;
    if (!as_choice_all(ds, &series, &n)) return as_fail_memory(error, NULL);
    if (config->replace) as_ds_forget_models(ds);
    as_fit fit = {0};
    assay_status status =
        as_fit_models(ds, &options, (as_choice){series, n}, config->name ? config->name : "assay", NULL,
                      config->progress ? tell_progress : NULL, (void *)(uintptr_t)config, &fit, error);
    if (status == ASSAY_OK && first) *first = fit.first_model;
    as_fit_free(&fit);
    free(series);
    return status;
}

bool assay_model_get(assay_dataset *ds, assay_id id, assay_model *out) {
    if (id >= AS_COUNT(ds, models)) return false;
    const as_model *model = as_ds_model(ds, id);
    const as_model_set *set = as_ds_model_set(ds, model->set);
    as_vec path;
    as_vec_init(&path, 1, NULL);
    bool fine = as_context_path(ds, model->context, &path);
    as_str callpath = fine ? as_ds_intern_text(ds, path.data) : AS_NO_STR;
    as_vec_free(&path);
    as_str function = model->function == AS_NO_STR ? as_model_function(ds, model) : model->function;
    if (callpath == AS_NO_STR || function == AS_NO_STR) return false;
    *out = (assay_model){.set = as_ds_text(ds, set->name),
                         .modeler = as_ds_text(ds, set->modeler),
                         .measure = as_ds_text(ds, set->measure),
                         .metric = as_ds_text(ds, as_ds_metric(ds, model->metric)->name),
                         .callpath = as_ds_text(ds, callpath),
                         .function = as_ds_text(ds, function),
                         .growth = as_order_name(as_model_growth(ds, model).order),
                         .metric_id = model->metric,
                         .context_id = model->context,
                         .RSS = model->RSS,
                         .rRSS = model->rRSS,
                         .SMAPE = model->SMAPE,
                         .AR2 = model->AR2,
                         .RE = model->RE};
    return true;
}

/* ---- predicting -------------------------------------------------------------------------------------------------- */

/* The series a model was fitted to, or UINT32_MAX. Models are mostly in order of series: looks first where it should
 * be. */
static uint32_t find_series(const as_dataset *ds, assay_id id, const as_model *model) {
    size_t n = ds->series.count;
    for (size_t i = 0; i < n; i++) {
        size_t index = (id + i) % n;
        const as_series *series = as_ds_series(ds, index);
        if (series->metric == model->metric && series->context == model->context) return (uint32_t)index;
    }
    return UINT32_MAX;
}

static assay_status check_points(const double *points, size_t n, assay_error *error) {
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(points[i]))
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "not-finite", "a coordinate is not a finite number");
    }
    return ASSAY_OK;
}

assay_status assay_predict(const assay_dataset *ds, assay_id id, const assay_fit_config *config, const double *points,
                           size_t n, assay_prediction *out, assay_error *error) {
    assay_error unwanted;
    if (!error) error = &unwanted;
    if (id >= AS_COUNT(ds, models)) return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "there is no model %u", id);
    size_t n_parameters = as_ds_parameters(ds);
    AS_TRY(check_points(points, n * n_parameters, error));
    as_fit_options options;
    AS_TRY(parse_options(ds, config ? config : &no_config, &options, error));
    const as_model *model = as_ds_model(ds, id);
    uint32_t series = find_series(ds, id, model);
    as_forecast *forecast = NULL;
    if (series != UINT32_MAX && !(forecast = as_forecast_new(ds, &options, series, model)))
        return as_fail_memory(error, NULL);
    for (size_t i = 0; i < n; i++) {
        const double *point = points + i * n_parameters;
        as_interval interval = forecast ? as_forecast_at(forecast, point, 0.95) : (as_interval){NAN, NAN};
        out[i] = (assay_prediction){.value = as_model_at(ds, model, point),
                                    .low = interval.low,
                                    .high = interval.high,
                                    .extrapolation = as_extrapolation(ds, point, NULL)};
    }
    as_forecast_free(forecast);
    return ASSAY_OK;
}
