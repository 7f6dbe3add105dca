/* The stored models of both sides, matched. */
#include <stdlib.h>
#include <string.h>

#include "analysis/checks/checks_private.h"

/* Perun reads neither the models of snapshots nor those whose range has the keys of 2018. */
static void drop_what_perun_drops(as_curves *curves, const as_dataset *ds) {
    const as_table *table = as_ds_records(ds, "stored_model");
    size_t start = table ? as_table_find_column(table, "x_start") : SIZE_MAX, kept = 0;
    bool is_row_by_row = table && as_table_rows(table) == curves->curves.count;
    for (size_t i = 0; i < curves->curves.count; i++) {
        as_curve curve = AS_AT(as_curve, &curves->curves, i);
        if (curve.snapshot >= 0) continue;
        if (is_row_by_row && (start == SIZE_MAX || as_table_get(table, i, start).type == AS_CELL_NULL))
            curve.x_start = NAN;
        AS_AT(as_curve, &curves->curves, kept++) = curve;
    }
    curves->curves.count = kept;
}

assay_status as_check_load_curves(as_checking *checking) {
    for (int side = 0; side < 2; side++) {
        AS_TRY(as_stored_curves(checking->sides[side], &checking->curves[side], checking->error));
        if (checking->is_compatible) drop_what_perun_drops(&checking->curves[side], checking->sides[side]);
    }
    return ASSAY_OK;
}

static int compare_uids(const void *a, const void *b) {
    const as_curve *x = *(const as_curve *const *)a, *y = *(const as_curve *const *)b;
    int order = strcmp(x->uid, y->uid);
    if (!order && x->model != y->model) order = strcmp(as_curve_name(x->model), as_curve_name(y->model));
    return order ? order : x < y ? -1 : x > y; /* curves of one side lie in one array */
}

static void sort_curves(as_vec *curves) {
    if (curves->count) qsort(curves->data, curves->count, sizeof(const as_curve *), compare_uids);
}

/* Whether Perun can make its record of the model. */
static bool is_whole(const as_curve *curve) {
    if (isnan(curve->x_start) || isnan(curve->x_end) || !as_curve_word(curve)) return false;
    return curve->n_coefficients > 1 || (!as_curve_is_parametric(curve->model) && curve->bucket_stats);
}

static bool is_in_group(const as_curve *curve, as_strategy strategy) {
    if (strategy == AS_BEST_MODEL) return true;
    if (strategy == AS_BEST_PARAM || strategy == AS_ALL_PARAM) return as_curve_is_parametric(curve->model);
    return !as_curve_is_parametric(curve->model) && curve->model != AS_CURVE_OTHER;
}

/* By uid, then as in the file. */
static int compare_order(const void *a, const void *b) {
    const as_curve *x = *(const as_curve *const *)a, *y = *(const as_curve *const *)b;
    int order = strcmp(x->uid, y->uid);
    return order ? order : x < y ? -1 : x > y; /* curves of one side lie in one array */
}

/* Perun makes a record of every model that fits better than those of its uid before it, or of all: where one lacks what
 * a record has, it ends with an exception. */
static bool check_records(as_checking *checking, int side, as_strategy strategy) {
    const as_vec *curves = &checking->curves[side].curves;
    bool takes_all = strategy == AS_ALL_PARAM || strategy == AS_ALL_NONPARAM, is_done = true;
    as_vec group;
    as_vec_init(&group, sizeof(const as_curve *), curves->budget);
    for (size_t i = 0; is_done && i < curves->count; i++) {
        const as_curve *curve = &AS_AT(as_curve, curves, i);
        if (curve->uid && is_in_group(curve, strategy)) is_done = as_vec_append(&group, &curve, 1);
    }
    if (group.count) qsort(group.data, group.count, sizeof(const as_curve *), compare_order);
    double best = 0;
    for (size_t i = 0; is_done && i < group.count; i++) {
        const as_curve *curve = AS_AT(const as_curve *, &group, i);
        if (i == 0 || strcmp(AS_AT(const as_curve *, &group, i - 1)->uid, curve->uid) != 0) best = 0;
        if (!takes_all && !(curve->r_square > best)) continue;
        best = curve->r_square;
        if (!is_whole(curve)) is_done = as_check_fails(checking, "a model lacks its name, range or coefficients");
    }
    as_vec_free(&group);
    return is_done;
}

/* The curves of one side that a strategy takes, in order. */
static bool pick(as_checking *checking, int side, as_strategy strategy, as_vec *out) {
    const as_curves *curves = &checking->curves[side];
    as_vec indices;
    as_vec_init(&indices, sizeof(size_t), out->budget);
    bool is_done = (!checking->is_compatible || check_records(checking, side, strategy)) &&
                   as_strategy_pick(curves, strategy, &indices) && as_vec_reserve(out, indices.count);
    for (size_t i = 0; is_done && i < indices.count; i++) {
        const as_curve *curve = &AS_AT(as_curve, &curves->curves, AS_AT(size_t, &indices, i));
        if (curve->uid) as_vec_append(out, &curve, 1); /* room was reserved */
    }
    as_vec_free(&indices);
    sort_curves(out);
    return is_done;
}

bool as_check_pairs(as_checking *checking, as_strategy strategy, as_vec *pairs) {
    bool by_model = strategy == AS_ALL_PARAM || strategy == AS_ALL_NONPARAM, is_done = true;
    as_vec picked[2];
    for (int side = 0; side < 2; side++) {
        as_vec_init(&picked[side], sizeof(const as_curve *), pairs->budget);
        is_done = is_done && pick(checking, side, strategy, &picked[side]);
    }
    for (size_t b = 0, t = 0; is_done && b < picked[0].count && t < picked[1].count;) {
        as_curve_pair pair = {AS_AT(const as_curve *, &picked[0], b), AS_AT(const as_curve *, &picked[1], t)};
        int order = strcmp(pair.base->uid, pair.target->uid);
        if (!order && by_model && pair.base->model != pair.target->model)
            order = strcmp(as_curve_name(pair.base->model), as_curve_name(pair.target->model));
        if (!order) is_done = as_vec_append(pairs, &pair, 1);
        b += order <= 0;
        t += order >= 0;
    }
    for (int side = 0; side < 2; side++) as_vec_free(&picked[side]);
    return is_done;
}

bool as_check_linear_curves(as_checking *checking, int side, as_vec *out) {
    const as_vec *curves = &checking->curves[side].curves;
    for (size_t i = 0; i < curves->count; i++) {
        const as_curve *curve = &AS_AT(as_curve, curves, i);
        if (curve->model != AS_CURVE_LINEAR || !curve->uid) continue;
        if (checking->is_compatible && !is_whole(curve))
            return as_check_fails(checking, "a model lacks its range or coefficients");
        if (!as_vec_append(out, &curve, 1)) return false;
    }
    sort_curves(out);
    size_t n = 0;
    for (size_t i = 0; i < out->count; i++) {
        const as_curve *curve = AS_AT(const as_curve *, out, i);
        bool is_last = i + 1 == out->count || strcmp(curve->uid, AS_AT(const as_curve *, out, i + 1)->uid) != 0;
        if (is_last && curve->r_square != 0) AS_AT(const as_curve *, out, n++) = curve;
    }
    out->count = n;
    return true;
}

static int compare_uid(const void *uid, const void *curve) {
    return strcmp(uid, (*(const as_curve *const *)curve)->uid);
}

const as_curve *as_check_find_curve(const as_vec *curves, const char *uid) {
    const as_curve *const *found =
        curves->count ? bsearch(uid, curves->data, curves->count, sizeof *found, compare_uid) : NULL;
    return found ? *found : NULL;
}

bool as_common_range(const as_curve *base, const as_curve *target, double *low, double *high) {
    *low = fmax(base->x_start, target->x_start);
    *high = fmin(base->x_end, target->x_end);
    return isfinite(base->x_start) && isfinite(base->x_end) && isfinite(target->x_start) && isfinite(target->x_end) &&
           *low <= *high;
}

bool as_curve_has_formula(const as_curve *curve) {
    return as_curve_is_parametric(curve->model) &&
           curve->n_coefficients >= (curve->model == AS_CURVE_CONSTANT ? 1u : 2u);
}

static bool is_sure(const as_checking *checking, const as_curve_pair *pair) {
    double least = fmin(pair->base->r_square, pair->target->r_square);
    return (checking->is_compatible ? as_round_decimals(least, 2) : least) >= 0.15;
}

/* The models go before the report does. */
static const char *word_of(as_checking *checking, const as_curve *curve) {
    const char *word = as_curve_word(curve);
    return as_check_text(checking, word ? word : "-");
}

static as_check_change *add_pair(as_checking *checking, as_check check, const char *strategy,
                                 const as_curve_pair *pair) {
    as_check_change *change = as_check_add(checking, check, strategy, pair->target->uid);
    if (!change) return NULL;
    change->from = word_of(checking, pair->base);
    change->to = word_of(checking, pair->target);
    if (!change->from || !change->to) return NULL;
    change->confidence_type = "r_square";
    change->confidence = fmin(pair->base->r_square, pair->target->r_square);
    return change;
}

bool as_check_compare_pairs(as_checking *checking, as_check check, as_strategy strategy, const char *name,
                            as_pair_compare *compare) {
    as_vec pairs;
    as_vec_init(&pairs, sizeof(as_curve_pair), as_ds_budget(checking->sides[AS_SIDE_TARGET]));
    bool is_done = as_check_pairs(checking, strategy, &pairs);
    for (size_t i = 0; is_done && i < pairs.count; i++) {
        const as_curve_pair *pair = &AS_AT(as_curve_pair, &pairs, i);
        if (!is_sure(checking, pair)) continue;
        as_check_change *change = add_pair(checking, check, name, pair);
        is_done = change && compare(checking, pair, change);
    }
    as_vec_free(&pairs);
    return is_done;
}
