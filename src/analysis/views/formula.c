/* Derived metrics that do not add up, such as quotients: what several contexts have together is computed from the sums
 * of the formula's operands. */
#include <math.h>
#include <stdlib.h>

#include "analysis/views/view_private.h"
#include "dataset/formulas.h"

struct as_view_formula {
    const as_dataset *ds;
    const as_derived *derived;
    as_machine *machine;
    const as_formula_operand *operands;
    size_t n;
    as_view_column *columns; /* one for each operand */
    as_view_sum *sums;
    double **parts;
    double *totals; /* of the whole program */
    bool exclusive; /* what is computed now */
    bool is_each;   /* of contexts one by one, else of a sum */
};

/* ---- what the formula asks for ----------------------------------------------------------------------------------- */

/* What an operand has; an exclusive value that is missing is 0, unless there are none at all. */
static double number_of(const as_view_column *column, as_view_value value, bool exclusive) {
    bool has_exclusive =
        value.exclusive.is_known || column->is_stored || (column->can_be_empty && column->has_exclusive);
    return exclusive && has_exclusive ? value.exclusive.real : value.inclusive.real;
}

static const double *get_metric(void *user, uint32_t which, size_t first, size_t n, double *room) {
    const as_view_formula *f = user;
    const as_formula_operand *operand = &f->operands[which];
    bool exclusive = operand->flavour == AS_FLAVOUR_SAME ? f->exclusive : operand->flavour == AS_FLAVOUR_EXCLUSIVE;
    bool is_void = as_ds_metric_is_void(f->ds, operand->metric), is_total = operand->reach == AS_REACH_ALL;
    const as_view_column *column = &f->columns[which];
    if (f->is_each && !is_void && !is_total) {
        for (size_t i = 0; i < n; i++)
            room[i] = number_of(column, as_view_value_of(column, (assay_id)(first + i)), exclusive);
        return room;
    }
    double number = is_void    ? 0
                    : is_total ? f->totals[which]
                               : number_of(column, as_view_sum_value(&f->sums[which]), exclusive);
    for (size_t i = 0; i < n; i++) room[i] = number;
    return room;
}

/* Several contexts together have no fact that depends on the context. */
static bool get_fact(void *user, uint32_t fact, size_t at, double index, as_formula_value *out) {
    const as_view_formula *f = user;
    as_fact_point point = {.metric = f->derived->metric, .context = ASSAY_NONE, .location = ASSAY_NONE};
    (void)at;
    point.exclusive = f->exclusive;
    if (as_fact_depends_on(fact) != AS_FACT_OF_METRIC) return false;
    *out = as_facts_value(as_ds_facts(f->ds), fact, &point, index);
    return true;
}

static double get_fact_size(void *user, uint32_t fact) {
    const as_view_formula *f = user;
    return as_facts_size(as_ds_facts(f->ds), fact);
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

void as_view_formula_free(as_view_formula *formula) {
    if (!formula) return;
    for (size_t i = 0; i < formula->n; i++) {
        if (formula->columns) as_view_column_free(&formula->columns[i]);
        if (formula->parts) free(formula->parts[i]);
    }
    as_machine_free(formula->machine);
    free(formula->columns);
    free(formula->sums);
    free(formula->parts);
    free(formula->totals);
    free(formula);
}

/* Of the whole program: what the roots have together. */
static double total_of(const as_view_formula *f, size_t which) {
    as_view_sum *sum = &f->sums[which];
    as_view_sum_begin(sum, &f->columns[which], f->parts[which]);
    bool leaves_apart = as_ds_has_wholes(f->ds);
    for (assay_id id = 0; id < AS_COUNT(f->ds, contexts); id += as_ds_context(f->ds, id)->subtree) {
        bool is_left_out = leaves_apart && (as_context_is_section(f->ds, id) || as_ds_context(f->ds, id)->is_aside);
        if (as_ds_context(f->ds, id)->role != AS_ROLE_PLACELESS && !is_left_out) as_view_sum_add(sum, f->ds, id);
    }
    double total = as_view_sum_value(sum).inclusive.real; /* 0 where there is none */
    as_view_sum_begin(sum, &f->columns[which], f->parts[which]);
    return total;
}

/* *fits: whether all operands can be put together. Operands that are formulas themselves can, where both are of the
 * kind that can be empty. */
static assay_status load_operands(as_view_formula *f, const as_view_source *source, unsigned *formulas_left, bool *fits,
                                  assay_error *error) {
    bool can_nest = as_formula_can_be_empty(f->derived->formula);
    for (size_t i = 0; i < f->n && *fits; i++) {
        as_view_column *column = &f->columns[i];
        as_reach reach = f->operands[i].reach;
        column->metric = f->operands[i].metric;
        AS_TRY(as_view_column_load(source, column, can_nest ? formulas_left : NULL, error));
        *fits = column->can_merge && (reach == AS_REACH_POINT || reach == AS_REACH_CONTEXT || reach == AS_REACH_ALL);
        f->parts[i] = calloc(2 * (size_t)column->list.n_parts + 1, sizeof(double));
        if (!f->parts[i]) return as_fail_memory(error, NULL);
        f->totals[i] = total_of(f, i);
    }
    return ASSAY_OK;
}

static assay_status prepare(as_view_formula *f, const as_view_source *source, unsigned *formulas_left, bool *fits,
                            assay_error *error) {
    f->columns = calloc(f->n + 1, sizeof *f->columns);
    f->sums = calloc(f->n + 1, sizeof *f->sums);
    f->parts = calloc(f->n + 1, sizeof *f->parts);
    f->totals = calloc(f->n + 1, sizeof *f->totals);
    if (!f->columns || !f->sums || !f->parts || !f->totals) return as_fail_memory(error, NULL);
    for (size_t i = 0; i < f->n; i++) as_node_list_init_of(&f->columns[i].list, f->ds);
    AS_TRY(load_operands(f, source, formulas_left, fits, error));
    as_formula_source asked = {.user = f, .metric = get_metric, .fact = get_fact, .fact_size = get_fact_size};
    f->machine = as_derived_machine(f->derived, &asked);
    return f->machine ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_view_formula_new(const as_view_source *source, assay_id metric, unsigned *formulas_left,
                                 as_view_formula **out, assay_error *error) {
    const as_derived *derived = as_ds_derived(source->ds, metric);
    *out = NULL;
    if (!derived || !derived->is_usable || derived->kind != AS_DERIVED_POST || !*formulas_left) return ASSAY_OK;
    --*formulas_left;
    as_view_formula *f = calloc(1, sizeof *f);
    if (!f) return as_fail_memory(error, NULL);
    f->ds = source->ds;
    f->derived = derived;
    f->n = as_formula_operands(derived->formula, &f->operands);
    bool fits = true;
    assay_status status = prepare(f, source, formulas_left, &fits, error);
    if (status == ASSAY_OK && fits)
        *out = f;
    else
        as_view_formula_free(f);
    return status;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

void as_view_formula_begin(as_view_formula *formula) {
    for (size_t i = 0; i < formula->n; i++)
        as_view_sum_begin(&formula->sums[i], &formula->columns[i], formula->parts[i]);
}

void as_view_formula_add(as_view_formula *formula, assay_id context) {
    for (size_t i = 0; i < formula->n; i++) as_view_sum_add(&formula->sums[i], formula->ds, context);
}

as_view_value as_view_formula_value(as_view_formula *formula) {
    as_view_value value = {0};
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        as_view_number *number = exclusive ? &value.exclusive : &value.inclusive;
        formula->exclusive = exclusive;
        bool has_side = exclusive ? formula->derived->has_exclusive : formula->derived->sides != AS_SIDES_EXCLUSIVE;
        number->is_known = has_side && as_machine_values(formula->machine, 1, &number->real) == AS_RUN_OK &&
                           !(as_formula_can_be_empty(formula->derived->formula) && isnan(number->real));
    }
    return value;
}

void as_view_formula_all(as_view_formula *formula, bool exclusive, size_t n, double *out) {
    bool has_side = exclusive ? formula->derived->has_exclusive : formula->derived->sides != AS_SIDES_EXCLUSIVE;
    formula->exclusive = exclusive;
    formula->is_each = true;
    bool fine = has_side && as_machine_values(formula->machine, n, out) == AS_RUN_OK;
    formula->is_each = false;
    for (size_t i = 0; i < n && !fine; i++) out[i] = NAN;
}
