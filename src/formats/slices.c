/* Which tracks there are, and what they are called. */
#include "formats/slices.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "formats/slices_private.h"

#define NANOSECONDS 1e9
#define LATEST      0x1p62 /* nanoseconds, 146 years: what comes later is said to be then */

uint64_t as_slice_nanoseconds(const as_slices *slices, double seconds) {
    double ns = nearbyint((seconds - slices->earliest) * NANOSECONDS);
    return ns >= LATEST ? (uint64_t)LATEST : ns > 0 ? (uint64_t)ns : 0;
}

bool as_slice_is_too_late(const as_slices *slices, double seconds) {
    return (seconds - slices->earliest) * NANOSECONDS >= LATEST;
}

bool as_slice_is_exact(const as_slices *slices, double seconds) {
    const double least = 1e-3; /* of a nanosecond; and what the digits of both times leave open */
    double ns = (seconds - slices->earliest) * NANOSECONDS;
    double digits = 4 * DBL_EPSILON * NANOSECONDS * fmax(fabs(seconds), fabs(slices->earliest));
    return !(fabs(ns - nearbyint(ns)) > fmax(least, digits));
}

/* ---- tracks ------------------------------------------------------------------------------------------------------ */

static bool make_tracks(as_slices *out) {
    for (size_t i = 0; i < out->sets->all.count; i++) {
        const as_slice_set *set = &AS_AT(as_slice_set, &out->sets->all, i);
        for (size_t lane = 0; lane < set->lanes.count; lane++) {
            as_slice_track track = {.run = set->run,
                                    .location = set->location,
                                    .kind = set->kind,
                                    .section = set->section,
                                    .lane = (uint32_t)lane,
                                    .n = AS_AT(as_slice_lane, &set->lanes, lane).n,
                                    .first = i};
            if (!as_vec_append(&out->tracks, &track, 1)) return false;
        }
    }
    const as_traces *traces = &out->ds->traces;
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

/* Lanes know their tracks from now on. */
static void tell_lanes(as_slices *out) {
    for (size_t i = 0; i < out->tracks.count; i++) {
        const as_slice_track *track = as_slice_track_at(out, i);
        if (track->kind == AS_SLICES_TRACE) continue;
        as_slice_set *set = &AS_AT(as_slice_set, &out->sets->all, track->first);
        AS_AT(as_slice_lane, &set->lanes, track->lane).track = (uint32_t)i;
    }
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

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

/* ---- attributes -------------------------------------------------------------------------------------------------- */

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

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static bool make_sets(as_slices *out) {
    static const char *const style = "style";
    const as_strings *strings = &out->ds->strings;
    as_budget *budget = as_ds_budget(out->ds);
    as_slice_sets *sets = malloc(sizeof *sets);
    if (!sets) return false;
    *sets = (as_slice_sets){.pause = as_find(strings, "pause", 5),
                            .section = as_find(strings, "section", 7),
                            .osrt = as_find(strings, "osrt", 4),
                            .sample = as_find(strings, "sample", 6),
                            .nvtx = as_find(strings, "nvtx", 4)};
    as_map_init(&sets->groups, budget);
    as_map_init(&sets->of_kinds, budget);
    as_map_init(&sets->of_sections, budget);
    as_vec_init(&sets->all, sizeof(as_slice_set), budget);
    out->sets = sets;
    return as_event_values_open(&sets->values, out->ds, &style, 1);
}

/* Contexts with more calls on the way to them than are told. */
static uint64_t count_cut(const as_slices *slices) {
    const as_dataset *ds = slices->ds;
    uint64_t n_cut = 0;
    for (assay_id i = 0; as_trace_line_count(&ds->traces) && i < AS_COUNT(ds, contexts); i++) {
        uint32_t n = 0;
        if (as_ds_context(ds, i)->depth < slices->most_deep) continue;
        for (assay_id at = i; at != ASSAY_NONE && n <= slices->most_deep; at = as_ds_context(ds, at)->parent)
            n += as_slice_is_call(ds, at);
        n_cut += n > slices->most_deep;
    }
    return n_cut;
}

assay_status as_slices_open(const as_dataset *ds, bool by_track, uint32_t most_deep, as_slices *out,
                            assay_error *error) {
    *out = (as_slices){.ds = ds, .most_deep = most_deep};
    as_budget *budget = as_ds_budget(ds);
    as_vec_init(&out->processes, sizeof(as_slice_process), budget);
    as_vec_init(&out->tracks, sizeof(as_slice_track), budget);
    as_vec_init(&out->listed, sizeof(uint64_t), budget);
    as_vec_init(&out->attributes, sizeof(event_attribute), budget);
    AS_TRY(as_trace_prepare(ds, error));
    bool fine = as_event_order_open(&out->order, ds) && make_sets(out);
    out->earliest = out->order.earliest;
    out->n_left_out = out->order.n_without_time;
    out->n_cut = count_cut(out);
    fine = fine && as_slices_make_lanes(out) && make_tracks(out) && find_processes(out) && list_attributes(out);
    if (fine) tell_lanes(out);
    fine = fine && (!by_track || as_slices_list(out));
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

static void free_sets(as_slice_sets *sets) {
    if (!sets) return;
    for (size_t i = 0; i < sets->all.count; i++) {
        as_vec *lanes = &AS_AT(as_slice_set, &sets->all, i).lanes;
        for (size_t k = 0; k < lanes->count; k++) as_vec_free(&AS_AT(as_slice_lane, lanes, k).open);
        as_vec_free(lanes);
    }
    as_vec_free(&sets->all);
    as_event_values_close(&sets->values);
    as_map_free(&sets->groups);
    as_map_free(&sets->of_kinds);
    as_map_free(&sets->of_sections);
    free(sets);
}

void as_slices_close(as_slices *slices) {
    free_sets(slices->sets);
    slices->sets = NULL;
    as_event_order_close(&slices->order);
    as_vec_free(&slices->processes);
    as_vec_free(&slices->tracks);
    as_vec_free(&slices->listed);
    as_vec_free(&slices->attributes);
}

/* Contexts of samples, and those around them; false when memory is out. */
static bool mark_sampled(const as_dataset *ds, bool *marks) {
    enum { STEP = 4096 };
    as_trace_sample samples[STEP];
    for (size_t i = 0; i < as_trace_line_count(&ds->traces); i++) {
        const as_trace_line *line = as_trace_line_at(&ds->traces, i);
        assay_status status = ASSAY_OK;
        for (uint64_t done = 0; done < line->n && status == ASSAY_OK;) {
            size_t n = line->n - done < STEP ? (size_t)(line->n - done) : STEP;
            status = as_trace_read(ds, line, done, n, samples, NULL); /* writing will meet what is broken again */
            if (status == ASSAY_E_NOMEM) return false;
            for (size_t k = 0; k < n && status == ASSAY_OK; k++)
                if (samples[k].context != ASSAY_NONE) marks[samples[k].context] = true;
            done += n;
        }
    }
    for (assay_id id = (assay_id)AS_COUNT(ds, contexts); id-- > 0;) {
        assay_id parent = as_ds_context(ds, id)->parent;
        if (marks[id] && parent != ASSAY_NONE) marks[parent] = true;
    }
    return true;
}

/* What has no part in a time line: contexts and locations. */
static void lose_eventless(const as_dataset *ds, as_losses *losses) {
    bool *marks = calloc(AS_COUNT(ds, contexts) + 1, sizeof *marks),
         *places = calloc(AS_COUNT(ds, locations) + 1, sizeof *places);
    size_t n = 0, n_places = 0;
    bool fine = marks && places && mark_sampled(ds, marks);
    losses->failed |= !fine;
    for (size_t i = 0; fine && i < as_trace_line_count(&ds->traces); i++) {
        const as_trace_line *line = as_trace_line_at(&ds->traces, i);
        if (line->location != ASSAY_NONE) places[line->location] |= line->n > 0;
    }
    for (uint64_t i = 0; fine && i < as_ds_intervals(ds); i++) {
        as_event event;
        as_ds_event(ds, i, &event);
        if (event.context != ASSAY_NONE) marks[event.context] = true;
        if (event.location != ASSAY_NONE) places[event.location] = true;
    }
    for (assay_id id = 0; fine && id < AS_COUNT(ds, locations); id++)
        n_places += !places[id] && as_ds_location(ds, id)->leaf;
    for (assay_id id = 0; fine && id < AS_COUNT(ds, contexts); id++)
        n += !marks[id] && !as_context_is_root(ds, id) && as_ds_context(ds, id)->role != AS_ROLE_PLACELESS;
    free(marks);
    free(places);
    if (n) as_lose(losses, "%zu context%s without events", n, n == 1 ? "" : "s");
    if (n_places) as_lose(losses, "%zu location%s without events", n_places, n_places == 1 ? "" : "s");
}

void as_lose_slices(const as_dataset *ds, uint32_t most_deep, as_losses *losses) {
    as_slices slices;
    assay_error error;
    if (as_slices_open(ds, false, most_deep, &slices, &error) == ASSAY_E_NOMEM) losses->failed = true;
    lose_eventless(ds, losses);
    if (slices.n_left_out)
        as_lose(losses, "%llu event%s without a time or a run, or beyond 256 that overlap",
                (unsigned long long)slices.n_left_out, slices.n_left_out == 1 ? "" : "s");
    if (slices.n_rounded)
        as_lose(losses, "the parts of a nanosecond in the times of %llu event%s (they are rounded)",
                (unsigned long long)slices.n_rounded, slices.n_rounded == 1 ? "" : "s");
    if (slices.n_too_late)
        as_lose(losses,
                "the times of %llu event%s more than 146 years after the first (that is when they begin or end)",
                (unsigned long long)slices.n_too_late, slices.n_too_late == 1 ? "" : "s");
    double ticks = ds->traces.ticks_per_second;
    if (ds->traces.n_samples && !(fmod(NANOSECONDS, ticks) == 0))
        as_lose(losses, "the parts of a nanosecond in the times of samples (they are rounded)");
    if (slices.n_cut)
        as_lose(losses, "the innermost calls of %llu call path%s of more than %u", (unsigned long long)slices.n_cut,
                slices.n_cut == 1 ? "" : "s", (unsigned)most_deep);
    as_slices_close(&slices);
}

static bool is_of_event(const as_dataset *ds, const as_attribute *attribute) {
    (void)ds;
    return attribute->owner == AS_OWNER_EVENT;
}

void as_lose_beside_slices(const as_dataset *ds, as_losses *losses) {
    size_t n = as_ds_parameters(ds);
    as_lose_slices(ds, AS_SLICES_OF_PERFETTO, losses);
    as_lose_attributes(losses, ds, is_of_event);
    if (n) as_lose(losses, "%zu parameter%s", n, n == 1 ? "" : "s");
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

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

const char *as_slice_name(const as_dataset *ds, const as_time_slice *slice, size_t *size) {
    static const char unknown[] = "<unknown>";
    as_str name = slice->name;
    if (name == AS_NO_STR && slice->context < AS_COUNT(ds, contexts)) name = as_ds_context(ds, slice->context)->name;
    *size = name == AS_NO_STR ? sizeof unknown - 1 : as_str_size(&ds->strings, name);
    return name == AS_NO_STR ? unknown : as_ds_text(ds, name);
}
