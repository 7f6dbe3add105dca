/* Contour lines of numbers on a grid, by marching squares. */
#ifndef AS_RENDER_PLOT_CONTOUR_H
#define AS_RENDER_PLOT_CONTOUR_H

#include "core/memory.h"

typedef struct as_spot {
    double x, y;
} as_spot;

/* Called for each line: n >= 2 spots in units of the grid (0 … nx - 1, 0 … ny - 1); a closed line ends where it
 * begins. */
typedef void (*as_contour_visit)(void *user, const as_spot *spots, size_t n);

/* z: nx * ny numbers, z[j * nx + i] at (i, j). A square with a corner that is not finite has no line. Same order for
 * same numbers. False when memory is out. */
bool as_contour(const double *z, size_t nx, size_t ny, double level, as_contour_visit visit, void *user);

#endif
