/* extrap-text: the grammar, what real files do, errors with their places, writing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "helpers.h"

#define TEXT "extrap-text"
#define HEAD "PARAMETER p\nPOINTS 1 2\n"

static void lines_and_blanks(void **state) {
    (void)state;
    const char *same = "r m (1): 1\nr m (2): 2 3\n";
    assert_reads(TEXT, "PARAMETER p\nPOINTS 1 2\nREGION r\nMETRIC m\nDATA 1\nDATA 2 3\n", same);
    assert_reads(TEXT, "PARAMETER p\r\nPOINTS 1 2\r\nREGION r\r\nMETRIC m\r\nDATA 1\r\nDATA 2 3\r\n", same);
    assert_reads(TEXT, "\xef\xbb\xbfPARAMETER p\nPOINTS 1 2\nREGION r\nMETRIC m\nDATA 1\nDATA 2 3", same);
    assert_reads(
        TEXT,
        "\n \t\n# c\n  # c\nPARAMETER\tp \n POINTS  1\t2\n\tREGION r \nMETRIC   m\nDATA 1   \n\n#x\n  DATA\t2\v3\n",
        same);
}

static void names(void **state) {
    (void)state;
    assert_reads(TEXT, HEAD "REGION  a  b\t c -> d \nMETRIC  bytes   sent \nDATA 1\n",
                 "a b c -> d bytes sent (1): 1\n");
    assert_reads(TEXT, HEAD "REGION b\xc3\xa4r\nDATA 1\n", "b\xc3\xa4r  (1): 1\n");
    assert_reads(TEXT, HEAD "DATA 1\nDATA 2\n", "  (1): 1\n  (2): 2\n");
    assert_reads(TEXT, HEAD "REGION\nMETRIC m\nDATA 1\n", " m (1): 1\n");
    assert_reads(TEXT, HEAD "REGION r\nMETRIC m\nDATA 1\nMETRIC\nDATA 2\n", "r m (1): 1\nr  (1): 2\n");
    assert_reads(TEXT, HEAD "REGION #r\nMETRIC DATA\nDATA 1\n", "#r DATA (1): 1\n");
}

static void call_tree(void **state) {
    (void)state;
    as_dataset *ds = read_text(TEXT, HEAD "REGION main->f->g\nDATA 1\nREGION main\nDATA 2\nREGION idle\n");
    assert_described(ds, "main->f->g  (1): 1\nmain  (1): 2\n");
    assert_int_equal(ds->contexts.count, 4); /* main, main->f, main->f->g, idle */
    assert_true(as_ds_context(ds, 0)->is_callpath);
    assert_false(as_ds_context(ds, 1)->is_callpath);
    assert_int_equal(as_ds_context(ds, 2)->parent, 1);
    assert_string_equal(as_ds_text(ds, as_ds_context(ds, 3)->name), "idle");
    as_dataset_free(ds);
}

static void points(void **state) {
    (void)state;
    static const char *const two[] = {"POINTS (1 2) (3 4)",     "POINTS (1 2)(3 4)",
                                      "POINTS ( 1 2 ) ( 3 4 )", "POINTS ((1) (2)) ((3) (4))",
                                      "POINTS ((1)(2))((3) 4)", "POINTS\t(\t1\t2\t)\nPOINTS (3 4)"};
    for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
        char text[256];
        snprintf(text, sizeof text, "PARAMETER p q\n%s\nREGION r\nDATA 5\nDATA 6\n", two[i]);
        assert_reads(TEXT, text, "r  (1,2): 5\nr  (3,4): 6\n");
    }
    static const char *const one[] = {"POINTS 1 2.5",         "POINTS (1) (2.5)",       "POINTS ( 1 ) ( 2.5 )",
                                      "POINTS ((1)) ((2.5))", "POINTS 1\nPOINTS 25e-1", "POINTS 1 (2.5)"};
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        char text[256];
        snprintf(text, sizeof text, "PARAMETER p\n%s\nREGION r\nDATA 5\nDATA 6\n", one[i]);
        assert_reads(TEXT, text, "r  (1): 5\nr  (2.5): 6\n");
    }
    assert_reads(TEXT, "PARAMETER a b\nPARAMETER c d e a\nPOINTS (1 2 3 4 5)\nDATA 6\n", "  (1,2,3,4,5): 6\n");
    assert_reads(TEXT, "PARAMETER p p\nPOINTS -1 0\nPARAMETER p\nDATA 6\n", "  (-1): 6\n");
}

static void numbers(void **state) {
    (void)state;
    assert_reads(TEXT, HEAD "DATA 1e3 +2.5 .5 5. -0.25 1E-3\nDATA nan inf -Infinity\n",
                 "  (1): 1000 2.5 0.5 5 -0.25 0.001\n  (2): nan inf -inf\n");
    assert_reads(TEXT, HEAD "DATA 9223372036854775807 -5\n", "  (1): 9223372036854775807 -5\n");
    assert_reads(TEXT, HEAD "DATA 18446744073709551615 5\n", "  (1): 18446744073709551615 5\n");
    as_dataset *ds = read_text(TEXT, HEAD "DATA 1\nDATA 2 1e999\n");
    uint32_t line;
    assert_int_equal(count_problems(ds, "huge-number", &line), 1);
    assert_int_equal(line, 4);
    as_dataset_free(ds);
    ds = read_text(TEXT, HEAD "DATA 9007199254740993 0.5\n");
    assert_int_equal(count_problems(ds, "inexact-integer", NULL), 1);
    as_dataset_free(ds);
}

static void repeated_points(void **state) {
    (void)state;
    uint32_t line;
    as_dataset *ds = read_text(TEXT, "PARAMETER p\nPOINTS 1 1 2\nREGION r\nDATA 1\nDATA 2\nDATA 3\n");
    assert_described(ds, "r  (1): 1 2\nr  (2): 3\n");
    assert_int_equal(count_problems(ds, "repeated-point", &line), 1);
    assert_int_equal(line, 2);
    as_dataset_free(ds);
    ds = read_text(TEXT, HEAD "REGION r\nDATA 1\nDATA 2\nREGION r\nDATA 3\n");
    assert_described(ds, "r  (1): 1 3\nr  (2): 2\n");
    assert_int_equal(count_problems(ds, "repeated-point", &line), 1);
    assert_int_equal(line, 7);
    as_dataset_free(ds);
}

static void missing_points(void **state) {
    (void)state;
    as_dataset *ds = read_text(TEXT, HEAD "REGION r\nDATA 1\nREGION s\nDATA 1\nDATA 2\n");
    assert_described(ds, "r  (1): 1\ns  (1): 1\ns  (2): 2\n");
    assert_int_equal(count_problems(ds, "missing-points", NULL), 1);
    assert_int_equal(ds->n_points, 2);
    as_dataset_free(ds);
}

static void errors_name_their_place(void **state) {
    (void)state;
    static const expected_error errors[] = {
        {"", "no-parameters", 0, 0},
        {"\n# nothing\n", "no-parameters", 0, 0},
        {"PARAMETER p\n", "no-points", 0, 0},
        {HEAD "REGION r\n", "no-data", 0, 0},
        {"parameter p\n", "keyword", 1, 1},
        {HEAD "  FOO x\n", "keyword", 3, 3},
        {"POINTS 1 2\nPARAMETER p\n", "no-parameters", 1, 1},
        {"REGION r\nDATA 1\n", "no-parameters", 2, 1},
        {"PARAMETER p\nREGION r\nDATA 1\n", "too-many-data", 3, 1},
        {HEAD "DATA 1\nDATA 2\n DATA 3\n", "too-many-data", 5, 2},
        {HEAD "DATA\n", "no-values", 3, 1},
        {HEAD "DATA 1 x 2\n", "not-a-number", 3, 8},
        {HEAD "DATA 1 # c\n", "not-a-number", 3, 8},
        {HEAD "DATA 1_000\n", "not-a-number", 3, 6},
        {HEAD "DATA 0x10\n", "not-a-number", 3, 6},
        {HEAD "DATA 1,2\n", "not-a-number", 3, 6},
        {"PARAMETER\nPOINTS 1\n", "no-parameters", 1, 1},
        {HEAD "PARAMETER q\n", "parameter-after-points", 3, 11},
        {"PARAMETER p q\nPOINTS 1 2\n", "braces", 2, 8},
        {"PARAMETER p q\nPOINTS (1 2 3)\n", "coordinate-count", 2, 8},
        {"PARAMETER p q\nPOINTS (1 2) (3)\n", "coordinate-count", 2, 14},
        {"PARAMETER p q\nPOINTS ()\n", "coordinate-count", 2, 8},
        {"PARAMETER p q\nPOINTS ((1 2))\n", "braces", 2, 13},
        {"PARAMETER p q\nPOINTS (((1)) (2))\n", "braces", 2, 10},
        {"PARAMETER p q\nPOINTS (1 2)) ((3 4\n", "braces", 2, 13},
        {"PARAMETER p\nPOINTS (\n", "braces", 2, 8},
        {"PARAMETER p\nPOINTS\n", "no-points", 2, 1},
        {"PARAMETER p\nPOINTS 1 1 1 x\n", "not-a-number", 2, 14},
        {"PARAMETER p\nPOINTS 1 nan\n", "not-finite", 2, 10},
        {"PARAMETER p\nPOINTS 1e999\n", "not-finite", 2, 8},
        {"PARAMETER p\nPOINTS (1,2)\n", "not-a-number", 2, 9},
        {HEAD "REGION a\xff"
              "b\n",
         "utf-8", 3, 9},
        {HEAD "METRIC \xc3\n", "utf-8", 3, 8},
        {"PARAMETER \xed\xa0\x80\n", "utf-8", 1, 11},
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) assert_refused(TEXT, &errors[i]);
}

static void nul_bytes_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } inputs[] = {{"\0\0\0\0", 4},
                  {HEAD "REGION a\0b\nDATA 1\n", sizeof HEAD + 17},
                  {HEAD "DATA 1\0\n", sizeof HEAD + 7},
                  {HEAD "#\0\nDATA 1\n", sizeof HEAD + 9}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        as_read_config config = {.format = TEXT};
        as_dataset *ds;
        assert_int_equal(as_read_memory("input", inputs[i].bytes, inputs[i].size, &config, &ds, NULL), ASSAY_E_FORMAT);
    }
}

static void all_broken_lines_are_reported(void **state) {
    (void)state;
    const char *text =
        "PARAMETER p\nPOINTS 1 2\nFOO\nREGION r\nDATA x\nDATA 2\nDATA 3\nREGION s\nDATA\nDATA 7\nPARAMETER q\n";
    as_read_config config = {.format = TEXT, .keep_going = true};
    as_dataset *ds = NULL;
    assert_int_equal(as_read_memory("input", text, strlen(text), &config, &ds, NULL), ASSAY_OK);
    static const uint32_t lines[] = {3, 5, 7, 9, 11};
    assert_int_equal(ds->problems.count, 6); /* and one warning of missing points */
    for (size_t i = 0; i < 5; i++) assert_int_equal(as_ds_problem(ds, i)->line, lines[i]);
    assert_described(ds, "r  (2): 2\ns  (2): 7\n");
    as_dataset_free(ds);
}

static void bids(void **state) {
    (void)state;
    const as_format *format = as_format_find(TEXT);
    static const struct {
        const char *text;
        int bits;
    } inputs[] = {{"PARAMETER p\n", 72},
                  {"\xef\xbb\xbf PARAMETER\tp", 72},
                  {"# c\n\nMETRIC m\n  PARAMETER p\n", 72},
                  {"PARAMETERS p\n", 0},
                  {"a PARAMETER p\n", 0},
                  {"", 0},
                  {"{\"parameters\":[]}", 0}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        as_probe probe = {
            .path = "x", .head = inputs[i].text, .head_size = strlen(inputs[i].text), .size = strlen(inputs[i].text)};
        assert_int_equal(format->bid(&probe), inputs[i].bits);
    }
}

static void writing(void **state) {
    (void)state;
    const char *text = "PARAMETER p q\nPOINTS (1 2) (3 0.5)\nMETRIC time\nREGION main->f\nDATA 1 0.1\nDATA "
                       "1e+30\nREGION g\nDATA nan\nDATA inf\n";
    assert_writes(TEXT, text, TEXT, text);
    text = "PARAMETER p\nPOINTS (1) (2)\nMETRIC unused\nREGION idle\nMETRIC\nREGION\nDATA 18446744073709551615\nDATA "
           "1\nMETRIC m\nDATA 2\nDATA 3\n";
    assert_writes(TEXT, text, TEXT, text);
    assert_survives(TEXT, text, TEXT);
    assert_loses(TEXT, text, TEXT, "");
}

static void comments_are_kept(void **state) {
    (void)state;
    as_dataset *ds =
        read_text("extrap-text", "# one\n  #two  \nPARAMETER p\n#\nPOINTS 1\nREGION r\nMETRIC m\n#\xff\nDATA 1\n# ö");
    assert_int_equal(ds->attributes.count, 1);
    assert_string_equal(as_ds_text(ds, as_ds_attribute(ds, 0)->key), "comment");
    assert_string_equal(as_ds_attribute(ds, 0)->value.text, "one\ntwo\n\nö");
    uint32_t line;
    assert_int_equal(count_problems(ds, "utf-8", &line), 1); /* the one that is no UTF-8 */
    assert_int_equal(line, 8);
    char *again = write_text(ds, "extrap-text");
    assert_string_equal(again, "# one\n# two\n#\n# ö\nPARAMETER p\nPOINTS (1)\nMETRIC m\nREGION r\nDATA 1\n");
    free(again);
    as_dataset_free(ds);
}

static void what_text_cannot_hold(void **state) {
    (void)state;
    const char *names =
        "{\"params\":{\"a b\":1,\"a_b\":2,\"\":3},\"callpath\":\" x  y\",\"metric\":\"m\\nn\",\"value\":[[1,2],3]}\n";
    assert_writes("extrap-jsonl", names, TEXT,
                  "PARAMETER a_b_ a_b _\nPOINTS (1 2 3)\nMETRIC m n\nREGION x y\nDATA 1 2 3\n");
    assert_loses("extrap-jsonl", names, TEXT,
                 "2 locations (their values become repetitions); the blanks in 2 parameter names (they become '_'); "
                 "the exact white space of 2 names of metrics and call paths (runs of it become one blank)");
    const char *gaps =
        "{\"params\":{\"p\":1},\"callpath\":\"a\",\"value\":1}\n{\"params\":{\"p\":2},\"callpath\":\"b\",\"value\":2}\n"
        "{\"params\":{\"p\":1},\"callpath\":\"c\",\"value\":3}\n{\"params\":{\"p\":2},\"callpath\":\"c\",\"value\":4}"
        "\n";
    assert_writes(
        "extrap-jsonl", gaps, TEXT,
        "PARAMETER p\nPOINTS (1) (2)\nREGION b\nMETRIC <default>\nREGION a\nDATA 1\nREGION c\nDATA 3\nDATA 4\n");
    assert_loses("extrap-jsonl", gaps, TEXT,
                 "the values of 1 series without data at a point before their last; "
                 "1 series without data at the last points in a way that readers other than assay accept");
}

static void cut_files(void **state) {
    (void)state;
    read_all_beginnings(TEXT, "\xef\xbb\xbfPARAMETER p q\r\nPOINTS (1 2) ((3) (4))\nMETRIC t\xc3\xa4\nREGION a->b  "
                              "c\nDATA 1 2.5e3\nDATA nan\n# x\nREGION d\nDATA 7\n");
}

static void huge_counts(void **state) {
    (void)state;
    size_t n = 200000, size = 0;
    char *text = malloc(64 + n * 8);
    size += (size_t)sprintf(text, "PARAMETER");
    for (size_t i = 0; i < 1001; i++) size += (size_t)sprintf(text + size, " p%zu", i);
    as_read_config config = {.format = TEXT};
    as_dataset *ds;
    assay_error error;
    assert_int_equal(as_read_memory("input", text, size, &config, &ds, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.rule, "too-many-parameters");
    size = (size_t)sprintf(text, "PARAMETER p\nPOINTS");
    for (size_t i = 0; i < n; i++) size += (size_t)sprintf(text + size, " %zu", i);
    size += (size_t)sprintf(text + size, "\nDATA 1\n");
    ds = read_bytes(TEXT, text, size);
    assert_int_equal(ds->n_points, n);
    as_dataset_free(ds);
    config.memory_limit = 1 << 20;
    assert_int_equal(as_read_memory("input", text, size, &config, &ds, &error), ASSAY_E_NOMEM);
    free(text);
}

static void memory_runs_out(void **state) {
    (void)state;
    read_with_little_memory(TEXT,
                            HEAD "REGION a  b->c\nMETRIC m\nDATA 1 2\nDATA 3.5\nREGION d\nDATA 1\nREGION d\nDATA 2\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_blanks),
        cmocka_unit_test(names),
        cmocka_unit_test(call_tree),
        cmocka_unit_test(points),
        cmocka_unit_test(numbers),
        cmocka_unit_test(repeated_points),
        cmocka_unit_test(missing_points),
        cmocka_unit_test(errors_name_their_place),
        cmocka_unit_test(nul_bytes_are_refused),
        cmocka_unit_test(all_broken_lines_are_reported),
        cmocka_unit_test(bids),
        cmocka_unit_test(writing),
        cmocka_unit_test(comments_are_kept),
        cmocka_unit_test(what_text_cannot_hold),
        cmocka_unit_test(cut_files),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(huge_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
