/* Numbers of one type as another, the nearest limit where it cannot hold them. */
#ifndef AS_ANALYSIS_CONVERT_H
#define AS_ANALYSIS_CONVERT_H

#include "dataset/values.h"

/* What an integer type can hold. */
typedef struct as_integer_range {
    __int128 low, high;
} as_integer_range;
as_integer_range as_integer_range_of(as_dtype dtype);

/* Stores a number in an integer type; true where it had to be limited. */
bool as_integer_put(as_dtype dtype, __int128 number, void *out);

/* n plain values of type `from` as values of type `to`: integers to integers or doubles, doubles to doubles.
 * zero_below: counters that ran below zero are 0. Returns how many had to be limited. */
uint64_t as_values_convert(as_dtype from, const void *values, size_t n, bool zero_below, as_dtype to, void *out);

#endif
