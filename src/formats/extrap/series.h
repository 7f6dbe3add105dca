/* What the Extra-P writers share: walking the values of a series point by point, and what of a dataset none of them
 * can name. */
#ifndef AS_FORMATS_EXTRAP_SERIES_H
#define AS_FORMATS_EXTRAP_SERIES_H

#include "formats/format.h"

/* The values of one series, a point after the other. Rows are those of the metric's block. */
typedef struct as_series_walk {
    const as_dataset *ds;
    const as_block *block; /* NULL: the series has no values */
    uint64_t next, end;
    as_vec order;  /* uint64_t row numbers, only where the block's own order is not by point */
    uint64_t base; /* row of order[0] */

    /* the current point */
    assay_id point;
    uint64_t first, n; /* its rows: as_walk_row(walk, first … first + n - 1) */
} as_series_walk;

/* False when memory is out. Always ended by as_walk_end(). */
bool as_walk_begin(as_series_walk *walk, const as_dataset *ds, const as_series *series);
void as_walk_end(as_series_walk *walk);
/* Steps to the next point with values. Runs without a point are passed over. */
bool as_walk_next(as_series_walk *walk);
static inline uint64_t as_walk_row(const as_series_walk *walk, uint64_t index) {
    return walk->order.count ? AS_AT(uint64_t, &walk->order, index - walk->base) : index;
}
/* How many rows from index on, within the current point, belong to one repetition. */
uint64_t as_walk_repetition(const as_series_walk *walk, uint64_t index);

/* ASSAY_E_UNSUPPORTED where the dataset has no parameters or no values, without which these formats cannot be. */
assay_status as_require_experiment(const as_writer *writer, const char *format);

/* A flag for each context, point and metric: whether some series has values there. */
typedef struct as_measured {
    bool *contexts, *points, *metrics;
} as_measured;
void as_measured_free(as_measured *measured);

/* How many call paths, points and metrics the source names without values. False when memory is out. */
typedef struct as_unmeasured {
    size_t callpaths, points, metrics;
} as_unmeasured;
bool as_count_unmeasured(const as_dataset *ds, as_unmeasured *count);

#endif
