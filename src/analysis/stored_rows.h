/* Rows of stored metrics (as_metric.is_stored), location by location: an inclusive one has its own values and those of
 * its exclusive metric, others have theirs as inclusive values. Sparse profiles are read context by context: there are
 * never more than two rows in memory. */
#ifndef AS_ANALYSIS_STORED_ROWS_H
#define AS_ANALYSIS_STORED_ROWS_H

#include "analysis/rows.h"

typedef struct as_stored_rows as_stored_rows;

/* Whether a metric's rows are to be had here: it is stored, and its values are plain numbers. */
bool as_has_stored_rows(const as_dataset *ds, assay_id metric);

/* The contexts first … first + n - 1. as_stored_rows_close() in every case. */
assay_status as_stored_rows_open(const as_dataset *ds, assay_id run, assay_id metric, assay_id first, uint32_t n,
                                 as_stored_rows **out, assay_error *error);
void as_stored_rows_close(as_stored_rows *rows);
/* Other contexts of sparse profiles, for who reads many of them here and there. Of others what was opened is all there
 * is: as_stored_rows_is_sparse() is false. */
void as_stored_rows_seek(as_stored_rows *rows, assay_id first, uint32_t n);
bool as_stored_rows_is_sparse(const as_dataset *ds, assay_id run, assay_id metric);
/* A profile whose columns are those of the rows: all that either metric has. */
const as_profile *as_stored_rows_view(const as_stored_rows *rows);
/* The next context that has anything, the last one first; the row lives until the next call. *row NULL: behind the
 * last. */
assay_status as_stored_rows_next(as_stored_rows *rows, const as_context_row **row, assay_error *error);

#endif
