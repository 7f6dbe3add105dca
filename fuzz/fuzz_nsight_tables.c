/* Reading of Nsight Systems exports: the bytes say which tables there are, which columns they have, and what is in
 * their rows. The database is made in memory.
 *
 * A row is a byte that names the table, then for each of its columns a byte: its upper half the way of the value (0:
 * what a sound export could have there), its lower half the value or how many bytes follow. The first row of a table
 * has two bytes before its values: where bit i is set, column i (mod 16) is missing. */
#include <sqlite3.h>

#include "nsight.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define GPU "start,end,deviceId,contextId,streamId,correlationId,globalPid,"

static const struct table {
    const char *name, *columns;
} tables[] = {
    {"StringIds", "id,value"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "start,end,globalTid,correlationId,nameId,returnValue,callchainId,eventClass"},
    {"CUPTI_ACTIVITY_KIND_KERNEL", GPU
     "shortName,demangledName,mangledName,gridX,gridY,gridZ,blockX,blockY,blockZ,registersPerThread,staticSharedMemory,"
     "dynamicSharedMemory"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", GPU "bytes,copyKind,srcKind,dstKind"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", GPU "value,bytes,memKind"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", GPU "syncType,eventId"},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", GPU "graphId"},
    {"CUDA_CALLCHAINS", "id,symbol,unresolved,stackDepth"},
    {"OSRT_API", "start,end,globalTid,nameId,nestingLevel"},
    {"SAMPLING_CALLCHAINS", "id,symbol,stackDepth,kernelMode,unresolved"},
    {"COMPOSITE_EVENTS", "id,start,globalTid,cpu"},
    {"NVTX_EVENTS", "start,end,eventType,text,textId,globalTid,domainId,uint32Value"},
    {"TARGET_INFO_GPU", "id,name,smCount,threadsPerWarp,maxWarpsPerSm,computeMajor"},
    {"TARGET_INFO_CUDA_GPU",
     "deviceId,pid,name,numMultiprocessors,numThreadsPerWarp,maxWarpsPerMultiprocessor,computeCapabilityMajor"},
    {"TARGET_INFO_CUDA_DEVICE", "gpuId,cudaId,pid,uuid"},
    {"EXPORT_META_DATA", "name,value"},
    {"ENUM_CUPTI_SYNC_TYPE", "id,name,label"},
    {"EXTRAP_RESOLVED_CALLPATHS", "correlationId,callpath,stackDepth,duration"},
    {"ThreadNames", "nameId,priority,globalTid"},
    {"PROCESSES", "globalPid,pid,name"},
    {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs,utcTime,localTime"},
    {"ANALYSIS_DETAILS", "duration,startTime,stopTime"},
};
enum { TABLES = sizeof tables / sizeof *tables, MOST_ROWS = 400 };

typedef struct source {
    const uint8_t *next, *end;
} source;

static uint8_t take(source *from) { return from->next < from->end ? *from->next++ : 0; }

/* Column i of the table, up to its comma. */
static const char *column_of(const struct table *table, int i, int *size) {
    const char *name = table->columns;
    for (; i > 0; i--) name += strcspn(name, ",") + 1;
    *size = (int)strcspn(name, ",");
    return name;
}

static int columns_of(const struct table *table) {
    int n = 1;
    for (const char *c = table->columns; *c; c++) n += *c == ',';
    return n;
}

static void create(sqlite3 *db, const struct table *table, uint32_t missing) {
    char sql[1200];
    int n = columns_of(table), at = snprintf(sql, sizeof sql, "create table %s (odd", table->name);
    for (int i = 0; i < n; i++) {
        int size;
        const char *name = column_of(table, i, &size);
        if (!(missing >> i % 16 & 1)) at += snprintf(sql + at, sizeof sql - (size_t)at, ", %.*s", size, name);
    }
    snprintf(sql + at, sizeof sql - (size_t)at, ")");
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) abort();
}

/* What a sound export could have. */
static void bind_usual(sqlite3_stmt *row, int at, const char *name, int size, uint8_t small) {
    static const char *const texts[] = {"main",
                                        "main->solve",
                                        "\x1f"
                                        "1",
                                        "\x1f"
                                        "1\x1f"
                                        "2",
                                        "EP\x1f"
                                        "1\x1fmain",
                                        "EXTRA_PROF_SYMBOLS",
                                        "EXTRA_PROF_SYMBOLS_END",
                                        "de.tu-darmstadt.parallel.extra_prof",
                                        "cudaMalloc_v3020",
                                        "cudaMemcpyAsync",
                                        "cudaLaunchKernel",
                                        "cudaStreamSynchronize",
                                        "a->b",
                                        "cudaFreeHost",
                                        "",
                                        "EXPORT_SCHEMA_VERSION"};
    static const uint8_t types[] = {59, 59, 59, 59, 75, 75, 34, 60, 70, 71, 33, 39, 76, 59, 59, 0};
#define IS(word) (size == (int)strlen(word) && memcmp(name, word, strlen(word)) == 0)
    if (IS("value") || IS("text") || IS("name") || IS("callpath") || IS("label"))
        sqlite3_bind_text(row, at, texts[small], -1, SQLITE_STATIC);
    else if (IS("eventType"))
        sqlite3_bind_int(row, at, types[small]);
    else if (IS("globalTid") || IS("globalPid"))
        sqlite3_bind_int64(row, at, INT64_C(1) << 48 | INT64_C(7) << 24 | (IS("globalTid") ? 1 + small % 2 : 0));
    else if (IS("end") || IS("callchainId") || IS("unresolved"))
        small == 15 || (small && IS("unresolved")) ? sqlite3_bind_null(row, at) : sqlite3_bind_int(row, at, 2 * small);
    else
        sqlite3_bind_int(row, at, small);
#undef IS
}

static void bind(sqlite3_stmt *row, int at, const char *name, int size, source *from) {
    static const int64_t odd[] = {
        INT64_MIN,     INT64_MAX,     -1,         UINT32_MAX, INT32_MIN, 1ll << 53, 1ll << 52, 1ll << 62, -(1ll << 62),
        INT64_MAX - 1, INT64_MIN + 1, 1000000007, 4294967296, 65536,     1ll << 48, 0};
    uint8_t how = take(from), small = how & 15;
    uint64_t number = 0;
    switch (how >> 4) {
    case 1: sqlite3_bind_null(row, at); return;
    case 2: sqlite3_bind_int64(row, at, odd[small]); return;
    case 3: sqlite3_bind_double(row, at, small == 0 ? 1e300 : small * 1.5); return;
    case 4:
        for (int i = 0; i < (small & 7) + 1; i++) number = number << 8 | take(from);
        sqlite3_bind_int64(row, at, (int64_t)number);
        return;
    case 5:
    case 6: {
        int left = (int)(from->end - from->next), n = small < left ? small : left;
        if (how >> 4 == 5)
            sqlite3_bind_text(row, at, (const char *)from->next, n, SQLITE_TRANSIENT);
        else
            sqlite3_bind_blob(row, at, from->next, n, SQLITE_TRANSIENT);
        from->next += n;
        return;
    }
    case 7: sqlite3_bind_int(row, at, 16 + small); return;
    default: bind_usual(row, at, name, size, small);
    }
}

static void insert(sqlite3 *db, const struct table *table, uint32_t missing, source *from) {
    char sql[400];
    int n = columns_of(table), at = snprintf(sql, sizeof sql, "insert into %s values (null", table->name), column = 0;
    sqlite3_stmt *row = NULL;
    for (int i = 0; i < n; i++)
        if (!(missing >> i % 16 & 1)) at += snprintf(sql + at, sizeof sql - (size_t)at, ",?");
    snprintf(sql + at, sizeof sql - (size_t)at, ")");
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK) abort();
    for (int i = 0; i < n; i++) {
        int size;
        const char *name = column_of(table, i, &size);
        if (!(missing >> i % 16 & 1)) bind(row, ++column, name, size, from);
    }
    sqlite3_step(row);
    sqlite3_finalize(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    source from = {bytes, bytes + size};
    uint32_t missing[TABLES] = {0};
    bool is_there[TABLES] = {false};
    sqlite3 *db = NULL;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK) abort();
    sqlite3_exec(db, "pragma page_size = 512; begin", NULL, NULL, NULL);
    for (int i = 0; i < MOST_ROWS && from.next < from.end; i++) {
        unsigned t = take(&from) % TABLES;
        if (!is_there[t]) {
            missing[t] = take(&from);
            missing[t] |= (uint32_t)take(&from) << 8;
            create(db, &tables[t], missing[t]);
            is_there[t] = true;
        }
        insert(db, &tables[t], missing[t], &from);
    }
    sqlite3_exec(db, "commit", NULL, NULL, NULL);
    sqlite3_int64 made = 0;
    unsigned char *image = sqlite3_serialize(db, "main", &made, 0);
    sqlite3_close(db);
    if (image) fuzz_export((const char *)image, (size_t)made);
    sqlite3_free(image);
    return 0;
}
