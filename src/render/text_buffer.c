/* Text that grows. */
#include "render/text_buffer.h"

#include "core/utf8.h"

void as_text_fill(as_text *text, const char *character, size_t size, size_t n) {
    size_t total;
    if (!as_mul_size(size, n, &total) || !as_vec_reserve(&text->bytes, total)) {
        text->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) as_text_write(text, character, size);
}

void as_text_replace(as_text *text, size_t from, const char *old, const char *new) {
    size_t old_size = strlen(old), end = text->bytes.count;
    if (from >= end || !memmem(as_text_data(text) + from, end - from, old, old_size)) return;
    as_text result;
    as_text_init(&result);
    const char *at = as_text_data(text) + from, *stop = as_text_data(text) + end, *found;
    while ((found = memmem(at, (size_t)(stop - at), old, old_size))) {
        as_text_write(&result, at, (size_t)(found - at));
        as_text_add(&result, new);
        at = found + old_size;
    }
    as_text_write(&result, at, (size_t)(stop - at));
    text->bytes.count = from;
    as_text_write(text, as_text_data(&result), as_text_size(&result));
    text->failed |= result.failed;
    as_text_free(&result);
}

size_t as_text_characters(const char *data, size_t size) {
    size_t n = 0;
    for (size_t at = 0; at < size; n++) {
        size_t length = as_utf8_length(data + at, size - at);
        at += length ? length : 1;
    }
    return n;
}
