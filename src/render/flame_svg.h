/* A flame graph as an interactive SVG. */
#ifndef AS_RENDER_FLAME_SVG_H
#define AS_RENDER_FLAME_SVG_H

#include "analysis/flame_tree.h"

/* What colours stand for. AS_COLOUR_AUTO: modules where more than one is known, else kinds, else names. */
typedef enum as_flame_colour { AS_COLOUR_AUTO, AS_COLOUR_MODULE, AS_COLOUR_KIND, AS_COLOUR_NAME } as_flame_colour;

typedef struct as_flame_svg {
    const char *title, *subtitle;
    const char *unit;     /* of the amounts, as files write it; "": not known */
    const char *sides[2]; /* of a tree with two sides: what they are called */
    double page_width;    /* pixels, at least AS_FLAME_LEAST_WIDTH */
    bool grows_up;        /* the outermost function at the bottom */
    as_flame_colour colour;
    as_flame_request request; /* that made the tree */
} as_flame_svg;

enum {
    AS_FLAME_LEAST_WIDTH = 300,
    AS_FLAME_MOST_WIDTH = 20000,
    AS_FLAME_FRAME_COSTS = 180, /* bytes of a frame without its name */
    AS_FLAME_LONGEST_NAME = 1000
};

/* Frames that are narrower than a twentieth of a pixel cannot be seen: the share that a request for this picture leaves
 * out. */
double as_flame_least_share(double page_width);

/* The colour of frames is that of their module, kind or name; of a tree with two sides that of the change. False when
 * memory is out. */
bool as_flame_svg_write(as_output *out, const as_flame_tree *tree, const as_flame_svg *picture);

#endif
