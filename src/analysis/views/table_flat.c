/* Flat views as tables: their members in pre-order, and what these have in one pass over the contexts. */
#include <stdlib.h>

#include "analysis/views/table.h"
#include "analysis/views/view_private.h"
#include "core/large_pages.h"
#include "core/parallel.h"

/* What lies anywhere is asked for so many steps before it is needed. */
enum { STEPS_AHEAD = 24 };

/* ---- items ------------------------------------------------------------------------------------------------------- */

static as_view_item item_of(const as_view_data *data, const as_view_walker *walker, const as_view_member *member) {
    const as_dataset *ds = data->source.ds;
    bool is_call = member->level == AS_LEVEL_CALL, is_context = as_view_member_is_context(member);
    bool is_section = data->leaves_apart && member->parent == UINT32_MAX && member->level == AS_LEVEL_CONTEXT &&
                      as_context_is_section(ds, member->context);
    bool is_inlined = is_context && as_ds_context(ds, member->context)->is_inlined;
    return (as_view_item){.context = is_context ? member->context : ASSAY_NONE,
                          .call_site = is_call ? as_view_call_site(walker, member->context) : ASSAY_NONE,
                          .name = member->name,
                          .level = member->level,
                          .flags =
                              (uint8_t)((member->is_aside || is_section ? AS_ITEM_APART : 0) |
                                        (member->is_aside ? AS_ITEM_ASIDE : 0) | (is_inlined ? AS_ITEM_INLINED : 0))};
}

/* The number of each member's item, in pre-order; sizes: of the subtrees. Parents come before their children. */
static void number_items(const as_view_groups *groups, uint32_t *sizes, uint32_t *items) {
    uint32_t n = (uint32_t)groups->members.count, next_root = 0;
    for (uint32_t i = 0; i < n; i++) sizes[i] = 1;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t parent = as_view_member_at(groups, i)->parent;
        if (parent != UINT32_MAX) sizes[parent] += sizes[i];
    }
    /* A member's item is known when it is met; until then, and behind it, its field says where its next child goes */
    uint32_t *next = items;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = as_view_member_at(groups, i)->parent,
                 *from = parent == UINT32_MAX ? &next_root : &next[parent];
        uint32_t own = *from;
        *from += sizes[i];
        next[i] = own + 1;
    }
    /* Behind the last child stands the end of the subtree */
    for (uint32_t i = 0; i < n; i++) items[i] -= sizes[i];
}

/* Members that become items. */
typedef struct putting {
    const as_view_data *data;
    const as_view_walker *walker;
    const as_view_groups *groups;
    const uint32_t *sizes, *items;
    as_view_item *out;
} putting;

enum { MEMBERS_AT_ONCE = 1 << 14 };

/* All but their depth. */
static void put_items(void *user, size_t piece) {
    const putting *p = user;
    uint32_t n = (uint32_t)p->groups->members.count, first = (uint32_t)piece * MEMBERS_AT_ONCE;
    for (uint32_t i = first; i < n && i - first < MEMBERS_AT_ONCE; i++) {
        const as_view_member *member = as_view_member_at(p->groups, i);
        if (n - i > STEPS_AHEAD) __builtin_prefetch(&p->out[p->items[i + STEPS_AHEAD]], 1);
        as_view_item item = item_of(p->data, p->walker, member);
        item.parent = member->parent == UINT32_MAX ? AS_NO_ITEM : p->items[member->parent];
        item.end = p->items[i] + p->sizes[i];
        p->out[p->items[i]] = item;
    }
}

static void put_all_items(as_view_table *table, putting *p) {
    size_t n = p->groups->members.count;
    as_parallel((n + MEMBERS_AT_ONCE - 1) / MEMBERS_AT_ONCE, 0, put_items, p);
    for (size_t i = 0; i < n; i++) {
        as_view_item *item = &p->out[i];
        item->depth = item->parent == AS_NO_ITEM ? 0 : p->out[item->parent].depth + 1;
    }
    table->items.count = n;
}

/* Numbers of members that become those of their items. */
typedef struct renumbering {
    uint32_t *places[2]; /* of each context; the second may be NULL */
    size_t n;
    const uint32_t *items;
} renumbering;

enum { CONTEXTS_AT_ONCE = 1 << 14 };

static void renumber(void *user, size_t piece) {
    const renumbering *r = user;
    size_t first = piece * CONTEXTS_AT_ONCE;
    for (size_t k = 0; k < 2; k++) {
        uint32_t *places = r->places[k];
        for (size_t i = first; places && i < r->n && i - first < CONTEXTS_AT_ONCE; i++) {
            if (places[i] != UINT32_MAX) places[i] = r->items[places[i]];
        }
    }
}

static bool fill(as_view_table *table, const as_view_data *data, const as_view_walker *walker, as_view_groups *groups) {
    size_t n = groups->members.count, n_contexts = AS_COUNT(table->ds, contexts);
    uint32_t *sizes = as_large_array(n, sizeof *sizes), *items = as_large_array(n, sizeof *items);
    as_vec_expect(&table->items, n);
    bool fine = sizes && items && n < UINT32_MAX - 1 && as_vec_reserve(&table->items, n);
    if (fine) {
        number_items(groups, sizes, items);
        putting p = {data, walker, groups, sizes, items, table->items.data};
        put_all_items(table, &p);
        renumbering r = {{groups->of_context, groups->of_call}, n_contexts, items};
        as_parallel((n_contexts + CONTEXTS_AT_ONCE - 1) / CONTEXTS_AT_ONCE, 0, renumber, &r);
        table->own_items = groups->of_context;
        table->call_items = groups->of_call;
        groups->of_context = groups->of_call = NULL;
    }
    free(sizes);
    free(items);
    return fine;
}

bool as_view_flat_fill(as_view_table *table, const as_view_data *data) {
    as_view_walker walker = {.data = data, .request = &table->request};
    as_view_groups groups = {0};
    bool by_scope = table->request.group == AS_GROUP_SCOPE;
    bool fine = !table->request.joins_calls || as_view_join_calls(&walker);
    if (fine)
        fine =
            by_scope ? as_view_scopes_init(&groups, &walker) : as_view_groups_init(&groups, data, table->request.group);
    fine = fine && fill(table, data, &walker, &groups);
    as_view_groups_free(&groups);
    free(walker.is_joined);
    return fine;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

enum { MOST_ITEMS = AS_VIEW_MOST_GROUPS };

/* The items that a context counts in with what it does itself; returns how many. */
static size_t own_items_of(const as_view_table *table, assay_id context, uint32_t out[MOST_ITEMS]) {
    size_t n = 0;
    uint32_t own = table->own_items[context];
    if (own == UINT32_MAX) return 0;
    out[n++] = own;
    uint32_t file = as_view_item_at(table, own)->parent;
    if (file != AS_NO_ITEM && as_view_item_at(table, file)->level == AS_LEVEL_FILE) {
        out[n++] = file;
        out[n++] = as_view_item_at(table, file)->parent;
    }
    return n;
}

/* All that it counts in: that of calls below its caller, too. */
static size_t items_of(const as_view_table *table, assay_id context, uint32_t out[MOST_ITEMS]) {
    size_t n = own_items_of(table, context, out);
    if (n && table->call_items && table->call_items[context] != UINT32_MAX) out[n++] = table->call_items[context];
    return n;
}

bool as_view_flat_contexts(const as_view_table *table, uint32_t item, as_vec *out) {
    uint32_t in[MOST_ITEMS];
    for (assay_id id = 0; id < AS_COUNT(table->ds, contexts); id++) {
        size_t n = items_of(table, id, in);
        while (n > 0 && in[n - 1] != item) n--;
        if (n > 0 && !as_vec_append(out, &id, 1)) return false;
    }
    return true;
}

/* What a call does is not done at the place it comes from. */
static bool is_call(const as_view_table *table, uint32_t item) {
    return as_view_item_at(table, item)->level == AS_LEVEL_CALL;
}

/* ---- of plain values, all items at once: what as_view_sum_add() does with them */

/* Items may lie anywhere: the one that a context some steps ahead needs, for it to be asked for; UINT32_MAX: none. */
static inline uint32_t item_ahead(const bool *has, const uint32_t *items, assay_id context, size_t n) {
    size_t ahead = (size_t)context + STEPS_AHEAD;
    return ahead < n && has[ahead] ? items[ahead] : UINT32_MAX;
}

/* Pieces of work. */
enum { ITEMS_AT_ONCE = 2048 };

/* The file that what is counted in an item is counted in, too; AS_NO_ITEM: none. */
static inline uint32_t file_above(const as_view_item *items, uint32_t own) {
    uint32_t above = items[own].parent;
    return above != AS_NO_ITEM && items[above].level == AS_LEVEL_FILE ? above : AS_NO_ITEM;
}

/* A context with all below it. */
typedef struct subtree {
    assay_id first, end;
    bool is_aside;
    double value;
} subtree;

/* end: behind the last outermost context that was added; 0: none was. */
static inline void add_outermost(double *to, assay_id *end, const subtree *added) {
    if (added->first < *end && !added->is_aside) return;
    *to = *end ? *to + added->value : added->value;
    if (added->end > *end) *end = added->end;
}

/* Columns of one metric for all items while they are made. */
typedef struct adding {
    const as_view_table *table;
    const as_view_column *column;
    as_view_values *values;
    assay_id *ends; /* for each item that of add_outermost() */
    bool *is_known; /* for each item whether anything was added to its exclusive value */
} adding;

static size_t inclusive_contexts(const adding *a) {
    return a->column->is_only_exclusive ? 0 : AS_COUNT(a->table->ds, contexts);
}

/* To the items that contexts are, their files and modules. */
static void add_inclusive(const adding *a) {
    const as_context *contexts = a->table->ds->contexts.data;
    const as_view_item *items = a->table->items.data;
    const uint32_t *own_items = a->table->own_items;
    const bool *has = a->column->sums.has_inclusive.data;
    const double *from = a->column->sums.inclusive.data;
    double *to = a->values->inclusive;
    size_t n = inclusive_contexts(a);
    for (assay_id id = 0; id < n; id++) {
        uint32_t ahead = item_ahead(has, own_items, id, n);
        if (ahead != UINT32_MAX) {
            __builtin_prefetch(&items[ahead]);
            __builtin_prefetch(&to[ahead], 1);
            __builtin_prefetch(&a->ends[ahead], 1);
        }
        uint32_t own = has[id] ? own_items[id] : UINT32_MAX;
        if (own == UINT32_MAX) continue;
        subtree added = {id, id + contexts[id].subtree, contexts[id].is_aside, from[id]};
        uint32_t file = file_above(items, own);
        add_outermost(&to[own], &a->ends[own], &added);
        if (file == AS_NO_ITEM) continue;
        uint32_t module = items[file].parent;
        add_outermost(&to[file], &a->ends[file], &added);
        add_outermost(&to[module], &a->ends[module], &added);
    }
}

/* To those of calls below their callers. */
static void add_calls(const adding *a) {
    const as_context *contexts = a->table->ds->contexts.data;
    const uint32_t *own_items = a->table->own_items, *call_items = a->table->call_items;
    const bool *has = a->column->sums.has_inclusive.data;
    const double *from = a->column->sums.inclusive.data;
    double *to = a->values->inclusive;
    size_t n = call_items ? inclusive_contexts(a) : 0;
    for (assay_id id = 0; id < n; id++) {
        uint32_t ahead = item_ahead(has, call_items, id, n);
        if (ahead != UINT32_MAX) {
            __builtin_prefetch(&to[ahead], 1);
            __builtin_prefetch(&a->ends[ahead], 1);
        }
        uint32_t call = has[id] && own_items[id] != UINT32_MAX ? call_items[id] : UINT32_MAX;
        if (call == UINT32_MAX) continue;
        subtree added = {id, id + contexts[id].subtree, contexts[id].is_aside, from[id]};
        add_outermost(&to[call], &a->ends[call], &added);
    }
}

static inline void add_real(double *to, bool *has, double value) {
    *to = *has ? *to + value : value;
    *has = true;
}

/* Adds numbers of all contexts to the items they count in with what they do themselves. */
static void add_own(const adding *a, const as_vec *has, const as_vec *from) {
    const as_view_item *items = a->table->items.data;
    const uint32_t *own_items = a->table->own_items;
    const bool *is_there = has->data;
    const double *numbers = from->data;
    double *to = a->values->exclusive;
    size_t n = AS_COUNT(a->table->ds, contexts);
    for (assay_id id = 0; id < n; id++) {
        uint32_t ahead = item_ahead(is_there, own_items, id, n);
        if (ahead != UINT32_MAX) {
            __builtin_prefetch(&items[ahead]);
            __builtin_prefetch(&to[ahead], 1);
            __builtin_prefetch(&a->is_known[ahead], 1);
        }
        uint32_t own = is_there[id] ? own_items[id] : UINT32_MAX;
        if (own == UINT32_MAX) continue;
        uint32_t file = file_above(items, own);
        add_real(&to[own], &a->is_known[own], numbers[id]);
        if (file == AS_NO_ITEM) continue;
        uint32_t module = items[file].parent;
        add_real(&to[file], &a->is_known[file], numbers[id]);
        add_real(&to[module], &a->is_known[module], numbers[id]);
    }
}

/* There are those of pairs, or those of a metric that has nothing else. */
static void add_exclusive(const adding *a) {
    const as_stored_sums *sums = &a->column->sums;
    if (sums->exclusive.count)
        add_own(a, &sums->has_exclusive, &sums->exclusive);
    else if (a->column->is_only_exclusive)
        add_own(a, &sums->has_inclusive, &sums->inclusive);
}

/* No item is part of two of these. */
static void add_part(void *user, size_t part) {
    static void (*const parts[])(const adding *) = {add_inclusive, add_exclusive, add_calls};
    parts[part](user);
}

/* What nothing was added to is not known. */
static void end_items(void *user, size_t piece) {
    const adding *a = user;
    double *inclusive = a->values->inclusive, *exclusive = a->values->exclusive;
    uint32_t first = (uint32_t)piece * ITEMS_AT_ONCE;
    for (uint32_t i = first; i < a->values->n && i - first < ITEMS_AT_ONCE; i++) {
        inclusive[i] = a->ends[i] ? inclusive[i] : NAN;
        exclusive[i] = a->is_known[i] ? exclusive[i] : NAN;
    }
}

static bool add_all(const as_view_table *table, const as_view_column *column, as_view_values *values) {
    adding a = {.table = table,
                .column = column,
                .values = values,
                .ends = as_large_zeros(values->n, sizeof *a.ends),
                .is_known = as_large_zeros(values->n, sizeof *a.is_known)};
    bool fine = a.ends && a.is_known;
    if (fine) as_parallel(3, 0, add_part, &a);
    if (fine) as_parallel(((size_t)values->n + ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE, 0, end_items, &a);
    free(a.ends);
    free(a.is_known);
    return fine;
}

/* ---- of all others, item by item */

/* The contexts of item i are contexts[starts[i]] … contexts[starts[i + 1] - 1], ascending. False when memory is out. */
static bool list_contexts(const as_view_table *table, uint32_t *starts, assay_id **contexts) {
    size_t n_contexts = AS_COUNT(table->ds, contexts);
    uint32_t in[MOST_ITEMS], n_items = as_view_items(table), total = 0;
    memset(starts, 0, ((size_t)n_items + 1) * sizeof *starts);
    for (assay_id id = 0; id < n_contexts; id++) {
        for (size_t i = items_of(table, id, in); i-- > 0;) starts[in[i]]++;
    }
    for (uint32_t i = 0; i < n_items; i++) {
        uint32_t n = starts[i];
        starts[i] = total;
        total += n;
    }
    starts[n_items] = total;
    *contexts = malloc(((size_t)total + 1) * sizeof **contexts);
    if (!*contexts) return false;
    for (assay_id id = 0; id < n_contexts; id++) {
        for (size_t i = items_of(table, id, in); i-- > 0;) (*contexts)[starts[in[i]]++] = id;
    }
    /* Each now says where the next one begins */
    memmove(starts + 1, starts, n_items * sizeof *starts);
    starts[0] = 0;
    return true;
}

typedef struct listing {
    const as_view_table *table;
    const as_view_column *column;
    const uint32_t *starts;
    const assay_id *contexts;
    as_view_values *values;
    double *parts; /* of composite types, 2 * n_parts for each piece of work */
} listing;

/* Whether values are plain reals of each context, of which there may be millions. */
static bool are_plain(const as_view_column *column) {
    bool has_twice = column->is_only_exclusive && column->sums.exclusive.count; /* exclusive values of both kinds */
    return column->has_sums && !column->formula && column->can_merge && !has_twice;
}

/* Items first … end - 1 of plain values. */
static void sum_plain_items(const listing *l, uint32_t first, uint32_t end) {
    const as_context *contexts = l->table->ds->contexts.data;
    const as_stored_sums *sums = &l->column->sums;
    bool is_only_exclusive = l->column->is_only_exclusive, is_pair = sums->exclusive.count > 0;
    const bool *has = sums->has_inclusive.data, *has_exclusive = is_only_exclusive ? has : sums->has_exclusive.data;
    const double *from = sums->inclusive.data, *exclusive_from = is_only_exclusive ? from : sums->exclusive.data;
    for (uint32_t i = first; i < end; i++) {
        double inclusive = NAN, exclusive = NAN;
        bool is_known = false;
        assay_id behind = 0;
        for (uint32_t k = l->starts[i]; k < l->starts[i + 1]; k++) {
            assay_id id = l->contexts[k];
            if ((is_pair || is_only_exclusive) && has_exclusive[id])
                add_real(&exclusive, &is_known, exclusive_from[id]);
            if (is_only_exclusive || !has[id]) continue;
            subtree added = {id, id + contexts[id].subtree, contexts[id].is_aside, from[id]};
            add_outermost(&inclusive, &behind, &added);
        }
        l->values->inclusive[i] = inclusive;
        l->values->exclusive[i] = is_call(l->table, i) ? NAN : exclusive;
    }
}

static void sum_items(void *user, size_t piece) {
    const listing *l = user;
    uint32_t n_parts = l->column->list.n_parts;
    double *parts = n_parts ? l->parts + piece * 2 * n_parts : NULL;
    uint32_t first = (uint32_t)piece * ITEMS_AT_ONCE,
             end = l->values->n - first < ITEMS_AT_ONCE ? l->values->n : first + ITEMS_AT_ONCE;
    if (are_plain(l->column)) {
        sum_plain_items(l, first, end);
        return;
    }
    for (uint32_t i = first; i < end; i++) {
        as_view_sum sum;
        as_view_sum_begin(&sum, l->column, parts);
        for (uint32_t k = l->starts[i]; k < l->starts[i + 1]; k++) as_view_sum_add(&sum, l->table->ds, l->contexts[k]);
        as_view_value value = as_view_sum_value(&sum);
        l->values->inclusive[i] = value.inclusive.is_known ? value.inclusive.real : NAN;
        l->values->exclusive[i] = value.exclusive.is_known && !is_call(l->table, i) ? value.exclusive.real : NAN;
    }
}

/* A formula adds up one item at a time. */
bool as_view_listed_values(const as_view_table *table, const as_view_column *column, const uint32_t *starts,
                           const assay_id *contexts, as_view_values *values) {
    size_t n_pieces = ((size_t)values->n + ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE, n_parts = 0;
    if (!as_mul_size(n_pieces, 2 * (size_t)column->list.n_parts, &n_parts)) return false;
    double *parts = calloc(n_parts + 1, sizeof *parts);
    if (!parts) return false;
    listing l = {
        .table = table, .column = column, .starts = starts, .contexts = contexts, .values = values, .parts = parts};
    as_parallel(n_pieces, column->formula ? 1 : 0, sum_items, &l);
    free(parts);
    return true;
}

static bool sum_each(const as_view_table *table, const as_view_column *column, as_view_values *values) {
    uint32_t *starts = malloc(((size_t)values->n + 1) * sizeof *starts);
    assay_id *contexts = NULL;
    bool fine = starts && list_contexts(table, starts, &contexts) &&
                as_view_listed_values(table, column, starts, contexts, values);
    free(starts);
    free(contexts);
    return fine;
}

bool as_view_flat_values(const as_view_table *table, const as_view_data *data, as_view_values *values) {
    const as_view_column *column = &data->columns[0];
    return are_plain(column) ? add_all(table, column, values) : sum_each(table, column, values);
}
