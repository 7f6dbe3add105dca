/* What SQLite needs of an operating system, over bytes in memory. Pages are used where they lie (xFetch), so that
 * SQLite has no cache to speak of. */
#include <stdio.h>
#include <stdlib.h>

#include "io/sqlite_private.h"

typedef struct bytes_file {
    sqlite3_file base;
    const as_bytes_vfs *vfs;
} bytes_file;

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static const as_bytes_vfs *bytes_of(sqlite3_file *file) { return ((bytes_file *)file)->vfs; }

static int file_close(sqlite3_file *file) {
    (void)file;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *buffer, int amount, sqlite3_int64 offset) {
    const as_bytes_vfs *bytes = bytes_of(file);
    size_t wanted = (size_t)amount, at = (size_t)offset;
    size_t there = offset < 0 || at >= bytes->size ? 0 : bytes->size - at < wanted ? bytes->size - at : wanted;
    if (there) memcpy(buffer, bytes->data + at, there);
    if (there == wanted) return SQLITE_OK;
    memset((char *)buffer + there, 0, wanted - there);
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *file, const void *buffer, int amount, sqlite3_int64 offset) {
    (void)file, (void)buffer, (void)amount, (void)offset;
    return SQLITE_READONLY;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    (void)file, (void)size;
    return SQLITE_READONLY;
}

static int file_sync(sqlite3_file *file, int flags) {
    (void)file, (void)flags;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    *size = (sqlite3_int64)bytes_of(file)->size;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *file, int level) {
    (void)file, (void)level;
    return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *file, int *is_reserved) {
    (void)file;
    *is_reserved = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    (void)file, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *file) {
    (void)file;
    return 4096;
}

static int file_characteristics(sqlite3_file *file) {
    (void)file;
    return SQLITE_IOCAP_IMMUTABLE;
}

static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int amount, void **page) {
    const as_bytes_vfs *bytes = bytes_of(file);
    bool is_there =
        offset >= 0 && amount > 0 && (size_t)offset < bytes->size && (size_t)amount <= bytes->size - (size_t)offset;
    *page = is_there ? (void *)(uintptr_t)(bytes->data + offset) : NULL;
    return SQLITE_OK;
}

static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
    (void)file, (void)offset, (void)page;
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 3,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xFetch = file_fetch,
    .xUnfetch = file_unfetch,
};

/* ---- the file system --------------------------------------------------------------------------------------------- */

/* Nothing but the one database is there to be opened: no journal, no temporary file. */
static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    (void)name;
    bytes_file *opened = (bytes_file *)file;
    opened->base.pMethods = NULL;
    if (!(flags & SQLITE_OPEN_MAIN_DB)) return SQLITE_CANTOPEN;
    opened->base.pMethods = &methods;
    opened->vfs = vfs->pAppData;
    if (out_flags) *out_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_directory) {
    (void)vfs, (void)name, (void)sync_directory;
    return SQLITE_READONLY;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    (void)vfs, (void)name, (void)flags;
    *result = 0;
    return SQLITE_OK;
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int size, char *out) {
    (void)vfs;
    int n = snprintf(out, (size_t)size, "%s", name);
    return n >= 0 && n < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *out) {
    (void)vfs;
    memset(out, 0, (size_t)size);
    return size;
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return microseconds;
}

static int vfs_current_time(sqlite3_vfs *vfs, double *day) {
    (void)vfs;
    *day = 0;
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *out) {
    (void)vfs;
    if (size > 0) *out = '\0';
    return 0;
}

bool as_bytes_vfs_register(as_bytes_vfs *vfs, const char *data, size_t size) {
    *vfs = (as_bytes_vfs){.data = (const unsigned char *)data, .size = size};
    snprintf(vfs->name, sizeof vfs->name, "assay-%p", (void *)vfs);
    vfs->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(bytes_file),
        .mxPathname = 64,
        .zName = vfs->name,
        .pAppData = vfs,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_current_time,
        .xGetLastError = vfs_last_error,
    };
    return sqlite3_vfs_register(&vfs->vfs, 0) == SQLITE_OK;
}

void as_bytes_vfs_unregister(as_bytes_vfs *vfs) { sqlite3_vfs_unregister(&vfs->vfs); }
