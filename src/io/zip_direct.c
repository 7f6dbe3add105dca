#include "io/zip_direct.h"

#include <libdeflate.h>

enum {
    LOCAL_SIZE = 30,
    RECORD_SIZE = 46,
    END_SIZE = 22,
    MAX_COMMENT = 65535,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 0x2041
};
enum { MAX_RATIO = 1032 }; /* deflate cannot do better */

static uint32_t u16(const unsigned char *at) { return (uint32_t)at[0] | (uint32_t)at[1] << 8; }
static uint32_t u32(const unsigned char *at) { return u16(at) | u16(at + 2) << 16; }

as_zip_directory as_zip_directory_of(const void *data, size_t size) {
    as_zip_directory result = {.data = data};
    for (size_t back = END_SIZE; back <= size && back <= END_SIZE + MAX_COMMENT; back++) {
        const unsigned char *end = result.data + size - back;
        if (memcmp(end, "PK\5\6", 4) != 0 || u16(end + 20) != back - END_SIZE) continue;
        size_t length = u32(end + 12), offset = u32(end + 16);
        if (u16(end + 10) == 0xffff || length > size - back || offset != size - back - length) break;
        result.begin = result.at = offset;
        result.end = offset + length;
        break;
    }
    return result;
}

static bool unpack(const unsigned char *packed, size_t packed_size, char *out, size_t size) {
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (!decompressor) return false;
    size_t used;
    enum libdeflate_result result =
        libdeflate_deflate_decompress_ex(decompressor, packed, packed_size, out, size, &used, NULL);
    libdeflate_free_decompressor(decompressor);
    return result == LIBDEFLATE_SUCCESS && used == packed_size;
}

/* The entry of a record of the directory. */
static bool read_entry(const as_zip_directory *directory, const unsigned char *record, as_vec *out) {
    uint32_t flags = u16(record + 8), method = u16(record + 10);
    size_t packed_size = u32(record + 20), size = u32(record + 24), local = u32(record + 42);
    if ((flags & ENCRYPTED) || (method != STORED && method != DEFLATED) || local > directory->begin ||
        directory->begin - local < LOCAL_SIZE)
        return false;
    const unsigned char *header = directory->data + local;
    size_t start = local + LOCAL_SIZE + u16(header + 26) + u16(header + 28);
    if (memcmp(header, "PK\3\4", 4) != 0 || start > directory->begin || packed_size > directory->begin - start)
        return false;
    bool is_plausible = method == STORED ? size == packed_size : size / MAX_RATIO <= packed_size;
    if (!is_plausible || !as_vec_reserve(out, size + 1)) return false;
    const unsigned char *packed = directory->data + start;
    if (method == STORED)
        memcpy(out->data, packed, size);
    else if (!unpack(packed, packed_size, out->data, size))
        return false;
    if (libdeflate_crc32(0, out->data, size) != u32(record + 16)) return false;
    out->count = size;
    return true;
}

bool as_zip_direct(as_zip_directory *directory, const char *name, as_vec *out) {
    size_t name_size = strlen(name);
    while (directory->end - directory->at >= RECORD_SIZE) {
        const unsigned char *record = directory->data + directory->at;
        size_t length = u16(record + 28), whole = RECORD_SIZE + length + u16(record + 30) + u16(record + 32);
        if (memcmp(record, "PK\1\2", 4) != 0 || whole > directory->end - directory->at) break;
        directory->at += whole;
        if (length == name_size && memcmp(record + RECORD_SIZE, name, length) == 0)
            return read_entry(directory, record, out);
    }
    directory->at = directory->end;
    return false;
}
