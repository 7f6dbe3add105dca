/* Whether one side's values tend to be larger, by ranks: nothing is assumed about how they are distributed. */
#include <math.h>
#include <stdlib.h>

#include "analysis/verdict/verdict.h"

/* The room has a head and behind it numbers. What the numbers are a table of is kept, so that the next test of the same
 * sizes finds it. */
typedef struct room_head {
    uint32_t m, n, n_strata; /* of the table; 0: none */
    size_t n_numbers;
} room_head;

void as_rank_room_free(as_rank_room *room) {
    free(room->data);
    *room = (as_rank_room){0};
}

/* Room for so many numbers; what was there is lost where it grows. NULL when memory is out. */
static double *numbers_of(as_rank_room *room, size_t n) {
    size_t head = (sizeof(room_head) + 15) & ~(size_t)15, size = head + n * sizeof(double);
    if (room->size < size) {
        as_rank_room_free(room);
        if (!(room->data = calloc(1, size))) return NULL;
        room->size = size;
    }
    return (double *)(void *)((char *)room->data + head);
}

/* ---- ranks of one stratum ---------------------------------------------------------------------------------------- */

typedef struct ranking {
    double statistic; /* pairs in which the target's value is larger, ties as a half: Mann-Whitney's U */
    double ties;      /* sum of t^3 - t over groups of equal values */
} ranking;

/* Both are ascending. */
static ranking rank(const as_stratum *base, const as_stratum *target) {
    ranking r = {0, 0};
    uint32_t b = 0, t = 0;
    while (b < base->n || t < target->n) {
        double value = t >= target->n || (b < base->n && base->values[b] <= target->values[t]) ? base->values[b]
                                                                                               : target->values[t];
        uint32_t first_b = b, first_t = t;
        while (b < base->n && base->values[b] <= value) b++;
        while (t < target->n && target->values[t] <= value) t++;
        double in_base = b - first_b, in_target = t - first_t, all = in_base + in_target;
        r.statistic += in_target * (first_b + in_base / 2);
        r.ties += all * all * all - all;
    }
    return r;
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

/* How many of the ways to choose m of m + n ranks give each U, as parts of all: the Gaussian binomial coefficient, by
 * its factors. */
static void fill_law(double *law, uint32_t m, uint32_t n) {
    size_t last = (size_t)m * n;
    double all = 0;
    for (size_t u = 0; u <= last; u++) law[u] = u == 0;
    for (size_t i = 1; i <= n; i++) {
        for (size_t u = last; u >= m + i; u--) law[u] -= law[u - m - i];
        for (size_t u = i; u <= last; u++) law[u] += law[u - i];
    }
    for (size_t u = last / 2 + 1; u <= last; u++) law[u] = law[last - u]; /* small ones are exact, large ones are not */
    for (size_t u = 0; u <= last; u++) all += law[u];
    for (size_t u = 0; u <= last; u++) law[u] /= all;
}

/* The law of the sum over strata of one size. NULL when memory is out. */
static const double *law_of(as_rank_room *room, uint32_t m, uint32_t n, uint32_t n_strata) {
    size_t one = (size_t)m * n + 1, size = one - 1;
    size = size * n_strata + 1;
    double *law = numbers_of(room, 2 * size + one);
    room_head *head = room->data;
    if (!law || (head->m == m && head->n == n && head->n_strata == n_strata)) return law;
    double *single = law + size, *next = single + one;
    fill_law(single, m, n);
    memcpy(law, single, one * sizeof *law);
    for (size_t have = one, i = 1; i < n_strata; i++, have += one - 1) {
        memset(next, 0, size * sizeof *next);
        for (size_t a = 0; a < have; a++)
            for (size_t b = 0; b < one; b++) next[a + b] += law[a] * single[b];
        memcpy(law, next, size * sizeof *law);
    }
    *head = (room_head){m, n, n_strata, size};
    return law;
}

/* Twice the smaller tail of a symmetric law over 0 … last. */
static double two_sided(const double *law, size_t last, double statistic) {
    double least = fmin(statistic, (double)last - statistic), sum = 0;
    for (size_t u = 0; (double)u <= least + 1e-9; u++) sum += law[u];
    return fmin(1, 2 * sum);
}

/* With ties: over all ways to deal the values out, the part whose sum of ranks is as far from its mean. Ranks count
 * twice, so that those of ties are whole. */
static double test_ties(const as_stratum *base, const as_stratum *target, as_rank_room *room) {
    uint32_t n = base->n + target->n, m = target->n, ranks[AS_EXACT_TIES], at = 0, sum = 0;
    size_t largest = (size_t)n * (n + 1);
    for (uint32_t b = 0, t = 0; b < base->n || t < target->n;) {
        double value = t >= target->n || (b < base->n && base->values[b] <= target->values[t]) ? base->values[b]
                                                                                               : target->values[t];
        uint32_t first = at, in_target = 0;
        for (; b < base->n && base->values[b] <= value; b++) at++;
        for (; t < target->n && target->values[t] <= value; t++) at++, in_target++;
        for (uint32_t i = first; i < at; i++) ranks[i] = first + at + 1;
        sum += in_target * (first + at + 1);
    }
    double *ways = numbers_of(room, (m + 1) * (largest + 1)), all = 0, extreme = 0;
    if (!ways) return NAN;
    *(room_head *)room->data = (room_head){0};
    memset(ways, 0, (m + 1) * (largest + 1) * sizeof *ways);
    ways[0] = 1; /* of k values with this sum: ways[k * (largest + 1) + sum] */
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = m < i + 1 ? m : i + 1; k > 0; k--) {
            const double *from = ways + (k - 1) * (largest + 1);
            double *to = ways + k * (largest + 1) + ranks[i];
            for (size_t s = 0; s + ranks[i] <= largest; s++) to[s] += from[s];
        }
    }
    double mean = (double)m * (n + 1), distance = fabs(sum - mean);
    for (size_t s = 0; s <= largest; s++) {
        double count = ways[m * (largest + 1) + s];
        all += count;
        if (fabs((double)s - mean) >= distance - 1e-9) extreme += count;
    }
    return fmin(1, extreme / all);
}

/* ---- by the normal distribution ---------------------------------------------------------------------------------- */

/* Van Elteren's sum: each stratum counts by 1 / (its values + 1). */
static double test_normal(const as_stratum *base, const as_stratum *target, size_t n_strata) {
    double distance = 0, variance = 0, step = INFINITY;
    for (size_t i = 0; i < n_strata; i++) {
        double m = base[i].n, n = target[i].n, all = m + n, weight = 1 / (all + 1);
        if (m == 0 || n == 0) continue;
        ranking r = rank(&base[i], &target[i]);
        double of_one = m * n / 12 * (all + 1 - r.ties / (all * (all - 1)));
        distance += weight * (r.statistic - m * n / 2);
        variance += weight * weight * of_one;
        step = fmin(step, weight);
    }
    if (!(variance > 0)) return isinf(step) ? NAN : 1;
    return fmin(1, erfc(fmax(0, fabs(distance) - step / 2) / sqrt(2 * variance)));
}

double as_rank_test(const as_stratum *base, const as_stratum *target, size_t n_strata, as_rank_room *room) {
    enum { LONGEST_LAW = 4096 };
    double sum = 0, ties = 0;
    bool is_even = true; /* all strata are of one size */
    for (size_t i = 0; i < n_strata; i++) is_even &= base[i].n == base[0].n && target[i].n == target[0].n;
    uint32_t m = n_strata ? base[0].n : 0, n = n_strata ? target[0].n : 0;
    if (!is_even || !m || !n || n > AS_EXACT_VALUES || m > AS_EXACT_VALUES - n || n_strata > LONGEST_LAW / (m * n))
        return test_normal(base, target, n_strata);
    for (size_t i = 0; i < n_strata; i++) {
        ranking r = rank(&base[i], &target[i]);
        sum += r.statistic;
        ties += r.ties;
    }
    if (ties > 0)
        return n_strata == 1 && m + n <= AS_EXACT_TIES ? test_ties(base, target, room)
                                                       : test_normal(base, target, n_strata);
    const double *law = law_of(room, m, n, (uint32_t)n_strata);
    return law ? two_sided(law, (size_t)m * n * n_strata, sum) : NAN;
}

/* ---- what can be found at all ------------------------------------------------------------------------------------ */

static double log_choose(double n, uint32_t k) {
    double sum = 0;
    for (uint32_t i = 1; i <= k; i++) sum += log((n - k + i) / i);
    return sum;
}

double as_rank_least(const as_stratum *base, const as_stratum *target, size_t n_strata) {
    enum { PLENTY = 700 }; /* exp(-700) is next to nothing */
    double ways = 0;
    for (size_t i = 0; i < n_strata && ways < PLENTY; i++) {
        uint32_t m = base[i].n, n = target[i].n, fewer = m < n ? m : n;
        ways += log_choose((double)m + n, fewer < PLENTY ? fewer : PLENTY);
    }
    return fmin(1, 2 * exp(-ways));
}

uint32_t as_rank_needed(double level, size_t n_tests) {
    enum { MOST = 200 };
    for (uint32_t n = 1; n < MOST; n++)
        if (2 * exp(-log_choose(2.0 * n, n)) * (double)n_tests < level) return n;
    return MOST;
}

/* ---- many tests -------------------------------------------------------------------------------------------------- */

typedef struct numbered {
    double p;
    size_t index;
} numbered;

static int by_p(const void *left, const void *right) {
    const numbered *a = left, *b = right;
    if (a->p != b->p) return a->p < b->p ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Numbers that are none are left out. NULL when memory is out. */
static numbered *sort_p(const double *p, size_t n, size_t *count) {
    numbered *order = malloc((n + 1) * sizeof *order);
    *count = 0;
    if (!order) return NULL;
    for (size_t i = 0; i < n; i++)
        if (!isnan(p[i])) order[(*count)++] = (numbered){p[i], i};
    qsort(order, *count, sizeof *order, by_p);
    return order;
}

bool as_holm(double *p, size_t n) {
    size_t count;
    numbered *order = sort_p(p, n, &count);
    double largest = 0;
    for (size_t i = 0; order && i < count; i++) {
        largest = fmax(largest, fmin(1, order[i].p * (double)(count - i)));
        p[order[i].index] = largest;
    }
    free(order);
    return order != NULL;
}

bool as_false_discovery(double *p, size_t n) {
    size_t count;
    numbered *order = sort_p(p, n, &count);
    double least = 1;
    for (size_t i = count; order && i-- > 0;) {
        least = fmin(least, order[i].p * (double)count / (double)(i + 1));
        p[order[i].index] = least;
    }
    free(order);
    return order != NULL;
}
