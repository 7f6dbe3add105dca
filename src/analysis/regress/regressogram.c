/* Regressogram: the mean or median of y in buckets of x of the same width. */
#include <stdlib.h>

#include "analysis/regress/nonparam.h"
#include "core/quantile.h"

/* More buckets than these are a mistake, or somebody's: of one uid, and of all together. */
enum { MOST_BUCKETS = 1 << 24, MOST_BUCKETS_OF_ALL = 1 << 26 };

/* ---- how many ---------------------------------------------------------------------------------------------------- */

static double doane_width(const double *x, size_t n, double range) {
    double mean = as_mean_of(x, n), deviation = as_deviation_of(x, n, 0), count = (double)n;
    if (n <= 2 || !(deviation > 0)) return 0;
    as_long_sum cubes = {0};
    for (size_t i = 0; i < n; i++) {
        double part = (x[i] - mean) / deviation;
        as_long_add(&cubes, part * part * part);
    }
    double skewness = fabs(as_long_value(cubes) / count);
    double spread = sqrt(6 * (count - 2) / ((count + 1) * (count + 3)));
    return range / (1 + log2(count) + log2(1 + skewness / spread));
}

/* The width of buckets that numpy's rule of this name finds best for ascending x; 0: none. */
static double bucket_width(const char *method, const double *x, size_t n) {
    double range = x[n - 1] - x[0], count = (double)n;
    double freedman = 2 * (as_quantile(x, n, 0.75) - as_quantile(x, n, 0.25)) / cbrt(count);
    double sturges = range / (log2(count) + 1);
    if (strcmp(method, "sqrt") == 0) return range / sqrt(count);
    if (strcmp(method, "sturges") == 0) return sturges;
    if (strcmp(method, "rice") == 0) return range / (2 * cbrt(count));
    if (strcmp(method, "scott") == 0) return cbrt(24 * sqrt(acos(-1)) / count) * as_deviation_of(x, n, 0);
    if (strcmp(method, "fd") == 0) return freedman;
    if (strcmp(method, "auto") == 0) return freedman != 0 ? fmin(freedman, sturges) : sturges;
    return doane_width(x, n, range);
}

/* As a real, for it may be any. Perun takes the width for the count. */
static double bucket_count(const as_regressogram_options *options, const as_sorted *points) {
    if (options->buckets > 0) return options->buckets;
    double width = bucket_width(options->method != NULL ? options->method : "doane", points->x, points->n);
    if (options->is_compatible) return trunc(fmax(1, width));
    return width > 0 ? fmax(1, ceil((points->x[points->n - 1] - points->x[0]) / width)) : 1;
}

/* ---- what is in them --------------------------------------------------------------------------------------------- */

/* Edges are where numpy has them; the last bucket has its right one. */
static size_t bucket_of(double x, double low, double range, size_t buckets) {
    if (range == 0) return buckets / 2;
    double count = (double)buckets;
    size_t bucket = (size_t)((x - low) / range * count);
    if (bucket >= buckets) bucket = buckets - 1;
    while (bucket + 1 < buckets && x >= low + range * ((double)(bucket + 1) / count)) bucket++;
    while (bucket > 0 && x < low + range * ((double)bucket / count)) bucket--;
    return bucket;
}

static double middle_of(double *values, size_t n) {
    qsort(values, n, sizeof *values, as_real_compare);
    return as_median(values, n);
}

/* The points lie in order of x, so those of a bucket stand together. fitted: of each point. */
static void fill_buckets(const as_sorted *points, bool is_median, double *stats, size_t buckets, double *fitted,
                         double *scratch) {
    double low = points->x[0], range = points->x[points->n - 1] - low;
    for (size_t i = 0; i < points->n;) {
        size_t bucket = bucket_of(points->x[i], low, range, buckets), end = i + 1;
        while (end < points->n &&
               (points->x[end] == points->x[end - 1] || bucket_of(points->x[end], low, range, buckets) == bucket))
            end++;
        if (is_median) {
            memcpy(scratch, points->y + i, (end - i) * sizeof *scratch);
            stats[bucket] = middle_of(scratch, end - i);
        } else {
            stats[bucket] = as_mean_of(points->y + i, end - i);
        }
        for (; i < end; i++) fitted[i] = stats[bucket];
    }
}

/* *left: buckets that there may still be. */
static assay_status one_regressogram(const as_points_set *set, const as_points *points,
                                     const as_regressogram_options *options, size_t *left, as_curves *curves,
                                     as_arena *scratch, assay_error *error) {
    as_sorted sorted;
    if (!as_sorted_make(points, scratch, &sorted)) return as_fail_memory(error, NULL);
    double range = sorted.x[sorted.n - 1] - sorted.x[0], count = isfinite(range) ? bucket_count(options, &sorted) : NAN;
    const char *reason = NULL;
    if (!isfinite(range))
        reason = "the range of x is beyond double";
    else if (!(count <= MOST_BUCKETS))
        reason = "more than 16777216 buckets";
    else if (count > (double)*left)
        reason = "more than 67108864 buckets of all uids together";
    if (reason != NULL)
        return as_nonparam_skip(curves, points->uid, AS_CURVE_REGRESSOGRAM, reason) ? ASSAY_OK
                                                                                    : as_fail_memory(error, NULL);
    size_t buckets = (size_t)count;
    double *stats = as_arena_array(&curves->arena, buckets, sizeof *stats);
    double *fitted = as_arena_array(scratch, sorted.n, sizeof *fitted);
    double *copies = as_arena_array(scratch, sorted.n, sizeof *copies);
    as_curve *curve = as_nonparam_add(curves, set, points, AS_CURVE_REGRESSOGRAM);
    if (stats == NULL || fitted == NULL || copies == NULL || curve == NULL) return as_fail_memory(error, NULL);
    *left -= buckets;
    fill_buckets(&sorted, options->is_median, stats, buckets, fitted, copies);
    curve->bucket_stats = stats;
    curve->n_buckets = buckets;
    curve->r_square = as_r_square(sorted.y, fitted, sorted.n);
    curve->y_start = sorted.y[0];
    for (size_t i = 1; i < sorted.n; i++) curve->y_start = fmin(curve->y_start, sorted.y[i]);
    curve->of_key = as_arena_copy(&curves->arena, set->of, strlen(set->of));
    curve->buckets_method = options->buckets > 0 ? "user"
                            : options->method != NULL
                                ? as_arena_copy(&curves->arena, options->method, strlen(options->method))
                                : "doane";
    curve->statistic_function = options->is_median ? "median" : "mean";
    return curve->of_key != NULL && curve->buckets_method != NULL ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_regressogram(const as_points_set *set, const as_regressogram_options *options, as_curves *curves,
                             assay_error *error) {
    size_t left = MOST_BUCKETS_OF_ALL;
    for (size_t u = 0; u < set->n; u++) {
        const as_points *points = &set->points[u];
        if (points->n == 0) {
            if (!as_nonparam_skip(curves, points->uid, AS_CURVE_REGRESSOGRAM, "no usable points"))
                return as_fail_memory(error, NULL);
            continue;
        }
        as_arena scratch;
        as_arena_init(&scratch, curves->arena.budget);
        assay_status status = one_regressogram(set, points, options, &left, curves, &scratch, error);
        as_arena_free(&scratch);
        AS_TRY(status);
    }
    return ASSAY_OK;
}
