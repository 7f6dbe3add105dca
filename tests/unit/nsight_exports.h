/* Exports filled by hand, for tests of what is made of them. Include it behind cmocka.h. */
#ifndef AS_TESTS_NSIGHT_EXPORTS_H
#define AS_TESTS_NSIGHT_EXPORTS_H

#include <stdio.h>
#include <stdlib.h>

#include "formats/nsight/export.h"

typedef struct made_export {
    as_dataset *ds;
    as_reader reader;
    as_input input;
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
    x->reader = &made->reader;
    x->ds = made->ds;
    x->mode = mode;
    const struct {
        as_vec *vec;
        size_t size;
    } vecs[] = {{&x->processes, sizeof(as_ns_process)},  {&x->threads, sizeof(as_ns_thread)},
                {&x->devices, sizeof(as_ns_device)},     {&x->streams, sizeof(as_ns_stream)},
                {&x->functions, sizeof(as_ns_function)}, {&x->shapes, sizeof(as_ns_shape)},
                {&x->domains, sizeof(as_ns_domain)},     {&x->kernels, sizeof(as_ns_activity)},
                {&x->copies, sizeof(as_ns_activity)},    {&x->sets, sizeof(as_ns_activity)},
                {&x->graphs, sizeof(as_ns_activity)},    {&x->syncs, sizeof(as_ns_sync)},
                {&x->calls, sizeof(as_ns_call)},         {&x->ranges, sizeof(as_ns_range)},
                {&x->osrt, sizeof(as_ns_osrt)},          {&x->samples, sizeof(as_ns_sample)}};
    for (size_t i = 0; i < sizeof vecs / sizeof *vecs; i++) as_vec_init(vecs[i].vec, vecs[i].size, &made->ds->budget);
    assert_int_equal(as_ns_symbols_read(x), ASSAY_OK);
    as_tree_init(&x->tree, x->ds);
    make_places(made);
}

static inline void free_export(made_export *made) {
    as_ns_export *x = made->x;
    as_vec *vecs[] = {&x->processes, &x->threads, &x->devices, &x->streams, &x->functions, &x->shapes,
                      &x->domains,   &x->kernels, &x->copies,  &x->sets,    &x->graphs,    &x->syncs,
                      &x->calls,     &x->ranges,  &x->osrt,    &x->samples};
    for (size_t i = 0; i < sizeof vecs / sizeof *vecs; i++) as_vec_free(vecs[i]);
    as_ns_symbols_free(x);
    as_tree_free(&x->tree);
    as_dataset_free(made->ds);
}

/* An entry of Extra-Prof's table of symbols. */
static inline void add_symbol(made_export *made, const char *number, const char *name) {
    as_ns_symbols *symbols = &made->x->symbols;
    as_str id = as_intern(&symbols->numbers, number, strlen(number)), known = text_of(made, name);
    assert_int_equal(id, symbols->names.count);
    assert_true(as_vec_append(&symbols->names, &known, 1));
}

#endif
