#include "formats/perun/rank.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const struct {
    const char *key;
    size_t size;
    int rank;
} KNOWN[] = {{"bin", 3, 0},    {"file", 4, 1},      {"source", 6, 1},    {"package", 7, 1},     {"module", 6, 2},
             {"class", 5, 3},  {"struct", 6, 3},    {"structure", 9, 3}, {"function", 8, 4},    {"func", 4, 4},
             {"method", 6, 4}, {"procedure", 9, 4}, {"line", 4, 5},      {"instruction", 11, 6}};

static int known_rank(const char *key, size_t size) {
    if (size == 0) return 0; /* no digits: 0 */
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        if (KNOWN[i].size == size && memcmp(KNOWN[i].key, key, size) == 0) return KNOWN[i].rank;
    }
    return -1;
}

/* The character at *at, which is moved behind it. The text is valid UTF-8; what is not counts byte by byte. */
static uint32_t next_character(const char **at, const char *end) {
    const unsigned char *s = (const unsigned char *)*at;
    size_t n = s[0] < 0xc0 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (n > (size_t)(end - *at)) n = 1;
    uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) c = c << 6 | (s[i] & 0x3f);
    *at += n;
    return c;
}

static size_t digits_of(uint32_t number) {
    size_t n = 1;
    for (; number >= 10; number /= 10) n++;
    return n;
}

as_rank as_rank_of(const char *key, size_t size) {
    as_rank rank = {.key = key, .size = size, .digits = 1, .known = known_rank(key, size)};
    if (rank.known >= 0) return rank;
    rank.digits = 0;
    for (const char *at = key, *end = key + size; at < end;) rank.digits += digits_of(next_character(&at, end) + 6);
    return rank;
}

/* The digits of a rank, from the first. */
typedef struct digit_stream {
    const char *at, *end;
    uint32_t rest,
        /* of the current character's number: what is left of it, and the weight of its next digit; unit 0: all are
         * used */
        unit;
} digit_stream;

static digit_stream digits_begin(const as_rank *rank) {
    if (rank->known < 0) return (digit_stream){.at = rank->key, .end = rank->key + rank->size};
    return (digit_stream){.rest = (uint32_t)rank->known, .unit = 1};
}

static uint32_t next_digit(digit_stream *digits) {
    if (digits->unit == 0) {
        digits->rest = next_character(&digits->at, digits->end) + 6;
        for (digits->unit = 1; digits->rest / digits->unit >= 10;) digits->unit *= 10;
    }
    uint32_t digit = digits->rest / digits->unit;
    digits->rest %= digits->unit;
    digits->unit /= 10;
    return digit;
}

int as_rank_compare(const as_rank *a, const as_rank *b) {
    if (a->known >= 0 && b->known >= 0) return (a->known > b->known) - (a->known < b->known);
    if (a->digits != b->digits) return a->digits < b->digits ? -1 : 1;
    digit_stream left = digits_begin(a), right = digits_begin(b);
    for (size_t i = 0; i < a->digits; i++) {
        uint32_t x = next_digit(&left), y = next_digit(&right);
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}
