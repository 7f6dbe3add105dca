/* Exponents, terms, and the lists of them that are searched. */
#include "analysis/scaling/terms.h"

#include <math.h>
#include <stdlib.h>

/* ---- exponents --------------------------------------------------------------------------------------------------- */

static int64_t greatest_divisor(int64_t a, int64_t b) {
    a = llabs(a);
    b = llabs(b);
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a ? a : 1;
}

as_exponent as_exponent_fraction(int64_t numerator, int64_t denominator) {
    if (denominator < 0) {
        numerator = -numerator;
        denominator = -denominator;
    }
    int64_t divisor = greatest_divisor(numerator, denominator);
    numerator /= divisor;
    denominator /= divisor;
    double value = (double)numerator / (double)denominator;
    if (denominator > INT32_MAX || llabs(numerator) > INT32_MAX) return as_exponent_real(value);
    return (as_exponent){(int32_t)numerator, (int32_t)denominator, value};
}

as_exponent as_exponent_real(double value) { return (as_exponent){.value = value}; }

static bool parse_whole(const char *text, size_t size, int64_t *out) {
    as_number number;
    if (!as_number_parse(text, size, &number) || number.kind != AS_INT || llabs(number.i) > INT32_MAX) return false;
    *out = number.i;
    return true;
}

static bool parse_exponent(const char *text, size_t size, as_exponent *out) {
    const char *slash = memchr(text, '/', size);
    int64_t numerator, denominator = 1;
    if (slash) {
        size_t before = (size_t)(slash - text);
        if (!parse_whole(text, before, &numerator) || !parse_whole(slash + 1, size - before - 1, &denominator) ||
            denominator == 0) {
            return false;
        }
        *out = as_exponent_fraction(numerator, denominator);
        return true;
    }
    if (parse_whole(text, size, &numerator)) {
        *out = as_exponent_fraction(numerator, 1);
        return true;
    }
    double value;
    if (!as_real_parse(text, size, &value) || !isfinite(value)) return false;
    *out = as_exponent_real(value);
    return true;
}

bool as_exponent_parse(const char *text, as_exponent *out) { return parse_exponent(text, strlen(text), out); }

void as_exponent_text(as_exponent exponent, char out[AS_NUMBER_SIZE]) {
    if (exponent.denominator == 0) {
        size_t n = as_real_format(exponent.value, out);
        if (strspn(out, "-0123456789") == n) memcpy(out + n, ".0", 3); /* a real shows that it is one */
        return;
    }
    size_t n = as_int_format(exponent.numerator, out);
    if (exponent.denominator == 1) return;
    out[n++] = '/';
    as_int_format(exponent.denominator, out + n);
}

as_exponent as_exponent_mediant(as_exponent a, as_exponent b) {
    return as_exponent_fraction((int64_t)a.numerator + b.numerator, (int64_t)a.denominator + b.denominator);
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

double as_power_value(const as_power *power, double x) {
    double value = 1;
    if (power->power.value != 0) value *= pow(x, power->power.value);
    if (power->log.value != 0) value *= pow(log2(x), power->log.value);
    return value;
}

int as_power_compare(const as_power *a, const as_power *b) {
    if (a->power.value != b->power.value) return a->power.value < b->power.value ? -1 : 1;
    return (a->log.value > b->log.value) - (a->log.value < b->log.value);
}

/* ---- the search space -------------------------------------------------------------------------------------------- */

typedef struct listed_term {
    int8_t numerator, denominator, log;
} listed_term;

static const listed_term with_logarithms[] = {
    {0, 1, 1}, {0, 1, 2}, {1, 4, 0}, {1, 3, 0},  {1, 4, 1}, {1, 3, 1}, {1, 4, 2}, {1, 3, 2}, {1, 2, 0},
    {1, 2, 1}, {1, 2, 2}, {2, 3, 0}, {3, 4, 0},  {2, 3, 1}, {3, 4, 1}, {4, 5, 0}, {2, 3, 2}, {3, 4, 2},
    {1, 1, 0}, {1, 1, 1}, {1, 1, 2}, {5, 4, 0},  {5, 4, 1}, {4, 3, 0}, {4, 3, 1}, {3, 2, 0}, {3, 2, 1},
    {3, 2, 2}, {5, 3, 0}, {7, 4, 0}, {2, 1, 0},  {2, 1, 1}, {2, 1, 2}, {9, 4, 0}, {7, 3, 0}, {5, 2, 0},
    {5, 2, 1}, {5, 2, 2}, {8, 3, 0}, {11, 4, 0}, {3, 1, 0}, {3, 1, 1},
};
static const listed_term powers[] = {
    {1, 4, 0}, {1, 3, 0}, {1, 2, 0}, {2, 3, 0}, {3, 4, 0}, {4, 5, 0}, {1, 1, 0}, {5, 4, 0},  {4, 3, 0}, {3, 2, 0},
    {5, 3, 0}, {7, 4, 0}, {2, 1, 0}, {9, 4, 0}, {7, 3, 0}, {5, 2, 0}, {8, 3, 0}, {11, 4, 0}, {3, 1, 0},
};
static const listed_term negative_logarithms[] = {
    {0, 1, -1},  {0, 1, -2},  {-1, 4, -1}, {-1, 3, -1}, {-1, 4, -2}, {-1, 3, -2}, {-1, 2, -1}, {-1, 2, -2},
    {-2, 3, -1}, {-3, 4, -1}, {-2, 3, -2}, {-3, 4, -2}, {-1, 1, -1}, {-1, 1, -2}, {-5, 4, -1}, {-4, 3, -1},
    {-3, 2, -1}, {-3, 2, -2}, {-2, 1, -1}, {-2, 1, -2}, {-5, 2, -1}, {-5, 2, -2}, {-3, 1, -1},
};

static bool add_power(as_vec *list, as_exponent power, as_exponent log) {
    as_power *added = as_vec_push(list);
    if (!added) return false;
    *added = (as_power){power, log};
    return true;
}

#define ADD_TABLE(list, table, sign) add_table(list, table, sizeof(table) / sizeof *(table), sign)

static bool add_table(as_vec *list, const listed_term *table, size_t n, int sign) {
    for (size_t i = 0; i < n; i++) {
        if (!add_power(list, as_exponent_fraction(sign * table[i].numerator, table[i].denominator),
                       as_exponent_fraction(table[i].log, 1)))
            return false;
    }
    return true;
}

static bool add_default_list(as_vec *list, bool allow_log, bool allow_negative) {
    bool fine = allow_log ? ADD_TABLE(list, with_logarithms, 1) : ADD_TABLE(list, powers, 1);
    if (fine && allow_negative && allow_log) fine = ADD_TABLE(list, negative_logarithms, 1);
    if (fine && allow_negative) fine = ADD_TABLE(list, powers, -1);
    return fine;
}

bool as_exponents_parse(const char *text, as_vec *list, const char **wrong, size_t *wrong_size) {
    if (wrong) *wrong = NULL;
    while (*text) {
        size_t size = strcspn(text, ",");
        const char *from = text, *end = text + size;
        while (from < end && *from == ' ') from++;
        while (end > from && end[-1] == ' ') end--;
        as_exponent exponent;
        if (parse_exponent(from, (size_t)(end - from), &exponent)) {
            as_exponent *added = as_vec_push(list);
            if (!added) return false;
            *added = exponent;
        } else if (wrong && !*wrong && from < end) {
            *wrong = from;
            *wrong_size = (size_t)(end - from);
        }
        text += size + (text[size] == ',');
    }
    return true;
}

/* All pairs of the two lists but (0, 0). */
static bool add_pairs(as_vec *list, const as_exponent *first, size_t n_first, const as_exponent *second,
                      size_t n_second) {
    for (size_t i = 0; i < n_first; i++) {
        for (size_t k = 0; k < n_second; k++) {
            if (first[i].value == 0 && second[k].value == 0) continue;
            if (!add_power(list, first[i], second[k])) return false;
        }
    }
    return true;
}

bool as_power_list(as_vec *list, bool allow_log, bool allow_negative, const char *poly_exponents,
                   const char *log_exponents, bool retain_default, bool force_combination) {
    as_exponent zero = as_exponent_fraction(0, 1);
    as_vec poly, log;
    as_vec_init(&poly, sizeof(as_exponent), NULL);
    as_vec_init(&log, sizeof(as_exponent), NULL);
    bool fine =
        as_exponents_parse(poly_exponents, &poly, NULL, NULL) && as_exponents_parse(log_exponents, &log, NULL, NULL);
    bool is_default = poly.count == 0 && log.count == 0;
    if (fine && !is_default && !force_combination) {
        fine = add_pairs(list, poly.data, poly.count, &zero, 1) && add_pairs(list, &zero, 1, log.data, log.count);
    }
    if (fine && !is_default) fine = add_pairs(list, poly.data, poly.count, log.data, log.count);
    if (fine && (is_default || retain_default)) fine = add_default_list(list, allow_log, allow_negative);
    as_vec_free(&poly);
    as_vec_free(&log);
    return fine;
}

void as_power_list_drop_logs(as_vec *list) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (AS_AT(as_power, list, i).log.value == 0) AS_AT(as_power, list, kept++) = AS_AT(as_power, list, i);
    }
    list->count = kept;
}
