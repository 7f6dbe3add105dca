/* Heat maps as SVG: cells of one colour in one path each, contour lines with their values, the colours on the right. */
#include <math.h>
#include <stdlib.h>

#include "render/plot_colour.h"
#include "render/plot_contour.h"
#include "render/plot_sheet.h"
#include "render/plot_text.h"

enum { COLOURS = 64, BAR_GAP = 12, BAR_WIDTH = 12, LABEL_SIZE = 11, CONTOUR_SIZE = 9, LEVELS = 8, MOST_LABELS = 64 };

double as_heat_margin(const as_sheet *sheet) {
    as_ticks levels;
    as_axis_levels(&sheet->axes.z, LEVELS, &levels);
    double widest = 0;
    for (size_t i = 0; i < levels.n; i++)
        widest = fmax(widest, LABEL_SIZE * as_svg_width(levels.at[i].label, strlen(levels.at[i].label)));
    return BAR_GAP + BAR_WIDTH + 6 + widest + 20;
}

static void write_colour(as_output *out, as_rgb colour) {
    as_output_printf(out, "#%02x%02x%02x", colour.red, colour.green, colour.blue);
}

/* ---- the surface ------------------------------------------------------------------------------------------------- */

/* Which of the colours a cell of the grid has, from the mean of its corners; -1: none. */
static int cell_colour(const double *heights, size_t nx, size_t i, size_t j) {
    const double *at = &heights[j * nx + i];
    double mean = (at[0] + at[1] + at[nx] + at[nx + 1]) / 4;
    if (isnan(mean)) return -1;
    return (int)fmin(COLOURS - 1, fmax(0, floor(mean * COLOURS)));
}

static void draw_run(const as_sheet *sheet, size_t from, size_t to, size_t j) {
    const as_plot_grid *grid = &sheet->plot->grid;
    double dx = sheet->width / (double)(grid->nx - 1), dy = sheet->height / (double)(grid->ny - 1);
    as_output *out = sheet->out;
    /* A little larger than it is, or the page would shine through between neighbours */
    double width = (double)(to - from) * dx + 0.4, height = dy + 0.4;
    as_svg_place(out, 'M', (double)from * dx, sheet->height - (double)(j + 1) * dy);
    as_output_char(out, 'h');
    as_svg_number(out, width);
    as_output_char(out, 'v');
    as_svg_number(out, height);
    as_output_char(out, 'h');
    as_svg_number(out, -width);
    as_output_char(out, 'z');
}

static void draw_cells(const as_sheet *sheet, const double *heights) {
    const as_plot_grid *grid = &sheet->plot->grid;
    as_output *out = sheet->out;
    as_output_text(out, "<g class=\"surface\" shape-rendering=\"crispEdges\">\n");
    for (int colour = 0; colour < COLOURS; colour++) {
        bool is_open = false;
        for (size_t j = 0; j + 1 < grid->ny; j++) {
            for (size_t i = 0; i + 1 < grid->nx; i++) {
                size_t from = i;
                while (i + 1 < grid->nx && cell_colour(heights, grid->nx, i, j) == colour) i++;
                if (i == from) continue;
                if (!is_open) as_output_text(out, "<path fill=\"");
                if (!is_open) write_colour(out, as_heat_colour((colour + 0.5) / COLOURS));
                if (!is_open) as_output_text(out, "\" d=\"");
                is_open = true;
                draw_run(sheet, from, i, j);
            }
        }
        if (is_open) as_output_text(out, "\"/>\n");
    }
    as_output_text(out, "</g>\n");
}

/* ---- contours ---------------------------------------------------------------------------------------------------- */

typedef struct contour_label {
    as_spot at;
    double angle;
    bool found;
} contour_label;

typedef struct contours {
    const as_sheet *sheet;
    double dx, dy;
    as_spot taken[MOST_LABELS]; /* by labels */
    size_t n_taken;
    size_t longest; /* spots of the line that has the label */
    contour_label label;
} contours;

static as_spot place_of(const contours *c, as_spot spot) {
    return (as_spot){spot.x * c->dx, c->sheet->height - spot.y * c->dy};
}

static bool is_near_point(const as_sheet *sheet, as_spot at, double distance) {
    for (size_t s = 0; s < sheet->plot->series.count; s++) {
        const as_plot_series *series = &AS_AT(as_plot_series, &sheet->plot->series, s);
        for (size_t i = 0; i < series->points.count; i++) {
            const as_plot_point *point = &AS_AT(as_plot_point, &series->points, i);
            if (hypot(as_sheet_x(sheet, point->x) - at.x, as_sheet_y(sheet, point->y) - at.y) < distance) return true;
        }
    }
    return false;
}

/* Whether a label fits here: not at the border, not near another or a point. */
static bool is_free(const contours *c, as_spot at) {
    if (at.x < 18 || at.y < 12 || at.x > c->sheet->width - 18 || at.y > c->sheet->height - 12) return false;
    for (size_t i = 0; i < c->n_taken; i++) {
        if (hypot(c->taken[i].x - at.x, c->taken[i].y - at.y) < 34) return false;
    }
    return !is_near_point(c->sheet, at, 13);
}

/* The place on a line nearest to its middle where a label fits. */
static contour_label place_label(const contours *c, const as_spot *spots, size_t n) {
    for (size_t away = 0; away < n / 2; away++) {
        for (int side = 0; side < 2; side++) {
            size_t i = side ? n / 2 - away : n / 2 + away;
            if (i < 2 || i + 2 >= n) continue;
            as_spot at = place_of(c, spots[i]), before = place_of(c, spots[i - 2]), after = place_of(c, spots[i + 2]);
            if (!is_free(c, at)) continue;
            double angle = atan2(after.y - before.y, after.x - before.x) * 180 / M_PI;
            if (angle > 90) angle -= 180;
            if (angle < -90) angle += 180;
            return (contour_label){at, angle, true};
        }
    }
    return (contour_label){.found = false};
}

static void draw_line(void *user, const as_spot *spots, size_t n) {
    contours *c = user;
    as_spot last = {NAN, NAN};
    for (size_t i = 0; i < n; i++) {
        as_spot at = place_of(c, spots[i]);
        if (i && i + 1 < n && hypot(at.x - last.x, at.y - last.y) < 1) continue;
        as_svg_place(c->sheet->out, i ? 'L' : 'M', at.x, at.y);
        last = at;
    }
    if (n <= c->longest) return;
    contour_label label = place_label(c, spots, n);
    if (!label.found) return;
    c->longest = n;
    c->label = label;
}

static void write_label(contours *c, const as_tick *level, as_rgb under, const char *ink) {
    as_output *out = c->sheet->out;
    as_output_text(out, "<text transform=\"translate(");
    as_svg_number(out, c->label.at.x);
    as_output_char(out, ' ');
    as_svg_number(out, c->label.at.y);
    as_output_text(out, ") rotate(");
    as_svg_number(out, c->label.angle);
    as_output_printf(out, ")\" dy=\".35em\" font-size=\"%d\" text-anchor=\"middle\" fill=\"%s\" stroke=\"",
                     CONTOUR_SIZE, ink);
    write_colour(out, under);
    as_output_text(out, "\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\">");
    as_svg_rich(out, level->label);
    as_output_text(out, "</text>\n");
    if (c->n_taken < MOST_LABELS) c->taken[c->n_taken++] = c->label.at;
}

static bool draw_contours(const as_sheet *sheet, const double *heights) {
    const as_plot_grid *grid = &sheet->plot->grid;
    contours c = {
        .sheet = sheet, .dx = sheet->width / (double)(grid->nx - 1), .dy = sheet->height / (double)(grid->ny - 1)};
    as_ticks levels;
    as_axis_levels(&sheet->axes.z, LEVELS, &levels);
    for (size_t i = 0; i < levels.n; i++) {
        double position = as_axis_position(&sheet->axes.z, levels.at[i].value);
        as_rgb under = as_heat_colour(position);
        const char *ink = as_is_light(under) ? "#222" : "#fff";
        c.longest = 0;
        as_output_printf(sheet->out, "<path class=\"contour\" fill=\"none\" stroke=\"%s\" stroke-width=\".8\" d=\"",
                         ink);
        bool done = as_contour(heights, grid->nx, grid->ny, position, draw_line, &c);
        as_output_text(sheet->out, "\"/>\n");
        if (!done) return false;
        if (c.longest) write_label(&c, &levels.at[i], under, ink);
    }
    return true;
}

/* Where measuring ends, in both directions. */
static void draw_border(const as_sheet *sheet) {
    double x = as_sheet_x(sheet, sheet->plot->measured_x), y = as_sheet_y(sheet, sheet->plot->measured_y);
    if (isnan(x) && isnan(y)) return;
    as_output_text(
        sheet->out,
        "<path class=\"marker\" fill=\"none\" stroke=\"#fff\" stroke-width=\"1.2\" stroke-dasharray=\"3 3\" d=\"");
    as_svg_place(sheet->out, 'M', 0, isnan(y) ? 0 : y);
    as_svg_place(sheet->out, isnan(y) ? 'M' : 'L', isnan(x) ? sheet->width : x, isnan(y) ? 0 : y);
    as_svg_place(sheet->out, isnan(x) ? 'M' : 'L', isnan(x) ? sheet->width : x, sheet->height);
    as_output_text(sheet->out, "\"/>\n");
}

bool as_heat_svg_surface(const as_sheet *sheet) {
    const as_plot_grid *grid = &sheet->plot->grid;
    size_t n = grid->nx * grid->ny;
    double *heights = malloc(n * sizeof *heights);
    if (!heights) return false;
    for (size_t i = 0; i < n; i++) heights[i] = as_axis_position(&sheet->axes.z, grid->z[i]);
    draw_cells(sheet, heights);
    bool done = draw_contours(sheet, heights);
    draw_border(sheet);
    free(heights);
    return done;
}

/* ---- points and colours ------------------------------------------------------------------------------------------ */

void as_heat_svg_points(const as_sheet *sheet, const as_plot_series *series) {
    as_output *out = sheet->out;
    as_output_text(out, "<g class=\"points\" stroke=\"#000\" stroke-width=\".8\">\n");
    for (size_t i = 0; i < series->points.count; i++) {
        const as_plot_point *point = &AS_AT(as_plot_point, &series->points, i);
        double x = as_sheet_x(sheet, point->x), y = as_sheet_y(sheet, point->y);
        if (isnan(x) || isnan(y)) continue;
        as_output_text(out, "<circle");
        as_svg_attribute(out, "cx", x);
        as_svg_attribute(out, "cy", y);
        as_output_text(out, " r=\"3.2\" fill=\"");
        double height = as_axis_position(&sheet->axes.z, point->z);
        write_colour(out, isnan(height) ? (as_rgb){255, 255, 255} : as_heat_colour(height));
        as_output_text(out, "\"><title>");
        as_output_real(out, point->x);
        as_output_text(out, ", ");
        as_output_real(out, point->y);
        as_output_text(out, ": ");
        as_output_real(out, point->z);
        as_output_text(out, "</title></circle>\n");
    }
    as_output_text(out, "</g>\n");
}

static void write_bar_labels(const as_sheet *sheet, double x) {
    as_output *out = sheet->out;
    as_ticks levels;
    as_axis_levels(&sheet->axes.z, LEVELS, &levels);
    for (size_t i = 0; i < levels.n; i++) {
        double y = sheet->top + sheet->height * (1 - as_axis_position(&sheet->axes.z, levels.at[i].value));
        as_output_text(out, "<path fill=\"none\" stroke=\"#222\" stroke-width=\".8\" d=\"");
        as_svg_place(out, 'M', x + BAR_WIDTH, y);
        as_output_text(out, "h4\"/>\n<text");
        as_svg_attribute(out, "x", x + BAR_WIDTH + 6);
        as_svg_attribute(out, "y", y + 4);
        as_output_printf(out, " font-size=\"%d\">", LABEL_SIZE);
        as_svg_rich(out, levels.at[i].label);
        as_output_text(out, "</text>\n");
    }
    char title[256];
    as_axis_title(&sheet->axes.z, &levels, title, sizeof title);
    as_output_text(out, "<text transform=\"translate(");
    as_svg_number(out, sheet->page_width - 12);
    as_output_char(out, ' ');
    as_svg_number(out, sheet->top + sheet->height / 2);
    as_output_text(out, ") rotate(-90)\" font-size=\"12\" text-anchor=\"middle\">");
    as_svg_rich(out, title);
    as_output_text(out, "</text>\n");
}

void as_heat_svg_bar(const as_sheet *sheet) {
    as_output *out = sheet->out;
    double x = sheet->left + sheet->width + BAR_GAP, step = sheet->height / COLOURS;
    as_output_text(out, "<g class=\"colours\" shape-rendering=\"crispEdges\">\n");
    for (int i = 0; i < COLOURS; i++) {
        as_output_text(out, "<rect");
        as_svg_attribute(out, "x", x);
        as_svg_attribute(out, "y", sheet->top + sheet->height - (i + 1) * step);
        as_svg_attribute(out, "width", BAR_WIDTH);
        as_svg_attribute(out, "height", step + (i ? 0.4 : 0));
        as_output_text(out, " fill=\"");
        write_colour(out, as_heat_colour((i + 0.5) / COLOURS));
        as_output_text(out, "\"/>\n");
    }
    as_output_text(out, "</g>\n");
    write_bar_labels(sheet, x);
}
