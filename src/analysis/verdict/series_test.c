/* Is there a change in a piece of a series? The statistic of its best split, and how often chance alone gives as
 * much. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/verdict/segments.h"
#include "core/parallel.h"
#include "core/random.h"

enum {
    PERMUTATIONS = 1999,
    FEWEST_PERMUTATIONS = 199,
    BLOCKS = 16,          /* of permutations: each has its own room, whatever the number of threads */
    BATCH = 16 * BLOCKS,  /* after so many it is looked at what is decided already */
    SHORTEST_INTERVAL = 8 /* that is looked at beside the whole */
};
static const double work_limit = 4e9; /* values looked at, about: beyond it permutations are fewer */

double as_median_sort(double *values, size_t n) {
    qsort(values, n, sizeof *values, as_real_compare);
    return as_median(values, n);
}

/* An outlier is to weigh no more than five spreads, but what exceeds the threshold is to be seen to do so however small
 * the spread: half as much again. */
void as_segment_prepare(as_segment_test *segment, const double *raw, double *sorted, bool is_cut) {
    size_t n = segment->n;
    memcpy(sorted, raw, n * sizeof *sorted);
    double middle = as_median_sort(sorted, n);
    for (size_t i = 0; i < n; i++) sorted[i] = fabs(raw[i] - middle);
    double spread = 1.4826 * as_median_sort(sorted, n);
    double least = segment->threshold * fabs(middle);
    double limit = is_cut && middle != 0 ? fmax(5 * spread, 1.5 * least) : INFINITY;
    segment->farthest = 0;
    for (size_t i = 0; i < n; i++) {
        segment->values[i] = fmax(-limit, fmin(limit, raw[i] - middle));
        segment->farthest = fmax(segment->farthest, fabs(segment->values[i]));
    }
    segment->middle = middle;
    segment->floor = least * least / 100;
}

/* ---- the statistic ----------------------------------------------------------------------------------------------- */

/* The square of the largest t of a split of values[from … to - 1] whose levels differ by the threshold. sums: of the
 * values before each, and of their squares. */
static double best_split(const as_segment_test *segment, const double *sums, const double *squares, size_t from,
                         size_t to, size_t *split) {
    size_t n = to - from;
    double total = sums[to] - sums[from], square = squares[to] - squares[from], best = 0;
    for (size_t k = segment->shortest; k + segment->shortest <= n; k++) {
        double left = sums[from + k] - sums[from], right = total - left;
        double n_left = (double)k, n_right = (double)(n - k);
        double mean = left / n_left, difference = right / n_right - mean;
        if (!(fabs(difference) >= segment->threshold * fabs(mean + segment->middle)) || difference == 0) continue;
        double within = fmax(square - left * mean - right * (right / n_right), 0);
        double variance = (n > 2 ? within / (double)(n - 2) : 0) + segment->floor;
        double gained = difference * difference * n_left * n_right / (double)n;
        double t = gained >= variance * AS_LARGEST_T_SQUARE ? AS_LARGEST_T_SQUARE : gained / variance;
        if (t > best) {
            best = t;
            *split = from + k;
        }
    }
    return best;
}

/* t of intervals of all lengths on one scale: the normal deviate that is as rare (Wallace's approximation), so that
 * short ones, whose noise is badly known, do not win by luck. */
static double deviate(double t_square, size_t n) {
    double freedom = n > 2 ? (double)(n - 2) : 1;
    return (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t_square / freedom));
}

double as_deviate_inverse(double level, size_t length) {
    double freedom = length > 2 ? (double)(length - 2) : 1, z = level * (8 * freedom + 3) / (8 * freedom + 1);
    return freedom * expm1(z * z / freedom);
}

/* The whole, and intervals of falling lengths that overlap by half: a level between two changes is seen by some of them
 * (seeded binary segmentation). */
size_t as_interval_shorter(size_t length) {
    size_t next = (size_t)((double)length * 0.70710678);
    return next >= length || next < SHORTEST_INTERVAL ? 0 : next;
}

size_t as_interval_count(size_t n, size_t length) {
    size_t step = length > 1 ? length / 2 : 1;
    return (n - length + step - 1) / step + 1;
}

size_t as_interval_from(size_t n, size_t length, size_t n_intervals, size_t i) {
    return n_intervals > 1 ? (n - length) * i / (n_intervals - 1) : 0;
}

static void fill_sums(const double *values, size_t n, double *sums, double *squares) {
    sums[0] = squares[0] = 0;
    for (size_t i = 0; i < n; i++) {
        sums[i + 1] = sums[i] + values[i];
        squares[i + 1] = squares[i] + values[i] * values[i];
    }
}

static double statistic_of(const as_segment_test *segment, const double *sums, const double *squares, as_split *split) {
    size_t n = segment->n, at = 0;
    double best = 0;
    *split = (as_split){0, 0, n};
    for (size_t length = n; length; length = as_interval_shorter(length)) {
        size_t n_intervals = as_interval_count(n, length);
        for (size_t i = 0; i < n_intervals; i++) {
            size_t from = as_interval_from(n, length, n_intervals, i);
            double t = best_split(segment, sums, squares, from, from + length, &at);
            double z = t > 0 ? deviate(t, length) : 0;
            if (z > best) {
                best = z;
                *split = (as_split){from, at, from + length};
            }
        }
    }
    return best;
}

double as_segment_statistic(const as_segment_test *segment, double *room, as_split *split) {
    double *sums = room, *squares = room + segment->n + 1;
    fill_sums(segment->values, segment->n, sums, squares);
    return statistic_of(segment, sums, squares, split);
}

/* ---- chance ------------------------------------------------------------------------------------------------------ */

struct testing {
    const as_segment_test *segments;
    const size_t *order; /* of segments that can differ by the threshold at all, ascending by their statistic */
    size_t n, n_runs, longest;
    const size_t *const *position; /* of each: from run to its number among the segment's values, SIZE_MAX: none */
    size_t permutations;
    uint64_t seed;
    as_screen screen;
    size_t begin, end; /* the permutations of this batch */
    size_t decided;    /* of the order, whose p is above the level whatever follows */
    uint32_t *counts;  /* BLOCKS x n */
    bool failed[BLOCKS];
};

static void shuffle(size_t *runs, size_t n, uint64_t seed) {
    uint64_t state = seed;
    for (size_t i = 0; i < n; i++) runs[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t j = as_random_below(&state, i), held = runs[i - 1];
        runs[i - 1] = runs[j];
        runs[j] = held;
    }
}

/* The room of one block. */
struct block_room {
    size_t *runs;
    double *values, *sums, *squares;
    float *scaled;
    as_bar bar;
};

static bool make_room(const struct testing *t, as_arena *arena, struct block_room *out) {
    *out = (struct block_room){.runs = as_arena_array(arena, t->n_runs, sizeof *out->runs),
                               .values = as_arena_array(arena, t->longest, sizeof *out->values),
                               .sums = as_arena_array(arena, t->longest + 1, sizeof *out->sums),
                               .squares = as_arena_array(arena, t->longest + 1, sizeof *out->squares),
                               .scaled = as_arena_array(arena, t->longest + 1, sizeof *out->scaled)};
    return out->runs && out->values && out->sums && out->squares && out->scaled;
}

static void reorder(const struct testing *t, size_t i, const size_t *runs, double *values) {
    const double *from = t->segments[t->order[i]].values;
    const size_t *position = t->position[i];
    for (size_t r = 0, n = 0; r < t->n_runs; r++) {
        size_t at = position[runs[r]];
        if (at != SIZE_MAX) values[n++] = from[at];
    }
}

/* The largest statistic of this and all smaller ones is what a segment's own must exceed: the step-down method of
 * Westfall and Young, which knows how segments go together. What is smaller than the least one in question need not be
 * known. */
static void count_permutation(const struct testing *t, struct block_room *room, uint32_t *counts) {
    double last = t->segments[t->order[t->n - 1]].statistic, least = t->segments[t->order[t->decided]].statistic;
    double largest = 0;
    size_t i = 0;
    as_split unused;
    for (; i < t->n && largest < last; i++) {
        const as_segment_test *segment = &t->segments[t->order[i]];
        reorder(t, i, room->runs, room->values);
        fill_sums(room->values, segment->n, room->sums, room->squares);
        if (as_segment_may_reach(&t->screen, segment, room->sums, room->squares, fmax(largest, least), &room->bar,
                                 room->scaled))
            largest = fmax(largest, statistic_of(segment, room->sums, room->squares, &unused));
        if (largest >= segment->statistic) counts[i]++;
    }
    for (; i < t->n; i++) counts[i]++;
}

static void count_block(void *user, size_t block) {
    struct testing *t = user;
    struct block_room room;
    as_arena arena;
    as_arena_init(&arena, NULL);
    t->failed[block] |= !make_room(t, &arena, &room);
    for (size_t p = t->begin + block; p < t->end && !t->failed[block]; p += BLOCKS) {
        shuffle(room.runs, t->n_runs, t->seed + p * 0xd1342543de82ef95u);
        count_permutation(t, &room, t->counts + block * t->n);
    }
    as_arena_free(&arena);
}

/* Whether any order of its values could give a split that differs by the threshold. */
static bool can_differ(const as_segment_test *segment) {
    double lowest = INFINITY, highest = -INFINITY;
    for (size_t i = 0; i < segment->n; i++) {
        lowest = fmin(lowest, segment->values[i]);
        highest = fmax(highest, segment->values[i]);
    }
    double low = lowest + segment->middle, high = highest + segment->middle;
    double nearest = low <= 0 && high >= 0 ? 0 : fmin(fabs(low), fabs(high));
    return highest > lowest && highest - lowest >= segment->threshold * nearest;
}

static int by_statistic(const void *a, const void *b, void *user) {
    const as_segment_test *segments = user;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    double x = segments[i].statistic, y = segments[j].statistic;
    return x < y ? -1 : x > y ? 1 : i < j ? -1 : i > j;
}

static double p_of(const struct testing *t, size_t i) {
    uint64_t count = 0;
    for (size_t b = 0; b < BLOCKS; b++) count += t->counts[b * t->n + i];
    return (double)(count + 1) / (double)(t->permutations + 1);
}

/* Until nothing is left in question: counts only grow, and the p of one counts for all before it. */
static bool count_all(struct testing *t, const as_judge_options *options) {
    for (t->end = 0; t->end < t->permutations && t->decided < t->n;) {
        t->begin = t->end;
        t->end = t->permutations - t->begin < BATCH ? t->permutations : t->begin + BATCH;
        as_parallel(BLOCKS, options->threads, count_block, t);
        for (size_t b = 0; b < BLOCKS; b++)
            if (t->failed[b]) return false;
        size_t i = t->n;
        while (i > t->decided && !(p_of(t, i - 1) > options->level)) i--;
        t->decided = i;
    }
    return true;
}

static void set_p(const struct testing *t, as_segment_test *segments) {
    double largest = 0;
    for (size_t i = t->n; i-- > 0;) {
        largest = i < t->decided ? 1 : fmax(largest, p_of(t, i));
        segments[t->order[i]].p = largest;
    }
}

bool as_segments_test(as_segment_test *segments, size_t n, size_t n_runs, const as_judge_options *options,
                      uint64_t round) {
    struct testing t = {.segments = segments, .n_runs = n_runs, .seed = options->seed ^ (round * 0xa0761d6478bd642fu)};
    as_arena arena;
    as_arena_init(&arena, NULL);
    size_t *order = as_arena_array(&arena, n, sizeof *order), **position = as_arena_array(&arena, n, sizeof *position);
    double work = 0, *room = NULL;
    bool fine = order && position, any = false;
    for (size_t i = 0; i < n; i++)
        if (segments[i].n > t.longest) t.longest = segments[i].n;
    if (fine) fine = (room = as_arena_array(&arena, 2 * t.longest + 2, sizeof *room)) != NULL;
    for (size_t i = 0; i < n && fine; i++) {
        segments[i].p = 1;
        segments[i].statistic = as_segment_statistic(&segments[i], room, &segments[i].split);
        any |= segments[i].statistic > 0;
        if (!can_differ(&segments[i])) continue;
        order[t.n++] = i;
        work += (double)segments[i].n * 8;
    }
    if (fine && any) {
        qsort_r(order, t.n, sizeof *order, by_statistic, segments);
        for (size_t i = 0; i < t.n && fine; i++) {
            const as_segment_test *segment = &segments[order[i]];
            fine = (position[i] = as_arena_array(&arena, n_runs, sizeof **position)) != NULL;
            for (size_t r = 0; r < n_runs && fine; r++) position[i][r] = SIZE_MAX;
            for (size_t k = 0; k < segment->n && fine; k++) position[i][segment->runs[k]] = k;
        }
        t.order = order;
        t.position = (const size_t *const *)position;
        t.permutations = PERMUTATIONS;
        if (work * PERMUTATIONS > work_limit) t.permutations = (size_t)fmax(FEWEST_PERMUTATIONS, work_limit / work);
        t.counts = fine ? as_arena_array(&arena, BLOCKS * t.n, sizeof *t.counts) : NULL;
        fine = t.counts && as_screen_make(&arena, t.longest, &t.screen) && count_all(&t, options);
        if (fine) set_p(&t, segments);
    }
    as_arena_free(&arena);
    return fine;
}
