#include "render/plot_colour.h"

#include <math.h>
#include <stddef.h>

/* OKLCh: lightness 0.27 … 0.93 in even steps, hue 295 … 105 degrees, as much chroma up to 0.15 as sRGB has there. */
static const as_rgb stops[] = {{47, 3, 99},     {45, 23, 115},   {39, 40, 129},   {25, 56, 140},   {6, 73, 142},
                               {9, 88, 138},    {11, 101, 140},  {13, 114, 143},  {17, 126, 147},  {19, 139, 150},
                               {21, 152, 152},  {25, 165, 153},  {26, 179, 150},  {32, 193, 142},  {85, 203, 134},
                               {123, 211, 127}, {156, 219, 120}, {187, 226, 114}, {217, 232, 112}, {246, 237, 113}};
enum { N_STOPS = sizeof stops / sizeof *stops };

static unsigned char between(unsigned char from, unsigned char to, double part) {
    return (unsigned char)lround(from + part * (to - from));
}

as_rgb as_heat_colour(double position) {
    double at = fmin(fmax(isnan(position) ? 0 : position, 0), 1) * (N_STOPS - 1);
    size_t i = at >= N_STOPS - 1 ? N_STOPS - 2 : (size_t)at;
    const as_rgb *from = &stops[i], *to = &stops[i + 1];
    double part = at - (double)i;
    return (as_rgb){between(from->red, to->red, part), between(from->green, to->green, part),
                    between(from->blue, to->blue, part)};
}

bool as_is_light(as_rgb colour) { return 299u * colour.red + 587u * colour.green + 114u * colour.blue > 140000; }

static unsigned terminal_stop(unsigned level, unsigned n) {
    return n > 1 && level < n ? level * (AS_TERMINAL_LEVELS - 1) / (n - 1) : AS_TERMINAL_LEVELS / 2;
}

unsigned as_terminal_colour(unsigned level, unsigned n) {
    /* Of the colour cube, near the stops above and each lighter than the one before */
    static const unsigned char colours[AS_TERMINAL_LEVELS] = {17, 18, 24, 25, 31, 37, 78, 150, 228};
    return colours[terminal_stop(level, n)];
}

bool as_terminal_is_light(unsigned level, unsigned n) { return terminal_stop(level, n) >= 5; }
