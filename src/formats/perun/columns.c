/* Resources as columns, type by type, and the map of what each type's resources have in common. */
#include "formats/perun/read.h"

static assay_status fail_json(as_perun_reading *reading, as_json *json) {
    return as_json_fail(json, reading->reader->error);
}

/* ---- a column ---------------------------------------------------------------------------------------------------- */

/* Where the parts of a nested cell go. */
typedef struct nested {
    as_perun_reading *reading;
    size_t row;
} nested;

static bool set_part(void *user, const char *key, size_t size, as_cell cell) {
    nested *at = user;
    as_own_type type = AS_OWN_NULL;
    as_own_value value = {0};
    switch (cell.type) {
    case AS_CELL_INT: type = AS_OWN_INT, value.i = cell.i; break;
    case AS_CELL_UINT: type = AS_OWN_UINT, value.u = cell.u; break;
    case AS_CELL_REAL: type = AS_OWN_REAL, value.r = cell.r; break;
    case AS_CELL_TEXT:
    case AS_CELL_JSON:
        type = AS_OWN_TEXT;
        value.text = as_ds_intern(at->reading->ds, cell.text, cell.size);
        if (value.text == AS_NO_STR) return false;
        break;
    default: break;
    }
    return as_perun_set(at->reading, at->row, as_perun_column(at->reading, key, size), type, value);
}

/* One cell of the column `key`. */
static assay_status read_cell(as_perun_reading *reading, as_json *json, as_str key, uint32_t column, size_t row) {
    as_own_type type;
    as_own_value value;
    bool fine;
    if (as_json_is_scalar(json->type)) {
        fine = as_perun_own(reading, json, &type, &value) && as_perun_set(reading, row, column, type, value);
    } else {
        nested at = {reading, row};
        const char *name = as_ds_text(reading->ds, key);
        fine = as_flatten(reading->flattener, json, name, as_str_size(&reading->ds->strings, key), set_part, &at);
        if (json->type == AS_JSON_ERROR) return fail_json(reading, json);
    }
    return fine ? ASSAY_OK : as_reader_memory(reading->reader);
}

/* Plain numbers, many at once: most columns have nothing else. */
static assay_status read_numbers(as_perun_reading *reading, as_json *json, uint32_t column, size_t first_row,
                                 size_t *n) {
    enum { AT_ONCE = 256 };
    as_number numbers[AT_ONCE];
    for (size_t taken = AT_ONCE; taken == AT_ONCE; *n += taken) {
        taken = as_json_take_numbers(json, numbers, AT_ONCE);
        bool fits = first_row + *n + AT_ONCE < UINT32_MAX - 1;
        if (!fits ||
            (taken && !as_records_set_numbers(reading->perun->records, first_row + *n, column, numbers, taken)))
            return as_reader_memory(reading->reader);
    }
    return as_perun_progress(reading, json);
}

/* The current token is the column's list; *n: how many cells it has. */
static assay_status read_column(as_perun_reading *reading, as_json *json, as_str key, size_t first_row, size_t *n) {
    const char *name = as_ds_text(reading->ds, key);
    uint32_t column = as_perun_column(reading, name, as_str_size(&reading->ds->strings, key));
    bool is_amount = strcmp(name, as_perun_dynamic_keys[AS_PERUN_AMOUNT]) == 0;
    if (column == UINT32_MAX) return as_reader_memory(reading->reader);
    for (*n = 0;; ++*n) {
        AS_TRY(read_numbers(reading, json, column, first_row, n));
        if (as_json_next(json) == AS_JSON_ARRAY_END) break;
        if (json->type == AS_JSON_ERROR) return fail_json(reading, json);
        if (*n >= UINT32_MAX - 1 - first_row) return as_reader_memory(reading->reader);
        if (is_amount && json->type != AS_JSON_NUMBER && json->type != AS_JSON_NULL)
            as_perun_odd(reading, AS_PERUN_AMOUNT_TYPE, json->token);
        AS_TRY(read_cell(reading, json, key, column, first_row + *n));
    }
    return ASSAY_OK;
}

/* ---- a type ------------------------------------------------------------------------------------------------------ */

/* A column's name; told from others of its type by `seen`. */
static assay_status take_key(as_perun_reading *reading, as_json *json, as_map *seen, uint32_t type, as_str *key) {
    size_t size;
    const char *text = as_json_text(json, &size);
    *key = text ? as_ds_intern(reading->ds, text, size) : AS_NO_STR;
    if (*key == AS_NO_STR) return as_reader_memory(reading->reader);
    if (as_map_get(seen, *key) == type)
        return as_fail(reading->reader->error, ASSAY_E_FORMAT, as_perun_locate(&reading->places, json->token),
                       "duplicate-key", "'%s' is there before", as_ds_text(reading->ds, *key));
    return as_map_put(seen, *key, type) ? ASSAY_OK : as_reader_memory(reading->reader);
}

/* The current token is the type's object. */
static assay_status read_type(as_perun_reading *reading, as_json *json, uint32_t frame, as_str id, const char *place,
                              as_map *seen) {
    as_records *records = reading->perun->records;
    size_t first_row = as_records_rows(records), most = 0, n_columns = 0;
    bool is_uneven = false;
    uint32_t kind = as_perun_add_draft(reading, frame, id, place);
    if (kind == UINT32_MAX) return as_reader_memory(reading->reader);
    while (as_json_next(json) == AS_JSON_KEY) {
        as_str key;
        size_t n = 0;
        AS_TRY(take_key(reading, json, seen, kind, &key));
        if (as_json_next(json) != AS_JSON_ARRAY) {
            AS_TRY(as_perun_skip_broken(reading, json, "a column must be a list"));
            continue;
        }
        AS_TRY(read_column(reading, json, key, first_row, &n));
        is_uneven |= n_columns++ && n != most;
        if (n > most) most = n;
    }
    if (json->type == AS_JSON_ERROR) return fail_json(reading, json);
    if (is_uneven) as_perun_odd(reading, AS_PERUN_UNEVEN, place);
    size_t n_rows = n_columns ? most : 1; /* without columns it stands for one resource */
    as_perun_draft *draft = &AS_AT(as_perun_draft, &reading->drafts, kind - reading->first_kind);
    draft->first_row = first_row;
    draft->n_rows = n_rows;
    return as_records_add_rows(records, reading->run, kind, n_rows) ? ASSAY_OK : as_reader_memory(reading->reader);
}

enum { EXPECTED_AFTER = 1 }; /* so many types tell what the others are like */

/* Takes memory ahead for the types behind those from `begin` to here, as if they were alike. A cell takes two bytes of
 * text or more, so it is at most some times the text. */
static void expect_rows(as_perun_reading *reading, const as_json *json, const char *begin, size_t first_row) {
    as_records *records = reading->perun->records;
    size_t n = as_records_rows(records);
    double repeats = (double)(json->end - json->at) / (double)(json->at - begin);
    double rows = (double)n + (double)(n - first_row) * repeats * 1.02;
    if (rows < UINT32_MAX) as_records_expect(records, (size_t)rows);
}

assay_status as_perun_read_columns(as_perun_reading *reading, as_json *json) {
    as_perun_frame frame = {.place = AS_PERUN_TYPES, .snapshot = UINT32_MAX};
    if (!as_vec_append(&reading->frames, &frame, 1)) return as_reader_memory(reading->reader);
    uint32_t number = (uint32_t)(reading->frames.count - 1);
    as_map types, columns;
    as_map_init(&types, &reading->ds->budget);
    as_map_init(&columns, &reading->ds->budget);
    assay_status status = ASSAY_OK;
    const char *begin = json->token;
    size_t first_row = as_records_rows(reading->perun->records);
    for (size_t n = 0; status == ASSAY_OK && as_json_next(json) == AS_JSON_KEY; n++) {
        if (n == EXPECTED_AFTER) expect_rows(reading, json, begin, first_row);
        as_str id;
        const char *place = json->token;
        status = take_key(reading, json, &types, 0, &id);
        if (status != ASSAY_OK) break;
        if (as_json_next(json) != AS_JSON_OBJECT)
            status = as_perun_skip_broken(reading, json, "the columns of a type must be an object");
        else
            status = read_type(reading, json, number, id, place, &columns);
    }
    if (status == ASSAY_OK && json->type == AS_JSON_ERROR) status = fail_json(reading, json);
    as_map_free(&types);
    as_map_free(&columns);
    return status;
}

/* ---- the map ----------------------------------------------------------------------------------------------------- */

assay_status as_perun_read_types(as_perun_reading *reading, as_json *json) {
    if (json->type != AS_JSON_OBJECT) return as_perun_skip_broken(reading, json, "resource_type_map must be an object");
    while (as_json_next(json) == AS_JSON_KEY) {
        size_t size;
        as_raw_json raw;
        const char *place = json->token, *text = as_json_text(json, &size);
        as_str id = text ? as_ds_intern(reading->ds, text, size) : AS_NO_STR;
        if (id == AS_NO_STR) return as_reader_memory(reading->reader);
        if (as_json_next(json) != AS_JSON_OBJECT) {
            AS_TRY(as_perun_skip_broken(reading, json, "what a type has in common must be an object"));
            continue;
        }
        if (!as_perun_skip(reading, json, &raw, NULL)) return fail_json(reading, json);
        if (as_map_get(&reading->types, id) != AS_MAP_NONE) as_perun_odd(reading, AS_PERUN_DUPLICATE, place);
        raw = as_perun_keep(reading, raw);
        uint32_t index = (uint32_t)reading->type_texts.count;
        if (!raw.text || index == UINT32_MAX || !as_vec_append(&reading->type_texts, &raw, 1) ||
            !as_map_put(&reading->types, id, index))
            return as_reader_memory(reading->reader);
    }
    return json->type == AS_JSON_ERROR ? fail_json(reading, json) : ASSAY_OK;
}
