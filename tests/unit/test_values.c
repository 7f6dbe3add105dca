/* Types of values, and slices of profiles and blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "blocks.h"

static as_value_type parse(const char *text) {
    as_value_type type = {0};
    if (!as_value_type_parse(text, strlen(text), &type)) fail_msg("%s is no type", text);
    return type;
}

static void cube_words_are_types(void **state) {
    (void)state;
    static const struct {
        const char *word;
        as_dtype dtype;
        uint32_t size, n_parts;
    } words[] = {{"CHAR", AS_DTYPE_UINT8, 1, 1},
                 {"INT8", AS_DTYPE_INT8, 1, 1},
                 {"SHORT INT", AS_DTYPE_INT16, 2, 1},
                 {"SIGNED SHORT INT", AS_DTYPE_INT16, 2, 1},
                 {"UNSIGNED SHORT INT", AS_DTYPE_UINT16, 2, 1},
                 {"INT", AS_DTYPE_INT32, 4, 1},
                 {"UNSIGNED INT", AS_DTYPE_UINT32, 4, 1},
                 {"INTEGER", AS_DTYPE_INT64, 8, 1},
                 {"UNSIGNED INTEGER", AS_DTYPE_UINT64, 8, 1},
                 {"FLOAT", AS_DTYPE_DOUBLE, 8, 1},
                 {" double ", AS_DTYPE_DOUBLE, 8, 1},
                 {"MINDOUBLE", AS_DTYPE_MINDOUBLE, 8, 1},
                 {"COMPLEX", AS_DTYPE_COMPLEX, 16, 2},
                 {"RATE", AS_DTYPE_RATE, 16, 2},
                 {"TAU_ATOMIC", AS_DTYPE_TAU_ATOMIC, 36, 5},
                 {"NDOUBLES(3)", AS_DTYPE_NDOUBLES, 24, 3},
                 {"HISTOGRAM(4)", AS_DTYPE_HISTOGRAM, 48, 6}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        as_value_type type = parse(words[i].word);
        assert_int_equal(type.dtype, words[i].dtype);
        assert_int_equal(type.size, words[i].size);
        assert_int_equal(type.n_parts, words[i].n_parts);
    }
    static const char *const others[] = {
        "",           "DOUBLES",         "NDOUBLES",         "NDOUBLES()", "NDOUBLES(0)", "NDOUBLES(-1)",
        "NDOUBLES(3", "NDOUBLES(65537)", "HISTOGRAM(65535)", /* with its ends that would be one too many */
        "SCALE_FUNC", "OPAQUE",          "INT64 X"};
    as_value_type type;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(as_value_type_parse(others[i], strlen(others[i]), &type));
    assert_int_equal(parse("NDOUBLES(65536)").n_parts, AS_MAX_PARTS);
    assert_int_equal(parse("HISTOGRAM(65534)").n_parts, AS_MAX_PARTS);
}

static void parts_of_a_packed_value(void **state) {
    (void)state;
    char value[37]; /* one byte off: no type may ask for an aligned address */
    uint32_t n = 3;
    double rest[] = {1.5, 4, 9, 33};
    memcpy(value + 1, &n, 4);
    memcpy(value + 5, rest, 32);
    as_value_type type = parse("TAU_ATOMIC");
    assert_int_equal(as_part_get(type, value + 1, 0).i, 3);
    assert_true(as_part_real(type, value + 1, 1) == 1.5);
    assert_true(as_part_real(type, value + 1, 4) == 33);
    as_vec text;
    as_vec_init(&text, 1, NULL);
    assert_true(as_value_text(type, value + 1, &text) && as_vec_append(&text, "", 1));
    assert_string_equal(text.data, "[3,1.5,4,9,33]");
    text.count = 0;
    assert_true(as_parts_text((double[]){INFINITY, NAN}, 2, &text) && as_vec_append(&text, "", 1));
    assert_string_equal(text.data, "[\"inf\",\"nan\"]");
    as_vec_free(&text);
    double parts[] = {3, 1.5, 4, 9, 33};
    assert_true(as_parts_shown(AS_DTYPE_TAU_ATOMIC, parts, 5) == 3);
    assert_true(as_parts_shown(AS_DTYPE_COMPLEX, (double[]){3, 4}, 2) == 5);
    assert_true(as_parts_shown(AS_DTYPE_RATE, (double[]){3, 4}, 2) == 0.75);
    assert_true(as_parts_shown(AS_DTYPE_HISTOGRAM, (double[]){-9, 9, 1, 2, 3}, 5) == 6);
    assert_int_equal(as_part_rule_of(AS_DTYPE_TAU_ATOMIC, 1), AS_PART_MINIMUM);
    assert_int_equal(as_part_rule_of(AS_DTYPE_HISTOGRAM, 1), AS_PART_MAXIMUM);
    assert_int_equal(as_part_rule_of(AS_DTYPE_HISTOGRAM, 2), AS_PART_ADD);
}

static void narrow_numbers_widen(void **state) {
    (void)state;
    int64_t wide[2];
    as_values_widen(parse("INT8"), (char[]){-5, 7}, 2, 0, wide);
    assert_int_equal(wide[0], -5);
    as_values_widen(parse("UINT32"), (uint32_t[]){4294967295u, 7}, 2, 0, wide);
    assert_int_equal(wide[0], 4294967295);
    double reals[2];
    as_values_widen(parse("COMPLEX"), (double[]){1, 2, 3, 4}, 2, 1, reals);
    assert_true(reals[0] == 2 && reals[1] == 4);
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

/* Context numbers 0 … 4 below each other's names do not matter here. */
static as_dataset *make_dataset(void) {
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, ds);
    static const char *const paths[] = {"a", "a->b", "a->c", "a->d", "e"};
    for (size_t i = 0; i < 5; i++) as_tree_path(&tree, paths[i], strlen(paths[i]));
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    as_metric metric = AS_METRIC_INIT;
    metric.kind = AS_KIND_EXCLUSIVE;
    for (int i = 0; i < 2; i++) as_add_metric(ds, &metric);
    as_add_run(ds, &AS_RUN_INIT);
    return ds;
}

typedef struct counted_source {
    as_profile_source base;
    int loads;
    bool fails;
} counted_source;

static const assay_id contexts[] = {0, 2, 4}, columns[] = {7, 9};
static const uint32_t rows[] = {2, 0, 1}; /* the file's order */
static const double stored[] = {10, 20, 100, 200, 1, 2};

static assay_status load(as_profile_source *source, as_dataset *ds, as_profile *profile, unsigned threads,
                         assay_error *error) {
    (void)ds;
    (void)threads;
    counted_source *counted = (counted_source *)(void *)source;
    counted->loads++;
    if (counted->fails) return as_fail(error, ASSAY_E_FORMAT, as_place_file("x.cubex"), "broken", "is broken");
    profile->contexts = contexts;
    profile->rows = rows;
    profile->values = (const char *)stored;
    return ASSAY_OK;
}

static void add_profile(as_dataset *ds, counted_source *source) {
    as_profile profile = {.n_rows = 3, .n_columns = 2, .columns = columns, .source = &source->base};
    profile.type = as_value_type_of(AS_DTYPE_DOUBLE, 0);
    assert_true(as_add_profile(ds, &profile));
}

static double cell(const as_slice *slice, uint32_t i, uint32_t column) {
    return as_part_real(slice->view.type, as_profile_row(&slice->view, i) + column * slice->view.type.size, 0);
}

static void a_profile_is_decoded_once_and_when_asked(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    counted_source source = {.base = {load}};
    add_profile(ds, &source);
    assert_int_equal(as_ds_values(ds), 6);
    assert_int_equal(source.loads, 0);
    as_slice slice;
    assay_error error;
    assert_int_equal(as_slice_open_all(ds, 0, 0, &slice, &error), ASSAY_OK);
    assert_int_equal(slice.view.n_rows, 3);
    assert_true(cell(&slice, 0, 0) == 1 && cell(&slice, 0, 1) == 2);
    assert_true(cell(&slice, 1, 0) == 10 && cell(&slice, 2, 1) == 200);
    as_slice_close(&slice);
    assert_int_equal(as_slice_open(ds, 0, 0, 1, 3, &slice, &error), ASSAY_OK); /* contexts 1 … 3 */
    assert_int_equal(slice.view.n_rows, 1);
    assert_int_equal(slice.view.contexts[0], 2);
    assert_true(cell(&slice, 0, 1) == 20);
    as_slice_close(&slice);
    assert_int_equal(as_ds_load(ds, ASSAY_NONE, &error), ASSAY_OK);
    assert_int_equal(source.loads, 1);
    assert_int_equal(as_profile_find(as_ds_profile(ds, 0, 0), 4), 2);
    assert_int_equal(as_profile_find(as_ds_profile(ds, 0, 0), 3), UINT32_MAX);
    assert_null(as_ds_profile(ds, 1, 0));
    as_dataset_free(ds);
}

static void damage_is_an_error_of_who_asks(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    counted_source source = {.base = {load}, .fails = true};
    add_profile(ds, &source);
    as_slice slice;
    assay_error error;
    assert_int_equal(as_slice_open_all(ds, 0, 0, &slice, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.path, "x.cubex");
    as_slice_close(&slice);
    assert_int_equal(as_slice_open_all(ds, 1, 0, &slice, &error), ASSAY_OK); /* another metric is not touched */
    assert_int_equal(slice.view.n_rows, 0);
    as_slice_close(&slice);
    as_dataset_free(ds);
}

static void a_block_gives_the_same_view(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    as_add_run(ds, &AS_RUN_INIT);
    /* run 0 has locations 3 and 5, not everywhere; run 1 something else */
    static const row block_rows[] = {{0, 0, 5, {4}}, {0, 1, 3, {100}}, {2, 0, 3, {1}}, {2, 0, 5, {2}}, {3, 1, 3, {9}}};
    add_block(ds, 1, ASSAY_NONE, AS_DTYPE_INT64, block_rows, 5);
    as_slice slice;
    assay_error error;
    assert_int_equal(as_slice_open_all(ds, 1, 0, &slice, &error), ASSAY_OK);
    assert_int_equal(slice.view.n_rows, 2);
    assert_int_equal(slice.view.n_columns, 2);
    assert_int_equal(slice.view.columns[0], 3);
    assert_int_equal(slice.view.columns[1], 5);
    assert_int_equal(slice.view.contexts[1], 2);
    assert_true(cell(&slice, 0, 0) == 0 && cell(&slice, 0, 1) == 4);
    assert_true(cell(&slice, 1, 0) == 1 && cell(&slice, 1, 1) == 2);
    as_slice_close(&slice);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cube_words_are_types),           cmocka_unit_test(parts_of_a_packed_value),
        cmocka_unit_test(narrow_numbers_widen),           cmocka_unit_test(a_profile_is_decoded_once_and_when_asked),
        cmocka_unit_test(damage_is_an_error_of_who_asks), cmocka_unit_test(a_block_gives_the_same_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
