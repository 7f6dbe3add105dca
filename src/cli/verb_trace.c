/* What each process and thread did when. */
#include <string.h>

#include "cli/answers.h"
#include "cli/trace_view.h"

static bool is_text(const as_cli *cli) { return cli->style.mode == AS_PRINT_TEXT; }

static as_exit check_options(as_cli *cli) {
    static const char *const shapes[] = {"summary", "by-location", "samples", "intervals"};
    int n = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) n += as_cli_has(cli, shapes[i]);
    if (as_cli_operands(cli) == 0)
        return as_cli_fail(cli, AS_EXIT_USAGE, "trace needs a file; assay trace --help tells more");
    if (n > 1)
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "--summary, --by-location, --samples and --intervals exclude each other");
    if (!as_cli_is_svg(cli)) return as_cli_check_picture(cli);
    if (n || !is_text(cli))
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "the SVG is the picture of time lines; leave out what asks for tables and lists");
    if (as_cli_operands(cli) > 1) return as_cli_fail(cli, AS_EXIT_USAGE, "an SVG is of one file; draw them one by one");
    return AS_EXIT_FINE;
}

static as_trace_shape shape_of(const as_cli *cli) {
    return as_cli_has(cli, "samples")     ? AS_TRACE_SAMPLES
           : as_cli_has(cli, "intervals") ? AS_TRACE_INTERVALS
           : as_cli_has(cli, "summary")   ? AS_TRACE_SUMMARY
                                          : AS_TRACE_LINES;
}

static as_exit show(as_cli *cli, as_answers *a, as_trace_view *view, const char *path) {
    bool fine = true;
    if (a->printer) return as_trace_rows(a->printer, a->batch, view, as_cli_operands(cli) > 1 ? path : NULL);
    if (cli->style.mode == AS_PRINT_JSON) {
        fine = as_trace_json(&a->builder, view);
    } else if (view->is_svg) {
        fine = as_trace_svg(view);
    } else {
        if (a->shown) as_output_char(cli->out, '\n');
        fine = as_trace_text(view);
    }
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

static as_exit answer_file(as_cli *cli, as_answers *a, const char *path) {
    as_dataset *ds;
    as_trace_view view = {0};
    as_exit status = as_cli_open(cli, path, &ds);
    if (status == AS_EXIT_FINE) status = as_trace_choose(cli, ds, path, &view);
    if (status == AS_EXIT_FINE) status = show(cli, a, &view, path);
    a->shown += status == AS_EXIT_FINE;
    as_trace_view_free(&view);
    as_dataset_free(ds);
    return status;
}

static as_exit run(as_cli *cli) {
    as_exit status = check_options(cli);
    if (status != AS_EXIT_FINE) return status;
    as_trace_shape shape = shape_of(cli);
    bool is_list = shape == AS_TRACE_SAMPLES || shape == AS_TRACE_INTERVALS;
    bool is_table = is_list || !(is_text(cli) || cli->style.mode == AS_PRINT_JSON);
    as_table *batch = is_table ? as_trace_table(shape, is_text(cli), as_cli_operands(cli) > 1) : NULL;
    cli->style.keep_end = cli->style.keep_last_end = true; /* of the names of files, and of call paths */
    return as_answer_files(cli, is_table, batch, answer_file);
}

static const as_cli_option options[] = {
    AS_SVG_OPTION,
    {.name = "depth",
     .argument = "N",
     .help = "Show the procedures at this depth of the call paths: a number from 1 (the outermost), deepest, or auto, "
             "which chooses one that tells something; by default auto"},
    {.name = "all-contexts", .help = "Count loops, lines and call sites as levels of their own"},
    AS_LOCATION_OPTION,
    {.name = "run",
     .argument = "RUN",
     .help = "Take this run (its number), or the first of those at a point such as p=64,n=10; by default of the "
             "largest point, and of intervals all runs"},
    {.name = "wallclock", .help = "Runs of intervals begin when they began; by default each begins at 0"},
    {.name = "since",
     .argument = "TIME",
     .help = "Begin here: seconds since the run's start, or with a unit (200ms), or a part of the trace (30%); by "
             "default at the first sample"},
    {.name = "until", .argument = "TIME", .help = "End here, given in the same ways; by default at the last sample"},
    {.name = "summary", .help = "Show the share of time of the procedures over time, for all locations together"},
    {.name = "by-location", .help = "Show for each location when it was measured and what it did most"},
    {.name = "samples", .help = "List the samples: where, when, and in which call path"},
    {.name = "intervals", .help = "List the intervals: where, from when to when, and in which call path"},
    {.name = "bins",
     .argument = "N",
     .help = "Divide time into so many parts for shares over time; by default 20, for people one for each column"},
    {.name = "width",
     .argument = "COLUMNS",
     .help = "Make the picture so wide; by default as wide as the terminal (80 columns where there is none), in JSON "
             "100 columns, of an SVG 1200 pixels of time"},
    {.name = "rows",
     .argument = "N",
     .help =
         "Make the picture so high, 0: a row for each location; by default at most 32, with --summary 12, in an SVG "
         "100"},
    {.name = "sort",
     .argument = "KEY",
     .choices = "share|samples|name",
     .help = "Sort procedures by their share of time, number of samples, or name; by default by share"},
    {.name = "limit",
     .letter = 'n',
     .argument = "N",
     .help =
         "Show at most so many procedures, samples or intervals, 0: all; by default 12 procedures or 20 of the others "
         "for people"},
    {.name = "rule",
     .argument = "RULE",
     .choices = "auto|nearest|before",
     .help =
         "Whose the time between two samples is: each owns what is nearest to it, or all up to the next; by default "
         "auto, the nearest but on GPUs"},
    {.name = "exact", .help = "Read all samples for shares of time, also where there are more than 32 million"},
    AS_ASCII_OPTION,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay trace hpctoolkit-database", "The time lines of all processes and threads."},
    {"assay trace db -o lines.svg", "The same for the browser: drag to zoom, hover to see what is there."},
    {"assay trace db --depth 4 --location 0", "One process, a level deeper or higher."},
    {"assay trace db --since 1.2s --until 1.4s", "Look closer."},
    {"assay trace db --location gpustream --rows 0", "What the GPUs did, a row for each stream."},
    {"assay trace db --summary", "What all of them did over time, by share."},
    {"assay trace db --by-location --csv", "For each location the time and share of every procedure, as CSV."},
    {"assay trace db --samples --since 50% -n 5", "The first samples of the second half."},
    {"assay trace report1.sqlite --location stream", "What the GPU's streams did, of an Nsight Systems export."},
    {"assay trace capture.afperf --wallclock", "Regions, sections and pauses of all runs of a capture, by the clock."},
    {"assay trace capture.afperf --intervals --since 2s -n 5", "Its first intervals from there on."},
    {NULL, NULL},
};

const as_verb as_verb_trace = {
    .name = "trace",
    .summary = "What each process and thread did when: time lines",
    .usage = "[options] PATH…",
    .description =
        "Shows a picture of the trace: a row for each location, time from left to right, and in each cell the "
        "procedure the location was in then, as a colour and a letter. Below stand the procedures with their letters "
        "and their share of the time of all locations. A dot is <no activity>: the location was there, but did not "
        "run the program.\n\n"
        "A sample says in which call path a location was at one moment. What is shown of it is the procedure at the "
        "chosen depth, or the innermost one where the path is shorter; loops and lines belong to the procedure they "
        "are in. Each sample owns the time that is nearer to it than to its neighbours, as in hpcviewer; on GPUs, "
        "where the beginnings and ends of operations are recorded, and with --rule before, it is the time until the "
        "next. Before the first and behind the last sample of a location there is nothing.\n\n"
        "Sources of intervals (AFPerf) have a line for the nested ones of each run, which shows the innermost one or, "
        "at a depth, what holds it; a dot where there is none. Each section has lines of its own, one for each of its "
        "intervals that overlap. What the run was paused in is <paused>, shown as =. Counts are those of intervals "
        "that begin in the window.\n\n"
        "Exports of Nsight Systems have a row for each thread (NVTX ranges and API calls as they nest; below it "
        "ranges that need not nest, calls of the OS runtime and CPU samples) and for each stream of a GPU: kernels "
        "and copies, at any depth (docs/gpu.md).\n\n"
        "--summary stacks the procedures by their share of time in each part of the window (hpcviewer's summary "
        "view), --by-location has a row for each location. --json has everything: procedures with letter, time, share "
        "and shares in --bins parts of time (20), locations with theirs, and the picture as numbers of procedures. "
        "CSV, JSON Lines and Markdown have a row for each location and procedure, with --summary for each part of "
        "time and procedure, with --samples or --intervals for each of these. Times are seconds since the run's "
        "start.\n\n"
        "With -o FILE.svg the time lines are a picture that opens in every browser: the cross at the pointer tells "
        "what is there, dragging zooms into a part of time, Esc goes back, + and - zoom, arrows go along, and a name "
        "of the list shows where it is.\n\n"
        "Pictures read only a few samples of each line. Shares of time read all of them, up to 32 million unless "
        "--exact is given; beyond that they are those of the picture.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT | AS_TAKES_OUTPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
