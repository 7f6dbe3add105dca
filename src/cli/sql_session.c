#include "cli/sql_session.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/words.h"

enum { BATCH_ROWS = 1024 };

void as_session_init(as_session *session, as_cli *cli, sqlite3 *db) {
    *session = (as_session){.cli = cli, .db = db};
    as_vec_init(&session->pending, 1, NULL);
}

void as_session_free(as_session *session) { as_vec_free(&session->pending); }

/* ---- running statements ------------------------------------------------------------------------------------------ */

static as_exit memory_is_out(as_session *session) { return as_cli_memory(session->cli); }

static const char *what_to_do(const char *message) {
    if (strncmp(message, "no such table: ", 15) == 0) return "; .tables lists them";
    if (strncmp(message, "no such column: ", 16) == 0) return "; .schema lists them";
    return "";
}

/* "assay: sql: message", status 2; memory and interruption are not the statement's fault. sql: the text up to the place
 * of the error, size bytes of it; NULL where there is no place. */
static as_exit fail_at(as_session *session, const char *sql, size_t size) {
    assay_error error;
    assay_status status = as_sql_fail(session->db, &error);
    if (status == ASSAY_E_NOMEM || status == ASSAY_E_FORMAT) return as_cli_error(session->cli, &error);
    const char *hint = what_to_do(error.message);
    if (!sql) return as_cli_fail(session->cli, AS_EXIT_USAGE, "sql: %s%s", error.message, hint);
    size_t line = session->lines_before + 1, column = 1;
    for (const char *at = sql; at < sql + size; at++) {
        if (*at == '\n')
            line++, column = 1;
        else
            column += ((unsigned char)*at & 0xc0) != 0x80; /* characters, not bytes */
    }
    return as_cli_fail(session->cli, AS_EXIT_USAGE, "sql:%zu:%zu: %s%s", line, column, error.message, hint);
}

static as_exit fail_sql(as_session *session) { return fail_at(session, NULL, 0); }

/* In JSON two columns cannot have one name: the later one becomes "name:1", as SQLite calls it elsewhere. */
static bool add_column(as_table *table, const char *name, bool is_json) {
    if (!is_json || as_table_find_column(table, name) == SIZE_MAX) return as_table_add_column(table, name) != SIZE_MAX;
    for (unsigned number = 1;; number++) {
        char *unique = sqlite3_mprintf("%s:%u", name, number);
        if (!unique) return false;
        bool is_free = as_table_find_column(table, unique) == SIZE_MAX,
             ok = is_free && as_table_add_column(table, unique) != SIZE_MAX;
        sqlite3_free(unique);
        if (is_free) return ok;
    }
}

static as_table *make_batch(sqlite3_stmt *statement, as_print_mode mode) {
    as_table *batch = as_table_new(NULL, 0, NULL);
    for (int i = 0; batch && i < sqlite3_column_count(statement); i++) {
        const char *name = sqlite3_column_name(statement, i);
        if (name && add_column(batch, name, mode == AS_PRINT_JSON || mode == AS_PRINT_JSONL)) continue;
        as_table_free(batch);
        return NULL;
    }
    return batch;
}

/* Fills the batch; *status is that of the last step. False when memory is out. */
static bool fill_batch(sqlite3_stmt *statement, as_table *batch, int *status) {
    int n = sqlite3_column_count(statement);
    as_table_clear(batch);
    while (as_table_rows(batch) < BATCH_ROWS) {
        *status = sqlite3_step(statement);
        if (*status != SQLITE_ROW) return true;
        size_t row = as_table_rows(batch);
        if (!as_table_add_row(batch)) return false;
        for (int i = 0; i < n; i++) {
            if (!as_table_set(batch, row, (size_t)i, as_sql_cell(statement, i))) return false;
        }
        if (sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_NOMEM)
            return false; /* a text could not be converted */
    }
    return true;
}

static as_exit print_rows(as_session *session, sqlite3_stmt *statement, as_table *batch) {
    as_cli *cli = session->cli;
    as_printer *printer = as_printer_new(cli->out, cli->style);
    if (!printer) return memory_is_out(session);
    int status = SQLITE_ROW;
    bool ok = true, is_read = true;
    while (ok && is_read && status == SQLITE_ROW) {
        ok = fill_batch(statement, batch, &status) && as_printer_rows(printer, batch);
        is_read = as_output_flush(cli->out); /* nobody reads any more: the end of the command tells why */
    }
    ok = as_printer_end(printer, batch) && ok;
    if (!ok) return memory_is_out(session);
    return status == SQLITE_DONE || !is_read ? AS_EXIT_FINE : fail_sql(session);
}

static as_exit run_statement(as_session *session, sqlite3_stmt *statement) {
    as_print_mode mode = session->cli->style.mode;
    if (sqlite3_column_count(statement) == 0) {
        int status = sqlite3_step(statement);
        return status == SQLITE_DONE || status == SQLITE_ROW ? AS_EXIT_FINE : fail_sql(session);
    }
    if (session->has_printed && (mode == AS_PRINT_TEXT || mode == AS_PRINT_MARKDOWN))
        as_output_char(session->cli->out, '\n');
    session->has_printed = true;
    as_table *batch = make_batch(statement, mode);
    if (!batch) return memory_is_out(session);
    as_exit status = print_rows(session, statement, batch);
    as_table_free(batch);
    return status;
}

as_exit as_session_run(as_session *session, const char *sql) {
    for (const char *text = sql; *sql;) {
        sqlite3_stmt *statement;
        const char *start = sql;
        if (sqlite3_prepare_v2(session->db, start, -1, &statement, &sql) != SQLITE_OK) {
            int offset = sqlite3_error_offset(session->db);
            return fail_at(session, offset < 0 ? NULL : text,
                           (size_t)(start - text) + (offset < 0 ? 0 : (size_t)offset));
        }
        if (!statement) continue; /* a comment, or nothing between two semicolons */
        as_exit status = run_statement(session, statement);
        sqlite3_finalize(statement);
        if (status != AS_EXIT_FINE) return status;
    }
    return AS_EXIT_FINE;
}

/* ---- dot commands ------------------------------------------------------------------------------------------------ */

const char *const as_session_commands[] = {".help", ".mode", ".quit", ".schema", ".tables", NULL};

static const char help[] = ".tables                        the tables\n"
                           ".schema [TABLE]                their columns\n"
                           ".mode text|csv|json|jsonl|md   how answers are printed\n"
                           ".help                          this text\n"
                           ".quit                          ends, as Ctrl-D does\n"
                           "A statement ends with a semicolon and may have several lines.\n";

/* Every table and view: its name as a statement writes it, its database and its plain name. */
static const char all_tables[] =
    "select case when schema in ('main', (select name from pragma_database_list where seq = 0)) or schema = 'temp' "
    "then '' else schema || '.' end || name, schema, name from pragma_table_list where name not like 'sqlite\\_%' "
    "escape '\\' order by (select seq from pragma_database_list d where d.name = schema), name";

/* Calls visit for each table; false when SQLite failed. */
static bool each_table(as_session *session, void (*visit)(as_session *session, sqlite3_stmt *table, void *user),
                       void *user) {
    sqlite3_stmt *tables;
    if (sqlite3_prepare_v2(session->db, all_tables, -1, &tables, NULL) != SQLITE_OK) return false;
    while (sqlite3_step(tables) == SQLITE_ROW) visit(session, tables, user);
    return sqlite3_finalize(tables) == SQLITE_OK;
}

static const char *column_text(sqlite3_stmt *statement, int column) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text ? (const char *)text : "";
}

static void print_name(as_session *session, sqlite3_stmt *table, void *user) {
    (void)user;
    as_output_printf(session->cli->out, "%s\n", column_text(table, 0));
}

typedef struct schema_search {
    const char *wanted; /* NULL: all */
    bool found;
} schema_search;

static void print_schema(as_session *session, sqlite3_stmt *table, void *user) {
    schema_search *search = user;
    if (search->wanted && sqlite3_stricmp(search->wanted, column_text(table, 0)) != 0 &&
        sqlite3_stricmp(search->wanted, column_text(table, 2)) != 0)
        return;
    search->found = true;
    as_output *out = session->cli->out;
    sqlite3_stmt *columns;
    if (sqlite3_prepare_v2(session->db, "select name, type from pragma_table_info(?2, ?1)", -1, &columns, NULL) !=
        SQLITE_OK)
        return;
    sqlite3_bind_text(columns, 1, column_text(table, 1), -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(columns, 2, column_text(table, 2), -1, SQLITE_TRANSIENT);
    as_output_printf(out, "%s(", column_text(table, 0));
    for (int i = 0; sqlite3_step(columns) == SQLITE_ROW; i++) {
        const char *type = column_text(columns, 1);
        as_output_printf(out, "%s%s%s%s", i ? ", " : "", column_text(columns, 0), *type ? " " : "", type);
    }
    as_output_text(out, ")\n");
    sqlite3_finalize(columns);
}

static as_exit show_schema(as_session *session, const char *table) {
    schema_search search = {.wanted = *table ? table : NULL};
    if (!each_table(session, print_schema, &search)) return fail_sql(session);
    if (search.wanted && !search.found)
        return as_cli_fail(session->cli, AS_EXIT_USAGE, "sql: no such table: %s; .tables lists them", table);
    return AS_EXIT_FINE;
}

static as_exit set_mode(as_session *session, const char *name) {
    static const char *const names[] = {[AS_PRINT_TEXT] = "text",
                                        [AS_PRINT_CSV] = "csv",
                                        [AS_PRINT_JSON] = "json",
                                        [AS_PRINT_JSONL] = "jsonl",
                                        [AS_PRINT_MARKDOWN] = "md"};
    for (unsigned mode = 0; mode < sizeof names / sizeof *names; mode++) {
        if (strcmp(names[mode], name) != 0) continue;
        session->cli->style.mode = (as_print_mode)mode;
        return AS_EXIT_FINE;
    }
    return as_cli_fail(session->cli, AS_EXIT_USAGE, "sql: .mode can be text, csv, json, jsonl or md");
}

static as_exit unknown_command(as_session *session, const char *name) {
    as_nearest nearest = as_nearest_start(name, strlen(name));
    for (const char *const *command = as_session_commands; *command; command++) as_nearest_offer(&nearest, *command);
    if (nearest.word)
        return as_cli_fail(session->cli, AS_EXIT_USAGE, "sql: unknown command %s; did you mean %s?", name,
                           nearest.word);
    return as_cli_fail(session->cli, AS_EXIT_USAGE, "sql: unknown command %s; .help lists the commands", name);
}

static as_exit run_command(as_session *session, const char *line) {
    char name[16], argument[256];
    size_t size = strcspn(line, " \t");
    const char *rest = line + size + strspn(line + size, " \t");
    size_t rest_size = strlen(rest);
    while (rest_size > 0 && isspace((unsigned char)rest[rest_size - 1])) rest_size--;
    snprintf(name, sizeof name, "%.*s", (int)(size < sizeof name ? size : sizeof name - 1), line);
    snprintf(argument, sizeof argument, "%.*s", (int)(rest_size < sizeof argument ? rest_size : sizeof argument - 1),
             rest);
    if (strcmp(name, ".tables") == 0) return each_table(session, print_name, NULL) ? AS_EXIT_FINE : fail_sql(session);
    if (strcmp(name, ".schema") == 0) return show_schema(session, argument);
    if (strcmp(name, ".mode") == 0) return set_mode(session, argument);
    if (strcmp(name, ".help") == 0)
        as_output_text(session->cli->out, help);
    else if (strcmp(name, ".quit") == 0 || strcmp(name, ".exit") == 0)
        session->is_over = true;
    else
        return unknown_command(session, name);
    return AS_EXIT_FINE;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static bool is_blank(const char *text) { return text[strspn(text, " \t\r\n")] == '\0'; }

as_exit as_session_line(as_session *session, const char *line) {
    bool is_first = session->pending.count == 0;
    if (is_first && line[0] == '.') return run_command(session, line);
    if (is_first && is_blank(line)) return AS_EXIT_FINE;
    if (!as_vec_append(&session->pending, line, strlen(line)) || !as_vec_append(&session->pending, "\n", 2))
        return memory_is_out(session);
    session->pending.count--; /* the NUL stays behind the text */
    if (!strchr(line, ';') || !sqlite3_complete(session->pending.data)) return AS_EXIT_FINE;
    return as_session_end(session);
}

as_exit as_session_end(as_session *session) {
    as_exit status = session->pending.count > 0 ? as_session_run(session, session->pending.data) : AS_EXIT_FINE;
    session->pending.count = 0;
    return status;
}
