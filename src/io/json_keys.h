/* The keys of the first JSON object in a window of a file, for formats that tell by them whether it is theirs: nothing
 * is allocated, checked or decoded. */
#ifndef AS_IO_JSON_KEYS_H
#define AS_IO_JSON_KEYS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct as_json_keys {
    const char *at, *end; /* end may be made smaller before the first as_json_keys_next() */
    size_t depth;
    bool is_over; /* the object ended in the window */

    /* the current key */
    const char *key; /* between its quotes, escapes as they stand */
    size_t size;
    char first; /* of its value */
} as_json_keys;

/* At the first character that is neither a byte order mark nor white space: '{' if this is an object; 0: the window is
 * empty. */
char as_json_keys_begin(as_json_keys *keys, const char *window, size_t size);
/* The next key of the object itself whose value begins in the window. False behind the last one. */
bool as_json_keys_next(as_json_keys *keys);

#endif
