#include "formats/perun/write_layout.h"

#include <stdlib.h>

/* ---- what rows are made of --------------------------------------------------------------------------------------- */

/* The table calls keys "id" and "run" by other names. */
static const char *source_key(const char *column) {
    return strcmp(column, "source:id") == 0 || strcmp(column, "source:run") == 0 ? column + strlen("source:") : column;
}

bool as_layout_init(as_layout *layout, as_writer *writer, const as_perun_profile *profile) {
    const as_perun *perun = as_perun_of(writer->dataset);
    *layout = (as_layout){.writer = writer,
                          .out = writer->out,
                          .ds = writer->dataset,
                          .perun = perun,
                          .profile = profile,
                          .records = perun->records,
                          .budget = as_ds_budget(writer->dataset),
                          .regions = {.out = writer->out},
                          .time = as_records_find_column(perun->records, "time"),
                          .snapshot = as_records_find_column(perun->records, "snapshot"),
                          .fine = true,
                          .rest_of = UINT32_MAX};
    as_vec_init(&layout->columns, sizeof(as_layout_column), layout->budget);
    as_vec_init(&layout->whole, 1, layout->budget);
    as_vec_init(&layout->rest, 1, layout->budget);
    for (uint32_t i = 0; i < as_records_columns(perun->records); i++) {
        as_str name = as_records_column_name(perun->records, i);
        as_layout_column column = {.cells = as_records_own(perun->records, i),
                                   .key = source_key(as_ds_text(layout->ds, name))};
        if (!column.cells.count) continue;
        column.key_size = as_str_size(&layout->ds->strings, name) - (size_t)(column.key - as_ds_text(layout->ds, name));
        if (!as_vec_append(&layout->columns, &column, 1)) return false;
    }
    return true;
}

void as_layout_free(as_layout *layout) {
    as_vec_free(&layout->columns);
    as_vec_free(&layout->whole);
    as_vec_free(&layout->rest);
}

as_cell as_layout_shared(const as_layout *layout, uint32_t kind, uint32_t column) {
    return column == UINT32_MAX ? as_cell_null() : as_records_shared(layout->records, kind, column);
}

static bool append_member(as_vec *out, const as_raw_items *items, const char *raw_key) {
    size_t key_size = (size_t)(items->value.text - raw_key);
    return (!out->count || as_vec_text(out, ", ")) && as_vec_append(out, raw_key, key_size) &&
           as_vec_append(out, items->value.text, items->value.size);
}

as_raw_json as_layout_members(as_layout *layout, uint32_t kind, unsigned without) {
    as_raw_json members = as_layout_kind(layout, kind)->members;
    if (!without) return members;
    if (layout->rest_of != kind || layout->rest_without != without) {
        layout->whole.count = layout->rest.count = 0;
        as_raw_items items;
        bool fine = as_vec_text(&layout->whole, "{") && as_vec_append(&layout->whole, members.text, members.size) &&
                    as_vec_text(&layout->whole, "}");
        as_raw_json object = {layout->whole.data, layout->whole.count};
        bool more = fine && as_raw_items_begin(&items, object, layout->budget);
        const char *raw_key = object.text ? object.text + 1 : NULL;
        while (more && fine && as_raw_items_next(&items)) {
            bool is_left_out = (without & AS_WITHOUT_TIME && as_raw_is(items.key, "time")) ||
                               (without & AS_WITHOUT_SNAPSHOT && as_raw_is(items.key, "snapshot"));
            while (strchr(", \t\r\n", *raw_key)) raw_key++;
            if (!is_left_out) fine = append_member(&layout->rest, &items, raw_key);
            raw_key = items.value.text + items.value.size;
        }
        if (more) fine = !as_raw_items_end(&items) && fine;
        layout->fine &= fine;
        layout->rest_of = kind;
        layout->rest_without = without;
    }
    return (as_raw_json){layout->rest.data, layout->rest.count};
}

void as_layout_write_own(const as_layout *layout, const as_layout_column *column, size_t row) {
    as_own_value value = column->cells.values[row];
    switch ((as_own_type)column->cells.types[row]) {
    case AS_OWN_ABSENT:
    case AS_OWN_NULL: as_output_text(layout->out, "null"); break;
    case AS_OWN_FALSE: as_output_text(layout->out, "false"); break;
    case AS_OWN_TRUE: as_output_text(layout->out, "true"); break;
    case AS_OWN_INT: as_output_int(layout->out, value.i); break;
    case AS_OWN_UINT: as_perun_write_number(layout->out, (as_number){.kind = AS_UINT, .u = value.u}); break;
    case AS_OWN_REAL: as_perun_write_real(layout->out, value.r); break;
    case AS_OWN_TEXT: as_perun_write_str(layout->out, layout->ds, value.text); break;
    case AS_OWN_DIGITS: as_output_text(layout->out, as_ds_text(layout->ds, value.text)); break;
    }
}

void as_layout_write_members(as_layout *layout, as_raw_json object, const char *const *but, size_t *n) {
    as_raw_items items;
    if (as_raw_begins(object) != '{') return;
    for (bool more = as_raw_items_begin(&items, object, layout->budget); more && as_raw_items_next(&items);) {
        bool is_left_out = false;
        for (size_t i = 0; but[i]; i++) is_left_out |= as_raw_is(items.key, but[i]);
        if (is_left_out) continue;
        if ((*n)++) as_output_text(layout->out, ", ");
        as_json_write_string(layout->out, items.key.text, items.key.size);
        as_output_text(layout->out, ": ");
        as_perun_write_raw(layout->out, items.value);
    }
    layout->fine &= !as_raw_items_end(&items);
}

as_raw_json as_layout_region(const as_layout *layout, const char *key) {
    as_raw_json found = {0};
    for (size_t i = 0; i < layout->profile->regions.count; i++) {
        const as_perun_region *region = &AS_AT(as_perun_region, &layout->profile->regions, i);
        if (strcmp(as_ds_text(layout->ds, region->key), key) == 0) found = region->value;
    }
    return found;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* Rows find their type by their kind and, along a tree of columns, by which of these they have. */
typedef struct sorter {
    const as_layout *layout;
    as_map nodes; /* as_pair(node, column) -> node; 0: no column yet */
    as_map types; /* as_pair(kind, node) -> type */
    uint32_t n_nodes;
    uint32_t *of_row;
} sorter;

static bool same_columns(const sorter *s, size_t a, size_t b) {
    for (size_t i = 0; i < s->layout->columns.count; i++) {
        const as_layout_column *column = &AS_AT(as_layout_column, &s->layout->columns, i);
        if (as_layout_has(column, a) != as_layout_has(column, b)) return false;
    }
    return true;
}

/* UINT32_MAX when memory is out. */
static uint32_t find_node(sorter *s, size_t row) {
    uint32_t node = 0;
    for (size_t i = 0; i < s->layout->columns.count; i++) {
        if (!as_layout_has(&AS_AT(as_layout_column, &s->layout->columns, i), row)) continue;
        uint64_t key = as_pair(node, (uint32_t)i);
        uint32_t next = as_map_get(&s->nodes, key);
        if (next == AS_MAP_NONE) {
            next = ++s->n_nodes;
            if (!as_map_put(&s->nodes, key, next)) return UINT32_MAX;
        }
        node = next;
    }
    return node;
}

static uint32_t find_type(sorter *s, as_vec *types, uint32_t kind, size_t row) {
    uint32_t node = find_node(s, row);
    if (node == UINT32_MAX) return UINT32_MAX;
    uint32_t type = as_map_get(&s->types, as_pair(kind, node));
    if (type != AS_MAP_NONE) return type;
    as_layout_type new_type = {.kind = kind};
    type = (uint32_t)types->count;
    return as_vec_append(types, &new_type, 1) && as_map_put(&s->types, as_pair(kind, node), type) ? type : UINT32_MAX;
}

static bool sort_rows(sorter *s, as_layout_types *out) {
    const as_perun_profile *profile = s->layout->profile;
    const uint32_t *kinds = as_records_row_kinds(s->layout->records);
    for (size_t i = 0; i < profile->n_rows; i++) {
        size_t row = profile->first_row + i;
        bool is_same = i && kinds[row] == kinds[row - 1] && same_columns(s, row, row - 1);
        uint32_t type = is_same ? s->of_row[i - 1] : find_type(s, &out->types, kinds[row], row);
        if (type == UINT32_MAX) return false;
        s->of_row[i] = type;
        AS_AT(as_layout_type, &out->types, type).n++;
    }
    size_t first = 0;
    for (size_t i = 0; i < out->types.count; i++) {
        as_layout_type *type = &AS_AT(as_layout_type, &out->types, i);
        type->first = first;
        first += type->n;
        type->n = 0;
    }
    for (size_t i = 0; i < profile->n_rows; i++) {
        as_layout_type *type = &AS_AT(as_layout_type, &out->types, s->of_row[i]);
        out->rows[type->first + type->n++] = (uint32_t)i;
    }
    return true;
}

bool as_layout_find_types(const as_layout *layout, as_layout_types *out) {
    size_t n = layout->profile->n_rows;
    sorter s = {.layout = layout, .of_row = malloc((n + 1) * sizeof *s.of_row)};
    *out = (as_layout_types){.rows = malloc((n + 1) * sizeof *out->rows)};
    as_vec_init(&out->types, sizeof(as_layout_type), layout->budget);
    as_map_init(&s.nodes, layout->budget);
    as_map_init(&s.types, layout->budget);
    bool fine = s.of_row && out->rows && sort_rows(&s, out);
    as_map_free(&s.nodes);
    as_map_free(&s.types);
    free(s.of_row);
    return fine;
}

void as_layout_types_free(as_layout_types *types) {
    as_vec_free(&types->types);
    free(types->rows);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

assay_status as_perun_write_layout(as_writer *writer, const as_perun_profile *profile, bool is_new) {
    as_layout layout;
    bool fine = as_layout_init(&layout, writer, profile);
    assay_status status = !fine    ? as_fail_memory(writer->error, NULL)
                          : is_new ? as_layout_write_new(&layout)
                                   : as_layout_write_old(&layout);
    if (status == ASSAY_OK && !layout.fine) status = as_fail_memory(writer->error, NULL);
    as_layout_free(&layout);
    return status;
}

bool as_perun_reorders(const as_dataset *ds, const as_perun_profile *profile) {
    as_layout layout;
    as_layout_types types = {0};
    as_writer writer = {.dataset = ds};
    bool reorders = false;
    if (as_layout_init(&layout, &writer, profile) && as_layout_find_types(&layout, &types)) {
        for (size_t i = 1; i < profile->n_rows && !reorders; i++) reorders = types.rows[i] < types.rows[i - 1];
    }
    as_layout_types_free(&types);
    as_layout_free(&layout);
    return reorders;
}
