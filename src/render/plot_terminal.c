/* Plots on a terminal: title, picture with axes, legend, function. */
#include <math.h>
#include <stdlib.h>

#include "render/display.h"
#include "render/plot.h"
#include "render/plot_canvas.h"
#include "render/plot_frame.h"
#include "render/plot_text.h"

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define PLAIN "\033[0m"

enum { LEAST_WIDTH = 40, MOST_WIDTH = 1000, LEAST_ROWS = 4, MOST_ROWS = 1000 };

int as_frame_column(const as_frame *frame, double position) {
    if (!(position >= -1e-9 && position <= 1 + 1e-9)) return -1;
    return (int)(lround(position * (2.0 * frame->columns - 1)) / 2);
}

int as_frame_row(const as_frame *frame, double position) {
    if (!(position >= -1e-9 && position <= 1 + 1e-9)) return -1;
    return (int)(lround((1 - position) * (4.0 * frame->rows - 1)) / 4);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* One line; where it is too long its end is kept, as the last part of a call path says most. */
static void print_end(const as_frame *frame, const char *text, const char *sgr) {
    size_t size = strlen(text), from = 0;
    const char *cut = frame->ascii ? "..." : "…";
    size_t room = frame->width - (frame->ascii ? 3 : 1);
    if (as_display_width(text, size) <= frame->width) room = frame->width;
    while (from < size && as_display_width(text + from, size - from) > room) {
        do from++;
        while (from < size && ((unsigned char)text[from] & 0xc0) == 0x80);
    }
    as_output_text(frame->out, as_frame_sgr(frame, sgr));
    if (from) as_output_text(frame->out, cut);
    as_display_write(frame->out, text + from, size - from, 0);
    as_output_text(frame->out, as_frame_sgr(frame, PLAIN));
    as_output_char(frame->out, '\n');
}

/* Rich text in as many lines as it takes, broken at blanks, set in by one column. */
static bool print_wrapped(as_frame *frame, const char *rich, const char *sgr) {
    if (!as_rich_plain(rich, frame->ascii, &frame->text)) return false;
    const char *text = frame->text.data;
    size_t size = frame->text.count - 1, used = 0;
    for (size_t i = 0; i < size;) {
        size_t n = 0;
        while (i + n < size && text[i + n] != ' ') n++;
        size_t width = as_display_width(text + i, n);
        bool breaks = used && used + 1 + width > frame->width;
        if (breaks) as_output_text(frame->out, as_frame_sgr(frame, PLAIN));
        if (breaks) as_output_char(frame->out, '\n');
        if (breaks || !used) {
            as_output_text(frame->out, breaks ? "   " : " ");
            as_output_text(frame->out, as_frame_sgr(frame, sgr));
            used = breaks ? 3 : 1;
        } else {
            as_output_char(frame->out, ' ');
            used++;
        }
        used += as_display_write(frame->out, text + i, n, frame->width - 3);
        i += n + (i + n < size);
    }
    as_output_text(frame->out, as_frame_sgr(frame, PLAIN));
    as_output_char(frame->out, '\n');
    return true;
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

/* The widest label of the y axis. */
static bool measure_labels(as_frame *frame, size_t *widest) {
    *widest = 0;
    for (size_t i = 0; i < frame->y_ticks.n; i++) {
        if (!as_rich_plain(frame->y_ticks.at[i].label, frame->ascii, &frame->text)) return false;
        size_t width = as_display_width(frame->text.data, frame->text.count - 1);
        if (width > *widest) *widest = width;
    }
    return true;
}

/* The label of the tick in this row, or NULL. */
static const char *label_at(const as_frame *frame, unsigned row) {
    for (size_t i = 0; i < frame->y_ticks.n; i++) {
        const as_tick *tick = &frame->y_ticks.at[i];
        if (*tick->label && as_frame_row(frame, as_axis_position(&frame->axes.y, tick->value)) == (int)row)
            return tick->label;
    }
    return NULL;
}

static bool print_gutter(as_frame *frame, unsigned row) {
    const char *label = label_at(frame, row);
    if (!as_rich_plain(label ? label : "", frame->ascii, &frame->text)) return false;
    size_t width = as_display_width(frame->text.data, frame->text.count - 1);
    as_display_pad(frame->out, width + 2 < frame->gutter ? frame->gutter - 2 - width : 0);
    as_output_text(frame->out, as_frame_sgr(frame, DIM));
    as_display_write(frame->out, frame->text.data, frame->text.count - 1, frame->gutter - 2);
    as_output_text(frame->out, label ? (frame->ascii ? " +" : " ┤") : (frame->ascii ? " |" : " │"));
    as_output_text(frame->out, as_frame_sgr(frame, PLAIN));
    return true;
}

static int tick_column(const as_frame *frame, size_t tick) {
    if (!*frame->x_ticks.at[tick].label) return -1;
    return as_frame_column(frame, as_axis_position(&frame->axes.x, frame->x_ticks.at[tick].value));
}

static void print_axis(const as_frame *frame) {
    as_output *out = frame->out;
    as_display_pad(out, frame->gutter - 1);
    as_output_text(out, as_frame_sgr(frame, DIM));
    as_output_text(out, frame->ascii ? "+" : "└");
    size_t tick = 0;
    for (unsigned column = 0; column < frame->columns; column++) {
        while (tick < frame->x_ticks.n && tick_column(frame, tick) < (int)column) tick++;
        bool marks = tick < frame->x_ticks.n && tick_column(frame, tick) == (int)column;
        as_output_text(out, marks ? (frame->ascii ? "+" : "┬") : frame->ascii ? "-" : "─");
    }
    as_output_text(out, as_frame_sgr(frame, PLAIN));
    as_output_char(out, '\n');
}

/* Labels in the middle below their ticks; those that would touch the one before are left out. */
static bool print_tick_labels(as_frame *frame) {
    size_t used = 0;
    as_output_text(frame->out, as_frame_sgr(frame, DIM));
    for (size_t i = 0; i < frame->x_ticks.n; i++) {
        int column = tick_column(frame, i);
        if (column < 0) continue;
        if (!as_rich_plain(frame->x_ticks.at[i].label, frame->ascii, &frame->text)) return false;
        size_t width = as_display_width(frame->text.data, frame->text.count - 1);
        size_t middle = frame->gutter + (size_t)column, begin = middle > width / 2 ? middle - width / 2 : 0;
        if (begin + width > frame->width) begin = frame->width - width;
        if (used && begin < used + 1) continue;
        as_display_pad(frame->out, begin - used);
        used = begin + as_display_write(frame->out, frame->text.data, frame->text.count - 1, 0);
    }
    as_output_text(frame->out, as_frame_sgr(frame, PLAIN));
    as_output_char(frame->out, '\n');
    return true;
}

static bool print_axis_title(as_frame *frame, const as_axis *axis, const as_ticks *ticks, bool centred) {
    char title[256];
    as_axis_title(axis, ticks, title, sizeof title);
    if (!*title) return true;
    if (!as_rich_plain(title, frame->ascii, &frame->text)) return false;
    size_t size = frame->text.count - 1, width = as_display_width(frame->text.data, size);
    size_t middle = frame->gutter + frame->columns / 2;
    as_display_pad(frame->out, centred && middle > width / 2 && width < frame->width ? middle - width / 2 : 1);
    as_display_write(frame->out, frame->text.data, size, frame->width - 1);
    as_output_char(frame->out, '\n');
    return true;
}

/* ---- line plots -------------------------------------------------------------------------------------------------- */

typedef struct picture {
    const as_frame *frame;
    as_canvas canvas;
} picture;

static double dot_x(const picture *p, double value) {
    return as_axis_position(&p->frame->axes.x, value) * (2.0 * p->canvas.columns - 1);
}

static double dot_y(const picture *p, double value) {
    return (1 - as_axis_position(&p->frame->axes.y, value)) * (4.0 * p->canvas.rows - 1);
}

/* The end of a bar or band: below everything where a logarithmic axis cannot show it. */
static double dot_end(const picture *p, double value) {
    double y = dot_y(p, value);
    if (isnan(y) && !isnan(value)) return value > 0 ? -1 : 4.0 * p->canvas.rows;
    return y;
}

static void draw_bar(picture *p, const as_plot_point *point) {
    double x = dot_x(p, point->x), low = dot_end(p, point->low), high = dot_end(p, point->high);
    if (!(fabs(low - high) >= 1)) return;
    as_canvas_line(&p->canvas, x, low, x, high, AS_LAYER_BAR);
}

static void draw_points(picture *p, const as_plot_series *series) {
    for (size_t i = 0; i < series->points.count; i++) {
        const as_plot_point *point = &AS_AT(as_plot_point, &series->points, i);
        double x = dot_x(p, point->x), y = dot_y(p, point->y);
        if (series->around) draw_bar(p, point);
        as_canvas_line(&p->canvas, x, y, x, y, AS_LAYER_POINT);
    }
}

/* Every fourth dot between two neighbours of the curve. */
static void draw_band(picture *p, const as_plot_point *from, const as_plot_point *to) {
    double x0 = dot_x(p, from->x), x1 = dot_x(p, to->x);
    double low0 = dot_end(p, from->low), low1 = dot_end(p, to->low);
    double high0 = dot_end(p, from->high), high1 = dot_end(p, to->high);
    if (isnan(low0 + low1 + high0 + high1 + x0 + x1)) return;
    double most_x = 2.0 * p->canvas.columns - 1, most_y = 4.0 * p->canvas.rows - 1;
    for (long x = (long)ceil(fmax(x0, 0)); (double)x <= fmin(x1, most_x); x++) {
        double part = x1 > x0 ? ((double)x - x0) / (x1 - x0) : 0;
        double top = high0 + part * (high1 - high0), bottom = low0 + part * (low1 - low0);
        for (long y = (long)ceil(fmax(top, 0)); (double)y <= fmin(bottom, most_y); y++) {
            if (y % 2 == 0 && (x + y / 2) % 2 == 0) as_canvas_dot(&p->canvas, x, y, AS_LAYER_BAND);
        }
    }
}

static void draw_curve(picture *p, const as_plot_series *series, as_layer layer) {
    for (size_t i = 1; i < series->points.count; i++) {
        const as_plot_point *from = &AS_AT(as_plot_point, &series->points, i - 1), *to = from + 1;
        if (series->around) draw_band(p, from, to);
        as_canvas_line(&p->canvas, dot_x(p, from->x), dot_y(p, from->y), dot_x(p, to->x), dot_y(p, to->y), layer);
    }
}

static void draw(picture *p) {
    const as_plot *plot = p->frame->plot;
    double marker = dot_x(p, plot->measured_x);
    as_canvas_line(&p->canvas, marker, 0, marker, 4.0 * p->canvas.rows - 1, AS_LAYER_MARKER);
    for (size_t i = 0, n_curves = 0; i < plot->series.count; i++) {
        const as_plot_series *series = &AS_AT(as_plot_series, &plot->series, i);
        if (series->kind == AS_PLOT_CURVE)
            draw_curve(p, series, as_curve_layer(n_curves++));
        else
            draw_points(p, series);
    }
}

static bool print_lines(as_frame *frame) {
    picture p = {.frame = frame};
    if (!as_canvas_init(&p.canvas, frame->columns, frame->rows)) return false;
    draw(&p);
    bool done = true;
    for (unsigned row = 0; done && row < frame->rows; row++) {
        done = print_gutter(frame, row);
        as_canvas_print_row(frame->out, &p.canvas, row, (as_canvas_style){frame->colour, frame->ascii});
        as_output_char(frame->out, '\n');
    }
    as_canvas_free(&p.canvas);
    return done;
}

/* ---- heat maps --------------------------------------------------------------------------------------------------- */

static void mark_points(const as_frame *frame, bool *points) {
    for (size_t s = 0; s < frame->plot->series.count; s++) {
        const as_plot_series *series = &AS_AT(as_plot_series, &frame->plot->series, s);
        for (size_t i = 0; i < series->points.count; i++) {
            const as_plot_point *point = &AS_AT(as_plot_point, &series->points, i);
            int column = as_frame_column(frame, as_axis_position(&frame->axes.x, point->x));
            int row = as_frame_row(frame, as_axis_position(&frame->axes.y, point->y));
            if (column >= 0 && row >= 0) points[(size_t)row * frame->columns + (size_t)column] = true;
        }
    }
}

static bool print_heat(as_frame *frame, const as_heat_levels *levels) {
    bool *points = calloc((size_t)frame->columns * frame->rows, sizeof *points);
    if (!points) return false;
    mark_points(frame, points);
    bool done = true;
    for (unsigned row = 0; done && row < frame->rows; row++) {
        done = print_gutter(frame, row);
        as_heat_print_row(frame, levels, points, row);
        as_output_char(frame->out, '\n');
    }
    free(points);
    return done;
}

/* ---- the legend -------------------------------------------------------------------------------------------------- */

typedef struct legend {
    as_frame *frame;
    size_t used; /* columns of the line */
} legend;

static void add_entry(legend *l, as_layer layer, const char *text) {
    as_frame *frame = l->frame;
    const char *sign = as_layer_sign(layer, frame->ascii);
    size_t width = as_display_width(text, strlen(text)) + 2;
    if (l->used && l->used + 3 + width > frame->width) {
        as_output_char(frame->out, '\n');
        l->used = 0;
    }
    as_display_pad(frame->out, l->used ? 3 : 1);
    l->used += (l->used ? 3 : 1) + width;
    as_output_text(frame->out, as_frame_sgr(frame, as_layer_colour(layer)));
    as_output_text(frame->out, sign);
    as_output_text(frame->out, as_frame_sgr(frame, PLAIN));
    as_output_char(frame->out, ' ');
    as_display_write(frame->out, text, strlen(text), frame->width - 3);
}

static bool print_legend(as_frame *frame) {
    legend l = {.frame = frame};
    for (size_t i = 0, n_curves = 0; i < frame->plot->series.count; i++) {
        const as_plot_series *series = &AS_AT(as_plot_series, &frame->plot->series, i);
        bool is_curve = series->kind == AS_PLOT_CURVE;
        add_entry(&l, is_curve ? as_curve_layer(n_curves++) : AS_LAYER_POINT, series->label);
        if (!series->around) continue;
        if (!as_rich_plain(series->around, frame->ascii, &frame->text)) return false;
        add_entry(&l, is_curve ? AS_LAYER_BAND : AS_LAYER_BAR, frame->text.data);
    }
    if (!isnan(frame->plot->measured_x) || !isnan(frame->plot->measured_y))
        add_entry(&l, AS_LAYER_MARKER, "end of measurements");
    if (l.used) as_output_char(frame->out, '\n');
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static unsigned lines_of(const char *text, unsigned width) {
    return text ? 1 + (unsigned)(strlen(text) / (width - 2)) : 0;
}

static bool lay_out(as_frame *frame, unsigned height) {
    const as_plot *plot = frame->plot;
    unsigned others = lines_of(plot->title ? "" : NULL, 80) + lines_of(plot->subtitle ? "" : NULL, 80) +
                      lines_of(plot->function, frame->width) + lines_of(plot->quality, frame->width);
    others += 2u + (plot->x.label != NULL) + (plot->y.label != NULL) + (plot->series.count > 0) + (plot->grid.nx > 0);
    frame->rows = height > others + LEAST_ROWS ? height - others : LEAST_ROWS;
    as_axis_ticks(&frame->axes.y, frame->rows / 3 + 1, &frame->y_ticks);
    size_t widest;
    if (!measure_labels(frame, &widest)) return false;
    if (widest + 2 > frame->width / 2) widest = frame->width / 2 - 2;
    frame->gutter = (unsigned)widest + 3;
    frame->columns = frame->width - frame->gutter - 1;
    as_axis_ticks(&frame->axes.x, frame->columns / 7, &frame->x_ticks);
    return true;
}

static bool print_all(as_frame *frame) {
    const as_plot *plot = frame->plot;
    as_heat_levels levels = {0};
    bool is_heat = plot->grid.nx > 0;
    if (plot->title) print_end(frame, plot->title, BOLD);
    if (plot->subtitle) print_end(frame, plot->subtitle, DIM);
    if (!print_axis_title(frame, &frame->axes.y, &frame->y_ticks, false)) return false;
    if (is_heat) as_heat_levels_choose(frame, &levels);
    if (!(is_heat ? print_heat(frame, &levels) : print_lines(frame))) return false;
    print_axis(frame);
    if (!print_tick_labels(frame)) return false;
    if (!print_axis_title(frame, &frame->axes.x, &frame->x_ticks, true)) return false;
    if (is_heat && !as_heat_print_legend(frame, &levels)) return false;
    if (!print_legend(frame)) return false;
    if (plot->function && !print_wrapped(frame, plot->function, BOLD)) return false;
    return !plot->quality || print_wrapped(frame, plot->quality, "");
}

bool as_plot_terminal(as_output *out, const as_plot *plot, unsigned width, unsigned height, bool colour, bool ascii) {
    as_frame frame = {.out = out, .plot = plot, .axes = as_plot_fitted(plot), .colour = colour, .ascii = ascii};
    frame.width = width < LEAST_WIDTH ? LEAST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : width;
    as_vec_init(&frame.text, 1, NULL);
    bool done = lay_out(&frame, height > MOST_ROWS ? MOST_ROWS : height) && print_all(&frame);
    as_vec_free(&frame.text);
    return done;
}
