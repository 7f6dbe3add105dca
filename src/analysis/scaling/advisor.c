/* The measurement-point advisor: the search space, the choice of a mode, and what a suggestion costs and brings. */
#include "analysis/scaling/advisor.h"

#include <math.h>
#include <stdlib.h>

const char *as_advice_mode_name(as_advice_mode mode) {
    static const char *const names[] = {"auto", "base", "add", "gpr"};
    return names[mode];
}

double as_advice_cost(const as_advice_options *options, const double *point, double seconds) {
    double processes = options->processes == SIZE_MAX ? options->n_processes : point[options->processes];
    return seconds * (options->is_strong ? 1 : processes) / 3600;
}

static double core_hours_used(const as_campaign *campaign, const as_advice_options *options) {
    double used = 0;
    for (size_t i = 0; i < campaign->n; i++)
        used += as_advice_cost(options, campaign->points + i * campaign->n_parameters, campaign->spent[i]);
    return used;
}

/* ---- the mode ---------------------------------------------------------------------------------------------------- */

static bool is_on_line(const double *point, const double *of_line, size_t parameter, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i != parameter && point[i] != of_line[i]) return false;
    }
    return true;
}

/* Whether a point lies on the longest line of some parameter. */
static bool is_on_lines(const as_campaign *campaign, const as_line *lines, const double *point) {
    size_t n = campaign->n_parameters;
    for (size_t i = 0; i < n; i++) {
        if (is_on_line(point, campaign->points + lines[i].point * n, i, n)) return true;
    }
    return false;
}

/* Extra-P looks for a point outside all lines of exactly five points: a full grid of 5 x 5 has none and is told to add
 * the first point that combines parameters, a cross of 6 + 6 is told it has them all. The method means one line for
 * each parameter, and that is what counts here. */
as_advice_mode as_advice_mode_of(const as_campaign *campaign, const as_line *lines, size_t *parameter) {
    size_t n = campaign->n_parameters;
    for (size_t i = 0; i < n; i++) {
        *parameter = i;
        if (lines[i].length < AS_LINE_POINTS) return AS_ADVICE_BASE;
    }
    *parameter = 0;
    if (n == 1) return AS_ADVICE_GPR;
    for (size_t i = 0; i < campaign->n; i++) {
        if (!is_on_lines(campaign, lines, campaign->points + i * n)) return AS_ADVICE_GPR;
    }
    return AS_ADVICE_ADD;
}

/* ---- the search space -------------------------------------------------------------------------------------------- */

static double product_of(const as_vec *series, size_t n) {
    double product = 1;
    for (size_t i = 0; i < n; i++) product *= (double)series[i].count;
    return product;
}

/* The values of each parameter: those given, else those measured and how they go on. */
static bool find_series(const as_campaign *campaign, const as_advice_options *options, as_vec *series) {
    for (size_t i = 0; i < campaign->n_parameters; i++) {
        if (options->values && options->values[i].count) {
            if (!as_vec_append(&series[i], options->values[i].data, options->values[i].count)) return false;
            continue;
        }
        as_step step;
        if (!as_campaign_values(campaign, i, &series[i]) || !as_step_find(series[i].data, series[i].count, &step) ||
            !as_step_extend(&series[i], step, AS_LINE_POINTS))
            return false;
    }
    return true;
}

/* Large values are left out, the longest series first: what is cheap is most likely suggested. */
static void cut_series(as_vec *series, size_t n, size_t max_points, as_advice *advice) {
    while (product_of(series, n) > (double)max_points) {
        size_t longest = 0;
        for (size_t i = 1; i < n; i++) {
            if (series[i].count > series[longest].count) longest = i;
        }
        series[longest].count--;
        advice->is_cut = true;
    }
}

/* Measured points that lie in the search space. */
static size_t count_inside(const as_campaign *campaign, const as_vec *series) {
    size_t inside = 0, n = campaign->n_parameters;
    for (size_t i = 0; i < campaign->n; i++) {
        size_t found = 0;
        for (size_t k = 0; k < n; k++) {
            found += series[k].count && bsearch(&campaign->points[i * n + k], series[k].data, series[k].count,
                                                sizeof(double), as_real_compare) != NULL;
        }
        inside += found == n;
    }
    return inside;
}

/* A point that is not measured, with what the models say of it. */
static bool add_new(const as_advice_options *options, const double *point, as_advice *advice, as_vec *candidates) {
    double runtime = options->runtime(options->user, point), cost = as_advice_cost(options, point, runtime);
    if (!(cost > 0) || !isfinite(cost)) {
        advice->n_unpredicted++;
        return true;
    }
    size_t row = advice->points.count / advice->n_parameters;
    as_candidate candidate = {.point = row, .runtime = runtime, .cost = cost, .room = advice->repetitions};
    if (cost < advice->cheapest_cost) advice->cheapest = row, advice->cheapest_cost = cost;
    return as_vec_append(&advice->points, point, advice->n_parameters) && as_vec_append(candidates, &candidate, 1);
}

/* All combinations of values, the first parameter slowest. */
static bool add_combinations(const as_campaign *campaign, const as_advice_options *options, const as_vec *series,
                             as_advice *advice, as_vec *candidates) {
    size_t n = campaign->n_parameters;
    size_t *digits = calloc(n, sizeof *digits);
    double *point = calloc(n, sizeof *point);
    bool fine = digits && point, more = fine && product_of(series, n) > 0;
    while (fine && more) {
        for (size_t i = 0; i < n; i++) point[i] = AS_AT(double, &series[i], digits[i]);
        if (as_campaign_find(campaign, point) == SIZE_MAX) fine = add_new(options, point, advice, candidates);
        more = false;
        for (size_t i = n; i-- > 0 && !more;) {
            more = ++digits[i] < series[i].count;
            if (!more) digits[i] = 0;
        }
    }
    free(digits);
    free(point);
    return fine;
}

/* Points with fewer repetitions than new ones may get are worth measuring again. */
static bool add_measured(const as_campaign *campaign, const as_advice_options *options, as_advice *advice,
                         as_vec *candidates) {
    for (size_t i = 0; i < campaign->n; i++) {
        const double *point = campaign->points + i * campaign->n_parameters;
        double cost = as_advice_cost(options, point, campaign->runtimes[i]);
        if (campaign->repetitions[i] >= advice->repetitions || !(cost > 0)) continue;
        uint32_t has = (uint32_t)campaign->repetitions[i];
        as_candidate candidate = {.point = advice->points.count / campaign->n_parameters,
                                  .runtime = campaign->runtimes[i],
                                  .cost = cost,
                                  .has = has,
                                  .room = advice->repetitions - has};
        if (!as_vec_append(&advice->points, point, campaign->n_parameters) || !as_vec_append(candidates, &candidate, 1))
            return false;
    }
    return true;
}

/* ---- suggestions ------------------------------------------------------------------------------------------------- */

static const double *point_at(const as_advice *advice, size_t point) {
    return &AS_AT(double, &advice->points, point * advice->n_parameters);
}

/* How many points the line of a parameter through this one has, measured or suggested before. */
static size_t count_on_line(const as_campaign *campaign, const as_advice *advice, const double *point,
                            size_t parameter) {
    size_t count = 0, n = campaign->n_parameters;
    for (size_t i = 0; i < campaign->n; i++) count += is_on_line(point, campaign->points + i * n, parameter, n);
    for (size_t i = 0; i < advice->suggestions.count; i++) {
        const as_suggestion *before = &AS_AT(as_suggestion, &advice->suggestions, i);
        count += before->gain != AS_GAIN_REPETITION && is_on_line(point, point_at(advice, before->point), parameter, n);
    }
    return count;
}

static void find_gain(const as_campaign *campaign, const as_advice *advice, as_suggestion *suggestion) {
    const double *point = point_at(advice, suggestion->point);
    size_t known = as_campaign_find(campaign, point);
    if (known != SIZE_MAX) {
        suggestion->gain = AS_GAIN_REPETITION;
        suggestion->count = (size_t)campaign->repetitions[known] + suggestion->repetitions;
        return;
    }
    suggestion->gain = AS_GAIN_COMBINATION;
    /* A line of fewer points is none yet, unless it is being made */
    size_t least = advice->mode == AS_ADVICE_BASE || campaign->n_parameters == 1 ? 1 : AS_LINE_POINTS;
    for (size_t i = 0; i < campaign->n_parameters; i++) {
        size_t count = count_on_line(campaign, advice, point, i) + 1;
        if (count < least || count <= suggestion->count) continue;
        suggestion->gain = AS_GAIN_LINE;
        suggestion->parameter = i;
        suggestion->count = count;
    }
}

bool as_advice_suggest(const as_campaign *campaign, const as_advice_options *options, as_advice *advice, size_t point,
                       double runtime, uint32_t repetitions) {
    as_suggestion suggestion = {.point = point, .runtime = runtime, .repetitions = repetitions};
    suggestion.cost = as_advice_cost(options, point_at(advice, point), runtime) * repetitions;
    suggestion.fits = suggestion.cost <= options->budget - advice->used - advice->suggested;
    if (suggestion.fits) advice->suggested += suggestion.cost;
    find_gain(campaign, advice, &suggestion);
    return as_vec_append(&advice->suggestions, &suggestion, 1);
}

/* ---- advice ------------------------------------------------------------------------------------------------------ */

static bool search(const as_campaign *campaign, const as_advice_options *options, as_vec *series, as_advice *advice) {
    size_t n = campaign->n_parameters;
    if (!find_series(campaign, options, series)) return false;
    if (advice->mode == AS_ADVICE_BASE) return as_advise_base(campaign, options, series, advice);
    advice->space = product_of(series, n) - (double)count_inside(campaign, series);
    cut_series(series, n, options->max_candidates + campaign->n, advice);
    as_vec candidates;
    as_vec_init(&candidates, sizeof(as_candidate), NULL);
    bool is_gpr = advice->mode == AS_ADVICE_GPR;
    bool fine = add_combinations(campaign, options, series, advice, &candidates) &&
                (!is_gpr || add_measured(campaign, options, advice, &candidates));
    advice->n_candidates = candidates.count;
    fine = fine && (is_gpr ? as_advise_gpr(campaign, options, &candidates, advice)
                           : as_advise_add(campaign, options, &candidates, advice));
    as_vec_free(&candidates);
    return fine;
}

/* How often new points are measured. Extra-P counts one run of a new point in base and add mode against all runs of the
 * existing ones. */
static bool find_repetitions(const as_campaign *campaign, const as_advice_options *options, as_advice *advice) {
    enum { GPR_REPETITIONS = 5 };
    advice->repetitions = options->repetitions;
    if (advice->repetitions > 0) return true;
    advice->repetitions = GPR_REPETITIONS;
    return advice->mode == AS_ADVICE_GPR || as_campaign_repetitions(campaign, &advice->repetitions);
}

assay_status as_advise(const as_campaign *campaign, const as_advice_options *options, as_advice *out,
                       assay_error *error) {
    size_t n = campaign->n_parameters;
    *out = (as_advice){.n_parameters = n,
                       .lines = calloc(n ? n : 1, sizeof *out->lines),
                       .used = core_hours_used(campaign, options),
                       .cheapest = SIZE_MAX,
                       .cheapest_cost = INFINITY};
    as_vec_init(&out->points, sizeof(double), NULL);
    as_vec_init(&out->suggestions, sizeof(as_suggestion), NULL);
    as_vec *series = calloc(n ? n : 1, sizeof *series);
    bool fine = series && out->lines && as_lines_find(campaign, out->lines);
    for (size_t i = 0; series && i < n; i++) as_vec_init(&series[i], sizeof(double), NULL);
    if (fine) {
        as_advice_mode called_for = as_advice_mode_of(campaign, out->lines, &out->parameter);
        out->mode = options->mode == AS_ADVICE_AUTO ? called_for : options->mode;
        out->is_forced = out->mode != called_for;
        fine = find_repetitions(campaign, options, out) && search(campaign, options, series, out);
    }
    for (size_t i = 0; series && i < n; i++) as_vec_free(&series[i]);
    free(series);
    if (fine) return ASSAY_OK;
    as_advice_free(out);
    return as_fail_memory(error, NULL);
}

void as_advice_free(as_advice *advice) {
    free(advice->lines);
    as_vec_free(&advice->points);
    as_vec_free(&advice->suggestions);
    *advice = (as_advice){0};
}
