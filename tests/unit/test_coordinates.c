/* Points and ranges as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/scaling/coordinates.h"
#include "helpers.h"

static as_dataset *with_parameters(const char *names, const char *points) {
    char text[1000];
    snprintf(text, sizeof text, "PARAMETER %s\nPOINTS %s\nREGION main\nMETRIC time\nDATA 1\n", names, points);
    return read_text("extrap-text", text);
}

static void assert_points(const as_dataset *ds, const char *text, const double *expected, size_t n) {
    as_vec points;
    as_vec_init(&points, sizeof(double), NULL);
    assay_error error = {0};
    if (as_points_parse(ds, text, &points, &error) != ASSAY_OK) fail_msg("%s", error.message);
    if (points.count != n) fail_msg("%s: %zu numbers, not %zu", text, points.count, n);
    for (size_t i = 0; i < n; i++) {
        double got = AS_AT(double, &points, i);
        if (got != expected[i]) fail_msg("%s: number %zu is %.17g, not %.17g", text, i, got, expected[i]);
    }
    as_vec_free(&points);
}
#define POINTS(ds, text, ...)                                                                                          \
    assert_points(ds, text, (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double))

static void assert_no_points(const as_dataset *ds, const char *text, const char *words) {
    as_vec points;
    as_vec_init(&points, sizeof(double), NULL);
    assay_error error = {0};
    if (as_points_parse(ds, text, &points, &error) != ASSAY_E_USAGE) fail_msg("accepted: %s", text);
    if (!strstr(error.message, words)) fail_msg("%s: \"%s\" does not say \"%s\"", text, error.message, words);
    assert_int_equal(points.count, 0);
    as_vec_free(&points);
}

static void one_parameter(void **state) {
    (void)state;
    as_dataset *ds = with_parameters("p", "2 4");
    POINTS(ds, "p=4096", 4096);
    POINTS(ds, "4096", 4096);
    POINTS(ds, " p = 1.5e3 ", 1500);
    POINTS(ds, "p=64..1024:x2", 64, 128, 256, 512, 1024);
    POINTS(ds, "64..1024", 64, 128, 256, 512, 1024);
    POINTS(ds, "64..1000", 64, 128, 256, 512);
    POINTS(ds, "p=10..40:+10", 10, 20, 30, 40);
    POINTS(ds, "p=10..39:+10", 10, 20, 30);
    POINTS(ds, "p=0..0.3:+0.1", 0, 0.1, 0.2, 0.3);
    POINTS(ds, "p=1..1.331:x1.1", 1, 1.1, 1.21, 1.331);
    POINTS(ds, "p=8..1:x0.5", 8, 4, 2, 1);
    POINTS(ds, "p=3..1:+-1", 3, 2, 1);
    POINTS(ds, "p=7..7", 7);
    POINTS(ds, "p=-5", -5);
    POINTS(ds, "p=9007199254740993..9007199254740993:+1", 9007199254740992);
    as_dataset_free(ds);
}

static void several_parameters(void **state) {
    (void)state;
    as_dataset *ds = with_parameters("p n", "(2 10) (4 10)");
    POINTS(ds, "p=4096,n=100", 4096, 100);
    POINTS(ds, "n=100, p=4096", 4096, 100);
    POINTS(ds, "n=1..4:x2,p=10..20:+10", 10, 1, 10, 2, 10, 4, 20, 1, 20, 2, 20, 4);
    assert_no_points(ds, "p=4", "'n'");
    assert_no_points(ds, "4", "NAME=VALUE");
    assert_no_points(ds, "p=4,n=1,p=5", "twice");
    assert_no_points(ds, "p=1..100000:+1,n=1..2", "more than 100000");
    as_dataset_free(ds);
}

static void nonsense(void **state) {
    (void)state;
    as_dataset *ds = with_parameters("procs", "2 4");
    assert_no_points(ds, "", "no point; one is procs=64");
    assert_no_points(ds, "proc=4", "did you mean 'procs'?");
    assert_no_points(ds, "x=4", "no parameter 'x'");
    assert_no_points(ds, "procs=", "a number is missing");
    assert_no_points(ds, "procs=four", "'four'");
    assert_no_points(ds, "procs=inf", "finite");
    assert_no_points(ds, "procs=1e999", "finite");
    assert_no_points(ds, "procs=nan", "finite");
    assert_no_points(ds, "procs=4,", "NAME=VALUE");
    assert_no_points(ds, "procs=4,5", "NAME=VALUE");
    assert_no_points(ds, "procs=1..", "a number is missing");
    assert_no_points(ds, "procs=1..8:2", "x2 (times)");
    assert_no_points(ds, "procs=1..8:x", "x2 (times)");
    assert_no_points(ds, "procs=1..8:x1", "never reaches");
    assert_no_points(ds, "procs=1..8:x0.5", "never reaches");
    assert_no_points(ds, "procs=1..8:+0", "never reaches");
    assert_no_points(ds, "procs=8..1", "never reaches");
    assert_no_points(ds, "procs=0..8", "above 0");
    assert_no_points(ds, "procs=1..8:x-2", "above 0");
    assert_no_points(ds, "procs=1..1e9:+1", "more than 100000");
    assert_no_points(ds, "procs=-1.7e308..1.7e308:+1e-300", "never reaches");
    as_dataset_free(ds);
}

/* The point "p=4" of a parameter called "p=4,n" is no puzzle when names are looked up first. */
static void odd_names(void **state) {
    (void)state;
    as_dataset *ds = read_text("extrap-jsonl", "{\"params\":{\"a,b\":1,\"a\":2},\"value\":1}\n"
                                               "{\"params\":{\"a,b\":2,\"a\":2},\"value\":1}\n");
    POINTS(ds, "a=7,a,b=8", 8, 7);
    POINTS(ds, "a,b=8,a=7", 8, 7);
    as_dataset_free(ds);
}

static void extrapolation(void **state) {
    (void)state;
    as_dataset *ds = with_parameters("p n", "(2 10) (128 10) (8 40)");
    assay_id parameter;
    assert_true(as_extrapolation(ds, (double[]){64, 20}, &parameter) == 1);
    assert_true(as_extrapolation(ds, (double[]){65536, 20}, &parameter) == 512);
    assert_int_equal(parameter, 0);
    assert_true(as_extrapolation(ds, (double[]){256, 120}, &parameter) == 3);
    assert_int_equal(parameter, 1);
    assert_true(as_extrapolation(ds, (double[]){1, 10}, NULL) == 2);
    assert_true(isinf(as_extrapolation(ds, (double[]){0, 10}, &parameter)));
    assert_int_equal(parameter, 0);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_parameter), cmocka_unit_test(several_parameters), cmocka_unit_test(nonsense),
        cmocka_unit_test(odd_names),     cmocka_unit_test(extrapolation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
