/* How busy GPUs were, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/busy.h"
#include "dataset/build.h"

static as_dataset *ds;

static assay_id add_place(assay_id parent) {
    as_location location = AS_LOCATION_INIT;
    location.parent = parent;
    location.leaf = parent != ASSAY_NONE;
    return as_add_location(ds, &location);
}

static void add(const char *kind, assay_id location, double start, double end) {
    as_event event = {.source_id = AS_NO_STR,
                      .name = AS_NO_STR,
                      .kind = as_ds_intern_text(ds, kind),
                      .location = location,
                      .context = ASSAY_NONE,
                      .start = start,
                      .end = end};
    assert_true(as_add_event(ds, &event));
}

static void what_runs_at_once_counts_once(void **state) {
    (void)state;
    ds = as_dataset_new(0);
    assay_id one = add_place(ASSAY_NONE), a = add_place(one), b = add_place(one), two = add_place(ASSAY_NONE),
             c = add_place(two), thread = add_place(ASSAY_NONE);
    add("api", thread, 0, 20);
    add("kernel", b, 3, 6); /* in no order */
    add("kernel", a, 1, 4);
    add("kernel", a, 4, 5);   /* within */
    add("memcpy", b, 5, 8);   /* 2 s more */
    add("memset", a, 10, 11); /* alone */
    add("kernel", a, 15, 14); /* a broken clock */
    add("sample", thread, 22, NAN);
    add("graph", c, 0, 4);
    add("kernel", ASSAY_NONE, 0, 20); /* nobody knows where */
    as_vec devices;
    double span;
    as_vec_init(&devices, sizeof(as_device_busy), NULL);
    assert_true(as_devices_busy(ds, &devices, &span));
    assert_int_equal(devices.count, 2);
    assert_true(span == 22);
    const as_device_busy *found = devices.data;
    assert_int_equal(found[0].device, one);
    assert_true(found[0].kernels == 5 && found[0].all == 8); /* 1 … 6; 1 … 8 and 10 … 11 */
    assert_int_equal(found[1].device, two);
    assert_true(found[1].kernels == 4 && found[1].all == 4);
    as_vec_free(&devices);
    as_dataset_free(ds);
}

static void without_gpus(void **state) {
    (void)state;
    as_vec devices;
    double span;
    ds = as_dataset_new(0);
    as_vec_init(&devices, sizeof(as_device_busy), NULL);
    assert_true(as_devices_busy(ds, &devices, &span));
    assert_true(devices.count == 0 && span == 0);
    as_vec_free(&devices);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_runs_at_once_counts_once), cmocka_unit_test(without_gpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
