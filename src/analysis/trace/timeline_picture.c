/* Pictures of intervals: what takes most of each column's time. The middle of a column would do for samples, which are taken at any time; intervals come in cycles, and would beat with the columns. */
#include <stdlib.h>

#include "analysis/trace/timeline_private.h"
#include "core/parallel.h"

/* At a glance, of a column with more than DENSE changes only some stretches are looked at. */
enum { DENSE = 2048, STRETCHES = 8, STRETCH = DENSE / STRETCHES };

typedef struct drawing {
    const as_timeline *timeline;
    const as_trace_window *window;
    const as_frames *frames;
    size_t n_columns;
    assay_id *cells;
    size_t n_pieces;
    bool *failed; /* for each piece */
    bool is_glance;
} drawing;

/* What a column has of each procedure so far. */
typedef struct column {
    uint64_t *ticks;      /* for each procedure */
    uint32_t *procedures; /* those that it has, in the order they come */
    bool *is_listed;      /* for each procedure */
    size_t n;
} column;

static uint64_t time_at(const as_trace_window *window, size_t part, size_t n_parts) {
    as_whole span = (as_whole)window->to - (as_whole)window->from;
    return (uint64_t)((as_whole)window->from + span * (as_whole)part / (as_whole)n_parts);
}

static assay_id context_of(const as_frames *frames, uint32_t procedure) {
    return procedure == AS_PROCEDURE_IDLE     ? AS_TRACE_IDLE
           : procedure == AS_PROCEDURE_PAUSED ? AS_TRACE_PAUSED
                                              : frames->procedures[procedure].context;
}

/* The longest, of equally long ones the first; AS_TRACE_NOTHING where there is none. Inactivity counts against all the rest together: a GPU that runs many short kernels is busy. Empties the
 * column. */
static assay_id take_longest(column *c, const as_frames *frames) {
    uint32_t longest = AS_NO_PROCEDURE;
    uint64_t active = 0;
    for (size_t i = 0; i < c->n; i++) {
        uint32_t procedure = c->procedures[i];
        if (procedure == AS_PROCEDURE_IDLE) continue;
        active += c->ticks[procedure];
        if (longest == AS_NO_PROCEDURE || c->ticks[procedure] > c->ticks[longest]) longest = procedure;
    }
    uint64_t idle = c->is_listed[AS_PROCEDURE_IDLE] ? c->ticks[AS_PROCEDURE_IDLE] : 0;
    if (idle > active || (c->n && idle == active && c->procedures[0] == AS_PROCEDURE_IDLE)) longest = AS_PROCEDURE_IDLE;
    for (size_t i = 0; i < c->n; i++) {
        c->ticks[c->procedures[i]] = 0;
        c->is_listed[c->procedures[i]] = false;
    }
    c->n = 0;
    return longest == AS_NO_PROCEDURE ? AS_TRACE_NOTHING : context_of(frames, longest);
}

static void add_time(column *c, uint32_t procedure, uint64_t ticks) {
    if (procedure == AS_NO_PROCEDURE) return;
    if (!c->is_listed[procedure]) {
        c->is_listed[procedure] = true;
        c->procedures[c->n++] = procedure;
    }
    c->ticks[procedure] += ticks;
}

/* What changes first … end - 1 have of from … to. */
static void add_changes(const drawing *d, const as_trace_sample *changes, size_t first, size_t end, uint64_t from,
                        uint64_t to, column *c) {
    for (size_t k = first; k < end; k++) {
        uint64_t begin = changes[k].time > from ? changes[k].time : from;
        uint64_t until = changes[k + 1].time < to ? changes[k + 1].time : to;
        add_time(c, as_procedure_of(d->frames, changes[k].context), until > begin ? until - begin : 0);
    }
}

/* What is shown from each change to the next lasts until then; the last change only ends the row. Moments count where there is nothing else. */
static void draw_row(const drawing *d, const as_timeline_row *row, assay_id *cells, column *c) {
    const as_trace_sample *changes = row->changes;
    size_t at = as_row_change_at(row, d->window->from), n = row->n_changes;
    for (size_t i = 0; i < d->n_columns; i++) {
        uint64_t from = time_at(d->window, i, d->n_columns), to = time_at(d->window, i + 1, d->n_columns);
        bool has_end = from == to || i + 1 == d->n_columns; /* to belongs to the column */
        while (at + 1 < n && (changes[at + 1].time < from || (changes[at + 1].time == from && changes[at].time < from)))
            at++;
        if (d->is_glance && n - at > DENSE && changes[at + DENSE].time < to) {
            size_t end = as_row_change_at(row, to);
            for (size_t k = 0; k < STRETCHES; k++) {
                size_t first = at + (end - STRETCH - at) / (STRETCHES - 1) * k;
                add_changes(d, changes, first, first + STRETCH, from, to, c);
            }
            at = end;
        } else {
            size_t end = at;
            while (end + 1 < n && (changes[end].time < to || (has_end && changes[end].time == to))) end++;
            add_changes(d, changes, at, end, from, to, c);
        }
        cells[i] = take_longest(c, d->frames);
    }
}

/* Rows are drawn in pieces, each with one column to count in: that has room for all procedures, of which there may be as many as rows. */
static void do_piece(void *user, size_t piece) {
    drawing *d = user;
    size_t n = d->frames->n_procedures + 1, n_rows = d->timeline->n_rows;
    column c = {calloc(n, sizeof *c.ticks), malloc(n * sizeof *c.procedures), calloc(n, sizeof *c.is_listed), 0};
    d->failed[piece] = !c.ticks || !c.procedures || !c.is_listed;
    for (size_t i = n_rows * piece / d->n_pieces, end = n_rows * (piece + 1) / d->n_pieces;
         !d->failed[piece] && i < end; i++)
        draw_row(d, &d->timeline->rows[i], d->cells + i * d->n_columns, &c);
    free(c.ticks);
    free(c.procedures);
    free(c.is_listed);
}

static bool draw(const as_timeline *timeline, const as_trace_window *window, const as_frames *frames, size_t n_columns,
                 assay_id *cells, bool is_glance) {
    enum { MOST_PIECES = 64 };
    bool failed[MOST_PIECES] = {false}, fine = true;
    drawing d = {timeline,  window,   frames,
                 n_columns, cells,    timeline->n_rows < MOST_PIECES ? timeline->n_rows : MOST_PIECES,
                 failed,    is_glance};
    as_parallel(d.n_pieces, 0, do_piece, &d);
    for (size_t i = 0; i < d.n_pieces; i++) fine &= !failed[i];
    return fine;
}

bool as_timeline_picture(const as_timeline *timeline, const as_trace_window *window, const as_frames *frames,
                         size_t n_columns, assay_id *cells) {
    return draw(timeline, window, frames, n_columns, cells, false);
}

bool as_timeline_glance(const as_timeline *timeline, const as_trace_window *window, const as_frames *frames,
                        size_t n_columns, assay_id *cells) {
    return draw(timeline, window, frames, n_columns, cells, true);
}
