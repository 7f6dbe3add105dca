/* Small histograms made of characters. */
#ifndef AS_RENDER_HISTOGRAM_H
#define AS_RENDER_HISTOGRAM_H

#include "io/output.h"
#include "render/text_buffer.h"

/* One character for each bin, as high as its count is among them: "▁▂█▅  ▁▃", in ASCII "..#+  .-". A bin with anything
 * in it is never blank. */
void as_histogram_line(as_text *out, const uint32_t *bins, uint32_t n, bool ascii);

/* Prints a bar of part (0 … 1) of `width` columns, in eighths of a column ("███▌"), in ASCII "####". Returns the
 * columns used. */
size_t as_bar_write(as_output *out, double part, size_t width, bool ascii);

#endif
