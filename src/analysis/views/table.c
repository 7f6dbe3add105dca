/* Views as tables: their items and values. */
#include "analysis/views/table.h"

#include <stdlib.h>

#include "analysis/views/view_private.h"
#include "core/large_pages.h"
#include "core/parallel.h"

/* ---- values of items --------------------------------------------------------------------------------------------- */

static double known_or_nan(const as_view_number *number) { return number->is_known ? number->real : NAN; }

static bool find_weights(const as_view_table *table, as_view_values *values) {
    if (values->has_exclusive) return true;
    values->weights = calloc((size_t)values->n + 1, sizeof *values->weights);
    if (!values->weights) return false;
    for (uint32_t i = values->n; i-- > 0;) {
        double own = values->inclusive[i];
        if (!isnan(own) && fabs(own) > values->weights[i]) values->weights[i] = fabs(own);
        uint32_t parent = as_view_item_at(table, i)->parent;
        if (parent != AS_NO_ITEM && values->weights[i] > values->weights[parent])
            values->weights[parent] = values->weights[i];
    }
    return true;
}

/* What is the same for all items of a view. */
static as_view_values values_of(const as_view_data *data) {
    const as_view_column *column = &data->columns[0];
    as_view_values values = {.metric = column->metric,
                             .dtype = column->dtype,
                             .adds_up = column->adds_up,
                             .whole = column->whole,
                             .all = as_view_whole(data, 0).inclusive};
    values.all.parts = NULL;
    return values;
}

as_view_values *as_view_values_like(const as_view_values *other, uint32_t n) {
    as_view_values *values = calloc(1, sizeof *values);
    if (!values) return NULL;
    *values = (as_view_values){.metric = other->metric,
                               .dtype = other->dtype,
                               .adds_up = other->adds_up,
                               .whole = other->whole,
                               .all = other->all,
                               .n = n,
                               .inclusive = as_large_array(n, sizeof(double)),
                               .exclusive = as_large_array(n, sizeof(double))};
    if (!values->inclusive || !values->exclusive) {
        as_view_values_free(values);
        return NULL;
    }
    return values;
}

bool as_view_values_finish(const as_view_table *table, as_view_values *values) {
    for (uint32_t i = 0; i < values->n && !(values->has_inclusive && values->has_exclusive); i++) {
        values->has_inclusive |= !isnan(values->inclusive[i]);
        values->has_exclusive |= values->exclusive && !isnan(values->exclusive[i]);
    }
    if (!values->has_exclusive) {
        free(values->exclusive);
        values->exclusive = NULL;
    }
    return find_weights(table, values);
}

/* Bottom-up, when they are finished. */
static void set_hidden(as_view_values *values, const as_view_cut *cut) {
    bool has_any = !isnan(cut->hidden_exclusive);
    values->hidden = !values->adds_up || (!values->has_exclusive && !has_any) ? NAN
                     : has_any                                                ? cut->hidden_exclusive
                                                                              : 0;
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

typedef struct filling {
    as_view_table *table;
    const as_view_data *data;
    uint32_t last;               /* the item before; AS_NO_ITEM: none */
    as_vec inclusive, exclusive; /* double, of the first column; where has_values says so */
    bool has_values;
    as_vec contexts, starts; /* of as_view_table; where has_lists says so */
    bool has_lists;
} filling;

static bool is_apart(const filling *f, const as_view_node *node) {
    if (node->is_aside) return true;
    bool is_first = f->table->request.kind == AS_VIEW_TOP_DOWN || node->depth == 0;
    return f->data->leaves_apart && is_first && node->context != ASSAY_NONE && node->level == AS_LEVEL_CONTEXT &&
           as_context_is_section(f->table->ds, node->context);
}

/* Ends the items that the next one, of this depth, is not below; gives the one it is below. */
static uint32_t close_items(filling *f, uint32_t depth) {
    uint32_t n = as_view_items(f->table), at = f->last;
    while (at != AS_NO_ITEM && as_view_item_at(f->table, at)->depth >= depth) {
        as_view_item *item = &AS_AT(as_view_item, &f->table->items, at);
        item->end = n;
        at = item->parent;
    }
    return at;
}

static bool list_contexts(filling *f, const as_view_node *node) {
    const char *at = (const char *)node->contexts;
    uint32_t start = (uint32_t)f->contexts.count;
    if (f->contexts.count + node->n_contexts > UINT32_MAX || !as_vec_append(&f->starts, &start, 1)) return false;
    for (size_t i = 0; i < node->n_contexts; i++, at += node->step) {
        if (!as_vec_append(&f->contexts, at, 1)) return false;
    }
    return true;
}

static bool add_item(void *user, const as_view_node *node) {
    filling *f = user;
    uint32_t parent = close_items(f, node->depth);
    if (f->table->items.count == UINT32_MAX - 1) return false;
    bool is_bottom_up = f->table->request.kind == AS_VIEW_BOTTOM_UP;
    as_view_item item = {.parent = parent,
                         .end = AS_NO_ITEM,
                         .depth = node->depth,
                         .context = node->context,
                         .call_site = is_bottom_up ? node->origin : node->call_site,
                         .name = node->name,
                         .level = (uint8_t)node->level,
                         .flags =
                             (uint8_t)((is_apart(f, node) ? AS_ITEM_APART : 0) | (node->is_aside ? AS_ITEM_ASIDE : 0) |
                                       (node->is_inlined ? AS_ITEM_INLINED : 0) | (node->is_cut ? AS_ITEM_CUT : 0))};
    f->last = as_view_items(f->table);
    if (f->has_values) {
        double inclusive = known_or_nan(&node->values[0].inclusive),
               exclusive = known_or_nan(&node->values[0].exclusive);
        if (!as_vec_append(&f->inclusive, &inclusive, 1) || !as_vec_append(&f->exclusive, &exclusive, 1)) return false;
    }
    if (f->has_lists && !list_contexts(f, node)) return false;
    return as_vec_append(&f->table->items, &item, 1);
}

/* The table has what was listed. */
static bool keep_lists(filling *f) {
    uint32_t end = (uint32_t)f->contexts.count;
    if (!as_vec_append(&f->starts, &end, 1)) return false;
    as_vec_shrink(&f->contexts);
    as_vec_shrink(&f->starts);
    f->table->contexts = f->contexts.data;
    f->table->starts = f->starts.data;
    f->contexts.data = f->starts.data = NULL;
    return true;
}

/* What a table is made by: all of it, in the order of the source. */
static as_view_request plain_request(const as_view_request *request) {
    return (as_view_request){.kind = request->kind,
                             .group = request->group,
                             .order = AS_SORT_SOURCE,
                             .wanted = request->wanted,
                             .hidden = request->hidden,
                             .max_levels = request->max_levels,
                             .max_steps = request->max_steps,
                             .joins_calls = request->joins_calls,
                             .joinings = request->joinings,
                             .without_root = request->without_root};
}

/* ---- all at once ------------------------------------------------------------------------------------------------- */

/* Ends the items that lie before a context; gives the one it is below. */
static uint32_t close_before(filling *f, const as_context *contexts, assay_id context) {
    as_view_item *items = f->table->items.data;
    uint32_t n = as_view_items(f->table), at = f->last;
    while (at != AS_NO_ITEM && context - items[at].context >= contexts[items[at].context].subtree) {
        items[at].end = n;
        at = items[at].parent;
    }
    return at;
}

/* walker: NULL where no context has another role than that of a call. */
static void put_context(filling *f, const as_view_walker *walker, assay_id id) {
    const as_context *contexts = f->table->ds->contexts.data, *context = &contexts[id];
    uint32_t parent = close_before(f, contexts, id);
    bool is_aside = context->is_aside && f->data->is_aside[id];
    f->last = as_view_items(f->table);
    AS_AT(as_view_item, &f->table->items, f->table->items.count++) = (as_view_item){
        .parent = parent,
        .end = AS_NO_ITEM,
        .depth = parent == AS_NO_ITEM ? 0 : as_view_item_at(f->table, parent)->depth + 1,
        .context = id,
        .call_site = walker ? as_view_call_site(walker, id) : ASSAY_NONE,
        .name = context->name,
        .level = AS_LEVEL_CONTEXT,
        .flags =
            (uint8_t)(((is_aside || (f->data->leaves_apart && as_context_is_section(f->table->ds, id))) ? AS_ITEM_APART
                                                                                                        : 0) |
                      (is_aside ? AS_ITEM_ASIDE : 0) | (context->is_inlined ? AS_ITEM_INLINED : 0))};
}

/* All of a top-down view in the order of the source: the contexts as they come, those that are nodes. That is what a
 * walk shows, in a fraction of its time. */
static assay_status fill_all(filling *f, assay_error *error) {
    const as_view_data *data = f->data;
    const as_dataset *ds = f->table->ds;
    as_view_walker walker = {.data = data, .request = &f->table->request};
    const as_view_walker *asked = as_ds_has_roles(ds) ? &walker : NULL;
    size_t n = 0;
    for (size_t i = 0; i < data->n_roots; i++) n += as_ds_context(ds, data->roots[i])->subtree;
    as_vec_expect(&f->table->items, n);
    bool fine = as_vec_reserve(&f->table->items, n) && (!walker.request->joins_calls || as_view_join_calls(&walker));
    for (size_t i = 0; fine && i < data->n_roots; i++) {
        assay_id root = data->roots[i], end = root + as_ds_context(ds, root)->subtree;
        if (root != f->table->skipped_root) put_context(f, asked, root);
        for (assay_id id = root + 1; id < end; id++) {
            if (!asked || as_view_is_node(asked, id)) put_context(f, asked, id);
        }
    }
    close_items(f, 0);
    free(walker.is_joined);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* Whether nothing is left out of a view that is no endless one. */
static bool has_all(const as_view_request *request) {
    return request->kind != AS_VIEW_BOTTOM_UP && !request->wanted && !request->hidden && !request->max_levels;
}

static assay_status fill_table(filling *f, as_view_values **values, assay_error *error) {
    as_view_table *table = f->table;
    if (has_all(&table->request)) {
        if (table->request.kind == AS_VIEW_TOP_DOWN)
            AS_TRY(fill_all(f, error));
        else if (!as_view_flat_fill(table, f->data))
            return as_fail_memory(error, NULL);
        as_vec_shrink(&table->items);
        return f->has_values ? as_view_values_new(table, f->data, values, error) : ASSAY_OK;
    }
    AS_TRY(as_view_walk(f->data, &table->request, add_item, f, &table->cut, error));
    close_items(f, 0);
    as_vec_shrink(&table->items);
    if (f->has_lists && !keep_lists(f)) return as_fail_memory(error, NULL);
    if (!f->has_values) return ASSAY_OK;
    *values = malloc(sizeof **values);
    if (!*values) return as_fail_memory(error, NULL);
    as_vec_shrink(&f->inclusive);
    as_vec_shrink(&f->exclusive);
    **values = values_of(f->data);
    (*values)->n = as_view_items(table);
    (*values)->inclusive = f->inclusive.data;
    (*values)->exclusive = f->exclusive.data;
    f->inclusive.data = f->exclusive.data = NULL;
    if (!as_view_values_finish(table, *values)) return as_fail_memory(error, NULL);
    if (table->request.kind == AS_VIEW_BOTTOM_UP) set_hidden(*values, &table->cut);
    return ASSAY_OK;
}

assay_status as_view_table_new(const as_view_data *data, const as_view_request *request, as_view_table **out,
                               as_view_values **values, assay_error *error) {
    as_view_table *table = calloc(1, sizeof *table);
    *out = NULL;
    if (values) *values = NULL;
    if (!table) return as_fail_memory(error, NULL);
    table->ds = data->source.ds;
    table->request = plain_request(request);
    bool skips_root = request->kind == AS_VIEW_TOP_DOWN && request->without_root && as_view_has_root(data);
    table->skipped_root = skips_root ? data->roots[0] : ASSAY_NONE;
    table->leaves_apart = data->leaves_apart;
    as_vec_init(&table->items, sizeof(as_view_item), as_ds_budget(table->ds));
    filling f = {.table = table,
                 .data = data,
                 .last = AS_NO_ITEM,
                 .has_values = values && data->n_columns,
                 .has_lists = request->kind == AS_VIEW_BOTTOM_UP && !request->hidden};
    as_vec_init(&f.contexts, sizeof(assay_id), NULL);
    as_vec_init(&f.starts, sizeof(uint32_t), NULL);
    as_vec_init(&f.inclusive, sizeof(double), NULL);
    as_vec_init(&f.exclusive, sizeof(double), NULL);
    assay_status status = fill_table(&f, values, error);
    as_vec_free(&f.inclusive);
    as_vec_free(&f.exclusive);
    as_vec_free(&f.contexts);
    as_vec_free(&f.starts);
    if (status == ASSAY_OK) {
        *out = table;
        return ASSAY_OK;
    }
    if (values) {
        as_view_values_free(*values);
        *values = NULL;
    }
    as_view_table_free(table);
    return status;
}

void as_view_table_free(as_view_table *table) {
    if (!table) return;
    as_vec_free(&table->items);
    free(table->own_items);
    free(table->call_items);
    free(table->contexts);
    free(table->starts);
    free(table->sources);
    free(table);
}

size_t as_view_table_bytes(const as_view_table *table) {
    size_t n_lists = (table->own_items != NULL) + (size_t)(table->call_items != NULL);
    return sizeof *table + table->items.capacity * sizeof(as_view_item) +
           n_lists * AS_COUNT(table->ds, contexts) * sizeof(uint32_t) +
           (table->starts ? (as_view_items(table) + 1 + table->starts[as_view_items(table)]) * sizeof(uint32_t) : 0) +
           (table->sources ? as_view_items(table) * sizeof(uint32_t) : 0);
}

uint32_t as_view_item_of(const as_view_table *table, assay_id context) {
    uint32_t low = 0, high = as_view_items(table);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (as_view_item_at(table, middle)->context <= context)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t at = low ? low - 1 : AS_NO_ITEM;
    while (at != AS_NO_ITEM) {
        const as_view_item *item = as_view_item_at(table, at);
        if (context - item->context < as_ds_context(table->ds, item->context)->subtree) return at;
        at = item->parent;
    }
    return AS_NO_ITEM;
}

as_view_node as_view_item_node(const as_view_table *table, uint32_t i) {
    const as_view_item *item = as_view_item_at(table, i);
    bool is_bottom_up = table->request.kind == AS_VIEW_BOTTOM_UP;
    return (as_view_node){.level = (as_view_level)item->level,
                          .depth = item->depth,
                          .is_last = as_view_next_sibling(table, i) == AS_NO_ITEM,
                          .is_inlined = item->flags & AS_ITEM_INLINED,
                          .is_aside = item->flags & AS_ITEM_ASIDE,
                          .is_cut = item->flags & AS_ITEM_CUT,
                          .context = item->context,
                          .call_site = is_bottom_up ? ASSAY_NONE : item->call_site,
                          .origin = is_bottom_up ? item->call_site : ASSAY_NONE,
                          .region = item->context == ASSAY_NONE ? ASSAY_NONE
                                                                : as_ds_context(table->ds, item->context)->region,
                          .name = item->name};
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void set_value(as_view_values *values, uint32_t i, const as_view_value *value) {
    values->inclusive[i] = known_or_nan(&value->inclusive);
    values->exclusive[i] = known_or_nan(&value->exclusive);
}

/* What set_value() makes of as_view_value_of(), where there are millions of them. */
static void set_stored(as_view_values *values, uint32_t i, const as_view_column *column, assay_id context) {
    as_node node;
    bool is_there = as_stored_sums_node(&column->sums, context, &node);
    double own = is_there && node.has_own ? node.inclusive.r : NAN;
    bool is_pair = is_there && node.has_exclusive && !node.lacks_exclusive;
    values->inclusive[i] = column->is_only_exclusive ? NAN : own;
    values->exclusive[i] = is_pair ? node.exclusive.r : column->is_only_exclusive ? own : NAN;
}

/* The same of sums along the tree. */
static void set_compact(as_view_values *values, uint32_t i, const as_view_column *column, assay_id context) {
    as_node node;
    bool is_there = as_node_sums_node(&column->list.sums, context, &node);
    double none = column->is_zero_elsewhere && !is_there ? 0 : NAN;
    bool has_exclusive = is_there && (column->is_zero_elsewhere || column->is_inclusive || node.has_own);
    values->inclusive[i] = is_there ? as_number_real(node.inclusive) : none;
    values->exclusive[i] = has_exclusive ? as_number_real(node.exclusive) : none;
}

enum { ITEMS_AT_ONCE = 1 << 14 };

typedef struct contexts_values {
    const as_view_table *table;
    const as_view_column *column;
    as_view_values *values;
} contexts_values;

static void set_contexts(void *user, size_t piece) {
    const contexts_values *v = user;
    uint32_t first = (uint32_t)piece * ITEMS_AT_ONCE;
    for (uint32_t i = first; i < v->values->n && i - first < ITEMS_AT_ONCE; i++) {
        assay_id context = as_view_item_at(v->table, i)->context;
        if (v->column->has_sums) {
            set_stored(v->values, i, v->column, context);
        } else if (v->column->list.is_compact) {
            set_compact(v->values, i, v->column, context);
        } else {
            as_view_value value = as_view_value_of(v->column, context);
            set_value(v->values, i, &value);
        }
    }
}

typedef struct valuing {
    as_view_values *values;
    uint32_t next;
} valuing;

static bool take_value(void *user, const as_view_node *node) {
    valuing *v = user;
    if (v->next == v->values->n) return false;
    set_value(v->values, v->next++, &node->values[0]);
    return true;
}

/* Nodes of the top-down view are contexts, of others the contexts are known; else they are walked through, which meets
 * them in the same order. */
static assay_status fill_values(const as_view_table *table, const as_view_data *data, as_view_values *values,
                                as_view_cut *cut, assay_error *error) {
    valuing v = {.values = values};
    if (table->own_items) return as_view_flat_values(table, data, values) ? ASSAY_OK : as_fail_memory(error, NULL);
    if (table->starts) {
        *cut = table->cut;
        return as_view_listed_values(table, &data->columns[0], table->starts, table->contexts, values)
                   ? ASSAY_OK
                   : as_fail_memory(error, NULL);
    }
    if (table->request.kind != AS_VIEW_TOP_DOWN) return as_view_walk(data, &table->request, take_value, &v, cut, error);
    contexts_values all = {.table = table, .column = &data->columns[0], .values = values};
    as_parallel(((size_t)values->n + ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE, 0, set_contexts, &all);
    return ASSAY_OK;
}

assay_status as_view_values_new(const as_view_table *table, const as_view_data *data, as_view_values **out,
                                assay_error *error) {
    as_view_values common = values_of(data), *values = as_view_values_like(&common, as_view_items(table));
    *out = NULL;
    if (!values) return as_fail_memory(error, NULL);
    as_view_cut cut;
    assay_status status = fill_values(table, data, values, &cut, error);
    if (status == ASSAY_OK && !as_view_values_finish(table, values)) status = as_fail_memory(error, NULL);
    if (status == ASSAY_OK && table->request.kind == AS_VIEW_BOTTOM_UP) set_hidden(values, &cut);
    if (status != ASSAY_OK) {
        as_view_values_free(values);
        return status;
    }
    *out = values;
    return ASSAY_OK;
}

void as_view_values_free(as_view_values *values) {
    if (!values) return;
    free(values->inclusive);
    free(values->exclusive);
    free(values->weights);
    free(values);
}

size_t as_view_values_bytes(const as_view_values *values) {
    size_t n_arrays = 1 + (size_t)(values->exclusive != NULL) + (size_t)(values->weights != NULL);
    return sizeof *values + n_arrays * values->n * sizeof(double);
}
