/* What is meant of a dataset where nobody says it: its main metric and its largest point. */
#ifndef AS_DATASET_MAIN_METRIC_H
#define AS_DATASET_MAIN_METRIC_H

#include "dataset/dataset.h"

/* Whether a run has values of this metric, or a point has statistics of it. Derived metrics have none of their own. */
bool as_metric_has_data(const as_dataset *ds, assay_id metric);
/* The metric people look at first: the one that the source says, else time, by unit or name (of several sparse ones
 * that which has most), else the first plain one with data, else the first. ASSAY_NONE where there are none. at_places:
 * the values of locations are asked for, so a metric is preferred that has any. */
assay_id as_main_metric(const as_dataset *ds, bool at_places);
/* The time of GPUs: of use beside that of the host, and where this is nothing. ASSAY_NONE: there is none. */
assay_id as_gpu_time_metric(const as_dataset *ds);

/* The point that is largest in all parameters together, each measured by its own largest value. False when memory is
 * out. */
bool as_largest_point(const as_dataset *ds, assay_id *out);
/* The same of those that have runs, where some have: an experiment may name points that nobody measured. */
bool as_largest_point_with_runs(const as_dataset *ds, assay_id *out);

#endif
