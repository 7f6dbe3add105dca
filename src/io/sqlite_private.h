/* Private to sqlite*.c: how SQLite gets at the bytes of an input. */
#ifndef AS_IO_SQLITE_PRIVATE_H
#define AS_IO_SQLITE_PRIVATE_H

#include <sqlite3.h>

#include "io/sqlite.h"

/* A file system with one file, which is read-only and never changes: the bytes of an input. */
typedef struct as_bytes_vfs {
    sqlite3_vfs vfs;
    char name[48]; /* its own, for sqlite3_open_v2() */
    const unsigned char *data;
    size_t size;
} as_bytes_vfs;

/* Known to SQLite by its name from here on, without being anybody's default. It must not move. False when memory is out. */
bool as_bytes_vfs_register(as_bytes_vfs *vfs, const char *data, size_t size);
/* Behind the last connection through it. */
void as_bytes_vfs_unregister(as_bytes_vfs *vfs);

/* What the first bytes of a database say. */
typedef struct as_database_header {
    uint32_t page_size;
    uint32_t n_pages; /* that the file has, the last one whole */
    bool is_utf8;
} as_database_header;

/* Reads the header, and tells what SQLite would call a malformed image, or not notice: no database, cut, a journal beside it. */
assay_status as_database_check(const as_input *input, as_database_header *header, assay_error *error);

#endif
