#include "cli/cli.h"
#include "core/words.h"

static as_exit run(as_cli *cli) {
    const as_verb *verb = NULL;
    if (as_cli_operands(cli) > 1)
        return as_cli_fail(cli, AS_EXIT_USAGE, "help takes one verb; assay --help lists them");
    if (as_cli_operands(cli) == 1) {
        const char *name = as_cli_operand(cli, 0);
        verb = as_verb_find(name);
        as_nearest nearest = as_nearest_start(name, strlen(name));
        for (const as_verb *const *v = as_verbs; !verb && *v; v++) as_nearest_offer(&nearest, (*v)->name);
        if (!verb && nearest.word)
            return as_cli_fail(cli, AS_EXIT_USAGE, "there is no verb '%s'; did you mean '%s'?", name, nearest.word);
        if (!verb) return as_cli_fail(cli, AS_EXIT_USAGE, "there is no verb '%s'; assay --help lists them", name);
    }
    if (as_cli_has(cli, "man"))
        as_man_print(cli->out, verb);
    else
        as_help_print(cli->out, verb, cli->style.width, cli->style.colour);
    return AS_EXIT_FINE;
}

static const as_cli_option options[] = {
    {.name = "man", .hidden = true, .help = "Print the manual page as scdoc source"},
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay help convert", "What convert does, its options, and examples."},
    {NULL, NULL},
};

const as_verb as_verb_help = {
    .name = "help",
    .summary = "Explain the command, or one of its verbs",
    .usage = "[VERB]",
    .description = "Prints what assay --help or assay VERB --help prints.",
    .takes = AS_TAKES_OUTPUT,
    .options = options,
    .operands = AS_COMPLETES_VERBS,
    .examples = examples,
    .run = run,
};
