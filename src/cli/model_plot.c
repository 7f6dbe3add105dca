#include "cli/model_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/scaling/coordinates.h"
#include "analysis/scaling/evaluate.h"
#include "analysis/scaling/interval.h"
#include "cli/model_function.h"
#include "core/words.h"
#include "render/plot.h"

enum { CURVE_SAMPLES = 240, GRID_X = 97, GRID_Y = 73 };

#define PROBABILITY 0.95

/* A point of the series. */
struct measured {
    const double *at; /* its coordinates */
    double value, low, high;
};

struct job {
    as_cli *cli;
    const as_dataset *ds;
    const as_fit *fit;
    const as_model *model;
    const as_series *series;
    as_plot *plot;
    size_t n_parameters;
    size_t over[2], n_over; /* the parameters along the axes */
    double *point;          /* what the parameters are held at; over[] change while drawing */
    bool *is_fixed;         /* by --fix */
    as_vec measured;        /* struct measured */
    int64_t repetitions;    /* of each point; -1: not the same everywhere, or unknown */
};

static const char *parameter_name(const struct job *job, size_t i) { return as_ds_parameter(job->ds, i); }

/* ---- what is held, what varies ----------------------------------------------------------------------------------- */

/* The parameter of this name, or an error that names the nearest. */
static as_exit find_parameter(const struct job *job, const char *option, const char *name, size_t size, size_t *out) {
    as_nearest nearest = as_nearest_start(name, size);
    for (size_t i = 0; i < job->n_parameters; i++) {
        const char *known = parameter_name(job, i);
        as_nearest_offer(&nearest, known);
        if (strlen(known) != size || memcmp(known, name, size) != 0) continue;
        *out = i;
        return AS_EXIT_FINE;
    }
    const char *suggestion = nearest.word ? nearest.word : parameter_name(job, 0);
    return as_cli_fail(job->cli, AS_EXIT_USAGE, "--%s: there is no parameter '%.*s'; %s '%s'?", option, (int)size, name,
                       nearest.word ? "did you mean" : "how about", suggestion);
}

/* "n=100,m=5". */
static as_exit read_fix(struct job *job) {
    const char *text = as_cli_value(job->cli, "fix");
    for (const char *end; text && *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, ",");
        const char *equals = memchr(text, '=', (size_t)(end - text));
        size_t parameter = 0;
        double value;
        if (!equals || !as_real_parse(equals + 1, (size_t)(end - equals - 1), &value) || !isfinite(value))
            return as_cli_fail(job->cli, AS_EXIT_USAGE, "--fix cannot be '%s'; give values such as n=100,m=5",
                               as_cli_value(job->cli, "fix"));
        as_exit status = find_parameter(job, "fix", text, (size_t)(equals - text), &parameter);
        if (status != AS_EXIT_FINE) return status;
        job->point[parameter] = value;
        job->is_fixed[parameter] = true;
    }
    return AS_EXIT_FINE;
}

/* "p" or "p,n". */
static as_exit read_over(struct job *job) {
    const char *text = as_cli_value(job->cli, "over");
    for (const char *end; text && *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, ",");
        if (job->n_over == 2) return as_cli_fail(job->cli, AS_EXIT_USAGE, "--over takes one parameter, or two");
        size_t *parameter = &job->over[job->n_over];
        as_exit status = find_parameter(job, "over", text, (size_t)(end - text), parameter);
        if (status != AS_EXIT_FINE) return status;
        if (job->is_fixed[*parameter] || (job->n_over && *parameter == job->over[0]))
            return as_cli_fail(job->cli, AS_EXIT_USAGE, "%s cannot vary: it is named twice in --over and --fix",
                               parameter_name(job, *parameter));
        job->n_over++;
    }
    return AS_EXIT_FINE;
}

static as_exit choose_axes(struct job *job) {
    as_exit status = read_fix(job);
    if (status == AS_EXIT_FINE) status = read_over(job);
    if (status != AS_EXIT_FINE || job->n_over) return status;
    size_t n_free = 0;
    for (size_t i = 0; i < job->n_parameters; i++) {
        if (job->is_fixed[i]) continue;
        if (n_free < 2) job->over[n_free] = i;
        n_free++;
    }
    if (n_free == 0)
        return as_cli_fail(job->cli, AS_EXIT_USAGE, "--fix holds all parameters; leave one to draw the model over it");
    job->n_over = n_free == 2 ? 2 : 1;
    return AS_EXIT_FINE;
}

/* ---- measurements ------------------------------------------------------------------------------------------------ */

static bool add_measured(void *user, const as_measurement *m) {
    struct job *job = user;
    bool is_first = job->measured.count == 0;
    job->repetitions = is_first || m->repetitions == job->repetitions ? m->repetitions : -1;
    return as_vec_append(&job->measured,
                         &(struct measured){.at = as_ds_point(job->ds, m->point),
                                            .value = as_statistic_of(job->fit->options.measure, m),
                                            .low = m->minimum,
                                            .high = m->maximum},
                         1);
}

/* Parameters that neither vary nor are fixed are held at their largest value. */
static void hold_others(struct job *job) {
    for (size_t i = 0; i < job->n_parameters; i++) {
        if (job->is_fixed[i]) continue;
        double largest = -INFINITY;
        for (size_t k = 0; k < job->measured.count; k++)
            largest = fmax(largest, AS_AT(struct measured, &job->measured, k).at[i]);
        job->point[i] = largest;
    }
}

static bool is_shown(const struct job *job, const struct measured *m) {
    for (size_t i = 0; i < job->n_parameters; i++) {
        bool varies = i == job->over[0] || (job->n_over == 2 && i == job->over[1]);
        if (!varies && m->at[i] != job->point[i]) return false;
    }
    return true;
}

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The values of a parameter in the measurements, ascending without repeats, into values. */
static bool collect_values(const struct job *job, size_t parameter, as_vec *values) {
    values->count = 0;
    for (size_t i = 0; i < job->measured.count; i++) {
        if (!as_vec_append(values, &AS_AT(struct measured, &job->measured, i).at[parameter], 1)) return false;
    }
    double *v = values->data;
    size_t n = 0;
    if (values->count) qsort(v, values->count, sizeof *v, compare_numbers);
    for (size_t i = 0; i < values->count; i++) {
        if (n == 0 || v[i] != v[n - 1]) v[n++] = v[i];
    }
    values->count = n;
    return true;
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

/* The part of a parameter that is drawn. */
struct extent {
    double first, measured, last;
};

/* Makes room for the points of --at. */
static as_exit add_at(const struct job *job, size_t parameter, struct extent *extent) {
    const char *text = as_cli_value(job->cli, "at");
    if (!text) return AS_EXIT_FINE;
    as_vec points;
    as_vec_init(&points, sizeof(double), NULL);
    assay_error error;
    as_exit status = AS_EXIT_FINE;
    if (as_points_parse(job->ds, text, &points, &error) != ASSAY_OK) status = as_cli_error(job->cli, &error);
    for (size_t i = parameter; status == AS_EXIT_FINE && i < points.count; i += job->n_parameters) {
        double value = AS_AT(double, &points, i);
        extent->first = fmin(extent->first, value);
        extent->last = fmax(extent->last, value);
    }
    as_vec_free(&points);
    return status;
}

static as_scale asked_scale(const struct job *job, char axis) {
    const char *log = as_cli_value(job->cli, "log");
    if (!log) return AS_SCALE_AUTO;
    return strchr(log, axis) ? AS_SCALE_LOG : AS_SCALE_LINEAR;
}

/* Fits the axis to a parameter. As far as measured, or to --at; a curve goes on to twice the largest value. */
static as_exit fit_axis(const struct job *job, size_t parameter, char letter, as_axis *axis, struct extent *extent) {
    as_vec values;
    as_vec_init(&values, sizeof(double), NULL);
    as_exit status = collect_values(job, parameter, &values) ? AS_EXIT_FINE : as_cli_memory(job->cli);
    if (status == AS_EXIT_FINE) {
        const double *v = values.data;
        double first = v[0], largest = v[values.count - 1];
        bool goes_on = job->n_over == 1 && !as_cli_has(job->cli, "at") && largest > 0;
        *extent = (struct extent){first, largest, goes_on ? 2 * largest : largest};
        status = add_at(job, parameter, extent);
        if (extent->first < first && as_vec_append(&values, &extent->first, 1))
            qsort(values.data, values.count, sizeof(double), compare_numbers);
    }
    if (status == AS_EXIT_FINE) {
        axis->scale = asked_scale(job, letter);
        axis->tight = job->n_over == 2;
        bool wants_log = axis->scale == AS_SCALE_LOG;
        as_axis_fit_parameter(axis, values.data, values.count, extent->last);
        if (wants_log && axis->scale != AS_SCALE_LOG)
            as_cli_note(job->cli, "%s has values that are not positive: its axis stays linear",
                        parameter_name(job, parameter));
        char name[256];
        snprintf(name, sizeof name, "/{%s}", parameter_name(job, parameter));
        if (!as_plot_text(job->plot, &axis->label, name)) status = as_cli_memory(job->cli);
    }
    as_vec_free(&values);
    return status;
}

/* "time [s]" */
static bool label_metric(const struct job *job, const char **label) {
    const as_metric *metric = as_ds_metric(job->ds, job->series->metric);
    const char *name = as_ds_text(job->ds, metric->name), *unit = as_ds_text(job->ds, metric->unit);
    char text[512];
    if (!name || !*name) name = "value";
    snprintf(text, sizeof text, unit && *unit ? "%s [%s]" : "%s", name, unit);
    return as_plot_text(job->plot, label, text);
}

/* ---- the curve --------------------------------------------------------------------------------------------------- */

/* Where the pieces of a model meet along the drawn parameter: those places and their neighbours. */
static bool add_bounds(const struct job *job, uint32_t first, uint32_t n, const struct extent *extent, as_vec *xs) {
    for (uint32_t i = first; n > 1 && i < first + n; i++) {
        const as_segment *segment = as_ds_segment(job->ds, job->model->first_segment + i);
        double bounds[] = {segment->from, nextafter(segment->from, -INFINITY), segment->to,
                           nextafter(segment->to, INFINITY)};
        for (size_t k = 0; k < 4; k++) {
            if (bounds[k] > extent->first && bounds[k] < extent->last && !as_vec_append(xs, &bounds[k], 1))
                return false;
        }
    }
    return true;
}

/* Where the curve is computed, ascending. */
static bool sample_places(const struct job *job, const struct extent *extent, as_vec *xs) {
    const as_axis *axis = &job->plot->x;
    double from = as_axis_position(axis, extent->first), to = as_axis_position(axis, extent->last);
    double ends[] = {extent->first, extent->last, extent->measured};
    if (!as_vec_append(xs, ends, 3)) return false;
    for (int i = 1; i < CURVE_SAMPLES; i++) {
        double x = as_axis_value(axis, from + (to - from) * i / CURVE_SAMPLES);
        if (x > extent->first && x < extent->last && !as_vec_append(xs, &x, 1)) return false;
    }
    if (job->over[0] == 0 && !add_bounds(job, 0, job->model->n_segments, extent, xs)) return false;
    for (uint32_t i = 0; i < job->model->n_terms; i++) {
        const as_term *term = as_ds_term(job->ds, job->model->first_term + i);
        if (term->parameter == job->over[0] && !add_bounds(job, term->first_piece, term->n_pieces, extent, xs))
            return false;
    }
    qsort(xs->data, xs->count, sizeof(double), compare_numbers);
    return true;
}

/* Appends the model's value and its interval at each place; *has_band: whether any is known. */
static bool compute_curve(struct job *job, const as_forecast *forecast, const as_vec *xs, as_plot_series *curve,
                          bool *has_band) {
    *has_band = false;
    for (size_t i = 0; i < xs->count; i++) {
        double x = AS_AT(double, xs, i), before = i ? AS_AT(double, xs, i - 1) : NAN;
        if (x == before) continue;
        job->point[job->over[0]] = x;
        double y = as_model_at(job->ds, job->model, job->point);
        as_interval band = as_forecast_at(forecast, job->point, PROBABILITY);
        /* Neighbours lie on both sides of a place where the model changes: they are not joined */
        if (x == nextafter(before, INFINITY) && !as_plot_add_point(curve, (as_plot_point){x, NAN, NAN, NAN, NAN}))
            return false;
        if (isnan(y)) band = (as_interval){NAN, NAN};
        if (!as_plot_add_point(curve, (as_plot_point){x, y, NAN, band.low, band.high})) return false;
        *has_band |= !isnan(band.low) && !isnan(band.high);
    }
    return true;
}

static bool add_curve(struct job *job, const struct extent *extent) {
    as_plot_series *curve = as_plot_add(job->plot, AS_PLOT_CURVE, "model", "95 % prediction interval");
    as_forecast *forecast = as_forecast_new(job->ds, &job->fit->options, job->fit->notes[0].series, job->model);
    as_vec xs;
    as_vec_init(&xs, sizeof(double), NULL);
    bool has_band, fine = curve && forecast && sample_places(job, extent, &xs) &&
                          compute_curve(job, forecast, &xs, curve, &has_band);
    if (fine && !has_band) curve->around = NULL;
    as_vec_free(&xs);
    as_forecast_free(forecast);
    return fine;
}

static bool add_points(const struct job *job) {
    bool has_bars = false;
    as_plot_series *points = as_plot_add(job->plot, AS_PLOT_POINTS, "measured", "min–max");
    if (!points) return false;
    for (size_t i = 0; i < job->measured.count; i++) {
        const struct measured *m = &AS_AT(struct measured, &job->measured, i);
        if (!is_shown(job, m)) continue;
        double x = m->at[job->over[0]];
        as_plot_point point = {x, m->value, NAN, m->low, m->high};
        if (job->n_over == 2) point = (as_plot_point){x, m->at[job->over[1]], m->value, NAN, NAN};
        has_bars |= point.low < point.high;
        if (!as_plot_add_point(points, point)) return false;
    }
    if (!has_bars) points->around = NULL;
    return true;
}

static as_exit describe_lines(struct job *job) {
    struct extent extent;
    as_exit status = fit_axis(job, job->over[0], 'x', &job->plot->x, &extent);
    if (status != AS_EXIT_FINE) return status;
    job->plot->y.scale = asked_scale(job, 'y');
    if (extent.last > extent.measured) job->plot->measured_x = extent.measured;
    if (!label_metric(job, &job->plot->y.label) || !add_curve(job, &extent)) return as_cli_memory(job->cli);
    return add_points(job) ? AS_EXIT_FINE : as_cli_memory(job->cli);
}

/* ---- the heat map ------------------------------------------------------------------------------------------------ */

static void compute_grid(struct job *job, const struct extent *x, const struct extent *y) {
    as_plot_grid *grid = &job->plot->grid;
    for (size_t j = 0; j < grid->ny; j++) {
        for (size_t i = 0; i < grid->nx; i++) {
            /* Rounding may lead beyond the border, where a logarithm may not exist */
            job->point[job->over[0]] = fmin(fmax(grid->x[i], x->first), x->last);
            job->point[job->over[1]] = fmin(fmax(grid->y[j], y->first), y->last);
            grid->z[j * grid->nx + i] = as_model_at(job->ds, job->model, job->point);
        }
    }
}

static as_exit describe_heat(struct job *job) {
    as_plot *plot = job->plot;
    struct extent x, y;
    as_exit status = fit_axis(job, job->over[0], 'x', &plot->x, &x);
    if (status == AS_EXIT_FINE) status = fit_axis(job, job->over[1], 'y', &plot->y, &y);
    if (status != AS_EXIT_FINE) return status;
    if (x.last > x.measured) plot->measured_x = x.measured;
    if (y.last > y.measured) plot->measured_y = y.measured;
    const char *log = as_cli_value(job->cli, "log");
    plot->z.scale = log && strcmp(log, "none") == 0 ? AS_SCALE_LINEAR : AS_SCALE_AUTO;
    if (!label_metric(job, &plot->z.label) || !as_plot_add_grid(plot, GRID_X, GRID_Y)) return as_cli_memory(job->cli);
    compute_grid(job, &x, &y);
    return add_points(job) ? AS_EXIT_FINE : as_cli_memory(job->cli);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* "mean of 5 repetitions, n = 100" */
static bool describe_data(struct job *job) {
    char text[1024];
    const char *statistic = as_statistic_name(job->fit->options.measure);
    size_t used = (size_t)(job->repetitions > 1 ? snprintf(text, sizeof text, "%s of %lld repetitions", statistic,
                                                           (long long)job->repetitions)
                                                : snprintf(text, sizeof text, "%s", statistic));
    for (size_t i = 0; i < job->n_parameters && used < sizeof text; i++) {
        if (i == job->over[0] || (job->n_over == 2 && i == job->over[1])) continue;
        char number[AS_NUMBER_SIZE];
        as_real_format(job->point[i], number);
        used += (size_t)snprintf(text + used, sizeof text - used, ", %s = %s", parameter_name(job, i), number);
    }
    return as_plot_text(job->plot, &job->plot->subtitle, text);
}

/* Appends "SMAPE 1.25 %, ", where the model has it. */
static void add_cost(char *text, size_t room, const char *name, double value, const char *unit) {
    char number[AS_TICK_LABEL];
    size_t used = strlen(text);
    if (!isfinite(value)) return;
    as_rich_number(fabs(value) < 1e6 ? round(value * 1e4) / 1e4 : value, 4, number); /* what is left of 0 is 0 */
    snprintf(text + used, room - used, "%s %s%s, ", name, number, unit);
}

static bool describe_quality(struct job *job, as_vec *text) {
    char quality[1024] = "";
    add_cost(quality, sizeof quality, "adjusted R^{2}", job->model->AR2, "");
    add_cost(quality, sizeof quality, "SMAPE", job->model->SMAPE, " %");
    if (!as_growth_text(job->ds, job->model, text) || !as_function_rich(job->ds, text)) return false;
    bool is_constant = strcmp(text->data, "1") == 0;
    size_t used = strlen(quality);
    snprintf(quality + used, sizeof quality - used, is_constant ? "constant" : "grows as %s", (const char *)text->data);
    return as_plot_text(job->plot, &job->plot->quality, quality);
}

/* "f(p, n) = 12 + 3 · p" */
static bool describe_function(struct job *job, as_vec *text) {
    as_vec all;
    as_vec_init(&all, 1, NULL);
    bool fine = as_vec_append(&all, "/{f}(", 5);
    for (size_t i = 0; fine && i < job->n_parameters; i++) {
        const char *name = parameter_name(job, i);
        fine = as_vec_append(&all, i ? ", /{" : "/{", i ? 4 : 2) && as_vec_append(&all, name, strlen(name)) &&
               as_vec_append(&all, "}", 1);
    }
    fine = fine && as_vec_append(&all, ") = ", 4) && as_model_function_rounded(job->ds, job->model, 4, text) &&
           as_function_rich(job->ds, text) && as_vec_append(&all, text->data, text->count) &&
           as_plot_text(job->plot, &job->plot->function, all.data);
    as_vec_free(&all);
    return fine;
}

static bool describe(struct job *job) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    bool fine = as_context_path(job->ds, job->model->context, &text) &&
                as_plot_text(job->plot, &job->plot->title, text.data) && describe_data(job) &&
                describe_function(job, &text) && describe_quality(job, &text);
    as_vec_free(&text);
    return fine;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

unsigned as_plot_height(const as_cli *cli) {
    enum { USUAL = 24, LEAST = 16, MOST = 32 };
    struct winsize size;
    if (!cli->is_terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return USUAL;
    return size.ws_row <= LEAST ? LEAST : size.ws_row > MOST ? MOST : size.ws_row - 1u;
}

static as_exit draw(const struct job *job) {
    as_cli *cli = job->cli;
    enum { USUAL_WIDTH = 80, MOST_WIDTH = 120 };
    const char *output = as_cli_value(cli, "output");
    size_t height = as_plot_height(cli);
    if (!as_cli_count(cli, "height", &height)) return AS_EXIT_USAGE;
    unsigned width = cli->style.width ? cli->style.width : USUAL_WIDTH;
    bool ascii = as_cli_is_ascii(cli);
    bool fine = output && as_has_ending(output, ".svg")
                    ? as_plot_svg(cli->out, job->plot)
                    : as_plot_terminal(cli->out, job->plot, width > MOST_WIDTH ? MOST_WIDTH : width,
                                       height > 1000 ? 1000 : (unsigned)height, cli->style.colour, ascii);
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

static as_exit plot(struct job *job) {
    as_cli *cli = job->cli;
    as_exit status = choose_axes(job);
    if (status != AS_EXIT_FINE) return status;
    if (!as_measure(job->ds, job->series, add_measured, job)) return as_cli_memory(cli);
    if (job->measured.count == 0) return as_cli_fail(cli, AS_EXIT_INPUT, "this call path has no measurements");
    hold_others(job);
    if (!describe(job)) return as_cli_memory(cli);
    status = job->n_over == 2 ? describe_heat(job) : describe_lines(job);
    if (status != AS_EXIT_FINE) return status;
    const as_vec *series = &job->plot->series;
    if (AS_AT(as_plot_series, series, series->count - 1).points.count == 0)
        as_cli_note(cli, "nothing was measured where the other parameters have these values; --fix names others");
    return draw(job);
}

as_exit as_model_plot(as_cli *cli, const as_study *study, const as_fit *fit) {
    const as_dataset *ds = study->ds;
    struct job job = {.cli = cli,
                      .ds = ds,
                      .fit = fit,
                      .model = as_ds_model(ds, fit->first_model),
                      .series = as_ds_series(ds, fit->notes[0].series),
                      .n_parameters = as_ds_parameters(ds)};
    as_vec_init(&job.measured, sizeof(struct measured), NULL);
    job.plot = as_plot_new();
    job.point = calloc(job.n_parameters + 1, sizeof *job.point);
    job.is_fixed = calloc(job.n_parameters + 1, sizeof *job.is_fixed);
    as_exit status = job.plot && job.point && job.is_fixed ? plot(&job) : as_cli_memory(cli);
    free(job.point);
    free(job.is_fixed);
    as_vec_free(&job.measured);
    as_plot_free(job.plot);
    return status;
}
