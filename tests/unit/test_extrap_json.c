/* extrap-json: both layouts, errors with their places, unknown keys, writing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "helpers.h"

#define JSON       "extrap-json"
#define ROWS(rows) "{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[" rows "]}}}"

static void newer_layout(void **state) {
    (void)state;
    assert_reads(JSON, ROWS("{\"point\":[1],\"values\":[1,2]},{\"point\":[2],\"values\":[3,4]}"),
                 "c m (1): 1 2\nc m (2): 3 4\n");
    assert_reads(JSON, ROWS("{\"point\":1,\"values\":1},{\"values\":\"2\",\"point\":[\"2\"]}"),
                 "c m (1): 1\nc m (2): 2\n");
    assert_reads(JSON, ROWS("{\"point\":[1],\"values\":[[1,2],[3],NaN]}"), "c m (1): [1 2] [3] nan\n");
    assert_reads(JSON,
                 "\xef\xbb\xbf{\"measurements\":{\"a->b\":{\"m\":[{\"point\":[1,2],\"values\":[1]}],\"n\":[{\"point\":["
                 "1,2],\"values\":[2]}]}},\"parameters\":[\"x\",\"y\"]}",
                 "a->b m (1,2): 1\na->b n (1,2): 2\n");
    as_dataset *ds = read_text(JSON, "{\"parameters\":[\"p\"],\"measurements\":{\"idle\":{},\"c\":{\"n\":[],\"m\":[{"
                                     "\"point\":[1],\"values\":[1]}]}}}");
    assert_described(ds, "c m (1): 1\n");
    assert_int_equal(ds->contexts.count, 2);
    assert_int_equal(ds->metrics.count, 2);
    as_dataset_free(ds);
}

static void repeated_points(void **state) {
    (void)state;
    uint32_t line;
    as_dataset *ds = read_text(
        JSON,
        ROWS("{\"point\":[1],\"values\":[1]},\n{\"point\":[2],\"values\":[5]},\n{\"point\":[1.0],\"values\":[3]}"));
    assert_described(ds, "c m (1): 1 3\nc m (2): 5\n");
    assert_int_equal(count_problems(ds, "repeated-point", &line), 1);
    assert_int_equal(line, 3);
    as_dataset_free(ds);
    ds = read_text(JSON, "{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"point\":[1],\"values\":[1]}]},"
                         "\"d\":{\"m\":[{\"point\":[1],\"values\":[1]}]}}}");
    assert_int_equal(count_problems(ds, "repeated-point", NULL), 0);
    as_dataset_free(ds);
}

/* In the order in which Extra-P's own files have them. */
#define OLD(callpaths, coordinates, measurements, metrics, parameters)                                                 \
    "{\"callpaths\":[" callpaths "],\"coordinates\":[" coordinates "],\"measurements\":[" measurements                 \
    "],\"metrics\":[" metrics "],\"parameters\":[" parameters "]}"
#define CALLPATHS  "{\"id\":5,\"name\":\"c\"},{\"id\":\"-1\",\"name\":\"a->b\"}"
#define METRICS    "{\"id\":3,\"name\":\"m\"}"
#define PARAMETERS "{\"id\":9,\"name\":\"y\"},{\"id\":7,\"name\":\"x\"}"
#define PAIR(x, y) "[{\"parameter_id\":9,\"parameter_value\":" y "},{\"parameter_id\":\"7\",\"parameter_value\":" x "}]"
#define COORDINATES                                                                                                    \
    "{\"id\":0,\"parameter_value_pairs\":" PAIR("1", "\"10\"") "},{\"parameter_value_pairs\":" PAIR("2",               \
                                                                                                    "20") ",\"id\":1}"
#define MEASURED(callpath, coordinate, value)                                                                          \
    "{\"callpath_id\":" callpath ",\"coordinate_id\":" coordinate ",\"id\":1,\"metric_id\":3,\"value\":" value "}"

static void older_layout(void **state) {
    (void)state;
    as_dataset *ds = read_text(JSON, OLD(CALLPATHS, COORDINATES,
                                         MEASURED("5", "0", "1") "," MEASURED("\"5\"", "1", "\"2.5\"") "," MEASURED(
                                             "5", "0", "[3,4]") "," MEASURED("-1", "1", "5"),
                                         METRICS, PARAMETERS));
    assert_described(ds, "c m (1,10): 1 3 4\nc m (2,20): 2.5\na->b m (2,20): 5\n"); /* parameters by id: x, y */
    assert_string_equal(as_ds_text(ds, AS_AT(as_str, &ds->parameters, 0)), "x");
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->source_id), "3");
    assert_string_equal(as_ds_text(ds, as_ds_context(ds, 0)->source_id), "5");
    assert_int_equal(as_ds_context(ds, 1)->source_id, AS_NO_STR); /* "a" lies only on the way */
    assert_string_equal(as_ds_text(ds, as_ds_context(ds, 2)->source_id), "-1");
    as_dataset_free(ds);
}

static void errors_of_the_newer_layout(void **state) {
    (void)state;
    static const expected_error errors[] = {
        {"", "json-syntax", 1, 1},
        {"hello", "json-syntax", 1, 1},
        {"[1,2]", "wrong-type", 1, 1},
        {"{}", "missing-key", 1, 1},
        {"{\"measurements\":{\"c\":{\"m\":[]}}}", "missing-key", 1, 1},
        {"{\"parameters\":[\"p\"]}", "missing-key", 1, 1},
        {"{\"parameters\":[],\"measurements\":{}}", "no-parameters", 1, 15},
        {"{\"parameters\":[\"p\"],\"measurements\":{}}", "no-data", 0, 0},
        {"{\"parameters\":{\"p\":1},\"measurements\":{}}", "wrong-type", 1, 15},
        {"{\"parameters\":[1],\"measurements\":{}}", "wrong-type", 1, 16},
        {"{\"parameters\":[{\"id\":1}],\"measurements\":{}}", "wrong-type", 1, 16},
        {"{\"parameters\":[\"p\",\"p\"],\"measurements\":{}}", "duplicate-key", 1, 20},
        {"{\"parameters\":[\"p\"],\n\"measurements\":5}", "wrong-type", 2, 16},
        {"{\"parameters\":[\"\\ud800\"],\"measurements\":{}}", "json-syntax", 1, 17},
        {ROWS("{\"point\":[1],\"values\":[1]}") "x", "json-syntax", 1, 77},
        {ROWS("5"), "wrong-type", 1, 47},
        {ROWS("{\"point\":[1]}"), "missing-key", 1, 47},
        {ROWS("\n{\"values\":[1]}"), "missing-key", 2, 1},
        {ROWS("\n{\"point\":[1],\"values\":[]}"), "no-values", 2, 23},
        {ROWS("\n{\"point\":[1],\"values\":null}"), "not-a-number", 2, 23},
        {ROWS("\n{\"point\":[1],\"values\":[1,null]}"), "not-a-number", 2, 26},
        {ROWS("\n{\"point\":[1],\"values\":[[[1]]]}"), "nested-values", 2, 25},
        {ROWS("\n{\"point\":[1,2],\"values\":[1]}"), "coordinate-count", 2, 10},
        {ROWS("\n{\"point\":[],\"values\":[1]}"), "coordinate-count", 2, 10},
        {ROWS("\n{\"point\":[null],\"values\":[1]}"), "not-a-number", 2, 11},
        {ROWS("\n{\"point\":[[1]],\"values\":[1]}"), "not-a-number", 2, 11},
        {ROWS("\n{\"point\":[Infinity],\"values\":[1]}"), "not-finite", 2, 11},
        {ROWS("\n{\"point\":[1],\"point\":[1],\"values\":[1]}"), "duplicate-key", 2, 14},
        {ROWS("\n{\"point\":[1],\"values\":[1],\"values\":[1]}"), "duplicate-key", 2, 27},
        {ROWS("\n{\"point\":[1],\"values\":[1],\"a\":1,\"a\":2}"), "duplicate-key", 2, 33},
        {"{\"parameters\":[\"p\"],\"measurements\":{\"c\":{},\n\"c\":{}}}", "duplicate-key", 2, 1},
        {"{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[],\n\"m\":[]}}}", "duplicate-key", 2, 1},
        {"{\"parameters\":[\"p\"],\"parameters\":[\"p\"],\"measurements\":{}}", "duplicate-key", 1, 21},
        {"{\"a\":1,\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"point\":1,\"values\":1}]}},\"a\":1}",
         "duplicate-key", 1, 79},
        {"{\"parameters\":[\"p\"],\"measurements\":{\"c\":[]}}", "wrong-type", 1, 41},
        {"{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":{}}}}", "wrong-type", 1, 46},
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) assert_refused(JSON, &errors[i]);
}

static void errors_of_the_older_layout(void **state) {
    (void)state;
    static const expected_error errors[] = {
        {"{\"parameters\":[],\"callpaths\":[],\"coordinates\":[],\"measurements\":[]}", "missing-key", 1, 1},
        {"{\"parameters\":[],\"metrics\":[],\"coordinates\":[],\"measurements\":[]}", "missing-key", 1, 1},
        {OLD("", "", "", "", ""), "no-parameters", 0, 0},
        {OLD(CALLPATHS, COORDINATES, "", METRICS, PARAMETERS), "no-data", 0, 0},
        {OLD(CALLPATHS, COORDINATES, "\n" MEASURED("6", "0", "1"), METRICS, PARAMETERS), "unknown-id", 2, 16},
        {OLD(CALLPATHS, COORDINATES, "\n" MEASURED("5", "7", "1"), METRICS, PARAMETERS), "unknown-id", 2, 34},
        {OLD(CALLPATHS, COORDINATES, "\n" MEASURED("1.5", "0", "1"), METRICS, PARAMETERS), "bad-id", 2, 16},
        {OLD(CALLPATHS, COORDINATES, "\n" MEASURED("5", "0", "null"), METRICS, PARAMETERS), "not-a-number", 2, 65},
        {OLD(CALLPATHS, COORDINATES, "\n{\"coordinate_id\":0,\"metric_id\":3,\"value\":1}", METRICS, PARAMETERS),
         "missing-key", 2, 1},
        {OLD(CALLPATHS, COORDINATES, "\n{\"callpath_id\":5,\"metric_id\":3,\"value\":1}", METRICS, PARAMETERS),
         "missing-key", 2, 1},
        {OLD(CALLPATHS, COORDINATES, "\n{\"callpath_id\":5,\"coordinate_id\":0,\"value\":1}", METRICS, PARAMETERS),
         "missing-key", 2, 1},
        {OLD(CALLPATHS, COORDINATES, "\n{\"callpath_id\":5,\"coordinate_id\":0,\"metric_id\":3}", METRICS, PARAMETERS),
         "missing-key", 2, 1},
        {OLD(CALLPATHS, COORDINATES, "\n{\"callpath_id\":5,\"callpath_id\":5}", METRICS, PARAMETERS), "duplicate-key",
         2, 18},
        {OLD("{\"id\":1,\"name\":\"a\"},\n{\"id\":1,\"name\":\"b\"}", COORDINATES, "", METRICS, PARAMETERS),
         "duplicate-id", 2, 1},
        {OLD("{\"id\":1}", COORDINATES, "", METRICS, PARAMETERS), "missing-key", 1, 15},
        {OLD("{\"name\":\"a\"}", COORDINATES, "", METRICS, PARAMETERS), "missing-key", 1, 15},
        {OLD("5", COORDINATES, "", METRICS, PARAMETERS), "wrong-type", 1, 15},
        {OLD("", "\n{\"id\":1,\"parameter_value_pairs\":[{\"parameter_id\":7,\"parameter_value\":1}]}", "", "",
             PARAMETERS),
         "coordinate-count", 2, 1},
        {OLD("", "\n{\"id\":1,\"parameter_value_pairs\":[{\"parameter_id\":8,\"parameter_value\":1}]}", "", "",
             PARAMETERS),
         "unknown-id", 2, 50},
        {OLD("",
             "\n{\"id\":1,\"parameter_value_pairs\":[{\"parameter_id\":7,\"parameter_value\":1},{\"parameter_id\":7,"
             "\"parameter_value\":1}]}",
             "", "", PARAMETERS),
         "coordinate-count", 2, 73},
        {OLD("", "", "", "", "{\"id\":1,\"name\":\"p\"},{\"id\":2,\"name\":\"p\"}"), "duplicate-key", 1, 78},
        {"{\"parameters\":[\"p\"],\"callpaths\":[],\"metrics\":[],\"coordinates\":[],\"measurements\":{}}",
         "wrong-type", 1, 16},
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) assert_refused(JSON, &errors[i]);
}

static void all_broken_rows_are_reported(void **state) {
    (void)state;
    const char *text = ROWS("{\"point\":[1],\"values\":[1]},\n{\"point\":[1,2],\"values\":[1]},\n{\"point\":[2],"
                            "\"values\":[[[]]]},\n7,\n{\"a\":1,\"a\":{\"b\":[1]}},\n{\"point\":[2],\"values\":[2]}");
    as_read_config config = {.format = JSON, .keep_going = true};
    as_dataset *ds = NULL;
    assert_int_equal(as_read_memory("input", text, strlen(text), &config, &ds, NULL), ASSAY_OK);
    assert_int_equal(ds->problems.count, 4);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(as_ds_problem(ds, i)->line, i + 2);
    assert_described(ds, "c m (1): 1\nc m (2): 2\n");
    as_dataset_free(ds);
    text = OLD(CALLPATHS, COORDINATES,
               "\n" MEASURED("6", "0", "1") ",\n" MEASURED("5", "0", "{}") ",\n" MEASURED("5", "0", "3"), METRICS,
               PARAMETERS);
    assert_int_equal(as_read_memory("input", text, strlen(text), &config, &ds, NULL), ASSAY_OK);
    assert_int_equal(as_ds_problem(ds, 0)->line, 2);
    assert_int_equal(as_ds_problem(ds, 1)->line, 3);
    assert_described(ds, "c m (1,10): 3\n");
    as_dataset_free(ds);
}

/* ---- unknown keys and writing ------------------------------------------------------------------------------------ */

#define WRITTEN                                                                                                        \
    "{\n"                                                                                                              \
    "  \"version\": 1,\n"                                                                                              \
    "  \"tags\": {\"a\":[1,null]},\n"                                                                                  \
    "  \"metrics\": [\"m\"],\n"                                                                                        \
    "  \"parameters\": [\"x\", \"y\"],\n"                                                                              \
    "  \"measurements\": {\n"                                                                                          \
    "    \"idle\": {},\n"                                                                                              \
    "    \"main->f\": {\n"                                                                                             \
    "      \"time\": [\n"                                                                                              \
    "        {\"point\": [1,2.5], \"values\": [1,0.1]},\n"                                                             \
    "        {\"point\": [3,4], \"values\": [[1,2],3],\"note\":\"n\"},\n"                                              \
    "        {\"point\": [3,4], \"values\": [5]}\n"                                                                    \
    "      ],\n"                                                                                                       \
    "      \"n\": [\n"                                                                                                 \
    "        {\"point\": [1,2.5], \"values\": [NaN]}\n"                                                                \
    "      ]\n"                                                                                                        \
    "    }\n"                                                                                                          \
    "  }\n"                                                                                                            \
    "}\n"

static void nothing_is_lost(void **state) {
    (void)state;
    assert_writes(JSON, WRITTEN, JSON, WRITTEN);
    assert_loses(JSON, WRITTEN, JSON, "");
    assert_survives(JSON, WRITTEN, JSON);
    as_dataset *ds = read_text(JSON, WRITTEN);
    assert_int_equal(ds->attributes.count, 3);
    assert_string_equal(as_ds_text(ds, as_ds_attribute(ds, 1)->key), "tags");
    assert_string_equal(as_ds_attribute(ds, 1)->value.text, "{\"a\":[1,null]}");
    assert_int_equal(as_table_rows(as_ds_records(ds, "record")), 1);
    as_dataset_free(ds);
}

static void the_older_layout_becomes_the_newer(void **state) {
    (void)state;
    const char *text =
        OLD("{\"id\":1,\"name\":\"c\",\"line\":3}",
            "{\"id\":1,\"parameter_value_pairs\":[{\"parameter_id\":1,\"parameter_value\":4}],\"t\":NaN}",
            "{\"callpath_id\":1,\"coordinate_id\":1,\"metric_id\":1,\"value\":2,\"host\":\"h\"}",
            "{\"id\":1,\"name\":\"m\",\"unit\":\"s\"}", "{\"id\":1,\"name\":\"p\"}");
    assert_writes(JSON, text, JSON,
                  "{\n  \"coordinates:1\": "
                  "{\"id\":1,\"parameter_value_pairs\":[{\"parameter_id\":1,\"parameter_value\":4}],\"t\":NaN},\n  "
                  "\"parameters\": [\"p\"],\n"
                  "  \"measurements\": {\n    \"c\": {\n      \"m\": [\n        {\"point\": [4], \"values\": "
                  "[2],\"host\":\"h\"}\n      ]\n    }\n  }\n}\n");
    assert_loses(JSON, text, JSON, "2 attributes of metrics and call paths (the older layout)");
    as_dataset *ds = read_text(JSON, text);
    assert_int_equal(as_ds_attribute(ds, 1)->owner, AS_OWNER_CONTEXT);
    assert_int_equal(as_ds_attribute(ds, 1)->value.i, 3);
    assert_int_equal(as_ds_attribute(ds, 2)->owner, AS_OWNER_METRIC);
    assert_string_equal(as_ds_attribute(ds, 2)->value.text, "s");
    as_dataset_free(ds);
}

static void metrics_without_data_are_kept(void **state) {
    (void)state;
    const char *text =
        "{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"none\":[],\"m\":[{\"point\":1,\"values\":2}]}}}";
    assert_writes(JSON, text, JSON,
                  "{\n  \"parameters\": [\"p\"],\n  \"measurements\": {\n    \"c\": {\n      \"m\": [\n        "
                  "{\"point\": [1], \"values\": [2]}\n      ],\n      \"none\": []\n    }\n  }\n}\n");
    assert_loses(JSON, text, JSON, "");
}

static void other_formats(void **state) {
    (void)state;
    const char *text = "PARAMETER p\nPOINTS 1 2\nMETRIC a\nREGION r\nDATA 1\nDATA 2\nREGION s\nDATA "
                       "18446744073709551615\nDATA 0\nMETRIC b\nREGION r\nDATA -5 -inf\nDATA 1e-7\n";
    as_dataset *ds = read_text("extrap-text", text);
    char *written = write_text(ds, JSON);
    as_dataset *back = read_text(JSON, written);
    assert_described(back, "r a (1): 1\nr a (2): 2\nr b (1): -5 -inf\nr b (2): 1e-07\ns a (1): 18446744073709551615\ns "
                           "a (2): 0\n"); /* by call path */
    free(written);
    as_dataset_free(back);
    as_dataset_free(ds);
    assert_survives(JSON, ROWS("{\"point\":[1],\"values\":[[1,2],[3],NaN]}"), "extrap-jsonl");
}

static void bids(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int bits;
    } inputs[] = {
        {"{\"parameters\":[\"p\"],\"measurements\":{}}", 8 * (10 + 12)},
        {" {\"measurements\":[],\"callpaths\":[]}", 8 * (12 + 9)},
        {"{\"measurements\":5}", 0},
        {"{\"a\":{\"measurements\":{}}}", 0},
        {"{\"a\":\"measurements\",\"b\":[\"measurements\"]}", 0},
        {"[{\"measurements\":{}}]", 0},
        {"{\"header\":{},\"origin\":\"\",\"collector_info\":{},\"resources\":[],\"global\":{},\"snapshots\":[]}", 0}};
    const as_format *format = as_format_find(JSON);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        as_probe probe = {
            .path = "x", .head = inputs[i].text, .head_size = strlen(inputs[i].text), .size = strlen(inputs[i].text)};
        assert_int_equal(format->bid(&probe), inputs[i].bits);
    }
    as_probe cut = {.path = "x",
                    .head = "{\"callpaths\":[{\"id\":1,",
                    .head_size = 22,
                    .size = 100000}; /* the window ends before the measurements */
    assert_int_equal(format->bid(&cut), 72);
}

static void cut_files(void **state) {
    (void)state;
    read_all_beginnings(JSON, WRITTEN);
    read_all_beginnings(JSON, OLD(CALLPATHS, COORDINATES, MEASURED("5", "0", "[1,[2,\"3\"]]"), METRICS, PARAMETERS));
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    static const char *const units[] = {"[", "{\"a\":", "{\"measurements\":[", "{\"parameters\":["};
    size_t levels = 1000000;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t unit = strlen(units[i]);
        char *text = malloc(levels * unit);
        for (size_t k = 0; k < levels; k++) memcpy(text + k * unit, units[i], unit);
        as_read_config config = {.format = JSON};
        as_dataset *ds;
        assay_error error;
        assert_int_equal(as_read_memory("input", text, levels * unit, &config, &ds, &error), ASSAY_E_FORMAT);
        assert_int_equal(error.line, 1);
        free(text);
    }
}

static void memory_runs_out(void **state) {
    (void)state;
    read_with_little_memory(JSON, WRITTEN);
    read_with_little_memory(JSON, OLD(CALLPATHS, COORDINATES, MEASURED("5", "0", "1"), METRICS, PARAMETERS));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newer_layout),
        cmocka_unit_test(repeated_points),
        cmocka_unit_test(older_layout),
        cmocka_unit_test(errors_of_the_newer_layout),
        cmocka_unit_test(errors_of_the_older_layout),
        cmocka_unit_test(all_broken_rows_are_reported),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(the_older_layout_becomes_the_newer),
        cmocka_unit_test(metrics_without_data_are_kept),
        cmocka_unit_test(other_formats),
        cmocka_unit_test(bids),
        cmocka_unit_test(cut_files),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(deep_nesting_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
