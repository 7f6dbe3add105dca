/* The best model of each uid: another order of growth is a change, where both models fit well. */
#include "analysis/checks/checks_private.h"

static int order_of(as_curve_model model) {
    static const int orders[] = {[AS_CURVE_CONSTANT] = 0,  [AS_CURVE_LOGARITHMIC] = 1, [AS_CURVE_LINEAR] = 2,
                                 [AS_CURVE_QUADRATIC] = 3, [AS_CURVE_POWER] = 4,       [AS_CURVE_EXPONENTIAL] = 5};
    return orders[model];
}

static bool compare_pair(as_checking *checking, const as_curve_pair *pair) {
    const as_curve *base = pair->base, *target = pair->target;
    as_check_change *change = as_check_add(checking, AS_CHECK_ORDER, NULL, target->uid);
    if (!change) return false;
    change->type = "model";
    change->from = as_curve_name(base->model);
    change->to = as_curve_name(target->model);
    change->confidence_type = "r_square";
    change->confidence = fmin(base->r_square, target->r_square);
    if (change->confidence >= 0.9 && base->model != target->model) {
        change->rate = order_of(target->model) - order_of(base->model);
        change->result = change->rate < 0 ? AS_OPTIMIZATION : AS_DEGRADATION;
    }
    return true;
}

bool as_check_order(as_checking *checking) {
    as_vec pairs;
    as_vec_init(&pairs, sizeof(as_curve_pair), as_ds_budget(checking->sides[AS_SIDE_TARGET]));
    bool is_done = as_check_pairs(checking, AS_BEST_PARAM, &pairs);
    for (size_t i = 0; is_done && i < pairs.count; i++)
        is_done = compare_pair(checking, &AS_AT(as_curve_pair, &pairs, i));
    as_vec_free(&pairs);
    return is_done;
}
