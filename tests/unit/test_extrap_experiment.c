/* Reading Extra-P experiments: measurements, raw values, models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment_files.h"
#include "functions.h"

/* ---- measurements ------------------------------------------------------------------------------------------------ */

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
            assert_string_equal(as_ds_problem(ds, 0)->rule, "newer-version");
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
    for (size_t i = 0; i < 6; i++) assert_string_equal(as_ds_problem(ds, i)->rule, rules[i]);
    assert_int_equal(ds->measurements.count, 1);
    same_real(6, as_ds_measurement(ds, 0)->mean);
    as_dataset_free(ds);
}

/* ---- raw values -------------------------------------------------------------------------------------------------- */

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

/* ---- models ------------------------------------------------------------------------------------------------------ */

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
    assert_function(ds, model, "1.5 + 8.0 * log2(q)^(1) * p^(3/2)");
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
    assert_function(ds, as_ds_model(ds, 0), "5.0");
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
    assert_function(ds, model, "1.0 for p<=4.0; 2.0 + 3.0 * p^(2) for p>=8.0");
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
    assert_function(ds, model, "1.0 + 2.0 * {7.0 for q<=4.0; q^(2) for q>=4.0}");
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
        json, "\"modelers\":[{\"name\":\"A\",\"modeler\":{\"use_median\":true,\"use_measure\":\"MEDIAN\",\"$type\":"
              "\"MultiParameterModeler\"},\"models\":{\"c\":{\"m\":"
              "{\"hypothesis\":{\"function\":{\"constant_coefficient\":1.0,\"compound_terms\":[{\"coefficient\":2.0,"
              "\"parameter_term_pairs\":{\"1\":{\"coefficient\":1.0,"
              "\"segments\":[{\"constant_coefficient\":7.0,\"compound_terms\":[],\"$type\":\"ConstantFunction\"},"));
    assert_non_null(strstr(json, "\"exponent\":\"2\"}]}],\"$type\":\"SingleParameterFunction\"}],\"intervals\":[[\"-"
                                 "inf\",4.0],[4.0,\"inf\"]],\"$variant\":\"SegmentedTerm\"}}}],"
                                 "\"$type\":\"MultiParameterFunction\"},\"RSS\":\"nan\",\"rRSS\":\"nan\",\"nRSS\":"
                                 "\"nan\",\"SMAPE\":\"nan\",\"AR2\":\"nan\",\"RE\":\"nan\","
                                 "\"_use_median\":true,\"_use_measure\":\"MEDIAN\",\"_costs_are_calculated\":true,\"$"
                                 "type\":\"MultiParameterHypothesis\"},\"annotations\":[]}}}}]"));
    free(json);
    as_dataset *again = write_and_read(ds, 1 << 20);
    assert_function(again, as_ds_model(again, 0), "1.0 + 2.0 * {7.0 for q<=4.0; q^(2) for q>=4.0}");
    as_dataset_free(again);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_taken_as_stored), cmocka_unit_test(repetitions_are_whole_numbers),
        cmocka_unit_test(what_is_not_stored_is_unknown),  cmocka_unit_test(the_order_of_keys_does_not_matter),
        cmocka_unit_test(points_in_any_order_are_quick),  cmocka_unit_test(newer_versions_are_told),
        cmocka_unit_test(wrong_documents_are_refused),    cmocka_unit_test(errors_name_the_place),
        cmocka_unit_test(validation_sees_all_errors),     cmocka_unit_test(raw_values_are_repetitions),
        cmocka_unit_test(arrays_of_any_shape_are_read),   cmocka_unit_test(large_integers_stay_exact),
        cmocka_unit_test(damaged_values_are_refused),     cmocka_unit_test(chunks_have_the_right_numbers),
        cmocka_unit_test(functions_become_terms),         cmocka_unit_test(old_files_say_median_or_mean),
        cmocka_unit_test(segments_have_intervals),        cmocka_unit_test(factors_may_be_piecewise),
        cmocka_unit_test(wrong_models_are_refused),       cmocka_unit_test(models_from_elsewhere_are_laid_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
