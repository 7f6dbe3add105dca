/* Texts of the program on their way into the file. */
#include "internal.h"

#include <string.h>

uint64_t as_capture_hash(const char *text, size_t length) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash;
}

size_t as_capture_cut(const char *text, size_t limit) {
    size_t n = strnlen(text, limit + 1);
    if (n <= limit) return n;
    n = limit;
    while (n && ((unsigned char)text[n] & 0xC0) == 0x80) n--;
    return n;
}

/* The length of the UTF-8 character at s, 0 if it is none. */
static size_t character(const unsigned char *s, size_t left) {
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xC2 && s[0] < 0xE0 ? 2
               : (s[0] & 0xF0) == 0xE0       ? 3
               : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                             : 0;
    if (n == 0 || n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)) return 0; /* too long a form; a surrogate */
    if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
    return n;
}

size_t as_capture_field(char *out, const char *text, size_t length) {
    const unsigned char *s = (const unsigned char *)text;
    bool quoted = memchr(text, ',', length) || memchr(text, '"', length);
    char *at = out;
    if (quoted) *at++ = '"';
    for (size_t i = 0; i < length;) {
        size_t n = character(s + i, length - i);
        if (n == 0)
            *at++ = '?';
        else if (n == 1 && (s[i] < 0x20 || s[i] == 0x7F))
            *at++ = ' ';
        else
            for (size_t k = 0; k < n; k++) *at++ = text[i + k];
        if (s[i] == '"') *at++ = '"';
        i += n ? n : 1;
    }
    if (quoted) *at++ = '"';
    return (size_t)(at - out);
}

/* Memory that is never given back. */
static void *keep(size_t size) {
    enum { CHUNK = 65536 };
    static char *chunk;
    static size_t left;
    size = (size + 15) / 16 * 16;
    if (size > left) {
        char *fresh = as_capture_map(CHUNK);
        if (!fresh) return NULL;
        chunk = fresh;
        left = CHUNK;
    }
    left -= size;
    return chunk + left;
}

const as_capture_label *as_capture_label_get(const char *text) {
    static as_capture_label *table[1024];
    size_t length = as_capture_cut(text, AS_CAPTURE_LABEL);
    uint64_t hash = as_capture_hash(text, length);
    as_capture_label **bucket = &table[hash % (sizeof table / sizeof table[0])];
    for (as_capture_label *label = *bucket; label; label = label->next)
        if (label->hash == hash && label->length == length && memcmp(label->text, text, length) == 0) return label;
    as_capture_label *label = keep(sizeof *label + length + 1 + 2 * length + sizeof ",\"\",\n" + AS_CAPTURE_BLOCK);
    if (!label) return NULL;
    memcpy(label->text, text, length);
    label->text[length] = '\0';
    label->hash = hash;
    label->length = (uint32_t)length;
    char *written = label->text + length + 1, *at = written;
    *at++ = ',';
    at += as_capture_field(at, text, length);
    *at++ = ',';
    *at++ = '\n';
    label->written = written;
    label->written_length = (uint32_t)(at - written);
    label->next = *bucket;
    *bucket = label;
    return label;
}
