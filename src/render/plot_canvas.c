#include "render/plot_canvas.h"

#include <math.h>
#include <stdlib.h>

#include "core/utf8.h"

bool as_canvas_init(as_canvas *canvas, unsigned columns, unsigned rows) {
    *canvas = (as_canvas){.columns = columns, .rows = rows, .cells = calloc((size_t)columns * rows, 2)};
    return canvas->cells != NULL;
}

void as_canvas_free(as_canvas *canvas) { free(canvas->cells); }

static bool is_curve(as_layer layer) { return layer >= AS_LAYER_CURVE && layer <= AS_LAYER_LAST_CURVE; }

void as_canvas_dot(as_canvas *canvas, long x, long y, as_layer layer) {
    static const unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || y < 0 || x >= 2 * (long)canvas->columns || y >= 4 * (long)canvas->rows) return;
    struct as_canvas_cell *cell = &canvas->cells[(size_t)(y / 4) * canvas->columns + (size_t)(x / 2)];
    bool are_curves = is_curve(layer) && is_curve((as_layer)cell->layer); /* where they cross, both are seen */
    if (layer < (as_layer)cell->layer && !are_curves) return;
    if (layer > (as_layer)cell->layer && !are_curves) cell->dots = 0;
    if (layer > (as_layer)cell->layer) cell->layer = (unsigned char)layer;
    cell->dots |= bits[y % 4][x % 2];
}

/* Cuts the part of a line where from + t * way leaves 0 … most off *begin … *end; false when nothing is left. */
static bool cut(double from, double way, double most, double *begin, double *end) {
    if (way == 0) return from >= 0 && from <= most;
    double enter = -from / way, leave = (most - from) / way;
    *begin = fmax(*begin, fmin(enter, leave));
    *end = fmin(*end, fmax(enter, leave));
    return *begin <= *end;
}

void as_canvas_line(as_canvas *canvas, double x0, double y0, double x1, double y1, as_layer layer) {
    double begin = 0, end = 1, dx = x1 - x0, dy = y1 - y0;
    if (!isfinite(dx) || !isfinite(dy)) return;
    if (!cut(x0, dx, 2.0 * canvas->columns - 1, &begin, &end)) return;
    if (!cut(y0, dy, 4.0 * canvas->rows - 1, &begin, &end)) return;
    double length = (end - begin) * fmax(fabs(dx), fabs(dy));
    unsigned steps = (unsigned)ceil(length);
    for (unsigned i = 0; i <= steps; i++) {
        double t = steps ? begin + (end - begin) * i / steps : begin;
        as_canvas_dot(canvas, lround(x0 + t * dx), lround(y0 + t * dy), layer);
    }
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

const char *as_layer_sign(as_layer layer, bool ascii) {
    static const char *const unicode[] = {" ", "┊", "⢕", "─", "─", "─", "─", "─", "─", "│", "●"};
    static const char *const plain[] = {" ", ":", ".", "*", "+", "x", "%", "=", "~", "|", "o"};
    return ascii ? plain[layer] : unicode[layer];
}

const char *as_layer_colour(as_layer layer) {
    static const char *const colours[] = {"",           "\033[2m",  "\033[2;36m", "\033[1;36m",
                                          "\033[1;33m", "\033[32m", "\033[1;35m", "\033[31m",
                                          "\033[1;34m", "",         "\033[1m"};
    return colours[layer];
}

static void print_cell(as_output *out, const struct as_canvas_cell *cell, bool ascii) {
    bool braille = !ascii && cell->layer >= AS_LAYER_BAND && cell->layer <= AS_LAYER_BAR;
    if (!braille) {
        as_output_text(out, as_layer_sign((as_layer)cell->layer, ascii));
        return;
    }
    char text[4];
    as_output_write(out, text, as_utf8_put(text, 0x2800u + cell->dots));
}

void as_canvas_print_row(as_output *out, const as_canvas *canvas, unsigned row, as_canvas_style style) {
    const struct as_canvas_cell *cells = &canvas->cells[(size_t)row * canvas->columns];
    unsigned n = canvas->columns;
    while (n > 0 && cells[n - 1].layer == AS_LAYER_NONE) n--;
    const char *colour = "";
    for (unsigned i = 0; i < n; i++) {
        const char *wanted = style.colour ? as_layer_colour((as_layer)cells[i].layer) : "";
        if (wanted != colour && *colour) as_output_text(out, "\033[0m");
        if (wanted != colour) as_output_text(out, wanted);
        colour = wanted;
        print_cell(out, &cells[i], style.ascii);
    }
    if (*colour) as_output_text(out, "\033[0m");
}
