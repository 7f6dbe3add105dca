/* The own values of contexts, from whatever a dataset keeps: profiles, blocks or statistics. */
#include <math.h>
#include <stdlib.h>

#include "dataset/own_values.h"
#include "dataset/pieces.h"
#include "formats/perun/write_foreign.h"

as_foreign_metric as_foreign_metric_of(const as_dataset *ds, assay_id metric) {
    const as_metric *about = as_ds_metric(ds, metric);
    if (about->part_of != ASSAY_NONE) return AS_FOREIGN_SIDE;
    if (about->kind == AS_KIND_DERIVED) return AS_FOREIGN_DERIVED;
    as_value_type type = as_ds_metric_type(ds, metric);
    return as_dtype_is_composite(type.dtype) || as_dtype_is_extreme(type.dtype) ? AS_FOREIGN_NO_NUMBER
                                                                                : AS_FOREIGN_FINE;
}

bool as_foreign_has_place(const as_dataset *ds, assay_id context) {
    const as_context *about = as_ds_context(ds, context);
    return about->name != AS_NO_STR && about->role != AS_ROLE_PLACELESS;
}

assay_id *as_foreign_calls(const as_dataset *ds) {
    size_t n = ds->contexts.count;
    assay_id *calls = malloc((n + 1) * sizeof *calls);
    for (assay_id i = 0; calls && i < n; i++) { /* parents come before children */
        assay_id parent = as_ds_context(ds, i)->parent;
        bool is_below = parent != ASSAY_NONE && !as_context_is_root(ds, parent);
        calls[i] = is_below && as_is_piece(ds, i) ? calls[parent] : i;
    }
    return calls;
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

/* Gives calls what their pieces have of their own. */
static void fold_pieces(as_own_values *own, const assay_id *calls) {
    for (assay_id i = 0; i < own->ds->contexts.count; i++) {
        assay_id call = calls[i];
        if (!own->has[i] || call == i) continue;
        own->has[i] = false;
        if (own->is_whole)
            own->whole[call] += own->whole[i];
        else
            own->real[call] += own->real[i];
        own->has[call] = true;
    }
}

static assay_status add_profile(const as_dataset *ds, const assay_id *calls, assay_id metric, assay_id run, as_vec *out,
                                assay_error *error) {
    as_own_values own;
    assay_status status = as_own_values_open(ds, metric, run, true, &own, error);
    if (status == ASSAY_OK) status = as_own_values_load(&own, AS_ALL_LOCATIONS, error);
    if (status == ASSAY_OK) fold_pieces(&own, calls);
    for (assay_id i = 0; status == ASSAY_OK && i < ds->contexts.count; i++) {
        as_foreign_value value = {i, as_ds_run(ds, run)->point, as_own_number(&own, i)};
        if (own.has[i] && !as_vec_append(out, &value, 1)) status = as_fail_memory(error, NULL);
    }
    as_own_values_close(&own);
    return status;
}

/* Brings the contexts of several runs together; values of a context stay in the order of runs. */
static bool group_contexts(as_vec *values, size_t n_contexts) {
    size_t n = values->count;
    as_foreign_value *sorted = malloc((n + 1) * sizeof *sorted);
    size_t *starts = calloc(n_contexts + 2, sizeof *starts);
    if (sorted && starts) {
        const as_foreign_value *from = values->data;
        for (size_t i = 0; i < n; i++) starts[from[i].context + 1]++;
        for (size_t i = 1; i <= n_contexts; i++) starts[i] += starts[i - 1];
        for (size_t i = 0; i < n; i++) sorted[starts[from[i].context]++] = from[i];
        memcpy(values->data, sorted, n * sizeof *sorted);
    }
    free(sorted);
    free(starts);
    return sorted && starts;
}

/* ---- blocks and statistics --------------------------------------------------------------------------------------- */

static as_number add_numbers(as_number a, as_number b) {
    if (a.kind == AS_INT && b.kind == AS_INT) return as_whole_number((as_whole)a.i + b.i);
    if (a.kind != AS_REAL && b.kind != AS_REAL)
        return as_whole_number((a.kind == AS_INT ? (as_whole)a.i : (as_whole)a.u) +
                               (b.kind == AS_INT ? (as_whole)b.i : (as_whole)b.u));
    return (as_number){.kind = AS_REAL, .r = as_number_real(a) + as_number_real(b)};
}

static bool add_block(const as_dataset *ds, const as_block *block, as_vec *out) {
    for (uint32_t i = 0; i < block->n_contexts; i++) {
        assay_id last = ASSAY_NONE;
        for (uint64_t row = block->starts[i]; row < block->starts[i + 1]; row++) {
            assay_id run = as_block_run(block, row);
            as_number number = as_block_value(block, row);
            if (row > block->starts[i] && run == last) { /* another location of the same run */
                as_foreign_value *value = &AS_AT(as_foreign_value, out, out->count - 1);
                value->number = add_numbers(value->number, number);
                continue;
            }
            last = run;
            as_foreign_value value = {block->contexts[i], run == ASSAY_NONE ? ASSAY_NONE : as_ds_run(ds, run)->point,
                                      number};
            if (!as_vec_append(out, &value, 1)) return false;
        }
    }
    return true;
}

/* Series that have statistics, but no values. */
static bool add_statistics(const as_dataset *ds, assay_id metric, const as_block *block, as_vec *out, bool *added) {
    for (size_t i = 0; i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        if (series->metric != metric || !series->n_measurements) continue;
        if (block && as_block_find(block, series->context) != UINT32_MAX) continue;
        for (uint32_t k = 0; k < series->n_measurements; k++) {
            const as_measurement *m = as_ds_measurement(ds, series->first_measurement + k);
            double mean = isnan(m->mean) ? m->median : m->mean;
            if (isnan(mean)) continue;
            as_foreign_value value = {series->context, m->point, {.kind = AS_REAL, .r = mean}};
            if (!as_vec_append(out, &value, 1)) return false;
            *added = true;
        }
    }
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

assay_status as_foreign_values(const as_dataset *ds, const assay_id *calls, assay_id metric, as_vec *out,
                               assay_error *error) {
    out->count = 0;
    const as_block *block = as_ds_metric_block(ds, metric);
    size_t n_runs = 0;
    bool fine = true, is_mixed = false;
    if (block) fine = add_block(ds, block, out);
    for (assay_id run = 0; fine && !block && run < ds->runs.count; run++) {
        size_t before = out->count;
        AS_TRY(add_profile(ds, calls, metric, run, out, error));
        n_runs += out->count != before;
    }
    if (fine) fine = add_statistics(ds, metric, block, out, &is_mixed);
    if (fine && (n_runs > 1 || is_mixed)) fine = group_contexts(out, ds->contexts.count);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}
