/* A sparse profile that is made in memory, row by row: what comes of sparse profiles stays as small as they are. */
#ifndef AS_DATASET_SPARSE_TABLE_H
#define AS_DATASET_SPARSE_TABLE_H

#include "dataset/sparse.h"

typedef struct as_sparse_table as_sparse_table;

/* It belongs to the dataset, and its memory counts there. NULL when memory is out. */
as_sparse_table *as_sparse_table_new(as_dataset *ds);
/* The next context's row: n values with their columns, ascending. Contexts ascend, too. Zeros are left out. False when
 * memory is out. */
bool as_sparse_table_add(as_sparse_table *table, assay_id context, const uint32_t *columns, const double *values,
                         uint32_t n);
/* Adds it to the dataset as a profile with these columns, which must live as long as the dataset; nothing where it has
 * no values. False when memory is out. */
bool as_sparse_table_finish(as_sparse_table *table, assay_id metric, assay_id run, const assay_id *columns,
                            uint32_t n_columns);

#endif
