/* A model's function as Extra-P writes it: "1.5 + 2.0 * p^(1/2) * log2(p)^(1)", Python "1.5+2.0*p**(1/2)*log2(p)**(1)",
 * LaTeX "$1.500+2.000\cdot p^{1/2}\cdot \log_2{p}^{1}$". */
#ifndef AS_RENDER_EXTRAP_FUNCTION_H
#define AS_RENDER_EXTRAP_FUNCTION_H

#include "dataset/dataset.h"
#include "render/text_buffer.h"

typedef enum as_notation { AS_NOTATION_PLAIN, AS_NOTATION_PYTHON, AS_NOTATION_LATEX } as_notation;

/* The whole function; a segmented one has a line for each segment (Python: a conditional expression). */
void as_extrap_function(as_text *out, const as_dataset *ds, const as_model *model, as_notation notation);
/* One segment, as if it were a model of its own. */
void as_extrap_segment(as_text *out, const as_dataset *ds, const as_model *model, uint32_t segment,
                       as_notation notation);

#endif
