#include "analysis/stored_rows.h"

#include <stdlib.h>

#include "dataset/sparse.h"

/* The values of one metric. */
typedef struct side {
    const as_profile *sparse; /* read context by context; NULL: slice has all */
    as_slice slice;
    as_profile view;
    uint32_t left; /* rows of the slice that are still to come */
    as_sparse_line line;
    uint32_t *to; /* for each column its number in the row; NULL: the same */
    double *row;
    bool is_clear; /* the row is all zeros */
} side;

struct as_stored_rows {
    const as_dataset *ds;
    assay_id first, context; /* the next one is that before */
    side sides[2];           /* inclusive, exclusive */
    int n_sides;
    as_profile view;
    assay_id *columns; /* of both sides; NULL: those of the first */
    uint64_t taken;    /* of the budget */
    as_context_row row;
};

bool as_has_stored_rows(const as_dataset *ds, assay_id metric) {
    const as_metric *about = as_ds_metric(ds, metric);
    as_dtype dtype = as_ds_metric_type(ds, metric).dtype;
    return about->is_stored && about->kind != AS_KIND_DERIVED && !as_dtype_is_composite(dtype) &&
           !as_dtype_is_extreme(dtype);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static assay_status open_side(as_stored_rows *r, assay_id run, assay_id metric, assay_id first, uint32_t n, side *s,
                              assay_error *error) {
    const as_profile *profile = as_ds_profile(r->ds, metric, run);
    if (profile && as_profile_is_sparse(profile)) {
        s->sparse = profile;
        s->view = *profile;
        return ASSAY_OK;
    }
    AS_TRY(as_slice_open(r->ds, metric, run, first, n, &s->slice, error));
    s->view = s->slice.view;
    s->left = s->view.n_rows;
    return ASSAY_OK;
}

static bool has_values(const side *s) { return s->sparse || s->view.n_rows; }

/* The columns of both sides in ascending order; where one has none that are places, its value goes to the first. */
static bool unite_columns(as_stored_rows *r) {
    const as_profile *a = &r->sides[0].view, *b = &r->sides[1].view;
    r->view = *a;
    if (r->n_sides < 2 || !has_values(&r->sides[1]) || (a->n_columns == b->n_columns && a->columns == b->columns))
        return true;
    if (!has_values(&r->sides[0]) || !a->columns) {
        r->view.columns = b->columns;
        r->view.n_columns = b->n_columns;
        return true;
    }
    if (!b->columns) return true;
    uint32_t n = 0, i = 0, k = 0;
    r->columns = malloc(((size_t)a->n_columns + b->n_columns + 1) * sizeof *r->columns);
    if (!r->columns) return false;
    while (i < a->n_columns || k < b->n_columns) {
        assay_id x = i < a->n_columns ? a->columns[i] : ASSAY_NONE, y = k < b->n_columns ? b->columns[k] : ASSAY_NONE;
        r->columns[n++] = x < y ? x : y;
        i += x <= y;
        k += y <= x;
    }
    r->view.columns = r->columns;
    r->view.n_columns = n;
    return true;
}

static bool map_columns(const as_stored_rows *r, side *s) {
    uint32_t at = 0;
    bool is_same = s->view.n_columns == r->view.n_columns;
    s->to = malloc(((size_t)s->view.n_columns + 1) * sizeof *s->to);
    if (!s->to) return false;
    for (uint32_t i = 0; i < s->view.n_columns; i++) {
        while (s->view.columns && r->view.columns && at + 1 < r->view.n_columns &&
               r->view.columns[at] < s->view.columns[i])
            at++;
        s->to[i] = at;
        is_same = is_same && at == i;
    }
    if (!is_same) return true;
    free(s->to);
    s->to = NULL;
    return true;
}

static assay_status open_sides(as_stored_rows *r, assay_id run, assay_id metric, assay_id first, uint32_t n,
                               assay_error *error) {
    assay_id metrics[2] = {metric, as_ds_metric(r->ds, metric)->exclusive};
    r->n_sides = metrics[1] == ASSAY_NONE ? 1 : 2;
    for (int i = 0; i < r->n_sides; i++) AS_TRY(open_side(r, run, metrics[i], first, n, &r->sides[i], error));
    if (!unite_columns(r)) return as_fail_memory(error, NULL);
    uint64_t bytes = (uint64_t)r->n_sides * r->view.n_columns * sizeof(double);
    if (!as_budget_take(as_ds_budget(r->ds), bytes)) return as_fail_memory(error, NULL);
    r->taken = bytes;
    for (int i = 0; i < r->n_sides; i++) {
        side *s = &r->sides[i];
        s->row = calloc((size_t)r->view.n_columns + 1, sizeof *s->row);
        s->is_clear = true;
        if (!s->row || !map_columns(r, s)) return as_fail_memory(error, NULL);
    }
    return ASSAY_OK;
}

bool as_stored_rows_is_sparse(const as_dataset *ds, assay_id run, assay_id metric) {
    for (assay_id m = metric; m != ASSAY_NONE; m = m == metric ? as_ds_metric(ds, m)->exclusive : ASSAY_NONE) {
        const as_profile *profile = as_ds_profile(ds, m, run);
        if (!as_has_stored_rows(ds, m) || !profile || !as_profile_is_sparse(profile)) return false;
    }
    return true;
}

void as_stored_rows_seek(as_stored_rows *r, assay_id first, uint32_t n) {
    size_t n_contexts = AS_COUNT(r->ds, contexts);
    if (first > n_contexts) first = (assay_id)n_contexts;
    r->first = first;
    r->context = n < n_contexts - first ? first + n : (assay_id)n_contexts;
}

assay_status as_stored_rows_open(const as_dataset *ds, assay_id run, assay_id metric, assay_id first, uint32_t n,
                                 as_stored_rows **out, assay_error *error) {
    as_stored_rows *r = *out = calloc(1, sizeof *r);
    if (!r) return as_fail_memory(error, NULL);
    r->ds = ds;
    as_stored_rows_seek(r, first, n);
    return open_sides(r, run, metric, first, n, error);
}

void as_stored_rows_close(as_stored_rows *r) {
    if (!r) return;
    for (int i = 0; i < r->n_sides; i++) {
        side *s = &r->sides[i];
        if (!s->sparse) as_slice_close(&s->slice);
        as_sparse_line_free(&s->line);
        free(s->to);
        free(s->row);
    }
    as_budget_give(as_ds_budget(r->ds), r->taken);
    free(r->columns);
    free(r);
}

const as_profile *as_stored_rows_view(const as_stored_rows *rows) { return &rows->view; }

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void clear_row(const as_stored_rows *r, side *s) {
    if (!s->is_clear) memset(s->row, 0, r->view.n_columns * sizeof *s->row);
    s->is_clear = true;
}

/* The context's row; *has: it has one. */
static assay_status take_row(const as_stored_rows *r, side *s, assay_id context, bool *has, assay_error *error) {
    *has = false;
    if (s->sparse) {
        AS_TRY(s->sparse->source->read_row(s->sparse->source, s->sparse, context, &s->line, error));
        clear_row(r, s);
        for (uint32_t i = 0; i < s->line.n; i++)
            s->row[s->to ? s->to[s->line.at[i]] : s->line.at[i]] = s->line.values[i];
        *has = s->line.n > 0;
        s->is_clear = !*has;
        return ASSAY_OK;
    }
    clear_row(r, s);
    if (!s->left || s->view.contexts[s->left - 1] != context) return ASSAY_OK;
    const char *row = as_profile_row(&s->view, --s->left);
    for (uint32_t i = 0; i < s->view.n_columns; i++)
        s->row[s->to ? s->to[i] : i] += as_part_real(s->view.type, row + (size_t)i * s->view.type.size, 0);
    *has = true;
    s->is_clear = false;
    return ASSAY_OK;
}

assay_status as_stored_rows_next(as_stored_rows *r, const as_context_row **row, assay_error *error) {
    *row = NULL;
    while (r->context > r->first) {
        bool has[2] = {false, false};
        r->context--;
        for (int i = 0; i < r->n_sides; i++) AS_TRY(take_row(r, &r->sides[i], r->context, &has[i], error));
        if (!has[0] && !has[1]) continue;
        r->row = (as_context_row){.context = r->context,
                                  .n = r->view.n_columns,
                                  .has_own = has[0],
                                  .inclusive_real = r->sides[0].row,
                                  .exclusive_real = r->n_sides > 1 ? r->sides[1].row : NULL};
        *row = &r->row;
        return ASSAY_OK;
    }
    return ASSAY_OK;
}
