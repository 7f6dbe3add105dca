/* What the tables MetricTable and MetricDBTable of experiment.xml become. */
#ifndef AS_FORMATS_HPCTOOLKIT_EXPERIMENT_METRICS_H
#define AS_FORMATS_HPCTOOLKIT_EXPERIMENT_METRICS_H

#include "formats/hpctoolkit/experiment.h"

/* Adds a metric for each id of the MetricDBTable of a database of 2021. *metrics (as_hpc_metric) says which number in
 * the files is which, *statistics (as_hpc_statistic) what the numbers of the summary profile are; see
 * formats/hpctoolkit/database.h. */
assay_status as_hpc_add_metrics_2021(as_hpc_experiment *experiment, as_vec *metrics, as_vec *statistics);

/* Adds a metric for each Metric and each MetricDB of a document 2.x. *of_values: for each `i` of a Metric (as
 * as_hpc_ref) its metric; *columns (as_hpc_column) says which column of companion files is which, see
 * formats/hpctoolkit/companions.h. */
assay_status as_hpc_add_metrics_2x(as_hpc_experiment *experiment, as_map *of_values, as_vec *columns);

/* "CPUTIME (sec)" of "CPUTIME (sec) (I)", and what the last parentheses say: AS_KIND_INCLUSIVE, AS_KIND_EXCLUSIVE, or
 * AS_KIND_NONE where they say neither. */
as_metric_kind as_hpc_split_name(const char *name, size_t *size);

#endif
