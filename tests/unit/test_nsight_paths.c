/* Call paths of exports: names, how Extra-Prof encodes them, and which call belongs where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/random.h"
#include "nsight_exports.h"

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void check_fit(const char *text, size_t size, bool is_context, const char *expected) {
    as_vec out;
    as_vec_init(&out, 1, NULL);
    assert_true(as_ns_fit(text, size, is_context, &out));
    assert_true(as_vec_append(&out, "", 1));
    assert_string_equal(out.data, expected);
    as_vec_free(&out);
}

static void texts_are_made_fit_for_names(void **state) {
    (void)state;
    check_fit("plain", 5, true, "plain");
    check_fit("a->b", 4, true, "a- >b");
    check_fit("a->b", 4, false, "a->b");
    check_fit("->", 2, true, "- >");
    check_fit("a\x1f\x01"
              "b\x7f\n\tc",
              8, true, "ab  c");
    check_fit("\xc3\xa9\xc2\x85", 4, true, "\xc3\xa9");           /* é, and a control character of two bytes */
    check_fit("a\xff\xc3", 3, true, "a\xef\xbf\xbd\xef\xbf\xbd"); /* neither begins a character that is there */
    check_fit("\xe2\x82z\xf0\x9f\x92", 6, true, "\xef\xbf\xbdz\xef\xbf\xbd");
    check_fit("\xed\xa0\x80", 3, true, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate */
}

/* "a|b|c" */
static const char *names_of(made_export *made, const char *path) {
    static char out[256];
    as_vec names;
    as_vec_init(&names, sizeof(as_str), NULL);
    assert_true(as_ns_path_names(made->x, path, strlen(path), &names));
    out[0] = '\0';
    for (size_t i = 0; i < names.count; i++) {
        if (i) strcat(out, "|");
        strcat(out, as_ds_text(made->ds, AS_AT(as_str, &names, i)));
    }
    as_vec_free(&names);
    return out;
}

static void call_paths_are_decoded(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_RANGES);
    add_symbol(&made, "0", "main");
    add_symbol(&made, "2s", "Ptr<T>::operator- >()");
    assert_string_equal(names_of(&made, "main->solve"), "main|solve");
    assert_string_equal(names_of(&made, "main"), "main");
    assert_string_equal(names_of(&made, "\x1f"
                                        "0\x1f"
                                        "2s"),
                        "main|Ptr<T>::operator- >()");
    assert_string_equal(names_of(&made, "\x1f"
                                        "0\x1f"
                                        "zz"),
                        "main|[0xzz]");
    assert_string_equal(names_of(&made, "\x1f"
                                        "0\x1f->cudaMalloc_v3020"),
                        "main|cudaMalloc_v3020");
    assert_string_equal(names_of(&made, "main->phase\x1f->cudaMalloc"), "main|phase|cudaMalloc");
    assert_string_equal(names_of(&made, "\x1f"), "[0x]");
    as_str whole = as_ns_path_text(made.x,
                                   "\x1f"
                                   "0\x1f"
                                   "2s\x1f"
                                   "9",
                                   7);
    assert_string_equal(as_ds_text(made.ds, whole), "main->Ptr<T>::operator- >()->[0x9]");
    free_export(&made);
}

/* ---- which call belongs where ------------------------------------------------------------------------------------ */

/* The path of a context of the tree; "-" for none. */
static const char *path_of(made_export *made, assay_id context) {
    static char out[512];
    if (context == ASSAY_NONE) return "-";
    as_vec path;
    as_vec_init(&path, 1, NULL);
    assert_true(as_path_join(&made->ds->strings, made->x->tree.nodes.data, context, &path));
    snprintf(out, sizeof out, "%s", (const char *)path.data);
    as_vec_free(&path);
    return out;
}

static const char *path_of_call(made_export *made, uint32_t row) {
    return path_of(made, AS_NS_AT(as_ns_call, made->x, calls, row)->context);
}
static const char *path_of_kernel(made_export *made, uint32_t row) {
    return path_of(made, AS_NS_AT(as_ns_activity, made->x, kernels, row)->context);
}
static const char *kind_of(made_export *made, assay_id context) {
    assay_id region = AS_AT(as_context, &made->x->tree.nodes, context).region;
    return as_ds_text(made->ds, as_ds_region(made->ds, region)->kind);
}

static void calls_are_in_the_region_that_began_last(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_RANGES);
    add_symbol(&made, "a", "main");
    add_range(&made, 0, NULL,
              "\x1f"
              "a",
              0, 1000);
    add_range(&made, 0, NULL, "main->solve", 100, 500);
    add_range(&made, 0, NULL, "main->other", 100, 300); /* starts with it and ends first */
    add_range(&made, 0, NULL, "main->late", 290, 310);  /* crosses the end of another */
    add_range(&made, 1, NULL, "worker", 0, 1000);
    add_range(&made, 0, "no region", NULL, 0, 2000);
    add_range(&made, 0, NULL, "main->open", 700, AS_NS_OPEN);
    static const struct {
        uint32_t thread;
        int64_t start, end;
        const char *path;
    } cases[] = {
        {0, 50, 60, "main->f"},
        {0, 150, 160, "main->other->f"},
        {0, 150, 300, "main->solve->f"}, /* ends are not shared */
        {0, 100, 110, "main->f"},        /* nor are starts */
        {0, 295, 299, "main->late->f"},
        {0, 295, 320, "main->solve->f"},
        {0, 490, 510, "main->f"},
        {0, 800, 900, "main->f"},
        {0, 990, 1000, "[Uncorrelated]->f"},
        {0, 1100, 1200, "[Uncorrelated]->f"},
        {1, 150, 160, "worker->f"},
        {0, 160, 150, "main->other->f"}, /* its clock ran back: it takes no time */
    };
    enum { N = sizeof cases / sizeof *cases };
    for (size_t i = N; i-- > 0;) add_call(&made, cases[i].thread, "f", cases[i].start, cases[i].end);
    assert_int_equal(as_ns_find_paths(made.x), ASSAY_OK);
    for (uint32_t i = 0; i < N; i++) assert_string_equal(path_of_call(&made, N - 1 - i), cases[i].path);
    assert_string_equal(path_of(&made, AS_NS_AT(as_ns_range, made.x, ranges, 1)->context), "main->solve");
    assert_string_equal(path_of(&made, AS_NS_AT(as_ns_range, made.x, ranges, 5)->context), "-");
    assert_string_equal(kind_of(&made, AS_NS_AT(as_ns_range, made.x, ranges, 1)->context), "region");
    free_export(&made);
}

static void ranges_nest_in_plain_exports(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_PLAIN);
    add_range(&made, 0, "inner->most", NULL, 20, 30);
    add_range(&made, 0, "outer", NULL, 0, 100);
    add_range(&made, 0, "middle", NULL, 20, 50);
    add_range(&made, 0, "crossing", NULL, 40, 120); /* out of both */
    add_range(&made, 0, "in crossing", NULL, 100, 110);
    add_range(&made, 1, "elsewhere", NULL, 0, 100);
    static const char *const paths[] = {"process 7->thread 8->outer->middle->inner- >most",
                                        "process 7->thread 8->outer",
                                        "process 7->thread 8->outer->middle",
                                        "process 7->thread 8->crossing",
                                        "process 7->thread 8->crossing->in crossing",
                                        "process 7->thread 9->elsewhere"};
    uint32_t whole = add_call(&made, 0, "f", 0, 100), edge = add_call(&made, 0, "f", 30, 30),
             inner = add_call(&made, 0, "f", 20, 30), late = add_call(&made, 0, "f", 50, 60),
             none = add_call(&made, 0, "f", 200, 210), other = add_call(&made, 1, "f", 200, 210);
    assert_int_equal(as_ns_find_paths(made.x), ASSAY_OK);
    for (uint32_t i = 0; i < made.x->ranges.count; i++)
        assert_string_equal(path_of(&made, AS_NS_AT(as_ns_range, made.x, ranges, i)->context), paths[i]);
    assert_string_equal(path_of_call(&made, whole), "process 7->thread 8->outer->f");
    assert_string_equal(path_of_call(&made, edge), "process 7->thread 8->outer->middle->inner- >most->f");
    assert_string_equal(path_of_call(&made, inner), "process 7->thread 8->outer->middle->inner- >most->f");
    assert_string_equal(path_of_call(&made, late), "process 7->thread 8->crossing->f");
    assert_string_equal(path_of_call(&made, none), "process 7->thread 8->f");
    assert_string_equal(path_of_call(&made, other), "process 7->thread 9->f");
    assert_string_equal(kind_of(&made, AS_NS_AT(as_ns_range, made.x, ranges, 2)->context), "nvtx");
    free_export(&made);
}

/* By definition: of all ranges of the thread that contain the call the one with the latest start, then the first end,
 * then the last row. */
static uint32_t slow_range(const as_ns_export *x, const as_ns_call *call, bool is_strict) {
    uint32_t best = AS_NS_NONE;
    int64_t start = call->span.start, end = start + as_ns_length(call->span);
    for (uint32_t i = 0; i < x->ranges.count; i++) {
        const as_ns_range *range = AS_NS_AT(as_ns_range, x, ranges, i);
        bool contains = is_strict ? range->span.start < start && end < range->span.end
                                  : range->span.start <= start && end <= range->span.end;
        if (!contains || range->thread != call->thread) continue;
        const as_ns_range *other = best == AS_NS_NONE ? NULL : AS_NS_AT(as_ns_range, x, ranges, best);
        if (!other || range->span.start > other->span.start ||
            (range->span.start == other->span.start && range->span.end <= other->span.end))
            best = i;
    }
    return best;
}

static void random_calls_are_where_the_definition_says(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int round = 0; round < 300; round++) {
        made_export made;
        bool is_plain = round % 2;
        make_export(&made, is_plain ? AS_NS_PLAIN : AS_NS_RANGES);
        for (int i = 0; i < 30; i++) {
            int64_t start = (int64_t)as_random_below(&random, 60), length = (int64_t)as_random_below(&random, 30);
            char name[16];
            snprintf(name, sizeof name, "r%d", i);
            add_range(&made, (uint32_t)as_random_below(&random, 2), name, is_plain ? NULL : name, start,
                      start + length);
        }
        for (int i = 0; i < 40; i++) {
            int64_t start = (int64_t)as_random_below(&random, 80), length = (int64_t)as_random_below(&random, 8);
            add_call(&made, (uint32_t)as_random_below(&random, 2), "f", start, start + length);
        }
        assert_int_equal(as_ns_find_paths(made.x), ASSAY_OK);
        for (size_t i = 0; i < made.x->calls.count; i++) {
            const as_ns_call *call = AS_NS_AT(as_ns_call, made.x, calls, i);
            uint32_t range = slow_range(made.x, call, !is_plain);
            assay_id above = AS_AT(as_context, &made.x->tree.nodes, call->context).parent;
            if (range != AS_NS_NONE)
                assert_int_equal(above, AS_NS_AT(as_ns_range, made.x, ranges, range)->context);
            else
                assert_string_equal(path_of(&made, above), !is_plain      ? "[Uncorrelated]"
                                                           : call->thread ? "process 7->thread 9"
                                                                          : "process 7->thread 8");
        }
        free_export(&made);
    }
}

static void activities_stand_below_their_calls(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_RANGES);
    add_range(&made, 0, NULL, "main", 0, 1000);
    uint32_t launch = add_call(&made, 0, "cudaLaunchKernel", 10, 20),
             wait = add_call(&made, 0, "cudaDeviceSynchronize", 30, 40),
             copy = add_call(&made, 0, "cudaMemcpy", 50, 60), late = add_call(&made, 0, "cudaMemcpyAsync", 70, 80),
             take = add_call(&made, 0, "cudaMalloc", 90, 95), plain = add_call(&made, 0, "cudaGetDevice", 96, 97);
    add_kernel(&made, launch, 0, "saxpy", 100, 200, 10);
    add_kernel(&made, launch, 0, "other", 200, 300, 10);
    add_kernel(&made, AS_NS_NONE, 1, "lost", 200, 300, 10);
    add_kernel(&made, take, 1, "clear", 200, 300, 10);
    add_copy(&made, copy, 0, PINNED, 300, 310, 5);
    add_copy(&made, late, 0, PINNED, 310, 320, 5);
    add_copy(&made, late, 0, PAGEABLE, 320, 330, 5);
    add_copy(&made, AS_NS_NONE, 0, PINNED, 330, 340, 5);
    add_memset(&made, late, 0, 340, 350, 5);
    add_sync(&made, wait, "CONTEXT_SYNCHRONIZE", 31, 39);
    add_sync(&made, copy, "STREAM_SYNCHRONIZE", 51, 59);
    add_sync(&made, AS_NS_NONE, "EVENT_SYNCHRONIZE", 51, 59);
    ADD(&made, graphs, (as_ns_activity){.span = {500, 600}, .call = plain, .stream = 0, .what = 3});
    assert_int_equal(as_ns_find_paths(made.x), ASSAY_OK);
    assert_string_equal(path_of_call(&made, launch), "main->cudaLaunchKernel->saxpy");
    assert_string_equal(path_of_call(&made, wait), "main->cudaDeviceSynchronize->CONTEXT_SYNCHRONIZE");
    assert_string_equal(path_of_call(&made, copy), "main->cudaMemcpy");
    assert_string_equal(path_of_call(&made, take), "main->cudaMalloc");
    assert_string_equal(path_of_kernel(&made, 0), "main->cudaLaunchKernel->saxpy->GPU saxpy");
    assert_string_equal(path_of_kernel(&made, 1), "main->cudaLaunchKernel->other->GPU other");
    assert_string_equal(path_of_kernel(&made, 2), "[Uncorrelated]->lost->GPU lost");
    assert_string_equal(path_of_kernel(&made, 3), "main->cudaMalloc->clear->GPU clear");
    static const char *const copies[] = {
        "main->cudaMemcpy->BLOCKING HOST_TO_DEVICE", "main->cudaMemcpyAsync->HOST_TO_DEVICE",
        "main->cudaMemcpyAsync->BLOCKING HOST_TO_DEVICE", "[Uncorrelated]->HOST_TO_DEVICE"};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(path_of(&made, AS_NS_AT(as_ns_activity, made.x, copies, i)->context), copies[i]);
    assert_string_equal(path_of(&made, AS_NS_AT(as_ns_activity, made.x, sets, 0)->context),
                        "main->cudaMemcpyAsync->GPU MEMSET");
    assert_string_equal(path_of(&made, AS_NS_AT(as_ns_activity, made.x, graphs, 0)->context),
                        "main->cudaGetDevice->GRAPH 3");
    assert_string_equal(path_of(&made, AS_NS_AT(as_ns_sync, made.x, syncs, 0)->context),
                        "main->cudaDeviceSynchronize->CONTEXT_SYNCHRONIZE");
    assert_string_equal(path_of(&made, AS_NS_AT(as_ns_sync, made.x, syncs, 1)->context), "main->cudaMemcpy");
    assert_string_equal(path_of(&made, AS_NS_AT(as_ns_sync, made.x, syncs, 2)->context),
                        "[Uncorrelated]->EVENT_SYNCHRONIZE");
    assert_string_equal(kind_of(&made, AS_NS_AT(as_ns_call, made.x, calls, launch)->context), "launch");
    assert_string_equal(kind_of(&made, AS_NS_AT(as_ns_activity, made.x, kernels, 0)->context), "kernel");
    assert_string_equal(kind_of(&made, AS_NS_AT(as_ns_call, made.x, calls, wait)->context), "sync");
    assert_string_equal(kind_of(&made, AS_NS_AT(as_ns_call, made.x, calls, copy)->context), "api");
    free_export(&made);
}

static void plain_exports_have_short_paths(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_PLAIN);
    uint32_t launch = add_call(&made, 0, "cudaLaunchKernel", 10, 20), copy = add_call(&made, 0, "cudaMemcpy", 50, 60),
             wait = add_call(&made, 0, "cudaDeviceSynchronize", 30, 40);
    add_kernel(&made, launch, 0, "saxpy", 100, 200, 10);
    add_kernel(&made, AS_NS_NONE, 0, "lost", 200, 300, 10);
    add_copy(&made, copy, 0, PAGEABLE, 300, 310, 5);
    add_sync(&made, wait, "CONTEXT_SYNCHRONIZE", 31, 39);
    assert_int_equal(as_ns_find_paths(made.x), ASSAY_OK);
    assert_string_equal(path_of_call(&made, launch), "process 7->thread 8->cudaLaunchKernel");
    assert_string_equal(path_of_kernel(&made, 0), "process 7->thread 8->cudaLaunchKernel->GPU saxpy");
    assert_string_equal(path_of_kernel(&made, 1), "[Uncorrelated]->GPU lost");
    assert_string_equal(path_of(&made, AS_NS_AT(as_ns_activity, made.x, copies, 0)->context),
                        "process 7->thread 8->cudaMemcpy->HOST_TO_DEVICE");
    assert_string_equal(path_of(&made, AS_NS_AT(as_ns_sync, made.x, syncs, 0)->context),
                        "process 7->thread 8->cudaDeviceSynchronize");
    free_export(&made);
}

static void functions_of_the_system_nest_by_level(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_RANGES);
    add_osrt(&made, 0, "fopen", 0, 10, 100);
    add_osrt(&made, 0, "open", 1, 20, 50);
    add_osrt(&made, 0, "read", 1, 60, 70);
    add_osrt(&made, 0, "poll", 1, 200, 300); /* in nothing */
    add_osrt(&made, 0, "mmap", 0, 30, 40);   /* of level 0: it is in nothing */
    add_osrt(&made, 1, "read", 0, 60, 70);
    static const char *const paths[] = {"[OS runtime]->thread 8->fopen", "[OS runtime]->thread 8->fopen->open",
                                        "[OS runtime]->thread 8->read",  "[OS runtime]->thread 8->poll",
                                        "[OS runtime]->thread 8->mmap",  "[OS runtime]->thread 9->read"};
    assert_int_equal(as_ns_find_paths(made.x), ASSAY_OK);
    for (uint32_t i = 0; i < made.x->osrt.count; i++)
        assert_string_equal(path_of(&made, AS_NS_AT(as_ns_osrt, made.x, osrt, i)->context), paths[i]);
    free_export(&made);
}

static void too_many_levels_are_refused(void **state) {
    (void)state;
    for (int is_plain = 0; is_plain < 2; is_plain++) {
        made_export made;
        make_export(&made, is_plain ? AS_NS_PLAIN : AS_NS_RANGES);
        made.reader.max_depth = 10;
        for (int i = 0; i < 20; i++)
            add_range(&made, 0, "r", is_plain ? NULL : "a->b->c->d->e->f->g->h->i->j->k", i, 100 - i);
        assert_int_equal(as_ns_find_paths(made.x), ASSAY_E_FORMAT);
        assert_string_equal(made.error.rule, "too-deep");
        free_export(&made);
    }
}

static void many_ranges_that_cross_each_other(void **state) {
    (void)state;
    enum { N = 100000 };
    made_export made;
    make_export(&made, AS_NS_RANGES);
    /* each crosses the end of the one before it, all of one path */
    for (int i = 0; i < N; i++) add_range(&made, 0, NULL, "main", (int64_t)i * 2, (int64_t)i * 2 + 3 * N);
    for (int i = 0; i < N; i++) add_call(&made, 0, "f", (int64_t)i * 2 + 1, (int64_t)i * 2 + 2);
    assert_int_equal(as_ns_find_paths(made.x), ASSAY_OK);
    assert_string_equal(path_of_call(&made, N - 1), "main->f");
    free_export(&made);
}

/* ---- chains of frames -------------------------------------------------------------------------------------------- */

#define STRINGS                                                                                                        \
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"                                                     \
    "INSERT INTO StringIds VALUES (1, 'main'), (2, 'solve'), (3, 'a->b'), (4, 'cudaMalloc'), (5, 'libcuda.so');"
#define RUNTIME                                                                                                        \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, " \
    "nameId INTEGER, callchainId INTEGER);"
#define CHAINS                                                                                                         \
    "CREATE TABLE CUDA_CALLCHAINS (id INTEGER, stackDepth INTEGER, symbol INTEGER, module INTEGER, "                   \
    "unresolved INTEGER);"

static void frames_of_chains_are_regions(void **state) {
    (void)state;
    static const char *const orders[] = {
        "(1, 0, 5, 5, 1), (1, 1, 2, NULL, NULL), (1, 2, 1, NULL, NULL), (2, 0, 3, 5, NULL), (2, 1, 1, NULL, NULL),"
        "(3, 0, 5, 5, 1), (9, 0, 3, NULL, NULL)",
        /* the same rows in another order */
        "(2, 1, 1, NULL, NULL), (9, 0, 3, NULL, NULL), (1, 2, 1, NULL, NULL), (3, 0, 5, 5, 1), (1, 0, 5, 5, 1),"
        "(2, 0, 3, 5, NULL), (1, 1, 2, NULL, NULL)"};
    for (size_t i = 0; i < 2; i++) {
        char sql[2048];
        snprintf(sql, sizeof sql,
                 STRINGS RUNTIME CHAINS
                 "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, 1, 1, 4, 0), (30, 40, 1, 2, 4, 1),"
                 "(50, 60, 1, 3, 4, 2), (70, 80, 1, 4, 4, 7), (90, 95, 1, 5, 4, NULL);"
                 "INSERT INTO CUDA_CALLCHAINS VALUES %s;",
                 orders[i]);
        made_export made;
        load_export(&made, sql);
        assert_int_equal(made.x->mode, AS_NS_CHAINS);
        assert_int_equal(as_ns_find_paths(made.x), ASSAY_OK);
        assert_string_equal(path_of_call(&made, 0), "main->solve->cudaMalloc"); /* an unresolved frame is none */
        assert_string_equal(path_of_call(&made, 1), "main->a- >b->cudaMalloc");
        assert_string_equal(path_of_call(&made, 2), "cudaMalloc"); /* nothing is left of its chain */
        assert_string_equal(path_of_call(&made, 3), "cudaMalloc"); /* chain 8 is not there */
        assert_string_equal(path_of_call(&made, 4), "[Uncorrelated]->cudaMalloc");
        assay_id inner = AS_AT(as_context, &made.x->tree.nodes, AS_NS_AT(as_ns_call, made.x, calls, 1)->context).parent;
        const as_region *region = as_ds_region(made.ds, AS_AT(as_context, &made.x->tree.nodes, inner).region);
        assert_string_equal(as_ds_text(made.ds, region->module), "libcuda.so");
        assert_string_equal(as_ds_text(made.ds, region->kind), "region");
        assert_int_equal(made.x->tree.nodes.count, 8); /* chain 9 belongs to nobody */
        free_export(&made);
    }
}

static void samples_are_frames_beside_the_call_paths(void **state) {
    (void)state;
    made_export made;
    load_export(&made, STRINGS
                "CREATE TABLE COMPOSITE_EVENTS (id INTEGER, start INTEGER, cpu INTEGER, globalTid INTEGER);"
                "CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER, stackDepth INTEGER, symbol INTEGER, module INTEGER, "
                "kernelMode INTEGER, unresolved INTEGER);"
                "INSERT INTO COMPOSITE_EVENTS VALUES (1, 100, 0, 1), (2, 200, 0, 1), (3, 300, 0, 1), (4, 400, 0, 1);"
                "INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 0, 2, 5, 0, NULL), (1, 1, 1, NULL, 0, NULL),"
                "(2, 0, 3, NULL, 1, NULL), (2, 1, 1, NULL, 0, NULL), (3, 0, 2, NULL, 0, 1);");
    static const char *const paths[] = {"[Samples]->main->solve", "[Samples]->main->a- >b [kernel]",
                                        "[Samples]->[unresolved]", "[Samples]->[unresolved]"};
    assert_int_equal(as_ns_find_paths(made.x), ASSAY_OK);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(path_of(&made, AS_NS_AT(as_ns_sample, made.x, samples, i)->context), paths[i]);
    assert_string_equal(kind_of(&made, AS_NS_AT(as_ns_sample, made.x, samples, 0)->context), "frame");
    assert_string_equal(kind_of(&made, 0), "section"); /* with nothing beside it */
    free_export(&made);
}

static void paths_that_were_resolved_before(void **state) {
    (void)state;
    made_export made;
    load_export(&made, STRINGS RUNTIME
                "INSERT INTO StringIds VALUES (10, 'EXTRA_PROF_SYMBOLS'), (11, 'EP' || char(31) || '2s' || char(31) || "
                "'f->g'), (12, 'EXTRA_PROF_SYMBOLS_END');"
                "CREATE TABLE EXTRAP_RESOLVED_CALLPATHS (correlationId INTEGER, callpath TEXT, stackDepth INTEGER, "
                "duration INTEGER);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, 1, 1, 4, NULL), (30, 40, 1, 2, 4, NULL),"
                "(50, 60, 1, 3, 4, NULL), (70, 80, 1, 0, 4, NULL);"
                "INSERT INTO EXTRAP_RESOLVED_CALLPATHS VALUES (NULL, 'main', 0, 100), (0, '[Uncorrelated]', 0, NULL),"
                "(1, 'main->solve' || char(31) || '->cudaMalloc', 2, 10),"
                "(2, char(31) || '2s' || char(31) || '->cudaMalloc', 1, 10);");
    assert_int_equal(made.x->mode, AS_NS_RESOLVED);
    assert_int_equal(as_ns_find_paths(made.x), ASSAY_OK);
    assert_string_equal(path_of_call(&made, 0), "main->solve->cudaMalloc");
    assert_string_equal(path_of_call(&made, 1), "f- >g->cudaMalloc");
    assert_string_equal(path_of_call(&made, 2), "[Uncorrelated]->cudaMalloc");
    assert_string_equal(path_of_call(&made, 3), "[Uncorrelated]->cudaMalloc");
    assert_string_equal(kind_of(&made, AS_NS_AT(as_ns_call, made.x, calls, 0)->context), "api");
    free_export(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_made_fit_for_names),
        cmocka_unit_test(call_paths_are_decoded),
        cmocka_unit_test(calls_are_in_the_region_that_began_last),
        cmocka_unit_test(ranges_nest_in_plain_exports),
        cmocka_unit_test(random_calls_are_where_the_definition_says),
        cmocka_unit_test(activities_stand_below_their_calls),
        cmocka_unit_test(plain_exports_have_short_paths),
        cmocka_unit_test(functions_of_the_system_nest_by_level),
        cmocka_unit_test(too_many_levels_are_refused),
        cmocka_unit_test(many_ranges_that_cross_each_other),
        cmocka_unit_test(frames_of_chains_are_regions),
        cmocka_unit_test(samples_are_frames_beside_the_call_paths),
        cmocka_unit_test(paths_that_were_resolved_before),
    };
    return cmocka_run_group_tests(tests, make_temporary_folder, remove_temporary_folder);
}
