/* Calls of evented profiles as the dataset's events, made when somebody asks. */
#include <math.h>
#include <stdlib.h>

#include "formats/speedscope/speedscope.h"

typedef struct call_source {
    as_event_source source; /* first */
    const as_dataset *ds;
    as_str kind;
    as_vec calls, lines;
    as_number start; /* of the run, in the unit of all profiles */
} call_source;

as_number as_speedscope_difference(as_number a, as_number b) {
    if (a.kind == AS_REAL || b.kind == AS_REAL)
        return (as_number){.kind = AS_REAL, .r = as_number_real(a) - as_number_real(b)};
    as_whole x = a.kind == AS_INT ? (as_whole)a.i : (as_whole)a.u, y = b.kind == AS_INT ? (as_whole)b.i : (as_whole)b.u;
    return as_whole_number(x - y);
}

void as_speedscope_events_init(as_speedscope_events *events, as_dataset *ds) {
    events->ds = ds;
    as_vec_init(&events->calls, sizeof(as_speedscope_call), &ds->budget);
    as_vec_init(&events->lines, sizeof(as_speedscope_line), &ds->budget);
}

void as_speedscope_events_free(as_speedscope_events *events) {
    as_vec_free(&events->calls);
    as_vec_free(&events->lines);
}

/* ---- the source -------------------------------------------------------------------------------------------------- */

static void make_event(const as_event_source *source, uint64_t event, as_event *out) {
    const call_source *s = (const call_source *)source;
    const as_speedscope_call *call = &AS_AT(as_speedscope_call, &s->calls, event);
    const as_speedscope_line *line = &AS_AT(as_speedscope_line, &s->lines, call->profile);
    as_number start = {.kind = AS_INT, .i = call->start.i}, end = {.kind = AS_INT, .i = call->end.i};
    if (call->is_real) {
        start = (as_number){.kind = AS_REAL, .r = call->start.r};
        end = (as_number){.kind = AS_REAL, .r = call->end.r};
    }
    *out = (as_event){.source_id = AS_NO_STR,
                      .name = as_ds_context(s->ds, call->context)->name,
                      .kind = s->kind,
                      .run = 0,
                      .location = line->location,
                      .context = call->context,
                      .start = as_number_real(as_speedscope_difference(start, s->start)) / line->per_second,
                      .end = as_number_real(as_speedscope_difference(end, s->start)) / line->per_second,
                      .start_raw = as_cell_number(start),
                      .end_raw = as_cell_number(end)};
}

/* There are none. */
static void make_attribute(const as_event_source *source, uint64_t attribute, as_attribute *out) {
    (void)source, (void)attribute;
    *out = (as_attribute){0};
}
static uint64_t first_attribute(const as_event_source *source, uint64_t event) {
    (void)source, (void)event;
    return 0;
}

static void release(void *object) {
    call_source *s = object;
    as_vec_free(&s->calls);
    as_vec_free(&s->lines);
    free(s);
}

/* The run begins where the first profile with a time line does; where these have several units, at 0. */
static as_number start_of(const as_vec *lines) {
    as_number least = {.kind = AS_INT};
    double per_second = 0;
    for (size_t i = 0; i < lines->count; i++) {
        const as_speedscope_line *line = &AS_AT(as_speedscope_line, lines, i);
        if (line->per_second == 0) continue;
        if (per_second != 0 && line->per_second != per_second) return (as_number){.kind = AS_INT};
        if (per_second == 0 || as_number_real(as_speedscope_difference(line->start, least)) < 0) least = line->start;
        per_second = line->per_second;
    }
    return least;
}

bool as_speedscope_events_finish(as_speedscope_events *events, const assay_id *new_ids) {
    as_dataset *ds = events->ds;
    if (!events->calls.count) return true;
    call_source *s = calloc(1, sizeof *s);
    if (!s) return false;
    for (size_t i = 0; i < events->calls.count; i++) {
        as_speedscope_call *call = &AS_AT(as_speedscope_call, &events->calls, i);
        call->context = new_ids[call->context];
    }
    *s = (call_source){.source = {.n_events = events->calls.count,
                                  .event = make_event,
                                  .attribute = make_attribute,
                                  .first_attribute = first_attribute},
                       .ds = ds,
                       .kind = as_ds_intern_text(ds, "region"),
                       .calls = events->calls,
                       .lines = events->lines,
                       .start = start_of(&events->lines)};
    as_vec_shrink(&s->calls);
    as_speedscope_events_init(events, ds);
    if (!as_ds_hold(ds, s, release)) return false;
    ds->event_source = &s->source;
    return s->kind != AS_NO_STR;
}
