/* Extra-P experiments: nothing is lost in writing, and damaged files end orderly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment_files.h"

/* ---- nothing is lost --------------------------------------------------------------------------------------------- */

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

/* 250 further members: a hundred have columns, the rest stand together. Names that the table needs for itself come
 * back, too. */
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
    assert_int_equal(as_write(ds, as_format_find(FORMAT), NULL, 0, out, NULL), ASSAY_OK);
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
    assert_int_equal(as_write(ds, as_format_find(FORMAT), NULL, 0, out, &error), ASSAY_E_UNSUPPORTED);
    as_output_discard(out);
    as_dataset_free(ds);
}

static void what_cannot_be_held_is_told(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    assay_error error;
    as_output *out = as_output_to_memory();
    assert_int_equal(as_write(ds, as_format_find(FORMAT), NULL, 0, out, &error), ASSAY_E_UNSUPPORTED);
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
    assert_int_equal(as_write(ds, as_format_find(FORMAT), NULL, 0, out, &error), ASSAY_E_NOMEM);
    as_output_discard(out);
    as_dataset_free(ds);
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

static as_output *zip_of_one_value(void) {
    file f = file_of(ONE("\"values\":[0,0]"));
    put_u64(&f.indx, 1);
    put_u64(&f.indx, f.vals.size);
    put_array(&f.vals, "<f8", "False", "(1,)");
    put_real(&f.vals, 1);
    return zip_of(&f);
}

static void files_cut_anywhere_are_refused(void **state) {
    (void)state;
    as_output *zip = zip_of_one_value();
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

/* Every byte of an archive made 0 and made 255 in turn: sizes of terabytes, offsets behind the end, wrong names, wrong
 * sums. */
static void damaged_archives_end_orderly(void **state) {
    (void)state;
    as_output *zip = zip_of_one_value();
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
