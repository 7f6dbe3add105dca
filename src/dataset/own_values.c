#include "dataset/own_values.h"

#include <stdlib.h>

#include "dataset/sparse.h"

assay_status as_own_values_check(const as_dataset *ds, assay_id metric, assay_error *error) {
    const as_metric *about = as_ds_metric(ds, metric);
    const char *name = as_ds_text(ds, about->name);
    as_value_type type = as_ds_metric_type(ds, metric);
    if (about->kind == AS_KIND_DERIVED)
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "derived-metric",
                       "'%s' is computed from other metrics and has no values of its own; choose one of those",
                       name ? name : "");
    if (as_dtype_is_composite(type.dtype) || as_dtype_is_extreme(type.dtype))
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-sums",
                       "the values of '%s' do not add up; choose another metric", name ? name : "");
    return ASSAY_OK;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static assay_status open_values(as_own_values *own, bool only_sums, assay_error *error) {
    const as_dataset *ds = own->ds;
    const as_profile *profile = as_ds_profile(ds, own->metric, own->run);
    bool is_done = false;
    if (profile && as_profile_is_sparse(profile) && !profile->is_loaded) {
        own->sparse = profile;
        return ASSAY_OK;
    }
    if (only_sums)
        AS_TRY(as_slice_open_sums(ds, own->metric, own->run, 0, (uint32_t)AS_COUNT(ds, contexts), NULL, &own->slice,
                                  &is_done, error));
    return is_done ? ASSAY_OK : as_slice_open_all(ds, own->metric, own->run, &own->slice, error);
}

assay_status as_own_values_open(const as_dataset *ds, assay_id metric, assay_id run, bool only_sums, as_own_values *out,
                                assay_error *error) {
    size_t n = AS_COUNT(ds, contexts) + 1;
    *out = (as_own_values){.ds = ds, .metric = metric, .run = run};
    AS_TRY(open_values(out, only_sums, error));
    const as_profile *view = out->sparse ? out->sparse : &out->slice.view;
    out->is_difference = as_ds_metric(ds, metric)->kind == AS_KIND_INCLUSIVE;
    out->is_guess = as_ds_metric(ds, metric)->kind == AS_KIND_NONE && !view->columns;
    out->is_whole = as_dtype_is_integer(view->type.dtype);
    out->is_unsigned = as_dtype_is_unsigned(view->type.dtype);
    out->has = calloc(n, sizeof *out->has);
    bool fine = out->has != NULL;
    if (out->is_whole) {
        out->whole = calloc(n, sizeof *out->whole);
        out->whole_below = calloc(n, sizeof *out->whole_below);
        fine &= out->whole && out->whole_below;
    } else {
        out->real = calloc(n, sizeof *out->real);
        out->real_below = calloc(n, sizeof *out->real_below);
        out->row = malloc(((size_t)view->n_columns + 1) * sizeof *out->row);
        fine &= out->real && out->real_below && out->row;
    }
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

void as_own_values_close(as_own_values *own) {
    free(own->has);
    free(own->whole);
    free(own->whole_below);
    free(own->real);
    free(own->real_below);
    free(own->row);
    as_slice_close(&own->slice);
}

static const as_profile *view_of(const as_own_values *own) { return own->sparse ? own->sparse : &own->slice.view; }

uint32_t as_own_values_locations(const as_own_values *own) {
    return view_of(own)->columns ? view_of(own)->n_columns : 0;
}

assay_id as_own_values_location(const as_own_values *own, uint32_t index) {
    return as_profile_location(view_of(own), index);
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static void add_whole(as_own_values *own, assay_id context, as_number number) {
    if (number.kind == AS_UINT && number.u <= AS_COUNTER_LIMIT) own->whole[context] += number.u;
    if (number.kind == AS_INT) own->whole[context] += number.i;
}

/* What a row has at one location, or at all. */
static void take_row(as_own_values *own, uint32_t index, uint32_t location) {
    const as_profile *view = &own->slice.view;
    const char *row = as_profile_row(view, index);
    uint32_t first = location == AS_ALL_LOCATIONS ? 0 : location,
             n = location == AS_ALL_LOCATIONS ? view->n_columns : 1;
    assay_id context = view->contexts[index];
    row += (size_t)first * view->type.size;
    own->has[context] = true;
    if (own->is_whole) {
        for (uint32_t i = 0; i < n; i++)
            add_whole(own, context, as_part_get(view->type, row + (size_t)i * view->type.size, 0));
        return;
    }
    as_values_widen(view->type, row, n, 0, own->row);
    own->real[context] = as_reals_sum(own->row, n);
}

static assay_status take_sparse(as_own_values *own, uint32_t location, assay_error *error) {
    const as_profile *profile = own->sparse;
    const as_profile_source *source = profile->source;
    size_t n = AS_COUNT(own->ds, contexts);
    as_sparse_line line = {0};
    assay_status status = ASSAY_OK;
    if (location != AS_ALL_LOCATIONS) {
        status = source->read_column(source, profile, location, &line, error);
        for (uint32_t i = 0; status == ASSAY_OK && i < line.n; i++) {
            own->has[line.at[i]] = true;
            own->real[line.at[i]] = line.values[i];
        }
    }
    for (assay_id id = 0; location == AS_ALL_LOCATIONS && status == ASSAY_OK && id < n; id++) {
        status = source->read_row(source, profile, id, &line, error);
        own->has[id] = status == ASSAY_OK && line.n;
        if (own->has[id]) own->real[id] = as_reals_sum(line.values, line.n);
    }
    as_sparse_line_free(&line);
    return status;
}

/* The sums of what children have, and whether there are any. */
static bool add_children(as_own_values *own) {
    bool has_inner = false;
    for (assay_id id = (assay_id)AS_COUNT(own->ds, contexts); id-- > 0;) { /* in the order of everybody's sums */
        const as_context *context = as_ds_context(own->ds, id);
        if (context->parent == ASSAY_NONE || context->is_aside) continue;
        has_inner |= own->has[id] && own->has[context->parent];
        if (own->is_whole)
            own->whole_below[context->parent] += own->whole[id];
        else
            own->real_below[context->parent] += own->real[id];
    }
    return has_inner;
}

static bool looks_inclusive(const as_own_values *own) {
    for (assay_id id = 0; id < AS_COUNT(own->ds, contexts); id++) {
        double below = own->is_whole ? (double)own->whole_below[id] : own->real_below[id];
        double value = own->is_whole ? (double)own->whole[id] : own->real[id];
        bool is_root = as_ds_context(own->ds, id)->parent == ASSAY_NONE;
        if (below != 0 && !as_looks_inclusive(value, below, is_root)) return false;
    }
    return true;
}

/* Takes off what the children have. Sums were rounded apart from those of their parts: what that leaves is nothing. */
static void subtract_children(as_own_values *own) {
    size_t n = AS_COUNT(own->ds, contexts);
    if (!own->is_difference && !own->is_guess) return;
    bool has_inner = add_children(own);
    if (own->is_guess && !(has_inner && looks_inclusive(own))) return;
    for (assay_id id = 0; id < n; id++) {
        if (own->is_whole) {
            own->whole[id] -= own->whole_below[id];
            if ((own->is_unsigned || own->is_guess) && own->whole[id] < 0) own->whole[id] = 0;
            continue;
        }
        double left = own->real[id] - own->real_below[id];
        own->real[id] = fabs(left) <= 1e-12 * fabs(own->real[id]) || (own->is_guess && left < 0) ? 0 : left;
    }
}

assay_status as_own_values_load(as_own_values *own, uint32_t location, assay_error *error) {
    size_t n = AS_COUNT(own->ds, contexts);
    memset(own->has, 0, n * sizeof *own->has);
    if (own->is_whole) {
        memset(own->whole, 0, n * sizeof *own->whole);
        memset(own->whole_below, 0, n * sizeof *own->whole_below);
    } else {
        memset(own->real, 0, n * sizeof *own->real);
        memset(own->real_below, 0, n * sizeof *own->real_below);
    }
    if (own->sparse)
        AS_TRY(take_sparse(own, location, error));
    else
        for (uint32_t i = 0; i < own->slice.view.n_rows; i++) take_row(own, i, location);
    subtract_children(own);
    return ASSAY_OK;
}

as_number as_own_number(const as_own_values *own, assay_id context) {
    return own->is_whole ? as_whole_number(own->whole[context]) : (as_number){.kind = AS_REAL, .r = own->real[context]};
}
