/* The cells of a row that is being made, at most one in each column. */
#ifndef AS_FORMATS_PERUN_CELLS_H
#define AS_FORMATS_PERUN_CELLS_H

#include "dataset/records.h"

typedef struct as_perun_cells {
    as_vec cells;  /* as_shared_cell, in the order in which their columns came first */
    as_vec stamps; /* which of them a column has, and in which row */
    size_t row;    /* counted from 1 */
} as_perun_cells;

void as_perun_cells_init(as_perun_cells *cells, as_budget *budget);
void as_perun_cells_free(as_perun_cells *cells);
/* Begins the next row, which is the first one too: nothing is there yet. */
void as_perun_cells_begin(as_perun_cells *cells);
/* Replaces an earlier cell of the column. Its text must live as long as it is needed. False when memory is out, also
 * where column, UINT32_MAX, says so. */
bool as_perun_cells_put(as_perun_cells *cells, uint32_t column, as_cell cell);
/* NULL: the row has none in this column. Borrowed until the next one is put. */
as_shared_cell *as_perun_cells_find(const as_perun_cells *cells, uint32_t column);

#endif
