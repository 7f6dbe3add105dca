/* What the fuzz targets of readers share: read the bytes as one format, twice (stopping at the first broken rule, and
 * going on), write what was read in the same format, read that again and write it once more. The second reading must
 * succeed, with the same counts where nothing is said to be lost, and both writings must be the same bytes. */
#ifndef AS_FUZZ_READER_H
#define AS_FUZZ_READER_H

#include <stdlib.h>

#include "formats/format.h"

enum { AS_FUZZ_MEMORY = 1 << 28 };

static inline as_output *written(const as_dataset *ds, const as_format *format) {
    as_output *out = as_output_to_memory();
    if (!out) abort();
    if (as_write(ds, format, NULL, 0, out, NULL) == ASSAY_OK) return out;
    as_output_discard(out);
    return NULL;
}

static inline void check_counts(const as_dataset *a, const as_dataset *b, const as_format *format) {
    if (as_ds_values(a) != as_ds_values(b) || as_ds_parameters(a) != as_ds_parameters(b)) abort();
    as_losses losses;
    as_losses_init(&losses);
    as_find_losses(a, format, &losses);
    bool same = a->n_points == b->n_points && a->runs.count == b->runs.count && a->metrics.count == b->metrics.count &&
                a->contexts.count == b->contexts.count && a->series.count == b->series.count &&
                a->locations.count == b->locations.count && a->attributes.count == b->attributes.count;
    if (!losses.texts.count && !same) abort();
    as_losses_free(&losses);
}

static inline void check_round_trip(const as_dataset *ds, const as_format *format) {
    as_output *first = written(ds, format);
    if (!first) return;
    size_t size, again_size;
    const char *bytes = as_output_memory(first, &size), *again;
    as_read_config config = {.format = format->name, .memory_limit = AS_FUZZ_MEMORY};
    as_dataset *back = NULL;
    if (as_read_memory("written", bytes, size, &config, &back, NULL) != ASSAY_OK) abort();
    check_counts(ds, back, format);
    as_output *second = written(back, format);
    if (!second) abort();
    again = as_output_memory(second, &again_size);
    if (size != again_size || memcmp(bytes, again, size) != 0) abort();
    as_output_discard(first);
    as_output_discard(second);
    as_dataset_free(back);
}

static inline int fuzz_reader(const char *name, const uint8_t *bytes, size_t size) {
    const as_format *format = as_format_find(name);
    as_read_config config = {.memory_limit = AS_FUZZ_MEMORY, .keep_going = true};
    as_dataset *ds = NULL;
    assay_error error;
    if (as_read_memory("input", (const char *)bytes, size, &config, &ds, &error) == ASSAY_OK)
        as_dataset_free(ds); /* bidding */
    config.format = name;
    if (as_read_memory("input", (const char *)bytes, size, &config, &ds, &error) == ASSAY_OK) as_dataset_free(ds);
    config.keep_going = false;
    if (as_read_memory("input", (const char *)bytes, size, &config, &ds, &error) == ASSAY_OK) {
        check_round_trip(ds, format);
        as_dataset_free(ds);
    } else if (error.code == ASSAY_OK || !error.message[0])
        abort();
    return 0;
}

#endif
