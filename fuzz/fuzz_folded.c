/* Reading of folded stacks: what was read is a sound profile, and what is written of it is written again when it is
 * read. */
#include "profile.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Lines of stacks that have nothing are not written, and a file without lines is none. */
static void write_twice(const as_dataset *ds) {
    const as_format *format = as_format_find("folded");
    as_output *first = written(ds, format);
    size_t size, again_size;
    if (!first) return;
    const char *text = as_output_memory(first, &size);
    as_read_config config = {.format = "folded", .memory_limit = AS_FUZZ_MEMORY};
    as_dataset *back = NULL;
    if (size && as_read_memory("written", text, size, &config, &back, NULL) != ASSAY_OK) abort();
    if (size) {
        as_output *second = written(back, format);
        const char *again = second ? as_output_memory(second, &again_size) : NULL;
        if (!again || size != again_size || memcmp(text, again, size) != 0) abort();
        as_output_discard(second);
    }
    as_dataset_free(back);
    as_output_discard(first);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const options[][2] = {{NULL}, {"columns=1"}, {"columns=2"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        as_read_config config = {
            .format = "folded", .options = options[i], .memory_limit = AS_FUZZ_MEMORY, .keep_going = i == 2};
        as_dataset *ds = NULL;
        assay_error error;
        if (as_read_memory("input", (const char *)bytes, size, &config, &ds, &error) != ASSAY_OK) {
            if (error.code == ASSAY_OK || !error.message[0]) abort();
            continue;
        }
        if (i == 0) check_profile(ds);
        if (i == 0) write_twice(ds);
        as_dataset_free(ds);
    }
    return 0;
}
