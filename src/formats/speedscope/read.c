/* The document: one pass where the frames come before the profiles, else one over the frames and one over the
 * profiles. */
#include <math.h>

#include "formats/speedscope/reading.h"
#include "io/json_keys.h"

enum { PROGRESS_BYTES = 1 << 18 };

const as_speedscope_unit as_speedscope_units[] = {{"none", "weight", NULL, 0},
                                                  {"bytes", "bytes", "B", 0},
                                                  {"nanoseconds", "time", "ns", 1e9},
                                                  {"microseconds", "time", "us", 1e6},
                                                  {"milliseconds", "time", "ms", 1e3},
                                                  {"seconds", "time", "s", 1},
                                                  {0}};

assay_status as_speedscope_broken(as_speedscope_reading *s, const char *rule, const char *message) {
    if (s->json.type == AS_JSON_ERROR) return as_json_fail(&s->json, s->reader->error);
    return as_broken(s->reader, as_json_place(&s->json), rule, "%s", message);
}

/* The current value is of no use: says so and steps over it. */
assay_status as_speedscope_skip_broken(as_speedscope_reading *s, const char *rule, const char *message) {
    AS_TRY(as_speedscope_broken(s, rule, message));
    return as_json_skip(&s->json, NULL, NULL) == AS_JSON_ERROR ? as_json_fail(&s->json, s->reader->error) : ASSAY_OK;
}

assay_status as_speedscope_skip(as_speedscope_reading *s) {
    return as_json_skip(&s->json, NULL, NULL) == AS_JSON_ERROR ? as_json_fail(&s->json, s->reader->error) : ASSAY_OK;
}

assay_status as_speedscope_progress(as_speedscope_reading *s) {
    if (s->json.at - s->told < PROGRESS_BYTES) return ASSAY_OK;
    s->told = s->json.at;
    return as_reader_progress(s->reader, (size_t)(s->json.at - s->json.begin));
}

/* The current string, interned. */
assay_status as_speedscope_string(as_speedscope_reading *s, as_str *out) {
    size_t size;
    if (s->json.type != AS_JSON_STRING) return as_speedscope_skip_broken(s, "wrong-type", "this must be a string");
    const char *text = as_json_text(&s->json, &size);
    if (!text) return as_json_fail(&s->json, s->reader->error);
    *out = as_ds_intern(s->sums.ds, text, size);
    return *out == AS_NO_STR ? as_reader_memory(s->reader) : ASSAY_OK;
}

assay_status as_speedscope_number(as_speedscope_reading *s, as_number *out) {
    if (s->json.type != AS_JSON_NUMBER) return as_speedscope_skip_broken(s, "wrong-type", "this must be a number");
    *out = as_json_number(&s->json);
    if (!isfinite(as_number_real(*out))) return as_speedscope_broken(s, "number-range", "the number is too large");
    return ASSAY_OK;
}

/* An index from 0; UINT32_MAX where it is none. */
uint32_t as_speedscope_index(as_number number) {
    return number.kind == AS_INT && number.i >= 0 && number.i < UINT32_MAX ? (uint32_t)number.i : UINT32_MAX;
}

/* The value of an attribute: numbers, texts and everything else as it stands. */
static assay_status keep_attribute(as_speedscope_reading *s, as_owner owner, assay_id id, const char *key) {
    as_cell cell = as_cell_null();
    const char *raw;
    size_t size;
    if (s->json.type == AS_JSON_NUMBER) {
        cell = as_cell_number(as_json_number(&s->json));
    } else if (s->json.type == AS_JSON_STRING) {
        raw = as_json_text(&s->json, &size);
        if (!raw) return as_json_fail(&s->json, s->reader->error);
        cell = as_cell_text_n(raw, size);
    } else {
        if (as_json_skip(&s->json, &raw, &size) == AS_JSON_ERROR) return as_json_fail(&s->json, s->reader->error);
        cell = as_cell_json_n(raw, size);
    }
    return as_add_attribute(s->sums.ds, owner, id, key, cell) ? ASSAY_OK : as_reader_memory(s->reader);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

typedef struct frame_words {
    as_str name, file;
    as_number line, column; /* kind AS_REAL: not said */
} frame_words;

static bool put_part(as_vec *key, as_number number) {
    char digits[AS_NUMBER_SIZE];
    return as_vec_append(key, digits, as_number_format(number, digits)) && as_vec_append(key, " ", 1);
}

/* Frames that say the same are one region. */
static assay_id region_of(as_speedscope_reading *s, const frame_words *words) {
    as_dataset *ds = s->sums.ds;
    s->text.count = 0;
    if (!put_part(&s->text, (as_number){.kind = AS_INT, .i = words->name}) ||
        !put_part(&s->text, (as_number){.kind = AS_INT, .i = words->file}) || !put_part(&s->text, words->line) ||
        !put_part(&s->text, words->column))
        return ASSAY_NONE;
    as_str key = as_ds_intern(ds, s->text.data, s->text.count);
    if (key == AS_NO_STR) return ASSAY_NONE;
    uint32_t known = as_map_get(&s->regions, key);
    if (known != AS_MAP_NONE) return known;
    as_region region = AS_REGION_INIT;
    region.name = words->name;
    region.file = words->file;
    if (words->line.kind == AS_INT) region.line_begin = words->line.i;
    assay_id id = as_add_region(ds, &region);
    if (id == ASSAY_NONE || !as_map_put(&s->regions, key, id)) return ASSAY_NONE;
    if (words->column.kind == AS_INT && !as_add_attribute(ds, AS_OWNER_REGION, id, "col", as_cell_int(words->column.i)))
        return ASSAY_NONE;
    return id;
}

/* line and col; null and what is no place are none. */
static assay_status read_position(as_speedscope_reading *s, as_number *out) {
    if (s->json.type == AS_JSON_NULL) return ASSAY_OK;
    as_number number = {.kind = AS_REAL};
    AS_TRY(as_speedscope_number(s, &number));
    if (as_speedscope_index(number) != UINT32_MAX) *out = number;
    return ASSAY_OK;
}

static assay_status read_frame(as_speedscope_reading *s) {
    frame_words words = {AS_NO_STR, AS_NO_STR, {.kind = AS_REAL}, {.kind = AS_REAL}};
    as_json *json = &s->json;
    if (json->type != AS_JSON_OBJECT) return as_speedscope_skip_broken(s, "wrong-type", "a frame must be an object");
    while (as_json_next(json) == AS_JSON_KEY) {
        bool is_name = as_json_is(json, "name"), is_file = as_json_is(json, "file"), is_line = as_json_is(json, "line"),
             is_column = as_json_is(json, "col");
        as_json_next(json);
        if (is_name)
            AS_TRY(as_speedscope_string(s, &words.name));
        else if (is_file && json->type == AS_JSON_STRING)
            AS_TRY(as_speedscope_string(s, &words.file));
        else if (is_line || is_column)
            AS_TRY(read_position(s, is_line ? &words.line : &words.column));
        else
            AS_TRY(as_speedscope_skip(s));
    }
    if (json->type != AS_JSON_OBJECT_END) return as_json_fail(json, s->reader->error);
    if (words.name == AS_NO_STR) {
        AS_TRY(as_speedscope_broken(s, "no-name", "a frame has no name"));
        words.name = as_ds_intern_text(s->sums.ds, "");
    }
    assay_id region = words.name == AS_NO_STR ? ASSAY_NONE : region_of(s, &words);
    return region != ASSAY_NONE && as_vec_append(&s->frames, &region, 1) ? ASSAY_OK : as_reader_memory(s->reader);
}

static assay_status read_shared(as_speedscope_reading *s) {
    as_json *json = &s->json;
    if (json->type != AS_JSON_OBJECT) return as_speedscope_skip_broken(s, "wrong-type", "\"shared\" must be an object");
    while (as_json_next(json) == AS_JSON_KEY) {
        bool is_frames = as_json_is(json, "frames");
        as_json_next(json);
        if (!is_frames || s->has_frames) {
            AS_TRY(as_speedscope_skip(s));
            continue;
        }
        if (json->type != AS_JSON_ARRAY) return as_speedscope_skip_broken(s, "wrong-type", "\"frames\" must be a list");
        while (as_json_next(json) != AS_JSON_ARRAY_END) {
            if (json->type == AS_JSON_ERROR) return as_json_fail(json, s->reader->error);
            AS_TRY(read_frame(s));
            AS_TRY(as_speedscope_progress(s));
        }
        s->has_frames = true;
    }
    return json->type == AS_JSON_OBJECT_END ? ASSAY_OK : as_json_fail(json, s->reader->error);
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static assay_status read_profiles(as_speedscope_reading *s) {
    as_json *json = &s->json;
    if (json->type != AS_JSON_ARRAY || s->has_profiles)
        return as_speedscope_skip_broken(s, "wrong-type", "\"profiles\" must be one list");
    s->has_profiles = true;
    while (as_json_next(json) != AS_JSON_ARRAY_END) {
        if (json->type == AS_JSON_ERROR) return as_json_fail(json, s->reader->error);
        AS_TRY(as_speedscope_profile_read(s));
    }
    return ASSAY_OK;
}

/* A member of the document that is nothing special. */
static assay_status read_member(as_speedscope_reading *s) {
    size_t size;
    const char *text = as_json_text(&s->json, &size);
    s->text.count = 0;
    if (!text || !as_vec_append(&s->text, text, size) || !as_vec_append(&s->text, "", 1))
        return as_reader_memory(s->reader);
    as_json_next(&s->json);
    return keep_attribute(s, AS_OWNER_DATASET, 0, s->text.data);
}

/* *is_late: the profiles came before the frames, and were left for a second pass, which reads nothing else. */
static assay_status read_document(as_speedscope_reading *s, bool is_second, bool *is_late) {
    as_json *json = &s->json;
    if (as_json_next(json) != AS_JSON_OBJECT)
        return as_speedscope_broken(s, "wrong-type", "a speedscope file is a JSON object");
    while (as_json_next(json) == AS_JSON_KEY) {
        bool is_shared = as_json_is(json, "shared"), is_profiles = as_json_is(json, "profiles");
        if (is_shared || is_profiles || is_second || as_json_is(json, "$schema")) {
            as_json_next(json);
            bool reads_profiles = is_profiles && (s->has_frames || is_second);
            *is_late |= is_profiles && !reads_profiles;
            if (reads_profiles)
                AS_TRY(read_profiles(s));
            else if (is_shared && !is_second)
                AS_TRY(read_shared(s));
            else
                AS_TRY(as_speedscope_skip(s));
        } else
            AS_TRY(read_member(s));
    }
    if (json->type != AS_JSON_OBJECT_END || as_json_next(json) != AS_JSON_END)
        return as_speedscope_broken(s, "json-syntax", "there is more behind the document");
    return ASSAY_OK;
}

static assay_status read_all(as_speedscope_reading *s) {
    const as_input *input = s->reader->input;
    bool is_late = false;
    AS_TRY(read_document(s, false, &is_late));
    if (is_late) {
        as_json_restart(&s->json, input->data, input->size, 1);
        s->told = input->data;
        AS_TRY(read_document(s, true, &is_late));
    }
    if (!s->has_profiles) AS_TRY(as_broken(s->reader, as_place_file(input->path), "no-data", "has no \"profiles\""));
    return as_stack_sums_finish(&s->sums) && as_speedscope_events_finish(&s->events, s->sums.new_ids)
               ? ASSAY_OK
               : as_reader_memory(s->reader);
}

assay_status as_speedscope_read(as_reader *reader) {
    as_budget *budget = &reader->dataset->budget;
    as_speedscope_reading s = {.reader = reader, .told = reader->input->data};
    as_map *maps[] = {&s.regions, &s.metrics, &s.places, &s.used};
    as_json_init(&s.json, reader->input->path, reader->input->data, reader->input->size,
                 (as_json_options){.max_depth = reader->max_depth}, budget);
    as_stack_sums_init(&s.sums, reader->dataset);
    as_speedscope_events_init(&s.events, reader->dataset);
    as_vec_init(&s.frames, sizeof(assay_id), budget);
    as_vec_init(&s.text, 1, budget);
    as_vec_init(&s.stack, sizeof(as_speedscope_frame), budget);
    as_vec_init(&s.samples, sizeof(assay_id), budget);
    as_vec_init(&s.amounts, sizeof(as_number), budget);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) as_map_init(maps[i], budget);
    assay_status status = read_all(&s);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) as_map_free(maps[i]);
    as_vec_free(&s.frames);
    as_vec_free(&s.text);
    as_vec_free(&s.stack);
    as_vec_free(&s.samples);
    as_vec_free(&s.amounts);
    as_speedscope_events_free(&s.events);
    as_stack_sums_free(&s.sums);
    as_json_free(&s.json);
    return status;
}
