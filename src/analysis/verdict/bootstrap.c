/* Confidence intervals by resampling. The median of a resample of n values is one of them (or the middle of two): which
 * one has a distribution that depends on n alone. So a median costs a draw from that, and no resample is ever made. */
#include <math.h>
#include <stdlib.h>

#include "analysis/verdict/verdict.h"
#include "core/random.h"

enum { LARGEST = 200 }; /* of larger numbers of values the place of the median is as good as normal */

/* Of n values: places[a] is the probability that the middle (of an even n: the lower of both) is value a or one below
 * it; gaps[a]: that the upper one of both is another. */
typedef struct law {
    double places[LARGEST], gaps[LARGEST];
} law;

struct as_median_laws {
    law *laws[LARGEST + 1]; /* NULL: nobody needs it */
};

/* ---- the law of a median ----------------------------------------------------------------------------------------- */

/* Of n draws, each a hit with probability q: the logarithm of the probability of k hits. */
static double log_hits(const double *log_factorials, uint32_t n, uint32_t k, double q) {
    double ways = log_factorials[n] - log_factorials[k] - log_factorials[n - k];
    if (q >= 1) return k == n ? 0 : -INFINITY;
    return ways + k * log(q) + (n - k) * log1p(-q);
}

static void fill_law(law *out, const double *log_factorials, uint32_t n) {
    uint32_t middle = (n + 1) / 2; /* the lower one, from 1 */
    double before = 0;
    for (uint32_t a = 1; a <= n; a++) {
        double q = (double)a / n, sum = 0;
        for (uint32_t k = middle; k <= n; k++) sum += exp(log_hits(log_factorials, n, k, q));
        sum = fmin(1, sum);
        /* Exactly `middle` draws up to a, at least one of them a itself: the next larger one is beyond a. */
        double apart = exp(log_hits(log_factorials, n, middle, q)) * (1 - pow((a - 1.0) / a, middle));
        out->places[a - 1] = a == n ? 1 : sum;
        out->gaps[a - 1] = n % 2 || sum <= before ? 0 : fmin(1, apart / (sum - before));
        before = sum;
    }
}

as_median_laws *as_median_laws_new(const as_samples *samples) {
    as_median_laws *laws = calloc(1, sizeof *laws);
    double log_factorials[LARGEST + 1] = {0};
    if (!laws) return NULL;
    for (uint32_t i = 1; i <= LARGEST; i++) log_factorials[i] = log_factorials[i - 1] + log(i);
    for (size_t i = 0; i < samples->n + 2 * samples->n_metrics; i++) {
        const as_sampled_metric *metric = i < samples->n ? NULL : &samples->metrics[(i - samples->n) / 2];
        const as_subject *subject = !metric                     ? &samples->subjects[i]
                                    : (i - samples->n) % 2 == 0 ? &metric->total
                                                                : &metric->whole;
        for (size_t k = 0; k < 2 * (size_t)subject->n_strata; k++) {
            uint32_t n = subject->strata[k % 2][k / 2].n;
            if (n < 2 || n > LARGEST || laws->laws[n]) continue;
            if (!(laws->laws[n] = malloc(sizeof(law)))) return as_median_laws_free(laws), NULL;
            fill_law(laws->laws[n], log_factorials, n);
        }
    }
    return laws;
}

void as_median_laws_free(as_median_laws *laws) {
    for (size_t i = 0; laws && i <= LARGEST; i++) free(laws->laws[i]);
    free(laws);
}

/* The first place whose probability reaches u. */
static uint32_t find_place(const law *l, uint32_t n, double u) {
    uint32_t low = 0, high = n - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->places[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double draw_median(const as_median_laws *laws, const as_stratum *stratum, uint64_t *state) {
    uint32_t n = stratum->n;
    if (n == 1) return stratum->values[0];
    if (n > LARGEST) {
        double place = ((double)n - 1) / 2 + as_random_normal(state) * sqrt(n) / 2;
        return stratum->values[(size_t)fmin((double)n - 1, fmax(0, round(place)))];
    }
    const law *l = laws->laws[n];
    uint32_t lower = find_place(l, n, as_random_part(state)), upper = lower;
    if (n % 2) return stratum->values[lower];
    if (as_random_part(state) < l->gaps[lower]) { /* the least of the other half of the draws, which lie beyond */
        double beyond = n - 1.0 - lower, part = as_random_part(state);
        double step = beyond > 1 ? ceil(beyond * (1 - pow(part, 2.0 / n))) : 1;
        upper = lower + (uint32_t)fmin(beyond, fmax(1, step));
    }
    return as_halfway(stratum->values[lower], stratum->values[upper]);
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

/* Puts the k-th smallest in its place, smaller ones before it and larger ones behind. */
static double select_nth(double *values, size_t n, size_t k) {
    size_t first = 0, last = n - 1;
    while (first < last) {
        double pivot = values[first + (last - first) / 2];
        size_t i = first, j = last;
        for (;;) {
            while (values[i] < pivot) i++;
            while (pivot < values[j]) j--;
            if (i >= j) break;
            double swapped = values[i];
            values[i++] = values[j];
            values[j--] = swapped;
        }
        if (k <= j)
            last = j;
        else
            first = j + 1;
    }
    return values[k];
}

static double medians_of(const as_median_laws *laws, const as_subject *subject, size_t side, uint64_t *state) {
    double sum = 0;
    for (uint32_t i = 0; i < subject->n_strata; i++) sum += draw_median(laws, &subject->strata[side][i], state);
    return sum;
}

void as_ratio_interval(const as_median_laws *laws, const as_subject *subject, double level, uint32_t resamples,
                       uint64_t seed, double *draws, double *low, double *high) {
    enum { MOST_DRAWS = 200000, LEAST_RESAMPLES = 400 };
    uint64_t state = seed;
    if (subject->n_strata && resamples > MOST_DRAWS / subject->n_strata) { /* the more strata, the smoother their sum */
        uint32_t fewer = MOST_DRAWS / subject->n_strata;
        if (fewer < LEAST_RESAMPLES) fewer = LEAST_RESAMPLES;
        if (fewer < resamples) resamples = fewer;
    }
    *low = *high = NAN;
    if (!resamples) return;
    for (uint32_t i = 0; i < resamples; i++) {
        double base = medians_of(laws, subject, 0, &state), target = medians_of(laws, subject, 1, &state);
        /* Where a resample of the base is 0, any amount is infinitely more. */
        double ratio = base > 0                   ? target / base
                       : base == 0 && target > 0  ? INFINITY
                       : base == 0 && target == 0 ? 1
                                                  : NAN;
        if (isnan(ratio)) return;
        draws[i] = ratio;
    }
    size_t cut = (size_t)(level / 2 * resamples);
    if (cut > (resamples - 1) / 2) cut = (resamples - 1) / 2;
    *low = select_nth(draws, resamples, cut);
    *high = select_nth(draws, resamples, resamples - 1 - cut);
}
