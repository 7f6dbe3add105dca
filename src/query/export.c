/* A real database of the same tables. */
#include <stdlib.h>

#include "query/query.h"
#include "query/tables.h"

static bool run(sqlite3 *db, char *sql) {
    int status = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return status == SQLITE_OK;
}

static bool export_table(void *user, const as_sql_table *table, const char *name, const as_table *records) {
    sqlite3 *db = user;
    char *columns = as_table_schema(table, records);
    if (!columns) return false;
    bool ok = run(db, sqlite3_mprintf("CREATE TABLE out.\"%w\"(%s%s%s)", name, columns, table->export_key ? ", " : "",
                                      table->export_key ? table->export_key : ""));
    sqlite3_free(columns);
    ok = ok && run(db, sqlite3_mprintf("INSERT INTO out.\"%w\" SELECT * FROM main.\"%w\"", name, name));
    for (int i = 0; ok && i < AS_MAX_INDEXES && table->export_indexes[i]; i++) {
        ok = run(db, sqlite3_mprintf("CREATE INDEX out.\"%w_%d\" ON \"%w\"(%s)", name, i + 1, name,
                                     table->export_indexes[i]));
    }
    return ok;
}

/* Opens the file as the database `out`. The temporary file is dropped after any failure, so there is nothing to roll
 * back. */
static bool attach(sqlite3 *db, const char *file) {
    /* "./" keeps a name that looks like a URI from being taken for one. */
    char *prefixed = sqlite3_mprintf("%s%s", file[0] == '/' ? "" : "./", file);
    bool ok = prefixed && run(db, sqlite3_mprintf("ATTACH %Q AS out", prefixed));
    sqlite3_free(prefixed);
    return ok &&
           run(db,
               sqlite3_mprintf(
                   "PRAGMA out.journal_mode = OFF; PRAGMA out.synchronous = OFF; PRAGMA out.locking_mode = EXCLUSIVE;"
                   "PRAGMA out.cache_size = -65536"));
}

static bool fill(sqlite3 *db, const as_dataset *dataset) {
    as_view view;
    bool ok = as_view_init(&view, dataset) && run(db, sqlite3_mprintf("BEGIN")) &&
              as_each_table(&view, export_table, db) && run(db, sqlite3_mprintf("COMMIT")) &&
              run(db, sqlite3_mprintf("DETACH out"));
    as_view_free(&view);
    return ok;
}

static assay_status export_failed(sqlite3 *db, const char *path, assay_error *error) {
    int code = sqlite3_errcode(db) & 0xff;
    /* What fails without SQLite knowing is the memory for a statement's text. */
    if (code == SQLITE_NOMEM || code == SQLITE_OK) return as_fail_memory(error, path);
    assay_status status =
        code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? ASSAY_E_IO : ASSAY_E_SQL;
    return as_fail(error, status, as_place_file(path), "", "cannot write the database: %s", sqlite3_errmsg(db));
}

static assay_status export_to(const as_dataset *dataset, const char *path, const char *file, assay_error *error) {
    sqlite3 *db;
    AS_TRY(as_sql_connect(&dataset, NULL, 1, NULL, &db, error));
    assay_status status = attach(db, file) && fill(db, dataset) ? ASSAY_OK : export_failed(db, path, error);
    sqlite3_close(db);
    return status;
}

/* All paths of the call tree written out, in bytes: they may be a thousand times what the file is. */
static assay_status check_paths(const as_dataset *ds, const char *path, assay_error *error) {
    const uint64_t most = (uint64_t)16 << 30;
    uint32_t *sizes = as_path_sizes(ds);
    uint64_t total = 0;
    if (!sizes) return as_fail_memory(error, path);
    for (size_t i = 0; i < AS_COUNT(ds, contexts); i++) total += sizes[i] == AS_NO_PATH ? 0 : sizes[i];
    free(sizes);
    if (total <= most) return ASSAY_OK;
    return as_fail(error, ASSAY_E_UNSUPPORTED, as_place_file(path), "",
                   "the call tree is too deep for a database: its paths alone would take more than 16 GiB");
}

assay_status as_sql_export(const as_dataset *dataset, const char *path, assay_error *error) {
    AS_TRY(check_paths(dataset, path, error));
    as_output *out;
    AS_TRY(as_output_open(path, &out, error));
    const char *file = as_output_temporary(out);
    assay_status status = file ? export_to(dataset, path, file, error)
                               : as_fail(error, ASSAY_E_UNSUPPORTED, as_place_file(path), "",
                                         "a database can only be written to a regular file");
    if (status == ASSAY_OK) return as_output_commit(out, error);
    as_output_discard(out);
    return status;
}
