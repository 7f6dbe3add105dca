/* Where the places of a heat map lie: a row for each process and a column for each of its threads; a row for each node
 * and a column for each of its processes; or, where there is only one such row, or one place in each, one after the
 * other in rows of equal length. */
#ifndef AS_SERVER_LOCATION_GRID_H
#define AS_SERVER_LOCATION_GRID_H

#include "server/location_values.h"

typedef enum as_grid_layout { AS_GRID_PROCESSES, AS_GRID_NODES, AS_GRID_WRAPPED } as_grid_layout;

typedef struct as_location_grid {
    as_grid_layout layout;
    uint32_t n_rows, n_columns;
    uint32_t *row, *column; /* of each place */
    assay_id *above;        /* of each row: the process or node; unless wrapped */
    /* of processes: a column has the threads (and so on) of one kind and number; else the first of each process, the
     * second, … */
    bool has_numbers;
    assay_id *example; /* of each column: a location in it; where has_numbers */
} as_location_grid;

/* Of places that are no runs. as_location_grid_free() in every case. */
assay_status as_location_grid_make(const as_placed_values *of, as_location_grid *out, assay_error *error);
void as_location_grid_free(as_location_grid *grid);

/* The process (of whatever name) that a location lies in: the rank or process above it, else what lies above it;
 * ASSAY_NONE: nothing does. A process itself is its own. */
assay_id as_location_process(const as_dataset *ds, assay_id location);

#endif
