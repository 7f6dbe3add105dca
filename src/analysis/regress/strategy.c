#include "analysis/regress/regress.h"
#include "core/strings.h"

static const char *const names[AS_N_STRATEGIES] = {
    [AS_BEST_MODEL] = "best-model", [AS_BEST_PARAM] = "best-param",     [AS_BEST_NONPARAM] = "best-nonparam",
    [AS_ALL_PARAM] = "all-param",   [AS_ALL_NONPARAM] = "all-nonparam", [AS_ALL_MODELS] = "all-models",
    [AS_BEST_BOTH] = "best-both",
};

const char *as_strategy_name(as_strategy strategy) { return names[strategy]; }

bool as_strategy_find(const char *name, as_strategy *out) {
    for (int strategy = 0; strategy < AS_N_STRATEGIES; strategy++) {
        if (strcmp(names[strategy], name) != 0) continue;
        *out = (as_strategy)strategy;
        return true;
    }
    return false;
}

/* Perun counts a model "all" among the parametric ones. */
static bool is_of(const as_curve *curve, as_strategy strategy) {
    const char *word = as_curve_word(curve);
    if (!curve->uid || !word) return false;
    bool is_other = curve->model == AS_CURVE_OTHER;
    bool is_parametric = as_curve_is_parametric(curve->model) || (is_other && strcmp(word, "all") == 0);
    switch (strategy) {
    case AS_BEST_PARAM:
    case AS_ALL_PARAM: return is_parametric;
    case AS_BEST_NONPARAM:
    case AS_ALL_NONPARAM: return !is_other && !is_parametric;
    default: return true;
    }
}

/* By uid, for the strategies that take all by uid and model: one behind the other, as Perun has it. */
static as_str key_of(as_strings *keys, as_vec *text, const as_curve *curve, bool with_model) {
    text->count = 0;
    if (!as_vec_text(text, curve->uid) || (with_model && !as_vec_text(text, as_curve_word(curve)))) return AS_NO_STR;
    return as_intern(keys, text->data, text->count);
}

/* One choice for each key, in the order in which the keys got their first one. */
static bool pick(const as_curves *curves, as_strategy strategy, as_vec *out) {
    bool is_best = strategy == AS_BEST_MODEL || strategy == AS_BEST_PARAM || strategy == AS_BEST_NONPARAM, fine = true;
    size_t first = out->count;
    as_arena arena;
    as_strings keys;
    as_vec text, places; /* size_t of each key: its place in out, and 1; 0: it has none */
    as_arena_init(&arena, curves->arena.budget);
    as_strings_init(&keys, &arena);
    as_vec_init(&text, 1, NULL);
    as_vec_init(&places, sizeof(size_t), NULL);
    for (size_t i = 0; fine && i < curves->curves.count; i++) {
        const as_curve *curve = &AS_AT(as_curve, &curves->curves, i);
        if (!is_of(curve, strategy)) continue;
        as_str key = key_of(&keys, &text, curve, !is_best);
        fine = key != AS_NO_STR && (key < places.count || as_vec_push(&places));
        if (!fine) break;
        size_t *place = &AS_AT(size_t, &places, key);
        const as_curve *rival =
            *place ? &AS_AT(as_curve, &curves->curves, AS_AT(size_t, out, first + *place - 1)) : NULL;
        if (is_best && !(curve->r_square > (rival ? rival->r_square : 0))) continue;
        if (rival) {
            AS_AT(size_t, out, first + *place - 1) = i;
        } else {
            fine = as_vec_append(out, &i, 1);
            *place = out->count - first;
        }
    }
    as_vec_free(&text);
    as_vec_free(&places);
    as_strings_free(&keys);
    as_arena_free(&arena);
    return fine;
}

bool as_strategy_pick(const as_curves *curves, as_strategy strategy, as_vec *out) {
    if (strategy == AS_ALL_MODELS) return pick(curves, AS_ALL_PARAM, out) && pick(curves, AS_ALL_NONPARAM, out);
    if (strategy == AS_BEST_BOTH) return pick(curves, AS_BEST_PARAM, out) && pick(curves, AS_BEST_NONPARAM, out);
    return pick(curves, strategy, out);
}
