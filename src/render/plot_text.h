/* Rich text: UTF-8 in which ^{…} is raised, _{…} lowered and /{…} slanted, none of them inside another. Shown as each
 * output can: SVG sets it, a terminal has raised and lowered digits, ASCII writes 1.5e-6 and p^(3/2). */
#ifndef AS_RENDER_PLOT_TEXT_H
#define AS_RENDER_PLOT_TEXT_H

#include "io/output.h"

/* The text for a terminal, NUL-terminated, into out (a vector of char, cleared first). False when memory is out. */
bool as_rich_plain(const char *rich, bool ascii, as_vec *out);

/* Text inside an SVG: escaped; line ends and tabs become blanks, what XML cannot hold U+FFFD. */
void as_svg_escape(as_output *out, const char *text, size_t size);
/* Rich text inside a text element. */
void as_svg_rich(as_output *out, const char *rich);
/* About how wide it is set in a usual sans-serif font, in units of the font's size. */
double as_svg_width(const char *rich, size_t size);
/* The length of the beginning of text that is at most so wide, ended at a blank where there is one; the whole where it
 * fits. */
size_t as_svg_break(const char *rich, double width);
/* A coordinate with at most two decimals. */
void as_svg_number(as_output *out, double value);
/* The same with at most four, for what is looked at closer. */
void as_svg_fine(as_output *out, double value);
/* ` NAME="1.5"`, as as_svg_number() has it. */
void as_svg_attribute(as_output *out, const char *name, double value);

#endif
