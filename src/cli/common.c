/* The common options, the list of verbs, and what verbs use to read, report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/algebra/algebra.h"
#include "cli/cli.h"
#include "cli/group_by.h"
#include "cli/progress.h"
#include "dataset/derive.h"

/* ---- tables ------------------------------------------------------------------------------------------------------ */

#define AS_VERB(name) extern const as_verb name;
#include "cli/verbs.def"
#undef AS_VERB

const as_verb *const as_verbs[] = {
#define AS_VERB(name) &name,
#include "cli/verbs.def"
#undef AS_VERB
    NULL};

const as_cli_option as_common_options[] = {
    {.name = "json", .group = AS_TAKES_JSON, .help = "Print the answer as JSON"},
    {.name = "csv", .group = AS_TAKES_TABLE, .help = "Print the answer as CSV"},
    {.name = "jsonl", .group = AS_TAKES_TABLE, .help = "Print the answer as JSON Lines, an object for each row"},
    {.name = "md", .group = AS_TAKES_TABLE, .help = "Print the answer as a Markdown table"},
    {.name = "from",
     .group = AS_TAKES_INPUT,
     .argument = "FORMAT",
     .completes = AS_COMPLETES_READABLE,
     .help = "Read the inputs as this format instead of finding it out"},
    {.name = "option",
     .letter = 'O',
     .group = AS_TAKES_INPUT,
     .argument = "KEY=VALUE",
     .help = "Set an option of the format (see assay formats NAME); may be given several times"},
    {.name = "memory-limit",
     .group = AS_TAKES_INPUT,
     .argument = "SIZE",
     .help =
         "Let a dataset take at most this much memory, such as 500M or 2G; by default three quarters of the machine's"},
    {.name = "output",
     .letter = 'o',
     .group = AS_TAKES_OUTPUT,
     .argument = "FILE",
     .completes = AS_COMPLETES_FILES,
     .help = "Write the answer to this file; it appears whole or not at all"},
    {.name = "color",
     .argument = "WHEN",
     .choices = "auto|always|never",
     .help = "Use colour: auto (on terminals), always or never"},
    {.name = "quiet", .letter = 'q', .help = "Print no notes and no progress"},
    {.name = "help", .letter = 'h', .help = "Print this help"},
    {.name = "version", .letter = 'V', .help = "Print the version"},
    {.name = NULL},
};

const as_verb *as_verb_find(const char *name) {
    for (const as_verb *const *verb = as_verbs; *verb; verb++) {
        if (strcmp((*verb)->name, name) == 0) return *verb;
    }
    return NULL;
}

void as_verb_options(const as_verb *verb, void (*visit)(void *user, const as_cli_option *option), void *user) {
    for (const as_cli_option *o = verb ? verb->options : NULL; o && o->name; o++) {
        if (!o->hidden) visit(user, o);
    }
    for (const as_cli_option *o = as_common_options; o->name; o++) {
        if (o->group == 0 || (verb && (o->group & verb->takes))) visit(user, o);
    }
}

/* ---- what was given ---------------------------------------------------------------------------------------------- */

static const as_given *last_given(const as_cli *cli, const char *name) {
    for (size_t i = cli->arguments.given.count; i > 0; i--) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i - 1);
        if (strcmp(given->option->name, name) == 0) return given;
    }
    return NULL;
}

bool as_cli_has(const as_cli *cli, const char *name) { return last_given(cli, name) != NULL; }

const char *as_cli_value(const as_cli *cli, const char *name) {
    const as_given *given = last_given(cli, name);
    return given ? given->value : NULL;
}

/* ---- errors and notes -------------------------------------------------------------------------------------------- */

/* 0, 2 or 3. */
static as_exit exit_of(assay_status status) {
    return status == ASSAY_OK ? AS_EXIT_FINE : status == ASSAY_E_USAGE ? AS_EXIT_USAGE : AS_EXIT_INPUT;
}

/* One line in one write, so that lines of several processes do not mix. */
static void print_line(as_cli *cli, const char *label, const char *text) {
    if (cli->tell) {
        cli->tell(cli->tell_user, text);
        return;
    }
    as_progress_end();
    if (!as_cli_is_first(cli)) { /* the first one will say it, once for all */
        if (!cli->peers->failure[0]) snprintf(cli->peers->failure, sizeof cli->peers->failure, "%s", text);
        return;
    }
    dprintf(STDERR_FILENO, "%sassay:%s %s%s\n", as_sgr(cli->error_colour, AS_BOLD), as_sgr(cli->error_colour, AS_PLAIN),
            label, text);
}

as_exit as_cli_error(as_cli *cli, const assay_error *error) {
    if (strcmp(error->rule, "closed-pipe") == 0) return AS_EXIT_FINE; /* they have seen enough */
    cli->failure = error->code;
    char text[sizeof error->path + sizeof error->message + 64];
    print_line(cli, "", assay_error_text(error, text, sizeof text));
    return exit_of(error->code);
}

/* A sentence of our own. */
static void print_sentence(as_cli *cli, const char *label, const char *format, va_list args) {
    char text[2048];
    vsnprintf(text, sizeof text, format, args);
    as_one_line(text);
    print_line(cli, label, text);
}

as_exit as_cli_fail(as_cli *cli, as_exit status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_sentence(cli, "", format, args);
    va_end(args);
    return status;
}

as_exit as_cli_memory(as_cli *cli) {
    assay_error error;
    as_fail_memory(&error, NULL);
    return as_cli_error(cli, &error);
}

void as_cli_note(as_cli *cli, const char *format, ...) {
    if (cli->quiet) return;
    va_list args;
    va_start(args, format);
    print_sentence(cli, "note: ", format, args);
    va_end(args);
}

/* ---- reading and printing ---------------------------------------------------------------------------------------- */

/* Those of --derive, where the verb has it. */
static assay_status derive_metrics(const as_cli *cli, as_dataset *ds, assay_error *error) {
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        if (strcmp(given->option->name, "derive") == 0) AS_TRY(as_derive_metric(ds, given->value, error));
    }
    return ASSAY_OK;
}

/* The groups of --group-by in place of what was read, where the verb has the option and leaves it to us. */
static assay_status group_events(const as_cli *cli, const char *const *options, as_dataset **ds, assay_error *error) {
    if (cli->groups_itself || !as_cli_has(cli, "group-by")) return ASSAY_OK;
    as_grouping grouping;
    assay_status status = as_cli_group(cli, options, *ds, false, &grouping, error);
    if (status == ASSAY_OK) {
        as_dataset *read = *ds;
        *ds = grouping.ds;
        grouping.ds = read;
    }
    as_grouping_free(&grouping);
    return status;
}

/* The call tree by what --by says in place of that of the dataset, where that is one of these words. */
static assay_status regroup(const as_cli *cli, as_dataset **ds, assay_error *error) {
    const char *by = as_cli_value(cli, "by");
    as_regrouping how;
    if (!by || !as_regrouping_of(by, &how)) return ASSAY_OK;
    if (as_cli_has(cli, "group-by"))
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "--group-by and --by %s exclude each other", by);
    as_dataset *read = *ds;
    AS_TRY(as_regroup(read, how, ds, error));
    as_dataset_free(read);
    return ASSAY_OK;
}

assay_status as_cli_read(as_cli *cli, const char *path, bool keep_going, const char *const *options, as_dataset **out,
                         assay_error *error) {
    if (cli->peers && strcmp(path, "-") == 0)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                       "standard input reaches one process only; give a file that all of them can read");
    as_read_config config = {.format = cli->from,
                             .options = options ? options : cli->options,
                             .memory_limit = cli->memory_limit,
                             .keep_going = keep_going,
                             .is_overview = cli->reads_overview,
                             .share = cli->reads,
                             .progress = cli->quiet ? NULL : as_progress_step};
    if (!cli->quiet) as_progress_begin("reading", path);
    assay_status status = as_read(path, &config, out, error);
    as_progress_end();
    if (status != ASSAY_OK) return status;
    status = group_events(cli, options, out, error);
    if (status == ASSAY_OK) status = regroup(cli, out, error);
    if (status == ASSAY_OK) status = derive_metrics(cli, *out, error);
    if (status != ASSAY_OK) {
        as_dataset_free(*out);
        *out = NULL;
    }
    return status;
}

as_exit as_cli_open(as_cli *cli, const char *path, as_dataset **out) {
    assay_error error;
    *out = NULL;
    return as_cli_read(cli, path, false, NULL, out, &error) == ASSAY_OK ? AS_EXIT_FINE : as_cli_error(cli, &error);
}

as_exit as_cli_print(as_cli *cli, const as_table *table) {
    as_progress_end();
    if (as_print_table(cli->out, table, cli->style)) return AS_EXIT_FINE;
    return as_cli_memory(cli);
}

bool as_cli_is_ascii(const as_cli *cli) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    if (as_cli_has(cli, "ascii")) return true;
    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return !strcasestr(value, "utf-8") && !strcasestr(value, "utf8");
    }
    return true;
}

as_exit as_cli_commit(as_cli *cli, as_output *out, as_exit status) {
    as_progress_end();
    assay_error error;
    if (as_output_commit(out, &error) == ASSAY_OK) return status;
    as_exit failed = as_cli_error(cli, &error);
    return failed == AS_EXIT_FINE ? status : failed;
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

as_exit as_cli_check_output(as_cli *cli, const char *output, size_t n_inputs) {
    struct stat out, in;
    bool to_stdout = strcmp(output, "-") == 0;
    if ((to_stdout ? fstat(STDOUT_FILENO, &out) : stat(output, &out)) != 0) return AS_EXIT_FINE;
    if (S_ISDIR(out.st_mode)) return as_cli_fail(cli, AS_EXIT_INPUT, "%s: is a directory; name a file in it", output);
    if (!S_ISREG(out.st_mode)) return AS_EXIT_FINE;
    for (size_t i = 0; i < n_inputs; i++) {
        const char *input = as_cli_operand(cli, i);
        bool from_stdin = strcmp(input, "-") == 0;
        if ((from_stdin ? fstat(STDIN_FILENO, &in) : stat(input, &in)) == 0 && is_same_file(&in, &out)) {
            return as_cli_fail(cli, AS_EXIT_INPUT, "%s: is an input, too; write to another file",
                               to_stdout ? "<stdout>" : output);
        }
    }
    return AS_EXIT_FINE;
}

as_exit as_cli_check_picture(as_cli *cli) {
    static const char *const others[] = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".html", ".htm"};
    for (size_t i = 0; cli->output && i < sizeof others / sizeof *others; i++) {
        if (as_has_ending(cli->output, others[i]))
            return as_cli_fail(
                cli, AS_EXIT_USAGE,
                "%s: pictures are written as SVG, which every browser opens and prints; give -o FILE.svg", cli->output);
    }
    return AS_EXIT_FINE;
}

bool as_cli_is_svg(const as_cli *cli) {
    return as_cli_has(cli, "svg") || (cli->output && as_has_ending(cli->output, ".svg"));
}
