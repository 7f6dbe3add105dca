/* Parts of a call tree. */
#include <stdlib.h>

#include "cli/algebra.h"

/* All values of an option, in order; *n of them, to be freed. NULL when memory is out. */
static const char **values_of(const as_cli *cli, const char *name, size_t *n) {
    const as_vec *given = &cli->arguments.given;
    const char **values = malloc((given->count + 1) * sizeof(const char *));
    *n = 0;
    for (size_t i = 0; values && i < given->count; i++) {
        const as_given *one = &AS_AT(as_given, given, i);
        if (strcmp(one->option->name, name) == 0) values[(*n)++] = one->value;
    }
    return values;
}

static as_exit cut(as_cli *cli, const as_inputs *inputs) {
    as_cut_names names;
    const char **roots = values_of(cli, "root", &names.n_roots), **prunes = values_of(cli, "prune", &names.n_prunes);
    names.roots = roots;
    names.prunes = prunes;
    as_exit status = roots && prunes ? AS_EXIT_FINE : as_cli_memory(cli);
    as_dataset *ds = NULL;
    assay_error error;
    if (status == AS_EXIT_FINE && as_cut(inputs->parts[0], &names, &ds, &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    if (status == AS_EXIT_FINE) status = as_answer_dataset(cli, inputs, ds);
    as_dataset_free(ds);
    free(roots);
    free(prunes);
    return status;
}

static as_exit run(as_cli *cli) {
    if (!as_cli_has(cli, "root") && !as_cli_has(cli, "prune"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "nothing to cut; name regions with --root or --prune");
    as_inputs inputs;
    as_exit status = as_inputs_open(cli, 1, 1, "one file", &inputs);
    if (status == AS_EXIT_FINE) status = cut(cli, &inputs);
    as_inputs_close(&inputs);
    return status;
}

static const as_cli_option options[] = {
    {.name = "root",
     .argument = "NAME",
     .help = "Make every call path of this region a root, with all that is below it; may be given several times"},
    {.name = "prune",
     .argument = "NAME",
     .help =
         "Fold every call path of this region, with all that is below it, into its caller; may be given several times"},
    AS_RESULT_OPTIONS,
    AS_RESULT_TREE_OPTIONS,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay cut --root solve run.cubex -o solve.cubex", "Only what solve does."},
    {"assay cut --prune MPI_Init --prune MPI_Finalize run.cubex", "Shows the call tree without their details."},
    {NULL, NULL},
};

const as_verb as_verb_cut = {
    .name = "cut",
    .summary = "Keep subtrees of a call tree, or fold them into their callers",
    .usage = "[options] --root NAME | --prune NAME FILE",
    .description =
        "--root keeps the call paths of a region and all that is below them, each as a tree of its own; one inside "
        "another that is kept stays where it is. --prune takes call paths of a region out, with all that is below "
        "them: their values go to the caller, whose exclusive values grow while the inclusive ones stay. A root is "
        "never pruned. With both, what is pruned lies inside the new roots.\n\n"
        "Values of metrics that are neither inclusive nor exclusive (experiments) stay as they are; those of what is "
        "pruned are left out.\n\n"
        "Without -o the call tree of the result is shown.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
