/* Kernel regression in all of Perun's modes. */
#include "analysis/regress/kernel.h"

#include "core/parallel.h"
#include "core/quantile.h"

/* Groups that one piece of work has; points up to which Perun's own sums are made one by one; values of gamma that are
 * tried. */
enum { PIECE = 64, MOST_FOR_PLAIN = 4096, MOST_GAMMAS = 10000, LEAST_POINTS = 3 };

typedef enum kernel_mode { SMOOTHING, RIDGE, ESTIMATOR } kernel_mode;
typedef enum bandwidth_rule { GIVEN, SCOTT, SILVERMAN, CROSS_VALIDATION, AIC } bandwidth_rule;

typedef struct kernel_request {
    kernel_mode mode;
    as_kernel kernel;
    int order; /* of the polynomial */
    bandwidth_rule rule;
    double bandwidth, gamma_low, gamma_step;
    size_t n_gammas;
    bool is_compatible, may_widen;
    unsigned threads;
} kernel_request;

/* What becomes of a uid. */
typedef struct kernel_job {
    const as_points *points;
    double *out, bandwidth, r_square;
    const char *mode, *reason;
    bool is_out; /* of memory */
} kernel_job;

/* Whether sums are made as Perun makes them. */
static bool is_plain(const kernel_request *request, const as_groups *groups) {
    return request->is_compatible && request->mode != ESTIMATOR && groups->n_points <= MOST_FOR_PLAIN;
}

/* ---- bandwidths by rules ----------------------------------------------------------------------------------------- */

/* The spread that rules of thumb go by: the smaller one of standard deviation and quartile distance. */
static double robust_spread(const double *x, size_t n) {
    double deviation = as_deviation_of(x, n, 1);
    double quartiles = (as_quantile(x, n, 0.75) - as_quantile(x, n, 0.25)) / 1.349;
    return quartiles > 0 ? fmin(deviation, quartiles) : deviation;
}

static double ruled_bandwidth(const kernel_request *request, const as_groups *groups, as_budget *budget) {
    double n = (double)groups->n_points, root = pow(n, -0.2);
    bool is_estimator = request->mode == ESTIMATOR;
    if (is_plain(request, groups) && request->rule != GIVEN)
        return as_perun_scott(groups, request->rule == SCOTT ? n : n * 3 / 4);
    switch (request->rule) {
    case GIVEN: return request->bandwidth;
    case SCOTT:
        return is_estimator ? 1.059 * robust_spread(groups->x, groups->n_points) * root
                            : as_deviation_of(groups->x, groups->n_points, 1) * root;
    case SILVERMAN:
        return is_estimator ? 0.9 * robust_spread(groups->x, groups->n_points) * root
                            : as_deviation_of(groups->x, groups->n_points, 1) * pow(n * 3 / 4, -0.2);
    default: break;
    }
    double start = 1.06 * as_deviation_of(groups->x, groups->n_points, 0) * root;
    as_bandwidth_search search = {.groups = groups,
                                  .is_linear = request->order == 1,
                                  .is_aic = request->rule == AIC,
                                  .start = start,
                                  .threads = request->threads,
                                  .budget = budget};
    return start > 0 ? as_bandwidth_find(&search) : 0;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

typedef struct value_job {
    const as_field *field;
    const kernel_request *request;
    double *values; /* of groups, from their center */
} value_job;

/* As Perun: the sum is divided by that of the weights only where this is above 0. */
static double average_at(const as_field *field, size_t g, bool is_compatible) {
    double weights, sum, own = as_kernel_weight(field->kernel, 0);
    as_field_sums(field, g, &weights, &sum);
    weights += own * field->groups->count[g];
    sum += own * field->groups->sum[g];
    if (is_compatible && !(weights > 0)) return sum + (weights - 1) * field->groups->center;
    return sum / weights;
}

/* Point by point, whose last digits decide whether a constant is explained. */
static double plain_average_at(const as_field *field, size_t g) {
    const as_groups *groups = field->groups;
    double weights = 0, sum = 0, inverse = 1 / field->bandwidth;
    for (size_t i = 0; i < groups->n_points; i++) {
        double weight = as_kernel_weight(field->kernel, (groups->x[i] - groups->at[g]) * inverse);
        sum += groups->given[i] * weight;
        weights += weight;
    }
    return (weights > 0 ? sum / weights : sum) - groups->center;
}

static void find_values(void *user, size_t piece) {
    const value_job *job = user;
    const kernel_request *request = job->request;
    const as_groups *groups = job->field->groups;
    size_t end = (piece + 1) * PIECE < groups->n ? (piece + 1) * PIECE : groups->n;
    for (size_t g = piece * PIECE; g < end; g++) {
        if (request->order > 0)
            job->values[g] = as_polynomial_at(job->field, g, request->order);
        else
            job->values[g] = is_plain(request, groups) ? plain_average_at(job->field, g)
                                                       : average_at(job->field, g, request->is_compatible);
    }
}

/* [sum (y - m)(f - m)]^2 / (sum (y - m)^2 sum (f - m)^2), m: the mean of f. Not a number where f is constant. */
static double estimator_r_square(const as_groups *groups, const double *values) {
    as_long_sum total = {0}, both = {0}, of_y = {0}, of_f = {0};
    for (size_t g = 0; g < groups->n; g++) as_long_add(&total, values[g] * groups->count[g]);
    double mean = as_long_value(total) / (double)groups->n_points;
    for (size_t g = 0; g < groups->n; g++)
        for (size_t i = groups->start[g]; i < groups->start[g + 1]; i++) {
            as_long_add(&both, (groups->y[i] - mean) * (values[g] - mean));
            as_long_add(&of_y, (groups->y[i] - mean) * (groups->y[i] - mean));
            as_long_add(&of_f, (values[g] - mean) * (values[g] - mean));
        }
    double product = as_long_value(both);
    return product * product / (as_long_value(of_y) * as_long_value(of_f));
}

static bool fill_values(const kernel_request *request, const as_groups *groups, double bandwidth, const double *y,
                        as_arena *arena, kernel_job *job) {
    as_field field;
    value_job values = {&field, request, as_arena_array(arena, groups->n, sizeof(double))};
    if (values.values == NULL ||
        !as_field_make(groups, request->kernel, bandwidth, 2 * request->order + 1, request->threads, arena, &field))
        return false;
    as_parallel((groups->n + PIECE - 1) / PIECE, request->threads, find_values, &values);
    for (size_t g = 0; g < groups->n; g++)
        for (size_t i = groups->start[g]; i < groups->start[g + 1]; i++)
            job->out[i] = values.values[g] + groups->center;
    job->r_square = request->mode == ESTIMATOR ? estimator_r_square(groups, values.values)
                                               : as_r_square(y, job->out, groups->n_points);
    return true;
}

/* ---- one uid ----------------------------------------------------------------------------------------------------- */

/* The gamma that predicts points best from the others; the first one where none does. */
static double best_gamma(const kernel_request *request, const as_groups *groups, as_budget *budget, bool *is_out) {
    double best = INFINITY, chosen = request->gamma_low;
    for (size_t i = 0; i < request->n_gammas && !*is_out; i++) {
        double gamma = request->gamma_low + (double)i * request->gamma_step;
        double error = is_plain(request, groups) ? as_perun_ridge_error(groups, gamma)
                                                 : as_ridge_error(groups, gamma, request->threads, budget, is_out);
        if (error < best) best = error, chosen = gamma;
    }
    return chosen;
}

static void find_bandwidth(const kernel_request *request, const as_groups *groups, as_budget *budget, kernel_job *job) {
    if (request->mode == RIDGE) {
        job->bandwidth = best_gamma(request, groups, budget, &job->is_out);
        return;
    }
    double bandwidth = ruled_bandwidth(request, groups, budget);
    if (isnan(bandwidth)) {
        job->is_out = true;
    } else if (!(bandwidth > 0) || !isfinite(bandwidth)) {
        job->reason = groups->n == 1 ? "all x are the same: there is no bandwidth" : "no bandwidth was found";
    } else if (request->may_widen) {
        double wider =
            request->is_compatible ? as_perun_bandwidth(groups, request->kernel, bandwidth, request->order) : NAN;
        bandwidth = isnan(wider) ? as_polynomial_bandwidth(groups, request->kernel, bandwidth, request->order) : wider;
        if (isnan(bandwidth))
            job->reason = groups->n <= (size_t)request->order ? "too few different x for a polynomial of this order"
                                                              : "x are too far apart for this bandwidth";
    }
    job->bandwidth = bandwidth;
}

static void fit_job(const kernel_request *request, as_budget *budget, kernel_job *job) {
    as_arena arena;
    as_sorted sorted;
    as_groups groups;
    as_arena_init(&arena, budget);
    job->is_out = !as_sorted_make(job->points, &arena, &sorted);
    if (!job->is_out && sorted.n < LEAST_POINTS) {
        memcpy(job->out, sorted.y, sorted.n * sizeof *job->out);
        job->bandwidth = job->r_square = 1;
        job->mode = "manually";
        as_arena_free(&arena);
        return;
    }
    job->mode = request->mode == RIDGE ? "ridge" : request->mode == ESTIMATOR ? "estimator" : "smoothing";
    job->is_out = job->is_out || !as_groups_make(&sorted, &arena, &groups);
    if (!job->is_out && !isfinite(groups.at[groups.n - 1] - groups.at[0])) {
        job->reason = "the range of x is beyond double";
    } else if (!job->is_out) {
        find_bandwidth(request, &groups, budget, job);
        double bandwidth = request->mode == RIDGE ? 1 / sqrt(2 * job->bandwidth) : job->bandwidth;
        if (!job->is_out && job->reason == NULL)
            job->is_out = !fill_values(request, &groups, bandwidth, sorted.y, &arena, job);
    }
    as_arena_free(&arena);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

typedef struct all_jobs {
    const kernel_request *request;
    as_budget *budget;
    kernel_job *jobs;
} all_jobs;

static void fit_one(void *user, size_t i) {
    const all_jobs *all = user;
    if (all->jobs[i].points->n > 0) fit_job(all->request, all->budget, &all->jobs[i]);
}

static assay_status usage(assay_error *error, const char *message) {
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "%s", message);
}

static assay_status make_ridge(const as_kernel_options *options, kernel_request *request, assay_error *error) {
    bool is_given = options->gamma_low != 0 || options->gamma_high != 0 || options->gamma_step != 0;
    double low = is_given ? options->gamma_low : 1e-5, high = is_given ? options->gamma_high : 1e-4;
    double step = is_given ? options->gamma_step : 1e-5, n = ceil((high - low) / step);
    if (!(low > 0 && high > low && step > 0 && isfinite(n)))
        return usage(error, "gamma is LOW,HIGH,STEP with 0 < LOW < HIGH and STEP > 0");
    if (n > MOST_GAMMAS) return usage(error, "more than 10000 values of gamma; take a larger step");
    request->gamma_low = low;
    request->gamma_step = step;
    request->n_gammas = (size_t)n;
    request->kernel = AS_NORMAL;
    return ASSAY_OK;
}

static assay_status make_smoothing(const as_kernel_options *options, kernel_request *request, assay_error *error) {
    const char *smoothing = options->smoothing != NULL ? options->smoothing : "spatial-average";
    if (options->order > AS_MOST_ORDER) return usage(error, "the order of a polynomial is at most 20");
    if (!as_kernel_find(options->kernel != NULL ? options->kernel : "epanechnikov", &request->kernel))
        return usage(error, "the kernels are epanechnikov, tricube, normal, epanechnikov4 and normal4");
    int order = options->order > 0 ? (int)options->order : 3;
    bool is_linear = strcmp(smoothing, "local-linear") == 0;
    if (strcmp(smoothing, "local-polynomial") == 0) {
        request->order = order;
        request->may_widen = true;
        is_linear = order == 1 && options->is_compatible;
    } else if (!is_linear && strcmp(smoothing, "spatial-average") != 0) {
        return usage(error, "smoothing is spatial-average, local-linear or local-polynomial");
    }
    if (is_linear) { /* always of the normal kernel, which has a weight everywhere */
        request->order = 1;
        request->kernel = AS_NORMAL;
        request->may_widen = false;
    }
    return ASSAY_OK;
}

static assay_status make_rule(const as_kernel_options *options, bandwidth_rule otherwise, kernel_request *request,
                              assay_error *error) {
    const char *rule = options->bandwidth;
    request->bandwidth = options->bandwidth_value;
    if (rule == NULL)
        request->rule = options->bandwidth_value != 0 ? GIVEN : otherwise;
    else if (strcmp(rule, "scott") == 0)
        request->rule = SCOTT;
    else if (strcmp(rule, "silverman") == 0)
        request->rule = SILVERMAN;
    else if (strcmp(rule, "cv_ls") == 0)
        request->rule = CROSS_VALIDATION;
    else if (strcmp(rule, "aic") == 0)
        request->rule = AIC;
    else
        return usage(error, "a bandwidth is a number, scott, silverman, cv_ls or aic");
    if (request->rule == GIVEN && !(request->bandwidth > 0 && isfinite(request->bandwidth)))
        return usage(error, "a bandwidth must be more than 0");
    bool is_searched = request->rule == CROSS_VALIDATION || request->rule == AIC;
    if (is_searched && request->mode != ESTIMATOR) return usage(error, "cv_ls and aic go with --kernel estimator");
    return ASSAY_OK;
}

static assay_status make_request(const as_kernel_options *options, kernel_request *request, assay_error *error) {
    const char *mode = options->mode != NULL ? options->mode : "smoothing";
    *request =
        (kernel_request){.kernel = AS_NORMAL, .is_compatible = options->is_compatible, .threads = options->threads};
    if (strcmp(mode, "ridge") == 0) {
        request->mode = RIDGE;
        return make_ridge(options, request, error);
    }
    if (strcmp(mode, "smoothing") == 0) {
        AS_TRY(make_smoothing(options, request, error));
        return make_rule(options, SCOTT, request, error);
    }
    request->mode = ESTIMATOR;
    request->order = options->regression != NULL && strcmp(options->regression, "lc") == 0 ? 0 : 1;
    bool is_user = strcmp(mode, "user") == 0, is_method = strcmp(mode, "method") == 0;
    if (!is_user && !is_method && strcmp(mode, "estimator") != 0)
        return usage(error, "the modes are smoothing, ridge, user, method and estimator");
    AS_TRY(make_rule(options, is_method ? SCOTT : CROSS_VALIDATION, request, error));
    if (is_user && request->rule != GIVEN) return usage(error, "--kernel user needs a number for --bandwidth");
    /* Perun never looks at the name. */
    if (is_method && options->is_compatible && request->rule == SILVERMAN) request->rule = SCOTT;
    return ASSAY_OK;
}

static assay_status add_job(const as_points_set *set, const kernel_job *job, as_curves *curves, assay_error *error) {
    if (job->is_out) return as_fail_memory(error, NULL);
    const char *reason = job->points->n == 0 ? "no usable points" : job->reason;
    if (reason != NULL)
        return as_nonparam_skip(curves, job->points->uid, AS_CURVE_KERNEL, reason) ? ASSAY_OK
                                                                                   : as_fail_memory(error, NULL);
    as_curve *curve = as_nonparam_add(curves, set, job->points, AS_CURVE_KERNEL);
    if (curve == NULL) return as_fail_memory(error, NULL);
    curve->bandwidth = job->bandwidth;
    curve->r_square = job->r_square;
    curve->kernel_mode = job->mode;
    curve->bucket_stats = job->out;
    curve->n_buckets = job->points->n;
    return ASSAY_OK;
}

assay_status as_kernel_regression(const as_points_set *set, const as_kernel_options *options, as_curves *curves,
                                  assay_error *error) {
    kernel_request request;
    AS_TRY(make_request(options, &request, error));
    as_arena scratch;
    as_arena_init(&scratch, curves->arena.budget);
    all_jobs all = {&request, curves->arena.budget, as_arena_array(&scratch, set->n, sizeof *all.jobs)};
    assay_status status = all.jobs != NULL ? ASSAY_OK : as_fail_memory(error, NULL);
    for (size_t u = 0; u < set->n && status == ASSAY_OK; u++) {
        all.jobs[u].points = &set->points[u];
        all.jobs[u].out = as_arena_array(&curves->arena, set->points[u].n, sizeof *all.jobs[u].out);
        if (all.jobs[u].out == NULL) status = as_fail_memory(error, NULL);
    }
    if (status == ASSAY_OK) {
        /* Many uids: one thread each; few: all threads for each of them. */
        unsigned threads = set->n >= as_core_count() ? options->threads : 1;
        if (threads != 1) request.threads = 1;
        as_parallel(set->n, threads, fit_one, &all);
    }
    for (size_t u = 0; u < set->n && status == ASSAY_OK; u++) status = add_job(set, &all.jobs[u], curves, error);
    as_arena_free(&scratch);
    return status;
}
