/* Values of exports: what is taken off what, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "nsight_exports.h"

static void find_all(made_export *made) {
    if (as_ns_find_paths(made->x) != ASSAY_OK || as_ns_find_values(made->x) != ASSAY_OK)
        fail_msg("%s", made->error.message);
}

static assay_id context_of(const made_export *made, const char *wanted) {
    as_vec path;
    as_vec_init(&path, 1, NULL);
    assay_id found = ASSAY_NONE;
    for (assay_id i = 0; i < AS_COUNT(made->ds, contexts) && found == ASSAY_NONE; i++) {
        path.count = 0;
        assert_true(as_context_path(made->ds, i, &path));
        if (strcmp(path.data, wanted) == 0) found = i;
    }
    as_vec_free(&path);
    return found;
}

/* What a metric has at a path, in nanoseconds where it is a time; NAN: nothing. place NULL: everywhere. */
static double value_of(const made_export *made, const char *path, const char *metric, const char *place) {
    assay_id context = context_of(made, path);
    double sum = NAN;
    for (size_t i = 0; i < made->ds->blocks.count; i++) {
        const as_block *block = as_ds_block(made->ds, i);
        const as_metric *about = as_ds_metric(made->ds, block->metric);
        uint32_t at = as_block_find(block, context);
        if (strcmp(as_ds_text(made->ds, about->name), metric) != 0 || at == UINT32_MAX) continue;
        for (uint64_t row = block->starts[at]; row < block->starts[at + 1]; row++) {
            const char *name = as_ds_text(made->ds, as_ds_location(made->ds, block->locations[row])->name);
            if (place && strcmp(name, place) != 0) continue;
            double value = as_block_real(block, row) * (about->unit == as_find(&made->ds->strings, "s", 1) ? 1e9 : 1);
            sum = (isnan(sum) ? 0 : sum) + value;
        }
    }
    return sum;
}

#define CHECK(made, path, metric, place, expected)                                                                     \
    do {                                                                                                               \
        double value_ = value_of(made, path, metric, place);                                                           \
        if (!(fabs(value_ - (expected)) < 1e-6)) fail_msg("%s %s: %.17g", path, metric, value_);                       \
    } while (0)
#define CHECK_NONE(made, path, metric)                                                                                 \
    do {                                                                                                               \
        double value_ = value_of(made, path, metric, NULL);                                                            \
        if (!isnan(value_)) fail_msg("%s %s: %.17g", path, metric, value_);                                            \
    } while (0)

static void regions_lose_what_is_inside(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_RANGES);
    add_range(&made, 0, NULL, "main", 0, 1000);
    add_range(&made, 0, NULL, "main->solve", 100, 400);
    add_range(&made, 0, NULL, "main->solve", 500, 600);
    add_range(&made, 0, NULL, "main->solve->all", 100, 400); /* as long as what it is in */
    add_range(&made, 1, NULL, "main->solve", 0, 50);         /* of another thread: main has no range there */
    add_range(&made, 0, NULL, "main->open", 700, AS_NS_OPEN);
    add_call(&made, 0, "f", 10, 20);
    add_call(&made, 0, "f", 510, 530);
    find_all(&made);
    CHECK(&made, "main", "time", "thread 8", 1000 - 400 - 10);
    CHECK(&made, "main->solve", "time", "thread 8", 400 - 300 - 20);
    CHECK(&made, "main->solve", "time", "thread 9", 50);
    CHECK(&made, "main->solve->all", "time", "thread 8", 300);
    CHECK(&made, "main->f", "time", "thread 8", 10);
    CHECK(&made, "main->solve->f", "time", NULL, 20);
    CHECK(&made, "main->solve", "visits", "thread 8", 2);
    CHECK_NONE(&made, "main->open", "time");
    CHECK_NONE(&made, "main->open", "visits");
    assert_int_equal(AS_COUNT(made.ds, problems), 0);
    free_export(&made);
}

static void no_region_has_less_than_nothing(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_RANGES);
    add_range(&made, 0, NULL, "main", 0, 100);
    add_range(&made, 0, NULL, "main->f", 0, 150);
    add_range(&made, 1, NULL, "main", 0, 100);
    find_all(&made);
    CHECK(&made, "main", "time", NULL, 100); /* that of the second thread */
    CHECK(&made, "main", "time", "thread 9", 100);
    CHECK(&made, "main->f", "time", NULL, 150);
    assert_int_equal(AS_COUNT(made.ds, problems), 1);
    assert_string_equal(as_ds_problem(made.ds, 0)->rule, "time-below-zero");
    free_export(&made);
}

static void kernels_share_their_device(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_RANGES);
    add_range(&made, 0, NULL, "main", 0, 1000);
    uint32_t launch = add_call(&made, 0, "launch", 10, 20), again = add_call(&made, 0, "launch", 30, 45);
    add_kernel(&made, launch, 0, "a", 100, 200, 300);
    add_kernel(&made, again, 1, "b", 150, 300, 5000); /* the device holds 1000 */
    add_kernel(&made, again, 1, "a", 400, 400, 1);    /* takes no time */
    add_kernel(&made, AS_NS_NONE, 1, "c", 500, 510, 1);
    find_all(&made);
    CHECK(&made, "main->launch->a", "time", "thread 8", 10); /* the second call is at its first kernel */
    CHECK(&made, "main->launch->b", "time", "thread 8", 15);
    CHECK(&made, "main->launch->a", "visits", NULL, 1);
    CHECK_NONE(&made, "main->launch", "time");
    double lost_a = 50 * 1000.0 / 1300, lost_b = 50 * 300.0 / 1300;
    CHECK(&made, "main->launch->a->GPU a", "time", "stream 0", 100 - lost_a);
    CHECK(&made, "main->launch->a->GPU a->OVERLAP", "time", "stream 0", lost_a);
    CHECK(&made, "main->launch->b->GPU b", "time", "stream 1", 150 - lost_b);
    CHECK(&made, "main->launch->b->GPU b->OVERLAP", "time", NULL, lost_b);
    CHECK(&made, "main->launch->a->GPU a", "gpu_time", "stream 0", 100);
    CHECK(&made, "main->launch->a->GPU a", "time", "stream 1", 0);
    CHECK(&made, "main->launch->a->GPU a", "visits", NULL, 2);
    CHECK(&made, "[Uncorrelated]->c->GPU c", "time", NULL, 10);
    CHECK_NONE(&made, "[Uncorrelated]->c->GPU c->OVERLAP", "time");
    CHECK(&made, "main", "time", NULL, 1000 - 25);
    free_export(&made);
}

static void copies_that_block_take_time_from_their_call(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_RANGES);
    add_range(&made, 0, NULL, "main", 0, 10000);
    uint32_t blocking = add_call(&made, 0, "cudaMemcpy", 100, 200), later = add_call(&made, 0, "cudaMemcpy", 300, 310),
             async = add_call(&made, 0, "cudaMemcpyAsync", 400, 450);
    add_copy(&made, blocking, 0, PINNED, 110, 180, 1000);
    add_copy(&made, later, 0, PINNED, 300, 330, 500); /* longer than its call: nothing is left of that */
    add_copy(&made, async, 0, PINNED, 1000, 1100, 10);
    add_copy(&made, async, 0, PAGEABLE, 1050, 1070, 20);
    add_kernel(&made, AS_NS_NONE, 1, "k", 1000, 1030, 1);
    add_memset(&made, async, 1, 1025, 1035, 40);
    find_all(&made);
    CHECK(&made, "main->cudaMemcpy", "time", NULL, 30 + 0);
    CHECK(&made, "main->cudaMemcpy->BLOCKING HOST_TO_DEVICE", "time", "stream 0", 100);
    CHECK(&made, "main->cudaMemcpy->BLOCKING HOST_TO_DEVICE", "bytes_transferred", "stream 0", 1500);
    CHECK(&made, "main->cudaMemcpyAsync", "time", "thread 8", 50 - 20);
    /* covered from 1000 to 1035, shared by two from 1050 to 1070 */
    CHECK(&made, "main->cudaMemcpyAsync->HOST_TO_DEVICE", "time", NULL, 100 - 35 - 10);
    CHECK(&made, "main->cudaMemcpyAsync->HOST_TO_DEVICE->OVERLAP", "time", NULL, 35 + 10);
    CHECK(&made, "main->cudaMemcpyAsync->BLOCKING HOST_TO_DEVICE", "time", NULL, 10);
    CHECK(&made, "main->cudaMemcpyAsync->GPU MEMSET", "time", "stream 1", 10 - 5);
    CHECK(&made, "main->cudaMemcpyAsync->GPU MEMSET->OVERLAP", "time", "stream 1", 5);
    CHECK(&made, "main->cudaMemcpyAsync->GPU MEMSET", "bytes_transferred", NULL, 40);
    free_export(&made);
}

static void waits_overlap_with_what_runs(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_RANGES);
    add_range(&made, 0, NULL, "main", 0, 10000);
    uint32_t wait = add_call(&made, 0, "cudaDeviceSynchronize", 100, 200);
    add_call(&made, 0, "cudaMalloc", 140, 240);
    add_call(&made, 0, "cudaMallocHost", 140, 240);
    add_call(&made, 0, "cudaFreeAsync", 140, 240);
    add_kernel(&made, AS_NS_NONE, 0, "k", 50, 150, 1);
    add_copy(&made, AS_NS_NONE, 1, PINNED, 140, 160, 1);
    ADD(&made, graphs, (as_ns_activity){.span = {190, 195}, .call = AS_NS_NONE, .stream = 0, .what = 3});
    add_sync(&made, wait, "CONTEXT_SYNCHRONIZE", 110, 196);
    add_sync(&made, AS_NS_NONE, "CONTEXT_SYNCHRONIZE", 110, 196);
    find_all(&made);
    CHECK(&made, "main->cudaDeviceSynchronize->CONTEXT_SYNCHRONIZE", "time", "thread 8", 100 - 55);
    CHECK(&made, "main->cudaDeviceSynchronize->CONTEXT_SYNCHRONIZE->OVERLAP", "time", "thread 8", 55);
    CHECK(&made, "main->cudaDeviceSynchronize->CONTEXT_SYNCHRONIZE->WAIT", "time", "thread 8", 86);
    CHECK_NONE(&made, "main->cudaDeviceSynchronize", "time");
    CHECK(&made, "main->cudaMalloc", "time", NULL, 100 - 25);
    CHECK(&made, "main->cudaMalloc->OVERLAP", "time", NULL, 25);
    CHECK(&made, "main->cudaMallocHost", "time", NULL, 100);
    CHECK(&made, "main->cudaFreeAsync", "time", NULL, 100);
    CHECK(&made, "[Uncorrelated]->GRAPH 3", "time", "stream 0", 5);
    CHECK(&made, "[Uncorrelated]->HOST_TO_DEVICE", "time", "stream 1", 20 - 10);
    assay_id wait_context = context_of(&made, "main->cudaDeviceSynchronize->CONTEXT_SYNCHRONIZE->WAIT");
    assert_true(as_ds_context(made.ds, wait_context)->is_aside);
    assert_false(as_ds_context(made.ds, as_ds_context(made.ds, wait_context)->parent)->is_aside);
    free_export(&made);
}

static void regions_with_kernels_know_when_the_gpu_is_idle(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_RANGES);
    add_range(&made, 0, NULL, "main", 0, 1000);
    add_range(&made, 0, NULL, "main->solve", 100, 400);
    add_range(&made, 0, NULL, "main->rest", 600, 700);
    add_range(&made, 0, NULL, "main->full", 800, 900);
    add_kernel(&made, AS_NS_NONE, 0, "k", 50, 200, 1);
    add_kernel(&made, AS_NS_NONE, 1, "k", 150, 300, 1);
    add_kernel(&made, AS_NS_NONE, 1, "k", 800, 900, 1);
    find_all(&made);
    CHECK(&made, "main->GPU IDLE", "time", "thread 8", 500 - 50); /* from 50 to 100 */
    CHECK(&made, "main->solve->GPU IDLE", "time", "thread 8", 300 - 200);
    CHECK_NONE(&made, "main->rest->GPU IDLE", "time");
    CHECK_NONE(&made, "main->full->GPU IDLE", "time");
    assert_true(as_ds_context(made.ds, context_of(&made, "main->GPU IDLE"))->is_aside);
    free_export(&made);
}

static void plain_exports_have_time_of_the_host(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_PLAIN);
    add_range(&made, 0, "step", NULL, 0, 1000);
    add_range(&made, 0, "inner", NULL, 100, 300);
    uint32_t launch = add_call(&made, 0, "launch", 150, 170), copy = add_call(&made, 0, "copy", 400, 450);
    add_kernel(&made, launch, 0, "k", 500, 600, 1);
    add_kernel(&made, launch, 1, "k", 500, 600, 1);
    add_copy(&made, copy, 0, PAGEABLE, 410, 440, 77);
    add_memset(&made, copy, 0, 440, 441, 3);
    add_osrt(&made, 0, "fopen", 0, 10, 100);
    add_osrt(&made, 0, "open", 1, 20, 50);
    find_all(&made);
#define THREAD "process 7->thread 8"
    CHECK(&made, THREAD "->step", "time", "thread 8", 1000 - 200 - 50);
    CHECK(&made, THREAD "->step->inner", "time", NULL, 200 - 20);
    CHECK(&made, THREAD "->step->inner->launch", "time", NULL, 20);
    CHECK(&made, THREAD "->step->inner->launch->GPU k", "gpu_time", "stream 0", 100);
    CHECK(&made, THREAD "->step->inner->launch->GPU k", "gpu_time", NULL, 200);
    CHECK(&made, THREAD "->step->inner->launch->GPU k", "visits", NULL, 2);
    CHECK_NONE(&made, THREAD "->step->inner->launch->GPU k", "time");
    CHECK(&made, THREAD "->step->copy", "time", NULL, 50);
    CHECK(&made, THREAD "->step->copy->HOST_TO_DEVICE", "bytes", NULL, 77);
    CHECK(&made, THREAD "->step->copy->GPU MEMSET", "bytes", NULL, 3);
    CHECK(&made, "[OS runtime]->thread 8->fopen", "time", "thread 8", 90 - 30);
    CHECK(&made, "[OS runtime]->thread 8->fopen->open", "time", "thread 8", 30);
    assert_true(as_context_is_section(made.ds, context_of(&made, "[OS runtime]")));
#undef THREAD
    free_export(&made);
}

static double attribute_of(const made_export *made, as_owner owner, assay_id id, const char *key) {
    for (size_t i = 0; i < AS_COUNT(made->ds, attributes); i++) {
        const as_attribute *attribute = as_ds_attribute(made->ds, i);
        if (attribute->owner == owner && attribute->owner_id == id &&
            strcmp(as_ds_text(made->ds, attribute->key), key) == 0)
            return attribute->value.r;
    }
    return NAN;
}

static void devices_say_how_busy_they_are(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_PLAIN);
    assay_id device = add_place(&made, "device", "device 1", ASSAY_NONE, false),
             stream = add_place(&made, "stream", "stream 2", device, true);
    ADD(&made, devices, (as_ns_device){.id = 1, .name = AS_NO_STR, .location = device});
    ADD(&made, streams, (as_ns_stream){.process = 0, .device = 1, .stream = 2, .location = stream});
    add_call(&made, 0, "f", 0, 1000);
    add_kernel(&made, AS_NS_NONE, 0, "k", 0, 100, 1);
    add_kernel(&made, AS_NS_NONE, 1, "k", 50, 200, 1);
    add_kernel(&made, AS_NS_NONE, 2, "k", 150, 300, 1);
    find_all(&made);
    assay_id first = AS_NS_AT(as_ns_device, made.x, devices, 0)->location;
    assert_true(fabs(attribute_of(&made, AS_OWNER_LOCATION, first, "gpu_busy_time") - 200e-9) < 1e-15);
    assert_true(fabs(attribute_of(&made, AS_OWNER_LOCATION, first, "gpu_utilisation") - 0.2) < 1e-12);
    assert_true(fabs(attribute_of(&made, AS_OWNER_LOCATION, device, "gpu_utilisation") - 0.15) < 1e-12);
    assert_true(fabs(attribute_of(&made, AS_OWNER_RUN, 0, "gpu_busy_time") - 300e-9) < 1e-15);
    assert_true(fabs(attribute_of(&made, AS_OWNER_RUN, 0, "gpu_concurrency") - 400.0 / 300) < 1e-12);
    free_export(&made);
}

static void an_empty_export_has_nothing(void **state) {
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        made_export made;
        make_export(&made, mode ? AS_NS_PLAIN : AS_NS_RANGES);
        find_all(&made);
        assert_int_equal(AS_COUNT(made.ds, contexts), 0);
        assert_int_equal(AS_COUNT(made.ds, blocks), 0);
        free_export(&made);
    }
}

static void times_at_the_ends_of_numbers(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_RANGES);
    add_range(&made, 0, NULL, "main", INT64_MIN + 1, INT64_MAX); /* longer than a number can say */
    for (int i = 0; i < 3; i++) {
        add_range(&made, 0, NULL, "main", 0, INT64_MAX);
        uint32_t call = add_call(&made, 0, "cudaMemcpy", 1, INT64_MAX - 1);
        add_kernel(&made, call, 0, "k", -5, INT64_MAX - 6, INT64_MAX);
        add_copy(&made, call, 0, PAGEABLE, 0, INT64_MAX, UINT64_MAX);
        add_sync(&made, call, "X", 0, INT64_MAX);
    }
    find_all(&made);
    free_export(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_lose_what_is_inside),
        cmocka_unit_test(no_region_has_less_than_nothing),
        cmocka_unit_test(kernels_share_their_device),
        cmocka_unit_test(copies_that_block_take_time_from_their_call),
        cmocka_unit_test(waits_overlap_with_what_runs),
        cmocka_unit_test(regions_with_kernels_know_when_the_gpu_is_idle),
        cmocka_unit_test(plain_exports_have_time_of_the_host),
        cmocka_unit_test(devices_say_how_busy_they_are),
        cmocka_unit_test(an_empty_export_has_nothing),
        cmocka_unit_test(times_at_the_ends_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
