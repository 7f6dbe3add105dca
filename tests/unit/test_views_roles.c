/* Views of trees whose contexts have roles: call sites, loops and lines, one root of all, values stored in pairs.
 * Reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/views/view.h"
#include "blocks.h"

/* ---- trees ------------------------------------------------------------------------------------------------------- */

typedef struct thing {
    assay_id parent;
    as_context_role role;
    const char *name, *kind, *module, *file;
    int64_t line;
    bool is_inlined;
    double inclusive, exclusive; /* 0: the source has none */
} thing;

#define NOBODY ASSAY_NONE

/* Things with the same name, kind and place are one region. */
static assay_id region_of(as_dataset *ds, const thing *t) {
    as_region region = AS_REGION_INIT;
    region.name = as_ds_intern_text(ds, t->name);
    region.kind = as_ds_intern_text(ds, t->kind);
    if (t->module) region.module = as_ds_intern_text(ds, t->module);
    if (t->file) region.file = as_ds_intern_text(ds, t->file);
    region.line_begin = t->line;
    for (assay_id id = 0; id < AS_COUNT(ds, regions); id++) {
        const as_region *known = as_ds_region(ds, id);
        if (known->name == region.name && known->file == region.file && known->line_begin == region.line_begin)
            return id;
    }
    return as_add_region(ds, &region);
}

static void add_values(as_dataset *ds, assay_id metric, const thing *things, size_t n, bool exclusive) {
    row rows[64];
    size_t used = 0;
    for (assay_id i = 0; i < n; i++) {
        double value = exclusive ? things[i].exclusive : things[i].inclusive;
        if (value != 0) rows[used++] = (row){.context = i, .run = 0, .location = ASSAY_NONE, .r = value};
    }
    add_block(ds, metric, 0, AS_DTYPE_DOUBLE, rows, used);
}

/* Things come in pre-order: their numbers are those of the contexts. */
static as_dataset *dataset_of(const thing *things, size_t n) {
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, ds);
    for (assay_id i = 0; i < n; i++) {
        as_context context = AS_CONTEXT_INIT;
        context.name = as_ds_intern_text(ds, things[i].name);
        context.parent = things[i].parent;
        context.role = (uint8_t)things[i].role;
        context.is_inlined = things[i].is_inlined;
        if (things[i].kind) context.region = region_of(ds, &things[i]);
        assert_int_equal(as_tree_add(&tree, &context), i);
    }
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    for (assay_id i = 0; i < n; i++) assert_int_equal(ids[i], i);
    as_tree_free(&tree);
    as_add_run(ds, &AS_RUN_INIT);
    as_metric inclusive = AS_METRIC_INIT, exclusive = AS_METRIC_INIT;
    inclusive.kind = AS_KIND_INCLUSIVE;
    exclusive.kind = AS_KIND_EXCLUSIVE;
    inclusive.is_stored = exclusive.is_stored = true;
    inclusive.exclusive = 1;
    exclusive.part_of = 0;
    assert_int_equal(as_add_metric(ds, &inclusive), 0);
    assert_int_equal(as_add_metric(ds, &exclusive), 1);
    add_values(ds, 0, things, n, false);
    add_values(ds, 1, things, n, true);
    return ds;
}

/* main calls f in a loop, f itself again; g is put in place in main, which has a call site nobody was called from. */
static const thing program[] = {{NOBODY, AS_ROLE_CALL, "<root>", "root", NULL, NULL, -1, false, 31, 0},
                                {0, AS_ROLE_CALL, "main", "function", "app", "a.c", 1, false, 31, 17},
                                {1, AS_ROLE_INNER, "loop at a.c:3", "loop", NULL, "a.c", 3, false, 13, 1},
                                {2, AS_ROLE_CALL_SITE, "call a.c:4", "call", NULL, "a.c", 4, false, 12, 0},
                                {3, AS_ROLE_CALL, "f", "function", "lib", "b.c", 10, false, 12, 4},
                                {4, AS_ROLE_INNER, "line b.c:11", "line", NULL, "b.c", 11, false, 4, 4},
                                {4, AS_ROLE_CALL_SITE, "call b.c:12", "call", NULL, "b.c", 12, false, 8, 0},
                                {6, AS_ROLE_CALL, "f", "function", "lib", "b.c", 10, false, 8, 8},
                                {7, AS_ROLE_INNER, "line b.c:11", "line", NULL, "b.c", 11, false, 8, 8},
                                {2, AS_ROLE_INNER, "line a.c:5", "line", NULL, "a.c", 5, false, 1, 1},
                                {1, AS_ROLE_CALL_SITE, "call a.c:6", "call", NULL, "a.c", 6, false, 2, 0},
                                {10, AS_ROLE_CALL, "g", "function", "app", "a.c", 20, true, 2, 2},
                                {11, AS_ROLE_INNER, "line a.c:21", "line", NULL, "a.c", 21, false, 2, 2},
                                {1, AS_ROLE_CALL_SITE, "call a.c:7", "call", NULL, "a.c", 7, false, 16, 16},
                                {NOBODY, AS_ROLE_PLACELESS, "<context 99>", NULL, NULL, NULL, -1, false, 100, 100}};
enum { N_PROGRAM = sizeof program / sizeof *program };

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

struct shown {
    const as_dataset *ds;
    char text[4000];
    size_t size;
};

static void put(struct shown *s, const char *format, const char *text) {
    s->size += (size_t)snprintf(s->text + s->size, sizeof s->text - s->size, format, text);
}

static void put_number(struct shown *s, as_view_number number) {
    char text[AS_NUMBER_SIZE] = "-";
    if (number.is_known) as_real_format(number.real, text);
    put(s, " %s", text);
}

/* "  name inclusive exclusive", "@" and the call site, "!" for calls, "~" for what was put in place, "*" for what is
 * hot. */
static bool put_node(void *user, const as_view_node *node) {
    struct shown *s = user;
    s->size += (size_t)snprintf(s->text + s->size, sizeof s->text - s->size, "%*s", 2 * (int)node->depth, "");
    const char *name = as_ds_text(s->ds, node->name);
    put(s, "%s", name ? name : "?");
    put_number(s, node->values[0].inclusive);
    put_number(s, node->values[0].exclusive);
    if (node->call_site != ASSAY_NONE) put(s, " @%s", as_ds_text(s->ds, as_ds_context(s->ds, node->call_site)->name));
    put(s, "%s", node->level == AS_LEVEL_CALL ? " !" : "");
    put(s, "%s", node->is_inlined ? " ~" : "");
    put(s, "%s\n", node->is_hot ? " *" : "");
    return true;
}

static as_view_cut check(const as_dataset *ds, as_view_request request, const char *expected) {
    static const assay_id run = 0, metric = 0;
    as_view_source source = {.ds = ds, .runs = &run, .n_runs = 1, .point = ASSAY_NONE};
    as_view_data data;
    as_view_cut cut;
    assay_error error;
    struct shown *shown = calloc(1, sizeof *shown);
    shown->ds = ds;
    assert_int_equal(as_view_load(&source, &metric, 1, NULL, 0, &data, &error), ASSAY_OK);
    assert_true(data.columns[0].whole == as_view_whole(&data, 0).inclusive.real);
    assert_int_equal(as_view_walk(&data, &request, put_node, shown, &cut, &error), ASSAY_OK);
    assert_string_equal(shown->text, expected);
    as_view_data_free(&data);
    free(shown);
    return cut;
}

#define REQUEST(by, ...) ((as_view_request){.order = (by), __VA_ARGS__})

/* ---- top-down ---------------------------------------------------------------------------------------------------- */

static void callees_take_the_place_of_call_sites(void **state) {
    (void)state;
    as_dataset *ds = dataset_of(program, N_PROGRAM);
    check(ds, REQUEST(AS_SORT_SOURCE, .kind = AS_VIEW_TOP_DOWN),
          "<root> 31 - *\n"
          "  main 31 17 *\n"
          "    loop at a.c:3 13 1\n"
          "      f 12 4 @call a.c:4\n"
          "        line b.c:11 4 4\n"
          "        f 8 8 @call b.c:12\n"
          "          line b.c:11 8 8\n"
          "      line a.c:5 1 1\n"
          "    g 2 2 @call a.c:6 ~\n"
          "      line a.c:21 2 2\n"
          "    call a.c:7 16 16 *\n"); /* 16 of 31 is more than half */
    as_view_cut cut = check(ds, REQUEST(AS_SORT_SOURCE, .without_root = true, .max_levels = 1), "main 31 17 *\n");
    assert_int_equal(cut.deep, 9); /* call sites are no nodes */
    as_dataset_free(ds);
}

static void the_hot_path_ends_where_asked(void **state) {
    (void)state;
    as_dataset *ds = dataset_of(program, N_PROGRAM);
    check(ds, REQUEST(AS_SORT_SOURCE, .only_hot = true, .hot_threshold = 0.9), "<root> 31 - *\n  main 31 17 *\n");
    check(ds, REQUEST(AS_SORT_SOURCE, .only_hot = true, .without_root = true, .hot_threshold = 1), "main 31 17 *\n");
    check(ds, REQUEST(AS_SORT_SOURCE, .only_hot = true, .without_root = true), "main 31 17 *\n  call a.c:7 16 16 *\n");
    as_dataset_free(ds);
}

/* As in databases whose lines call: root, main, line 4 with nothing of its own calls h, line 9 calls k and has 3, line
 * 0 nobody knows. */
static const thing lines[] = {{NOBODY, AS_ROLE_CALL, "<root>", "root", NULL, NULL, -1, false, 14, 0},
                              {0, AS_ROLE_CALL, "main", "function", "app", "a.c", 1, false, 14, 5},
                              {1, AS_ROLE_INNER, "line a.c:4", "line", NULL, "a.c", 4, false, 4, 0},
                              {2, AS_ROLE_CALL, "h", "function", NULL, NULL, 0, false, 4, 4},
                              {1, AS_ROLE_INNER, "line a.c:9", "line", NULL, "a.c", 9, false, 8, 3},
                              {4, AS_ROLE_CALL, "k", "function", "app", "a.c", 40, false, 5, 5},
                              {1, AS_ROLE_INNER, "line a.c:0", "line", NULL, "a.c", 0, false, 2, 2}};
enum { N_LINES = sizeof lines / sizeof *lines };

static void lines_that_only_call(void **state) {
    (void)state;
    as_dataset *ds = dataset_of(lines, N_LINES);
    check(ds, REQUEST(AS_SORT_SOURCE, .without_root = true),
          "main 14 5 *\n"
          "  line a.c:4 4 -\n"
          "    h 4 4\n"
          "  line a.c:9 8 3 *\n"
          "    k 5 5 *\n"
          "  line a.c:0 2 2\n");
    check(ds, REQUEST(AS_SORT_SOURCE, .without_root = true, .joins_calls = true),
          "main 14 5 *\n"
          "  h 4 4 @line a.c:4\n"
          "  line a.c:9 8 3 *\n"
          "    k 5 5 *\n");
    check(ds, REQUEST(AS_SORT_SOURCE, .kind = AS_VIEW_FLAT, .group = AS_GROUP_SCOPE, .joins_calls = true),
          "app 14 10 *\n" /* main 5 and k 5 */
          "  a.c 14 10 *\n"
          "    main 14 5 *\n"
          "      h 4 - @line a.c:4 !\n"
          "      line a.c:9 8 3 *\n"
          "        k 5 - !\n"
          "    k 5 5\n"
          "? 4 4\n" /* neither module nor file are known */
          "  ? 4 4\n"
          "    h 4 4\n");
    as_dataset_free(ds);
}

/* ---- bottom-up --------------------------------------------------------------------------------------------------- */

static void callers_are_functions(void **state) {
    (void)state;
    as_dataset *ds = dataset_of(program, N_PROGRAM);
    check(ds, REQUEST(AS_SORT_EXCLUSIVE, .kind = AS_VIEW_BOTTOM_UP),
          "main 31 17 *\n"
          "f 12 12\n" /* the inner f is inside the outer one */
          "  f 8 8\n"
          "    main 8 8\n"
          "  main 12 4\n"
          "g 2 2 ~\n"
          "  main 2 2\n");
    as_dataset_free(ds);
}

/* What was put in place, and whose values its function has as well: main has 6 itself, of which 4 are of the inlined
 * p. */
static const thing pieces[] = {{NOBODY, AS_ROLE_CALL, "<root>", "root", NULL, NULL, -1, false, 6, 0},
                               {0, AS_ROLE_CALL, "main", "function", "app", "a.c", 1, false, 6, 6},
                               {1, AS_ROLE_INNER, "p", "function", "app", "p.h", 2, true, 4, 4},
                               {2, AS_ROLE_INNER, "line p.h:3", "line", NULL, "p.h", 3, false, 4, 4},
                               {1, AS_ROLE_INNER, "line a.c:2", "line", NULL, "a.c", 2, false, 2, 2}};

static void pieces_put_in_place(void **state) {
    (void)state;
    as_dataset *ds = dataset_of(pieces, 5);
    check(ds, REQUEST(AS_SORT_SOURCE, .kind = AS_VIEW_BOTTOM_UP), "main 6 6 *\np 4 4 ~\n  main 4 4\n");
    check(ds, REQUEST(AS_SORT_SOURCE, .kind = AS_VIEW_FLAT, .group = AS_GROUP_REGION), "main 6 6\np 4 4 ~\n");
    /* The file p.h would take 4 from a.c */
    check(ds, REQUEST(AS_SORT_SOURCE, .kind = AS_VIEW_FLAT, .group = AS_GROUP_FILE), "a.c 6 6\n");
    check(ds, REQUEST(AS_SORT_SOURCE, .kind = AS_VIEW_FLAT, .group = AS_GROUP_SCOPE),
          "app 6 6 *\n  a.c 6 6 *\n    main 6 6 *\n      p 4 4 ~ *\n        line p.h:3 4 4 *\n      line a.c:2 2 2\n");
    as_dataset_free(ds);
}

/* ---- flat -------------------------------------------------------------------------------------------------------- */

static void scopes(void **state) {
    (void)state;
    as_dataset *ds = dataset_of(program, N_PROGRAM);
    check(ds, REQUEST(AS_SORT_SOURCE, .kind = AS_VIEW_FLAT, .group = AS_GROUP_SCOPE),
          "app 31 19 *\n" /* main 17 and g 2; g is inside main */
          "  a.c 31 19 *\n"
          "    main 31 17 *\n"
          "      loop at a.c:3 13 1\n"
          "        f 12 - @call a.c:4 !\n"
          "        line a.c:5 1 1\n"
          "      g 2 - @call a.c:6 ! ~\n"
          "      call a.c:7 16 16 *\n"
          "    g 2 2 ~\n"
          "      line a.c:21 2 2\n"
          "lib 12 12\n"
          "  b.c 12 12\n"
          "    f 12 12\n"
          "      line b.c:11 12 12\n" /* neither line is inside the other */
          "      f 8 - @call b.c:12 !\n");
    check(ds, REQUEST(AS_SORT_INCLUSIVE, .kind = AS_VIEW_FLAT, .group = AS_GROUP_SCOPE, .max_levels = 1),
          "app 31 19 *\nlib 12 12\n");
    as_view_cut cut =
        check(ds, REQUEST(AS_SORT_EXCLUSIVE, .kind = AS_VIEW_FLAT, .group = AS_GROUP_SCOPE, .min_share = 0.4),
              "app 31 19 *\n  a.c 31 19 *\n    main 31 17 *\n      call a.c:7 16 16 *\n");
    assert_int_equal(cut.small, 11);
    as_dataset_free(ds);
}

/* One line that calls twelve functions, each twice, and one line that is put in place in all of them. */
static void lines_in_many_places(void **state) {
    enum { N_FUNCTIONS = 12, N_TIMES = 2, N_BEFORE = 3, N_ALL = N_BEFORE + 2 * N_FUNCTIONS * N_TIMES };
    (void)state;
    /* Each function has i + 1 at first and 100 then: 1278 in all, and 5 main itself */
    thing things[N_ALL] = {{NOBODY, AS_ROLE_CALL, "<root>", "root", NULL, NULL, -1, false, 1283, 0},
                           {0, AS_ROLE_CALL, "main", "function", "app", "a.c", 1, false, 1283, 5},
                           {1, AS_ROLE_CALL_SITE, "call a.c:2", "call", NULL, "a.c", 2, false, 1278, 0}};
    char names[N_FUNCTIONS][8], calls[1000] = "", functions[1000] = "", expected[2000];
    for (assay_id i = 0; i < N_FUNCTIONS; i++) snprintf(names[i], sizeof names[i], "f%u", (unsigned)i);
    for (assay_id i = 0; i < N_FUNCTIONS * N_TIMES; i++) {
        assay_id at = N_BEFORE + 2 * i, which = i % N_FUNCTIONS;
        double value = i < N_FUNCTIONS ? which + 1 : 100;
        things[at] = (thing){2, AS_ROLE_CALL, names[which], "function", "lib", "b.c", 10 + which, false, value, value};
        things[at + 1] = (thing){at, AS_ROLE_INNER, "line h.h:5", "line", NULL, "h.h", 5, false, value, value};
    }
    for (unsigned i = 0; i < N_FUNCTIONS; i++) {
        size_t n = strlen(calls), m = strlen(functions);
        snprintf(calls + n, sizeof calls - n, "      f%u %u - @call a.c:2 !\n", i, i + 101);
        snprintf(functions + m, sizeof functions - m, "    f%u %u %u\n      line h.h:5 %u %u\n", i, i + 101, i + 101,
                 i + 101, i + 101);
    }
    snprintf(expected, sizeof expected,
             "app 1283 5\n  a.c 1283 5\n    main 1283 5\n%slib 1278 1278 *\n  b.c 1278 1278 *\n%s", calls, functions);
    as_dataset *ds = dataset_of(things, N_ALL);
    check(ds, REQUEST(AS_SORT_SOURCE, .kind = AS_VIEW_FLAT, .group = AS_GROUP_SCOPE), expected);
    as_dataset_free(ds);
}

static void lists_of_functions(void **state) {
    (void)state;
    as_dataset *ds = dataset_of(program, N_PROGRAM);
    check(ds, REQUEST(AS_SORT_SOURCE, .kind = AS_VIEW_FLAT, .group = AS_GROUP_REGION),
          "main 31 17\nf 12 12\ng 2 2 ~\n");
    check(ds, REQUEST(AS_SORT_SOURCE, .kind = AS_VIEW_FLAT, .group = AS_GROUP_MODULE), "app 31 19\nlib 12 12\n");
    as_view_cut cut =
        check(ds, REQUEST(AS_SORT_EXCLUSIVE, .kind = AS_VIEW_FLAT, .group = AS_GROUP_REGION, .max_first = 2),
              "main 31 17\nf 12 12\n");
    assert_int_equal(cut.rest, 1);
    as_dataset_free(ds);
}

static void names_in_the_tree_of_scopes(void **state) {
    (void)state;
    as_dataset *ds = dataset_of(program, N_PROGRAM);
    bool *wanted = calloc(ds->strings.entries.count + 1, sizeof *wanted);
    wanted[as_find(&ds->strings, "lib", 3)] = wanted[as_find(&ds->strings, "line a.c:5", 10)] = true;
    check(ds, REQUEST(AS_SORT_SOURCE, .kind = AS_VIEW_FLAT, .group = AS_GROUP_SCOPE, .wanted = wanted),
          "app 31 19 *\n"
          "  a.c 31 19 *\n"
          "    main 31 17 *\n"
          "      loop at a.c:3 13 1\n"
          "        line a.c:5 1 1\n"
          "lib 12 12\n");
    free(wanted);
    as_dataset_free(ds);
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

static void paths_leave_out_the_root(void **state) {
    (void)state;
    as_dataset *ds = dataset_of(program, N_PROGRAM);
    as_vec path;
    bool is_whole;
    as_vec_init(&path, 1, NULL);
    assert_true(as_context_path(ds, 4, &path));
    assert_string_equal(path.data, "main->loop at a.c:3->call a.c:4->f");
    assert_true(as_context_path(ds, 1, &path));
    assert_string_equal(path.data, "main");
    assert_true(as_context_path(ds, 0, &path));
    assert_string_equal(path.data, "");
    assert_true(as_context_path(ds, 14, &path));
    assert_string_equal(path.data, "<context 99>");
    assert_true(as_context_path_end(ds, 4, 34, &path, &is_whole));
    assert_true(is_whole);
    assert_string_equal(path.data, "main->loop at a.c:3->call a.c:4->f");
    assert_true(as_context_path_end(ds, 4, 33, &path, &is_whole));
    assert_false(is_whole);
    assert_string_equal(path.data, "ain->loop at a.c:3->call a.c:4->f");
    as_vec_free(&path);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callees_take_the_place_of_call_sites),
        cmocka_unit_test(the_hot_path_ends_where_asked),
        cmocka_unit_test(lines_that_only_call),
        cmocka_unit_test(callers_are_functions),
        cmocka_unit_test(pieces_put_in_place),
        cmocka_unit_test(scopes),
        cmocka_unit_test(lines_in_many_places),
        cmocka_unit_test(lists_of_functions),
        cmocka_unit_test(names_in_the_tree_of_scopes),
        cmocka_unit_test(paths_leave_out_the_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
