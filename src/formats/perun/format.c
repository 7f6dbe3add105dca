/* The format: telling profiles from other JSON, and reading one. */
#include <stdlib.h>

#include "formats/perun/read.h"
#include "formats/perun/write.h"
#include "io/json_keys.h"

/* ---- bidding ----------------------------------------------------------------------------------------------------- */

enum { MODELS_BITS = 8 };

/* Bits that a top-level key and the first character of its value are worth. Keys that other JSON has as well are worth
 * little on their own. */
static int worth(const char *key, size_t size, char first) {
    static const struct {
        const char *key, *begins;
        int bits;
    } known[] = {{"header", "{", 40},
                 {"collector_info", "{", 112},
                 {"collector", "{", 56},
                 {"snapshots", "[", 64},
                 {"global", "{[", 40},
                 {"resources", "{[", 56},
                 {"resource_type_map", "{", 136},
                 {"postprocessors", "[", 112},
                 {"models", "[", MODELS_BITS}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].key) == size && memcmp(key, known[i].key, size) == 0)
            return strchr(known[i].begins, first) ? known[i].bits : 0;
    }
    return 0;
}

static int bid(const as_probe *probe) {
    enum { OBJECT_BITS = 11 }; /* as zlib begins: one in about 2000 pairs of bytes */
    if (probe->is_directory || !probe->head_size) return 0;
    if (as_perun_is_object(probe->head, probe->head_size)) return OBJECT_BITS;
    bool is_named = as_has_ending(probe->path, as_format_perun.extensions);
    as_json_keys keys;
    char first = as_json_keys_begin(&keys, probe->head, probe->head_size);
    if (first == '[') return is_named; /* which reading refuses, and says where */
    if (first != '{') return 0;
    int bits = 0;
    while (as_json_keys_next(&keys)) bits += worth(keys.key, keys.size, keys.first);
    return bits > (keys.is_over ? MODELS_BITS : 0) ? bits : is_named; /* models alone are no profile */
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The text lives as long as the dataset: the writer needs it. */
static void release_text(void *object) {
    as_vec_free(object);
    free(object);
}

static assay_status read_object(as_reader *reader, as_perun_reading *reading, assay_id run) {
    const as_input *input = reader->input;
    as_vec *text = malloc(sizeof *text);
    if (!text) return as_reader_memory(reader);
    as_vec_init(text, 1, &reader->dataset->budget);
    if (!as_ds_hold(reader->dataset, text, release_text)) return as_reader_memory(reader); /* which released it */
    const char *json;
    size_t size;
    AS_TRY(as_perun_unpack(reader, input->path, input->data, input->size, text, &json, &size));
    return as_perun_add_profile(reading, run, input->path, json, size, true);
}

static assay_status read_text(as_reader *reader, as_perun_reading *reading, assay_id run) {
    const as_input *input = reader->input;
    if (as_perun_is_object(input->data, input->size)) return read_object(reader, reading, run);
    const char *text = input->data;
    reader->keeps_input = reader->can_keep_input;
    if (!reader->can_keep_input) text = as_arena_copy(&reader->dataset->arena, input->data, input->size);
    return text ? as_perun_add_profile(reading, run, input->path, text, input->size, true) : as_reader_memory(reader);
}

static assay_status read_perun(as_reader *reader) {
    as_dataset *ds = reader->dataset;
    as_run run = AS_RUN_INIT;
    run.source = ds->path;
    assay_id id = as_add_run(ds, &run);
    as_perun_reading *reading = id == ASSAY_NONE ? NULL : as_perun_begin(reader);
    if (!reading) return as_reader_memory(reader);
    assay_status status = read_text(reader, reading, id);
    if (status == ASSAY_OK) status = as_perun_finish(reading);
    as_perun_end(reading);
    if (status != ASSAY_OK) return status;
    const as_perun *perun = as_perun_of(ds);
    ds->format_version = as_ds_intern_text(ds, AS_AT(as_perun_profile, &perun->profiles, 0).is_new ? "new" : "old");
    return ds->format_version == AS_NO_STR ? as_reader_memory(reader) : ASSAY_OK;
}

static assay_status write_perun(as_writer *writer) { return as_perun_write(writer, NULL); }

const as_format as_format_perun = {.name = "perun",
                                   .title = "Perun profile",
                                   .versioned = "layout",
                                   .extensions = ".perf",
                                   .holds = AS_PERUN_HOLDS,
                                   .write_options = as_perun_write_options,
                                   .bid = bid,
                                   .read = read_perun,
                                   .write = write_perun,
                                   .losses = as_perun_losses,
                                   .remarks = as_perun_remarks};
