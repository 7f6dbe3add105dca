/* Perun's checks: every expected number is reckoned by hand, or stands in the manual of Python's difflib. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/checks/checks_private.h"
#include "helpers.h"

#define HEADER                                                                                                         \
    "{\"header\": {\"type\": \"mixed\", \"units\": {\"mixed(time delta)\": \"us\"}, \"cmd\": \"c\"}, "                 \
    "\"collector_info\": {\"name\": \"x\", \"params\": {}}, "

static void assert_near(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-12 * fmax(1, fabs(expected))))
        fail_msg("expected %.17g, got %.17g", expected, got);
}

/* Two profiles and the report about them. */
typedef struct comparison {
    as_dataset *base, *target;
    as_check_report report;
} comparison;

static comparison compare_with(const char *base, const char *target, as_check_request request) {
    comparison c = {.base = read_text("perun", base), .target = read_text("perun", target)};
    assay_error error;
    assert_int_equal(as_checks_run(c.base, c.target, &request, &c.report, &error), ASSAY_OK);
    return c;
}

static comparison compare_by(as_check check, bool is_compatible, const char *base, const char *target) {
    return compare_with(base, target, (as_check_request){.checks = 1u << check, .is_compatible = is_compatible});
}

static void end(comparison *c) {
    as_check_report_free(&c->report);
    as_dataset_free(c->base);
    as_dataset_free(c->target);
}

static const as_check_change *change_of(const comparison *c, const char *location) {
    for (size_t i = 0; i < c->report.changes.count; i++) {
        const as_check_change *change = &AS_AT(as_check_change, &c->report.changes, i);
        if (strcmp(change->location, location) == 0) return change;
    }
    fail_msg("nothing about %s", location);
    return NULL;
}

static void assert_change(const comparison *c, const char *location, as_result result, double rate) {
    const as_check_change *change = change_of(c, location);
    if (change->result != result)
        fail_msg("%s: expected %s, got %s", location, as_result_name(result), as_result_name(change->result));
    if (isnan(rate))
        assert_true(isnan(change->rate));
    else
        assert_near(change->rate, rate);
}

static const char *skipped_reason(const comparison *c, as_check check) {
    for (size_t i = 0; i < c->report.skipped.count; i++) {
        const as_check_skipped *skipped = &AS_AT(as_check_skipped, &c->report.skipped, i);
        if (skipped->check == check) return skipped->reason;
    }
    return NULL;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void names_are_found(void **state) {
    (void)state;
    as_check check;
    for (int i = 0; i < AS_N_CHECKS; i++) {
        assert_true(as_check_find(as_check_name((as_check)i), &check) && (int)check == i);
        assert_true(as_check_find(as_check_short_name((as_check)i), &check) && (int)check == i);
    }
    assert_false(as_check_find("all", &check));
    assert_string_equal(as_result_name(AS_UNKNOWN), "Unknown");
    assert_string_equal(as_result_name(AS_NO_CHANGE), "NoChange");
    assert_string_equal(as_result_name(AS_NOT_IN_TARGET), "NotInTarget");
    assert_string_equal(as_result_name(AS_SEVERE_OPTIMIZATION), "SevereOptimization");
    assert_true(as_result_is_degradation(AS_TOTAL_DEGRADATION) && as_result_is_degradation(AS_DEGRADATION));
    assert_false(as_result_is_degradation(AS_MAYBE_DEGRADATION) || as_result_is_degradation(AS_NOT_IN_BASELINE));
}

static void numbers_are_rounded_as_python_does(void **state) {
    (void)state;
    assert_true(as_round_decimals(0.125, 2) == 0.12); /* half to even */
    assert_true(as_round_decimals(0.375, 2) == 0.38);
    assert_true(as_round_decimals(2.675, 2) == 2.67); /* which is a little less than it says */
    assert_true(as_round_decimals(-1.005, 1) == -1.0);
    assert_true(as_round_decimals(1e300, 2) == 1e300);
    assert_true(isnan(as_round_decimals(NAN, 2)));
}

/* ---- amounts ----------------------------------------------------------------------------------------------------- */

#define AMOUNTS(rows) HEADER "\"resources\": [" rows "]}"

static void means_are_compared(void **state) {
    (void)state;
    static const char base[] = AMOUNTS("{\"uid\": \"f\", \"amount\": 10}, {\"uid\": \"f\", \"amount\": 20},"
                                       "{\"uid\": \"g\", \"amount\": 4}, {\"uid\": \"h\", \"amount\": 5},"
                                       "{\"uid\": \"zero\", \"amount\": 0}, {\"uid\": \"old\", \"amount\": 1}"),
                      target[] = AMOUNTS("{\"uid\": \"f\", \"amount\": 30}, {\"uid\": \"f\", \"amount\": 30},"
                                         "{\"uid\": \"g\", \"amount\": 2}, {\"uid\": \"h\", \"amount\": 6},"
                                         "{\"uid\": \"zero\", \"amount\": 3}, {\"uid\": \"new\", \"amount\": 1}");
    for (int is_compatible = 0; is_compatible < 2; is_compatible++) {
        comparison c = compare_by(AS_CHECK_AMOUNT, is_compatible, base, target);
        assert_int_equal(c.report.changes.count, 4);
        assert_change(&c, "f", AS_DEGRADATION, 2.0);
        assert_change(&c, "g", AS_OPTIMIZATION, 0.5);
        assert_change(&c, "h", AS_NO_CHANGE, 1.2);
        assert_change(&c, "zero", AS_DEGRADATION, 3 / 1e-6);
        assert_string_equal(change_of(&c, "f")->from, "15.0us");
        assert_string_equal(change_of(&c, "f")->to, "30.0us");
        assert_string_equal(change_of(&c, "f")->type, "mixed");
        assert_string_equal(change_of(&c, "f")->confidence_type, "no");
        end(&c);
    }
}

static void what_is_no_number_is_left_out_of_means(void **state) {
    (void)state;
    static const char base[] = AMOUNTS("{\"uid\": \"f\", \"amount\": 10}, {\"uid\": \"f\", \"amount\": \"12ms\"}"),
                      target[] = AMOUNTS("{\"uid\": \"f\", \"amount\": 10}, {\"uid\": \"f\"}");
    comparison c = compare_by(AS_CHECK_AMOUNT, false, base, target);
    assert_change(&c, "f", AS_NO_CHANGE, 1);
    end(&c);
    c = compare_by(AS_CHECK_AMOUNT, true, base, target);
    assert_int_equal(c.report.changes.count, 0);
    assert_non_null(skipped_reason(&c, AS_CHECK_AMOUNT));
    end(&c);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

#define MODEL(uid, kind, r_square, from, to, coefficients)                                                             \
    "{\"uid\": \"" uid "\", \"model\": \"" kind "\", \"method\": \"full\", \"r_square\": " #r_square                   \
    ", \"x_start\": " #from ", \"x_end\": " #to ", \"coeffs\": [" coefficients "]}"
#define TWO(b0, b1)    "{\"name\": \"b0\", \"value\": " #b0 "}, {\"name\": \"b1\", \"value\": " #b1 "}"
#define MODELS(models) HEADER "\"resources\": [{\"uid\": \"f\", \"amount\": 1}], \"models\": [" models "]}"

static void checks_without_their_columns_are_skipped(void **state) {
    (void)state;
    static const char profile[] = AMOUNTS("{\"uid\": \"f\", \"amount\": 10}");
    comparison c = compare_with(profile, profile, (as_check_request){.checks = (1u << AS_N_CHECKS) - 1});
    assert_int_equal(c.report.changes.count, 1); /* the amount */
    assert_int_equal(c.report.skipped.count, AS_N_CHECKS - 1);
    for (int i = 1; i < AS_N_CHECKS; i++) assert_non_null(skipped_reason(&c, (as_check)i));
    end(&c);
}

static void orders_of_growth_are_compared(void **state) {
    (void)state;
    static const char base[] = MODELS(
        MODEL("f", "linear", 0.95, 1, 10, TWO(1, 1)) ", " MODEL("f", "constant", 0.5, 1, 10, TWO(5, 0)) ", " MODEL(
            "weak", "linear", 0.85, 1, 10, TWO(1, 1)) ", " MODEL("better", "exponential", 0.99, 1, 10, TWO(1, 2))),
                      target[] = MODELS(MODEL("f", "power", 0.93, 1, 10, TWO(1, 1)) ", " MODEL(
                          "weak", "power", 0.95, 1, 10, TWO(1, 1)) ", " MODEL("better", "constant", 0.97, 1, 10,
                                                                              TWO(1, 0)));
    comparison c = compare_by(AS_CHECK_ORDER, false, base, target);
    assert_change(&c, "f", AS_DEGRADATION, 2); /* linear, quadratic, power */
    assert_change(&c, "weak", AS_NO_CHANGE, 0);
    assert_change(&c, "better", AS_OPTIMIZATION, -5);
    assert_near(change_of(&c, "f")->confidence, 0.93);
    assert_string_equal(change_of(&c, "f")->from, "linear");
    assert_string_equal(change_of(&c, "f")->to, "power");
    end(&c);
}

static void areas_are_compared(void **state) {
    (void)state;
    static const struct {
        const char *base, *target;
        as_result result, as_perun;
        double rate, rate_as_perun;
    } cases[] = {
        /* a power, times 1.2 */
        {MODELS(MODEL("f", "power", 0.95, 1, 10, TWO(1, 2))), MODELS(MODEL("f", "power", 0.95, 1, 10, TWO(1.2, 2))),
         AS_MAYBE_DEGRADATION, AS_MAYBE_DEGRADATION, 0.2, 0.2},
        /* from 1 to e the integral of ln x is 1: e - 1 + 2, e - 1 + 3. Perun: e - 1 + (e^2 - 1) (2, 3) / 2 */
        {MODELS(MODEL("f", "logarithmic", 0.95, 1, 2.718281828459045, TWO(1, 2))),
         MODELS(MODEL("f", "logarithmic", 0.95, 1, 2.718281828459045, TWO(1, 3))), AS_DEGRADATION, AS_DEGRADATION,
         1 / (M_E + 1), 0.39},
        /* the same line, measured further: nothing changed. Perun: 60 and 220 */
        {MODELS(MODEL("f", "linear", 0.95, 0, 10, TWO(1, 1))), MODELS(MODEL("f", "linear", 0.95, 0, 20, TWO(1, 1))),
         AS_NO_CHANGE, AS_DEGRADATION, 0, 2.67},
        /* 1, 2, 4, 8: (8 - 1) / ln 2 against 3 */
        {MODELS(MODEL("f", "constant", 0.95, 0, 3, TWO(1, 0))),
         MODELS(MODEL("f", "exponential", 0.95, 0, 3, TWO(1, 2))), AS_DEGRADATION, AS_DEGRADATION, 7 / M_LN2 / 3 - 1,
         2.37},
        /* below 0 a smaller area is a larger number */
        {MODELS(MODEL("f", "constant", 0.95, 0, 3, TWO(-4, 0))), MODELS(MODEL("f", "constant", 0.95, 0, 3, TWO(-2, 0))),
         AS_DEGRADATION, AS_OPTIMIZATION, 0.5, -0.5},
        /* a range of one point: its values */
        {MODELS(MODEL("f", "linear", 0.95, 2, 5, TWO(1, 1))), MODELS(MODEL("f", "linear", 0.95, 0, 2, TWO(3, 3))),
         AS_DEGRADATION, AS_MAYBE_OPTIMIZATION, 2, -0.11},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        comparison c = compare_by(AS_CHECK_INTEGRAL, false, cases[i].base, cases[i].target);
        assert_change(&c, "f", cases[i].result, cases[i].rate);
        assert_near(change_of(&c, "f")->confidence, 0.95);
        assert_string_equal(change_of(&c, "f")->strategy, "best-model");
        end(&c);
        c = compare_by(AS_CHECK_INTEGRAL, true, cases[i].base, cases[i].target);
        assert_change(&c, "f", cases[i].as_perun, cases[i].rate_as_perun);
        end(&c);
    }
}

static void models_without_a_common_range_are_unknown(void **state) {
    (void)state;
    static const as_check checks[] = {AS_CHECK_INTEGRAL, AS_CHECK_LOCAL, AS_CHECK_POLYNOMIAL, AS_CHECK_FAST};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        comparison c = compare_by(checks[i], false, MODELS(MODEL("f", "linear", 0.95, 0, 10, TWO(1, 1))),
                                  MODELS(MODEL("f", "linear", 0.95, 11, 20, TWO(1, 2))));
        assert_change(&c, "f", AS_UNKNOWN, NAN);
        end(&c);
    }
}

static void models_that_hardly_fit_are_left_out(void **state) {
    (void)state;
    comparison c = compare_by(AS_CHECK_INTEGRAL, false, MODELS(MODEL("f", "linear", 0.14, 0, 10, TWO(1, 1))),
                              MODELS(MODEL("f", "linear", 0.95, 0, 10, TWO(1, 2))));
    assert_int_equal(c.report.changes.count, 0);
    end(&c);
}

static void strategies_pair_their_models(void **state) {
    (void)state;
    static const char
        base[] = MODELS(MODEL("f", "linear", 0.95, 0, 10, TWO(1, 1)) ", " MODEL(
            "f", "constant", 0.5, 0, 10,
            TWO(6,
                0)) ", "
                    "{\"uid\": \"f\", \"model\": \"regressogram\", \"r_square\": 0.97, \"x_start\": 0, \"x_end\": 10, "
                    "\"bucket_stats\": [1, 3], \"y_start\": 1}"),
        target[] = MODELS(MODEL("f", "linear", 0.95, 0, 10, TWO(2, 2)) ", " MODEL(
            "f", "constant", 0.5, 0, 10,
            TWO(6,
                0)) ", "
                    "{\"uid\": \"f\", \"model\": \"regressogram\", \"r_square\": 0.97, \"x_start\": 0, \"x_end\": 10, "
                    "\"bucket_stats\": [1, 4], \"y_start\": 1}");
    comparison c = compare_with(
        base, target,
        (as_check_request){.checks = 1u << AS_CHECK_INTEGRAL, .strategies = 1u << AS_ALL_MODELS | 1u << AS_BEST_MODEL});
    assert_int_equal(c.report.changes.count, 4);
    const as_check_change *changes = c.report.changes.data;
    assert_string_equal(changes[0].strategy, "best-model");
    assert_string_equal(changes[0].from, "regressogram"); /* steps of 5: 5 + 15 and 5 + 20 */
    assert_near(changes[0].rate, 0.25);
    assert_string_equal(changes[1].from, "constant");
    assert_near(changes[1].rate, 0);
    assert_string_equal(changes[2].from, "linear"); /* 60 and 120 */
    assert_near(changes[2].rate, 1);
    assert_string_equal(changes[3].from, "regressogram");
    assert_string_equal(changes[3].strategy, "all-models");
    end(&c);
}

static void curves_are_compared_at_points(void **state) {
    (void)state;
    static const char base[] =
        MODELS(MODEL("f", "linear", 0.95, 0, 10, TWO(1, 1)) ", " MODEL("same", "linear", 0.95, 0, 10, TWO(100, 1))),
                      target[] = MODELS(MODEL("f", "linear", 0.9, 0, 10, TWO(1, 2)) ", " MODEL("same", "linear", 0.9, 0,
                                                                                               10, TWO(104, 1.04)));
    comparison c = compare_by(AS_CHECK_POLYNOMIAL, false, base, target);
    assert_change(&c, "f", AS_DEGRADATION, 5.0 / 6); /* means of 1 + x and 1 + 2 x: 6 and 11 */
    assert_near(change_of(&c, "f")->confidence, 0.9);
    assert_change(&c, "same", AS_NO_CHANGE, 4.2 / 105); /* but b0 and b1 within 5 % */
    end(&c);
    c = compare_by(AS_CHECK_FAST, false, base, target);
    assert_string_equal(change_of(&c, "f")->type, "LINEAR");
    end(&c);
    c = compare_by(AS_CHECK_LINEAR, false, base, target);
    assert_string_equal(change_of(&c, "f")->type, "linear"); /* the difference is x */
    end(&c);
    /* Perun: the mean of x / (1 + x), in percent: 1 - ln 11 / 10, and the sum at 1000 points adds half of what the last
     * has */
    c = compare_by(AS_CHECK_POLYNOMIAL, true, base, target);
    assert_int_equal(change_of(&c, "f")->result, AS_DEGRADATION);
    assert_true(fabs(change_of(&c, "f")->rate - 100 * (1 - log(11) / 10)) < 0.05);
    end(&c);
}

static void polynomials_say_how_a_difference_grows(void **state) {
    (void)state;
    double x[AS_CHECK_SAMPLES], error[AS_CHECK_SAMPLES];
    static const char *const words[] = {"constant", "linear", "quadratic ", "unknown"};
    as_checking checking = {.is_compatible = false};
    for (int degree = 0; degree < 4; degree++) {
        /* such that each power is a matter of more than 1e8 */
        for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) {
            x[i] = 1e6 + (double)i;
            error[i] = 1e5 * (degree > 0 ? pow((double)i / 100, degree) : 1);
        }
        assert_string_equal(as_growth_by_polynomials(&checking, x, error), words[degree]);
    }
}

static void windows_are_compared(void **state) {
    (void)state;
    static const char base[] = MODELS(MODEL("f", "constant", 0.95, 0, 10, TWO(10, 0))),
                      target[] = MODELS(MODEL("f", "constant", 0.95, 0, 10, TWO(13, 0)));
    comparison c = compare_by(AS_CHECK_LOCAL, false, base, target);
    assert_change(&c, "f", AS_DEGRADATION, 0.3);
    const as_check_change *change = change_of(&c, "f");
    assert_int_equal(change->n_intervals, 20);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(change->intervals[i].result, AS_DEGRADATION);
        assert_near(change->intervals[i].relative, 0.3);
    }
    assert_near(change->intervals[0].from, 0);
    assert_near(change->intervals[19].to, 10);
    assert_near(change->intervals[1].from, 10 * 50.0 / 999);
    end(&c);
    c = compare_by(AS_CHECK_LOCAL, true, base, target); /* x and y change places: the ranges are the same */
    assert_change(&c, "f", AS_NO_CHANGE, 0);
    assert_near(change_of(&c, "f")->intervals[0].from, 10);
    end(&c);
}

static void few_values_are_one_window(void **state) {
    (void)state;
#define VALUES(values)                                                                                                 \
    MODELS("{\"uid\": \"f\", \"model\": \"moving_average\", \"r_square\": 0.9, \"x_start\": 0, \"x_end\": 4, "         \
           "\"bucket_stats\": " values ", \"window_width\": 1, \"moving_method\": \"sma\"}")
    comparison c = compare_by(AS_CHECK_LOCAL, true, VALUES("[1, 2, 3, 4, 10]"), VALUES("[1, 2, 3, 4, 20]"));
    /* Integral: (1 + 4*2 + 2*3 + 4*4 + 10) / 3 = 41/3 and 51/3; mean and sum 20 and 30; maximum 10 and 20; median,
     * minimum, both quartiles as before */
    assert_change(&c, "f", AS_DEGRADATION, 0.28);
    const as_check_change *change = change_of(&c, "f");
    assert_int_equal(change->n_intervals, 1);
    assert_near(change->intervals[0].relative, (10.0 / 41 + 0.5 + 0.5 + 1) / 8);
    assert_int_equal(change->intervals[0].result, AS_MAYBE_DEGRADATION); /* 0.5 + 1 + 1 + 1 of 8 */
    assert_true(change->intervals[0].from == 0 && change->intervals[0].to == 4);
    end(&c);
}

static void simpson_takes_the_mean_of_both_ways(void **state) {
    (void)state;
    static const double x[] = {0, 1, 2, 3}, y[] = {0, 1, 4, 9};
    assert_near(as_simpson(y, x, 3), 8.0 / 3);
    assert_near(as_simpson(y, x, 4), 8.0 / 3 + 6.5); /* and the other way 0.5 + 26 / 3, which is the same */
    assert_near(as_simpson(y, x, 2), 0.5);
    assert_near(as_simpson(y, x, 1), 0);
    static const double uneven[] = {0, 1, 3}, of_uneven[] = {0, 1, 9};
    assert_near(as_simpson(of_uneven, uneven, 3), 9);
}

/* ---- exclusive times --------------------------------------------------------------------------------------------- */

#define TIME(uid, place, ms)                                                                                           \
    "{\"uid\": \"" uid "\", \"location\": \"" place "\", \"amount\": 1, \"exclusive\": " #ms "000000}"

static void outliers_are_found(void **state) {
    (void)state;
    /* changes -2, -1, 0, 1, 2 and 90: median 0.5, distances 2.5 1.5 0.5 0.5 1.5 89.5, their median 1.5; quartiles -0.75
     * and 1.75 */
    static const char base[] =
        AMOUNTS(TIME("a", "lib-1.2.so", 10) ", " TIME("b", "lib-1.2.so", 10) ", " TIME("c", "lib-1.2.so", 10) ", " TIME(
            "d", "lib-1.2.so", 10) ", " TIME("e", "lib-1.2.so", 10) ", " TIME("f", "lib-1.2.so", 10)),
                      target[] = AMOUNTS(TIME("a", "lib-1.3.so", 8) ", " TIME("b", "lib-1.3.so", 9) ", " TIME(
                          "c", "lib-1.3.so", 10) ", " TIME("d", "lib-1.3.so",
                                                           11) ", " TIME("e", "lib-1.3.so",
                                                                         12) ", " TIME("f", "lib-1.3.so", 100));
    comparison c = compare_by(AS_CHECK_OUTLIERS, false, base, target);
    assert_int_equal(c.report.changes.count, 7);
    assert_change(&c, "f", AS_SEVERE_DEGRADATION, 90);
    assert_change(&c, "a", AS_NO_CHANGE, -2);
    assert_change(&c, "lib-1.", AS_TOTAL_DEGRADATION, 90);
    const as_check_change *f = change_of(&c, "f"), *a = change_of(&c, "a"), *all = change_of(&c, "lib-1.");
    assert_string_equal(f->confidence_type, "IQR_multiple");
    assert_near(f->confidence, 35.3); /* (90 - 1.75) / 2.5 */
    assert_near(f->rate_relative, 60);
    assert_string_equal(a->confidence_type, "StdDev_multiple");
    assert_near(a->confidence, as_round_decimals(-2 / sqrt(2.5), 2));
    assert_string_equal(all->from, "60.0");
    assert_string_equal(all->to, "150.0");
    end(&c);
    c = compare_by(AS_CHECK_OUTLIERS, true, base, target);
    assert_near(change_of(&c, "f")->confidence, 34.25); /* 90 / 2.5 - 1.75 */
    end(&c);
}

static void what_is_new_and_gone_is_said(void **state) {
    (void)state;
    static const char base[] = AMOUNTS(TIME("a", "app", 10) ", " TIME("gone", "app", 5)),
                      target[] = AMOUNTS(TIME("a", "app", 10) ", " TIME("fresh", "app", 7));
    comparison c = compare_by(AS_CHECK_OUTLIERS, false, base, target);
    assert_change(&c, "gone", AS_NOT_IN_TARGET, -5);
    assert_change(&c, "fresh", AS_NOT_IN_BASELINE, 7);
    assert_change(&c, "app", AS_TOTAL_DEGRADATION, 2);
    end(&c);
    c = compare_by(AS_CHECK_OUTLIERS, true, base, target);
    assert_int_equal(c.report.changes.count, 3); /* gone is not there */
    assert_change(&c, "app", AS_TOTAL_DEGRADATION, 7);
    end(&c);
    c = compare_by(AS_CHECK_OUTLIERS, false, base, base);
    assert_change(&c, "app", AS_NO_CHANGE, 0);
    end(&c);
}

/* ---- names that are alike ---------------------------------------------------------------------------------------- */

static double likeness(const char *text, const char *word) {
    uint64_t work = 1000000;
    double out;
    assert_true(as_likeness(text, word, &work, &out));
    return out;
}

static void likeness_is_that_of_difflib(void **state) {
    (void)state;
    assert_near(likeness("abcd", "bcde"), 0.75); /* as in its manual */
    assert_near(likeness("tide", "diet"), 0.25);
    assert_near(likeness("diet", "tide"), 0.5);
    assert_near(likeness("same", "same"), 1);
    assert_near(likeness("abc", "xyz"), 0);
    assert_near(likeness("\xc3\xa4\xc3\xb6", "\xc3\xa4\xc3\xbc"), 0.5); /* letters, not bytes */
    assert_near(likeness("a", "abcdefghij"), 0);                        /* 2 / 11: never enough */
}

static void frequent_letters_tell_nothing(void **state) {
    (void)state;
    char text[302], word[302];
    memset(text, 'a', 301);
    memset(word, 'a', 301);
    text[301] = word[301] = '\0';
    text[0] = 'x'; /* so that the beginnings differ: what follows is of letters that are left out of the search */
    word[0] = 'y';
    assert_near(likeness(text, word), 0);
    word[0] = 'x'; /* and now it goes on from there */
    text[300] = 'z';
    assert_near(likeness(text, word), 2 * 300.0 / 602);
}

static void likeness_ends_when_work_does(void **state) {
    (void)state;
    enum { LENGTH = 190 }; /* below 200 all letters count */
    char *text = malloc(LENGTH + 1), *word = malloc(LENGTH + 1);
    assert_true(text && word);
    for (size_t i = 0; i < LENGTH; i++) {
        text[i] = (char)('a' + i % 23);
        word[i] = (char)('a' + i % 19);
    }
    text[LENGTH] = word[LENGTH] = '\0';
    uint64_t work = 100;
    double out = 1;
    assert_true(as_likeness(text, word, &work, &out));
    assert_true(out == 0 && work == 0);
    free(text);
    free(word);
}

static void locations_are_renamed(void **state) {
    (void)state;
    as_arena arena;
    as_arena_init(&arena, NULL);
    static const char *const base[] = {"app", "libfoo-1.2.so", "other"}, *const target[] = {"libfoo-1.3.so", "app",
                                                                                            "42"};
    static const char *const *const names[2] = {base, target};
    static const size_t n[2] = {3, 3};
    const char *of_base[3] = {NULL}, *of_target[3] = {NULL};
    const char **const renamed[2] = {of_base, of_target};
    assert_true(as_match_names(names, n, false, &arena, renamed));
    assert_true(!of_base[0] && !of_target[1] && !of_base[2] && !of_target[2]);
    assert_string_equal(of_base[1], "libfoo-1.");
    assert_string_equal(of_target[0], "libfoo-1.");
    as_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(numbers_are_rounded_as_python_does),
        cmocka_unit_test(means_are_compared),
        cmocka_unit_test(what_is_no_number_is_left_out_of_means),
        cmocka_unit_test(checks_without_their_columns_are_skipped),
        cmocka_unit_test(orders_of_growth_are_compared),
        cmocka_unit_test(areas_are_compared),
        cmocka_unit_test(models_without_a_common_range_are_unknown),
        cmocka_unit_test(models_that_hardly_fit_are_left_out),
        cmocka_unit_test(strategies_pair_their_models),
        cmocka_unit_test(curves_are_compared_at_points),
        cmocka_unit_test(polynomials_say_how_a_difference_grows),
        cmocka_unit_test(windows_are_compared),
        cmocka_unit_test(few_values_are_one_window),
        cmocka_unit_test(simpson_takes_the_mean_of_both_ways),
        cmocka_unit_test(outliers_are_found),
        cmocka_unit_test(what_is_new_and_gone_is_said),
        cmocka_unit_test(likeness_is_that_of_difflib),
        cmocka_unit_test(frequent_letters_tell_nothing),
        cmocka_unit_test(likeness_ends_when_work_does),
        cmocka_unit_test(locations_are_renamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
