/* Pictures for the browser: one SVG file that needs nothing else, light or dark as the reader's system is, with a
 * script inside that makes it interactive. Without scripts it is a picture as any other. */
#ifndef AS_RENDER_SVG_PAGE_H
#define AS_RENDER_SVG_PAGE_H

#include "io/output.h"

enum {
    AS_PAGE_MARGIN = 10,
    AS_PAGE_HEAD = 58, /* where the picture begins, below the titles */
    AS_PAGE_LINE = 17  /* from one line of text to the next */
};

/* A letter of the monospaced font that everything is set in, in pixels. */
#define AS_PAGE_LETTER 6.62

typedef struct as_page {
    as_output *out;
    double width, height;
    const char *title, *subtitle; /* plain text; the subtitle may be "" */
    const char *what;             /* "flame graph": for those who cannot see it */
} as_page;

/* Up to the titles. style: CSS for what is in the picture. */
void as_page_begin(const as_page *page, const char *style);
/* script: its source. */
void as_page_end(const as_page *page, const char *script);

/* A line of plain text at (x, y), cut where it would be wider than `room` pixels. kind: its class. */
void as_page_text(const as_page *page, double x, double y, const char *kind, const char *text, double room);
/* So much of the text as fits into the columns, with an ellipsis where it is cut; nothing where that would be less than
 * four. Returns the columns used. */
size_t as_page_cut(as_output *out, const char *text, size_t size, size_t columns);
/* A square of colour (a class) with a text behind it at (x, y); returns how wide both are. */
double as_page_key(const as_page *page, double x, double y, const char *colour, const char *text, size_t columns);

#endif
