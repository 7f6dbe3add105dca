/* Curves as points. */
#include <string.h>

#include "analysis/checks/checks_private.h"

void as_linspace(double low, double high, size_t n, double *x) {
    double step = n > 1 ? (high - low) / (double)(n - 1) : 0;
    for (size_t i = 0; i < n; i++) x[i] = low + (double)i * step;
    if (n > 1) x[n - 1] = high;
}

void as_curve_sample(const as_curve *curve, double low, double high, as_curve_samples *out) {
    as_linspace(low, high, AS_CHECK_SAMPLES, out->x);
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) out->y[i] = as_curve_value(curve, out->x[i]);
}

/* What Perun's formula gives at x; NAN or infinite like numpy. *is_undefined: where Python raises an exception
 * instead. */
static double value_as_perun(const as_curve *curve, double x, bool *is_undefined) {
    const double *b = curve->coefficients;
    switch (curve->model) {
    case AS_CURVE_CONSTANT:
    case AS_CURVE_LINEAR: return b[0] + b[1] * x;
    case AS_CURVE_QUADRATIC: return b[0] + b[1] * x + (curve->n_coefficients == 3 ? b[2] : 0) * (x * x);
    case AS_CURVE_EXPONENTIAL: return b[0] * pow(b[1], x);
    case AS_CURVE_LOGARITHMIC: *is_undefined |= x <= 0; return b[0] + b[1] * log(x);
    case AS_CURVE_POWER: *is_undefined |= x <= 0; return b[0] * pow(log10(x), b[1]);
    default: *is_undefined = true; return NAN;
    }
}

bool as_curve_sample_as_perun(as_checking *checking, const as_curve *curve, as_curve_samples *out) {
    bool is_undefined = false;
    as_linspace(curve->x_start, curve->x_end, AS_CHECK_SAMPLES, out->x);
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) {
        if (fabs(out->x[i]) < 1e-6) out->x[i] = 1e-6;
        out->y[i] = value_as_perun(curve, out->x[i], &is_undefined);
    }
    return !is_undefined || as_check_fails(checking, "a model is not defined on its own range");
}

/* ---- models that are values -------------------------------------------------------------------------------------- */

static double bucket_value(const as_curve *curve, double x) {
    double n = (double)curve->n_buckets, range = curve->x_end - curve->x_start;
    double place = range > 0 ? floor((x - curve->x_start) / range * n) : floor(n / 2);
    if (!(x >= curve->x_start && x <= curve->x_end)) return NAN;
    return curve->bucket_stats[(size_t)fmin(place, n - 1)];
}

static double interpolated_value(const as_curve *curve, double x) {
    double range = curve->x_end - curve->x_start;
    if (!(x >= curve->x_start && x <= curve->x_end)) return NAN;
    if (curve->n_buckets == 1 || !(range > 0)) return curve->bucket_stats[0];
    double place = (x - curve->x_start) / range * (double)(curve->n_buckets - 1);
    size_t i = (size_t)fmin(place, (double)(curve->n_buckets - 2));
    double part = place - (double)i;
    const double *y = &curve->bucket_stats[i];
    return part == 0 ? y[0] : part == 1 ? y[1] : y[0] + (y[1] - y[0]) * part;
}

double as_curve_value(const as_curve *curve, double x) {
    if (as_curve_is_parametric(curve->model)) return as_curve_has_formula(curve) ? as_curve_at(curve, x) : NAN;
    if (!curve->n_buckets || curve->model == AS_CURVE_OTHER) return NAN;
    return curve->model == AS_CURVE_REGRESSOGRAM ? bucket_value(curve, x) : interpolated_value(curve, x);
}

bool as_curve_defined_range(const as_curve *curve, double *low, double *high) {
    if (as_curve_is_parametric(curve->model) || curve->model == AS_CURVE_REGRESSOGRAM || curve->n_buckets < 2)
        return true;
    size_t first = 0, last = curve->n_buckets - 1;
    while (first <= last && isnan(curve->bucket_stats[first])) first++;
    while (last > first && isnan(curve->bucket_stats[last])) last--;
    if (first > last) return false;
    double step = (curve->x_end - curve->x_start) / (double)(curve->n_buckets - 1);
    *low = fmax(*low, curve->x_start + (double)first * step);
    if (last + 1 < curve->n_buckets) *high = fmin(*high, curve->x_start + (double)last * step);
    return *low <= *high;
}

/* ---- what Perun compares ----------------------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* The points that the target's regressograms are made of; kept for the next one. */
static bool load_points(as_checking *checking, const char *of, const char *per) {
    if (!of || !per) return as_check_fails(checking, "a regressogram does not say what it is of");
    if (is_same(of, checking->points_of) && is_same(per, checking->points_per)) return true;
    if (checking->points_of) as_points_free(&checking->points);
    checking->points_of = NULL;
    as_points_request request = {.of = of, .per = per};
    if (as_points_find(checking->sides[AS_SIDE_TARGET], &request, &checking->points, NULL) != ASSAY_OK) {
        as_points_free(&checking->points);
        return false;
    }
    checking->points_of = of;
    checking->points_per = per;
    return true;
}

/* The target's regressogram of this uid again, with as many buckets as the base's; into curves. */
static bool recompute_regressogram(as_checking *checking, const char *uid, size_t n, as_curves *curves) {
    const as_curve *model = NULL; /* the first one of the uid, as in Perun */
    for (size_t i = 0; i < checking->curves[AS_SIDE_TARGET].curves.count && !model; i++) {
        const as_curve *curve = &AS_AT(as_curve, &checking->curves[AS_SIDE_TARGET].curves, i);
        if (curve->model == AS_CURVE_REGRESSOGRAM && is_same(curve->uid, uid)) model = curve;
    }
    if (!model || !load_points(checking, model->of_key, model->per_key)) return false;
    size_t i = 0;
    while (i < checking->points.n && strcmp(checking->points.points[i].uid, uid) != 0) i++;
    if (i == checking->points.n || n > UINT32_MAX)
        return as_check_fails(checking, "the target has no points to make a regressogram of again");
    as_points_set one = checking->points;
    one.points = &checking->points.points[i];
    one.n = 1;
    as_regressogram_options options = {
        .buckets = (uint32_t)n, .is_median = is_same(model->statistic_function, "median"), .is_compatible = true};
    if (as_regressogram(&one, &options, curves, NULL) != ASSAY_OK) return false;
    return curves->curves.count || as_check_fails(checking, "a regressogram cannot be made again");
}

/* Coordinates as Perun takes them: of a formula x and y change places. */
typedef struct coordinates {
    as_curve_samples samples;
    const double *x, *y; /* x NULL: to be made for n points of the curve's range */
    size_t n;
} coordinates;

static bool find_coordinates(as_checking *checking, const as_curve *curve, coordinates *out) {
    if (!as_curve_is_parametric(curve->model) && !curve->n_coefficients) {
        out->x = NULL;
        out->y = curve->bucket_stats;
        out->n = curve->n_buckets;
        return true;
    }
    if (!as_curve_sample_as_perun(checking, curve, &out->samples)) return false;
    out->x = out->samples.y;
    out->y = out->samples.x;
    out->n = AS_CHECK_SAMPLES;
    return true;
}

static bool collect_points(as_checking *checking, const as_curve *base, const as_curve *target, as_pair_points *out) {
    coordinates of_base, of_target;
    if (!find_coordinates(checking, base, &of_base) || !find_coordinates(checking, target, &of_target)) return false;
    size_t n = of_base.n < of_target.n ? of_base.n : of_target.n, room = of_base.n;
    out->n = n;
    if (n == 0) return as_check_fails(checking, "a model has no values");
    if (n > SIZE_MAX / 4 || !as_vec_reserve(&out->buffer, room + 2 * n)) return false;
    out->x = out->buffer.data;
    out->base = out->x + room;
    out->target = out->base + n;
    if (of_base.x)
        memcpy(out->x, of_base.x, room * sizeof(double));
    else
        as_linspace(base->x_start, base->x_end, room, out->x);
    memcpy(out->base, of_base.y, n * sizeof(double));
    memcpy(out->target, of_target.y, n * sizeof(double));
    return true;
}

bool as_pair_points_as_perun(as_checking *checking, const as_curve_pair *pair, as_pair_points *out) {
    as_budget *budget = as_ds_budget(checking->sides[AS_SIDE_TARGET]);
    *out = (as_pair_points){0};
    as_vec_init(&out->buffer, sizeof(double), budget);
    const as_curve *target = pair->target;
    as_curves again;
    as_curves_init(&again, budget);
    bool is_done = true;
    if (pair->base->model == AS_CURVE_REGRESSOGRAM && target->model == AS_CURVE_REGRESSOGRAM &&
        pair->base->n_buckets != target->n_buckets) {
        is_done = recompute_regressogram(checking, pair->base->uid, pair->base->n_buckets, &again);
        if (is_done) target = &AS_AT(as_curve, &again.curves, 0);
    }
    is_done = is_done && collect_points(checking, pair->base, target, out);
    as_curves_free(&again);
    return is_done;
}

/* ---- Simpson's rule ---------------------------------------------------------------------------------------------- */

/* Parabolas through points first … last, of which there is an odd number. */
static double parabolas(const double *y, const double *x, size_t first, size_t last) {
    double sum = 0;
    for (size_t i = first; i + 2 <= last; i += 2) {
        double h0 = x[i + 1] - x[i], h1 = x[i + 2] - x[i + 1], width = h0 + h1, product = h0 * h1;
        double ratio = h1 != 0 ? h0 / h1 : 0, inverse = ratio != 0 ? 1 / ratio : 0;
        double middle = product != 0 ? width / product : 0;
        sum += width / 6 * (y[i] * (2 - inverse) + y[i + 1] * (width * middle) + y[i + 2] * (2 - ratio));
    }
    return sum;
}

double as_simpson(const double *y, const double *x, size_t n) {
    if (n < 2) return 0;
    if (n % 2) return parabolas(y, x, 0, n - 1);
    double ends = 0.5 * (x[n - 1] - x[n - 2]) * (y[n - 1] + y[n - 2]) + 0.5 * (x[1] - x[0]) * (y[1] + y[0]);
    double inner = n > 2 ? parabolas(y, x, 0, n - 2) + parabolas(y, x, 1, n - 1) : 0;
    return ends / 2 + inner / 2;
}
