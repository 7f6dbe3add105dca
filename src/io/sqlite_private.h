/* Private to sqlite*.c: how SQLite gets at the bytes of an input. */
#ifndef AS_IO_SQLITE_PRIVATE_H
#define AS_IO_SQLITE_PRIVATE_H

#include <pthread.h>
#include <sqlite3.h>

#include "io/sqlite.h"

static inline uint32_t as_big_endian_32(const void *at) {
    const unsigned char *b = at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* A file system with one file, which is read-only and never changes: the bytes of an input. */
typedef struct as_bytes_vfs {
    sqlite3_vfs vfs;
    char name[48]; /* its own, for sqlite3_open_v2() */
    const unsigned char *data;
    size_t size;
} as_bytes_vfs;

/* Known to SQLite by its name from here on, without being anybody's default. It must not move. False when memory is
 * out. */
bool as_bytes_vfs_register(as_bytes_vfs *vfs, const char *data, size_t size);
/* Behind the last connection through it. */
void as_bytes_vfs_unregister(as_bytes_vfs *vfs);

/* What the first bytes of a database say. */
typedef struct as_database_header {
    uint32_t page_size, usable; /* bytes of a page; those that are not reserved */
    uint32_t n_pages;           /* that the file has, the last one whole */
    bool is_utf8;
} as_database_header;

/* Reads the header, and tells what SQLite would call a malformed image, or not notice: no database, cut, a journal
 * beside it. */
assay_status as_database_check(const as_input *input, as_database_header *header, assay_error *error);

/* ---- tables ------------------------------------------------------------------------------------------------------ */

typedef struct as_database_column {
    char *name;
    uint32_t stored;  /* which field of a record it is */
    bool is_rowid;    /* it is not in the record: it is the rowid */
    bool is_real;     /* integers are read as reals */
    bool has_default; /* for records from before it was added */
} as_database_column;

typedef struct as_database_table {
    char *name;
    uint32_t root; /* its page */
    const char
        *rowid; /* what SQL calls it here; NULL: the table has none, or hides it behind columns of all three names */
    as_vec columns; /* as_database_column, those that are stored */
} as_database_table;

enum { AS_IDLE_CONNECTIONS = 4 };

struct as_database {
    const as_input *input;
    as_budget *budget;
    as_bytes_vfs vfs;
    as_database_header header;
    as_vec tables;
    pthread_mutex_t mutex;
    sqlite3 *idle[AS_IDLE_CONNECTIONS]; /* connections nobody uses at the moment */
    size_t n_idle;
};

/* NULL: there is none. */
const as_database_table *as_database_table_of(const as_database *db, const char *name);
const as_database_column *as_database_column_of(const as_database_table *table, const char *name);

/* A connection of the caller's own; SQLite's status. */
int as_database_take(as_database *db, sqlite3 **out);
void as_database_give(as_database *db, sqlite3 *connection);
/* Prepares sql, which is freed with sqlite3_free(); NULL: there was no memory for it. */
int as_database_prepare(sqlite3 *connection, char *sql, sqlite3_stmt **out);
/* SQLite's status as an error; table NULL: of no table. */
assay_status as_database_fail(const as_database *db, const char *table, int status, assay_error *error);
/* A page (from 1) of a table is damaged. */
assay_status as_database_fail_page(const as_database *db, const char *table, uint32_t page, assay_error *error);

#endif
