/* Tables of several datasets as one: what belongs together, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dataset/unify.h"
#include "profiles.h"

typedef struct united {
    as_dataset *parts[3], *ds;
    as_union u;
} united;

static void unite(united *all, size_t n, as_matching matching) {
    all->ds = as_dataset_new(0);
    assert_true(as_union_init(&all->u, all->ds, (const as_dataset *const *)all->parts, n));
    assert_true(as_unite_metrics(&all->u));
    assert_true(as_unite_locations(&all->u));
    assert_true(as_unite_contexts(&all->u, matching));
    assert_true(as_unite_attributes(&all->u));
}

static void forget(united *all) {
    size_t n = all->u.n;
    as_union_free(&all->u);
    as_dataset_free(all->ds);
    for (size_t k = 0; k < n; k++) as_dataset_free(all->parts[k]);
}

/* Pairs alone are those of the united tree. */
static void assert_pairs(const united *all, as_matching matching) {
    as_dataset *strings = as_dataset_new(0);
    as_union u;
    assert_true(as_union_init(&u, strings, (const as_dataset *const *)all->parts, 2));
    assert_true(as_pair_contexts(&u, matching));
    for (assay_id i = 0; i < all->parts[1]->contexts.count; i++) {
        assay_id mate = u.maps[1].contexts[i], at = all->u.maps[1].contexts[i];
        assay_id expected = ASSAY_NONE;
        for (assay_id k = 0; k < all->parts[0]->contexts.count; k++) {
            if (all->u.maps[0].contexts[k] == at) expected = k;
        }
        assert_int_equal(mate, expected);
    }
    as_union_free(&u);
    as_dataset_free(strings);
}

/* Makes the parts of trees alone and says how contexts of the second go: "0 1 2 …". */
static void unite_trees(united *all, const char *a, const char *b, as_matching matching) {
    *all = (united){.parts = {make_profile("0/0", "", a), make_profile("0/0", "", b)}};
    unite(all, 2, matching);
    assert_pairs(all, matching);
}

static void assert_map(const united *all, size_t k, const char *expected) {
    char text[256] = "";
    for (size_t i = 0; i < all->parts[k]->contexts.count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%u", i ? " " : "", all->u.maps[k].contexts[i]);
    }
    assert_string_equal(text, expected);
}

static void equal_trees_are_one(void **state) {
    (void)state;
    united all;
    static const char tree[] = "main:1\n  solve:10\n    kernel:20@12\n  init:5\nidle\n";
    unite_trees(&all, tree, tree, AS_MATCH_EXACT);
    assert_tree(all.ds, tree);
    assert_map(&all, 0, "0 1 2 3 4");
    assert_map(&all, 1, "0 1 2 3 4");
    assert_int_equal(all.ds->regions.count, 5);
    forget(&all);
}

static void order_does_not_matter_and_new_ones_come_last(void **state) {
    (void)state;
    united all;
    unite_trees(&all, "main:1\n  solve:10\n    kernel:20\n  init:5\n",
                "start:7\nmain:1\n  init:5\n    read:30\n  write:40\n  solve:10\n", AS_MATCH_EXACT);
    assert_tree(all.ds, "main:1\n  solve:10\n    kernel:20\n  init:5\n    read:30\n  write:40\nstart:7\n");
    assert_map(&all, 0, "0 1 2 3");
    assert_map(&all, 1, "6 0 3 4 5 1");
    forget(&all);
}

/* The same function, two lines further down. */
static void moved_lines(void **state) {
    (void)state;
    united all;
    static const char a[] = "main:1\n  solve:10@3\n    kernel:20@11\n",
                      b[] = "main:1\n  solve:12@3\n    kernel:22@13\n";
    unite_trees(&all, a, b, AS_MATCH_NAME);
    assert_tree(all.ds, a);
    assert_map(&all, 1, "0 1 2");
    assert_int_equal(all.ds->regions.count, 3); /* nobody needs the moved ones */
    forget(&all);
    unite_trees(&all, a, b, AS_MATCH_EXACT);
    assert_tree(all.ds, "main:1\n  solve:10@3\n    kernel:20@11\n  solve:12@3\n    kernel:22@13\n");
    assert_map(&all, 1, "0 3 4");
    forget(&all);
}

/* What is equal goes first, wherever it stands; only what is left goes by name. */
static void equal_before_name(void **state) {
    (void)state;
    united all;
    unite_trees(&all, "main\n  f@1\n  f@2\n  f@3\n", "main\n  f@9\n  f@3\n  f@1\n  f@8\n", AS_MATCH_NAME);
    assert_tree(all.ds, "main\n  f@1\n  f@2\n  f@3\n  f@8\n");
    assert_map(&all, 1, "0 2 3 1 4");
    forget(&all);
}

static void twins_stay_two(void **state) {
    (void)state;
    united all;
    unite_trees(&all, "main\n  f:5@1\n    g\n  f:5@1\n    h\n", "main\n  f:5@1\n    h\n", AS_MATCH_NAME);
    assert_tree(all.ds, "main\n  f:5@1\n    g\n    h\n  f:5@1\n    h\n"); /* in their order, whatever is below */
    assert_map(&all, 1, "0 1 3");
    forget(&all);
    unite_trees(&all, "main\n  f:5@1\n", "main\n  f:5@1\n  f:5@1\n", AS_MATCH_EXACT);
    assert_map(&all, 1, "0 1 2");
    forget(&all);
}

static void parameters_tell_apart(void **state) {
    (void)state;
    united all;
    unite_trees(&all, "main\n  step{i=1}\n  step{i=2}\n", "main\n  step{i=2}\n  step{i=3}\n", AS_MATCH_EXACT);
    assert_tree(all.ds, "main\n  step{i=1}\n  step{i=2}\n  step{i=3}\n");
    assert_map(&all, 1, "0 2 3");
    forget(&all);
}

/* Only below pairs: the same function below another caller is another context. */
static void only_below_pairs(void **state) {
    (void)state;
    united all;
    unite_trees(&all, "main\n  a\n    f\n", "main\n  b\n    f\n", AS_MATCH_NAME);
    assert_tree(all.ds, "main\n  a\n    f\n  b\n    f\n");
    forget(&all);
}

static void three_parts_share_what_the_second_brought(void **state) {
    (void)state;
    united all = {.parts = {make_profile("0/0", "", "main\n"), make_profile("0/0", "", "main\n  f:5\n    g:7\n"),
                            make_profile("0/0", "", "main\n  f:6\n    g:7\n")}};
    unite(&all, 3, AS_MATCH_NAME);
    assert_tree(all.ds, "main\n  f:5\n    g:7\n");
    assert_map(&all, 2, "0 1 2");
    assert_int_equal(all.ds->regions.count, 3);
    forget(&all);
}

/* A chain as deep as a stack is not, and a context with many children in reversed order. */
static void deep_and_wide(void **state) {
    (void)state;
    enum { N = 300000 };
    united all = {0};
    for (size_t k = 0; k < 2; k++) {
        as_dataset *ds = all.parts[k] = as_dataset_new(0);
        as_region region = AS_REGION_INIT;
        region.name = as_ds_intern_text(ds, "f");
        as_add_region(ds, &region);
        as_tree tree;
        as_tree_init(&tree, ds);
        as_context context = AS_CONTEXT_INIT;
        context.region = 0;
        for (assay_id i = 0; i < N; i++) {
            context.parent = as_tree_add(&tree, &context); /* each below the one before */
            assert_int_equal(context.parent, i);
        }
        context.parent = 0;
        for (int i = 0; i < N; i++) {
            context.line = k ? N - i : i + 1;
            as_tree_add(&tree, &context);
        }
        const assay_id *ids;
        assert_true(as_tree_finish(&tree, &ids));
        as_tree_free(&tree);
    }
    unite(&all, 2, AS_MATCH_NAME);
    assert_int_equal(all.ds->contexts.count, 2 * N);
    assert_int_equal(all.u.maps[1].contexts[N - 1], N - 1);
    assert_int_equal(all.u.maps[1].contexts[N], 2 * N - 1);
    assert_int_equal(all.u.maps[1].contexts[2 * N - 1], N);
    forget(&all);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static void metrics_by_name(void **state) {
    (void)state;
    united all = {
        .parts = {make_profile("0/0", "time DOUBLE inclusive; time.wait DOUBLE inclusive", "main | 1 | 1\n"),
                  make_profile("0/0", "wait DOUBLE exclusive; wait.late DOUBLE exclusive; time DOUBLE inclusive",
                               "main | 1 | 1 | 1\n")}};
    unite(&all, 2, AS_MATCH_NAME);
    assert_metrics(all.ds, "time DOUBLE inclusive; time.wait DOUBLE inclusive; wait.late DOUBLE exclusive");
    assert_int_equal(all.u.maps[1].metrics[0], 1);
    assert_int_equal(all.u.maps[1].metrics[2], 0);
    assert_true(as_union_drop_metrics(&all.u, (const bool[]){false, true, false}));
    assert_metrics(all.ds, "time DOUBLE inclusive; time.late DOUBLE exclusive"); /* hangs on what was above */
    assert_int_equal(all.u.maps[0].metrics[1], ASSAY_NONE);
    assert_int_equal(all.u.maps[1].metrics[1], 1);
    forget(&all);
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

static void unite_places(united *all, const char *a, const char *b) {
    *all = (united){.parts = {make_profile(a, "", "main\n"), make_profile(b, "", "main\n")}};
    unite(all, 2, AS_MATCH_NAME);
}

static void locations_by_ranks(void **state) {
    (void)state;
    united all;
    unite_places(&all, "0/0 1/0 2/0", "0/0 0/1 1/0 1/1");
    assert_places(all.ds, "node0 0/0 0/1 1/0 1/1 2/0");
    assert_int_equal(all.ds->locations.count, 10); /* a machine, a node, three processes */
    forget(&all);
    unite_places(&all, "0/0 0/1 1/0 1/1", "0/0 1/0 2/0");
    assert_places(all.ds, "node0 0/0 0/1 1/0 1/1 2/0");
    forget(&all);
    /* Elsewhere, in another order, and one more process on a node of its own. */
    unite_places(&all, "alpha 0/0 beta 1/0", "beta 1/0 gamma 0/0 2/0");
    assert_places(all.ds, "alpha 0/0 beta 1/0 gamma 2/0");
    forget(&all);
}

/* Columns need not be in the order of the tree: that of the first part stays. */
static void order_of_the_first_part_stays(void **state) {
    (void)state;
    united all;
    unite_places(&all, "0/0 1/0 0/1 1/1", "0/0 0/1 0/2 1/0 1/1 1/2 2/0");
    assert_places(all.ds, "node0 0/0 1/0 0/1 0/2 1/1 1/2 2/0");
    forget(&all);
}

/* Nothing but the order tells places without ranks apart. */
static void places_of_one_rank_pair_in_order(void **state) {
    (void)state;
    united all;
    unite_places(&all, "0/-1 0/-1", "0/-1 0/-1 0/-1");
    assert_places(all.ds, "node0 0/-1 0/-1 0/-1");
    for (size_t i = 0; i < 2; i++) assert_int_equal(all.u.maps[0].locations[3 + i], all.u.maps[1].locations[3 + i]);
    forget(&all);
}

/* ---- points and attributes --------------------------------------------------------------------------------------- */

static void add_points(as_dataset *ds, const char *first, const char *second, const double *coordinates, size_t n) {
    as_add_parameter(ds, as_ds_intern_text(ds, first));
    as_add_parameter(ds, as_ds_intern_text(ds, second));
    assert_true(as_vec_append(&ds->coordinates, coordinates, 2 * n));
    ds->n_points = n;
}

static void points_by_coordinates(void **state) {
    (void)state;
    united all = {.parts = {make_profile("", "", "main\n"), make_profile("", "", "main\n")}, .ds = as_dataset_new(0)};
    add_points(all.parts[0], "p", "n", (const double[]){4, 10, 2, 10}, 2);
    add_points(all.parts[1], "n", "p", (const double[]){10, 2, 20, 2, -0.0, 2}, 3);
    assert_true(as_same_parameters((const as_dataset *const *)all.parts, 2));
    assert_true(as_union_init(&all.u, all.ds, (const as_dataset *const *)all.parts, 2));
    assert_true(as_unite_points(&all.u));
    assert_int_equal(all.ds->n_points, 4); /* (2,0) (2,10) (2,20) (4,10) */
    assert_string_equal(as_ds_parameter(all.ds, 0), "p");
    static const double expected[] = {2, 0, 2, 10, 2, 20, 4, 10};
    assert_memory_equal(all.ds->coordinates.data, expected, sizeof expected);
    assert_int_equal(all.u.maps[0].points[0], 3);
    assert_int_equal(all.u.maps[0].points[1], 1);
    assert_int_equal(all.u.maps[1].points[0], 1);
    assert_int_equal(all.u.maps[1].points[2], 0);
    as_add_parameter(all.parts[1], as_ds_intern_text(all.parts[1], "third"));
    assert_false(as_same_parameters((const as_dataset *const *)all.parts, 2));
    forget(&all);
}

static void shared_attributes_stay(void **state) {
    (void)state;
    united all = {.parts = {make_profile("0/0", "a DOUBLE exclusive", "main | 1\n"),
                            make_profile("0/0", "b DOUBLE exclusive; a DOUBLE exclusive", "main | 1 | 1\n")}};
    for (size_t k = 0; k < 2; k++) {
        as_add_attribute(all.parts[k], AS_OWNER_DATASET, 0, "tool", as_cell_text("scorep"));
        as_add_attribute(all.parts[k], AS_OWNER_DATASET, 0, "date", as_cell_text(k ? "today" : "yesterday"));
        as_add_attribute(all.parts[k], AS_OWNER_METRIC, 0, "of", as_cell_int((int64_t)k));
        as_add_attribute(all.parts[k], AS_OWNER_METRIC, 1, "of", as_cell_int(2));
    }
    all.parts[0]->attributes.count--; /* it has one metric only */
    unite(&all, 2, AS_MATCH_NAME);
    assert_int_equal(all.ds->attributes.count, 3);
    assert_string_equal(as_ds_text(all.ds, as_ds_attribute(all.ds, 0)->key), "tool");
    for (size_t i = 1; i < 3; i++) { /* of a from the first part, of b from the second */
        const as_attribute *attribute = as_ds_attribute(all.ds, i);
        assert_int_equal(attribute->owner_id, i - 1);
        assert_int_equal(attribute->value.i, i - 1);
    }
    forget(&all);
}

static bool is_number(const as_dataset *ds, size_t i, const char *key, int64_t value) {
    const as_attribute *attribute = as_ds_attribute(ds, i);
    return strcmp(as_ds_text(ds, attribute->key), key) == 0 && attribute->value.type == AS_CELL_INT &&
           attribute->value.i == value;
}

/* So many that a look at each pair of them would take minutes. The same number as text is something else, and what one
 * part says twice stays two. */
static void many_attributes(void **state) {
    (void)state;
    enum { MANY = 300000 };
    united all = {.parts = {make_profile("0/0", "a DOUBLE exclusive", "main | 1\n"),
                            make_profile("0/0", "a DOUBLE exclusive", "main | 1\n"),
                            make_profile("0/0", "a DOUBLE exclusive", "main | 1\n")}};
    for (size_t k = 0; k < 3; k++) {
        as_add_attribute(all.parts[k], AS_OWNER_DATASET, 0, "twice", as_cell_int(1));
        if (k != 1) as_add_attribute(all.parts[k], AS_OWNER_DATASET, 0, "twice", as_cell_int(1));
        as_add_attribute(all.parts[k], AS_OWNER_DATASET, 0, "number", k == 2 ? as_cell_text("7") : as_cell_int(7));
        if (k != 1) as_add_attribute(all.parts[k], AS_OWNER_DATASET, 0, "not in the second", as_cell_int(1));
        for (int64_t i = 0; i < MANY; i++) {
            int64_t value = k == 1 ? MANY - 1 - i : i;
            as_add_attribute(all.parts[k], AS_OWNER_DATASET, 0, "one of many", as_cell_int(value));
        }
    }
    unite(&all, 3, AS_MATCH_NAME);
    assert_int_equal(all.ds->attributes.count, MANY + 2);
    assert_true(is_number(all.ds, 0, "twice", 1) && is_number(all.ds, 1, "twice", 1));
    for (size_t i = 0; i < MANY; i++) assert_true(is_number(all.ds, i + 2, "one of many", (int64_t)i));
    forget(&all);
}

/* Gives regions whose name begins with "process" or "thread" that kind. */
static void name_places(as_dataset *ds) {
    static const char *const kinds[] = {"process", "thread"};
    for (assay_id i = 0; i < ds->regions.count; i++) {
        as_region *region = &AS_AT(as_region, &ds->regions, i);
        for (size_t k = 0; k < 2; k++) {
            if (strncmp(as_ds_text(ds, region->name), kinds[k], strlen(kinds[k])) == 0)
                region->kind = as_ds_intern_text(ds, kinds[k]);
        }
    }
}

/* Numbers of the operating system differ between executions. */
static void processes_and_threads_meet_in_their_order(void **state) {
    (void)state;
    united all = {
        .parts = {make_profile("0/0", "", "process7\n  thread7\n    f\n  thread8\n    f\nprocess9\n  thread9\n    f\n"),
                  make_profile("0/0", "", "process4\n  thread4\n    g\n  thread5\n    f\n  thread6\n    f\n"),
                  make_profile("0/0", "", "process9\n  thread1\n    f\nprocess8\n  thread8\n    f\n")}};
    for (size_t k = 0; k < 3; k++) name_places(all.parts[k]);
    unite(&all, 3, AS_MATCH_EXACT);
    assert_map(&all, 0, "0 1 2 4 5 8 9 10");
    assert_map(&all, 1, "0 1 3 4 5 6 7");
    assert_map(&all, 2, "8 9 10 0 4 5"); /* those of one name first: process9; then thread8 */
    forget(&all);
}

/* A system without ranks: "process 7: thread 7, thread 8; …". */
static as_dataset *make_unranked(const char *const *names) {
    as_dataset *ds = make_profile("", "", "main\n");
    ds->locations.count = 0;
    assay_id parent = ASSAY_NONE;
    for (; *names; names++) {
        char kind[16] = "";
        sscanf(*names, "%15s", kind);
        as_location location = AS_LOCATION_INIT;
        location.leaf = strcmp(kind, "thread") == 0 || strcmp(kind, "stream") == 0;
        location.kind = as_ds_intern_text(ds, kind);
        location.name = as_ds_intern_text(ds, *names);
        location.parent = location.leaf ? parent : ASSAY_NONE;
        assay_id id = as_add_location(ds, &location);
        if (!location.leaf) parent = id;
    }
    return ds;
}

static void assert_unranked(const united *all, size_t k, const char *expected) {
    char text[512] = "";
    for (size_t i = 0; i < all->parts[k]->locations.count; i++) {
        size_t used = strlen(text);
        const as_location *to = as_ds_location(all->ds, all->u.maps[k].locations[i]);
        snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", as_ds_text(all->ds, to->name));
    }
    assert_string_equal(text, expected);
}

static void places_without_ranks(void **state) {
    (void)state;
    static const char *const a[] = {"process 7",      "thread 7", "thread 8",  "process 9", "thread 9",
                                    "device 0 (old)", "stream 7", "stream 13", "stream 14", NULL},
                             *const b[] = {"process 3", "thread 4", "device 0 (new)", "stream 14", "stream 7",
                                           "stream 20", NULL},
                             *const c[] = {"process 9", "thread 9",   "thread 1",   "process 1",
                                           "thread 8",  "thread 100", "thread 101", NULL};
    united all = {.parts = {make_unranked(a), make_unranked(b), make_unranked(c)}};
    unite(&all, 3, AS_MATCH_NAME);
    assert_unranked(
        &all, 0, "process 7, thread 7, thread 8, process 9, thread 9, device 0 (old), stream 7, stream 13, stream 14");
    /* another number, another GPU; streams of one name first, then what is left */
    assert_unranked(&all, 1, "process 7, thread 7, device 0 (old), stream 14, stream 7, stream 13");
    assert_unranked(&all, 2, "process 9, thread 9, thread 1, process 7, thread 8, thread 7, thread 101");
    assert_int_equal(all.ds->locations.count, 11);
    forget(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_trees_are_one),
        cmocka_unit_test(processes_and_threads_meet_in_their_order),
        cmocka_unit_test(order_does_not_matter_and_new_ones_come_last),
        cmocka_unit_test(moved_lines),
        cmocka_unit_test(equal_before_name),
        cmocka_unit_test(twins_stay_two),
        cmocka_unit_test(parameters_tell_apart),
        cmocka_unit_test(only_below_pairs),
        cmocka_unit_test(three_parts_share_what_the_second_brought),
        cmocka_unit_test(deep_and_wide),
        cmocka_unit_test(metrics_by_name),
        cmocka_unit_test(locations_by_ranks),
        cmocka_unit_test(order_of_the_first_part_stays),
        cmocka_unit_test(places_of_one_rank_pair_in_order),
        cmocka_unit_test(places_without_ranks),
        cmocka_unit_test(points_by_coordinates),
        cmocka_unit_test(shared_attributes_stay),
        cmocka_unit_test(many_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
