/* The pieces of series that are tested together, inside analysis/verdict/. */
#ifndef AS_ANALYSIS_VERDICT_SEGMENTS_H
#define AS_ANALYSIS_VERDICT_SEGMENTS_H

#include "analysis/verdict/verdict.h"

enum { AS_SHORTEST_LEVEL = 3 };

/* The best split: between the values from … at - 1 and those at … to - 1, which need not be all of the segment. */
typedef struct as_split {
    size_t from, at, to;
} as_split;

/* A piece of one subject's series without its missing values. */
typedef struct as_segment_test {
    size_t track;
    size_t from, n; /* among the track's known values */
    double middle;  /* median; `values` are relative to it */
    double *values; /* n, cut at some spreads from the median */
    size_t *runs;   /* the run of each */
    double floor;   /* noise is taken to be no smaller: squared */
    double threshold;
    size_t shortest; /* level */
    /* Found */
    double statistic; /* of the best split; 0: none differs by the threshold */
    as_split split;
    double p; /* corrected for all segments tested together */
} as_segment_test;

/* Median of n numbers, n > 0, which are sorted. */
double as_median_sort(double *values, size_t n);
/* Fills values, middle and floor from the n raw numbers; sorted: room for n. */
void as_segment_prepare(as_segment_test *segment, const double *raw, double *sorted, bool is_cut);
/* Best split of these values, in this order; room: n + 1 sums of two. split may be NULL. */
double as_segment_statistic(const as_segment_test *segment, const double *values, double *room, as_split *split);
/* Finds statistic, split and p of all of them. False when memory is out. */
bool as_segments_test(as_segment_test *segments, size_t n, size_t n_runs, const as_judge_options *options,
                      uint64_t round);

#endif
