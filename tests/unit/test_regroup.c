/* Call trees by what their contexts are: each value once, at its place. Reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/algebra/algebra.h"
#include "profiles.h"

#include "blocks.h" /* behind the other, whose locals have the name of a type here */

/* What regions are, by their names. */
static const char *const kinds[][2] = {{"process1", "process"}, {"process2", "process"}, {"thread1", "thread"},
                                       {"thread2", "thread"},   {"step", "nvtx"},        {"inner", "nvtx"},
                                       {"launch", "api"},       {"copy", "api"},         {"wait", "api"},
                                       {"GPU_k", "kernel"},     {"k", "launch"},         {"HOST_TO_DEVICE", "memcpy"},
                                       {"OVERLAP", "overlap"},  {"WAIT", "wait"},        {"main", "region"},
                                       {"solve", "region"},     {"CONTEXT", "sync"},     {"[OS_runtime]", "section"},
                                       {"poll", "osrt"}};

static as_dataset *make(const char *metrics, const char *tree) {
    as_dataset *ds = make_profile("", metrics, tree);
    for (assay_id i = 0; i < ds->regions.count; i++) {
        as_region *region = &AS_AT(as_region, &ds->regions, i);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (strcmp(as_ds_text(ds, region->name), kinds[k][0]) == 0)
                region->kind = as_ds_intern_text(ds, kinds[k][1]);
        region->line_begin = -1;
    }
    for (assay_id i = 0; i < ds->contexts.count; i++) {
        as_context *context = &AS_AT(as_context, &ds->contexts, i);
        context->is_aside = strcmp(as_ds_text(ds, context->name), "WAIT") == 0;
    }
    ds->path = as_ds_intern_text(ds, "report.sqlite");
    return ds;
}

static void expect(const as_dataset *ds, as_regrouping by, const char *expected) {
    as_dataset *out = NULL;
    assay_error error;
    if (as_regroup(ds, by, &out, &error) != ASSAY_OK) fail_msg("%s", error.message);
    assert_tree(out, expected);
    assert_string_equal(as_ds_text(out, out->path), "report.sqlite");
    as_dataset_free(out);
}

/* time of the host, and that of the GPU */
static as_dataset *plain(void) {
    return make("time DOUBLE exclusive; gpu_time DOUBLE exclusive", "process1\n"
                                                                    "  thread1\n"
                                                                    "    step | 10 | -\n"
                                                                    "      launch | 3 | -\n"
                                                                    "        GPU_k | - | 100\n"
                                                                    "      inner | 20 | -\n"
                                                                    "        launch | 5 | -\n"
                                                                    "          GPU_k | - | 200\n"
                                                                    "        copy | 7 | -\n"
                                                                    "          HOST_TO_DEVICE | - | 30\n"
                                                                    "    wait | 9 | -\n"
                                                                    "  thread2\n"
                                                                    "    step | 1 | -\n"
                                                                    "      launch | 2 | -\n"
                                                                    "        GPU_k | - | 400\n"
                                                                    "process2\n"
                                                                    "  thread1\n"
                                                                    "    launch | 4 | -\n"
                                                                    "      GPU_k | - | 800\n"
                                                                    "[Uncorrelated]\n"
                                                                    "  GPU_k | - | 1600\n"
                                                                    "[OS_runtime]\n"
                                                                    "  thread1\n"
                                                                    "    poll | 50 | -\n");
}

static void by_kernel(void **state) {
    (void)state;
    as_dataset *ds = plain();
    /* Of the launches in step two are of different threads: 100 + 400. The one of process2 has nobody above it but its
     * thread. */
    expect(ds, AS_REGROUP_KERNEL,
           "step | - | -\n"
           "  launch | - | -\n"
           "    GPU_k | - | 500\n"
           "  inner | - | -\n"
           "    launch | - | -\n"
           "      GPU_k | - | 200\n"
           "    copy | - | -\n"
           "      HOST_TO_DEVICE | - | 30\n"
           "launch | - | -\n"
           "  GPU_k | - | 800\n"
           "[Uncorrelated] | - | -\n"
           "  GPU_k | - | 1600\n");
    as_dataset_free(ds);
}

static void by_api(void **state) {
    (void)state;
    as_dataset *ds = plain();
    expect(ds, AS_REGROUP_API,
           "launch | 14 | -\n" /* 3 + 5 + 2 + 4 */
           "  GPU_k | - | 1500\n"
           "copy | 7 | -\n"
           "  HOST_TO_DEVICE | - | 30\n"
           "wait | 9 | -\n"
           "[Uncorrelated] | - | -\n"
           "  GPU_k | - | 1600\n");
    as_dataset_free(ds);
}

static void by_nvtx(void **state) {
    (void)state;
    as_dataset *ds = plain();
    expect(ds, AS_REGROUP_NVTX,
           "step | 11 | -\n"
           "  launch | 5 | -\n"
           "    GPU_k | - | 500\n"
           "  inner | 20 | -\n"
           "    launch | 5 | -\n"
           "      GPU_k | - | 200\n"
           "    copy | 7 | -\n"
           "      HOST_TO_DEVICE | - | 30\n"
           "(no NVTX range) | - | -\n"
           "  wait | 9 | -\n"
           "  launch | 4 | -\n"
           "    GPU_k | - | 800\n"
           "  GPU_k | - | 1600\n");
    as_dataset_free(ds);
}

/* With call paths: launches stand between a call and its kernel, overlaps below, and waits aside. */
static as_dataset *with_paths(void) {
    return make("time DOUBLE exclusive; visits UINT64 exclusive", "main | 1 | 1\n"
                                                                  "  solve | 2 | 3\n"
                                                                  "    launch | - | -\n"
                                                                  "      k | 4 | 2\n"
                                                                  "        GPU_k | 8 | 2\n"
                                                                  "          OVERLAP | 16 | -\n"
                                                                  "    wait | - | -\n"
                                                                  "      CONTEXT | 32 | 1\n"
                                                                  "        WAIT | 64 | -\n"
                                                                  "  launch | - | -\n"
                                                                  "    k | 128 | 1\n"
                                                                  "      GPU_k | 256 | 1\n");
}

static void call_paths(void **state) {
    (void)state;
    as_dataset *ds = with_paths(), *out = NULL;
    assay_error error;
    expect(ds, AS_REGROUP_KERNEL,
           "main | - | -\n"
           "  solve | - | -\n"
           "    launch | - | -\n"
           "      GPU_k | 24 | 2\n" /* 8 and what overlaps */
           "  launch | - | -\n"
           "    GPU_k | 256 | 1\n");
    expect(ds, AS_REGROUP_API,
           "launch | - | -\n"
           "  k | 132 | 3\n"
           "    GPU_k | 264 | 3\n"
           "      OVERLAP | 16 | -\n"
           "wait | - | -\n"
           "  CONTEXT | 32 | 1\n"
           "    WAIT | 64 | -\n");
    assert_int_equal(as_regroup(ds, AS_REGROUP_API, &out, &error), ASSAY_OK);
    assert_int_equal(as_ds_asides(out), 1);
    as_dataset_free(out);
    assert_int_equal(as_regroup(ds, AS_REGROUP_NVTX, &out, &error), ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "no NVTX ranges"));
    as_dataset_free(ds);
}

static void nothing_of_the_kind(void **state) {
    (void)state;
    as_dataset *ds = make("time DOUBLE exclusive", "main | 1\n  solve | 2\n"), *out = NULL;
    assay_error error;
    assert_int_equal(as_regroup(ds, AS_REGROUP_KERNEL, &out, &error), ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "GPU activities"));
    assert_int_equal(as_regroup(ds, AS_REGROUP_API, &out, &error), ASSAY_E_UNSUPPORTED);
    as_dataset_free(ds);
}

/* Regions of the same name and kind are one, also where a source has them twice. */
static void regions_are_united(void **state) {
    (void)state;
    as_dataset *ds = make("gpu_time DOUBLE exclusive",
                          "thread1\n  launch:1 | -\n    GPU_k:1 | 1\nthread2\n  launch:2 | -\n    GPU_k:2 | 2\n");
    assert_int_equal(ds->regions.count, 6);
    expect(ds, AS_REGROUP_KERNEL, "launch | -\n  GPU_k | 3\n");
    as_dataset_free(ds);
}

/* Values in blocks stay there: two runs, places, numbers at the limit of their type. */
static void blocks(void **state) {
    (void)state;
    as_dataset *ds = make("n UINT64 exclusive", "launch\n  GPU_k\nmain\n  launch\n    GPU_k\n"), *out = NULL;
    assay_error error;
    ds->profiles.count = 0;
    as_map_free(&ds->profile_of);
    as_map_init(&ds->profile_of, &ds->budget);
    as_add_run(ds, &AS_RUN_INIT);
    for (int i = 0; i < 2; i++) as_add_location(ds, &AS_LOCATION_INIT);
    static const row rows[] = {{1, 0, 0, {.u = 5}},
                               {1, 0, 1, {.u = 7}},
                               {1, 1, 0, {.u = UINT64_MAX}},
                               {4, 0, 1, {.u = 20}},
                               {4, 1, 0, {.u = 1}}};
    add_block(ds, 0, ASSAY_NONE, AS_DTYPE_UINT64, rows, 5);
    assert_int_equal(as_regroup(ds, AS_REGROUP_API, &out, &error), ASSAY_OK);
    const as_block *block = as_ds_metric_block(out, 0);
    assert_non_null(block);
    assert_int_equal(out->profiles.count, 0);
    assert_int_equal(block->n_contexts, 1); /* both kernels are one below launch */
    assert_int_equal(block->contexts[0], 1);
    static const row sums[] = {{1, 0, 0, {.u = 5}}, {1, 0, 1, {.u = 27}}, {1, 1, 0, {.u = UINT64_MAX}}};
    assert_int_equal(as_block_rows(block), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(as_block_run(block, i), sums[i].run);
        assert_int_equal(as_block_location(block, i), sums[i].location);
        assert_true(((const uint64_t *)block->values)[i] == sums[i].u);
    }
    assert_string_equal(as_ds_problem(out, 0)->rule, "beyond-limit");
    as_dataset_free(out);
    as_dataset_free(ds);
}

static void words(void **state) {
    (void)state;
    as_regrouping by;
    assert_true(as_regrouping_of("nvtx", &by) && by == AS_REGROUP_NVTX);
    assert_true(as_regrouping_of("kernel", &by) && by == AS_REGROUP_KERNEL);
    assert_false(as_regrouping_of("file", &by));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_kernel),
                                       cmocka_unit_test(by_api),
                                       cmocka_unit_test(by_nvtx),
                                       cmocka_unit_test(call_paths),
                                       cmocka_unit_test(nothing_of_the_kind),
                                       cmocka_unit_test(regions_are_united),
                                       cmocka_unit_test(blocks),
                                       cmocka_unit_test(words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
