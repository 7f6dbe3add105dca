/* Colours of heat maps: evenly lighter from dark violet over teal to yellow, so that they also read in grey and by the
 * colour-blind. */
#ifndef AS_RENDER_PLOT_COLOUR_H
#define AS_RENDER_PLOT_COLOUR_H

#include <stdbool.h>

typedef struct as_rgb {
    unsigned char red, green, blue;
} as_rgb;

/* The colour at 0 … 1; beyond, the nearest. */
as_rgb as_heat_colour(double position);
/* Whether black is better read on it than white. */
bool as_is_light(as_rgb colour);

/* For terminals with 256 colours: that of level 0 … n - 1 of n, and whether it is a light one. No two are alike up to
 * AS_TERMINAL_LEVELS. */
enum { AS_TERMINAL_LEVELS = 9 };
unsigned as_terminal_colour(unsigned level, unsigned n);
bool as_terminal_is_light(unsigned level, unsigned n);

#endif
