/* Derived metrics over a small tree with two locations, reckoned by hand. */
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
#include "dataset/formulas.h"

/* 0 main, 1 main->a, 2 main->a->b, 3 main->c; the machine, its node, the process and its two threads */
enum { MAIN, A, B, C, N_CONTEXTS };
enum { V, T, N, RATE, FIRST_DERIVED };

static const assay_id all[] = {MAIN, A, B, C}, threads[] = {3, 4};
static const double v[] = {1, 2, 10, 20, 100, 200, 1000, 2000}, t[] = {2, 4, 30, 40, 500, 600, 7000, 8000};
static const uint64_t counts[] = {100, 200, 30, 50, 10, 60, 20, 0}; /* inclusive */
static const double rates[] = {10, 2, 20, 4, 30, 3, 8, 2, 0, 0, 1, 1, 5, 5, 12, 4};

static void add_stored(as_dataset *ds, const char *name, as_metric_kind kind, as_dtype dtype, const void *values) {
    as_metric metric = AS_METRIC_INIT;
    metric.kind = kind;
    metric.name = as_ds_intern_text(ds, name);
    as_profile profile = {.metric = as_add_metric(ds, &metric),
                          .type = as_value_type_of(dtype, 0),
                          .n_rows = 4,
                          .n_columns = 2,
                          .columns = threads,
                          .contexts = all,
                          .values = values};
    assert_true(as_add_profile(ds, &profile));
}

static as_dataset *make_dataset(void) {
    static const char *const paths[] = {"main", "main->a", "main->a->MPI_Send", "main->c"};
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    const assay_id *ids;
    as_tree_init(&tree, ds);
    for (size_t i = 0; i < 4; i++) as_tree_path(&tree, paths[i], strlen(paths[i]));
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    as_add_run(ds, &AS_RUN_INIT);
    for (assay_id i = 0; i < 5; i++) {
        as_location location = AS_LOCATION_INIT;
        location.parent = i == 0 ? ASSAY_NONE : i < 4 ? i - 1 : 2;
        location.leaf = i >= 3;
        location.rank = i;
        as_add_location(ds, &location);
    }
    assert_true(as_add_attribute(ds, AS_OWNER_REGION, 2, "paradigm", as_cell_text("mpi")));
    add_stored(ds, "v", AS_KIND_EXCLUSIVE, AS_DTYPE_DOUBLE, v);
    add_stored(ds, "t", AS_KIND_EXCLUSIVE, AS_DTYPE_DOUBLE, t);
    add_stored(ds, "n", AS_KIND_INCLUSIVE, AS_DTYPE_UINT64, counts);
    add_stored(ds, "rate", AS_KIND_EXCLUSIVE, AS_DTYPE_RATE, rates);
    return ds;
}

typedef struct texts {
    const char *value, *init, *plus, *minus, *aggr;
} texts;

static as_formula_text text_of(const char *text) { return (as_formula_text){text, text ? strlen(text) : 0}; }

static assay_id add_derived(as_dataset *ds, const char *name, as_derived_kind kind, texts given) {
    as_metric metric = AS_METRIC_INIT;
    metric.kind = AS_KIND_DERIVED;
    metric.name = as_ds_intern_text(ds, name);
    assay_id id = as_add_metric(ds, &metric);
    as_formula_text parts[AS_FORMULA_PARTS] = {[AS_FORMULA_VALUE] = text_of(given.value),
                                               [AS_FORMULA_INIT] = text_of(given.init),
                                               [AS_FORMULA_PLUS] = text_of(given.plus),
                                               [AS_FORMULA_MINUS] = text_of(given.minus),
                                               [AS_FORMULA_AGGR] = text_of(given.aggr)};
    assert_true(as_add_formula(ds, id, kind, parts));
    return id;
}

/* Inclusive and exclusive value of each context; 0 where there is no node. */
typedef struct values {
    double inclusive[N_CONTEXTS], exclusive[N_CONTEXTS];
    size_t n;
} values;

static values values_at(const as_dataset *ds, assay_id metric, assay_id root, const bool *locations) {
    values out = {0};
    as_node_list list;
    assay_error error;
    as_node_list_init(&list);
    assert_int_equal(as_nodes_find_at(ds, 0, metric, root, locations, &list, &error), ASSAY_OK);
    out.n = as_node_count(&list);
    for (size_t i = 0; i < out.n; i++) {
        const as_node *node = as_node_at(&list, i);
        if (i) assert_true(node->context > as_node_at(&list, i - 1)->context);
        assert_true(node->has_exclusive && !node->is_whole);
        out.inclusive[node->context] = as_number_real(node->inclusive);
        out.exclusive[node->context] = as_number_real(node->exclusive);
    }
    as_node_list_free(&list);
    return out;
}

static values compute(as_derived_kind kind, texts given) {
    as_dataset *ds = make_dataset();
    assay_id metric = add_derived(ds, "d", kind, given);
    assert_true(as_compile_formulas(ds, "file"));
    if (ds->problems.count) fail_msg("%s: %s", given.value, as_ds_problem(ds, 0)->message);
    values out = values_at(ds, metric, ASSAY_NONE, NULL);
    as_dataset_free(ds);
    return out;
}

static void expect(values got, const double inclusive[4], const double exclusive[4]) {
    for (int i = 0; i < N_CONTEXTS; i++) {
        if (!(fabs(got.inclusive[i] - inclusive[i]) <= 1e-9) || !(fabs(got.exclusive[i] - exclusive[i]) <= 1e-9))
            fail_msg("context %d: %.17g, %.17g; expected %.17g, %.17g", i, got.inclusive[i], got.exclusive[i],
                     inclusive[i], exclusive[i]);
    }
}
#define FOUR(...) ((const double[4]){__VA_ARGS__})

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

/* Sums: v 3333 330 300 3000 and 3 30 300 3000; t 16176 1170 1100 15000 and 6 70 1100 15000 */
static void post_is_of_sums(void **state) {
    (void)state;
    expect(compute(AS_DERIVED_POST, (texts){.value = "metric::t() / metric::v()"}),
           FOUR(16176.0 / 3333, 1170.0 / 330, 1100.0 / 300, 5), FOUR(2, 70.0 / 30, 1100.0 / 300, 5));
    expect(compute(AS_DERIVED_POST, (texts){.value = "metric::t(i) - metric::v(e)"}), FOUR(16173, 1140, 800, 12000),
           FOUR(16173, 1140, 800, 12000));
    expect(compute(AS_DERIVED_POST, (texts){.value = "exp(0)"}), FOUR(1, 1, 1, 1), FOUR(1, 1, 1, 1));
}

/* t / v at the threads: 2 2, 3 2, 5 3, 7 4 */
static void pre_exclusive_is_summed_afterwards(void **state) {
    (void)state;
    expect(compute(AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = "metric::t() / metric::v()"}), FOUR(28, 13, 8, 11),
           FOUR(4, 5, 8, 11));
    expect(compute(AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = "metric::v() ^ 2"}), FOUR(5050505, 50500, 50000, 5000000),
           FOUR(5, 500, 50000, 5000000));
    /* a constant counts once for each thread */
    expect(compute(AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = "1"}), FOUR(8, 4, 2, 2), FOUR(2, 2, 2, 2));
    /* inclusive v at the threads: 1111 2222, 110 220, 100 200, 1000 2000 */
    expect(compute(AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = "metric::v(i) - metric::v(e)"}), FOUR(3630, 300, 0, 0),
           FOUR(3330, 300, 0, 0));
}

/* squares of inclusive v: 1111^2 + 2222^2 = 6171605, 110^2 + 220^2 = 60500, 50000, 5000000 */
static void pre_inclusive_is_summed_afterwards(void **state) {
    (void)state;
    expect(compute(AS_DERIVED_PRE_INCLUSIVE, (texts){.value = "metric::v() ^ 2"}), FOUR(6171605, 60500, 50000, 5000000),
           FOUR(6171605 - 5060500, 10500, 50000, 5000000));
}

static void other_ways_of_summing(void **state) {
    (void)state;
    /* the larger of the threads: 2, 20, 200, 2000 */
    expect(compute(AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = "metric::v()", .aggr = "max(arg1, arg2)"}),
           FOUR(2222, 220, 200, 2000), FOUR(2, 20, 200, 2000));
    expect(compute(AS_DERIVED_PRE_EXCLUSIVE,
                   (texts){.value = "metric::v()", .aggr = "min(arg1, arg2)", .plus = "max(arg1, arg2)"}),
           FOUR(1000, 100, 100, 1000), FOUR(1, 10, 100, 1000));
    /* the children of main: 330 and 3000, of a: 300 */
    expect(compute(AS_DERIVED_PRE_INCLUSIVE,
                   (texts){.value = "metric::v()", .plus = "max(arg1, arg2)", .minus = "arg1 - 2 * arg2"}),
           FOUR(3333, 330, 300, 3000), FOUR(3333 - 6000, 330 - 600, 300, 3000));
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

/* n exclusive at the threads: 50 150, 20 0, 10 60, 20 0; the difference ends at 0 */
static void integers_and_composite_types(void **state) {
    (void)state;
    expect(compute(AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = "metric::n(e)"}), FOUR(310, 90, 70, 20),
           FOUR(200, 20, 70, 20));
    expect(compute(AS_DERIVED_POST, (texts){.value = "metric::n() * 1"}), FOUR(300, 80, 70, 20), FOUR(200, 20, 70, 20));
    /* value / duration at the threads: 5 5, 10 4, (0 / 0) 1, 1 3 */
    expect(compute(AS_DERIVED_PRE_EXCLUSIVE,
                   (texts){.value = "{ ${r} = metric::rate(e); if (${r} == ${r}) { return ${r}; }; return 0; }"}),
           FOUR(29, 15, 1, 4), FOUR(10, 14, 1, 4));
    /* exclusive value and duration summed: 30 / 6, 38 / 5, 1 / 1, 17 / 9 */
    expect(compute(AS_DERIVED_POST, (texts){.value = "metric::rate(e)"}), FOUR(5, 7.6, 1, 17.0 / 9),
           FOUR(5, 7.6, 1, 17.0 / 9));
}

static void beyond_the_point(void **state) {
    (void)state;
    expect(compute(AS_DERIVED_POST, (texts){.value = "metric::v() / metric::fixed::v()"}),
           FOUR(1, 330.0 / 3333, 300.0 / 3333, 3000.0 / 3333),
           FOUR(3.0 / 3333, 30.0 / 3333, 300.0 / 3333, 3000.0 / 3333));
    /* each thread's part of the context: together 1 */
    expect(compute(AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = "metric::v() / metric::fixed::v(e)"}), FOUR(4, 2, 1, 1),
           FOUR(1, 1, 1, 1));
    expect(compute(AS_DERIVED_POST, (texts){.value = "metric::call::v(3, e) + metric::call::v(99, i)"}),
           FOUR(3000, 3000, 3000, 3000), FOUR(3000, 3000, 3000, 3000));
    expect(compute(AS_DERIVED_POST,
                   (texts){.value = "metric::call::v(${cube::callpath::parent::id}[${calculation::callpath::id}], i)"}),
           FOUR(0, 3333, 330, 3333), FOUR(0, 3333, 330, 3333));
    /* A part of the tree looks beyond it as well. */
    as_dataset *ds = make_dataset();
    assay_id above = add_derived(
        ds, "above", AS_DERIVED_POST,
        (texts){.value = "metric::call::v(${cube::callpath::parent::id}[${calculation::callpath::id}], i)"});
    assert_true(as_compile_formulas(ds, NULL));
    values part = values_at(ds, above, A, NULL);
    assert_int_equal(part.n, 2);
    assert_true(part.inclusive[A] == 3333 && part.inclusive[B] == 330);
    as_dataset_free(ds);
}

static void facts(void **state) {
    (void)state;
    expect(compute(AS_DERIVED_POST,
                   (texts){.value = "${calculation::callpath::id} * 10 + ${calculation::callpath::state}"}),
           FOUR(0, 10, 20, 30), FOUR(1, 11, 21, 31));
    expect(compute(AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = "${cube::location::rank}[${calculation::sysres::id}]"}),
           FOUR(28, 14, 7, 7), FOUR(7, 7, 7, 7));
    expect(compute(AS_DERIVED_POST, (texts){.value = "${cube::#callpaths} * 1000 + ${cube::#locations} * 100 + "
                                                     "${cube::#locationgroups} * 10 + ${cube::#stns}"}),
           FOUR(4212, 4212, 4212, 4212), FOUR(4212, 4212, 4212, 4212));
    /* The machine has a node below it, the node a process, which is none of its children; the process has two
     * threads. */
    expect(compute(AS_DERIVED_POST,
                   (texts){.value = "${cube::stn::#children}[0] * 1000 + ${cube::stn::#children}[1] * 100 + "
                                    "${cube::stn::#locationgroups}[1] * 10 + ${cube::locationgroup::#locations}[0]"}),
           FOUR(1012, 1012, 1012, 1012), FOUR(1012, 1012, 1012, 1012));
    expect(compute(AS_DERIVED_PRE_EXCLUSIVE,
                   (texts){.value = "{ ${a} = 0; if (${cube::region::name}[${calculation::region::id}] "
                                    "=~ /^MPI_/) { ${a} = metric::t(); }; return ${a}; }"}),
           FOUR(1100, 1100, 1100, 0), FOUR(0, 0, 1100, 0));
    expect(compute(AS_DERIVED_POST,
                   (texts){.value = "{ if (${calculation::region::name} seq \"mpi_send\") { return 1; }; return 0; }"}),
           FOUR(0, 0, 1, 0), FOUR(0, 0, 1, 0));
}

/* As Score-P's files have it: masks of call paths, set once and used by others. */
static void masks(void **state) {
    (void)state;
    static const char init[] =
        "{ global(execution); global(mpi); ${i} = 0; ${has} = 0;"
        "while (${i} < ${cube::#callpaths}) { ${r} = ${cube::callpath::calleeid}[${i}]; ${execution}[${i}] = 1;"
        " if (${cube::region::paradigm}[${r}] eq \"mpi\") { ${has} = 1; ${mpi}[${i}] = 1; };"
        " ${i} = ${i} + 1; };"
        " if (${has} == 1) { cube::metric::set::none(\"value\", \"VOID\"); }; return 0; }";
    as_dataset *ds = make_dataset();
    assay_id computation = add_derived(ds, "comp", AS_DERIVED_POST,
                                       (texts){.value = "metric::execution() - metric::mpi() - metric::none()"});
    assay_id mpi = add_derived(ds, "mpi", AS_DERIVED_PRE_EXCLUSIVE,
                               (texts){.value = "${mpi}[${calculation::callpath::id}] * metric::t(e)"});
    assay_id execution =
        add_derived(ds, "execution", AS_DERIVED_PRE_EXCLUSIVE,
                    (texts){.value = "${execution}[${calculation::callpath::id}] * metric::t(e)", .init = init});
    assay_id none = add_derived(ds, "none", AS_DERIVED_POST, (texts){.value = "1"});
    assay_id share =
        add_derived(ds, "share", AS_DERIVED_PRE_EXCLUSIVE,
                    (texts){.value = "metric::mpi() / metric::fixed::mpi(i) + metric::none() + metric::comp(e) * 0"});
    assert_true(as_compile_formulas(ds, NULL));
    assert_int_equal(ds->problems.count, 0);
    expect(values_at(ds, mpi, ASSAY_NONE, NULL), FOUR(1100, 1100, 1100, 0), FOUR(0, 0, 1100, 0));
    expect(values_at(ds, execution, ASSAY_NONE, NULL), FOUR(16176, 1170, 1100, 15000), FOUR(6, 70, 1100, 15000));
    expect(values_at(ds, computation, ASSAY_NONE, NULL), FOUR(15076, 70, 0, 15000), FOUR(6, 70, 0, 15000));
    expect(values_at(ds, share, ASSAY_NONE, NULL), FOUR(1, 1, 1, 0), FOUR(0, 0, 1, 0));
    assert_int_equal(values_at(ds, none, ASSAY_NONE, NULL).n, 0);
    as_dataset_free(ds);
}

/* ---- parts of it ------------------------------------------------------------------------------------------------- */

static void subtrees_and_locations(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    assay_id pre = add_derived(ds, "pre", AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = "metric::v() * 2"});
    assay_id post = add_derived(ds, "post", AS_DERIVED_POST, (texts){.value = "metric::v() * metric::pre()"});
    assay_id part = add_derived(ds, "part", AS_DERIVED_POST, (texts){.value = "metric::v() / metric::fixed::v()"});
    static const bool second[] = {false, false, false, false, true};
    assert_true(as_compile_formulas(ds, NULL));
    values below = values_at(ds, pre, A, NULL);
    assert_int_equal(below.n, 2);
    expect(below, FOUR(0, 660, 600, 0), FOUR(0, 60, 600, 0));
    expect(values_at(ds, post, A, NULL), FOUR(0, 330 * 660, 300 * 600, 0), FOUR(0, 30 * 60, 300 * 600, 0));
    expect(values_at(ds, part, C, NULL), FOUR(0, 0, 0, 3000.0 / 3333), FOUR(0, 0, 0, 3000.0 / 3333));
    expect(values_at(ds, pre, ASSAY_NONE, second), FOUR(4444, 440, 400, 4000), FOUR(4, 40, 400, 4000));
    expect(values_at(ds, post, ASSAY_NONE, second), FOUR(2222 * 4444, 220 * 440, 200 * 400, 2000.0 * 4000),
           FOUR(8, 800, 80000, 8000000));
    as_dataset_free(ds);
}

/* A metric that only the first thread and two contexts have values of. */
static void other_columns(void **state) {
    (void)state;
    static const assay_id contexts[] = {A, C}, first[] = {3};
    static const int32_t few[] = {7, 9};
    as_dataset *ds = make_dataset();
    as_metric metric = AS_METRIC_INIT;
    metric.kind = AS_KIND_EXCLUSIVE;
    metric.name = as_ds_intern_text(ds, "few");
    as_profile profile = {.metric = as_add_metric(ds, &metric),
                          .type = as_value_type_of(AS_DTYPE_INT32, 0),
                          .n_rows = 2,
                          .n_columns = 1,
                          .columns = first,
                          .contexts = contexts,
                          .values = (const char *)few};
    assert_true(as_add_profile(ds, &profile));
    assay_id derived =
        add_derived(ds, "d", AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = "metric::few() + metric::v() * 0 + 1"});
    assert_true(as_compile_formulas(ds, NULL));
    expect(values_at(ds, derived, ASSAY_NONE, NULL), FOUR(24, 11, 2, 11), FOUR(2, 9, 2, 11));
    as_dataset_free(ds);
}

/* Values at no place are a column of their own, unless places are asked for. */
static void rows_without_a_place(void **state) {
    (void)state;
    static const row rows[] = {{A, 0, 3, {.r = 7}}, {A, 0, ASSAY_NONE, {.r = 5}}, {C, 0, ASSAY_NONE, {.r = 9}}};
    static const bool first[] = {false, false, false, true, false};
    as_dataset *ds = make_dataset();
    as_metric metric = AS_METRIC_INIT;
    metric.kind = AS_KIND_EXCLUSIVE;
    metric.name = as_ds_intern_text(ds, "odd");
    add_block(ds, as_add_metric(ds, &metric), 0, AS_DTYPE_DOUBLE, rows, 3);
    assay_id derived = add_derived(ds, "d", AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = "metric::odd() * 2"});
    assert_true(as_compile_formulas(ds, NULL));
    expect(values_at(ds, derived, ASSAY_NONE, NULL), FOUR(42, 24, 0, 18), FOUR(0, 24, 0, 18));
    expect(values_at(ds, derived, ASSAY_NONE, first), FOUR(14, 14, 0, 0), FOUR(0, 14, 0, 0));
    as_dataset_free(ds);
}

/* ---- what cannot be used ----------------------------------------------------------------------------------------- */

static size_t problems_with(const as_dataset *ds, const char *words) {
    size_t n = 0;
    for (size_t i = 0; i < ds->problems.count; i++) {
        const as_problem *problem = as_ds_problem(ds, i);
        assert_string_equal(problem->rule, "cubepl");
        assert_int_equal(problem->severity, AS_WARNING);
        n += strstr(problem->message, words) != NULL;
    }
    return n;
}

static void broken_ones(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    assay_id broken = add_derived(ds, "broken", AS_DERIVED_POST, (texts){.value = "metric::v() +"});
    assay_id unknown = add_derived(ds, "unknown", AS_DERIVED_POST, (texts){.value = "metric::nosuch()"});
    assay_id needs = add_derived(ds, "needs", AS_DERIVED_POST, (texts){.value = "metric::v() + metric::broken()"});
    assay_id needs_more = add_derived(ds, "needs_more", AS_DERIVED_POST, (texts){.value = "metric::needs()"});
    assay_id itself = add_derived(ds, "itself", AS_DERIVED_POST, (texts){.value = "metric::itself()"});
    assay_id one = add_derived(ds, "one", AS_DERIVED_POST, (texts){.value = "metric::two()"});
    assay_id two = add_derived(ds, "two", AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = "metric::one()"});
    assay_id fine = add_derived(ds, "fine", AS_DERIVED_POST, (texts){.value = "metric::v()"});
    assert_true(as_compile_formulas(ds, "file"));
    assert_int_equal(ds->problems.count, 7);
    assert_int_equal(problems_with(ds, "derived metric broken has no values: it ends where a value is missing (column "
                                       "14 of its expression \"metric::v() +\")"),
                     1);
    assert_int_equal(
        problems_with(ds, "there is no metric of this name (column 1 of its expression \"metric::nosuch()\")"), 1);
    assert_int_equal(
        problems_with(ds, "it needs broken, which has none (its expression is \"metric::v() + metric::broken()\")"), 1);
    assert_int_equal(problems_with(ds, "it needs needs, which has none"), 1);
    assert_int_equal(problems_with(ds, "in a circle"), 3);
    const assay_id none[] = {broken, unknown, needs, needs_more, itself, one, two};
    for (size_t i = 0; i < 7; i++) assert_int_equal(values_at(ds, none[i], ASSAY_NONE, NULL).n, 0);
    expect(values_at(ds, fine, ASSAY_NONE, NULL), FOUR(3333, 330, 300, 3000), FOUR(3, 30, 300, 3000));
    as_dataset_free(ds);
}

static void inits_that_fail(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    add_derived(ds, "a", AS_DERIVED_POST, (texts){.value = "1", .init = "{ global(g); ${g} = ; }"});
    add_derived(ds, "b", AS_DERIVED_POST, (texts){.value = "1 +", .init = "{ global(h); ${h} = 5; }"});
    add_derived(ds, "c", AS_DERIVED_POST, (texts){.value = "1", .init = "{ global(k); while (1) { ${k} = 1; } }"});
    assay_id reads_g = add_derived(ds, "reads_g", AS_DERIVED_POST, (texts){.value = "${g}"});
    assay_id reads_h = add_derived(ds, "reads_h", AS_DERIVED_POST, (texts){.value = "${h}"});
    assay_id reads_k = add_derived(ds, "reads_k", AS_DERIVED_POST, (texts){.value = "${k}"});
    assay_id needs_k = add_derived(ds, "needs_k", AS_DERIVED_POST, (texts){.value = "metric::reads_k()"});
    assert_true(as_compile_formulas(ds, "file"));
    assert_int_equal(ds->problems.count, 3); /* a, b, reads_g */
    assert_int_equal(
        problems_with(ds, "derived metric a has no values: a value is missing here (column 21 of its initialisation"),
        1);
    assert_int_equal(values_at(ds, reads_g, ASSAY_NONE, NULL).n, 0);
    expect(values_at(ds, reads_h, ASSAY_NONE, NULL), FOUR(5, 5, 5, 5), FOUR(5, 5, 5, 5));
    assert_int_equal(values_at(ds, reads_k, ASSAY_NONE, NULL).n, 0);
    assert_int_equal(values_at(ds, needs_k, ASSAY_NONE, NULL).n, 0);
    assert_int_equal(ds->problems.count, 6); /* c, reads_k, needs_k */
    assert_int_equal(problems_with(ds, "it takes too long"), 1);
    as_dataset_free(ds);
}

static void values_that_fail(void **state) {
    (void)state;
    as_dataset *ds = make_dataset();
    assay_id endless =
        add_derived(ds, "endless", AS_DERIVED_PRE_EXCLUSIVE,
                    (texts){.value = "{ while (metric::v() > 500) { ${a} = 1; }; return metric::v(); }"});
    assay_id above = add_derived(ds, "above", AS_DERIVED_POST, (texts){.value = "metric::endless() + metric::v()"});
    assert_true(as_compile_formulas(ds, NULL));
    assert_int_equal(ds->problems.count, 0);
    for (int i = 0; i < 2; i++) { /* said once */
        assert_int_equal(values_at(ds, above, ASSAY_NONE, NULL).n, 0);
        assert_int_equal(values_at(ds, endless, ASSAY_NONE, NULL).n, 0);
        assert_int_equal(ds->problems.count, 2);
    }
    as_dataset_free(ds);
}

/* Each needs the one before: neither order nor depth matters. */
static void long_chains(void **state) {
    (void)state;
    enum { LENGTH = 3000 };
    as_dataset *ds = make_dataset();
    static char texts_of[LENGTH][32];
    assay_id first = ASSAY_NONE;
    for (int i = 0; i < LENGTH; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        snprintf(texts_of[i], sizeof texts_of[i], i + 1 < LENGTH ? "metric::d%d() + 1" : "metric::v()", i + 1);
        assay_id id =
            add_derived(ds, name, i % 2 ? AS_DERIVED_POST : AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = texts_of[i]});
        if (i == 0) first = id;
    }
    assert_true(as_compile_formulas(ds, NULL));
    assert_int_equal(ds->problems.count, 0);
    /* at each thread v + 2999, then summed over both */
    expect(values_at(ds, first, ASSAY_NONE, NULL),
           FOUR(3333 + 8 * 2999, 330 + 4 * 2999, 300 + 2 * 2999, 3000 + 2 * 2999),
           FOUR(3 + 2 * 2999, 30 + 2 * 2999, 300 + 2 * 2999, 3000 + 2 * 2999));
    as_dataset_free(ds);
}

/* Asked for one after the other, metrics are computed several at a time: with the same values, also of another run or
 * part. */
static void all_of_a_chain(void **state) {
    (void)state;
    enum { LENGTH = 300 };
    as_dataset *ds = make_dataset();
    static char texts_of[LENGTH][32];
    assay_id first = ASSAY_NONE;
    assert_int_equal(as_add_run(ds, &AS_RUN_INIT), 1);
    for (int i = 0; i < LENGTH; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        snprintf(texts_of[i], sizeof texts_of[i], i ? "metric::d%d() + 1" : "metric::v()", i - 1);
        assay_id id = add_derived(ds, name, AS_DERIVED_PRE_EXCLUSIVE, (texts){.value = texts_of[i]});
        if (i == 0) first = id;
    }
    assert_true(as_compile_formulas(ds, NULL));
    static const bool one_thread[5] = {[4] = true};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < LENGTH; i++) {
            assay_id metric = first + (assay_id)i;
            expect(values_at(ds, metric, ASSAY_NONE, NULL), FOUR(3333 + 8 * i, 330 + 4 * i, 300 + 2 * i, 3000 + 2 * i),
                   FOUR(3 + 2 * i, 30 + 2 * i, 300 + 2 * i, 3000 + 2 * i));
            if (i % 7) continue;
            expect(values_at(ds, metric, A, NULL), FOUR(0, 330 + 4 * i, 300 + 2 * i, 0),
                   FOUR(0, 30 + 2 * i, 300 + 2 * i, 0));
            expect(values_at(ds, metric, ASSAY_NONE, one_thread), FOUR(2222 + 4 * i, 220 + 2 * i, 200 + i, 2000 + i),
                   FOUR(2 + i, 20 + i, 200 + i, 2000 + i));
            as_node_list list;
            assay_error error;
            as_node_list_init(&list); /* v has nothing in that run: only what is added */
            assert_int_equal(as_nodes_find(ds, 1, metric, ASSAY_NONE, &list, &error), ASSAY_OK);
            assert_int_equal(as_node_count(&list), i ? 4 : 0);
            if (i) assert_true(as_number_real(as_node_at(&list, B)->inclusive) == 2 * i);
            as_node_list_free(&list);
        }
    }
    as_dataset_free(ds);
}

/* One that fails among many is alone in that. */
static void failure_within_many(void **state) {
    (void)state;
    enum { MANY = 40, ENDLESS = 17 };
    as_dataset *ds = make_dataset();
    assay_id first = ASSAY_NONE;
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        assay_id id =
            add_derived(ds, name, AS_DERIVED_POST,
                        (texts){.value = i == ENDLESS ? "{ while (1) { ${a} = 1; }; return 1; }" : "metric::v() * 2"});
        if (i == 0) first = id;
    }
    assert_true(as_compile_formulas(ds, NULL));
    for (int i = 0; i < MANY; i++) {
        values got = values_at(ds, first + (assay_id)i, ASSAY_NONE, NULL);
        if (i == ENDLESS)
            assert_int_equal(got.n, 0);
        else
            expect(got, FOUR(6666, 660, 600, 6000), FOUR(6, 60, 600, 6000));
    }
    assert_int_equal(ds->problems.count, 1);
    assert_int_equal(problems_with(ds, "derived metric d17 has no values: it takes too long"), 1);
    as_dataset_free(ds);
}

static void what_is_no_number_stays_so(void **state) {
    (void)state;
    values got = compute(AS_DERIVED_POST, (texts){.value = "metric::v() / (metric::v() - 330)"});
    assert_true(isnan(got.inclusive[A]) && fabs(got.exclusive[A] + 0.1) < 1e-12 && got.n == 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(post_is_of_sums),
        cmocka_unit_test(all_of_a_chain),
        cmocka_unit_test(failure_within_many),
        cmocka_unit_test(pre_exclusive_is_summed_afterwards),
        cmocka_unit_test(pre_inclusive_is_summed_afterwards),
        cmocka_unit_test(other_ways_of_summing),
        cmocka_unit_test(integers_and_composite_types),
        cmocka_unit_test(beyond_the_point),
        cmocka_unit_test(facts),
        cmocka_unit_test(masks),
        cmocka_unit_test(subtrees_and_locations),
        cmocka_unit_test(other_columns),
        cmocka_unit_test(rows_without_a_place),
        cmocka_unit_test(broken_ones),
        cmocka_unit_test(inits_that_fail),
        cmocka_unit_test(values_that_fail),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(what_is_no_number_stays_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
