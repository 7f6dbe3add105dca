/* What the options of `assay trace` say: which lines, which window of time, which depth; and the work. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/study.h"
#include "cli/trace_view.h"
#include "render/display.h"

enum {
    USUAL_WIDTH = 80,
    USUAL_COLUMNS = 100, /* of a picture for programs */
    USUAL_PIXELS = 1200,
    MOST_COLUMNS = 100000,
    USUAL_BINS = 20,
    MOST_BINS = 10000,
    USUAL_ROWS = 32,
    USUAL_SVG_ROWS = 100,
    SUMMARY_ROWS = 12,
    USUAL_PROCEDURES = 12,
    USUAL_SAMPLES = 20
};
/* Traces up to so many samples are read as a whole without being asked. */
static const uint64_t read_unasked = (uint64_t)1 << 25;

static bool is_for_people(const as_cli *cli) {
    return cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_MARKDOWN;
}

/* ---- which lines ------------------------------------------------------------------------------------------------- */

static as_exit choose_run(as_cli *cli, as_trace_view *view) {
    as_run_choice choice;
    as_exit status = as_choose_runs(cli, view->ds, &choice);
    view->run = choice.n_runs ? choice.runs[0] : ASSAY_NONE;
    view->n_runs = 1;
    as_run_choice_free(&choice);
    return status;
}

static int compare_lines(const void *a, const void *b, void *user) {
    return as_trace_compare_places(user, (*(const as_trace_line *const *)a)->location,
                                   (*(const as_trace_line *const *)b)->location);
}

static as_exit list_lines(as_cli *cli, as_trace_view *view, const bool *wanted) {
    const as_traces *traces = &view->ds->traces;
    size_t n = as_trace_line_count(traces), places = AS_COUNT(view->ds, locations);
    view->lines = calloc(n + 1, sizeof *view->lines);
    view->labels = calloc(n + 1, sizeof *view->labels);
    view->are_stamped = calloc(n + 1, sizeof *view->are_stamped);
    if (!view->lines || !view->labels || !view->are_stamped) return as_cli_memory(cli);
    for (size_t i = 0; i < n; i++) {
        const as_trace_line *line = as_trace_line_at(traces, i);
        if (line->run != view->run || line->n == 0 || line->location >= places) continue;
        if (wanted && !wanted[line->location]) continue;
        view->lines[view->n_lines++] = line;
        view->n_samples += line->n;
    }
    qsort_r(view->lines, view->n_lines, sizeof *view->lines, compare_lines, (void *)(uintptr_t)view->ds);
    assay_id *at = malloc((view->n_lines + 1) * sizeof *at);
    for (size_t i = 0; at && i < view->n_lines; i++) at[i] = view->lines[i]->location;
    bool fine = at && as_trace_name_places(view, at, view->n_lines, view->labels);
    free(at);
    for (size_t i = 0; i < view->n_lines; i++) {
        const char *kind = as_ds_text(view->ds, as_ds_location(view->ds, view->lines[i]->location)->kind);
        view->are_stamped[i] = kind && strncmp(kind, "gpu", 3) == 0;
    }
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

static as_exit choose_lines(as_cli *cli, as_trace_view *view) {
    const char *path = as_ds_text(view->ds, view->ds->path);
    view->has_intervals = view->ds->traces.n_samples == 0 && as_ds_intervals(view->ds) > 0;
    if (view->has_intervals ? view->shape == AS_TRACE_SAMPLES : view->shape == AS_TRACE_INTERVALS)
        return as_cli_fail(cli, AS_EXIT_USAGE, "%s: has no %s; --%s lists what it has", path,
                           view->has_intervals ? "samples" : "intervals", as_trace_counted(view));
    if (view->has_intervals) return as_trace_choose_rows(cli, view);
    if (view->ds->traces.n_samples == 0)
        return as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no traces; assay tree shows where the time goes", path);
    as_location_choice locations;
    as_exit status = choose_run(cli, view);
    if (status != AS_EXIT_FINE) return status;
    status = as_choose_locations(cli, view->ds, &locations);
    if (status == AS_EXIT_FINE) status = list_lines(cli, view, locations.wanted);
    as_location_choice_free(&locations);
    if (status == AS_EXIT_FINE && view->n_lines == 0)
        return as_cli_fail(cli, AS_EXIT_USAGE, "%s: there are no traces of %s", path,
                           as_cli_has(cli, "location") ? as_cli_value(cli, "location") : "this run");
    return status;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* "1.5", "1.5s", "200ms", "30%": seconds since the run's start, or a part of from … to. */
static bool parse_time(const char *text, double from, double to, double *out) {
    static const struct unit {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}, {"min", 60}, {"h", 3600}};
    size_t size = strspn(text, "+-.0123456789eE"), i = 0;
    const char *unit = text + size;
    double number;
    while (size && !as_real_parse(text, size, &number)) unit = text + --size;
    if (size == 0 || !isfinite(number)) return false;
    while (*unit == ' ') unit++;
    if (strcmp(unit, "%") == 0) {
        *out = number == 100 ? to : from + (to - from) * number / 100; /* all of it is no more than that */
        return true;
    }
    while (i < sizeof units / sizeof *units && strcmp(unit, units[i].name) != 0) i++;
    if (i == sizeof units / sizeof *units) return false;
    *out = number * units[i].seconds;
    return true;
}

/* "--until: the trace begins at 1.921 ms": an option that leaves nothing of it. */
static as_exit fail_window(as_cli *cli, const char *option, const char *what, double at) {
    as_quantity q = as_quantity_of("s", at, false);
    char text[AS_QUANTITY_SIZE];
    as_quantity_format(&q, (as_number){.kind = AS_REAL, .r = at}, text);
    return as_cli_fail(cli, AS_EXIT_USAGE, "--%s %s leaves nothing: the trace %s at %s %s", option,
                       as_cli_value(cli, option), what, text, as_unit_shown(&q, as_cli_is_ascii(cli)));
}

/* Narrows the window to --since and --until. */
static as_exit cut_window(as_cli *cli, as_trace_view *view) {
    static const char *const names[] = {"since", "until"};
    uint64_t *ends[] = {&view->window.from, &view->window.to};
    double first = view->from, last = view->to;
    for (int i = 0; i < 2; i++) {
        const char *text = as_cli_value(cli, names[i]);
        double seconds;
        if (!text) continue;
        if (!parse_time(text, first, last, &seconds) || (seconds < 0 && !view->has_intervals))
            return as_cli_fail(
                cli, AS_EXIT_USAGE,
                "--%s cannot be '%s'; it takes a time since the run's start, such as 1.5s or 200ms, or 30%%", names[i],
                text);
        *ends[i] = as_clock_stamp(&view->clock, seconds);
        *(i ? &view->to : &view->from) = seconds;
    }
    if (view->from > last) return fail_window(cli, "since", "ends", last);
    if (view->to < first) return fail_window(cli, "until", "begins", first);
    if (view->window.from > view->window.to || view->from > view->to)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--since %s lies behind --until %s", as_cli_value(cli, "since"),
                           as_cli_value(cli, "until"));
    return AS_EXIT_FINE;
}

static as_exit choose_window(as_cli *cli, as_trace_view *view) {
    assay_error error;
    bool has_any;
    const char *rule = as_cli_value(cli, "rule");
    view->is_exact = as_cli_has(cli, "exact") || view->n_samples <= read_unasked || view->shape == AS_TRACE_SAMPLES ||
                     view->has_intervals;
    view->window = (as_trace_window){.lines = view->lines, .n_lines = view->n_lines};
    view->window.rule = rule && strcmp(rule, "before") == 0 ? AS_TRACE_BEFORE : AS_TRACE_NEAREST;
    view->window.are_stamped = rule && strcmp(rule, "auto") != 0 && !view->has_intervals ? NULL : view->are_stamped;
    if (!view->has_intervals && as_trace_prepare(view->ds, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    view->clock = view->has_intervals ? view->timeline.clock : as_trace_clock_of(view->ds);
    if (as_trace_span(view->ds, &view->window, !view->is_exact, &has_any, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    view->from = as_trace_time(view, view->window.from);
    view->to = as_trace_time(view, view->window.to);
    return cut_window(cli, view);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* What stands left of a row: the label of its first location, and how many more there are. */
static size_t row_label_width(const as_trace_view *view, size_t row) {
    size_t first = view->n_lines * row / view->n_rows, end = view->n_lines * (row + 1) / view->n_rows;
    const char *label = view->n_rows == view->n_lines ? as_trace_listed(view, first) : view->labels[first];
    size_t width = as_display_width(label, strlen(label));
    return end - first > 1 ? width + strlen(" +") + as_uint_format(end - first - 1, (char[AS_NUMBER_SIZE]){0}) : width;
}

/* Rows of the picture, and what remains of `room` for its columns. */
static size_t fit_picture(as_trace_view *view, size_t room) {
    bool is_summary = view->shape == AS_TRACE_SUMMARY;
    if (!as_cli_has(view->cli, "rows")) view->n_rows = is_summary ? SUMMARY_ROWS : USUAL_ROWS;
    if (is_summary && view->n_rows == 0) view->n_rows = SUMMARY_ROWS;
    if (!is_summary && (view->n_rows == 0 || view->n_rows > view->n_lines)) view->n_rows = view->n_lines;
    view->label_width = strlen("100 %");
    for (size_t row = 0; row < view->n_rows && !is_summary; row++) {
        size_t width = row_label_width(view, row);
        if (width > view->label_width) view->label_width = width;
    }
    if (view->label_width > room / 3) view->label_width = room / 3;
    return room > view->label_width + 12 ? room - view->label_width - 2 : 10;
}

/* Columns and rows of the picture, bins of the summary. */
static as_exit choose_sizes(as_cli *cli, as_trace_view *view) {
    size_t width = 0, bins = USUAL_BINS;
    if (!as_cli_count(cli, "width", &width) || !as_cli_count(cli, "bins", &bins) ||
        !as_cli_count(cli, "rows", &view->n_rows))
        return AS_EXIT_USAGE;
    if (bins < 1 || bins > MOST_BINS)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--bins takes a number from 1 to %d", MOST_BINS);
    if (width > MOST_COLUMNS) width = MOST_COLUMNS;
    if (view->is_svg) {
        if (!width) width = USUAL_PIXELS;
        if (!as_cli_has(cli, "rows")) view->n_rows = USUAL_SVG_ROWS;
        if (view->n_rows == 0 || view->n_rows > view->n_lines) view->n_rows = view->n_lines;
    } else if (cli->style.mode == AS_PRINT_TEXT) {
        width = fit_picture(view, width ? width : cli->style.width ? cli->style.width : USUAL_WIDTH);
        if (!as_cli_has(cli, "bins")) bins = width;
    } else if (!width) {
        width = USUAL_COLUMNS;
    }
    view->n_columns = width;
    view->n_bins = view->is_exact || bins < width ? bins : width;
    bool is_list = view->shape == AS_TRACE_SAMPLES || view->shape == AS_TRACE_INTERVALS;
    view->limit = is_list ? USUAL_SAMPLES : USUAL_PROCEDURES;
    if (!is_for_people(cli)) view->limit = 0;
    if (!as_cli_count(cli, "limit", &view->limit)) return AS_EXIT_USAGE;
    if (view->limit == 0) view->limit = SIZE_MAX;
    return AS_EXIT_FINE;
}

/* ---- the work ---------------------------------------------------------------------------------------------------- */

static as_exit draw(as_cli *cli, as_trace_view *view) {
    assay_error error;
    size_t n;
    if (!as_mul_size(view->n_lines, view->n_columns, &n) || !as_mul_size(n, sizeof *view->cells, &n))
        return as_cli_memory(cli);
    view->cells = malloc(n + 1);
    if (!view->cells) return as_cli_memory(cli);
    if (as_trace_picture(view->ds, &view->window, view->n_columns, view->cells, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    return AS_EXIT_FINE;
}

/* Sections and their like have one level, wherever one looks, and so has what runs on GPUs: they do not help to
 * choose. */
assay_status as_trace_find_depth(const as_trace_view *view, uint32_t *depth, assay_error *error) {
    size_t n = view->n_lines * view->n_columns, n_nested = 0;
    assay_id *nested = view->has_intervals ? malloc((n + 1) * sizeof *nested) : NULL;
    if (view->has_intervals && !nested) return as_fail_memory(error, NULL);
    for (size_t i = 0; i < view->n_lines && nested; i++) {
        if (view->timeline.rows[i].track != AS_TRACK_NESTED) continue;
        memcpy(nested + n_nested, view->cells + i * view->n_columns, view->n_columns * sizeof *nested);
        n_nested += view->n_columns;
    }
    if (nested) n_nested = as_cells_without_alone(view->ds, nested, n_nested);
    assay_status status = as_trace_telling_depth(view->ds, nested ? nested : view->cells, nested ? n_nested : n,
                                                 view->all_contexts, depth, error);
    free(nested);
    return status;
}

static as_exit choose_depth(as_cli *cli, as_trace_view *view) {
    const char *text = as_cli_value(cli, "depth");
    uint32_t depth = AS_DEEPEST;
    as_number number;
    assay_error error;
    view->all_contexts = as_cli_has(cli, "all-contexts");
    if (!text || strcmp(text, "auto") == 0) {
        if (as_trace_find_depth(view, &depth, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    } else if (strcmp(text, "deepest") != 0) {
        if (!as_number_parse(text, strlen(text), &number) || number.kind != AS_INT || number.i < 1 ||
            number.i >= AS_DEEPEST)
            return as_cli_fail(cli, AS_EXIT_USAGE, "--depth cannot be '%s'; it takes a number from 1, deepest or auto",
                               text);
        depth = (uint32_t)number.i;
    }
    if (as_frames_at(view->ds, depth, view->all_contexts, &view->frames, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    const as_vec *names = &view->timeline.names;
    if (names->count && !as_frames_add_names(&view->frames, view->ds, names->data, names->count))
        return as_cli_memory(cli);
    if (view->has_intervals &&
        !as_timeline_picture(&view->timeline, &view->window, &view->frames, view->n_columns, view->cells))
        return as_cli_memory(cli);
    return AS_EXIT_FINE;
}

static as_exit find_times(as_cli *cli, as_trace_view *view) {
    assay_error error;
    assay_status status =
        view->is_exact ? as_trace_times_of(view->ds, &view->window, &view->frames, view->n_bins, &view->times, &error)
                       : as_trace_times_seen(&view->window, &view->frames, view->cells, view->n_columns, view->n_bins,
                                             &view->times, &error);
    if (status != ASSAY_OK) return as_cli_error(cli, &error);
    if (view->has_intervals && !as_timeline_count(&view->timeline, &view->window, &view->frames, &view->times))
        return as_cli_memory(cli);
    if (!view->is_exact)
        as_cli_note(cli, "shares are those of the picture; --exact reads all %llu samples",
                    (unsigned long long)view->n_samples);
    return AS_EXIT_FINE;
}

/* What procedures are sorted by. */
typedef struct sorting {
    const as_trace_view *view;
    bool by_name, by_samples;
} sorting;

static int compare_procedures(const void *a, const void *b, void *user) {
    const sorting *s = user;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const as_procedure_time *x = &s->view->times.all.procedures[i], *y = &s->view->times.all.procedures[j];
    int order = 0;
    if (s->by_name) order = strcmp(as_trace_name(s->view, x->procedure), as_trace_name(s->view, y->procedure));
    if (s->by_samples) order = (x->n_samples < y->n_samples) - (x->n_samples > y->n_samples);
    return order ? order : (i > j) - (i < j);
}

/* The largest are shown, in whatever order. */
static as_exit sort_procedures(as_cli *cli, as_trace_view *view) {
    const char *by = as_cli_value(cli, "sort");
    size_t n = view->times.all.n_procedures;
    view->order = malloc((n + 1) * sizeof *view->order);
    if (!view->order) return as_cli_memory(cli);
    for (size_t i = 0; i < n; i++) view->order[i] = i;
    sorting s = {view, by && strcmp(by, "name") == 0, by && strcmp(by, "samples") == 0};
    qsort_r(view->order, n < view->limit ? n : view->limit, sizeof *view->order, compare_procedures, &s);
    return AS_EXIT_FINE;
}

as_exit as_trace_choose_lines(as_cli *cli, const as_dataset *ds, const char *path, as_trace_view *view) {
    *view = (as_trace_view){.cli = cli, .ds = ds, .path = path, .is_svg = as_cli_is_svg(cli)};
    view->is_ascii = as_cli_is_ascii(cli) && !view->is_svg;
    as_arena_init(&view->texts, as_ds_budget(ds));
    view->shape = as_cli_has(cli, "samples")       ? AS_TRACE_SAMPLES
                  : as_cli_has(cli, "intervals")   ? AS_TRACE_INTERVALS
                  : as_cli_has(cli, "summary")     ? AS_TRACE_SUMMARY
                  : as_cli_has(cli, "by-location") ? AS_TRACE_BY_LOCATION
                                                   : AS_TRACE_LINES;
    as_exit status = choose_lines(cli, view);
    return status == AS_EXIT_FINE ? choose_window(cli, view) : status;
}

as_exit as_trace_choose(as_cli *cli, const as_dataset *ds, const char *path, as_trace_view *view) {
    as_exit status = as_trace_choose_lines(cli, ds, path, view);
    if (status == AS_EXIT_FINE) status = choose_sizes(cli, view);
    if (status == AS_EXIT_FINE) status = draw(cli, view);
    if (status == AS_EXIT_FINE) status = choose_depth(cli, view);
    if (status != AS_EXIT_FINE || view->shape == AS_TRACE_SAMPLES || view->shape == AS_TRACE_INTERVALS) return status;
    status = find_times(cli, view);
    if (status == AS_EXIT_FINE) status = sort_procedures(cli, view);
    if (status == AS_EXIT_FINE && !as_trace_give_letters(view)) status = as_cli_memory(cli);
    return status;
}

void as_trace_view_free(as_trace_view *view) {
    as_trace_times_free(&view->times);
    as_timeline_free(&view->timeline);
    as_frames_free(&view->frames);
    as_arena_free(&view->texts);
    free(view->lines);
    free(view->labels);
    free(view->below);
    free(view->are_stamped);
    free(view->cells);
    free(view->order);
    free(view->letters);
    free(view->colours);
}
