/* extrap-jsonl and extrap-talpas: a JSON object per line, each a measured value (or a list of them) at one point.
 *
 *   {"params":{"x":1,"y":2},"callpath":"main->f","metric":"time","value":[1.5,1.6]}   JSON Lines
 *   {"parameters":{"x":1,"y":2};"metric":"time";"callpath":"main->f";"value":1.5}     TaLPas
 *
 * The first record names the parameters. Records that follow each other mostly share call path and metric: what was
 * looked up for the last one is used again while the bytes are the same. */
#include "formats/extrap/records.h"
#include "formats/extrap/bid.h"
#include "formats/extrap/cursor.h"

const as_dialect as_dialect_jsonl = {.format = "extrap-jsonl",
                                     .parameters = "params",
                                     .separator = ',',
                                     .default_callpath = "<root>",
                                     .default_metric = "<default>"};
const as_dialect as_dialect_talpas = {.format = "extrap-talpas", .parameters = "parameters", .separator = ';'};

/* A token and the id it stands for. The bytes are those of the input, or of a default. */
typedef struct remembered {
    const char *token;
    size_t size;
    assay_id id;
} remembered;

typedef struct record_reader {
    as_cursor cursor;
    const as_dialect *dialect;
    remembered callpath, metric; /* of the last record */
    as_vec seen;                 /* uint32_t for each parameter: the number of the last record that has it */
    uint32_t record;
} record_reader;

/* What one record has said so far. */
typedef struct record {
    as_cell_key key;
    bool has_values, has_callpath, has_metric, has_point;
} record;

static bool is_same(const remembered *last, const as_json *json) {
    return last->size == json->token_size && memcmp(last->token, json->token, last->size) == 0;
}

static void remember(remembered *last, const char *token, size_t size, assay_id id) {
    *last = (remembered){token, size, id};
}

/* ---- the members of a record ------------------------------------------------------------------------------------- */

static assay_status read_callpath(record_reader *r, record *out) {
    as_cursor *c = &r->cursor;
    if (out->has_callpath) return as_cursor_duplicate(c);
    AS_TRY(as_cursor_next(c));
    if (!is_same(&r->callpath, &c->json)) {
        const char *name;
        size_t size;
        AS_TRY(as_cursor_name(c, "a call path", &name, &size));
        assay_id id = as_experiment_callpath(c->experiment, name, size);
        if (id == ASSAY_NONE) return as_reader_memory(c->reader);
        remember(&r->callpath, c->json.token, c->json.token_size, id);
    }
    out->key.context = r->callpath.id;
    out->has_callpath = true;
    return ASSAY_OK;
}

static assay_status read_metric(record_reader *r, record *out) {
    as_cursor *c = &r->cursor;
    if (out->has_metric) return as_cursor_duplicate(c);
    AS_TRY(as_cursor_next(c));
    if (!is_same(&r->metric, &c->json)) {
        const char *name;
        size_t size;
        AS_TRY(as_cursor_name(c, "a metric", &name, &size));
        assay_id id = as_experiment_metric(c->experiment, name, size);
        if (id == ASSAY_NONE) return as_reader_memory(c->reader);
        remember(&r->metric, c->json.token, c->json.token_size, id);
    }
    out->key.metric = r->metric.id;
    out->has_metric = true;
    return ASSAY_OK;
}

static assay_status read_values(record_reader *r, record *out) {
    if (out->has_values) return as_cursor_duplicate(&r->cursor);
    AS_TRY(as_cursor_next(&r->cursor));
    out->has_values = true;
    if (out->has_callpath && !as_experiment_keeps(r->cursor.experiment, out->key.context)) /* others look at it */
        return as_json_skip(&r->cursor.json, NULL, NULL) == AS_JSON_ERROR ? as_cursor_syntax(&r->cursor) : ASSAY_OK;
    return as_cursor_values(&r->cursor, "the value");
}

/* The parameter the current key names, or ASSAY_NONE. They mostly come in the order of the first record. */
static assay_id find_parameter(as_dataset *ds, const char *name, size_t size, size_t expected) {
    as_str text = as_find(&ds->strings, name, size);
    size_t n = as_ds_parameters(ds);
    if (text == AS_NO_STR) return ASSAY_NONE;
    if (expected < n && AS_AT(as_str, &ds->parameters, expected) == text) return (assay_id)expected;
    for (size_t i = 0; i < n; i++) {
        if (AS_AT(as_str, &ds->parameters, i) == text) return (assay_id)i;
    }
    return ASSAY_NONE;
}

/* The first record: its keys are the parameters. */
static assay_status read_new_parameters(record_reader *r) {
    as_cursor *c = &r->cursor;
    for (;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_OBJECT_END) break;
        assay_id id;
        uint32_t never = 0;
        AS_TRY(as_cursor_parameter(c, &id));
        if (!as_vec_append(&r->seen, &never, 1)) return as_reader_memory(c->reader);
        AS_TRY(as_cursor_next(c));
        AS_TRY(as_cursor_coordinate(c));
    }
    return c->coordinates.count ? ASSAY_OK
                                : as_cursor_broken(c, "no-parameters", "the first record names no parameters");
}

static assay_status read_first_parameters(record_reader *r) {
    assay_status status = read_new_parameters(r);
    if (status != ASSAY_OK)
        r->cursor.reader->dataset->parameters.count = r->seen.count = 0; /* the next sound record is the first one */
    return status;
}

/* A later one: every parameter of the first must be there; further ones are kept as unknown keys. */
static assay_status read_more_parameters(record_reader *r, const char *begin) {
    as_cursor *c = &r->cursor;
    as_dataset *ds = c->reader->dataset;
    size_t n = as_ds_parameters(ds), found = 0;
    if (!as_vec_reserve(&c->coordinates, n + 1))
        return as_reader_memory(c->reader); /* one more: they are appended first */
    for (size_t expected = 0;; expected++) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_OBJECT_END) break;
        size_t size;
        const char *name = as_json_text(&c->json, &size);
        if (!name) return as_reader_memory(c->reader);
        assay_id id = find_parameter(ds, name, size, expected);
        if (id == ASSAY_NONE) {
            AS_TRY(as_cursor_unknown(c, AS_EXTRA_PARAMETER));
            continue;
        }
        uint32_t *seen = &AS_AT(uint32_t, &r->seen, id);
        if (*seen == r->record) return as_cursor_duplicate(c);
        *seen = r->record;
        AS_TRY(as_cursor_next(c));
        c->coordinates.count = n;
        AS_TRY(as_cursor_coordinate(c));
        AS_AT(double, &c->coordinates, id) = AS_AT(double, &c->coordinates, n);
        found++;
    }
    for (size_t i = 0; i < n && found < n; i++) {
        if (AS_AT(uint32_t, &r->seen, i) == r->record) continue;
        return as_cursor_broken_at(c, begin, "missing-parameter", "the parameter '%s' of the first record is missing",
                                   as_ds_parameter(ds, i));
    }
    return ASSAY_OK;
}

static assay_status read_point(record_reader *r, record *out) {
    as_cursor *c = &r->cursor;
    if (out->has_point) return as_cursor_duplicate(c);
    AS_TRY(as_cursor_next(c));
    AS_TRY(as_cursor_expect(c, AS_JSON_OBJECT, r->dialect->parameters));
    out->has_point = true;
    if (as_cursor_guess_point(c, &out->key.point)) return ASSAY_OK;
    const char *begin = c->json.token;
    size_t extras = c->extras.pending.count;
    c->coordinates.count = 0;
    AS_TRY(as_ds_parameters(c->reader->dataset) ? read_more_parameters(r, begin) : read_first_parameters(r));
    out->key.point = as_experiment_point(c->experiment, c->coordinates.data);
    if (out->key.point == ASSAY_NONE) return as_reader_memory(c->reader);
    return as_cursor_tell_point(c, out->key.point, begin, c->extras.pending.count == extras);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static assay_status read_member(record_reader *r, record *out) {
    as_json *json = &r->cursor.json;
    if (as_json_is(json, "value")) return read_values(r, out);
    if (as_json_is(json, "callpath")) return read_callpath(r, out);
    if (as_json_is(json, "metric")) return read_metric(r, out);
    if (as_json_is(json, r->dialect->parameters)) return read_point(r, out);
    return as_cursor_unknown(&r->cursor, AS_EXTRA_KEY);
}

static assay_status missing(record_reader *r, const char *key) {
    as_cursor *c = &r->cursor;
    return as_cursor_broken_at(c, c->json.begin, "missing-key", "the record has no key \"%s\"", key);
}

/* Names what the record leaves out, or says that it must not. */
static assay_status complete(record_reader *r, record *out) {
    as_cursor *c = &r->cursor;
    const as_dialect *dialect = r->dialect;
    if (!out->has_point) return missing(r, dialect->parameters);
    if (!out->has_values) return missing(r, "value");
    if (!out->has_callpath) {
        if (!dialect->default_callpath) return missing(r, "callpath");
        out->key.context =
            as_experiment_callpath(c->experiment, dialect->default_callpath, strlen(dialect->default_callpath));
    }
    if (!out->has_metric) {
        if (!dialect->default_metric) return missing(r, "metric");
        out->key.metric = as_experiment_metric(c->experiment, dialect->default_metric, strlen(dialect->default_metric));
    }
    return out->key.context == ASSAY_NONE || out->key.metric == ASSAY_NONE ? as_reader_memory(c->reader) : ASSAY_OK;
}

static assay_status read_record(record_reader *r) {
    as_cursor *c = &r->cursor;
    record found = {.key = {ASSAY_NONE, ASSAY_NONE, ASSAY_NONE}};
    r->record++;
    as_extras_begin(&c->extras);
    AS_TRY(as_cursor_next(c));
    AS_TRY(as_cursor_expect(c, AS_JSON_OBJECT, "a record"));
    for (;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_OBJECT_END) break;
        AS_TRY(read_member(r, &found));
    }
    AS_TRY(as_cursor_next(c)); /* nothing more on the line */
    AS_TRY(complete(r, &found));
    return as_cursor_commit(c, found.key);
}

static bool is_blank_line(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
    return at == end;
}

static assay_status read_lines(record_reader *r) {
    as_cursor *c = &r->cursor;
    const char *at = c->json.begin, *end = c->json.end;
    for (uint32_t line = 1; at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;
        if (!is_blank_line(at, line_end)) {
            as_json_restart(&c->json, at, (size_t)(line_end - at), line);
            as_cursor_line(c, at, line);
            assay_status status = read_record(r);
            if (status != ASSAY_OK && status != AS_STEP_OVER) return status;
            AS_TRY(as_cursor_progress(c));
        }
        at = newline ? newline + 1 : end;
    }
    return ASSAY_OK;
}

static assay_status read_records(as_reader *reader, const as_dialect *dialect) {
    record_reader r = {.dialect = dialect};
    as_vec_init(&r.seen, sizeof(uint32_t), &reader->dataset->budget);
    assay_status status =
        as_cursor_begin(&r.cursor, reader, dialect->separator == ';') ? read_lines(&r) : as_reader_memory(reader);
    if (status == ASSAY_OK) status = as_cursor_finish(&r.cursor);
    as_vec_free(&r.seen);
    as_cursor_end(&r.cursor);
    return status;
}

/* ---- the formats ------------------------------------------------------------------------------------------------- */

static assay_status read_jsonl(as_reader *reader) { return read_records(reader, &as_dialect_jsonl); }
static assay_status read_talpas(as_reader *reader) { return read_records(reader, &as_dialect_talpas); }

static int bid_jsonl(const as_probe *probe) {
    static const as_bid_key keys[] = {
        {"params", "{", true}, {"value", NULL, true}, {"callpath", "\"", false}, {"metric", "\"", false}, {0}};
    return as_bid_json(probe, keys, true);
}

static int bid_talpas(const as_probe *probe) {
    static const as_bid_key keys[] = {
        {"parameters", "{", true}, {"value", NULL, true}, {"callpath", "\"", true}, {"metric", "\"", true}, {0}};
    return as_bid_json(probe, keys, true);
}

const struct assay_format as_format_extrap_jsonl = {
    .name = "extrap-jsonl",
    .title = "Extra-P JSON Lines",
    .extensions = ".jsonl",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_RECORDS,
    .bid = bid_jsonl,
    .read = read_jsonl,
    .write = as_extrap_jsonl_write,
    .losses = as_extrap_jsonl_losses,
};

const struct assay_format as_format_extrap_talpas = {
    .name = "extrap-talpas",
    .title = "Extra-P TaLPas",
    .extensions = "",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_RECORDS,
    .bid = bid_talpas,
    .read = read_talpas,
    .write = as_extrap_talpas_write,
    .losses = as_extrap_talpas_losses,
};
