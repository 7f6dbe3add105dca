#include "analysis/regress/fit.h"

#include <math.h>

/* r_square that differ by less are the same: what is left is rounding. */
#define TIE 1e-12
/* Above this the three sums of a parabola are taken again with more digits. */
#define ILL_CONDITIONED 1e6

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Two numbers at a time: what every machine has. */
typedef double pair __attribute__((vector_size(16)));
typedef int64_t mask __attribute__((vector_size(16)));

static inline pair load(const double *numbers, size_t i, size_t n, double filler) {
    pair out = {numbers[i], filler};
    if (i + 1 < n) memcpy(&out, numbers + i, sizeof out);
    return out;
}
static inline double total(pair sums) { return sums[0] + sums[1]; }
static inline pair smaller(pair a, pair b) {
    mask where = a < b;
    return (pair)(((mask)a & where) | ((mask)b & ~where));
}

/* Everything that the fits are made of. Sums are around the means and of scaled numbers: powers of two that keep the
 * largest x and y near 1, so that nothing overflows. The mean of x is at + off / scale. */
typedef struct column {
    double at, scale;
    double low, high;
    long double off, mean; /* of scaled numbers around `at`; of the numbers themselves */
} column;
typedef struct summary {
    size_t n;
    bool is_decimal; /* the logarithms are to base 10 */
    column x, y, log_x, log_y;
    long double xx, xy, yy, xxx, x_log_y, log_xx, log_x_y, log_x_log_y, log_yy;
} summary;

static double mean_of(double sum, size_t n, const column *c) {
    double mean = sum / (double)n;
    return isfinite(mean) ? mean : c->low / 2 + c->high / 2;
}

/* 2^-k for numbers up to about 2^k around the mean. */
static double scale_of(const column *c) {
    double most = fmax(c->high - c->at, c->at - c->low);
    if (!(most > 0) || !isfinite(most)) return 1;
    int exponent = ilogb(most);
    return ldexp(1, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
}

static void find_means(const as_fit_points *p, summary *s) {
    pair x = {0}, y = {0}, f = {0}, g = {0}, low_x, low_y, high_x, high_y; /* high: of the negated numbers */
    low_x = (pair){p->x[0], p->x[0]};
    low_y = (pair){p->y[0], p->y[0]};
    high_x = -low_x;
    high_y = -low_y;
    for (size_t i = 0; i < p->n; i += 2) {
        pair a = load(p->x, i, p->n, p->x[0]), b = load(p->y, i, p->n, p->y[0]);
        x += a;
        y += b;
        f += load(p->log_x, i, p->n, 0);
        g += load(p->log_y, i, p->n, 0);
        low_x = smaller(low_x, a);
        high_x = smaller(high_x, -a);
        low_y = smaller(low_y, b);
        high_y = smaller(high_y, -b);
    }
    bool is_odd = p->n % 2;
    *s = (summary){.n = p->n,
                   .x = {.low = fmin(low_x[0], low_x[1]), .high = -fmin(high_x[0], high_x[1])},
                   .y = {.low = fmin(low_y[0], low_y[1]), .high = -fmin(high_y[0], high_y[1])}};
    s->x.at = mean_of(total(x) - (is_odd ? p->x[0] : 0), p->n, &s->x);
    s->y.at = mean_of(total(y) - (is_odd ? p->y[0] : 0), p->n, &s->y);
    s->log_x.at = total(f) / (double)p->n;
    s->log_y.at = total(g) / (double)p->n;
    s->x.scale = scale_of(&s->x);
    s->y.scale = scale_of(&s->y);
    s->log_x.scale = s->log_y.scale = 1;
}

/* What is left of the means, which were rounded. */
static void correct_means(summary *s) {
    long double n = (long double)s->n;
    column *all[] = {&s->x, &s->y, &s->log_x, &s->log_y};
    for (size_t i = 0; i < 4; i++) {
        all[i]->off /= n;
        all[i]->mean = (long double)all[i]->at + all[i]->off / (long double)all[i]->scale;
    }
    long double x = s->x.off, y = s->y.off, f = s->log_x.off, g = s->log_y.off;
    s->xxx += 2 * n * x * x * x - 3 * x * s->xx;
    s->xx -= n * x * x;
    s->xy -= n * x * y;
    s->yy -= n * y * y;
    s->x_log_y -= n * x * g;
    s->log_xx -= n * f * f;
    s->log_x_y -= n * f * y;
    s->log_x_log_y -= n * f * g;
    s->log_yy -= n * g * g;
}

static void summarise(const as_fit_points *p, summary *s) {
    find_means(p, s);
    pair d = {0}, e = {0}, f = {0}, g = {0}, dd = {0}, de = {0}, ee = {0}, ddd = {0};
    pair dg = {0}, ff = {0}, fe = {0}, fg = {0}, gg = {0};
    const double x = s->x.at, y = s->y.at, log_x = s->log_x.at, log_y = s->log_y.at;
    for (size_t i = 0; i < p->n; i += 2) {
        pair a = (load(p->x, i, p->n, x) - x) * s->x.scale, b = (load(p->y, i, p->n, y) - y) * s->y.scale;
        pair u = load(p->log_x, i, p->n, log_x) - log_x, v = load(p->log_y, i, p->n, log_y) - log_y;
        pair square = a * a;
        d += a;
        e += b;
        f += u;
        g += v;
        dd += square;
        ddd += square * a;
        de += a * b;
        ee += b * b;
        dg += a * v;
        ff += u * u;
        fe += u * b;
        fg += u * v;
        gg += v * v;
    }
    s->x.off = total(d);
    s->y.off = total(e);
    s->log_x.off = total(f);
    s->log_y.off = total(g);
    s->xx = total(dd);
    s->xxx = total(ddd);
    s->xy = total(de);
    s->yy = total(ee);
    s->x_log_y = total(dg);
    s->log_xx = total(ff);
    s->log_x_y = total(fe);
    s->log_x_log_y = total(fg);
    s->log_yy = total(gg);
    correct_means(s);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static const char few_points[] = "fewer than 3 usable points";
static const char few_positive_x[] = "fewer than 3 points with x above 0";
static const char few_positive_y[] = "fewer than 3 points with y above 0";
static const char few_positive[] = "fewer than 3 points with x and y above 0";
static const char one_x[] = "all points have the same x";
static const char two_x[] = "fewer than 3 different x";
static const char beyond_double[] = "coefficients are beyond what a double holds";

/* The line v = b0 + b1 u in scaled sums. */
typedef struct line {
    const column *u, *v;
    long double uu, uv, vv;
} line;

static double within_one(long double r_square) {
    return isnan(r_square) || r_square < 0 ? 0 : r_square > 1 ? 1 : (double)r_square;
}

/* b0 and b1 of the transformed numbers, and r_square. is_flat: all v are the same. */
static void fit_line(const line *l, bool is_flat, long double b[2], as_curve_fit *out) {
    b[1] = is_flat ? 0 : l->uv / l->uu * (long double)l->u->scale / (long double)l->v->scale;
    b[0] = l->v->mean - b[1] * l->u->mean;
    out->r_square = is_flat || l->vv <= 0 ? 0 : within_one(l->uv / l->uu * (l->uv / l->vv));
}

static void set_coefficients(as_curve_fit *out, long double b0, long double b1, long double b2) {
    out->coefficients[0] = (double)b0;
    out->coefficients[1] = (double)b1;
    out->coefficients[2] = (double)b2;
    for (int i = 0; i < 3; i++) {
        if (!isfinite(out->coefficients[i])) out->reason = beyond_double;
    }
}

static long double power_of(const summary *s, long double exponent) {
    return s->is_decimal ? powl(10, exponent) : expl(exponent);
}

static void fit_curve(const summary *s, as_curve_fit *out) {
    bool is_flat = s->y.low == s->y.high;
    long double b[2];
    switch (out->model) {
    case AS_CURVE_LINEAR:
        fit_line(&(line){&s->x, &s->y, s->xx, s->xy, s->yy}, is_flat, b, out);
        out->mean_y = is_flat ? s->y.low : (double)s->y.mean;
        set_coefficients(out, is_flat ? (long double)s->y.low : b[0], b[1], 0);
        return;
    case AS_CURVE_LOGARITHMIC:
        fit_line(&(line){&s->log_x, &s->y, s->log_xx, s->log_x_y, s->yy}, is_flat, b, out);
        set_coefficients(out, is_flat ? (long double)s->y.low : b[0], b[1], 0);
        return;
    case AS_CURVE_POWER:
        fit_line(&(line){&s->log_x, &s->log_y, s->log_xx, s->log_x_log_y, s->log_yy}, is_flat, b, out);
        set_coefficients(out, is_flat ? (long double)s->y.low : power_of(s, b[0]), b[1], 0);
        return;
    default:
        fit_line(&(line){&s->x, &s->log_y, s->xx, s->x_log_y, s->log_yy}, is_flat, b, out);
        set_coefficients(out, is_flat ? (long double)s->y.low : power_of(s, b[0]), power_of(s, b[1]), 0);
        return;
    }
}

/* ---- parabolas --------------------------------------------------------------------------------------------------- */

/* What a parabola adds to a line: q = u^2 - a u - b, which is orthogonal to it. */
typedef struct bend {
    long double a, b, slope; /* slope: of the line, in scaled numbers */
    long double qq, qr, rr;  /* r: what the line leaves over */
    long double u4;
} bend;

/* The same q of numbers around `at`, which is the mean only up to rounding. */
static void shift_bend(bend *b, long double off) {
    b->b -= off * off + b->a * off;
    b->a += 2 * off;
}

static void sum_bend(const as_fit_points *p, const summary *s, bend *out) {
    const double x = s->x.at, y = s->y.at, a = (double)out->a, b = (double)out->b, slope = (double)out->slope;
    const double off = (double)s->x.off, level = (double)s->y.off;
    pair qq = {0}, qr = {0}, rr = {0}, u4 = {0};
    for (size_t i = 0; i + 1 < p->n; i += 2) {
        pair u = (load(p->x, i, p->n, x) - x) * s->x.scale - off, v = (load(p->y, i, p->n, y) - y) * s->y.scale - level;
        pair square = u * u, q = square - a * u - b, r = v - slope * u;
        qq += q * q;
        qr += q * r;
        rr += r * r;
        u4 += square * square;
    }
    for (size_t i = p->n & ~(size_t)1; i < p->n; i++) {
        double u = (p->x[i] - x) * s->x.scale - off, r = (p->y[i] - y) * s->y.scale - level - slope * u;
        double q = u * u - a * u - b;
        qq[0] += q * q;
        qr[0] += q * r;
        rr[0] += r * r;
        u4[0] += u * u * u * u;
    }
    out->qq = total(qq);
    out->qr = total(qr);
    out->rr = total(rr);
    out->u4 = total(u4);
}

/* The same with the digits of long double from the start: a few x far from all others leave little of a double. */
static void sum_bend_again(const as_fit_points *p, summary *s, bend *out) {
    long double n = (long double)p->n, x = 0, y = 0, uu = 0, uv = 0, u3 = 0;
    for (size_t i = 0; i < p->n; i++) {
        x += ((long double)p->x[i] - (long double)s->x.at) * (long double)s->x.scale;
        y += ((long double)p->y[i] - (long double)s->y.at) * (long double)s->y.scale;
    }
    s->x.off = x /= n;
    s->y.off = y /= n;
    for (size_t i = 0; i < p->n; i++) {
        long double u = ((long double)p->x[i] - (long double)s->x.at) * (long double)s->x.scale - x;
        long double v = ((long double)p->y[i] - (long double)s->y.at) * (long double)s->y.scale - y;
        uu += u * u;
        uv += u * v;
        u3 += u * u * u;
    }
    long double a = u3 / uu, b = uu / n;
    *out = (bend){.a = a, .b = b, .slope = uv / uu, .u4 = out->u4};
    for (size_t i = 0; i < p->n; i++) {
        long double u = ((long double)p->x[i] - (long double)s->x.at) * (long double)s->x.scale - x;
        long double v = ((long double)p->y[i] - (long double)s->y.at) * (long double)s->y.scale - y;
        long double q = u * u - a * u - b, r = v - out->slope * u;
        out->qq += q * q;
        out->qr += q * r;
        out->rr += r * r;
    }
}

static void fit_parabola(const as_fit_points *p, summary *s, bool is_compatible, as_curve_fit *out) {
    if (s->y.low == s->y.high) { /* nothing to explain; Perun says it explains all of it */
        out->r_square = is_compatible ? 1 : 0;
        set_coefficients(out, (long double)s->y.low, 0, 0);
        return;
    }
    bend sums = {.a = s->xxx / s->xx, .b = s->xx / (long double)s->n, .slope = s->xy / s->xx};
    sum_bend(p, s, &sums);
    if (!(sums.u4 < (long double)ILL_CONDITIONED * sums.qq)) sum_bend_again(p, s, &sums);
    if (!(sums.qq > 0)) {
        out->reason = two_x;
        return;
    }
    shift_bend(&sums, s->x.off);
    long double b2 = sums.qr / sums.qq, b1 = sums.slope - b2 * sums.a;
    long double b0 = s->y.off - sums.slope * s->x.off - b2 * sums.b;
    long double left = sums.rr - sums.qr * b2; /* what the parabola leaves over */
    long double m = (long double)s->x.at, kx = (long double)s->x.scale, ky = (long double)s->y.scale;
    out->r_square = within_one(1 - left / s->yy);
    set_coefficients(out, (long double)s->y.at + (b0 - b1 * kx * m + b2 * kx * m * (kx * m)) / ky,
                     (b1 * kx - 2 * b2 * kx * (kx * m)) / ky, b2 * kx * kx / ky);
}

static bool has_three_x(const as_fit_points *p, const summary *s) {
    for (size_t i = 0; i < p->n; i++) {
        if (p->x[i] != s->x.low && p->x[i] != s->x.high) return true;
    }
    return false;
}

/* ---- all models -------------------------------------------------------------------------------------------------- */

/* Perun's slope of a line as an angle, against which the constant model is judged. */
static void fit_constant(const as_curve_fit *linear, bool is_compatible, as_curve_fit *out) {
    const double *b = linear->coefficients;
    double rise = fabs((b[0] + b[1] * linear->x_end) - b[0]), angle = atan2(rise, linear->x_end - linear->x_start);
    double change = (is_compatible ? angle : angle * 180 / acos(-1)) / 90;
    *out = *linear;
    out->model = AS_CURVE_CONSTANT;
    out->r_square = within_one(change > 0.01 ? linear->r_square * (1 - change) : 1 - linear->r_square);
    out->coefficients[0] = linear->mean_y;
    out->coefficients[1] = 0;
}

/* The points that have the logarithms this model needs, in the scratch; what it does not need is filled with something
 * finite. */
static as_fit_points usable_points(const as_fit_points *p, as_curve_model model, bool is_decimal) {
    bool with_x = AS_NEEDS_LOG_X & AS_BIT(model), with_y = AS_NEEDS_LOG_Y & AS_BIT(model);
    double *x = p->scratch, *y = x + p->n, *log_x = y + p->n, *log_y = log_x + p->n;
    as_fit_points out = {.x = x, .y = y, .log_x = log_x, .log_y = log_y};
    for (size_t i = 0; i < p->n; i++) {
        if ((with_x && isnan(p->log_x[i])) || (with_y && isnan(p->log_y[i]))) continue;
        x[out.n] = p->x[i];
        y[out.n] = p->y[i];
        log_x[out.n] = !with_x ? 0 : is_decimal ? log10(p->x[i]) : p->log_x[i];
        log_y[out.n] = !with_y ? 0 : is_decimal ? log10(p->y[i]) : p->log_y[i];
        out.n++;
    }
    return out;
}

/* Of numbers so near each other that the rounding of their logarithms shows, power and exponential take those to base
 * 10, as Perun does. */
static bool needs_decimal(const summary *s, as_curve_model model) {
    const column *columns[] = {model == AS_CURVE_POWER ? &s->x : &s->y, &s->y};
    if (model != AS_CURVE_POWER && model != AS_CURVE_EXPONENTIAL) return false;
    for (size_t i = 0; i < 2; i++) {
        if (columns[i]->high > 0 && columns[i]->high - columns[i]->low < 1e-6 * columns[i]->high) return true;
    }
    return false;
}

static const char *why_not(const summary *s, const as_curve_fit *fit, bool is_compatible) {
    if (s->n < (is_compatible ? 2u : 3u))
        return fit->model == AS_CURVE_LOGARITHMIC   ? few_positive_x
               : fit->model == AS_CURVE_EXPONENTIAL ? few_positive_y
               : fit->model == AS_CURVE_POWER       ? few_positive
                                                    : few_points;
    if (s->x.low == s->x.high) return one_x;
    bool is_log = AS_NEEDS_LOG_X & AS_BIT(fit->model);
    if (is_log && (log(s->x.low) == log(s->x.high) || !(s->log_xx > 0))) return one_x;
    return s->xx > 0 ? NULL : one_x;
}

static void fit_model(const as_fit_points *p, summary *s, bool is_compatible, as_curve_fit *out) {
    out->reason = why_not(s, out, is_compatible);
    if (!out->reason && out->model == AS_CURVE_QUADRATIC && !has_three_x(p, s)) out->reason = two_x;
    if (out->reason) return;
    out->x_start = s->x.low;
    out->x_end = s->x.high;
    if (out->model == AS_CURVE_QUADRATIC)
        fit_parabola(p, s, is_compatible, out);
    else
        fit_curve(s, out);
}

static as_fit_points summarise_part(const as_fit_points *p, as_curve_model model, bool is_decimal, summary *out) {
    as_fit_points usable = usable_points(p, model, is_decimal);
    *out = (summary){0};
    if (usable.n) summarise(&usable, out);
    out->is_decimal = is_decimal;
    return usable;
}

void as_fit_curves(const as_fit_points *points, unsigned models, bool is_compatible,
                   as_curve_fit out[AS_CURVE_CONSTANT + 1]) {
    as_fit_points all = *points;
    if (!all.log_x) all.log_x = all.x; /* not needed, but summed with the rest */
    if (!all.log_y) all.log_y = all.y;
    summary whole, part = {0};
    summarise(&all, &whole);
    for (as_curve_model model = 0; model < AS_CURVE_CONSTANT; model++) {
        if (!(models & AS_BIT(model))) continue;
        as_curve_fit *fit = &out[model];
        *fit = (as_curve_fit){.model = model};
        bool lacks = (AS_NEEDS_LOG_X & AS_BIT(model) && isnan(whole.log_x.at)) ||
                     (AS_NEEDS_LOG_Y & AS_BIT(model) && isnan(whole.log_y.at));
        bool is_decimal = needs_decimal(&whole, model), is_part = lacks || is_decimal;
        as_fit_points usable = is_part ? summarise_part(&all, model, is_decimal, &part) : all;
        if (is_part && !is_decimal && needs_decimal(&part, model)) usable = summarise_part(&all, model, true, &part);
        fit_model(&usable, is_part ? &part : &whole, is_compatible, fit);
        if (fit->reason || !is_compatible) continue;
        fit->x_start = fmin(fit->x_start, points->x[0]); /* Perun begins with it even where it is left out */
        fit->x_end = fmax(fit->x_end, points->x[0]);
    }
    if (models & AS_BIT(AS_CURVE_CONSTANT)) fit_constant(&out[AS_CURVE_LINEAR], is_compatible, &out[AS_CURVE_CONSTANT]);
}

const as_curve_fit *as_best_fit(const as_curve_fit fits[AS_CURVE_CONSTANT + 1], unsigned models) {
    double most = -1;
    for (as_curve_model model = 0; model < AS_CURVE_CONSTANT; model++) {
        if (models & AS_BIT(model) && !fits[model].reason) most = fmax(most, fits[model].r_square);
    }
    for (as_curve_model model = 0; most >= 0 && model < AS_CURVE_CONSTANT; model++) {
        if (models & AS_BIT(model) && !fits[model].reason && fits[model].r_square >= most - TIE) return &fits[model];
    }
    return NULL;
}
