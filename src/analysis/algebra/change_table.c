/* What changed, as a table. */
#include "analysis/algebra/change_table.h"

#include <stdlib.h>

#include "analysis/views/flame_frames.h"
#include "dataset/build.h"

/* ---- values ---------------------------------------------------------------------------------------------------------- */

static as_change_values *new_values(const as_comparison *c, size_t room) {
    as_change_values *values = calloc(1, sizeof *values);
    if (!values) return NULL;
    const as_change_column *column = &c->columns[0];
    *values = (as_change_values){.whole = as_comparison_whole(c, 0),
                                 .sums = {column->whole[AS_BASE], column->whole[AS_TARGET]},
                                 .has_exclusive = column->has_exclusive,
                                 .adds_up = column->adds_up,
                                 .is_in = {column->at[AS_BASE] != SIZE_MAX, column->at[AS_TARGET] != SIZE_MAX}};
    bool fine = true;
    for (size_t side = 0; side < 2; side++) {
        fine = fine && (values->inclusive[side] = malloc((room + 1) * sizeof(double)));
        if (values->has_exclusive) fine = fine && (values->exclusive[side] = malloc((room + 1) * sizeof(double)));
    }
    if (fine) return values;
    as_change_values_free(values);
    return NULL;
}

static double real_of(const as_view_number *number) { return number->is_known ? number->real : NAN; }

static void add_value(as_change_values *values, const as_change_value *value) {
    uint32_t i = values->n++;
    for (size_t side = 0; side < 2; side++) {
        values->inclusive[side][i] = real_of(&value->inclusive.side[side]);
        if (values->has_exclusive) values->exclusive[side][i] = real_of(&value->exclusive.side[side]);
    }
}

assay_status as_change_values_new(const as_change_table *table, const as_comparison *c, as_change_values **out,
                                  assay_error *error) {
    uint32_t n = as_view_items(&table->view);
    as_change_values *values = new_values(c, n);
    *out = values;
    if (!values) return as_fail_memory(error, NULL);
    for (uint32_t i = 0; i < n; i++) {
        assay_id own[2] = {table->own[AS_BASE][i], table->own[AS_TARGET][i]};
        as_change_value value = as_comparison_between(c, 0, own);
        add_value(values, &value);
    }
    return ASSAY_OK;
}

void as_change_values_free(as_change_values *values) {
    if (!values) return;
    for (size_t side = 0; side < 2; side++) {
        free(values->inclusive[side]);
        free(values->exclusive[side]);
    }
    free(values);
}

size_t as_change_values_bytes(const as_change_values *values) {
    return sizeof *values + (values->has_exclusive ? 4u : 2u) * values->n * sizeof(double);
}

/* ---- items ----------------------------------------------------------------------------------------------------------- */

typedef struct filling {
    const as_comparison *c;
    as_change_table *table;
    as_change_values *values; /* or NULL */
    size_t room;              /* of own and values */
    as_str *name_of;          /* of each string of the united dataset that of table->names; AS_NO_STR: not yet */
    uint32_t last;            /* the item before; AS_NO_ITEM: none */
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

static bool take_name(const filling *f, as_str name, as_str *out) {
    *out = AS_NO_STR;
    if (name == AS_NO_STR) return true;
    if (f->name_of[name] == AS_NO_STR)
        f->name_of[name] = as_ds_intern_text(f->table->names, as_ds_text(f->c->ds, name));
    *out = f->name_of[name];
    return *out != AS_NO_STR;
}

static uint8_t flags_of(const filling *f, const as_change_node *node) {
    bool leaves_apart = f->c->data[AS_BASE].leaves_apart || f->c->data[AS_TARGET].leaves_apart;
    bool is_apart = node->is_aside || (node->is_section && leaves_apart);
    return (uint8_t)((is_apart ? AS_ITEM_APART : 0) | (node->is_aside ? AS_ITEM_ASIDE : 0) |
                     (node->is_in[AS_BASE] ? AS_ITEM_IN_BASE : 0) | (node->is_in[AS_TARGET] ? AS_ITEM_IN_TARGET : 0));
}

static bool add_item(void *user, const as_change_node *node) {
    filling *f = user;
    uint32_t i = as_view_items(&f->table->view);
    as_str name;
    if (i >= f->room || !take_name(f, node->name, &name)) return false;
    as_view_item item = {.parent = close_items(f, node->depth),
                         .end = AS_NO_ITEM,
                         .depth = node->depth,
                         .context = i,
                         .call_site = ASSAY_NONE,
                         .name = name,
                         .level = AS_LEVEL_CONTEXT,
                         .flags = flags_of(f, node)};
    f->last = i;
    for (size_t side = 0; side < 2; side++) f->table->own[side][i] = f->c->contexts[side][node->context];
    if (f->values) add_value(f->values, &node->values[0]);
    return as_vec_append(&f->table->view.items, &item, 1);
}

/* Regions by their context of the side that has them. */
static bool find_only(const as_comparison *c, as_change_table *table) {
    bool fine = true;
    for (size_t side = 0; side < 2 && fine; side++) {
        as_vec *only = &table->only[side];
        fine = as_comparison_only_in(c, side, only);
        for (size_t i = 0; i < only->count; i++) {
            assay_id *context = &AS_AT(assay_id, only, i);
            *context = c->contexts[side][*context];
        }
    }
    return fine;
}

static assay_status fill(filling *f, bool flat, assay_error *error) {
    const as_comparison *c = f->c;
    as_change_request request = {.order = AS_CHANGE_AS_SOURCE, .flat = flat};
    size_t n_names = c->ds->strings.entries.count;
    as_change_cut cut;
    f->name_of = malloc((n_names + 1) * sizeof *f->name_of);
    for (size_t i = 0; f->name_of && i < n_names; i++) f->name_of[i] = AS_NO_STR;
    for (size_t side = 0; side < 2; side++) f->table->own[side] = malloc((f->room + 1) * sizeof(assay_id));
    bool fine = f->name_of && f->table->own[AS_BASE] && f->table->own[AS_TARGET] && find_only(c, f->table);
    assay_status status =
        fine ? as_comparison_walk(c, &request, add_item, f, &cut, error) : as_fail_memory(error, NULL);
    if (status == ASSAY_OK) close_items(f, 0);
    free(f->name_of);
    return status;
}

static void shrink_reals(double **array, size_t n) {
    double *smaller = *array ? realloc(*array, (n + 1) * sizeof *smaller) : NULL;
    if (smaller) *array = smaller;
}

/* Gives back what a list of functions, which are fewer than contexts, does not need. */
static void shrink(as_change_table *table, as_change_values *values) {
    size_t n = as_view_items(&table->view);
    as_vec_shrink(&table->view.items);
    for (size_t side = 0; side < 2; side++) {
        assay_id *smaller = realloc(table->own[side], (n + 1) * sizeof *smaller);
        if (smaller) table->own[side] = smaller;
        if (values) shrink_reals(&values->inclusive[side], n);
        if (values) shrink_reals(&values->exclusive[side], n);
    }
}

assay_status as_change_table_new(const as_comparison *c, bool flat, as_change_table **out, as_change_values **values,
                                 assay_error *error) {
    as_change_table *table = calloc(1, sizeof *table);
    /* every function has a context of its own on its side */
    size_t room = (flat ? 2 : 1) * c->ds->contexts.count;
    *out = table;
    *values = NULL;
    if (!table) return as_fail_memory(error, NULL);
    table->n_owners = 1;
    for (size_t side = 0; side < 2; side++) as_vec_init(&table->only[side], sizeof(assay_id), NULL);
    as_vec_init(&table->view.items, sizeof(as_view_item), NULL);
    table->view.request = (as_view_request){.kind = flat ? AS_VIEW_FLAT : AS_VIEW_TOP_DOWN};
    table->view.ds = table->names = as_dataset_new(c->ds->budget.limit);
    table->has_roles = as_ds_has_roles(c->ds);
    if (c->n_columns) *values = new_values(c, room);
    if (!table->names || (c->n_columns && !*values)) return as_fail_memory(error, NULL);
    filling f = {.c = c, .table = table, .values = *values, .room = room, .last = AS_NO_ITEM};
    AS_TRY(fill(&f, flat, error));
    shrink(table, *values);
    return ASSAY_OK;
}

void as_change_table_free(as_change_table *table) {
    if (!table || --table->n_owners) return;
    for (size_t side = 0; side < 2; side++) {
        free(table->own[side]);
        as_vec_free(&table->only[side]);
    }
    as_vec_free(&table->view.items);
    as_dataset_free(table->names);
    free(table);
}

size_t as_change_table_bytes(const as_change_table *table) {
    return sizeof *table + table->view.items.count * (sizeof(as_view_item) + 2 * sizeof(assay_id)) +
           (table->only[AS_BASE].count + table->only[AS_TARGET].count) * sizeof(assay_id) +
           table->names->strings.entries.count * 64;
}

uint32_t as_change_item_of(const as_change_table *table, size_t side, const as_dataset *of, assay_id context) {
    uint32_t n = as_view_items(&table->view);
    for (; context != ASSAY_NONE; context = as_ds_context(of, context)->parent) {
        for (uint32_t i = 0; i < n; i++) {
            if (table->own[side][i] == context) return i;
        }
    }
    return AS_NO_ITEM;
}

double *as_change_own(const as_change_table *table, const as_change_values *values, size_t side) {
    const double *inclusive = values->inclusive[side], *exclusive = values->exclusive[side];
    double *own = malloc(((size_t)values->n + 1) * sizeof *own);
    if (own && table->has_roles && exclusive)
        as_flame_differences(&table->view, inclusive, own);
    else if (own && values->n)
        memcpy(own, exclusive ? exclusive : inclusive, values->n * sizeof *own);
    return own;
}
