/* The C++ standard library's <charconv> behind a C interface: the fastest exact conversions there are, and
 * locale-free. */
#include "core/number.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace {

bool equals_word(const char *text, size_t size, const char *word) {
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c != word[i]) return false;
    }
    return word[size] == '\0';
}

bool is_word(const char *text, size_t size, double &out) {
    if (size == 3 && equals_word(text, size, "nan"))
        out = std::numeric_limits<double>::quiet_NaN();
    else if ((size == 3 && equals_word(text, size, "inf")) || (size == 8 && equals_word(text, size, "infinity")))
        out = std::numeric_limits<double>::infinity();
    else
        return false;
    return true;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A real without sign. from_chars does not say whether an out-of-range number was too large or too small: the exponent
 * does. */
bool parse_unsigned_real(const char *text, size_t size, double &out) {
    if (is_word(text, size, out)) return true;
    if (!is_digit(text[0]) && !(text[0] == '.' && size > 1 && is_digit(text[1]))) return false;
    auto [end, code] = std::from_chars(text, text + size, out, std::chars_format::general);
    if (end != text + size || code == std::errc::invalid_argument) return false;
    if (code == std::errc::result_out_of_range) {
        long scale = 0; /* decimal exponent of the first digit that is not zero */
        bool seen = false, fraction = false;
        size_t i = 0;
        for (; i < size && text[i] != 'e' && text[i] != 'E'; i++) {
            if (text[i] == '.')
                fraction = true;
            else if (text[i] != '0' || seen) {
                if (!fraction) scale++;
                seen = true;
            } else if (fraction)
                scale--;
        }
        long exponent = 0;
        if (i < size) {
            bool negative = text[i + 1] == '-';
            for (i += 1 + (text[i + 1] == '-' || text[i + 1] == '+'); i < size && exponent < 100000000; i++)
                exponent = exponent * 10 + (text[i] - '0');
            if (negative) exponent = -exponent;
        }
        out = scale + exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
    }
    return true;
}

/* Whether a hexadecimal number whose range from_chars() does not have is too large rather than too small. */
bool is_huge_hex(const char *text, size_t size) {
    long scale = 0, exponent = 0; /* in bits, of the first digit that is not zero */
    bool seen = false, fraction = false;
    size_t i = 0;
    for (; i < size && text[i] != 'p' && text[i] != 'P'; i++) {
        if (text[i] == '.')
            fraction = true;
        else if (text[i] != '0' || seen) {
            if (!fraction) scale += 4;
            seen = true;
        } else if (fraction)
            scale -= 4;
    }
    if (i < size) {
        bool negative = text[i + 1] == '-';
        for (i += 1 + (text[i + 1] == '-' || text[i + 1] == '+'); i < size && exponent < 100000000000; i++)
            exponent = exponent * 10 + (text[i] - '0');
        if (negative) exponent = -exponent;
    }
    return scale + exponent > 0;
}

} // namespace

extern "C" bool as_hex_real_parse(const char *text, size_t size, double *out) {
    if (!size || text[0] == '-') return false;
    if (text[0] == 'i' || text[0] == 'I' || text[0] == 'n' || text[0] == 'N') return false;
    auto [end, code] = std::from_chars(text, text + size, *out, std::chars_format::hex);
    if (end != text + size || code == std::errc::invalid_argument) return false;
    if (code == std::errc::result_out_of_range)
        *out = is_huge_hex(text, size) ? std::numeric_limits<double>::infinity() : 0.0;
    return true;
}

extern "C" bool as_number_parse(const char *text, size_t size, as_number *out) {
    bool negative = size && text[0] == '-';
    if (size && (text[0] == '-' || text[0] == '+')) text++, size--;
    if (!size) return false;
    uint64_t magnitude = 0;
    size_t i = 0;
    while (i < size && i < 19 && is_digit(text[i])) magnitude = magnitude * 10 + static_cast<uint64_t>(text[i++] - '0');
    if (i == 19 && size == 20 && is_digit(text[19])) { /* may just fit 64 bits */
        uint64_t digit = static_cast<uint64_t>(text[19] - '0');
        if (!__builtin_mul_overflow(magnitude, uint64_t{10}, &magnitude) &&
            !__builtin_add_overflow(magnitude, digit, &magnitude))
            i = 20;
    }
    if (i == size && (magnitude || !negative)) { /* "-0" stays a real: an integer has no negative zero */
        if (magnitude <= static_cast<uint64_t>(INT64_MAX)) {
            out->kind = AS_INT;
            out->i = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
            return true;
        }
        if (negative && magnitude == static_cast<uint64_t>(INT64_MAX) + 1) {
            out->kind = AS_INT;
            out->i = INT64_MIN;
            return true;
        }
        if (!negative) {
            out->kind = AS_UINT;
            out->u = magnitude;
            return true;
        }
    }
    double real;
    if (!parse_unsigned_real(text, size, real)) return false;
    out->kind = AS_REAL;
    out->r = negative ? -real : real;
    return true;
}

extern "C" double as_number_real(as_number number) {
    return number.kind == AS_INT    ? static_cast<double>(number.i)
           : number.kind == AS_UINT ? static_cast<double>(number.u)
                                    : number.r;
}

extern "C" bool as_real_parse(const char *text, size_t size, double *out) {
    as_number number;
    if (!as_number_parse(text, size, &number)) return false;
    *out = as_number_real(number);
    return true;
}

static size_t finish(char *buffer, const char *end) {
    buffer[end - buffer] = '\0';
    return static_cast<size_t>(end - buffer);
}

extern "C" size_t as_real_format(double value, char buffer[AS_NUMBER_SIZE]) {
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN(); /* no sign */
    return finish(buffer, std::to_chars(buffer, buffer + AS_NUMBER_SIZE - 1, value).ptr);
}

extern "C" size_t as_real_format_plain(double value, char buffer[AS_PLAIN_NUMBER_SIZE]) {
    char *end = buffer + AS_PLAIN_NUMBER_SIZE - 1;
    return finish(buffer, std::to_chars(buffer, end, value, std::chars_format::fixed).ptr);
}

/* Python has fixed notation from 1e-4 on and below 1e16, and a fraction always. */
extern "C" size_t as_real_format_python(double value, char buffer[AS_NUMBER_SIZE]) {
    if (!std::isfinite(value)) return as_real_format(value, buffer);
    double magnitude = std::fabs(value);
    bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16);
    char *end = std::to_chars(buffer, buffer + AS_NUMBER_SIZE - 3, value,
                              scientific ? std::chars_format::scientific : std::chars_format::fixed)
                    .ptr;
    bool whole = !scientific;
    for (const char *at = buffer; at < end && whole; at++) whole = *at != '.';
    if (whole) *end++ = '.', *end++ = '0';
    return finish(buffer, end);
}

extern "C" size_t as_real_format_digits(double value, bool scientific, int precision, char *buffer, size_t size) {
    if (!size) return 0;
    auto [end, code] = std::to_chars(buffer, buffer + size - 1, value,
                                     scientific ? std::chars_format::scientific : std::chars_format::fixed, precision);
    return code == std::errc() ? finish(buffer, end) : 0;
}

extern "C" double as_real_round(double value, int digits) {
    char text[512];
    double rounded = value;
    size_t size = std::isfinite(value) ? as_real_format_digits(value, true, digits - 1, text, sizeof text) : 0;
    return size && as_real_parse(text, size, &rounded) ? rounded : value;
}

extern "C" int as_real_compare(const void *a, const void *b) {
    double x = *static_cast<const double *>(a), y = *static_cast<const double *>(b);
    return (x > y) - (x < y);
}

extern "C" size_t as_int_format(int64_t value, char buffer[AS_NUMBER_SIZE]) {
    return finish(buffer, std::to_chars(buffer, buffer + AS_NUMBER_SIZE - 1, value).ptr);
}

extern "C" size_t as_uint_format(uint64_t value, char buffer[AS_NUMBER_SIZE]) {
    return finish(buffer, std::to_chars(buffer, buffer + AS_NUMBER_SIZE - 1, value).ptr);
}

extern "C" size_t as_hex_format(uint64_t value, char buffer[AS_NUMBER_SIZE]) {
    buffer[0] = '0';
    buffer[1] = 'x';
    return finish(buffer, std::to_chars(buffer + 2, buffer + AS_NUMBER_SIZE - 1, value, 16).ptr);
}

extern "C" size_t as_number_format(as_number number, char buffer[AS_NUMBER_SIZE]) {
    return number.kind == AS_INT    ? as_int_format(number.i, buffer)
           : number.kind == AS_UINT ? as_uint_format(number.u, buffer)
                                    : as_real_format(number.r, buffer);
}

extern "C" size_t as_whole_format(as_whole value, char buffer[AS_WHOLE_SIZE]) {
    __extension__ typedef unsigned __int128 magnitude_type;
    magnitude_type rest = value < 0 ? -(magnitude_type)value : (magnitude_type)value;
    char digits[AS_WHOLE_SIZE];
    size_t n = 0, size = 0;
    do digits[n++] = (char)('0' + (int)(rest % 10));
    while (rest /= 10);
    if (value < 0) buffer[size++] = '-';
    while (n) buffer[size++] = digits[--n];
    buffer[size] = '\0';
    return size;
}

extern "C" as_number as_whole_number(as_whole value) {
    as_number number = {};
    number.kind = AS_REAL;
    number.r = (double)value;
    if (value >= INT64_MIN && value <= INT64_MAX) {
        number.kind = AS_INT;
        number.i = (int64_t)value;
    } else if (value > 0 && value <= UINT64_MAX) {
        number.kind = AS_UINT;
        number.u = (uint64_t)value;
    }
    return number;
}
