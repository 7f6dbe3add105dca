#include "io/bytes.h"

#include <string.h>

const char *as_bytes_take(as_bytes *bytes, size_t size) {
    if (bytes->failed || size > bytes->size - bytes->at) {
        bytes->failed = true;
        return NULL;
    }
    const char *result = (const char *)bytes->data + bytes->at;
    bytes->at += size;
    return result;
}

/* An unsigned integer of n bytes: shifts, so that neither alignment nor the machine's byte order matters. */
static uint64_t take_integer(as_bytes *bytes, size_t n) {
    const unsigned char *p = (const unsigned char *)as_bytes_take(bytes, n);
    uint64_t value = 0;
    if (!p) return 0;
    for (size_t i = 0; i < n; i++) value = value << 8 | p[bytes->big_endian ? i : n - 1 - i];
    return value;
}

uint16_t as_bytes_u16(as_bytes *bytes) { return (uint16_t)take_integer(bytes, 2); }
uint32_t as_bytes_u32(as_bytes *bytes) { return (uint32_t)take_integer(bytes, 4); }
uint64_t as_bytes_u64(as_bytes *bytes) { return take_integer(bytes, 8); }
int64_t as_bytes_i64(as_bytes *bytes) { return (int64_t)take_integer(bytes, 8); }

double as_bytes_f64(as_bytes *bytes) {
    uint64_t bits = take_integer(bytes, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
