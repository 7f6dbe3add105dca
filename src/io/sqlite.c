#include "io/sqlite.h"

#include <stdio.h>
#include <stdlib.h>

#include "io/sqlite_pages.h"

enum { CACHE_KIB = 256 };

/* ---- errors ------------------------------------------------------------------------------------------------------ */

assay_status as_database_fail(const as_database *db, const char *table, int status, assay_error *error) {
    status &= 0xff;
    as_place place = as_place_file(db->input->path);
    if (status == SQLITE_NOMEM) return as_fail_memory(error, db->input->path);
    const char *words = status == SQLITE_NOTADB ? "it is not a database, or encrypted" : sqlite3_errstr(status);
    if (table)
        return as_fail(error, ASSAY_E_FORMAT, place, "damaged-database", "is a damaged database, in table %s: %s",
                       table, words);
    return as_fail(error, ASSAY_E_FORMAT, place, "damaged-database", "is a damaged database: %s", words);
}

assay_status as_database_fail_page(const as_database *db, const char *table, uint32_t page, assay_error *error) {
    uint64_t offset = (uint64_t)(page - 1) * db->header.page_size;
    return as_fail(error, ASSAY_E_FORMAT, as_place_offset(db->input->path, offset), "damaged-database",
                   "is a damaged database: page %u, of table %s, is none", page, table);
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

/* Nothing of the file is trusted; nothing that could use a function, a trigger or a view of it is on; no memory is
 * spent on a cache of what is in memory anyway. */
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

int as_database_take(as_database *db, sqlite3 **out) {
    pthread_mutex_lock(&db->mutex);
    *out = db->n_idle ? db->idle[--db->n_idle] : NULL;
    pthread_mutex_unlock(&db->mutex);
    return *out ? SQLITE_OK : connect_new(db, out);
}

void as_database_give(as_database *db, sqlite3 *connection) {
    pthread_mutex_lock(&db->mutex);
    bool is_kept = connection && db->n_idle < AS_IDLE_CONNECTIONS;
    if (is_kept) db->idle[db->n_idle++] = connection;
    pthread_mutex_unlock(&db->mutex);
    if (!is_kept) sqlite3_close(connection);
}

int as_database_prepare(sqlite3 *connection, char *sql, sqlite3_stmt **out) {
    *out = NULL;
    int status = sql ? sqlite3_prepare_v2(connection, sql, -1, out, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return status;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

const as_database_column *as_database_column_of(const as_database_table *table, const char *name) {
    for (size_t i = 0; i < table->columns.count; i++) {
        const as_database_column *column = &AS_AT(as_database_column, &table->columns, i);
        if (sqlite3_stricmp(column->name, name) == 0) return column;
    }
    return NULL;
}

static bool has_word(const char *type, const char *const *words) {
    for (; *words; words++) {
        for (const char *at = type; *at; at++) {
            if (sqlite3_strnicmp(at, *words, (int)strlen(*words)) == 0) return true;
        }
    }
    return false;
}

/* By SQLite's rules of affinity. */
static bool is_real(const char *type) {
    static const char *const others[] = {"INT", "CHAR", "CLOB", "TEXT", "BLOB", NULL}, *const reals[] = {"REAL", "FLOA",
                                                                                                         "DOUB", NULL};
    return !has_word(type, others) && has_word(type, reals);
}

typedef struct found_columns {
    uint32_t n_stored, n_keys;
    size_t key; /* of the columns, where n_keys is 1 */
} found_columns;

/* Columns that are stored: what a generated one would compute is not believed. */
static int take_column(as_database_table *t, sqlite3_stmt *row, found_columns *found) {
    enum { NAME = 1, TYPE = 2, DEFAULT = 4, KEY = 5, HIDDEN = 6, HIDDEN_VIRTUAL = 2 };
    int hidden = sqlite3_column_int(row, HIDDEN);
    uint32_t stored = found->n_stored;
    if (hidden != HIDDEN_VIRTUAL) found->n_stored++;
    if (hidden) return SQLITE_OK;
    const char *name = (const char *)sqlite3_column_text(row, NAME),
               *type = (const char *)sqlite3_column_text(row, TYPE);
    as_database_column *column = name ? as_vec_push(&t->columns) : NULL;
    if (!column || !(column->name = strdup(name))) return SQLITE_NOMEM;
    column->stored = stored;
    column->is_real = type && is_real(type);
    column->has_default = sqlite3_column_type(row, DEFAULT) != SQLITE_NULL;
    if (sqlite3_column_int(row, KEY) > 0) {
        found->n_keys++;
        found->key = t->columns.count - 1;
    }
    return SQLITE_OK;
}

/* Whether the table's key has an index: then it is not the rowid itself. */
static int has_key_index(sqlite3 *connection, const as_database_table *t, bool *has) {
    sqlite3_stmt *statement;
    int status =
        as_database_prepare(connection, sqlite3_mprintf("PRAGMA main.index_list(\"%w\")", t->name), &statement);
    while (status == SQLITE_OK && (status = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *origin = (const char *)sqlite3_column_text(statement, 3);
        *has |= origin && strcmp(origin, "pk") == 0;
        status = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int find_columns(sqlite3 *connection, as_database_table *t) {
    sqlite3_stmt *statement;
    found_columns found = {0};
    int status =
        as_database_prepare(connection, sqlite3_mprintf("PRAGMA main.table_xinfo(\"%w\")", t->name), &statement);
    while (status == SQLITE_OK && (status = sqlite3_step(statement)) == SQLITE_ROW)
        status = take_column(t, statement, &found);
    sqlite3_finalize(statement);
    if (status != SQLITE_DONE) return status;
    bool has_index = false;
    status = found.n_keys == 1 ? has_key_index(connection, t, &has_index) : SQLITE_OK;
    if (found.n_keys == 1 && !has_index) AS_AT(as_database_column, &t->columns, found.key).is_rowid = true;
    return status;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static int find_rowid(sqlite3 *connection, as_database_table *t) {
    static const char *const names[] = {"rowid", "_rowid_", "oid"};
    for (size_t i = 0; i < 3 && !t->rowid; i++) {
        if (!as_database_column_of(t, names[i])) t->rowid = names[i];
    }
    if (!t->rowid) return SQLITE_OK;
    sqlite3_stmt *statement; /* of a table WITHOUT ROWID it cannot be made */
    int status = as_database_prepare(
        connection, sqlite3_mprintf("SELECT %s FROM main.\"%w\" NOT INDEXED", t->rowid, t->name), &statement);
    sqlite3_finalize(statement);
    if (status == SQLITE_ERROR) t->rowid = NULL;
    return status == SQLITE_ERROR ? SQLITE_OK : status;
}

static int add_table(as_database *db, sqlite3 *connection, const char *name, int64_t root) {
    as_database_table *t = as_vec_push(&db->tables);
    if (!t) return SQLITE_NOMEM;
    as_vec_init(&t->columns, sizeof(as_database_column), db->budget);
    t->name = name ? strdup(name) : NULL;
    t->root = root > 0 && root <= db->header.n_pages ? (uint32_t)root : 0;
    if (!t->name) return SQLITE_NOMEM;
    int status = find_columns(connection, t);
    return status == SQLITE_OK ? find_rowid(connection, t) : status;
}

/* Ordinary tables have a page of their own; views and virtual tables have none. */
static assay_status find_tables(as_database *db, assay_error *error) {
    sqlite3 *connection;
    sqlite3_stmt *statement = NULL;
    int status = as_database_take(db, &connection);
    if (status == SQLITE_OK)
        status = sqlite3_prepare_v2(connection,
                                    "SELECT name, rootpage FROM main.sqlite_master WHERE type='table' AND rootpage>0 "
                                    "AND typeof(name)='text' AND substr(name,1,7)<>'sqlite_'",
                                    -1, &statement, NULL);
    while (status == SQLITE_OK && (status = sqlite3_step(statement)) == SQLITE_ROW)
        status = add_table(db, connection, (const char *)sqlite3_column_text(statement, 0),
                           sqlite3_column_int64(statement, 1));
    sqlite3_finalize(statement);
    as_database_give(db, connection);
    return status == SQLITE_DONE ? ASSAY_OK : as_database_fail(db, NULL, status, error);
}

const as_database_table *as_database_table_of(const as_database *db, const char *name) {
    for (size_t i = 0; i < db->tables.count; i++) {
        const as_database_table *t = &AS_AT(as_database_table, &db->tables, i);
        if (sqlite3_stricmp(t->name, name) == 0) return t;
    }
    return NULL;
}

bool as_database_has_table(const as_database *db, const char *name) { return as_database_table_of(db, name) != NULL; }

bool as_database_has_column(const as_database *db, const char *name, const char *column) {
    const as_database_table *t = as_database_table_of(db, name);
    return t && as_database_column_of(t, column);
}

/* ---- open and close ---------------------------------------------------------------------------------------------- */

assay_status as_database_open(const as_input *input, as_budget *budget, as_database **out, assay_error *error) {
    as_database_header header;
    AS_TRY(as_database_check(input, &header, error));
    as_database *db = calloc(1, sizeof *db);
    if (!db) return as_fail_memory(error, input->path);
    db->input = input;
    db->budget = budget;
    db->header = header;
    as_vec_init(&db->tables, sizeof(as_database_table), budget);
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
        as_database_table *t = &AS_AT(as_database_table, &db->tables, i);
        for (size_t k = 0; k < t->columns.count; k++) free(AS_AT(as_database_column, &t->columns, k).name);
        as_vec_free(&t->columns);
        free(t->name);
    }
    as_vec_free(&db->tables);
    pthread_mutex_destroy(&db->mutex);
    free(db);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* A table without rowids is a tree of another kind. */
static assay_status count_by_sql(as_database *db, const as_database_table *t, uint64_t *n, assay_error *error) {
    sqlite3 *connection;
    sqlite3_stmt *statement = NULL;
    int status = as_database_take(db, &connection);
    if (status == SQLITE_OK)
        status = as_database_prepare(
            connection, sqlite3_mprintf("SELECT count(*) FROM main.\"%w\" NOT INDEXED", t->name), &statement);
    if (status == SQLITE_OK) status = sqlite3_step(statement);
    if (status == SQLITE_ROW) *n = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    as_database_give(db, connection);
    return status == SQLITE_ROW ? ASSAY_OK : as_database_fail(db, t->name, status, error);
}

assay_status as_database_count(as_database *db, const char *name, uint64_t *n, assay_error *error) {
    const as_database_table *t = as_database_table_of(db, name);
    as_table_cursor cursor;
    *n = 0;
    if (!t) return ASSAY_OK;
    if (!t->rowid) return count_by_sql(db, t, n, error);
    if (as_table_count(&cursor, db->input, &db->header, t->root, n)) return ASSAY_OK;
    return as_database_fail_page(db, t->name, cursor.damaged, error);
}

bool as_database_rowids(as_database *db, const char *name, int64_t *least, int64_t *greatest) {
    const as_database_table *t = as_database_table_of(db, name);
    as_table_cursor cursor;
    if (!t || !t->rowid) return false;
    as_table_seek(&cursor, db->input, &db->header, t->root, INT64_MIN);
    if (!as_table_next(&cursor)) return false;
    *least = cursor.rowid;
    return as_table_greatest(&cursor, db->input, &db->header, t->root, greatest);
}
