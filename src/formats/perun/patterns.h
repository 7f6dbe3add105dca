/* Resources that repeat the text of earlier ones apart from their numbers, which is how programs write them. The text
 * between the numbers is compared, not read again: each resource that was read in full leaves its pieces in a tree, and
 * the next one walks along it. */
#ifndef AS_FORMATS_PERUN_PATTERNS_H
#define AS_FORMATS_PERUN_PATTERNS_H

#include "core/memory.h"
#include "core/number.h"

typedef struct as_perun_patterns as_perun_patterns;

enum { AS_PATTERN_NUMBERS = 8 }; /* of one resource at most */

/* A number in the text of a resource, and whose it is. */
typedef struct as_pattern_number {
    const char *begin, *end;
    int key;
} as_pattern_number;

/* What resources of one text have in common. */
typedef struct as_pattern_leaf {
    const char *members; /* what is not numbers: see as_perun_find_kind() */
    size_t size;
    bool has_uid;
    uint32_t frame, kind; /* where one was last found */
} as_pattern_leaf;

/* NULL when memory is out. */
as_perun_patterns *as_patterns_new(as_budget *budget);
void as_patterns_free(as_perun_patterns *patterns);

/* The pattern of the resource at `at`: *size is that of its text, numbers[key] what it has, *has a bit for each key.
 * NULL: it must be read. */
as_pattern_leaf *as_patterns_match(as_perun_patterns *patterns, const char *at, const char *end, size_t *size,
                                   as_number numbers[AS_PATTERN_NUMBERS], unsigned *has);
/* Remembers a resource that was read, unless there are too many patterns already. All of its own cells are numbers,
 * each key there once. The leaf's members are copied. */
void as_patterns_learn(as_perun_patterns *patterns, const char *begin, const char *end,
                       const as_pattern_number *numbers, size_t n, const as_pattern_leaf *leaf);

#endif
