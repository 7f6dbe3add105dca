/* The pictures of `assay trace`: a row for each location, or procedures stacked by their share of time. With colours a
 * run of equal cells has its letter once, without each cell has it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace_view.h"
#include "render/display.h"
#include "render/plot_axis.h"

#define NOTHING AS_ROW_NOTHING

/* Of the 256 that terminals have: apart from each other, also for the colour-blind. */
static const struct colour {
    unsigned char number;
    bool is_light;
} palette[] = {{32, false}, {208, true}, {35, false}, {220, true}, {97, false}, {167, false},
               {80, true},  {30, false}, {149, true}, {218, true}, {66, false}, {180, true}};

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static char letter_of(const as_trace_view *view, uint32_t procedure) {
    return procedure == NOTHING ? ' ' : view->letters[procedure];
}

/* A run of n cells of one procedure. */
static void print_run(const as_trace_view *view, uint32_t procedure, size_t n) {
    as_output *out = view->cli->out;
    char letter = letter_of(view, procedure);
    bool has_colour = view->cli->style.colour && procedure != NOTHING;
    unsigned colour = has_colour ? view->colours[procedure] : 0;
    if (colour) {
        const struct colour *c = &palette[(colour - 1) % (sizeof palette / sizeof *palette)];
        as_output_printf(out, "\033[48;5;%u;38;5;%um", c->number, c->is_light ? 16u : 231u);
        as_output_char(out, letter);
        as_display_pad(out, n - 1);
        as_output_text(out, AS_PLAIN);
        return;
    }
    if (has_colour) as_output_text(out, AS_DIM);
    for (size_t i = 0; i < n; i++) as_output_char(out, letter);
    if (has_colour) as_output_text(out, AS_PLAIN);
}

void as_trace_print_letter(const as_trace_view *view, uint32_t procedure) { print_run(view, procedure, 1); }

static bool looks_same(const as_trace_view *view, uint32_t a, uint32_t b) {
    return letter_of(view, a) == letter_of(view, b);
}

/* Blanks at the end are left out, as in any text. */
static void print_cells(const as_trace_view *view, const uint32_t *cells, size_t n) {
    while (n && cells[n - 1] == NOTHING) n--;
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        while (end < n && looks_same(view, cells[i], cells[end])) end++;
        print_run(view, cells[i], end - i);
        i = end;
    }
    as_output_char(view->cli->out, '\n');
}

/* ---- the axis ---------------------------------------------------------------------------------------------------- */

static void draw_axis_line(const as_trace_view *view, size_t indent, const size_t *at, size_t n) {
    as_output *out = view->cli->out;
    as_output_text(out, as_sgr(view->cli->style.colour, AS_DIM));
    as_display_pad(out, indent);
    as_output_text(out, view->is_ascii ? "+" : "└");
    for (size_t column = 0, tick = 0; column < view->n_columns; column++) {
        bool is_tick = tick < n && at[tick] == column;
        tick += is_tick;
        is_tick &= column > 0; /* the corner is one */
        as_output_text(out, is_tick ? (view->is_ascii ? "+" : "┴") : view->is_ascii ? "-" : "─");
    }
    as_output_char(out, '\n');
}

/* Time below the picture, in the unit that fits it; the unit stands at the left. */
static void draw_axis(const as_trace_view *view, size_t indent) {
    as_output *out = view->cli->out;
    as_quantity q = as_quantity_of("s", view->to, false);
    as_axis axis = {.scale = AS_SCALE_LINEAR, .tight = true, .low = view->from * q.factor, .high = view->to * q.factor};
    as_ticks ticks = {.n = 0};
    size_t at[AS_MAX_TICKS], n = 0;
    unsigned wanted = (unsigned)(view->n_columns / 12);
    if (view->to > view->from) as_axis_ticks(&axis, wanted < 2 ? 2 : wanted > 16 ? 16 : wanted, &ticks);
    for (size_t i = 0; i < ticks.n; i++) {
        double position = as_axis_position(&axis, ticks.at[i].value) * (double)view->n_columns;
        size_t column = position < 0 ? 0 : (size_t)position;
        if (column >= view->n_columns) column = view->n_columns - 1;
        if (n && column <= at[n - 1]) continue;
        at[n] = column;
        ticks.at[n++] = ticks.at[i];
    }
    draw_axis_line(view, indent, at, n);
    char unit[32];
    int size = snprintf(unit, sizeof unit, "[%s]", as_unit_shown(&q, view->is_ascii));
    as_display_pad(out, indent > (size_t)size ? indent - (size_t)size : 0);
    as_output_text(out, unit);
    size_t used = indent > (size_t)size ? indent : (size_t)size;
    for (size_t i = 0; i < n; i++) {
        size_t width = strlen(ticks.at[i].label), begin = indent + 1 + at[i];
        begin = begin > width / 2 ? begin - width / 2 : 0;
        if (begin + width > indent + 1 + view->n_columns) begin = indent + 1 + view->n_columns - width;
        if (begin <= used) begin = used + 1;
        if (begin + width > indent + 1 + view->n_columns || begin > indent + 1 + at[i]) continue;
        as_display_pad(out, begin - used);
        as_output_text(out, ticks.at[i].label);
        used = begin + width;
    }
    as_output_printf(out, "%s\n", as_sgr(view->cli->style.colour, AS_PLAIN));
}

/* ---- a row for each location ------------------------------------------------------------------------------------- */

/* What most of these lines show in a column; of equally many the one with the larger share. */
static uint32_t most_frequent(const as_trace_view *view, size_t first, size_t end, size_t column, uint32_t *counts) {
    uint32_t best = NOTHING;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = first; i < end; i++) {
            assay_id context = view->cells[i * view->n_columns + column];
            if (context == AS_TRACE_NOTHING) continue;
            uint32_t procedure = as_procedure_of(&view->frames, context);
            if (pass == 0)
                counts[procedure]++;
            else if (best == NOTHING || counts[procedure] > counts[best])
                best = procedure;
        }
    }
    for (size_t i = first; i < end; i++) {
        assay_id context = view->cells[i * view->n_columns + column];
        if (context != AS_TRACE_NOTHING) counts[as_procedure_of(&view->frames, context)] = 0;
    }
    return best;
}

void as_trace_fill_row(const as_trace_view *view, size_t row, uint32_t *counts, uint32_t *cells) {
    size_t first = view->n_lines * row / view->n_rows, end = view->n_lines * (row + 1) / view->n_rows;
    for (size_t column = 0; column < view->n_columns; column++)
        cells[column] = most_frequent(view, first, end, column, counts);
}

static void print_label(const as_trace_view *view, size_t first, size_t end, size_t width) {
    as_output *out = view->cli->out;
    const char *label = view->n_rows == view->n_lines ? as_trace_listed(view, first) : view->labels[first];
    char more[32] = "";
    if (end - first > 1) snprintf(more, sizeof more, " +%zu", end - first - 1);
    size_t behind = strlen(more), room = width > behind ? width - behind : 1;
    size_t used = as_display_write(out, label, strlen(label), room);
    as_output_printf(out, "%s%s%s", as_sgr(view->cli->style.colour, AS_DIM), more,
                     as_sgr(view->cli->style.colour, AS_PLAIN));
    as_display_pad(out, width > used + behind ? width - used - behind : 0);
    as_output_printf(out, "%s%s%s", as_sgr(view->cli->style.colour, AS_DIM), view->is_ascii ? "|" : "│",
                     as_sgr(view->cli->style.colour, AS_PLAIN));
}

bool as_trace_draw_lines(as_trace_view *view) {
    size_t n_rows = view->n_rows;
    uint32_t *counts = calloc(view->frames.n_procedures + 1, sizeof *counts);
    uint32_t *cells = malloc((view->n_columns + 1) * sizeof *cells);
    size_t width = view->label_width;
    const char *lines = view->has_intervals ? "lines" : "locations";
    for (size_t row = 0; row < n_rows && counts && cells; row++) {
        size_t first = view->n_lines * row / n_rows, end = view->n_lines * (row + 1) / n_rows;
        as_trace_fill_row(view, row, counts, cells);
        print_label(view, first, end, width);
        print_cells(view, cells, view->n_columns);
    }
    bool fine = counts && cells;
    if (fine) draw_axis(view, width);
    free(counts);
    free(cells);
    if (n_rows < view->n_lines)
        as_cli_note(view->cli, "%zu %s on %zu rows: each shows what most of its %s do; --rows 0 shows all",
                    view->n_lines, lines, n_rows, lines);
    return fine;
}

/* ---- stacked ----------------------------------------------------------------------------------------------------- */

/* What stands at a height (0 … 1 of what all locations could have had) of a bin: idle time on top of the others, and
 * above it nothing. */
static uint32_t stacked_at(const as_trace_view *view, size_t bin, double height) {
    const as_trace_times *times = &view->times;
    double whole = ((double)(view->window.to - view->window.from)) / (double)times->n_bins * (double)view->n_lines;
    double level = 0;
    uint32_t idle = NOTHING;
    if (whole <= 0) return NOTHING;
    for (size_t i = 0; i < times->all.n_procedures; i++) {
        uint32_t procedure = times->all.procedures[i].procedure;
        double part = times->bins[i * times->n_bins + bin] / whole;
        if (procedure == AS_PROCEDURE_IDLE) {
            idle = procedure;
            continue;
        }
        level += part;
        if (height < level) return procedure;
    }
    return height < times->bin_ticks[bin] / whole ? idle : NOTHING;
}

bool as_trace_draw_summary(as_trace_view *view) {
    size_t n_rows = view->n_rows;
    as_output *out = view->cli->out;
    uint32_t *cells = malloc((view->n_columns + 1) * sizeof *cells);
    for (size_t row = 0; row < n_rows && cells; row++) {
        double height = 1 - ((double)row + 0.5) / (double)n_rows;
        for (size_t column = 0; column < view->n_columns; column++)
            cells[column] = stacked_at(view, column * view->n_bins / view->n_columns, height);
        const char *label = row == 0 ? "100 %" : row == n_rows / 2 ? " 50 %" : "";
        as_output_printf(out, "%s%*s%s%s", as_sgr(view->cli->style.colour, AS_DIM), (int)view->label_width, label,
                         view->is_ascii ? "|" : "│", as_sgr(view->cli->style.colour, AS_PLAIN));
        print_cells(view, cells, view->n_columns);
    }
    if (cells) draw_axis(view, view->label_width);
    free(cells);
    return cells != NULL;
}
