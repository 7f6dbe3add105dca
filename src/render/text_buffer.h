/* Text that grows. Running out of memory sticks: write on, and look at `failed` in the end. */
#ifndef AS_RENDER_TEXT_BUFFER_H
#define AS_RENDER_TEXT_BUFFER_H

#include "core/memory.h"

typedef struct as_text {
    as_vec bytes; /* char, not NUL-terminated */
    bool failed;
} as_text;

static inline void as_text_init(as_text *text) {
    as_vec_init(&text->bytes, 1, NULL);
    text->failed = false;
}
static inline void as_text_free(as_text *text) { as_vec_free(&text->bytes); }
static inline void as_text_clear(as_text *text) { text->bytes.count = 0; }
static inline size_t as_text_size(const as_text *text) { return text->bytes.count; }
/* "" while nothing was written. */
static inline const char *as_text_data(const as_text *text) {
    return text->bytes.data ? (const char *)text->bytes.data : "";
}
static inline void as_text_write(as_text *text, const char *data, size_t size) {
    if (size && !as_vec_append(&text->bytes, data, size)) text->failed = true;
}
static inline void as_text_add(as_text *text, const char *data) { as_text_write(text, data, strlen(data)); }
static inline void as_text_char(as_text *text, char c) { as_text_write(text, &c, 1); }
/* The same character n times. */
void as_text_fill(as_text *text, const char *character, size_t size, size_t n);
/* Replaces, from byte `from` to the end, each `old` by `new` (as Python's str.replace does). */
void as_text_replace(as_text *text, size_t from, const char *old, const char *new);

/* Characters of UTF-8; each byte that belongs to none counts as one. */
size_t as_text_characters(const char *data, size_t size);

#endif
