/* What a profile says beside its resources: attributes of the run. */
#include "formats/perun/read.h"

/* An open object or list on the way to a leaf. */
typedef struct level {
    size_t key_size; /* up to here it is the container's own key */
    size_t index;    /* of the next element of a list */
    bool is_list;
} level;

static as_cell leaf_cell(as_json *json, as_json_type type, bool *fine) {
    size_t size;
    const char *text;
    switch (type) {
    case AS_JSON_NULL: return as_cell_null();
    case AS_JSON_FALSE:
    case AS_JSON_TRUE: return as_cell_json_n(json->token, json->token_size);
    case AS_JSON_NUMBER: return as_cell_number(as_json_number(json));
    case AS_JSON_OBJECT_END: return as_cell_json_n("{}", 2);
    case AS_JSON_ARRAY_END: return as_cell_json_n("[]", 2);
    default:
        text = as_json_text(json, &size);
        *fine = text != NULL;
        return as_cell_text_n(text, size);
    }
}

static bool add_leaf(as_perun_reading *reading, as_vec *key, as_cell cell) {
    size_t size = key->count;
    bool fine = as_vec_append(key, "", 1) && as_add_attribute(reading->ds, AS_OWNER_RUN, reading->run, key->data, cell);
    key->count = size;
    return fine;
}

/* Goes to the next member or element of the innermost container: its key stands behind that of the container. */
static bool name_next(as_json *json, as_vec *levels, as_vec *key) {
    level *top = &AS_AT(level, levels, levels->count - 1);
    char digits[AS_NUMBER_SIZE];
    size_t size;
    key->count = top->key_size;
    const char *text = digits;
    if (top->is_list)
        size = as_uint_format(top->index++, digits);
    else
        text = as_json_text(json, &size);
    return text && as_vec_text(key, ":") && as_vec_append(key, text, size);
}

/* Both values of a key that is there twice are attributes; that it is so is odd. */
static bool note_key(as_perun_reading *reading, const as_json *json, const as_vec *levels, const as_vec *key,
                     as_map *known) {
    uint64_t hash = as_hash(key->data, key->count) ^ levels->count * 0x9e3779b97f4a7c15u;
    if (as_map_get(known, hash) == AS_MAP_NONE) return as_map_put(known, hash, 0);
    as_perun_odd(reading, AS_PERUN_DUPLICATE, json->token);
    return true;
}

static bool walk(as_perun_reading *reading, as_json *json, as_vec *levels, as_vec *key, as_map *known) {
    as_json_type before = AS_JSON_NULL;
    for (as_json_type type; (type = as_json_next(json)) != AS_JSON_END; before = type) {
        bool begins = type == AS_JSON_OBJECT || type == AS_JSON_ARRAY;
        bool ends = type == AS_JSON_OBJECT_END || type == AS_JSON_ARRAY_END;
        bool fine = type != AS_JSON_ERROR;
        if (ends) {
            key->count = AS_AT(level, levels, levels->count - 1).key_size;
            levels->count--;
            if (before != AS_JSON_OBJECT && before != AS_JSON_ARRAY) continue;
        } else if (type == AS_JSON_KEY || (levels->count && AS_AT(level, levels, levels->count - 1).is_list)) {
            fine = fine && name_next(json, levels, key) &&
                   (type != AS_JSON_KEY || note_key(reading, json, levels, key, known));
        }
        if (begins) {
            level opened = {.key_size = key->count, .is_list = type == AS_JSON_ARRAY};
            fine = fine && as_vec_append(levels, &opened, 1);
        } else if (fine && type != AS_JSON_KEY) {
            as_cell cell = leaf_cell(json, type, &fine);
            fine = fine && add_leaf(reading, key, cell);
        }
        if (!fine) return false;
    }
    return true;
}

bool as_perun_add_attributes(as_perun_reading *reading, const char *key, size_t key_size, as_raw_json raw,
                             size_t leaves) {
    as_vec name, levels;
    as_vec_init(&name, 1, &reading->ds->budget);
    as_vec_init(&levels, sizeof(level), &reading->ds->budget);
    bool fine = as_vec_append(&name, key, key_size);
    if (leaves > reading->attributes_left) {
        if (reading->attributes_left) fine = fine && add_leaf(reading, &name, as_cell_json_n(raw.text, raw.size));
        reading->attributes_left -= reading->attributes_left != 0;
    } else if (fine) {
        as_json_restart(&reading->inner, raw.text, raw.size, 2);
        as_map known;
        as_map_init(&known, &reading->ds->budget);
        fine = walk(reading, &reading->inner, &levels, &name, &known);
        as_map_free(&known);
        reading->attributes_left -= leaves;
    }
    as_vec_free(&name);
    as_vec_free(&levels);
    return fine;
}
