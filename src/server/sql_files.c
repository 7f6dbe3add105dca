#include "server/sql_files.h"

#include <pthread.h>
#include <sqlite3.h>

static _Thread_local uint64_t left = UINT64_MAX;

static sqlite3_vfs *usual, bounded;
/* SQLite's own methods of nameless files, and the same with another way to write. All such files have the same. */
static const sqlite3_io_methods *usual_methods;
static sqlite3_io_methods bounded_methods;
static pthread_mutex_t methods_lock = PTHREAD_MUTEX_INITIALIZER;

static int write_bounded(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset) {
    if ((uint64_t)size > left) return SQLITE_FULL;
    left -= (uint64_t)size;
    return usual_methods->xWrite(file, data, size, offset);
}

static int open_bounded(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *given_flags) {
    (void)vfs;
    int status = usual->xOpen(usual, name, file, flags, given_flags);
    if (status != SQLITE_OK || name) return status;
    pthread_mutex_lock(&methods_lock);
    if (!usual_methods) {
        usual_methods = file->pMethods;
        bounded_methods = *usual_methods;
        bounded_methods.xWrite = write_bounded;
        if (bounded_methods.iVersion > 2)
            bounded_methods.iVersion = 2; /* not mapped: that would be another way to write */
    }
    if (file->pMethods == usual_methods) file->pMethods = &bounded_methods;
    pthread_mutex_unlock(&methods_lock);
    return status;
}

static void register_bounded(void) {
    usual = sqlite3_vfs_find(NULL);
    if (!usual) return;
    bounded = *usual;
    bounded.pNext = NULL;
    bounded.zName = "assay-bounded";
    bounded.xOpen = open_bounded;
    sqlite3_vfs_register(&bounded, 1);
}

void as_sql_limit_files(uint64_t bytes) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_bounded);
    left = bytes;
}
