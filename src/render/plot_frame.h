/* What the two kinds of plots on a terminal share: the place around the picture (plot_terminal.c), and the heat map
 * inside it (plot_heat_terminal.c). */
#ifndef AS_RENDER_PLOT_FRAME_H
#define AS_RENDER_PLOT_FRAME_H

#include "render/plot.h"

typedef struct as_frame {
    as_output *out;
    const as_plot *plot;
    as_plot_axes axes;
    as_ticks x_ticks, y_ticks;
    unsigned width;         /* of everything */
    unsigned gutter;        /* left of the picture: labels and axis */
    unsigned columns, rows; /* of the picture */
    bool colour, ascii;
    as_vec text; /* of char, for whoever needs it */
} as_frame;

/* The column or row (from the top) of a position on an axis; -1: outside. */
int as_frame_column(const as_frame *frame, double position);
int as_frame_row(const as_frame *frame, double position);
static inline const char *as_frame_sgr(const as_frame *frame, const char *sequence) {
    return frame->colour ? sequence : "";
}

/* The levels of a heat map are bounded by the ticks of z. */
typedef struct as_heat_levels {
    as_ticks ticks; /* only those with labels */
    size_t n;       /* ticks.n + 1 */
} as_heat_levels;

void as_heat_levels_choose(const as_frame *frame, as_heat_levels *levels);
/* One row of the picture; points: whether a measured point is in a cell, columns * rows. */
void as_heat_print_row(const as_frame *frame, const as_heat_levels *levels, const bool *points, unsigned row);
/* "0 ░░ 10 ▒▒ 20 …" and what it is. */
bool as_heat_print_legend(as_frame *frame, const as_heat_levels *levels);

#endif
