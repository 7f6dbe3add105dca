#include "analysis/rows.h"

#include <stdlib.h>

/* Going through the contexts from the last to the first, a context's children have all been seen when its turn comes, and nothing else of their depth since
 * the context before it: one row of sums for each depth is enough. */
struct as_rows {
    const as_dataset *ds;
    const as_profile *view;
    assay_id first; /* of the contexts asked for */
    uint32_t part, n;
    as_metric_kind kind;
    as_part_rule rule;
    bool is_integer, is_unsigned;
    size_t width;  /* bytes of a number: as_whole or double */
    as_vec levels; /* struct level, one for each depth */
    char *own, *result;
    void *wide;       /* numbers of 8 bytes */
    uint32_t left;    /* rows of the view that are still to come */
    assay_id context; /* the next one is that before */
    as_context_row row;
    bool failed;
};
typedef struct as_rows walk;

/* What the contexts of one depth below the same parent have so far. */
struct level {
    char *sums;
    bool has_data;
};

static struct level *level_at(walk *w, size_t depth) {
    while (w->levels.count <= depth) {
        struct level level = {.sums = calloc(w->n ? w->n : 1, w->width)};
        if (!level.sums) return NULL;
        if (!as_vec_append(&w->levels, &level, 1)) {
            free(level.sums);
            return NULL;
        }
    }
    return &AS_AT(struct level, &w->levels, depth);
}

/* The row of the view, as numbers to reckon with. */
static void load_own(walk *w, uint32_t index) {
    const char *row = as_profile_row(w->view, index);
    if (!w->is_integer) {
        as_values_widen(w->view->type, row, w->n, w->part, w->own);
        return;
    }
    as_whole *own = (as_whole *)(void *)w->own;
    as_values_widen(w->view->type, row, w->n, w->part, w->wide);
    if (w->view->type.dtype == AS_DTYPE_UINT64) {
        const uint64_t *wide = w->wide;
        for (uint32_t i = 0; i < w->n; i++)
            own[i] = w->view->below_zero && wide[i] > AS_COUNTER_LIMIT ? 0 : (as_whole)wide[i];
    } else {
        const int64_t *wide = w->wide;
        for (uint32_t i = 0; i < w->n; i++) own[i] = wide[i];
    }
}

/* to = to (+) from, where to had something before; else from. */
static void combine(const walk *w, char *to, const char *from, bool had) {
    if (!had) {
        memcpy(to, from, w->n * w->width);
        return;
    }
    if (w->is_integer) {
        as_whole *a = (as_whole *)(void *)to;
        const as_whole *b = (const as_whole *)(const void *)from;
        for (uint32_t i = 0; i < w->n; i++) a[i] += b[i];
        return;
    }
    double *a = (double *)(void *)to;
    const double *b = (const double *)(const void *)from;
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->rule == AS_PART_ADD)
            a[i] += b[i];
        else if (w->rule == AS_PART_MINIMUM ? b[i] < a[i] : b[i] > a[i])
            a[i] = b[i];
    }
}

/* What is left of the context's own row without its children. A minimum or maximum has no difference: the children's count as well. */
static void take_off(const walk *w, const char *children) {
    if (w->is_integer) {
        as_whole *a = (as_whole *)(void *)w->result;
        const as_whole *b = (const as_whole *)(const void *)children;
        for (uint32_t i = 0; i < w->n; i++) a[i] = w->is_unsigned && b[i] > a[i] ? 0 : a[i] - b[i];
    } else if (w->rule == AS_PART_ADD) {
        double *a = (double *)(void *)w->result;
        const double *b = (const double *)(const void *)children;
        for (uint32_t i = 0; i < w->n; i++) a[i] -= b[i];
    } else {
        combine(w, w->result, children, true);
    }
}

static void hand_over(walk *w, assay_id context, bool has_own, const char *inclusive, const char *exclusive) {
    as_context_row row = {.context = context, .n = w->n, .has_own = has_own};
    if (w->is_integer) {
        row.inclusive = (const as_whole *)(const void *)inclusive;
        row.exclusive = (const as_whole *)(const void *)exclusive;
    } else {
        row.inclusive_real = (const double *)(const void *)inclusive;
        row.exclusive_real = (const double *)(const void *)exclusive;
    }
    w->row = row;
}

/* index: of the context's row, or UINT32_MAX. False where the context has no row, or memory is out. */
static bool visit_context(walk *w, assay_id context, uint32_t index) {
    size_t depth = as_ds_context(w->ds, context)->depth;
    bool has_own = index != UINT32_MAX;
    w->failed = !level_at(w, depth + 1);
    if (w->failed) return false;
    struct level *mine = level_at(w, depth), *below = level_at(w, depth + 1);
    bool has_children = below->has_data;
    below->has_data = false;
    if (!has_own && !has_children) return false;
    if (has_own)
        load_own(w, index);
    else
        memset(w->own, 0, w->n * w->width); /* as if the file had a row of zeros */
    if (w->kind == AS_KIND_INCLUSIVE) {
        memcpy(w->result, w->own, w->n * w->width);
        if (has_children) take_off(w, below->sums);
        if (has_own) combine(w, mine->sums, w->own, mine->has_data);
        mine->has_data |= has_own;
        hand_over(w, context, has_own, w->own, w->result);
        return true;
    }
    memcpy(w->result, has_own ? w->own : below->sums, w->n * w->width);
    if (has_own && has_children) combine(w, w->result, below->sums, true);
    combine(w, mine->sums, w->result, mine->has_data);
    mine->has_data = true;
    hand_over(w, context, has_own, w->result, w->own);
    return true;
}

as_rows *as_rows_open(const as_dataset *ds, const as_slice *slice, uint32_t part) {
    const as_profile *view = &slice->view;
    walk *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (walk){.ds = ds,
                .view = view,
                .first = slice->first,
                .part = part,
                .n = view->n_columns,
                .kind = as_ds_metric(ds, view->metric)->kind,
                .rule = as_part_rule_of(view->type.dtype, part),
                .is_integer = as_dtype_is_integer(view->type.dtype),
                .is_unsigned = as_dtype_is_unsigned(view->type.dtype),
                .left = view->n_rows,
                .context = view->n_rows ? view->contexts[view->n_rows - 1] + 1 : slice->first};
    size_t room = w->n ? w->n : 1;
    w->width = w->is_integer ? sizeof(as_whole) : sizeof(double);
    w->own = calloc(room, w->width);
    w->result = calloc(room, w->width);
    w->wide = calloc(room, 8);
    as_vec_init(&w->levels, sizeof(struct level), NULL);
    if (w->own && w->result && w->wide) return w;
    as_rows_close(w);
    return NULL;
}

void as_rows_close(as_rows *w) {
    if (!w) return;
    for (size_t i = 0; i < w->levels.count; i++) free(AS_AT(struct level, &w->levels, i).sums);
    as_vec_free(&w->levels);
    free(w->own);
    free(w->result);
    free(w->wide);
    free(w);
}

const as_context_row *as_rows_next(as_rows *w) {
    if (w->kind != AS_KIND_INCLUSIVE && w->kind != AS_KIND_EXCLUSIVE) {
        if (!w->left) return NULL;
        load_own(w, --w->left);
        hand_over(w, w->view->contexts[w->left], true, w->own, NULL);
        return &w->row;
    }
    while (!w->failed && w->context > w->first) {
        w->context--;
        bool has_own = w->left > 0 && w->view->contexts[w->left - 1] == w->context;
        w->left -= has_own;
        if (visit_context(w, w->context, has_own ? w->left : UINT32_MAX)) return &w->row;
    }
    return NULL;
}

bool as_rows_failed(const as_rows *w) { return w->failed; }

bool as_rows_each(const as_dataset *ds, const as_slice *slice, uint32_t part,
                  bool (*visit)(void *user, const as_context_row *row), void *user) {
    as_rows *rows = as_rows_open(ds, slice, part);
    if (!rows) return false;
    const as_context_row *row;
    bool fine = true;
    while (fine && (row = as_rows_next(rows))) fine = visit(user, row);
    fine &= !rows->failed;
    as_rows_close(rows);
    return fine;
}
