/* A profile as it was, but for what a command adds: text is copied byte by byte up to where something changes. */
#include "formats/perun/write.h"

typedef struct editor {
    as_writer *writer;
    as_output *out;
    const as_perun_profile *profile;
    const as_perun_edits *edits;
    as_budget *budget;
    as_region_list regions;
    size_t row, end; /* of "record": the next one, and behind the last */
    bool models_in_global, models_written, postprocessors_written;
    bool fine; /* memory is not out */
} editor;

/* ---- pieces of text ---------------------------------------------------------------------------------------------- */

/* Text that is copied, but for some pieces. */
typedef struct copying {
    const char *from, *end;
} copying;

static copying copy_of(as_raw_json text) { return (copying){text.text, text.text + text.size}; }

/* Copies what is before `piece`, which is then the editor's to write. */
static void leave_out(const editor *e, copying *c, as_raw_json piece) {
    as_output_write(e->out, c->from, (size_t)(piece.text - c->from));
    c->from = piece.text + piece.size;
}

/* Copies the rest of an object or array up to its end, and a comma where there is something before it. What is written
 * then is its last member or element; close() ends it. */
static void open_end(const editor *e, copying *c, const char *indent) {
    const char *last = c->end - 1; /* the closing bracket */
    while (last > c->from && strchr(" \t\r\n", last[-1])) last--;
    as_output_write(e->out, c->from, (size_t)(last - c->from));
    bool is_empty = last > c->from && strchr("{[", last[-1]);
    as_output_text(e->out, is_empty ? "" : ",");
    as_output_text(e->out, indent);
    c->from = last;
}

static void copy_rest(const editor *e, copying *c) { as_output_write(e->out, c->from, (size_t)(c->end - c->from)); }

/* ---- lists that grow --------------------------------------------------------------------------------------------- */

static void write_additions(editor *e, const as_raw_json *texts, size_t n, const char *between) {
    for (size_t i = 0; i < n; i++) {
        if (i) as_output_text(e->out, between);
        as_perun_write_raw(e->out, texts[i]);
    }
}

/* list: the value so far; size 0 or null: none. */
static assay_status write_longer(editor *e, const char *name, as_raw_json list, const as_raw_json *texts, size_t n) {
    if (!n && list.size) {
        as_perun_write_raw(e->out, list);
        return ASSAY_OK;
    }
    if (list.size && as_raw_begins(list) != '[' && !as_raw_is(list, "null"))
        return as_fail(e->writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "wrong-type",
                       "%s of the profile is no list, so that nothing can be added to it", name);
    if (as_raw_begins(list) != '[') list = (as_raw_json){"[]", 2};
    copying c = copy_of(list);
    open_end(e, &c, "\n    ");
    write_additions(e, texts, n, ",\n    ");
    as_output_text(e->out, "\n  ");
    copy_rest(e, &c);
    return ASSAY_OK;
}

static assay_status write_models(editor *e, as_raw_json list) {
    e->models_written = true;
    return write_longer(e, "models", list, e->edits->models, e->edits->n_models);
}

static assay_status write_postprocessors(editor *e, as_raw_json list) {
    e->postprocessors_written = true;
    return write_longer(e, "postprocessors", list, &e->edits->postprocessor, e->edits->postprocessor.size != 0);
}

/* ---- a column of resources --------------------------------------------------------------------------------------- */

static bool is_column(const editor *e, const as_raw_items *items) { return as_raw_is(items->key, e->edits->column); }

static as_cell next_cell(editor *e) { return e->row < e->end ? e->edits->cells[e->row++] : (e->row++, as_cell_null()); }

/* One resource of a list; its cell is not null. */
static void write_resource(editor *e, as_raw_json resource, as_cell cell) {
    copying c = copy_of(resource);
    bool is_there = false;
    as_raw_items items;
    bool more = as_raw_items_begin(&items, resource, e->budget);
    while (more && as_raw_items_next(&items)) {
        if (!is_column(e, &items)) continue;
        leave_out(e, &c, items.value);
        as_perun_write_cell(e->out, cell);
        is_there = true;
    }
    e->fine &= !as_raw_items_end(&items);
    if (!is_there) {
        open_end(e, &c, " ");
        as_json_write_string(e->out, e->edits->column, strlen(e->edits->column));
        as_output_text(e->out, ": ");
        as_perun_write_cell(e->out, cell);
    }
    copy_rest(e, &c);
}

/* Resources one by one. */
static void write_list(editor *e, as_raw_json list) {
    copying c = copy_of(list);
    as_raw_items items;
    bool more = as_raw_begins(list) == '[' && as_raw_items_begin(&items, list, e->budget);
    while (more && as_raw_items_next(&items)) {
        as_cell cell = next_cell(e);
        if (cell.type == AS_CELL_NULL || as_raw_begins(items.value) != '{') continue;
        leave_out(e, &c, items.value);
        write_resource(e, items.value, cell);
    }
    if (more) e->fine &= !as_raw_items_end(&items);
    copy_rest(e, &c);
}

static size_t count_elements(editor *e, as_raw_json list) {
    size_t n = 0;
    as_raw_items items;
    if (as_raw_begins(list) != '[') return 0;
    for (bool more = as_raw_items_begin(&items, list, e->budget); more && as_raw_items_next(&items);) n++;
    e->fine &= !as_raw_items_end(&items);
    return n;
}

/* The column for n rows: what the edits say, else what is there already. */
static void write_column(editor *e, as_raw_json column, size_t n) {
    const as_records *records = as_perun_of(e->writer->dataset)->records;
    uint32_t known = as_records_find_column(records, e->edits->column);
    as_raw_items items;
    bool has_list = as_raw_begins(column) == '[';
    bool more = has_list && as_raw_items_begin(&items, column, e->budget);
    as_output_char(e->out, '[');
    for (size_t i = 0; i < n; i++) {
        more = more && as_raw_items_next(&items);
        size_t row = e->row;
        as_cell cell = next_cell(e);
        if (i) as_output_text(e->out, ", ");
        if (cell.type == AS_CELL_NULL && more)
            as_perun_write_raw(e->out, items.value);
        else if (cell.type == AS_CELL_NULL && known != UINT32_MAX && row < e->end)
            as_perun_write_cell(e->out, as_records_cell(records, row, known));
        else
            as_perun_write_cell(e->out, cell);
    }
    as_output_char(e->out, ']');
    if (has_list) e->fine &= !as_raw_items_end(&items);
}

/* The columns of one type. */
static void write_type(editor *e, as_raw_json columns) {
    size_t longest = 0;
    bool is_empty = true;
    as_raw_json column = {0};
    as_raw_items items;
    for (bool more = as_raw_items_begin(&items, columns, e->budget); more && as_raw_items_next(&items);) {
        size_t n = count_elements(e, items.value);
        longest = n > longest ? n : longest;
        is_empty = false;
        if (is_column(e, &items)) column = items.value;
    }
    e->fine &= !as_raw_items_end(&items);
    size_t n = is_empty ? 1 : longest; /* a type without columns is one resource */
    copying c = copy_of(columns);
    if (column.size)
        leave_out(e, &c, column);
    else {
        open_end(e, &c, " ");
        as_json_write_string(e->out, e->edits->column, strlen(e->edits->column));
        as_output_text(e->out, ": ");
    }
    write_column(e, column, n);
    copy_rest(e, &c);
}

static void write_types(editor *e, as_raw_json types) {
    copying c = copy_of(types);
    as_raw_items items;
    for (bool more = as_raw_items_begin(&items, types, e->budget); more && as_raw_items_next(&items);) {
        if (as_raw_begins(items.value) != '{') continue;
        leave_out(e, &c, items.value);
        write_type(e, items.value);
    }
    e->fine &= !as_raw_items_end(&items);
    copy_rest(e, &c);
}

/* Properties of a type would hide its column of the same name. */
static void write_properties(editor *e, as_raw_json properties) {
    as_raw_items items;
    size_t n = 0;
    as_output_char(e->out, '{');
    for (bool more = as_raw_items_begin(&items, properties, e->budget); more && as_raw_items_next(&items);) {
        if (is_column(e, &items)) continue;
        if (n++) as_output_text(e->out, ", ");
        as_json_write_string(e->out, items.key.text, items.key.size);
        as_output_text(e->out, ": ");
        as_perun_write_raw(e->out, items.value);
    }
    e->fine &= !as_raw_items_end(&items);
    as_output_char(e->out, '}');
}

static void write_type_map(editor *e, as_raw_json map) {
    copying c = copy_of(map);
    as_raw_items items;
    bool more = as_raw_begins(map) == '{' && as_raw_items_begin(&items, map, e->budget);
    while (more && as_raw_items_next(&items)) {
        if (!as_raw_member(items.value, e->edits->column, e->budget, &e->fine).size) continue;
        leave_out(e, &c, items.value);
        write_properties(e, items.value);
    }
    if (as_raw_begins(map) == '{') e->fine &= !as_raw_items_end(&items);
    copy_rest(e, &c);
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

/* global, or one of the snapshots: its resources, and the models of global. */
static assay_status write_frame(editor *e, as_raw_json frame, bool with_models) {
    copying c = copy_of(frame);
    bool models = false;
    as_raw_items items;
    assay_status status = ASSAY_OK;
    bool more = as_raw_items_begin(&items, frame, e->budget);
    while (more && status == ASSAY_OK && as_raw_items_next(&items)) {
        bool is_resources = e->edits->column && as_raw_is(items.key, "resources");
        bool is_models = with_models && as_raw_is(items.key, "models");
        if (is_resources || is_models) leave_out(e, &c, items.value);
        if (is_resources) write_list(e, items.value);
        if (is_models) status = write_models(e, items.value);
        models |= is_models;
    }
    e->fine &= !as_raw_items_end(&items);
    if (with_models && !models && status == ASSAY_OK) {
        open_end(e, &c, " ");
        as_output_text(e->out, "\"models\": ");
        status = write_models(e, (as_raw_json){0});
    }
    copy_rest(e, &c);
    return status;
}

static assay_status write_snapshots(editor *e, as_raw_json list) {
    copying c = copy_of(list);
    as_raw_items items;
    assay_status status = ASSAY_OK;
    for (bool more = as_raw_items_begin(&items, list, e->budget); more && as_raw_items_next(&items);) {
        if (as_raw_begins(items.value) != '{') continue;
        leave_out(e, &c, items.value);
        status = write_frame(e, items.value, false);
        if (status != ASSAY_OK) break;
    }
    e->fine &= !as_raw_items_end(&items);
    copy_rest(e, &c);
    return status;
}

static assay_status write_region(editor *e, const char *key, as_raw_json value) {
    char begins = as_raw_begins(value);
    bool is_edited = e->edits->column && (begins == '{' || begins == '[');
    if (strcmp(key, "models") == 0 && !e->models_in_global) return write_models(e, value);
    if (strcmp(key, "postprocessors") == 0 && e->edits->postprocessor.size) return write_postprocessors(e, value);
    if (strcmp(key, "global") == 0 && begins == '{' && (is_edited || e->models_in_global))
        return write_frame(e, value, e->models_in_global && !e->models_written);
    if (is_edited && strcmp(key, "snapshots") == 0) return write_snapshots(e, value);
    if (is_edited && strcmp(key, "resources") == 0 && begins == '{')
        write_types(e, value);
    else if (is_edited && (strcmp(key, "resources") == 0 || strcmp(key, "global") == 0))
        write_list(e, value);
    else if (is_edited && strcmp(key, "resource_type_map") == 0)
        write_type_map(e, value);
    else
        as_perun_write_raw(e->out, value);
    return ASSAY_OK;
}

/* Perun takes the models of the top level, and where there are none those of global. */
static bool find_models(const editor *e) {
    bool in_global = false;
    for (size_t i = 0; i < e->profile->regions.count; i++) {
        const as_perun_region *region = &AS_AT(as_perun_region, &e->profile->regions, i);
        const char *key = as_ds_text(e->writer->dataset, region->key);
        if (strcmp(key, "models") == 0) return false;
        bool is_filled = as_raw_begins(region->value) == '{' && !e->profile->is_new;
        if (strcmp(key, "global") == 0) in_global = is_filled && !as_raw_is(region->value, "{}");
    }
    return in_global && e->edits->n_models;
}

assay_status as_perun_write_edited(as_writer *writer, const as_perun_profile *profile, const as_perun_edits *edits) {
    static const as_perun_edits none = {0};
    editor e = {.writer = writer,
                .out = writer->out,
                .profile = profile,
                .edits = edits ? edits : &none,
                .budget = as_ds_budget(writer->dataset),
                .regions = {.out = writer->out},
                .row = profile->first_row,
                .end = profile->first_row + profile->n_rows,
                .fine = true};
    e.models_in_global = find_models(&e);
    for (size_t i = 0; i < profile->regions.count; i++) {
        const as_perun_region *region = &AS_AT(as_perun_region, &profile->regions, i);
        const char *key = as_ds_text(writer->dataset, region->key);
        as_region_begin(&e.regions, key, as_str_size(&writer->dataset->strings, region->key));
        AS_TRY(write_region(&e, key, region->value));
    }
    if (e.edits->n_models && !e.models_written) {
        as_region_named(&e.regions, "models");
        AS_TRY(write_models(&e, (as_raw_json){0}));
    }
    if (e.edits->postprocessor.size && !e.postprocessors_written) {
        as_region_named(&e.regions, "postprocessors");
        AS_TRY(write_postprocessors(&e, (as_raw_json){0}));
    }
    as_region_end(&e.regions);
    if (!e.fine) return as_fail_memory(writer->error, NULL);
    if (e.edits->column && e.row != e.end)
        return as_fail(writer->error, ASSAY_E_FORMAT, AS_NOWHERE, "wrong-type",
                       "some resources of the profile are not as they should be, so that they cannot be changed");
    return ASSAY_OK;
}
