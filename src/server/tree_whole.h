/* Which items of a table are worth being told of where all of them are too many. */
#ifndef AS_SERVER_TREE_WHOLE_H
#define AS_SERVER_TREE_WHOLE_H

#include "server/tables.h"

/* Rows that one answer in a report may have: more than the largest has room for. */
enum { AS_MOST_OF_WHOLE = 4000000 };

/* A part of a table: what has the largest shares of the whole in one of the metrics, and all that lies above it. */
typedef struct as_whole_part {
    uint8_t *marks;  /* of each item: whether it is a part; to be freed */
    double share;    /* what is left out has less; 0: nothing is left out; NAN: shares tell nothing apart */
    uint32_t n, all; /* items */
} as_whole_part;

/* `most` items (from 1 on), or all where there are no more; of equal shares the first. The share is the least of 1e-7,
 * 1.1e-7, 1.2e-7 … 9.9e-7, 1e-6 … 1 that is more than what is left out has. False when memory is out. */
bool as_whole_part_choose(const as_asked_table *asked, uint32_t most, as_whole_part *out);

#endif
