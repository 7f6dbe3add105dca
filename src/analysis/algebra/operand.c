/* One operand: opened, converted, aligned with others. */
#include "analysis/algebra/operand.h"

#include <stdlib.h>

#include "analysis/algebra/convert.h"
#include "analysis/rows.h"
#include "dataset/metric_names.h"

/* ---- the other kind ---------------------------------------------------------------------------------------------- */

/* Rows of the other kind as they come, the last context first. */
struct rows_made {
    as_operand *operand;
    bool inclusive; /* wanted */
    uint32_t part, n_parts;
    size_t next;    /* row, of parts behind the first */
    as_dtype dtype; /* of integers: UINT64, INT64 or DOUBLE */
};

static bool take_row(void *user, const as_context_row *row) {
    struct rows_made *made = user;
    as_operand *operand = made->operand;
    size_t width = (size_t)row->n * made->n_parts, at = made->next++;
    if (made->part == 0) {
        if (!as_vec_append(&operand->contexts, &row->context, 1) || !as_vec_reserve(&operand->values, width))
            return false;
        operand->values.count += width;
    }
    uint64_t *to = &AS_AT(uint64_t, &operand->values, at * width + made->part);
    const __int128 *wholes = made->inclusive ? row->inclusive : row->exclusive;
    const double *reals = made->inclusive ? row->inclusive_real : row->exclusive_real;
    for (uint32_t i = 0; i < row->n; i++, to += made->n_parts) {
        if (wholes && made->dtype != AS_DTYPE_DOUBLE) {
            operand->n_limited += as_integer_put(made->dtype, wholes[i], to);
        } else {
            double real = wholes ? (double)wholes[i] : reals[i];
            memcpy(to, &real, sizeof *to);
        }
    }
    return true;
}

/* Turns what came last first around. */
static bool number_rows(as_operand *operand) {
    size_t n = operand->contexts.count;
    assay_id *contexts = operand->contexts.data;
    if (!as_vec_reserve(&operand->rows, n)) return false;
    for (size_t i = 0; i < n / 2; i++) {
        assay_id swapped = contexts[i];
        contexts[i] = contexts[n - 1 - i];
        contexts[n - 1 - i] = swapped;
    }
    for (size_t i = 0; i < n; i++) AS_AT(uint32_t, &operand->rows, i) = (uint32_t)(n - 1 - i);
    operand->rows.count = n;
    operand->view.contexts = contexts;
    operand->view.rows = operand->rows.data;
    operand->view.values = operand->values.data;
    operand->view.n_rows = (uint32_t)n;
    operand->view.below_zero = false;
    return true;
}

static bool make_other_kind(const as_dataset *part, as_operand *operand, as_metric_kind kind, as_dtype wanted) {
    as_value_type type = operand->view.type;
    if (wanted != AS_DTYPE_DOUBLE) wanted = as_dtype_is_unsigned(type.dtype) ? AS_DTYPE_UINT64 : AS_DTYPE_INT64;
    struct rows_made made = {
        .operand = operand, .inclusive = kind == AS_KIND_INCLUSIVE, .n_parts = type.n_parts, .dtype = wanted};
    for (made.part = 0; made.part < type.n_parts; made.part++) {
        made.next = 0;
        if (!as_rows_each(part, &operand->slice, made.part, take_row, &made)) return false;
    }
    if (as_dtype_is_integer(type.dtype)) operand->view.type = as_value_type_of(wanted, 0);
    return number_rows(operand);
}

/* Composite types all of whose parts are doubles are reckoned with like so many doubles; others, and minima and maxima,
 * stay as they are stored. */
static bool has_other_kind(as_metric_kind own, as_metric_kind wanted, as_dtype dtype) {
    bool both = (own == AS_KIND_INCLUSIVE && wanted == AS_KIND_EXCLUSIVE) ||
                (own == AS_KIND_EXCLUSIVE && wanted == AS_KIND_INCLUSIVE);
    return both && !as_dtype_is_extreme(dtype) && dtype != AS_DTYPE_TAU_ATOMIC && dtype != AS_DTYPE_OPAQUE;
}

/* A metric without any values is 0 at all places that the profile has. */
static bool list_places(const as_dataset *part, as_operand *operand) {
    for (assay_id id = 0; id < part->locations.count; id++) {
        if (as_ds_location(part, id)->leaf && !as_vec_append(&operand->rows, &id, 1)) return false;
    }
    if (!operand->rows.count) return true;
    operand->view.columns = operand->rows.data;
    operand->view.n_columns = (uint32_t)operand->rows.count;
    return true;
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

/* The means of a point as rows without places. */
static bool take_means(const as_dataset *part, assay_id metric, assay_id point, as_operand *operand) {
    as_profile *view = &operand->view;
    *view = (as_profile){.metric = metric, .type = as_value_type_of(AS_DTYPE_DOUBLE, 0), .n_columns = 1};
    double *means = malloc((part->contexts.count + 1) * sizeof *means);
    bool fine = means != NULL;
    for (size_t i = 0; fine && i < part->contexts.count; i++) means[i] = NAN;
    for (size_t i = 0; fine && i < part->series.count; i++) {
        const as_series *series = as_ds_series(part, i);
        if (series->metric == metric) fine = as_measure_mean(part, series, point, &means[series->context]);
    }
    for (assay_id i = 0; fine && i < part->contexts.count; i++)
        if (!isnan(means[i]))
            fine = as_vec_append(&operand->contexts, &i, 1) && as_vec_append(&operand->values, &means[i], 1);
    free(means);
    view->n_rows = (uint32_t)operand->contexts.count;
    view->contexts = operand->contexts.data;
    view->values = operand->values.data;
    return fine;
}

double as_union_factor(const as_union *u, size_t part, assay_id own) {
    const as_dataset *const sides[2] = {u->ds, u->parts[part]};
    double factor;
    assay_error ignored;
    if (as_metric_factor(sides, (const assay_id[2]){u->maps[part].metrics[own], own}, &factor, &ignored) != ASSAY_OK)
        return 0;
    return factor != 1 && as_dtype_is_composite(as_ds_metric_type(u->parts[part], own).dtype) ? 0 : factor;
}

assay_status as_operand_open(const as_union *u, const as_part_run *run, assay_id metric, as_metric_kind kind,
                             as_dtype wanted, as_operand *out, assay_error *error) {
    const as_dataset *part = u->parts[run->part];
    as_budget *budget = &u->ds->budget;
    *out = (as_operand){.part = run->part, .factor = as_union_factor(u, run->part, metric)};
    out->is_sparse = run->own_point != ASSAY_NONE && (run->run == ASSAY_NONE || !as_ds_profile(part, metric, run->run));
    as_vec_init(&out->contexts, sizeof(assay_id), budget);
    as_vec_init(&out->rows, sizeof(uint32_t), budget);
    as_vec_init(&out->values, 8, budget);
    if (run->run == ASSAY_NONE)
        return take_means(part, metric, run->own_point, out) ? ASSAY_OK : as_fail_memory(error, NULL);
    AS_TRY(as_slice_open_all(part, metric, run->run, &out->slice, error));
    out->view = out->slice.view;
    bool is_empty = !out->view.n_rows && !out->view.columns && run->own_point == ASSAY_NONE;
    if (is_empty && !list_places(part, out)) return as_fail_memory(error, NULL);
    if (is_empty || !has_other_kind(as_ds_metric(part, metric)->kind, kind, out->view.type.dtype)) return ASSAY_OK;
    return make_other_kind(part, out, kind, wanted) ? ASSAY_OK : as_fail_memory(error, NULL);
}

void as_operand_close(as_operand *operand) {
    as_slice_close(&operand->slice);
    as_vec_free(&operand->contexts);
    as_vec_free(&operand->rows);
    as_vec_free(&operand->values);
    free(operand->rows_at);
    free(operand->columns_at);
    operand->rows_at = operand->columns_at = NULL;
}

/* ---- another type, fewer columns --------------------------------------------------------------------------------- */

/* The values of a view are replaced by those in `made`, row after row. */
static void replace_values(as_operand *operand, as_vec *made) {
    as_vec_free(&operand->values);
    operand->values = *made;
    operand->view.values = operand->values.data;
    operand->view.rows = NULL;
    operand->view.below_zero = false;
}

bool as_operand_convert(as_operand *operand, as_value_type type) {
    as_profile *view = &operand->view;
    bool is_same = view->type.dtype == type.dtype && !view->below_zero && operand->factor == 1;
    if (as_dtype_is_composite(view->type.dtype) || is_same) return true;
    as_vec made;
    size_t row_size = (size_t)view->n_columns * type.size, size;
    as_vec_init(&made, 1, operand->values.budget);
    if (!as_mul_size(view->n_rows, row_size, &size) || !as_vec_reserve(&made, size)) return false;
    for (uint32_t i = 0; i < view->n_rows; i++, made.count += row_size)
        operand->n_limited += as_values_convert(view->type.dtype, as_profile_row(view, i), view->n_columns,
                                                view->below_zero, type.dtype, &AS_AT(char, &made, made.count));
    for (size_t i = 0; operand->factor != 1 && i < size / sizeof(double); i++)
        ((double *)made.data)[i] *= operand->factor;
    operand->factor = 1;
    replace_values(operand, &made);
    view->type = type;
    return true;
}

static double sum_reals(const as_profile *view, const char *row, uint32_t part) {
    as_part_rule rule = as_part_rule_of(view->type.dtype, part);
    double sum = view->n_columns ? as_part_real(view->type, row, part) : 0;
    for (uint32_t i = 1; i < view->n_columns; i++)
        sum = as_part_combine(rule, sum, as_part_real(view->type, row + (size_t)i * view->type.size, part));
    return sum;
}

static __int128 sum_integers(const as_profile *view, const char *row) {
    __int128 sum = 0;
    for (uint32_t i = 0; i < view->n_columns; i++) {
        as_number number = as_part_get(view->type, row + (size_t)i * view->type.size, 0);
        bool below = view->below_zero && number.kind == AS_UINT && number.u > AS_COUNTER_LIMIT;
        sum += number.kind == AS_INT ? (__int128)number.i : below ? 0 : (__int128)number.u;
    }
    return sum;
}

bool as_operand_sum_places(as_operand *operand) {
    as_profile *view = &operand->view;
    if (!view->columns || view->type.dtype == AS_DTYPE_TAU_ATOMIC || view->type.dtype == AS_DTYPE_OPAQUE) return true;
    as_dtype wide = as_dtype_is_unsigned(view->type.dtype) ? AS_DTYPE_UINT64 : AS_DTYPE_INT64;
    bool whole = as_dtype_is_integer(view->type.dtype);
    uint32_t n_parts = view->type.n_parts;
    as_vec made;
    as_vec_init(&made, 8, operand->values.budget);
    if (!as_vec_reserve(&made, (size_t)view->n_rows * n_parts)) return false;
    for (uint32_t i = 0; i < view->n_rows; i++) {
        const char *row = as_profile_row(view, i);
        for (uint32_t part = 0; part < n_parts; part++) {
            void *to = &AS_AT(uint64_t, &made, made.count++);
            if (whole)
                operand->n_limited += as_integer_put(wide, sum_integers(view, row), to);
            else
                memcpy(to, &(double){sum_reals(view, row, part)}, sizeof(double));
        }
    }
    replace_values(operand, &made);
    if (whole) view->type = as_value_type_of(wide, 0);
    view->columns = NULL;
    view->n_columns = 1;
    return true;
}
