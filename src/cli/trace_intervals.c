/* `assay trace --intervals`: the intervals of the window, row by row. */
#include <stdlib.h>
#include <string.h>

#include "cli/context_text.h"
#include "cli/node_json.h"
#include "cli/trace_view.h"
#include "render/names.h"

const as_column as_interval_columns[AS_INTERVAL_COLUMNS] = {
    {"file"},  {"event"}, {"run"},      {"location"},  {"line"},    {"name"}, {"kind"},
    {"start"}, {"end"},   {"duration"}, {"source_id"}, {"context"}, {"path"}};
const as_column as_shown_interval_columns[AS_SHOWN_INTERVAL_COLUMNS] = {
    {"file"}, {"line"}, {"from [s]"}, {"to [s]"}, {"time [s]"}, {"name"}, {"call path"}};

/* Texts of the interval at hand. */
typedef struct texts {
    as_vec path;  /* char */
    as_vec steps; /* assay_id */
    as_text shown_path, name;
} texts;

static as_cell str_cell(const as_dataset *ds, as_str id) {
    return id == AS_NO_STR ? as_cell_null() : as_cell_text_n(as_ds_text(ds, id), as_str_size(&ds->strings, id));
}

static as_cell id_cell(assay_id id) { return id == ASSAY_NONE ? as_cell_null() : as_cell_int(id); }

static bool show_interval(as_trace_sink *sink, const as_trace_view *view, size_t line, const as_interval *interval,
                          const as_event *event, texts *t) {
    enum { NARROWEST = 12 };
    const as_dataset *ds = view->ds;
    size_t most = view->cli->style.width / 3;
    if (most && most < NARROWEST) most = NARROWEST;
    as_path_style style = {.with_places = view->all_contexts, .most = most, .ellipsis = view->is_ascii ? "..." : "…"};
    const char *name = as_ds_text(ds, event->name);
    as_text_clear(&t->shown_path);
    as_text_clear(&t->name);
    bool has_path = event->context != ASSAY_NONE;
    if (has_path) as_context_put_path(&t->shown_path, ds, event->context, &style, &t->steps);
    if (name) as_name_shorten(&t->name, name, strlen(name), most ? most : AS_WIDEST_NAME, style.ellipsis);
    if (t->shown_path.failed || t->name.failed) return false;
    as_cell cells[AS_SHOWN_INTERVAL_COLUMNS] = {
        [1] = as_cell_text(view->labels[line]),
        [2] = as_cell_real(as_trace_time(view, interval->start)),
        [3] = as_cell_real(as_trace_time(view, interval->end)),
        [4] = as_cell_real(as_trace_duration(view, (double)(interval->end - interval->start))),
        [5] = name ? as_cell_text_n(as_text_data(&t->name), as_text_size(&t->name)) : as_cell_null(),
        [6] = has_path ? as_cell_text_n(as_text_data(&t->shown_path), as_text_size(&t->shown_path)) : as_cell_null()};
    return as_trace_add_row(sink, cells);
}

static bool add_interval(as_trace_sink *sink, const as_trace_view *view, size_t line, const as_interval *interval,
                         texts *t) {
    const as_dataset *ds = view->ds;
    as_event event;
    char digits[AS_NUMBER_SIZE];
    bool is_whole = false;
    as_ds_event(ds, interval->event, &event);
    if (view->cli->style.mode == AS_PRINT_TEXT) return show_interval(sink, view, line, interval, &event, t);
    bool has_path = event.context != ASSAY_NONE;
    if (has_path && !as_context_path_end(ds, event.context, AS_LONGEST_PATH, &t->path, &is_whole)) return false;
    as_cell cells[AS_INTERVAL_COLUMNS] = {
        [1] = as_cell_int(interval->event),
        [2] = id_cell(event.run),
        [3] = id_cell(event.location),
        [4] = as_cell_text(view->labels[line]),
        [5] = str_cell(ds, event.name),
        [6] = str_cell(ds, event.kind),
        [7] = as_cell_real(as_trace_time(view, interval->start)),
        [8] = as_cell_real(as_trace_time(view, interval->end)),
        [9] = as_cell_real(as_trace_duration(view, (double)(interval->end - interval->start))),
        [10] = as_cell_text(as_event_source_id(ds, &event, digits)),
        [11] = id_cell(event.context),
        [12] = has_path && is_whole ? as_cell_text(t->path.data) : as_cell_null()};
    return as_trace_add_row(sink, cells);
}

as_exit as_trace_add_intervals(as_trace_sink *sink, as_trace_view *view) {
    texts t;
    size_t left = view->limit;
    bool fine = true, is_cut = false;
    as_vec_init(&t.path, 1, NULL);
    as_vec_init(&t.steps, sizeof(assay_id), NULL);
    as_text_init(&t.shown_path);
    as_text_init(&t.name);
    for (size_t i = 0; i < view->n_lines && fine && !is_cut; i++) {
        const as_timeline_row *row = &view->timeline.rows[i];
        size_t first, end;
        as_row_intervals(&view->timeline, row, view->window.from, view->window.to, &first, &end);
        for (; first < end && left && fine; first++, left--) {
            as_interval interval = as_row_interval(&view->timeline, row, first);
            fine = add_interval(sink, view, i, &interval, &t);
        }
        is_cut = first < end;
    }
    if (fine && is_cut) as_cli_note(view->cli, "the first %zu intervals; -n 0 shows all", view->limit);
    as_vec_free(&t.path);
    as_vec_free(&t.steps);
    as_text_free(&t.shown_path);
    as_text_free(&t.name);
    return fine ? AS_EXIT_FINE : as_cli_memory(view->cli);
}
