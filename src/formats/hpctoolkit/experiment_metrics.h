/* What the tables MetricTable and MetricDBTable of experiment.xml become. */
#ifndef AS_FORMATS_HPCTOOLKIT_EXPERIMENT_METRICS_H
#define AS_FORMATS_HPCTOOLKIT_EXPERIMENT_METRICS_H

#include "formats/hpctoolkit/experiment.h"

/* Adds a metric for each id of the MetricDBTable of a database of 2021. *metrics (as_hpc_metric) says which number in the files is which, *statistics (as_hpc_statistic) what
 * the numbers of the summary profile are; see formats/hpctoolkit/database.h. */
assay_status as_hpc_add_metrics_2021(as_hpc_experiment *experiment, as_vec *metrics, as_vec *statistics);

/* "CPUTIME (sec)" of "CPUTIME (sec) (I)", and what the last parentheses say: AS_KIND_INCLUSIVE, AS_KIND_EXCLUSIVE, or AS_KIND_NONE where they say neither. */
as_metric_kind as_hpc_split_name(const char *name, size_t *size);
/* The metric of this name (of so many bytes) and kind, with its unit, without source_id. ASSAY_NONE when memory is out. */
assay_id as_hpc_add_named_metric(as_hpc_experiment *experiment, const char *name, size_t size, as_metric_kind kind,
                                 const as_hpc_xml_metric *source);
/* Pairs the metrics first … of the dataset, by their names (formats/hpctoolkit/metrics.h). */
assay_status as_hpc_pair_by_name(as_hpc_experiment *experiment, assay_id first);

#endif
