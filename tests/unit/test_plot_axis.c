/* Axes, numbers and rich texts of plots. Expected values by arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "render/plot_axis.h"
#include "render/plot_text.h"

/* The labels of the ticks, joined by blanks; minor ticks are ".". */
static void assert_ticks(const as_axis *axis, unsigned want, const char *expected) {
    as_ticks ticks;
    as_axis_ticks(axis, want, &ticks);
    char text[1024] = "";
    for (size_t i = 0; i < ticks.n; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", *ticks.at[i].label ? ticks.at[i].label : ".");
        if (i) assert_true(ticks.at[i].value > ticks.at[i - 1].value);
        assert_true(as_axis_position(axis, ticks.at[i].value) > -1e-6);
        assert_true(as_axis_position(axis, ticks.at[i].value) < 1 + 1e-6);
    }
    if (ticks.exponent) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, " e%d", ticks.exponent);
    }
    assert_string_equal(text, expected);
}

static as_axis linear(double low, double high) { return (as_axis){.scale = AS_SCALE_LINEAR, .low = low, .high = high}; }

static as_axis logarithmic(double low, double high, double base, double origin) {
    return (as_axis){.scale = AS_SCALE_LOG, .base = base, .origin = origin, .low = low, .high = high};
}

static void test_linear_ticks(void **state) {
    (void)state;
    as_axis axis = linear(0, 10);
    assert_ticks(&axis, 6, "0 2 4 6 8 10");
    assert_ticks(&axis, 11, "0 1 2 3 4 5 6 7 8 9 10");
    assert_ticks(&axis, 5, "0 5 10"); /* 0, 2 … 10 are six */
    axis = linear(0, 1);
    assert_ticks(&axis, 2, "0 1");
    axis = linear(-1, 1);
    assert_ticks(&axis, 5, "-1 -0.5 0 0.5 1");
    axis = linear(0.93, 1.27);
    assert_ticks(&axis, 4, "1 1.1 1.2");
    axis = linear(0, 5.2e9);
    assert_ticks(&axis, 6, "0 1 2 3 4 5 e9");
    axis = linear(0, 5.2e-4);
    assert_ticks(&axis, 6, "0 100 200 300 400 500 e-6");
    axis = linear(0, 2.4e5);
    assert_ticks(&axis, 3, "0 100000 200000");
    axis = linear(0, 1.9e300);
    assert_ticks(&axis, 2, "0 1 e300");
    axis = linear(0, 4e-300);
    assert_ticks(&axis, 2, "0 2 4 e-300");
    axis = linear(0, 7); /* one tick says nothing: more than wanted rather */
    assert_ticks(&axis, 1, "0 5");
}

static void test_log_ticks(void **state) {
    (void)state;
    as_axis axis = logarithmic(3, 520, 2, 1);
    assert_ticks(&axis, 8, "4 8 16 32 64 128 256 512");
    assert_ticks(&axis, 4, "4 . 16 . 64 . 256 .");
    axis = logarithmic(4, 50, 2, 5);
    assert_ticks(&axis, 8, "5 10 20 40");
    axis = logarithmic(0.9, 11000, 10, 1);
    assert_ticks(&axis, 5, ". 1 . . . . . . . . 10 . . . . . . . . 100 . . . . . . . . 1000 . . . . . . . . 10000");
    axis = logarithmic(1e-6, 1e6, 10, 1);
    assert_ticks(&axis, 5, "10^{-6} . . 10^{-3} . . 10^{0} . . 10^{3} . . 10^{6}");
    axis = logarithmic(1e3, 4e9, 2, 1);
    assert_ticks(&axis, 6, ". . 2^{12} . . . 2^{16} . . . 2^{20} . . . 2^{24} . . . 2^{28} . . .");
}

static void test_log_ticks_of_few_powers(void **state) {
    (void)state;
    as_axis axis = logarithmic(1.5, 60, 10, 1);
    assert_ticks(&axis, 6, "2 5 10 20 50");
    axis = logarithmic(3e5, 1.5e7, 10, 1); /* all in one way */
    assert_ticks(&axis, 6, "5×10^{5} 10^{6} 2×10^{6} 5×10^{6} 10^{7}");
    axis = logarithmic(3, 4.5, 10, 1); /* not even 1, 2, 5 */
    assert_ticks(&axis, 4, "3 3.5 4 4.5");
}

static as_axis fitted(as_scale scale, const double *values, size_t n, double last) {
    as_axis axis = {.scale = scale};
    as_axis_fit_parameter(&axis, values, n, last);
    return axis;
}
#define FITTED(scale, last, ...)                                                                                       \
    fitted(scale, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double), last)

static void test_scale_of_a_parameter(void **state) {
    (void)state;
    as_axis axis = FITTED(AS_SCALE_AUTO, 512, 4, 8, 16, 32, 64, 128, 256);
    assert_int_equal(axis.scale, AS_SCALE_LOG);
    assert_true(axis.base == 2 && axis.origin == 1 && axis.low < 4 && axis.low > 3 && axis.high > 512);
    axis = FITTED(AS_SCALE_AUTO, 80, 5, 10, 20, 40);
    assert_true(axis.scale == AS_SCALE_LOG && axis.base == 2 && axis.origin == 5);
    axis = FITTED(AS_SCALE_AUTO, 81, 3, 9, 27, 81);
    assert_true(axis.scale == AS_SCALE_LOG && axis.base == 3 && axis.origin == 1);
    axis = FITTED(AS_SCALE_AUTO, 4096, 16, 64, 256, 1024);
    assert_true(axis.scale == AS_SCALE_LOG && axis.base == 2 && axis.origin == 1);
    axis = FITTED(AS_SCALE_AUTO, 5000, 1, 7, 50, 180, 5000); /* more than two decades */
    assert_true(axis.scale == AS_SCALE_LOG && axis.base == 10);
    axis = FITTED(AS_SCALE_AUTO, 100, 10, 20, 30, 40, 50);
    assert_true(axis.scale == AS_SCALE_LINEAR && axis.low == 0 && axis.high == 103);
    axis = FITTED(AS_SCALE_LINEAR, 16, 2, 4, 8, 16);
    assert_int_equal(axis.scale, AS_SCALE_LINEAR);
    axis = FITTED(AS_SCALE_LOG, 50, 10, 20, 30, 40, 50);
    assert_true(axis.scale == AS_SCALE_LOG && axis.base == 10);
}

static void test_no_log_of_zero(void **state) {
    (void)state;
    as_axis axis = FITTED(AS_SCALE_LOG, 1000, 0, 10, 1000);
    assert_true(axis.scale == AS_SCALE_LINEAR && axis.low == 0);
    axis = FITTED(AS_SCALE_LOG, 8, -4, 1, 8);
    assert_true(axis.scale == AS_SCALE_LINEAR && axis.low < -4);
}

static as_axis around(as_scale scale, double low, double high) {
    as_axis axis = {.scale = scale};
    as_range range = {0};
    as_range_add(&range, low);
    as_range_add(&range, high);
    as_axis_fit(&axis, &range);
    return axis;
}

static void test_ranges(void **state) {
    (void)state;
    as_axis axis = around(AS_SCALE_AUTO, 1, 100); /* two decades are not more than two */
    assert_true(axis.scale == AS_SCALE_LINEAR && axis.low == 0 && axis.high == 105);
    axis = around(AS_SCALE_AUTO, 1, 101);
    assert_int_equal(axis.scale, AS_SCALE_LOG);
    axis = around(AS_SCALE_AUTO, 80, 100); /* zero is far: a twentieth of the span on both sides */
    assert_true(axis.low == 79 && axis.high == 101);
    axis = around(AS_SCALE_AUTO, -0.5, 100); /* as much air as there is below zero */
    assert_true(axis.low == -1 && axis.high == 105.025);
    axis = around(AS_SCALE_AUTO, 7, 7);
    assert_true(axis.low == 0 && axis.high > 7 && axis.high < 8);
    axis = around(AS_SCALE_AUTO, -7, -7);
    assert_true(axis.low < -7 && axis.high == 0);
    axis = around(AS_SCALE_AUTO, 0, 0);
    assert_true(axis.low == 0 && axis.high == 1);
    axis = around(AS_SCALE_LOG, 7, 7);
    assert_true(axis.scale == AS_SCALE_LOG && axis.low < 7 && axis.high > 7);
    axis = around(AS_SCALE_AUTO, NAN, INFINITY);
    assert_true(axis.low == 0 && axis.high == 1);
}

static void test_positions(void **state) {
    (void)state;
    as_axis axis = linear(10, 30);
    assert_float_equal(as_axis_position(&axis, 15), 0.25, 1e-12);
    assert_float_equal(as_axis_value(&axis, 0.25), 15, 1e-12);
    axis = logarithmic(1, 10000, 10, 1);
    assert_float_equal(as_axis_position(&axis, 10), 0.25, 1e-12);
    assert_float_equal(as_axis_value(&axis, 0.75), 1000, 1e-9);
    assert_true(isnan(as_axis_position(&axis, 0)) && isnan(as_axis_position(&axis, -1)));
    assert_true(isnan(as_axis_position(&axis, NAN)) && isnan(as_axis_position(&axis, INFINITY)));
    axis = around(AS_SCALE_AUTO, 1e-300, 1e300);
    assert_int_equal(axis.scale, AS_SCALE_LOG);
    assert_float_equal(as_axis_position(&axis, 1), 0.5, 1e-9);
    axis = around(AS_SCALE_LINEAR, -1e300, 1e300);
    assert_float_equal(as_axis_position(&axis, 0), 0.5, 1e-9);
}

static void test_levels(void **state) {
    (void)state;
    as_axis axis = linear(0, 10);
    as_ticks levels;
    as_axis_levels(&axis, 6, &levels);
    assert_int_equal(levels.n, 6);
    axis = logarithmic(13, 1300, 10, 1); /* 20, 50 … are six, 30, 100 … four */
    as_axis_levels(&axis, 6, &levels);
    assert_int_equal(levels.n, 6);
    as_axis_levels(&axis, 4, &levels);
    assert_int_equal(levels.n, 4);
    assert_string_equal(levels.at[0].label, "30");
    assert_string_equal(levels.at[3].label, "1000");
    /* No such number between 6 and 9: 6 * 1.5^(i / 5) at even distances is 6.5, 7.06, 7.65, 8.3 */
    axis = logarithmic(6, 9, 10, 1);
    as_axis_levels(&axis, 4, &levels);
    assert_int_equal(levels.n, 4);
    assert_string_equal(levels.at[1].label, "7.1");
    assert_true(levels.at[3].value == 8.3);
}

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        double value;
        unsigned digits;
        const char *text;
    } cases[] = {
        {0, 4, "0"},
        {0.25, 4, "0.25"},
        {-2.5, 4, "-2.5"},
        {123456, 4, "123500"},
        {1 / 3.0, 3, "0.333"},
        {1.25e-9, 4, "1.25×10^{-9}"},
        {999999.6, 6, "1×10^{6}"},
        {0.0012345, 3, "0.00123"},
        {1e300, 3, "1×10^{300}"},
        {4.9e-324, 3, "0"},
        {NAN, 3, "nan"},
        {-INFINITY, 3, "-inf"},
        {0.99996, 4, "1"},
        {-7e-300, 2, "-7×10^{-300}"},
        {1e5, 1, "100000"},
        {12.5, 15, "12.5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[AS_TICK_LABEL];
        as_rich_number(cases[i].value, cases[i].digits, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void assert_plain(const char *rich, const char *unicode, const char *ascii) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    assert_true(as_rich_plain(rich, false, &text));
    assert_string_equal(text.data, unicode);
    assert_true(as_rich_plain(rich, true, &text));
    assert_string_equal(text.data, ascii);
    as_vec_free(&text);
}

static void test_rich_text_on_terminals(void **state) {
    (void)state;
    assert_plain("/{p}^{2}", "p²", "p^2");
    assert_plain("3 · /{p}^{3/2} · log_{2} /{p}", "3 · p^(3/2) · log₂ p", "3 * p^(3/2) * log2 p");
    assert_plain("1.5×10^{-6} s", "1.5×10⁻⁶ s", "1.5e-6 s");
    assert_plain("10^{12}", "10¹²", "1e12");
    assert_plain("110^{2}", "110²", "110^2");
    assert_plain("2^{-3}", "2⁻³", "2^(-3)");
    assert_plain("a^{", "a^()", "a^()");
    assert_plain("plain} ^ _ / {", "plain} ^ _ / {", "plain} ^ _ / {");
    assert_plain("", "", "");
}

static char *svg_of(const char *rich) {
    as_output *out = as_output_to_memory();
    as_svg_rich(out, rich);
    size_t size;
    char *text = strdup(as_output_memory(out, &size));
    as_output_discard(out);
    return text;
}

static void test_rich_text_in_svg(void **state) {
    (void)state;
    char *text = svg_of("a<b>&\"c\x01\xff^{2} d");
    assert_string_equal(text,
                        "a&lt;b&gt;&amp;&quot;c\xef\xbf\xbd\xef\xbf\xbd<tspan dy=\"-.5em\" font-size=\"70%\">2</tspan>"
                        "<tspan dy=\".35em\"> d</tspan>");
    free(text);
    text = svg_of("two\nlines\tand\rmore"); /* names of AFPerf have them; the page shows blanks, too */
    assert_string_equal(text, "two lines and more");
    free(text);
    text = svg_of("-3×10^{-5}");
    assert_string_equal(text, "−3×10<tspan dy=\"-.5em\" font-size=\"70%\">−5</tspan>");
    free(text);
    assert_true(as_svg_width("mmm", 3) > as_svg_width("iii", 3));
    assert_int_equal(as_svg_break("one two three", 100), strlen("one two three"));
    assert_int_equal(as_svg_break("aaaa bbbb cccc", 7), strlen("aaaa bbbb"));
    assert_int_equal(as_svg_break("aaaa", 0), 1);
}

static void test_coordinates_are_short(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},          {-0.001, "0"}, {1.5, "1.5"},         {1.25, "1.25"},
                 {-3.049, "-3.05"}, {NAN, "0"},    {1e300, "1000000000"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_output *out = as_output_to_memory();
        as_svg_number(out, cases[i].value);
        size_t size;
        assert_string_equal(as_output_memory(out, &size), cases[i].text);
        as_output_discard(out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_ticks),
        cmocka_unit_test(test_log_ticks),
        cmocka_unit_test(test_log_ticks_of_few_powers),
        cmocka_unit_test(test_scale_of_a_parameter),
        cmocka_unit_test(test_no_log_of_zero),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_rich_text_on_terminals),
        cmocka_unit_test(test_rich_text_in_svg),
        cmocka_unit_test(test_coordinates_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
