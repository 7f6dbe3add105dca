/* MessagePack as https://github.com/msgpack/msgpack/blob/master/spec.md has it. */
#include "io/msgpack.h"

#include <string.h>

static as_msgpack_type fail(as_msgpack *m, const char *error) {
    m->error = error;
    return m->type = AS_MSGPACK_ERROR;
}

static bool has(const as_msgpack *m, uint64_t n) { return n <= m->size - m->at; }

/* An unsigned integer of n bytes, the highest first. */
static uint64_t take(as_msgpack *m, size_t n) {
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) value = value << 8 | m->data[m->at++];
    return value;
}

static as_msgpack_type take_bytes(as_msgpack *m, as_msgpack_type type, uint64_t n) {
    if (!has(m, n))
        return fail(m, type == AS_MSGPACK_TEXT ? "a text is longer than the rest" : "bytes go beyond the end");
    m->text = (const char *)m->data + m->at;
    m->length = (size_t)n;
    m->at += m->length;
    return m->type = type;
}

/* Each element takes a byte at least. */
static as_msgpack_type begin(as_msgpack *m, as_msgpack_type type, uint32_t count) {
    if (!has(m, (uint64_t)count << (type == AS_MSGPACK_MAP)))
        return fail(m, type == AS_MSGPACK_MAP ? "a map has more elements than bytes are left"
                                              : "an array has more elements than bytes are left");
    m->count = count;
    return m->type = type;
}

static as_msgpack_type take_signed(as_msgpack *m, size_t n) {
    unsigned shift = 64 - 8 * (unsigned)n;
    m->whole = (int64_t)(take(m, n) << shift) >> shift;
    return m->type = m->whole < 0 ? AS_MSGPACK_INT : AS_MSGPACK_UINT;
}

static as_msgpack_type take_real(as_msgpack *m, size_t n) {
    uint64_t bits = take(m, n);
    if (n == 4) {
        uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        m->real = (double)value;
    } else {
        memcpy(&m->real, &bits, sizeof m->real);
    }
    return m->type = AS_MSGPACK_REAL;
}

static as_msgpack_type take_extension(as_msgpack *m, uint64_t n) {
    if (!has(m, 1)) return fail(m, "bytes go beyond the end");
    m->extension = (int8_t)m->data[m->at++];
    return take_bytes(m, AS_MSGPACK_EXTENSION, n);
}

/* Bytes that follow the first one of a value of 0xc0 … 0xdf before its content, or before its end. */
static const unsigned char FOLLOWING[32] = {
    0, 0, 0, 0, 1, 2, 4, 1,
    2, 4, 4, 8, 1, 2, 4, 8, /* nil - false true bin8 16 32 ext8 16 32 float32 64 uint8 16 32 64 */
    1, 2, 4, 8, 0, 0, 0, 0,
    0, 1, 2, 4, 2, 4, 2, 4, /* int8 16 32 64 fixext1 2 4 8 16 str8 16 32 array16 32 map16 32 */
};

/* A value whose first byte says its kind, and nothing of its size or content. */
static as_msgpack_type take_long(as_msgpack *m, unsigned char first) {
    size_t n = FOLLOWING[first - 0xc0];
    if (!has(m, n)) return fail(m, "the bytes end within a value");
    switch (first) {
    case 0xc0: return m->type = AS_MSGPACK_NIL;
    case 0xc1: return fail(m, "the byte 0xc1 begins no value");
    case 0xc2:
    case 0xc3: m->truth = first == 0xc3; return m->type = AS_MSGPACK_BOOL;
    case 0xc4:
    case 0xc5:
    case 0xc6: return take_bytes(m, AS_MSGPACK_BYTES, take(m, n));
    case 0xc7:
    case 0xc8:
    case 0xc9: return take_extension(m, take(m, n));
    case 0xca:
    case 0xcb: return take_real(m, n);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: m->natural = take(m, n); return m->type = AS_MSGPACK_UINT;
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return take_signed(m, n);
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8: return take_extension(m, (uint64_t)1 << (first - 0xd4));
    case 0xd9:
    case 0xda:
    case 0xdb: return take_bytes(m, AS_MSGPACK_TEXT, take(m, n));
    case 0xdc:
    case 0xdd: return begin(m, AS_MSGPACK_ARRAY, (uint32_t)take(m, n));
    default: return begin(m, AS_MSGPACK_MAP, (uint32_t)take(m, n));
    }
}

as_msgpack_type as_msgpack_next(as_msgpack *m) {
    if (m->error) return m->type;
    m->offset = m->at;
    if (m->at == m->size) return m->type = AS_MSGPACK_END;
    unsigned char first = m->data[m->at++];
    if (first < 0x80) {
        m->natural = first;
        return m->type = AS_MSGPACK_UINT;
    }
    if (first >= 0xe0) {
        m->whole = (int8_t)first;
        return m->type = AS_MSGPACK_INT;
    }
    if (first < 0x90) return begin(m, AS_MSGPACK_MAP, first & 15);
    if (first < 0xa0) return begin(m, AS_MSGPACK_ARRAY, first & 15);
    if (first < 0xc0) return take_bytes(m, AS_MSGPACK_TEXT, first & 31);
    return take_long(m, first);
}

/* How many values the current one has in it. */
static uint64_t elements(const as_msgpack *m) {
    return m->type == AS_MSGPACK_ARRAY ? m->count : m->type == AS_MSGPACK_MAP ? 2 * (uint64_t)m->count : 0;
}

as_msgpack_type as_msgpack_skip(as_msgpack *m) {
    for (uint64_t open = elements(m); open > 0; open += elements(m)) { /* never more than there are bytes left */
        if (!has(m, open)) return fail(m, "an array has more elements than bytes are left");
        if (as_msgpack_next(m) == AS_MSGPACK_ERROR) break;
        open--;
    }
    return m->type;
}

bool as_msgpack_is(const as_msgpack *m, const char *text) {
    return m->type == AS_MSGPACK_TEXT && m->length == strlen(text) && memcmp(m->text, text, m->length) == 0;
}

const char *as_msgpack_noun(as_msgpack_type type) {
    static const char *const nouns[] = {
        [AS_MSGPACK_ERROR] = "an error",     [AS_MSGPACK_END] = "the end",     [AS_MSGPACK_NIL] = "nil",
        [AS_MSGPACK_BOOL] = "a truth value", [AS_MSGPACK_UINT] = "an integer", [AS_MSGPACK_INT] = "a negative integer",
        [AS_MSGPACK_REAL] = "a real number", [AS_MSGPACK_TEXT] = "a text",     [AS_MSGPACK_BYTES] = "bytes",
        [AS_MSGPACK_ARRAY] = "an array",     [AS_MSGPACK_MAP] = "a map",       [AS_MSGPACK_EXTENSION] = "an extension",
    };
    return nouns[type];
}
