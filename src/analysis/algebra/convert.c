#include "analysis/algebra/convert.h"

enum { CHUNK = 512 };

as_integer_range as_integer_range_of(as_dtype dtype) {
    switch (dtype) {
    case AS_DTYPE_INT8: return (as_integer_range){INT8_MIN, INT8_MAX};
    case AS_DTYPE_UINT8: return (as_integer_range){0, UINT8_MAX};
    case AS_DTYPE_INT16: return (as_integer_range){INT16_MIN, INT16_MAX};
    case AS_DTYPE_UINT16: return (as_integer_range){0, UINT16_MAX};
    case AS_DTYPE_INT32: return (as_integer_range){INT32_MIN, INT32_MAX};
    case AS_DTYPE_UINT32: return (as_integer_range){0, UINT32_MAX};
    case AS_DTYPE_UINT64: return (as_integer_range){0, AS_COUNTER_LIMIT}; /* what is above it would be read as 0 */
    default: return (as_integer_range){INT64_MIN, INT64_MAX};
    }
}

bool as_integer_put(as_dtype dtype, __int128 number, void *out) {
    as_integer_range range = as_integer_range_of(dtype);
    bool limited = number < range.low || number > range.high;
    /* Two's complement: the low bits are the same number in every width that holds it. */
    uint64_t bits = (uint64_t)(number < range.low ? range.low : number > range.high ? range.high : number);
    switch (as_value_type_of(dtype, 0).size) {
    case 1: memcpy(out, &(uint8_t){(uint8_t)bits}, 1); break;
    case 2: memcpy(out, &(uint16_t){(uint16_t)bits}, 2); break;
    case 4: memcpy(out, &(uint32_t){(uint32_t)bits}, 4); break;
    default: memcpy(out, &bits, 8); break;
    }
    return limited;
}

/* A number that as_values_widen() made, read as what it was. */
static __int128 whole_of(as_dtype from, uint64_t bits, bool zero_below) {
    if (from != AS_DTYPE_UINT64) return (int64_t)bits;
    return zero_below && bits > AS_COUNTER_LIMIT ? 0 : (__int128)bits;
}

/* At most CHUNK of them. */
static uint64_t convert_integers(as_dtype from, const char *values, size_t n, bool zero_below, as_dtype to, char *out) {
    uint64_t wide[CHUNK], n_limited = 0;
    size_t size = as_value_type_of(to, 0).size;
    as_values_widen(as_value_type_of(from, 0), values, n, 0, wide);
    if (!as_dtype_is_integer(to)) {
        for (size_t i = 0; i < n; i++) {
            double real = from == AS_DTYPE_UINT64 ? (double)wide[i] : (double)(int64_t)wide[i];
            if (zero_below && from == AS_DTYPE_UINT64 && wide[i] > AS_COUNTER_LIMIT) real = 0;
            memcpy(out + i * 8, &real, 8);
        }
        return 0;
    }
    for (size_t i = 0; i < n; i++) n_limited += as_integer_put(to, whole_of(from, wide[i], zero_below), out + i * size);
    return n_limited;
}

uint64_t as_values_convert(as_dtype from, const void *values, size_t n, bool zero_below, as_dtype to, void *out) {
    size_t from_size = as_value_type_of(from, 0).size, to_size = as_value_type_of(to, 0).size;
    if (!as_dtype_is_integer(from)) { /* doubles all of them, whatever their sums are */
        memcpy(out, values, n * 8);
        return 0;
    }
    uint64_t n_limited = 0;
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t count = n - i < CHUNK ? n - i : CHUNK;
        n_limited += convert_integers(from, (const char *)values + i * from_size, count, zero_below, to,
                                      (char *)out + i * to_size);
    }
    return n_limited;
}
