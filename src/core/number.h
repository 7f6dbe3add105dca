/* Numbers as text and back: exact in both directions, never dependent on the locale. */
#ifndef AS_CORE_NUMBER_H
#define AS_CORE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number as it was written: integers that fit stay integers. */
typedef enum as_number_kind { AS_INT, AS_UINT, AS_REAL } as_number_kind; /* AS_UINT: only above INT64_MAX */
typedef struct as_number {
    as_number_kind kind;
    union {
        int64_t i;
        uint64_t u;
        double r;
    };
} as_number;

/* Reads the whole of text as a number: [+-] digits, decimal point, exponent, or (any case) nan, inf, infinity. Digits
 * on at least one side of the point. No blanks, no hexadecimal, no underscores. Integers beyond 64 bits and values
 * beyond double become reals (too large: infinity, as IEEE rounding has it). False if text is anything else. */
bool as_number_parse(const char *text, size_t size, as_number *out);
/* The same as a double. */
bool as_real_parse(const char *text, size_t size, double *out);
/* Hexadecimal digits, point and binary exponent without sign and 0x, as C writes them: "1p-3", "f.8". */
bool as_hex_real_parse(const char *text, size_t size, double *out);
double as_number_real(as_number number);

enum { AS_NUMBER_SIZE = 32 };
/* Shortest text that reads back as the same double: "20", "0.1", "1e+30", "nan", "inf", "-inf". NUL-terminated; returns
 * its length. */
size_t as_real_format(double value, char buffer[AS_NUMBER_SIZE]);
/* The same without an exponent, for readers that know none: "0.00001", "1000000000000000000000000000000". value must be
 * finite. */
enum { AS_PLAIN_NUMBER_SIZE = 352 };
size_t as_real_format_plain(double value, char buffer[AS_PLAIN_NUMBER_SIZE]);
/* The same digits as Python writes a float: "20.0", "0.1", "100000.0", "1e-05", "1e+16", "nan", "-inf". */
size_t as_real_format_python(double value, char buffer[AS_NUMBER_SIZE]);
/* `precision` digits behind the point, the last one rounded exactly (half to even): "12.50", or scientific: "1.25e+01".
 * value must be finite. NUL-terminated; returns its length, 0 where it does not fit. */
size_t as_real_format_digits(double value, bool scientific, int precision, char *buffer, size_t size);
/* The nearest number with so many significant digits, for people to read; NaN and infinities stay. */
double as_real_round(double value, int digits);
/* The order of two doubles, for qsort(); what is not ordered (NaN) counts as equal. */
int as_real_compare(const void *a, const void *b);
/* Doubles as integers of the same order (-0 before 0), and back. */
static inline uint64_t as_real_key(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}
static inline double as_key_real(uint64_t key) {
    uint64_t bits = key >> 63 ? key & ~(1ull << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
size_t as_int_format(int64_t value, char buffer[AS_NUMBER_SIZE]);
size_t as_uint_format(uint64_t value, char buffer[AS_NUMBER_SIZE]);
/* 0x1f: lower-case, without leading zeros. */
size_t as_hex_format(uint64_t value, char buffer[AS_NUMBER_SIZE]);
size_t as_number_format(as_number number, char buffer[AS_NUMBER_SIZE]);

/* Sums of 64-bit integers. */
__extension__ typedef __int128 as_whole;
enum { AS_WHOLE_SIZE = 48 };
size_t as_whole_format(as_whole value, char buffer[AS_WHOLE_SIZE]);
/* A real where 64 bits do not hold it. */
as_number as_whole_number(as_whole value);

#ifdef __cplusplus
}
#endif
#endif
