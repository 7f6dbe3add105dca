/* Reading of Extra-Prof profiles under all options: what was read goes through sums, views and the algebra of profiles,
 * and to a Cube file and back. */
#include "profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const options[][3] = {
        {NULL}, {"scaling=strong", "sum_gpu=yes"}, {"inclusive=yes"}, {"concurrent_threads=yes", "sum_gpu=yes"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        as_read_config config = {.format = "extra-prof",
                                 .options = options[i],
                                 .memory_limit = AS_FUZZ_PROFILE_MEMORY,
                                 .keep_going = i == 1};
        as_dataset *ds = NULL;
        assay_error error;
        if (as_read_memory("input", (const char *)bytes, size, &config, &ds, &error) != ASSAY_OK) {
            if (error.code == ASSAY_OK || !error.message[0]) abort();
            continue;
        }
        if (i != 1 && ds->runs.count) check_profile(ds);
        as_dataset_free(ds);
    }
    return 0;
}
