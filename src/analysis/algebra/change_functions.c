/* What changed, as a table: the functions of both sides. */
#include <stdlib.h>

#include "analysis/algebra/change_private.h"

/* Those of a side. */
typedef struct side_functions {
    size_t n;
    as_function_name *names; /* of each, in the table's strings */
    assay_id *contexts;      /* the first of each */
    uint32_t *mates;
    uint32_t *of_context; /* of each context of the side; AS_NO_ITEM: none */
} side_functions;

static bool take_functions(const as_dataset *ds, as_view_table *table, as_dataset *strings, side_functions *out) {
    as_carried_names carried;
    bool fine = as_carried_names_init(&carried, ds, strings);
    size_t n = out->n = as_view_items(table);
    out->of_context = table->own_items;
    table->own_items = NULL;
    out->names = malloc((n + 1) * sizeof *out->names);
    out->contexts = malloc((n + 1) * sizeof *out->contexts);
    out->mates = malloc((n + 1) * sizeof *out->mates);
    fine = fine && out->names && out->contexts && out->mates;
    for (uint32_t i = 0; fine && i < n; i++) {
        const as_view_item *item = as_view_item_at(table, i);
        assay_id region = as_ds_context(ds, item->context)->region;
        out->contexts[i] = item->context;
        out->names[i].name = as_carry_name(&carried, item->name, &fine);
        out->names[i].file =
            region == ASSAY_NONE ? AS_NO_STR : as_carry_name(&carried, as_ds_region(ds, region)->file, &fine);
    }
    as_carried_names_free(&carried);
    return fine;
}

static assay_status find_functions(const as_dataset *ds, as_dataset *strings, side_functions *out, assay_error *error) {
    as_view_request flat = {.kind = AS_VIEW_FLAT, .group = AS_GROUP_REGION};
    as_view_source source = {.ds = ds, .point = ASSAY_NONE};
    as_view_data data = {0};
    as_view_table *table = NULL;
    assay_status status = as_view_load(&source, NULL, 0, NULL, 0, &data, error);
    if (status == ASSAY_OK) status = as_view_table_new(&data, &flat, &table, NULL, error);
    as_view_data_free(&data);
    if (status == ASSAY_OK && !take_functions(ds, table, strings, out)) status = as_fail_memory(error, NULL);
    as_view_table_free(table);
    return status;
}

static void free_functions(side_functions *of) {
    free(of->names);
    free(of->contexts);
    free(of->mates);
    free(of->of_context);
}

/* numbers: of the two functions, UINT32_MAX: none. */
static bool add_function(as_change_table *table, const side_functions sides[2], const uint32_t numbers[2]) {
    as_view_item item = {
        .parent = AS_NO_ITEM, .end = as_view_items(&table->view) + 1, .name = AS_NO_STR, .level = AS_LEVEL_CONTEXT};
    for (size_t side = 2; side-- > 0;) {
        uint32_t k = numbers[side];
        bool is_in = k != UINT32_MAX;
        *(side == AS_BASE ? &item.context : &item.call_site) = is_in ? sides[side].contexts[k] : ASSAY_NONE;
        if (is_in) item.name = sides[side].names[k].name;
        if (is_in) item.flags |= side == AS_BASE ? AS_ITEM_IN_BASE : AS_ITEM_IN_TARGET;
    }
    return as_vec_append(&table->view.items, &item, 1);
}

/* Those of the base, then those that only the target has. Mates of the target become items. */
static bool add_functions(as_change_table *table, side_functions sides[2]) {
    const as_function_name *names[2] = {sides[AS_BASE].names, sides[AS_TARGET].names};
    uint32_t *mates[2] = {sides[AS_BASE].mates, sides[AS_TARGET].mates};
    size_t n[2] = {sides[AS_BASE].n, sides[AS_TARGET].n}, n_items = n[AS_BASE];
    if (!as_pair_functions(names, n, mates)) return false;
    for (size_t i = 0; i < n[AS_TARGET]; i++) n_items += mates[AS_TARGET][i] == UINT32_MAX;
    as_vec_expect(&table->view.items, n_items);
    bool fine = true;
    for (uint32_t i = 0; fine && i < n[AS_BASE]; i++)
        fine = add_function(table, sides, (uint32_t[2]){i, mates[AS_BASE][i]});
    for (uint32_t i = 0; fine && i < n[AS_TARGET]; i++) {
        if (mates[AS_TARGET][i] != UINT32_MAX) continue;
        mates[AS_TARGET][i] = as_view_items(&table->view);
        fine = add_function(table, sides, (uint32_t[2]){UINT32_MAX, i});
    }
    as_vec_shrink(&table->view.items);
    return fine;
}

/* From the functions of each side to items. */
static void keep_items(as_change_table *table, const as_dataset *const sides[2], side_functions functions[2]) {
    for (size_t side = 0; side < 2; side++) {
        uint32_t *items = table->items_of[side] = functions[side].of_context;
        functions[side].of_context = NULL;
        table->n_contexts += AS_COUNT(sides[side], contexts);
        for (size_t i = 0; side == AS_TARGET && i < AS_COUNT(sides[side], contexts); i++) {
            if (items[i] != AS_NO_ITEM) items[i] = functions[side].mates[items[i]];
        }
    }
}

/* The names of all contexts of a side, in strings of their own; AS_NO_STR: it is none that counts. Processes and
 * threads of two executions have other names. */
static as_str *list_names(const as_dataset *ds, as_dataset *strings) {
    size_t n = AS_COUNT(ds, contexts);
    as_carried_names carried;
    as_str *names = malloc((n + 1) * sizeof *names);
    bool fine = as_carried_names_init(&carried, ds, strings) && names;
    for (assay_id i = 0; fine && i < n; i++) {
        const as_context *context = as_ds_context(ds, i);
        names[i] = AS_NO_STR;
        if (context->name == AS_NO_STR || as_region_is_place(ds, context->region)) continue;
        names[i] = as_carry_name(&carried, context->name, &fine);
    }
    as_carried_names_free(&carried);
    if (fine) return names;
    free(names);
    return NULL;
}

/* What as_comparison_only_in() finds, without uniting the trees. */
static bool find_only_names(const as_dataset *const sides[2], as_change_table *table) {
    as_dataset *strings = as_dataset_new(sides[AS_BASE]->budget.limit);
    as_str *names[2] = {0};
    bool fine = strings != NULL;
    for (size_t side = 0; side < 2 && fine; side++) fine = (names[side] = list_names(sides[side], strings));
    for (size_t side = 0; side < 2 && fine; side++) {
        bool *seen = calloc(strings->strings.entries.count + 1, sizeof *seen);
        fine = seen != NULL;
        for (size_t i = 0; fine && i < AS_COUNT(sides[!side], contexts); i++)
            if (names[!side][i] != AS_NO_STR) seen[names[!side][i]] = true;
        for (assay_id i = 0; fine && i < AS_COUNT(sides[side], contexts); i++) {
            as_str name = names[side][i];
            if (name == AS_NO_STR || seen[name] || as_ds_context(sides[side], i)->role == AS_ROLE_PLACELESS) continue;
            seen[name] = true;
            fine = as_vec_append(&table->only[side], &i, 1);
        }
        free(seen);
    }
    free(names[AS_BASE]);
    free(names[AS_TARGET]);
    as_dataset_free(strings);
    return fine;
}

assay_status as_change_functions_new(const as_dataset *const sides[2], as_change_table **out, assay_error *error) {
    as_change_table *table = *out = as_change_table_empty(sides, true);
    side_functions functions[2] = {0};
    assay_status status = table ? ASSAY_OK : as_fail_memory(error, NULL);
    for (size_t side = 0; side < 2 && status == ASSAY_OK; side++)
        status = find_functions(sides[side], table->names, &functions[side], error);
    if (status == ASSAY_OK && !add_functions(table, functions)) status = as_fail_memory(error, NULL);
    if (status == ASSAY_OK) keep_items(table, sides, functions);
    for (size_t side = 0; side < 2; side++) free_functions(&functions[side]);
    if (status == ASSAY_OK && !find_only_names(sides, table)) status = as_fail_memory(error, NULL);
    return status;
}
