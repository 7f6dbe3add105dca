/* Which hypotheses are averaged: all terms of one parameter; of several, the combinations of their plausible terms. */
#ifndef AS_ANALYSIS_SCALING_COMBINATIONS_H
#define AS_ANALYSIS_SCALING_COMBINATIONS_H

#include "analysis/scaling/averaging.h"

/* Tries the constant and every term. False when memory is out. */
bool as_try_terms(as_averaging *averaging);
/* Tries sums and products (and, for two and three parameters, sums of both where allow_mixed) of the terms that are
 * plausible for each parameter beside the chosen ones of the others. chosen: a term for each parameter, or AS_NO_TERM.
 * At most a few thousand, whatever the number of parameters. False when memory is out. */
bool as_try_combinations(as_averaging *averaging, const uint16_t *chosen, bool allow_mixed);

#endif
