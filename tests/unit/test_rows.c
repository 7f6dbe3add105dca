/* Inclusive and exclusive values location by location, and the sums of all types, reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "analysis/nodes.h"
#include "analysis/rows.h"
#include "dataset/build.h"

/* 0 main, 1 main->a, 2 main->a->b, 3 main->c */
static as_dataset *make_tree(as_metric_kind kind) {
    static const char *const paths[] = {"main", "main->a", "main->a->b", "main->c"};
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, ds);
    for (size_t i = 0; i < 4; i++) as_tree_path(&tree, paths[i], strlen(paths[i]));
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    as_add_run(ds, &AS_RUN_INIT);
    as_metric metric = AS_METRIC_INIT;
    metric.kind = kind;
    as_add_metric(ds, &metric);
    return ds;
}

static const assay_id all[] = {0, 1, 2, 3}, places[] = {10, 11};

static void add_values(as_dataset *ds, as_value_type type, const assay_id *contexts, uint32_t n, const void *values) {
    as_profile profile = {.type = type, .n_rows = n, .n_columns = 2, .columns = places, .contexts = contexts};
    profile.values = values;
    assert_true(as_add_profile(ds, &profile));
}

typedef struct collected {
    double inclusive[4][2], exclusive[4][2];
    assay_id order[4];
    size_t n;
} collected;

static bool collect(void *user, const as_context_row *row) {
    collected *c = user;
    assert_int_equal(row->n, 2);
    c->order[c->n++] = row->context;
    for (uint32_t i = 0; i < 2; i++) {
        c->inclusive[row->context][i] = row->inclusive ? (double)row->inclusive[i] : row->inclusive_real[i];
        c->exclusive[row->context][i] = row->exclusive ? (double)row->exclusive[i] : row->exclusive_real[i];
    }
    return true;
}

static collected rows_of(as_dataset *ds) {
    collected c = {0};
    as_slice slice;
    assay_error error;
    assert_int_equal(as_slice_open_all(ds, 0, 0, &slice, &error), ASSAY_OK);
    assert_true(as_rows_each(ds, &slice, 0, collect, &c));
    as_slice_close(&slice);
    return c;
}

static void children_come_before_their_parents(void **state) {
    (void)state;
    as_dataset *ds = make_tree(AS_KIND_EXCLUSIVE);
    static const double values[] = {1, 2, 10, 20, 100, 200, 1000, 2000};
    add_values(ds, as_value_type_of(AS_DTYPE_DOUBLE, 0), all, 4, values);
    collected c = rows_of(ds);
    assert_int_equal(c.n, 4);
    for (assay_id i = 0; i < 4; i++) assert_int_equal(c.order[i], 3 - i);
    assert_true(c.inclusive[0][0] == 1111 && c.inclusive[0][1] == 2222);
    assert_true(c.inclusive[1][1] == 220 && c.exclusive[1][1] == 20);
    as_dataset_free(ds);
}

static void a_parent_without_a_row_has_its_childrens_sum(void **state) {
    (void)state;
    as_dataset *ds = make_tree(AS_KIND_EXCLUSIVE);
    static const assay_id some[] = {2, 3};
    static const double values[] = {5, 6, 7, 8};
    add_values(ds, as_value_type_of(AS_DTYPE_DOUBLE, 0), some, 2, values);
    collected c = rows_of(ds);
    assert_int_equal(c.n, 4);
    assert_true(c.inclusive[1][0] == 5 && c.exclusive[1][0] == 0);
    assert_true(c.inclusive[0][1] == 14 && c.exclusive[0][1] == 0);
    as_dataset_free(ds);
}

static void assert_node(const as_node_list *list, size_t i, int64_t inclusive, int64_t exclusive) {
    assert_int_equal(as_node_at(list, i)->inclusive.i, inclusive);
    assert_int_equal(as_node_at(list, i)->exclusive.i, exclusive);
}

static void unsigned_differences_end_at_zero_at_each_location(void **state) {
    (void)state;
    as_dataset *ds = make_tree(AS_KIND_INCLUSIVE);
    static const uint8_t values[] = {100, 10, 60, 30, 5, 5, 50, 1}; /* main: 100 - 110 and 10 - 31 */
    add_values(ds, as_value_type_of(AS_DTYPE_UINT8, 0), all, 4, values);
    collected c = rows_of(ds);
    assert_true(c.exclusive[0][0] == 0 && c.exclusive[0][1] == 0);
    assert_true(c.exclusive[1][0] == 55 && c.exclusive[1][1] == 25);
    as_node_list list;
    assay_error error;
    as_node_list_init(&list);
    assert_int_equal(as_nodes_find(ds, 0, 0, ASSAY_NONE, &list, &error), ASSAY_OK);
    assert_node(&list, 0, 110, 0);
    assert_int_equal(as_node_at(&list, 1)->exclusive.i, 80);
    as_node_list_free(&list);
    as_dataset_free(ds);
}

static as_node_list nodes_of(const as_dataset *ds) {
    as_node_list list;
    assay_error error;
    as_node_list_init(&list);
    assert_int_equal(as_nodes_find(ds, 0, 0, ASSAY_NONE, &list, &error), ASSAY_OK);
    return list;
}

static void make_piece(as_dataset *ds, assay_id context, const char *kind) {
    as_region region = AS_REGION_INIT;
    region.kind = as_ds_intern_text(ds, kind);
    AS_AT(as_context, &ds->contexts, context).region = as_add_region(ds, &region);
    AS_AT(as_context, &ds->contexts, context).role = AS_ROLE_INNER;
}

/* main, a loop in it, a loop in that one, and a line of main: a call has what all its pieces have, a loop not what
 * those in it have. */
static void calls_have_what_their_pieces_have(void **state) {
    (void)state;
    static const double values[] = {1, 2, 10, 20, 100, 200, 1000, 2000};
    static const int64_t wholes[] = {1, 2, 10, 20, 100, 200, 1000, 2000};
    for (int is_real = 0; is_real < 2; is_real++) {
        as_dataset *ds = make_tree(AS_KIND_EXCLUSIVE);
        make_piece(ds, 1, "loop");
        make_piece(ds, 2, "loop");
        make_piece(ds, 3, "line");
        add_values(ds, as_value_type_of(is_real ? AS_DTYPE_DOUBLE : AS_DTYPE_INT64, 0), all, 4,
                   is_real ? (const void *)values : wholes);
        static const double exclusive[] = {1111, 10, 100, 1000}, inclusive[] = {1111, 110, 100, 1000};
        collected c = rows_of(ds);
        as_node_list list = nodes_of(ds);
        assert_int_equal(c.n, 4);
        assert_int_equal(as_node_count(&list), 4);
        for (size_t i = 0; i < 4; i++) {
            assert_true(c.exclusive[i][0] == exclusive[i] && c.exclusive[i][1] == 2 * exclusive[i]);
            assert_true(c.inclusive[i][0] == inclusive[i] && c.inclusive[i][1] == 2 * inclusive[i]);
            assert_true(as_number_real(as_node_at(&list, i)->exclusive) == 3 * exclusive[i]);
            assert_true(as_number_real(as_node_at(&list, i)->inclusive) == 3 * inclusive[i]);
        }
        as_node_list_free(&list);
        as_dataset_free(ds);
    }
}

/* Counters that ran below zero are 0 before anything is taken off, of parents and of children. */
static void inclusive_counters_below_zero(void **state) {
    (void)state;
    as_dataset *ds = make_tree(AS_KIND_INCLUSIVE);
    static const uint64_t values[] = {10, 5, UINT64_MAX, 4, 3, 1, 2, UINT64_MAX}; /* main, a, b below a, c */
    add_values(ds, as_value_type_of(AS_DTYPE_UINT64, 0), all, 4, values);
    AS_AT(as_profile, &ds->profiles, 0).below_zero = true;
    collected c = rows_of(ds);
    assert_true(c.inclusive[1][0] == 0 && c.exclusive[1][0] == 0 && c.exclusive[1][1] == 3);
    assert_true(c.exclusive[0][0] == 8 && c.exclusive[0][1] == 1); /* 10 - 0 - 2, 5 - 4 - 0 */
    as_node_list list = nodes_of(ds);
    assert_node(&list, 0, 15, 9);
    assert_node(&list, 1, 4, 3);
    as_node_list_free(&list);
    as_dataset_free(ds);
}

/* 2^63 and 2^63 are no 0. */
static void children_of_more_than_64_bits(void **state) {
    (void)state;
    as_dataset *ds = make_tree(AS_KIND_INCLUSIVE);
    static const assay_id three[] = {0, 1, 3};
    static const uint64_t values[] = {10, 10, 1ull << 63, 1, 1ull << 63, 2};
    add_values(ds, as_value_type_of(AS_DTYPE_UINT64, 0), three, 3, values);
    collected c = rows_of(ds);
    assert_true(c.exclusive[0][0] == 0 && c.exclusive[0][1] == 7);
    as_node_list list = nodes_of(ds);
    assert_int_equal(as_node_at(&list, 0)->exclusive.i, 7);
    as_node_list_free(&list);
    as_dataset_free(ds);
}

/* A parent without a row has zeros, of which unsigned children leave nothing; what is above it has no child with a
 * row. */
static void unsigned_parents_without_a_row(void **state) {
    (void)state;
    as_dataset *ds = make_tree(AS_KIND_INCLUSIVE);
    static const assay_id one[] = {2};
    static const uint64_t values[] = {5, 6};
    add_values(ds, as_value_type_of(AS_DTYPE_UINT64, 0), one, 1, values);
    as_node_list list = nodes_of(ds);
    assert_int_equal(as_node_count(&list), 2);
    assert_int_equal(as_node_at(&list, 0)->context, 1);
    assert_node(&list, 0, 0, 0);
    assert_int_equal(as_node_at(&list, 1)->exclusive.i, 11);
    as_node_list_free(&list);
    as_dataset_free(ds);
}

static void sums_are_exact_and_counters_below_zero_are_zero(void **state) {
    (void)state;
    as_dataset *ds = make_tree(AS_KIND_EXCLUSIVE);
    static const uint64_t values[] = {(1ull << 53) + 1, 3, (1ull << 63) + 5, 0, UINT64_MAX, 7, 5, AS_COUNTER_LIMIT};
    as_profile profile = {.type = as_value_type_of(AS_DTYPE_UINT64, 0),
                          .n_rows = 4,
                          .n_columns = 2,
                          .columns = places,
                          .contexts = all,
                          .values = (const char *)values,
                          .below_zero = true};
    assert_true(as_add_profile(ds, &profile));
    as_node_list list;
    assay_error error;
    as_node_list_init(&list);
    assert_int_equal(as_nodes_find(ds, 0, 0, ASSAY_NONE, &list, &error), ASSAY_OK);
    assert_int_equal(as_node_at(&list, 0)->exclusive.i, (1ll << 53) + 4);
    assert_true(as_node_at(&list, 1)->exclusive.u == (1ull << 63) + 5);
    assert_true(as_node_at(&list, 1)->inclusive.u == (1ull << 63) + 12); /* 2^64 - 1 counts as 0, its neighbour 7 */
    assert_int_equal(as_node_at(&list, 2)->exclusive.i, 7);
    assert_true(as_node_at(&list, 3)->inclusive.u == AS_COUNTER_LIMIT + 5);
    char text[AS_WHOLE_SIZE];
    as_whole_format(as_node_at(&list, 0)->whole_inclusive, text); /* 2^53 + 4 + 2^63 + 12 + 2^64 - 1025 + 5 */
    assert_string_equal(text, "27679123309819067412");
    as_node_list_free(&list);
    as_dataset_free(ds);
}

static void minima_take_only_what_there_is(void **state) {
    (void)state;
    as_dataset *ds = make_tree(AS_KIND_EXCLUSIVE);
    static const assay_id some[] = {1, 2, 3};
    static const double values[] = {7, 9, 3, 8, 5, 6};
    add_values(ds, as_value_type_of(AS_DTYPE_MINDOUBLE, 0), some, 3, values);
    as_node_list list;
    assay_error error;
    as_node_list_init(&list);
    assert_int_equal(as_nodes_find(ds, 0, 0, ASSAY_NONE, &list, &error), ASSAY_OK);
    assert_int_equal(as_node_count(&list), 4);
    assert_true(as_node_at(&list, 0)->inclusive.r == 3); /* main has no row: no zero takes part */
    assert_true(as_node_at(&list, 1)->inclusive.r == 3 && as_node_at(&list, 1)->exclusive.r == 7);
    assert_true(as_node_at(&list, 3)->inclusive.r == 5);
    collected c = rows_of(ds);
    assert_true(c.inclusive[0][0] == 3 && c.inclusive[0][1] == 6);
    as_node_list_free(&list);
    as_dataset_free(ds);
}

static void composite_values_add_part_by_part(void **state) {
    (void)state;
    as_dataset *ds = make_tree(AS_KIND_INCLUSIVE);
    static const double values[] = {10, 1, 20, 2, 3, 4, 5, 6}; /* main (10,1) (20,2), a (3,4) (5,6) */
    add_values(ds, as_value_type_of(AS_DTYPE_RATE, 0), all, 2, values);
    as_node_list list;
    assay_error error;
    as_node_list_init(&list);
    assert_int_equal(as_nodes_find(ds, 0, 0, ASSAY_NONE, &list, &error), ASSAY_OK);
    assert_int_equal(list.n_parts, 2);
    const double *inclusive = as_node_parts(&list, 0, false), *exclusive = as_node_parts(&list, 0, true);
    assert_true(inclusive[0] == 30 && inclusive[1] == 3);
    assert_true(exclusive[0] == 22 && exclusive[1] == -7);
    assert_true(as_node_at(&list, 0)->inclusive.r == 10); /* a rate is shown as value / duration */
    as_node_list_free(&list);
    as_dataset_free(ds);
}

static void tau_and_histograms_keep_their_extremes(void **state) {
    (void)state;
    as_dataset *ds = make_tree(AS_KIND_EXCLUSIVE);
    static const double values[] = {1, 9,  2, 4, 0, 5, 1, 1, /* main: two histograms of minimum, maximum, 2 bins */
                                    3, 20, 7, 7, 2, 2, 0, 1};
    add_values(ds, as_value_type_of(AS_DTYPE_HISTOGRAM, 2), all, 2, values);
    as_node_list list;
    assay_error error;
    as_node_list_init(&list);
    assert_int_equal(as_nodes_find(ds, 0, 0, ASSAY_NONE, &list, &error), ASSAY_OK);
    const double *whole = as_node_parts(&list, 0, false);
    assert_true(whole[0] == 0 && whole[1] == 20 && whole[2] == 10 && whole[3] == 13);
    assert_true(as_node_at(&list, 0)->inclusive.r == 23);
    as_node_list_free(&list);
    as_dataset_free(ds);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

enum { LEVELS = 20000, WIDE = 1000 };

/* A chain of calls; comb: each of them calls one more when it has come back. What calls nothing has a row. */
static as_dataset *make_deep(as_metric_kind kind, as_dtype dtype, bool comb, uint64_t memory_limit) {
    as_dataset *ds = as_dataset_new(memory_limit);
    as_tree tree;
    const assay_id *ids;
    as_context context = AS_CONTEXT_INIT;
    uint32_t n = 0;
    as_tree_init(&tree, ds);
    context.name = as_ds_intern_text(ds, "f");
    for (assay_id i = 0; i < LEVELS; i++) context.parent = as_tree_add(&tree, &context);
    for (context.parent = 0; comb && context.parent < LEVELS - 1; context.parent++) as_tree_add(&tree, &context);
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    as_add_run(ds, &AS_RUN_INIT);
    as_metric metric = AS_METRIC_INIT;
    metric.kind = kind;
    as_add_metric(ds, &metric);
    assay_id *contexts = as_arena_array(&ds->arena, LEVELS, sizeof *contexts);
    for (assay_id i = 0; i < ds->contexts.count; i++) {
        if (as_ds_context(ds, i)->subtree == 1) contexts[n++] = i;
    }
    uint32_t *rows = as_arena_array(&ds->arena, LEVELS, sizeof *rows); /* all the same one, of zeros */
    assay_id *columns = as_arena_array(&ds->arena, WIDE, sizeof *columns);
    for (uint32_t i = 0; i < WIDE; i++) columns[i] = i;
    as_profile profile = {.type = as_value_type_of(dtype, 0), .n_rows = n, .n_columns = WIDE, .columns = columns};
    profile.contexts = contexts;
    profile.rows = rows;
    profile.values = as_arena_alloc(&ds->arena, WIDE * 8);
    assert_true(as_add_profile(ds, &profile));
    return ds;
}

static assay_status sum_deep(as_metric_kind kind, as_dtype dtype, bool comb, size_t *n_rows) {
    as_dataset *ds = make_deep(kind, dtype, comb, 60 << 20);
    as_slice slice;
    as_node_list list;
    as_node_list_init(&list);
    uint64_t used = ds->budget.used;
    assert_int_equal(as_slice_open_all(ds, 0, 0, &slice, NULL), ASSAY_OK);
    as_rows *rows = as_rows_open(ds, &slice, 0);
    assert_non_null(rows);
    for (*n_rows = 0; as_rows_next(rows); ++*n_rows) {
    }
    bool failed = as_rows_failed(rows);
    as_rows_close(rows);
    as_slice_close(&slice);
    assert_int_equal(ds->budget.used, used);
    assay_status status = as_nodes_find(ds, 0, 0, ASSAY_NONE, &list, NULL);
    if (dtype == AS_DTYPE_UINT64 && kind == AS_KIND_INCLUSIVE)
        assert_int_equal(status, failed ? ASSAY_E_NOMEM : ASSAY_OK);
    assert_int_equal(ds->budget.used, used);
    as_node_list_free(&list);
    as_dataset_free(ds);
    return failed ? ASSAY_E_NOMEM : ASSAY_OK;
}

/* Twenty thousand levels of a thousand locations are 160 MB: only those that wait for their parent take memory, and
 * that counts. */
static void deep_trees_take_what_waits(void **state) {
    (void)state;
    static const as_dtype dtypes[] = {AS_DTYPE_DOUBLE, AS_DTYPE_UINT64};
    size_t n;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(sum_deep(AS_KIND_EXCLUSIVE, dtypes[i], false, &n), ASSAY_OK);
        assert_int_equal(n, LEVELS);
        assert_int_equal(sum_deep(AS_KIND_INCLUSIVE, dtypes[i], false, &n), ASSAY_OK);
        assert_int_equal(n, 2); /* the last one, and its parent */
        assert_int_equal(sum_deep(AS_KIND_EXCLUSIVE, dtypes[i], true, &n), ASSAY_E_NOMEM);
        assert_int_equal(sum_deep(AS_KIND_INCLUSIVE, dtypes[i], true, &n), ASSAY_E_NOMEM);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_come_before_their_parents),
        cmocka_unit_test(a_parent_without_a_row_has_its_childrens_sum),
        cmocka_unit_test(unsigned_differences_end_at_zero_at_each_location),
        cmocka_unit_test(calls_have_what_their_pieces_have),
        cmocka_unit_test(sums_are_exact_and_counters_below_zero_are_zero),
        cmocka_unit_test(inclusive_counters_below_zero),
        cmocka_unit_test(children_of_more_than_64_bits),
        cmocka_unit_test(unsigned_parents_without_a_row),
        cmocka_unit_test(minima_take_only_what_there_is),
        cmocka_unit_test(composite_values_add_part_by_part),
        cmocka_unit_test(tau_and_histograms_keep_their_extremes),
        cmocka_unit_test(deep_trees_take_what_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
