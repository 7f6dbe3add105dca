/* The order in which Perun joins the parts of an object: by the rank of their keys. */
#ifndef AS_FORMATS_PERUN_RANK_H
#define AS_FORMATS_PERUN_RANK_H

#include <stddef.h>

/* bin 0; file, source, package 1; module 2; class, struct, structure 3; function, func, method, procedure 4; line 5;
 * instruction 6. Of any other key it is the number whose digits are those of each character's code plus 6, one after
 * the other: far too long for an integer, so it is compared digit by digit. */
typedef struct as_rank {
    const char *key; /* borrowed, UTF-8 */
    size_t size;     /* of the key */
    size_t digits;   /* of the rank */
    int known;       /* -1: key is none of those above */
} as_rank;

as_rank as_rank_of(const char *key, size_t size);
/* As of qsort(). */
int as_rank_compare(const as_rank *a, const as_rank *b);

#endif
