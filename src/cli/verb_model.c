/* Scaling models: how each call path grows with the parameters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/scaling/coordinates.h"
#include "cli/answers.h"
#include "cli/group_by.h"
#include "cli/model_plot.h"
#include "cli/model_view.h"
#include "cli/profile_choice.h"
#include "cli/progress.h"
#include "query/target.h"
#include "render/extrap_print.h"

/* What the command line asks for, as far as it can be told before reading. */
struct request {
    enum { AS_TABLE, AS_PRINTED, AS_PLOT, AS_WHY } answer;
    const char *what; /* of --print, --plot, --why */
    bool to_target;   /* -o names a file that holds measurements and models */
    as_target target;
    const char *output; /* NULL: standard output */
    const char *sort;
    size_t limit; /* SIZE_MAX: what fits the terminal, 0: all */
};

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static as_exit choose_answer(as_cli *cli, struct request *r) {
    static const char *const names[] = {"print", "plot", "why"};
    const char *chosen = NULL;
    for (size_t i = 0; i < 3; i++) {
        if (!as_cli_has(cli, names[i])) continue;
        if (chosen) return as_cli_fail(cli, AS_EXIT_USAGE, "--%s and --%s exclude each other", chosen, names[i]);
        chosen = names[i];
        r->answer = i == 0 ? AS_PRINTED : i == 1 ? AS_PLOT : AS_WHY;
        r->what = as_cli_value(cli, chosen);
    }
    bool is_table = cli->style.mode != AS_PRINT_TEXT;
    if (is_table && (r->answer == AS_PRINTED || r->answer == AS_PLOT))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--%s has a shape of its own; leave out --json and the like", chosen);
    assay_error error;
    if (r->answer == AS_PRINTED && as_extrap_print_check(r->what, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    static const char *const of_plot[] = {"over", "fix", "log", "ascii", "height"};
    for (size_t i = 0; i < sizeof of_plot / sizeof *of_plot && r->answer != AS_PLOT; i++) {
        if (as_cli_has(cli, of_plot[i]))
            return as_cli_fail(cli, AS_EXIT_USAGE, "--%s is for plots; name a call path with --plot", of_plot[i]);
    }
    return AS_EXIT_FINE;
}

/* A file of measurements and models, or the answer as text. */
static as_exit choose_output(as_cli *cli, struct request *r) {
    r->output = as_cli_value(cli, "output");
    if (!r->output) return AS_EXIT_FINE;
    bool is_svg = as_has_ending(r->output, ".svg");
    if (is_svg != (r->answer == AS_PLOT) && strcmp(r->output, "-") != 0) {
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           is_svg ? "%s: an SVG file is for a plot; name a call path with --plot"
                                  : "%s: a plot is written as .svg, or without -o to the terminal",
                           r->output);
    }
    as_exit status = as_cli_check_output(cli, r->output, as_cli_operands(cli));
    if (status != AS_EXIT_FINE || is_svg || r->answer == AS_PLOT) return status;
    assay_error ignored;
    if (as_target_find(NULL, r->output, &r->target, &ignored) == ASSAY_OK &&
        (!r->target.format || (r->target.format->holds & AS_HOLDS_MODELS)))
        r->to_target = true;
    if (r->to_target && r->answer == AS_WHY)
        return as_cli_fail(cli, AS_EXIT_USAGE, "%s: holds models, no hypotheses; leave out --why", r->output);
    bool asked = r->to_target || r->answer != AS_TABLE || cli->style.mode != AS_PRINT_TEXT;
    if (asked || strcmp(r->output, "-") == 0 || as_mode_of_ending(r->output, &cli->style.mode)) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_USAGE,
                       "%s: the ending does not say what to write; .extra-p and .sqlite hold models, .json, .jsonl, "
                       ".csv, .md and .txt the answer",
                       r->output);
}

static as_exit plan(as_cli *cli, struct request *r) {
    *r = (struct request){.limit = SIZE_MAX};
    as_exit status = choose_answer(cli, r);
    if (status == AS_EXIT_FINE) status = choose_output(cli, r);
    if (status != AS_EXIT_FINE) return status;
    if (!as_cli_count(cli, "limit", &r->limit)) return AS_EXIT_USAGE;
    bool for_people = cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_MARKDOWN;
    r->sort = as_cli_value(cli, "sort");
    if (!r->sort) r->sort = for_people ? "growth" : "file";
    return AS_EXIT_FINE;
}

/* ---- the point of --at ------------------------------------------------------------------------------------------- */

/* Reads --at into points, before anything is modelled in vain; empty where no point is needed. */
static as_exit choose_point(as_cli *cli, const struct request *r, const as_dataset *ds, as_vec *points) {
    const char *text = as_cli_value(cli, "at");
    assay_error error;
    if (r->answer != AS_TABLE || (!text && strcmp(r->sort, "value") != 0)) return AS_EXIT_FINE;
    if (!text) {
        assay_id largest;
        bool fine =
            as_largest_point(ds, &largest) && as_vec_append(points, as_ds_point(ds, largest), as_ds_parameters(ds));
        return fine ? AS_EXIT_FINE : as_cli_memory(cli);
    }
    if (as_points_parse(ds, text, points, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    if (points->count == as_ds_parameters(ds)) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_USAGE, "--at takes one point here; assay predict takes several");
}

/* One note for people; programs find it with every model. */
static void note_extrapolation(as_cli *cli, const as_dataset *ds, const as_model_view *view) {
    double far = as_extrapolation(ds, view->at, NULL);
    for (size_t i = 0; far > 1 && cli->style.mode != AS_PRINT_TEXT && i < view->fit->n; i++)
        view->fit->notes[i].flags |= AS_FIT_EXTRAPOLATED;
    char number[AS_NUMBER_SIZE];
    as_real_format(round(far * 10) / 10, number);
    if (far > 1 && isfinite(far))
        as_cli_note(cli, "%s lies outside what was measured, by a factor of %s", view->at_label, number);
    else if (far > 1)
        as_cli_note(cli, "%s lies outside what was measured", view->at_label);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* Rows of text that leave room for the lines around them. */
static size_t rows_that_fit(const as_cli *cli) {
    enum { OTHER_LINES = 7, LEAST = 10, DEFAULT_LINES = 24 };
    if (!cli->is_terminal || cli->style.mode != AS_PRINT_TEXT) return 0;
    struct winsize size;
    const char *lines = getenv("LINES");
    long given = lines ? strtol(lines, NULL, 10) : 0;
    if (given <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) given = size.ws_row;
    if (given <= 0 || given > 100000) given = DEFAULT_LINES;
    return given > OTHER_LINES + LEAST ? (size_t)given - OTHER_LINES : LEAST;
}

static as_exit print_view(as_cli *cli, const as_model_view *view) {
    as_progress_end();
    bool fine = cli->style.mode == AS_PRINT_JSON   ? as_model_json(cli->out, view)
                : cli->style.mode == AS_PRINT_TEXT ? as_model_text(cli, view)
                                                   : as_model_flat(cli, view);
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

static as_exit print_models(as_cli *cli, const struct request *r, as_model_view *view) {
    size_t n = view->fit->n;
    uint32_t *rows = malloc((n ? n : 1) * sizeof *rows);
    as_exit status = rows && as_model_order(view, r->sort, rows, n) ? AS_EXIT_FINE : as_cli_memory(cli);
    size_t screenful = rows_that_fit(cli), limit = r->limit == SIZE_MAX ? screenful : r->limit;
    view->rows = rows;
    view->n_rows = limit && limit < n ? limit : n;
    view->is_screenful = r->limit == SIZE_MAX && screenful && view->n_rows == screenful;
    if (status == AS_EXIT_FINE) status = print_view(cli, view);
    free(rows);
    return status;
}

static as_exit write_target(as_cli *cli, const struct request *r, const as_study *study) {
    const as_dataset *ds = study->ds;
    as_target target = r->target;
    target.threads = study->options.threads;
    as_losses losses;
    as_target_losses(&target, ds, &losses);
    for (size_t i = 0; i < losses.texts.count; i++)
        as_cli_note(cli, "%s cannot hold %s", target.name, AS_AT(char *, &losses.texts, i));
    bool failed = losses.failed;
    as_losses_free(&losses);
    if (failed) return as_cli_memory(cli);
    assay_error error;
    if (!cli->quiet) as_progress_begin("writing", r->output);
    assay_status status = as_target_write(&target, ds, r->output, NULL, &error);
    as_progress_end();
    return status == ASSAY_OK ? AS_EXIT_FINE : as_cli_error(cli, &error);
}

/* view: NULL where no models are needed. */
static as_exit print_answer(as_cli *cli, const struct request *r, as_study *study, as_model_view *view) {
    if (r->answer == AS_WHY) return as_model_why(cli, study, r->what);
    if (r->answer == AS_TABLE) return print_models(cli, r, view);
    if (r->answer == AS_PLOT) return as_model_plot(cli, study, view->fit);
    assay_error error;
    if (as_extrap_print(cli->out, study->ds, r->what, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    return AS_EXIT_FINE;
}

/* Prints the answer to the file of -o, or to standard output. */
static as_exit print_to(as_cli *cli, const struct request *r, as_study *study, as_model_view *view) {
    if (!r->output || r->to_target) return print_answer(cli, r, study, view);
    const char *colour = as_cli_value(cli, "color");
    assay_error error;
    as_output *terminal = cli->out, *file;
    if (as_output_open(r->output, &file, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    cli->out = file;
    cli->is_terminal = false;
    cli->style.width = 0;
    cli->style.colour = colour && strcmp(colour, "always") == 0;
    as_exit status = print_answer(cli, r, study, view);
    cli->out = terminal;
    if (status == AS_EXIT_FINE) return as_cli_commit(cli, file, status);
    as_output_discard(file);
    return status;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static bool show_progress(void *user, double fraction) {
    (void)user;
    return as_progress_step(NULL, NULL, fraction);
}

static as_exit fit(as_cli *cli, as_study *study, as_fit *out) {
    const char *name = as_cli_value(cli, "name");
    assay_error error;
    as_ds_forget_models(study->ds);
    if (!cli->quiet) as_progress_begin("modelling", as_cli_operand(cli, 0));
    assay_status status = as_fit_models(study->ds, &study->options, as_study_choice(study), name ? name : "New model",
                                        as_cli_share(cli), show_progress, NULL, out, &error);
    as_progress_end();
    return status == ASSAY_OK ? AS_EXIT_FINE : as_cli_error(cli, &error);
}

/* point: of --at, or NULL. */
static as_exit model(as_cli *cli, const struct request *r, as_study *study, const double *point) {
    as_fit result = {0};
    as_exit status = fit(cli, study, &result);
    if (status == AS_EXIT_FINE && as_cli_is_first(cli)) {
        as_model_view view = {.study = study, .fit = &result, .at = point};
        bool is_asked = r->answer == AS_PRINTED || cli->style.mode != AS_PRINT_TEXT;
        as_model_remarks(cli, &view);
        if (point) as_describe_point(study->ds, point, view.at_label, sizeof view.at_label);
        if (point) note_extrapolation(cli, study->ds, &view);
        if (r->to_target) status = write_target(cli, r, study);
        if (status == AS_EXIT_FINE && (!r->to_target || is_asked)) status = print_to(cli, r, study, &view);
    }
    as_fit_free(&result);
    return status;
}

/* A plot needs one model. */
static as_exit choose_plotted(as_cli *cli, as_study *study, const char *callpath) {
    as_exit status = as_study_find(cli, study, callpath, study->series);
    if (status == AS_EXIT_FINE) study->n_series = 1;
    return status;
}

static as_exit run(as_cli *cli) {
    struct request r;
    as_study study = {0};
    as_vec point;
    as_vec_init(&point, sizeof(double), NULL);
    as_exit status = plan(cli, &r);
    if (status == AS_EXIT_FINE) status = as_study_open(cli, &study);
    if (status == AS_EXIT_FINE && r.answer == AS_PLOT) status = choose_plotted(cli, &study, r.what);
    if (status == AS_EXIT_FINE) status = choose_point(cli, &r, study.ds, &point);
    if (status == AS_EXIT_FINE && r.answer != AS_WHY)
        status = model(cli, &r, &study, point.data);
    else if (status == AS_EXIT_FINE && as_cli_is_first(cli))
        status = print_to(cli, &r, &study, NULL);
    as_vec_free(&point);
    as_study_close(&study);
    return status;
}

static const as_cli_option options[] = {
    AS_METHOD_OPTIONS,
    AS_CHOICE_OPTIONS,
    AS_GROUP_OPTION,
    {.name = "sort",
     .argument = "KEY",
     .choices = "growth|value|error|name|file",
     .help = "Sort by growth (worst first), value at a point (--at), error (SMAPE), name, or as in the file; by "
             "default by growth, in JSON and CSV as in the file"},
    {.name = "at", .argument = "POINT", .help = "Show the models' values at this point, such as p=4096 or p=64,n=100"},
    {.name = "limit",
     .letter = 'n',
     .argument = "ROWS",
     .help = "Show at most so many models, 0: all; by default, on a terminal, what fits"},
    {.name = "print",
     .argument = "WHAT",
     .help = "Print what Extra-P prints: all, all-python, all-latex, callpaths, metrics, parameters, functions, "
             "functions-python, functions-latex, or a format such as '{callpath}: {model}'"},
    {.name = "why",
     .argument = "CALLPATH",
     .help = "Show the functions that were tried for this call path, the chosen one first"},
    {.name = "plot",
     .argument = "CALLPATH",
     .help = "Draw the model of this call path with its measurements: a curve with a 95 % band, or with two parameters "
             "a heat map"},
    {.name = "over",
     .argument = "NAME",
     .help = "Draw over this parameter, or over two (p,n); by default over the first, or over both of two"},
    {.name = "fix",
     .argument = "COORDS",
     .help = "Draw with other parameters held at these values, such as n=100; by default at their largest"},
    {.name = "log",
     .argument = "AXES",
     .choices = "x|y|xy|none",
     .help = "Make these axes of the plot logarithmic; by default those whose values span decades"},
    AS_ASCII_OPTION,
    {.name = "height", .argument = "ROWS", .help = "Draw in about so many rows; by default what fits the terminal"},
    {.name = "name", .argument = "NAME", .help = "Call the set of models so in the file written; by default New model"},
    AS_THREADS_OPTION,
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .completes = AS_COMPLETES_FILES,
     .help = "Write measurements and models to this file (.extra-p, .sqlite), the plot (.svg), or the answer (.json, "
             ".csv, .md, .txt)"},
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay model kernels.txt", "How every call path grows, worst first."},
    {"assay model kernels.txt --sort value --at p=4096 -n 10", "The ten that cost most with 4096 processes."},
    {"assay model kernels.txt --measure median -O allow_log_terms=no --json", "Medians, without logarithms, as JSON."},
    {"assay model kernels.txt -o kernels.extra-p", "Measurements and models in a file that Extra-P opens."},
    {"assay model kernels.txt --why 'main->solve'", "All functions that were tried for a call path."},
    {"assay model kernels.txt --print '{callpath}: {model}'", "The same text as from Extra-P."},
    {"assay model kernels.txt --plot 'main->solve'", "Points, curve and 95 % band on the terminal."},
    {"assay model kernels.txt --plot 'main->solve' --at p=4096 -o solve.svg", "The same until 4096 for a paper."},
    {NULL, NULL},
};

const as_verb as_verb_model = {
    .name = "model",
    .summary = "How each call path grows with the parameters",
    .usage = "[options] PATH…",
    .description =
        "Finds for each call path and metric the function of the parameters that explains its measurements: a constant "
        "and terms c * p^(i) * log2(p)^(j), chosen by their error on points left out, as Extra-P does. Several files "
        "with the same parameters are one experiment, and so are points of one directory (DIR/app.p*). Models that a "
        "file holds already are in the table model of assay sql; this verb always makes new ones.\n\n"
        "The table shows the function, how it grows for large values, the adjusted R2, the error (SMAPE, in percent: "
        "with one parameter of points left out, with several of the fit) and flags that say why to doubt a model. "
        "Coefficients are rounded; --json, --csv and --md have all digits and more columns.\n\n"
        "A model needs at least 5 points along each parameter. Call paths that lack some points are modelled from "
        "those they have.\n\n"
        "Options of -O that the method knows go to it, all others to the reader.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT,
    .options = options,
    .method = as_fit_option_table,
    .operands = AS_COMPLETES_FILES,
    .joins_files_from = 2,
    .examples = examples,
    .is_shared = true,
    .run = run,
};
