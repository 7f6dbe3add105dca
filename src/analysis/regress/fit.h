/* Least squares for Perun's six models, as exact as doubles allow: sums are taken around means, so that addresses and
 * time stamps lose no digits. Private to analysis/regress. */
#ifndef AS_ANALYSIS_REGRESS_FIT_H
#define AS_ANALYSIS_REGRESS_FIT_H

#include "analysis/regress/regress.h"

/* Some points of a uid and their natural logarithms, NAN where there is none. Those that no asked model needs may be
 * NULL. */
typedef struct as_fit_points {
    const double *x, *y, *log_x, *log_y;
    size_t n;
    double *scratch; /* 4 n numbers */
} as_fit_points;

typedef struct as_curve_fit {
    as_curve_model model;
    double r_square, x_start, x_end, coefficients[3];
    double mean_y;      /* of linear: what the constant model is made from */
    const char *reason; /* why it cannot be fitted; NULL: it is */
} as_curve_fit;

/* Fits the models asked for (bits), out[model]; a constant model only together with the linear one. The points are at
 * least one. */
void as_fit_curves(const as_fit_points *points, unsigned models, bool is_compatible,
                   as_curve_fit out[AS_CURVE_CONSTANT + 1]);
/* The best of those fitted among exponential … quadratic: the greatest r_square, of equal ones (up to rounding) the
 * first. NULL: none is fitted. */
const as_curve_fit *as_best_fit(const as_curve_fit fits[AS_CURVE_CONSTANT + 1], unsigned models);

#define AS_BIT(model)      (1u << (model))
#define AS_NEEDS_LOG_X     (AS_BIT(AS_CURVE_LOGARITHMIC) | AS_BIT(AS_CURVE_POWER))
#define AS_NEEDS_LOG_Y     (AS_BIT(AS_CURVE_EXPONENTIAL) | AS_BIT(AS_CURVE_POWER))
#define AS_FITTED_DIRECTLY (AS_BIT(AS_CURVE_CONSTANT) - 1)

#endif
