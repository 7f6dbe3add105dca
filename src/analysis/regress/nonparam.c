#include "analysis/regress/nonparam.h"

#include <stdlib.h>

typedef struct pair {
    double x, y;
} pair;

static int compare_pairs(const void *a, const void *b) {
    const pair *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return p->y < q->y ? -1 : p->y > q->y;
}

static bool is_ascending(const as_points *points) {
    for (size_t i = 1; i < points->n; i++)
        if (points->x[i] < points->x[i - 1] || (points->x[i] == points->x[i - 1] && points->y[i] < points->y[i - 1]))
            return false;
    return true;
}

bool as_sorted_make(const as_points *points, as_arena *arena, as_sorted *out) {
    size_t n = points->n;
    out->n = n;
    out->x = as_arena_array(arena, n, sizeof *out->x);
    out->y = as_arena_array(arena, n, sizeof *out->y);
    if (out->x == NULL || out->y == NULL) return false;
    if (is_ascending(points)) {
        if (n > 0) memcpy(out->x, points->x, n * sizeof *out->x);
        if (n > 0) memcpy(out->y, points->y, n * sizeof *out->y);
        return true;
    }
    pair *pairs = as_arena_array(arena, n, sizeof *pairs);
    if (pairs == NULL) return false;
    for (size_t i = 0; i < n; i++) pairs[i] = (pair){points->x[i], points->y[i]};
    qsort(pairs, n, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < n; i++) {
        out->x[i] = pairs[i].x;
        out->y[i] = pairs[i].y;
    }
    return true;
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

double as_mean_of(const double *values, size_t n) {
    as_long_sum sum = {0};
    for (size_t i = 0; i < n; i++) as_long_add(&sum, values[i]);
    double mean = as_long_value(sum) / (double)n;
    if (isfinite(mean)) return mean;
    sum = (as_long_sum){0}; /* the sum is beyond double, not so the mean */
    for (size_t i = 0; i < n; i++) as_long_add(&sum, values[i] / (double)n);
    return as_long_value(sum);
}

double as_deviation_of(const double *values, size_t n, double less) {
    double mean = as_mean_of(values, n), largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(values[i] - mean));
    if (largest == 0 || !isfinite(largest) || (double)n <= less) return largest;
    as_long_sum sum = {0};
    for (size_t i = 0; i < n; i++) {
        double part = (values[i] - mean) / largest;
        as_long_add(&sum, part * part);
    }
    return sqrt(as_long_value(sum) / ((double)n - less)) * largest;
}

double as_r_square(const double *y, const double *f, size_t n) {
    double mean = as_mean_of(y, n), largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fmax(fabs(y[i]), isnan(f[i]) ? 0 : fabs(f[i])));
    /* A power of two, so that squares stay within double and nothing is rounded. */
    int exponent = 0;
    if (isfinite(largest) && (largest > 1e150 || largest < 1e-150)) frexp(largest, &exponent);
    double scale = ldexp(1, -exponent / 2) * ldexp(1, -(exponent - exponent / 2));
    as_long_sum residual = {0}, total = {0};
    for (size_t i = 0; i < n; i++) {
        double off = (y[i] - (isnan(f[i]) ? 0 : f[i])) * scale, from_mean = (y[i] - mean) * scale;
        as_long_add(&residual, off * off);
        as_long_add(&total, from_mean * from_mean);
    }
    double left = as_long_value(residual), all = as_long_value(total);
    return all != 0 ? 1 - left / all : left == 0 ? 1 : 0;
}

/* ---- curves ------------------------------------------------------------------------------------------------------ */

static const char *copy_text(as_curves *curves, const char *text) {
    return as_arena_copy(&curves->arena, text, strlen(text));
}

as_curve *as_nonparam_add(as_curves *curves, const as_points_set *set, const as_points *points, as_curve_model model) {
    as_curve *curve = as_vec_push(&curves->curves);
    if (curve == NULL) return NULL;
    *curve = (as_curve){.uid = copy_text(curves, points->uid),
                        .model = model,
                        .r_square = NAN,
                        .x_start = points->x[0],
                        .x_end = points->x[0],
                        .snapshot = -1,
                        .y_start = NAN,
                        .bandwidth = NAN,
                        .window_width = -1,
                        .per_key = copy_text(curves, set->per)};
    if (curve->uid == NULL || curve->per_key == NULL) return NULL;
    for (size_t i = 1; i < points->n; i++) {
        curve->x_start = fmin(curve->x_start, points->x[i]);
        curve->x_end = fmax(curve->x_end, points->x[i]);
    }
    return curve;
}

bool as_nonparam_skip(as_curves *curves, const char *uid, as_curve_model model, const char *reason) {
    as_skipped_curve *skipped = as_vec_push(&curves->skipped);
    if (skipped == NULL) return false;
    *skipped = (as_skipped_curve){copy_text(curves, uid), as_curve_name(model), copy_text(curves, reason)};
    return skipped->uid != NULL && skipped->reason != NULL;
}
