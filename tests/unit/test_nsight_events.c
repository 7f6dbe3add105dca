/* Activities of an export as events: an export filled by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "formats/nsight/export.h"

typedef struct fixture {
    as_dataset *ds;
    as_reader reader;
    as_input input;
    as_ns_export *x;
} fixture;

static as_str text(fixture *f, const char *words) { return as_ds_intern_text(f->ds, words); }

#define ADD(f, member, ...) assert_true(as_vec_append(&(f)->x->member, &__VA_ARGS__, 1))

static void begin(fixture *f) {
    *f = (fixture){.ds = as_dataset_new(0), .input = {.path = "made.sqlite"}};
    f->reader = (as_reader){.input = &f->input, .dataset = f->ds};
    as_ns_export *x = f->x = as_arena_alloc(&f->ds->arena, sizeof *f->x);
    x->reader = &f->reader;
    x->ds = f->ds;
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
    for (size_t i = 0; i < sizeof vecs / sizeof *vecs; i++) as_vec_init(vecs[i].vec, vecs[i].size, NULL);
}

static void end(fixture *f) {
    as_ns_export *x = f->x;
    as_vec *vecs[] = {&x->processes, &x->threads, &x->devices, &x->streams, &x->functions, &x->shapes,
                      &x->domains,   &x->kernels, &x->copies,  &x->sets,    &x->graphs,    &x->syncs,
                      &x->calls,     &x->ranges,  &x->osrt,    &x->samples};
    for (size_t i = 0; i < sizeof vecs / sizeof *vecs; i++) as_vec_free(vecs[i]);
    as_dataset_free(f->ds);
}

/* One process with a thread (location 1), one device with a stream (location 3), an asynchronous call and another
 * one. */
static void add_places(fixture *f) {
    ADD(f, processes, (as_ns_process){.pid = 7, .name = AS_NO_STR, .location = 0});
    ADD(f, threads, (as_ns_thread){.process = 0, .tid = 8, .name = AS_NO_STR, .location = 1});
    ADD(f, devices, (as_ns_device){.id = 0, .name = AS_NO_STR, .location = 2});
    ADD(f, streams, (as_ns_stream){.process = 0, .device = 0, .stream = 7, .location = 3});
    ADD(f, calls,
        (as_ns_call){.span = {100, 200}, .name = text(f, "cudaMemcpyAsync_v3020"), .correlation = 5, .context = 10});
    ADD(f, calls, (as_ns_call){.span = {210, 290}, .name = text(f, "cudaMemcpy_v3020"), .result = 11, .context = 11});
}

/* "KIND NAME @LOCATION #CONTEXT START-END RAW-RAW: key=value …" */
static const char *describe(fixture *f, uint64_t id) {
    static char out[1024];
    const as_dataset *ds = f->ds;
    as_event event;
    uint64_t first, last;
    as_ds_event(ds, id, &event);
    char *at = out + sprintf(out, "%s %s @%d #%d %g", as_ds_text(ds, event.kind), as_ds_text(ds, event.name),
                             (int)event.location, (int)event.context, event.start);
    if (!isnan(event.end)) at += sprintf(at, "-%g", event.end);
    assert_int_equal(event.start_raw.type, AS_CELL_INT);
    at += sprintf(at, " %lld", (long long)event.start_raw.i);
    if (event.end_raw.type == AS_CELL_INT) at += sprintf(at, "-%lld", (long long)event.end_raw.i);
    assert_int_equal(event.run, 0);
    as_event_attributes(ds, id, &first, &last);
    for (uint64_t i = first; i < last; i++) {
        as_attribute attribute;
        as_ds_any_attribute(ds, i, &attribute);
        assert_int_equal(attribute.owner, AS_OWNER_EVENT);
        assert_int_equal(attribute.owner_id, id);
        at += sprintf(at, " %s=", as_ds_text(ds, attribute.key));
        at += attribute.value.type == AS_CELL_TEXT ? sprintf(at, "%s", attribute.value.text)
                                                   : sprintf(at, "%lld", (long long)attribute.value.i);
    }
    return out;
}

static void kinds_names_and_attributes(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    add_places(&f);
    as_ns_export *x = f.x;
    ADD(&f, functions,
        (as_ns_function){.name = text(&f, "add"), .demangled = text(&f, "add(int*)"), .mangled = text(&f, "_Z3addPi")});
    ADD(&f, functions, (as_ns_function){.name = text(&f, "c"), .demangled = text(&f, "c"), .mangled = AS_NO_STR});
    ADD(&f, shapes,
        (as_ns_shape){{256, 1, 1}, {32, 2, 1}, .registers = 16, .static_memory = 0, .dynamic_memory = 1024});
    ADD(&f, shapes, (as_ns_shape){{-1, -1, -1}, {8, 1, 1}, .registers = -1, .static_memory = -1, .dynamic_memory = -1});
    ADD(&f, kernels,
        (as_ns_activity){.span = {1000000000, 3000000000}, .call = 0, .detail = 0, .correlation = 9, .context = 20});
    ADD(&f, kernels, (as_ns_activity){.span = {10, 5}, .call = AS_NS_NONE, .what = 1, .detail = 1, .context = 21});
    ADD(&f, kernels, (as_ns_activity){.span = {10, 12}, .call = 0, .what = 1, .detail = AS_NS_NONE, .context = 21});
    ADD(&f, copies,
        (as_ns_activity){.span = {1, 2}, .call = 0, .what = 1, .detail = 1 * 256 + 2, .bytes = 64, .correlation = 5});
    ADD(&f, copies, (as_ns_activity){.span = {1, 2}, .call = 0, .what = 2, .detail = 2 * 256 + 0, .bytes = 1});
    ADD(&f, copies, (as_ns_activity){.span = {1, 2}, .call = 1, .what = 8, .detail = 2 * 256 + 2});
    ADD(&f, copies, (as_ns_activity){.span = {1, 2}, .call = AS_NS_NONE, .what = 42, .detail = 9 * 256 + 6});
    ADD(&f, copies, (as_ns_activity){.span = {1, 2}, .call = AS_NS_NONE, .what = 0, .detail = AS_NS_NONE});
    ADD(&f, sets, (as_ns_activity){.span = {1, 2}, .call = 0, .what = 255, .detail = 4, .bytes = 128});
    ADD(&f, graphs, (as_ns_activity){.span = {1, 2}, .call = 0, .what = 3, .correlation = 6});
    ADD(&f, syncs,
        (as_ns_sync){.span = {1, 2}, .call = 0, .stream = 0, .name = text(&f, "STREAM_SYNCHRONIZE"), .correlation = 5});
    ADD(&f, syncs, (as_ns_sync){.span = {1, 2}, .call = AS_NS_NONE, .stream = 0, .name = text(&f, "x")});
    ADD(&f, syncs, (as_ns_sync){.span = {1, 2}, .call = AS_NS_NONE, .stream = AS_NS_NONE, .name = text(&f, "y")});
    ADD(&f, domains, (as_ns_domain){.id = 1, .name = text(&f, "lib")});
    ADD(&f, ranges, (as_ns_range){.span = {1, 2}, .type = 59, .name = text(&f, "push"), .domain = AS_NS_NONE});
    ADD(&f, ranges, (as_ns_range){.span = {1, AS_NS_OPEN}, .type = 60, .name = text(&f, "start"), .domain = 0});
    ADD(&f, ranges, (as_ns_range){.span = {1, AS_NS_OPEN}, .type = 34, .name = text(&f, "mark"), .domain = AS_NS_NONE});
    ADD(&f, ranges, (as_ns_range){.span = {1, 2}, .type = 71, .name = text(&f, "se"), .domain = AS_NS_NONE});
    ADD(&f, ranges, (as_ns_range){.span = {1, 2}, .type = 70, .name = text(&f, "pp"), .domain = AS_NS_NONE});
    ADD(&f, osrt, (as_ns_osrt){.span = {1, AS_NS_OPEN}, .name = text(&f, "poll"), .context = 30});
    ADD(&f, samples, (as_ns_sample){.time = 77, .name = text(&f, "leaf"), .context = ASSAY_NONE});
    assert_int_equal(as_ns_add_events(x), ASSAY_OK);
    static const char *const expected[] = {
        "kernel add @3 #20 1-3 1000000000-3000000000 correlation_id=9 demangled_name=add(int*) mangled_name=_Z3addPi "
        "grid=256,1,1 block=32,2,1 registers=16 static_shared_memory=0 dynamic_shared_memory=1024",
        "kernel c @3 #21 1e-08-5e-09 10-5 block=8,1,1", /* a broken clock: as stored */
        "kernel c @3 #21 1e-08-1.2e-08 10-12",
        "memcpy HOST_TO_DEVICE @3 #0 1e-09-2e-09 1-2 correlation_id=5 bytes=64 src_kind=pinned dst_kind=device",
        "memcpy DEVICE_TO_HOST @3 #0 1e-09-2e-09 1-2 bytes=1 src_kind=device dst_kind=pageable blocking=1",
        "memcpy DEVICE_TO_DEVICE @3 #0 1e-09-2e-09 1-2 bytes=0 src_kind=device dst_kind=device blocking=1",
        "memcpy UNKNOWN_COPY_KIND_42 @3 #0 1e-09-2e-09 1-2 bytes=0 src_kind=9 dst_kind=managed static",
        "memcpy UNKNOWN @3 #0 1e-09-2e-09 1-2 bytes=0",
        "memset MEMSET 255 @3 #0 1e-09-2e-09 1-2 bytes=128 mem_kind=managed",
        "graph GRAPH 3 @3 #0 1e-09-2e-09 1-2 correlation_id=6",
        "sync STREAM_SYNCHRONIZE @1 #0 1e-09-2e-09 1-2 correlation_id=5",
        "sync x @3 #0 1e-09-2e-09 1-2",
        "sync y @0 #0 1e-09-2e-09 1-2",
        "api cudaMemcpyAsync_v3020 @1 #10 1e-07-2e-07 100-200 correlation_id=5",
        "api cudaMemcpy_v3020 @1 #11 2.1e-07-2.9e-07 210-290 result=11",
        "nvtx push @1 #0 1e-09-2e-09 1-2 style=PushPop",
        "nvtx start @1 #0 1e-09 1 domain=lib style=StartEnd unfinished=1",
        "nvtx mark @1 #0 1e-09 1 style=Mark",
        "nvtx se @1 #0 1e-09-2e-09 1-2 style=StartEnd",
        "nvtx pp @1 #0 1e-09-2e-09 1-2 style=PushPop",
        "osrt poll @1 #30 1e-09 1",
        "sample leaf @1 #-1 7.7e-08 77",
    };
    size_t n = sizeof expected / sizeof *expected;
    assert_int_equal(as_ds_events(f.ds), n);
    for (size_t i = 0; i < n; i++) assert_string_equal(describe(&f, i), expected[i]);
    end(&f);
}

/* Attributes are found by their numbers, across steps and where events have none. */
static void attributes_by_number(void **state) {
    (void)state;
    enum { CALLS = 100 };
    fixture f;
    begin(&f);
    ADD(&f, threads, (as_ns_thread){.name = AS_NO_STR});
    uint64_t total = 0;
    for (int i = 0; i < CALLS; i++) { /* none, one or two each; none at all from 40 to 79 */
        as_ns_call call = {.span = {i, i + 1}, .name = text(&f, "f")};
        if (i < 40 || i >= 80) call.correlation = i % 3 ? i : 0, call.result = i % 3 == 2 ? -i : 0;
        total += (call.correlation != 0 ? 1u : 0u) + (call.result != 0 ? 1u : 0u);
        ADD(&f, calls, call);
    }
    assert_int_equal(as_ns_add_events(f.x), ASSAY_OK);
    const as_event_source *source = f.ds->event_source;
    assert_int_equal(source->n_attributes, total);
    uint64_t next = 0;
    for (uint64_t i = 0; i < CALLS; i++) {
        assert_int_equal(source->first_attribute(source, i), next);
        const as_ns_call *call = AS_NS_AT(as_ns_call, f.x, calls, i);
        const int64_t values[] = {call->correlation, call->result};
        for (int k = 0; k < 2; k++) {
            as_attribute attribute;
            if (!values[k]) continue;
            source->attribute(source, next++, &attribute);
            assert_int_equal(attribute.owner_id, i);
            assert_string_equal(as_ds_text(f.ds, attribute.key), k ? "result" : "correlation_id");
            assert_int_equal(attribute.value.i, values[k]);
        }
    }
    assert_int_equal(source->first_attribute(source, CALLS), next);
    assert_int_equal(next, total);
    end(&f);
}

static void times_since_the_origin(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    ADD(&f, threads, (as_ns_thread){.name = AS_NO_STR});
    f.x->origin = 1700000000000000000;
    ADD(&f, calls, (as_ns_call){.span = {1700000000000000000, 1700000000500000000}, .name = text(&f, "f")});
    ADD(&f, calls, (as_ns_call){.span = {1700000000000000001, INT64_MIN + 1}, .name = text(&f, "f")});
    assert_int_equal(as_ns_add_events(f.x), ASSAY_OK);
    assert_string_equal(describe(&f, 0), "api f @0 #0 0-0.5 1700000000000000000-1700000000500000000");
    assert_string_equal(describe(&f, 1), "api f @0 #0 1e-09--1.09234e+10 1700000000000000001--9223372036854775807");
    end(&f);
}

static void nothing_happened(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(as_ns_add_events(f.x), ASSAY_OK);
    assert_int_equal(as_ds_events(f.ds), 0);
    assert_int_equal(f.ds->event_source->n_attributes, 0);
    assert_int_equal(f.ds->event_source->first_attribute(f.ds->event_source, 0), 0);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_names_and_attributes),
        cmocka_unit_test(attributes_by_number),
        cmocka_unit_test(times_since_the_origin),
        cmocka_unit_test(nothing_happened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
