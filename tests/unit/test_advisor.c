/* The measurement-point advisor: series, lines and modes of small designs, reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/scaling/advisor.h"
#include "helpers.h"

static void near(double expected, double got) {
    if (!(fabs(expected - got) <= 1e-9 * fabs(expected) + 1e-300)) fail_msg("expected %.12g, got %.12g", expected, got);
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

#define LIST(...) (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)

static void steps(char operation, double amount, const double *values, size_t n) {
    as_step step;
    assert_true(as_step_find(values, n, &step));
    assert_int_equal(operation, step.operation);
    near(amount, step.amount);
}

static void step_rule(void **state) {
    (void)state;
    steps('*', 2, LIST(12345));          /* a single value */
    steps('*', 2, LIST(1, 3, 4, 8, 16)); /* factors 3 4/3 2 2: two equal; differences 2 1 4 8: none */
    steps('*', 2, LIST(6, 12, 24));
    steps('*', 10, LIST(0.001, 0.01, 0.1, 1)); /* equal up to rounding */
    steps('+', 2, LIST(2, 4, 6, 8, 10));
    steps('+', 0.1, LIST(0.1, 0.2, 0.3, 0.4));
    steps('+', 2, LIST(2, 4));       /* a tie of one factor and one difference */
    steps('*', 2.25, LIST(2, 4, 9)); /* a tie, nothing equal: the factor behind the first */
    steps('*', 2, LIST(1, 2, 8));    /* a tie, 4 is a multiple of 2 */
    steps('+', 8,
          LIST(2, 4, 8, 16, 24,
               32)); /* factors 2 2 2 1.5 4/3, differences 2 4 8 8 8: a tie of three; 1.5 and 4/3 do not agree */
    steps('+', 9, LIST(3, 9, 27, 36, 45));
    steps('+', 5, LIST(-5, 0, 5, 10)); /* no factors */
    steps('+', 1, LIST(0));
}

static void extends(as_step step, size_t least, const double *values, size_t n, const double *expected,
                    size_t n_expected) {
    as_vec series;
    as_vec_init(&series, sizeof(double), NULL);
    assert_true(as_vec_append(&series, values, n));
    assert_true(as_step_extend(&series, step, least));
    assert_int_equal(n_expected, series.count);
    for (size_t i = 0; i < n_expected; i++) near(expected[i], AS_AT(double, &series, i));
    as_vec_free(&series);
}

static void series_go_on(void **state) {
    (void)state;
    extends((as_step){'+', 1}, 5, LIST(1, 2, 3, 4, 5), LIST(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    extends((as_step){'*', 2}, 5, LIST(1, 2, 4, 8, 16), LIST(1, 2, 4, 8, 16, 32, 64, 128, 256, 512));
    extends((as_step){'*', 2}, 5, LIST(1, 8), LIST(1, 2, 8, 16, 32, 64, 128)); /* gaps are filled */
    extends((as_step){'*', 2.25}, 4, LIST(0.5, 2.5), LIST(0.5, 1.125, 2.5, 5.625, 12.65625, 28.4765625));
    extends((as_step){'*', 2.25}, 4, LIST(2, 4, 9), LIST(2, 4, 5, 9, 20, 45, 101)); /* whole ones stay whole */
    extends((as_step){'*', 1.1}, 5, LIST(2, 3), LIST(2, 3, 4, 5, 6, 7, 8)); /* where rounding would stand still */
    extends((as_step){'*', 1e200}, 5, LIST(1e200), LIST(1e200));            /* the next is infinite */
    extends((as_step){'+', 1}, 5, NULL, 0, NULL, 0);
}

/* ---- campaigns --------------------------------------------------------------------------------------------------- */

static double *copy(const double *from, size_t n) {
    double *to = malloc(n * sizeof *to);
    assert_non_null(to);
    for (size_t i = 0; i < n; i++) to[i] = from ? from[i] : 1;
    return to;
}

/* Points of n_parameters numbers, with these runtimes (NULL: 1 s) and one repetition each. */
static as_campaign campaign_of(size_t n_parameters, const double *points, size_t n_numbers, const double *runtimes) {
    as_campaign campaign;
    size_t n = n_numbers / n_parameters;
    assert_true(as_campaign_take(&campaign, n_parameters, n, copy(points, n_numbers), copy(runtimes, n),
                                 copy(runtimes, n), copy(NULL, n)));
    return campaign;
}

static void mode_is(as_advice_mode expected, size_t n_parameters, const double *points, size_t n) {
    as_campaign campaign = campaign_of(n_parameters, points, n, NULL);
    as_line lines[4];
    size_t parameter;
    assert_true(as_lines_find(&campaign, lines));
    assert_string_equal(as_advice_mode_name(expected),
                        as_advice_mode_name(as_advice_mode_of(&campaign, lines, &parameter)));
    as_campaign_free(&campaign);
}

static void points_in_order(void **state) {
    (void)state;
    as_campaign campaign = campaign_of(2, LIST(2, 10, 1, 20, 1, 10), (const double[]){3, 2, 1});
    const double expected[] = {1, 10, 1, 20, 2, 10};
    for (size_t i = 0; i < 6; i++) assert_true(expected[i] == campaign.points[i]);
    for (size_t i = 0; i < 3; i++) assert_true((double)(i + 1) == campaign.runtimes[i]);
    assert_int_equal(1, as_campaign_find(&campaign, (const double[]){1, 20}));
    assert_int_equal(SIZE_MAX, as_campaign_find(&campaign, (const double[]){2, 20}));
    as_line lines[2];
    assert_true(as_lines_find(&campaign, lines));
    assert_int_equal(2, lines[0].length); /* (1,10) (2,10) */
    assert_int_equal(0, lines[0].point);
    assert_int_equal(2, lines[1].length); /* (1,10) (1,20) */
    as_campaign_free(&campaign);
}

/* As the tests of Extra-P's advisor have them; the grid and the cross of six are ours. */
static void modes_of_designs(void **state) {
    (void)state;
    mode_is(AS_ADVICE_BASE, 1, LIST(32, 64, 256, 512));
    mode_is(AS_ADVICE_GPR, 1, LIST(32, 64, 128, 256, 512));
    mode_is(AS_ADVICE_BASE, 2, LIST(32, 5, 32, 6, 32, 7, 32, 9, 64, 5, 128, 5, 256, 5));
    mode_is(AS_ADVICE_ADD, 2, LIST(32, 5, 32, 6, 32, 7, 32, 8, 32, 9, 64, 5, 128, 5, 256, 5, 512, 5));
    mode_is(AS_ADVICE_GPR, 2, LIST(32, 5, 32, 6, 32, 7, 32, 8, 32, 9, 64, 5, 64, 6, 128, 5, 256, 5, 512, 5));
    mode_is(AS_ADVICE_ADD, 2, LIST(1, 1, 1, 2, 1, 3, 1, 4, 1, 5, 1, 6, 2, 1, 3, 1, 4, 1, 5, 1, 6, 1));
    double grid[50];
    for (int i = 0; i < 25; i++) grid[2 * i] = i / 5, grid[2 * i + 1] = i % 5;
    mode_is(AS_ADVICE_GPR, 2, grid, 50);
}

/* ---- advice ------------------------------------------------------------------------------------------------------ */

/* Seconds, for two parameters: the sum, so that costs differ. */
static double sum_of_two(void *user, const double *point) {
    (void)user;
    return point[0] + point[1];
}

static double first_of_all(void *user, const double *point) {
    (void)user;
    return point[0];
}

static as_advice_options options_of(double budget, double (*runtime)(void *user, const double *point)) {
    return (as_advice_options){.budget = budget,
                               .processes = SIZE_MAX,
                               .n_processes = 3600, /* a second is a core hour */
                               .max_points = 100,
                               .max_candidates = 10000,
                               .runtime = runtime};
}

static as_advice advise(const as_campaign *campaign, const as_advice_options *options) {
    as_advice advice;
    assert_int_equal(ASSAY_OK, as_advise(campaign, options, &advice, NULL));
    return advice;
}

static const as_suggestion *suggestion_at(const as_advice *advice, size_t i, const double *point) {
    assert_true(i < advice->suggestions.count);
    const as_suggestion *suggestion = &AS_AT(as_suggestion, &advice->suggestions, i);
    const double *at = &AS_AT(double, &advice->points, suggestion->point * advice->n_parameters);
    for (size_t k = 0; k < advice->n_parameters; k++) near(point[k], at[k]);
    return suggestion;
}

static void base_completes_lines(void **state) {
    (void)state;
    /* p: 2 4 8 16 at n = 10, doubling; n: 10 20 30 at p = 2, by tens. Missing: p = 32; n = 40 and 50. */
    as_campaign campaign =
        campaign_of(2, LIST(2, 10, 4, 10, 8, 10, 16, 10, 2, 20, 2, 30), (const double[]){1, 2, 4, 8, 4, 9});
    as_advice_options options = options_of(1000, NULL);
    as_advice advice = advise(&campaign, &options);
    assert_int_equal(AS_ADVICE_BASE, advice.mode);
    assert_int_equal(3, advice.suggestions.count);
    near(28, advice.used);
    const as_suggestion *first = suggestion_at(&advice, 0, (const double[]){32, 10});
    near(16, first->runtime); /* on the power law p / 2 */
    near(16, first->cost);
    assert_int_equal(AS_GAIN_LINE, first->gain);
    assert_int_equal(0, first->parameter);
    assert_int_equal(5, first->count);
    const as_suggestion *second = suggestion_at(&advice, 1, (const double[]){2, 40});
    near(16, second->runtime); /* (n / 10)^2 */
    assert_int_equal(1, second->parameter);
    assert_int_equal(4, second->count);
    near(25, suggestion_at(&advice, 2, (const double[]){2, 50})->runtime);
    near(16 + 16 + 25, advice.suggested);
    as_advice_free(&advice);
    options.budget = 28 + 16 + 10; /* what does not fit is needed all the same, and marked */
    advice = advise(&campaign, &options);
    assert_int_equal(3, advice.suggestions.count);
    assert_true(AS_AT(as_suggestion, &advice.suggestions, 0).fits);
    assert_false(AS_AT(as_suggestion, &advice.suggestions, 1).fits);
    assert_false(AS_AT(as_suggestion, &advice.suggestions, 2).fits);
    near(16, advice.suggested);
    as_advice_free(&advice);
    as_campaign_free(&campaign);
}

static void base_with_given_values(void **state) {
    (void)state;
    as_campaign campaign = campaign_of(1, LIST(2, 4), NULL);
    as_vec values;
    as_vec_init(&values, sizeof(double), NULL);
    assert_true(as_vec_append(&values, (const double[]){2, 3, 7}, 3));
    as_advice_options options = options_of(1000, NULL);
    options.values = &values;
    options.repetitions = 3;
    as_advice advice = advise(&campaign, &options);
    assert_int_equal(2, advice.suggestions.count); /* there are no more */
    suggestion_at(&advice, 0, (const double[]){3});
    near(3, suggestion_at(&advice, 1, (const double[]){7})->cost); /* equally fast everywhere, three times */
    as_advice_free(&advice);
    as_vec_free(&values);
    as_campaign_free(&campaign);
}

/* A point on the lines of two parameters is suggested once. */
static void base_lines_that_cross(void **state) {
    (void)state;
    /* p at n = 1: 1 2 3 4; n at p = 5: 2 3 4 5; they meet in (5,1). */
    as_campaign campaign = campaign_of(2, LIST(1, 1, 2, 1, 3, 1, 4, 1, 5, 2, 5, 3, 5, 4, 5, 5), NULL);
    as_vec values[2];
    for (size_t i = 0; i < 2; i++) {
        as_vec_init(&values[i], sizeof(double), NULL);
        assert_true(as_vec_append(&values[i], (const double[]){1, 2, 3, 4, 5}, 5));
    }
    as_advice_options options = options_of(1000, NULL);
    options.values = values;
    as_advice advice = advise(&campaign, &options);
    assert_int_equal(1, advice.suggestions.count);
    suggestion_at(&advice, 0, (const double[]){5, 1});
    as_advice_free(&advice);
    for (size_t i = 0; i < 2; i++) as_vec_free(&values[i]);
    as_campaign_free(&campaign);
}

static const double CROSS[] = {1, 1, 2, 1, 3, 1, 4, 1, 5, 1, 1, 2, 1, 3, 1, 4, 1, 5};

static void add_takes_the_cheapest(void **state) {
    (void)state;
    as_campaign campaign = campaign_of(2, CROSS, 18, NULL);
    as_advice_options options = options_of(9 + 4 + 5 + 5 + 5.5, sum_of_two);
    as_advice advice = advise(&campaign, &options);
    assert_int_equal(AS_ADVICE_ADD, advice.mode);
    near(9, advice.used);
    near(91, advice.space); /* 10 x 10 without 9 */
    assert_int_equal(91, advice.n_candidates);
    assert_int_equal(3, advice.suggestions.count); /* (2,2) 4, (2,3) 5, (3,2) 5; the next cost 6 */
    assert_int_equal(AS_GAIN_COMBINATION, suggestion_at(&advice, 0, (const double[]){2, 2})->gain);
    suggestion_at(&advice, 1, (const double[]){2, 3});
    suggestion_at(&advice, 2, (const double[]){3, 2});
    near(14, advice.suggested);
    near(4, advice.cheapest_cost);
    as_advice_free(&advice);
    options.repetitions = 2; /* 8 of 19.5, then twice 5 */
    advice = advise(&campaign, &options);
    assert_int_equal(2, advice.suggestions.count);
    near(8, suggestion_at(&advice, 0, (const double[]){2, 2})->cost);
    near(18, advice.suggested);
    as_advice_free(&advice);
    as_campaign_free(&campaign);
}

/* Where runtime does not depend on n, (1,6) … cost less than any point outside the lines; one of those comes first all
 * the same. */
static void add_leads_with_a_combination(void **state) {
    (void)state;
    as_campaign campaign = campaign_of(2, CROSS, 18, NULL);
    as_advice_options options = options_of(9 + 2 + 1, first_of_all);
    as_advice advice = advise(&campaign, &options);
    assert_int_equal(2, advice.suggestions.count);
    suggestion_at(&advice, 0, (const double[]){2, 2});
    const as_suggestion *second = suggestion_at(&advice, 1, (const double[]){1, 6});
    assert_int_equal(AS_GAIN_LINE, second->gain);
    assert_int_equal(1, second->parameter);
    assert_int_equal(6, second->count);
    as_advice_free(&advice);
    options.budget = 9 + 1.5; /* not enough for the combination */
    advice = advise(&campaign, &options);
    assert_int_equal(1, advice.suggestions.count);
    suggestion_at(&advice, 0, (const double[]){1, 6});
    as_advice_free(&advice);
    options.budget = 9;
    advice = advise(&campaign, &options);
    assert_int_equal(0, advice.suggestions.count);
    near(1, advice.cheapest_cost);
    as_advice_free(&advice);
    as_campaign_free(&campaign);
}

static double negative_below_eight(void *user, const double *point) {
    (void)user;
    return point[0] < 8 ? -1 : point[0] < 9 ? NAN : 2;
}

static void predictions_without_sense_are_left_out(void **state) {
    (void)state;
    as_campaign campaign = campaign_of(2, CROSS, 18, NULL);
    as_advice_options options = options_of(9 + 5, negative_below_eight);
    as_advice advice = advise(&campaign, &options);
    assert_int_equal(20, advice.n_candidates); /* p = 9 and 10, n = 1 … 10 */
    assert_int_equal(71, advice.n_unpredicted);
    assert_int_equal(2, advice.suggestions.count);
    suggestion_at(&advice, 0, (const double[]){9, 2}); /* (9,1) lies on the line of p */
    suggestion_at(&advice, 1, (const double[]){9, 1});
    as_advice_free(&advice);
    as_campaign_free(&campaign);
}

/* The order a greedy search in Python comes to, with scikit-learn's hyper-parameters and variances in closed form. */
static void gpr_chooses(const double *runtimes, const double *expected, size_t n) {
    as_campaign campaign = campaign_of(1, LIST(1, 2, 4, 8, 16), runtimes);
    as_advice_options options = options_of(100, first_of_all);
    for (size_t i = 0; i < 5; i++) options.budget += runtimes[i];
    options.repetitions = 2;
    as_advice advice = advise(&campaign, &options);
    assert_int_equal(AS_ADVICE_GPR, advice.mode);
    assert_int_equal(10, advice.n_candidates); /* 32 … 512, and each measured point once more */
    assert_int_equal(n, advice.suggestions.count);
    for (size_t i = 0; i < n; i++) {
        const as_suggestion *suggestion = suggestion_at(&advice, i, &expected[i]);
        assert_true(suggestion->fits);
        if (expected[i] <= 16) assert_int_equal(AS_GAIN_REPETITION, suggestion->gain);
        if (expected[i] <= 16) assert_int_equal(2, suggestion->count);
    }
    as_advice_free(&advice);
    as_campaign_free(&campaign);
}

static void gpr_learns_most_for_its_cost(void **state) {
    (void)state;
    gpr_chooses((const double[]){1, 2, 4.4, 8, 15}, LIST(64, 32, 1, 2));
    gpr_chooses((const double[]){5, 9, 4, 8, 5}, LIST(4, 16, 1, 8, 2, 32)); /* mostly noise; 32 twice */
}

static void gpr_ends_somewhere(void **state) {
    (void)state;
    as_campaign campaign = campaign_of(1, LIST(1, 2, 4, 8, 16), (const double[]){1, 2, 4, 8, 16});
    as_advice_options options = options_of(INFINITY, first_of_all);
    as_advice advice = advise(&campaign, &options);
    uint32_t measurements = 0;
    for (size_t i = 0; i < advice.suggestions.count; i++)
        measurements += AS_AT(as_suggestion, &advice.suggestions, i).repetitions;
    assert_int_equal(10, advice.suggestions.count); /* 5 new points 5 times, 5 known ones 4 times more */
    assert_int_equal(45, measurements);
    assert_false(advice.is_full);
    as_advice_free(&advice);
    options.max_points = 7;
    advice = advise(&campaign, &options);
    assert_true(advice.is_full);
    as_advice_free(&advice);
    as_campaign_free(&campaign);
}

static void twelve_parameters_are_bounded(void **state) {
    (void)state;
    enum { N = 12 };
    double points[(1 + 4 * N) * N];
    for (size_t i = 0; i < 1 + 4 * N; i++) {
        for (size_t k = 0; k < N; k++) points[i * N + k] = i && (i - 1) / 4 == k ? (double)((i - 1) % 4 + 2) : 1;
    }
    as_campaign campaign = campaign_of(N, points, (1 + 4 * N) * N, NULL);
    as_advice_options options = options_of(49 + 10, first_of_all);
    as_advice advice = advise(&campaign, &options);
    assert_int_equal(AS_ADVICE_ADD, advice.mode);
    assert_true(advice.is_cut);
    near(1e12 - 49, advice.space);
    assert_true(advice.n_candidates <= 10049);
    assert_int_equal(10, advice.suggestions.count); /* one second each, where the first parameter is 1 */
    as_advice_free(&advice);
    as_campaign_free(&campaign);
}

/* ---- from a dataset ---------------------------------------------------------------------------------------------- */

static void campaign_of_a_dataset(void **state) {
    (void)state;
    as_dataset *ds =
        read_text("extrap-text", "PARAMETER p\nPOINTS 8 4 2\nMETRIC time\nREGION a\nDATA 1 3\nDATA 10\nDATA nan\n"
                                 "REGION b\nDATA 4 4 4\nDATA 6 6\nDATA 7\n");
    as_campaign campaign;
    const uint32_t series[] = {0, 1};
    assert_int_equal(ASSAY_OK, as_campaign_collect(ds, series, 2, 1e-3, &campaign, NULL));
    assert_int_equal(3, campaign.n);
    static const double points[] = {2, 4, 8}, runtimes[] = {7e-3, 16e-3, 6e-3}, spent[] = {7e-3, 22e-3, 16e-3},
                        repetitions[] = {1, 1, 2};
    for (size_t i = 0; i < 3; i++) {
        near(points[i], campaign.points[i]);
        near(runtimes[i], campaign.runtimes[i]);
        near(spent[i], campaign.spent[i]);
        near(repetitions[i], campaign.repetitions[i]);
    }
    assert_int_equal(1, campaign.n_not_finite);
    near(0.25, campaign.noise); /* a: std 1 of mean 2 at 8, so 0.5; b: none */
    as_advice_options options = {.processes = 0};
    near(8 * 16e-3 / 3600, as_advice_cost(&options, &campaign.points[2], campaign.spent[2]));
    options.is_strong = true;
    near(16e-3 / 3600, as_advice_cost(&options, &campaign.points[2], campaign.spent[2]));
    as_campaign_free(&campaign);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_rule),
        cmocka_unit_test(series_go_on),
        cmocka_unit_test(points_in_order),
        cmocka_unit_test(modes_of_designs),
        cmocka_unit_test(base_completes_lines),
        cmocka_unit_test(base_with_given_values),
        cmocka_unit_test(base_lines_that_cross),
        cmocka_unit_test(add_takes_the_cheapest),
        cmocka_unit_test(add_leads_with_a_combination),
        cmocka_unit_test(predictions_without_sense_are_left_out),
        cmocka_unit_test(gpr_learns_most_for_its_cost),
        cmocka_unit_test(gpr_ends_somewhere),
        cmocka_unit_test(twelve_parameters_are_bounded),
        cmocka_unit_test(campaign_of_a_dataset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
