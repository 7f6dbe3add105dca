/* What changed, as a table: pairs of call paths, and the tree that both sides make together. */
#include <stdlib.h>

#include "analysis/algebra/change_private.h"

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

assay_status as_change_pairs_new(const as_dataset *const sides[2], as_matching matching, as_change_pairs **out,
                                 assay_error *error) {
    as_change_pairs *pairs = *out = calloc(1, sizeof *pairs);
    as_dataset *strings = as_dataset_new(sides[AS_BASE]->budget.limit);
    as_union u = {0};
    bool fine = pairs && strings && as_union_init(&u, strings, sides, 2) && as_pair_contexts(&u, matching);
    if (fine) {
        pairs->n = AS_COUNT(sides[AS_TARGET], contexts);
        pairs->base_of = u.maps[AS_TARGET].contexts;
        u.maps[AS_TARGET].contexts = NULL;
    }
    as_union_free(&u);
    as_dataset_free(strings);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

void as_change_pairs_free(as_change_pairs *pairs) {
    if (pairs) free(pairs->base_of);
    free(pairs);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

bool as_carried_names_init(as_carried_names *names, const as_dataset *from, as_dataset *to) {
    size_t n = from->strings.entries.count;
    *names = (as_carried_names){.from = from, .to = to, .of = malloc((n + 1) * sizeof *names->of)};
    for (size_t i = 0; names->of && i < n; i++) names->of[i] = AS_NO_STR;
    return names->of != NULL;
}

void as_carried_names_free(as_carried_names *names) { free(names->of); }

as_change_table *as_change_table_empty(const as_dataset *const sides[2], bool flat) {
    as_change_table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->n_owners = 1;
    for (size_t side = 0; side < 2; side++) as_vec_init(&table->only[side], sizeof(assay_id), NULL);
    as_vec_init(&table->view.items, sizeof(as_view_item), NULL);
    table->view.request = (as_view_request){.kind = flat ? AS_VIEW_FLAT : AS_VIEW_TOP_DOWN};
    table->view.ds = table->names = as_dataset_new(sides[AS_BASE]->budget.limit);
    for (size_t side = 0; side < 2; side++) table->has_roles |= as_ds_has_roles(sides[side]);
    if (table->names) return table;
    as_change_table_free(table);
    return NULL;
}

void as_change_table_free(as_change_table *table) {
    if (!table || --table->n_owners) return;
    for (size_t side = 0; side < 2; side++) {
        as_vec_free(&table->only[side]);
        free(table->items_of[side]);
    }
    as_vec_free(&table->view.items);
    as_dataset_free(table->names);
    free(table);
}

size_t as_change_table_bytes(const as_change_table *table) {
    return sizeof *table + table->view.items.count * sizeof(as_view_item) + table->n_contexts * sizeof(uint32_t) +
           (table->only[AS_BASE].count + table->only[AS_TARGET].count) * sizeof(assay_id) +
           table->names->strings.entries.count * 64;
}

uint32_t as_change_item_of(const as_change_table *table, size_t side, const as_dataset *of, assay_id context) {
    uint32_t n = as_view_items(&table->view);
    for (; context != ASSAY_NONE; context = as_ds_context(of, context)->parent) {
        for (uint32_t i = 0; i < n; i++) {
            if (as_change_context(table, side, i) == context) return i;
        }
    }
    return AS_NO_ITEM;
}

/* ---- the tree of both -------------------------------------------------------------------------------------------- */

/* A node of it that waits: a context of each side, or ASSAY_NONE. */
typedef struct pending {
    assay_id own[2];
    uint32_t depth;
    bool is_hidden; /* it lies below what has no place in the tree */
} pending;

typedef struct filling {
    const as_dataset *const *sides;
    const assay_id *base_of; /* of each context of the target */
    assay_id *target_of;     /* of each context of the base */
    as_change_table *table;
    as_carried_names names[2];
    bool *seen[2]; /* of each string of the table whether the other side has it, or it was listed already */
    bool leaves_apart;
    uint32_t last;  /* the item before; AS_NO_ITEM: none */
    as_vec waiting; /* pending: the last one comes next */
} filling;

static as_view_item *item_at(as_change_table *table, uint32_t i) { return &AS_AT(as_view_item, &table->view.items, i); }

/* Ends the items that the next one, of this depth, is not below; gives the one it is below. */
static uint32_t close_items(const filling *f, uint32_t depth) {
    uint32_t at = f->last;
    while (at != AS_NO_ITEM && item_at(f->table, at)->depth >= depth) {
        item_at(f->table, at)->end = as_view_items(&f->table->view);
        at = item_at(f->table, at)->parent;
    }
    return at;
}

/* What both have is as the base has it. */
static size_t first_side(const assay_id own[2]) { return own[AS_BASE] == ASSAY_NONE ? AS_TARGET : AS_BASE; }

static const as_context *context_of(const filling *f, const assay_id own[2]) {
    size_t side = first_side(own);
    return as_ds_context(f->sides[side], own[side]);
}

/* A context without a name has that of its region. */
static as_str name_of(const filling *f, const assay_id own[2], bool *fine) {
    size_t side = first_side(own);
    const as_context *context = context_of(f, own);
    as_str name = context->name;
    if (name == AS_NO_STR && context->region != ASSAY_NONE) name = as_ds_region(f->sides[side], context->region)->name;
    return as_carry_name(&f->names[side], name, fine);
}

static bool add_item(filling *f, const pending *node) {
    bool fine = true;
    size_t side = first_side(node->own);
    const as_context *context = context_of(f, node->own);
    bool is_section = as_context_is_section(f->sides[side], node->own[side]);
    bool is_apart = context->is_aside || (is_section && f->leaves_apart);
    as_view_item item = {.parent = close_items(f, node->depth),
                         .end = AS_NO_ITEM,
                         .depth = node->depth,
                         .context = node->own[AS_BASE],
                         .call_site = node->own[AS_TARGET],
                         .name = name_of(f, node->own, &fine),
                         .level = AS_LEVEL_CONTEXT,
                         .flags = (uint8_t)((is_apart ? AS_ITEM_APART : 0) | (context->is_aside ? AS_ITEM_ASIDE : 0) |
                                            (node->own[AS_BASE] != ASSAY_NONE ? AS_ITEM_IN_BASE : 0) |
                                            (node->own[AS_TARGET] != ASSAY_NONE ? AS_ITEM_IN_TARGET : 0))};
    f->last = as_view_items(&f->table->view);
    return fine && as_vec_append(&f->table->view.items, &item, 1);
}

/* Names that only one side has, each by its first context. */
static bool list_only(filling *f, const pending *node) {
    bool fine = true;
    as_str name = name_of(f, node->own, &fine);
    if (name == AS_NO_STR || context_of(f, node->own)->role == AS_ROLE_PLACELESS) return fine;
    for (size_t side = 0; side < 2 && fine; side++) {
        if (f->seen[side][name]) continue;
        f->seen[side][name] = true;
        fine = as_vec_append(&f->table->only[side], &node->own[side], 1);
    }
    return fine;
}

static bool has_below(const filling *f, const assay_id own[2], size_t side) {
    return own[side] != ASSAY_NONE && as_ds_context(f->sides[side], own[side])->subtree > 1;
}

/* The children of a node (ASSAY_NONEs: the roots), those of the base first, then those that only the target has. */
static bool push_children(filling *f, const assay_id own[2], bool is_root, uint32_t depth, bool is_hidden) {
    size_t from = f->waiting.count;
    for (size_t side = 0; side < 2; side++) {
        const as_dataset *ds = f->sides[side];
        if (!is_root && !has_below(f, own, side)) continue;
        assay_id id = is_root ? 0 : own[side] + 1;
        size_t end = is_root ? AS_COUNT(ds, contexts) : own[side] + as_ds_context(ds, own[side])->subtree;
        for (; id < end; id += as_ds_context(ds, id)->subtree) {
            if (side == AS_TARGET && f->base_of[id] != ASSAY_NONE) continue;
            pending one = {.depth = depth, .is_hidden = is_hidden};
            one.own[side] = id;
            one.own[!side] = side == AS_BASE ? f->target_of[id] : ASSAY_NONE;
            if (!as_vec_append(&f->waiting, &one, 1)) return false;
        }
    }
    for (size_t low = from, high = f->waiting.count; low + 1 < high; low++) {
        pending *a = &AS_AT(pending, &f->waiting, low), *b = &AS_AT(pending, &f->waiting, --high), swapped = *a;
        *a = *b;
        *b = swapped;
    }
    return true;
}

/* What is called from a call site stands in its place; what has no place in the tree is left out. */
static bool visit(filling *f, const pending *node) {
    uint8_t role = context_of(f, node->own)->role;
    bool has_children = has_below(f, node->own, AS_BASE) || has_below(f, node->own, AS_TARGET);
    bool is_hidden = node->is_hidden || role == AS_ROLE_PLACELESS;
    bool is_item = !is_hidden && !(role == AS_ROLE_CALL_SITE && has_children);
    if (!list_only(f, node) || (is_item && !add_item(f, node))) return false;
    return !has_children || push_children(f, node->own, false, node->depth + is_item, is_hidden);
}

/* Names that each side has are no names of the other alone. */
static bool mark_seen(filling *f) {
    bool fine = true;
    size_t n_base = AS_COUNT(f->sides[AS_BASE], contexts), n_target = AS_COUNT(f->sides[AS_TARGET], contexts);
    for (assay_id i = 0; fine && i < n_base; i++) {
        as_str name = name_of(f, (assay_id[2]){i, ASSAY_NONE}, &fine);
        if (name != AS_NO_STR) f->seen[AS_TARGET][name] = true;
    }
    for (assay_id i = 0; fine && i < n_target; i++) {
        as_str name = name_of(f, (assay_id[2]){f->base_of[i], i}, &fine);
        if (name != AS_NO_STR) f->seen[AS_BASE][name] = true;
    }
    return fine;
}

/* Also says how many items there will be at most. */
static bool invert(filling *f, size_t *n) {
    size_t n_target = AS_COUNT(f->sides[AS_TARGET], contexts);
    *n = AS_COUNT(f->sides[AS_BASE], contexts);
    f->target_of = malloc((*n + 1) * sizeof *f->target_of);
    if (!f->target_of) return false;
    for (size_t i = 0; i < *n; i++) f->target_of[i] = ASSAY_NONE;
    for (assay_id i = 0; i < n_target; i++) {
        if (f->base_of[i] != ASSAY_NONE)
            f->target_of[f->base_of[i]] = i;
        else
            ++*n;
    }
    return true;
}

/* False when memory is out. */
static bool fill(filling *f) {
    size_t n = 0, n_names = 1;
    bool fine = invert(f, &n);
    for (size_t side = 0; side < 2; side++) {
        fine = as_carried_names_init(&f->names[side], f->sides[side], f->table->names) && fine;
        n_names += f->sides[side]->strings.entries.count;
    }
    for (size_t side = 0; side < 2 && fine; side++) fine = (f->seen[side] = calloc(n_names, sizeof(bool)));
    if (fine) as_vec_expect(&f->table->view.items, n);
    fine = fine && mark_seen(f) && push_children(f, NULL, true, 0, false);
    while (fine && f->waiting.count) {
        pending next = AS_AT(pending, &f->waiting, --f->waiting.count);
        fine = visit(f, &next);
    }
    if (fine) close_items(f, 0);
    as_vec_shrink(&f->table->view.items);
    return fine;
}

/* Whether some roots are no part of the whole, on one side at least. */
static assay_status find_apart(const as_dataset *const sides[2], bool *out, assay_error *error) {
    *out = false;
    for (size_t side = 0; side < 2; side++) {
        as_view_source source = {.ds = sides[side], .point = ASSAY_NONE};
        as_view_data data;
        assay_status status = as_view_load(&source, NULL, 0, NULL, 0, &data, error);
        *out |= data.leaves_apart;
        as_view_data_free(&data);
        if (status != ASSAY_OK) return status;
    }
    return ASSAY_OK;
}

assay_status as_change_table_new(const as_dataset *const sides[2], const as_change_pairs *pairs, as_change_table **out,
                                 assay_error *error) {
    as_change_table *table = *out = as_change_table_empty(sides, false);
    filling f = {.sides = sides, .base_of = pairs->base_of, .table = table, .last = AS_NO_ITEM};
    as_vec_init(&f.waiting, sizeof(pending), NULL);
    if (!table) return as_fail_memory(error, NULL);
    AS_TRY(find_apart(sides, &f.leaves_apart, error));
    bool fine = fill(&f);
    for (size_t side = 0; side < 2; side++) {
        as_carried_names_free(&f.names[side]);
        free(f.seen[side]);
    }
    free(f.target_of);
    as_vec_free(&f.waiting);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}
