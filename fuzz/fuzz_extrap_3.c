/* Reading experiments of Extra-P 3, and writing them as the newer .extra-p files, which must be readable. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_conversion(const as_dataset *ds) {
    as_output *out = written(ds, as_format_find("extrap-experiment"));
    if (!out) return; /* paths too long for the memory */
    size_t size;
    const char *bytes = as_output_memory(out, &size);
    as_read_config config = {.format = "extrap-experiment"};
    as_dataset *back = NULL;
    if (as_read_memory("written", bytes, size, &config, &back, NULL) != ASSAY_OK) {
        if (ds->series.count) abort(); /* without measurements there is nothing to read */
    } else if (back->series.count != ds->series.count || back->measurements.count != ds->measurements.count ||
               back->models.count != ds->models.count) {
        abort();
    }
    as_dataset_free(back);
    as_output_discard(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_reader("extrap-3", data, size);
    as_read_config config = {.format = "extrap-3", .memory_limit = AS_FUZZ_MEMORY};
    as_dataset *ds = NULL;
    if (as_read_memory("input", (const char *)data, size, &config, &ds, NULL) == ASSAY_OK) check_conversion(ds);
    as_dataset_free(ds);
    return 0;
}
