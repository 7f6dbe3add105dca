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

static void assert_bar(double part, size_t width, bool ascii, const char *expected, size_t columns) {
    as_output *out = as_output_to_memory();
    size_t size, used = as_bar_write(out, part, width, ascii);
    assert_int_equal(used, columns);
    const char *text = as_output_memory(out, &size);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(text, expected, size);
    as_output_discard(out);
}

static void bars_in_eighths(void **state) {
    (void)state;
    assert_bar(0.5, 5, false, "██▌", 3);
    assert_bar(1, 2, false, "██", 2);
    assert_bar(1.5, 2, false, "██", 2);
    assert_bar(0.04, 4, false, "▏", 1); /* 1.28 of 32 eighths */
    assert_bar(0.01, 4, false, "", 0);
    assert_bar(0, 4, false, "", 0);
    assert_bar(0.5, 4, true, "##", 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_character_for_each_bin),
        cmocka_unit_test(bars_in_eighths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
