/* The types values have. A value is one number, or, in a composite type, several parts, each a number with its own
 * arithmetic. */
#ifndef AS_DATASET_VALUES_H
#define AS_DATASET_VALUES_H

#include "core/memory.h"
#include "core/number.h"

typedef enum as_dtype {
    AS_DTYPE_INT64,
    AS_DTYPE_UINT64,
    AS_DTYPE_DOUBLE,
    AS_DTYPE_INT8,
    AS_DTYPE_UINT8,
    AS_DTYPE_INT16,
    AS_DTYPE_UINT16,
    AS_DTYPE_INT32,
    AS_DTYPE_UINT32,
    AS_DTYPE_MINDOUBLE,  /* a double whose sum is the minimum */
    AS_DTYPE_MAXDOUBLE,  /* a double whose sum is the maximum */
    AS_DTYPE_COMPLEX,    /* real, imaginary part; shown as its modulus */
    AS_DTYPE_RATE,       /* value, duration; shown as their quotient */
    AS_DTYPE_TAU_ATOMIC, /* n (4 bytes), minimum, maximum, sum, sum of squares; shown as the mean */
    AS_DTYPE_NDOUBLES,   /* n doubles; shown as their sum */
    AS_DTYPE_HISTOGRAM,  /* minimum, maximum, n bins; shown as the sum of the bins */
    AS_DTYPE_OPAQUE      /* bytes that are only kept; a part is a byte, and there are no sums */
} as_dtype;

/* What one value takes. */
typedef struct as_value_type {
    as_dtype dtype;
    uint32_t n_parts; /* 1 for plain numbers */
    uint32_t size;    /* bytes */
} as_value_type;

/* How a part of two values becomes one. */
typedef enum as_part_rule { AS_PART_ADD, AS_PART_MINIMUM, AS_PART_MAXIMUM } as_part_rule;

/* n: numbers of NDOUBLES, bins of HISTOGRAM, bytes of OPAQUE; ignored otherwise. */
as_value_type as_value_type_of(as_dtype dtype, uint32_t n);
/* From Cube's words, "UNSIGNED INT", "FLOAT" (8 bytes as well), "NDOUBLES(3)", in any case. SCALE_FUNC is not among
 * them: its size depends on the file. False for anything else, and where one value would have more than AS_MAX_PARTS
 * parts. */
bool as_value_type_parse(const char *text, size_t size, as_value_type *out);
enum { AS_MAX_PARTS = 1 << 16 };
/* "INT64", "DOUBLE", "NDOUBLES": without the number of parts. */
const char *as_dtype_name(as_dtype dtype);

static inline bool as_dtype_is_unsigned(as_dtype dtype) {
    return dtype == AS_DTYPE_UINT64 || dtype == AS_DTYPE_UINT8 || dtype == AS_DTYPE_UINT16 || dtype == AS_DTYPE_UINT32;
}
static inline bool as_dtype_is_integer(as_dtype dtype) {
    return dtype == AS_DTYPE_INT64 || dtype == AS_DTYPE_INT8 || dtype == AS_DTYPE_INT16 || dtype == AS_DTYPE_INT32 ||
           as_dtype_is_unsigned(dtype);
}
/* Whose sum is a minimum or maximum. */
static inline bool as_dtype_is_extreme(as_dtype dtype) {
    return dtype == AS_DTYPE_MINDOUBLE || dtype == AS_DTYPE_MAXDOUBLE;
}
static inline bool as_dtype_is_composite(as_dtype dtype) { return dtype >= AS_DTYPE_COMPLEX; }

as_part_rule as_part_rule_of(as_dtype dtype, uint32_t part);
/* Two numbers of a part as one. With NaN it is NaN, in either order. */
static inline double as_part_combine(as_part_rule rule, double a, double b) {
    if (rule == AS_PART_ADD) return a + b;
    return b != b || (rule == AS_PART_MINIMUM ? b < a : b > a) ? b : a;
}
/* n values that change no sum, for places that have none: zeros, and infinities where the sum is a minimum or
 * maximum. */
void as_values_clear(as_value_type type, void *values, size_t n);
/* One part of a value that may lie at any address. */
as_number as_part_get(as_value_type type, const void *value, uint32_t part);
static inline double as_part_real(as_value_type type, const void *value, uint32_t part) {
    return as_number_real(as_part_get(type, value, part));
}
/* The one number that people see for a composite value of these parts; NAN where there is none (0 / 0). */
double as_parts_shown(as_dtype dtype, const double *parts, uint32_t n_parts);
/* "[1,2.5]" of n numbers behind what text (a vector of char) holds; NaN and infinities are strings. False when memory
 * is out. */
bool as_parts_text(const double *parts, uint32_t n_parts, as_vec *text);
/* The same of a composite value; integers stay integers. */
bool as_value_text(as_value_type type, const void *value, as_vec *text);

/* One part of n values that follow each other, as numbers of 8 bytes: uint64_t of UINT64, int64_t of the other
 * integers, else double. */
void as_values_widen(as_value_type type, const void *values, size_t n, uint32_t part, void *out);

/* The sum of n numbers, in an order that is always the same but lets none wait for the one before. */
double as_reals_sum(const double *values, size_t n);

/* A UINT64 above this is a counter that ran below zero: sums take it as 0. */
#define AS_COUNTER_LIMIT 0xFFFFFFFFFFFFFBFFull

#endif
