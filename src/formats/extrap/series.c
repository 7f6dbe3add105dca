#include "formats/extrap/series.h"

#include <stdlib.h>

/* ---- walking ----------------------------------------------------------------------------------------------------- */

static assay_id point_of_row(const as_series_walk *walk, uint64_t row) {
    assay_id run = as_block_run(walk->block, row);
    return run == ASSAY_NONE ? ASSAY_NONE : as_ds_run(walk->ds, run)->point;
}

typedef struct row_key {
    assay_id point;
    uint64_t row;
} row_key;

static int compare_rows(const void *a, const void *b) {
    const row_key *x = a, *y = b;
    if (x->point != y->point) return x->point < y->point ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Runs of a merged dataset need not be numbered by point: then the rows are sorted. */
static bool sort_rows(as_series_walk *walk) {
    size_t n = (size_t)(walk->end - walk->next);
    row_key *keys = calloc(n, sizeof *keys);
    bool fine = keys && as_vec_reserve(&walk->order, n);
    if (fine) {
        for (size_t i = 0; i < n; i++) keys[i] = (row_key){point_of_row(walk, walk->next + i), walk->next + i};
        qsort(keys, n, sizeof *keys, compare_rows);
        for (size_t i = 0; i < n; i++) as_vec_append(&walk->order, &keys[i].row, 1); /* room was reserved */
    }
    free(keys);
    return fine;
}

bool as_walk_begin(as_series_walk *walk, const as_dataset *ds, const as_series *series) {
    *walk = (as_series_walk){.ds = ds, .block = as_ds_metric_block(ds, series->metric)};
    as_vec_init(&walk->order, sizeof(uint64_t), NULL);
    uint32_t index = walk->block ? as_block_find(walk->block, series->context) : UINT32_MAX;
    if (index == UINT32_MAX) return true;
    walk->next = walk->base = walk->block->starts[index];
    walk->end = walk->block->starts[index + 1];
    assay_id last = 0;
    for (uint64_t row = walk->next; row < walk->end; row++) {
        assay_id point = point_of_row(walk, row);
        if (point < last) return sort_rows(walk);
        last = point;
    }
    return true;
}

void as_walk_end(as_series_walk *walk) { as_vec_free(&walk->order); }

bool as_walk_next(as_series_walk *walk) {
    if (walk->next >= walk->end) return false;
    walk->first = walk->next;
    walk->point = point_of_row(walk, as_walk_row(walk, walk->next));
    if (walk->point == ASSAY_NONE) return false; /* these sort last */
    while (walk->next < walk->end && point_of_row(walk, as_walk_row(walk, walk->next)) == walk->point) walk->next++;
    walk->n = walk->next - walk->first;
    return true;
}

uint64_t as_walk_repetition(const as_series_walk *walk, uint64_t index) {
    assay_id run = as_block_run(walk->block, as_walk_row(walk, index));
    uint64_t end = walk->first + walk->n, next = index + 1;
    while (next < end && as_block_run(walk->block, as_walk_row(walk, next)) == run) next++;
    return next - index;
}

/* ---- what there is ----------------------------------------------------------------------------------------------- */

assay_status as_require_experiment(const as_writer *writer, const char *format) {
    const as_dataset *ds = writer->dataset;
    if (as_ds_parameters(ds) && ds->n_points && as_ds_values(ds)) return ASSAY_OK;
    const char *lacking = !as_ds_parameters(ds) ? "parameters" : !ds->n_points ? "points" : "values (only statistics)";
    return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "cannot-hold",
                   "the data has no %s, and %s needs them; choose another format with --to", lacking, format);
}

/* False when memory is out. */
static bool find_measured(const as_dataset *ds, as_measured *out) {
    out->contexts = calloc(ds->contexts.count + 1, 1);
    out->points = calloc(ds->n_points + 1, 1);
    out->metrics = calloc(ds->metrics.count + 1, 1);
    if (!out->contexts || !out->points || !out->metrics) {
        as_measured_free(out);
        return false;
    }
    for (size_t i = 0; i < ds->blocks.count; i++) {
        const as_block *block = as_ds_block(ds, i);
        uint64_t rows = as_block_rows(block), different = block->period ? block->period : rows;
        if (rows) out->metrics[block->metric] = true;
        for (uint32_t k = 0; k < block->n_contexts; k++) out->contexts[block->contexts[k]] = true;
        for (uint64_t row = 0; row < different; row++) {
            assay_id run = as_block_run(block, row), point = run == ASSAY_NONE ? ASSAY_NONE : as_ds_run(ds, run)->point;
            if (point != ASSAY_NONE) out->points[point] = true;
        }
    }
    return true;
}

void as_measured_free(as_measured *measured) {
    free(measured->contexts);
    free(measured->points);
    free(measured->metrics);
    *measured = (as_measured){0};
}

bool as_count_unmeasured(const as_dataset *ds, as_unmeasured *count) {
    as_measured measured;
    *count = (as_unmeasured){0};
    if (!find_measured(ds, &measured)) return false;
    for (size_t i = 0; i < ds->contexts.count; i++)
        count->callpaths += as_ds_context(ds, (assay_id)i)->is_callpath && !measured.contexts[i];
    for (size_t i = 0; i < ds->n_points; i++) count->points += !measured.points[i];
    for (size_t i = 0; i < ds->metrics.count; i++) count->metrics += !measured.metrics[i];
    as_measured_free(&measured);
    return true;
}
