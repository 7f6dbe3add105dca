/* The tables value, node and summary over sparse profiles: the same rows whichever way they are asked for, and only the
 * lines read that are needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdio.h>

#include "query/query.h"
#include "sparse_files.h"

enum { N_CONTEXTS = 5, N_THREADS = 3 };
enum { INCLUSIVE, EXCLUSIVE };

static const sparse_cell cells[] = {{3, 1, 2}, {1, 0, 10}, {1, 2, 5}, {0, 1, 5.5}, {0, 0, 10}, {4, 0, -1}};
static const sparse_cell own_cells[] = {{1, 0, 9}, {2, 2, 0.25}};

typedef struct fixture {
    as_dataset *ds;
    sqlite3 *db;
    sparse_cells inclusive, exclusive;
} fixture;

static int set_up(void **state) {
    static const assay_id parents[] = {ASSAY_NONE, 0, 1, 1, 0};
    static const char *const names[] = {"<root>", "main", "loop", "solve", "other"};
    fixture *f = calloc(1, sizeof *f);
    assay_error error;
    f->ds = as_dataset_new(0);
    f->inclusive = sparse_of(cells, 6);
    f->exclusive = sparse_of(own_cells, 2);
    add_threads(f->ds, N_THREADS);
    add_tree(f->ds, parents, names, N_CONTEXTS);
    as_add_run(f->ds, &AS_RUN_INIT);
    add_stored(f->ds, "time", AS_KIND_INCLUSIVE);
    add_stored(f->ds, "time", AS_KIND_EXCLUSIVE);
    make_pair(f->ds, INCLUSIVE, EXCLUSIVE);
    add_sparse(f->ds, INCLUSIVE, &f->inclusive);
    add_sparse(f->ds, EXCLUSIVE, &f->exclusive);
    assert_int_equal(as_sql_open(&f->ds, NULL, 1, &f->db, &error), ASSAY_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    sqlite3_close(f->db);
    as_dataset_free(f->ds);
    free(f);
    return 0;
}

/* All rows of a statement, cells parted by blanks and rows by ";". */
static const char *rows_of(fixture *f, const char *statement) {
    static char text[4096];
    size_t at = 0;
    sqlite3_stmt *prepared;
    f->inclusive.n_rows_read = f->inclusive.n_columns_read = 0;
    assert_int_equal(sqlite3_prepare_v2(f->db, statement, -1, &prepared, NULL), SQLITE_OK);
    text[0] = 0;
    while (sqlite3_step(prepared) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(prepared); i++) {
            const char *cell = (const char *)sqlite3_column_text(prepared, i);
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? " " : at ? "; " : "", cell ? cell : "-");
        }
    }
    assert_int_equal(sqlite3_finalize(prepared), SQLITE_OK);
    return text;
}

static void stored_values_are_rows(void **state) {
    fixture *f = *state;
    assert_string_equal(rows_of(f, "select metric, context, location, value from value"),
                        "0 0 0 10.0; 0 0 1 5.5; 0 1 0 10.0; 0 1 2 5.0; 0 3 1 2.0; 0 4 0 -1.0; 1 1 0 9.0; 1 2 2 0.25");
    assert_string_equal(rows_of(f, "select count(*), count(distinct rowid) from value"), "8 8");
    assert_false(as_ds_profile(f->ds, INCLUSIVE, 0)->is_loaded);
}

static void a_context_is_one_row_read(void **state) {
    fixture *f = *state;
    assert_string_equal(rows_of(f, "select location, value from value where context = 1 and metric = 0"),
                        "0 10.0; 2 5.0");
    assert_int_equal(f->inclusive.n_rows_read, 1);
    assert_int_equal(f->inclusive.n_columns_read, 0);
    assert_string_equal(rows_of(f, "select metric, value from value where context = 1 and location = 0"),
                        "0 10.0; 1 9.0");
    assert_int_equal(f->inclusive.n_rows_read, 1);
    assert_string_equal(rows_of(f, "select context, value from value where context in (3, 4, 99) and metric = 0"),
                        "3 2.0; 4 -1.0");
    assert_int_equal(f->inclusive.n_rows_read, 2);
    assert_string_equal(rows_of(f, "select value from value where context = 2 and metric = 0"), "");
    assert_string_equal(rows_of(f, "select value from value where context = 99"), "");
    assert_string_equal(
        rows_of(f, "select v.value from context c join value v on v.context = c.id where c.name = 'solve'"), "2.0");
}

static void a_location_is_one_column_read(void **state) {
    fixture *f = *state;
    assert_string_equal(rows_of(f, "select context, value from value where location = 0 and metric = 0"),
                        "0 10.0; 1 10.0; 4 -1.0");
    assert_int_equal(f->inclusive.n_rows_read, 0);
    assert_int_equal(f->inclusive.n_columns_read, 1);
    assert_string_equal(rows_of(f, "select metric, context, value from value where location = 2"), "0 1 5.0; 1 2 0.25");
    assert_string_equal(
        rows_of(f, "select context from value where location = 0 and metric = 0 order by metric, run, context"),
        "0; 1; 4");
    assert_string_equal(rows_of(f, "select value from value where location = 7"), "");
}

static void either_way_has_the_same_rowids(void **state) {
    fixture *f = *state;
    assert_string_equal(rows_of(f, "select count(*) from (select rowid as r, * from value) v join (select rowid as r, "
                                   "* from value where location = 0) w on v.r = w.r and v.value = w.value"),
                        "4");
}

static void nodes_belong_to_the_inclusive_metric(void **state) {
    fixture *f = *state;
    assert_string_equal(rows_of(f, "select metric, context, inclusive, exclusive from node"),
                        "0 0 15.5 -; 0 1 15.0 9.0; 0 2 - 0.25; 0 3 2.0 -; 0 4 -1.0 -");
    assert_string_equal(rows_of(f, "select inclusive, exclusive from node where context = 1"), "15.0 9.0");
    assert_int_equal(f->inclusive.n_rows_read, 1);
    assert_string_equal(rows_of(f, "select count(*) from node where metric = 1"), "0");
}

static void a_broken_row_ends_the_statement(void **state) {
    fixture *f = *state;
    sqlite3_stmt *prepared;
    f->inclusive.broken_context = 3;
    assert_int_equal(sqlite3_prepare_v2(f->db, "select sum(value) from value", -1, &prepared, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(prepared), SQLITE_CORRUPT);
    assert_non_null(strstr(sqlite3_errmsg(f->db), "cct.db"));
    sqlite3_finalize(prepared);
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

static bool summaries_are_broken;

static assay_status load_summaries(as_summary_source *source, as_dataset *ds, assay_error *error) {
    (void)source;
    as_summary summary = {.metric = 0, .context = 1, .statistic = as_ds_intern_text(ds, "sum")};
    summary.value = as_cell_real(15);
    if (summaries_are_broken) return as_fail(error, ASSAY_E_FORMAT, as_place_file("profile.db"), "x", "is cut off");
    return as_add_summary(ds, &summary) ? ASSAY_OK : as_fail_memory(error, NULL);
}

static void statistics_are_loaded_when_asked_for(void **state) {
    fixture *f = *state;
    as_summary_source source = {load_summaries};
    sqlite3_stmt *prepared;
    f->ds->summary_source = &source;
    summaries_are_broken = true;
    assert_int_equal(sqlite3_prepare_v2(f->db, "select * from summary", -1, &prepared, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(prepared), SQLITE_CORRUPT);
    assert_non_null(strstr(sqlite3_errmsg(f->db), "profile.db"));
    sqlite3_finalize(prepared);
    summaries_are_broken = false;
    assert_string_equal(rows_of(f, "select value from summary where context = 1"), "15.0");
}

static bool count_down(void *user) {
    int *left = user;
    return (*left)-- <= 0;
}

/* The check behind the table problem ends where patience does, and goes on there the next time. */
static void problems_are_not_waited_for_without_end(void **state) {
    fixture *f = *state;
    int left = 0;
    as_patience patience = {count_down, &left};
    sqlite3 *db;
    assay_error error;
    f->exclusive.broken_context = 2;
    assert_int_equal(as_sql_open_patient(f->ds, &patience, &db, &error), ASSAY_OK);
    assert_int_not_equal(sqlite3_exec(db, "select * from problem", NULL, NULL, NULL), SQLITE_OK);
    assert_non_null(strstr(sqlite3_errmsg(db), "interrupted"));
    assert_int_equal(f->inclusive.n_rows_read + f->exclusive.n_rows_read, 0);
    /* Nor is another who checks. */
    pthread_mutex_lock(&f->ds->checking);
    left = 1;
    assert_false(as_ds_check(f->ds, &patience));
    pthread_mutex_unlock(&f->ds->checking);
    assert_int_equal(f->inclusive.n_rows_read + f->exclusive.n_rows_read, 0);
    left = INT_MAX;
    assert_int_equal(sqlite3_exec(db, "select * from problem", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(as_ds_problems(f->ds), 1);
    sqlite3_close(db);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stored_values_are_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_context_is_one_row_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_location_is_one_column_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(either_way_has_the_same_rowids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nodes_belong_to_the_inclusive_metric, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_broken_row_ends_the_statement, set_up, tear_down),
        cmocka_unit_test_setup_teardown(statistics_are_loaded_when_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(problems_are_not_waited_for_without_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
