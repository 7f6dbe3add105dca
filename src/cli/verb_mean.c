/* The mean of repetitions. */
#include "cli/algebra.h"

/* One file is enough where it has several runs of a point. */
static bool has_repetitions(const as_dataset *ds) {
    for (assay_id run = 1; run < ds->runs.count; run++) {
        if (as_ds_run(ds, run)->point == as_ds_run(ds, run - 1)->point) return true;
    }
    return false;
}

static as_exit run(as_cli *cli) {
    as_inputs inputs;
    as_exit status = as_inputs_open(cli, 1, SIZE_MAX, "two files or more", &inputs);
    if (status == AS_EXIT_FINE && inputs.n == 1 && !has_repetitions(inputs.parts[0]))
        status = as_cli_fail(cli, AS_EXIT_USAGE, "%s: has no repetitions to take the mean of; name other files, too",
                             as_cli_operand(cli, 0));
    if (status == AS_EXIT_FINE) status = as_answer_joined(cli, &inputs, as_mean);
    as_inputs_close(&inputs);
    return status;
}

static const as_cli_option options[] = {AS_PAIRING_OPTION, AS_RESULT_OPTIONS, AS_RESULT_TREE_OPTIONS, {.name = NULL}};

static const as_example examples[] = {
    {"assay mean run1.cubex run2.cubex run3.cubex -o mean.cubex", "One profile of three repetitions."},
    {"assay mean runs/ -o mean.extra-p", "One run for each point of a set of files."},
    {NULL, NULL},
};

const as_verb as_verb_mean = {
    .name = "mean",
    .summary = "Make one profile of repetitions, their mean",
    .usage = "[options] FILE…",
    .description = "Adds the runs up and divides by the number of those that have the metric; integers become numbers "
                   "with a fraction. A call path or a place that a run lacks counts as 0, a metric that it lacks does "
                   "not count. Files with parameters: all runs of a point, of whatever file, become one; a single "
                   "file will do where it has repetitions.\n\n"
                   "Metrics belong together by name; places by name and rank of the process and rank of the thread, "
                   "whatever machine they are on; call paths from the roots down, see --match.\n\n"
                   "Without -o the call tree of the result is shown.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
