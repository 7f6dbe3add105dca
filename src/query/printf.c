#include "query/printf.h"

#include <stdlib.h>

/* SQLite's own function, on a connection where it has not been replaced. */
typedef struct original {
    const char *name;
    sqlite3 *plain;
    sqlite3_stmt *call;
    int n_arguments; /* of the call */
} original;

static void free_original(void *user) {
    original *function = user;
    sqlite3_finalize(function->call);
    sqlite3_close(function->plain);
    free(function);
}

static original *make_original(const char *name) {
    original *function = calloc(1, sizeof *function);
    if (!function) return NULL;
    function->name = name;
    if (sqlite3_open_v2(":memory:", &function->plain, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK)
        return function;
    free_original(function);
    return NULL;
}

static bool prepare_call(original *function, int n) {
    if (function->call && function->n_arguments == n) return true;
    sqlite3_finalize(function->call);
    function->call = NULL;
    function->n_arguments = n;
    sqlite3_str *made = sqlite3_str_new(NULL);
    sqlite3_str_appendf(made, "SELECT %s(", function->name);
    for (int i = 0; i < n; i++) sqlite3_str_appendf(made, "%s?%d", i ? ", " : "", i + 1);
    sqlite3_str_append(made, ")", 1);
    char *sql = sqlite3_str_finish(made);
    bool fine = sql && sqlite3_prepare_v2(function->plain, sql, -1, &function->call, NULL) == SQLITE_OK;
    sqlite3_free(sql);
    return fine;
}

/* Whether it answers NULL with a letter before the format, too: it is out of room then, and the format is not one that
 * writes nothing. */
static bool is_too_long(sqlite3_stmt *call, sqlite3_value *format) {
    sqlite3_reset(call);
    sqlite3_bind_text(call, 1, sqlite3_mprintf("x%s", sqlite3_value_text(format)), -1, sqlite3_free);
    return sqlite3_step(call) == SQLITE_ROW && sqlite3_column_type(call, 0) == SQLITE_NULL;
}

static void call_original(sqlite3_context *context, int n, sqlite3_value **arguments) {
    original *function = sqlite3_user_data(context);
    sqlite3_limit(function->plain, SQLITE_LIMIT_LENGTH,
                  sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1));
    if (!prepare_call(function, n)) {
        sqlite3_result_error_nomem(context);
        return;
    }
    for (int i = 0; i < n; i++) sqlite3_bind_value(function->call, i + 1, arguments[i]);
    if (sqlite3_step(function->call) != SQLITE_ROW)
        sqlite3_result_error_code(context, sqlite3_errcode(function->plain));
    else if (sqlite3_column_type(function->call, 0) != SQLITE_NULL)
        sqlite3_result_value(context, sqlite3_column_value(function->call, 0));
    else if (n > 0 && sqlite3_value_type(arguments[0]) != SQLITE_NULL && is_too_long(function->call, arguments[0]))
        sqlite3_result_error_toobig(context);
    sqlite3_reset(function->call);
    sqlite3_clear_bindings(function->call);
}

bool as_sql_check_printf(sqlite3 *db) {
    static const char *const names[] = {"printf", "format"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        original *function = make_original(names[i]);
        if (!function) return false;
        /* It frees the function where it fails, too. */
        if (sqlite3_create_function_v2(db, names[i], -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                       function, call_original, NULL, NULL, free_original) != SQLITE_OK)
            return false;
    }
    return true;
}
