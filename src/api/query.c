/* The SQL part of the public interface. */
#include <stdlib.h>

#include "query/query.h"

struct assay_query {
    sqlite3 *db;
    sqlite3_stmt *statement;
};

void assay_query_close(assay_query *query) {
    if (!query) return;
    sqlite3_finalize(query->statement);
    sqlite3_close(query->db);
    free(query);
}

/* What is wrong with a statement that SQLite took, or NULL. */
static const char *complaint(const assay_query *query, const char *tail) {
    if (!query->statement) return "there is no statement";
    while (*tail == ' ' || *tail == '\t' || *tail == '\n' || *tail == '\r' || *tail == ';') tail++;
    return *tail ? "there is more than one statement; give them one by one" : NULL;
}

assay_status assay_query_open(assay_dataset *dataset, const char *sql, assay_query **out, assay_error *error) {
    *out = NULL;
    assay_query *query = calloc(1, sizeof *query);
    if (!query) return as_fail_memory(error, NULL);
    assay_status status = as_sql_open(&dataset, NULL, 1, &query->db, error);
    const char *tail = NULL;
    if (status == ASSAY_OK && sqlite3_prepare_v2(query->db, sql, -1, &query->statement, &tail) != SQLITE_OK)
        status = as_sql_fail(query->db, error);
    if (status == ASSAY_OK) {
        const char *wrong = complaint(query, tail);
        if (wrong) status = as_fail(error, ASSAY_E_SQL, AS_NOWHERE, "", "%s", wrong);
    }
    if (status == ASSAY_OK)
        *out = query;
    else
        assay_query_close(query);
    return status;
}

assay_status assay_query_next(assay_query *query, bool *row, assay_error *error) {
    int status = sqlite3_step(query->statement);
    *row = status == SQLITE_ROW;
    return *row || status == SQLITE_DONE ? ASSAY_OK : as_sql_fail(query->db, error);
}

int assay_query_columns(const assay_query *query) { return sqlite3_column_count(query->statement); }
const char *assay_query_column_name(const assay_query *query, int column) {
    return sqlite3_column_name(query->statement, column);
}
bool assay_query_is_null(const assay_query *query, int column) {
    return sqlite3_column_type(query->statement, column) == SQLITE_NULL;
}
int64_t assay_query_int(const assay_query *query, int column) { return sqlite3_column_int64(query->statement, column); }
double assay_query_double(const assay_query *query, int column) {
    return sqlite3_column_double(query->statement, column);
}
const char *assay_query_text(const assay_query *query, int column) {
    return (const char *)sqlite3_column_text(query->statement, column);
}
