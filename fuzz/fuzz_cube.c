/* Reading .cubex files: whatever the bytes, an error in words or a dataset whose values can be asked for; writing them
 * again (see reader.h); and, where all values can be read, what can be done with profiles (profile.h). */
#include "profile.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    as_read_config config = {.format = "cube", .memory_limit = AS_FUZZ_MEMORY};
    as_dataset *ds = NULL;
    assay_error error = {.message = ""};
    if (as_read_memory("input", (const char *)data, size, &config, &ds, NULL) == ASSAY_OK &&
        fine(as_ds_load(ds, ASSAY_NONE, &error), &error))
        check_profile(ds);
    as_dataset_free(ds);
    return fuzz_reader("cube", data, size);
}
