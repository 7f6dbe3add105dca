/* Trace lines made from intervals: at every time the context of the latest interval that is under way, at its end that
 * of the one around it. */
#include <stdlib.h>

#include "formats/hpctoolkit/write_plan.h"

#define NANOSECONDS 1e9

/* An interval of the run that is written. */
typedef struct interval {
    uint64_t start, end;
    uint32_t profile;
    uint32_t order; /* among those of the dataset */
    assay_id context;
} interval;

/* Where they go: its own profile, or the one of values without a place. UINT32_MAX: nowhere. */
static uint32_t profile_of(const as_hpc_plan *plan, assay_id location) {
    return location < plan->ds->locations.count ? plan->profile_of_location[location] : plan->placeless_profile;
}

bool *as_hpc_find_sections(const as_dataset *ds) {
    size_t n = ds->contexts.count;
    bool *in_section = calloc(n + 1, sizeof *in_section);
    for (assay_id i = 0; in_section && i < n; i++) {
        assay_id parent = as_ds_context(ds, i)->parent;
        in_section[i] = parent == ASSAY_NONE ? as_context_is_section(ds, i) : in_section[parent];
    }
    return in_section;
}

bool as_hpc_is_traceable(const as_dataset *ds, const as_event *event, const bool *in_section) {
    return event->context < ds->contexts.count && event->end >= event->start && !in_section[event->context];
}

static uint64_t nanoseconds_since(double seconds, double least) {
    double ns = nearbyint((seconds - least) * NANOSECONDS);
    return ns >= 0x1p62 ? (uint64_t)1 << 62 : ns > 0 ? (uint64_t)ns : 0;
}

/* All that can be written; times in nanoseconds behind plan->made_start. */
static bool collect(as_hpc_plan *plan, const bool *in_section, as_vec *out) {
    const as_dataset *ds = plan->ds;
    double least = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t i = 0; i < as_ds_intervals(ds); i++) {
            as_event event;
            as_ds_event(ds, i, &event);
            uint32_t profile = profile_of(plan, event.location);
            if (event.run != plan->run || profile == UINT32_MAX) continue;
            if (!as_hpc_is_traceable(ds, &event, in_section)) continue;
            if (pass == 0) {
                least = fmin(least, event.start);
                continue;
            }
            interval new = {.start = plan->made_start + nanoseconds_since(event.start, least),
                            .end = plan->made_start + nanoseconds_since(event.end, least),
                            .profile = profile,
                            .order = (uint32_t)out->count,
                            .context = event.context};
            if (!as_vec_append(out, &new, 1)) return false;
        }
    }
    return true;
}

/* Those around others come before them. */
static int compare_intervals(const void *a, const void *b) {
    const interval *x = a, *y = b;
    if (x->profile != y->profile) return x->profile < y->profile ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* ---- one line ---------------------------------------------------------------------------------------------------- */

/* Who reads the line of a thread gives a sample the time between the mid-points to its neighbours; so what lasts has a
 * second one, at its last nanosecond. Samples of GPUs have the time up to the next one. */
typedef struct line_maker {
    as_vec *samples; /* of all lines */
    size_t first;    /* those of this one */
    as_vec open;     /* const interval *: under way, the latest on top */
    bool has_last;   /* a second sample of what lasts */
} line_maker;

static as_trace_sample *last_sample(const line_maker *m) {
    return m->samples->count > m->first ? &AS_AT(as_trace_sample, m->samples, m->samples->count - 1) : NULL;
}

static bool emit(line_maker *m, uint64_t time, assay_id context) {
    const as_trace_sample *last = last_sample(m);
    if (last && last->time == time) m->samples->count--; /* it was for no time at all */
    last = last_sample(m);
    if (last && last->context == context) return true;
    as_trace_sample end = last ? *last : (as_trace_sample){0}, sample = {.time = time, .context = context};
    bool has_end = m->has_last && last && time - last->time > 1;
    end.time = time - 1;
    return (!has_end || as_vec_append(m->samples, &end, 1)) && as_vec_append(m->samples, &sample, 1);
}

static const interval *top(const line_maker *m) {
    return m->open.count ? AS_AT(const interval *, &m->open, m->open.count - 1) : NULL;
}

/* Ends what ends up to a time. */
static bool advance(line_maker *m, uint64_t time) {
    for (const interval *at; (at = top(m)) != NULL && at->end <= time;) {
        uint64_t end = at->end;
        while ((at = top(m)) != NULL && at->end <= end) m->open.count--;
        if (!emit(m, end, at ? at->context : ASSAY_NONE)) return false;
    }
    return true;
}

static bool make_line(line_maker *m, const interval *intervals, size_t n) {
    m->first = m->samples->count;
    for (size_t i = 0; i < n; i++) {
        const interval *next = &intervals[i];
        if (!advance(m, next->start) || !emit(m, next->start, next->context) || !as_vec_append(&m->open, &next, 1))
            return false;
    }
    return advance(m, UINT64_MAX);
}

static bool is_of_gpu(const as_hpc_plan *plan, const as_hpc_planned_profile *profile) {
    bool found = false;
    for (uint32_t i = 0; i < profile->n_ids && !found; i++) {
        uint16_t kind = AS_AT(as_hpc_identifier, &plan->ids_of_places, profile->first_id + i).kind;
        found = strncmp(AS_AT(const char *, &plan->kinds, kind), "GPU", 3) == 0;
    }
    return found;
}

static bool make_lines(as_hpc_plan *plan, const as_vec *all) {
    const interval *intervals = all->data;
    line_maker m = {.samples = &plan->made_samples};
    as_vec_init(&m.open, sizeof(const interval *), as_ds_budget(plan->ds));
    bool fine = true;
    for (size_t from = 0, end; fine && from < all->count; from = end) {
        for (end = from + 1; end < all->count && intervals[end].profile == intervals[from].profile;) end++;
        as_hpc_planned_profile *profile = &AS_AT(as_hpc_planned_profile, &plan->profiles, intervals[from].profile);
        profile->first_made = plan->made_samples.count;
        m.has_last = !is_of_gpu(plan, profile);
        fine = make_line(&m, intervals + from, end - from);
        profile->n_made = plan->made_samples.count - profile->first_made;
    }
    as_vec_free(&m.open);
    return fine;
}

assay_status as_hpc_plan_intervals(as_hpc_plan *plan) {
    if (as_trace_line_count(&plan->ds->traces) || !as_ds_intervals(plan->ds) || plan->run == ASSAY_NONE)
        return ASSAY_OK;
    double start = as_ds_run(plan->ds, plan->run)->start_time;
    if (start > 0 && start * NANOSECONDS < 0x1p62) plan->made_start = (uint64_t)(start * NANOSECONDS);
    as_vec all; /* interval */
    as_vec_init(&all, sizeof(interval), as_ds_budget(plan->ds));
    bool *in_section = as_hpc_find_sections(plan->ds);
    bool fine = in_section && collect(plan, in_section, &all);
    free(in_section);
    if (fine && all.count) qsort(all.data, all.count, sizeof(interval), compare_intervals);
    fine = fine && make_lines(plan, &all);
    as_vec_free(&all);
    return fine ? ASSAY_OK : as_fail_memory(plan->error, NULL);
}

/* ---- lines of either origin -------------------------------------------------------------------------------------- */

as_hpc_line as_hpc_line_of(const as_hpc_plan *plan, size_t profile) {
    const as_hpc_planned_profile *of = &AS_AT(as_hpc_planned_profile, &plan->profiles, profile);
    if (of->n_made)
        return (as_hpc_line){.n = of->n_made, .made = &AS_AT(as_trace_sample, &plan->made_samples, of->first_made)};
    const as_trace_line *stored =
        of->location == ASSAY_NONE ? NULL : as_trace_line_of(plan->ds, plan->run, of->location);
    return (as_hpc_line){.n = stored ? stored->n : 0, .stored = stored};
}

assay_status as_hpc_line_read(const as_hpc_plan *plan, const as_hpc_line *line, uint64_t first, size_t n,
                              as_trace_sample *out) {
    if (line->stored) return as_trace_read(plan->ds, line->stored, first, n, out, plan->error);
    memcpy(out, line->made + first, n * sizeof *out);
    return ASSAY_OK;
}
