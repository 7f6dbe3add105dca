/* Functions of models as mathematicians write them. */
#ifndef AS_CLI_MODEL_FUNCTION_H
#define AS_CLI_MODEL_FUNCTION_H

#include "dataset/dataset.h"

/* Makes rich text (render/plot_text.h) of a function or growth for people: "0.25 * p^(3/2) * log2(p)^2" becomes "0.25 ·
 * /{p}^{3/2} · log_{2}(/{p})^{2}", and 1e-07 becomes 10^{-7}. text: a vector of char with a NUL, replaced. False when
 * memory is out. */
bool as_function_rich(const as_dataset *ds, as_vec *text);

#endif
