/* The heat map of places in an answer: place by place, or, where these are too many to be drawn one by one, in cells of
 * several. */
#ifndef AS_SERVER_LOCATION_CELLS_H
#define AS_SERVER_LOCATION_CELLS_H

#include "server/location_grid.h"

/* So many places are told one by one. */
enum { AS_MOST_SINGLE_PLACES = 8192 };

/* Members "grid", "kinds", "processes" and "places", or "grid" and "cells", of the object that is open. selected: one
 * bool for each place, or NULL. */
assay_status as_answer_cells(as_builder *builder, const as_placed_values *of, const bool *selected, assay_error *error);
/* Members "places" alone, of runs. */
void as_answer_runs(as_builder *builder, const as_placed_values *of);

#endif
