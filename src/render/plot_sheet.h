/* What the two kinds of plots share as SVG: the sheet with axes and texts (plot_svg.c), and the heat map on it
 * (plot_heat_svg.c). */
#ifndef AS_RENDER_PLOT_SHEET_H
#define AS_RENDER_PLOT_SHEET_H

#include "render/plot.h"

typedef struct as_sheet {
    as_output *out;
    const as_plot *plot;
    as_plot_axes axes;
    as_ticks x_ticks, y_ticks;
    double page_width, page_height;
    double left, top, width, height; /* the picture */
} as_sheet;

/* Room that a heat map needs on the right for its colours. */
double as_heat_margin(const as_sheet *sheet);

/* Inside the picture, from its upper left corner; NAN: nowhere. */
static inline double as_sheet_x(const as_sheet *sheet, double value) {
    return as_axis_position(&sheet->axes.x, value) * sheet->width;
}
static inline double as_sheet_y(const as_sheet *sheet, double value) {
    return (1 - as_axis_position(&sheet->axes.y, value)) * sheet->height;
}

/* A command of a path with a place: "M1.5 20". */
void as_svg_place(as_output *out, char command, double x, double y);

/* The surface and its contours with their labels, inside the picture. False when memory is out. */
bool as_heat_svg_surface(const as_sheet *sheet);
/* The measured points on it. */
void as_heat_svg_points(const as_sheet *sheet, const as_plot_series *series);
/* The colours and what they stand for, on the right. */
void as_heat_svg_bar(const as_sheet *sheet);

#endif
