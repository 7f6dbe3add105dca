/* Bandwidths chosen by how well points are predicted. */
#include <stdlib.h>

#include "analysis/regress/kernel.h"
#include "core/parallel.h"

/* Groups that one piece of work has: fixed, so that sums do not depend on the number of threads. */
enum { PIECE = 256, MOST_PLACES = 96, PLACES_OF_MANY = 32, MANY = 500, REFINED = 3 };
/* Below this part of its terms a determinant is mostly rounding, and an error that it makes seem small is not to be
 * trusted. */
#define DEPENDENT 2e-11
/* Logarithms of bandwidths are found to this; those of many groups hardly matter beyond it. */
#define SAME_LOGARITHM         1e-5
#define SAME_LOGARITHM_OF_MANY 1e-3

/* ---- the error at one bandwidth ---------------------------------------------------------------------------------- */

typedef enum criterion { LEAVE_ONE_OUT, RESIDUALS } criterion;

typedef struct error_job {
    const as_field *field;
    criterion criterion;
    bool is_linear;
    double *errors, *traces; /* of each piece */
} error_job;

/* From the sums with or without a point at the target. NAN: not determined. */
static double predicted(const double *s, const double *t, bool is_linear) {
    if (!(s[0] > 0)) return NAN;
    if (!is_linear) return t[0] / s[0];
    double determinant = s[0] * s[2] - s[1] * s[1];
    if (!(determinant > DEPENDENT * (s[0] * s[2]))) return NAN;
    return (t[0] * s[2] - t[1] * s[1]) / determinant;
}

static void group_error(const error_job *job, size_t g, as_long_sum *error, as_long_sum *trace) {
    const as_groups *groups = job->field->groups;
    double s[3] = {0}, t[2] = {0}, own = as_kernel_weight(AS_NORMAL, 0);
    as_field_sums(job->field, g, s, t);
    double others = s[0], sum = t[0], value = 0;
    s[0] = others + own * groups->count[g];
    t[0] = sum + own * groups->sum[g];
    if (job->criterion == RESIDUALS) {
        as_long_add(trace, own * groups->count[g] / s[0]);
        value = predicted(s, t, job->is_linear);
        if (isnan(value)) value = t[0] / s[0];
    }
    for (size_t i = groups->start[g]; i < groups->start[g + 1]; i++) {
        if (job->criterion == LEAVE_ONE_OUT) {
            s[0] = others + own * (groups->count[g] - 1);
            t[0] = sum + own * (groups->sum[g] - groups->y[i]);
            value = predicted(s, t, job->is_linear);
        }
        as_long_add(error, (value - groups->y[i]) * (value - groups->y[i]));
    }
}

static void piece_error(void *user, size_t piece) {
    const error_job *job = user;
    size_t end = (piece + 1) * PIECE < job->field->groups->n ? (piece + 1) * PIECE : job->field->groups->n;
    as_long_sum error = {0}, trace = {0};
    for (size_t g = piece * PIECE; g < end; g++) group_error(job, g, &error, &trace);
    job->errors[piece] = as_long_value(error);
    job->traces[piece] = as_long_value(trace);
}

/* The mean squared error; *trace (may be NULL): of the matrix of weights. NAN: not defined. */
static double mean_error(const as_groups *groups, double bandwidth, bool is_linear, criterion by, unsigned threads,
                         as_budget *budget, double *trace, bool *is_out) {
    as_arena arena;
    as_field field;
    as_arena_init(&arena, budget);
    size_t n = (groups->n + PIECE - 1) / PIECE;
    error_job job = {&field, by, is_linear, as_arena_array(&arena, n, sizeof(double)),
                     as_arena_array(&arena, n, sizeof(double))};
    double result = NAN;
    *is_out = job.errors == NULL || job.traces == NULL ||
              !as_field_make(groups, AS_NORMAL, bandwidth, is_linear ? 3 : 1, threads, &arena, &field);
    if (!*is_out) {
        as_parallel(n, threads, piece_error, &job);
        as_long_sum error = {0}, all = {0};
        for (size_t i = 0; i < n; i++) {
            as_long_add(&error, job.errors[i]);
            as_long_add(&all, job.traces[i]);
        }
        result = as_long_value(error) / (double)groups->n_points;
        if (trace != NULL) *trace = as_long_value(all);
    }
    as_arena_free(&arena);
    return result;
}

double as_ridge_error(const as_groups *groups, double gamma, unsigned threads, as_budget *budget, bool *is_out) {
    return mean_error(groups, 1 / sqrt(2 * gamma), false, LEAVE_ONE_OUT, threads, budget, NULL, is_out);
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

/* INFINITY: no bandwidth to take. */
static double criterion_at(const as_bandwidth_search *search, double bandwidth, bool *is_out) {
    double trace, n = (double)search->groups->n_points;
    double error = mean_error(search->groups, bandwidth, search->is_linear, search->is_aic ? RESIDUALS : LEAVE_ONE_OUT,
                              search->threads, search->budget, &trace, is_out);
    if (isnan(error)) return INFINITY;
    if (!search->is_aic) return error;
    double left = 1 - (trace + 2) / n; /* 0 and below: as many parameters as points */
    return left > 0 ? log(error) + (1 + trace / n) / left : INFINITY;
}

/* From where the loneliest point still sees its neighbour to where all is one straight line. */
static bool find_range(const as_groups *groups, double start, double *low, double *high) {
    if (groups->n < 2) return false;
    double range = groups->at[groups->n - 1] - groups->at[0], smallest = range, loneliest = 0;
    for (size_t g = 0; g < groups->n; g++) {
        double before = g > 0 ? groups->at[g] - groups->at[g - 1] : INFINITY;
        double after = g + 1 < groups->n ? groups->at[g + 1] - groups->at[g] : INFINITY;
        smallest = fmin(smallest, fmin(before, after));
        if (groups->count[g] == 1) loneliest = fmax(loneliest, fmin(before, after));
    }
    *low = fmax(fmax(smallest / 8, loneliest / 37), range * 1e-9);
    *high = range * 2e4;
    return isfinite(range) && start > 0 && *low > 0 && isfinite(*high);
}

typedef struct place {
    double bandwidth, value;
} place;

/* The least value between two bandwidths, of which the middle one was the best so far. Golden section of their
 * logarithms. */
static place refine(const as_bandwidth_search *search, double low, place best, double high, bool *is_out) {
    const double golden = 0.61803398874989484820;
    double from = log(low), to = log(high), left = to - golden * (to - from), right = from + golden * (to - from);
    double left_value = criterion_at(search, exp(left), is_out), right_value = criterion_at(search, exp(right), is_out);
    double same = search->groups->n > MANY ? SAME_LOGARITHM_OF_MANY : SAME_LOGARITHM;
    while (to - from > same && !*is_out) {
        if (left_value < best.value) best = (place){exp(left), left_value};
        if (right_value < best.value) best = (place){exp(right), right_value};
        if (left_value <= right_value) {
            to = right, right = left, right_value = left_value;
            left = to - golden * (to - from);
            left_value = criterion_at(search, exp(left), is_out);
        } else {
            from = left, left = right, left_value = right_value;
            right = from + golden * (to - from);
            right_value = criterion_at(search, exp(right), is_out);
        }
    }
    return best;
}

/* Places with no better neighbour, the best ones first; how many. */
static int find_hollows(const place *places, int n, int hollows[REFINED]) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (!isfinite(places[i].value) || (i > 0 && places[i - 1].value < places[i].value) ||
            (i + 1 < n && places[i + 1].value < places[i].value))
            continue;
        int at = count < REFINED ? count++ : REFINED;
        if (at == REFINED && !(places[i].value < places[hollows[REFINED - 1]].value)) continue;
        if (at == REFINED) at--;
        for (; at > 0 && places[i].value < places[hollows[at - 1]].value; at--) hollows[at] = hollows[at - 1];
        hollows[at] = i;
    }
    return count;
}

double as_bandwidth_find(const as_bandwidth_search *search) {
    double low, high;
    if (!find_range(search->groups, search->start, &low, &high)) return search->start;
    place places[MOST_PLACES], best = {search->start, INFINITY};
    bool is_out = false;
    int most = search->groups->n > MANY ? PLACES_OF_MANY : MOST_PLACES, n = (int)fmin(most, 8 + 8 * log10(high / low));
    for (int i = 0; i < n && !is_out; i++) {
        places[i].bandwidth = low * pow(high / low, (double)i / (n - 1));
        places[i].value = criterion_at(search, places[i].bandwidth, &is_out);
    }
    int hollows[REFINED], n_hollows = is_out ? 0 : find_hollows(places, n, hollows);
    for (int i = 0; i < n_hollows && !is_out; i++) {
        int at = hollows[i];
        place found = refine(search, places[at > 0 ? at - 1 : 0].bandwidth, places[at],
                             places[at + 1 < n ? at + 1 : n - 1].bandwidth, &is_out);
        if (found.value < best.value) best = found;
    }
    return is_out ? NAN : best.bandwidth;
}
