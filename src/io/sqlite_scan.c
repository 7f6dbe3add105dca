/* Rows of a table: from its pages, or, where that takes more than reading records, from SQLite. */
#include <stdlib.h>

#include "io/sqlite_pages.h"

/* A column that is wanted, in the order of the fields of a record. */
typedef struct wanted {
    uint32_t stored;
    uint32_t cell;
    bool is_real;
} wanted;

typedef struct scan {
    as_scan seen; /* what the caller has */
    as_database *db;
    const as_database_table *table; /* NULL: no rows */
    size_t n_columns;
    bool is_failed, is_out_of_memory;
    /* from pages */
    as_table_cursor cursor;
    int64_t last;
    wanted fields[AS_SCAN_COLUMNS];
    size_t n_fields;
    uint32_t rowid_cells[AS_SCAN_COLUMNS]; /* columns that are the rowid */
    size_t n_rowid_cells;
    as_vec whole; /* a record that does not lie in one piece */
    /* from SQLite */
    sqlite3 *connection;
    sqlite3_stmt *statement;
    int status;
} scan;

/* ---- records ----------------------------------------------------------------------------------------------------- */

static int64_t big_endian_int(const unsigned char *at, unsigned size) {
    uint64_t value = at[0] & 0x80 ? UINT64_MAX : 0;
    for (unsigned i = 0; i < size; i++) value = value << 8 | at[i];
    return (int64_t)value;
}

static const unsigned char field_sizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};

static bool field_size(uint64_t type, uint64_t *size) {
    if (type < 10) *size = field_sizes[type];
    if (type >= 12) *size = (type - 12) / 2;
    return type < 10 || type >= 12;
}

static void decode(as_scan_cell *cell, uint64_t type, const unsigned char *at, uint64_t size, bool is_real) {
    cell->size = 0;
    if (type == 0) {
        cell->type = AS_SCAN_NULL;
    } else if (type == 7) {
        uint64_t bits = (uint64_t)big_endian_int(at, 8);
        memcpy(&cell->real, &bits, sizeof bits);
        cell->type = cell->real == cell->real ? AS_SCAN_REAL : AS_SCAN_NULL; /* NaN is NULL */
    } else if (type < 10) {
        cell->type = AS_SCAN_INT;
        cell->integer = type >= 8 ? (int64_t)type - 8 : big_endian_int(at, (unsigned)size);
        if (is_real) {
            cell->type = AS_SCAN_REAL;
            cell->real = (double)cell->integer;
        }
    } else {
        cell->type = type % 2 ? AS_SCAN_TEXT : AS_SCAN_BLOB;
        cell->text = (const char *)at;
        cell->size = (size_t)size;
    }
}

/* Fields that are wanted, of a record of which `there` bytes are at hand. *needs_more: not enough. False: it is
 * damaged. */
static bool decode_record(scan *s, const unsigned char *record, size_t there, size_t size, bool *needs_more) {
    const unsigned char *at = record, *end = record + there;
    uint64_t header, offset;
    *needs_more = false;
    if (!as_varint(&at, end, &header)) return false;
    if (header > there) {
        *needs_more = header <= size;
        return *needs_more;
    }
    end = record + header;
    offset = header;
    size_t next = 0;
    for (uint32_t field = 0; next < s->n_fields && at < end; field++) {
        uint64_t type, bytes;
        if (!as_varint(&at, end, &type) || !field_size(type, &bytes) || bytes > size - offset) return false;
        for (; next < s->n_fields && s->fields[next].stored == field; next++) {
            if (offset + bytes > there) {
                *needs_more = true;
                return true;
            }
            decode(&s->seen.cells[s->fields[next].cell], type, record + offset, bytes, s->fields[next].is_real);
        }
        offset += bytes;
    }
    for (; next < s->n_fields; next++) s->seen.cells[s->fields[next].cell].type = AS_SCAN_NULL; /* added later */
    return true;
}

static bool next_of_pages(scan *s) {
    as_table_cursor *cursor = &s->cursor;
    if (!as_table_next(cursor) || cursor->rowid > s->last) {
        s->is_failed = cursor->damaged != 0;
        return false;
    }
    uint32_t page = cursor->pages[cursor->depth - 1].number;
    bool needs_more, fine = decode_record(s, cursor->record, cursor->there, cursor->size, &needs_more);
    if (fine && needs_more) {
        s->whole.count = 0;
        if (!as_vec_reserve(&s->whole, cursor->size)) {
            s->is_failed = s->is_out_of_memory = true;
            return false;
        }
        fine = as_table_assemble(cursor, s->whole.data) &&
               decode_record(s, s->whole.data, cursor->size, cursor->size, &needs_more) && !needs_more;
    }
    if (!fine) {
        if (!cursor->damaged) cursor->damaged = page;
        s->is_failed = true;
        return false;
    }
    s->seen.rowid = cursor->rowid;
    for (size_t i = 0; i < s->n_rowid_cells; i++)
        s->seen.cells[s->rowid_cells[i]] = (as_scan_cell){.type = AS_SCAN_INT, .integer = cursor->rowid};
    return true;
}

static int compare_wanted(const void *a, const void *b) {
    const wanted *p = a, *q = b;
    if (p->stored != q->stored) return p->stored < q->stored ? -1 : 1;
    return p->cell < q->cell ? -1 : p->cell > q->cell;
}

static void open_pages(scan *s, const char *const *columns, as_scan_range range) {
    for (uint32_t i = 0; i < s->n_columns; i++) {
        const as_database_column *column = as_database_column_of(s->table, columns[i]);
        if (!column) continue; /* NULL, as the cells are */
        if (column->is_rowid)
            s->rowid_cells[s->n_rowid_cells++] = i;
        else
            s->fields[s->n_fields++] = (wanted){column->stored, i, column->is_real};
    }
    qsort(s->fields, s->n_fields, sizeof *s->fields, compare_wanted);
    s->last = range.is_set ? range.last : INT64_MAX;
    as_table_seek(&s->cursor, s->db->input, &s->db->header, s->table->root, range.is_set ? range.first : INT64_MIN);
}

/* ---- SQLite ------------------------------------------------------------------------------------------------------ */

static char *select_of(const as_database_table *t, const char *const *columns, size_t n_columns, bool is_range) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "SELECT %s", t->rowid ? t->rowid : "0");
    for (size_t i = 0; i < n_columns; i++) {
        if (as_database_column_of(t, columns[i]))
            sqlite3_str_appendf(sql, ",\"%w\"", columns[i]);
        else
            sqlite3_str_appendall(sql, ",NULL");
    }
    sqlite3_str_appendf(sql, " FROM main.\"%w\" NOT INDEXED", t->name);
    if (is_range) sqlite3_str_appendf(sql, " WHERE %s BETWEEN ?1 AND ?2", t->rowid);
    return sqlite3_str_finish(sql);
}

static void open_statement(scan *s, const char *const *columns, as_scan_range range) {
    bool is_range = range.is_set && s->table->rowid;
    s->status = as_database_take(s->db, &s->connection);
    if (s->status == SQLITE_OK)
        s->status =
            as_database_prepare(s->connection, select_of(s->table, columns, s->n_columns, is_range), &s->statement);
    if (s->status == SQLITE_OK && is_range) {
        sqlite3_bind_int64(s->statement, 1, range.first);
        sqlite3_bind_int64(s->statement, 2, range.last);
    }
    s->is_failed = s->status != SQLITE_OK;
}

static void take_cell(scan *s, int column, as_scan_cell *cell) {
    *cell = (as_scan_cell){.type = AS_SCAN_NULL};
    switch (sqlite3_column_type(s->statement, column)) {
    case SQLITE_INTEGER:
        cell->type = AS_SCAN_INT;
        cell->integer = sqlite3_column_int64(s->statement, column);
        break;
    case SQLITE_FLOAT:
        cell->type = AS_SCAN_REAL;
        cell->real = sqlite3_column_double(s->statement, column);
        break;
    case SQLITE_TEXT:
        cell->type = AS_SCAN_TEXT;
        cell->text = (const char *)sqlite3_column_text(s->statement, column);
        break;
    case SQLITE_BLOB:
        cell->type = AS_SCAN_BLOB;
        cell->text = sqlite3_column_blob(s->statement, column);
        break;
    default: return;
    }
    if (cell->type < AS_SCAN_TEXT) return;
    cell->size = (size_t)sqlite3_column_bytes(s->statement, column);
    s->is_out_of_memory |= !cell->text && cell->size;
    if (!cell->text) cell->text = "";
}

static bool next_of_statement(scan *s) {
    s->status = sqlite3_step(s->statement);
    s->is_failed = s->status != SQLITE_ROW && s->status != SQLITE_DONE;
    if (s->status != SQLITE_ROW) return false;
    s->seen.rowid = sqlite3_column_int64(s->statement, 0);
    for (size_t i = 0; i < s->n_columns; i++) take_cell(s, (int)i + 1, &s->seen.cells[i]);
    s->is_failed = s->is_out_of_memory;
    return !s->is_failed;
}

/* ---- either ------------------------------------------------------------------------------------------------------ */

/* Whether records alone say what the columns hold. */
static bool is_plain(const scan *s, const char *const *columns) {
    if (!s->table->rowid || !s->table->root || !s->db->header.is_utf8) return false;
    for (size_t i = 0; i < s->n_columns; i++) {
        const as_database_column *column = as_database_column_of(s->table, columns[i]);
        if (column && column->has_default) return false;
    }
    return true;
}

assay_status as_scan_open(as_database *db, const char *name, const char *const *columns, size_t n_columns,
                          as_scan_range range, as_scan **out, assay_error *error) {
    *out = NULL;
    scan *s = calloc(1, sizeof *s);
    if (!s) return as_fail_memory(error, db->input->path);
    s->db = db;
    s->table = as_database_table_of(db, name);
    s->n_columns = n_columns < AS_SCAN_COLUMNS ? n_columns : AS_SCAN_COLUMNS;
    as_vec_init(&s->whole, 1, db->budget);
    if (s->table) {
        if (is_plain(s, columns))
            open_pages(s, columns, range);
        else
            open_statement(s, columns, range);
    }
    if (s->is_failed) return as_scan_close(&s->seen, error);
    *out = &s->seen;
    return ASSAY_OK;
}

bool as_scan_next(as_scan *seen) {
    scan *s = (scan *)seen;
    if (!s->table || s->is_failed) return false;
    return s->statement ? s->status != SQLITE_DONE && next_of_statement(s) : next_of_pages(s);
}

assay_status as_scan_close(as_scan *seen, assay_error *error) {
    if (!seen) return ASSAY_OK;
    scan *s = (scan *)seen;
    assay_status status = ASSAY_OK;
    if (s->is_out_of_memory)
        status = as_fail_memory(error, s->db->input->path);
    else if (s->is_failed && s->status != SQLITE_OK)
        status = as_database_fail(s->db, s->table->name, s->status, error);
    else if (s->is_failed)
        status = as_database_fail_page(s->db, s->table->name, s->cursor.damaged, error);
    if (s->cursor.input) as_table_leave(&s->cursor);
    sqlite3_finalize(s->statement);
    if (s->connection) as_database_give(s->db, s->connection);
    as_vec_free(&s->whole);
    free(s);
    return status;
}
