#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "formats/nsight/export.h"
#include "temporary.h"

/* ---- exports made of SQL, loaded --------------------------------------------------------------------------------- */

#define RUNTIME                                                                                                        \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, "    \
    "correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);"
#define KERNEL                                                                                                         \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, "       \
    "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, "           \
    "gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);"
#define STRINGS                                                                                                        \
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"                                   \
    "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'saxpy'), (3, 'saxpy(int)'), (4, 'cudaMemcpy'),"  \
    "(5, 'cudaDeviceSynchronize');"
#define NVTX                                                                                                           \
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, "          \
    "textId INTEGER, domainId INTEGER);"
#define SYNC                                                                                                           \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, "                 \
    "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER);"

/* Process 10 of machine 1, threads 10 and 11; process 20, thread 20. */
#define P10 "281475144482816"
#define T10 "281475144482826"
#define T11 "281475144482827"
#define P20 "281475312254976"
#define T20 "281475312254996"

typedef struct loaded {
    as_input *input;
    as_dataset *ds;
    as_ns_export x;
    as_reader reader;
    assay_error error;
    assay_status status;
} loaded;

static void make(const char *sql) {
    const char *path = temporary_path("export");
    sqlite3 *db;
    char *message = NULL;
    remove(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
    sqlite3_close(db);
}

static void load_with(unsigned threads, uint64_t limit, loaded *l) {
    const char *path = temporary_path("export");
    *l = (loaded){0};
    l->ds = as_dataset_new(limit);
    if (!l->ds) fail();
    assert_int_equal(as_input_open(path, NULL, &l->input, &l->error), ASSAY_OK);
    l->reader = (as_reader){.input = l->input, .dataset = l->ds, .error = &l->error, .threads = threads};
    as_ns_export_init(&l->x, l->ds);
    l->x.reader = &l->reader;
    l->status = as_database_open(l->input, &l->ds->budget, &l->x.db, &l->error);
    if (l->status == ASSAY_OK) l->status = as_ns_load(&l->x);
}

static loaded *load(const char *sql) {
    loaded *l = malloc(sizeof *l);
    make(sql);
    load_with(0, 0, l);
    if (l->status != ASSAY_OK) fail_msg("%s", l->error.message);
    return l;
}

static void unload_parts(loaded *l) {
    as_ns_export_release(&l->x);
    as_input_close(l->input);
    as_dataset_free(l->ds);
}

static void unload(loaded *l) {
    unload_parts(l);
    free(l);
}

static const char *text_of(const loaded *l, as_str text) {
    const char *found = as_ds_text(l->ds, text);
    return found ? found : "(none)";
}

static const as_ns_activity *kernel_at(const loaded *l, size_t i) {
    return AS_NS_AT(as_ns_activity, &l->x, kernels, i);
}
static const as_ns_call *call_at(const loaded *l, size_t i) { return AS_NS_AT(as_ns_call, &l->x, calls, i); }
static const as_ns_range *range_at(const loaded *l, size_t i) { return AS_NS_AT(as_ns_range, &l->x, ranges, i); }
static const as_ns_sync *sync_at(const loaded *l, size_t i) { return AS_NS_AT(as_ns_sync, &l->x, syncs, i); }
static const char *location_name(const loaded *l, assay_id location) {
    return text_of(l, as_ds_location(l->ds, location)->name);
}

/* ---- activities -------------------------------------------------------------------------------------------------- */

static void a_call_and_its_kernel(void **state) {
    (void)state;
    loaded *l =
        load(STRINGS RUNTIME KERNEL
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 150, 0, " T10 ", 7, 1, 0, NULL);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (200, 300, 0, 1, 9, 7, " P10 ", 3, 2, 4, 2, 1, 32, 1, 1);");
    assert_int_equal(l->x.calls.count, 1);
    assert_int_equal(l->x.kernels.count, 1);
    const as_ns_call *call = call_at(l, 0);
    const as_ns_activity *kernel = kernel_at(l, 0);
    assert_true(call->span.start == 100 && call->span.end == 150 && call->correlation == 7 &&
                call->chain == AS_NS_NONE);
    assert_string_equal(text_of(l, call->name), "cudaLaunchKernel_v7000");
    assert_int_equal(kernel->call, 0);
    const as_ns_function *function = AS_NS_AT(as_ns_function, &l->x, functions, kernel->what);
    assert_string_equal(text_of(l, function->name), "saxpy");
    assert_string_equal(text_of(l, function->demangled), "saxpy(int)");
    assert_int_equal(function->mangled, AS_NO_STR); /* there is no such column */
    const as_ns_shape *shape = AS_NS_AT(as_ns_shape, &l->x, shapes, kernel->detail);
    assert_true(shape->grid[0] == 4 && shape->grid[1] == 2 && shape->block[0] == 32 && shape->registers == -1);
    const as_ns_thread *thread = AS_NS_AT(as_ns_thread, &l->x, threads, call->thread);
    assert_true(thread->tid == 10 && AS_NS_AT(as_ns_process, &l->x, processes, thread->process)->pid == 10);
    assert_string_equal(location_name(l, thread->location), "thread 10");
    assert_true(as_ds_location(l->ds, thread->location)->leaf);
    const as_ns_stream *stream = AS_NS_AT(as_ns_stream, &l->x, streams, kernel->stream);
    assert_true(stream->stream == 9 && stream->context == 1 && stream->process == thread->process);
    assert_string_equal(location_name(l, stream->location), "stream 9");
    assert_string_equal(location_name(l, as_ds_location(l->ds, stream->location)->parent), "device 0");
    assert_int_equal(l->x.mode, AS_NS_PLAIN);
    assert_int_equal(l->x.origin, 0);
    unload(l);
}

/* Rows of a call with and without a chain are one, at the place of the first; 0 and NULL are no numbers. */
static void calls_that_are_there_twice(void **state) {
    (void)state;
    loaded *l =
        load(STRINGS RUNTIME KERNEL "CREATE TABLE CUDA_CALLCHAINS (id INTEGER);"
                                    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
                                    "(100, 150, 0, " T10 ", 7, 1, 0, NULL), (160, 170, 0, " T10 ", 0, 4, 0, NULL),"
                                    "(101, 149, 67, " T11 ", 7, 2, 0, 5), (180, 190, 0, " T20 ", 7, 4, 0, NULL),"
                                    "(200, 210, 0, " T10 ", 0, 4, 0, NULL), (220, 230, 0, " T10 ", NULL, 4, 0, NULL),"
                                    "(240, 250, 67, " T10 ", 9, 3, 0, 6), (240, 250, 0, " T10 ", 9, 4, 0, NULL);"
                                    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
                                    "(300, 310, 0, 1, 9, 7, " P20 ", 3, 2, 1, 1, 1, 1, 1, 1),"
                                    "(310, 320, 0, 1, 9, 9, " P10 ", 3, 2, 1, 1, 1, 1, 1, 1),"
                                    "(310, 320, 0, 1, 9, 0, " P10 ", 3, 2, 1, 1, 1, 1, 1, 1);");
    assert_int_equal(l->x.calls.count, 6);
    static const int64_t starts[] = {101, 160, 180, 200, 220, 240};
    for (size_t i = 0; i < 6; i++) assert_int_equal(call_at(l, i)->span.start, starts[i]);
    assert_int_equal(call_at(l, 0)->chain, 5);
    assert_string_equal(text_of(l, call_at(l, 0)->name), "saxpy");
    assert_int_equal(call_at(l, 5)->chain, 6);
    assert_int_equal(kernel_at(l, 0)->call, 2);
    assert_int_equal(kernel_at(l, 1)->call, 5);
    assert_int_equal(kernel_at(l, 2)->call, AS_NS_NONE);
    assert_int_equal(l->x.n_no_call, 0); /* that one said that it has none */
    assert_int_equal(l->x.mode, AS_NS_CHAINS);
    unload(l);
}

/* Numbers far apart, so that no table of them can be made. */
static void numbers_far_apart(void **state) {
    (void)state;
    loaded *l =
        load(STRINGS RUNTIME KERNEL
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 150, 0, " T10 ", 9000000000000000000, 1, 0, NULL),"
             "(200, 250, 0, " T10 ", -9000000000000000000, 1, 0, NULL), (300, 350, 0, " T10 ", 5, 1, 0, NULL),"
             "(400, 450, 67, " T10 ", -9000000000000000000, 1, 0, 3), (500, 550, 0, " T20 ", 5, 1, 0, NULL);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
             "(600, 610, 0, 1, 9, -9000000000000000000, " P10 ", 3, 2, 1, 1, 1, 1, 1, 1),"
             "(600, 610, 0, 1, 9, 5, " P10 ", 3, 2, 1, 1, 1, 1, 1, 1),"
             "(600, 610, 0, 1, 9, 6, " P10 ", 3, 2, 1, 1, 1, 1, 1, 1),"
             "(600, 610, 0, 1, 9, 9000000000000000000, NULL, 3, 2, 1, 1, 1, 1, 1, 1),"
             "(600, 610, 0, 1, 9, 5, NULL, 3, 2, 1, 1, 1, 1, 1, 1);");
    assert_int_equal(l->x.calls.count, 4);
    static const uint32_t calls[] = {1, 2, AS_NS_NONE, 0, 2};
    for (size_t i = 0; i < 5; i++) assert_int_equal(kernel_at(l, i)->call, calls[i]);
    assert_int_equal(call_at(l, 1)->chain, 3);
    assert_int_equal(l->x.n_no_call, 1);
    assert_int_equal(l->x.n_many_calls, 1); /* 5 is the number of a call in two processes */
    unload(l);
}

/* An activity that names no process goes by its number alone; one that names another process than any call has none. */
static void activities_without_a_process(void **state) {
    (void)state;
    loaded *l = load(
        STRINGS RUNTIME KERNEL
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 150, 0, " T10 ", 1, 1, 0, NULL),"
        "(200, 250, 0, " T20 ", 1, 1, 0, NULL), (300, 350, 0, " T20 ", 2, 1, 0, NULL);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
        "(600, 610, 0, 1, 9, 2, NULL, 3, 2, 1, 1, 1, 1, 1, 1), (600, 610, 0, 1, 9, 1, NULL, 3, 2, 1, 1, 1, 1, 1, 1),"
        "(600, 610, 0, 1, 9, 2, " P10 ", 3, 2, 1, 1, 1, 1, 1, 1);");
    assert_int_equal(kernel_at(l, 0)->call, 2);
    assert_int_equal(kernel_at(l, 1)->call, 0);
    assert_int_equal(kernel_at(l, 2)->call, AS_NS_NONE);
    assert_int_equal(l->x.n_many_calls, 1);
    assert_int_equal(l->x.n_no_call, 1);
    assert_int_equal(l->x.streams.count, 2);
    assert_int_equal(AS_NS_AT(as_ns_stream, &l->x, streams, kernel_at(l, 0)->stream)->process, AS_NS_NONE);
    unload(l);
}

static void copies_memsets_and_graphs(void **state) {
    (void)state;
    loaded *l = load(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, "
        "correlationId INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 7, 3, 4096, 1, 0, 2), (3, 4, 1, 7, 3, 5, 99, NULL, 2),"
        "(5, 6, 0, 7, 3, 5, 8, NULL, NULL), (5, 6, 0, 7, 3, -5, 8, 0, 0);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, streamId INTEGER, value INTEGER, bytes "
        "INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1, 2, 7, 4294967295, 64);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, graphId INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (10, 20, 3);");
    assert_int_equal(l->x.copies.count, 3);
    const as_ns_activity *copies = l->x.copies.data, *set = l->x.sets.data, *graph = l->x.graphs.data;
    assert_true(copies[0].what == 1 && copies[0].bytes == 4096 && copies[0].detail == 2 && copies[0].correlation == 3);
    assert_true(copies[1].what == 99 && copies[1].detail == 255 * 256 + 2);
    assert_true(copies[2].what == 8 && copies[2].detail == AS_NS_NONE);
    assert_true(set->what == 4294967295 && set->bytes == 64 && set->detail == AS_NS_NONE && set->call == AS_NS_NONE);
    assert_true(graph->what == 3 && graph->span.end == 20);
    assert_int_equal(l->x.n_wrong_type, 1); /* nobody copies -5 bytes */
    assert_int_equal(l->x.devices.count, 2);
    assert_int_equal(l->x.n_no_call, 3);
    unload(l);
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

#define WAITS                                                                                                          \
    STRINGS RUNTIME SYNC                                                                                               \
        "INSERT INTO StringIds VALUES (10, 'cudaStreamSynchronize_v3020'), (11, 'cuEventSynchronize'), "               \
        "(12, 'cudaStreamWaitEvent'), (13, 'cuCtxSynchronize');"                                                       \
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, " T10 ", 1, 5, 0, NULL), (3, 4, 0, " T10             \
        ", 2, 10, 0, NULL), (5, 6, 0, " T10 ", 3, 11, 0, NULL), (7, 8, 0, " T10 ", 4, 12, 0, NULL), (9, 10, 0, " T10   \
        ", 5, 13, 0, NULL), (11, 12, 0, " T10 ", 6, 4, 0, NULL);"                                                      \
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 2, 0, 1, 4294967295, 1, " P10 ", 1), "             \
        "(3, 4, 0, 1, 7, 2, " P10 ", 3), (5, 6, 0, 1, NULL, 3, " P10 ", 2), (7, 8, 0, 1, 7, 4, " P10 ", 2), "          \
        "(9, 10, 0, 1, 7, 5, NULL, 1), (11, 12, 0, 1, 7, 6, " P10 ", 3), (13, 14, 0, 1, 7, 0, " P10 ", 77);"

static void waits_are_named_by_their_calls(void **state) {
    (void)state;
    loaded *l = load(WAITS);
    static const char *const names[] = {"CONTEXT_SYNCHRONIZE", "STREAM_SYNCHRONIZE",  "EVENT_SYNCHRONIZE",
                                        "STREAM_WAIT_EVENT",   "CONTEXT_SYNCHRONIZE", "STREAM_SYNCHRONIZE",
                                        "UNKNOWN_SYNC_TYPE_77"};
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(text_of(l, sync_at(l, i)->name), names[i]);
        assert_int_equal(sync_at(l, i)->has_sure_name, i < 5);
        assert_int_equal(sync_at(l, i)->call, i < 6 ? i : AS_NS_NONE);
    }
    assert_int_equal(sync_at(l, 0)->stream, AS_NS_NONE);
    assert_int_equal(sync_at(l, 2)->stream, AS_NS_NONE);
    assert_int_equal(AS_NS_AT(as_ns_stream, &l->x, streams, sync_at(l, 1)->stream)->stream, 7);
    assert_int_equal(sync_at(l, 4)->process, AS_NS_NONE);
    assert_int_equal(AS_NS_AT(as_ns_process, &l->x, processes, sync_at(l, 1)->process)->pid, 10);
    unload(l);
}

static void waits_are_named_by_the_export(void **state) {
    (void)state;
    loaded *l =
        load(WAITS "CREATE TABLE ENUM_CUPTI_SYNC_TYPE (id INTEGER PRIMARY KEY, name TEXT, label TEXT);"
                   "INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES (1, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_SOMETHING', 'x'),"
                   "(77, 'Other', 'y')");
    assert_string_equal(text_of(l, sync_at(l, 0)->name), "SOMETHING");
    assert_string_equal(text_of(l, sync_at(l, 1)->name), "STREAM_SYNCHRONIZE");
    assert_string_equal(text_of(l, sync_at(l, 6)->name), "Other");
    assert_true(sync_at(l, 6)->has_sure_name);
    unload(l);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static void ranges_marks_and_domains(void **state) {
    (void)state;
    loaded *l = load(STRINGS NVTX
                     "INSERT INTO NVTX_EVENTS VALUES (5, 9, 59, 'inner', " T10 ", NULL, 3), (1, NULL, 75, 'mine', " T10
                     ", NULL, 3), (1, NULL, 75, 'other', " T20 ", NULL, 3), (2, NULL, 75, NULL, " T10 ", 4, 4),"
                     "(6, NULL, 34, NULL, " T10 ", 2, 3), (7, 8, 60, 'x', " T20 ", 2, 3), (7, NULL, 60, 'open', " T20
                     ", NULL, 0), (8, 9, 59, NULL, " T10 ", NULL, NULL), (8, 9, 59, 'by id', " T10 ", 99, 4),"
                     "(9, 10, 70, NULL, " T10 ", 99, NULL), (1, 1, 33, 'category', " T10
                     ", NULL, 3), (1, NULL, 39, 'worker', " T10
                     ", NULL, NULL), (20, 10, 71, cast(x'61ff0a62' as text), NULL, NULL, NULL)");
    static const struct {
        const char *name, *domain;
        uint32_t type;
        int64_t end;
    } expected[] = {{"inner", "mine", 59, 9},         {"saxpy", "mine", 34, AS_NS_OPEN}, {"x", "other", 60, 8},
                    {"open", NULL, 60, AS_NS_OPEN},   {"by id", "cudaMemcpy", 59, 9},    {"[string 99]", NULL, 70, 10},
                    {"a\xef\xbf\xbd b", NULL, 71, 10}};
    assert_int_equal(l->x.ranges.count, 7);
    for (size_t i = 0; i < 7; i++) {
        const as_ns_range *range = range_at(l, i);
        assert_string_equal(text_of(l, range->name), expected[i].name);
        assert_int_equal(range->type, expected[i].type);
        assert_int_equal(range->span.end, expected[i].end);
        assert_int_equal(range->path, AS_NO_STR);
        if (!expected[i].domain)
            assert_int_equal(range->domain, AS_NS_NONE);
        else
            assert_string_equal(text_of(l, AS_NS_AT(as_ns_domain, &l->x, domains, range->domain)->name),
                                expected[i].domain);
    }
    assert_int_equal(l->x.n_open_ranges, 1);
    assert_int_equal(l->x.n_unnamed, 1);
    assert_int_equal(l->x.n_no_string, 1);
    assert_int_equal(l->x.n_negative, 1);
    assert_int_equal(l->x.mode, AS_NS_PLAIN);
    assert_string_equal(text_of(l, AS_NS_AT(as_ns_thread, &l->x, threads, range_at(l, 0)->thread)->name), "worker");
    assert_string_equal(location_name(l, AS_NS_AT(as_ns_thread, &l->x, threads, range_at(l, 0)->thread)->location),
                        "thread 10 (worker)");
    unload(l);
}

/* Extra-Prof's domain is a process's own; its ranges are call paths, perhaps encoded. */
static void ranges_of_extra_prof(void **state) {
    (void)state;
    loaded *l =
        load(STRINGS NVTX
             "INSERT INTO StringIds VALUES (20, 'EXTRA_PROF_SYMBOLS'), (21, 'EP' || char(31) || '2s' || char(31) || "
             "'f->g(int)'), (22, 'EXTRA_PROF_SYMBOLS_END');"
             "INSERT INTO NVTX_EVENTS VALUES (1, NULL, 75, 'de.tu-darmstadt.parallel.extra_prof', " T10 ", NULL, 1),"
             "(2, 9, 59, 'main->solve', " T11 ", NULL, 1), (3, 8, 59, char(31) || '2s' || char(31) || 'zz', " T10
             ", NULL, 1), (3, 8, 60, 'no->region', " T10 ", NULL, 1), (3, 8, 59, 'no->region', " T20 ", NULL, 1)");
    static const char *const names[] = {"main->solve", "f- >g(int)->[0xzz]", "no->region", "no->region"};
    for (size_t i = 0; i < 4; i++) assert_string_equal(text_of(l, range_at(l, i)->name), names[i]);
    const as_strings *stored = &l->x.symbols.stored;
    assert_string_equal(as_str_text(stored, range_at(l, 0)->path), "main->solve");
    assert_string_equal(as_str_text(stored, range_at(l, 1)->path), "\x1f"
                                                                   "2s\x1fzz");
    assert_int_equal(range_at(l, 2)->path, AS_NO_STR);
    assert_int_equal(range_at(l, 3)->path, AS_NO_STR);
    assert_int_equal(l->x.mode, AS_NS_RANGES);
    unload(l);
}

/* ---- the rest of the host ---------------------------------------------------------------------------------------- */

static void os_runtime_and_samples(void **state) {
    (void)state;
    loaded *l = load(
        STRINGS
        "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, nestingLevel INTEGER);"
        "INSERT INTO OSRT_API VALUES (1, 5, " T10 ", 4, 0), (2, 3, " T10 ", NULL, 1);"
        "CREATE TABLE COMPOSITE_EVENTS (id INTEGER, start INTEGER, globalTid INTEGER);"
        "INSERT INTO COMPOSITE_EVENTS VALUES (7, 1, " T10 "), (8, 2, " T10 "), (9, 3, " T11 "), (7, 4, " T11 ");"
        "CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER, symbol INTEGER, stackDepth INTEGER);"
        "INSERT INTO SAMPLING_CALLCHAINS VALUES (7, 4, 1), (7, 2, 0), (9, 3, 2), (9, 4, 5), (55, 4, 0)");
    const as_ns_osrt *osrt = l->x.osrt.data;
    assert_int_equal(l->x.osrt.count, 2);
    assert_string_equal(text_of(l, osrt[0].name), "cudaMemcpy");
    assert_string_equal(text_of(l, osrt[1].name), "[unnamed]");
    assert_int_equal(osrt[1].nesting, 1);
    static const char *const names[] = {"saxpy", "[unknown]", "saxpy(int)", "saxpy"};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(text_of(l, AS_NS_AT(as_ns_sample, &l->x, samples, i)->name), names[i]);
    assert_int_equal(AS_NS_AT(as_ns_sample, &l->x, samples, 3)->chain, 7);
    assert_int_equal(l->ds->locations.count, 3); /* a process and two threads */
    unload(l);
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

#define KERNELS_ON_TWO                                                                                                 \
    KERNEL "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 1, 9, 7, " P10 ", 3, 2, 1, 1, 1, 1, 1, 1),"        \
           "(1, 2, 1, 1, 9, 7, " P20 ", 3, 2, 1, 1, 1, 1, 1, 1);"

static const as_ns_device *device_of_kernel(const loaded *l, size_t i) {
    uint32_t stream = kernel_at(l, i)->stream;
    return AS_NS_AT(as_ns_device, &l->x, devices, AS_NS_AT(as_ns_stream, &l->x, streams, stream)->device);
}

static void devices_are_gpus(void **state) {
    (void)state;
    static const char gpus[] =
        "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, threadsPerWarp INTEGER, "
        "maxWarpsPerSm INTEGER, computeMajor INTEGER);"
        "INSERT INTO TARGET_INFO_GPU VALUES (0, 'Display', 0, 0, 0, 0), (1, 'A', 10, 32, 64, 7), "
        "(2, 'B', 20, 32, 64, 8);";
    static const char maps[] = "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
                               "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (2, 0, 10), (2, 1, 20), (1, 0, 20);";
    char sql[2048];
    /* 0 is no GPU that computes, so it is the first that does; 1 is that one itself */
    snprintf(sql, sizeof sql, STRINGS KERNELS_ON_TWO "%s", gpus);
    loaded *l = load(sql);
    assert_int_equal(l->x.devices.count, 2);
    assert_string_equal(text_of(l, device_of_kernel(l, 0)->name), "A");
    assert_true(device_of_kernel(l, 0)->max_threads == 20480 && device_of_kernel(l, 1)->max_threads == 20480);
    unload(l);
    snprintf(sql, sizeof sql, STRINGS KERNELS_ON_TWO "%s%s", gpus, maps);
    l = load(sql);
    assert_int_equal(l->x.devices.count, 1); /* both processes mean GPU 2 */
    assert_string_equal(location_name(l, device_of_kernel(l, 0)->location), "device 2 (B)");
    assert_true(device_of_kernel(l, 1)->max_threads == 40960);
    assert_string_equal(location_name(l, AS_NS_AT(as_ns_stream, &l->x, streams, 0)->location), "stream 9, process 10");
    unload(l);
    l = load(STRINGS KERNELS_ON_TWO
             "CREATE TABLE TARGET_INFO_GPU (name TEXT); INSERT INTO TARGET_INFO_GPU VALUES ('only a name');"
             "CREATE TABLE TARGET_INFO_CUDA_GPU (deviceId INTEGER, name TEXT, numMultiprocessors INTEGER, "
             "numThreadsPerWarp INTEGER, maxWarpsPerMultiprocessor INTEGER, computeCapabilityMajor INTEGER);"
             "INSERT INTO TARGET_INFO_CUDA_GPU VALUES (0, 'Old', 5, 32, 10, 3)");
    assert_string_equal(text_of(l, device_of_kernel(l, 0)->name), "Old");
    assert_true(device_of_kernel(l, 0)->max_threads == 1600 && device_of_kernel(l, 1)->max_threads == 0);
    unload(l);
}

static void processes_and_threads_have_names(void **state) {
    (void)state;
    loaded *l =
        load(STRINGS RUNTIME "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, " T20
                             ", 1, 1, 0, NULL), (3, 4, 0, " T11 ", 1, 1, 0, NULL), (3, 4, 0, " T10 ", 2, 1, 0, NULL);"
                             "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
                             "INSERT INTO PROCESSES VALUES (" P10 ", 10, 'app'), (72057594037927936, 0, 'Idle');"
                             "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"
                             "INSERT INTO ThreadNames VALUES (2, 1, " T10 "), (4, 5, " T10 "), (2, 3, " T10 ")");
    static const char *const names[] = {"process 10 (app)", "process 20", "thread 10 (cudaMemcpy)", "thread 11",
                                        "thread 20"};
    assert_int_equal(l->ds->locations.count, 5);
    for (assay_id i = 0; i < 5; i++) assert_string_equal(location_name(l, i), names[i]);
    unload(l);
}

/* ---- what is odd ------------------------------------------------------------------------------------------------- */

static void wrong_types_and_times(void **state) {
    (void)state;
    loaded *l = load(
        STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ('soon', 2, " T10 ", 1, 1), (NULL, 2, " T10 ", 2, 1),"
                "(5, 2.5, " T10 ", 3, 1), (5, 2, " T10 ", 4, 1), (5, 6, 'me', 5, 1), (5, 6, " T10 ", x'00', 1),"
                "(7, NULL, " T10 ", 6, 'name'), (8, NULL, NULL, NULL, NULL), (9, 10, " T10 ", 7, 1000)");
    assert_int_equal(l->x.n_wrong_type, 6);
    assert_int_equal(l->x.calls.count, 3);
    assert_true(call_at(l, 0)->span.start == 5 && call_at(l, 0)->span.end == 2 &&
                as_ns_length(call_at(l, 0)->span) == 0);
    assert_int_equal(l->x.n_negative, 1);
    assert_true(call_at(l, 1)->span.end == AS_NS_OPEN);
    assert_string_equal(text_of(l, call_at(l, 1)->name), "[unnamed]");
    assert_string_equal(location_name(l, AS_NS_AT(as_ns_thread, &l->x, threads, call_at(l, 1)->thread)->location),
                        "thread 0");
    assert_string_equal(text_of(l, call_at(l, 2)->name), "[string 1000]");
    assert_int_equal(l->x.n_no_string, 1);
    unload(l);
}

static void late_times_count_from_the_first(void **state) {
    (void)state;
    loaded *l = load(STRINGS RUNTIME
                     "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1700000000000000000, 1700000000000000009, 0, " T10
                     ", 1, 1, 0, NULL), (1699999999999999999, 1700000000000000000, 0, " T10 ", 2, 1, 0, NULL)");
    assert_int_equal(l->x.origin, 1699999999999999999);
    unload(l);
    l = load(STRINGS RUNTIME "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (-5, 9007199254740991, 0, " T10
                             ", 1, 1, 0, NULL)");
    assert_int_equal(l->x.origin, 0);
    unload(l);
}

static void an_empty_export(void **state) {
    (void)state;
    loaded *l = load("CREATE TABLE t (a)");
    assert_int_equal(l->x.calls.count + l->x.kernels.count + l->x.ranges.count + l->ds->locations.count, 0);
    assert_int_equal(l->x.mode, AS_NS_PLAIN);
    unload(l);
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

#define NUMBERS(n) "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < " n ") "

/* Several pieces, with and without rows that are left out: the same whatever the number of threads. */
static void many_rows_in_pieces(void **state) {
    (void)state;
    static const char sql[] = "PRAGMA journal_mode=OFF;" STRINGS RUNTIME KERNEL NUMBERS(
        "300000") "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 10, i * 10 + 5, 0, " T10
                  " + i % 3, i, 1 + i % 2, 0, NULL FROM n;" NUMBERS(
                      "300000") "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT CASE WHEN i % 1000 THEN i * 10 + 7 END, "
                                "i * 10 + 12, 0, 1, 300001 - i % 7, "
                                "300001 - i, " P10 ", 3, 2 + i % 2, i % 5, 1, 1, 32, 1, 1 FROM n";
    make(sql);
    for (unsigned threads = 1; threads < 4; threads += 2) {
        loaded *l = malloc(sizeof *l);
        load_with(threads, 0, l);
        assert_int_equal(l->status, ASSAY_OK);
        assert_int_equal(l->x.calls.count, 300000);
        assert_int_equal(l->x.kernels.count, 299700);
        assert_int_equal(l->x.n_wrong_type, 300);
        assert_int_equal(l->x.threads.count, 3);
        assert_int_equal(l->x.streams.count, 7);
        assert_int_equal(l->x.functions.count, 2);
        assert_int_equal(l->x.shapes.count, 5);
        for (size_t k = 0, i = 1; i <= 300000; i++) {
            const as_ns_call *call = call_at(l, i - 1);
            if (call->correlation != (int64_t)i || call->thread != i % 3) fail_msg("call %zu", i);
            if (i % 1000 == 0) continue;
            const as_ns_activity *kernel = kernel_at(l, k++);
            const as_ns_shape *shape = AS_NS_AT(as_ns_shape, &l->x, shapes, kernel->detail);
            if (kernel->span.start != (int64_t)i * 10 + 7 || kernel->call != 300000 - i ||
                shape->grid[0] != (int64_t)(i % 5) ||
                AS_NS_AT(as_ns_stream, &l->x, streams, kernel->stream)->stream != (int64_t)(300001 - i % 7))
                fail_msg("kernel %zu", i);
        }
        unload(l);
    }
}

/* With less memory than it takes nothing but that is said. */
static void little_memory(void **state) {
    (void)state;
    size_t failed = 0;
    make(WAITS NVTX "INSERT INTO NVTX_EVENTS VALUES (5, 9, 59, 'inner', " T10 ", NULL, 3)");
    for (uint64_t limit = 5000;; limit += 997) { /* less is too little for any dataset */
        loaded l;
        load_with(1, limit, &l);
        assay_status status = l.status;
        unload_parts(&l);
        if (status == ASSAY_OK) break;
        assert_int_equal(status, ASSAY_E_NOMEM);
        failed++;
        assert_true(limit < 10000000);
    }
    assert_true(failed > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_and_its_kernel),
        cmocka_unit_test(calls_that_are_there_twice),
        cmocka_unit_test(numbers_far_apart),
        cmocka_unit_test(activities_without_a_process),
        cmocka_unit_test(copies_memsets_and_graphs),
        cmocka_unit_test(waits_are_named_by_their_calls),
        cmocka_unit_test(waits_are_named_by_the_export),
        cmocka_unit_test(ranges_marks_and_domains),
        cmocka_unit_test(ranges_of_extra_prof),
        cmocka_unit_test(os_runtime_and_samples),
        cmocka_unit_test(devices_are_gpus),
        cmocka_unit_test(processes_and_threads_have_names),
        cmocka_unit_test(wrong_types_and_times),
        cmocka_unit_test(late_times_count_from_the_first),
        cmocka_unit_test(an_empty_export),
        cmocka_unit_test(many_rows_in_pieces),
        cmocka_unit_test(little_memory),
    };
    return cmocka_run_group_tests(tests, make_temporary_folder, remove_temporary_folder);
}
