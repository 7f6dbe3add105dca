#include "server/sql_memory.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "server/sql_limits.h"

static sqlite3_mem_methods usual;
static atomic_llong all; /* bytes of all statements */
static _Thread_local bool is_counted;
static _Thread_local long long own; /* of the statement of this thread */

static bool fits(long long bytes) { return !is_counted || atomic_load(&all) + bytes <= AS_SQL_MEMORY; }

static void count(long long bytes) {
    if (!is_counted) return;
    atomic_fetch_add(&all, bytes);
    own += bytes;
}

static void *take(int size) {
    void *memory = fits(size) ? usual.xMalloc(size) : NULL;
    if (memory) count(usual.xSize(memory));
    return memory;
}

static void give(void *memory) {
    if (memory) count(-(long long)usual.xSize(memory));
    usual.xFree(memory);
}

static void *change(void *memory, int size) {
    long long before = usual.xSize(memory);
    void *changed = size <= before || fits(size - before) ? usual.xRealloc(memory, size) : NULL;
    if (changed) count(usual.xSize(changed) - before);
    return changed;
}

static void install(void) {
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual) != SQLITE_OK) return;
    sqlite3_mem_methods counted = usual;
    counted.xMalloc = take;
    counted.xFree = give;
    counted.xRealloc = change;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &counted);
}

void as_sql_memory_install(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

void as_sql_memory_begin(void) { is_counted = true; }

void as_sql_memory_end(void) {
    is_counted = false;
    atomic_fetch_sub(&all, own);
    own = 0;
}
