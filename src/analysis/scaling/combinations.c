/* Which hypotheses are averaged. */
#include "analysis/scaling/combinations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/strings.h"

/* The search goes on from hypotheses of at least this part of the best one's weight. */
#define PLAUSIBLE 1e-3

/* Combinations of terms that are tried at most; those of three parameters have many shapes. */
enum { MAX_TRIED = 1000, MAX_ROUNDS = 6, MAX_SHAPES = 23 };

/* Sums and products of up to three terms a, b, c (bits 1, 2, 4), as Extra-P combines them, 0 ending a list: without the
 * product and the sum of all. */
static const uint16_t mixed_of_2[][4] = {{1, 3}, {2, 3}};
static const uint16_t mixed_of_3[][4] = {{7, 1},    {7, 2},    {7, 4},    {7, 3},    {7, 6},    {7, 5},    {7, 3, 4},
                                         {7, 6, 1}, {7, 5, 2}, {7, 1, 2}, {7, 1, 4}, {7, 2, 4}, {3, 4},    {3, 4, 2},
                                         {3, 4, 1}, {5, 2},    {5, 2, 1}, {5, 2, 4}, {6, 1},    {6, 1, 2}, {6, 1, 4}};

bool as_try_terms(as_averaging *a) {
    uint16_t term = AS_NO_TERM;
    const as_shape constant = {0}, one = {.n_columns = 1, .columns = {1}};
    if (!as_averaging_try(a, &constant, 1, &term, 0)) return false;
    for (size_t t = 0; t < a->powers.count && t < AS_NO_TERM; t++) {
        term = (uint16_t)t;
        if (as_averaging_usable(a, 0, t) && !as_averaging_try(a, &one, 1, &term, 0)) return false;
    }
    return true;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* The parameters that have a term. */
typedef struct active {
    size_t n;
    uint16_t bits[AS_MAX_FACTORS];
} active;

static active active_of(const as_averaging *a, const uint16_t *terms) {
    active found = {0};
    for (size_t k = 0; k < a->sample.n_parameters; k++) {
        if (terms[k] != AS_NO_TERM) found.bits[found.n++] = (uint16_t)(1u << k);
    }
    return found;
}

static as_shape product_of(const active *parameters) {
    as_shape shape = {.n_columns = 1};
    for (size_t i = 0; i < parameters->n; i++) shape.columns[0] |= parameters->bits[i];
    return shape;
}

static as_shape sum_of(const active *parameters) {
    as_shape shape = {.n_columns = (uint16_t)parameters->n};
    for (size_t i = 0; i < parameters->n; i++) shape.columns[i] = parameters->bits[i];
    return shape;
}

static as_shape mixed_of(const active *parameters, const uint16_t *columns) {
    as_shape shape = {0};
    for (; columns[shape.n_columns]; shape.n_columns++) {
        for (size_t i = 0; i < parameters->n; i++) {
            if (columns[shape.n_columns] >> i & 1) shape.columns[shape.n_columns] |= parameters->bits[i];
        }
    }
    return shape;
}

/* The shapes of two and more parameters: the product, the sum, then the mixed ones. */
static size_t count_shapes(size_t n_active, bool allow_mixed) {
    if (n_active <= 1) return 1;
    if (!allow_mixed || n_active > 3) return 2;
    return 2 + (n_active == 2 ? sizeof mixed_of_2 / sizeof *mixed_of_2 : sizeof mixed_of_3 / sizeof *mixed_of_3);
}

static as_shape shape_of(const active *parameters, size_t which) {
    if (which == 0) return parameters->n ? product_of(parameters) : (as_shape){0};
    if (which == 1) return sum_of(parameters);
    return mixed_of(parameters, parameters->n == 2 ? mixed_of_2[which - 2] : mixed_of_3[which - 2]);
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

typedef struct ranked_term {
    uint16_t term;
    double lateness;
} ranked_term;

/* A term for each parameter, by its rank among the terms of that parameter. */
typedef struct combination {
    uint16_t ranks[AS_MAX_FACTORS];
    bool is_expanded;
    size_t first, n; /* its hypotheses */
} combination;

typedef struct search {
    as_averaging *averaging;
    bool allow_mixed;
    as_vec ranked[AS_MAX_FACTORS]; /* ranked_term: of each parameter; the constant is one of them */
    as_vec combinations;
    as_map known; /* hash of ranks -> 1 */
    bool failed;  /* memory is out */
} search;

/* How late a term rises over the measured values, from 0 to 1: terms that are near in it are hard to tell apart. */
static double lateness(const as_averaging *a, size_t parameter, uint16_t term) {
    if (term == AS_NO_TERM) return 0;
    const double *base = as_averaging_base(a, parameter, term);
    double low = base[0], high = base[0], sum = 0;
    for (size_t i = 0; i < a->sample.n; i++) {
        low = fmin(low, base[i]);
        high = fmax(high, base[i]);
        sum += base[i];
    }
    return 1 - (sum / (double)a->sample.n - low) / (high - low);
}

static int earlier_first(const void *x, const void *y) {
    const ranked_term *a = x, *b = y;
    if (a->lateness != b->lateness) return a->lateness < b->lateness ? -1 : 1;
    return (a->term > b->term) - (a->term < b->term);
}

static void rank_terms(search *s, size_t parameter) {
    as_vec *ranked = &s->ranked[parameter];
    const as_averaging *a = s->averaging;
    for (size_t t = 0; t <= a->powers.count && t < AS_NO_TERM && !s->failed; t++) {
        uint16_t term = t == a->powers.count ? AS_NO_TERM : (uint16_t)t;
        if (term != AS_NO_TERM && !as_averaging_usable(a, parameter, t)) continue;
        ranked_term one = {.term = term, .lateness = lateness(a, parameter, term)};
        s->failed = !as_vec_append(ranked, &one, 1);
    }
    qsort(ranked->data, ranked->count, sizeof(ranked_term), earlier_first);
}

static uint16_t rank_of(const search *s, size_t parameter, uint16_t term) {
    const as_vec *ranked = &s->ranked[parameter];
    size_t constant = 0;
    for (size_t i = 0; i < ranked->count; i++) {
        if (AS_AT(ranked_term, ranked, i).term == term) return (uint16_t)i;
        if (AS_AT(ranked_term, ranked, i).term == AS_NO_TERM) constant = i;
    }
    return (uint16_t)constant;
}

/* Fits all shapes of a combination that was not tried yet. */
static void try_combination(search *s, const uint16_t *ranks) {
    as_averaging *a = s->averaging;
    uint64_t key = as_hash(ranks, AS_MAX_FACTORS * sizeof *ranks);
    if (s->failed || s->combinations.count >= MAX_TRIED || as_map_get(&s->known, key) != AS_MAP_NONE) return;
    combination *c = as_vec_push(&s->combinations);
    if (!c || !as_map_put(&s->known, key, 1)) {
        s->failed = true;
        return;
    }
    uint16_t terms[AS_MAX_FACTORS] = {0};
    memcpy(c->ranks, ranks, sizeof c->ranks);
    for (size_t k = 0; k < a->sample.n_parameters; k++) terms[k] = AS_AT(ranked_term, &s->ranked[k], ranks[k]).term;
    active parameters = active_of(a, terms);
    as_shape shapes[MAX_SHAPES];
    size_t n_shapes = count_shapes(parameters.n, s->allow_mixed);
    for (size_t i = 0; i < n_shapes; i++) shapes[i] = shape_of(&parameters, i);
    c->first = a->hypotheses.count;
    s->failed |= !as_averaging_try(a, shapes, n_shapes, terms, -log((double)n_shapes));
    c->n = a->hypotheses.count - c->first;
}

static double weight_of(const search *s, const combination *c) {
    double most = -INFINITY;
    for (size_t i = 0; i < c->n; i++)
        most = fmax(most, AS_AT(as_weighed, &s->averaging->hypotheses, c->first + i).log_weight);
    return most;
}

/* The ranks of the terms of the heaviest hypothesis so far. False where there is none. */
static bool find_best(const search *s, uint16_t *ranks) {
    size_t best = as_averaging_weigh(s->averaging);
    if (best == SIZE_MAX) return false;
    const as_weighed *h = &AS_AT(as_weighed, &s->averaging->hypotheses, best);
    for (size_t k = 0; k < s->averaging->sample.n_parameters; k++) ranks[k] = rank_of(s, k, h->terms[k]);
    return true;
}

/* Replaces one term of the best combination by all others, parameter by parameter, as long as that gives a better
 * one. */
static void climb(search *s) {
    uint16_t best[AS_MAX_FACTORS] = {0}, before[AS_MAX_FACTORS] = {0};
    for (int round = 0; round < MAX_ROUNDS && find_best(s, best) && !s->failed; round++) {
        if (round && memcmp(best, before, sizeof best) == 0) return;
        memcpy(before, best, sizeof best);
        for (size_t k = 0; k < s->averaging->sample.n_parameters; k++) {
            for (size_t i = 0; i < s->ranked[k].count; i++) {
                best[k] = (uint16_t)i;
                try_combination(s, best);
            }
            find_best(s, best);
        }
    }
}

/* Tries what differs by one step in one parameter. */
static void try_neighbours(search *s, const uint16_t *ranks) {
    uint16_t near[AS_MAX_FACTORS];
    memcpy(near, ranks, sizeof near);
    for (size_t k = 0; k < s->averaging->sample.n_parameters; k++) {
        if (ranks[k] > 0) {
            near[k] = (uint16_t)(ranks[k] - 1);
            try_combination(s, near);
        }
        if (ranks[k] + 1u < s->ranked[k].count) {
            near[k] = (uint16_t)(ranks[k] + 1);
            try_combination(s, near);
        }
        near[k] = ranks[k];
    }
}

/* Spreads from what was tried to its neighbours, as long as these are plausible. */
static void spread(search *s) {
    for (bool is_spreading = true; is_spreading && !s->failed;) {
        is_spreading = false;
        size_t best = as_averaging_weigh(s->averaging), n = s->combinations.count;
        if (best == SIZE_MAX) return;
        double least = AS_AT(as_weighed, &s->averaging->hypotheses, best).log_weight + log(PLAUSIBLE);
        for (size_t i = 0; i < n && !s->failed; i++) {
            combination *c = &AS_AT(combination, &s->combinations, i);
            if (c->is_expanded || weight_of(s, c) < least) continue;
            uint16_t ranks[AS_MAX_FACTORS];
            memcpy(ranks, c->ranks, sizeof ranks);
            c->is_expanded = is_spreading = true;
            try_neighbours(s, ranks);
        }
    }
}

bool as_try_combinations(as_averaging *a, const uint16_t *chosen, bool allow_mixed) {
    search s = {.averaging = a, .allow_mixed = allow_mixed};
    size_t n = a->sample.n_parameters;
    uint16_t ranks[AS_MAX_FACTORS] = {0}, constant[AS_MAX_FACTORS] = {0};
    as_vec_init(&s.combinations, sizeof(combination), NULL);
    as_map_init(&s.known, NULL);
    for (size_t k = 0; k < n; k++) {
        as_vec_init(&s.ranked[k], sizeof(ranked_term), NULL);
        rank_terms(&s, k);
        ranks[k] = rank_of(&s, k, chosen[k]);
        constant[k] = rank_of(&s, k, AS_NO_TERM);
    }
    try_combination(&s, constant);
    try_combination(&s, ranks);
    climb(&s);
    spread(&s);
    for (size_t k = 0; k < n; k++) as_vec_free(&s.ranked[k]);
    as_vec_free(&s.combinations);
    as_map_free(&s.known);
    return !s.failed;
}
