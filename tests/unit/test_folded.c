/* Folded stacks: what lines say, what is refused, and that writing and reading again is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "helpers.h"

static const char SMALL[] =
    "main;solve;stencil 250\nmain;solve 12\r\n\n# made by hand\nmain;solve;stencil 1\nmain;io thing;read_[k]\t5\n";

static as_number value_at(const as_dataset *ds, assay_id metric, const char *path) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    as_number number = {.kind = AS_REAL, .r = NAN};
    for (size_t i = 0; i < ds->blocks.count; i++) {
        const as_block *block = as_ds_block(ds, i);
        for (uint32_t k = 0; block->metric == metric && k < block->n_contexts; k++) {
            assert_true(as_context_path(ds, block->contexts[k], &text));
            if (strcmp(text.data, path) == 0) number = as_block_value(block, block->starts[k]);
        }
    }
    as_vec_free(&text);
    return number;
}

static void test_lines(void **state) {
    (void)state;
    as_dataset *ds = read_text("folded", SMALL);
    assert_int_equal(ds->metrics.count, 1);
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->name), "samples");
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->unit), "occ");
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->dtype), "INT64");
    assert_int_equal(ds->contexts.count, 5);
    assert_int_equal(value_at(ds, 0, "main->solve->stencil").i, 251);
    assert_int_equal(value_at(ds, 0, "main->solve").i, 12);
    assert_int_equal(value_at(ds, 0, "main->io thing->read_[k]").i, 5);
    assert_int_equal(as_ds_values(ds), 3);
    const as_context *last = as_ds_context(ds, 4);
    assert_string_equal(as_ds_text(ds, as_ds_region(ds, last->region)->kind), "kernel code");
    as_dataset_free(ds);
}

static void test_numbers(void **state) {
    (void)state;
    as_dataset *ds = read_text("folded", "a;b 0.5\na;b 2\na -1\n");
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->dtype), "DOUBLE");
    assert_true(as_number_real(value_at(ds, 0, "a->b")) == 2.5);
    assert_true(as_number_real(value_at(ds, 0, "a")) == -1);
    as_dataset_free(ds);
    ds = read_text("folded", "a;b 9223372036854775807\na;b 1\n"); /* 2^63 */
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->dtype), "UINT64");
    assert_true(value_at(ds, 0, "a->b").u == 9223372036854775808u);
    as_dataset_free(ds);
    ds = read_text("folded", "a;b 9223372036854775807\na;b 1\nc -1\n"); /* neither holds both */
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->dtype), "DOUBLE");
    as_dataset_free(ds);
}

/* What austin says of itself ends in numbers too; names that begin with '#' are names. */
static void test_comments(void **state) {
    (void)state;
    as_dataset *ds = read_text("folded", "# austin: 3.4.1\n# interval: 100\n#\n# mode wall\n#f;g 3\n\n#f 4\n");
    assert_int_equal(ds->contexts.count, 2);
    assert_int_equal(value_at(ds, 0, "#f").i, 4);
    assert_int_equal(value_at(ds, 0, "#f->g").i, 3);
    as_dataset_free(ds);
    assert_writes("folded", "a;# b 3\n", "folded", "a;# b 3\n");
    assert_writes("folded", "\t# b;c 3\n", "folded", " # b;c 3\n");
}

/* austin says in its comments what it measures (its README: microseconds, or bytes). */
static void test_meaning(void **state) {
    (void)state;
    static const struct {
        const char *text, *name, *unit;
    } files[] = {{"# austin: 3.7.0\n# interval: 100\n# mode: wall\n\nP1;T2;a:f:3 100\n", "time", "us"},
                 {"# austin: 3.7.0\r\n# mode: cpu\r\nP1;T2;a:f:3 100\r\n", "time", "us"},
                 {"# austin: 3.7.0\n# mode: memory\nP1;T2;a:f:3 -4096\n", "memory", "B"},
                 {"# austin: 3.7.0\n# mode: other\nP1;T2;a:f:3 100\n", "samples", "occ"},
                 {"# mode: wall\nP1;T2;a:f:3 100\n", "samples", "occ"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        as_dataset *ds = read_text("folded", files[i].text);
        assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->name), files[i].name);
        assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->unit), files[i].unit);
        as_dataset_free(ds);
    }
}

static void test_no_frames(void **state) {
    (void)state;
    as_dataset *ds = read_text("folded", "a;b 3\n 5\n 2\n");
    assert_int_equal(ds->contexts.count, 3);
    assert_int_equal(value_at(ds, 0, "").i, 7);
    as_dataset_free(ds);
}

static void test_differences(void **state) {
    (void)state;
    as_dataset *ds = read_text("folded", "a;b 1 2\na;c 0 5\n");
    assert_int_equal(ds->metrics.count, 2);
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->name), "before");
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 1)->name), "after");
    assert_int_equal(value_at(ds, 0, "a->b").i, 1);
    assert_int_equal(value_at(ds, 1, "a->b").i, 2);
    assert_int_equal(value_at(ds, 0, "a->c").i, 0);
    assert_int_equal(value_at(ds, 1, "a->c").i, 5);
    as_dataset_free(ds);
    assert_writes("folded", "a;b 1 2\na;c 0 5\n", "folded", "a;b 1 2\na;c 0 5\n");
    /* One line with a single amount, and all have one: numbers at the end of names are theirs */
    ds = read_text("folded", "a;b 1 2\na;c 5\n");
    assert_int_equal(ds->metrics.count, 1);
    assert_int_equal(value_at(ds, 0, "a->b 1").i, 2);
    as_dataset_free(ds);
}

static void test_names_that_look_like_amounts(void **state) {
    (void)state;
    const char *text = "a;worker 3 7\n", *option[] = {"columns=1", NULL};
    as_read_config config = {.format = "folded", .options = option};
    as_dataset *ds = NULL;
    assert_int_equal(as_read_memory("input", text, strlen(text), &config, &ds, NULL), ASSAY_OK);
    assert_int_equal(value_at(ds, 0, "a->worker 3").i, 7);
    char *written = write_text(ds, "folded");
    assert_string_equal(written, "a;worker_3 7\n");
    free(written);
    as_dataset_free(ds);
    text = " 5 7\n"; /* a name that is nothing but a blank and a number */
    assert_int_equal(as_read_memory("input", text, strlen(text), &config, &ds, NULL), ASSAY_OK);
    written = write_text(ds, "folded");
    assert_string_equal(written, "_5 7\n");
    free(written);
    as_dataset_free(ds);
}

/* At the beginning of a file a byte order mark is none of a name: what is written begins with no name that has one. */
static void test_byte_order_marks(void **state) {
    (void)state;
    assert_writes("folded",
                  "\xef\xbb\xbf"
                  "a;b 1\n",
                  "folded", "a;b 1\n");
    assert_writes("folded",
                  "a;b 0\n\xef\xbb\xbf"
                  "c;\xef\xbb\xbf"
                  "d 5\n",
                  "folded",
                  "c;\xef\xbb\xbf"
                  "d 5\n");
}

static void test_writing(void **state) {
    (void)state;
    assert_writes("folded", SMALL, "folded", "main;solve 12\nmain;solve;stencil 251\nmain;io thing;read_[k] 5\n");
    assert_writes("folded", "a;;b 1\n;x 2\na;b 0\n", "folded", "a;;b 1\n;x 2\n");
    assert_loses("folded", "a;b 1\n", "folded", "");
    assert_loses("folded", "a;b 1 2\n", "folded", "");
    assert_loses("folded", "# austin: 3.7.0\n# mode: wall\na;b 1\n", "folded", "what the amounts are: time [us]");
    assert_loses("folded", "a;b 1 2\n", "speedscope", "1 metric beyond those of -O metric");
}

static void test_invalid_characters(void **state) {
    (void)state;
    as_dataset *ds = read_text("folded", "a\xff;b 1\na\xff;c 2\n");
    assert_int_equal(count_problems(ds, "encoding", NULL), 1);
    assert_int_equal(value_at(ds, 0, "a\xef\xbf\xbd->c").i, 2);
    assert_int_equal(ds->contexts.count, 3);
    as_dataset_free(ds);
}

static void test_refused(void **state) {
    (void)state;
    static const expected_error errors[] = {{"a;b\n", "no-amount", 1, 3},
                                            {"a;b 1\na;b x\n", "no-amount", 2, 5},
                                            {"a;b 1\na;b nan\n", "no-amount", 2, 7},
                                            {"5\n", "no-amount", 1, 1},
                                            {"5\n", "no-amount", 1, 1},
                                            {"", "no-data", 0, 0},
                                            {"\n\n# nothing\n", "no-data", 0, 0}};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) assert_refused("folded", &errors[i]);
    as_read_config config = {.format = "folded", .depth_limit = 3};
    as_dataset *ds = NULL;
    assay_error error;
    assert_int_equal(as_read_memory("input", "a;b;c;d 1\n", 10, &config, &ds, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.rule, "too-deep");
}

/* Recursion goes deep: 5000 frames of one function, read and written again. */
static void test_deep_stacks(void **state) {
    (void)state;
    enum { FRAMES = 5000 };
    char text[2 * FRAMES + 3];
    for (size_t i = 0; i < FRAMES; i++) memcpy(text + 2 * i, "f;", 2);
    memcpy(text + 2 * FRAMES - 1, " 7\n", 4);
    as_read_config config = {.format = "folded"};
    as_dataset *ds = NULL;
    assay_error error;
    assert_int_equal(as_read_memory("input", text, sizeof text - 1, &config, &ds, &error), ASSAY_OK);
    assert_int_equal(ds->contexts.count, FRAMES);
    assert_int_equal(as_ds_context(ds, FRAMES - 1)->depth, FRAMES - 1);
    as_dataset_free(ds);
}

/* What is taken for folded stacks without being told so. */
static void test_bidding(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_one;
    } files[] = {{"a;b 1\n", true},
                 {"a;b 1\nsome words\n", false},
                 {"a;b 1\na;c 2.5", true},
                 {"\x01;b 1\n", false},
                 {"# made by hand\na;b 1\n", true},
                 /* single frames: functions and counts */
                 {"main 5\nsolve 7\n", true},
                 {"main\t5\r\nvoid f<int>(int, char) 3\r\nstd::vector<int>::push_back 1\r\n", true},
                 {"~t 5\n_start 7\n<module> (a.py:1) 2\n[unknown] 3\n\xc3\xa4 4\n", true},
                 {"a 1\n", false},              /* one line says too little */
                 {"Table 1\nTable 2\n", false}, /* stacks of one name are one line */
                 {"some words 1\nand more 2\n", false},
                 {"rchar: 1\nwchar: 2\n", false},
                 {"speed 1.5\nlength 2\n", false}, /* a measure, no count */
                 {"depth -1\nlength 2\n", false},
                 {"10 1\n20 2\n", false}, /* a table */
                 {"x 10 1\ny 20 2\n", false}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        as_read_config config = {0};
        as_dataset *ds = NULL;
        assay_status status = as_read_memory("input", files[i].text, strlen(files[i].text), &config, &ds, NULL);
        assert_int_equal(status == ASSAY_OK, files[i].is_one);
        if (files[i].is_one) assert_string_equal(ds->format, "folded");
        if (files[i].is_one) as_dataset_free(ds);
    }
}

static void test_beginnings_and_memory(void **state) {
    (void)state;
    read_all_beginnings("folded", SMALL);
    read_all_beginnings("folded", "a;b 1 2\na;\xc3\xa4 0 5\n");
    read_with_little_memory("folded", SMALL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_comments),
        cmocka_unit_test(test_meaning),
        cmocka_unit_test(test_no_frames),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_names_that_look_like_amounts),
        cmocka_unit_test(test_byte_order_marks),
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_invalid_characters),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_deep_stacks),
        cmocka_unit_test(test_bidding),
        cmocka_unit_test(test_beginnings_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
