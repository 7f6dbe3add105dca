/* How often the default of `assay compare` is wrong where nothing changed, and how often it finds what did: by
 * simulation. Prints the tables of docs/compare.md.
 *
 * compare-simulation [N]: N times as many trials as for the tables there (0.1: a tenth). */
#include <stdio.h>

#include "core/parallel.h"
#include "made_samples.h"

enum { SIZES = 5, FAMILIES = 4, CHANGES = 4, BLOCKS = 64 };
static const uint32_t sizes[SIZES] = {3, 5, 10, 20, 30};
static const size_t families[FAMILIES] = {1, 10, 100, 1000};
static const double changes[CHANGES] = {1.05, 1.10, 1.20, 1.50};

/* What came of some trials. */
struct tally {
    size_t trials, wrong, maybe, wrong_paths, found, found_maybe;
};

struct trials {
    size_t paths, n_trials;
    uint32_t n;
    made_noise noise;
    double factor;
    uint64_t seed;
    struct tally tallies[BLOCKS];
};

static bool is_sure(as_outcome outcome) { return outcome == AS_OUTCOME_WORSE || outcome == AS_OUTCOME_BETTER; }
static bool is_maybe(as_outcome outcome) {
    return outcome == AS_OUTCOME_MAYBE_WORSE || outcome == AS_OUTCOME_MAYBE_BETTER;
}

static void try_once(const struct trials *t, uint64_t trial, struct tally *tally) {
    as_judge_options options = AS_JUDGE_DEFAULTS;
    made_samples made;
    as_verdict verdict;
    assay_error error;
    options.floor = 0;       /* all of them are tested: the hardest case */
    options.resamples = 200; /* the interval has no part in what is sure */
    options.threads = 1;
    uint64_t seed = (t->seed * 1000003 + trial) * 0xd1342543de82ef95u;
    if (!made_fill(&made, t->paths, t->n, t->noise, t->factor, seed) ||
        as_judge(&made.samples, &options, &verdict, &error) != ASSAY_OK) {
        fprintf(stderr, "memory is out\n");
        exit(3);
    }
    size_t sure = 0, maybe = 0;
    for (size_t i = 0; i < verdict.n; i++) {
        const as_judgement *j = &verdict.judgements[i];
        if (t->factor != 1 && j->subject == &made.subjects[0]) {
            tally->found += j->outcome == AS_OUTCOME_WORSE;
            tally->found_maybe += j->outcome == AS_OUTCOME_WORSE || j->outcome == AS_OUTCOME_MAYBE_WORSE;
            continue;
        }
        sure += is_sure(j->outcome);
        maybe += is_maybe(j->outcome);
    }
    tally->wrong_paths += sure;
    if (t->factor == 1) {
        sure += is_sure(verdict.metrics[0].total.outcome);
        maybe += is_maybe(verdict.metrics[0].total.outcome);
    }
    tally->wrong += sure > 0;
    tally->maybe += sure + maybe > 0;
    tally->trials++;
    as_verdict_free(&verdict);
    made_free(&made);
}

static void try_block(void *user, size_t block) {
    struct trials *t = user;
    for (size_t i = block; i < t->n_trials; i += BLOCKS) try_once(t, i, &t->tallies[block]);
}

static struct tally run(size_t paths, uint32_t n, made_noise noise, double factor, size_t n_trials) {
    struct trials t = {.paths = paths,
                       .n_trials = n_trials,
                       .n = n,
                       .noise = noise,
                       .factor = factor,
                       .seed = paths * 7919 + n * 104729 + noise * 1299709u + (uint64_t)(factor * 1000) * 15485863u};
    struct tally sum = {0};
    as_parallel(BLOCKS, 0, try_block, &t);
    for (size_t i = 0; i < BLOCKS; i++) {
        sum.trials += t.tallies[i].trials;
        sum.wrong += t.tallies[i].wrong;
        sum.maybe += t.tallies[i].maybe;
        sum.wrong_paths += t.tallies[i].wrong_paths;
        sum.found += t.tallies[i].found;
        sum.found_maybe += t.tallies[i].found_maybe;
    }
    return sum;
}

static double percent(size_t part, size_t of) { return of ? 100 * (double)part / (double)of : 0; }

static size_t trials_of(size_t paths, double times) {
    double n = (paths == 1 ? 20000 : paths == 10 ? 6000 : paths == 100 ? 1000 : 200) * times;
    return n < 20 ? 20 : (size_t)n;
}

/* Wrong: some call path, or the total, is called a degradation or an optimization. */
static void print_false(double times) {
    printf("Nothing changed: comparisons with a wrong degradation or optimization [%%]\n\n| noise | repetitions | 1 "
           "path | 10 paths | 100 paths | 1000 paths | of 1000 paths, wrong ones | 10 paths, with *maybe* |\n| --- | "
           "---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (made_noise noise = 0; noise < MADE_KINDS; noise++) {
        for (size_t s = 0; s < SIZES; s++) {
            struct tally tallies[FAMILIES];
            printf("| %s | %u |", made_noise_names[noise], sizes[s]);
            for (size_t f = 0; f < FAMILIES; f++) {
                tallies[f] = run(families[f], sizes[s], noise, 1, trials_of(families[f], times));
                printf(" %.2f |", percent(tallies[f].wrong, tallies[f].trials));
            }
            printf(" %.4f | %.2f |\n", percent(tallies[3].wrong_paths, 1000 * tallies[3].trials),
                   percent(tallies[1].maybe, tallies[1].trials));
            fflush(stdout);
        }
    }
}

static void print_power(double times) {
    for (size_t f = 0; f < 3; f++) {
        printf("\nOne of %zu call paths changed: how often that is called a degradation (in brackets: or maybe one) "
               "[%%]\n\n| noise | repetitions | +5 %% | +10 %% | +20 %% | +50 %% |\n| --- | ---: | ---: | ---: | ---: "
               "| ---: |\n",
               families[f]);
        for (made_noise noise = 0; noise < MADE_KINDS; noise++) {
            for (size_t s = 0; s < SIZES; s++) {
                printf("| %s | %u |", made_noise_names[noise], sizes[s]);
                for (size_t c = 0; c < CHANGES; c++) {
                    struct tally tally =
                        run(families[f], sizes[s], noise, changes[c], trials_of(families[f], times / 4));
                    printf(" %.0f (%.0f) |", percent(tally.found, tally.trials),
                           percent(tally.found_maybe, tally.trials));
                }
                printf("\n");
                fflush(stdout);
            }
        }
    }
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

enum { SUBJECTS = 20, RUNS = 20, CHANGED_RUN = 12, MOST_SERIES = 4000 };

struct series_trials {
    made_noise noise;
    bool wrong[MOST_SERIES], found[MOST_SERIES], placed[MOST_SERIES];
};

/* Twenty call paths over twenty runs without a change, then with the first one 20 % slower from run 13 on. */
static void try_series(void *user, size_t trial) {
    struct series_trials *t = user;
    as_judge_options options = AS_JUDGE_DEFAULTS;
    uint64_t state = (trial + 1) * 1000003u + t->noise * 7919u;
    double values[SUBJECTS][RUNS];
    as_track tracks[SUBJECTS];
    options.threads = 1;
    for (size_t i = 0; i < SUBJECTS; i++) {
        for (size_t k = 0; k < RUNS; k++) values[i][k] = made_value(&state, t->noise);
        tracks[i] = (as_track){.values = values[i], .threshold = options.threshold};
    }
    for (size_t changed = 0; changed < 2; changed++) {
        if (!as_tracks_find(tracks, SUBJECTS, RUNS, &options)) exit(3);
        for (size_t i = 0; i < SUBJECTS && !changed; i++) t->wrong[trial] |= tracks[i].points.count > 0;
        const as_change_point *point = tracks[0].points.data;
        t->found[trial] = tracks[0].points.count > 0;
        t->placed[trial] = tracks[0].points.count == 1 && point->at + 1 >= CHANGED_RUN && point->at <= CHANGED_RUN + 1;
        as_tracks_free(tracks, SUBJECTS);
        for (size_t k = CHANGED_RUN; k < RUNS; k++) values[0][k] *= 1.2;
    }
}

static void print_series(double times) {
    size_t n = times * 400 < 20 ? 20 : times * 400 > MOST_SERIES ? MOST_SERIES : (size_t)(times * 400);
    static struct series_trials t;
    printf("\nSeries of %d runs, %d call paths [%%]\n\n| noise | wrong change point where there is none | a level 20 "
           "%% higher from run %d on is found | "
           "alone, and within a run of its place |\n| --- | ---: | ---: | ---: |\n",
           RUNS, SUBJECTS, CHANGED_RUN + 1);
    for (made_noise noise = 0; noise < MADE_KINDS; noise++) {
        size_t wrong = 0, found = 0, placed = 0;
        t = (struct series_trials){.noise = noise};
        as_parallel(n, 0, try_series, &t);
        for (size_t i = 0; i < n; i++) {
            wrong += t.wrong[i];
            found += t.found[i];
            placed += t.placed[i];
        }
        printf("| %s | %.1f | %.0f | %.0f |\n", made_noise_names[noise], percent(wrong, n), percent(found, n),
               percent(placed, n));
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    double times = 1;
    if (argc > 2 || (argc == 2 && (!as_real_parse(argv[1], strlen(argv[1]), &times) || !(times > 0)))) {
        fprintf(stderr, "compare-simulation [N]: how many times as many trials, such as 0.1\n");
        return 2;
    }
    print_false(times);
    print_power(times);
    print_series(times);
    return 0;
}
