/* One command: finds the verb, parses the command line, sets the stage, runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/join_points.h"
#include "cli/signals.h"
#include "core/words.h"

/* A closed standard descriptor would be given to the next file opened: fill the gap with one that refuses reading or
 * writing. */
static void fill_descriptors(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            _exit(AS_EXIT_INPUT);
    }
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

/* Whether the word is a common option whose argument is the next word. */
static bool takes_next(const char *word) {
    if (word[0] != '-' || word[1] == '\0') return false;
    for (const as_cli_option *o = as_common_options; o->name; o++) {
        if (o->argument &&
            ((word[1] == '-' && strcmp(word + 2, o->name) == 0) || (word[1] == o->letter && word[2] == '\0')))
            return true;
    }
    return false;
}

/* The index of the first operand: the verb, or a file. 0: there is none. */
static int find_operand(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || argv[i][1] == '\0') return i;
        if (strcmp(argv[i], "--") == 0) return i + 1 < argc ? i + 1 : 0;
        if (takes_next(argv[i])) i++;
    }
    return 0;
}

static as_exit fail_unknown_verb(as_cli *cli, const char *name) {
    as_nearest nearest = as_nearest_start(name, strlen(name));
    for (const as_verb *const *verb = as_verbs; *verb; verb++) as_nearest_offer(&nearest, (*verb)->name);
    if (nearest.word)
        return as_cli_fail(cli, AS_EXIT_USAGE, "unknown verb '%s'; did you mean '%s'?", name, nearest.word);
    return as_cli_fail(cli, AS_EXIT_USAGE, "unknown verb '%s', and no such file; assay --help lists the verbs", name);
}

/* Verbs have no dots and slashes: such a word is a file, there or not. */
static bool looks_like_path(const char *word) {
    struct stat info;
    return strcmp(word, "-") == 0 || strpbrk(word, "./") || stat(word, &info) == 0;
}

/* Finds the verb and takes it out of argv. */
static as_exit choose_verb(as_cli *cli, int *argc, char **argv) {
    int at = find_operand(*argc, argv);
    if (at == 0) return AS_EXIT_FINE;
    cli->verb = as_verb_find(argv[at]);
    if (cli->verb) {
        memmove(&argv[at], &argv[at + 1], (size_t)(*argc - at) * sizeof *argv);
        --*argc;
        return AS_EXIT_FINE;
    }
    if (!looks_like_path(argv[at])) return fail_unknown_verb(cli, argv[at]);
    cli->verb = as_verb_find("info");
    return AS_EXIT_FINE;
}

/* ---- the common options ------------------------------------------------------------------------------------------ */

static bool environment_allows_colour(void) {
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no_colour && *no_colour) && term && *term && strcmp(term, "dumb") != 0;
}

static bool wants_colour(const as_cli *cli, bool is_terminal) {
    const char *when = as_cli_value(cli, "color");
    if (when && strcmp(when, "auto") != 0) return strcmp(when, "always") == 0;
    return is_terminal && environment_allows_colour();
}

static unsigned terminal_width(void) {
    const char *columns = getenv("COLUMNS");
    long given = columns ? strtol(columns, NULL, 10) : 0;
    if (given > 0 && given < 100000) return (unsigned)given;
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

/* The last of --json, --csv, --jsonl, --md. */
static as_print_mode chosen_mode(const as_cli *cli) {
    static const struct {
        const char *name;
        as_print_mode mode;
    } modes[] = {{"json", AS_PRINT_JSON}, {"csv", AS_PRINT_CSV}, {"jsonl", AS_PRINT_JSONL}, {"md", AS_PRINT_MARKDOWN}};
    as_print_mode mode = AS_PRINT_TEXT;
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
            if (strcmp(AS_AT(as_given, &cli->arguments.given, i).option->name, modes[k].name) == 0)
                mode = modes[k].mode;
        }
    }
    return mode;
}

/* The values of all -O, ended by NULL. */
static assay_status collect_options(as_cli *cli, as_vec *values, assay_error *error) {
    as_vec_init(values, sizeof(const char *), NULL);
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        if (strcmp(given->option->name, "option") != 0) continue;
        if (!strchr(given->value, '='))
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "-O %s has no '='; give a key and a value",
                           given->value);
        if (!as_vec_append(values, &given->value, 1)) return as_fail_memory(error, NULL);
    }
    if (!as_join_points(cli, values) || !as_vec_push(values)) return as_fail_memory(error, NULL);
    cli->options = values->data;
    return ASSAY_OK;
}

static assay_status apply_common(as_cli *cli, as_vec *format_options, assay_error *error) {
    cli->from = as_cli_value(cli, "from");
    if (cli->verb && (cli->verb->takes & AS_TAKES_OUTPUT)) cli->output = as_cli_value(cli, "output");
    cli->quiet = as_cli_has(cli, "quiet");
    /* What mpirun gives its processes may look like a terminal (Open MPI), wherever the answer goes in the end. */
    cli->is_terminal = !cli->output && !cli->peers && isatty(STDOUT_FILENO);
    cli->style.mode = chosen_mode(cli);
    cli->style.colour = wants_colour(cli, cli->is_terminal);
    cli->style.width = cli->is_terminal ? terminal_width() : 0;
    cli->error_colour = wants_colour(cli, isatty(STDERR_FILENO));
    const char *limit = as_cli_value(cli, "memory-limit");
    if (limit && !as_size_parse(limit, &cli->memory_limit)) {
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                       "--memory-limit cannot be '%s'; give a size such as 500M or 2G", limit);
    }
    return collect_options(cli, format_options, error);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Ends the answer. A command that failed leaves the file of -o as it was; what it printed to stdout stays printed. */
static as_exit finish(as_cli *cli, as_exit status) {
    if (cli->output && status > AS_EXIT_CHECK) {
        as_output_discard(cli->out);
        return status;
    }
    return as_cli_commit(cli, cli->out, status);
}

/* The part of a process other than the first: it answers nothing, and does nothing where the verb is not shared. */
static as_exit help_first(as_cli *cli) {
    if (as_cli_has(cli, "version") || as_cli_has(cli, "help") || !cli->verb->is_shared) return AS_EXIT_FINE;
    cli->output = NULL;
    cli->quiet = true;
    cli->is_terminal = false;
    cli->out = as_output_to_memory();
    if (!cli->out) return as_cli_memory(cli);
    as_exit status = cli->verb->run(cli);
    as_output_discard(cli->out);
    return status;
}

static as_exit run(as_cli *cli) {
    assay_error error;
    if (!as_cli_is_first(cli)) return help_first(cli);
    if (cli->output) {
        if (as_output_open(cli->output, &cli->out, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    } else {
        cli->out = as_output_to_fd(STDOUT_FILENO, "<stdout>");
        if (!cli->out) return as_cli_memory(cli);
    }
    as_output_set_ascii(cli->out, as_cli_is_ascii(cli));
    if (as_cli_has(cli, "version")) {
        as_output_printf(cli->out, "assay %s\n", assay_version());
        return finish(cli, AS_EXIT_FINE);
    }
    if (as_cli_has(cli, "help")) {
        as_help_print(cli->out, cli->verb, cli->style.width, cli->style.colour);
        return finish(cli, AS_EXIT_FINE);
    }
    return finish(cli, cli->verb->run(cli));
}

/* Without anything to do: the short help, as an error. */
static as_exit run_nothing(as_cli *cli) {
    if (!as_cli_is_first(cli)) return AS_EXIT_USAGE;
    cli->out = as_output_to_fd(STDERR_FILENO, "<stderr>");
    if (!cli->out) return AS_EXIT_USAGE;
    as_output_set_ascii(cli->out, as_cli_is_ascii(cli));
    as_help_print(cli->out, NULL, cli->style.width, cli->error_colour);
    as_output_commit(cli->out, NULL);
    return AS_EXIT_USAGE;
}

as_exit as_command_run(int argc, char **argv, as_peers *peers) {
    fill_descriptors();
    as_signals_install();
    as_cli cli = {.error_colour = isatty(STDERR_FILENO) && environment_allows_colour(), .peers = peers};
    as_exit status = choose_verb(&cli, &argc, argv);
    if (status != AS_EXIT_FINE) return status;

    const as_cli_option *tables[2];
    size_t n_tables = 0;
    if (cli.verb && cli.verb->options) tables[n_tables++] = cli.verb->options;
    tables[n_tables++] = as_common_options;
    as_vec format_options = {0};
    assay_error error;
    assay_status parsed = as_arguments_parse(&cli.arguments, argc - 1, argv + 1, tables, n_tables,
                                             cli.verb ? cli.verb->takes : 0, &error);
    if (parsed == ASSAY_OK) parsed = apply_common(&cli, &format_options, &error);
    if (parsed != ASSAY_OK)
        status = as_cli_error(&cli, &error);
    else if (!cli.verb && !as_cli_has(&cli, "help") && !as_cli_has(&cli, "version"))
        status = run_nothing(&cli);
    else
        status = run(&cli);
    as_vec_free(&format_options);
    as_arguments_free(&cli.arguments);
    return status;
}
