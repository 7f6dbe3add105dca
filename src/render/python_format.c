/* Python's format specifications. The rules are those of the Python documentation, "Format Specification
 * Mini-Language". */
#include "render/python_format.h"

#include <ctype.h>
#include <math.h>

#include "core/utf8.h"

/* Wide enough for any page, small enough that nobody is hurt. */
enum { MAX_WIDTH = 10000, MAX_PRECISION = 1000, DIGITS_SIZE = MAX_PRECISION + 400 };

/* ---- reading a specification ------------------------------------------------------------------------------------- */

static bool is_align(char c) { return c && strchr("<>^=", c); }

/* Digits at *at; false where the number is above the limit. */
static bool read_number(const char **at, const char *end, unsigned limit, unsigned *out) {
    unsigned value = 0;
    for (; *at < end && isdigit((unsigned char)**at); ++*at) {
        value = value * 10 + (unsigned)(**at - '0');
        if (value > limit) return false;
    }
    *out = value;
    return true;
}

static const char *read_fill_and_align(const char *at, const char *end, as_format_spec *out) {
    size_t n = as_utf8_length(at, (size_t)(end - at));
    if (n && at + n < end && is_align(at[n])) {
        memcpy(out->fill, at, n);
        out->fill_size = (unsigned)n;
        out->align = at[n];
        return at + n + 1;
    }
    if (at < end && is_align(*at)) out->align = *at++;
    return at;
}

/* Whether what stands at *at is c; steps over it. */
static bool take(const char **at, const char *end, char c) {
    bool is_there = *at < end && **at == c;
    *at += is_there;
    return is_there;
}

bool as_format_spec_parse(const char *text, size_t size, bool is_text, as_format_spec *out, const char **problem) {
    const char *at = text, *end = text + size;
    *out = (as_format_spec){.sign = '-', .precision = -1};
    at = read_fill_and_align(at, end, out);
    bool has_sign = at < end && strchr("+- ", *at);
    if (has_sign) out->sign = *at++;
    out->no_negative_zero = take(&at, end, 'z');
    out->alternate = take(&at, end, '#');
    if (!out->fill_size) {
        bool zeros = take(&at, end, '0');
        if (zeros && !out->align && !is_text) out->align = '=';
        out->fill[0] = zeros ? '0' : ' ';
        out->fill_size = 1;
    }
    unsigned precision = 0;
    *problem = "the width is too large";
    if (!read_number(&at, end, MAX_WIDTH, &out->width)) return false;
    if (take(&at, end, ','))
        out->grouping = ',';
    else if (take(&at, end, '_'))
        out->grouping = '_';
    if (take(&at, end, '.')) {
        *problem = "a number must follow the point";
        if (at == end || !isdigit((unsigned char)*at)) return false;
        *problem = "the precision is too large";
        if (!read_number(&at, end, MAX_PRECISION, &precision)) return false;
        out->precision = (int)precision;
    }
    if (at < end) out->type = *at++;
    *problem = is_text ? "it must be [[fill]align][width][.precision][s]"
                       : "it must be [[fill]align][sign][0][width][,][.precision][type] with a type of e E f F g G n %";
    if (at != end) return false;
    if (!is_text) return (!out->type || strchr("eEfFgGn%", out->type)) && !(out->grouping && out->type == 'n');
    return (!out->type || out->type == 's') && !has_sign && !out->no_negative_zero && !out->alternate &&
           !out->grouping && out->align != '=';
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* A number on its way to text: [sign] digits [rest], rest being all behind the digits before the point. */
typedef struct pieces {
    char text[DIGITS_SIZE];
    size_t n_digits, size; /* of text: digits before the point, and all */
    bool is_negative;
} pieces;

static void append(pieces *p, const char *text, size_t size) {
    memcpy(p->text + p->size, text, size);
    p->size += size;
}

/* "1.25e+01" -> "1.25", exponent 1. */
static int split_exponent(char *text, size_t *size) {
    char *e = memchr(text, 'e', *size);
    int exponent = 0;
    for (const char *at = e + 2; *at; at++) exponent = exponent * 10 + (*at - '0');
    *size = (size_t)(e - text);
    return e[1] == '-' ? -exponent : exponent;
}

static void append_exponent(pieces *p, int exponent) {
    char text[AS_NUMBER_SIZE];
    size_t n = as_int_format(exponent < 0 ? -exponent : exponent, text);
    append(p, exponent < 0 ? "e-" : "e+", 2);
    if (n < 2) append(p, "0", 1);
    append(p, text, n);
}

/* The general notation: `precision` digits in all, without trailing zeros; keep_fraction: at least one digit behind the
 * point. */
static void put_general(pieces *p, double magnitude, int precision, bool keep_zeros, bool keep_fraction) {
    char text[DIGITS_SIZE];
    if (precision == 0) precision = 1;
    size_t size = as_real_format_digits(magnitude, true, precision - 1, text, sizeof text);
    int exponent = split_exponent(text, &size);
    char digits[DIGITS_SIZE];
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '.') digits[n++] = text[i];
    }
    while (!keep_zeros && n > 1 && digits[n - 1] == '0') n--;
    if (exponent < -4 || exponent + 1 > precision - (keep_fraction ? 1 : 0)) {
        append(p, digits, 1);
        if (n > 1 || keep_zeros) append(p, ".", 1);
        append(p, digits + 1, n - 1);
        append_exponent(p, exponent);
        return;
    }
    size_t before = exponent < 0 ? 0 : (size_t)exponent + 1; /* digits before the point */
    append(p, before ? digits : "0", before ? (before < n ? before : n) : 1);
    for (size_t i = n; i < before; i++) append(p, "0", 1);
    bool has_fraction = n > before;
    if (has_fraction || keep_zeros || keep_fraction) append(p, ".", 1);
    for (int i = -1; i > exponent; i--) append(p, "0", 1);
    if (has_fraction)
        append(p, digits + before, n - before);
    else if (keep_fraction && !keep_zeros)
        append(p, "0", 1);
}

static void put_digits(pieces *p, double magnitude, const as_format_spec *spec) {
    char text[DIGITS_SIZE];
    char type = (char)tolower((unsigned char)spec->type);
    int precision = spec->precision < 0 ? 6 : spec->precision;
    if (!type && spec->precision < 0) {
        append(p, text, as_real_format_python(magnitude, text));
    } else if (!type || type == 'g' || type == 'n') {
        put_general(p, magnitude, precision, spec->alternate, !type);
    } else {
        append(p, text, as_real_format_digits(magnitude, type == 'e', precision, text, sizeof text));
        if (spec->alternate && precision == 0) { /* "1e+05" becomes "1.e+05" */
            char *rest = memchr(p->text, 'e', p->size);
            size_t at = rest ? (size_t)(rest - p->text) : p->size;
            memmove(p->text + at + 1, p->text + at, p->size - at);
            p->text[at] = '.';
            p->size++;
        }
    }
}

static bool is_all_zero(const pieces *p) {
    for (size_t i = 0; i < p->size && p->text[i] != 'e'; i++) {
        if (p->text[i] != '0' && p->text[i] != '.') return false;
    }
    return true;
}

/* The digits before the point in groups of three, led by zeros until they are `width` wide. */
static void add_grouped(as_text *out, const pieces *p, char separator, size_t width) {
    size_t n = p->n_digits;
    while (n + (n - 1) / 3 < width) n++;
    for (size_t i = n; i-- > 0;) {
        as_text_char(out, i < p->n_digits ? p->text[p->n_digits - 1 - i] : '0');
        if (i && i % 3 == 0) as_text_char(out, separator);
    }
}

static size_t grouped_size(const pieces *p, const as_format_spec *spec) {
    return p->n_digits + (spec->grouping && p->n_digits ? (p->n_digits - 1) / 3 : 0);
}

static void add_number(as_text *out, const pieces *p, const as_format_spec *spec) {
    char sign = p->is_negative ? '-' : spec->sign != '-' ? spec->sign : 0;
    size_t size = grouped_size(p, spec) + (p->size - p->n_digits) + (sign != 0);
    size_t padding = spec->width > size ? spec->width - size : 0;
    size_t before = spec->align == '<' || spec->align == '=' ? 0 : spec->align == '^' ? padding / 2 : padding;
    bool fills_zeros = spec->align == '=' && spec->fill[0] == '0' && spec->grouping && p->n_digits;
    as_text_fill(out, spec->fill, spec->fill_size, before);
    if (sign) as_text_char(out, sign);
    if (spec->align == '=' && !fills_zeros) as_text_fill(out, spec->fill, spec->fill_size, padding);
    if (spec->grouping && p->n_digits)
        add_grouped(out, p, spec->grouping, fills_zeros ? grouped_size(p, spec) + padding : 0);
    else
        as_text_write(out, p->text, p->n_digits);
    as_text_write(out, p->text + p->n_digits, p->size - p->n_digits);
    if (spec->align == '<' || spec->align == '^') as_text_fill(out, spec->fill, spec->fill_size, padding - before);
}

void as_format_real(as_text *out, double value, const as_format_spec *spec) {
    pieces p = {.is_negative = signbit(value) && !isnan(value)};
    if (spec->type == '%') value *= 100;
    if (isfinite(value)) {
        put_digits(&p, fabs(value), spec);
        while (p.n_digits < p.size && isdigit((unsigned char)p.text[p.n_digits])) p.n_digits++;
        if (spec->no_negative_zero && is_all_zero(&p)) p.is_negative = false;
    } else {
        append(&p, isnan(value) ? "nan" : "inf", 3);
    }
    if (isupper((unsigned char)spec->type)) {
        for (size_t i = 0; i < p.size; i++) p.text[i] = (char)toupper((unsigned char)p.text[i]);
    }
    if (spec->type == '%') append(&p, "%", 1);
    add_number(out, &p, spec);
}

void as_format_whole(as_text *out, double value, const as_format_spec *spec) {
    bool as_integer = (!spec->type || spec->type == 'n') && spec->precision < 0;
    if (!as_integer) {
        as_format_real(out, value, spec);
        return;
    }
    pieces p = {.is_negative = value < 0};
    p.size = p.n_digits = as_real_format_digits(fabs(value), false, 0, p.text, sizeof p.text);
    add_number(out, &p, spec);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

void as_format_text(as_text *out, const char *text, size_t size, const as_format_spec *spec) {
    size_t n = 0, at = 0;
    for (; at < size && (spec->precision < 0 || n < (size_t)spec->precision); n++) {
        size_t length = as_utf8_length(text + at, size - at);
        at += length ? length : 1;
    }
    size_t padding = spec->width > n ? spec->width - n : 0;
    size_t before = spec->align == '>' ? padding : spec->align == '^' ? padding / 2 : 0;
    as_text_fill(out, spec->fill, spec->fill_size, before);
    as_text_write(out, text, at);
    as_text_fill(out, spec->fill, spec->fill_size, padding - before);
}
