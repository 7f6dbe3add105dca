#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cube_files.h"

/* r0 ( r1 ( r2 r3 ) r4 ( r5 ) ) and a second root r6 ( r7 ). INCLUSIVE rows are numbered by handing out numbers to all
 * children at once: 0 gets 0; 1 and 4 get 1 and 2; 2 and 3 get 3 and 4; 5 gets 5; 6 gets 6, 7 gets 7. */
static const char TREE[] = "0(1(2()3())4(5()))6(7())";
static const double EIGHT[] = {1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60, 7, 70, 8, 80}; /* rows of two */

/* A file of one metric on TREE at two locations. Frees index and data. */
static as_dataset *read_one(const char *dtype, const char *type, as_vec index, as_vec data) {
    char metric[200];
    snprintf(metric, sizeof metric, METRIC("7", "v", "%s", "%s"), type, dtype); /* type comes first in it */
    archive file = begin_archive();
    add_bytes(&file, "7.index", index);
    add_bytes(&file, "7.data", data);
    add_anchor(&file, make_anchor(metric, TREE, 2));
    return read_archive(&file);
}

static void exclusive_rows_are_in_pre_order(void **state) {
    (void)state;
    as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", make_full_index(8), make_reals(false, 16, EIGHT));
    assert_int_equal(as_ds_values(ds), 16);
    assert_values(ds, 0, "0: 1 10\n1: 2 20\n2: 3 30\n3: 4 40\n4: 5 50\n5: 6 60\n6: 7 70\n7: 8 80\n");
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
}

static void inclusive_rows_are_numbered_wide(void **state) {
    (void)state;
    static const char *const types[] = {"INCLUSIVE", "SIMPLE"};
    for (size_t i = 0; i < 2; i++) {
        as_dataset *ds = read_one("DOUBLE", types[i], make_full_index(8), make_reals(false, 16, EIGHT));
        assert_values(ds, 0, "0: 1 10\n1: 2 20\n2: 4 40\n3: 5 50\n4: 3 30\n5: 6 60\n6: 7 70\n7: 8 80\n");
        as_dataset_free(ds);
    }
}

static void sparse_inclusive_rows(void **state) {
    (void)state;
    as_dataset *ds = read_one("DOUBLE", "INCLUSIVE", make_index(false, SPARSE, 3, (uint32_t[]){2, 3, 7}),
                              make_reals(false, 6, EIGHT));
    assert_int_equal(as_ds_values(ds), 6);
    assert_values(ds, 0, "2: 2 20\n4: 1 10\n7: 3 30\n");
    as_dataset_free(ds);
}

static void dense_index_has_all_rows(void **state) {
    (void)state;
    as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", make_index(false, DENSE, 0, NULL), make_reals(false, 16, EIGHT));
    assert_values(ds, 0, "0: 1 10\n1: 2 20\n2: 3 30\n3: 4 40\n4: 5 50\n5: 6 60\n6: 7 70\n7: 8 80\n");
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
}

static void index_need_not_be_sorted(void **state) {
    (void)state;
    as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", make_index(false, SPARSE, 3, (uint32_t[]){6, 0, 3}),
                              make_reals(false, 6, EIGHT));
    assert_values(ds, 0, "0: 2 20\n3: 3 30\n6: 1 10\n");
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
}

static void of_two_equal_entries_the_last_counts(void **state) {
    (void)state;
    for (int sorted = 0; sorted < 2; sorted++) {
        as_vec index = make_index(false, SPARSE, 3, sorted ? (uint32_t[]){0, 6, 6} : (uint32_t[]){6, 0, 6});
        as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", index, make_reals(false, 6, EIGHT));
        assert_int_equal(as_ds_values(ds), 4);
        assert_values(ds, 0, sorted ? "0: 1 10\n6: 3 30\n" : "0: 2 20\n6: 3 30\n");
        assert_int_equal(count_problems(ds, "index-entry", NULL), 1);
        as_dataset_free(ds);
    }
}

static void entries_beyond_the_tree_are_reported(void **state) {
    (void)state;
    as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", make_index(false, SPARSE, 3, (uint32_t[]){1, 8, 4000000000u}),
                              make_reals(false, 6, EIGHT));
    assert_int_equal(as_ds_values(ds), 2);
    assert_values(ds, 0, "1: 1 10\n");
    assert_int_equal(count_problems(ds, "index-entry", NULL), 1);
    as_dataset_free(ds);
    ds = read_one("DOUBLE", "EXCLUSIVE", make_index(false, SPARSE, 2, (uint32_t[]){1, 8}),
                  make_reals(false, 4, EIGHT)); /* just beyond */
    assert_int_equal(as_ds_values(ds), 2);
    assert_values(ds, 0, "1: 1 10\n");
    as_dataset_free(ds);
}

static void what_there_is_of_short_data_is_read(void **state) {
    (void)state;
    /* Two rows and a half of three; then three and a bit. */
    as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", make_full_index(3), make_reals(false, 5, EIGHT));
    assert_int_equal(as_ds_values(ds), 4);
    assert_values(ds, 0, "0: 1 10\n1: 2 20\n");
    assert_int_equal(count_problems(ds, "data-size", NULL), 1);
    as_dataset_free(ds);
    ds = read_one("DOUBLE", "EXCLUSIVE", make_full_index(3), make_reals(false, 7, EIGHT));
    assert_values(ds, 0, "0: 1 10\n1: 2 20\n2: 3 30\n");
    assert_int_equal(count_problems(ds, "data-size", NULL), 1);
    as_dataset_free(ds);
    ds = read_one("DOUBLE", "EXCLUSIVE", make_full_index(3), make_reals(false, 16, EIGHT)); /* five too many */
    assert_values(ds, 0, "0: 1 10\n1: 2 20\n2: 3 30\n");
    assert_non_null(strstr(as_ds_problem(ds, 0)->message, ": 3 rows are read"));
    as_dataset_free(ds);
}

static void an_index_may_end_before_its_count(void **state) {
    (void)state;
    as_vec index = make_full_index(0);
    index.count = 18;
    as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", index, make_packed(false, 8, 0, NULL, NULL));
    assert_int_equal(as_ds_values(ds), 0);
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
}

static void bytes_behind_an_index_are_not_read(void **state) {
    (void)state;
    for (unsigned type = SPARSE; type <= DENSE; type += 2) {
        as_vec index = make_index(false, type, 8, (uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7});
        put(&index, false, 4, 9);
        as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", index, make_reals(false, 16, EIGHT));
        assert_int_equal(as_ds_values(ds), 16);
        assert_int_equal(count_problems(ds, "index-size", NULL), 1);
        assert_non_null(strstr(as_ds_problem(ds, 0)->message, ": 4 bytes behind "));
        as_dataset_free(ds);
    }
}

static void missing_members(void **state) {
    (void)state;
    archive file = begin_archive();
    add_bytes(&file, "1.index", make_full_index(2));
    add_bytes(&file, "2.data", make_reals(false, 2, EIGHT));
    add_bytes(&file, "3.index", make_full_index(0));
    add_anchor(&file,
               make_anchor(METRIC("0", "none", "DOUBLE", "EXCLUSIVE") METRIC("1", "no_data", "DOUBLE", "EXCLUSIVE")
                               METRIC("2", "no_index", "DOUBLE", "EXCLUSIVE")
                                   METRIC("3", "nothing", "DOUBLE", "EXCLUSIVE"),
                           TREE, 2));
    as_dataset *ds = read_archive(&file);
    assert_int_equal(ds->profiles.count, 0);
    assert_int_equal(count_problems(ds, "no-data", NULL), 2);
    assert_int_equal(count_problems(ds, "no-index", NULL), 1);
    assert_int_equal(ds->problems.count, 3);
    as_dataset_free(ds);
}

static void byte_order_is_that_of_each_metric(void **state) {
    (void)state;
    static const uint64_t numbers[] = {1, 258, 65535, 3};
    archive file = begin_archive();
    add_bytes(&file, "0.index", make_index(true, SPARSE, 2, (uint32_t[]){0, 1}));
    add_bytes(&file, "0.data", make_integers(true, 2, 4, numbers));
    add_bytes(&file, "1.index", make_index(false, SPARSE, 2, (uint32_t[]){0, 1}));
    add_bytes(&file, "1.data", make_integers(false, 4, 4, numbers));
    add_bytes(&file, "2.index", make_index(true, SPARSE, 2, (uint32_t[]){0, 1}));
    add_bytes(&file, "2.data", make_integers(true, 4, 4, numbers));
    add_bytes(&file, "3.index", make_index(true, DENSE, 0, NULL));
    add_bytes(&file, "3.data", make_reals(true, 4, EIGHT));
    add_anchor(&file, make_anchor(METRIC("0", "a", "INT16", "EXCLUSIVE") METRIC("1", "b", "UINT32", "EXCLUSIVE") METRIC(
                                      "2", "c", "UNSIGNED INT", "INCLUSIVE") METRIC("3", "d", "FLOAT", "EXCLUSIVE"),
                                  "0(1())", 2));
    as_dataset *ds = read_archive(&file);
    assert_values(ds, 0, "0: 1 258\n1: -1 3\n");
    assert_values(ds, 1, "0: 1 258\n1: 65535 3\n");
    assert_values(ds, 2, "0: 1 258\n1: 65535 3\n");
    assert_values(ds, 3, "0: 1 10\n1: 2 20\n");
    as_dataset_free(ds);
}

/* Of a composite type whose parts have several sizes. */
static void composite_values_of_either_order(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        as_vec data;
        as_vec_init(&data, 1, NULL);
        as_vec_text(&data, "CUBEX.DATA");
        for (unsigned i = 0; i < 2; i++) {
            put(&data, big, 4, 70000 + i);
            for (int part = 0; part < 4; part++) put_real(&data, big, part + 0.5);
        }
        as_dataset *ds = read_one("TAU_ATOMIC", "EXCLUSIVE", make_index(big, SPARSE, 1, (uint32_t[]){4}), data);
        assert_values(ds, 0, "4: 70000|0.5|1.5|2.5|3.5 70001|0.5|1.5|2.5|3.5\n");
        as_dataset_free(ds);
    }
}

static void values_of_unknown_types(void **state) {
    (void)state;
    as_dataset *ds = read_one("QUATERNION", "EXCLUSIVE", make_full_index(1), make_reals(false, 2, EIGHT));
    assert_int_equal(count_problems(ds, "unknown-dtype", NULL), 1);
    assert_values(ds, 0, "0: 1 10\n");
    as_dataset_free(ds);
    /* Three rows of two values of 3 bytes. */
    uint64_t bytes[18];
    for (size_t i = 0; i < 18; i++) bytes[i] = i;
    ds = read_one("SCALE_FUNC", "EXCLUSIVE", make_full_index(3), make_integers(false, 1, 18, bytes));
    assert_values(ds, 0, "0: 0|1|2 3|4|5\n1: 6|7|8 9|10|11\n2: 12|13|14 15|16|17\n");
    as_dataset_free(ds);
    ds = read_one("SCALE_FUNC", "EXCLUSIVE", make_full_index(3), make_integers(false, 1, 17, bytes));
    assert_int_equal(as_ds_values(ds), 0);
    assert_int_equal(count_problems(ds, "data-size", NULL), 1);
    as_dataset_free(ds);
}

/* ---- packed ------------------------------------------------------------------------------------------------------ */

static as_vec make_three_packed(bool is_big, size_t width, const size_t *order) {
    segment segments[3];
    for (size_t i = 0; i < 3; i++) segments[i] = make_segment(is_big, 2, EIGHT + 2 * i, 16 * i);
    return make_packed(is_big, width, 3, segments, order);
}

static void packed_rows(void **state) {
    (void)state;
    static const size_t order[] = {2, 0, 1};
    for (int big = 0; big < 2; big++) {
        for (size_t width = 4; width <= 8; width += 4) {
            for (int permuted = 0; permuted < 2; permuted++) {
                as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", make_index(big, SPARSE, 3, (uint32_t[]){0, 2, 5}),
                                          make_three_packed(big, width, permuted ? order : NULL));
                assert_int_equal(as_ds_values(ds), 6);
                assert_values(ds, 0, "0: 1 10\n2: 2 20\n5: 3 30\n");
                assert_int_equal(ds->problems.count, 0);
                as_dataset_free(ds);
            }
        }
    }
}

/* The rows stand in the table in another order than in the index. */
static void packed_rows_in_any_order(void **state) {
    (void)state;
    segment segments[3];
    for (size_t i = 0; i < 3; i++) segments[i] = make_segment(false, 2, EIGHT + 2 * i, 16 * (2 - i));
    as_dataset *ds = read_one("DOUBLE", "INCLUSIVE", make_index(false, SPARSE, 3, (uint32_t[]){0, 1, 2}),
                              make_packed(false, 8, 3, segments, NULL));
    assert_values(ds, 0, "0: 3 30\n1: 2 20\n4: 1 10\n");
    as_dataset_free(ds);
}

static void packed_rows_may_be_missing(void **state) {
    (void)state;
    segment segments[2];
    segments[0] = make_segment(false, 2, EIGHT, 0);
    segments[1] = make_segment(false, 2, EIGHT + 2, 32);
    as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", make_index(false, SPARSE, 3, (uint32_t[]){0, 1, 2}),
                              make_packed(false, 8, 2, segments, NULL));
    assert_int_equal(as_ds_values(ds), 4);
    assert_values(ds, 0, "0: 1 10\n2: 2 20\n");
    assert_int_equal(count_problems(ds, "data-size", NULL), 1);
    as_dataset_free(ds);
    /* The last one. */
    segments[0] = make_segment(false, 2, EIGHT, 0);
    segments[1] = make_segment(false, 2, EIGHT + 2, 16);
    ds = read_one("DOUBLE", "EXCLUSIVE", make_index(false, SPARSE, 3, (uint32_t[]){0, 1, 2}),
                  make_packed(false, 8, 2, segments, NULL));
    assert_int_equal(as_ds_values(ds), 4);
    assert_values(ds, 0, "0: 1 10\n1: 2 20\n");
    assert_int_equal(count_problems(ds, "data-size", NULL), 1);
    as_dataset_free(ds);
}

/* A segment without bytes is a row that is not there. */
static void packed_rows_may_be_empty(void **state) {
    (void)state;
    segment segments[3];
    for (size_t i = 0; i < 3; i++) segments[i] = make_segment(false, 2, EIGHT + 2 * i, 16 * i);
    segments[1].bytes.count = 0;
    as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", make_index(false, SPARSE, 3, (uint32_t[]){0, 1, 2}),
                              make_packed(false, 8, 3, segments, NULL));
    assert_int_equal(as_ds_values(ds), 4);
    assert_values(ds, 0, "0: 1 10\n2: 3 30\n");
    as_dataset_free(ds);
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

/* Opening works, with a problem; asking for the values fails with this rule and words. */
static void assert_damaged(as_vec index, as_vec data, const char *rule, const char *words) {
    as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", index, data);
    assay_error error;
    as_slice slice;
    assert_int_equal(as_ds_values(ds), 0);
    assert_int_equal(count_problems(ds, rule, NULL), 1);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(as_slice_open_all(ds, 0, 0, &slice, &error), ASSAY_E_FORMAT);
        assert_string_equal(error.rule, rule);
        if (!strstr(error.message, words)) fail_msg("%s", error.message);
        assert_non_null(strstr(error.message, "(metric 'v')"));
        assert_string_equal(error.path, "input");
        as_slice_close(&slice);
    }
    as_dataset_free(ds);
}

static as_vec changed(as_vec bytes, size_t at, char byte) {
    AS_AT(char, &bytes, at) = byte;
    return bytes;
}

static as_vec cut(as_vec bytes, size_t size) {
    bytes.count = size;
    return bytes;
}

static void damaged_index(void **state) {
    (void)state;
    assert_damaged(changed(make_full_index(2), 3, 'x'), make_reals(false, 4, EIGHT), "index-damaged", "7.index");
    assert_damaged(changed(make_full_index(2), 11, 2), make_reals(false, 4, EIGHT), "index-damaged", "byte order");
    assert_damaged(changed(make_full_index(2), 17, 0), make_reals(false, 4, EIGHT), "index-type", "type 0");
    assert_damaged(changed(make_full_index(2), 17, 2), make_reals(false, 4, EIGHT), "index-type", "type 2");
    assert_damaged(cut(make_full_index(2), 29), make_reals(false, 4, EIGHT), "index-damaged", "2 entries");
    assert_damaged(cut(make_full_index(2), 20), make_reals(false, 4, EIGHT), "index-damaged", "number of its entries");
    assert_damaged(cut(make_full_index(2), 14), make_reals(false, 4, EIGHT), "index-damaged", "begin");
    assert_damaged(changed(make_full_index(2), 21, (char)0xff), make_reals(false, 4, EIGHT), "index-damaged",
                   "4278190082 entries");
}

static void damaged_data(void **state) {
    (void)state;
    assert_damaged(make_full_index(2), changed(make_reals(false, 4, EIGHT), 0, 'c'), "data-damaged", "7.data");
    assert_damaged(make_full_index(3), cut(make_three_packed(false, 8, NULL), 40), "data-damaged", "table");
    /* A segment that begins, and one that ends, beyond the file; one for a row that begins within another. */
    assert_damaged(make_full_index(3), changed(make_three_packed(false, 8, NULL), 19 + 8 + 7, 0x7f), "data-damaged",
                   "segment 0");
    assert_damaged(make_full_index(3), changed(make_three_packed(false, 8, NULL), 19 + 48 + 16 + 7, 0x7f),
                   "data-damaged", "segment 2");
    assert_damaged(make_full_index(3), changed(make_three_packed(false, 8, NULL), 19 + 24, 17), "data-damaged",
                   "segment 1");
    /* One whose last byte is missing. */
    as_vec whole = make_three_packed(false, 8, NULL);
    assert_damaged(make_full_index(3), cut(whole, whole.count - 1), "data-damaged", "segment 2");
}

/* What only decoding can find; opening knows nothing of it. */
static void assert_not_decoded(uint32_t n_rows, as_vec data, const char *words) {
    as_dataset *ds = read_one("DOUBLE", "EXCLUSIVE", make_full_index(n_rows), data);
    assay_error error;
    assert_int_equal(ds->problems.count, 0);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(as_ds_load(ds, ASSAY_NONE, &error), ASSAY_E_FORMAT);
        assert_string_equal(error.rule, "data-damaged");
        if (!strstr(error.message, words)) fail_msg("%s", error.message);
        assert_true(error.offset > 0);
    }
    as_dataset_free(ds);
}

static void assert_not_unpacked(segment first, const char *words) {
    segment segments[2] = {first};
    segments[1] = make_segment(false, 2, EIGHT, 16);
    assert_not_decoded(2, make_packed(false, 8, 2, segments, NULL), words);
}

/* All of the stream is in the file, but not in its segment. */
static void segments_end_where_the_table_says(void **state) {
    (void)state;
    for (char less = 1; less < 6; less++) {
        as_vec data = make_three_packed(false, 8, NULL);
        AS_AT(char, &data, 19 + 16) = (char)(AS_AT(char, &data, 19 + 16) - less);
        assert_not_decoded(3, data, "row 0 is no zlib data");
    }
}

static void damaged_segments(void **state) {
    (void)state;
    segment broken = make_segment(false, 2, EIGHT, 0);
    AS_AT(char, &broken.bytes, broken.bytes.count - 1) ^= 1; /* of its checksum */
    assert_not_unpacked(broken, "no zlib data");
    assert_not_unpacked(make_segment(false, 3, EIGHT, 0), "more than a row");
    assert_not_unpacked(make_segment(false, 1, EIGHT, 0), "less than a row");
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

static void counters_below_zero_are_reported_once(void **state) {
    (void)state;
    static const uint64_t numbers[] = {UINT64_MAX, 1, 0xFFFFFFFFFFFFFC00u, 0xFFFFFFFFFFFFFBFFu};
    as_dataset *ds = read_one("UINT64", "EXCLUSIVE", make_full_index(2), make_integers(false, 8, 4, numbers));
    assert_int_equal(ds->problems.count, 0); /* nobody asked for values yet */
    assert_values(ds, 0, "0: 18446744073709551615 1\n1: 18446744073709550592 18446744073709550591\n");
    assert_values(ds, 0, "0: 18446744073709551615 1\n1: 18446744073709550592 18446744073709550591\n");
    assert_int_equal(count_problems(ds, "counter-below-zero", NULL), 1);
    /* The last one is no counter below zero, but the largest number. */
    assert_non_null(strstr(as_ds_problem(ds, 0)->message, ": 2 values above"));
    assert_true(as_ds_profile(ds, 0, 0)->below_zero);
    as_dataset_free(ds);
    ds = read_one("UINT64", "EXCLUSIVE", make_full_index(1),
                  make_integers(false, 8, 2, (uint64_t[]){0xFFFFFFFF00000000u, 5}));
    assert_values(ds, 0, "0: 18446744069414584320 5\n");
    assert_int_equal(ds->problems.count, 0);
    assert_false(as_ds_profile(ds, 0, 0)->below_zero);
    as_dataset_free(ds);
}

static void counters_below_zero_can_be_numbers(void **state) {
    (void)state;
    archive file = begin_archive();
    add_bytes(&file, "0.index", make_full_index(1));
    add_bytes(&file, "0.data", make_integers(false, 8, 1, (uint64_t[]){UINT64_MAX}));
    add_anchor(&file, make_anchor(METRIC("0", "v", "UINT64", "EXCLUSIVE"), "0()", 1));
    size_t size;
    const char *bytes = end_archive(&file, &size), *options[] = {"full-uint64=yes", NULL};
    as_read_config config = {.format = "cube", .options = options};
    as_dataset *ds = NULL;
    assert_int_equal(as_read_memory("input", bytes, size, &config, &ds, NULL), ASSAY_OK);
    assert_values(ds, 0, "0: 18446744073709551615\n");
    assert_int_equal(ds->problems.count, 0);
    assert_false(as_ds_profile(ds, 0, 0)->below_zero);
    as_dataset_free(ds);
    as_output_discard(file.out);
}

/* ---- large ------------------------------------------------------------------------------------------------------- */

/* More rows than one piece of work has. */
static void many_rows_in_parallel(void **state) {
    (void)state;
    enum { ROWS = 5000, COLUMNS = 40 };
    char *tree = malloc(3 * ROWS + 1);
    as_vec index, data;
    as_vec_init(&index, 1, NULL);
    as_vec_init(&data, 1, NULL);
    as_vec_text(&index, "CUBEX.INDEX");
    put(&index, true, 4, 1);
    put(&index, true, 3, DENSE);
    as_vec_text(&data, "CUBEX.DATA");
    for (size_t i = 0; i < ROWS; i++) {
        memcpy(tree + 3 * i, "1()", 4);
        for (size_t k = 0; k < COLUMNS; k++) put(&data, true, 8, i * 1000 + k);
    }
    archive file = begin_archive();
    add_bytes(&file, "0.index", index);
    add_bytes(&file, "0.data", data);
    add_anchor(&file, make_anchor(METRIC("0", "v", "INT64", "INCLUSIVE"), tree, COLUMNS));
    as_dataset *ds = read_archive(&file);
    as_slice slice;
    assert_int_equal(as_slice_open_all(ds, 0, 0, &slice, NULL), ASSAY_OK);
    assert_int_equal(slice.view.n_rows, ROWS);
    for (uint32_t i = 0; i < ROWS; i++) {
        const char *row = as_profile_row(&slice.view, i);
        for (uint32_t k = 0; k < COLUMNS; k++)
            assert_int_equal(as_part_get(slice.view.type, row + 8 * (size_t)k, 0).i, i * 1000 + k);
    }
    as_slice_close(&slice);
    as_dataset_free(ds);
    free(tree);
}

/* The rows of INCLUSIVE metrics are in another order than contexts: that must not be forgotten with a failure. */
static void values_can_be_asked_for_again_when_memory_was_out(void **state) {
    (void)state;
    enum { COLUMNS = 20000 };
    static double rows[8][COLUMNS];
    segment segments[8];
    for (size_t i = 0; i < 8; i++) {
        for (size_t k = 0; k < COLUMNS; k++) rows[i][k] = (double)(i + 1);
        segments[i] = make_segment(false, COLUMNS, rows[i], 8 * COLUMNS * i);
    }
    archive file = begin_archive();
    add_bytes(&file, "0.index", make_full_index(8));
    add_bytes(&file, "0.data", make_packed(false, 8, 8, segments, NULL));
    add_anchor(&file, make_anchor(METRIC("0", "v", "DOUBLE", "INCLUSIVE"), TREE, COLUMNS));
    as_dataset *ds = read_archive(&file);
    assay_error error;
    ds->budget.limit = ds->budget.used + 1000;
    assert_int_equal(as_ds_load(ds, 0, &error), ASSAY_E_NOMEM);
    ds->budget.limit = 0;
    assert_int_equal(as_ds_load(ds, 0, &error), ASSAY_OK);
    static const double expected[] = {1, 2, 4, 5, 3, 6, 7, 8}; /* see TREE */
    const as_profile *profile = as_ds_profile(ds, 0, 0);
    assert_int_equal(profile->n_rows, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(profile->contexts[i], i);
        assert_true(as_part_real(profile->type, as_profile_row(profile, i), 0) == expected[i]);
    }
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exclusive_rows_are_in_pre_order),
        cmocka_unit_test(inclusive_rows_are_numbered_wide),
        cmocka_unit_test(sparse_inclusive_rows),
        cmocka_unit_test(dense_index_has_all_rows),
        cmocka_unit_test(index_need_not_be_sorted),
        cmocka_unit_test(of_two_equal_entries_the_last_counts),
        cmocka_unit_test(entries_beyond_the_tree_are_reported),
        cmocka_unit_test(what_there_is_of_short_data_is_read),
        cmocka_unit_test(an_index_may_end_before_its_count),
        cmocka_unit_test(bytes_behind_an_index_are_not_read),
        cmocka_unit_test(missing_members),
        cmocka_unit_test(byte_order_is_that_of_each_metric),
        cmocka_unit_test(composite_values_of_either_order),
        cmocka_unit_test(values_of_unknown_types),
        cmocka_unit_test(packed_rows),
        cmocka_unit_test(packed_rows_in_any_order),
        cmocka_unit_test(packed_rows_may_be_missing),
        cmocka_unit_test(packed_rows_may_be_empty),
        cmocka_unit_test(damaged_index),
        cmocka_unit_test(damaged_data),
        cmocka_unit_test(damaged_segments),
        cmocka_unit_test(segments_end_where_the_table_says),
        cmocka_unit_test(counters_below_zero_are_reported_once),
        cmocka_unit_test(counters_below_zero_can_be_numbers),
        cmocka_unit_test(many_rows_in_parallel),
        cmocka_unit_test(values_can_be_asked_for_again_when_memory_was_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
