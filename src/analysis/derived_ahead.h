/* Sums of derived metrics that are computed together with one that is asked for. Who asks for several, one after the
 * other, would else have the metrics they are made of computed again for each: a chain of n would cost n * n. */
#ifndef AS_ANALYSIS_DERIVED_AHEAD_H
#define AS_ANALYSIS_DERIVED_AHEAD_H

#include "dataset/dataset.h"

enum { AS_MOST_AHEAD = 1024 };

typedef struct as_ahead as_ahead;

/* That of a dataset with formulas, which owns it; NULL when memory is out. The following are safe from several
 * threads. */
as_ahead *as_ahead_of(const as_dataset *ds);
/* Calls use with the inclusive and exclusive sums of all contexts, if they are there; they live until it returns. */
bool as_ahead_use(as_ahead *ahead, assay_id run, assay_id metric,
                  void (*use)(void *user, const double *inclusive, const double *exclusive), void *user);
/* The metrics to compute now that one is asked for: it, and others behind it, twice as many each time. Ascending; at
 * least 1, at most AS_MOST_AHEAD. */
size_t as_ahead_choose(as_ahead *ahead, const as_dataset *ds, assay_id run, assay_id metric, assay_id *out);
/* Keeps the sums of a metric, arrays from malloc, which are then freed here in every case. The first one that was
 * chosen drops what was kept before. */
void as_ahead_keep(as_ahead *ahead, assay_id run, assay_id metric, bool is_first, double *inclusive, double *exclusive);
/* Ends it all: one of several could not be computed, so each goes alone from here on. */
void as_ahead_stop(as_ahead *ahead);

#endif
