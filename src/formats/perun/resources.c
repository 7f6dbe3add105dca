/* Resources one by one, as snapshots, global and plain lists have them. */
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
    as_own_type types[AS_PERUN_DYNAMIC];
    as_own_value values[AS_PERUN_DYNAMIC];
} own_cells;

static bool add_member(as_perun_reading *reading, as_raw_json key, as_raw_json value) {
    as_vec *members = &reading->members;
    return (!members->count || as_vec_text(members, ",")) && as_vec_append(members, key.text, key.size) &&
           as_vec_text(members, ":") && as_vec_append(members, value.text, value.size);
}

/* The current token is a key. */
static assay_status read_member(as_perun_reading *reading, as_json *json, own_cells *own) {
    as_raw_json key = {json->token, json->token_size}, value;
    int dynamic = find_dynamic(json);
    own->has_uid |= as_json_is(json, "uid");
    if (as_json_next(json) == AS_JSON_ERROR) return as_json_fail(json, reading->reader->error);
    if (dynamic >= 0 && own->has & 1u << dynamic) as_perun_odd(reading, AS_PERUN_DUPLICATE, key.text);
    bool is_own = dynamic >= 0 && as_json_is_scalar(json->type);
    if (dynamic == AS_PERUN_AMOUNT && json->type != AS_JSON_NUMBER && json->type != AS_JSON_NULL)
        as_perun_odd(reading, AS_PERUN_AMOUNT_TYPE, json->token);
    if (is_own) {
        own->has |= 1u << dynamic;
        return as_perun_own(reading, json, &own->types[dynamic], &own->values[dynamic])
                   ? ASSAY_OK
                   : as_reader_memory(reading->reader);
    }
    if (dynamic >= 0) own->has &= ~(1u << dynamic);
    if (!as_perun_skip(reading, json, &value, NULL)) return as_json_fail(json, reading->reader->error);
    return add_member(reading, key, value) ? ASSAY_OK : as_reader_memory(reading->reader);
}

static bool add_row(as_perun_reading *reading, uint32_t frame, const own_cells *own) {
    as_records *records = reading->perun->records;
    size_t row = as_records_rows(records);
    uint32_t kind = as_perun_find_kind(reading, frame, reading->members.data, reading->members.count, own->begin);
    if (kind == UINT32_MAX || !as_records_add_rows(records, reading->run, kind, 1)) return false;
    for (int i = 0; i < AS_PERUN_DYNAMIC; i++) {
        if (!(own->has & 1u << i)) continue;
        if (reading->dynamic[i] == UINT32_MAX)
            reading->dynamic[i] = as_perun_column(reading, as_perun_dynamic_keys[i], strlen(as_perun_dynamic_keys[i]));
        if (!as_perun_set(reading, row, reading->dynamic[i], own->types[i], own->values[i])) return false;
    }
    return true;
}

static assay_status read_resource(as_perun_reading *reading, as_json *json, uint32_t frame) {
    own_cells own = {.begin = json->token};
    as_raw_json raw;
    if (json->type != AS_JSON_OBJECT) {
        AS_TRY(AS_PERUN_BROKEN(reading, json->token, "wrong-type", "a resource must be an object"));
        return as_perun_skip(reading, json, &raw, NULL) ? ASSAY_OK : as_json_fail(json, reading->reader->error);
    }
    reading->members.count = 0;
    while (as_json_next(json) == AS_JSON_KEY) AS_TRY(read_member(reading, json, &own));
    if (json->type == AS_JSON_ERROR) return as_json_fail(json, reading->reader->error);
    if (!own.has_uid) as_perun_odd(reading, AS_PERUN_NO_UID, own.begin);
    return add_row(reading, frame, &own) ? ASSAY_OK : as_reader_memory(reading->reader);
}

assay_status as_perun_read_list(as_perun_reading *reading, as_json *json, uint32_t frame) {
    enum { STEP = 1 << 18 };
    const as_input *input = reading->reader->input;
    const char *next = json->token + STEP;
    bool is_input = reading->text >= input->data && reading->text <= input->data + input->size;
    while (as_json_next(json) != AS_JSON_ARRAY_END) {
        if (json->type == AS_JSON_ERROR) return as_json_fail(json, reading->reader->error);
        AS_TRY(read_resource(reading, json, frame));
        if (!is_input || json->at < next) continue;
        AS_TRY(as_reader_progress(reading->reader, (size_t)(json->at - input->data)));
        next = json->at + STEP;
    }
    return ASSAY_OK;
}
