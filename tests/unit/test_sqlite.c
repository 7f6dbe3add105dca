#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sqlite3.h>

#include "core/random.h"
#include "io/sqlite.h"
#include "temporary.h"

/* ---- databases to read ------------------------------------------------------------------------------------------- */

static void run_sql(sqlite3 *db, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
}

static sqlite3 *create(const char *path) {
    sqlite3 *db;
    remove(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

/* A database with this content at a path that stays valid for a while. */
static const char *database(const char *name, const char *sql) {
    const char *path = temporary_path(name);
    sqlite3 *db = create(path);
    run_sql(db, sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return path;
}

static const char small[] =
    "PRAGMA page_size=512; CREATE TABLE t (a INTEGER, b TEXT, c REAL);"
    "INSERT INTO t VALUES (1, 'one', 1.5), (2, NULL, 2), (NULL, x'00ff', NULL), (9223372036854775807, '', -1e300)";

typedef struct opened {
    as_input *input;
    as_database *db;
    assay_error error;
} opened;

static assay_status open_path(const char *path, opened *o) {
    *o = (opened){0};
    assay_status status = as_input_open(path, NULL, &o->input, &o->error);
    if (status == ASSAY_OK) status = as_database_open(o->input, NULL, &o->db, &o->error);
    return status;
}

static void close_all(opened *o) {
    as_database_close(o->db);
    as_input_close(o->input);
}

static opened open_fine(const char *path) {
    opened o;
    if (open_path(path, &o) != ASSAY_OK) fail_msg("%s: %s", path, o.error.message);
    return o;
}

static const as_scan_range everything = {0};

/* All cells of some columns as text: "1|one|1.5;2|-|2.0;". */
static char *describe_range(as_database *db, const char *name, const char *const *columns, size_t n,
                            as_scan_range range) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    as_scan *scan;
    assay_error error;
    assert_int_equal(as_scan_open(db, name, columns, n, range, &scan, &error), ASSAY_OK);
    while (as_scan_next(scan)) {
        for (size_t i = 0; i < n; i++) {
            if (i) fputc('|', out);
            size_t length;
            switch (as_scan_type_of(scan, i)) {
            case AS_SCAN_NULL: fputc('-', out); break;
            case AS_SCAN_INT: fprintf(out, "%lld", (long long)as_scan_int(scan, i)); break;
            case AS_SCAN_REAL: fprintf(out, "%.17g", as_scan_real(scan, i)); break;
            case AS_SCAN_TEXT: {
                const char *value = as_scan_text(scan, i, &length);
                fprintf(out, "'%.*s'", (int)length, value);
                break;
            }
            case AS_SCAN_BLOB: as_scan_text(scan, i, &length); fprintf(out, "blob %zu", length);
            }
        }
        fputc(';', out);
    }
    if (as_scan_close(scan, &error) != ASSAY_OK) fprintf(out, "failed");
    fclose(out);
    return text;
}

static void assert_rows(as_database *db, const char *name, const char *const *columns, size_t n, as_scan_range range,
                        const char *expected) {
    char *text = describe_range(db, name, columns, n, range);
    assert_string_equal(text, expected);
    free(text);
}

static void assert_refused(const char *path, const char *rule, const char *words) {
    opened o;
    assay_status status = open_path(path, &o);
    if (status != ASSAY_E_FORMAT || strcmp(o.error.rule, rule) != 0 || !strstr(o.error.message, words))
        fail_msg("%s: status %d, rule %s: %s", path, status, o.error.rule, o.error.message);
    close_all(&o);
}

static char *content(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* ---- what is in them --------------------------------------------------------------------------------------------- */

static void reads_cells_of_every_type(void **state) {
    (void)state;
    opened o = open_fine(database("small", small));
    static const char *const columns[] = {"a", "b", "c"};
    assert_rows(o.db, "t", columns, 3, everything,
                "1|'one'|1.5;2|-|2;-|blob 2|-;9223372036854775807|''|-1.0000000000000001e+300;");
    uint64_t n;
    assert_int_equal(as_database_count(o.db, "t", &n, NULL), ASSAY_OK);
    assert_int_equal(n, 4);
    int64_t least, greatest;
    assert_true(as_database_rowids(o.db, "t", &least, &greatest));
    assert_int_equal(least, 1);
    assert_int_equal(greatest, 4);
    close_all(&o);
}

static void names_are_those_of_sql(void **state) {
    (void)state;
    opened o = open_fine(database("names", "CREATE TABLE \"Some \"\"table\" (\"rowid\" TEXT, Value INTEGER);"
                                           "INSERT INTO \"Some \"\"table\" VALUES ('x', 7), ('y', 8)"));
    assert_true(as_database_has_table(o.db, "some \"TABLE"));
    assert_true(as_database_has_column(o.db, "some \"table", "VALUE"));
    assert_false(as_database_has_column(o.db, "some \"table", "a"));
    assert_false(as_database_has_column(o.db, "nowhere", "a"));
    static const char *const columns[] = {"rowid", "VALUE", "nothing"};
    assert_rows(o.db, "SOME \"TABLE", columns, 3, everything, "'x'|7|-;'y'|8|-;");
    assert_rows(o.db, "SOME \"TABLE", columns + 1, 1, (as_scan_range){true, 2, 5}, "8;");
    assert_rows(o.db, "nowhere", columns, 3, everything, "");
    uint64_t n = 5;
    assert_int_equal(as_database_count(o.db, "nowhere", &n, NULL), ASSAY_OK);
    assert_int_equal(n, 0);
    close_all(&o);
}

static void views_and_virtual_tables_are_no_tables(void **state) {
    (void)state;
    const char *path = temporary_path("views");
    sqlite3 *db = create(path);
    run_sql(db, "CREATE TABLE t (a, b AS (a + 1), c AS (a * 2) STORED, d);"
                "INSERT INTO t (a, d) VALUES (1, 2); CREATE VIEW v AS SELECT a FROM t");
    sqlite3_exec(db, "CREATE VIRTUAL TABLE x USING fts5(y)", NULL, NULL, NULL); /* where SQLite has it */
    sqlite3_close(db);
    opened o = open_fine(path);
    assert_true(as_database_has_table(o.db, "t"));
    assert_false(as_database_has_table(o.db, "v"));
    assert_false(as_database_has_table(o.db, "x"));
    assert_false(as_database_has_table(o.db, "sqlite_master"));
    static const char *const columns[] = {"a", "b", "c", "d"};
    assert_rows(o.db, "t", columns, 4, everything, "1|-|-|2;"); /* what is computed is not stored */
    assert_rows(o.db, "v", columns, 1, everything, "");
    close_all(&o);
}

static void rowids_and_keys(void **state) {
    (void)state;
    opened o = open_fine(database("keys", "CREATE TABLE k (id INTEGER PRIMARY KEY, v);"
                                          "INSERT INTO k VALUES (-5, 'a'), (10, 'b'), (7000000000, 'c'), (3, 'd');"
                                          "CREATE TABLE w (id INTEGER, v, PRIMARY KEY (id, v)) WITHOUT ROWID;"
                                          "INSERT INTO w VALUES (2, 'y'), (1, 'z'), (1, 'x');"
                                          "CREATE TABLE old (a); INSERT INTO old VALUES (1);"
                                          "ALTER TABLE old ADD COLUMN b DEFAULT 42; INSERT INTO old VALUES (2, 3);"
                                          "CREATE TABLE none (a)"));
    static const char *const columns[] = {"id", "v"}, *const later[] = {"b", "a"};
    assert_rows(o.db, "k", columns, 2, everything, "-5|'a';3|'d';10|'b';7000000000|'c';");
    assert_rows(o.db, "k", columns, 2, (as_scan_range){true, 3, 10}, "3|'d';10|'b';");
    assert_rows(o.db, "k", columns, 2, (as_scan_range){true, 11, INT64_MAX}, "7000000000|'c';");
    assert_rows(o.db, "k", columns, 2, (as_scan_range){true, 4, 9}, "");
    assert_rows(o.db, "w", columns, 2, everything, "1|'x';1|'z';2|'y';");
    assert_rows(o.db, "old", later, 2, everything, "42|1;3|2;");
    int64_t least, greatest;
    assert_true(as_database_rowids(o.db, "k", &least, &greatest));
    assert_true(least == -5 && greatest == 7000000000);
    assert_false(as_database_rowids(o.db, "w", &least, &greatest));
    assert_false(as_database_rowids(o.db, "none", &least, &greatest));
    assert_false(as_database_rowids(o.db, "nowhere", &least, &greatest));
    uint64_t n;
    assert_int_equal(as_database_count(o.db, "w", &n, NULL), ASSAY_OK);
    assert_int_equal(n, 3);
    close_all(&o);
}

/* The sum and the number of rows of a table that fills pages of several levels, with texts that go beyond a page. */
static void many_rows(void **state) {
    (void)state;
    opened o = open_fine(database(
        "many",
        "PRAGMA page_size=512; CREATE TABLE t (a INTEGER, b TEXT, c INTEGER);"
        "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        "INSERT INTO t SELECT i, CASE WHEN i % 1000 = 0 THEN printf('%.*c', i, 'x') ELSE 'short' END, -i FROM n;"
        "DELETE FROM t WHERE a % 3 = 0"));
    static const char *const columns[] = {"c", "b", "a"};
    static const as_scan_range ranges[] = {{0}, {true, 5000, 15000}};
    static const uint64_t rows[] = {13334,
                                    6667}; /* of 1 … 20000, and of 5000 … 15000, those that are no multiples of 3 */
    for (size_t i = 0; i < 2; i++) {
        as_scan *scan;
        uint64_t n = 0, sum = 0, length = 0;
        int64_t last = 0;
        assert_int_equal(as_scan_open(o.db, "t", columns, 3, ranges[i], &scan, NULL), ASSAY_OK);
        while (as_scan_next(scan)) {
            size_t size;
            const char *text = as_scan_text(scan, 1, &size);
            assert_true(as_scan_rowid(scan) > last);
            last = as_scan_rowid(scan);
            assert_int_equal(as_scan_int(scan, 2), last);
            assert_int_equal(as_scan_int(scan, 0), -last);
            assert_int_equal(size, last % 1000 ? 5 : last);
            assert_true(text[0] == (last % 1000 ? 's' : 'x') && text[size - 1] == (last % 1000 ? 't' : 'x'));
            n++, sum += (uint64_t)as_scan_int(scan, 2), length += size;
        }
        assert_int_equal(as_scan_close(scan, NULL), ASSAY_OK);
        assert_int_equal(n, rows[i]);
        /* 1 + … + 20000 = 200010000, less 3 * (1 + … + 6666) = 66663333 */
        if (!i) assert_int_equal(sum, 200010000 - 66663333);
    }
    uint64_t n;
    assert_int_equal(as_database_count(o.db, "t", &n, NULL), ASSAY_OK);
    assert_int_equal(n, 13334);
    close_all(&o);
}

/* ---- as SQLite reads it ------------------------------------------------------------------------------------------ */

static uint64_t chance; /* the same every time */
static size_t draw(size_t below) { return as_random_below(&chance, below); }

static void bind_any(sqlite3_stmt *insert, int column) {
    static char bytes[5000];
    static const int sizes[] = {0, 3, 40, 700, 5000};
    int64_t number = (int64_t)as_random_bits(&chance) >> draw(64);
    int size = sizes[draw(5)];
    for (int i = 0; i < size; i++) bytes[i] = (char)('a' + draw(26));
    switch (draw(6)) {
    case 0: sqlite3_bind_null(insert, column); break;
    case 1: sqlite3_bind_double(insert, column, (double)number / 8); break;
    case 2: sqlite3_bind_text(insert, column, bytes, size, SQLITE_TRANSIENT); break;
    case 3: sqlite3_bind_blob(insert, column, bytes, size, SQLITE_TRANSIENT); break;
    default: sqlite3_bind_int64(insert, column, number);
    }
}

static void assert_same_cell(const as_scan *scan, size_t i, sqlite3_stmt *row) {
    static const as_scan_type types[] = {[SQLITE_INTEGER] = AS_SCAN_INT,
                                         [SQLITE_FLOAT] = AS_SCAN_REAL,
                                         [SQLITE_TEXT] = AS_SCAN_TEXT,
                                         [SQLITE_BLOB] = AS_SCAN_BLOB,
                                         [SQLITE_NULL] = AS_SCAN_NULL};
    assert_int_equal(as_scan_type_of(scan, i), types[sqlite3_column_type(row, (int)i)]);
    if (as_scan_type_of(scan, i) == AS_SCAN_INT) {
        assert_true(as_scan_int(scan, i) == sqlite3_column_int64(row, (int)i));
    } else if (as_scan_type_of(scan, i) == AS_SCAN_REAL) {
        assert_true(as_scan_real(scan, i) == sqlite3_column_double(row, (int)i));
    } else if (as_scan_type_of(scan, i) != AS_SCAN_NULL) {
        size_t size;
        const char *text = as_scan_text(scan, i, &size);
        assert_int_equal(size, sqlite3_column_bytes(row, (int)i));
        if (size) assert_memory_equal(text, sqlite3_column_blob(row, (int)i), size);
    }
}

static void rows_are_those_of_sqlite(void **state) {
    (void)state;
    static const char *const schemas[] = {
        "CREATE TABLE t (a, b INTEGER, c TEXT, d REAL, e BLOB)",
        "PRAGMA page_size=512; CREATE TABLE t (a DOUBLE PRECISION, b, k INTEGER PRIMARY KEY, c, d FLOATING POINT, e)",
        "PRAGMA page_size=512; CREATE TABLE t (a, b, k INTEGER PRIMARY KEY DESC, c, d, e NUMERIC)",
        "PRAGMA page_size=65536; CREATE TABLE t (a, v AS (b), b INT, s AS (b) STORED, c, d VARCHAR(5), e)",
        "PRAGMA page_size=1024; CREATE TABLE t (a, k INT PRIMARY KEY, b, c, d, e)",
        "PRAGMA page_size=512; CREATE TABLE t (a, b, c, d, e, k INTEGER, x DEFAULT 7, PRIMARY KEY (a, b)) WITHOUT "
        "ROWID",
        "PRAGMA encoding='UTF-16'; CREATE TABLE t (a, b, c, d, e)"};
    static const char *const columns[] = {"e", "c", "late", "a", "k", "b", "d", "nothing", "c"};
    enum { N = sizeof columns / sizeof *columns };
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        const char *path = temporary_path("same");
        sqlite3 *db = create(path);
        sqlite3_stmt *insert, *row;
        run_sql(db, schemas[i]);
        run_sql(db, "BEGIN");
        sqlite3_prepare_v2(db, "INSERT OR IGNORE INTO t (a, b, c, d, e) VALUES (?, ?, ?, ?, ?)", -1, &insert, NULL);
        for (size_t n = 0; n < 200; n++) {
            for (int column = 1; column <= 5; column++) bind_any(insert, column);
            sqlite3_step(insert);
            sqlite3_reset(insert);
        }
        sqlite3_finalize(insert);
        run_sql(db, "COMMIT; ALTER TABLE t ADD COLUMN late INTEGER; DELETE FROM t WHERE a IS NULL");
        bool has_key = strstr(schemas[i], "k INT") != NULL;
        const char *select = has_key ? "SELECT e, c, late, a, k, b, d, NULL, c FROM t NOT INDEXED"
                                     : "SELECT e, c, late, a, NULL, b, d, NULL, c FROM t NOT INDEXED";
        assert_int_equal(sqlite3_prepare_v2(db, select, -1, &row, NULL), SQLITE_OK);
        opened o = open_fine(path);
        as_scan *scan;
        size_t n = 0;
        assert_int_equal(as_scan_open(o.db, "t", columns, N, everything, &scan, NULL), ASSAY_OK);
        for (; as_scan_next(scan); n++) {
            assert_int_equal(sqlite3_step(row), SQLITE_ROW);
            for (size_t k = 0; k < N; k++) assert_same_cell(scan, k, row);
        }
        assert_int_equal(sqlite3_step(row), SQLITE_DONE);
        assert_int_equal(as_scan_close(scan, NULL), ASSAY_OK);
        assert_true(n > 100);
        sqlite3_finalize(row);
        sqlite3_close(db);
        close_all(&o);
    }
}

static void texts_of_other_encodings(void **state) {
    (void)state;
    opened o = open_fine(
        database("wide", "PRAGMA encoding='UTF-16le'; CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('häß€')"));
    static const char *const columns[] = {"a"};
    assert_rows(o.db, "t", columns, 1, everything, "'häß€';");
    close_all(&o);
}

typedef struct half {
    as_database *db;
    as_scan_range range;
    uint64_t sum;
} half;

static void *sum_half(void *argument) {
    half *h = argument;
    static const char *const columns[] = {"a"};
    as_scan *scan;
    if (as_scan_open(h->db, "t", columns, 1, h->range, &scan, NULL) != ASSAY_OK) return NULL;
    while (as_scan_next(scan)) h->sum += (uint64_t)as_scan_int(scan, 0);
    as_scan_close(scan, NULL);
    return NULL;
}

static void scans_side_by_side(void **state) {
    (void)state;
    opened o = open_fine(database("sides", "CREATE TABLE t (a INTEGER); WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL "
                                           "SELECT i + 1 FROM n WHERE i < 30000) INSERT INTO t SELECT i FROM n"));
    half halves[] = {
        {o.db, {true, INT64_MIN, 11111}, 0}, {o.db, {true, 11112, 22222}, 0}, {o.db, {true, 22223, INT64_MAX}, 0}};
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, sum_half, &halves[i]), 0);
    for (size_t i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    assert_int_equal(halves[0].sum + halves[1].sum + halves[2].sum, 450015000);
    assert_int_equal(halves[0].sum, 61732716); /* 11111 * 11112 / 2 */
    close_all(&o);
}

/* ---- nothing changes --------------------------------------------------------------------------------------------- */

static void nothing_is_written(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s",
             database("journal_wal", "PRAGMA journal_mode=WAL; CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (5)"));
    struct stat before, after;
    size_t size, size_after;
    char *bytes = content(path, &size);
    assert_int_equal(bytes[18], 2); /* it is in WAL mode */
    assert_int_equal(stat(path, &before), 0);
    int files = for_each_temporary(NULL);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(temporary_folder, 0555), 0);
    opened o = open_fine(path);
    static const char *const columns[] = {"a"};
    assert_rows(o.db, "t", columns, 1, everything, "5;");
    assert_int_equal(for_each_temporary(NULL), files);
    close_all(&o);
    assert_int_equal(for_each_temporary(NULL), files);
    chmod(temporary_folder, 0755);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    char *same = content(path, &size_after);
    assert_int_equal(size, size_after);
    assert_memory_equal(bytes, same, size);
    free(bytes);
    free(same);
}

static void bytes_without_a_file(void **state) {
    (void)state;
    size_t size;
    char *bytes = content(database("bytes", small), &size);
    as_input input = {.path = "input", .data = bytes, .size = size};
    as_database *db;
    assert_int_equal(as_database_open(&input, NULL, &db, NULL), ASSAY_OK);
    static const char *const columns[] = {"a"};
    assert_rows(db, "t", columns, 1, (as_scan_range){true, 1, 2}, "1;2;");
    as_database_close(db);
    free(bytes);
}

/* ---- refused ----------------------------------------------------------------------------------------------------- */

static void no_databases(void **state) {
    (void)state;
    assert_refused(write_temporary("empty", "", 0), "no-database", "empty");
    assert_refused(write_temporary("text", "this is a text of more than sixteen bytes", 40), "no-database",
                   "not a database, or encrypted");
    assert_refused(write_temporary("magic", "SQLite format 3", 16), "cut-database", "16 are there");
    assert_true(as_is_database("SQLite format 3\0…", 17));
    assert_false(as_is_database("SQLite format 3", 15));
}

/* Only what is there counts, and only a journal that SQLite would use. */
static void journals(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", database("hot", small));
    static const unsigned char hot[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0, 0, 0, 1};
    static const unsigned char cold[512] = {0};
    write_temporary("hot-journal", cold, sizeof cold);
    opened o = open_fine(path);
    close_all(&o);
    write_temporary("hot-journal", "", 0);
    o = open_fine(path);
    close_all(&o);
    write_temporary("hot-journal", hot, sizeof hot);
    assert_refused(path, "hot-journal", "-journal");
    assert_int_equal(unlink(temporary_path("hot-journal")), 0);
    o = open_fine(path);
    close_all(&o);
}

static void logs(void **state) {
    (void)state;
    char path[512], copy[512], log[520];
    snprintf(path, sizeof path, "%s", temporary_path("logged"));
    snprintf(copy, sizeof copy, "%s", temporary_path("copied"));
    sqlite3 *db = create(path);
    run_sql(db, "PRAGMA journal_mode=WAL; CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (5); PRAGMA "
                "wal_checkpoint(TRUNCATE)");
    opened o = open_fine(path); /* the log is empty */
    close_all(&o);
    run_sql(db, "INSERT INTO t VALUES (6)");
    assert_refused(path, "hot-journal", "wal_checkpoint");
    /* as after a crash: another file system, a copy of both files */
    size_t size, log_size;
    snprintf(log, sizeof log, "%s-wal", path);
    char *bytes = content(path, &size), *frames = content(log, &log_size);
    sqlite3_close(db);
    write_temporary("copied", bytes, size);
    write_temporary("copied-wal", frames, 32); /* a header and nothing else */
    o = open_fine(copy);
    static const char *const columns[] = {"a"};
    assert_rows(o.db, "t", columns, 1, everything, "5;");
    close_all(&o);
    write_temporary("copied-wal", frames, log_size - 1); /* a transaction that never became whole */
    o = open_fine(copy);
    close_all(&o);
    write_temporary("copied-wal", frames, log_size);
    assert_refused(copy, "hot-journal", "copied-wal");
    char linked[512];
    snprintf(linked, sizeof linked, "%s", temporary_path("linked"));
    assert_int_equal(symlink(copy, linked), 0);
    assert_refused(linked, "hot-journal", "wal_checkpoint");
    free(bytes);
    free(frames);
}

/* Opens it, and reads all there is: either works, or an error says something. */
static bool reads_all(const char *data, size_t size) {
    char *exact = malloc(size ? size : 1); /* so that a sanitizer sees a read behind the end */
    memcpy(exact, data, size);
    as_input input = {.path = "input", .data = exact, .size = size};
    as_database *db = NULL;
    assay_error error = {0};
    assay_status status = as_database_open(&input, NULL, &db, &error);
    static const char *const columns[] = {"a", "b", "c"};
    if (status == ASSAY_OK) {
        as_scan *scan;
        status = as_scan_open(db, "t", columns, 3, everything, &scan, &error);
        while (status == ASSAY_OK && as_scan_next(scan)) {
            size_t length;
            for (size_t i = 0; i < 3; i++) {
                if (as_scan_type_of(scan, i) < AS_SCAN_TEXT) continue;
                const char *text = as_scan_text(scan, i, &length);
                for (size_t k = 0; k < length; k++) (void)*(volatile const char *)(text + k);
            }
        }
        if (status == ASSAY_OK) status = as_scan_close(scan, &error);
    }
    as_database_close(db);
    free(exact);
    if (status != ASSAY_OK) assert_true(error.message[0] && (error.code == ASSAY_E_FORMAT));
    return status == ASSAY_OK;
}

static void cut_anywhere(void **state) {
    (void)state;
    size_t size;
    char *bytes = content(database("cut", small), &size);
    assert_true(reads_all(bytes, size));
    for (size_t n = 0; n < size; n++) {
        if (reads_all(bytes, n)) fail_msg("accepted when cut to %zu of %zu bytes", n, size);
    }
    free(bytes);
}

/* Writers of old leave the number of pages 0 or as it was once: the file's size decides, down to a page. */
static void sizes_of_old_writers(void **state) {
    (void)state;
    size_t size;
    char *bytes = content(database("stale", small), &size);
    memset(bytes + 28, 0, 4);
    assert_true(reads_all(bytes, size));
    memset(bytes + 28, 0xff, 4);
    assert_false(reads_all(bytes, size)); /* the counters agree: it is meant */
    memset(bytes + 92, 0xab, 4);
    assert_true(reads_all(bytes, size));
    assert_false(reads_all(bytes, size - 1));
    free(bytes);
}

static void damaged_anywhere(void **state) {
    (void)state;
    size_t size, refused = 0;
    char *bytes =
        content(database("damaged", "PRAGMA page_size=512; CREATE TABLE t (a INTEGER, b TEXT, c REAL);"
                                    "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
                                    "INSERT INTO t SELECT i, printf('%.*c', i * 30, 'x'), i / 2.0 FROM n"),
                &size);
    assert_true(reads_all(bytes, size));
    for (size_t i = 0; i < size; i++) {
        static const unsigned char changes[] = {0x00, 0xff, 0x81};
        char before = bytes[i];
        bytes[i] = (char)changes[i % 3];
        refused += !reads_all(bytes, size);
        bytes[i] = before;
    }
    assert_true(refused > 100);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_cells_of_every_type),
        cmocka_unit_test(names_are_those_of_sql),
        cmocka_unit_test(views_and_virtual_tables_are_no_tables),
        cmocka_unit_test(rowids_and_keys),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(rows_are_those_of_sqlite),
        cmocka_unit_test(texts_of_other_encodings),
        cmocka_unit_test(scans_side_by_side),
        cmocka_unit_test(nothing_is_written),
        cmocka_unit_test(bytes_without_a_file),
        cmocka_unit_test(no_databases),
        cmocka_unit_test(journals),
        cmocka_unit_test(logs),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(sizes_of_old_writers),
        cmocka_unit_test(damaged_anywhere),
    };
    return cmocka_run_group_tests(tests, make_temporary_folder, remove_temporary_folder);
}
