#include "io/json.h"

#include "core/utf8.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* What may come next. */
enum { AT_START, AT_VALUE, AT_FIRST_ELEMENT, AT_FIRST_KEY, AT_KEY, BEHIND_VALUE, BEHIND_DOCUMENT, STOPPED };

enum { DEFAULT_DEPTH = 1024 };

/* Messages that as_json_fail() completes; compared by address. */
static const char OUT_OF_MEMORY[] = "out of memory";
static const char TOO_DEEP[] = "nested too deep";
static const char END_OF_INPUT[] = "unexpected end of input";

static as_json_type fail(as_json *json, const char *at, const char *message) {
    json->error = message;
    json->error_at = json->at = at;
    json->state = STOPPED;
    return json->type = AS_JSON_ERROR;
}

/* "expected …", unless there is nothing more at all. */
static as_json_type fail_expected(as_json *json, const char *at, const char *message) {
    return fail(json, at, at == json->end ? END_OF_INPUT : message);
}

/* ---- scanning: 16 bytes at a time where the machine has SSE2, which every x86-64 has ----------------------------- */

static inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
static inline bool is_digit(char c) { return (unsigned char)(c - '0') <= 9; }

static const char *skip_long_space(const char *p, const char *end) {
#ifdef __SSE2__
    for (; end - p >= 16; p += 16) { /* indentation */
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i space = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'))),
            _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r'))));
        unsigned others = (unsigned)_mm_movemask_epi8(space) ^ 0xffff;
        if (others) return p + __builtin_ctz(others);
    }
#endif
    while (p < end && is_space(*p)) p++;
    return p;
}

/* Most often there is none, or one blank. */
static inline const char *skip_space(const char *p, const char *end) {
    if (p < end && (unsigned char)*p > ' ') return p;
    if (end - p >= 2 && *p == ' ' && (unsigned char)p[1] > ' ') return p + 1;
    return skip_long_space(p, end);
}

/* Past the characters of a string that need no thought: ASCII but quotes, backslashes and control characters. */
static inline const char *skip_plain(const char *p, const char *end) {
#ifdef __SSE2__
    for (; end - p >= 16; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i special = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')); /* signed: those from 0x80 are less too */
        special = _mm_or_si128(special, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
        special = _mm_or_si128(special, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
        unsigned found = (unsigned)_mm_movemask_epi8(special);
        if (found) return p + __builtin_ctz(found);
    }
#endif
    while (p < end && (signed char)*p >= ' ' && *p != '"' && *p != '\\') p++;
    return p;
}

static inline const char *skip_digits(const char *p, const char *end) {
#ifdef __SSE2__
    for (; end - p >= 16; p += 16) {
        __m128i values = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_set1_epi8('0'));
        __m128i digits = _mm_cmpeq_epi8(_mm_min_epu8(values, _mm_set1_epi8(9)), values);
        unsigned others = (unsigned)_mm_movemask_epi8(digits) ^ 0xffff;
        if (others) return p + __builtin_ctz(others);
    }
#endif
    while (p < end && is_digit(*p)) p++;
    return p;
}

/* ---- strings ----------------------------------------------------------------------------------------------------- */

/* The value of four hexadecimal digits, or -1. */
static int32_t hex4(const char *p, const char *end) {
    if (end - p < 4) return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        if (is_digit(c))
            value = value * 16 + (c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            value = value * 16 + ((c | 0x20) - 'a' + 10);
        else
            return -1;
    }
    return value;
}

static bool is_high_surrogate(int32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
static bool is_low_surrogate(int32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

/* Past the escape at p, a backslash; NULL after an error. */
static const char *check_escape(as_json *json, const char *p) {
    const char *end = json->end;
    if (end - p < 2) return fail(json, end, "unexpected end of input in a string"), NULL;
    if (p[1] != 'u') {
        if (p[1] && strchr("\"\\/bfnrt", p[1])) return p + 2;
        return fail(json, p, "unknown escape in a string"), NULL;
    }
    int32_t unit = hex4(p + 2, end);
    if (unit < 0) return fail(json, p, "\\u without four hexadecimal digits in a string"), NULL;
    if (is_low_surrogate(unit)) return fail(json, p, "lone surrogate in a string"), NULL;
    if (!is_high_surrogate(unit)) return p + 6;
    bool paired = end - p >= 12 && p[6] == '\\' && p[7] == 'u' && is_low_surrogate(hex4(p + 8, end));
    return paired ? p + 12 : (fail(json, p, "lone surrogate in a string"), NULL);
}

/* From a byte that skip_plain() stopped at to the closing quote; NULL after an error. */
static const char *check_string(as_json *json, const char *p) {
    const char *end = json->end;
    for (;;) {
        if (p == end) return fail(json, p, "unexpected end of input in a string"), NULL;
        if (*p == '"') return p;
        if (*p == '\\') {
            json->has_escapes = true;
            p = check_escape(json, p);
            if (!p) return NULL;
        } else if ((unsigned char)*p >= 0x80) {
            size_t n = as_utf8_length(p, (size_t)(end - p));
            if (n == 0) return fail(json, p, "invalid UTF-8 in a string"), NULL;
            p += n;
        } else if ((unsigned char)*p < ' ') {
            return fail(json, p,
                        "control character in a string; a quote is missing, or it must be written as an escape"),
                   NULL;
        }
        p = skip_plain(p, end);
    }
}

/* Takes the string at p, a quote. Returns the place behind it, NULL after an error. */
static inline const char *take_string(as_json *json, const char *p, as_json_type type) {
    json->token = p;
    json->has_escapes = false;
    const char *quote = skip_plain(p + 1, json->end);
    if (quote == json->end || *quote != '"') {
        quote = check_string(json, quote);
        if (!quote) return NULL;
    }
    json->token_size = (size_t)(quote + 1 - p);
    json->type = type;
    return quote + 1;
}

/* Resolves the escape at *p (checked before) into to; returns how many bytes. */
static size_t resolve_escape(const char **p, const char *end, char *to) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char kind = (*p)[1];
    if (kind != 'u') {
        *p += 2;
        *to = meanings[strchr(letters, kind) - letters];
        return 1;
    }
    uint32_t c = (uint32_t)hex4(*p + 2, end);
    *p += 6;
    if (is_high_surrogate((int32_t)c)) {
        c = 0x10000 + ((c - 0xd800) << 10) + ((uint32_t)hex4(*p + 2, end) - 0xdc00);
        *p += 6;
    }
    return as_utf8_put(to, c);
}

const char *as_json_text(as_json *json, size_t *size) {
    const char *p = json->token + 1, *end = json->token + json->token_size - 1;
    *size = (size_t)(end - p);
    if (!json->has_escapes) return p;
    json->text.count = 0;
    if (!as_vec_reserve(&json->text, *size)) { /* resolved, a string only gets shorter */
        fail(json, json->token, OUT_OF_MEMORY);
        return NULL;
    }
    char *begin = json->text.data, *to = begin;
    while (p < end) {
        const char *escape = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((escape ? escape : end) - p);
        memcpy(to, p, plain);
        to += plain;
        p += plain;
        if (escape) to += resolve_escape(&p, end, to);
    }
    *size = json->text.count = (size_t)(to - begin);
    return begin;
}

bool as_json_is(as_json *json, const char *text) {
    size_t size, expected = strlen(text);
    if (json->token_size < expected + 2) return false; /* escapes are longer than what they stand for */
    const char *actual = as_json_text(json, &size);
    return actual && size == expected && memcmp(actual, text, size) == 0;
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static inline as_json_type finish_scalar(as_json *json, const char *p, as_json_type type) {
    json->token_size = (size_t)(p - json->token);
    json->at = p;
    json->state = json->depth ? BEHIND_VALUE : BEHIND_DOCUMENT;
    return json->type = type;
}

static as_json_type take_word(as_json *json, const char *p, const char *word, as_json_type type) {
    size_t n = strlen(word);
    if ((size_t)(json->end - p) >= n && memcmp(p, word, n) == 0) return finish_scalar(json, p + n, type);
    for (; *word && p < json->end && *p == *word; word++) p++;
    return fail_expected(json, p, "expected one of the words true, false and null");
}

static as_json_type take_number(as_json *json, const char *p) {
    const char *end = json->end;
    if (*p == '-') {
        p++;
        if (p < end && *p == 'I' && json->options.nan_literals) return take_word(json, p, "Infinity", AS_JSON_NUMBER);
        if (p == end || !is_digit(*p)) return fail_expected(json, p, "expected a digit after the minus sign");
    }
    if (*p == '0') {
        p++;
        if (p < end && is_digit(*p)) return fail(json, p - 1, "number with a leading zero");
    } else
        p = skip_digits(p, end);
    if (p < end && *p == '.') {
        p++;
        if (p == end || !is_digit(*p)) return fail_expected(json, p, "expected a digit after the decimal point");
        p = skip_digits(p, end);
    }
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        if (p == end || !is_digit(*p)) return fail_expected(json, p, "expected a digit in the exponent");
        p = skip_digits(p, end);
    }
    return finish_scalar(json, p, AS_JSON_NUMBER);
}

static as_json_type open_container(as_json *json, const char *p) {
    if (json->depth == json->options.max_depth) return fail(json, p, TOO_DEEP);
    if (json->stack.count == json->stack.capacity && !as_vec_reserve(&json->stack, 1))
        return fail(json, p, OUT_OF_MEMORY);
    AS_AT(char, &json->stack, json->stack.count++) = *p;
    json->depth++;
    json->token_size = 1;
    json->at = p + 1;
    json->state = *p == '{' ? AT_FIRST_KEY : AT_FIRST_ELEMENT;
    return json->type = *p == '{' ? AS_JSON_OBJECT : AS_JSON_ARRAY;
}

/* p: the bracket that fits the innermost container. */
static inline as_json_type close_container(as_json *json, const char *p) {
    json->stack.count--;
    json->depth--;
    json->token = p;
    return finish_scalar(json, p + 1, *p == '}' ? AS_JSON_OBJECT_END : AS_JSON_ARRAY_END);
}

static as_json_type fail_value(as_json *json, const char *p) {
    if (p == json->end && json->state == AT_START) return fail(json, json->begin, "empty input");
    if (p < json->end && *p == '\'') return fail(json, p, "strings stand in double quotes");
    if (p < json->end && (*p == '+' || *p == '.')) return fail(json, p, "a number begins with a digit or a minus sign");
    return fail_expected(json, p, "expected a value");
}

static inline as_json_type next_value(as_json *json, const char *p) {
    if (p == json->end) return fail_value(json, p);
    json->token = p;
    switch (*p) {
    case '"': {
        const char *behind = take_string(json, p, AS_JSON_STRING);
        if (!behind) return AS_JSON_ERROR;
        json->at = behind;
        json->state = json->depth ? BEHIND_VALUE : BEHIND_DOCUMENT;
        return AS_JSON_STRING;
    }
    case '{':
    case '[': return open_container(json, p);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return take_number(json, p);
    case 't': return take_word(json, p, "true", AS_JSON_TRUE);
    case 'f': return take_word(json, p, "false", AS_JSON_FALSE);
    case 'n': return take_word(json, p, "null", AS_JSON_NULL);
    case 'N':
        if (json->options.nan_literals) return take_word(json, p, "NaN", AS_JSON_NUMBER);
        break;
    case 'I':
        if (json->options.nan_literals) return take_word(json, p, "Infinity", AS_JSON_NUMBER);
        break;
    }
    return fail_value(json, p);
}

static inline as_json_type next_key(as_json *json, const char *p) {
    if (p == json->end || *p != '"') return fail_expected(json, p, "expected a key in double quotes");
    p = take_string(json, p, AS_JSON_KEY);
    if (!p) return AS_JSON_ERROR;
    p = skip_space(p, json->end);
    if (p == json->end || *p != ':') return fail_expected(json, p, "expected ':' after the key");
    json->at = p + 1;
    json->state = AT_VALUE;
    return AS_JSON_KEY;
}

/* Whether what stands at p was meant to belong to the number before it: 1.2.3, 0x10, 1_000. */
static bool continues_number(const as_json *json, const char *p) {
    if (p == json->end || json->type != AS_JSON_NUMBER || p != json->token + json->token_size) return false;
    return is_digit(*p) || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') || *p == '.' || *p == '_' || *p == '+' ||
           *p == '-';
}

/* p is at no separator and no fitting bracket. */
static as_json_type fail_behind_value(as_json *json, const char *p) {
    if (continues_number(json, p)) return fail(json, p, "malformed number");
    bool in_object = AS_AT(char, &json->stack, json->stack.count - 1) == '{';
    return fail_expected(json, p, in_object ? "expected ',' or '}'" : "expected ',' or ']'");
}

/* What other languages allow at the end of a list. */
static as_json_type fail_trailing(as_json *json, const char *separator, char bracket) {
    return fail(json, separator,
                bracket == '}' ? "a comma before '}', which JSON does not allow; remove it"
                               : "a comma before ']', which JSON does not allow; remove it");
}

static inline as_json_type next_behind_value(as_json *json, const char *p) {
    const char *end = json->end;
    if (p == end) return fail_behind_value(json, p);
    char container = AS_AT(char, &json->stack, json->stack.count - 1);
    if (*p == ',' || (*p == ';' && json->options.semicolons)) {
        const char *separator = p;
        p = skip_space(p + 1, end);
        if (p < end && (*p == '}' || *p == ']')) return fail_trailing(json, separator, *p);
        json->state = AT_VALUE;
        return container == '{' ? next_key(json, p) : next_value(json, p);
    }
    if (*p == (container == '{' ? '}' : ']')) return close_container(json, p);
    return fail_behind_value(json, p);
}

static as_json_type next_behind_document(as_json *json, const char *p) {
    if (p != json->end)
        return fail(json, p, continues_number(json, p) ? "malformed number" : "unexpected data after the document");
    json->token = p;
    json->token_size = 0;
    json->at = p;
    json->state = STOPPED;
    return json->type = AS_JSON_END;
}

as_json_type as_json_next(as_json *json) {
    const char *p = skip_space(json->at, json->end);
    switch (json->state) {
    case BEHIND_VALUE: return next_behind_value(json, p);
    case AT_FIRST_KEY: return p < json->end && *p == '}' ? close_container(json, p) : next_key(json, p);
    case AT_FIRST_ELEMENT: return p < json->end && *p == ']' ? close_container(json, p) : next_value(json, p);
    case BEHIND_DOCUMENT: return next_behind_document(json, p);
    case STOPPED: return json->type;
    default: return next_value(json, p);
    }
}

as_number as_json_number(const as_json *json) {
    as_number number = {.kind = AS_INT};
    as_number_parse(json->token, json->token_size, &number);
    return number;
}

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                       1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* The value of eight digits, the first in the lowest byte: neighbours are joined to pairs, fours and all. */
static inline uint32_t join_digits(uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    return (uint32_t)(((digits & 0x000000ff000000ff) * 0x000f424000000064 +
                       (digits >> 16 & 0x000000ff000000ff) * 0x0000271000000001) >>
                      32);
}

/* A number without sign that ends within eight bytes, which are there: without a branch for each digit, as their number
 * is hard to foresee. NULL: it is none. */
static inline const char *take_short_number(const char *p, as_number *out) {
    const uint64_t ones = 0x0101010101010101;
    uint64_t word, high = ones << 7;
    memcpy(&word, p, sizeof word);
    uint64_t digits = word ^ ones * '0';                                         /* below 10 where there is a digit */
    uint64_t others = (((digits & ~high) + ones * (0x80 - 10)) | digits) & high; /* where there is none */
    unsigned n_whole = others ? (unsigned)__builtin_ctzll(others) & ~7u : 0;     /* in bits, as all below */
    if (n_whole == 0 || (n_whole > 8 && *p == '0')) return NULL;
    uint64_t whole = ((uint64_t)1 << n_whole) - 1;
    if ((char)(word >> n_whole) != '.') {
        *out = (as_number){.kind = AS_INT, .i = join_digits((digits & whole) << (64 - n_whole))};
        p += n_whole / 8;
        return (*p | 0x20) == 'e' ? NULL : p;
    }
    others &= others - 1;
    unsigned end = others ? (unsigned)__builtin_ctzll(others) & ~7u : 0, n = end - 8; /* without the point */
    if (end <= n_whole + 8) return NULL;
    uint64_t all = (digits & whole) | (digits >> 8 & ~whole);
    *out = (as_number){.kind = AS_REAL, .r = join_digits(all << (64 - n)) / powers_of_ten[(n - n_whole) / 8]};
    p += end / 8;
    return (*p | 0x20) == 'e' ? NULL : p;
}
#else
static inline const char *take_short_number(const char *p, as_number *out) {
    (void)p, (void)out;
    return NULL;
}
#endif

static const char *take_long_number(const char *p, const char *end, as_number *out) {
    enum { MOST_DIGITS = sizeof powers_of_ten / sizeof *powers_of_ten - 1 };
    bool is_negative = p < end && *p == '-';
    const char *first = p + is_negative;
    uint64_t digits = 0;
    for (p = first; p < end && is_digit(*p); p++) digits = digits * 10 + (uint64_t)(*p - '0');
    size_t n_whole = (size_t)(p - first), n_behind = 0;
    if (p == end || n_whole == 0 || n_whole > MOST_DIGITS || (n_whole > 1 && *first == '0')) return NULL;
    if (*p == '.') {
        const char *point = p++;
        for (; p < end && is_digit(*p); p++) digits = digits * 10 + (uint64_t)(*p - '0');
        n_behind = (size_t)(p - point - 1);
        if (p == end || n_behind == 0 || n_whole + n_behind > MOST_DIGITS || digits >> 53) return NULL;
    }
    if ((*p | 0x20) == 'e' || (is_negative && !digits)) return NULL;
    if (n_behind) { /* both exact: their quotient is rounded once, which is right */
        double value = (double)digits / powers_of_ten[n_behind];
        *out = (as_number){.kind = AS_REAL, .r = is_negative ? -value : value};
    } else
        *out = (as_number){.kind = AS_INT, .i = is_negative ? -(int64_t)digits : (int64_t)digits};
    return p;
}

static inline const char *take_plain_number(const char *p, const char *end, as_number *out) {
    const char *behind = end - p >= 8 ? take_short_number(p, out) : NULL;
    return behind ? behind : take_long_number(p, end, out);
}

const char *as_json_plain_number(const char *p, const char *end, as_number *out) {
    return take_plain_number(p, end, out);
}

size_t as_json_take_numbers(as_json *json, as_number *out, size_t n) {
    const char *end = json->end;
    size_t taken = 0;
    if (!json->depth || AS_AT(char, &json->stack, json->stack.count - 1) != '[') return 0;
    for (; taken < n; taken++) {
        const char *p = skip_space(json->at, end);
        if (json->state == BEHIND_VALUE) {
            if (p == end || *p != ',') break;
            p = skip_space(p + 1, end);
        } else if (json->state != AT_FIRST_ELEMENT)
            break;
        const char *behind = take_plain_number(p, end, &out[taken]);
        if (!behind || !(*behind == ',' || *behind == ']' || is_space(*behind))) break;
        json->token = p;
        finish_scalar(json, behind, AS_JSON_NUMBER);
    }
    return taken;
}

as_json_type as_json_skip(as_json *json, const char **raw, size_t *raw_size) {
    const char *begin = json->token;
    if (json->type == AS_JSON_OBJECT || json->type == AS_JSON_ARRAY) {
        uint32_t depth = json->depth;
        while (json->depth >= depth && as_json_next(json) != AS_JSON_ERROR) {
        }
    }
    if (json->type == AS_JSON_ERROR) return AS_JSON_ERROR;
    if (raw) {
        *raw = begin;
        *raw_size = (size_t)(json->token + json->token_size - begin);
    }
    return json->type;
}

void as_json_pass(as_json *json, size_t size) { close_container(json, json->token + size - 1); }

/* ---- beginning, ending, failing ---------------------------------------------------------------------------------- */

void as_json_init(as_json *json, const char *path, const char *data, size_t size, as_json_options options,
                  as_budget *budget) {
    *json = (as_json){.path = path, .options = options};
    if (!options.max_depth) json->options.max_depth = DEFAULT_DEPTH;
    as_vec_init(&json->stack, 1, budget);
    as_vec_init(&json->text, 1, budget);
    as_json_restart(json, data, size, 1);
}

void as_json_restart(as_json *json, const char *data, size_t size, uint32_t line) {
    if (line == 1 && size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) data += 3, size -= 3;
    json->begin = json->at = json->token = data;
    json->end = data + size;
    json->token_size = 0;
    json->first_line = line;
    json->stack.count = json->depth = 0;
    json->state = AT_START;
    json->type = AS_JSON_NULL;
    json->error = NULL;
}

void as_json_free(as_json *json) {
    as_vec_free(&json->stack);
    as_vec_free(&json->text);
}

as_json_type as_json_refuse(as_json *json, const char *at, const char *message) { return fail(json, at, message); }

as_place as_json_place(const as_json *json) {
    const char *at = json->error ? json->error_at : json->token, *line_begin = json->begin;
    uint32_t line = json->first_line;
    for (const char *newline; (newline = memchr(line_begin, '\n', (size_t)(at - line_begin))); line++)
        line_begin = newline + 1;
    size_t column = (size_t)(at - line_begin) + 1;
    return as_place_line(json->path, line, column < UINT32_MAX ? (uint32_t)column : UINT32_MAX);
}

assay_status as_json_fail(const as_json *json, assay_error *error) {
    if (json->error == OUT_OF_MEMORY) return as_fail_memory(error, json->path);
    as_place place = as_json_place(json);
    const char *message = json->error ? json->error : "unexpected token";
    if (message == TOO_DEEP)
        return as_fail(error, ASSAY_E_FORMAT, place, "json-syntax", "nested deeper than %u levels",
                       json->options.max_depth);
    bool names_found = json->error && strncmp(message, "expected", 8) == 0 && json->error_at < json->end;
    if (!names_found) return as_fail(error, ASSAY_E_FORMAT, place, "json-syntax", "%s", message);
    unsigned char found = (unsigned char)*json->error_at;
    if (found > ' ' && found < 0x7f)
        return as_fail(error, ASSAY_E_FORMAT, place, "json-syntax", "%s, not '%c'", message, found);
    return as_fail(error, ASSAY_E_FORMAT, place, "json-syntax", "%s, not the byte 0x%02x", message, found);
}
