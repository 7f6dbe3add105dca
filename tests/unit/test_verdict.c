/* Did it get worse? Ranks, intervals, samples and what is made of them. Numbers by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/verdict/verdict.h"
#include "dataset/experiment.h"
#include "profiles.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-12 * fabs((double)(b)))
#define STRATUM(...)                                                                                                   \
    { (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double) }

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

static double test_of(const as_stratum *base, const as_stratum *target, size_t n) {
    as_rank_room room = {0};
    double p = as_rank_test(base, target, n, &room), again = as_rank_test(base, target, n, &room);
    assert_true(p == again); /* what the room holds changes nothing */
    as_rank_room_free(&room);
    return p;
}

/* All target values above all of the base: 1 of 70 ways, and as many the other way round. */
static void test_exact_ranks(void **state) {
    (void)state;
    as_stratum low = STRATUM(1, 2, 3, 4), high = STRATUM(5, 6, 7, 8), mixed = STRATUM(0.5, 2.5, 3.5, 9);
    NEAR(test_of(&low, &high, 1), 2.0 / 70);
    NEAR(test_of(&high, &low, 1), 2.0 / 70);
    /* U = 0 + 2 + 3 + 4 = 9 of 16; U <= 7 in 1+1+2+3+5+5+7+7 = 31 of 70 ways */
    NEAR(test_of(&low, &mixed, 1), 62.0 / 70);
    as_stratum three = STRATUM(1, 2, 3), others = STRATUM(4, 5, 6), five = STRATUM(1, 2, 3, 4, 5), one = STRATUM(6);
    NEAR(test_of(&three, &others, 1), 0.1);
    NEAR(test_of(&five, &one, 1), 2.0 / 6);
    NEAR(as_rank_least(&three, &others, 1), 0.1);
    NEAR(as_rank_least(&low, &high, 1), 2.0 / 70);
}

/* Ranks of the base 2 2 2 (1, 2, 2 of values 1 1 1 …): of 20 ways to deal out {1,1,1,2,2,2} only 1 has all large ones
 * on one side, and 1 the other. */
static void test_tied_ranks(void **state) {
    (void)state;
    as_stratum low = STRATUM(1, 1, 1), high = STRATUM(2, 2, 2), same = STRATUM(1, 1, 1);
    NEAR(test_of(&low, &high, 1), 0.1);
    NEAR(test_of(&low, &same, 1), 1);
    /* {1,1,2,2 | 1,2,2,2}: of the 70 ways C(3,k) C(5,4-k) have k ones in the target: 5, 30, 30, 5. Two of four expected
     * 1.5: k = 1 and 2 are nearest, so p = 1. */
    as_stratum some = STRATUM(1, 1, 2, 2), more = STRATUM(1, 2, 2, 2), none = STRATUM(2, 2, 2, 2),
               all = STRATUM(1, 1, 1, 2);
    NEAR(test_of(&some, &more, 1), 1);
    NEAR(test_of(&all, &none, 1), 10.0 / 70); /* k = 0, and k = 3 as far away */
}

/* Two strata of 2 + 2, all the target's above: 1 of 36 ways. U of each: 0 1 2 2 3 4 with 1 1 2 1 1 of 6. */
static void test_strata(void **state) {
    (void)state;
    as_stratum base[2] = {STRATUM(1, 2), STRATUM(10, 20)}, target[2] = {STRATUM(3, 4), STRATUM(30, 40)},
               second[2] = {STRATUM(3, 4), STRATUM(15, 40)};
    NEAR(test_of(base, target, 2), 2.0 / 36);
    /* U = 4 + 3 = 7 of 8: 8 in 1 way, 7 in 2 */
    NEAR(test_of(base, second, 2), 6.0 / 36);
    NEAR(as_rank_least(base, target, 2), 2.0 / 36);
}

/* Strata of different sizes: van Elteren's sum by the normal distribution. 2 + 2 (weight 1/5) and 1 + 3 (1/5): W - E =
 * 2 and 1.5, variance 2*2*5/12 and 3*5/12. */
static void test_van_elteren(void **state) {
    (void)state;
    as_stratum base[2] = {STRATUM(1, 2), STRATUM(1)}, target[2] = {STRATUM(3, 4), STRATUM(2, 3, 4)};
    double z = (3.5 - 0.5) / sqrt(20.0 / 12 + 15.0 / 12);
    NEAR(test_of(base, target, 2), erfc(z / sqrt(2)));
    /* weights 1/3 and 1/5: 1 + 1 and 2 + 2 */
    as_stratum uneven_base[2] = {STRATUM(1), STRATUM(1, 2)}, uneven[2] = {STRATUM(2), STRATUM(3, 4)};
    z = (0.5 / 3 + 2.0 / 5 - 0.1) / sqrt(3.0 / 12 / 9 + 20.0 / 12 / 25);
    NEAR(test_of(uneven_base, uneven, 2), erfc(z / sqrt(2)));
}

static void test_corrections(void **state) {
    (void)state;
    double p[] = {0.01, NAN, 0.04, 0.03, 0.005};
    assert_true(as_holm(p, 5));
    NEAR(p[4], 0.02); /* 4 * 0.005 */
    NEAR(p[0], 0.03); /* 3 * 0.01 */
    NEAR(p[3], 0.06); /* 2 * 0.03 */
    NEAR(p[2], 0.06); /* 0.04, but not below the one before */
    assert_true(isnan(p[1]));
    double q[] = {0.01, NAN, 0.04, 0.03, 0.005};
    assert_true(as_false_discovery(q, 5));
    NEAR(q[4], 0.02); /* 0.005 * 4 / 1, and 0.01 * 4 / 2 */
    NEAR(q[0], 0.02);
    NEAR(q[3], 0.04); /* 0.03 * 4 / 3 */
    NEAR(q[2], 0.04);
    assert_true(isnan(q[1]));
    double large[] = {0.6, 0.7};
    assert_true(as_holm(large, 2) && large[0] == 1 && large[1] == 1);
    assert_int_equal(as_rank_needed(0.05, 1), 4); /* 2/20 is not below 0.05, 2/70 is */
    assert_int_equal(as_rank_needed(0.05, 2), 5); /* 2 * 2/252 */
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

static as_subject subject_of(const as_stratum *base, const as_stratum *target) {
    return (as_subject){.path = "f", .metric = "time", .is_in = {true, true}, .n_strata = 1, .strata = {base, target}};
}

static void interval_of(as_subject *subject, uint32_t resamples, uint64_t seed, double *draws, double *low,
                        double *high) {
    as_samples samples = {.subjects = subject, .n = 1};
    as_median_laws *laws = as_median_laws_new(&samples);
    assert_non_null(laws);
    as_ratio_interval(laws, subject, 0.05, resamples, seed, draws, low, high);
    as_median_laws_free(laws);
}

/* The median of a resample of 3 is the k-th value with probabilities 7, 13, 7 of 27; of 2 values the lower, middle and
 * upper one in 1, 2, 1 of 4. */
static void test_medians_of_resamples(void **state) {
    (void)state;
    enum { N = 200000 };
    double *draws = malloc(N * sizeof *draws), low, high;
    as_stratum one = STRATUM(1), three = STRATUM(1, 2, 4), two = STRATUM(1, 3), four = STRATUM(1, 10, 100, 1000);
    const struct {
        const as_stratum *stratum;
        double value, probability;
    } rows[] = {
        {&three, 1, 7.0 / 27},
        {&three, 2, 13.0 / 27},
        {&three, 4, 7.0 / 27},
        {&two, 1, 0.25},
        {&two, 2, 0.5},
        /* Of 256 resamples of four, in order: 2nd and 3rd are both the first: at least 3 of it: 4 * 3 + 1 = 13; 1st and
         * 2nd: exactly 2 of the 1st and at least 1 of the 2nd, none between: C(4,2) * (2*2+1) with the other two from
         * {2,3,4}, the least a 2: 9 - 4 = 5, so 30. */
        {&four, 1, 13.0 / 256},
        {&four, 5.5, 30.0 / 256},
        {&four, 1000, 13.0 / 256},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        as_subject subject = subject_of(&one, rows[i].stratum);
        interval_of(&subject, N, 7, draws, &low, &high);
        size_t count = 0;
        for (size_t k = 0; k < N; k++) count += draws[k] == rows[i].value;
        double deviation = sqrt(N * rows[i].probability * (1 - rows[i].probability));
        assert_true(fabs((double)count - N * rows[i].probability) < 5 * deviation);
    }
    free(draws);
}

static void test_intervals(void **state) {
    (void)state;
    double draws[2000], low, high, again_low, again_high;
    as_stratum base = STRATUM(9, 10, 10.5, 11, 12), target = STRATUM(18, 20, 21, 22, 24);
    as_subject subject = subject_of(&base, &target);
    interval_of(&subject, 2000, 1, draws, &low, &high);
    assert_true(low >= 18.0 / 12 && low < 2 && high > 2 && high <= 24.0 / 9);
    interval_of(&subject, 2000, 1, draws, &again_low, &again_high);
    assert_true(low == again_low && high == again_high);
    as_stratum zero = STRATUM(0, 0, 0), negative = STRATUM(-1, -1, -1);
    subject = subject_of(&negative, &target);
    interval_of(&subject, 2000, 1, draws, &low, &high);
    assert_true(isnan(low) && isnan(high));
    subject = subject_of(&zero, &target);
    interval_of(&subject, 2000, 1, draws, &low, &high);
    assert_true(isinf(low) && isinf(high));
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static void sample(const as_dataset *const *base, size_t n_base, const as_dataset *const *target, size_t n_target,
                   bool is_inclusive, as_samples *out) {
    const as_dataset *const *sides[2] = {base, target};
    as_sample_request request = {.is_inclusive = is_inclusive};
    assay_error error;
    assert_int_equal(as_samples_find(sides, (size_t[]){n_base, n_target}, &request, out, &error), ASSAY_OK);
}

static const as_subject *find_subject(const as_samples *samples, const char *metric, const char *path) {
    for (size_t i = 0; i < samples->n; i++)
        if (strcmp(samples->subjects[i].metric, metric) == 0 && strcmp(samples->subjects[i].path, path) == 0)
            return &samples->subjects[i];
    return NULL;
}

/* Siblings of one name are added up; a path that one repetition lacks is 0 there; exclusive values of inclusive
 * ones. */
static void test_profiles(void **state) {
    (void)state;
    const char *metrics = "time DOUBLE inclusive; visits UINT64 exclusive";
    as_dataset *base[2] = {make_profile("0/0", metrics, "main | 10 | 1\n  f | 3 | 2\n  f | 2 | 1\n  g | 1 | 5\n"),
                           make_profile("0/0", metrics, "main | 12 | 1\n  f | 6 | 3\n")};
    as_dataset *target[2] = {make_profile("0/0", metrics, "main | 20 | 1\n  f | 15 | 3\n  h | 1 | 1\n"),
                             make_profile("0/0", metrics, "main | 30 | 1\n  f | 25 | 3\n  h | 2 | 1\n")};
    as_samples samples;
    sample((const as_dataset *const *)base, 2, (const as_dataset *const *)target, 2, false, &samples);
    assert_int_equal(samples.n_metrics, 2);
    assert_true(samples.has_repetitions && !samples.n_parameters);
    const as_subject *f = find_subject(&samples, "time", "main->f"), *g = find_subject(&samples, "time", "main->g"),
                     *h = find_subject(&samples, "visits", "main->h"), *top = find_subject(&samples, "time", "main");
    assert_non_null(f);
    assert_int_equal(f->strata[0]->n, 2);
    assert_true(f->strata[0]->values[0] == 5 && f->strata[0]->values[1] == 6);
    assert_true(f->strata[1]->values[0] == 15 && f->strata[1]->values[1] == 25);
    assert_true(top->strata[0]->values[0] == 4 && top->strata[0]->values[1] == 6); /* 10 - 3 - 2 - 1 and 12 - 6 */
    assert_true(g && g->is_in[0] && !g->is_in[1] && g->strata[0]->n == 2 && g->strata[0]->values[0] == 0);
    assert_true(h && !h->is_in[0] && h->is_in[1]);
    /* main and f are matched: 9 and 12 of the base, 19 and 28 of the target */
    const as_subject *total = &samples.metrics[0].total;
    assert_true(total->strata[0]->values[0] == 9 && total->strata[0]->values[1] == 12);
    assert_true(total->strata[1]->values[0] == 19 && total->strata[1]->values[1] == 28);
    total = &samples.metrics[0].whole;
    assert_true(total->strata[0]->values[0] == 10 && total->strata[0]->values[1] == 12);
    assert_true(total->strata[1]->values[0] == 20 && total->strata[1]->values[1] == 30);
    as_samples_free(&samples);
    sample((const as_dataset *const *)base, 2, (const as_dataset *const *)target, 2, true, &samples);
    f = find_subject(&samples, "time", "main->f");
    top = find_subject(&samples, "time", "main");
    assert_true(top->is_top && !f->is_top && top->strata[0]->values[1] == 12);
    total = &samples.metrics[0].total; /* of the roots alone */
    assert_true(total->strata[0]->values[0] == 10 && total->strata[1]->values[1] == 30);
    as_samples_free(&samples);
    for (size_t i = 0; i < 2; i++) as_dataset_free(base[i]), as_dataset_free(target[i]);
}

/* values: n_points x n_repetitions, at p = first, first + 1 … */
static as_dataset *experiment_of(double first, size_t n_points, size_t n_repetitions, const double *values) {
    as_dataset *ds = as_dataset_new(0);
    as_add_parameter(ds, as_ds_intern_text(ds, "p"));
    as_experiment *e = as_experiment_new(ds);
    as_cell_key key = {.metric = as_experiment_metric(e, "time", 4), .context = as_experiment_callpath(e, "f", 1)};
    for (size_t i = 0; i < n_points * n_repetitions; i++) {
        double p = first + (double)(i / n_repetitions);
        key.point = as_experiment_point(e, &p);
        assert_true(as_experiment_value(e, key, (as_number){.kind = AS_REAL, .r = values[i]}));
    }
    assert_true(as_experiment_finish(e, (as_place){0}, NULL));
    as_experiment_free(e);
    return ds;
}

/* Points that both have are strata; others are counted. Several datasets of a side: the median of each. */
static void test_experiments(void **state) {
    (void)state;
    as_dataset *base = experiment_of(1, 3, 2, (double[]){1, 2, 30, 10, 100, 200}),
               *target = experiment_of(2, 2, 2, (double[]){11, 12, 110, 120});
    const as_dataset *sides[2] = {base, target}, *both[2] = {target, target};
    as_samples samples;
    sample(&sides[0], 1, &sides[1], 1, false, &samples);
    assert_int_equal(samples.n, 1);
    const as_subject *f = &samples.subjects[0];
    assert_int_equal(f->n_strata, 2);
    assert_true(f->coordinates[0] == 2 && f->coordinates[1] == 3);
    assert_true(f->strata[0][0].values[0] == 10 && f->strata[0][0].values[1] == 30 && f->strata[1][1].values[1] == 120);
    assert_int_equal(samples.n_unmatched_points[0], 1);
    assert_int_equal(samples.n_unmatched_points[1], 0);
    as_samples_free(&samples);
    sample(&sides[0], 1, both, 2, false, &samples);
    f = &samples.subjects[0];
    assert_int_equal(f->strata[1][0].n, 2);
    assert_true(f->strata[1][0].values[0] == 11.5 && f->strata[1][0].values[1] == 11.5);
    as_samples_free(&samples);
    as_dataset_free(base);
    as_dataset_free(target);
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

static const as_judgement *judgement_of(const as_verdict *verdict, const char *path) {
    for (size_t i = 0; i < verdict->n; i++)
        if (strcmp(verdict->judgements[i].subject->path, path) == 0) return &verdict->judgements[i];
    fail_msg("no %s", path);
    return NULL;
}

static void judge_two(const char *base_tree, const char *target_tree, const as_judge_options *options,
                      as_samples *samples, as_verdict *verdict, as_dataset *sides[2]) {
    assay_error error;
    sides[0] = make_profile("0/0", "time DOUBLE exclusive", base_tree);
    sides[1] = make_profile("0/0", "time DOUBLE exclusive", target_tree);
    sample((const as_dataset *const *)&sides[0], 1, (const as_dataset *const *)&sides[1], 1, false, samples);
    assert_int_equal(as_judge(samples, options, verdict, &error), ASSAY_OK);
}

static void free_two(as_samples *samples, as_verdict *verdict, as_dataset *sides[2]) {
    as_verdict_free(verdict);
    as_samples_free(samples);
    as_dataset_free(sides[0]);
    as_dataset_free(sides[1]);
}

/* Without repetitions the threshold alone decides. */
static void test_threshold(void **state) {
    (void)state;
    as_samples samples;
    as_verdict verdict;
    as_dataset *sides[2];
    as_threshold_rule rules[] = {{.path = "speed$", .threshold = 0.01, .higher_is_better = true},
                                 {.path = "wide$", .threshold = 1}};
    as_judge_options options = AS_JUDGE_DEFAULTS;
    options.rules = rules;
    options.n_rules = 2;
    judge_two(
        "main | 100\n  slow | 100\n  fast | 100\n  same | 100\n  tiny | 0.01\n  none | 0\n  speed | 100\n  wide | "
        "100\n  old | 50\n  minus | -10\n",
        "main | 105\n  slow | 106\n  fast | 90\n  same | 96\n  tiny | 0.02\n  none | 10\n  speed | 98\n  wide | "
        "190\n  fresh | 40\n  minus | -5\n",
        &options, &samples, &verdict, sides);
    static const struct {
        const char *path;
        as_outcome outcome;
    } expected[] = {
        {"main", AS_OUTCOME_SAME},         {"main->slow", AS_OUTCOME_WORSE}, {"main->fast", AS_OUTCOME_BETTER},
        {"main->same", AS_OUTCOME_SAME},   {"main->tiny", AS_OUTCOME_SAME},  {"main->none", AS_OUTCOME_WORSE},
        {"main->speed", AS_OUTCOME_WORSE}, {"main->wide", AS_OUTCOME_SAME},  {"main->old", AS_OUTCOME_GONE},
        {"main->fresh", AS_OUTCOME_NEW},   {"main->minus", AS_OUTCOME_WORSE}};
    assert_int_equal(verdict.n, 11);
    for (size_t i = 0; i < 11; i++)
        assert_int_equal(judgement_of(&verdict, expected[i].path)->outcome, expected[i].outcome);
    assert_true(isinf(judgement_of(&verdict, "main->none")->ratio) &&
                isnan(judgement_of(&verdict, "main->minus")->ratio));
    assert_true(judgement_of(&verdict, "main->tiny")->is_small);
    NEAR(judgement_of(&verdict, "main->minus")->relative, 0.5);
    assert_string_equal(verdict.judgements[0].subject->path, "main->wide"); /* +90, the largest change */
    const as_metric_verdict *m = &verdict.metrics[0];
    NEAR(m->total.base, 590.01);   /* without old, fresh */
    NEAR(m->total.target, 690.02); /* 105 + 106 + 90 + 96 + 0.02 + 10 + 98 + 190 - 5 */
    assert_int_equal(m->n_matched, 9);
    assert_true(m->new_value == 40 && m->gone_value == 50 && m->has_whole);
    NEAR(m->whole.base, 640.01);
    NEAR(m->whole.target, 730.02);
    NEAR(m->geometric_mean, pow(1.05 * 1.06 * 0.9 * 0.96 * 2 * 0.98 * 1.9, 1.0 / 7));
    assert_true(verdict.outcome == AS_OUTCOME_WORSE && !verdict.n_tested && !verdict.needed);
    free_two(&samples, &verdict, sides);
}

/* n repetitions of a side: values[i] of f, 100 + i of g. */
static void judge_repetitions(const double *base, const double *target, uint32_t n, const as_judge_options *options,
                              as_samples *samples, as_verdict *verdict) {
    as_dataset *sides[2][16];
    assay_error error;
    for (size_t i = 0; i < 2 * n; i++) {
        char tree[64];
        snprintf(tree, sizeof tree, "f | %d\ng | %d\n", (int)(i < n ? base[i] : target[i - n]), (int)(100 + i % n));
        sides[i / n][i % n] = make_profile("0/0", "time DOUBLE exclusive", tree);
    }
    sample((const as_dataset *const *)sides[0], n, (const as_dataset *const *)sides[1], n, false, samples);
    assert_int_equal(as_judge(samples, options, verdict, &error), ASSAY_OK);
    for (size_t i = 0; i < 2 * n; i++) as_dataset_free(sides[i / n][i % n]);
}

static void test_statistics(void **state) {
    (void)state;
    as_samples samples;
    as_verdict verdict;
    as_judge_options options = AS_JUDGE_DEFAULTS;
    double low[] = {10, 11, 12, 13, 14, 15}, high[] = {20, 21, 22, 23, 24, 25}, mixed[] = {9, 10, 13, 14, 16, 30};
    judge_repetitions(low, high, 6, &options, &samples, &verdict);
    const as_judgement *f = judgement_of(&verdict, "f");
    assert_int_equal(f->outcome, AS_OUTCOME_WORSE);
    NEAR(f->p, 2.0 / 924);
    NEAR(f->adjusted_p, 3 * 2.0 / 924); /* f, g and the total */
    NEAR(f->ratio, 22.5 / 12.5);
    assert_true(f->is_tested && f->low > 1 && f->high < 2.5 && f->low < 1.8 && f->high > 1.8);
    assert_int_equal(judgement_of(&verdict, "g")->outcome, AS_OUTCOME_SAME);
    NEAR(judgement_of(&verdict, "g")->p, 1);
    assert_int_equal(verdict.n_tested, 3);
    assert_int_equal(verdict.needed, 0);
    /* The same whatever the number of threads. */
    double before[2] = {f->low, f->high};
    as_verdict_free(&verdict);
    assay_error error;
    options.threads = 1;
    assert_int_equal(as_judge(&samples, &options, &verdict, &error), ASSAY_OK);
    assert_true(judgement_of(&verdict, "f")->low == before[0] && judgement_of(&verdict, "f")->high == before[1]);
    as_verdict_free(&verdict);
    as_samples_free(&samples);
    judge_repetitions(low, mixed, 6, &options, &samples, &verdict); /* larger by 8 %, but who knows */
    assert_int_equal(judgement_of(&verdict, "f")->outcome, AS_OUTCOME_SAME);
    as_verdict_free(&verdict);
    as_samples_free(&samples);
}

/* With 3 repetitions p cannot be below 0.1. */
static void test_too_few(void **state) {
    (void)state;
    as_samples samples;
    as_verdict verdict;
    as_judge_options options = AS_JUDGE_DEFAULTS;
    double low[] = {10, 11, 12}, high[] = {20, 21, 22}, mixed[] = {9, 13, 14};
    judge_repetitions(low, high, 3, &options, &samples, &verdict);
    assert_int_equal(judgement_of(&verdict, "f")->outcome, AS_OUTCOME_MAYBE_WORSE);
    assert_int_equal(verdict.needed, 4); /* however many tests there are: 2/20 is not below 0.05, 2/70 is */
    assert_int_equal(verdict.outcome, AS_OUTCOME_MAYBE_WORSE);
    as_verdict_free(&verdict);
    as_samples_free(&samples);
    judge_repetitions(low, mixed, 3, &options, &samples, &verdict);
    assert_int_equal(judgement_of(&verdict, "f")->outcome, AS_OUTCOME_TOO_FEW);
    as_verdict_free(&verdict);
    as_samples_free(&samples);
}

static void test_bad_rules(void **state) {
    (void)state;
    as_rules *rules;
    assay_error error;
    as_threshold_rule bad = {.path = "a(b"}, ignored = {.metric = "^time$", .path = "^main", .is_ignored = true};
    assert_int_equal(as_rules_new(&bad, 1, &rules, &error), ASSAY_E_USAGE);
    assert_null(rules);
    assert_int_equal(as_rules_new(&ignored, 1, &rules, &error), ASSAY_OK);
    assert_false(as_rules_keep(rules, "time", "main->f"));
    assert_true(as_rules_keep(rules, "times", "main->f") && as_rules_keep(rules, "time", "f->main"));
    assert_null(as_rules_find(rules, "time", NULL));
    as_rules_free(rules);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_ranks), cmocka_unit_test(test_tied_ranks),
        cmocka_unit_test(test_strata),      cmocka_unit_test(test_van_elteren),
        cmocka_unit_test(test_corrections), cmocka_unit_test(test_medians_of_resamples),
        cmocka_unit_test(test_intervals),   cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_experiments), cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_statistics),  cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_bad_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
