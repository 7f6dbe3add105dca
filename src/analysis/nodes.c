#include "analysis/nodes.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/derived.h"
#include "analysis/levels.h"
#include "analysis/stored_nodes.h"
#include "core/parallel.h"
#include "dataset/formulas.h"
#include "dataset/pieces.h"

/* Of each context: whether the source has a row of it, it is a node, and its children were added to it. */
enum { HAS_OWN = AS_SUM_HAS_OWN, HAS_DATA = AS_SUM_IS_NODE, HAS_OTHER = 4 };

/* One part of a metric in a run, over a range of contexts. */
typedef struct summation {
    const as_dataset *ds;
    const as_slice *slice;
    uint32_t part;
    as_metric_kind kind;
    as_part_rule rule;
    bool is_integer;
    bool adds_up;
    bool is_wide;      /* integers are as_whole; else int64_t, which is enough but for a few */
    bool is_too_large; /* it was not enough */
    /* Numbers of each context; of metrics that do not add up, of each row. Of all others than integers double */
    void *own,
        /* of the context's own row; of its subtree without it (exclusive values) or of its children (inclusive ones) */
        *other;
    uint8_t *flags;              /* HAS_… */
    void *inclusive, *exclusive; /* what becomes of own and other, in their places */
} summation;

static size_t cell_size(const summation *s) { return s->is_wide ? sizeof(as_whole) : sizeof(int64_t); }

static as_whole whole_at(const summation *s, const void *cells, size_t i) {
    return s->is_wide ? ((const as_whole *)cells)[i] : ((const int64_t *)cells)[i];
}

/* Threads may do so side by side. */
static void put_whole(summation *s, void *cells, size_t i, as_whole value) {
    if (s->is_wide) {
        ((as_whole *)cells)[i] = value;
        return;
    }
    int64_t narrow = (int64_t)value;
    ((int64_t *)cells)[i] = narrow;
    if (narrow != value) __atomic_store_n(&s->is_too_large, true, __ATOMIC_RELAXED);
}

/* ---- over locations ---------------------------------------------------------------------------------------------- */

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
    summation *s = user;
    const as_profile *view = &s->slice->view;
    uint32_t first = (uint32_t)piece * ROWS_AT_ONCE, end = first + ROWS_AT_ONCE;
    for (uint32_t i = first; i < end && i < view->n_rows; i++) {
        const char *row = as_profile_row(view, i);
        uint32_t at = s->adds_up ? view->contexts[i] - s->slice->first : i;
        if (s->is_integer)
            put_whole(s, s->own, at, sum_integers(view, row));
        else
            ((double *)s->own)[at] = sum_parts(s, row);
        s->flags[at] = HAS_OWN | HAS_DATA;
    }
}

/* ---- along the tree ---------------------------------------------------------------------------------------------- */

/* Adds what a context has, of its own or below it, to what its parent has below it. */
static void add_to(summation *s, uint32_t parent, const void *cells, uint32_t child, bool first) {
    if (s->is_integer) {
        put_whole(s, s->other, parent, whole_at(s, s->other, parent) + whole_at(s, cells, child));
        return;
    }
    double value = ((const double *)cells)[child], *to = &((double *)s->other)[parent];
    if (s->rule == AS_PART_ADD)
        *to += value;
    else
        *to = first ? value : as_part_combine(s->rule, *to, value);
}

/* Hands each context's sum to its parent, from the last one on: a child comes behind its parent. HAS_DATA of a parent
 * without own values says that something was handed to it. */
static void add_children(summation *s) {
    const as_context *contexts = (const as_context *)s->ds->contexts.data + s->slice->first;
    bool is_extreme = s->rule != AS_PART_ADD; /* only minima and maxima ask whether a sum has begun */
    uint8_t *flags = s->flags;
    for (uint32_t i = s->slice->n; i-- > 1;) {
        if (!(flags[i] & (s->kind == AS_KIND_EXCLUSIVE ? HAS_DATA : HAS_OWN))) continue;
        const as_context *context = &contexts[i];
        if (context->parent == ASSAY_NONE || context->parent < s->slice->first || context->is_aside) continue;
        uint32_t at = context->parent - s->slice->first;
        bool first = is_extreme && !(flags[at] & HAS_OTHER);
        if (flags[i] & HAS_OWN) add_to(s, at, s->own, i, first), first = false;
        if (s->kind == AS_KIND_EXCLUSIVE && (!is_extreme || flags[i] & HAS_OTHER)) add_to(s, at, s->other, i, first);
        flags[at] |= HAS_OTHER | HAS_DATA;
    }
    /* An own value and none below it, or the other way round: the one there is. */
    for (uint32_t i = 0; is_extreme && i < s->slice->n; i++) {
        if (!(flags[i] & HAS_OTHER)) ((double *)s->other)[i] = ((double *)s->own)[i];
    }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static as_number real_number(double value) { return (as_number){.kind = AS_REAL, .r = value}; }

static void finish_whole(summation *s, size_t i) {
    as_whole own = whole_at(s, s->own, i), other = whole_at(s, s->other, i);
    put_whole(s, s->other, i,
              s->kind == AS_KIND_EXCLUSIVE   ? own + other
              : s->kind == AS_KIND_INCLUSIVE ? own - other
                                             : own);
}

static void finish_real(const summation *s, size_t i) {
    double own = ((double *)s->own)[i], *other = &((double *)s->other)[i];
    bool adds = s->rule == AS_PART_ADD;
    double total = adds ? own + *other : s->flags[i] & HAS_OWN ? as_part_combine(s->rule, own, *other) : *other;
    /* A minimum or maximum has no difference: the children's count as well. */
    double rest = adds ? own - *other : total;
    *other = s->kind == AS_KIND_EXCLUSIVE ? total : s->kind == AS_KIND_INCLUSIVE ? rest : own;
}

static uint32_t count_sums(const summation *s) { return s->adds_up ? s->slice->n : s->slice->view.n_rows; }

enum { SUMS_AT_ONCE = 1 << 14 };

static void finish_piece(void *user, size_t piece) {
    summation *s = user;
    uint32_t n = count_sums(s), first = (uint32_t)piece * SUMS_AT_ONCE,
             end = n - first < SUMS_AT_ONCE ? n : first + SUMS_AT_ONCE;
    for (uint32_t i = first; i < end && s->is_integer; i++) finish_whole(s, i);
    for (uint32_t i = first; i < end && !s->is_integer; i++) finish_real(s, i);
}

/* Inclusive and exclusive values from what a context has and what is below it. */
static void finish(summation *s) {
    as_parallel(((size_t)count_sums(s) + SUMS_AT_ONCE - 1) / SUMS_AT_ONCE, 0, finish_piece, s);
    s->inclusive = s->kind == AS_KIND_EXCLUSIVE ? s->other : s->own;
    s->exclusive = s->kind == AS_KIND_EXCLUSIVE ? s->own : s->other;
}

static void set_node(const summation *s, uint32_t i, as_node *node) {
    node->has_own = s->flags[i] & HAS_OWN;
    node->has_exclusive = s->adds_up;
    node->is_whole = s->is_integer;
    if (s->is_integer) {
        node->whole_inclusive = whole_at(s, s->inclusive, i);
        node->whole_exclusive = whole_at(s, s->exclusive, i);
        node->inclusive = as_whole_number(node->whole_inclusive);
        node->exclusive = as_whole_number(node->whole_exclusive);
    } else {
        node->inclusive = real_number(((const double *)s->inclusive)[i]);
        node->exclusive = real_number(((const double *)s->exclusive)[i]);
    }
}

/* Goes through the sums that make a node: gives its number among the sums in *at, and false behind the last. */
static bool next_sum(const summation *s, uint32_t *at) {
    uint32_t end = count_sums(s);
    while (*at < end && !(s->flags[*at] & HAS_DATA)) ++*at;
    return *at < end;
}

static bool collect(const summation *s, as_node_list *list) {
    for (uint32_t i = 0; next_sum(s, &i); i++) {
        as_node *node = as_vec_push(&list->nodes);
        if (!node) return false;
        node->context = s->adds_up ? s->slice->first + i : s->slice->view.contexts[i];
        set_node(s, i, node);
    }
    return true;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* Adds the exclusive value of one context, and what `more` has of it, to a number of another. */
static void add_amount(summation *s, void *to, size_t at, size_t from, const void *more) {
    if (s->is_integer)
        put_whole(s, to, at, whole_at(s, to, at) + (whole_at(s, s->exclusive, from) + whole_at(s, more, from)));
    else
        ((double *)to)[at] += ((double *)s->exclusive)[from] + ((const double *)more)[from];
}

/* Hands what pieces have to the contexts above them, the last ones first: see dataset/pieces.h. What a loop in a loop
 * has goes past that one, to the call. */
static bool add_pieces(summation *s) {
    const as_dataset *ds = s->ds;
    assay_id begin = s->slice->first;
    uint32_t n = s->slice->n, first = 0;
    while (first < n && !(s->flags[first] & HAS_DATA && as_is_piece(ds, begin + first))) first++;
    if (first == n) return true;
    as_str loop_kind = as_loop_kind(ds);
    if (!as_budget_allows(as_ds_budget(ds), n * cell_size(s))) return false;
    void *past = calloc(n, cell_size(s)); /* of loops: what those in them have */
    for (uint32_t i = n; past && i-- > first;) {
        assay_id piece = begin + i, parent = as_ds_context(ds, piece)->parent;
        if (!(s->flags[i] & HAS_DATA) || !as_is_piece(ds, piece) || parent == ASSAY_NONE || parent < begin ||
            !(s->flags[parent - begin] & HAS_DATA))
            continue;
        bool goes_past = as_is_loop(ds, loop_kind, piece) && as_is_loop(ds, loop_kind, parent);
        add_amount(s, goes_past ? past : s->exclusive, parent - begin, i, past);
    }
    free(past);
    return past != NULL;
}

/* ---- unsigned differences ---------------------------------------------------------------------------------------- */

/* Unsigned differences end at 0 at each location, so they cannot be taken from sums over locations: what is taken off a
 * context's value is its children's, at most the value itself. What as_rows_each() does for all types is done here for
 * the one that hardware counters have, without wide numbers: sums of children that exceed 64 bits exceed their parent
 * as well, and stay at the largest number. Strips of locations are taken side by side; as their sums are exact, any
 * number of them will do. */
enum { STRIP = 256 /* locations, at least */, MAX_STRIPS = 16 };

typedef struct differences {
    summation *s;
    uint32_t n_strips;
    as_whole *taken; /* what strips but the first found for each context: that goes to the sums at once */
    bool no_memory[MAX_STRIPS];
} differences;

typedef struct strip {
    summation *s;
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
        const as_context *about = as_ds_context(t->s->ds, context);
        size_t depth = about->depth;
        const uint64_t *below = as_levels_at(&t->levels, depth + 1);
        bool has_own = next > 0 && view->contexts[next - 1] == context;
        if (below && !taken) t->s->flags[context - first] |= HAS_DATA;
        if (has_own) { /* nothing less something is nothing */
            const char *row = strip_row(t, --next);
            as_whole found = below ? sum_taken(t, row, below) : 0;
            if (taken)
                taken[context - first] = found;
            else
                put_whole(t->s, t->s->other, context - first, found);
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
static bool find_differences(summation *s, bool is_large) {
    differences d = {.s = s, .n_strips = is_large ? as_core_count() : 1};
    if (d.n_strips > s->slice->view.n_columns / STRIP) d.n_strips = s->slice->view.n_columns / STRIP;
    d.n_strips = d.n_strips < 1 ? 1 : d.n_strips > MAX_STRIPS ? MAX_STRIPS : d.n_strips;
    size_t n_others = (d.n_strips - 1) * (size_t)s->slice->n;
    if (!as_budget_allows(&s->ds->budget, n_others * sizeof *d.taken)) return false;
    if (n_others && !(d.taken = calloc(n_others, sizeof *d.taken))) return false;
    as_parallel(d.n_strips, d.n_strips, take_strip, &d);
    bool fine = true;
    for (uint32_t i = 0; i < d.n_strips; i++) fine &= !d.no_memory[i];
    for (size_t i = 0; i < n_others; i++) {
        size_t at = i % s->slice->n;
        put_whole(s, s->other, at, whole_at(s, s->other, at) + d.taken[i]);
    }
    free(d.taken);
    return fine;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* n zeros. */
static bool make_zeros(as_vec *vec, size_t n) {
    vec->count = 0;
    as_vec_expect(vec, n);
    if (!as_vec_reserve(vec, n)) return false;
    if (n) memset(vec->data, 0, n);
    vec->count = n;
    return true;
}

static bool sum_in_cells(summation *s, as_node_sums *room) {
    const as_profile *view = &s->slice->view;
    size_t n = count_sums(s), bytes;
    as_vec *own = s->kind == AS_KIND_EXCLUSIVE ? &room->exclusive : &room->inclusive,
           *other = s->kind == AS_KIND_EXCLUSIVE ? &room->inclusive : &room->exclusive;
    if (!as_mul_size(n, cell_size(s), &bytes) || !make_zeros(own, bytes) || !make_zeros(other, bytes) ||
        !make_zeros(&room->flags, n))
        return false;
    s->own = own->data;
    s->other = other->data;
    s->flags = room->flags.data;
    s->rule = as_part_rule_of(view->type.dtype, s->part);
    bool is_large = as_profile_values(view) > 1 << 18;
    as_parallel((view->n_rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, is_large ? 0 : 1, sum_rows, s);
    if (s->adds_up && s->kind == AS_KIND_INCLUSIVE && as_dtype_is_unsigned(view->type.dtype)) {
        if (!find_differences(s, is_large)) return false;
    } else if (s->adds_up) {
        add_children(s);
    }
    finish(s);
    bool has_pieces = s->kind == AS_KIND_EXCLUSIVE && s->rule == AS_PART_ADD;
    return !has_pieces || as_dtype_is_composite(view->type.dtype) || add_pieces(s);
}

static bool sum_part(summation *s, as_node_sums *room) {
    s->is_wide = s->is_too_large = false;
    if (!sum_in_cells(s, room)) return false;
    if (!s->is_too_large) return true;
    s->is_wide = true;
    return sum_in_cells(s, room);
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
            set_node(s, at, &node);
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
    as_vec_init(&list->sums.inclusive, 1, budget);
    as_vec_init(&list->sums.exclusive, 1, budget);
    as_vec_init(&list->sums.flags, 1, budget);
}

void as_node_list_init(as_node_list *list) { init_list(list, NULL); }

void as_node_list_init_of(as_node_list *list, const as_dataset *ds) { init_list(list, as_ds_budget(ds)); }

void as_node_list_drop_room(as_node_list *list) {
    as_vec_free(&list->sums.inclusive);
    as_vec_free(&list->sums.exclusive);
    as_vec_free(&list->sums.flags);
}

void as_node_list_free(as_node_list *list) {
    as_vec_free(&list->nodes);
    as_vec_free(&list->parts);
    as_node_list_drop_room(list);
    list->is_compact = false;
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
                              const bool *locations, bool can_be_compact, as_node_list *list, assay_error *error) {
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
            fine = sum_part(&s, &list->sums);
        list->sums.is_whole = s.is_integer;
        list->is_compact = can_be_compact && s.adds_up && !list->n_parts && !s.is_wide;
        if (fine && !list->n_parts && !list->is_compact) fine = collect(&s, list);
    }
    as_slice_close(&slice);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* What each context has of a metric that nothing is made of. */
static assay_status sum_own(const as_dataset *ds, assay_id run, assay_id metric, range contexts, const bool *locations,
                            as_node_list *list, assay_error *error) {
    const as_profile *profile = as_ds_profile(ds, metric, run);
    if (!profile || !as_profile_is_sparse(profile))
        return sum_slice(ds, run, metric, AS_KIND_NONE, contexts, locations, false, list, error);
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
    list->is_compact = false;
    if (about->is_stored) return find_stored(ds, run, metric, contexts, locations, list, error);
    return sum_slice(ds, run, metric, about->kind, contexts, locations, false, list, error);
}

assay_status as_nodes_find_compact(const as_dataset *ds, assay_id run, assay_id metric, const bool *locations,
                                   as_node_list *list, assay_error *error) {
    const as_metric *about = as_ds_metric(ds, metric);
    if (as_ds_derived(ds, metric) || about->is_stored)
        return as_nodes_find_at(ds, run, metric, ASSAY_NONE, locations, list, error);
    list->nodes.count = list->parts.count = list->n_parts = 0;
    list->is_compact = false;
    return sum_slice(ds, run, metric, about->kind, (range){0, (uint32_t)AS_COUNT(ds, contexts)}, locations, true, list,
                     error);
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
    list->is_compact = false;
    if (as_ds_metric(ds, metric)->is_stored && !as_ds_derived(ds, metric))
        return find_stored(ds, run, metric, (range){context, 1}, locations, list, error);
    AS_TRY(as_nodes_find_at(ds, run, metric, context, locations, list, error));
    if (list->nodes.count) list->nodes.count = as_node_at(list, 0)->context == context;
    return ASSAY_OK;
}
