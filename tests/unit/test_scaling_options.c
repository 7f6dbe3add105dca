/* The options of the modelers as they are given on the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analysis/scaling/fit.h"

#define GIVEN(...) ((const char *const[]){__VA_ARGS__, NULL})

static as_fit_options parse(size_t n_parameters, const char *modeler, const char *const *given) {
    as_fit_options options;
    assay_error error;
    if (as_fit_options_parse(n_parameters, modeler, NULL, given, &options, &error) != ASSAY_OK)
        fail_msg("%s", error.message);
    return options;
}

/* Refused as wrong usage with a message that holds this. */
static void refused(size_t n_parameters, const char *modeler, const char *measure, const char *const *given,
                    const char *expected) {
    as_fit_options options;
    assay_error error = {0};
    assert_int_equal(as_fit_options_parse(n_parameters, modeler, measure, given, &options, &error), ASSAY_E_USAGE);
    if (!strstr(error.message, expected)) fail_msg("expected '%s' in: %s", expected, error.message);
}

static void defaults_are_those_of_extrap(void **state) {
    (void)state;
    as_fit_options one = parse(1, NULL, NULL), several = parse(3, "default", NULL);
    assert_int_equal(one.modeler, AS_MODELER_BASIC);
    assert_int_equal(one.measure, AS_MEAN);
    assert_true(one.single.allow_log_terms && one.single.use_crossvalidation);
    assert_false(one.single.compare_with_RSS || one.single.retain_default_exponents);
    assert_false(one.single.force_combination_exponents || one.single.allow_negative_exponents);
    assert_float_equal(one.single.minimum_term_contribution, 0.0005, 0);
    assert_string_equal(one.single.poly_exponents, "");
    assert_string_equal(one.single.log_exponents, "");
    assert_int_equal(several.modeler, AS_MODELER_MULTI);
    assert_int_equal(several.single_modeler, AS_MODELER_BASIC);
    assert_int_equal(several.point_selection, AS_SELECT_AUTO);
    assert_true(several.allow_combinations);
    assert_false(several.compare_with_RSS || several.compat_extrap);
    assert_true(several.single.use_crossvalidation);
}

static void values_are_taken(void **state) {
    (void)state;
    as_fit_options o = parse(1, "segmented",
                             GIVEN("allow_log_terms=off", "compare_with_RSS=TRUE", "poly_exponents=1, 2",
                                   "minimum_term_contribution=0.1", "compat=extrap"));
    assert_int_equal(o.modeler, AS_MODELER_SEGMENTED);
    assert_false(o.single.allow_log_terms);
    assert_true(o.single.compare_with_RSS && o.compat_extrap);
    assert_string_equal(o.single.poly_exponents, "1, 2");
    assert_float_equal(o.single.minimum_term_contribution, 0.1, 0);
    o = parse(2, NULL,
              GIVEN("single_parameter_modeler=refining", "single.use_crossvalidation=0", "compare_with_RSS=1",
                    "single_parameter_point_selection=smallest", "allow_combinations_of_sums_and_products=no"));
    assert_int_equal(o.single_modeler, AS_MODELER_REFINING);
    assert_false(o.single.use_crossvalidation || o.allow_combinations || o.single.compare_with_RSS);
    assert_true(o.compare_with_RSS);
    assert_int_equal(o.point_selection, AS_SELECT_SMALLEST);
    o = parse(1, NULL, GIVEN("allow_log_terms=no", "allow_log_terms=yes")); /* the last one counts */
    assert_true(o.single.allow_log_terms);
}

static void names_must_fit(void **state) {
    (void)state;
    refused(1, "basik", NULL, NULL, "did you mean 'basic'?");
    refused(1, "neural", NULL, NULL, "default, basic, refining");
    refused(1, "multi-parameter", NULL, NULL, "needs several parameters");
    refused(2, "segmented", NULL, NULL, "there are 2; use multi-parameter");
    refused(1, NULL, "medain", NULL, "did you mean 'median'?");
    refused(1, NULL, "std", NULL, "mean, median, minimum and maximum");
}

static void keys_must_belong_to_the_modeler(void **state) {
    (void)state;
    refused(1, NULL, NULL, GIVEN("allow_log_term=no"), "did you mean 'allow_log_terms'?");
    refused(1, "refining", NULL, GIVEN("poly_exponents=1"), "the refining modeler has no option 'poly_exponents'");
    refused(1, NULL, NULL, GIVEN("single.allow_log_terms=no"), "write -O allow_log_terms=");
    refused(1, NULL, NULL, GIVEN("single_parameter_modeler=basic"), "is for several parameters");
    refused(2, NULL, NULL, GIVEN("allow_log_terms=no"), "write -O single.allow_log_terms=");
    refused(2, NULL, NULL, GIVEN("single.alow_log_terms=no"), "did you mean 'single.allow_log_terms'?");
    refused(2, NULL, NULL, GIVEN("single_parameter_modeler=refining", "single.poly_exponents=1"),
            "the refining modeler has no option 'single.poly_exponents'");
}

static void values_must_fit(void **state) {
    (void)state;
    refused(1, NULL, NULL, GIVEN("allow_log_terms=perhaps"), "takes yes or no");
    refused(1, NULL, NULL, GIVEN("allow_log_terms"), "needs a value");
    refused(1, NULL, NULL, GIVEN("compat=yes"), "no|extrap");
    static const char *const contributions[] = {"-1", "nan", "inf", "a"};
    for (size_t i = 0; i < sizeof contributions / sizeof *contributions; i++) {
        char text[64];
        snprintf(text, sizeof text, "minimum_term_contribution=%s", contributions[i]);
        refused(1, NULL, NULL, GIVEN(text), "minimum_term_contribution cannot be");
    }
    refused(1, NULL, NULL, GIVEN("poly_exponents=a,b"), "comma list of numbers");
    refused(2, NULL, NULL, GIVEN("single.log_exponents=,"), "single.log_exponents cannot be ','");
    refused(2, NULL, NULL, GIVEN("single_parameter_modeler=multi-parameter"), "basic|refining|segmented");
    refused(1, NULL, NULL, GIVEN("poly_exponents=2, x"), "poly_exponents cannot have 'x'");
    assert_string_equal(parse(1, NULL, GIVEN("poly_exponents=,2")).single.poly_exponents, ",2");
}

static void known_keys(void **state) {
    (void)state;
    assert_true(as_fit_option_known("allow_log_terms=no"));
    assert_true(as_fit_option_known("compat"));
    assert_true(as_fit_option_known("single.anything=1"));
    assert_false(as_fit_option_known("allow_log_term=no"));
    assert_false(as_fit_option_known("scaling=weak"));
    assert_false(as_fit_option_known(""));
}

static void statistics(void **state) {
    (void)state;
    as_measurement m = {.mean = 1, .median = 2, .minimum = 3, .maximum = 4};
    for (int i = 0; i < 4; i++) assert_float_equal(as_statistic_of((as_statistic)i, &m), i + 1, 0);
    assert_string_equal(as_statistic_name(AS_MAXIMUM), "maximum");
    assert_string_equal(as_modeler_name(AS_MODELER_MULTI), "multi-parameter");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_extrap),
        cmocka_unit_test(values_are_taken),
        cmocka_unit_test(names_must_fit),
        cmocka_unit_test(keys_must_belong_to_the_modeler),
        cmocka_unit_test(values_must_fit),
        cmocka_unit_test(known_keys),
        cmocka_unit_test(statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
