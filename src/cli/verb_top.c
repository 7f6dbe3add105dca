/* What costs most: a list of functions. */
#include <string.h>

#include "cli/study.h"
#include "cli/tree_view.h"

enum { USUAL_ROWS = 20 };

static as_exit run(as_cli *cli) {
    size_t limit = USUAL_ROWS;
    const char *by = as_cli_value(cli, "by");
    bool for_people = cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_MARKDOWN;
    if (!as_cli_count(cli, "limit", &limit)) return AS_EXIT_USAGE;
    bool by_kernel = by && strcmp(by, "kernel") == 0; /* what is read has other functions then */
    if (by_kernel) by = NULL;
    if (by && as_cli_has(cli, "callers"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--callers are those of functions; leave out --by");
    as_tree_ask ask = {.no_limit = "-n 0", .with_all_metrics = !for_people};
    ask.view.kind = as_cli_has(cli, "callers") ? AS_VIEW_BOTTOM_UP : AS_VIEW_FLAT;
    ask.view.max_levels = 2;
    ask.view.max_first = limit;
    ask.view.group = as_group_of(by);
    ask.view.order = as_order_of(as_cli_value(cli, "sort"), AS_SORT_EXCLUSIVE);
    as_exit status = as_choose_hot_threshold(cli, &ask.view);
    return status == AS_EXIT_FINE ? as_tree_answer(cli, &ask) : status;
}

static const as_cli_option options[] = {
    {.name = "limit", .letter = 'n', .argument = "ROWS", .help = "Show at most so many, 0: all; by default 20"},
    {.name = "callers", .help = "Show below each function who calls it, with the part of the cost that came that way"},
    {.name = "by",
     .argument = "WHAT",
     .choices = "region|file|module|kind|kernel",
     .help = "List functions (region), files, modules or kinds of functions, or what ran on GPUs (kernel); by default "
             "functions"},
    {.name = "sort",
     .argument = "KEY",
     .choices = "exclusive|inclusive|name|source",
     .help = "Sort by exclusive or inclusive value (largest first), name, or as in the file; by default by exclusive "
             "value"},
    AS_VIEW_CHOICE_OPTIONS,
    AS_VIEW_SHOW_OPTIONS,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay top profile.cubex", "The 20 functions that take most time themselves."},
    {"assay top profile.cubex -n 5 --callers", "The first five, and who calls them."},
    {"assay top profile.cubex --sort inclusive", "The functions that take most time with all they call."},
    {"assay top profile.cubex --by file", "The files that take most time."},
    {"assay top profile.cubex --metric bytes_sent --csv", "Who sends most, as CSV."},
    {NULL, NULL},
};

const as_verb as_verb_top = {
    .name = "top",
    .summary = "What costs most: a list of functions",
    .usage = "[options] PATH…",
    .description =
        "Lists the functions that cost most: what they do themselves (self, the exclusive value) and with all they "
        "call (incl), both as share of the whole, summed over all call paths and locations. Of a function that calls "
        "itself only the outermost calls count for the inclusive value. Of several runs the mean at the largest point "
        "is shown; --run names another.\n\n"
        "It is the beginning of what assay tree --by region shows; assay tree --bottom-up shows callers of callers.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT | AS_TAKES_OUTPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
