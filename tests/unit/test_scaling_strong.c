/* Strong scaling: recognised, and turned into total work; values by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/scaling/strong.h"
#include "helpers.h"

static assay_id detected(const char *text) {
    as_dataset *ds = read_text("extrap-text", text);
    assay_id parameter;
    assert_true(as_strong_detect(ds, &parameter));
    as_dataset_free(ds);
    return parameter;
}

static void falling_time_is_seen(void **state) {
    (void)state;
    /* main grows, but the whole falls: 12, 9, 8 */
    assert_int_equal(detected("PARAMETER p\nPOINTS 1 2 4\nMETRIC time\nREGION main\nDATA 1\nDATA 2\nDATA 3\n"
                              "REGION main->f\nDATA 11\nDATA 7\nDATA 5\n"),
                     0);
    assert_int_equal(detected("PARAMETER p\nPOINTS 1 2 4\nMETRIC time\nREGION main\nDATA 3\nDATA 2\nDATA 2\n"),
                     ASSAY_NONE);
    assert_int_equal(detected("PARAMETER p\nPOINTS 1\nMETRIC time\nREGION main\nDATA 3\n"), ASSAY_NONE);
    /* other metrics do not count where there is time */
    assert_int_equal(detected("PARAMETER p\nPOINTS 1 2\nREGION main\nMETRIC time\nDATA 2\nDATA 3\nMETRIC bytes\nDATA "
                              "2\nDATA 1\n"),
                     ASSAY_NONE);
    assert_int_equal(detected("PARAMETER p\nPOINTS 1 2\nREGION main\nMETRIC bytes\nDATA 2\nDATA 1\n"), 0);
}

/* Along n the time grows, along p it falls; points come in any order. */
static void falling_along_one_of_two(void **state) {
    (void)state;
    assert_int_equal(detected("PARAMETER n p\nPOINTS (1 4) (1 2) (2 4) (1 1) (2 2)\nREGION main\nMETRIC time\n"
                              "DATA 2\nDATA 4\nDATA 3\nDATA 8\nDATA 6\n"),
                     1);
}

static void values_are_multiplied(void **state) {
    (void)state;
    as_dataset *ds = read_text("extrap-text", "PARAMETER n p\nPOINTS (9 2) (9 4)\nREGION r\nMETRIC time\nDATA 10 11\n"
                                              "DATA 5.5\n");
    assert_true(as_scale_strong(ds, 1));
    assert_described(ds, "r time (9,2): 20 22\nr time (9,4): 22\n");
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->dtype), "DOUBLE");
    assert_int_equal(as_ds_scaling(ds), AS_SCALING_WEAK);
    assert_true(as_set_scaling(ds, AS_SCALING_STRONG) && as_set_scaling(ds, AS_SCALING_STRONG));
    assert_int_equal(as_ds_scaling(ds), AS_SCALING_STRONG);
    assert_int_equal(ds->attributes.count, 1);
    as_dataset_free(ds);
}

static const char PLACES[] = "{\"params\":{\"p\":2},\"callpath\":\"r\",\"metric\":\"time\",\"value\":[[1,0,3],[0,0]]}\n"
                             "{\"params\":{\"p\":4},\"callpath\":\"r\",\"metric\":\"time\",\"value\":[[5,6]]}\n";

static void places_are_added_up(void **state) {
    (void)state;
    as_dataset *ds = read_text("extrap-jsonl", PLACES);
    assert_true(as_has_places(ds));
    assert_true(as_scale_places(ds, AS_SCALING_STRONG));
    assert_false(as_has_places(ds));
    assert_described(ds, "r time (2): 4 0\nr time (4): 11\n");
    as_dataset_free(ds);
}

static void idle_places_are_left_out(void **state) {
    (void)state;
    as_dataset *ds = read_text("extrap-jsonl", PLACES);
    assert_true(as_scale_places(ds, AS_SCALING_WEAK_THREADED));
    assert_described(ds, "r time (2): [1 3] [0 0]\nr time (4): [5 6]\n");
    as_dataset_free(ds);
    ds = read_text("extrap-jsonl", PLACES);
    assert_true(as_scale_places(ds, AS_SCALING_WEAK));
    assert_described(ds, "r time (2): [1 0 3] [0 0]\nr time (4): [5 6]\n");
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(falling_time_is_seen),     cmocka_unit_test(falling_along_one_of_two),
        cmocka_unit_test(values_are_multiplied),    cmocka_unit_test(places_are_added_up),
        cmocka_unit_test(idle_places_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
