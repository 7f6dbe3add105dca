/* The format: telling profiles from other files, and reading one. */
#include "formats/pprof/pprof.h"

#include <stdlib.h>

#include "io/gzip.h"

/* ---- bidding ----------------------------------------------------------------------------------------------------- */

enum { LOOKED_AT = 4096, BITS_OF_FIELD = 4, MOST_BITS = 64, GZIP_BITS = 24 };

/* Whether all of it is a message, which has none of the fields from `limit` on. */
static bool is_message(const as_protobuf *field, uint32_t limit) {
    as_protobuf m = as_protobuf_message_of(field);
    while (as_protobuf_next(&m)) {
        if (m.field >= limit) return false;
    }
    return !m.error;
}

/* Whether a field is what a field of a profile can be. */
static bool is_plausible(const as_protobuf *p) {
    static const uint32_t limits[] = {[AS_PPROF_SAMPLE_TYPE] = 3, [AS_PPROF_SAMPLE] = 8,   [AS_PPROF_MAPPING] = 16,
                                      [AS_PPROF_LOCATION] = 8,    [AS_PPROF_FUNCTION] = 8, [AS_PPROF_PERIOD_TYPE] = 3};
    if (p->field >= AS_PPROF_FIELDS) return false;
    if (p->field == AS_PPROF_STRING) return p->type == AS_PROTOBUF_BYTES;
    bool is_sub = p->field < sizeof limits / sizeof *limits && limits[p->field];
    if (!is_sub) return p->type == AS_PROTOBUF_NUMBER || p->field == AS_PPROF_COMMENT;
    return p->type == AS_PROTOBUF_BYTES && is_message(p, limits[p->field]);
}

/* Bits of what a profile begins with; 0: it is none. A profile has types of samples, or a string, which is empty. */
static int worth(const char *data, size_t size, bool is_all) {
    as_protobuf p = as_protobuf_of(data, size);
    int bits = 0;
    bool has_type = false, has_string = false;
    while (as_protobuf_next(&p)) {
        if (!is_plausible(&p)) return 0;
        if (p.field == AS_PPROF_STRING && !has_string && p.length) return 0;
        has_string |= p.field == AS_PPROF_STRING;
        has_type |= p.field == AS_PPROF_SAMPLE_TYPE && p.length;
        bits += BITS_OF_FIELD;
    }
    if (is_all && p.error) return 0;
    return !has_type && !(is_all && has_string) ? 0 : bits < MOST_BITS ? bits : MOST_BITS;
}

static int bid(const as_probe *probe) {
    char head[LOOKED_AT];
    size_t n;
    if (probe->is_directory) return 0;
    if (!as_gzip_looks_like(probe->head, probe->head_size))
        return worth(probe->head, probe->head_size, probe->head_size == probe->size);
    if (!as_gunzip_head(probe->head, probe->head_size, head, sizeof head, &n)) return GZIP_BITS; /* memory is out */
    int bits = worth(head, n, n < sizeof head);
    return bits ? bits + GZIP_BITS : 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

const as_pprof *as_pprof_of(const as_dataset *ds) { return strcmp(ds->format, "pprof") == 0 ? ds->of_format : NULL; }

static void release(void *object) {
    as_pprof *pprof = object;
    as_vec_free(&pprof->bytes);
    free(pprof);
}

/* The message, unpacked; it lives as long as the dataset. */
static assay_status unpack(as_reader *reader, as_pprof **out) {
    const as_input *input = reader->input;
    as_pprof *pprof = malloc(sizeof *pprof);
    if (!pprof) return as_reader_memory(reader);
    as_vec_init(&pprof->bytes, 1, &reader->dataset->budget);
    if (!as_ds_hold(reader->dataset, pprof, release)) return as_reader_memory(reader); /* which released it */
    *out = pprof;
    if (as_gzip_looks_like(input->data, input->size))
        return as_gunzip(input->path, input->data, input->size, &pprof->bytes, reader->error);
    return as_vec_append(&pprof->bytes, input->data, input->size) ? ASSAY_OK : as_reader_memory(reader);
}

static bool note(as_dataset *ds, const char *key, as_cell cell) {
    return as_add_attribute(ds, AS_OWNER_DATASET, 0, key, cell);
}

static bool note_text(as_dataset *ds, const char *key, as_str text) {
    return text == AS_NO_STR || note(ds, key, as_cell_text(as_ds_text(ds, text)));
}

static bool note_number(as_dataset *ds, const char *key, int64_t number) {
    return !number || note(ds, key, as_cell_int(number));
}

static bool add_attributes(as_dataset *ds, const as_pprof_tables *t) {
    bool fine = note_text(ds, "drop_frames", t->drop_frames) && note_text(ds, "keep_frames", t->keep_frames) &&
                note_text(ds, "default_sample_type", t->default_type) && note_text(ds, "doc_url", t->doc_url) &&
                note_text(ds, "period_type", t->period_type.type) &&
                note_text(ds, "period_unit", t->period_type.unit) && note_number(ds, "period", t->period) &&
                note_number(ds, "duration_nanos", t->duration) && note_number(ds, "time_nanos", t->time);
    for (size_t i = 0; i < t->comments.count && fine; i++)
        fine = note_text(ds, "comment", AS_AT(as_str, &t->comments, i));
    return fine;
}

/* The table mapping: which files lay where in memory. */
static bool add_mappings(as_dataset *ds, const as_pprof_tables *t) {
    static const char *const names[] = {"memory_start",  "memory_limit",     "file_offset",
                                        "file",          "build_id",         "has_functions",
                                        "has_filenames", "has_line_numbers", "has_inline_frames"};
    enum { N_NAMES = sizeof names / sizeof *names, FIRST_FLAG = 5 };
    if (!t->mappings.count) return true;
    as_table *table = as_add_record_table(ds, "mapping");
    bool fine = table != NULL;
    for (size_t i = 0; i < N_NAMES && fine; i++) fine = as_table_add_column(table, names[i]) != SIZE_MAX;
    for (size_t i = 0; i < t->mappings.count && fine; i++) {
        const as_pprof_mapping *m = &AS_AT(as_pprof_mapping, &t->mappings, i);
        as_cell cells[2 + N_NAMES] = {as_cell_uint(m->id),
                                      as_cell_int(0),
                                      as_cell_uint(m->start),
                                      as_cell_uint(m->limit),
                                      as_cell_uint(m->offset),
                                      as_cell_text(as_ds_text(ds, m->file)),
                                      as_cell_text(as_ds_text(ds, m->build_id))};
        for (unsigned k = FIRST_FLAG; k < N_NAMES; k++) cells[2 + k] = as_cell_int(m->symbols >> (k - FIRST_FLAG) & 1);
        fine = as_table_append(table, cells);
    }
    return fine;
}

static assay_status read_message(as_reader *reader, const as_pprof *pprof, as_pprof_tables *tables) {
    as_dataset *ds = reader->dataset;
    AS_TRY(as_pprof_read_tables(reader, pprof->bytes.data, pprof->bytes.count, tables));
    as_run run = AS_RUN_INIT;
    run.source = ds->path;
    if (tables->time > 0) run.start_time = (double)tables->time / 1e9;
    bool fine = as_add_run(ds, &run) != ASSAY_NONE && add_attributes(ds, tables) && add_mappings(ds, tables);
    if (!fine) return as_reader_memory(reader);
    if (!tables->types.count && tables->n_samples)
        AS_TRY(as_broken(reader, as_place_file(reader->input->path), "no-types", "has samples, but no types of them"));
    if (!tables->n_samples)
        as_warn(reader, as_place_file(reader->input->path), "no-data", "has no samples: the profile is empty");
    as_pprof_places places;
    assay_status status = as_pprof_find_places(tables, as_option_text(&reader->options, "locations"), &places);
    if (status == ASSAY_OK) status = as_pprof_build(tables, as_option_bool(&reader->options, "lines"), &places);
    as_pprof_places_free(&places);
    return status;
}

static assay_status read_pprof(as_reader *reader) {
    as_pprof *pprof = NULL;
    AS_TRY(unpack(reader, &pprof));
    as_pprof_tables tables;
    assay_status status = read_message(reader, pprof, &tables);
    as_pprof_tables_free(&tables);
    if (status == ASSAY_OK && !reader->failed) reader->dataset->of_format = pprof;
    return status;
}

static const as_option read_options[] = {
    {"lines", AS_OPTION_BOOL, "no", NULL,
     "Tell calls apart by the line they come from, and make sampled lines contexts; else contexts are functions"},
    {"locations", AS_OPTION_TEXT, "auto", NULL,
     "Which labels of samples say where they were taken: auto: those of processes and threads (thread, tid, pid …); "
     "none; or the key of a label"},
    {0}};

const struct assay_format as_format_pprof = {
    .name = "pprof",
    .title = "pprof profile",
    .extensions = ".pb.gz .pprof",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_UNITS | AS_HOLDS_SOURCE | AS_HOLDS_PROFILES |
             AS_HOLDS_RECORDS | AS_HOLDS_ATTRIBUTES | AS_HOLDS_MANGLED | AS_HOLDS_MODULES | AS_HOLDS_STARTS |
             AS_HOLDS_CALLS | AS_HOLDS_ASIDES /* its losses name them */,
    .read_options = read_options,
    .write_options = as_pprof_write_options,
    .bid = bid,
    .read = read_pprof,
    .write = as_pprof_write,
    .losses = as_pprof_losses,
};
