#include <stdlib.h>

#include "analysis/derived_private.h"
#include "analysis/levels.h"
#include "analysis/stored_rows.h"

/* What a member has while the contexts are gone through, the last one first. */
struct member_rows {
    double *values[2];    /* the row of the context */
    const double *now[2]; /* it, or that of the source where no copy is needed */
    /* Of stored values */
    as_slice slice;
    bool is_open;
    bool has_begun;              /* with the stored rows */
    as_stored_rows *stored;      /* of stored metrics, instead of slice and parts; slice.view has the columns */
    as_rows **parts;             /* one for each part of a composite value, else one */
    const as_context_row **rows; /* of each part: the one that comes next */
    uint32_t n_parts;
    uint32_t *columns; /* of each of the source: its number here, UINT32_MAX: not wanted. NULL: the same */
    double *part_values;
    /* Of derived ones */
    as_levels levels; /* double: the sum of the children of one context; where the other flavour is needed */
};

const double *as_derived_row(const member *m, int flavour) { return m->rows->now[flavour]; }

static bool has_rows(const member *m) { return m->needs_rows[INCLUSIVE] || m->needs_rows[EXCLUSIVE]; }

/* Whether a member's sums come from this walk. */
static bool is_summed(const member *m) {
    return m->derived && m->derived->kind != AS_DERIVED_POST && m->needs_sums && !m->has_sums && m->is_ready &&
           !m->is_void;
}

static int own_flavour(const member *m) { return m->derived->kind == AS_DERIVED_PRE_EXCLUSIVE ? EXCLUSIVE : INCLUSIVE; }

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static void close_member(member *m) {
    struct member_rows *r = m->rows;
    if (!r) return;
    for (uint32_t i = 0; r->parts && i < r->n_parts; i++) as_rows_close(r->parts[i]);
    as_stored_rows_close(r->stored);
    if (r->is_open && !r->stored) as_slice_close(&r->slice);
    as_levels_free(&r->levels);
    free(r->values[INCLUSIVE]);
    free(r->values[EXCLUSIVE]);
    free(r->parts);
    free(r->rows);
    free(r->columns);
    free(r->part_values);
    free(r);
    m->rows = NULL;
}

/* The columns of all: every leaf and whatever else has values, as far as wanted; last, where some values are at no
 * place, that. */
static bool choose_columns(plan *p, assay_id **out) {
    size_t n = AS_COUNT(p->ds, locations);
    bool *has = calloc(n + 1, sizeof *has), has_placeless = n == 0;
    *out = calloc(n + 1, sizeof **out);
    if (!has || !*out) return free(has), false;
    for (size_t i = 0; i < n; i++) has[i] = as_ds_location(p->ds, (assay_id)i)->leaf;
    for (size_t i = 0; i < p->members.count; i++) {
        const member *m = member_at(p, i);
        if (!m->rows || !m->rows->is_open || !m->rows->slice.view.columns) continue;
        const as_profile *view = &m->rows->slice.view;
        for (uint32_t k = 0; k < view->n_columns; k++) {
            bool is_place = view->columns[k] != ASSAY_NONE; /* then an id of the dataset */
            if (is_place) has[view->columns[k]] = true;
            has_placeless |= !is_place && !p->locations;
        }
    }
    p->n_columns = 0;
    for (size_t i = 0; i < n; i++) {
        if (has[i] && (!p->locations || p->locations[i])) (*out)[p->n_columns++] = (assay_id)i;
    }
    if (has_placeless) (*out)[p->n_columns++] = ASSAY_NONE;
    p->columns = *out;
    free(has);
    return true;
}

/* Which column here each of the source's is. Where the source knows no places at all, it is the first. */
static bool map_columns(const plan *p, struct member_rows *r) {
    const as_profile *view = &r->slice.view;
    uint32_t at = 0;
    bool is_same = view->n_columns == p->n_columns;
    r->columns = calloc((size_t)view->n_columns + 1, sizeof *r->columns);
    if (!r->columns) return false;
    for (uint32_t i = 0; i < view->n_columns; i++) {
        assay_id location = as_profile_location(view, i);
        while (view->columns && at < p->n_columns && p->columns[at] < location) at++;
        bool is_here = at < p->n_columns && (!view->columns || p->columns[at] == location);
        r->columns[i] = is_here ? at : UINT32_MAX;
        is_same &= r->columns[i] == i;
    }
    if (!is_same) return true;
    free(r->columns);
    r->columns = NULL;
    return true;
}

static assay_status open_stored(const plan *p, member *m, assay_error *error) {
    struct member_rows *r = m->rows;
    AS_TRY(as_stored_rows_open(p->ds, p->run, m->metric, p->first, p->n, &r->stored, error));
    r->slice.view = *as_stored_rows_view(r->stored);
    r->is_open = true;
    return ASSAY_OK;
}

static assay_status open_slice(const plan *p, member *m, assay_error *error) {
    m->rows = calloc(1, sizeof *m->rows);
    if (!m->rows) return as_fail_memory(error, NULL);
    if (m->derived || m->is_void) return ASSAY_OK;
    if (as_has_stored_rows(p->ds, m->metric)) return open_stored(p, m, error);
    assay_status status = as_slice_open(p->ds, m->metric, p->run, p->first, p->n, &m->rows->slice, error);
    m->rows->is_open = true; /* to be closed in every case */
    return status;
}

static bool open_parts(const plan *p, struct member_rows *r) {
    const as_profile *view = &r->slice.view;
    if (r->stored) {
        r->n_parts = 1;
        r->rows = calloc(1, sizeof *r->rows);
        r->part_values = calloc(1, sizeof *r->part_values);
        return r->rows && r->part_values && map_columns(p, r);
    }
    if (!view->n_rows || view->type.dtype == AS_DTYPE_OPAQUE) return true;
    r->n_parts = as_dtype_is_composite(view->type.dtype) ? view->type.n_parts : 1;
    r->parts = calloc(r->n_parts, sizeof *r->parts);
    r->rows = calloc(r->n_parts, sizeof *r->rows);
    r->part_values = calloc(r->n_parts, sizeof *r->part_values);
    if (!r->parts || !r->rows || !r->part_values) return false;
    for (uint32_t i = 0; i < r->n_parts; i++) {
        r->parts[i] = as_rows_open(p->ds, &r->slice, i);
        if (!r->parts[i]) return false;
        r->rows[i] = as_rows_next(r->parts[i]);
    }
    return map_columns(p, r);
}

static bool open_member(const plan *p, member *m) {
    struct member_rows *r = m->rows;
    as_levels_init(&r->levels, p->n_columns * sizeof(double), as_ds_budget(p->ds));
    for (int i = INCLUSIVE; i <= EXCLUSIVE; i++) {
        r->values[i] = calloc((size_t)p->n_columns + 1, sizeof(double));
        if (!r->values[i]) return false;
        r->now[i] = r->values[i];
    }
    return !r->is_open || open_parts(p, r);
}

/* ---- stored values ----------------------------------------------------------------------------------------------- */

static double number_at(const as_context_row *row, int flavour, uint32_t column) {
    bool exclusive = flavour == EXCLUSIVE && (row->exclusive || row->exclusive_real);
    if (row->inclusive) return (double)(exclusive ? row->exclusive : row->inclusive)[column];
    return (exclusive ? row->exclusive_real : row->inclusive_real)[column];
}

/* The row of one flavour from those of the parts, which are there. Columns that the source lacks stay 0. */
static void take_row(struct member_rows *r, int flavour) {
    const as_profile *view = &r->slice.view;
    const as_context_row *row = r->rows[0];
    bool composite = as_dtype_is_composite(view->type.dtype);
    if (!composite && !r->columns && row->inclusive_real) {
        r->now[flavour] = flavour == EXCLUSIVE && row->exclusive_real ? row->exclusive_real : row->inclusive_real;
        return;
    }
    double *out = r->values[flavour];
    r->now[flavour] = out;
    for (uint32_t i = 0; i < view->n_columns; i++) {
        uint32_t at = r->columns ? r->columns[i] : i;
        if (at == UINT32_MAX) continue;
        for (uint32_t k = 0; k < r->n_parts; k++) r->part_values[k] = number_at(r->rows[k], flavour, i);
        out[at] = composite ? as_parts_shown(view->type.dtype, r->part_values, r->n_parts) : r->part_values[0];
    }
}

/* Goes on to the row of the context at hand, or one before it. False where it could not be read. */
static bool find_pair(plan *p, struct member_rows *r) {
    while (!r->has_begun || (r->rows[0] && r->rows[0]->context > p->context)) {
        r->has_begun = true;
        p->stopped = as_stored_rows_next(r->stored, &r->rows[0], p->error);
        if (p->stopped != ASSAY_OK) return false;
    }
    return true;
}

/* False when memory is out, or rows could not be read. All parts have rows for the same contexts. */
static bool stored_row(plan *p, member *m) {
    struct member_rows *r = m->rows;
    bool has_row = false;
    if (r->stored) {
        if (!find_pair(p, r)) return false;
        has_row = r->rows[0] && r->rows[0]->context == p->context;
    }
    for (uint32_t i = 0; !r->stored && i < r->n_parts; i++) {
        while (r->rows[i] && r->rows[i]->context > p->context) r->rows[i] = as_rows_next(r->parts[i]);
        if (as_rows_failed(r->parts[i])) return false;
        has_row = r->rows[i] && r->rows[i]->context == p->context;
    }
    for (int flavour = INCLUSIVE; flavour <= EXCLUSIVE; flavour++) {
        if (!m->needs_rows[flavour]) continue;
        if (has_row) {
            take_row(r, flavour);
            continue;
        }
        memset(r->values[flavour], 0, p->n_columns * sizeof(double));
        r->now[flavour] = r->values[flavour];
    }
    return true;
}

/* ---- derived values ---------------------------------------------------------------------------------------------- */

/* The row of the other flavour, from that of the formula and the children's. False when memory is out or a formula
 * failed. */
static bool other_row(plan *p, member *m) {
    struct member_rows *r = m->rows;
    size_t depth = as_ds_context(p->ds, p->context)->depth, n = p->n_columns;
    double *mine = as_levels_at(&r->levels, depth);
    const double *below = as_levels_at(&r->levels, depth + 1);
    int own = own_flavour(m);
    double *from = r->values[own], *to = r->values[!own];
    if (!below)
        memcpy(to, from, n * sizeof *to);
    else if (!as_derived_combine(p, m, own == EXCLUSIVE ? AS_FORMULA_PLUS : AS_FORMULA_MINUS, from, below, n, to))
        return false;
    as_levels_remove(&r->levels, depth + 1);
    if (as_ds_context(p->ds, p->context)->is_aside) return true;
    const double *up = own == EXCLUSIVE ? to : from;
    if (mine) return as_derived_combine(p, m, AS_FORMULA_PLUS, mine, up, n, mine);
    mine = as_levels_add(&r->levels, depth);
    if (mine) memcpy(mine, up, n * sizeof *up);
    return mine != NULL;
}

static bool derived_row(plan *p, member *m) {
    struct member_rows *r = m->rows;
    if (m->derived->kind == AS_DERIVED_POST) {
        for (int flavour = INCLUSIVE; flavour <= EXCLUSIVE; flavour++) {
            if (m->needs_rows[flavour] && !as_derived_evaluate(p, m, flavour, p->n_columns, r->values[flavour]))
                return false;
        }
        return true;
    }
    int own = own_flavour(m);
    if (!as_derived_evaluate(p, m, own, p->n_columns, r->values[own])) return false;
    return !m->needs_rows[!own] || other_row(p, m);
}

/* Of all locations together, one after the other. */
static bool aggregate(plan *p, const member *m) {
    const double *row = m->rows->values[own_flavour(m)];
    double *out = &m->sums[own_flavour(m)][p->context - p->first];
    if (!as_formula_has(m->derived->formula, AS_FORMULA_AGGR)) {
        *out = as_reals_sum(row, p->n_columns);
        return true;
    }
    double sum = p->n_columns ? row[0] : 0;
    for (uint32_t i = 1; i < p->n_columns; i++) {
        if (!as_derived_combine(p, m, AS_FORMULA_AGGR, &sum, &row[i], 1, &sum)) return false;
    }
    *out = sum;
    return true;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

static bool hand_over(const plan *p, assay_id context) {
    const member *m = member_at(p, p->members.count - 1);
    as_computed_row row = {.context = context, .n = p->n_columns, .locations = p->columns};
    if (p->root != ASSAY_NONE && context - p->root >= as_ds_context(p->ds, p->root)->subtree) return true;
    for (int flavour = INCLUSIVE; flavour <= EXCLUSIVE; flavour++) {
        row.values[flavour] = p->wanted[flavour] ? as_derived_row(m, flavour) : NULL;
        row.whole[flavour] = m->sums[flavour][context - p->first];
    }
    return p->visit(p->user, &row);
}

static bool visit_context(plan *p, assay_id context, member *const *members, size_t n) {
    for (size_t i = 0; i < n; i++) {
        member *m = members[i];
        p->context = context;
        if (m->derived ? !derived_row(p, m) : !stored_row(p, m)) return false;
        if (is_summed(m) && !aggregate(p, m)) return false;
    }
    return !p->visit || hand_over(p, context);
}

/* Members without sums that are not ready have no rows either: what needs them is not ready. */
static bool takes_part(const member *m) { return m->is_ready && (is_summed(m) || has_rows(m)); }

static bool visit_all(plan *p) {
    size_t n = 0;
    member **members = calloc(p->members.count + 1, sizeof *members);
    for (size_t i = 0; members && i < p->members.count; i++) {
        member *m = member_at(p, i);
        if (m->rows && !m->is_void) members[n++] = m;
    }
    bool fine = members != NULL;
    for (uint32_t i = p->n; fine && i-- > 0;) fine = visit_context(p, p->first + i, members, n);
    free(members);
    return fine;
}

assay_status as_derived_walk(plan *p, assay_error *error) {
    assay_id *columns = NULL;
    assay_status status = ASSAY_OK;
    p->error = error;
    p->stopped = ASSAY_OK;
    for (size_t i = 0; status == ASSAY_OK && i < p->members.count; i++) {
        if (takes_part(member_at(p, i))) status = open_slice(p, member_at(p, i), error);
    }
    if (status == ASSAY_OK) {
        bool fine = choose_columns(p, &columns);
        for (size_t i = 0; fine && i < p->members.count; i++) {
            if (member_at(p, i)->rows) fine = open_member(p, member_at(p, i));
        }
        fine = fine && visit_all(p);
        if (!fine && !p->failed) status = p->stopped != ASSAY_OK ? p->stopped : as_fail_memory(error, NULL);
    }
    for (size_t i = 0; i < p->members.count; i++) close_member(member_at(p, i));
    free(columns);
    p->columns = NULL;
    p->context = ASSAY_NONE;
    return status;
}
