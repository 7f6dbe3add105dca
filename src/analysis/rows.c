#include "analysis/rows.h"

#include <stdlib.h>

#include "analysis/levels.h"
#include "dataset/pieces.h"

struct as_rows {
    const as_dataset *ds;
    const as_profile *view;
    assay_id first; /* of the contexts asked for */
    uint32_t part, n;
    as_metric_kind kind;
    as_part_rule rule;
    bool is_integer, is_unsigned;
    size_t width;            /* bytes of a number: as_whole or double */
    as_levels levels;        /* what the contexts of one depth below the same parent have so far */
    as_levels pieces, loops; /* exclusive values: what those of them have that are pieces of their parent, and loops */
    as_str loop_kind;
    char *own, *result;
    void *wide;       /* numbers of 8 bytes */
    uint32_t left;    /* rows of the view that are still to come */
    assay_id context; /* the next one is that before */
    as_context_row row;
    bool failed;
};
typedef struct as_rows walk;

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

/* to = to (+) from */
static void combine(const walk *w, char *to, const char *from) {
    if (w->is_integer) {
        as_whole *a = (as_whole *)(void *)to;
        const as_whole *b = (const as_whole *)(const void *)from;
        for (uint32_t i = 0; i < w->n; i++) a[i] += b[i];
        return;
    }
    double *a = (double *)(void *)to;
    const double *b = (const double *)(const void *)from;
    for (uint32_t i = 0; i < w->n; i++) a[i] = as_part_combine(w->rule, a[i], b[i]);
}

/* What is left of the context's own row without its children. A minimum or maximum has no difference: the children's
 * count as well. */
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
        combine(w, w->result, children);
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

/* Adds a row to those of its depth. */
static void keep(walk *w, as_levels *levels, size_t depth, const char *row) {
    char *mine = as_levels_at(levels, depth);
    if (mine)
        combine(w, mine, row);
    else if ((mine = as_levels_add(levels, depth)) != NULL)
        memcpy(mine, row, w->n * w->width);
    else
        w->failed = true;
}

/* Adds what the pieces of the context have to what it has itself: see dataset/pieces.h. Loops in a loop go past it, to
 * the call. */
static void add_pieces(walk *w, assay_id context, size_t depth) {
    const char *pieces = as_levels_at(&w->pieces, depth + 1), *loops = as_levels_at(&w->loops, depth + 1);
    bool is_loop = as_is_loop(w->ds, w->loop_kind, context);
    if (pieces) combine(w, w->own, pieces);
    if (loops && !is_loop) combine(w, w->own, loops);
    if (as_is_piece(w->ds, context)) {
        as_levels *levels = is_loop ? &w->loops : &w->pieces;
        keep(w, levels, depth, w->own);
        if (loops && is_loop && !w->failed) keep(w, levels, depth, loops);
    }
    as_levels_remove(&w->pieces, depth + 1);
    as_levels_remove(&w->loops, depth + 1);
}

/* index: of the context's row, or UINT32_MAX. False where the context has no row, or memory is out. */
static bool visit_context(walk *w, assay_id context, uint32_t index) {
    size_t depth = as_ds_context(w->ds, context)->depth;
    bool is_aside = as_ds_context(w->ds, context)->is_aside; /* its parent gets nothing of it */
    bool has_own = index != UINT32_MAX;
    const char *children = as_levels_at(&w->levels, depth + 1);
    if (!has_own && !children) return false;
    if (has_own)
        load_own(w, index);
    else
        memset(w->own, 0, w->n * w->width); /* as if the file had a row of zeros */
    if (w->kind == AS_KIND_INCLUSIVE) {
        memcpy(w->result, w->own, w->n * w->width);
        if (children) take_off(w, children);
        as_levels_remove(&w->levels, depth + 1);
        if (has_own && !is_aside) keep(w, &w->levels, depth, w->own);
        hand_over(w, context, has_own, w->own, w->result);
    } else {
        memcpy(w->result, has_own ? w->own : children, w->n * w->width);
        if (has_own && children) combine(w, w->result, children);
        as_levels_remove(&w->levels, depth + 1);
        if (!is_aside) keep(w, &w->levels, depth, w->result);
        if (w->rule == AS_PART_ADD) add_pieces(w, context, depth);
        hand_over(w, context, has_own, w->result, w->own);
    }
    return !w->failed;
}

/* Bytes of a row's own numbers, the wide ones and the result. */
static uint64_t room_of(const walk *w) { return (uint64_t)w->n * (2 * w->width + sizeof(uint64_t)); }

as_rows *as_rows_open(const as_dataset *ds, const as_slice *slice, uint32_t part) {
    const as_profile *view = &slice->view;
    walk *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (walk){.ds = ds,
                .view = view,
                .first = slice->first,
                .part = part,
                .n = view->n_columns,
                .kind = as_ds_metric(ds, view->metric)->is_stored ? AS_KIND_NONE : as_ds_metric(ds, view->metric)->kind,
                .rule = as_part_rule_of(view->type.dtype, part),
                .is_integer = as_dtype_is_integer(view->type.dtype),
                .is_unsigned = as_dtype_is_unsigned(view->type.dtype),
                .left = view->n_rows,
                .context = view->n_rows ? view->contexts[view->n_rows - 1] + 1 : slice->first};
    size_t room = w->n ? w->n : 1;
    w->width = w->is_integer ? sizeof(as_whole) : sizeof(double);
    as_levels_init(&w->levels, room * w->width, as_ds_budget(ds));
    as_levels_init(&w->pieces, room * w->width, as_ds_budget(ds));
    as_levels_init(&w->loops, room * w->width, as_ds_budget(ds));
    w->loop_kind = as_loop_kind(ds);
    if (!as_budget_take(as_ds_budget(ds), room_of(w))) return free(w), NULL;
    w->own = calloc(room, w->width);
    w->result = calloc(room, w->width);
    w->wide = calloc(room, 8);
    if (w->own && w->result && w->wide) return w;
    as_rows_close(w);
    return NULL;
}

void as_rows_close(as_rows *w) {
    if (!w) return;
    as_levels_free(&w->levels);
    as_levels_free(&w->pieces);
    as_levels_free(&w->loops);
    as_budget_give(as_ds_budget(w->ds), room_of(w));
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
