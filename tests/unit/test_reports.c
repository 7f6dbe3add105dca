/* Reports over activities: rows, totals, medians and deviations, reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/reports.h"
#include "dataset/build.h"

/* Times in ns. */
static assay_id add(as_dataset *ds, const char *kind, const char *name, int64_t start, int64_t end) {
    as_event event = {.source_id = AS_NO_STR,
                      .name = as_ds_intern_text(ds, name),
                      .kind = as_ds_intern_text(ds, kind),
                      .location = ASSAY_NONE,
                      .context = ASSAY_NONE,
                      .start = (double)start / 1e9,
                      .end = (double)end / 1e9,
                      .start_raw = as_cell_int(start),
                      .end_raw = as_cell_int(end)};
    assert_true(as_add_event(ds, &event));
    return (assay_id)(as_ds_intervals(ds) - 1);
}

static void say(as_dataset *ds, assay_id event, const char *key, as_cell value) {
    assert_true(as_add_attribute(ds, AS_OWNER_EVENT, event, key, value));
}

static as_dataset *make(void) {
    as_dataset *ds = as_dataset_new(0);
    as_add_run(ds, &AS_RUN_INIT);
    return ds;
}

/* Rows as text: "total n mean median minimum maximum deviation share name", with what else they say. */
static void expect(const as_dataset *ds, const char *name, const bool *locations, const char *expected) {
    as_report_request request = {.ds = ds, .locations = locations};
    as_report report;
    assay_error error;
    char text[2000] = "";
    size_t size = 0;
    assert_true(as_report_parse(name, &request.kind, &request.names));
    assert_int_equal(as_report_make(&request, &report, &error), ASSAY_OK);
    for (size_t i = 0; i < report.rows.count; i++) {
        const as_report_row *row = &AS_AT(as_report_row, &report.rows, i);
        size +=
            (size_t)snprintf(text + size, sizeof text - size, "%.10g %d %.10g %.10g %.10g %.10g %.4f %.4f %s%s%s%s\n",
                             row->total, (int)row->n, row->mean, row->median, row->minimum, row->maximum,
                             row->deviation, row->share, row->category ? row->category : "",
                             row->style ? row->style : "", row->category || row->style ? " " : "", row->name);
    }
    assert_string_equal(text, expected);
    as_report_free(&report);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* add took 10, 20 and 60 as add<float> and 10 as add<double>; its mean is 100 / 4 = 25, its deviation sqrt((225 + 25 +
 * 1225 + 225) / 3). */
static void kernels_by_name(void **state) {
    (void)state;
    as_dataset *ds = make();
    static const int64_t lengths[] = {10, 60, 20, 10};
    for (int i = 0; i < 4; i++) {
        assay_id id = add(ds, "kernel", "add", 1000 * i, 1000 * i + lengths[i]);
        say(ds, id, "grid", as_cell_text("1,1,1"));
        say(ds, id, "demangled_name", as_cell_text(i < 3 ? "void add<float>(T1 *)" : "void add<double>(T1 *)"));
        say(ds, id, "mangled_name", as_cell_text(i < 3 ? "_Z3addIfEvPT_" : "_Z3addIdEvPT_"));
    }
    add(ds, "kernel", "copy", 10000, 10100); /* has only this name */
    add(ds, "api", "cudaLaunchKernel_v7000", 0, 500);
    expect(ds, "cuda_gpu_kern_sum", NULL,
           "100 1 100 100 100 100 0.0000 0.5000 copy\n"
           "90 3 30 20 10 60 26.4575 0.4500 void add<float>(T1 *)\n" /* (400 + 100 + 900) / 2 = 700 */
           "10 1 10 10 10 10 0.0000 0.0500 void add<double>(T1 *)\n");
    expect(ds, "cuda_gpu_kern_sum:base", NULL, /* the same total: by name. The median of 10 10 20 60 is 15 */
           "100 4 25 15 10 60 23.8048 0.5000 add\n"
           "100 1 100 100 100 100 0.0000 0.5000 copy\n");
    expect(ds, "cuda_gpu_kern_sum:mangled", NULL,
           "100 1 100 100 100 100 0.0000 0.5000 copy\n"
           "90 3 30 20 10 60 26.4575 0.4500 _Z3addIfEvPT_\n"
           "10 1 10 10 10 10 0.0000 0.0500 _Z3addIdEvPT_\n");
    as_dataset_free(ds);
}

/* ---- the API ----------------------------------------------------------------------------------------------------- */

static void versions_of_calls_are_left_out(void **state) {
    (void)state;
    as_dataset *ds = make();
    add(ds, "api", "cudaMalloc_v3020", 0, 30);
    add(ds, "api", "cudaMalloc", 100, 110);
    add(ds, "api", "cuMemAlloc_v2", 200, 225);    /* another function than cuMemAlloc */
    add(ds, "api", "cudaFree_v30x0", 300, 301);   /* no version */
    add(ds, "api", "cudaBegin_v10000", 400, 402); /* nsys knows four digits */
    add(ds, "api", "_v3020", 500, 503);           /* nothing would be left */
    expect(ds, "cuda_api_sum", NULL,
           "40 2 20 20 10 30 14.1421 0.5634 cudaMalloc\n" /* 40 / 71 */
           "25 1 25 25 25 25 0.0000 0.3521 cuMemAlloc_v2\n"
           "3 1 3 3 3 3 0.0000 0.0423 _v3020\n"
           "2 1 2 2 2 2 0.0000 0.0282 cudaBegin_v10000\n"
           "1 1 1 1 1 1 0.0000 0.0141 cudaFree_v30x0\n");
    as_dataset_free(ds);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void add_copy(as_dataset *ds, const char *kind, const char *name, int64_t length, int64_t bytes) {
    say(ds, add(ds, kind, name, 0, length), "bytes", as_cell_int(bytes));
}

static as_dataset *make_copies(void) {
    as_dataset *ds = make();
    add_copy(ds, "memcpy", "HOST_TO_DEVICE", 10, 4000000);
    add_copy(ds, "memcpy", "HOST_TO_DEVICE", 30, 2000000);
    add_copy(ds, "memcpy", "UMA_DEVICE_TO_HOST", 100, 1000);
    add_copy(ds, "memcpy", "UNKNOWN_COPY_KIND_77", 1, 1);
    add_copy(ds, "memset", "MEMSET 0", 5, 64);
    add_copy(ds, "memset", "MEMSET 255", 7, 128); /* whatever is set is one operation */
    add(ds, "kernel", "k", 0, 48);
    add(ds, "api", "k", 0, 48); /* of the same name, but of another kind */
    return ds;
}

static void operations_of_memory(void **state) {
    (void)state;
    as_dataset *ds = make_copies();
    expect(ds, "cuda_gpu_mem_time_sum", NULL, /* of 153 */
           "100 1 100 100 100 100 0.0000 0.6536 [CUDA memcpy Unified Device-to-Host]\n"
           "40 2 20 20 10 30 14.1421 0.2614 [CUDA memcpy Host-to-Device]\n"
           "12 2 6 6 5 7 1.4142 0.0784 [CUDA memset]\n"
           "1 1 1 1 1 1 0.0000 0.0065 [CUDA memcpy UNKNOWN_COPY_KIND_77]\n");
    expect(ds, "cuda_gpu_mem_size_sum", NULL,
           "6000000 2 3000000 3000000 2000000 4000000 1414213.5624 0.9998 [CUDA memcpy Host-to-Device]\n"
           "1000 1 1000 1000 1000 1000 0.0000 0.0002 [CUDA memcpy Unified Device-to-Host]\n"
           "192 2 96 96 64 128 45.2548 0.0000 [CUDA memset]\n"
           "1 1 1 1 1 1 0.0000 0.0000 [CUDA memcpy UNKNOWN_COPY_KIND_77]\n");
    as_dataset_free(ds);
}

static void kinds_side_by_side(void **state) {
    (void)state;
    as_dataset *ds = make_copies();
    expect(ds, "cuda_gpu_sum", NULL, /* of 201 */
           "100 1 100 100 100 100 0.0000 0.4975 MEMORY_OPER [CUDA memcpy Unified Device-to-Host]\n"
           "48 1 48 48 48 48 0.0000 0.2388 CUDA_KERNEL k\n"
           "40 2 20 20 10 30 14.1421 0.1990 MEMORY_OPER [CUDA memcpy Host-to-Device]\n"
           "12 2 6 6 5 7 1.4142 0.0597 MEMORY_OPER [CUDA memset]\n"
           "1 1 1 1 1 1 0.0000 0.0050 MEMORY_OPER [CUDA memcpy UNKNOWN_COPY_KIND_77]\n");
    expect(ds, "cuda_api_gpu_sum:base", NULL, /* of 249 */
           "100 1 100 100 100 100 0.0000 0.4016 MEMORY_OPER [CUDA memcpy Unified Device-to-Host]\n"
           "48 1 48 48 48 48 0.0000 0.1928 CUDA_API k\n"
           "48 1 48 48 48 48 0.0000 0.1928 CUDA_KERNEL k\n"
           "40 2 20 20 10 30 14.1421 0.1606 MEMORY_OPER [CUDA memcpy Host-to-Device]\n"
           "12 2 6 6 5 7 1.4142 0.0482 MEMORY_OPER [CUDA memset]\n"
           "1 1 1 1 1 1 0.0000 0.0040 MEMORY_OPER [CUDA memcpy UNKNOWN_COPY_KIND_77]\n");
    as_dataset_free(ds);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static void add_range(as_dataset *ds, const char *name, int64_t start, int64_t end, const char *style,
                      const char *domain) {
    assay_id id = add(ds, "nvtx", name, start, end);
    if (end < 0) AS_AT(as_event, &ds->events, id).end = NAN;
    if (style) say(ds, id, "style", as_cell_text(style));
    if (domain) say(ds, id, "domain", as_cell_text(domain));
}

static void ranges_by_domain_and_style(void **state) {
    (void)state;
    as_dataset *ds = make();
    add_range(ds, "step", 0, 50, "PushPop", NULL);
    add_range(ds, "step", 100, 130, "PushPop", NULL);
    add_range(ds, "step", 0, 15, "StartEnd", NULL);
    add_range(ds, "step", 0, 5, "PushPop", "NCCL");
    add_range(ds, "step", 0, -1, "PushPop", NULL); /* never closed */
    add_range(ds, "here", 3, 3, "Mark", NULL);
    expect(ds, "nvtx_sum", NULL,
           "80 2 40 40 30 50 14.1421 0.8000 PushPop :step\n"
           "15 1 15 15 15 15 0.0000 0.1500 StartEnd :step\n"
           "5 1 5 5 5 5 0.0000 0.0500 PushPop NCCL:step\n");
    expect(ds, "nvtx_pushpop_sum", NULL,
           "80 2 40 40 30 50 14.1421 0.9412 :step\n"
           "5 1 5 5 5 5 0.0000 0.0588 NCCL:step\n");
    expect(ds, "nvtx_startend_sum", NULL, "15 1 15 15 15 15 0.0000 1.0000 :step\n");
    expect(ds, "osrt_sum", NULL, "");
    as_dataset_free(ds);
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* 9e15 ns are 104 days: seconds since then are no exact ns any more, but what is stored is. */
static void times_are_exact(void **state) {
    (void)state;
    as_dataset *ds = make();
    int64_t late = 9000000000000001;
    add(ds, "osrt", "poll", late, late + 3);
    add(ds, "osrt", "poll", late, late + 4);
    add(ds, "osrt", "poll", 20, 10);                                            /* a broken clock */
    expect(ds, "osrt_sum", NULL, "7 3 2.333333333 3 0 4 2.0817 1.0000 poll\n"); /* (5.444 + 0.444 + 2.778) / 2 */
    as_event event = {.start = 2, .end = 2.5, .start_raw = as_cell_int(2000), .end_raw = as_cell_int(2500)};
    assert_true(as_event_nanoseconds(&event) == 5e8); /* stored in ms */
    event = (as_event){.start = 2e-6, .end = 7e-6, .start_raw = as_cell_int(2), .end_raw = as_cell_int(7)};
    assert_true(fabs(as_event_nanoseconds(&event) - 5000) < 1e-6); /* in us */
    as_dataset_free(ds);
}

static void some_locations(void **state) {
    (void)state;
    as_dataset *ds = make();
    for (assay_id i = 0; i < 2; i++) as_add_location(ds, &AS_LOCATION_INIT);
    for (int i = 0; i < 3; i++) add(ds, "kernel", "k", 0, 5 + 2 * i);
    AS_AT(as_event, &ds->events, 0).location = 0;
    AS_AT(as_event, &ds->events, 1).location = 1; /* and the third is nowhere */
    expect(ds, "cuda_gpu_kern_sum", (const bool[]){false, true}, "7 1 7 7 7 7 0.0000 1.0000 k\n");
    expect(ds, "cuda_gpu_kern_sum", NULL, "21 3 7 7 5 9 2.0000 1.0000 k\n");
    as_dataset_free(ds);
}

static void names_of_reports(void **state) {
    (void)state;
    const as_report_kind *kind;
    as_report_names names;
    assert_true(as_report_parse("cuda_gpu_sum:mangled", &kind, &names) && names == AS_NAMES_MANGLED);
    assert_false(as_report_parse("cuda_api_sum:base", &kind, &names));
    assert_false(as_report_parse("cuda_gpu_kern_sum:", &kind, &names));
    assert_false(as_report_parse("cuda_gpu_kern_sum:short", &kind, &names));
    assert_false(as_report_parse("cuda_gpu_kern", &kind, &names));
    assert_false(as_report_parse("", &kind, &names));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_by_name),
        cmocka_unit_test(versions_of_calls_are_left_out),
        cmocka_unit_test(operations_of_memory),
        cmocka_unit_test(kinds_side_by_side),
        cmocka_unit_test(ranges_by_domain_and_style),
        cmocka_unit_test(times_are_exact),
        cmocka_unit_test(some_locations),
        cmocka_unit_test(names_of_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
