/* Building experiments: values of (metric, call path) at points of named parameters, with repetitions. Readers hand
 * over lists of values in the order of the file; as_experiment_finish() numbers runs by (point, repetition), sorts, and
 * fills the dataset. The same point of the same series may come several times: its values become further
 * repetitions. */
#ifndef AS_DATASET_EXPERIMENT_H
#define AS_DATASET_EXPERIMENT_H

#include "dataset/build.h"

typedef struct as_experiment as_experiment;

/* Where ds->share is set, values and statistics of other processes' call paths are dropped; their series and points are
 * made all the same. */
as_experiment *as_experiment_new(as_dataset *ds);
void as_experiment_free(as_experiment *experiment);

/* All give ASSAY_NONE when memory is out. Parameters: as_add_parameter(), all of them before the first point. */
assay_id as_experiment_metric(as_experiment *experiment, const char *name, size_t size);
/* A tree id: valid in this interface only, until finish. */
assay_id as_experiment_callpath(as_experiment *experiment, const char *path, size_t size);
/* as_ds_parameters() numbers; known points are found (-0 is 0). */
assay_id as_experiment_point(as_experiment *experiment, const double *coordinates);
as_tree *as_experiment_tree(as_experiment *experiment);

/* Where the following values belong. */
typedef struct as_cell_key {
    assay_id metric, context, point;
} as_cell_key;

/* One repetition of one value. False when memory is out. */
bool as_experiment_value(as_experiment *experiment, as_cell_key key, as_number value);
/* One value of a repetition that has a list of them: location 0 begins a new repetition. */
bool as_experiment_value_at(as_experiment *experiment, as_cell_key key, uint32_t location, as_number value);
/* Statistics the source stores; key in tree ids. Call them in the order of the source. */
bool as_experiment_statistics(as_experiment *experiment, as_cell_key key, const as_measurement *statistics);
/* Repetitions of this cell handed over so far: the repetition the next value will get. The first call makes all later
 * ones of as_experiment_value() slower and larger: for records that carry more than a value. UINT32_MAX when memory is
 * out. */
uint32_t as_experiment_repetition(as_experiment *experiment, as_cell_key key);
/* Whether values of this call path are kept; others need not be handed over, but their series must be made. */
bool as_experiment_keeps(as_experiment *experiment, assay_id context);
/* Index of the series, made if new; UINT32_MAX when memory is out. Values and statistics make theirs themselves. */
uint32_t as_experiment_series(as_experiment *experiment, assay_id metric, assay_id context);
/* Whether this series was made already. */
bool as_experiment_has_series(const as_experiment *experiment, assay_id metric, assay_id context);

/* Moves everything into the dataset. *new_ids (may be NULL): final context id for each tree id. Adds the problems
 * "missing-points" (a series without data at some points; one problem in all) and "inexact-integer" (an integer beyond
 * 2^53 among reals). */
bool as_experiment_finish(as_experiment *experiment, as_place whole_file, const assay_id **new_ids);

/* The run of (point, repetition), or ASSAY_NONE; after finish. */
assay_id as_run_of(const as_dataset *ds, assay_id point, uint32_t repetition);

#endif
