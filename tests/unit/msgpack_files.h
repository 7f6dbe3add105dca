/* MessagePack made from JSON, so that tests can be read. Include it behind cmocka.h. */
#ifndef AS_TESTS_MSGPACK_FILES_H
#define AS_TESTS_MSGPACK_FILES_H

#include <stdlib.h>
#include <string.h>

#include "io/json.h"

typedef struct packed {
    char *data;
    size_t size;
} packed;

static inline void pack_byte(packed *p, unsigned byte) { p->data[p->size++] = (char)byte; }

/* n bytes, the highest first. */
static inline void pack_bytes(packed *p, uint64_t value, unsigned n) {
    while (n-- > 0) pack_byte(p, (unsigned)(value >> (8 * n)) & 0xff);
}

static inline void pack_number(packed *p, as_number number) {
    uint64_t bits;
    if (number.kind == AS_REAL) {
        memcpy(&bits, &number.r, sizeof bits);
        pack_byte(p, 0xcb);
        pack_bytes(p, bits, 8);
    } else if (number.kind == AS_INT && number.i < 0) {
        pack_byte(p, 0xd3);
        pack_bytes(p, (uint64_t)number.i, 8);
    } else if (number.u < 128) {
        pack_byte(p, (unsigned)number.u);
    } else {
        unsigned log = number.u < 256 ? 0 : number.u < 65536 ? 1 : number.u < 4294967296u ? 2 : 3;
        pack_byte(p, 0xcc + log);
        pack_bytes(p, number.u, 1u << log);
    }
}

static inline void pack_text(packed *p, const char *text, size_t size) {
    if (size < 32)
        pack_byte(p, 0xa0 | (unsigned)size);
    else
        pack_byte(p, 0xda), pack_bytes(p, size, 2);
    memcpy(p->data + p->size, text, size);
    p->size += size;
}

/* The array that begins at `begin`, where there is room for three bytes, has n elements. */
static inline void end_array(packed *p, size_t begin, unsigned n) {
    if (n < 16) {
        memmove(p->data + begin + 1, p->data + begin + 3, p->size - begin - 3);
        p->data[begin] = (char)(0x90 | n);
        p->size -= 2;
    } else {
        p->data[begin] = (char)0xdc;
        p->data[begin + 1] = (char)(n >> 8);
        p->data[begin + 2] = (char)n;
    }
}

/* The caller frees data. */
static inline packed pack(const char *json_text) {
    enum { DEEPEST = 4096 };
    static size_t begins[DEEPEST];
    static unsigned counts[DEEPEST];
    unsigned depth = 0;
    as_json json;
    packed p = {.data = malloc(strlen(json_text) * 3 + 16)};
    as_json_init(&json, "test", json_text, strlen(json_text), (as_json_options){.max_depth = DEEPEST}, NULL);
    for (as_json_type type; (type = as_json_next(&json)) != AS_JSON_END;) {
        size_t size;
        const char *text;
        if (depth && type != AS_JSON_ARRAY_END) counts[depth - 1]++;
        switch (type) {
        case AS_JSON_ARRAY:
            begins[depth] = p.size;
            counts[depth++] = 0;
            p.size += 3;
            break;
        case AS_JSON_ARRAY_END:
            depth--;
            end_array(&p, begins[depth], counts[depth]);
            break;
        case AS_JSON_STRING:
            text = as_json_text(&json, &size);
            pack_text(&p, text, size);
            break;
        case AS_JSON_NUMBER: pack_number(&p, as_json_number(&json)); break;
        case AS_JSON_NULL: pack_byte(&p, 0xc0); break;
        case AS_JSON_TRUE: pack_byte(&p, 0xc3); break;
        default: fail_msg("no JSON that can be packed: %s", json_text);
        }
    }
    as_json_free(&json);
    return p;
}

#endif
