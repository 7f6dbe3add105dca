/* Sparse profiles over arrays of cells, and stored pairs of metrics. Include it behind cmocka.h. */
#ifndef AS_TESTS_SPARSE_FILES_H
#define AS_TESTS_SPARSE_FILES_H

#include <stdlib.h>

#include "dataset/build.h"
#include "dataset/sparse.h"

typedef struct sparse_cell {
    assay_id context;
    uint32_t column;
    double value;
} sparse_cell;

/* Cells in any order. Where column_cells is set, columns come from there: files may disagree. */
typedef struct sparse_cells {
    as_profile_source base;
    const sparse_cell *cells, *column_cells;
    size_t n, n_column_cells;
    uint64_t n_rows_read, n_columns_read;
    assay_id broken_context; /* reading it fails; ASSAY_NONE: none does */
} sparse_cells;

static inline assay_status sparse_read_row(const as_profile_source *source, const as_profile *profile, assay_id context,
                                           as_sparse_line *out, assay_error *error) {
    sparse_cells *s = (sparse_cells *)(uintptr_t)source;
    __atomic_add_fetch(&s->n_rows_read, 1, __ATOMIC_RELAXED);
    if (context == s->broken_context)
        return as_fail(error, ASSAY_E_FORMAT, as_place_file("cct.db"), "sparse", "a row is broken");
    if (!as_sparse_line_reserve(out, profile->n_columns)) return as_fail_memory(error, NULL);
    for (uint32_t column = 0; column < profile->n_columns; column++) {
        for (size_t i = 0; i < s->n; i++) {
            if (s->cells[i].context != context || s->cells[i].column != column) continue;
            out->at[out->n] = column;
            out->values[out->n++] = s->cells[i].value;
        }
    }
    return ASSAY_OK;
}

static inline assay_status sparse_read_column(const as_profile_source *source, const as_profile *profile,
                                              uint32_t column, as_sparse_line *out, assay_error *error) {
    sparse_cells *s = (sparse_cells *)(uintptr_t)source;
    const sparse_cell *cells = s->column_cells ? s->column_cells : s->cells;
    size_t n = s->column_cells ? s->n_column_cells : s->n;
    (void)profile;
    __atomic_add_fetch(&s->n_columns_read, 1, __ATOMIC_RELAXED);
    if (!as_sparse_line_reserve(out, (uint32_t)n)) return as_fail_memory(error, NULL);
    for (size_t i = 0; i < n; i++) {
        if (cells[i].column != column) continue;
        out->at[out->n] = cells[i].context;
        out->values[out->n++] = cells[i].value;
    }
    return ASSAY_OK;
}

static inline sparse_cells sparse_of(const sparse_cell *cells, size_t n) {
    return (sparse_cells){
        .base = {.load = as_sparse_load, .read_row = sparse_read_row, .read_column = sparse_read_column},
        .cells = cells,
        .n = n,
        .broken_context = ASSAY_NONE};
}

/* A profile of run 0 with a column for each of the dataset's locations; all have the same array of them. */
static inline void add_sparse(as_dataset *ds, assay_id metric, sparse_cells *cells) {
    uint32_t n = (uint32_t)AS_COUNT(ds, locations);
    const assay_id *columns = NULL;
    for (size_t i = 0; i < ds->profiles.count; i++) columns = AS_AT(as_profile, &ds->profiles, i).columns;
    if (!columns) {
        assay_id *made = as_arena_array(&ds->arena, n + 1, sizeof *made);
        for (uint32_t i = 0; i < n; i++) made[i] = i;
        columns = made;
    }
    as_profile profile = {.metric = metric, .n_columns = n, .columns = columns, .source = &cells->base};
    profile.type = as_value_type_of(AS_DTYPE_DOUBLE, 0);
    assert_true(as_add_profile(ds, &profile));
    ds->n_sparse_values += cells->n;
}

/* The same values, in rows with all columns. */
static inline void add_dense(as_dataset *ds, assay_id metric, const sparse_cell *cells, size_t n_cells) {
    uint32_t n = (uint32_t)AS_COUNT(ds, locations), n_rows = 0, n_contexts = (uint32_t)AS_COUNT(ds, contexts);
    assay_id *columns = as_arena_array(&ds->arena, n + 1, sizeof *columns);
    assay_id *contexts = as_arena_array(&ds->arena, n_contexts + 1, sizeof *contexts);
    double *values = as_arena_array(&ds->arena, (size_t)n * n_contexts + 1, sizeof *values);
    for (uint32_t i = 0; i < n; i++) columns[i] = i;
    for (assay_id context = 0; context < n_contexts; context++) {
        bool has = false;
        for (size_t i = 0; i < n_cells; i++) {
            if (cells[i].context != context) continue;
            values[(size_t)n_rows * n + cells[i].column] = cells[i].value;
            has = true;
        }
        if (has) contexts[n_rows++] = context;
    }
    as_profile profile = {.metric = metric, .n_columns = n, .n_rows = n_rows, .columns = columns, .contexts = contexts};
    profile.type = as_value_type_of(AS_DTYPE_DOUBLE, 0);
    profile.values = (const char *)values;
    assert_true(as_add_profile(ds, &profile));
}

/* n threads. */
static inline void add_threads(as_dataset *ds, uint32_t n) {
    as_location location = AS_LOCATION_INIT;
    location.kind = as_ds_intern_text(ds, "thread");
    location.leaf = true;
    for (uint32_t i = 0; i < n; i++) as_add_location(ds, &location);
}

static inline assay_id add_stored(as_dataset *ds, const char *name, as_metric_kind kind) {
    as_metric metric = AS_METRIC_INIT;
    metric.name = as_ds_intern_text(ds, name);
    metric.kind = kind;
    metric.is_stored = true;
    return as_add_metric(ds, &metric);
}

static inline void make_pair(as_dataset *ds, assay_id inclusive, assay_id exclusive) {
    AS_AT(as_metric, &ds->metrics, inclusive).exclusive = exclusive;
    AS_AT(as_metric, &ds->metrics, exclusive).part_of = inclusive;
}

/* Contexts in pre-order: parents[i] is that of i, ASSAY_NONE: a root. */
static inline void add_tree(as_dataset *ds, const assay_id *parents, const char *const *names, size_t n) {
    as_tree tree;
    const assay_id *ids;
    as_tree_init(&tree, ds);
    for (size_t i = 0; i < n; i++) {
        as_region region = AS_REGION_INIT;
        as_context context = AS_CONTEXT_INIT;
        region.name = context.name = as_ds_intern_text(ds, names[i]);
        context.parent = parents[i];
        context.region = as_add_region(ds, &region);
        assert_int_equal(as_tree_add(&tree, &context), i);
    }
    assert_true(as_tree_finish(&tree, &ids));
    for (size_t i = 0; i < n; i++) assert_int_equal(ids[i], i);
    as_tree_free(&tree);
}

#endif
