/* Gathers intervals into sets (the nested ones of a run and location, those of a section), and makes rows of them. */
#include "analysis/trace/timeline.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/trace/timeline_private.h"
#include "core/parallel.h"

/* A run with more pauses has them in its first row only: all of them in all rows would be too much. */
enum { MOST_SECTION_SETS = 1024, MOST_PAUSES = 256 };
#define LEFT_OUT UINT32_MAX

typedef struct gathering {
    const as_dataset *ds;
    const as_timeline_choice *choice;
    as_timeline *out;
    as_str pause, section, osrt, sample, nvtx; /* kinds */
    as_event_values values;                    /* the style of ranges */
    as_map groups;                             /* run, location -> its number */
    as_map tracks;                             /* that number, track -> set */
    as_map sections;                           /* that number, context -> set */
    as_vec sets;                               /* as_interval_set */
    as_vec pauses;                             /* pause */
    uint32_t *set_of;                          /* for each event */
    size_t n_section_sets;
    bool are_pooled; /* sections of a run and location are one set */
    double first, last;
} gathering;

typedef struct pause {
    assay_id run;
    double start, end;
} pause;

/* ---- which set --------------------------------------------------------------------------------------------------- */

/* The number of the set, or LEFT_OUT when memory is out. */
static uint32_t find_set(gathering *g, as_map *map, uint64_t key, as_interval_set wanted) {
    uint32_t number = as_map_get(map, key);
    if (number != AS_MAP_NONE) return number;
    number = (uint32_t)g->sets.count;
    if (!as_vec_append(&g->sets, &wanted, 1)) return LEFT_OUT;
    return as_map_put(map, key, number) ? number : LEFT_OUT;
}

static as_track track_of(const gathering *g, uint64_t number, const as_event *event) {
    if (event->kind == AS_NO_STR) return AS_TRACK_NESTED;
    if (event->kind == g->section) return AS_TRACK_SECTION;
    if (event->kind == g->osrt) return AS_TRACK_OSRT;
    if (event->kind == g->sample) return AS_TRACK_SAMPLES;
    as_cell style;
    bool is_range = event->kind == g->nvtx && as_event_value(&g->values, number, 0, &style);
    return is_range && style.type == AS_CELL_TEXT && strcmp(style.text, "StartEnd") == 0 ? AS_TRACK_RANGES
                                                                                         : AS_TRACK_NESTED;
}

/* A number for the run and location; LEFT_OUT when memory is out. */
static uint32_t group_of(gathering *g, assay_id run, assay_id location) {
    uint32_t number = as_map_get(&g->groups, as_pair(run, location));
    if (number != AS_MAP_NONE) return number;
    number = (uint32_t)g->groups.count;
    return as_map_put(&g->groups, as_pair(run, location), number) ? number : LEFT_OUT;
}

static uint32_t find_track(gathering *g, assay_id run, assay_id location, as_track track, assay_id context) {
    as_interval_set wanted = {.run = run, .location = location, .section = ASSAY_NONE, .track = track};
    uint32_t group = group_of(g, run, location);
    if (group == LEFT_OUT || track != AS_TRACK_SECTION)
        return group == LEFT_OUT ? LEFT_OUT : find_set(g, &g->tracks, as_pair(group, track), wanted);
    wanted.section = g->are_pooled ? AS_MANY_SECTIONS : context;
    if (wanted.section == ASSAY_NONE) wanted.section = AS_MANY_SECTIONS; /* nobody said which */
    size_t before = g->sets.count;
    uint32_t set = find_set(g, &g->sections, as_pair(group, wanted.section), wanted);
    g->n_section_sets += g->sets.count - before;
    return set;
}

static bool is_wanted(const gathering *g, const as_event *event) {
    if (event->run >= AS_COUNT(g->ds, runs) || !isfinite(event->start)) return false;
    if (g->choice->runs && !g->choice->runs[event->run]) return false;
    bool has_place = event->location < AS_COUNT(g->ds, locations);
    return !g->choice->locations || (has_place && g->choice->locations[event->location]);
}

static bool is_pause(const gathering *g, const as_event *event) {
    return event->kind == g->pause && event->kind != AS_NO_STR;
}

/* On the common clock, in seconds; moments, and what ends before it begins, end when they begin. */
static void find_times(const as_timeline *timeline, const as_event *event, double *start, double *end) {
    double offset = timeline->offsets[event->run];
    *start = event->start + offset;
    *end = isfinite(event->end) && event->end > event->start ? event->end + offset : *start;
}

/* What has no context is known by its name. False when memory is out. */
static bool know_name(as_timeline *timeline, const as_event *event) {
    as_vec *names = &timeline->names;
    if (event->context != ASSAY_NONE || event->name == AS_NO_STR ||
        AS_COUNT(timeline->ds, contexts) + names->count >= AS_TRACE_PAUSED ||
        as_map_get(&timeline->numbers_of_names, event->name) != AS_MAP_NONE)
        return true;
    return as_map_put(&timeline->numbers_of_names, event->name, (uint32_t)names->count) &&
           as_vec_append(names, &event->name, 1);
}

static bool sort_event(gathering *g, uint64_t number) {
    as_event event;
    double start, end;
    as_ds_event(g->ds, number, &event);
    g->set_of[number] = LEFT_OUT;
    if (is_pause(g, &event)) { /* of the run: wherever it was */
        if (event.run >= AS_COUNT(g->ds, runs) || !isfinite(event.start)) return true;
        if (g->choice->runs && !g->choice->runs[event.run]) return true;
        find_times(g->out, &event, &start, &end);
        pause p = {event.run, start, end};
        if (!g->choice->locations && find_track(g, event.run, event.location, AS_TRACK_NESTED, ASSAY_NONE) == LEFT_OUT)
            return false;
        if (!as_vec_append(&g->pauses, &p, 1)) return false;
    } else {
        if (!is_wanted(g, &event)) return true;
        find_times(g->out, &event, &start, &end);
        as_track track = track_of(g, number, &event);
        uint32_t set = g->set_of[number] = find_track(g, event.run, event.location, track, event.context);
        if (set == LEFT_OUT || !know_name(g->out, &event)) return false;
        AS_AT(as_interval_set, &g->sets, set).n++;
    }
    if (start < g->first) g->first = start;
    if (end > g->last) g->last = end;
    return true;
}

/* Sorts all events into sets; where there would be too many sections, again with these pooled. */
static bool sort_events(gathering *g) {
    uint64_t n = as_ds_intervals(g->ds);
    as_map_init(&g->groups, as_ds_budget(g->ds));
    as_map_init(&g->tracks, as_ds_budget(g->ds));
    as_map_init(&g->sections, as_ds_budget(g->ds));
    bool fine = true;
    g->first = 0;
    g->last = -INFINITY;
    for (uint64_t i = 0; i < n && fine; i++) {
        fine = sort_event(g, i);
        if (g->n_section_sets > MOST_SECTION_SETS) break;
    }
    as_map_free(&g->groups);
    as_map_free(&g->tracks);
    as_map_free(&g->sections);
    if (!fine || g->n_section_sets <= MOST_SECTION_SETS || g->are_pooled) return fine;
    g->are_pooled = true;
    g->sets.count = g->pauses.count = 0;
    g->n_section_sets = 0;
    return sort_events(g);
}

/* ---- the clock --------------------------------------------------------------------------------------------------- */

static bool find_offsets(gathering *g) {
    size_t n = AS_COUNT(g->ds, runs);
    double first = INFINITY;
    g->out->offsets = calloc(n + 1, sizeof *g->out->offsets);
    if (!g->out->offsets || !g->choice->by_wallclock) return g->out->offsets != NULL;
    for (size_t i = 0; i < n; i++) {
        double start = as_ds_run(g->ds, (assay_id)i)->start_time;
        if ((!g->choice->runs || g->choice->runs[i]) && isfinite(start) && start < first) first = start;
    }
    for (size_t i = 0; i < n; i++) {
        double start = as_ds_run(g->ds, (assay_id)i)->start_time;
        if (isfinite(start) && start > first) g->out->offsets[i] = start - first;
    }
    return true;
}

/* Nanoseconds, unless the events span centuries. */
static void set_clock(gathering *g) {
    double ticks = 1e9;
    while ((g->last - g->first) * ticks >= 0x1p62) ticks /= 10;
    g->out->clock = (as_trace_clock){ticks, (uint64_t)round(-g->first * ticks)};
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

/* What an interval is: its context, or what stands for its name. */
static assay_id context_of(const as_timeline *timeline, const as_event *event) {
    if (event->context != ASSAY_NONE || event->name == AS_NO_STR) return event->context;
    uint32_t number = as_map_get(&timeline->numbers_of_names, event->name);
    return number == AS_MAP_NONE ? ASSAY_NONE : (assay_id)(AS_COUNT(timeline->ds, contexts) + number);
}

as_interval as_interval_of(const as_timeline *timeline, uint32_t number) {
    as_event event;
    double start, end;
    as_ds_event(timeline->ds, number, &event);
    find_times(timeline, &event, &start, &end);
    return (as_interval){.start = as_clock_stamp(&timeline->clock, start),
                         .end = as_clock_stamp(&timeline->clock, end),
                         .context = context_of(timeline, &event),
                         .event = number};
}

/* Gives each set its events, one set behind the other. */
static bool place_events(gathering *g) {
    as_timeline *out = g->out;
    size_t n = 0, bytes;
    for (size_t i = 0; i < g->sets.count; i++) n += AS_AT(as_interval_set, &g->sets, i).n;
    if (!as_mul_size(n + 1, sizeof *out->events, &bytes) || !as_timeline_take(out, bytes)) return false;
    out->events = malloc(bytes);
    if (!out->events) return false;
    uint32_t *next = out->events;
    for (size_t i = 0; i < g->sets.count; i++) {
        as_interval_set *set = &AS_AT(as_interval_set, &g->sets, i);
        set->events = next;
        next += set->n;
        set->n = 0;
    }
    for (uint64_t i = 0; i < as_ds_intervals(g->ds); i++) {
        if (g->set_of[i] == LEFT_OUT) continue;
        as_interval_set *set = &AS_AT(as_interval_set, &g->sets, g->set_of[i]);
        set->events[set->n++] = (uint32_t)i;
    }
    out->n_intervals = n;
    return true;
}

static int compare_pauses(const void *a, const void *b) {
    const pause *x = a, *y = b;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

/* The union of each run's pauses. */
static bool unite_pauses(gathering *g, as_vec *out) {
    g->out->n_pauses = g->pauses.count;
    if (g->pauses.count) qsort(g->pauses.data, g->pauses.count, sizeof(pause), compare_pauses);
    for (size_t i = 0; i < g->pauses.count; i++) {
        const pause *p = &AS_AT(pause, &g->pauses, i);
        as_pause_span span = {p->run, as_clock_stamp(&g->out->clock, p->start), as_clock_stamp(&g->out->clock, p->end)};
        as_pause_span *last = out->count ? &AS_AT(as_pause_span, out, out->count - 1) : NULL;
        if (last && last->run == span.run && span.start <= last->end) {
            if (span.end > last->end) last->end = span.end;
        } else if (!as_vec_append(out, &span, 1)) {
            return false;
        }
    }
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef struct row_work {
    as_interval_set *sets;
    as_timeline *out;
    const as_vec *pauses; /* as_pause_span */
} row_work;

/* The number of the first pause of a run or of one behind it. */
static size_t first_pause(const as_vec *pauses, uint64_t run) {
    size_t low = 0, high = pauses->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (AS_AT(as_pause_span, pauses, middle).run < run)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void do_set(void *user, size_t i) {
    row_work *w = user;
    as_interval_set *set = &w->sets[i];
    size_t first = first_pause(w->pauses, set->run), n = first_pause(w->pauses, (uint64_t)set->run + 1) - first;
    bool is_first = set->track == AS_TRACK_NESTED && (i == 0 || w->sets[i - 1].run != set->run);
    if (n && (is_first || n <= MOST_PAUSES)) {
        set->pauses = &AS_AT(as_pause_span, w->pauses, first);
        set->n_pauses = n;
    }
    set->is_done = as_set_make_rows(set, w->out);
}

/* The place of a location among all; events of no location come first. */
static uint64_t order_of(const gathering *g, assay_id location) {
    if (location >= AS_COUNT(g->ds, locations)) return location == ASSAY_NONE ? 0 : 1 + (uint64_t)location;
    return 1 + (uint64_t)(g->choice->order ? g->choice->order[location] : location);
}

/* Contexts are in the order of the call tree. */
static int compare_sets(const void *a, const void *b, void *user) {
    const as_interval_set *x = a, *y = b;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    if (x->location != y->location) return order_of(user, x->location) < order_of(user, y->location) ? -1 : 1;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return x->section + 1 < y->section + 1 ? -1 : x->section + 1 > y->section + 1;
}

/* Puts the rows of all sets together; those without anything are left out. */
static bool put_rows(gathering *g) {
    as_timeline *out = g->out;
    size_t n = 0;
    for (size_t i = 0; i < g->sets.count; i++) n += AS_AT(as_interval_set, &g->sets, i).n_rows;
    out->rows = calloc(n + 1, sizeof *out->rows);
    out->lines = calloc(n + 1, sizeof *out->lines);
    if (!out->rows || !out->lines) return false;
    for (size_t i = 0; i < g->sets.count; i++) {
        as_interval_set *set = &AS_AT(as_interval_set, &g->sets, i);
        out->n_hidden += set->n_hidden;
        out->n_intervals -= set->n_hidden;
        for (size_t k = 0; k < set->n_rows; k++) {
            if (!set->rows[k].n_changes) {
                as_row_free(&set->rows[k]);
                continue;
            }
            as_timeline_row *row = &out->rows[out->n_rows];
            *row = set->rows[k];
            out->lines[out->n_rows++] = (as_trace_line){
                .run = row->run, .location = row->location, .n = row->n_changes, .source = &row->source};
        }
        set->n_rows = 0;
    }
    return true;
}

static bool make_rows(gathering *g) {
    as_vec pauses;
    as_vec_init(&pauses, sizeof(as_pause_span), as_ds_budget(g->ds));
    bool fine = unite_pauses(g, &pauses);
    size_t n = g->sets.count;
    if (fine && n) {
        row_work w = {g->sets.data, g->out, &pauses};
        qsort_r(g->sets.data, n, sizeof(as_interval_set), compare_sets, g);
        as_parallel(n, 0, do_set, &w);
    }
    for (size_t i = 0; i < n && fine; i++) fine = AS_AT(as_interval_set, &g->sets, i).is_done;
    fine = fine && put_rows(g);
    for (size_t i = 0; i < n; i++) as_set_free(&AS_AT(as_interval_set, &g->sets, i));
    as_vec_free(&pauses);
    return fine;
}

bool as_timeline_take(as_timeline *timeline, uint64_t bytes) {
    if (!as_budget_take(timeline->budget, bytes)) return false;
    __atomic_add_fetch(&timeline->taken, bytes, __ATOMIC_RELAXED);
    return true;
}

assay_status as_timeline_of(const as_dataset *ds, const as_timeline_choice *choice, as_timeline *out,
                            assay_error *error) {
    *out = (as_timeline){.ds = ds, .budget = as_ds_budget(ds)};
    uint64_t n = as_ds_intervals(ds);
    gathering g = {.ds = ds,
                   .choice = choice,
                   .out = out,
                   .pause = as_find(&ds->strings, "pause", 5),
                   .section = as_find(&ds->strings, "section", 7),
                   .osrt = as_find(&ds->strings, "osrt", 4),
                   .sample = as_find(&ds->strings, "sample", 6),
                   .nvtx = as_find(&ds->strings, "nvtx", 4)};
    static const char *const style = "style";
    as_map_init(&out->numbers_of_names, as_ds_budget(ds));
    as_vec_init(&out->names, sizeof(as_str), as_ds_budget(ds));
    as_vec_init(&g.sets, sizeof(as_interval_set), as_ds_budget(ds));
    as_vec_init(&g.pauses, sizeof(pause), as_ds_budget(ds));
    bool fine = n < UINT32_MAX && as_budget_allows(out->budget, n * sizeof *g.set_of);
    g.set_of = fine ? malloc((n + 1) * sizeof *g.set_of) : NULL;
    fine = as_event_values_open(&g.values, ds, &style, 1) && g.set_of && find_offsets(&g) && sort_events(&g);
    as_event_values_close(&g.values);
    if (fine) set_clock(&g);
    fine = fine && place_events(&g);
    free(g.set_of);
    fine = fine && make_rows(&g);
    as_vec_free(&g.sets);
    as_vec_free(&g.pauses);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

uint64_t as_timeline_size(const as_timeline *timeline) {
    uint64_t size = timeline->taken;
    for (size_t i = 0; i < timeline->n_rows; i++) {
        const as_timeline_row *row = &timeline->rows[i];
        size += sizeof *row + row->packed.count + row->blocks.count * sizeof(as_change_block);
    }
    return size;
}

void as_timeline_free(as_timeline *timeline) {
    for (size_t i = 0; i < timeline->n_rows && timeline->rows; i++) as_row_free(&timeline->rows[i]);
    free(timeline->rows);
    free(timeline->lines);
    free(timeline->events);
    free(timeline->offsets);
    as_vec_free(&timeline->names);
    as_map_free(&timeline->numbers_of_names);
    as_budget_give(timeline->budget, timeline->taken);
    *timeline = (as_timeline){0};
}
