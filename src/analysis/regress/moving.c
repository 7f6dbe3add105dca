/* Moving average: of neighbouring points in order of x. */
#include "analysis/regress/moving.h"

/* The search for a width ends where so much of y is explained. */
#define GOOD_R_SQUARE 0.88
/* A search, or a window with weights, that takes more steps times points than this is given up. */
#define MOST_WORK 4e9
enum { MOST_STEPS = 100000, WIDEST_WEIGHTS = 1 << 26 };

typedef enum moving_kind { MEAN, MEDIAN, EXPONENTIAL } moving_kind;

typedef struct moving_request {
    moving_kind kind;
    bool is_centered, is_plain;
    uint32_t min_periods; /* 0: not given */
    as_window *weights;
    const double *made; /* the weights of the width that was asked for, made once for all uids; NULL: none was */
} moving_request;

/* ---- one width --------------------------------------------------------------------------------------------------- */

static as_moving_window window_of(const moving_request *request, double width, size_t n) {
    /* Beyond twice the number of points all windows are the same. */
    size_t points = width >= 2.0 * (double)n + 2 ? 2 * n + 2 : (size_t)width;
    as_moving_window window = {points - 1, 0, request->min_periods};
    if (request->is_centered) window = (as_moving_window){points / 2, (points - 1) / 2, request->min_periods};
    if (request->min_periods == 0) window.least = width >= 2.0 * (double)n + 2 ? SIZE_MAX : (size_t)width;
    return window;
}

/* NULL when memory is out. */
static double *make_weights(const moving_request *request, double width, as_arena *arena) {
    double *weights = as_arena_array(arena, (size_t)width, sizeof *weights);
    if (weights == NULL) return NULL;
    weights[0] = 1;
    if (width > 1) request->weights(weights, (size_t)width);
    return weights;
}

/* Reason, or NULL when all went well; *is_out: memory is out. */
static const char *average(const moving_request *request, const double *y, size_t n, double width, double *out,
                           as_arena *scratch, bool *is_out) {
    as_moving_window window = window_of(request, width, n);
    if (request->kind == EXPONENTIAL) {
        as_moving_exponential(y, n, 1 / (1 + width), request->min_periods, out);
    } else if (request->kind == MEDIAN) {
        *is_out = !as_moving_median(y, n, window, out, scratch);
    } else if (request->weights != NULL) {
        if (width > WIDEST_WEIGHTS || fmin(width, (double)n) * (double)n > MOST_WORK)
            return "the window is too wide for weights";
        const double *weights = request->made != NULL ? request->made : make_weights(request, width, scratch);
        if ((*is_out = weights == NULL)) return NULL;
        /* The window was cut to what can be met, the weights are not. */
        window = (as_moving_window){(size_t)width - 1, 0, window.least};
        if (request->is_centered) window = (as_moving_window){(size_t)width / 2, ((size_t)width - 1) / 2, window.least};
        as_moving_weighted(y, n, window, weights, request->is_plain, out);
    } else {
        double *sums = as_arena_array(scratch, 2 * n, sizeof *sums);
        if ((*is_out = sums == NULL)) return NULL;
        as_moving_mean(y, n, window, out, sums);
    }
    return NULL;
}

/* ---- the search for one ------------------------------------------------------------------------------------------ */

typedef struct moving_result {
    double width, next_width, r_square;
} moving_result;

static double next_width(double width, double r_square) {
    double less = trunc(fmin(0.9 * width - 1, 0.15 * (width - 1) * (GOOD_R_SQUARE - r_square)));
    return fmax(1, width - fmax(1, less));
}

/* From a twentieth of the range of x, taken for a number of points, down until the average explains y well. */
static const char *search(const moving_request *request, const as_sorted *points, double *out, as_budget *budget,
                          moving_result *result, bool *is_out) {
    double width = fmax(1, trunc(0.05 * (points->x[points->n - 1] - points->x[0]))), work = 0;
    if (!isfinite(width)) return "the range of x is beyond double";
    for (int step = 0; step < MOST_STEPS && work < MOST_WORK; step++) {
        as_arena scratch;
        as_arena_init(&scratch, budget);
        const char *reason = average(request, points->y, points->n, width, out, &scratch, is_out);
        as_arena_free(&scratch);
        if (reason != NULL || *is_out) return reason;
        double r_square = as_r_square(points->y, out, points->n), next = next_width(width, r_square);
        *result = (moving_result){width, next, r_square};
        if (!(r_square < GOOD_R_SQUARE) || next == width) return NULL;
        width = next;
        work += (double)points->n;
    }
    return "no width of the window was found in time; give one with --window";
}

/* ---- of all uids ------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    double least, most;
    bool is_least_allowed;
} decays[] = {
    {"com", 0, INFINITY, true}, {"span", 1, INFINITY, true}, {"halflife", 0, INFINITY, false}, {"alpha", 0, 1, false}};

static double decay_alpha(const char *decay, double value) {
    if (strcmp(decay, "com") == 0) return 1 / (1 + value);
    if (strcmp(decay, "span") == 0) return 2 / (value + 1);
    if (strcmp(decay, "halflife") == 0) return -expm1(log(0.5) / value);
    return value;
}

static assay_status check_decay(const as_moving_options *options, assay_error *error) {
    for (size_t i = 0; i < sizeof decays / sizeof *decays; i++) {
        if (strcmp(decays[i].name, options->decay) != 0) continue;
        double value = options->decay_value;
        if (value <= decays[i].most &&
            (decays[i].is_least_allowed ? value >= decays[i].least : value > decays[i].least) && isfinite(value))
            return ASSAY_OK;
        char digits[AS_NUMBER_SIZE];
        as_real_format(value, digits);
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "the decay %s=%s is impossible; it must be %s",
                       options->decay, digits,
                       i == 0   ? "0 or more"
                       : i == 1 ? "1 or more"
                       : i == 2 ? "more than 0"
                                : "more than 0 and at most 1");
    }
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "unknown decay '%s'; there are com, span, halflife and alpha",
                   options->decay);
}

static assay_status make_request(const as_moving_options *options, moving_request *request, assay_error *error) {
    const char *method = options->method != NULL ? options->method : "sma";
    *request = (moving_request){.kind = strcmp(method, "ema") == 0   ? EXPONENTIAL
                                        : strcmp(method, "smm") == 0 ? MEDIAN
                                                                     : MEAN,
                                .is_centered = !options->no_center,
                                .is_plain = options->is_compatible,
                                .min_periods = options->min_periods};
    if (options->window_type != NULL) {
        request->weights = as_window_find(options->window_type);
        if (request->weights == NULL)
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "unknown window type '%s'", options->window_type);
        if (request->kind != MEAN)
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "a window type goes with sma only, not with %s",
                           method);
    }
    if (request->kind == EXPONENTIAL && options->window > 0)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "ema has no window; give --decay");
    if (options->decay == NULL) return ASSAY_OK;
    if (request->kind != EXPONENTIAL)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "a decay goes with ema only, not with %s", method);
    return check_decay(options, error);
}

/* *shared: the width that Perun keeps from the first uid for all others; 0: none yet. */
static const char *one_average(const moving_request *request, const as_moving_options *options, const as_sorted *points,
                               double *out, as_arena *scratch, double *shared, moving_result *result, bool *is_out) {
    bool is_decay_given = options->decay != NULL && !(options->is_compatible && options->decay_value == 0);
    if (request->kind == EXPONENTIAL && is_decay_given) {
        size_t least = options->min_periods > 0 ? options->min_periods : (size_t)fmin(options->decay_value, 1e18);
        as_moving_exponential(points->y, points->n, decay_alpha(options->decay, options->decay_value), least, out);
        result->width = options->decay_value;
        result->r_square = as_r_square(points->y, out, points->n);
        return NULL;
    }
    double width = options->window > 0 ? options->window : *shared;
    if (width == 0) {
        const char *reason = search(request, points, out, scratch->budget, result, is_out);
        if (options->is_compatible && reason == NULL) result->width = *shared = result->next_width;
        return reason;
    }
    const char *reason = average(request, points->y, points->n, width, out, scratch, is_out);
    *result = (moving_result){width, width, reason == NULL && !*is_out ? as_r_square(points->y, out, points->n) : NAN};
    return reason;
}

static assay_status add_average(const as_points_set *set, const as_points *points, const as_moving_options *options,
                                const moving_request *request, double *shared, as_curves *curves, as_arena *scratch,
                                assay_error *error) {
    as_sorted sorted;
    if (!as_sorted_make(points, scratch, &sorted)) return as_fail_memory(error, NULL);
    double *out = as_arena_array(&curves->arena, points->n, sizeof *out);
    if (out == NULL) return as_fail_memory(error, NULL);
    moving_result result = {0};
    bool is_out = false;
    const char *reason = one_average(request, options, &sorted, out, scratch, shared, &result, &is_out);
    if (is_out) return as_fail_memory(error, NULL);
    if (reason != NULL)
        return as_nonparam_skip(curves, points->uid, AS_CURVE_MOVING_AVERAGE, reason) ? ASSAY_OK
                                                                                      : as_fail_memory(error, NULL);
    as_curve *curve = as_nonparam_add(curves, set, points, AS_CURVE_MOVING_AVERAGE);
    if (curve == NULL) return as_fail_memory(error, NULL);
    curve->moving_method = request->kind == MEAN ? "sma" : request->kind == MEDIAN ? "smm" : "ema";
    curve->window_width = result.width;
    curve->r_square = result.r_square;
    curve->bucket_stats = out;
    curve->n_buckets = points->n;
    return ASSAY_OK;
}

static assay_status add_averages(const as_points_set *set, const as_moving_options *options,
                                 const moving_request *request, as_curves *curves, assay_error *error) {
    double shared = 0;
    for (size_t u = 0; u < set->n; u++) {
        const as_points *points = &set->points[u];
        if (points->n == 0) {
            if (!as_nonparam_skip(curves, points->uid, AS_CURVE_MOVING_AVERAGE, "no usable points"))
                return as_fail_memory(error, NULL);
            continue;
        }
        as_arena scratch;
        as_arena_init(&scratch, curves->arena.budget);
        assay_status status = add_average(set, points, options, request, &shared, curves, &scratch, error);
        as_arena_free(&scratch);
        AS_TRY(status);
    }
    return ASSAY_OK;
}

assay_status as_moving_average(const as_points_set *set, const as_moving_options *options, as_curves *curves,
                               assay_error *error) {
    moving_request request;
    AS_TRY(make_request(options, &request, error));
    as_arena kept;
    as_arena_init(&kept, curves->arena.budget);
    assay_status status = ASSAY_OK;
    if (request.weights != NULL && options->window > 0 && options->window <= WIDEST_WEIGHTS) {
        request.made = make_weights(&request, options->window, &kept);
        if (request.made == NULL) status = as_fail_memory(error, NULL);
    }
    if (status == ASSAY_OK) status = add_averages(set, options, &request, curves, error);
    as_arena_free(&kept);
    return status;
}
