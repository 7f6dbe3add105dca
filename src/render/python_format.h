/* Python's format specification mini-language for floats, integers and texts: what "{:>10.3e}" means. Output is
 * Python's, byte for byte. */
#ifndef AS_RENDER_PYTHON_FORMAT_H
#define AS_RENDER_PYTHON_FORMAT_H

#include "core/number.h"
#include "render/text_buffer.h"

/* [[fill]align][sign][z][#][0][width][,|_][.precision][type] */
typedef struct as_format_spec {
    char fill[4]; /* one character of UTF-8 */
    unsigned fill_size;
    char align; /* '<', '>', '^', '='; 0: not given */
    char sign;  /* '+', '-', ' ' */
    bool no_negative_zero, alternate;
    unsigned width;
    char grouping; /* ',', '_' or 0 */
    int precision; /* -1: not given */
    char type;     /* "eEfFgGn%", 's' for texts, or 0 */
} as_format_spec;

/* Fills *out; false, and *problem a phrase such as "the type must be one of …", where it is no specification for a
 * number (is_text: for a text). */
bool as_format_spec_parse(const char *text, size_t size, bool is_text, as_format_spec *out, const char **problem);

void as_format_real(as_text *out, double value, const as_format_spec *spec);
/* A whole number as Python's int: without a type it has no fraction. */
void as_format_whole(as_text *out, double value, const as_format_spec *spec);
void as_format_text(as_text *out, const char *text, size_t size, const as_format_spec *spec);

#endif
