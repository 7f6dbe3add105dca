/* Models that came with Perun's profiles, where there are no measurements to fit others to. */
#include <math.h>
#include <string.h>

#include "analysis/regress/regress.h"
#include "analysis/verdict/growth.h"

static const double good_fit = 0.9;

/* What a curve grows like: by kind (a power beats a logarithm, an exponential everything), then by exponent. */
struct speed {
    int kind;
    double exponent;
};

static struct speed speed_of(const as_curve *curve) {
    const double *b = curve->coefficients;
    switch (curve->model) {
    case AS_CURVE_LOGARITHMIC: return (struct speed){1, 1};
    case AS_CURVE_LINEAR: return (struct speed){2, 1};
    case AS_CURVE_QUADRATIC: return (struct speed){2, 2};
    case AS_CURVE_POWER: return (struct speed){b[1] > 0 ? 2 : 0, fmax(b[1], 0)};
    case AS_CURVE_EXPONENTIAL: return (struct speed){b[1] > 1 ? 3 : 0, fmax(b[1], 0)};
    default: return (struct speed){0, 0};
    }
}

/* Exponents are real numbers: those that differ by less than a tenth are alike. */
static int compare_speeds(struct speed a, struct speed b) {
    if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
    if (a.kind == 3 || fabs(a.exponent - b.exponent) < 0.1) return 0;
    return a.exponent < b.exponent ? -1 : 1;
}

static const char *order_of(const as_curve *curve, as_arena *arena) {
    char number[AS_NUMBER_SIZE], text[AS_NUMBER_SIZE + 2] = "n^";
    switch (curve->model) {
    case AS_CURVE_LOGARITHMIC: return "log n";
    case AS_CURVE_LINEAR: return "n";
    case AS_CURVE_QUADRATIC: return "n^2";
    case AS_CURVE_EXPONENTIAL: return "exponential";
    case AS_CURVE_POWER: break;
    default: return "1";
    }
    size_t size = as_real_format(as_real_round(curve->coefficients[1], 3), number);
    memcpy(text + 2, number, size + 1);
    return as_arena_copy(arena, text, size + 2);
}

static void judge_order(const as_curve *const curves[2], const as_growth_request *request, as_growth_change *change) {
    bool higher_is_better;
    as_growth_threshold(request, change, &higher_is_better);
    bool is_sure = curves[0]->r_square >= good_fit && curves[1]->r_square >= good_fit;
    change->change = compare_speeds(speed_of(curves[1]), speed_of(curves[0]));
    change->order_outcome =
        change->change ? as_growth_outcome((change->change > 0) != higher_is_better, is_sure) : AS_OUTCOME_SAME;
}

/* Without intervals no difference there is sure. */
static void judge_point(const as_curve *const curves[2], const as_growth_request *request, as_growth_change *change) {
    change->at_outcome = AS_OUTCOME_SAME;
    change->relative = NAN;
    for (size_t s = 0; s < 2; s++) {
        change->interval[s] = (as_interval){NAN, NAN};
        change->value[s] = request->point ? as_curve_at(curves[s], request->point[0]) : NAN;
    }
    double difference = change->value[1] - change->value[0];
    if (!isfinite(difference)) return;
    change->relative = as_relative_change(change->value[0], difference);
    bool higher_is_better;
    double threshold = as_growth_threshold(request, change, &higher_is_better);
    if (fabs(change->relative) > threshold)
        change->at_outcome = as_growth_outcome((difference > 0) != higher_is_better, false);
}

static const char *metric_of(const as_curve *curve) { return curve->of_key ? curve->of_key : "amount"; }

static bool is_kept(const as_growth_request *request, const as_curve *curve) {
    return !request->keeps || request->keeps(request->user, metric_of(curve), curve->uid);
}

static bool add_change(const as_curve *const curves[2], const as_growth_request *request, as_growths *out) {
    as_growth_change *change = &out->changes[out->n++];
    change->path = as_arena_copy(&out->arena, curves[0]->uid, strlen(curves[0]->uid));
    change->metric = as_arena_copy(&out->arena, metric_of(curves[0]), strlen(metric_of(curves[0])));
    for (size_t s = 0; s < 2; s++) {
        change->order[s] = order_of(curves[s], &out->arena);
        change->function[s] = as_curve_name(curves[s]->model);
        if (!change->order[s]) return false;
    }
    if (!change->path || !change->metric) return false;
    judge_order(curves, request, change);
    judge_point(curves, request, change);
    return true;
}

/* The best parametric curve of each uid on both sides. */
static bool match_curves(const as_curves curves[2], const as_vec picks[2], const as_growth_request *request,
                         as_growths *out) {
    as_strings uids;
    uint32_t *first = as_arena_array(&out->arena, picks[0].count + 1, sizeof *first);
    out->changes = as_arena_array(&out->arena, picks[1].count + 1, sizeof *out->changes);
    bool fine = first && out->changes;
    as_strings_init(&uids, &out->arena);
    for (size_t i = 0; i < picks[0].count && fine; i++) {
        size_t index = AS_AT(size_t, &picks[0], i), known = uids.entries.count;
        const char *uid = AS_AT(as_curve, &curves[0].curves, index).uid;
        if (!is_kept(request, &AS_AT(as_curve, &curves[0].curves, index))) continue;
        as_str id = as_intern(&uids, uid, strlen(uid));
        fine = id != AS_NO_STR;
        if (fine && id == known) first[id] = (uint32_t)index;
    }
    bool *is_taken = fine ? as_arena_array(&out->arena, uids.entries.count + 1, sizeof *is_taken) : NULL;
    fine = is_taken != NULL;
    for (size_t i = 0; i < picks[1].count && fine; i++) {
        const as_curve *target = &AS_AT(as_curve, &curves[1].curves, AS_AT(size_t, &picks[1], i));
        if (!is_kept(request, target)) continue;
        as_str id = as_find(&uids, target->uid, strlen(target->uid));
        if (id == AS_NO_STR) out->n_only[1]++;
        if (id == AS_NO_STR || is_taken[id]) continue;
        is_taken[id] = true;
        const as_curve *const both[2] = {&AS_AT(as_curve, &curves[0].curves, first[id]), target};
        fine = add_change(both, request, out);
    }
    if (fine) out->n_only[0] = uids.entries.count - out->n;
    as_strings_free(&uids);
    return fine;
}

assay_status as_growths_find_stored(const as_dataset *const sides[2], const as_growth_request *request, as_growths *out,
                                    assay_error *error) {
    as_curves curves[2];
    as_vec picks[2];
    *out = (as_growths){
        .has_point = request->point != NULL, .threshold = request->threshold, .confidence = request->confidence};
    as_arena_init(&out->arena, NULL);
    assay_status status = ASSAY_OK;
    for (size_t s = 0; s < 2; s++) {
        as_curves_init(&curves[s], NULL);
        as_vec_init(&picks[s], sizeof(size_t), NULL);
        if (status == ASSAY_OK) status = as_stored_curves(sides[s], &curves[s], error);
        if (status == ASSAY_OK && !as_strategy_pick(&curves[s], AS_BEST_PARAM, &picks[s]))
            status = as_fail_memory(error, NULL);
    }
    if (status == ASSAY_OK && !match_curves(curves, picks, request, out)) status = as_fail_memory(error, NULL);
    if (status == ASSAY_OK) as_growths_rank(out);
    if (request->point) as_real_format(request->point[0], out->label);
    for (size_t s = 0; s < 2; s++) {
        as_vec_free(&picks[s]);
        as_curves_free(&curves[s]);
    }
    return status;
}
