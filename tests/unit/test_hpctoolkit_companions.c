#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dataset/sparse.h"
#include "formats/hpctoolkit/companions_private.h"
#include "helpers.h"
#include "temporary.h"

/* ---- files to the description of the formats --------------------------------------------------------------------- */

typedef struct bytes {
    unsigned char data[4096];
    size_t size;
} bytes;

static void add_text(bytes *b, const char *text) {
    memcpy(b->data + b->size, text, strlen(text));
    b->size += strlen(text);
}

static void add_big(bytes *b, uint64_t value, unsigned n) {
    for (unsigned i = n; i-- > 0;) b->data[b->size++] = (unsigned char)(value >> 8 * i);
}

static void add_double(bytes *b, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_big(b, bits, 8);
}

/* numbers: n_nodes rows of n_metrics. */
static void add_metric_db(bytes *b, uint32_t n_nodes, uint32_t n_metrics, const double *numbers) {
    add_text(b, "HPCPROF-metricdb__00.10b");
    add_big(b, n_nodes, 4);
    add_big(b, n_metrics, 4);
    for (uint32_t i = 0; i < n_nodes * n_metrics; i++) add_double(b, numbers[i]);
}

static void add_sample(bytes *b, uint64_t time, uint32_t id) {
    add_big(b, time, 8);
    add_big(b, id, 4);
}

static void write_bytes(const char *name, const bytes *b) { write_temporary(name, b->data, b->size); }

/* ---- a dataset with three contexts and two metrics --------------------------------------------------------------- */

typedef struct opened {
    as_dataset *ds;
    as_input input;
    as_reader reader;
    assay_error error;
    as_hpc_companions *companions;
} opened;

static void open_companions(opened *o) {
    *o = (opened){.ds = as_dataset_new(0), .input = {.path = "experiment.xml"}};
    o->reader = (as_reader){.dataset = o->ds, .input = &o->input, .error = &o->error};
    if (as_hpc_companions_open(&o->reader, temporary_folder, &o->companions) != ASSAY_OK)
        fail_msg("%s", o->error.message);
}

/* Nodes 1 … 3 are contexts 0 … 2; samples with `it` 40 + i are in context i; the columns 0 and 1 are metrics 0 and
 * 1. */
static void attach_companions(opened *o) {
    as_tree tree;
    as_tree_init(&tree, o->ds);
    as_context context = AS_CONTEXT_INIT;
    for (unsigned i = 0; i < 3; i++) {
        as_tree_add(&tree, &context);
        context.parent = i;
    }
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    as_metric metric = AS_METRIC_INIT;
    as_add_metric(o->ds, &metric);
    as_add_metric(o->ds, &metric);
    static const as_hpc_column columns[] = {{0, 0}, {1, 1}};
    static const assay_id contexts[] = {ASSAY_NONE, 0, 1, 2};
    as_map trace_contexts;
    as_map_init(&trace_contexts, NULL);
    for (uint32_t i = 0; i < 3; i++) as_map_put(&trace_contexts, 40 + i, i);
    as_hpc_companions_meaning meaning = {.columns = columns,
                                         .n_columns = 2,
                                         .contexts = contexts,
                                         .n_contexts = 4,
                                         .trace_contexts = &trace_contexts,
                                         .ticks_per_second = 1e6};
    if (as_hpc_companions_attach(&o->reader, o->companions, &meaning) != ASSAY_OK) fail_msg("%s", o->error.message);
    assert_int_equal(trace_contexts.count, 0);
}

static void close_companions(opened *o) { as_dataset_free(o->ds); }

/* "0.1:5 1.0:7": what a context has of a metric at which leaf. */
static void assert_row(const opened *o, assay_id metric, assay_id context, const char *expected) {
    const as_profile *profile = as_ds_profile(o->ds, metric, 0);
    char got[256] = "";
    as_sparse_line line = {0};
    assay_error error;
    assert_non_null(profile);
    assert_int_equal(profile->source->read_row(profile->source, profile, context, &line, &error), ASSAY_OK);
    for (uint32_t i = 0; i < line.n; i++) {
        const as_location *leaf = as_ds_location(o->ds, profile->columns[line.at[i]]);
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s:%g", i ? " " : "",
                 as_ds_text(o->ds, leaf->source_id), line.values[i]);
    }
    as_sparse_line_free(&line);
    assert_string_equal(got, expected);
}

/* "0=5 2=7": what a leaf has of a metric in which contexts. */
static void assert_column(const opened *o, assay_id metric, uint32_t column, const char *expected) {
    const as_profile *profile = as_ds_profile(o->ds, metric, 0);
    char got[256] = "";
    as_sparse_line line = {0};
    assay_error error;
    assert_int_equal(profile->source->read_column(profile->source, profile, column, &line, &error), ASSAY_OK);
    for (uint32_t i = 0; i < line.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%u=%g", i ? " " : "", line.at[i], line.values[i]);
    as_sparse_line_free(&line);
    assert_string_equal(got, expected);
}

/* "0.1: 10/0 20/2": times and contexts of a line. */
static void assert_line(const opened *o, size_t index, const char *expected) {
    const as_trace_line *line = as_trace_line_at(&o->ds->traces, index);
    char got[256];
    as_trace_sample samples[8];
    assay_error error;
    snprintf(got, sizeof got, "%s:", as_ds_text(o->ds, as_ds_location(o->ds, line->location)->source_id));
    assert_true(line->n <= 8);
    assert_int_equal(as_trace_read(o->ds, line, 0, (size_t)line->n, samples, &error), ASSAY_OK);
    for (uint64_t i = 0; i < line->n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), " %llu/%d", (unsigned long long)samples[i].time,
                 (int)samples[i].context);
    assert_string_equal(got, expected);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static const double FIRST[] = {10, 1, 0, 2, 30, 0}, SECOND[] = {7, 0, 8, 9};

static void write_values_of_two(void) {
    bytes a = {.size = 0}, b = {.size = 0};
    add_metric_db(&a, 3, 2, FIRST);
    add_metric_db(&b, 2, 2, SECOND); /* has fewer nodes */
    write_bytes("1.app-000001-000-a8c0-17-0.metric-db", &a);
    write_bytes("1.app-000000-002-A8C0-16-0.metric-db", &b);
}

static void values_of_threads(void **state) {
    (void)state;
    opened o;
    write_values_of_two();
    write_temporary("notes.txt", "x", 1);
    open_companions(&o);
    assert_int_equal(as_hpc_companions_nodes(o.companions), 3);
    assert_true(as_hpc_companions_node_has_values(o.companions, 3));
    assert_false(as_hpc_companions_node_has_values(o.companions, 0));
    assert_false(as_hpc_companions_node_has_values(o.companions, 4));
    attach_companions(&o);
    assert_int_equal(o.ds->problems.count, 0);
    assert_int_equal(o.ds->runs.count, 1);
    assert_int_equal(as_ds_leaves(o.ds), 2);
    assert_int_equal(as_ds_values(o.ds), 7); /* of ten, three are zeros */
    assert_row(&o, 0, 0, "0.2:7 1.0:10");
    assert_row(&o, 0, 1, "0.2:8");
    assert_row(&o, 0, 2, "1.0:30");
    assert_row(&o, 1, 1, "0.2:9 1.0:2");
    assert_row(&o, 1, 2, "");
    assert_column(&o, 0, 0, "0=7 1=8");
    assert_column(&o, 0, 1, "0=10 2=30");
    assert_column(&o, 1, 1, "0=1 1=2");
    close_companions(&o);
}

static void traces_of_threads(void **state) {
    (void)state;
    bytes old = {.size = 0}, new = {.size = 0};
    add_text(&old, "HPCRUN-trace______01.00b");
    add_sample(&old, 10, 40);
    add_sample(&old, 20, 42);
    add_sample(&old, 30, 99); /* nothing of this id */
    add_text(&new, "HPCRUN-trace______01.01b");
    add_big(&new, 1, 8); /* with ids of metrics */
    add_sample(&new, 15, 41);
    add_big(&new, 7, 4);
    add_sample(&new, 5, 40);
    add_big(&new, 7, 4);
    write_bytes("app-000001-000-a8c0-17-0.hpctrace", &old);
    write_bytes("app-000000-001-a8c0-16-0.hpctrace", &new);
    opened o;
    open_companions(&o);
    attach_companions(&o);
    assert_int_equal(o.ds->problems.count, 0);
    assert_int_equal(as_ds_events(o.ds), 5);
    assert_true(o.ds->traces.ticks_per_second == 1e6);
    assert_line(&o, 0, "0.1: 5/0 15/1");
    assert_line(&o, 1, "1.0: 10/0 20/2 30/-1");
    close_companions(&o);
}

/* type, count, an entry for each, the pieces, a mark. */
static void write_merged(const char *name, const bytes *pieces, const uint32_t *ranks, unsigned n, bool has_mark) {
    bytes all = {.size = 0};
    uint64_t at = 8 + 16 * n;
    add_big(&all, 3, 4);
    add_big(&all, n, 4);
    for (unsigned i = 0; i < n; i++) {
        add_big(&all, ranks[i], 4);
        add_big(&all, 0, 4);
        add_big(&all, at, 8);
        at += pieces[i].size;
    }
    for (unsigned i = 0; i < n; i++) {
        memcpy(all.data + all.size, pieces[i].data, pieces[i].size);
        all.size += pieces[i].size;
    }
    if (has_mark) add_big(&all, 0xffffffffdeadf00du, 8);
    write_bytes(name, &all);
}

static void merged_files(void **state) {
    (void)state;
    bytes values[2] = {{.size = 0}}, traces[2] = {{.size = 0}};
    static const uint32_t ranks[] = {3, 1};
    add_metric_db(&values[0], 3, 2, FIRST);
    add_metric_db(&values[1], 2, 2, SECOND);
    for (unsigned i = 0; i < 2; i++) {
        add_text(&traces[i], "HPCRUN-trace______01.00b");
        add_sample(&traces[i], 100 + i, 40 + i);
    }
    for (unsigned has_mark = 0; has_mark < 2; has_mark++) {
        write_merged("experiment-1.mdb", values, ranks, 2, has_mark);
        write_merged("experiment.mt", traces, ranks, 2, true);
        opened o;
        open_companions(&o);
        attach_companions(&o);
        assert_int_equal(o.ds->problems.count, 0);
        assert_int_equal(as_ds_leaves(o.ds), 2);
        assert_row(&o, 0, 0, "1.0:7 3.0:10");
        assert_line(&o, 0, "1.0: 101/1");
        assert_line(&o, 1, "3.0: 100/0");
        assert_int_equal(as_ds_events(o.ds), 2);
        close_companions(&o);
    }
    /* Those of rank 3 are copies of this one. */
    write_bytes("app-000003-000-a8c0-17-0.metric-db", &values[0]);
    opened o;
    open_companions(&o);
    attach_companions(&o);
    assert_row(&o, 0, 0, "1.0:7 3.0:10");
    close_companions(&o);
}

/* Processes that knew nothing of each other are all of rank 0. */
static void several_of_one_rank(void **state) {
    (void)state;
    bytes a = {.size = 0}, b = {.size = 0}, trace = {.size = 0};
    add_metric_db(&a, 3, 2, FIRST);
    add_metric_db(&b, 2, 2, SECOND);
    add_text(&trace, "HPCRUN-trace______01.00b");
    add_sample(&trace, 1, 40);
    write_bytes("app-000000-000-a8c0-16-0.metric-db", &a);
    write_bytes("app-000000-000-a8c0-17-0.metric-db", &b);
    write_bytes("app-000000-000-a8c0-16-0.hpctrace", &trace);
    write_bytes("app-000000-000-a8c0-17-0.hpctrace", &trace);
    opened o;
    open_companions(&o);
    attach_companions(&o);
    assert_int_equal(as_ds_leaves(o.ds), 2);
    assert_row(&o, 0, 0, "0.0:10 0.0:7");
    assert_int_equal(as_trace_line_count(&o.ds->traces), 2);
    close_companions(&o);
}

/* What is damaged is left out, with a warning; the rest is there. */
static void damaged_files(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t at, size; /* a byte that changes (0: none), and how long the file is then (0: as before) */
        unsigned char byte;
    } all[] = {
        {"1.app-000001-000-a8c0-17-0.metric-db", 1, 0, 'X'},   {"1.app-000001-000-a8c0-17-0.metric-db", 19, 0, '9'},
        {"1.app-000001-000-a8c0-17-0.metric-db", 23, 0, 'l'},  {"1.app-000001-000-a8c0-17-0.metric-db", 24, 0, 0xff},
        {"1.app-000001-000-a8c0-17-0.metric-db", 0, 79, 0},    {"1.app-000001-000-a8c0-17-0.metric-db", 0, 31, 0},
        {"1.app-000001-000-a8c0-17-0.metric-db", 0, 5, 0},     {"1.app-17-0.metric-db", 0, 0, 0},
        {"1.app-99999999999-000-a8c0-17-0.metric-db", 0, 0, 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bytes good = {.size = 0}, bad = {.size = 0};
        add_metric_db(&good, 2, 2, SECOND);
        add_metric_db(&bad, 3, 2, FIRST);
        if (all[i].at) bad.data[all[i].at] = all[i].byte;
        if (all[i].size) bad.size = all[i].size;
        write_bytes("1.app-000000-000-a8c0-16-0.metric-db", &good);
        write_bytes(all[i].name, &bad);
        opened o;
        open_companions(&o);
        attach_companions(&o);
        if (count_problems(o.ds, "companion", NULL) != 1) fail_msg("no warning: %zu", i);
        assert_int_equal(as_ds_leaves(o.ds), 1);
        assert_row(&o, 0, 0, "0.0:7");
        close_companions(&o);
        remove(temporary_path(all[i].name));
    }
}

static void damaged_merged_files(void **state) {
    (void)state;
    bytes values[2] = {{.size = 0}};
    static const uint32_t ranks[] = {3, 1};
    add_metric_db(&values[0], 3, 2, FIRST);
    add_metric_db(&values[1], 2, 2, SECOND);
    for (unsigned damage = 0; damage < 4; damage++) {
        write_merged("experiment-1.mdb", values, ranks, 2, true);
        FILE *file = fopen(temporary_path("experiment-1.mdb"), "r+b");
        assert_non_null(file);
        static const long at[] = {4, 8, 16,
                                  39}; /* the count, the first rank, the first offset, the second's last byte */
        fseek(file, at[damage], SEEK_SET);
        fputc(0xfe, file);
        fclose(file);
        opened o;
        open_companions(&o);
        attach_companions(&o);
        if (!count_problems(o.ds, "companion", NULL)) fail_msg("no warning: %u", damage);
        close_companions(&o);
    }
}

/* However they are cut, nothing is read beyond the end. */
static void truncations(void **state) {
    (void)state;
    bytes values = {.size = 0}, trace = {.size = 0};
    add_metric_db(&values, 3, 2, FIRST);
    add_text(&trace, "HPCRUN-trace______01.01b");
    add_big(&trace, 1, 8);
    add_sample(&trace, 15, 41);
    add_big(&trace, 7, 4);
    for (size_t size = 0; size <= values.size; size++) {
        unsigned char *cut = malloc(size ? size : 1);
        const char *problem;
        as_companion_values read;
        memcpy(cut, values.data, size);
        assert_int_equal(as_companion_read_values(cut, size, &read, &problem), size == values.size);
        free(cut);
    }
    for (size_t size = 0; size <= trace.size; size++) {
        unsigned char *cut = malloc(size ? size : 1);
        const char *problem;
        as_companion_trace read;
        memcpy(cut, trace.data, size);
        bool is_fine = as_companion_read_trace(cut, size, &read, &problem);
        assert_int_equal(is_fine, size >= 32);
        if (is_fine) assert_int_equal(read.n, size == trace.size);
        free(cut);
    }
}

static void no_companions(void **state) {
    (void)state;
    opened o;
    open_companions(&o);
    attach_companions(&o);
    assert_int_equal(as_hpc_companions_nodes(o.companions), 0);
    assert_int_equal(as_ds_leaves(o.ds), 0);
    assert_int_equal(o.ds->profiles.count, 0);
    assert_int_equal(o.ds->problems.count, 0);
    close_companions(&o);
}

int main(void) {
#define FOLDER_TEST(name) cmocka_unit_test_setup_teardown(name, make_temporary_folder, remove_temporary_folder)
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(values_of_threads),   FOLDER_TEST(traces_of_threads), FOLDER_TEST(merged_files),
        FOLDER_TEST(several_of_one_rank), FOLDER_TEST(damaged_files),     FOLDER_TEST(damaged_merged_files),
        FOLDER_TEST(truncations),         FOLDER_TEST(no_companions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
