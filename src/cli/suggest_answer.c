/* The answer of the verb suggest: a table with what leads to it and what it comes to, or JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/suggest.h"
#include "render/json_builder.h"

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Four digits are enough to read; whole numbers of some size stay as they are. */
static double rounded(double value) {
    return trunc(value) == value && fabs(value) < 1e6 ? value : as_real_round(value, 4);
}

static const char *show(double value, char text[AS_NUMBER_SIZE]) {
    as_real_format(rounded(value), text);
    return text;
}

static const double *point_at(const as_suggest *s, size_t row) {
    return &AS_AT(double, &s->advice.points, row * s->advice.n_parameters);
}

/* "p=8,n=100" */
static void write_point(const as_suggest *s, size_t row, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < s->advice.n_parameters && used < size; i++) {
        char number[AS_NUMBER_SIZE];
        as_real_format(point_at(s, row)[i], number);
        int n = snprintf(text + used, size - used, "%s%s=%s", i ? "," : "", as_suggest_parameter(s, i), number);
        used += n > 0 ? (size_t)n : 0;
    }
}

static void write_reason(const as_suggest *s, char *text, size_t size) {
    const as_advice *advice = &s->advice;
    if (advice->is_forced) {
        snprintf(text, size, "as asked for, though the points call for another mode");
    } else if (advice->mode == AS_ADVICE_BASE) {
        snprintf(text, size, "a model needs %d points along each parameter, and %s has %zu", AS_LINE_POINTS,
                 as_suggest_parameter(s, advice->parameter), advice->lines[advice->parameter].length);
    } else if (advice->n_parameters == 1) {
        snprintf(text, size, "%s has %zu points, enough for a model", as_suggest_parameter(s, 0), s->campaign.n);
    } else {
        snprintf(text, size, "each parameter has a line of %d points, %s", AS_LINE_POINTS,
                 advice->mode == AS_ADVICE_ADD ? "but no point outside them tells how they act together"
                                               : "and there are points outside them");
    }
}

static void write_gain(const as_suggest *s, const as_suggestion *suggestion, char *text, size_t size) {
    const char *name = as_suggest_parameter(s, suggestion->parameter);
    switch (suggestion->gain) {
    case AS_GAIN_LINE:
        if (suggestion->count < AS_LINE_POINTS)
            snprintf(text, size, "point %zu of %d on the line of %s", suggestion->count, AS_LINE_POINTS, name);
        else
            snprintf(text, size, "%s the line of %s to %zu points",
                     suggestion->count == AS_LINE_POINTS ? "completes" : "extends", name, suggestion->count);
        break;
    case AS_GAIN_COMBINATION:
        if (s->advice.n_parameters == 2)
            snprintf(text, size, "a new combination of %s and %s", as_suggest_parameter(s, 0),
                     as_suggest_parameter(s, 1));
        else
            snprintf(text, size, "a new combination of the parameters");
        break;
    case AS_GAIN_REPETITION: snprintf(text, size, "repeats a measured point: %zu in all", suggestion->count); break;
    }
}

/* Why there is nothing to suggest. */
static void write_nothing(const as_suggest *s, char *text, size_t size) {
    const as_advice *advice = &s->advice;
    char point[400], cost[AS_NUMBER_SIZE], left[AS_NUMBER_SIZE];
    double rest = s->options.budget - advice->used;
    if (advice->cheapest != SIZE_MAX) {
        write_point(s, advice->cheapest, point, sizeof point);
        show(advice->cheapest_cost * (advice->mode == AS_ADVICE_ADD ? advice->repetitions : 1), cost);
        if (rest <= 0)
            snprintf(text, size,
                     "the budget is used up by what is measured; the cheapest new point, %s, costs %s core hours",
                     point, cost);
        else
            snprintf(text, size, "nothing fits: the cheapest new point, %s, costs %s core hours, and %s are left",
                     point, cost, show(rest, left));
    } else if (advice->mode == AS_ADVICE_BASE) {
        bool complete = true;
        for (size_t i = 0; i < advice->n_parameters; i++) complete &= advice->lines[i].length >= AS_LINE_POINTS;
        snprintf(text, size, "%s",
                 complete ? "each parameter has its line already"
                          : "there are no further values to measure; give some with --values");
    } else if (advice->n_unpredicted) {
        snprintf(text, size, "the models predict no positive runtime at any of %zu new points", advice->n_unpredicted);
    } else {
        snprintf(text, size, "all combinations of the values are measured; give further ones with --values");
    }
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Columns behind those of the parameters. */
static const char *const MACHINE_COLUMNS[] = {"repetitions", "runtime", "low",  "high",
                                              "cost",        "total",   "fits", "brings"};
static const char *const TEXT_COLUMNS[] = {"times", "seconds", "95 % interval", "core hours", "total", "brings"};
enum { INTERVAL = 2 }; /* of TEXT_COLUMNS */
enum {
    N_MACHINE = sizeof MACHINE_COLUMNS / sizeof *MACHINE_COLUMNS,
    N_TEXT = sizeof TEXT_COLUMNS / sizeof *TEXT_COLUMNS
};

static as_cell known(double value) { return isnan(value) ? as_cell_null() : as_cell_real(value); }

static void machine_cells(const as_suggest *s, size_t i, double total, const char *gain, as_cell *cells) {
    const as_suggestion *suggestion = &AS_AT(as_suggestion, &s->advice.suggestions, i);
    const as_cell all[N_MACHINE] = {as_cell_int(suggestion->repetitions),
                                    known(suggestion->runtime),
                                    known(s->low[i]),
                                    known(s->high[i]),
                                    known(suggestion->cost),
                                    known(total),
                                    as_cell_int(suggestion->fits),
                                    as_cell_text(gain)};
    memcpy(cells, all, sizeof all);
}

static bool has_intervals(const as_suggest *s) {
    for (size_t i = 0; i < s->advice.suggestions.count; i++) {
        if (!isnan(s->low[i])) return true;
    }
    return false;
}

/* Text has no column of intervals where there are none. */
static as_table *new_table(const as_suggest *s, bool is_text) {
    size_t n = s->advice.n_parameters, n_more = is_text ? N_TEXT : N_MACHINE;
    as_column *columns = calloc(n + n_more, sizeof *columns);
    if (!columns) return NULL;
    for (size_t i = 0; i < n; i++) columns[i].name = as_suggest_parameter(s, i);
    for (size_t i = 0; i < n_more; i++) {
        if (is_text && i == INTERVAL && !has_intervals(s)) continue;
        columns[n++].name = is_text ? TEXT_COLUMNS[i] : MACHINE_COLUMNS[i];
    }
    as_table *table = as_table_new(columns, n, NULL);
    free(columns);
    return table;
}

/* dots: between the ends of an interval. */
static void text_cells(const as_suggest *s, size_t i, double total, const char *dots, char *gain, size_t gain_size,
                       char interval[3 * AS_NUMBER_SIZE], as_cell *cells) {
    const as_suggestion *suggestion = &AS_AT(as_suggestion, &s->advice.suggestions, i);
    char low[AS_NUMBER_SIZE], high[AS_NUMBER_SIZE];
    bool is_known = !isnan(s->low[i]) && !isnan(s->high[i]);
    if (is_known)
        snprintf(interval, 3 * AS_NUMBER_SIZE, "%s %s %s", show(s->low[i], low), dots, show(s->high[i], high));
    size_t used = strlen(gain);
    if (!suggestion->fits) snprintf(gain + used, gain_size - used, "; beyond the budget");
    *cells++ = as_cell_int(suggestion->repetitions);
    *cells++ = known(rounded(suggestion->runtime));
    if (has_intervals(s)) *cells++ = as_cell_text(is_known ? interval : NULL);
    *cells++ = known(rounded(suggestion->cost));
    *cells++ = known(rounded(total));
    *cells++ = as_cell_text(gain);
}

static bool fill_table(const as_cli *cli, const as_suggest *s, bool is_text, as_table *table) {
    const char *dots = as_output_is_ascii(cli->out) ? ".." : "…";
    size_t n = s->advice.n_parameters;
    as_cell *cells = calloc(n + N_MACHINE + N_TEXT, sizeof *cells);
    bool fine = cells != NULL;
    double total = 0;
    for (size_t i = 0; fine && i < s->advice.suggestions.count; i++) {
        const as_suggestion *suggestion = &AS_AT(as_suggestion, &s->advice.suggestions, i);
        for (size_t k = 0; k < n; k++) cells[k] = as_cell_real(point_at(s, suggestion->point)[k]);
        char gain[400], interval[3 * AS_NUMBER_SIZE];
        write_gain(s, suggestion, gain, sizeof gain);
        total += suggestion->cost;
        if (is_text)
            text_cells(s, i, total, dots, gain, sizeof gain, interval, cells + n);
        else
            machine_cells(s, i, total, gain, cells + n);
        fine = as_table_append(table, cells);
    }
    free(cells);
    return fine;
}

static as_exit print_table(as_cli *cli, const as_suggest *s, bool is_text) {
    as_table *table = new_table(s, is_text);
    as_exit status = table && fill_table(cli, s, is_text, table) ? as_cli_print(cli, table) : as_cli_memory(cli);
    as_table_free(table);
    return status;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void print_fact(as_cli *cli, const char *key, const char *value) {
    as_output_printf(cli->out, "%s%-10s%s %s\n", as_sgr(cli->style.colour, AS_DIM), key,
                     as_sgr(cli->style.colour, AS_PLAIN), value);
}

static void print_hours(as_cli *cli, const char *key, double hours, const char *more) {
    char number[AS_NUMBER_SIZE], text[200];
    snprintf(text, sizeof text, "%s core hours%s", show(hours, number), more);
    print_fact(cli, key, text);
}

static void print_head(as_cli *cli, const as_suggest *s) {
    const as_advice_options *options = &s->options;
    char reason[400], text[600], number[AS_NUMBER_SIZE];
    write_reason(s, reason, sizeof reason);
    snprintf(text, sizeof text, "%s: %s", as_advice_mode_name(s->advice.mode), reason);
    print_fact(cli, "mode", text);
    const char *processes = options->processes == SIZE_MAX ? show(options->n_processes, number)
                                                           : as_suggest_parameter(s, options->processes);
    snprintf(text, sizeof text, "%s of %zu call path%s; one run costs %s%s",
             as_ds_text(s->study.ds, as_ds_metric(s->study.ds, s->metric)->name), s->study.n_series,
             s->study.n_series == 1 ? "" : "s", options->is_strong ? "what it says (strong scaling)" : "that times ",
             options->is_strong ? "" : processes);
    print_fact(cli, "metric", text);
    as_output_char(cli->out, '\n');
}

static void print_sums(as_cli *cli, const as_suggest *s) {
    const as_advice *advice = &s->advice;
    double left = s->options.budget - advice->used - advice->suggested, beyond = 0;
    size_t n_beyond = 0;
    for (size_t i = 0; i < advice->suggestions.count; i++) {
        const as_suggestion *suggestion = &AS_AT(as_suggestion, &advice->suggestions, i);
        if (suggestion->fits) continue;
        beyond += suggestion->cost;
        n_beyond++;
    }
    char percent[AS_NUMBER_SIZE], more[100], number[AS_NUMBER_SIZE];
    as_real_format(as_real_round(100 * advice->used / s->options.budget, 3), percent);
    snprintf(more, sizeof more, " (%s %% of the budget)", percent);
    as_output_char(cli->out, '\n');
    print_hours(cli, "budget", s->options.budget, " in all");
    print_hours(cli, "used", advice->used, more);
    print_hours(cli, "suggested", advice->suggested, "");
    more[0] = '\0';
    if (n_beyond) {
        snprintf(more, sizeof more, "; %zu point%s beyond the budget take%s %s more", n_beyond,
                 n_beyond == 1 ? "" : "s", n_beyond == 1 ? "s" : "", show(beyond, number));
    }
    if (left >= 0) {
        print_hours(cli, "left", left, more);
    } else {
        char text[300], over[AS_NUMBER_SIZE];
        snprintf(text, sizeof text, "none, %s core hours over the budget%s", show(-left, over), more);
        print_fact(cli, "left", text);
    }
}

static as_exit print_text(as_cli *cli, const as_suggest *s) {
    print_head(cli, s);
    as_exit status = AS_EXIT_FINE;
    if (s->advice.suggestions.count) {
        status = print_table(cli, s, true);
    } else {
        char text[1000];
        write_nothing(s, text, sizeof text);
        as_output_printf(cli->out, "Nothing to suggest: %s.\n", text);
    }
    print_sums(cli, s);
    return status;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void build_known(as_builder *b, const char *key, double value) {
    if (isnan(value))
        as_build_text(b, key, NULL);
    else
        as_build_real(b, key, value);
}

static void build_point(as_builder *b, const as_suggest *s, size_t row) {
    as_build_object(b, "point", false);
    for (size_t i = 0; i < s->advice.n_parameters; i++)
        as_build_real(b, as_suggest_parameter(s, i), point_at(s, row)[i]);
    as_build_end(b);
}

static void build_suggestions(as_builder *b, const as_suggest *s) {
    double total = 0;
    as_build_array(b, "suggestions", true);
    for (size_t i = 0; i < s->advice.suggestions.count; i++) {
        const as_suggestion *suggestion = &AS_AT(as_suggestion, &s->advice.suggestions, i);
        char gain[400];
        write_gain(s, suggestion, gain, sizeof gain);
        total += suggestion->cost;
        as_build_object(b, NULL, false);
        build_point(b, s, suggestion->point);
        as_build_int(b, "repetitions", suggestion->repetitions);
        build_known(b, "runtime", suggestion->runtime);
        build_known(b, "low", s->low[i]);
        build_known(b, "high", s->high[i]);
        build_known(b, "cost", suggestion->cost);
        build_known(b, "total", total);
        as_build_bool(b, "fits", suggestion->fits);
        as_build_text(b, "brings", gain);
        as_build_end(b);
    }
    as_build_end(b);
}

static void build_processes(as_builder *b, const as_suggest *s) {
    if (s->options.processes != SIZE_MAX)
        as_build_text(b, "processes", as_suggest_parameter(s, s->options.processes));
    else
        as_build_real(b, "processes", s->options.n_processes);
}

static as_exit print_json(as_cli *cli, const as_suggest *s) {
    const as_advice *advice = &s->advice;
    as_builder b = as_builder_of(cli->out);
    char text[1000];
    write_reason(s, text, sizeof text);
    as_build_object(&b, NULL, true);
    as_build_text(&b, "mode", as_advice_mode_name(advice->mode));
    as_build_text(&b, "reason", text);
    as_build_array(&b, "parameters", false);
    for (size_t i = 0; i < advice->n_parameters; i++) as_build_text(&b, NULL, as_suggest_parameter(s, i));
    as_build_end(&b);
    as_build_text(&b, "metric", as_ds_text(s->study.ds, as_ds_metric(s->study.ds, s->metric)->name));
    as_build_int(&b, "callpaths", (int64_t)s->study.n_series);
    build_processes(&b, s);
    as_build_bool(&b, "strong", s->options.is_strong);
    as_build_real(&b, "budget", s->options.budget);
    as_build_real(&b, "used", advice->used);
    as_build_real(&b, "suggested", advice->suggested);
    as_build_real(&b, "left", s->options.budget - advice->used - advice->suggested);
    build_suggestions(&b, s);
    write_nothing(s, text, sizeof text);
    as_build_text(&b, "nothing", advice->suggestions.count ? NULL : text);
    as_build_array(&b, "notes", true);
    for (size_t i = 0; i < s->notes.count; i++) as_build_text(&b, NULL, AS_AT(char *, &s->notes, i));
    as_build_end(&b);
    as_build_end(&b);
    return AS_EXIT_FINE;
}

as_exit as_suggest_print(as_cli *cli, const as_suggest *suggest) {
    if (cli->style.mode == AS_PRINT_TEXT) return print_text(cli, suggest);
    if (cli->style.mode == AS_PRINT_JSON) return print_json(cli, suggest);
    return print_table(cli, suggest, false);
}
