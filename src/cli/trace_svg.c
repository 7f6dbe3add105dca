/* `assay trace -o FILE.svg`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace_view.h"
#include "render/timeline_svg.h"

/* What the picture is made of; all texts live in the view's arena. */
typedef struct parts {
    uint32_t *cells;
    const char **labels, **names;
    unsigned char *colours;
    as_timeline_key *keys;
    size_t n_keys;
} parts;

static const char *keep(as_trace_view *view, const as_text *text) {
    return text->failed ? NULL : as_arena_copy(&view->texts, as_text_data(text), as_text_size(text));
}

static bool fill_cells(const as_trace_view *view, parts *p) {
    uint32_t *counts = calloc(view->frames.n_procedures + 1, sizeof *counts);
    for (size_t row = 0; counts && row < view->n_rows; row++)
        as_trace_fill_row(view, row, counts, p->cells + row * view->n_columns);
    free(counts);
    return counts != NULL;
}

/* "thread 0 +3": the first of the lines, and how many more there are. */
static bool make_labels(as_trace_view *view, parts *p) {
    as_text label;
    as_text_init(&label);
    bool fine = true;
    for (size_t row = 0; fine && row < view->n_rows; row++) {
        size_t first = view->n_lines * row / view->n_rows, end = view->n_lines * (row + 1) / view->n_rows;
        char more[32] = "";
        if (end - first > 1) snprintf(more, sizeof more, " +%zu", end - first - 1);
        as_text_clear(&label);
        as_text_add(&label, view->n_rows == view->n_lines ? as_trace_listed(view, first) : view->labels[first]);
        as_text_add(&label, more);
        fine = (p->labels[row] = keep(view, &label)) != NULL;
    }
    as_text_free(&label);
    return fine;
}

static bool name_procedures(as_trace_view *view, parts *p) {
    static const unsigned char signs[] = {[AS_PROCEDURE_IDLE] = AS_TIMELINE_IDLE,
                                          [AS_PROCEDURE_UNKNOWN] = AS_TIMELINE_UNKNOWN,
                                          [AS_PROCEDURE_PAUSED] = AS_TIMELINE_PAUSED};
    as_text name;
    as_text_init(&name);
    bool fine = true;
    for (uint32_t i = 0; fine && i < view->frames.n_procedures; i++) {
        as_text_clear(&name);
        as_trace_put_name(view, i, &name);
        fine = (p->names[i] = keep(view, &name)) != NULL;
        p->colours[i] = i < sizeof signs ? signs[i] : view->colours[i];
    }
    as_text_free(&name);
    return fine;
}

/* Share and time, one below the other in columns. */
static bool list_procedures(as_trace_view *view, parts *p) {
    const as_line_times *all = &view->times.all;
    size_t n = all->n_procedures < view->limit ? all->n_procedures : view->limit;
    double largest = 0, rest = 0;
    for (size_t i = 0; i < all->n_procedures; i++) {
        largest = fmax(largest, as_trace_duration(view, all->procedures[i].ticks));
        if (i >= n) rest += as_trace_share(view, &all->procedures[view->order[i]]);
    }
    as_quantity time = as_quantity_of("s", largest, false);
    char facts[3 * AS_QUANTITY_SIZE], percent[AS_QUANTITY_SIZE], amount[AS_QUANTITY_SIZE];
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        const as_procedure_time *procedure = &all->procedures[view->order[i]];
        as_percent_format(as_trace_share(view, procedure), percent);
        as_quantity_format(&time, (as_number){.kind = AS_REAL, .r = as_trace_duration(view, procedure->ticks)}, amount);
        snprintf(facts, sizeof facts, "%5s %% %10s %s", percent, amount, as_unit_shown(&time, false));
        p->keys[p->n_keys++] = (as_timeline_key){procedure->procedure, p->colours[procedure->procedure],
                                                 as_arena_copy(&view->texts, facts, strlen(facts))};
        fine = p->keys[p->n_keys - 1].facts != NULL;
    }
    if (fine && n < all->n_procedures) {
        as_percent_format(rest, percent);
        snprintf(facts, sizeof facts, "%5s %% in %zu more; -n 0 lists all", percent, all->n_procedures - n);
        p->keys[p->n_keys++] = (as_timeline_key){AS_TIMELINE_NOTHING, AS_TIMELINE_OTHER,
                                                 as_arena_copy(&view->texts, facts, strlen(facts))};
        fine = p->keys[p->n_keys - 1].facts != NULL;
    }
    return fine;
}

static bool write_picture(as_trace_view *view, const parts *p) {
    char note[160] = "";
    const char *lines = view->has_intervals ? "lines" : "locations";
    as_output *what = as_output_to_memory();
    if (what) as_trace_describe(view, what);
    const char *subtitle = what ? as_output_memory(what, &(size_t){0}) : NULL;
    if (view->n_rows < view->n_lines)
        snprintf(note, sizeof note, "%zu %s on %zu rows: each shows what most of its %s do; --rows 0 shows all",
                 view->n_lines, lines, view->n_rows, lines);
    as_timeline_svg picture = {.title = view->path,
                               .subtitle = subtitle,
                               .from = view->from,
                               .to = view->to,
                               .n_rows = view->n_rows,
                               .n_columns = view->n_columns,
                               .labels = p->labels,
                               .cells = p->cells,
                               .names = p->names,
                               .colours = p->colours,
                               .keys = p->keys,
                               .n_keys = p->n_keys,
                               .note = *note ? note : NULL};
    bool fine = subtitle && as_timeline_svg_write(view->cli->out, &picture);
    as_output_discard(what);
    return fine;
}

bool as_trace_svg(as_trace_view *view) {
    size_t n_procedures = view->frames.n_procedures, n_cells;
    if (!as_mul_size(view->n_rows, view->n_columns, &n_cells)) return false;
    parts p = {.cells = calloc(n_cells + 1, sizeof *p.cells),
               .labels = calloc(view->n_rows + 1, sizeof *p.labels),
               .names = calloc(n_procedures + 1, sizeof *p.names),
               .colours = calloc(n_procedures + 1, 1),
               .keys = calloc(view->times.all.n_procedures + 1, sizeof *p.keys)};
    bool fine = p.cells && p.labels && p.names && p.colours && p.keys && fill_cells(view, &p) &&
                make_labels(view, &p) && name_procedures(view, &p) && list_procedures(view, &p) &&
                write_picture(view, &p);
    free(p.cells);
    free(p.labels);
    free(p.names);
    free(p.colours);
    free(p.keys);
    return fine;
}
