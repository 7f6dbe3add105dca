/* Two profiles side by side: what is shown, in which order, with which numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/algebra/compare.h"
#include "profiles.h"

typedef struct pair {
    as_dataset *sides[2];
    as_comparison c;
} pair;

static void open_pair(pair *p, const char *metrics, const char *base, const char *target) {
    static const assay_id run = 0;
    assay_error error;
    p->sides[AS_BASE] = make_profile("0/0 1/0", metrics, base);
    p->sides[AS_TARGET] = make_profile("0/0 1/0", metrics, target);
    assert_int_equal(as_comparison_open((const as_dataset *const *)p->sides, &p->c, &error), ASSAY_OK);
    assert_int_equal(as_comparison_unite(&p->c, AS_MATCH_NAME, &error), ASSAY_OK);
    as_view_source sources[2];
    for (size_t side = 0; side < 2; side++)
        sources[side] = (as_view_source){.ds = p->sides[side], .runs = &run, .n_runs = 1, .point = ASSAY_NONE};
    const assay_id all[] = {0, 1, 2};
    assert_int_equal(as_comparison_load(&p->c, sources, all, p->c.ds->metrics.count, &error), ASSAY_OK);
}

static void close_pair(pair *p) {
    as_comparison_close(&p->c);
    for (size_t side = 0; side < 2; side++) as_dataset_free(p->sides[side]);
}

/* "name base>target(change) self change", a line for each node. */
struct listing {
    const as_comparison *c;
    char text[2048];
};

static bool list(void *user, const as_change_node *node) {
    struct listing *l = user;
    size_t used = strlen(l->text);
    const as_change_value *v = &node->values[0];
    char marks[4] = "";
    if (!node->is_in[AS_BASE]) strcat(marks, "+");
    if (!node->is_in[AS_TARGET]) strcat(marks, "-");
    snprintf(l->text + used, sizeof l->text - used, "%*s%s%s %g>%g(%g) %g\n", 2 * (int)node->depth, "",
             as_ds_text(l->c->ds, node->name), marks, v->inclusive.side[AS_BASE].real,
             v->inclusive.side[AS_TARGET].real, v->inclusive.change.real, v->exclusive.change.real);
    return true;
}

static void assert_walk(const pair *p, as_change_request request, const char *expected, uint64_t small, uint64_t rest) {
    struct listing l = {.c = &p->c};
    as_change_cut cut;
    assay_error error;
    assert_int_equal(as_comparison_walk(&p->c, &request, list, &l, &cut, &error), ASSAY_OK);
    assert_string_equal(l.text, expected);
    assert_int_equal(cut.small, small);
    assert_int_equal(cut.rest, rest);
}

static const char base_tree[] = "main:1 | 50 50\n"
                                "  f:5 | 10 10\n"
                                "    g | 4 4\n"
                                "  old | 3 3\n"
                                "  same | 7 7\n",
                  target_tree[] = "main:1 | 55 55\n"
                                  "  f:6 | 20 20\n"
                                  "    g | 2 2\n"
                                  "  same | 7 7\n"
                                  "  new | 1 1\n";

static void trees(void **state) {
    (void)state;
    pair p;
    open_pair(&p, "time DOUBLE inclusive", base_tree, target_tree);
    as_change_request request = {.order = AS_CHANGE_BY_SIZE, .only_changed = true};
    /* main: 100 - 20 - 6 - 14 = 60 itself before, 110 - 40 - 14 - 2 = 54 after; f: 12 and 36 */
    assert_walk(&p, request,
                "main 100>110(10) -6\n  f 20>40(20) 24\n    g 8>4(-4) -4\n  old- 6>0(-6) -6\n  new+ 0>2(2) 2\n", 1, 0);
    request.min_change = 5;
    assert_walk(&p, request, "main 100>110(10) -6\n  f 20>40(20) 24\n  old- 6>0(-6) -6\n", 3, 0);
    request.min_change = 0.5;
    request.is_relative = true; /* f by 100 %, g by 50 %, old by all of it; new from nothing; main by 10 % itself */
    request.order = AS_CHANGE_BY_RELATIVE;
    assert_walk(&p, request,
                "main 100>110(10) -6\n  new+ 0>2(2) 2\n  f 20>40(20) 24\n    g 8>4(-4) -4\n  old- 6>0(-6) -6\n", 1, 0);
    request = (as_change_request){.order = AS_CHANGE_AS_SOURCE};
    assert_walk(&p, request,
                "main 100>110(10) -6\n  f 20>40(20) 24\n    g 8>4(-4) -4\n  old- 6>0(-6) -6\n  same 14>14(0) 0\n  new+ "
                "0>2(2) 2\n",
                0, 0);
    request.max_rows = 1;
    assert_walk(&p, request, "main 100>110(10) -6\n  f 20>40(20) 24\n", 0, 4);
    close_pair(&p);
}

static void regions_of_one_side(void **state) {
    (void)state;
    pair p;
    open_pair(&p, "time DOUBLE inclusive", base_tree, target_tree);
    static const char *const expected[] = {"old", "new"};
    for (size_t side = 0; side < 2; side++) {
        as_vec only;
        as_vec_init(&only, sizeof(assay_id), NULL);
        assert_true(as_comparison_only_in(&p.c, side, &only));
        assert_int_equal(only.count, 1);
        as_str name = as_ds_context(p.c.ds, AS_AT(assay_id, &only, 0))->name;
        assert_string_equal(as_ds_text(p.c.ds, name), expected[side]);
        as_vec_free(&only);
    }
    as_change whole = as_comparison_whole(&p.c, 0).inclusive;
    assert_true(whole.side[AS_BASE].real == 100 && whole.side[AS_TARGET].real == 110 && whole.change.real == 10);
    close_pair(&p);
}

/* Functions of one name and another: sums over all call paths, recursion counted once, moved ones together. */
static void functions(void **state) {
    (void)state;
    pair p;
    open_pair(&p, "n UINT64 exclusive", "main | 1 1\n  f:5 | 2 2\n    f:5 | 3 3\n  gone | 4 4\n",
              "main | 1 1\n  f:6 | 2 3\n  g | 5 5\n    f:6 | 1 1\n");
    as_change_request request = {.flat = true, .order = AS_CHANGE_BY_SIZE, .only_changed = true};
    /* f: 10 before, 7 after, itself and with all below it */
    assert_walk(&p, request, "g+ 0>12(12) 10\ngone- 8>0(-8) -8\nf 10>7(-3) -3\n", 1, 0);
    request.order = AS_CHANGE_BY_NAME;
    request.only_changed = false;
    assert_walk(&p, request, "f 10>7(-3) -3\ng+ 0>12(12) 10\ngone- 8>0(-8) -8\nmain 20>19(-1) 0\n", 0, 0);
    request.order = AS_CHANGE_BY_SIZE;
    request.max_rows = 2;
    assert_walk(&p, request, "g+ 0>12(12) 10\ngone- 8>0(-8) -8\n", 0, 2);
    close_pair(&p);
}

static void integers_are_exact(void **state) {
    (void)state;
    pair p;
    open_pair(&p, "n UINT64 exclusive", "main | 9007199254740993 0\n", "main | 9007199254740992 0\n");
    as_change change = as_comparison_at(&p.c, 0, 0).inclusive;
    assert_true(change.change.is_whole && change.change.whole == -1);
    assert_true(as_change_relative(&change) < 0);
    close_pair(&p);
}

/* Of minima there is a change only where both sides have one. */
static void minima(void **state) {
    (void)state;
    pair p;
    open_pair(&p, "least MINDOUBLE exclusive", "main | 3 2\n  f | 1 1\n  g | 5 6\n", "main | 1 4\n  g | 4 7\n");
    as_change_value f = as_comparison_at(&p.c, 0, 1), g = as_comparison_at(&p.c, 0, 2);
    assert_true(f.inclusive.side[AS_BASE].is_known && !f.inclusive.side[AS_TARGET].is_known);
    assert_false(f.inclusive.change.is_known);
    assert_true(g.inclusive.change.is_known && g.inclusive.change.real == -1);
    close_pair(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees),     cmocka_unit_test(regions_of_one_side),
        cmocka_unit_test(functions), cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(minima),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
