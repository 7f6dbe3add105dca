/* Regression: points of records and of measurements, fits whose coefficients are known, Perun's methods, stored models
 * and strategies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/regress/regress.h"
#include "dataset/records.h"
#include "helpers.h"

#define N(array) (sizeof(array) / sizeof *(array))

static bool is_near(double a, double b, double relative) { return fabs(a - b) <= relative * fmax(fabs(a), fabs(b)); }

static void assert_near(double got, double expected) {
    if (!is_near(got, expected, 1e-12)) fail_msg("expected %.17g, got %.17g", expected, got);
}

/* ---- fits -------------------------------------------------------------------------------------------------------- */

static void regress_of(as_points *points, size_t n, as_regress_options options, as_curves *out) {
    as_points_set set = {.points = points, .n = n};
    assay_error error;
    as_curves_init(out, NULL);
    assert_int_equal(as_regress(&set, &options, out, &error), ASSAY_OK);
}

static void regress_one(const double *x, const double *y, size_t n, as_regress_options options, as_curves *out) {
    as_points points = {.uid = "f", .x = x, .y = y, .n = n};
    regress_of(&points, 1, options, out);
}

static const as_curve *curve_of(const as_curves *curves, as_curve_model model) {
    for (size_t i = 0; i < curves->curves.count; i++) {
        const as_curve *curve = &AS_AT(as_curve, &curves->curves, i);
        if (curve->model == model) return curve;
    }
    fail_msg("there is no %s model", as_curve_name(model));
    return NULL;
}

static const as_curve *curve_at(const as_curves *curves, size_t i) { return &AS_AT(as_curve, &curves->curves, i); }
static const as_skipped_curve *skipped_at(const as_curves *curves, size_t i) {
    return &AS_AT(as_skipped_curve, &curves->skipped, i);
}

static void a_line_is_found(void **state) {
    (void)state;
    static const double x[] = {1, 2, 3, 4}, y[] = {3, 5, 7, 9}; /* 1 + 2 x */
    as_curves curves;
    regress_one(x, y, 4, (as_regress_options){0}, &curves);
    assert_int_equal(curves.curves.count, 6);
    assert_int_equal(curves.skipped.count, 0);
    for (size_t i = 0; i < 6; i++) assert_int_equal(curve_at(&curves, i)->model, i); /* constant behind the others */
    const as_curve *line = curve_of(&curves, AS_CURVE_LINEAR);
    assert_near(line->coefficients[0], 1);
    assert_near(line->coefficients[1], 2);
    assert_near(line->r_square, 1);
    assert_true(line->x_start == 1 && line->x_end == 4);
    assert_string_equal(line->method, "full");
    assert_near(as_curve_at(line, 10), 21);
    const as_curve *constant = curve_of(&curves, AS_CURVE_CONSTANT);
    assert_near(constant->coefficients[0], 6);
    assert_true(constant->coefficients[1] == 0);
    /* 2 * 4 up over 3 along: 69.44 degrees of 90 */
    assert_near(constant->r_square, 1 - atan2(8, 3) / asin(1));
    const as_curve *parabola = curve_of(&curves, AS_CURVE_QUADRATIC);
    assert_int_equal(parabola->n_coefficients, 3);
    assert_true(fabs(parabola->coefficients[2]) < 1e-14);
    as_curves_free(&curves);
}

static void as_perun_has_it(void **state) {
    (void)state;
    static const double x[] = {0, 1, 2, 3, 4}, y[] = {1, 3, 5, 7, 9};
    as_curves curves;
    regress_one(x, y, 5, (as_regress_options){.is_compatible = true}, &curves);
    assert_true(curve_of(&curves, AS_CURVE_LOGARITHMIC)->x_start == 0); /* left out, but first */
    assert_near(curve_of(&curves, AS_CURVE_CONSTANT)->r_square, 1 - atan2(8, 4) / 90);
    as_curves_free(&curves);
    regress_one(x, y, 5, (as_regress_options){0}, &curves);
    assert_true(curve_of(&curves, AS_CURVE_LOGARITHMIC)->x_start == 1);
    assert_true(curve_of(&curves, AS_CURVE_POWER)->x_start == 1);
    assert_true(curve_of(&curves, AS_CURVE_LINEAR)->x_start == 0);
    as_curves_free(&curves);
}

static void every_model_finds_its_own(void **state) {
    (void)state;
    static const struct {
        as_curve_model model;
        double b[3];
    } cases[] = {{AS_CURVE_EXPONENTIAL, {3, 1.5, 0}},
                 {AS_CURVE_LINEAR, {-7, 0.25, 0}},
                 {AS_CURVE_LOGARITHMIC, {1, 2.5, 0}},
                 {AS_CURVE_POWER, {5, 1.5, 0}},
                 {AS_CURVE_QUADRATIC, {2, -3, 0.5}}};
    for (size_t i = 0; i < N(cases); i++) {
        as_curve truth = {.model = cases[i].model, .n_coefficients = cases[i].model == AS_CURVE_QUADRATIC ? 3 : 2};
        memcpy(truth.coefficients, cases[i].b, sizeof truth.coefficients);
        double x[20], y[20];
        for (int k = 0; k < 20; k++) {
            x[k] = k + 1;
            y[k] = as_curve_at(&truth, x[k]);
        }
        as_curves curves;
        regress_one(x, y, 20, (as_regress_options){.models = 1u << cases[i].model}, &curves);
        assert_int_equal(curves.curves.count, 1);
        const as_curve *curve = curve_at(&curves, 0);
        assert_near(curve->r_square, 1);
        for (int k = 0; k < 3; k++) assert_true(fabs(curve->coefficients[k] - cases[i].b[k]) < 1e-12);
        as_curves_free(&curves);
    }
}

/* y = 5 + 3 i + i^2 at x = 10^12 + 1000 i: raw sums of x^4 have lost everything. */
static void addresses_lose_no_digits(void **state) {
    (void)state;
    double x[20], y[20];
    for (int i = 0; i < 20; i++) {
        x[i] = 1e12 + 1000.0 * i;
        y[i] = 5 + 3.0 * i + (double)(i * i);
    }
    as_curves curves;
    regress_one(x, y, 20, (as_regress_options){0}, &curves);
    const as_curve *curve = curve_of(&curves, AS_CURVE_QUADRATIC);
    assert_near(curve->coefficients[2], 1e-6); /* i^2 = ((x - 10^12) / 1000)^2 */
    assert_near(curve->coefficients[1], 3e-3 - 2e6);
    assert_near(curve->coefficients[0], 5 - 3e9 + 1e18);
    assert_near(curve->r_square, 1);
    /* Sums over i around 9.5: Sxx = 665, Sxy = 22 * 665; the mean of y is 5 + 28.5 + 123.5 = 157 */
    const as_curve *line = curve_of(&curves, AS_CURVE_LINEAR);
    assert_near(line->coefficients[1], 0.022);
    assert_near(line->coefficients[0], 157 - 22 * 9.5 - 0.022e12);
    as_curves_free(&curves);
}

/* Neighbouring doubles: their mean lies between two of them. y = i^2 at x = 10^12 + i / 2^13. */
static void neighbouring_doubles_lose_no_digits(void **state) {
    (void)state;
    double x[8], y[8];
    for (int i = 0; i < 8; i++) {
        x[i] = 1e12 + i / 8192.0;
        y[i] = (double)(i * i);
    }
    as_curves curves;
    regress_one(x, y, 8, (as_regress_options){.models = 1u << AS_CURVE_QUADRATIC | 1u << AS_CURVE_LINEAR}, &curves);
    assert_near(curve_of(&curves, AS_CURVE_QUADRATIC)->coefficients[2], 67108864); /* 2^26 */
    assert_near(curve_of(&curves, AS_CURVE_QUADRATIC)->r_square, 1);
    assert_near(curve_of(&curves, AS_CURVE_LINEAR)->coefficients[1], 7 * 8192.0); /* of 0, 1, 4 … 49 over 0 … 7 */
    as_curves_free(&curves);
}

/* Three x beside each other and one far away: 1 + x + 10^-12 x^2. */
static void one_far_point_leaves_the_parabola(void **state) {
    (void)state;
    static const double x[] = {0, 1, 2, 1e12}, y[] = {1, 2.000000000001, 3.000000000004, 2000000000001};
    as_curves curves;
    regress_one(x, y, 4, (as_regress_options){.models = 1u << AS_CURVE_QUADRATIC}, &curves);
    const as_curve *curve = curve_at(&curves, 0);
    assert_true(is_near(curve->coefficients[2], 1e-12, 1e-3) && is_near(curve->coefficients[1], 1, 1e-6));
    as_curves_free(&curves);
}

static void huge_and_tiny_numbers_do_not_overflow(void **state) {
    (void)state;
    static const double scales[][2] = {{1e200, 1e-200}, {1e-200, 1e250}, {3e306, 3e306}};
    for (size_t s = 0; s < N(scales); s++) {
        double x[4], y[4];
        for (int i = 0; i < 4; i++) {
            x[i] = scales[s][0] * (i + 1);
            y[i] = scales[s][1] * (2 * i + 1);
        }
        as_curves curves;
        regress_one(x, y, 4, (as_regress_options){.models = 1u << AS_CURVE_LINEAR}, &curves);
        if (s < 1) { /* 2e-200 / 1e200 is no double that can be told from 0 */
            assert_true(fabs(curve_at(&curves, 0)->coefficients[1]) < 1e-300);
        } else if (s == 1) { /* 2e250 / 1e-200 is none either */
            assert_int_equal(curves.curves.count, 0);
            assert_string_equal(skipped_at(&curves, 0)->reason, "coefficients are beyond what a double holds");
        } else {
            assert_near(curve_at(&curves, 0)->coefficients[1], 2);
            assert_near(curve_at(&curves, 0)->r_square, 1);
        }
        as_curves_free(&curves);
    }
}

static void equal_values_are_constant(void **state) {
    (void)state;
    static const double x[] = {1, 2, 3, 5}, y[] = {0.1, 0.1, 0.1, 0.1};
    as_curves curves;
    regress_one(x, y, 4, (as_regress_options){0}, &curves);
    for (as_curve_model model = 0; model <= AS_CURVE_CONSTANT; model++) {
        const as_curve *curve = curve_of(&curves, model);
        assert_true(curve->r_square == (model == AS_CURVE_CONSTANT ? 1 : 0));
        assert_true(curve->coefficients[0] == 0.1);
        assert_true(as_curve_at(curve, 4) == 0.1);
    }
    as_curves_free(&curves);
}

static void what_cannot_be_fitted_is_said(void **state) {
    (void)state;
    static const double same[] = {1, 1, 1}, few[] = {1, 2}, two[] = {1, 1, 2, 2}, y[] = {1, 2, 3, 5};
    static const double negative[] = {-1, -2, 3, 4}, line[] = {1, 2, 3, 4};
    as_points points[] = {{.uid = "few", .x = few, .y = y, .n = 2, .n_unusable = 3},
                          {.uid = "good", .x = line, .y = y, .n = 4},
                          {.uid = "negative", .x = negative, .y = y, .n = 4},
                          {.uid = "none"},
                          {.uid = "same", .x = same, .y = y, .n = 3},
                          {.uid = "two", .x = two, .y = y, .n = 4}};
    static const as_skipped_curve expected[] = {{"few", NULL, "fewer than 3 usable points"},
                                                {"negative", "logarithmic", "fewer than 3 points with x above 0"},
                                                {"negative", "power", "fewer than 3 points with x and y above 0"},
                                                {"none", NULL, "fewer than 3 usable points"},
                                                {"same", NULL, "all points have the same x"},
                                                {"two", "quadratic", "fewer than 3 different x"}};
    as_curves curves;
    regress_of(points, N(points), (as_regress_options){0}, &curves);
    assert_int_equal(curves.skipped.count, N(expected));
    for (size_t i = 0; i < N(expected); i++) {
        const as_skipped_curve *got = skipped_at(&curves, i);
        assert_string_equal(got->uid, expected[i].uid);
        assert_string_equal(got->reason, expected[i].reason);
        assert_true(!got->model == !expected[i].model);
        if (got->model) assert_string_equal(got->model, expected[i].model);
    }
    assert_int_equal(curves.curves.count, 6 + 4 + 5);
    as_curves_free(&curves);
}

static void constant_brings_the_line_it_is_made_of(void **state) {
    (void)state;
    static const double x[] = {1, 2, 3}, y[] = {2, 2, 5};
    as_curves curves;
    regress_one(x, y, 3, (as_regress_options){.models = 1u << AS_CURVE_CONSTANT}, &curves);
    assert_int_equal(curves.curves.count, 2);
    assert_int_equal(curve_at(&curves, 0)->model, AS_CURVE_LINEAR);
    assert_near(curve_at(&curves, 1)->coefficients[0], 3);
    as_curves_free(&curves);
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

static void intervals_are_fitted_one_by_one(void **state) {
    (void)state;
    double x[9], y[9];
    for (int i = 0; i < 9; i++) { /* in no order */
        x[i] = 1 + (i * 4) % 9;
        y[i] = x[i] * x[i];
    }
    as_curves curves;
    regress_one(x, y, 9, (as_regress_options){.method = AS_REGRESS_INTERVAL}, &curves);
    assert_int_equal(curves.curves.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const as_curve *curve = curve_at(&curves, i);
        assert_true(curve->x_start == (double)(3 * i + 1) && curve->x_end == (double)(3 * i + 3));
        assert_int_equal(curve->model, AS_CURVE_POWER); /* as good as quadratic, and before it */
        assert_true(fabs(curve->coefficients[1] - 2) < 1e-9);
        assert_string_equal(curve->method, "interval");
    }
    as_curves_free(&curves);
    static const char *const reasons[] = {"fewer than 2 points for each step", "fewer than 3 points for each step"};
    for (size_t n = 5; n <= 6; n++) {
        regress_one(x, y, n, (as_regress_options){.method = AS_REGRESS_INTERVAL}, &curves);
        assert_int_equal(curves.curves.count, 0);
        assert_int_equal(curves.skipped.count, 1);
        assert_string_equal(skipped_at(&curves, 0)->reason, reasons[n - 5]);
        as_curves_free(&curves);
    }
    /* 8 points in 3 steps: 3, 3 and 2 */
    regress_one(x, y, 8, (as_regress_options){.method = AS_REGRESS_INTERVAL}, &curves);
    assert_int_equal(curves.curves.count, 2);
    assert_int_equal(curves.skipped.count, 1);
    as_curves_free(&curves);
}

/* A line until 12, then a power: the halves are of different models. */
static void bisection_finds_the_bend(void **state) {
    (void)state;
    double x[24], y[24];
    for (int i = 0; i < 24; i++) {
        x[i] = i + 1;
        y[i] = i < 12 ? 10 + 3 * x[i] : 0.01 * pow(x[i], 3);
    }
    as_curves curves;
    regress_one(x, y, 24, (as_regress_options){.method = AS_REGRESS_BISECTION}, &curves);
    assert_true(curves.curves.count >= 3); /* the line, its constant, and the power */
    const as_curve *line = curve_at(&curves, 0), *last = curve_at(&curves, curves.curves.count - 1);
    assert_int_equal(line->model, AS_CURVE_LINEAR);
    assert_true(line->x_start == 1 && line->x_end == 12);
    assert_near(line->coefficients[1], 3);
    assert_int_equal(curve_at(&curves, 1)->model, AS_CURVE_CONSTANT);
    assert_int_equal(last->model, AS_CURVE_POWER);
    assert_true(last->x_start == 13 && last->x_end == 24 && fabs(last->coefficients[1] - 3) < 1e-9);
    as_curves_free(&curves);
    regress_one(x, y, 12, (as_regress_options){.method = AS_REGRESS_BISECTION}, &curves);
    assert_int_equal(curves.curves.count, 2); /* both halves are lines like the whole */
    assert_true(curve_at(&curves, 0)->x_end == 12);
    as_curves_free(&curves);
    regress_one(x, y, 5, (as_regress_options){.method = AS_REGRESS_BISECTION}, &curves);
    assert_int_equal(curves.curves.count, 0);
    assert_string_equal(skipped_at(&curves, 0)->reason, "fewer than 6 points");
    as_curves_free(&curves);
}

/* Both answer with the fit of all points, and always with the same one. */
static void random_methods_answer_the_same_every_time(void **state) {
    (void)state;
    double x[300], y[300];
    for (int i = 0; i < 300; i++) {
        x[i] = i + 1;
        y[i] = 2 + 0.5 * x[i] + 20 * sin(i * 12.9898);
    }
    as_curves full, curves, again;
    regress_one(x, y, 300, (as_regress_options){0}, &full);
    for (int method = AS_REGRESS_ITERATIVE; method <= AS_REGRESS_INITIAL_GUESS; method += 2) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            as_regress_options options = {.method = (as_regress_method)method, .steps = 10, .seed = seed};
            regress_one(x, y, 300, options, &curves);
            regress_one(x, y, 300, options, &again);
            const as_curve *curve = curve_at(&curves, 0), *same = curve_of(&full, curve->model);
            assert_int_equal(curve->model, curve_at(&again, 0)->model);
            assert_int_equal(curves.curves.count, curve->model == AS_CURVE_LINEAR ? 2 : 1);
            assert_true(is_near(curve->r_square, same->r_square, 1e-9));
            assert_true(is_near(curve->coefficients[1], same->coefficients[1], 1e-9));
            as_curves_free(&curves);
            as_curves_free(&again);
        }
    }
    as_curves_free(&full);
}

/* The first step sees one x only, whatever the order: the search goes on until it has seen more. */
static void a_search_outlives_a_bad_start(void **state) {
    (void)state;
    double x[12], y[12];
    for (int i = 0; i < 12; i++) {
        x[i] = i < 11 ? 1 : 2;
        y[i] = i;
    }
    for (uint64_t seed = 0; seed < 10; seed++) {
        as_curves curves;
        regress_one(x, y, 12, (as_regress_options){.method = AS_REGRESS_INITIAL_GUESS, .seed = seed}, &curves);
        assert_true(curves.curves.count > 0);
        as_curves_free(&curves);
    }
}

/* Long uids are sorted in another way than short ones. */
static void many_points_are_sorted_by_x(void **state) {
    (void)state;
    enum { MANY = 1000 };
    double x[MANY], y[MANY];
    for (int i = 0; i < MANY; i++) {
        x[i] = (double)((i * 367) % MANY - 500) * 1.25;
        y[i] = 3 * x[i] + 1;
    }
    as_curves curves;
    regress_one(x, y, MANY,
                (as_regress_options){.method = AS_REGRESS_INTERVAL, .steps = 4, .models = 1u << AS_CURVE_LINEAR},
                &curves);
    assert_int_equal(curves.curves.count, 4);
    for (int i = 0; i < 4; i++) {
        const as_curve *curve = curve_at(&curves, (size_t)i);
        assert_true(curve->x_start == (i * 250 - 500) * 1.25 && curve->x_end == (i * 250 - 251) * 1.25);
        assert_near(curve->coefficients[1], 3);
    }
    as_curves_free(&curves);
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

static as_cell text(as_dataset *ds, const char *word) {
    return as_cell_text(as_ds_text(ds, as_ds_intern_text(ds, word)));
}

static void set_row(as_records *records, uint32_t columns[2], size_t row, int64_t x, double y) {
    assert_true(as_records_set(records, row, columns[0], AS_OWN_INT, (as_own_value){.i = x}));
    assert_true(as_records_set(records, row, columns[1], AS_OWN_REAL, (as_own_value){.r = y}));
}

/* b (kind 0), a (kind 1), b (kind 2), b (kind 0) …: uids ascend, and in a uid the rows go kind by kind. */
static void points_go_type_by_type(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    as_records *records = as_records_new(ds, "record");
    uint32_t uid = as_records_column(records, as_ds_intern_text(ds, "uid"));
    uint32_t columns[2] = {as_records_column(records, as_ds_intern_text(ds, "structure-unit-size")),
                           as_records_column(records, as_ds_intern_text(ds, "amount"))};
    as_records_add_kind(records, &(as_shared_cell){uid, false, text(ds, "b")}, 1);
    as_records_add_kind(records, &(as_shared_cell){uid, false, text(ds, "a")}, 1);
    as_records_add_kind(records, &(as_shared_cell){uid, false, text(ds, "b")}, 1);
    as_records_add_kind(records, NULL, 0);
    static const uint32_t kinds[] = {0, 1, 2, 0, 0, 3, 1, 2};
    for (size_t i = 0; i < N(kinds); i++) {
        assert_true(as_records_add_rows(records, 0, kinds[i], 1));
        if (i == 4) { /* not a number: the row does not count */
            assert_true(as_records_set(records, i, columns[0], AS_OWN_INT, (as_own_value){.i = 4}));
            assert_true(as_records_set(records, i, columns[1], AS_OWN_TRUE, (as_own_value){0}));
        } else {
            set_row(records, columns, i, (int64_t)i, 10.0 * (double)i);
        }
    }
    as_points_set set;
    assay_error error;
    assert_int_equal(as_points_find(ds, &(as_points_request){0}, &set, &error), ASSAY_OK);
    assert_int_equal(set.n, 3);
    assert_string_equal(set.points[0].uid, "None");
    assert_string_equal(set.points[1].uid, "a");
    assert_string_equal(set.points[2].uid, "b");
    static const double a[] = {1, 6}, b[] = {0, 3, 2, 7};
    assert_int_equal(set.points[1].n, 2);
    assert_int_equal(set.points[2].n, 4);
    assert_int_equal(set.points[2].n_unusable, 1);
    for (size_t i = 0; i < 2; i++) assert_true(set.points[1].x[i] == a[i] && set.points[1].y[i] == 10 * a[i]);
    for (size_t i = 0; i < 4; i++) assert_true(set.points[2].x[i] == b[i] && set.points[2].y[i] == 10 * b[i]);
    as_points_free(&set);
    assert_int_equal(as_points_find(ds, &(as_points_request){.per = "nothing"}, &set, &error), ASSAY_OK);
    assert_int_equal(set.n, 3);
    for (size_t i = 0; i < 3; i++) assert_int_equal(set.points[i].n, 0);
    assert_int_equal(set.points[2].n_unusable, 5);
    as_points_free(&set);
    as_dataset_free(ds);
}

static void any_table_of_records_has_points(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    as_table *table = as_add_record_table(ds, "record");
    size_t uid = as_table_add_column(table, "uid"), x = as_table_add_column(table, "n");
    size_t y = as_table_add_column(table, "seconds");
    for (size_t i = 0; i < 6; i++) {
        as_table_add_row(table);
        as_table_set(table, i, uid, i % 2 ? as_cell_int(7) : as_cell_text("f"));
        as_table_set(table, i, x, as_cell_int((int64_t)i));
        if (i != 3) as_table_set(table, i, y, as_cell_real(0.5 * (double)i));
    }
    as_points_set set;
    assay_error error;
    as_points_request request = {.of = "seconds", .per = "n"};
    assert_int_equal(as_points_find(ds, &request, &set, &error), ASSAY_OK);
    assert_int_equal(set.n, 2);
    assert_string_equal(set.points[0].uid, "7");
    assert_int_equal(set.points[0].n, 2);
    assert_int_equal(set.points[0].n_unusable, 1);
    assert_true(set.points[0].x[1] == 5 && set.points[0].y[1] == 2.5);
    assert_int_equal(set.points[1].n, 3);
    as_points_free(&set);
    as_dataset_free(ds);
}

static void measurements_are_points(void **state) {
    (void)state;
    as_dataset *ds =
        read_text("extrap-text", "PARAMETER p\nPOINTS 2 4 8\nREGION main->f\nMETRIC time\nDATA 1 3\nDATA 4\n"
                                 "DATA 8\nMETRIC visits\nDATA 1\nDATA 1\nDATA 1\n");
    as_points_set set;
    assay_error error;
    assert_int_equal(as_points_find(ds, &(as_points_request){0}, &set, &error), ASSAY_OK);
    assert_int_equal(set.n, 1);
    assert_true(set.is_measured);
    assert_string_equal(set.of, "time");
    assert_string_equal(set.per, "p");
    assert_string_equal(set.points[0].uid, "main->f");
    static const double y[] = {2, 4, 8};
    assert_int_equal(set.points[0].n, 3);
    for (size_t i = 0; i < 3; i++) assert_true(set.points[0].x[i] == (double)(2 << i) && set.points[0].y[i] == y[i]);
    as_points_free(&set);
    assert_int_equal(as_points_find(ds, &(as_points_request){.of = "visits"}, &set, &error), ASSAY_OK);
    assert_true(set.n == 1 && set.points[0].y[2] == 1);
    as_points_free(&set);
    assert_int_equal(as_points_find(ds, &(as_points_request){.of = "bytes"}, &set, &error), ASSAY_OK);
    assert_int_equal(set.n, 0);
    as_points_free(&set);
    as_dataset_free(ds);
}

/* ---- stored models ----------------------------------------------------------------------------------------------- */

static void add_stored(as_table *table, const char *uid, const char *model, double r_square, const char *stats) {
    size_t row = as_table_rows(table);
    assert_true(as_table_add_row(table));
    as_table_set(table, row, as_table_find_column(table, "uid"), as_cell_text(uid));
    as_table_set(table, row, as_table_find_column(table, "model"), as_cell_text(model));
    as_table_set(table, row, as_table_find_column(table, "r_square"), as_cell_real(r_square));
    as_table_set(table, row, as_table_find_column(table, "bucket_stats"), as_cell_text(stats));
}

static as_dataset *stored_models(void) {
    as_dataset *ds = as_dataset_new(0);
    as_table *table = as_add_record_table(ds, "stored_model");
    static const char *const columns[] = {
        "uid", "model", "r_square", "coeffs:b0", "coeffs:b1", "x_interval_start", "x_interval_end", "bucket_stats"};
    for (size_t i = 0; i < N(columns); i++) as_table_add_column(table, columns[i]);
    add_stored(table, "f", "quadratic", 0.5, NULL);
    add_stored(table, "g", "linear", 0, NULL);
    add_stored(table, "f", "linear", 0.9, NULL);
    add_stored(table, "f", "regressogram", 0.9, "1.5,nan,-2");
    add_stored(table, "f", "linear", 0.7, NULL);
    add_stored(table, "h", "spline", 0.99, NULL);
    as_table_set(table, 0, as_table_find_column(table, "coeffs:b0"), as_cell_int(1));
    as_table_set(table, 0, as_table_find_column(table, "coeffs:b1"), as_cell_real(0.5));
    as_table_set(table, 0, as_table_find_column(table, "x_interval_start"), as_cell_int(0));
    as_table_set(table, 0, as_table_find_column(table, "x_interval_end"), as_cell_int(4));
    return ds;
}

static void stored_models_are_read(void **state) {
    (void)state;
    as_dataset *ds = stored_models();
    as_curves curves;
    assay_error error;
    as_curves_init(&curves, NULL);
    assert_int_equal(as_stored_curves(ds, &curves, &error), ASSAY_OK);
    as_dataset_free(ds); /* the curves have copies */
    assert_int_equal(curves.curves.count, 6);
    const as_curve *old = curve_at(&curves, 0), *buckets = curve_at(&curves, 3), *other = curve_at(&curves, 5);
    assert_true(old->n_coefficients == 2 && old->x_start == 0 && old->x_end == 4);
    double x[3], y[3];
    as_curve_plot(old, 3, x, y); /* 1 + 0.5 x^2 */
    assert_true(x[0] == 1e-6 && x[1] == 2 && x[2] == 4 && y[1] == 3 && y[2] == 9);
    assert_int_equal(buckets->model, AS_CURVE_REGRESSOGRAM);
    assert_int_equal(buckets->n_buckets, 3);
    assert_true(buckets->bucket_stats[0] == 1.5 && isnan(buckets->bucket_stats[1]) && buckets->bucket_stats[2] == -2);
    assert_int_equal(other->model, AS_CURVE_OTHER);
    assert_string_equal(as_curve_word(other), "spline");
    as_curves_free(&curves);
}

static void strategies_pick_as_perun_does(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t n, picked[4];
    } cases[] = {
        {"best-model", 2, {2, 5}},                              /* of equal ones the first; an r_square of 0 is none */
        {"best-param", 1, {2}},                                 /* h has none */
        {"best-nonparam", 1, {3}}, {"all-param", 3, {0, 1, 4}}, /* the last of its name, at the place of the first */
        {"all-nonparam", 1, {3}},  {"all-models", 4, {0, 1, 4, 3}}, {"best-both", 2, {2, 3}}};
    as_dataset *ds = stored_models();
    as_curves curves;
    assay_error error;
    as_curves_init(&curves, NULL);
    assert_int_equal(as_stored_curves(ds, &curves, &error), ASSAY_OK);
    for (size_t i = 0; i < N(cases); i++) {
        as_strategy strategy;
        as_vec picked;
        as_vec_init(&picked, sizeof(size_t), NULL);
        assert_true(as_strategy_find(cases[i].name, &strategy));
        assert_string_equal(as_strategy_name(strategy), cases[i].name);
        assert_true(as_strategy_pick(&curves, strategy, &picked));
        if (picked.count != cases[i].n || memcmp(picked.data, cases[i].picked, picked.count * sizeof(size_t)) != 0)
            fail_msg("%s picks others", cases[i].name);
        as_vec_free(&picked);
    }
    as_strategy none;
    assert_false(as_strategy_find("worst", &none));
    as_curves_free(&curves);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_found),
        cmocka_unit_test(as_perun_has_it),
        cmocka_unit_test(every_model_finds_its_own),
        cmocka_unit_test(addresses_lose_no_digits),
        cmocka_unit_test(neighbouring_doubles_lose_no_digits),
        cmocka_unit_test(one_far_point_leaves_the_parabola),
        cmocka_unit_test(huge_and_tiny_numbers_do_not_overflow),
        cmocka_unit_test(equal_values_are_constant),
        cmocka_unit_test(what_cannot_be_fitted_is_said),
        cmocka_unit_test(constant_brings_the_line_it_is_made_of),
        cmocka_unit_test(intervals_are_fitted_one_by_one),
        cmocka_unit_test(bisection_finds_the_bend),
        cmocka_unit_test(random_methods_answer_the_same_every_time),
        cmocka_unit_test(a_search_outlives_a_bad_start),
        cmocka_unit_test(many_points_are_sorted_by_x),
        cmocka_unit_test(points_go_type_by_type),
        cmocka_unit_test(any_table_of_records_has_points),
        cmocka_unit_test(measurements_are_points),
        cmocka_unit_test(stored_models_are_read),
        cmocka_unit_test(strategies_pick_as_perun_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
