/* Small histograms made of characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/histogram.h"

static void assert_text(as_text *text, const char *expected) {
    assert_int_equal(as_text_size(text), strlen(expected));
    assert_memory_equal(as_text_data(text), expected, strlen(expected));
    as_text_clear(text);
}

static void a_character_for_each_bin(void **state) {
    (void)state;
    as_text text;
    as_text_init(&text);
    static const uint32_t bins[] = {0, 1, 1000, 500, 2000000000, 0}, even[] = {8, 4, 2, 1}, none[] = {0, 0};
    as_histogram_line(&text, bins, 6, false);
    assert_text(&text, " ▁▁▁█ "); /* what is there is seen, however little */
    as_histogram_line(&text, even, 4, false);
    assert_text(&text, "█▄▂▁");
    as_histogram_line(&text, even, 4, true);
    assert_text(&text, "#-..");
    as_histogram_line(&text, none, 2, false);
    assert_text(&text, "  ");
    as_text_free(&text);
}

static void bars_in_eighths(void **state) {
    (void)state;
    as_text text;
    as_text_init(&text);
    assert_int_equal(as_histogram_bar(&text, 0.5, 5, false), 3);
    assert_text(&text, "██▌");
    assert_int_equal(as_histogram_bar(&text, 1, 2, false), 2);
    assert_text(&text, "██");
    assert_int_equal(as_histogram_bar(&text, 1e-9, 4, false), 1);
    assert_text(&text, "▏");
    assert_int_equal(as_histogram_bar(&text, 0, 4, false), 0);
    assert_text(&text, "");
    assert_int_equal(as_histogram_bar(&text, 0.5, 4, true), 2);
    assert_text(&text, "##");
    as_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_character_for_each_bin),
        cmocka_unit_test(bars_in_eighths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
