/* Rows of intervals: lanes for those that overlap, and the moments at which a row changes. */
#include <stdlib.h>

#include "analysis/trace/timeline_private.h"

enum { MOST_LANES = 64 };

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* By start; of those that start together the longest, which holds the others, comes first. */
static int compare_intervals(const void *a, const void *b) {
    const as_interval *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Those that are not in order are put so. False when memory is out. */
static bool sort_events(const as_timeline *timeline, uint32_t *events, size_t n) {
    as_interval before, at;
    size_t i = 0;
    for (; i < n; i++, before = at) {
        at = as_interval_of(timeline, events[i]);
        if (i && compare_intervals(&before, &at) > 0) break;
    }
    if (i == n) return true;
    as_interval *intervals = malloc(n * sizeof *intervals);
    if (!intervals) return false;
    for (i = 0; i < n; i++) intervals[i] = as_interval_of(timeline, events[i]);
    qsort(intervals, n, sizeof *intervals, compare_intervals);
    for (i = 0; i < n; i++) events[i] = intervals[i].event;
    free(intervals);
    return true;
}

as_interval as_row_interval(const as_timeline *timeline, const as_timeline_row *row, size_t number) {
    as_interval interval = as_interval_of(timeline, row->events[number]);
    if (row->track == AS_TRACK_SAMPLES && number + 1 < row->n_intervals) {
        uint64_t gap = as_interval_of(timeline, row->events[number + 1]).start - interval.start;
        interval.end = interval.start + (gap < row->longest ? gap : row->longest);
    }
    return interval;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* Puts down what a row shows from each moment on, with the run's pauses over it. */
typedef struct drawing {
    as_timeline_row *row;
    as_trace_sample last; /* not put down yet */
    assay_id before;      /* the last */
    uint64_t time_before; /* that was put down */
    size_t n;             /* with the last */
    const as_pause_span *pauses;
    size_t n_pauses, pause; /* the next, or the one at hand */
    bool is_paused;
    bool is_nested; /* pauses show where there is no interval, too */
    bool failed;    /* memory is out */
    assay_id shown; /* but for pauses */
} drawing;

static void put_last(drawing *d) {
    if (d->n == 0) return;
    d->failed |= !as_row_add_change(d->row, &d->last, d->time_before);
    d->time_before = d->last.time;
    d->before = d->last.context;
}

static void put(drawing *d, uint64_t time) {
    bool can_pause = d->shown != AS_TRACE_NOTHING || d->is_nested;
    assay_id context = d->is_paused && can_pause ? AS_TRACE_PAUSED : d->shown;
    if (d->n == 0 ? context == AS_TRACE_NOTHING : d->last.context == context) return;
    put_last(d);
    d->last = (as_trace_sample){.time = time, .context = context};
    d->n++;
}

/* Beginnings and ends of pauses up to a time. */
static void put_pauses(drawing *d, uint64_t until) {
    while (d->pause < d->n_pauses) {
        const as_pause_span *span = &d->pauses[d->pause];
        uint64_t at = d->is_paused ? span->end : span->start;
        if (at > until) return;
        if (d->is_paused) d->pause++;
        d->is_paused = !d->is_paused;
        put(d, at);
    }
}

static void show(drawing *d, uint64_t time, assay_id context) {
    put_pauses(d, time);
    d->shown = context;
    put(d, time);
}

/* What is over shows nothing; a line ends with what it showed last. */
static bool finish(drawing *d) {
    put_pauses(d, UINT64_MAX);
    if (d->n > 1 && d->last.context == AS_TRACE_NOTHING) d->last.context = d->before;
    put_last(d);
    as_vec_shrink(&d->row->packed);
    as_vec_shrink(&d->row->blocks);
    return !d->failed;
}

/* Closes intervals that end up to a time; open: as_interval, the innermost last. Where they overlap without nesting,
 * the one that began last is shown to its end. */
static void close_until(drawing *d, as_vec *open, uint64_t until, assay_id between) {
    while (open->count && AS_AT(as_interval, open, open->count - 1).end <= until) {
        uint64_t end = AS_AT(as_interval, open, open->count - 1).end;
        while (open->count && AS_AT(as_interval, open, open->count - 1).end <= end) open->count--;
        show(d, end, open->count ? AS_AT(as_interval, open, open->count - 1).context : between);
    }
}

/* Each interval changes what is shown when it begins and when it ends, each pause too. */
static bool make_changes(as_timeline_row *row, const as_interval_set *set, as_timeline *timeline) {
    drawing d = {.row = row,
                 .pauses = set->pauses,
                 .n_pauses = set->n_pauses,
                 .is_nested = set->track == AS_TRACK_NESTED,
                 .shown = AS_TRACE_NOTHING};
    assay_id between = set->track == AS_TRACK_NESTED ? AS_TRACE_IDLE : AS_TRACE_NOTHING;
    as_vec open;
    as_vec_init(&open, sizeof(as_interval), timeline->budget);
    for (size_t i = 0; i < row->n_intervals && !d.failed; i++) {
        as_interval interval = as_row_interval(timeline, row, i);
        close_until(&d, &open, interval.start, between);
        d.failed |= !as_vec_append(&open, &interval, 1);
        show(&d, interval.start, interval.context);
    }
    if (!d.failed) close_until(&d, &open, UINT64_MAX, AS_TRACE_NOTHING);
    as_vec_free(&open);
    return finish(&d);
}

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

/* Gives each interval the first lane that is free, and sorts them by lanes; those without one go last, unshown. */
static bool find_lanes(const as_timeline *timeline, as_interval_set *set, const as_timeline_row *all,
                       size_t counts[MOST_LANES]) {
    uint64_t ends[MOST_LANES];
    size_t n_lanes = 0, starts[MOST_LANES + 1] = {0};
    unsigned char *lanes = malloc(set->n + 1);
    uint32_t *sorted = malloc((set->n + 1) * sizeof *sorted);
    if (!lanes || !sorted) {
        free(lanes);
        free(sorted);
        return false;
    }
    for (size_t i = 0; i < set->n; i++) {
        as_interval interval = as_row_interval(timeline, all, i);
        size_t lane = 0;
        while (lane < n_lanes && ends[lane] > interval.start) lane++;
        if (lane == n_lanes && n_lanes < MOST_LANES) n_lanes++;
        lanes[i] = (unsigned char)lane;
        if (lane == MOST_LANES) {
            set->n_hidden++;
            continue;
        }
        ends[lane] = interval.end;
        counts[lane]++;
    }
    for (size_t lane = 0; lane < n_lanes; lane++) starts[lane + 1] = starts[lane] + counts[lane];
    starts[MOST_LANES] = set->n - (size_t)set->n_hidden;
    for (size_t i = 0; i < set->n; i++) sorted[starts[lanes[i]]++] = set->events[i];
    memcpy(set->events, sorted, set->n * sizeof *sorted);
    free(lanes);
    free(sorted);
    set->n_rows = n_lanes;
    return true;
}

static int compare_gaps(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Samples are moments: each lasts until the next one. Where that comes late, because nothing ran, it lasts as long as
 * usual: twice the median, into *longest. False when memory is out. */
static bool find_longest(const as_timeline *timeline, const as_interval_set *set, uint64_t *longest) {
    if (set->n < 2) return true;
    uint64_t *gaps = malloc(set->n * sizeof *gaps), before = 0;
    if (!gaps) return false;
    for (size_t i = 0; i < set->n; i++) {
        uint64_t start = as_interval_of(timeline, set->events[i]).start;
        if (i) gaps[i - 1] = start - before;
        before = start;
    }
    qsort(gaps, set->n - 1, sizeof *gaps, compare_gaps);
    *longest = 2 * gaps[(set->n - 1) / 2];
    free(gaps);
    return true;
}

bool as_set_make_rows(as_interval_set *set, as_timeline *timeline) {
    size_t counts[MOST_LANES] = {0}, n_rows = 1;
    as_timeline_row all = {.source.read = as_row_read,
                           .run = set->run,
                           .location = set->location,
                           .track = set->track,
                           .section = set->section,
                           .events = set->events,
                           .n_intervals = set->n};
    if (!sort_events(timeline, set->events, set->n)) return false;
    if (set->track == AS_TRACK_SAMPLES && !find_longest(timeline, set, &all.longest)) return false;
    counts[0] = set->n;
    if (!as_track_nests(set->track)) {
        counts[0] = 0;
        if (!find_lanes(timeline, set, &all, counts)) return false;
        n_rows = set->n_rows;
    }
    set->n_rows = 0;
    set->rows = calloc(n_rows + 1, sizeof *set->rows);
    if (!set->rows) return false;
    const uint32_t *next = set->events;
    for (size_t lane = 0; lane < n_rows; lane++) {
        as_timeline_row *row = &set->rows[set->n_rows++];
        *row = all;
        row->lane = (uint32_t)lane;
        row->events = next;
        row->n_intervals = counts[lane];
        as_vec_init(&row->packed, 1, timeline->budget);
        as_vec_init(&row->blocks, sizeof(as_change_block), timeline->budget);
        next += counts[lane];
        if (!make_changes(row, set, timeline)) return false;
    }
    return true;
}

void as_row_free(as_timeline_row *row) {
    as_vec_free(&row->packed);
    as_vec_free(&row->blocks);
}

void as_set_free(as_interval_set *set) {
    for (size_t i = 0; i < set->n_rows; i++) as_row_free(&set->rows[i]);
    free(set->rows);
    set->rows = NULL;
    set->n_rows = 0;
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* The number of the first interval that begins at or after a time. */
static size_t first_from(const as_timeline *timeline, const as_timeline_row *row, uint64_t time) {
    size_t low = 0, high = row->n_intervals;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (as_interval_of(timeline, row->events[middle]).start < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void as_row_intervals(const as_timeline *timeline, const as_timeline_row *row, uint64_t from, uint64_t to,
                      size_t *first, size_t *end) {
    *first = first_from(timeline, row, from);
    *end = to < UINT64_MAX ? first_from(timeline, row, to + 1) : row->n_intervals;
}

static uint64_t clip(uint64_t time, const as_trace_window *window) {
    return time < window->from ? window->from : time > window->to ? window->to : time;
}

/* Returns how many pauses of the row begin in the window. */
static uint64_t find_ends_and_gap(const as_timeline_row *row, const as_trace_window *window, as_line_times *line) {
    as_changes changes;
    as_changes_of(&changes, row);
    line->first = clip(as_change_at(&changes, 0)->time, window);
    line->last = clip(as_change_at(&changes, row->n_changes - 1)->time, window);
    line->longest_gap = 0;
    line->gap_at = 0;
    uint64_t n_pauses = 0;
    for (size_t i = as_change_before(&changes, window->from); i + 1 < row->n_changes; i++) {
        const as_trace_sample *change = as_change_at(&changes, i);
        if (change->time > window->to) break;
        bool is_inside = change->time >= window->from && change->time <= window->to;
        n_pauses += is_inside && change->context == AS_TRACE_PAUSED;
        if (change->context != AS_TRACE_IDLE && change->context != AS_TRACE_NOTHING) continue;
        uint64_t from = clip(change->time, window), to = clip(change[1].time, window);
        if (to <= from || (double)(to - from) <= line->longest_gap) continue;
        line->longest_gap = (double)(to - from);
        line->gap_at = from;
    }
    return n_pauses;
}

/* Where the procedures of a line stand in its times: 1 + index, 0 for others. */
static void know_slots(const as_line_times *line, uint32_t *slots, bool is_known) {
    for (size_t i = 0; i < line->n_procedures; i++)
        slots[line->procedures[i].procedure] = is_known ? (uint32_t)i + 1 : 0;
}

/* Those of the row that begin in the window; of all rows, too. */
static void count_row(const as_timeline *timeline, const as_timeline_row *row, const as_trace_window *window,
                      const as_frames *frames, as_line_times *line, const uint32_t *slots, as_line_times *all,
                      const uint32_t *all_slots) {
    size_t first, end;
    as_row_intervals(timeline, row, window->from, window->to, &first, &end);
    line->n_samples = end - first; /* also those below the depth */
    all->n_samples += line->n_samples;
    for (size_t i = 0; i < line->n_procedures; i++) line->procedures[i].n_samples = 0;
    for (size_t i = first; i < end; i++) {
        assay_id context = as_interval_of(timeline, row->events[i]).context;
        if (context < frames->n_contexts && frames->levels[context] > frames->depth) continue;
        uint32_t procedure = as_procedure_of(frames, context);
        if (procedure == AS_NO_PROCEDURE || !slots[procedure]) continue;
        line->procedures[slots[procedure] - 1].n_samples++;
        all->procedures[all_slots[procedure] - 1].n_samples++;
    }
}

bool as_timeline_count(const as_timeline *timeline, const as_trace_window *window, const as_frames *frames,
                       as_trace_times *times) {
    uint32_t *slots = calloc(frames->n_procedures + 1, sizeof *slots);
    uint32_t *all_slots = calloc(frames->n_procedures + 1, sizeof *all_slots);
    as_line_times *all = &times->all;
    bool fine = slots && all_slots;
    if (fine) know_slots(all, all_slots, true);
    all->n_samples = 0;
    all->longest_gap = 0;
    all->gap_at = 0;
    for (size_t i = 0; i < all->n_procedures; i++) all->procedures[i].n_samples = 0;
    for (size_t i = 0; i < times->n_lines && fine; i++) {
        as_line_times *line = &times->lines[i];
        know_slots(line, slots, true);
        count_row(timeline, &timeline->rows[i], window, frames, line, slots, all, all_slots);
        uint64_t n_pauses = find_ends_and_gap(&timeline->rows[i], window, line);
        bool is_nested = timeline->rows[i].track == AS_TRACK_NESTED; /* others were paused with their run */
        if (n_pauses && slots[AS_PROCEDURE_PAUSED]) {
            line->procedures[slots[AS_PROCEDURE_PAUSED] - 1].n_samples = n_pauses;
            all->procedures[all_slots[AS_PROCEDURE_PAUSED] - 1].n_samples += is_nested ? n_pauses : 0;
        }
        know_slots(line, slots, false);
        if (line->longest_gap <= all->longest_gap) continue;
        all->longest_gap = line->longest_gap;
        all->gap_at = line->gap_at;
    }
    free(slots);
    free(all_slots);
    return fine;
}
