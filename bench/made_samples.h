/* Samples by chance, for simulations of comparisons: unchanged ones, or with one call path that changed. Deterministic:
 * the same seed gives the same numbers. */
#ifndef AS_BENCH_MADE_SAMPLES_H
#define AS_BENCH_MADE_SAMPLES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "core/random.h"

typedef enum made_noise {
    MADE_1,
    MADE_5,
    MADE_LOGNORMAL,
    MADE_BIMODAL,
    MADE_HEAVY,
    MADE_OUTLIERS,
    MADE_KINDS
} made_noise;
static const char *const made_noise_names[] = {"normal, 1 %", "normal, 5 %", "lognormal, 10 %",
                                               "bimodal",     "heavy tails", "outliers"};

/* A measurement of something that takes 1. */
static inline double made_value(uint64_t *state, made_noise noise) {
    switch (noise) {
    case MADE_1: return 1 + 0.01 * as_random_normal(state);
    case MADE_5: return fmax(1 + 0.05 * as_random_normal(state), 0.01);
    case MADE_LOGNORMAL: return exp(0.1 * as_random_normal(state));
    case MADE_BIMODAL:
        return (as_random_part(state) < 0.25 ? 1.2 : 1) *
               (1 + 0.01 * as_random_normal(state)); /* two places in memory, say */
    case MADE_HEAVY: {                               /* Student's t with 2 degrees of freedom */
        double u = as_random_part(state);
        return fmax(1 + 0.02 * (2 * u - 1) / sqrt(2 * u * (1 - u)), 0.01);
    }
    default:
        return (as_random_part(state) < 0.05 ? 1 + 4 * as_random_part(state) : 1) *
               (1 + 0.02 * as_random_normal(state)); /* now and then somebody else takes the machine */
    }
}

/* Two sides of n repetitions of so many call paths, of different sizes, and their total. target of path 0: multiplied
 * by factor. */
typedef struct made_samples {
    as_samples samples;
    as_subject *subjects;
    as_stratum *strata;
    double *values, *by_run; /* ascending, and as they came */
    as_sampled_metric metric;
} made_samples;

static inline void made_free(made_samples *m) {
    free(m->subjects);
    free(m->strata);
    free(m->values);
    free(m->by_run);
    *m = (made_samples){0};
}

static inline bool made_fill(made_samples *m, size_t paths, uint32_t n, made_noise noise, double factor,
                             uint64_t seed) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    uint64_t state = seed;
    *m = (made_samples){0};
    m->subjects = calloc(paths, sizeof *m->subjects);
    m->strata = calloc(2 * (paths + 1), sizeof *m->strata);
    m->values = calloc(2 * (paths + 1) * n, sizeof *m->values);
    m->by_run = calloc(2 * (paths + 1) * n, sizeof *m->by_run);
    if (!m->subjects || !m->strata || !m->values || !m->by_run) return false;
    double *total = m->values + 2 * paths * n;
    for (size_t i = 0; i <= paths; i++) {
        double size = 1 + (double)(i % 7);
        for (size_t side = 0; side < 2; side++) {
            double *values = m->values + (2 * i + side) * n;
            for (uint32_t k = 0; k < n && i < paths; k++) {
                values[k] = size * made_value(&state, noise) * (side && i == 0 ? factor : 1);
                total[side * n + k] += values[k];
            }
            memcpy(m->by_run + (2 * i + side) * n, values, n * sizeof *values);
            qsort(values, n, sizeof *values, as_real_compare);
            m->strata[2 * i + side] = (as_stratum){values, n};
        }
        as_subject subject = {.path = i < paths ? names[i % 8] : NULL,
                              .metric = "time",
                              .unit = "s",
                              .is_in = {true, true},
                              .is_top = true,
                              .n_strata = 1,
                              .strata = {&m->strata[2 * i], &m->strata[2 * i + 1]}};
        for (size_t side = 0; side < 2 && n <= AS_MOST_SHUFFLED; side++)
            subject.by_run[side] = m->by_run + (2 * i + side) * n;
        if (i < paths)
            m->subjects[i] = subject;
        else
            m->metric = (as_sampled_metric){.name = "time", .unit = "s", .n = paths, .total = subject};
    }
    m->samples = (as_samples){
        .subjects = m->subjects, .n = paths, .metrics = &m->metric, .n_metrics = 1, .has_repetitions = n > 1};
    return true;
}

#endif
