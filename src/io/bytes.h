/* A bounded reader of binary data in either byte order. Reading past the end sets `failed`, gives zeros and moves no
 * further: check once behind a group of reads. */
#ifndef AS_IO_BYTES_H
#define AS_IO_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct as_bytes {
    const unsigned char *data;
    size_t size, at;
    bool big_endian, failed;
} as_bytes;

static inline as_bytes as_bytes_of(const void *data, size_t size) { return (as_bytes){.data = data, .size = size}; }

uint16_t as_bytes_u16(as_bytes *bytes);
uint32_t as_bytes_u32(as_bytes *bytes);
uint64_t as_bytes_u64(as_bytes *bytes);
int64_t as_bytes_i64(as_bytes *bytes);
double as_bytes_f64(as_bytes *bytes);
/* size bytes in place; NULL (and failed) if there are fewer. */
const char *as_bytes_take(as_bytes *bytes, size_t size);

#endif
