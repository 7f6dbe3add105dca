#include "analysis/algebra/fold.h"

#include <stdlib.h>

#include "dataset/sparse_table.h"

/* ---- what goes where --------------------------------------------------------------------------------------------- */

static bool is_loop(const as_dataset *part, const as_context *context) {
    const char *kind =
        context->region == ASSAY_NONE ? NULL : as_ds_text(part, as_ds_region(part, context->region)->kind);
    return kind && strcmp(kind, "loop") == 0;
}

bool as_add_folds(const as_dataset *part, const assay_id *into, assay_id context, as_vec *folds) {
    bool has_loop = false;
    for (assay_id id = as_ds_context(part, context)->parent; id != ASSAY_NONE && into[id] != ASSAY_NONE;) {
        const as_context *above = as_ds_context(part, id);
        bool loops = is_loop(part, above);
        as_fold fold = {.to = into[id], .from = context, .is_nested = loops && has_loop};
        if (!as_vec_append(folds, &fold, 1)) return false;
        if (above->role == AS_ROLE_CALL) break;
        has_loop |= loops;
        id = above->parent;
    }
    return true;
}

static int compare_folds(const void *a, const void *b) {
    const as_fold *x = a, *y = b;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* ---- rows of the part -------------------------------------------------------------------------------------------- */

/* One metric of the part, with the number of each of its columns in the result. */
typedef struct rows {
    as_profile view;
    const as_profile *sparse; /* NULL: slice has all */
    as_slice slice;
    as_sparse_line line;
    uint32_t *columns;
} rows;

static assay_status open_rows(const as_operation *op, assay_id metric, assay_id run, rows *out) {
    const as_dataset *part = op->u.parts[0];
    const as_profile *profile = as_ds_profile(part, metric, run);
    if (profile && as_profile_is_sparse(profile)) {
        out->sparse = profile;
        out->view = *profile;
        return ASSAY_OK;
    }
    AS_TRY(as_slice_open_all(part, metric, run, &out->slice, op->error));
    out->view = out->slice.view;
    return ASSAY_OK;
}

static void close_rows(rows *r) {
    as_sparse_line_free(&r->line);
    if (!r->sparse) as_slice_close(&r->slice);
    free(r->columns);
}

/* Adds the row of a context to `sum`. */
static assay_status add_row(rows *r, assay_id context, double *sum, assay_error *error) {
    if (r->sparse) {
        AS_TRY(r->sparse->source->read_row(r->sparse->source, r->sparse, context, &r->line, error));
        for (uint32_t i = 0; i < r->line.n; i++) sum[r->columns[r->line.at[i]]] += r->line.values[i];
        return ASSAY_OK;
    }
    uint32_t at = as_profile_find(&r->view, context);
    if (at == UINT32_MAX) return ASSAY_OK;
    const char *row = as_profile_row(&r->view, at);
    for (uint32_t i = 0; i < r->view.n_columns; i++)
        sum[r->columns[i]] += as_part_real(r->view.type, row + (size_t)i * r->view.type.size, 0);
    return ASSAY_OK;
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

typedef struct folding {
    as_operation *op;
    rows own, inclusive;
    bool is_lexical;
    as_alignment alignment;
    double *sum, *values;
    uint32_t *at;
    as_sparse_table *table;
} folding;

static bool place_columns(const as_alignment *alignment, const as_operand *operand, rows *r) {
    r->columns = calloc((size_t)r->view.n_columns + 1, sizeof *r->columns);
    for (uint32_t i = 0; r->columns && i < alignment->n_columns; i++) {
        uint32_t own = operand->columns_at ? operand->columns_at[i] : i;
        if (own < r->view.n_columns) r->columns[own] = i;
    }
    return r->columns != NULL;
}

static bool prepare(folding *f) {
    as_operand operands[2] = {{.view = f->own.view}, {.view = f->inclusive.view}};
    bool fine = as_align_columns(&f->op->bench, operands, 2, &f->alignment) &&
                place_columns(&f->alignment, &operands[0], &f->own) &&
                place_columns(&f->alignment, &operands[1], &f->inclusive);
    free(operands[0].columns_at);
    free(operands[1].columns_at);
    size_t room = (size_t)f->alignment.n_columns + 1;
    f->sum = calloc(room, sizeof *f->sum);
    f->values = malloc(room * sizeof *f->values);
    f->at = malloc(room * sizeof *f->at);
    f->table = as_sparse_table_new(f->op->ds);
    return fine && f->sum && f->values && f->at && f->table;
}

/* Hands over the sum, and clears it. */
static bool keep_sum(folding *f, assay_id context) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->alignment.n_columns; i++) {
        if (f->sum[i] == 0) continue;
        f->at[n] = i;
        f->values[n++] = f->sum[i];
        f->sum[i] = 0;
    }
    return as_sparse_table_add(f->table, context, f->at, f->values, n);
}

/* The part's contexts come in the order of the result's. */
static assay_status fold_all(folding *f, const as_vec *folds) {
    const assay_id *map = f->op->u.maps[0].contexts;
    size_t next = 0;
    for (assay_id id = 0; id < f->op->u.parts[0]->contexts.count; id++) {
        if (map[id] == ASSAY_NONE) continue;
        AS_TRY(add_row(&f->own, id, f->sum, f->op->error));
        for (; next < folds->count && AS_AT(as_fold, folds, next).to == map[id]; next++) {
            const as_fold *fold = &AS_AT(as_fold, folds, next);
            if (!f->is_lexical || !fold->is_nested) AS_TRY(add_row(&f->inclusive, fold->from, f->sum, f->op->error));
        }
        if (!keep_sum(f, map[id])) return as_fail_memory(f->op->error, NULL);
    }
    return ASSAY_OK;
}

bool as_has_folds(const as_operation *op, assay_id metric) {
    const as_metric *about = as_ds_metric(op->ds, metric);
    bool is_exclusive = about->kind == AS_KIND_EXCLUSIVE || about->kind == AS_KIND_LEXICAL;
    return about->is_stored && is_exclusive && about->part_of != ASSAY_NONE &&
           as_ds_metric(op->ds, about->part_of)->kind == AS_KIND_INCLUSIVE &&
           as_ds_metric_type(op->u.parts[0], as_part_metric(op, 0, metric)).dtype == AS_DTYPE_DOUBLE;
}

assay_status as_fold_values(as_operation *op, assay_id metric, assay_id run, as_vec *folds) {
    folding f = {.op = op, .is_lexical = as_ds_metric(op->ds, metric)->kind == AS_KIND_LEXICAL};
    assay_id own_run = as_part_run_at(op, run)->run;
    assay_id inclusive = as_part_metric(op, 0, as_ds_metric(op->ds, metric)->part_of);
    if (folds->count) qsort(folds->data, folds->count, sizeof(as_fold), compare_folds);
    assay_status status = open_rows(op, as_part_metric(op, 0, metric), own_run, &f.own);
    if (status == ASSAY_OK) status = open_rows(op, inclusive, own_run, &f.inclusive);
    if (status == ASSAY_OK && !prepare(&f)) status = as_fail_memory(op->error, NULL);
    if (status == ASSAY_OK) status = fold_all(&f, folds);
    if (status == ASSAY_OK && !as_sparse_table_finish(f.table, metric, run, f.alignment.columns, f.alignment.n_columns))
        status = as_fail_memory(op->error, NULL);
    close_rows(&f.own);
    close_rows(&f.inclusive);
    free(f.sum);
    free(f.values);
    free(f.at);
    return status;
}
