/* How noisy repetitions are, and what a comparison with them could find. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "core/parallel.h"
#include "core/random.h"

enum {
    DRAWS = 200,           /* comparisons that are simulated */
    MOST_SIMULATED = 2000, /* values on a side: more are taken as so many */
    STEPS = 24
};
static const double power = 0.8, largest_change = 100;

/* ---- simulated comparisons --------------------------------------------------------------------------------------- */

struct simulation {
    const as_subject *subject;
    double threshold, level; /* level: of one test */
    uint64_t seed;
    uint32_t n;         /* values on a side, where it is one stratum */
    uint64_t critical;  /* pairs in which the target's value is larger, for the test to see it */
    double *values;     /* one stratum: DRAWS x 2 x n, ascending. Several: of one draw, both sides of all strata */
    as_stratum *strata; /* several: 2 x n_strata */
    as_rank_room room;
};

/* From the measured distribution, straight between neighbours: so values that are measured once do not come twice. */
static double draw_value(const as_stratum *stratum, uint64_t *state) {
    if (stratum->n == 1) return stratum->values[0];
    double u = as_random_part(state) * (double)stratum->n - 0.5;
    double at = fmin(fmax(u, 0), (double)stratum->n - 1);
    uint32_t i = (uint32_t)at < stratum->n - 1 ? (uint32_t)at : stratum->n - 2;
    return stratum->values[i] + (at - i) * (stratum->values[i + 1] - stratum->values[i]);
}

static void draw_values(const as_stratum *stratum, double *out, uint32_t n, uint64_t *state) {
    for (uint32_t i = 0; i < n; i++) out[i] = draw_value(stratum, state);
    qsort(out, n, sizeof *out, as_real_compare);
}

/* Numbers of two sides in which `pairs` of the n x n have the target's above: the test depends on nothing else. */
static double test_of_pairs(uint32_t n, uint64_t pairs, double *room, as_rank_room *ranks) {
    double *base = room, *target = room + n;
    uint64_t left = pairs;
    for (uint32_t i = 0; i < n; i++) base[i] = i;
    for (uint32_t i = n; i-- > 0;) { /* the largest first: each beats as many as are left to beat */
        uint64_t beats = left < n ? left : n;
        target[i] = (double)beats - 0.5 + 0.4 * (double)i / n;
        left -= beats;
    }
    as_stratum sides[2] = {{base, n}, {target, n}};
    return as_rank_test(&sides[0], &sides[1], 1, ranks);
}

/* The fewest pairs for which the test sees a change; more than there are: it never does. */
static uint64_t critical_pairs(uint32_t n, double level, double *room, as_rank_room *ranks) {
    uint64_t low = (uint64_t)n * n / 2, high = (uint64_t)n * n + 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (middle <= (uint64_t)n * n && test_of_pairs(n, middle, room, ranks) < level)
            high = middle;
        else if (middle > (uint64_t)n * n)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static uint64_t count_pairs(const double *base, const double *target, uint32_t n, double factor) {
    uint64_t pairs = 0;
    for (uint32_t i = 0, below = 0; i < n; i++) {
        while (below < n && base[below] < target[i] * factor) below++;
        pairs += below;
    }
    return pairs;
}

static bool is_found(const struct simulation *s, size_t draw, double factor) {
    const double *base = s->values + draw * 2 * s->n, *target = base + s->n;
    if (!(as_median(target, s->n) * factor > as_median(base, s->n) * (1 + s->threshold))) return false;
    return count_pairs(base, target, s->n, factor) >= s->critical;
}

/* Of a subject with several strata: the test itself. */
static bool is_found_in_strata(struct simulation *s, size_t draw, double factor) {
    const as_subject *subject = s->subject;
    uint64_t state = s->seed + draw * 0xd1342543de82ef95u;
    double sums[2] = {0, 0}, *at = s->values;
    for (uint32_t i = 0; i < subject->n_strata; i++) {
        uint32_t n = subject->strata[0][i].n < MOST_SIMULATED ? subject->strata[0][i].n : MOST_SIMULATED;
        for (size_t side = 0; side < 2; side++, at += n) {
            draw_values(&subject->strata[0][i], at, n, &state);
            for (uint32_t k = 0; side && k < n; k++) at[k] *= factor;
            s->strata[side * subject->n_strata + i] = (as_stratum){at, n};
            sums[side] += as_median(at, n);
        }
    }
    if (!(sums[1] > sums[0] * (1 + s->threshold))) return false;
    return as_rank_test(s->strata, s->strata + subject->n_strata, subject->n_strata, &s->room) < s->level;
}

static bool is_powerful(struct simulation *s, double change) {
    size_t found = 0, draws = s->strata ? DRAWS / 4 : DRAWS;
    for (size_t i = 0; i < draws; i++)
        found += s->strata ? is_found_in_strata(s, i, 1 + change) : is_found(s, i, 1 + change);
    return (double)found >= power * (double)draws;
}

static double smallest_change(struct simulation *s) {
    double low = s->threshold, high = largest_change;
    if (!is_powerful(s, high)) return INFINITY;
    size_t steps = s->strata ? STEPS / 2 : STEPS;
    for (size_t i = 0; i < steps && high - low > 0.001 * high; i++) {
        double middle = sqrt(fmax(low, 1e-4) * high);
        if (is_powerful(s, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Draws all comparisons with n repetitions of one stratum. values: room for DRAWS x 2 x n. */
static void draw_all(struct simulation *s, uint32_t n) {
    uint64_t state = s->seed;
    s->n = n;
    s->critical = critical_pairs(n, s->level, s->values, &s->room);
    for (size_t i = 0; i < 2 * (size_t)DRAWS; i++) draw_values(&s->subject->strata[0][0], s->values + i * n, n, &state);
}

/* By halving: more repetitions do not find less. */
static uint32_t repetitions_for(struct simulation *s, double change) {
    static const uint32_t tried[] = {
        3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, AS_MOST_REPETITIONS};
    size_t low = 0, high = sizeof tried / sizeof *tried;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        draw_all(s, tried[middle]);
        if (is_powerful(s, change))
            high = middle;
        else
            low = middle + 1;
    }
    return low < sizeof tried / sizeof *tried ? tried[low] : UINT32_MAX;
}

/* ---- one subject ------------------------------------------------------------------------------------------------- */

static uint32_t count_outliers(const as_stratum *stratum, double *room) {
    double median = as_median(stratum->values, stratum->n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < stratum->n; i++) room[i] = fabs(stratum->values[i] - median);
    qsort(room, stratum->n, sizeof *room, as_real_compare);
    double limit = 5 * 1.4826 * as_median(room, stratum->n);
    for (uint32_t i = 0; i < stratum->n; i++) n += room[i] > limit;
    return n;
}

static bool describe(as_noise *noise) {
    const as_subject *subject = noise->subject;
    double between = 0;
    uint32_t largest = 0;
    noise->n = UINT32_MAX;
    for (uint32_t i = 0; i < subject->n_strata; i++)
        if (subject->strata[0][i].n > largest) largest = subject->strata[0][i].n;
    double *room = malloc((size_t)largest * sizeof *room);
    if (!room) return false;
    for (uint32_t i = 0; i < subject->n_strata; i++) {
        const as_stratum *stratum = &subject->strata[0][i];
        if (stratum->n < noise->n) noise->n = stratum->n;
        noise->median += as_median(stratum->values, stratum->n);
        between += as_quantile(stratum->values, stratum->n, 0.75) - as_quantile(stratum->values, stratum->n, 0.25);
        noise->outliers += count_outliers(stratum, room);
    }
    free(room);
    noise->spread = noise->median > 0 ? between / noise->median : NAN;
    return true;
}

static bool simulate(as_noise *noise, double level, uint64_t seed) {
    const as_subject *subject = noise->subject;
    struct simulation s = {.subject = subject, .threshold = noise->threshold, .level = level, .seed = seed};
    size_t size = 0;
    noise->detectable = NAN;
    noise->needed = UINT32_MAX;
    if (!(noise->median > 0) || noise->n < 2) return true;
    uint32_t n = noise->n < MOST_SIMULATED ? noise->n : MOST_SIMULATED,
             most = n > AS_MOST_REPETITIONS ? n : AS_MOST_REPETITIONS;
    for (uint32_t i = 0; i < subject->n_strata; i++)
        size += 2 * (size_t)(subject->strata[0][i].n < MOST_SIMULATED ? subject->strata[0][i].n : MOST_SIMULATED);
    if (subject->n_strata == 1) size = 2 * (size_t)DRAWS * most;
    s.values = malloc(size * sizeof *s.values);
    if (subject->n_strata > 1) s.strata = malloc(2 * (size_t)subject->n_strata * sizeof *s.strata);
    bool fine = s.values && (subject->n_strata == 1 || s.strata);
    if (fine && subject->n_strata == 1) draw_all(&s, n);
    if (fine) noise->detectable = smallest_change(&s);
    if (fine && subject->n_strata == 1) noise->needed = repetitions_for(&s, 2 * noise->threshold);
    free(s.values);
    free(s.strata);
    as_rank_room_free(&s.room);
    return fine;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

struct work {
    as_noises *out;
    double level;
    uint64_t seed;
    bool *failed;
};

static void work_on(void *user, size_t i) {
    struct work *w = user;
    as_noise *noise = &w->out->list[i];
    const as_subject *subject = noise->subject;
    uint64_t seed = as_hash_everywhere(subject->metric, strlen(subject->metric)) ^ w->seed;
    if (subject->path) seed = seed * 31 + as_hash_everywhere(subject->path, strlen(subject->path));
    w->failed[i] = !simulate(noise, w->level, seed);
}

static bool has_repetitions(const as_subject *subject) {
    for (uint32_t i = 0; i < subject->n_strata; i++)
        if (subject->strata[0][i].n > 1) return true;
    return false;
}

/* The same that as_judge() leaves out as too small. */
static bool add_metric(const as_samples *samples, const as_sampled_metric *metric, const as_judge_options *options,
                       const as_rules *rules, as_noises *out) {
    double sum = 0;
    size_t first = out->n;
    for (size_t i = 0; i <= metric->n; i++) {
        const as_subject *subject = i ? &samples->subjects[metric->first + i - 1] : &metric->total;
        if (!subject->n_strata) continue;
        if (!has_repetitions(subject)) {
            out->n_alone += subject->path != NULL;
            continue;
        }
        const as_threshold_rule *rule = as_rules_find(rules, subject->metric, subject->path);
        as_noise *noise = &out->list[out->n++];
        *noise = (as_noise){.subject = subject,
                            .threshold = rule && !isnan(rule->threshold) ? rule->threshold : options->threshold};
        if (!describe(noise)) return false;
        if (subject->path && subject->is_top) sum += fabs(noise->median);
    }
    size_t kept = first;
    for (size_t i = first; i < out->n; i++) {
        if (out->list[i].subject->path && fabs(out->list[i].median) < options->floor * sum) continue;
        out->list[kept++] = out->list[i];
    }
    out->n = kept;
    return true;
}

static int by_size(const void *a, const void *b) {
    const as_noise *x = a, *y = b;
    if (x->subject->in_metric != y->subject->in_metric) return x->subject->in_metric < y->subject->in_metric ? -1 : 1;
    if (!x->subject->path != !y->subject->path) return x->subject->path ? 1 : -1;
    uint64_t size_x = as_real_key(x->median), size_y = as_real_key(y->median); /* NaN has its place, too */
    if (size_x != size_y) return size_x > size_y ? -1 : 1;
    return x->subject < y->subject ? -1 : x->subject > y->subject;
}

static bool find(const as_samples *samples, const as_judge_options *options, const as_rules *rules, as_noises *out) {
    size_t most = samples->n + samples->n_metrics;
    struct work w = {.out = out, .seed = options->seed * 0x9e3779b97f4a7c15u};
    out->list = as_arena_array(&out->arena, most + 1, sizeof *out->list);
    w.failed = as_arena_array(&out->arena, most + 1, sizeof *w.failed);
    if (!out->list || !w.failed) return false;
    for (size_t i = 0; i < samples->n_metrics; i++)
        if (!add_metric(samples, &samples->metrics[i], options, rules, out)) return false;
    if (out->n) qsort(out->list, out->n, sizeof *out->list, by_size);
    out->n_tests = out->n;
    w.level = options->level / (out->n ? (double)out->n : 1);
    as_parallel(out->n, options->threads, work_on, &w);
    for (size_t i = 0; i < out->n; i++)
        if (w.failed[i]) return false;
    return true;
}

assay_status as_noises_find(const as_samples *samples, const as_judge_options *options, as_noises *out,
                            assay_error *error) {
    as_rules *rules = NULL;
    *out = (as_noises){0};
    as_arena_init(&out->arena, NULL);
    AS_TRY(as_rules_new(options->rules, options->n_rules, &rules, error));
    bool fine = find(samples, options, rules, out);
    as_rules_free(rules);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

void as_noises_free(as_noises *noises) { as_arena_free(&noises->arena); }
