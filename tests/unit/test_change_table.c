/* What changed, as tables: which items there are, whose contexts they have, and their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/algebra/change_table.h"
#include "profiles.h"
#include "sparse_files.h"

typedef struct pair {
    as_dataset *sides[2];
    as_comparison c;
    as_view_source sources[2];
    as_change_pairs *pairs;
    as_change_table *table;
    as_change_values *values;
} pair;

static void open_pair(pair *p, const char *base, const char *target) {
    static const assay_id run = 0;
    static const char metrics[] = "time DOUBLE inclusive";
    assay_error error;
    *p = (pair){.sides = {make_profile("0/0 1/0", metrics, base), make_profile("0/0 1/0", metrics, target)}};
    assert_int_equal(as_comparison_open((const as_dataset *const *)p->sides, &p->c, &error), ASSAY_OK);
    for (size_t side = 0; side < 2; side++)
        p->sources[side] = (as_view_source){.ds = p->sides[side], .runs = &run, .n_runs = 1, .point = ASSAY_NONE};
}

static void make_tree_with(pair *p, bool with_own) {
    const as_dataset *const *sides = (const as_dataset *const *)p->sides;
    assay_error error;
    assert_int_equal(as_change_pairs_new(sides, AS_MATCH_NAME, &p->pairs, &error), ASSAY_OK);
    assert_int_equal(as_change_table_new(sides, p->pairs, &p->table, &error), ASSAY_OK);
    assert_int_equal(as_change_values_new(p->table, &p->c, p->sources, 0, with_own, &p->values, &error), ASSAY_OK);
}

static void make_tree(pair *p) { make_tree_with(p, false); }

static void make_functions(pair *p) {
    assay_error error;
    assert_int_equal(as_change_functions_new((const as_dataset *const *)p->sides, &p->table, &error), ASSAY_OK);
    assert_int_equal(as_change_values_new(p->table, &p->c, p->sources, 0, false, &p->values, &error), ASSAY_OK);
}

static void close_pair(pair *p) {
    as_change_values_free(p->values);
    as_change_table_free(p->table);
    as_change_pairs_free(p->pairs);
    as_comparison_close(&p->c);
    for (size_t side = 0; side < 2; side++) as_dataset_free(p->sides[side]);
}

/* "name contexts inclusive exclusive", each as base>target, a line for each item, indented by its depth. */
static void assert_items(const pair *p, const char *expected) {
    char text[2048] = "";
    const as_view_table *view = &p->table->view;
    for (uint32_t i = 0; i < as_view_items(view); i++) {
        const as_view_item *item = as_view_item_at(view, i);
        size_t used = strlen(text);
        double numbers[4];
        for (size_t k = 0; k < 4; k++) numbers[k] = as_change_number(p->table, p->values, k % 2, i, k / 2);
        snprintf(text + used, sizeof text - used, "%*s%s %d>%d %g>%g %g>%g\n", 2 * (int)item->depth, "",
                 as_ds_text(view->ds, item->name), (int)as_change_context(p->table, AS_BASE, i),
                 (int)as_change_context(p->table, AS_TARGET, i), numbers[0], numbers[1], numbers[2], numbers[3]);
        assert_int_equal(!(item->flags & AS_ITEM_IN_BASE), as_change_context(p->table, AS_BASE, i) == ASSAY_NONE);
        assert_int_equal(!(item->flags & AS_ITEM_IN_TARGET), as_change_context(p->table, AS_TARGET, i) == ASSAY_NONE);
    }
    assert_string_equal(text, expected);
}

static void assert_only(const pair *p, size_t side, const char *expected) {
    char text[256] = "";
    for (size_t i = 0; i < p->table->only[side].count; i++) {
        size_t used = strlen(text);
        assay_id context = AS_AT(assay_id, &p->table->only[side], i);
        snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                 as_ds_text(p->sides[side], as_ds_context(p->sides[side], context)->name));
    }
    assert_string_equal(text, expected);
}

/* Children of the base come first, in its order; those that only the target has stand behind them, also below a pair
 * that stands elsewhere. */
static const char base_tree[] = "main:1 | 50 50\n"
                                "  f:5 | 10 10\n"
                                "    g | 4 4\n"
                                "  old | 3 3\n"
                                "  same | 7 7\n",
                  target_tree[] = "start | 1 0\n"
                                  "main:1 | 55 55\n"
                                  "  new | 1 1\n"
                                  "    g | 1 0\n"
                                  "  same | 7 7\n"
                                  "    below | 2 2\n"
                                  "  f:6 | 20 20\n"
                                  "    g | 2 2\n";

static void call_paths(void **state) {
    (void)state;
    pair p;
    open_pair(&p, base_tree, target_tree);
    make_tree(&p);
    assert_items(&p, "main 0>1 100>110 60>54\n"
                     "  f 1>6 20>40 12>36\n"
                     "    g 2>7 8>4 8>4\n"
                     "  old 3>-1 6>0 6>0\n"
                     "  same 4>4 14>14 14>10\n"
                     "    below -1>5 0>4 0>4\n"
                     "  new -1>2 0>2 0>1\n"
                     "    g -1>3 0>1 0>1\n"
                     "start -1>0 0>1 0>1\n");
    assert_only(&p, AS_BASE, "old");
    assert_only(&p, AS_TARGET, "below new start"); /* as they stand in the table, not in the target */
    assert_int_equal(as_change_item_of(p.table, AS_TARGET, p.sides[AS_TARGET], 5), 5);
    assert_int_equal(as_change_item_of(p.table, AS_BASE, p.sides[AS_BASE], 4), 4);
    close_pair(&p);
}

static void set_role(as_dataset *ds, assay_id context, as_context_role role) {
    AS_AT(as_context, &ds->contexts, context).role = (uint8_t)role;
}

/* A call site is one with its callees where one side has some; what has no place in the tree is no item. */
static void call_sites_and_the_placeless(void **state) {
    (void)state;
    pair p;
    open_pair(&p, "main | 9 0\n  site | 4 0\nlost | 1 0\n", "main | 9 0\n  site | 4 0\n    callee | 3 0\n  b | 1 0\n");
    set_role(p.sides[AS_BASE], 1, AS_ROLE_CALL_SITE);
    set_role(p.sides[AS_TARGET], 1, AS_ROLE_CALL_SITE);
    set_role(p.sides[AS_BASE], 2, AS_ROLE_PLACELESS);
    make_tree(&p);
    assert_items(&p, "main 0>0 9>9 5>4\n"
                     "  callee -1>2 0>3 0>3\n"
                     "  b -1>3 0>1 0>1\n");
    close_pair(&p);
    open_pair(&p, "main | 9 0\n  site | 4 0\n", "main | 9 0\n  site | 5 0\n");
    set_role(p.sides[AS_BASE], 1, AS_ROLE_CALL_SITE);
    set_role(p.sides[AS_TARGET], 1, AS_ROLE_CALL_SITE);
    make_tree(&p);
    assert_items(&p, "main 0>0 9>9 5>4\n"
                     "  site 1>1 4>5 4>5\n");
    close_pair(&p);
}

/* One item for g, which is called from two places of the target; those of the base first. */
static void functions(void **state) {
    (void)state;
    pair p;
    open_pair(&p, base_tree, target_tree);
    make_functions(&p);
    assert_items(&p, "main 0>1 100>110 60>54\n"
                     "f 1>6 20>40 12>36\n"
                     "g 2>3 8>5 8>5\n"
                     "old 3>-1 6>0 6>0\n"
                     "same 4>4 14>14 14>10\n"
                     "start -1>0 0>1 0>1\n"
                     "new -1>2 0>2 0>1\n"
                     "below -1>5 0>4 0>4\n");
    assert_only(&p, AS_BASE, "old");
    assert_only(&p, AS_TARGET, "start new below");
    close_pair(&p);
}

static void into_another_unit(void **state) {
    (void)state;
    pair p;
    open_pair(&p, base_tree, target_tree);
    p.c.factors[0] = 1000;
    make_tree(&p);
    assert_true(as_change_number(p.table, p.values, AS_TARGET, 0, false) == 110000);
    assert_true(as_change_number(p.table, p.values, AS_BASE, 0, false) == 100);
    assert_true(as_change_number(p.table, p.values, AS_TARGET, 1, true) == 36000);
    assert_true(p.values->sums[AS_TARGET] == 111000);
    assert_true(p.values->whole.inclusive.change.real == 110900);
    close_pair(&p);
}

/* main with f and one more below it, at two threads; what main does itself has nothing of these. */
static as_dataset *make_sparse(const char *other, const sparse_cell *inclusive, const sparse_cell *exclusive, size_t n,
                               sparse_cells cells[2]) {
    static const assay_id parents[] = {ASSAY_NONE, 0, 0};
    const char *names[] = {"main", "f", other};
    as_dataset *ds = as_dataset_new(0);
    add_threads(ds, 2);
    add_tree(ds, parents, names, 3);
    assert_int_equal(as_add_run(ds, &AS_RUN_INIT), 0);
    add_stored(ds, "time", AS_KIND_INCLUSIVE);
    add_stored(ds, "time", AS_KIND_EXCLUSIVE);
    make_pair(ds, 0, 1);
    cells[0] = sparse_of(inclusive, n);
    cells[1] = sparse_of(exclusive, n);
    add_sparse(ds, 0, &cells[0]);
    add_sparse(ds, 1, &cells[1]);
    return ds;
}

static void open_sparse_pair(pair *p, sparse_cells cells[2][2], const bool *locations, double factor) {
    static const sparse_cell inclusive[2][5] = {{{0, 0, 10}, {0, 1, 20}, {1, 0, 4}, {1, 1, 6}, {2, 1, 3}},
                                                {{0, 0, 12}, {0, 1, 20}, {1, 0, 8}, {2, 1, 4}, {2, 0, 1}}},
                             exclusive[2][5] = {{{0, 0, 6}, {0, 1, 11}, {1, 0, 4}, {1, 1, 6}, {2, 1, 3}},
                                                {{0, 0, 3}, {0, 1, 16}, {1, 0, 8}, {2, 1, 4}, {2, 0, 1}}};
    static const assay_id run = 0;
    assay_error error;
    *p = (pair){.sides = {make_sparse("g", inclusive[0], exclusive[0], 5, cells[0]),
                          make_sparse("h", inclusive[1], exclusive[1], 5, cells[1])}};
    assert_int_equal(as_comparison_open((const as_dataset *const *)p->sides, &p->c, &error), ASSAY_OK);
    for (size_t side = 0; side < 2; side++)
        p->sources[side] = (as_view_source){
            .ds = p->sides[side], .runs = &run, .n_runs = 1, .point = ASSAY_NONE, .locations = locations};
    p->c.factors[0] = factor;
}

static void open_sparse(pair *p, sparse_cells cells[2][2], const bool *locations, double factor) {
    open_sparse_pair(p, cells, locations, factor);
    make_tree(p);
}

static void assert_exclusive(const pair *p, const double expected[2][4]) {
    static const uint32_t items[] = {0, 1, 2, 3};
    double found[4], *own[2];
    assay_error error;
    assert_int_equal(as_view_items(&p->table->view), 4);
    assert_int_equal(as_change_own(p->table, p->values, p->sources, own, &error), ASSAY_OK);
    for (size_t side = 0; side < 2; side++) {
        assert_int_equal(as_change_exclusive(p->table, p->values, p->sources, side, items, 4, found, &error), ASSAY_OK);
        for (size_t i = 0; i < 4; i++) assert_true(found[i] == expected[side][i] && own[side][i] == expected[side][i]);
        free(own[side]);
    }
}

/* Stored exclusive values are read when they are needed, some or all, and in the unit that the others have. */
static void exclusive_values_come_later(void **state) {
    (void)state;
    pair p;
    sparse_cells cells[2][2];
    assay_error error;
    open_sparse(&p, cells, NULL, 1);
    assert_int_equal(cells[0][1].n_rows_read + cells[1][1].n_rows_read, 0);
    assert_true(p.values->sums[AS_BASE] == 30 && p.values->sums[AS_TARGET] == 32);
    assert_exclusive(&p, (const double[2][4]){{17, 10, 3, 0}, {19, 8, 0, 5}});
    close_pair(&p);
    open_sparse(&p, cells, NULL, 1000);
    assert_exclusive(&p, (const double[2][4]){{17, 10, 3, 0}, {19000, 8000, 0, 5000}});
    assert_int_equal(as_change_values_complete(p.values, p.sources, &error), ASSAY_OK);
    assert_exclusive(&p, (const double[2][4]){{17, 10, 3, 0}, {19000, 8000, 0, 5000}});
    assert_items(&p, "main 0>0 30>32000 17>19000\n"
                     "  f 1>1 10>8000 10>8000\n"
                     "  g 2>-1 3>0 3>0\n"
                     "  h -1>2 0>5000 0>5000\n");
    close_pair(&p);
    static const bool second[] = {false, true};
    open_sparse(&p, cells, second, 1);
    assert_exclusive(&p, (const double[2][4]){{11, 6, 3, 0}, {16, 0, 0, 4}});
    close_pair(&p);
}

/* Or with the inclusive ones, where all are wanted: the same numbers, and nothing is read again for them. */
static void exclusive_values_come_at_once(void **state) {
    (void)state;
    pair p;
    sparse_cells cells[2][2];
    open_sparse_pair(&p, cells, NULL, 1000);
    make_tree_with(&p, true);
    size_t n_read = cells[0][1].n_rows_read + cells[1][1].n_rows_read;
    assert_true(n_read > 0);
    assert_exclusive(&p, (const double[2][4]){{17, 10, 3, 0}, {19000, 8000, 0, 5000}});
    assert_int_equal(cells[0][1].n_rows_read + cells[1][1].n_rows_read, n_read);
    close_pair(&p);
}

static void exclusive_values_that_cannot_be_read(void **state) {
    (void)state;
    pair p;
    sparse_cells cells[2][2];
    double found[1], *own[2];
    assay_error error;
    open_sparse(&p, cells, NULL, 1);
    cells[AS_TARGET][1].broken_context = 1;
    assert_int_equal(as_change_exclusive(p.table, p.values, p.sources, AS_TARGET, (uint32_t[]){1}, 1, found, &error),
                     ASSAY_E_FORMAT);
    assert_int_equal(as_change_values_complete(p.values, p.sources, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.message, "a row is broken");
    assert_int_equal(as_change_own(p.table, p.values, p.sources, own, &error), ASSAY_E_FORMAT);
    for (size_t side = 0; side < 2; side++) free(own[side]);
    assert_int_equal(as_change_exclusive(p.table, p.values, p.sources, AS_TARGET, (uint32_t[]){0}, 1, found, &error),
                     ASSAY_OK);
    assert_true(found[0] == 19);
    close_pair(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(call_paths),
                                       cmocka_unit_test(call_sites_and_the_placeless),
                                       cmocka_unit_test(functions),
                                       cmocka_unit_test(into_another_unit),
                                       cmocka_unit_test(exclusive_values_come_later),
                                       cmocka_unit_test(exclusive_values_come_at_once),
                                       cmocka_unit_test(exclusive_values_that_cannot_be_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
