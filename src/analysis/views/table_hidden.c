/* Tables without what is hidden: some items of another table, with the numbers that they have there. */
#include <stdlib.h>

#include "analysis/views/table.h"
#include "analysis/views/view_private.h"

static uint8_t hides(const uint8_t *hidden, as_str name) { return name == AS_NO_STR ? 0 : hidden[name]; }

/* ---- which items ------------------------------------------------------------------------------------------------- */

/* Those that are shown, as they stand. *are_lifted: whether one of them lay below one that is not. Returns how many
 * there are. */
static uint32_t find_shown(const as_view_table *all, const uint8_t *hidden, uint32_t *sources, bool *are_lifted) {
    const as_view_item *items = all->items.data;
    uint32_t n = 0, n_all = as_view_items(all);
    bool is_root = all->skipped_root != ASSAY_NONE;
    uint8_t of_root = is_root ? hides(hidden, as_ds_context(all->ds, all->skipped_root)->name) : 0;
    *are_lifted = false;
    for (uint32_t i = of_root & AS_HIDES_SUBTREE ? n_all : 0; i < n_all;) {
        uint8_t how = hides(hidden, items[i].name);
        if (!how) sources[n++] = i;
        *are_lifted |= how == AS_HIDES_NODE && items[i].end > i + 1;
        i = how & AS_HIDES_SUBTREE ? items[i].end : i + 1;
    }
    return n;
}

/* ---- their order ------------------------------------------------------------------------------------------------- */

/* Flat: what is lifted stands among others as members do (as_view_groups): by the first context, and where that is one,
 * functions before calls of them. The first below a module or file has its first context. */
static assay_id first_context(const as_view_item *items, uint32_t i) {
    while (items[i].context == ASSAY_NONE && i + 1 < items[i].end) i++;
    return items[i].context;
}

/* Puts the numbers 0 … n - 1 into that order. Parents stay before their children. False when memory is out. */
static bool sort_shown(const as_view_table *all, const uint32_t *sources, uint32_t n, uint32_t *order) {
    const as_view_item *items = all->items.data;
    size_t n_contexts = AS_COUNT(all->ds, contexts);
    uint32_t *starts = calloc(n_contexts + 1, sizeof *starts), total = 0;
    for (uint32_t i = 0; starts && i < n; i++) starts[first_context(items, sources[i])]++;
    for (size_t id = 0; starts && id < n_contexts; id++) {
        uint32_t here = starts[id];
        starts[id] = total;
        total += here;
    }
    for (int calls = 0; starts && calls < 2; calls++) {
        for (uint32_t i = 0; i < n; i++) {
            if ((items[sources[i]].level == AS_LEVEL_CALL) == calls)
                order[starts[first_context(items, sources[i])]++] = i;
        }
    }
    free(starts);
    return starts != NULL;
}

/* For each that is shown the number of the one it is below; UINT32_MAX: none. */
static void find_parents(const as_view_table *all, const uint32_t *sources, uint32_t n, uint32_t *parents) {
    const as_view_item *items = all->items.data;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i ? i - 1 : UINT32_MAX;
        while (at != UINT32_MAX && items[sources[at]].end <= sources[i]) at = parents[at];
        parents[i] = at;
    }
}

/* Room for the tree of what is shown: numbers of those that are, UINT32_MAX: none. There may be millions of them. */
typedef struct shown_tree {
    uint32_t *order, *first_children;
    /* the one beside it; behind the last one IS_PARENT and the one they are below. Until then: the one it is below */
    uint32_t *nexts;
    uint32_t first;
} shown_tree;

#define IS_PARENT (UINT32_C(1) << 31)

static void shown_tree_free(shown_tree *t) {
    free(t->order);
    free(t->first_children);
    free(t->nexts);
}

/* Behind one in pre-order. */
static uint32_t next_shown(const shown_tree *t, uint32_t i) {
    if (t->first_children[i] != UINT32_MAX) return t->first_children[i];
    while (t->nexts[i] != UINT32_MAX && t->nexts[i] & IS_PARENT) i = t->nexts[i] & ~IS_PARENT;
    return t->nexts[i];
}

/* Brings siblings into the order of members. */
static void link_siblings(shown_tree *t, uint32_t n) {
    for (uint32_t k = n; k-- > 0;) {
        uint32_t i = t->order[k], parent = t->nexts[i],
                 *first = parent == UINT32_MAX ? &t->first : &t->first_children[parent];
        bool is_last = *first == UINT32_MAX;
        t->nexts[i] = !is_last ? *first : parent == UINT32_MAX ? UINT32_MAX : parent | IS_PARENT;
        *first = i;
    }
}

/* In pre-order, siblings in the order of members. False when memory is out, or beyond 2^31 items. */
static bool rearrange(const as_view_table *all, uint32_t **sources, uint32_t n) {
    size_t size = ((size_t)n + 1) * sizeof(uint32_t);
    shown_tree t = {.order = malloc(size), .first = UINT32_MAX};
    bool fine = n < IS_PARENT - 1 && t.order && sort_shown(all, *sources, n, t.order);
    if (fine) {
        t.first_children = malloc(size);
        t.nexts = malloc(size);
        fine = t.first_children && t.nexts;
    }
    if (fine) {
        memset(t.first_children, 0xff, size);
        find_parents(all, *sources, n, t.nexts);
        link_siblings(&t, n);
        uint32_t to = 0;
        for (uint32_t i = t.first; i != UINT32_MAX; i = next_shown(&t, i)) t.order[to++] = (*sources)[i];
        free(*sources);
        *sources = t.order;
        t.order = NULL;
    }
    shown_tree_free(&t);
    return fine;
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* Flat: a section is apart where it is of the first level. */
static bool is_section(const as_view_table *table, const as_view_item *item) {
    return table->leaves_apart && table->request.kind == AS_VIEW_FLAT && item->level == AS_LEVEL_CONTEXT &&
           as_context_is_section(table->ds, item->context);
}

/* Items as they are in the other table become those of this one. */
static void connect_items(as_view_table *table) {
    as_view_item *items = table->items.data;
    const uint32_t *sources = table->sources;
    uint32_t at = AS_NO_ITEM, n = as_view_items(table);
    for (uint32_t i = 0; i <= n; i++) {
        while (at != AS_NO_ITEM && (i == n || sources[i] < sources[at] || sources[i] >= items[at].end)) {
            items[at].end = i;
            at = items[at].parent;
        }
        if (i == n) break;
        items[i].parent = at;
        items[i].depth = at == AS_NO_ITEM ? 0 : items[at].depth + 1;
        if (at == AS_NO_ITEM && is_section(table, &items[i])) items[i].flags |= AS_ITEM_APART;
        at = i;
    }
}

/* The items that are shown, as sources. False when memory is out. */
static bool choose_items(const as_view_table *all, const uint8_t *hidden, as_view_table *table, uint32_t *n) {
    uint32_t n_all = as_view_items(all);
    bool are_lifted, is_flat = all->request.kind == AS_VIEW_FLAT;
    table->sources = malloc(((size_t)n_all + 1) * sizeof *table->sources);
    if (!table->sources) return false;
    *n = find_shown(all, hidden, table->sources, &are_lifted);
    if (is_flat && are_lifted && !rearrange(all, &table->sources, *n)) return false;
    uint32_t *fitting = realloc(table->sources, ((size_t)*n + 1) * sizeof *fitting);
    if (fitting) table->sources = fitting;
    table->cut.hidden = n_all - *n;
    if (all->skipped_root != ASSAY_NONE)
        table->cut.hidden += hides(hidden, as_ds_context(all->ds, all->skipped_root)->name) != 0;
    return true;
}

static bool fill(const as_view_table *all, const uint8_t *hidden, as_view_table *table) {
    uint32_t n;
    if (!choose_items(all, hidden, table, &n)) return false;
    as_vec_expect(&table->items, n);
    if (!as_vec_reserve(&table->items, n)) return false;
    for (uint32_t i = 0; i < n; i++) AS_AT(as_view_item, &table->items, i) = *as_view_item_at(all, table->sources[i]);
    table->items.count = n;
    connect_items(table);
    return true;
}

assay_status as_view_table_hide(const as_view_table *all, const uint8_t *hidden, as_view_table **out,
                                assay_error *error) {
    as_view_table *table = calloc(1, sizeof *table);
    *out = NULL;
    if (!table) return as_fail_memory(error, NULL);
    table->ds = all->ds;
    table->request = all->request;
    table->request.hidden = hidden;
    table->skipped_root = all->skipped_root;
    table->leaves_apart = all->leaves_apart;
    as_vec_init(&table->items, sizeof(as_view_item), as_ds_budget(table->ds));
    if (fill(all, hidden, table)) {
        *out = table;
        return ASSAY_OK;
    }
    as_view_table_free(table);
    return as_fail_memory(error, NULL);
}

/* ---- what is hidden ---------------------------------------------------------------------------------------------- */

static double known(double value) { return isnan(value) ? 0 : value; }

/* What an item has that those below it have not. */
static double own_of(const as_view_table *all, const double *values, uint32_t item) {
    double own = known(values[item]);
    for (uint32_t at = as_view_first_child(all, item); at != AS_NO_ITEM; at = as_view_next_sibling(all, at)) {
        const as_view_item *child = as_view_item_at(all, at);
        if (!(child->flags & AS_ITEM_APART) && child->level != AS_LEVEL_CALL) own -= known(values[at]);
    }
    return own;
}

static double sum_hidden(const as_view_table *all, const uint8_t *hidden, const as_view_values *values) {
    bool is_tree = all->request.kind == AS_VIEW_TOP_DOWN;
    const double *of = is_tree ? values->inclusive : values->exclusive;
    double sum = 0;
    if (!values->adds_up || !values->has_exclusive || (is_tree && !values->has_inclusive)) return NAN;
    for (uint32_t i = 0; i < values->n;) {
        const as_view_item *item = as_view_item_at(all, i);
        bool is_apart = item->flags & AS_ITEM_APART;
        uint8_t how = is_apart ? 0 : hides(hidden, item->name);
        if (how) sum += how & AS_HIDES_SUBTREE ? known(of[i]) : own_of(all, of, i);
        i = how & AS_HIDES_SUBTREE || is_apart ? item->end : i + 1;
    }
    return sum;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

assay_status as_view_values_hide(const as_view_table *table, const as_view_table *all, const as_view_values *of,
                                 as_view_values **out, assay_error *error) {
    uint32_t n = as_view_items(table);
    as_view_values *values = as_view_values_like(of, n);
    *out = NULL;
    if (!values) return as_fail_memory(error, NULL);
    for (uint32_t i = 0; i < n; i++) {
        values->inclusive[i] = of->inclusive[table->sources[i]];
        values->exclusive[i] = of->exclusive ? of->exclusive[table->sources[i]] : NAN;
    }
    values->hidden = sum_hidden(all, table->request.hidden, of);
    if (!as_view_values_finish(table, values)) {
        as_view_values_free(values);
        return as_fail_memory(error, NULL);
    }
    *out = values;
    return ASSAY_OK;
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

static bool are_in_order(const uint32_t *sources, uint32_t n) {
    bool fine = true;
    for (uint32_t i = 1; i < n; i++) fine &= sources[i - 1] < sources[i];
    return fine;
}

/* gather() of what is in order: long runs of neighbours move up. */
static void move_up(void *data, size_t size, const uint32_t *sources, uint32_t n) {
    char *at = data;
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sources[end] == sources[end - 1] + 1;) end++;
        if (sources[i] != i) memmove(at + i * size, at + sources[i] * size, (end - i) * size);
    }
}

/* Each of the first n elements becomes the one that sources says. states: room for n; NULL: they are in order. */
static void gather(void *data, size_t size, const uint32_t *sources, uint32_t n, uint8_t *states) {
    if (!states) {
        move_up(data, size, sources, n);
        return;
    }
    enum { FREE, NEEDED, DONE }; /* nobody asks for what is there; somebody does; it has become what it is to be */
    char *at = data, kept[sizeof(as_view_item)];
    memset(states, FREE, n);
    for (uint32_t i = 0; i < n; i++) {
        if (sources[i] < n) states[sources[i]] = NEEDED;
    }
    /* What fills a free place leaves another one free */
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t to = i; to < n && states[i] == FREE; to = sources[to]) {
            memcpy(at + to * size, at + sources[to] * size, size);
            if (to != i) states[to] = DONE;
            if (sources[to] >= n) states[i] = DONE;
        }
    }
    /* The others go round in circles */
    for (uint32_t i = 0; i < n; i++) {
        if (states[i] == DONE) continue;
        memcpy(kept, at + i * size, size);
        uint32_t to = i;
        for (; sources[to] != i; to = sources[to]) {
            memcpy(at + to * size, at + sources[to] * size, size);
            states[to] = DONE;
        }
        memcpy(at + to * size, kept, size);
        states[to] = DONE;
    }
}

static void shrink(double **array, uint32_t n) {
    double *fitting = *array ? realloc(*array, ((size_t)n + 1) * sizeof **array) : NULL;
    if (fitting) *array = fitting;
}

static bool gather_values(const as_view_table *table, as_view_values *values, uint8_t *states) {
    uint32_t n = as_view_items(table);
    gather(values->inclusive, sizeof(double), table->sources, n, states);
    if (values->exclusive) gather(values->exclusive, sizeof(double), table->sources, n, states);
    shrink(&values->inclusive, n);
    shrink(&values->exclusive, n);
    free(values->weights);
    values->weights = NULL;
    values->n = n;
    values->has_inclusive = values->has_exclusive = false;
    return as_view_values_finish(table, values);
}

static bool hide_here(as_view_table *table, const uint8_t *hidden, as_view_values *const *values, size_t n_values) {
    uint32_t n;
    free(table->own_items);
    free(table->call_items);
    table->own_items = table->call_items = NULL;
    for (size_t k = 0; k < n_values; k++) values[k]->hidden = sum_hidden(table, hidden, values[k]);
    if (!choose_items(table, hidden, table, &n)) return false;
    bool is_in_order = are_in_order(table->sources, n);
    uint8_t *states = is_in_order ? NULL : malloc((size_t)n + 1);
    if (!is_in_order && !states) return false;
    table->request.hidden = hidden;
    gather(table->items.data, sizeof(as_view_item), table->sources, n, states);
    table->items.count = n;
    as_vec_shrink(&table->items);
    connect_items(table);
    bool fine = true;
    for (size_t k = 0; fine && k < n_values; k++) fine = gather_values(table, values[k], states);
    free(states);
    return fine;
}

assay_status as_view_table_hide_here(as_view_table *table, const uint8_t *hidden, as_view_values *const *values,
                                     size_t n_values, assay_error *error) {
    return hide_here(table, hidden, values, n_values) ? ASSAY_OK : as_fail_memory(error, NULL);
}
