/* Profiles most of whose cells are empty: lines of them, and what turns them into rows with a column for each
 * location. */
#ifndef AS_DATASET_SPARSE_H
#define AS_DATASET_SPARSE_H

#include "dataset/dataset.h"

/* Makes room for n numbers; what the line held is lost. False when memory is out. {0} is an empty line. */
bool as_sparse_line_reserve(as_sparse_line *line, uint32_t n);
void as_sparse_line_free(as_sparse_line *line);

/* The rows of the contexts first … first + n - 1 that have any, as a loaded profile has them, behind what the vectors
 * hold: contexts of assay_id, values of double. */
assay_status as_sparse_rows(const as_profile *profile, assay_id first, uint32_t n, as_vec *contexts, as_vec *values,
                            assay_error *error);

/* For as_profile_source.load of sparse sources: all rows, which the dataset then holds. */
assay_status as_sparse_load(as_profile_source *source, as_dataset *ds, as_profile *profile, unsigned threads,
                            assay_error *error);

/* What reading all of it one way gives: equal where the other way gives the same values. */
typedef struct as_sparse_digest {
    uint64_t n_values, sum; /* sum: of what each value, its context and column are hashed to */
} as_sparse_digest;

/* Reads all of it both ways, and keeps nothing. */
assay_status as_sparse_check(const as_dataset *ds, const as_profile *profile, as_sparse_digest *rows,
                             as_sparse_digest *columns, assay_error *error);

#endif
