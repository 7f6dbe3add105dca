/* Pictures of trace lines: the sample of each column, found by binary search. */
#include <math.h>
#include <stdlib.h>

#include "analysis/trace/trace.h"
#include "core/parallel.h"

/* ---- the window -------------------------------------------------------------------------------------------------- */

assay_status as_trace_span(const as_dataset *ds, as_trace_window *window, bool is_glance, bool *has_any,
                           assay_error *error) {
    *has_any = false;
    window->from = window->to = ds->traces.start;
    for (size_t i = 0; i < window->n_lines; i++) {
        const as_trace_line *line = window->lines[i];
        as_trace_sample ends[2];
        if (line->n == 0) continue;
        for (int e = 0; e < 2; e++) {
            uint64_t number = e ? line->n - 1 : 0;
            AS_TRY((is_glance ? as_trace_glance : as_trace_read)(ds, line, number, 1, &ends[e], error));
        }
        if (ends[1].time < ends[0].time) { /* it goes back: have it sorted */
            AS_TRY(as_trace_read(ds, line, 0, 1, &ends[0], error));
            AS_TRY(as_trace_read(ds, line, line->n - 1, 1, &ends[1], error));
        }
        if (!*has_any || ends[0].time < window->from) window->from = ends[0].time;
        if (!*has_any || ends[1].time > window->to) window->to = ends[1].time;
        *has_any = true;
    }
    return ASSAY_OK;
}

bool as_trace_quick_duration(const as_dataset *ds, double *seconds) {
    enum { MOST_LINES = 4096 };
    size_t n = as_trace_line_count(&ds->traces);
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < n && n <= MOST_LINES; i++) {
        const as_trace_line *line = as_trace_line_at(&ds->traces, i);
        as_trace_sample ends[2];
        if (line->n == 0) continue;
        for (int e = 0; e < 2; e++) {
            if (as_trace_glance(ds, line, e ? line->n - 1 : 0, 1, &ends[e], NULL) != ASSAY_OK) return false;
            if (ends[e].time < first) first = ends[e].time;
            if (ends[e].time > last) last = ends[e].time;
        }
    }
    if (first > last) return false;
    *seconds = (double)(last - first) / ds->traces.ticks_per_second;
    return true;
}

double as_clock_seconds(const as_trace_clock *clock, uint64_t time) {
    return time >= clock->start ? (double)(time - clock->start) / clock->ticks_per_second
                                : -((double)(clock->start - time) / clock->ticks_per_second);
}

uint64_t as_clock_stamp(const as_trace_clock *clock, double seconds) {
    double ticks = round(fabs(seconds) * clock->ticks_per_second);
    bool is_before = seconds < 0;
    uint64_t room = is_before ? clock->start : UINT64_MAX - clock->start;
    uint64_t distance = !(ticks < 0x1p64) || (uint64_t)ticks > room ? room : (uint64_t)ticks;
    return is_before ? clock->start - distance : clock->start + distance;
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

/* A line being searched, by ascending times. */
typedef struct search {
    const as_dataset *ds;
    const as_trace_line *line;
    as_trace_sample first, last;
    uint64_t low;      /* all samples before it are earlier than any time still asked for */
    uint64_t low_time; /* of the sample before low; 0: none */
    bool goes_back;
} search;

static assay_status look(search *s, uint64_t number, as_trace_sample *out, assay_error *error) {
    return as_trace_glance(s->ds, s->line, number, 1, out, error);
}

static assay_status begin_search(search *s, const as_dataset *ds, const as_trace_line *line, assay_error *error) {
    *s = (search){.ds = ds, .line = line};
    AS_TRY(look(s, 0, &s->first, error));
    AS_TRY(look(s, line->n - 1, &s->last, error));
    s->goes_back = s->last.time < s->first.time;
    return ASSAY_OK;
}

/* The number of the first sample at or after time, or line->n. */
static assay_status find_from(search *s, uint64_t time, uint64_t *number, assay_error *error) {
    uint64_t low = s->low, high = s->line->n, high_time = s->last.time;
    /* The answer is often near: look at twice the distance each time before halving it. */
    for (uint64_t step = 1; low < high && high - low > step; step *= 2) {
        as_trace_sample sample;
        AS_TRY(look(s, low + step - 1, &sample, error));
        s->goes_back |= sample.time < s->low_time || sample.time > high_time;
        if (sample.time >= time) {
            high = low + step - 1;
            high_time = sample.time;
            break;
        }
        low += step;
        s->low_time = sample.time;
    }
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        as_trace_sample sample;
        AS_TRY(look(s, middle, &sample, error));
        s->goes_back |= sample.time < s->low_time || sample.time > high_time;
        if (sample.time < time) {
            low = middle + 1;
            s->low_time = sample.time;
        } else {
            high = middle;
            high_time = sample.time;
        }
    }
    *number = s->low = low;
    return ASSAY_OK;
}

/* The sample that owns a time between the first and the last. Of several at that very time it is the last, of several
 * at the next one the first. */
static assay_status find_owner(search *s, uint64_t time, as_trace_rule rule, as_trace_sample *owner,
                               assay_error *error) {
    uint64_t next = s->line->n;
    as_trace_sample after;
    if (time < UINT64_MAX) AS_TRY(find_from(s, time + 1, &next, error));
    AS_TRY(look(s, next ? next - 1 : 0, owner, error));
    if (next == s->line->n || owner->time >= time || rule == AS_TRACE_BEFORE) return ASSAY_OK;
    AS_TRY(look(s, next, &after, error));
    if (after.time - time <= time - owner->time) *owner = after;
    return ASSAY_OK;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

typedef struct picture {
    const as_dataset *ds;
    const as_trace_window *window;
    size_t n_columns;
    assay_id *cells;
    pthread_mutex_t lock;
    assay_status status;
    assay_error error;
    size_t failed_line; /* the first: which thread comes first must not matter */
} picture;

/* The time stamp at so many parts of the window. */
static uint64_t time_at(const as_trace_window *window, size_t part, size_t n_parts) {
    as_whole span = (as_whole)window->to - (as_whole)window->from;
    return (uint64_t)((as_whole)window->from + span * (as_whole)part / (as_whole)n_parts);
}

/* The cell of a column whose middle the line does not cover: what of its ends lies inside. */
static assay_id end_cell(const picture *p, const search *s, size_t column) {
    uint64_t from = time_at(p->window, column, p->n_columns), to = time_at(p->window, column + 1, p->n_columns);
    bool is_last = column + 1 == p->n_columns;
    if (s->first.time >= from && (s->first.time < to || (is_last && s->first.time == to))) return s->first.context;
    if (s->last.time > from && (s->last.time < to || (is_last && s->last.time == to))) return s->last.context;
    return AS_TRACE_NOTHING;
}

static assay_status draw_columns(const picture *p, size_t line, search *s, assay_id *cells, assay_error *error) {
    for (size_t column = 0; column < p->n_columns && !s->goes_back; column++) {
        uint64_t time = time_at(p->window, 2 * column + 1, 2 * p->n_columns);
        if (time < s->first.time || time > s->last.time) {
            cells[column] = end_cell(p, s, column);
            continue;
        }
        as_trace_sample owner;
        AS_TRY(find_owner(s, time, as_trace_rule_of(p->window, line), &owner, error));
        cells[column] = owner.context;
    }
    return ASSAY_OK;
}

static assay_status draw_line(const picture *p, size_t i, assay_error *error) {
    const as_trace_line *line = p->window->lines[i];
    assay_id *cells = p->cells + i * p->n_columns;
    search s;
    if (line->n == 0) {
        for (size_t column = 0; column < p->n_columns; column++) cells[column] = AS_TRACE_NOTHING;
        return ASSAY_OK;
    }
    AS_TRY(begin_search(&s, p->ds, line, error));
    AS_TRY(draw_columns(p, i, &s, cells, error));
    if (!s.goes_back) return ASSAY_OK;
    as_trace_sample first;
    AS_TRY(as_trace_read(p->ds, line, 0, 1, &first, error)); /* sorts it */
    AS_TRY(begin_search(&s, p->ds, line, error));
    return draw_columns(p, i, &s, cells, error);
}

static void draw_one(void *user, size_t i) {
    picture *p = user;
    assay_error error;
    assay_status status = draw_line(p, i, &error);
    if (status == ASSAY_OK) return;
    pthread_mutex_lock(&p->lock);
    if (p->status == ASSAY_OK || i < p->failed_line) {
        p->status = status;
        p->error = error;
        p->failed_line = i;
    }
    pthread_mutex_unlock(&p->lock);
}

assay_status as_trace_picture(const as_dataset *ds, const as_trace_window *window, size_t n_columns, assay_id *cells,
                              assay_error *error) {
    picture p = {.ds = ds, .window = window, .n_columns = n_columns, .cells = cells, .lock = PTHREAD_MUTEX_INITIALIZER};
    as_parallel(window->n_lines, 0, draw_one, &p);
    if (p.status != ASSAY_OK && error) *error = p.error;
    return p.status;
}
