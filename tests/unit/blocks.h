/* Blocks of values from rows written down in a test. */
#ifndef AS_TESTS_BLOCKS_H
#define AS_TESTS_BLOCKS_H

#include "dataset/build.h"

/* One row: context, run, location, value. Rows come sorted by context, run and location. */
typedef struct row {
    assay_id context, run, location;
    union {
        int64_t i;
        uint64_t u;
        double r;
    };
} row;

/* run ASSAY_NONE: rows have runs of their own. Where no row has a location, the block has none. */
static inline void add_block(as_dataset *ds, assay_id metric, assay_id run, as_dtype dtype, const row *rows, size_t n) {
    assay_id *contexts = as_arena_array(&ds->arena, n, sizeof *contexts),
             *runs = as_arena_array(&ds->arena, n, sizeof *runs);
    assay_id *locations = as_arena_array(&ds->arena, n, sizeof *locations);
    uint64_t *starts = as_arena_array(&ds->arena, n + 1, sizeof *starts),
             *values = as_arena_array(&ds->arena, n, sizeof *values);
    as_block block = {.metric = metric,
                      .run = run,
                      .contexts = contexts,
                      .starts = starts,
                      .runs = run == ASSAY_NONE ? runs : NULL,
                      .dtype = dtype,
                      .values = values};
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || rows[i].context != rows[i - 1].context) {
            contexts[block.n_contexts] = rows[i].context;
            starts[block.n_contexts++] = i;
        }
        runs[i] = rows[i].run;
        locations[i] = rows[i].location;
        if (rows[i].location != ASSAY_NONE) block.locations = locations;
        values[i] = rows[i].u;
    }
    starts[block.n_contexts] = n;
    assert_true(as_add_block(ds, &block));
}

#endif
