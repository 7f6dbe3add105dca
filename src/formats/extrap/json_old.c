/* The older layout of extrap-json: five lists, of which measurements refers to the others by ids. Ids may be any
 * integers, also in quotes. Parameters are ordered by id, as Extra-P does; everything else by its place in the file. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/extrap/json.h"

typedef struct old_reader {
    as_extrap_doc *doc;
    as_cursor *cursor;
    as_map parameters, callpaths, metrics, coordinates; /* the file's id -> ours: parameter, tree id, metric, point */
    as_vec names;                                       /* named_id of the parameters */
    as_vec seen; /* uint32_t by parameter: the last coordinate (a running number) that has it */
    uint32_t coordinate;
    bool has_unknown; /* the coordinate has keys without a meaning */
} old_reader;

typedef struct named_id {
    int64_t id;
    as_str name;
} named_id;

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static assay_status read_id(old_reader *r, int64_t *out) {
    as_number number;
    AS_TRY(as_cursor_next(r->cursor));
    AS_TRY(as_cursor_number(r->cursor, "an id", &number));
    if (number.kind != AS_INT) return as_cursor_broken(r->cursor, "bad-id", "an id must be a 64-bit integer");
    *out = number.i;
    return ASSAY_OK;
}

/* An id that must be known; *out: what it stands for. */
static assay_status read_reference(old_reader *r, const as_map *map, const char *what, assay_id *out) {
    int64_t id = 0;
    if (*out != ASSAY_NONE) return as_cursor_duplicate(r->cursor);
    AS_TRY(read_id(r, &id));
    *out = as_map_get(map, (uint64_t)id);
    if (*out == AS_MAP_NONE)
        return as_cursor_broken(r->cursor, "unknown-id", "there is no %s with the id %lld", what, (long long)id);
    return ASSAY_OK;
}

static assay_status missing(old_reader *r, const char *begin, const char *what, const char *key) {
    return as_cursor_broken_at(r->cursor, begin, "missing-key", "the %s has no key \"%s\"", what, key);
}

static assay_status define(old_reader *r, as_map *map, int64_t id, assay_id value, const char *what,
                           const char *begin) {
    if (value == ASSAY_NONE) return as_reader_memory(r->cursor->reader);
    if (as_map_get(map, (uint64_t)id) != AS_MAP_NONE) {
        return as_cursor_broken_at(r->cursor, begin, "duplicate-id", "two %ss with the id %lld", what, (long long)id);
    }
    return as_map_put(map, (uint64_t)id, value) ? ASSAY_OK : as_reader_memory(r->cursor->reader);
}

/* Calls read for each element of a member, a list. */
static assay_status read_list(old_reader *r, int member, const char *name, assay_status (*read)(old_reader *)) {
    as_cursor *c = r->cursor;
    AS_TRY(as_doc_enter(r->doc, member));
    AS_TRY(as_cursor_expect(c, AS_JSON_ARRAY, name));
    for (;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_ARRAY_END) return ASSAY_OK;
        assay_status status = as_cursor_expect(c, AS_JSON_OBJECT, "an element of the list");
        if (status == ASSAY_OK) status = read(r);
        if (status == AS_STEP_OVER) status = as_cursor_resync(c, 1);
        AS_TRY(status);
        AS_TRY(as_cursor_progress(c));
    }
}

/* ---- parameters, call paths, metrics ----------------------------------------------------------------------------- */

/* {"id": 1, "name": "x"}; whatever else it says is left pending in the cursor's extras. */
static assay_status read_named(old_reader *r, const char *what, named_id *out) {
    as_cursor *c = r->cursor;
    const char *begin = c->json.token;
    bool has_id = false;
    out->name = AS_NO_STR;
    as_extras_begin(&c->extras);
    for (;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_OBJECT_END) break;
        if (as_json_is(&c->json, "id")) {
            if (has_id) return as_cursor_duplicate(c);
            AS_TRY(read_id(r, &out->id));
            has_id = true;
        } else if (as_json_is(&c->json, "name")) {
            const char *text;
            size_t size;
            if (out->name != AS_NO_STR) return as_cursor_duplicate(c);
            AS_TRY(as_cursor_next(c));
            AS_TRY(as_cursor_name(c, what, &text, &size));
            out->name = as_ds_intern(c->reader->dataset, text, size);
            if (out->name == AS_NO_STR) return as_reader_memory(c->reader);
        } else {
            AS_TRY(as_cursor_unknown(c, AS_EXTRA_KEY));
        }
    }
    if (!has_id) return missing(r, begin, what, "id");
    return out->name == AS_NO_STR ? missing(r, begin, what, "name") : ASSAY_OK;
}

/* An element that says more than there is room for is kept whole, as an attribute like "coordinates:7". It ends at
 * the current token. */
static assay_status keep_element(old_reader *r, const char *list, int64_t id, const char *begin) {
    as_cursor *c = r->cursor;
    char key[64];
    as_cell element;
    snprintf(key, sizeof key, "%s:%lld", list, (long long)id);
    AS_TRY(as_cursor_json(c, begin, (size_t)(c->json.token + c->json.token_size - begin), &element));
    return as_add_attribute(c->reader->dataset, AS_OWNER_DATASET, 0, key, element) ? ASSAY_OK
                                                                                   : as_reader_memory(c->reader);
}

static assay_status skip_unknown(old_reader *r) {
    AS_TRY(as_cursor_next(r->cursor));
    r->has_unknown = true;
    return as_json_skip(&r->cursor->json, NULL, NULL) == AS_JSON_ERROR ? as_cursor_syntax(r->cursor) : ASSAY_OK;
}

/* What is pending becomes attributes of a metric or context. */
static assay_status keep_attributes(old_reader *r, as_owner owner, assay_id id) {
    as_dataset *ds = r->cursor->reader->dataset;
    as_doc_attribute attribute = {.owner = owner, .id = id};
    for (size_t i = 0; as_extras_get(&r->cursor->extras, i, &attribute.key, &attribute.value); i++) {
        if (attribute.value.type == AS_CELL_TEXT || attribute.value.type == AS_CELL_JSON) {
            attribute.value.text = as_arena_copy(&ds->arena, attribute.value.text, attribute.value.size);
            if (!attribute.value.text) return as_reader_memory(r->cursor->reader);
        }
        if (!as_vec_append(&r->doc->attributes, &attribute, 1)) return as_reader_memory(r->cursor->reader);
    }
    return ASSAY_OK;
}

/* The id as the file writes it, for the tables' source_id. */
static as_str id_text(old_reader *r, int64_t id) {
    char text[AS_NUMBER_SIZE];
    return as_ds_intern(r->cursor->reader->dataset, text, as_int_format(id, text));
}

static assay_status read_parameter(old_reader *r) {
    named_id found;
    const char *begin = r->cursor->json.token;
    AS_TRY(read_named(r, "parameter", &found));
    if (r->names.count == AS_EXTRAP_MAX_PARAMETERS) {
        return as_cursor_broken_at(r->cursor, begin, "too-many-parameters", "more than %d parameters",
                                   AS_EXTRAP_MAX_PARAMETERS);
    }
    AS_TRY(define(r, &r->parameters, found.id, (assay_id)r->names.count, "parameter", begin));
    if (!as_vec_append(&r->names, &found, 1)) return as_reader_memory(r->cursor->reader);
    return r->cursor->extras.pending.count ? keep_element(r, "parameters", found.id, begin) : ASSAY_OK;
}

static assay_status read_callpath(old_reader *r) {
    named_id found;
    as_cursor *c = r->cursor;
    const char *begin = c->json.token;
    AS_TRY(read_named(r, "call path", &found));
    as_strings *strings = &c->reader->dataset->strings;
    assay_id context =
        as_experiment_callpath(c->experiment, as_str_text(strings, found.name), as_str_size(strings, found.name));
    AS_TRY(define(r, &r->callpaths, found.id, context, "call path", begin));
    AS_AT(as_context, &as_experiment_tree(c->experiment)->nodes, context).source_id = id_text(r, found.id);
    return keep_attributes(r, AS_OWNER_CONTEXT, context);
}

static assay_status read_metric(old_reader *r) {
    named_id found;
    as_cursor *c = r->cursor;
    const char *begin = c->json.token;
    AS_TRY(read_named(r, "metric", &found));
    as_dataset *ds = c->reader->dataset;
    assay_id metric =
        as_experiment_metric(c->experiment, as_ds_text(ds, found.name), as_str_size(&ds->strings, found.name));
    AS_TRY(define(r, &r->metrics, found.id, metric, "metric", begin));
    AS_AT(as_metric, &ds->metrics, metric).source_id = id_text(r, found.id);
    return keep_attributes(r, AS_OWNER_METRIC, metric);
}

static int compare_ids(const void *a, const void *b) {
    const named_id *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Parameters get their numbers in the order of their ids. */
static assay_status order_parameters(old_reader *r) {
    as_cursor *c = r->cursor;
    as_dataset *ds = c->reader->dataset;
    ds->parameters.count = 0;
    if (r->names.count) qsort(r->names.data, r->names.count, sizeof(named_id), compare_ids);
    for (size_t i = 0; i < r->names.count; i++) {
        const named_id *parameter = &AS_AT(named_id, &r->names, i);
        uint32_t never = 0;
        assay_id id = as_add_parameter(ds, parameter->name);
        if (id == ASSAY_NONE || !as_map_put(&r->parameters, (uint64_t)parameter->id, id) ||
            !as_vec_append(&r->seen, &never, 1))
            return as_reader_memory(c->reader);
        if (id < i) {
            return as_cursor_broken_at(c, r->doc->members[AS_DOC_PARAMETERS].text, "duplicate-key",
                                       "two parameters have the name '%s'", as_ds_text(ds, parameter->name));
        }
    }
    return ASSAY_OK;
}

/* ---- coordinates ------------------------------------------------------------------------------------------------- */

/* {"parameter_id": 1, "parameter_value": 4} */
static assay_status read_pair(old_reader *r) {
    as_cursor *c = r->cursor;
    const char *begin = c->json.token;
    assay_id parameter = ASSAY_NONE;
    size_t n = as_ds_parameters(c->reader->dataset);
    c->coordinates.count = n;
    AS_TRY(as_cursor_expect(c, AS_JSON_OBJECT, "a pair of parameter and value"));
    for (;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_OBJECT_END) break;
        if (as_json_is(&c->json, "parameter_id")) {
            AS_TRY(read_reference(r, &r->parameters, "parameter", &parameter));
        } else if (as_json_is(&c->json, "parameter_value")) {
            if (c->coordinates.count != n) return as_cursor_duplicate(c);
            AS_TRY(as_cursor_next(c));
            AS_TRY(as_cursor_coordinate(c));
            c->reader->dataset->whole_coordinates = false; /* Extra-P makes reals of them in this layout */
        } else {
            AS_TRY(skip_unknown(r));
        }
    }
    if (parameter == ASSAY_NONE) return missing(r, begin, "pair", "parameter_id");
    if (c->coordinates.count == n) return missing(r, begin, "pair", "parameter_value");
    if (AS_AT(uint32_t, &r->seen, parameter) == r->coordinate)
        return as_cursor_broken_at(c, begin, "coordinate-count", "the coordinate has this parameter twice");
    AS_AT(uint32_t, &r->seen, parameter) = r->coordinate;
    AS_AT(double, &c->coordinates, parameter) = AS_AT(double, &c->coordinates, n);
    return ASSAY_OK;
}

static assay_status read_pairs(old_reader *r, size_t *n) {
    as_cursor *c = r->cursor;
    AS_TRY(as_cursor_next(c));
    AS_TRY(as_cursor_expect(c, AS_JSON_ARRAY, "parameter_value_pairs"));
    for (*n = 0;; ++*n) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_ARRAY_END) return ASSAY_OK;
        AS_TRY(read_pair(r));
    }
}

/* {"id": 1, "parameter_value_pairs": […]} */
static assay_status read_coordinate(old_reader *r) {
    as_cursor *c = r->cursor;
    const char *begin = c->json.token;
    size_t n_pairs = SIZE_MAX, n = as_ds_parameters(c->reader->dataset);
    int64_t id = 0;
    bool has_id = false;
    r->coordinate++;
    r->has_unknown = false;
    c->coordinates.count = 0;
    if (!as_vec_reserve(&c->coordinates, n + 1)) return as_reader_memory(c->reader); /* one more: see read_pair() */
    for (;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_OBJECT_END) break;
        if (as_json_is(&c->json, "id")) {
            if (has_id) return as_cursor_duplicate(c);
            AS_TRY(read_id(r, &id));
            has_id = true;
        } else if (as_json_is(&c->json, "parameter_value_pairs")) {
            if (n_pairs != SIZE_MAX) return as_cursor_duplicate(c);
            AS_TRY(read_pairs(r, &n_pairs));
        } else {
            AS_TRY(skip_unknown(r));
        }
    }
    if (!has_id) return missing(r, begin, "coordinate", "id");
    if (n_pairs == SIZE_MAX) return missing(r, begin, "coordinate", "parameter_value_pairs");
    if (n_pairs != n)
        return as_cursor_broken_at(c, begin, "coordinate-count", "the coordinate has %zu values for %zu parameters",
                                   n_pairs, n);
    AS_TRY(
        define(r, &r->coordinates, id, as_experiment_point(c->experiment, c->coordinates.data), "coordinate", begin));
    return r->has_unknown ? keep_element(r, "coordinates", id, begin) : ASSAY_OK;
}

/* ---- measurements ------------------------------------------------------------------------------------------------ */

/* {"callpath_id": 1, "coordinate_id": 1, "metric_id": 1, "value": 0.5}; an "id" of its own says nothing. */
static assay_status read_measurement(old_reader *r) {
    as_cursor *c = r->cursor;
    const char *begin = c->json.token;
    as_cell_key key = {ASSAY_NONE, ASSAY_NONE, ASSAY_NONE};
    int64_t id;
    bool has_value = false, has_id = false;
    as_extras_begin(&c->extras);
    for (;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_OBJECT_END) break;
        if (as_json_is(&c->json, "callpath_id")) {
            AS_TRY(read_reference(r, &r->callpaths, "call path", &key.context));
        } else if (as_json_is(&c->json, "metric_id")) {
            AS_TRY(read_reference(r, &r->metrics, "metric", &key.metric));
        } else if (as_json_is(&c->json, "coordinate_id")) {
            AS_TRY(read_reference(r, &r->coordinates, "coordinate", &key.point));
        } else if (as_json_is(&c->json, "value")) {
            if (has_value) return as_cursor_duplicate(c);
            AS_TRY(as_cursor_next(c));
            AS_TRY(as_cursor_values(c, "the value"));
            has_value = true;
        } else if (as_json_is(&c->json, "id")) {
            if (has_id) return as_cursor_duplicate(c);
            AS_TRY(read_id(r, &id));
            has_id = true;
        } else {
            AS_TRY(as_cursor_unknown(c, AS_EXTRA_KEY));
        }
    }
    if (key.context == ASSAY_NONE) return missing(r, begin, "measurement", "callpath_id");
    if (key.metric == ASSAY_NONE) return missing(r, begin, "measurement", "metric_id");
    if (key.point == ASSAY_NONE) return missing(r, begin, "measurement", "coordinate_id");
    return has_value ? as_cursor_commit(c, key) : missing(r, begin, "measurement", "value");
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static assay_status read_lists(old_reader *r) {
    AS_TRY(read_list(r, AS_DOC_PARAMETERS, "parameters", read_parameter));
    AS_TRY(order_parameters(r));
    AS_TRY(read_list(r, AS_DOC_CALLPATHS, "callpaths", read_callpath));
    AS_TRY(read_list(r, AS_DOC_METRICS, "metrics", read_metric));
    AS_TRY(read_list(r, AS_DOC_COORDINATES, "coordinates", read_coordinate));
    return read_list(r, AS_DOC_MEASUREMENTS, "measurements", read_measurement);
}

assay_status as_json_old_read(as_extrap_doc *doc) {
    as_budget *budget = &doc->cursor.reader->dataset->budget;
    old_reader r = {.doc = doc, .cursor = &doc->cursor};
    as_map *maps[] = {&r.parameters, &r.callpaths, &r.metrics, &r.coordinates};
    for (size_t i = 0; i < 4; i++) as_map_init(maps[i], budget);
    as_vec_init(&r.names, sizeof(named_id), budget);
    as_vec_init(&r.seen, sizeof(uint32_t), budget);
    assay_status status = read_lists(&r);
    for (size_t i = 0; i < 4; i++) as_map_free(maps[i]);
    as_vec_free(&r.names);
    as_vec_free(&r.seen);
    return status;
}
