/* Axes of plots: which scale and range fit the numbers, where the ticks are and what is written at them. */
#ifndef AS_RENDER_PLOT_AXIS_H
#define AS_RENDER_PLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum as_scale { AS_SCALE_AUTO, AS_SCALE_LINEAR, AS_SCALE_LOG } as_scale;

typedef struct as_axis {
    const char *label; /* rich text (render/plot_text.h), or NULL */
    as_scale scale;
    double base, origin; /* of a logarithmic one: its ticks are at origin * base^k; 0: 10 and 1 */
    bool tight;          /* ends where its numbers end: no air, no zero */
    double low, high;    /* set by as_axis_fit…(); both 0: not yet */
} as_axis;

/* ---- numbers that shall be seen ---------------------------------------------------------------------------------- */

typedef struct as_range {
    double low, high;
    size_t n;
} as_range;

/* Makes room for the value; ignores what cannot be drawn. */
void as_range_add(as_range *range, double value);

/* ---- the axis ---------------------------------------------------------------------------------------------------- */

/* Whether an axis that is to show this range is better logarithmic: everything is positive and spans more than two
 * decades. */
bool as_range_prefers_log(const as_range *range);
/* Chooses the scale where it is AUTO, else keeps it; a logarithmic one becomes linear where not all numbers are
 * positive. Then sets low and high: some air around the range, from zero on where that is near. Range without numbers:
 * 0 … 1. */
void as_axis_fit(as_axis *axis, const as_range *range);
/* The same for the values of a parameter, ascending without repeats, to be shown until last (at least the largest).
 * Logarithmic also where each value is the same multiple of the one before; the ticks are then at the values. */
void as_axis_fit_parameter(as_axis *axis, const double *values, size_t n, double last);

/* Where a value lies: 0 at low, 1 at high, beyond these outside. NAN: nowhere. */
double as_axis_position(const as_axis *axis, double value);
/* The value at a position. */
double as_axis_value(const as_axis *axis, double position);

/* ---- ticks ------------------------------------------------------------------------------------------------------- */

enum { AS_TICK_LABEL = 32, AS_MAX_TICKS = 64 };

typedef struct as_tick {
    double value;
    char label[AS_TICK_LABEL]; /* rich text; "" at minor ticks */
} as_tick;

typedef struct as_ticks {
    as_tick at[AS_MAX_TICKS];
    size_t n;
    /* the labels are in units of 10^exponent; 0 unless the axis is linear with very large or small numbers */
    int exponent;
} as_ticks;

/* At most `want` (2 … 32) ticks with labels, ascending, inside the axis; a logarithmic one has minor ticks between
 * where there is room. */
void as_axis_ticks(const as_axis *axis, unsigned want, as_ticks *out);
/* About n (at most 32) values that divide the axis, ascending, all with labels: ticks, or where these are too few or
 * too many, round numbers at even distances. */
void as_axis_levels(const as_axis *axis, unsigned n, as_ticks *out);
/* The label of the axis with the exponent of its ticks: "time [s] ×10^{6}"; cut where it does not fit. */
void as_axis_title(const as_axis *axis, const as_ticks *ticks, char *out, size_t size);

/* The number rounded to so many digits (1 … 15) as rich text: "0.25", "12500", "1.25×10^{-9}", "nan". */
void as_rich_number(double value, unsigned digits, char out[AS_TICK_LABEL]);

#endif
