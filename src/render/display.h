/* Text on a terminal: how wide it is, and printed so that it can do no harm. Control characters, bidirectional
 * overrides and invalid UTF-8 are shown as escapes (\n, \x1b, \u202e). */
#ifndef AS_RENDER_DISPLAY_H
#define AS_RENDER_DISPLAY_H

#include "io/output.h"

enum { AS_ESCAPE_SIZE = 12 };

/* Of a character at `text` that reorders or hides what stands around it (U+202E, U+2066 and their like): its bytes, and
 * what every output for people has in its place, "\u202e". 0: the character does no such thing, or is no UTF-8. */
size_t as_display_harmful(const char *text, size_t left, char escape[AS_ESCAPE_SIZE]);
/* Columns the text takes when shown: East Asian wide characters two, combining ones none. */
size_t as_display_width(const char *text, size_t size);
/* Bytes of the longest beginning of the text that takes at most `width` columns. */
size_t as_display_prefix(const char *text, size_t size, size_t width);
/* "…", or "..." where the output has only ASCII. */
const char *as_display_ellipsis(const as_output *out);
/* Prints the text in at most max_width columns (0: no limit), cut with an ellipsis where it is longer. Returns the
 * columns used. */
size_t as_display_write(as_output *out, const char *text, size_t size, size_t max_width);
/* The same, but the beginning is left out where it is longer, at an arrow "->" where one is near: of a path the end
 * says more. */
size_t as_display_write_end(as_output *out, const char *text, size_t size, size_t max_width);
void as_display_pad(as_output *out, size_t columns);

#endif
