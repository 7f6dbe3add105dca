/* Statements of SQL over an input (POST api/sql). */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/sql_limits.h"

enum {
    MOST_ROWS = 10000,
    MOST_BYTES = 4 << 20,
    MOST_AT_ONCE = 4,      /* statements that run at the same time */
    MOST_SHOWN = 64 << 10, /* bytes of a text that are shown */
    MOST_BLOB = 32         /* bytes of a blob that are shown */
};

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* The place of a byte of the statement, as people count. */
static as_place place_of(const char *sql, size_t offset) {
    as_place place = {.offset = (int64_t)offset, .line = 1, .column = 1};
    for (const char *at = sql; at < sql + offset && *at; at++) {
        if (*at == '\n')
            place.line++, place.column = 1;
        else
            place.column += ((unsigned char)*at & 0xc0) != 0x80; /* characters, not bytes */
    }
    return place;
}

/* start: of what was prepared, in the request's body. */
static assay_status fail_statement(sqlite3 *db, const as_sql_watch *watch, const char *start, assay_error *error) {
    const char *sql = watch->request->body;
    int offset = sqlite3_error_offset(db);
    if (watch->is_late)
        return as_fail(error, ASSAY_E_SQL, AS_NOWHERE, "too-long",
                       "this takes longer than %d s; ask for less, or use `assay sql`, which has no limit",
                       AS_SQL_SECONDS);
    assay_error said;
    assay_status status = as_sql_fail(db, &said);
    if (status == ASSAY_E_NOMEM)
        return as_fail(error, status, AS_NOWHERE, "too-much",
                       "this takes more than %d MiB of memory; ask for less, or use `assay sql`, which has no limit",
                       AS_SQL_MEMORY >> 20);
    int code = sqlite3_errcode(db) & 0xff;
    if (code == SQLITE_TOOBIG)
        return as_fail(
            error, status, AS_NOWHERE, "too-much",
            "this makes a value or row of more than %d KiB, or is as long; use `assay sql`, which has no limit",
            AS_SQL_VALUE >> 10);
    if (code == SQLITE_FULL)
        return as_fail(
            error, status, AS_NOWHERE, "too-much",
            "this sorts more than %d MiB, or the disk is full; add a LIMIT, or use `assay sql`, which has no limit",
            AS_SQL_FILES >> 20);
    as_place place = offset < 0 ? AS_NOWHERE : place_of(sql, (size_t)(start - sql) + (size_t)offset);
    return as_fail(error, status, place, said.rule, "%s", said.message);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void build_blob(as_builder *b, sqlite3_stmt *statement, int column) {
    const unsigned char *bytes = sqlite3_column_blob(statement, column);
    int size = sqlite3_column_bytes(statement, column), shown = size < MOST_BLOB ? size : MOST_BLOB;
    char text[2 * MOST_BLOB + 8] = "x'";
    size_t at = 2;
    for (int i = 0; i < shown; i++) at += (size_t)snprintf(text + at, 3, "%02x", bytes[i]);
    snprintf(text + at, sizeof text - at, "%s", size > shown ? "…'" : "'");
    as_build_text(b, NULL, text);
}

/* What a column has: one bit for each of SQLite's types. */
static const char *type_name(unsigned types) {
    types &= ~(1u << SQLITE_NULL);
    return types == 0                                                ? "null"
           : types == 1u << SQLITE_INTEGER                           ? "integer"
           : (types & ~(1u << SQLITE_INTEGER)) == 1u << SQLITE_FLOAT ? "real"
           : types == 1u << SQLITE_TEXT                              ? "text"
           : types == 1u << SQLITE_BLOB                              ? "blob"
                                                                     : "mixed";
}

static void build_row(as_builder *b, sqlite3_stmt *statement, unsigned *types) {
    as_build_array(b, NULL, false);
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        int type = sqlite3_column_type(statement, i);
        types[i] |= 1u << type;
        if (type == SQLITE_BLOB) {
            build_blob(b, statement, i);
        } else {
            as_cell cell = as_sql_cell(statement, i);
            as_answer_cell(b, NULL, &cell, MOST_SHOWN);
        }
    }
    as_build_end(b);
}

/* Steps through the rows as long as there is room. *more: there are others. */
static int build_rows(as_builder *b, sqlite3_stmt *statement, unsigned *types, size_t *n, bool *more) {
    int status;
    *n = 0;
    *more = false;
    as_build_array(b, "rows", false);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        *more = *n == MOST_ROWS || as_output_size(b->out) > MOST_BYTES;
        if (*more) break;
        build_row(b, statement, types);
        ++*n;
    }
    as_build_end(b);
    return status;
}

static assay_status build_result(sqlite3 *db, sqlite3_stmt *statement, const as_sql_watch *watch, as_output *out,
                                 assay_error *error) {
    as_builder b = as_builder_of(out);
    int n_columns = sqlite3_column_count(statement);
    unsigned *types = calloc((size_t)n_columns + 1, sizeof *types);
    size_t n;
    bool more;
    if (!types) return as_fail_memory(error, NULL);
    b.compact = true;
    as_build_object(&b, NULL, false);
    as_build_array(&b, "columns", false);
    for (int i = 0; i < n_columns; i++) as_build_text(&b, NULL, sqlite3_column_name(statement, i));
    as_build_end(&b);
    int status = build_rows(&b, statement, types, &n, &more);
    as_build_array(&b, "types", false);
    for (int i = 0; i < n_columns; i++) as_build_text(&b, NULL, type_name(types[i]));
    as_build_end(&b);
    as_build_int(&b, "n", (int64_t)n);
    as_build_bool(&b, "more", more);
    as_build_real(&b, "seconds", as_sql_now() - watch->begin);
    as_build_end(&b);
    free(types);
    return status == SQLITE_DONE || status == SQLITE_ROW ? ASSAY_OK
                                                         : fail_statement(db, watch, watch->request->body, error);
}

/* ---- one statement ----------------------------------------------------------------------------------------------- */

/* Whether nothing but comments and semicolons follows; else where the next statement begins. */
static bool is_end(sqlite3 *db, const char *tail, const char **next) {
    while (*tail) {
        sqlite3_stmt *statement = NULL;
        *next = tail + strspn(tail, " \t\r\n;");
        if (!**next) return true;
        int status = sqlite3_prepare_v2(db, *next, -1, &statement, &tail);
        sqlite3_finalize(statement);
        if (status != SQLITE_OK || statement) return false;
    }
    return true;
}

static assay_status run_statement(sqlite3 *db, const as_sql_watch *watch, as_output *out, assay_error *error) {
    const char *sql = watch->request->body, *tail = sql, *next;
    sqlite3_stmt *statement = NULL;
    while (*tail && !statement) { /* semicolons may come before it */
        const char *start = tail;
        if (sqlite3_prepare_v2(db, tail, -1, &statement, &tail) != SQLITE_OK)
            return fail_statement(db, watch, start, error);
    }
    if (!statement) return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "there is no statement");
    assay_status status;
    if (!is_end(db, tail, &next))
        status = as_fail(error, ASSAY_E_SQL, place_of(sql, (size_t)(next - sql)), "",
                         "another statement begins here; one at a time");
    else if (!sqlite3_stmt_readonly(statement) || sqlite3_column_count(statement) == 0)
        status = as_fail(error, ASSAY_E_SQL, AS_NOWHERE, "", "only statements that read and give rows are run here");
    else
        status = build_result(db, statement, watch, out, error);
    sqlite3_finalize(statement);
    return status;
}

static atomic_int n_running;

static assay_status answer_sql(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    as_view_input *input;
    sqlite3 *db = NULL;
    as_sql_watch watch;
    AS_TRY(as_request_input_to_read(viewing, request, "d", &input, error));
    if (strlen(request->body) != request->body_size)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "the statement has a zero byte");
    if (atomic_fetch_add(&n_running, 1) >= MOST_AT_ONCE) {
        atomic_fetch_sub(&n_running, 1);
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "%d statements are still running; try again later",
                       MOST_AT_ONCE);
    }
    as_dataset *ds = input->ds; /* others may lose it meanwhile (as_viewing_lose_changed()), but it stays */
    as_viewing_leave(viewing, input);
    assay_status status = as_sql_open_limited(ds, request, &watch, &db, error);
    if (status == ASSAY_OK) status = run_statement(db, &watch, out, error);
    as_sql_close_limited(db, &watch);
    as_viewing_return(viewing, input);
    atomic_fetch_sub(&n_running, 1);
    return status;
}

const as_endpoint as_endpoint_sql = {.path = "sql", .is_post = true, .answer = answer_sql};
