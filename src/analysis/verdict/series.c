/* Change points of series: segments are split in two as long as a test finds a change in them. */
#include <math.h>
#include <stdlib.h>

#include "analysis/verdict/segments.h"

/* The known values of one subject, and where it is split so far. */
struct known {
    double *values;
    size_t *runs;
    size_t n;
    as_vec splits; /* struct split, ascending */
};

struct split {
    size_t at;
    double p;
};

struct search {
    as_track *tracks;
    struct known *known;
    size_t n, n_runs;
    const as_judge_options *options;
    as_vec segments, next; /* as_segment_test: of this round, of the next */
    as_arena arena;
    double *room; /* 4 x runs + 2 */
};

static bool read_known(struct search *s, size_t track) {
    struct known *known = &s->known[track];
    as_vec_init(&known->splits, sizeof(struct split), NULL);
    known->values = as_arena_array(&s->arena, s->n_runs, sizeof *known->values);
    known->runs = as_arena_array(&s->arena, s->n_runs, sizeof *known->runs);
    if (!known->values || !known->runs) return false;
    for (size_t r = 0; r < s->n_runs; r++) {
        if (!isfinite(s->tracks[track].values[r])) continue;
        known->values[known->n] = s->tracks[track].values[r];
        known->runs[known->n++] = r;
    }
    return true;
}

/* Appends values from … from + n - 1 of a subject as a segment to be tested; nothing where they are too few to be
 * split. */
static bool add_segment(struct search *s, as_vec *to, size_t track, size_t from, size_t n, size_t shortest,
                        bool is_cut) {
    if (n < 2 * shortest || n < 2) return true;
    as_segment_test segment = {.track = track,
                               .from = from,
                               .n = n,
                               .values = as_arena_array(&s->arena, n, sizeof(double)),
                               .runs = s->known[track].runs + from,
                               .threshold = s->tracks[track].threshold,
                               .shortest = shortest};
    if (!segment.values) return false;
    as_segment_prepare(&segment, s->known[track].values + from, s->room, is_cut);
    return as_vec_append(to, &segment, 1);
}

static double median_of(struct search *s, size_t track, size_t from, size_t to) {
    memcpy(s->room, s->known[track].values + from, (to - from) * sizeof *s->room);
    return as_median_sort(s->room, to - from);
}

static bool medians_differ(const as_track *track, double before, double after) {
    return before != after && fabs(after - before) >= track->threshold * fabs(before);
}

static int by_place(const void *a, const void *b) {
    const struct split *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* A split that the test believes in: both halves are looked at in the next round. */
static bool accept(struct search *s, const as_segment_test *segment) {
    size_t at = segment->from + segment->split.at, end = segment->from + segment->n, track = segment->track;
    double before = median_of(s, track, segment->from + segment->split.from, at);
    if (!medians_differ(&s->tracks[track], before, median_of(s, track, at, segment->from + segment->split.to)))
        return true;
    struct split split = {at, segment->p};
    if (!as_vec_append(&s->known[track].splits, &split, 1)) return false;
    qsort(s->known[track].splits.data, s->known[track].splits.count, sizeof split, by_place);
    return add_segment(s, &s->next, track, segment->from, at - segment->from, AS_SHORTEST_LEVEL, true) &&
           add_segment(s, &s->next, track, at, end - at, AS_SHORTEST_LEVEL, true);
}

static bool split_tested(struct search *s) {
    bool fine = true;
    for (size_t i = 0; i < s->n && fine; i++)
        if (s->known[i].n >= AS_FEWEST_RUNS)
            fine = add_segment(s, &s->segments, i, 0, s->known[i].n, AS_SHORTEST_LEVEL, true);
    for (uint64_t round = 0; s->segments.count && fine; round++) {
        as_segment_test *segments = s->segments.data;
        fine = as_segments_test(segments, s->segments.count, s->n_runs, s->options, round);
        s->next.count = 0;
        for (size_t i = 0; i < s->segments.count && fine; i++)
            if (segments[i].statistic > 0 && segments[i].p <= s->options->level) fine = accept(s, &segments[i]);
        as_vec held = s->segments;
        s->segments = s->next;
        s->next = held;
    }
    return fine;
}

/* Too few runs for a test: the one split that the threshold alone believes in. */
static bool split_untested(struct search *s, size_t track) {
    struct known *known = &s->known[track];
    size_t shortest = known->n < 4 ? 1 : 2;
    s->segments.count = 0;
    if (!add_segment(s, &s->segments, track, 0, known->n, shortest, false)) return false;
    if (!s->segments.count) return true;
    as_segment_test *segment = s->segments.data;
    segment->statistic = as_segment_statistic(segment, s->room, &segment->split);
    if (!(segment->statistic > 0)) return true;
    size_t at = segment->split.at;
    if (!medians_differ(&s->tracks[track], median_of(s, track, 0, at), median_of(s, track, at, known->n))) return true;
    return as_vec_append(&known->splits, &(struct split){at, NAN}, 1);
}

/* ---- the levels -------------------------------------------------------------------------------------------------- */

static size_t end_of_level(const struct known *known, size_t split) {
    return split + 1 < known->splits.count ? AS_AT(struct split, &known->splits, split + 1).at : known->n;
}

/* Where a test saw a split it saw more, or less, than the two levels beside it: each is moved to where it divides these
 * best. */
static bool settle(struct search *s, size_t track) {
    struct known *known = &s->known[track];
    for (size_t i = 0; i < known->splits.count; i++) {
        struct split *split = &AS_AT(struct split, &known->splits, i);
        size_t from = i ? split[-1].at : 0, to = end_of_level(known, i);
        if (isnan(split->p)) continue;
        s->segments.count = 0;
        if (!add_segment(s, &s->segments, track, from, to - from, AS_SHORTEST_LEVEL, true)) return false;
        if (!s->segments.count) continue;
        as_segment_test *segment = s->segments.data;
        as_split best;
        if (as_segment_statistic(segment, s->room, &best) > 0) split->at = from + best.at;
    }
    return true;
}

/* Neighbours whose medians differ too little are one level. */
static void join_levels(struct search *s, size_t track) {
    struct known *known = &s->known[track];
    for (size_t i = 0; i < known->splits.count;) {
        struct split *split = &AS_AT(struct split, &known->splits, i);
        double before = median_of(s, track, i ? split[-1].at : 0, split->at);
        if (medians_differ(&s->tracks[track], before, median_of(s, track, split->at, end_of_level(known, i)))) {
            i++;
            continue;
        }
        memmove(split, split + 1, (known->splits.count - i - 1) * sizeof *split);
        known->splits.count--;
        if (i) i--;
    }
}

/* Sum of distances from a straight line through the values, against that from the levels: one is enough to see which
 * explains them better. */
static bool is_gradual(struct search *s, size_t track) {
    const struct known *known = &s->known[track];
    double n = (double)known->n, mean_x = (n - 1) / 2, mean = 0, xx = 0, xy = 0, from_line = 0, from_levels = 0;
    if (known->n < AS_FEWEST_RUNS) return false;
    for (size_t i = 0; i < known->n; i++) mean += known->values[i] / n;
    for (size_t i = 0; i < known->n; i++) {
        xx += ((double)i - mean_x) * ((double)i - mean_x);
        xy += ((double)i - mean_x) * (known->values[i] - mean);
    }
    for (size_t i = 0; i < known->n; i++) from_line += fabs(known->values[i] - mean - xy / xx * ((double)i - mean_x));
    for (size_t i = 0, from = 0; i <= known->splits.count; i++) {
        size_t to = i < known->splits.count ? AS_AT(struct split, &known->splits, i).at : known->n;
        double level = median_of(s, track, from, to);
        for (size_t k = from; k < to; k++) from_levels += fabs(known->values[k] - level);
        from = to;
    }
    return from_line < from_levels;
}

static bool describe(struct search *s, size_t track) {
    struct known *known = &s->known[track];
    for (size_t i = 0; i < known->splits.count; i++) {
        const struct split *split = &AS_AT(struct split, &known->splits, i);
        as_change_point point = {.at = known->runs[split->at],
                                 .before = median_of(s, track, i ? split[-1].at : 0, split->at),
                                 .after = median_of(s, track, split->at, end_of_level(known, i)),
                                 .p = split->p};
        if (!as_vec_append(&s->tracks[track].points, &point, 1)) return false;
    }
    s->tracks[track].is_gradual = known->splits.count && is_gradual(s, track);
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool search(struct search *s) {
    bool fine = true;
    for (size_t i = 0; i < s->n && fine; i++) fine = read_known(s, i);
    fine = fine && split_tested(s);
    for (size_t i = 0; i < s->n && fine; i++) {
        if (s->known[i].n < AS_FEWEST_RUNS) fine = split_untested(s, i);
        if (s->known[i].splits.count > 0 && fine) fine = settle(s, i);
        if (!fine) break;
        join_levels(s, i);
        fine = describe(s, i);
    }
    return fine;
}

bool as_tracks_find(as_track *tracks, size_t n, size_t n_runs, const as_judge_options *options) {
    struct search s = {.tracks = tracks, .n = n, .n_runs = n_runs, .options = options};
    for (size_t i = 0; i < n; i++) {
        as_vec_init(&tracks[i].points, sizeof(as_change_point), NULL);
        tracks[i].is_gradual = false;
    }
    as_arena_init(&s.arena, NULL);
    as_vec_init(&s.segments, sizeof(as_segment_test), NULL);
    as_vec_init(&s.next, sizeof(as_segment_test), NULL);
    s.known = as_arena_array(&s.arena, n, sizeof *s.known);
    s.room = as_arena_array(&s.arena, 4 * n_runs + 2, sizeof *s.room);
    bool fine = s.known && s.room && search(&s);
    for (size_t i = 0; i < n && s.known; i++) as_vec_free(&s.known[i].splits);
    as_vec_free(&s.segments);
    as_vec_free(&s.next);
    as_arena_free(&s.arena);
    return fine;
}

void as_tracks_free(as_track *tracks, size_t n) {
    for (size_t i = 0; i < n && tracks; i++) as_vec_free(&tracks[i].points);
}
