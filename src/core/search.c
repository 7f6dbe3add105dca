#include "core/search.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 };

typedef struct heap {
    char *things; /* the last one in order is on top */
    size_t size;
    int (*compare)(const void *, const void *, void *);
    void *user;
} heap;

static char *thing_at(const heap *h, size_t i) { return h->things + i * h->size; }

/* Brings the thing at a place of a heap of n down to where it belongs. */
static void sink(const heap *h, size_t n, size_t at) {
    char moved[MOST_BYTES];
    memcpy(moved, thing_at(h, at), h->size);
    for (size_t below = 2 * at + 1; below < n; below = 2 * at + 1) {
        if (below + 1 < n && h->compare(thing_at(h, below + 1), thing_at(h, below), h->user) > 0) below++;
        if (h->compare(thing_at(h, below), moved, h->user) <= 0) break;
        memcpy(thing_at(h, at), thing_at(h, below), h->size);
        at = below;
    }
    memcpy(thing_at(h, at), moved, h->size);
}

void as_sort_first(void *things, size_t n, size_t size, size_t most, int (*compare)(const void *, const void *, void *),
                   void *user) {
    const heap h = {things, size, compare, user};
    if (most < n / 4) {
        for (size_t i = most / 2; i-- > 0;) sink(&h, most, i);
        for (size_t i = most; i < n && most; i++) {
            if (compare(thing_at(&h, i), things, user) >= 0) continue;
            memcpy(things, thing_at(&h, i), size);
            sink(&h, most, 0);
        }
        n = most;
    }
    if (n > 1) qsort_r(things, n, size, compare, user);
}
