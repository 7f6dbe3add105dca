/* What every call path will cost at new points, and how sure that is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/scaling/coordinates.h"
#include "analysis/scaling/strong.h"
#include "cli/model_view.h"
#include "cli/predict.h"
#include "cli/progress.h"
#include "render/display.h"
#include "render/json_builder.h"

enum { DIGITS = 4, ROWS_ON_TERMINAL = 20, WORDS_SIZE = 240 };

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

static as_exit read_confidence(as_cli *cli, double *out) {
    const char *text = as_cli_value(cli, "confidence");
    size_t size = text ? strlen(text) : 0;
    *out = 0.95;
    if (!text) return AS_EXIT_FINE;
    bool is_percent = size && text[size - 1] == '%';
    bool is_number = as_real_parse(text, size - is_percent, out);
    if (is_percent) *out /= 100;
    if (is_number && *out > 0 && *out < 1) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_USAGE, "--confidence cannot be '%s'; it takes a part such as 0.95, or 95%%", text);
}

/* All points of all --at. */
static as_exit read_points(as_cli *cli, const as_dataset *ds, as_vec *points) {
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        assay_error error;
        if (strcmp(given->option->name, "at") != 0) continue;
        if (as_points_parse(ds, given->value, points, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    }
    return AS_EXIT_FINE;
}

static as_exit read_base(as_cli *cli, const as_dataset *ds, as_vec *base) {
    const char *text = as_cli_value(cli, "base");
    assay_error error;
    if (!text) return AS_EXIT_FINE;
    if (as_points_parse(ds, text, base, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    if (base->count == as_ds_parameters(ds)) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_USAGE, "--base takes one point, not the range '%s'", text);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* "p=64, n=100". */
static void label_point(const as_dataset *ds, const double *point, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < as_ds_parameters(ds) && used < size; i++) {
        char number[AS_NUMBER_SIZE];
        as_real_format(point[i], number);
        used += (size_t)snprintf(out + used, size - used, "%s%.100s=%s", i ? ", " : "", as_ds_parameter(ds, i), number);
    }
}

/* {"p":64,"n":100} */
static char *point_json(const as_dataset *ds, const double *point) {
    as_output *out = as_output_to_memory();
    if (!out) return NULL;
    as_builder builder = as_builder_of(out);
    builder.compact = true;
    as_build_object(&builder, NULL, false);
    for (size_t i = 0; i < as_ds_parameters(ds); i++) as_build_real(&builder, as_ds_parameter(ds, i), point[i]);
    as_build_end(&builder);
    size_t size;
    const char *text = as_output_memory(out, &size);
    while (text && size && text[size - 1] == '\n') size--;
    char *copy = text ? strndup(text, size) : NULL;
    as_output_discard(out);
    return copy;
}

static as_cell rounded_cell(double value) {
    return isnan(value) ? as_cell_null() : as_cell_real(as_real_round(value, DIGITS));
}
static as_cell known_cell(double value) { return isnan(value) ? as_cell_null() : as_cell_real(value); }

/* How far a point lies outside, and what that means; once for all points. */
static void note_extrapolation(as_cli *cli, const as_dataset *ds, const as_predict_request *r) {
    double farthest = 1;
    size_t n_parameters = as_ds_parameters(ds), which = 0;
    assay_id parameter = 0;
    for (size_t i = 0; i < r->n_points; i++) {
        assay_id here;
        double times = as_extrapolation(ds, r->points + i * n_parameters, &here);
        if (!(times > farthest)) continue;
        farthest = times;
        parameter = here;
        which = i;
    }
    if (farthest <= 1) return;
    double value = r->points[which * n_parameters + parameter], smallest, largest;
    as_parameter_extent(ds, parameter, &smallest, &largest);
    char at[AS_NUMBER_SIZE], end[AS_NUMBER_SIZE], times[AS_NUMBER_SIZE];
    as_real_format(value, at);
    as_real_format(value > largest ? largest : smallest, end);
    as_real_format(as_real_round(farthest, DIGITS), times);
    const char *advice = farthest <= 4    ? "treat it as an estimate"
                         : farthest <= 16 ? "treat it as a rough estimate"
                                          : "treat it as an order of magnitude";
    const char *name = as_ds_parameter(ds, parameter);
    if (value > largest && isfinite(farthest))
        as_cli_note(cli, "%s=%s is %s times the largest measured value, %s: %s", name, at, times, end, advice);
    else if (isfinite(farthest))
        as_cli_note(cli, "%s=%s is %s times below the smallest measured value, %s: %s", name, at, times, end, advice);
    else
        as_cli_note(cli, "%s=%s is %s measured value, %s: %s", name, at,
                    value > largest ? "above the largest" : "below the smallest", end, advice);
}

static void note_inclusive(as_cli *cli, const as_predictor *p) {
    if (p->guessed == ASSAY_NONE) return;
    const as_dataset *ds = p->study->ds;
    as_cli_note(
        cli,
        "values of %s look inclusive (none is smaller than the sum of those below it): the total is that of the roots",
        as_ds_text(ds, as_ds_metric(ds, p->guessed)->name));
}

static void note_unknown(as_cli *cli, const as_predictor *p) {
    if (p->n_unknown == 1) as_cli_note(cli, "1 call path has no finite value and is no part of the total");
    if (p->n_unknown > 1)
        as_cli_note(cli, "%zu call paths have no finite value and are no part of the total", p->n_unknown);
}

/* Rounded it is 100 %. */
#define LARGEST_SHARE 1.005

/* Models of call paths and of the total are made apart. One path, the first of those that have most. */
static bool note_disagreement(as_cli *cli, const as_predictor *p, const double *point, const as_vec *rows) {
    const as_prediction *most = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const as_prediction *row = &AS_AT(as_prediction, rows, i);
        if (row->model != AS_TOTAL && row->share > LARGEST_SHARE && (!most || row->share > most->share)) most = row;
    }
    if (!most) return true;
    const as_dataset *ds = p->study->ds;
    char label[500], share[AS_NUMBER_SIZE];
    as_vec path;
    as_vec_init(&path, 1, NULL);
    bool fine = as_context_path(ds, as_predicted_model(p, most->model)->context, &path);
    label_point(ds, point, label, sizeof label);
    as_real_format(as_real_round(100 * most->share, DIGITS), share);
    as_progress_end();
    if (fine)
        as_cli_note(cli, "%s alone has %s %% of the total at %s: each has a model of its own, and they disagree there",
                    (const char *)path.data, share, label);
    as_vec_free(&path);
    return fine;
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

/* Which columns there are, and their heads. */
struct columns {
    bool compares, flags; /* compares: speed-up and efficiency */
    char value[160], from[60];
};

/* rows: those of one metric. */
static struct columns choose_columns(const as_predictor *p, const as_prediction *rows, size_t n) {
    struct columns c = {.value = "value", .compares = !p->request->is_guessed};
    const as_dataset *ds = p->study->ds;
    for (size_t i = 0; i < n; i++) c.flags |= rows[i].model != AS_TOTAL && p->fit.notes[rows[i].model].flags;
    const as_metric *metric = as_ds_metric(ds, rows[0].metric);
    const char *name = as_ds_text(ds, metric->name), *unit = as_ds_text(ds, metric->unit);
    bool has_unit = unit && *unit;
    if (name && *name)
        snprintf(c.value, sizeof c.value, "%.100s%s%.40s%s", name, has_unit ? " [" : "", has_unit ? unit : "",
                 has_unit ? "]" : "");
    char percent[AS_NUMBER_SIZE];
    as_real_format(as_real_round(100 * p->request->confidence, DIGITS), percent);
    snprintf(c.from, sizeof c.from, "%s %% from", percent);
    return c;
}

static as_table *new_text_table(const struct columns *c) {
    as_column names[10];
    size_t n = 0;
    names[n++].name = "call path";
    names[n++].name = c->value;
    names[n++].name = c->from;
    names[n++].name = "to";
    names[n++].name = "share %";
    if (c->compares) {
        names[n++].name = "speed-up";
        names[n++].name = "strong %";
        names[n++].name = "weak %";
    }
    if (c->flags) names[n++].name = "flags";
    return as_table_new(names, n, NULL);
}

/* Percentages, to hundredths. */
static as_cell percent_cell(double part) {
    return isnan(part) ? as_cell_null() : as_cell_real(as_real_round(round(part * 10000) / 100, DIGITS));
}

static void put_marks(uint32_t flags, char out[16]) {
    size_t n = 0;
    for (const as_flag_words *row = as_fit_flag_words; row->word; row++) {
        if (flags & (uint32_t)row->flag) out[n++] = row->mark;
    }
    out[n] = '\0';
}

static bool add_text_row(as_table *table, const as_predictor *p, const as_prediction *row, const struct columns *c,
                         as_vec *path) {
    bool is_total = row->model == AS_TOTAL;
    as_cell cells[10];
    char marks[16];
    size_t n = 0;
    if (!is_total && !as_context_path(p->study->ds, as_predicted_model(p, row->model)->context, path)) return false;
    put_marks(is_total ? 0 : p->fit.notes[row->model].flags, marks);
    cells[n++] = as_cell_text(is_total ? "(total)" : path->data);
    cells[n++] = rounded_cell(row->value);
    cells[n++] = rounded_cell(row->interval.low);
    cells[n++] = rounded_cell(row->interval.high);
    cells[n++] = percent_cell(row->share);
    if (c->compares) {
        cells[n++] = rounded_cell(row->speedup);
        cells[n++] = percent_cell(row->efficiency_strong);
        cells[n++] = percent_cell(row->efficiency_weak);
    }
    if (c->flags) cells[n++] = as_cell_text(marks);
    return as_table_append(table, cells);
}

static void write_shown(as_cli *cli, const char *text) { as_display_write(cli->out, text, strlen(text), 0); }

/* "p=64: speed-up and efficiency against p=4, p counting the processes". */
static bool print_heading(as_cli *cli, const as_predictor *p, const double *point) {
    const as_dataset *ds = p->study->ds;
    const char *processes = as_ds_parameter(ds, p->request->processes);
    char label[500], base_label[500];
    double *base = malloc(as_ds_parameters(ds) * sizeof *base);
    if (!base) return false;
    as_predict_base(p, point, base);
    label_point(ds, point, label, sizeof label);
    label_point(ds, base, base_label, sizeof base_label);
    free(base);
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_BOLD));
    write_shown(cli, label);
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_PLAIN));
    if (p->request->is_guessed) {
        as_output_text(cli->out, " (--processes ");
        write_shown(cli, processes);
        as_output_text(cli->out, " adds speed-up and efficiency)");
    } else {
        as_output_text(cli->out, ": speed-up and efficiency against ");
        write_shown(cli, base_label);
        as_output_text(cli->out, ", ");
        write_shown(cli, processes);
        as_output_text(cli->out, " counting the processes");
    }
    as_output_text(cli->out, p->is_work ? "; values are totals over all of them\n" : "\n");
    return true;
}

static void print_legend(as_cli *cli, const as_predictor *p, const as_vec *rows) {
    uint32_t flags = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const as_prediction *row = &AS_AT(as_prediction, rows, i);
        if (row->model != AS_TOTAL) flags |= p->fit.notes[row->model].flags;
    }
    const char *before = as_sgr(cli->style.colour, AS_DIM);
    for (const as_flag_words *row = as_fit_flag_words; flags && row->word; row++) {
        if (!(flags & (uint32_t)row->flag)) continue;
        as_output_printf(cli->out, "%s%c: %s", before, row->mark, row->meaning);
        before = "; ";
    }
    if (flags) as_output_printf(cli->out, "%s\n", as_sgr(cli->style.colour, AS_PLAIN));
}

/* The table of one metric. */
static bool print_metric(as_cli *cli, const as_predictor *p, const as_prediction *rows, size_t n) {
    as_vec path;
    as_vec_init(&path, 1, NULL);
    struct columns c = choose_columns(p, rows, n);
    as_table *table = new_text_table(&c);
    bool fine = table != NULL;
    for (size_t i = 0; i < n && fine; i++) fine = add_text_row(table, p, &rows[i], &c, &path);
    as_print_style style = cli->style;
    style.keep_end = true;
    fine = fine && as_print_table(cli->out, table, style);
    as_table_free(table);
    as_vec_free(&path);
    return fine;
}

static bool print_text(as_cli *cli, as_predictor *p, const double *point, bool is_first) {
    as_vec rows;
    size_t hidden, n;
    as_vec_init(&rows, sizeof(as_prediction), NULL);
    bool fine = as_predict_at(p, point, &rows, &hidden);
    as_progress_end();
    if (!is_first) as_output_char(cli->out, '\n');
    fine = fine && print_heading(cli, p, point);
    for (size_t i = 0; i < rows.count && fine; i += n) {
        const as_prediction *first = &AS_AT(as_prediction, &rows, i);
        for (n = 1; i + n < rows.count && first[n].metric == first->metric; n++) {
        }
        fine = print_metric(cli, p, first, n);
    }
    if (hidden) as_output_printf(cli->out, "%s %zu more; -n 0 shows all\n", as_display_ellipsis(cli->out), hidden);
    if (fine) print_legend(cli, p, &rows);
    fine = fine && note_disagreement(cli, p, point, &rows);
    as_vec_free(&rows);
    return fine;
}

/* ---- for programs ------------------------------------------------------------------------------------------------ */

static const as_column flat_columns[] = {
    {"point"}, {"metric"}, {"unit"},    {"callpath"},          {"value"},           {"low"},
    {"high"},  {"share"},  {"speedup"}, {"efficiency_strong"}, {"efficiency_weak"}, {"extrapolation"},
    {"order"}, {"flags"}};
enum { FLAT_COLUMNS = sizeof flat_columns / sizeof *flat_columns };

/* ["noisy","tie"], or "noisy tie" */
static void put_words(uint32_t flags, bool is_json, char out[WORDS_SIZE]) {
    size_t used = 0;
    const char *quote = is_json ? "\"" : "", *between = is_json ? "," : " ";
    out[0] = '\0';
    if (is_json) used += (size_t)snprintf(out, WORDS_SIZE, "[");
    bool is_first = true;
    for (const as_flag_words *row = as_fit_flag_words; row->word; row++) {
        if (!(flags & (uint32_t)row->flag) || used >= WORDS_SIZE) continue;
        used += (size_t)snprintf(out + used, WORDS_SIZE - used, "%s%s%s%s", is_first ? "" : between, quote, row->word,
                                 quote);
        is_first = false;
    }
    if (is_json && used < WORDS_SIZE) snprintf(out + used, WORDS_SIZE - used, "]");
}

static bool add_flat_row(as_table *table, const as_predictor *p, const as_prediction *row, as_cell point, double times,
                         bool is_json, as_vec *path) {
    const as_dataset *ds = p->study->ds;
    const as_metric *metric = as_ds_metric(ds, row->metric);
    bool is_total = row->model == AS_TOTAL;
    const as_model *model = is_total ? NULL : as_predicted_model(p, row->model);
    char words[WORDS_SIZE];
    uint32_t flags = is_total ? 0 : p->fit.notes[row->model].flags;
    put_words(times > 1 ? flags | AS_FIT_EXTRAPOLATED : flags, is_json, words);
    if (!is_total && !as_context_path(ds, model->context, path)) return false;
    as_cell cells[FLAT_COLUMNS] = {
        point,
        as_cell_text(as_ds_text(ds, metric->name)),
        as_cell_text(as_ds_text(ds, metric->unit)),
        is_total ? as_cell_null() : as_cell_text(path->data),
        as_cell_real(row->value),
        known_cell(row->interval.low),
        known_cell(row->interval.high),
        known_cell(row->share),
        known_cell(row->speedup),
        known_cell(row->efficiency_strong),
        known_cell(row->efficiency_weak),
        as_cell_real(times),
        is_total ? as_cell_null() : as_cell_text(as_order_name(as_model_growth(ds, model).order)),
        is_json ? as_cell_json_n(words, strlen(words)) : as_cell_text(words),
    };
    return as_table_append(table, cells);
}

/* Prints the rows of one point. */
static bool print_flat(as_cli *cli, as_predictor *p, const double *point, as_printer *printer, as_table *batch) {
    const as_dataset *ds = p->study->ds;
    bool is_json = cli->style.mode == AS_PRINT_JSON || cli->style.mode == AS_PRINT_JSONL;
    char label[500];
    char *json = is_json ? point_json(ds, point) : NULL;
    label_point(ds, point, label, sizeof label);
    as_cell cell = json ? as_cell_json_n(json, strlen(json)) : as_cell_text(label);
    as_vec rows, path;
    size_t hidden;
    as_vec_init(&rows, sizeof(as_prediction), NULL);
    as_vec_init(&path, 1, NULL);
    double times = as_extrapolation(ds, point, NULL);
    bool fine = (json || !is_json) && as_predict_at(p, point, &rows, &hidden);
    for (size_t i = 0; i < rows.count && fine; i++)
        fine = add_flat_row(batch, p, &AS_AT(as_prediction, &rows, i), cell, times, is_json, &path);
    fine = fine && as_printer_rows(printer, batch) && note_disagreement(cli, p, point, &rows);
    as_table_clear(batch);
    as_vec_free(&rows);
    as_vec_free(&path);
    free(json);
    return fine;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static as_exit print_points(as_cli *cli, as_predictor *p) {
    const as_predict_request *r = p->request;
    size_t n = as_ds_parameters(p->study->ds);
    bool is_text = cli->style.mode == AS_PRINT_TEXT, fine = true;
    as_table *batch = as_table_new(flat_columns, FLAT_COLUMNS, NULL);
    as_printer *printer = is_text || !batch ? NULL : as_printer_new(cli->out, cli->style);
    fine = batch && (is_text || printer);
    if (!cli->quiet) as_progress_begin("predicting", as_cli_operand(cli, 0));
    for (size_t i = 0; i < r->n_points && fine; i++) {
        const double *point = r->points + i * n;
        fine = is_text ? print_text(cli, p, point, i == 0) : print_flat(cli, p, point, printer, batch);
        if (!is_text && !cli->quiet) as_progress_step(NULL, NULL, (double)(i + 1) / (double)r->n_points);
    }
    as_progress_end();
    if (printer) fine = as_printer_end(printer, batch) && fine;
    as_table_free(batch);
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

static as_exit predict(as_cli *cli, as_study *study, const as_predict_request *request) {
    as_predictor predictor;
    as_exit status = as_predictor_open(cli, study, request, &predictor);
    if (status == AS_EXIT_FINE) status = print_points(cli, &predictor);
    if (status == AS_EXIT_FINE) note_inclusive(cli, &predictor);
    if (status == AS_EXIT_FINE) note_unknown(cli, &predictor);
    if (status == AS_EXIT_FINE) note_extrapolation(cli, study->ds, request);
    as_predictor_close(&predictor);
    return status;
}

static as_exit run(as_cli *cli) {
    if (as_cli_operands(cli) && !as_cli_has(cli, "at"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "predict needs a point, such as --at p=4096");
    as_predict_request request = {.limit = cli->is_terminal && cli->style.mode == AS_PRINT_TEXT ? ROWS_ON_TERMINAL : 0};
    as_study study = {0};
    as_vec points, base;
    as_vec_init(&points, sizeof(double), NULL);
    as_vec_init(&base, sizeof(double), NULL);
    as_exit status = read_confidence(cli, &request.confidence);
    if (status == AS_EXIT_FINE && !as_cli_count(cli, "limit", &request.limit)) status = AS_EXIT_USAGE;
    if (status == AS_EXIT_FINE) status = as_study_open(cli, &study);
    if (status == AS_EXIT_FINE) status = read_points(cli, study.ds, &points);
    if (status == AS_EXIT_FINE) status = read_base(cli, study.ds, &base);
    if (status == AS_EXIT_FINE) {
        request.points = points.data;
        request.n_points = points.count / as_ds_parameters(study.ds);
        request.base = base.count ? base.data : NULL;
        as_predict_processes(cli, study.ds, &request);
        status = predict(cli, &study, &request);
    }
    as_vec_free(&points);
    as_vec_free(&base);
    as_study_close(&study);
    return status;
}

static const as_cli_option options[] = {
    {.name = "at",
     .argument = "POINT",
     .help = "Predict at this point, such as p=4096 or p=64,n=100; a range p=64..4096:x2 (or :+64) gives several; may "
             "be given several times"},
    {.name = "base",
     .argument = "POINT",
     .help = "Compare with this point; by default with the same one at the smallest measured number of processes"},
    {.name = "confidence",
     .argument = "PART",
     .help = "How likely the interval holds a new measurement; by default 0.95"},
    {.name = "limit",
     .letter = 'n',
     .argument = "ROWS",
     .help = "Show at most so many call paths of each metric and point, 0: all; by default 20 on a terminal"},
    AS_CHOICE_OPTIONS,
    AS_METHOD_OPTIONS,
    AS_THREADS_OPTION,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay predict kernels.txt --at p=4096", "What costs most with 4096 processes."},
    {"assay predict kernels.txt --at p=64..65536:x4 -n 5 --base p=64", "The five dearest, again and again fourfold."},
    {"assay predict kernels.txt --at p=512,n=100 --processes p --json", "Two parameters; p counts the processes."},
    {"assay predict kernels.txt --at p=4096 --match solve --confidence 0.8", "Some call paths, narrower intervals."},
    {NULL, NULL},
};

const as_verb as_verb_predict = {
    .name = "predict",
    .summary = "What each call path will cost at new points",
    .usage = "[options] PATH… --at POINT…",
    .description =
        "Finds a model for each call path, as assay model does, and shows its value at the points asked for, the "
        "dearest call path first, with the interval that holds a new measurement there with a probability of 95 %. "
        "The interval averages over all functions that explain the measurements, not only the chosen one: it is wide "
        "where they disagree.\n\n"
        "The share is the part of the metric's total at that point, which is the sum over all call paths (of an "
        "inclusive metric: over the roots). The speed-up is T(base) / T(point); its strong-scaling efficiency is "
        "speed-up / (processes / processes of the base), for work that stays the same; the weak-scaling efficiency is "
        "T(base) / T(point), for work that grows with the processes. Which parameter counts the processes is said "
        "above each table (one called p, procs, ranks, nodes, cores, threads or the like, else the first); "
        "--processes names another. With --scaling strong, values are totals over all processes, and T is value / "
        "processes.\n\n"
        "Call path null (in the table: total) is the total of a metric; its interval is that of the sum of the "
        "measurements. Intervals are unknown with fewer than 3 points and between the segments of a model.\n\n"
        "Options of -O that the method knows go to it, all others to the reader.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT | AS_TAKES_OUTPUT,
    .options = options,
    .method = as_fit_option_table,
    .operands = AS_COMPLETES_FILES,
    .joins_files_from = 2,
    .examples = examples,
    .run = run,
};
