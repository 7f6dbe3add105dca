/* Models made here, written to .extra-p. The expected JSON has the members that Extra-P 4.2.5 writes for such models,
 * in its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/scaling/fit.h"
#include "formats/extrap/experiment.h"

#include "experiment_files.h"
#include "helpers.h"

/* 2 * p up to 16, then 1000. */
static const char MEASURED[] = "PARAMETER p\nPOINTS 1 2 4 8 16 32 64 128 256\nREGION main->f\nMETRIC time\n"
                               "DATA 2\nDATA 4\nDATA 8\nDATA 16\nDATA 32\nDATA 1000\nDATA 1000\nDATA 1000\nDATA 1000\n";

static void assert_contains(const char *text, const char *expected) {
    if (!strstr(text, expected)) fail_msg("expected: %s\nin: %s", expected, text);
}

static as_model_set unknown_set(void) {
    return (as_model_set){
        .name = AS_NO_STR, .modeler = AS_NO_STR, .measure = AS_NO_STR, .raw = AS_NO_STR, .options = AS_NO_STR};
}

/* A model of two segments: 2 * p up to left, 1000 from right on. */
static as_dataset *with_segments(double left, double right, bool with_costs) {
    as_dataset *ds = read_text("extrap-text", MEASURED);
    as_model_set set = unknown_set();
    set.name = as_ds_intern_text(ds, "New model");
    set.modeler = as_ds_intern_text(ds, "segmented");
    set.measure = as_ds_intern_text(ds, "mean");
    as_model model = {.set = as_add_model_set(ds, &set),
                      .context = 1,
                      .function = AS_NO_STR,
                      .raw = AS_NO_STR,
                      .RSS = 1,
                      .rRSS = 2,
                      .nRSS = 3,
                      .SMAPE = 4,
                      .AR2 = 0.5,
                      .RE = 6};
    as_segment segments[] = {{.from = -INFINITY, .to = left}, {.constant = 1000, .from = right, .to = INFINITY}};
    as_term term = {
        .coefficient = 2, .exponent = as_ds_intern_text(ds, "1"), .log_exponent = as_ds_intern_text(ds, "0")};
    assert_int_not_equal(as_add_model(ds, &model, segments, 2, &term, 1), ASSAY_NONE);
    as_segment_costs costs[] = {{.segment = 0, .RSS = 0.25, .AR2 = 1}, {.segment = 1, .RSS = 0.75, .AR2 = 1}};
    for (size_t i = 0; with_costs && i < 2; i++) assert_true(as_add_segment_costs(ds, &costs[i]));
    return ds;
}

#define LINEAR                                                                                                         \
    "{\"constant_coefficient\":0.0,\"compound_terms\":[{\"coefficient\":2.0,\"simple_terms\":[{\"term_type\":"         \
    "\"polynomial\",\"exponent\":\"1\"}]}],\"$type\":\"SingleParameterFunction\"}"
#define MEASURE  "\"_use_median\":false,\"_use_measure\":\"MEAN\",\"_costs_are_calculated\":true"
#define CALLPATH "\"callpath\":{\"name\":\"main->f\",\"tags\":{}}"
#define METRIC   "\"metric\":{\"name\":\"time\",\"tags\":{}}"
#define CHANGE(p, value)                                                                                               \
    "{\"coordinate\":[" p "]," METRIC "," CALLPATH ",\"median\":" value ",\"mean\":" value ",\"minimum\":" value       \
    ",\"maximum\":" value ",\"std\":0.0,\"repetitions\":1,\"values\":null}"

static void writes_segments_as_models_of_their_own(void **state) {
    (void)state;
    as_dataset *ds = with_segments(16, 32, true);
    char *json = written_json(ds);
    assert_contains(json,
                    "\"models\":{\"main->f\":{\"time\":{\"hypothesis\":{\"function\":{\"segments\":[" LINEAR
                    ",{\"constant_coefficient\":1000.0,\"compound_terms\":[],\"$type\":\"ConstantFunction\"}],"
                    "\"intervals\":[[\"-inf\",16.0],"
                    "[32.0,\"inf\"]],\"$type\":\"SegmentedFunction\"},\"RSS\":1.0,\"rRSS\":2.0,\"nRSS\":3.0,\"SMAPE\":"
                    "4.0,\"AR2\":0.5,"
                    "\"RE\":6.0," MEASURE ",\"$type\":\"SingleParameterHypothesis\"}," CALLPATH "," METRIC
                    ",\"annotations\":[],\"segment_models\":[{\"hypothesis\":{\"function\":" LINEAR
                    ",\"RSS\":0.25,\"rRSS\":0.0,\"nRSS\":0.0,\"SMAPE\":0.0,\"AR2\":1.0,\"RE\":0.0," MEASURE
                    ",\"$type\":\"SingleParameterHypothesis\"}," CALLPATH "," METRIC ",\"annotations\":[]},"
                    "{\"hypothesis\":{\"function\":{\"constant_coefficient\":1000.0,\"$type\":\"ConstantFunction\"},"
                    "\"RSS\":0.75,\"rRSS\":0.0,"
                    "\"nRSS\":0.0,\"SMAPE\":0.0,\"RE\":0.0," MEASURE ",\"$type\":\"ConstantHypothesis\"}," CALLPATH
                    "," METRIC ",\"annotations\":[]}],\"changing_points\":[" CHANGE("16.0", "32.0") "," CHANGE(
                        "32.0", "1000.0") "],"
                                          "\"$type\":\"SegmentedModel\"}}}");
    free(json);
    as_dataset_free(ds);
}

static void segments_that_meet_change_at_one_point(void **state) {
    (void)state;
    as_dataset *ds = with_segments(16, 16, true);
    char *json = written_json(ds);
    assert_contains(json, "\"changing_points\":[" CHANGE("16.0", "32.0") "],\"$type\":\"SegmentedModel\"}");
    free(json);
    as_dataset_free(ds);
}

/* Extra-P refuses a whole file whose changing points are not among the measurements: such a model is written without
 * them. */
static void segments_between_points_are_a_plain_model(void **state) {
    (void)state;
    as_dataset *ds = with_segments(17, 32, true);
    char *json = written_json(ds);
    assert_contains(json, "\"$type\":\"SingleParameterHypothesis\"},\"annotations\":[]}}}");
    assert_null(strstr(json, "SegmentedModel\""));
    free(json);
    as_dataset_free(ds);
}

static void costs_of_segments_come_back(void **state) {
    (void)state;
    for (int with_costs = 0; with_costs < 2; with_costs++) {
        as_dataset *ds = with_segments(16, 32, with_costs);
        as_dataset *again = write_and_read(ds, 1 << 20);
        const as_segment_costs *first = as_ds_segment_costs(again, 0, 0), *second = as_ds_segment_costs(again, 0, 1);
        assert_non_null(first);
        assert_non_null(second);
        same_real(with_costs ? 0.25 : NAN, first->RSS);
        same_real(with_costs ? 0.75 : NAN, second->RSS);
        same_real(1, second->AR2); /* a constant's */
        assert_null(as_ds_segment_costs(again, 0, 2));
        assert_null(as_ds_segment_costs(again, 1, 0));
        as_dataset_free(again);
        as_dataset_free(ds);
    }
}

/* ---- the options of modelers ------------------------------------------------------------------------------------- */

#define SINGLE(logs)                                                                                                   \
    "\"allow_log_terms\":" logs                                                                                        \
    ",\"use_crossvalidation\":true,\"compare_with_RSS\":false,\"minimum_term_contribution\":0.0005"
#define EXPONENTS(powers)                                                                                              \
    ",\"poly_exponents\":\"" powers "\",\"log_exponents\":\"\",\"retain_default_exponents\":false,"                    \
    "\"force_combination_exponents\":false,\"allow_negative_exponents\":false"

static void options_have_the_names_of_extrap(void **state) {
    (void)state;
    static const struct {
        size_t n_parameters;
        const char *modeler, *given[3], *expected;
    } cases[] = {
        {1, "basic", {NULL}, SINGLE("true") EXPONENTS("")},
        {1, "segmented", {"allow_log_terms=no", "poly_exponents=1,2", NULL}, SINGLE("false") EXPONENTS("1,2")},
        {1, "refining", {NULL}, SINGLE("true")},
        {2,
         "multi-parameter",
         {"single_parameter_point_selection=smallest", "single_parameter_modeler=refining", NULL},
         "\"single_parameter_point_selection\":\"smallest\",\"allow_combinations_of_sums_and_products\":true,"
         "\"compare_with_RSS\":false,\"single_parameter_modeler\":{" SINGLE("true") ",\"$type\":\"RefiningModeler\"}"},
    };
    as_dataset *ds = read_text("extrap-text", MEASURED);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_fit_options options;
        assay_error error;
        if (as_fit_options_parse(cases[i].n_parameters, cases[i].modeler, NULL, cases[i].given, &options, &error) !=
            ASSAY_OK)
            fail_msg("%s", error.message);
        as_str text = as_fit_options_json(ds, &options);
        assert_string_equal(as_ds_text(ds, text), cases[i].expected);
    }
    as_dataset_free(ds);
}

/* What the engine hands over: 2 * p and 1000 fit their sides exactly. */
static void fitted_segments_have_their_costs(void **state) {
    (void)state;
    as_dataset *ds = read_text("extrap-text", MEASURED);
    as_fit_options options;
    as_fit fit;
    assay_error error;
    uint32_t series = 0;
    assert_int_equal(as_fit_options_parse(1, "segmented", NULL, NULL, &options, &error), ASSAY_OK);
    assert_int_equal(as_fit_models(ds, &options, (as_choice){&series, 1}, "New model", NULL, NULL, NULL, &fit, &error),
                     ASSAY_OK);
    assert_int_equal(as_ds_model(ds, 0)->n_segments, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_non_null(as_ds_segment_costs(ds, 0, i));
        assert_true(as_ds_segment_costs(ds, 0, i)->RSS < 1e-18);
        assert_true(fabs(as_ds_segment_costs(ds, 0, i)->AR2 - 1) < 1e-9);
    }
    char *json = written_json(ds);
    assert_contains(json, "\"modeler\":{\"use_median\":false,\"use_measure\":\"MEAN\"," SINGLE("true")
                              EXPONENTS("") ",\"$type\":\"SegmentedModeler\"}");
    assert_contains(json, "\"$type\":\"SegmentedModel\"");
    free(json);
    as_ds_forget_models(ds);
    assert_null(as_ds_segment_costs(ds, 0, 0));
    as_fit_free(&fit);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_segments_as_models_of_their_own),
        cmocka_unit_test(segments_that_meet_change_at_one_point),
        cmocka_unit_test(segments_between_points_are_a_plain_model),
        cmocka_unit_test(costs_of_segments_come_back),
        cmocka_unit_test(options_have_the_names_of_extrap),
        cmocka_unit_test(fitted_segments_have_their_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
