/* How the models of two sides differ. */
#include "analysis/verdict/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/scaling/evaluate.h"
#include "core/parallel.h"

enum { FARTHER = 4, DIGITS = 3 };
static const double good_fit = 0.9; /* of a model's own adjusted R^2, as Perun has it */

struct match {
    assay_id model[2];
    uint32_t series[2]; /* UINT32_MAX: not fitted here */
    bool is_doubtful;   /* the fit itself says that it means little */
};

struct work {
    const as_growth_side *sides;
    const as_growth_request *request;
    struct match *matches;
    as_growths *out;
    double *far; /* the point that is far beyond all measured ones */
    bool *failed;
};

bool as_growths_fit(const as_dataset *base, const as_dataset *target) {
    if (as_ds_parameters(base) != as_ds_parameters(target)) return false;
    for (size_t i = 0; i < as_ds_parameters(base); i++)
        if (strcmp(as_ds_parameter(base, i), as_ds_parameter(target, i)) != 0) return false;
    return true;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

static size_t models_of(const as_growth_side *side) { return side->fit ? side->fit->n : AS_COUNT(side->ds, models); }
static assay_id model_of(const as_growth_side *side, size_t i) {
    return (assay_id)(side->fit ? side->fit->first_model + i : i);
}

static as_str key_of(const as_growth_side *side, size_t i, as_strings *keys, as_vec *text, bool is_new) {
    const as_model *model = as_ds_model(side->ds, model_of(side, i));
    const char *metric = as_ds_text(side->ds, as_ds_metric(side->ds, model->metric)->name);
    if (!metric) metric = "";
    as_vec path;
    as_vec_init(&path, 1, NULL);
    text->count = 0;
    bool fine = as_vec_append(text, metric, strlen(metric) + 1) && as_context_path(side->ds, model->context, &path) &&
                as_vec_append(text, path.data, path.count);
    as_vec_free(&path);
    if (!fine) return AS_NO_STR;
    return is_new ? as_intern(keys, text->data, text->count) : as_find(keys, text->data, text->count);
}

/* Each side's first model of a call path and metric. */
static bool match_models(struct work *w) {
    const as_growth_side *base = &w->sides[0], *target = &w->sides[1];
    size_t n = models_of(base), n_target = models_of(target);
    as_strings keys;
    as_vec text;
    as_strings_init(&keys, &w->out->arena);
    as_vec_init(&text, 1, NULL);
    uint32_t *first = as_arena_array(&w->out->arena, n + 1, sizeof *first);
    bool *is_taken = as_arena_array(&w->out->arena, n + 1, sizeof *is_taken);
    w->matches = as_arena_array(&w->out->arena, n + 1, sizeof *w->matches);
    w->out->changes = as_arena_array(&w->out->arena, n + 1, sizeof *w->out->changes);
    bool fine = first && is_taken && w->matches && w->out->changes;
    for (size_t i = 0; i < n && fine; i++) {
        size_t known = keys.entries.count;
        as_str id = key_of(base, i, &keys, &text, true);
        fine = id != AS_NO_STR;
        if (fine && id == known) first[id] = (uint32_t)i;
    }
    for (size_t i = 0; i < n_target && fine; i++) {
        as_str id = key_of(target, i, &keys, &text, false);
        if (id == AS_NO_STR) w->out->n_only[1]++;
        if (id == AS_NO_STR || is_taken[id]) continue;
        is_taken[id] = true;
        const size_t at[2] = {first[id], i};
        struct match *match = &w->matches[w->out->n];
        as_growth_change *change = &w->out->changes[w->out->n++];
        for (size_t s = 0; s < 2; s++) {
            const as_fit_note *note = w->sides[s].fit ? &w->sides[s].fit->notes[at[s]] : NULL;
            match->model[s] = model_of(&w->sides[s], at[s]);
            match->series[s] = note ? note->series : UINT32_MAX;
            match->is_doubtful |= note && (note->flags & (AS_FIT_FEW_POINTS | AS_FIT_CUT | AS_FIT_TIE));
        }
        change->metric = as_str_text(&keys, id);
        change->path = change->metric + strlen(change->metric) + 1;
    }
    if (fine) w->out->n_only[0] = keys.entries.count - w->out->n;
    as_vec_free(&text);
    as_strings_free(&keys);
    return fine;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static bool describe(struct work *w, size_t i) {
    as_growth_change *change = &w->out->changes[i];
    as_vec text;
    bool fine = true;
    as_vec_init(&text, 1, NULL);
    for (size_t s = 0; s < 2 && fine; s++) {
        const as_dataset *ds = w->sides[s].ds;
        const as_model *model = as_ds_model(ds, w->matches[i].model[s]);
        const char *unit = as_ds_text(ds, as_ds_metric(ds, model->metric)->unit);
        if (unit && *unit) change->unit = as_arena_copy(&w->out->arena, unit, strlen(unit));
        fine = as_growth_text(ds, model, &text) &&
               (change->order[s] = as_arena_copy(&w->out->arena, text.data, strlen(text.data))) &&
               as_model_function_rounded(ds, model, DIGITS, &text) &&
               (change->function[s] = as_arena_copy(&w->out->arena, text.data, strlen(text.data)));
    }
    as_vec_free(&text);
    return fine;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* By order alone: of the coefficients only the signs count. */
static int compare_orders(const struct work *w, const struct match *match) {
    as_growth growth[2];
    for (size_t s = 0; s < 2; s++) {
        growth[s] = as_model_growth(w->sides[s].ds, as_ds_model(w->sides[s].ds, match->model[s]));
        growth[s].coefficient = growth[s].order == AS_ORDER_CONSTANT ? 1 : copysign(1, growth[s].coefficient);
    }
    return as_growth_compare(&growth[1], &growth[0]);
}

/* The intervals at a point: those that are shown, and those that decide, wider for the number of models that are
 * compared. */
static bool forecast(const struct work *w, const struct match *match, const double *point, as_interval *shown,
                     as_interval deciding[2]) {
    double confidence = w->request->confidence, all = 1 - (1 - confidence) / (double)w->out->n;
    for (size_t s = 0; s < 2; s++) {
        deciding[s] = shown[s] = (as_interval){NAN, NAN};
        if (match->series[s] == UINT32_MAX) continue;
        const as_dataset *ds = w->sides[s].ds;
        as_forecast *made =
            as_forecast_new(ds, &w->sides[s].fit->options, match->series[s], as_ds_model(ds, match->model[s]));
        if (!made) return false;
        deciding[s] = as_forecast_at(made, point, all);
        shown[s] = as_forecast_at(made, point, confidence);
        as_forecast_free(made);
    }
    return true;
}

/* Whether the target's interval lies wholly above the base's (1), below (-1), or neither (0). */
static int apart(const as_interval interval[2]) {
    return interval[1].low > interval[0].high ? 1 : interval[1].high < interval[0].low ? -1 : 0;
}

/* Another order matters where it leads elsewhere: beyond the threshold at the far point, and beyond what either model
 * may be wrong by there. */
static bool judge_order(const struct work *w, size_t i) {
    const struct match *match = &w->matches[i];
    as_growth_change *change = &w->out->changes[i];
    double values[2];
    change->order_outcome = AS_OUTCOME_SAME;
    change->change = compare_orders(w, match);
    if (!change->change) return true;
    for (size_t s = 0; s < 2; s++)
        values[s] = as_model_at(w->sides[s].ds, as_ds_model(w->sides[s].ds, match->model[s]), w->far);
    bool is_sure, is_more = change->change > 0, higher_is_better;
    double threshold = as_growth_threshold(w->request, change, &higher_is_better);
    if (match->series[0] == UINT32_MAX) {
        is_sure = true;
        for (size_t s = 0; s < 2; s++) is_sure &= !(as_ds_model(w->sides[s].ds, match->model[s])->AR2 < good_fit);
    } else {
        as_interval shown[2], deciding[2];
        double relative = as_relative_change(values[0], values[1] - values[0]);
        int side = is_more ? 1 : -1;
        if (!(is_more ? relative > threshold : relative < -threshold)) return true;
        if (!forecast(w, match, w->far, shown, deciding)) return false;
        bool is_known = !isnan(shown[0].low) && !isnan(shown[1].low);
        if (is_known && apart(shown) != side) return true; /* noise turns one order into the next */
        is_sure = !match->is_doubtful && apart(deciding) == side;
    }
    change->order_outcome = as_growth_outcome(is_more != higher_is_better, is_sure);
    return true;
}

static bool judge_point(const struct work *w, size_t i) {
    as_growth_change *change = &w->out->changes[i];
    const struct match *match = &w->matches[i];
    change->at_outcome = AS_OUTCOME_SAME;
    change->relative = NAN;
    for (size_t s = 0; s < 2; s++) {
        change->interval[s] = (as_interval){NAN, NAN};
        change->value[s] = w->request->point ? as_model_at(w->sides[s].ds, as_ds_model(w->sides[s].ds, match->model[s]),
                                                           w->request->point)
                                             : NAN;
    }
    if (!isfinite(change->value[0]) || !isfinite(change->value[1])) return true;
    double difference = change->value[1] - change->value[0];
    change->relative = as_relative_change(change->value[0], difference);
    as_interval deciding[2];
    if (!forecast(w, match, w->request->point, change->interval, deciding)) return false;
    bool higher_is_better;
    double threshold = as_growth_threshold(w->request, change, &higher_is_better);
    if (!(fabs(change->relative) >= threshold) || difference == 0) return true;
    bool is_sure = apart(deciding) != 0, is_worse = (difference > 0) != higher_is_better;
    change->at_outcome = as_growth_outcome(is_worse, is_sure);
    return true;
}

static void judge(void *user, size_t i) {
    struct work *w = user;
    w->failed[i] = !judge_order(w, i) || !judge_point(w, i);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int by_outcome(const void *a, const void *b) {
    const as_growth_change *x = a, *y = b;
    int rank = as_outcome_rank(as_outcome_worse(x->order_outcome, x->at_outcome)) -
               as_outcome_rank(as_outcome_worse(y->order_outcome, y->at_outcome));
    if (rank) return rank;
    double differ[2] = {fabs(x->value[1] - x->value[0]), fabs(y->value[1] - y->value[0])};
    for (size_t i = 0; i < 2; i++)
        if (isnan(differ[i])) differ[i] = -1; /* behind all others, so that the order is one */
    if (differ[0] != differ[1]) return differ[0] > differ[1] ? -1 : 1;
    int metric = strcmp(x->metric, y->metric);
    return metric ? metric : strcmp(x->path, y->path);
}

void as_growths_rank(as_growths *growths) {
    growths->outcome = AS_OUTCOME_SAME;
    for (size_t i = 0; i < growths->n; i++) {
        as_outcome worse = as_outcome_worse(growths->changes[i].order_outcome, growths->changes[i].at_outcome);
        growths->counts[worse]++;
        growths->outcome = as_outcome_worse(growths->outcome, worse);
    }
    if (growths->n) qsort(growths->changes, growths->n, sizeof *growths->changes, by_outcome);
}

static bool find(struct work *w) {
    as_growths *out = w->out;
    const as_dataset *base = w->sides[0].ds;
    size_t n_parameters = as_ds_parameters(base);
    w->far = as_arena_array(&out->arena, n_parameters, sizeof *w->far);
    if (!w->far || !match_models(w)) return false;
    for (size_t s = 0; s < 2; s++) {
        const as_dataset *ds = w->sides[s].ds;
        for (assay_id p = 0; p < ds->n_points; p++)
            for (size_t k = 0; k < n_parameters; k++) w->far[k] = fmax(w->far[k], FARTHER * as_ds_point(ds, p)[k]);
    }
    w->failed = as_arena_array(&out->arena, out->n + 1, sizeof *w->failed);
    if (!w->failed) return false;
    as_parallel(out->n, w->request->threads, judge, w);
    for (size_t i = 0; i < out->n; i++)
        if (w->failed[i] || !describe(w, i)) return false;
    as_growths_rank(out);
    return true;
}

static void label_point(const as_dataset *ds, const double *point, char *out, size_t size) {
    size_t used = 0;
    for (size_t i = 0; i < as_ds_parameters(ds); i++) {
        char number[AS_NUMBER_SIZE];
        const char *name = as_ds_parameter(ds, i);
        size_t length = as_real_format(point[i], number), name_size = strlen(name);
        if (used + name_size + length + 4 > size) break;
        if (i) used += (size_t)(stpcpy(out + used, ", ") - (out + used));
        used += (size_t)(stpcpy(out + used, name) - (out + used));
        out[used++] = '=';
        used += (size_t)(stpcpy(out + used, number) - (out + used));
    }
}

assay_status as_growths_find(const as_growth_side sides[2], const as_growth_request *request, as_growths *out,
                             assay_error *error) {
    *out = (as_growths){
        .has_point = request->point != NULL, .threshold = request->threshold, .confidence = request->confidence};
    as_arena_init(&out->arena, NULL);
    if (!as_growths_fit(sides[0].ds, sides[1].ds))
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "different-parameters",
                       "models are compared where both sides have the same parameters in the same order");
    if (request->point) label_point(sides[0].ds, request->point, out->label, sizeof out->label);
    struct work w = {.sides = sides, .request = request, .out = out};
    return find(&w) ? ASSAY_OK : as_fail_memory(error, NULL);
}

void as_growths_free(as_growths *growths) { as_arena_free(&growths->arena); }
