/* Perun's regression, addition by addition. The difference of two models often is a line itself, to the last digit:
 * then several models fit, and nothing but the rounding of sums decides which of them Perun calls the best. So Perun's
 * words can be had from Perun's sums only. */
#include "analysis/checks/checks_private.h"

/* Python's power is libm's; a compiler would make x * x of it, which may differ in the last bit. */
static double raise_to(double base, volatile double exponent, bool *is_out) {
    double power = pow(base, exponent);
    *is_out |= isinf(power) && isfinite(base); /* an exception in Python */
    return power;
}

static double square(double value, bool *is_out) { return raise_to(value, 2, is_out); }

/* A model that is a line between a function of x and a function of y. */
typedef struct transformed {
    double (*of_x)(double), (*of_y)(double); /* NULL: as it is; of others only what is above 0 counts */
    bool is_power_of_ten[2];                 /* b0 and b1 are logarithms */
} transformed;

typedef struct sums {
    double x, y, xx, yy, xy, n;
    double low, high;
} sums;

static sums add_up(const transformed *model, const double *x, const double *y, size_t n, bool *is_out) {
    sums s = {.low = x[0], .high = x[0]};
    for (size_t i = 0; i < n; i++) {
        if ((model->of_x && x[i] <= 0) || (model->of_y && y[i] <= 0)) continue;
        double u = model->of_x ? model->of_x(x[i]) : x[i], v = model->of_y ? model->of_y(y[i]) : y[i];
        s.x += u;
        s.y += v;
        s.xx += square(u, is_out);
        s.yy += square(v, is_out);
        s.xy += u * v;
        s.n++;
        if (x[i] < s.low) s.low = x[i];
        if (x[i] > s.high) s.high = x[i];
    }
    return s;
}

/* r_square; *is_out: Perun ends with an exception. line (may be NULL): sums and coefficients. */
static double fit_transformed(const transformed *model, const sums *s, double coefficients[2], bool *is_out) {
    double root = sqrt(s->n);
    double xy = s->xy - as_check_divide(s->x, root) * as_check_divide(s->y, root);
    double xx = s->xx - square(as_check_divide(s->x, root), is_out);
    coefficients[1] = as_check_divide(xy, xx);
    coefficients[0] = as_check_divide(s->y - coefficients[1] * s->x, s->n);
    for (int i = 0; i < 2; i++) {
        if (model->is_power_of_ten[i]) coefficients[i] = pow(10, coefficients[i]);
        *is_out |= model->is_power_of_ten[i] && isinf(coefficients[i]);
    }
    double total = s->yy - square(as_check_divide(s->y, root), is_out);
    *is_out |= xx < 0;
    return as_check_divide(square(as_check_divide(xy, sqrt(xx)), is_out), total);
}

static double fit_quadratic(const double *x, const double *y, size_t n, bool *is_out) {
    double sx = 0, sy = 0, sxx = 0, sx3 = 0, sx4 = 0, sxy = 0, sxxy = 0, syy = 0, count = (double)n;
    for (size_t i = 0; i < n; i++) {
        sx += x[i];
        sy += y[i];
        syy += square(y[i], is_out);
        sxx += square(x[i], is_out);
        sx3 += raise_to(x[i], 3, is_out);
        sx4 += raise_to(x[i], 4, is_out);
        sxy += x[i] * y[i];
        sxxy += square(x[i], is_out) * y[i];
    }
    double xx = sxx - square(sx, is_out) / count, xy = sxy - sx * sy / count, xx2 = sx3 - sxx * sx / count;
    double x2y = sxxy - sxx * sy / count, x2x2 = sx4 - square(sxx, is_out) / count;
    double determinant = xx * x2x2 - square(xx2, is_out);
    *is_out |= determinant == 0;
    double b2 = (x2y * xx - xy * xx2) / determinant, b1 = (xy * x2x2 - x2y * xx2) / determinant;
    double b0 = (sy - b1 * sx - b2 * sxx) / count;
    double total = syy - square(sy, is_out) / count, rest = syy - b0 * sy - b1 * sxy - b2 * sxxy;
    return 1 - as_check_divide(rest, total);
}

/* Derived from the line: radians by 90. */
static double fit_constant(const sums *s, const double line[2], double r_square) {
    double end = line[0] + line[1] * s->high;
    double change = atan2(fabs(end - line[0]), fabs(s->high - s->low)) / 90;
    double r = change > 0.01 ? r_square * (1 - change) : 1 - r_square;
    return r > 1 ? 1 : r < 0 ? 0 : r;
}

bool as_perun_r_squares(const double *x, const double *y, size_t n, double out[AS_CURVE_CONSTANT + 1]) {
    static const transformed models[] = {
        [AS_CURVE_EXPONENTIAL] = {NULL, log10, {true, true}},
        [AS_CURVE_LINEAR] = {NULL, NULL, {false, false}},
        [AS_CURVE_LOGARITHMIC] = {log, NULL, {false, false}},
        [AS_CURVE_POWER] = {log10, log10, {true, false}},
    };
    bool is_out = n < 3;
    for (int i = AS_CURVE_EXPONENTIAL; !is_out && i <= AS_CURVE_POWER; i++) {
        double coefficients[2];
        sums s = add_up(&models[i], x, y, n, &is_out);
        out[i] = fit_transformed(&models[i], &s, coefficients, &is_out);
        if (i == AS_CURVE_LINEAR) out[AS_CURVE_CONSTANT] = fit_constant(&s, coefficients, out[i]);
    }
    if (!is_out) out[AS_CURVE_QUADRATIC] = fit_quadratic(x, y, n, &is_out);
    return !is_out;
}
