/* What metrics have at contexts, row by row: read from where it lies, or, where sums or differences along the tree have
 * to be made, made beforehand. */
#include "formats/hpctoolkit/write_plan.h"

#include <stdlib.h>

#include "dataset/pieces.h"

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool read_extra(const double *values, size_t n, as_sparse_line *line) {
    line->n = 0;
    if (!values) return true;
    if (!as_sparse_line_reserve(line, (uint32_t)n)) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (values[i] == 0) continue;
        line->at[line->n] = i;
        line->values[line->n++] = values[i];
    }
    return true;
}

assay_status as_hpc_read_row(const as_hpc_plan *plan, const as_hpc_side *side, uint32_t slot, as_sparse_line *line,
                             assay_error *error) {
    if (slot >= plan->n_contexts)
        return read_extra(side->extra[slot - plan->n_contexts], plan->profiles.count, line)
                   ? ASSAY_OK
                   : as_fail_memory(error, NULL);
    if (side->profile) {
        AS_TRY(side->profile->source->read_row(side->profile->source, side->profile, slot, line, error));
        for (uint32_t i = 0; i < line->n && side->profile_of_column; i++)
            line->at[i] = side->profile_of_column[line->at[i]];
        return ASSAY_OK;
    }
    line->n = 0;
    if (!side->starts) return ASSAY_OK;
    uint64_t from = side->starts[slot], n = side->starts[slot + 1] - from;
    if (!n) return ASSAY_OK;
    if (!as_sparse_line_reserve(line, (uint32_t)n)) return as_fail_memory(error, NULL);
    memcpy(line->at, &AS_AT(uint32_t, &side->at, from), n * sizeof *line->at);
    memcpy(line->values, &AS_AT(double, &side->values, from), n * sizeof *line->values);
    line->n = (uint32_t)n;
    return ASSAY_OK;
}

/* ---- sums and differences ---------------------------------------------------------------------------------------- */

/* Some columns of a metric's values, as a matrix of contexts x columns: as they are, and summed up or with the
 * children's taken off. */
typedef struct matrix {
    const as_hpc_plan *plan;
    const as_profile *view;
    as_part_rule rule;
    uint32_t first, width; /* columns */
    double *own, *other;
} matrix;

static double empty_cell(as_part_rule rule) {
    return rule == AS_PART_ADD ? 0 : rule == AS_PART_MINIMUM ? INFINITY : -INFINITY;
}

static double cell_value(as_value_type type, const char *value) {
    as_number number = as_part_get(type, value, 0);
    if (number.kind == AS_UINT && number.u > AS_COUNTER_LIMIT) return 0;
    return as_number_real(number);
}

static void fill_matrix(matrix *m) {
    const as_profile *view = m->view;
    size_t n = (size_t)m->plan->n_contexts * m->width;
    for (size_t i = 0; i < n; i++) m->own[i] = empty_cell(m->rule);
    for (uint32_t row = 0; row < view->n_rows; row++) {
        const char *values = as_profile_row(view, row) + (size_t)m->first * view->type.size;
        double *out = m->own + (size_t)view->contexts[row] * m->width;
        for (uint32_t k = 0; k < m->width; k++) out[k] = cell_value(view->type, values + (size_t)k * view->type.size);
    }
}

/* Children come behind their parents. */
static void add_up(matrix *m, as_hpc_make make) {
    const as_dataset *ds = m->plan->ds;
    memcpy(m->other, m->own, (size_t)m->plan->n_contexts * m->width * sizeof *m->other);
    for (assay_id i = m->plan->n_contexts; i-- > 0;) {
        assay_id parent = as_ds_context(ds, i)->parent;
        if (parent == ASSAY_NONE || as_ds_context(ds, i)->is_aside) continue;
        double *to = m->other + (size_t)parent * m->width;
        const double *from = (make == AS_HPC_SUMS ? m->other : m->own) + (size_t)i * m->width;
        for (uint32_t k = 0; k < m->width; k++)
            to[k] = make == AS_HPC_SUMS ? as_part_combine(m->rule, to[k], from[k]) : to[k] - from[k];
    }
}

/* Exclusive values that are where they were measured. */
static bool has_pieces(const as_hpc_plan *plan, assay_id metric) {
    const as_metric *about = as_ds_metric(plan->ds, metric);
    bool found = false;
    if (about->is_stored || about->kind != AS_KIND_EXCLUSIVE) return false;
    for (assay_id i = 0; i < plan->n_contexts && !found; i++) found = as_is_piece(plan->ds, i);
    return found;
}

static void add_row(const matrix *m, double *to, assay_id parent, assay_id piece) {
    to += (size_t)parent * m->width;
    const double *from = m->other + (size_t)piece * m->width;
    for (uint32_t k = 0; k < m->width; k++) to[k] += from[k];
}

/* Adds what pieces have to the calls and loops they are of: see dataset/pieces.h. */
static void add_pieces(matrix *m) {
    const as_dataset *ds = m->plan->ds;
    as_str loop_kind = as_loop_kind(ds);
    memcpy(m->other, m->own, (size_t)m->plan->n_contexts * m->width * sizeof *m->other);
    for (assay_id i = m->plan->n_contexts; i-- > 0;) {
        assay_id parent = as_ds_context(ds, i)->parent;
        if (parent == ASSAY_NONE || !as_is_piece(ds, i)) continue;
        bool is_past = as_is_loop(ds, loop_kind, i) && as_is_loop(ds, loop_kind, parent);
        add_row(m, m->other, parent, i);
        if (!is_past) add_row(m, m->own, parent, i);
    }
}

/* Values column by column, contexts ascending: what rows are made of. */
typedef struct columns {
    as_vec contexts, values; /* uint32_t, double */
    as_vec starts;           /* uint64_t: of each column */
    as_vec profiles;         /* uint32_t: of each column */
} columns;

static void columns_init(columns *c, as_budget *budget) {
    as_vec_init(&c->contexts, sizeof(uint32_t), budget);
    as_vec_init(&c->values, sizeof(double), budget);
    as_vec_init(&c->starts, sizeof(uint64_t), budget);
    as_vec_init(&c->profiles, sizeof(uint32_t), budget);
}

static void columns_free(columns *c) {
    as_vec_free(&c->contexts);
    as_vec_free(&c->values);
    as_vec_free(&c->starts);
    as_vec_free(&c->profiles);
}

static bool take_columns(const matrix *m, const double *values, columns *out) {
    const as_hpc_plan *plan = m->plan;
    double empty = empty_cell(m->rule);
    for (uint32_t k = 0; k < m->width; k++) {
        assay_id location = as_profile_location(m->view, m->first + k);
        uint32_t profile = location == ASSAY_NONE ? plan->placeless_profile : plan->profile_of_location[location];
        uint64_t start = out->contexts.count;
        if (profile == UINT32_MAX) continue;
        if (!as_vec_append(&out->starts, &start, 1) || !as_vec_append(&out->profiles, &profile, 1)) return false;
        for (uint32_t i = 0; i < plan->n_contexts; i++) {
            double value = values[(size_t)i * m->width + k];
            if (value == 0 || value == empty) continue;
            if (!as_vec_append(&out->contexts, &i, 1) || !as_vec_append(&out->values, &value, 1)) return false;
        }
    }
    return true;
}

/* Columns in ascending order of their profiles become rows. */
static bool make_rows(as_hpc_plan *plan, as_hpc_side *side, columns *c) {
    uint64_t n = c->contexts.count;
    uint64_t *next = calloc((size_t)plan->n_contexts + 2, sizeof *next);
    side->starts = as_arena_array(&plan->arena, (size_t)plan->n_contexts + 1, sizeof *side->starts);
    bool fine = next && side->starts && as_vec_append(&c->starts, &n, 1) && as_vec_reserve(&side->at, n) &&
                as_vec_reserve(&side->values, n);
    for (uint64_t i = 0; i < n && fine; i++) next[AS_AT(uint32_t, &c->contexts, i) + 2]++;
    for (uint32_t i = 0; i < plan->n_contexts && fine; i++) next[i + 2] += next[i + 1];
    for (uint32_t i = 0; i < plan->n_contexts + 1 && fine; i++) side->starts[i] = next[i + 1];
    for (size_t k = 0; k < c->profiles.count && fine; k++) {
        for (uint64_t i = AS_AT(uint64_t, &c->starts, k); i < AS_AT(uint64_t, &c->starts, k + 1); i++) {
            uint64_t to = next[AS_AT(uint32_t, &c->contexts, i) + 1]++;
            AS_AT(uint32_t, &side->at, to) = AS_AT(uint32_t, &c->profiles, k);
            AS_AT(double, &side->values, to) = AS_AT(double, &c->values, i);
        }
    }
    free(next);
    if (fine) side->at.count = side->values.count = n;
    return fine;
}

/* Reads a metric's values in the run and makes the rows of its sides: `plain` has them as they are, `made` (both may be
 * NULL) what comes of them. */
typedef struct dense_work {
    as_hpc_side *plain, *made;
    columns of_plain, of_made;
} dense_work;

static bool read_matrices(as_hpc_plan *plan, const as_profile *view, dense_work *work) {
    enum { MATRIX_BYTES = 32 << 20 };
    uint64_t row = (uint64_t)plan->n_contexts * sizeof(double);
    uint64_t width = row ? MATRIX_BYTES / row : 1;
    if (width < 1) width = 1;
    if (width > view->n_columns) width = view->n_columns;
    uint64_t bytes = row * width * 2;
    if (!as_budget_take(as_ds_budget(plan->ds), bytes)) return false;
    matrix m = {.plan = plan, .view = view, .rule = as_part_rule_of(view->type.dtype, 0)};
    m.own = malloc(row * width + 1);
    m.other = malloc(row * width + 1);
    bool fine = m.own && m.other;
    for (m.first = 0; m.first < view->n_columns && fine; m.first += m.width) {
        m.width = view->n_columns - m.first < width ? view->n_columns - m.first : (uint32_t)width;
        fill_matrix(&m);
        if (work->made) {
            add_up(&m, work->made->make);
            fine = take_columns(&m, m.other, &work->of_made);
        }
        if (work->plain && m.rule == AS_PART_ADD && has_pieces(plan, view->metric)) add_pieces(&m);
        if (work->plain && fine) fine = take_columns(&m, m.own, &work->of_plain);
    }
    free(m.own);
    free(m.other);
    as_budget_give(as_ds_budget(plan->ds), bytes);
    return fine;
}

static assay_status read_dense(as_hpc_plan *plan, assay_id metric, dense_work *work) {
    as_slice slice;
    columns_init(&work->of_plain, as_ds_budget(plan->ds));
    columns_init(&work->of_made, as_ds_budget(plan->ds));
    assay_status code = as_slice_open_all(plan->ds, metric, plan->run, &slice, plan->error);
    if (code == ASSAY_OK && slice.view.n_rows) {
        bool fine = read_matrices(plan, &slice.view, work);
        if (work->plain) fine = fine && make_rows(plan, work->plain, &work->of_plain);
        if (work->made) fine = fine && make_rows(plan, work->made, &work->of_made);
        if (!fine) code = as_fail_memory(plan->error, NULL);
    }
    as_slice_close(&slice);
    columns_free(&work->of_plain);
    columns_free(&work->of_made);
    return code;
}

/* ---- each metric's ----------------------------------------------------------------------------------------------- */

/* The columns of a sparse profile are locations, and these are profiles. */
static bool map_columns(as_hpc_plan *plan, as_hpc_side *side) {
    const as_profile *profile = side->profile;
    bool is_same = profile->columns != NULL;
    for (uint32_t k = 0; k < profile->n_columns && is_same; k++)
        is_same = plan->profile_of_location[profile->columns[k]] == k;
    if (is_same) return true;
    side->profile_of_column = as_arena_array(&plan->arena, profile->n_columns, sizeof *side->profile_of_column);
    for (uint32_t k = 0; k < profile->n_columns && side->profile_of_column; k++)
        side->profile_of_column[k] =
            profile->columns ? plan->profile_of_location[profile->columns[k]] : plan->placeless_profile;
    return side->profile_of_column != NULL;
}

/* Whether the sum that the root or the extra entry has takes in a context. An entry that has all of them has what the
 * root has. */
static bool is_part_of_top(const as_hpc_plan *plan, int extra, assay_id context) {
    bool is_entry = extra == AS_HPC_EXTRA_ENTRY;
    if (is_entry && plan->has_only_entry && plan->root != ASSAY_NONE) return context == plan->root;
    return as_hpc_is_top(plan, context) && !(is_entry && as_hpc_is_entry(plan, context));
}

/* The sum over the contexts below the root (of the extra entry: those that are no entry points themselves), for each
 * profile. Sections are no part of a whole: they count where nothing else has values. */
static assay_status sum_top(as_hpc_plan *plan, as_hpc_side *side, int extra) {
    as_sparse_line line = {0};
    double *sums = as_arena_array(&plan->arena, plan->profiles.count, sizeof *sums);
    assay_status code = sums ? ASSAY_OK : as_fail_memory(plan->error, NULL);
    bool is_empty = true;
    for (int sections = 0; sections < 2 && is_empty; sections++) {
        for (assay_id i = 0; i < plan->n_contexts && code == ASSAY_OK; i++) {
            if (!is_part_of_top(plan, extra, i) || as_context_is_section(plan->ds, i) != (sections == 1)) continue;
            code = as_hpc_read_row(plan, side, i, &line, plan->error);
            for (uint32_t k = 0; k < line.n && code == ASSAY_OK; k++) sums[line.at[k]] += line.values[k];
            is_empty = is_empty && !line.n;
        }
    }
    as_sparse_line_free(&line);
    side->extra[extra] = sums;
    return code;
}

static assay_status find_rows(as_hpc_plan *plan, size_t i) {
    as_hpc_side *side = as_hpc_side_at(plan, i);
    const as_profile *profile = as_ds_profile(plan->ds, side->metric, plan->run);
    if (side->make == AS_HPC_AS_IT_IS && profile && as_profile_is_sparse(profile) && !has_pieces(plan, side->metric)) {
        side->profile = profile;
        return map_columns(plan, side) ? ASSAY_OK : as_fail_memory(plan->error, NULL);
    }
    /* The first side of a metric makes those of the others, too. */
    dense_work work = {0};
    as_hpc_side *copy = NULL;
    for (size_t k = 0; k < plan->sides.count; k++) {
        as_hpc_side *other = as_hpc_side_at(plan, k);
        if (other->metric != side->metric) continue;
        if (k < i) return ASSAY_OK;
        if (other->make != AS_HPC_AS_IT_IS)
            work.made = other;
        else if (work.plain)
            copy = other;
        else
            work.plain = other;
    }
    AS_TRY(read_dense(plan, side->metric, &work));
    if (!copy) return ASSAY_OK;
    copy->starts = work.plain->starts;
    return as_vec_append(&copy->at, work.plain->at.data, work.plain->at.count) &&
                   as_vec_append(&copy->values, work.plain->values.data, work.plain->values.count)
               ? ASSAY_OK
               : as_fail_memory(plan->error, NULL);
}

assay_status as_hpc_plan_values(as_hpc_plan *plan) {
    for (size_t i = 0; i < plan->sides.count; i++) AS_TRY(find_rows(plan, i));
    for (size_t i = 0; i < plan->sides.count; i++) {
        as_hpc_side *side = as_hpc_side_at(plan, i);
        if (side->kind != AS_KIND_INCLUSIVE) continue;
        if (plan->root == ASSAY_NONE) AS_TRY(sum_top(plan, side, AS_HPC_EXTRA_ROOT));
        if (plan->has_entry) AS_TRY(sum_top(plan, side, AS_HPC_EXTRA_ENTRY));
    }
    return ASSAY_OK;
}
