/* Interned strings: equal text has one id and one address. */
#ifndef AS_CORE_STRINGS_H
#define AS_CORE_STRINGS_H

#include "core/memory.h"

/* Dense id of an interned string; AS_NO_STR: absent (SQL NULL), which is not the empty string. */
typedef uint32_t as_str;
#define AS_NO_STR ((as_str)-1)

typedef struct as_strings {
    as_arena *arena;
    as_vec entries;               /* of struct as_string_entry */
    struct as_string_slot *slots; /* hash table */
    size_t n_slots;
} as_strings;

void as_strings_init(as_strings *strings, as_arena *arena);
void as_strings_free(as_strings *strings);

/* Makes room for so many texts more, so that the table need not grow step by step. Only a hint. */
void as_strings_expect(as_strings *strings, size_t n);

/* The id of this text, new or known; AS_NO_STR only when memory is out. text may hold NUL bytes. */
as_str as_intern(as_strings *strings, const char *text, size_t size);
/* The ids of up to AS_INTERN_BATCH texts, as as_intern() gives them, without waiting for memory at each of them in
 * turn. False when memory is out. */
typedef struct as_text_span {
    const char *text;
    size_t size;
} as_text_span;
enum { AS_INTERN_BATCH = 32 };
bool as_intern_batch(as_strings *strings, const as_text_span *texts, size_t n, as_str *ids);
/* The id if the text is known, else AS_NO_STR. */
as_str as_find(const as_strings *strings, const char *text, size_t size);
/* NUL-terminated; NULL for AS_NO_STR. Valid as long as the strings are. */
const char *as_str_text(const as_strings *strings, as_str id);
size_t as_str_size(const as_strings *strings, as_str id);

/* A hash of bytes for the tables of this process (XXH3, with its seed: core/seed.h). */
uint64_t as_hash(const void *data, size_t size);
/* The same in every process. */
uint64_t as_hash_everywhere(const void *data, size_t size);

#endif
