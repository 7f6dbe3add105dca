/* Runs the checks, and what all of them share. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/checks/checks_private.h"

static const struct {
    const char *name, *letters;
} names[AS_N_CHECKS] = {
    [AS_CHECK_AMOUNT] = {"average_amount_threshold", "aat"},
    [AS_CHECK_ORDER] = {"best_model_order_equality", "bmoe"},
    [AS_CHECK_POLYNOMIAL] = {"polynomial_regression", "preg"},
    [AS_CHECK_LINEAR] = {"linear_regression", "lreg"},
    [AS_CHECK_FAST] = {"fast_check", "fast"},
    [AS_CHECK_INTEGRAL] = {"integral_comparison", "int"},
    [AS_CHECK_LOCAL] = {"local_statistics", "loc"},
    [AS_CHECK_OUTLIERS] = {"exclusive_time_outliers", "eto"},
};

const char *as_check_name(as_check check) { return names[check].name; }
const char *as_check_short_name(as_check check) { return names[check].letters; }

bool as_check_find(const char *name, as_check *out) {
    for (int i = 0; i < AS_N_CHECKS; i++) {
        if (strcmp(name, names[i].name) != 0 && strcmp(name, names[i].letters) != 0) continue;
        *out = (as_check)i;
        return true;
    }
    return false;
}

const char *as_result_name(as_result result) {
    static const char *const words[] = {"Unknown",      "NotInBaseline",      "TotalDegradation",  "SevereDegradation",
                                        "Degradation",  "MaybeDegradation",   "NoChange",          "MaybeOptimization",
                                        "Optimization", "SevereOptimization", "TotalOptimization", "NotInTarget"};
    return words[result - AS_UNKNOWN];
}

/* ---- what the checks share --------------------------------------------------------------------------------------- */

as_check_change *as_check_add(as_checking *checking, as_check check, const char *strategy, const char *location) {
    const char *copy = as_check_text(checking, location);
    as_check_change *change = copy ? as_vec_push(&checking->out->changes) : NULL;
    if (change) *change = (as_check_change){.check = check, .strategy = strategy, .location = copy, .type = "-"};
    return change;
}

const char *as_check_text(as_checking *checking, const char *text) {
    return as_arena_copy(&checking->out->arena, text, strlen(text));
}

const char *as_check_number_text(as_checking *checking, double value, int decimals, const char *unit) {
    char digits[AS_NUMBER_SIZE];
    size_t n = as_real_format_python(as_round_decimals(value, decimals), digits), m = strlen(unit);
    char *text = as_arena_alloc(&checking->out->arena, n + m + 1);
    if (!text) return NULL;
    memcpy(text, digits, n);
    memcpy(text + n, unit, m);
    return text;
}

bool as_check_fails(as_checking *checking, const char *reason) {
    checking->failure = reason;
    return false;
}

assay_status as_check_memory(as_checking *checking) { return as_fail_memory(checking->error, NULL); }

double as_round_decimals(double value, int decimals) {
    char digits[400];
    double rounded = value;
    if (!isfinite(value) || fabs(value) >= 1e17) return value;
    size_t n = as_real_format_digits(value, false, decimals, digits, sizeof digits);
    return n && as_real_parse(digits, n, &rounded) ? rounded : value;
}

as_result as_check_classify(double difference, double none, double sure) {
    if (fabs(difference) <= none) return AS_NO_CHANGE;
    if (fabs(difference) <= sure) return difference < 0 ? AS_MAYBE_OPTIMIZATION : AS_MAYBE_DEGRADATION;
    return difference < 0 ? AS_OPTIMIZATION : AS_DEGRADATION;
}

double as_finite_number(double value) {
    if (isnan(value)) return 0;
    return isinf(value) ? copysign(DBL_MAX, value) : value;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static bool skip(as_checking *checking, as_check check, const char *reason) {
    as_check_skipped *skipped = as_vec_push(&checking->out->skipped);
    if (skipped) *skipped = (as_check_skipped){.check = check, .reason = as_check_text(checking, reason)};
    return skipped && skipped->reason;
}

static int compare_changes(const void *a, const void *b) {
    const as_check_change *x = a, *y = b;
    int order = strcmp(x->location, y->location);
    if (!order) order = strcmp(x->from, y->from);
    if (!order) order = strcmp(x->to, y->to);
    return order ? order : as_real_compare(&x->rate, &y->rate);
}

/* What a check leaves: its changes in order, or none of them and the reason. */
static bool finish(as_checking *checking, as_check check, size_t first, bool is_done) {
    as_vec *changes = &checking->out->changes;
    if (checking->failure) {
        changes->count = first;
        bool is_noted = skip(checking, check, checking->failure);
        checking->failure = NULL;
        return is_noted;
    }
    if (is_done && changes->count - first > 1)
        qsort(&AS_AT(as_check_change, changes, first), changes->count - first, sizeof(as_check_change),
              compare_changes);
    return is_done;
}

static bool run_strategies(as_checking *checking, as_check check, unsigned strategies) {
    /* the strategies that are two passes of others */
    static const as_strategy passes[AS_N_STRATEGIES][2] = {
        [AS_ALL_MODELS] = {AS_ALL_PARAM, AS_ALL_NONPARAM}, [AS_BEST_BOTH] = {AS_BEST_PARAM, AS_BEST_NONPARAM}};
    for (int i = 0; i < AS_N_STRATEGIES; i++) {
        if (!(strategies >> i & 1)) continue;
        bool is_double = i == AS_ALL_MODELS || i == AS_BEST_BOTH, is_done = true;
        size_t first = checking->out->changes.count;
        for (int pass = 0; is_done && pass < 1 + is_double; pass++) {
            as_strategy strategy = is_double ? passes[i][pass] : (as_strategy)i;
            const char *name = as_strategy_name((as_strategy)i);
            is_done = check == AS_CHECK_INTEGRAL ? as_check_integral(checking, strategy, name)
                                                 : as_check_local(checking, strategy, name);
        }
        if (!finish(checking, check, first, is_done)) return false;
    }
    return true;
}

static bool needs_models(as_check check) { return check != AS_CHECK_AMOUNT && check != AS_CHECK_OUTLIERS; }

static bool run_one(as_checking *checking, as_check check, unsigned strategies) {
    size_t first = checking->out->changes.count;
    if (needs_models(check)) {
        for (int side = 0; side < 2; side++) {
            if (checking->curves[side].curves.count) continue;
            return skip(checking, check,
                        side ? "the target has no stored models; `regress -o` writes a profile with them"
                             : "the base has no stored models; `regress -o` writes a profile with them");
        }
    }
    bool is_done = false;
    switch (check) {
    case AS_CHECK_AMOUNT: is_done = as_check_amounts(checking); break;
    case AS_CHECK_ORDER: is_done = as_check_order(checking); break;
    case AS_CHECK_INTEGRAL:
    case AS_CHECK_LOCAL: return run_strategies(checking, check, strategies);
    case AS_CHECK_OUTLIERS: is_done = as_check_outliers(checking); break;
    default: is_done = as_check_general(checking, check);
    }
    return finish(checking, check, first, is_done);
}

assay_status as_checks_run(const as_dataset *base, const as_dataset *target, const as_check_request *request,
                           as_check_report *out, assay_error *error) {
    as_budget *budget = as_ds_budget(target);
    *out = (as_check_report){0};
    as_vec_init(&out->changes, sizeof(as_check_change), budget);
    as_vec_init(&out->skipped, sizeof(as_check_skipped), budget);
    as_arena_init(&out->arena, budget);
    as_checking checking = {
        .sides = {base, target}, .is_compatible = request->is_compatible, .out = out, .error = error};
    unsigned strategies = request->strategies ? request->strategies : 1u << AS_BEST_MODEL, with_models = 0;
    for (int i = 0; i < AS_N_CHECKS; i++) with_models |= needs_models((as_check)i) ? 1u << i : 0;

    for (int side = 0; side < 2; side++) as_curves_init(&checking.curves[side], as_ds_budget(checking.sides[side]));
    assay_status status = request->checks & with_models ? as_check_load_curves(&checking) : ASSAY_OK;
    for (int i = 0; status == ASSAY_OK && i < AS_N_CHECKS; i++) {
        if (request->checks >> i & 1 && !run_one(&checking, (as_check)i, strategies))
            status = as_check_memory(&checking);
    }
    for (int side = 0; side < 2; side++) as_curves_free(&checking.curves[side]);
    if (checking.points_of) as_points_free(&checking.points);
    return status;
}

void as_check_report_free(as_check_report *report) {
    as_vec_free(&report->changes);
    as_vec_free(&report->skipped);
    as_arena_free(&report->arena);
}
