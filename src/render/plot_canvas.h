/* A canvas of braille dots for terminals: two dots across and four down in each character. What lies on top of each
 * other in one character is decided by layers. */
#ifndef AS_RENDER_PLOT_CANVAS_H
#define AS_RENDER_PLOT_CANVAS_H

#include "io/output.h"

/* From the back to the front: a character shows its frontmost layer. */
typedef enum as_layer {
    AS_LAYER_NONE,
    AS_LAYER_MARKER, /* a line upward that is no data */
    AS_LAYER_BAND,
    AS_LAYER_CURVE, /* the first of them */
    AS_LAYER_LAST_CURVE = AS_LAYER_CURVE + 5,
    AS_LAYER_BAR,
    AS_LAYER_POINT
} as_layer;

/* Of the n-th curve, from 0; beyond what can be told apart they begin again. */
static inline as_layer as_curve_layer(size_t n) {
    return (as_layer)(AS_LAYER_CURVE + n % (AS_LAYER_LAST_CURVE - AS_LAYER_CURVE + 1));
}

typedef struct as_canvas {
    unsigned columns, rows; /* characters */
    struct as_canvas_cell {
        unsigned char dots, layer;
    } * cells;
} as_canvas;

/* False when memory is out. */
bool as_canvas_init(as_canvas *canvas, unsigned columns, unsigned rows);
void as_canvas_free(as_canvas *canvas);

/* x from the left, y from the top, both in dots; dots outside are ignored. */
void as_canvas_dot(as_canvas *canvas, long x, long y, as_layer layer);
/* A line between two places, which may lie far outside. */
void as_canvas_line(as_canvas *canvas, double x0, double y0, double x1, double y1, as_layer layer);

typedef struct as_canvas_style {
    bool colour, ascii;
} as_canvas_style;

/* One row of characters, without blanks at its end. */
void as_canvas_print_row(as_output *out, const as_canvas *canvas, unsigned row, as_canvas_style style);
/* What a layer looks like, for legends; a layer's colour where the style has colours. */
const char *as_layer_sign(as_layer layer, bool ascii);
const char *as_layer_colour(as_layer layer);

#endif
