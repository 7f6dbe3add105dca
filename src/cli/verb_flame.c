/* Flame graphs: stacks with what is spent in each, folded or as a picture; of one measurement, or of two and what
 * changed between them. */
#include <string.h>

#include "cli/compatible.h"
#include "cli/diff_view.h"
#include "cli/flame_view.h"
#include "cli/group_by.h"
#include "cli/profile_choice.h"
#include "formats/perun/flame.h"

typedef enum shape { FOLDED, PICTURE, PROGRAM } shape;

static as_exit write_perun_lines(as_cli *cli, const as_dataset *ds) {
    if (!as_perun_of(ds))
        return as_cli_fail(cli, AS_EXIT_USAGE, "%s: perun_compatible is about Perun's profiles, and this is none",
                           as_ds_text(ds, ds->path));
    return as_perun_flame_lines(ds, cli->out) ? AS_EXIT_FINE : as_cli_memory(cli);
}

/* Options that would change nothing are refused: whoever gives them expects something else. */
static as_exit check_options(as_cli *cli, shape s, bool is_compatible) {
    static const char *const of_pictures[] = {"flames", "icicle", "width", "title", "color-by"};
    static const char *const of_trees[] = {"inverted", "min-share", "normalize", "width-of"};
    static const char *const of_two[] = {"normalize", "width-of", "match", "run-a", "run-b", "metric-a", "metric-b"};
    size_t n = as_cli_operands(cli);
    bool is_diff = as_cli_has(cli, "diff");
    if (n == 0) return as_cli_fail(cli, AS_EXIT_USAGE, "flame needs a file; assay flame --help tells more");
    if (as_cli_has(cli, "folded") && s != FOLDED)
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "--folded, --json and a picture (--svg, -o FILE.svg) exclude each other");
    if (as_cli_check_picture(cli) != AS_EXIT_FINE) return AS_EXIT_USAGE;
    if (as_cli_has(cli, "svg") && s != PICTURE)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--svg and --json exclude each other");
    for (size_t i = 0; i < sizeof of_pictures / sizeof *of_pictures; i++) {
        if (s != PICTURE && as_cli_has(cli, of_pictures[i]))
            return as_cli_fail(cli, AS_EXIT_USAGE, "--%s is about pictures; add -o FILE.svg, or --svg", of_pictures[i]);
    }
    for (size_t i = 0; i < sizeof of_trees / sizeof *of_trees; i++) {
        if (s == FOLDED && as_cli_has(cli, of_trees[i]))
            return as_cli_fail(cli, AS_EXIT_USAGE,
                               "--%s is about pictures and JSON; folded stacks are written as they are", of_trees[i]);
    }
    if (as_cli_has(cli, "flames") && as_cli_has(cli, "icicle"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--flames and --icicle exclude each other");
    for (size_t i = 0; i < sizeof of_two / sizeof *of_two; i++) {
        if (!is_diff && as_cli_has(cli, of_two[i]))
            return as_cli_fail(cli, AS_EXIT_USAGE, "--%s is about two files; add --diff", of_two[i]);
    }
    if (is_diff && n != 2)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--diff takes two files, A and B, and there %s %zu",
                           n == 1 ? "is" : "are", n);
    if (is_compatible && (s != FOLDED || is_diff))
        return as_cli_fail(cli, AS_EXIT_USAGE, "perun_compatible is about folded stacks of single files");
    return AS_EXIT_FINE;
}

static as_exit add_two(as_cli *cli, as_flame_view *stacks) {
    as_dataset *sides[2] = {0};
    as_exit status = AS_EXIT_FINE;
    for (size_t i = 0; i < 2; i++) {
        as_exit opened = as_cli_open(cli, as_cli_operand(cli, i), &sides[i]);
        if (opened != AS_EXIT_FINE) status = opened;
    }
    if (status == AS_EXIT_FINE) status = as_flame_view_add_two(cli, (const as_dataset *const *)sides, stacks);
    for (size_t i = 0; i < 2; i++) as_dataset_free(sides[i]);
    return status;
}

static as_exit add_files(as_cli *cli, bool is_compatible, as_flame_view *stacks) {
    as_exit status = AS_EXIT_FINE;
    for (size_t i = 0; i < as_cli_operands(cli); i++) {
        as_dataset *ds = NULL;
        as_exit answered = as_cli_open(cli, as_cli_operand(cli, i), &ds);
        if (answered == AS_EXIT_FINE)
            answered = is_compatible ? write_perun_lines(cli, ds) : as_flame_view_add(cli, ds, stacks);
        as_dataset_free(ds);
        if (answered != AS_EXIT_FINE) status = answered;
    }
    return status;
}

static as_exit run(as_cli *cli) {
    bool is_compatible;
    as_exit status = as_cli_compatible(cli, &is_compatible);
    bool is_json = cli->style.mode == AS_PRINT_JSON || (cli->output && as_has_ending(cli->output, ".json"));
    shape s = is_json ? PROGRAM : as_cli_is_svg(cli) ? PICTURE : FOLDED;
    if (status == AS_EXIT_FINE) status = check_options(cli, s, is_compatible);
    if (status != AS_EXIT_FINE) return status;
    as_flame_view stacks = {.flame = as_flame_new(NULL)};
    if (!stacks.flame) return as_cli_memory(cli);
    status = as_cli_has(cli, "diff") ? add_two(cli, &stacks) : add_files(cli, is_compatible, &stacks);
    bool is_whole = status == AS_EXIT_FINE || (s == FOLDED && !as_cli_has(cli, "diff")); /* lines of the others stay */
    if (is_whole && !is_compatible) {
        as_exit written = s == PICTURE                            ? as_flame_draw(cli, &stacks)
                          : s == PROGRAM                          ? as_flame_json(cli, &stacks)
                          : as_flame_fold(stacks.flame, cli->out) ? AS_EXIT_FINE
                                                                  : as_cli_memory(cli);
        if (written != AS_EXIT_FINE) status = written;
        size_t n_unwritten = s == FOLDED ? as_flame_unwritten(stacks.flame) : 0;
        if (n_unwritten)
            as_cli_note(cli, "%zu stack%s left out whose amount is infinite or no number", n_unwritten,
                        n_unwritten == 1 ? " is" : "s are");
    }
    as_flame_free(stacks.flame);
    return status;
}

static const as_cli_option options[] = {
    AS_SVG_OPTION,
    {.name = "folded",
     .help =
         "Write folded stacks, as without -o FILE.svg: a line for each, outermost function first, and what it took"},
    {.name = "diff", .help = "Compare two files, A and B: both amounts of each stack, colours for what changed"},
    AS_PAIRING_OPTION,
    {.name = "normalize", .help = "With --diff: scale the amounts of A so that both have the same sum"},
    {.name = "width-of",
     .argument = "SIDE",
     .choices = "a|b|max",
     .help = "With --diff: frames are as wide as in a, b (the default), or the larger of both, so that what is gone is "
             "seen, too"},
    {.name = "inverted", .help = "Begin with the innermost functions; below each who called it"},
    {.name = "flames", .help = "Draw the outermost function at the bottom"},
    {.name = "icicle", .help = "Draw it at the top, which is the default"},
    {.name = "color-by",
     .argument = "WHAT",
     .choices = "module|kind|name",
     .help = "Give modules, kinds of functions or names colours of their own; by default modules where several are "
             "known, else kinds, else names"},
    {.name = "min-share",
     .argument = "PERCENT",
     .help = "Leave out what is less than so much of the whole; by default what is narrower than 1/20 pixel, and the "
             "narrowest of what would make the file larger than 3 MB"},
    {.name = "width",
     .argument = "PIXELS",
     .help = "Make the picture so wide; by default 1200, in a browser its window"},
    {.name = "title", .argument = "TEXT", .help = "What stands above the picture; by default the name of the file"},
    {.name = "metric",
     .argument = "NAME",
     .help =
         "Take this metric; by default the time, or the first one, and of a Perun profile all resources of one unit"},
    AS_DERIVE_OPTION,
    AS_GROUP_OPTION,
    {.name = "by",
     .argument = "WHAT",
     .choices = "kernel|api|nvtx",
     .help =
         "Of inputs with GPU activities: stacks of these and who caused them, of API calls and what they caused, or "
         "of NVTX ranges over all threads"},
    AS_RUN_OPTION,
    AS_SIDE_METRIC_OPTIONS,
    AS_SIDE_RUN_OPTIONS,
    AS_LOCATION_OPTION,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay flame profile.cubex -o profile.svg", "A picture to open in any browser: click to zoom, / to search."},
    {"assay flame --diff old.cubex new.cubex -o change.svg", "What became slower (orange) and faster (blue)."},
    {"assay flame --inverted profile.cubex -o leaves.svg", "Which functions take the time, and who calls them."},
    {"assay flame --folded profile.cubex -o profile.folded", "The stacks; speedscope.app opens the file as it is."},
    {"assay flame --folded profile.cubex | flamegraph.pl > flame.svg", "Another picture of them."},
    {"assay flame --folded --metric bytes_sent profile.cubex", "Who sends, instead of where the time goes."},
    {"assay flame --folded --location 3 profile.cubex", "What process 3 did."},
    {"assay flame --folded memory.perf | sort -t ' ' -k 2 -n", "Who allocates most of the memory in a Perun profile."},
    {NULL, NULL},
};

const as_verb as_verb_flame = {
    .name = "flame",
    .summary = "Flame graphs: where it goes, as a picture or folded stacks",
    .usage = "[options] PATH…",
    .description =
        "With -o FILE.svg draws a flame graph: a box for each function in its call path, as wide as what was spent "
        "there and below it. The file needs nothing else and opens in every browser: click or Enter zooms, Esc goes "
        "back, / or Ctrl-F searches by a regular expression and tells the share of what it finds, arrows go from "
        "frame to frame, and the box at the pointer has the numbers. What is too narrow to be seen is left out; a "
        "note below the picture says how much.\n\n"
        "Else writes folded stacks, the lines that flamegraph.pl, speedscope and others draw: the functions of a call "
        "path from the outermost to the innermost, joined with ;, a blank, and what was spent there itself (the "
        "exclusive value), summed over locations, in the metric's own unit and not rounded. Equal stacks are one "
        "line, also those of several files; stacks without anything of their own are left out. A ; in a name becomes "
        ":, and line breaks become blanks.\n\n"
        "With --diff two files are compared: call paths belong together as in diff (--match), equal names below one "
        "frame are one. Folded lines have both amounts (as difffolded.pl writes them); the picture is as wide as B "
        "and coloured by how much each frame changed, from blue (less) to orange (more). Their units must be one, or "
        "times.\n\n"
        "--json has all frames: parent (the place of it in the list, null: none), depth, name, value and self, of two "
        "files a, a_self, b and b_self.\n\n"
        "Of a Perun profile the amounts of all resources are added up along their traces; what was freed is left out. "
        "Different units are never added: where a profile has several, the stacks are those of the time, or of the "
        "first one, and a note names the others. With -O perun_compatible=yes the lines are those of Perun's "
        "to_flame_graph_format: the uid first, then the trace reversed, a line for each resource.",
    .takes = AS_TAKES_JSON | AS_TAKES_INPUT | AS_TAKES_OUTPUT,
    .options = options,
    .method = as_compatible_option_table,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
