/* Reading .cubex files: whatever the bytes, an error in words or a dataset whose values can be asked for. What was read is written and read again, and written once
 * more: the same bytes. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_written(const as_dataset *ds, const as_format *format) {
    as_output *first = written(ds, format);
    if (!first) return; /* values that cannot be had */
    size_t size, again_size;
    const char *bytes = as_output_memory(first, &size), *again;
    as_read_config config = {.format = format->name, .memory_limit = AS_FUZZ_MEMORY};
    as_dataset *back = NULL;
    assay_error error;
    if (as_read_memory("written", bytes, size, &config, &back, &error) != ASSAY_OK) abort();
    if (back->metrics.count != ds->metrics.count || back->contexts.count != ds->contexts.count ||
        as_ds_leaves(back) != as_ds_leaves(ds))
        abort();
    if (as_ds_load(back, ASSAY_NONE, &error) != ASSAY_OK) abort();
    as_output *second = written(back, format);
    if (!second) abort();
    again = as_output_memory(second, &again_size);
    if (size != again_size || memcmp(bytes, again, size) != 0) abort();
    as_output_discard(first);
    as_output_discard(second);
    as_dataset_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    as_read_config config = {.memory_limit = AS_FUZZ_MEMORY, .keep_going = true};
    as_dataset *ds = NULL;
    assay_error error;
    if (as_read_memory("input.cubex", (const char *)data, size, &config, &ds, NULL) == ASSAY_OK)
        as_dataset_free(ds); /* bidding */
    config = (as_read_config){.format = "cube", .memory_limit = AS_FUZZ_MEMORY};
    if (as_read_memory("input", (const char *)data, size, &config, &ds, &error) != ASSAY_OK) {
        if (error.code == ASSAY_OK || !error.message[0]) abort();
        return 0;
    }
    if (as_ds_load(ds, ASSAY_NONE, &error) != ASSAY_OK && !error.message[0]) abort();
    check_written(ds, as_format_find("cube"));
    as_dataset_free(ds);
    return 0;
}
