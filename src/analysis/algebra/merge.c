/* Several profiles as one: each column whole from the last that has it. */
#include <stdlib.h>

#include "analysis/algebra/algebra.h"
#include "analysis/algebra/sparse.h"
#include "formats/format.h"

/* One metric of the result. */
typedef struct joining {
    as_operation *op;
    assay_id metric;
    as_value_type type;
    uint64_t n_limited;
} joining;

/* ---- types ------------------------------------------------------------------------------------------------------- */

static bool same_type(as_value_type a, as_value_type b) {
    return a.dtype == b.dtype && a.n_parts == b.n_parts && a.size == b.size;
}

/* Plain types: the one that holds numbers of both. */
static as_value_type wider(as_value_type a, as_value_type b) {
    if (same_type(a, b)) return a;
    if (!as_dtype_is_integer(a.dtype) || !as_dtype_is_integer(b.dtype)) return as_value_type_of(AS_DTYPE_DOUBLE, 0);
    bool both_unsigned = as_dtype_is_unsigned(a.dtype) && as_dtype_is_unsigned(b.dtype);
    return as_value_type_of(both_unsigned ? AS_DTYPE_UINT64 : AS_DTYPE_INT64, 0);
}

/* Whether part k has values of the metric that the result's type can take in. */
static bool has_metric(const joining *j, size_t k) {
    assay_id own = as_part_metric(j->op, k, j->metric);
    if (own == ASSAY_NONE || as_ds_metric(j->op->u.parts[k], own)->kind == AS_KIND_DERIVED) return false;
    as_value_type type = as_ds_metric_type(j->op->u.parts[k], own);
    if (as_union_factor(&j->op->u, k, own) == 0) return false;
    return same_type(type, j->type) || (!as_dtype_is_composite(type.dtype) && !as_dtype_is_composite(j->type.dtype));
}

/* What keeps part k's values out. */
static void tell_left_out(const joining *j, size_t k, const char *what) {
    const as_dataset *part = j->op->u.parts[k];
    as_add_problem(j->op->ds, AS_WARNING, as_place_file(as_ds_text(part, part->path)), "metric-left-out",
                   "metric '%s' has another %s here and is left out",
                   as_ds_text(j->op->ds, as_ds_metric(j->op->ds, j->metric)->name), what);
}

/* The first part's type, widened by those of the others; values of a composite type go with none but their own. */
static void find_type(joining *j) {
    bool first = true;
    j->type = as_value_type_of(AS_DTYPE_DOUBLE, 0);
    for (size_t k = 0; k < j->op->u.n; k++) {
        assay_id own = as_part_metric(j->op, k, j->metric);
        if (own == ASSAY_NONE || as_ds_metric(j->op->u.parts[k], own)->kind == AS_KIND_DERIVED) continue;
        as_value_type type = as_part_type(j->op, k, j->metric);
        if (as_union_factor(&j->op->u, k, own) == 0)
            tell_left_out(j, k, "unit");
        else if (first)
            j->type = type;
        else if (!as_dtype_is_composite(type.dtype) && !as_dtype_is_composite(j->type.dtype))
            j->type = wider(j->type, type);
        else if (!same_type(type, j->type))
            tell_left_out(j, k, "type");
        first = false;
    }
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* For each column the last operand that has it; out: one a column. */
static void find_owners(const as_operand *operands, size_t n, const as_alignment *alignment, uint32_t *owners) {
    for (uint32_t c = 0; c < alignment->n_columns; c++) {
        owners[c] = UINT32_MAX;
        for (size_t k = n; k-- > 0 && owners[c] == UINT32_MAX;) {
            /* without places it is the last that has anything */
            bool has = alignment->columns ? !operands[k].columns_at || operands[k].columns_at[c] != UINT32_MAX
                                          : operands[k].view.n_rows > 0;
            if (has) owners[c] = (uint32_t)k;
        }
    }
}

/* Puts together one row; false: none of the owners has it. */
static bool join_row(const as_operand *operands, const as_alignment *alignment, const uint32_t *owners, uint32_t i,
                     as_value_type type, char *out) {
    bool any = false;
    size_t size = type.size;
    for (uint32_t c = 0; c < alignment->n_columns;) {
        uint32_t owner = owners[c], end = c + 1;
        while (end < alignment->n_columns && owners[end] == owner) end++;
        const as_operand *operand = owner == UINT32_MAX ? NULL : &operands[owner];
        if (!operand || operand->rows_at[i] == UINT32_MAX) {
            as_values_clear(type, out + c * size, end - c);
            c = end;
            continue;
        }
        const char *row = as_profile_row(&operand->view, operand->rows_at[i]);
        any = true;
        if (!operand->columns_at) memcpy(out + c * size, row + c * size, (end - c) * size);
        for (uint32_t k = c; operand->columns_at && k < end; k++)
            memcpy(out + k * size, row + (size_t)operand->columns_at[k] * size, size);
        c = end;
    }
    return any;
}

static bool join_rows(joining *j, as_operand *operands, size_t n, assay_id run) {
    as_alignment alignment;
    if (!as_align(&j->op->bench, operands, n, &alignment)) return false;
    size_t row_size = (size_t)alignment.n_columns * j->type.size, size;
    if (!as_mul_size(alignment.n_rows, row_size, &size)) return false;
    as_vec *holder;
    char *values = as_result_room(j->op->ds, size, &holder);
    uint32_t *owners = malloc(((size_t)alignment.n_columns + 1) * sizeof *owners);
    if (!values || !owners) {
        free(owners);
        return false;
    }
    find_owners(operands, n, &alignment, owners);
    uint32_t n_rows = 0;
    bool below_zero = false;
    for (uint32_t i = 0; i < alignment.n_rows; i++) {
        if (!join_row(operands, &alignment, owners, i, j->type, values + n_rows * row_size)) continue;
        alignment.contexts[n_rows++] = alignment.contexts[i];
    }
    for (size_t k = 0; k < n; k++) below_zero |= operands[k].view.below_zero;
    free(owners);
    holder->count = n_rows * row_size;
    as_vec_shrink(holder);
    as_profile profile = {.metric = j->metric,
                          .run = run,
                          .type = j->type,
                          .n_rows = n_rows,
                          .n_columns = alignment.n_columns,
                          .columns = alignment.columns,
                          .below_zero = below_zero,
                          .contexts = alignment.contexts,
                          .values = holder->data};
    return n_rows == 0 || as_add_profile(j->op->ds, &profile);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static assay_status open_run(joining *j, const as_part_run *run, as_operand *out) {
    as_operation *op = j->op;
    AS_TRY(as_operand_open(&op->u, run, as_part_metric(op, run->part, j->metric), as_ds_metric(op->ds, j->metric)->kind,
                           j->type.dtype, out, op->error));
    if ((!same_type(out->view.type, j->type) || out->factor != 1) && !as_operand_convert(out, j->type))
        return as_fail_memory(op->error, NULL);
    j->n_limited += out->n_limited;
    return ASSAY_OK;
}

/* The same of sparse profiles; *done: they are. */
static assay_status join_sparse(joining *j, const as_part_run *const *runs, size_t n, assay_id run, bool *done) {
    as_sparse_term *terms = calloc(n + 1, sizeof *terms);
    *done = false;
    if (!terms) return as_fail_memory(j->op->error, NULL);
    for (size_t i = 0; i < n; i++) terms[i].run = runs[i];
    *done = as_is_sparse_operation(j->op, j->metric, terms, n);
    assay_status status = *done ? as_combine_sparse(j->op, j->metric, run, AS_SPARSE_LAST, terms, n) : ASSAY_OK;
    free(terms);
    return status;
}

/* runs: at most one of each part. */
static assay_status join_runs(joining *j, const as_part_run *const *runs, size_t n, assay_id run) {
    bool done;
    AS_TRY(join_sparse(j, runs, n, run, &done));
    if (done) return ASSAY_OK;
    as_operand *operands = calloc(n + 1, sizeof *operands);
    size_t n_open = 0;
    assay_status status = operands ? ASSAY_OK : as_fail_memory(j->op->error, NULL);
    for (size_t i = 0; i < n && status == ASSAY_OK; i++) status = open_run(j, runs[i], &operands[n_open++]);
    if (status == ASSAY_OK && !join_rows(j, operands, n_open, run)) status = as_fail_memory(j->op->error, NULL);
    for (size_t i = 0; i < n_open; i++) as_operand_close(&operands[i]);
    free(operands);
    return status;
}

/* The runs of a point, from index `first` on: those of parts that have the metric. Repetition by repetition; but where
 * parts have different numbers of them, all of the last part that has any, so that a point's runs are never of two
 * measurements. */
static assay_status join_point(joining *j, size_t first, size_t n, assay_id run, size_t n_repetitions) {
    const as_operation *op = j->op;
    bool alike = true;
    size_t count = 0, last = SIZE_MAX, n_last = 0;
    for (size_t i = first; i < first + n; i += n_last) {
        n_last = as_runs_of_part(op, i);
        if (!has_metric(j, as_part_run_at(op, i)->part)) continue;
        alike &= last == SIZE_MAX || n_last == count;
        count = n_last;
        last = i;
    }
    const as_part_run **runs = malloc((op->u.n + 1) * sizeof(as_part_run *));
    if (!runs) return as_fail_memory(op->error, NULL);
    assay_status status = ASSAY_OK;
    for (size_t repetition = 0; repetition < n_repetitions && status == ASSAY_OK; repetition++, run++) {
        size_t n_runs = 0;
        for (size_t i = first; i < first + n; i += as_runs_of_part(op, i)) {
            bool takes_part = has_metric(j, as_part_run_at(op, i)->part) && (alike || i == last);
            if (takes_part && repetition < as_runs_of_part(op, i)) runs[n_runs++] = as_part_run_at(op, i + repetition);
        }
        if (n_runs) status = join_runs(j, runs, n_runs, run);
    }
    free(runs);
    return status;
}

static size_t repetitions_at(const as_operation *op, size_t first, size_t n) {
    size_t most = 0;
    for (size_t i = first; i < first + n; i += as_runs_of_part(op, i)) {
        if (as_runs_of_part(op, i) > most) most = as_runs_of_part(op, i);
    }
    return most;
}

/* ---- the operation ----------------------------------------------------------------------------------------------- */

static assay_status join_metric(as_operation *op, assay_id metric) {
    joining j = {.op = op, .metric = metric};
    if (as_ds_metric(op->ds, metric)->kind == AS_KIND_DERIVED) return ASSAY_OK;
    find_type(&j);
    if (!as_set_metric_type(op, metric, j.type)) return as_fail_memory(op->error, NULL);
    assay_id run = 0;
    for (size_t i = 0, n; i < op->runs.count; i += n) {
        n = as_runs_of_point(op, i);
        size_t n_repetitions = repetitions_at(op, i, n);
        AS_TRY(join_point(&j, i, n, run, n_repetitions));
        run += (assay_id)n_repetitions;
    }
    as_tell_limits(op->ds, metric, j.n_limited, as_dtype_name(j.type.dtype));
    return ASSAY_OK;
}

static size_t judge(as_operation *op, assay_id metric, bool ignored) {
    (void)ignored;
    return as_ds_metric(op->ds, metric)->kind == AS_KIND_DERIVED && as_is_derived_elsewhere(op, metric);
}

static assay_status join_all(as_operation *op) {
    if (!as_leave_out_metrics(op, (const char *const[]){NULL, AS_DERIVED_ELSEWHERE}, 2, judge, false))
        return as_fail_memory(op->error, NULL);
    AS_TRY(as_operation_settle(op));
    for (size_t i = 0, n; i < op->runs.count; i += n) {
        n = as_runs_of_point(op, i);
        for (size_t repetition = 0; repetition < repetitions_at(op, i, n); repetition++) {
            if (as_add_result_run(op, as_part_run_at(op, i)->point, (uint32_t)repetition) == ASSAY_NONE)
                return as_fail_memory(op->error, NULL);
        }
    }
    for (assay_id m = 0; m < op->ds->metrics.count; m++) AS_TRY(join_metric(op, m));
    return ASSAY_OK;
}

assay_status as_merge_profiles(const as_dataset *const *parts, size_t n, as_matching matching, as_dataset **out,
                               assay_error *error) {
    as_format_merge *own = as_own_merge(parts, n);
    if (own) return own(parts, n, out, error);
    as_operation op;
    assay_status status = as_operation_begin(&op, parts, n, matching, error);
    if (status == ASSAY_OK) status = join_all(&op);
    if (status == ASSAY_OK) status = as_operation_finish(&op, "merge", out);
    as_operation_end(&op);
    return status;
}
