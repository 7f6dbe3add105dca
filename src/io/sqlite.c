#include "io/sqlite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/sqlite_private.h"

enum { MAX_COLUMNS = 64, IDLE_CONNECTIONS = 4, CACHE_KIB = 256 };

typedef struct table {
    char *name;
    const char
        *rowid; /* what SQL calls it here; NULL: the table has none, or hides it behind columns of all three names */
    as_vec columns; /* char * */
} table;

struct as_database {
    const as_input *input;
    as_bytes_vfs vfs;
    as_database_header header;
    as_vec tables;
    pthread_mutex_t mutex;
    sqlite3 *idle[IDLE_CONNECTIONS]; /* connections nobody uses at the moment */
    size_t n_idle;
};

struct as_scan {
    as_database *db;
    sqlite3 *connection;
    sqlite3_stmt *statement; /* NULL: no rows */
    const char *table;       /* its name as the database writes it */
    bool has_rowid, failed;
    int status;
};

/* ---- errors ---------------------------------------------------------------------------------------------------------- */

static assay_status fail_sqlite(const as_database *db, const char *what, int status, assay_error *error) {
    status &= 0xff;
    as_place place = as_place_file(db->input->path);
    if (status == SQLITE_NOMEM) return as_fail_memory(error, db->input->path);
    const char *words = status == SQLITE_NOTADB ? "it is not a database, or encrypted" : sqlite3_errstr(status);
    if (what)
        return as_fail(error, ASSAY_E_FORMAT, place, "damaged-database", "is a damaged database, in table %s: %s", what,
                       words);
    return as_fail(error, ASSAY_E_FORMAT, place, "damaged-database", "is a damaged database: %s", words);
}

/* ---- connections ----------------------------------------------------------------------------------------------------- */

/* Nothing of the file is trusted; nothing that could use a function, a trigger or a view of it is on; no memory is spent on a cache of what is in memory anyway. */
static int configure(sqlite3 *connection, uint64_t input_size) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    static const struct {
        int limit, value;
    } limits[] = {{SQLITE_LIMIT_SQL_LENGTH, 1 << 20},     {SQLITE_LIMIT_COLUMN, 1000},
                  {SQLITE_LIMIT_VDBE_OP, 25000},          {SQLITE_LIMIT_ATTACHED, 0},
                  {SQLITE_LIMIT_TRIGGER_DEPTH, 1},        {SQLITE_LIMIT_WORKER_THREADS, 0},
                  {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50}, {SQLITE_LIMIT_VARIABLE_NUMBER, 8}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(connection, limits[i].limit, limits[i].value);
    /* A text cannot be longer than the file. */
    if (input_size < 1000000000) sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, (int)input_size + 1000);
    char pragmas[200];
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA temp_store=MEMORY; PRAGMA query_only=ON; PRAGMA cell_size_check=ON; PRAGMA cache_size=-%d; PRAGMA "
             "mmap_size=%lld",
             CACHE_KIB, 0x7fff0000LL);
    return sqlite3_exec(connection, pragmas, NULL, NULL, NULL);
}

static int connect_new(as_database *db, sqlite3 **out) {
    enum { FLAGS = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE };
    int status = sqlite3_open_v2("bytes", out, FLAGS, db->vfs.name);
    if (status == SQLITE_OK) status = configure(*out, db->input->size);
    if (status == SQLITE_OK) return status;
    sqlite3_close(*out);
    *out = NULL;
    return status;
}

static int take_connection(as_database *db, sqlite3 **out) {
    pthread_mutex_lock(&db->mutex);
    *out = db->n_idle ? db->idle[--db->n_idle] : NULL;
    pthread_mutex_unlock(&db->mutex);
    return *out ? SQLITE_OK : connect_new(db, out);
}

static void give_connection(as_database *db, sqlite3 *connection) {
    pthread_mutex_lock(&db->mutex);
    bool is_kept = connection && db->n_idle < IDLE_CONNECTIONS;
    if (is_kept) db->idle[db->n_idle++] = connection;
    pthread_mutex_unlock(&db->mutex);
    if (!is_kept) sqlite3_close(connection);
}

/* The statement made of format, whose arguments are names: %w within double quotes. */
static int prepare(sqlite3 *connection, char *sql, sqlite3_stmt **out) {
    *out = NULL;
    int status = sql ? sqlite3_prepare_v2(connection, sql, -1, out, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return status;
}

/* ---- tables ---------------------------------------------------------------------------------------------------------- */

static bool has_column(const table *t, const char *name) {
    for (size_t i = 0; i < t->columns.count; i++) {
        if (sqlite3_stricmp(AS_AT(char *, &t->columns, i), name) == 0) return true;
    }
    return false;
}

/* Columns that are stored: what a generated one would compute is not believed. */
static int find_columns(sqlite3 *connection, table *t) {
    sqlite3_stmt *statement;
    int status = prepare(connection, sqlite3_mprintf("PRAGMA main.table_xinfo(\"%w\")", t->name), &statement);
    while (status == SQLITE_OK && (status = sqlite3_step(statement)) == SQLITE_ROW) {
        status = SQLITE_OK;
        if (sqlite3_column_int(statement, 6) != 0) continue;
        const char *name = (const char *)sqlite3_column_text(statement, 1);
        char **column = name ? as_vec_push(&t->columns) : NULL;
        if (column) *column = strdup(name);
        if (!column || !*column) status = SQLITE_NOMEM;
    }
    sqlite3_finalize(statement);
    return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int find_rowid(sqlite3 *connection, table *t) {
    static const char *const names[] = {"rowid", "_rowid_", "oid"};
    for (size_t i = 0; i < 3 && !t->rowid; i++) {
        if (!has_column(t, names[i])) t->rowid = names[i];
    }
    if (!t->rowid) return SQLITE_OK;
    sqlite3_stmt *statement; /* of a table WITHOUT ROWID it cannot be made */
    int status =
        prepare(connection, sqlite3_mprintf("SELECT %s FROM main.\"%w\" NOT INDEXED", t->rowid, t->name), &statement);
    sqlite3_finalize(statement);
    if (status == SQLITE_ERROR) t->rowid = NULL;
    return status == SQLITE_ERROR ? SQLITE_OK : status;
}

static int add_table(as_database *db, sqlite3 *connection, const char *name) {
    table *t = as_vec_push(&db->tables);
    if (!t) return SQLITE_NOMEM;
    as_vec_init(&t->columns, sizeof(char *), db->tables.budget);
    t->name = name ? strdup(name) : NULL;
    if (!t->name) return SQLITE_NOMEM;
    int status = find_columns(connection, t);
    return status == SQLITE_OK ? find_rowid(connection, t) : status;
}

/* Ordinary tables have a page of their own; views and virtual tables have none. */
static assay_status find_tables(as_database *db, assay_error *error) {
    sqlite3 *connection;
    sqlite3_stmt *statement = NULL;
    int status = take_connection(db, &connection);
    if (status == SQLITE_OK)
        status = sqlite3_prepare_v2(connection,
                                    "SELECT name FROM main.sqlite_master WHERE type='table' AND rootpage>0 "
                                    "AND typeof(name)='text' AND substr(name,1,7)<>'sqlite_'",
                                    -1, &statement, NULL);
    while (status == SQLITE_OK && (status = sqlite3_step(statement)) == SQLITE_ROW)
        status = add_table(db, connection, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    give_connection(db, connection);
    return status == SQLITE_DONE ? ASSAY_OK : fail_sqlite(db, NULL, status, error);
}

static const table *find_table(const as_database *db, const char *name) {
    for (size_t i = 0; i < db->tables.count; i++) {
        const table *t = &AS_AT(table, &db->tables, i);
        if (sqlite3_stricmp(t->name, name) == 0) return t;
    }
    return NULL;
}

bool as_database_has_table(const as_database *db, const char *name) { return find_table(db, name) != NULL; }

bool as_database_has_column(const as_database *db, const char *name, const char *column) {
    const table *t = find_table(db, name);
    return t && has_column(t, column);
}

/* ---- open and close -------------------------------------------------------------------------------------------------- */

assay_status as_database_open(const as_input *input, as_budget *budget, as_database **out, assay_error *error) {
    as_database_header header;
    AS_TRY(as_database_check(input, &header, error));
    as_database *db = calloc(1, sizeof *db);
    if (!db) return as_fail_memory(error, input->path);
    db->input = input;
    db->header = header;
    as_vec_init(&db->tables, sizeof(table), budget);
    pthread_mutex_init(&db->mutex, NULL);
    assay_status status = as_bytes_vfs_register(&db->vfs, input->data, input->size)
                              ? find_tables(db, error)
                              : as_fail_memory(error, input->path);
    if (status == ASSAY_OK)
        *out = db;
    else
        as_database_close(db);
    return status;
}

void as_database_close(as_database *db) {
    if (!db) return;
    for (size_t i = 0; i < db->n_idle; i++) sqlite3_close(db->idle[i]);
    as_bytes_vfs_unregister(&db->vfs);
    for (size_t i = 0; i < db->tables.count; i++) {
        table *t = &AS_AT(table, &db->tables, i);
        for (size_t k = 0; k < t->columns.count; k++) free(AS_AT(char *, &t->columns, k));
        as_vec_free(&t->columns);
        free(t->name);
    }
    as_vec_free(&db->tables);
    pthread_mutex_destroy(&db->mutex);
    free(db);
}

/* ---- counting -------------------------------------------------------------------------------------------------------- */

/* The one number that a statement answers; false in *is_null's place: the answer is NULL. */
static int ask(as_database *db, char *sql, int64_t *answer, bool *is_null) {
    sqlite3 *connection;
    sqlite3_stmt *statement = NULL;
    int status = take_connection(db, &connection);
    if (status == SQLITE_OK)
        status = prepare(connection, sql, &statement);
    else
        sqlite3_free(sql);
    if (status == SQLITE_OK && (status = sqlite3_step(statement)) == SQLITE_ROW) {
        *answer = sqlite3_column_int64(statement, 0);
        *is_null = sqlite3_column_type(statement, 0) == SQLITE_NULL;
        status = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    give_connection(db, connection);
    return status;
}

assay_status as_database_count(as_database *db, const char *name, uint64_t *n, assay_error *error) {
    const table *t = find_table(db, name);
    int64_t counted = 0;
    bool is_null;
    *n = 0;
    if (!t) return ASSAY_OK;
    int status = ask(db, sqlite3_mprintf("SELECT count(*) FROM main.\"%w\" NOT INDEXED", t->name), &counted, &is_null);
    *n = (uint64_t)counted;
    return status == SQLITE_OK ? ASSAY_OK : fail_sqlite(db, t->name, status, error);
}

bool as_database_rowids(as_database *db, const char *name, int64_t *least, int64_t *greatest) {
    const table *t = find_table(db, name);
    bool is_null = true;
    static const char sql[] = "SELECT %s(%s) FROM main.\"%w\" NOT INDEXED";
    return t && t->rowid && ask(db, sqlite3_mprintf(sql, "min", t->rowid, t->name), least, &is_null) == SQLITE_OK &&
           !is_null && ask(db, sqlite3_mprintf(sql, "max", t->rowid, t->name), greatest, &is_null) == SQLITE_OK &&
           !is_null;
}

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

static char *select_of(const table *t, const char *const *columns, size_t n_columns, bool is_range) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "SELECT %s", t->rowid ? t->rowid : "0");
    for (size_t i = 0; i < n_columns; i++) {
        if (has_column(t, columns[i]))
            sqlite3_str_appendf(sql, ",\"%w\"", columns[i]);
        else
            sqlite3_str_appendall(sql, ",NULL");
    }
    sqlite3_str_appendf(sql, " FROM main.\"%w\" NOT INDEXED", t->name);
    if (is_range) sqlite3_str_appendf(sql, " WHERE %s BETWEEN ?1 AND ?2", t->rowid);
    return sqlite3_str_finish(sql);
}

assay_status as_scan_open(as_database *db, const char *name, const char *const *columns, size_t n_columns,
                          as_scan_range range, as_scan **out, assay_error *error) {
    *out = NULL;
    as_scan *scan = calloc(1, sizeof *scan);
    if (!scan) return as_fail_memory(error, db->input->path);
    const table *t = find_table(db, name);
    scan->db = db;
    if (!t) {
        *out = scan;
        return ASSAY_OK;
    }
    scan->table = t->name;
    scan->has_rowid = t->rowid != NULL;
    bool is_range = range.is_set && t->rowid;
    int status = take_connection(db, &scan->connection);
    if (status == SQLITE_OK)
        status = prepare(scan->connection, select_of(t, columns, n_columns, is_range), &scan->statement);
    if (status == SQLITE_OK && is_range) {
        sqlite3_bind_int64(scan->statement, 1, range.first);
        sqlite3_bind_int64(scan->statement, 2, range.last);
    }
    if (status == SQLITE_OK) {
        *out = scan;
        return ASSAY_OK;
    }
    assay_status failure = fail_sqlite(db, t->name, status, error);
    as_scan_close(scan, NULL);
    return failure;
}

bool as_scan_next(as_scan *scan) {
    if (!scan->statement || scan->status != SQLITE_OK) return false;
    int status = sqlite3_step(scan->statement);
    if (status == SQLITE_ROW) return true;
    scan->status = status; /* SQLITE_DONE, or what is wrong */
    return false;
}

assay_status as_scan_close(as_scan *scan, assay_error *error) {
    if (!scan) return ASSAY_OK;
    assay_status status = ASSAY_OK;
    if (scan->status != SQLITE_OK && scan->status != SQLITE_DONE)
        status = fail_sqlite(scan->db, scan->table, scan->status, error);
    sqlite3_finalize(scan->statement);
    give_connection(scan->db, scan->connection);
    free(scan);
    return status;
}

int64_t as_scan_rowid(const as_scan *scan) { return sqlite3_column_int64(scan->statement, 0); }

as_scan_type as_scan_type_of(const as_scan *scan, size_t column) {
    switch (sqlite3_column_type(scan->statement, (int)column + 1)) {
    case SQLITE_INTEGER: return AS_SCAN_INT;
    case SQLITE_FLOAT: return AS_SCAN_REAL;
    case SQLITE_TEXT: return AS_SCAN_TEXT;
    case SQLITE_BLOB: return AS_SCAN_BLOB;
    default: return AS_SCAN_NULL;
    }
}

int64_t as_scan_int(const as_scan *scan, size_t column) {
    return sqlite3_column_int64(scan->statement, (int)column + 1);
}

double as_scan_real(const as_scan *scan, size_t column) {
    return sqlite3_column_double(scan->statement, (int)column + 1);
}

const char *as_scan_text(const as_scan *scan, size_t column, size_t *size) {
    bool is_wide = !scan->db->header.is_utf8 && as_scan_type_of(scan, column) == AS_SCAN_TEXT;
    const char *text = is_wide ? (const char *)sqlite3_column_text(scan->statement, (int)column + 1)
                               : sqlite3_column_blob(scan->statement, (int)column + 1);
    *size = (size_t)sqlite3_column_bytes(scan->statement, (int)column + 1);
    return text ? text : "";
}
