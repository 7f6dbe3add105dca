/* Reading and writing .extra-p files. An input that is no ZIP is put into one: the parts between lines "%%" are
 * experiment.json, values/0.vals and values/0.indx. */
#include "reader.h"

#include "io/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_parts(const char *data, size_t size) {
    static const char *const names[] = {"experiment.json", "values/0.vals", "values/0.indx"};
    static const char separator[] = "\n%%\n";
    as_output *out = as_output_to_memory();
    as_zip_writer *zip = out ? as_zip_writer_new(out) : NULL;
    if (!zip) abort();
    const char *at = data, *end = data + size;
    for (size_t i = 0; i < sizeof names / sizeof *names && at <= end; i++) {
        const char *stop = memmem(at, (size_t)(end - at), separator, sizeof separator - 1);
        if (!stop) stop = end;
        if (as_zip_add(zip, names[i], at, (size_t)(stop - at), false, NULL) != ASSAY_OK) abort();
        at = stop + sizeof separator - 1;
    }
    if (as_zip_finish(zip, NULL) != ASSAY_OK) abort();
    size_t zip_size;
    const char *bytes = as_output_memory(out, &zip_size);
    fuzz_reader("extrap-experiment", (const uint8_t *)bytes, zip_size);
    as_output_discard(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size >= 2 && memcmp(data, "PK", 2) == 0) return fuzz_reader("extrap-experiment", data, size);
    read_parts((const char *)data, size);
    return 0;
}
