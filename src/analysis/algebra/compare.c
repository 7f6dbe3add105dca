/* Two profiles side by side: opening them, and the numbers of one call path. */
#include "analysis/algebra/compare.h"

#include <stdlib.h>

#include "dataset/metric_names.h"

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* For each of n things of the united dataset that of a side, of which there are n_own. NULL when memory is out. */
static assay_id *invert(const assay_id *map, size_t n_own, size_t n) {
    assay_id *inverse = malloc((n + 1) * sizeof *inverse);
    for (size_t i = 0; inverse && i < n; i++) inverse[i] = ASSAY_NONE;
    for (size_t i = n_own; inverse && i-- > 0;) inverse[map[i]] = (assay_id)i; /* of several the first */
    return inverse;
}

assay_status as_comparison_open(const as_dataset *const *sides, as_comparison *out, assay_error *error) {
    *out = (as_comparison){.ds = as_dataset_new(sides[AS_BASE]->budget.limit)};
    if (!out->ds || !as_union_init(&out->u, out->ds, sides, 2) || !as_unite_metrics(&out->u))
        return as_fail_memory(error, NULL);
    for (size_t side = 0; side < 2; side++) {
        out->metrics[side] = invert(out->u.maps[side].metrics, sides[side]->metrics.count, out->ds->metrics.count);
        if (!out->metrics[side]) return as_fail_memory(error, NULL);
    }
    out->factors = malloc((out->ds->metrics.count + 1) * sizeof *out->factors);
    if (!out->factors) return as_fail_memory(error, NULL);
    for (assay_id m = 0; m < out->ds->metrics.count; m++) {
        const assay_id own[2] = {out->metrics[AS_BASE][m], out->metrics[AS_TARGET][m]};
        assay_error ignored; /* what has one name is compared, whatever the units are */
        out->factors[m] = 1;
        if (own[AS_BASE] != ASSAY_NONE && own[AS_TARGET] != ASSAY_NONE)
            (void)as_metric_factor(sides, own, &out->factors[m], &ignored);
    }
    return ASSAY_OK;
}

assay_status as_comparison_pair(as_comparison *c, assay_id base, assay_id target, assay_id *out, assay_error *error) {
    double factor;
    AS_TRY(as_metric_factor(c->u.parts, (const assay_id[2]){base, target}, &factor, error));
    *out = c->u.maps[AS_BASE].metrics[base];
    c->metrics[AS_TARGET][*out] = target;
    c->factors[*out] = factor;
    return ASSAY_OK;
}

assay_status as_comparison_unite(as_comparison *c, as_matching matching, assay_error *error) {
    if (!as_unite_contexts(&c->u, matching)) return as_fail_memory(error, NULL);
    for (size_t side = 0; side < 2; side++) {
        size_t n_own = c->u.parts[side]->contexts.count;
        c->contexts[side] = invert(c->u.maps[side].contexts, n_own, c->ds->contexts.count);
        if (!c->contexts[side]) return as_fail_memory(error, NULL);
    }
    return ASSAY_OK;
}

void as_comparison_close(as_comparison *c) {
    for (size_t side = 0; side < 2; side++) {
        as_view_data_free(&c->data[side]);
        free(c->contexts[side]);
        free(c->metrics[side]);
    }
    free(c->factors);
    free(c->columns);
    free(c->values);
    as_union_free(&c->u);
    as_dataset_free(c->ds);
}

/* Columns are alike where both sides have them. */
static void describe_columns(as_comparison *c) {
    for (size_t k = 0; k < c->n_columns; k++) {
        as_change_column *column = &c->columns[k];
        column->has_exclusive = column->adds_up = true;
        column->factor = c->factors[column->metric];
        for (size_t side = 0; side < 2; side++) {
            column->whole[side] = NAN;
            if (column->at[side] == SIZE_MAX) continue;
            const as_view_column *own = &c->data[side].columns[column->at[side]];
            column->has_exclusive &= own->has_exclusive;
            column->adds_up &= own->adds_up;
            column->whole[side] = own->whole * (side == AS_TARGET ? column->factor : 1);
        }
    }
}

assay_status as_comparison_load(as_comparison *c, const as_view_source sources[2], const assay_id *metrics, size_t n,
                                assay_error *error) {
    c->columns = calloc(n + 1, sizeof *c->columns);
    c->values = calloc(n + 1, sizeof *c->values);
    assay_id *own = malloc((n + 1) * sizeof *own);
    assay_status status = c->columns && c->values && own ? ASSAY_OK : as_fail_memory(error, NULL);
    for (size_t side = 0; side < 2 && status == ASSAY_OK; side++) {
        size_t n_own = 0;
        for (size_t k = 0; k < n; k++) {
            assay_id metric = as_comparison_metric(c, side, metrics[k]);
            c->columns[k].metric = metrics[k];
            c->columns[k].at[side] = metric == ASSAY_NONE ? SIZE_MAX : n_own;
            if (metric != ASSAY_NONE) own[n_own++] = metric;
        }
        status = as_view_load(&sources[side], own, n_own, NULL, 0, &c->data[side], error);
    }
    free(own);
    if (status != ASSAY_OK) return status;
    c->n_columns = n;
    describe_columns(c);
    return ASSAY_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

void as_number_scale(as_view_number *number, double factor) {
    if (factor == 1) return;
    number->is_whole = false;
    number->real *= factor;
}

as_change as_change_of(as_view_number base, as_view_number target, bool adds_up) {
    static const as_view_number zero = {.is_known = true, .is_whole = true};
    if (adds_up && base.is_known != target.is_known) *(base.is_known ? &target : &base) = zero;
    as_change change = {.side = {base, target}};
    change.side[AS_BASE].parts = change.side[AS_TARGET].parts = NULL;
    if (!base.is_known || !target.is_known) return change;
    change.change = (as_view_number){.is_known = true, .is_whole = base.is_whole && target.is_whole};
    if (change.change.is_whole) {
        change.change.whole = target.whole - base.whole;
        change.change.real = as_number_real(as_whole_number(change.change.whole));
    } else {
        change.change.real = target.real - base.real;
    }
    return change;
}

double as_change_relative(const as_change *change) {
    if (change->change.real == 0) return 0;
    return change->change.real / fabs(change->side[AS_BASE].real);
}

static as_view_number number_of(const as_node *node, bool exclusive) {
    as_number number = exclusive ? node->exclusive : node->inclusive;
    return (as_view_number){.is_known = !exclusive || node->has_exclusive,
                            .is_whole = node->is_whole,
                            .whole = !node->is_whole ? 0
                                     : exclusive     ? node->whole_exclusive
                                                     : node->whole_inclusive,
                            .real = as_number_real(number)};
}

as_change_value as_comparison_between(const as_comparison *c, size_t column, const assay_id contexts[2]) {
    const as_change_column *k = &c->columns[column];
    as_view_number numbers[2][2] = {0};
    if (k->adds_up && k->has_exclusive)
        numbers[AS_BASE][0] = numbers[AS_BASE][1] = (as_view_number){true, true, 0, 0, NULL};
    for (size_t side = 0; side < 2; side++) {
        assay_id own = contexts[side];
        size_t at = k->at[side];
        as_node node;
        if (own == ASSAY_NONE || at == SIZE_MAX || !as_column_node(&c->data[side].columns[at], own, &node)) continue;
        for (int exclusive = 0; exclusive < 2; exclusive++) {
            numbers[side][exclusive] = number_of(&node, exclusive);
            if (side == AS_TARGET) as_number_scale(&numbers[side][exclusive], k->factor);
        }
    }
    as_change_value value = {.inclusive = as_change_of(numbers[AS_BASE][0], numbers[AS_TARGET][0], k->adds_up)};
    if (k->has_exclusive) value.exclusive = as_change_of(numbers[AS_BASE][1], numbers[AS_TARGET][1], k->adds_up);
    return value;
}

as_change_value as_comparison_at(const as_comparison *c, size_t column, assay_id context) {
    return as_comparison_between(c, column,
                                 (assay_id[2]){c->contexts[AS_BASE][context], c->contexts[AS_TARGET][context]});
}

as_change_value as_comparison_whole(const as_comparison *c, size_t column) {
    as_view_value wholes[2] = {0};
    for (size_t side = 0; side < 2; side++) {
        size_t at = c->columns[column].at[side];
        if (at == SIZE_MAX) continue;
        wholes[side] = as_view_whole(&c->data[side], at);
        if (side == AS_TARGET) {
            as_number_scale(&wholes[side].inclusive, c->columns[column].factor);
            as_number_scale(&wholes[side].exclusive, c->columns[column].factor);
        }
        if (c->columns[column].has_exclusive) continue;
        /* of metrics that are neither inclusive nor exclusive somebody had to guess */
        wholes[side].inclusive = (as_view_number){.is_known = isfinite(c->columns[column].whole[side]),
                                                  .real = c->columns[column].whole[side]};
    }
    bool adds_up = c->columns[column].adds_up;
    as_change_value value = {.inclusive =
                                 as_change_of(wholes[AS_BASE].inclusive, wholes[AS_TARGET].inclusive, adds_up)};
    if (c->columns[column].has_exclusive)
        value.exclusive = as_change_of(wholes[AS_BASE].exclusive, wholes[AS_TARGET].exclusive, adds_up);
    return value;
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

bool as_comparison_only_in(const as_comparison *c, size_t side, as_vec *out) {
    size_t n = c->ds->strings.entries.count;
    bool *seen = calloc(n + 1, sizeof *seen), fine = seen != NULL;
    for (assay_id i = 0; fine && i < c->ds->contexts.count; i++) {
        as_str name = as_ds_context(c->ds, i)->name;
        if (name != AS_NO_STR && c->contexts[!side][i] != ASSAY_NONE) seen[name] = true;
    }
    for (assay_id i = 0; fine && i < c->ds->contexts.count; i++) {
        as_str name = as_ds_context(c->ds, i)->name;
        if (name == AS_NO_STR || seen[name] || as_ds_context(c->ds, i)->role == AS_ROLE_PLACELESS) continue;
        seen[name] = true;
        fine = as_vec_append(out, &i, 1);
    }
    free(seen);
    return fine;
}
