/* Sparse profiles and stored pairs: sums over locations, reckoned by hand, and the same as from rows with all
 * columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "analysis/derived.h"
#include "analysis/location_statistics.h"
#include "dataset/formulas.h"
#include "sparse_files.h"

/* 0 <root>, 1 main, 2 loop, 3 solve, 4 other, and one without a place */
enum { ROOT, MAIN, LOOP, SOLVE, OTHER, PLACELESS, N_CONTEXTS };
enum { INCLUSIVE, EXCLUSIVE, LONE };

static const sparse_cell inclusive_cells[] = {{SOLVE, 1, 2},  {MAIN, 0, 10}, {MAIN, 1, 5},       {ROOT, 0, 10},
                                              {ROOT, 1, 5.5}, {LOOP, 0, 7},  {PLACELESS, 2, 1.5}};
/* main's own has the loop's as well */
static const sparse_cell exclusive_cells[] = {{MAIN, 0, 9}, {LOOP, 0, 7}, {SOLVE, 1, 2}, {OTHER, 2, 0.25}};
enum { N_INCLUSIVE = 7, N_EXCLUSIVE = 4 };

static as_dataset *make_dataset(void) {
    static const assay_id parents[] = {ASSAY_NONE, ROOT, MAIN, MAIN, ROOT, ASSAY_NONE};
    static const char *const names[] = {"<root>", "main", "loop at a.c:3", "solve", "other", "<context 9>"};
    as_dataset *ds = as_dataset_new(0);
    add_threads(ds, 3);
    add_tree(ds, parents, names, N_CONTEXTS);
    AS_AT(as_context, &ds->contexts, PLACELESS).role = AS_ROLE_PLACELESS;
    assert_int_equal(as_add_run(ds, &AS_RUN_INIT), 0);
    assert_int_equal(add_stored(ds, "time", AS_KIND_INCLUSIVE), INCLUSIVE);
    assert_int_equal(add_stored(ds, "time", AS_KIND_EXCLUSIVE), EXCLUSIVE);
    assert_int_equal(add_stored(ds, "lone", AS_KIND_EXCLUSIVE), LONE);
    make_pair(ds, INCLUSIVE, EXCLUSIVE);
    return ds;
}

static void check(const as_node_list *list, size_t i, assay_id context, double inclusive, double exclusive) {
    const as_node *node = as_node_at(list, i);
    assert_true(i < as_node_count(list));
    assert_int_equal(node->context, context);
    assert_true(node->has_exclusive);
    assert_true(node->inclusive.kind == AS_REAL && node->exclusive.kind == AS_REAL);
    assert_true(node->inclusive.r == inclusive && node->exclusive.r == exclusive);
}

/* n_empty: rows of zeros at the second location, below main */
static void check_all(const as_dataset *ds, size_t n_empty) {
    as_node_list list;
    assay_error error;
    as_node_list_init(&list);
    assert_int_equal(as_nodes_find(ds, 0, INCLUSIVE, ASSAY_NONE, &list, &error), ASSAY_OK);
    assert_int_equal(as_node_count(&list), 6);
    check(&list, 0, ROOT, 15.5, 0);
    assert_true(as_node_at(&list, 0)->has_own && as_node_at(&list, 0)->lacks_exclusive);
    check(&list, 1, MAIN, 15, 9);
    assert_false(as_node_at(&list, 1)->lacks_exclusive);
    check(&list, 2, LOOP, 7, 7);
    check(&list, 3, SOLVE, 2, 2);
    check(&list, 4, OTHER, 0, 0.25);
    assert_false(as_node_at(&list, 4)->has_own);
    check(&list, 5, PLACELESS, 1.5, 0);
    /* Of a subtree, at some locations */
    static const bool second[] = {false, true, false};
    assert_int_equal(as_nodes_find_at(ds, 0, INCLUSIVE, MAIN, second, &list, &error), ASSAY_OK);
    assert_int_equal(as_node_count(&list), 2 + n_empty);
    check(&list, 0, MAIN, 5, 0);
    check(&list, 1 + n_empty, SOLVE, 2, 2);
    /* Of one context */
    assert_int_equal(as_nodes_find_one(ds, 0, INCLUSIVE, MAIN, NULL, &list, &error), ASSAY_OK);
    assert_int_equal(as_node_count(&list), 1);
    check(&list, 0, MAIN, 15, 9);
    assert_int_equal(as_nodes_find_one(ds, 0, EXCLUSIVE, ROOT, NULL, &list, &error), ASSAY_OK);
    assert_int_equal(as_node_count(&list), 0);
    as_node_list_free(&list);
}

static void values_are_as_stored(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    sparse_cells inclusive = sparse_of(inclusive_cells, N_INCLUSIVE),
                 exclusive = sparse_of(exclusive_cells, N_EXCLUSIVE);
    add_sparse(ds, INCLUSIVE, &inclusive);
    add_sparse(ds, EXCLUSIVE, &exclusive);
    check_all(ds, 0);
    assert_false(as_ds_profile(ds, INCLUSIVE, 0)->is_loaded);
    as_dataset_free(ds);
}

static void so_they_are_where_only_one_is_sparse(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    sparse_cells inclusive = sparse_of(inclusive_cells, N_INCLUSIVE);
    add_sparse(ds, INCLUSIVE, &inclusive);
    add_dense(ds, EXCLUSIVE, exclusive_cells, N_EXCLUSIVE);
    check_all(ds, 1); /* the loop's */
    as_dataset_free(ds);
}

static void so_they_are_in_rows_with_all_columns(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    add_dense(ds, INCLUSIVE, inclusive_cells, N_INCLUSIVE);
    add_dense(ds, EXCLUSIVE, exclusive_cells, N_EXCLUSIVE);
    check_all(ds, 1); /* the loop's */
    as_dataset_free(ds);
}

static void a_metric_without_partner_has_one_value(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    sparse_cells lone = sparse_of(exclusive_cells, N_EXCLUSIVE);
    as_node_list list;
    assay_error error;
    add_sparse(ds, LONE, &lone);
    as_node_list_init(&list);
    assert_int_equal(as_nodes_find(ds, 0, LONE, ASSAY_NONE, &list, &error), ASSAY_OK);
    assert_int_equal(as_node_count(&list), 4); /* nothing is handed to parents */
    assert_false(as_node_at(&list, 0)->has_exclusive);
    assert_true(as_node_at(&list, 0)->inclusive.r == 9);
    assert_true(as_metric_is_only_exclusive(as_ds_metric(ds, LONE)));
    assert_int_equal(as_nodes_find(ds, 0, INCLUSIVE, ASSAY_NONE, &list, &error), ASSAY_OK);
    assert_int_equal(as_node_count(&list), 0);
    as_node_list_free(&list);
    as_dataset_free(ds);
}

static void a_broken_row_is_an_error(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    sparse_cells inclusive = sparse_of(inclusive_cells, N_INCLUSIVE);
    as_node_list list;
    assay_error error;
    inclusive.broken_context = SOLVE;
    add_sparse(ds, INCLUSIVE, &inclusive);
    as_node_list_init(&list);
    assert_int_equal(as_nodes_find(ds, 0, INCLUSIVE, ASSAY_NONE, &list, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.path, "cct.db");
    as_node_list_free(&list);
    as_dataset_free(ds);
}

/* ---- the order of additions -------------------------------------------------------------------------------------- */

enum { MANY_CONTEXTS = 1500, MANY_THREADS = 37 };

/* Numbers whose sum depends on the order. */
static size_t make_many(sparse_cell *cells) {
    uint64_t random = 12345;
    size_t n = 0;
    for (assay_id context = 0; context < MANY_CONTEXTS; context++) {
        for (uint32_t column = 0; column < MANY_THREADS; column++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            if ((random >> 60) > 3) continue;
            cells[n++] = (sparse_cell){context, column, (double)(random >> 33) * 1e-7 + 1.0 / (double)(column + 3)};
        }
    }
    return n;
}

static void check_same(const as_dataset *ds, const bool *locations) {
    as_node_list lists[2];
    assay_error error;
    for (assay_id metric = 0; metric < 2; metric++) {
        as_node_list_init(&lists[metric]);
        assert_int_equal(as_nodes_find_at(ds, 0, metric, ASSAY_NONE, locations, &lists[metric], &error), ASSAY_OK);
    }
    size_t n = 0;
    for (size_t i = 0; i < as_node_count(&lists[1]); i++) { /* a row of zeros at all places wanted is none */
        const as_node *dense = as_node_at(&lists[1], i);
        if (dense->inclusive.r == 0) continue;
        const as_node *sparse = as_node_at(&lists[0], n++);
        assert_int_equal(sparse->context, dense->context);
        assert_memory_equal(&sparse->inclusive.r, &dense->inclusive.r, sizeof(double));
    }
    assert_int_equal(n, as_node_count(&lists[0]));
    for (assay_id metric = 0; metric < 2; metric++) as_node_list_free(&lists[metric]);
}

static void sums_are_the_same_to_the_last_bit(void **state) {
    (void)state;
    static sparse_cell cells[MANY_CONTEXTS * MANY_THREADS];
    static assay_id parents[MANY_CONTEXTS];
    static const char *names[MANY_CONTEXTS];
    size_t n = make_many(cells);
    as_dataset *ds = as_dataset_new(0);
    add_threads(ds, MANY_THREADS);
    for (size_t i = 0; i < MANY_CONTEXTS; i++) parents[i] = i ? (assay_id)(i - 1) : ASSAY_NONE, names[i] = "f";
    add_tree(ds, parents, names, MANY_CONTEXTS);
    as_add_run(ds, &AS_RUN_INIT);
    add_stored(ds, "sparse", AS_KIND_INCLUSIVE);
    add_stored(ds, "dense", AS_KIND_INCLUSIVE);
    sparse_cells source = sparse_of(cells, n);
    add_sparse(ds, 0, &source);
    add_dense(ds, 1, cells, n);
    check_same(ds, NULL);
    assert_int_equal(source.n_columns_read, 0);
    bool some[MANY_THREADS] = {false};
    some[3] = some[4] = true; /* few: columns are read */
    source.n_rows_read = 0;
    check_same(ds, some);
    assert_int_equal(source.n_columns_read, 2);
    assert_int_equal(source.n_rows_read, 0);
    for (uint32_t i = 0; i < MANY_THREADS; i++) some[i] = i % 3 != 0;
    check_same(ds, some);
    assert_int_equal(source.n_columns_read, 2);
    as_dataset_free(ds);
}

/* ---- over locations ---------------------------------------------------------------------------------------------- */

static void check_spread(const as_vec *all, size_t i, assay_id context, bool is_exclusive, double sum, double max) {
    assert_true(i < all->count);
    const as_context_spread *item = &AS_AT(as_context_spread, all, i);
    assert_int_equal(item->context, context);
    assert_int_equal(item->is_exclusive, is_exclusive);
    assert_true(item->spread.n == 3 && item->spread.sum == sum && item->spread.max == max);
}

/* Threads without a value have 0. */
static void statistics_are_over_all_threads(void **state) {
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        as_dataset *ds = make_dataset();
        sparse_cells inclusive = sparse_of(inclusive_cells, N_INCLUSIVE),
                     exclusive = sparse_of(exclusive_cells, N_EXCLUSIVE);
        if (dense) {
            add_dense(ds, INCLUSIVE, inclusive_cells, N_INCLUSIVE);
            add_dense(ds, EXCLUSIVE, exclusive_cells, N_EXCLUSIVE);
        } else {
            add_sparse(ds, INCLUSIVE, &inclusive);
            add_sparse(ds, EXCLUSIVE, &exclusive);
        }
        as_places places;
        assay_error error;
        as_vec all;
        as_vec_init(&all, sizeof(as_context_spread), NULL);
        assert_int_equal(as_places_of_run(ds, 0, AS_OVER_LOCATIONS, &places, &error), ASSAY_OK);
        assert_int_equal(
            as_location_statistics(ds, &places, INCLUSIVE, AS_INCLUSIVE_VALUES | AS_EXCLUSIVE_VALUES, &all, &error),
            ASSAY_OK);
        assert_int_equal(all.count, 12);
        check_spread(&all, 0, ROOT, false, 15.5, 10);
        check_spread(&all, 1, ROOT, true, 0, 0);
        check_spread(&all, 2, MAIN, false, 15, 10);
        check_spread(&all, 3, MAIN, true, 9, 9);
        check_spread(&all, 8, OTHER, false, 0, 0);
        check_spread(&all, 9, OTHER, true, 0.25, 0.25);
        assert_true(AS_AT(as_context_spread, &all, 2).spread.median == 5);
        as_number *values;
        as_spread spread;
        assert_int_equal(
            as_location_values(ds, &places, INCLUSIVE, MAIN, AS_EXCLUSIVE_VALUES, &values, &spread, &error), ASSAY_OK);
        assert_true(values[0].r == 9 && values[1].r == 0 && values[2].r == 0 && spread.sum == 9);
        free(values);
        as_vec_free(&all);
        as_places_free(&places);
        as_dataset_free(ds);
    }
}

/* Inclusive and exclusive values of thread 0 and 1, by context. */
static bool take_computed(void *user, const as_computed_row *row) {
    double(*got)[4] = user;
    assert_int_equal(row->n, 3);
    got[row->context][0] = row->values[0][0];
    got[row->context][1] = row->values[0][1];
    got[row->context][2] = row->values[1][0];
    got[row->context][3] = row->whole[0];
    return true;
}

static void formulas_take_them_as_stored(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    sparse_cells inclusive = sparse_of(inclusive_cells, N_INCLUSIVE),
                 exclusive = sparse_of(exclusive_cells, N_EXCLUSIVE), lone = sparse_of(exclusive_cells, N_EXCLUSIVE);
    add_sparse(ds, INCLUSIVE, &inclusive);
    add_sparse(ds, EXCLUSIVE, &exclusive);
    add_sparse(ds, LONE, &lone);
    AS_AT(as_metric, &ds->metrics, EXCLUSIVE).name = as_ds_intern_text(ds, "partner"); /* names find one metric */
    as_metric metric = AS_METRIC_INIT;
    metric.kind = AS_KIND_DERIVED;
    metric.name = as_ds_intern_text(ds, "double");
    assay_id derived = as_add_metric(ds, &metric);
    as_formula_text texts[AS_FORMULA_PARTS] = {[AS_FORMULA_VALUE] = {"2 * metric::time() + metric::lone()", 35}};
    assert_true(as_add_formula(ds, derived, AS_DERIVED_POST, texts));
    assert_true(as_compile_formulas(ds, "file"));
    assert_int_equal(ds->problems.count, 0);
    double got[N_CONTEXTS][4] = {{0}};
    assay_error error;
    static const bool both[] = {true, true};
    assert_int_equal(as_computed_rows(ds, 0, derived, ASSAY_NONE, both, take_computed, got, &error), ASSAY_OK);
    assert_true(got[MAIN][0] == 29 && got[MAIN][1] == 10 && got[MAIN][2] == 27 && got[MAIN][3] == 39);
    assert_true(got[ROOT][0] == 20 && got[ROOT][2] == 0 && got[ROOT][3] == 31);
    assert_true(got[SOLVE][1] == 6 && got[LOOP][2] == 21);
    inclusive.broken_context = LOOP;
    assert_int_equal(as_computed_rows(ds, 0, derived, ASSAY_NONE, both, take_computed, got, &error), ASSAY_E_FORMAT);
    as_dataset_free(ds);
}

/* ---- both ways --------------------------------------------------------------------------------------------------- */

static size_t count_problems(const as_dataset *ds, const char *rule) {
    size_t n = 0;
    for (size_t i = 0; i < AS_COUNT(ds, problems); i++) n += strcmp(as_ds_problem(ds, i)->rule, rule) == 0;
    return n;
}

static void rows_and_columns_must_be_the_same(void **state) {
    (void)state;
    static const sparse_cell fewer[] = {{MAIN, 0, 9}, {LOOP, 0, 7}, {SOLVE, 1, 2}},
                             other[] = {{OTHER, 2, 0.25}, {MAIN, 0, 9}, {LOOP, 0, 7}, {SOLVE, 1, 2.5}},
                             same[] = {{OTHER, 2, 0.25}, {LOOP, 0, 7}, {SOLVE, 1, 2}, {MAIN, 0, 9}};
    static const struct {
        const sparse_cell *cells;
        size_t n;
        const char *rule;
        size_t n_problems;
    } cases[] = {{same, 4, "mismatch", 0}, {fewer, 3, "mismatch", 1}, {other, 4, "mismatch", 1}, {other, 4, NULL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_dataset *ds = make_dataset();
        sparse_cells exclusive = sparse_of(exclusive_cells, N_EXCLUSIVE);
        exclusive.column_cells = cases[i].cells;
        exclusive.n_column_cells = cases[i].n;
        exclusive.base.mismatch = cases[i].rule;
        add_sparse(ds, EXCLUSIVE, &exclusive);
        assert_true(as_ds_check(ds, NULL) && as_ds_check(ds, NULL)); /* said once */
        assert_int_equal(count_problems(ds, "mismatch"), cases[i].n_problems);
        assert_int_equal(AS_COUNT(ds, problems), cases[i].n_problems);
        as_dataset_free(ds);
    }
    as_dataset *ds = make_dataset();
    sparse_cells broken = sparse_of(exclusive_cells, N_EXCLUSIVE);
    broken.broken_context = LOOP;
    add_sparse(ds, EXCLUSIVE, &broken);
    assert_true(as_ds_check(ds, NULL) && as_ds_check(ds, NULL));
    assert_int_equal(count_problems(ds, "sparse"), 1);
    assert_int_equal(as_ds_problem(ds, 0)->severity, AS_ERROR);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_as_stored),
        cmocka_unit_test(so_they_are_where_only_one_is_sparse),
        cmocka_unit_test(so_they_are_in_rows_with_all_columns),
        cmocka_unit_test(a_metric_without_partner_has_one_value),
        cmocka_unit_test(a_broken_row_is_an_error),
        cmocka_unit_test(sums_are_the_same_to_the_last_bit),
        cmocka_unit_test(statistics_are_over_all_threads),
        cmocka_unit_test(formulas_take_them_as_stored),
        cmocka_unit_test(rows_and_columns_must_be_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
