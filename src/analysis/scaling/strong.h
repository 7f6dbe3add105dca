/* Strong scaling: the work stays, the processes grow. Extra-P's models only grow well, so the total over all processes
 * is modelled instead of the time of one; and how the values of several places (ranks, threads) become one. */
#ifndef AS_ANALYSIS_SCALING_STRONG_H
#define AS_ANALYSIS_SCALING_STRONG_H

#include "dataset/build.h"

/* What the dataset itself says, or AS_SCALING_WEAK. */
as_scaling as_ds_scaling(const as_dataset *ds);

/* The parameter along which the whole program's metric decreases (the metric "time", else those that do so most), or
 * ASSAY_NONE. Along the longest line of points, the one with the larger sum where there are several. Of very many call
 * paths a part is looked at. False when memory is out. */
bool as_strong_detect(const as_dataset *ds, assay_id *parameter);

/* Whether some value belongs to a place. */
bool as_has_places(const as_dataset *ds);

/* Multiplies all values and statistics by the parameter's value at their point; integers become reals. False when
 * memory is out. */
bool as_scale_strong(as_dataset *ds, assay_id parameter);
/* Values of several places in one repetition: AS_SCALING_STRONG adds them up, AS_SCALING_WEAK_THREADED drops those that
 * are 0 (unless all are), AS_SCALING_WEAK changes nothing. Statistics that the source stores beside them are computed
 * anew. False when memory is out. */
bool as_scale_places(as_dataset *ds, as_scaling scaling);
/* Says in the dataset what was done, so that a file written from it says so. */
bool as_set_scaling(as_dataset *ds, as_scaling scaling);

#endif
