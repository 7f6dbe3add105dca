/* Inclusive and exclusive values over a small tree, reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/nodes.h"
#include "blocks.h"

/* 0 main, 1 main->a, 2 main->a->b, 3 main->a->c, 4 main->d, 5 other */
enum { MAIN, A, B, C, D, OTHER };

static as_dataset *make_tree(void) {
    static const char *const paths[] = {"main", "main->a", "main->a->b", "main->a->c", "main->d", "other"};
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, ds);
    for (size_t i = 0; i < 6; i++) as_tree_path(&tree, paths[i], strlen(paths[i]));
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    for (int i = 0; i < 2; i++) assert_int_equal(as_add_run(ds, &AS_RUN_INIT), i);
    return ds;
}

static assay_id add_metric(as_dataset *ds, as_metric_kind kind) {
    as_metric metric = AS_METRIC_INIT;
    metric.kind = kind;
    return as_add_metric(ds, &metric);
}

static void check_same_numbers(as_number a, as_number b) {
    assert_int_equal(a.kind, b.kind);
    assert_int_equal(a.u, b.u); /* of reals their bits */
}

/* Without a list there are the same nodes. Returns whether it was without. */
static bool check_compact(const as_dataset *ds, assay_id run, assay_id metric, const as_node_list *nodes) {
    as_node_list compact;
    assay_error error;
    as_node_list_init(&compact);
    assert_int_equal(as_nodes_find_compact(ds, run, metric, NULL, &compact, &error), ASSAY_OK);
    size_t next = 0;
    bool is_compact = compact.is_compact;
    for (assay_id id = 0; is_compact && id < AS_COUNT(ds, contexts); id++) {
        as_node node;
        if (!as_node_sums_node(&compact.sums, id, &node)) continue;
        assert_true(next < as_node_count(nodes));
        const as_node *expected = as_node_at(nodes, next++);
        assert_int_equal(node.context, expected->context);
        assert_int_equal(node.has_own, expected->has_own);
        assert_int_equal(node.has_exclusive, expected->has_exclusive);
        assert_int_equal(node.is_whole, expected->is_whole);
        assert_true(node.whole_inclusive == expected->whole_inclusive);
        assert_true(node.whole_exclusive == expected->whole_exclusive);
        check_same_numbers(node.inclusive, expected->inclusive);
        check_same_numbers(node.exclusive, expected->exclusive);
    }
    assert_int_equal(is_compact ? next : as_node_count(&compact), as_node_count(nodes));
    as_node_list_free(&compact);
    return is_compact;
}

static as_node_list nodes_of(const as_dataset *ds, assay_id run, assay_id metric, assay_id root) {
    as_node_list n;
    assay_error error;
    as_node_list_init(&n);
    assert_int_equal(as_nodes_find(ds, run, metric, root, &n, &error), ASSAY_OK);
    if (root == ASSAY_NONE) check_compact(ds, run, metric, &n);
    return n;
}

static const as_node *node_at(const as_node_list *n, size_t i, assay_id context) {
    assert_true(i < as_node_count(n));
    const as_node *node = as_node_at(n, i);
    assert_int_equal(node->context, context);
    return node;
}

static void check_integers(const as_node_list *n, size_t i, assay_id context, int64_t inclusive, int64_t exclusive) {
    const as_node *node = node_at(n, i, context);
    assert_true(node->has_exclusive);
    assert_int_equal(node->inclusive.kind, AS_INT);
    assert_int_equal(node->exclusive.kind, AS_INT);
    assert_int_equal(node->inclusive.i, inclusive);
    assert_int_equal(node->exclusive.i, exclusive);
}

static void exclusive_values_add_up(void **state) {
    (void)state;
    as_dataset *ds = make_tree();
    assay_id metric = add_metric(ds, AS_KIND_EXCLUSIVE);
    static const row rows[] = {{MAIN, 0, 0, {1}}, {MAIN, 0, 1, {2}}, {MAIN, 1, 0, {100}},
                               {B, 0, 0, {10}},   {C, 0, 0, {20}},   {C, 0, 1, {-5}}};
    add_block(ds, metric, ASSAY_NONE, AS_DTYPE_INT64, rows, 6);
    as_node_list n = nodes_of(ds, 0, metric, ASSAY_NONE);
    assert_int_equal(n.nodes.count, 4); /* d and other have nothing */
    check_integers(&n, 0, MAIN, 28, 3);
    check_integers(&n, 1, A, 25, 0); /* nothing of its own, but its subtree */
    check_integers(&n, 2, B, 10, 10);
    check_integers(&n, 3, C, 15, 15);
    as_node_list_free(&n);

    n = nodes_of(ds, 0, metric, A); /* a subtree alone gives the same */
    assert_int_equal(n.nodes.count, 3);
    check_integers(&n, 0, A, 25, 0);
    check_integers(&n, 2, C, 15, 15);
    as_node_list_free(&n);

    n = nodes_of(ds, 1, metric, ASSAY_NONE);
    assert_int_equal(n.nodes.count, 1);
    check_integers(&n, 0, MAIN, 100, 100);
    as_node_list_free(&n);
    as_dataset_free(ds);
}

static void some_locations_alone(void **state) {
    (void)state;
    as_dataset *ds = make_tree();
    assay_id metric = add_metric(ds, AS_KIND_EXCLUSIVE), placeless = add_metric(ds, AS_KIND_EXCLUSIVE);
    static const row rows[] = {
        {MAIN, 0, 0, {1}}, {MAIN, 0, 1, {2}}, {MAIN, 0, 2, {4}}, {B, 0, 0, {10}}, {C, 0, 2, {20}}};
    static const row no_places[] = {{MAIN, 0, ASSAY_NONE, {1}}};
    add_block(ds, metric, 0, AS_DTYPE_INT64, rows, 5);
    add_block(ds, placeless, 0, AS_DTYPE_INT64, no_places, 1);
    static const bool wanted[3] = {false, true, true}, none[3] = {false};
    as_node_list n;
    assay_error error;
    as_node_list_init(&n);
    assert_int_equal(as_nodes_find_at(ds, 0, metric, ASSAY_NONE, wanted, &n, &error), ASSAY_OK);
    assert_int_equal(n.nodes.count, 4); /* b has a row, with nothing at these */
    check_integers(&n, 0, MAIN, 26, 6);
    check_integers(&n, 1, A, 20, 0);
    check_integers(&n, 2, B, 0, 0);
    check_integers(&n, 3, C, 20, 20);
    assert_int_equal(as_nodes_find_at(ds, 0, metric, ASSAY_NONE, none, &n, &error), ASSAY_OK);
    assert_int_equal(n.nodes.count, 0);
    assert_int_equal(as_nodes_find_at(ds, 0, placeless, ASSAY_NONE, wanted, &n, &error), ASSAY_OK);
    assert_int_equal(n.nodes.count, 0);
    as_node_list_free(&n);
    as_dataset_free(ds);
}

/* Some rows have a location and others have none: these count where all do, and nowhere else. */
static void rows_without_a_location(void **state) {
    (void)state;
    as_dataset *ds = make_tree();
    assay_id metric = add_metric(ds, AS_KIND_EXCLUSIVE);
    static const row rows[] = {{MAIN, 0, 1, {2}}, {MAIN, 0, ASSAY_NONE, {4}}, {B, 0, ASSAY_NONE, {8}}};
    add_block(ds, metric, 0, AS_DTYPE_INT64, rows, 3);
    static const bool wanted[3] = {false, true, false};
    as_node_list n = nodes_of(ds, 0, metric, ASSAY_NONE);
    check_integers(&n, 0, MAIN, 14, 6);
    assay_error error;
    assert_int_equal(as_nodes_find_at(ds, 0, metric, ASSAY_NONE, wanted, &n, &error), ASSAY_OK);
    check_integers(&n, 0, MAIN, 2, 2);
    as_node_list_free(&n);
    as_dataset_free(ds);
}

/* Many contexts, each at a location of its own: no more memory than there are values. Sums beyond 64 bits are sums as
 * well. */
static void contexts_of_many_locations(void **state) {
    (void)state;
    enum { N = 50000 }; /* a number for each context and location would be 20 GB */
    as_dataset *ds = as_dataset_new(1 << 26);
    as_tree tree;
    const assay_id *ids;
    as_tree_init(&tree, ds);
    row *rows = calloc(N, sizeof *rows);
    for (assay_id i = 0; i < N; i++) {
        char path[32];
        snprintf(path, sizeof path, "main->f%u", i);
        as_tree_path(&tree, path, strlen(path));
        as_location location = AS_LOCATION_INIT;
        location.leaf = true;
        as_add_location(ds, &location);
        rows[i] = (row){i + 1, 0, i, {.u = UINT64_MAX}};
    }
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    as_add_run(ds, &AS_RUN_INIT);
    assay_id metric = add_metric(ds, AS_KIND_EXCLUSIVE);
    add_block(ds, metric, 0, AS_DTYPE_UINT64, rows, N);
    as_node_list n = nodes_of(ds, 0, metric, ASSAY_NONE);
    assert_int_equal(n.nodes.count, N + 1);
    assert_true(as_node_at(&n, 0)->whole_inclusive == (as_whole)UINT64_MAX * N);
    as_node_list_free(&n);

    for (assay_id i = 0; i < 3; i++) rows[i] = (row){1, 0, i, {.u = UINT64_MAX}};
    assay_id few = add_metric(ds, AS_KIND_EXCLUSIVE);
    add_block(ds, few, 0, AS_DTYPE_UINT64, rows, 3);
    n = nodes_of(ds, 0, few, ASSAY_NONE);
    assert_true(as_node_at(&n, 0)->whole_inclusive == (as_whole)UINT64_MAX * 3);
    as_node_list_free(&n);
    free(rows);
    as_dataset_free(ds);
}

static void inclusive_values_lose_their_children(void **state) {
    (void)state;
    as_dataset *ds = make_tree();
    assay_id metric = add_metric(ds, AS_KIND_INCLUSIVE);
    static const row first[] = {{MAIN, 0, 0, {.r = 10}},
                                {A, 0, 0, {.r = 7}},
                                {B, 0, 0, {.r = 1.5}},
                                {C, 0, 0, {.r = 2.5}},
                                {D, 0, 0, {.r = 1}}};
    static const row second[] = {{MAIN, 1, 0, {.r = INFINITY}}, {B, 1, 0, {.r = NAN}}};
    add_block(ds, metric, 0, AS_DTYPE_DOUBLE, first, 5); /* one block a run */
    add_block(ds, metric, 1, AS_DTYPE_DOUBLE, second, 2);
    as_node_list n = nodes_of(ds, 0, metric, ASSAY_NONE);
    static const double inclusive[] = {10, 7, 1.5, 2.5, 1}, exclusive[] = {2, 3, 1.5, 2.5, 1};
    assert_int_equal(n.nodes.count, 5);
    for (size_t i = 0; i < 5; i++) {
        const as_node *node = node_at(&n, i, (assay_id)i);
        assert_int_equal(node->inclusive.kind, AS_REAL);
        assert_true(node->inclusive.r == inclusive[i] && node->exclusive.r == exclusive[i]);
    }
    as_node_list_free(&n);

    n = nodes_of(ds, 1, metric, ASSAY_NONE);
    assert_int_equal(n.nodes.count, 3);
    assert_true(isinf(node_at(&n, 0, MAIN)->exclusive.r));
    assert_true(node_at(&n, 1, A)->inclusive.r == 0 && isnan(node_at(&n, 1, A)->exclusive.r)); /* 0 less its child's */
    assert_true(isnan(node_at(&n, 2, B)->inclusive.r));
    as_node_list_free(&n);
    as_dataset_free(ds);
}

static void integers_keep_64_bits(void **state) {
    (void)state;
    as_dataset *ds = make_tree();
    assay_id exclusive = add_metric(ds, AS_KIND_EXCLUSIVE), inclusive = add_metric(ds, AS_KIND_INCLUSIVE);
    static const row rows[] = {{MAIN, 0, 0, {.u = 1}},
                               {A, 0, 0, {.u = UINT64_MAX - 1}},
                               {D, 0, 0, {.u = 0}},
                               {OTHER, 0, 0, {.u = UINT64_MAX}},
                               {OTHER, 0, 1, {.u = UINT64_MAX}}};
    add_block(ds, exclusive, 0, AS_DTYPE_UINT64, rows, 5);
    as_node_list n = nodes_of(ds, 0, exclusive, ASSAY_NONE);
    assert_int_equal(node_at(&n, 0, MAIN)->inclusive.kind, AS_UINT);
    assert_true(node_at(&n, 0, MAIN)->inclusive.u == UINT64_MAX);
    assert_int_equal(node_at(&n, 2, D)->inclusive.kind, AS_INT);
    assert_int_equal(node_at(&n, 3, OTHER)->inclusive.kind, AS_REAL); /* more than 64 bits: 2^65 - 2 */
    assert_true(node_at(&n, 3, OTHER)->inclusive.r == 36893488147419103232.0);
    as_node_list_free(&n);

    /* Unsigned children that outweigh their parent leave 0. */
    static const row uneven[] = {{MAIN, 0, 0, {.u = 5}}, {A, 0, 0, {.u = 4}}, {D, 0, 0, {.u = 3}}};
    add_block(ds, inclusive, 0, AS_DTYPE_UINT64, uneven, 3);
    n = nodes_of(ds, 0, inclusive, ASSAY_NONE);
    check_integers(&n, 0, MAIN, 5, 0);
    as_node_list_free(&n);
    as_dataset_free(ds);
}

static void signed_differences_go_below_zero(void **state) {
    (void)state;
    as_dataset *ds = make_tree();
    assay_id metric = add_metric(ds, AS_KIND_INCLUSIVE);
    static const row uneven[] = {{MAIN, 0, 0, {5}}, {A, 0, 0, {4}}, {D, 0, 0, {3}}};
    add_block(ds, metric, 0, AS_DTYPE_INT64, uneven, 3);
    as_node_list n = nodes_of(ds, 0, metric, ASSAY_NONE);
    check_integers(&n, 0, MAIN, 5, -2);
    as_node_list_free(&n);
    as_dataset_free(ds);
}

static void other_kinds_have_one_value(void **state) {
    (void)state;
    static const as_metric_kind kinds[] = {AS_KIND_NONE, AS_KIND_POINT, AS_KIND_LEXICAL, AS_KIND_DERIVED};
    as_dataset *ds = make_tree();
    for (size_t i = 0; i < 4; i++) {
        assay_id metric = add_metric(ds, kinds[i]);
        static const row rows[] = {{MAIN, 0, 0, {1}}, {MAIN, 0, 1, {2}}, {B, 0, 0, {10}}};
        add_block(ds, metric, 0, AS_DTYPE_INT64, rows, 3);
        as_node_list n = nodes_of(ds, 0, metric, ASSAY_NONE);
        assert_int_equal(n.nodes.count, 2);
        assert_int_equal(node_at(&n, 0, MAIN)->inclusive.i, 3);
        assert_false(node_at(&n, 0, MAIN)->has_exclusive);
        assert_int_equal(node_at(&n, 1, B)->inclusive.i, 10);
        as_node_list_free(&n);
        n = nodes_of(ds, 1, metric, ASSAY_NONE);
        assert_int_equal(n.nodes.count, 0);
        as_node_list_free(&n);
    }
    as_dataset_free(ds);
}

/* So many locations that several threads share them. */
static void unsigned_differences_of_many_locations(void **state) {
    (void)state;
    enum { N = 60000 };
    static const assay_id contexts[] = {MAIN, A, B, C, D};
    as_dataset *ds = make_tree();
    assay_id *places = malloc(N * sizeof *places);
    uint64_t *wide = malloc(5 * N * sizeof *wide);
    uint32_t *narrow = malloc(5 * N * sizeof *narrow);
    assert_true(places && wide && narrow);
    for (uint32_t i = 0; i < N; i++) {
        const uint64_t column[] = {10, i % 2 ? 7 : 3, 2, i % 5 ? 0 : UINT64_MAX, 6};
        places[i] = i;
        for (size_t k = 0; k < 5; k++) {
            wide[k * N + i] = column[k];
            narrow[k * N + i] = (uint32_t)column[k];
        }
    }
    for (int is_narrow = 0; is_narrow < 2; is_narrow++) {
        as_profile profile = {.metric = add_metric(ds, AS_KIND_INCLUSIVE),
                              .type = as_value_type_of(is_narrow ? AS_DTYPE_UINT32 : AS_DTYPE_UINT64, 0),
                              .n_rows = 5,
                              .n_columns = N,
                              .columns = places,
                              .contexts = contexts,
                              .values = is_narrow ? (const char *)narrow : (const char *)wide};
        assert_true(as_add_profile(ds, &profile));
        as_node_list n = nodes_of(ds, 0, profile.metric, ASSAY_NONE);
        assert_int_equal(n.nodes.count, 5);
        check_integers(&n, 0, MAIN, 10 * N, N / 2);            /* 10 - 3 - 6 at every second location, else 0 */
        check_integers(&n, 1, A, 5 * N, N * 4 / 10 * (5 + 1)); /* 7 - 2 and 3 - 2, and 0 at every fifth */
        check_integers(&n, 2, B, 2 * N, 2 * N);
        as_whole most = is_narrow ? UINT32_MAX : UINT64_MAX;
        assert_true(node_at(&n, 3, C)->whole_exclusive == most * (N / 5));
        check_integers(&n, 4, D, 6 * N, 6 * N);
        as_node_list_free(&n);
    }
    as_dataset_free(ds);
    free(places);
    free(wide);
    free(narrow);
}

/* 64 bits are enough until they are not. */
static void lists_are_for_large_sums(void **state) {
    (void)state;
    as_dataset *ds = make_tree();
    assay_id small = add_metric(ds, AS_KIND_EXCLUSIVE), large = add_metric(ds, AS_KIND_EXCLUSIVE),
             inclusive = add_metric(ds, AS_KIND_INCLUSIVE), other = add_metric(ds, AS_KIND_NONE);
    static const row small_rows[] = {{MAIN, 0, 0, {INT64_MAX - 1}}, {B, 0, 0, {1}}};
    static const row large_rows[] = {{MAIN, 0, 0, {INT64_MAX}}, {B, 0, 0, {1}}};
    static const row falling[] = {{MAIN, 0, 0, {INT64_MIN}}, {A, 0, 0, {1}}};
    add_block(ds, small, ASSAY_NONE, AS_DTYPE_INT64, small_rows, 2);
    add_block(ds, large, ASSAY_NONE, AS_DTYPE_INT64, large_rows, 2);
    add_block(ds, inclusive, ASSAY_NONE, AS_DTYPE_INT64, falling, 2);
    add_block(ds, other, ASSAY_NONE, AS_DTYPE_INT64, small_rows, 2);
    as_node_list n = nodes_of(ds, 0, small, ASSAY_NONE);
    check_integers(&n, 0, MAIN, INT64_MAX, INT64_MAX - 1);
    assert_true(check_compact(ds, 0, small, &n));
    as_node_list_free(&n);

    n = nodes_of(ds, 0, large, ASSAY_NONE);
    assert_true(node_at(&n, 0, MAIN)->whole_inclusive == (as_whole)INT64_MAX + 1);
    assert_true(node_at(&n, 0, MAIN)->whole_exclusive == INT64_MAX);
    check_integers(&n, 1, A, 1, 0);
    assert_false(check_compact(ds, 0, large, &n));
    as_node_list_free(&n);

    n = nodes_of(ds, 0, inclusive, ASSAY_NONE);
    assert_true(node_at(&n, 0, MAIN)->whole_exclusive == (as_whole)INT64_MIN - 1);
    assert_false(check_compact(ds, 0, inclusive, &n));
    as_node_list_free(&n);

    n = nodes_of(ds, 0, other, ASSAY_NONE); /* has no two values */
    assert_false(check_compact(ds, 0, other, &n));
    as_node_list_free(&n);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exclusive_values_add_up),
        cmocka_unit_test(inclusive_values_lose_their_children),
        cmocka_unit_test(integers_keep_64_bits),
        cmocka_unit_test(lists_are_for_large_sums),
        cmocka_unit_test(signed_differences_go_below_zero),
        cmocka_unit_test(other_kinds_have_one_value),
        cmocka_unit_test(some_locations_alone),
        cmocka_unit_test(rows_without_a_location),
        cmocka_unit_test(contexts_of_many_locations),
        cmocka_unit_test(unsigned_differences_of_many_locations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
