/* Averages over windows of points. */
#ifndef AS_ANALYSIS_REGRESS_MOVING_H
#define AS_ANALYSIS_REGRESS_MOVING_H

#include "analysis/regress/nonparam.h"

/* A window around each point j: from j - before to j + after, as far as there are points; fewer than `least` of them:
 * not a number. */
typedef struct as_moving_window {
    size_t before, after, least;
} as_moving_window;

/* scratch: 2 n doubles. */
void as_moving_mean(const double *y, size_t n, as_moving_window window, double *out, double *scratch);
/* False when memory is out. */
bool as_moving_median(const double *y, size_t n, as_moving_window window, double *out, as_arena *scratch);
/* weights: of before + 1 + after points. is_plain: sums of weights times values as they are, whose last digits pandas
 * has as well. */
void as_moving_weighted(const double *y, size_t n, as_moving_window window, const double *weights, bool is_plain,
                        double *out);
/* Exponentially weighted: the newest point has the weight 1, each before it 1 - alpha of the next one's. */
void as_moving_exponential(const double *y, size_t n, double alpha, size_t least, double *out);

#endif
