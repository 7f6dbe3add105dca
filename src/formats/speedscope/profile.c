/* One profile: samples with weights, or events. Everything is added up when its end is reached, whatever the order of
 * its members. */
#include <math.h>

#include "formats/speedscope/reading.h"

enum { NUMBERS = 256, MOST_PROFILES = 1 << 30, MOST_METRICS = 1024 };

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

static assay_id top(const as_speedscope_reading *s) {
    return s->stack.count ? AS_AT(as_speedscope_frame, &s->stack, s->stack.count - 1).context : ASSAY_NONE;
}

/* Puts a frame on the stack. *done: false where it was left out. */
static assay_status push(as_speedscope_reading *s, uint32_t frame, bool *done) {
    *done = false;
    if (frame >= s->frames.count) return as_speedscope_broken(s, "frame-index", "there is no frame of this number");
    if (s->stack.count >= s->reader->most_frames)
        return as_speedscope_broken(s, "too-deep", "the stack has more frames than can be read");
    as_speedscope_frame open = {frame, as_stack_tree_child(&s->sums.tree, top(s), AS_AT(assay_id, &s->frames, frame)),
                                SIZE_MAX};
    if (open.context == ASSAY_NONE || (s->stack.count == s->stack.capacity && !as_vec_reserve(&s->stack, 1)))
        return as_reader_memory(s->reader);
    AS_AT(as_speedscope_frame, &s->stack, s->stack.count++) = open;
    *done = true;
    return ASSAY_OK;
}

/* Frame number `level` of a sample, which mostly is that of the one before. */
static assay_status put_frame(as_speedscope_reading *s, size_t *level, as_number number, bool *is_faulty) {
    uint32_t frame = as_speedscope_index(number);
    bool done = true;
    if (*is_faulty) return ASSAY_OK;
    if (*level >= s->stack.count || AS_AT(as_speedscope_frame, &s->stack, *level).frame != frame) {
        s->stack.count = *level < s->stack.count ? *level : s->stack.count;
        AS_TRY(push(s, frame, &done));
    }
    *is_faulty = !done;
    ++*level;
    return ASSAY_OK;
}

static assay_status read_sample(as_speedscope_reading *s) {
    as_json *json = &s->json;
    as_number numbers[NUMBERS];
    size_t level = 0;
    bool is_faulty = false;
    if (json->type != AS_JSON_ARRAY)
        return as_speedscope_skip_broken(s, "wrong-type", "a sample must be a list of frames");
    for (;;) {
        size_t n = as_json_take_numbers(json, numbers, NUMBERS);
        for (size_t i = 0; i < n; i++) AS_TRY(put_frame(s, &level, numbers[i], &is_faulty));
        if (n == NUMBERS) continue;
        as_json_next(json);
        if (json->type == AS_JSON_ARRAY_END) break;
        if (json->type != AS_JSON_NUMBER) {
            AS_TRY(as_speedscope_skip_broken(s, "wrong-type", "a frame of a sample must be a number"));
            is_faulty = true;
            continue;
        }
        AS_TRY(put_frame(s, &level, as_json_number(json), &is_faulty));
    }
    if (level < s->stack.count) s->stack.count = level;
    assay_id context = is_faulty ? ASSAY_NONE : top(s);
    s->now.n_idle += !is_faulty && context == ASSAY_NONE;
    return as_vec_append(&s->samples, &context, 1) ? as_speedscope_progress(s) : as_reader_memory(s->reader);
}

static assay_status read_samples(as_speedscope_reading *s) {
    as_json *json = &s->json;
    if (json->type != AS_JSON_ARRAY || s->now.has_samples)
        return as_speedscope_skip_broken(s, "wrong-type", "\"samples\" must be one list");
    s->now.has_samples = true;
    s->stack.count = 0;
    while (as_json_next(json) != AS_JSON_ARRAY_END) {
        if (json->type == AS_JSON_ERROR) return as_json_fail(json, s->reader->error);
        AS_TRY(read_sample(s));
    }
    return ASSAY_OK;
}

static assay_status read_weights(as_speedscope_reading *s) {
    as_json *json = &s->json;
    as_number numbers[NUMBERS];
    if (json->type != AS_JSON_ARRAY || s->now.has_weights)
        return as_speedscope_skip_broken(s, "wrong-type", "\"weights\" must be one list");
    s->now.has_weights = true;
    for (;;) {
        size_t n = as_json_take_numbers(json, numbers, NUMBERS);
        if (!as_vec_append(&s->amounts, numbers, n)) return as_reader_memory(s->reader);
        AS_TRY(as_speedscope_progress(s));
        if (n == NUMBERS) continue;
        as_json_next(json);
        if (json->type == AS_JSON_ARRAY_END) return ASSAY_OK;
        as_number number = {.kind = AS_INT};
        AS_TRY(as_speedscope_number(s, &number));
        if (!as_vec_append(&s->amounts, &number, 1)) return as_reader_memory(s->reader);
    }
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

typedef struct raw_event {
    char type; /* O, C; 0: neither */
    uint32_t frame;
    as_number at;
    bool has_at;
} raw_event;

static assay_status read_event_words(as_speedscope_reading *s, raw_event *out) {
    as_json *json = &s->json;
    *out = (raw_event){.frame = UINT32_MAX};
    while (as_json_next(json) == AS_JSON_KEY) {
        bool is_type = as_json_is(json, "type"), is_at = as_json_is(json, "at"), is_frame = as_json_is(json, "frame");
        as_json_next(json);
        if (is_type && json->type == AS_JSON_STRING) {
            out->type = as_json_is(json, "O") ? 'O' : as_json_is(json, "C") ? 'C' : 0;
        } else if (is_at || is_frame) {
            as_number number = {.kind = AS_REAL, .r = NAN};
            AS_TRY(as_speedscope_number(s, &number));
            if (is_frame) out->frame = as_speedscope_index(number);
            if (is_at) out->at = number, out->has_at = isfinite(as_number_real(number));
        } else
            AS_TRY(as_speedscope_skip(s));
    }
    return json->type == AS_JSON_OBJECT_END ? ASSAY_OK : as_json_fail(json, s->reader->error);
}

static void set_moment(as_speedscope_call *call, as_number at, bool is_end) {
    if (at.kind != AS_INT && !call->is_real) {
        call->start.r = (double)call->start.i;
        call->is_real = true;
    }
    if (is_end && call->is_real) call->end.r = as_number_real(at);
    if (is_end && !call->is_real) call->end.i = at.i;
    if (!is_end && call->is_real) call->start.r = as_number_real(at);
    if (!is_end && !call->is_real) call->start.i = at.i;
}

/* The time since the event before belongs to what is on top. */
static bool spend(as_speedscope_reading *s, as_number since, as_number at) {
    assay_id context = top(s);
    as_number amount = as_speedscope_difference(at, since);
    return context == ASSAY_NONE || (as_vec_append(&s->samples, &context, 1) && as_vec_append(&s->amounts, &amount, 1));
}

static assay_status open_call(as_speedscope_reading *s, const raw_event *event) {
    bool done;
    AS_TRY(push(s, event->frame, &done));
    if (!done) return ASSAY_OK;
    as_speedscope_frame *open = &AS_AT(as_speedscope_frame, &s->stack, s->stack.count - 1);
    as_speedscope_call *call = as_vec_push(&s->events.calls);
    if (!call) return as_reader_memory(s->reader);
    call->context = open->context;
    call->profile = s->n_profiles & (MOST_PROFILES - 1);
    set_moment(call, event->at, false);
    open->call = s->events.calls.count - 1;
    return ASSAY_OK;
}

static void close_call(as_speedscope_reading *s, as_number at) {
    const as_speedscope_frame *open = &AS_AT(as_speedscope_frame, &s->stack, --s->stack.count);
    set_moment(&AS_AT(as_speedscope_call, &s->events.calls, open->call), at, true);
}

static assay_status read_event(as_speedscope_reading *s, as_number *last) {
    raw_event event;
    if (s->json.type != AS_JSON_OBJECT) return as_speedscope_skip_broken(s, "wrong-type", "an event must be an object");
    AS_TRY(read_event_words(s, &event));
    if (!event.type || !event.has_at)
        return as_speedscope_broken(s, "event", "an event needs a type, O or C, a frame and a number \"at\"");
    if (as_number_real(as_speedscope_difference(event.at, *last)) < 0)
        return as_speedscope_broken(s, "time-order", "an event is before the one that comes before it");
    if (!spend(s, *last, event.at)) return as_reader_memory(s->reader);
    *last = event.at;
    if (event.type == 'O') return open_call(s, &event);
    if (!s->stack.count || AS_AT(as_speedscope_frame, &s->stack, s->stack.count - 1).frame != event.frame)
        return as_speedscope_broken(s, "nesting", "an event closes a frame that is not the innermost open one");
    close_call(s, event.at);
    return ASSAY_OK;
}

static assay_status read_events(as_speedscope_reading *s) {
    as_json *json = &s->json;
    as_number last = {.kind = AS_INT, .i = INT64_MIN};
    if (json->type != AS_JSON_ARRAY || s->now.has_events)
        return as_speedscope_skip_broken(s, "wrong-type", "\"events\" must be one list");
    s->now.has_events = true;
    s->stack.count = 0;
    while (as_json_next(json) != AS_JSON_ARRAY_END) {
        if (json->type == AS_JSON_ERROR) return as_json_fail(json, s->reader->error);
        AS_TRY(read_event(s, &last));
        AS_TRY(as_speedscope_progress(s));
    }
    if (s->stack.count)
        as_warn(s->reader, as_json_place(json), "unclosed", "%zu call%s open at the end; they end with the last event",
                s->stack.count, s->stack.count == 1 ? " is" : "s are");
    while (s->stack.count) close_call(s, last);
    return ASSAY_OK;
}

/* ---- a profile --------------------------------------------------------------------------------------------------- */

static assay_status read_unit(as_speedscope_reading *s) {
    const as_speedscope_unit *unit = as_speedscope_units;
    if (s->json.type != AS_JSON_STRING) return as_speedscope_skip_broken(s, "wrong-type", "a unit must be a string");
    while (unit->word && !as_json_is(&s->json, unit->word)) unit++;
    if (!unit->word)
        return as_speedscope_broken(s, "unit",
                                    "a unit is none, nanoseconds, microseconds, milliseconds, seconds or bytes");
    s->now.unit = unit;
    return ASSAY_OK;
}

/* What assay writes beside what speedscope knows. */
static assay_status read_own_words(as_speedscope_reading *s) {
    as_json *json = &s->json;
    if (json->type != AS_JSON_OBJECT) return as_speedscope_skip(s);
    s->now.is_ours = true;
    while (as_json_next(json) == AS_JSON_KEY) {
        as_str *word = as_json_is(json, "metric")     ? &s->now.metric
                       : as_json_is(json, "unit")     ? &s->now.metric_unit
                       : as_json_is(json, "location") ? &s->now.place
                                                      : NULL;
        as_json_next(json);
        AS_TRY(word ? as_speedscope_string(s, word) : as_speedscope_skip(s));
    }
    return json->type == AS_JSON_OBJECT_END ? ASSAY_OK : as_json_fail(json, s->reader->error);
}

static assay_status read_member(as_speedscope_reading *s) {
    as_json *json = &s->json;
    as_speedscope_profile *p = &s->now;
    if (as_json_is(json, "samples")) return as_json_next(json), read_samples(s);
    if (as_json_is(json, "weights")) return as_json_next(json), read_weights(s);
    if (as_json_is(json, "events")) return as_json_next(json), read_events(s);
    if (as_json_is(json, "name")) return as_json_next(json), as_speedscope_string(s, &p->name);
    if (as_json_is(json, "unit")) return as_json_next(json), read_unit(s);
    if (as_json_is(json, "startValue")) return as_json_next(json), as_speedscope_number(s, &p->start);
    if (as_json_is(json, "assay")) return as_json_next(json), read_own_words(s);
    if (as_json_is(json, "type")) {
        as_json_next(json);
        bool is_text = json->type == AS_JSON_STRING;
        p->type = is_text && as_json_is(json, "sampled")   ? AS_SPEEDSCOPE_SAMPLED
                  : is_text && as_json_is(json, "evented") ? AS_SPEEDSCOPE_EVENTED
                                                           : AS_SPEEDSCOPE_UNKNOWN;
    } else
        as_json_next(json);
    return as_speedscope_skip(s);
}

/* The number of the metric of this name and unit, made if new. SIZE_MAX when memory is out. */
static size_t find_metric(as_speedscope_reading *s, as_str name, as_str unit) {
    uint32_t known = as_map_get(&s->metrics, as_pair(name, unit));
    if (known != AS_MAP_NONE) return known;
    size_t metric = as_stack_metric_add(&s->sums, name, unit);
    return metric < UINT32_MAX && as_map_put(&s->metrics, as_pair(name, unit), (uint32_t)metric) ? metric : SIZE_MAX;
}

/* The metric of the profile. Times of another unit than those before are another one: "time (ms)". */
static size_t metric_of(as_speedscope_reading *s) {
    as_dataset *ds = s->sums.ds;
    const as_speedscope_unit *unit = s->now.unit;
    if (s->now.metric != AS_NO_STR) return find_metric(s, s->now.metric, s->now.metric_unit);
    as_str name = as_ds_intern_text(ds, unit->metric),
           word = unit->unit ? as_ds_intern_text(ds, unit->unit) : AS_NO_STR;
    if (name == AS_NO_STR || (unit->unit && word == AS_NO_STR)) return SIZE_MAX;
    for (size_t i = 0; i < s->sums.metrics.count; i++) {
        const as_stack_metric *metric = &AS_AT(as_stack_metric, &s->sums.metrics, i);
        if (metric->name != name || metric->unit == word) continue;
        s->text.count = 0;
        if (!as_vec_text(&s->text, unit->metric) || !as_vec_text(&s->text, " (") ||
            !as_vec_text(&s->text, unit->unit ? unit->unit : "") || !as_vec_text(&s->text, ")"))
            return SIZE_MAX;
        name = as_ds_intern(ds, s->text.data, s->text.count);
        return name == AS_NO_STR ? SIZE_MAX : find_metric(s, name, word);
    }
    return find_metric(s, name, word);
}

/* Whether values of a metric have lain at places so far (1), or at none (2); 0: there are none. */
static uint32_t kind_of_places(const as_speedscope_reading *s, size_t metric) {
    uint32_t known = as_map_get(&s->used, as_pair((uint32_t)metric, ASSAY_NONE));
    return known == AS_MAP_NONE ? 0 : known;
}

/* Where the profile was taken: a place of its own, or the one that assay wrote several profiles of. ASSAY_NONE where
 * that was none. False when memory is out. */
static bool find_place(as_speedscope_reading *s, size_t metric, bool is_placed, assay_id *out) {
    as_str name = s->now.place != AS_NO_STR ? s->now.place : s->now.name;
    uint32_t known = is_placed && s->now.is_ours ? as_map_get(&s->places, name) : AS_MAP_NONE;
    *out = ASSAY_NONE;
    if (!as_map_put(&s->used, as_pair((uint32_t)metric, ASSAY_NONE), is_placed ? 1 : 2)) return false;
    if (!is_placed) return true;
    if (known != AS_MAP_NONE && as_map_get(&s->used, as_pair((uint32_t)metric, known)) == AS_MAP_NONE)
        *out = known;
    else {
        as_location location = AS_LOCATION_INIT;
        location.kind = as_ds_intern_text(s->sums.ds, "thread");
        location.name = name;
        location.leaf = true;
        if (location.kind != AS_NO_STR) *out = as_add_location(s->sums.ds, &location);
    }
    return *out != ASSAY_NONE && (name == AS_NO_STR || as_map_put(&s->places, name, *out)) &&
           as_map_put(&s->used, as_pair((uint32_t)metric, *out), 1);
}

static size_t visits_of(as_speedscope_reading *s) {
    as_str name = as_ds_intern_text(s->sums.ds, "visits"), unit = as_ds_intern_text(s->sums.ds, "occ");
    return name == AS_NO_STR || unit == AS_NO_STR ? SIZE_MAX : find_metric(s, name, unit);
}

static bool add_visits(as_speedscope_reading *s, size_t metric) {
    bool fine = as_map_put(&s->used, as_pair((uint32_t)metric, ASSAY_NONE), 1);
    for (size_t i = s->now.first_call; fine && i < s->events.calls.count; i++) {
        assay_id context = AS_AT(as_speedscope_call, &s->events.calls, i).context;
        as_stack_tree_mark(&s->sums.tree, context);
        fine = as_stack_sums_add(&s->sums, metric, context, (as_number){.kind = AS_INT, .i = 1});
    }
    return fine;
}

static bool add_amounts(as_speedscope_reading *s, size_t metric) {
    size_t n = s->samples.count < s->amounts.count ? s->samples.count : s->amounts.count;
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        assay_id context = AS_AT(assay_id, &s->samples, i);
        if (context == ASSAY_NONE) continue;
        as_stack_tree_mark(&s->sums.tree, context);
        fine = as_stack_sums_add(&s->sums, metric, context, AS_AT(as_number, &s->amounts, i));
    }
    return fine;
}

static assay_status add_up(as_speedscope_reading *s) {
    bool is_evented = s->now.has_events, is_placed = is_evented || !s->now.is_ours || s->now.place != AS_NO_STR;
    size_t metric = metric_of(s), visits = is_evented ? visits_of(s) : metric;
    assay_id place;
    if (metric == SIZE_MAX || visits == SIZE_MAX) return as_reader_memory(s->reader);
    if (kind_of_places(s, metric) == (is_placed ? 2 : 1) || (is_evented && kind_of_places(s, visits) == 2)) {
        s->events.calls.count = s->now.first_call;
        return as_speedscope_broken(s, "location", "some profiles of this metric have a location, and others none");
    }
    if (!find_place(s, metric, is_placed, &place)) return as_reader_memory(s->reader);
    as_stack_sums_at(&s->sums, place);
    if (!add_amounts(s, metric) || (is_evented && !add_visits(s, visits))) return as_reader_memory(s->reader);
    as_speedscope_line line = {place, is_evented ? s->now.unit->per_second : 0, s->now.start};
    if (is_evented && line.per_second == 0 && s->events.calls.count > s->now.first_call)
        as_add_problem(s->sums.ds, AS_NOTE, as_json_place(&s->json), "no-time",
                       "the calls of an evented profile are counted in %s, not in time: there is no time line of them",
                       s->now.unit->unit ? s->now.unit->unit : "no unit");
    if (line.per_second == 0) s->events.calls.count = s->now.first_call;
    if (!as_vec_append(&s->events.lines, &line, 1)) return as_reader_memory(s->reader);
    s->n_profiles++;
    return ASSAY_OK;
}

/* What the members say together. *is_fine: false where a broken rule was let pass. */
static assay_status check(as_speedscope_reading *s, bool *is_fine) {
    as_speedscope_profile *p = &s->now;
    *is_fine = false;
    if (p->type == AS_SPEEDSCOPE_UNKNOWN)
        return as_speedscope_broken(s, "profile-type", "a profile is \"sampled\" or \"evented\"");
    if (!p->unit) return as_speedscope_broken(s, "unit", "a profile needs a unit");
    bool is_sampled = p->type == AS_SPEEDSCOPE_SAMPLED;
    if (is_sampled ? !p->has_samples || !p->has_weights || p->has_events
                   : !p->has_events || p->has_samples || p->has_weights)
        return as_speedscope_broken(s, "profile-type",
                                    is_sampled ? "a sampled profile has samples and weights, and nothing else"
                                               : "an evented profile has events, and neither samples nor weights");
    if (is_sampled && s->samples.count != s->amounts.count)
        return as_speedscope_broken(s, "weights", "there must be one weight for each sample");
    if (p->n_idle)
        as_add_problem(s->sums.ds, AS_NOTE, as_json_place(&s->json), "idle",
                       "%llu sample%s no frames: what was idle is in no call path", (unsigned long long)p->n_idle,
                       p->n_idle == 1 ? " has" : "s have");
    *is_fine = true;
    return ASSAY_OK;
}

assay_status as_speedscope_profile_read(as_speedscope_reading *s) {
    as_json *json = &s->json;
    bool is_fine;
    if (json->type != AS_JSON_OBJECT) return as_speedscope_skip_broken(s, "wrong-type", "a profile must be an object");
    if (s->n_profiles >= MOST_PROFILES || s->sums.metrics.count >= MOST_METRICS) {
        as_json_skip(json, NULL, NULL);
        return as_speedscope_broken(s, "too-many", "there are too many profiles or metrics");
    }
    s->now = (as_speedscope_profile){.name = AS_NO_STR,
                                     .metric = AS_NO_STR,
                                     .metric_unit = AS_NO_STR,
                                     .place = AS_NO_STR,
                                     .start = {.kind = AS_INT},
                                     .first_call = s->events.calls.count};
    s->samples.count = s->amounts.count = 0;
    while (as_json_next(json) == AS_JSON_KEY) AS_TRY(read_member(s));
    if (json->type != AS_JSON_OBJECT_END) return as_json_fail(json, s->reader->error);
    AS_TRY(check(s, &is_fine));
    if (!is_fine) {
        s->events.calls.count = s->now.first_call;
        return ASSAY_OK;
    }
    return add_up(s);
}
