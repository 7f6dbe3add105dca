/* Time lines as an interactive SVG: rows of coloured runs, an axis of time, and what the colours stand for. */
#ifndef AS_RENDER_TIMELINE_SVG_H
#define AS_RENDER_TIMELINE_SVG_H

#include "io/output.h"

#define AS_TIMELINE_NOTHING UINT32_MAX

/* Colours 1 … AS_TIMELINE_COLOURS are those of procedures, the others have meanings of their own. */
enum {
    AS_TIMELINE_COLOURS = 12,
    AS_TIMELINE_OTHER = 0, /* procedures without a colour */
    AS_TIMELINE_IDLE = 13,
    AS_TIMELINE_UNKNOWN,
    AS_TIMELINE_PAUSED
};

typedef struct as_timeline_key {
    uint32_t procedure; /* AS_TIMELINE_NOTHING: several */
    unsigned colour;
    char *facts; /* "34.5 %   1.23 s" */
} as_timeline_key;

typedef struct as_timeline_svg {
    const char *title, *subtitle;
    double from, to; /* seconds */
    size_t n_rows, n_columns;
    const char *const *labels; /* of rows */
    const uint32_t *cells;     /* procedures, or AS_TIMELINE_NOTHING, row by row; one for each column */
    const char *const *names;  /* of procedures */
    const unsigned char *colours;
    const as_timeline_key *keys; /* in the order in which they are listed */
    size_t n_keys;
    const char *note; /* below; NULL: none */
} as_timeline_svg;

/* A column is a pixel. False when memory is out. */
bool as_timeline_svg_write(as_output *out, const as_timeline_svg *picture);

#endif
