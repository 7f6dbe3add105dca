/* Plots: points with bars, curves with bands, heat maps with contours. What is shown is described once, and drawn on a
 * terminal or as SVG.
 *
 * A description is filled by the functions below; numbers that are not finite are left out when it is drawn (a curve
 * has a gap there). */
#ifndef AS_RENDER_PLOT_H
#define AS_RENDER_PLOT_H

#include "core/memory.h"
#include "io/output.h"
#include "render/plot_axis.h"

typedef struct as_plot_point {
    double x, y;
    double z;         /* heat maps: what was measured here; else NAN */
    double low, high; /* the bar of a point, the band of a curve; NAN: none */
} as_plot_point;

typedef enum as_plot_kind { AS_PLOT_POINTS, AS_PLOT_CURVE } as_plot_kind;

typedef struct as_plot_series {
    as_plot_kind kind;
    const char *label;  /* in the legend */
    const char *around; /* what the bars or the band are; NULL: there are none */
    as_vec points;      /* as_plot_point, a curve's in order of x */
} as_plot_series;

/* z[j * nx + i] is at (x[i], y[j]); both ascending, evenly spread on their axes. */
typedef struct as_plot_grid {
    size_t nx, ny;
    double *x, *y, *z;
} as_plot_grid;

typedef struct as_plot {
    as_arena arena; /* of all texts and of the grid */
    /* NULL: none. The last two are rich text (render/plot_text.h) */
    const char *title, *subtitle, *function, *quality;
    as_axis x, y,
        z; /* x and y are fitted to the points where as_axis_fit…() was not called on them; z: heat maps only */
    double measured_x, measured_y; /* beyond these it is extrapolated; NAN: nothing is */
    as_vec series;                 /* as_plot_series */
    as_plot_grid grid;             /* nx 0: no heat map */
} as_plot;

/* NULL when memory is out. */
as_plot *as_plot_new(void);
void as_plot_free(as_plot *plot);

/* Copies the text to where one of the plot's belongs: as_plot_text(plot, &plot->title, "main"). NULL and false when
 * memory is out. */
bool as_plot_text(as_plot *plot, const char **to, const char *text);
/* A new series; borrowed until the next is added. NULL when memory is out. */
as_plot_series *as_plot_add(as_plot *plot, as_plot_kind kind, const char *label, const char *around);
bool as_plot_add_point(as_plot_series *series, as_plot_point point);
/* Makes room for a heat map and sets its x and y evenly on the plot's axes, which must be fitted; z is NAN. Both at
 * least 2. */
bool as_plot_add_grid(as_plot *plot, size_t nx, size_t ny);

typedef struct as_plot_axes {
    as_axis x, y, z;
} as_plot_axes;
/* The axes as they are drawn. */
as_plot_axes as_plot_fitted(const as_plot *plot);

/* Draws in at most width columns (40 at least) and about height rows in all. ascii: nothing but ASCII, except in names.
 * False when memory is out. */
bool as_plot_terminal(as_output *out, const as_plot *plot, unsigned width, unsigned height, bool colour, bool ascii);
/* Writes a self-contained SVG. Same bytes for the same plot. False when memory is out. */
bool as_plot_svg(as_output *out, const as_plot *plot);

#endif
