/* Heat maps on a terminal: bands between the ticks of z, so that their borders are contour lines. With colours two dots
 * a character, one above the other; without, shades. */
#include <math.h>

#include "render/display.h"
#include "render/plot_colour.h"
#include "render/plot_frame.h"
#include "render/plot_text.h"

static const char *const unicode_shades[] = {" ", "░", "▒", "▓", "█"};
static const char *const ascii_shades[] = {" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};
enum {
    N_UNICODE = sizeof unicode_shades / sizeof *unicode_shades,
    N_ASCII = sizeof ascii_shades / sizeof *ascii_shades
};

void as_heat_levels_choose(const as_frame *frame, as_heat_levels *levels) {
    unsigned most = frame->colour ? AS_TERMINAL_LEVELS : frame->ascii ? N_ASCII : N_UNICODE;
    as_axis_levels(&frame->axes.z, most - 1, &levels->ticks);
    levels->n = levels->ticks.n + 1;
}

/* The height of the surface at a position of x and y, as a position on z: between the four numbers around it. */
static double height_at(const as_frame *frame, double x, double y) {
    const as_plot_grid *grid = &frame->plot->grid;
    double gx = x * (double)(grid->nx - 1), gy = y * (double)(grid->ny - 1);
    size_t i = gx >= (double)(grid->nx - 1) ? grid->nx - 2 : (size_t)gx;
    size_t j = gy >= (double)(grid->ny - 1) ? grid->ny - 2 : (size_t)gy;
    const double *low = &grid->z[j * grid->nx + i], *high = low + grid->nx;
    double fx = gx - (double)i, fy = gy - (double)j;
    double corners[] = {as_axis_position(&frame->axes.z, low[0]), as_axis_position(&frame->axes.z, low[1]),
                        as_axis_position(&frame->axes.z, high[0]), as_axis_position(&frame->axes.z, high[1])};
    return (corners[0] * (1 - fx) + corners[1] * fx) * (1 - fy) + (corners[2] * (1 - fx) + corners[3] * fx) * fy;
}

/* Which band; -1: none. */
static int level_of(const as_frame *frame, const as_heat_levels *levels, double height) {
    if (isnan(height)) return -1;
    int level = 0;
    for (size_t i = 0; i < levels->ticks.n; i++)
        level += height >= as_axis_position(&frame->axes.z, levels->ticks.at[i].value);
    return level;
}

static unsigned level_colour(const as_heat_levels *levels, int level) {
    return as_terminal_colour((unsigned)level, (unsigned)levels->n);
}

static const char *level_shade(const as_frame *frame, const as_heat_levels *levels, int level) {
    if (level < 0) return "?";
    size_t most = frame->ascii ? N_ASCII : N_UNICODE;
    size_t shade = levels->n > 1 ? (size_t)level * (most - 1) / (levels->n - 1) : most / 2;
    return frame->ascii ? ascii_shades[shade] : unicode_shades[shade];
}

/* The lines beyond which it is extrapolated. */
static const char *border_at(const as_frame *frame, unsigned column, unsigned row) {
    const as_plot *plot = frame->plot;
    int x = as_frame_column(frame, as_axis_position(&frame->axes.x, plot->measured_x));
    int y = as_frame_row(frame, as_axis_position(&frame->axes.y, plot->measured_y));
    bool on_x = x == (int)column && (y < 0 || (int)row >= y), on_y = y == (int)row && (x < 0 || (int)column <= x);
    if (on_x) return frame->ascii ? "|" : "┊";
    return on_y ? (frame->ascii ? "-" : "┄") : NULL;
}

/* The colours the terminal has now: 0 is its own. */
typedef struct pen {
    unsigned front, back;
} pen;

static void set_pen(const as_frame *frame, pen *now, pen wanted) {
    if (now->front == wanted.front && now->back == wanted.back) return;
    if (wanted.front == 0 && wanted.back == 0)
        as_output_text(frame->out, "\033[0m");
    else
        as_output_printf(frame->out, "\033[38;5;%u;48;5;%um", wanted.front, wanted.back);
    *now = wanted;
}

/* sign: what lies on top of it, or NULL. */
static void print_coloured(const as_frame *frame, const as_heat_levels *levels, int top, int bottom, const char *sign,
                           pen *now) {
    enum { BLACK = 16, WHITE = 231 };
    if (top < 0 || bottom < 0) {
        set_pen(frame, now, (pen){0, 0});
        as_output_text(frame->out, sign ? sign : " ");
        return;
    }
    bool is_light = as_terminal_is_light((unsigned)bottom, (unsigned)levels->n);
    unsigned back = level_colour(levels, bottom);
    bool halves = !sign && !frame->ascii && top != bottom;
    set_pen(frame, now, (pen){halves ? level_colour(levels, top) : is_light ? BLACK : WHITE, back});
    as_output_text(frame->out, sign ? sign : halves ? "▀" : " ");
}

void as_heat_print_row(const as_frame *frame, const as_heat_levels *levels, const bool *points, unsigned row) {
    pen now = {0, 0};
    for (unsigned column = 0; column < frame->columns; column++) {
        double x = (column + 0.5) / frame->columns, y = 1 - (row + 0.5) / frame->rows, quarter = 0.25 / frame->rows;
        bool is_point = points[(size_t)row * frame->columns + column];
        const char *sign = is_point ? (frame->ascii ? "o" : "●") : border_at(frame, column, row);
        if (frame->colour) {
            int top = level_of(frame, levels, height_at(frame, x, y + quarter));
            print_coloured(frame, levels, top, level_of(frame, levels, height_at(frame, x, y - quarter)), sign, &now);
        } else {
            int level = level_of(frame, levels, height_at(frame, x, y));
            as_output_text(frame->out, sign ? sign : level_shade(frame, levels, level));
        }
    }
    set_pen(frame, &now, (pen){0, 0});
}

static void print_sample(const as_frame *frame, const as_heat_levels *levels, int level) {
    if (frame->colour) as_output_printf(frame->out, "\033[48;5;%um   \033[0m", level_colour(levels, level));
    for (int k = 0; !frame->colour && k < 3; k++) as_output_text(frame->out, level_shade(frame, levels, level));
}

bool as_heat_print_legend(as_frame *frame, const as_heat_levels *levels) {
    char title[256];
    as_axis_title(&frame->axes.z, &levels->ticks, title, sizeof title);
    if (!as_rich_plain(title, frame->ascii, &frame->text)) return false;
    as_output *out = frame->out;
    as_output_char(out, ' ');
    size_t used = 1 + as_display_write(out, frame->text.data, frame->text.count - 1, frame->width / 3);
    as_output_char(out, ' ');
    print_sample(frame, levels, 0);
    used += 4;
    for (size_t i = 0; i < levels->ticks.n; i++) {
        if (!as_rich_plain(levels->ticks.at[i].label, frame->ascii, &frame->text)) return false;
        size_t size = frame->text.count - 1, width = as_display_width(frame->text.data, size);
        bool breaks = used + width + 5 > frame->width;
        as_output_text(out, breaks ? "\n  " : " ");
        used = (breaks ? 2 : used + 1) + width + 4;
        as_display_write(out, frame->text.data, size, 0);
        as_output_char(out, ' ');
        print_sample(frame, levels, (int)i + 1);
    }
    as_output_char(out, '\n');
    return true;
}
