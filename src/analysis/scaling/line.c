/* Plans: the search space factored for a set of points; the basic modeler. */
#include "analysis/scaling/line.h"

#include <stdlib.h>

/* ---- plans ------------------------------------------------------------------------------------------------------- */

static bool fill_space(as_line_plan *plan) {
    const as_single_options *o = &plan->options;
    if (!as_power_list(&plan->powers, o->allow_log_terms, o->allow_negative_exponents, o->poly_exponents,
                       o->log_exponents, o->retain_default_exponents, o->force_combination_exponents)) {
        return false;
    }
    size_t all = plan->powers.count;
    if (!plan->has_logs) as_power_list_drop_logs(&plan->powers);
    plan->lost_logs = plan->powers.count < all;
    size_t n = plan->n, each = as_hypothesis_size(n), size;
    if (!as_mul_size(each, plan->powers.count, &size) || !as_mul_size(size, sizeof(double), &size)) return false;
    plan->hypotheses = malloc((plan->powers.count + 1) * sizeof *plan->hypotheses);
    plan->memory = malloc(size + 1);
    double *scratch = malloc((2 * n + 1) * sizeof *scratch);
    bool fine = plan->hypotheses && plan->memory && scratch;
    for (size_t i = 0; fine && i < plan->powers.count; i++) {
        as_hypothesis_make(&plan->hypotheses[i], AS_AT(as_power, &plan->powers, i), plan->x, n, o->use_crossvalidation,
                           plan->memory + i * each, scratch);
    }
    free(scratch);
    return fine;
}

as_line_plan *as_line_plan_new(const double *x, size_t n, const as_single_options *options, bool space) {
    as_line_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return NULL;
    if (pthread_mutex_init(&plan->lock, NULL) != 0) {
        free(plan);
        return NULL;
    }
    plan->n = n;
    plan->options = *options;
    plan->has_logs = true;
    as_vec_init(&plan->powers, sizeof(as_power), NULL);
    as_vec_init(&plan->further, sizeof(as_hypothesis *), NULL);
    as_arena_init(&plan->arena, NULL);
    plan->x = malloc((n + 1) * sizeof *plan->x);
    bool fine = plan->x != NULL;
    for (size_t i = 0; fine && i < n; i++) {
        plan->x[i] = x[i];
        if (x[i] < 1 || (options->allow_negative_exponents && x[i] <= 1)) plan->has_logs = false;
    }
    if (fine && space) fine = fill_space(plan);
    if (fine) return plan;
    as_line_plan_free(plan);
    return NULL;
}

void as_line_plan_free(as_line_plan *plan) {
    if (!plan) return;
    pthread_mutex_destroy(&plan->lock);
    as_vec_free(&plan->powers);
    as_vec_free(&plan->further);
    as_arena_free(&plan->arena);
    free(plan->hypotheses);
    free(plan->memory);
    free(plan->x);
    free(plan);
}

/* ---- hypotheses on demand ---------------------------------------------------------------------------------------- */

static bool same_exponent(as_exponent a, as_exponent b) {
    return a.numerator == b.numerator && a.denominator == b.denominator && a.value == b.value;
}

static as_hypothesis *make_further(as_line_plan *plan, as_power power) {
    size_t size = as_hypothesis_size(plan->n);
    as_hypothesis *h = as_arena_alloc(&plan->arena, sizeof *h);
    double *memory = as_arena_array(&plan->arena, size, sizeof *memory);
    double *scratch = malloc((2 * plan->n + 1) * sizeof *scratch);
    as_hypothesis **place = h && memory && scratch ? as_vec_push(&plan->further) : NULL;
    if (place) {
        as_hypothesis_make(h, power, plan->x, plan->n, plan->options.use_crossvalidation, memory, scratch);
        *place = h;
    }
    free(scratch);
    return place ? h : NULL;
}

const as_hypothesis *as_line_plan_hypothesis(as_line_plan *plan, as_power power) {
    pthread_mutex_lock(&plan->lock);
    as_hypothesis *found = NULL;
    for (size_t i = 0; !found && i < plan->further.count; i++) {
        as_hypothesis *h = AS_AT(as_hypothesis *, &plan->further, i);
        if (same_exponent(h->power.power, power.power) && same_exponent(h->power.log, power.log)) found = h;
    }
    if (!found) found = make_further(plan, power);
    pthread_mutex_unlock(&plan->lock);
    return found;
}

/* ---- the basic modeler ------------------------------------------------------------------------------------------- */

size_t as_line_scratch(size_t n) { return 3 * n * AS_LANES; }

void as_line_basic(const as_line_plan *plan, const double *y, size_t lanes, double *scratch, as_line_fit *out) {
    as_line_verdict verdict;
    double *column = scratch; /* of one series at a time; the kernel uses scratch between */
    for (size_t lane = 0; lane < AS_LANES; lane++) {
        for (size_t i = 0; i < plan->n; i++) column[i] = y[i * AS_LANES + lane];
        as_line_fit constant;
        as_constant_fit(column, plan->n, lane < lanes ? &out[lane] : &constant);
        verdict.best[lane] = as_score(lane < lanes ? &out[lane].costs : &constant.costs, &plan->options);
        verdict.second[lane] = INFINITY;
    }
    as_line_judge(plan, y, scratch, &verdict);
    for (size_t lane = 0; lane < lanes; lane++) {
        double tss = out[lane].costs.RSS;
        if (tss == 0) continue; /* a constant, whatever else would do */
        for (size_t i = 0; i < plan->n; i++) column[i] = y[i * AS_LANES + lane];
        int32_t term = (int32_t)verdict.best_term[lane];
        if (term >= 0) {
            as_hypothesis_fit(&plan->hypotheses[term], column, plan->n, tss, &plan->options, &out[lane]);
            out[lane].term = term;
        }
        out[lane].rival = (int32_t)verdict.second_term[lane];
        out[lane].rival_score = verdict.second[lane];
    }
}
