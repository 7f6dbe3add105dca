/* Medians and quantiles of n > 0 numbers in ascending order, without NaN. */
#ifndef AS_CORE_QUANTILE_H
#define AS_CORE_QUANTILE_H

#include <math.h>
#include <stddef.h>

/* The middle of two numbers, also where their sum is beyond double. */
static inline double as_halfway(double low, double high) {
    double sum = low + high;
    return isfinite(sum) ? sum / 2 : low / 2 + high / 2;
}

static inline double as_median(const double *ascending, size_t n) {
    return n % 2 ? ascending[n / 2] : as_halfway(ascending[n / 2 - 1], ascending[n / 2]);
}

/* Straight between neighbours, rounded as numpy's quantile() does. part: 0 to 1. */
static inline double as_quantile(const double *ascending, size_t n, double part) {
    double place = (double)(n - 1) * part;
    size_t i = (size_t)place;
    double between = place - (double)i, low = ascending[i], high = ascending[i + 1 < n ? i + 1 : i];
    if (low == high) return low;
    return between >= 0.5 ? high - (high - low) * (1 - between) : low + (high - low) * between;
}

#endif
