/* The new layout: a type for each set of properties, with columns of equal length; models at the top level. What
 * regions of the old layout have besides stays in them, with empty lists of resources, which Perun reads without
 * objection. */
#include "formats/perun/write_layout.h"

typedef struct new_writer {
    as_layout *layout;
    as_output *out;
    as_layout_types types;
    as_map numbers;   /* flat uid -> types of it so far */
    as_vec number_of; /* uint32_t, by type */
    as_vec id;        /* char */
    bool has_global_rows;
    as_vec has_rows; /* bool, by snapshot: it has rows */
} new_writer;

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* Numbers the types of each uid from 0 on. */
static bool number_types(new_writer *w) {
    const as_strings *strings = &w->layout->ds->strings;
    for (size_t i = 0; i < w->types.types.count; i++) {
        const as_perun_kind *kind = as_layout_kind(w->layout, AS_AT(as_layout_type, &w->types.types, i).kind);
        as_str uid = kind->flat_uid != AS_NO_STR ? kind->flat_uid : as_find(strings, "None", 4);
        uint32_t number = as_map_get(&w->numbers, uid);
        if (number == AS_MAP_NONE) number = 0;
        if (!as_map_put(&w->numbers, uid, number + 1) || !as_vec_append(&w->number_of, &number, 1)) return false;
    }
    return true;
}

/* "uid#k": { */
static void begin_type(new_writer *w, size_t i) {
    const as_dataset *ds = w->layout->ds;
    as_str uid = as_layout_kind(w->layout, AS_AT(as_layout_type, &w->types.types, i).kind)->flat_uid;
    char number[AS_NUMBER_SIZE];
    size_t size = as_uint_format(AS_AT(uint32_t, &w->number_of, i), number);
    w->id.count = 0;
    w->layout->fine &= as_vec_append(&w->id, uid == AS_NO_STR ? "None" : as_ds_text(ds, uid),
                                     uid == AS_NO_STR ? 4 : as_str_size(&ds->strings, uid)) &&
                       as_vec_text(&w->id, "#") && as_vec_append(&w->id, number, size);
    as_output_text(w->out, i ? ",\n    " : "\n    ");
    as_json_write_string(w->out, w->id.data, w->id.count);
    as_output_text(w->out, ": {");
}

static void write_column(new_writer *w, const as_layout_type *type, const as_layout_column *column) {
    for (size_t i = 0; i < type->n; i++) {
        if (i) as_output_text(w->out, ", ");
        as_layout_write_own(w->layout, column, w->layout->profile->first_row + w->types.rows[type->first + i]);
    }
}

static bool is_one_without_columns(const new_writer *w, const as_layout_type *type) {
    size_t row = w->layout->profile->first_row + w->types.rows[type->first];
    for (size_t i = 0; i < w->layout->columns.count; i++) {
        if (as_layout_has(&AS_AT(as_layout_column, &w->layout->columns, i), row)) return false;
    }
    return true;
}

static void write_columns(new_writer *w, const as_layout_type *type) {
    size_t row = w->layout->profile->first_row + w->types.rows[type->first], n = 0;
    for (size_t i = 0; i < w->layout->columns.count; i++) {
        const as_layout_column *column = &AS_AT(as_layout_column, &w->layout->columns, i);
        if (!as_layout_has(column, row)) continue;
        if (n++) as_output_text(w->out, ", ");
        as_json_write_string(w->out, column->key, column->key_size);
        as_output_text(w->out, ": [");
        write_column(w, type, column);
        as_output_char(w->out, ']');
    }
}

static void write_extra(new_writer *w, const char *key, as_cell cell, size_t *n) {
    if (cell.type == AS_CELL_NULL) return;
    if ((*n)++) as_output_text(w->out, ", ");
    as_json_write_string(w->out, key, strlen(key));
    as_output_text(w->out, ": ");
    as_perun_write_cell(w->out, cell);
}

/* What the snapshot or global says of a resource is a property of its type. */
static void write_properties(new_writer *w, const as_layout_type *type) {
    as_layout *layout = w->layout;
    as_perun_place place = as_layout_kind(layout, type->kind)->place;
    bool has_time = place == AS_PERUN_GLOBAL || place == AS_PERUN_SNAPSHOTS, has_snapshot = place == AS_PERUN_SNAPSHOTS;
    as_raw_json members = as_layout_members(
        layout, type->kind, (has_time ? AS_WITHOUT_TIME : 0u) | (has_snapshot ? AS_WITHOUT_SNAPSHOT : 0u));
    size_t n = members.size != 0;
    as_perun_write_raw(w->out, members);
    if (has_snapshot) write_extra(w, "snapshot", as_layout_shared(layout, type->kind, layout->snapshot), &n);
    if (has_time) write_extra(w, "time", as_layout_shared(layout, type->kind, layout->time), &n);
}

static void end_types(new_writer *w, size_t n) { as_output_text(w->out, n ? "\n  }" : "}"); }

/* Types of one resource each without a column are {} and come as often as there are rows: columns would have nothing to
 * count them by. */
static bool split_bare_types(new_writer *w) {
    as_vec split;
    as_vec_init(&split, sizeof(as_layout_type), w->layout->budget);
    bool fine = true;
    for (size_t i = 0; fine && i < w->types.types.count; i++) {
        as_layout_type type = AS_AT(as_layout_type, &w->types.types, i);
        size_t n = type.n;
        if (n < 2 || !is_one_without_columns(w, &type)) {
            fine = as_vec_append(&split, &type, 1);
            continue;
        }
        for (type.n = 1; fine && n; n--, type.first++) fine = as_vec_append(&split, &type, 1);
    }
    as_vec_free(&w->types.types);
    w->types.types = split;
    return fine;
}

static void write_types(new_writer *w) {
    size_t n = w->types.types.count;
    as_region_named(&w->layout->regions, "resources");
    as_output_char(w->out, '{');
    for (size_t i = 0; i < n; i++) {
        begin_type(w, i);
        write_columns(w, &AS_AT(as_layout_type, &w->types.types, i));
        as_output_char(w->out, '}');
    }
    end_types(w, n);
    as_region_named(&w->layout->regions, "resource_type_map");
    as_output_char(w->out, '{');
    for (size_t i = 0; i < n; i++) {
        begin_type(w, i);
        write_properties(w, &AS_AT(as_layout_type, &w->types.types, i));
        as_output_char(w->out, '}');
    }
    end_types(w, n);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* snapshot: SIZE_MAX for none; else the model says so from now on. */
static void write_model_list(new_writer *w, as_raw_json list, size_t snapshot, size_t *n) {
    static const char *const but[] = {"snapshot", NULL};
    as_raw_items items;
    if (as_raw_begins(list) != '[') return;
    for (bool more = as_raw_items_begin(&items, list, w->layout->budget); more && as_raw_items_next(&items);) {
        as_output_text(w->out, (*n)++ ? ",\n    " : "\n    ");
        if (snapshot == SIZE_MAX || as_raw_begins(items.value) != '{') {
            as_perun_write_raw(w->out, items.value);
            continue;
        }
        size_t members = 0;
        as_output_char(w->out, '{');
        as_layout_write_members(w->layout, items.value, but, &members);
        as_output_text(w->out, members ? ", \"snapshot\": " : "\"snapshot\": ");
        as_output_int(w->out, (int64_t)snapshot);
        as_output_char(w->out, '}');
    }
    w->layout->fine &= !as_raw_items_end(&items);
}

static void write_snapshot_models(new_writer *w, as_raw_json snapshots, size_t *n) {
    as_raw_items items;
    size_t number = 0;
    if (as_raw_begins(snapshots) != '[') return;
    for (bool more = as_raw_items_begin(&items, snapshots, w->layout->budget); more && as_raw_items_next(&items);)
        write_model_list(w, as_raw_member(items.value, "models", w->layout->budget, &w->layout->fine), number++, n);
    w->layout->fine &= !as_raw_items_end(&items);
}

static void write_models(new_writer *w) {
    as_layout *layout = w->layout;
    size_t n = 0;
    as_region_named(&layout->regions, "models");
    as_output_char(w->out, '[');
    write_model_list(w, as_raw_member(as_layout_region(layout, "global"), "models", layout->budget, &layout->fine),
                     SIZE_MAX, &n);
    write_model_list(w, as_layout_region(layout, "models"), SIZE_MAX, &n);
    write_snapshot_models(w, as_layout_region(layout, "snapshots"), &n);
    as_output_text(w->out, n ? "\n  ]" : "]");
}

/* ---- what else the regions of the old layout have ---------------------------------------------------------------- */

static const char *const in_types[] = {"resources", "models", "time", NULL};

/* Whether a frame has something that types and models do not. */
static bool has_more(new_writer *w, as_raw_json frame, bool has_rows) {
    bool found = !has_rows;
    as_raw_items items;
    if (as_raw_begins(frame) != '{') return false;
    for (bool more = as_raw_items_begin(&items, frame, w->layout->budget); more && as_raw_items_next(&items);) {
        bool is_in_types = false;
        for (size_t i = 0; in_types[i]; i++) is_in_types |= as_raw_is(items.key, in_types[i]);
        found |= !is_in_types;
    }
    w->layout->fine &= !as_raw_items_end(&items);
    return found;
}

static void write_rest_of_frame(new_writer *w, as_raw_json frame) {
    static const char *const but[] = {"resources", "models", NULL};
    size_t n = 0;
    if (as_raw_begins(frame) != '{') {
        as_perun_write_raw(w->out, frame);
        return;
    }
    as_output_char(w->out, '{');
    as_layout_write_members(w->layout, frame, but, &n);
    if (as_raw_member(frame, "resources", w->layout->budget, &w->layout->fine).size)
        as_output_text(w->out, n ? ", \"resources\": []" : "\"resources\": []");
    as_output_char(w->out, '}');
}

static bool snapshot_has_rows(const new_writer *w, size_t number) {
    return number < w->has_rows.count && AS_AT(bool, &w->has_rows, number);
}

static void write_rest_of_snapshots(new_writer *w, as_raw_json snapshots) {
    as_raw_items items;
    size_t number = 0;
    bool is_needed = false;
    for (bool more = as_raw_items_begin(&items, snapshots, w->layout->budget); more && as_raw_items_next(&items);)
        is_needed |= has_more(w, items.value, snapshot_has_rows(w, number++)) || as_raw_begins(items.value) != '{';
    w->layout->fine &= !as_raw_items_end(&items);
    if (!is_needed) return;
    as_region_named(&w->layout->regions, "snapshots");
    as_output_char(w->out, '[');
    number = 0;
    for (bool more = as_raw_items_begin(&items, snapshots, w->layout->budget); more && as_raw_items_next(&items);) {
        if (number++) as_output_text(w->out, ", ");
        write_rest_of_frame(w, items.value);
    }
    w->layout->fine &= !as_raw_items_end(&items);
    as_output_char(w->out, ']');
}

static bool find_rows(new_writer *w) {
    const as_perun_profile *profile = w->layout->profile;
    const uint32_t *kinds = as_records_row_kinds(w->layout->records);
    for (size_t i = 0; i < profile->n_rows; i++) {
        const as_perun_kind *kind = as_layout_kind(w->layout, kinds[profile->first_row + i]);
        w->has_global_rows |= kind->place == AS_PERUN_GLOBAL;
        if (kind->place != AS_PERUN_SNAPSHOTS || kind->snapshot == UINT32_MAX) continue;
        while (w->has_rows.count <= kind->snapshot) {
            if (!as_vec_push(&w->has_rows)) return false;
        }
        AS_AT(bool, &w->has_rows, kind->snapshot) = true;
    }
    return true;
}

static void write_old_region(new_writer *w, const char *key, as_raw_json value) {
    bool is_snapshots = strcmp(key, "snapshots") == 0;
    if (is_snapshots && as_raw_begins(value) == '[') {
        write_rest_of_snapshots(w, value);
    } else if (strcmp(key, "global") == 0 && as_raw_begins(value) == '{') {
        if (!has_more(w, value, w->has_global_rows)) return;
        as_region_named(&w->layout->regions, key);
        write_rest_of_frame(w, value);
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void write_regions(new_writer *w) {
    bool types = false, models = false;
    const as_vec *regions = &w->layout->profile->regions;
    for (size_t i = 0; i < regions->count; i++) {
        const as_perun_region *region = &AS_AT(as_perun_region, regions, i);
        const char *key = as_ds_text(w->layout->ds, region->key);
        bool is_old = strcmp(key, "snapshots") == 0 || strcmp(key, "global") == 0 || strcmp(key, "resources") == 0;
        bool is_models = strcmp(key, "models") == 0;
        if (is_old && !types) write_types(w);
        if (is_models && !models) write_models(w);
        if (is_old) write_old_region(w, key, region->value);
        types |= is_old;
        models |= is_models;
        if (is_old || is_models || strcmp(key, "resource_type_map") == 0) continue;
        as_region_begin(&w->layout->regions, key, as_str_size(&w->layout->ds->strings, region->key));
        as_perun_write_raw(w->out, region->value);
    }
    if (!types) write_types(w);
    if (!models) write_models(w);
    as_region_end(&w->layout->regions);
}

assay_status as_layout_write_new(as_layout *layout) {
    new_writer w = {.layout = layout, .out = layout->out};
    as_map_init(&w.numbers, layout->budget);
    as_vec_init(&w.number_of, sizeof(uint32_t), layout->budget);
    as_vec_init(&w.id, 1, layout->budget);
    as_vec_init(&w.has_rows, sizeof(bool), layout->budget);
    bool fine = as_layout_find_types(layout, &w.types) && split_bare_types(&w) && number_types(&w) && find_rows(&w);
    if (fine) write_regions(&w);
    as_map_free(&w.numbers);
    as_vec_free(&w.number_of);
    as_vec_free(&w.id);
    as_vec_free(&w.has_rows);
    as_layout_types_free(&w.types);
    return fine ? ASSAY_OK : as_fail_memory(layout->writer->error, NULL);
}
