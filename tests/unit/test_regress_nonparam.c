/* Regressions without a formula: expected values by hand, or by the plain sums of their definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "analysis/regress/kernel.h"
#include "analysis/regress/moving.h"
#include "dataset/records.h"

enum { MANY = 3000 };

static void assert_near(double value, double expected, double by) {
    if (isnan(expected) ? !isnan(value) : !(fabs(value - expected) <= by))
        fail_msg("expected %.17g, got %.17g", expected, value);
}

/* Numbers between 0 and 1 that are the same every time. */
static double next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static as_points_set one_uid(as_points *points, const double *x, const double *y, size_t n) {
    *points = (as_points){.uid = "f", .x = x, .y = y, .n = n};
    return (as_points_set){.points = points, .n = 1, .of = "amount", .per = "size"};
}

static const as_curve *only_curve(const as_curves *curves) {
    if (curves->skipped.count > 0) fail_msg("%s", AS_AT(as_skipped_curve, &curves->skipped, 0).reason);
    assert_int_equal(curves->curves.count, 1);
    return &AS_AT(as_curve, &curves->curves, 0);
}

static void assert_stats(const as_curve *curve, const double *expected, size_t n) {
    assert_int_equal(curve->n_buckets, n);
    for (size_t i = 0; i < n; i++) assert_near(curve->bucket_stats[i], expected[i], 1e-12 * (1 + fabs(expected[i])));
}

/* ---- regressogram ------------------------------------------------------------------------------------------------ */

static void test_buckets(void **state) {
    (void)state;
    const double x[] = {4, 0, 1, 3, 2}, y[] = {20, 1, 3, 7, 5};
    as_points points;
    as_points_set set = one_uid(&points, x, y, 5);
    for (int is_median = 0; is_median < 2; is_median++) {
        as_curves curves;
        as_curves_init(&curves, NULL);
        as_regressogram_options options = {.buckets = 2, .is_median = is_median};
        assert_int_equal(as_regressogram(&set, &options, &curves, NULL), ASSAY_OK);
        const as_curve *curve = only_curve(&curves);
        assert_stats(curve, is_median ? (const double[]){2, 7} : (const double[]){2, 32.0 / 3}, 2);
        /* 5, 7 and 20 from their mean 32/3: 289/9 + 121/9 + 784/9; from their median: 4 + 169. All from their mean 7.2:
         * 224.8. */
        assert_near(curve->r_square, 1 - (2 + (is_median ? 173 : 1194.0 / 9)) / 224.8, 1e-12);
        assert_near(curve->x_start, 0, 0);
        assert_near(curve->x_end, 4, 0);
        assert_near(curve->y_start, 1, 0);
        assert_string_equal(curve->buckets_method, "user");
        assert_string_equal(curve->statistic_function, is_median ? "median" : "mean");
        assert_string_equal(curve->per_key, "size");
        as_curves_free(&curves);
    }
}

/* Of four points with range 100 the rule "sqrt" finds the width 50, which Perun takes for the number of buckets. */
static void test_bucket_rules(void **state) {
    (void)state;
    const double x[] = {0, 40, 60, 100}, y[] = {1, 2, 3, 4};
    as_points points;
    as_points_set set = one_uid(&points, x, y, 4);
    const struct {
        const char *method;
        bool is_compatible;
        size_t buckets;
    } cases[] = {
        {"sqrt", false, 2},
        {"sqrt", true, 50},
        {"sturges", false, 3},
        {"sturges", true, 33}, /* 100 / 3 */
        {"rice", false, 4},
        {"rice", true, 31}, /* 100 / (2 * 1.5874) = 31.498 */
        /* Quartiles 30 and 70: 80 / 1.5874 = 50.397; sturges is smaller. */
        {"fd", false, 2},
        {"fd", true, 50},
        {"auto", false, 3},
        {"auto", true, 33},
        /* Deviation sqrt(1300) = 36.056, times (24 sqrt(pi) / 4)^(1/3) = 2.1993: 79.297. */
        {"scott", false, 2},
        {"scott", true, 79},
        /* No skewness: as sturges. */
        {"doane", false, 3},
        {"doane", true, 33},
        {NULL, true, 33},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_curves curves;
        as_curves_init(&curves, NULL);
        as_regressogram_options options = {.method = cases[i].method, .is_compatible = cases[i].is_compatible};
        assert_int_equal(as_regressogram(&set, &options, &curves, NULL), ASSAY_OK);
        assert_int_equal(only_curve(&curves)->n_buckets, cases[i].buckets);
        as_curves_free(&curves);
    }
}

static void test_hostile_buckets(void **state) {
    (void)state;
    const double y[] = {1, 2, 3}, wide[] = {-1e308, 0, 1e308}, same[] = {1e300, 1e300, 1e300}, close[] = {1, 1e-320, 2};
    as_points points[4] = {{.uid = "empty"},
                           {.uid = "wide", .x = wide, .y = y, .n = 3},
                           {.uid = "same", .x = same, .y = y, .n = 3},
                           {.uid = "close", .x = close, .y = y, .n = 3}};
    as_points_set set = {.points = points, .n = 4, .of = "amount", .per = "size"};
    as_curves curves;
    as_curves_init(&curves, NULL);
    as_regressogram_options options = {.buckets = 3};
    assert_int_equal(as_regressogram(&set, &options, &curves, NULL), ASSAY_OK);
    assert_int_equal(curves.curves.count, 2);
    assert_int_equal(curves.skipped.count, 2);
    assert_string_equal(AS_AT(as_skipped_curve, &curves.skipped, 1).uid, "wide");
    assert_stats(&AS_AT(as_curve, &curves.curves, 0), (const double[]){0, 2, 0}, 3);
    options.buckets = UINT32_MAX;
    assert_int_equal(as_regressogram(&set, &options, &curves, NULL), ASSAY_OK);
    assert_int_equal(curves.curves.count, 2);
    assert_int_equal(curves.skipped.count, 6);
    as_curves_free(&curves);
}

/* ---- moving average ---------------------------------------------------------------------------------------------- */

static void check_moving(as_moving_options options, const double *y, size_t n, const double *expected) {
    double x[16];
    for (size_t i = 0; i < n; i++) x[i] = (double)i;
    as_points points;
    as_points_set set = one_uid(&points, x, y, n);
    as_curves curves;
    as_curves_init(&curves, NULL);
    assert_int_equal(as_moving_average(&set, &options, &curves, NULL), ASSAY_OK);
    assert_stats(only_curve(&curves), expected, n);
    as_curves_free(&curves);
}

static void test_windows(void **state) {
    (void)state;
    const double y[] = {1, 2, 3, 4, 5}, z[] = {9, 1, 5, 2, 7};
    check_moving((as_moving_options){.method = "sma", .window = 4, .min_periods = 1}, y, 5,
                 (const double[]){1.5, 2, 2.5, 3.5, 4});
    check_moving((as_moving_options){.method = "sma", .window = 4}, y, 5, (const double[]){NAN, NAN, 2.5, 3.5, NAN});
    check_moving((as_moving_options){.method = "sma", .window = 3, .no_center = true, .min_periods = 2}, y, 5,
                 (const double[]){NAN, 1.5, 2, 3, 4});
    check_moving((as_moving_options){.method = "sma", .window = UINT32_MAX, .min_periods = 1}, y, 5,
                 (const double[]){3, 3, 3, 3, 3});
    check_moving((as_moving_options){.method = "smm", .window = 3, .min_periods = 1}, z, 5,
                 (const double[]){5, 5, 2, 5, 4.5});
    /* Weights 1/2, 1, 1/2. */
    check_moving((as_moving_options){.method = "sma", .window = 3, .min_periods = 1, .window_type = "triang"}, z, 5,
                 (const double[]){9.5 / 1.5, 4, 3.25, 4, 8 / 1.5});
    /* Weights 0, 1, 0. */
    check_moving((as_moving_options){.method = "sma", .window = 3, .min_periods = 1, .window_type = "hann"}, z, 5, z);
    check_moving((as_moving_options){.method = "ema", .decay = "alpha", .decay_value = 0.5}, y, 2,
                 (const double[]){1, 5.0 / 3});
    check_moving((as_moving_options){.method = "ema", .decay = "span", .decay_value = 3}, y, 3,
                 (const double[]){NAN, NAN, 4.25 / 1.75});
    check_moving((as_moving_options){.method = "ema", .decay = "com", .decay_value = 0}, y, 5, y);
    check_moving((as_moving_options){.method = "ema", .decay = "halflife", .decay_value = 1}, y, 2,
                 (const double[]){1, 5.0 / 3});
}

/* Large values leave no trace once they are out of the window. */
static void test_large_values_leave(void **state) {
    (void)state;
    const double y[] = {1e300, 1, 2, 3, 4};
    check_moving((as_moving_options){.method = "sma", .window = 2, .no_center = true, .min_periods = 1}, y, 5,
                 (const double[]){1e300, 5e299, 1.5, 2.5, 3.5});
}

static double plain_window(const double *y, size_t n, as_moving_window window, size_t j, bool is_median) {
    double values[MANY], sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (i + window.before >= j && i <= j + window.after) values[count++] = y[i], sum += y[i];
    if (count < window.least) return NAN;
    qsort(values, count, sizeof *values, as_real_compare);
    return is_median ? (values[(count - 1) / 2] + values[count / 2]) / 2 : sum / (double)count;
}

static void test_windows_of_many(void **state) {
    (void)state;
    static double y[MANY], out[MANY], sums[2 * MANY];
    uint64_t seed = 1;
    const size_t n = 400;
    for (size_t i = 0; i < n; i++) y[i] = floor(20 * next_random(&seed));
    const as_moving_window windows[] = {{0, 0, 1}, {2, 1, 4}, {30, 0, 5}, {0, 50, 1}, {399, 399, 1}, {800, 3, 1}};
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        as_arena arena;
        as_arena_init(&arena, NULL);
        as_moving_mean(y, n, windows[w], out, sums);
        for (size_t j = 0; j < n; j++) assert_near(out[j], plain_window(y, n, windows[w], j, false), 1e-12);
        assert_true(as_moving_median(y, n, windows[w], out, &arena));
        for (size_t j = 0; j < n; j++) assert_near(out[j], plain_window(y, n, windows[w], j, true), 0);
        as_arena_free(&arena);
    }
}

/* The width that is reported is the one used, found for each uid; Perun reports the next one and keeps it. */
static void test_width_search(void **state) {
    (void)state;
    double x[40], noisy[40], smooth[40];
    uint64_t seed = 7;
    for (int i = 0; i < 40; i++) {
        x[i] = 5 * i;
        noisy[i] = 10 * next_random(&seed);
        smooth[i] = i;
    }
    as_points points[2] = {{.uid = "a", .x = x, .y = noisy, .n = 40}, {.uid = "b", .x = x, .y = smooth, .n = 40}};
    as_points_set set = {.points = points, .n = 2, .of = "amount", .per = "size"};
    for (int is_compatible = 0; is_compatible < 2; is_compatible++) {
        as_curves curves;
        as_curves_init(&curves, NULL);
        as_moving_options options = {.method = "sma", .min_periods = 1, .is_compatible = is_compatible};
        assert_int_equal(as_moving_average(&set, &options, &curves, NULL), ASSAY_OK);
        assert_int_equal(curves.curves.count, 2);
        const as_curve *a = &AS_AT(as_curve, &curves.curves, 0), *b = &AS_AT(as_curve, &curves.curves, 1);
        /* A twentieth of 195 is 9, which is enough for the straight line; noise is only explained by itself, or by
         * windows of two. */
        assert_near(b->window_width, is_compatible ? a->window_width : 9, 0);
        assert_true(a->r_square >= 0.88 && a->window_width <= 2);
        for (size_t i = 0; i < 40 && !is_compatible; i++) {
            as_moving_window window = {(size_t)a->window_width / 2, ((size_t)a->window_width - 1) / 2, 1};
            assert_near(a->bucket_stats[i], plain_window(noisy, 40, window, i, false), 1e-12);
        }
        as_curves_free(&curves);
    }
}

static void test_moving_usage(void **state) {
    (void)state;
    const double x[] = {1, 2, 3};
    as_points points;
    as_points_set set = one_uid(&points, x, x, 3);
    const as_moving_options wrong[] = {
        {.method = "sma", .window_type = "nothing"},
        {.method = "smm", .window_type = "hann"},
        {.method = "sma", .decay = "com", .decay_value = 1},
        {.method = "ema", .window = 3},
        {.method = "ema", .decay = "alpha", .decay_value = 1.5},
        {.method = "ema", .decay = "span", .decay_value = 0.5},
        {.method = "ema", .decay = "half", .decay_value = 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        as_curves curves;
        assay_error error;
        as_curves_init(&curves, NULL);
        assert_int_equal(as_moving_average(&set, &wrong[i], &curves, &error), ASSAY_E_USAGE);
        as_curves_free(&curves);
    }
    assert_true(as_window_type_is_known("blackmanharris"));
    assert_false(as_window_type_is_known("kaiser"));
}

/* ---- kernel regression ------------------------------------------------------------------------------------------- */

static void check_kernel(as_kernel_options options, const double *x, const double *y, size_t n, const double *expected,
                         double by) {
    as_points points;
    as_points_set set = one_uid(&points, x, y, n);
    as_curves curves;
    assay_error error;
    as_curves_init(&curves, NULL);
    if (as_kernel_regression(&set, &options, &curves, &error) != ASSAY_OK) fail_msg("%s", error.message);
    const as_curve *curve = only_curve(&curves);
    assert_int_equal(curve->n_buckets, n);
    for (size_t i = 0; i < n; i++) assert_near(curve->bucket_stats[i], expected[i], by);
    as_curves_free(&curves);
}

static void test_kernels_by_hand(void **state) {
    (void)state;
    const double x[] = {0, 1, 2}, y[] = {0, 3, 0};
    double e = exp(-0.5), f = exp(-2), g = 1 - 1.0 / 5, h = 1 - 4.0 / 5;
    const double normal[] = {3 * e / (1 + e + f), 3 / (1 + 2 * e), 3 * e / (1 + e + f)};
    check_kernel((as_kernel_options){.mode = "user", .regression = "lc", .bandwidth_value = 1}, x, y, 3, normal, 1e-14);
    check_kernel((as_kernel_options){.mode = "smoothing", .kernel = "normal", .bandwidth_value = 1}, x, y, 3, normal,
                 1e-14);
    check_kernel((as_kernel_options){.mode = "ridge", .gamma_low = 0.5, .gamma_high = 0.6, .gamma_step = 1}, x, y, 3,
                 normal, 1e-14);
    const double flat[] = {3 * g / (1 + g + h), 3 / (1 + 2 * g), 3 * g / (1 + g + h)};
    check_kernel((as_kernel_options){.bandwidth_value = 1}, x, y, 3, flat, 1e-14);
    /* 9/8 and, at the distance 1/2, 9/8 - 15/32 = 21/32; at 1: -3/4. */
    const double fourth[] = {(63.0 / 32) / (9.0 / 8 + 21.0 / 32 - 0.75), (27.0 / 8) / (9.0 / 8 + 21.0 / 16),
                             (63.0 / 32) / (9.0 / 8 + 21.0 / 32 - 0.75)};
    check_kernel((as_kernel_options){.kernel = "epanechnikov4", .bandwidth_value = 2}, x, y, 3, fourth, 1e-14);
    /* Local linear at 0: sums w = 1 + e + f, w d = e + 2 f, w d^2 = e + 4 f, w y = w d y = 3 e. */
    double w = 1 + e + f, wd = e + 2 * f, wdd = e + 4 * f, at_0 = (wdd * 3 * e - wd * 3 * e) / (w * wdd - wd * wd);
    const double linear[] = {at_0, normal[1], at_0};
    check_kernel((as_kernel_options){.mode = "user", .bandwidth_value = 1}, x, y, 3, linear, 1e-14);
    check_kernel((as_kernel_options){.smoothing = "local-linear", .bandwidth_value = 1}, x, y, 3, linear, 1e-14);
    check_kernel((as_kernel_options){.mode = "smoothing"}, x, y, 2, y, 0); /* too few: as they are */
}

/* What is a polynomial is found again, whatever the weights; in windows of few points and of many. */
static void test_polynomials_are_exact(void **state) {
    (void)state;
    static double x[MANY], cubic[MANY], line[MANY];
    const char *const kernels[] = {"epanechnikov", "tricube", "normal"};
    const size_t sizes[] = {5, 12, 300, MANY};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t i = 0; i < sizes[s]; i++) {
            x[i] = 1e6 + 100 * (double)i / (double)sizes[s];
            double u = (x[i] - 1e6) / 50 - 1;
            cubic[i] = 3 + u - 2 * u * u + 5 * u * u * u;
            line[i] = 7 - 2 * u;
        }
        for (int k = 0; k < 3; k++) {
            as_kernel_options options = {.kernel = kernels[k], .smoothing = "local-polynomial", .bandwidth = "scott"};
            check_kernel(options, x, cubic, sizes[s], cubic, 1e-7);
            options.order = 1;
            check_kernel(options, x, line, sizes[s], line, 1e-9);
        }
        check_kernel((as_kernel_options){.smoothing = "local-linear", .bandwidth = "silverman"}, x, line, sizes[s],
                     line, 1e-9);
        check_kernel((as_kernel_options){.mode = "method"}, x, line, sizes[s], line, 1e-9);
    }
}

static void make_groups(size_t n, as_arena *arena, as_groups *groups) {
    double *x = as_arena_array(arena, n, sizeof *x), *y = as_arena_array(arena, n, sizeof *y);
    assert_non_null(x);
    assert_non_null(y);
    uint64_t seed = 3;
    for (size_t i = 0; i < n; i++) {
        x[i] = i % 7 == 6 ? x[i - 1] : (double)i + next_random(&seed);
        y[i] = sin((double)i / 300) + next_random(&seed);
    }
    assert_true(as_groups_make(&(as_sorted){x, y, n}, arena, groups));
}

/* Sums by cells are those of points one by one, each next to its size. */
static void assert_same_sums(const as_field *fast, size_t target) {
    as_field plain = *fast;
    plain.n_terms = 0;
    double s[2][7], t[2][4], size_s = 0, size_t_ = 0;
    as_field_sums(fast, target, s[0], t[0]);
    as_field_sums(&plain, target, s[1], t[1]);
    for (int k = 0; k < 7; k++) size_s = fmax(size_s, fabs(s[1][k]));
    for (int k = 0; k < 4; k++) size_t_ = fmax(size_t_, fabs(t[1][k]));
    for (int k = 0; k < 7; k++) assert_near(s[0][k], s[1][k], 1e-12 * size_s);
    for (int k = 0; k < 4; k++) assert_near(t[0][k], t[1][k], 1e-11 * fmax(size_t_, size_s));
}

static void test_cells(void **state) {
    (void)state;
    const double bandwidths[] = {40, 300, 1e6}; /* the last one: all in one cell */
    as_arena arena;
    as_groups groups;
    as_arena_init(&arena, NULL);
    make_groups(MANY, &arena, &groups);
    for (int i = 0; i < 3 * AS_N_KERNELS; i++) {
        as_field fast;
        bool is_compact = i % AS_N_KERNELS != AS_NORMAL && i % AS_N_KERNELS != AS_NORMAL4;
        double bandwidth = bandwidths[i / AS_N_KERNELS] * (is_compact ? 4 : 1);
        assert_true(as_field_make(&groups, (as_kernel)(i % AS_N_KERNELS), bandwidth, 7, 1, &arena, &fast));
        assert_true(fast.n_terms > 0);
        for (size_t target = 0; target < groups.n; target += 97) assert_same_sums(&fast, target);
    }
    as_arena_free(&arena);
}

/* A point far from all others, and one that outweighs its cell: what they see of the others is not lost in rounding. */
static void test_cells_of_uneven_points(void **state) {
    (void)state;
    as_arena arena;
    as_groups groups;
    as_field fast;
    as_arena_init(&arena, NULL);
    make_groups(MANY, &arena, &groups);
    groups.count[MANY / 2] = 1e14;
    groups.sum[MANY / 2] = 3e14;
    groups.at[groups.n - 1] = groups.at[groups.n - 2] + 30 * 100;
    assert_true(as_field_make(&groups, AS_NORMAL, 100, 7, 1, &arena, &fast));
    assert_true(fast.n_terms > 0);
    assert_same_sums(&fast, MANY / 2);
    assert_same_sums(&fast, groups.n - 1);
    assert_same_sums(&fast, 5);
    as_arena_free(&arena);
}

static double plain_leave_one_out(const as_groups *groups, double bandwidth, bool is_linear) {
    double error = 0;
    for (size_t j = 0; j < groups->n_points; j++) {
        double s[3] = {0}, t[2] = {0};
        for (size_t i = 0; i < groups->n_points; i++) {
            double z = (groups->x[i] - groups->x[j]) / bandwidth, weight = i == j ? 0 : exp(-z * z / 2);
            for (int k = 0; k < 3; k++) s[k] += weight * pow(z, k);
            for (int k = 0; k < 2; k++) t[k] += weight * pow(z, k) * groups->y[i];
        }
        double value = is_linear ? (t[0] * s[2] - t[1] * s[1]) / (s[0] * s[2] - s[1] * s[1]) : t[0] / s[0];
        error += (value - groups->y[j]) * (value - groups->y[j]);
    }
    return error / (double)groups->n_points;
}

/* No bandwidth of a fine grid predicts better than the one found. */
static void test_cross_validation(void **state) {
    (void)state;
    as_arena arena;
    as_groups groups;
    as_arena_init(&arena, NULL);
    make_groups(60, &arena, &groups);
    for (int is_linear = 0; is_linear < 2; is_linear++) {
        as_bandwidth_search search = {.groups = &groups, .is_linear = is_linear, .start = 5};
        double found = plain_leave_one_out(&groups, as_bandwidth_find(&search), is_linear);
        for (double bandwidth = 0.5; bandwidth < 1e4; bandwidth *= 1.05) {
            double other = plain_leave_one_out(&groups, bandwidth, is_linear);
            assert_true(isnan(other) || found <= other * (1 + 1e-6));
        }
    }
    bool is_out = false;
    assert_near(as_ridge_error(&groups, 0.02, 1, NULL, &is_out), plain_leave_one_out(&groups, 5, false), 1e-12);
    as_arena_free(&arena);
}

static void test_kernel_rules(void **state) {
    (void)state;
    const double x[] = {1, 2, 4, 8}, y[] = {1, 2, 3, 5};
    /* Deviation sqrt(28.75 / 3); quartiles 1.75 and 5. */
    double deviation = sqrt(28.75 / 3), spread = fmin(deviation, 3.25 / 1.349), root = pow(4, -0.2);
    const struct {
        const char *mode, *rule;
        bool is_compatible;
        double expected;
    } cases[] = {{"smoothing", "scott", false, deviation * root},
                 {"smoothing", "silverman", false, deviation * pow(3, -0.2)},
                 {"method", "scott", false, 1.059 * spread * root},
                 {"method", "silverman", false, 0.9 * spread * root},
                 {"method", "silverman", true, 1.059 * spread * root}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_points points;
        as_points_set set = one_uid(&points, x, y, 4);
        as_curves curves;
        as_curves_init(&curves, NULL);
        as_kernel_options options = {
            .mode = cases[i].mode, .bandwidth = cases[i].rule, .is_compatible = cases[i].is_compatible};
        assert_int_equal(as_kernel_regression(&set, &options, &curves, NULL), ASSAY_OK);
        assert_near(only_curve(&curves)->bandwidth, cases[i].expected, 1e-12);
        as_curves_free(&curves);
    }
}

/* Too few points in a window: the bandwidth grows by ones until there are enough, or the uid is left out; the others go
 * on. */
static void test_too_few_for_a_polynomial(void **state) {
    (void)state;
    const double x[] = {0, 10, 20, 30, 40}, same[] = {5, 5, 5, 5, 5}, few[] = {1, 1, 2, 2, 3},
                 far[] = {0, 1e300, 2e300, 3e300, 4e300};
    const double y[] = {1, 2, 4, 8, 16};
    as_points points[] = {{.uid = "even", .x = x, .y = y, .n = 5},
                          {.uid = "far", .x = far, .y = y, .n = 5},
                          {.uid = "few", .x = few, .y = y, .n = 5},
                          {.uid = "none"},
                          {.uid = "same", .x = same, .y = y, .n = 5}};
    as_points_set set = {.points = points, .n = 5, .of = "amount", .per = "size"};
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        as_curves curves;
        as_curves_init(&curves, NULL);
        as_kernel_options options = {.smoothing = "local-polynomial", .bandwidth_value = 2.5, .threads = threads};
        assert_int_equal(as_kernel_regression(&set, &options, &curves, NULL), ASSAY_OK);
        assert_int_equal(curves.curves.count, 1);
        assert_int_equal(curves.skipped.count, 4);
        /* The ends need the points at the distance 30 = sqrt(5) 13.416. */
        assert_near(AS_AT(as_curve, &curves.curves, 0).bandwidth, 13.5, 0);
        as_curves_free(&curves);
    }
}

static void test_threads(void **state) {
    (void)state;
    as_arena arena;
    as_groups groups;
    as_arena_init(&arena, NULL);
    make_groups(MANY, &arena, &groups);
    as_points points;
    as_points_set set = one_uid(&points, groups.x, groups.given, MANY);
    const as_kernel_options all[] = {
        {.smoothing = "local-polynomial"}, {.mode = "estimator", .regression = "lc"}, {.mode = "ridge"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        as_curves curves[2];
        for (unsigned k = 0; k < 2; k++) {
            as_kernel_options options = all[i];
            options.threads = 1 + 3 * k;
            as_curves_init(&curves[k], NULL);
            assert_int_equal(as_kernel_regression(&set, &options, &curves[k], NULL), ASSAY_OK);
        }
        const as_curve *a = only_curve(&curves[0]), *b = only_curve(&curves[1]);
        assert_true(a->bandwidth == b->bandwidth && a->r_square == b->r_square);
        assert_memory_equal(a->bucket_stats, b->bucket_stats, MANY * sizeof(double));
        as_curves_free(&curves[0]);
        as_curves_free(&curves[1]);
    }
    as_arena_free(&arena);
}

/* ---- what changes resources -------------------------------------------------------------------------------------- */

static as_dataset *make_resources(void) {
    static const struct {
        const char *uid, *type;
        double amount;
    } rows[] = {{"b", "time", 100},   {"a", "time", 10},  {"a", "time", 11}, {"b", "time", 50}, {"a", "time", 10.5},
                {"b", "memory", 101}, {"b", "time", 102}, {"c", "zero", 0},  {"c", "zero", NAN}};
    as_dataset *ds = as_dataset_new(0);
    assert_non_null(ds);
    as_records *records = as_records_new(ds, "record");
    uint32_t columns[3];
    const char *const names[] = {"uid", "type", "amount"};
    for (int i = 0; i < 3; i++) columns[i] = as_records_column(records, as_ds_intern(ds, names[i], strlen(names[i])));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        as_shared_cell cells[2] = {{columns[0], false, as_cell_text(rows[i].uid)},
                                   {columns[1], false, as_cell_text(rows[i].type)}};
        uint32_t kind = as_records_add_kind(records, cells, 2);
        assert_true(as_records_add_rows(records, 0, kind, 1));
        if (!isnan(rows[i].amount))
            assert_true(as_records_set(records, i, columns[2], AS_OWN_REAL, (as_own_value){.r = rows[i].amount}));
    }
    return ds;
}

static void test_clusters(void **state) {
    (void)state;
    as_dataset *ds = make_resources();
    uint64_t out[9];
    assert_int_equal(as_clusterize(ds, &(as_cluster_options){.is_sliding = false}, out, NULL), ASSAY_OK);
    /* a: 10, 10.5, 11; b: 50, 100 of time, 101 of memory, 102 of time: three groups. */
    const uint64_t sorted[] = {2, 1, 3, 1, 2, 1, 1, 1, 0};
    assert_memory_equal(out, sorted, sizeof out);
    as_cluster_options options = {.is_sliding = true, .width = 2, .width_is_absolute = true, .height = 0.05};
    assert_int_equal(as_clusterize(ds, &options, out, NULL), ASSAY_OK);
    /* a: 10 and 10.5 up to 10.5, then 11; b: 50 up to 52.5, then 100. */
    const uint64_t sliding[] = {2, 1, 2, 1, 1, 1, 1, 1, 0};
    assert_memory_equal(out, sliding, sizeof out);
    options = (as_cluster_options){.is_sliding = true, .width = 0.5, .height = 100, .height_is_absolute = true};
    assert_int_equal(as_clusterize(ds, &options, out, NULL), ASSAY_OK);
    /* Half of three is one and a half: two are taken; half of two is one; half of one is less than one, but the first
     * begins a cluster. */
    const uint64_t relative[] = {2, 1, 2, 1, 1, 1, 1, 1, 0};
    assert_memory_equal(out, relative, sizeof out);
    as_dataset_free(ds);
}

static void test_normal(void **state) {
    (void)state;
    as_dataset *ds = make_resources();
    double out[9];
    assert_int_equal(as_normalize(ds, out, NULL), ASSAY_OK);
    const double expected[] = {100.0 / 102, 10.0 / 102, 11.0 / 102, 50.0 / 102, 10.5 / 102, 1, 1, 1, NAN};
    for (int i = 0; i < 9; i++) assert_near(out[i], expected[i], 0);
    as_dataset_free(ds);
    ds = as_dataset_new(0);
    uint64_t none;
    assert_int_equal(as_normalize(ds, out, NULL), ASSAY_E_USAGE);
    assert_int_equal(as_clusterize(ds, &(as_cluster_options){0}, &none, NULL), ASSAY_E_USAGE);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_bucket_rules),
        cmocka_unit_test(test_hostile_buckets),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_large_values_leave),
        cmocka_unit_test(test_windows_of_many),
        cmocka_unit_test(test_width_search),
        cmocka_unit_test(test_moving_usage),
        cmocka_unit_test(test_kernels_by_hand),
        cmocka_unit_test(test_polynomials_are_exact),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_cells_of_uneven_points),
        cmocka_unit_test(test_cross_validation),
        cmocka_unit_test(test_kernel_rules),
        cmocka_unit_test(test_too_few_for_a_polynomial),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
