/* Binary search, and the first of many in order. */
#ifndef AS_CORE_SEARCH_H
#define AS_CORE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* Index of the first of n ascending ids that is not below `id`, or n. */
static inline size_t as_first_not_below(const uint32_t *ids, size_t n, uint32_t id) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Index of the last of n > 0 ascending sums that is not above `sum`, the first of them being 0. */
static inline size_t as_last_not_above(const uint64_t *sums, size_t n, uint64_t sum) {
    size_t low = 0, high = n - 1;
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (sums[middle] <= sum)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Sorts n things of `size` bytes (at most 64) so that the first `most` of them stand in their places: of very many only
 * these are sorted, and the others may be lost. compare: as that of qsort_r(), 0 for no two of them. */
void as_sort_first(void *things, size_t n, size_t size, size_t most, int (*compare)(const void *, const void *, void *),
                   void *user);

#endif
