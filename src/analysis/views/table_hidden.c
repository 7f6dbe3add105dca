/* Tables without what is hidden: some items of another table, with the numbers that they have there. */
#include <stdlib.h>

#include "analysis/views/table.h"
#include "analysis/views/view_private.h"

static uint8_t hides(const uint8_t *hidden, as_str name) { return name == AS_NO_STR ? 0 : hidden[name]; }

/* ---- which items ----------------------------------------------------------------------------------------------------- */

/* Those that are shown, as they stand. *are_lifted: whether one of them lay below one that is not. Returns how many there are. */
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

/* ---- their order ----------------------------------------------------------------------------------------------------- */

/* Flat: what is lifted stands among others as members do (as_view_groups): by the first context, and where that is one, functions before calls of them. The first below a module or file has its first context. */
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

/* Room for the tree of what is shown: numbers of those that are, UINT32_MAX: none. */
typedef struct shown_tree {
    uint32_t *order, *parents, *first_children, *nexts;
    uint32_t first;
} shown_tree;

static bool shown_tree_init(shown_tree *t, uint32_t n) {
    size_t size = ((size_t)n + 1) * sizeof(uint32_t);
    *t = (shown_tree){.order = malloc(size),
                      .parents = malloc(size),
                      .first_children = malloc(size),
                      .nexts = malloc(size),
                      .first = UINT32_MAX};
    if (t->first_children) memset(t->first_children, 0xff, size);
    return t->order && t->parents && t->first_children && t->nexts;
}

static void shown_tree_free(shown_tree *t) {
    free(t->order);
    free(t->parents);
    free(t->first_children);
    free(t->nexts);
}

/* Behind one in pre-order. */
static uint32_t next_shown(const shown_tree *t, uint32_t i) {
    if (t->first_children[i] != UINT32_MAX) return t->first_children[i];
    while (i != UINT32_MAX && t->nexts[i] == UINT32_MAX) i = t->parents[i];
    return i == UINT32_MAX ? i : t->nexts[i];
}

/* In pre-order, siblings in the order of members. False when memory is out. */
static bool rearrange(const as_view_table *all, uint32_t **sources, uint32_t n) {
    shown_tree t;
    bool fine = shown_tree_init(&t, n) && sort_shown(all, *sources, n, t.order);
    if (fine) {
        find_parents(all, *sources, n, t.parents);
        for (uint32_t k = n; k-- > 0;) {
            uint32_t i = t.order[k], parent = t.parents[i],
                     *first = parent == UINT32_MAX ? &t.first : &t.first_children[parent];
            t.nexts[i] = *first;
            *first = i;
        }
        uint32_t to = 0;
        for (uint32_t i = t.first; i != UINT32_MAX; i = next_shown(&t, i)) t.order[to++] = (*sources)[i];
        free(*sources);
        *sources = t.order;
        t.order = NULL;
    }
    shown_tree_free(&t);
    return fine;
}

/* ---- items ----------------------------------------------------------------------------------------------------------- */

/* Flat: a section is apart where it is of the first level. */
static bool is_section(const as_view_table *table, const as_view_item *item) {
    return table->leaves_apart && table->request.kind == AS_VIEW_FLAT && item->level == AS_LEVEL_CONTEXT &&
           as_context_is_section(table->ds, item->context);
}

static void put_items(const as_view_table *all, as_view_table *table, uint32_t n) {
    const as_view_item *from = all->items.data;
    as_view_item *items = table->items.data;
    const uint32_t *sources = table->sources;
    uint32_t at = AS_NO_ITEM;
    for (uint32_t i = 0; i <= n; i++) {
        while (at != AS_NO_ITEM && (i == n || sources[i] < sources[at] || sources[i] >= from[sources[at]].end)) {
            items[at].end = i;
            at = items[at].parent;
        }
        if (i == n) break;
        as_view_item item = from[sources[i]];
        item.parent = at;
        item.depth = at == AS_NO_ITEM ? 0 : items[at].depth + 1;
        if (at == AS_NO_ITEM && is_section(table, &item)) item.flags |= AS_ITEM_APART;
        items[i] = item;
        at = i;
    }
    table->items.count = n;
}

static bool fill(const as_view_table *all, const uint8_t *hidden, as_view_table *table) {
    uint32_t n_all = as_view_items(all);
    bool are_lifted, is_flat = all->request.kind == AS_VIEW_FLAT;
    table->sources = malloc(((size_t)n_all + 1) * sizeof *table->sources);
    if (!table->sources) return false;
    uint32_t n = find_shown(all, hidden, table->sources, &are_lifted);
    if (is_flat && are_lifted && !rearrange(all, &table->sources, n)) return false;
    uint32_t *fitting = realloc(table->sources, ((size_t)n + 1) * sizeof *fitting);
    if (fitting) table->sources = fitting;
    as_vec_expect(&table->items, n);
    if (!as_vec_reserve(&table->items, n)) return false;
    put_items(all, table, n);
    table->cut.hidden = n_all - n;
    if (all->skipped_root != ASSAY_NONE)
        table->cut.hidden += hides(hidden, as_ds_context(all->ds, all->skipped_root)->name) != 0;
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

/* ---- what is hidden -------------------------------------------------------------------------------------------------- */

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

/* ---- values ---------------------------------------------------------------------------------------------------------- */

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
