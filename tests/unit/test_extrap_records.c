/* extrap-jsonl and extrap-talpas: records, errors with their lines, unknown keys, writing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "helpers.h"

#define JSONL  "extrap-jsonl"
#define TALPAS "extrap-talpas"

static void json_lines(void **state) {
    (void)state;
    assert_reads(JSONL,
                 "{\"params\":{\"p\":1},\"metric\":\"m\",\"callpath\":\"c\",\"value\":1}\n{\"params\":{\"p\":2},"
                 "\"metric\":\"m\",\"callpath\":\"c\",\"value\":[2,3]}\n",
                 "c m (1): 1\nc m (2): 2 3\n");
    assert_reads(JSONL, "{\"params\":{\"p\":1},\"value\":1}", "<root> <default> (1): 1\n");
    assert_reads(JSONL,
                 "\xef\xbb\xbf\n \n{\"value\":1,\"params\":{\"p\":1}}\r\n\r\n{ \"value\" : 2 , \"params\" : { \"p\" : "
                 "1.0 } }\r\n",
                 "<root> <default> (1): 1 2\n");
    assert_reads(JSONL, "{\"params\":{\"b\":1,\"a\":2},\"value\":1}\n{\"params\":{\"a\":3,\"b\":4},\"value\":2}\n",
                 "<root> <default> (1,2): 1\n<root> <default> (4,3): 2\n");
    assert_reads(JSONL, "{\"params\":{\"p\":\"1e1\"},\"value\":\"2.5\"}\n", "<root> <default> (10): 2.5\n");
    assert_reads(JSONL, "{\"params\":{\"p\":1},\"value\":[NaN,Infinity,-Infinity,\"nan\"]}\n",
                 "<root> <default> (1): nan inf -inf nan\n");
    assert_reads(
        JSONL,
        "{\"params\":{\"p\":1},\"callpath\":\"a\\u002d>\\u00e4\",\"metric\":\"\",\"value\":18446744073709551615}\n",
        "a->\xc3\xa4  (1): 18446744073709551615\n");
}

static void points_in_any_order_and_spelling(void **state) {
    (void)state;
    static const char *const params[] = {
        "{\"p\":1}", "{\"p\":2}", "{\"p\":3}",  "{\"p\":1}", "{\"p\":2.0}", "{\"p\":3,\"z\":1}", "{\"p\":3}",
        "{\"p\":3}", "{\"p\":2}", "{ \"p\":1}", "{\"p\":1}", "{\"p\":12}",  "{\"p\":1,\"z\":2}", "{\"p\":2}"};
    char text[2048];
    int size = 0;
    for (int i = 0; i < 14; i++) size += sprintf(text + size, "{\"params\":%s,\"value\":%d}\n", params[i], i);
    assert_reads(JSONL, text,
                 "<root> <default> (1): 0 3 9 10 12\n<root> <default> (2): 1 4 8 13\n"
                 "<root> <default> (3): 2 5 6 7\n<root> <default> (12): 11\n");
}

static void nested_lists_are_repetitions_and_locations(void **state) {
    (void)state;
    as_dataset *ds = read_text(JSONL, "{\"params\":{\"p\":1},\"value\":[[1,2],[3]]}\n{\"params\":{\"p\":1},\"value\":4}"
                                      "\n{\"params\":{\"p\":2},\"value\":[5,[6,7,8]]}\n");
    assert_described(ds, "<root> <default> (1): [1 2] [3] 4\n<root> <default> (2): 5 [6 7 8]\n");
    assert_int_equal(ds->runs.count, 5);
    assert_int_equal(ds->locations.count, 3);
    as_dataset_free(ds);
}

static void talpas(void **state) {
    (void)state;
    const char *same = "a;b m (1,2): 1\na;b m (3,4): 2 3\n";
    assert_reads(TALPAS,
                 "{\"parameters\":{\"x\":1;\"y\":2};\"metric\":\"m\";\"callpath\":\"a;b\";\"value\":1}\n"
                 "{\"parameters\":{\"x\":3,\"y\":4};\"metric\":\"m\";\"callpath\":\"a;b\";\"value\":[2;3]}\n",
                 same);
    assert_reads(TALPAS,
                 "{\"parameters\":{\"x\":1,\"y\":2},\"metric\":\"m\",\"callpath\":\"a;b\",\"value\":1}\n\n"
                 "{\"value\":[2,3],\"callpath\":\"a;b\",\"metric\":\"m\",\"parameters\":{\"y\":4,\"x\":3}}",
                 same);
}

static void errors_name_their_line(void **state) {
    (void)state;
#define FIRST "{\"params\":{\"p\":1},\"value\":1}\n"
    static const expected_error errors[] = {
        {"", "no-parameters", 0, 0},
        {"\n\n", "no-parameters", 0, 0},
        {"hello\n", "json-syntax", 1, 1},
        {"# x\n" FIRST, "json-syntax", 1, 1},
        {FIRST "{\"params\"\n", "json-syntax", 2, 10},
        {FIRST "[1]\n", "wrong-type", 2, 1},
        {FIRST FIRST " {\"params\":{\"p\":1}}\n", "missing-key", 3, 1},
        {"{\"value\":1}\n", "missing-key", 1, 1},
        {FIRST "{\"params\":{\"q\":2},\"value\":1}\n", "missing-parameter", 2, 11},
        {"{\"params\":{},\"value\":1}\n", "no-parameters", 1, 12},
        {"{\"params\":[1],\"value\":1}\n", "wrong-type", 1, 11},
        {FIRST "{\"params\":{\"p\":1},\"value\":null}\n", "not-a-number", 2, 27},
        {FIRST "{\"params\":{\"p\":1},\"value\":true}\n", "not-a-number", 2, 27},
        {FIRST "{\"params\":{\"p\":1},\"value\":[1,{}]}\n", "not-a-number", 2, 30},
        {FIRST "{\"params\":{\"p\":1},\"value\":\"x\"}\n", "not-a-number", 2, 27},
        {FIRST "{\"params\":{\"p\":1},\"value\":[]}\n", "no-values", 2, 27},
        {FIRST "{\"params\":{\"p\":1},\"value\":[1,[]]}\n", "no-values", 2, 30},
        {FIRST "{\"params\":{\"p\":1},\"value\":[[[1]]]}\n", "nested-values", 2, 29},
        {FIRST "{\"params\":{\"p\":null},\"value\":1}\n", "not-a-number", 2, 16},
        {FIRST "{\"params\":{\"p\":NaN},\"value\":1}\n", "not-finite", 2, 16},
        {FIRST "{\"params\":{\"p\":1},\"callpath\":null,\"value\":1}\n", "wrong-type", 2, 30},
        {FIRST "{\"params\":{\"p\":1},\"metric\":1,\"value\":1}\n", "wrong-type", 2, 28},
        {FIRST "{\"params\":{\"p\":1},\"metric\":\"a\\u0000\",\"value\":1}\n", "nul-byte", 2, 28},
        {FIRST "{\"params\":{\"p\":1},\"value\":1,\"value\":1}\n", "duplicate-key", 2, 29},
        {FIRST "{\"params\":{\"p\":1},\"x\":1,\"value\":1,\"x\":1}\n", "duplicate-key", 2, 35},
        {FIRST "{\"params\":{\"p\":2,\"p\":3},\"value\":1}\n", "duplicate-key", 2, 18},
        {FIRST "{\"params\":{\"p\":2,\"z\":3,\"z\":3},\"value\":1}\n", "duplicate-key", 2, 24},
        {"{\"params\":{\"p\":2,\"p\":3},\"value\":1}\n", "duplicate-key", 1, 18},
        {FIRST "{\"params\":{\"p\":1},\"value\":1} x\n", "json-syntax", 2, 30},
        {FIRST "{\"params\":{\"p\":1},\"metric\":\"\xff\",\"value\":1}\n", "json-syntax", 2, 29},
        {FIRST "{\"params\":{\"p\":1};\"value\":1}\n", "json-syntax", 2, 18},
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) assert_refused(JSONL, &errors[i]);
#undef FIRST
#define FIRST "{\"parameters\":{\"p\":1};\"metric\":\"m\";\"callpath\":\"c\";\"value\":1}\n"
    static const expected_error talpas_errors[] = {
        {FIRST "{\"parameters\":{\"p\":1};\"metric\":\"m\";\"value\":1}\n", "missing-key", 2, 1},
        {FIRST "{\"parameters\":{\"p\":1};\"callpath\":\"m\";\"value\":1}\n", "missing-key", 2, 1},
        {FIRST "{\"callpath\":\"c\";\"metric\":\"m\";\"value\":1}\n", "missing-key", 2, 1},
        {FIRST "{\"parameters\":{\"q\":1};\"metric\":\"m\";\"callpath\":\"c\";\"value\":1}\n", "missing-parameter", 2,
         15},
        {"# x\n" FIRST, "json-syntax", 1, 1},
        {FIRST "{\"parameters\":{\"p\":1}:\"metric\":\"m\"}\n", "json-syntax", 2, 22},
    };
    for (size_t i = 0; i < sizeof talpas_errors / sizeof *talpas_errors; i++) assert_refused(TALPAS, &talpas_errors[i]);
#undef FIRST
}

static void all_broken_records_are_reported(void **state) {
    (void)state;
    const char *text = "{\"params\":{\"p\":NaN,\"q\":1},\"value\":1}\n{\"params\":{\"p\":1},\"value\":1}\nx\n{"
                       "\"params\":{\"q\":1},\"value\":1}\n"
                       "{\"params\":{\"p\":1},\"value\":[]}\n{\"params\":{\"p\":1},\"value\":2}\n";
    as_read_config config = {.format = JSONL, .keep_going = true};
    as_dataset *ds = NULL;
    assert_int_equal(as_read_memory("input", text, strlen(text), &config, &ds, NULL), ASSAY_OK);
    static const uint32_t lines[] = {1, 3, 4, 5};
    assert_int_equal(ds->problems.count, 4);
    for (size_t i = 0; i < 4; i++) assert_int_equal(as_ds_problem(ds, i)->line, lines[i]);
    assert_described(ds, "<root> <default> (1): 1 2\n");
    as_dataset_free(ds);
}

/* ---- unknown keys ------------------------------------------------------------------------------------------------ */

#define KEYS                                                                                                           \
    "{\"params\":{\"p\":1},\"metric\":\"m\",\"callpath\":\"c\",\"value\":1}\n"                                         \
    "{\"params\":{\"p\":1},\"metric\":\"m\",\"callpath\":\"c\",\"value\":[2,3],\"host\":\"n\\\"1\",\"job\":17,\"ok\":" \
    "true,\"none\":null}\n"                                                                                            \
    "{\"params\":{\"p\":1,\"extra\":2.5},\"metric\":\"m\",\"callpath\":\"c\",\"value\":4}\n"                           \
    "{\"params\":{\"p\":1},\"metric\":\"m\",\"callpath\":\"c\",\"value\":[5,6]}\n"                                     \
    "{\"params\":{\"p\":2},\"metric\":\"m\",\"callpath\":\"c\",\"value\":7,\"job\":123456789012345678901234567890,"    \
    "\"other\":{\"id\":9,\"HOST\":[1,{\"a\":\"b\"}]}}\n"

static as_cell cell(const as_table *table, size_t row, const char *column) {
    size_t index = as_table_find_column(table, column);
    assert_true(index != SIZE_MAX);
    return as_table_get(table, row, index);
}

static void unknown_keys_become_records(void **state) {
    (void)state;
    as_dataset *ds = read_text(JSONL, KEYS);
    assert_described(ds, "c m (1): 1 2 3 4 5 6\nc m (2): 7\n");
    as_table *table = as_ds_records(ds, "record");
    assert_non_null(table);
    assert_int_equal(as_table_rows(table), 3);
    assert_int_equal(cell(table, 0, "run").i, 1); /* the second repetition of the first point */
    assert_int_equal(cell(table, 0, "repetitions").i, 2);
    assert_int_equal(cell(table, 0, "metric").i, 0);
    assert_int_equal(cell(table, 0, "context").i, 0);
    assert_string_equal(cell(table, 0, "host").text, "n\"1");
    assert_int_equal(cell(table, 0, "job").i, 17);
    assert_int_equal(cell(table, 0, "ok").type, AS_CELL_JSON);
    assert_string_equal(cell(table, 0, "ok").text, "true");
    assert_string_equal(cell(table, 0, "none").text, "null");
    assert_int_equal(cell(table, 1, "run").i, 3);
    assert_true(cell(table, 1, "params:extra").r == 2.5);
    assert_int_equal(cell(table, 1, "host").type, AS_CELL_NULL);
    assert_int_equal(cell(table, 2, "run").i, 6); /* the first repetition of the second point */
    assert_string_equal(cell(table, 2, "job").text, "123456789012345678901234567890"); /* no double holds it */
    assert_string_equal(cell(table, 2, "other").text, "{\"other\":{\"id\":9,\"HOST\":[1,{\"a\":\"b\"}]}}");
    as_dataset_free(ds);
}

static void unknown_keys_come_back(void **state) {
    (void)state;
    assert_writes(JSONL, KEYS, JSONL, KEYS);
    assert_loses(JSONL, KEYS, JSONL, "");
    assert_loses(JSONL, KEYS, "extrap-text", "3 records with further keys");
}

static void keys_that_cannot_be_columns(void **state) {
    (void)state;
    const char *odd =
        "{\"params\":{\"p\":1},\"metric\":\"m\",\"callpath\":\"c\",\"value\":0}\n"
        "{\"params\":{\"p\":1,\"P\":3,\"\":4},\"metric\":\"m\",\"callpath\":\"c\",\"value\":1,\"a\":1,\"A\":2,\"id\":3,"
        "\"Run\":4,\"\":5,\"params:z\":6,\"n\\u0000\":7,\"x\":NaN,\"X\":-Infinity,\"y\":[NaN,-Infinity]}\n";
    as_dataset *ds = read_text(JSONL, odd);
    as_table *table = as_ds_records(ds, "record");
    assert_string_equal(cell(table, 0, "other").text,
                        "{\"A\":2,\"id\":3,\"Run\":4,\"\":5,\"params:z\":6,\"n\\u0000\":7,\"X\":-Infinity}");
    assert_string_equal(cell(table, 0, "params").text, "{\"\":4}");
    assert_int_equal(cell(table, 0, "params:P").i, 3);
    assert_string_equal(cell(table, 0, "y").text, "[NaN,-Infinity]");
    char *written = write_text(ds, JSONL);
    assert_string_equal(written, "{\"params\":{\"p\":1},\"metric\":\"m\",\"callpath\":\"c\",\"value\":0}\n"
                                 "{\"params\":{\"p\":1,\"P\":3,\"\":4},\"metric\":\"m\",\"callpath\":\"c\",\"value\":1,"
                                 "\"a\":1,\"x\":NaN,\"y\":[NaN,-Infinity],"
                                 "\"A\":2,\"id\":3,\"Run\":4,\"\":5,\"params:z\":6,\"n\\u0000\":7,\"X\":-Infinity}\n");
    free(written);
    as_dataset_free(ds);
}

static void many_different_keys_share_a_column(void **state) {
    (void)state;
    size_t n = 300, size = 0;
    char *text = malloc(n * 128);
    for (size_t i = 0; i < n; i++)
        size += (size_t)sprintf(
            text + size, "{\"params\":{\"p\":1},\"metric\":\"m\",\"callpath\":\"c\",\"value\":%zu,\"k%zu\":%zu}\n", i,
            i, i);
    as_dataset *ds = read_bytes(JSONL, text, size);
    assert_true(as_table_columns(as_ds_records(ds, "record")) < 120);
    char *written = write_text(ds, JSONL);
    assert_string_equal(written, text);
    free(written);
    as_dataset_free(ds);
    free(text);
}

static void talpas_semicolons_in_unknown_values(void **state) {
    (void)state;
    const char *text = "{\"parameters\":{\"p\":1;\"q\":1};\"metric\":\"m\";\"callpath\":\"c\";\"value\":1;\"k\":{\"a;"
                       "\":[1;2];\"b\":3}}\n";
    as_dataset *ds = read_text(TALPAS, text);
    assert_string_equal(cell(as_ds_records(ds, "record"), 0, "k").text, "{\"a;\":[1,2],\"b\":3}");
    char *written = write_text(ds, TALPAS);
    assert_string_equal(written, "{\"parameters\":{\"p\":1,\"q\":1};\"metric\":\"m\";\"callpath\":\"c\";\"value\":1;"
                                 "\"k\":{\"a;\":[1,2],\"b\":3}}\n");
    free(written);
    as_dataset_free(ds);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void writing(void **state) {
    (void)state;
    const char *text =
        "PARAMETER x y\nPOINTS (1 2) (3 0.1)\nREGION a->\"b\"\nMETRIC time s\nDATA 1 2\nDATA nan -inf 0.1\n";
    assert_writes("extrap-text", text, JSONL,
                  "{\"params\":{\"x\":1,\"y\":2},\"metric\":\"time s\",\"callpath\":\"a->\\\"b\\\"\",\"value\":[1,2]}\n"
                  "{\"params\":{\"x\":3,\"y\":0.1},\"metric\":\"time "
                  "s\",\"callpath\":\"a->\\\"b\\\"\",\"value\":[NaN,-Infinity,0.1]}\n");
    assert_writes(
        "extrap-text", text, TALPAS,
        "{\"parameters\":{\"x\":1,\"y\":2};\"metric\":\"time s\";\"callpath\":\"a->\\\"b\\\"\";\"value\":[1,2]}\n"
        "{\"parameters\":{\"x\":3,\"y\":0.1};\"metric\":\"time "
        "s\";\"callpath\":\"a->\\\"b\\\"\";\"value\":[NaN,-Infinity,0.1]}\n");
    assert_survives("extrap-text", text, JSONL);
    assert_survives("extrap-text", text, TALPAS);
    const char *nested = "{\"params\":{\"p\":1},\"metric\":\"m\",\"callpath\":\"c\",\"value\":[[1,2],[3],4]}\n{"
                         "\"params\":{\"p\":2},\"metric\":\"m\",\"callpath\":\"c\",\"value\":[[5]]}\n";
    assert_writes(JSONL, nested, JSONL, nested);
    assert_survives(JSONL, nested, TALPAS);
    assert_survives(JSONL, nested, "extrap-json");
}

static void what_records_cannot_hold(void **state) {
    (void)state;
    const char *text = "PARAMETER p\nPOINTS 1 2\nMETRIC unused\nMETRIC a;b\nREGION r\nDATA 1\nREGION idle\n";
    assert_loses("extrap-text", text, JSONL, "1 point without data; 1 call path without data; 1 metric without data");
    assert_loses("extrap-text", text, TALPAS,
                 "1 point without data; 1 call path without data; 1 metric without data; the ';' in 1 name for "
                 "readers other than assay (they take it for a comma)");
}

static int bid(const char *format, const char *text) {
    as_probe probe = {.path = "x", .head = text, .head_size = strlen(text), .size = strlen(text)};
    return as_format_find(format)->bid(&probe);
}

static void bids(void **state) {
    (void)state;
    const char *jsonl = "{\"params\":{\"p\":1},\"value\":1}\n",
               *full = "\n{\"value\":[1],\"metric\":\"m\",\"params\":{\"p\":1},\"callpath\":\"c\"}";
    const char *record = "{\"parameters\":{\"p\":1};\"metric\":\"m\";\"callpath\":\"c\";\"value\":1}\n";
    assert_int_equal(bid(JSONL, jsonl), 8 * (6 + 5));
    assert_int_equal(bid(JSONL, full), 8 * (6 + 5 + 6 + 8));
    assert_int_equal(bid(TALPAS, record), 8 * (10 + 6 + 8 + 5));
    assert_int_equal(bid(TALPAS, jsonl), 0);
    assert_int_equal(bid(JSONL, record), 0);
    assert_int_equal(bid("extrap-json", record) + bid("extrap-json", jsonl), 0);
    /* Behind the window the missing keys may come; a record that is over has none any more. */
    const char *begun = "{\"params\":{\"p\":1},\"callpath\":\"a very long";
    as_probe cut = {.path = "x", .head = begun, .head_size = strlen(begun), .size = 1 << 20};
    assert_int_equal(as_format_find(JSONL)->bid(&cut), 8 * (6 + 8));
    assert_int_equal(as_format_find(TALPAS)->bid(&cut) + as_format_find("extrap-json")->bid(&cut), 0);
    as_probe over = {.path = "x", .head = "{\"params\":{\"p\":1}}", .head_size = 18, .size = 1 << 20};
    assert_int_equal(as_format_find(JSONL)->bid(&over), 0);
    static const char *const others[] = {
        "",
        "{",
        "[]",
        "{\"params\":{\"p\":1}}",
        "{\"a\":{\"params\":{},\"value\":1}}",
        "{\"params\":1,\"value\":1}",
        "hello",
        "{\"params\":{}\n,\"value\":1}",
        "{\"header\":{},\"origin\":\"\",\"collector_info\":{},\"resources\":[],\"global\":{},\"snapshots\":[]}"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(bid(JSONL, others[i]) + bid(TALPAS, others[i]) + bid("extrap-json", others[i]), 0);
}

static void cut_files(void **state) {
    (void)state;
    read_all_beginnings(JSONL, "\xef\xbb\xbf" KEYS "{\"params\":{\"p\":2},\"value\":[[1,\"2\"],NaN]}");
    read_all_beginnings(TALPAS,
                        "{\"parameters\":{\"p\":1};\"metric\":\"m\";\"callpath\":\"a;\\u00e4\";\"value\":[1;2]}\n{"
                        "\"parameters\":{\"p\":2};\"metric\":\"m\";\"callpath\":\"c\";\"value\":1;\"k\":{\"a\":1}}");
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    size_t levels = 1000000;
    char *text = malloc(levels + 64);
    int size = sprintf(text, "{\"params\":{\"p\":1},\"value\":");
    memset(text + size, '[', levels);
    as_read_config config = {.format = JSONL};
    as_dataset *ds;
    assay_error error;
    assert_int_equal(as_read_memory("input", text, levels + (size_t)size, &config, &ds, &error), ASSAY_E_FORMAT);
    assert_int_equal(error.line, 1);
    size = sprintf(text, "{\"params\":{\"p\":1},\"deeper\":");
    memset(text + size, '[', levels);
    assert_int_equal(as_read_memory("input", text, levels + (size_t)size, &config, &ds, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.rule, "json-syntax");
    free(text);
}

static void memory_runs_out(void **state) {
    (void)state;
    read_with_little_memory(JSONL, KEYS "{\"params\":{\"p\":3},\"value\":[[1,2],\"3\"]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_lines),
        cmocka_unit_test(points_in_any_order_and_spelling),
        cmocka_unit_test(nested_lists_are_repetitions_and_locations),
        cmocka_unit_test(talpas),
        cmocka_unit_test(errors_name_their_line),
        cmocka_unit_test(all_broken_records_are_reported),
        cmocka_unit_test(unknown_keys_become_records),
        cmocka_unit_test(unknown_keys_come_back),
        cmocka_unit_test(keys_that_cannot_be_columns),
        cmocka_unit_test(many_different_keys_share_a_column),
        cmocka_unit_test(talpas_semicolons_in_unknown_values),
        cmocka_unit_test(writing),
        cmocka_unit_test(what_records_cannot_hold),
        cmocka_unit_test(bids),
        cmocka_unit_test(cut_files),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(deep_nesting_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
