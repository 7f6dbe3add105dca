/* One row of the time line: its call paths, level by level (api/timeline_depths), and its single intervals or samples
 * (api/intervals). */
#include <stdlib.h>
#include <string.h>

#include "server/lines.h"

enum {
    USUAL_COLUMNS = 600,
    MOST_COLUMNS = 2000,
    USUAL_LEVELS = 64,
    MOST_LEVELS = 256,
    USUAL_INTERVALS = 200,
    MOST_INTERVALS = 2000,
    MOST_WITH_ATTRIBUTES = 32,
    MOST_ATTRIBUTES = 64
};

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* Each context is a procedure of its own: a picture then has the contexts themselves. False when memory is out;
 * as_frames_free() in every case. */
static bool frames_of_contexts(const as_frames *deepest, as_frames *out) {
    size_t n = deepest->n_contexts, n_names = deepest->n_names;
    *out = (as_frames){.depth = AS_DEEPEST, .deepest = deepest->deepest, .n_contexts = n, .n_names = n_names};
    out->procedure_of = malloc((n + 1) * sizeof *out->procedure_of);
    out->procedure_of_name = malloc((n_names + 1) * sizeof *out->procedure_of_name);
    out->procedures = calloc(AS_FIRST_PROCEDURE + n + n_names + 1, sizeof *out->procedures);
    out->n_procedures = AS_FIRST_PROCEDURE + n + n_names;
    if (!out->procedure_of || !out->procedure_of_name || !out->procedures) return false;
    for (size_t i = 0; i < AS_FIRST_PROCEDURE; i++) out->procedures[i] = deepest->procedures[i];
    for (size_t i = 0; i < n + n_names; i++) {
        uint32_t number = (uint32_t)(AS_FIRST_PROCEDURE + i);
        if (i < n)
            out->procedure_of[i] = number;
        else
            out->procedure_of_name[i - n] = number;
        out->procedures[number].context = (assay_id)i;
    }
    return true;
}

/* The frames of the call path of a cell, the outermost first: their contexts, for each level. What is no context is a
 * level of its own. */
static size_t frames_of_cell(const as_lines *lines, const as_frames *deepest, assay_id context, size_t most,
                             assay_id *out) {
    const as_dataset *ds = lines->view.ds;
    if (context == AS_TRACE_NOTHING || most == 0) return 0;
    if (context >= deepest->n_contexts) {
        out[0] = context;
        return 1;
    }
    size_t n = deepest->levels[context];
    if (n == 0) { /* the root alone */
        out[0] = AS_TRACE_IDLE;
        return 1;
    }
    for (size_t level = n; context != ASSAY_NONE && level > 0; level--) {
        /* Loops and lines belong to the frame above them. */
        assay_id above = as_ds_context(ds, context)->parent;
        while (above != ASSAY_NONE && deepest->levels[above] == level &&
               deepest->procedure_of[above] == deepest->procedure_of[context]) {
            context = above;
            above = as_ds_context(ds, context)->parent;
        }
        if (level <= most) out[level - 1] = context;
        context = above;
    }
    return n < most ? n : most;
}

/* Contexts of an answer, which it calls by their numbers. */
typedef struct listing {
    const as_lines *lines;
    const as_frames *deepest;
    as_map numbers;
    as_vec contexts; /* assay_id */
} listing;

/* AS_MAP_NONE when memory is out. */
static uint32_t number_of(listing *l, assay_id context) {
    uint32_t number = as_map_get(&l->numbers, context);
    if (number != AS_MAP_NONE) return number;
    number = (uint32_t)l->contexts.count;
    bool fine = as_vec_append(&l->contexts, &context, 1) && as_map_put(&l->numbers, context, number);
    return fine ? number : AS_MAP_NONE;
}

static void build_listed(as_builder *b, const listing *l) {
    const as_frames *deepest = l->deepest;
    as_build_object(b, "procedures", false);
    for (int what = 0; what < 3; what++) {
        static const char *const keys[] = {"name", "context", "kind"};
        as_build_array(b, keys[what], false);
        for (size_t i = 0; i < l->contexts.count; i++) {
            assay_id context = AS_AT(assay_id, &l->contexts, i);
            uint32_t procedure = as_procedure_of(deepest, context);
            static const char *const signs[] = {
                [AS_PROCEDURE_IDLE] = "idle", [AS_PROCEDURE_UNKNOWN] = "unknown", [AS_PROCEDURE_PAUSED] = "paused"};
            if (what == 0)
                as_build_text(b, NULL, deepest->procedures[procedure].name);
            else if (what == 1)
                as_build_known(b, NULL, context < deepest->n_contexts ? (int64_t)context : -1, false);
            else
                as_build_text(b, NULL,
                              procedure < AS_FIRST_PROCEDURE ? signs[procedure] : as_lines_kind(l->lines, context));
        }
        as_build_end(b);
    }
    as_build_end(b);
}

/* For each level how many columns show which context, -1: none. frames: n_columns x most. */
static bool build_levels(as_builder *b, listing *l, const assay_id *frames, const size_t *counts, size_t n_columns,
                         size_t most, size_t n_levels) {
    as_build_array(b, "levels", false);
    for (size_t level = 0; level < n_levels; level++) {
        as_build_array(b, NULL, false);
        for (size_t column = 0, begin = 0; column < n_columns; begin = column) {
            bool has = counts[column] > level;
            assay_id context = has ? frames[column * most + level] : ASSAY_NONE;
            while (column < n_columns && (counts[column] > level) == has &&
                   (!has || frames[column * most + level] == context))
                column++;
            uint32_t number = has ? number_of(l, context) : 0;
            if (number == AS_MAP_NONE) return false;
            as_build_int(b, NULL, (int64_t)(column - begin));
            as_build_int(b, NULL, has ? (int64_t)number : -1);
        }
        as_build_end(b);
    }
    as_build_end(b);
    return true;
}

static bool build_depths(as_builder *b, listing *l, const as_trace_view *part, size_t most) {
    size_t n = part->n_columns, n_levels = 0;
    assay_id *frames = malloc((n * most + 1) * sizeof *frames);
    size_t *counts = calloc(n + 1, sizeof *counts);
    bool fine = frames && counts;
    for (size_t i = 0; i < n && fine; i++) {
        counts[i] = frames_of_cell(l->lines, l->deepest, part->cells[i], most, frames + i * most);
        if (counts[i] > n_levels) n_levels = counts[i];
    }
    if (fine) {
        b->compact = true;
        as_build_object(b, NULL, false);
        as_build_real(b, "from", as_clock_seconds(&part->clock, part->window.from));
        as_build_real(b, "to", as_clock_seconds(&part->clock, part->window.to));
        as_build_int(b, "columns", (int64_t)n);
        fine = build_levels(b, l, frames, counts, n, most, n_levels);
        build_listed(b, l);
        as_build_end(b);
    }
    free(frames);
    free(counts);
    return fine;
}

static assay_status answer_depths(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    as_lines *lines;
    const as_frames *deepest;
    as_frames contexts = {0};
    as_trace_window window;
    as_trace_view part = {0};
    size_t row;
    int64_t columns, levels;
    AS_TRY(as_lines_of(viewing, request, &lines, error));
    AS_TRY(as_lines_frames_at(viewing, lines, AS_DEEPEST, &deepest, error));
    AS_TRY(as_lines_window(lines, request, &window, error));
    AS_TRY(as_lines_row(lines, request, &row, error));
    AS_TRY(as_request_number(request, "columns", 1, MOST_COLUMNS, USUAL_COLUMNS, &columns, error));
    AS_TRY(as_request_number(request, "levels", 1, MOST_LEVELS, USUAL_LEVELS, &levels, error));
    bool fine = frames_of_contexts(deepest, &contexts);
    assay_status status =
        fine ? as_lines_part(lines, &window, &row, 1, (size_t)columns, &part, error) : as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = as_lines_draw(&part, &contexts, error);
    listing l = {.lines = lines, .deepest = deepest};
    as_map_init(&l.numbers, NULL);
    as_vec_init(&l.contexts, sizeof(assay_id), NULL);
    as_builder b = as_builder_of(out);
    if (status == ASSAY_OK && !build_depths(&b, &l, &part, (size_t)levels)) status = as_fail_memory(error, NULL);
    as_map_free(&l.numbers);
    as_vec_free(&l.contexts);
    as_lines_part_free(&part);
    as_frames_free(&contexts);
    return status;
}

const as_endpoint as_endpoint_timeline_depths = {.path = "timeline_depths", .answer = answer_depths};

/* ---- single intervals -------------------------------------------------------------------------------------------- */

typedef struct found {
    uint64_t start, end, time; /* time: of a sample */
    assay_id context;
    uint32_t event;
    size_t level;
} found;

typedef struct finding {
    as_vec list; /* found */
    size_t limit;
    bool is_cut;
} finding;

static bool take_interval(void *user, const as_interval *interval, size_t level) {
    finding *f = user;
    found one = {interval->start, interval->end, interval->start, interval->context, interval->event, level};
    f->is_cut = f->list.count == f->limit;
    if (f->is_cut) return false;
    return as_vec_append(&f->list, &one, 1);
}

static assay_status find_samples(const as_lines *lines, size_t row, const as_trace_window *window, finding *f,
                                 assay_error *error) {
    const as_trace_view *view = &lines->view;
    const as_trace_line *line = view->lines[row];
    as_trace_rule rule = as_trace_rule_of(&view->window, row);
    uint64_t first, end;
    AS_TRY(as_trace_find(view->ds, line, window->from, &first, error));
    end = line->n;
    if (window->to < UINT64_MAX) AS_TRY(as_trace_find(view->ds, line, window->to + 1, &end, error));
    first -= first > 0;
    end += end < line->n;
    for (uint64_t i = first; i < end; i++) {
        as_trace_sample around[3];
        uint64_t low = i > 0 ? i - 1 : 0, high = i + 1 < line->n ? i + 1 : i;
        AS_TRY(as_trace_read(view->ds, line, low, (size_t)(high - low + 1), around, error));
        const as_trace_sample *s = &around[i - low];
        found one = {.start = i > low ? as_lines_border(s[-1].time, s->time, rule) : s->time,
                     .end = high > i ? as_lines_border(s->time, s[1].time, rule) : s->time,
                     .time = s->time,
                     .context = s->context};
        if (one.end < window->from || one.start > window->to || (one.end == window->from && one.start < one.end))
            continue;
        f->is_cut = f->list.count == f->limit;
        if (f->is_cut) break;
        if (!as_vec_append(&f->list, &one, 1)) return as_fail_memory(error, NULL);
    }
    return ASSAY_OK;
}

/* [[key, value], …] of an event. */
static void build_attributes(as_builder *b, const as_dataset *ds, uint64_t event) {
    uint64_t first, end;
    size_t left = MOST_ATTRIBUTES;
    as_attribute attribute;
    as_event_attributes(ds, event, &first, &end);
    if (!ds->event_source) end = AS_COUNT(ds, attributes);
    as_build_array(b, NULL, false);
    for (; first < end && left > 0; first++) {
        as_ds_any_attribute(ds, first, &attribute);
        if (attribute.owner != AS_OWNER_EVENT || attribute.owner_id != event) continue;
        as_build_array(b, NULL, false);
        as_build_text(b, NULL, as_ds_text(ds, attribute.key));
        as_answer_cell(b, NULL, &attribute.value, AS_LONGEST_VALUE);
        as_build_end(b);
        left--;
    }
    as_build_end(b);
}

static const char *name_of(const as_lines *lines, const as_frames *deepest, const found *one, as_event *event) {
    const char *name = NULL;
    *event = (as_event){.name = AS_NO_STR, .kind = AS_NO_STR, .source_id = AS_NO_STR, .context = one->context};
    if (lines->view.has_intervals) {
        as_ds_event(lines->view.ds, one->event, event);
        name = as_ds_text(lines->view.ds, event->name);
    }
    if (name) return name;
    uint32_t procedure = as_procedure_of(deepest, one->context);
    return procedure == AS_NO_PROCEDURE ? NULL : deepest->procedures[procedure].name;
}

static void build_intervals(as_builder *b, const as_lines *lines, const as_frames *deepest, const finding *f) {
    const as_trace_view *view = &lines->view;
    const as_dataset *ds = view->ds;
    bool has_attributes = view->has_intervals && f->list.count <= MOST_WITH_ATTRIBUTES;
    b->compact = true;
    as_build_object(b, NULL, false);
    as_build_text(b, "counted", as_trace_counted(view));
    as_build_bool(b, "more", f->is_cut);
    as_build_array(b, "list", false);
    for (size_t i = 0; i < f->list.count; i++) {
        const found *one = &AS_AT(found, &f->list, i);
        as_event event;
        char digits[AS_NUMBER_SIZE];
        as_build_object(b, NULL, false);
        as_build_text(b, "name", name_of(lines, deepest, one, &event));
        as_build_text(b, "kind", view->has_intervals ? as_ds_text(ds, event.kind) : "sample");
        as_build_real(b, "start", as_clock_seconds(&view->clock, one->start));
        as_build_real(b, "end", as_clock_seconds(&view->clock, one->end));
        as_build_real(b, "duration", as_trace_duration(view, (double)(one->end - one->start)));
        as_build_int(b, "level", (int64_t)one->level);
        as_build_known(b, "context", event.context < AS_COUNT(ds, contexts) ? (int64_t)event.context : -1, false);
        if (view->has_intervals) {
            as_build_int(b, "event", one->event);
            as_build_text(b, "source_id", as_event_source_id(ds, &event, digits));
        } else {
            as_build_real(b, "time", as_clock_seconds(&view->clock, one->time));
        }
        as_build_end(b);
    }
    as_build_end(b);
    if (has_attributes) {
        as_build_array(b, "attributes", false);
        for (size_t i = 0; i < f->list.count; i++) build_attributes(b, ds, AS_AT(found, &f->list, i).event);
        as_build_end(b);
    }
    as_build_end(b);
}

static assay_status answer_intervals(as_viewing *viewing, const as_request *request, as_output *out,
                                     assay_error *error) {
    as_lines *lines;
    const as_frames *deepest;
    as_trace_window window;
    size_t row;
    int64_t limit;
    AS_TRY(as_lines_of(viewing, request, &lines, error));
    AS_TRY(as_lines_frames_at(viewing, lines, AS_DEEPEST, &deepest, error));
    AS_TRY(as_lines_window(lines, request, &window, error));
    AS_TRY(as_lines_row(lines, request, &row, error));
    AS_TRY(as_request_number(request, "limit", 1, MOST_INTERVALS, USUAL_INTERVALS, &limit, error));
    finding f = {.limit = (size_t)limit};
    as_vec_init(&f.list, sizeof(found), NULL);
    assay_status status = ASSAY_OK;
    if (!lines->view.has_intervals)
        status = find_samples(lines, row, &window, &f, error);
    else if (!as_lines_each_interval(lines, row, &window, take_interval, &f) && !f.is_cut)
        status = as_fail_memory(error, NULL);
    as_builder b = as_builder_of(out);
    if (status == ASSAY_OK) build_intervals(&b, lines, deepest, &f);
    as_vec_free(&f.list);
    return status;
}

const as_endpoint as_endpoint_intervals = {.path = "intervals", .answer = answer_intervals};
