#include "analysis/nodes.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/derived.h"
#include "analysis/levels.h"
#include "analysis/stored_nodes.h"
#include "core/parallel.h"
#include "dataset/formulas.h"
#include "dataset/pieces.h"

/* Sums of one context. whole: integers, real: all others. */
typedef struct node_sum {
    union {
        as_whole whole;
        double real;
    } own,
        other; /* of the context's own row; of its subtree without it (exclusive values) or of its children (inclusive ones) */
    bool has_own, has_data;
} node_sum;

/* One part of a metric in a run, over a range of contexts. */
typedef struct summation {
    const as_dataset *ds;
    const as_slice *slice;
    uint32_t part;
    as_metric_kind kind;
    as_part_rule rule;
    bool is_integer;
    node_sum *sums; /* slice->n; of metrics that do not add up: one for each row */
    bool adds_up;
} summation;

/* ---- over locations -------------------------------------------------------------------------------------------------- */

#define LOAD(type, address)                                                                                            \
    (__extension__({                                                                                                   \
        type loaded;                                                                                                   \
        memcpy(&loaded, address, sizeof loaded);                                                                       \
        loaded;                                                                                                        \
    }))

/* Both halves of each number are added apart, which neither wraps (below 2^32 numbers) nor needs wide arithmetic. */
static as_whole sum_unsigned(const char *row, uint32_t n) {
    uint64_t low = 0, high = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t value = LOAD(uint64_t, row + 8 * (size_t)i);
        low += value & 0xffffffffu;
        high += value >> 32;
    }
    return ((as_whole)high << 32) + low;
}

static as_whole sum_counters(const char *row, uint32_t n) {
    as_whole sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t value = LOAD(uint64_t, row + 8 * (size_t)i);
        if (value <= AS_COUNTER_LIMIT) sum += value;
    }
    return sum;
}

static as_whole sum_signed(const char *row, uint32_t n) {
    uint64_t low = 0;
    int64_t high = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t value = LOAD(int64_t, row + 8 * (size_t)i);
        low += (uint64_t)value & 0xffffffffu;
        high += value >> 32;
    }
    return (as_whole)high * ((as_whole)1 << 32) + low;
}

#define SUM_NARROW(type)                                                                                               \
    do {                                                                                                               \
        int64_t sum = 0;                                                                                               \
        for (uint32_t i = 0; i < n; i++) sum += LOAD(type, row + sizeof(type) * (size_t)i);                            \
        return sum;                                                                                                    \
    } while (0)

static as_whole sum_integers(const as_profile *view, const char *row) {
    uint32_t n = view->n_columns;
    switch (view->type.dtype) {
    case AS_DTYPE_UINT64: return view->below_zero ? sum_counters(row, n) : sum_unsigned(row, n);
    case AS_DTYPE_INT8: SUM_NARROW(int8_t);
    case AS_DTYPE_UINT8: SUM_NARROW(uint8_t);
    case AS_DTYPE_INT16: SUM_NARROW(int16_t);
    case AS_DTYPE_UINT16: SUM_NARROW(uint16_t);
    case AS_DTYPE_INT32: SUM_NARROW(int32_t);
    case AS_DTYPE_UINT32: SUM_NARROW(uint32_t);
    default: return sum_signed(row, n);
    }
}

/* Four sums side by side: the order of additions is fixed, but none waits for the one before. */
static double sum_doubles(const char *row, uint32_t n) {
    double sums[4] = {0};
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (uint32_t k = 0; k < 4; k++) sums[k] += LOAD(double, row + 8 * (size_t)(i + k));
    }
    for (; i < n; i++) sums[0] += LOAD(double, row + 8 * (size_t)i);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static double extreme_of(as_part_rule rule, const char *row, uint32_t n) {
    double best = n ? LOAD(double, row) : 0;
    for (uint32_t i = 1; i < n; i++) best = as_part_combine(rule, best, LOAD(double, row + 8 * (size_t)i));
    return best;
}

static double sum_parts(const summation *s, const char *row) {
    const as_profile *view = &s->slice->view;
    if (view->type.dtype == AS_DTYPE_DOUBLE) return sum_doubles(row, view->n_columns);
    if (as_dtype_is_extreme(view->type.dtype)) return extreme_of(s->rule, row, view->n_columns);
    double sum = view->n_columns ? as_part_real(view->type, row, s->part) : 0;
    for (uint32_t i = 1; i < view->n_columns; i++)
        sum = as_part_combine(s->rule, sum, as_part_real(view->type, row + (size_t)i * view->type.size, s->part));
    return sum;
}

enum { ROWS_AT_ONCE = 256 };

static void sum_rows(void *user, size_t piece) {
    const summation *s = user;
    const as_profile *view = &s->slice->view;
    uint32_t first = (uint32_t)piece * ROWS_AT_ONCE, end = first + ROWS_AT_ONCE;
    for (uint32_t i = first; i < end && i < view->n_rows; i++) {
        const char *row = as_profile_row(view, i);
        node_sum *sum = &s->sums[s->adds_up ? view->contexts[i] - s->slice->first : i];
        if (s->is_integer)
            sum->own.whole = sum_integers(view, row);
        else
            sum->own.real = sum_parts(s, row);
        sum->has_own = sum->has_data = true;
    }
}

/* ---- along the tree -------------------------------------------------------------------------------------------------- */

static void add_to(const summation *s, node_sum *parent, const node_sum *child, bool own, bool first) {
    if (s->is_integer) {
        parent->other.whole += own ? child->own.whole : child->other.whole;
        return;
    }
    double value = own ? child->own.real : child->other.real;
    parent->other.real = first && s->rule != AS_PART_ADD ? value : as_part_combine(s->rule, parent->other.real, value);
}

/* Hands each context's sum to its parent, from the last one on: a child comes behind its parent. has_data of a parent without own values says that
 * something was handed to it. False when memory is out. */
static bool add_children(const summation *s) {
    bool *has_other = NULL; /* only minima and maxima ask whether a sum has begun */
    if (s->rule != AS_PART_ADD && !(has_other = calloc(s->slice->n, 1))) return false;
    for (uint32_t i = s->slice->n; i-- > 1;) {
        const node_sum *child = &s->sums[i];
        bool has_part = s->kind == AS_KIND_EXCLUSIVE ? child->has_data : child->has_own;
        const as_context *context = as_ds_context(s->ds, s->slice->first + i);
        if (!has_part || context->parent == ASSAY_NONE || context->parent < s->slice->first || context->is_aside)
            continue;
        uint32_t at = context->parent - s->slice->first;
        node_sum *parent = &s->sums[at];
        bool first = has_other && !has_other[at];
        if (child->has_own) add_to(s, parent, child, true, first), first = false;
        if (s->kind == AS_KIND_EXCLUSIVE && (!has_other || has_other[i])) add_to(s, parent, child, false, first);
        if (has_other) has_other[at] = true;
        parent->has_data = true;
    }
    /* An own value and none below it, or the other way round: the one there is. */
    for (uint32_t i = 0; has_other && i < s->slice->n; i++) {
        node_sum *sum = &s->sums[i];
        if (!has_other[i]) sum->other.real = sum->own.real;
    }
    free(has_other);
    return true;
}

/* ---- results --------------------------------------------------------------------------------------------------------- */

static as_number real_number(double value) { return (as_number){.kind = AS_REAL, .r = value}; }

static void set_whole(const summation *s, const node_sum *sum, as_node *node) {
    as_whole own = sum->own.whole, other = sum->other.whole;
    node->whole_inclusive = s->kind == AS_KIND_EXCLUSIVE ? own + other : own;
    node->whole_exclusive = s->kind == AS_KIND_INCLUSIVE ? own - other : own;
    node->inclusive = as_whole_number(node->whole_inclusive);
    node->exclusive = as_whole_number(node->whole_exclusive);
}

static void set_real(const summation *s, const node_sum *sum, as_node *node) {
    double own = sum->own.real, other = sum->other.real, total = as_part_combine(s->rule, own, other);
    if (s->rule != AS_PART_ADD && !sum->has_own) total = other;
    /* A minimum or maximum has no difference: the children's count as well. */
    double rest = s->rule == AS_PART_ADD ? own - other : total;
    node->inclusive = real_number(s->kind == AS_KIND_EXCLUSIVE ? total : own);
    node->exclusive = real_number(s->kind == AS_KIND_INCLUSIVE ? rest : own);
}

static void set_node(const summation *s, const node_sum *sum, as_node *node) {
    node->has_own = sum->has_own;
    node->has_exclusive = s->adds_up;
    node->is_whole = s->is_integer;
    if (s->is_integer)
        set_whole(s, sum, node);
    else
        set_real(s, sum, node);
}

/* Goes through the sums that make a node: gives its number among the sums in *at, and false behind the last. */
static bool next_sum(const summation *s, uint32_t *at) {
    uint32_t end = s->adds_up ? s->slice->n : s->slice->view.n_rows;
    for (; *at < end; ++*at) {
        if (s->sums[*at].has_data) return true;
    }
    return false;
}

static bool collect(const summation *s, as_node_list *list) {
    for (uint32_t i = 0; next_sum(s, &i); i++) {
        as_node *node = as_vec_push(&list->nodes);
        if (!node) return false;
        node->context = s->adds_up ? s->slice->first + i : s->slice->view.contexts[i];
        set_node(s, &s->sums[i], node);
    }
    return true;
}

/* ---- pieces ---------------------------------------------------------------------------------------------------------- */

/* The number of a context's node among the first n, or n: there is none. */
static size_t find_node(const as_node_list *list, size_t n, assay_id context) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (as_node_at(list, middle)->context < context)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && as_node_at(list, low)->context == context ? low : n;
}

static void add_exclusive(as_node *node, const as_node *piece, as_whole whole, double real) {
    if (piece->is_whole) {
        node->whole_exclusive += whole;
        node->exclusive = as_whole_number(node->whole_exclusive);
    } else {
        node->exclusive = real_number(as_number_real(node->exclusive) + real);
    }
}

/* Hands what pieces have to the contexts above them, the last ones first: see dataset/pieces.h. What a loop in a loop has goes past that one, to the call. */
static bool add_pieces(const as_dataset *ds, as_node_list *list) {
    typedef struct amount {
        as_whole whole;
        double real;
    } amount;
    size_t n = as_node_count(list), first = 0;
    as_str loop_kind = as_loop_kind(ds);
    while (first < n && !as_is_piece(ds, as_node_at(list, first)->context)) first++;
    if (first == n) return true;
    if (!as_budget_allows(as_ds_budget(ds), n * sizeof(amount))) return false;
    amount *past = calloc(n, sizeof *past); /* of loops: what those in them have */
    for (size_t i = n; past && i-- > first;) {
        const as_node *piece = as_node_at(list, i);
        assay_id parent = as_ds_context(ds, piece->context)->parent;
        size_t at = parent == ASSAY_NONE || !as_is_piece(ds, piece->context) ? i : find_node(list, i, parent);
        if (at == i) continue;
        amount all = {piece->whole_exclusive + past[i].whole, as_number_real(piece->exclusive) + past[i].real};
        if (as_is_loop(ds, loop_kind, piece->context) && as_is_loop(ds, loop_kind, parent)) {
            past[at].whole += all.whole;
            past[at].real += all.real;
        } else {
            add_exclusive(&AS_AT(as_node, &list->nodes, at), piece, all.whole, all.real);
        }
    }
    free(past);
    return past != NULL;
}

/* ---- unsigned differences -------------------------------------------------------------------------------------------- */

/* Unsigned differences end at 0 at each location, so they cannot be taken from sums over locations: what is taken off a context's value is its children's, at most the
 * value itself. What as_rows_each() does for all types is done here for the one that hardware counters have, without wide numbers: sums of children that exceed 64
 * bits exceed their parent as well, and stay at the largest number. Strips of locations are taken side by side; as their sums are exact, any number of them will do. */
enum { STRIP = 256 /* locations, at least */, MAX_STRIPS = 16 };

typedef struct differences {
    const summation *s;
    uint32_t n_strips;
    as_whole *taken; /* what strips but the first found for each context: that goes to the sums at once */
    bool no_memory[MAX_STRIPS];
} differences;

typedef struct strip {
    const summation *s;
    uint32_t first, n; /* columns */
    uint64_t *own;     /* the row of a narrower type */
    as_levels levels;  /* uint64_t: of the children seen so far, one for each location */
} strip;

static uint64_t add_saturated(uint64_t a, uint64_t b) {
    uint64_t sum = a + b;
    return sum < a ? UINT64_MAX : sum;
}

/* The columns of a row as numbers of 8 bytes, at any address. */
static const char *strip_row(const strip *t, uint32_t index) {
    const as_profile *view = &t->s->slice->view;
    const char *row = as_profile_row(view, index) + (size_t)t->first * view->type.size;
    if (view->type.dtype == AS_DTYPE_UINT64) return row;
    as_values_widen(view->type, row, t->n, 0, t->own);
    return (const char *)t->own;
}

/* Adds a row to those of its depth. */
static bool keep_row(strip *t, size_t depth, const char *row) {
    uint64_t *mine = as_levels_at(&t->levels, depth);
    bool is_first = !mine, clips = t->s->slice->view.below_zero;
    if (is_first && !(mine = as_levels_add(&t->levels, depth))) return false;
    if (is_first && !clips) return memcpy(mine, row, t->n * sizeof *mine), true;
    for (uint32_t i = 0; i < t->n; i++) {
        uint64_t own = LOAD(uint64_t, row + 8 * (size_t)i);
        if (clips && own > AS_COUNTER_LIMIT) own = 0;
        mine[i] = is_first ? own : add_saturated(mine[i], own);
    }
    return true;
}

/* What the children take off the row. */
static as_whole sum_taken(const strip *t, const char *row, const uint64_t *below) {
    uint64_t low = 0, high = 0;
    bool clips = t->s->slice->view.below_zero;
    for (uint32_t i = 0; i < t->n; i++) {
        uint64_t own = LOAD(uint64_t, row + 8 * (size_t)i);
        if (clips && own > AS_COUNTER_LIMIT) own = 0;
        uint64_t taken = below[i] < own ? below[i] : own;
        low += taken & 0xffffffffu;
        high += taken >> 32;
    }
    return ((as_whole)high << 32) + low;
}

static bool walk_strip(strip *t, as_whole *taken) {
    const as_profile *view = &t->s->slice->view;
    assay_id first = t->s->slice->first;
    uint32_t next = view->n_rows;
    for (assay_id context = next ? view->contexts[next - 1] + 1 : first; context-- > first;) {
        node_sum *sum = &t->s->sums[context - first];
        const as_context *about = as_ds_context(t->s->ds, context);
        size_t depth = about->depth;
        const uint64_t *below = as_levels_at(&t->levels, depth + 1);
        bool has_own = next > 0 && view->contexts[next - 1] == context;
        if (below && !taken) sum->has_data = true;
        if (has_own) { /* nothing less something is nothing */
            const char *row = strip_row(t, --next);
            as_whole found = below ? sum_taken(t, row, below) : 0;
            *(taken ? &taken[context - first] : &sum->other.whole) = found;
            if (!about->is_aside && !keep_row(t, depth, row)) return false;
        }
        as_levels_remove(&t->levels, depth + 1);
    }
    return true;
}

static void take_strip(void *user, size_t index) {
    differences *d = user;
    uint32_t n = d->s->slice->view.n_columns;
    strip t = {.s = d->s, .first = (uint32_t)((uint64_t)n * index / d->n_strips)};
    t.n = (uint32_t)((uint64_t)n * (index + 1) / d->n_strips) - t.first;
    t.own = malloc(t.n * sizeof *t.own + 1);
    as_levels_init(&t.levels, t.n * sizeof *t.own, as_ds_budget(d->s->ds));
    d->no_memory[index] = !t.own || !walk_strip(&t, index ? d->taken + (index - 1) * (size_t)d->s->slice->n : NULL);
    as_levels_free(&t.levels);
    free(t.own);
}

/* The first strip says which contexts have something below them; the others only add. */
static bool find_differences(const summation *s, bool is_large) {
    differences d = {.s = s, .n_strips = is_large ? as_core_count() : 1};
    if (d.n_strips > s->slice->view.n_columns / STRIP) d.n_strips = s->slice->view.n_columns / STRIP;
    d.n_strips = d.n_strips < 1 ? 1 : d.n_strips > MAX_STRIPS ? MAX_STRIPS : d.n_strips;
    size_t n_others = (d.n_strips - 1) * (size_t)s->slice->n;
    if (!as_budget_allows(&s->ds->budget, n_others * sizeof *d.taken)) return false;
    if (n_others && !(d.taken = calloc(n_others, sizeof *d.taken))) return false;
    as_parallel(d.n_strips, d.n_strips, take_strip, &d);
    bool fine = true;
    for (uint32_t i = 0; i < d.n_strips; i++) fine &= !d.no_memory[i];
    for (size_t i = 0; i < n_others; i++) s->sums[i % s->slice->n].other.whole += d.taken[i];
    free(d.taken);
    return fine;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------- */

static bool sum_part(summation *s, as_vec *room) {
    const as_profile *view = &s->slice->view;
    size_t n = s->adds_up ? s->slice->n : view->n_rows;
    room->count = 0;
    if (!as_vec_reserve(room, n)) return false;
    s->sums = room->data;
    s->rule = as_part_rule_of(view->type.dtype, s->part);
    if (n) memset(s->sums, 0, n * sizeof *s->sums);
    bool is_large = as_profile_values(view) > 1 << 18;
    as_parallel((view->n_rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, is_large ? 0 : 1, sum_rows, s);
    if (!s->adds_up) return true;
    if (s->kind == AS_KIND_INCLUSIVE && as_dtype_is_unsigned(view->type.dtype)) return find_differences(s, is_large);
    return add_children(s);
}

/* Composite types: each part is a sum of its own, and the number people see is made of them. */
static bool collect_parts(summation *s, as_node_list *list) {
    uint32_t n_parts = s->slice->view.type.n_parts;
    as_dtype dtype = s->slice->view.type.dtype;
    list->n_parts = n_parts;
    for (s->part = 0; s->part < n_parts; s->part++) {
        if (!sum_part(s, &list->sums)) return false;
        if (s->part == 0 && !collect(s, list)) return false;
        size_t n = list->nodes.count, cells;
        if (!as_mul_size(n, 2 * (size_t)n_parts, &cells)) return false;
        if (s->part == 0 &&
            !(as_budget_allows(&s->ds->budget, cells * sizeof(double)) && as_vec_reserve(&list->parts, cells)))
            return false;
        double *parts = list->parts.data;
        uint32_t at = 0;
        for (size_t i = 0; i < n && next_sum(s, &at); i++, at++) {
            as_node node;
            set_node(s, &s->sums[at], &node);
            parts[2 * i * n_parts + s->part] = as_number_real(node.inclusive);
            parts[(2 * i + 1) * n_parts + s->part] = as_number_real(node.exclusive);
        }
        list->parts.count = cells;
    }
    for (size_t i = 0; i < list->nodes.count; i++) {
        as_node *node = &AS_AT(as_node, &list->nodes, i);
        node->inclusive = real_number(as_parts_shown(dtype, as_node_parts(list, i, false), n_parts));
        node->exclusive = real_number(as_parts_shown(dtype, as_node_parts(list, i, true), n_parts));
    }
    return true;
}

const double *as_node_parts(const as_node_list *list, size_t i, bool exclusive) {
    if (!list->n_parts) return NULL;
    return &AS_AT(double, &list->parts, (2 * i + exclusive) * list->n_parts);
}

static void init_list(as_node_list *list, as_budget *budget) {
    *list = (as_node_list){0};
    as_vec_init(&list->nodes, sizeof(as_node), budget);
    as_vec_init(&list->parts, sizeof(double), budget);
    as_vec_init(&list->sums, sizeof(node_sum), budget);
}

void as_node_list_init(as_node_list *list) { init_list(list, NULL); }

void as_node_list_init_of(as_node_list *list, const as_dataset *ds) { init_list(list, as_ds_budget(ds)); }

void as_node_list_free(as_node_list *list) {
    as_vec_free(&list->nodes);
    as_vec_free(&list->parts);
    as_vec_free(&list->sums);
}

assay_status as_nodes_find(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, as_node_list *list,
                           assay_error *error) {
    return as_nodes_find_at(ds, run, metric, root, NULL, list, error);
}

/* The contexts of a subtree, or all. */
typedef struct range {
    assay_id first;
    uint32_t n;
} range;

/* kind: what is to be made of the values; AS_KIND_NONE: nothing. */
static assay_status sum_slice(const as_dataset *ds, assay_id run, assay_id metric, as_metric_kind kind, range contexts,
                              const bool *locations, as_node_list *list, assay_error *error) {
    as_slice slice;
    bool is_summed;
    AS_TRY(as_slice_open_sums(ds, metric, run, contexts.first, contexts.n, locations, &slice, &is_summed, error));
    if (is_summed && kind == AS_KIND_INCLUSIVE && as_dtype_is_unsigned(slice.view.type.dtype)) {
        as_slice_close(&slice); /* differences end at 0 at each location */
        is_summed = false;
    }
    if (!is_summed) AS_TRY(as_slice_open(ds, metric, run, contexts.first, contexts.n, &slice, error));
    summation s = {.ds = ds,
                   .slice = &slice,
                   .kind = kind,
                   .is_integer = as_dtype_is_integer(slice.view.type.dtype),
                   .adds_up = kind == AS_KIND_INCLUSIVE || kind == AS_KIND_EXCLUSIVE};
    bool fine = is_summed || !locations || as_slice_narrow(&slice, locations);
    if (fine && slice.view.n_rows && slice.view.type.dtype != AS_DTYPE_OPAQUE) {
        if (as_dtype_is_composite(slice.view.type.dtype))
            fine = collect_parts(&s, list);
        else
            fine = sum_part(&s, &list->sums) && collect(&s, list);
        if (fine && kind == AS_KIND_EXCLUSIVE && !list->n_parts && s.rule == AS_PART_ADD) fine = add_pieces(ds, list);
    }
    as_slice_close(&slice);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* What each context has of a metric that nothing is made of. */
static assay_status sum_own(const as_dataset *ds, assay_id run, assay_id metric, range contexts, const bool *locations,
                            as_node_list *list, assay_error *error) {
    const as_profile *profile = as_ds_profile(ds, metric, run);
    if (!profile || !as_profile_is_sparse(profile))
        return sum_slice(ds, run, metric, AS_KIND_NONE, contexts, locations, list, error);
    return as_sparse_nodes(ds, profile, NULL, contexts.first, contexts.n, locations, list, error);
}

/* Whether one pass over the contexts reads both. */
static bool are_pair(const as_profile *own, const as_profile *partner) {
    return own && partner && as_profile_is_sparse(own) && as_profile_is_sparse(partner) &&
           own->columns == partner->columns && own->n_columns == partner->n_columns;
}

static assay_status find_stored(const as_dataset *ds, assay_id run, assay_id metric, range contexts,
                                const bool *locations, as_node_list *list, assay_error *error) {
    assay_id exclusive = as_ds_metric(ds, metric)->exclusive;
    const as_profile *own = as_ds_profile(ds, metric, run),
                     *partner = exclusive == ASSAY_NONE ? NULL : as_ds_profile(ds, exclusive, run);
    if (are_pair(own, partner))
        return as_sparse_nodes(ds, own, partner, contexts.first, contexts.n, locations, list, error);
    AS_TRY(sum_own(ds, run, metric, contexts, locations, list, error));
    if (exclusive == ASSAY_NONE) return ASSAY_OK;
    as_node_list other;
    as_node_list_init_of(&other, ds);
    assay_status status = sum_own(ds, run, exclusive, contexts, locations, &other, error);
    if (status == ASSAY_OK && !as_nodes_pair(list, &other)) status = as_fail_memory(error, NULL);
    as_node_list_free(&other);
    list->n_parts = 0; /* parts are not paired */
    return status;
}

assay_status as_nodes_find_at(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, const bool *locations,
                              as_node_list *list, assay_error *error) {
    const as_metric *about = as_ds_metric(ds, metric);
    range contexts = {.first = root == ASSAY_NONE ? 0 : root};
    contexts.n = root == ASSAY_NONE ? (uint32_t)AS_COUNT(ds, contexts) : as_ds_context(ds, root)->subtree;
    if (as_ds_derived(ds, metric)) return as_derived_nodes(ds, run, metric, root, locations, list, error);
    list->nodes.count = list->parts.count = list->n_parts = 0;
    if (about->is_stored) return find_stored(ds, run, metric, contexts, locations, list, error);
    return sum_slice(ds, run, metric, about->kind, contexts, locations, list, error);
}

assay_status as_stored_sums_find(const as_dataset *ds, assay_id run, assay_id metric, const bool *locations,
                                 bool only_inclusive, as_stored_sums *out, bool *is_done, assay_error *error) {
    const as_metric *about = as_ds_metric(ds, metric);
    const as_profile *own = as_ds_profile(ds, metric, run),
                     *partner = about->exclusive == ASSAY_NONE ? NULL : as_ds_profile(ds, about->exclusive, run);
    *out = (as_stored_sums){0};
    *is_done = about->is_stored && !as_ds_derived(ds, metric) &&
               (are_pair(own, partner) || (about->exclusive == ASSAY_NONE && own && as_profile_is_sparse(own)));
    return *is_done ? as_sparse_sums(ds, own, only_inclusive ? NULL : partner, locations, out, error) : ASSAY_OK;
}

assay_status as_nodes_find_one(const as_dataset *ds, assay_id run, assay_id metric, assay_id context,
                               const bool *locations, as_node_list *list, assay_error *error) {
    list->nodes.count = list->parts.count = list->n_parts = 0;
    if (as_ds_metric(ds, metric)->is_stored && !as_ds_derived(ds, metric))
        return find_stored(ds, run, metric, (range){context, 1}, locations, list, error);
    AS_TRY(as_nodes_find_at(ds, run, metric, context, locations, list, error));
    if (list->nodes.count) list->nodes.count = as_node_at(list, 0)->context == context;
    return ASSAY_OK;
}
