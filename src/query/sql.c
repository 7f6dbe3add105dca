#include "query/query.h"

#include <stdlib.h>

#include "query/printf.h"
#include "query/tables.h"

/* ---- errors, cells, names ---------------------------------------------------------------------------------------- */

assay_status as_sql_fail(sqlite3 *db, assay_error *error) {
    int code = sqlite3_errcode(db) & 0xff;
    const char *message = sqlite3_errmsg(db);
    /* What fails without SQLite knowing is the memory for a statement's text. */
    if (code == SQLITE_NOMEM || code == SQLITE_OK) return as_fail_memory(error, NULL);
    if (code == SQLITE_INTERRUPT) return as_fail(error, ASSAY_E_CANCELLED, AS_NOWHERE, "", "interrupted");
    if (code == SQLITE_CORRUPT) return as_fail(error, ASSAY_E_FORMAT, AS_NOWHERE, "", "%s", message);
    if (code == SQLITE_TOOBIG)
        return as_fail(error, ASSAY_E_SQL, AS_NOWHERE, "", "a text or blob has more than %d bytes; make less of it",
                       sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1));
    if (code == SQLITE_AUTH) {
        return as_fail(error, ASSAY_E_SQL, AS_NOWHERE, "",
                       "%s; a statement may read, and make temporary tables and views, nothing else", message);
    }
    return as_fail(error, ASSAY_E_SQL, AS_NOWHERE, "", "%s", message);
}

as_cell as_sql_cell(sqlite3_stmt *statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: return as_cell_null();
    case SQLITE_INTEGER: return as_cell_int(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT: return as_cell_real(sqlite3_column_double(statement, column));
    default: {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        return as_cell_text_n(text ? text : "", (size_t)sqlite3_column_bytes(statement, column));
    }
    }
}

static bool is_usable(const char *name, char *const *taken, size_t n) {
    if (sqlite3_stricmp(name, "main") == 0 || sqlite3_stricmp(name, "temp") == 0) return false;
    for (size_t i = 0; i < n; i++) {
        if (taken[i] && sqlite3_stricmp(name, taken[i]) == 0) return false;
    }
    return true;
}

enum { MAX_NAME = 64 };

/* The last part of the path without its ending, with '_' for what a name cannot have. */
static void plain_name(const char *path, char name[MAX_NAME]) {
    size_t size = strlen(path), length = 0;
    while (size > 1 && path[size - 1] == '/') size--;
    size_t start = size;
    while (start > 0 && path[start - 1] != '/') start--;
    for (size_t i = size; i > start + 1; i--) {
        if (path[i - 1] != '.') continue;
        size = i - 1;
        break;
    }
    if (start < size && path[start] >= '0' && path[start] <= '9') name[length++] = '_';
    for (size_t i = start; i < size && length < MAX_NAME - 16; i++) {
        unsigned char c = (unsigned char)path[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name[length++] = is_plain ? path[i] : '_';
    }
    name[length] = '\0';
    if (strcmp(path, "-") == 0)
        memcpy(name, "stdin", sizeof "stdin");
    else if (length == 0)
        memcpy(name, "data", sizeof "data");
    else if (sqlite3_keyword_check(name, (int)length))
        memcpy(name + length, "_", sizeof "_");
}

char *as_sql_name(const char *path, char *const *taken, size_t n) {
    char name[MAX_NAME];
    plain_name(path, name);
    size_t length = strlen(name);
    for (unsigned number = 2; !is_usable(name, taken, n); number++) {
        name[length] = '_';
        as_uint_format(number, name + length + 1);
    }
    return strdup(name);
}

/* ---- what a statement may do ------------------------------------------------------------------------------------- */

static bool is_one_of(const char *word, const char *const *words) {
    for (; *words; words++) {
        if (sqlite3_stricmp(word, *words) == 0) return true;
    }
    return false;
}

/* Pragmas that only tell. */
static bool may_use_pragma(const char *name) {
    static const char *const harmless[] = {"collation_list",
                                           "compile_options",
                                           "database_list",
                                           "function_list",
                                           "index_info",
                                           "index_list",
                                           "index_xinfo",
                                           "module_list",
                                           "pragma_list",
                                           "table_info",
                                           "table_list",
                                           "table_xinfo",
                                           NULL};
    return is_one_of(name, harmless);
}

/* Reads are fine, and writes to the temporary database; attaching files, changing settings, loading code and touching
 * the virtual tables are not. */
static int authorize(void *user, int action, const char *first, const char *second, const char *database,
                     const char *trigger) {
    (void)user;
    (void)trigger;
    static const char *const dangerous[] = {"load_extension", "fts3_tokenizer", NULL};
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_TRIGGER:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_DROP_TEMP_INDEX:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_TRIGGER:
    case SQLITE_DROP_TEMP_VIEW: return SQLITE_OK;
    case SQLITE_UPDATE:
        /* SQLite asks this when it sets up functions such as json_each(); a statement that says so is refused by SQLite
         * itself. */
        if (strcmp(first, "sqlite_master") == 0) return SQLITE_OK;
        /* fall through */
    case SQLITE_INSERT:
    case SQLITE_DELETE:
    case SQLITE_REINDEX: return database && strcmp(database, "temp") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_ALTER_TABLE: return first && strcmp(first, "temp") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION: return second && is_one_of(second, dangerous) ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: return first && may_use_pragma(first) ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

/* ---- connecting -------------------------------------------------------------------------------------------------- */

static void free_views(void *user) {
    as_views *views = user;
    for (size_t i = 0; i < views->n; i++) as_view_free(&views->views[i]);
    free(views->views);
    free(views->main_name);
    free(views);
}

static as_views *make_views(const as_dataset *const *datasets, const char *const *names, size_t n,
                            const as_patience *patience) {
    as_views *views = calloc(1, sizeof *views);
    if (!views) return NULL;
    views->views = calloc(n, sizeof *views->views);
    views->main_name = strdup(names && names[0] ? names[0] : "main");
    bool ok = views->views && views->main_name;
    for (size_t i = 0; ok && i < n; i++) {
        ok = as_view_init(&views->views[i], datasets[i]);
        views->views[i].patience = patience;
        views->n++;
    }
    if (ok) return views;
    free_views(views);
    return NULL;
}

typedef struct creation {
    sqlite3_str *rows;
    size_t dataset;
} creation;

static int execute(sqlite3 *db, char *sql) {
    int status = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return status;
}

static bool add_table(void *user, const as_sql_table *table, const char *name, const as_table *records) {
    (void)records;
    const creation *where = user;
    char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING %s(%llu)", name,
                                table->module ? table->module : "assay_table", (unsigned long long)where->dataset);
    if (sql)
        sqlite3_str_appendf(where->rows, "%s('table', %Q, %Q, 0, %Q)", sqlite3_str_length(where->rows) ? "," : "", name,
                            name, sql);
    sqlite3_free(sql);
    return sql != NULL;
}

/* All tables of a dataset in one statement: their rows of the schema, as CREATE VIRTUAL TABLE would write them. SQLite
 * then connects to a table when a statement first names it, instead of to each of them now. */
static bool create_tables(sqlite3 *db, as_view *view, const char *database, size_t dataset) {
    creation where = {sqlite3_str_new(db), dataset};
    bool has_all = as_each_table(view, add_table, &where);
    char *rows = sqlite3_str_finish(where.rows);
    bool fine = has_all && rows &&
                execute(db, sqlite3_mprintf("INSERT INTO \"%w\".sqlite_master VALUES %s", database, rows)) == SQLITE_OK;
    sqlite3_free(rows);
    return fine;
}

/* Hands views over to the connection, which frees them when it is closed. */
static bool add_modules(sqlite3 *db, as_views *views) {
    return sqlite3_create_module_v2(db, "assay_table", &as_table_module, views, free_views) == SQLITE_OK &&
           sqlite3_create_module_v2(db, "assay_value", &as_value_module, views, NULL) == SQLITE_OK &&
           sqlite3_create_module_v2(db, "assay_measurement", &as_measurement_module, views, NULL) == SQLITE_OK &&
           sqlite3_create_module_v2(db, "assay_node", &as_node_module, views, NULL) == SQLITE_OK &&
           sqlite3_create_module_v2(db, "assay_event", &as_event_module, views, NULL) == SQLITE_OK &&
           sqlite3_create_module_v2(db, "assay_attribute", &as_attribute_module, views, NULL) == SQLITE_OK;
}

static bool fill(sqlite3 *db, as_views *views, const char *const *names) {
    if (!add_modules(db, views)) return false;
    sqlite3_db_config(db, SQLITE_DBCONFIG_MAINDBNAME, views->main_name);
    for (size_t i = 1; i < views->n; i++) {
        if (execute(db, sqlite3_mprintf("ATTACH ':memory:' AS \"%w\"", names[i])) != SQLITE_OK) return false;
    }
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL); /* some builds of SQLite begin with it */
    if (sqlite3_exec(db, "PRAGMA writable_schema = 1", NULL, NULL, NULL) != SQLITE_OK) return false;
    for (size_t i = 0; i < views->n; i++) {
        if (!create_tables(db, &views->views[i], i == 0 ? "main" : names[i], i)) return false;
    }
    return sqlite3_exec(db, "PRAGMA writable_schema = reset", NULL, NULL, NULL) == SQLITE_OK;
}

assay_status as_sql_connect(const as_dataset *const *datasets, const char *const *names, size_t n,
                            const as_patience *patience, sqlite3 **out, assay_error *error) {
    sqlite3 *db = NULL;
    *out = NULL;
    if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK) {
        sqlite3_close(db);
        return as_fail_memory(error, NULL);
    }
    size_t most = (size_t)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, -1) + 1;
    if (n > most) {
        sqlite3_close(db);
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "",
                       "%zu datasets side by side are more than the %zu SQLite can hold; query fewer at a time", n,
                       most);
    }
    as_views *views = make_views(datasets, names, n, patience);
    if (!views) {
        sqlite3_close(db);
        return as_fail_memory(error, NULL);
    }
    if (!fill(db, views, names)) {
        assay_status status = as_sql_fail(db, error);
        sqlite3_close(db);
        return status;
    }
    *out = db;
    return ASSAY_OK;
}

/* Closes it where that fails. */
static assay_status guard(sqlite3 **db, assay_error *error) {
    sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_set_authorizer(*db, authorize, NULL);
    if (as_sql_check_printf(*db)) return ASSAY_OK;
    sqlite3_close(*db);
    *db = NULL;
    return as_fail_memory(error, NULL);
}

assay_status as_sql_open(as_dataset *const *datasets, const char *const *names, size_t n, sqlite3 **out,
                         assay_error *error) {
    AS_TRY(as_sql_connect((const as_dataset *const *)datasets, names, n, NULL, out, error));
    return guard(out, error);
}

assay_status as_sql_open_patient(as_dataset *dataset, const as_patience *patience, sqlite3 **out, assay_error *error) {
    AS_TRY(as_sql_connect((const as_dataset *const[]){dataset}, NULL, 1, patience, out, error));
    return guard(out, error);
}
