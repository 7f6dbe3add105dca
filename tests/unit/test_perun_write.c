/* Writing Perun profiles: what commands add to them, layouts, and what cannot be changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "formats/perun/perun.h"
#include "helpers.h"

/* Reads text, writes it with these edits and options; the caller frees the result. NULL with *error where it cannot be
 * written. */
static char *write_again(const char *text, const as_perun_edits *edits, const char *layout, assay_error *error) {
    as_dataset *ds = read_text("perun", text);
    const char *given[] = {layout, NULL};
    as_output *out = as_output_to_memory();
    as_writer writer = {
        .dataset = ds, .out = out, .options = {as_format_perun.write_options, layout ? given : NULL}, .error = error};
    assay_status status = as_perun_write(&writer, edits);
    size_t size;
    const char *bytes = as_output_memory(out, &size);
    char *copy = status == ASSAY_OK ? strdup(bytes) : NULL;
    as_output_discard(out);
    as_dataset_free(ds);
    return copy;
}

static void assert_written(const char *text, const as_perun_edits *edits, const char *layout, const char *expected) {
    assay_error error = {0};
    char *written = write_again(text, edits, layout, &error);
    if (!written) fail_msg("%s: %s", text, error.message);
    assert_string_equal(written, expected);
    free(written);
}

#define MODEL "{\"model\": \"linear\"}"
static const as_raw_json models[] = {{MODEL, sizeof MODEL - 1}, {MODEL, sizeof MODEL - 1}};
#define POST "{\"name\": \"normalizer\", \"params\": {}}"

static void test_nothing_changes(void **state) {
    (void)state;
    /* Spelling stays: escapes, exponents, white space inside values, keys that come twice, numbers beyond 64 bits. */
    assert_written("{\"header\":{ \"cmd\" : \"\\u0041\\/\" },\"resources\":[{\"uid\":\"f\",\"amount\":1.50e1}],"
                   "\"chunks\":[NaN,-Infinity,123456789012345678901234567890]}",
                   NULL, NULL,
                   "{\n  \"header\": { \"cmd\" : \"\\u0041\\/\" },\n"
                   "  \"resources\": [{\"uid\":\"f\",\"amount\":1.50e1}],\n"
                   "  \"chunks\": [NaN,-Infinity,123456789012345678901234567890]\n}\n");
    assert_written("{\"resources\": {}}", NULL, "layout=same", "{\n  \"resources\": {}\n}\n");
    assert_written("{\"resources\": {}}", NULL, "layout=new", "{\n  \"resources\": {}\n}\n");
}

static void test_models_are_appended(void **state) {
    (void)state;
    as_perun_edits edits = {.models = models, .n_models = 1};
    assert_written("{\"resources\":{},\"models\":[{\"a\":1}]}", &edits, NULL,
                   "{\n  \"resources\": {},\n  \"models\": [{\"a\":1},\n    " MODEL "\n  ]\n}\n");
    assert_written("{\"resources\":{},\"models\":[ ]}", &edits, NULL,
                   "{\n  \"resources\": {},\n  \"models\": [\n    " MODEL "\n   ]\n}\n");
    assert_written("{\"resources\":{},\"models\":null}", &edits, NULL,
                   "{\n  \"resources\": {},\n  \"models\": [\n    " MODEL "\n  ]\n}\n");
    assert_written("{\"resources\":{}}", &edits, NULL,
                   "{\n  \"resources\": {},\n  \"models\": [\n    " MODEL "\n  ]\n}\n");
    assert_written("{\"snapshots\":[]}", &edits, NULL,
                   "{\n  \"snapshots\": [],\n  \"models\": [\n    " MODEL "\n  ]\n}\n");
    assert_written("{\"global\":[]}", &edits, NULL, "{\n  \"global\": [],\n  \"models\": [\n    " MODEL "\n  ]\n}\n");
    assert_written("{\"global\":{}}", &edits, NULL, "{\n  \"global\": {},\n  \"models\": [\n    " MODEL "\n  ]\n}\n");
}

static void test_models_of_global(void **state) {
    (void)state;
    as_perun_edits edits = {.models = models, .n_models = 2};
    assert_written("{\"global\":{\"resources\":[]}}", &edits, NULL,
                   "{\n  \"global\": {\"resources\":[], \"models\": [\n    " MODEL ",\n    " MODEL "\n  ]}\n}\n");
    assert_written("{\"global\":{\"models\":[{}],\"resources\":[]}}", &edits, NULL,
                   "{\n  \"global\": {\"models\":[{},\n    " MODEL ",\n    " MODEL "\n  ],\"resources\":[]}\n}\n");
    /* Where there are models at the top level Perun reads those. */
    assert_written("{\"global\":{\"resources\":[]},\"models\":[]}", &edits, NULL,
                   "{\n  \"global\": {\"resources\":[]},\n  \"models\": [\n    " MODEL ",\n    " MODEL "\n  ]\n}\n");
}

static void test_postprocessors_are_appended(void **state) {
    (void)state;
    as_perun_edits edits = {.postprocessor = {POST, sizeof POST - 1}};
    assert_written("{\"postprocessors\":[{\"name\":\"x\"}],\"resources\":[]}", &edits, NULL,
                   "{\n  \"postprocessors\": [{\"name\":\"x\"},\n    " POST "\n  ],\n  \"resources\": []\n}\n");
    assert_written("{\"resources\":[]}", &edits, NULL,
                   "{\n  \"resources\": [],\n  \"postprocessors\": [\n    " POST "\n  ]\n}\n");
}

static void test_columns_of_lists(void **state) {
    (void)state;
    as_cell cells[] = {as_cell_int(1), as_cell_null(), as_cell_real(3), as_cell_real(NAN)};
    as_perun_edits edits = {.column = "cluster", .cells = cells};
    assert_written("{\"resources\":[{\"uid\":\"a\"},{\"uid\":\"b\",\"cluster\":7},{\"cluster\":8,\"uid\":\"c\"},{}]}",
                   &edits, NULL,
                   "{\n  \"resources\": [{\"uid\":\"a\", \"cluster\": 1},{\"uid\":\"b\",\"cluster\":7},"
                   "{\"cluster\":3.0,\"uid\":\"c\"},{ \"cluster\": NaN}]\n}\n");
    edits.column = "amount";
    assert_written(
        "{\"snapshots\":[{\"resources\":[{\"uid\":\"a\",\"amount\":5}]},{\"time\":\"1\"},"
        "{\"resources\":[{\"uid\":\"b\",\"amount\":6}]}],"
        "\"global\":{\"resources\":[{\"uid\":\"a\",\"amount\":5},{\"uid\":\"a\",\"amount\":5}]}}",
        &edits, NULL,
        "{\n  \"snapshots\": [{\"resources\":[{\"uid\":\"a\",\"amount\":1}]},{\"time\":\"1\"},"
        "{\"resources\":[{\"uid\":\"b\",\"amount\":6}]}],\n"
        "  \"global\": {\"resources\":[{\"uid\":\"a\",\"amount\":3.0},{\"uid\":\"a\",\"amount\":NaN}]}\n}\n");
}

static void test_columns_of_types(void **state) {
    (void)state;
    as_cell cells[] = {as_cell_int(1), as_cell_null(), as_cell_int(3), as_cell_int(4)};
    as_perun_edits edits = {.column = "cluster", .cells = cells};
    /* A property of the type gives way to the column, and is what rows without a new value keep. */
    assert_written("{\"resources\":{\"a#0\":{\"amount\":[5,6]},\"b#0\":{},\"c#0\":{\"cluster\":[9]}},"
                   "\"resource_type_map\":{\"a#0\":{\"uid\":\"a\",\"cluster\":2},\"b#0\":{\"uid\":\"b\"},"
                   "\"c#0\":{\"uid\":\"c\"}}}",
                   &edits, NULL,
                   "{\n  \"resources\": {\"a#0\":{\"amount\":[5,6], \"cluster\": [1, 2]},\"b#0\":{ \"cluster\": [3]},"
                   "\"c#0\":{\"cluster\":[4]}},\n"
                   "  \"resource_type_map\": {\"a#0\":{\"uid\": \"a\"},\"b#0\":{\"uid\":\"b\"},"
                   "\"c#0\":{\"uid\":\"c\"}}\n}\n");
}

static void test_what_cannot_be_changed(void **state) {
    (void)state;
    assay_error error = {0};
    as_perun_edits edits = {.models = models, .n_models = 1};
    assert_null(write_again("{\"resources\":{},\"models\":{\"a\":1}}", &edits, NULL, &error));
    assert_non_null(strstr(error.message, "models"));
    assert_null(write_again("{\"resources\":[]}", &edits, "layout=new", &error));
    assert_non_null(strstr(error.message, "layout"));
}

static void test_new_layout(void **state) {
    (void)state;
    /* Rows of one kind that have other dynamic keys are another type; nested uids and numbers of snapshots too. */
    assert_written(
        "{\"snapshots\":[{\"time\":\"0.1\",\"resources\":[{\"uid\":{\"line\":2,\"function\":\"f\"},\"amount\":1},"
        "{\"uid\":\"g\",\"amount\":2.0},{\"amount\":3,\"uid\":{\"line\":2,\"function\":\"f\"}},"
        "{\"uid\":\"g\",\"amount\":4,\"order\":1}],\"models\":[{\"m\":1}]}]}",
        NULL, "layout=new",
        "{\n  \"resources\": {\n"
        "    \"f:2#0\": {\"amount\": [1, 3]},\n"
        "    \"g#0\": {\"amount\": [2.0]},\n"
        "    \"g#1\": {\"amount\": [4], \"order\": [1]}\n  },\n"
        "  \"resource_type_map\": {\n"
        "    \"f:2#0\": {\"uid\":{\"line\":2,\"function\":\"f\"}, \"snapshot\": 0, \"time\": \"0.1\"},\n"
        "    \"g#0\": {\"uid\":\"g\", \"snapshot\": 0, \"time\": \"0.1\"},\n"
        "    \"g#1\": {\"uid\":\"g\", \"snapshot\": 0, \"time\": \"0.1\"}\n  },\n"
        "  \"models\": [\n    {\"m\": 1, \"snapshot\": 0}\n  ]\n}\n");
    /* Types without a column are one resource each. */
    assert_written("{\"resources\":[{\"uid\":\"u\"},{\"uid\":\"u\"}]}", NULL, "layout=new",
                   "{\n  \"resources\": {\n    \"u#0\": {},\n    \"u#1\": {}\n  },\n"
                   "  \"resource_type_map\": {\n    \"u#0\": {\"uid\":\"u\"},\n    \"u#1\": {\"uid\":\"u\"}\n  },\n"
                   "  \"models\": []\n}\n");
}

static void test_rest_of_old_regions(void **state) {
    (void)state;
    assert_written("{\"global\":{\"timestamp\":5,\"time\":\"1\",\"resources\":[{\"uid\":\"u\",\"amount\":1}]},"
                   "\"snapshots\":[{\"time\":\"9\",\"resources\":[]}]}",
                   NULL, "layout=new",
                   "{\n  \"resources\": {\n    \"u#0\": {\"amount\": [1]}\n  },\n"
                   "  \"resource_type_map\": {\n    \"u#0\": {\"uid\":\"u\", \"time\": \"1\"}\n  },\n"
                   "  \"global\": {\"timestamp\": 5, \"time\": \"1\", \"resources\": []},\n"
                   "  \"snapshots\": [{\"time\": \"9\", \"resources\": []}],\n"
                   "  \"models\": []\n}\n");
}

static void test_old_layout(void **state) {
    (void)state;
    /* One time for all: global is an object. */
    assert_written("{\"models\":[{}],\"resources\":{\"u#0\":{\"amount\":[1,2.5]}},"
                   "\"resource_type_map\":{\"u#0\":{\"uid\":\"u\",\"time\":\"3\"}}}",
                   NULL, "layout=old",
                   "{\n  \"models\": [{}],\n  \"global\": {\"time\": \"3\", \"resources\": [\n"
                   "    {\"uid\":\"u\", \"amount\": 1},\n    {\"uid\":\"u\", \"amount\": 2.5}\n  ]}\n}\n");
    /* No time at all: a list, which adds none. */
    assert_written("{\"resources\":{\"u#0\":{\"amount\":[1]}},\"resource_type_map\":{\"u#0\":{\"uid\":\"u\"}}}", NULL,
                   "layout=old", "{\n  \"global\": [\n    {\"uid\":\"u\", \"amount\": 1}\n  ]\n}\n");
    /* Snapshots with a gap, and a resource of none. */
    assert_written(
        "{\"resources\":{\"u#0\":{\"amount\":[1]},\"v#0\":{\"amount\":[2]},\"w#0\":{\"amount\":[3]}},"
        "\"resource_type_map\":{\"u#0\":{\"uid\":\"u\",\"snapshot\":2,\"time\":\"0.3\"},"
        "\"v#0\":{\"uid\":\"v\",\"snapshot\":0,\"time\":\"0.1\"},\"w#0\":{\"uid\":\"w\"}}}",
        NULL, "layout=old",
        "{\n  \"snapshots\": [{\"time\": \"0.1\", \"resources\": [\n    {\"uid\":\"v\", \"amount\": 2}\n  ]}, "
        "{\"resources\": []}, {\"time\": \"0.3\", \"resources\": [\n    {\"uid\":\"u\", \"amount\": 1}\n  ]}],\n"
        "  \"global\": [\n    {\"uid\":\"w\", \"amount\": 3}\n  ]\n}\n");
    assert_written("{\"resources\":{},\"resource_type_map\":{}}", NULL, "layout=old", "{\n  \"global\": []\n}\n");
}

static void test_frames_that_do_not_fit(void **state) {
    (void)state;
    /* One snapshot of two times, and a number of snapshot that would make a list of a billion: rows keep both
     * themselves. */
    assert_written(
        "{\"resources\":{\"u#0\":{\"amount\":[1]},\"v#0\":{\"amount\":[2]},\"w#0\":{\"amount\":[3]}},"
        "\"resource_type_map\":{\"u#0\":{\"uid\":\"u\",\"snapshot\":0,\"time\":\"1\"},"
        "\"v#0\":{\"uid\":\"v\",\"snapshot\":0,\"time\":\"2\"},"
        "\"w#0\":{\"uid\":\"w\",\"snapshot\":1000000000,\"time\":\"2\"}}}",
        NULL, "layout=old",
        "{\n  \"snapshots\": [{\"time\": \"1\", \"resources\": [\n    {\"uid\":\"u\", \"amount\": 1}\n  ]}],\n"
        "  \"global\": [\n    {\"uid\":\"v\",\"snapshot\":0,\"time\":\"2\", \"amount\": 2},\n"
        "    {\"uid\":\"w\",\"snapshot\":1000000000,\"time\":\"2\", \"amount\": 3}\n  ]\n}\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_changes),        cmocka_unit_test(test_models_are_appended),
        cmocka_unit_test(test_models_of_global),       cmocka_unit_test(test_postprocessors_are_appended),
        cmocka_unit_test(test_columns_of_lists),       cmocka_unit_test(test_columns_of_types),
        cmocka_unit_test(test_what_cannot_be_changed), cmocka_unit_test(test_new_layout),
        cmocka_unit_test(test_rest_of_old_regions),    cmocka_unit_test(test_old_layout),
        cmocka_unit_test(test_frames_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
