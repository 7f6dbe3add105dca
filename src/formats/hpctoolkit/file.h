/* Numbers in the mapped files of a database: at any address, in either byte order.
 *
 * Loads are not checked: as_hpc_fits() has to say that the bytes are there first. */
#ifndef AS_FORMATS_HPCTOOLKIT_FILE_H
#define AS_FORMATS_HPCTOOLKIT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct as_hpc_file {
    const char *path;
    const unsigned char *data;
    uint64_t size;
    bool swap; /* its byte order is not that of this machine */
} as_hpc_file;

static inline bool as_hpc_machine_is_big(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

/* Whether n elements of so many bytes lie in the file from `at` on. */
static inline bool as_hpc_fits(const as_hpc_file *file, uint64_t at, uint64_t n, uint64_t size) {
    uint64_t bytes;
    return !__builtin_mul_overflow(n, size, &bytes) && at <= file->size && bytes <= file->size - at;
}

static inline uint16_t as_hpc_load_u16(const unsigned char *at, bool swap) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return swap ? __builtin_bswap16(value) : value;
}
static inline uint32_t as_hpc_load_u32(const unsigned char *at, bool swap) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return swap ? __builtin_bswap32(value) : value;
}
static inline uint64_t as_hpc_load_u64(const unsigned char *at, bool swap) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return swap ? __builtin_bswap64(value) : value;
}
static inline double as_hpc_load_f64(const unsigned char *at, bool swap) {
    uint64_t bits = as_hpc_load_u64(at, swap);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint16_t as_hpc_u16(const as_hpc_file *file, uint64_t at) {
    return as_hpc_load_u16(file->data + at, file->swap);
}
static inline uint32_t as_hpc_u32(const as_hpc_file *file, uint64_t at) {
    return as_hpc_load_u32(file->data + at, file->swap);
}
static inline uint64_t as_hpc_u64(const as_hpc_file *file, uint64_t at) {
    return as_hpc_load_u64(file->data + at, file->swap);
}

#endif
