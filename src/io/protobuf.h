/* Protocol Buffers on the wire: fields pulled one after the other out of bytes in memory, and messages put together. No
 * schema is known here: who reads says what a field is.
 *
 * Nothing is copied and nothing recurses: a message within a message is bytes, read by an as_protobuf of its own. No
 * length is believed: bytes lie within those that are there. */
#ifndef AS_IO_PROTOBUF_H
#define AS_IO_PROTOBUF_H

#include "core/memory.h"
#include "io/output.h"

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef enum as_protobuf_type {
    AS_PROTOBUF_NUMBER = 0,  /* a varint */
    AS_PROTOBUF_FIXED64 = 1, /* eight bytes */
    AS_PROTOBUF_BYTES = 2,   /* a text, a message, or numbers packed together */
    AS_PROTOBUF_FIXED32 = 5, /* four bytes */
} as_protobuf_type;

typedef struct as_protobuf {
    const unsigned char *data;
    size_t size, at; /* at: behind the current field */

    /* the current field */
    uint32_t field; /* its number, from 1 */
    as_protobuf_type type;
    size_t offset;     /* where it begins; of an error, where it is */
    uint64_t number;   /* of all types but BYTES; an int64 is the same bits */
    const char *bytes; /* BYTES: in the input, `length` of them */
    size_t length;
    const char *error; /* what is wrong, in a few words; NULL: nothing */
} as_protobuf;

static inline as_protobuf as_protobuf_of(const char *data, size_t size) {
    return (as_protobuf){.data = (const unsigned char *)data, .size = size};
}
/* The message that the current field, of the type BYTES, is. */
static inline as_protobuf as_protobuf_message_of(const as_protobuf *field) {
    return as_protobuf_of(field->bytes, field->length);
}
/* The next field. False at the end, and where the bytes are no message: then `error` says why, and it stays there.
 * Groups, which nobody writes any more, are such an error. */
bool as_protobuf_next(as_protobuf *protobuf);
/* The next of the numbers that the current field of a repeated one has: its own, or those packed in it. *at is 0 before
 * the first. False behind the last, and at an error. */
bool as_protobuf_each(as_protobuf *field, size_t *at, uint64_t *out);

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A message that is put together in memory. Errors stick: write on, and look at `failed` in the end. */
typedef struct as_message {
    as_vec bytes; /* char */
    bool failed;  /* memory was out */
} as_message;

void as_message_init(as_message *message, as_budget *budget);
void as_message_free(as_message *message);
/* Makes it empty; it keeps its room. */
void as_message_clear(as_message *message);
/* A varint; of an int64 the same bits. */
void as_message_number(as_message *message, uint32_t field, uint64_t number);
/* The same unless it is 0, which is what a field that is not there says. */
void as_message_number_if(as_message *message, uint32_t field, uint64_t number);
void as_message_real(as_message *message, uint32_t field, double real);
void as_message_bytes(as_message *message, uint32_t field, const char *bytes, size_t size);
void as_message_text(as_message *message, uint32_t field, const char *text);
/* n numbers packed together; nothing where there are none. */
void as_message_packed(as_message *message, uint32_t field, const uint64_t *numbers, size_t n);
/* A message within: what is put between both is its content. as_message_end() gets what as_message_begin() gave. */
size_t as_message_begin(as_message *message, uint32_t field);
void as_message_end(as_message *message, size_t begun);
/* Writes the message as a field of the one that the output is; false where it has failed. */
bool as_message_output(const as_message *message, uint32_t field, as_output *out);

#endif
