/* Labels that say in which process or thread a sample was taken become locations. */
#include "formats/pprof/pprof.h"

enum { MOST_PLACES = 1 << 16 };

/* What profilers call them; the first ones are what people know them by. */
static const char *const known_keys[AS_PPROF_LEVELS][AS_PPROF_PLACE_KEYS] = {
    [AS_PPROF_PROCESSES] = {"process", "process_name", "process name", "pid", "process_id", "process id"},
    [AS_PPROF_THREADS] = {"location", "thread", "thread_name", "thread name", "tid", "thread_id", "thread id"}};
static const char *const known_kinds[AS_PPROF_LEVELS] = {"process", "thread"};

assay_status as_pprof_read_label(const as_pprof_tables *tables, const as_protobuf *field, as_pprof_label *out) {
    as_protobuf m = as_protobuf_message_of(field);
    *out = (as_pprof_label){AS_NO_STR, AS_NO_STR, AS_NO_STR, 0};
    while (as_protobuf_next(&m)) {
        if (m.type != AS_PROTOBUF_NUMBER) continue;
        if (m.field == AS_PPROF_LABEL_KEY) AS_TRY(as_pprof_text(tables, &m, &out->key));
        if (m.field == AS_PPROF_LABEL_TEXT) AS_TRY(as_pprof_text(tables, &m, &out->text));
        if (m.field == AS_PPROF_LABEL_UNIT) AS_TRY(as_pprof_text(tables, &m, &out->unit));
        if (m.field == AS_PPROF_LABEL_NUMBER) out->number = (int64_t)m.number;
    }
    return m.error ? as_pprof_broken(tables, &m, "protobuf", m.error) : ASSAY_OK;
}

/* ---- which labels ------------------------------------------------------------------------------------------------ */

/* Level and number of a key; false: it says nothing of a place. */
static bool find_key(const char *key, const char *wanted, size_t *level, size_t *number) {
    bool is_auto = strcmp(wanted, "auto") == 0;
    if (!key || (!is_auto && strcmp(key, wanted) != 0)) return false;
    for (*level = 0; *level < AS_PPROF_LEVELS; ++*level) {
        for (*number = 0; *number < AS_PPROF_PLACE_KEYS && known_keys[*level][*number]; ++*number) {
            if (strcmp(known_keys[*level][*number], key) == 0) return true;
        }
    }
    *level = AS_PPROF_THREADS;
    *number = 0;
    return !is_auto;
}

static bool note_key(as_pprof_places *places, as_str key, const char *wanted) {
    const char *text = as_ds_text(places->ds, key);
    size_t level, number;
    if (!find_key(text, wanted, &level, &number)) {
        if (text && strcmp(text, "rank") == 0) places->rank = key;
        return true;
    }
    if (places->has[level] && places->keys[level][number] == key) return true;
    bool is_known = known_keys[level][number] && strcmp(known_keys[level][number], text) == 0;
    places->has[level] = true;
    places->keys[level][number] = key;
    places->kinds[level] = is_known ? as_ds_intern_text(places->ds, known_kinds[level]) : key;
    return places->kinds[level] != AS_NO_STR;
}

static assay_status note_keys(as_pprof_places *places, const as_pprof_tables *tables, as_protobuf sample,
                              const char *wanted) {
    while (as_protobuf_next(&sample)) {
        as_pprof_label label;
        if (sample.field != AS_PPROF_SAMPLE_LABEL || sample.type != AS_PROTOBUF_BYTES) continue;
        AS_TRY(as_pprof_read_label(tables, &sample, &label));
        if (!note_key(places, label.key, wanted)) return as_reader_memory(tables->reader);
    }
    return ASSAY_OK;
}

assay_status as_pprof_find_places(as_pprof_tables *tables, const char *wanted, as_pprof_places *out) {
    *out = (as_pprof_places){.ds = tables->reader->dataset, .rank = AS_NO_STR};
    as_map_init(&out->known, &out->ds->budget);
    as_vec_init(&out->text, 1, &out->ds->budget);
    for (size_t i = 0; i < AS_PPROF_LEVELS * AS_PPROF_PLACE_KEYS; i++)
        out->keys[i / AS_PPROF_PLACE_KEYS][i % AS_PPROF_PLACE_KEYS] = AS_NO_STR;
    if (strcmp(wanted, "none") == 0) return ASSAY_OK;
    as_protobuf p = as_protobuf_of(tables->data, tables->size);
    while (as_protobuf_next(&p)) {
        if (p.field == AS_PPROF_SAMPLE && p.type == AS_PROTOBUF_BYTES)
            AS_TRY(note_keys(out, tables, as_protobuf_message_of(&p), wanted));
    }
    bool is_whole = out->keys[AS_PPROF_THREADS][0] != AS_NO_STR && strcmp(wanted, "auto") == 0;
    if (is_whole) out->has[AS_PPROF_PROCESSES] = false; /* "location" says it all */
    if (!is_whole) out->rank = AS_NO_STR;
    if (strcmp(wanted, "auto") != 0 && !as_pprof_has_places(out))
        as_warn(tables->reader, as_place_file(tables->reader->input->path), "locations",
                "no sample has the label \"%s\" of -O locations", wanted);
    return ASSAY_OK;
}

void as_pprof_places_free(as_pprof_places *places) {
    as_map_free(&places->known);
    as_vec_free(&places->text);
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* What a sample says of one level: "worker", "worker (12)", "thread 12", "?". */
static bool put_text(as_pprof_places *places, size_t level, const as_pprof_label *labels) {
    as_vec *text = &places->text;
    char digits[AS_NUMBER_SIZE];
    bool fine = true;
    text->count = 0;
    for (size_t k = 0; k < AS_PPROF_PLACE_KEYS && fine; k++) {
        const as_pprof_label *label = &labels[k];
        if (label->key == AS_NO_STR) continue;
        bool is_first = !text->count, is_number = label->text == AS_NO_STR;
        if (!is_first) fine = as_vec_text(text, " (");
        if (is_first && is_number)
            fine = as_vec_text(text, as_ds_text(places->ds, places->kinds[level])) && as_vec_text(text, " ");
        as_int_format(label->number, digits);
        fine = fine && as_vec_text(text, is_number ? digits : as_ds_text(places->ds, label->text)) &&
               (is_first || as_vec_text(text, ")"));
    }
    return fine && (text->count || as_vec_text(text, "?"));
}

static assay_status enter_place(as_pprof_places *places, const as_pprof_tables *tables, size_t level,
                                const as_pprof_label *labels, int64_t rank, assay_id *at) {
    as_location new = AS_LOCATION_INIT;
    if (!put_text(places, level, labels)) return as_reader_memory(tables->reader);
    if (places->known.count >= MOST_PLACES) {
        if (!places->has_told)
            as_add_problem(places->ds, AS_NOTE, as_place_file(tables->reader->input->path), "many-locations",
                           "labels name more than %d places; what is in further ones is together in those called ?",
                           MOST_PLACES);
        places->has_told = true;
    }
    new.name = as_ds_intern(places->ds, places->text.data, places->text.count);
    if (new.name == AS_NO_STR) return as_reader_memory(tables->reader);
    uint32_t known = as_map_get(&places->known, as_pair(*at + 1, new.name));
    if (known == AS_MAP_NONE && places->has_told) {
        new.name = as_ds_intern_text(places->ds, "?");
        known = as_map_get(&places->known, as_pair(*at + 1, new.name));
    }
    if (known == AS_MAP_NONE) {
        new.parent = *at;
        new.kind = places->kinds[level];
        new.leaf = level == AS_PPROF_THREADS || !places->has[AS_PPROF_THREADS];
        new.rank = rank;
        known = as_add_location(places->ds, &new);
        if (known == ASSAY_NONE || !as_map_put(&places->known, as_pair(*at + 1, new.name), known))
            return as_reader_memory(tables->reader);
    }
    *at = known;
    return ASSAY_OK;
}

assay_status as_pprof_find_place(as_pprof_places *places, const as_pprof_tables *tables, as_protobuf sample,
                                 assay_id *out) {
    as_pprof_label labels[AS_PPROF_LEVELS][AS_PPROF_PLACE_KEYS];
    int64_t rank = -1;
    for (size_t level = 0; level < AS_PPROF_LEVELS; level++) {
        for (size_t k = 0; k < AS_PPROF_PLACE_KEYS; k++) labels[level][k].key = AS_NO_STR;
    }
    while (as_protobuf_next(&sample)) {
        as_pprof_label label;
        if (sample.field != AS_PPROF_SAMPLE_LABEL || sample.type != AS_PROTOBUF_BYTES) continue;
        AS_TRY(as_pprof_read_label(tables, &sample, &label));
        if (label.key == AS_NO_STR) continue;
        if (label.key == places->rank && label.text == AS_NO_STR && label.number >= 0) rank = label.number;
        for (size_t i = 0; i < AS_PPROF_LEVELS * AS_PPROF_PLACE_KEYS; i++) {
            if (places->keys[i / AS_PPROF_PLACE_KEYS][i % AS_PPROF_PLACE_KEYS] == label.key)
                labels[i / AS_PPROF_PLACE_KEYS][i % AS_PPROF_PLACE_KEYS] = label;
        }
    }
    *out = ASSAY_NONE;
    for (size_t level = 0; level < AS_PPROF_LEVELS; level++) {
        if (places->has[level])
            AS_TRY(enter_place(places, tables, level, labels[level], level == AS_PPROF_THREADS ? rank : -1, out));
    }
    return ASSAY_OK;
}
