/* How some numbers lie: sum, mean, extremes, deviation, quartiles, imbalance, and a small histogram. */
#ifndef AS_ANALYSIS_SPREAD_H
#define AS_ANALYSIS_SPREAD_H

#include "dataset/values.h"

enum { AS_SPREAD_BINS = 8 };

typedef struct as_spread {
    uint32_t n;
    uint32_t min_at, max_at; /* which number is the extreme; of several the first */
    bool is_integer;
    as_whole whole_sum, whole_min, whole_max; /* exact; of integers only */
    double sum, min, max;                     /* the nearest, of integers too */
    double mean, stddev;                      /* stddev divides by n */
    double q1, median, q3;                    /* linear between neighbours, at 0.25 (n - 1) and so on */
    double imbalance;                         /* max / mean - 1; NAN where the mean is 0 */
    double excess;                            /* (max - mean) n: what perfect balance would save */
    uint32_t bins[AS_SPREAD_BINS]; /* how many lie in each eighth from min to max; all 0 where not all are finite */
} as_spread;

/* Of n > 0 numbers. room: AS_SPREAD_ROOM(n) bytes, aligned for double. One pass of counting for each of quartiles and
 * histogram, no sorting. */
#define AS_SPREAD_ROOM(n) (3 * sizeof(double) * (size_t)(n))
void as_spread_integers(const as_whole *values, uint32_t n, void *room, as_spread *out);
/* rule: what the sum is. A NaN among the numbers makes all of it NaN. */
void as_spread_reals(const double *values, uint32_t n, as_part_rule rule, void *room, as_spread *out);

/* How many of n numbers lie in each of n_bins parts from min to max, which are finite; equal ones are all in the
 * first. */
void as_spread_count(const double *values, uint32_t n, double min, double max, uint32_t *bins, uint32_t n_bins);

#endif
