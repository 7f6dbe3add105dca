/* The pieces of series that are tested together, inside analysis/verdict/. */
#ifndef AS_ANALYSIS_VERDICT_SEGMENTS_H
#define AS_ANALYSIS_VERDICT_SEGMENTS_H

#include "analysis/verdict/verdict.h"

enum { AS_SHORTEST_LEVEL = 3, AS_MOST_LENGTHS = 96 };
#define AS_LARGEST_T_SQUARE 1e6

/* The best split: between the values from … at - 1 and those at … to - 1, which need not be all of the segment. */
typedef struct as_split {
    size_t from, at, to;
} as_split;

/* A piece of one subject's series without its missing values. */
typedef struct as_segment_test {
    size_t track;
    size_t from, n;  /* among the track's known values */
    double middle;   /* median; `values` are relative to it */
    double *values;  /* n, cut at some spreads from the median */
    double farthest; /* of them from 0 */
    size_t *runs;    /* the run of each */
    double floor;    /* noise is taken to be no smaller: squared */
    double threshold;
    size_t shortest; /* level */
    /* Found */
    double statistic; /* of the best split; 0: none differs by the threshold */
    as_split split;
    double p; /* corrected for all segments tested together; where it is above the level that alone is sure */
} as_segment_test;

/* Median of n numbers, n > 0, which are sorted. */
double as_median_sort(double *values, size_t n);
/* Fills values, middle and floor from the n raw numbers; sorted: room for n. */
void as_segment_prepare(as_segment_test *segment, const double *raw, double *sorted, bool is_cut);
/* Best split of the values; room: 2 n + 2. */
double as_segment_statistic(const as_segment_test *segment, double *room, as_split *split);

/* Looked at are the whole and intervals of falling lengths that overlap by half. The next length, 0: none; how many
 * there are of a length; where the i-th begins. */
size_t as_interval_shorter(size_t length);
size_t as_interval_count(size_t n, size_t length);
size_t as_interval_from(size_t n, size_t length, size_t n_intervals, size_t i);
/* The t^2 of an interval of this length with which the statistic is `level`. */
double as_deviate_inverse(double level, size_t length);

/* Tables for segments of up to `longest` values: i, 1 / i and 1 / (longest - i). They belong to the arena. */
typedef struct as_screen {
    size_t longest;
    const float *number, *inverse, *backward;
} as_screen;
bool as_screen_make(as_arena *arena, size_t longest, as_screen *out);

/* Kept between calls, as the same level is asked for again and again; begins as {0}. */
typedef struct as_bar {
    size_t n;
    double level, t_square[AS_MOST_LENGTHS];
} as_bar;

/* False: the statistic of the segment's values in an order whose n + 1 sums before each, and of squares, are these is
 * not above `level`, for certain. True: it may be. room: n + 1. */
bool as_segment_may_reach(const as_screen *screen, const as_segment_test *segment, const double *sums,
                          const double *squares, double level, as_bar *bar, float *room);

/* Finds statistic, split and p of all of them. False when memory is out. */
bool as_segments_test(as_segment_test *segments, size_t n, size_t n_runs, const as_judge_options *options,
                      uint64_t round);

#endif
