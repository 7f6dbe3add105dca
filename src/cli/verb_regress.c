/* Regression analysis: the complexity of each function, and Perun's other postprocessors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compatible.h"
#include "cli/progress.h"
#include "cli/regress_view.h"
#include "core/words.h"
#include "dataset/records.h"

/* Of the command line, for all files. */
static as_regress_request request;

/* ---- finding ----------------------------------------------------------------------------------------------------- */

static assay_status find_curves(as_regress_answer *answer, assay_error *error) {
    const as_regress_request *r = answer->request;
    as_curves *curves = &answer->curves;
    switch (r->analysis) {
    case AS_ANALYSIS_STORED: return as_stored_curves(answer->ds, curves, error);
    case AS_ANALYSIS_REGRESSOGRAM: return as_regressogram(&answer->points, &r->regressogram, curves, error);
    case AS_ANALYSIS_MOVING: return as_moving_average(&answer->points, &r->moving, curves, error);
    case AS_ANALYSIS_KERNEL: return as_kernel_regression(&answer->points, &r->kernel, curves, error);
    case AS_ANALYSIS_FIT: return as_regress(&answer->points, &r->fit, curves, error);
    default: return ASSAY_OK;
    }
}

/* What programs get: all. People get the best of each uid, unless they ask for more. */
static bool choose_shown(as_cli *cli, as_regress_answer *answer) {
    const as_regress_request *r = answer->request;
    if (r->has_strategy) return as_strategy_pick(&answer->curves, r->strategy, &answer->shown);
    for (size_t i = 0; i < answer->curves.curves.count; i++) {
        if (!as_vec_append(&answer->shown, &i, 1)) return false;
    }
    bool is_for_people = cli->style.mode == AS_PRINT_TEXT && !r->to_profile;
    bool chose_models = r->plot && r->fit.models;
    if (is_for_people && !r->all && !chose_models && r->analysis != AS_ANALYSIS_STORED) as_regress_keep_best(answer);
    return true;
}

/* ---- why there are no points ------------------------------------------------------------------------------------- */

/* --of or --per names what no measurement has. */
static as_exit fail_name(as_cli *cli, const char *option, const char *what, const char *given, const char *nearest) {
    return as_cli_fail(cli, AS_EXIT_USAGE,
                       nearest ? "--%s: there is no %s '%s'; did you mean '%s'?" : "--%s: there is no %s '%s'", option,
                       what, given, nearest);
}

static as_exit check_names(as_cli *cli, const as_dataset *ds, const as_points_request *asked) {
    as_nearest metric = as_nearest_start(asked->of ? asked->of : "", asked->of ? strlen(asked->of) : 0);
    as_nearest parameter = as_nearest_start(asked->per ? asked->per : "", asked->per ? strlen(asked->per) : 0);
    bool has_metric = !asked->of, has_parameter = !asked->per;
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        const char *name = as_ds_text(ds, as_ds_metric(ds, id)->name);
        if (!name || !asked->of) continue;
        as_nearest_offer(&metric, name);
        has_metric |= strcmp(name, asked->of) == 0;
    }
    for (size_t i = 0; asked->per && i < as_ds_parameters(ds); i++) {
        as_nearest_offer(&parameter, as_ds_parameter(ds, i));
        has_parameter |= strcmp(as_ds_parameter(ds, i), asked->per) == 0;
    }
    if (!has_metric) return fail_name(cli, "of", "metric", asked->of, metric.word);
    return has_parameter ? AS_EXIT_FINE : fail_name(cli, "per", "parameter", asked->per, parameter.word);
}

/* No record has both keys: says which have numbers in the first one. */
static void note_keys(as_cli *cli, const as_regress_answer *answer) {
    const as_records *records = as_ds_shared_records(answer->ds, "record");
    char keys[200] = "";
    size_t used = 0;
    for (uint32_t i = 0; records && as_records_rows(records) && i < as_records_columns(records) && used < sizeof keys;
         i++) {
        bool is_number = false;
        as_records_number(records, 0, i, &is_number);
        if (!is_number) continue;
        const char *name = as_ds_text(answer->ds, as_records_column_name(records, i));
        used += (size_t)snprintf(keys + used, sizeof keys - used, "%s%s", used ? ", " : "", name);
    }
    as_cli_note(cli, "%s: no record has numbers for both '%s' and '%s'; --of and --per name others%s%s",
                as_ds_text(answer->ds, answer->ds->path), answer->points.of, answer->points.per, *keys ? ": " : "",
                keys);
}

static as_exit explain_nothing(as_cli *cli, const as_regress_answer *answer) {
    const as_dataset *ds = answer->ds;
    const as_table *records = as_ds_records(ds, "record");
    for (size_t i = 0; i < answer->points.n; i++) {
        if (answer->points.points[i].n) return AS_EXIT_FINE;
    }
    if (records && as_table_rows(records) && answer->points.of && !answer->points.is_measured)
        note_keys(cli, answer);
    else if (as_ds_parameters(ds) && AS_COUNT(ds, series))
        return check_names(cli, ds, &answer->request->points);
    else if (!records)
        as_cli_note(cli, "%s: has neither records with a uid nor measurements by a parameter: there is nothing to fit",
                    as_ds_text(ds, ds->path));
    return AS_EXIT_FINE;
}

static as_exit find(as_cli *cli, as_regress_answer *answer) {
    assay_error error;
    bool needs_points = answer->request->analysis != AS_ANALYSIS_STORED || answer->request->plot;
    if (!cli->quiet) as_progress_begin("fitting", as_ds_text(answer->ds, answer->ds->path));
    assay_status status =
        needs_points ? as_points_find(answer->ds, &answer->request->points, &answer->points, &error) : ASSAY_OK;
    if (status == ASSAY_OK) status = find_curves(answer, &error);
    as_progress_end();
    if (status != ASSAY_OK) return as_cli_error(cli, &error);
    as_exit explained =
        needs_points && answer->request->analysis != AS_ANALYSIS_STORED ? explain_nothing(cli, answer) : AS_EXIT_FINE;
    if (explained != AS_EXIT_FINE) return explained;
    return choose_shown(cli, answer) ? AS_EXIT_FINE : as_cli_memory(cli);
}

/* ---- what changes records ---------------------------------------------------------------------------------------- */

static void set_clusters(const uint64_t *clusters, size_t n, as_cell *cells) {
    for (size_t i = 0; i < n; i++) cells[i] = clusters[i] ? as_cell_uint(clusters[i]) : as_cell_null();
}

static void set_amounts(const double *amounts, size_t n, as_cell *cells) {
    for (size_t i = 0; i < n; i++) cells[i] = isnan(amounts[i]) ? as_cell_null() : as_cell_real(amounts[i]);
}

static as_exit change_records(as_cli *cli, as_regress_answer *answer) {
    const as_records *records = as_ds_shared_records(answer->ds, "record");
    size_t n = records ? as_records_rows(records) : 0;
    union {
        uint64_t cluster;
        double amount;
    } *results = calloc(n + 1, sizeof *results);
    as_cell *cells = calloc(n + 1, sizeof *cells);
    assay_error error;
    as_exit status = results && cells ? AS_EXIT_FINE : as_cli_memory(cli);
    if (status == AS_EXIT_FINE) {
        bool is_cluster = answer->request->analysis == AS_ANALYSIS_CLUSTERIZE;
        assay_status found = is_cluster
                                 ? as_clusterize(answer->ds, &answer->request->cluster, &results->cluster, &error)
                                 : as_normalize(answer->ds, &results->amount, &error);
        if (found == ASSAY_OK && is_cluster) set_clusters(&results->cluster, n, cells);
        if (found == ASSAY_OK && !is_cluster) set_amounts(&results->amount, n, cells);
        answer->n_records = n;
        for (size_t i = 0; i < n; i++) answer->n_changed += cells[i].type != AS_CELL_NULL;
        status = found == ASSAY_OK ? as_regress_save(cli, answer, cells) : as_cli_error(cli, &error);
    }
    free(results);
    free(cells);
    return status;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static as_exit print_answer(as_cli *cli, as_answers *answers, const as_regress_answer *answer, const char *path) {
    bool fine;
    if (cli->style.mode == AS_PRINT_JSON) {
        fine = as_regress_json(&answers->builder, answer);
    } else if (cli->style.mode == AS_PRINT_TEXT) {
        if (answers->shown) as_output_char(cli->out, '\n');
        fine = as_regress_text(cli, answer, path);
    } else {
        fine = as_regress_flat(answers->printer, answers->batch, answer, path);
    }
    answers->shown++;
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

static as_exit answer_opened(as_cli *cli, as_answers *answers, as_regress_answer *answer, const char *path) {
    const as_regress_request *r = answer->request;
    bool is_asked = cli->style.mode != AS_PRINT_TEXT;
    if (r->analysis == AS_ANALYSIS_CLUSTERIZE || r->analysis == AS_ANALYSIS_NORMALIZE) {
        as_exit changed = change_records(cli, answer);
        return changed == AS_EXIT_FINE && is_asked ? print_answer(cli, answers, answer, path) : changed;
    }
    as_exit status = find(cli, answer);
    if (status == AS_EXIT_FINE && r->plot) return as_regress_plot(cli, answer);
    if (status == AS_EXIT_FINE && r->to_profile) {
        status = as_regress_save(cli, answer, NULL);
        size_t n = answer->curves.skipped.count;
        if (n && !is_asked) as_cli_note(cli, "%zu model%s could not be fitted; --json tells why", n, n == 1 ? "" : "s");
    }
    if (status == AS_EXIT_FINE && (!r->to_profile || is_asked)) status = print_answer(cli, answers, answer, path);
    return status;
}

static as_exit answer_file(as_cli *cli, as_answers *answers, const char *path) {
    as_dataset *ds = NULL;
    assay_error error;
    if (!cli->quiet) as_progress_begin("reading", path);
    assay_status read = as_cli_read(cli, path, false, request.read_options, &ds, &error);
    as_progress_end();
    if (read != ASSAY_OK) return as_cli_error(cli, &error);
    as_regress_answer answer = {.request = &request, .ds = ds};
    as_curves_init(&answer.curves, as_ds_budget(ds));
    as_vec_init(&answer.shown, sizeof(size_t), NULL);
    as_exit status = answer_opened(cli, answers, &answer, path);
    as_vec_free(&answer.shown);
    as_curves_free(&answer.curves);
    as_points_free(&answer.points);
    as_dataset_free(ds);
    return status;
}

static as_exit answer_all(as_cli *cli) {
    bool is_table = cli->style.mode != AS_PRINT_TEXT && cli->style.mode != AS_PRINT_JSON;
    return as_answer_files(cli, is_table, is_table ? as_regress_flat_table() : NULL, answer_file);
}

/* To the file of -o, or to standard output. */
static as_exit answer_to(as_cli *cli) {
    const char *colour = as_cli_value(cli, "color");
    as_output *terminal = cli->out, *file;
    assay_error error;
    if (!request.output || request.to_profile) return answer_all(cli);
    if (as_output_open(request.output, &file, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    cli->out = file;
    cli->is_terminal = false;
    cli->style.width = 0;
    cli->style.colour = colour && strcmp(colour, "always") == 0;
    as_exit status = answer_all(cli);
    cli->out = terminal;
    if (status == AS_EXIT_FINE) return as_cli_commit(cli, file, status);
    as_output_discard(file);
    return status;
}

static as_exit run(as_cli *cli) {
    as_exit status = as_regress_request_read(cli, &request);
    if (status == AS_EXIT_FINE) status = answer_to(cli);
    as_regress_request_free(&request);
    return status;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static const as_cli_option options[] = {
    {.name = "of",
     .argument = "KEY",
     .help = "Explain this key of the records; by default amount. Of measurements: this metric"},
    {.name = "per",
     .argument = "KEY",
     .help = "By this key; by default structure-unit-size. Of measurements: by this parameter"},
    {.name = "method",
     .argument = "NAME",
     .choices = "full|interval|bisection|iterative|initial_guess",
     .help = "Fit all points (full, the default), the parts of --steps, halves until their models agree (bisection), "
             "or follow the best of random beginnings"},
    {.name = "models",
     .argument = "NAMES",
     .help = "Fit only these of constant, linear, logarithmic, quadratic, power, exponential; by default all"},
    {.name = "steps",
     .argument = "N",
     .help = "Divide the points into so many parts (interval, iterative, initial_guess); by default 3"},
    {.name = "seed",
     .argument = "N",
     .help = "Shuffle the points of iterative and initial_guess by this number; by default 0"},
    {.name = "regressogram", .help = "Give the mean or median of equally wide buckets instead of models"},
    {.name = "bucket-method",
     .argument = "NAME",
     .choices = "auto|doane|fd|rice|scott|sqrt|sturges",
     .help = "Choose the buckets of --regressogram by this rule; by default doane"},
    {.name = "buckets", .argument = "N", .help = "Take so many buckets"},
    {.name = "statistic",
     .argument = "NAME",
     .choices = "mean|median",
     .help = "Give this of each bucket; by default the mean"},
    {.name = "moving-average",
     .argument = "METHOD",
     .choices = "sma|smm|ema",
     .help = "Give moving means (sma), medians (smm) or exponentially weighted means (ema) instead of models"},
    {.name = "window", .argument = "N", .help = "Average so many points; by default a width is searched for"},
    {.name = "no-center", .help = "Let the window end at its point instead of lying around it"},
    {.name = "min-periods",
     .argument = "N",
     .help = "Give a value where there are at least so many points; by default the width"},
    {.name = "window-type",
     .argument = "NAME",
     .help = "Weigh the points of sma by this window of SciPy, such as hann or triang"},
    {.name = "decay", .argument = "KEY=V", .help = "The decay of ema: com=V, span=V, halflife=V or alpha=V"},
    {.name = "kernel",
     .argument = "MODE",
     .choices = "smoothing|ridge|user|method|estimator",
     .help = "Give a kernel regression instead of models; the mode says where its bandwidth comes from"},
    {.name = "regression",
     .argument = "TYPE",
     .choices = "ll|lc",
     .help = "Local linear (ll, the default) or local constant (lc) estimates"},
    {.name = "bandwidth",
     .argument = "VALUE",
     .help = "A number, scott, silverman, cv_ls or aic, as the mode of --kernel has it"},
    {.name = "kernel-type",
     .argument = "NAME",
     .choices = "epanechnikov|tricube|normal|epanechnikov4|normal4",
     .help = "The kernel of --kernel smoothing; by default epanechnikov"},
    {.name = "smoothing",
     .argument = "NAME",
     .choices = "spatial-average|local-linear|local-polynomial",
     .help = "What --kernel smoothing computes; by default spatial-average"},
    {.name = "order", .argument = "N", .help = "The order of local-polynomial; by default 3"},
    {.name = "gamma",
     .argument = "LO,HI,STEP",
     .help = "The coefficients that --kernel ridge tries; by default 1e-5,1e-4,1e-5"},
    {.name = "clusterize",
     .argument = "STRATEGY",
     .choices = "sort_order|sliding_window",
     .help = "Give each record a cluster and write the profile (-o)"},
    {.name = "width", .argument = "V", .help = "How wide a cluster of sliding_window is; by default 0.01"},
    {.name = "width-measure",
     .argument = "HOW",
     .choices = "absolute|relative",
     .help = "In records, or relative to their number (the default)"},
    {.name = "height-measure",
     .argument = "HOW",
     .choices = "absolute|relative",
     .help = "In amounts, or relative to the first one (the default)"},
    {.name = "normalize", .help = "Divide each amount by the maximum of its type and write the profile (-o)"},
    {.name = "stored", .help = "Fit nothing: show the models that the file holds"},
    {.name = "strategy",
     .argument = "NAME",
     .choices = "best-model|best-param|best-nonparam|all-param|all-nonparam|all-models|best-both",
     .help = "Pick models as Perun's all_filtered_models does"},
    {.name = "plot-points", .argument = "N", .help = "Add so many points of each curve to --json"},
    {.name = "all", .letter = 'a', .help = "Show all models of each uid, not only the best"},
    {.name = "limit",
     .letter = 'n',
     .argument = "ROWS",
     .help = "Show at most so many rows, 0: all; by default, on a terminal, 20"},
    {.name = "plot",
     .argument = "UID",
     .help = "Draw the points of this uid with its best curve; with --models or --all with all of these"},
    {.name = "log",
     .argument = "AXES",
     .choices = "x|y|xy|none",
     .help = "Make these axes of the plot logarithmic; by default those whose values span decades"},
    AS_ASCII_OPTION,
    {.name = "height",
     .argument = "N",
     .help = "Draw in about so many rows. With --clusterize: how high a cluster of sliding_window is; by default 0.01"},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .completes = AS_COMPLETES_FILES,
     .help = "Write a profile with the models added (.perf), the plot (.svg), or the answer (.json, .csv, .md, .txt)"},
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay regress sort-1.perf", "The complexity of every function."},
    {"assay regress sort-1.perf --models linear,quadratic --json", "Two models of each, with all digits."},
    {"assay regress sort-1.perf --method bisection", "Where a function changes from one complexity to another."},
    {"assay regress sort-1.perf --plot quick_sort --models linear,quadratic", "Points and two curves on the terminal."},
    {"assay regress sort-1.perf --regressogram --plot quick_sort -o quick_sort.svg", "Buckets, for a paper."},
    {"assay regress sort-1.perf -o fitted.perf", "A profile with the models, as Perun writes it."},
    {"assay regress fitted.perf --stored --strategy best-param", "The best of the models that a file holds."},
    {NULL, NULL},
};

const as_verb as_verb_regress = {
    .name = "regress",
    .summary = "How the amounts of each function grow with their size",
    .usage = "[options] PATH…",
    .description =
        "Perun's regression analysis with right numbers: for each uid of a profile the models y = b0 + b1 x (linear), "
        "b0 + b1 ln x (logarithmic), b0 x^b1 (power), b0 b1^x (exponential), b0 + b1 x + b2 x^2 (quadratic) and a "
        "constant, fitted by least squares, with R2. The amounts of records are explained by their "
        "structure-unit-size; of experiments of other formats the means of a metric by a parameter, for each call "
        "path.\n\n"
        "The table shows the best model of each uid; --all, --json and --csv have all of them. What cannot be fitted "
        "is named with its reason and stops nothing else.\n\n"
        "Regressogram, moving average, kernel regression, clusterizer and normalizer are Perun's other "
        "postprocessors, one at a time. docs/regress.md tells what they compute and where Perun's own numbers (-O "
        "perun_compatible=yes) are others.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT,
    .options = options,
    .method = as_compatible_option_table,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
