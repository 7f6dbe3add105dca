/* How often `assay compare` calls an unchanged order of growth another one: by simulation. Prints the table of orders
 * in docs/compare.md.
 *
 * growth-simulation [N]: N times as many trials as for the table there (0.1: a tenth). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/scaling/fit.h"
#include "analysis/verdict/growth.h"
#include "core/number.h"
#include "core/parallel.h"
#include "core/random.h"
#include "dataset/experiment.h"

enum { SHAPES = 10, POINTS = 5, TRIALS = 2000, MOST_TRIALS = 100000 };

/* Ten ways to grow, one for each call path. */
static double grow(size_t shape, double n) {
    double powers[] = {0, 0, 0.5, 1, 1, 1.5, 2, 3, 1, 1}, result = pow(n, powers[shape]);
    if (shape == 1 || shape == 4) result *= log2(n);
    return result + (shape == 8 ? 50 : shape == 9 ? 1000 * log2(n) : 0);
}

typedef struct setting {
    double noise;
    const char *sizes;
    double points[POINTS];
    uint32_t repetitions;
} setting;

#define DOUBLED                                                                                                        \
    "64 … 1024, doubled", { 64, 128, 256, 512, 1024 }
#define STEPS                                                                                                          \
    "100 … 500, in steps of 100", { 100, 200, 300, 400, 500 }
static const setting settings[] = {{0.01, DOUBLED, 5}, {0.05, DOUBLED, 5}, {0.05, DOUBLED, 3},
                                   {0.05, STEPS, 5},   {0.1, DOUBLED, 5},  {0.2, DOUBLED, 5}};

/* What came of a trial. */
typedef struct tally {
    bool wrong, maybe, wrong_at;
} tally;

typedef struct trials {
    const setting *setting;
    tally *tallies;
} trials;

static void give_up(const char *why) {
    fprintf(stderr, "growth-simulation: %s\n", why);
    exit(3);
}

/* Normal noise; what would be negative is next to nothing. */
static as_dataset *make(const setting *s, uint64_t *state) {
    as_dataset *ds = as_dataset_new(0);
    if (!ds || as_add_parameter(ds, as_ds_intern_text(ds, "n")) == ASSAY_NONE) give_up("memory is out");
    as_experiment *experiment = as_experiment_new(ds);
    if (!experiment) give_up("memory is out");
    as_cell_key key = {.metric = as_experiment_metric(experiment, "time", 4)};
    for (size_t shape = 0; shape < SHAPES; shape++) {
        key.context = as_experiment_callpath(experiment, &"abcdefghij"[shape], 1);
        for (size_t p = 0; p < POINTS; p++) {
            double value = grow(shape, s->points[p]);
            key.point = as_experiment_point(experiment, &s->points[p]);
            for (uint32_t r = 0; r < s->repetitions; r++) {
                as_number noisy = {.kind = AS_REAL, .r = value * fmax(1 + s->noise * as_random_normal(state), 1e-9)};
                if (!as_experiment_value(experiment, key, noisy)) give_up("memory is out");
            }
        }
    }
    if (!as_experiment_finish(experiment, (as_place){0}, NULL)) give_up("memory is out");
    as_experiment_free(experiment);
    return ds;
}

static as_fit fit(as_dataset *ds) {
    static const char *const none[] = {NULL};
    uint32_t series[SHAPES];
    as_fit_options options;
    as_fit result;
    assay_error error;
    for (uint32_t i = 0; i < SHAPES; i++) series[i] = i;
    if (as_ds_load(ds, ASSAY_NONE, &error) != ASSAY_OK ||
        as_fit_options_parse(1, NULL, NULL, none, &options, &error) != ASSAY_OK)
        give_up(error.message);
    options.threads = 1;
    if (as_fit_models(ds, &options, (as_choice){series, SHAPES}, "comparison", NULL, NULL, NULL, &result, &error) !=
        ASSAY_OK)
        give_up(error.message);
    return result;
}

static bool is_sure(as_outcome outcome) { return outcome == AS_OUTCOME_WORSE || outcome == AS_OUTCOME_BETTER; }

static void try_once(void *user, size_t trial) {
    const trials *t = user;
    const setting *s = t->setting;
    tally *out = &t->tallies[trial];
    uint64_t state = (trial + 1 + (uint64_t)(s - settings) * MOST_TRIALS) * 0xd1342543de82ef95u;
    as_dataset *sides[2];
    as_fit fits[2];
    as_growth_side given[2];
    as_growths growths;
    assay_error error;
    double point = 4 * s->points[POINTS - 1];
    as_judge_options judge = AS_JUDGE_DEFAULTS;
    as_growth_request request = {.point = &point, .threshold = judge.threshold, .confidence = 0.95, .threads = 1};
    for (size_t side = 0; side < 2; side++) {
        sides[side] = make(s, &state);
        fits[side] = fit(sides[side]);
        given[side] = (as_growth_side){sides[side], &fits[side]};
    }
    if (as_growths_find(given, &request, &growths, &error) != ASSAY_OK) give_up(error.message);
    if (growths.n != SHAPES) give_up("not all models are compared");
    *out = (tally){0};
    for (size_t i = 0; i < growths.n; i++) {
        as_outcome order = growths.changes[i].order_outcome;
        out->wrong |= is_sure(order);
        out->maybe |= is_sure(order) || order == AS_OUTCOME_MAYBE_WORSE || order == AS_OUTCOME_MAYBE_BETTER;
        out->wrong_at |= is_sure(growths.changes[i].at_outcome);
    }
    as_growths_free(&growths);
    for (size_t side = 0; side < 2; side++) {
        as_fit_free(&fits[side]);
        as_dataset_free(sides[side]);
    }
}

static double percent(size_t part, size_t of) { return 100 * (double)part / (double)of; }

static void print_setting(const setting *s, tally *tallies, size_t n) {
    trials t = {s, tallies};
    size_t wrong = 0, maybe = 0, wrong_at = 0;
    as_parallel(n, 0, try_once, &t);
    for (size_t i = 0; i < n; i++) {
        wrong += tallies[i].wrong;
        maybe += tallies[i].maybe;
        wrong_at += tallies[i].wrong_at;
    }
    printf("| %g %% | %s | %u | %.1f | %.1f | %.1f |\n", 100 * s->noise, s->sizes, s->repetitions, percent(wrong, n),
           percent(maybe, n), percent(wrong_at, n));
    fflush(stdout);
}

int main(int argc, char **argv) {
    double times = 1;
    if (argc > 2 || (argc == 2 && (!as_real_parse(argv[1], strlen(argv[1]), &times) || !(times > 0)))) {
        fprintf(stderr, "growth-simulation [N]: how many times as many trials, such as 0.1\n");
        return 2;
    }
    size_t n = (size_t)fmin(fmax(times * TRIALS, 1), MOST_TRIALS);
    tally *tallies = calloc(n, sizeof *tallies);
    if (!tallies) give_up("memory is out");
    printf(
        "Orders of growth that did not change, %zu pairs of experiments with %d call paths [%%]\n\n| noise | sizes | "
        "repetitions | wrong degradation or optimization | with *maybe* | wrong at `--at` |\n| --- | --- | ---: | "
        "---: | ---: | ---: |\n",
        n, SHAPES);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) print_setting(&settings[i], tallies, n);
    free(tallies);
    return 0;
}
