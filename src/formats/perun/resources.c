/* Resources one by one, as snapshots, global and plain lists have them. */
#include "formats/perun/patterns.h"
#include "formats/perun/read.h"

/* The number of the dynamic key that the current token is, or -1. */
static int find_dynamic(as_json *json) {
    size_t size;
    const char *key = as_json_text(json, &size);
    for (int i = 0; i < AS_PERUN_DYNAMIC && key; i++) {
        if (strlen(as_perun_dynamic_keys[i]) == size && memcmp(key, as_perun_dynamic_keys[i], size) == 0) return i;
    }
    return -1;
}

/* One resource while it is read. */
typedef struct own_cells {
    const char *begin;
    unsigned has; /* a bit for each dynamic key that has a value of its own */
    bool has_uid;
    bool is_plain; /* its own cells are numbers, each there once, and no other number is odd */
    as_pattern_number numbers[AS_PATTERN_NUMBERS];
    size_t n_numbers;
    as_own_type types[AS_PERUN_DYNAMIC];
    as_own_value values[AS_PERUN_DYNAMIC];
} own_cells;

static bool add_member(as_perun_reading *reading, as_raw_json key, as_raw_json value) {
    as_vec *members = &reading->members;
    return (!members->count || as_vec_text(members, ",")) && as_vec_append(members, key.text, key.size) &&
           as_vec_text(members, ":") && as_vec_append(members, value.text, value.size);
}

static uint64_t count_odd_numbers(const as_perun_reading *reading) {
    return reading->notes[AS_PERUN_RANGE].count + reading->notes[AS_PERUN_NAN].count;
}

/* The current token is a key. */
static assay_status read_member(as_perun_reading *reading, as_json *json, own_cells *own) {
    as_raw_json key = {json->token, json->token_size}, value;
    int dynamic = find_dynamic(json);
    bool is_uid = as_json_is(json, "uid");
    if (as_json_next(json) == AS_JSON_ERROR) return as_json_fail(json, reading->reader->error);
    if (is_uid) own->has_uid = json->type != AS_JSON_NULL;
    if (dynamic >= 0 && own->has & 1u << dynamic) as_perun_odd(reading, AS_PERUN_DUPLICATE, key.text);
    bool is_own = dynamic >= 0 && as_json_is_scalar(json->type);
    if (dynamic == AS_PERUN_AMOUNT && json->type != AS_JSON_NUMBER && json->type != AS_JSON_NULL)
        as_perun_odd(reading, AS_PERUN_AMOUNT_TYPE, json->token);
    if (dynamic >= 0 && (json->type != AS_JSON_NUMBER || own->has & 1u << dynamic)) own->is_plain = false;
    if (is_own) {
        if (own->is_plain)
            own->numbers[own->n_numbers++] = (as_pattern_number){json->token, json->token + json->token_size, dynamic};
        own->has |= 1u << dynamic;
        return as_perun_own(reading, json, &own->types[dynamic], &own->values[dynamic])
                   ? ASSAY_OK
                   : as_reader_memory(reading->reader);
    }
    if (dynamic >= 0) own->has &= ~(1u << dynamic);
    uint64_t n_odd = count_odd_numbers(reading);
    if (!as_perun_skip(reading, json, &value, NULL)) return as_json_fail(json, reading->reader->error);
    if (count_odd_numbers(reading) != n_odd) own->is_plain = false; /* each of its like is to be counted */
    return add_member(reading, key, value) ? ASSAY_OK : as_reader_memory(reading->reader);
}

static uint32_t dynamic_column(as_perun_reading *reading, int key) {
    const char *name = as_perun_dynamic_keys[key];
    if (reading->dynamic[key] == UINT32_MAX) reading->dynamic[key] = as_perun_column(reading, name, strlen(name));
    return reading->dynamic[key];
}

static bool add_row(as_perun_reading *reading, uint32_t kind, const own_cells *own) {
    as_records *records = reading->perun->records;
    size_t row = as_records_rows(records);
    if (kind == UINT32_MAX || !as_records_add_rows(records, reading->run, kind, 1)) return false;
    for (int i = 0; i < AS_PERUN_DYNAMIC; i++) {
        if (own->has & 1u << i &&
            !as_perun_set(reading, row, dynamic_column(reading, i), own->types[i], own->values[i]))
            return false;
    }
    return true;
}

static assay_status read_resource(as_perun_reading *reading, as_json *json, uint32_t frame) {
    own_cells own = {.begin = json->token, .is_plain = true};
    if (json->type != AS_JSON_OBJECT) return as_perun_skip_broken(reading, json, "a resource must be an object");
    reading->members.count = 0;
    while (as_json_next(json) == AS_JSON_KEY) AS_TRY(read_member(reading, json, &own));
    if (json->type == AS_JSON_ERROR) return as_json_fail(json, reading->reader->error);
    if (!own.has_uid) as_perun_odd(reading, AS_PERUN_NO_UID, own.begin);
    const as_vec *members = &reading->members;
    uint32_t kind = as_perun_find_kind(reading, frame, members->data, members->count, own.begin);
    if (!add_row(reading, kind, &own)) return as_reader_memory(reading->reader);
    as_pattern_leaf leaf = {
        .members = members->data, .size = members->count, .has_uid = own.has_uid, .frame = frame, .kind = kind};
    if (own.is_plain)
        as_patterns_learn(reading->patterns, own.begin, json->token + json->token_size, own.numbers, own.n_numbers,
                          &leaf);
    return ASSAY_OK;
}

/* The resource at the current token, if it is like one that was read before; else *is_known is false and nothing is
 * done. */
static assay_status repeat_resource(as_perun_reading *reading, as_json *json, uint32_t frame, bool *is_known) {
    as_number numbers[AS_PATTERN_NUMBERS];
    unsigned has;
    size_t size, row = as_records_rows(reading->perun->records);
    as_pattern_leaf *leaf = json->type == AS_JSON_OBJECT
                                ? as_patterns_match(reading->patterns, json->token, json->end, &size, numbers, &has)
                                : NULL;
    *is_known = leaf != NULL;
    if (!leaf) return ASSAY_OK;
    if (leaf->frame != frame) {
        uint32_t kind = as_perun_find_kind(reading, frame, leaf->members, leaf->size, json->token);
        leaf->frame = frame;
        leaf->kind = kind;
    }
    if (!leaf->has_uid) as_perun_odd(reading, AS_PERUN_NO_UID, json->token);
    bool fine = leaf->kind != UINT32_MAX && as_records_add_rows(reading->perun->records, reading->run, leaf->kind, 1);
    for (int i = 0; fine && has; i++, has >>= 1) {
        if (has & 1)
            fine = as_records_set_numbers(reading->perun->records, row, dynamic_column(reading, i), &numbers[i], 1);
    }
    as_json_pass(json, size);
    return fine ? ASSAY_OK : as_reader_memory(reading->reader);
}

assay_status as_perun_read_list(as_perun_reading *reading, as_json *json, uint32_t frame) {
    while (as_json_next(json) != AS_JSON_ARRAY_END) {
        bool is_known;
        if (json->type == AS_JSON_ERROR) return as_json_fail(json, reading->reader->error);
        AS_TRY(repeat_resource(reading, json, frame, &is_known));
        if (!is_known) AS_TRY(read_resource(reading, json, frame));
        AS_TRY(as_perun_progress(reading, json));
    }
    return ASSAY_OK;
}
