/* Reading of pprof profiles, by function and by line: what was read goes through sums, views and the algebra of
 * profiles, back to pprof, and to Callgrind's format. */
#include "profile.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const options[][2] = {{NULL}, {"lines=yes"}};
    fuzz_reader("pprof", bytes, size);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        as_read_config config = {.format = "pprof", .options = options[i], .memory_limit = AS_FUZZ_PROFILE_MEMORY};
        as_dataset *ds = NULL;
        assay_error error;
        if (as_read_memory("input", (const char *)bytes, size, &config, &ds, &error) != ASSAY_OK) continue;
        if (i == 0) check_profile(ds); /* Cube does not know that lines are pieces of their functions */
        as_output_discard(written(ds, as_format_find("callgrind")));
        ds->of_format = NULL; /* as if it came from elsewhere */
        as_output *out = written(ds, as_format_find("pprof"));
        size_t n;
        const char *again = out ? as_output_memory(out, &n) : NULL;
        as_dataset *back = NULL;
        if (again && as_read_memory("written", again, n, &config, &back, &error) != ASSAY_OK) abort();
        as_dataset_free(back);
        as_output_discard(out);
        as_dataset_free(ds);
    }
    return 0;
}
