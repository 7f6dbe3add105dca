/* The data model: context trees, experiments, statistics, merging, function texts. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "dataset/experiment.h"
#include "dataset/merge.h"

static as_number integer(int64_t i) { return (as_number){.kind = AS_INT, .i = i}; }
static as_number real(double r) { return (as_number){.kind = AS_REAL, .r = r}; }

static const char *path_of(const as_dataset *ds, assay_id context, as_vec *buffer) {
    assert_true(as_context_path(ds, context, buffer));
    return buffer->data;
}

/* Every end of a path, from nothing to all of it and more. */
static void assert_ends(const as_dataset *ds, assay_id context, const char *path, as_vec *buffer) {
    size_t size = strlen(path);
    for (size_t most = 0; most <= size + 2; most++) {
        bool is_whole;
        assert_true(as_context_path_end(ds, context, most, buffer, &is_whole));
        assert_string_equal(buffer->data, path + (most < size ? size - most : 0));
        assert_int_equal(buffer->count, strlen(buffer->data) + 1);
        assert_int_equal(is_whole, most >= size);
    }
}

static assay_id find_path(const as_dataset *ds, const char *path) {
    as_vec buffer;
    as_vec_init(&buffer, 1, NULL);
    assay_id found = ASSAY_NONE;
    for (assay_id i = 0; i < ds->contexts.count; i++) {
        if (strcmp(path_of(ds, i, &buffer), path) == 0) found = i;
    }
    as_vec_free(&buffer);
    return found;
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static void tree_is_in_pre_order(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, ds);
    static const char *const arrival[] = {"b->x", "a", "b->y->z", "a->c", "b", "b->x->w", "a->c->d"};
    for (size_t i = 0; i < 7; i++)
        assert_int_not_equal(as_tree_path(&tree, arrival[i], strlen(arrival[i])), ASSAY_NONE);
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    static const char *const expected[] = {"b", "b->x", "b->x->w", "b->y", "b->y->z", "a", "a->c", "a->c->d"};
    static const uint32_t subtrees[] = {5, 2, 1, 2, 1, 3, 2, 1}, depths[] = {0, 1, 2, 1, 2, 0, 1, 2};
    assert_int_equal(ds->contexts.count, 8);
    as_vec buffer;
    as_vec_init(&buffer, 1, NULL);
    for (assay_id i = 0; i < 8; i++) {
        assert_string_equal(path_of(ds, i, &buffer), expected[i]);
        assert_ends(ds, i, expected[i], &buffer);
        assert_int_equal(as_ds_context(ds, i)->subtree, subtrees[i]);
        assert_int_equal(as_ds_context(ds, i)->depth, depths[i]);
    }
    assert_false(as_ds_context(ds, 3)->is_callpath); /* b->y only lies on the way */
    assert_true(as_ds_context(ds, 0)->is_callpath);
    assert_int_equal(ids[0], 0); /* the first context made was b, then b->x */
    assert_int_equal(ids[1], 1);
    as_vec_free(&buffer);
    as_tree_free(&tree);
    as_dataset_free(ds);
}

static void odd_paths_come_back_unchanged(void **state) {
    (void)state;
    static const char *const paths[] = {"", "->", "a->", "->a", " a -> b ", "a->->b", "a-", ">"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        as_dataset *ds = as_dataset_new(0);
        as_tree tree;
        as_tree_init(&tree, ds);
        assay_id id = as_tree_path(&tree, paths[i], strlen(paths[i]));
        assert_int_equal(as_tree_path(&tree, paths[i], strlen(paths[i])), id);
        const assay_id *ids;
        assert_true(as_tree_finish(&tree, &ids));
        as_vec buffer;
        as_vec_init(&buffer, 1, NULL);
        assert_string_equal(path_of(ds, ids[id], &buffer), paths[i]);
        assert_ends(ds, ids[id], paths[i], &buffer);
        as_vec_free(&buffer);
        as_tree_free(&tree);
        as_dataset_free(ds);
    }
}

/* ---- experiments ------------------------------------------------------------------------------------------------- */

typedef struct fixture {
    as_dataset *ds;
    as_experiment *experiment;
} fixture;

static fixture experiment_of(size_t n_parameters) {
    static const char *const names[] = {"p", "q"};
    fixture f = {.ds = as_dataset_new(0)};
    for (size_t i = 0; i < n_parameters; i++) as_add_parameter(f.ds, as_ds_intern_text(f.ds, names[i]));
    f.experiment = as_experiment_new(f.ds);
    return f;
}

static as_cell_key key_of(fixture *f, const char *metric, const char *path, double point) {
    return (as_cell_key){as_experiment_metric(f->experiment, metric, strlen(metric)),
                         as_experiment_callpath(f->experiment, path, strlen(path)),
                         as_experiment_point(f->experiment, &point)};
}

static void finish(fixture *f) {
    assert_true(as_experiment_finish(f->experiment, as_place_file("test"), NULL));
    as_experiment_free(f->experiment);
    f->experiment = NULL;
}

typedef struct visits {
    as_measurement rows[16];
    size_t n;
} visits;

static bool note_visit(void *user, const as_measurement *measurement) {
    visits *v = user;
    assert_true(v->n < 16);
    v->rows[v->n++] = *measurement;
    return true;
}

static visits measure(const as_dataset *ds, size_t series) {
    visits v = {.n = 0};
    assert_true(as_measure(ds, as_ds_series(ds, series), note_visit, &v));
    return v;
}

static void values_in_any_order_are_sorted(void **state) {
    (void)state;
    fixture f = experiment_of(1);
    /* points 2 and 1 in that order; call path b before a, both below r; values of a interleaved */
    assert_true(as_experiment_value(f.experiment, key_of(&f, "m", "r->b", 2), real(5)));
    assert_true(as_experiment_value(f.experiment, key_of(&f, "m", "r->a", 1), real(1)));
    assert_true(as_experiment_value(f.experiment, key_of(&f, "m", "r->b", 1), real(6)));
    assert_true(as_experiment_value(f.experiment, key_of(&f, "m", "r->a", 2), real(2)));
    assert_true(as_experiment_value(f.experiment, key_of(&f, "m", "r->a", 1), real(3)));
    finish(&f);
    const as_dataset *ds = f.ds;
    assert_int_equal(ds->n_points, 2);
    assert_int_equal(ds->runs.count, 3); /* (2) once, (1) twice */
    assert_int_equal(ds->blocks.count, 1);
    const as_block *block = as_ds_block(ds, 0);
    assert_int_equal(block->n_contexts, 2);
    assert_int_equal(block->contexts[0], find_path(ds, "r->b"));
    static const double expected[] = {5, 6, 2, 1, 3}; /* b: point 2, point 1; a: point 2, point 1 twice */
    static const assay_id runs[] = {0, 1, 0, 1, 2};
    for (uint64_t row = 0; row < 5; row++) {
        assert_true(as_block_real(block, row) == expected[row]);
        assert_int_equal(as_block_run(block, row), runs[row]);
    }
    assert_int_equal(as_run_of(ds, 1, 1), 2);
    assert_int_equal(as_run_of(ds, 0, 1), ASSAY_NONE);
    visits a = measure(ds, 1);
    assert_int_equal(a.n, 2);
    assert_true(a.rows[1].mean == 2 && a.rows[1].repetitions == 2);
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(f.ds);
}

/* Rows "a1": call path a at point 1, its value being its place in the list. Whether one list of runs does for all call
 * paths is a matter of memory only: each row must come back with its point and its value. */
static void check_rows(const char *rows, uint32_t period) {
    fixture f = experiment_of(1);
    size_t n = strlen(rows) / 3 + 1, found = 0;
    for (size_t i = 0; i < n; i++) {
        char path[] = {rows[3 * i], '\0'};
        as_cell_key key = key_of(&f, "m", path, rows[3 * i + 1] - '0');
        assert_true(as_experiment_value(f.experiment, key, integer((int64_t)i)));
    }
    finish(&f);
    const as_block *block = as_ds_metric_block(f.ds, 0);
    assert_int_equal(block->period, period);
    assert_int_equal(as_block_rows(block), n);
    for (uint32_t c = 0; c < block->n_contexts; c++) {
        const assay_id *runs = as_block_runs(block, c);
        for (uint64_t row = block->starts[c]; row < block->starts[c + 1]; row++, found++) {
            int64_t place = as_block_value(block, row).i;
            const as_run *run = as_ds_run(f.ds, as_block_run(block, row));
            assert_int_equal(as_block_run(block, row), runs[row - block->starts[c]]);
            assert_int_equal(*as_ds_text(f.ds, as_ds_context(f.ds, block->contexts[c])->name), rows[3 * place]);
            assert_int_equal(*as_ds_point(f.ds, run->point), rows[3 * place + 1] - '0');
            uint32_t repetition = 0;
            for (int64_t i = 0; i < place; i++) repetition += memcmp(&rows[3 * i], &rows[3 * place], 2) == 0;
            assert_int_equal(run->repetition, repetition);
        }
    }
    assert_int_equal(found, n);
    as_dataset_free(f.ds);
}

static void runs_are_kept_once_where_all_call_paths_have_the_same(void **state) {
    (void)state;
    check_rows("a1 a1 a2 a3 b1 b1 b2 b3 c1 c1 c2 c3", 4);
    check_rows("a1 a2", 2);
    check_rows("a1 a2 b1 b2 c1", 0);       /* the last is not whole */
    check_rows("a1 a2 b1 c1 c2", 0);       /* one in between is not */
    check_rows("a1 a2 b1 b3 c1 c2", 0);    /* another point */
    check_rows("a1 a2 b1 b2 b2 c1 c2", 0); /* more rows than the first */
    check_rows("a1 a2 b1 b2 a1 a2", 0);    /* the first comes again */
    check_rows("a1 b1 c1 a2 b2 c2", 0);    /* point by point */
    check_rows("a1 b2 b1 c1", 0);
    check_rows("a1 a2 a1 b1 b2 b1 c1 c2 c1", 0); /* not in order of point */
    check_rows("a1 a2 a3 b1 c1 d1", 0);
}

static void missing_points_are_one_warning(void **state) {
    (void)state;
    fixture f = experiment_of(1);
    as_experiment_value(f.experiment, key_of(&f, "m", "c", 1), real(1));
    as_experiment_value(f.experiment, key_of(&f, "m", "c", 2), real(1));
    as_experiment_value(f.experiment, key_of(&f, "m", "d", 1), real(1));
    as_experiment_value(f.experiment, key_of(&f, "m", "e", 2), real(1));
    finish(&f);
    assert_int_equal(f.ds->problems.count, 1);
    const as_problem *problem = as_ds_problem(f.ds, 0);
    assert_int_equal(problem->severity, AS_WARNING);
    assert_string_equal(problem->rule, "missing-points");
    assert_string_equal(problem->message,
                        "call path 'd' (metric 'm') has no data at 1 of 2 points, and 1 more are incomplete");
    as_dataset_free(f.ds);
}

/* Reads all problems there are again and again until the last has come. */
static void *read_problems(void *user) {
    const as_dataset *ds = user;
    size_t n = 0;
    while (n < AS_MAX_PROBLEMS) {
        n = as_ds_problems(ds);
        for (size_t i = n > 100 ? n - 100 : 0; i < n; i++) {
            const as_problem *problem = as_ds_problem(ds, i);
            if (strcmp(problem->rule, "late") != 0 || strtoul(problem->message, NULL, 10) != i) return user;
        }
    }
    return NULL;
}

/* Values are decoded while others read the dataset: neither its texts nor what is known so far may move. */
static void problems_come_while_others_read(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    pthread_t readers[2];
    assert_true(as_ds_intern_text(ds, "text") != AS_NO_STR);
    as_add_problem(ds, AS_NOTE, as_place_file("a file"), "late", "0");
    const as_problem *first = as_ds_problem(ds, 0), before = *first;
    size_t n_strings = ds->strings.entries.count;
    for (size_t i = 0; i < 2; i++) assert_int_equal(pthread_create(&readers[i], NULL, read_problems, ds), 0);
    for (unsigned i = 1; i < AS_MAX_PROBLEMS + 3; i++)
        as_add_problem(ds, AS_ERROR, as_place_line("another", i, 1), "late", "%u", i);
    for (size_t i = 0; i < 2; i++) {
        void *wrong;
        pthread_join(readers[i], &wrong);
        assert_null(wrong);
    }
    assert_ptr_equal(as_ds_problem(ds, 0), first);
    assert_ptr_equal(first->message, before.message);
    assert_string_equal(first->file, "a file");
    assert_int_equal(ds->strings.entries.count, n_strings);
    assert_int_equal(as_ds_problems(ds), AS_MAX_PROBLEMS);
    assert_int_equal(as_ds_problems_dropped(ds), 3);
    const as_problem *last = as_ds_problem(ds, AS_MAX_PROBLEMS - 1);
    assert_int_equal(last->line, AS_MAX_PROBLEMS - 1);
    assert_string_equal(last->file, "another");
    as_dataset_free(ds);
}

static void integers_stay_exact(void **state) {
    (void)state;
    fixture f = experiment_of(1);
    int64_t large = 9007199254740993; /* 2^53 + 1 */
    as_number largest = {.kind = AS_UINT, .u = UINT64_MAX};
    as_experiment_value(f.experiment, key_of(&f, "ints", "c", 1), integer(large));
    as_experiment_value(f.experiment, key_of(&f, "ints", "c", 1), integer(-5));
    as_experiment_value(f.experiment, key_of(&f, "unsigned", "c", 1), integer(7));
    as_experiment_value(f.experiment, key_of(&f, "unsigned", "c", 1), largest);
    as_experiment_value(f.experiment, key_of(&f, "mixed", "c", 1), integer(3));
    as_experiment_value(f.experiment, key_of(&f, "mixed", "c", 1), real(0.5));
    as_experiment_value(f.experiment, key_of(&f, "rounded", "c", 1), integer(large));
    as_experiment_value(f.experiment, key_of(&f, "rounded", "c", 1), real(0.5));
    as_experiment_value(f.experiment, key_of(&f, "clash", "c", 1), integer(-1));
    as_experiment_value(f.experiment, key_of(&f, "clash", "c", 1), largest);
    as_experiment_value(f.experiment, key_of(&f, "large", "c", 1),
                        integer(INT64_MAX - 1023)); /* 2^63 - 1024 is a real */
    as_experiment_value(f.experiment, key_of(&f, "large", "c", 1), real(0.5));
    finish(&f);
    static const as_dtype dtypes[] = {AS_DTYPE_INT64, AS_DTYPE_UINT64, AS_DTYPE_DOUBLE, AS_DTYPE_DOUBLE,
                                      AS_DTYPE_DOUBLE};
    for (assay_id i = 0; i < 5; i++) assert_int_equal(as_ds_metric_block(f.ds, i)->dtype, dtypes[i]);
    assert_true(as_block_value(as_ds_metric_block(f.ds, 0), 0).i == large);
    assert_true(as_block_value(as_ds_metric_block(f.ds, 0), 1).i == -5);
    assert_true(as_block_value(as_ds_metric_block(f.ds, 1), 0).u == 7);
    assert_true(as_block_value(as_ds_metric_block(f.ds, 1), 1).u == UINT64_MAX);
    assert_true(as_block_real(as_ds_metric_block(f.ds, 2), 0) == 3);
    assert_string_equal(as_ds_text(f.ds, as_ds_metric(f.ds, 1)->dtype), "UINT64");
    assert_int_equal(f.ds->problems.count, 2); /* rounded, clash */
    assert_string_equal(as_ds_problem(f.ds, 0)->rule, "inexact-integer");
    as_dataset_free(f.ds);
}

static void lists_of_locations_are_repetitions(void **state) {
    (void)state;
    fixture f = experiment_of(1);
    as_cell_key key = key_of(&f, "m", "c", 1);
    as_experiment_value(f.experiment, key, real(10)); /* alone: a repetition without location */
    for (uint32_t i = 0; i < 3; i++) as_experiment_value_at(f.experiment, key, i, real(i));
    as_experiment_value_at(f.experiment, key, 0, real(7)); /* ragged */
    as_experiment_value(f.experiment, key, real(11));
    assert_int_equal(as_experiment_repetition(f.experiment, key), 4);
    finish(&f);
    const as_block *block = as_ds_block(f.ds, 0);
    static const assay_id locations[] = {ASSAY_NONE, 0, 1, 2, 0, ASSAY_NONE}, runs[] = {0, 1, 1, 1, 2, 3};
    for (uint64_t row = 0; row < 6; row++) {
        assert_int_equal(as_block_location(block, row), locations[row]);
        assert_int_equal(as_block_run(block, row), runs[row]);
    }
    assert_int_equal(as_ds_leaves(f.ds), 3);
    visits v = measure(f.ds, 0);
    assert_int_equal(v.rows[0].repetitions, 4);
    assert_true(v.rows[0].mean == (10 + 0 + 1 + 2 + 7 + 11) / 6.0);
    as_dataset_free(f.ds);
}

static void stored_statistics_are_taken_as_they_are(void **state) {
    (void)state;
    fixture f = experiment_of(1);
    as_measurement stored = {.repetitions = 3, .mean = 2, .median = 1.5, .minimum = NAN, .maximum = 4, .std = 0.1};
    as_experiment_statistics(f.experiment, key_of(&f, "m", "b", 8), &stored);
    as_experiment_statistics(f.experiment, key_of(&f, "m", "a", 8), &stored);
    as_experiment_statistics(f.experiment, key_of(&f, "m", "b", 4), &stored);
    as_experiment_statistics(f.experiment, key_of(&f, "m", "a", 4), &stored);
    finish(&f);
    assert_int_equal(f.ds->series.count, 2);
    assert_int_equal(f.ds->runs.count, 0);
    visits b = measure(f.ds, 0), a = measure(f.ds, 1);
    assert_int_equal(b.n, 2);
    assert_int_equal(b.rows[0].point, 0);
    assert_int_equal(a.rows[0].point, 0);
    assert_int_equal(a.rows[1].point, 1);
    assert_int_equal(a.rows[0].context, find_path(f.ds, "a"));
    assert_int_equal(b.rows[1].context, find_path(f.ds, "b"));
    assert_true(a.rows[0].median == 1.5 && isnan(a.rows[0].minimum));
    assert_int_equal(f.ds->problems.count, 0);
    as_dataset_free(f.ds);
}

static void a_memory_limit_is_kept(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(1 << 20);
    as_add_parameter(ds, as_ds_intern_text(ds, "p"));
    as_experiment *e = as_experiment_new(ds);
    double one = 1;
    as_cell_key key = {as_experiment_metric(e, "m", 1), as_experiment_callpath(e, "c", 1),
                       as_experiment_point(e, &one)};
    size_t n = 0;
    while (n < 1000000 && as_experiment_value(e, key, real(1))) n++;
    assert_true(n > 10000 && n < 100000); /* 12 bytes a value in 1 MiB */
    assert_true(ds->budget.used <= ds->budget.limit);
    as_experiment_free(e);
    as_dataset_free(ds);
}

static void forgetting_leaves_only_problems(void **state) {
    (void)state;
    fixture f = experiment_of(1);
    as_experiment_value(f.experiment, key_of(&f, "m", "a->b", 1), real(1));
    finish(&f);
    as_add_problem(f.ds, AS_ERROR, as_place_line("x", 3, 1), "rule", "broken");
    assert_non_null(as_add_record_table(f.ds, "record"));
    as_dataset_forget_data(f.ds);
    assert_int_equal(f.ds->problems.count, 1);
    assert_int_equal(
        f.ds->contexts.count + f.ds->series.count + f.ds->metrics.count + f.ds->runs.count + f.ds->n_points, 0);
    assert_int_equal(as_ds_values(f.ds), 0);
    assert_null(as_ds_metric_block(f.ds, 0));
    assert_null(as_ds_records(f.ds, "record"));
    as_dataset_free(f.ds);
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

static void statistics_by_hand(void **state) {
    (void)state;
    as_measurement m;
    double four[] = {10, 1, 3, 2};
    as_statistics(four, 4, &m);
    assert_true(m.mean == 4 && m.median == 2.5 && m.minimum == 1 && m.maximum == 10);
    assert_true(fabs(m.std - sqrt((36 + 9 + 1 + 4) / 4.0)) < 1e-15);
    double infinite[] = {INFINITY};
    as_statistics(infinite, 1, &m);
    assert_true(isinf(m.mean) && isinf(m.median) && m.maximum > 0);
    double undefined[] = {1, NAN};
    as_statistics(undefined, 2, &m);
    assert_true(isnan(m.mean) && isnan(m.minimum));
    double huge[] = {1.7e308, 1.7e308};
    as_statistics(huge, 2, &m);
    assert_true(m.mean == 1.7e308 && m.median == 1.7e308);
    double many[100];
    for (int i = 0; i < 100; i++) many[i] = 100 - i;
    as_statistics(many, 100, &m);
    assert_true(m.median == 50.5 && m.mean == 50.5 && m.minimum == 1);
}

/* Sorted in place, whatever their number and shape: all sizes, few different ones, most of them together. */
static void statistics_of_many(void **state) {
    (void)state;
    static double values[5000], expected[5000];
    static const size_t sizes[] = {63, 64, 65, 127, 128, 255, 256, 500, 4096, 4097, 5000};
    uint64_t random = 88172645463325252ull;
    for (size_t round = 0; round < 4 * sizeof sizes / sizeof *sizes; round++) {
        size_t n = sizes[round / 4];
        for (size_t i = 0; i < n; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            double unit = (double)(random >> 11) * 0x1p-53;
            values[i] = round % 4 == 0   ? unit
                        : round % 4 == 1 ? (unit - 0.5) * pow(10, (double)(random % 600) - 300)
                        : round % 4 == 2 ? (double)(random % 3)
                                         : (i ? 1 + unit * 1e-9 : 1e9);
        }
        memcpy(expected, values, n * sizeof *values);
        qsort(expected, n, sizeof *expected, as_real_compare);
        as_measurement m;
        as_statistics(values, n, &m);
        assert_memory_equal(values, expected, n * sizeof *values);
        assert_true(m.minimum == expected[0] && m.maximum == expected[n - 1]);
    }
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static const char *function_text(as_dataset *ds, const as_segment *segments, size_t n_segments, const as_term *terms,
                                 size_t n_terms) {
    as_model model = {.function = AS_NO_STR, .raw = AS_NO_STR};
    assay_id id = as_add_model(ds, &model, segments, n_segments, terms, n_terms);
    assert_int_not_equal(id, ASSAY_NONE);
    as_vec text;
    as_vec_init(&text, 1, NULL);
    assert_true(as_model_function_text(ds, as_ds_model(ds, id), &text));
    const char *kept = as_arena_copy(&ds->arena, text.data, text.count - 1);
    as_vec_free(&text);
    return kept;
}

static void functions_read_as_in_extrap(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    assay_id p = as_add_parameter(ds, as_ds_intern_text(ds, "p")), q = as_add_parameter(ds, as_ds_intern_text(ds, "q"));
    as_str zero = as_ds_intern_text(ds, "0"), half = as_ds_intern_text(ds, "3/2"), one = as_ds_intern_text(ds, "1"),
           two = as_ds_intern_text(ds, "2");
    as_segment whole = {.constant = 2, .from = -INFINITY, .to = INFINITY};
    assert_string_equal(function_text(ds, &whole, 1, NULL, 0), "2.0");
    as_term both = {.coefficient = 0.25, .parameter = p, .exponent = half, .log_exponent = one};
    assert_string_equal(function_text(ds, &whole, 1, &both, 1), "2.0 + 0.25 * p^(3/2) * log2(p)^(1)");
    as_term product[] = {{.coefficient = 1, .parameter = p, .exponent = two, .log_exponent = zero},
                         {.coefficient = 1, .parameter = q, .exponent = zero, .log_exponent = two},
                         {.term = 1, .coefficient = -3, .parameter = q, .exponent = one, .log_exponent = zero}};
    whole.constant = 0; /* left out, as is a coefficient of one */
    assert_string_equal(function_text(ds, &whole, 1, product, 3), "p^(2) * log2(q)^(2) + -3.0 * q^(1)");
    as_segment two_segments[] = {{.constant = 1, .from = -INFINITY, .to = 4},
                                 {.constant = 5, .from = 8, .to = INFINITY}};
    as_term right = {.segment = 1, .coefficient = 2, .parameter = p, .exponent = one, .log_exponent = zero};
    assert_string_equal(function_text(ds, two_segments, 2, &right, 1), "1.0 for p<=4.0; 5.0 + 2.0 * p^(1) for p>=8.0");
    as_dataset_free(ds);
}

static void functions_read_rounded(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    assay_id p = as_add_parameter(ds, as_ds_intern_text(ds, "p"));
    as_str zero = as_ds_intern_text(ds, "0"), half = as_ds_intern_text(ds, "3/2"), one = as_ds_intern_text(ds, "1"),
           two = as_ds_intern_text(ds, "2.0");
    as_segment whole = {.constant = 123456.789, .from = -INFINITY, .to = INFINITY};
    as_term terms[] = {
        {.coefficient = -0.000123456, .parameter = p, .exponent = one, .log_exponent = two},
        {.term = 1, .coefficient = -1, .parameter = p, .exponent = half, .log_exponent = zero},
        {.term = 2, .coefficient = 2, .parameter = p, .exponent = two, .log_exponent = one},
    };
    as_model model = {.function = AS_NO_STR, .raw = AS_NO_STR};
    assay_id id = as_add_model(ds, &model, &whole, 1, terms, 3);
    as_vec text;
    as_vec_init(&text, 1, NULL);
    assert_true(as_model_function_rounded(ds, as_ds_model(ds, id), 4, &text));
    assert_string_equal(text.data, "123500 - 0.0001235 * p * log2(p)^2 - p^(3/2) + 2 * p^2 * log2(p)");
    whole.constant = -1e-13; /* what rounding left of 0 */
    terms[0].coefficient = 0.9999999;
    id = as_add_model(ds, &model, &whole, 1, terms, 1);
    assert_true(as_model_function_rounded(ds, as_ds_model(ds, id), 4, &text));
    assert_string_equal(text.data, "p * log2(p)^2");
    whole.constant = -1e-3;
    id = as_add_model(ds, &model, &whole, 1, terms, 1);
    assert_true(as_model_function_rounded(ds, as_ds_model(ds, id), 4, &text));
    assert_string_equal(text.data, "-0.001 + p * log2(p)^2");
    as_vec_free(&text);
    as_dataset_free(ds);
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

static void merging_unites_points_and_appends_repetitions(void **state) {
    (void)state;
    fixture a = experiment_of(1), b = experiment_of(1);
    as_experiment_value(a.experiment, key_of(&a, "time", "main->f", 1), real(1));
    as_experiment_value(a.experiment, key_of(&a, "time", "main->f", 2), real(2));
    as_experiment_value(b.experiment, key_of(&b, "bytes", "main", 4), integer(4));
    as_experiment_value(b.experiment, key_of(&b, "time", "main->f", 2), real(20));
    as_experiment_value(b.experiment, key_of(&b, "time", "main->f", 4), real(4));
    finish(&a);
    finish(&b);
    as_table *records = as_add_record_table(b.ds, "record");
    assert_int_equal(as_table_add_column(records, "metric"), 2);
    assert_int_equal(as_table_add_column(records, "context"), 3);
    assert_int_equal(as_table_add_column(records, "host"), 4);
    as_cell row[] = {as_cell_int(0), as_cell_int(as_run_of(b.ds, 1, 0)), as_cell_int(1),
                     as_cell_int(find_path(b.ds, "main->f")), as_cell_text("node7")};
    assert_true(as_table_append(records, row));
    as_dataset *parts[] = {a.ds, b.ds}, *merged = NULL;
    assay_error error;
    assert_true(as_can_merge(parts, 2));
    assert_int_equal(as_merge(parts, 2, &merged, &error), ASSAY_OK);
    assert_int_equal(merged->n_points, 3);
    assert_int_equal(merged->runs.count, 4); /* points 1, 2 (twice), 4 */
    visits v = measure(merged, 0);
    assert_int_equal(v.n, 3);
    assert_true(v.rows[1].mean == 11 && v.rows[1].repetitions == 2);
    as_table *carried = as_ds_records(merged, "record");
    assert_int_equal(as_table_rows(carried), 1);
    assert_int_equal(as_table_get(carried, 0, 1).i,
                     as_run_of(merged, 1, 1)); /* b's run at point 2 is the second there */
    assert_int_equal(as_table_get(carried, 0, as_table_find_column(carried, "metric")).i, 0);
    assert_string_equal(as_table_get(carried, 0, as_table_find_column(carried, "host")).text, "node7");
    as_dataset_free(merged);
    fixture c = experiment_of(2);
    finish(&c);
    as_dataset *others[] = {a.ds, c.ds};
    assert_false(as_can_merge(others, 2));
    assert_int_equal(as_merge(others, 2, &merged, &error), ASSAY_E_UNSUPPORTED);
    as_dataset_free(a.ds);
    as_dataset_free(b.ds);
    as_dataset_free(c.ds);
}

static void merging_keeps_attributes_once(void **state) {
    (void)state;
    as_dataset *parts[2], *merged = NULL;
    for (int i = 0; i < 2; i++) {
        fixture f = experiment_of(1);
        as_experiment_value(f.experiment, key_of(&f, "m", "c", i), real(1));
        finish(&f);
        parts[i] = f.ds;
        as_add_attribute(f.ds, AS_OWNER_DATASET, 0, "same", as_cell_text("x"));
        as_add_attribute(f.ds, AS_OWNER_DATASET, 0, "comment", as_cell_text(i ? "second" : "first"));
        as_add_attribute(f.ds, AS_OWNER_CONTEXT, 0, "level", as_cell_int(i));
    }
    assay_error error;
    assert_int_equal(as_merge(parts, 2, &merged, &error), ASSAY_OK);
    assert_int_equal(merged->attributes.count, 3);
    assert_string_equal(as_ds_attribute(merged, 0)->value.text, "x");
    assert_string_equal(as_ds_attribute(merged, 1)->value.text, "first\nsecond");
    assert_int_equal(as_ds_attribute(merged, 2)->value.i, 0);
    assert_int_equal(merged->problems.count, 1); /* the level that differs */
    assert_string_equal(as_ds_problem(merged, 0)->rule, "attribute-differs");
    as_dataset_free(merged);
    as_dataset_free(parts[0]);
    as_dataset_free(parts[1]);
}

/* As many metrics as call paths, each with values in two of them, the second first: the time must not be that of
 * metrics times call paths. */
static void many_metrics_of_many_call_paths(void **state) {
    (void)state;
    enum { N = 100000 };
    as_dataset *ds = as_dataset_new(0);
    as_experiment *e = as_experiment_new(ds);
    assert_int_equal(as_add_parameter(ds, as_ds_intern_text(ds, "p")), 0);
    assay_id point = as_experiment_point(e, (double[]){1});
    for (int i = 0; i < N; i++) {
        char name[16];
        size_t size = (size_t)snprintf(name, sizeof name, "c%d", i);
        assert_int_equal(as_experiment_callpath(e, name, size), i);
        size = (size_t)snprintf(name, sizeof name, "m%d", i);
        assert_int_equal(as_experiment_metric(e, name, size), i);
    }
    for (assay_id i = 0; i < N; i++) {
        assert_true(as_experiment_value(e, (as_cell_key){i, N - 1, point}, integer(2 * i)));
        assert_true(as_experiment_value(e, (as_cell_key){i, i / 2, point}, integer(2 * i + 1)));
    }
    clock_t begin = clock();
    assert_true(as_experiment_finish(e, AS_NOWHERE, NULL));
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
    for (assay_id i = 0; i < N; i++) {
        const as_block *block = as_ds_metric_block(ds, i);
        assert_int_equal(block->n_contexts, 2);
        assert_int_equal(block->contexts[0], i / 2);
        assert_int_equal(block->contexts[1], N - 1);
        assert_int_equal(as_block_value(block, 0).i, 2 * i + 1);
        assert_int_equal(as_block_value(block, 1).i, 2 * i);
    }
    as_experiment_free(e);
    as_dataset_free(ds);
}

/* What a dataset takes of another's budget, from its making on, goes back there: no more and no less. */
static void a_dataset_below_another_gives_all_back(void **state) {
    (void)state;
    as_budget parent = {.limit = 1 << 20};
    as_dataset *ds = as_dataset_new_below(&parent, 0);
    assert_non_null(ds);
    assert_true(parent.used > 0);
    assert_non_null(as_arena_alloc(&ds->arena, 10000));
    assert_true(parent.used >= 10000);
    as_dataset_free(ds);
    assert_int_equal(0, parent.used);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_is_in_pre_order),
        cmocka_unit_test(odd_paths_come_back_unchanged),
        cmocka_unit_test(values_in_any_order_are_sorted),
        cmocka_unit_test(runs_are_kept_once_where_all_call_paths_have_the_same),
        cmocka_unit_test(missing_points_are_one_warning),
        cmocka_unit_test(integers_stay_exact),
        cmocka_unit_test(lists_of_locations_are_repetitions),
        cmocka_unit_test(stored_statistics_are_taken_as_they_are),
        cmocka_unit_test(a_memory_limit_is_kept),
        cmocka_unit_test(forgetting_leaves_only_problems),
        cmocka_unit_test(statistics_by_hand),
        cmocka_unit_test(statistics_of_many),
        cmocka_unit_test(functions_read_as_in_extrap),
        cmocka_unit_test(functions_read_rounded),
        cmocka_unit_test(merging_unites_points_and_appends_repetitions),
        cmocka_unit_test(merging_keeps_attributes_once),
        cmocka_unit_test(many_metrics_of_many_call_paths),
        cmocka_unit_test(problems_come_while_others_read),
        cmocka_unit_test(a_dataset_below_another_gives_all_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
