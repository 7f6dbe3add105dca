/* UTF-8, one character at a time. */
#ifndef AS_CORE_UTF8_H
#define AS_CORE_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the character at text, of which `room` are there; 0 if it is not a valid one (overlong, surrogate, beyond
 * U+10FFFF, cut off). */
static inline size_t as_utf8_length(const char *text, size_t room) {
    const unsigned char *s = (const unsigned char *)text;
    if (room == 0) return 0;
    if (s[0] < 0x80) return 1;
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n > room) return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
    }
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90)) return 0;   /* overlong */
    if ((s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90)) return 0; /* surrogate, beyond */
    return n;
}

/* The first byte that is no valid UTF-8, or NULL. */
static inline const char *as_utf8_invalid(const char *text, size_t size) {
    for (const char *end = text + size; text < end;) {
        uint64_t eight;
        if (end - text >= 8 && (memcpy(&eight, text, 8), !(eight & 0x8080808080808080u))) { /* ASCII, as most is */
            text += 8;
            continue;
        }
        size_t n = as_utf8_length(text, (size_t)(end - text));
        if (!n) return text;
        text += n;
    }
    return NULL;
}

/* Writes the character (at most U+10FFFF) to `to`; returns how many bytes. */
static inline size_t as_utf8_put(char to[4], uint32_t c) {
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; --i > 0; c >>= 6) to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(first[n] | c);
    return n;
}

#endif
