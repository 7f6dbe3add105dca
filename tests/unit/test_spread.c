/* Sums, means, deviations, quartiles and histograms of some numbers, reckoned by hand, and against sorting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/spread.h"

static as_spread reals(const double *values, uint32_t n, as_part_rule rule) {
    void *room = malloc(AS_SPREAD_ROOM(n));
    as_spread spread;
    as_spread_reals(values, n, rule, room, &spread);
    free(room);
    return spread;
}

static as_spread wholes(const as_whole *values, uint32_t n) {
    void *room = malloc(AS_SPREAD_ROOM(n));
    as_spread spread;
    as_spread_integers(values, n, room, &spread);
    free(room);
    return spread;
}

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-14 * fabs(b); }

static void quartiles_lie_between_neighbours(void **state) {
    (void)state;
    static const double four[] = {4, 1, 3, 2};
    as_spread s = reals(four, 4, AS_PART_ADD);
    assert_true(s.sum == 10 && s.mean == 2.5 && s.min == 1 && s.max == 4);
    assert_int_equal(s.min_at, 1);
    assert_int_equal(s.max_at, 0);
    /* places 0.75, 1.5 and 2.25 among 1 2 3 4 */
    assert_true(s.q1 == 1.75 && s.median == 2.5 && s.q3 == 3.25);
    assert_true(is_near(s.stddev, sqrt(1.25))); /* (2.25 + 0.25 + 0.25 + 2.25) / 4 */
    assert_true(is_near(s.imbalance, 0.6));     /* 4 / 2.5 - 1 */
    assert_true(s.excess == 6);                 /* 4 * 4 - 10 */

    static const double five[] = {10, 50, 20, 40, 30};
    s = reals(five, 5, AS_PART_ADD);
    assert_true(s.q1 == 20 && s.median == 30 && s.q3 == 40);

    static const double six[] = {12, 12.375, 12.75, 13.125, 13.5, 13.875};
    s = reals(six, 6, AS_PART_ADD);
    assert_true(s.q1 == 12.46875 && s.median == 12.9375 && s.q3 == 13.40625);
}

static void few_numbers(void **state) {
    (void)state;
    static const double values[] = {7, 3};
    as_spread s = reals(values, 1, AS_PART_ADD);
    assert_true(s.q1 == 7 && s.median == 7 && s.q3 == 7 && s.stddev == 0 && s.imbalance == 0);
    assert_int_equal(s.bins[0], 1);
    s = reals(values, 2, AS_PART_ADD);
    assert_true(s.q1 == 4 && s.median == 5 && s.q3 == 6 && s.stddev == 2 && s.mean == 5);
    s = reals(values, 2, AS_PART_MINIMUM);
    assert_true(s.sum == 3 && s.mean == 5 && s.max == 7);
    assert_true(s.excess == 4); /* 2 * 7 less all there is, whatever the sum is called */
    s = reals(values, 2, AS_PART_MAXIMUM);
    assert_true(s.sum == 7);
}

static void no_imbalance_without_a_mean(void **state) {
    (void)state;
    static const double zeros[] = {0, 0, 0}, around[] = {-1, 1};
    as_spread s = reals(zeros, 3, AS_PART_ADD);
    assert_true(isnan(s.imbalance) && s.sum == 0 && s.stddev == 0 && s.median == 0);
    s = reals(around, 2, AS_PART_ADD);
    assert_true(isnan(s.imbalance) && s.stddev == 1);
}

static void integers_are_exact(void **state) {
    (void)state;
    as_whole large = (as_whole)UINT64_MAX;
    as_whole values[] = {large, large - 1, large, large - 3};
    as_spread s = wholes(values, 4);
    assert_true(s.is_integer);
    assert_true(s.whole_sum == 4 * large - 4 && s.whole_min == large - 3 && s.whole_max == large);
    assert_int_equal(s.min_at, 3);
    assert_int_equal(s.max_at, 0);
    /* 3 2 3 0 above the smallest: mean 2, squares 1 + 0 + 1 + 4 */
    assert_true(is_near(s.stddev, sqrt(1.5)));
    assert_int_equal(s.bins[0], 1);
    assert_int_equal(s.bins[5], 1); /* 2 of 3 is 5.33 eighths */
    assert_int_equal(s.bins[7], 2);
    as_whole few[] = {-5, 5, 2};
    s = wholes(few, 3);
    assert_true(s.whole_sum == 2 && s.median == 2 && s.q1 == -1.5 && s.q3 == 3.5);
    assert_true(is_near(s.mean, 2.0 / 3));
}

static void what_is_not_finite(void **state) {
    (void)state;
    static const double some[] = {1, NAN, 3}, infinite[] = {1, INFINITY, 3};
    as_spread s = reals(some, 3, AS_PART_ADD);
    assert_true(isnan(s.sum) && isnan(s.max) && isnan(s.median) && isnan(s.imbalance));
    s = reals(infinite, 3, AS_PART_ADD);
    assert_true(s.min == 1 && isinf(s.max) && isinf(s.mean) && s.median == 3);
    for (int i = 0; i < AS_SPREAD_BINS; i++) assert_int_equal(s.bins[i], 0);
}

static void histograms_count_all(void **state) {
    (void)state;
    static const double values[] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, ends[] = {-1e308, 1e308, 0};
    as_spread s = reals(values, 9, AS_PART_ADD);
    static const uint32_t expected[] = {1, 1, 1, 1, 1, 1, 1, 2}; /* the largest belongs to the last */
    assert_memory_equal(s.bins, expected, sizeof expected);
    uint32_t bins[2];
    as_spread_count(ends, 3, -1e308, 1e308, bins, 2); /* the range is beyond double */
    assert_int_equal(bins[0], 1);
    assert_int_equal(bins[1], 2);
}

static double at_part(const double *sorted, uint32_t n, double part) {
    double at = part * (n - 1);
    uint32_t low = (uint32_t)at;
    return low + 1 < n ? sorted[low] + (sorted[low + 1] - sorted[low]) * (at - low) : sorted[low];
}

/* Numbers of many shapes: spread out, close together, of all sizes, with many equal ones. */
static double shaped(int shape, uint64_t random) {
    double unit = (double)(random >> 11) / 9007199254740992.0;
    switch (shape) {
    case 0: return unit;
    case 1: return 1e6 + unit * 1e-6;
    case 2: return (unit - 0.5) * pow(10, (double)(random % 600) - 300);
    case 3: return (double)(random % 3);
    case 4: return random % 100 ? 5 : unit;
    default: return -unit * 1e300;
    }
}

static void the_same_as_sorting(void **state) {
    (void)state;
    uint64_t random = 88172645463325252ull;
    double values[1000], sorted[1000];
    for (int round = 0; round < 600; round++) {
        uint32_t n = round < 120 ? (uint32_t)round / 2 + 1 : 25 + (uint32_t)(random % 975);
        for (uint32_t i = 0; i < n; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            sorted[i] = values[i] = shaped(round % 6, random);
        }
        qsort(sorted, n, sizeof *sorted, as_real_compare);
        as_spread s = reals(values, n, AS_PART_ADD);
        assert_true(s.min == sorted[0] && s.max == sorted[n - 1]);
        assert_true(s.q1 == at_part(sorted, n, 0.25));
        assert_true(s.median == at_part(sorted, n, 0.5));
        assert_true(s.q3 == at_part(sorted, n, 0.75));
        uint32_t counted = 0;
        for (int i = 0; i < AS_SPREAD_BINS; i++) counted += s.bins[i];
        assert_int_equal(counted, n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quartiles_lie_between_neighbours),
        cmocka_unit_test(few_numbers),
        cmocka_unit_test(no_imbalance_without_a_mean),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(what_is_not_finite),
        cmocka_unit_test(histograms_count_all),
        cmocka_unit_test(the_same_as_sorting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
