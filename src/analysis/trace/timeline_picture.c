/* Pictures of intervals: what takes most of each column's time. The middle of a column would do for samples, which are
 * taken at any time; intervals come in cycles, and would beat with the columns. */
#include <stdlib.h>

#include "analysis/trace/timeline_private.h"
#include "core/parallel.h"

/* At a glance about so many changes are looked at in all, and of a column so many at least and at most: of more, some
 * stretches, a block each. */
enum { LOOKED_AT = 1 << 22, FEWEST = 2 * AS_BLOCK_CHANGES, MOST = 32 * AS_BLOCK_CHANGES };

typedef struct drawing {
    const as_timeline *timeline;
    const as_trace_window *window;
    const as_frames *frames;
    size_t n_columns;
    const uint64_t *ends; /* where columns begin, and where the last one ends */
    assay_id *cells;
    size_t n_pieces;
    bool *failed; /* for each piece */
    size_t dense; /* columns with more changes are not looked at as a whole */
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

/* The longest, of equally long ones the first; AS_TRACE_NOTHING where there is none. Inactivity counts against all the
 * rest together: a GPU that runs many short kernels is busy. Empties the column. */
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

/* What is shown from a change to the next one has of from … to. */
static void add_change(const drawing *d, const as_trace_sample *change, uint64_t from, uint64_t to, column *c) {
    uint64_t begin = change->time > from ? change->time : from;
    uint64_t until = change[1].time < to ? change[1].time : to;
    add_time(c, as_procedure_of(d->frames, change->context), until > begin ? until - begin : 0);
}

/* Stretches of changes first … end - 1, spread over them: some at the beginning, then whole blocks. */
static void add_stretches(const drawing *d, as_changes *changes, size_t first, size_t end, uint64_t from, uint64_t to,
                          column *c) {
    size_t n = d->dense / AS_BLOCK_CHANGES;
    for (size_t k = 0; k < n; k++) {
        size_t at = first + (end - first) / n * k;
        if (k) at -= at % AS_BLOCK_CHANGES;
        size_t until = at - at % AS_BLOCK_CHANGES + AS_BLOCK_CHANGES;
        for (; at < until && at < end; at++) add_change(d, as_change_at(changes, at), from, to, c);
    }
}

/* What is shown from each change to the next lasts until then; the last change only ends the row. Moments count where
 * there is nothing else. */
static void draw_row(const drawing *d, const as_timeline_row *row, assay_id *cells, column *c) {
    as_changes changes;
    as_changes_of(&changes, row);
    const as_change_block *blocks = row->blocks.data;
    size_t at = as_change_before(&changes, d->window->from), n = row->n_changes;
    for (size_t i = 0; i < d->n_columns; i++) {
        uint64_t from = d->ends[i], to = d->ends[i + 1];
        bool has_end = from == to || i + 1 == d->n_columns; /* to belongs to the column */
        for (; at + 1 < n; at++) {
            const as_trace_sample *change = as_change_at(&changes, at);
            if (change[1].time > from || (change[1].time == from && change->time >= from)) break;
        }
        bool is_dense = n - at > d->dense && blocks[(at + d->dense) / AS_BLOCK_CHANGES].time < to;
        if (is_dense) {
            size_t end = as_change_before(&changes, to);
            add_stretches(d, &changes, at, end, from, to, c);
            at = end;
        }
        for (size_t k = at; !is_dense && k + 1 < n; k++) {
            const as_trace_sample *change = as_change_at(&changes, k);
            if (change->time > to || (change->time == to && !has_end)) break;
            add_change(d, change, from, to, c);
            if (from < to) at = k; /* the next column begins here or behind it */
        }
        cells[i] = take_longest(c, d->frames);
    }
}

/* Rows are drawn in pieces, each with one column to count in: that has room for all procedures, of which there may be
 * as many as rows. */
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
                 assay_id *cells, size_t dense) {
    enum { MOST_PIECES = 64 };
    bool failed[MOST_PIECES] = {false}, fine = true;
    uint64_t *ends = malloc((n_columns + 1) * sizeof *ends);
    if (!ends) return false;
    for (size_t i = 0; i <= n_columns; i++) ends[i] = time_at(window, i, n_columns ? n_columns : 1);
    drawing d = {.timeline = timeline,
                 .window = window,
                 .frames = frames,
                 .n_columns = n_columns,
                 .ends = ends,
                 .cells = cells,
                 .n_pieces = timeline->n_rows < MOST_PIECES ? timeline->n_rows : MOST_PIECES,
                 .failed = failed,
                 .dense = dense};
    as_parallel(d.n_pieces, 0, do_piece, &d);
    for (size_t i = 0; i < d.n_pieces; i++) fine &= !failed[i];
    free(ends);
    return fine;
}

bool as_timeline_picture(const as_timeline *timeline, const as_trace_window *window, const as_frames *frames,
                         size_t n_columns, assay_id *cells) {
    return draw(timeline, window, frames, n_columns, cells, SIZE_MAX);
}

bool as_timeline_glance(const as_timeline *timeline, const as_trace_window *window, const as_frames *frames,
                        size_t n_columns, assay_id *cells) {
    size_t dense = LOOKED_AT / (timeline->n_rows + 1) / (n_columns + 1);
    dense = dense < FEWEST ? FEWEST : dense > MOST ? MOST : dense - dense % AS_BLOCK_CHANGES;
    return draw(timeline, window, frames, n_columns, cells, dense);
}

/* ---- moments ----------------------------------------------------------------------------------------------------- */

static void do_moments(void *user, size_t i) {
    const drawing *d = user;
    const as_timeline_row *row = &d->timeline->rows[i];
    as_changes changes;
    as_changes_of(&changes, row);
    uint64_t first = as_change_at(&changes, 0)->time, last = as_change_at(&changes, row->n_changes - 1)->time;
    size_t at = 0;
    for (size_t k = 0; k < d->n_columns; k++) {
        uint64_t time = d->ends[k];
        assay_id *cell = &d->cells[i * d->n_columns + k];
        *cell = AS_TRACE_NOTHING;
        if (time < first || time > last) continue;
        /* Of several changes at that very time the last */
        at = time < UINT64_MAX ? as_change_from(&changes, at, time + 1) : row->n_changes;
        at -= at > 0;
        *cell = as_change_at(&changes, at)->context;
    }
}

bool as_timeline_moments(const as_timeline *timeline, const as_trace_window *window, size_t n_columns,
                         assay_id *cells) {
    uint64_t *middles = malloc((n_columns + 1) * sizeof *middles);
    drawing d = {.timeline = timeline, .window = window, .n_columns = n_columns, .ends = middles, .cells = cells};
    for (size_t i = 0; middles && i < n_columns; i++) middles[i] = time_at(window, 2 * i + 1, 2 * n_columns);
    if (middles) as_parallel(timeline->n_rows, 0, do_moments, &d);
    free(middles);
    return middles != NULL;
}
