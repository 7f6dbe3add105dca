/* The algebra of profiles on stored pairs: differences, means and parts of trees, reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/algebra/algebra.h"
#include "analysis/nodes.h"
#include "sparse_files.h"

/* 0 <root>, 1 main, 2 loop, 3 solve, and one without a place */
enum { ROOT, MAIN, LOOP, SOLVE, PLACELESS, N_CONTEXTS };
enum { INCLUSIVE, EXCLUSIVE };

static const sparse_cell base_inclusive[] = {{ROOT, 0, 10}, {ROOT, 1, 20}, {MAIN, 0, 10},    {MAIN, 1, 20},
                                             {LOOP, 0, 4},  {SOLVE, 1, 6}, {PLACELESS, 0, 1}};
static const sparse_cell base_exclusive[] = {{MAIN, 0, 10}, {MAIN, 1, 14}, {LOOP, 0, 4}, {SOLVE, 1, 6}};
static const sparse_cell target_inclusive[] = {{ROOT, 0, 11}, {ROOT, 1, 20}, {MAIN, 0, 11},    {MAIN, 1, 20},
                                               {LOOP, 0, 5},  {SOLVE, 1, 7}, {PLACELESS, 1, 3}};
static const sparse_cell target_exclusive[] = {{MAIN, 0, 11}, {MAIN, 1, 13}, {LOOP, 0, 5}, {SOLVE, 1, 7}};

typedef struct database {
    as_dataset *ds;
    sparse_cells inclusive, exclusive;
} database;

/* With the two metrics in either order. */
static void make_database(database *d, const sparse_cell *inclusive, const sparse_cell *exclusive, bool swapped) {
    static const assay_id parents[] = {ASSAY_NONE, ROOT, MAIN, MAIN, ASSAY_NONE};
    static const char *const names[] = {"<root>", "main", "loop at a.c:3", "solve", "<context 9>"};
    d->ds = as_dataset_new(0);
    d->inclusive = sparse_of(inclusive, 7);
    d->exclusive = sparse_of(exclusive, 4);
    add_threads(d->ds, 2);
    add_tree(d->ds, parents, names, N_CONTEXTS);
    AS_AT(as_context, &d->ds->contexts, PLACELESS).role = AS_ROLE_PLACELESS;
    AS_AT(as_context, &d->ds->contexts, LOOP).role = AS_ROLE_INNER;
    as_add_run(d->ds, &AS_RUN_INIT);
    assay_id first = add_stored(d->ds, "time", swapped ? AS_KIND_EXCLUSIVE : AS_KIND_INCLUSIVE);
    assay_id second = add_stored(d->ds, "time", swapped ? AS_KIND_INCLUSIVE : AS_KIND_EXCLUSIVE);
    make_pair(d->ds, swapped ? second : first, swapped ? first : second);
    add_sparse(d->ds, swapped ? second : first, &d->inclusive);
    add_sparse(d->ds, swapped ? first : second, &d->exclusive);
}

static void check_pair(const as_dataset *ds) {
    assert_int_equal(AS_COUNT(ds, metrics), 2);
    for (assay_id id = 0; id < 2; id++) {
        const as_metric *metric = as_ds_metric(ds, id);
        bool is_inclusive = metric->kind == AS_KIND_INCLUSIVE;
        assert_true(metric->is_stored);
        assert_int_equal(metric->exclusive, is_inclusive ? !id : ASSAY_NONE);
        assert_int_equal(metric->part_of, is_inclusive ? ASSAY_NONE : !id);
    }
}

typedef struct amounts {
    double inclusive, exclusive;
} amounts;

/* Of the only context of this name (the number-th of several). */
static amounts amounts_of(const as_dataset *ds, const char *name, int number) {
    as_node_list list;
    assay_error error;
    amounts found = {0};
    as_node_list_init(&list);
    assert_int_equal(as_nodes_find(ds, 0, INCLUSIVE, ASSAY_NONE, &list, &error), ASSAY_OK);
    for (assay_id id = 0; id < AS_COUNT(ds, contexts); id++) {
        if (strcmp(as_ds_text(ds, as_ds_context(ds, id)->name), name) != 0 || number-- > 0) continue;
        for (size_t i = 0; i < as_node_count(&list); i++) {
            const as_node *node = as_node_at(&list, i);
            if (node->context == id)
                found = (amounts){as_number_real(node->inclusive), as_number_real(node->exclusive)};
        }
        as_node_list_free(&list);
        return found;
    }
    as_node_list_free(&list);
    fail_msg("no context %s", name);
    return found;
}

static void check(const as_dataset *ds, const char *name, double inclusive, double exclusive) {
    amounts found = amounts_of(ds, name, 0);
    assert_true(found.inclusive == inclusive && found.exclusive == exclusive);
}

static void differences_are_those_of_the_stored_values(void **state) {
    (void)state;
    database base, target;
    as_dataset *result = NULL;
    assay_error error;
    make_database(&base, base_inclusive, base_exclusive, false);
    make_database(&target, target_inclusive, target_exclusive, true);
    assert_int_equal(as_diff(base.ds, target.ds, AS_MATCH_NAME, false, &result, &error), ASSAY_OK);
    check_pair(result);
    check(result, "<root>", 1, 0);
    check(result, "main", 1, 0);
    check(result, "loop at a.c:3", 1, 1);
    check(result, "solve", 1, 1);
    /* Numbers without a place are nobody's partner. */
    assert_int_equal(AS_COUNT(result, contexts), N_CONTEXTS + 1);
    assert_true(amounts_of(result, "<context 9>", 0).inclusive == -1);
    assert_true(amounts_of(result, "<context 9>", 1).inclusive == 3);
    assert_int_equal(as_ds_context(result, LOOP)->role, AS_ROLE_INNER);
    assert_int_equal(as_ds_context(result, PLACELESS)->role, AS_ROLE_PLACELESS);
    as_dataset_free(result);
    as_dataset_free(base.ds);
    as_dataset_free(target.ds);
}

static void means_and_merged_ones_stay_pairs(void **state) {
    (void)state;
    database a, b;
    as_dataset *result = NULL;
    assay_error error;
    make_database(&a, base_inclusive, base_exclusive, false);
    make_database(&b, target_inclusive, target_exclusive, true);
    const as_dataset *parts[] = {a.ds, b.ds};
    assert_int_equal(as_mean(parts, 2, AS_MATCH_NAME, &result, &error), ASSAY_OK);
    check_pair(result);
    check(result, "<root>", 30.5, 0);
    check(result, "main", 30.5, 24);
    check(result, "loop at a.c:3", 4.5, 4.5);
    as_dataset_free(result);
    assert_int_equal(as_merge_profiles(parts, 2, AS_MATCH_NAME, &result, &error), ASSAY_OK);
    check_pair(result);
    check(result, "main", 31, 24);
    as_dataset_free(result);
    as_dataset_free(a.ds);
    as_dataset_free(b.ds);
}

static void set_unit(as_dataset *ds, const char *unit) {
    for (assay_id id = 0; id < 2; id++) AS_AT(as_metric, &ds->metrics, id).unit = as_ds_intern_text(ds, unit);
}

/* Seconds and minutes: 31 minutes are 1860 seconds. */
static void times_have_the_unit_of_the_first(void **state) {
    (void)state;
    database a, b;
    as_dataset *result = NULL;
    assay_error error;
    make_database(&a, base_inclusive, base_exclusive, false);
    make_database(&b, target_inclusive, target_exclusive, true);
    set_unit(a.ds, "sec");
    set_unit(b.ds, "min");
    const as_dataset *parts[] = {a.ds, b.ds};
    assert_int_equal(as_diff(a.ds, b.ds, AS_MATCH_NAME, false, &result, &error), ASSAY_OK);
    check(result, "main", 1860 - 30, 24 * 60 - 24);
    as_dataset_free(result);
    assert_int_equal(as_mean(parts, 2, AS_MATCH_NAME, &result, &error), ASSAY_OK);
    check(result, "main", (1860 + 30) / 2., (24 * 60 + 24) / 2.);
    as_dataset_free(result);
    assert_int_equal(as_merge_profiles(parts, 2, AS_MATCH_NAME, &result, &error), ASSAY_OK);
    check(result, "main", 1860, 24 * 60);
    assert_string_equal(as_ds_text(result, as_ds_metric(result, 0)->unit), "sec");
    as_dataset_free(result);
    as_dataset_free(a.ds);
    as_dataset_free(b.ds);
}

/* What is left has the values it had, but what was pruned becomes its caller's own. */
static void parts_of_a_tree_keep_their_values(void **state) {
    (void)state;
    database d;
    as_dataset *result = NULL;
    assay_error error;
    static const char *const solve[] = {"solve"}, *const main[] = {"main"};
    make_database(&d, base_inclusive, base_exclusive, false);
    assert_int_equal(as_cut(d.ds, &(as_cut_names){.roots = main, .n_roots = 1}, &result, &error), ASSAY_OK);
    check_pair(result);
    assert_int_equal(AS_COUNT(result, contexts), 3);
    check(result, "main", 30, 24);
    check(result, "solve", 6, 6);
    as_dataset_free(result);
    assert_int_equal(as_cut(d.ds, &(as_cut_names){.prunes = solve, .n_prunes = 1}, &result, &error), ASSAY_OK);
    assert_int_equal(AS_COUNT(result, contexts), 4);
    check_pair(result);
    check(result, "main", 30, 30);
    check(result, "loop at a.c:3", 4, 4);
    as_dataset_free(result);
    as_dataset_free(d.ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_those_of_the_stored_values),
        cmocka_unit_test(means_and_merged_ones_stay_pairs),
        cmocka_unit_test(times_have_the_unit_of_the_first),
        cmocka_unit_test(parts_of_a_tree_keep_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
