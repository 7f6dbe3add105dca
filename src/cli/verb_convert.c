/* From any format that can be read to any that can be written, saying what is lost. */
#include <stdlib.h>
#include <string.h>

#include "cli/save.h"
#include "dataset/merge.h"

/* What is to be done. */
typedef struct job {
    as_save save;
    as_dataset **parts;
    as_dataset *merged;
} job;

static as_exit plan_append(as_cli *cli, as_save *save) {
    if (strcmp(save->output, "-") == 0)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--append needs a file to add to; name one");
    if (!save->target.format || !save->target.format->appends)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--append adds to captures, which %s is not; name an .afperf file",
                           save->target.name);
    save->target.appends = true;
    return AS_EXIT_FINE;
}

/* The output is the last operand; -o may name it instead. */
static as_exit plan(as_cli *cli, job *j) {
    const char *named = as_cli_value(cli, "output");
    size_t n = as_cli_operands(cli);
    if (n < (named ? 1u : 2u))
        return as_cli_fail(cli, AS_EXIT_USAGE, "convert needs an input and an output; assay convert --help tells more");
    as_exit status = as_save_plan(cli, named ? named : as_cli_operand(cli, n - 1), named ? n : n - 1, &j->save);
    return status == AS_EXIT_FINE && as_cli_has(cli, "append") ? plan_append(cli, &j->save) : status;
}

/* *out: the one dataset to write; it belongs to the job. */
static as_exit read_inputs(as_cli *cli, job *j, const as_dataset **out) {
    assay_error error;
    j->parts = calloc(j->save.n_inputs, sizeof(as_dataset *));
    if (!j->parts) return as_cli_memory(cli);
    for (size_t i = 0; i < j->save.n_inputs; i++) {
        if (as_cli_read(cli, as_cli_operand(cli, i), false, j->save.read_options, &j->parts[i], &error) != ASSAY_OK)
            return as_cli_error(cli, &error);
    }
    *out = j->parts[0]; /* NOLINT(clang-analyzer-unix.Malloc): there is at least one input */
    if (j->save.n_inputs == 1) return AS_EXIT_FINE;
    as_format_merge *own = as_own_merge((const as_dataset *const *)j->parts, j->save.n_inputs);
    if (own) {
        if (own((const as_dataset *const *)j->parts, j->save.n_inputs, &j->merged, &error) != ASSAY_OK)
            return as_cli_error(cli, &error);
        *out = j->merged;
        return AS_EXIT_FINE;
    }
    if (!as_can_merge(j->parts, j->save.n_inputs)) {
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "the inputs do not have the same parameters and cannot become one; convert them one by one");
    }
    if (as_merge(j->parts, j->save.n_inputs, &j->merged, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    *out = j->merged;
    return AS_EXIT_FINE;
}

static as_exit run(as_cli *cli) {
    job j = {0};
    as_exit status = plan(cli, &j);
    const as_dataset *ds = NULL;
    if (status == AS_EXIT_FINE) status = read_inputs(cli, &j, &ds);
    if (status == AS_EXIT_FINE) status = as_save_write(cli, &j.save, ds);
    for (size_t i = 0; j.parts && i < j.save.n_inputs; i++) as_dataset_free(j.parts[i]);
    as_dataset_free(j.merged);
    free(j.parts);
    as_save_free(&j.save);
    return status;
}

static const as_cli_option options[] = {
    AS_SAVE_OPTIONS,
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .completes = AS_COMPLETES_FILES,
     .help = "Write to this file; the last path is then an input, too"},
    {.name = "append",
     .help = "Add to OUT, a capture, instead of replacing it: its records stay as they are, runs of IN come behind "
             "them, and ids that both use are new in the runs added. OUT gets all or nothing, also where several "
             "add to it at once or one is killed"},
    AS_DERIVE_OPTION,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay convert kernels.txt kernels.extra-p", "An experiment file that Extra-P opens."},
    {"assay convert kernels.txt kernels.sqlite", "All tables as a SQLite database."},
    {"assay convert run1.jsonl run2.jsonl all.txt",
     "Makes one experiment of two files that measured the same parameters."},
    {"assay convert --to extrap-json old.txt - | jq .", "Writes to standard output."},
    {"assay convert --to hpctoolkit-4 old-database new-database",
     "An HPCToolkit database of any age in the form of today, a new directory."},
    {"assay convert --append tonight.afperf all.afperf",
     "Puts the runs of a capture behind those of a file, which is made if there is none."},
    {"assay convert hpctoolkit-database profile.cubex", "The same for the tools of Cube, saying what is lost."},
    {NULL, NULL},
};

const as_verb as_verb_convert = {
    .name = "convert",
    .summary = "Write a measurement in another format",
    .usage = "[options] IN… OUT",
    .description = "Reads the inputs and writes them to OUT, in the format that --to or the ending of OUT names; - is "
                   "standard input or output. The file or directory appears whole or not at all, and an input is "
                   "never written over.\n\n"
                   "What the target cannot hold is listed on standard error before anything is written, a line each; "
                   "--strict refuses to write then. Several inputs become one experiment if they have the same "
                   "parameters: points are united, and what was measured twice becomes further repetitions. Captures "
                   "become one file of all their runs.\n\n"
                   "Options of -O that the target knows go to it, all others to the readers.",
    .takes = AS_TAKES_JSON | AS_TAKES_INPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
