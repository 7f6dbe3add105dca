#include "io/protobuf.h"

enum { MOST_DIGITS = 10 }; /* of seven bits each, in a number of 64 */

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool fail(as_protobuf *p, size_t offset, const char *error) {
    p->offset = offset;
    p->error = error;
    return false;
}

/* A varint at *at, which is moved behind it; what is wrong, or NULL. */
static const char *read_varint(const unsigned char *data, size_t size, size_t *at, uint64_t *out) {
    uint64_t number = 0;
    for (unsigned i = 0; i < MOST_DIGITS; i++) {
        if (*at >= size) return "the bytes end within a number";
        unsigned char byte = data[(*at)++];
        if (i == MOST_DIGITS - 1 && byte > 1) break;
        number |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte & 0x80) continue;
        *out = number;
        return NULL;
    }
    return "a number has more than 64 bits";
}

static bool read_fixed(as_protobuf *p, size_t n) {
    if (p->size - p->at < n) return fail(p, p->at, "the bytes end within a number");
    p->number = 0;
    for (size_t i = 0; i < n; i++) p->number |= (uint64_t)p->data[p->at + i] << (8 * i);
    p->at += n;
    return true;
}

static bool read_bytes(as_protobuf *p) {
    uint64_t length;
    const char *error = read_varint(p->data, p->size, &p->at, &length);
    if (error) return fail(p, p->at, error);
    if (length > p->size - p->at) return fail(p, p->offset, "a field is longer than what it is in");
    p->bytes = (const char *)p->data + p->at;
    p->length = (size_t)length;
    p->at += p->length;
    return true;
}

bool as_protobuf_next(as_protobuf *p) {
    if (p->error || p->at >= p->size) return false;
    uint64_t key;
    p->offset = p->at;
    const char *error = read_varint(p->data, p->size, &p->at, &key);
    if (error) return fail(p, p->offset, error);
    if (key >> 3 == 0 || key >> 3 > UINT32_MAX >> 3) return fail(p, p->offset, "no field has such a number");
    p->field = (uint32_t)(key >> 3);
    p->type = (as_protobuf_type)(key & 7);
    switch (p->type) {
    case AS_PROTOBUF_NUMBER: error = read_varint(p->data, p->size, &p->at, &p->number); break;
    case AS_PROTOBUF_FIXED64: return read_fixed(p, 8);
    case AS_PROTOBUF_FIXED32: return read_fixed(p, 4);
    case AS_PROTOBUF_BYTES: return read_bytes(p);
    default: error = (key & 7) <= 4 ? "groups are not known" : "no field is of such a type";
    }
    return error ? fail(p, p->offset, error) : true;
}

bool as_protobuf_each(as_protobuf *field, size_t *at, uint64_t *out) {
    if (field->error) return false;
    if (field->type != AS_PROTOBUF_BYTES) {
        if ((*at)++) return false;
        *out = field->number;
        return true;
    }
    if (*at >= field->length) return false;
    const char *error = read_varint((const unsigned char *)field->bytes, field->length, at, out);
    return error ? fail(field, field->offset, error) : true;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static size_t put_varint(char to[MOST_DIGITS], uint64_t number) {
    size_t n = 0;
    for (; number >= 0x80; number >>= 7) to[n++] = (char)(number | 0x80);
    to[n++] = (char)number;
    return n;
}

static uint64_t key_of(uint32_t field, as_protobuf_type type) { return (uint64_t)field << 3 | type; }

static void append(as_message *m, const void *data, size_t size) {
    m->failed = m->failed || !as_vec_append(&m->bytes, data, size);
}

static void append_varint(as_message *m, uint64_t number) {
    char digits[MOST_DIGITS];
    append(m, digits, put_varint(digits, number));
}

void as_message_init(as_message *message, as_budget *budget) {
    message->failed = false;
    as_vec_init(&message->bytes, 1, budget);
}

void as_message_free(as_message *message) { as_vec_free(&message->bytes); }

void as_message_clear(as_message *message) { message->bytes.count = 0; }

void as_message_number(as_message *message, uint32_t field, uint64_t number) {
    append_varint(message, key_of(field, AS_PROTOBUF_NUMBER));
    append_varint(message, number);
}

void as_message_number_if(as_message *message, uint32_t field, uint64_t number) {
    if (number) as_message_number(message, field, number);
}

void as_message_real(as_message *message, uint32_t field, double real) {
    uint64_t bits;
    unsigned char bytes[8];
    memcpy(&bits, &real, sizeof bits);
    for (unsigned i = 0; i < 8; i++) bytes[i] = (unsigned char)(bits >> (8 * i));
    append_varint(message, key_of(field, AS_PROTOBUF_FIXED64));
    append(message, bytes, sizeof bytes);
}

void as_message_bytes(as_message *message, uint32_t field, const char *bytes, size_t size) {
    append_varint(message, key_of(field, AS_PROTOBUF_BYTES));
    append_varint(message, size);
    append(message, bytes, size);
}

void as_message_text(as_message *message, uint32_t field, const char *text) {
    as_message_bytes(message, field, text, strlen(text));
}

void as_message_packed(as_message *message, uint32_t field, const uint64_t *numbers, size_t n) {
    if (!n) return;
    size_t begun = as_message_begin(message, field);
    for (size_t i = 0; i < n; i++) append_varint(message, numbers[i]);
    as_message_end(message, begun);
}

size_t as_message_begin(as_message *message, uint32_t field) {
    append_varint(message, key_of(field, AS_PROTOBUF_BYTES));
    return message->bytes.count;
}

/* The length goes in front, when it is known. */
void as_message_end(as_message *message, size_t begun) {
    char digits[MOST_DIGITS];
    if (message->failed) return;
    size_t size = message->bytes.count - begun, n = put_varint(digits, size);
    append(message, digits, n);
    if (message->failed) return;
    char *content = (char *)message->bytes.data + begun;
    memmove(content + n, content, size);
    memcpy(content, digits, n);
}

bool as_message_output(const as_message *message, uint32_t field, as_output *out) {
    char digits[MOST_DIGITS];
    if (message->failed) return false;
    as_output_write(out, digits, put_varint(digits, key_of(field, AS_PROTOBUF_BYTES)));
    as_output_write(out, digits, put_varint(digits, message->bytes.count));
    as_output_write(out, message->bytes.data, message->bytes.count);
    return true;
}
