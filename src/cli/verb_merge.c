/* Several profiles as one. */
#include "cli/algebra.h"

static as_exit run(as_cli *cli) {
    as_inputs inputs;
    as_exit status = as_inputs_open(cli, 2, SIZE_MAX, "two files or more", &inputs);
    if (status == AS_EXIT_FINE) status = as_answer_joined(cli, &inputs, as_merge_profiles);
    as_inputs_close(&inputs);
    return status;
}

static const as_cli_option options[] = {AS_PAIRING_OPTION, AS_RESULT_OPTIONS, AS_RESULT_TREE_OPTIONS, {.name = NULL}};

static const as_example examples[] = {
    {"assay merge time.cubex counters.cubex -o both.cubex", "Metrics of two runs of one program in one file."},
    {"assay merge ranks0-63.cubex ranks64-127.cubex", "Shows the call tree over all processes."},
    {NULL, NULL},
};

const as_verb as_verb_merge = {
    .name = "merge",
    .summary = "Make one profile of several that measured different things",
    .usage = "[options] FILE FILE…",
    .description =
        "Puts metrics, call paths and places of all files into one profile. What several files have measured is never "
        "mixed: each column, that is a metric at a place, comes whole from the last file that has both, and call "
        "paths which that file lacks are 0 there. Types and units stay; times in several units are in that of the "
        "first file, and a metric that is in another unit than there is left out, with a note.\n\n"
        "Metrics belong together by name; places by name and rank of the process and rank of the thread, whatever "
        "machine they are on; call paths from the roots down, see --match. Files with parameters are united point by "
        "point. Captures (AFPerf) become one of all their runs; ids that several use are new in the later ones.\n\n"
        "Without -o the call tree of the result is shown.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
