/* How the difference of two curves grows, in Perun's words. */
#include <string.h>

#include "analysis/checks/checks_private.h"

/* ---- by polynomials ---------------------------------------------------------------------------------------------- */

/* Polynomials that are orthogonal on the points x, degree by degree (Forsythe): the residual of each degree is that of
 * the last one without its new polynomial's part. As stable as the best of solvers, without one. */
typedef struct orthogonal {
    double previous[AS_CHECK_SAMPLES], current[AS_CHECK_SAMPLES], rest[AS_CHECK_SAMPLES];
    double norm; /* of the previous one, squared */
} orthogonal;

static double dot(const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) sum += a[i] * b[i];
    return sum;
}

/* Takes the current polynomial's part out of the rest; returns the polynomial's squared norm. */
static double project(orthogonal *o) {
    double norm = dot(o->current, o->current), part = norm > 0 ? dot(o->rest, o->current) / norm : 0;
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) o->rest[i] -= part * o->current[i];
    return norm;
}

static void next_polynomial(orthogonal *o, const double *x, double norm) {
    double shift = 0, ratio = o->norm > 0 ? norm / o->norm : 0;
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) shift += x[i] * o->current[i] * o->current[i];
    shift = norm > 0 ? shift / norm : 0;
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) {
        double value = (x[i] - shift) * o->current[i] - ratio * o->previous[i];
        o->previous[i] = o->current[i];
        o->current[i] = value;
    }
    o->norm = norm;
}

const char *as_growth_by_polynomials(as_checking *checking, const double *x, const double *error) {
    static const char *const words[] = {"constant", "linear", "quadratic "};
    double low = x[0], high = x[AS_CHECK_SAMPLES - 1], scaled[AS_CHECK_SAMPLES];
    orthogonal o;
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) {
        scaled[i] = high > low ? (2 * x[i] - low - high) / (high - low) : 0;
        o.previous[i] = 0;
        o.current[i] = 1;
        o.rest[i] = error[i];
    }
    o.norm = 0;
    for (size_t degree = 0; degree < 3; degree++) {
        double norm = project(&o);
        if (dot(o.rest, o.rest) < 1e8) return words[degree];
        if (checking->is_compatible && !(high > low)) {
            as_check_fails(checking, "a model's range is a single point");
            return NULL;
        }
        next_polynomial(&o, scaled, norm);
    }
    return "unknown";
}

/* ---- by regression ----------------------------------------------------------------------------------------------- */

/* How well the models fit an error; NAN: that one does not at all. */
typedef struct fitting {
    double r_square[AS_CURVE_CONSTANT + 1];
    const char *best; /* the name of the one that fits best, the first of equal ones; NULL: there is none */
} fitting;

static bool regress(as_checking *checking, const as_points *points, fitting *out) {
    as_points_set set = {.points = (as_points *)(uintptr_t)points, .n = 1};
    as_regress_options options = {.method = AS_REGRESS_FULL};
    as_curves curves;
    as_curves_init(&curves, as_ds_budget(checking->sides[AS_SIDE_TARGET]));
    bool is_done = as_regress(&set, &options, &curves, NULL) == ASSAY_OK;
    for (size_t i = 0; is_done && i < curves.curves.count; i++) {
        const as_curve *curve = &AS_AT(as_curve, &curves.curves, i);
        if (as_curve_is_parametric(curve->model)) out->r_square[curve->model] = curve->r_square;
    }
    as_curves_free(&curves);
    return is_done;
}

/* The error as points, and what fits them. False: memory is out, or Perun raises an exception. */
static bool fit(as_checking *checking, const double *x, const double *error, fitting *out) {
    double xs[AS_CHECK_SAMPLES], ys[AS_CHECK_SAMPLES], best = 0;
    as_points points = {.uid = "error", .x = xs, .y = ys};
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) {
        if (isnan(error[i])) continue;
        xs[points.n] = x[i];
        ys[points.n++] = error[i];
    }
    out->best = NULL;
    for (int i = 0; i <= AS_CURVE_CONSTANT; i++) out->r_square[i] = NAN;
    if (checking->is_compatible) {
        if (!as_perun_r_squares(xs, ys, points.n, out->r_square))
            return as_check_fails(checking, "the difference of two models cannot be fitted");
    } else if (!regress(checking, &points, out))
        return false;
    for (int i = 0; i <= AS_CURVE_CONSTANT; i++) {
        if (!(out->r_square[i] > best)) continue;
        best = out->r_square[i];
        out->best = as_curve_name((as_curve_model)i);
    }
    return true;
}

static const char *no_fit(as_checking *checking) {
    if (!checking->is_compatible) return "unknown";
    as_check_fails(checking, "nothing fits the difference of two models");
    return NULL;
}

static const char *upper_name(as_checking *checking, const char *name) {
    char *copy = as_arena_copy(&checking->out->arena, name, strlen(name));
    for (char *c = copy; c && *c; c++) *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    return copy;
}

const char *as_growth_by_regression(as_checking *checking, const double *x, const double *error) {
    fitting found;
    if (!fit(checking, x, error, &found)) return NULL;
    return found.best ? upper_name(checking, found.best) : no_fit(checking);
}

/* ---- by a line --------------------------------------------------------------------------------------------------- */

typedef struct fitted_line {
    double slope, intercept, r_square;
} fitted_line;

static double mean(const double *values) {
    double sum = 0;
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) sum += values[i];
    return sum / AS_CHECK_SAMPLES;
}

static fitted_line fit_line(const double *x, const double *y) {
    double mean_x = mean(x), mean_y = mean(y), xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) {
        double dx = x[i] - mean_x, dy = y[i] - mean_y;
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
    }
    double r = xx == 0 || yy == 0 ? 0 : xy / sqrt(xx * yy);
    return (fitted_line){xy / xx, mean_y - xy / xx * mean_x, fmin(r * r, 1)};
}

/* Whether |value| lies within a share of |range|. */
static bool is_around(double value, double range, double share) {
    return fabs((1 - share) * range) <= fabs(value) && fabs(value) <= fabs((1 + share) * range);
}

static const char *growth_of_line(const as_line_growth *growth, const fitted_line *line) {
    if (fabs(line->slope) <= fabs(growth->largest) && is_around(growth->b0, line->intercept, 0.05) &&
        (!growth->is_flat || fabs(growth->b0 - line->intercept) < 1e-12))
        return "constant";
    return is_around(growth->b1, line->slope, 0.3) && line->r_square > 0.95 ? "linear" : NULL;
}

const char *as_growth_by_line(as_checking *checking, const as_line_growth *growth) {
    if (checking->is_compatible && growth->x[0] == growth->x[AS_CHECK_SAMPLES - 1]) {
        as_check_fails(checking, "a model's range is a single point");
        return NULL;
    }
    fitted_line line = fit_line(growth->x, growth->error);
    const char *answer = growth_of_line(growth, &line);
    fitting found;
    if (!fit(checking, growth->x, growth->error, &found)) return NULL;
    double quadratic = found.r_square[AS_CURVE_QUADRATIC], linear = found.r_square[AS_CURVE_LINEAR];
    /* Perun forgets models that explain nothing at all, and misses them here */
    if (checking->is_compatible && (quadratic == 0 || linear == 0)) return no_fit(checking);
    if (quadratic > 0.90 && !(fabs(quadratic - linear) <= 0.01)) return "quadratic";
    if (answer) return answer;
    return found.best ? found.best : no_fit(checking);
}
