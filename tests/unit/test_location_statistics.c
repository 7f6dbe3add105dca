/* Statistics over locations, processes and runs of a small tree, reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/location_statistics.h"
#include "blocks.h"
#include "sparse_files.h"

/* 0 main, 1 main->a, 2 main->b */
enum { MAIN, A, B };
/* The system: a machine with two processes of two threads each. */
enum { MACHINE, P0, T00, T01, P1, T10, T11 };

static assay_id add_place(as_dataset *ds, assay_id parent, int64_t rank, bool leaf) {
    as_location location = AS_LOCATION_INIT;
    location.parent = parent;
    location.rank = rank;
    location.leaf = leaf;
    return as_add_location(ds, &location);
}

static as_dataset *make_tree(int n_runs) {
    static const char *const paths[] = {"main", "main->a", "main->b"};
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, ds);
    for (size_t i = 0; i < 3; i++) as_tree_path(&tree, paths[i], strlen(paths[i]));
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    for (int i = 0; i < n_runs; i++) as_add_run(ds, &AS_RUN_INIT);
    assert_int_equal(add_place(ds, ASSAY_NONE, -1, false), MACHINE);
    for (int64_t process = 0; process < 2; process++) {
        assay_id id = add_place(ds, MACHINE, process, false);
        for (int64_t thread = 0; thread < 2; thread++) add_place(ds, id, thread, true);
    }
    return ds;
}

static assay_id add_metric(as_dataset *ds, as_metric_kind kind) {
    as_metric metric = AS_METRIC_INIT;
    metric.kind = kind;
    return as_add_metric(ds, &metric);
}

static const assay_id all_threads[] = {T00, T01, T10, T11}, all_contexts[] = {MAIN, A, B};

static void add_profile(as_dataset *ds, as_profile profile, as_dtype dtype) {
    profile.type = as_value_type_of(dtype, 0);
    assert_true(as_add_profile(ds, &profile));
}

static as_vec statistics(const as_dataset *ds, assay_id run, as_over over, assay_id metric, as_value_kinds kinds) {
    as_vec out;
    as_places places;
    assay_error error;
    as_vec_init(&out, sizeof(as_context_spread), NULL);
    assert_int_equal(as_places_of_run(ds, run, over, &places, &error), ASSAY_OK);
    assert_int_equal(as_location_statistics(ds, &places, metric, kinds, &out, &error), ASSAY_OK);
    as_places_free(&places);
    return out;
}

static const as_spread *spread_at(const as_vec *all, size_t i, assay_id context, bool is_exclusive) {
    assert_true(i < all->count);
    const as_context_spread *item = &AS_AT(as_context_spread, all, i);
    assert_int_equal(item->context, context);
    assert_int_equal(item->is_exclusive, is_exclusive);
    return &item->spread;
}

static const as_value_kinds both = AS_INCLUSIVE_VALUES | AS_EXCLUSIVE_VALUES;

static void over_all_locations(void **state) {
    (void)state;
    as_dataset *ds = make_tree(1);
    assay_id metric = add_metric(ds, AS_KIND_EXCLUSIVE);
    static const int64_t values[] = {1, 2, 3, 4, 0, 0, 0, 0, 10, 0, 0, 10};
    as_profile profile = {.metric = metric, .n_rows = 3, .n_columns = 4, .columns = all_threads};
    profile.contexts = all_contexts;
    profile.values = (const char *)values;
    add_profile(ds, profile, AS_DTYPE_INT64);
    as_vec all = statistics(ds, 0, AS_OVER_LOCATIONS, metric, both);
    assert_int_equal(all.count, 4);                       /* a is 0 everywhere */
    const as_spread *s = spread_at(&all, 0, MAIN, false); /* 11 2 3 14 */
    assert_true(s->is_integer && s->whole_sum == 30 && s->whole_min == 2 && s->whole_max == 14);
    assert_true(s->mean == 7.5 && s->q1 == 2.75 && s->median == 7 && s->q3 == 11.75);
    assert_int_equal(s->min_at, 1);
    assert_int_equal(s->max_at, 3);
    s = spread_at(&all, 1, MAIN, true); /* 1 2 3 4 */
    assert_true(s->whole_sum == 10 && s->n == 4);
    s = spread_at(&all, 2, B, false);
    assert_true(s->stddev == 5 && s->imbalance == 1);
    assert_int_equal(s->max_at, 0); /* the first of two */
    as_vec_free(&all);
    all = statistics(ds, 0, AS_OVER_LOCATIONS, metric, AS_EXCLUSIVE_VALUES);
    assert_int_equal(all.count, 2);
    spread_at(&all, 1, B, true);
    as_vec_free(&all);
    as_dataset_free(ds);
}

static void over_processes(void **state) {
    (void)state;
    as_dataset *ds = make_tree(1);
    assay_id sums = add_metric(ds, AS_KIND_INCLUSIVE), minima = add_metric(ds, AS_KIND_EXCLUSIVE);
    static const double values[] = {1.5, 2, 3, 4};
    as_profile profile = {.metric = sums, .n_rows = 1, .n_columns = 4, .columns = all_threads};
    profile.contexts = all_contexts;
    profile.values = (const char *)values;
    add_profile(ds, profile, AS_DTYPE_DOUBLE);
    profile.metric = minima;
    add_profile(ds, profile, AS_DTYPE_MINDOUBLE);
    as_vec all = statistics(ds, 0, AS_OVER_PROCESSES, sums, AS_INCLUSIVE_VALUES);
    assert_int_equal(all.count, 1);
    const as_spread *s = spread_at(&all, 0, MAIN, false); /* 3.5 7 */
    assert_true(s->n == 2 && s->sum == 10.5 && s->max == 7 && s->median == 5.25);
    as_vec_free(&all);
    all = statistics(ds, 0, AS_OVER_PROCESSES, minima, AS_INCLUSIVE_VALUES);
    s = spread_at(&all, 0, MAIN, false); /* 1.5 3 */
    assert_true(s->sum == 1.5 && s->max == 3 && s->mean == 2.25);
    as_vec_free(&all);
    as_dataset_free(ds);
}

/* A location of the run without a column in this metric has 0; one that the run does not have at all does not count. */
static void missing_places(void **state) {
    (void)state;
    as_dataset *ds = make_tree(2);
    assay_id some = add_metric(ds, AS_KIND_EXCLUSIVE), others = add_metric(ds, AS_KIND_EXCLUSIVE),
             minima = add_metric(ds, AS_KIND_EXCLUSIVE);
    static const assay_id three[] = {T00, T01, T10}, two[] = {T00, T10}, only_b[] = {B};
    static const double values[] = {6, 2, 3};
    as_profile profile = {.n_rows = 1, .n_columns = 3, .columns = three, .contexts = only_b};
    profile.metric = others;
    profile.values = (const char *)values;
    add_profile(ds, profile, AS_DTYPE_DOUBLE);
    profile.n_columns = 2;
    profile.columns = two;
    profile.metric = some;
    add_profile(ds, profile, AS_DTYPE_DOUBLE);
    profile.metric = minima;
    add_profile(ds, profile, AS_DTYPE_MINDOUBLE);
    as_places places;
    assay_error error;
    assert_int_equal(as_places_of_run(ds, 0, AS_OVER_LOCATIONS, &places, &error), ASSAY_OK);
    assert_int_equal(places.n, 3);
    assert_int_equal(places.ids[2], T10);
    as_places_free(&places);
    as_vec all = statistics(ds, 0, AS_OVER_LOCATIONS, some, AS_EXCLUSIVE_VALUES);
    assert_int_equal(all.count, 1);
    const as_spread *s = spread_at(&all, 0, B, true); /* 6 0 2 */
    assert_true(s->n == 3 && s->sum == 8 && s->min == 0 && s->median == 2);
    assert_int_equal(s->min_at, 1);
    as_vec_free(&all);
    all = statistics(ds, 0, AS_OVER_LOCATIONS, minima, both);
    assert_int_equal(all.count, 3); /* main and a have no row of their own: main has only what is below it */
    s = spread_at(&all, 0, MAIN, false);
    assert_true(s->n == 2 && s->min == 2 && s->sum == 2);
    assert_int_equal(s->min_at, 2); /* the place, not the column */
    spread_at(&all, 2, B, true);
    as_vec_free(&all);
    all = statistics(ds, 1, AS_OVER_LOCATIONS, some, both); /* a run without anything */
    assert_int_equal(all.count, 0);
    as_vec_free(&all);
    as_dataset_free(ds);
}

static void over_runs(void **state) {
    (void)state;
    as_dataset *ds = make_tree(3);
    assay_id metric = add_metric(ds, AS_KIND_NONE);
    static const row rows[] = {{MAIN, 0, ASSAY_NONE, {.r = 4}},
                               {MAIN, 1, ASSAY_NONE, {.r = 8}},
                               {MAIN, 2, ASSAY_NONE, {.r = 6}},
                               {B, 1, ASSAY_NONE, {.r = 5}},
                               {B, 2, ASSAY_NONE, {.r = 1}}};
    add_block(ds, metric, ASSAY_NONE, AS_DTYPE_DOUBLE, rows, 5);
    static const assay_id runs[] = {0, 1, 2};
    as_places places;
    assay_error error;
    as_vec all;
    as_vec_init(&all, sizeof(as_context_spread), NULL);
    assert_int_equal(as_places_of_runs(runs, 3, &places, &error), ASSAY_OK);
    assert_int_equal(as_location_statistics(ds, &places, metric, both, &all, &error), ASSAY_OK);
    assert_int_equal(all.count, 2); /* no exclusive values */
    const as_spread *s = spread_at(&all, 0, MAIN, false);
    assert_true(s->n == 3 && s->mean == 6 && s->median == 6 && s->max_at == 1);
    s = spread_at(&all, 1, B, false);
    assert_true(s->n == 2 && s->mean == 3); /* a run without a measurement has none, not 0 */
    assert_int_equal(s->min_at, 2);
    as_number *values;
    as_spread spread;
    assert_int_equal(as_location_values(ds, &places, metric, B, AS_INCLUSIVE_VALUES, &values, &spread, &error),
                     ASSAY_OK);
    assert_true(isnan(values[0].r) && values[1].r == 5 && values[2].r == 1 && spread.sum == 6);
    free(values);
    as_places_free(&places);
    as_vec_free(&all);
    as_dataset_free(ds);
}

/* A run of profiles that lacks a context took nothing there, but there is no minimum of nothing. */
static void runs_of_profiles(void **state) {
    (void)state;
    as_dataset *ds = make_tree(2);
    assay_id time = add_metric(ds, AS_KIND_EXCLUSIVE), least = add_metric(ds, AS_KIND_EXCLUSIVE);
    static const double values[] = {1, 2, 3, 4, 10, 20, 30, 40};
    for (assay_id run = 0; run < 2; run++) { /* b is in the first one only */
        as_profile profile = {.metric = time, .run = run, .n_rows = 2 - run, .n_columns = 4, .columns = all_threads};
        static const assay_id two[] = {A, B};
        profile.contexts = two;
        profile.values = (const char *)values;
        add_profile(ds, profile, AS_DTYPE_DOUBLE);
        profile.metric = least;
        add_profile(ds, profile, AS_DTYPE_MINDOUBLE);
    }
    static const assay_id runs[] = {0, 1};
    as_places places;
    assay_error error;
    as_vec all;
    as_vec_init(&all, sizeof(as_context_spread), NULL);
    assert_int_equal(as_places_of_runs(runs, 2, &places, &error), ASSAY_OK);
    assert_int_equal(as_location_statistics(ds, &places, time, AS_EXCLUSIVE_VALUES, &all, &error), ASSAY_OK);
    const as_spread *s = spread_at(&all, all.count - 1, B, true);
    assert_true(s->n == 2 && s->sum == 100 && s->min == 0 && s->min_at == 1);
    all.count = 0;
    assert_int_equal(as_location_statistics(ds, &places, least, AS_INCLUSIVE_VALUES, &all, &error), ASSAY_OK);
    s = spread_at(&all, all.count - 1, B, false);
    assert_true(s->n == 1 && s->sum == 10);
    s = spread_at(&all, 1, A, false);
    assert_true(s->n == 2 && s->sum == 1); /* the smaller one of both */
    as_places_free(&places);
    as_vec_free(&all);
    as_dataset_free(ds);
}

/* What lies above threads is a process where it has a rank. */
static void threads_without_processes(void **state) {
    (void)state;
    as_dataset *ds = make_tree(1);
    AS_AT(as_location, &ds->locations, P1).rank = -1;
    as_places places;
    assay_error error;
    assert_int_equal(as_places_of_run(ds, 0, AS_OVER_PROCESSES, &places, &error), ASSAY_OK);
    assert_int_equal(places.n, 3);
    static const assay_id expected[] = {P0, T10, T11};
    assert_memory_equal(places.ids, expected, sizeof expected);
    as_places_free(&places);
    as_dataset_free(ds);
}

static void one_context_has_all_its_values(void **state) {
    (void)state;
    as_dataset *ds = make_tree(1);
    assay_id metric = add_metric(ds, AS_KIND_EXCLUSIVE);
    static const uint64_t values[] = {1, 2, 3, 4, 10, 20, 30, UINT64_MAX};
    static const assay_id two[] = {MAIN, B};
    as_profile profile = {.metric = metric, .n_rows = 2, .n_columns = 4, .columns = all_threads, .contexts = two};
    profile.values = (const char *)values;
    add_profile(ds, profile, AS_DTYPE_UINT64);
    as_places places;
    assay_error error;
    as_number *found;
    as_spread spread;
    assert_int_equal(as_places_of_run(ds, 0, AS_OVER_LOCATIONS, &places, &error), ASSAY_OK);
    assert_int_equal(as_location_values(ds, &places, metric, MAIN, AS_EXCLUSIVE_VALUES, &found, &spread, &error),
                     ASSAY_OK);
    assert_true(found[3].kind == AS_INT && found[3].i == 4 && spread.whole_sum == 10);
    free(found);
    assert_int_equal(as_location_values(ds, &places, metric, MAIN, AS_INCLUSIVE_VALUES, &found, &spread, &error),
                     ASSAY_OK);
    assert_true(found[0].i == 11 && spread.whole_max == (as_whole)UINT64_MAX + 4); /* beyond 64 bits */
    assert_int_equal(found[3].kind, AS_REAL);
    free(found);
    assert_int_equal(as_location_values(ds, &places, metric, A, AS_INCLUSIVE_VALUES, &found, &spread, &error),
                     ASSAY_OK);
    assert_null(found);
    as_places_free(&places);
    as_dataset_free(ds);
}

/* Contexts in any order, those without a row between them; what is read of one is not left for the next. */
static void one_context_after_the_other(void **state) {
    (void)state;
    static const sparse_cell inclusive[] = {{MAIN, T00, 6}, {MAIN, T11, 9}, {B, T01, 4}},
                             exclusive[] = {{MAIN, T00, 1}, {B, T01, 4}};
    sparse_cells cells[] = {sparse_of(inclusive, 3), sparse_of(exclusive, 2)};
    as_dataset *ds = make_tree(1);
    add_stored(ds, "time", AS_KIND_INCLUSIVE);
    add_stored(ds, "time", AS_KIND_EXCLUSIVE);
    make_pair(ds, 0, 1);
    add_sparse(ds, 0, &cells[0]);
    add_sparse(ds, 1, &cells[1]);
    static const struct {
        as_value_kinds kind;
        assay_id context;
        double values[4]; /* of T00, T01, T10, T11; all NAN: there are none */
    } asked[] = {{AS_INCLUSIVE_VALUES, B, {0, 4, 0, 0}},        {AS_INCLUSIVE_VALUES, A, {NAN, NAN, NAN, NAN}},
                 {AS_INCLUSIVE_VALUES, MAIN, {6, 0, 0, 9}},     {AS_INCLUSIVE_VALUES, B, {0, 4, 0, 0}},
                 {AS_EXCLUSIVE_VALUES, MAIN, {1, 0, 0, 0}},     {AS_EXCLUSIVE_VALUES, B, {0, 4, 0, 0}},
                 {AS_EXCLUSIVE_VALUES, A, {NAN, NAN, NAN, NAN}}};
    as_places places;
    as_location_reader *readers[3] = {0};
    assay_error error;
    assert_int_equal(as_places_of_run(ds, 0, AS_OVER_LOCATIONS, &places, &error), ASSAY_OK);
    for (as_value_kinds kind = AS_INCLUSIVE_VALUES; kind <= AS_EXCLUSIVE_VALUES; kind++)
        assert_int_equal(as_location_reader_open(ds, &places, 0, kind, &readers[kind], &error), ASSAY_OK);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const as_number *found;
        assert_int_equal(as_location_reader_next(readers[asked[i].kind], asked[i].context, &found, &error), ASSAY_OK);
        assert_int_equal(found == NULL, isnan(asked[i].values[0]));
        for (size_t k = 0; found && k < 4; k++) assert_true(as_number_real(found[k]) == asked[i].values[k]);
    }
    cells[0].broken_context = MAIN;
    const as_number *found;
    assert_int_equal(as_location_reader_next(readers[AS_INCLUSIVE_VALUES], MAIN, &found, &error), ASSAY_E_FORMAT);
    for (as_value_kinds kind = AS_INCLUSIVE_VALUES; kind <= AS_EXCLUSIVE_VALUES; kind++)
        as_location_reader_close(readers[kind]);
    as_places_free(&places);
    as_dataset_free(ds);
}

/* T11 is a stream of a GPU, and has 0 everywhere. Rows that are full have that 0; blocks have only what is there. */
static void streams_that_have_nothing(void **state) {
    (void)state;
    static const int64_t values[] = {1, 2, 3, 0};
    static const row rows[] = {{MAIN, 0, T00, {1}}, {MAIN, 0, T01, {2}}, {MAIN, 0, T10, {3}}};
    static const struct {
        bool is_full;
        uint32_t n, n_sharing;
        double mean, mean_of_processes; /* the stream's process has a thread as well */
    } cases[] = {{true, 4, 4, 1.5, 3}, {false, 3, 3, 2, 3}};
    for (size_t i = 0; i < 2; i++) {
        as_dataset *ds = make_tree(1);
        assay_id metric = add_metric(ds, AS_KIND_EXCLUSIVE);
        AS_AT(as_location, &ds->locations, T11).kind = as_ds_intern_text(ds, "gpustream");
        as_profile profile = {.metric = metric, .n_rows = 1, .n_columns = 4, .columns = all_threads};
        profile.contexts = all_contexts;
        profile.values = (const char *)values;
        if (cases[i].is_full)
            add_profile(ds, profile, AS_DTYPE_INT64);
        else
            add_block(ds, metric, 0, AS_DTYPE_INT64, rows, 3);
        as_places places;
        assay_error error;
        assert_int_equal(as_places_of_run(ds, 0, AS_OVER_LOCATIONS, &places, &error), ASSAY_OK);
        assert_int_equal(places.n_sharing, cases[i].n_sharing);
        as_places_free(&places);
        as_vec all = statistics(ds, 0, AS_OVER_LOCATIONS, metric, AS_INCLUSIVE_VALUES);
        const as_spread *s = spread_at(&all, 0, MAIN, false);
        assert_true(s->n == cases[i].n && s->mean == cases[i].mean);
        as_vec_free(&all);
        all = statistics(ds, 0, AS_OVER_PROCESSES, metric, AS_INCLUSIVE_VALUES);
        s = spread_at(&all, 0, MAIN, false); /* 1 + 2, 3 */
        assert_true(s->n == 2 && s->mean == cases[i].mean_of_processes);
        as_vec_free(&all);
        as_dataset_free(ds);
    }
}

static void some_metrics_have_none(void **state) {
    (void)state;
    as_dataset *ds = make_tree(1);
    as_metric complex = AS_METRIC_INIT;
    complex.dtype = as_ds_intern_text(ds, "COMPLEX");
    assay_id metric = as_add_metric(ds, &complex), derived = add_metric(ds, AS_KIND_DERIVED),
             plain = add_metric(ds, AS_KIND_NONE);
    as_places locations = {.over = AS_OVER_LOCATIONS}, runs = {.over = AS_OVER_RUNS};
    as_places processes = {.over = AS_OVER_PROCESSES, .is_shared = true};
    assert_true(as_has_statistics(ds, &locations, metric) && as_is_computed(ds, &locations, metric));
    assert_true(as_has_statistics(ds, &runs, metric) && !as_is_computed(ds, &runs, metric));
    assert_false(as_has_statistics(ds, &processes, metric));  /* threads of a process have no sum of moduli */
    assert_false(as_has_statistics(ds, &locations, derived)); /* without a formula */
    assert_true(as_has_statistics(ds, &processes, plain) && !as_is_computed(ds, &processes, plain));
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_all_locations),
        cmocka_unit_test(over_processes),
        cmocka_unit_test(missing_places),
        cmocka_unit_test(over_runs),
        cmocka_unit_test(some_metrics_have_none),
        cmocka_unit_test(one_context_has_all_its_values),
        cmocka_unit_test(one_context_after_the_other),
        cmocka_unit_test(runs_of_profiles),
        cmocka_unit_test(threads_without_processes),
        cmocka_unit_test(streams_that_have_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
