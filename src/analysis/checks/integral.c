/* The areas below two models. */
#include "analysis/checks/checks_private.h"

/* Of b0 * x^k from low to high, 0 <= low; NAN where there is none. */
static double power_area(double b0, double exponent, double low, double high) {
    double k = exponent + 1;
    if (low < 0 || (low == 0 && k <= 0)) return NAN;
    if (low == 0) return b0 * pow(high, k) / k;
    double growth = log1p((high - low) / low); /* of the logarithm */
    return b0 * pow(low, k) * (k == 0 ? growth : expm1(k * growth) / k);
}

static double exponential_area(double b0, double b1, double low, double high) {
    if (b1 <= 0) return NAN;
    double rate = log(b1), width = high - low;
    return rate == 0 ? b0 * width : b0 * pow(b1, low) * expm1(rate * width) / rate;
}

static double logarithm_area(double b0, double b1, double low, double high) {
    if (low < 0) return NAN;
    double width = high - low, logs = high > 0 ? high * log(high) - width : 0;
    if (low > 0) logs = width * log(low) + high * log1p(width / low) - width;
    return b0 * width + b1 * logs;
}

static double polynomial_area(double b0, double b1, double b2, double low, double high) {
    return (high - low) * (b0 + b1 * (low + high) / 2 + b2 * (low * low + low * high + high * high) / 3);
}

/* The area below a formula; NAN where there is none. is_compatible: Perun integrates logarithms as b0 + b1 x. */
static double formula_area(const as_curve *curve, double low, double high, bool is_compatible) {
    const double *b = curve->coefficients;
    double b1 = curve->n_coefficients > 1 ? b[1] : 0, b2 = curve->n_coefficients > 2 ? b[2] : 0;
    switch (curve->model) {
    case AS_CURVE_CONSTANT:
    case AS_CURVE_LINEAR: return polynomial_area(b[0], b1, 0, low, high);
    case AS_CURVE_QUADRATIC:
        return curve->n_coefficients > 2 || is_compatible ? polynomial_area(b[0], b1, b2, low, high)
                                                          : polynomial_area(b[0], 0, b1, low, high);
    case AS_CURVE_LOGARITHMIC:
        return is_compatible ? polynomial_area(b[0], b1, 0, low, high) : logarithm_area(b[0], b1, low, high);
    case AS_CURVE_POWER: return power_area(b[0], b1, low, high);
    case AS_CURVE_EXPONENTIAL: return is_compatible && b1 == 0 ? 0 : exponential_area(b[0], b1, low, high);
    default: return NAN;
    }
}

/* Below a model of values: steps of a regressogram, lines between the values of the others. */
static double values_area(const as_curve *curve, double low, double high) {
    bool is_steps = curve->model == AS_CURVE_REGRESSOGRAM;
    size_t n = curve->n_buckets, cells = is_steps ? n : n - 1;
    double width = curve->x_end - curve->x_start, area = 0;
    if (n == 0 || curve->model == AS_CURVE_OTHER) return NAN;
    if (cells == 0) return curve->bucket_stats[0] * (high - low);
    for (size_t i = 0; i < cells; i++) {
        double left = curve->x_start + width * (double)i / (double)cells;
        double right = curve->x_start + width * (double)(i + 1) / (double)cells;
        double from = fmax(left, low), to = fmin(right, high);
        if (!(from < to)) continue;
        double y0 = curve->bucket_stats[i], y1 = is_steps ? y0 : curve->bucket_stats[i + 1];
        double slope = (y1 - y0) / (right - left);
        area += (to - from) * (y0 + slope * ((from + to) / 2 - left));
    }
    return area;
}

static double area(const as_curve *curve, double low, double high) {
    if (!as_curve_is_parametric(curve->model)) return values_area(curve, low, high);
    return as_curve_has_formula(curve) ? formula_area(curve, low, high, false) : NAN;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

/* Python's powers raise an exception where they are too large, or of a negative number. */
static bool is_out_of_python(const as_curve *curve) {
    if (curve->model == AS_CURVE_EXPONENTIAL)
        return curve->coefficients[1] < 0 || isinf(pow(curve->coefficients[1], curve->x_end)) ||
               (curve->coefficients[1] > 0 && isinf(pow(curve->coefficients[1], curve->x_start)));
    return curve->model == AS_CURVE_POWER && isinf(pow(curve->x_end, curve->coefficients[1]));
}

static bool area_as_perun(as_checking *checking, const as_curve *curve, const double *y, const as_pair_points *points,
                          double *out) {
    if (!as_curve_is_parametric(curve->model))
        *out = as_simpson(y, points->x, points->n);
    else if (is_out_of_python(curve))
        return as_check_fails(checking, "a model exceeds what a number can hold");
    else
        *out = formula_area(curve, curve->x_start, curve->x_end, true);
    return true;
}

static bool compare_as_perun(as_checking *checking, const as_curve_pair *pair, as_check_change *change) {
    as_pair_points points;
    double base = NAN, target = NAN;
    bool is_done = as_pair_points_as_perun(checking, pair, &points) &&
                   area_as_perun(checking, pair->base, points.base, &points, &base) &&
                   area_as_perun(checking, pair->target, points.target, &points, &target);
    as_vec_free(&points.buffer);
    if (!is_done) return false;
    double relative = as_check_divide(target - base, base);
    if (!isfinite(relative)) relative = 0;
    change->result = as_check_classify(relative, 0.10, 0.25);
    change->rate = as_round_decimals(relative, 2);
    change->confidence = as_round_decimals(change->confidence, 2);
    return true;
}

static bool compare(as_checking *checking, const as_curve_pair *pair, as_check_change *change) {
    (void)checking;
    double low, high, base = NAN, target = NAN;
    if (as_common_range(pair->base, pair->target, &low, &high) && as_curve_defined_range(pair->base, &low, &high) &&
        as_curve_defined_range(pair->target, &low, &high)) {
        bool is_point = low == high;
        base = is_point ? as_curve_value(pair->base, low) : area(pair->base, low, high);
        target = is_point ? as_curve_value(pair->target, low) : area(pair->target, low, high);
    }
    change->rate = isfinite(base) && isfinite(target) ? (target == base ? 0 : (target - base) / fabs(base)) : NAN;
    change->result = isnan(change->rate) ? AS_UNKNOWN : as_check_classify(change->rate, 0.10, 0.25);
    return true;
}

bool as_check_integral(as_checking *checking, as_strategy strategy, const char *name) {
    return as_check_compare_pairs(checking, AS_CHECK_INTEGRAL, strategy, name,
                                  checking->is_compatible ? compare_as_perun : compare);
}
