/* Intervals against intervals: by hand, and against definitions that look at every nanosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "formats/nsight/export.h"

/* cmocka's own compares floats */
#define assert_near(a, b, most)                                                                                        \
    do {                                                                                                               \
        if (!(fabs((a) - (b)) <= (most))) fail_msg("%.17g is not %.17g", (double)(a), (double)(b));                    \
    } while (0)
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

static void a_union_joins_what_touches(void **state) {
    (void)state;
    const as_ns_weighted spans[] = {{30, 40, 1}, {0, 10, 1}, {5, 12, 1}, {12, 20, 1}, {6, 7, 1}, {-5, -3, 1}};
    as_ns_measure measure;
    assert_true(as_ns_measure_union(spans, COUNT(spans), NULL, NULL, &measure));
    assert_int_equal(measure.pieces.count, 3);
    assert_int_equal(measure.total, 2 + 20 + 10);
    assert_int_equal(as_ns_measure_between(&measure, -100, 100), 32);
    assert_int_equal(as_ns_measure_between(&measure, -4, 1), 2);
    assert_int_equal(as_ns_measure_between(&measure, 20, 30), 0);
    assert_int_equal(as_ns_measure_between(&measure, 19, 31), 2);
    assert_int_equal(as_ns_measure_between(&measure, 40, 50), 0);
    assert_int_equal(as_ns_measure_between(&measure, 7, 7), 0);
    assert_int_equal(as_ns_measure_between(&measure, 9, 7), 0);

    const as_ns_weighted more[] = {{18, 32, 1}, {50, 60, 1}};
    as_ns_measure both;
    assert_true(as_ns_measure_union(more, COUNT(more), &measure, NULL, &both));
    assert_int_equal(both.pieces.count, 3);
    assert_int_equal(both.total, 2 + 40 + 10);
    as_ns_measure_free(&both);
    as_ns_measure_free(&measure);
}

static void nothing_covers_nothing(void **state) {
    (void)state;
    as_ns_measure measure;
    assert_true(as_ns_measure_union(NULL, 0, NULL, NULL, &measure));
    assert_int_equal(measure.total, 0);
    assert_int_equal(as_ns_measure_between(&measure, INT64_MIN, INT64_MAX), 0);
    assert_true(as_ns_kernel_overlaps(NULL, 0, NULL, NULL));
    assert_true(as_ns_shared_overlaps(NULL, 0, &measure, NULL, NULL));
    assert_true(as_ns_cover_latest(NULL, 0, &measure, NULL, NULL));
    as_ns_measure_free(&measure);
}

static void times_at_the_ends_of_numbers(void **state) {
    (void)state;
    const as_ns_weighted spans[] = {{INT64_MIN, -1, 1}, {1, INT64_MAX, 1}, {-2, 0, 1}};
    as_ns_measure measure;
    assert_true(as_ns_measure_union(spans, COUNT(spans), NULL, NULL, &measure));
    assert_true(measure.total == UINT64_MAX - 1);
    assert_int_equal(as_ns_measure_between(&measure, -3, 3), 5);
    double overlaps[COUNT(spans)];
    assert_true(as_ns_kernel_overlaps(spans, COUNT(spans), NULL, overlaps));
    assert_true(overlaps[0] == 0.5 && overlaps[1] == 0 && overlaps[2] == 0.5);
    as_ns_measure_free(&measure);
}

static void kernels_share_by_their_threads(void **state) {
    (void)state;
    /* 3 of 4 threads while both run, from 10 to 20; the third touches them only */
    const as_ns_weighted kernels[] = {{0, 20, 3}, {10, 40, 1}, {40, 50, 7}};
    double overlaps[3];
    assert_true(as_ns_kernel_overlaps(kernels, 3, NULL, overlaps));
    assert_true(overlaps[0] == 10 * 1.0 / 4);
    assert_true(overlaps[1] == 10 * 3.0 / 4);
    assert_true(overlaps[2] == 0);
}

static void kernels_without_threads_take_nothing(void **state) {
    (void)state;
    const as_ns_weighted alone[] = {{0, 20, 0}, {10, 40, 0}};
    double overlaps[3];
    assert_true(as_ns_kernel_overlaps(alone, 2, NULL, overlaps));
    assert_true(overlaps[0] == 0 && overlaps[1] == 0);
    const as_ns_weighted kernels[] = {{0, 20, 0}, {10, 40, 5}, {39, 41, 0}};
    assert_true(as_ns_kernel_overlaps(kernels, 3, NULL, overlaps));
    assert_true(overlaps[0] == 10 && overlaps[1] == 0 && overlaps[2] == 1);
}

static void late_times_make_no_noise(void **state) {
    (void)state;
    /* a kernel of one thread for hours before kernels of many: each of those has what it has at the beginning of
     * time */
    enum { N = 1000 };
    as_ns_weighted *kernels = calloc(N + 2, sizeof *kernels);
    double *overlaps = calloc(N + 2, sizeof *overlaps);
    assert_true(kernels && overlaps);
    int64_t hours = 40000000000000, at = 1700000000000000000;
    kernels[0] = (as_ns_weighted){at, at + hours, 1};
    kernels[1] = (as_ns_weighted){at + 7, at + hours + N * 30, 2};
    for (int i = 0; i < N; i++) kernels[2 + i] = (as_ns_weighted){at + hours + i * 30, at + hours + i * 30 + 20, 98};
    assert_true(as_ns_kernel_overlaps(kernels, N + 2, NULL, overlaps));
    for (int i = 0; i < N; i++) assert_near(overlaps[2 + i], 20 * 2.0 / 100, 1e-9);
    free(kernels);
    free(overlaps);
}

static void copies_lose_what_kernels_cover(void **state) {
    (void)state;
    const as_ns_weighted kernels[] = {{10, 20, 1}};
    const as_ns_weighted copies[] = {{0, 30, 1}, {15, 40, 1}, {100, 130, 1}, {12, 13, 1}};
    as_ns_measure cover;
    assert_true(as_ns_measure_union(kernels, 1, NULL, NULL, &cover));
    double overlaps[4];
    assert_true(as_ns_shared_overlaps(copies, 4, &cover, NULL, overlaps));
    assert_true(overlaps[0] == 10 + 10 / 2.0); /* 20 … 30 is shared with the second */
    assert_true(overlaps[1] == 5 + 10 / 2.0);
    assert_true(overlaps[2] == 0);
    assert_true(overlaps[3] == 1);
    as_ns_measure_free(&cover);
}

static void a_moment_belongs_to_the_latest_start(void **state) {
    (void)state;
    const as_ns_weighted kernels[] = {{5, 35, 1}, {45, 100, 1}};
    const as_ns_owned spans[] = {{0, 50, 0}, {10, 20, 1}, {15, 40, 2}, {15, 18, 3}, {60, 70, 0}};
    as_ns_measure cover;
    assert_true(as_ns_measure_union(kernels, COUNT(kernels), NULL, NULL, &cover));
    int64_t covered[4] = {0};
    assert_true(as_ns_cover_latest(spans, COUNT(spans), &cover, NULL, covered));
    assert_int_equal(covered[0], 5 + 5 + 10); /* 5 … 10, 45 … 50, 60 … 70 */
    assert_int_equal(covered[1], 5);          /* 10 … 15 */
    assert_int_equal(covered[2], 17);         /* 18 … 35 */
    assert_int_equal(covered[3], 3);          /* 15 … 18: it ends first */
    as_ns_measure_free(&cover);
}

/* ---- every nanosecond -------------------------------------------------------------------------------------------- */

enum { END = 64, MANY = 24 };

static bool runs_at(const as_ns_weighted *span, int64_t t) { return span->start <= t && t < span->end; }
static bool is_covered_at(const as_ns_weighted *spans, size_t n, int64_t t) {
    for (size_t i = 0; i < n; i++) {
        if (runs_at(&spans[i], t)) return true;
    }
    return false;
}

/* What spans[k] loses, with `cover` that takes all of it. */
static double slow_overlap(const as_ns_weighted *spans, size_t n, size_t k, const as_ns_weighted *cover,
                           size_t n_cover) {
    double sum = 0;
    for (int64_t t = spans[k].start; t < spans[k].end; t++) {
        if (is_covered_at(cover, n_cover, t)) {
            sum += 1;
            continue;
        }
        double all = 0;
        for (size_t i = 0; i < n; i++) all += runs_at(&spans[i], t) ? spans[i].weight : 0;
        if (all > 0) sum += (all - spans[k].weight) / all;
    }
    return sum;
}

static size_t make_spans(uint64_t *random, as_ns_weighted *spans, size_t most, bool is_weighted, bool is_sorted) {
    size_t n = (size_t)as_random_below(random, most + 1);
    int64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        at = is_sorted ? at + (int64_t)as_random_below(random, 4) : (int64_t)as_random_below(random, END - 1);
        if (at > END - 2) at = END - 2;
        int64_t room = END - 1 - at, length = 1 + (int64_t)as_random_below(random, (size_t)(room > 9 ? 9 : room));
        spans[i] = (as_ns_weighted){at, at + length, is_weighted ? (double)as_random_below(random, 5) : 1};
    }
    return n;
}

static void random_overlaps_are_those_of_the_definition(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 4000; round++) {
        as_ns_weighted spans[MANY], others[MANY];
        size_t n = make_spans(&random, spans, MANY, round % 2, round % 3 == 0),
               n_others = make_spans(&random, others, MANY / 4, false, false);
        double overlaps[MANY];
        assert_true(as_ns_kernel_overlaps(spans, n, NULL, overlaps));
        for (size_t i = 0; i < n; i++) {
            double expected = slow_overlap(spans, n, i, NULL, 0);
            assert_near(overlaps[i], expected, 1e-9);
            if (expected == 0) assert_true(overlaps[i] == 0);
        }
        for (size_t i = 0; i < n; i++) spans[i].weight = 1;
        as_ns_measure cover;
        assert_true(as_ns_measure_union(others, n_others, NULL, NULL, &cover));
        assert_true(as_ns_shared_overlaps(spans, n, &cover, NULL, overlaps));
        for (size_t i = 0; i < n; i++) assert_near(overlaps[i], slow_overlap(spans, n, i, others, n_others), 1e-9);
        as_ns_measure_free(&cover);
    }
}

static void random_unions_are_those_of_the_definition(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int round = 0; round < 2000; round++) {
        as_ns_weighted spans[MANY], others[MANY];
        size_t n = make_spans(&random, spans, MANY / 2, false, false),
               n_others = make_spans(&random, others, MANY / 2, false, true);
        as_ns_measure base, both;
        assert_true(as_ns_measure_union(others, n_others, NULL, NULL, &base));
        assert_true(as_ns_measure_union(spans, n, &base, NULL, &both));
        int64_t from = (int64_t)as_random_below(&random, END), to = (int64_t)as_random_below(&random, END), sum = 0;
        for (int64_t t = from; t < to; t++) sum += is_covered_at(spans, n, t) || is_covered_at(others, n_others, t);
        assert_int_equal(as_ns_measure_between(&both, from, to), sum);
        as_ns_measure_free(&base);
        as_ns_measure_free(&both);
    }
}

/* The owner of a moment; -1: nobody. */
static int slow_owner(const as_ns_owned *spans, size_t n, int64_t t) {
    int best = -1;
    for (size_t i = 0; i < n; i++) {
        if (t < spans[i].start || t >= spans[i].end) continue;
        const as_ns_owned *other = best < 0 ? NULL : &spans[best];
        if (!other || spans[i].start > other->start || (spans[i].start == other->start && spans[i].end <= other->end))
            best = (int)i;
    }
    return best < 0 ? -1 : (int)spans[best].owner;
}

static void random_owners_are_those_of_the_definition(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int round = 0; round < 4000; round++) {
        as_ns_weighted spans[MANY], kernels[MANY];
        as_ns_owned owned[MANY];
        size_t n = make_spans(&random, spans, MANY, false, round % 2),
               n_kernels = make_spans(&random, kernels, MANY / 3, false, false);
        for (size_t i = 0; i < n; i++)
            owned[i] = (as_ns_owned){spans[i].start, spans[i].end, (uint32_t)as_random_below(&random, 5)};
        as_ns_measure cover;
        assert_true(as_ns_measure_union(kernels, n_kernels, NULL, NULL, &cover));
        int64_t covered[5] = {0}, expected[5] = {0};
        assert_true(as_ns_cover_latest(owned, n, &cover, NULL, covered));
        for (int64_t t = 0; t < END; t++) {
            int owner = slow_owner(owned, n, t);
            if (owner >= 0 && is_covered_at(kernels, n_kernels, t)) expected[owner]++;
        }
        assert_memory_equal(covered, expected, sizeof covered);
        as_ns_measure_free(&cover);
    }
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

static void sorting_keeps_equal_keys_in_order(void **state) {
    (void)state;
    enum { N = 20000 };
    as_ns_ordered *items = calloc(N, sizeof *items);
    assert_non_null(items);
    uint64_t random = 4;
    static const uint64_t ranges[] = {3, 300, 1 << 20, UINT64_MAX};
    for (size_t range = 0; range < COUNT(ranges); range++) {
        for (uint32_t i = 0; i < N; i++) {
            uint64_t key = as_random_below(&random, ranges[range]);
            items[i] = (as_ns_ordered){range == 2 ? i / 4 * 4 + key % 16 : key, i}; /* once nearly in order */
        }
        assert_true(as_ns_sort(items, N, NULL));
        for (size_t i = 1; i < N; i++) {
            assert_true(items[i - 1].key <= items[i].key);
            if (items[i - 1].key == items[i].key) assert_true(items[i - 1].index < items[i].index);
        }
    }
    free(items);
}

static void a_hundred_thousand_that_all_overlap(void **state) {
    (void)state;
    enum { N = 100000 };
    as_ns_weighted *kernels = calloc(N, sizeof *kernels);
    double *overlaps = calloc(N, sizeof *overlaps);
    assert_true(kernels && overlaps);
    /* starts in descending order, ends scattered, all of them running at N: each has a share of 1 / N then */
    for (size_t i = 0; i < N; i++)
        kernels[i] = (as_ns_weighted){(int64_t)(N - 1 - i), N + (int64_t)(i * 7919 % N) + 1, 1};
    assert_true(as_ns_kernel_overlaps(kernels, N, NULL, overlaps));
    double sum = 0, lengths = 0;
    for (size_t i = 0; i < N; i++) {
        sum += overlaps[i];
        lengths += (double)(kernels[i].end - kernels[i].start);
    }
    /* what is not overlap adds up to the time in which anything runs */
    assert_near(lengths - sum, 2.0 * N, 1e-3);
    free(kernels);
    free(overlaps);
}

static void memory_that_is_out_is_said(void **state) {
    (void)state;
    as_ns_weighted kernels[1000];
    double overlaps[1000];
    for (int i = 0; i < 1000; i++) kernels[i] = (as_ns_weighted){1000 - i, 2000 + i * 37 % 1000, 1};
    for (uint64_t limit = 1; limit < 200000; limit *= 2) {
        as_budget budget = {.limit = limit};
        (void)as_ns_kernel_overlaps(kernels, 1000, &budget, overlaps);
        assert_int_equal(budget.used, 0);
        as_ns_measure cover;
        (void)as_ns_measure_union(kernels, 1000, NULL, &budget, &cover);
        as_ns_measure_free(&cover);
        assert_int_equal(budget.used, 0);
    }
    as_budget none = {.limit = 1};
    assert_false(as_ns_kernel_overlaps(kernels, 1000, &none, overlaps));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_union_joins_what_touches),
        cmocka_unit_test(nothing_covers_nothing),
        cmocka_unit_test(times_at_the_ends_of_numbers),
        cmocka_unit_test(kernels_share_by_their_threads),
        cmocka_unit_test(kernels_without_threads_take_nothing),
        cmocka_unit_test(late_times_make_no_noise),
        cmocka_unit_test(copies_lose_what_kernels_cover),
        cmocka_unit_test(a_moment_belongs_to_the_latest_start),
        cmocka_unit_test(random_overlaps_are_those_of_the_definition),
        cmocka_unit_test(random_unions_are_those_of_the_definition),
        cmocka_unit_test(random_owners_are_those_of_the_definition),
        cmocka_unit_test(sorting_keeps_equal_keys_in_order),
        cmocka_unit_test(a_hundred_thousand_that_all_overlap),
        cmocka_unit_test(memory_that_is_out_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
