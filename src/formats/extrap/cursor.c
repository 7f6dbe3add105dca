#include "formats/extrap/cursor.h"

#include <math.h>
#include <stdio.h>

static const double EXACT_INTEGERS = 9007199254740992.0; /* 2^53 */

typedef struct point_text {
    const char *text; /* in the input */
    size_t size;      /* 0: none that would do */
} point_text;

bool as_cursor_begin(as_cursor *c, as_reader *reader, bool semicolons) {
    as_budget *budget = &reader->dataset->budget;
    const as_input *input = reader->input;
    size_t mark = input->size >= 3 && memcmp(input->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    *c = (as_cursor){.reader = reader, .experiment = as_experiment_new(reader->dataset), .begin = input->data + mark};
    as_cursor_line(c, c->begin, 1);
    as_json_options options = {.nan_literals = true, .semicolons = semicolons, .max_depth = reader->max_depth};
    as_json_init(&c->json, input->path, c->begin, input->size - mark, options, budget);
    as_vec_init(&c->values, sizeof(as_listed_value), budget);
    as_vec_init(&c->coordinates, sizeof(double), budget);
    as_vec_init(&c->text, 1, budget);
    as_vec_init(&c->point_texts, sizeof(point_text), budget);
    c->last_point = ASSAY_NONE;
    as_extras_init(&c->extras, reader->dataset);
    return c->experiment != NULL;
}

void as_cursor_end(as_cursor *c) {
    as_json_free(&c->json);
    as_vec_free(&c->values);
    as_vec_free(&c->coordinates);
    as_vec_free(&c->text);
    as_vec_free(&c->point_texts);
    as_extras_free(&c->extras);
    as_experiment_free(c->experiment);
}

/* ---- places and errors ------------------------------------------------------------------------------------------- */

void as_cursor_line(as_cursor *c, const char *at, uint32_t line) {
    c->known = c->known_begin = at;
    c->known_line = line;
}

as_place as_cursor_place(as_cursor *c, const char *at) {
    const char *from = at < c->known ? at : c->known, *to = at < c->known ? c->known : at, *last = NULL;
    uint32_t lines = 0;
    for (const char *newline = from; (newline = memchr(newline, '\n', (size_t)(to - newline))); newline++, lines++)
        last = newline;
    if (at >= c->known) {
        c->known_line += lines;
        if (last) c->known_begin = last + 1;
    } else if (lines) {
        c->known_line -= lines;
        const char *newline = memrchr(c->begin, '\n', (size_t)(at - c->begin));
        c->known_begin = newline ? newline + 1 : c->begin;
    }
    c->known = at;
    return (as_place){.path = c->reader->input->path,
                      .offset = at - c->reader->input->data,
                      .line = c->known_line,
                      .column = (uint32_t)(at - c->known_begin) + 1};
}

static assay_status broken(as_cursor *c, const char *at, const char *rule, const char *format, va_list args) {
    char message[sizeof(((assay_error *)0)->message)];
    vsnprintf(message, sizeof message, format, args);
    return as_broken(c->reader, as_cursor_place(c, at), rule, "%s", message) == ASSAY_OK ? AS_STEP_OVER
                                                                                         : ASSAY_E_FORMAT;
}

assay_status as_cursor_broken_at(as_cursor *c, const char *at, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    assay_status status = broken(c, at, rule, format, args);
    va_end(args);
    return status;
}

assay_status as_cursor_broken(as_cursor *c, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    assay_status status = broken(c, c->json.token, rule, format, args);
    va_end(args);
    return status;
}

/* For messages: at most 40 bytes of a token. */
static int shown(size_t size) { return size > 40 ? 40 : (int)size; }

assay_status as_cursor_duplicate(as_cursor *c) {
    return as_cursor_broken(c, "duplicate-key", "%.*s stands here twice", shown(c->json.token_size), c->json.token);
}

assay_status as_cursor_syntax(as_cursor *c) {
    assay_error found;
    if (as_json_fail(&c->json, &found) != ASSAY_E_FORMAT) return as_reader_memory(c->reader);
    return as_broken(c->reader, as_json_place(&c->json), found.rule, "%s", found.message) == ASSAY_OK ? AS_STEP_OVER
                                                                                                      : ASSAY_E_FORMAT;
}

static const char *type_name(as_json_type type) {
    switch (type) {
    case AS_JSON_NULL: return "null";
    case AS_JSON_FALSE:
    case AS_JSON_TRUE: return "a boolean";
    case AS_JSON_NUMBER: return "a number";
    case AS_JSON_STRING: return "a string";
    case AS_JSON_OBJECT: return "an object";
    case AS_JSON_ARRAY: return "a list";
    default: return "nothing";
    }
}

assay_status as_cursor_expect(as_cursor *c, as_json_type type, const char *what) {
    if (c->json.type == type) return ASSAY_OK;
    return as_cursor_broken(c, "wrong-type", "%s must be %s, not %s", what, type_name(type), type_name(c->json.type));
}

assay_status as_cursor_leave(as_cursor *c, uint32_t depth) {
    while (c->json.depth >= depth) {
        AS_TRY(as_cursor_next(c));
        AS_TRY(as_cursor_progress(c));
    }
    return ASSAY_OK;
}

assay_status as_cursor_resync(as_cursor *c, uint32_t depth) {
    if (c->json.type == AS_JSON_ERROR) return AS_STEP_OVER; /* there is no next piece */
    if (c->json.type == AS_JSON_KEY) AS_TRY(as_cursor_next(c));
    return as_cursor_leave(c, depth + 1);
}

assay_status as_cursor_progress(as_cursor *c) {
    size_t done = (size_t)(c->json.at - c->reader->input->data);
    if (done < c->told + AS_EXTRAP_PROGRESS_BYTES) return ASSAY_OK;
    c->told = done;
    return as_reader_progress(c->reader, done);
}

/* ---- names and numbers ------------------------------------------------------------------------------------------- */

assay_status as_cursor_name(as_cursor *c, const char *what, const char **text, size_t *size) {
    if (c->json.type != AS_JSON_KEY) AS_TRY(as_cursor_expect(c, AS_JSON_STRING, what));
    *text = as_json_text(&c->json, size);
    if (!*text) return as_reader_memory(c->reader);
    if (memchr(*text, '\0', *size)) return as_cursor_broken(c, "nul-byte", "%s with a NUL character in its name", what);
    return ASSAY_OK;
}

assay_status as_cursor_number(as_cursor *c, const char *what, as_number *out) {
    const as_json *json = &c->json;
    if (json->type == AS_JSON_NUMBER) {
        *out = as_json_number(json);
        bool spelled = json->token[json->token_size - 1] == 'y'; /* Infinity */
        if (out->kind == AS_REAL && isinf(out->r) && !spelled) {
            as_warn(c->reader, as_cursor_place(c, json->token), "huge-number",
                    "'%.*s' is beyond the largest number and read as infinity", shown(json->token_size), json->token);
        }
        return ASSAY_OK;
    }
    if (json->type != AS_JSON_STRING)
        return as_cursor_broken(c, "not-a-number", "%s must be a number, not %s", what, type_name(json->type));
    size_t size;
    const char *text = as_json_text(&c->json, &size);
    if (!text) return as_reader_memory(c->reader);
    if (as_number_parse(text, size, out)) return ASSAY_OK;
    return as_cursor_broken(c, "not-a-number", "%s must be a number, not %.*s", what, shown(json->token_size),
                            json->token);
}

assay_status as_cursor_coordinate(as_cursor *c) {
    as_number number;
    AS_TRY(as_cursor_number(c, "a coordinate", &number));
    double real = as_number_real(number);
    if (!isfinite(real))
        return as_cursor_broken(c, "not-finite", "the coordinate %.*s is not finite", shown(c->json.token_size),
                                c->json.token);
    if (number.kind != AS_REAL && fabs(real) > EXACT_INTEGERS) {
        as_warn(c->reader, as_cursor_place(c, c->json.token), "inexact-integer",
                "a coordinate above 2^53 is rounded to the nearest real");
    }
    if (number.kind == AS_REAL && real == floor(real)) c->has_real_whole = true;
    c->reader->dataset->whole_coordinates = !c->has_real_whole;
    return as_vec_append(&c->coordinates, &real, 1) ? ASSAY_OK : as_reader_memory(c->reader);
}

static bool is_at_point(as_cursor *c, assay_id point) {
    if (point >= c->point_texts.count) return false;
    const point_text *known = &AS_AT(point_text, &c->point_texts, point);
    as_json *json = &c->json;
    if (!known->size || (size_t)(json->end - json->token) < known->size ||
        memcmp(json->token, known->text, known->size) != 0)
        return false;
    as_json_pass(json, known->size);
    c->last_point = point;
    return true;
}

bool as_cursor_guess_point(as_cursor *c, assay_id *point) {
    assay_id next = c->last_point + 1; /* ASSAY_NONE + 1 is 0 */
    if (c->json.type != AS_JSON_OBJECT && c->json.type != AS_JSON_ARRAY) return false;
    if (!is_at_point(c, c->last_point) && !is_at_point(c, next < c->point_texts.count ? next : 0)) return false;
    *point = c->last_point;
    return true;
}

assay_status as_cursor_tell_point(as_cursor *c, assay_id point, const char *begin, bool is_plain) {
    while (c->point_texts.count <= point) {
        if (!as_vec_push(&c->point_texts)) return as_reader_memory(c->reader);
    }
    if (is_plain)
        AS_AT(point_text, &c->point_texts, point) =
            (point_text){begin, (size_t)(c->json.token + c->json.token_size - begin)};
    c->last_point = point;
    return ASSAY_OK;
}

static assay_status add_value(as_cursor *c, const char *what, uint32_t location) {
    if (c->values.count == c->values.capacity && !as_vec_reserve(&c->values, 1)) return as_reader_memory(c->reader);
    as_listed_value *value = &AS_AT(as_listed_value, &c->values, c->values.count++);
    value->location = location;
    return as_cursor_number(c, what, &value->number);
}

/* The values of one repetition at several locations. */
static assay_status read_inner_list(as_cursor *c, const char *what) {
    const char *begin = c->json.token;
    uint32_t location = 0;
    for (;; location++) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_ARRAY_END) break;
        if (c->json.type == AS_JSON_ARRAY)
            return as_cursor_broken(c, "nested-values", "%s is nested deeper than repetitions and locations", what);
        if (location == ASSAY_NONE) return as_cursor_broken(c, "nested-values", "too many locations");
        AS_TRY(add_value(c, what, location));
    }
    return location ? ASSAY_OK : as_cursor_broken_at(c, begin, "no-values", "%s has an empty list", what);
}

assay_status as_cursor_values(as_cursor *c, const char *what) {
    const char *begin = c->json.token;
    c->values.count = 0;
    if (c->json.type != AS_JSON_ARRAY) return add_value(c, what, ASSAY_NONE);
    for (;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_ARRAY_END) break;
        if (c->json.type == AS_JSON_ARRAY)
            AS_TRY(read_inner_list(c, what));
        else
            AS_TRY(add_value(c, what, ASSAY_NONE));
    }
    return c->values.count ? ASSAY_OK : as_cursor_broken_at(c, begin, "no-values", "%s is an empty list", what);
}

/* ---- unknown keys ------------------------------------------------------------------------------------------------ */

/* Copies JSON text as it stands, but for TaLPas' semicolons: they become commas. */
static bool with_commas(const char *at, size_t size, as_vec *out) {
    out->count = 0;
    if (!as_vec_append(out, at, size)) return false;
    bool in_string = false;
    for (char *c = out->data, *end = c + size; c < end; c++) {
        if (in_string && *c == '\\')
            c++; /* what is escaped is no quote */
        else if (*c == '"')
            in_string = !in_string;
        else if (*c == ';' && !in_string)
            *c = ',';
    }
    return true;
}

assay_status as_cursor_json(as_cursor *c, const char *text, size_t size, as_cell *out) {
    if (!with_commas(text, size, &c->text)) return as_reader_memory(c->reader);
    *out = as_cell_json_n(c->text.data, c->text.count);
    return ASSAY_OK;
}

/* Whether a double would lose digits or the number itself. */
static bool needs_text(const as_json *json, as_number number) {
    const char *token = json->token;
    size_t size = json->token_size;
    if (number.kind != AS_REAL || token[size - 1] > '9') return false; /* an integer; NaN, Infinity */
    bool whole = !memchr(token, '.', size) && !memchr(token, 'e', size) && !memchr(token, 'E', size);
    return !isfinite(number.r) || (whole && number.r != 0); /* -0 is a real */
}

assay_status as_cursor_cell(as_cursor *c, as_cell *out) {
    as_json *json = &c->json;
    const char *text;
    size_t size;
    if (json->type == AS_JSON_STRING) {
        text = as_json_text(json, &size);
        *out = as_cell_text_n(text, size);
        return text ? ASSAY_OK : as_reader_memory(c->reader);
    }
    if (json->type == AS_JSON_NUMBER) {
        as_number number = as_json_number(json);
        *out = needs_text(json, number) ? as_cell_json_n(json->token, json->token_size) : as_cell_number(number);
        return ASSAY_OK;
    }
    if (as_json_skip(json, &text, &size) == AS_JSON_ERROR) return as_cursor_syntax(c);
    return as_cursor_json(c, text, size, out);
}

assay_status as_cursor_unknown(as_cursor *c, as_extra_kind kind) {
    size_t size;
    const char *key = as_json_text(&c->json, &size);
    if (!key) return as_reader_memory(c->reader);
    as_extras_result result = as_extras_key(&c->extras, kind, key, size);
    if (result == AS_EXTRAS_NO_MEMORY) return as_reader_memory(c->reader);
    if (result == AS_EXTRAS_DUPLICATE) return as_cursor_duplicate(c);
    AS_TRY(as_cursor_next(c));
    as_cell cell;
    AS_TRY(as_cursor_cell(c, &cell));
    return as_extras_value(&c->extras, cell) ? ASSAY_OK : as_reader_memory(c->reader);
}

/* ---- building ---------------------------------------------------------------------------------------------------- */

assay_status as_cursor_parameter(as_cursor *c, assay_id *out) {
    as_dataset *ds = c->reader->dataset;
    const char *name;
    size_t size;
    AS_TRY(as_cursor_name(c, "a parameter", &name, &size));
    size_t before = as_ds_parameters(ds);
    if (before == AS_EXTRAP_MAX_PARAMETERS)
        return as_cursor_broken(c, "too-many-parameters", "more than %d parameters", AS_EXTRAP_MAX_PARAMETERS);
    *out = as_add_parameter(ds, as_ds_intern(ds, name, size));
    if (*out == ASSAY_NONE) return as_reader_memory(c->reader);
    if (*out < before) return as_cursor_duplicate(c);
    return ASSAY_OK;
}

assay_status as_cursor_commit(as_cursor *c, as_cell_key key) {
    uint32_t repetitions = 0;
    c->has_data = true;
    if (!as_experiment_keeps(c->experiment, key.context)) {
        bool fine = as_experiment_series(c->experiment, key.metric, key.context) != UINT32_MAX;
        return fine ? ASSAY_OK : as_reader_memory(c->reader);
    }
    for (size_t i = 0; i < c->values.count && c->extras.pending.count; i++) {
        uint32_t location = AS_AT(as_listed_value, &c->values, i).location;
        repetitions += location == 0 || location == ASSAY_NONE;
    }
    if (!as_extras_commit(&c->extras, c->experiment, key, repetitions)) return as_reader_memory(c->reader);
    for (size_t i = 0; i < c->values.count; i++) {
        const as_listed_value *value = &AS_AT(as_listed_value, &c->values, i);
        bool fine = value->location == ASSAY_NONE
                        ? as_experiment_value(c->experiment, key, value->number)
                        : as_experiment_value_at(c->experiment, key, value->location, value->number);
        if (!fine) return as_reader_memory(c->reader);
    }
    return ASSAY_OK;
}

assay_status as_cursor_finish(as_cursor *c) {
    as_reader *reader = c->reader;
    as_place file = as_place_file(reader->input->path);
    if (!reader->failed) {
        if (!as_ds_parameters(reader->dataset))
            AS_TRY(as_broken(reader, file, "no-parameters", "no parameters"));
        else if (!c->has_data)
            AS_TRY(as_broken(reader, file, "no-data", "no measurements"));
    }
    if (!as_experiment_finish(c->experiment, file, &c->new_ids) || !as_extras_finish(&c->extras, c->new_ids))
        return as_reader_memory(reader);
    return ASSAY_OK;
}
