/* The tables of a profile: everything but its samples, which need all of them. */
#include "formats/pprof/pprof.h"

enum { PROGRESS_BYTES = 1 << 18 };

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static as_place place_of(const as_pprof_tables *t, const as_protobuf *field) {
    return as_place_offset(t->reader->input->path, (size_t)((const char *)field->data - t->data) + field->offset);
}

assay_status as_pprof_broken(const as_pprof_tables *tables, const as_protobuf *field, const char *rule,
                             const char *message) {
    return as_broken(tables->reader, place_of(tables, field), rule, "%s", message);
}

/* At the end of a message: whether it ended as it should. */
static assay_status check_end(const as_pprof_tables *t, const as_protobuf *m) {
    return m->error ? as_pprof_broken(t, m, "protobuf", m->error) : ASSAY_OK;
}

/* ---- strings ----------------------------------------------------------------------------------------------------- */

assay_status as_pprof_text(const as_pprof_tables *tables, const as_protobuf *field, as_str *out) {
    *out = AS_NO_STR;
    if (field->number >= tables->strings.count && field->number)
        return as_pprof_broken(tables, field, "string-index", "names a string that is not in the table");
    const as_text_span *span = field->number ? &AS_AT(as_text_span, &tables->strings, field->number) : NULL;
    if (!span || !span->size) return ASSAY_OK;
    *out = as_ds_intern(tables->reader->dataset, span->text, span->size);
    return *out == AS_NO_STR ? as_reader_memory(tables->reader) : ASSAY_OK;
}

/* Which type the fields of Profile are of: messages and strings are bytes. Later ones are not known. */
static bool is_of_type(const as_protobuf *p) {
    bool is_bytes = p->field <= AS_PPROF_STRING || p->field == AS_PPROF_PERIOD_TYPE;
    bool can_be_packed = p->field == AS_PPROF_COMMENT;
    if (p->field >= AS_PPROF_FIELDS) return true;
    if (can_be_packed && p->type == AS_PROTOBUF_BYTES) return true;
    return p->type == (is_bytes ? AS_PROTOBUF_BYTES : AS_PROTOBUF_NUMBER);
}

/* Strings can be anywhere: they are needed before all else. */
static assay_status find_strings(as_pprof_tables *t) {
    as_protobuf p = as_protobuf_of(t->data, t->size);
    while (as_protobuf_next(&p)) {
        if (!is_of_type(&p)) {
            AS_TRY(as_pprof_broken(t, &p, "field-type", "a field of the profile has a type it cannot have"));
            continue;
        }
        t->n_samples += p.field == AS_PPROF_SAMPLE;
        if (p.field != AS_PPROF_STRING) continue;
        as_text_span span = {p.bytes, p.length};
        if (!as_vec_append(&t->strings, &span, 1)) return as_reader_memory(t->reader);
    }
    AS_TRY(check_end(t, &p));
    if (t->strings.count && AS_AT(as_text_span, &t->strings, 0).size)
        as_warn(t->reader, as_place_file(t->reader->input->path), "first-string",
                "the first string is not empty, as it should be; where it is named nothing is meant");
    return ASSAY_OK;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static bool is_number(const as_protobuf *p) { return p->type == AS_PROTOBUF_NUMBER; }

static assay_status read_type(as_pprof_tables *t, as_protobuf m, as_pprof_type *out) {
    *out = (as_pprof_type){AS_NO_STR, AS_NO_STR};
    while (as_protobuf_next(&m)) {
        if (!is_number(&m)) continue;
        if (m.field == AS_PPROF_TYPE_TYPE) AS_TRY(as_pprof_text(t, &m, &out->type));
        if (m.field == AS_PPROF_TYPE_UNIT) AS_TRY(as_pprof_text(t, &m, &out->unit));
    }
    return check_end(t, &m);
}

/* Gives an id its index; the first of two with the same id stays. */
static assay_status know_id(as_pprof_tables *t, as_map *map, const as_protobuf *p, uint64_t id, size_t index) {
    if (!id) return as_pprof_broken(t, p, "id", "has no id, or 0 as its id");
    if (as_map_get(map, id) != AS_MAP_NONE) return as_pprof_broken(t, p, "id", "has the id of another one");
    return index < AS_MAP_NONE && as_map_put(map, id, (uint32_t)index) ? ASSAY_OK : as_reader_memory(t->reader);
}

static assay_status read_mapping(as_pprof_tables *t, const as_protobuf *p) {
    as_protobuf m = as_protobuf_message_of(p);
    as_pprof_mapping new = {.file = AS_NO_STR, .build_id = AS_NO_STR};
    while (as_protobuf_next(&m)) {
        if (!is_number(&m)) continue;
        switch (m.field) {
        case AS_PPROF_MAPPING_ID: new.id = m.number; break;
        case AS_PPROF_MAPPING_START: new.start = m.number; break;
        case AS_PPROF_MAPPING_LIMIT: new.limit = m.number; break;
        case AS_PPROF_MAPPING_OFFSET: new.offset = m.number; break;
        case AS_PPROF_MAPPING_FILE: AS_TRY(as_pprof_text(t, &m, &new.file)); break;
        case AS_PPROF_MAPPING_BUILD: AS_TRY(as_pprof_text(t, &m, &new.build_id)); break;
        case AS_PPROF_MAPPING_HAS_FUNCTIONS:
        case AS_PPROF_MAPPING_HAS_FILES:
        case AS_PPROF_MAPPING_HAS_LINES:
        case AS_PPROF_MAPPING_HAS_INLINED:
            if (m.number) new.symbols |= 1u << (m.field - AS_PPROF_MAPPING_HAS_FUNCTIONS);
            break;
        default: break;
        }
    }
    AS_TRY(check_end(t, &m));
    AS_TRY(know_id(t, &t->mapping_of, p, new.id, t->mappings.count));
    return as_vec_append(&t->mappings, &new, 1) ? ASSAY_OK : as_reader_memory(t->reader);
}

static assay_status read_function(as_pprof_tables *t, const as_protobuf *p) {
    as_protobuf m = as_protobuf_message_of(p);
    as_pprof_function new = {AS_NO_STR, AS_NO_STR, AS_NO_STR, 0};
    uint64_t id = 0;
    while (as_protobuf_next(&m)) {
        if (!is_number(&m)) continue;
        switch (m.field) {
        case AS_PPROF_FUNCTION_ID: id = m.number; break;
        case AS_PPROF_FUNCTION_NAME: AS_TRY(as_pprof_text(t, &m, &new.name)); break;
        case AS_PPROF_FUNCTION_SYSTEM_NAME: AS_TRY(as_pprof_text(t, &m, &new.system_name)); break;
        case AS_PPROF_FUNCTION_FILE: AS_TRY(as_pprof_text(t, &m, &new.file)); break;
        case AS_PPROF_FUNCTION_LINE: new.start_line = (int64_t)m.number; break;
        default: break;
        }
    }
    AS_TRY(check_end(t, &m));
    AS_TRY(know_id(t, &t->function_of, p, id, t->functions.count));
    return as_vec_append(&t->functions, &new, 1) ? ASSAY_OK : as_reader_memory(t->reader);
}

/* Functions are all known. */
static assay_status read_line(as_pprof_tables *t, const as_protobuf *p) {
    as_protobuf m = as_protobuf_message_of(p);
    as_pprof_line new = {.function = UINT32_MAX, .region = ASSAY_NONE};
    while (as_protobuf_next(&m)) {
        if (!is_number(&m)) continue;
        if (m.field == AS_PPROF_LINE_LINE) new.line = (int64_t)m.number;
        if (m.field != AS_PPROF_LINE_FUNCTION || !m.number) continue;
        new.function = as_map_get(&t->function_of, m.number);
        if (new.function == AS_MAP_NONE)
            AS_TRY(as_pprof_broken(t, &m, "function-id", "a line is in a function that is not there"));
    }
    AS_TRY(check_end(t, &m));
    return as_vec_append(&t->lines, &new, 1) ? ASSAY_OK : as_reader_memory(t->reader);
}

static assay_status read_location(as_pprof_tables *t, const as_protobuf *p) {
    as_protobuf m = as_protobuf_message_of(p);
    as_pprof_location new = {.mapping = UINT32_MAX, .first_line = t->lines.count};
    uint64_t id = 0;
    while (as_protobuf_next(&m)) {
        if (m.field == AS_PPROF_LOCATION_LINE && m.type == AS_PROTOBUF_BYTES) AS_TRY(read_line(t, &m));
        if (!is_number(&m)) continue;
        if (m.field == AS_PPROF_LOCATION_ID) id = m.number;
        if (m.field == AS_PPROF_LOCATION_ADDRESS) new.address = m.number;
        if (m.field != AS_PPROF_LOCATION_MAPPING || !m.number) continue;
        new.mapping = as_map_get(&t->mapping_of, m.number);
        if (new.mapping == AS_MAP_NONE)
            AS_TRY(as_pprof_broken(t, &m, "mapping-id", "a location is in a mapping that is not there"));
    }
    AS_TRY(check_end(t, &m));
    new.n_lines = t->lines.count - new.first_line;
    AS_TRY(know_id(t, &t->location_of, p, id, t->locations.count));
    return as_vec_append(&t->locations, &new, 1) ? ASSAY_OK : as_reader_memory(t->reader);
}

static assay_status read_comments(as_pprof_tables *t, as_protobuf *p) {
    size_t at = 0;
    uint64_t number;
    while (as_protobuf_each(p, &at, &number)) {
        as_protobuf one = *p;
        as_str text;
        one.number = number;
        AS_TRY(as_pprof_text(t, &one, &text));
        if (text != AS_NO_STR && !as_vec_append(&t->comments, &text, 1)) return as_reader_memory(t->reader);
    }
    return check_end(t, p);
}

/* What is neither a table nor a sample. */
static assay_status read_rest(as_pprof_tables *t, as_protobuf *p) {
    switch (p->field) {
    case AS_PPROF_SAMPLE_TYPE: {
        as_pprof_type type;
        AS_TRY(read_type(t, as_protobuf_message_of(p), &type));
        return as_vec_append(&t->types, &type, 1) ? ASSAY_OK : as_reader_memory(t->reader);
    }
    case AS_PPROF_PERIOD_TYPE: return read_type(t, as_protobuf_message_of(p), &t->period_type);
    case AS_PPROF_DROP_FRAMES: return as_pprof_text(t, p, &t->drop_frames);
    case AS_PPROF_KEEP_FRAMES: return as_pprof_text(t, p, &t->keep_frames);
    case AS_PPROF_TIME: t->time = (int64_t)p->number; break;
    case AS_PPROF_DURATION: t->duration = (int64_t)p->number; break;
    case AS_PPROF_PERIOD: t->period = (int64_t)p->number; break;
    case AS_PPROF_COMMENT: return read_comments(t, p);
    case AS_PPROF_DEFAULT_TYPE: return as_pprof_text(t, p, &t->default_type);
    case AS_PPROF_DOC_URL: return as_pprof_text(t, p, &t->doc_url);
    default: break;
    }
    return ASSAY_OK;
}

/* Locations need mappings and functions, which may stand behind them. */
static assay_status read_pass(as_pprof_tables *t, bool is_for_locations) {
    as_protobuf p = as_protobuf_of(t->data, t->size);
    size_t told = 0;
    while (as_protobuf_next(&p)) {
        if (!is_of_type(&p)) continue; /* which was said before */
        bool is_location = p.field == AS_PPROF_LOCATION;
        if (is_location != is_for_locations) continue;
        if (is_location)
            AS_TRY(read_location(t, &p));
        else if (p.field == AS_PPROF_MAPPING)
            AS_TRY(read_mapping(t, &p));
        else if (p.field == AS_PPROF_FUNCTION)
            AS_TRY(read_function(t, &p));
        else
            AS_TRY(read_rest(t, &p));
        if (p.at - told < PROGRESS_BYTES) continue;
        told = p.at;
        AS_TRY(as_reader_progress(t->reader, 0));
    }
    return ASSAY_OK;
}

assay_status as_pprof_read_tables(as_reader *reader, const char *data, size_t size, as_pprof_tables *out) {
    as_budget *budget = &reader->dataset->budget;
    *out = (as_pprof_tables){.reader = reader,
                             .data = data,
                             .size = size,
                             .drop_frames = AS_NO_STR,
                             .keep_frames = AS_NO_STR,
                             .default_type = AS_NO_STR,
                             .doc_url = AS_NO_STR,
                             .period_type = {AS_NO_STR, AS_NO_STR}};
    as_vec_init(&out->strings, sizeof(as_text_span), budget);
    as_vec_init(&out->types, sizeof(as_pprof_type), budget);
    as_vec_init(&out->mappings, sizeof(as_pprof_mapping), budget);
    as_vec_init(&out->functions, sizeof(as_pprof_function), budget);
    as_vec_init(&out->locations, sizeof(as_pprof_location), budget);
    as_vec_init(&out->lines, sizeof(as_pprof_line), budget);
    as_vec_init(&out->comments, sizeof(as_str), budget);
    as_map_init(&out->mapping_of, budget);
    as_map_init(&out->function_of, budget);
    as_map_init(&out->location_of, budget);
    AS_TRY(find_strings(out));
    AS_TRY(read_pass(out, false));
    return read_pass(out, true);
}

void as_pprof_tables_free(as_pprof_tables *tables) {
    as_vec_free(&tables->strings);
    as_vec_free(&tables->types);
    as_vec_free(&tables->mappings);
    as_vec_free(&tables->functions);
    as_vec_free(&tables->locations);
    as_vec_free(&tables->lines);
    as_vec_free(&tables->comments);
    as_map_free(&tables->mapping_of);
    as_map_free(&tables->function_of);
    as_map_free(&tables->location_of);
}
