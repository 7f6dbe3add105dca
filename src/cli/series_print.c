/* Series for people and for programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/series_view.h"
#include "render/display.h"
#include "render/quantity.h"
#include "render/text_buffer.h"

enum { SPARK_WIDTH = 40, SHORT_COMMIT = 10, NAME_SIZE = 200 };

/* ---- words ------------------------------------------------------------------------------------------------------- */

static double relative_of(const as_change_point *point) {
    if (point->after == point->before) return 0;
    return point->before == 0 ? copysign(INFINITY, point->after) : (point->after - point->before) / fabs(point->before);
}

static as_outcome outcome_at(const as_series_subject *subject, const as_change_point *point) {
    bool is_worse = (point->after > point->before) != subject->higher_is_better;
    if (isnan(point->p)) return is_worse ? AS_OUTCOME_MAYBE_WORSE : AS_OUTCOME_MAYBE_BETTER;
    return is_worse ? AS_OUTCOME_WORSE : AS_OUTCOME_BETTER;
}

/* "23 % slower", "2.1 times as large". */
static void put_change(const as_series_subject *subject, const as_change_point *point, char *out, size_t size) {
    double relative = relative_of(point);
    bool is_time = as_unit_is_time(subject->unit);
    const char *word = relative > 0 ? (is_time ? "slower" : "larger") : (is_time ? "faster" : "smaller");
    char number[AS_NUMBER_SIZE];
    if (isinf(relative)) {
        snprintf(out, size, "%s, from nothing", word);
        return;
    }
    as_real_format(as_real_round(fabs(relative) * 100, fabs(relative) < 0.1 ? 2 : 3), number);
    snprintf(out, size, "%s %% %s", number, word);
}

static void put_amount(const as_series_subject *subject, double value, bool is_ascii, char *out, size_t size) {
    char number[AS_QUANTITY_SIZE];
    as_quantity quantity =
        as_quantity_of(subject->unit, fabs(value), value == floor(value) && !as_unit_is_time(subject->unit));
    as_quantity_format(&quantity, (as_number){.kind = AS_REAL, .r = value}, number);
    const char *unit = as_unit_shown(&quantity, is_ascii);
    snprintf(out, size, "%s%s%s", number, *unit ? " " : "", unit);
}

/* The commit, shortened, else the file. */
static void put_run(const as_series_run *run, char *out, size_t size) {
    if (run->commit && *run->commit)
        snprintf(out, size, "%.*s", SHORT_COMMIT, run->commit);
    else
        snprintf(out, size, "%s", run->name);
}

/* ---- sparklines -------------------------------------------------------------------------------------------------- */

/* Values of neighbouring runs where there are more than columns; their mean. */
static double column_value(const double *values, size_t n, size_t columns, size_t column) {
    size_t from = n * column / columns, to = n * (column + 1) / columns, count = 0;
    double sum = 0;
    for (size_t i = from; i < to; i++) {
        if (!isfinite(values[i])) continue;
        sum += values[i];
        count++;
    }
    return count ? sum / (double)count : NAN;
}

/* A column is as high as its value; what varies by less than the threshold looks flat. */
static void put_spark(as_text *text, const double *values, size_t n, double threshold, bool is_ascii) {
    static const char *const blocks[8] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letters[8] = {"_", ".", ",", "-", "=", "+", "*", "#"};
    size_t columns = n < SPARK_WIDTH ? n : SPARK_WIDTH;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < columns; i++) {
        double value = column_value(values, n, columns, i);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    double range = fmax(high - low, 2 * threshold * fabs(low));
    for (size_t i = 0; i < columns; i++) {
        double value = column_value(values, n, columns, i);
        size_t level = isnan(value) || !(range > 0) ? 0 : (size_t)fmin((value - low) / range * 8, 7);
        as_text_add(text, isnan(value) ? " " : is_ascii ? letters[level] : blocks[level]);
    }
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

static void print_headline(as_series_view *view) {
    as_cli *cli = view->cli;
    const as_series_group *group = NULL;
    const as_series_subject *bad = as_series_first_bad(view, &group);
    bool is_ascii = as_cli_is_ascii(cli), is_markdown = cli->style.mode == AS_PRINT_MARKDOWN;
    const char *colour = as_sgr(cli->style.colour, bad ? AS_RED : AS_GREEN),
               *plain = as_sgr(cli->style.colour, AS_PLAIN);
    const char *mark = is_markdown ? "**" : "";
    if (!bad) {
        as_outcome outcome = as_series_outcome(view);
        as_output_printf(cli->out, "%s%s%s%s%s\n", mark, colour,
                         outcome == AS_OUTCOME_SAME ? "No degradation that lasts"
                                                    : "No degradation; something got better",
                         plain, mark);
        return;
    }
    const as_change_point *point = as_series_point(bad, bad->bad);
    char change[80], before[100], after[100], run[NAME_SIZE];
    put_change(bad, point, change, sizeof change);
    put_amount(bad, point->before, is_ascii, before, sizeof before);
    put_amount(bad, point->after, is_ascii, after, sizeof after);
    put_run(group->runs[point->at], run, sizeof run);
    as_output_printf(cli->out, "%s%s%s:%s%s ", mark, colour,
                     bad->outcome == AS_OUTCOME_WORSE ? "Degradation" : "Maybe a degradation", plain, mark);
    as_display_write(cli->out, bad->path ? bad->path : "the total", strlen(bad->path ? bad->path : "the total"), 0);
    if (!as_unit_is_time(bad->unit)) as_output_printf(cli->out, " (%s)", bad->metric);
    as_output_printf(cli->out, " got %s %s ", change, bad->track.is_gradual ? "little by little, around" : "at");
    as_display_write(cli->out, run, strlen(run), 0);
    as_output_printf(cli->out, " (run %zu of %zu), was %s, is %s\n", point->at + 1, group->n_runs, before, after);
}

static void print_counts(as_series_view *view, const as_series_group *group) {
    as_cli *cli = view->cli;
    if (*group->name) {
        as_display_write(cli->out, group->name, strlen(group->name), 0);
        as_output_text(cli->out, ": ");
    }
    size_t changed = 0;
    for (size_t i = 0; i < group->n_subjects; i++) changed += group->subjects[i].track.points.count > 0;
    as_output_printf(cli->out, "%zu run%s in order of %s, %zu of %zu call paths and metrics changed", group->n_runs,
                     group->n_runs == 1 ? "" : "s",
                     strcmp(view->order, "given") == 0    ? "the command line"
                     : strcmp(view->order, "file") == 0   ? "the list"
                     : strcmp(view->order, "name") == 0   ? "their names"
                     : strcmp(view->order, "commit") == 0 ? "their commits"
                                                          : view->order,
                     changed, group->n_subjects);
    if (group->counts[AS_OUTCOME_WORSE] + group->counts[AS_OUTCOME_MAYBE_WORSE])
        as_output_printf(cli->out, ", %zu to the worse and stayed so",
                         group->counts[AS_OUTCOME_WORSE] + group->counts[AS_OUTCOME_MAYBE_WORSE]);
    as_output_text(cli->out, "\n");
}

enum { RESULT, RUN, AT, WAS, IS, CHANGE, P, METRIC, PATH, SPARK, N_COLUMNS };

/* Columns that say least are left out where the terminal is narrow, and the metric's where there is only one. */
static void choose_columns(const as_series_view *view, const as_series_group *group, bool shown[N_COLUMNS]) {
    enum { WIDE = 100 };
    const as_print_style *style = &view->cli->style;
    for (size_t i = 0; i < N_COLUMNS; i++) shown[i] = true;
    shown[P] = !style->width || style->width >= WIDE;
    shown[METRIC] = false;
    for (size_t i = 1; i < group->n_subjects; i++)
        shown[METRIC] |= strcmp(group->subjects[i].metric, group->subjects[0].metric) != 0;
}

static bool add_text_rows(as_series_view *view, const as_series_group *group, const as_series_subject *subject,
                          const bool shown[N_COLUMNS], as_table *table, as_text *spark) {
    bool is_ascii = as_cli_is_ascii(view->cli), fine = true;
    size_t n = subject->track.points.count;
    for (size_t i = 0; i < (n ? n : 1) && fine; i++) {
        const as_change_point *point = n ? as_series_point(subject, i) : NULL;
        char run[NAME_SIZE] = "", before[100] = "", after[100] = "", change[AS_QUANTITY_SIZE + 4] = "";
        as_text_clear(spark);
        if (!i) put_spark(spark, subject->track.values, group->n_runs, subject->track.threshold, is_ascii);
        if (point) {
            put_run(group->runs[point->at], run, sizeof run);
            put_amount(subject, point->before, is_ascii, before, sizeof before);
            put_amount(subject, point->after, is_ascii, after, sizeof after);
            double relative = relative_of(point);
            if (isinf(relative))
                snprintf(change, sizeof change, "new");
            else
                snprintf(change + as_percent_change_format(relative, change), 3, " %%");
        }
        const char *result = !point                      ? "no change"
                             : subject->track.is_gradual ? "drift"
                                                         : as_outcome_name(outcome_at(subject, point));
        as_cell p = point && !isnan(point->p) ? as_cell_real(as_real_round(point->p, 2)) : as_cell_null();
        const as_cell all[N_COLUMNS] = {[RESULT] = as_cell_text(result),
                                        [RUN] = point ? as_cell_int((int64_t)point->at + 1) : as_cell_null(),
                                        [AT] = as_cell_text(run),
                                        [WAS] = as_cell_text(before),
                                        [IS] = as_cell_text(after),
                                        [CHANGE] = as_cell_text(change),
                                        [P] = p,
                                        [METRIC] = as_cell_text(subject->metric),
                                        [PATH] = as_cell_text(subject->path ? subject->path : "total"),
                                        [SPARK] = as_cell_text_n(as_text_data(spark), as_text_size(spark))};
        as_cell cells[N_COLUMNS];
        size_t n_cells = 0;
        for (size_t c = 0; c < N_COLUMNS; c++)
            if (shown[c]) cells[n_cells++] = all[c];
        fine = as_table_append(table, cells);
    }
    return fine && !spark->failed;
}

static bool print_group(as_series_view *view, const as_series_group *group) {
    static const char *const names[N_COLUMNS] = {"result", "run", "at",     "was",       "is",
                                                 "change", "p",   "metric", "call path", "runs"};
    as_table *table = as_table_new(NULL, 0, NULL);
    bool fine = table != NULL, with_all = as_cli_has(view->cli, "all"), shown[N_COLUMNS];
    as_text spark;
    as_text_init(&spark);
    print_counts(view, group);
    choose_columns(view, group, shown);
    for (size_t c = 0; c < N_COLUMNS && fine; c++)
        if (shown[c]) fine = as_table_add_column(table, names[c]) != SIZE_MAX;
    for (size_t i = 0; i < group->n_subjects && fine; i++) {
        const as_series_subject *subject = &group->subjects[i];
        if (with_all || subject->track.points.count) fine = add_text_rows(view, group, subject, shown, table, &spark);
    }
    if (fine && as_table_rows(table)) {
        as_print_style style = view->cli->style;
        style.last_below = true;
        as_output_text(view->cli->out, "\n");
        fine = as_print_table(view->cli->out, table, style);
    }
    as_text_free(&spark);
    as_table_free(table);
    return fine;
}

static as_exit print_text(as_series_view *view) {
    bool fine = true;
    print_headline(view);
    if (view->cli->style.mode == AS_PRINT_MARKDOWN) as_output_text(view->cli->out, "\n");
    for (size_t g = 0; g < view->n_groups && fine; g++) {
        if (g) as_output_text(view->cli->out, "\n");
        fine = print_group(view, &view->groups[g]);
    }
    return fine ? AS_EXIT_FINE : as_cli_memory(view->cli);
}

/* ---- for programs ------------------------------------------------------------------------------------------------ */

static void build_known(as_builder *builder, const char *key, double value) {
    if (isnan(value))
        as_build_text(builder, key, NULL);
    else
        as_build_real(builder, key, value);
}

static void build_point(as_builder *builder, const char *key, const as_series_group *group,
                        const as_series_subject *subject, size_t i) {
    const as_change_point *point = as_series_point(subject, i);
    const as_series_run *run = group->runs[point->at];
    as_build_object(builder, key, false);
    as_build_int(builder, "run", (int64_t)point->at + 1);
    as_build_text(builder, "name", run->name);
    as_build_text(builder, "commit", run->commit);
    as_build_text(builder, "outcome", as_outcome_name(outcome_at(subject, point)));
    as_build_real(builder, "before", point->before);
    as_build_real(builder, "after", point->after);
    as_build_real(builder, "relative", relative_of(point));
    build_known(builder, "adjusted_p", point->p);
    as_build_end(builder);
}

static void build_subject(as_builder *builder, const as_series_group *group, const as_series_subject *subject) {
    as_build_object(builder, NULL, true);
    as_build_text(builder, "metric", subject->metric);
    as_build_text(builder, "unit", subject->unit);
    as_build_text(builder, "callpath", subject->path);
    as_build_text(builder, "outcome", as_outcome_name(subject->outcome));
    as_build_bool(builder, "is_gradual", subject->track.is_gradual);
    as_build_real(builder, "threshold", subject->track.threshold);
    if (subject->bad == SIZE_MAX)
        as_build_text(builder, "since", NULL);
    else
        as_build_int(builder, "since", (int64_t)as_series_point(subject, subject->bad)->at + 1);
    as_build_array(builder, "change_points", true);
    for (size_t i = 0; i < subject->track.points.count; i++) build_point(builder, NULL, group, subject, i);
    as_build_end(builder);
    as_build_array(builder, "values", false);
    for (size_t i = 0; i < group->n_runs; i++) build_known(builder, NULL, subject->track.values[i]);
    as_build_end(builder);
    as_build_end(builder);
}

static void build_group(as_builder *builder, const as_series_group *group) {
    as_build_object(builder, NULL, true);
    as_build_text(builder, "group", *group->name ? group->name : NULL);
    as_build_array(builder, "runs", true);
    for (size_t i = 0; i < group->n_runs; i++) {
        as_build_object(builder, NULL, false);
        as_build_text(builder, "name", group->runs[i]->name);
        as_build_text(builder, "path", group->runs[i]->path);
        as_build_text(builder, "commit", group->runs[i]->commit);
        build_known(builder, "time", group->runs[i]->time);
        as_build_end(builder);
    }
    as_build_end(builder);
    as_build_array(builder, "subjects", true);
    for (size_t i = 0; i < group->n_subjects; i++) build_subject(builder, group, &group->subjects[i]);
    as_build_end(builder);
    as_build_end(builder);
}

static as_exit print_json(as_series_view *view) {
    as_builder builder = as_builder_of(view->cli->out);
    const as_series_group *group = NULL;
    const as_series_subject *bad = as_series_first_bad(view, &group);
    as_build_object(&builder, NULL, true);
    as_build_text(&builder, "outcome", as_outcome_name(as_series_outcome(view)));
    as_build_text(&builder, "order", view->order);
    if (bad) {
        as_build_object(&builder, "first_bad", true);
        as_build_text(&builder, "group", *group->name ? group->name : NULL);
        as_build_text(&builder, "metric", bad->metric);
        as_build_text(&builder, "callpath", bad->path);
        build_point(&builder, "change_point", group, bad, bad->bad);
        as_build_end(&builder);
    } else {
        as_build_text(&builder, "first_bad", NULL);
    }
    as_build_array(&builder, "series", true);
    for (size_t g = 0; g < view->n_groups; g++) build_group(&builder, &view->groups[g]);
    as_build_end(&builder);
    as_build_end(&builder);
    return AS_EXIT_FINE;
}

/* A row for each change point. */
static as_exit print_rows(as_series_view *view) {
    static const as_column columns[] = {{"group"},    {"metric"},     {"callpath"},  {"outcome"}, {"run"},
                                        {"name"},     {"commit"},     {"change"},    {"before"},  {"after"},
                                        {"relative"}, {"adjusted_p"}, {"is_gradual"}};
    as_table *table = as_table_new(columns, sizeof columns / sizeof *columns, NULL);
    bool fine = table != NULL;
    for (size_t g = 0; g < view->n_groups; g++) {
        const as_series_group *group = &view->groups[g];
        for (size_t i = 0; i < group->n_subjects; i++) {
            const as_series_subject *subject = &group->subjects[i];
            for (size_t k = 0; k < subject->track.points.count && fine; k++) {
                const as_change_point *point = as_series_point(subject, k);
                const as_cell cells[] = {as_cell_text(*group->name ? group->name : NULL),
                                         as_cell_text(subject->metric),
                                         as_cell_text(subject->path),
                                         as_cell_text(as_outcome_name(subject->outcome)),
                                         as_cell_int((int64_t)point->at + 1),
                                         as_cell_text(group->runs[point->at]->name),
                                         as_cell_text(group->runs[point->at]->commit),
                                         as_cell_text(as_outcome_name(outcome_at(subject, point))),
                                         as_cell_real(point->before),
                                         as_cell_real(point->after),
                                         as_cell_real(relative_of(point)),
                                         isnan(point->p) ? as_cell_null() : as_cell_real(point->p),
                                         as_cell_int(subject->track.is_gradual)};
                fine = as_table_append(table, cells);
            }
        }
    }
    as_exit status = fine ? as_cli_print(view->cli, table) : as_cli_memory(view->cli);
    as_table_free(table);
    return status;
}

as_exit as_series_print(as_series_view *view) {
    switch (view->cli->style.mode) {
    case AS_PRINT_TEXT:
    case AS_PRINT_MARKDOWN: return print_text(view);
    case AS_PRINT_JSON: return print_json(view);
    default: return print_rows(view);
    }
}
