/* The algebra of profiles through the public functions, on two small experiments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "assay/assay.h"
#include "temporary.h"

static const char base[] =
    "PARAMETER p\nPOINTS 1 2\nMETRIC time\nREGION main\nDATA 1\nDATA 3\nREGION main->io\nDATA 5\n"
    "DATA 6\n";
static const char target[] = "PARAMETER p\nPOINTS 1 2\nMETRIC time\nREGION main\nDATA 4\nDATA 8\nREGION main->new\n"
                             "DATA 7\nDATA 9\n";

static assay_dataset *open_text(const char *name, const char *text) {
    assay_dataset *ds;
    assay_error error;
    if (assay_open(write_temporary(name, text, strlen(text)), NULL, &ds, &error) != ASSAY_OK)
        fail_msg("%s", error.message);
    return ds;
}

/* The value of a call path at a point. */
static double value_at(assay_dataset *ds, const char *path, double p) {
    char sql[512];
    snprintf(sql, sizeof sql,
             "select v.value from value v join run r on r.id = v.run join coordinate k on k.point = r.point "
             "join context c on c.id = v.context where c.path = '%s' and k.value = %g",
             path, p);
    assay_query *query;
    assay_error error;
    bool row;
    if (assay_query_open(ds, sql, &query, &error) != ASSAY_OK) fail_msg("%s", error.message);
    assert_int_equal(assay_query_next(query, &row, &error), ASSAY_OK);
    assert_true(row);
    double value = assay_query_double(query, 0);
    assert_int_equal(assay_query_next(query, &row, &error), ASSAY_OK);
    assert_false(row);
    assay_query_close(query);
    return value;
}

static void differences_have_the_sign_of_the_change(void **state) {
    (void)state;
    assay_dataset *a = open_text("a.txt", base), *b = open_text("b.txt", target), *out;
    assay_error error;
    assert_int_equal(assay_diff(a, b, NULL, &out, &error), ASSAY_OK);
    assay_close(a); /* the result stands on its own */
    assay_close(b);
    assert_true(value_at(out, "main", 1) == 3 && value_at(out, "main", 2) == 5);
    assert_true(value_at(out, "main->io", 2) == -6);
    assert_true(value_at(out, "main->new", 1) == 7);
    assay_close(out);
}

static void the_mean_of_two_lies_between_them(void **state) {
    (void)state;
    assay_dataset *parts[] = {open_text("a.txt", base), open_text("b.txt", target)}, *out;
    assay_error error;
    assert_int_equal(assay_mean(parts, 2, NULL, &out, &error), ASSAY_OK);
    assert_true(value_at(out, "main", 1) == 2.5);
    assert_true(value_at(out, "main->io", 1) == 2.5);
    assay_close(out);
    assert_int_equal(assay_merge_profiles(parts, 2, NULL, &out, &error), ASSAY_OK);
    assert_true(value_at(out, "main", 2) == 8); /* the last one has it */
    assay_close(out);
    assert_int_equal(assay_mean(parts, 0, NULL, &out, &error), ASSAY_E_USAGE);
    assert_null(out);
    assay_close(parts[0]);
    assay_close(parts[1]);
}

static void a_part_of_the_tree(void **state) {
    (void)state;
    assay_dataset *a = open_text("a.txt", base), *out;
    assay_error error;
    assert_int_equal(assay_cut(a, (const char *const[]){"io", NULL}, NULL, &out, &error), ASSAY_OK);
    assert_int_equal(assay_count(out, ASSAY_CONTEXTS), 1);
    assert_true(value_at(out, "io", 2) == 6);
    assay_close(out);
    assert_int_equal(assay_cut(a, (const char *const[]){"oi", NULL}, NULL, &out, &error), ASSAY_E_USAGE);
    assert_non_null(strstr(error.message, "oi"));
    assert_null(out);
    assert_int_equal(assay_cut(a, NULL, NULL, &out, NULL), ASSAY_E_USAGE);
    assay_close(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_have_the_sign_of_the_change),
        cmocka_unit_test(the_mean_of_two_lies_between_them),
        cmocka_unit_test(a_part_of_the_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
