/* The printer: every mode with every type of cell, cutting to a width, UTF-8, batches, empty tables; nested JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "render/display.h"
#include "render/json_builder.h"
#include "render/printer.h"

/* Compares what was written, and frees the output. */
static void check(as_output *out, const char *expected) {
    size_t size;
    const char *text = as_output_memory(out, &size);
    assert_non_null(text);
    assert_string_equal(text, expected);
    assert_int_equal(size, strlen(expected));
    as_output_discard(out);
}

static as_table *table_of(const char *const *names, size_t n) {
    as_column columns[8];
    for (size_t i = 0; i < n; i++) columns[i].name = names[i];
    as_table *table = as_table_new(columns, n, NULL);
    assert_non_null(table);
    return table;
}
#define TABLE(...)                                                                                                     \
    table_of((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
#define ROW(table, ...) assert_true(as_table_append(table, (const as_cell[]){__VA_ARGS__}))

static as_cell text(const char *words) { return as_cell_text(words); }

static void check_print(as_table *table, as_print_style style, const char *expected) {
    as_output *out = as_output_to_memory();
    assert_true(as_print_table(out, table, style));
    check(out, expected);
}

/* One row for each type of cell. */
static as_table *every_type(void) {
    as_table *t = TABLE("kind", "x");
    ROW(t, text("null"), as_cell_null());
    ROW(t, text("int"), as_cell_int(-42));
    ROW(t, text("uint"), as_cell_uint(UINT64_MAX));
    ROW(t, text("real"), as_cell_real(0.1));
    ROW(t, text("nan"), as_cell_real(NAN));
    ROW(t, text("inf"), as_cell_real(-INFINITY));
    ROW(t, text("text"), text("a,\"b\"|c\nd"));
    ROW(t, text("empty"), text(""));
    ROW(t, text("json"), as_cell_json_n("[1,\n 2]", 7));
    return t;
}

static void csv_has_every_type(void **state) {
    (void)state;
    as_table *t = every_type();
    check_print(t, (as_print_style){.mode = AS_PRINT_CSV},
                "kind,x\n"
                "null,\n"
                "int,-42\n"
                "uint,18446744073709551615\n"
                "real,0.1\n"
                "nan,nan\n"
                "inf,-inf\n"
                "text,\"a,\"\"b\"\"|c\nd\"\n"
                "empty,\"\"\n"
                "json,\"[1,\n 2]\"\n");
    as_table_free(t);
}

static void json_has_every_type(void **state) {
    (void)state;
    as_table *t = every_type();
    check_print(t, (as_print_style){.mode = AS_PRINT_JSON},
                "[\n"
                "  {\"kind\":\"null\",\"x\":null},\n"
                "  {\"kind\":\"int\",\"x\":-42},\n"
                "  {\"kind\":\"uint\",\"x\":\"18446744073709551615\"},\n"
                "  {\"kind\":\"real\",\"x\":0.1},\n"
                "  {\"kind\":\"nan\",\"x\":\"nan\"},\n"
                "  {\"kind\":\"inf\",\"x\":\"-inf\"},\n"
                "  {\"kind\":\"text\",\"x\":\"a,\\\"b\\\"|c\\nd\"},\n"
                "  {\"kind\":\"empty\",\"x\":\"\"},\n"
                "  {\"kind\":\"json\",\"x\":[1,  2]}\n"
                "]\n");
    as_table_free(t);
}

static void json_lines_have_a_record_a_line(void **state) {
    (void)state;
    as_table *t = TABLE("a\"b", "c");
    ROW(t, as_cell_int(1), as_cell_json_n("{\"k\":\n1}", 8));
    ROW(t, as_cell_int(2), text("x\ny"));
    check_print(t, (as_print_style){.mode = AS_PRINT_JSONL},
                "{\"a\\\"b\":1,\"c\":{\"k\": 1}}\n{\"a\\\"b\":2,\"c\":\"x\\ny\"}\n");
    as_table_free(t);
}

static void markdown_escapes_and_aligns(void **state) {
    (void)state;
    as_table *t = TABLE("name", "n");
    ROW(t, text("a|b"), as_cell_int(5));
    ROW(t, text("x\ny"), as_cell_int(123456));
    ROW(t, as_cell_null(), as_cell_null());
    ROW(t, text("third"), as_cell_real(0.30000000000000004));
    check_print(t, (as_print_style){.mode = AS_PRINT_MARKDOWN},
                "| name  |                   n |\n"
                "| ----- | ------------------: |\n"
                "| a\\|b  |                   5 |\n"
                "| x\\ny  |              123456 |\n"
                "|       |                     |\n"
                "| third | 0.30000000000000004 |\n");
    as_table_free(t);
}

static void text_aligns_and_escapes(void **state) {
    (void)state;
    as_table *t = TABLE("name", "value", "note");
    ROW(t, text("sort"), as_cell_int(5), text("first"));
    ROW(t, text("join"), as_cell_real(1234.5), as_cell_null());
    ROW(t, text("\x1b[31mred"), as_cell_null(), text("tab\there"));
    check_print(t, (as_print_style){.mode = AS_PRINT_TEXT},
                "name          value  note\n"
                "sort              5  first\n"
                "join         1234.5  -\n"
                "\\x1b[31mred       -  tab\\there\n");
    as_table_free(t);
}

static void text_rounds_long_reals(void **state) {
    (void)state;
    as_table *t = TABLE("x");
    ROW(t, as_cell_real(0.1 + 0.2)); /* 0.30000000000000004 */
    ROW(t, as_cell_real(1.0 / 3));
    ROW(t, as_cell_real(123456789012345.0));
    ROW(t, as_cell_real(0.1));
    ROW(t, as_cell_uint(UINT64_MAX));
    check_print(t, (as_print_style){.mode = AS_PRINT_TEXT, .no_header = true},
                "                 0.3\n"
                "         0.333333333\n"
                "     123456789012345\n"
                "                 0.1\n"
                "18446744073709551615\n");
    as_table_free(t);
}

static void text_is_cut_to_the_width(void **state) {
    (void)state;
    as_table *t = TABLE("path", "n", "comment");
    ROW(t, text("main->solve->iterate"), as_cell_int(123456), text("a comment that is long"));
    ROW(t, text("main"), as_cell_int(7), text("short"));
    /* 6 for the number, 2 x 2 between: 20 remain for two texts, 10 each. */
    check_print(t, (as_print_style){.mode = AS_PRINT_TEXT, .width = 30},
                "path             n  comment\n"
                "──────────  ──────  ──────────\n"
                "main->sol…  123456  a comment…\n"
                "main             7  short\n");
    /* The number keeps its width; what has no room is named. */
    check_print(t, (as_print_style){.mode = AS_PRINT_TEXT, .width = 16},
                "path         n\n"
                "──────  ──────\n"
                "main-…  123456\n"
                "main         7\n"
                "… 1 more column: comment\n");
    as_table_free(t);
}

static void text_counts_characters_not_bytes(void **state) {
    (void)state;
    as_table *t = TABLE("a", "b");
    ROW(t, text("größe"), text("x"));
    ROW(t, text("日本"), text("y"));
    ROW(t, text("e\xcc\x81t\xc3\xa9"), text("z")); /* a combining accent takes no column */
    ROW(t, text("\xff\xfe"), text("bad"));
    check_print(t, (as_print_style){.mode = AS_PRINT_TEXT, .no_header = true},
                "größe     x\n"
                "日本      y\n"
                "e\xcc\x81t\xc3\xa9       z\n"
                "\\xff\\xfe  bad\n");
    as_table_free(t);
}

static void text_uses_colour_for_the_header_only(void **state) {
    (void)state;
    as_table *t = TABLE("a");
    ROW(t, text("x"));
    check_print(t, (as_print_style){.mode = AS_PRINT_TEXT, .colour = true}, "\033[1ma\033[0m\nx\n");
    as_table_free(t);
}

static void rows_beyond_the_limit_are_counted(void **state) {
    (void)state;
    as_table *t = TABLE("a");
    for (int i = 0; i < 5; i++) ROW(t, as_cell_int(i));
    check_print(t, (as_print_style){.mode = AS_PRINT_TEXT, .max_rows = 2}, "a\n0\n1\n… 3 more rows\n");
    check_print(t, (as_print_style){.mode = AS_PRINT_MARKDOWN, .max_rows = 4},
                "|   a |\n| --: |\n|   0 |\n|   1 |\n|   2 |\n|   3 |\n\n… 1 more row\n");
    check_print(t, (as_print_style){.mode = AS_PRINT_CSV, .max_rows = 2}, "a\n0\n1\n2\n3\n4\n");
    as_table_free(t);
}

/* Two batches give what one table of all rows gives, and machine modes hold nothing back. */
static void batches_are_one_table(void **state) {
    (void)state;
    static const as_print_mode modes[] = {AS_PRINT_TEXT, AS_PRINT_CSV, AS_PRINT_JSON, AS_PRINT_JSONL,
                                          AS_PRINT_MARKDOWN};
    for (size_t m = 0; m < 5; m++) {
        as_print_style style = {.mode = modes[m]};
        as_table *all = TABLE("a", "b"), *batch = TABLE("a", "b");
        as_output *whole = as_output_to_memory(), *pieces = as_output_to_memory();
        as_printer *printer = as_printer_new(pieces, style);
        for (int i = 0; i < 4; i++) {
            ROW(all, as_cell_int(i), text(i % 2 ? "odd" : "even and wider"));
            ROW(batch, as_cell_int(i), text(i % 2 ? "odd" : "even and wider"));
            if (i % 2 == 0) continue;
            assert_true(as_printer_rows(printer, batch));
            as_table_clear(batch);
            bool streams = modes[m] == AS_PRINT_CSV || modes[m] == AS_PRINT_JSON || modes[m] == AS_PRINT_JSONL;
            assert_int_equal(as_output_size(pieces) > 0, streams);
        }
        assert_true(as_printer_end(printer, batch));
        assert_true(as_print_table(whole, all, style));
        size_t size;
        check(pieces, as_output_memory(whole, &size));
        as_output_discard(whole);
        as_table_free(all);
        as_table_free(batch);
    }
}

static void empty_tables_have_their_shape(void **state) {
    (void)state;
    as_table *t = TABLE("a", "b,c");
    check_print(t, (as_print_style){.mode = AS_PRINT_TEXT}, "a  b,c\n");
    check_print(t, (as_print_style){.mode = AS_PRINT_CSV}, "a,\"b,c\"\n");
    check_print(t, (as_print_style){.mode = AS_PRINT_CSV, .no_header = true}, "");
    check_print(t, (as_print_style){.mode = AS_PRINT_JSON}, "[]\n");
    check_print(t, (as_print_style){.mode = AS_PRINT_JSONL}, "");
    check_print(t, (as_print_style){.mode = AS_PRINT_MARKDOWN}, "| a   | b,c |\n| --- | --- |\n");
    as_table_free(t);
    as_output *out = as_output_to_memory();
    assert_true(as_printer_end(as_printer_new(out, (as_print_style){.mode = AS_PRINT_JSON}), NULL));
    check(out, "[]\n");
}

static void ascii_only_has_its_own_marks(void **state) {
    (void)state;
    as_output *out = as_output_to_memory();
    as_output_set_ascii(out, true);
    assert_int_equal(as_display_write(out, "abcdefgh", 8, 6), 6);
    as_output_char(out, ' ');
    assert_int_equal(as_display_write_end(out, "abcdefgh", 8, 6), 6);
    as_output_char(out, ' ');
    assert_int_equal(as_display_write(out, "abcdefgh", 8, 2), 2); /* no room for the mark */
    as_output_char(out, ' ');
    assert_int_equal(as_display_write(out, "abcdef", 6, 6), 6);
    check(out, "abc... ...fgh ab abcdef");
    as_table *t = TABLE("a", "b");
    ROW(t, as_cell_text("a text"), as_cell_text("another text that is longer"));
    out = as_output_to_memory();
    as_output_set_ascii(out, true);
    assert_true(as_print_table(out, t, (as_print_style){.mode = AS_PRINT_TEXT, .width = 20}));
    check(out, "a       b\n------  ------------\na text  another t...\n");
    as_table_free(t);
}

static void display_cuts_at_character_borders(void **state) {
    (void)state;
    as_output *out = as_output_to_memory();
    assert_int_equal(as_display_width("日本語", 9), 6);
    assert_int_equal(as_display_write(out, "日本語", 9, 4),
                     3); /* one wide character and the mark: a second would take five */
    as_output_char(out, ' ');
    assert_int_equal(as_display_write(out, "abc", 3, 3), 3);
    as_output_char(out, ' ');
    assert_int_equal(as_display_write(out,
                                      "a\xe2\x80\xae"
                                      "b",
                                      5, 0),
                     8); /* a right-to-left override is shown, not obeyed */
    check(out, "日… abc a\\u202eb");
}

static void builder_nests(void **state) {
    (void)state;
    as_output *out = as_output_to_memory();
    as_builder b = as_builder_of(out);
    as_build_object(&b, NULL, true);
    as_build_text(&b, "a\"", "x\ny");
    as_build_text(&b, "none", NULL);
    as_build_array(&b, "list", false);
    as_build_int(&b, NULL, -1);
    as_build_real(&b, NULL, NAN);
    as_build_bool(&b, NULL, true);
    as_build_end(&b);
    as_build_array(&b, "spread", true);
    as_build_object(&b, NULL, false);
    as_build_known(&b, "offset", -1, false);
    as_build_known(&b, "line", 0, true);
    as_build_known(&b, "zero", 0, false);
    as_build_end(&b);
    as_build_end(&b);
    as_build_array(&b, "empty", true);
    as_build_end(&b);
    as_build_end(&b);
    check(out, "{\n  \"a\\\"\": \"x\\ny\",\n  \"none\": null,\n  \"list\": [-1, \"nan\", true],\n"
               "  \"spread\": [\n    {\"offset\": null, \"line\": null, \"zero\": 0}\n  ],\n  \"empty\": []\n}\n");

    out = as_output_to_memory();
    b = as_builder_of(out);
    b.compact = true;
    as_build_object(&b, NULL, true);
    as_build_int(&b, "a", 1);
    as_build_array(&b, "b", true);
    as_build_int(&b, NULL, 2);
    as_build_int(&b, NULL, 3);
    as_build_end(&b);
    as_build_end(&b);
    check(out, "{\"a\":1,\"b\":[2,3]}\n");
}

static void the_last_column_wraps(void **state) {
    (void)state;
    as_table *t = TABLE("name", "words");
    ROW(t, text("first"), text("one two three four five six seven"));
    ROW(t, text("second"), text("unbrokenunbrokenunbrokenunbroken"));
    ROW(t, text("third"), as_cell_null());
    as_print_style style = {.mode = AS_PRINT_TEXT, .width = 28, .no_header = true, .wrap_last = true};
    check_print(t, style,
                "first   one two three four\n"
                "        five six seven\n"
                "second  unbrokenunbrokenunb…\n"
                "third   -\n");
    style.width = 27; /* less than 20 are left: cut as always */
    check_print(t, style,
                "first   one two three four…\n"
                "second  unbrokenunbrokenun…\n"
                "third   -\n");
    as_table_free(t);
}

/* Paths lose their beginning, at an arrow where one is near. */
static void paths_keep_their_end(void **state) {
    (void)state;
    as_table *t = TABLE("path", "n");
    ROW(t, text("main->solve->kernel"), as_cell_int(1));
    ROW(t, text("a_function_with_a_long_name"), as_cell_int(2));
    ROW(t, text("f"), as_cell_int(3));
    check_print(t, (as_print_style){.width = 15, .keep_end = true},
                "path          n\n────────────  ─\n…->kernel     1\n…a_long_name  2\nf             3\n");
    as_table_free(t);
}

/* Where the row is too long, its last column goes below. */
static void last_column_goes_below(void **state) {
    (void)state;
    as_table *t = TABLE("a", "b", "text");
    ROW(t, text("x"), as_cell_int(1), text("one two three four five"));
    check_print(t, (as_print_style){.width = 40, .last_below = true},
                "a  b  text\n─  ─  ───────────────────────\nx  1  one two three four five\n");
    check_print(t, (as_print_style){.width = 20, .last_below = true},
                "a  b\n    text\n─  ─\nx  1\n    one two three f…\n");
    check_print(t, (as_print_style){.last_below = true}, "a  b  text\nx  1  one two three four five\n");
    assert_int_equal(as_text_width(t), 29);
    as_table_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_column_wraps),
        cmocka_unit_test(csv_has_every_type),
        cmocka_unit_test(json_has_every_type),
        cmocka_unit_test(json_lines_have_a_record_a_line),
        cmocka_unit_test(markdown_escapes_and_aligns),
        cmocka_unit_test(text_aligns_and_escapes),
        cmocka_unit_test(text_rounds_long_reals),
        cmocka_unit_test(text_is_cut_to_the_width),
        cmocka_unit_test(text_counts_characters_not_bytes),
        cmocka_unit_test(text_uses_colour_for_the_header_only),
        cmocka_unit_test(rows_beyond_the_limit_are_counted),
        cmocka_unit_test(batches_are_one_table),
        cmocka_unit_test(empty_tables_have_their_shape),
        cmocka_unit_test(ascii_only_has_its_own_marks),
        cmocka_unit_test(display_cuts_at_character_borders),
        cmocka_unit_test(builder_nests),
        cmocka_unit_test(paths_keep_their_end),
        cmocka_unit_test(last_column_goes_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
