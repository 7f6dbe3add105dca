/* Walks along tracks. Events come in order of their starts and go to the lanes of their sets: that is how lanes are
 * found in the first place, and how they are told, so that nothing of an event is held but while it is open. */
#include <math.h>
#include <stdlib.h>

#include "formats/slices_private.h"

enum { MOST_SECTIONS = 1024, MOST_LANES = 256, SAMPLES_AT_ONCE = 4096 };

/* ---- sets -------------------------------------------------------------------------------------------------------- */

/* The number a map has for the key, or `next`, which it has from now on; UINT32_MAX when memory is out. */
static uint32_t number_of(as_map *map, uint64_t key, uint32_t next) {
    uint32_t number = as_map_get(map, key);
    if (number != AS_MAP_NONE) return number;
    return as_map_put(map, key, next) ? next : UINT32_MAX;
}

static as_slice_kind kind_of(const as_slice_sets *g, uint64_t number, const as_event *event) {
    as_cell style;
    if (event->kind == AS_NO_STR) return AS_SLICES_NESTED;
    if (event->kind == g->pause) return AS_SLICES_PAUSES;
    if (event->kind == g->section) return AS_SLICES_SECTION;
    if (event->kind == g->osrt) return AS_SLICES_OSRT;
    if (event->kind == g->sample) return AS_SLICES_SAMPLES;
    if (event->kind != g->nvtx || !as_event_value(&g->values, number, 0, &style)) return AS_SLICES_NESTED;
    bool is_range = style.type == AS_CELL_TEXT && strcmp(style.text, "StartEnd") == 0;
    return is_range ? AS_SLICES_RANGES : AS_SLICES_NESTED;
}

/* The set that an event belongs to, made if new; UINT32_MAX when memory is out. */
static uint32_t find_set(const as_slices *slices, uint64_t number, const as_event *event) {
    as_slice_sets *g = slices->sets;
    as_slice_set wanted = {event->run, event->location, ASSAY_NONE, kind_of(g, number, event), {0}};
    if (wanted.location >= AS_COUNT(slices->ds, locations)) wanted.location = ASSAY_NONE;
    uint32_t group = number_of(&g->groups, as_pair(wanted.run, wanted.location), (uint32_t)g->groups.count);
    if (group == UINT32_MAX) return group;
    bool is_section = wanted.kind == AS_SLICES_SECTION && event->context != ASSAY_NONE;
    if (is_section && (g->of_sections.count < MOST_SECTIONS ||
                       as_map_get(&g->of_sections, as_pair(group, event->context)) != AS_MAP_NONE))
        wanted.section = event->context;
    as_map *map = wanted.section == ASSAY_NONE ? &g->of_kinds : &g->of_sections;
    uint32_t low = wanted.section == ASSAY_NONE ? (uint32_t)wanted.kind : wanted.section;
    uint32_t set = number_of(map, as_pair(group, low), (uint32_t)g->all.count);
    if (set == UINT32_MAX || set < g->all.count) return set;
    as_vec_init(&wanted.lanes, sizeof(as_slice_lane), as_ds_budget(slices->ds));
    return as_vec_append(&g->all, &wanted, 1) ? set : UINT32_MAX;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* An event that begins at the time at hand. */
typedef struct beginning {
    as_time_slice slice;
    uint32_t set, depth;
} beginning;

typedef struct flow {
    const as_slices *slices;
    const as_slice_visitor *visitor; /* NULL: lanes are made */
    as_vec together;                 /* beginning: those that begin at the same time */
    uint64_t n_left_out, n_rounded, n_too_late;
    bool is_over, is_out_of_memory;
} flow;

/* Of those that start together the longest, which holds the others, comes first; of two that take the same time the one
 * further up in the call tree holds the other. */
static int compare_beginnings(const void *a, const void *b) {
    const beginning *x = a, *y = b;
    if (x->slice.end != y->slice.end) return x->slice.end > y->slice.end ? -1 : 1;
    if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
    return x->slice.event < y->slice.event ? -1 : x->slice.event > y->slice.event;
}

/* An end that is none, or lies before the start, is the start. */
static double end_of(const as_event *event) {
    return isfinite(event->end) && event->end > event->start ? event->end : event->start;
}

static as_time_slice slice_of(const as_slices *slices, uint64_t number, const as_event *event) {
    return (as_time_slice){.start = as_slice_nanoseconds(slices, event->start),
                           .end = as_slice_nanoseconds(slices, end_of(event)),
                           .is_moment = isnan(event->end),
                           .event = number,
                           .name = event->name,
                           .kind = event->kind,
                           .context = event->context};
}

/* Ends what ends up to a time. */
static bool end_in_lane(flow *f, as_slice_lane *lane, uint64_t time) {
    while (lane->open.count && !f->is_over) {
        const as_time_slice *inner = &AS_AT(as_time_slice, &lane->open, lane->open.count - 1);
        if (inner->end > time) break;
        lane->open.count--;
        if (f->visitor && f->visitor->end)
            f->is_over = !f->visitor->end(f->visitor->user, as_slice_track_at(f->slices, lane->track), inner);
    }
    return !f->is_over;
}

/* The lane that has room for a slice; NULL: there is none. A new one is made while lanes are. */
static as_slice_lane *find_lane(flow *f, as_slice_set *set, const as_time_slice *slice) {
    for (size_t i = 0; i < set->lanes.count; i++) {
        as_slice_lane *lane = &AS_AT(as_slice_lane, &set->lanes, i);
        if (!end_in_lane(f, lane, slice->start)) return NULL;
        const as_time_slice *inner = lane->open.count ? &AS_AT(as_time_slice, &lane->open, lane->open.count - 1) : NULL;
        bool is_too_deep = lane->open.count >= f->slices->most_deep;
        if (!inner || (set->kind != AS_SLICES_SECTION && inner->end >= slice->end && !is_too_deep)) return lane;
    }
    if (f->visitor || set->lanes.count == MOST_LANES) return NULL;
    as_slice_lane *lane = as_vec_push(&set->lanes);
    if (lane) as_vec_init(&lane->open, sizeof(as_time_slice), as_ds_budget(f->slices->ds));
    f->is_out_of_memory = !lane;
    return lane;
}

static void put_slice(flow *f, const beginning *new) {
    as_slice_lane *lane = find_lane(f, &AS_AT(as_slice_set, &f->slices->sets->all, new->set), &new->slice);
    if (!lane) {
        f->n_left_out++;
        return;
    }
    if (f->visitor)
        f->is_over = !f->visitor->begin(f->visitor->user, as_slice_track_at(f->slices, lane->track), &new->slice);
    else
        lane->n++;
    if (!f->is_over && !new->slice.is_moment) f->is_out_of_memory = !as_vec_append(&lane->open, &new->slice, 1);
}

static void put_together(flow *f) {
    if (f->together.count > 1) qsort(f->together.data, f->together.count, sizeof(beginning), compare_beginnings);
    for (size_t i = 0; i < f->together.count && !f->is_over && !f->is_out_of_memory; i++)
        put_slice(f, &AS_AT(beginning, &f->together, i));
    f->together.count = 0;
}

static void take_event(flow *f, uint64_t number, const as_event *event) {
    const as_dataset *ds = f->slices->ds;
    beginning new = {.slice = slice_of(f->slices, number, event), .set = find_set(f->slices, number, event)};
    if (!f->visitor && as_slice_is_too_late(f->slices, end_of(event)))
        f->n_too_late++;
    else if (!f->visitor)
        f->n_rounded += !as_slice_is_exact(f->slices, event->start) || !as_slice_is_exact(f->slices, end_of(event));
    if (event->context < AS_COUNT(ds, contexts)) new.depth = as_ds_context(ds, event->context)->depth;
    if (f->together.count && AS_AT(beginning, &f->together, 0).slice.start != new.slice.start) put_together(f);
    f->is_out_of_memory |= new.set == UINT32_MAX || !as_vec_append(&f->together, &new, 1);
}

/* Visits all lanes when events are over: ends what is open, or forgets it. */
static void end_all(flow *f) {
    as_vec *sets = &f->slices->sets->all;
    for (size_t i = 0; i < sets->count; i++) {
        as_vec *lanes = &AS_AT(as_slice_set, sets, i).lanes;
        for (size_t k = 0; k < lanes->count; k++) {
            as_slice_lane *lane = &AS_AT(as_slice_lane, lanes, k);
            if (!f->is_out_of_memory) end_in_lane(f, lane, UINT64_MAX);
            lane->open.count = 0;
        }
    }
}

/* All events, in order of time. */
static void follow_events(flow *f) {
    as_event_walk events;
    as_event event;
    uint64_t number;
    as_vec_init(&f->together, sizeof(beginning), as_ds_budget(f->slices->ds));
    f->is_out_of_memory = !as_event_walk_open(&events, &f->slices->order);
    while (!f->is_over && !f->is_out_of_memory && as_event_walk_next(&events, &event, &number))
        take_event(f, number, &event);
    if (!f->is_out_of_memory) put_together(f);
    end_all(f);
    as_event_walk_close(&events);
    as_vec_free(&f->together);
}

bool as_slices_make_lanes(as_slices *slices) {
    flow f = {.slices = slices};
    follow_events(&f);
    slices->n_left_out += f.n_left_out;
    slices->n_rounded = f.n_rounded;
    slices->n_too_late = f.n_too_late;
    return !f.is_out_of_memory;
}

/* ---- lists of events by tracks ----------------------------------------------------------------------------------- */

static bool list_slice(void *user, const as_slice_track *track, const as_time_slice *slice) {
    as_slices *slices = user;
    as_slice_track *listed = &AS_AT(as_slice_track, &slices->tracks, track - (as_slice_track *)slices->tracks.data);
    AS_AT(uint64_t, &slices->listed, listed->first + listed->n++) = slice->event;
    return true;
}

bool as_slices_list(as_slices *slices) {
    uint64_t first = 0;
    for (size_t i = 0; i < slices->tracks.count; i++) {
        as_slice_track *track = &AS_AT(as_slice_track, &slices->tracks, i);
        if (track->kind == AS_SLICES_TRACE) continue;
        track->first = first;
        first += track->n;
        track->n = 0;
    }
    if (!as_vec_reserve(&slices->listed, first)) return false;
    as_slice_visitor visitor = {list_slice, NULL, slices};
    flow f = {.slices = slices, .visitor = &visitor};
    follow_events(&f);
    slices->listed.count = first;
    return !f.is_out_of_memory;
}

/* ---- one track --------------------------------------------------------------------------------------------------- */

/* A walk along a track. */
typedef struct walk {
    const as_slices *slices;
    const as_slice_track *track;
    const as_slice_visitor *visitor;
    as_vec open; /* as_time_slice, the innermost last */
    as_vec path; /* assay_id: the calls of a sample, the innermost first */
    bool is_over, is_out_of_memory;
} walk;

static as_time_slice *innermost(const walk *w) {
    return w->open.count ? &AS_AT(as_time_slice, &w->open, w->open.count - 1) : NULL;
}

static bool begin(walk *w, const as_time_slice *slice) {
    w->is_over = !w->visitor->begin(w->visitor->user, w->track, slice);
    if (w->is_over || slice->is_moment) return !w->is_over;
    w->is_out_of_memory = !as_vec_append(&w->open, slice, 1);
    return !w->is_out_of_memory;
}

static bool end(walk *w) {
    const as_slice_visitor *v = w->visitor;
    w->is_over = v->end && !v->end(v->user, w->track, innermost(w));
    w->open.count--;
    return !w->is_over;
}

/* Ends what ends up to a time. */
static bool end_until(walk *w, uint64_t time) {
    while (w->open.count && innermost(w)->end <= time) {
        if (!end(w)) return false;
    }
    return true;
}

static void walk_events(walk *w) {
    const uint64_t *numbers = (const uint64_t *)w->slices->listed.data + w->track->first;
    for (uint64_t i = 0; i < w->track->n; i++) {
        as_event event;
        as_ds_event(w->slices->ds, numbers[i], &event);
        as_time_slice slice = slice_of(w->slices, numbers[i], &event);
        if (!end_until(w, slice.start) || !begin(w, &slice)) return;
    }
    end_until(w, UINT64_MAX);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* The calls on the way to a context, the innermost first, as many of the outer ones as are told; of one that is not
 * there ASSAY_NONE. */
static bool find_path(walk *w, assay_id context) {
    const as_dataset *ds = w->slices->ds;
    w->path.count = 0;
    if (context >= AS_COUNT(ds, contexts)) return as_vec_append(&w->path, &context, 1);
    for (assay_id at = context; at != ASSAY_NONE; at = as_ds_context(ds, at)->parent) {
        if (as_slice_is_call(ds, at) && !as_vec_append(&w->path, &at, 1)) return false;
    }
    if (w->path.count > w->slices->most_deep) {
        size_t n_cut = w->path.count - w->slices->most_deep;
        assay_id *path = w->path.data;
        memmove(path, path + n_cut, w->slices->most_deep * sizeof *path);
        w->path.count = w->slices->most_deep;
    }
    return true;
}

/* From this time on the location is in this context: ends what is over, and begins what is new. */
static void change(walk *w, uint64_t time, assay_id context) {
    w->is_out_of_memory = !find_path(w, context);
    size_t same = 0, n = w->path.count;
    while (same < n && same < w->open.count &&
           AS_AT(assay_id, &w->path, n - 1 - same) == AS_AT(as_time_slice, &w->open, same).context)
        same++;
    while (w->open.count > same && !w->is_out_of_memory) {
        innermost(w)->end = time;
        if (!end(w)) return;
    }
    for (size_t i = same; i < n && !w->is_out_of_memory; i++) {
        as_time_slice slice = {.start = time,
                               .end = UINT64_MAX,
                               .event = AS_NO_EVENT,
                               .name = AS_NO_STR,
                               .kind = AS_NO_STR,
                               .context = AS_AT(assay_id, &w->path, n - 1 - i)};
        if (!begin(w, &slice)) return;
    }
}

/* Without rounding where ticks are nanoseconds. */
static uint64_t time_of(const as_slices *slices, uint64_t stamp) {
    const as_traces *traces = &slices->ds->traces;
    bool is_exact = traces->ticks_per_second == 1e9 && stamp >= traces->start;
    uint64_t zero = as_slice_nanoseconds(slices, 0);
    if (!is_exact) return as_slice_nanoseconds(slices, as_trace_seconds(slices->ds, stamp));
    return stamp - traces->start < (uint64_t)1 << 62 ? stamp - traces->start + zero : (uint64_t)1 << 62;
}

static assay_status walk_samples(walk *w, assay_error *error) {
    const as_dataset *ds = w->slices->ds;
    const as_trace_line *line = as_trace_line_at(&ds->traces, (size_t)w->track->first);
    as_trace_sample *samples = malloc(SAMPLES_AT_ONCE * sizeof *samples);
    if (!samples) return as_fail_memory(error, NULL);
    uint64_t before = 0, last = 0;
    assay_id context = ASSAY_NONE;
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < line->n && status == ASSAY_OK && !w->is_over && !w->is_out_of_memory; i++) {
        size_t at = (size_t)(i % SAMPLES_AT_ONCE);
        uint64_t left = line->n - i;
        if (at == 0)
            status =
                as_trace_read(ds, line, i, left < SAMPLES_AT_ONCE ? (size_t)left : SAMPLES_AT_ONCE, samples, error);
        if (status != ASSAY_OK) break;
        last = time_of(w->slices, samples[at].time);
        uint64_t time = i == 0 || w->track->is_of_gpu ? last : before + (last - before) / 2;
        bool is_for_no_time = i + 1 == line->n && time == last && i > 0;
        if ((i == 0 || samples[at].context != context) && !is_for_no_time) change(w, time, samples[at].context);
        context = samples[at].context;
        before = last;
    }
    free(samples);
    if (status != ASSAY_OK) return status;
    while (w->open.count && !w->is_over && !w->is_out_of_memory) {
        innermost(w)->end = last;
        end(w);
    }
    return ASSAY_OK;
}

assay_status as_slices_walk(const as_slices *slices, size_t track, const as_slice_visitor *visitor,
                            assay_error *error) {
    walk w = {.slices = slices, .track = as_slice_track_at(slices, track), .visitor = visitor};
    as_vec_init(&w.open, sizeof(as_time_slice), as_ds_budget(slices->ds));
    as_vec_init(&w.path, sizeof(assay_id), as_ds_budget(slices->ds));
    assay_status status = ASSAY_OK;
    if (w.track->kind == AS_SLICES_TRACE)
        status = walk_samples(&w, error);
    else
        walk_events(&w);
    as_vec_free(&w.open);
    as_vec_free(&w.path);
    return w.is_out_of_memory ? as_fail_memory(error, NULL) : status;
}

assay_status as_slices_walk_all(const as_slices *slices, const as_slice_visitor *visitor, assay_error *error) {
    flow f = {.slices = slices, .visitor = visitor};
    follow_events(&f);
    if (f.is_out_of_memory) return as_fail_memory(error, NULL);
    for (size_t i = 0; i < as_slice_track_count(slices) && !f.is_over; i++) {
        if (as_slice_track_at(slices, i)->kind == AS_SLICES_TRACE) AS_TRY(as_slices_walk(slices, i, visitor, error));
    }
    return ASSAY_OK;
}
