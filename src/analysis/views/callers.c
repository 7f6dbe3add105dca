/* The bottom-up view: functions, and below each its callers.
 *
 * The callers of a function are found by going up from all its contexts at once, a level at a time: a pair is such a
 * context and how far up it has got. Pairs that meet in the same function are one node. They are never copied per node:
 * the pairs of a node are a range of one array, and its callers' are parts of this range. */
#include <math.h>
#include <stdlib.h>

#include "analysis/views/view_private.h"

/* Steps up that are made at most, over all functions, and values that are summed up for them: each step may be a node
 * that is written. Only trees that are far deeper than anybody reads need more. */
enum { MOST_STEPS = 1 << 23, MOST_VALUES = 1 << 28 };

typedef struct pair {
    assay_id origin, at;
} pair;

/* A caller while the pairs of its callee are told apart. */
typedef struct caller {
    uint32_t group, n, next;
} caller;

typedef struct ascent {
    as_view_gather gather;
    const as_dataset *ds;
    assay_id *caller_of; /* for each context the nearest one above that is a function's, or ASSAY_NONE */
    pair *pairs, *spare;
    uint32_t *slots; /* of each group its place in callers, or UINT32_MAX */
    as_vec callers;  /* caller */
    as_vec pending;  /* as_view_pending */
    uint32_t limit;  /* levels after which it ends in any case; 0: none */
} ascent;

static uint32_t group_at(const ascent *a, assay_id context) { return a->gather.groups.of_context[context]; }

static as_view_some origins(const pair *pairs, size_t n) { return (as_view_some){&pairs->origin, sizeof *pairs, n}; }

/* ---- callers ----------------------------------------------------------------------------------------------------- */

/* Takes the pairs of a range a step up, those of one caller together, in the order of their origins; a->callers tells
 * who has how many. Returns how many were called by nobody and stand before them; SIZE_MAX when memory is out. */
static size_t step_up(ascent *a, uint32_t begin, uint32_t end) {
    size_t ended = 0, fine = 1;
    a->callers.count = 0;
    for (uint32_t i = begin; i < end && fine; i++) {
        assay_id parent = a->caller_of[a->pairs[i].at];
        if (parent == ASSAY_NONE) {
            ended++;
            continue;
        }
        uint32_t group = group_at(a, parent);
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
        assay_id parent = a->caller_of[a->pairs[i].at];
        if (parent == ASSAY_NONE)
            a->spare[at++] = a->pairs[i];
        else
            a->spare[AS_AT(caller, &a->callers, a->slots[group_at(a, parent)]).next++] =
                (pair){a->pairs[i].origin, parent};
    }
    for (size_t i = 0; i < a->callers.count; i++) a->slots[AS_AT(caller, &a->callers, i).group] = UINT32_MAX;
    if (fine) memcpy(a->pairs + begin, a->spare + begin, (end - begin) * sizeof *a->pairs);
    return fine ? ended : SIZE_MAX;
}

/* Whether somebody called one of the pairs. */
static bool has_callers(const ascent *a, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; i++) {
        if (a->caller_of[a->pairs[i].at] != ASSAY_NONE) return true;
    }
    return false;
}

/* The same of a function that has no pairs yet. */
static bool is_called(const ascent *a, uint32_t function) {
    as_view_some contexts = as_view_gather_contexts(&a->gather, function);
    for (size_t i = 0; i < contexts.n; i++) {
        if (a->caller_of[contexts.first[i]] != ASSAY_NONE) return true;
    }
    return false;
}

static bool is_deepest(const ascent *a, uint32_t depth) {
    return depth + 1 == a->gather.walker->request->max_levels || depth + 1 == a->limit;
}

/* Puts the callers of a node, whose pairs are begin … end - 1, behind those that wait. */
static bool add_callers(ascent *a, const as_view_pending *node, uint32_t begin, uint32_t end) {
    as_view_walker *w = a->gather.walker;
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
        const as_view_member *member = as_view_member_at(&a->gather.groups, c->group);
        next.key = as_view_gather_key(&a->gather, member, origins(a->pairs + next.at, c->n));
        next.name = member->name;
        if (next.key < w->least)
            w->cut->small++;
        else if (!as_vec_append(&a->pending, &next, 1))
            return false;
    }
    if (node->is_hot && a->pending.count > from)
        as_view_mark_hot(w, &AS_AT(as_view_pending, &a->pending, from), a->pending.count - from, node->key * w->hot);
    as_view_arrange(w, &a->pending, from);
    return true;
}

/* All callers of a function that was shown. */
static bool show_callers(ascent *a, const as_view_pending *function) {
    as_view_some contexts = as_view_gather_contexts(&a->gather, function->at);
    for (uint32_t i = 0; i < contexts.n; i++) a->pairs[i] = (pair){contexts.first[i], contexts.first[i]};
    a->pending.count = 0;
    if (!add_callers(a, function, 0, (uint32_t)contexts.n)) return false;
    while (a->pending.count > 0) {
        as_view_pending next = AS_AT(as_view_pending, &a->pending, --a->pending.count);
        const pair *pairs = a->pairs + next.at;
        next.is_cut = is_deepest(a, next.depth) && has_callers(a, next.at, next.end);
        const as_view_member *member = as_view_member_at(&a->gather.groups, group_at(a, pairs->at));
        if (!as_view_gather_show(&a->gather, &next, member, pairs->at, origins(pairs, next.end - next.at)))
            return false;
        if (!add_callers(a, &next, next.at, next.end)) return false;
    }
    return true;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* How many callers are above each context of a function, and the most of them. NULL when memory is out. */
static uint32_t *count_callers(const ascent *a, uint32_t *deepest) {
    size_t n = AS_COUNT(a->ds, contexts);
    uint32_t *above = calloc(n + 1, sizeof *above);
    *deepest = 0;
    for (assay_id id = 0; above && id < n; id++) {
        if (group_at(a, id) == UINT32_MAX) continue;
        assay_id caller_id = a->caller_of[id];
        above[id] = caller_id == ASSAY_NONE ? 0 : above[caller_id] + 1;
        if (above[id] > *deepest) *deepest = above[id];
    }
    return above;
}

/* Whether somebody asks for the callers of this function. */
static bool is_named(const ascent *a, uint32_t group) {
    const bool *wanted = a->gather.walker->request->wanted;
    as_str name = wanted ? as_view_member_at(&a->gather.groups, group)->name : AS_NO_STR;
    return !wanted || (name != AS_NO_STR && wanted[name]);
}

/* The depth up to which all callers can be found in bounded time. */
static bool find_limit(ascent *a) {
    const as_view_walker *w = a->gather.walker;
    uint32_t deepest, *above = count_callers(a, &deepest);
    uint32_t *counts = above ? calloc((size_t)deepest + 2, sizeof *counts) : NULL;
    uint64_t steps = 0, left = 0, most = MOST_VALUES / (w->data->n_columns + 1);
    for (assay_id id = 0; counts && id < AS_COUNT(a->ds, contexts); id++) {
        uint32_t group = group_at(a, id);
        if (group == UINT32_MAX || !is_named(a, group)) continue;
        counts[above[id]]++;
        left++;
    }
    if (most > MOST_STEPS) most = MOST_STEPS;
    if (w->request->max_steps && most > w->request->max_steps) most = w->request->max_steps;
    for (uint32_t level = 0; counts && level <= deepest; level++) {
        left -= counts[level]; /* contexts with more callers than this */
        steps += left;
        if (steps <= most) continue;
        a->limit = level + 1;
        break;
    }
    bool fine = counts != NULL;
    free(above);
    free(counts);
    return fine;
}

static uint8_t hides(const ascent *a, uint32_t group) {
    return as_view_hides(a->gather.walker, as_view_member_at(&a->gather.groups, group)->name);
}

/* The nearest function above each context that is not hidden; parents come before their children. */
static void find_callers(ascent *a) {
    for (assay_id id = 0; id < AS_COUNT(a->ds, contexts); id++) {
        assay_id parent = as_ds_context(a->ds, id)->parent;
        uint32_t group = parent == ASSAY_NONE ? UINT32_MAX : group_at(a, parent);
        uint8_t how = group == UINT32_MAX ? 0 : hides(a, group);
        if (how & AS_HIDES_SUBTREE)
            parent = ASSAY_NONE;
        else if (parent != ASSAY_NONE && (how || group == UINT32_MAX))
            parent = a->caller_of[parent];
        a->caller_of[id] = parent;
    }
}

static bool ascent_init(ascent *a, as_view_walker *walker) {
    *a = (ascent){.ds = walker->data->source.ds};
    as_vec_init(&a->callers, sizeof(caller), NULL);
    as_vec_init(&a->pending, sizeof(as_view_pending), NULL);
    if (!as_view_gather_init(&a->gather, walker)) return false;
    size_t most = 0, n_groups = a->gather.groups.members.count;
    for (size_t i = 0; i < n_groups; i++) {
        size_t n = as_view_gather_contexts(&a->gather, (uint32_t)i).n;
        if (n > most) most = n;
    }
    a->caller_of = malloc((AS_COUNT(a->ds, contexts) + 1) * sizeof *a->caller_of);
    a->pairs = malloc((most + 1) * sizeof *a->pairs);
    a->spare = malloc((most + 1) * sizeof *a->spare);
    a->slots = malloc((n_groups + 1) * sizeof *a->slots);
    if (!a->caller_of || !a->pairs || !a->spare || !a->slots) return false;
    memset(a->slots, 0xff, (n_groups + 1) * sizeof *a->slots);
    find_callers(a);
    return find_limit(a);
}

static void ascent_free(ascent *a) {
    as_view_gather_free(&a->gather);
    free(a->caller_of);
    free(a->pairs);
    free(a->spare);
    free(a->slots);
    as_vec_free(&a->callers);
    as_vec_free(&a->pending);
}

static void add_hidden(const ascent *a, uint32_t function) {
    const as_view_walker *w = a->gather.walker;
    const as_view_member *member = as_view_member_at(&a->gather.groups, function);
    if (!w->data->n_columns || as_view_member_is_apart(w, member)) return;
    as_view_some contexts = as_view_gather_contexts(&a->gather, function);
    as_view_number own = as_view_gather_value(&a->gather, member, 0, contexts).exclusive;
    double *sum = &w->cut->hidden_exclusive;
    if (own.is_known && !isnan(own.real)) *sum = isnan(*sum) ? own.real : *sum + own.real;
}

/* The functions that are shown, in their order. */
static bool choose_functions(ascent *a, as_vec *functions) {
    as_view_walker *w = a->gather.walker;
    for (uint32_t i = 0; i < a->gather.groups.members.count; i++) {
        const as_view_member *member = as_view_member_at(&a->gather.groups, i);
        as_view_pending next = {.at = i, .name = member->name, .is_apart = as_view_member_is_apart(w, member)};
        w->cut->hidden += hides(a, i) != 0;
        if (!is_named(a, i)) continue;
        if (hides(a, i)) {
            add_hidden(a, i);
            continue;
        }
        next.key = as_view_gather_key(&a->gather, member, as_view_gather_contexts(&a->gather, i));
        if (next.key < w->least)
            w->cut->small++;
        else if (!as_vec_append(functions, &next, 1))
            return false;
    }
    as_view_mark_hot(w, functions->data, functions->count, 0);
    as_view_sort(w, functions->data, functions->count);
    return true;
}

static bool show_functions(ascent *a, as_vec *functions) {
    as_view_walker *w = a->gather.walker;
    size_t n = functions->count;
    if (w->request->max_first && n > w->request->max_first) {
        w->cut->rest = n - w->request->max_first;
        n = w->request->max_first;
    }
    bool fine = true;
    for (size_t i = 0; i < n && fine; i++) {
        as_view_pending *next = &AS_AT(as_view_pending, functions, i);
        const as_view_member *member = as_view_member_at(&a->gather.groups, next->at);
        if (w->request->only_hot && !next->is_hot) continue;
        next->is_last = i + 1 == n || w->request->only_hot;
        next->is_cut = is_deepest(a, 0) && is_called(a, next->at);
        fine = as_view_gather_show(&a->gather, next, member, member->context,
                                   as_view_gather_contexts(&a->gather, next->at)) &&
               show_callers(a, next);
    }
    return fine;
}

bool as_view_walk_callers(as_view_walker *walker) {
    ascent a;
    as_vec functions;
    as_vec_init(&functions, sizeof(as_view_pending), NULL);
    bool fine = ascent_init(&a, walker) && choose_functions(&a, &functions) && show_functions(&a, &functions);
    as_vec_free(&functions);
    ascent_free(&a);
    return fine;
}
