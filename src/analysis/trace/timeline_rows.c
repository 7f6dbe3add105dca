/* Rows of intervals: lanes for those that overlap, and the moments at which a row changes. */
#include <stdlib.h>

#include "analysis/trace/timeline_private.h"

enum { MOST_LANES = 64 };

/* ---- order ----------------------------------------------------------------------------------------------------------- */

/* By start; of those that start together the longest, which holds the others, comes first. */
static int compare_intervals(const void *a, const void *b) {
    const as_interval *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static void sort_intervals(as_interval *intervals, size_t n) {
    size_t i = 1;
    while (i < n && compare_intervals(&intervals[i - 1], &intervals[i]) <= 0) i++;
    if (i < n) qsort(intervals, n, sizeof *intervals, compare_intervals);
}

/* ---- changes --------------------------------------------------------------------------------------------------------- */

/* Puts down what a row shows from each moment on, with the run's pauses over it. */
typedef struct drawing {
    as_trace_sample *out;
    size_t n;
    const as_pause_span *pauses;
    size_t n_pauses, pause; /* the next, or the one at hand */
    bool is_paused;
    bool is_nested; /* pauses show where there is no interval, too */
    assay_id shown; /* but for pauses */
} drawing;

static void put(drawing *d, uint64_t time) {
    bool can_pause = d->shown != AS_TRACE_NOTHING || d->is_nested;
    assay_id context = d->is_paused && can_pause ? AS_TRACE_PAUSED : d->shown;
    if (d->n == 0 ? context == AS_TRACE_NOTHING : d->out[d->n - 1].context == context) return;
    d->out[d->n++] = (as_trace_sample){.time = time, .context = context};
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
static size_t finish(drawing *d) {
    put_pauses(d, UINT64_MAX);
    if (d->n > 1 && d->out[d->n - 1].context == AS_TRACE_NOTHING) d->out[d->n - 1].context = d->out[d->n - 2].context;
    return d->n;
}

/* Intervals still open, the innermost last. */
typedef struct opened {
    const as_interval **list;
    size_t n;
} opened;

/* Closes what ends up to a time. Where intervals overlap without nesting, the one that began last is shown to its end. */
static void close_until(drawing *d, opened *open, uint64_t until, assay_id between) {
    while (open->n && open->list[open->n - 1]->end <= until) {
        uint64_t end = open->list[open->n - 1]->end;
        while (open->n && open->list[open->n - 1]->end <= end) open->n--;
        show(d, end, open->n ? open->list[open->n - 1]->context : between);
    }
}

/* How deep intervals are nested at most. */
static size_t deepest_of(const as_interval *intervals, size_t n, uint64_t *ends) {
    size_t depth = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        while (depth && ends[depth - 1] <= intervals[i].start) depth--;
        ends[depth++] = intervals[i].end;
        if (depth > most) most = depth;
    }
    return most;
}

/* Each interval changes what is shown when it begins and when it ends, each pause too. */
static bool make_changes(as_timeline_row *row, const as_interval_set *set, as_timeline *timeline) {
    size_t n = row->n_intervals, bytes;
    if (!as_mul_size(2 * (n + set->n_pauses) + 1, sizeof *row->changes, &bytes) || !as_timeline_take(timeline, bytes))
        return false;
    row->changes = malloc(bytes);
    if (!row->changes) return false;
    bool is_nested = as_track_nests(set->track);
    uint64_t *ends = is_nested ? malloc((n + 1) * sizeof *ends) : NULL;
    size_t most = !is_nested ? 1 : ends ? deepest_of(row->intervals, n, ends) : 0;
    free(ends);
    opened open = {malloc((most + 1) * sizeof *open.list), 0};
    if (!open.list || (is_nested && !ends)) {
        free(open.list);
        return false;
    }
    drawing d = {.out = row->changes,
                 .pauses = set->pauses,
                 .n_pauses = set->n_pauses,
                 .is_nested = set->track == AS_TRACK_NESTED,
                 .shown = AS_TRACE_NOTHING};
    assay_id between = set->track == AS_TRACK_NESTED ? AS_TRACE_IDLE : AS_TRACE_NOTHING;
    for (size_t i = 0; i < n; i++) {
        const as_interval *interval = &row->intervals[i];
        close_until(&d, &open, interval->start, between);
        open.list[open.n++] = interval;
        show(&d, interval->start, interval->context);
    }
    close_until(&d, &open, UINT64_MAX, AS_TRACE_NOTHING);
    row->n_changes = finish(&d);
    free(open.list);
    return true;
}

static assay_status read_changes(const as_trace_source *source, const as_trace_line *line, uint64_t first, size_t n,
                                 as_trace_sample *out, assay_error *error) {
    const as_timeline_row *row = (const as_timeline_row *)source;
    (void)line;
    (void)error;
    memcpy(out, row->changes + first, n * sizeof *out);
    return ASSAY_OK;
}

/* ---- lanes ----------------------------------------------------------------------------------------------------------- */

/* Gives each interval the first lane that is free, and sorts them by lanes; those without one go last, unshown. */
static bool find_lanes(as_interval_set *set, size_t counts[MOST_LANES]) {
    uint64_t ends[MOST_LANES];
    size_t n_lanes = 0, starts[MOST_LANES + 1] = {0};
    unsigned char *lanes = malloc(set->n + 1);
    as_interval *sorted = malloc((set->n + 1) * sizeof *sorted);
    if (!lanes || !sorted) {
        free(lanes);
        free(sorted);
        return false;
    }
    for (size_t i = 0; i < set->n; i++) {
        size_t lane = 0;
        while (lane < n_lanes && ends[lane] > set->intervals[i].start) lane++;
        if (lane == n_lanes && n_lanes < MOST_LANES) n_lanes++;
        lanes[i] = (unsigned char)lane;
        if (lane == MOST_LANES) {
            set->n_hidden++;
            continue;
        }
        ends[lane] = set->intervals[i].end;
        counts[lane]++;
    }
    for (size_t lane = 0; lane < n_lanes; lane++) starts[lane + 1] = starts[lane] + counts[lane];
    starts[MOST_LANES] = set->n - (size_t)set->n_hidden;
    for (size_t i = 0; i < set->n; i++) sorted[starts[lanes[i]]++] = set->intervals[i];
    memcpy(set->intervals, sorted, set->n * sizeof *sorted);
    free(lanes);
    free(sorted);
    set->n_rows = n_lanes;
    return true;
}

static int compare_gaps(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Samples are moments: each lasts until the next one. Where that comes late, because nothing ran, it lasts as long as usual: twice the median. */
static bool extend_samples(as_interval_set *set) {
    if (set->n < 2) return true;
    uint64_t *gaps = malloc(set->n * sizeof *gaps);
    if (!gaps) return false;
    for (size_t i = 0; i + 1 < set->n; i++) gaps[i] = set->intervals[i + 1].start - set->intervals[i].start;
    qsort(gaps, set->n - 1, sizeof *gaps, compare_gaps);
    uint64_t most = 2 * gaps[(set->n - 1) / 2];
    free(gaps);
    for (size_t i = 0; i + 1 < set->n; i++) {
        uint64_t gap = set->intervals[i + 1].start - set->intervals[i].start;
        set->intervals[i].end = set->intervals[i].start + (gap < most ? gap : most);
    }
    return true;
}

bool as_set_make_rows(as_interval_set *set, as_timeline *timeline) {
    size_t counts[MOST_LANES] = {0}, n_rows = 1;
    sort_intervals(set->intervals, set->n);
    if (set->track == AS_TRACK_SAMPLES && !extend_samples(set)) return false;
    counts[0] = set->n;
    if (!as_track_nests(set->track)) {
        counts[0] = 0;
        if (!find_lanes(set, counts)) return false;
        n_rows = set->n_rows;
    }
    set->n_rows = 0;
    set->rows = calloc(n_rows + 1, sizeof *set->rows);
    if (!set->rows) return false;
    as_interval *next = set->intervals;
    for (size_t lane = 0; lane < n_rows; lane++) {
        as_timeline_row *row = &set->rows[set->n_rows++];
        *row = (as_timeline_row){.source.read = read_changes,
                                 .run = set->run,
                                 .location = set->location,
                                 .track = set->track,
                                 .section = set->section,
                                 .lane = (uint32_t)lane,
                                 .intervals = next,
                                 .n_intervals = counts[lane]};
        next += counts[lane];
        if (!make_changes(row, set, timeline)) return false;
    }
    return true;
}

void as_set_free(as_interval_set *set) {
    for (size_t i = 0; i < set->n_rows; i++) free(set->rows[i].changes);
    free(set->rows);
    set->rows = NULL;
    set->n_rows = 0;
}

/* ---- counting -------------------------------------------------------------------------------------------------------- */

/* The number of the first interval that begins at or after a time. */
static size_t first_from(const as_timeline_row *row, uint64_t time) {
    size_t low = 0, high = row->n_intervals;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (row->intervals[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void as_row_intervals(const as_timeline_row *row, uint64_t from, uint64_t to, size_t *first, size_t *end) {
    *first = first_from(row, from);
    *end = to < UINT64_MAX ? first_from(row, to + 1) : row->n_intervals;
}

static uint64_t clip(uint64_t time, const as_trace_window *window) {
    return time < window->from ? window->from : time > window->to ? window->to : time;
}

/* Returns how many pauses of the row begin in the window. */
static uint64_t find_ends_and_gap(const as_timeline_row *row, const as_trace_window *window, as_line_times *line) {
    line->first = clip(row->changes[0].time, window);
    line->last = clip(row->changes[row->n_changes - 1].time, window);
    line->longest_gap = 0;
    line->gap_at = 0;
    uint64_t n_pauses = 0;
    for (size_t i = as_row_change_at(row, window->from); i + 1 < row->n_changes; i++) {
        const as_trace_sample *change = &row->changes[i];
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
static void count_row(const as_timeline_row *row, const as_trace_window *window, const as_frames *frames,
                      as_line_times *line, const uint32_t *slots, as_line_times *all, const uint32_t *all_slots) {
    size_t first, end;
    as_row_intervals(row, window->from, window->to, &first, &end);
    line->n_samples = end - first; /* also those below the depth */
    all->n_samples += line->n_samples;
    for (size_t i = 0; i < line->n_procedures; i++) line->procedures[i].n_samples = 0;
    for (size_t i = first; i < end; i++) {
        assay_id context = row->intervals[i].context;
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
        count_row(&timeline->rows[i], window, frames, line, slots, all, all_slots);
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
