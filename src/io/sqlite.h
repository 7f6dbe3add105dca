/* SQLite databases as input: read-only, straight from the bytes of an as_input.
 *
 * SQLite says which tables and columns there are. It reads through a file system of our own (a VFS) that has nothing
 * but those bytes: no file is opened, locked, created or written, no journal is looked at, and a database in WAL mode
 * is read as it stands. The rows of ordinary tables are read from their pages without it (sqlite_pages.h), several
 * times faster; other tables (WITHOUT ROWID, texts in UTF-16, defaults) go through SQLite. What the database says is
 * hostile: its schema is not trusted, views and virtual tables are no tables here, every limit of SQLite's is low, and
 * what is damaged is an error. */
#ifndef AS_IO_SQLITE_H
#define AS_IO_SQLITE_H

#include "core/error.h"
#include "core/memory.h"
#include "io/input.h"

typedef struct as_database as_database;

/* Whether these first bytes of a file are a database's. */
bool as_is_database(const char *head, size_t size);
/* Errors: no database, encrypted, cut (its header names more pages than there are), damaged; and, where the input is a
 * file, a journal or WAL beside it that has what the file lacks (rule "hot-journal", with what to do). The input must
 * live as long as *out, which the caller closes. */
assay_status as_database_open(const as_input *input, as_budget *budget, as_database **out, assay_error *error);
void as_database_close(as_database *db);

/* An ordinary table of that name, case-insensitive as in SQL. */
bool as_database_has_table(const as_database *db, const char *table);
bool as_database_has_column(const as_database *db, const char *table, const char *column);
/* Its rows; 0 where there is no such table. Touches each page of it, but no row. */
assay_status as_database_count(as_database *db, const char *table, uint64_t *n, assay_error *error);
/* The least and greatest rowid; false where it has no rows or no rowids. */
bool as_database_rowids(as_database *db, const char *table, int64_t *least, int64_t *greatest);

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef enum as_scan_type { AS_SCAN_NULL, AS_SCAN_INT, AS_SCAN_REAL, AS_SCAN_TEXT, AS_SCAN_BLOB } as_scan_type;

typedef struct as_scan_cell {
    as_scan_type type;
    union {
        int64_t integer;
        double real;
        /* and blobs: `size` bytes as stored, not checked in any way; they live until the next call of as_scan_next() */
        const char *text;
    };
    size_t size;
} as_scan_cell;

/* A pass over the rows of one table in the order of rowids. Several threads may have one each. */
enum { AS_SCAN_COLUMNS = 64 };
typedef struct as_scan {
    int64_t rowid;                       /* of the current row; 0 where there are none */
    as_scan_cell cells[AS_SCAN_COLUMNS]; /* of the current row, in the order of the columns asked for */
} as_scan;

typedef struct as_scan_range {
    bool is_set;
    int64_t first, last; /* rowids, both included */
} as_scan_range;

/* columns: n_columns names, at most AS_SCAN_COLUMNS; one that the table lacks reads as NULL in every row. A table that
 * is not there has no rows. */
assay_status as_scan_open(as_database *db, const char *table, const char *const *columns, size_t n_columns,
                          as_scan_range range, as_scan **out, assay_error *error);
/* The next row; false at the end, and where something is wrong: as_scan_close() tells. */
bool as_scan_next(as_scan *scan);
assay_status as_scan_close(as_scan *scan, assay_error *error);

/* Of the current row. */
static inline int64_t as_scan_rowid(const as_scan *scan) { return scan->rowid; }
static inline as_scan_type as_scan_type_of(const as_scan *scan, size_t column) { return scan->cells[column].type; }
/* Of AS_SCAN_INT. */
static inline int64_t as_scan_int(const as_scan *scan, size_t column) { return scan->cells[column].integer; }
/* Of AS_SCAN_INT and AS_SCAN_REAL. */
static inline double as_scan_real(const as_scan *scan, size_t column) {
    const as_scan_cell *cell = &scan->cells[column];
    return cell->type == AS_SCAN_INT ? (double)cell->integer : cell->real;
}
/* Of AS_SCAN_TEXT and AS_SCAN_BLOB. */
static inline const char *as_scan_text(const as_scan *scan, size_t column, size_t *size) {
    *size = scan->cells[column].size;
    return scan->cells[column].text;
}

#endif
