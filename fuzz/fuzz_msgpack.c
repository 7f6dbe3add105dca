/* MessagePack, value by value and skipped: both come to the same end, and nothing lies outside of the bytes. */
#include <stdlib.h>

#include "io/msgpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(const as_msgpack *m) {
    bool has_text = m->type == AS_MSGPACK_TEXT || m->type == AS_MSGPACK_BYTES || m->type == AS_MSGPACK_EXTENSION;
    if (m->at > m->size || m->offset > m->at || !as_msgpack_noun(m->type)) abort();
    if ((m->type == AS_MSGPACK_ERROR) != (m->error != NULL)) abort();
    if (!has_text) return;
    if (m->text < (const char *)m->data || m->length > (size_t)((const char *)m->data + m->size - m->text)) abort();
    for (size_t i = 0; i < m->length; i++) (void)*(volatile const char *)(m->text + i);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_msgpack skipped = as_msgpack_of((const char *)bytes, size), walked = skipped;
    while (as_msgpack_next(&skipped) > AS_MSGPACK_END && as_msgpack_skip(&skipped) > AS_MSGPACK_END) check(&skipped);
    check(&skipped);
    while (as_msgpack_next(&walked) > AS_MSGPACK_END) check(&walked);
    check(&walked);
    if (skipped.type == AS_MSGPACK_END && (walked.type != AS_MSGPACK_END || walked.at != skipped.at)) abort();
    return 0;
}
