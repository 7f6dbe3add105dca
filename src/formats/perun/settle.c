/* What kinds mean, once their profile is read: cells, call paths, metrics. */
#include "formats/perun/read.h"

/* A flattened value of which several parts matter. */
typedef struct facts {
    as_perun_reading *reading;
    const char *key; /* of the whole */
    size_t key_size;
    as_str name; /* the whole as text */
    as_str file, function;
    int64_t line; /* -1: none */
    bool has_function;
    bool is_member; /* of a kind, which gets its cells */
} facts;

/* A cell as Python's str() has it. */
static as_str text_of(as_dataset *ds, as_cell cell) {
    char buffer[AS_NUMBER_SIZE];
    switch (cell.type) {
    case AS_CELL_INT: return as_ds_intern(ds, buffer, as_int_format(cell.i, buffer));
    case AS_CELL_UINT: return as_ds_intern(ds, buffer, as_uint_format(cell.u, buffer));
    case AS_CELL_REAL:
        return as_ds_intern(ds, buffer, as_python_number((as_number){.kind = AS_REAL, .r = cell.r}, buffer));
    case AS_CELL_NULL: return as_ds_intern_text(ds, "None");
    default: return as_ds_intern(ds, cell.text, cell.size);
    }
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* The kind's cell in a column, which replaces an earlier one. */
static bool add_cell(as_perun_reading *reading, uint32_t column, as_cell cell) {
    if (cell.type == AS_CELL_TEXT || cell.type == AS_CELL_JSON) {
        as_str text = as_ds_intern(reading->ds, cell.text, cell.size);
        if (text == AS_NO_STR) return false;
        cell.text = as_ds_text(reading->ds, text);
    }
    return as_perun_cells_put(&reading->cells, column, cell);
}

static bool is_part(const facts *of, const char *key, size_t size, const char *part) {
    size_t n = strlen(part);
    return size == of->key_size + 1 + n && key[of->key_size] == ':' && memcmp(key + of->key_size + 1, part, n) == 0;
}

static bool take_fact(void *user, const char *key, size_t size, as_cell cell) {
    facts *of = user;
    as_dataset *ds = of->reading->ds;
    if (of->is_member && cell.type != AS_CELL_NULL) {
        uint32_t column = as_perun_column(of->reading, key, size);
        if (!add_cell(of->reading, column, cell)) return false;
    }
    if (size == of->key_size) {
        of->name = text_of(ds, cell);
        return of->name != AS_NO_STR;
    }
    if (is_part(of, key, size, "function")) of->has_function = true;
    if (is_part(of, key, size, "line") && cell.type == AS_CELL_INT && cell.i >= 0) of->line = cell.i;
    bool is_file = is_part(of, key, size, "source") || is_part(of, key, size, "file");
    if (!is_file || cell.type != AS_CELL_TEXT) return true;
    of->file = as_ds_intern(ds, cell.text, cell.size);
    return of->file != AS_NO_STR;
}

/* The cell that the kind got last in the column of the value is true or false. */
static void mark_flag(const facts *of) {
    uint32_t column = as_perun_column(of->reading, of->key, of->key_size);
    as_shared_cell *cell = as_perun_cells_find(&of->reading->cells, column);
    if (cell) cell->is_flag = true;
}

/* Flattens the value that is the current token of `inner`. */
static bool flatten(facts *of) {
    as_json *json = &of->reading->inner;
    char first = *json->token;
    bool is_flag = json->type == AS_JSON_TRUE || json->type == AS_JSON_FALSE;
    of->name = of->file = AS_NO_STR;
    of->line = -1;
    of->has_function = false;
    if (!as_flatten(of->reading->flattener, json, of->key, of->key_size, take_fact, of)) return false;
    if (!is_flag) return true;
    if (of->is_member) mark_flag(of);
    of->name = as_ds_intern_text(of->reading->ds, first == 't' ? "True" : "False");
    return of->name != AS_NO_STR;
}

/* ---- call paths -------------------------------------------------------------------------------------------------- */

/* The region of a uid or frame. */
static assay_id region_of(const facts *of) {
    assay_id id = as_tree_region(&of->reading->tree, of->name);
    if (id == ASSAY_NONE) return id;
    as_region *region = &AS_AT(as_region, &of->reading->ds->regions, id);
    if (region->file == AS_NO_STR) region->file = of->file;
    if (region->line_begin < 0) region->line_begin = of->line;
    return id;
}

/* The regions of the frames of a trace that are objects, as stored, into reading->callpath. *is_odd: there are
 * others. */
static bool list_frames(as_perun_reading *reading, as_raw_json trace, bool *has_function, bool *is_odd) {
    as_json *json = &reading->inner;
    facts of = {.reading = reading, .key = "x", .key_size = 1};
    reading->callpath.count = 0;
    *has_function = *is_odd = false;
    if (!trace.size) return true;
    as_json_restart(json, trace.text, trace.size, 2);
    as_json_next(json);
    while (as_json_next(json) != AS_JSON_ARRAY_END) {
        if (json->type == AS_JSON_ERROR) return false;
        if (json->type != AS_JSON_OBJECT) {
            *is_odd = true;
            as_json_skip(json, NULL, NULL);
            continue;
        }
        if (!flatten(&of)) return false;
        assay_id region = region_of(&of);
        *has_function |= of.has_function;
        if (region == ASSAY_NONE || !as_vec_append(&reading->callpath, &region, 1)) return false;
    }
    return true;
}

/* The context at the end of the kind's call path, whose frames are listed; ASSAY_NONE when memory is out. */
static assay_id context_of(as_perun_reading *reading, bool has_function, assay_id uid, as_str command) {
    as_tree *tree = &reading->tree;
    assay_id context = ASSAY_NONE;
    const assay_id *frames = reading->callpath.data;
    size_t n = reading->callpath.count;
    if (n && !has_function && command != AS_NO_STR) {
        assay_id region = as_tree_region(tree, command);
        context = region == ASSAY_NONE ? ASSAY_NONE : as_tree_child(tree, ASSAY_NONE, region);
        if (context == ASSAY_NONE) return ASSAY_NONE;
    }
    for (size_t i = 0; i < n; i++) {
        context = as_tree_child(tree, context, frames[has_function ? n - 1 - i : i]);
        if (context == ASSAY_NONE) return ASSAY_NONE;
    }
    if (!n || !has_function) context = as_tree_child(tree, context, uid);
    if (context != ASSAY_NONE) as_tree_mark_callpath(tree, context);
    return context;
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* header.units, in its order; the last of entries with one name counts. */
static bool list_units(as_perun_reading *reading) {
    as_json *json = &reading->inner;
    reading->units.count = 0;
    if (!reading->header.size) return true;
    as_json_restart(json, reading->header.text, reading->header.size, 2);
    as_json_next(json);
    while (as_json_next(json) == AS_JSON_KEY) {
        bool is_units = as_json_is(json, "units");
        if (as_json_next(json) != AS_JSON_OBJECT && is_units) as_perun_odd(reading, AS_PERUN_REGION_TYPE, json->token);
        if (json->type != AS_JSON_OBJECT || !is_units) {
            as_json_skip(json, NULL, NULL);
            continue;
        }
        while (as_json_next(json) == AS_JSON_KEY) {
            size_t size;
            const char *text = as_json_text(json, &size);
            as_perun_unit unit = {.name = text ? as_ds_intern(reading->ds, text, size) : AS_NO_STR, .unit = AS_NO_STR};
            if (unit.name == AS_NO_STR) return false;
            if (as_json_next(json) == AS_JSON_STRING) {
                text = as_json_text(json, &size);
                unit.unit = text ? as_ds_intern(reading->ds, text, size) : AS_NO_STR;
                if (unit.unit == AS_NO_STR) return false;
            }
            as_json_skip(json, NULL, NULL);
            uint32_t known = as_map_get(&reading->unit_of, unit.name);
            if (known != AS_MAP_NONE)
                AS_AT(as_perun_unit, &reading->units, known) = unit;
            else if (!as_map_put(&reading->unit_of, unit.name, (uint32_t)reading->units.count) ||
                     !as_vec_append(&reading->units, &unit, 1))
                return false;
        }
    }
    return true;
}

static const as_perun_unit *find_unit(const as_perun_reading *reading, as_str name) {
    uint32_t index = name == AS_NO_STR ? AS_MAP_NONE : as_map_get(&reading->unit_of, name);
    return index == AS_MAP_NONE ? NULL : &AS_AT(as_perun_unit, &reading->units, index);
}

/* What a kind says of itself. */
typedef struct kind_words {
    as_str type, subtype, command; /* AS_NO_STR: nothing, or null */
} kind_words;

/* "type(subtype)" where the units have it, else the type, else the only unit, else "amount". */
static bool name_metric(as_perun_reading *reading, const kind_words *words, as_perun_draft *draft) {
    as_vec *text = &reading->key;
    as_dataset *ds = reading->ds;
    const char *type = words->type == AS_NO_STR ? "None" : as_ds_text(ds, words->type);
    const char *subtype = words->subtype == AS_NO_STR ? "None" : as_ds_text(ds, words->subtype);
    text->count = 0;
    if (!as_vec_text(text, type) || !as_vec_text(text, "(") || !as_vec_text(text, subtype) || !as_vec_text(text, ")"))
        return false;
    const as_perun_unit *unit = find_unit(reading, as_find(&ds->strings, text->data, text->count));
    draft->metric = words->type;
    if (!unit && words->type != AS_NO_STR)
        unit = find_unit(reading, words->type);
    else if (!unit && reading->units.count == 1)
        unit = reading->units.data;
    if (unit)
        draft->metric = unit->name;
    else if (draft->metric == AS_NO_STR)
        draft->metric = as_ds_intern_text(ds, "amount");
    if (unit) draft->unit = unit->unit;
    return draft->metric != AS_NO_STR;
}

/* ---- a kind ------------------------------------------------------------------------------------------------------ */

static void note_trace(as_perun_reading *reading, uint32_t kind) {
    const as_perun_draft *draft = &AS_AT(as_perun_draft, &reading->drafts, kind - reading->first_kind);
    as_perun_odd(reading, AS_PERUN_TRACE_TYPE, draft->place);
}

/* One member of a kind; the current token of `inner` is its key. */
static bool settle_member(as_perun_reading *reading, uint32_t number, facts *of, as_perun_kind *kind, kind_words *words,
                          assay_id *uid) {
    as_json *json = &reading->inner;
    size_t size;
    const char *text = as_json_text(json, &size);
    reading->key.count = 0;
    if (!text || !as_vec_append(&reading->key, text, size) || !as_vec_append(&reading->key, "", 1)) return false;
    const char *key = reading->key.data;
    as_json_type type = as_json_next(json);
    as_raw_json raw = {json->token, 0};
    of->key = key;
    of->key_size = size;
    of->is_member = true;
    size_t n_superseded = as_flattener_superseded(reading->flattener);
    if (!flatten(of)) return false;
    if (as_flattener_superseded(reading->flattener) != n_superseded)
        as_perun_odd(reading, AS_PERUN_DUPLICATE,
                     AS_AT(as_perun_draft, &reading->drafts, number - reading->first_kind).place);
    raw.size = (size_t)(json->token + json->token_size - raw.text);
    as_str name = type == AS_JSON_NULL ? AS_NO_STR : of->name;
    if (strcmp(key, "type") == 0) words->type = name;
    if (strcmp(key, "command") == 0) words->command = name;
    if (strcmp(key, "trace") == 0 && type == AS_JSON_ARRAY) kind->trace = raw;
    if (strcmp(key, "trace") == 0 && type != AS_JSON_ARRAY && type != AS_JSON_NULL) note_trace(reading, number);
    if (strcmp(key, "subtype") == 0) {
        words->subtype = name;
        kind->is_free =
            name != AS_NO_STR && type == AS_JSON_STRING && strcmp(as_ds_text(reading->ds, name), "free") == 0;
    }
    if (strcmp(key, "uid") != 0) return true;
    kind->uid = raw;
    kind->flat_uid = of->name;
    if (type != AS_JSON_NULL) *uid = region_of(of);
    return type == AS_JSON_NULL || *uid != ASSAY_NONE;
}

/* The cells that the kind's snapshot or global adds. */
static bool add_frame_cells(as_perun_reading *reading, const as_perun_frame *frame) {
    facts of = {.reading = reading, .key = "time", .key_size = 4, .is_member = true};
    if (frame->time.size) {
        as_json_restart(&reading->inner, frame->time.text, frame->time.size, 2);
        as_json_next(&reading->inner);
        if (!flatten(&of)) return false;
    }
    return frame->snapshot == UINT32_MAX ||
           add_cell(reading, as_perun_column(reading, "snapshot", 8), as_cell_int(frame->snapshot));
}

/* What the map says of a type counts, where the type has columns of the same name. */
static bool drop_columns(as_perun_reading *reading, const as_perun_draft *draft) {
    as_records *records = reading->perun->records;
    const as_vec *cells = &reading->cells.cells;
    for (size_t i = 0; i < cells->count && draft->type != AS_NO_STR; i++) {
        uint32_t column = AS_AT(as_shared_cell, cells, i).column;
        as_own_column own = as_records_own(records, column);
        bool is_double = false;
        for (size_t row = draft->first_row; row < own.count && row < draft->first_row + draft->n_rows; row++) {
            if (own.types[row] == AS_OWN_ABSENT) continue;
            is_double = true;
            if (!as_records_set(records, row, column, AS_OWN_ABSENT, (as_own_value){0})) return false;
        }
        if (is_double) as_perun_odd(reading, AS_PERUN_DUPLICATE, draft->place);
    }
    return true;
}

static bool settle_kind(as_perun_reading *reading, uint32_t number) {
    as_perun_kind *kind = &AS_AT(as_perun_kind, &reading->perun->kinds, number);
    as_perun_draft *draft = &AS_AT(as_perun_draft, &reading->drafts, number - reading->first_kind);
    as_json *json = &reading->inner;
    facts of = {.reading = reading};
    kind_words words = {AS_NO_STR, AS_NO_STR, AS_NO_STR};
    assay_id uid = ASSAY_NONE;
    as_perun_cells_begin(&reading->cells);
    as_json_restart(json, kind->members.text - 1, kind->members.size + 2, 2);
    as_json_next(json);
    while (as_json_next(json) == AS_JSON_KEY) {
        if (!settle_member(reading, number, &of, kind, &words, &uid)) return false;
    }
    if (json->type == AS_JSON_ERROR ||
        !add_frame_cells(reading, &AS_AT(as_perun_frame, &reading->frames, draft->frame)) ||
        !name_metric(reading, &words, draft))
        return false;
    bool has_function, is_odd; /* frames are regions even where nothing says what they lead to */
    if (!list_frames(reading, kind->trace, &has_function, &is_odd)) return false;
    if (is_odd) as_perun_odd(reading, AS_PERUN_TRACE_TYPE, draft->place);
    if (uid != ASSAY_NONE) {
        kind->context = context_of(reading, has_function, uid, words.command);
        if (kind->context == ASSAY_NONE) return false;
    }
    const as_vec *cells = &reading->cells.cells;
    return drop_columns(reading, draft) &&
           as_records_add_kind(reading->perun->records, cells->data, cells->count) == number;
}

/* ---- types of the new layout ------------------------------------------------------------------------------------- */

static assay_status settle_type(as_perun_reading *reading, uint32_t number) {
    as_perun_kind *kind = &AS_AT(as_perun_kind, &reading->perun->kinds, number);
    as_perun_draft *draft = &AS_AT(as_perun_draft, &reading->drafts, number - reading->first_kind);
    uint32_t index = as_map_get(&reading->types, draft->type);
    as_raw_json text = {"{}", 2};
    if (index == AS_MAP_NONE)
        AS_TRY(AS_PERUN_BROKEN(reading, draft->place, "missing-type", "the type '%s' is not in resource_type_map",
                               as_ds_text(reading->ds, draft->type)));
    else
        text = AS_AT(as_raw_json, &reading->type_texts, index);
    kind->members = as_perun_tidy(reading, draft, text);
    return kind->members.text ? ASSAY_OK : as_reader_memory(reading->reader);
}

/* Memory is out, or the members of a kind cannot be flattened: the text is sound JSON, but too much would come of
 * it. */
static assay_status fail_kind(as_perun_reading *reading, const as_perun_draft *draft) {
    as_json json = reading->inner;
    if (json.type != AS_JSON_ERROR || !json.error) return as_reader_memory(reading->reader);
    json.path = reading->path;
    json.begin = reading->text;
    json.error_at = draft->place;
    json.first_line = 1;
    return as_json_fail(&json, reading->reader->error);
}

assay_status as_perun_settle_kinds(as_perun_reading *reading) {
    size_t n = reading->perun->kinds.count;
    if (!list_units(reading)) return as_reader_memory(reading->reader);
    for (size_t i = reading->first_kind; i < n; i++) {
        const as_perun_draft *draft = &AS_AT(as_perun_draft, &reading->drafts, i - reading->first_kind);
        if (draft->type != AS_NO_STR) AS_TRY(settle_type(reading, (uint32_t)i));
        if (!settle_kind(reading, (uint32_t)i)) return fail_kind(reading, draft);
        const as_perun_kind *kind = &AS_AT(as_perun_kind, &reading->perun->kinds, i);
        if (draft->type != AS_NO_STR && kind->context == ASSAY_NONE)
            as_perun_odd(reading, AS_PERUN_NO_UID, draft->place);
    }
    return ASSAY_OK;
}
