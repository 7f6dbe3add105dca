#include "analysis/event_intervals.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/map.h"

/* ---- pauses ------------------------------------------------------------------------------------------------------ */

struct as_pause {
    assay_id run;
    double start, end, before; /* before: paused until start, since the run's first pause */
};

static int compare_pauses(const void *a, const void *b) {
    const struct as_pause *x = a, *y = b;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Those that touch become one. */
static void unite(as_vec *spans) {
    struct as_pause *all = spans->data;
    size_t n = 0;
    for (size_t i = 0; i < spans->count; i++) {
        struct as_pause *last = n && all[n - 1].run == all[i].run ? &all[n - 1] : NULL;
        if (last && all[i].start <= last->end) {
            if (all[i].end > last->end) last->end = all[i].end;
            continue;
        }
        all[i].before = last ? last->before + (last->end - last->start) : 0;
        all[n++] = all[i];
    }
    spans->count = n;
}

static as_str known(const as_dataset *ds, const char *word) { return as_find(&ds->strings, word, strlen(word)); }

bool as_pauses_load(const as_dataset *ds, as_pauses *out) {
    *out = (as_pauses){.n_runs = AS_COUNT(ds, runs)};
    as_vec_init(&out->spans, sizeof(struct as_pause), as_ds_budget(ds));
    as_str kind = known(ds, "pause");
    as_event event;
    for (uint64_t i = 0, n = kind == AS_NO_STR ? 0 : as_ds_intervals(ds); i < n; i++) {
        as_ds_event(ds, i, &event);
        if (event.kind != kind || event.run >= out->n_runs || !(event.end > event.start)) continue;
        struct as_pause *span = as_vec_push(&out->spans);
        if (!span) return false;
        *span = (struct as_pause){.run = event.run, .start = event.start, .end = event.end};
    }
    if (!out->spans.count) return true;
    qsort(out->spans.data, out->spans.count, sizeof(struct as_pause), compare_pauses);
    unite(&out->spans);
    out->first = calloc(out->n_runs + 1, sizeof *out->first);
    for (size_t i = 0; out->first && i < out->spans.count; i++)
        out->first[AS_AT(struct as_pause, &out->spans, i).run + 1] = i + 1;
    for (size_t run = 0; out->first && run < out->n_runs; run++) {
        if (out->first[run + 1] < out->first[run]) out->first[run + 1] = out->first[run];
    }
    return out->first != NULL;
}

void as_pauses_free(as_pauses *pauses) {
    as_vec_free(&pauses->spans);
    free(pauses->first);
    pauses->first = NULL;
}

/* What the run has paused until then. */
static double paused_until(const as_pauses *pauses, assay_id run, double time) {
    const struct as_pause *all = pauses->spans.data;
    uint64_t first = pauses->first[run], low = first, high = pauses->first[run + 1];
    while (low < high) { /* the first that begins later */
        uint64_t middle = low + (high - low) / 2;
        if (all[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == first) return 0;
    const struct as_pause *last = &all[low - 1];
    return last->before + ((time < last->end ? time : last->end) - last->start);
}

double as_paused(const as_pauses *pauses, assay_id run, double from, double to) {
    if (!pauses || !pauses->first || run >= pauses->n_runs) return 0;
    return paused_until(pauses, run, to) - paused_until(pauses, run, from);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Where the walk stands, and what is open. */
typedef struct walk {
    const as_event_intervals *request;
    const as_dataset *ds;
    as_str section, pause;
    size_t n_runs;
    as_map lanes;      /* run and location -> index into open */
    as_vec open;       /* as_vec of struct open_interval, for each lane: from the outermost to the innermost */
    as_vec free_slots; /* uint32_t */
    uint32_t n_slots;
    assay_id lane_run, lane_location; /* of `lane`, which is the one of the last interval */
    uint32_t lane;
    double scale; /* counts in a second of the last interval; 0: not known */
} walk;

struct open_interval {
    double end;
    assay_id context;
    uint32_t depth, slot;
};

static uint32_t depth_of(const as_dataset *ds, assay_id context) {
    return context == ASSAY_NONE ? 0 : as_ds_context(ds, context)->depth;
}

static bool is_wanted(const walk *w, const as_event *event) {
    if (isnan(event->end) || isnan(event->start)) return false;
    return !w->request->runs || (event->run < w->n_runs && w->request->runs[event->run]);
}

/* What came last of a run. */
struct latest {
    double start, end;
    uint32_t depth;
    bool is_there;
};

/* Whether the source has the intervals of each run by start, outer ones first. Of those that begin together it is
 * doubted where one might lie around the one before it. */
static bool is_in_order(const walk *w, struct latest *runs) {
    as_event event;
    for (uint64_t i = 0, n = as_ds_intervals(w->ds); i < n; i++) {
        as_ds_event(w->ds, i, &event);
        if (!is_wanted(w, &event)) continue;
        struct latest *last = &runs[event.run < w->n_runs ? event.run : w->n_runs];
        uint32_t depth = depth_of(w->ds, event.context);
        bool is_doubtful = event.start == last->start && event.end >= last->end &&
                           (depth < last->depth || event.context == ASSAY_NONE);
        if (last->is_there && (event.start < last->start || is_doubtful)) return false;
        *last = (struct latest){event.start, event.end, depth, true};
    }
    return true;
}

struct sorted_event {
    double start, end;
    uint64_t id;
    assay_id run;
    uint32_t depth;
};

static int compare_events(const void *a, const void *b) {
    const struct sorted_event *x = a, *y = b;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static bool sort_events(const walk *w, as_vec *sorted) {
    as_event event;
    for (uint64_t i = 0, n = as_ds_intervals(w->ds); i < n; i++) {
        as_ds_event(w->ds, i, &event);
        if (!is_wanted(w, &event)) continue;
        struct sorted_event *entry = as_vec_push(sorted);
        if (!entry) return false;
        *entry = (struct sorted_event){event.start, event.end, i, event.run, depth_of(w->ds, event.context)};
    }
    if (sorted->count) qsort(sorted->data, sorted->count, sizeof(struct sorted_event), compare_events);
    return true;
}

/* ---- nesting ----------------------------------------------------------------------------------------------------- */

/* The intervals that are open where this one runs; NULL when memory is out. */
static as_vec *find_lane(walk *w, const as_event *event) {
    if (w->open.count && event->run == w->lane_run && event->location == w->lane_location)
        return &AS_AT(as_vec, &w->open, w->lane);
    uint64_t key = as_pair(event->run, event->location);
    uint32_t lane = as_map_get(&w->lanes, key);
    if (lane == AS_MAP_NONE) {
        as_vec *fresh = as_vec_push(&w->open);
        if (!fresh) return NULL;
        as_vec_init(fresh, sizeof(struct open_interval), as_ds_budget(w->ds));
        lane = (uint32_t)(w->open.count - 1);
        if (!as_map_put(&w->lanes, key, lane)) return NULL;
    }
    w->lane = lane;
    w->lane_run = event->run;
    w->lane_location = event->location;
    return &AS_AT(as_vec, &w->open, lane);
}

static bool is_around(const struct open_interval *outer, const as_event *event, uint32_t depth) {
    if (outer->end < event->start) return false;
    if (outer->context != ASSAY_NONE && event->context != ASSAY_NONE) return outer->depth < depth;
    return outer->end >= event->end && outer->end > event->start;
}

/* Closes what is over, and opens this one. */
static bool nest(walk *w, as_event_interval *interval) {
    const as_event *event = &interval->event;
    uint32_t depth = depth_of(w->ds, event->context);
    as_vec *open = find_lane(w, event);
    if (!open) return false;
    while (open->count && !is_around(&AS_AT(struct open_interval, open, open->count - 1), event, depth)) {
        if (!as_vec_append(&w->free_slots, &AS_AT(struct open_interval, open, open->count - 1).slot, 1)) return false;
        open->count--;
    }
    const struct open_interval *outer = open->count ? &AS_AT(struct open_interval, open, open->count - 1) : NULL;
    /* Where a file's regions overlap, the one that is open may be another than the one it was called from */
    bool is_stranger = outer && outer->context != ASSAY_NONE && event->context != ASSAY_NONE &&
                       as_ds_context(w->ds, event->context)->parent != outer->context;
    interval->around = outer && !is_stranger ? outer->slot : AS_NO_SLOT;
    if (w->free_slots.count)
        interval->slot = AS_AT(uint32_t, &w->free_slots, --w->free_slots.count);
    else
        interval->slot = w->n_slots++;
    struct open_interval mine = {event->end, event->context, depth, interval->slot};
    return as_vec_append(open, &mine, 1);
}

/* The difference of two times in seconds has the rounding of both, so that equal durations differ. Where the source
 * counts in a decimal part of a second, its counts say it exactly; they are taken where they agree with the times as
 * far as these go. */
static double exact_duration(walk *w, const as_event *event) {
    static const double scales[] = {1e9, 1e6, 1e3, 1};
    double rough = event->end - event->start;
    if (event->start_raw.type != AS_CELL_INT || event->end_raw.type != AS_CELL_INT) return rough;
    int64_t ticks;
    if (__builtin_sub_overflow(event->end_raw.i, event->start_raw.i, &ticks)) return rough;
    double allowed = 1e-12 * fabs(rough) + 4 * DBL_EPSILON * fmax(fabs(event->start), fabs(event->end));
    if (w->scale > 0 && fabs((double)ticks / w->scale - rough) <= allowed) return (double)ticks / w->scale;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (fabs((double)ticks / scales[i] - rough) > allowed) continue;
        w->scale = scales[i];
        return (double)ticks / w->scale;
    }
    return rough;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

typedef bool visitor(void *user, const as_event_interval *interval);

/* What rounding leaves of an interval that was paused throughout is nothing. */
static double without_pauses(const as_pauses *pauses, const as_event *event, double duration) {
    double left = duration - as_paused(pauses, event->run, event->start, event->end);
    return left <= 8 * DBL_EPSILON * fabs(event->end) ? 0 : left;
}

/* False when memory is out; *goes_on is what visit says. */
static bool step(walk *w, uint64_t id, visitor *visit, void *user, bool *goes_on) {
    as_event_interval interval = {.id = id, .slot = AS_NO_SLOT, .around = AS_NO_SLOT};
    as_event *event = &interval.event;
    as_ds_event(w->ds, id, event);
    if (!is_wanted(w, event)) return true;
    interval.class = event->kind == AS_NO_STR    ? AS_INTERVAL_NESTED
                     : event->kind == w->section ? AS_INTERVAL_SECTION
                     : event->kind == w->pause   ? AS_INTERVAL_PAUSE
                                                 : AS_INTERVAL_NESTED;
    interval.duration = exact_duration(w, event);
    if (w->request->pauses && interval.class != AS_INTERVAL_PAUSE)
        interval.duration = without_pauses(w->request->pauses, event, interval.duration);
    if (interval.class == AS_INTERVAL_NESTED && !nest(w, &interval)) return false;
    *goes_on = visit(user, &interval);
    return true;
}

static void free_walk(walk *w) {
    for (size_t i = 0; i < w->open.count; i++) as_vec_free(&AS_AT(as_vec, &w->open, i));
    as_vec_free(&w->open);
    as_vec_free(&w->free_slots);
    as_map_free(&w->lanes);
}

assay_status as_event_intervals_walk(const as_event_intervals *request, visitor *visit, void *user,
                                     assay_error *error) {
    const as_dataset *ds = request->ds;
    walk w = {.request = request,
              .ds = ds,
              .section = known(ds, "section"),
              .pause = known(ds, "pause"),
              .n_runs = AS_COUNT(ds, runs)};
    as_vec sorted;
    as_vec_init(&sorted, sizeof(struct sorted_event), as_ds_budget(ds));
    as_vec_init(&w.open, sizeof(as_vec), as_ds_budget(ds));
    as_vec_init(&w.free_slots, sizeof(uint32_t), as_ds_budget(ds));
    as_map_init(&w.lanes, as_ds_budget(ds));
    struct latest *runs = calloc(w.n_runs + 1, sizeof *runs);
    bool fine = runs != NULL, goes_on = true, in_order = fine && is_in_order(&w, runs);
    free(runs);
    if (fine && !in_order) fine = sort_events(&w, &sorted);
    uint64_t n = in_order ? as_ds_intervals(ds) : sorted.count;
    for (uint64_t i = 0; fine && goes_on && i < n; i++)
        fine = step(&w, in_order ? i : AS_AT(struct sorted_event, &sorted, i).id, visit, user, &goes_on);
    as_vec_free(&sorted);
    free_walk(&w);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}
