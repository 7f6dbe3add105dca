/* Datasets that no .cubex would give: places and contexts of other shapes, made into what CubeLib's reader takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataset/build.h"
#include "formats/format.h"
#include "io/tar.h"

/* 0 main, 1 main->a, 2 main->a->b, 3 main->c */
static as_dataset *make_tree(void) {
    static const char *const paths[] = {"main", "main->a", "main->a->b", "main->c"};
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, ds);
    for (size_t i = 0; i < 4; i++) as_tree_path(&tree, paths[i], strlen(paths[i]));
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    as_add_run(ds, &AS_RUN_INIT);
    ds->format = "made";
    return ds;
}

static assay_id add_metric(as_dataset *ds, const char *name, as_metric_kind kind, assay_id parent) {
    as_metric metric = AS_METRIC_INIT;
    metric.name = as_ds_intern_text(ds, name);
    metric.kind = kind;
    metric.parent = parent;
    return as_add_metric(ds, &metric);
}

static assay_id add_location(as_dataset *ds, const char *name, assay_id parent, int64_t rank, bool leaf) {
    as_location location = AS_LOCATION_INIT;
    location.name = as_ds_intern_text(ds, name);
    location.parent = parent;
    location.rank = rank;
    location.leaf = leaf;
    return as_add_location(ds, &location);
}

typedef struct written {
    as_output *out;
    as_input input;
    as_tar *tar;
} written;

static written write_cube(const as_dataset *ds, const char *option, unsigned threads) {
    const char *options[] = {option, NULL};
    written w = {.out = as_output_to_memory(), .input = {.path = "written"}};
    assay_error error;
    if (as_write(ds, as_format_find("cube"), option ? options : NULL, threads, w.out, &error) != ASSAY_OK)
        fail_msg("%s", error.message);
    w.input.data = as_output_memory(w.out, &w.input.size);
    assert_int_equal(as_tar_open(&w.input, NULL, &w.tar, &error), ASSAY_OK);
    return w;
}

static void free_written(written w) {
    as_tar_free(w.tar);
    as_output_discard(w.out);
}

/* anchor.xml from the first `from` to the first `to` behind it, line ends left out. The caller frees it. */
static char *part_of(const as_dataset *ds, const char *from, const char *to) {
    written w = write_cube(ds, NULL, 1);
    const as_tar_member *anchor = as_tar_find(w.tar, "anchor.xml");
    char *text = strndup(anchor->data, anchor->size), *begin = strstr(text, from);
    assert_non_null(begin);
    char *end = strstr(begin, to), *part = calloc(1, strlen(begin) + 1);
    assert_non_null(end);
    size_t n = 0;
    for (const char *at = begin; at < end + strlen(to); at++) {
        if (*at != '\n') part[n++] = *at;
    }
    free(text);
    free_written(w);
    return part;
}

static void assert_part(as_dataset *ds, const char *from, const char *to, const char *expected) {
    char *part = part_of(ds, from, to);
    assert_string_equal(part, expected);
    free(part);
    as_dataset_free(ds);
}

#define LOCATION(id, name, rank)                                                                                       \
    "<location Id=\"" id "\"><name>" name "</name><rank>" rank "</rank><type>thread</type></location>"
#define GROUP(id, name, rank, inside)                                                                                  \
    "<locationgroup Id=\"" id "\"><name>" name "</name><rank>" rank "</rank><type>process</type>" inside               \
    "</locationgroup>"
#define NODE(id, name, class, inside)                                                                                  \
    "<systemtreenode Id=\"" id "\"><name>" name "</name><class>" class "</class>" inside "</systemtreenode>"
#define SYSTEM(inside) "<system>" inside "<topologies></topologies></system>"

static void no_locations(void **state) {
    (void)state;
    as_dataset *ds = make_tree();
    assert_part(ds, "<system>", "</system>",
                SYSTEM(NODE("0", "machine", "machine", GROUP("0", "process", "0", LOCATION("0", "thread", "0")))));
}

static void locations_without_a_tree(void **state) {
    (void)state;
    as_dataset *ds = make_tree();
    add_location(ds, "rank 0", ASSAY_NONE, 0, true);
    add_location(ds, "rank 5", ASSAY_NONE, 5, true);
    assert_part(ds, "<system>", "</system>",
                SYSTEM(NODE("0", "machine", "machine",
                            GROUP("0", "rank 0", "0", LOCATION("0", "rank 0", "0"))
                                GROUP("1", "rank 5", "5", LOCATION("1", "rank 5", "5")))));
}

/* A process at the root, one below a node that has a thread of its own as well, and a node with nothing. */
static void locations_of_all_depths(void **state) {
    (void)state;
    as_dataset *ds = make_tree();
    assay_id node = add_location(ds, "n", ASSAY_NONE, -1, false), empty = add_location(ds, "e", node, -1, false),
             process = add_location(ds, "p", node, 3, false), root = add_location(ds, "r", ASSAY_NONE, -1, false);
    (void)empty;
    add_location(ds, "t", process, -1, true);
    add_location(ds, "u", process, -1, true);
    add_location(ds, "v", node, 7, true);
    add_location(ds, "w", root, 0, true);
    assert_part(ds, "<system>", "</system>",
                SYSTEM(NODE("0", "machine", "machine", GROUP("0", "r", "0", LOCATION("3", "w", "0")))
                           NODE("1", "n", "node",
                                GROUP("1", "p", "3", LOCATION("0", "t", "0") LOCATION("1", "u", "1"))
                                    GROUP("2", "v", "7", LOCATION("2", "v", "7")) NODE("2", "e", "node", ""))));
}

#define REGION(id, name)                                                                                               \
    "<region id=\"" id "\" mod=\"\" begin=\"-1\" end=\"-1\"><name>" name "</name><url></url><descr></descr></region>"

static void contexts_without_their_region(void **state) {
    (void)state;
    as_dataset *ds = make_tree();
    AS_AT(as_context, &ds->contexts, 2).region = ASSAY_NONE;
    AS_AT(as_context, &ds->contexts, 3).name = as_ds_intern_text(ds, "c at line 3");
    AS_AT(as_context, &ds->contexts, 1).line = 12;
    assert_part(
        ds, "<program>", "</program>",
        "<program>" REGION("0", "main") REGION("1", "a") REGION("2", "b") REGION("3", "c") REGION("4", "b")
            REGION("5", "c at line 3") "<cnode id=\"0\" calleeId=\"0\"><cnode id=\"1\" line=\"12\" calleeId=\"1\">"
                                       "<cnode id=\"2\" calleeId=\"4\"></cnode></cnode>"
                                       "<cnode id=\"3\" calleeId=\"5\"></cnode></cnode></program>");
}

static void parameters_keep_their_types(void **state) {
    (void)state;
    static const char ten[] = "0123456789";
    char key[400] = "", type_key[420], expected[1000];
    as_dataset *ds = make_tree();
    for (int i = 0; i < 39; i++) strcat(key, ten); /* however long their names are */
    snprintf(type_key, sizeof type_key, "partype:%s", key);
    as_add_attribute(ds, AS_OWNER_CONTEXT, 3, "phase", as_cell_text("a"));
    as_add_attribute(ds, AS_OWNER_CONTEXT, 3, key, as_cell_text("7"));
    as_add_attribute(ds, AS_OWNER_CONTEXT, 3, type_key, as_cell_text("numeric"));
    snprintf(expected, sizeof expected,
             "<cnode id=\"3\" calleeId=\"3\"><parameter partype=\"string\" parkey=\"phase\" parvalue=\"a\"/>"
             "<parameter partype=\"numeric\" parkey=\"%s\" parvalue=\"7\"/></cnode>",
             key);
    assert_part(ds, "<cnode id=\"3\"", "</cnode>", expected);
}

#define METRIC(id, type, name, dtype, inside)                                                                          \
    "<metric id=\"" id "\" type=\"" type "\"><disp_name>" name "</disp_name><uniq_name>" name                          \
    "</uniq_name><dtype>" dtype "</dtype><uom></uom><url></url><descr></descr>" inside "</metric>"

static void metrics_of_all_kinds(void **state) {
    (void)state;
    as_dataset *ds = make_tree();
    assay_id a = add_metric(ds, "a", AS_KIND_NONE, ASSAY_NONE), b = add_metric(ds, "b", AS_KIND_INCLUSIVE, ASSAY_NONE);
    add_metric(ds, "c", AS_KIND_POINT, a); /* behind b in the table, before it in the document */
    add_metric(ds, "d", AS_KIND_DERIVED, b);
    assert_part(ds, "<metrics>", "</metrics>",
                "<metrics>" METRIC("0", "EXCLUSIVE", "a", "DOUBLE", METRIC("2", "EXCLUSIVE", "c", "DOUBLE", ""))
                    METRIC("1", "INCLUSIVE", "b", "DOUBLE", METRIC("3", "EXCLUSIVE", "d", "DOUBLE", "")) "</metrics>");
}

static void add_values(as_dataset *ds, assay_id metric, as_dtype dtype, uint32_t n_rows, const assay_id *contexts,
                       uint32_t n_columns, const assay_id *columns, const void *values) {
    as_profile profile = {.metric = metric,
                          .type = as_value_type_of(dtype, 0),
                          .n_rows = n_rows,
                          .n_columns = n_columns,
                          .columns = columns,
                          .contexts = contexts,
                          .values = values};
    assert_true(as_add_profile(ds, &profile));
}

/* Three locations, of which the metrics know two, one, and none: what is missing is 0. */
static void rows_with_some_of_the_locations(void **state) {
    (void)state;
    static const assay_id contexts[] = {1, 2, 3}, outer[] = {0, 2};
    static const double values[] = {1, 2, 3, 4, 5, 6}, nowhere[] = {7, 8, 9};
    as_dataset *ds = make_tree();
    for (int i = 0; i < 3; i++) add_location(ds, "t", ASSAY_NONE, i, true);
    add_metric(ds, "inclusive", AS_KIND_INCLUSIVE, ASSAY_NONE);
    add_metric(ds, "nowhere", AS_KIND_EXCLUSIVE, ASSAY_NONE);
    add_values(ds, 0, AS_DTYPE_DOUBLE, 3, contexts, 2, outer, values);
    add_values(ds, 1, AS_DTYPE_DOUBLE, 3, contexts, 1, NULL, nowhere);
    written w = write_cube(ds, NULL, 1);
    const as_tar_member *index = as_tar_find(w.tar, "0.index"), *data = as_tar_find(w.tar, "0.data");
    static const uint32_t numbers[] = {1, 2, 3}; /* of a, c and b: children of one context follow each other */
    static const double rows[] = {1, 0, 2, 5, 0, 6, 3, 0, 4}, others[] = {7, 0, 0, 8, 0, 0, 9, 0, 0};
    assert_int_equal(index->size, 22 + 12);
    assert_memory_equal(index->data, "CUBEX.INDEX\1\0\0\0\0\0\1\3\0\0\0", 22);
    assert_memory_equal(index->data + 22, numbers, 12);
    assert_int_equal(data->size, 10 + sizeof rows);
    assert_memory_equal(data->data, "CUBEX.DATA", 10);
    assert_memory_equal(data->data + 10, rows, sizeof rows);
    data = as_tar_find(w.tar, "1.data");
    assert_int_equal(data->size, 10 + sizeof others);
    assert_memory_equal(data->data + 10, others, sizeof others);
    free_written(w);
    as_dataset_free(ds);
}

static void the_type_is_that_of_the_values(void **state) {
    (void)state;
    static const assay_id contexts[] = {0};
    static const int64_t value[] = {-3};
    as_dataset *ds = make_tree();
    assay_id metric = add_metric(ds, "n", AS_KIND_EXCLUSIVE, ASSAY_NONE);
    AS_AT(as_metric, &ds->metrics, metric).dtype = as_ds_intern_text(ds, "UINT8");
    add_values(ds, metric, AS_DTYPE_INT64, 1, contexts, 1, NULL, value);
    assert_part(ds, "<metrics>", "</metrics>", "<metrics>" METRIC("0", "EXCLUSIVE", "n", "INT64", "") "</metrics>");
}

/* Long rows, so that there are several pieces to pack. */
static void packed_bytes_do_not_depend_on_threads(void **state) {
    (void)state;
    enum { COLUMNS = 100000 };
    static const assay_id contexts[] = {0, 1, 2, 3};
    assay_id *columns = malloc(COLUMNS * sizeof *columns);
    double *values = malloc(4 * COLUMNS * sizeof *values);
    as_dataset *ds = make_tree();
    for (assay_id i = 0; i < COLUMNS; i++) columns[i] = add_location(ds, "t", ASSAY_NONE, i, true);
    for (size_t i = 0; i < (size_t)4 * COLUMNS; i++) values[i] = (double)(i * i % 1013);
    add_metric(ds, "time", AS_KIND_INCLUSIVE, ASSAY_NONE);
    add_values(ds, 0, AS_DTYPE_DOUBLE, 4, contexts, COLUMNS, columns, values);
    written one = write_cube(ds, "compression=zlib", 1), four = write_cube(ds, "compression=zlib", 4);
    assert_memory_equal(as_tar_find(one.tar, "0.data")->data, "ZCUBEX.DATA\4", 12);
    assert_int_equal(one.input.size, four.input.size);
    assert_memory_equal(one.input.data, four.input.data, one.input.size);
    free_written(one);
    free_written(four);
    as_dataset_free(ds);
    free(columns);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_locations),
        cmocka_unit_test(locations_without_a_tree),
        cmocka_unit_test(locations_of_all_depths),
        cmocka_unit_test(contexts_without_their_region),
        cmocka_unit_test(parameters_keep_their_types),
        cmocka_unit_test(metrics_of_all_kinds),
        cmocka_unit_test(rows_with_some_of_the_locations),
        cmocka_unit_test(the_type_is_that_of_the_values),
        cmocka_unit_test(packed_bytes_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
