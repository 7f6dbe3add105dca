/* Metrics that users add to a dataset: 'ipc = instructions / cycles'. */
#ifndef AS_DATASET_DERIVE_H
#define AS_DATASET_DERIVE_H

#include "dataset/dataset.h"

/* Adds the derived metric of "NAME=EXPRESSION" or "NAME [UNIT]=EXPRESSION", when nobody reads the dataset. The
 * expression is one of formula/infix.h; names are as as_metric_by_name() has them, numbers as as_metric_by_number().
 * The text of the expression is the metric's description. ASSAY_E_USAGE where the text is wrong, or there is a metric
 * of that name. */
assay_status as_derive_metric(as_dataset *ds, const char *text, assay_error *error);

/* Takes the last n metrics away, all of as_derive_metric(). Their texts stay with the dataset. */
void as_underive_metrics(as_dataset *ds, size_t n);

#endif
