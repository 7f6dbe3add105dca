/* The table event: events and the samples of trace lines in one; conditions and orders, and what of a line is read for
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "query/query.h"
#include "temporary.h"
#include "traces.h"

enum { ROOT, MAIN, F };
enum { LONG_LINE = 100000 };

static as_dataset *ds;
static sqlite3 *db;
static line_source *first_line, *odd_line, *long_line;
static as_trace_sample many[LONG_LINE];

/* In order; out of order, with equal times; beyond 63 bits; empty; long. */
static const as_trace_sample plain[] = {{1000, MAIN}, {1010, F}, {1020, ASSAY_NONE}, {1030, ROOT}};
static const as_trace_sample odd[] = {{1015, F}, {1005, MAIN}, {1015, ROOT}};
static const as_trace_sample beyond[] = {
    {INT64_MAX, ROOT}, {(uint64_t)1 << 63, MAIN}, {10000000000000000000u, F}, {UINT64_MAX, ROOT}};

static void add_contexts(void) {
    as_tree tree;
    as_tree_init(&tree, ds);
    static const char *const paths[] = {"root", "root->main", "root->main->f"};
    for (size_t i = 0; i < 3; i++) as_tree_path(&tree, paths[i], strlen(paths[i]));
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
}

static int make_lines(void **state) {
    ds = as_dataset_new(0);
    as_run run = AS_RUN_INIT;
    as_add_run(ds, &run);
    add_contexts();
    ds->traces.ticks_per_second = 100;
    for (uint32_t i = 0; i < LONG_LINE; i++) many[i] = (as_trace_sample){1000 + 2 * i, i % 1000 == 7 ? F : MAIN};
    assay_id places[5];
    for (size_t i = 0; i < 5; i++) places[i] = add_place(ds, "thread", "t");
    first_line = add_line(ds, 0, places[0], plain, 4);
    odd_line = add_line(ds, 0, places[1], odd, 3);
    add_line(ds, 0, places[2], NULL, 0);
    long_line = add_line(ds, 0, places[3], many, LONG_LINE);
    add_line(ds, 0, places[4], beyond, 4);
    assay_error error;
    if (as_sql_open(&ds, NULL, 1, &db, &error) != ASSAY_OK) return -1;
    return make_temporary_folder(state);
}

/* The same behind two events. */
static int make_events(void **state) {
    if (make_lines(state) != 0) return -1;
    as_event region = {.source_id = as_ds_intern_text(ds, "e0"),
                       .name = as_ds_intern_text(ds, "loop"),
                       .kind = as_ds_intern_text(ds, "region"),
                       .run = 0,
                       .location = 1,
                       .context = F,
                       .start = -1,
                       .end = 2,
                       .start_raw = as_cell_int(-5),
                       .end_raw = as_cell_null()};
    as_add_event(ds, &region);
    region.source_id = as_ds_intern_text(ds, "e1");
    region.location = ASSAY_NONE;
    region.context = MAIN;
    region.start = 0.15;
    region.start_raw = as_cell_int(1015);
    as_add_event(ds, &region);
    return 0;
}

static int unmake(void **state) {
    int status = sqlite3_close(db) == SQLITE_OK ? 0 : -1;
    as_dataset_free(ds);
    return remove_temporary_folder(state) || status;
}

/* Rows as text: cells separated by blanks, rows by "; "; the message where it fails. Caller frees. */
static char *ask(const char *sql) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    for (bool first = true; status == SQLITE_OK || status == SQLITE_ROW; first = false) {
        status = sqlite3_step(statement);
        if (status != SQLITE_ROW) break;
        if (!first) fputs("; ", out);
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *cell = (const char *)sqlite3_column_text(statement, i);
            bool is_text = sqlite3_column_type(statement, i) == SQLITE_TEXT;
            fprintf(out, "%s%s%s%s", i ? " " : "", is_text ? "'" : "", cell ? cell : "-", is_text ? "'" : "");
        }
    }
    if (status != SQLITE_DONE) fputs(sqlite3_errmsg(db), out);
    sqlite3_finalize(statement);
    fclose(out);
    return text;
}

static void check(const char *sql, const char *expected) {
    char *got = ask(sql);
    if (strcmp(got, expected) != 0) fail_msg("%s\n  expected %s\n  got      %s", sql, expected, got);
    free(got);
}

/* Whether SQLite sorts by itself. */
static bool sorts(const char *sql) {
    char plan[512];
    snprintf(plan, sizeof plan, "explain query plan %s", sql);
    char *text = ask(plan);
    bool answer = strstr(text, "B-TREE") != NULL;
    free(text);
    return answer;
}

static void samples_are_rows(void **state) {
    (void)state;
    check("select * from event where location = 0",
          "0 - 0 0 1 'main' 'sample' 0.0 - 1000 -; 1 - 0 0 2 'f' 'sample' 0.1 - 1010 -; "
          "2 - 0 0 - - 'sample' 0.2 - 1020 -; 3 - 0 0 0 'root' 'sample' 0.3 - 1030 -");
    check("select id, start_raw, context from event where location = 1", "4 1005 1; 5 1015 2; 6 1015 0");
    check("select count(*), min(id), max(id), count(distinct id), count(source_id) from event",
          "100011 0 100010 100011 0");
    check("select location, count(*) from event group by location", "0 4; 1 3; 3 100000; 4 4");
    check("select start_raw, typeof(start_raw) from event where location = 4 order by id",
          "9223372036854775807 'integer'; '9223372036854775808' 'text'; '10000000000000000000' 'text'; "
          "'18446744073709551615' 'text'");
    check("select count(*) from problem where rule = 'trace-order'", "1");
}

static void conditions_hold(void **state) {
    (void)state;
    check("select location, context from event where id = 6", "1 0");
    check("select location, context from event where rowid = 7", "3 1");
    check("select count(*) from event where id = 100011 or id = -1 or id = 'x'", "0");
    check("select id from event where id = 3.0", "3");
    check("select count(*) from event where context = 2 and location = 3", "100");
    check("select id from event where context is null", "2");
    check("select count(*) from event where run = 1", "0");
    check("select count(*) from event where location = null", "0");
    check("select count(*) from event where source_id = ''", "0");
    check("select id from event where location = 0 and start_raw >= 1010 and start_raw < 1030", "1; 2");
    check("select id from event where location = 0 and start_raw > 1010 and start_raw <= 1030", "2; 3");
    check("select id from event where location = 0 and start_raw between 1009.5 and 1010.5", "1");
    check("select id from event where location = 0 and start_raw = 1020", "2");
    check("select count(*) from event where location = 0 and start_raw < -1", "0");
    check("select count(*) from event where location = 0 and start_raw > -1", "4");
    check("select count(*) from event where location = 0 and start_raw < 'x'", "4");
    check("select id from event where location = 0 and start >= 0.1 and start < 0.3", "1; 2");
    check("select id from event where location = 0 and start = 0.2", "2");
    check("select count(*) from event where location = 0 and start > 1e300", "0");
    check("select count(*) from event where location = 0 and start < 0", "0");
    check("select count(*) from event where location = 0 and start <= 1e300", "4");
    check("select id from event where location = 4 and start_raw > 9223372036854775806",
          "100007; 100008; 100009; 100010");
    check("select id from event where location = 4 and start_raw = 9223372036854775807", "100007");
    check("select id from event where location = 4 and start_raw = '18446744073709551615'", "100010");
    check("select id from event where location = 4 and start_raw >= 1e30", "100008; 100009; 100010");
    check("select count(*) from event where location in (0, 1) and start_raw <= 1015", "5");
}

static void orders_hold(void **state) {
    (void)state;
    assert_false(sorts("select * from event order by id"));
    assert_false(sorts("select * from event order by location, start_raw"));
    assert_false(sorts("select * from event order by location, start"));
    assert_false(sorts("select * from event where location = 3 order by start_raw"));
    assert_false(sorts("select * from event where run = 0 order by run, location, start_raw, id"));
    assert_false(sorts("select count(*) from event group by location"));
    assert_true(sorts("select * from event order by start_raw"));
    assert_true(sorts("select * from event where location = 3 order by start_raw desc"));
    assert_true(sorts("select * from event order by context"));
    check("select id from event where location < 2 order by location, start_raw", "0; 1; 2; 3; 4; 5; 6");
    check("select id from event where location < 2 order by start_raw, id", "0; 4; 1; 5; 6; 2; 3");
    /* numbers, then texts as texts: '1…' before '9…' */
    check("select id from event where location = 4 order by start_raw", "100007; 100009; 100010; 100008");
    check("select id from event where location = 4 and start_raw > 'a' order by start_raw", "");
    check("select id from event where location = 4 order by start", "100007; 100008; 100009; 100010");
}

static void only_what_is_asked_for_is_read(void **state) {
    (void)state;
    check("select count(*) from event where location = 0", "4"); /* prepares: when did it begin? */
    size_t before = long_line->n_given;
    check("select count(*) from event where location = 3 and start_raw between 1000 and 1010", "6");
    check("select context from event where id = 50007", "1");
    check("select count(*) from event where location = 3 and start between 1000 and 1000.1", "6");
    assert_true(long_line->n_given - before < 400);
    before = long_line->n_given;
    check("select count(*) from event where location = 1", "3");
    assert_int_equal(long_line->n_given, before);
}

static void events_come_first(void **state) {
    (void)state;
    check("select id, source_id, location, start, start_raw from event where id < 3",
          "0 'e0' 1 -1.0 -5; 1 'e1' - 0.15 1015; 2 - 0 0.0 1000");
    check("select id from event where location = 1", "0; 6; 7; 8");
    check("select id from event where source_id = 'e1'", "1");
    check("select count(*) from event where source_id = 'e7'", "0");
    check("select id from event where context = 2 and start_raw < 2000", "0; 3; 7; 16");
    check("select id from event where start_raw < 0", "0");
    check("select id from event where start < 0", "0");
    check("select id from event where id = 1", "1");
    check("select start_raw from event where id = 8", "1015");
    assert_true(sorts("select * from event order by location, start_raw"));
    assert_false(sorts("select * from event order by id"));
    check("select id from event where location = 1 order by start_raw, id", "0; 6; 7; 8");
}

static void a_damaged_line_fails_the_statement(void **state) {
    (void)state;
    check("select count(*) from event where location = 0", "4");
    long_line->is_damaged = true;
    check("select count(*) from event where location = 0", "4");
    check("select count(*) from event where location = 3", "trace.db: byte 96: the line is cut off");
    check("select count(*) from event where location = 3 and start_raw < 5", "trace.db: byte 96: the line is cut off");
}

static void a_real_database_has_them_too(void **state) {
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/out.sqlite", temporary_folder);
    assay_error error;
    assert_int_equal(as_sql_export(ds, path, &error), ASSAY_OK);
    sqlite3_close(db);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    check("select count(*), count(distinct id), max(start), sum(context = 2) from event",
          "100013 100013 1.84467440737096e+17 104");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_are_rows, make_lines, unmake),
        cmocka_unit_test_setup_teardown(conditions_hold, make_lines, unmake),
        cmocka_unit_test_setup_teardown(orders_hold, make_lines, unmake),
        cmocka_unit_test_setup_teardown(only_what_is_asked_for_is_read, make_lines, unmake),
        cmocka_unit_test_setup_teardown(events_come_first, make_events, unmake),
        cmocka_unit_test_setup_teardown(a_damaged_line_fails_the_statement, make_lines, unmake),
        cmocka_unit_test_setup_teardown(a_real_database_has_them_too, make_events, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
