#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>

#include "cube_files.h"
#include "dataset/formulas.h"
#include "formats/cube/set.h"
#include "point_names.h"
#include "temporary.h"

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void assert_name(const char *name, const char *expected) {
    assert_point_name(as_set_parse_name, name, expected);
}

static void names_of_directories(void **state) {
    (void)state;
    assert_name("x1", "x=1");
    assert_name("mm.x1", "x=1");
    assert_name("mm.x1.r3", "x=1 r3");
    assert_name("x1.r1", "x=1 r1");
    assert_name("mm.x1.y25.z1.r1", "x=1 y=25 z=1 r1");
    assert_name("mm.x1y2z3.r12.extra.x9", "x=1 y=2 z=3 r12");
    assert_name("mm.x21.5,y21,5,z1.15.r1", "x=21.5 y=21.5 z=1.15 r1");
    assert_name("mm.x1..y1", "x=1 y=1");
    assert_name("x1.5", "x=1.5");
    assert_name("x1.5y2", "x=1.5 y=2");
    assert_name("mm.x1e3", "x=1 e=3");
    assert_name("mm.x-1", "x-=1");
    assert_name("mm.x1 y2", "x=1 y=2");
    assert_name("my.app.x1", "x=1");
    assert_name("app-1.2.x1", "app-=1.2 x=1");
    assert_name("a.run1", "run=1");
    assert_name("time.p4.rank2", "p=4 rank=2");
    assert_name("mm.rate1", "rate=1");
    assert_name("mm.x1.rate2.r1", "x=1 rate=2 r1");
    assert_name("mm.r4x2", "r=4 x=2"); /* neither the end nor a dot follows */
    assert_name("mm.x1.r4x2.r3", "x=1 r=4 x=2 r3");
    assert_name("foo", "no parameter");
    assert_name("mm.", "no parameter");
    assert_name("mm.x", "no parameter");
    assert_name("mm.x1y", "behind its last number");
    assert_name("mm.x1.extra", "behind its last number");
    assert_name("1x", "no name before");
    assert_name("mm.x1.5.5", "no number");
    assert_name("mm.1x2", "no number");
}

/* ---- sets -------------------------------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where) {
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

static int remove_all(void **state) {
    (void)state;
    return nftw(temporary_folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_point(const char *directory, const char *name, const void *bytes, size_t size) {
    char path[300];
    mkdir(temporary_path(directory), 0700);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    write_temporary(path, bytes, size);
}

/* A file of the metric v on this tree, with so many rows of values. */
static void write_profile(const char *directory, const char *name, const char *metric, const char *tree,
                          unsigned n_locations, size_t n_rows, const double *values) {
    archive file = begin_archive();
    add_bytes(&file, "0.index", make_full_index(n_rows));
    add_bytes(&file, "0.data", make_reals(false, n_rows * n_locations, values));
    add_anchor(&file, make_anchor(metric, tree, n_locations));
    size_t size;
    const char *bytes = end_archive(&file, &size);
    write_point(directory, name, bytes, size);
    as_output_discard(file.out);
}

#define V METRIC("0", "v", "DOUBLE", "EXCLUSIVE")
static const double COUNT[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

static as_dataset *read_set(const char *option) {
    const char *options[] = {option, NULL};
    as_read_config config = {.options = options};
    as_dataset *ds = NULL;
    assay_error error;
    if (as_read(temporary_folder, &config, &ds, &error) != ASSAY_OK) fail_msg("%s", error.message);
    assert_string_equal(ds->format, "cube-set");
    return ds;
}

static void assert_set_refused(const char *rule, const char *words) {
    as_read_config config = {.format = "cube-set"};
    as_dataset *ds = NULL;
    assay_error error;
    if (as_read(temporary_folder, &config, &ds, &error) == ASSAY_OK) fail_msg("accepted, without %s", words);
    if (error.code != ASSAY_E_FORMAT || strcmp(error.rule, rule) != 0 || !strstr(error.message, words))
        fail_msg("%s: %s", error.rule, error.message);
}

static const char *path_of(const as_dataset *ds, assay_id context) {
    static as_vec path = {.size = 1};
    assert_true(as_context_path(ds, context, &path));
    return path.data;
}

static void points_and_repetitions(void **state) {
    (void)state;
    write_profile("app.p16.n1.r1", "profile.cubex", V, "0(1())", 2, 2, COUNT);
    write_profile("app.p2.n1.r10", "profile.cubex", V, "0(1())", 2, 2, COUNT);
    write_profile("app.p2.n1.r9", "b.cubex", V, "0(1())", 2, 2, COUNT);
    write_profile("app.p2.n1.r9", "a.cubex", V, "0(1())", 2, 2, COUNT);
    write_profile("app.p2.n1.r9", ".hidden.cubex", V, "0(1())", 2, 2, COUNT);
    write_point("app.p2.n1.r9", "scorep.cfg", "x", 1);
    write_point("empty", "nothing.txt", "x", 1);
    write_temporary("profile.cubex", "x", 1);
    as_dataset *ds = read_set("scaling=strong");
    assert_int_equal(as_ds_parameters(ds), 1);
    assert_string_equal(as_ds_parameter(ds, 0), "p");
    assert_int_equal(ds->n_points, 2);
    assert_true(as_ds_point(ds, 0)[0] == 2 && as_ds_point(ds, 1)[0] == 16);
    static const struct {
        const char *file;
        assay_id point;
        uint32_t repetition;
    } runs[] = {{"app.p2.n1.r9/a.cubex", 0, 0},
                {"app.p2.n1.r9/b.cubex", 0, 1},
                {"app.p2.n1.r10/profile.cubex", 0, 2},
                {"app.p16.n1.r1/profile.cubex", 1, 0}};
    assert_int_equal(ds->runs.count, 4);
    for (assay_id i = 0; i < 4; i++) {
        const as_run *run = as_ds_run(ds, i);
        assert_string_equal(as_ds_text(ds, run->source), temporary_path(runs[i].file));
        assert_int_equal(run->point, runs[i].point);
        assert_int_equal(run->repetition, runs[i].repetition);
        assert_values_of(ds, 0, i, "0: 1 2\n1: 3 4\n");
    }
    assert_int_equal(as_ds_values(ds), 16);
    assert_int_equal(ds->pooling, AS_SCALING_STRONG);
    assert_string_equal(find_attribute(ds, AS_OWNER_DATASET, 0, "scaling"), "strong");
    assert_int_equal(ds->series.count, 2);
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
}

/* Contexts of one path are one: within a file they are added up. */
static void paths_that_come_twice(void **state) {
    (void)state;
    write_profile("p1", "a.cubex", V, "0(1(2())1())", 2, 4, COUNT);
    write_profile("p2", "a.cubex", V, "0(3()1(2()))", 2, 4, COUNT);
    as_dataset *ds = read_set(NULL);
    assert_int_equal(ds->contexts.count, 4);
    assert_string_equal(path_of(ds, 0), "r0");
    assert_string_equal(path_of(ds, 1), "r0->r1");
    assert_string_equal(path_of(ds, 2), "r0->r1->r2");
    assert_string_equal(path_of(ds, 3), "r0->r3");
    /* In the first file r1 has the rows 3 4 and 7 8; in the second the rows come in another order. */
    assert_values_of(ds, 0, 0, "0: 1 2\n1: 10 12\n2: 5 6\n");
    assert_values_of(ds, 0, 1, "0: 1 2\n1: 5 6\n2: 7 8\n3: 3 4\n");
    assert_int_equal(as_ds_values(ds), 14);
    assert_int_equal(ds->series.count, 4);
    assert_int_equal(count_problems(ds, "missing-points", NULL), 1); /* r3 at p=1 */
    for (assay_id i = 0; i < 4; i++) assert_true(as_ds_context(ds, i)->is_callpath);
    as_dataset_free(ds);
}

/* Small integers that are added up do not overflow; minima stay minima. */
static void sums_in_the_arithmetic_of_the_metric(void **state) {
    (void)state;
    static const uint64_t bytes[] = {200, 1, 100, 2};
    static const double reals[] = {4, 1, 3, 2};
    for (unsigned p = 1; p <= 2; p++) {
        archive file = begin_archive();
        char directory[8];
        size_t size;
        snprintf(directory, sizeof directory, "p%u", p);
        add_bytes(&file, "0.index", make_full_index(2));
        add_bytes(&file, "0.data", make_integers(false, 1, 4, bytes));
        add_bytes(&file, "1.index", make_full_index(2));
        add_bytes(&file, "1.data", make_reals(false, 4, reals));
        add_bytes(&file, "2.index", make_full_index(2));
        add_bytes(&file, "2.data", make_integers(false, 8, 4, (uint64_t[]){UINT64_MAX, 1, 5, UINT64_MAX}));
        add_bytes(&file, "3.index", make_full_index(2));
        add_bytes(&file, "3.data", make_reals(false, 8, (double[]){1, 2, 3, 4, 5, 6, 7, 8}));
        add_bytes(&file, "4.index", make_full_index(2));
        add_bytes(&file, "4.data", make_integers(false, 8, 4, (uint64_t[]){1ull << 63, 1, 1ull << 63, 2}));
        add_anchor(&file, make_anchor(
                              METRIC("0", "bytes", "UINT8", "EXCLUSIVE") METRIC("1", "least", "MINDOUBLE", "EXCLUSIVE")
                                  METRIC("2", "counter", "UINT64", "EXCLUSIVE") METRIC("3", "rate", "RATE", "EXCLUSIVE")
                                      METRIC("4", "large", "UINT64", "EXCLUSIVE"),
                              "0()0()", 2));
        const char *whole = end_archive(&file, &size);
        write_point(directory, "a.cubex", whole, size);
        as_output_discard(file.out);
    }
    as_dataset *ds = read_set(NULL);
    assert_values_of(ds, 0, 1, "0: 300 3\n");
    assert_values_of(ds, 1, 1, "0: 3 1\n");
    assert_values_of(ds, 2, 1, "0: 5 1\n"); /* -1 counts as 0 */
    assert_values_of(ds, 3, 1, "0: 6|8 10|12\n");
    assert_values_of(ds, 4, 1, "0: 18446744073709550591 3\n"); /* beyond: a counter below zero */
    assert_int_equal(count_problems(ds, "counter-below-zero", NULL), 1);
    assert_int_equal(ds->series.count, 4); /* composite values are no series */
    as_dataset_free(ds);
}

/* Two runs of one point do not stand for the other one. */
static void paths_that_a_point_lacks(void **state) {
    (void)state;
    write_profile("p1.r1", "a.cubex", V, "0(1())", 1, 2, COUNT);
    write_profile("p1.r2", "a.cubex", V, "0(1())", 1, 2, COUNT);
    write_profile("p2.r1", "a.cubex", V, "0()", 1, 1, COUNT);
    as_dataset *ds = read_set(NULL);
    assert_int_equal(count_problems(ds, "missing-points", NULL), 1);
    assert_non_null(strstr(as_ds_problem(ds, 0)->message, "r0->r1"));
    as_dataset_free(ds);
}

struct pooled {
    char text[200];
};

static bool add_measurement(void *user, const as_measurement *measurement) {
    struct pooled *pooled = user;
    size_t used = strlen(pooled->text);
    snprintf(pooled->text + used, sizeof pooled->text - used, " %gx%d", measurement->mean,
             (int)measurement->repetitions);
    return true;
}

/* What the points have: mean and files of each. */
static void assert_pooled(const char *option, const char *expected) {
    as_dataset *ds = read_set(option);
    struct pooled pooled = {""};
    assay_error error;
    assert_int_equal(as_ds_load(ds, ASSAY_NONE, &error), ASSAY_OK);
    for (size_t i = 0; i < ds->series.count; i++)
        assert_true(as_measure(ds, as_ds_series(ds, i), add_measurement, &pooled));
    if (strcmp(pooled.text, expected) != 0) fail_msg("%s: expected%s, got%s", option, expected, pooled.text);
    as_dataset_free(ds);
}

/* r0 has 0 and 6 in one run of the first point, 0 and 0 in the other; r1 has 0 and 2, 0 and 2. Both are 0 3 and 0 0 at
 * the second one. */
static void locations_become_one_number(void **state) {
    (void)state;
    write_profile("p1.r1", "a.cubex", V, "0(1())", 2, 2, (double[]){0, 6, 0, 2});
    write_profile("p1.r2", "a.cubex", V, "0(1())", 2, 2, (double[]){0, 0, 0, 2});
    write_profile("p2.r1", "a.cubex", V, "0(1())", 2, 2, (double[]){0, 3, 0, 0});
    assert_pooled("scaling=weak", " 1.5x2 1.5x1 1x2 0x1");
    assert_pooled("scaling=weak_threaded", " 2x2 3x1 2x2 0x1"); /* 6 0 0: a file without any but zeros keeps them */
    assert_pooled("scaling=strong", " 3x2 3x1 2x2 0x1");
}

/* Exclusive values of inclusive metrics end at 0 where they are unsigned, at each location: 5 - 7 and 10 - 4. */
static void unsigned_differences_of_a_set(void **state) {
    (void)state;
    for (unsigned p = 1; p <= 2; p++) {
        archive file = begin_archive();
        size_t size;
        add_bytes(&file, "0.index", make_full_index(2));
        add_bytes(&file, "0.data", make_integers(false, 1, 4, (uint64_t[]){5, 10, 7, 4}));
        add_anchor(&file, make_anchor(METRIC("0", "v", "UINT8", "INCLUSIVE"), "0(1())", 2));
        const char *bytes = end_archive(&file, &size);
        write_point(p == 1 ? "p1" : "p2", "a.cubex", bytes, size);
        as_output_discard(file.out);
    }
    assert_pooled("scaling=weak", " 3x1 3x1 5.5x1 5.5x1");
}

static void locations_of_several_files(void **state) {
    (void)state;
    write_profile("p1", "a.cubex", V, "0()", 2, 1, COUNT);
    write_profile("p2", "a.cubex", V, "0()", 4, 1, COUNT);
    as_dataset *ds = read_set(NULL);
    assert_int_equal(as_ds_leaves(ds), 4);
    assert_int_equal(as_ds_profile(ds, 0, 0)->n_columns, 2);
    assert_int_equal(as_ds_profile(ds, 0, 1)->n_columns, 4);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(as_ds_profile(ds, 0, 0)->columns[i], as_ds_profile(ds, 0, 1)->columns[i]);
    assert_values_of(ds, 0, 0, "0: 1 2\n");
    assert_values_of(ds, 0, 1, "0: 1 2 3 4\n");
    as_dataset_free(ds);
}

/* The second file has the threads in the other order: its columns are turned round. */
static void columns_in_another_order(void **state) {
    (void)state;
    write_profile("p1", "a.cubex", V, "0()", 2, 1, COUNT);
    archive file = begin_archive();
    size_t size;
    char *made = make_anchor(V, "0()", 2), *anchor = strdup(made);
    free(made);
    size_t first = (size_t)(strstr(anchor, "<rank>0</rank><type>thread") - anchor),
           second = (size_t)(strstr(anchor, "<rank>1</rank><type>thread") - anchor);
    anchor[first + 6] = '1';
    anchor[second + 6] = '0';
    add_bytes(&file, "0.index", make_full_index(1));
    add_bytes(&file, "0.data", make_reals(false, 2, COUNT));
    add_anchor(&file, anchor);
    const char *bytes = end_archive(&file, &size);
    write_point("p2", "a.cubex", bytes, size);
    as_output_discard(file.out);
    as_dataset *ds = read_set(NULL);
    assert_int_equal(as_ds_leaves(ds), 2);
    assert_values_of(ds, 0, 0, "0: 1 2\n");
    assert_values_of(ds, 0, 1, "0: 2 1\n");
    as_dataset_free(ds);
}

static void files_that_disagree_about_a_metric(void **state) {
    (void)state;
    write_profile("p1", "a.cubex", V, "0()", 2, 1, COUNT);
    write_profile("p2", "a.cubex", METRIC("0", "v", "MAXDOUBLE", "EXCLUSIVE"), "0()", 2, 1, COUNT);
    write_profile("p3", "a.cubex", METRIC("0", "v", "DOUBLE", "INCLUSIVE"), "0()", 2, 1, COUNT);
    write_profile("p4", "a.cubex", METRIC("0", "v", "INT64", "EXCLUSIVE"), "0()", 2, 1, (double[]){0, 0});
    as_dataset *ds = read_set(NULL);
    assert_int_equal(count_problems(ds, "metric-differs", NULL), 2);
    assert_int_equal(ds->metrics.count, 1);
    assert_values_of(ds, 0, 0, "0: 1 2\n");
    assert_null(as_ds_profile(ds, 0, 1));
    assert_null(as_ds_profile(ds, 0, 2));
    assert_values_of(ds, 0, 3, "0: 0 0\n");
    as_dataset_free(ds);
}

/* What is wrong with a formula is said once, and those that are right are formulas of the set. */
static void formulas_of_a_set(void **state) {
    (void)state;
    static const char metrics[] = V
        "<metric id='1' type='POSTDERIVED'><uniq_name>good</uniq_name><dtype>DOUBLE</dtype><cubepl>metric::v()</cubepl>"
        "</metric><metric id='2' type='POSTDERIVED'><uniq_name>bad</uniq_name><dtype>DOUBLE</dtype><cubepl>(</cubepl>"
        "</metric>";
    write_profile("p1", "a.cubex", metrics, "0()", 2, 1, COUNT);
    write_profile("p2", "a.cubex", metrics, "0()", 2, 1, COUNT);
    as_dataset *ds = read_set(NULL);
    assert_int_equal(count_problems(ds, "cubepl", NULL), 1);
    assert_true(as_ds_derived(ds, 1)->is_usable);
    assert_false(as_ds_derived(ds, 2)->is_usable);
    assert_int_equal(ds->series.count, 1);
    as_dataset_free(ds);
}

static void sets_that_are_refused(void **state) {
    (void)state;
    assert_set_refused("no-files", "DIR/POINT/FILE.cubex");
    write_profile("app.p1", "a.cubex", V, "0()", 1, 1, COUNT);
    assert_set_refused("point-name", "no parameter varies");
    write_profile("app.q1", "a.cubex", V, "0()", 1, 1, COUNT);
    assert_set_refused("point-name", "'app.q1' has the parameters q, 'app.p1' has p");
    assert_int_equal(rename(temporary_path("app.q1"), temporary_path("app.qq")), 0);
    assert_set_refused("point-name", "'app.qq' names no point");
    assert_int_equal(rename(temporary_path("app.qq"), temporary_path("app.p2.n3")), 0);
    assert_set_refused("point-name", "'app.p2.n3' has the parameters p, n, 'app.p1' has p");
    assert_int_equal(rename(temporary_path("app.p2.n3"), temporary_path("app.p2")), 0);
    as_dataset_free(read_set(NULL));
    write_point("app.p2", "b.cubex", "no archive", 10);
    as_read_config config = {.format = "cube-set"};
    as_dataset *ds = NULL;
    assay_error error;
    assert_int_equal(as_read(temporary_folder, &config, &ds, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.path, temporary_path("app.p2/b.cubex"));
    assert_int_equal(as_read(temporary_path("app.p2/a.cubex"), &config, &ds, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.rule, "not-a-directory");
}

/* Each file alone fits the memory allowed, all together do not. */
static void files_share_the_memory_of_the_set(void **state) {
    (void)state;
    enum { FILES = 20, LOCATIONS = 1000 };
    static const double values[LOCATIONS];
    char directory[40];
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(directory, sizeof directory, "x%u", i + 1);
        write_profile(directory, "a.cubex", V, "0()", LOCATIONS, 1, values);
    }
    as_read_config config = {.memory_limit = 0};
    as_dataset *ds = NULL;
    assay_error error;
    assert_int_equal(as_read(temporary_path("x1/a.cubex"), &config, &ds, &error), ASSAY_OK);
    uint64_t used = ds->budget.used;
    as_dataset_free(ds);
    config.memory_limit = used * FILES / 2;
    assert_int_equal(as_read(temporary_folder, &config, &ds, &error), ASSAY_E_NOMEM);
    config.memory_limit = used * FILES * 3;
    assert_int_equal(as_read(temporary_folder, &config, &ds, &error), ASSAY_OK);
    assert_in_range(ds->budget.used, used * FILES, used * FILES * 2);
    as_dataset_free(ds);
}

static bool stop(void *user, const char *stage, double fraction) {
    (void)stage;
    assert_true(fraction >= 0 && fraction <= 1);
    return --*(int *)user > 0;
}

static void reading_can_be_stopped(void **state) {
    (void)state;
    write_profile("p1", "a.cubex", V, "0()", 1, 1, COUNT);
    write_profile("p2", "a.cubex", V, "0()", 1, 1, COUNT);
    int left = 1;
    as_read_config config = {.progress = stop, .user = &left};
    as_dataset *ds = NULL;
    assay_status status = as_read(temporary_folder, &config, &ds, NULL);
    if (left == 1) as_dataset_free(ds); /* the other thread was quicker */
    assert_int_equal(status, left == 1 ? ASSAY_OK : ASSAY_E_CANCELLED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_temporary_folder, remove_all)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_directories),
        TEST(points_and_repetitions),
        TEST(paths_that_come_twice),
        TEST(paths_that_a_point_lacks),
        TEST(locations_become_one_number),
        TEST(unsigned_differences_of_a_set),
        TEST(sums_in_the_arithmetic_of_the_metric),
        TEST(locations_of_several_files),
        TEST(columns_in_another_order),
        TEST(files_that_disagree_about_a_metric),
        TEST(formulas_of_a_set),
        TEST(sets_that_are_refused),
        TEST(files_share_the_memory_of_the_set),
        TEST(reading_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
