/* Scaling models of whatever was measured: bytes become a small experiment and options of a modeler. Every series gets
 * a model, the same with one thread and with two; errors are not negative; the interval of a prediction holds it; and
 * the hypotheses can be listed. */
#include <stdlib.h>

#include "analysis/scaling/coordinates.h"
#include "analysis/scaling/evaluate.h"
#include "analysis/scaling/fit.h"
#include "analysis/scaling/interval.h"
#include "dataset/experiment.h"
#include "render/extrap_print.h"

enum { MAX_PARAMETERS = 4, MAX_OPTIONS = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* ---- from bytes to an experiment --------------------------------------------------------------------------------- */

typedef struct source {
    const uint8_t *next, *end;
} source;

static uint8_t take(source *s) { return s->next < s->end ? *s->next++ : 0; }

/* Mostly sensible, some odd, now and then any bits at all. */
static double take_coordinate(source *s) {
    static const double odd[] = {0, 1, -1, 0.5, 1e-300, 1e300, 3, 1.0000000001};
    uint8_t byte = take(s);
    return byte < 248 ? (double)((byte % 31) + 1) * (byte < 124 ? 2 : 1) : odd[byte - 248];
}

static double take_value(source *s) {
    static const double odd[] = {0, -0.0, 1, -1, NAN, INFINITY, -INFINITY, 1e308, -1e308, 5e-324, 1e-30, 7};
    uint8_t byte = take(s);
    if (byte < 200) return (double)byte * 0.37 + take(s) * 0.001;
    if (byte < 200 + sizeof odd / sizeof *odd) return odd[byte - 200];
    double value = 0;
    uint8_t raw[sizeof value];
    for (size_t i = 0; i < sizeof raw; i++) raw[i] = take(s);
    memcpy(&value, raw, sizeof value);
    return value;
}

static void add_values(source *s, as_experiment *e, as_cell_key key) {
    uint8_t byte = take(s);
    if (byte % 8 == 7) return; /* not measured here */
    for (unsigned i = 0; i < 1u + byte % 3; i++) {
        if (!as_experiment_value(e, key, (as_number){.kind = AS_REAL, .r = take_value(s)})) abort();
    }
}

static as_dataset *take_dataset(source *s) {
    static const char *const names[MAX_PARAMETERS] = {"p", "n", "q", "size"};
    as_dataset *ds = as_dataset_new(0);
    as_experiment *e = ds ? as_experiment_new(ds) : NULL;
    if (!e) abort();
    size_t n_parameters = 1 + take(s) % MAX_PARAMETERS, n_points = 1 + take(s) % 30, n_series = 1 + take(s) % 4;
    for (size_t i = 0; i < n_parameters; i++) as_add_parameter(ds, as_ds_intern_text(ds, names[i]));
    assay_id points[32], metric = as_experiment_metric(e, "m", 1);
    for (size_t k = 0; k < n_points; k++) {
        double point[MAX_PARAMETERS];
        for (size_t i = 0; i < n_parameters; i++) point[i] = take_coordinate(s);
        points[k] = as_experiment_point(e, point);
    }
    for (size_t c = 0; c < n_series; c++) {
        char path[] = {'f', (char)('0' + c), '\0'};
        assay_id context = as_experiment_callpath(e, path, 2);
        for (size_t k = 0; k < n_points; k++) add_values(s, e, (as_cell_key){metric, context, points[k]});
    }
    if (!as_experiment_finish(e, AS_NOWHERE, NULL)) abort();
    as_experiment_free(e);
    return ds;
}

static void choose_options(uint8_t how, uint8_t which, size_t n_parameters, as_fit_options *options) {
    static const char *const single[] = {"allow_log_terms=no",
                                         "use_crossvalidation=no",
                                         "compare_with_RSS=yes",
                                         "allow_negative_exponents=yes",
                                         "poly_exponents=-2,1/3,7",
                                         "log_exponents=1/2,3",
                                         "minimum_term_contribution=0.4",
                                         "force_combination_exponents=yes"};
    static const char *const several[] = {"allow_combinations_of_sums_and_products=no",
                                          "single_parameter_point_selection=all",
                                          "single_parameter_point_selection=smallest",
                                          "single_parameter_modeler=refining",
                                          "single_parameter_modeler=segmented",
                                          "compat=extrap",
                                          "compare_with_RSS=yes",
                                          "single.allow_log_terms=no"};
    static const char *const modelers[] = {"default", "basic", "refining", "segmented"}, *const measures[] = {
                                                                                             "mean", "median",
                                                                                             "minimum", "maximum"};
    const char *given[MAX_OPTIONS + 1] = {NULL};
    size_t n = 0;
    for (size_t i = 0; i < 8 && n < MAX_OPTIONS; i++) {
        if (which >> i & 1) given[n++] = n_parameters == 1 ? single[i] : several[i];
    }
    const char *modeler = n_parameters == 1 ? modelers[how % 4] : "default", *measure = measures[how / 4 % 4];
    assay_error error;
    if (as_fit_options_parse(n_parameters, modeler, measure, given, options, &error) == ASSAY_OK) return;
    if (!error.message[0] || as_fit_options_parse(n_parameters, modeler, measure, NULL, options, &error) != ASSAY_OK)
        abort();
}

/* ---- what must hold ---------------------------------------------------------------------------------------------- */

static as_fit fit_all(as_dataset *ds, as_fit_options options, unsigned threads) {
    uint32_t *series;
    size_t n;
    as_fit fit;
    assay_error error;
    options.threads = threads;
    if (!as_choice_all(ds, &series, &n) ||
        as_fit_models(ds, &options, (as_choice){series, n}, "set", NULL, NULL, NULL, &fit, &error) != ASSAY_OK)
        abort();
    if (fit.n != n || fit.first_model + n != ds->models.count) abort();
    free(series);
    return fit;
}

static bool is_same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void check_same(const as_dataset *ds, const as_model *a, const as_model *b) {
    if (a->metric != b->metric || a->context != b->context || !is_same(a->RSS, b->RSS) ||
        !is_same(a->SMAPE, b->SMAPE) || !is_same(a->AR2, b->AR2) || !is_same(a->RE, b->RE) ||
        !is_same(a->rRSS, b->rRSS))
        abort();
    as_vec x, y;
    as_vec_init(&x, 1, NULL);
    as_vec_init(&y, 1, NULL);
    if (!as_model_function_text(ds, a, &x) || !as_model_function_text(ds, b, &y) || strcmp(x.data, y.data) != 0)
        abort();
    if (!as_growth_text(ds, a, &x) || !as_model_function_rounded(ds, b, 3, &y)) abort();
    as_vec_free(&x);
    as_vec_free(&y);
}

static void check_model(const as_dataset *ds, const as_model *model, const as_fit_note *note) {
    if (model->SMAPE < 0 || model->RSS < 0 || model->RE < 0) abort();
    if (note->n_points + note->n_missing > ds->n_points) abort();
    as_growth growth = as_model_growth(ds, model);
    if (!as_order_name(growth.order) || as_growth_compare(&growth, &growth) != 0) abort();
    for (assay_id k = 0; k < ds->n_points; k++) as_model_at(ds, model, as_ds_point(ds, k));
}

/* One series does: this takes as long as all the rest. */
static void check_forecast(const as_dataset *ds, const as_fit *fit) {
    static const double far[MAX_PARAMETERS] = {4096, 1e6, 1, 1e9};
    const double *points[] = {as_ds_point(ds, 0), as_ds_point(ds, (assay_id)ds->n_points - 1), far};
    const as_model *model = as_ds_model(ds, fit->first_model);
    as_forecast *forecast = as_forecast_new(ds, &fit->options, fit->notes[0].series, model);
    if (!forecast) abort();
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        double value = as_model_at(ds, model, points[i]);
        as_interval interval = as_forecast_at(forecast, points[i], 0.95);
        if (interval.low > interval.high || interval.low > value || interval.high < value) abort();
    }
    as_forecast_free(forecast);
}

static void print_all(const as_dataset *ds) {
    static const char *const presets[] = {"all", "all-python", "all-latex"};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        as_output *out = as_output_to_memory();
        if (!out || as_extrap_print(out, ds, presets[i], NULL) != ASSAY_OK || !as_output_size(out)) abort();
        as_output_discard(out);
    }
}

static bool count_tried(void *user, const as_tried *tried) {
    if (!tried->function || !tried->verdict || tried->SMAPE < 0) abort();
    ++*(size_t *)user;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    source s = {bytes, bytes + size};
    uint8_t how = take(&s), which = take(&s);
    as_dataset *ds = take_dataset(&s);
    as_fit_options options;
    choose_options(how, which, as_ds_parameters(ds), &options);
    as_fit one = fit_all(ds, options, 1), two = fit_all(ds, options, 2);
    if (one.n != two.n || one.n != ds->series.count) abort();
    for (assay_id i = 0; i < one.n; i++) {
        const as_model *model = as_ds_model(ds, one.first_model + i);
        check_same(ds, model, as_ds_model(ds, two.first_model + i));
        check_model(ds, model, &one.notes[i]);
        size_t n_tried = 0;
        assay_error error;
        if (as_fit_explain(ds, &options, one.notes[i].series, count_tried, &n_tried, &error) != ASSAY_OK) abort();
        if (one.notes[i].n_points && !n_tried) abort();
    }
    if (one.n) check_forecast(ds, &one);
    print_all(ds);
    as_fit_free(&one);
    as_fit_free(&two);
    as_dataset_free(ds);
    return 0;
}
