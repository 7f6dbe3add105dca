/* Experiments of Extra-P 3, in both byte orders, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataset/experiment.h"
#include "formats/format.h"
#include "functions.h"

/* ---- building files ---------------------------------------------------------------------------------------------- */

typedef struct image {
    char data[40000];
    size_t size;
    bool big_endian;
} image;

static void put_integer(image *to, uint64_t value, int n) {
    assert_true(to->size + (size_t)n <= sizeof to->data);
    for (int i = 0; i < n; i++) to->data[to->size++] = (char)(value >> 8 * (to->big_endian ? n - 1 - i : i) & 0xff);
}

static void put_ids(image *to, int n, ...) {
    va_list args;
    va_start(args, n);
    for (int i = 0; i < n; i++) put_integer(to, (uint64_t)(int64_t)va_arg(args, int), 8);
    va_end(args);
}

static void put_reals(image *to, int n, ...) {
    va_list args;
    va_start(args, n);
    for (int i = 0; i < n; i++) {
        double real = va_arg(args, double);
        uint64_t bits;
        memcpy(&bits, &real, sizeof bits);
        put_integer(to, bits, 8);
    }
    va_end(args);
}

static void put_text(image *to, const char *text) {
    put_integer(to, strlen(text), 4);
    memcpy(to->data + to->size, text, strlen(text));
    to->size += strlen(text);
}

static image head(bool big_endian) {
    image to = {.big_endian = big_endian};
    put_integer(&to, 1, 2);
    put_text(&to, "EXTRAP_EXPERIMENT");
    put_text(&to, "1.0");
    return to;
}

static void put_region(image *to, int id, const char *name, const char *file, int line) {
    put_text(to, "Region");
    put_ids(to, 1, id);
    put_text(to, name);
    put_text(to, file);
    put_ids(to, 1, line);
}

static void put_callpath(image *to, int id, int region, int parent) {
    put_text(to, "Callpath");
    put_ids(to, 3, id, region, parent);
}

/* One factor: a compound term of one simple term. */
static void put_term(image *to, double coefficient, const char *kind, double exponent) {
    put_text(to, "CompoundTerm");
    put_reals(to, 1, coefficient);
    put_ids(to, 1, 1);
    put_text(to, "SimpleTerm");
    put_text(to, kind);
    put_reals(to, 1, exponent);
}

static void put_options(image *to) {
    put_ids(to, 1, 5);
    put_text(to, "FIRST_POINTS_FOUND");
    put_ids(to, 2, 0, 0);
    put_text(to, "INCREASING_COST");
}

static void put_measurement(image *to, int coordinate, int metric, int callpath, double mean) {
    put_text(to, "ExperimentPoint");
    put_ids(to, 2, coordinate, 5);
    put_reals(to, 9, mean, mean - 1, mean + 1, 0.5, mean + 2, mean - 3, mean + 3, mean - 4, mean + 4);
    put_ids(to, 2, metric, callpath);
}

/* Parameters p and q, one metric, three regions of which two have one name, two points. */
static image definitions(bool big_endian) {
    image to = head(big_endian);
    put_text(&to, "Parameter");
    put_ids(&to, 1, 0);
    put_text(&to, "p");
    put_text(&to, "Parameter");
    put_ids(&to, 1, 1);
    put_text(&to, "q");
    put_text(&to, "Metric");
    put_ids(&to, 1, 0);
    put_text(&to, "time");
    put_text(&to, "sec");
    put_region(&to, 7, "main", "main.c", 12);
    put_region(&to, 8, "f", "", -1);
    put_region(&to, 9, "f", "g.c", 4);
    put_callpath(&to, 20, 7, -1);
    put_callpath(&to, 21, 8, 20);
    put_callpath(&to, 22, 9, 20);
    for (int i = 0; i < 2; i++) {
        put_text(&to, "Coordinate");
        put_ids(&to, 2, i, 2);
        put_text(&to, "q"); /* not in the order of the parameters */
        put_reals(&to, 1, 10.0 * (i + 1));
        put_text(&to, "p");
        put_reals(&to, 1, 1.0 * (i + 1));
    }
    return to;
}

/* Two generators, the first without models; one model of each kind of function. */
static void put_models(image *to, bool has_options) {
    put_text(to, "ModelComment");
    put_ids(to, 1, 3);
    put_text(to, "a large error");
    put_text(to, "SingleParameterSimpleModelGenerator");
    put_text(to, "unused");
    put_text(to, "CROSSVALIDATION_NONE");
    put_reals(to, 1, 0.05);
    put_text(to, "GENERATE_MODEL_MEAN");
    if (has_options) put_options(to);
    put_ids(to, 1, 1);
    put_term(to, 1, "logarithm", 1);
    put_ids(to, 1, 1);
    put_text(to, "MultiParameterSimpleModelGenerator");
    put_text(to, "Default Model");
    put_text(to, "GENERATE_MODEL_MEDIAN");
    if (has_options) put_options(to);
    put_text(to, "Model");
    put_ids(to, 3, 0, 21, 1);
    put_text(to, "MultiParameterFunction");
    put_reals(to, 1, 8.0);
    put_ids(to, 1, 1);
    put_reals(to, 1, -0.5);
    put_ids(to, 1, 2);
    put_text(to, "q");
    put_term(to, 1, "polynomial", 1.25);
    put_text(to, "p");
    put_term(to, 2, "logarithm", 1);
    put_text(to, "SimpleTerm"); /* the upper bound of the confidence interval */
    put_text(to, "polynomial");
    put_reals(to, 1, 2.0);
    for (int i = 0; i < 5; i++) put_text(to, "Function");
    put_reals(to, 3, 72.5, 0.75, 19.25);
    if (has_options) put_reals(to, 1, 0.125);
    put_ids(to, 2, 1, 3);
    put_ids(to, 1, 1);
    put_text(to, "p");
    put_ids(to, 1, 1);
    put_reals(to, 2, 1.0, 4.5);
}

static image whole(bool big_endian, bool has_options) {
    image to = definitions(big_endian);
    put_models(&to, has_options);
    for (int point = 0; point < 2; point++) {
        put_measurement(&to, point, 0, 20, 10 + point);
        put_measurement(&to, point, 0, 21, 20 + point);
        put_measurement(&to, point, 0, 22, 30 + point);
    }
    return to;
}

static assay_status read_image(const image *from, size_t size, as_dataset **ds, assay_error *error) {
    as_read_config config = {.format = "extrap-3"};
    char *copy = malloc(size + 1); /* so that a sanitizer sees reads behind the end */
    memcpy(copy, from->data, size);
    assay_status status = as_read_memory("old", copy, size, &config, ds, error);
    free(copy);
    return status;
}

static as_dataset *read_whole(const image *from) {
    as_dataset *ds = NULL;
    assay_error error;
    if (read_image(from, from->size, &ds, &error) != ASSAY_OK) fail_msg("%s: %s", error.rule, error.message);
    return ds;
}

static void refused(const image *from, const char *rule, int64_t offset) {
    as_dataset *ds;
    assay_error error = {.code = ASSAY_OK};
    assay_status status = read_image(from, from->size, &ds, &error);
    if (status != ASSAY_E_FORMAT || strcmp(error.rule, rule) != 0)
        fail_msg("expected %s, got %d %s: %s", rule, status, error.rule, error.message);
    assert_string_equal(error.path, "old");
    if (offset != error.offset)
        fail_msg("%s: expected byte %lld, got %lld", rule, (long long)offset, (long long)error.offset);
}

static void same_real(double expected, double got) {
    if (isnan(expected) ? !isnan(got) : expected != got) fail_msg("expected %g, got %g", expected, got);
}

/* ---- whole files ------------------------------------------------------------------------------------------------- */

static void check_structure(const as_dataset *ds) {
    assert_string_equal(as_ds_text(ds, ds->format_version), "1.0");
    assert_int_equal(as_ds_parameters(ds), 2);
    assert_int_equal(ds->n_points, 2);
    same_real(2, as_ds_point(ds, 1)[0]);
    same_real(20, as_ds_point(ds, 1)[1]);
    assert_int_equal(ds->metrics.count, 1);
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->unit), "sec");
    static const char *const names[] = {"main", "f", "f #1"};
    static const char *const ids[] = {"20", "21", "22"};
    assert_int_equal(ds->contexts.count, 3);
    for (assay_id i = 0; i < 3; i++) {
        assert_string_equal(as_ds_text(ds, as_ds_context(ds, i)->name), names[i]);
        assert_string_equal(as_ds_text(ds, as_ds_context(ds, i)->source_id), ids[i]);
        assert_true(as_ds_context(ds, i)->is_callpath);
    }
    assert_int_equal(as_ds_context(ds, 2)->parent, 0);
    const as_region *region = as_ds_region(ds, 2);
    assert_string_equal(as_ds_text(ds, region->file), "g.c");
    assert_int_equal(region->line_begin, 4);
    assert_true(as_ds_region(ds, 1)->file == AS_NO_STR);
    assert_int_equal(as_ds_region(ds, 1)->line_begin, -1);
}

static void check_measurements(const as_dataset *ds) {
    assert_int_equal(ds->measurements.count, 6);
    assert_int_equal(as_ds_values(ds), 0);
    const as_measurement *m =
        as_ds_measurement(ds, as_ds_series(ds, 2)->first_measurement + 1); /* "f #1" at the second point */
    assert_int_equal(m->context, 2);
    assert_int_equal(m->point, 1);
    assert_int_equal(m->repetitions, 5);
    same_real(31, m->mean);
    same_real(33, m->median);
    same_real(27, m->minimum);
    same_real(35, m->maximum);
    same_real(0.5, m->std);
    const as_table *records = as_ds_records(ds, "record");
    assert_int_equal(as_table_rows(records), 6);
    same_real(30, as_table_get(records, 5, as_table_find_column(records, "mean_ci_low")).r);
    same_real(32, as_table_get(records, 5, as_table_find_column(records, "mean_ci_high")).r);
    same_real(28, as_table_get(records, 5, as_table_find_column(records, "median_ci_low")).r);
    same_real(34, as_table_get(records, 5, as_table_find_column(records, "median_ci_high")).r);
    assert_int_equal(as_table_get(records, 5, as_table_find_column(records, "context")).i, 2);
}

static void check_models(const as_dataset *ds, bool has_options) {
    assert_int_equal(ds->model_sets.count, 1);
    const as_model_set *set = as_ds_model_set(ds, 0);
    assert_string_equal(as_ds_text(ds, set->name), "Default Model");
    assert_string_equal(as_ds_text(ds, set->measure), "median");
    assert_string_equal(as_ds_text(ds, set->modeler), "multi-parameter");
    assert_int_equal(ds->models.count, 1);
    const as_model *model = as_ds_model(ds, 0);
    assert_int_equal(model->set, 0);
    assert_int_equal(model->context, 1);
    assert_function(ds, model, "8.0 + -1.0 * q^(1.25) * log2(p)^(1)");
    same_real(72.5, model->RSS);
    same_real(0.75, model->AR2);
    same_real(19.25, model->SMAPE);
    same_real(has_options ? 0.125 : NAN, model->RE);
    same_real(NAN, model->rRSS);
    const as_table *details = as_ds_records(ds, "model_attribute");
    static const char *const values[][2] = {
        {"confidence_upper", "p^(2)"}, {"comment", "a large error"}, {"p", "[1, 4.5]"}};
    assert_int_equal(as_table_rows(details), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(as_table_get(details, i, as_table_find_column(details, "key")).text, values[i][0]);
        assert_string_equal(as_table_get(details, i, as_table_find_column(details, "value")).text, values[i][1]);
    }
    assert_string_equal(as_ds_text(ds, as_ds_attribute(ds, 0)->key), "ModelComment:3");
}

static void both_byte_orders_are_read(void **state) {
    (void)state;
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        for (int has_options = 0; has_options < 2; has_options++) {
            image from = whole(big_endian, has_options);
            as_dataset *ds = read_whole(&from);
            check_structure(ds);
            check_measurements(ds);
            check_models(ds, has_options);
            assert_int_equal(ds->problems.count, 0);
            as_dataset_free(ds);
        }
    }
}

static void arrows_in_names_split_them(void **state) {
    (void)state;
    image from = definitions(false);
    put_region(&from, 1, "operator->", "", -1);
    put_region(&from, 2, "f #1", "", -1); /* taken by the second "f" */
    put_callpath(&from, 30, 1, 20);
    put_callpath(&from, 31, 2, 20);
    put_measurement(&from, 0, 0, 30, 1);
    as_dataset *ds = read_whole(&from);
    as_vec path;
    as_vec_init(&path, 1, NULL);
    static const char *const paths[] = {"main",           "main->f",          "main->f #1",
                                        "main->operator", "main->operator->", "main->f #1 #1"};
    assert_int_equal(ds->contexts.count, 6);
    for (assay_id i = 0; i < 6; i++) {
        assert_true(as_context_path(ds, i, &path));
        assert_string_equal(path.data, paths[i]);
    }
    as_vec_free(&path);
    as_dataset_free(ds);
}

/* What .extra-p files have a place for survives the way there. */
static void everything_goes_into_an_experiment(void **state) {
    (void)state;
    image from = whole(false, true);
    as_dataset *ds = read_whole(&from), *again = NULL;
    as_output *out = as_output_to_memory();
    assay_error error;
    const as_format *format = as_format_find("extrap-experiment");
    if (as_write(ds, format, NULL, 0, out, &error) != ASSAY_OK) fail_msg("%s", error.message);
    size_t size;
    const char *data = as_output_memory(out, &size);
    as_read_config config = {.format = format->name};
    if (as_read_memory("new", data, size, &config, &again, &error) != ASSAY_OK) fail_msg("%s", error.message);
    check_measurements(again);
    assert_string_equal(as_ds_text(again, again->format_version), "4.2.5");
    assert_string_equal(as_ds_text(again, as_ds_metric(again, 0)->unit), "sec");
    assert_function(again, as_ds_model(again, 0), "8.0 + -1.0 * q^(1.25) * log2(p)^(1)");
    same_real(0.125, as_ds_model(again, 0)->RE);
    assert_string_equal(as_ds_text(again, as_ds_model_set(again, 0)->raw), as_ds_text(ds, as_ds_model_set(ds, 0)->raw));
    assert_string_equal(as_ds_text(again, as_ds_region(again, as_ds_context(again, 2)->region)->file), "g.c");
    assert_string_equal(as_ds_text(again, as_ds_attribute(again, 0)->key), "ModelComment:3");
    as_losses losses;
    as_losses_init(&losses);
    as_find_losses(ds, format, &losses);
    assert_int_equal(losses.texts.count, 1); /* comments and intervals of models */
    assert_string_equal(AS_AT(char *, &losses.texts, 0), "3 records that belong to no single measurement");
    as_losses_free(&losses);
    as_dataset_free(again);
    as_output_discard(out);
    as_dataset_free(ds);
}

/* ---- damaged files ----------------------------------------------------------------------------------------------- */

static void unknown_ids_are_refused(void **state) {
    (void)state;
    image start = definitions(false), from = start;
    put_callpath(&from, 30, 99, -1);
    refused(&from, "unknown-id", (int64_t)from.size);
    from = start;
    put_callpath(&from, 30, 7, 31); /* a parent that comes later */
    refused(&from, "unknown-id", (int64_t)from.size);
    from = start;
    put_callpath(&from, 30, 7, 30); /* its own parent */
    refused(&from, "unknown-id", (int64_t)from.size);
    for (int i = 0; i < 3; i++) {
        from = start;
        put_measurement(&from, i == 0 ? 2 : 0, i == 1 ? 1 : 0, i == 2 ? 23 : 20, 1);
        refused(&from, "unknown-id", (int64_t)from.size);
    }
    from = start;
    put_text(&from, "Coordinate");
    put_ids(&from, 2, 5, 1);
    int64_t at = (int64_t)from.size;
    put_text(&from, "r");
    put_reals(&from, 1, 1.0);
    refused(&from, "unknown-parameter", at);
    from = start;
    put_text(&from, "Model");
    at = (int64_t)from.size;
    put_ids(&from, 3, 0, 20, 0);
    refused(&from, "unknown-id", at);
}

static void parameters_have_a_limit(void **state) {
    (void)state;
    image from = head(false);
    for (int i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        put_text(&from, "Parameter");
        put_ids(&from, 1, i);
        put_text(&from, name);
    }
    put_text(&from, "Parameter");
    int64_t at = (int64_t)from.size;
    put_ids(&from, 1, 1000);
    put_text(&from, "q");
    refused(&from, "too-many-parameters", at);
}

static void wrong_coordinates_are_refused(void **state) {
    (void)state;
    image start = definitions(false), from = start;
    put_text(&from, "Coordinate");
    int64_t at = (int64_t)from.size;
    put_ids(&from, 2, 5, 1);
    put_text(&from, "p");
    put_reals(&from, 1, 1.0);
    refused(&from, "coordinate-count", at);
    from = start;
    put_text(&from, "Coordinate");
    put_ids(&from, 2, 5, 2);
    for (int i = 0; i < 2; i++) {
        put_text(&from, "p");
        put_reals(&from, 1, 1.0);
    }
    refused(&from, "coordinate-count", at);
    from = start;
    put_text(&from, "Parameter");
    at = (int64_t)from.size;
    put_ids(&from, 1, 3);
    put_text(&from, "late");
    refused(&from, "late-parameter", at);
}

static void absurd_counts_are_refused_at_once(void **state) {
    (void)state;
    image start = definitions(true), from = start;
    put_text(&from, "Coordinate");
    put_ids(&from, 1, 5);
    int64_t at = (int64_t)from.size;
    put_integer(&from, (uint64_t)1 << 60, 8);
    refused(&from, "absurd-count", at);
    from = start;
    put_models(&from, false);
    put_text(&from, "Model");
    put_ids(&from, 3, 0, 21, 1);
    put_text(&from, "SingleParameterFunction");
    put_reals(&from, 1, 1.0);
    at = (int64_t)from.size;
    put_integer(&from, (uint64_t)1 << 60, 8);
    refused(&from, "absurd-count", at);
    from.size = (size_t)at;
    put_ids(&from, 1, -1);
    refused(&from, "absurd-count", at);
    from = start;
    at = (int64_t)from.size;
    put_integer(&from, UINT32_MAX, 4); /* the kind of a record, of four gigabytes */
    refused(&from, "truncated", at);
}

static void unknown_words_are_refused(void **state) {
    (void)state;
    image from = definitions(false);
    int64_t at = (int64_t)from.size;
    put_text(&from, "Foo");
    refused(&from, "unknown-record", at);
    from.size = (size_t)at;
    put_text(&from, "");
    refused(&from, "unknown-record", at);
    from.size = (size_t)at;
    put_region(&from, 50, "bad \xff name", "", 1);
    refused(&from, "invalid-utf8", at + 4 + 6 + 8);
    from.data[at + 4 + 6 + 8 + 4 + 4] = 0; /* the byte 0xff of the name */
    refused(&from, "nul-byte", at + 4 + 6 + 8);
    from.size = (size_t)at;
    put_models(&from, true);
    put_text(&from, "Model");
    put_ids(&from, 3, 0, 21, 1);
    at = (int64_t)from.size;
    put_text(&from, "Bar");
    refused(&from, "unknown-function", at);
}

static void a_file_must_say_something(void **state) {
    (void)state;
    image from = head(false);
    refused(&from, "no-parameters", -1);
    from = head(false);
    from.data[10] = 'x';
    refused(&from, "wrong-magic", 0);
    from.size = 0;
    refused(&from, "wrong-magic", 0);
    from = definitions(false);
    put_text(&from, "Coordinate"); /* fine so far, but for a coordinate of nothing */
    put_ids(&from, 2, 9, 0);
    refused(&from, "coordinate-count", (int64_t)from.size - 16);
}

/* A coordinate of no parameters, of which there are none, was once added as a point. */
static void a_point_needs_parameters(void **state) {
    (void)state;
    as_dataset *ds = NULL;
    assay_error error = {.code = ASSAY_OK};
    assert_int_equal(as_read(TEST_DATA "/extrap-3-coordinate-of-nothing", NULL, &ds, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.rule, "no-parameters");
    assert_int_equal(error.offset, 41);
}

static void files_cut_anywhere_end_orderly(void **state) {
    (void)state;
    image from = whole(false, true);
    size_t refusals = 0, records = 0;
    for (size_t n = 0; n < from.size; n++) {
        as_dataset *ds = NULL;
        assay_error error = {.code = ASSAY_OK};
        if (read_image(&from, n, &ds, &error) == ASSAY_OK) {
            records++;
            as_dataset_free(ds);
            continue;
        }
        assert_int_equal(error.code, ASSAY_E_FORMAT);
        refusals++;
    }
    assert_int_equal(refusals + records, from.size);
    /* Cuts behind a record, from the first point on: 2 coordinates, comment, 2 generators, model, 5 measurements; and
     * one generator before its options, which it need not have. */
    assert_int_equal(records, 12);
}

/* Memory that ends at any moment is told, and all of it given back. */
static void every_allocation_may_fail(void **state) {
    (void)state;
    image from = whole(false, true);
    size_t failures = 0;
    for (uint64_t limit = 64; limit < 1 << 18; limit += limit / 16) {
        as_read_config config = {.format = "extrap-3", .memory_limit = limit};
        as_dataset *ds = NULL;
        assay_error error = {.code = ASSAY_OK};
        assay_status status = as_read_memory("old", from.data, from.size, &config, &ds, &error);
        assert_true(status == ASSAY_OK || status == ASSAY_E_NOMEM);
        failures += status != ASSAY_OK;
        as_dataset_free(ds);
    }
    assert_true(failures > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_byte_orders_are_read),
        cmocka_unit_test(arrows_in_names_split_them),
        cmocka_unit_test(everything_goes_into_an_experiment),
        cmocka_unit_test(unknown_ids_are_refused),
        cmocka_unit_test(parameters_have_a_limit),
        cmocka_unit_test(wrong_coordinates_are_refused),
        cmocka_unit_test(absurd_counts_are_refused_at_once),
        cmocka_unit_test(unknown_words_are_refused),
        cmocka_unit_test(a_file_must_say_something),
        cmocka_unit_test(a_point_needs_parameters),
        cmocka_unit_test(files_cut_anywhere_end_orderly),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
