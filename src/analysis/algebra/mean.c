/* The mean of several runs. */
#include <stdlib.h>

#include "analysis/algebra/algebra.h"
#include "analysis/algebra/sparse.h"

/* One metric of the result. */
typedef struct averaging {
    as_operation *op;
    assay_id metric;
    as_value_type type;
    uint64_t n_limited;
} averaging;

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* Whether part k has values of the metric. */
static bool has_metric(const as_operation *op, size_t k, assay_id metric) {
    assay_id own = as_part_metric(op, k, metric);
    return own != ASSAY_NONE && as_ds_metric(op->u.parts[k], own)->kind != AS_KIND_DERIVED;
}

/* Plain numbers become DOUBLE; minima, maxima and composite values of doubles stay what they are. False: there is no
 * mean of them. */
static bool find_type(const as_operation *op, assay_id metric, as_value_type *out) {
    bool first = true;
    for (size_t k = 0; k < op->u.n; k++) {
        if (!has_metric(op, k, metric)) continue;
        as_value_type type = as_ds_metric_type(op->u.parts[k], as_part_metric(op, k, metric));
        if (type.dtype == AS_DTYPE_TAU_ATOMIC || type.dtype == AS_DTYPE_OPAQUE) return false;
        if (as_dtype_is_integer(type.dtype)) type = as_value_type_of(AS_DTYPE_DOUBLE, 0);
        bool same = first || (type.dtype == out->dtype && type.n_parts == out->n_parts);
        if (!same && (as_dtype_is_composite(type.dtype) || as_dtype_is_composite(out->dtype))) return false;
        *out = same ? type : as_value_type_of(AS_DTYPE_DOUBLE, 0);
        first = false;
    }
    return true;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static bool average_rows(averaging *a, as_operand *operands, size_t n, assay_id run) {
    as_alignment alignment;
    if (!as_align(&a->op->bench, operands, n, &alignment)) return false;
    size_t width = (size_t)alignment.n_columns * a->type.n_parts, size;
    if (!as_mul_size(alignment.n_rows, width * sizeof(double), &size)) return false;
    as_vec *holder;
    char *values = as_result_room(a->op->ds, size, &holder);
    double *room = malloc((2 * width + 1) * sizeof *room);
    bool fine = values && room;
    for (uint32_t i = 0; fine && i < alignment.n_rows; i++)
        as_operands_average(operands, n, &alignment, i, room, (double *)(void *)values + i * width);
    free(room);
    as_profile profile = {.metric = a->metric,
                          .run = run,
                          .type = a->type,
                          .n_rows = alignment.n_rows,
                          .n_columns = alignment.n_columns,
                          .columns = alignment.columns,
                          .contexts = alignment.contexts,
                          .values = values};
    return fine && (alignment.n_rows == 0 || as_add_profile(a->op->ds, &profile));
}

/* The same of sparse profiles; *done: they are. */
static assay_status average_sparse(averaging *a, const as_part_run *runs, size_t n, assay_id run, bool *done) {
    as_sparse_term *terms = calloc(n + 1, sizeof *terms);
    size_t n_terms = 0;
    *done = false;
    if (!terms) return as_fail_memory(a->op->error, NULL);
    for (size_t i = 0; i < n; i++) {
        if (has_metric(a->op, runs[i].part, a->metric)) terms[n_terms++].run = &runs[i];
    }
    *done = as_is_sparse_operation(a->op, a->metric, terms, n_terms);
    assay_status status = *done ? as_combine_sparse(a->op, a->metric, run, AS_SPARSE_MEAN, terms, n_terms) : ASSAY_OK;
    free(terms);
    return status;
}

/* runs: all of one point. */
static assay_status average_runs(averaging *a, const as_part_run *runs, size_t n, assay_id run) {
    as_operation *op = a->op;
    bool done;
    AS_TRY(average_sparse(a, runs, n, run, &done));
    if (done) return ASSAY_OK;
    as_operand *operands = calloc(n + 1, sizeof *operands);
    size_t n_open = 0;
    assay_status status = operands ? ASSAY_OK : as_fail_memory(op->error, NULL);
    for (size_t i = 0; i < n && status == ASSAY_OK; i++) {
        if (!has_metric(op, runs[i].part, a->metric)) continue;
        as_operand *operand = &operands[n_open++];
        status = as_operand_open(&op->u, &runs[i], as_part_metric(op, runs[i].part, a->metric),
                                 as_ds_metric(op->ds, a->metric)->kind, a->type.dtype, operand, op->error);
        if (status == ASSAY_OK && !as_operand_convert(operand, a->type)) status = as_fail_memory(op->error, NULL);
        a->n_limited += operand->n_limited;
        if (status == ASSAY_OK && op->ds->n_points && operand->view.n_rows == 0)
            as_operand_close(&operands[--n_open]); /* of an experiment's runs: not measured */
    }
    if (status == ASSAY_OK && !average_rows(a, operands, n_open, run)) status = as_fail_memory(op->error, NULL);
    for (size_t i = 0; i < n_open; i++) as_operand_close(&operands[i]);
    free(operands);
    return status;
}

static assay_status average_metric(as_operation *op, assay_id metric) {
    averaging a = {.op = op, .metric = metric};
    if (as_ds_metric(op->ds, metric)->kind == AS_KIND_DERIVED) return ASSAY_OK;
    find_type(op, metric, &a.type);
    if (!as_set_metric_type(op, metric, a.type)) return as_fail_memory(op->error, NULL);
    assay_id run = 0;
    for (size_t i = 0; i < op->runs.count; i += as_runs_of_point(op, i), run++)
        AS_TRY(average_runs(&a, as_part_run_at(op, i), as_runs_of_point(op, i), run));
    as_tell_limits(op->ds, metric, a.n_limited, "a 64-bit integer");
    return ASSAY_OK;
}

/* ---- the operation ----------------------------------------------------------------------------------------------- */

enum reason { KEPT, OTHER_UNIT, DERIVED_ELSEWHERE, NO_MEAN };

static size_t judge(as_operation *op, assay_id metric, bool ignored) {
    (void)ignored;
    as_value_type type;
    if (as_ds_metric(op->ds, metric)->kind == AS_KIND_DERIVED)
        return as_is_derived_elsewhere(op, metric) ? DERIVED_ELSEWHERE : KEPT;
    for (size_t k = 0; k < op->u.n; k++)
        if (has_metric(op, k, metric) && as_union_factor(&op->u, k, as_part_metric(op, k, metric)) == 0)
            return OTHER_UNIT;
    return find_type(op, metric, &type) ? KEPT : NO_MEAN;
}

static bool choose_metrics(as_operation *op) {
    static const char *const reasons[] = {[OTHER_UNIT] = "left out, as their units are not the same in all files",
                                          [DERIVED_ELSEWHERE] = AS_DERIVED_ELSEWHERE,
                                          [NO_MEAN] = "left out, as values of their types have no mean"};
    return as_leave_out_metrics(op, reasons, NO_MEAN + 1, judge, false);
}

static assay_status average_all(as_operation *op) {
    if (!choose_metrics(op)) return as_fail_memory(op->error, NULL);
    AS_TRY(as_operation_settle(op));
    for (size_t i = 0; i < op->runs.count; i += as_runs_of_point(op, i)) {
        if (as_add_result_run(op, as_part_run_at(op, i)->point, 0) == ASSAY_NONE)
            return as_fail_memory(op->error, NULL);
    }
    for (assay_id m = 0; m < op->ds->metrics.count; m++) AS_TRY(average_metric(op, m));
    return ASSAY_OK;
}

assay_status as_mean(const as_dataset *const *parts, size_t n, as_matching matching, as_dataset **out,
                     assay_error *error) {
    as_operation op;
    assay_status status = as_operation_begin(&op, parts, n, matching, error);
    if (status == ASSAY_OK) status = average_all(&op);
    if (status == ASSAY_OK) status = as_operation_finish(&op, "mean", out);
    as_operation_end(&op);
    return status;
}
