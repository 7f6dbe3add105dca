/* Reading of speedscope files: what was read is a sound profile, can be written as samples and as events, and then read again. */
#include "profile.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void write_and_read(const as_dataset *ds, const char *name, const char *option) {
    const char *options[] = {option, NULL};
    as_output *out = as_output_to_memory();
    if (!out) abort();
    if (as_write(ds, as_format_find(name), options, 1, out, NULL) == ASSAY_OK && strcmp(name, "speedscope") == 0) {
        size_t size;
        const char *text = as_output_memory(out, &size);
        as_read_config config = {.format = name, .memory_limit = AS_FUZZ_MEMORY};
        as_dataset *back = NULL;
        if (as_read_memory("written", text, size, &config, &back, NULL) != ASSAY_OK) abort();
        as_dataset_free(back);
    }
    as_output_discard(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    for (int keep_going = 0; keep_going < 2; keep_going++) {
        as_read_config config = {.format = "speedscope", .memory_limit = AS_FUZZ_MEMORY, .keep_going = keep_going};
        as_dataset *ds = NULL;
        assay_error error;
        if (as_read_memory("input", (const char *)bytes, size, &config, &ds, &error) != ASSAY_OK) {
            if (error.code == ASSAY_OK || !error.message[0]) abort();
            continue;
        }
        if (!keep_going) {
            check_profile(ds);
            write_and_read(ds, "speedscope", "profiles=auto");
            write_and_read(ds, "speedscope", "profiles=sampled");
            write_and_read(ds, "chrome-trace", NULL);
        }
        as_dataset_free(ds);
    }
    return 0;
}
