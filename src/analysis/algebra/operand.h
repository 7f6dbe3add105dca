/* What takes part in an operation: the values of one metric in one run of one part, brought to the kind and type that
 * the operation wants. */
#ifndef AS_ANALYSIS_OPERAND_H
#define AS_ANALYSIS_OPERAND_H

#include "dataset/unify.h"

/* A run of a part. Where a part has only statistics, each point is a run: what its means say. Listed by point, part and
 * repetition. */
typedef struct as_part_run {
    assay_id point; /* in the united dataset; n_points: none */
    uint32_t part;
    assay_id run;       /* of the part; ASSAY_NONE: statistics */
    assay_id own_point; /* of the part; ASSAY_NONE: none */
} as_part_run;

typedef struct as_operand {
    size_t part;
    as_profile view;    /* by the ids of the part */
    uint64_t n_limited; /* values that did not fit on the way */
    double factor;      /* to the unit of the result, where as_operand_convert() is still to do that */
    bool is_sparse;     /* a row that it lacks, and another run of its part has, was not measured (experiments) */
    /* In a result: the row of the view for each of its rows, and the column for each of its columns; UINT32_MAX: the
     * view has none. columns_at NULL: the same ones. */
    uint32_t *rows_at, *columns_at;
    as_slice slice;
    as_vec contexts, rows, values; /* of a view that had to be made */
} as_operand;

/* What values of a part's metric are multiplied by to be in the unit of the united one (as_metric_factor()): of times
 * that may be another number than 1. 0: they cannot be in that unit. */
double as_union_factor(const as_union *u, size_t part, assay_id own);

/* kind: in which values are wanted, where the metric's own is another one that it can be made of; integers are added up
 * to wanted, if that is DOUBLE, which holds what 64 bits do not. as_operand_close() in every case. */
assay_status as_operand_open(const as_union *u, const as_part_run *run, assay_id metric, as_metric_kind kind,
                             as_dtype wanted, as_operand *out, assay_error *error);
void as_operand_close(as_operand *operand);

/* Makes plain values numbers of this type, to reckon with, and of the result's unit, which the type must be DOUBLE for
 * where it is another one: counters that ran below zero become 0. Composite types stay what they are. False when memory
 * is out. */
bool as_operand_convert(as_operand *operand, as_value_type type);
/* Adds up the columns: one number that is no place is left of each row. */
bool as_operand_sum_places(as_operand *operand);

/* ---- several of them --------------------------------------------------------------------------------------------- */

/* The rows and columns of a result, in its dataset's arena. */
typedef struct as_alignment {
    assay_id *contexts, *columns; /* columns NULL: one that is no place */
    uint32_t n_rows, n_columns;
} as_alignment;

/* Room that operations on many metrics share. */
typedef struct as_workbench {
    as_union *u;
    uint32_t *context_marks, *location_marks; /* for each of the united dataset; 0 between uses */
    assay_id *last_columns;                   /* most metrics have the same */
    uint32_t n_last_columns;
} as_workbench;

bool as_workbench_init(as_workbench *bench, as_union *u);
void as_workbench_free(as_workbench *bench);
/* Rows: of contexts that any operand has a row for; none where there are no columns. Fills rows_at and columns_at.
 * False when memory is out. */
bool as_align(as_workbench *bench, as_operand *operands, size_t n, as_alignment *out);
/* Only the columns. */
bool as_align_columns(as_workbench *bench, as_operand *operands, size_t n, as_alignment *out);

/* The values of row i of the result as the operand has them, n_columns of its type: in place, or gathered in `room`.
 * NULL: the operand has no such row. Columns that it lacks are 0. */
const char *as_operand_row(const as_operand *operand, const as_alignment *alignment, uint32_t i, void *room);
/* The same for a row of the operand's own. */
const char *as_operand_gather(const as_operand *operand, const as_alignment *alignment, uint32_t row, void *room);

/* The mean of row i over n operands of doubles, into out. What an operand lacks is 0, unless it was not measured
 * (is_sparse) or is a minimum or maximum: then it does not take part, and the value of no operand is that of
 * as_values_clear(). room: for two rows. */
void as_operands_average(const as_operand *operands, size_t n, const as_alignment *alignment, uint32_t i, double *room,
                         double *out);

/* Room for values that lives as long as the dataset; trimmed to what was used in the end. NULL when memory is out. */
char *as_result_room(as_dataset *ds, uint64_t bytes, as_vec **holder);

/* Whether a result of this type has to do without a value it should have: "beyond-limit", once for each metric. */
void as_tell_limits(as_dataset *ds, assay_id metric, uint64_t n, const char *type);

#endif
