/* One dataset of several that measured the same parameters: see assay_merge() in the public header. */
#ifndef AS_DATASET_MERGE_H
#define AS_DATASET_MERGE_H

#include "dataset/dataset.h"

/* Whether all parts have the same, non-empty list of parameters, and so are points of one experiment. */
bool as_can_merge(as_dataset *const *parts, size_t n);
assay_status as_merge(as_dataset *const *parts, size_t n, as_dataset **out, assay_error *error);

/* One part as if merged with others, without its records: those that its measurements are made of are no single
 * measurement's. */
assay_status as_merge_values(const as_dataset *part, as_dataset **out, assay_error *error);

/* A set of profiles as an experiment whose values are those that as_measure() takes its statistics from; with its
 * models, and without records where these are what the statistics are made of. The caller frees *out. */
assay_status as_pool_profiles(const as_dataset *ds, as_dataset **out, assay_error *error);

#endif
