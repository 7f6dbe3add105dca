/* Views as tables: items, values, orders, hot paths and searches, reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/views/table.h"
#include "blocks.h"

/* Inclusive and exclusive values in brackets:
 *
 *   0 main (63, 1)            6 helper (30, 10)
 *   1 +- f (30, 2)            7 +- g (20, 20)
 *   2 |  +- f (12, 4)
 *   3 |  |  +- g (8, 8)
 *   4 |  +- g (16, 16)
 *   5 +- g (32, 32)                                                                 */
static const char *const paths[] = {"main",       "main->f", "main->f->f", "main->f->f->g",
                                    "main->f->g", "main->g", "helper",     "helper->g"};
enum { N = 8 };
static const row own_values[N] = {{0, 0, 0, {1}},  {1, 0, 0, {2}},  {2, 0, 0, {4}},  {3, 0, 0, {8}},
                                  {4, 0, 0, {16}}, {5, 0, 0, {32}}, {6, 0, 0, {10}}, {7, 0, 0, {20}}};

static as_dataset *make_dataset(as_metric_kind kind, const row *rows, size_t n_rows) {
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    as_metric metric = AS_METRIC_INIT;
    const assay_id *ids;
    as_tree_init(&tree, ds);
    for (size_t i = 0; i < N; i++) as_tree_path(&tree, paths[i], strlen(paths[i]));
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    assert_int_equal(as_add_run(ds, &AS_RUN_INIT), 0);
    metric.kind = kind;
    add_block(ds, as_add_metric(ds, &metric), 0, AS_DTYPE_INT64, rows, n_rows);
    return ds;
}

/* A table with its values. */
struct made {
    as_dataset *ds;
    as_view_table *table;
    as_view_values *values;
};

static struct made make_of(as_dataset *ds, as_view_request request) {
    static const assay_id run = 0, metric = 0;
    struct made made = {.ds = ds};
    as_view_data data;
    assay_error error;
    as_view_source source = {.ds = ds, .runs = &run, .n_runs = 1, .point = ASSAY_NONE};
    assert_int_equal(as_view_load(&source, &metric, 1, NULL, 0, &data, &error), ASSAY_OK);
    as_view_values *at_once;
    assert_int_equal(as_view_table_new(&data, &request, &made.table, &at_once, &error), ASSAY_OK);
    assert_int_equal(as_view_values_new(made.table, &data, &made.values, &error), ASSAY_OK);
    assert_memory_equal(at_once->inclusive, made.values->inclusive, made.values->n * sizeof(double));
    assert_int_equal(at_once->exclusive == NULL, made.values->exclusive == NULL);
    if (at_once->exclusive)
        assert_memory_equal(at_once->exclusive, made.values->exclusive, made.values->n * sizeof(double));
    as_view_values_free(at_once);
    as_view_data_free(&data);
    return made;
}

static struct made make(as_view_request request) {
    return make_of(make_dataset(AS_KIND_EXCLUSIVE, own_values, N), request);
}

static void unmake(struct made *made) {
    as_view_values_free(made->values);
    as_view_table_free(made->table);
    as_dataset_free(made->ds);
}

#define REQUEST(...) ((as_view_request){__VA_ARGS__})

/* "main 63 1 end 6": a line for each item, indented by its depth; "+" behind what is cut. */
static void check_items(const struct made *made, const char *expected) {
    char text[2000] = "";
    size_t size = 0;
    for (uint32_t i = 0; i < as_view_items(made->table); i++) {
        const as_view_item *item = as_view_item_at(made->table, i);
        size +=
            (size_t)snprintf(text + size, sizeof text - size, "%*s%s %g %g end %u%s\n", 2 * (int)item->depth, "",
                             as_ds_text(made->ds, item->name), made->values->inclusive[i], made->values->exclusive[i],
                             (unsigned)item->end, item->flags & AS_ITEM_CUT ? " +" : "");
    }
    assert_string_equal(text, expected);
}

static void check_list(as_vec *list, const uint32_t *expected, size_t n) {
    assert_int_equal(list->count, n);
    for (size_t i = 0; i < n; i++) assert_int_equal(AS_AT(uint32_t, list, i), expected[i]);
    as_vec_free(list);
}
#define CHECK_LIST(list, ...)                                                                                          \
    check_list(list, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static as_vec children(const struct made *made, as_view_order order, uint32_t of, size_t offset, size_t limit,
                       size_t n_expected) {
    as_vec out;
    size_t n;
    as_vec_init(&out, sizeof(uint32_t), NULL);
    order.values = made->values;
    assert_true(as_view_children(made->table, &order, of, offset, limit, &out, &n));
    assert_int_equal(n, n_expected);
    return out;
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

static void a_tree_is_a_table(void **state) {
    (void)state;
    struct made made = make(REQUEST(0));
    check_items(&made, "main 63 1 end 6\n"
                       "  f 30 2 end 5\n"
                       "    f 12 4 end 4\n"
                       "      g 8 8 end 4\n"
                       "    g 16 16 end 5\n"
                       "  g 32 32 end 6\n"
                       "helper 30 10 end 8\n"
                       "  g 20 20 end 8\n");
    assert_int_equal(as_view_item_at(made.table, 4)->parent, 1);
    assert_int_equal(as_view_item_at(made.table, 6)->parent, AS_NO_ITEM);
    assert_true(made.values->whole == 93);
    for (assay_id context = 0; context < N; context++) assert_int_equal(as_view_item_of(made.table, context), context);
    unmake(&made);
}

static void levels_that_are_cut_say_so(void **state) {
    (void)state;
    struct made made = make(REQUEST(.max_levels = 2));
    check_items(&made, "main 63 1 end 3\n"
                       "  f 30 2 end 2 +\n"
                       "  g 32 32 end 3\n"
                       "helper 30 10 end 5\n"
                       "  g 20 20 end 5\n");
    assert_int_equal(as_view_item_of(made.table, 5), 2);
    assert_int_equal(as_view_item_of(made.table, 3), 1); /* what it lies below */
    unmake(&made);
}

static void flat_lists_have_sums(void **state) {
    (void)state;
    struct made made = make(REQUEST(.kind = AS_VIEW_FLAT));
    check_items(&made, "main 63 1 end 1\n"
                       "f 30 6 end 2\n" /* the inner one is inside the outer */
                       "g 76 76 end 3\n"
                       "helper 30 10 end 4\n");
    unmake(&made);
}

static void callers_go_up_as_far_as_there_are_steps(void **state) {
    (void)state;
    struct made made = make(REQUEST(.kind = AS_VIEW_BOTTOM_UP, .max_steps = 1));
    check_items(&made, "main 63 1 end 1\n"
                       "f 30 6 end 2 +\n"
                       "g 76 76 end 3 +\n"
                       "helper 30 10 end 4\n");
    unmake(&made);

    /* Of f alone there are two steps to the first callers, and one more to the second */
    as_dataset *ds = make_dataset(AS_KIND_EXCLUSIVE, own_values, N);
    bool *wanted = calloc(ds->strings.entries.count + 1, sizeof *wanted);
    wanted[as_find(&ds->strings, "f", 1)] = true;
    made = make_of(ds, REQUEST(.kind = AS_VIEW_BOTTOM_UP, .max_steps = 2, .wanted = wanted));
    check_items(&made, "f 30 6 end 3\n"
                       "  main 30 2 end 2\n"
                       "  f 12 4 end 3 +\n");
    assert_int_equal(as_view_item_node(made.table, 1).origin, 1);
    assert_int_equal(as_view_item_node(made.table, 2).origin, 2);
    free(wanted);
    unmake(&made);
}

/* Values of experiments need not be there for all; then what lies below counts. */
static void what_has_no_value_is_as_large_as_what_lies_below(void **state) {
    static const row rows[] = {{3, 0, 0, {8}}, {5, 0, 0, {5}}};
    (void)state;
    struct made made = make_of(make_dataset(AS_KIND_NONE, rows, 2), REQUEST(0));
    assert_null(made.values->exclusive);
    assert_true(isnan(made.values->inclusive[1]));
    assert_true(as_view_item_size(made.values, 1, false) == 8);
    assert_true(as_view_item_size(made.values, 1, true) == 8);
    as_vec list = children(&made, (as_view_order){.by = AS_SORT_INCLUSIVE}, 0, 0, 10, 2);
    CHECK_LIST(&list, 1, 5);
    unmake(&made);
}

/* ---- what is hidden ---------------------------------------------------------------------------------------------- */

/* Hides the nodes of one name, and the subtrees of another; NULL: of none. */
static void check_hidden(struct made all, const char *node, const char *subtree, const char *expected,
                         unsigned n_hidden, double sum) {
    uint8_t *hidden = calloc(all.ds->strings.entries.count + 1, sizeof *hidden);
    struct made made = {.ds = all.ds};
    assay_error error;
    if (node) hidden[as_find(&all.ds->strings, node, strlen(node))] |= AS_HIDES_NODE;
    if (subtree) hidden[as_find(&all.ds->strings, subtree, strlen(subtree))] |= AS_HIDES_SUBTREE;
    assert_int_equal(as_view_table_hide(all.table, hidden, &made.table, &error), ASSAY_OK);
    assert_int_equal(as_view_values_hide(made.table, all.table, all.values, &made.values, &error), ASSAY_OK);
    check_items(&made, expected);
    assert_int_equal(made.table->cut.hidden, n_hidden);
    assert_true(made.values->hidden == sum);
    assert_true(made.values->whole == all.values->whole);
    as_view_values_free(made.values);
    as_view_table_free(made.table);
    free(hidden);
    unmake(&all);
}

static void what_lies_below_hidden_nodes_stands_in_their_place(void **state) {
    (void)state;
    check_hidden(make(REQUEST(0)), "f", NULL,
                 "main 63 1 end 4\n"
                 "  g 8 8 end 2\n"
                 "  g 16 16 end 3\n"
                 "  g 32 32 end 4\n"
                 "helper 30 10 end 6\n"
                 "  g 20 20 end 6\n",
                 2, 2 + 4);
}

static void hidden_subtrees_are_gone_with_all_they_have(void **state) {
    (void)state;
    check_hidden(make(REQUEST(0)), NULL, "f",
                 "main 63 1 end 2\n"
                 "  g 32 32 end 2\n"
                 "helper 30 10 end 4\n"
                 "  g 20 20 end 4\n",
                 4, 30);
    check_hidden(make(REQUEST(0)), "main", "helper",
                 "f 30 2 end 4\n"
                 "  f 12 4 end 3\n"
                 "    g 8 8 end 3\n"
                 "  g 16 16 end 4\n"
                 "g 32 32 end 5\n",
                 3, 1 + 30);
}

static void hidden_functions_are_not_listed(void **state) {
    (void)state;
    check_hidden(make(REQUEST(.kind = AS_VIEW_FLAT)), "g", NULL,
                 "main 63 1 end 1\n"
                 "f 30 6 end 2\n"
                 "helper 30 10 end 3\n",
                 1, 8 + 16 + 32 + 20);
}

/* As a caller f is passed over. */
static void hidden_functions_have_no_callers_and_are_none(void **state) {
    (void)state;
    as_dataset *ds = make_dataset(AS_KIND_EXCLUSIVE, own_values, N);
    uint8_t *hidden = calloc(ds->strings.entries.count + 1, sizeof *hidden);
    hidden[as_find(&ds->strings, "f", 1)] = AS_HIDES_NODE;
    struct made made = make_of(ds, REQUEST(.kind = AS_VIEW_BOTTOM_UP, .hidden = hidden));
    check_items(&made, "main 63 1 end 1\n"
                       "g 76 76 end 4\n"
                       "  main 56 56 end 3\n"
                       "  helper 20 20 end 4\n"
                       "helper 30 10 end 5\n");
    assert_int_equal(made.table->cut.hidden, 1);
    assert_true(made.values->hidden == 2 + 4);
    free(hidden);
    unmake(&made);
}

/* Nobody knows what nodes of experiments have themselves; sizes are those of what is left below. */
static void what_values_that_do_not_add_up_hide_is_not_known(void **state) {
    static const row rows[] = {{3, 0, 0, {8}}, {4, 0, 0, {6}}, {5, 0, 0, {5}}};
    (void)state;
    struct made all = make_of(make_dataset(AS_KIND_NONE, rows, 3), REQUEST(0)), made = {.ds = all.ds};
    uint8_t *hidden = calloc(all.ds->strings.entries.count + 1, sizeof *hidden);
    assay_error error;
    assert_true(as_view_item_size(all.values, 1, false) == 8);
    hidden[as_find(&all.ds->strings, "f", 1)] = AS_HIDES_SUBTREE;
    assert_int_equal(as_view_table_hide(all.table, hidden, &made.table, &error), ASSAY_OK);
    assert_int_equal(as_view_values_hide(made.table, all.table, all.values, &made.values, &error), ASSAY_OK);
    assert_true(as_view_item_size(made.values, 0, false) == 5);
    assert_true(isnan(made.values->hidden));
    as_view_values_free(made.values);
    as_view_table_free(made.table);
    free(hidden);
    unmake(&all);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static void children_come_in_any_order(void **state) {
    (void)state;
    struct made made = make(REQUEST(0));
    as_vec list = children(&made, (as_view_order){.by = AS_SORT_INCLUSIVE}, 0, 0, 10, 2);
    CHECK_LIST(&list, 5, 1);
    list = children(&made, (as_view_order){.by = AS_SORT_INCLUSIVE, .is_reversed = true}, 0, 0, 10, 2);
    CHECK_LIST(&list, 1, 5);
    list = children(&made, (as_view_order){.by = AS_SORT_NAME}, AS_NO_ITEM, 0, 10, 2);
    CHECK_LIST(&list, 6, 0);
    list = children(&made, (as_view_order){.by = AS_SORT_SOURCE, .is_reversed = true}, AS_NO_ITEM, 0, 10, 2);
    CHECK_LIST(&list, 6, 0);
    list = children(&made, (as_view_order){.by = AS_SORT_EXCLUSIVE}, AS_NO_ITEM, 1, 1, 2);
    CHECK_LIST(&list, 0);
    list = children(&made, (as_view_order){.by = AS_SORT_EXCLUSIVE}, AS_NO_ITEM, 2, 5, 2);
    assert_int_equal(list.count, 0);
    as_vec_free(&list);
    list = children(&made, (as_view_order){.by = AS_SORT_NAME}, 3, 0, 10, 0);
    assert_int_equal(list.count, 0);
    as_vec_free(&list);
    unmake(&made);
}

/* 1000 siblings with the values 7 * i modulo 1000: the largest come first, whatever part of them is asked for. */
static void of_many_children_the_first_are_found(void **state) {
    enum { MANY = 1000 };
    static row rows[MANY];
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    as_metric metric = AS_METRIC_INIT;
    const assay_id *ids;
    as_tree_init(&tree, ds);
    for (unsigned i = 0; i < MANY; i++) {
        char path[20];
        as_tree_path(&tree, path, (size_t)snprintf(path, sizeof path, "r%u", i));
        rows[i] = (row){.context = i, .i = 7 * i % MANY};
    }
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    as_add_run(ds, &AS_RUN_INIT);
    metric.kind = AS_KIND_EXCLUSIVE;
    add_block(ds, as_add_metric(ds, &metric), 0, AS_DTYPE_INT64, rows, MANY);
    struct made made = make_of(ds, REQUEST(0));
    static const size_t places[][2] = {{0, 1}, {0, 10}, {95, 20}, {500, 500}, {0, MANY}};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        as_vec list =
            children(&made, (as_view_order){.by = AS_SORT_INCLUSIVE}, AS_NO_ITEM, places[k][0], places[k][1], MANY);
        assert_int_equal(list.count, places[k][1]);
        for (size_t i = 0; i < list.count; i++)
            assert_true(made.values->inclusive[AS_AT(uint32_t, &list, i)] == (double)(MANY - 1 - places[k][0] - i));
        as_vec_free(&list);
    }
    unmake(&made);
}

static void the_hot_path_goes_on_from_anywhere(void **state) {
    (void)state;
    struct made made = make(REQUEST(0));
    as_vec path;
    as_vec_init(&path, sizeof(uint32_t), NULL);
    assert_true(as_view_hot_path(made.table, made.values, AS_NO_ITEM, 0, &path));
    CHECK_LIST(&path, 0, 5); /* 32 of 63 */
    as_vec_init(&path, sizeof(uint32_t), NULL);
    assert_true(as_view_hot_path(made.table, made.values, 1, 0, &path));
    CHECK_LIST(&path, 4); /* 16 of 30 */
    as_vec_init(&path, sizeof(uint32_t), NULL);
    assert_true(as_view_hot_path(made.table, made.values, 1, 0.6, &path));
    assert_int_equal(path.count, 0);
    as_vec_free(&path);
    unmake(&made);
}

/* ---- search ------------------------------------------------------------------------------------------------------ */

static as_view_found search(const struct made *made, const char *text) {
    as_view_found found;
    assay_error error;
    assert_int_equal(as_view_search(made->table, text, NULL, &found, &error), ASSAY_OK);
    return found;
}

static void matches_have_marks_and_a_sum(void **state) {
    enum { MATCH = AS_MARK_MATCH, ABOVE = AS_MARK_ABOVE, BELOW = AS_MARK_BELOW };
    static const uint8_t marks[N] = {ABOVE, MATCH | ABOVE, MATCH | BELOW, BELOW, BELOW, 0, 0, 0};
    (void)state;
    struct made made = make(REQUEST(0));
    as_view_found found = search(&made, "/^f$/");
    assert_int_equal(found.n, 2);
    assert_memory_equal(found.marks, marks, N);
    assert_true(as_view_found_sum(made.table, &found, made.values, false) == 30);
    assert_true(as_view_found_sum(made.table, &found, made.values, true) == 6);
    as_vec list = children(&made, (as_view_order){.by = AS_SORT_SOURCE, .marks = found.marks}, 0, 0, 10, 1);
    CHECK_LIST(&list, 1);
    as_view_found_free(&found);
    unmake(&made);
}

static void small_letters_stand_for_large_ones(void **state) {
    (void)state;
    struct made made = make(REQUEST(0));
    as_view_found found = search(&made, "ELP");
    assert_int_equal(found.n, 0);
    as_view_found_free(&found);
    found = search(&made, "elp");
    assert_int_equal(found.n, 1);
    as_view_found_free(&found);
    assay_error error;
    assert_int_equal(as_view_search(made.table, "/(/", NULL, &found, &error), ASSAY_E_USAGE);
    as_view_found_free(&found);
    unmake(&made);
}

/* Sorted by inclusive values a reader meets main, g 5, f 1, g 4, f 2, g 3, helper, g 7. */
static void matches_follow_one_another_as_they_are_shown(void **state) {
    static const uint32_t in_order[] = {5, 4, 3, 7};
    (void)state;
    struct made made = make(REQUEST(0));
    as_view_found found = search(&made, "g");
    as_view_order order = {.by = AS_SORT_INCLUSIVE, .values = made.values};
    uint32_t at = AS_NO_ITEM;
    for (size_t i = 0; i < 4; i++) {
        at = as_view_next_match(made.table, &order, &found, at, false);
        assert_int_equal(at, in_order[i]);
    }
    assert_int_equal(as_view_next_match(made.table, &order, &found, at, false), AS_NO_ITEM);
    at = AS_NO_ITEM;
    for (size_t i = 4; i-- > 0;) {
        at = as_view_next_match(made.table, &order, &found, at, true);
        assert_int_equal(at, in_order[i]);
    }
    assert_int_equal(as_view_next_match(made.table, &order, &found, at, true), AS_NO_ITEM);
    assert_int_equal(as_view_next_match(made.table, &order, &found, 1, false), 4);
    as_view_found_free(&found);

    found = search(&made, "f"); /* above one another */
    at = as_view_next_match(made.table, &order, &found, 3, true);
    assert_int_equal(at, 2);
    assert_int_equal(as_view_next_match(made.table, &order, &found, at, true), 1);
    as_view_found_free(&found);
    unmake(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_a_table),
        cmocka_unit_test(levels_that_are_cut_say_so),
        cmocka_unit_test(flat_lists_have_sums),
        cmocka_unit_test(callers_go_up_as_far_as_there_are_steps),
        cmocka_unit_test(what_has_no_value_is_as_large_as_what_lies_below),
        cmocka_unit_test(what_lies_below_hidden_nodes_stands_in_their_place),
        cmocka_unit_test(hidden_subtrees_are_gone_with_all_they_have),
        cmocka_unit_test(hidden_functions_are_not_listed),
        cmocka_unit_test(hidden_functions_have_no_callers_and_are_none),
        cmocka_unit_test(what_values_that_do_not_add_up_hide_is_not_known),
        cmocka_unit_test(children_come_in_any_order),
        cmocka_unit_test(of_many_children_the_first_are_found),
        cmocka_unit_test(the_hot_path_goes_on_from_anywhere),
        cmocka_unit_test(matches_have_marks_and_a_sum),
        cmocka_unit_test(small_letters_stand_for_large_ones),
        cmocka_unit_test(matches_follow_one_another_as_they_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
