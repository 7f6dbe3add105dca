/* The newer layout of extrap-json:
 *   {"parameters": ["x", "y"], "measurements": {"main->f": {"time": [{"point": [1, 2], "values": [1.5, 1.6]}]}}} */
#include "formats/extrap/json.h"

typedef struct new_reader {
    as_cursor *cursor;
    as_cell_key key;
    as_vec callpaths; /* uint32_t by tree id: 1 where the document has it */
    as_vec metrics;   /* uint32_t by metric: the last call path (a running number) that has it */
    as_vec points;    /* uint32_t by point: the last series (a running number) that has it */
    uint32_t callpath, series;
} new_reader;

assay_status as_json_new_parameters(as_cursor *c) {
    while (c->json.type != AS_JSON_ARRAY_END) {
        assay_id id;
        AS_TRY(as_cursor_parameter(c, &id));
        AS_TRY(as_cursor_next(c));
    }
    return ASSAY_OK;
}

/* Sets the mark of an id; *again: it was set already. False when memory is out. */
static bool mark(as_vec *marks, assay_id id, uint32_t value, bool *again) {
    while (marks->count <= id) {
        if (!as_vec_push(marks)) return false;
    }
    uint32_t *place = &AS_AT(uint32_t, marks, id);
    *again = *place == value;
    *place = value;
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static assay_status read_point(new_reader *r) {
    as_cursor *c = r->cursor;
    const char *begin = c->json.token;
    size_t n = as_ds_parameters(c->reader->dataset);
    if (as_cursor_guess_point(c, &r->key.point)) return ASSAY_OK;
    c->coordinates.count = 0;
    if (c->json.type == AS_JSON_ARRAY) {
        for (;;) {
            AS_TRY(as_cursor_next(c));
            if (c->json.type == AS_JSON_ARRAY_END) break;
            AS_TRY(as_cursor_coordinate(c));
        }
    } else {
        AS_TRY(as_cursor_coordinate(c));
    }
    if (c->coordinates.count != n) {
        return as_cursor_broken_at(c, begin, "coordinate-count",
                                   "a point with %zu coordinate%s, but there %s %zu parameter%s", c->coordinates.count,
                                   c->coordinates.count == 1 ? "" : "s", n == 1 ? "is" : "are", n, n == 1 ? "" : "s");
    }
    r->key.point = as_experiment_point(c->experiment, c->coordinates.data);
    if (r->key.point == ASSAY_NONE) return as_reader_memory(c->reader);
    return as_cursor_tell_point(c, r->key.point, begin, c->json.type == AS_JSON_ARRAY_END);
}

static assay_status read_row_members(new_reader *r, bool *has_values) {
    as_cursor *c = r->cursor;
    for (;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_OBJECT_END) return ASSAY_OK;
        bool is_point = as_json_is(&c->json, "point"), is_values = !is_point && as_json_is(&c->json, "values");
        if ((is_point && r->key.point != ASSAY_NONE) || (is_values && *has_values)) return as_cursor_duplicate(c);
        if (!is_point && !is_values) {
            AS_TRY(as_cursor_unknown(c, AS_EXTRA_KEY));
            continue;
        }
        AS_TRY(as_cursor_next(c));
        if (is_point)
            AS_TRY(read_point(r));
        else
            AS_TRY(as_cursor_values(c, "the list of values"));
        *has_values |= is_values;
    }
}

static assay_status read_row(new_reader *r) {
    as_cursor *c = r->cursor;
    const char *begin = c->json.token;
    bool has_values = false, again;
    AS_TRY(as_cursor_expect(c, AS_JSON_OBJECT, "a measurement"));
    as_extras_begin(&c->extras);
    r->key.point = ASSAY_NONE;
    AS_TRY(read_row_members(r, &has_values));
    if (r->key.point == ASSAY_NONE)
        return as_cursor_broken_at(c, begin, "missing-key", "the measurement has no key \"point\"");
    if (!has_values) return as_cursor_broken_at(c, begin, "missing-key", "the measurement has no key \"values\"");
    if (!mark(&r->points, r->key.point, r->series, &again)) return as_reader_memory(c->reader);
    if (again)
        as_warn(c->reader, as_cursor_place(c, begin), "repeated-point",
                "the point stands here twice; its values become further repetitions");
    return as_cursor_commit(c, r->key);
}

/* ---- call paths and metrics -------------------------------------------------------------------------------------- */

static assay_status read_metric(new_reader *r) {
    as_cursor *c = r->cursor;
    const char *name;
    size_t size;
    bool again;
    AS_TRY(as_cursor_name(c, "a metric", &name, &size));
    r->key.metric = as_experiment_metric(c->experiment, name, size);
    if (r->key.metric == ASSAY_NONE || !mark(&r->metrics, r->key.metric, r->callpath, &again))
        return as_reader_memory(c->reader);
    if (again) return as_cursor_duplicate(c);
    r->series++;
    AS_TRY(as_cursor_next(c));
    AS_TRY(as_cursor_expect(c, AS_JSON_ARRAY, "the measurements of a metric"));
    for (uint32_t depth = c->json.depth;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_ARRAY_END) return ASSAY_OK;
        assay_status status = read_row(r);
        if (status == AS_STEP_OVER) status = as_cursor_resync(c, depth);
        AS_TRY(status);
        AS_TRY(as_cursor_progress(c));
    }
}

static assay_status read_callpath(new_reader *r) {
    as_cursor *c = r->cursor;
    const char *name;
    size_t size;
    bool again;
    AS_TRY(as_cursor_name(c, "a call path", &name, &size));
    r->key.context = as_experiment_callpath(c->experiment, name, size);
    if (r->key.context == ASSAY_NONE || !mark(&r->callpaths, r->key.context, 1, &again))
        return as_reader_memory(c->reader);
    if (again) return as_cursor_duplicate(c);
    r->callpath++;
    AS_TRY(as_cursor_next(c));
    AS_TRY(as_cursor_expect(c, AS_JSON_OBJECT, "a call path"));
    for (uint32_t depth = c->json.depth;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_OBJECT_END) return ASSAY_OK;
        assay_status status = read_metric(r);
        if (status == AS_STEP_OVER) status = as_cursor_resync(c, depth);
        AS_TRY(status);
    }
}

static assay_status read_callpaths(new_reader *r) {
    as_cursor *c = r->cursor;
    for (uint32_t depth = c->json.depth;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_OBJECT_END) return ASSAY_OK;
        assay_status status = read_callpath(r);
        if (status == AS_STEP_OVER) status = as_cursor_resync(c, depth);
        AS_TRY(status);
    }
}

assay_status as_json_new_measurements(as_cursor *c) {
    as_budget *budget = &c->reader->dataset->budget;
    new_reader r = {.cursor = c};
    as_vec_init(&r.callpaths, sizeof(uint32_t), budget);
    as_vec_init(&r.metrics, sizeof(uint32_t), budget);
    as_vec_init(&r.points, sizeof(uint32_t), budget);
    assay_status status = read_callpaths(&r);
    as_vec_free(&r.callpaths);
    as_vec_free(&r.metrics);
    as_vec_free(&r.points);
    return status;
}
