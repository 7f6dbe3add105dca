/* What changed, as a table. */
#include "analysis/algebra/change_table.h"

#include <stdlib.h>

#include "analysis/views/flame_frames.h"
#include "core/parallel.h"
#include "dataset/build.h"

/* ---- values ---------------------------------------------------------------------------------------------------------- */

/* What is known of a side's metric. */
typedef struct side_facts {
    bool is_in, has_exclusive, adds_up;
    double sum;
    as_view_value whole;
} side_facts;

static side_facts facts_of(const as_view_data *data) {
    if (!data->n_columns) return (side_facts){.sum = NAN};
    const as_view_column *column = &data->columns[0];
    return (side_facts){.is_in = true,
                        .has_exclusive = column->has_exclusive,
                        .adds_up = column->adds_up,
                        .sum = column->whole,
                        .whole = as_view_whole(data, 0)};
}

/* Of both: they are alike where both have the metric. */
static void take_facts(as_change_values *values, side_facts facts[2]) {
    values->has_exclusive = values->adds_up = true;
    for (size_t side = 0; side < 2; side++) {
        values->is_in[side] = facts[side].is_in;
        values->sums[side] = facts[side].sum;
        values->has_exclusive &= facts[side].has_exclusive || !facts[side].is_in;
        values->adds_up &= facts[side].adds_up || !facts[side].is_in;
    }
    for (size_t side = 0; side < 2 && !values->has_exclusive; side++) {
        /* of metrics that are neither inclusive nor exclusive somebody had to guess */
        facts[side].whole.inclusive = (as_view_number){.is_known = isfinite(facts[side].sum), .real = facts[side].sum};
    }
    const as_view_value *base = &facts[AS_BASE].whole, *target = &facts[AS_TARGET].whole;
    values->whole.inclusive = as_change_of(base->inclusive, target->inclusive, values->adds_up);
    if (values->has_exclusive)
        values->whole.exclusive = as_change_of(base->exclusive, target->exclusive, values->adds_up);
}

static bool make_room(as_change_values *values, uint32_t n) {
    values->n = n;
    for (size_t side = 0; side < 2; side++) {
        values->inclusive[side] = malloc(((size_t)n + 1) * sizeof(double));
        values->exclusive[side] = malloc(((size_t)n + 1) * sizeof(double));
        if (!values->inclusive[side] || !values->exclusive[side]) return false;
    }
    return true;
}

/* Where values add up, what only the other side knows is 0; of call paths, whose values then hold those below them, also what nobody knows. */
static void settle(double *base, double *target, const bool is_known[2], bool is_zero) {
    if (is_known[AS_BASE] == is_known[AS_TARGET] && !is_zero) return;
    if (!is_known[AS_BASE]) *base = 0;
    if (!is_known[AS_TARGET]) *target = 0;
}

static void drop_exclusive(as_change_values *values) {
    for (size_t side = 0; side < 2 && !values->has_exclusive; side++) {
        free(values->exclusive[side]);
        values->exclusive[side] = NULL;
    }
}

/* What the items of a table have, in pieces for several threads. */
typedef struct value_filling {
    const as_change_table *table;
    as_change_values *values;
    size_t side;
    const as_view_column *column; /* of the side at hand; NULL: it does not have the metric */
    bool *known[2];
} value_filling;

enum { ITEMS_AT_ONCE = 1 << 14 };

static uint32_t piece_end(const value_filling *f, size_t piece) {
    size_t end = (piece + 1) * ITEMS_AT_ONCE;
    return end < f->values->n ? (uint32_t)end : f->values->n;
}

static void fill_piece(void *user, size_t piece) {
    const value_filling *f = user;
    double *inclusive = f->values->inclusive[f->side], *exclusive = f->values->exclusive[f->side];
    for (uint32_t i = (uint32_t)(piece * ITEMS_AT_ONCE), end = piece_end(f, piece); i < end; i++) {
        assay_id own = f->table->own[f->side][i];
        as_node node;
        bool is_known = f->column && own != ASSAY_NONE && as_column_node(f->column, own, &node);
        f->known[f->side][i] = is_known;
        inclusive[i] = is_known ? as_number_real(node.inclusive) : NAN;
        exclusive[i] = is_known && node.has_exclusive ? as_number_real(node.exclusive) : NAN;
    }
}

static void settle_piece(void *user, size_t piece) {
    const value_filling *f = user;
    as_change_values *v = f->values;
    for (uint32_t i = (uint32_t)(piece * ITEMS_AT_ONCE), end = piece_end(f, piece); i < end; i++) {
        const bool is_known[2] = {f->known[AS_BASE][i], f->known[AS_TARGET][i]};
        settle(&v->inclusive[AS_BASE][i], &v->inclusive[AS_TARGET][i], is_known, v->has_exclusive);
        if (v->has_exclusive) settle(&v->exclusive[AS_BASE][i], &v->exclusive[AS_TARGET][i], is_known, true);
    }
}

/* The metric on a side, if it has it. */
static assay_status load_side(const as_comparison *c, const as_view_source sources[2], size_t side, assay_id metric,
                              as_view_data *out, assay_error *error) {
    assay_id own = metric == ASSAY_NONE ? ASSAY_NONE : as_comparison_metric(c, side, metric);
    return as_view_load(&sources[side], &own, own != ASSAY_NONE, NULL, 0, out, error);
}

static assay_status fill_values(value_filling *f, const as_comparison *c, const as_view_source sources[2],
                                assay_id metric, assay_error *error) {
    size_t n_pieces = ((size_t)f->values->n + ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE;
    side_facts facts[2];
    for (f->side = 0; f->side < 2; f->side++) {
        as_view_data data = {0};
        assay_status status = load_side(c, sources, f->side, metric, &data, error);
        if (status == ASSAY_OK) {
            facts[f->side] = facts_of(&data);
            f->column = data.n_columns ? &data.columns[0] : NULL;
            as_parallel(n_pieces, 0, fill_piece, f);
        }
        as_view_data_free(&data);
        if (status != ASSAY_OK) return status;
    }
    take_facts(f->values, facts);
    drop_exclusive(f->values);
    if (f->values->adds_up) as_parallel(n_pieces, 0, settle_piece, f);
    return ASSAY_OK;
}

assay_status as_change_values_new(const as_change_table *table, const as_comparison *c, const as_view_source sources[2],
                                  assay_id metric, as_change_values **out, assay_error *error) {
    size_t n = as_view_items(&table->view);
    value_filling f = {.table = table, .values = calloc(1, sizeof *f.values), .known = {malloc(n + 1), malloc(n + 1)}};
    *out = f.values;
    bool fine = f.values && f.known[AS_BASE] && f.known[AS_TARGET] && make_room(f.values, (uint32_t)n);
    assay_status status = fine ? fill_values(&f, c, sources, metric, error) : as_fail_memory(error, NULL);
    free(f.known[AS_BASE]);
    free(f.known[AS_TARGET]);
    return status;
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
    size_t room;     /* of own */
    as_str *name_of; /* of each string of the united dataset that of table->names; AS_NO_STR: not yet */
    uint32_t last;   /* the item before; AS_NO_ITEM: none */
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

static assay_status fill(filling *f, assay_error *error) {
    const as_comparison *c = f->c;
    as_change_request request = {.order = AS_CHANGE_AS_SOURCE};
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

static as_change_table *new_table(const as_comparison *c, bool flat) {
    as_change_table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->n_owners = 1;
    for (size_t side = 0; side < 2; side++) as_vec_init(&table->only[side], sizeof(assay_id), NULL);
    as_vec_init(&table->view.items, sizeof(as_view_item), NULL);
    table->view.request = (as_view_request){.kind = flat ? AS_VIEW_FLAT : AS_VIEW_TOP_DOWN};
    table->view.ds = table->names = as_dataset_new(c->ds->budget.limit);
    for (size_t side = 0; side < 2; side++) table->has_roles |= as_ds_has_roles(c->u.parts[side]);
    return table;
}

assay_status as_change_table_new(const as_comparison *c, as_change_table **out, assay_error *error) {
    as_change_table *table = *out = new_table(c, false);
    if (!table || !table->names) return as_fail_memory(error, NULL);
    as_vec_expect(&table->view.items, c->ds->contexts.count);
    filling f = {.c = c, .table = table, .room = c->ds->contexts.count, .last = AS_NO_ITEM};
    AS_TRY(fill(&f, error));
    as_vec_shrink(&table->view.items);
    return ASSAY_OK;
}

/* ---- functions ------------------------------------------------------------------------------------------------------- */

/* Those of a side, and what they have. */
typedef struct side_functions {
    as_view_table *table;
    as_view_values *values; /* or NULL */
    side_facts facts;
    as_function_name *names; /* of each, in the table's strings */
    uint32_t *mates;
} side_functions;

static bool name_functions(const as_dataset *ds, as_dataset *strings, side_functions *out) {
    uint32_t n = as_view_items(out->table);
    bool fine = true;
    out->names = malloc(((size_t)n + 1) * sizeof *out->names);
    out->mates = malloc(((size_t)n + 1) * sizeof *out->mates);
    for (uint32_t i = 0; out->names && fine && i < n; i++) {
        const as_view_item *item = as_view_item_at(out->table, i);
        assay_id region = as_ds_context(ds, item->context)->region;
        out->names[i].name = as_ds_carry(strings, ds, item->name, &fine);
        out->names[i].file =
            region == ASSAY_NONE ? AS_NO_STR : as_ds_carry(strings, ds, as_ds_region(ds, region)->file, &fine);
    }
    return fine && out->names && out->mates;
}

static assay_status find_functions(const as_comparison *c, const as_view_source sources[2], size_t side,
                                   assay_id metric, as_dataset *strings, side_functions *out, assay_error *error) {
    as_view_request flat = {.kind = AS_VIEW_FLAT, .group = AS_GROUP_REGION};
    as_view_data data = {0};
    assay_status status = load_side(c, sources, side, metric, &data, error);
    if (status == ASSAY_OK) out->facts = facts_of(&data);
    if (status == ASSAY_OK) status = as_view_table_new(&data, &flat, &out->table, &out->values, error);
    as_view_data_free(&data);
    if (status == ASSAY_OK && !name_functions(sources[side].ds, strings, out)) status = as_fail_memory(error, NULL);
    return status;
}

static void free_functions(side_functions *of) {
    as_view_table_free(of->table);
    as_view_values_free(of->values);
    free(of->names);
    free(of->mates);
}

/* numbers: of the two functions, UINT32_MAX: none. */
static bool add_function(as_change_table *table, as_change_values *values, const side_functions sides[2],
                         const uint32_t numbers[2]) {
    uint32_t i = as_view_items(&table->view);
    as_view_item item = {.parent = AS_NO_ITEM,
                         .end = i + 1,
                         .context = i,
                         .call_site = ASSAY_NONE,
                         .name = AS_NO_STR,
                         .level = AS_LEVEL_CONTEXT};
    for (size_t side = 2; side-- > 0;) {
        const side_functions *of = &sides[side];
        uint32_t k = numbers[side];
        bool is_in = k != UINT32_MAX;
        table->own[side][i] = is_in ? as_view_item_at(of->table, k)->context : ASSAY_NONE;
        if (is_in) item.name = of->names[k].name;
        if (is_in) item.flags |= side == AS_BASE ? AS_ITEM_IN_BASE : AS_ITEM_IN_TARGET;
        if (!values) continue;
        bool has = is_in && of->values;
        values->inclusive[side][i] = has ? of->values->inclusive[k] : NAN;
        values->exclusive[side][i] = has && of->values->exclusive ? of->values->exclusive[k] : NAN;
    }
    return as_vec_append(&table->view.items, &item, 1);
}

/* Those of the base, then those that only the target has. */
static bool add_functions(as_change_table *table, as_change_values *values, side_functions sides[2]) {
    const as_function_name *names[2] = {sides[AS_BASE].names, sides[AS_TARGET].names};
    uint32_t *mates[2] = {sides[AS_BASE].mates, sides[AS_TARGET].mates};
    size_t n[2] = {as_view_items(sides[AS_BASE].table), as_view_items(sides[AS_TARGET].table)};
    for (size_t side = 0; side < 2; side++) {
        table->own[side] = malloc((n[AS_BASE] + n[AS_TARGET] + 1) * sizeof(assay_id));
        if (!table->own[side]) return false;
    }
    if (!as_pair_functions(names, n, mates) || (values && !make_room(values, (uint32_t)(n[AS_BASE] + n[AS_TARGET]))))
        return false;
    bool fine = true;
    for (uint32_t i = 0; fine && i < n[AS_BASE]; i++)
        fine = add_function(table, values, sides, (uint32_t[2]){i, mates[AS_BASE][i]});
    for (uint32_t i = 0; fine && i < n[AS_TARGET]; i++) {
        if (mates[AS_TARGET][i] == UINT32_MAX) fine = add_function(table, values, sides, (uint32_t[2]){UINT32_MAX, i});
    }
    if (values) values->n = as_view_items(&table->view);
    return fine;
}

/* The names of all contexts of a side, in strings of their own; AS_NO_STR: it is none that counts. Processes and threads of two executions have other names. */
static as_str *list_names(const as_dataset *ds, as_dataset *strings) {
    size_t n = AS_COUNT(ds, contexts), n_strings = ds->strings.entries.count;
    as_str *names = malloc((n + 1) * sizeof *names), *carried = malloc((n_strings + 1) * sizeof *carried);
    bool fine = names && carried;
    for (size_t i = 0; fine && i < n_strings; i++) carried[i] = AS_NO_STR;
    for (assay_id i = 0; fine && i < n; i++) {
        const as_context *context = as_ds_context(ds, i);
        names[i] = AS_NO_STR;
        if (context->name == AS_NO_STR || as_region_is_place(ds, context->region)) continue;
        as_str *known = &carried[context->name];
        if (*known == AS_NO_STR) *known = as_ds_carry(strings, ds, context->name, &fine);
        names[i] = *known;
    }
    free(carried);
    if (fine) return names;
    free(names);
    return NULL;
}

/* What as_comparison_only_in() finds, without uniting the trees. */
static bool find_only_names(const as_comparison *c, as_change_table *table) {
    as_dataset *strings = as_dataset_new(c->ds->budget.limit);
    as_str *names[2] = {0};
    bool fine = strings != NULL;
    for (size_t side = 0; side < 2 && fine; side++) fine = (names[side] = list_names(c->u.parts[side], strings));
    for (size_t side = 0; side < 2 && fine; side++) {
        bool *seen = calloc(strings->strings.entries.count + 1, sizeof *seen);
        fine = seen != NULL;
        for (size_t i = 0; fine && i < AS_COUNT(c->u.parts[!side], contexts); i++)
            if (names[!side][i] != AS_NO_STR) seen[names[!side][i]] = true;
        for (assay_id i = 0; fine && i < AS_COUNT(c->u.parts[side], contexts); i++) {
            as_str name = names[side][i];
            if (name == AS_NO_STR || seen[name] || as_ds_context(c->u.parts[side], i)->role == AS_ROLE_PLACELESS)
                continue;
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

/* What is no number is not known. */
static void settle_functions(as_change_values *values) {
    for (int k = 0; k < 1 + values->has_exclusive; k++) {
        double *const *numbers = k ? values->exclusive : values->inclusive;
        for (uint32_t i = 0; i < values->n; i++) {
            double *base = &numbers[AS_BASE][i], *target = &numbers[AS_TARGET][i];
            settle(base, target, (const bool[2]){!isnan(*base), !isnan(*target)}, false);
        }
    }
}

assay_status as_change_functions_new(const as_comparison *c, const as_view_source sources[2], assay_id metric,
                                     as_change_table **out, as_change_values **values, assay_error *error) {
    as_change_table *table = *out = new_table(c, true);
    side_functions sides[2] = {0};
    *values = metric == ASSAY_NONE ? NULL : calloc(1, sizeof **values);
    if (!table || !table->names || (metric != ASSAY_NONE && !*values)) return as_fail_memory(error, NULL);
    assay_status status = ASSAY_OK;
    for (size_t side = 0; side < 2 && status == ASSAY_OK; side++)
        status = find_functions(c, sources, side, metric, table->names, &sides[side], error);
    if (status == ASSAY_OK && !(add_functions(table, *values, sides) && find_only_names(c, table)))
        status = as_fail_memory(error, NULL);
    if (status == ASSAY_OK && *values) {
        take_facts(*values, (side_facts[2]){sides[AS_BASE].facts, sides[AS_TARGET].facts});
        drop_exclusive(*values);
        if ((*values)->adds_up) settle_functions(*values);
    }
    for (size_t side = 0; side < 2; side++) free_functions(&sides[side]);
    return status;
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
    else if (own && !exclusive)
        as_flame_guess_own(&table->view, inclusive, own);
    else if (own && values->n)
        memcpy(own, exclusive, values->n * sizeof *own);
    return own;
}
