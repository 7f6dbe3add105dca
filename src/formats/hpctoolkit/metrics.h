/* What all generations say about metrics in the same way. */
#ifndef AS_FORMATS_HPCTOOLKIT_METRICS_H
#define AS_FORMATS_HPCTOOLKIT_METRICS_H

#include "dataset/build.h"

/* The unit in a metric's name: what stands in the last parentheses, be it before a statistic's name, "sec" of "CPUTIME
 * (sec)" and of "CPUTIME (sec):Sum". NULL: none. */
const char *as_hpc_unit(const char *name, size_t *size);

/* Says of the metrics, which are one thing in several scopes, that their values are stored ones, and which is another
 * side of which: the (first) inclusive one stands for all of them, and its exclusive values are those of the lexical
 * one, or else of the exclusive one; where there is no inclusive one, this stands for all. */
void as_hpc_pair_metrics(as_dataset *ds, const assay_id *metrics, size_t n);

#endif
