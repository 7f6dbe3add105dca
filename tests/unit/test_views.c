/* Views of call trees: what each node has, reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/views/view.h"
#include "blocks.h"

/* Exclusive values in brackets:
 *
 *   0 main (1)           6 helper (10)
 *   1 +- f (2)           7 +- g (20)
 *   2 |  +- f (4)
 *   3 |  |  +- g (8)
 *   4 |  +- g (16)
 *   5 +- g (32)
 *
 * f calls itself: of its two contexts the inner one lies inside the outer. */
static const char *const paths[] = {"main",       "main->f", "main->f->f", "main->f->f->g",
                                    "main->f->g", "main->g", "helper",     "helper->g"};
enum { N = 8 };
static const row values[N] = {{0, 0, 0, {1}},  {1, 0, 0, {2}},  {2, 0, 0, {4}},  {3, 0, 0, {8}},
                              {4, 0, 0, {16}}, {5, 0, 0, {32}}, {6, 0, 0, {10}}, {7, 0, 0, {20}}};

static as_dataset *make_dataset(const char *const *of, size_t n) {
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, ds);
    for (size_t i = 0; i < n; i++) as_tree_path(&tree, of[i], strlen(of[i]));
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    assert_int_equal(as_add_run(ds, &AS_RUN_INIT), 0);
    return ds;
}

static assay_id add_metric(as_dataset *ds, as_metric_kind kind) {
    as_metric metric = AS_METRIC_INIT;
    metric.kind = kind;
    return as_add_metric(ds, &metric);
}

static as_dataset *recursive(void) {
    as_dataset *ds = make_dataset(paths, N);
    add_block(ds, add_metric(ds, AS_KIND_EXCLUSIVE), 0, AS_DTYPE_INT64, values, N);
    return ds;
}

/* The view as text: a line for each node, "  name inclusive exclusive", indented by its depth; "*" behind what is
 * hot. */
struct shown {
    const as_dataset *ds;
    char text[4000];
    size_t size, columns;
};

static void put_number(struct shown *s, as_view_number number) {
    char text[AS_WHOLE_SIZE] = "-";
    if (number.is_known && number.is_whole) as_whole_format(number.whole, text);
    if (number.is_known && !number.is_whole) as_real_format(number.real, text);
    s->size += (size_t)snprintf(s->text + s->size, sizeof s->text - s->size, " %s", text);
}

static bool put_node(void *user, const as_view_node *node) {
    struct shown *s = user;
    s->size += (size_t)snprintf(s->text + s->size, sizeof s->text - s->size, "%*s%s", 2 * (int)node->depth, "",
                                as_ds_text(s->ds, node->name) ? as_ds_text(s->ds, node->name) : "?");
    for (size_t k = 0; k < s->columns; k++) {
        put_number(s, node->values[k].inclusive);
        put_number(s, node->values[k].exclusive);
    }
    s->size += (size_t)snprintf(s->text + s->size, sizeof s->text - s->size, "%s%s\n", node->is_hot ? " *" : "",
                                node->is_last ? " ." : "");
    return true;
}

#define REQUEST(...) ((as_view_request){__VA_ARGS__})

static as_view_cut check_from(const as_dataset *ds, as_view_source source, const assay_id *roots, size_t n_roots,
                              as_view_request request, const char *expected) {
    assay_id metrics[4];
    size_t n = AS_COUNT(ds, metrics);
    for (assay_id i = 0; i < n; i++) metrics[i] = i;
    source.ds = ds;
    as_view_data data;
    as_view_cut cut;
    assay_error error;
    struct shown *shown = calloc(1, sizeof *shown);
    shown->ds = ds;
    shown->columns = n;
    assert_int_equal(as_view_load(&source, metrics, n, roots, n_roots, &data, &error), ASSAY_OK);
    assert_int_equal(as_view_walk(&data, &request, put_node, shown, &cut, &error), ASSAY_OK);
    assert_string_equal(shown->text, expected);
    as_view_data_free(&data);
    free(shown);
    return cut;
}

static const assay_id first_run[] = {0};

static as_view_cut check(const as_dataset *ds, as_view_request request, const char *expected) {
    return check_from(ds, (as_view_source){.runs = first_run, .n_runs = 1, .point = ASSAY_NONE}, NULL, 0, request,
                      expected);
}

/* ---- top-down ---------------------------------------------------------------------------------------------------- */

static void the_tree_as_it_is(void **state) {
    (void)state;
    as_dataset *ds = recursive();
    check(ds, REQUEST(.order = AS_SORT_SOURCE),
          "main 63 1 *\n"
          "  f 30 2\n" /* 30 of 63 is less than half, but g has 32 */
          "    f 12 4\n"
          "      g 8 8 .\n"
          "    g 16 16 .\n"
          "  g 32 32 * .\n"
          "helper 30 10 .\n"
          "  g 20 20 .\n");
    as_dataset_free(ds);
}

static void siblings_are_sorted(void **state) {
    (void)state;
    as_dataset *ds = recursive();
    check(ds, REQUEST(.order = AS_SORT_INCLUSIVE, .max_levels = 2),
          "main 63 1 *\n"
          "  g 32 32 *\n"
          "  f 30 2 .\n"
          "helper 30 10 .\n"
          "  g 20 20 .\n");
    check(ds, REQUEST(.order = AS_SORT_EXCLUSIVE, .max_levels = 1),
          "helper 30 10\n"
          "main 63 1 * .\n");
    as_view_cut cut = check(ds, REQUEST(.order = AS_SORT_NAME, .max_levels = 2),
                            "helper 30 10\n"
                            "  g 20 20 .\n"
                            "main 63 1 * .\n"
                            "  f 30 2\n"
                            "  g 32 32 * .\n");
    assert_int_equal(cut.deep, 3);
    assert_int_equal(cut.small, 0);
    as_dataset_free(ds);
}

static void small_ones_are_cut(void **state) {
    (void)state;
    as_dataset *ds = recursive();
    as_view_cut cut = check(ds, REQUEST(.order = AS_SORT_INCLUSIVE, .min_share = 20.5 / 93),
                            "main 63 1 *\n"
                            "  g 32 32 *\n"
                            "  f 30 2 .\n"
                            "helper 30 10 .\n");
    assert_int_equal(cut.small, 4); /* f->f with its g, f->g, helper->g */
    as_dataset_free(ds);
}

static void only_the_hot_path(void **state) {
    (void)state;
    as_dataset *ds = recursive();
    check(ds, REQUEST(.order = AS_SORT_INCLUSIVE, .only_hot = true),
          "main 63 1 * .\n"
          "  g 32 32 * .\n");
    static const assay_id roots[] = {1};
    check_from(ds, (as_view_source){.runs = first_run, .n_runs = 1}, roots, 1, REQUEST(.only_hot = true),
               "f 30 2 * .\n"
               "  g 16 16 * .\n");
    as_dataset_free(ds);
}

static void names_that_are_asked_for(void **state) {
    (void)state;
    as_dataset *ds = recursive();
    bool *wanted = calloc(ds->strings.entries.count, 1);
    wanted[as_find(&ds->strings, "f", 1)] = true;
    check(ds, REQUEST(.order = AS_SORT_SOURCE, .wanted = wanted),
          "main 63 1 * .\n"
          "  f 30 2 .\n" /* the hot one is not shown, so no path leads on */
          "    f 12 4 .\n");
    check(ds, REQUEST(.kind = AS_VIEW_FLAT, .wanted = wanted), "f 30 6 .\n");
    check(ds, REQUEST(.kind = AS_VIEW_BOTTOM_UP, .wanted = wanted, .order = AS_SORT_EXCLUSIVE),
          "f 30 6 * .\n"
          "  f 12 4 *\n"
          "    main 12 4 * .\n"
          "  main 30 2 .\n");
    free(wanted);
    as_dataset_free(ds);
}

/* ---- flat -------------------------------------------------------------------------------------------------------- */

static void recursion_is_not_counted_twice(void **state) {
    (void)state;
    as_dataset *ds = recursive();
    check(ds, REQUEST(.kind = AS_VIEW_FLAT, .order = AS_SORT_EXCLUSIVE),
          "g 76 76\n"
          "helper 30 10\n"
          "f 30 6\n" /* its own 30, not 30 + 12 */
          "main 63 1 .\n");
    as_view_cut cut = check(ds, REQUEST(.kind = AS_VIEW_FLAT, .order = AS_SORT_INCLUSIVE, .max_first = 2),
                            "g 76 76\n"
                            "main 63 1 .\n");
    assert_int_equal(cut.rest, 2);
    cut = check(ds, REQUEST(.kind = AS_VIEW_FLAT, .order = AS_SORT_EXCLUSIVE, .min_share = 0.1),
                "g 76 76\n"
                "helper 30 10 .\n");
    assert_int_equal(cut.small, 2);
    static const assay_id roots[] = {1, 6};
    check_from(ds, (as_view_source){.runs = first_run, .n_runs = 1}, roots, 2,
               REQUEST(.kind = AS_VIEW_FLAT, .order = AS_SORT_SOURCE),
               "f 30 6\n"
               "g 44 44\n"
               "helper 30 10 .\n");
    as_dataset_free(ds);
}

/* Inclusive values with holes, as files have them that were cut carelessly: a missing row is 0. Of f only the outermost
 * context counts, whether a child of it has a row or none has. */
static void outermost_without_a_row(void **state) {
    (void)state;
    static const row holes[2][3] = {{{0, 0, 0, {9}}, {3, 0, 0, {8}}, {5, 0, 0, {1}}},
                                    {{0, 0, 0, {9}}, {2, 0, 0, {8}}, {5, 0, 0, {1}}}};
    static const char *const of[] = {"main", "main->f", "main->f->h", "main->f->h->f", "main->f->h->f->g", "main->g"};
    static const char *const expected[] = {"main 9 8\nf 0 8\nh 0 -8\ng 1 1 .\n", "main 9 8\nf 0 -8\nh 8 8\ng 1 1 .\n"};
    for (size_t i = 0; i < 2; i++) {
        as_dataset *ds = make_dataset(of, 6);
        add_block(ds, add_metric(ds, AS_KIND_INCLUSIVE), 0, AS_DTYPE_INT64, holes[i], 3);
        check(ds, REQUEST(.kind = AS_VIEW_FLAT, .order = AS_SORT_SOURCE), expected[i]);
        as_dataset_free(ds);
    }
}

static void set_place(as_dataset *ds, const char *region, const char *file, const char *kind) {
    for (size_t i = 0; i < AS_COUNT(ds, regions); i++) {
        as_region *r = &AS_AT(as_region, &ds->regions, i);
        if (strcmp(as_ds_text(ds, r->name), region) != 0) continue;
        if (file) r->file = as_ds_intern_text(ds, file);
        if (kind) r->kind = as_ds_intern_text(ds, kind);
    }
}

static void by_file_and_kind(void **state) {
    (void)state;
    as_dataset *ds = recursive();
    set_place(ds, "main", "a.c", "function");
    set_place(ds, "f", "b.c", "function");
    set_place(ds, "g", "b.c", "loop");
    check(ds, REQUEST(.kind = AS_VIEW_FLAT, .group = AS_GROUP_FILE, .order = AS_SORT_EXCLUSIVE),
          "b.c 82 82\n" /* f with all in it, g below main, g below helper */
          "? 30 10\n"
          "a.c 63 1 .\n");
    check(ds, REQUEST(.kind = AS_VIEW_FLAT, .group = AS_GROUP_KIND, .order = AS_SORT_EXCLUSIVE),
          "loop 76 76\n"
          "? 30 10\n"
          "function 63 7 .\n");
    check(ds, REQUEST(.kind = AS_VIEW_FLAT, .group = AS_GROUP_MODULE), "? 93 93 .\n");
    /* What has no region has no file either, whatever its name is. */
    for (assay_id i = 0; i < N; i++) AS_AT(as_context, &ds->contexts, i).region = ASSAY_NONE;
    check(ds, REQUEST(.kind = AS_VIEW_FLAT, .group = AS_GROUP_FILE), "? 93 93 .\n");
    as_dataset_free(ds);
}

/* ---- bottom-up --------------------------------------------------------------------------------------------------- */

static void callers_share_what_was_done(void **state) {
    (void)state;
    as_dataset *ds = recursive();
    check(ds, REQUEST(.kind = AS_VIEW_BOTTOM_UP, .order = AS_SORT_EXCLUSIVE),
          "g 76 76 *\n"
          "  main 32 32\n"
          "  f 24 24\n"
          "    main 16 16\n"
          "    f 8 8 .\n"
          "      main 8 8 .\n"
          "  helper 20 20 .\n"
          "helper 30 10\n"
          "f 30 6\n"
          "  f 12 4\n" /* the inner f, called by f, called by main */
          "    main 12 4 .\n"
          "  main 30 2 .\n"
          "main 63 1 .\n");
    as_view_cut cut =
        check(ds, REQUEST(.kind = AS_VIEW_BOTTOM_UP, .order = AS_SORT_NAME, .max_levels = 2, .max_first = 2),
              "f 30 6\n"
              "  f 12 4\n"
              "  main 30 2 .\n"
              "g 76 76 * .\n"
              "  f 24 24\n"
              "  helper 20 20\n"
              "  main 32 32 .\n");
    assert_int_equal(cut.rest, 2);
    assert_int_equal(cut.deep, 2); /* f below f and f below g were called, too */
    as_dataset_free(ds);
}

/* A function that calls itself a thousand times: each node has what was called through so many of it. */
static void long_chains(void **state) {
    (void)state;
    enum { DEPTH = 1000 };
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, ds);
    assay_id region = as_tree_region(&tree, as_ds_intern_text(ds, "f")), parent = ASSAY_NONE;
    static row rows[DEPTH];
    for (assay_id i = 0; i < DEPTH; i++) {
        parent = as_tree_child(&tree, parent, region);
        rows[i] = (row){i, 0, 0, {1}};
    }
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    as_add_run(ds, &AS_RUN_INIT);
    add_block(ds, add_metric(ds, AS_KIND_EXCLUSIVE), 0, AS_DTYPE_UINT64, rows, DEPTH);
    as_view_cut cut = check(ds, REQUEST(.kind = AS_VIEW_BOTTOM_UP, .max_levels = 4),
                            "f 1000 1000 * .\n"
                            "  f 999 999 * .\n"
                            "    f 998 998 * .\n"
                            "      f 997 997 * .\n");
    assert_int_equal(cut.deep, 1);
    assert_int_equal(cut.limit, 0);
    check(ds, REQUEST(.kind = AS_VIEW_FLAT), "f 1000 1000 .\n");
    as_dataset_free(ds);
}

/* ---- other kinds of values --------------------------------------------------------------------------------------- */

static void minima_stay_minima(void **state) {
    (void)state;
    as_dataset *ds = make_dataset(paths, N);
    as_metric metric = AS_METRIC_INIT;
    metric.kind = AS_KIND_EXCLUSIVE;
    assay_id id = as_add_metric(ds, &metric);
    static const assay_id contexts[] = {1, 3, 5, 7};
    static const double minima[] = {5, 3, 7, 2};
    as_profile profile = {.metric = id,
                          .run = 0,
                          .type = as_value_type_of(AS_DTYPE_MINDOUBLE, 0),
                          .n_rows = 4,
                          .n_columns = 1,
                          .is_loaded = true,
                          .contexts = contexts,
                          .values = (const char *)minima};
    assert_true(as_add_profile(ds, &profile));
    check(ds, REQUEST(.order = AS_SORT_SOURCE),
          "main 3 -\n"
          "  f 3 5\n"
          "    f 3 -\n"
          "      g 3 3 .\n"
          "    g - - .\n"
          "  g 7 7 .\n"
          "helper 2 - .\n"
          "  g 2 2 .\n");
    check(ds, REQUEST(.kind = AS_VIEW_FLAT, .order = AS_SORT_SOURCE),
          "main 3 -\n"
          "f 3 5\n"
          "g 2 2\n"
          "helper 2 - .\n");
    as_dataset_free(ds);
}

static bool check_parts(void *user, const as_view_node *node) {
    double(*parts)[4] = user;
    for (int i = 0; i < 4; i++) {
        const as_view_number *number = i < 2 ? &node->values[0].inclusive : &node->values[0].exclusive;
        assert_non_null(number->parts);
        assert_true(number->parts[i % 2] == (*parts)[i]);
    }
    return true;
}

/* RATE: value and duration are summed apart, and people see their quotient. */
static void composite_values_part_by_part(void **state) {
    (void)state;
    as_dataset *ds = make_dataset(paths, N);
    static const assay_id contexts[] = {3, 5, 7};
    static const double rates[] = {6, 1, 4, 2, 20, 2};
    as_profile profile = {.metric = add_metric(ds, AS_KIND_EXCLUSIVE),
                          .type = as_value_type_of(AS_DTYPE_RATE, 0),
                          .n_rows = 3,
                          .n_columns = 1,
                          .contexts = contexts};
    profile.values = (const char *)rates;
    assert_true(as_add_profile(ds, &profile));
    as_view_cut cut = check(ds, REQUEST(.kind = AS_VIEW_FLAT, .order = AS_SORT_SOURCE, .min_share = 0.9),
                            "main 3.3333333333333335 -\n" /* (6 + 4) / (1 + 2) */
                            "f 6 -\n"
                            "g 6 6\n" /* (6 + 4 + 20) / (1 + 2 + 2) */
                            "helper 10 - .\n");
    assert_int_equal(cut.small, 0); /* shares mean nothing */
    as_view_data data;
    assay_error error;
    bool *wanted = calloc(ds->strings.entries.count, 1);
    wanted[as_find(&ds->strings, "g", 1)] = true;
    as_view_request request = REQUEST(.kind = AS_VIEW_FLAT, .wanted = wanted);
    assert_int_equal(
        as_view_load(&(as_view_source){.ds = ds, .runs = first_run, .n_runs = 1}, first_run, 1, NULL, 0, &data, &error),
        ASSAY_OK);
    double expected[4] = {30, 5, 30, 5};
    assert_int_equal(as_view_walk(&data, &request, check_parts, &expected, &cut, &error), ASSAY_OK);
    as_view_data_free(&data);
    free(wanted);
    as_dataset_free(ds);
}

static void the_mean_of_runs(void **state) {
    (void)state;
    as_dataset *ds = make_dataset(paths, N);
    as_add_run(ds, &AS_RUN_INIT);
    assay_id added = add_metric(ds, AS_KIND_EXCLUSIVE), other = add_metric(ds, AS_KIND_NONE);
    static const row rows[] = {{0, 0, 0, {1}}, {0, 1, 0, {2}}, {5, 1, 0, {3}}};
    add_block(ds, added, ASSAY_NONE, AS_DTYPE_INT64, rows, 3);
    add_block(ds, other, ASSAY_NONE, AS_DTYPE_INT64, rows, 3);
    static const assay_id both[] = {0, 1};
    /* g was not called in the first run: its mean is 1.5. What is only known in one run is known from that one. */
    check_from(ds, (as_view_source){.runs = both, .n_runs = 2}, NULL, 0,
               REQUEST(.order = AS_SORT_SOURCE, .max_levels = 2),
               "main 3 1.5 1.5 - *\n"
               "  f 0 0 - -\n"
               "  g 1.5 1.5 3 - * .\n"
               "helper 0 0 - - .\n"
               "  g 0 0 - - .\n");
    as_dataset_free(ds);
}

static void experiments_have_one_value(void **state) {
    (void)state;
    as_dataset *ds = make_dataset(paths, N);
    assay_id metric = add_metric(ds, AS_KIND_NONE);
    static const row rows[] = {
        {1, 0, ASSAY_NONE, {.r = 8}}, {2, 0, ASSAY_NONE, {.r = 4}}, {5, 0, ASSAY_NONE, {.r = 16}}};
    add_block(ds, metric, 0, AS_DTYPE_DOUBLE, rows, 3);
    check(ds, REQUEST(.order = AS_SORT_INCLUSIVE),
          "main - - *\n"
          "  g 16 - *\n"
          "  f 8 - .\n"
          "    f 4 -\n"
          "      g - - .\n"
          "    g - - .\n"
          "helper - - .\n"
          "  g - - .\n");
    check(ds, REQUEST(.kind = AS_VIEW_FLAT, .order = AS_SORT_EXCLUSIVE, .max_first = 3),
          "g 16 -\n"
          "f 8 -\n"
          "main - - .\n");
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_as_it_is),
        cmocka_unit_test(siblings_are_sorted),
        cmocka_unit_test(small_ones_are_cut),
        cmocka_unit_test(only_the_hot_path),
        cmocka_unit_test(names_that_are_asked_for),
        cmocka_unit_test(recursion_is_not_counted_twice),
        cmocka_unit_test(outermost_without_a_row),
        cmocka_unit_test(by_file_and_kind),
        cmocka_unit_test(callers_share_what_was_done),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(minima_stay_minima),
        cmocka_unit_test(composite_values_part_by_part),
        cmocka_unit_test(the_mean_of_runs),
        cmocka_unit_test(experiments_have_one_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
