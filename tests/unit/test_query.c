/* The SQL tables over a dataset with every kind of row, written down by hand; conditions, orders, export, and what a
 * statement may not do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "blocks.h"
#include "query/query.h"
#include "temporary.h"

/* ---- the dataset ------------------------------------------------------------------------------------------------- */

/* 0 main, 1 main->a, 2 main->a->b, 3 main->c */
enum { MAIN, A, B, C };
enum { TIME, BYTES, VISITS };

static as_dataset *ds;
static sqlite3 *db;

static as_str text(const char *value) { return as_ds_intern_text(ds, value); }

static void add_points(void) {
    as_add_parameter(ds, text("p"));
    as_add_parameter(ds, text("n"));
    static const double coordinates[] = {4, 0.5, 8, 0.5, 8, 1e30};
    as_vec_append(&ds->coordinates, coordinates, 6);
    ds->n_points = 3;
    for (assay_id i = 0; i < 4; i++) {
        as_run run = AS_RUN_INIT;
        run.point = i / 2;
        run.repetition = i % 2;
        if (i == 3) {
            run.source_id = text("r3");
            run.source = text("dir/file");
            run.start_time = 1.5e9;
        }
        as_add_run(ds, &run);
    }
    as_run lonely = AS_RUN_INIT;
    as_add_run(ds, &lonely);
}

static void add_entities(void) {
    as_metric time = AS_METRIC_INIT, bytes = AS_METRIC_INIT, visits = AS_METRIC_INIT;
    time.name = text("time");
    time.unit = text("s");
    bytes.name = text("bytes");
    bytes.source_id = text("17");
    bytes.display_name = text("Bytes");
    bytes.dtype = text("UINT64");
    bytes.kind = AS_KIND_EXCLUSIVE;
    bytes.parent = TIME;
    bytes.description = text("moved");
    visits.name = text("visits");
    visits.kind = AS_KIND_INCLUSIVE;
    as_add_metric(ds, &time);
    as_add_metric(ds, &bytes);
    as_add_metric(ds, &visits);
    as_tree tree;
    as_tree_init(&tree, ds);
    static const char *const paths[] = {"main", "main->a", "main->a->b", "main->c"};
    for (size_t i = 0; i < 4; i++) as_tree_path(&tree, paths[i], strlen(paths[i]));
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    as_region *region = &AS_AT(as_region, &ds->regions, 1);
    region->source_id = text("r");
    region->mangled = text("_Za");
    region->kind = text("function");
    region->file = text("a.c");
    region->line_begin = 10;
    region->line_end = 20;
    region->module = text("a.out");
    AS_AT(as_context, &ds->contexts, B).line = 12;
    as_location node = AS_LOCATION_INIT, thread = AS_LOCATION_INIT;
    node.kind = text("node");
    node.name = text("n1");
    as_add_location(ds, &node);
    thread.source_id = text("t0");
    thread.parent = 0;
    thread.rank = 0;
    thread.leaf = true;
    as_add_location(ds, &thread);
    thread.rank = 1;
    as_add_location(ds, &thread);
}

static void add_values(void) {
    static const row time[] = {{MAIN, 0, ASSAY_NONE, {.r = 1}},     {MAIN, 1, ASSAY_NONE, {.r = 3}},
                               {MAIN, 2, ASSAY_NONE, {.r = NAN}},   {A, 0, ASSAY_NONE, {.r = INFINITY}},
                               {A, 2, ASSAY_NONE, {.r = 0.1}},      {A, 3, ASSAY_NONE, {.r = 0.3}},
                               {C, 1, ASSAY_NONE, {.r = -INFINITY}}};
    static const row bytes[] = {{MAIN, 0, 1, {.u = 1}},
                                {MAIN, 0, 2, {.u = 2}},
                                {MAIN, 1, 2, {.u = 7}},
                                {B, 0, 1, {.u = UINT64_MAX - 10}},
                                {B, 1, 1, {.u = 1u << 20}}};
    static const row visits0[] = {{MAIN, 0, 1, {5}}, {A, 0, 1, {3}}, {A, 0, 2, {-1}}},
                     visits1[] = {{MAIN, 4, ASSAY_NONE, {INT64_MIN}}};
    add_block(ds, TIME, ASSAY_NONE, AS_DTYPE_DOUBLE, time, 7);
    add_block(ds, BYTES, ASSAY_NONE, AS_DTYPE_UINT64, bytes, 5);
    add_block(ds, VISITS, 0, AS_DTYPE_INT64, visits0, 3);
    add_block(ds, VISITS, 4, AS_DTYPE_INT64, visits1, 1);
    static const as_series series[] = {{TIME, A, 0, 0}, {TIME, MAIN, 0, 0}, {BYTES, B, 0, 2}};
    as_vec_append(&ds->series, series, 3);
    static const as_measurement stored[] = {{0, BYTES, B, 5, 1, 2, 3, 4, 0.5},
                                            {2, BYTES, B, -1, 7, NAN, NAN, NAN, NAN}};
    as_vec_append(&ds->measurements, stored, 2);
}

static void add_models(void) {
    as_model_set set = {
        .name = text("New"), .modeler = text("basic"), .measure = text("mean"), .raw = AS_NO_STR, .options = AS_NO_STR};
    assay_id id = as_add_model_set(ds, &set);
    as_model model = {.set = id,
                      .metric = TIME,
                      .context = A,
                      .function = text("f"),
                      .RSS = 1,
                      .rRSS = NAN,
                      .nRSS = NAN,
                      .SMAPE = 2.5,
                      .AR2 = 0.5,
                      .RE = INFINITY,
                      .raw = AS_NO_STR};
    as_segment one = {3, -INFINITY, INFINITY}, two[] = {{1, -INFINITY, 4}, {2, 4, INFINITY}};
    as_term terms[] = {
        {.segment = 0, .term = 0, .coefficient = 2, .parameter = 0, .exponent = text("3/2"), .log_exponent = text("1")},
        {.segment = 0, .term = 0, .coefficient = 2, .parameter = 1, .exponent = text("1"), .log_exponent = text("0")}};
    as_add_model(ds, &model, &one, 1, terms, 2);
    model.context = MAIN;
    terms[0].segment = 1;
    as_add_model(ds, &model, two, 2, terms, 1);
}

static void add_rest(void) {
    as_add_summary(
        ds, &(as_summary){.metric = BYTES, .context = B, .statistic = text("sum"), .value = as_cell_uint(UINT64_MAX)});
    as_add_summary(ds,
                   &(as_summary){.metric = TIME, .context = MAIN, .statistic = text("count"), .value = as_cell_int(3)});
    as_event sample = {.source_id = AS_NO_STR,
                       .name = AS_NO_STR,
                       .kind = text("sample"),
                       .run = 0,
                       .location = 1,
                       .context = A,
                       .start = 0.5,
                       .end = NAN,
                       .start_raw = as_cell_uint(UINT64_MAX),
                       .end_raw = as_cell_null()};
    as_event region = {.source_id = text("e1"),
                       .name = text("loop"),
                       .kind = text("region"),
                       .run = 4,
                       .location = ASSAY_NONE,
                       .context = ASSAY_NONE,
                       .start = 1,
                       .end = 2,
                       .start_raw = as_cell_int(100),
                       .end_raw = as_cell_text("200")};
    as_add_event(ds, &sample);
    as_add_event(ds, &region);
    as_table *records = as_add_record_table(ds, "record");
    as_table_add_column(records, "type");
    as_table_add_column(records, "Type"); /* SQLite's names do not differ in case */
    as_table_add_column(records, "odd \"name\"");
    as_table_append(records, (as_cell[]){as_cell_int(0), as_cell_int(3), as_cell_text("mixed"), as_cell_real(NAN),
                                         as_cell_json_n("[1]", 3)});
    as_table_append(records, (as_cell[]){as_cell_int(1), as_cell_int(0), as_cell_null(), as_cell_uint(UINT64_MAX),
                                         as_cell_real(2)});
    as_table *frames = as_add_record_table(ds, "frame");
    as_table_append(frames, (as_cell[]){as_cell_int(0), as_cell_null()});
    as_add_attribute(ds, AS_OWNER_DATASET, 0, "Tool", as_cell_text("x"));
    as_add_attribute(ds, AS_OWNER_METRIC, 1, "tag", as_cell_json_n("{\"a\":1}", 7));
    as_add_attribute(ds, AS_OWNER_CONTEXT, 1, "Tool", as_cell_int(7));
    as_add_problem(ds, AS_WARNING, as_place_line("f.txt", 3, 4), "odd-line", "what");
    as_add_problem(ds, AS_ERROR, as_place_offset("f.txt", 0), "bad-byte", "why");
    as_add_problem(ds, AS_NOTE, AS_NOWHERE, "hint", "so");
}

static int make(void **state) {
    ds = as_dataset_new(0);
    add_points();
    add_entities();
    add_values();
    add_models();
    add_rest();
    assay_error error;
    if (as_sql_open(&ds, NULL, 1, &db, &error) != ASSAY_OK) return -1;
    return make_temporary_folder(state);
}

static int unmake(void **state) {
    int status = sqlite3_close(db) == SQLITE_OK ? 0 : -1;
    as_dataset_free(ds);
    return remove_temporary_folder(state) || status;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static void add(as_vec *out, const char *more) { assert_true(as_vec_append(out, more, strlen(more))); }

static void add_cell(as_vec *out, as_cell cell) {
    char number[AS_NUMBER_SIZE];
    switch (cell.type) {
    case AS_CELL_NULL: add(out, "-"); break;
    case AS_CELL_INT:
        as_int_format(cell.i, number);
        add(out, number);
        break;
    case AS_CELL_REAL: /* marked, to tell 1.0 from 1 */
        as_real_format(cell.r, number);
        add(out, number);
        add(out, "r");
        break;
    default:
        add(out, "'");
        assert_true(as_vec_append(out, cell.text, cell.size));
        add(out, "'");
    }
}

/* All rows: cells separated by blanks, rows by "; ". sqlite's message where it fails. Caller frees. */
static char *ask_of(sqlite3 *connection, const char *sql) {
    as_vec out;
    as_vec_init(&out, 1, NULL);
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL);
    for (bool first = true; status == SQLITE_OK || status == SQLITE_ROW; first = false) {
        status = sqlite3_step(statement);
        if (status != SQLITE_ROW) break;
        if (!first) add(&out, "; ");
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            if (i) add(&out, " ");
            add_cell(&out, as_sql_cell(statement, i));
        }
    }
    if (status != SQLITE_DONE) add(&out, sqlite3_errmsg(connection));
    sqlite3_finalize(statement);
    assert_true(as_vec_append(&out, "", 1));
    return out.data;
}

static void check_of(sqlite3 *connection, const char *sql, const char *expected) {
    char *got = ask_of(connection, sql);
    if (strcmp(got, expected) != 0) fail_msg("%s\n  expected %s\n  got      %s", sql, expected, got);
    free(got);
}

static void check(const char *sql, const char *expected) { check_of(db, sql, expected); }

static void check_same(const char *one, const char *other) {
    char *expected = ask_of(db, other);
    check(one, expected);
    free(expected);
}

/* ---- the tables -------------------------------------------------------------------------------------------------- */

static void entities_are_as_the_dataset_has_them(void **state) {
    (void)state;
    check("select * from parameter", "0 'p'; 1 'n'");
    check("select * from point", "0 '(4,0.5)'; 1 '(8,0.5)'; 2 '(8,1e+30)'");
    check("select * from coordinate", "0 0 4r; 0 1 0.5r; 1 0 8r; 1 1 0.5r; 2 0 8r; 2 1 1e+30r");
    check("select * from run", "0 - 0 0 - -; 1 - 0 1 - -; 2 - 1 0 - -; 3 'r3' 1 1 'dir/file' 1.5e+09r; 4 - - 0 - -");
    check("select * from metric",
          "0 - 'time' - 's' - 'none' - -; 1 '17' 'bytes' 'Bytes' - 'UINT64' 'exclusive' 0 'moved'; "
          "2 - 'visits' - - - 'inclusive' - -");
    check("select * from region", "0 - 'main' - - - - - -; 1 'r' 'a' '_Za' 'function' 'a.c' 10 20 'a.out'; 2 - 'b' - - "
                                  "- - - -; 3 - 'c' - - - - - -");
    check("select * from context", "0 - - 0 'main' 'main' 0 -; 1 - 0 1 'a' 'main->a' 1 -; 2 - 1 2 'b' 'main->a->b' 2 "
                                   "12; 3 - 0 3 'c' 'main->c' 1 -");
    check("select * from location", "0 - - 'node' 'n1' - 0; 1 't0' 0 - - 0 1; 2 't0' 0 - - 1 1");
}

static void numbers_keep_their_types(void **state) {
    (void)state;
    check("select * from value",
          "0 0 0 - 1r; 1 0 0 - 3r; 2 0 0 - -; 0 0 1 - infr; 2 0 1 - 0.1r; 3 0 1 - 0.3r; 1 0 3 - -infr; "
          "0 1 0 1 1; 0 1 0 2 2; 1 1 0 2 7; 0 1 2 1 '18446744073709551605'; 1 1 2 1 1048576; "
          "0 2 0 1 5; 0 2 1 1 3; 0 2 1 2 -1; 4 2 0 - -9223372036854775808");
    check("select * from summary", "1 2 'sum' '18446744073709551615'; 0 0 'count' 3");
    check("select * from event",
          "0 - 0 1 1 - 'sample' 0.5r - '18446744073709551615' -; 1 'e1' 4 - - 'loop' 'region' 1r 2r 100 '200'");
    check("select * from record", "0 3 'mixed' - '[1]'; 1 0 - '18446744073709551615' 2r");
    check("select name from pragma_table_info('record')", "'id'; 'run'; 'type'; 'Type_2'; 'odd \"name\"'");
    check("select * from frame", "0 -");
    check("select * from attribute", "'dataset' 0 'Tool' 'x'; 'metric' 1 'tag' '{\"a\":1}'; 'context' 1 'Tool' 7");
    check("select * from problem", "'warning' 'odd-line' 'f.txt' - 3 4 'what'; 'error' 'bad-byte' 'f.txt' 0 - - 'why'; "
                                   "'note' 'hint' - - - - 'so'");
}

static void models_and_terms(void **state) {
    (void)state;
    check(
        "select * from model",
        "0 'New' 0 1 'basic' 'mean' 'f' 3r 1r - 2.5r 0.5r infr; 1 'New' 0 0 'basic' 'mean' 'f' - 1r - 2.5r 0.5r infr");
    check("select * from term", "0 0 0 2r 0 '3/2' '1'; 0 0 0 2r 1 '1' '0'; 1 1 0 2r 0 '3/2' '1'");
}

/* By hand: a at point 0 has run 0 only (infinite), at point 1 the runs 2 and 3; main at point 0 has 1 and 3, at point 1
 * a NaN. */
static void measurements_are_computed_or_stored(void **state) {
    (void)state;
    check("select point, metric, context, mean, median, minimum, maximum, repetitions from measurement",
          "0 0 1 infr infr infr infr 1; 1 0 1 0.2r 0.2r 0.1r 0.3r 2; 0 0 0 2r 2r 1r 3r 2; 1 0 0 - - - - 1; "
          "0 1 2 1r 2r 3r 4r 5; 2 1 2 7r - - - -");
    check("select std from measurement where context = 0 and point = 0", "1r");
}

/* bytes is exclusive: 3 of main + 2^64 - 11 of b is beyond INT64_MAX; visits is inclusive: 5 - (3 - 1) = 3. */
static void nodes_are_summed(void **state) {
    (void)state;
    check("select * from node where metric = 0 and run = 0", "0 0 0 1r -; 0 0 1 infr -");
    check("select * from node where metric = 1", "0 1 0 '18446744073709551608' 3; 0 1 1 '18446744073709551605' 0; 0 1 "
                                                 "2 '18446744073709551605' '18446744073709551605'; "
                                                 "1 1 0 1048583 7; 1 1 1 1048576 0; 1 1 2 1048576 1048576");
    check("select * from node where metric = 2",
          "0 2 0 5 3; 0 2 1 2 2; 4 2 0 -9223372036854775808 -9223372036854775808");
}

static void an_empty_dataset_has_all_tables(void **state) {
    (void)state;
    as_dataset *empty = as_dataset_new(0);
    sqlite3 *connection;
    assert_int_equal(as_sql_open(&empty, NULL, 1, &connection, NULL), ASSAY_OK);
    static const char *const tables[] = {"parameter", "point",    "coordinate", "run",  "metric",    "region",
                                         "context",   "location", "value",      "node", "summary",   "measurement",
                                         "event",     "record",   "model",      "term", "attribute", "problem"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "select count(*) from %s where rowid = 0 or rowid is not null", tables[i]);
        check_of(connection, sql, "0");
    }
    check_of(connection, "select count(*) from sqlite_master", "18");
    check_of(connection, "select name from pragma_table_info('record')", "'id'; 'run'");
    check_of(connection, "select * from node where run = 0 and metric = 0 and context = 0", "");
    check_of(connection, "select sum(value) from value where run = 0 and metric = 0 and context = 0 and location = 0",
             "-");
    sqlite3_close(connection);
    as_dataset_free(empty);
}

/* ---- conditions and orders --------------------------------------------------------------------------------------- */

/* Values to look for: hits, misses, and what is equal only after conversion. */
static const char *const values[] = {"0",          "1",          "2",      "3",   "9",         "-1",
                                     "4294967295", "4294967296", "1e3",    "1.0", "'1'",       "null",
                                     "'main->a'",  "'a'",        "'Tool'", "'x'", "'context'", "x'61'"};
enum { N_VALUES = sizeof values / sizeof *values };

/* A condition gives what it gives on all rows, taken out first: conditions are not handed down through a LIMIT. */
static void check_condition(const char *table, const char *condition) {
    char one[600], other[600];
    snprintf(one, sizeof one, "select rowid as number, * from %s where %s order by number", table, condition);
    snprintf(other, sizeof other,
             "select * from (select rowid as number, * from %s limit -1 offset 0) where %s order by number", table,
             condition);
    check_same(one, other);
}

static void sets_of_conditions_match_scans(void **state) {
    (void)state;
    static const struct {
        const char *table, *columns[4];
    } cases[] = {{"value", {"run", "metric", "context", "location"}},
                 {"measurement", {"point", "metric", "context"}},
                 {"node", {"run", "metric", "context"}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t n_columns = cases[c].columns[3] ? 4 : 3;
        for (unsigned set = 1; set < 1u << n_columns; set++) {
            for (size_t v = 0; v < 625; v++) { /* all of 0 … 4 in four digits; 4 stands for NULL */
                char condition[256] = "1";
                size_t digits = v;
                for (size_t i = 0; i < n_columns; i++, digits /= 5) {
                    if (!(set & 1u << i)) continue;
                    snprintf(condition + strlen(condition), 60, " and %s = %s", cases[c].columns[i],
                             digits % 5 == 4 ? "null" : values[digits % 5]);
                }
                check_condition(cases[c].table, condition);
            }
        }
    }
}

static void every_column_matches_a_scan(void **state) {
    (void)state;
    sqlite3_stmt *columns;
    assert_int_equal(
        sqlite3_prepare_v2(
            db, "select m.name, i.name from sqlite_master m, pragma_table_info(m.name) i where m.type = 'table'", -1,
            &columns, NULL),
        SQLITE_OK);
    size_t n = 0;
    for (; sqlite3_step(columns) == SQLITE_ROW; n++) {
        char table[64], condition[256];
        snprintf(table, sizeof table, "%s", (const char *)sqlite3_column_text(columns, 0));
        char *column = sqlite3_mprintf("\"%w\"", (const char *)sqlite3_column_text(columns, 1));
        for (size_t v = 0; v < N_VALUES; v++) {
            static const char *const forms[][2] = {
                {"=", ""}, {"is", ""}, {">", ""}, {"=", "collate nocase"}, {"in (2, 'a', null,", ")"}};
            for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
                snprintf(condition, sizeof condition, "%s %s %s %s", column, forms[f][0], values[v], forms[f][1]);
                check_condition(table, condition);
            }
        }
        sqlite3_free(column);
    }
    sqlite3_finalize(columns);
    assert_true(n > 100);
    check("select id from run where rowid = 3 or rowid = 1 or point = 0", "3; 1; 0");
    check("select name from metric where rowid = '1' or rowid = 2.0 or rowid = 7", "'bytes'; 'visits'");
}

static void nothing_is_lost_to_collations(void **state) {
    (void)state;
    check("select id from metric where name = 'BYTES' collate nocase", "1");
    check("select id from context where path = 'MAIN->A' collate nocase", "1");
    check("select id from metric where name = 'BYTES'", "");
}

static void rows_come_in_the_order_asked_for(void **state) {
    (void)state;
    static const char *const orders[] = {
        "metric, context, run, location", "metric, run, context, location",      "metric",
        "context, metric, run, location", "run desc, metric, context, location", "metric desc, context, run, location",
        "location, metric, context, run"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        for (int fixed = 0; fixed < 5; fixed++) {
            static const char *const where[] = {"1", "metric = 1", "metric = 0 and context = 1", "run = 0",
                                                "metric = 2 and run = 0 and context = 1"};
            char one[256], other[256];
            snprintf(one, sizeof one, "select * from value where %s order by %s", where[fixed], orders[i]);
            /* The inner query cannot be ordered from outside: a plain sort of all rows. */
            snprintf(other, sizeof other, "select * from (select * from value limit -1 offset 0) where %s order by %s",
                     where[fixed], orders[i]);
            if (strcmp(orders[i], "metric") != 0) check_same(one, other);
        }
    }
    check_same("select * from node order by metric, run, context",
               "select * from (select * from node limit -1 offset 0) order by metric, run, context");
    check_same("select * from node where metric = 1 order by run, context",
               "select * from (select * from node where +metric = 1 limit -1 offset 0) order by run, context");
    check("select point from measurement where metric = 0 and context = 1 order by point", "0; 1");
    check("select point from measurement where metric = 0 and context = 1 order by point desc", "1; 0");
    check("select metric, count(*) from value group by metric", "0 7; 1 5; 2 4");
    check("select distinct context from value order by context", "0; 1; 2; 3");
    check("select id from context order by id desc", "3; 2; 1; 0");
}

/* In each line of the plan after the first a table must be found by something, not walked from end to end. */
static void joins_look_up_ids(void **state) {
    (void)state;
    static const char *const joins[] = {
        "select p.label, t.name, c.path, m.mean from measurement m join point p on p.id = m.point join metric t on "
        "t.id = m.metric join context c on c.id = m.context",
        "select p.label, t.name, c.path, v.value from value v join run r on r.id = v.run join point p on p.id = "
        "r.point join metric t on t.id = v.metric "
        "join context c on c.id = v.context",
        "select c.point, p.label, a.name, c.value from coordinate c join point p on p.id = c.point join parameter a on "
        "a.id = c.parameter order by c.point, c.parameter",
        "select m.id, t.name, c.path from model m join metric t on t.id = m.metric join context c on c.id = m.context "
        "order by m.id",
        "select t.model, p.name from term t join parameter p on p.id = t.parameter order by t.model, t.segment, t.term",
        "select c.name, p.name from context c left join context p on p.id = c.parent",
        "select m.function, t.exponent from model m left join term t on t.model = m.id",
        "select c.path, a.value from context c left join attribute a on a.owner = 'context' and a.owner_id = c.id",
        "select e.id, l.name from event e left join location l on l.id = e.location",
    };
    for (size_t i = 0; i < sizeof joins / sizeof *joins; i++) {
        sqlite3_stmt *plan;
        char sql[600];
        snprintf(sql, sizeof sql, "explain query plan %s", joins[i]);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &plan, NULL), SQLITE_OK);
        for (int step = 0; sqlite3_step(plan) == SQLITE_ROW;) {
            const char *detail = (const char *)sqlite3_column_text(plan, 3);
            if (strncmp(detail, "SCAN", 4) != 0) continue;
            if (step++ > 0 && strstr(detail, "INDEX 0:"))
                fail_msg("%s\n  walks a table for each row: %s", joins[i], detail);
        }
        sqlite3_finalize(plan);
    }
}

/* ---- several datasets -------------------------------------------------------------------------------------------- */

static void datasets_lie_side_by_side(void **state) {
    (void)state;
    as_dataset *empty = as_dataset_new(0), *both[] = {ds, empty};
    const char *names[] = {"first", "second"};
    sqlite3 *connection;
    assert_int_equal(as_sql_open(both, names, 2, &connection, NULL), ASSAY_OK);
    check_of(connection, "select count(*) from value", "16");
    check_of(connection, "select count(*) from main.value", "16");
    check_of(connection, "select count(*) from first.value", "16");
    check_of(connection, "select count(*) from second.value", "0");
    check_of(connection, "select count(*) from second.frame", "no such table: second.frame");
    sqlite3_close(connection);

    as_dataset *many[40];
    const char *many_names[40];
    for (size_t i = 0; i < 40; i++) {
        many[i] = empty;
        many_names[i] = "x";
    }
    assay_error error;
    assert_int_equal(as_sql_open(many, many_names, 40, &connection, &error), ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "40 datasets"));
    assert_null(connection);
    as_dataset_free(empty);
}

static void names_come_from_paths(void **state) {
    (void)state;
    static const struct {
        const char *path, *name;
    } cases[] = {{"runs/a-1.txt", "a_1"}, {"main.txt", "main_2"}, {"temp", "temp_"},       {"x/known.json", "known_2"},
                 {"KNOWN", "KNOWN_2"},    {"-", "stdin"},         {"order.txt", "order_"}, {"8.txt", "_8"},
                 {"dir/sub/", "sub"},     {"/", "data"},          {".hidden", "_hidden"},  {"a.b.c", "a_b"},
                 {"\xc3\xa9.txt", "__"},  {"", "data"},           {"p16.extra-p", "p16"}};
    char *taken[] = {"known"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name = as_sql_name(cases[i].path, taken, 1);
        assert_string_equal(name, cases[i].name);
        free(name);
    }
    char longer[5000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    char *name = as_sql_name(longer, NULL, 0);
    assert_true(strlen(name) < 64);
    free(name);
}

/* ---- what a statement may do ------------------------------------------------------------------------------------- */

static void statements_cannot_do_harm(void **state) {
    (void)state;
    const char *file = temporary_path("made.db");
    char attach[600], vacuum[600], directory[600];
    snprintf(attach, sizeof attach, "attach '%s' as x", file);
    snprintf(vacuum, sizeof vacuum, "vacuum into '%s'", file);
    snprintf(directory, sizeof directory, "pragma temp_store_directory = '%s'", temporary_folder);
    const char *const refused[] = {
        attach,
        vacuum,
        directory,
        "vacuum",
        "detach main",
        "create table x(a)",
        "create view x as select 1",
        "create virtual table x using assay_value(0)",
        "create virtual table temp.x using assay_value(7)",
        "create virtual table temp.x using fts5(a)",
        "drop table value",
        "delete from value",
        "update run set point = 1",
        "insert into metric values (1)",
        "alter table value rename to x",
        "pragma journal_mode = wal",
        "pragma writable_schema = 1",
        "pragma user_version = 3",
        "pragma database_list; drop table run",
        "delete from sqlite_master",
        "select load_extension('x')",
        "analyze",
        "update sqlite_master set sql = ''",
        "create index i on run(id)",
        "create trigger t after insert on run begin select 1; end",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *message = NULL;
        if (sqlite3_exec(db, refused[i], NULL, NULL, &message) == SQLITE_OK) fail_msg("not refused: %s", refused[i]);
        sqlite3_free(message);
    }
    assert_int_equal(for_each_temporary(NULL), 0);
    check("select count(*) from value", "16");
    assert_int_equal(sqlite3_exec(db, "attach 'x' as x", NULL, NULL, NULL), SQLITE_AUTH);
    assay_error error;
    assert_int_equal(as_sql_fail(db, &error), ASSAY_E_SQL);
    assert_string_equal(error.message,
                        "not authorized; a statement may read, and make temporary tables and views, nothing else");
}

static void temporary_tables_and_views_are_fine(void **state) {
    (void)state;
    static const char *const fine[] = {
        "create temp table t as select * from value",
        "create temp view w as select sum(value) as s from t where metric = 1 and typeof(value) = 'integer'",
        "insert into t values (9, 9, 9, 9, 9)",
        "update t set value = 1 where run = 9",
        "delete from t where run = 9",
        "create index temp.i on t(run)",
        "begin",
        "savepoint s",
        "release s",
        "commit",
        "alter table t rename to u",
        "alter table u rename to t",
    };
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        char *message = NULL;
        if (sqlite3_exec(db, fine[i], NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", fine[i], message);
    }
    check("select s from w", "1048586"); /* 1 + 2 + 7 + 2^20 */
    assert_int_equal(sqlite3_exec(db, "drop view w; drop table t", NULL, NULL, NULL), SQLITE_OK);
    check(
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 4) select group_concat(i, '') from n",
        "'1234'");
}

/* ---- the public interface ---------------------------------------------------------------------------------------- */

static void queries_step_through_rows(void **state) {
    (void)state;
    assay_query *query;
    assay_error error;
    bool has_row = false;
    assert_int_equal(assay_query_open(ds, "select name, id, null, 2.5 from metric where id < 2; ", &query, &error),
                     ASSAY_OK);
    assert_int_equal(assay_query_columns(query), 4);
    assert_string_equal(assay_query_column_name(query, 0), "name");
    assert_int_equal(assay_query_next(query, &has_row, &error), ASSAY_OK);
    assert_true(has_row);
    assert_string_equal(assay_query_text(query, 0), "time");
    assert_true(assay_query_is_null(query, 2));
    assert_true(assay_query_double(query, 3) == 2.5);
    assert_int_equal(assay_query_next(query, &has_row, &error), ASSAY_OK);
    assert_int_equal(assay_query_int(query, 1), 1);
    assert_int_equal(assay_query_next(query, &has_row, &error), ASSAY_OK);
    assert_false(has_row);
    assay_query_close(query);
    static const char *const wrong[] = {"select form", "", "select 1; select 2", "  -- nothing", "attach 'x' as y"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(assay_query_open(ds, wrong[i], &query, &error), ASSAY_E_SQL);
        assert_null(query);
        assert_true(error.message[0] != '\0');
    }
    assay_query_close(NULL);
}

/* ---- export ------------------------------------------------------------------------------------------------------ */

static char *read_whole(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*size);
    assert_int_equal(fread(data, 1, *size, file), *size);
    fclose(file);
    return data;
}

static void export_holds_the_same_rows(void **state) {
    (void)state;
    const char *path = temporary_path("all.sqlite");
    assay_error error;
    assert_int_equal(as_sql_export(ds, path, &error), ASSAY_OK);
    sqlite3 *file;
    assert_int_equal(sqlite3_open_v2(path, &file, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    check_of(file, "pragma integrity_check", "'ok'");
    check_of(file, "pragma encoding", "'UTF-8'");
    char *expected_names = ask_of(db, "select name from sqlite_master where type = 'table'");
    check_of(file, "select name from sqlite_master where type = 'table'", expected_names);
    free(expected_names);
    sqlite3_stmt *tables;
    assert_int_equal(sqlite3_prepare_v2(db, "select name from sqlite_master where type = 'table'", -1, &tables, NULL),
                     SQLITE_OK);
    int n = 0;
    for (; sqlite3_step(tables) == SQLITE_ROW; n++) {
        char sql[128];
        snprintf(sql, sizeof sql, "select * from \"%s\" order by rowid", (const char *)sqlite3_column_text(tables, 0));
        char *expected = ask_of(db, sql);
        check_of(file, sql, expected);
        free(expected);
        snprintf(sql, sizeof sql, "select name, type from pragma_table_info('%s')",
                 (const char *)sqlite3_column_text(tables, 0));
        expected = ask_of(db, sql);
        check_of(file, sql, expected);
        free(expected);
    }
    assert_int_equal(n, 19);
    sqlite3_finalize(tables);
    sqlite3_close(file);
}

static void export_is_deterministic_and_atomic(void **state) {
    (void)state;
    const char *one = temporary_path("one.sqlite"), *two = temporary_path("two.sqlite");
    assert_int_equal(as_sql_export(ds, one, NULL), ASSAY_OK);
    write_temporary("two.sqlite", "old", 3);
    assert_int_equal(as_sql_export(ds, two, NULL), ASSAY_OK);
    size_t size_one, size_two;
    char *bytes_one = read_whole(one, &size_one), *bytes_two = read_whole(two, &size_two);
    assert_int_equal(size_one, size_two);
    assert_memory_equal(bytes_one, bytes_two, size_one);
    free(bytes_one);
    free(bytes_two);
    remove(one);
    remove(two);
    int before = for_each_temporary(NULL);
    assay_error error;
    assert_int_equal(as_sql_export(ds, temporary_path("missing/x.sqlite"), &error), ASSAY_E_IO);
    assert_int_equal(as_sql_export(ds, "/dev/null", &error), ASSAY_E_UNSUPPORTED);
    assert_int_equal(for_each_temporary(NULL), before);
}

/* Records come with whatever columns a file has: more than SQLite takes, without a name, or with the name of
 * another. */
static void hostile_records_still_open(void **state) {
    (void)state;
    as_dataset *wide = as_dataset_new(0);
    as_table *records = as_add_record_table(wide, "record");
    as_table_add_column(records, "");
    as_table_add_column(records, "ID");
    as_table_add_column(records, "id_2");
    as_table_add_column(records, "a\"; drop table value; --");
    for (int i = 0; i < 3000; i++) {
        char name[32];
        snprintf(name, sizeof name, "column %d", i);
        as_table_add_column(records, name);
    }
    assert_true(as_table_add_row(records));
    sqlite3 *connection;
    assay_error error;
    if (as_sql_open(&wide, NULL, 1, &connection, &error) != ASSAY_OK) fail_msg("%s", error.message);
    check_of(connection, "select count(*) from pragma_table_info('record')", "2000");
    check_of(connection, "select count(*), sum(id is null), sum(\"id_2\" is null), sum(\"id_2_2\" is null) from record",
             "1 1 1 1");
    sqlite3_close(connection);
    const char *path = temporary_path("wide.sqlite");
    assert_int_equal(as_sql_export(wide, path, &error), ASSAY_OK);
    remove(path);
    as_dataset_free(wide);
}

/* A chain of calls has paths of quadratic total length: they cannot all be kept. */
static void deep_trees_have_their_paths(void **state) {
    (void)state;
    enum { DEPTH = 8000 };
    as_dataset *deep = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, deep);
    assay_id region = as_tree_region(&tree, as_ds_intern_text(deep, "f")), parent = ASSAY_NONE;
    for (int i = 0; i < DEPTH; i++) parent = as_tree_child(&tree, parent, region);
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    sqlite3 *connection;
    assert_int_equal(as_sql_open(&deep, NULL, 1, &connection, NULL), ASSAY_OK);
    /* "f->f->…" of n names has 3 n - 2 characters: 3 * DEPTH * (DEPTH + 1) / 2 - 2 * DEPTH in all */
    check_of(connection, "select sum(length(path)), max(path) like 'f->f->%f' from context", "95996000 1");
    check_of(connection, "select length(path) from context where id = 7999", "23998");
    sqlite3_close(connection);
    as_dataset_free(deep);
}

static void export_refuses_paths_without_end(void **state) {
    (void)state;
    as_dataset *deep = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, deep);
    assay_id region = as_tree_region(&tree, as_ds_intern_text(deep, "abcdef")), context = ASSAY_NONE;
    for (int i = 0; i < 8000; i++) context = as_tree_child(&tree, context, region); /* 8 bytes more at each level */
    for (int i = 0; i < 300000; i++) { /* 64,000 bytes each: 19 GB in all */
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        as_tree_child(&tree, context, as_tree_region(&tree, as_ds_intern_text(deep, name)));
    }
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    assay_error error;
    const char *path = temporary_path("deep.sqlite");
    assert_int_equal(as_sql_export(deep, path, &error), ASSAY_E_UNSUPPORTED);
    assert_int_not_equal(access(path, F_OK), 0);
    as_tree_free(&tree);
    as_dataset_free(deep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entities_are_as_the_dataset_has_them),
        cmocka_unit_test(numbers_keep_their_types),
        cmocka_unit_test(models_and_terms),
        cmocka_unit_test(measurements_are_computed_or_stored),
        cmocka_unit_test(nodes_are_summed),
        cmocka_unit_test(an_empty_dataset_has_all_tables),
        cmocka_unit_test(sets_of_conditions_match_scans),
        cmocka_unit_test(every_column_matches_a_scan),
        cmocka_unit_test(nothing_is_lost_to_collations),
        cmocka_unit_test(rows_come_in_the_order_asked_for),
        cmocka_unit_test(joins_look_up_ids),
        cmocka_unit_test(datasets_lie_side_by_side),
        cmocka_unit_test(names_come_from_paths),
        cmocka_unit_test(statements_cannot_do_harm),
        cmocka_unit_test(temporary_tables_and_views_are_fine),
        cmocka_unit_test(queries_step_through_rows),
        cmocka_unit_test(export_holds_the_same_rows),
        cmocka_unit_test(export_is_deterministic_and_atomic),
        cmocka_unit_test(export_refuses_paths_without_end),
        cmocka_unit_test(hostile_records_still_open),
        cmocka_unit_test(deep_trees_have_their_paths),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
