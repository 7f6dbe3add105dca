/* What the fields of the records of AFPerf are, and what they mean. See scan.h. */
#include "core/number.h"
#include "formats/afperf/scan.h"

/* ---- the types of records ---------------------------------------------------------------------------------------- */

#define TEXT(label)                                                                                                    \
    { .name = label, .kind = AS_AF_TEXT, .can_be_blank = true }
#define TIME(label)                                                                                                    \
    { .name = label, .kind = AS_AF_TIME }
#define ID(label)                                                                                                      \
    { .name = label, .kind = AS_AF_ID, .can_be_blank = true }
#define TAGS                                                                                                           \
    { .name = "tags", .kind = AS_AF_TAGS, .can_be_blank = true }
#define TYPE                                                                                                           \
    { .name = "record type", .kind = AS_AF_TEXT }
#define MAYBE_TIME                                                                                                     \
    { .name = "timestamp", .kind = AS_AF_TIME, .can_be_blank = true }
#define WALLCLOCK                                                                                                      \
    { .name = "wallclock time", .kind = AS_AF_DECIMAL }
#define FORMAT_VERSION                                                                                                 \
    { .name = "afperf format version", .kind = AS_AF_VERSION }
#define SPAN         TIME("end timestamp"), TIME("start timestamp")
#define LAYOUT(n, r) .n_fields = (n), .n_required = (r)
#define DATA(n)      LAYOUT(n, n), .has_pairs = true
/* A measurement is known by its id, and nothing else stands for a blank one. */
#define MEASUREMENT_ID                                                                                                 \
    { .name = "measurement type id", .kind = AS_AF_ID }

const as_af_layout as_af_layouts[AS_AF_N_TYPES] = {
    [AS_AF_MEASUREMENT_TYPE] = {.name = "MeasurementType",
                                LAYOUT(9, 7),
                                .fields = {TYPE, TIME("timestamp"), ID("run id"), MEASUREMENT_ID, TEXT("name"),
                                           TEXT("datatype"), TEXT("units"), TEXT("summary"), TEXT("description")}},
    [AS_AF_PAUSE_RESUME] = {.name = "PauseResume", LAYOUT(4, 4), .fields = {TYPE, SPAN, ID("run id")}},
    [AS_AF_REGION_AGGREGATE] = {.name = "RegionAggregate",
                                DATA(5),
                                .fields = {TYPE, SPAN, ID("record id"), TEXT("aggregation type")}},
    [AS_AF_REGION_POINT] = {.name = "RegionPoint", DATA(3), .fields = {TYPE, TIME("timestamp"), ID("region id")}},
    [AS_AF_REGION_START] = {.name = "RegionStart",
                            LAYOUT(6, 5),
                            .fields = {TYPE, TIME("timestamp"), ID("run id"), ID("region id"), TEXT("region label"),
                                       TAGS}},
    [AS_AF_REGION_STOP] = {.name = "RegionStop", LAYOUT(3, 3), .fields = {TYPE, TIME("timestamp"), ID("region id")}},
    [AS_AF_RUN_AGGREGATE] = {.name = "RunAggregate",
                             DATA(5),
                             .fields = {TYPE, SPAN, ID("run id"), TEXT("aggregation type")}},
    [AS_AF_RUN_INFO] = {.name = "RunInfo",
                        LAYOUT(9, 8),
                        .fields = {TYPE, TIME("start timestamp"), TEXT("timestamp units"), WALLCLOCK, FORMAT_VERSION,
                                   ID("run id"), TEXT("application name"), TEXT("application version"), TAGS}},
    [AS_AF_RUN_POINT] = {.name = "RunPoint", DATA(3), .fields = {TYPE, TIME("timestamp"), ID("run id")}},
    [AS_AF_SECTION_AGGREGATE] = {.name = "SectionAggregate",
                                 DATA(6),
                                 .fields = {TYPE, SPAN, ID("record id"), ID("section interval id"),
                                            TEXT("aggregation type")}},
    [AS_AF_SECTION_INFO] = {.name = "SectionInfo",
                            LAYOUT(6, 5),
                            .fields = {TYPE, MAYBE_TIME, ID("run id"), ID("section id"), TEXT("section label"), TAGS}},
    [AS_AF_SECTION_POINT] = {.name = "SectionPoint",
                             DATA(4),
                             .fields = {TYPE, TIME("timestamp"), ID("section id"), ID("section interval id")}},
    [AS_AF_SECTION_START] = {.name = "SectionStart",
                             LAYOUT(4, 4),
                             .fields = {TYPE, TIME("timestamp"), ID("section id"), ID("section interval id")}},
    [AS_AF_SECTION_STOP] = {.name = "SectionStop",
                            LAYOUT(4, 4),
                            .fields = {TYPE, TIME("timestamp"), ID("section id"), ID("section interval id")}},
};

as_af_type as_af_type_of(const char *text, size_t size) {
    const as_af_field field = {.text = text, .size = (uint32_t)size};
    uint64_t number;
    if (size < 64 && as_af_integer(&field, &number))
        return number == 0 ? AS_AF_RESERVED : number < AS_AF_N_TYPES ? (as_af_type)number : AS_AF_UNKNOWN;
    /* Found by the length, the frequent ones first. */
    static const uint8_t by_size[17][6] = {
        [7] = {AS_AF_RUN_INFO},
        [8] = {AS_AF_RUN_POINT},
        [10] = {AS_AF_REGION_STOP},
        [11] = {AS_AF_REGION_START, AS_AF_REGION_POINT, AS_AF_SECTION_STOP, AS_AF_SECTION_INFO, AS_AF_PAUSE_RESUME},
        [12] = {AS_AF_SECTION_START, AS_AF_SECTION_POINT, AS_AF_RUN_AGGREGATE},
        [15] = {AS_AF_REGION_AGGREGATE, AS_AF_MEASUREMENT_TYPE},
        [16] = {AS_AF_SECTION_AGGREGATE},
    };
    for (int i = 0; size < 17 && by_size[size][i]; i++) {
        if (memcmp(text, as_af_layouts[by_size[size][i]].name, size) == 0) return (as_af_type)by_size[size][i];
    }
    return AS_AF_UNKNOWN;
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

bool as_af_unquote(const as_af_field *field, as_vec *out) {
    const char *text = field->text, *end = text + field->size;
    if (!field->has_quotes) return as_vec_append(out, text, field->size);
    while (text < end) {
        const char *quote = memchr(text, '"', (size_t)(end - text));
        const char *stop = quote ? quote + 1 : end; /* the first of two quotes is kept */
        if (!as_vec_append(out, text, (size_t)(stop - text))) return false;
        text = quote ? quote + 2 : end;
    }
    return true;
}

static inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool as_af_is_blank(const as_af_field *field) {
    for (uint32_t i = 0; i < field->size; i++) {
        if (field->text[i] != ' ' && field->text[i] != '\t') return false;
    }
    return true;
}

/* What is left without white space around it. */
static inline void trim(const char **text, const char **end) {
    while (*text < *end && is_space(**text)) (*text)++;
    while (*text < *end && is_space((*end)[-1])) (*end)--;
}

/* 0 … 15, or more than that. */
static inline unsigned hex_digit(char c) {
    unsigned digit = (unsigned char)c - (unsigned)'0', letter = ((unsigned char)c | 0x20u) - (unsigned)'a';
    return digit <= 9 ? digit : letter <= 5 ? letter + 10 : 99;
}

static inline bool is_hex(const char *text, const char *end) {
    return end - text > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
}

/* The digits of a number without sign. */
static inline bool magnitude(const char *text, const char *end, uint64_t *out) {
    uint64_t value = 0;
    if (is_hex(text, end)) {
        for (text += 2; text < end; text++) {
            unsigned digit = hex_digit(*text);
            if (digit > 15 || value >> 60) return false;
            value = value << 4 | digit;
        }
    } else {
        if (text == end) return false;
        bool is_short = end - text <= 19; /* cannot overflow */
        for (; text < end; text++) {
            unsigned digit = (unsigned char)*text - (unsigned)'0';
            if (digit > 9) return false;
            if (is_short)
                value = value * 10 + digit;
            else if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, digit, &value))
                return false;
        }
    }
    *out = value;
    return true;
}

/* Steps over a sign; true for minus. */
static inline bool take_sign(const char **text, const char *end) {
    if (*text == end || (**text != '-' && **text != '+')) return false;
    return *(*text)++ == '-';
}

bool as_af_integer(const as_af_field *field, uint64_t *out) {
    const char *text = field->text, *end = text + field->size;
    trim(&text, &end);
    bool is_negative = take_sign(&text, end);
    return magnitude(text, end, out) && !(is_negative && *out);
}

bool as_af_signed(const as_af_field *field, int64_t *out) {
    const char *text = field->text, *end = text + field->size;
    uint64_t value;
    trim(&text, &end);
    bool is_negative = take_sign(&text, end);
    if (!magnitude(text, end, &value) || value > (uint64_t)INT64_MAX + is_negative) return false;
    *out = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* nan(letters, digits and _): what is in the parentheses is the machine's own. */
static bool is_nan_with_payload(const char *text, size_t size) {
    if (size < 5 || (text[0] | 0x20) != 'n' || (text[1] | 0x20) != 'a' || (text[2] | 0x20) != 'n' || text[3] != '(' ||
        text[size - 1] != ')')
        return false;
    for (size_t i = 4; i + 1 < size; i++) {
        char c = text[i], lower = (char)(c | 0x20);
        if (c != '_' && (c < '0' || c > '9') && (lower < 'a' || lower > 'z')) return false;
    }
    return true;
}

bool as_af_real(const as_af_field *field, double *out) {
    const char *text = field->text, *end = text + field->size;
    trim(&text, &end);
    bool is_negative = take_sign(&text, end);
    size_t size = (size_t)(end - text);
    if (!size || *text == '-' || *text == '+') return false;
    if (is_hex(text, end)) {
        if (!as_hex_real_parse(text + 2, size - 2, out)) return false;
    } else if (is_nan_with_payload(text, size)) {
        *out = __builtin_nan("");
    } else if (!as_real_parse(text, size, out))
        return false;
    if (is_negative) *out = -*out;
    return true;
}

/* Digits, and the number they are, a huge one where 64 bits do not hold it. NULL: there are none. */
static const char *version_part(const char *text, const char *end, uint64_t *out) {
    const char *from = text;
    for (*out = 0; text < end && *text >= '0' && *text <= '9'; text++) {
        if (__builtin_mul_overflow(*out, 10u, out) || __builtin_add_overflow(*out, (unsigned)(*text - '0'), out))
            *out = UINT64_MAX / 10;
    }
    return text == from ? NULL : text;
}

bool as_af_version(const as_af_field *field, uint64_t *major, uint64_t *minor) {
    const char *text = field->text, *end = text + field->size;
    uint64_t parts[3];
    trim(&text, &end);
    for (int i = 0; i < 3; i++) {
        if (i && (text == end || *text++ != '.')) return false;
        text = version_part(text, end, &parts[i]);
        if (!text) return false;
    }
    if (major) *major = parts[0];
    if (minor) *minor = parts[1];
    return text == end;
}

/* ---- records that leave a field out ------------------------------------------------------------------------------ */

static bool is_integer(const as_af_field *field) {
    uint64_t value;
    return as_af_integer(field, &value);
}

size_t as_af_omitted(const as_af_record *record) {
    const as_af_field *fields = record->fields;
    size_t n = record->n_fields;
    switch (record->type) {
    case AS_AF_RUN_INFO: /* a version that is only misspelt stands before an id, and is followed by all other fields */
        if (n < 5 || as_af_version(&fields[4], NULL, NULL)) return 0;
        return n >= 9 && !is_integer(&fields[4]) && (is_integer(&fields[5]) || as_af_is_blank(&fields[5])) ? 0 : 4;
    case AS_AF_REGION_START:
    case AS_AF_SECTION_INFO: /* where the second id should be, there is the label */
        return n >= 4 && n < 6 && !as_af_is_blank(&fields[3]) && !is_integer(&fields[3]) && is_integer(&fields[2]) ? 2
                                                                                                                   : 0;
    default: return 0;
    }
}
