/* Metrics by the names people give. */
#ifndef AS_DATASET_METRIC_NAMES_H
#define AS_DATASET_METRIC_NAMES_H

#include "dataset/dataset.h"

/* The metric that is meant: by its name, else by the one it is displayed by, else by one of these in any case, else (if beginnings will do) by the beginning of one; but for exact names only where
 * no other metric fits as well. Of an inclusive metric and its other sides (as_metric.part_of) the inclusive one is meant. ASSAY_NONE: none; why (may be NULL) is a sentence that
 * says which there are. */
assay_id as_metric_by_name(const as_dataset *ds, const char *name, size_t size, bool beginnings, char *why,
                           size_t room);
/* By the id of the source; where no metric has it, by the number that the dataset gives it. */
assay_id as_metric_by_number(const as_dataset *ds, const char *digits, size_t size);

#endif
