/* The checks by regression: best models are compared at 1000 points; they differ in how they say what kind of change it
 * is. */
#include "analysis/checks/checks_private.h"

/* What the three checks look at for one uid. */
typedef struct quadruple {
    const as_curve *base, *target;               /* the best ones */
    const as_curve *linear_base, *linear_target; /* NULL: there are none; never with Perun's numbers */
    as_curve_samples of_base, of_target;
    double x[AS_CHECK_SAMPLES];     /* the base's */
    double error[AS_CHECK_SAMPLES]; /* target - base */
    double linear_error[AS_CHECK_SAMPLES];
} quadruple;

static void subtract(const as_curve_samples *target, const as_curve_samples *base, double *out) {
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) out[i] = target->y[i] - base->y[i];
}

static double sum(const double *values) {
    double total = 0;
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) total += values[i];
    return total;
}

/* NAN where one of them is. */
static double largest_of(const double *values) {
    double largest = values[0];
    for (size_t i = 1; i < AS_CHECK_SAMPLES && !isnan(largest); i++)
        if (!(values[i] <= largest)) largest = values[i];
    return largest;
}

/* Perun's rule: coefficients that differ by at most 5 %, whatever they are of. */
static bool is_quiet(const quadruple *q) {
    for (int i = 0; i < 2; i++) {
        double base = q->base->coefficients[i], target = q->target->coefficients[i];
        if (i == 1 && q->base->n_coefficients < 2) base = 0;
        if (i == 1 && q->target->n_coefficients < 2) target = 0;
        if (!(fabs(target - base) <= fabs(0.05 * base))) return false;
    }
    return true;
}

static bool find_kind(as_checking *checking, as_check check, const quadruple *q, as_check_change *change) {
    bool has_lines = q->linear_base && q->linear_target;
    const double *error = has_lines ? q->linear_error : q->error;
    const char *kind = NULL;
    if (check == AS_CHECK_POLYNOMIAL)
        kind = as_growth_by_polynomials(checking, q->x, error);
    else if (check == AS_CHECK_FAST)
        kind = as_growth_by_regression(checking, q->x, q->error);
    else {
        as_line_growth growth = {.x = q->x,
                                 .error = error,
                                 .largest = 0.05 * largest_of(q->error),
                                 .b0 = q->target->coefficients[0] - q->base->coefficients[0],
                                 .b1 = has_lines ? q->linear_target->coefficients[1] - q->linear_base->coefficients[1]
                                                 : NAN,
                                 .is_flat = q->base->model == AS_CURVE_LINEAR || q->base->model == AS_CURVE_CONSTANT};
        kind = as_growth_by_line(checking, &growth);
    }
    change->type = kind;
    return kind != NULL;
}

/* ---- Perun's numbers --------------------------------------------------------------------------------------------- */

static bool sample_as_perun(as_checking *checking, quadruple *q) {
    if (!as_curve_sample_as_perun(checking, q->linear_base, &q->of_base) ||
        !as_curve_sample_as_perun(checking, q->linear_target, &q->of_target))
        return false;
    subtract(&q->of_target, &q->of_base, q->linear_error);
    if (!as_curve_sample_as_perun(checking, q->base, &q->of_base) ||
        !as_curve_sample_as_perun(checking, q->target, &q->of_target))
        return false;
    subtract(&q->of_target, &q->of_base, q->error);
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) q->x[i] = q->of_base.x[i];
    return true;
}

static void judge_as_perun(const quadruple *q, as_check_change *change) {
    double relative[AS_CHECK_SAMPLES], total = sum(q->error);
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) relative[i] = as_finite_number(q->error[i] / q->of_base.y[i]);
    change->rate = sum(relative) / AS_CHECK_SAMPLES * 100;
    change->confidence = fmin(q->base->r_square, q->linear_target->r_square);
    if (is_quiet(q)) return;
    if (total > 0)
        change->result = change->rate > 25 ? AS_DEGRADATION : AS_MAYBE_DEGRADATION;
    else
        change->result = change->rate < -25 ? AS_OPTIMIZATION : AS_MAYBE_OPTIMIZATION;
}

/* ---- the right ones ---------------------------------------------------------------------------------------------- */

/* On the range that both models have; false where there is none, or one is not defined there. */
static bool sample(quadruple *q) {
    double low, high;
    if (!as_curve_has_formula(q->base) || !as_curve_has_formula(q->target) ||
        !as_common_range(q->base, q->target, &low, &high))
        return false;
    if (q->linear_base && q->linear_target) {
        as_curve_sample(q->linear_base, low, high, &q->of_base);
        as_curve_sample(q->linear_target, low, high, &q->of_target);
        subtract(&q->of_target, &q->of_base, q->linear_error);
    }
    as_curve_sample(q->base, low, high, &q->of_base);
    as_curve_sample(q->target, low, high, &q->of_target);
    subtract(&q->of_target, &q->of_base, q->error);
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) {
        q->x[i] = q->of_base.x[i];
        if (!isfinite(q->error[i])) return false;
    }
    return true;
}

static void judge(const quadruple *q, as_check_change *change) {
    double size = 0, difference = sum(q->error);
    for (size_t i = 0; i < AS_CHECK_SAMPLES; i++) size += fabs(q->of_base.y[i]);
    change->rate = difference == 0 ? 0 : difference / size;
    change->result = is_quiet(q) || change->rate == 0 ? AS_NO_CHANGE : as_check_classify(change->rate, 0, 0.25);
}

/* ---- all uids ---------------------------------------------------------------------------------------------------- */

static bool compare_uid(as_checking *checking, as_check check, quadruple *q) {
    as_check_change *change = as_check_add(checking, check, NULL, q->target->uid);
    if (!change) return false;
    change->type = "";
    change->from = as_curve_name(q->base->model);
    change->to = as_curve_name(q->target->model);
    change->confidence_type = "r_square";
    if (checking->is_compatible) {
        if (!sample_as_perun(checking, q)) return false;
        judge_as_perun(q, change);
    } else {
        change->confidence = fmin(q->base->r_square, q->target->r_square);
        if (!sample(q)) {
            change->result = AS_UNKNOWN;
            change->rate = NAN;
            return true;
        }
        judge(q, change);
    }
    return change->result == AS_NO_CHANGE || find_kind(checking, check, q, change);
}

bool as_check_general(as_checking *checking, as_check check) {
    as_budget *budget = as_ds_budget(checking->sides[AS_SIDE_TARGET]);
    as_vec pairs, linear[2];
    quadruple q;
    as_vec_init(&pairs, sizeof(as_curve_pair), budget);
    for (int side = 0; side < 2; side++) as_vec_init(&linear[side], sizeof(const as_curve *), budget);
    bool is_done = as_check_pairs(checking, AS_BEST_PARAM, &pairs) && as_check_linear_curves(checking, 0, &linear[0]) &&
                   as_check_linear_curves(checking, 1, &linear[1]);
    for (size_t i = 0; is_done && i < pairs.count; i++) {
        q.base = AS_AT(as_curve_pair, &pairs, i).base;
        q.target = AS_AT(as_curve_pair, &pairs, i).target;
        q.linear_base = as_check_find_curve(&linear[0], q.base->uid);
        q.linear_target = as_check_find_curve(&linear[1], q.base->uid);
        if (checking->is_compatible && (!q.linear_base || !q.linear_target)) continue;
        is_done = compare_uid(checking, check, &q);
    }
    as_vec_free(&pairs);
    for (int side = 0; side < 2; side++) as_vec_free(&linear[side]);
    return is_done;
}
