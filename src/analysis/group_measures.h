/* What was measured of the intervals of groups (analysis/grouping.h): each number without those of the same measure
 * that were taken of intervals inside, so that nothing counts twice. */
#ifndef AS_ANALYSIS_GROUP_MEASURES_H
#define AS_ANALYSIS_GROUP_MEASURES_H

#include "analysis/event_intervals.h"
#include "analysis/measures.h"
#include "core/map.h"

typedef struct as_group_measures {
    const as_dataset *ds;
    as_measures measured;
    as_map sum_of;   /* cell and measure -> index into sums */
    as_vec sums;     /* struct as_group_sum */
    as_map stack_of; /* run and measure -> index into stacks */
    as_vec stacks; /* as_vec of struct as_group_holder: intervals with a number, from the outermost to the innermost */
} as_group_measures;

/* All give false when memory is out. as_group_measures_free() in every case. */
bool as_group_measures_open(const as_dataset *ds, as_group_measures *out);
void as_group_measures_free(as_group_measures *measures);
/* The numbers of an interval, which come by run in the order of time. cell: the number of its run and group
 * together. */
bool as_group_measures_add(as_group_measures *measures, const as_event_interval *interval, uint32_t cell,
                           assay_id group);
/* Adds a metric for each measure that has numbers, and its values. ids: what groups are called in the dataset. */
bool as_group_measures_fill(as_group_measures *measures, as_dataset *out, const assay_id *ids);

#endif
