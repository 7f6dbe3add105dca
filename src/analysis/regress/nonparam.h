/* What the regressions without a formula have in common: regressogram, moving average, kernel regression. */
#ifndef AS_ANALYSIS_REGRESS_NONPARAM_H
#define AS_ANALYSIS_REGRESS_NONPARAM_H

#include <math.h>

#include "analysis/regress/regress.h"
#include "core/error.h"

/* A sum that keeps what rounding takes away: as good as twice the digits. */
typedef struct as_long_sum {
    double high, low;
} as_long_sum;

static inline void as_long_add(as_long_sum *sum, double value) {
    double total = sum->high + value, rest = total - sum->high;
    sum->low += (sum->high - (total - rest)) + (value - rest);
    sum->high = total;
}

static inline double as_long_value(as_long_sum sum) {
    double value = sum.high + sum.low;
    return isnan(value) ? sum.high : value; /* inf - inf in the rest */
}

/* The points of a uid ascending by x, then y. */
typedef struct as_sorted {
    double *x, *y;
    size_t n;
} as_sorted;

/* False when memory is out. */
bool as_sorted_make(const as_points *points, as_arena *arena, as_sorted *out);

/* 1 - residual sum of squares / total sum of squares; where all y are the same 1 for f = y, else 0. Not a number in f
 * counts as 0. */
double as_r_square(const double *y, const double *f, size_t n);
double as_mean_of(const double *values, size_t n);
/* Divided by n - less. */
double as_deviation_of(const double *values, size_t n, double less);

/* A new curve of these points at the end of the list, with its uid, keys and x_start, x_end. NULL when memory is out.
 * It lives where it is until the next one. */
as_curve *as_nonparam_add(as_curves *curves, const as_points_set *set, const as_points *points, as_curve_model model);
/* reason is copied. False when memory is out. */
bool as_nonparam_skip(as_curves *curves, const char *uid, as_curve_model model, const char *reason);

/* Weights of a window of SciPy of n points, symmetric; NULL: there is no such window that needs no parameter. */
typedef void as_window(double *weights, size_t n);
as_window *as_window_find(const char *name);

#endif
