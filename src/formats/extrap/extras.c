#include "formats/extrap/extras.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "io/json.h"

static const char TABLE[] = "record", PREFIX[] = "params:", OTHER[] = "other", OTHER_PARAMETERS[] = "params";
static const char *const RESERVED[] = {"id", "run", "metric", "context", "repetitions", OTHER_PARAMETERS, OTHER};
enum { ID, RUN, METRIC, CONTEXT, REPETITIONS, FIXED_COLUMNS };
enum { PREFIX_SIZE = sizeof PREFIX - 1 };

/* In extras->columns: the key has no column of its own. */
#define NO_COLUMN ((uint32_t)-2)

typedef struct pending_value {
    as_extra_kind kind;
    as_str key;
    as_cell cell;
    size_t text; /* of TEXT and JSON: offset into extras->text */
} pending_value;

typedef struct row_place {
    as_cell_key key; /* context: tree id */
    uint32_t repetition;
} row_place;

/* ---- reading ----------------------------------------------------------------------------------------------------- */

void as_extras_init(as_extras *extras, as_dataset *ds) {
    *extras = (as_extras){.ds = ds};
    as_map_init(&extras->seen, &ds->budget);
    as_map_init(&extras->columns, &ds->budget);
    as_vec_init(&extras->pending, sizeof(pending_value), &ds->budget);
    as_vec_init(&extras->text, 1, &ds->budget);
    as_vec_init(&extras->rows, sizeof(row_place), &ds->budget);
}

void as_extras_free(as_extras *extras) {
    as_map_free(&extras->seen);
    as_map_free(&extras->columns);
    as_vec_free(&extras->pending);
    as_vec_free(&extras->text);
    as_vec_free(&extras->rows);
}

void as_extras_begin(as_extras *extras) {
    extras->record++;
    extras->pending.count = extras->text.count = 0;
}

as_extras_result as_extras_key(as_extras *extras, as_extra_kind kind, const char *key, size_t size) {
    as_str name = as_ds_intern(extras->ds, key, size);
    if (name == AS_NO_STR) return AS_EXTRAS_NO_MEMORY;
    uint64_t id = as_pair(kind, name);
    if (as_map_get(&extras->seen, id) == extras->record) return AS_EXTRAS_DUPLICATE;
    if (!as_map_put(&extras->seen, id, extras->record)) return AS_EXTRAS_NO_MEMORY;
    pending_value *value = as_vec_push(&extras->pending);
    if (!value) return AS_EXTRAS_NO_MEMORY;
    value->kind = kind;
    value->key = name;
    return AS_EXTRAS_FINE;
}

static bool has_text(as_cell cell) { return cell.type == AS_CELL_TEXT || cell.type == AS_CELL_JSON; }

bool as_extras_value(as_extras *extras, as_cell cell) {
    pending_value *value = &AS_AT(pending_value, &extras->pending, extras->pending.count - 1);
    value->cell = cell;
    value->text = extras->text.count;
    return !has_text(cell) || as_vec_append(&extras->text, cell.text, cell.size);
}

/* The pending value with its text in place. */
static as_cell cell_of(const as_extras *extras, const pending_value *value) {
    as_cell cell = value->cell;
    if (has_text(cell)) cell.text = cell.size ? (const char *)extras->text.data + value->text : "";
    return cell;
}

bool as_extras_get(const as_extras *extras, size_t index, as_str *key, as_cell *value) {
    if (index >= extras->pending.count) return false;
    const pending_value *pending = &AS_AT(pending_value, &extras->pending, index);
    *key = pending->key;
    *value = cell_of(extras, pending);
    return true;
}

static bool make_table(as_extras *extras) {
    if (extras->table) return true;
    as_table *table = as_add_record_table(extras->ds, TABLE);
    for (size_t i = METRIC; i < FIXED_COLUMNS && table; i++) {
        if (as_table_add_column(table, RESERVED[i]) == SIZE_MAX) return false;
    }
    extras->table = table;
    return table != NULL;
}

/* SQL does not tell names apart by case. */
static bool is_taken(const as_table *table, const char *name) {
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++) {
        if (strcasecmp(RESERVED[i], name) == 0) return true;
    }
    for (size_t i = 0; i < as_table_columns(table); i++) {
        if (strcasecmp(as_table_column_name(table, i), name) == 0) return true;
    }
    return false;
}

/* The column for a key, made if it is new and can be one, else NO_COLUMN. AS_MAP_NONE when memory is out. */
static uint32_t column_for(as_extras *extras, const pending_value *value) {
    uint64_t id = as_pair(value->kind, value->key);
    uint32_t known = as_map_get(&extras->columns, id);
    if (known != AS_MAP_NONE) return known;
    const char *key = as_ds_text(extras->ds, value->key);
    size_t size = as_str_size(&extras->ds->strings, value->key), column = NO_COLUMN;
    char *name = NULL;
    if (asprintf(&name, "%s%s", value->kind == AS_EXTRA_PARAMETER ? PREFIX : "", key) < 0) return AS_MAP_NONE;
    bool fits = size > 0 && strlen(key) == size &&
                as_table_columns(extras->table) < FIXED_COLUMNS + AS_EXTRAP_MAX_RECORD_COLUMNS;
    if (value->kind == AS_EXTRA_KEY) fits = fits && strncasecmp(key, PREFIX, PREFIX_SIZE) != 0;
    if (fits && !is_taken(extras->table, name)) column = as_table_add_column(extras->table, name);
    free(name);
    if (column == SIZE_MAX || !as_map_put(&extras->columns, id, (uint32_t)column)) return AS_MAP_NONE;
    return (uint32_t)column;
}

static void write_cell(as_output *out, as_cell cell) {
    if (cell.type == AS_CELL_TEXT)
        as_json_write_string(out, cell.text, cell.size);
    else if (cell.type == AS_CELL_JSON)
        as_output_write(out, cell.text, cell.size);
    else if (cell.type == AS_CELL_INT)
        as_output_int(out, cell.i);
    else
        as_write_json_number(out, cell.type == AS_CELL_UINT ? (as_number){.kind = AS_UINT, .u = cell.u}
                                                            : (as_number){.kind = AS_REAL, .r = cell.r});
}

/* The pending values of this kind that have no column, as one JSON object. */
static bool set_others(as_extras *extras, size_t row, as_extra_kind kind) {
    as_output *out = NULL;
    for (size_t i = 0; i < extras->pending.count; i++) {
        const pending_value *value = &AS_AT(pending_value, &extras->pending, i);
        if (value->kind != kind || column_for(extras, value) != NO_COLUMN) continue;
        if (!out && !(out = as_output_to_memory())) return false;
        as_output_char(out, as_output_size(out) ? ',' : '{');
        as_json_write_string(out, as_ds_text(extras->ds, value->key), as_str_size(&extras->ds->strings, value->key));
        as_output_char(out, ':');
        write_cell(out, cell_of(extras, value));
    }
    if (!out) return true;
    as_output_char(out, '}');
    const char *name = kind == AS_EXTRA_PARAMETER ? OTHER_PARAMETERS : OTHER;
    size_t column = as_table_find_column(extras->table, name), size;
    if (column == SIZE_MAX) column = as_table_add_column(extras->table, name);
    const char *text = as_output_memory(out, &size);
    bool fine = text && column != SIZE_MAX && as_table_set(extras->table, row, column, as_cell_json_n(text, size));
    as_output_discard(out);
    return fine;
}

bool as_extras_commit(as_extras *extras, as_experiment *experiment, as_cell_key key, uint32_t repetitions) {
    if (!extras->pending.count) return true;
    row_place place = {key, as_experiment_repetition(experiment, key)};
    if (place.repetition == UINT32_MAX || !make_table(extras) || !as_table_add_row(extras->table) ||
        !as_vec_append(&extras->rows, &place, 1))
        return false;
    size_t row = as_table_rows(extras->table) - 1;
    as_table_set(extras->table, row, ID, as_cell_int((int64_t)row));
    as_table_set(extras->table, row, METRIC, as_cell_int(key.metric));
    as_table_set(extras->table, row, REPETITIONS, as_cell_int(repetitions));
    for (size_t i = 0; i < extras->pending.count; i++) {
        const pending_value *value = &AS_AT(pending_value, &extras->pending, i);
        uint32_t column = column_for(extras, value);
        if (column == AS_MAP_NONE ||
            (column != NO_COLUMN && !as_table_set(extras->table, row, column, cell_of(extras, value))))
            return false;
    }
    return set_others(extras, row, AS_EXTRA_KEY) && set_others(extras, row, AS_EXTRA_PARAMETER);
}

bool as_extras_finish(as_extras *extras, const assay_id *new_ids) {
    for (size_t row = 0; row < extras->rows.count; row++) {
        const row_place *place = &AS_AT(row_place, &extras->rows, row);
        as_table_set(extras->table, row, RUN, as_cell_int(as_run_of(extras->ds, place->key.point, place->repetition)));
        as_table_set(extras->table, row, CONTEXT, as_cell_int(new_ids[place->key.context]));
    }
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

typedef struct indexed_row {
    assay_id metric, context, run;
    size_t row;
} indexed_row;

static int compare_rows(const void *a, const void *b) {
    const indexed_row *x = a, *y = b;
    if (x->metric != y->metric) return x->metric < y->metric ? -1 : 1;
    if (x->context != y->context) return x->context < y->context ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

static bool has_our_columns(const as_table *table) {
    for (size_t i = 0; i < FIXED_COLUMNS; i++) {
        if (as_table_columns(table) <= i || strcmp(as_table_column_name(table, i), RESERVED[i]) != 0) return false;
    }
    return true;
}

bool as_extras_index_make(as_extras_index *index, const as_dataset *ds, const char *format) {
    *index = (as_extras_index){.ds = ds};
    as_vec_init(&index->rows, sizeof(indexed_row), NULL);
    const as_table *table = as_ds_records(ds, TABLE);
    if (!table || strcmp(ds->format, format) != 0 || !has_our_columns(table)) return true;
    index->table = table;
    for (size_t row = 0; row < as_table_rows(table); row++) {
        indexed_row entry = {(assay_id)as_table_get(table, row, METRIC).i,
                             (assay_id)as_table_get(table, row, CONTEXT).i, (assay_id)as_table_get(table, row, RUN).i,
                             row};
        if (!as_vec_append(&index->rows, &entry, 1)) return false;
    }
    if (index->rows.count) qsort(index->rows.data, index->rows.count, sizeof(indexed_row), compare_rows);
    return true;
}

void as_extras_index_free(as_extras_index *index) { as_vec_free(&index->rows); }

size_t as_extras_find(const as_extras_index *index, assay_id metric, assay_id context, assay_id run,
                      uint64_t *repetitions) {
    if (!index->rows.count) return SIZE_MAX;
    indexed_row key = {metric, context, run, 0};
    const indexed_row *found = bsearch(&key, index->rows.data, index->rows.count, sizeof key, compare_rows);
    if (!found) return SIZE_MAX;
    *repetitions = (uint64_t)as_table_get(index->table, found->row, REPETITIONS).i;
    return found->row;
}

static void write_member(as_output *out, char separator, const char *key, as_cell cell) {
    as_output_char(out, separator);
    as_json_write_string(out, key, strlen(key));
    as_output_char(out, ':');
    write_cell(out, cell);
}

void as_extras_write(const as_extras_index *index, size_t row, as_extra_kind kind, char separator, as_output *out) {
    const char *rest = kind == AS_EXTRA_PARAMETER ? OTHER_PARAMETERS : OTHER;
    for (size_t column = FIXED_COLUMNS; column < as_table_columns(index->table); column++) {
        const char *name = as_table_column_name(index->table, column);
        as_cell cell = as_table_get(index->table, row, column);
        if (cell.type == AS_CELL_NULL) continue;
        bool is_parameter = strncmp(name, PREFIX, PREFIX_SIZE) == 0;
        if (strcmp(name, rest) == 0) { /* {"a":1,"b":2} without its braces */
            as_output_char(out, separator);
            as_output_write(out, cell.text + 1, cell.size - 2);
        } else if (strcmp(name, OTHER) != 0 && strcmp(name, OTHER_PARAMETERS) != 0 &&
                   is_parameter == (kind == AS_EXTRA_PARAMETER)) {
            write_member(out, separator, name + (is_parameter ? PREFIX_SIZE : 0), cell);
        }
    }
}

void as_write_json_number(as_output *out, as_number number) {
    if (number.kind != AS_REAL || isfinite(number.r))
        as_output_number(out, number);
    else
        as_output_text(out, isnan(number.r) ? "NaN" : number.r > 0 ? "Infinity" : "-Infinity");
}
