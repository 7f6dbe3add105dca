/* Helpers for reading experiment.json: numbers that may be texts, attributes, names with tags, errors with their
 * places. */
#include "formats/extrap/experiment.h"

#include <stdio.h>

enum { MAX_EXACT_PLACES = 1000 }; /* finding a line counts from the start: not for the ten-thousandth error of a file */

static assay_status vbroken(as_xp_file *file, const char *rule, const char *format, va_list args) {
    char message[sizeof file->reader->error->message];
    vsnprintf(message, sizeof message, format, args);
    as_place place = file->n_broken++ < MAX_EXACT_PLACES ? as_json_place(&file->json) : as_place_file(file->json_path);
    return as_broken(file->reader, place, rule, "%s", message);
}

assay_status as_xp_broken(as_xp_file *file, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    assay_status status = vbroken(file, rule, format, args);
    va_end(args);
    return status;
}

assay_status as_xp_reject(as_xp_file *file, const char *rule, const char *format, ...) {
    if (file->json.type == AS_JSON_ERROR) return as_json_fail(&file->json, file->reader->error);
    va_list args;
    va_start(args, format);
    assay_status status = vbroken(file, rule, format, args);
    va_end(args);
    AS_TRY(status);
    const char *raw;
    size_t size;
    return as_json_skip(&file->json, &raw, &size) == AS_JSON_ERROR ? as_json_fail(&file->json, file->reader->error)
                                                                   : ASSAY_OK;
}

assay_status as_xp_nul(as_xp_file *file, const char *what) {
    return as_xp_broken(file, "nul-byte", "%s with a NUL character in its name", what);
}

bool as_xp_real(as_json *json, double *out) {
    if (json->type == AS_JSON_NUMBER) {
        *out = as_number_real(as_json_number(json));
        return true;
    }
    size_t size;
    const char *text = json->type == AS_JSON_STRING ? as_json_text(json, &size) : NULL;
    if (!text) return false;
    const char *slash = memchr(text, '/', size);
    if (!slash) return as_real_parse(text, size, out);
    double numerator, denominator;
    size_t before = (size_t)(slash - text);
    if (!as_real_parse(text, before, &numerator) || !as_real_parse(slash + 1, size - before - 1, &denominator) ||
        denominator == 0)
        return false;
    *out = numerator / denominator;
    return true;
}

static const char *type_name(as_json_type type) {
    switch (type) {
    case AS_JSON_OBJECT: return "an object";
    case AS_JSON_ARRAY: return "a list";
    case AS_JSON_STRING: return "a text";
    default: return "a number";
    }
}

assay_status as_xp_skip(as_xp_file *file, const char **raw, size_t *size) {
    as_json_next(&file->json);
    return as_json_skip(&file->json, raw, size) == AS_JSON_ERROR ? as_json_fail(&file->json, file->reader->error)
                                                                 : ASSAY_OK;
}

assay_status as_xp_expect(as_xp_file *file, as_json_type type, const char *what, bool *fits) {
    *fits = as_json_next(&file->json) == type;
    return *fits ? ASSAY_OK : as_xp_reject(file, "wrong-type", "%s must be %s", what, type_name(type));
}

assay_status as_xp_next_key(as_xp_file *file, bool *more) {
    as_json_type type = as_json_next(&file->json);
    if (type == AS_JSON_ERROR) return as_json_fail(&file->json, file->reader->error);
    *more = type == AS_JSON_KEY;
    return ASSAY_OK;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

as_cell as_xp_cell(as_json *json, const char *raw, size_t size) {
    char text[AS_NUMBER_SIZE];
    size_t n = 0;
    const char *string;
    switch (json->type) {
    case AS_JSON_NULL: return as_cell_null();
    case AS_JSON_STRING:
        string = as_json_text(json, &n);
        return string ? as_cell_text_n(string, n) : as_cell_json_n(raw, size);
    case AS_JSON_NUMBER: {
        /* A number whose text would not come back stays text. */
        as_number number = as_json_number(json);
        n = number.kind == AS_REAL ? as_xp_format_real(number.r, text) : as_number_format(number, text);
        return n == size && memcmp(text, raw, n) == 0 ? as_cell_number(number) : as_cell_json_n(raw, size);
    }
    default: return as_cell_json_n(raw, size);
    }
}

/* json is at a key; steps over its value. */
static assay_status keep_member(as_xp_file *file, as_json *json, as_owner owner, assay_id owner_id,
                                const char *prefix) {
    size_t size;
    const char *text = as_json_text(json, &size), *raw;
    if (text && memchr(text, '\0', size)) AS_TRY(as_xp_nul(file, "a key"));
    file->key.count = 0;
    if (!text || !as_vec_append(&file->key, prefix, strlen(prefix)) || !as_vec_append(&file->key, text, size) ||
        !as_vec_append(&file->key, "", 1)) {
        return as_xp_no_memory(file);
    }
    as_json_next(json);
    if (as_json_skip(json, &raw, &size) == AS_JSON_ERROR) return as_json_fail(json, file->reader->error);
    return as_add_attribute(file->ds, owner, owner_id, file->key.data, as_xp_cell(json, raw, size))
               ? ASSAY_OK
               : as_xp_no_memory(file);
}

assay_status as_xp_keep_member(as_xp_file *file, as_owner owner, assay_id owner_id, const char *prefix) {
    return keep_member(file, &file->json, owner, owner_id, prefix);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static assay_status keep_tags(as_xp_file *file, const char *tags, size_t size, as_owner owner, assay_id id) {
    uint64_t key = as_pair((uint32_t)owner, id);
    if (as_map_get(&file->tagged, key) != AS_MAP_NONE)
        return ASSAY_OK; /* the same name stands in measurements and in modelers */
    if (!as_map_put(&file->tagged, key, 0)) return as_xp_no_memory(file);
    as_json json;
    as_json_init(&json, file->json_path, tags, size,
                 (as_json_options){.nan_literals = true, .max_depth = file->reader->max_depth}, &file->ds->budget);
    assay_status status = ASSAY_OK;
    bool is_object = as_json_next(&json) == AS_JSON_OBJECT;
    while (is_object && status == ASSAY_OK && as_json_next(&json) == AS_JSON_KEY)
        status = keep_member(file, &json, owner, id, AS_XP_TAG_PREFIX);
    if (status == ASSAY_OK && (!is_object || json.type != AS_JSON_OBJECT_END || as_json_next(&json) != AS_JSON_END)) {
        status = as_xp_broken(file, "bad-tags", "the tags behind a name are not a JSON object");
    }
    as_json_free(&json);
    return status;
}

assay_status as_xp_named(as_xp_file *file, as_owner owner, assay_id *id) {
    size_t size;
    const char *name = as_json_text(&file->json, &size);
    if (!name) return as_xp_no_memory(file);
    if (memchr(name, '\0', size)) AS_TRY(as_xp_nul(file, owner == AS_OWNER_METRIC ? "a metric" : "a call path"));
    const char *tags = memmem(name, size, AS_XP_TAGS_IN_NAME, strlen(AS_XP_TAGS_IN_NAME));
    size_t name_size = tags ? (size_t)(tags - name) : size;
    *id = owner == AS_OWNER_METRIC ? as_experiment_metric(file->experiment, name, name_size)
                                   : as_experiment_callpath(file->experiment, name, name_size);
    if (*id == ASSAY_NONE) return as_xp_no_memory(file);
    return tags ? keep_tags(file, tags + 1, size - name_size - 1, owner, *id) : ASSAY_OK;
}
