/* Metrics by the names people give. */
#ifndef AS_DATASET_METRIC_NAMES_H
#define AS_DATASET_METRIC_NAMES_H

#include "dataset/dataset.h"

/* The metric that is meant: by its name, else by the one it is displayed by, else by one of these in any case, else
 * without the unit that is in it, else (if beginnings will do) by the beginning of one; but for exact names only where
 * no other metric fits as well. Of an inclusive metric and its other sides (as_metric.part_of) the inclusive one is
 * meant. ASSAY_NONE: none; why (may be NULL) is a sentence that says which there are. */
assay_id as_metric_by_name(const as_dataset *ds, const char *name, size_t size, bool beginnings, char *why,
                           size_t room);
/* Where the unit stands in a metric's name: " (usec)" of "CPUTIME (usec):Sum", from one byte to another. False:
 * nowhere. */
bool as_metric_find_unit(const char *name, const char *unit, size_t *from, size_t *to);
/* What values of the second metric are multiplied by to stand beside those of the first: of times that of their units,
 * else 1. Counts are alike whatever their units are called, and what has one name where a unit is not known.
 * ASSAY_E_USAGE: their units differ, and *factor is 1. */
assay_status as_metric_factor(const as_dataset *const sides[2], const assay_id metrics[2], double *factor,
                              assay_error *error);
/* By the id of the source; where no metric has it, by the number that the dataset gives it. */
assay_id as_metric_by_number(const as_dataset *ds, const char *digits, size_t size);

#endif
