#include "analysis/algebra/sparse.h"

#include <stdlib.h>

#include "dataset/sparse_table.h"

/* One run that takes part. */
typedef struct side {
    const as_profile *profile;
    double factor;
    assay_id *contexts; /* for each context of the result that of the part, or ASSAY_NONE */
    uint32_t *columns;  /* for each column its number in the result, UINT32_MAX: another run has it */
} side;

typedef struct combination {
    as_operation *op;
    side *sides;
    size_t n;
    as_alignment alignment;
    double divisor;
    double *row;        /* of the result, with all columns; 0 between uses */
    uint32_t *row_at;   /* columns of those that are not 0 */
    double *row_values; /* and these */
    as_sparse_line line;
    as_sparse_table *table;
} combination;

static const as_profile *profile_of(const as_operation *op, assay_id metric, const as_part_run *run) {
    assay_id own = as_part_metric(op, run->part, metric);
    return own == ASSAY_NONE || run->run == ASSAY_NONE ? NULL : as_ds_profile(op->u.parts[run->part], own, run->run);
}

bool as_is_sparse_operation(const as_operation *op, assay_id metric, const as_sparse_term *terms, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const as_profile *profile = profile_of(op, metric, terms[i].run);
        if (!profile || !as_profile_is_sparse(profile) || terms[i].run->own_point != ASSAY_NONE) return false;
    }
    return n > 0;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static bool turn_contexts(const as_operation *op, uint32_t part, side *s) {
    size_t n = op->ds->contexts.count, n_own = op->u.parts[part]->contexts.count;
    const assay_id *map = op->u.maps[part].contexts;
    s->contexts = malloc((n + 1) * sizeof *s->contexts);
    for (size_t i = 0; s->contexts && i < n; i++) s->contexts[i] = ASSAY_NONE;
    for (size_t i = 0; s->contexts && i < n_own; i++) {
        if (map[i] != ASSAY_NONE) s->contexts[map[i]] = (assay_id)i;
    }
    return s->contexts != NULL;
}

/* Which column of the result each column of an operand is. */
static bool turn_columns(const as_alignment *alignment, const as_operand *operand, side *s) {
    s->columns = malloc(((size_t)s->profile->n_columns + 1) * sizeof *s->columns);
    for (uint32_t i = 0; s->columns && i < s->profile->n_columns; i++)
        s->columns[i] = operand->columns_at ? UINT32_MAX : i;
    for (uint32_t i = 0; s->columns && operand->columns_at && i < alignment->n_columns; i++) {
        if (operand->columns_at[i] != UINT32_MAX) s->columns[operand->columns_at[i]] = i;
    }
    return s->columns != NULL;
}

/* The last that has a column keeps it. row_at: room. */
static void choose_owners(combination *c) {
    for (uint32_t i = 0; i < c->alignment.n_columns; i++) c->row_at[i] = UINT32_MAX;
    for (size_t k = 0; k < c->n; k++) {
        for (uint32_t i = 0; i < c->sides[k].profile->n_columns; i++) c->row_at[c->sides[k].columns[i]] = (uint32_t)k;
    }
    for (size_t k = 0; k < c->n; k++) {
        uint32_t *columns = c->sides[k].columns;
        for (uint32_t i = 0; i < c->sides[k].profile->n_columns; i++) {
            if (c->row_at[columns[i]] != k) columns[i] = UINT32_MAX;
        }
    }
}

static bool align_columns(combination *c, const as_sparse_term *terms) {
    as_operand *operands = calloc(c->n + 1, sizeof *operands);
    bool fine = operands != NULL;
    for (size_t k = 0; fine && k < c->n; k++)
        operands[k] = (as_operand){.part = terms[k].run->part, .view = *c->sides[k].profile};
    fine = fine && as_align_columns(&c->op->bench, operands, c->n, &c->alignment);
    for (size_t k = 0; fine && k < c->n; k++) fine = turn_columns(&c->alignment, &operands[k], &c->sides[k]);
    for (size_t k = 0; operands && k < c->n; k++) free(operands[k].columns_at);
    free(operands);
    return fine;
}

static bool open_sides(combination *c, assay_id metric, as_sparse_rule rule, const as_sparse_term *terms) {
    c->sides = calloc(c->n + 1, sizeof *c->sides);
    for (size_t k = 0; c->sides && k < c->n; k++) {
        c->sides[k].profile = profile_of(c->op, metric, terms[k].run);
        uint32_t part = terms[k].run->part;
        c->sides[k].factor = as_union_factor(&c->op->u, part, as_part_metric(c->op, part, metric));
        if (rule == AS_SPARSE_SUM) c->sides[k].factor *= terms[k].factor;
        if (!turn_contexts(c->op, part, &c->sides[k])) return false;
    }
    if (!c->sides || !align_columns(c, terms)) return false;
    size_t room = (size_t)c->alignment.n_columns + 1;
    c->row = calloc(room, sizeof *c->row);
    c->row_at = malloc(room * sizeof *c->row_at);
    c->row_values = malloc(room * sizeof *c->row_values);
    c->table = as_sparse_table_new(c->op->ds);
    if (!c->row || !c->row_at || !c->row_values || !c->table) return false;
    c->divisor = rule == AS_SPARSE_MEAN ? (double)c->n : 1;
    if (rule == AS_SPARSE_LAST) choose_owners(c);
    return true;
}

static void close_sides(combination *c) {
    for (size_t k = 0; c->sides && k < c->n; k++) {
        free(c->sides[k].contexts);
        free(c->sides[k].columns);
    }
    free(c->sides);
    free(c->row);
    free(c->row_at);
    free(c->row_values);
    as_sparse_line_free(&c->line);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static assay_status add_side(combination *c, const side *s, assay_id context, bool *any) {
    assay_id own = s->contexts[context];
    if (own == ASSAY_NONE) return ASSAY_OK;
    AS_TRY(s->profile->source->read_row(s->profile->source, s->profile, own, &c->line, c->op->error));
    for (uint32_t i = 0; i < c->line.n; i++) {
        uint32_t column = s->columns[c->line.at[i]];
        if (column != UINT32_MAX) c->row[column] += s->factor * c->line.values[i];
    }
    *any |= c->line.n > 0;
    return ASSAY_OK;
}

static assay_status combine_row(combination *c, assay_id context) {
    bool any = false;
    uint32_t n = 0;
    for (size_t k = 0; k < c->n; k++) AS_TRY(add_side(c, &c->sides[k], context, &any));
    if (!any) return ASSAY_OK;
    for (uint32_t i = 0; i < c->alignment.n_columns; i++) {
        if (c->row[i] == 0) continue;
        c->row_at[n] = i;
        c->row_values[n++] = c->row[i] / c->divisor;
        c->row[i] = 0;
    }
    return as_sparse_table_add(c->table, context, c->row_at, c->row_values, n) ? ASSAY_OK
                                                                               : as_fail_memory(c->op->error, NULL);
}

assay_status as_combine_sparse(as_operation *op, assay_id metric, assay_id run, as_sparse_rule rule,
                               const as_sparse_term *terms, size_t n) {
    combination c = {.op = op, .n = n};
    assay_status status = open_sides(&c, metric, rule, terms) ? ASSAY_OK : as_fail_memory(op->error, NULL);
    for (assay_id context = 0; status == ASSAY_OK && context < op->ds->contexts.count; context++)
        status = combine_row(&c, context);
    if (status == ASSAY_OK && !as_sparse_table_finish(c.table, metric, run, c.alignment.columns, c.alignment.n_columns))
        status = as_fail_memory(op->error, NULL);
    close_sides(&c);
    return status;
}
