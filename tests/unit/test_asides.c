/* Contexts that stand aside: no part of what is above them, in whatever is summed along the tree. Reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/algebra/algebra.h"
#include "analysis/rows.h"
#include "analysis/scaling/totals.h"
#include "analysis/verdict/paths.h"
#include "analysis/views/view.h"
#include "dataset/formulas.h"
#include "formats/format.h"
#include "profiles.h"

enum { MAIN, SYNC, OVERLAP, WAIT, PART, WORK, N };

/* Exclusive values, those of main are 1 and 1:
 *
 *   main
 *     sync (2 0)
 *       OVERLAP (3 1)
 *       WAIT (10 20), aside
 *         part (5 0)
 *     work (4 4)
 */
static const char exclusive_tree[] =
    "main | 1 1\n  sync | 2 0\n    OVERLAP | 3 1\n    WAIT | 10 20\n      part | 5 0\n  work | 4 4\n";

static as_dataset *make(const char *metric, const char *tree) {
    as_dataset *ds = make_profile("0/0 0/1", metric, tree);
    AS_AT(as_context, &ds->contexts, WAIT).is_aside = true;
    return ds;
}

static void expect_nodes(const as_dataset *ds, assay_id metric, const double *inclusive, const double *exclusive) {
    as_node_list list;
    assay_error error;
    as_node_list_init(&list);
    assert_int_equal(as_nodes_find(ds, 0, metric, ASSAY_NONE, &list, &error), ASSAY_OK);
    assert_int_equal(as_node_count(&list), N);
    for (size_t i = 0; i < N; i++) {
        assert_true(as_number_real(as_node_at(&list, i)->inclusive) == inclusive[i]);
        assert_true(as_number_real(as_node_at(&list, i)->exclusive) == exclusive[i]);
    }
    as_node_list_free(&list);
}

#define SIX(...) ((const double[]){__VA_ARGS__})

/* ---- nodes and rows ---------------------------------------------------------------------------------------------- */

static void exclusive_values_are_not_added(void **state) {
    (void)state;
    static const char *const types[] = {"n DOUBLE exclusive", "n UINT64 exclusive", "n INT32 exclusive"};
    for (size_t i = 0; i < 3; i++) {
        as_dataset *ds = make(types[i], exclusive_tree);
        expect_nodes(ds, 0, SIX(16, 6, 4, 35, 5, 8), SIX(2, 2, 4, 30, 5, 8));
        as_dataset_free(ds);
    }
}

static const char inclusive_tree[] =
    "main | 20 20\n  sync | 8 8\n    OVERLAP | 3 1\n    WAIT | 50 50\n      part | 5 0\n  work | 4 4\n";

static void inclusive_values_are_not_taken_off(void **state) {
    (void)state;
    static const char *const types[] = {"n DOUBLE inclusive", "n UINT64 inclusive", "n UINT8 inclusive",
                                        "n INT64 inclusive"};
    for (size_t i = 0; i < 4; i++) {
        as_dataset *ds = make(types[i], inclusive_tree);
        expect_nodes(ds, 0, SIX(40, 16, 4, 100, 5, 8), SIX(16, 12, 4, 95, 5, 8));
        as_dataset_free(ds);
    }
}

/* A minimum of an aside is none of its parent. */
static void extremes_leave_them_out(void **state) {
    (void)state;
    as_dataset *ds = make("n MINDOUBLE exclusive", exclusive_tree);
    as_node_list list;
    assay_error error;
    as_node_list_init(&list);
    AS_AT(as_context, &ds->contexts, WAIT).is_aside = false;
    AS_AT(as_context, &ds->contexts, SYNC).is_aside = true; /* with its 0 */
    assert_int_equal(as_nodes_find(ds, 0, 0, ASSAY_NONE, &list, &error), ASSAY_OK);
    assert_true(as_number_real(as_node_at(&list, MAIN)->inclusive) == 1);
    assert_true(as_number_real(as_node_at(&list, SYNC)->inclusive) == 0);
    as_node_list_free(&list);
    as_dataset_free(ds);
}

typedef struct seen_rows {
    double inclusive[N][2], exclusive[N][2];
} seen_rows;

static bool see_row(void *user, const as_context_row *row) {
    seen_rows *seen = user;
    for (uint32_t i = 0; i < 2; i++) {
        seen->inclusive[row->context][i] = row->inclusive_real[i];
        seen->exclusive[row->context][i] = row->exclusive_real[i];
    }
    return true;
}

static void rows_at_each_location(void **state) {
    (void)state;
    assay_error error;
    as_slice slice;
    seen_rows seen = {0};
    as_dataset *ds = make("n DOUBLE exclusive", exclusive_tree);
    assert_int_equal(as_slice_open_all(ds, 0, 0, &slice, &error), ASSAY_OK);
    assert_true(as_rows_each(ds, &slice, 0, see_row, &seen));
    assert_true(seen.inclusive[MAIN][0] == 10 && seen.inclusive[MAIN][1] == 6);
    assert_true(seen.inclusive[SYNC][0] == 5 && seen.inclusive[SYNC][1] == 1);
    assert_true(seen.inclusive[WAIT][0] == 15 && seen.inclusive[WAIT][1] == 20);
    as_slice_close(&slice);
    as_dataset_free(ds);
    ds = make("n DOUBLE inclusive", inclusive_tree);
    assert_int_equal(as_slice_open_all(ds, 0, 0, &slice, &error), ASSAY_OK);
    assert_true(as_rows_each(ds, &slice, 0, see_row, &seen));
    assert_true(seen.exclusive[SYNC][0] == 5 && seen.exclusive[SYNC][1] == 7);
    assert_true(seen.exclusive[WAIT][0] == 45 && seen.exclusive[WAIT][1] == 50);
    as_slice_close(&slice);
    /* What statistics over runs are made of */
    as_vec pool;
    as_vec_init(&pool, sizeof(double), NULL);
    const as_profile *profile = as_ds_profile(ds, 0, 0);
    assert_true(as_pool_row(ds, profile, as_profile_find(profile, SYNC), &pool));
    assert_true(AS_AT(double, &pool, 0) == 5 && AS_AT(double, &pool, 1) == 7);
    as_vec_free(&pool);
    as_dataset_free(ds);
}

static void derived_metrics(void **state) {
    (void)state;
    static const as_derived_kind kinds[] = {AS_DERIVED_PRE_EXCLUSIVE, AS_DERIVED_PRE_INCLUSIVE, AS_DERIVED_POST};
    as_dataset *ds = make("n DOUBLE exclusive", exclusive_tree);
    assay_id ids[3];
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"a", "b", "c"};
        as_metric metric = AS_METRIC_INIT;
        metric.kind = AS_KIND_DERIVED;
        metric.name = as_ds_intern_text(ds, names[i]);
        ids[i] = as_add_metric(ds, &metric);
        as_formula_text parts[AS_FORMULA_PARTS] = {[AS_FORMULA_VALUE] = {"metric::n() * 2", 15}};
        assert_true(as_add_formula(ds, ids[i], kinds[i], parts));
    }
    assert_true(as_compile_formulas(ds, "file"));
    for (size_t i = 0; i < 3; i++) expect_nodes(ds, ids[i], SIX(32, 12, 8, 70, 10, 16), SIX(4, 4, 8, 60, 10, 16));
    as_dataset_free(ds);
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

typedef struct shown {
    const as_dataset *ds;
    char text[2000];
    size_t size;
} shown;

/* "name inclusive exclusive", "~" behind what stands aside, "*" behind what is hot. */
static bool put_node(void *user, const as_view_node *node) {
    shown *s = user;
    const char *name = as_ds_text(s->ds, node->name);
    s->size += (size_t)snprintf(s->text + s->size, sizeof s->text - s->size, "%*s%s %g %g%s%s\n", 2 * (int)node->depth,
                                "", name ? name : "?", node->values[0].inclusive.real, node->values[0].exclusive.real,
                                node->is_aside ? " ~" : "", node->is_hot ? " *" : "");
    return true;
}

static void expect_view(const as_dataset *ds, const assay_id *roots, size_t n_roots, as_view_request request,
                        double whole, const char *expected) {
    static const assay_id runs[] = {0}, metrics[] = {0};
    as_view_source source = {.ds = ds, .runs = runs, .n_runs = 1, .point = ASSAY_NONE};
    as_view_data data;
    as_view_cut cut;
    assay_error error;
    shown s = {.ds = ds};
    assert_int_equal(as_view_load(&source, metrics, 1, roots, n_roots, &data, &error), ASSAY_OK);
    assert_int_equal(as_view_walk(&data, &request, put_node, &s, &cut, &error), ASSAY_OK);
    assert_string_equal(s.text, expected);
    assert_true(data.columns[0].whole == whole);
    as_view_data_free(&data);
}

static void top_down(void **state) {
    (void)state;
    as_dataset *ds = make("n DOUBLE exclusive", exclusive_tree);
    expect_view(ds, NULL, 0, (as_view_request){.order = AS_SORT_INCLUSIVE}, 16,
                "main 16 2 *\n"
                "  work 8 8 *\n"
                "  sync 6 2\n"
                "    OVERLAP 4 4\n"
                "    WAIT 35 30 ~\n" /* larger, but behind what is a part of sync */
                "      part 5 5\n");
    as_dataset_free(ds);
}

static void lists_and_callers(void **state) {
    (void)state;
    as_dataset *ds = make("n DOUBLE exclusive", exclusive_tree);
    as_view_request flat = {.kind = AS_VIEW_FLAT, .order = AS_SORT_EXCLUSIVE};
    expect_view(ds, NULL, 0, flat, 16, "work 8 8\nOVERLAP 4 4\nmain 16 2\nsync 6 2\nWAIT 35 30 ~\npart 5 5 ~\n");
    flat.group = AS_GROUP_FILE; /* all are of one */
    expect_view(ds, NULL, 0, flat, 16, "app.c 16 16\napp.c 35 35 ~\n");
    expect_view(ds, NULL, 0, (as_view_request){.kind = AS_VIEW_BOTTOM_UP, .order = AS_SORT_EXCLUSIVE, .max_levels = 3},
                16,
                "work 8 8 *\n  main 8 8 *\n"
                "OVERLAP 4 4\n  sync 4 4\n    main 4 4\n"
                "main 16 2\n"
                "sync 6 2\n  main 6 2\n"
                "WAIT 35 30 ~\n  sync 35 30\n    main 35 30\n"
                "part 5 5 ~\n  WAIT 5 5\n    sync 5 5\n");
    as_dataset_free(ds);
}

static void a_tree_of_scopes(void **state) {
    (void)state;
    as_dataset *ds = make("n DOUBLE exclusive", exclusive_tree);
    expect_view(
        ds, NULL, 0,
        (as_view_request){.kind = AS_VIEW_FLAT, .group = AS_GROUP_SCOPE, .order = AS_SORT_EXCLUSIVE, .max_levels = 1},
        16, "? 16 16 *\n? 35 35 ~\n");
    as_dataset_free(ds);
}

/* Where nothing else is looked at they are the whole. */
static void subtrees_that_are_asked_for(void **state) {
    (void)state;
    as_dataset *ds = make("n DOUBLE exclusive", exclusive_tree);
    static const assay_id wait[] = {WAIT}, part[] = {PART}, both[] = {WAIT, WORK};
    as_view_request request = {.order = AS_SORT_INCLUSIVE};
    expect_view(ds, wait, 1, request, 35, "WAIT 35 30 *\n  part 5 5\n");
    expect_view(ds, part, 1, request, 5, "part 5 5 *\n");
    expect_view(ds, both, 2, request, 8, "work 8 8 *\nWAIT 35 30 ~\n  part 5 5\n");
    as_dataset_free(ds);
}

/* f (1) -> f (2, aside) -> f (4); f (8) beside the aside: what stands aside is a function of its own. */
static void recursion(void **state) {
    (void)state;
    as_dataset *ds = make_profile("", "n DOUBLE exclusive", "f | 1\n  f | 2\n    f | 4\n  f | 8\n");
    AS_AT(as_context, &ds->contexts, 1).is_aside = true;
    as_view_request flat = {.kind = AS_VIEW_FLAT, .order = AS_SORT_EXCLUSIVE};
    expect_view(ds, NULL, 0, flat, 9, "f 9 9\nf 6 6 ~\n");
    AS_AT(as_context, &ds->contexts, 2).is_aside = true; /* within the other: added to it */
    expect_view(ds, NULL, 0, flat, 9, "f 9 9\nf 6 6 ~\n");
    as_dataset_free(ds);
}

/* ---- totals ------------------------------------------------------------------------------------------------------ */

static void totals_over_series(void **state) {
    (void)state;
    static const as_metric_kind kinds[] = {AS_KIND_EXCLUSIVE, AS_KIND_INCLUSIVE, AS_KIND_NONE};
    for (size_t k = 0; k < 3; k++) {
        as_dataset *ds = make("n DOUBLE exclusive", exclusive_tree);
        AS_AT(as_metric, &ds->metrics, 0).kind = kinds[k];
        for (assay_id id = 0; id < N; id++) {
            as_series series = {.context = id};
            assert_true(as_vec_append(&ds->series, &series, 1));
        }
        as_metric_series by_metric;
        assay_id guessed;
        assert_true(as_metric_series_init(&by_metric, ds));
        bool *parts = as_total_parts(ds, &by_metric, &guessed);
        assert_non_null(parts);
        assert_false(parts[WAIT] || parts[PART]);
        assert_true(parts[MAIN]);
        free(parts);
        as_metric_series_free(&by_metric);
        as_dataset_free(ds);
    }
}

/* What they say is said elsewhere: no change of theirs is another one. */
static void paths_of_verdicts(void **state) {
    (void)state;
    as_dataset *ds = make("n DOUBLE exclusive", exclusive_tree);
    as_paths paths;
    uint32_t nodes[N];
    assert_true(as_paths_init(&paths, NULL));
    assert_true(as_paths_add(&paths, ds, nodes));
    for (size_t i = 0; i < N; i++) assert_int_equal(nodes[i] == AS_NO_PATH, i == WAIT || i == PART);
    /* Where there is nothing else they are all there is. */
    for (size_t i = 0; i < N; i++) AS_AT(as_context, &ds->contexts, i).is_aside = true;
    assert_true(as_paths_add(&paths, ds, nodes));
    for (size_t i = 0; i < N; i++) assert_int_not_equal(nodes[i], AS_NO_PATH);
    as_paths_free(&paths);
    as_dataset_free(ds);
}

/* ---- algebra ----------------------------------------------------------------------------------------------------- */

static as_dataset *cut_of(as_dataset *ds, const char *root, const char *prune) {
    as_dataset *out = NULL;
    assay_error error;
    as_cut_names names = {.roots = &root, .prunes = &prune, .n_roots = root != NULL, .n_prunes = prune != NULL};
    assert_int_equal(as_cut(ds, &names, &out, &error), ASSAY_OK);
    as_dataset_free(ds);
    return out;
}

static void cutting(void **state) {
    (void)state;
    as_dataset *ds = cut_of(make("n DOUBLE exclusive", exclusive_tree), NULL, "WAIT");
    assert_tree(ds, "main | 1 1\n  sync | 2 0\n    OVERLAP | 3 1\n  work | 4 4\n"); /* sync has nothing of it */
    as_dataset_free(ds);
    ds = cut_of(make("n DOUBLE exclusive", exclusive_tree), NULL, "sync");
    assert_tree(ds, "main | 6 2\n  work | 4 4\n"); /* 1 + 2 + 3, 1 + 0 + 1 */
    as_dataset_free(ds);
    ds = cut_of(make("n DOUBLE exclusive", exclusive_tree), NULL, "part");
    assert_tree(ds, "main | 1 1\n  sync | 2 0\n    OVERLAP | 3 1\n    WAIT | 15 20\n  work | 4 4\n");
    assert_true(as_ds_context(ds, WAIT)->is_aside);
    as_dataset_free(ds);
    ds = cut_of(make("n DOUBLE exclusive", exclusive_tree), "WAIT", NULL);
    assert_tree(ds, "WAIT | 10 20\n  part | 5 0\n");
    assert_false(as_ds_context(ds, 0)->is_aside);
    as_dataset_free(ds);
    ds = cut_of(make("n DOUBLE exclusive", exclusive_tree), "sync", NULL);
    assert_true(as_ds_context(ds, 2)->is_aside && as_ds_asides(ds) == 1);
    as_dataset_free(ds);
}

static void results_keep_them_aside(void **state) {
    (void)state;
    for (int operation = 0; operation < 3; operation++) {
        as_dataset *a = make("n DOUBLE exclusive", exclusive_tree), *b = make("n DOUBLE exclusive", exclusive_tree);
        const as_dataset *parts[] = {a, b};
        as_dataset *out = NULL;
        assay_error error;
        assay_status status = operation == 0   ? as_diff(a, b, AS_MATCH_NAME, false, &out, &error)
                              : operation == 1 ? as_mean(parts, 2, AS_MATCH_NAME, &out, &error)
                                               : as_merge_profiles(parts, 2, AS_MATCH_NAME, &out, &error);
        assert_int_equal(status, ASSAY_OK);
        for (assay_id id = 0; id < N; id++) assert_int_equal(as_ds_context(out, id)->is_aside, id == WAIT);
        as_dataset_free(out);
        as_dataset_free(a);
        as_dataset_free(b);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool is_told(const as_dataset *ds, const char *format, const char *words) {
    as_losses losses;
    as_losses_init(&losses);
    as_find_losses(ds, as_format_find(format), &losses);
    bool found = false;
    for (size_t i = 0; i < losses.texts.count; i++) found |= strcmp(AS_AT(char *, &losses.texts, i), words) == 0;
    as_losses_free(&losses);
    return found;
}

static bool is_said(const as_dataset *ds, const char *format) {
    return is_told(ds, format, "that 1 context stands aside (it counts as a part of its parent there)");
}

static void losses(void **state) {
    (void)state;
    as_dataset *ds = make("n DOUBLE exclusive", exclusive_tree);
    assert_true(is_said(ds, "cube"));
    assert_false(is_said(ds, "hpctoolkit-4")); /* stores the sums */
    static const char *const without[] = {"folded", "speedscope", "pprof", "callgrind"};
    for (size_t i = 0; i < 4; i++) {
        assert_false(is_said(ds, without[i]));
        assert_true(is_told(ds, without[i], "1 context that stands aside, with what is below"));
    }
    AS_AT(as_context, &ds->contexts, WAIT).is_aside = false;
    assert_false(is_said(ds, "cube"));
    as_dataset_free(ds);
}

/* Leaves "memory is out" wherever a function that is called next has room for an error. */
static __attribute__((noinline)) void leave_errors(void) {
    volatile int32_t room[1 << 16];
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) room[i] = ASSAY_E_NOMEM;
}

/* A report fails for what happened, not for what lay in memory. */
static void losses_that_do_not_fail(void **state) {
    (void)state;
    as_dataset *ds = make("n DOUBLE exclusive", exclusive_tree);
    for (size_t i = 0; as_formats[i]; i++) {
        if (!as_formats[i]->write) continue;
        as_losses losses;
        as_losses_init(&losses);
        leave_errors();
        as_find_losses(ds, as_formats[i], &losses);
        if (losses.failed) fail_msg("%s", as_formats[i]->name);
        as_losses_free(&losses);
    }
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exclusive_values_are_not_added),
        cmocka_unit_test(inclusive_values_are_not_taken_off),
        cmocka_unit_test(extremes_leave_them_out),
        cmocka_unit_test(rows_at_each_location),
        cmocka_unit_test(derived_metrics),
        cmocka_unit_test(top_down),
        cmocka_unit_test(lists_and_callers),
        cmocka_unit_test(a_tree_of_scopes),
        cmocka_unit_test(subtrees_that_are_asked_for),
        cmocka_unit_test(recursion),
        cmocka_unit_test(totals_over_series),
        cmocka_unit_test(paths_of_verdicts),
        cmocka_unit_test(cutting),
        cmocka_unit_test(results_keep_them_aside),
        cmocka_unit_test(losses),
        cmocka_unit_test(losses_that_do_not_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
