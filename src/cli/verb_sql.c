/* SQL over measurements: one statement, a script on standard input, or the interactive shell. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sql_session.h"
#include "dataset/merge.h"

/* What the operands are. */
struct request {
    size_t n_paths;
    const char *statement; /* NULL: from standard input */
};

/* The datasets that answer, and their names in SQL. */
struct sources {
    as_dataset **datasets;
    char **names;
    size_t n;
};

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static bool is_path(const char *operand) {
    struct stat info;
    return strcmp(operand, "-") == 0 || stat(operand, &info) == 0;
}

/* Of a word that is no path: a statement has a blank, a bracket or a semicolon in it, the name of a missing file hardly
 * has. */
static bool looks_like_statement(const char *operand) {
    for (const char *const *command = as_session_commands; *command; command++) {
        if (strcmp(operand, *command) == 0) return true;
    }
    return strpbrk(operand, " \t\n(;") != NULL;
}

static as_exit read_operands(as_cli *cli, struct request *request) {
    size_t n = as_cli_operands(cli);
    if (n == 0) return as_cli_fail(cli, AS_EXIT_USAGE, "sql needs a file and a statement; assay sql --help tells more");
    const char *last = as_cli_operand(cli, n - 1);
    *request = (struct request){.n_paths = n};
    if (!is_path(last) && looks_like_statement(last)) {
        request->statement = last;
        request->n_paths--;
    }
    if (request->n_paths == 0) return as_cli_fail(cli, AS_EXIT_USAGE, "sql needs a file before the statement");
    if (as_cli_has(cli, "attach") && as_cli_has(cli, "merge"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--attach and --merge exclude each other");
    for (size_t i = 0; !request->statement && i < request->n_paths; i++) {
        if (strcmp(as_cli_operand(cli, i), "-") == 0) {
            return as_cli_fail(cli, AS_EXIT_USAGE,
                               "standard input is the data already; give the statement as the last argument");
        }
    }
    return AS_EXIT_FINE;
}

/* ---- datasets ---------------------------------------------------------------------------------------------------- */

static void free_sources(struct sources *sources) {
    for (size_t i = 0; i < sources->n; i++) {
        as_dataset_free(sources->datasets[i]);
        free(sources->names[i]);
    }
    free(sources->datasets);
    free(sources->names);
}

static as_exit open_paths(as_cli *cli, size_t n, struct sources *sources) {
    sources->datasets = calloc(n, sizeof(as_dataset *));
    sources->names = calloc(n, sizeof *sources->names);
    if (!sources->datasets || !sources->names) return as_cli_memory(cli);
    for (size_t i = 0; i < n; i++) {
        const char *path = as_cli_operand(cli, i);
        as_exit status = as_cli_open(cli, path, &sources->datasets[i]);
        if (status != AS_EXIT_FINE) return status;
        sources->n++;
        sources->names[i] = as_sql_name(path, sources->names, i);
        if (!sources->names[i]) return as_cli_memory(cli);
    }
    return AS_EXIT_FINE;
}

static as_exit merge_sources(as_cli *cli, struct sources *sources) {
    assay_error error;
    as_dataset *merged;
    if (as_merge(sources->datasets, sources->n, &merged, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    for (size_t i = 0; i < sources->n; i++) as_dataset_free(sources->datasets[i]);
    for (size_t i = 1; i < sources->n; i++) free(sources->names[i]);
    sources->datasets[0] = merged;
    sources->n = 1;
    return AS_EXIT_FINE;
}

/* Says how several paths are seen, where the command line leaves it open. */
static void tell_names(as_cli *cli, const struct sources *sources) {
    char text[1024] = "";
    for (size_t i = 0; i < sources->n; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", sources->names[i]);
    }
    as_cli_note(cli, "the files lie side by side as the databases %s (the first is also main)", text);
}

static as_exit combine(as_cli *cli, struct sources *sources) {
    if (sources->n == 1 || as_cli_has(cli, "attach")) return AS_EXIT_FINE;
    bool can_merge = as_can_merge(sources->datasets, sources->n);
    if (as_cli_has(cli, "merge")) {
        if (can_merge) return merge_sources(cli, sources);
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "the files cannot be merged: they do not have the same parameters; leave out --merge to "
                           "query them side by side");
    }
    if (!can_merge) {
        tell_names(cli, sources);
        return AS_EXIT_FINE;
    }
    as_cli_note(cli, "the %zu files are seen as one experiment; --attach keeps them apart", sources->n);
    return merge_sources(cli, sources);
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static as_exit run_stdin(as_session *session) {
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    as_exit status = AS_EXIT_FINE;
    for (size_t n = 0; status == AS_EXIT_FINE && !session->is_over && (size = getline(&line, &capacity, stdin)) >= 0;
         n++) {
        if (session->pending.count == 0) session->lines_before = n;
        if (size > 0 && line[size - 1] == '\n') line[size - 1] = '\0';
        status = as_session_line(session, line);
    }
    free(line);
    if (ferror(stdin))
        return as_cli_fail(session->cli, AS_EXIT_INPUT, "standard input could not be read: %s", strerror(errno));
    return status == AS_EXIT_FINE ? as_session_end(session) : status;
}

static as_exit answer(as_cli *cli, const struct request *request, const struct sources *sources) {
    assay_error error;
    sqlite3 *db;
    if (as_sql_open(sources->datasets, (const char *const *)sources->names, sources->n, &db, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    as_session session;
    as_session_init(&session, cli, db);
    as_exit status;
    if (request->statement)
        status = request->statement[0] == '.' ? as_session_line(&session, request->statement)
                                              : as_session_run(&session, request->statement);
    else if (cli->is_terminal && isatty(STDIN_FILENO))
        status = as_shell_run(&session);
    else
        status = run_stdin(&session);
    as_session_free(&session);
    sqlite3_close(db);
    return status;
}

static as_exit run(as_cli *cli) {
    struct request request = {0};
    as_exit status = read_operands(cli, &request);
    if (status != AS_EXIT_FINE) return status;
    struct sources sources = {0};
    status = open_paths(cli, request.n_paths, &sources);
    if (status == AS_EXIT_FINE) status = combine(cli, &sources);
    if (status == AS_EXIT_FINE) status = answer(cli, &request, &sources);
    free_sources(&sources);
    return status;
}

static const as_cli_option options[] = {
    AS_DERIVE_OPTION,
    {.name = "attach",
     .help = "Query several files side by side, each as a database of its own, even where they could be merged"},
    {.name = "merge", .help = "Query several files as one experiment; an error where they have different parameters"},
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay sql kernels.txt 'select name from metric'", "The metrics."},
    {"assay sql kernels.txt 'select c.path, p.label, m.mean from measurement m join context c on c.id = m.context join "
     "point p on p.id = m.point'",
     "The mean of each call path at each point."},
    {"assay sql --json kernels.txt 'select * from problem'", "An array with an object for each row."},
    {"assay sql old.txt new.txt --attach 'select count(*) from new.value'",
     "Two files side by side: old (also called main) and new."},
    {"assay sql kernels.txt", "The interactive shell; .help lists its commands."},
    {NULL, NULL},
};

const as_verb as_verb_sql = {
    .name = "sql",
    .summary = "Ask a measurement anything in SQL",
    .usage = "[options] PATH… ['STATEMENT']",
    .description =
        "Shows each path as the tables parameter, point, coordinate, run, metric, region, context, location, value, "
        "node, summary, measurement, event, record, model, term, attribute and problem, read in place, and runs the "
        "statement (SQLite's SQL) over them. Several statements are separated by semicolons.\n\n"
        "Without a statement, on a terminal, a shell starts: .tables and .schema list tables and columns, .mode "
        "text|csv|json|jsonl|md sets how answers are printed, .help lists the rest. The tab key completes names, "
        "Ctrl-C stops a query, Ctrl-D ends. The history is in ~/.local/state/assay/history, or below $XDG_STATE_HOME. "
        "Elsewhere statements are read from standard input.\n\n"
        "Several files with the same parameters are seen as one experiment; others, or all with --attach, lie side by "
        "side as databases named after the files: a-1.txt is a_1, its values are a_1.value. The first is also called "
        "main, and meant where no database is named.\n\n"
        "A statement can make temporary tables and views. It cannot change data, attach or write files.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT | AS_TAKES_OUTPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
