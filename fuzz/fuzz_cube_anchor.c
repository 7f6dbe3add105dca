/* The bytes as anchor.xml of a .cubex with the values of three metrics: reading it, and writing it again (see reader.h). */
#include "io/tar.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Plain rows of two contexts with two locations; a packed one; a number of bytes that fits nothing. */
static const char index_of_two[] = "CUBEX.INDEX\1\0\0\0\0\0\1\2\0\0\0\0\0\0\0\1\0\0\0";
static const char index_of_one[] = "CUBEX.INDEX\1\0\0\0\0\0\1\1\0\0\0\0\0\0\0";
static const char plain[] = "CUBEX.DATA01234567890123456789012345678901";
static const char packed[] = "ZCUBEX.DATA\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x11\0\0\0\0\0\0\0"
                             "\x78\x9c\x63\x60\x00\x81\x0f\xf6\x0c\x10\xe0\x00\x00\x0b\xe7\x01\x70";

static void add(as_tar_writer *tar, const char *name, const char *content, size_t size_with_nul) {
    as_tar_add(tar, name, content, size_with_nul - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    as_output *out = as_output_to_memory();
    as_tar_writer *tar = as_tar_writer_new(out);
    if (!tar) abort();
    add(tar, "0.index", index_of_two, sizeof index_of_two);
    add(tar, "0.data", plain, sizeof plain);
    add(tar, "1.index", index_of_one, sizeof index_of_one);
    add(tar, "1.data", packed, sizeof packed);
    add(tar, "2.index", index_of_one, sizeof index_of_one);
    add(tar, "2.data", plain, sizeof plain - 5);
    add(tar, "remapping.spec", "text", 5);
    as_tar_add(tar, "anchor.xml", data, size);
    as_tar_finish(tar);
    size_t archive_size;
    const char *archive = as_output_memory(out, &archive_size);
    fuzz_reader("cube", (const uint8_t *)archive, archive_size);
    as_output_discard(out);
    return 0;
}
