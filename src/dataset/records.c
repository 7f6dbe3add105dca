#include "dataset/records.h"

#include <stdlib.h>

typedef struct own_column {
    as_str name;
    as_vec types;  /* uint8_t */
    as_vec values; /* as_own_value */
} own_column;

typedef struct run_start {
    size_t row;
    assay_id run;
} run_start;

struct as_records {
    as_table_source source; /* first: the table finds the records by it */
    as_dataset *ds;
    as_table *table;
    as_vec columns;     /* own_column */
    as_map column_of;   /* as_str -> column */
    as_vec kind_cells;  /* as_shared_cell, kind by kind */
    as_vec kind_starts; /* size_t; one more than there are kinds */
    as_vec row_kinds;   /* uint32_t */
    as_vec runs;        /* run_start */
    size_t n_padding;   /* see reach() */
    bool is_too_sparse;
};

static size_t view_rows(const as_table_source *source) { return as_records_rows((const as_records *)source); }

static as_cell view_cell(const as_table_source *source, size_t row, size_t column) {
    const as_records *records = (const as_records *)source;
    if (column == 0) return as_cell_int((int64_t)row);
    return column == 1 ? as_cell_int(as_records_run(records, row))
                       : as_records_cell(records, row, (uint32_t)(column - 2));
}

static void release(void *object) {
    as_records *records = object;
    for (size_t i = 0; i < records->columns.count; i++) {
        as_vec_free(&AS_AT(own_column, &records->columns, i).types);
        as_vec_free(&AS_AT(own_column, &records->columns, i).values);
    }
    as_vec_free(&records->columns);
    as_map_free(&records->column_of);
    as_vec_free(&records->kind_cells);
    as_vec_free(&records->kind_starts);
    as_vec_free(&records->row_kinds);
    as_vec_free(&records->runs);
    free(records);
}

as_records *as_records_new(as_dataset *ds, const char *name) {
    as_records *records = calloc(1, sizeof *records);
    if (!records) return NULL;
    records->source = (as_table_source){.rows = view_rows, .cell = view_cell};
    records->ds = ds;
    as_vec_init(&records->columns, sizeof(own_column), &ds->budget);
    as_map_init(&records->column_of, &ds->budget);
    as_vec_init(&records->kind_cells, sizeof(as_shared_cell), &ds->budget);
    as_vec_init(&records->kind_starts, sizeof(size_t), &ds->budget);
    as_vec_init(&records->row_kinds, sizeof(uint32_t), &ds->budget);
    as_vec_init(&records->runs, sizeof(run_start), &ds->budget);
    if (!as_ds_hold(ds, records, release)) return NULL; /* which released them */
    records->table = as_add_record_view(ds, name, &records->source, records);
    return records->table && as_vec_push(&records->kind_starts) ? records : NULL;
}

uint32_t as_records_column(as_records *records, as_str name) {
    uint32_t known = as_map_get(&records->column_of, name);
    if (known != AS_MAP_NONE) return known;
    own_column column = {.name = name};
    as_vec_init(&column.types, sizeof(uint8_t), &records->ds->budget);
    as_vec_init(&column.values, sizeof(as_own_value), &records->ds->budget);
    uint32_t id = (uint32_t)records->columns.count;
    if (!as_vec_reserve(&records->columns, 1) || !as_map_put(&records->column_of, name, id) ||
        as_table_add_column(records->table, as_ds_text(records->ds, name)) == SIZE_MAX)
        return UINT32_MAX;
    as_vec_append(&records->columns, &column, 1); /* room was reserved */
    return id;
}

static int compare_cells(const void *a, const void *b) {
    uint32_t x = ((const as_shared_cell *)a)->column, y = ((const as_shared_cell *)b)->column;
    return x < y ? -1 : x > y;
}

uint32_t as_records_add_kind(as_records *records, const as_shared_cell *cells, size_t n) {
    size_t first = records->kind_cells.count, end = first + n, kind = records->kind_starts.count - 1;
    if (kind >= UINT32_MAX - 1 || !as_vec_reserve(&records->kind_starts, 1) ||
        !as_vec_append(&records->kind_cells, cells, n))
        return UINT32_MAX;
    as_vec_append(&records->kind_starts, &end, 1); /* room was reserved */
    if (n) qsort(&AS_AT(as_shared_cell, &records->kind_cells, first), n, sizeof *cells, compare_cells);
    return (uint32_t)kind;
}

bool as_records_add_rows(as_records *records, assay_id run, uint32_t kind, size_t n) {
    size_t first = records->row_kinds.count;
    if (n > UINT32_MAX - 1 - first || !as_vec_reserve(&records->row_kinds, n)) return false;
    const run_start *last = records->runs.count ? &AS_AT(run_start, &records->runs, records->runs.count - 1) : NULL;
    if ((!last || last->run != run) && !as_vec_append(&records->runs, &(run_start){first, run}, 1)) return false;
    uint32_t *kinds = (uint32_t *)records->row_kinds.data + first;
    for (size_t i = 0; i < n; i++) kinds[i] = kind;
    records->row_kinds.count += n;
    return true;
}

/* Cells that are only there because columns begin late: thousands of such columns behind a million rows are not worth
 * their memory, but a few that only the last of many profiles has are. */
enum { MOST_PADDING = 1 << 26, PADDING_OF_A_ROW = 8 };

/* Makes the column n rows longer than `row`, those before it that were missing being absent. */
static bool reach(as_records *records, own_column *own, size_t row, size_t n) {
    size_t count = own->types.count, end = row + n;
    if (end <= count) return true;
    records->is_too_sparse = row > count && row - count > MOST_PADDING + PADDING_OF_A_ROW * row - records->n_padding;
    if (records->is_too_sparse) return false;
    records->n_padding += row > count ? row - count : 0;
    if (!as_vec_reserve(&own->types, end - count) || !as_vec_reserve(&own->values, end - count)) return false;
    if (row > count) {
        memset((uint8_t *)own->types.data + count, AS_OWN_ABSENT, row - count);
        memset((as_own_value *)own->values.data + count, 0, (row - count) * sizeof(as_own_value));
    }
    own->types.count = own->values.count = end;
    return true;
}

bool as_records_is_too_sparse(const as_records *records) { return records->is_too_sparse; }

bool as_records_set(as_records *records, size_t row, uint32_t column, as_own_type type, as_own_value value) {
    own_column *own = &AS_AT(own_column, &records->columns, column);
    if (!reach(records, own, row, 1)) return false;
    AS_AT(uint8_t, &own->types, row) = (uint8_t)type;
    AS_AT(as_own_value, &own->values, row) = value;
    return true;
}

bool as_records_set_numbers(as_records *records, size_t row, uint32_t column, const as_number *numbers, size_t n) {
    static const uint8_t types[] = {[AS_INT] = AS_OWN_INT, [AS_UINT] = AS_OWN_UINT, [AS_REAL] = AS_OWN_REAL};
    own_column *own = &AS_AT(own_column, &records->columns, column);
    if (!reach(records, own, row, n)) return false;
    uint8_t *to_types = (uint8_t *)own->types.data + row;
    as_own_value *to_values = (as_own_value *)own->values.data + row;
    for (size_t i = 0; i < n; i++) {
        to_types[i] = types[numbers[i].kind];
        memcpy(&to_values[i], &numbers[i].u, sizeof *to_values); /* all of the same size */
    }
    return true;
}

void as_records_expect(as_records *records, size_t rows) {
    size_t n = as_records_rows(records);
    as_vec_expect(&records->row_kinds, rows);
    for (size_t i = 0; i < records->columns.count && n; i++) {
        own_column *own = &AS_AT(own_column, &records->columns, i);
        if (own->types.count != n) continue;
        as_vec_expect(&own->types, rows);
        as_vec_expect(&own->values, rows);
    }
}

void as_records_shrink(as_records *records) {
    as_vec_shrink(&records->kind_cells);
    as_vec_shrink(&records->row_kinds);
    for (size_t i = 0; i < records->columns.count; i++) {
        as_vec_shrink(&AS_AT(own_column, &records->columns, i).types);
        as_vec_shrink(&AS_AT(own_column, &records->columns, i).values);
    }
}

const as_records *as_ds_shared_records(const as_dataset *ds, const char *name) {
    for (size_t i = 0; i < ds->records.count; i++) {
        const as_record_table *entry = &AS_AT(as_record_table, &ds->records, i);
        if (strcmp(as_ds_text(ds, entry->name), name) == 0) return entry->records;
    }
    return NULL;
}

size_t as_records_rows(const as_records *records) { return records->row_kinds.count; }
size_t as_records_kinds(const as_records *records) { return records->kind_starts.count - 1; }
size_t as_records_columns(const as_records *records) { return records->columns.count; }
as_str as_records_column_name(const as_records *records, uint32_t column) {
    return AS_AT(own_column, &records->columns, column).name;
}
const uint32_t *as_records_row_kinds(const as_records *records) { return records->row_kinds.data; }

uint32_t as_records_find_column(const as_records *records, const char *name) {
    size_t column = as_table_find_column(records->table, name); /* whose first two are no columns of the records */
    return column == SIZE_MAX || column < 2 ? UINT32_MAX : (uint32_t)(column - 2);
}

assay_id as_records_run(const as_records *records, size_t row) {
    size_t low = 0, high = records->runs.count; /* the last one that begins at or before the row */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (AS_AT(run_start, &records->runs, middle).row <= row)
            low = middle;
        else
            high = middle;
    }
    return AS_AT(run_start, &records->runs, low).run;
}

as_own_column as_records_own(const as_records *records, uint32_t column) {
    const own_column *own = &AS_AT(own_column, &records->columns, column);
    return (as_own_column){own->types.data, own->values.data, own->types.count};
}

const as_shared_cell *as_records_kind(const as_records *records, uint32_t kind, size_t *n) {
    size_t first = AS_AT(size_t, &records->kind_starts, kind);
    *n = AS_AT(size_t, &records->kind_starts, kind + 1) - first;
    return *n ? (const as_shared_cell *)records->kind_cells.data + first : NULL;
}

static const as_shared_cell *find_shared(const as_records *records, uint32_t kind, uint32_t column) {
    size_t n, low = 0;
    const as_shared_cell *cells = as_records_kind(records, kind, &n);
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (cells[middle].column == column) return &cells[middle];
        if (cells[middle].column < column)
            low = middle + 1;
        else
            n = middle;
    }
    return NULL;
}

as_cell as_records_shared(const as_records *records, uint32_t kind, uint32_t column) {
    const as_shared_cell *shared = find_shared(records, kind, column);
    return shared ? shared->cell : as_cell_null();
}

as_cell as_records_shared_name(const as_records *records, uint32_t kind, uint32_t column) {
    const as_shared_cell *shared = find_shared(records, kind, column);
    if (shared && shared->is_flag) return as_cell_text(shared->cell.i ? "True" : "False");
    return shared ? shared->cell : as_cell_null();
}

as_cell as_records_name(const as_records *records, size_t row, uint32_t column) {
    as_own_column own = as_records_own(records, column);
    as_own_type type = row < own.count ? own.types[row] : AS_OWN_ABSENT;
    if (type == AS_OWN_FALSE || type == AS_OWN_TRUE) return as_cell_text(type == AS_OWN_TRUE ? "True" : "False");
    if (type != AS_OWN_ABSENT) return as_records_cell(records, row, column);
    return as_records_shared_name(records, AS_AT(uint32_t, &records->row_kinds, row), column);
}

as_cell as_records_cell(const as_records *records, size_t row, uint32_t column) {
    as_own_column own = as_records_own(records, column);
    as_own_value value = row < own.count ? own.values[row] : (as_own_value){0};
    switch (row < own.count ? own.types[row] : AS_OWN_ABSENT) {
    case AS_OWN_NULL: return as_cell_null();
    case AS_OWN_FALSE: return as_cell_int(0);
    case AS_OWN_TRUE: return as_cell_int(1);
    case AS_OWN_INT: return as_cell_int(value.i);
    case AS_OWN_UINT: return as_cell_uint(value.u);
    case AS_OWN_REAL: return as_cell_real(value.r);
    case AS_OWN_TEXT:
    case AS_OWN_DIGITS:
        return as_cell_text_n(as_ds_text(records->ds, value.text), as_str_size(&records->ds->strings, value.text));
    default: return as_records_shared(records, AS_AT(uint32_t, &records->row_kinds, row), column);
    }
}

static double cell_number(as_cell cell, bool *is_number) {
    *is_number = cell.type == AS_CELL_INT || cell.type == AS_CELL_UINT || cell.type == AS_CELL_REAL;
    return cell.type == AS_CELL_INT    ? (double)cell.i
           : cell.type == AS_CELL_UINT ? (double)cell.u
           : cell.type == AS_CELL_REAL ? cell.r
                                       : NAN;
}

static double digits_number(const as_dataset *ds, as_str digits) {
    as_number number;
    return as_number_parse(as_ds_text(ds, digits), as_str_size(&ds->strings, digits), &number) ? as_number_real(number)
                                                                                               : NAN;
}

double as_records_number(const as_records *records, size_t row, uint32_t column, bool *is_number) {
    bool ignored;
    as_own_column own = as_records_own(records, column);
    as_own_type type = row < own.count ? own.types[row] : AS_OWN_ABSENT;
    if (!is_number) is_number = &ignored;
    if (type == AS_OWN_ABSENT) { /* a flag's name is no number */
        as_cell shared = as_records_shared_name(records, AS_AT(uint32_t, &records->row_kinds, row), column);
        return cell_number(shared, is_number);
    }
    *is_number = true;
    if (type == AS_OWN_INT) return (double)own.values[row].i;
    if (type == AS_OWN_UINT) return (double)own.values[row].u;
    if (type == AS_OWN_REAL) return own.values[row].r;
    if (type == AS_OWN_DIGITS) return digits_number(records->ds, own.values[row].text);
    *is_number = false;
    return NAN;
}
