/* Where the cost goes: the call tree, top-down, bottom-up or flat. */
#include <string.h>

#include "analysis/algebra/algebra.h"
#include "cli/study.h"
#include "cli/tree_view.h"

static as_exit choose_view(as_cli *cli, as_view_request *view) {
    const char *by = as_cli_value(cli, "by");
    as_regrouping how = AS_REGROUP_API;
    bool is_regrouped = by && as_regrouping_of(by, &how), is_flat = as_cli_has(cli, "flat") || (by && !is_regrouped);
    if (is_regrouped && (as_cli_has(cli, "flat") || as_cli_has(cli, "bottom-up")))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--by %s is a tree of its own; leave out --%s", by,
                           as_cli_has(cli, "flat") ? "flat" : "bottom-up");
    if (is_flat && as_cli_has(cli, "bottom-up"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--bottom-up and --%s exclude each other", by ? "by" : "flat");
    bool is_bottom_up = as_cli_has(cli, "bottom-up") || how == AS_REGROUP_KERNEL;
    view->kind = is_bottom_up ? AS_VIEW_BOTTOM_UP : is_flat ? AS_VIEW_FLAT : AS_VIEW_TOP_DOWN;
    view->group = as_group_of(is_regrouped ? NULL : by);
    view->only_hot = as_cli_has(cli, "hot-path");
    return as_choose_hot_threshold(cli, view);
}

/* People see what matters, programs all; whoever names functions sees all of them. */
static as_exit choose_cuts(as_cli *cli, as_tree_ask *ask) {
    size_t depth = 0;
    bool for_people = cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_MARKDOWN;
    if (!as_cli_count(cli, "depth", &depth)) return AS_EXIT_USAGE;
    if (as_cli_has(cli, "depth") && (depth == 0 || depth > UINT32_MAX))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--depth takes a number of levels from 1 on");
    ask->view.max_levels = (uint32_t)depth;
    if (as_cli_has(cli, "all") && as_cli_has(cli, "min-share"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--all and --min-share exclude each other");
    ask->is_cut = for_people && !as_cli_has(cli, "all") && !as_cli_has(cli, "min-share") && !as_cli_has(cli, "match") &&
                  !as_cli_has(cli, "name") && !ask->view.only_hot;
    ask->view.min_share = ask->is_cut ? AS_USUAL_SHARE : 0;
    return as_choose_min_share(cli, &ask->view.min_share);
}

static as_exit run(as_cli *cli) {
    bool for_people = cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_MARKDOWN;
    as_tree_ask ask = {.with_all_metrics = !for_people, .by_scope = !as_cli_has(cli, "by")};
    as_exit status = choose_view(cli, &ask.view);
    if (status == AS_EXIT_FINE) status = choose_cuts(cli, &ask);
    if (status != AS_EXIT_FINE) return status;
    bool is_tree = ask.view.kind == AS_VIEW_TOP_DOWN;
    ask.view.order = as_order_of(as_cli_value(cli, "sort"), !is_tree     ? AS_SORT_EXCLUSIVE
                                                            : for_people ? AS_SORT_INCLUSIVE
                                                                         : AS_SORT_SOURCE);
    return as_tree_answer(cli, &ask);
}

static const as_cli_option options[] = {
    {.name = "bottom-up", .help = "Show functions by what they cost themselves, and below each its callers"},
    {.name = "flat",
     .help = "Show functions instead of call paths: a list, or where loops, lines and call sites are known, modules "
             "with their files, functions and what is in them"},
    {.name = "by",
     .argument = "WHAT",
     .choices = "region|file|module|kind|scope|kernel|api|nvtx",
     .help = "Show a list of functions (region), files, modules or kinds of functions, or the tree of them (scope); of "
             "inputs with GPU activities a tree of these and who caused them (kernel), of API calls and what they "
             "caused (api), or of NVTX ranges over all threads (nvtx)"},
    AS_VIEW_CHOICE_OPTIONS,
    {.name = "depth", .argument = "LEVELS", .help = "Show only so many levels of the tree; by default all"},
    {.name = "min-share",
     .argument = "PERCENT",
     .help = "Show only what makes up at least this part of the first metric, with all below it; by default 0.5 for "
             "people, everything in JSON and CSV"},
    {.name = "all", .help = "Show everything, however small"},
    {.name = "hot-path",
     .help = "Show only the hot path: from the largest to its largest child, while that has half of it (see "
             "--hot-path-threshold)"},
    {.name = "sort",
     .argument = "KEY",
     .choices = "inclusive|exclusive|name|source",
     .help = "Sort by inclusive or exclusive value (largest first), name, or as in the file; by default a tree by "
             "inclusive, in JSON and CSV as in the file, and lists by exclusive value"},
    AS_VIEW_SHOW_OPTIONS,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay tree profile.cubex", "Where the time goes, in the call tree."},
    {"assay tree profile.cubex --hot-path", "Only the way to what costs most."},
    {"assay tree profile.cubex --bottom-up --depth 2", "The functions that cost most, and who calls them."},
    {"assay tree profile.cubex --by file --sort inclusive", "How the time is spread over source files."},
    {"assay tree profile.cubex --metric bytes_sent --metric bytes_received --match '^MPI_'",
     "What is sent and received, and where."},
    {"assay tree profile.cubex --root solve --location 3", "What solve does in process 3."},
    {"assay tree profile.cubex --hide-subtree '^MPI_' --hide '^wrap_'", "Without MPI, and through wrappers."},
    {"assay tree database --location 'rank=0-3,thread=0' --source",
     "Some threads of an HPCToolkit database, with source lines."},
    {"assay tree database --flat", "Modules, files, functions, loops and lines."},
    {"assay tree profile.cubex --derive 'per call=time/visits'", "The time of a call, beside the whole."},
    {"assay tree report1.sqlite --by kernel", "What ran on the GPUs, and who launched it (Nsight Systems)."},
    {"assay tree kernels.txt --run p=64", "An experiment at one of its points."},
    {"assay tree profile.cubex --json", "All of it, all metrics, for programs."},
    {NULL, NULL},
};

const as_verb as_verb_tree = {
    .name = "tree",
    .summary = "Where the cost goes: the call tree with its metrics",
    .usage = "[options] PATH…",
    .description =
        "Shows the call tree with the inclusive value of each call path (all that happens until it returns), its "
        "share of the whole, and its exclusive value (self: what it does without those it calls). Values are summed "
        "over all locations, or taken from one with --location. Of several runs the mean at the largest point is "
        "shown; --run names another.\n\n"
        "--bottom-up turns the tree around: functions by what they cost themselves, below each its callers; each "
        "caller has the part of the cost that came through it. --flat and --by put together all that belongs to one "
        "function, file, module or kind of function. The inclusive value of a function that calls itself counts its "
        "outermost calls only, so nothing is counted twice.\n\n"
        "A call site and its callee are one node, that of the callee; loops, lines and instructions are nodes of "
        "their own. Where the file says so, --flat is a tree as well: modules, their files, functions, and in these "
        "their loops, lines, and whom they call.\n\n"
        "The hot path is marked: it begins at the root and goes on to the largest child as long as that has at least "
        "half of its parent's value, or what --hot-path-threshold says.\n\n"
        "Sections of captures run beside the regions: they stand below them, marked, and the total and all shares are "
        "those of the regions. What only says again what others have (the waits of GPU measurements) stands aside: it "
        "is marked, and no part of what is above it.\n\n"
        "Of exports of Nsight Systems the time of GPUs stands beside that of the host. --by kernel shows what ran on "
        "GPUs and who launched it, --by api the calls of the API and what they caused, --by nvtx the NVTX ranges over "
        "all threads (docs/gpu.md).\n\n"
        "What makes up less than 0.5 % of the first metric is not shown to people (--all shows it), but is in JSON "
        "and CSV. --match and --name keep the functions of these names and all above them. --hide takes nodes out of "
        "sight, and those below stand in their place; --hide-subtree takes all of it. Neither changes a number of "
        "what is still shown: assay cut --prune gives what is taken out to the callers. Minima, maxima and composite "
        "values are put together in their own way and have no shares. Metrics of experiments have one value only.\n\n"
        "In JSON a tree of several roots, and every list, has a node <root> above them. A path of more than 16384 "
        "bytes is null.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT | AS_TAKES_OUTPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
