/* Differences, merged and mean profiles, and parts of trees, reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/algebra/algebra.h"
#include "analysis/nodes.h"
#include "dataset/experiment.h"
#include "profiles.h"

static as_dataset *diff_of(as_dataset *base, as_dataset *target, as_matching matching, bool all_metrics) {
    as_dataset *out = NULL;
    assay_error error;
    if (as_diff(base, target, matching, all_metrics, &out, &error) != ASSAY_OK) fail_msg("%s", error.message);
    as_dataset_free(base);
    as_dataset_free(target);
    return out;
}

static as_dataset *mean_of(as_dataset **parts, size_t n) {
    as_dataset *out = NULL;
    assay_error error;
    if (as_mean((const as_dataset *const *)parts, n, AS_MATCH_NAME, &out, &error) != ASSAY_OK)
        fail_msg("%s", error.message);
    for (size_t k = 0; k < n; k++) as_dataset_free(parts[k]);
    return out;
}

static as_dataset *merge_of(as_dataset **parts, size_t n) {
    as_dataset *out = NULL;
    assay_error error;
    if (as_merge_profiles((const as_dataset *const *)parts, n, AS_MATCH_NAME, &out, &error) != ASSAY_OK)
        fail_msg("%s", error.message);
    for (size_t k = 0; k < n; k++) as_dataset_free(parts[k]);
    return out;
}

static size_t count_problems(const as_dataset *ds, const char *rule) {
    size_t n = 0;
    for (size_t i = 0; i < ds->problems.count; i++) n += strcmp(as_ds_problem(ds, i)->rule, rule) == 0;
    return n;
}

static void assert_problem(const as_dataset *ds, const char *rule, const char *words) {
    for (size_t i = 0; i < ds->problems.count; i++) {
        const as_problem *problem = as_ds_problem(ds, i);
        if (strcmp(problem->rule, rule) == 0 && strstr(problem->message, words)) return;
    }
    fail_msg("no problem %s with '%s'", rule, words);
}

/* ---- diff -------------------------------------------------------------------------------------------------------- */

static void differences_are_signed(void **state) {
    (void)state;
    as_dataset *ds = diff_of(make_profile("0/0 1/0", "time DOUBLE inclusive; n UINT8 exclusive",
                                          "main | 10 20 | 252 0\n  f | 4 5 | 1 1\n  old | 1 1 | 7 8\n"),
                             make_profile("0/0 1/0", "time DOUBLE inclusive; n UINT8 exclusive",
                                          "main | 10.5 18 | 5 255\n  f | 4 5 | 1 1\n  new | 2 3 | 9 10\n"),
                             AS_MATCH_NAME, false);
    assert_metrics(ds, "time DOUBLE inclusive; n INT64 exclusive");
    assert_tree(ds, "main | 0.5 -2 | -247 255\n  f | - | -\n  old | -1 -1 | -7 -8\n  new | 2 3 | 9 10\n");
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
}

static void large_integers_are_exact(void **state) {
    (void)state;
    static const char metrics[] = "u UINT64 exclusive; s INT64 exclusive; mixed INT64 exclusive";
    as_dataset *ds = diff_of(
        make_profile(
            "0/0 1/0", metrics,
            "main | 2305843009213693952 18446744073709550000 | 9223372036854775807 -2 | -1 -9223372036854775808\n"),
        make_profile("0/0 1/0", "u UINT64 exclusive; s INT64 exclusive; mixed UINT64 exclusive",
                     "main | 2305843009213693953 18446744073709549990 | -9223372036854775808 9223372036854775807 | "
                     "18446744073709550000 1\n"),
        AS_MATCH_NAME, false);
    /* 2^61 + 1 - 2^61 = 1; beyond INT64: the nearest limit */
    assert_tree(ds,
                "main | 1 -10 | -9223372036854775808 9223372036854775807 | 9223372036854775807 9223372036854775807\n");
    assert_int_equal(count_problems(ds, "beyond-limit"), 2);
    assert_problem(ds, "beyond-limit", "'s': 2 values");
    as_dataset_free(ds);
}

/* A counter above the limit ran below zero: sums and differences take it as 0. */
static void counters_below_zero_are_zero(void **state) {
    (void)state;
    as_dataset *base = make_profile("0/0 1/0", "u UINT64 exclusive", "main | 18446744073709551615 5\n");
    AS_AT(as_profile, &base->profiles, 0).below_zero = true;
    as_dataset *ds = diff_of(base, make_profile("0/0 1/0", "u UINT64 exclusive", "main | 3 5\n"), AS_MATCH_NAME, false);
    assert_tree(ds, "main | 3 0\n");
    as_dataset_free(ds);
}

static void kinds_are_converted(void **state) {
    (void)state;
    /* Exclusive time of main 3, f 4 is 7, 4 inclusive; the target's kind counts. */
    static const char exclusive[] = "time DOUBLE exclusive; n UINT16 inclusive",
                      inclusive[] = "time DOUBLE inclusive; n UINT16 exclusive";
    static const char e[] = "main | 3 | 10\n  f | 4 | 9\n", i[] = "main | 8 | 2\n  f | 4.5 | 6\n";
    as_dataset *ds =
        diff_of(make_profile("0/0", exclusive, e), make_profile("0/0", inclusive, i), AS_MATCH_NAME, false);
    assert_metrics(ds, "time DOUBLE inclusive; n INT64 exclusive");
    assert_tree(ds, "main | 1 | 1\n  f | 0.5 | -3\n");
    as_dataset_free(ds);
    ds = diff_of(make_profile("0/0", inclusive, i), make_profile("0/0", exclusive, e), AS_MATCH_NAME, false);
    assert_metrics(ds, "time DOUBLE exclusive; n INT64 inclusive");
    assert_tree(ds, "main | -0.5 | 2\n  f | -0.5 | 3\n"); /* 3 - 3.5, 4 - 4.5; 10 - 8, 9 - 6 */
    as_dataset_free(ds);
}

static void metrics_of_one_side(void **state) {
    (void)state;
    static const char a[] = "time DOUBLE inclusive; bytes UINT64 exclusive; rate DOUBLE derived",
                      b[] = "time DOUBLE inclusive; time.wait DOUBLE inclusive; rate DOUBLE derived";
    as_dataset *ds = diff_of(make_profile("0/0", a, "main | 1 | 5\n"), make_profile("0/0", b, "main | 2 | 0.25\n"),
                             AS_MATCH_NAME, false);
    assert_metrics(ds, "time DOUBLE inclusive");
    assert_int_equal(count_problems(ds, "metric-left-out"), 3);
    assert_problem(ds, "metric-left-out",
                   "only the base has them (--all-metrics takes them as 0 in the target): bytes");
    assert_problem(ds, "metric-left-out", "target has them (--all-metrics takes them as 0 in the base): wait");
    assert_problem(ds, "metric-left-out", "derived from others: rate");
    as_dataset_free(ds);
    ds = diff_of(make_profile("0/0", a, "main | 1 | 5\n"), make_profile("0/0", b, "main | 2 | 0.25\n"), AS_MATCH_NAME,
                 true);
    assert_metrics(ds, "time DOUBLE inclusive; bytes INT64 exclusive; time.wait DOUBLE inclusive");
    assert_tree(ds, "main | 1 | -5 | 0.25\n");
    as_dataset_free(ds);
}

static void locations_of_one_side_are_zero(void **state) {
    (void)state;
    as_dataset *ds =
        diff_of(make_profile("0/0 1/0 2/0", "n INT32 exclusive", "main | 1 2 3\n  f | 4 5 6\n"),
                make_profile("there 1/0 0/0 0/1", "n INT32 exclusive", "main | 20 10 100\n"), AS_MATCH_NAME, false);
    assert_places(ds, "node0 0/0 0/1 1/0 2/0");
    assert_tree(ds, "main | 9 100 18 -3\n  f | -4 0 -5 -6\n");
    as_dataset_free(ds);
}

/* Main itself became slower by what f became faster: where a row is zeros and left out, its children are still taken
 * off. */
static void exclusive_change_of_a_row_of_zeros(void **state) {
    (void)state;
    as_dataset *ds =
        diff_of(make_profile("0/0", "time DOUBLE inclusive", "main | 10\n  f | 4\n"),
                make_profile("0/0", "time DOUBLE inclusive", "main | 10\n  f | 3\n"), AS_MATCH_NAME, false);
    assert_tree(ds, "main | -\n  f | -1\n");
    as_node_list nodes;
    assay_error error;
    as_node_list_init(&nodes);
    assert_int_equal(as_nodes_find(ds, 0, 0, ASSAY_NONE, &nodes, &error), ASSAY_OK);
    assert_true(as_node_at(&nodes, 0)->exclusive.r == 1);
    as_node_list_free(&nodes);
    as_dataset_free(ds);
}

static void nothing_changed(void **state) {
    (void)state;
    static const char metrics[] = "time DOUBLE inclusive; n UINT64 exclusive; least MINDOUBLE exclusive",
                      tree[] = "main | 1.5 | 3 | 0.5\n  f | 1 | 2 | -\n";
    as_dataset *ds =
        diff_of(make_profile("0/0", metrics, tree), make_profile("0/0", metrics, tree), AS_MATCH_EXACT, false);
    assert_metrics(ds, "time DOUBLE inclusive; n INT64 exclusive; least MINDOUBLE exclusive");
    assert_tree(ds, "main | - | - | 0\n  f | - | - | -\n");
    as_dataset_free(ds);
}

static void minima_only_where_both_have_one(void **state) {
    (void)state;
    static const char metrics[] = "least MINDOUBLE exclusive; most MAXDOUBLE exclusive";
    as_dataset *ds =
        diff_of(make_profile("0/0 1/0", metrics, "main | 5 6 | 1 2\n  f | 3 4 | -\n"),
                make_profile("0/0 2/0", metrics, "main | 4.5 1 | 3 7\n  f | - | 8 9\n"), AS_MATCH_NAME, false);
    assert_metrics(ds, "least MINDOUBLE exclusive; most MAXDOUBLE exclusive");
    assert_tree(ds, "main | -0.5 0 0 | 2 0 0\n  f | - | -\n");
    as_dataset_free(ds);
}

static void composite_values_part_by_part(void **state) {
    (void)state;
    static const char metrics[] = "z COMPLEX exclusive; v NDOUBLES(3) exclusive; atoms TAU_ATOMIC exclusive";
    as_dataset *ds = diff_of(make_profile("0/0", metrics, "main | 1,2 | 1,2,3 | 2,1,3,4,10\n"),
                             make_profile("0/0", metrics, "main | 5,1 | 1,1,9 | 2,1,3,4,10\n"), AS_MATCH_NAME, false);
    assert_metrics(ds, "z COMPLEX exclusive; v NDOUBLES(3) exclusive");
    assert_tree(ds, "main | 4,-1 | 0,-1,6\n");
    assert_problem(ds, "metric-left-out", "no difference: atoms");
    as_dataset_free(ds);
}

static void types_that_do_not_agree(void **state) {
    (void)state;
    as_dataset *ds = diff_of(make_profile("0/0", "n UINT32 exclusive; z COMPLEX exclusive", "main | 5 | 1,2\n"),
                             make_profile("0/0", "n DOUBLE exclusive; z DOUBLE exclusive", "main | 5.5 | 1\n"),
                             AS_MATCH_NAME, false);
    assert_metrics(ds, "n DOUBLE exclusive");
    assert_tree(ds, "main | 0.5\n");
    as_dataset_free(ds);
}

/* One side has sums only. */
static void without_places_sums_are_compared(void **state) {
    (void)state;
    as_dataset *ds =
        diff_of(make_profile("0/0 1/0", "n UINT8 exclusive; t DOUBLE inclusive", "main | 200 100 | 1 2\n"),
                make_profile("", "n UINT64 exclusive; t DOUBLE inclusive", "main | 310 | 2.5\n"), AS_MATCH_NAME, false);
    assert_tree(ds, "main | 10 | -0.5\n");
    as_dataset_free(ds);
}

static void what_was_done_is_an_attribute(void **state) {
    (void)state;
    as_dataset *parts[2];
    for (int k = 0; k < 2; k++) {
        parts[k] = make_profile("0/0", "", "main\n");
        parts[k]->path = as_ds_intern_text(parts[k], k ? "/far/away/new.cubex" : "old");
        as_add_attribute(parts[k], AS_OWNER_DATASET, 0, "assay operation", as_cell_text("mean a b"));
    }
    as_dataset *ds = diff_of(parts[0], parts[1], AS_MATCH_NAME, false);
    assert_int_equal(ds->attributes.count, 1);
    assert_string_equal(as_ds_attribute(ds, 0)->value.text, "diff old new.cubex");
    assert_string_equal(as_ds_text(ds, ds->path), "diff old new.cubex");
    as_dataset_free(ds);
}

/* ---- mean -------------------------------------------------------------------------------------------------------- */

static void means(void **state) {
    (void)state;
    as_dataset *parts[] = {
        make_profile("0/0 1/0", "n UINT64 exclusive; only UINT8 exclusive", "main | 5 1 | 3 3\n  f | 1 1 | -\n"),
        make_profile("0/0 1/0", "n UINT64 exclusive", "main | 8 1\n"),
    };
    as_dataset *ds = mean_of(parts, 2);
    assert_metrics(ds, "n DOUBLE exclusive; only DOUBLE exclusive");
    assert_tree(ds, "main | 6.5 1 | 3 3\n  f | 0.5 0.5 | -\n"); /* a metric that a file lacks was not measured */
    as_dataset_free(ds);
    as_dataset *three[3];
    for (int k = 0; k < 3; k++) three[k] = make_profile("0/0", "n INT8 exclusive", k ? "main | -1\n" : "main | 2\n");
    ds = mean_of(three, 3);
    assert_tree(ds, "main | 0\n");
    as_dataset_free(ds);
}

static void means_of_minima_and_kinds(void **state) {
    (void)state;
    as_dataset *parts[] = {
        make_profile("0/0 1/0", "least MINDOUBLE exclusive; t DOUBLE inclusive", "main | 5 6 | 9 9\n  f | 3 4 | 3 5\n"),
        make_profile("0/0", "least MINDOUBLE exclusive; t DOUBLE exclusive", "main | 4 | 1\n  f | - | 2\n"),
    };
    as_dataset *ds = mean_of(parts, 2);
    assert_metrics(ds, "least MINDOUBLE exclusive; t DOUBLE inclusive");
    assert_tree(ds, "main | 4.5 6 | 6 4.5\n  f | 3 4 | 2.5 2.5\n");
    as_dataset_free(ds);
    /* Minima are taken as they are stored, number by number, whatever their kind is. */
    as_dataset *kinds[] = {make_profile("0/0", "least MINDOUBLE inclusive", "main | 5\n  f | 3\n"),
                           make_profile("0/0", "least MINDOUBLE exclusive", "main | 4\n  f | 1\n")};
    ds = mean_of(kinds, 2);
    assert_metrics(ds, "least MINDOUBLE inclusive");
    assert_tree(ds, "main | 4.5\n  f | 2\n");
    as_dataset_free(ds);
}

static void derived_metrics_stay(void **state) {
    (void)state;
    as_dataset *parts[] = {make_profile("0/0", "rate DOUBLE derived; n UINT8 exclusive", "main | 1\n"),
                           make_profile("0/0", "n UINT8 exclusive; rate DOUBLE derived", "main | 4\n")};
    as_add_attribute(parts[0], AS_OWNER_METRIC, 0, "expression", as_cell_text("metric::n()"));
    as_dataset *ds = mean_of(parts, 2);
    assert_metrics(ds, "rate DOUBLE derived; n DOUBLE exclusive");
    assert_tree(ds, "main | 2.5\n");
    assert_string_equal(as_ds_attribute(ds, 0)->value.text, "metric::n()");
    as_dataset_free(ds);
}

/* ---- merge ------------------------------------------------------------------------------------------------------- */

static void columns_come_whole_from_the_last(void **state) {
    (void)state;
    as_dataset *parts[] = {
        make_profile("0/0 1/0 2/0", "n UINT32 exclusive; a INT8 exclusive",
                     "main | 1 2 3 | -1 -2 -3\n  f | 4 5 6 | -\n"),
        make_profile("1/0 0/0", "n UINT32 exclusive; b DOUBLE inclusive", "main | 20 10 | 0.5 1.5\n  g | 7 8 | -\n"),
    };
    as_dataset *ds = merge_of(parts, 2);
    assert_metrics(ds, "n UINT32 exclusive; a INT8 exclusive; b DOUBLE inclusive");
    /* f is only in the first file: at ranks 0 and 1 it was not called in the run that counts; b has no rank 2 */
    assert_tree(ds, "main | 10 20 3 | -1 -2 -3 | 1.5 0.5\n  f | 0 0 6 | - | -\n  g | 8 7 0 | - | -\n");
    as_dataset_free(ds);
}

static void counters_below_zero_stay_what_they_are(void **state) {
    (void)state;
    as_dataset *parts[] = {make_profile("0/0", "u UINT64 exclusive", "main | 18446744073709551615\n"),
                           make_profile("1/0", "u UINT64 exclusive", "main | 5\n")};
    AS_AT(as_profile, &parts[0]->profiles, 0).below_zero = true;
    as_dataset *ds = merge_of(parts, 2);
    assert_tree(ds, "main | 18446744073709551615 5\n");
    assert_true(as_ds_profile(ds, 0, 0)->below_zero); /* so that sums take it as 0 */
    as_dataset_free(ds);
}

static void rows_of_nobody_are_none(void **state) {
    (void)state;
    as_dataset *parts[] = {make_profile("0/0", "n UINT8 exclusive", "main | 1\n  f | 4\n"),
                           make_profile("0/0", "n UINT8 exclusive", "main | 2\n"),
                           make_profile("0/0", "n UINT8 exclusive", "main | -\n")};
    as_dataset *three[] = {make_profile("0/0", "n UINT8 exclusive", "main | 1\n  f | 4\n"),
                           make_profile("0/0", "n UINT8 exclusive", "main | 2\n")};
    as_dataset *ds = merge_of(three, 2);
    assert_tree(ds, "main | 2\n  f | -\n");
    as_dataset_free(ds);
    ds = merge_of(parts, 3); /* the last one measured it, and it is 0 everywhere */
    assert_tree(ds, "main | -\n  f | -\n");
    as_dataset_free(ds);
}

static void merged_types(void **state) {
    (void)state;
    as_dataset *parts[] = {
        make_profile("0/0 1/0", "a UINT8 exclusive; b UINT32 exclusive; c INT8 exclusive; d UINT8 inclusive",
                     "main | 1 2 | 3 4 | -5 -6 | 200 1\n  f | - | - | - | 100 1\n"),
        make_profile("1/0", "a UINT16 exclusive; b INT16 exclusive; c DOUBLE exclusive; d UINT8 exclusive",
                     "main | 65535 | -1 | 0.5 | 200\n  f | - | - | - | 100\n"),
    };
    as_dataset *ds = merge_of(parts, 2);
    assert_metrics(ds, "a UINT64 exclusive; b INT64 exclusive; c DOUBLE exclusive; d UINT8 inclusive");
    /* 200 + 100 is more than a UINT8 can hold */
    assert_tree(ds, "main | 1 65535 | 3 -1 | -5 0.5 | 200 255\n  f | - | - | - | 100 100\n");
    assert_problem(ds, "beyond-limit", "'d': 1 value beyond what UINT8");
    as_dataset_free(ds);
}

/* ---- cut --------------------------------------------------------------------------------------------------------- */

static as_dataset *cut_of(as_dataset *part, const char *root, const char *prune, assay_error *error) {
    as_dataset *out = NULL;
    as_cut_names names = {&root, &prune, root != NULL, prune != NULL};
    assay_error mine;
    if (as_cut(part, &names, &out, error ? error : &mine) != ASSAY_OK && !error) fail_msg("%s", mine.message);
    as_dataset_free(part);
    return out;
}

static as_dataset *recursive_profile(void) {
    return make_profile("0/0 1/0", "t DOUBLE inclusive; n UINT8 exclusive; least MINDOUBLE exclusive",
                        "main | 100 90 | 1 1 | 9 9\n"
                        "  step:4 | 60 50 | 2 3 | 5 6\n"
                        "    flux | 10 10 | 100 4 | 7 1\n"
                        "    step:4 | 30 20 | 200 5 | 8 8\n"
                        "      flux | 5 5 | 7 7 | 4 4\n"
                        "  out | 20 20 | - | -\n"
                        "    step:4 | 1 1 | 1 1 | 2 2\n");
}

static void subtrees_become_trees(void **state) {
    (void)state;
    as_dataset *ds = cut_of(recursive_profile(), "step", NULL, NULL);
    assert_tree(ds, "step:4 | 60 50 | 2 3 | 5 6\n"
                    "  flux | 10 10 | 100 4 | 7 1\n"
                    "  step:4 | 30 20 | 200 5 | 8 8\n"
                    "    flux | 5 5 | 7 7 | 4 4\n"
                    "step:4 | 1 1 | 1 1 | 2 2\n");
    assert_string_equal(as_ds_attribute(ds, 0)->value.text, "cut --root step ?");
    as_dataset_free(ds);
}

static void pruned_values_go_to_the_caller(void **state) {
    (void)state;
    as_dataset *ds = cut_of(recursive_profile(), NULL, "flux", NULL);
    assert_metrics(ds, "t DOUBLE inclusive; n UINT8 exclusive; least MINDOUBLE exclusive");
    assert_tree(ds, "main | 100 90 | 1 1 | 9 9\n"
                    "  step:4 | 60 50 | 102 7 | 5 1\n"
                    "    step:4 | 30 20 | 207 12 | 4 4\n"
                    "  out | 20 20 | - | -\n"
                    "    step:4 | 1 1 | 1 1 | 2 2\n");
    as_dataset_free(ds);
    ds = cut_of(recursive_profile(), NULL, "step", NULL); /* the topmost ones, with all that is below */
    assert_metrics(ds, "t DOUBLE inclusive; n UINT64 exclusive; least MINDOUBLE exclusive"); /* 310 does not fit */
    assert_tree(ds, "main | 100 90 | 310 20 | 4 1\n  out | 20 20 | 1 1 | 2 2\n");
    as_dataset_free(ds);
    ds = cut_of(recursive_profile(), NULL, "main", NULL); /* a root is never pruned */
    assert_int_equal(ds->contexts.count, 7);
    as_dataset_free(ds);
}

/* An inclusive sum holds what is pruned already; an inclusive minimum need not. */
static void pruned_minima_of_inclusive_metrics(void **state) {
    (void)state;
    as_dataset *ds = cut_of(make_profile("0/0", "least MINDOUBLE inclusive; t DOUBLE inclusive",
                                         "main | 5 | 9\n  f | 3 | 4\n  g | 7 | 2\n"),
                            NULL, "f", NULL);
    assert_tree(ds, "main | 3 | 9\n  g | 7 | 2\n");
    as_dataset_free(ds);
}

static void pruning_below_new_roots(void **state) {
    (void)state;
    as_dataset *ds = cut_of(recursive_profile(), "step", "flux", NULL);
    assert_tree(ds, "step:4 | 60 50 | 102 7 | 5 1\n  step:4 | 30 20 | 207 12 | 4 4\nstep:4 | 1 1 | 1 1 | 2 2\n");
    as_dataset_free(ds);
}

static void composite_values_are_added_by_part(void **state) {
    (void)state;
    as_dataset *ds = cut_of(make_profile("0/0", "z COMPLEX exclusive; a TAU_ATOMIC exclusive",
                                         "main | 1,2 | 2,1,3,4,10\n  f | 3,4 | 1,0.5,0.5,0.5,0.25\n"),
                            NULL, "f", NULL);
    assert_tree(ds, "main | 4,6 | 3,0.5,3,4.5,10.25\n");
    as_dataset_free(ds);
}

static void wrong_names(void **state) {
    (void)state;
    assay_error error;
    assert_null(cut_of(recursive_profile(), "stpe", NULL, &error));
    assert_int_equal(error.code, ASSAY_E_USAGE);
    assert_string_equal(error.message, "there is no region 'stpe' in the call tree; did you mean 'step'?");
    assert_null(cut_of(recursive_profile(), "step", "no_such_region", &error));
    assert_non_null(strstr(error.message, "'no_such_region'"));
    assert_null(cut_of(recursive_profile(), "step", "step", &error));
    assert_int_equal(error.code, ASSAY_E_USAGE);
    assert_null(cut_of(recursive_profile(), NULL, NULL, &error));
    assert_int_equal(error.code, ASSAY_E_USAGE);
}

/* ---- experiments ------------------------------------------------------------------------------------------------- */

/* Means of main->f and main->g at p = 4 and p = 2, in this order; values instead of statistics where `repetitions` says
 * so. */
static as_dataset *make_experiment(const double means[4], size_t repetitions) {
    static const char *const paths[] = {"main->f", "main->g"};
    as_dataset *ds = as_dataset_new(0);
    as_add_parameter(ds, as_ds_intern_text(ds, "p"));
    as_experiment *e = as_experiment_new(ds);
    as_cell_key key = {.metric = as_experiment_metric(e, "time", 4)};
    for (size_t i = 0; i < 4; i++) {
        key.point = as_experiment_point(e, &(double){i % 2 ? 2 : 4});
        key.context = as_experiment_callpath(e, paths[i / 2], 7);
        as_measurement statistics = {.repetitions = 3, .mean = means[i], .median = 0, .minimum = NAN, .maximum = NAN};
        if (!repetitions) assert_true(as_experiment_statistics(e, key, &statistics));
        for (size_t k = 0; k < repetitions; k++) /* around the mean */
            assert_true(as_experiment_value(e, key, (as_number){AS_REAL, {.r = means[i] - 1 + 2 * (double)k}}));
    }
    assert_true(as_experiment_finish(e, AS_NOWHERE, NULL));
    as_experiment_free(e);
    ds->format = "extrap-text";
    return ds;
}

static bool collect(void *user, const as_measurement *m) {
    char *text = user;
    size_t used = strlen(text);
    snprintf(text + used, 256 - used, " %u:%gx%d", m->point, m->mean, (int)m->repetitions);
    return true;
}

/* "f 0:1x1 1:2x1; g …": for each series point, mean and repetitions. */
static void assert_measured(as_dataset *ds, const char *expected) {
    char text[256] = "";
    for (size_t i = 0; i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        strcat(strcat(text, i ? "; " : ""), as_ds_text(ds, as_ds_context(ds, series->context)->name));
        assert_true(as_measure(ds, series, collect, text));
    }
    assert_string_equal(text, expected);
    as_dataset_free(ds);
}

/* Where a file has only statistics, its means are the values. Points come in order: p = 2 is number 0. */
static void statistics_are_taken_by_their_means(void **state) {
    (void)state;
    static const double before[] = {10, 20, 1, 2}, after[] = {11, 22, 4, 8};
    assert_measured(diff_of(make_experiment(before, 0), make_experiment(after, 0), AS_MATCH_NAME, false),
                    "f 0:2x1 1:1x1; g 0:6x1 1:3x1");
    assert_measured(diff_of(make_experiment(before, 2), make_experiment(after, 0), AS_MATCH_NAME, false),
                    "f 0:2x1 1:1x1; g 0:6x1 1:3x1"); /* two runs and one: means */
    assert_measured(diff_of(make_experiment(before, 2), make_experiment(after, 2), AS_MATCH_NAME, false),
                    "f 0:2x2 1:1x2; g 0:6x2 1:3x2");
    as_dataset *parts[] = {make_experiment(before, 0), make_experiment(after, 0)};
    assert_measured(mean_of(parts, 2), "f 0:21x1 1:10.5x1; g 0:5x1 1:2.5x1");
    assert_measured(cut_of(make_experiment(before, 0), "f", NULL, NULL), "f 0:20x1 1:10x1");
    assert_measured(cut_of(make_experiment(before, 2), NULL, "g", NULL), "f 0:20x2 1:10x2");
}

static void add_value(as_experiment *e, const char *metric, double p, double value) {
    as_cell_key key = {.metric = as_experiment_metric(e, metric, strlen(metric)),
                       .context = as_experiment_callpath(e, "main", 4),
                       .point = as_experiment_point(e, &p)};
    assert_true(as_experiment_value(e, key, (as_number){AS_INT, {.i = (int64_t)value}}));
}

/* Whole numbers at p = 2: so many of a metric n, and one of a metric m. */
static as_dataset *make_counts(size_t n, const double *values) {
    as_dataset *ds = as_dataset_new(0);
    as_add_parameter(ds, as_ds_intern_text(ds, "p"));
    as_experiment *e = as_experiment_new(ds);
    for (size_t i = 0; i < n; i++) add_value(e, "n", 2, values[i]);
    add_value(e, "m", 2, 10);
    assert_true(as_experiment_finish(e, AS_NOWHERE, NULL));
    as_experiment_free(e);
    return ds;
}

static void add_at(as_experiment *e, const char *path, double value) {
    as_cell_key key = {.metric = as_experiment_metric(e, "n", 1),
                       .context = as_experiment_callpath(e, path, strlen(path)),
                       .point = as_experiment_point(e, &(double){2})};
    assert_true(as_experiment_value(e, key, (as_number){AS_REAL, {.r = value}}));
}

/* At p = 2 main has 1, 2 and 3, and main->f one value. */
static as_dataset *make_ragged(double only) {
    as_dataset *ds = as_dataset_new(0);
    as_add_parameter(ds, as_ds_intern_text(ds, "p"));
    as_experiment *e = as_experiment_new(ds);
    for (int i = 0; i < 3; i++) add_at(e, "main", i + 1);
    add_at(e, "main->f", only);
    assert_true(as_experiment_finish(e, AS_NOWHERE, NULL));
    as_experiment_free(e);
    return ds;
}

static void repetitions_of_experiments(void **state) {
    (void)state;
    static const double before[] = {10, 20, 1, 2}, after[] = {11, 22, 4, 8}, three[] = {1, 2, 6}, two[] = {1, 4};
    /* What did not change was measured all the same. */
    assert_measured(diff_of(make_experiment(before, 2), make_experiment(before, 2), AS_MATCH_NAME, false),
                    "f 0:0x2 1:0x2; g 0:0x2 1:0x2");
    /* Of other numbers of repetitions those of the last one count, and means are compared: 2.5 - 3. */
    as_dataset *parts[] = {make_experiment(before, 3), make_experiment(after, 2)};
    assert_measured(merge_of(parts, 2), "f 0:22x2 1:11x2; g 0:8x2 1:4x2");
    assert_measured(diff_of(make_counts(3, three), make_counts(2, two), AS_MATCH_NAME, false),
                    "main 0:-0.5x1; main 0:0x1");
    /* The second and third run have no m: it was not measured there. */
    as_dataset *one[] = {make_counts(3, three)};
    assert_measured(mean_of(one, 1), "main 0:3x1; main 0:10x1");
    /* Nor has every call path as many repetitions as another one. */
    as_dataset *ragged = make_ragged(10);
    assert_measured(mean_of(&ragged, 1), "main 0:2x1; f 0:10x1");
}

/* As many runs on both sides, but f has one of them and three: 4 - 10, not 3 - 10, 4 - 0 and 5 - 0. */
static void ragged_repetitions_are_compared_by_means(void **state) {
    (void)state;
    assert_measured(diff_of(make_ragged(10), make_ragged(10), AS_MATCH_NAME, false), "main 0:0x1; f 0:0x1");
    as_dataset *other = as_dataset_new(0);
    as_add_parameter(other, as_ds_intern_text(other, "p"));
    as_experiment *e = as_experiment_new(other);
    for (int i = 0; i < 6; i++) add_at(e, i < 3 ? "main" : "main->f", (i < 3 ? 2 : 3) + i % 3);
    assert_true(as_experiment_finish(e, AS_NOWHERE, NULL));
    as_experiment_free(e);
    assert_measured(diff_of(make_ragged(10), other, AS_MATCH_NAME, false), "main 0:1x1; f 0:-6x1");
}

/* ---- little memory ----------------------------------------------------------------------------------------------- */

static assay_status operate(int operation, as_dataset **parts, as_dataset **out, assay_error *error) {
    static const char *const root = "f", *const prune = "g";
    static const as_cut_names names = {&root, &prune, 1, 1};
    const as_dataset *const *inputs = (const as_dataset *const *)parts;
    switch (operation) {
    case 0: return as_diff(parts[0], parts[1], AS_MATCH_NAME, true, out, error);
    case 1: return as_mean(inputs, 2, AS_MATCH_NAME, out, error);
    case 2: return as_merge_profiles(inputs, 2, AS_MATCH_NAME, out, error);
    default: return as_cut(parts[1], &names, out, error);
    }
}

/* Below some limit memory is out, and nothing else happens. */
static void with_little_memory(void **state) {
    (void)state;
    as_dataset *parts[] = {
        make_profile("0/0 1/0", "n UINT8 exclusive; t DOUBLE inclusive", "main | 1 2 | 5 5\n  f{i=1} | 1 1 | 2 2\n"),
        make_profile("1/0 2/0", "n UINT8 inclusive; t DOUBLE exclusive; r DOUBLE derived",
                     "main | 1 2 | 5 5\n  f{i=2} | 1 1 | 2 2\n    g | 1 1 | 1 1\n  h | 1 1 | -\n")};
    for (int operation = 0; operation < 4; operation++) {
        size_t failed = 0;
        for (uint64_t limit = 1;; limit += 37) {
            as_dataset *out = NULL;
            assay_error error;
            parts[0]->budget.limit = parts[1]->budget.limit = limit;
            assay_status status = operate(operation, parts, &out, &error);
            as_dataset_free(out);
            if (status == ASSAY_OK) break;
            assert_int_equal(status, ASSAY_E_NOMEM);
            assert_null(out);
            failed++;
        }
        assert_true(failed > 10);
    }
    for (int k = 0; k < 2; k++) as_dataset_free(parts[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_signed),
        cmocka_unit_test(large_integers_are_exact),
        cmocka_unit_test(counters_below_zero_are_zero),
        cmocka_unit_test(kinds_are_converted),
        cmocka_unit_test(metrics_of_one_side),
        cmocka_unit_test(locations_of_one_side_are_zero),
        cmocka_unit_test(exclusive_change_of_a_row_of_zeros),
        cmocka_unit_test(nothing_changed),
        cmocka_unit_test(minima_only_where_both_have_one),
        cmocka_unit_test(composite_values_part_by_part),
        cmocka_unit_test(types_that_do_not_agree),
        cmocka_unit_test(without_places_sums_are_compared),
        cmocka_unit_test(what_was_done_is_an_attribute),
        cmocka_unit_test(means),
        cmocka_unit_test(means_of_minima_and_kinds),
        cmocka_unit_test(derived_metrics_stay),
        cmocka_unit_test(columns_come_whole_from_the_last),
        cmocka_unit_test(counters_below_zero_stay_what_they_are),
        cmocka_unit_test(rows_of_nobody_are_none),
        cmocka_unit_test(merged_types),
        cmocka_unit_test(subtrees_become_trees),
        cmocka_unit_test(pruned_values_go_to_the_caller),
        cmocka_unit_test(pruned_minima_of_inclusive_metrics),
        cmocka_unit_test(pruning_below_new_roots),
        cmocka_unit_test(composite_values_are_added_by_part),
        cmocka_unit_test(wrong_names),
        cmocka_unit_test(statistics_are_taken_by_their_means),
        cmocka_unit_test(repetitions_of_experiments),
        cmocka_unit_test(ragged_repetitions_are_compared_by_means),
        cmocka_unit_test(with_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
