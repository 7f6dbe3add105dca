#include "server/sql_limits.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "query/printf.h"
#include "server/sql_files.h"
#include "server/sql_memory.h"

enum {
    MOST_COLUMNS = 500,
    MOST_COMPOUNDS = 100,
    MOST_DEPTH = 200, /* of expressions */
    MOST_PATTERN = 1000,
    MOST_OPERATIONS = 100000,  /* of the program made of a statement */
    STEPS_BETWEEN_LOOKS = 100, /* of SQLite's machine; a step may read much of a table */
    MOST_WORK = 1 << 26,       /* bytes that one function may go through, 0.3 s of the slowest */
    WORK_TO_LOOK = 1 << 14     /* so much that the clock is worth a look before it */
};
static const double seconds_between_peeks = 0.05; /* whether the client is still there */

double as_sql_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Whether it must end. */
static int look(void *user) {
    as_sql_watch *watch = user;
    double now = as_sql_now();
    const as_request *request = watch->request;
    if (now - watch->begin > AS_SQL_SECONDS) watch->is_late = true;
    if (request->is_gone && now - watch->peeked > seconds_between_peeks) {
        watch->peeked = now;
        if (request->is_gone(request->connection)) watch->is_unwanted = true;
    }
    return watch->is_late || watch->is_unwanted;
}

static bool is_over(void *user) { return look(user) != 0; }

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Functions that take as many steps as the product of two sizes, where SQLite neither looks at the clock nor can be
 * stopped. They are called through here: sizes are limited, the clock is looked at, then SQLite's own function
 * answers. */
static const struct {
    const char *name, *call;
    int n_arguments;       /* -1: any number of them, and the call is made for each number */
    unsigned bytes_a_step; /* that each of the two has at least */
} guarded[AS_SQL_GUARDS] = {
    {"instr", "SELECT instr(?1, ?2)", 2, 1},
    {"replace", "SELECT replace(?1, ?2, ?3)", 3, 1},
    {"trim", "SELECT trim(?1, ?2)", 2, 1},
    {"ltrim", "SELECT ltrim(?1, ?2)", 2, 1},
    {"rtrim", "SELECT rtrim(?1, ?2)", 2, 1},
    {"unhex", "SELECT unhex(?1, ?2)", 2, 1},
    {"like", "SELECT like(?1, ?2)", 2, 1},
    {"like", "SELECT like(?1, ?2, ?3)", 3, 1},
    {"glob", "SELECT glob(?1, ?2)", 2, 1},
    {"json_patch", "SELECT json_patch(?1, ?2)", 2, 8},
    {"jsonb_patch", "SELECT jsonb_patch(?1, ?2)", 2, 8},
    {"printf", NULL, -1, 1},
    {"format", NULL, -1, 1},
};

static void answer_plainly(sqlite3_context *context, sqlite3_stmt *call, int n, sqlite3_value **arguments,
                           bool is_json) {
    sqlite3 *plain = sqlite3_db_handle(call);
    for (int i = 0; i < n; i++) sqlite3_bind_value(call, i + 1, arguments[i]);
    if (sqlite3_step(call) == SQLITE_ROW) {
        sqlite3_result_value(context, sqlite3_column_value(call, 0));
        if (is_json) sqlite3_result_subtype(context, 'J'); /* SQLite's mark */
    } else {
        sqlite3_result_error(context, sqlite3_errmsg(plain), -1);
        if (sqlite3_errcode(plain) == SQLITE_NOMEM) sqlite3_result_error_nomem(context);
        if (sqlite3_errcode(plain) == SQLITE_TOOBIG) sqlite3_result_error_toobig(context);
    }
    sqlite3_reset(call);
    sqlite3_clear_bindings(call);
}

/* The commonest of them, which SQLite lends without a statement. */
static bool match(sqlite3_context *context, const char *name, int n, sqlite3_value **arguments) {
    bool is_like = strcmp(name, "like") == 0;
    if (n != 2 || (!is_like && strcmp(name, "glob") != 0)) return false;
    const char *pattern = (const char *)sqlite3_value_text(arguments[0]);
    const char *text = (const char *)sqlite3_value_text(arguments[1]);
    if (!pattern || !text || sqlite3_value_bytes(arguments[0]) > MOST_PATTERN) return false;
    int order = is_like ? sqlite3_strlike(pattern, text, 0) : sqlite3_strglob(pattern, text);
    sqlite3_result_int(context, order == 0);
    return true;
}

/* The bytes that printf() fills for one width or precision; *format: where it stands. */
static uint64_t width_of(const char **format, uint64_t largest) {
    uint64_t width = 0;
    if (**format == '*') {
        ++*format;
        return largest;
    }
    for (; **format >= '0' && **format <= '9'; ++*format)
        width = width < MOST_WORK ? 10 * width + (uint64_t)(**format - '0') : width;
    return width;
}

/* What printf() fills by its widths, even where nobody gets to see it. */
static uint64_t printf_work(int n, sqlite3_value **arguments) {
    const char *format = n > 0 ? (const char *)sqlite3_value_text(arguments[0]) : NULL;
    uint64_t largest = 0, work = 0;
    for (int i = 1; i < n; i++) {
        int64_t number = sqlite3_value_int64(arguments[i]);
        uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
        if (size > largest) largest = size < MOST_WORK ? size : MOST_WORK + 1;
    }
    while (format && (format = strchr(format, '%')) && work <= MOST_WORK) {
        format += 1 + strspn(format + 1, "-+ 0#!,");
        work += width_of(&format, largest);
        if (*format == '.') {
            format++;
            work += width_of(&format, largest);
        }
        if (*format) format++;
    }
    return work;
}

static uint64_t work_of(size_t which, int n, sqlite3_value **arguments) {
    uint64_t step = guarded[which].bytes_a_step;
    if (!guarded[which].call) return printf_work(n, arguments);
    return ((uint64_t)sqlite3_value_bytes(arguments[0]) / step) * ((uint64_t)sqlite3_value_bytes(arguments[1]) / step);
}

/* Makes the call for so many arguments, where that is not given. */
static int prepare_call(as_sql_guard *guard, size_t which, int n) {
    const char *sql = guarded[which].call;
    if (guard->call && (sql || guard->n_arguments == n)) return SQLITE_OK;
    sqlite3_finalize(guard->call);
    guard->call = NULL;
    guard->n_arguments = n;
    if (sql) return sqlite3_prepare_v2(guard->watch->plain, sql, -1, &guard->call, NULL);
    sqlite3_str *made = sqlite3_str_new(guard->watch->plain);
    sqlite3_str_appendf(made, "SELECT %s(", guarded[which].name);
    for (int i = 0; i < n; i++) sqlite3_str_appendf(made, "%s?%d", i ? ", " : "", i + 1);
    sqlite3_str_append(made, ")", 1);
    char *text = sqlite3_str_finish(made);
    int status = text ? sqlite3_prepare_v2(guard->watch->plain, text, -1, &guard->call, NULL) : SQLITE_NOMEM;
    sqlite3_free(text);
    return status;
}

static void call_guarded(sqlite3_context *context, int n, sqlite3_value **arguments) {
    as_sql_guard *guard = sqlite3_user_data(context);
    size_t which = (size_t)(guard - guard->watch->guards);
    const char *name = guarded[which].name;
    uint64_t work = work_of(which, n, arguments);
    if (work > MOST_WORK) {
        char message[100];
        snprintf(message, sizeof message, "texts too long for %s() here; use `assay sql`, which has no limit", name);
        sqlite3_result_error(context, message, -1);
    } else if (work > WORK_TO_LOOK && look(guard->watch)) {
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    } else if (!match(context, name, n, arguments)) {
        if (prepare_call(guard, which, n) == SQLITE_OK)
            answer_plainly(context, guard->call, n, arguments, strncmp(name, "json", 4) == 0);
        else
            sqlite3_result_error_nomem(context);
    }
}

/* False when memory is out. */
static bool guard_functions(sqlite3 *db, as_sql_watch *watch) {
    for (size_t i = 0; i < AS_SQL_GUARDS; i++) {
        as_sql_guard *guard = &watch->guards[i];
        guard->watch = watch;
        int status = prepare_call(guard, i, 1);
        if (status == SQLITE_ERROR) continue; /* what this SQLite does not have, it need not be kept from */
        if (status != SQLITE_OK || sqlite3_create_function(db, guarded[i].name, guarded[i].n_arguments,
                                                           SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, guard,
                                                           call_guarded, NULL, NULL) != SQLITE_OK)
            return false;
    }
    return true;
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

static void limit(sqlite3 *db) {
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, AS_SQL_VALUE);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, AS_SQL_STATEMENT);
    sqlite3_limit(db, SQLITE_LIMIT_COLUMN, MOST_COLUMNS);
    sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, MOST_COMPOUNDS);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, MOST_DEPTH);
    sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MOST_PATTERN);
    sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, MOST_OPERATIONS);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
}

assay_status as_sql_open_limited(as_dataset *ds, const as_request *request, as_sql_watch *watch, sqlite3 **out,
                                 assay_error *error) {
    *watch = (as_sql_watch){.request = request, .patience = {is_over, watch}, .begin = as_sql_now()};
    *out = NULL;
    as_sql_limit_files(AS_SQL_FILES);
    as_sql_memory_begin();
    AS_TRY(as_sql_open_patient(ds, &watch->patience, out, error));
    if (sqlite3_open_v2(":memory:", &watch->plain, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
        !as_sql_check_printf(watch->plain) || !guard_functions(*out, watch))
        return as_fail_memory(error, NULL);
    limit(*out);
    limit(watch->plain);
    sqlite3_progress_handler(*out, STEPS_BETWEEN_LOOKS, look, watch);
    return ASSAY_OK;
}

void as_sql_close_limited(sqlite3 *db, as_sql_watch *watch) {
    sqlite3_close(db);
    for (size_t i = 0; i < AS_SQL_GUARDS; i++) sqlite3_finalize(watch->guards[i].call);
    sqlite3_close(watch->plain);
    /* What this thread does next is no statement. */
    as_sql_limit_files(UINT64_MAX);
    as_sql_memory_end();
}
