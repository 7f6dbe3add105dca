/* The simulation of bench/compare_simulation.c, small: how often nothing is called a change, and a change is found.
 * Seeds are fixed, so are the results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../bench/made_samples.h"

enum { FAMILIES = 200, PATHS = 10, REPETITIONS = 10, FEW = 5 };

static as_outcome judge_some(uint32_t n, made_noise noise, double factor, uint64_t seed, size_t *n_sure) {
    as_judge_options options = AS_JUDGE_DEFAULTS;
    made_samples made;
    as_verdict verdict;
    assay_error error;
    as_outcome first = AS_OUTCOME_SAME;
    options.resamples = 100;
    options.threads = 1;
    assert_true(made_fill(&made, PATHS, n, noise, factor, seed * 7919));
    assert_int_equal(as_judge(&made.samples, &options, &verdict, &error), ASSAY_OK);
    *n_sure = 0;
    for (size_t i = 0; i < verdict.n; i++) {
        as_outcome outcome = verdict.judgements[i].outcome;
        if (verdict.judgements[i].subject == &made.subjects[0]) first = outcome;
        *n_sure += outcome == AS_OUTCOME_WORSE || outcome == AS_OUTCOME_BETTER;
    }
    as_verdict_free(&verdict);
    made_free(&made);
    return first;
}

static as_outcome judge(made_noise noise, double factor, uint64_t seed, size_t *n_sure) {
    return judge_some(REPETITIONS, noise, factor, seed, n_sure);
}

/* Too few for ranks, so that runs are shuffled. */
static void test_few_repetitions(void **state) {
    (void)state;
    size_t n_found = 0, n_sure;
    for (made_noise noise = 0; noise < MADE_KINDS; noise++) {
        size_t n_wrong = 0;
        for (uint64_t seed = 0; seed < FAMILIES; seed++) {
            judge_some(FEW, noise, 1, seed + 1000 * noise, &n_sure);
            n_wrong += n_sure > 0;
        }
        assert_in_range(n_wrong, 0, 20);
    }
    for (uint64_t seed = 0; seed < FAMILIES; seed++)
        n_found += judge_some(FEW, MADE_5, 1.5, seed, &n_sure) == AS_OUTCOME_WORSE;
    assert_in_range(n_found, FAMILIES - 2, FAMILIES);
}

/* At 5 % ten of 200 are wrong on average; more than 20 with a probability of 0.1 %. */
static void test_false_positives(void **state) {
    (void)state;
    for (made_noise noise = 0; noise < MADE_KINDS; noise++) {
        size_t n_wrong = 0, n_sure;
        for (uint64_t seed = 0; seed < FAMILIES; seed++) {
            judge(noise, 1, seed + 1000 * noise, &n_sure);
            n_wrong += n_sure > 0;
        }
        assert_in_range(n_wrong, 0, 20);
    }
}

/* A change by half is ten times the noise. */
static void test_power(void **state) {
    (void)state;
    size_t n_found = 0, n_sure;
    for (uint64_t seed = 0; seed < FAMILIES; seed++) n_found += judge(MADE_5, 1.5, seed, &n_sure) == AS_OUTCOME_WORSE;
    assert_int_equal(n_found, FAMILIES);
}

/* A threshold is no change: one that small is called none. */
static void test_below_threshold(void **state) {
    (void)state;
    size_t n_found = 0, n_sure;
    for (uint64_t seed = 0; seed < FAMILIES; seed++) n_found += judge(MADE_1, 1.03, seed, &n_sure) == AS_OUTCOME_WORSE;
    assert_int_equal(n_found, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_false_positives), cmocka_unit_test(test_power),
                                       cmocka_unit_test(test_few_repetitions), cmocka_unit_test(test_below_threshold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
