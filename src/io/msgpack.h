/* MessagePack: values pulled one after the other out of bytes in memory. Nothing is copied and nothing recurses: of an
 * array or a map only the beginning is a value, its elements are the next ones. No length is believed: a text lies
 * within the bytes, and an array has no more elements than bytes are left. */
#ifndef AS_IO_MSGPACK_H
#define AS_IO_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum as_msgpack_type {
    AS_MSGPACK_ERROR, /* see `error` */
    AS_MSGPACK_END,   /* no byte is left */
    AS_MSGPACK_NIL,
    AS_MSGPACK_BOOL,
    AS_MSGPACK_UINT, /* whatever is an integer from 0 on, however it is stored */
    AS_MSGPACK_INT,  /* below 0 */
    AS_MSGPACK_REAL,
    AS_MSGPACK_TEXT,      /* need not be UTF-8 */
    AS_MSGPACK_BYTES,     /* also the content of an extension */
    AS_MSGPACK_ARRAY,     /* `count` values follow */
    AS_MSGPACK_MAP,       /* `count` pairs follow */
    AS_MSGPACK_EXTENSION, /* bytes of the application's own; `extension` is their type */
} as_msgpack_type;

typedef struct as_msgpack {
    const unsigned char *data;
    size_t size, at; /* at: behind the current value, or behind the beginning of an array or map */

    /* the current value */
    as_msgpack_type type;
    size_t offset; /* where it begins; of an error, where it is */
    union {
        bool truth;
        uint64_t natural; /* UINT */
        int64_t whole;    /* INT */
        double real;
        uint32_t count; /* ARRAY, MAP */
    };
    const char *text; /* TEXT, BYTES, EXTENSION: in the input, `length` bytes */
    size_t length;
    int8_t extension;
    const char *error; /* what is wrong, in a few words */
} as_msgpack;

static inline as_msgpack as_msgpack_of(const char *data, size_t size) {
    return (as_msgpack){.data = (const unsigned char *)data, .size = size};
}

/* The next value; also in msgpack->type. After ERROR and END it stays there. */
as_msgpack_type as_msgpack_next(as_msgpack *msgpack);
/* From the current value to behind its last element, however deep: AS_MSGPACK_ERROR where the bytes end before, else
 * the type of the last value in it. */
as_msgpack_type as_msgpack_skip(as_msgpack *msgpack);
/* Whether the current value is a text, and this one. */
bool as_msgpack_is(const as_msgpack *msgpack, const char *text);
/* "an array", "a text": the kind of the current value, for messages. */
const char *as_msgpack_noun(as_msgpack_type type);

#endif
