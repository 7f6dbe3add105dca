#include <math.h>

#include "analysis/regress/regress.h"

static const char *const names[AS_N_CURVES] = {
    [AS_CURVE_EXPONENTIAL] = "exponential",   [AS_CURVE_LINEAR] = "linear",
    [AS_CURVE_LOGARITHMIC] = "logarithmic",   [AS_CURVE_POWER] = "power",
    [AS_CURVE_QUADRATIC] = "quadratic",       [AS_CURVE_CONSTANT] = "constant",
    [AS_CURVE_REGRESSOGRAM] = "regressogram", [AS_CURVE_MOVING_AVERAGE] = "moving_average",
    [AS_CURVE_KERNEL] = "kernel_regression",  [AS_CURVE_OTHER] = "other",
};

const char *as_curve_name(as_curve_model model) { return names[model]; }

bool as_curve_find(const char *name, as_curve_model *out) {
    for (int model = 0; model < AS_CURVE_OTHER; model++) {
        if (strcmp(names[model], name) != 0) continue;
        *out = (as_curve_model)model;
        return true;
    }
    return false;
}

void as_curves_init(as_curves *curves, as_budget *budget) {
    as_vec_init(&curves->curves, sizeof(as_curve), budget);
    as_vec_init(&curves->skipped, sizeof(as_skipped_curve), budget);
    as_arena_init(&curves->arena, budget);
}

void as_curves_free(as_curves *curves) {
    as_vec_free(&curves->curves);
    as_vec_free(&curves->skipped);
    as_arena_free(&curves->arena);
}

double as_curve_at(const as_curve *curve, double x) {
    const double *b = curve->coefficients;
    switch (curve->model) {
    case AS_CURVE_CONSTANT:
    case AS_CURVE_LINEAR: return b[0] + b[1] * x;
    case AS_CURVE_LOGARITHMIC: return x > 0 ? b[0] + b[1] * log(x) : NAN;
    case AS_CURVE_POWER: return b[0] * pow(x, b[1]);
    case AS_CURVE_EXPONENTIAL: return b[0] * pow(b[1], x);
    case AS_CURVE_QUADRATIC: return curve->n_coefficients == 2 ? b[0] + b[1] * x * x : b[0] + b[1] * x + b[2] * x * x;
    default: return NAN;
    }
}

void as_curve_plot(const as_curve *curve, size_t n, double *x, double *y) {
    double step = n > 1 ? (curve->x_end - curve->x_start) / (double)(n - 1) : 0;
    for (size_t i = 0; i < n; i++) {
        x[i] = i + 1 == n && n > 1 ? curve->x_end : curve->x_start + (double)i * step;
        if (fabs(x[i]) < 1e-6) x[i] = 1e-6;
        y[i] = as_curve_at(curve, x[i]);
    }
}
