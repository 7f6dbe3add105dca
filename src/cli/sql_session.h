/* A conversation in SQL: statements and dot commands come in line by line, or as one text, and are answered on
 * cli->out. */
#ifndef AS_CLI_SQL_SESSION_H
#define AS_CLI_SQL_SESSION_H

#include "cli/cli.h"
#include "query/query.h"

typedef struct as_session {
    as_cli *cli;
    sqlite3 *db;
    as_vec pending;      /* char: lines of a statement that is not complete yet */
    size_t lines_before; /* lines of the input before the statement, for places in errors */
    bool has_printed;    /* a table: the next one is set apart */
    bool is_over;        /* .quit */
} as_session;

void as_session_init(as_session *session, as_cli *cli, sqlite3 *db);
void as_session_free(as_session *session);

/* Runs all statements of a text and prints the rows of each. Prints the error of the first that fails and gives its
 * exit status. */
as_exit as_session_run(as_session *session, const char *sql);
/* Takes a line (without its end): a dot command is obeyed, a statement run as soon as a semicolon completes it. */
as_exit as_session_line(as_session *session, const char *line);
/* Runs what is still pending at the end of the input. */
as_exit as_session_end(as_session *session);

/* The names of dot commands, ended by NULL. */
extern const char *const as_session_commands[];

/* The interactive shell on the terminal (shell.c). */
as_exit as_shell_run(as_session *session);

#endif
