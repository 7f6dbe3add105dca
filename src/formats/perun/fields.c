/* The table "field". Rows share most of their cells, so counting is a matter of how many rows each kind has, and of the
 * few own columns. */
#include <pthread.h>
#include <stdlib.h>

#include "formats/perun/tables.h"

typedef struct field {
    uint64_t rows, numbers;
    bool is_own, is_shared;
} field;

typedef struct fields {
    as_table_source source; /* first: the table finds the fields by it */
    as_dataset *ds;
    const as_records *records;
    pthread_mutex_t lock;
    as_vec counted; /* field, by column; empty: not counted yet */
} fields;

enum { ID, RUN, NAME, ROWS, NUMBERS, WHOSE };

static bool is_number(as_cell cell) {
    return cell.type == AS_CELL_INT || cell.type == AS_CELL_UINT || cell.type == AS_CELL_REAL;
}

static bool is_own_number(as_own_type type) {
    return type == AS_OWN_FALSE || type == AS_OWN_TRUE || type == AS_OWN_INT || type == AS_OWN_UINT ||
           type == AS_OWN_REAL || type == AS_OWN_DIGITS;
}

/* What all rows of each kind have. */
static bool count_shared(const as_records *records, field *counts) {
    size_t n_rows = as_records_rows(records), n_kinds = as_records_kinds(records);
    const uint32_t *row_kinds = as_records_row_kinds(records);
    uint32_t *rows_of = calloc(n_kinds ? n_kinds : 1, sizeof *rows_of);
    if (!rows_of) return false;
    for (size_t i = 0; i < n_rows; i++) rows_of[row_kinds[i]]++;
    for (uint32_t kind = 0; kind < n_kinds; kind++) {
        size_t n;
        const as_shared_cell *cells = as_records_kind(records, kind, &n);
        for (size_t i = 0; i < n; i++) {
            if (cells[i].cell.type == AS_CELL_NULL || rows_of[kind] == 0) continue;
            field *count = &counts[cells[i].column];
            count->is_shared = true;
            count->rows += rows_of[kind];
            if (is_number(cells[i].cell)) count->numbers += rows_of[kind];
        }
    }
    free(rows_of);
    return true;
}

/* What rows say themselves, which goes before what their kind says. */
static void count_own(const as_records *records, uint32_t column, field *count) {
    as_own_column own = as_records_own(records, column);
    const uint32_t *row_kinds = as_records_row_kinds(records);
    uint64_t of_type[AS_OWN_DIGITS + 1] = {0};
    for (size_t row = 0; row < own.count; row++) of_type[own.types[row]]++;
    for (unsigned type = AS_OWN_FALSE; type <= AS_OWN_DIGITS; type++) {
        count->rows += of_type[type];
        if (is_own_number(type)) count->numbers += of_type[type];
        if (of_type[type]) count->is_own = true;
    }
    if (!count->is_shared || of_type[AS_OWN_ABSENT] == own.count) return;
    for (size_t row = 0; row < own.count; row++) {
        if (own.types[row] == AS_OWN_ABSENT) continue;
        as_cell shared = as_records_shared(records, row_kinds[row], column);
        if (shared.type != AS_CELL_NULL) count->rows--;
        if (is_number(shared)) count->numbers--;
    }
}

/* Nothing is counted when memory is out: then there are only names. */
static const field *count_fields(const as_table_source *source) {
    fields *all = (fields *)(uintptr_t)source; /* what is counted is not what the table is */
    size_t n = as_records_columns(all->records);
    pthread_mutex_lock(&all->lock);
    if (all->counted.count == 0 && n && as_vec_reserve(&all->counted, n)) {
        field *counts = all->counted.data;
        memset(counts, 0, n * sizeof *counts);
        if (count_shared(all->records, counts)) {
            for (uint32_t column = 0; column < n; column++) count_own(all->records, column, &counts[column]);
            all->counted.count = n;
        }
    }
    const field *counts = all->counted.count ? all->counted.data : NULL;
    pthread_mutex_unlock(&all->lock);
    return counts;
}

static size_t view_rows(const as_table_source *source) { return as_records_columns(((const fields *)source)->records); }

static as_cell view_cell(const as_table_source *source, size_t row, size_t column) {
    const fields *all = (const fields *)source;
    if (column == ID) return as_cell_int((int64_t)row);
    if (column == RUN) return as_cell_null();
    if (column == NAME) {
        as_str name = as_records_column_name(all->records, (uint32_t)row);
        return as_cell_text_n(as_ds_text(all->ds, name), as_str_size(&all->ds->strings, name));
    }
    const field *counts = count_fields(source);
    if (!counts) return as_cell_null();
    if (column == ROWS) return as_cell_uint(counts[row].rows);
    if (column == NUMBERS) return as_cell_uint(counts[row].numbers);
    return as_cell_text(counts[row].is_own && counts[row].is_shared ? "both"
                        : counts[row].is_own                        ? "row"
                        : counts[row].is_shared                     ? "type"
                                                                    : NULL);
}

static void release(void *object) {
    fields *all = object;
    as_vec_free(&all->counted);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

bool as_perun_fields_new(as_dataset *ds, const as_records *records) {
    fields *all = calloc(1, sizeof *all);
    if (!all) return false;
    *all = (fields){.source = {.rows = view_rows, .cell = view_cell}, .ds = ds, .records = records};
    pthread_mutex_init(&all->lock, NULL);
    as_vec_init(&all->counted, sizeof(field), &ds->budget);
    if (!as_ds_hold(ds, all, release)) return false; /* which released them */
    as_table *table = as_add_derived_view(ds, "field", &all->source, AS_RECORDS_COUNTS);
    return table && as_table_add_column(table, "name") != SIZE_MAX && as_table_add_column(table, "rows") != SIZE_MAX &&
           as_table_add_column(table, "numbers") != SIZE_MAX && as_table_add_column(table, "whose") != SIZE_MAX;
}
