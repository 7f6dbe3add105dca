/* Statistics of two models on parts of their range. */
#include <stdlib.h>
#include <string.h>

#include "analysis/checks/checks_private.h"
#include "core/quantile.h"

enum { N_STATISTICS = 8 };

/* Of the numbers among y; NAN where there is none. is_padded: values are missing at the end, where Perun pads with NaN,
 * which makes its integral one. */
static void find_statistics(const double *y, const double *x, size_t n, bool is_padded, double *sorted,
                            double out[N_STATISTICS]) {
    size_t count = 0;
    double sum = 0;
    for (int i = 0; i < N_STATISTICS; i++) out[i] = NAN;
    for (size_t i = 0; i < n; i++) {
        if (isnan(y[i])) continue;
        sorted[count++] = y[i];
        sum += y[i];
    }
    out[0] = is_padded ? NAN : as_simpson(y, x, n);
    out[5] = sum;
    if (!count) return;
    qsort(sorted, count, sizeof *sorted, as_real_compare);
    out[1] = sum / (double)count;
    out[2] = as_median(sorted, count);
    out[3] = sorted[count - 1];
    out[4] = sorted[0];
    out[6] = as_quantile(sorted, count, 0.25);
    out[7] = as_quantile(sorted, count, 0.75);
}

static double score_of(double relative) {
    if (fabs(relative) <= 0.10) return 0;
    return copysign(fabs(relative) <= 0.25 ? 0.5 : 1, relative);
}

/* One window's result and mean relative error. */
static void compare_window(const double base[N_STATISTICS], const double target[N_STATISTICS], bool is_compatible,
                           as_check_interval *out) {
    double score = 0, sum = 0;
    for (int i = 0; i < N_STATISTICS; i++) {
        double difference = target[i] - base[i], relative = 0;
        if (base[i] != 0) relative = as_finite_number(difference / (is_compatible ? base[i] : fabs(base[i])));
        score += score_of(relative);
        sum += relative;
    }
    out->result = as_check_classify(score, 0.2 * N_STATISTICS, 0.5 * N_STATISTICS);
    out->relative = sum / N_STATISTICS;
}

typedef struct windows {
    const double *x, *base, *target;
    size_t n;
    as_check_interval *intervals;
    size_t n_intervals;
} windows;

static double largest(const double *x, size_t n) {
    double most = x[0];
    for (size_t i = 1; i < n; i++) {
        if (x[i] > most || isnan(x[i])) most = x[i];
    }
    return most;
}

/* Windows of 5 % of the points, or one of all where that would be a single point. */
static bool compare_windows(as_checking *checking, windows *w) {
    size_t size = w->n / 20;
    if (size < 2) size = w->n;
    w->n_intervals = (w->n + size - 1) / size;
    w->intervals = as_arena_array(&checking->out->arena, w->n_intervals, sizeof *w->intervals);
    double *sorted = malloc(size * sizeof *sorted), end = largest(w->x, w->n);
    for (size_t i = 0; w->intervals && sorted && i < w->n_intervals; i++) {
        size_t first = i * size, n = w->n - first < size ? w->n - first : size;
        bool is_padded = n < size && checking->is_compatible;
        double base[N_STATISTICS], target[N_STATISTICS];
        find_statistics(w->base + first, w->x + first, n, is_padded, sorted, base);
        find_statistics(w->target + first, w->x + first, n, is_padded, sorted, target);
        as_check_interval *interval = &w->intervals[i];
        compare_window(base, target, checking->is_compatible, interval);
        interval->from = w->x[first];
        interval->to = is_padded ? end : w->x[first + n - 1];
        if (!checking->is_compatible) continue;
        interval->from = as_round_decimals(interval->from, 2);
        interval->to = as_round_decimals(interval->to, 2);
    }
    free(sorted);
    return w->intervals && sorted;
}

/* The change as a whole: the mean of the windows. */
static void conclude(as_checking *checking, const windows *w, as_check_change *change) {
    double sum = 0;
    for (size_t i = 0; i < w->n_intervals; i++) sum += w->intervals[i].relative;
    change->rate = sum / (double)w->n_intervals;
    change->result = as_check_classify(change->rate, 0.10, 0.25);
    change->intervals = w->intervals;
    change->n_intervals = w->n_intervals;
    if (!checking->is_compatible) return;
    change->rate = as_round_decimals(change->rate, 2);
    change->confidence = as_round_decimals(change->confidence, 2);
}

static bool compare_as_perun(as_checking *checking, const as_curve_pair *pair, as_check_change *change) {
    as_pair_points points;
    bool is_done = as_pair_points_as_perun(checking, pair, &points);
    windows w = {.x = points.x, .base = points.base, .target = points.target, .n = points.n};
    is_done = is_done && compare_windows(checking, &w);
    as_vec_free(&points.buffer);
    if (is_done) conclude(checking, &w, change);
    return is_done;
}

/* Both models at points of their common range; where one is not defined, neither counts. */
static bool sample_both(const as_curve_pair *pair, as_curve_samples *base, as_curve_samples *target) {
    double low, high;
    if (!as_common_range(pair->base, pair->target, &low, &high) || !as_curve_defined_range(pair->base, &low, &high) ||
        !as_curve_defined_range(pair->target, &low, &high))
        return false;
    as_curve_sample(pair->base, low, high, base);
    as_curve_sample(pair->target, low, high, target);
    bool is_any = false;
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) {
        bool is_defined = isfinite(base->y[i]) && isfinite(target->y[i]);
        if (!is_defined) base->y[i] = target->y[i] = NAN;
        is_any |= is_defined;
    }
    return is_any;
}

static bool compare(as_checking *checking, const as_curve_pair *pair, as_check_change *change) {
    as_curve_samples base, target;
    if (!sample_both(pair, &base, &target)) {
        change->result = AS_UNKNOWN;
        change->rate = NAN;
        return true;
    }
    windows w = {.x = base.x, .base = base.y, .target = target.y, .n = AS_CHECK_SAMPLES};
    if (!compare_windows(checking, &w)) return false;
    conclude(checking, &w, change);
    return true;
}

bool as_check_local(as_checking *checking, as_strategy strategy, const char *name) {
    return as_check_compare_pairs(checking, AS_CHECK_LOCAL, strategy, name,
                                  checking->is_compatible ? compare_as_perun : compare);
}
