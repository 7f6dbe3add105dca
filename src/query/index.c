#include <stdlib.h>

#include "query/tables.h"

bool as_index_build(as_index *index, size_t n_rows, as_index_hash *hash, void *user) {
    if (n_rows >= UINT32_MAX - 1) return false;
    size_t n_buckets = 16;
    while (n_buckets < n_rows) n_buckets *= 2;
    uint32_t *starts = calloc(n_buckets + 1, sizeof *starts);
    uint32_t *rows = malloc((n_rows + 1) * sizeof *rows), *buckets = malloc((n_rows + 1) * sizeof *buckets);
    if (!starts || !rows || !buckets) {
        free(starts);
        free(rows);
        free(buckets);
        return false;
    }
    index->mask = (uint32_t)(n_buckets - 1);
    for (size_t row = 0; row < n_rows; row++) {
        buckets[row] = (uint32_t)hash(user, row) & index->mask;
        starts[buckets[row] + 1]++;
    }
    for (size_t bucket = 0; bucket < n_buckets; bucket++) starts[bucket + 1] += starts[bucket];
    /* From the last row on, so that the rows of a bucket stay in order: each end is moved down to its start. */
    for (size_t row = n_rows; row-- > 0;) rows[--starts[buckets[row] + 1]] = (uint32_t)row;
    free(buckets);
    /* starts[b + 1] is now where bucket b begins. */
    memmove(starts, starts + 1, n_buckets * sizeof *starts);
    starts[n_buckets] = (uint32_t)n_rows;
    index->starts = starts;
    index->rows = rows;
    return true;
}

void as_index_free(as_index *index) {
    free(index->starts);
    free(index->rows);
    *index = (as_index){0};
}

const uint32_t *as_index_find(const as_index *index, uint64_t hash, uint32_t *n) {
    uint32_t bucket = (uint32_t)hash & index->mask;
    *n = index->starts[bucket + 1] - index->starts[bucket];
    return index->rows + index->starts[bucket];
}
