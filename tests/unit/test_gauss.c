/* Gaussian processes against numpy's closed form and scikit-learn 1.2.1 (60 restarts, same kernel and bounds). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "analysis/scaling/gauss.h"

static void near(double expected, double got, double part) {
    if (!(fabs(expected - got) <= part * fabs(expected))) fail_msg("expected %.12g, got %.12g", expected, got);
}

static const double X[] = {10, 10, 20, 10, 40, 10, 10, 50, 100, 100};

static void covariance_by_hand(void **state) {
    (void)state;
    as_gauss_kernel kernel = {.signal = 2, .length = sqrt(3), .noise = 7};
    const double a[] = {1, 2}, b[] = {4, 6}; /* 5 apart */
    near(2 * 6 * exp(-5), as_gauss_covariance(&kernel, a, b, 2), 1e-12);
    near(2, as_gauss_covariance(&kernel, a, a, 2), 1e-12);
}

static void variances_as_numpy_has_them(void **state) {
    (void)state;
    const double candidates[] = {80, 10, 10, 100, 40, 10};
    as_gauss_kernel kernel = {.signal = 2, .length = 30, .noise = 0.05};
    as_gauss_field field;
    assert_true(as_gauss_field_init(&field, &kernel, X, 5, 2, candidates, 3, 2));
    static const double expected[3][3] = {{1.8157785383494889, 1.9538009337121693, 0.09765419961612043},
                                          {0.09862318011409421, 1.9537937059628097, 0.09741420938164835},
                                          {0.07465098978649998, 1.9537936050604758, 0.09741085901992985}};
    for (size_t step = 0; step < 3; step++) {
        for (size_t i = 0; i < 3; i++) near(expected[step][i], field.variance[i], 1e-10);
        if (step < 2) as_gauss_field_observe(&field, 0);
    }
    as_gauss_field_free(&field);
}

static void nothing_observed(void **state) {
    (void)state;
    const double candidate[] = {3};
    as_gauss_kernel kernel = {.signal = 2, .length = 30, .noise = 0.5};
    as_gauss_field field;
    assert_true(as_gauss_field_init(&field, &kernel, NULL, 0, 1, candidate, 1, 1));
    near(2.5, field.variance[0], 1e-12);
    as_gauss_field_observe(&field, 0);
    near(2.5 - 2 * 2 / 2.5, field.variance[0], 1e-12); /* a second look at the same place */
    as_gauss_field_free(&field);
}

typedef struct fitted {
    as_gauss_kernel kernel;
    double likelihood;
} fitted;

static fitted fit(const double *x, const double *y, size_t n, size_t d) {
    fitted f;
    assert_true(as_gauss_fit(x, y, n, d, &f.kernel, &f.likelihood));
    return f;
}

static void growth_along_one_parameter(void **state) {
    (void)state;
    const double x[] = {6.25, 12.5, 25, 50, 100}, y[] = {1, 2, 4.1, 8, 16.2};
    fitted f = fit(x, y, 5, 1);
    near(-8.6551346, f.likelihood, 1e-7);
    near(1686.108, f.kernel.length, 1e-2); /* flat: the likelihood tells lengths apart to a percent */
    near(7143.33, f.kernel.signal, 3e-2);
    near(AS_GAUSS_LEAST, f.kernel.noise, 1e-3);
}

static void noise_alone(void **state) {
    (void)state;
    const double x[] = {6.25, 12.5, 25, 50, 100}, y[] = {1, -1, 1, -1, 1};
    fitted f = fit(x, y, 5, 1);
    near(-7.094692666, f.likelihood, 1e-7);
    near(1, f.kernel.signal + f.kernel.noise, 1e-4); /* which of them it is cannot be told */
}

static void two_parameters(void **state) {
    (void)state;
    const double y[] = {1, 1.5, 2.2, 3, 9};
    fitted f = fit(X, y, 5, 2);
    near(-8.5472021345, f.likelihood, 1e-8);
    near(527.238, f.kernel.length, 1e-3);
    near(128.073, f.kernel.signal, 1e-3);
    near(4.06627e-3, f.kernel.noise, 1e-3);
}

static void three_parameters(void **state) {
    (void)state;
    static const double x[] = {8.6,  23.7, 80.1, 58.2, 9.4,  43.3, 47.9, 16.0, 73.5, 11.4, 39.1, 51.7, 43.1, 58.7, 73.8,
                               95.6, 28.4, 64.9, 69.6, 29.3, 0.1,  97.3, 29.8, 31.4, 89.2, 58.5, 47.1, 77.3, 3.0,  70.7,
                               37.4, 9.1,  66.1, 93.1, 20.7, 63.0, 29.8, 74.2, 72.2, 21.9, 83.0, 65.8, 68.3, 82.0, 42.9,
                               75.9, 87.8, 10.2, 85.0, 39.4, 48.0, 14.6, 69.8, 29.2, 87.1, 27.5, 56.2, 40.0, 61.3, 19.7,
                               18.0, 74.7, 75.2, 56.7, 92.1, 20.6, 85.1, 16.9, 96.4, 62.4, 60.7, 97.1, 78.7, 79.0, 5.4,
                               36.9, 8.5,  19.4, 21.4, 85.9, 12.7, 29.7, 49.3, 84.9, 96.5, 70.8, 21.4, 54.5, 70.6, 5.2};
    static const double y[] = {2.018, 2.754, 2.529, 2.095, 2.035, 3.923, 3.444, 3.818, 2.826, 2.695,
                               2.309, 3.798, 1.079, 0.56,  1.577, 1.545, 3.703, 0.871, 3.736, 1.865,
                               0.855, 1.162, 3.705, 2.504, 2.0,   1.946, 0.48,  2.159, 2.595, 1.483};
    fitted f = fit(x, y, 30, 3);
    near(-12.6946017, f.likelihood, 1e-7);
    near(136.541, f.kernel.length, 1e-3);
    near(4.50364, f.kernel.signal, 1e-3);
}

static void odd_inputs(void **state) {
    (void)state;
    const double same[] = {5, 5, 5}, zeros[] = {0, 0, 0};
    assert_true(isfinite(fit(same, zeros, 3, 1).likelihood)); /* one place three times, and nothing there */
    assert_true(isfinite(fit(X, (const double[]){4}, 1, 2).likelihood));
    assert_true(fit(X, X, 0, 2).likelihood == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covariance_by_hand), cmocka_unit_test(variances_as_numpy_has_them),
        cmocka_unit_test(nothing_observed),   cmocka_unit_test(growth_along_one_parameter),
        cmocka_unit_test(noise_alone),        cmocka_unit_test(two_parameters),
        cmocka_unit_test(three_parameters),   cmocka_unit_test(odd_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
