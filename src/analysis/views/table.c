/* Views as tables: their items and values. */
#include "analysis/views/table.h"

#include <stdlib.h>

#include "analysis/views/view_private.h"

/* ---- values of items ------------------------------------------------------------------------------------------------- */

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

/* Without room for numbers. NULL when memory is out. */
static as_view_values *new_values(const as_view_table *table, const as_view_data *data) {
    const as_view_column *column = &data->columns[0];
    as_view_values *values = calloc(1, sizeof *values);
    if (!values) return NULL;
    *values = (as_view_values){.metric = column->metric,
                               .dtype = column->dtype,
                               .adds_up = column->adds_up,
                               .whole = column->whole,
                               .all = as_view_whole(data, 0).inclusive,
                               .n = as_view_items(table)};
    values->all.parts = NULL;
    return values;
}

/* When the numbers are there. False when memory is out. */
static bool finish_values(const as_view_table *table, as_view_values *values) {
    for (uint32_t i = 0; i < values->n; i++) {
        values->has_inclusive |= !isnan(values->inclusive[i]);
        values->has_exclusive |= !isnan(values->exclusive[i]);
    }
    if (!values->has_exclusive) {
        free(values->exclusive);
        values->exclusive = NULL;
    }
    return find_weights(table, values);
}

/* ---- items ----------------------------------------------------------------------------------------------------------- */

typedef struct filling {
    as_view_table *table;
    const as_view_data *data;
    uint32_t last;               /* the item before; AS_NO_ITEM: none */
    as_vec inclusive, exclusive; /* double, of the first column; where has_values says so */
    bool has_values;
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
    return as_vec_append(&f->table->items, &item, 1);
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

static assay_status fill_table(filling *f, as_view_values **values, assay_error *error) {
    as_view_table *table = f->table;
    AS_TRY(as_view_walk(f->data, &table->request, add_item, f, &table->cut, error));
    close_items(f, 0);
    as_vec_shrink(&table->items);
    if (!f->has_values) return ASSAY_OK;
    *values = new_values(table, f->data);
    if (!*values) return as_fail_memory(error, NULL);
    as_vec_shrink(&f->inclusive);
    as_vec_shrink(&f->exclusive);
    (*values)->inclusive = f->inclusive.data;
    (*values)->exclusive = f->exclusive.data;
    f->inclusive.data = f->exclusive.data = NULL;
    return finish_values(table, *values) ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_view_table_new(const as_view_data *data, const as_view_request *request, as_view_table **out,
                               as_view_values **values, assay_error *error) {
    as_view_table *table = calloc(1, sizeof *table);
    *out = NULL;
    if (values) *values = NULL;
    if (!table) return as_fail_memory(error, NULL);
    table->ds = data->source.ds;
    table->request = plain_request(request);
    as_vec_init(&table->items, sizeof(as_view_item), as_ds_budget(table->ds));
    filling f = {.table = table, .data = data, .last = AS_NO_ITEM, .has_values = values && data->n_columns};
    as_vec_init(&f.inclusive, sizeof(double), NULL);
    as_vec_init(&f.exclusive, sizeof(double), NULL);
    assay_status status = fill_table(&f, values, error);
    as_vec_free(&f.inclusive);
    as_vec_free(&f.exclusive);
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
    free(table);
}

size_t as_view_table_bytes(const as_view_table *table) {
    return sizeof *table + table->items.capacity * sizeof(as_view_item);
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

/* ---- values ---------------------------------------------------------------------------------------------------------- */

static void set_value(as_view_values *values, uint32_t i, const as_view_value *value) {
    values->inclusive[i] = known_or_nan(&value->inclusive);
    values->exclusive[i] = known_or_nan(&value->exclusive);
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

/* Nodes of the top-down view are contexts; the others are walked through, which meets them in the same order. */
static assay_status fill_values(const as_view_table *table, const as_view_data *data, as_view_values *values,
                                assay_error *error) {
    valuing v = {.values = values};
    as_view_cut cut;
    if (table->request.kind != AS_VIEW_TOP_DOWN)
        return as_view_walk(data, &table->request, take_value, &v, &cut, error);
    for (uint32_t i = 0; i < values->n; i++) {
        as_view_value value = as_view_value_of(&data->columns[0], as_view_item_at(table, i)->context);
        set_value(values, i, &value);
    }
    return ASSAY_OK;
}

assay_status as_view_values_new(const as_view_table *table, const as_view_data *data, as_view_values **out,
                                assay_error *error) {
    as_view_values *values = new_values(table, data);
    *out = NULL;
    if (!values) return as_fail_memory(error, NULL);
    values->inclusive = malloc(((size_t)values->n + 1) * sizeof *values->inclusive);
    values->exclusive = malloc(((size_t)values->n + 1) * sizeof *values->exclusive);
    bool has_room = values->inclusive && values->exclusive;
    assay_status status = has_room ? fill_values(table, data, values, error) : as_fail_memory(error, NULL);
    if (status == ASSAY_OK && !finish_values(table, values)) status = as_fail_memory(error, NULL);
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

double as_view_item_size(const as_view_values *values, uint32_t i, bool exclusive) {
    bool takes_exclusive = (exclusive || !values->has_inclusive) && values->exclusive;
    double value = takes_exclusive ? values->exclusive[i] : values->inclusive[i];
    if (!isnan(value)) return fabs(value);
    return values->weights ? values->weights[i] : 0;
}
