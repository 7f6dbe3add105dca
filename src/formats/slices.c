/* Events are sorted into sets (one for each run, location, kind and section), then by time; each set becomes as many lanes as its slices need to nest. */
#include "formats/slices.h"

#include <math.h>
#include <stdlib.h>

#define NANOSECONDS 1e9
enum { MOST_SECTIONS = 1024, MOST_LANES = 256, SAMPLES_AT_ONCE = 4096 };

/* An event on its track. */
typedef struct entry {
    uint64_t start, end;
    uint32_t event;
    uint32_t set; /* later its track */
} entry;

/* Events that belong together, before they have lanes. */
typedef struct event_set {
    assay_id run, location, section;
    as_slice_kind kind;
} event_set;

typedef struct gathering {
    as_slices *out;
    const as_dataset *ds;
    as_str pause, section, osrt, sample, nvtx; /* kinds */
    as_event_values values;                    /* the style of ranges */
    as_map groups;                             /* run, location -> number */
    as_map sets_of_kinds;                      /* that number, kind -> set */
    as_map sets_of_sections;                   /* that number, context -> set */
    as_vec sets;                               /* event_set */
} gathering;

static uint64_t nanoseconds(const as_slices *slices, double seconds) {
    double ns = nearbyint((seconds - slices->earliest) * NANOSECONDS);
    return ns >= 0x1p62 ? (uint64_t)1 << 62 : ns > 0 ? (uint64_t)ns : 0;
}

/* ---- sets ------------------------------------------------------------------------------------------------------------ */

/* The number a map has for the key, or `next`, which it has from now on; UINT32_MAX when memory is out. */
static uint32_t number_of(as_map *map, uint64_t key, uint32_t next) {
    uint32_t number = as_map_get(map, key);
    if (number != AS_MAP_NONE) return number;
    return as_map_put(map, key, next) ? next : UINT32_MAX;
}

static as_slice_kind kind_of(const gathering *g, uint64_t number, const as_event *event) {
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

/* UINT32_MAX when memory is out. */
static uint32_t find_set(gathering *g, uint64_t number, const as_event *event) {
    event_set wanted = {event->run, event->location, ASSAY_NONE, kind_of(g, number, event)};
    if (wanted.location >= AS_COUNT(g->ds, locations)) wanted.location = ASSAY_NONE;
    uint32_t group = number_of(&g->groups, as_pair(wanted.run, wanted.location), (uint32_t)g->groups.count);
    if (group == UINT32_MAX) return group;
    if (wanted.kind == AS_SLICES_SECTION && g->sets_of_sections.count < MOST_SECTIONS) wanted.section = event->context;
    as_map *map = wanted.section == ASSAY_NONE ? &g->sets_of_kinds : &g->sets_of_sections;
    uint32_t low = wanted.section == ASSAY_NONE ? (uint32_t)wanted.kind : wanted.section;
    uint32_t set = number_of(map, as_pair(group, low), (uint32_t)g->sets.count);
    if (set == UINT32_MAX || set < g->sets.count) return set;
    return as_vec_append(&g->sets, &wanted, 1) ? set : UINT32_MAX;
}

static bool has_time(const as_dataset *ds, const as_event *event) {
    return event->run < AS_COUNT(ds, runs) && isfinite(event->start);
}

/* An end that is none, or lies before the start, is the start. */
static double end_of(const as_event *event) {
    return isfinite(event->end) && event->end > event->start ? event->end : event->start;
}

static bool gather(gathering *g) {
    uint64_t n = as_ds_intervals(g->ds);
    if (n >= UINT32_MAX || !as_vec_reserve(&g->out->entries, n)) return false;
    for (uint64_t i = 0; i < n; i++) {
        as_event event;
        as_ds_event(g->ds, i, &event);
        if (has_time(g->ds, &event) && event.start < g->out->earliest) g->out->earliest = event.start;
    }
    for (uint64_t i = 0; i < n; i++) {
        as_event event;
        as_ds_event(g->ds, i, &event);
        if (!has_time(g->ds, &event)) {
            g->out->n_left_out++;
            continue;
        }
        entry new = {.start = nanoseconds(g->out, event.start),
                     .end = nanoseconds(g->out, end_of(&event)),
                     .event = (uint32_t)i,
                     .set = find_set(g, i, &event)};
        if (new.set == UINT32_MAX || !as_vec_append(&g->out->entries, &new, 1)) return false;
    }
    return true;
}

/* ---- order ----------------------------------------------------------------------------------------------------------- */

/* Of two that take the same time the one further up in the call tree holds the other. */
static int compare_contexts(const as_dataset *ds, uint32_t a, uint32_t b) {
    as_event x, y;
    as_ds_event(ds, a, &x);
    as_ds_event(ds, b, &y);
    size_t n = AS_COUNT(ds, contexts);
    uint32_t depth = x.context < n ? as_ds_context(ds, x.context)->depth : 0;
    uint32_t other = y.context < n ? as_ds_context(ds, y.context)->depth : 0;
    return depth != other ? (depth < other ? -1 : 1) : a < b ? -1 : a > b;
}

/* By set and start; of those that start together the longest, which holds the others, comes first. */
static int compare_entries(const void *a, const void *b, void *user) {
    const entry *x = a, *y = b;
    if (x->set != y->set) return x->set < y->set ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return x->event == y->event ? 0 : compare_contexts(user, x->event, y->event);
}

static void sort_entries(as_slices *out) {
    entry *entries = out->entries.data;
    size_t n = out->entries.count, i = 1;
    void *ds = (void *)(uintptr_t)out->ds;
    while (i < n && compare_entries(&entries[i - 1], &entries[i], ds) <= 0) i++;
    if (i < n) qsort_r(entries, n, sizeof *entries, compare_entries, ds);
}

/* ---- lanes ----------------------------------------------------------------------------------------------------------- */

/* A lane with the ends of the slices that are open in it, the innermost last. */
typedef struct lane {
    as_vec ends; /* uint64_t */
    uint64_t n;  /* slices in it */
} lane;

static bool fits(lane *l, const entry *e, bool can_nest) {
    while (l->ends.count && AS_AT(uint64_t, &l->ends, l->ends.count - 1) <= e->start) l->ends.count--;
    return !l->ends.count || (can_nest && AS_AT(uint64_t, &l->ends, l->ends.count - 1) >= e->end);
}

/* Adds a track for each lane of n > 0 entries of one set, whose `set` becomes the number of its track; UINT32_MAX: there is no room for it. */
static bool make_lanes(as_slices *out, const event_set *set, entry *entries, size_t n) {
    lane lanes[MOST_LANES];
    size_t n_lanes = 0, first = out->tracks.count;
    bool fine = true, can_nest = set->kind != AS_SLICES_SECTION;
    for (size_t i = 0; i < n && fine; i++) {
        size_t at = 0;
        while (at < n_lanes && !fits(&lanes[at], &entries[i], can_nest)) at++;
        if (at == MOST_LANES) {
            entries[i].set = UINT32_MAX;
            out->n_left_out++;
            continue;
        }
        if (at == n_lanes) {
            lanes[n_lanes].n = 0;
            as_vec_init(&lanes[n_lanes++].ends, sizeof(uint64_t), as_ds_budget(out->ds));
        }
        entries[i].set = (uint32_t)(first + at);
        lanes[at].n++;
        fine = as_vec_append(&lanes[at].ends, &entries[i].end, 1);
    }
    for (size_t i = 0; i < n_lanes; i++) {
        as_slice_track track = {.run = set->run,
                                .location = set->location,
                                .kind = set->kind,
                                .section = set->section,
                                .lane = (uint32_t)i,
                                .n = lanes[i].n};
        fine = fine && as_vec_append(&out->tracks, &track, 1);
        as_vec_free(&lanes[i].ends);
    }
    return fine;
}

static bool make_tracks(gathering *g) {
    as_slices *out = g->out;
    entry *entries = out->entries.data;
    size_t n = out->entries.count;
    sort_entries(out);
    for (size_t from = 0, end; from < n; from = end) {
        for (end = from + 1; end < n && entries[end].set == entries[from].set;) end++;
        const event_set *set = &AS_AT(event_set, &g->sets, entries[from].set);
        if (!make_lanes(out, set, entries + from, end - from)) return false;
    }
    sort_entries(out);
    uint64_t first = 0;
    for (size_t i = 0; i < out->tracks.count; i++) {
        as_slice_track *track = &AS_AT(as_slice_track, &out->tracks, i);
        track->first = first;
        first += track->n;
    }
    const as_traces *traces = &g->ds->traces;
    for (size_t i = 0; i < as_trace_line_count(traces); i++) {
        const as_trace_line *line = as_trace_line_at(traces, i);
        as_slice_track track = {.run = line->run,
                                .location = line->location,
                                .kind = AS_SLICES_TRACE,
                                .section = ASSAY_NONE,
                                .n = line->n,
                                .first = i};
        if (line->n && !as_vec_append(&out->tracks, &track, 1)) return false;
    }
    return true;
}

/* ---- processes ------------------------------------------------------------------------------------------------------- */

/* The process that a location is in, or the outermost location around it. */
static assay_id process_of(const as_dataset *ds, assay_id location) {
    assay_id outermost = location;
    for (assay_id at = location; at < AS_COUNT(ds, locations); at = as_ds_location(ds, at)->parent) {
        const char *kind = as_ds_text(ds, as_ds_location(ds, at)->kind);
        if (kind && (strcmp(kind, "process") == 0 || strcmp(kind, "rank") == 0)) return at;
        outermost = at;
    }
    return outermost;
}

/* None, the largest id, comes first. */
static int compare_ids(assay_id a, assay_id b) { return a + 1 < b + 1 ? -1 : a + 1 > b + 1; }

static int compare_processes(const void *a, const void *b) {
    const as_slice_process *x = a, *y = b;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    return compare_ids(x->location, y->location);
}

static int compare_tracks(const void *a, const void *b) {
    const as_slice_track *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->location != y->location) return compare_ids(x->location, y->location);
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->section != y->section) return compare_ids(x->section, y->section);
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* Sorts the tracks by processes, and numbers both. */
static bool find_processes(as_slices *out) {
    size_t n = out->tracks.count, n_processes = 0;
    as_slice_track *tracks = out->tracks.data;
    for (size_t i = 0; i < n; i++) {
        as_slice_process process = {tracks[i].run, process_of(out->ds, tracks[i].location)};
        if (!as_vec_append(&out->processes, &process, 1)) return false;
    }
    as_slice_process *processes = out->processes.data;
    if (n) qsort(processes, n, sizeof *processes, compare_processes);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_processes(&processes[i], &processes[n_processes - 1]) != 0)
            processes[n_processes++] = processes[i];
    }
    out->processes.count = n_processes;
    for (size_t i = 0; i < n; i++) {
        as_slice_process process = {tracks[i].run, process_of(out->ds, tracks[i].location)};
        const as_slice_process *found = bsearch(&process, processes, n_processes, sizeof process, compare_processes);
        tracks[i].process = (uint32_t)(found - processes);
        tracks[i].pid = tracks[i].process + 1;
        tracks[i].is_of_gpu = tracks[i].location != ASSAY_NONE && as_location_is_gpu(out->ds, tracks[i].location);
    }
    if (n) qsort(tracks, n, sizeof *tracks, compare_tracks);
    for (size_t i = 0; i < n; i++) tracks[i].tid = (uint32_t)(n_processes + 1 + i);
    return true;
}

/* ---- attributes ------------------------------------------------------------------------------------------------------ */

/* Those of events that are in ds->attributes, in order of events. */
typedef struct event_attribute {
    uint32_t event, index;
} event_attribute;

static int compare_attributes(const void *a, const void *b) {
    const event_attribute *x = a, *y = b;
    if (x->event != y->event) return x->event < y->event ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool list_attributes(as_slices *out) {
    const as_dataset *ds = out->ds;
    if (ds->event_source) return true;
    for (size_t i = 0; i < ds->attributes.count; i++) {
        event_attribute found = {as_ds_attribute(ds, i)->owner_id, (uint32_t)i};
        if (as_ds_attribute(ds, i)->owner == AS_OWNER_EVENT && !as_vec_append(&out->attributes, &found, 1))
            return false;
    }
    if (out->attributes.count)
        qsort(out->attributes.data, out->attributes.count, sizeof(event_attribute), compare_attributes);
    return true;
}

bool as_slice_attribute(const as_slices *slices, uint64_t event, size_t k, as_attribute *out) {
    uint64_t first, end;
    if (slices->ds->event_source) {
        as_event_attributes(slices->ds, event, &first, &end);
        if (k >= end - first) return false;
        as_ds_any_attribute(slices->ds, first + k, out);
        return true;
    }
    const event_attribute *list = slices->attributes.data;
    size_t low = 0, high = slices->attributes.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    if (k >= slices->attributes.count - low || list[low + k].event != event) return false;
    *out = *as_ds_attribute(slices->ds, list[low + k].index);
    return true;
}

/* ---- opening --------------------------------------------------------------------------------------------------------- */

assay_status as_slices_open(const as_dataset *ds, as_slices *out, assay_error *error) {
    *out = (as_slices){.ds = ds};
    as_budget *budget = as_ds_budget(ds);
    as_vec_init(&out->processes, sizeof(as_slice_process), budget);
    as_vec_init(&out->tracks, sizeof(as_slice_track), budget);
    as_vec_init(&out->entries, sizeof(entry), budget);
    as_vec_init(&out->attributes, sizeof(event_attribute), budget);
    AS_TRY(as_trace_prepare(ds, error));
    gathering g = {.out = out,
                   .ds = ds,
                   .pause = as_find(&ds->strings, "pause", 5),
                   .section = as_find(&ds->strings, "section", 7),
                   .osrt = as_find(&ds->strings, "osrt", 4),
                   .sample = as_find(&ds->strings, "sample", 6),
                   .nvtx = as_find(&ds->strings, "nvtx", 4)};
    static const char *const style = "style";
    as_map_init(&g.groups, budget);
    as_map_init(&g.sets_of_kinds, budget);
    as_map_init(&g.sets_of_sections, budget);
    as_vec_init(&g.sets, sizeof(event_set), budget);
    bool fine = as_event_values_open(&g.values, ds, &style, 1) && gather(&g) && make_tracks(&g) &&
                find_processes(out) && list_attributes(out);
    as_event_values_close(&g.values);
    as_map_free(&g.groups);
    as_map_free(&g.sets_of_kinds);
    as_map_free(&g.sets_of_sections);
    as_vec_free(&g.sets);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

void as_slices_close(as_slices *slices) {
    as_vec_free(&slices->processes);
    as_vec_free(&slices->tracks);
    as_vec_free(&slices->entries);
    as_vec_free(&slices->attributes);
}

/* ---- names ----------------------------------------------------------------------------------------------------------- */

static bool end_text(as_vec *out, bool fine) { return fine && as_vec_append(out, "", 1); }

bool as_slice_process_name(const as_slices *slices, size_t process, as_vec *out) {
    const as_slice_process *p = as_slice_process_at(slices, process);
    const as_dataset *ds = slices->ds;
    const as_run *run = as_ds_run(ds, p->run);
    const char *name = p->location == ASSAY_NONE ? NULL : as_ds_text(ds, as_ds_location(ds, p->location)->name);
    const char *id = as_ds_text(ds, run->source_id);
    bool says_run = AS_COUNT(ds, runs) > 1 || p->location == ASSAY_NONE;
    char number[AS_NUMBER_SIZE];
    as_uint_format(p->run, number);
    out->count = 0;
    bool fine = !says_run || (as_vec_text(out, "run ") && as_vec_text(out, id ? id : number));
    if (p->location == ASSAY_NONE) return end_text(out, fine);
    return end_text(out, fine && as_vec_text(out, says_run ? ", " : "") && as_vec_text(out, name ? name : "?"));
}

/* The names of a location and of those around it, up to its process. */
static bool add_place(const as_slices *slices, assay_id location, assay_id process, as_vec *out) {
    const as_dataset *ds = slices->ds;
    assay_id parent = as_ds_location(ds, location)->parent;
    const char *name = as_ds_text(ds, as_ds_location(ds, location)->name);
    size_t most_levels = 8, n = 0;
    assay_id levels[8];
    for (assay_id at = parent; at < AS_COUNT(ds, locations) && at != process && location != process && n < most_levels;
         at = as_ds_location(ds, at)->parent)
        levels[n++] = at;
    while (n) {
        const char *outer = as_ds_text(ds, as_ds_location(ds, levels[--n])->name);
        if (!as_vec_text(out, outer ? outer : "?") || !as_vec_text(out, " ")) return false;
    }
    return as_vec_text(out, name ? name : "?");
}

bool as_slice_track_name(const as_slices *slices, const as_slice_track *track, as_vec *out) {
    static const char *const words[] = {[AS_SLICES_NESTED] = "",         [AS_SLICES_OSRT] = "OS runtime",
                                        [AS_SLICES_RANGES] = "ranges",   [AS_SLICES_SECTION] = "sections",
                                        [AS_SLICES_SAMPLES] = "samples", [AS_SLICES_PAUSES] = "pauses",
                                        [AS_SLICES_TRACE] = ""};
    const as_dataset *ds = slices->ds;
    const char *word = words[track->kind];
    if (track->section != ASSAY_NONE) word = as_ds_text(ds, as_ds_context(ds, track->section)->name);
    if (!word) word = "?";
    if (!*word && track->location == ASSAY_NONE) word = "regions";
    out->count = 0;
    assay_id process = as_slice_process_at(slices, track->process)->location;
    if (track->location != ASSAY_NONE && !add_place(slices, track->location, process, out)) return false;
    if (*word && out->count && !as_vec_text(out, ": ")) return false;
    if (!as_vec_text(out, word)) return false;
    char number[AS_NUMBER_SIZE];
    as_uint_format((uint64_t)track->lane + 1, number);
    bool fine = !track->lane || (as_vec_text(out, " (") && as_vec_text(out, number) && as_vec_text(out, ")"));
    return end_text(out, fine);
}

const char *as_slice_name(const as_dataset *ds, const as_time_slice *slice) {
    const char *name = as_ds_text(ds, slice->name);
    if (!name && slice->context < AS_COUNT(ds, contexts))
        name = as_ds_text(ds, as_ds_context(ds, slice->context)->name);
    return name ? name : "<unknown>";
}

/* ---- walking --------------------------------------------------------------------------------------------------------- */

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
    const entry *entries = (const entry *)w->slices->entries.data + w->track->first;
    for (uint64_t i = 0; i < w->track->n; i++) {
        as_event event;
        as_ds_event(w->slices->ds, entries[i].event, &event);
        as_time_slice slice = {.start = entries[i].start,
                               .end = entries[i].end,
                               .is_moment = isnan(event.end),
                               .event = entries[i].event,
                               .name = event.name,
                               .kind = event.kind,
                               .context = event.context};
        if (!end_until(w, slice.start) || !begin(w, &slice)) return;
    }
    end_until(w, UINT64_MAX);
}

/* ---- samples --------------------------------------------------------------------------------------------------------- */

/* The calls on the way to a context, the innermost first; of one that is not there ASSAY_NONE. */
static bool find_path(walk *w, assay_id context) {
    const as_dataset *ds = w->slices->ds;
    w->path.count = 0;
    if (context >= AS_COUNT(ds, contexts)) return as_vec_append(&w->path, &context, 1);
    for (assay_id at = context; at != ASSAY_NONE; at = as_ds_context(ds, at)->parent) {
        bool is_call = as_ds_context(ds, at)->role == AS_ROLE_CALL && !as_context_is_root(ds, at);
        if (is_call && !as_vec_append(&w->path, &at, 1)) return false;
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
    bool is_exact = traces->ticks_per_second == NANOSECONDS && stamp >= traces->start;
    uint64_t zero = nanoseconds(slices, 0);
    if (!is_exact) return nanoseconds(slices, as_trace_seconds(slices->ds, stamp));
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
