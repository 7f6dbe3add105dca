/* Inside of experiment.c and experiment_finish.c. */
#ifndef AS_DATASET_EXPERIMENT_PRIVATE_H
#define AS_DATASET_EXPERIMENT_PRIVATE_H

#include "dataset/experiment.h"

#define AS_NO_LOCATION UINT32_MAX

/* Consecutive rows of one context. */
typedef struct as_row_segment {
    assay_id context; /* tree id */
    uint32_t count;
} as_row_segment;

/* Values of one metric in the order of the file. */
typedef struct as_metric_column {
    as_vec segments;  /* as_row_segment */
    as_vec points;    /* assay_id, one a row; while is_regular only those of one segment: all others have the same */
    as_vec locations; /* uint32_t, one a row; empty while no value has a location */
    as_vec values;    /* 8 bytes each, of dtype */
    as_dtype dtype;
    bool has_negative, is_inexact, is_regular;
} as_metric_column;

enum { AS_PATH_UNKNOWN, AS_PATH_OWN, AS_PATH_FOREIGN }; /* whose a call path is */

struct as_experiment {
    as_dataset *ds;
    as_tree tree;
    as_vec columns; /* as_metric_column, by metric id */
    as_map metric_by_name, point_by_hash, series_by_key;
    as_map repetitions; /* (series, point) -> count; kept only once counts_repetitions */
    bool counts_repetitions;
    uint32_t n_locations;
    as_vec statistics; /* as_measurement with tree ids, in the order of the source */
    as_vec ownership;  /* char by tree id, one of the above; only of a share, as far as was asked */
    as_vec path;       /* char: of the call path asked for last */
};

/* Points one a row from now on. False when memory is out. */
bool as_column_spread_points(as_metric_column *column);

/* A value alone is a repetition; of a list of locations, the first begins one. */
static inline bool as_row_begins_repetition(const as_metric_column *column, size_t row) {
    if (row >= column->locations.count) return true;
    uint32_t location = AS_AT(uint32_t, &column->locations, row);
    return location == 0 || location == AS_NO_LOCATION;
}

#endif
