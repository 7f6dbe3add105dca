/* Perun profiles: the regions of the text, in one pass. */
#include "formats/perun/read.h"
#include "formats/perun/patterns.h"

#include <stdlib.h>

const char *const as_perun_dynamic_keys[] = {"amount",  "structure-unit-size", "call-order", "order",
                                             "address", "timestamp",           "exclusive",  NULL};

const as_perun *as_perun_of(const as_dataset *ds) {
    bool is_perun = ds->format && (strcmp(ds->format, as_format_perun.name) == 0 ||
                                   strncmp(ds->format, "perun-", strlen("perun-")) == 0);
    return is_perun ? ds->of_format : NULL;
}

/* ---- what is odd ------------------------------------------------------------------------------------------------- */

void as_perun_odd(as_perun_reading *reading, as_perun_oddity oddity, const char *at) {
    as_perun_note *note = &reading->notes[oddity];
    if (!note->count++) note->first = at;
}

static void report_oddities(as_perun_reading *reading) {
    static const struct {
        const char *rule, *one, *many;
    } words[AS_PERUN_ODDITIES] = {
        [AS_PERUN_NO_UID] = {"missing-uid", "a resource has no uid", "resources have no uid"},
        [AS_PERUN_NO_RESOURCES] = {"missing-resources", "there are no resources in it",
                                   "snapshots or globals without resources"},
        [AS_PERUN_UNEVEN] = {"uneven-columns",
                             "the columns of this type have different lengths; what is missing is NULL",
                             "types have columns of different lengths; what is missing is NULL"},
        [AS_PERUN_DUPLICATE] = {"duplicate-key", "this key is there before; its last value counts",
                                "keys are there more than once; their last values count"},
        [AS_PERUN_AMOUNT_TYPE] = {"amount-type", "this amount is no number, and counts nowhere",
                                  "amounts are no numbers, and count nowhere"},
        [AS_PERUN_TRACE_TYPE] = {"trace-type", "the trace of this resource is no list of objects, and no call path",
                                 "traces are no lists of objects, and no call paths"},
        [AS_PERUN_REGION_TYPE] = {"region-type", "this is no object, and only attributes",
                                  "of header, its units and collector_info are no objects, and only attributes"},
        [AS_PERUN_RANGE] = {"number-range", "this number is too large, and counts as infinity",
                            "numbers are too large, and count as infinity"},
        [AS_PERUN_NAN] = {"nan", "NaN and Infinity are no JSON, but read as numbers",
                          "numbers are NaN or Infinity, which is no JSON"}};
    for (int i = 0; i < AS_PERUN_ODDITIES; i++) {
        const as_perun_note *note = &reading->notes[i];
        if (!note->count) continue;
        as_place place = as_perun_locate(&reading->places, note->first);
        if (note->count == 1)
            as_warn(reading->reader, place, words[i].rule, "%s", words[i].one);
        else
            as_warn(reading->reader, place, words[i].rule, "%llu %s; this is the first",
                    (unsigned long long)note->count, words[i].many);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The current token is a number that is not finite. */
static void note_infinite(as_perun_reading *reading, const as_json *json) {
    const char *digits = json->token + (*json->token == '-');
    bool is_literal = *digits == 'N' || *digits == 'I';
    as_perun_odd(reading, is_literal ? AS_PERUN_NAN : AS_PERUN_RANGE, json->token);
}

static bool is_written_whole(const as_json *json) {
    for (size_t i = 0; i < json->token_size; i++) {
        if (json->token[i] != '-' && (json->token[i] < '0' || json->token[i] > '9')) return false;
    }
    return true;
}

bool as_perun_skip(as_perun_reading *reading, as_json *json, as_raw_json *raw, size_t *leaves) {
    const char *begin = json->token;
    uint32_t depth = json->depth - (json->type == AS_JSON_OBJECT || json->type == AS_JSON_ARRAY);
    size_t n = 0;
    for (as_json_type before = AS_JSON_NULL;; before = json->type, as_json_next(json)) {
        if (json->type == AS_JSON_ERROR) return false;
        bool ends = json->type == AS_JSON_OBJECT_END || json->type == AS_JSON_ARRAY_END;
        bool is_empty = ends && (before == AS_JSON_OBJECT || before == AS_JSON_ARRAY);
        n += is_empty || as_json_is_scalar(json->type);
        if (json->type == AS_JSON_NUMBER && (json->token_size > 2 && !is_written_whole(json))) {
            double value = as_number_real(as_json_number(json));
            if (!isfinite(value)) note_infinite(reading, json);
        }
        if (json->depth == depth && (ends || as_json_is_scalar(json->type))) break;
    }
    *raw = (as_raw_json){begin, (size_t)(json->token + json->token_size - begin)};
    if (leaves) *leaves = n;
    return true;
}

bool as_perun_own(as_perun_reading *reading, as_json *json, as_own_type *type, as_own_value *value) {
    size_t size;
    const char *text;
    as_number number;
    value->i = 0;
    switch (json->type) {
    case AS_JSON_NULL: *type = AS_OWN_NULL; return true;
    case AS_JSON_FALSE: *type = AS_OWN_FALSE; return true;
    case AS_JSON_TRUE: *type = AS_OWN_TRUE; return true;
    case AS_JSON_NUMBER: break;
    default:
        text = as_json_text(json, &size);
        value->text = text ? as_ds_intern(reading->ds, text, size) : AS_NO_STR;
        *type = AS_OWN_TEXT;
        return value->text != AS_NO_STR;
    }
    number = as_json_number(json);
    if (number.kind == AS_INT) {
        *type = AS_OWN_INT;
        value->i = number.i;
    } else if (number.kind == AS_UINT) {
        *type = AS_OWN_UINT;
        value->u = number.u;
    } else if (fabs(number.r) >= 0x1p63 && is_written_whole(json)) {
        if (!isfinite(number.r)) note_infinite(reading, json);
        *type = AS_OWN_DIGITS;
        value->text = as_ds_intern(reading->ds, json->token, json->token_size);
        return value->text != AS_NO_STR;
    } else {
        if (!isfinite(number.r)) note_infinite(reading, json);
        *type = AS_OWN_REAL;
        value->r = number.r;
    }
    return true;
}

bool as_perun_set(as_perun_reading *reading, size_t row, uint32_t column, as_own_type type, as_own_value value) {
    return column != UINT32_MAX && as_records_set(reading->perun->records, row, column, type, value);
}

as_raw_json as_perun_keep(as_perun_reading *reading, as_raw_json raw) {
    if (reading->keeps_text) return raw;
    return (as_raw_json){as_arena_copy(&reading->ds->arena, raw.text, raw.size), raw.size};
}

assay_status as_perun_progress(as_perun_reading *reading, const as_json *json) {
    enum { STEP = 1 << 18 };
    const as_input *input = reading->reader->input;
    if (json->at < reading->next_progress) return ASSAY_OK;
    reading->next_progress = json->end - json->at > STEP ? json->at + STEP : json->end;
    bool is_input = input->data && reading->text >= input->data && reading->text <= input->data + input->size;
    return is_input ? as_reader_progress(reading->reader, (size_t)(json->at - input->data)) : ASSAY_OK;
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

static uint32_t add_frame(as_perun_reading *reading, as_perun_place place, uint32_t snapshot) {
    as_perun_frame frame = {.place = place, .snapshot = snapshot};
    if (place == AS_PERUN_GLOBAL || place == AS_PERUN_SNAPSHOTS) frame.time = (as_raw_json){"\"0.0\"", 5};
    return as_vec_append(&reading->frames, &frame, 1) ? (uint32_t)(reading->frames.count - 1) : UINT32_MAX;
}

assay_status as_perun_skip_broken(as_perun_reading *reading, as_json *json, const char *what) {
    as_raw_json raw;
    if (json->type == AS_JSON_ERROR) return as_json_fail(json, reading->reader->error);
    AS_TRY(AS_PERUN_BROKEN(reading, json->token, "wrong-type", "%s", what));
    return as_perun_skip(reading, json, &raw, NULL) ? ASSAY_OK : as_json_fail(json, reading->reader->error);
}

static assay_status read_list(as_perun_reading *reading, as_json *json, as_perun_place place) {
    uint32_t frame = add_frame(reading, place, UINT32_MAX);
    return frame == UINT32_MAX ? as_reader_memory(reading->reader) : as_perun_read_list(reading, json, frame);
}

static assay_status read_models(as_perun_reading *reading, as_json *json, as_perun_place place, uint32_t snapshot) {
    as_raw_json raw;
    if (!as_perun_skip(reading, json, &raw, NULL)) return as_json_fail(json, reading->reader->error);
    return as_perun_note_models(reading->tables, place, snapshot, raw) ? ASSAY_OK : as_reader_memory(reading->reader);
}

/* A member of a snapshot or of global that is nothing special: attributes whose keys begin with the first `prefix`
 * characters of key. */
static assay_status read_member(as_perun_reading *reading, as_json *json, as_vec *key, size_t prefix,
                                as_raw_json *raw) {
    size_t size, leaves;
    const char *text = as_json_text(json, &size);
    key->count = prefix;
    if (!text || !as_vec_append(key, text, size)) return as_reader_memory(reading->reader);
    as_json_next(json);
    if (!as_perun_skip(reading, json, raw, &leaves)) return as_json_fail(json, reading->reader->error);
    return as_perun_add_attributes(reading, key->data, key->count, *raw, leaves) ? ASSAY_OK
                                                                                 : as_reader_memory(reading->reader);
}

static assay_status read_resources_of(as_perun_reading *reading, as_json *json, uint32_t frame, bool is_second) {
    if (is_second) AS_TRY(AS_PERUN_BROKEN(reading, json->token, "duplicate-key", "there are resources before"));
    if (as_json_next(json) == AS_JSON_ARRAY && !is_second) return as_perun_read_list(reading, json, frame);
    return as_perun_skip_broken(reading, json, "resources of a snapshot or global must be a list");
}

/* A snapshot, or global as an object. key: what its attributes begin with. */
static assay_status read_framed(as_perun_reading *reading, as_json *json, uint32_t frame, as_vec *key) {
    const char *begin = json->token;
    size_t prefix = key->count;
    bool has_resources = false, has_time = false, has_models = false, is_empty = true;
    uint32_t snapshot = AS_AT(as_perun_frame, &reading->frames, frame).snapshot;
    for (; as_json_next(json) == AS_JSON_KEY; is_empty = false) {
        if (as_json_is(json, "resources")) {
            AS_TRY(read_resources_of(reading, json, frame, has_resources));
            has_resources = true;
        } else if (as_json_is(json, "models")) {
            if (has_models) as_perun_odd(reading, AS_PERUN_DUPLICATE, json->token);
            has_models = true;
            as_json_next(json);
            AS_TRY(read_models(reading, json, AS_AT(as_perun_frame, &reading->frames, frame).place, snapshot));
        } else {
            as_raw_json raw;
            bool is_time = as_json_is(json, "time");
            if (is_time && has_time) as_perun_odd(reading, AS_PERUN_DUPLICATE, json->token);
            AS_TRY(read_member(reading, json, key, prefix, &raw));
            if (!is_time) continue;
            has_time = true;
            raw = as_perun_keep(reading, raw);
            if (!raw.text) return as_reader_memory(reading->reader);
            AS_AT(as_perun_frame, &reading->frames, frame).time = raw;
        }
    }
    if (json->type == AS_JSON_ERROR) return as_json_fail(json, reading->reader->error);
    bool is_nothing = is_empty && snapshot == UINT32_MAX; /* an empty global */
    if (!has_resources && !is_nothing) as_perun_odd(reading, AS_PERUN_NO_RESOURCES, begin);
    return ASSAY_OK;
}

static assay_status read_global(as_perun_reading *reading, as_json *json) {
    if (json->type == AS_JSON_ARRAY) return read_list(reading, json, AS_PERUN_GLOBALS);
    if (json->type != AS_JSON_OBJECT) return as_perun_skip_broken(reading, json, "global must be an object or a list");
    uint32_t frame = add_frame(reading, AS_PERUN_GLOBAL, UINT32_MAX);
    as_vec key;
    as_vec_init(&key, 1, &reading->ds->budget);
    assay_status status = frame != UINT32_MAX && as_vec_text(&key, "global:") ? read_framed(reading, json, frame, &key)
                                                                              : as_reader_memory(reading->reader);
    as_vec_free(&key);
    return status;
}

static assay_status read_snapshot(as_perun_reading *reading, as_json *json, uint32_t number, as_vec *key) {
    char digits[AS_NUMBER_SIZE];
    if (json->type != AS_JSON_OBJECT) return as_perun_skip_broken(reading, json, "a snapshot must be an object");
    uint32_t frame = add_frame(reading, AS_PERUN_SNAPSHOTS, number);
    size_t size = as_uint_format(number, digits);
    key->count = 0;
    if (frame == UINT32_MAX || !as_vec_text(key, "snapshots:") || !as_vec_append(key, digits, size) ||
        !as_vec_text(key, ":"))
        return as_reader_memory(reading->reader);
    return read_framed(reading, json, frame, key);
}

static assay_status read_snapshots(as_perun_reading *reading, as_json *json) {
    if (json->type != AS_JSON_ARRAY) return as_perun_skip_broken(reading, json, "snapshots must be a list");
    as_vec key;
    as_vec_init(&key, 1, &reading->ds->budget);
    assay_status status = ASSAY_OK;
    for (uint32_t i = 0; status == ASSAY_OK && as_json_next(json) != AS_JSON_ARRAY_END; i++)
        status = json->type == AS_JSON_ERROR ? as_json_fail(json, reading->reader->error)
                                             : read_snapshot(reading, json, i, &key);
    as_vec_free(&key);
    return status;
}

static assay_status read_resources(as_perun_reading *reading, as_json *json) {
    if (json->type == AS_JSON_ARRAY) return read_list(reading, json, AS_PERUN_LIST);
    if (json->type != AS_JSON_OBJECT)
        return as_perun_skip_broken(reading, json,
                                    "resources must be a list, or an object with the columns of each type");
    AS_AT(as_perun_profile, &reading->perun->profiles, reading->profile).is_new = true;
    return as_perun_read_columns(reading, json);
}

static bool is_known(const char *name) {
    static const char *const known[] = {"header", "collector_info", "collector", "resources", "global", "snapshots"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i]) == 0) return true;
    }
    return false;
}

/* A region that only has attributes. */
static assay_status read_attributes(as_perun_reading *reading, as_json *json, as_str key) {
    as_raw_json raw;
    size_t leaves;
    const char *name = as_ds_text(reading->ds, key);
    if (is_known(name) && json->type != AS_JSON_OBJECT) as_perun_odd(reading, AS_PERUN_REGION_TYPE, json->token);
    if (!as_perun_skip(reading, json, &raw, &leaves)) return as_json_fail(json, reading->reader->error);
    if (strcmp(name, "header") == 0 && raw.text[0] == '{') reading->header = raw;
    return as_perun_add_attributes(reading, name, as_str_size(&reading->ds->strings, key), raw, leaves)
               ? ASSAY_OK
               : as_reader_memory(reading->reader);
}

/* The value of a top-level member; the current token is its first, and in the end its last. */
static assay_status read_region(as_perun_reading *reading, as_json *json, as_str key) {
    const char *name = as_ds_text(reading->ds, key);
    reading->attributes_left = AS_PERUN_MOST_LEAVES;
    if (json->type == AS_JSON_ERROR) return as_json_fail(json, reading->reader->error);
    if (strcmp(name, "resources") == 0) return read_resources(reading, json);
    if (strcmp(name, "resource_type_map") == 0) return as_perun_read_types(reading, json);
    if (strcmp(name, "global") == 0) return read_global(reading, json);
    if (strcmp(name, "snapshots") == 0) return read_snapshots(reading, json);
    if (strcmp(name, "models") == 0) return read_models(reading, json, AS_PERUN_TYPES, UINT32_MAX);
    return read_attributes(reading, json, key);
}

static assay_status read_document(as_perun_reading *reading, as_json *json) {
    bool has_known = false;
    as_vec *regions = &AS_AT(as_perun_profile, &reading->perun->profiles, reading->profile).regions;
    if (as_json_next(json) == AS_JSON_ERROR) return as_json_fail(json, reading->reader->error);
    if (json->type != AS_JSON_OBJECT)
        return AS_PERUN_BROKEN(reading, json->token, "wrong-type", "a profile is a JSON object");
    while (as_json_next(json) == AS_JSON_KEY) {
        size_t size;
        const char *place = json->token, *text = as_json_text(json, &size);
        as_perun_region region = {.key = text ? as_ds_intern(reading->ds, text, size) : AS_NO_STR};
        if (region.key == AS_NO_STR) return as_reader_memory(reading->reader);
        const char *name = as_ds_text(reading->ds, region.key);
        has_known |= is_known(name);
        as_json_next(json);
        region.value.text = json->token;
        if (as_map_get(&reading->seen, region.key) != AS_MAP_NONE) {
            AS_TRY(AS_PERUN_BROKEN(reading, place, "duplicate-key", "the region '%s' is there before", name));
            if (!as_perun_skip(reading, json, &region.value, NULL)) return as_json_fail(json, reading->reader->error);
            continue;
        }
        if (!as_map_put(&reading->seen, region.key, 1)) return as_reader_memory(reading->reader);
        AS_TRY(read_region(reading, json, region.key));
        region.value.size = (size_t)(json->token + json->token_size - region.value.text);
        if (reading->keeps_text && !as_vec_append(regions, &region, 1)) return as_reader_memory(reading->reader);
    }
    if (json->type == AS_JSON_ERROR || as_json_next(json) != AS_JSON_END)
        return as_json_fail(json, reading->reader->error);
    if (has_known) return ASSAY_OK;
    return AS_PERUN_BROKEN(
        reading, json->begin, "missing-region",
        "none of the regions of a profile is here: header, collector_info, resources, global, snapshots");
}

/* ---- from beginning to end --------------------------------------------------------------------------------------- */

static void release(void *object) {
    as_perun *perun = object;
    for (size_t i = 0; i < perun->profiles.count; i++)
        as_vec_free(&AS_AT(as_perun_profile, &perun->profiles, i).regions);
    as_vec_free(&perun->profiles);
    as_vec_free(&perun->kinds);
    free(perun);
}

static as_perun *new_perun(as_dataset *ds) {
    as_perun *perun = calloc(1, sizeof *perun);
    if (!perun) return NULL;
    as_vec_init(&perun->kinds, sizeof(as_perun_kind), &ds->budget);
    as_vec_init(&perun->profiles, sizeof(as_perun_profile), &ds->budget);
    if (!as_ds_hold(ds, perun, release)) return NULL; /* which released it */
    perun->records = as_records_new(ds, "record");
    if (perun->records) ds->of_format = perun;
    return perun->records ? perun : NULL;
}

as_perun_reading *as_perun_begin(as_reader *reader) {
    as_dataset *ds = reader->dataset;
    as_budget *budget = &ds->budget;
    as_perun_reading *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->reader = reader;
    r->ds = ds;
    as_tree_init(&r->tree, ds);
    as_map_init(&r->metrics, budget);
    as_vec_init(&r->sums, sizeof(as_perun_sum), budget);
    as_json_options options = {.nan_literals = true, .max_depth = reader->max_depth + 2};
    as_json_init(&r->inner, reader->input->path, "", 0, options, budget);
    as_map_init(&r->seen, budget);
    as_vec_init(&r->frames, sizeof(as_perun_frame), budget);
    as_vec_init(&r->drafts, sizeof(as_perun_draft), budget);
    as_map_init(&r->spelling_of, budget);
    as_vec_init(&r->spellings, sizeof(as_perun_spelling), budget);
    as_map_init(&r->kind_of, budget);
    as_vec_init(&r->canonicals, sizeof(as_perun_spelling), budget);
    as_vec_init(&r->members, 1, budget);
    as_vec_init(&r->canonical, 1, budget);
    as_vec_init(&r->order, sizeof(as_perun_member), budget);
    as_perun_cells_init(&r->cells, budget);
    as_vec_init(&r->key, 1, budget);
    as_vec_init(&r->callpath, sizeof(assay_id), budget);
    as_map_init(&r->unit_of, budget);
    as_map_init(&r->types, budget);
    as_vec_init(&r->type_texts, sizeof(as_raw_json), budget);
    as_vec_init(&r->units, sizeof(as_perun_unit), budget);
    r->flattener = as_flattener_new(budget);
    r->perun = new_perun(ds);
    if (r->flattener && r->perun) r->tables = as_perun_tables_new(reader, r->perun, r->flattener);
    bool fine = r->tables;
    for (int i = 0; i < AS_PERUN_DYNAMIC; i++) r->dynamic[i] = UINT32_MAX;
    if (fine) return r;
    as_perun_end(r);
    return NULL;
}

/* What belongs to one profile only. */
static void forget_profile(as_perun_reading *r) {
    as_budget *budget = &r->ds->budget;
    as_map *maps[] = {&r->seen, &r->spelling_of, &r->kind_of, &r->types, &r->unit_of};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        as_map_free(maps[i]);
        as_map_init(maps[i], budget);
    }
    as_vec *vecs[] = {&r->frames, &r->drafts, &r->spellings, &r->canonicals, &r->type_texts, &r->units};
    for (size_t i = 0; i < sizeof vecs / sizeof *vecs; i++) {
        size_t size = vecs[i]->size;
        as_vec_free(vecs[i]);
        as_vec_init(vecs[i], size, budget);
    }
    as_patterns_free(r->patterns);
    r->patterns = NULL;
    memset(r->notes, 0, sizeof r->notes);
    r->header = (as_raw_json){0};
}

void as_perun_end(as_perun_reading *r) {
    if (!r) return;
    forget_profile(r);
    as_flattener_free(r->flattener);
    as_tree_free(&r->tree);
    as_map_free(&r->metrics);
    as_vec_free(&r->sums);
    as_json_free(&r->inner);
    as_vec_free(&r->members);
    as_vec_free(&r->canonical);
    as_vec_free(&r->order);
    as_perun_cells_free(&r->cells);
    as_vec_free(&r->key);
    as_vec_free(&r->callpath);
    free(r);
}

assay_status as_perun_add_profile(as_perun_reading *reading, assay_id run, const char *path, const char *text,
                                  size_t size, bool keeps_text) {
    as_perun_profile profile = {.run = run, .first_row = as_records_rows(reading->perun->records)};
    as_vec_init(&profile.regions, sizeof(as_perun_region), &reading->ds->budget);
    if (!as_vec_append(&reading->perun->profiles, &profile, 1)) return as_reader_memory(reading->reader);
    reading->profile = reading->perun->profiles.count - 1;
    reading->run = run;
    reading->path = path;
    reading->text = text;
    reading->size = size;
    reading->keeps_text = keeps_text;
    reading->first_kind = reading->perun->kinds.count;
    reading->patterns = as_patterns_new(&reading->ds->budget);
    if (!reading->patterns) return as_reader_memory(reading->reader);
    as_json json;
    as_json_options options = {.nan_literals = true, .max_depth = reading->reader->max_depth};
    as_json_init(&json, path, text, size, options, &reading->ds->budget);
    reading->text = reading->next_progress = json.begin; /* behind a byte order mark */
    reading->places = as_perun_places_of(path, reading->text);
    assay_status status = read_document(reading, &json);
    as_json_free(&json);
    if (status == ASSAY_OK) status = as_perun_settle_kinds(reading);
    if (status == ASSAY_OK)
        status = as_perun_settle_models(reading->tables, run, path, reading->text, &reading->notes[AS_PERUN_DUPLICATE]);
    as_perun_profile *done = &AS_AT(as_perun_profile, &reading->perun->profiles, reading->profile);
    done->n_rows = as_records_rows(reading->perun->records) - done->first_row;
    if (status == ASSAY_OK) status = as_perun_add_up(reading);
    if (status == ASSAY_OK) report_oddities(reading);
    forget_profile(reading);
    if (status == ASSAY_E_NOMEM && as_records_is_too_sparse(reading->perun->records))
        return as_fail(reading->reader->error, ASSAY_E_FORMAT, as_place_file(path), "too-sparse",
                       "thousands of columns that most resources do not have; more than 67 million empty cells are "
                       "too many");
    return status;
}

assay_status as_perun_finish(as_perun_reading *reading) {
    const assay_id *ids;
    as_perun *perun = reading->perun;
    AS_TRY(as_perun_tables_finish(reading->tables));
    if (!as_tree_finish(&reading->tree, &ids)) return as_reader_memory(reading->reader);
    for (size_t i = 0; i < perun->kinds.count; i++) {
        as_perun_kind *kind = &AS_AT(as_perun_kind, &perun->kinds, i);
        if (kind->context != ASSAY_NONE) kind->context = ids[kind->context];
        if (kind->uid_context != ASSAY_NONE) kind->uid_context = ids[kind->uid_context];
    }
    as_records_shrink(perun->records);
    return as_perun_make_blocks(reading) && as_perun_measure(reading) ? ASSAY_OK : as_reader_memory(reading->reader);
}
