/* Private to the writers of HPCToolkit databases: numbers as bytes, big-endian in the 2021 form and little-endian in
 * the released one. */
#ifndef AS_FORMATS_HPCTOOLKIT_WRITE_BYTES_H
#define AS_FORMATS_HPCTOOLKIT_WRITE_BYTES_H

#include "formats/hpctoolkit/write_plan.h"

/* The end of what was put; everybody sees to it that there is room. */
typedef struct as_hpc_bytes {
    unsigned char *at;
    bool big_endian;
} as_hpc_bytes;

static inline void as_hpc_put_u8(as_hpc_bytes *b, uint8_t value) { *b->at++ = value; }
static inline void as_hpc_put_u16(as_hpc_bytes *b, uint16_t value) {
    if (b->big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)) value = __builtin_bswap16(value);
    memcpy(b->at, &value, sizeof value);
    b->at += sizeof value;
}
static inline void as_hpc_put_u32(as_hpc_bytes *b, uint32_t value) {
    if (b->big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)) value = __builtin_bswap32(value);
    memcpy(b->at, &value, sizeof value);
    b->at += sizeof value;
}
static inline void as_hpc_put_u64(as_hpc_bytes *b, uint64_t value) {
    if (b->big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)) value = __builtin_bswap64(value);
    memcpy(b->at, &value, sizeof value);
    b->at += sizeof value;
}
static inline void as_hpc_put_f64(as_hpc_bytes *b, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    as_hpc_put_u64(b, bits);
}

/* The next multiple of 8. */
static inline uint64_t as_hpc_align(uint64_t offset) { return (offset + 7) & ~(uint64_t)7; }

/* Bytes of a block in profile.db, of so many values at so many contexts. The released form keeps both arrays
 * aligned. */
static inline uint64_t as_hpc_block_size(as_hpc_form form, uint64_t values, uint64_t contexts) {
    return form == AS_HPC_2021 ? 10 * values + 12 * (contexts + 1)
                               : as_hpc_align(10 * values) + as_hpc_align(12 * contexts);
}

enum { AS_HPC_FIRST_SECTION = 128 };                                    /* of the 2021 form */
enum { AS_HPC_END_CONTEXTS = 0x656E6421, AS_HPC_END_METRICS = 0x6564 }; /* "end!", "ed" */

/* How many values and contexts a thread profile has. */
typedef struct as_hpc_counts {
    uint64_t values;
    uint32_t contexts;
} as_hpc_counts;

/* cct.db; counts the values of each profile, and where the source has no statistics adds those of the rows to the
 * plan's. */
assay_status as_hpc_write_cct(as_hpc_plan *plan, as_output_directory *directory, as_hpc_counts *counts,
                              uint8_t *has_values);

#endif
