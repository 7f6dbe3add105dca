/* What all operations begin and end with: the united tables, runs by point, and the result's own words about itself. */
#ifndef AS_ANALYSIS_OPERATION_H
#define AS_ANALYSIS_OPERATION_H

#include "analysis/algebra/operand.h"

typedef struct as_operation {
    as_dataset *ds; /* the result */
    as_union u;
    as_workbench bench;
    assay_id *part_metrics; /* of part k and united metric m at k * metrics + m: the part's metric, or ASSAY_NONE */
    as_vec runs;            /* as_part_run */
    assay_error *error;
} as_operation;

/* Unites the parts' tables; metrics and attributes still to be settled. as_operation_end() in every case. */
assay_status as_operation_begin(as_operation *op, const as_dataset *const *parts, size_t n, as_matching matching,
                                assay_error *error);
/* The same without contexts, for one part. */
assay_status as_operation_begin_one(as_operation *op, const as_dataset *const *part, assay_error *error);
/* Maps of metrics back to the parts: as_part_metric(). */
bool as_operation_map_metrics(as_operation *op);
/* Only the points that all parts have stay; the others are told. */
bool as_keep_common_points(as_operation *op);
/* Attributes, and the maps of metrics back to the parts: once it is settled which metrics stay. */
assay_status as_operation_settle(as_operation *op);
/* Series of results with points, and what was done: "diff old.cubex new.cubex", the name of the dataset and, of
 * profiles, an attribute ("assay operation"). Hands over the result. */
assay_status as_operation_finish(as_operation *op, const char *what, as_dataset **out);
void as_operation_end(as_operation *op);

static inline assay_id as_part_metric(const as_operation *op, size_t part, assay_id metric) {
    return op->part_metrics[part * op->ds->metrics.count + metric];
}

/* The runs from index i on that are of the same point; of the same part, too. */
size_t as_runs_of_point(const as_operation *op, size_t i);
size_t as_runs_of_part(const as_operation *op, size_t i);
static inline const as_part_run *as_part_run_at(const as_operation *op, size_t i) {
    return &AS_AT(as_part_run, &op->runs, i);
}
/* A run of the result at the point of these; ASSAY_NONE when memory is out. */
assay_id as_add_result_run(as_operation *op, assay_id point, uint32_t repetition);

/* The type that the values of a part's metric have in the unit of the result's: integers become DOUBLE where that is
 * another one. */
as_value_type as_part_type(const as_operation *op, size_t part, assay_id metric);

/* The type of a metric in the result; its word is kept where it means the same. False when memory is out. */
bool as_set_metric_type(as_operation *op, assay_id metric, as_value_type type);

/* Takes out the metrics for which judge gives the number of a reason, and says which and why: "REASON: a, b, c". 0 is
 * none: they stay. False when memory is out. */
bool as_leave_out_metrics(as_operation *op, const char *const *reasons, size_t n_reasons,
                          size_t (*judge)(as_operation *op, assay_id metric, bool user), bool user);
/* Whether a metric is derived from others whose values are in another unit in the result than in the part that has the
 * formula. */
bool as_is_derived_elsewhere(const as_operation *op, assay_id metric);
#define AS_DERIVED_ELSEWHERE "left out, as they are derived from metrics that are in other units here"

#endif
