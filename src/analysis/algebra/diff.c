/* What changed: target minus base. */
#include <stdlib.h>

#include "analysis/algebra/algebra.h"
#include "analysis/algebra/sparse.h"

enum { BASE, TARGET };

/* One metric of the result. */
typedef struct subtraction {
    as_operation *op;
    assay_id metric;
    as_value_type type;
    uint64_t n_limited;
} subtraction;

/* The operands of one run: those of the base first. */
typedef struct sides {
    as_operand *operands;
    size_t n_base, n_target;
    as_alignment alignment;
    double *room, *base_room, *target_room; /* a row each, room two */
} sides;

/* ---- which metrics ----------------------------------------------------------------------------------------------- */

/* Differences that make sense: of plain numbers, and of composite values all of whose parts are doubles. */
static bool find_type(as_value_type base, as_value_type target, as_value_type *out) {
    if (as_dtype_is_composite(base.dtype) || as_dtype_is_composite(target.dtype)) {
        *out = base;
        return base.dtype == target.dtype && base.n_parts == target.n_parts && base.dtype != AS_DTYPE_TAU_ATOMIC &&
               base.dtype != AS_DTYPE_OPAQUE;
    }
    bool whole = as_dtype_is_integer(base.dtype) && as_dtype_is_integer(target.dtype);
    bool same_extreme = base.dtype == target.dtype && as_dtype_is_extreme(base.dtype);
    *out = same_extreme ? base : as_value_type_of(whole ? AS_DTYPE_INT64 : AS_DTYPE_DOUBLE, 0);
    return true;
}

enum reason { KEPT, ONLY_BASE, ONLY_TARGET, DERIVED, OTHER_UNIT, NO_DIFFERENCE };

/* The types of a metric on both sides, in the unit of the result; where one does not have it, that of the other. */
static void types_of(const as_operation *op, assay_id metric, as_value_type types[2]) {
    assay_id ids[2] = {as_part_metric(op, BASE, metric), as_part_metric(op, TARGET, metric)};
    for (int side = 0; side < 2; side++) {
        int known = ids[side] != ASSAY_NONE ? side : !side;
        types[side] =
            ids[known] != ASSAY_NONE ? as_part_type(op, (size_t)known, metric) : as_value_type_of(AS_DTYPE_DOUBLE, 0);
    }
}

static size_t judge(as_operation *op, assay_id metric, bool all_metrics) {
    assay_id ids[2] = {as_part_metric(op, BASE, metric), as_part_metric(op, TARGET, metric)};
    as_value_type types[2], type;
    for (int side = 0; side < 2; side++) {
        if (ids[side] == ASSAY_NONE) continue;
        const as_metric *own = as_ds_metric(op->u.parts[side], ids[side]);
        if (own->kind == AS_KIND_DERIVED) return DERIVED;
        if (as_union_factor(&op->u, (size_t)side, ids[side]) == 0) return OTHER_UNIT;
        if (side == TARGET) AS_AT(as_metric, &op->ds->metrics, metric).kind = own->kind;
    }
    if (!all_metrics && ids[TARGET] == ASSAY_NONE) return ONLY_BASE;
    if (!all_metrics && ids[BASE] == ASSAY_NONE) return ONLY_TARGET;
    types_of(op, metric, types);
    return find_type(types[BASE], types[TARGET], &type) ? KEPT : NO_DIFFERENCE;
}

static bool choose_metrics(as_operation *op, bool all_metrics) {
    static const char *const reasons[] = {
        [ONLY_BASE] = "left out, as only the base has them (--all-metrics takes them as 0 in the target)",
        [ONLY_TARGET] = "left out, as only the target has them (--all-metrics takes them as 0 in the base)",
        [DERIVED] = "left out, as they are derived from others",
        [OTHER_UNIT] = "left out, as they have other units in the target than in the base",
        [NO_DIFFERENCE] = "left out, as values of their types have no difference"};
    return as_leave_out_metrics(op, reasons, NO_DIFFERENCE + 1, judge, all_metrics);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* One loop for each pair of 8-byte types: the difference is exact, or the nearest limit. */
#define SUBTRACT(target_type, base_type)                                                                               \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        target_type t = ((const target_type *)target)[i];                                                              \
        base_type b = ((const base_type *)base)[i];                                                                    \
        if (!__builtin_sub_overflow(t, b, &out[i])) continue;                                                          \
        out[i] = (__int128)t < (__int128)b ? INT64_MIN : INT64_MAX;                                                    \
        n_limited++;                                                                                                   \
    }

static uint64_t subtract_integers(const void *target, bool target_unsigned, const void *base, bool base_unsigned,
                                  int64_t *out, size_t n) {
    uint64_t n_limited = 0;
    if (target_unsigned && base_unsigned)
        SUBTRACT(uint64_t, uint64_t)
    else if (target_unsigned)
        SUBTRACT(uint64_t, int64_t)
    else if (base_unsigned)
        SUBTRACT(int64_t, uint64_t)
    else
        SUBTRACT(int64_t, int64_t)
    return n_limited;
}
#undef SUBTRACT

/* The mean of a row over the operands of one side: in place where it is one. */
static const double *side_row(const as_operand *operands, size_t n, const as_alignment *alignment, uint32_t i,
                              double *room, double *out) {
    const char *only = n == 1 ? as_operand_row(&operands[0], alignment, i, out) : NULL;
    if (only) return (const double *)(const void *)only;
    as_operands_average(operands, n, alignment, i, room, out);
    return out;
}

/* Minima and maxima have a difference only where both sides have a number. */
static bool has_column(const as_operand *operands, size_t n, uint32_t i, uint32_t column) {
    for (size_t k = 0; k < n; k++) {
        const as_operand *operand = &operands[k];
        if (operand->rows_at[i] != UINT32_MAX && (!operand->columns_at || operand->columns_at[column] != UINT32_MAX))
            return true;
    }
    return false;
}

static bool has_row(const as_operand *operands, size_t n, uint32_t i) {
    for (size_t k = 0; k < n; k++) {
        if (operands[k].rows_at[i] != UINT32_MAX) return true;
    }
    return false;
}

static void subtract_row(subtraction *s, sides *r, uint32_t i, void *out) {
    const as_operand *base = r->operands, *target = r->operands + r->n_base;
    size_t n = (size_t)r->alignment.n_columns * s->type.n_parts;
    if (s->type.dtype == AS_DTYPE_INT64) {
        const void *t = r->n_target ? as_operand_row(target, &r->alignment, i, r->target_room) : NULL,
                   *b = r->n_base ? as_operand_row(base, &r->alignment, i, r->base_room) : NULL;
        if (!t) memset(r->target_room, 0, n * 8);
        if (!b) memset(r->base_room, 0, n * 8);
        s->n_limited += subtract_integers(t ? t : r->target_room, t && target->view.type.dtype == AS_DTYPE_UINT64,
                                          b ? b : r->base_room, b && base->view.type.dtype == AS_DTYPE_UINT64, out, n);
        return;
    }
    const double *t = side_row(target, r->n_target, &r->alignment, i, r->room, r->target_room);
    const double *b = side_row(base, r->n_base, &r->alignment, i, r->room, r->base_room);
    double *difference = out;
    for (size_t c = 0; c < n; c++) difference[c] = t[c] - b[c];
    for (uint32_t c = 0; as_dtype_is_extreme(s->type.dtype) && c < n; c++) {
        if (!has_column(base, r->n_base, i, c) || !has_column(target, r->n_target, i, c)) difference[c] = 0;
    }
}

static bool is_zero(const uint64_t *words, size_t n) {
    uint64_t any = 0;
    for (size_t i = 0; i < n; i++) any |= words[i];
    return !any;
}

/* Every row into the result. */
static bool subtract_rows(subtraction *s, sides *r, assay_id run) {
    as_dataset *ds = s->op->ds;
    size_t n = (size_t)r->alignment.n_columns * s->type.n_parts, row_size = n * 8;
    as_vec *holder;
    size_t size;
    if (!as_mul_size(r->alignment.n_rows, row_size, &size)) return false;
    char *values = as_result_room(ds, size, &holder);
    r->room = malloc(2 * row_size + 8);
    r->base_room = malloc(row_size + 8);
    r->target_room = malloc(row_size + 8);
    if (!values || !r->room || !r->base_room || !r->target_room) return false;
    uint32_t n_rows = 0;
    bool extreme = as_dtype_is_extreme(s->type.dtype);
    bool drop_zeros = !extreme && !ds->n_points; /* a missing row is zeros, but a missing point was not measured */
    for (uint32_t i = 0; i < r->alignment.n_rows; i++) {
        if (extreme && (!has_row(r->operands, r->n_base, i) || !has_row(r->operands + r->n_base, r->n_target, i)))
            continue;
        char *row = values + (size_t)n_rows * row_size;
        subtract_row(s, r, i, row);
        if (drop_zeros && is_zero((const uint64_t *)(const void *)row, n)) continue;
        r->alignment.contexts[n_rows++] = r->alignment.contexts[i];
    }
    holder->count = (size_t)n_rows * row_size;
    as_vec_shrink(holder);
    as_profile profile = {.metric = s->metric,
                          .run = run,
                          .type = s->type,
                          .n_rows = n_rows,
                          .n_columns = r->alignment.n_columns,
                          .columns = r->alignment.columns,
                          .contexts = r->alignment.contexts,
                          .values = holder->data};
    return n_rows == 0 || as_add_profile(ds, &profile);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Some runs of each side. */
typedef struct run_pair {
    const as_part_run *base, *target;
    size_t n_base, n_target;
    assay_id run; /* of the result */
} run_pair;

static assay_status open_side(subtraction *s, size_t side, const as_part_run *runs, size_t n, as_operand *operands,
                              size_t *n_open) {
    as_operation *op = s->op;
    assay_id metric = as_part_metric(op, side, s->metric);
    as_metric_kind kind = as_ds_metric(op->ds, s->metric)->kind;
    for (size_t i = 0; metric != ASSAY_NONE && i < n; i++) {
        as_operand *operand = &operands[(*n_open)++];
        AS_TRY(as_operand_open(&op->u, &runs[i], metric, kind, s->type.dtype, operand, op->error));
    }
    return ASSAY_OK;
}

/* Numbers to reckon with, and the same places on both sides. */
static bool prepare(subtraction *s, sides *r) {
    size_t n = r->n_base + r->n_target;
    for (size_t k = 0; k < n; k++) {
        as_operand *operand = &r->operands[k];
        as_value_type wanted = s->type;
        if (s->type.dtype == AS_DTYPE_INT64 && as_dtype_is_unsigned(operand->view.type.dtype))
            wanted = as_value_type_of(AS_DTYPE_UINT64, 0);
        if (!as_operand_convert(operand, wanted)) return false;
    }
    return as_align(&s->op->bench, r->operands, n, &r->alignment);
}

static assay_status subtract_runs(subtraction *s, const run_pair *pair) {
    as_sparse_term terms[2] = {{pair->target, 1}, {pair->base, -1}};
    if (pair->n_base == 1 && pair->n_target == 1 && as_is_sparse_operation(s->op, s->metric, terms, 2))
        return as_combine_sparse(s->op, s->metric, pair->run, AS_SPARSE_SUM, terms, 2);
    sides r = {.operands = calloc(pair->n_base + pair->n_target + 1, sizeof *r.operands)};
    size_t n_open = 0;
    assay_status status = r.operands ? ASSAY_OK : as_fail_memory(s->op->error, NULL);
    if (status == ASSAY_OK) status = open_side(s, BASE, pair->base, pair->n_base, r.operands, &n_open);
    r.n_base = n_open;
    if (status == ASSAY_OK) status = open_side(s, TARGET, pair->target, pair->n_target, r.operands, &n_open);
    r.n_target = n_open - r.n_base;
    if (status == ASSAY_OK && !(prepare(s, &r) && subtract_rows(s, &r, pair->run)))
        status = as_fail_memory(s->op->error, NULL);
    for (size_t k = 0; k < n_open; k++) {
        s->n_limited += r.operands[k].n_limited;
        as_operand_close(&r.operands[k]);
    }
    free(r.room);
    free(r.base_room);
    free(r.target_room);
    free(r.operands);
    return status;
}

/* The runs of each side at the point from index i on; false where one side has none. */
static bool find_sides(const as_operation *op, size_t i, run_pair *out) {
    size_t n = as_runs_of_point(op, i), n_first = as_runs_of_part(op, i);
    *out = (run_pair){.base = as_part_run_at(op, i), .n_base = n_first, .n_target = n - n_first};
    out->target = out->base + n_first;
    return out->base->part == BASE && out->n_target > 0;
}

/* Whether the rows of one context lack some runs of a point that has others. n_runs, seen: one for each point of the
 * part; seen is 0 between calls. */
static bool lacks_runs(const as_dataset *part, const as_block *block, uint32_t context, const size_t *n_runs,
                       size_t *seen) {
    bool lacks = false;
    uint64_t first = block->starts[context], end = block->starts[context + 1];
    const assay_id *runs = as_block_runs(block, context);
    for (int pass = 0; pass < 3; pass++) { /* counts, looks at them, and clears them */
        for (uint64_t i = 0; i < end - first; i++) {
            assay_id point = as_ds_run(part, runs[i])->point;
            if (point == ASSAY_NONE) continue;
            if (pass == 0)
                seen[point] += i == 0 || runs[i] != runs[i - 1];
            else if (pass == 1)
                lacks |= seen[point] < n_runs[point];
            else
                seen[point] = 0;
        }
    }
    return lacks;
}

/* Whether call paths of an experiment have fewer repetitions of a point than others: which of the other side's they go
 * with is not said. False, too, when memory is out, *fine being false then. */
static bool is_ragged(const as_dataset *part, bool *fine) {
    size_t *n_runs = calloc(part->n_points + 1, sizeof *n_runs), *seen = calloc(part->n_points + 1, sizeof *seen);
    bool ragged = false;
    *fine = n_runs && seen;
    for (assay_id run = 0; *fine && run < part->runs.count; run++) {
        if (as_ds_run(part, run)->point != ASSAY_NONE) n_runs[as_ds_run(part, run)->point]++;
    }
    for (size_t i = 0; *fine && !ragged && i < AS_COUNT(part, blocks); i++) {
        const as_block *block = as_ds_block(part, i);
        uint32_t n = !block->runs ? 0 : block->period ? 1 : block->n_contexts;
        for (uint32_t context = 0; context < n && context < block->n_contexts && !ragged; context++)
            ragged = lacks_runs(part, block, context, n_runs, seen);
    }
    free(n_runs);
    free(seen);
    return ragged;
}

/* Whether every point has as many runs on one side as on the other, so that run goes with run. False when memory is
 * out. */
static bool runs_pair_up(const as_operation *op, bool *pair_up) {
    run_pair both;
    bool fine = true;
    *pair_up = true;
    for (size_t i = 0; i < op->runs.count; i += as_runs_of_point(op, i)) {
        if (find_sides(op, i, &both) && both.n_base != both.n_target) *pair_up = false;
    }
    for (int side = 0; fine && *pair_up && side < 2; side++) *pair_up = !is_ragged(op->u.parts[side], &fine);
    return fine;
}

/* Makes the runs of the result. */
static bool plan_runs(as_operation *op, bool run_by_run, as_vec *pairs) {
    run_pair both;
    for (size_t i = 0; i < op->runs.count; i += as_runs_of_point(op, i)) {
        if (!find_sides(op, i, &both)) continue;
        size_t n = run_by_run ? both.n_base : 1;
        for (size_t k = 0; k < n; k++) {
            run_pair pair = both;
            if (run_by_run) pair = (run_pair){both.base + k, both.target + k, 1, 1, 0};
            pair.run = as_add_result_run(op, both.base->point, (uint32_t)k);
            if (pair.run == ASSAY_NONE || !as_vec_append(pairs, &pair, 1)) return false;
        }
    }
    return true;
}

/* ---- the operation ----------------------------------------------------------------------------------------------- */

static assay_status subtract_metric(as_operation *op, assay_id metric, bool run_by_run, const as_vec *pairs) {
    subtraction s = {.op = op, .metric = metric};
    as_value_type types[2];
    types_of(op, metric, types);
    find_type(types[BASE], types[TARGET], &s.type);
    if (!run_by_run && s.type.dtype == AS_DTYPE_INT64) s.type = as_value_type_of(AS_DTYPE_DOUBLE, 0); /* of means */
    if (!as_set_metric_type(op, metric, s.type)) return as_fail_memory(op->error, NULL);
    for (size_t i = 0; i < pairs->count; i++) AS_TRY(subtract_runs(&s, &AS_AT(run_pair, pairs, i)));
    as_tell_limits(op->ds, metric, s.n_limited, as_dtype_name(s.type.dtype));
    return ASSAY_OK;
}

static assay_status subtract_all(as_operation *op, bool all_metrics) {
    as_vec pairs;
    as_vec_init(&pairs, sizeof(run_pair), NULL);
    assay_status status = as_keep_common_points(op) ? ASSAY_OK : as_fail_memory(op->error, NULL);
    bool run_by_run = true;
    if (status != ASSAY_OK || !runs_pair_up(op, &run_by_run) || !choose_metrics(op, all_metrics) ||
        !plan_runs(op, run_by_run, &pairs))
        status = as_fail_memory(op->error, NULL);
    if (status == ASSAY_OK) status = as_operation_settle(op);
    for (assay_id m = 0; status == ASSAY_OK && m < op->ds->metrics.count; m++)
        status = subtract_metric(op, m, run_by_run, &pairs);
    as_vec_free(&pairs);
    return status;
}

assay_status as_diff(const as_dataset *base, const as_dataset *target, as_matching matching, bool all_metrics,
                     as_dataset **out, assay_error *error) {
    const as_dataset *parts[] = {base, target};
    as_operation op;
    assay_status status = as_operation_begin(&op, parts, 2, matching, error);
    if (status == ASSAY_OK) status = subtract_all(&op, all_metrics);
    if (status == ASSAY_OK) status = as_operation_finish(&op, "diff", out);
    as_operation_end(&op);
    return status;
}
