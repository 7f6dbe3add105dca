/* Rows of sums by depth, for who goes through the contexts of a tree from the last to the first: a context's children
 * have all been seen when its turn comes, and nothing else of their depth since the context before it. So one row for
 * each depth is enough, and only depths that wait for their parent need one: a chain of a million calls needs two. */
#ifndef AS_ANALYSIS_LEVELS_H
#define AS_ANALYSIS_LEVELS_H

#include "core/memory.h"

typedef struct as_levels {
    size_t row_size; /* bytes */
    as_budget *budget;
    as_vec rows;  /* void *, by depth; NULL: nothing waits there */
    as_vec spare; /* void *: rows that nobody needs now */
} as_levels;

/* Rows count in the budget, which may be NULL. */
void as_levels_init(as_levels *levels, size_t row_size, as_budget *budget);
void as_levels_free(as_levels *levels);

/* The row of a depth, or NULL: there is none. */
static inline void *as_levels_at(const as_levels *levels, size_t depth) {
    return depth < levels->rows.count ? AS_AT(void *, &levels->rows, depth) : NULL;
}
/* A row for a depth that has none, its content left open; NULL when memory is out. */
void *as_levels_add(as_levels *levels, size_t depth);
/* Takes away the row of a depth, if it has one. */
void as_levels_remove(as_levels *levels, size_t depth);

#endif
