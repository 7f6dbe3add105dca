/* What several contexts have together, in a metric's own arithmetic. */
#include <math.h>

#include "analysis/views/view_private.h"

static as_view_number number_of(const as_node *node, bool exclusive, const double *parts) {
    as_number number = exclusive ? node->exclusive : node->inclusive;
    return (as_view_number){.is_known = true,
                            .is_whole = node->is_whole,
                            .whole = node->is_whole ? exclusive ? node->whole_exclusive : node->whole_inclusive : 0,
                            .real = as_number_real(number),
                            .parts = parts};
}

/* Where what is not a number is not there. */
static void drop_nan(as_view_number *number) {
    if (isnan(number->real)) *number = (as_view_number){0};
}

static as_view_value stored_value(const as_view_column *column, const as_node *node) {
    as_view_value value = {0};
    as_view_number own = number_of(node, false, NULL);
    own.is_known = node->has_own;
    *(column->is_only_exclusive ? &value.exclusive : &value.inclusive) = own;
    if (node->has_exclusive && !node->lacks_exclusive) value.exclusive = number_of(node, true, NULL);
    return value;
}

as_view_value as_view_value_of(const as_view_column *column, assay_id context) {
    as_view_value value = {0};
    as_node node;
    bool has_node = as_column_node(column, context, &node);
    if (column->is_stored) return has_node ? stored_value(column, &node) : value;
    if (has_node) {
        const as_node_list *list = &column->list;
        uint32_t at = list->n_parts ? as_column_at(column, context) : 0;
        value.inclusive = number_of(&node, false, as_node_parts(list, at, false));
        /* Of a minimum nothing is not 0 */
        if (node.has_exclusive && (column->is_zero_elsewhere || column->is_inclusive || node.has_own))
            value.exclusive = number_of(&node, true, as_node_parts(list, at, true));
        if (column->can_be_empty) drop_nan(&value.inclusive), drop_nan(&value.exclusive);
    } else if (column->is_zero_elsewhere) {
        value.inclusive = value.exclusive =
            (as_view_number){.is_known = true, .is_whole = as_dtype_is_integer(column->dtype)};
    }
    return value;
}

void as_view_sum_begin(as_view_sum *sum, const as_view_column *column, double *parts) {
    *sum = (as_view_sum){.column = column, .parts = parts};
    if (column->formula) as_view_formula_begin(column->formula);
    if (column->is_zero_elsewhere)
        sum->value.inclusive = sum->value.exclusive =
            (as_view_number){.is_known = true, .is_whole = as_dtype_is_integer(column->dtype)};
}

static void add_number(const as_view_column *column, as_view_number *to, as_view_number from, double *parts) {
    uint32_t n_parts = column->list.n_parts;
    for (uint32_t i = 0; i < n_parts; i++)
        parts[i] =
            to->is_known ? as_part_combine(as_part_rule_of(column->dtype, i), parts[i], from.parts[i]) : from.parts[i];
    if (!to->is_known) {
        *to = from;
        to->parts = n_parts ? parts : NULL;
        return;
    }
    if (to->is_whole && from.is_whole) {
        to->whole += from.whole;
        to->real = as_number_real(as_whole_number(to->whole));
    } else {
        to->real = as_part_combine(as_part_rule_of(column->dtype, 0), to->real, from.real);
        to->is_whole = false;
    }
    if (n_parts) to->real = as_parts_shown(column->dtype, parts, n_parts);
}

static void add_real(as_view_number *to, double value) {
    to->real = to->is_known ? to->real + value : value;
    to->is_known = true;
}

/* Whether a context is inside the outermost one that was added last. One that stands aside never is: what lies around
 * it has nothing of it. */
static bool is_inside(const as_view_sum *sum, const as_dataset *ds, assay_id context) {
    return context < sum->end && !as_ds_context(ds, context)->is_aside;
}

static void go_behind(as_view_sum *sum, const as_dataset *ds, assay_id context) {
    assay_id end = context + as_ds_context(ds, context)->subtree;
    if (end > sum->end) sum->end = end;
}

/* Stored values are plain reals, and there may be millions of them. */
static void add_stored(as_view_sum *sum, const as_dataset *ds, assay_id context, const as_node *node) {
    const as_view_column *column = sum->column;
    if (node->has_exclusive && !node->lacks_exclusive) add_real(&sum->value.exclusive, as_number_real(node->exclusive));
    if (!node->has_own) return;
    if (column->is_only_exclusive) {
        add_real(&sum->value.exclusive, as_number_real(node->inclusive));
    } else if (!is_inside(sum, ds, context)) {
        go_behind(sum, ds, context);
        add_real(&sum->value.inclusive, as_number_real(node->inclusive));
    }
}

void as_view_sum_add(as_view_sum *sum, const as_dataset *ds, assay_id context) {
    const as_view_column *column = sum->column;
    as_node node;
    bool has_node = as_column_node(column, context, &node);
    if (column->is_stored && !column->formula && !as_dtype_is_integer(column->dtype)) {
        if (has_node) add_stored(sum, ds, context, &node);
        return;
    }
    if (column->formula) as_view_formula_add(column->formula, context);
    /* An outermost context without a row has 0, and what lies inside it is still inside. */
    if (!has_node && column->is_inclusive && column->is_zero_elsewhere && context >= sum->end)
        go_behind(sum, ds, context);
    if (!has_node || !column->can_merge || column->formula) return;
    as_view_value value = as_view_value_of(column, context);
    double *exclusive_parts = sum->parts ? sum->parts + column->list.n_parts : NULL;
    if (value.exclusive.is_known) add_number(column, &sum->value.exclusive, value.exclusive, exclusive_parts);
    if (is_inside(sum, ds, context) || !value.inclusive.is_known) return;
    go_behind(sum, ds, context);
    if (value.inclusive.is_known) add_number(column, &sum->value.inclusive, value.inclusive, sum->parts);
}

as_view_value as_view_sum_value(const as_view_sum *sum) {
    as_view_value value = sum->value;
    if (sum->column->formula) value = as_view_formula_value(sum->column->formula);
    if (!sum->column->can_merge) value = (as_view_value){0};
    return value;
}

/* All that is looked at: the roots, and where the source has nothing of one of them, what is outermost below it. */
static void add_roots(as_view_sum *sum, const as_view_data *data) {
    const as_dataset *ds = data->source.ds;
    for (size_t i = 0; i < data->n_roots; i++) {
        assay_id root = data->roots[i], end = root + as_ds_context(ds, root)->subtree;
        as_node node;
        bool is_there = !sum->column->is_stored || as_column_node(sum->column, root, &node);
        if (as_view_is_apart(data, root)) continue;
        if (is_there) as_view_sum_add(sum, ds, root);
        for (assay_id id = root + 1; !is_there && id < end; id++) {
            if (!data->is_aside || !data->is_aside[id]) as_view_sum_add(sum, ds, id);
        }
    }
}

as_view_value as_view_whole(const as_view_data *data, size_t column) {
    const as_view_column *c = &data->columns[column];
    as_view_sum sum;
    as_view_sum_begin(&sum, c, NULL);
    if (c->list.n_parts || !c->can_merge) return (as_view_value){0};
    add_roots(&sum, data);
    as_view_value value = as_view_sum_value(&sum);
    if (c->formula) value.exclusive.is_known = false;
    if (c->formula) return value;
    bool is_zero = c->is_zero_elsewhere; /* above the first level nothing is done */
    value.exclusive = (as_view_number){.is_known = is_zero, .is_whole = value.inclusive.is_whole};
    if (!c->has_exclusive && !c->is_stored) /* the roots need not have values of their own */
        value.inclusive = (as_view_number){.is_known = isfinite(c->whole), .real = c->whole};
    return value;
}
