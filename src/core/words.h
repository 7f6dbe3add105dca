/* Lists of words: whether one is in it, and the nearest of some for "did you mean …?". */
#ifndef AS_CORE_WORDS_H
#define AS_CORE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether word is one of "weak|strong". */
bool as_is_choice(const char *choices, const char *word);

typedef struct as_nearest {
    const char *given;
    size_t size;
    const char *word; /* the best so far, NULL while none is near */
    size_t distance;
} as_nearest;

/* given need not be NUL-terminated and must stay valid. */
as_nearest as_nearest_start(const char *given, size_t size);
/* Keeps the word if it is nearer than those before: at most a third of its letters differ, or given is its
 * beginning. */
void as_nearest_offer(as_nearest *nearest, const char *word);

/* How long one of a unit ("ms", "usec", "minutes" …, in any case of letters) is in seconds; 0: it is no time, or
 * NULL. */
double as_unit_seconds(const char *unit);

#endif
