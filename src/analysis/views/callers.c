/* The flat and the bottom-up view: functions, and below each its callers.
 *
 * The callers of a function are found by going up from all its contexts at once, a level at a time: a pair is such a context and how far up it has got. Pairs
 * that meet in the same function are one node. They are never copied per node: the pairs of a node are a range of one array, and its callers' are parts of this range. */
#include <math.h>
#include <stdlib.h>

#include "analysis/views/view_private.h"

/* Steps up that are made at most, over all functions, and values that are summed up for them: each step may be a node that is written. Only trees that are far deeper than
 * anybody reads need more. */
enum { MOST_STEPS = 1 << 23, MOST_VALUES = 1 << 28 };

typedef struct pair {
    assay_id origin, at;
} pair;

/* A caller while the pairs of its callee are told apart. */
typedef struct caller {
    uint32_t group, n, next;
} caller;

typedef struct ascent {
    as_view_walker *walker;
    const as_dataset *ds;
    as_view_groups groups;
    as_view_sum *sums; /* one for each column */
    double *parts;     /* of all of them */
    pair *pairs, *spare;
    uint32_t *slots; /* of each group its place in callers, or UINT32_MAX */
    as_vec callers;  /* caller */
    as_vec pending;  /* as_view_pending */
    uint32_t limit;  /* levels after which it ends in any case; 0: none */
} ascent;

/* ---- sums ------------------------------------------------------------------------------------------------------------ */

static double *parts_of(const ascent *a, size_t column) {
    size_t before = 0;
    for (size_t k = 0; k < column; k++) before += 2 * (size_t)a->walker->data->columns[k].list.n_parts;
    return a->walker->data->columns[column].list.n_parts ? a->parts + before : NULL;
}

/* The sum of a column over n origins: contexts, or of pairs. */
static as_view_value sum_of(const ascent *a, size_t column, const assay_id *contexts, const pair *pairs, size_t n) {
    as_view_sum *sum = &a->sums[column];
    as_view_sum_begin(sum, &a->walker->data->columns[column], parts_of(a, column));
    for (size_t i = 0; i < n; i++) as_view_sum_add(sum, a->ds, contexts ? contexts[i] : pairs[i].origin);
    return as_view_sum_value(sum);
}

/* What nodes are sorted and cut by. */
static double key_of(const ascent *a, const as_view_value *value) {
    bool inclusive = a->walker->request->order == AS_SORT_INCLUSIVE || !value->exclusive.is_known;
    const as_view_number *number = inclusive ? &value->inclusive : &value->exclusive;
    return number->is_known ? as_view_size(number->real) : 0;
}

static bool show(const ascent *a, const as_view_pending *pending, uint32_t group, assay_id context,
                 const assay_id *contexts, const pair *pairs, size_t n) {
    as_view_walker *w = a->walker;
    const as_view_member *member = &AS_AT(as_view_member, &a->groups.members, group);
    for (size_t k = 0; k < w->data->n_columns; k++) w->values[k] = sum_of(a, k, contexts, pairs, n);
    as_view_node node = {.depth = pending->depth,
                         .is_last = pending->is_last,
                         .is_hot = pending->is_hot,
                         .is_wanted = w->request->wanted && pending->depth == 0,
                         .context = w->request->group == AS_GROUP_REGION ? context : ASSAY_NONE,
                         .region = member->region,
                         .name = member->name,
                         .values = w->values};
    return w->visit(w->user, &node);
}

/* Marks the one with the largest key, if it has at least `limit`. */
static void mark_hot(const ascent *a, as_view_pending *siblings, size_t n, double limit) {
    const as_view_data *data = a->walker->data;
    size_t best = SIZE_MAX;
    if (!data->n_columns || !data->columns[0].adds_up) return;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(siblings[i].key) && siblings[i].key > 0 &&
            (best == SIZE_MAX || siblings[i].key > siblings[best].key))
            best = i;
    }
    if (best != SIZE_MAX && siblings[best].key >= limit) siblings[best].is_hot = true;
}

/* ---- callers --------------------------------------------------------------------------------------------------------- */

/* The context that called the one a pair has got to, or ASSAY_NONE. */
static assay_id caller_of(const ascent *a, const pair *p) {
    assay_id parent = as_ds_context(a->ds, p->at)->parent;
    return parent != ASSAY_NONE && a->groups.of_context[parent] != UINT32_MAX ? parent : ASSAY_NONE;
}

/* Takes the pairs of a range a step up, those of one caller together, in the order of their origins; a->callers tells who has how many. Returns how many were
 * called by nobody and stand before them; SIZE_MAX when memory is out. */
static size_t step_up(ascent *a, uint32_t begin, uint32_t end) {
    size_t ended = 0, fine = 1;
    a->callers.count = 0;
    for (uint32_t i = begin; i < end && fine; i++) {
        assay_id parent = caller_of(a, &a->pairs[i]);
        if (parent == ASSAY_NONE) {
            ended++;
            continue;
        }
        uint32_t group = a->groups.of_context[parent];
        if (a->slots[group] == UINT32_MAX) {
            a->slots[group] = (uint32_t)a->callers.count;
            fine = as_vec_append(&a->callers, &(caller){.group = group}, 1);
        }
        if (fine) AS_AT(caller, &a->callers, a->slots[group]).n++;
    }
    uint32_t next = begin + (uint32_t)ended, at = begin;
    for (size_t i = 0; i < a->callers.count; i++) {
        caller *c = &AS_AT(caller, &a->callers, i);
        c->next = next;
        next += c->n;
    }
    for (uint32_t i = begin; i < end && fine; i++) {
        assay_id parent = caller_of(a, &a->pairs[i]);
        if (parent == ASSAY_NONE)
            a->spare[at++] = a->pairs[i];
        else
            a->spare[AS_AT(caller, &a->callers, a->slots[a->groups.of_context[parent]]).next++] =
                (pair){a->pairs[i].origin, parent};
    }
    for (size_t i = 0; i < a->callers.count; i++) a->slots[AS_AT(caller, &a->callers, i).group] = UINT32_MAX;
    if (fine) memcpy(a->pairs + begin, a->spare + begin, (end - begin) * sizeof *a->pairs);
    return fine ? ended : SIZE_MAX;
}

/* Whether somebody called one of the pairs. */
static bool has_callers(const ascent *a, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; i++) {
        if (caller_of(a, &a->pairs[i]) != ASSAY_NONE) return true;
    }
    return false;
}

/* Puts the callers of a node, whose pairs are begin … end - 1, behind those that wait. */
static bool add_callers(ascent *a, const as_view_pending *node, uint32_t begin, uint32_t end) {
    as_view_walker *w = a->walker;
    bool is_asked = node->depth + 1 != w->request->max_levels;
    if (!is_asked || node->depth + 1 == a->limit) {
        bool is_cut = has_callers(a, begin, end);
        w->cut->deep += is_cut;
        if (is_cut && is_asked) w->cut->limit = a->limit;
        return true;
    }
    size_t ended = step_up(a, begin, end), from = a->pending.count;
    if (ended == SIZE_MAX) return false;
    uint32_t at = begin + (uint32_t)ended;
    for (size_t i = 0; i < a->callers.count; i++) {
        const caller *c = &AS_AT(caller, &a->callers, i);
        as_view_pending next = {.at = at, .end = at + c->n, .depth = node->depth + 1};
        at += c->n;
        if (w->data->n_columns) {
            as_view_value value = sum_of(a, 0, NULL, a->pairs + next.at, next.end - next.at);
            next.key = key_of(a, &value);
        }
        next.name = AS_AT(as_view_member, &a->groups.members, c->group).name;
        if (next.key < w->least)
            w->cut->small++;
        else if (!as_vec_append(&a->pending, &next, 1))
            return false;
    }
    if (node->is_hot && a->pending.count > from)
        mark_hot(a, &AS_AT(as_view_pending, &a->pending, from), a->pending.count - from, node->key / 2);
    as_view_arrange(w, &a->pending, from);
    return true;
}

/* All callers of a function that was shown. */
static bool show_callers(ascent *a, const as_view_pending *function) {
    const as_view_member *member = &AS_AT(as_view_member, &a->groups.members, function->at);
    for (uint32_t i = 0; i < member->n; i++) {
        assay_id context = a->groups.contexts[member->first + i];
        a->pairs[i] = (pair){context, context};
    }
    a->pending.count = 0;
    if (!add_callers(a, function, 0, member->n)) return false;
    while (a->pending.count > 0) {
        as_view_pending next = AS_AT(as_view_pending, &a->pending, --a->pending.count);
        const pair *pairs = a->pairs + next.at;
        if (!show(a, &next, a->groups.of_context[pairs->at], pairs->at, NULL, pairs, next.end - next.at)) return false;
        if (!add_callers(a, &next, next.at, next.end)) return false;
    }
    return true;
}

/* ---- functions ------------------------------------------------------------------------------------------------------- */

/* The depth up to which all callers can be found in bounded time. */
static bool find_limit(ascent *a) {
    size_t n = AS_COUNT(a->ds, contexts), deepest = 0;
    for (assay_id id = 0; id < n; id++) {
        if (as_ds_context(a->ds, id)->depth > deepest) deepest = as_ds_context(a->ds, id)->depth;
    }
    uint32_t *counts = calloc(deepest + 2, sizeof *counts);
    if (!counts) return false;
    for (assay_id id = 0; id < n; id++) counts[as_ds_context(a->ds, id)->depth]++;
    uint64_t steps = 0, left = n, most = MOST_VALUES / (a->walker->data->n_columns + 1);
    if (most > MOST_STEPS) most = MOST_STEPS;
    for (size_t level = 0; level <= deepest; level++) {
        left -= counts[level]; /* contexts with more callers than this */
        steps += left;
        if (steps <= most) continue;
        a->limit = (uint32_t)level + 1;
        break;
    }
    free(counts);
    return true;
}

static bool ascent_init(ascent *a, as_view_walker *walker) {
    const as_view_data *data = walker->data;
    *a = (ascent){.walker = walker, .ds = data->source.ds};
    as_vec_init(&a->callers, sizeof(caller), NULL);
    as_vec_init(&a->pending, sizeof(as_view_pending), NULL);
    if (!as_view_groups_init(&a->groups, data, walker->request->group)) return false;
    size_t n_parts = 0, most = 0, n_groups = a->groups.members.count;
    for (size_t k = 0; k < data->n_columns; k++) n_parts += 2 * (size_t)data->columns[k].list.n_parts;
    for (size_t i = 0; i < n_groups; i++) {
        uint32_t n = AS_AT(as_view_member, &a->groups.members, i).n;
        if (n > most) most = n;
    }
    a->sums = calloc(data->n_columns + 1, sizeof *a->sums);
    a->parts = calloc(n_parts + 1, sizeof *a->parts);
    if (!a->sums || !a->parts) return false;
    if (walker->request->kind == AS_VIEW_FLAT) return true;
    a->pairs = malloc((most + 1) * sizeof *a->pairs);
    a->spare = malloc((most + 1) * sizeof *a->spare);
    a->slots = malloc((n_groups + 1) * sizeof *a->slots);
    if (!a->pairs || !a->spare || !a->slots) return false;
    memset(a->slots, 0xff, (n_groups + 1) * sizeof *a->slots);
    return find_limit(a);
}

static void ascent_free(ascent *a) {
    as_view_groups_free(&a->groups);
    free(a->sums);
    free(a->parts);
    free(a->pairs);
    free(a->spare);
    free(a->slots);
    as_vec_free(&a->callers);
    as_vec_free(&a->pending);
}

/* The functions that are shown, in their order. */
static bool choose_functions(ascent *a, as_vec *functions) {
    as_view_walker *w = a->walker;
    const bool *wanted = w->request->wanted;
    for (uint32_t i = 0; i < a->groups.members.count; i++) {
        const as_view_member *member = &AS_AT(as_view_member, &a->groups.members, i);
        as_view_pending next = {.at = i, .name = member->name};
        if (wanted && (member->name == AS_NO_STR || !wanted[member->name])) continue;
        if (w->data->n_columns) {
            as_view_value value = sum_of(a, 0, a->groups.contexts + member->first, NULL, member->n);
            next.key = key_of(a, &value);
        }
        if (next.key < w->least)
            w->cut->small++;
        else if (!as_vec_append(functions, &next, 1))
            return false;
    }
    if (w->request->kind == AS_VIEW_BOTTOM_UP) mark_hot(a, functions->data, functions->count, 0);
    as_view_sort(w, functions->data, functions->count);
    return true;
}

static bool show_functions(ascent *a, as_vec *functions) {
    as_view_walker *w = a->walker;
    size_t n = functions->count;
    if (w->request->max_first && n > w->request->max_first) {
        w->cut->rest = n - w->request->max_first;
        n = w->request->max_first;
    }
    bool fine = true;
    for (size_t i = 0; i < n && fine; i++) {
        as_view_pending *next = &AS_AT(as_view_pending, functions, i);
        const as_view_member *member = &AS_AT(as_view_member, &a->groups.members, next->at);
        if (w->request->only_hot && !next->is_hot) continue;
        next->is_last = i + 1 == n || w->request->only_hot;
        fine = show(a, next, next->at, member->context, a->groups.contexts + member->first, NULL, member->n);
        if (fine && w->request->kind == AS_VIEW_BOTTOM_UP) fine = show_callers(a, next);
    }
    return fine;
}

bool as_view_walk_groups(as_view_walker *walker) {
    ascent a;
    as_vec functions;
    as_vec_init(&functions, sizeof(as_view_pending), NULL);
    bool fine = ascent_init(&a, walker) && choose_functions(&a, &functions) && show_functions(&a, &functions);
    as_vec_free(&functions);
    ascent_free(&a);
    return fine;
}
