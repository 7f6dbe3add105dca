/* Numbers in one unit a column: which unit, how many digits, separators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "render/quantity.h"

static as_number real(double value) { return (as_number){.kind = AS_REAL, .r = value}; }
static as_number whole(int64_t value) { return (as_number){.kind = AS_INT, .i = value}; }

static void check(const as_quantity *q, as_number value, const char *expected) {
    char text[AS_QUANTITY_SIZE];
    size_t size = as_quantity_format(q, value, text);
    assert_string_equal(text, expected);
    assert_int_equal(size, strlen(expected));
}

static void times_take_the_unit_of_the_largest(void **state) {
    (void)state;
    as_quantity q = as_quantity_of("sec", 24.551, false);
    assert_string_equal(q.unit, "s");
    check(&q, real(24.551), "24.55");
    check(&q, real(0.126), "0.13");
    check(&q, real(0), "0");
    check(&q, real(0.001), "0.00");
    check(&q, real(-0.001), "0.00");
    check(&q, real(-3.5), "-3.50");
    q = as_quantity_of("s", 0.0312, false);
    assert_string_equal(q.unit, "ms");
    check(&q, real(0.0312), "31.20");
    q = as_quantity_of("usec", 2500000, false);
    assert_string_equal(q.unit, "s");
    check(&q, real(2500000), "2.500");
    q = as_quantity_of("ns", 17, true);
    assert_string_equal(q.unit, "ns");
    q = as_quantity_of("seconds", 3e-6, false);
    assert_string_equal(q.unit, "µs");
    check(&q, real(3e-6), "3.000");
    q = as_quantity_of("sec", 9412.7, false);
    check(&q, real(9412.7), "9,412.7");
    check(&q, real(1234567.25), "1,234,567.2");
    q = as_quantity_of("sec", 0, false);
    assert_string_equal(q.unit, "s");
    check(&q, real(0), "0");
}

static void counts_have_separators(void **state) {
    (void)state;
    as_quantity q = as_quantity_of("occ", 1234567, true);
    assert_string_equal(q.unit, "occ");
    check(&q, whole(1234567), "1,234,567");
    check(&q, whole(-1000), "-1,000");
    check(&q, whole(999), "999");
    check(&q, (as_number){.kind = AS_UINT, .u = UINT64_MAX}, "18,446,744,073,709,551,615");
    q = as_quantity_of(NULL, 5e13, true);
    assert_string_equal(q.unit, "");
    check(&q, whole(50000000000000), "5.000e+13");
    check(&q, whole(-1), "-1");
    check(&q, whole(1234), "1,234");
    check(&q, real(1), "1.000e+00");
    char text[AS_QUANTITY_SIZE];
    as_count_format(1000, text);
    assert_string_equal(text, "1,000");
    as_count_format(0, text);
    assert_string_equal(text, "0");
}

static void bytes_are_scaled(void **state) {
    (void)state;
    as_quantity q = as_quantity_of("bytes", 5e9, true);
    assert_string_equal(q.unit, "GB");
    check(&q, whole(1500000000), "1.500");
    q = as_quantity_of("bytes", 512, true);
    assert_string_equal(q.unit, "B");
    check(&q, whole(512), "512");
    q = as_quantity_of("bytes", 0, true);
    assert_string_equal(q.unit, "B");
    check(&q, whole(0), "0");
}

static void other_numbers(void **state) {
    (void)state;
    as_quantity q = as_quantity_of("J", 12.25, false);
    assert_string_equal(q.unit, "J");
    check(&q, real(12.25), "12.25");
    check(&q, real(NAN), "nan");
    check(&q, real(-INFINITY), "-inf");
    assert_string_equal(as_quantity_of("unknown", 1, false).unit, "");
    q = as_quantity_of("", 1e-7, false);
    check(&q, real(1e-7), "1.000e-07");
    q = as_quantity_of("s", 2.5e-200, false); /* 2.5e-191 ns: two hundred digits would be shown */
    check(&q, real(2.5e-200), "2.500e-191");
    q = as_quantity_of("", 1, false);
    check(&q, real(1e30), "1.000e+30"); /* larger than was said */
    q = as_quantity_of("", NAN, false);
    check(&q, real(2.4), "2");
}

static void percents(void **state) {
    (void)state;
    static const struct {
        double share;
        const char *text;
    } rows[] = {{1, "100.0"}, {0.1234, "12.3"}, {0, "0"},       {1e-9, "0.0"}, {-0.5, "-50.0"},
                {NAN, ""},    {-1e-9, "0.0"},   {12.5, "1250"}, {1e9, ">1e6"}, {INFINITY, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[AS_QUANTITY_SIZE];
        as_percent_format(rows[i].share, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void changes_in_percent(void **state) {
    (void)state;
    static const struct {
        double share;
        const char *text;
    } rows[] = {{0.1234, "+12.3"}, {-1, "-100.0"},     {0, "0"},          {1e-9, "<+0.1"},
                {-1e-9, ">-0.1"},  {0.00049, "<+0.1"}, {0.00051, "+0.1"}, {-0.00051, "-0.1"},
                {12.5, "+1250"},   {NAN, ""},          {INFINITY, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[AS_QUANTITY_SIZE];
        assert_int_equal(as_percent_change_format(rows[i].share, text), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
    }
}

static void units_of_time(void **state) {
    (void)state;
    assert_true(as_unit_is_time("sec"));
    assert_true(as_unit_is_time("Seconds"));
    assert_true(as_unit_is_time("us"));
    assert_false(as_unit_is_time("occ"));
    assert_false(as_unit_is_time(""));
    assert_false(as_unit_is_time(NULL));
    assert_false(as_unit_is_time("a unit with a name that is much longer than any known one"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_take_the_unit_of_the_largest),
        cmocka_unit_test(counts_have_separators),
        cmocka_unit_test(bytes_are_scaled),
        cmocka_unit_test(other_numbers),
        cmocka_unit_test(percents),
        cmocka_unit_test(changes_in_percent),
        cmocka_unit_test(units_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
