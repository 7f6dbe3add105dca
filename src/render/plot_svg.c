/* Plots as SVG, made for a column of a paper: 420 units wide, texts of 10 to 13 units. Nothing but shapes and texts; no
 * ids, so that several fit into one page. */
#include <math.h>
#include <stdlib.h>

#include "render/plot.h"
#include "render/plot_sheet.h"
#include "render/plot_text.h"

#define INK      "#222"
#define SOFT_INK "#666"
#define GRID     "#e6e6e6"

enum {
    PAGE = 420,
    MARGIN = 10,
    PICTURE_HEIGHT = 220,
    TICK_SIZE = 11,
    TEXT_SIZE = 12,
    TITLE_SIZE = 13,
    LEGEND_SIZE = 11
};

/* Beyond so many points those that would lie on another are left out, and the rest have no texts. */
enum { MANY_POINTS = 2000 };

void as_svg_place(as_output *out, char command, double x, double y) {
    as_output_char(out, command);
    as_svg_number(out, x);
    as_output_char(out, ' ');
    as_svg_number(out, y);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static void open_text(as_output *out, double x, double y, int size, const char *more) {
    as_output_text(out, "<text");
    as_svg_attribute(out, "x", x);
    as_svg_attribute(out, "y", y);
    as_output_printf(out, " font-size=\"%d\"%s>", size, more);
}

static void close_text(as_output *out) { as_output_text(out, "</text>\n"); }

/* One line of plain text; where it is too long its end is kept, as the last part of a call path says most. */
static void write_end(const as_sheet *sheet, const char *text, double y, int size, const char *more) {
    size_t length = strlen(text), from = 0;
    double room = (sheet->page_width - 2 * MARGIN) / size - (strstr(more, "bold") ? 2 : 1);
    while (from < length && as_svg_width(text + from, length - from) > room) {
        do from++;
        while (from < length && ((unsigned char)text[from] & 0xc0) == 0x80);
    }
    open_text(sheet->out, MARGIN, y, size, more);
    if (from) as_output_text(sheet->out, "…");
    as_svg_escape(sheet->out, text + from, length - from);
    close_text(sheet->out);
}

/* Rich text broken into lines; only counts them where write is false. */
static unsigned wrap(const as_sheet *sheet, const char *rich, double y, bool write) {
    enum { MOST_LINES = 12, MOST_LETTERS = 512 };
    unsigned lines = 0;
    for (const char *at = rich; *at && lines < MOST_LINES; lines++) {
        double indent = lines ? 12 : 0;
        size_t n = as_svg_break(at, (sheet->page_width - 2 * MARGIN - indent) / TEXT_SIZE);
        if (n >= MOST_LETTERS) n = MOST_LETTERS - 1;
        char line[MOST_LETTERS];
        memcpy(line, at, n);
        line[n] = '\0';
        if (write) {
            open_text(sheet->out, MARGIN + indent, y + 16.0 * lines, TEXT_SIZE, "");
            as_svg_rich(sheet->out, line);
            close_text(sheet->out);
        }
        at += n;
        while (*at == ' ') at++;
    }
    return lines;
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

static void draw_grid(const as_sheet *sheet) {
    as_output *out = sheet->out;
    as_output_text(out, "<path fill=\"none\" stroke=\"" GRID "\" stroke-width=\".7\" d=\"");
    for (size_t i = 0; i < sheet->y_ticks.n; i++) {
        if (!*sheet->y_ticks.at[i].label) continue;
        as_svg_place(out, 'M', sheet->left, sheet->top + as_sheet_y(sheet, sheet->y_ticks.at[i].value));
        as_output_char(out, 'h');
        as_svg_number(out, sheet->width);
    }
    for (size_t i = 0; i < sheet->x_ticks.n; i++) {
        if (!*sheet->x_ticks.at[i].label) continue;
        as_svg_place(out, 'M', sheet->left + as_sheet_x(sheet, sheet->x_ticks.at[i].value), sheet->top);
        as_output_char(out, 'v');
        as_svg_number(out, sheet->height);
    }
    as_output_text(out, "\"/>\n");
}

/* The lines of both axes with their ticks, minor ones shorter. */
static void draw_ticks(const as_sheet *sheet) {
    as_output *out = sheet->out;
    double bottom = sheet->top + sheet->height;
    as_output_text(out, "<path fill=\"none\" stroke=\"" INK "\" stroke-width=\".8\" d=\"");
    as_svg_place(out, 'M', sheet->left, sheet->top);
    as_svg_place(out, 'L', sheet->left, bottom);
    as_svg_place(out, 'L', sheet->left + sheet->width, bottom);
    for (size_t i = 0; i < sheet->y_ticks.n; i++) {
        as_svg_place(out, 'M', sheet->left, sheet->top + as_sheet_y(sheet, sheet->y_ticks.at[i].value));
        as_output_text(out, *sheet->y_ticks.at[i].label ? "h-4" : "h-2.5");
    }
    for (size_t i = 0; i < sheet->x_ticks.n; i++) {
        as_svg_place(out, 'M', sheet->left + as_sheet_x(sheet, sheet->x_ticks.at[i].value), bottom);
        as_output_text(out, *sheet->x_ticks.at[i].label ? "v4" : "v2.5");
    }
    as_output_text(out, "\"/>\n");
}

static void write_tick_labels(const as_sheet *sheet) {
    as_output *out = sheet->out;
    for (size_t i = 0; i < sheet->y_ticks.n; i++) {
        const as_tick *tick = &sheet->y_ticks.at[i];
        if (!*tick->label) continue;
        open_text(out, sheet->left - 7, sheet->top + as_sheet_y(sheet, tick->value) + 4, TICK_SIZE,
                  " text-anchor=\"end\"");
        as_svg_rich(out, tick->label);
        close_text(out);
    }
    double free_from = 0;
    for (size_t i = 0; i < sheet->x_ticks.n; i++) {
        const as_tick *tick = &sheet->x_ticks.at[i];
        double x = sheet->left + as_sheet_x(sheet, tick->value);
        double half = TICK_SIZE * as_svg_width(tick->label, strlen(tick->label)) / 2;
        if (!*tick->label || x - half < free_from) continue;
        free_from = x + half + 6;
        open_text(out, x, sheet->top + sheet->height + 17, TICK_SIZE, " text-anchor=\"middle\"");
        as_svg_rich(out, tick->label);
        close_text(out);
    }
}

static void write_axis_titles(const as_sheet *sheet) {
    as_output *out = sheet->out;
    char title[256];
    as_axis_title(&sheet->axes.x, &sheet->x_ticks, title, sizeof title);
    open_text(out, sheet->left + sheet->width / 2, sheet->top + sheet->height + 33, TEXT_SIZE,
              " text-anchor=\"middle\"");
    as_svg_rich(out, title);
    close_text(out);
    as_axis_title(&sheet->axes.y, &sheet->y_ticks, title, sizeof title);
    as_output_text(out, "<text transform=\"translate(");
    as_svg_number(out, MARGIN + 9);
    as_output_char(out, ' ');
    as_svg_number(out, sheet->top + sheet->height / 2);
    as_output_printf(out, ") rotate(-90)\" font-size=\"%d\" text-anchor=\"middle\">", TEXT_SIZE);
    as_svg_rich(out, title);
    close_text(out);
}

/* ---- line plots -------------------------------------------------------------------------------------------------- */

/* The end of a bar or band: just outside where a logarithmic axis cannot show it or where it is far away. */
static double end_y(const as_sheet *sheet, double value) {
    double y = as_sheet_y(sheet, value);
    if (isnan(y) && !isnan(value)) y = value > 0 ? -INFINITY : INFINITY;
    return fmax(-10, fmin(sheet->height + 10, y));
}

static bool has_band(const as_sheet *sheet, const as_plot_point *point) {
    return !isnan(as_sheet_x(sheet, point->x)) && !isnan(point->low) && !isnan(point->high);
}

/* Colours that people with colour blindness tell apart, too (Okabe and Ito); beyond them they begin again. */
static const char *curve_colour(const as_sheet *sheet, const as_plot_series *series) {
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
    const as_plot_series *all = sheet->plot->series.data;
    size_t n = 0;
    for (; all != series; all++) n += all->kind == AS_PLOT_CURVE;
    return colours[n % (sizeof colours / sizeof *colours)];
}

static void draw_band(const as_sheet *sheet, const as_plot_series *series) {
    as_output *out = sheet->out;
    const as_plot_point *points = series->points.data;
    as_output_printf(out, "<path class=\"band\" fill=\"%s\" fill-opacity=\".18\" d=\"", curve_colour(sheet, series));
    for (size_t i = 0; i < series->points.count;) {
        size_t from = i;
        for (; i < series->points.count && has_band(sheet, &points[i]); i++) {
            as_svg_place(out, i == from ? 'M' : 'L', as_sheet_x(sheet, points[i].x), end_y(sheet, points[i].high));
        }
        for (size_t k = i; k > from; k--)
            as_svg_place(out, 'L', as_sheet_x(sheet, points[k - 1].x), end_y(sheet, points[k - 1].low));
        if (i > from) as_output_char(out, 'Z');
        if (i == from) i++;
    }
    as_output_text(out, "\"/>\n");
}

/* The part of a curve between two places of x. */
static void draw_part(const as_sheet *sheet, const as_plot_series *series, double from, double to, const char *style) {
    as_output *out = sheet->out;
    as_output_printf(out,
                     "<path class=\"curve\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" "
                     "stroke-linejoin=\"round\"%s d=\"",
                     curve_colour(sheet, series), style);
    bool drawing = false;
    double far = 50 * sheet->height;
    for (size_t i = 1; i < series->points.count; i++) {
        const as_plot_point *a = &AS_AT(as_plot_point, &series->points, i - 1), *b = a + 1;
        double x0 = as_sheet_x(sheet, a->x), x1 = as_sheet_x(sheet, b->x);
        double y0 = as_sheet_y(sheet, a->y), y1 = as_sheet_y(sheet, b->y);
        double begin = fmax(x0, from), end = fmin(x1, to);
        if (isnan(x0 + x1 + y0 + y1) || begin > end || fabs(y0) > far || fabs(y1) > far) {
            drawing = false;
            continue;
        }
        double slope = x1 > x0 ? (y1 - y0) / (x1 - x0) : 0;
        if (!drawing) as_svg_place(out, 'M', begin, y0 + (begin - x0) * slope);
        as_svg_place(out, 'L', end, x1 > x0 ? y0 + (end - x0) * slope : y1);
        drawing = true;
    }
    as_output_text(out, "\"/>\n");
}

static void draw_curve(const as_sheet *sheet, const as_plot_series *series) {
    double measured = as_sheet_x(sheet, sheet->plot->measured_x);
    if (series->around) draw_band(sheet, series);
    if (isnan(measured)) {
        draw_part(sheet, series, -INFINITY, INFINITY, "");
        return;
    }
    draw_part(sheet, series, -INFINITY, measured, "");
    draw_part(sheet, series, measured, INFINITY, " stroke-dasharray=\"5 3\"");
}

static void draw_bars(const as_sheet *sheet, const as_plot_series *series) {
    as_output *out = sheet->out;
    as_output_text(out, "<path class=\"bars\" fill=\"none\" stroke=\"" INK "\" stroke-width=\".8\" d=\"");
    for (size_t i = 0; i < series->points.count; i++) {
        const as_plot_point *point = &AS_AT(as_plot_point, &series->points, i);
        double x = as_sheet_x(sheet, point->x), low = end_y(sheet, point->low), high = end_y(sheet, point->high);
        if (isnan(point->low) || isnan(point->high) || isnan(x) || low - high < 0.5) continue;
        as_svg_place(out, 'M', x - 2.5, low);
        as_output_text(out, "h5");
        as_svg_place(out, 'M', x - 2.5, high);
        as_output_text(out, "h5");
        as_svg_place(out, 'M', x, low);
        as_svg_place(out, 'L', x, high);
    }
    as_output_text(out, "\"/>\n");
}

static void draw_point(const as_sheet *sheet, const as_plot_point *point, bool with_text) {
    as_output *out = sheet->out;
    as_output_text(out, "<circle");
    as_svg_attribute(out, "cx", as_sheet_x(sheet, point->x));
    as_svg_attribute(out, "cy", as_sheet_y(sheet, point->y));
    as_output_text(out, with_text ? " r=\"3\"><title>" : " r=\"2\"/>\n");
    if (!with_text) return;
    as_output_real(out, point->x);
    as_output_text(out, ": ");
    as_output_real(out, point->y);
    as_output_text(out, "</title></circle>\n");
}

/* seen: NULL, or what is taken already, in half units. */
static bool is_hidden(const as_sheet *sheet, unsigned char *seen, double x, double y) {
    if (isnan(x) || isnan(y) || x < 0 || y < 0 || x > sheet->width || y > sheet->height) return true;
    if (!seen) return false;
    size_t at = (size_t)(2 * y) * (2 * PAGE) + (size_t)(2 * x);
    bool was = seen[at];
    seen[at] = 1;
    return was;
}

static bool draw_points(const as_sheet *sheet, const as_plot_series *series) {
    bool many = series->points.count > MANY_POINTS;
    unsigned char *seen = many ? calloc((size_t)(2 * PAGE) * (2 * PICTURE_HEIGHT + 2), 1) : NULL;
    if (many && !seen) return false;
    if (series->around && !many) draw_bars(sheet, series);
    as_output_text(sheet->out, "<g class=\"points\" fill=\"" INK "\">\n");
    for (size_t i = 0; i < series->points.count; i++) {
        const as_plot_point *point = &AS_AT(as_plot_point, &series->points, i);
        if (!is_hidden(sheet, seen, as_sheet_x(sheet, point->x), as_sheet_y(sheet, point->y)))
            draw_point(sheet, point, !many);
    }
    as_output_text(sheet->out, "</g>\n");
    free(seen);
    return true;
}

/* Where measuring ends. */
static void draw_marker(const as_sheet *sheet) {
    as_output *out = sheet->out;
    double x = as_sheet_x(sheet, sheet->plot->measured_x);
    if (!(x > 0 && x < sheet->width)) return;
    as_output_text(out, "<path class=\"marker\" fill=\"none\" stroke=\"" SOFT_INK
                        "\" stroke-width=\".8\" stroke-dasharray=\"2 2\" d=\"");
    as_svg_place(out, 'M', x, 0);
    as_svg_place(out, 'L', x, sheet->height);
    as_output_text(out, "\"/>\n");
    if (x > 60) {
        open_text(out, x - 4, 10, 10, " text-anchor=\"end\" fill=\"" SOFT_INK "\"");
        as_output_text(out, "measured</text>\n");
    }
    if (sheet->width - x > 66) {
        open_text(out, x + 4, 10, 10, " fill=\"" SOFT_INK "\"");
        as_output_text(out, "extrapolated</text>\n");
    }
}

/* ---- the legend -------------------------------------------------------------------------------------------------- */

typedef enum mark { MARK_POINT, MARK_RING, MARK_BAR, MARK_CURVE, MARK_BAND } mark;

typedef struct legend {
    const as_sheet *sheet;
    double x, y;
    bool write; /* false: only counts lines */
    unsigned lines;
} legend;

/* colour: of a curve or band. */
static void draw_mark(as_output *out, mark kind, const char *colour, double x, double y) {
    static const char *const shapes[] = {
        "<circle cx=\"9\" cy=\"0\" r=\"3\" fill=\"" INK "\"/>",
        "<circle cx=\"9\" cy=\"0\" r=\"3.2\" fill=\"none\" stroke=\"#000\" stroke-width=\".8\"/>",
        "<path fill=\"none\" stroke=\"" INK "\" stroke-width=\".8\" d=\"M6.5-5h5M6.5 5h5M9-5V5\"/>",
        "<path fill=\"none\" stroke-width=\"1.8\" d=\"M0 0H18\"/>",
        "<path stroke=\"none\" fill-opacity=\".18\" d=\"M0-5H18V5H0Z\"/>",
    };
    as_output_text(out, "<g transform=\"translate(");
    as_svg_number(out, x);
    as_output_char(out, ' ');
    as_svg_number(out, y - 4);
    if (colour) as_output_printf(out, ")\" stroke=\"%s\" fill=\"%s", colour, colour);
    as_output_printf(out, "%s\">%s</g>\n", colour ? "" : ")", shapes[kind]);
}

static void add_entry(legend *l, mark kind, const char *colour, const char *text) {
    double width = 24 + LEGEND_SIZE * as_svg_width(text, strlen(text));
    if (l->lines == 0 || l->x + width > l->sheet->page_width - MARGIN) {
        l->x = MARGIN;
        l->lines++;
    }
    if (l->write) {
        double y = l->y + 15.0 * (l->lines - 1);
        draw_mark(l->sheet->out, kind, colour, l->x, y);
        open_text(l->sheet->out, l->x + 22, y, LEGEND_SIZE, "");
        as_svg_rich(l->sheet->out, text);
        close_text(l->sheet->out);
    }
    l->x += width + 12;
}

static unsigned add_legend(const as_sheet *sheet, double y, bool write) {
    legend l = {.sheet = sheet, .y = y, .write = write};
    if (write) as_output_text(sheet->out, "<g class=\"legend\">\n");
    for (size_t i = 0; i < sheet->plot->series.count; i++) {
        const as_plot_series *series = &AS_AT(as_plot_series, &sheet->plot->series, i);
        bool is_curve = series->kind == AS_PLOT_CURVE;
        const char *colour = is_curve ? curve_colour(sheet, series) : NULL;
        add_entry(&l, is_curve ? MARK_CURVE : sheet->plot->grid.nx ? MARK_RING : MARK_POINT, colour, series->label);
        if (series->around) add_entry(&l, is_curve ? MARK_BAND : MARK_BAR, colour, series->around);
    }
    if (write) as_output_text(sheet->out, "</g>\n");
    return l.lines;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void lay_out(as_sheet *sheet) {
    const as_plot *plot = sheet->plot;
    as_axis_ticks(&sheet->axes.y, 7, &sheet->y_ticks);
    double widest = 0;
    for (size_t i = 0; i < sheet->y_ticks.n; i++) {
        const char *label = sheet->y_ticks.at[i].label;
        widest = fmax(widest, TICK_SIZE * as_svg_width(label, strlen(label)));
    }
    sheet->page_width = PAGE;
    sheet->left = MARGIN + 16 + widest + 8;
    sheet->width = PAGE - sheet->left - MARGIN - (plot->grid.nx ? as_heat_margin(sheet) : 8);
    as_axis_ticks(&sheet->axes.x, 8, &sheet->x_ticks);
    sheet->top = MARGIN + (plot->title ? 18 : 0) + (plot->subtitle ? 16 : 0) + 15.0 * add_legend(sheet, 0, false) + 6;
    sheet->height = PICTURE_HEIGHT;
    unsigned lines = (plot->function ? wrap(sheet, plot->function, 0, false) : 0) +
                     (plot->quality ? wrap(sheet, plot->quality, 0, false) : 0);
    sheet->page_height = sheet->top + sheet->height + 38 + 16.0 * lines + MARGIN;
}

static void open_sheet(const as_sheet *sheet) {
    as_output *out = sheet->out;
    const char *title = sheet->plot->title ? sheet->plot->title : "plot";
    as_output_text(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" xml:space=\"preserve\"");
    as_svg_attribute(out, "width", sheet->page_width);
    as_svg_attribute(out, "height", sheet->page_height);
    as_output_text(out, " viewBox=\"0 0 ");
    as_svg_number(out, sheet->page_width);
    as_output_char(out, ' ');
    as_svg_number(out, sheet->page_height);
    as_output_text(out, "\" font-family=\"Helvetica, Arial, sans-serif\" fill=\"" INK "\">\n<title>");
    as_svg_escape(out, title, strlen(title));
    as_output_text(out, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

static void write_texts(const as_sheet *sheet) {
    const as_plot *plot = sheet->plot;
    double y = MARGIN;
    if (plot->title) write_end(sheet, plot->title, y += 14, TITLE_SIZE, " font-weight=\"bold\"");
    if (plot->subtitle) write_end(sheet, plot->subtitle, y += 16, LEGEND_SIZE, " fill=\"" SOFT_INK "\"");
    add_legend(sheet, y + 19, true);
    y = sheet->top + sheet->height + 54;
    if (plot->function) y += 16 * wrap(sheet, plot->function, y, true);
    if (plot->quality) wrap(sheet, plot->quality, y, true);
}

/* Curves and surfaces: the inner svg cuts off what reaches beyond the axes. */
static bool draw_picture(const as_sheet *sheet) {
    const as_plot *plot = sheet->plot;
    as_output *out = sheet->out;
    bool done = true;
    as_output_text(out, "<svg");
    as_svg_attribute(out, "x", sheet->left);
    as_svg_attribute(out, "y", sheet->top);
    as_svg_attribute(out, "width", sheet->width);
    as_svg_attribute(out, "height", sheet->height);
    as_output_text(out, " overflow=\"hidden\">\n");
    if (plot->grid.nx > 0)
        done = as_heat_svg_surface(sheet);
    else
        draw_marker(sheet);
    for (size_t i = 0; i < plot->series.count; i++) {
        const as_plot_series *series = &AS_AT(as_plot_series, &plot->series, i);
        if (series->kind == AS_PLOT_CURVE) draw_curve(sheet, series);
    }
    as_output_text(out, "</svg>\n");
    return done;
}

/* On top of the axes, so that those at the border stay whole. */
static bool draw_all_points(const as_sheet *sheet) {
    const as_plot *plot = sheet->plot;
    bool done = true;
    as_output_text(sheet->out, "<g transform=\"translate(");
    as_svg_number(sheet->out, sheet->left);
    as_output_char(sheet->out, ' ');
    as_svg_number(sheet->out, sheet->top);
    as_output_text(sheet->out, ")\">\n");
    for (size_t i = 0; done && i < plot->series.count; i++) {
        const as_plot_series *series = &AS_AT(as_plot_series, &plot->series, i);
        if (series->kind == AS_PLOT_POINTS && plot->grid.nx > 0)
            as_heat_svg_points(sheet, series);
        else if (series->kind == AS_PLOT_POINTS)
            done = draw_points(sheet, series);
    }
    as_output_text(sheet->out, "</g>\n");
    return done;
}

bool as_plot_svg(as_output *out, const as_plot *plot) {
    as_sheet sheet = {.out = out, .plot = plot, .axes = as_plot_fitted(plot)};
    lay_out(&sheet);
    open_sheet(&sheet);
    write_texts(&sheet);
    if (plot->grid.nx == 0) draw_grid(&sheet);
    bool done = draw_picture(&sheet);
    draw_ticks(&sheet);
    done = draw_all_points(&sheet) && done;
    write_tick_labels(&sheet);
    write_axis_titles(&sheet);
    if (plot->grid.nx > 0) as_heat_svg_bar(&sheet);
    as_output_text(out, "</svg>\n");
    return done;
}
