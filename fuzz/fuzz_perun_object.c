/* Unpacking of Perun's stored objects: bytes as they come, and, since a checksum is hard to guess, packed here. */
#include <libdeflate.h>
#include <stdlib.h>

#include "formats/perun/perun.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void unpack(const char *data, size_t size) {
    as_dataset *ds = as_dataset_new(1 << 28);
    if (!ds) abort();
    assay_error error = {.code = ASSAY_OK};
    as_reader reader = {.dataset = ds, .error = &error};
    as_vec text;
    as_vec_init(&text, 1, &ds->budget);
    const char *json;
    size_t json_size;
    if (as_perun_unpack(&reader, "input", data, size, &text, &json, &json_size) != ASSAY_OK) {
        if (error.code == ASSAY_OK || !error.message[0]) abort();
    } else if (json < (const char *)text.data || json + json_size != (const char *)text.data + text.count)
        abort();
    as_vec_free(&text);
    as_dataset_free(ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    unpack((const char *)bytes, size);
    struct libdeflate_compressor *packer = libdeflate_alloc_compressor(1);
    size_t room = libdeflate_zlib_compress_bound(packer, size);
    char *packed = malloc(room);
    if (!packer || !packed) abort();
    size_t packed_size = libdeflate_zlib_compress(packer, bytes, size, packed, room);
    unpack(packed, packed_size);
    free(packed);
    libdeflate_free_compressor(packer);
    return 0;
}
