/* .extra-p files: what is read, what is refused, and that writing loses nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/extrap/experiment.h"

static const char FORMAT[] = "extrap-experiment";

/* ---- building files -------------------------------------------------------------------------------------------------- */

typedef struct bytes {
    char data[4096];
    size_t size;
} bytes;

static void put(bytes *to, const void *data, size_t size) {
    assert_true(to->size + size <= sizeof to->data);
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

static void put_u64(bytes *to, uint64_t value) {
    for (int i = 0; i < 8; i++) put(to, (char[]){(char)(value >> 8 * i & 0xff)}, 1);
}

static void put_real(bytes *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u64(to, bits);
}

/* An array as numpy saves it, but for the padding, which nobody needs. */
static void put_array(bytes *to, const char *type, const char *order, const char *shape) {
    char header[200];
    int n =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", type, order, shape);
    put(to, "\x93NUMPY\x01\x00", 8);
    put(to, (char[]){(char)n, 0}, 2);
    put(to, header, (size_t)n);
}

typedef struct file {
    const char *json;
    bytes vals, indx;
} file;

static file file_of(const char *json) {
    file f = {.json = json};
    put(&f.vals, "Extra-P VALUES\0\0", 16);
    put(&f.indx, "Extra-P INDEX\0\0\0", 16);
    return f;
}

static as_output *zip_of(const file *f) {
    as_output *out = as_output_to_memory();
    as_zip_writer *zip = as_zip_writer_new(out);
    if (f->vals.size)
        assert_int_equal(as_zip_add(zip, "values/0.vals", f->vals.data, f->vals.size, false, NULL), ASSAY_OK);
    if (f->indx.size)
        assert_int_equal(as_zip_add(zip, "values/0.indx", f->indx.data, f->indx.size, false, NULL), ASSAY_OK);
    if (f->json) assert_int_equal(as_zip_add(zip, "experiment.json", f->json, strlen(f->json), true, NULL), ASSAY_OK);
    assert_int_equal(as_zip_finish(zip, NULL), ASSAY_OK);
    return out;
}

static assay_status read_zip(as_output *zip, bool keep_going, as_dataset **ds, assay_error *error) {
    size_t size;
    const char *data = as_output_memory(zip, &size);
    as_read_config config = {.format = FORMAT, .keep_going = keep_going};
    assay_status status = as_read_memory("a.extra-p", data, size, &config, ds, error);
    as_output_discard(zip);
    return status;
}

static as_dataset *read_file(const file *f) {
    as_dataset *ds = NULL;
    assay_error error;
    if (read_zip(zip_of(f), false, &ds, &error) != ASSAY_OK) fail_msg("%s: %s", error.rule, error.message);
    return ds;
}

static as_dataset *read_json(const char *json) {
    file f = {.json = json};
    return read_file(&f);
}

static void refused(const file *f, const char *rule) {
    as_dataset *ds = NULL;
    assay_error error = {.code = ASSAY_OK};
    assay_status status = read_zip(zip_of(f), false, &ds, &error);
    if (status != ASSAY_E_FORMAT || strcmp(error.rule, rule) != 0)
        fail_msg("expected %s, got %d %s: %s", rule, status, error.rule, error.message);
    assert_true(strncmp(error.path, "a.extra-p", 9) == 0);
    if (status == ASSAY_OK) as_dataset_free(ds);
}

static void json_refused(const char *json, const char *rule) {
    file f = {.json = json};
    refused(&f, rule);
}

static bool only_json(void *user, const char *name) {
    (void)user;
    return strcmp(name, "experiment.json") == 0;
}

/* The experiment.json that writing a dataset gives; the caller frees it. */
static char *written_json(const as_dataset *ds) {
    as_output *out = as_output_to_memory();
    assay_error error;
    if (as_write(ds, as_format_find(FORMAT), NULL, out, &error) != ASSAY_OK) fail_msg("%s", error.message);
    size_t size, n;
    as_input input = {.path = "written", .data = as_output_memory(out, &size)};
    input.size = size;
    as_zip_entry *entries;
    assert_int_equal(as_zip_read(&input, only_json, NULL, NULL, &entries, &n, &error), ASSAY_OK);
    assert_int_equal(n, 1);
    char *json = strdup(entries[0].data);
    as_zip_free(entries, n, NULL);
    as_output_discard(out);
    return json;
}

static as_dataset *write_and_read(const as_dataset *ds, uint64_t chunk_size) {
    as_output *out = as_output_to_memory();
    assay_error error;
    as_writer writer = {.dataset = ds, .out = out, .error = &error};
    if (as_xp_write(&writer, chunk_size) != ASSAY_OK) fail_msg("%s", error.message);
    as_dataset *again = NULL;
    if (read_zip(out, false, &again, &error) != ASSAY_OK) fail_msg("%s", error.message);
    return again;
}

static void same_real(double expected, double got) {
    if (isnan(expected) ? !isnan(got) : expected != got) fail_msg("expected %g, got %g", expected, got);
}

/* ---- measurements ---------------------------------------------------------------------------------------------------- */

#define ONE(members)                                                                                                   \
    "{\"Extra-P\":\"4.2.5\",\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"coordinate\":[4]," members "}]}" \
    "}}"

static void statistics_are_taken_as_stored(void **state) {
    (void)state;
    as_dataset *ds = read_json(ONE("\"median\":\"inf\",\"mean\":\"nan\",\"minimum\":\"-inf\",\"maximum\":\"1/"
                                   "2\",\"std\":0.25,\"repetitions\":5,\"values\":null"));
    assert_string_equal(as_ds_text(ds, ds->format_version), "4.2.5");
    assert_int_equal(ds->measurements.count, 1);
    const as_measurement *m = as_ds_measurement(ds, 0);
    same_real(INFINITY, m->median);
    same_real(NAN, m->mean);
    same_real(-INFINITY, m->minimum);
    same_real(0.5, m->maximum);
    same_real(0.25, m->std);
    assert_int_equal(m->repetitions, 5);
    assert_int_equal(as_ds_values(ds), 0);
    assert_int_equal(ds->runs.count, 0);
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
}

static void repetitions_are_whole_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t expected;
    } cases[] = {{"5", 5}, {"5.0", 5},   {"\"5\"", 5},
                 {"0", 0}, {"null", -1}, {"5927667609989283855", 5927667609989283855}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[300];
        snprintf(json, sizeof json, ONE("\"mean\":1,\"repetitions\":%s"), cases[i].text);
        as_dataset *ds = read_json(json);
        assert_int_equal(as_ds_measurement(ds, 0)->repetitions, cases[i].expected);
        as_dataset_free(ds);
    }
}

static void what_is_not_stored_is_unknown(void **state) {
    (void)state;
    as_dataset *ds = read_json(
        "{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"coordinate\":[1],\"mean\":1,\"median\":2}]}}}");
    const as_measurement *m = as_ds_measurement(ds, 0);
    same_real(1, m->mean);
    same_real(2, m->median);
    same_real(NAN, m->minimum);
    same_real(NAN, m->maximum);
    same_real(NAN, m->std);
    assert_int_equal(m->repetitions, -1);
    assert_true(ds->format_version == AS_NO_STR);
    as_dataset_free(ds);
}

static void the_order_of_keys_does_not_matter(void **state) {
    (void)state;
    as_dataset *ds = read_json(
        "{\"modelers\":[{\"models\":{\"a->b\":{\"m\":{\"hypothesis\":{\"function\":{\"constant_coefficient\":3}}}}}}],"
        "\"measurements\":{\"a->b\":{\"m\":[{\"mean\":1,\"coordinate\":[8,2]},{\"coordinate\":[4,\"2\"],\"mean\":3}]}},"
        "\"parameters\":[\"x\",\"y\"]}");
    assert_int_equal(as_ds_parameters(ds), 2);
    assert_int_equal(ds->n_points, 2);
    same_real(8, as_ds_point(ds, 0)[0]);
    same_real(4, as_ds_point(ds, 1)[0]);
    same_real(2, as_ds_point(ds, 1)[1]);
    assert_int_equal(ds->contexts.count, 2);
    assert_int_equal(ds->models.count, 1);
    assert_int_equal(as_ds_model(ds, 0)->context, 1);
    as_dataset_free(ds);
}

/* A second series that goes through many points backwards. */
static void points_in_any_order_are_quick(void **state) {
    (void)state;
    enum { N = 20000 };
    char *json = malloc(N * 100 + 200), *at = json + sprintf(json, "{\"parameters\":[\"p\"],\"measurements\":{");
    for (int series = 0; series < 2; series++) {
        at += sprintf(at, "%s\"c%d\":{\"m\":[", series ? "," : "", series);
        for (int i = 0; i < N; i++)
            at += sprintf(at, "%s{\"coordinate\":[%d],\"mean\":%d}", i ? "," : "", series ? N - i : i + 1, i);
        at += sprintf(at, "]}");
    }
    strcpy(at, "}}");
    as_dataset *ds = read_json(json);
    const as_series *second = as_ds_series(ds, 1);
    assert_int_equal(second->n_measurements, N);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(as_ds_measurement(ds, second->first_measurement + i)->point, i);
        same_real(N - 1 - i, as_ds_measurement(ds, second->first_measurement + i)->mean);
    }
    as_dataset_free(ds);
    free(json);
}

static void newer_versions_are_told(void **state) {
    (void)state;
    const struct {
        const char *version;
        bool is_newer;
    } cases[] = {{"4.2.99", false}, {"4.3", true},           {"9.0", true},
                 {"3.9", false},    {"4.2.0-beta.1", false}, {"strange", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[300];
        snprintf(json, sizeof json,
                 "{\"Extra-P\":\"%s\",\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"coordinate\":[1],"
                 "\"mean\":1}]}}}",
                 cases[i].version);
        as_dataset *ds = read_json(json);
        assert_int_equal(ds->problems.count, cases[i].is_newer);
        if (cases[i].is_newer) {
            assert_string_equal(as_ds_text(ds, as_ds_problem(ds, 0)->rule), "newer-version");
            assert_int_equal(as_ds_problem(ds, 0)->severity, AS_WARNING);
        }
        as_dataset_free(ds);
    }
}

static void wrong_documents_are_refused(void **state) {
    (void)state;
    json_refused("{", "json-syntax");
    json_refused("", "json-syntax");
    json_refused("[]", "wrong-type");
    json_refused("{}", "no-parameters");
    json_refused("{\"parameters\":[\"p\"]}", "no-measurements");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[]}}}", "no-measurements");
    json_refused("{\"parameters\":\"p\"}", "wrong-type");
    json_refused("{\"parameters\":[1]}", "wrong-type");
    json_refused("{\"parameters\":[\"p\",\"p\"]}", "duplicate-parameter");
    json_refused("{\"parameters\":[\"p\"],\"parameters\":[\"q\"]}", "duplicate-key");
    json_refused("{\"scaling\":\"foo\",\"parameters\":[\"p\"]}", "unknown-scaling");
    json_refused("{\"scaling\":1}", "unknown-scaling");
    json_refused("{\"Extra-P\":4}", "wrong-type");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":[]}", "wrong-type");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"c\":[]}}", "wrong-type");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":{}}}}", "wrong-type");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[1]}}}", "wrong-type");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"mean\":1}]}}}", "missing-key");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"coordinate\":[1,2]}]}}}",
                 "coordinate-count");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"coordinate\":[]}]}}}", "coordinate-count");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"coordinate\":[null]}]}}}", "not-a-number");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"coordinate\":1}]}}}", "wrong-type");
    json_refused(ONE("\"mean\":null"), "not-a-number");
    json_refused(ONE("\"mean\":\"1/0\""), "not-a-number");
    json_refused(ONE("\"mean\":\"x\""), "not-a-number");
    json_refused(ONE("\"mean\":[1]"), "not-a-number");
    json_refused(ONE("\"repetitions\":1.5"), "bad-repetitions");
    json_refused(ONE("\"repetitions\":-1"), "bad-repetitions");
    json_refused(ONE("\"values\":[0]"), "bad-values");
    json_refused(ONE("\"values\":[0,1,2]"), "bad-values");
    json_refused(ONE("\"values\":[0,-1]"), "bad-values");
    json_refused(ONE("\"values\":{\"a\":1}"), "bad-values");
    json_refused(ONE("\"values\":[0,0]"), "missing-values");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"c\\u0003{\":{}}}", "bad-tags");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"c\\u0003{}x\":{}}}", "bad-tags");
    file none = {.json = NULL, .vals = {.data = "x", .size = 1}};
    refused(&none, "no-experiment-json");
}

static void errors_name_the_place(void **state) {
    (void)state;
    file f = {.json = "{\"parameters\":[\"p\"],\n \"measurements\":7}"};
    as_dataset *ds;
    assay_error error;
    assert_int_equal(read_zip(zip_of(&f), false, &ds, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.path, "a.extra-p/experiment.json");
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 17);
    assert_string_equal(error.message, "measurements must be an object");
    f.json = "{\"metrics\":\n{\"m\":1},\"parameters\":[\"p\"]}"; /* read after the rest */
    assert_int_equal(read_zip(zip_of(&f), false, &ds, &error), ASSAY_E_FORMAT);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 6);
    assert_string_equal(error.message, "an entry of callpaths or metrics must be an object");
}

static void validation_sees_all_errors(void **state) {
    (void)state;
    file f = {.json =
                  "{\"scaling\":\"odd\",\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"coordinate\":[1,2],"
                  "\"mean\":1},{\"coordinate\":[4],\"mean\":null},"
                  "{\"coordinate\":[8],\"mean\":5,\"values\":[[0],1]},{\"coordinate\":[16],\"mean\":6}]},\"d\":3}}"};
    as_dataset *ds;
    assay_error error;
    assert_int_equal(read_zip(zip_of(&f), true, &ds, &error), ASSAY_OK);
    static const char *const rules[] = {"unknown-scaling", "coordinate-count", "not-a-number",
                                        "bad-values",      "wrong-type",       "missing-points"};
    assert_int_equal(ds->problems.count, 6);
    for (size_t i = 0; i < 6; i++) assert_string_equal(as_ds_text(ds, as_ds_problem(ds, i)->rule), rules[i]);
    assert_int_equal(ds->measurements.count, 1);
    same_real(6, as_ds_measurement(ds, 0)->mean);
    as_dataset_free(ds);
}

/* ---- raw values ------------------------------------------------------------------------------------------------------ */

#define TWO_POINTS(first, second)                                                                                      \
    "{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"coordinate\":[1],\"values\":[0," first                 \
    "]},{\"coordinate\":[2],\"values\":[0," second "]}]}}}"

static void raw_values_are_repetitions(void **state) {
    (void)state;
    file f = file_of(TWO_POINTS("1", "0")); /* the second array belongs to the first point */
    put_u64(&f.indx, 2);
    put_u64(&f.indx, f.vals.size);
    put_array(&f.vals, "<f8", "False", "(3,)");
    for (int i = 1; i <= 3; i++) put_real(&f.vals, i);
    put_u64(&f.indx, f.vals.size);
    put_array(&f.vals, "<f8", "False", "()");
    put_real(&f.vals, 10);
    as_dataset *ds = read_file(&f);
    assert_int_equal(as_ds_values(ds), 4);
    assert_int_equal(ds->runs.count, 4);
    const as_measurement *m = as_ds_measurement(ds, 0); /* computed: nothing is stored */
    same_real(10, m->mean);
    assert_int_equal(m->repetitions, 1);
    m = as_ds_measurement(ds, 1);
    same_real(2, m->mean);
    same_real(2, m->median);
    same_real(1, m->minimum);
    same_real(3, m->maximum);
    same_real(sqrt(2.0 / 3), m->std);
    assert_int_equal(m->repetitions, 3);
    as_dataset_free(ds);
}

/* [[1, 2], [3]] in both orders, and integers of other sizes. */
static void arrays_of_any_shape_are_read(void **state) {
    (void)state;
    for (int by_column = 0; by_column < 2; by_column++) {
        file f = file_of(TWO_POINTS("0", "1"));
        put_u64(&f.indx, 2);
        put_u64(&f.indx, f.vals.size);
        put_array(&f.vals, "<f8", by_column ? "True" : "False", "(2, 2)");
        put_real(&f.vals, 1);
        put_real(&f.vals, by_column ? 3 : 2);
        put_real(&f.vals, by_column ? 2 : 3);
        put_real(&f.vals, NAN);
        put_u64(&f.indx, f.vals.size);
        put_array(&f.vals, ">i2", "False", "(2,)");
        put(&f.vals, "\xff\xfe\x01\x00", 4); /* -2, 256 */
        as_dataset *ds = read_file(&f);
        assert_int_equal(as_ds_values(ds), 5);
        assert_int_equal(as_ds_leaves(ds), 2);
        const as_block *block = as_ds_metric_block(ds, 0);
        static const double expected[] = {1, 2, 3, -2, 256};
        static const int locations[] = {0, 1, 0, -1, -1};
        for (uint64_t row = 0; row < 5; row++) {
            same_real(expected[row], as_block_real(block, row));
            assert_int_equal((int)as_block_location(block, row), locations[row]);
        }
        const as_measurement *m = as_ds_measurement(ds, 0);
        assert_int_equal(m->repetitions, 2);
        same_real(2, m->mean);
        as_dataset_free(ds);
    }
}

static void large_integers_stay_exact(void **state) {
    (void)state;
    file f = file_of(ONE("\"values\":[0,0]"));
    put_u64(&f.indx, 1);
    put_u64(&f.indx, f.vals.size);
    put_array(&f.vals, "<i8", "False", "(2,)");
    put_u64(&f.vals, 9007199254740993);
    put_u64(&f.vals, 1);
    as_dataset *ds = read_file(&f), *again = write_and_read(ds, 1 << 20);
    for (int i = 0; i < 2; i++) {
        const as_block *block = as_ds_metric_block(i ? again : ds, 0);
        assert_int_equal(block->dtype, AS_DTYPE_INT64);
        assert_int_equal(as_block_value(block, 0).i, 9007199254740993);
    }
    as_dataset_free(again);
    as_dataset_free(ds);
}

static void damaged_values_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *type, *shape, *rule;
        uint64_t count, offset;
    } cases[] = {
        {"<f8", "(2,)", "bad-values-array", 1, 16},                     /* one number too few */
        {"<f8", "(9223372036854775807, 4)", "bad-values-array", 1, 16}, /* more than 2^64 bytes */
        {"<f8", "(18446744073709551616,)", "bad-values-array", 1, 16},
        {"<f8", "(1", "bad-values-array", 1, 16},
        {"<f8", "(-1,)", "bad-values-array", 1, 16},
        {"<c8", "(1,)", "bad-values-array", 1, 16},
        {"<f2", "(1,)", "bad-values-array", 1, 16},
        {"<f8", "(1,)", "bad-values-array", 1, 17},      /* not where an array begins */
        {"<f8", "(1,)", "bad-values-index", 1, 1 << 20}, /* behind the end */
        {"<f8", "(1,)", "bad-values-index", 1, UINT64_MAX},
        {"<f8", "(1,)", "bad-values-index", 0, 16},
        {"<f8", "(1,)", "bad-values-index", UINT64_MAX, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f = file_of(ONE("\"values\":[0,0]"));
        put_u64(&f.indx, cases[i].count);
        put_u64(&f.indx, cases[i].offset);
        put_array(&f.vals, cases[i].type, "False", cases[i].shape);
        put_real(&f.vals, 1);
        refused(&f, cases[i].rule);
    }
    file f = file_of(ONE("\"values\":[0,0]"));
    put_u64(&f.indx, UINT64_MAX); /* a count that nothing follows */
    refused(&f, "bad-values-index");
    f.indx.size = 20;
    refused(&f, "bad-values-index");
    f.indx.data[0] = 'e';
    refused(&f, "missing-values");
    f.indx.size = 0;
    refused(&f, "missing-values");
}

static void chunks_have_the_right_numbers(void **state) {
    (void)state;
    file f = file_of(TWO_POINTS("0", "1"));
    put_u64(&f.indx, 2);
    for (int i = 0; i < 2; i++) {
        put_u64(&f.indx, f.vals.size);
        put_array(&f.vals, "<f8", "False", "(2,)");
        put_real(&f.vals, 10 * i);
        put_real(&f.vals, 10 * i + 1);
    }
    as_dataset *ds = read_file(&f);
    static const uint64_t sizes[] = {1, 200, 1 << 20}; /* a chunk each; a chunk that ends within; one chunk */
    for (size_t i = 0; i < 3; i++) {
        as_dataset *again = write_and_read(ds, sizes[i]);
        const as_block *block = as_ds_metric_block(again, 0);
        assert_int_equal(as_block_rows(block), 4);
        static const double expected[] = {0, 1, 10, 11};
        for (uint64_t row = 0; row < 4; row++) same_real(expected[row], as_block_real(block, row));
        as_dataset_free(again);
    }
    as_dataset_free(ds);
}

/* ---- models ---------------------------------------------------------------------------------------------------------- */

#define WITH_MODEL(modeler, model)                                                                                     \
    "{\"parameters\":[\"p\",\"q\"],\"measurements\":{\"c\":{\"m\":[{\"coordinate\":[1,2],\"mean\":1}]}},\"modelers\":" \
    "[{\"name\":\"A\",\"modeler\":{" modeler "},\"models\":{\"c\":{\"m\":" model "}}}]}"

static void functions_become_terms(void **state) {
    (void)state;
    as_dataset *ds = read_json(
        WITH_MODEL("\"use_median\":false,\"use_measure\":\"MINIMUM\",\"$type\":\"MultiParameterModeler\"",
                   "{\"hypothesis\":{\"function\":{\"compound_terms\":[{\"parameter_term_pairs\":{\"1\":{"
                   "\"coefficient\":1.0,\"simple_terms\":[{\"exponent\":1.0,\"term_type\":\"logarithm\"}]},"
                   "\"0\":{\"coefficient\":2.0,\"simple_terms\":[{\"term_type\":\"polynomial\",\"exponent\":\"3/"
                   "2\"}]}},\"coefficient\":4.0}],\"constant_coefficient\":1.5,\"$type\":\"MultiParameterFunction\"},"
                   "\"RSS\":1,\"rRSS\":2,\"nRSS\":0,\"SMAPE\":3,\"AR2\":\"-inf\",\"RE\":\"nan\"}}"));
    const as_model_set *set = as_ds_model_set(ds, 0);
    assert_string_equal(as_ds_text(ds, set->name), "A");
    assert_string_equal(as_ds_text(ds, set->modeler), "multi-parameter");
    assert_string_equal(as_ds_text(ds, set->measure), "minimum");
    const as_model *model = as_ds_model(ds, 0);
    assert_string_equal(as_ds_text(ds, model->function), "1.5 + 8.0 * log2(q)^(1) * p^(3/2)");
    same_real(1, model->RSS);
    same_real(2, model->rRSS);
    same_real(3, model->SMAPE);
    same_real(-INFINITY, model->AR2);
    same_real(NAN, model->RE);
    assert_int_equal(model->n_terms, 2);
    const as_term *term = as_ds_term(ds, 1);
    same_real(8, term->coefficient);
    assert_int_equal(term->parameter, 0);
    assert_string_equal(as_ds_text(ds, term->exponent), "3/2");
    assert_string_equal(as_ds_text(ds, term->log_exponent), "0");
    as_dataset_free(ds);
}

static void old_files_say_median_or_mean(void **state) {
    (void)state;
    as_dataset *ds = read_json(WITH_MODEL(
        "\"use_median\":true,\"$type\":\"OddModeler\"",
        "{\"hypothesis\":{\"function\":{\"constant_coefficient\":5},\"RSS\":1,\"$type\":\"ConstantHypothesis\"}}"));
    assert_string_equal(as_ds_text(ds, as_ds_model_set(ds, 0)->measure), "median");
    assert_string_equal(as_ds_text(ds, as_ds_model_set(ds, 0)->modeler), "OddModeler");
    assert_string_equal(as_ds_text(ds, as_ds_model(ds, 0)->function), "5.0");
    same_real(1, as_ds_model(ds, 0)->AR2); /* of a constant, by definition */
    same_real(NAN, as_ds_model(ds, 0)->SMAPE);
    as_dataset_free(ds);
}

static void segments_have_intervals(void **state) {
    (void)state;
    as_dataset *ds = read_json(WITH_MODEL("\"$type\":\"SegmentedModeler\"",
                                          "{\"hypothesis\":{\"function\":{\"intervals\":[[\"-inf\",4],[8,\"inf\"]],"
                                          "\"segments\":[{\"constant_coefficient\":1,\"compound_terms\":[]},"
                                          "{\"constant_coefficient\":2,\"compound_terms\":[{\"coefficient\":3,\"simple_"
                                          "terms\":[{\"term_type\":\"polynomial\",\"exponent\":\"2\"}]}]}]}}}"));
    const as_model *model = as_ds_model(ds, 0);
    assert_int_equal(model->n_segments, 2);
    same_real(-INFINITY, as_ds_segment(ds, 0)->from);
    same_real(4, as_ds_segment(ds, 0)->to);
    same_real(8, as_ds_segment(ds, 1)->from);
    same_real(2, as_ds_segment(ds, 1)->constant);
    assert_int_equal(as_ds_term(ds, 0)->segment, 1);
    assert_string_equal(as_ds_text(ds, model->function), "1.0 for p<=4.0; 2.0 + 3.0 * p^(2) for p>=8.0");
    as_dataset_free(ds);
}

#define PIECEWISE                                                                                                      \
    "{\"hypothesis\":{\"function\":{\"constant_coefficient\":1,\"compound_terms\":[{\"coefficient\":2,\"parameter_"    \
    "term_pairs\":{\"1\":{\"$variant\":\"SegmentedTerm\","                                                             \
    "\"segments\":[{\"constant_coefficient\":7},{\"constant_coefficient\":0,\"compound_terms\":[{\"coefficient\":1,"   \
    "\"simple_terms\":[{\"term_type\":\"polynomial\","                                                                 \
    "\"exponent\":\"2\"}]}]}],\"intervals\":[[\"-inf\",4],[4,\"inf\"]]}}}]}}}"

static void factors_may_be_piecewise(void **state) {
    (void)state;
    as_dataset *ds = read_json(WITH_MODEL("", PIECEWISE));
    const as_model *model = as_ds_model(ds, 0);
    assert_int_equal(model->n_segments, 1);
    assert_int_equal(model->n_pieces, 2);
    assert_string_equal(as_ds_text(ds, model->function), "1.0 + 2.0 * {7.0 for q<=4.0; q^(2) for q>=4.0}");
    const as_term *factor = as_ds_term(ds, 0);
    assert_int_equal(factor->n_pieces, 2);
    assert_true(factor->exponent == AS_NO_STR);
    same_real(7, as_ds_segment(ds, factor->first_piece)->constant);
    as_dataset_free(ds);
}

static void wrong_models_are_refused(void **state) {
    (void)state;
    json_refused(WITH_MODEL("", "{}"), "missing-key");
    json_refused(WITH_MODEL("", "[]"), "wrong-type");
    json_refused(WITH_MODEL("", "{\"hypothesis\":{\"function\":{\"constant_coefficient\":null}}}"), "not-a-number");
    json_refused(WITH_MODEL("", "{\"hypothesis\":{\"RSS\":\"much\"}}"), "not-a-number");
    json_refused(
        WITH_MODEL("", "{\"hypothesis\":{\"function\":{\"compound_terms\":[{\"parameter_term_pairs\":{\"2\":{}}}]}}}"),
        "unknown-parameter");
    json_refused(WITH_MODEL("", "{\"hypothesis\":{\"function\":{\"compound_terms\":[{\"simple_terms\":[{\"term_type\":"
                                "\"root\",\"exponent\":1}]}]}}}"),
                 "unknown-term");
    json_refused(WITH_MODEL("", "{\"hypothesis\":{\"function\":{\"compound_terms\":[{\"simple_terms\":[{\"term_type\":"
                                "\"polynomial\"}]}]}}}"),
                 "missing-key");
    json_refused(WITH_MODEL("", "{\"hypothesis\":{\"function\":{\"segments\":[{}],\"intervals\":[]}}}"),
                 "bad-interval");
    json_refused(WITH_MODEL("", "{\"hypothesis\":{\"function\":{\"segments\":[{}],\"intervals\":[[1,2,3]]}}}"),
                 "bad-interval");
    json_refused(WITH_MODEL("", "{\"hypothesis\":{\"function\":{\"segments\":[{\"segments\":[{\"segments\":[]}]}],"
                                "\"intervals\":[[1,2]]}}}"),
                 "nested-segments");
    json_refused(WITH_MODEL("", "{\"hypothesis\":{\"function\":{},\"function\":{}}}"), "duplicate-key");
    json_refused("{\"parameters\":[],\"modelers\":[{}]}", "no-parameters");
}

/* A model without the JSON it came from gets the layout that Extra-P reads. */
static void models_from_elsewhere_are_laid_out(void **state) {
    (void)state;
    as_dataset *ds = read_json(WITH_MODEL("\"use_measure\":\"MEDIAN\",\"$type\":\"MultiParameterModeler\"", PIECEWISE));
    AS_AT(as_model, &ds->models, 0).raw = AS_NO_STR;
    AS_AT(as_model_set, &ds->model_sets, 0).raw = AS_NO_STR;
    char *json = written_json(ds);
    assert_non_null(strstr(
        json,
        "\"modelers\":[{\"name\":\"A\",\"modeler\":{\"use_median\":true,\"use_measure\":\"MEDIAN\",\"$type\":"
        "\"MultiParameterModeler\"},\"models\":{\"c\":{\"m\":"
        "{\"hypothesis\":{\"function\":{\"constant_coefficient\":1.0,\"compound_terms\":[{\"coefficient\":2.0,"
        "\"parameter_term_pairs\":{\"1\":{\"coefficient\":1.0,"
        "\"segments\":[{\"constant_coefficient\":7.0,\"compound_terms\":[],\"$type\":\"SingleParameterFunction\"},"));
    assert_non_null(strstr(json, "\"exponent\":\"2\"}]}],\"$type\":\"SingleParameterFunction\"}],\"intervals\":[[\"-"
                                 "inf\",4.0],[4.0,\"inf\"]],\"$variant\":\"SegmentedTerm\"}}}],"
                                 "\"$type\":\"MultiParameterFunction\"},\"RSS\":\"nan\",\"rRSS\":\"nan\",\"nRSS\":"
                                 "\"nan\",\"SMAPE\":\"nan\",\"AR2\":\"nan\",\"RE\":\"nan\","
                                 "\"_use_median\":true,\"_use_measure\":\"MEDIAN\",\"_costs_are_calculated\":true,\"$"
                                 "type\":\"MultiParameterHypothesis\"},\"annotations\":[]}}}}]"));
    free(json);
    as_dataset *again = write_and_read(ds, 1 << 20);
    assert_string_equal(as_ds_text(again, as_ds_model(again, 0)->function),
                        as_ds_text(ds, as_ds_model(ds, 0)->function));
    as_dataset_free(again);
    as_dataset_free(ds);
}

/* ---- nothing is lost ------------------------------------------------------------------------------------------------- */

/* In the order and layout that the writer uses, so that reading and writing it must give the same text. */
static const char WHOLE[] =
    "{\"Extra-P\":\"4.1.0\",\"scaling\":\"weak_threaded\",\"parameters\":[\"p\"],"
    "\"callpaths\":{\"main\":{\"tags\":{\"a__b\":1,\"c\":[true,null],\"d\":1.50,\"e\":null},\"file\":\"m.c\",\"line\":"
    "3,\"odd\":\"x\\ny\"},\"unmeasured\":{\"tags\":{}}},"
    "\"metrics\":{\"time\":{\"tags\":{\"t\":\"u\"},\"unit\":\"s\",\"description\":\"d\"},\"unused\":{\"tags\":{}}},"
    "\"measurements\":{\"main\":{\"time\":[{\"coordinate\":[20.0],\"median\":1.0,\"mean\":1.5,\"minimum\":\"nan\","
    "\"maximum\":1e+30,\"std\":0.1,\"repetitions\":null,"
    "\"values\":null,\"further\":{\"k\":[1]},\"id\":7,\"none\":null}]},\"main->x\":{\"visits\":[{\"coordinate\":[20.0],"
    "\"median\":1.0,\"mean\":1.0,\"minimum\":1.0,"
    "\"maximum\":1.0,\"std\":0.0,\"repetitions\":3,\"values\":null}]}},"
    "\"modelers\":[{\"name\":\"A\",\"modeler\":{ \"use_median\": false, \"own\": [1] "
    "},\"models\":{\"main\":{\"time\":{ \"hypothesis\": {\"function\":{}}, \"annotations\": [\"n\"] }}},"
    "\"colour\":\"red\"}],\"future\":{\"a\":[1,2.50]},\"count\":12345678901234567890123}";

static void everything_comes_back(void **state) {
    (void)state;
    as_dataset *ds = read_json(WHOLE);
    char *json = written_json(ds);
    assert_string_equal(json, WHOLE);
    free(json);
    as_losses losses;
    as_losses_init(&losses);
    as_find_losses(ds, as_format_find(FORMAT), &losses);
    assert_int_equal(losses.texts.count, 0);
    as_losses_free(&losses);
    static const char *const names[] = {"main", "x", "unmeasured"};
    for (assay_id i = 0; i < 3; i++) assert_string_equal(as_ds_text(ds, as_ds_context(ds, i)->name), names[i]);
    const as_region *region = as_ds_region(ds, as_ds_context(ds, 0)->region);
    assert_string_equal(as_ds_text(ds, region->file), "m.c");
    assert_int_equal(region->line_begin, 3);
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->unit), "s");
    const as_table *records = as_ds_records(ds, "record");
    assert_int_equal(as_table_rows(records), 1);
    assert_string_equal(as_table_get(records, 0, as_table_find_column(records, "further")).text, "{\"k\":[1]}");
    assert_int_equal(as_table_get(records, 0, as_table_find_column(records, "measurement:id")).i, 7);
    assert_int_equal(as_table_get(records, 0, as_table_find_column(records, "id")).i, 0);
    as_dataset_free(ds);
}

/* 250 further members: a hundred have columns, the rest stand together. Names that the table needs for itself come back, too. */
static void many_further_members_come_back(void **state) {
    (void)state;
    as_output *out = as_output_to_memory();
    as_output_text(out, "{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"coordinate\":[1.0],\"mean\":1.0,"
                        "\"other\":{\"x\":1},\"measurement:id\":2,\"point\":3,\"a\\u0000b\":4,\"a\\u0000c\":5");
    for (int i = 0; i < 250; i++) as_output_printf(out, ",\"k%d\":[%d]", i, i);
    as_output_text(out, "}]}}}");
    as_output_write(out, "", 1);
    size_t size;
    as_dataset *ds = read_json(as_output_memory(out, &size));
    as_output_discard(out);
    const as_table *records = as_ds_records(ds, "record");
    assert_int_equal(as_table_rows(records), 1);
    assert_int_equal(as_table_columns(records), 5 + 100 + 1); /* id … point, a hundred, other */
    as_cell others = as_table_get(records, 0, as_table_find_column(records, "other"));
    assert_int_equal(others.type, AS_CELL_JSON);
    static const char first[] = "{\"a\\u0000b\":4,\"a\\u0000c\":5,\"k97\":[97],";
    assert_memory_equal(others.text, first, strlen(first));
    char *json = written_json(ds);
    assert_non_null(strstr(json, ",\"other\":{\"x\":1},\"measurement:id\":2,\"point\":3,\"k0\":[0],\"k1\":[1],"));
    assert_non_null(strstr(json, ",\"k96\":[96],\"a\\u0000b\":4,\"a\\u0000c\":5,\"k97\":[97],"));
    assert_non_null(strstr(json, ",\"k249\":[249]}"));
    free(json);
    as_dataset_free(ds);
}

static void names_with_a_nul_are_refused(void **state) {
    (void)state;
    json_refused("{\"parameters\":[\"p\\u0000\"]}", "nul-byte");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"a\\u0000b\":{}}}", "nul-byte");
    json_refused("{\"parameters\":[\"p\"],\"measurements\":{\"a\":{\"m\\u0000\":[]}}}", "nul-byte");
    json_refused("{\"parameters\":[\"p\"],\"further\\u0000a\":1}", "nul-byte");
}

static void parameters_have_a_limit(void **state) {
    (void)state;
    as_output *out = as_output_to_memory();
    as_output_text(out, "{\"parameters\":[\"p\"");
    for (int i = 0; i < 1000; i++) as_output_printf(out, ",\"p%d\"", i);
    as_output_text(out, "]}");
    as_output_write(out, "", 1);
    size_t size;
    json_refused(as_output_memory(out, &size), "too-many-parameters");
    as_output_discard(out);
}

static as_dataset *read_lists(const char *lists) {
    char line[256];
    int n =
        snprintf(line, sizeof line, "{\"params\":{\"p\":1},\"callpath\":\"c\",\"metric\":\"m\",\"value\":%s}\n", lists);
    as_dataset *ds = NULL;
    as_read_config config = {.format = "extrap-jsonl"};
    assert_int_equal(as_read_memory("a.jsonl", line, (size_t)n, &config, &ds, NULL), ASSAY_OK);
    return ds;
}

static void loses(const char *lists, const char *what) {
    as_dataset *ds = read_lists(lists);
    as_losses losses;
    as_losses_init(&losses);
    as_find_losses(ds, as_format_find(FORMAT), &losses);
    assert_int_equal(losses.texts.count, what ? 1 : 0);
    if (what) assert_non_null(strstr(AS_AT(char *, &losses.texts, 0), what));
    as_losses_free(&losses);
    as_dataset_free(ds);
}

/* NaN fills lists up to the same length, so that not everything fits; what does not is said. */
static void losses_of_lists_are_said(void **state) {
    (void)state;
    loses("[[1,2],[3]]", NULL);
    loses("[[NaN,2],[NaN,3]]", NULL);
    loses("[1,NaN]", NULL);
    loses("[[1,NaN],[3,4]]", "1 NaN ");
    loses("[[9007199254740993,1],[2,3]]", NULL);
    loses("[[9007199254740993,1],[2]]", "1 integer ");
    loses("[[18446744073709551615,18446744073709551614],[9007199254740994]]", "2 integers ");
    loses("[[1,2],3]", "location");
}

static void large_integers_in_lists_stay_exact(void **state) {
    (void)state;
    as_dataset *ds = read_lists("[[9007199254740993,1],[2,18446744073709551615]]"), *again = NULL;
    as_output *out = as_output_to_memory();
    assert_int_equal(as_write(ds, as_format_find(FORMAT), NULL, out, NULL), ASSAY_OK);
    assert_int_equal(read_zip(out, false, &again, NULL), ASSAY_OK);
    static const uint64_t expected[] = {9007199254740993u, 1, 2, UINT64_MAX};
    const as_block *block = as_ds_metric_block(again, 0);
    assert_int_equal(as_block_rows(block), 4);
    for (uint64_t i = 0; i < 4; i++)
        assert_true(as_block_value(block, i).u == expected[i] && block->locations[i] == i % 2);
    as_dataset_free(again);
    as_dataset_free(ds);
}

static void tags_in_names_are_kept(void **state) {
    (void)state;
    as_dataset *ds = read_json("{\"parameters\":[\"p\"],\"measurements\":{\"c\\u0003{\\\"x\\\":1}\":{\"m\\u0003{"
                               "\\\"y\\\":\\\"z\\\"}\":[{\"coordinate\":[1],\"mean\":1}]}},"
                               "\"modelers\":[{\"models\":{\"c\\u0003{\\\"x\\\":1}\":{}}}]}");
    assert_int_equal(ds->contexts.count, 1);
    assert_string_equal(as_ds_text(ds, as_ds_context(ds, 0)->name), "c");
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->name), "m");
    assert_int_equal(ds->attributes.count, 2);
    assert_string_equal(as_ds_text(ds, as_ds_attribute(ds, 0)->key), "tags:x");
    assert_int_equal(as_ds_attribute(ds, 0)->value.i, 1);
    assert_int_equal(as_ds_attribute(ds, 1)->owner, AS_OWNER_METRIC);
    char *json = written_json(ds);
    assert_non_null(strstr(json, "\"callpaths\":{\"c\":{\"tags\":{\"x\":1}}},\"metrics\":{\"m\":{\"tags\":{\"y\":\"z\"}"
                                 "}},\"measurements\":{\"c\":{\"m\":["));
    free(json);
    as_dataset_free(ds);
}

/* Byte 3 in a name is nothing special until tags follow it. */
static void names_may_not_look_like_tags(void **state) {
    (void)state;
    as_dataset *ds =
        read_json("{\"parameters\":[\"p\"],\"measurements\":{\"c\\u0003\":{\"m\\u0003[]\":[{\"coordinate\":[1],"
                  "\"mean\":1}]}}}");
    assert_string_equal(as_ds_text(ds, as_ds_context(ds, 0)->name), "c\x03");
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->name), "m\x03[]");
    free(written_json(ds));
    AS_AT(as_metric, &ds->metrics, 0).name = as_ds_intern_text(ds, "m\x03{}");
    as_output *out = as_output_to_memory();
    assay_error error;
    assert_int_equal(as_write(ds, as_format_find(FORMAT), NULL, out, &error), ASSAY_E_UNSUPPORTED);
    as_output_discard(out);
    as_dataset_free(ds);
}

static void what_cannot_be_held_is_told(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    assay_error error;
    as_output *out = as_output_to_memory();
    assert_int_equal(as_write(ds, as_format_find(FORMAT), NULL, out, &error), ASSAY_E_UNSUPPORTED);
    as_output_discard(out);
    as_add_parameter(ds, as_ds_intern_text(ds, "p"));
    as_experiment *experiment = as_experiment_new(ds);
    as_experiment_point(experiment, (double[]){1});
    as_experiment_point(experiment, (double[]){2});
    as_cell_key key = {as_experiment_metric(experiment, "m", 1), as_experiment_callpath(experiment, "c", 1), 0};
    assert_true(as_experiment_value(experiment, key, (as_number){.kind = AS_INT, .i = 3}));
    assert_true(as_experiment_finish(experiment, AS_NOWHERE, NULL));
    as_experiment_free(experiment);
    as_add_attribute(ds, AS_OWNER_RUN, 0, "host", as_cell_text("h"));
    as_add_attribute(ds, AS_OWNER_DATASET, 0, "kept", as_cell_text("h"));
    as_table *records = as_add_record_table(ds, "record");
    assert_true(as_table_add_row(records));
    as_losses losses;
    as_losses_init(&losses);
    as_find_losses(ds, as_format_find(FORMAT), &losses);
    assert_int_equal(losses.texts.count, 3);
    assert_string_equal(AS_AT(char *, &losses.texts, 0), "1 attribute that belongs to no metric or call path");
    assert_string_equal(AS_AT(char *, &losses.texts, 1), "1 record that belongs to no single measurement");
    assert_string_equal(AS_AT(char *, &losses.texts, 2), "1 point without data");
    as_losses_free(&losses);
    as_dataset_free(ds);
}

/* A chain of call paths each of which ends in the next: its paths together are far longer than the tree. */
static void paths_beyond_memory_are_told(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(32 << 20);
    as_add_parameter(ds, as_ds_intern_text(ds, "p"));
    as_experiment *experiment = as_experiment_new(ds);
    as_tree *tree = as_experiment_tree(experiment);
    as_cell_key key = {as_experiment_metric(experiment, "m", 1), ASSAY_NONE,
                       as_experiment_point(experiment, (double[]){1})};
    assay_id region = as_tree_region(tree, as_ds_intern_text(ds, "f"));
    for (int i = 0; i < 20000; i++) {
        key.context = as_tree_child(tree, key.context, region);
        assert_true(as_experiment_value(experiment, key, (as_number){.kind = AS_INT, .i = i}));
    }
    assert_true(as_experiment_finish(experiment, AS_NOWHERE, NULL));
    as_experiment_free(experiment);
    as_output *out = as_output_to_memory();
    assay_error error;
    assert_int_equal(as_write(ds, as_format_find(FORMAT), NULL, out, &error), ASSAY_E_NOMEM);
    as_output_discard(out);
    as_dataset_free(ds);
}

/* ---- damage ---------------------------------------------------------------------------------------------------------- */

static void files_cut_anywhere_are_refused(void **state) {
    (void)state;
    file f = file_of(ONE("\"values\":[0,0]"));
    put_u64(&f.indx, 1);
    put_u64(&f.indx, f.vals.size);
    put_array(&f.vals, "<f8", "False", "(1,)");
    put_real(&f.vals, 1);
    as_output *zip = zip_of(&f);
    size_t size;
    const char *data = as_output_memory(zip, &size);
    as_read_config config = {.format = FORMAT};
    for (size_t n = 0; n <= size; n++) {
        char *cut = malloc(n + 1); /* so that a sanitizer sees reads behind the end */
        memcpy(cut, data, n);
        as_dataset *ds = NULL;
        assay_error error;
        assay_status status = as_read_memory("cut", cut, n, &config, &ds, &error);
        assert_true(n == size ? status == ASSAY_OK : status == ASSAY_E_FORMAT);
        as_dataset_free(ds);
        free(cut);
    }
    as_output_discard(zip);
}

/* Every byte of an archive made 0 and made 255 in turn: sizes of terabytes, offsets behind the end, wrong names, wrong sums. */
static void damaged_archives_end_orderly(void **state) {
    (void)state;
    file f = file_of(ONE("\"values\":[0,0]"));
    put_u64(&f.indx, 1);
    put_u64(&f.indx, f.vals.size);
    put_array(&f.vals, "<f8", "False", "(1,)");
    put_real(&f.vals, 1);
    as_output *zip = zip_of(&f);
    size_t size, refusals = 0;
    const char *data = as_output_memory(zip, &size);
    char *copy = malloc(size);
    as_read_config config = {.format = FORMAT, .memory_limit = 1 << 24};
    for (size_t i = 0; i < 2 * size; i++) {
        memcpy(copy, data, size);
        copy[i / 2] = i % 2 ? '\xff' : '\0';
        as_dataset *ds = NULL;
        assay_error error = {.code = ASSAY_OK};
        if (as_read_memory("damaged", copy, size, &config, &ds, &error) == ASSAY_OK) {
            as_dataset_free(ds);
            continue;
        }
        assert_true(error.code == ASSAY_E_FORMAT || error.code == ASSAY_E_NOMEM);
        assert_int_not_equal(error.message[0], 0);
        refusals++;
    }
    assert_true(refusals > size); /* some bytes are 0 already, or dates that nobody reads */
    free(copy);
    as_output_discard(zip);
}

static void lying_archives_are_refused(void **state) {
    (void)state;
    static const char *const files[] = {TEST_DATA "/zip-of-terabytes.extra-p",
                                        TEST_DATA "/zip-pointing-outside.extra-p"};
    for (size_t i = 0; i < 2; i++) {
        as_dataset *ds = NULL;
        assay_error error = {.code = ASSAY_OK};
        assert_int_equal(as_read(files[i], NULL, &ds, &error), ASSAY_E_FORMAT);
        assert_string_equal(error.path, files[i]);
    }
}

/* Memory that ends at any moment is told, and all of it given back. */
static void every_allocation_may_fail(void **state) {
    (void)state;
    file f = file_of(WHOLE);
    as_output *zip = zip_of(&f);
    size_t size, failures = 0;
    const char *data = as_output_memory(zip, &size);
    for (uint64_t limit = 64; limit < 1 << 18; limit += limit / 16) {
        as_read_config config = {.format = FORMAT, .memory_limit = limit};
        as_dataset *ds = NULL;
        assay_error error = {.code = ASSAY_OK};
        assay_status status = as_read_memory("file", data, size, &config, &ds, &error);
        assert_true(status == ASSAY_OK || status == ASSAY_E_NOMEM);
        failures += status != ASSAY_OK;
        as_dataset_free(ds);
    }
    assert_true(failures > 10);
    as_output_discard(zip);
}

static void memory_has_a_limit(void **state) {
    (void)state;
    size_t n = 3000000;
    char *json = malloc(n + 100);
    strcpy(json, "{\"parameters\":[\"p\"],\"x\":\"");
    size_t at = strlen(json);
    memset(json + at, 'a', n);
    strcpy(json + at + n, "\"}");
    file f = {.json = json};
    as_output *zip = zip_of(&f);
    size_t size;
    const char *data = as_output_memory(zip, &size);
    assert_true(size < 50000);
    as_read_config config = {.format = FORMAT, .memory_limit = 1 << 20};
    as_dataset *ds;
    assay_error error;
    assert_int_equal(as_read_memory("bomb", data, size, &config, &ds, &error), ASSAY_E_NOMEM);
    as_output_discard(zip);
    free(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_taken_as_stored),
        cmocka_unit_test(repetitions_are_whole_numbers),
        cmocka_unit_test(what_is_not_stored_is_unknown),
        cmocka_unit_test(the_order_of_keys_does_not_matter),
        cmocka_unit_test(points_in_any_order_are_quick),
        cmocka_unit_test(newer_versions_are_told),
        cmocka_unit_test(wrong_documents_are_refused),
        cmocka_unit_test(errors_name_the_place),
        cmocka_unit_test(validation_sees_all_errors),
        cmocka_unit_test(raw_values_are_repetitions),
        cmocka_unit_test(arrays_of_any_shape_are_read),
        cmocka_unit_test(large_integers_stay_exact),
        cmocka_unit_test(damaged_values_are_refused),
        cmocka_unit_test(chunks_have_the_right_numbers),
        cmocka_unit_test(functions_become_terms),
        cmocka_unit_test(old_files_say_median_or_mean),
        cmocka_unit_test(segments_have_intervals),
        cmocka_unit_test(factors_may_be_piecewise),
        cmocka_unit_test(wrong_models_are_refused),
        cmocka_unit_test(models_from_elsewhere_are_laid_out),
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(many_further_members_come_back),
        cmocka_unit_test(names_with_a_nul_are_refused),
        cmocka_unit_test(parameters_have_a_limit),
        cmocka_unit_test(losses_of_lists_are_said),
        cmocka_unit_test(large_integers_in_lists_stay_exact),
        cmocka_unit_test(tags_in_names_are_kept),
        cmocka_unit_test(names_may_not_look_like_tags),
        cmocka_unit_test(what_cannot_be_held_is_told),
        cmocka_unit_test(paths_beyond_memory_are_told),
        cmocka_unit_test(files_cut_anywhere_are_refused),
        cmocka_unit_test(damaged_archives_end_orderly),
        cmocka_unit_test(lying_archives_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(memory_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
