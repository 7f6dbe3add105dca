/* `assay trace` for programs: the JSON of all there is, and flat rows; samples for people as well. */
#include <stdlib.h>
#include <string.h>

#include "cli/context_text.h"
#include "cli/node_json.h"
#include "cli/trace_view.h"
#include "render/names.h"

enum { BATCH = 1000, SAMPLES_AT_ONCE = 1024 };

static double share_of(double ticks, double all) { return all > 0 ? ticks / all : 0; }

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* For each procedure its place in "procedures", which has all that occur, the largest first. NULL when memory is
 * out. */
static size_t *number_procedures(const as_trace_view *view) {
    size_t *numbers = calloc(view->frames.n_procedures + 1, sizeof *numbers);
    for (size_t i = 0; numbers && i < view->times.all.n_procedures; i++)
        numbers[view->times.all.procedures[view->order[i]].procedure] = i;
    return numbers;
}

static void build_times(as_builder *b, const as_trace_view *view, const as_procedure_time *p, double all) {
    as_build_real(b, "time", as_trace_duration(view, p->ticks));
    as_build_real(b, "share", share_of(p->ticks, all));
    if (view->is_exact) as_build_whole(b, as_trace_counted(view), p->n_samples);
}

static void build_procedures(as_builder *b, const as_trace_view *view) {
    const as_trace_times *times = &view->times;
    as_build_array(b, "procedures", true);
    for (size_t i = 0; i < times->all.n_procedures; i++) {
        size_t at = view->order[i];
        const as_procedure_time *p = &times->all.procedures[at];
        assay_id context = view->frames.procedures[p->procedure].context;
        if (context >= view->frames.n_contexts) context = ASSAY_NONE;
        as_build_object(b, NULL, false);
        as_build_text(b, "name", as_trace_name(view, p->procedure));
        as_build_text(b, "letter", (char[]){view->letters[p->procedure], '\0'});
        as_build_known(b, "context", context == ASSAY_NONE ? -1 : (int64_t)context, false);
        build_times(b, view, p, times->all.ticks);
        as_build_array(b, "bins", false);
        for (size_t bin = 0; bin < times->n_bins; bin++)
            as_build_real(b, NULL, share_of(times->bins[at * times->n_bins + bin], times->bin_ticks[bin]));
        as_build_end(b);
        as_build_end(b);
    }
    as_build_end(b);
}

/* Which intervals a row has: nested ones, or those of a section or of another track in one of its lanes. */
static void build_row(as_builder *b, const as_trace_view *view, const as_timeline_row *row) {
    as_build_int(b, "run", row->run);
    static const char *const kinds[] = {[AS_TRACK_NESTED] = "region",
                                        [AS_TRACK_SECTION] = "section",
                                        [AS_TRACK_RANGES] = "range",
                                        [AS_TRACK_OSRT] = "osrt",
                                        [AS_TRACK_SAMPLES] = "sample"};
    bool is_one = row->track == AS_TRACK_SECTION && row->section != AS_MANY_SECTIONS;
    as_build_text(b, "kind", kinds[row->track]);
    as_build_text(b, "section", is_one ? as_ds_text(view->ds, as_ds_context(view->ds, row->section)->name) : NULL);
    if (row->track != AS_TRACK_NESTED) as_build_int(b, "lane", row->lane);
}

static void build_locations(as_builder *b, const as_trace_view *view, const size_t *numbers) {
    as_build_array(b, "locations", true);
    for (size_t i = 0; i < view->n_lines; i++) {
        const as_line_times *line = &view->times.lines[i];
        as_build_object(b, NULL, false);
        assay_id location = view->lines[i]->location;
        as_build_known(b, "location", location == ASSAY_NONE ? -1 : (int64_t)location, false);
        as_build_text(b, "name", view->labels[i]);
        if (view->has_intervals) build_row(b, view, &view->timeline.rows[i]);
        if (view->is_exact) {
            as_build_whole(b, as_trace_counted(view), line->n_samples);
            if (as_trace_is_there(view, line)) {
                as_build_real(b, "first", as_trace_time(view, line->first));
                as_build_real(b, "last", as_trace_time(view, line->last));
            }
            as_build_real(b, "longest_gap", as_trace_duration(view, line->longest_gap));
        }
        as_build_real(b, "time", as_trace_duration(view, line->ticks));
        as_build_array(b, "procedures", false);
        for (size_t k = 0; k < line->n_procedures; k++) {
            as_build_object(b, NULL, false);
            as_build_whole(b, "procedure", (as_whole)numbers[line->procedures[k].procedure]);
            as_build_text(b, "name", as_trace_name(view, line->procedures[k].procedure));
            build_times(b, view, &line->procedures[k], line->ticks);
            as_build_end(b);
        }
        as_build_end(b);
        as_build_end(b);
    }
    as_build_end(b);
}

/* Rows of numbers of procedures, null where there is nothing. */
static void build_picture(as_builder *b, const as_trace_view *view, const size_t *numbers, const bool *is_listed) {
    as_build_array(b, "picture", true);
    for (size_t i = 0; i < view->n_lines; i++) {
        as_build_array(b, NULL, false);
        for (size_t column = 0; column < view->n_columns; column++) {
            assay_id context = view->cells[i * view->n_columns + column];
            uint32_t procedure = context == AS_TRACE_NOTHING ? 0 : as_procedure_of(&view->frames, context);
            if (context == AS_TRACE_NOTHING || !is_listed[procedure])
                as_build_text(b, NULL, NULL);
            else
                as_build_whole(b, NULL, (as_whole)numbers[procedure]);
        }
        as_build_end(b);
    }
    as_build_end(b);
}

bool as_trace_json(as_builder *b, const as_trace_view *view) {
    size_t *numbers = number_procedures(view);
    bool *is_listed = calloc(view->frames.n_procedures + 1, sizeof *is_listed), fine = numbers && is_listed;
    for (size_t i = 0; i < view->times.all.n_procedures && fine; i++)
        is_listed[view->times.all.procedures[i].procedure] = true;
    if (fine) {
        as_build_object(b, NULL, true);
        as_build_text(b, "path", view->path);
        if (view->n_runs > 1)
            as_build_text(b, "run", NULL);
        else
            as_build_int(b, "run", view->run);
        if (view->has_intervals) as_build_whole(b, "runs", (as_whole)view->n_runs);
        as_build_real(b, "from", view->from);
        as_build_real(b, "to", view->to);
        as_build_whole(b, as_trace_counted(view), view->is_exact ? view->times.all.n_samples : view->n_samples);
        if (view->has_intervals) as_build_whole(b, "pauses", view->timeline.n_pauses);
        as_build_bool(b, "exact", view->is_exact);
        as_build_text(b, "rule",
                      view->has_intervals                     ? NULL
                      : view->window.are_stamped              ? "auto"
                      : view->window.rule == AS_TRACE_NEAREST ? "nearest"
                                                              : "before");
        as_build_int(b, "depth", view->frames.depth < view->frames.deepest ? view->frames.depth : view->frames.deepest);
        as_build_int(b, "deepest", view->frames.deepest);
        as_build_whole(b, "bins", (as_whole)view->times.n_bins);
        as_build_whole(b, "columns", (as_whole)view->n_columns);
        build_procedures(b, view);
        build_locations(b, view, numbers);
        build_picture(b, view, numbers, is_listed);
        as_build_end(b);
    }
    free(numbers);
    free(is_listed);
    return fine;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const as_column summary_columns[] = {{"file"}, {"from"}, {"to"}, {"procedure"}, {"time"}, {"share"}};
static const as_column location_columns[] = {
    {"file"},    {"location"}, {"name"}, {"procedure"},        {"time"},       {"share"},
    {"samples"}, {"first"},    {"last"}, {"location_samples"}, {"longest_gap"}};
static const as_column sample_columns[] = {{"file"},     {"location"}, {"name"},      {"time"},
                                           {"time_raw"}, {"context"},  {"procedure"}, {"path"}};
static const as_column shown_columns[] = {{"file"}, {"location"}, {"time [s]"}, {"procedure"}, {"call path"}};
enum { SUMMARY_COLUMNS = 6, LOCATION_COLUMNS = 11, SAMPLE_COLUMNS = 8, SHOWN_COLUMNS = 5 };
_Static_assert(sizeof location_columns / sizeof *location_columns == LOCATION_COLUMNS, "rows are as long as columns");

as_table *as_trace_table(as_trace_shape shape, bool for_people, bool has_file) {
    if (shape == AS_TRACE_INTERVALS) {
        const as_column *columns = for_people ? as_shown_interval_columns : as_interval_columns;
        size_t n = for_people ? AS_SHOWN_INTERVAL_COLUMNS : AS_INTERVAL_COLUMNS;
        return as_table_new(columns + !has_file, n - !has_file, NULL);
    }
    const as_column *columns = shape == AS_TRACE_SUMMARY   ? summary_columns
                               : shape != AS_TRACE_SAMPLES ? location_columns
                               : for_people                ? shown_columns
                                                           : sample_columns;
    size_t n = shape == AS_TRACE_SUMMARY   ? SUMMARY_COLUMNS
               : shape != AS_TRACE_SAMPLES ? LOCATION_COLUMNS
               : for_people                ? SHOWN_COLUMNS
                                           : SAMPLE_COLUMNS;
    return as_table_new(columns + !has_file, n - !has_file, NULL);
}

bool as_trace_add_row(as_trace_sink *r, as_cell *cells) {
    cells[0] = as_cell_text(r->file);
    if (!as_table_append(r->batch, cells + !r->file)) return false;
    if (as_table_rows(r->batch) < BATCH) return true;
    bool fine = as_printer_rows(r->printer, r->batch);
    as_table_clear(r->batch);
    return fine;
}

/* The procedures of each bin of time; those without any there are left out. */
static bool add_summary(as_trace_sink *r, const as_trace_view *view) {
    const as_trace_times *times = &view->times;
    double length = (view->to - view->from) / (double)times->n_bins;
    for (size_t bin = 0; bin < times->n_bins; bin++) {
        for (size_t i = 0; i < times->all.n_procedures; i++) {
            size_t at = view->order[i];
            double ticks = times->bins[at * times->n_bins + bin];
            if (!(ticks > 0)) continue;
            double end = bin + 1 == times->n_bins ? view->to : view->from + length * (double)(bin + 1);
            as_cell cells[SUMMARY_COLUMNS] = {
                [1] = as_cell_real(view->from + length * (double)bin),
                [2] = as_cell_real(end),
                [3] = as_cell_text(as_trace_name(view, times->all.procedures[at].procedure)),
                [4] = as_cell_real(as_trace_duration(view, ticks)),
                [5] = as_cell_real(share_of(ticks, times->bin_ticks[bin]))};
            if (!as_trace_add_row(r, cells)) return false;
        }
    }
    return true;
}

/* The procedures of each location. */
static bool add_locations(as_trace_sink *r, const as_trace_view *view) {
    for (size_t i = 0; i < view->n_lines; i++) {
        const as_line_times *line = &view->times.lines[i];
        bool has_samples = view->is_exact && as_trace_is_there(view, line);
        for (size_t k = 0; k < line->n_procedures && k < view->limit; k++) {
            const as_procedure_time *p = &line->procedures[k];
            as_cell cells[LOCATION_COLUMNS] = {
                [1] = view->lines[i]->location == ASSAY_NONE ? as_cell_null() : as_cell_int(view->lines[i]->location),
                [2] = as_cell_text(view->labels[i]),
                [3] = as_cell_text(as_trace_name(view, p->procedure)),
                [4] = as_cell_real(as_trace_duration(view, p->ticks)),
                [5] = as_cell_real(share_of(p->ticks, line->ticks)),
                [6] = view->is_exact ? as_cell_uint(p->n_samples) : as_cell_null(),
                [7] = has_samples ? as_cell_real(as_trace_time(view, line->first)) : as_cell_null(),
                [8] = has_samples ? as_cell_real(as_trace_time(view, line->last)) : as_cell_null(),
                [9] = view->is_exact ? as_cell_uint(line->n_samples) : as_cell_null(),
                [10] = has_samples ? as_cell_real(as_trace_duration(view, line->longest_gap)) : as_cell_null()};
            if (!as_trace_add_row(r, cells)) return false;
        }
    }
    return true;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* What samples are read into, and texts of them. */
typedef struct sampling {
    as_trace_sample *samples;
    as_vec path;  /* char */
    as_vec steps; /* assay_id */
    as_text shown_path, name, procedure;
} sampling;

/* Ids and raw stamps say nothing to people. */
static bool show_sample(as_trace_sink *r, const as_trace_view *view, size_t line, const as_trace_sample *sample,
                        sampling *s) {
    enum { NARROWEST = 12 };
    const as_dataset *ds = view->ds;
    size_t most = view->cli->style.width / 3;
    if (most && most < NARROWEST) most = NARROWEST;
    as_path_style style = {.with_places = view->all_contexts, .most = most, .ellipsis = view->is_ascii ? "..." : "…"};
    as_text_clear(&s->shown_path);
    as_text_clear(&s->name);
    as_text_clear(&s->procedure);
    bool is_inside = sample->context != ASSAY_NONE && !as_context_is_root(ds, sample->context);
    if (is_inside) as_context_put_path(&s->shown_path, ds, sample->context, &style, &s->steps);
    as_trace_put_name(view, as_procedure_of(&view->frames, sample->context), &s->name);
    as_name_shorten(&s->procedure, as_text_data(&s->name), as_text_size(&s->name), most ? most : AS_WIDEST_NAME,
                    style.ellipsis);
    if (s->shown_path.failed || s->name.failed || s->procedure.failed) return false;
    as_cell cells[SHOWN_COLUMNS] = {
        [1] = as_cell_text(view->labels[line]),
        [2] = as_cell_real(as_trace_time(view, sample->time)),
        [3] = as_cell_text_n(as_text_data(&s->procedure), as_text_size(&s->procedure)),
        [4] = is_inside ? as_cell_text_n(as_text_data(&s->shown_path), as_text_size(&s->shown_path)) : as_cell_null()};
    return as_trace_add_row(r, cells);
}

static bool add_sample(as_trace_sink *r, const as_trace_view *view, size_t line, const as_trace_sample *sample,
                       sampling *s) {
    const as_dataset *ds = view->ds;
    bool is_known = sample->context != ASSAY_NONE, is_whole = false;
    if (view->cli->style.mode == AS_PRINT_TEXT) return show_sample(r, view, line, sample, s);
    if (is_known && !as_context_path_end(ds, sample->context, AS_LONGEST_PATH, &s->path, &is_whole)) return false;
    as_cell cells[SAMPLE_COLUMNS] = {
        [1] = as_cell_int(view->lines[line]->location),
        [2] = as_cell_text(view->labels[line]),
        [3] = as_cell_real(as_trace_time(view, sample->time)),
        [4] = as_cell_uint(sample->time),
        [5] = is_known ? as_cell_int(sample->context) : as_cell_null(),
        [6] = as_cell_text(as_trace_name(view, as_procedure_of(&view->frames, sample->context))),
        [7] = is_known && is_whole ? as_cell_text(s->path.data) : as_cell_null()};
    return as_trace_add_row(r, cells);
}

/* Those of one line inside the window; *left counts how many may still be shown, *is_cut says that there are more. */
static as_exit add_line(as_trace_sink *r, as_trace_view *view, size_t i, sampling *s, size_t *left, bool *is_cut) {
    const as_trace_line *line = view->lines[i];
    uint64_t first, end = line->n;
    assay_error error;
    assay_status status = as_trace_find(view->ds, line, view->window.from, &first, &error);
    if (status == ASSAY_OK && view->window.to < UINT64_MAX)
        status = as_trace_find(view->ds, line, view->window.to + 1, &end, &error);
    while (status == ASSAY_OK && first < end && *left) {
        size_t n = end - first < SAMPLES_AT_ONCE ? (size_t)(end - first) : SAMPLES_AT_ONCE;
        if (n > *left) n = *left;
        status = as_trace_read(view->ds, line, first, n, s->samples, &error);
        for (size_t k = 0; k < n && status == ASSAY_OK; k++) {
            if (!add_sample(r, view, i, &s->samples[k], s)) return as_cli_memory(view->cli);
        }
        first += n;
        *left -= n;
    }
    *is_cut = first < end;
    return status == ASSAY_OK ? AS_EXIT_FINE : as_cli_error(view->cli, &error);
}

static as_exit add_samples(as_trace_sink *r, as_trace_view *view) {
    sampling s = {.samples = malloc(SAMPLES_AT_ONCE * sizeof *s.samples)};
    as_vec_init(&s.path, 1, NULL);
    as_vec_init(&s.steps, sizeof(assay_id), NULL);
    as_text_init(&s.shown_path);
    as_text_init(&s.name);
    as_text_init(&s.procedure);
    as_exit status = s.samples ? AS_EXIT_FINE : as_cli_memory(view->cli);
    size_t left = view->limit;
    bool is_cut = false;
    for (size_t i = 0; i < view->n_lines && !is_cut && status == AS_EXIT_FINE; i++)
        status = add_line(r, view, i, &s, &left, &is_cut);
    if (status == AS_EXIT_FINE && is_cut) as_cli_note(view->cli, "the first %zu samples; -n 0 shows all", view->limit);
    free(s.samples);
    as_vec_free(&s.path);
    as_vec_free(&s.steps);
    as_text_free(&s.shown_path);
    as_text_free(&s.name);
    as_text_free(&s.procedure);
    return status;
}

as_exit as_trace_rows(as_printer *printer, as_table *batch, as_trace_view *view, const char *file) {
    as_trace_sink r = {printer, batch, file};
    as_exit status = AS_EXIT_FINE;
    bool fine = true;
    if (view->shape == AS_TRACE_SAMPLES)
        status = add_samples(&r, view);
    else if (view->shape == AS_TRACE_INTERVALS)
        status = as_trace_add_intervals(&r, view);
    else
        fine = view->shape == AS_TRACE_SUMMARY ? add_summary(&r, view) : add_locations(&r, view);
    if (status != AS_EXIT_FINE) return status;
    fine = fine && as_printer_rows(printer, batch);
    as_table_clear(batch);
    return fine ? AS_EXIT_FINE : as_cli_memory(view->cli);
}
