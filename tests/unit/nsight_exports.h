/* Exports filled by hand, for tests of what is made of them. Include it behind cmocka.h. */
#ifndef AS_TESTS_NSIGHT_EXPORTS_H
#define AS_TESTS_NSIGHT_EXPORTS_H

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/nsight/export.h"
#include "temporary.h"

typedef struct made_export {
    as_dataset *ds;
    as_reader reader;
    as_input input;
    as_input *file; /* of one that was loaded */
    assay_error error;
    as_ns_export *x;
} made_export;

#define ADD(made, member, ...) assert_true(as_vec_append(&(made)->x->member, &__VA_ARGS__, 1))

static inline as_str text_of(made_export *made, const char *words) { return as_ds_intern_text(made->ds, words); }

static inline assay_id add_place(made_export *made, const char *kind, const char *name, assay_id parent, bool is_leaf) {
    as_location location = AS_LOCATION_INIT;
    location.kind = text_of(made, kind);
    location.name = text_of(made, name);
    location.parent = parent;
    location.leaf = is_leaf;
    return as_add_location(made->ds, &location);
}

/* A process 7 with the threads 8 and 9 (rows 0 and 1), a device 0 that holds 1000 threads with two streams. */
static inline void make_places(made_export *made) {
    as_run run = AS_RUN_INIT;
    made->x->run = as_add_run(made->ds, &run);
    assay_id process = add_place(made, "process", "process 7", ASSAY_NONE, false);
    ADD(made, processes, (as_ns_process){.pid = 7, .name = AS_NO_STR, .location = process});
    for (uint32_t tid = 8; tid <= 9; tid++) {
        assay_id thread = add_place(made, "thread", tid == 8 ? "thread 8" : "thread 9", process, true);
        ADD(made, threads, (as_ns_thread){.process = 0, .tid = tid, .name = AS_NO_STR, .location = thread});
    }
    assay_id device = add_place(made, "device", "device 0", ASSAY_NONE, false);
    ADD(made, devices, (as_ns_device){.id = 0, .name = AS_NO_STR, .max_threads = 1000, .location = device});
    for (int64_t i = 0; i < 2; i++) {
        assay_id stream = add_place(made, "stream", i ? "stream 1" : "stream 0", device, true);
        ADD(made, streams, (as_ns_stream){.process = 0, .device = 0, .stream = i, .location = stream});
    }
}

static inline void make_export(made_export *made, as_ns_mode mode) {
    *made = (made_export){.ds = as_dataset_new(0), .input = {.path = "made.sqlite"}};
    assert_non_null(made->ds);
    made->reader =
        (as_reader){.input = &made->input, .dataset = made->ds, .max_depth = 1024, .error = &made->error, .threads = 2};
    as_ns_export *x = made->x = as_arena_alloc(&made->ds->arena, sizeof *made->x);
    assert_non_null(x);
    as_ns_export_init(x, made->ds);
    x->reader = &made->reader;
    x->mode = mode;
    make_places(made);
}

/* One that SQL makes, loaded. */
static inline void load_export(made_export *made, const char *sql) {
    const char *path = temporary_path("export");
    sqlite3 *db;
    char *message = NULL;
    remove(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
    sqlite3_close(db);
    *made = (made_export){.ds = as_dataset_new(0)};
    assert_non_null(made->ds);
    assert_int_equal(as_input_open(path, NULL, &made->file, &made->error), ASSAY_OK);
    made->reader =
        (as_reader){.input = made->file, .dataset = made->ds, .max_depth = 1024, .error = &made->error, .threads = 2};
    as_ns_export *x = made->x = as_arena_alloc(&made->ds->arena, sizeof *made->x);
    assert_non_null(x);
    as_ns_export_init(x, made->ds);
    x->reader = &made->reader;
    assert_int_equal(as_database_open(made->file, &made->ds->budget, &x->db, &made->error), ASSAY_OK);
    if (as_ns_load(x) != ASSAY_OK) fail_msg("%s", made->error.message);
}

static inline void free_export(made_export *made) {
    as_ns_export_release(made->x);
    if (made->file) as_input_close(made->file);
    as_dataset_free(made->ds);
}

/* An entry of Extra-Prof's table of symbols. */
static inline void add_symbol(made_export *made, const char *number, const char *name) {
    as_ns_symbols *symbols = &made->x->symbols;
    as_str id = as_intern(&symbols->numbers, number, strlen(number)), known = text_of(made, name);
    assert_int_equal(id, symbols->names.count);
    assert_true(as_vec_append(&symbols->names, &known, 1));
}

/* ---- activities: each function returns the row ------------------------------------------------------------------- */

static inline uint32_t add_call(made_export *made, uint32_t thread, const char *name, int64_t start, int64_t end) {
    as_ns_call call = {
        .span = {start, end}, .thread = thread, .name = text_of(made, name), .chain = AS_NS_NONE, .correlation = 0};
    ADD(made, calls, call);
    return (uint32_t)made->x->calls.count - 1;
}

/* path: of Extra-Prof's; NULL: name is all there is. */
static inline uint32_t add_range(made_export *made, uint32_t thread, const char *name, const char *path, int64_t start,
                                 int64_t end) {
    as_ns_range range = {.span = {start, end},
                         .thread = thread,
                         .type = 59,
                         .name = text_of(made, name ? name : path),
                         .path = path ? as_intern(&made->x->symbols.stored, path, strlen(path)) : AS_NO_STR,
                         .domain = AS_NS_NONE};
    ADD(made, ranges, range);
    return (uint32_t)made->x->ranges.count - 1;
}

/* A kernel of so many threads. */
static inline uint32_t add_kernel(made_export *made, uint32_t call, uint32_t stream, const char *name, int64_t start,
                                  int64_t end, int64_t threads) {
    as_str known = text_of(made, name);
    uint32_t function = 0;
    while (function < made->x->functions.count && AS_NS_AT(as_ns_function, made->x, functions, function)->name != known)
        function++;
    if (function == made->x->functions.count) ADD(made, functions, (as_ns_function){known, known, AS_NO_STR});
    ADD(made, shapes, (as_ns_shape){{threads, 1, 1}, {1, 1, 1}, -1, -1, -1});
    as_ns_activity kernel = {.span = {start, end},
                             .call = call,
                             .stream = stream,
                             .what = function,
                             .detail = (uint32_t)made->x->shapes.count - 1};
    ADD(made, kernels, kernel);
    return (uint32_t)made->x->kernels.count - 1;
}

enum { PAGEABLE = 0, PINNED = 1, DEVICE = 2 };

/* A copy from the host to the device. */
static inline uint32_t add_copy(made_export *made, uint32_t call, uint32_t stream, uint32_t memory, int64_t start,
                                int64_t end, uint64_t bytes) {
    as_ns_activity copy = {.span = {start, end},
                           .call = call,
                           .stream = stream,
                           .what = 1,
                           .detail = memory * 256 + DEVICE,
                           .bytes = bytes};
    ADD(made, copies, copy);
    return (uint32_t)made->x->copies.count - 1;
}

static inline uint32_t add_memset(made_export *made, uint32_t call, uint32_t stream, int64_t start, int64_t end,
                                  uint64_t bytes) {
    as_ns_activity set = {
        .span = {start, end}, .call = call, .stream = stream, .what = 0, .detail = DEVICE, .bytes = bytes};
    ADD(made, sets, set);
    return (uint32_t)made->x->sets.count - 1;
}

static inline uint32_t add_sync(made_export *made, uint32_t call, const char *name, int64_t start, int64_t end) {
    as_ns_sync sync = {.span = {start, end}, .call = call, .stream = AS_NS_NONE, .name = text_of(made, name)};
    ADD(made, syncs, sync);
    return (uint32_t)made->x->syncs.count - 1;
}

static inline uint32_t add_osrt(made_export *made, uint32_t thread, const char *name, uint32_t nesting, int64_t start,
                                int64_t end) {
    as_ns_osrt osrt = {.span = {start, end}, .thread = thread, .name = text_of(made, name), .nesting = nesting};
    ADD(made, osrt, osrt);
    return (uint32_t)made->x->osrt.count - 1;
}

#endif
