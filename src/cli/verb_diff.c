/* What changed between two profiles. */
#include "cli/diff_view.h"
#include "cli/group_by.h"

/* The difference itself, as a file. */
static as_exit write_difference(as_cli *cli, const as_inputs *inputs) {
    as_dataset *ds = NULL;
    assay_error error;
    as_exit status = AS_EXIT_FINE;
    if (as_diff(inputs->parts[AS_BASE], inputs->parts[AS_TARGET], as_matching_given(cli),
                as_cli_has(cli, "all-metrics"), &ds, &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    else if (!ds->metrics.count)
        as_cli_note(cli, "the two have no metric in common, so the result has none");
    if (status == AS_EXIT_FINE) status = as_answer_dataset(cli, inputs, ds);
    as_dataset_free(ds);
    return status;
}

static as_exit show_changes(as_cli *cli, const as_inputs *inputs) {
    as_diff_view view;
    as_exit status = as_diff_view_open(cli, inputs, &view);
    if (status == AS_EXIT_FINE) {
        status = cli->style.mode == AS_PRINT_TEXT   ? as_diff_print(&view)
                 : cli->style.mode == AS_PRINT_JSON ? as_diff_json(&view)
                                                    : as_diff_table(&view);
    }
    as_diff_view_close(&view);
    return status;
}

static as_exit run(as_cli *cli) {
    as_inputs inputs;
    as_exit status = as_inputs_open(cli, 2, 2, "two files, BASE and TARGET", &inputs);
    if (status == AS_EXIT_FINE)
        status = inputs.save.output ? write_difference(cli, &inputs) : show_changes(cli, &inputs);
    as_inputs_close(&inputs);
    return status;
}

static const as_cli_option options[] = {
    {.name = "metric",
     .argument = "NAME",
     .help = "Show this metric; may be given several times. By default the time, with that on GPUs, or the first one "
             "that both have; in JSON and CSV all that both have"},
    AS_DERIVE_OPTION,
    AS_GROUP_OPTION,
    {.name = "all-metrics", .help = "Also take metrics that only one of the two has; they count as 0 in the other"},
    AS_PAIRING_OPTION,
    {.name = "flat", .help = "Show a list of functions instead of a tree"},
    {.name = "relative",
     .help =
         "Sort by the change in percent of the base, and take --min-change as such, instead of the size of the change"},
    {.name = "sort",
     .argument = "KEY",
     .choices = "change|relative|base|target|name|source",
     .help = "Sort by the size of the change (the default), its percentage, the value before or after, the name, or as "
             "in the files"},
    {.name = "min-change",
     .argument = "PERCENT",
     .help = "Show only what changed by at least so much of the whole, itself or below it; by default 1 for people, "
             "everything in JSON and CSV"},
    {.name = "all", .help = "Show everything, changed or not"},
    {.name = "limit",
     .letter = 'n',
     .argument = "N",
     .help = "Show only the N largest changes, and what is above them"},
    AS_LOCATION_OPTION,
    AS_RUN_OPTION,
    AS_SIDE_METRIC_OPTIONS,
    AS_SIDE_RUN_OPTIONS,
    {.name = "full-names",
     .help = "Print names whole, with the folders of files, even where they do not fit the terminal"},
    AS_ASCII_OPTION,
    AS_RESULT_OPTIONS,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay diff old.cubex new.cubex", "What became slower or faster, the largest changes first."},
    {"assay diff old.cubex new.cubex --flat -n 10", "The ten functions that changed most."},
    {"assay diff old.cubex new.cubex --metric visits --min-change 0", "Everything that is called more or less often."},
    {"assay diff run.cubex hpctoolkit-db --metric-a time --metric-b CPUTIME", "Two formats, with names of their own."},
    {"assay diff old.cubex new.cubex -o change.cubex", "The difference at every place, as a file."},
    {"assay diff old.cubex new.cubex --json | jq '.root.values.time.change'", "How much slower the whole became."},
    {NULL, NULL},
};

const as_verb as_verb_diff = {
    .name = "diff",
    .summary = "Show what changed between two profiles",
    .usage = "[options] BASE TARGET",
    .description =
        "Puts the call trees of both files together and shows, for each call path, the inclusive value before (base) "
        "and after (target), what changed and by how many percent, and the change of its exclusive value (self: what "
        "it does without those it calls). The largest changes come first. A call path that one of the two lacks "
        "counts as 0 there and is marked new or gone; functions that only one has are listed below. Values are summed "
        "over all places, or taken from one with --location. Of experiments the mean of the runs at the largest point "
        "that both have is compared; --run names another, --run-a and --run-b one of each file (which may be the same "
        "file).\n\n"
        "Call paths belong together from the roots down: first those that are equal in everything (function, file, "
        "lines, call site, parameters), then what is left over by name, so that a function which moved by a line is "
        "not lost and new; see --match. Metrics belong together by name (--metric-a and --metric-b set two names "
        "against each other; where the two files have no metric in common, the main ones are), places by name and "
        "rank of the process and rank of the thread, whatever machine they are on. Processes and threads that only "
        "the numbers of the operating system name, and places without ranks, belong together in their order where no "
        "name is equal.\n\n"
        "With -o the difference is written as a profile of its own, TARGET minus BASE at every place: integers as "
        "exact signed ones (INT64), numbers with a fraction as they are. A metric that one of the two lacks was not "
        "measured: it is left out, and a note says so; --all-metrics keeps it. Derived metrics are left out of the "
        "file, too.\n\n"
        "In JSON a node has values {METRIC: {\"base\", \"target\", \"change\", \"relative\"}}, each with inclusive "
        "and exclusive; relative is null where the base is 0; where the target calls the metric by another name, "
        "target_metric has it. in_base and in_target say who has the call path. A tree of several roots, and a list, "
        "has a node <root> above them.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
