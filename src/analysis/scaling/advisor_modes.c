/* The three modes of the measurement-point advisor. */
#include <math.h>
#include <stdlib.h>

#include "analysis/scaling/advisor.h"
#include "analysis/scaling/gauss.h"

/* ---- base: complete the lines ------------------------------------------------------------------------------------ */

/* Runtimes along a line as a * x^b. Models need more points than these lines have, and a constant would make large
 * sizes look cheap. */
typedef struct power_law {
    double log_x, log_y, exponent; /* through this point */
    double longest;                /* that was measured */
} power_law;

/* Whether the point lies on the line of this parameter through `on`. */
static bool is_on(const double *point, const double *on, size_t parameter, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i != parameter && point[i] != on[i]) return false;
    }
    return true;
}

/* Least squares of logarithms. The exponent stays between perfect strong scaling and the steepest model that is
 * searched: two noisy neighbours say little. Where logarithms do not exist, the longest runtime of the line stands for
 * all. */
static power_law fit_line(const as_campaign *campaign, const double *on, size_t parameter) {
    double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, longest = 0;
    for (size_t i = 0; i < campaign->n; i++) {
        const double *point = campaign->points + i * campaign->n_parameters;
        if (!is_on(point, on, parameter, campaign->n_parameters)) continue;
        longest = fmax(longest, campaign->runtimes[i]);
        if (!(point[parameter] > 0) || !(campaign->runtimes[i] > 0)) continue;
        double x = log(point[parameter]), y = log(campaign->runtimes[i]);
        n++, sum_x += x, sum_y += y, sum_xx += x * x, sum_xy += x * y;
    }
    if (n == 0) return (power_law){.longest = longest, .log_y = log(longest)};
    double spread = sum_xx - sum_x * sum_x / n, exponent = 0;
    if (spread > 0) exponent = fmin(fmax((sum_xy - sum_x * sum_y / n) / spread, -1), 3);
    return (power_law){.longest = longest, .log_x = sum_x / n, .log_y = sum_y / n, .exponent = exponent};
}

static double estimate(const power_law *law, double x) {
    if (law->exponent == 0) return exp(law->log_y);
    return x > 0 ? exp(law->log_y + law->exponent * (log(x) - law->log_x)) : law->longest;
}

static bool is_suggested(const as_advice *advice, const double *point) {
    size_t bytes = advice->n_parameters * sizeof *point;
    for (size_t i = 0; i < advice->points.count; i += advice->n_parameters) {
        if (memcmp(&AS_AT(double, &advice->points, i), point, bytes) == 0) return true;
    }
    return false;
}

static bool complete_line(const as_campaign *campaign, const as_advice_options *options, size_t parameter,
                          const as_vec *values, double *point, as_advice *advice) {
    const double *on = campaign->points + advice->lines[parameter].point * campaign->n_parameters;
    power_law law = fit_line(campaign, on, parameter);
    memcpy(point, on, campaign->n_parameters * sizeof *point);
    size_t length = advice->lines[parameter].length;
    for (size_t i = 0; i < values->count && length < AS_LINE_POINTS; i++) {
        point[parameter] = AS_AT(double, values, i);
        if (as_campaign_find(campaign, point) != SIZE_MAX) continue;
        length++;
        if (is_suggested(advice, point)) continue; /* lies on the line of two parameters */
        size_t row = advice->points.count / campaign->n_parameters;
        double runtime = estimate(&law, point[parameter]);
        if (!as_vec_append(&advice->points, point, campaign->n_parameters) ||
            !as_advice_suggest(campaign, options, advice, row, runtime, advice->repetitions))
            return false;
        double cost = as_advice_cost(options, point, runtime);
        if (cost < advice->cheapest_cost) advice->cheapest = row, advice->cheapest_cost = cost;
    }
    return true;
}

/* All missing points are suggested, whatever the budget: with fewer there is no model, and what does not fit is
 * marked. */
bool as_advise_base(const as_campaign *campaign, const as_advice_options *options, const as_vec *series,
                    as_advice *advice) {
    if (campaign->n == 0) return true;
    double *point = calloc(campaign->n_parameters, sizeof *point);
    bool fine = point != NULL;
    for (size_t i = 0; fine && i < campaign->n_parameters; i++)
        fine = complete_line(campaign, options, i, &series[i], point, advice);
    free(point);
    return fine;
}

/* ---- add: the cheapest first ------------------------------------------------------------------------------------- */

static int compare_costs(const void *a, const void *b) {
    const as_candidate *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

static bool is_on_base_line(const as_campaign *campaign, const as_advice *advice, const double *point) {
    size_t n = campaign->n_parameters;
    for (size_t i = 0; i < n; i++) {
        if (is_on(point, campaign->points + advice->lines[i].point * n, i, n)) return true;
    }
    return false;
}

/* Extra-P's order is by cost alone; but the mode exists for a point outside the lines, so the cheapest of those comes
 * before all others. */
static void lead_with_combination(const as_campaign *campaign, const as_advice *advice, as_candidate *sorted,
                                  size_t n) {
    for (size_t i = 0; i < n; i++) {
        const double *point = &AS_AT(double, &advice->points, sorted[i].point * campaign->n_parameters);
        if (is_on_base_line(campaign, advice, point)) continue;
        as_candidate first = sorted[i];
        memmove(sorted + 1, sorted, i * sizeof *sorted);
        sorted[0] = first;
        return;
    }
}

bool as_advise_add(const as_campaign *campaign, const as_advice_options *options, const as_vec *candidates,
                   as_advice *advice) {
    size_t n = candidates->count;
    if (n == 0) return true;
    as_candidate *sorted = malloc(n * sizeof *sorted);
    if (!sorted) return false;
    memcpy(sorted, candidates->data, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_costs);
    lead_with_combination(campaign, advice, sorted, n);
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        double left = options->budget - advice->used - advice->suggested;
        if (sorted[i].cost * advice->repetitions > left) {
            if (i == 0) continue; /* the one outside the lines is not the cheapest */
            break;
        }
        advice->is_full = advice->suggestions.count >= options->max_points;
        if (advice->is_full) break;
        fine = as_advice_suggest(campaign, options, advice, sorted[i].point, sorted[i].runtime, advice->repetitions);
    }
    free(sorted);
    return fine;
}

/* ---- gpr: most is learnt for the cost ---------------------------------------------------------------------------- */

/* More points than these are thinned out evenly before the process is fitted. */
enum { TRAINING_POINTS = 200 };

typedef struct training {
    size_t n;
    double *factors;      /* that take each parameter to at most 100 */
    double *x, *y;        /* scaled points; runtimes, their root mean square being 1 */
    double *candidates_x; /* scaled */
} training;

static void free_training(training *t) {
    free(t->factors);
    free(t->x);
    free(t->y);
    free(t->candidates_x);
}

static void scale(const training *t, const double *point, size_t d, double *out) {
    for (size_t i = 0; i < d; i++) out[i] = point[i] * t->factors[i];
}

/* Extra-P trains on the seconds as they are, though the noise and the bounds of the hyper-parameters are meant for
 * numbers around 1: its answer changes with the unit of the metric. */
static bool prepare(const as_campaign *campaign, const as_vec *candidates, const as_advice *advice, training *t) {
    size_t d = campaign->n_parameters, n = campaign->n < TRAINING_POINTS ? campaign->n : TRAINING_POINTS;
    *t = (training){.n = n,
                    .factors = calloc(d, sizeof(double)),
                    .x = calloc(n ? n : 1, d * sizeof(double)),
                    .y = calloc(n ? n : 1, sizeof(double)),
                    .candidates_x = calloc(candidates->count, d * sizeof(double))};
    if (!t->factors || !t->x || !t->y || !t->candidates_x) return false;
    for (size_t k = 0; k < d; k++) {
        double most = 0;
        for (size_t i = 0; i < campaign->n; i++) most = fmax(most, fabs(campaign->points[i * d + k]));
        t->factors[k] = most > 0 ? 100 / most : 1;
    }
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        size_t from = i * campaign->n / n;
        scale(t, campaign->points + from * d, d, t->x + i * d);
        t->y[i] = campaign->runtimes[from];
        squares += t->y[i] * t->y[i];
    }
    double size = sqrt(squares / (double)n);
    for (size_t i = 0; size > 0 && i < n; i++) t->y[i] /= size;
    for (size_t i = 0; i < candidates->count; i++) {
        size_t row = AS_AT(as_candidate, candidates, i).point;
        scale(t, &AS_AT(double, &advice->points, row *d), d, t->candidates_x + i * d);
    }
    return true;
}

/* The smaller the better: cost^2 * (price of repeating) / variance^2. */
static double rate(const as_candidate *candidate, double variance, double noise) {
    double price = exp2(candidate->has / 2.0) - tanh(noise / 4 - 2.5);
    return candidate->cost * candidate->cost * price / (variance * variance);
}

static size_t choose_best(const as_vec *candidates, const double *variance, double noise, double left) {
    size_t best = SIZE_MAX;
    double best_rate = INFINITY;
    for (size_t i = 0; i < candidates->count; i++) {
        const as_candidate *candidate = &AS_AT(as_candidate, candidates, i);
        if (candidate->room == 0 || candidate->cost > left) continue;
        double rated = rate(candidate, variance[i], noise);
        if (rated < best_rate) best = i, best_rate = rated;
    }
    return best;
}

/* chosen: how often each candidate was, in order[0 … n - 1] by first choice. */
static bool suggest_chosen(const as_campaign *campaign, const as_advice_options *options, const as_vec *candidates,
                           const uint32_t *chosen, const size_t *order, size_t n, as_advice *advice) {
    for (size_t i = 0; i < n; i++) {
        const as_candidate *candidate = &AS_AT(as_candidate, candidates, order[i]);
        if (!as_advice_suggest(campaign, options, advice, candidate->point, candidate->runtime, chosen[order[i]]))
            return false;
    }
    return true;
}

/* Chooses measurements one by one, each seeing those before it. Extra-P then trains its process anew on the chosen
 * point alone, which forgets all that was measured; here the point joins the others, and the hyper-parameters stay: a
 * value that is only predicted teaches nothing about them. */
static bool choose_all(const as_campaign *campaign, const as_advice_options *options, as_vec *candidates,
                       as_gauss_field *field, as_advice *advice) {
    uint32_t *chosen = calloc(candidates->count, sizeof *chosen);
    size_t *order = calloc(options->max_points, sizeof *order), n = 0;
    double noise = isnan(campaign->noise) ? 0 : campaign->noise, left = options->budget - advice->used;
    bool fine = chosen && order;
    for (size_t i = 0; fine; i++) {
        size_t best = choose_best(candidates, field->variance, noise, left);
        if (best == SIZE_MAX) break;
        advice->is_full = i == options->max_points;
        if (advice->is_full) break;
        as_candidate *candidate = &AS_AT(as_candidate, candidates, best);
        if (chosen[best]++ == 0) order[n++] = best;
        left -= candidate->cost;
        candidate->has++;
        candidate->room--;
        as_gauss_field_observe(field, best);
    }
    fine = fine && suggest_chosen(campaign, options, candidates, chosen, order, n, advice);
    free(chosen);
    free(order);
    return fine;
}

bool as_advise_gpr(const as_campaign *campaign, const as_advice_options *options, as_vec *candidates,
                   as_advice *advice) {
    if (candidates->count == 0 || campaign->n == 0) return true;
    training t;
    as_gauss_kernel kernel;
    as_gauss_field field = {0};
    size_t d = campaign->n_parameters;
    bool fine =
        prepare(campaign, candidates, advice, &t) && as_gauss_fit(t.x, t.y, t.n, d, &kernel, NULL) &&
        as_gauss_field_init(&field, &kernel, t.x, t.n, d, t.candidates_x, candidates->count, options->max_points) &&
        choose_all(campaign, options, candidates, &field, advice);
    as_gauss_field_free(&field);
    free_training(&t);
    return fine;
}
