/* Whether sides differ, by dividing the runs anew: all call paths at once, so that it takes no more repetitions for
 * many of them than for one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "core/parallel.h"
#include "core/random.h"

enum { MOST_DIVISIONS = 4000, DRAWN = 2000, AT_ONCE = 64 };
static const double least_noise =
    0.01; /* as a part of the mean: so a few values that happen to be alike are no proof */

/* One subject, its values less their mean. */
typedef struct shuffled {
    const double *values; /* those of the base, then those of the target */
    double squares;       /* their sum */
    double floor;         /* that is added to the standard error */
} shuffled;

typedef struct shuffling {
    shuffled *subjects;
    size_t n;
    uint32_t n_base, n_target;
    uint32_t *divisions; /* bits of the runs that are the target's; the first one is what was measured */
    size_t n_divisions;
    double *largest; /* of each division over all subjects */
} shuffling;

/* How far the sides of a division are apart, in standard errors. */
static double distance_of(const shuffling *s, const shuffled *one, uint32_t division) {
    double sum = 0, parts = 1.0 / s->n_base + 1.0 / s->n_target;
    for (uint32_t i = 0; division >> i; i++)
        if (division >> i & 1) sum += one->values[i];
    double rest = fmax(one->squares - sum * sum * parts, 0) / (s->n_base + s->n_target - 2);
    double error = sqrt(rest * parts) + one->floor;
    return error > 0 ? fabs(sum) * parts / error : 0;
}

static void divide(void *user, size_t piece) {
    shuffling *s = user;
    for (size_t k = piece * AT_ONCE; k < s->n_divisions && k < (piece + 1) * AT_ONCE; k++)
        for (size_t i = 0; i < s->n; i++)
            s->largest[k] = fmax(s->largest[k], distance_of(s, &s->subjects[i], s->divisions[k]));
}

/* ---- divisions --------------------------------------------------------------------------------------------------- */

static double count_divisions(uint32_t n, uint32_t k) {
    double count = 1;
    for (uint32_t i = 1; i <= k; i++) count = count * (n - k + i) / i;
    return count;
}

/* All of them where they are few, else so many by chance: with the one that was measured they are as many that are
 * alike where nothing changed. */
static bool make_divisions(shuffling *s, uint64_t seed) {
    uint32_t n = s->n_base + s->n_target, measured = ((1u << s->n_target) - 1) << s->n_base;
    double all = count_divisions(n, s->n_target);
    s->n_divisions = all <= MOST_DIVISIONS ? (size_t)(all + 0.5) : DRAWN;
    s->divisions = malloc(s->n_divisions * sizeof *s->divisions);
    s->largest = calloc(s->n_divisions, sizeof *s->largest);
    if (!s->divisions || !s->largest) return false;
    if (all > MOST_DIVISIONS) {
        s->divisions[0] = measured;
        for (size_t k = 1; k < DRAWN; k++) {
            uint32_t bits = 0, left = s->n_target;
            for (uint32_t i = 0; i < n; i++) {
                if (as_random_below(&seed, n - i) >= left) continue;
                bits |= 1u << i;
                left--;
            }
            s->divisions[k] = bits;
        }
        return true;
    }
    uint32_t bits = (1u << s->n_target) - 1;
    for (size_t k = 0; k < s->n_divisions; k++) { /* the next larger number with as many bits */
        s->divisions[k] = bits;
        uint32_t low = bits & (0 - bits), carried = bits + low;
        bits = ((bits ^ carried) >> 2) / low | carried;
    }
    return true;
}

/* ---- the test ---------------------------------------------------------------------------------------------------- */

static void centre(const shuffling *s, const as_subject *subject, double *values, shuffled *out) {
    uint32_t n = s->n_base + s->n_target;
    double mean = 0;
    memcpy(values, subject->by_run[0], s->n_base * sizeof *values);
    memcpy(values + s->n_base, subject->by_run[1], s->n_target * sizeof *values);
    for (uint32_t i = 0; i < n; i++) mean += values[i] / n;
    *out = (shuffled){.values = values, .floor = least_noise * fabs(mean)};
    for (uint32_t i = 0; i < n; i++) {
        values[i] -= mean;
        out->squares += values[i] * values[i];
    }
}

static int descending(const void *a, const void *b) { return as_real_compare(b, a); }

/* The part of divisions with a distance of at least this. */
static double part_beyond(const shuffling *s, double distance) {
    size_t low = 0, high = s->n_divisions;
    if (isnan(distance)) return 1; /* of infinite values */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->largest[middle] >= distance * (1 - 1e-9))
            low = middle + 1;
        else
            high = middle;
    }
    return (double)(low ? low : 1) / (double)s->n_divisions;
}

bool as_can_shuffle(const as_subject *const *subjects, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const as_subject *one = subjects[i];
        if (!one->by_run[0] || !one->by_run[1]) return false;
        for (size_t side = 0; side < 2; side++)
            if (one->strata[side][0].n != subjects[0]->strata[side][0].n) return false;
    }
    return n > 0;
}

bool as_shuffle_test(const as_subject *const *subjects, size_t n, uint64_t seed, unsigned threads, double *p) {
    shuffling s = {.n = n, .n_base = subjects[0]->strata[0][0].n, .n_target = subjects[0]->strata[1][0].n};
    uint32_t n_runs = s.n_base + s.n_target, measured = ((1u << s.n_target) - 1) << s.n_base;
    double *values = malloc(n * n_runs * sizeof *values);
    s.subjects = malloc(n * sizeof *s.subjects);
    bool fine = values && s.subjects && make_divisions(&s, seed);
    for (size_t i = 0; fine && i < n; i++) centre(&s, subjects[i], values + i * n_runs, &s.subjects[i]);
    if (fine) {
        as_parallel((s.n_divisions + AT_ONCE - 1) / AT_ONCE, threads, divide, &s);
        qsort(s.largest, s.n_divisions, sizeof *s.largest, descending);
    }
    for (size_t i = 0; fine && i < n; i++) p[i] = part_beyond(&s, distance_of(&s, &s.subjects[i], measured));
    free(values);
    free(s.subjects);
    free(s.divisions);
    free(s.largest);
    return fine;
}
