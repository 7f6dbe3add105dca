/* An export of Nsight Systems (schema 2.9.1) of any size, with the ranges of Extra-Prof: four threads launch kernels on
 * eight streams of two devices, so that kernels overlap on both; for every 20 launches there are a copy, a
 * synchronisation, and a memset or an allocation, each with its call. Ranges are encoded call paths three deep, the
 * innermost one around 100 calls. Rows have the columns and sizes of real ones. */
#ifndef AS_BENCH_MADE_EXPORT_H
#define AS_BENCH_MADE_EXPORT_H

#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MADE_THREADS = 4, MADE_STREAMS = 8, MADE_KERNELS = 200, MADE_CYCLE = 23, MADE_CALLERS = 40 };
enum { MADE_LAUNCH_NAME = 1000, MADE_SYMBOLS = 2000 }; /* ids of strings; kernels have 1 and up, three each */

#define MADE_NULL INT64_MIN
#define MADE_PID  (INT64_C(1) << 48 | INT64_C(868881) << 24)

typedef struct made_export {
    sqlite3 *db;
    uint64_t kernels, calls, copies, sets, syncs, ranges;
} made_export;

typedef enum made_activity { MADE_LAUNCH, MADE_COPY, MADE_SYNC, MADE_SET, MADE_MALLOC } made_activity;

static inline bool made_run(made_export *made, const char *sql) {
    return sqlite3_exec(made->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static inline bool made_row(sqlite3_stmt *row, const int64_t *values, int n, int text_at, const char *text) {
    for (int i = 0; i < n; i++) {
        int status = i == text_at             ? sqlite3_bind_text(row, i + 1, text, -1, SQLITE_STATIC)
                     : values[i] == MADE_NULL ? sqlite3_bind_null(row, i + 1)
                                              : sqlite3_bind_int64(row, i + 1, values[i]);
        if (status != SQLITE_OK) return false;
    }
    return sqlite3_step(row) == SQLITE_DONE && sqlite3_reset(row) == SQLITE_OK;
}

/* Always the same number for (i, salt), below `below`. */
static inline int64_t made_number(uint64_t i, uint64_t salt, uint64_t below) {
    uint64_t x = (i * 8 + salt) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    return (int64_t)((x ^ x >> 32) % below);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static inline made_activity made_activity_of(uint64_t call) {
    uint64_t at = call % MADE_CYCLE;
    return at < 20                 ? MADE_LAUNCH
           : at == 20              ? MADE_COPY
           : at == 21              ? MADE_SYNC
           : call / MADE_CYCLE % 2 ? MADE_SET
                                   : MADE_MALLOC;
}

static inline int64_t made_start_of(uint64_t call) {
    return (int64_t)(call / MADE_THREADS) * 8000 + 1000 + made_number(call, 0, 1000);
}

static inline int64_t made_end_of(uint64_t call) {
    return made_start_of(call) + 2000 + made_number(call, 1, 4000) + (made_activity_of(call) == MADE_SYNC ? 500 : 0);
}

static inline int64_t made_thread_of(uint64_t call) { return MADE_PID | (868881 + (int64_t)(call % MADE_THREADS)); }

static inline int64_t made_name_of(uint64_t call) {
    made_activity kind = made_activity_of(call);
    return MADE_LAUNCH_NAME + (kind == MADE_COPY     ? 1 + made_number(call, 2, 2)
                               : kind == MADE_LAUNCH ? 0
                                                     : (int64_t)kind + 1);
}

static inline bool made_write_strings(made_export *made, sqlite3_stmt *row) {
    static const char *const calls[] = {"cudaLaunchKernel_v7000",      "cudaMemcpyAsync_v3020", "cudaMemcpy_v3020",
                                        "cudaStreamSynchronize_v3020", "cudaMemset_v3020",      "cudaMalloc_v3020"};
    char text[300];
    int64_t id[2] = {0, 0};
    (void)made;
    bool done = true;
    for (int i = 0; i < MADE_KERNELS * 3; i++) {
        static const char *const forms[] = {
            "void solver::detail::stencil_kernel_%d<double, solver::layout::blocked<%d>, 256>(solver::view<double "
            "const>, solver::view<double>, unsigned long, double)",
            "stencil_kernel_%d",
            "_ZN6solver6detail18stencil_kernel_%dIdNS_6layout7blockedILi%dEEELi256EEEvNS_4viewIKdEENS3_IdEEmd"};
        snprintf(text, sizeof text, forms[i % 3], i / 3, 8 << i / 3 % 4);
        id[0] = 1 + i;
        done = done && made_row(row, id, 2, 1, text);
    }
    for (int i = 0; i < 6; i++) {
        id[0] = MADE_LAUNCH_NAME + i;
        done = done && made_row(row, id, 2, 1, calls[i]);
    }
    for (int i = -1; i <= MADE_CALLERS; i++) {
        snprintf(text, sizeof text, "EP\x1f%d\x1fsolver::step_%d(solver::grid&, double)", i, i);
        id[0] = MADE_SYMBOLS + 1 + i;
        done = done && made_row(row, id, 2, 1,
                                i < 0               ? "EXTRA_PROF_SYMBOLS"
                                : i == MADE_CALLERS ? "EXTRA_PROF_SYMBOLS_END"
                                                    : text);
    }
    return done;
}

static inline bool made_write_calls(made_export *made, sqlite3_stmt *row) {
    for (uint64_t i = 0; i < made->calls; i++) {
        int64_t values[] = {made_start_of(i), made_end_of(i),  0, made_thread_of(i),
                            (int64_t)i + 1,   made_name_of(i), 0, MADE_NULL};
        if (!made_row(row, values, 8, -1, NULL)) return false;
    }
    return true;
}

/* ---- activities -------------------------------------------------------------------------------------------------- */

/* The next one on the stream of a call: activities of one stream do not overlap. */
static inline void made_place(uint64_t call, int64_t free_at[MADE_STREAMS], int64_t length, int64_t out[7]) {
    int64_t stream = made_number(call, 3, MADE_STREAMS), start = made_end_of(call) + made_number(call, 4, 2000);
    if (start < free_at[stream]) start = free_at[stream] + 700;
    free_at[stream] = start + length;
    int64_t place[] = {start, start + length, stream / 4, 1 + stream / 4, 13 + stream, (int64_t)call + 1, MADE_PID};
    memcpy(out, place, sizeof place);
}

/* What kernels, copies or memsets: one table at a time, rows in the order of calls. */
static inline bool made_write_activities(made_export *made, sqlite3_stmt *row, made_activity kind, uint64_t *n) {
    int64_t free_at[MADE_STREAMS] = {0}, values[24];
    for (uint64_t i = 0; i < made->calls; i++) {
        made_activity its = made_activity_of(i);
        if (its == MADE_SYNC || its == MADE_MALLOC) continue;
        made_place(i, free_at, its == MADE_LAUNCH ? 1500 + made_number(i, 5, 18000) : 1000 + made_number(i, 5, 3000),
                   values);
        if (its != kind) continue;
        int64_t function = 1 + 3 * made_number(i, 6, MADE_KERNELS), blocks = 1 + made_number(i, 7, 4096);
        int64_t kernel[] = {function, function + 1, function + 2, 0, 0, 32, blocks, 1, 1, 256, 1, 1, 0, 4096, 0,
                            0,        (int64_t)i};
        int64_t size = 4096 * blocks, copy[] = {size, 1 + made_number(i, 6, 2), made_number(i, 7, 3), 2},
                set[] = {0, size, 2};
        const int64_t *more = its == MADE_LAUNCH ? kernel : its == MADE_COPY ? copy : set;
        int n_more = its == MADE_LAUNCH ? 17 : its == MADE_COPY ? 4 : 3;
        memcpy(values + 7, more, (size_t)n_more * sizeof *more);
        if (!made_row(row, values, 7 + n_more, -1, NULL)) return false;
        ++*n;
    }
    return true;
}

static inline bool made_write_kernels(made_export *made, sqlite3_stmt *row) {
    return made_write_activities(made, row, MADE_LAUNCH, &made->kernels);
}
static inline bool made_write_copies(made_export *made, sqlite3_stmt *row) {
    return made_write_activities(made, row, MADE_COPY, &made->copies);
}
static inline bool made_write_sets(made_export *made, sqlite3_stmt *row) {
    return made_write_activities(made, row, MADE_SET, &made->sets);
}

static inline bool made_write_syncs(made_export *made, sqlite3_stmt *row) {
    for (uint64_t i = 21; i < made->calls; i += MADE_CYCLE, made->syncs++) {
        int64_t values[] = {made_start_of(i) + 200,
                            made_end_of(i) - 100,
                            0,
                            1,
                            13 + made_number(i, 3, MADE_STREAMS),
                            (int64_t)i + 1,
                            MADE_PID,
                            3,
                            4294967295};
        if (!made_row(row, values, 9, -1, NULL)) return false;
    }
    return true;
}

/* A range of one thread around its calls first … first + n - 1. */
static inline bool made_range(made_export *made, sqlite3_stmt *row, int thread, uint64_t first, uint64_t n,
                              const char *path, int depth) {
    uint64_t count = made->calls / MADE_THREADS, last = first + n < count ? first + n : count;
    int64_t values[] = {(int64_t)first * 8000 + 10 * depth,
                        (int64_t)last * 8000 + 7900 - 10 * depth - 8000,
                        59,
                        MADE_NULL,
                        MADE_NULL,
                        0,
                        MADE_PID | (868881 + thread),
                        MADE_NULL,
                        1,
                        depth};
    made->ranges++;
    return made_row(row, values, 10, 5, path);
}

static inline bool made_write_ranges(made_export *made, sqlite3_stmt *row) {
    enum { INNER = 100, OUTER = 10000 };
    int64_t domain[] = {0, MADE_NULL, 75, MADE_NULL, MADE_NULL, 0, MADE_PID | 868881, MADE_NULL, 1, MADE_NULL};
    if (!made_row(row, domain, 10, 5, "de.tu-darmstadt.parallel.extra_prof")) return false;
    uint64_t count = made->calls / MADE_THREADS;
    bool done = true;
    char path[64];
    for (int t = 0; t < MADE_THREADS; t++) {
        done = done && made_range(made, row, t, 0, count,
                                  "\x1f"
                                  "0",
                                  0);
        for (uint64_t i = 0; i < count; i += OUTER) {
            snprintf(path, sizeof path,
                     "\x1f"
                     "0\x1f%d",
                     (int)(1 + i / OUTER % 3));
            done = done && made_range(made, row, t, i, OUTER, path, 1);
        }
        for (uint64_t i = 0; i < count; i += INNER) {
            snprintf(path, sizeof path,
                     "\x1f"
                     "0\x1f%d\x1f%d",
                     (int)(1 + i / OUTER % 3), (int)(4 + made_number(i, 0, 6)));
            done = done && made_range(made, row, t, i, INNER, path, 2);
        }
    }
    return done;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

#define MADE_GPU                                                                                                       \
    "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, "       \
    "globalPid INTEGER, "

static const struct made_table {
    const char *name, *columns;
    int n;
    bool (*write)(made_export *made, sqlite3_stmt *row);
} made_tables[] = {
    {"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL", 2, made_write_strings},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, "
     "returnValue INTEGER, callchainId INTEGER",
     8, made_write_calls},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     MADE_GPU "demangledName INTEGER, shortName INTEGER, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, "
              "registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, "
              "blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory "
              "INTEGER, localMemoryPerThread INTEGER, localMemoryTotal INTEGER, gridId INTEGER",
     24, made_write_kernels},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", MADE_GPU "bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER", 11,
     made_write_copies},
    {"CUPTI_ACTIVITY_KIND_MEMSET", MADE_GPU "value INTEGER, bytes INTEGER, memKind INTEGER", 10, made_write_sets},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", MADE_GPU "syncType INTEGER, eventId INTEGER", 9, made_write_syncs},
    {"NVTX_EVENTS",
     "start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, text TEXT, globalTid INTEGER, "
     "textId INTEGER, domainId INTEGER, uint32Value INTEGER",
     10, made_write_ranges},
};

/* About n_kernels of them. False where that fails: `made->db` says why until made_close(). */
static inline bool make_export(made_export *made, const char *path, uint64_t n_kernels) {
    *made = (made_export){.calls = n_kernels / 20 * MADE_CYCLE};
    if (sqlite3_open(path, &made->db) != SQLITE_OK) return false;
    if (!made_run(made, "pragma page_size = 4096; pragma journal_mode = off; pragma synchronous = off; pragma "
                        "locking_mode = exclusive; begin;"
                        "create table EXPORT_META_DATA (name TEXT, value TEXT); insert into EXPORT_META_DATA values "
                        "('EXPORT_PRODUCT_VERSION', '2022.1.1'), ('EXPORT_SCHEMA_VERSION', '2.9.1');"
                        "create table TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, smCount INTEGER, "
                        "threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, computeMajor INTEGER, computeMinor INTEGER);"
                        "insert into TARGET_INFO_GPU values (0, 0, 'Made GPU', 108, 32, 64, 8, 0), (0, 1, 'Made GPU', "
                        "108, 32, 64, 8, 0)"))
        return false;
    for (size_t i = 0; i < sizeof made_tables / sizeof *made_tables; i++) {
        const struct made_table *table = &made_tables[i];
        char sql[1200];
        snprintf(sql, sizeof sql, "create table %s (%s)", table->name, table->columns);
        if (!made_run(made, sql)) return false;
        snprintf(sql, sizeof sql, "insert into %s values (?%.*s)", table->name, 2 * (table->n - 1),
                 ",?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?");
        sqlite3_stmt *row = NULL;
        bool done = sqlite3_prepare_v2(made->db, sql, -1, &row, NULL) == SQLITE_OK && table->write(made, row);
        sqlite3_finalize(row);
        if (!done) return false;
    }
    return made_run(made, "commit");
}

static inline void made_close(made_export *made) {
    sqlite3_close(made->db);
    made->db = NULL;
}

#endif
