/* Protocol Buffers: nothing lies outside of the bytes, and what is read and put together again reads back the same. */
#include <stdlib.h>

#include "io/protobuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void copy(const as_protobuf *p, as_message *to) {
    if (p->type == AS_PROTOBUF_NUMBER) as_message_number(to, p->field, p->number);
    if (p->type == AS_PROTOBUF_BYTES) as_message_bytes(to, p->field, p->bytes, p->length);
    if (p->type == AS_PROTOBUF_FIXED64) {
        double real;
        memcpy(&real, &p->number, sizeof real);
        as_message_real(to, p->field, real);
    }
}

static bool is_kept(const as_protobuf *p) { return p->type != AS_PROTOBUF_FIXED32; }

static void check_field(as_protobuf *p) {
    if (p->at > p->size || p->offset >= p->at || !p->field) abort();
    if (p->type != AS_PROTOBUF_BYTES) return;
    if (p->bytes < (const char *)p->data || p->length > (size_t)((const char *)p->data + p->size - p->bytes)) abort();
    as_protobuf field = *p;
    uint64_t number;
    for (size_t at = 0, before = 0; as_protobuf_each(&field, &at, &number); before = at) {
        if (at > p->length || at <= before) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_protobuf p = as_protobuf_of((const char *)bytes, size);
    as_message m;
    as_message_init(&m, NULL);
    while (as_protobuf_next(&p)) {
        check_field(&p);
        copy(&p, &m);
    }
    if (!p.error && p.at != size) abort();
    as_protobuf again = as_protobuf_of(m.bytes.data, m.bytes.count);
    p = as_protobuf_of((const char *)bytes, size);
    while (as_protobuf_next(&p)) {
        if (!is_kept(&p)) continue;
        if (!as_protobuf_next(&again) || again.field != p.field || again.type != p.type) abort();
        if (p.type == AS_PROTOBUF_BYTES ? again.length != p.length || memcmp(again.bytes, p.bytes, p.length) != 0
                                        : again.number != p.number)
            abort();
    }
    if (as_protobuf_next(&again) || again.error) abort();
    as_message_free(&m);
    return 0;
}
