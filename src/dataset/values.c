#include "dataset/values.h"

#include <math.h>
#include <strings.h>

static const struct {
    const char *name;
    uint8_t parts, size; /* 0: depends on the number behind the name */
} types[] = {
    [AS_DTYPE_INT64] = {"INT64", 1, 8},         [AS_DTYPE_UINT64] = {"UINT64", 1, 8},
    [AS_DTYPE_DOUBLE] = {"DOUBLE", 1, 8},       [AS_DTYPE_INT8] = {"INT8", 1, 1},
    [AS_DTYPE_UINT8] = {"UINT8", 1, 1},         [AS_DTYPE_INT16] = {"INT16", 1, 2},
    [AS_DTYPE_UINT16] = {"UINT16", 1, 2},       [AS_DTYPE_INT32] = {"INT32", 1, 4},
    [AS_DTYPE_UINT32] = {"UINT32", 1, 4},       [AS_DTYPE_MINDOUBLE] = {"MINDOUBLE", 1, 8},
    [AS_DTYPE_MAXDOUBLE] = {"MAXDOUBLE", 1, 8}, [AS_DTYPE_COMPLEX] = {"COMPLEX", 2, 16},
    [AS_DTYPE_RATE] = {"RATE", 2, 16},          [AS_DTYPE_TAU_ATOMIC] = {"TAU_ATOMIC", 5, 36},
    [AS_DTYPE_NDOUBLES] = {"NDOUBLES", 0, 0},   [AS_DTYPE_HISTOGRAM] = {"HISTOGRAM", 0, 0},
    [AS_DTYPE_OPAQUE] = {"OPAQUE", 0, 0},
};

/* Cube's further words for these. */
static const struct {
    const char *name;
    as_dtype dtype;
} synonyms[] = {
    {"CHAR", AS_DTYPE_UINT8},
    {"SHORT INT", AS_DTYPE_INT16},
    {"SIGNED SHORT INT", AS_DTYPE_INT16},
    {"UNSIGNED SHORT INT", AS_DTYPE_UINT16},
    {"INT", AS_DTYPE_INT32},
    {"SIGNED INT", AS_DTYPE_INT32},
    {"UNSIGNED INT", AS_DTYPE_UINT32},
    {"INTEGER", AS_DTYPE_INT64},
    {"SIGNED INTEGER", AS_DTYPE_INT64},
    {"UNSIGNED INTEGER", AS_DTYPE_UINT64},
    {"FLOAT", AS_DTYPE_DOUBLE},
};

const char *as_dtype_name(as_dtype dtype) { return types[dtype].name; }

as_value_type as_value_type_of(as_dtype dtype, uint32_t n) {
    as_value_type type = {.dtype = dtype, .n_parts = types[dtype].parts, .size = types[dtype].size};
    if (dtype == AS_DTYPE_OPAQUE)
        type.n_parts = type.size = n;
    else if (!type.n_parts) {
        type.n_parts = dtype == AS_DTYPE_HISTOGRAM ? n + 2 : n;
        type.size = 8 * type.n_parts;
    }
    return type;
}

static bool is_word(const char *text, size_t size, const char *word) {
    return strlen(word) == size && strncasecmp(text, word, size) == 0;
}

/* "(3)" behind the name. */
static bool parse_count(const char *text, size_t size, uint32_t *out) {
    as_number number;
    if (size < 3 || text[0] != '(' || text[size - 1] != ')') return false;
    if (!as_number_parse(text + 1, size - 2, &number) || number.kind != AS_INT) return false;
    if (number.i < 1 || number.i > AS_MAX_PARTS) return false;
    *out = (uint32_t)number.i;
    return true;
}

bool as_value_type_parse(const char *text, size_t size, as_value_type *out) {
    while (size && (unsigned char)text[0] <= ' ') text++, size--;
    while (size && (unsigned char)text[size - 1] <= ' ') size--;
    for (as_dtype dtype = AS_DTYPE_INT64; dtype < AS_DTYPE_OPAQUE; dtype++) {
        size_t n = strlen(types[dtype].name);
        uint32_t count = 0;
        if (size < n || !is_word(text, n, types[dtype].name)) continue;
        if (types[dtype].parts ? size != n : !parse_count(text + n, size - n, &count)) continue;
        *out = as_value_type_of(dtype, count);
        return out->n_parts <= AS_MAX_PARTS;
    }
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        if (!is_word(text, size, synonyms[i].name)) continue;
        *out = as_value_type_of(synonyms[i].dtype, 0);
        return true;
    }
    return false;
}

as_part_rule as_part_rule_of(as_dtype dtype, uint32_t part) {
    switch (dtype) {
    case AS_DTYPE_MINDOUBLE: return AS_PART_MINIMUM;
    case AS_DTYPE_MAXDOUBLE: return AS_PART_MAXIMUM;
    case AS_DTYPE_TAU_ATOMIC: return part == 1 ? AS_PART_MINIMUM : part == 2 ? AS_PART_MAXIMUM : AS_PART_ADD;
    case AS_DTYPE_HISTOGRAM: return part == 0 ? AS_PART_MINIMUM : part == 1 ? AS_PART_MAXIMUM : AS_PART_ADD;
    default: return AS_PART_ADD;
    }
}

/* Parts that are not doubles, of TAU_ATOMIC the first one, have sums. */
void as_values_clear(as_value_type type, void *values, size_t n) {
    memset(values, 0, n * type.size);
    if (as_dtype_is_integer(type.dtype) || type.dtype == AS_DTYPE_OPAQUE) return;
    for (uint32_t part = 0; part < type.n_parts; part++) {
        as_part_rule rule = as_part_rule_of(type.dtype, part);
        if (rule == AS_PART_ADD) continue;
        double none = rule == AS_PART_MINIMUM ? INFINITY : -INFINITY;
        char *at = (char *)values + type.size - (type.n_parts - part) * sizeof none;
        for (size_t i = 0; i < n; i++) memcpy(at + i * type.size, &none, sizeof none);
    }
}

/* ---- one value --------------------------------------------------------------------------------------------------- */

/* An integer of some width at any address. */
#define LOAD(type, address)                                                                                            \
    (__extension__({                                                                                                   \
        type loaded;                                                                                                   \
        memcpy(&loaded, address, sizeof loaded);                                                                       \
        loaded;                                                                                                        \
    }))

static as_number int_number(int64_t value) { return (as_number){.kind = AS_INT, .i = value}; }
static as_number real_number(double value) { return (as_number){.kind = AS_REAL, .r = value}; }

as_number as_part_get(as_value_type type, const void *value, uint32_t part) {
    const char *at = value;
    switch (type.dtype) {
    case AS_DTYPE_INT64: return int_number(LOAD(int64_t, at));
    case AS_DTYPE_UINT64: {
        uint64_t u = LOAD(uint64_t, at);
        return u <= INT64_MAX ? int_number((int64_t)u) : (as_number){.kind = AS_UINT, .u = u};
    }
    case AS_DTYPE_INT8: return int_number(LOAD(int8_t, at));
    case AS_DTYPE_UINT8: return int_number(LOAD(uint8_t, at));
    case AS_DTYPE_INT16: return int_number(LOAD(int16_t, at));
    case AS_DTYPE_UINT16: return int_number(LOAD(uint16_t, at));
    case AS_DTYPE_INT32: return int_number(LOAD(int32_t, at));
    case AS_DTYPE_UINT32: return int_number(LOAD(uint32_t, at));
    case AS_DTYPE_TAU_ATOMIC:
        if (part == 0) return int_number(LOAD(uint32_t, at));
        return real_number(LOAD(double, at + 4 + 8 * (part - 1)));
    case AS_DTYPE_OPAQUE: return int_number(LOAD(uint8_t, at + part));
    default: return real_number(LOAD(double, at + 8 * (size_t)part));
    }
}

double as_parts_shown(as_dtype dtype, const double *parts, uint32_t n_parts) {
    double sum = 0;
    switch (dtype) {
    case AS_DTYPE_COMPLEX: return hypot(parts[0], parts[1]);
    case AS_DTYPE_RATE: return parts[0] / parts[1];
    case AS_DTYPE_TAU_ATOMIC: return parts[3] / parts[0];
    case AS_DTYPE_NDOUBLES:
        for (uint32_t i = 0; i < n_parts; i++) sum += parts[i];
        return sum;
    case AS_DTYPE_HISTOGRAM:
        for (uint32_t i = 2; i < n_parts; i++) sum += parts[i];
        return sum;
    case AS_DTYPE_OPAQUE: return NAN;
    default: return parts[0];
    }
}

static bool add_number(as_vec *text, as_number number) {
    char buffer[AS_NUMBER_SIZE];
    size_t size = as_number_format(number, buffer);
    bool quoted = number.kind == AS_REAL && !isfinite(number.r);
    return (!quoted || as_vec_append(text, "\"", 1)) && as_vec_append(text, buffer, size) &&
           (!quoted || as_vec_append(text, "\"", 1));
}

bool as_parts_text(const double *parts, uint32_t n_parts, as_vec *text) {
    for (uint32_t i = 0; i < n_parts; i++) {
        if (!as_vec_append(text, i ? "," : "[", 1) || !add_number(text, real_number(parts[i]))) return false;
    }
    return as_vec_append(text, "]", 1);
}

bool as_value_text(as_value_type type, const void *value, as_vec *text) {
    for (uint32_t i = 0; i < type.n_parts; i++) {
        if (!as_vec_append(text, i ? "," : "[", 1) || !add_number(text, as_part_get(type, value, i))) return false;
    }
    return as_vec_append(text, "]", 1);
}

/* ---- many values ------------------------------------------------------------------------------------------------- */

double as_reals_sum(const double *values, size_t n) {
    double sums[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (size_t k = 0; k < 4; k++) sums[k] += values[i + k];
    }
    for (; i < n; i++) sums[0] += values[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

#define WIDEN(from, to)                                                                                                \
    for (size_t i = 0; i < n; i++) ((to *)out)[i] = (to)LOAD(from, (const char *)values + i * sizeof(from))

void as_values_widen(as_value_type type, const void *values, size_t n, uint32_t part, void *out) {
    switch (type.dtype) {
    case AS_DTYPE_INT64:
    case AS_DTYPE_UINT64:
    case AS_DTYPE_DOUBLE:
    case AS_DTYPE_MINDOUBLE:
    case AS_DTYPE_MAXDOUBLE: memcpy(out, values, n * 8); break;
    case AS_DTYPE_INT8: WIDEN(int8_t, int64_t); break;
    case AS_DTYPE_UINT8: WIDEN(uint8_t, int64_t); break;
    case AS_DTYPE_INT16: WIDEN(int16_t, int64_t); break;
    case AS_DTYPE_UINT16: WIDEN(uint16_t, int64_t); break;
    case AS_DTYPE_INT32: WIDEN(int32_t, int64_t); break;
    case AS_DTYPE_UINT32: WIDEN(uint32_t, int64_t); break;
    default:
        for (size_t i = 0; i < n; i++)
            ((double *)out)[i] = as_part_real(type, (const char *)values + i * type.size, part);
    }
}
