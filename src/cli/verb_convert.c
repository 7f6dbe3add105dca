/* From any format that can be read to any that can be written, saying what is lost. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "dataset/merge.h"
#include "query/target.h"
#include "render/json_builder.h"

/* What is to be done. */
typedef struct job {
    const char *output;
    size_t n_inputs;
    as_target target;
    const char **read_options, **write_options; /* those of -O that each side knows, ended by NULL */
    as_dataset **parts;
    as_dataset *merged;
} job;

/* ---- what was asked for ---------------------------------------------------------------------------------------------- */

/* -O serves both sides: what the target knows goes there, all else to the readers. */
static bool split_options(as_cli *cli, job *j) {
    size_t n = 0, reads = 0, writes = 0;
    while (cli->options[n]) n++;
    j->read_options = calloc(n + 1, sizeof *j->read_options);
    j->write_options = calloc(n + 1, sizeof *j->write_options);
    if (!j->read_options || !j->write_options) return false;
    for (size_t i = 0; i < n; i++) {
        size_t size = strcspn(cli->options[i], "=");
        bool writer = false;
        for (const as_option *o = j->target.format ? j->target.format->write_options : NULL; o && o->name && !writer;
             o++) {
            writer = strlen(o->name) == size && strncmp(o->name, cli->options[i], size) == 0;
        }
        if (writer)
            j->write_options[writes++] = cli->options[i];
        else
            j->read_options[reads++] = cli->options[i];
    }
    return true;
}

/* The output is the last operand; -o may name it instead. */
static as_exit plan(as_cli *cli, job *j) {
    const char *named = as_cli_value(cli, "output");
    size_t n = as_cli_operands(cli);
    if (n < (named ? 1u : 2u))
        return as_cli_fail(cli, AS_EXIT_USAGE, "convert needs an input and an output; assay convert --help tells more");
    j->output = named ? named : as_cli_operand(cli, n - 1);
    j->n_inputs = named ? n : n - 1;
    const char *to = as_cli_value(cli, "to");
    bool to_stdout = strcmp(j->output, "-") == 0;
    if (to_stdout && !to)
        return as_cli_fail(cli, AS_EXIT_USAGE, "standard output has no ending that names a format; name one with --to");
    assay_error error;
    if (as_target_find(to, j->output, &j->target, &error) != ASSAY_OK) {
        as_cli_error(cli, &error);
        return AS_EXIT_USAGE; /* whatever is wrong with it */
    }
    bool is_directory = as_target_is_directory(&j->target);
    if (to_stdout && (!j->target.format || is_directory))
        return as_cli_fail(cli, AS_EXIT_USAGE, "a %s cannot be written to standard output; name a %s",
                           is_directory ? "directory" : "database", is_directory ? "directory" : "file");
    if (to_stdout && cli->style.mode == AS_PRINT_JSON)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--json reports on standard output, where the result goes; name a file");
    if (!split_options(cli, j)) return as_cli_memory(cli);
    return is_directory ? AS_EXIT_FINE : as_cli_check_output(cli, j->output, j->n_inputs);
}

/* ---- reading, losses, writing ---------------------------------------------------------------------------------------- */

/* *out: the one dataset to write; it belongs to the job. */
static as_exit read_inputs(as_cli *cli, job *j, const as_dataset **out) {
    assay_error error;
    j->parts = calloc(j->n_inputs, sizeof(as_dataset *));
    if (!j->parts) return as_cli_memory(cli);
    for (size_t i = 0; i < j->n_inputs; i++) {
        if (as_cli_read(cli, as_cli_operand(cli, i), false, j->read_options, &j->parts[i], &error) != ASSAY_OK)
            return as_cli_error(cli, &error);
    }
    *out = j->parts[0]; /* NOLINT(clang-analyzer-unix.Malloc): there is at least one input */
    if (j->n_inputs == 1) return AS_EXIT_FINE;
    if (!as_can_merge(j->parts, j->n_inputs)) {
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "the inputs do not have the same parameters and cannot become one; convert them one by one");
    }
    if (as_merge(j->parts, j->n_inputs, &j->merged, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    *out = j->merged;
    return AS_EXIT_FINE;
}

static as_exit report_losses(as_cli *cli, const job *j, const as_losses *losses) {
    size_t n = losses->texts.count;
    for (size_t i = 0; i < n; i++)
        as_cli_note(cli, "%s cannot hold %s", j->target.name, AS_AT(char *, &losses->texts, i));
    if (!n || !as_cli_has(cli, "strict")) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_CHECK, "%s: not written, because %s cannot hold %s and --strict forbids losses",
                       j->output, j->target.name,
                       n == 1 ? AS_AT(char *, &losses->texts, 0) : "all that is in the input");
}

/* --json: what was done. */
static void print_report(as_cli *cli, const job *j, const as_losses *losses) {
    as_builder b = as_builder_of(cli->out);
    as_build_object(&b, NULL, true);
    as_build_array(&b, "inputs", false);
    for (size_t i = 0; i < j->n_inputs; i++) as_build_text(&b, NULL, as_cli_operand(cli, i));
    as_build_end(&b);
    as_build_text(&b, "output", j->output);
    as_build_text(&b, "format", j->target.name);
    as_build_array(&b, "losses", true);
    for (size_t i = 0; i < losses->texts.count; i++) as_build_text(&b, NULL, AS_AT(char *, &losses->texts, i));
    as_build_end(&b);
    as_build_end(&b);
}

static as_exit convert(as_cli *cli, job *j) {
    const as_dataset *ds = NULL;
    as_exit status = read_inputs(cli, j, &ds);
    if (status != AS_EXIT_FINE) return status;
    as_losses losses;
    as_target_losses(&j->target, ds, &losses);
    status = report_losses(cli, j, &losses);
    if (status == AS_EXIT_FINE) {
        assay_error error;
        if (!cli->quiet && j->output && strcmp(j->output, "-") != 0) as_progress_begin("writing", j->output);
        assay_status written = as_target_write(&j->target, ds, j->output, j->write_options, &error);
        as_progress_end();
        if (written != ASSAY_OK) status = as_cli_error(cli, &error);
    }
    if (status == AS_EXIT_FINE && cli->style.mode == AS_PRINT_JSON) print_report(cli, j, &losses);
    as_losses_free(&losses);
    return status;
}

static as_exit run(as_cli *cli) {
    job j = {0};
    as_exit status = plan(cli, &j);
    if (status == AS_EXIT_FINE) status = convert(cli, &j);
    for (size_t i = 0; j.parts && i < j.n_inputs; i++) as_dataset_free(j.parts[i]);
    as_dataset_free(j.merged);
    free(j.parts);
    free(j.read_options);
    free(j.write_options);
    return status;
}

static const as_cli_option options[] = {
    {.name = "to",
     .argument = "FORMAT",
     .completes = AS_COMPLETES_WRITABLE,
     .help = "Write this format instead of the one that the output's name says"},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .completes = AS_COMPLETES_FILES,
     .help = "Write to this file; the last path is then an input, too"},
    {.name = "strict", .help = "Write nothing and end with status 1 if anything would be lost"},
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay convert kernels.txt kernels.extra-p", "An experiment file that Extra-P opens."},
    {"assay convert kernels.txt kernels.sqlite", "All tables as a SQLite database."},
    {"assay convert run1.jsonl run2.jsonl all.txt",
     "Makes one experiment of two files that measured the same parameters."},
    {"assay convert --to extrap-json old.txt - | jq .", "Writes to standard output."},
    {NULL, NULL},
};

const as_verb as_verb_convert = {
    .name = "convert",
    .summary = "Write a measurement in another format",
    .usage = "[options] IN… OUT",
    .description = "Reads the inputs and writes them to OUT, in the format that --to or the ending of OUT names; - is "
                   "standard input or output. The file "
                   "appears whole or not at all, and an input is never written over.\n\n"
                   "What the target cannot hold is listed on standard error before anything is written, a line each; "
                   "--strict refuses to write then. "
                   "Several inputs become one experiment if they have the same parameters: points are united, and what "
                   "was measured twice becomes "
                   "further repetitions.\n\n"
                   "Options of -O that the target knows go to it, all others to the readers.",
    .takes = AS_TAKES_JSON | AS_TAKES_INPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
