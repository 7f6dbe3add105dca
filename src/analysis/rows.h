/* Inclusive and exclusive values of each context, location by location, in the metric's own arithmetic.
 *
 * What the source stores decides: exclusive values are added up over the subtree to give the inclusive ones (and have
 * those of the pieces of a call in them, see dataset/pieces.h), of inclusive values the children's are taken off to
 * give the exclusive ones. Differences of unsigned values end at 0, at each location. Metrics of other kinds have only
 * what they store; the pairs of stored metrics are analysis/stored_rows.h. */
#ifndef AS_ANALYSIS_ROWS_H
#define AS_ANALYSIS_ROWS_H

#include "dataset/dataset.h"

/* One context's row: n numbers of one kind; the others are NULL. exclusive ones are NULL where the metric has no such
 * thing. */
typedef struct as_context_row {
    assay_id context;
    uint32_t n;
    bool has_own;                                  /* the source has a row for this very context */
    const as_whole *inclusive, *exclusive;         /* of integer types */
    const double *inclusive_real, *exclusive_real; /* of all others */
} as_context_row;

/* Calls visit for the contexts of the slice's range with data, the last one first (children before their parents):
 * metrics of exclusive values have a row wherever the subtree has data, those of inclusive values where the context or
 * a child has (a missing row is zeros), others where the context has. part: of a composite value, else 0. The rows live
 * until visit returns. Memory is one row for each level of the tree that waits for its parent, and counts as the
 * dataset's. False when memory is out, or when visit returned false. */
bool as_rows_each(const as_dataset *ds, const as_slice *slice, uint32_t part,
                  bool (*visit)(void *user, const as_context_row *row), void *user);

/* The same row by row, for who goes through several metrics side by side. NULL when memory is out. The slice must stay
 * open. */
typedef struct as_rows as_rows;
as_rows *as_rows_open(const as_dataset *ds, const as_slice *slice, uint32_t part);
void as_rows_close(as_rows *rows);
/* The next one, which lives until the next call. NULL behind the last, or when memory is out (as_rows_failed()). */
const as_context_row *as_rows_next(as_rows *rows);
bool as_rows_failed(const as_rows *rows);

#endif
