#include "formats/perun/cells.h"

typedef struct stamp {
    size_t row, index;
} stamp;

void as_perun_cells_init(as_perun_cells *cells, as_budget *budget) {
    *cells = (as_perun_cells){0};
    as_vec_init(&cells->cells, sizeof(as_shared_cell), budget);
    as_vec_init(&cells->stamps, sizeof(stamp), budget);
}

void as_perun_cells_free(as_perun_cells *cells) {
    as_vec_free(&cells->cells);
    as_vec_free(&cells->stamps);
}

void as_perun_cells_begin(as_perun_cells *cells) {
    cells->cells.count = 0;
    cells->row++;
}

as_shared_cell *as_perun_cells_find(const as_perun_cells *cells, uint32_t column) {
    if (column >= cells->stamps.count) return NULL;
    const stamp *known = &AS_AT(stamp, &cells->stamps, column);
    return known->row == cells->row ? &AS_AT(as_shared_cell, &cells->cells, known->index) : NULL;
}

bool as_perun_cells_put(as_perun_cells *cells, uint32_t column, as_cell cell) {
    as_shared_cell new = {.column = column, .cell = cell}, *known = as_perun_cells_find(cells, column);
    if (known) {
        *known = new;
        return true;
    }
    while (column != UINT32_MAX && cells->stamps.count <= column) {
        if (!as_vec_push(&cells->stamps)) return false;
    }
    if (column == UINT32_MAX || !as_vec_append(&cells->cells, &new, 1)) return false;
    AS_AT(stamp, &cells->stamps, column) = (stamp){cells->row, cells->cells.count - 1};
    return true;
}
