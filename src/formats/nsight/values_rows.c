/* Cells become rows of blocks, a block for each metric. */
#include <stdlib.h>

#include "formats/nsight/values.h"

/* ---- what stands below ------------------------------------------------------------------------------------------- */

static bool put_below(as_ns_values *v, const as_ns_cell *cell, as_ns_node node, const char *name, int64_t time,
                      double overlap) {
    assay_id context = as_ns_child_text(&v->builder, cell->context, node, name);
    as_ns_cell *target = context == ASSAY_NONE ? NULL : as_ns_cell_at(v, context, cell->location);
    if (!target) return false;
    target->has |= AS_NS_HAS_TIME;
    target->time = time;
    target->overlap = -overlap;
    return true;
}

static bool add_below(as_ns_values *v) {
    bool fine = true;
    for (size_t i = 0, n = v->cells.count; fine && i < n; i++) {
        const as_ns_cell cell = AS_AT(as_ns_cell, &v->cells, i);
        if (cell.overlap > 0) fine = put_below(v, &cell, AS_NS_NODE_OVERLAP, "OVERLAP", 0, cell.overlap);
        if (fine && cell.has & AS_NS_HAS_WAIT) fine = put_below(v, &cell, AS_NS_NODE_WAIT, "WAIT", cell.wait, 0);
    }
    return fine;
}

/* A region all of whose time is inside others has none; what has anything is a call path. */
static void settle(as_ns_values *v) {
    as_ns_cell *cells = v->cells.data;
    for (size_t i = 0; i < v->cells.count; i++) {
        bool is_region = as_ns_node_of(&v->builder, cells[i].context) == AS_NS_NODE_REGION;
        if (is_region && cells[i].time == cells[i].inside) cells[i].has &= (uint8_t)~AS_NS_HAS_TIME;
        as_tree_mark_callpath(&v->x->tree, cells[i].context);
    }
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

typedef struct measure {
    const char *name, *plain_name; /* with call paths, and of plain exports; NULL: the same */
    const char *display_name, *unit, *description;
    bool (*has)(const as_ns_cell *cell);
    double (*real)(const as_ns_cell *cell); /* NULL: they are integers */
    uint64_t (*whole)(const as_ns_cell *cell);
} measure;

static bool has_time(const as_ns_cell *cell) { return cell->has & AS_NS_HAS_TIME; }
static bool has_gpu_time(const as_ns_cell *cell) { return cell->has & AS_NS_HAS_GPU_TIME; }
static bool has_visits(const as_ns_cell *cell) { return cell->visits > 0; }
static bool has_bytes(const as_ns_cell *cell) { return cell->has & AS_NS_HAS_BYTES; }
static bool has_samples(const as_ns_cell *cell) { return cell->samples > 0; }
static double time_of(const as_ns_cell *cell) { return ((double)(cell->time - cell->inside) - cell->overlap) / 1e9; }
static double gpu_time_of(const as_ns_cell *cell) { return (double)cell->gpu_time / 1e9; }
static uint64_t visits_of(const as_ns_cell *cell) { return cell->visits; }
static uint64_t bytes_of(const as_ns_cell *cell) { return cell->bytes; }
static uint64_t samples_of(const as_ns_cell *cell) { return cell->samples; }

static const measure MEASURES[] = {
    {.name = "time",
     .display_name = "Time",
     .unit = "s",
     .description = "time in a region or call itself; of what runs on a GPU, the share that does not overlap",
     .has = has_time,
     .real = time_of},
    {.name = "gpu_time",
     .display_name = "GPU time",
     .unit = "s",
     .description = "time on a GPU, whatever else runs there",
     .has = has_gpu_time,
     .real = gpu_time_of},
    {.name = "visits",
     .display_name = "Visits",
     .description = "how often: ranges, calls, kernels, copies",
     .has = has_visits,
     .whole = visits_of},
    {.name = "bytes_transferred",
     .plain_name = "bytes",
     .display_name = "Bytes",
     .unit = "B",
     .description = "bytes that copies and memsets wrote",
     .has = has_bytes,
     .whole = bytes_of},
    {.name = "samples",
     .display_name = "Samples",
     .description = "samples of what CPUs did",
     .has = has_samples,
     .whole = samples_of},
};

static assay_id add_metric(as_ns_export *x, const measure *m) {
    as_dataset *ds = x->ds;
    bool is_plain = x->mode == AS_NS_PLAIN;
    as_metric metric = AS_METRIC_INIT;
    metric.name = as_ds_intern_text(ds, is_plain && m->plain_name ? m->plain_name : m->name);
    metric.display_name = as_ds_intern_text(ds, m->display_name);
    metric.unit = m->unit ? as_ds_intern_text(ds, m->unit) : AS_NO_STR;
    metric.description = as_ds_intern_text(
        ds, is_plain && m->real == time_of ? "time on the host in a range or call itself" : m->description);
    metric.dtype = as_ds_intern_text(ds, m->real ? "DOUBLE" : "UINT64");
    metric.kind = AS_KIND_EXCLUSIVE;
    bool fine = metric.name != AS_NO_STR && metric.display_name != AS_NO_STR && metric.description != AS_NO_STR &&
                metric.dtype != AS_NO_STR && (!m->unit || metric.unit != AS_NO_STR);
    return fine ? as_add_metric(ds, &metric) : ASSAY_NONE;
}

bool as_ns_add_metric(as_ns_export *x, const char *name) {
    for (size_t i = 0; i < sizeof MEASURES / sizeof *MEASURES; i++) {
        if (strcmp(MEASURES[i].name, name) == 0) return add_metric(x, &MEASURES[i]) != ASSAY_NONE;
    }
    return true;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static int compare_cells(const void *a, const void *b) {
    const as_ns_cell *x = a, *y = b;
    if (x->context != y->context) return x->context < y->context ? -1 : 1;
    return (x->location > y->location) - (x->location < y->location);
}

/* Those of the sorted cells that have it. Nothing where none has. */
static bool add_block(as_ns_values *v, const measure *m) {
    as_dataset *ds = v->x->ds;
    const as_ns_cell *cells = v->cells.data;
    size_t n = 0, row = 0;
    for (size_t i = 0; i < v->cells.count; i++) n += m->has(&cells[i]);
    if (n == 0) return true;
    assay_id *contexts = as_arena_array(&ds->arena, n, sizeof *contexts),
             *locations = as_arena_array(&ds->arena, n, sizeof *locations);
    uint64_t *starts = as_arena_array(&ds->arena, n + 1, sizeof *starts);
    void *values = as_arena_array(&ds->arena, n, 8);
    as_block block = {.metric = add_metric(v->x, m),
                      .run = v->x->run,
                      .contexts = contexts,
                      .starts = starts,
                      .locations = locations,
                      .dtype = m->real ? AS_DTYPE_DOUBLE : AS_DTYPE_UINT64,
                      .values = values};
    if (block.metric == ASSAY_NONE || !contexts || !locations || !starts || !values) return false;
    for (size_t i = 0; i < v->cells.count; i++) {
        if (!m->has(&cells[i])) continue;
        if (!block.n_contexts || contexts[block.n_contexts - 1] != cells[i].context)
            contexts[block.n_contexts++] = cells[i].context;
        locations[row] = cells[i].location;
        if (m->real)
            ((double *)values)[row] = m->real(&cells[i]);
        else
            ((uint64_t *)values)[row] = m->whole(&cells[i]);
        starts[block.n_contexts] = ++row;
    }
    return as_add_block(ds, &block);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void renumber(assay_id *context, const assay_id *new_ids) {
    if (*context != ASSAY_NONE) *context = new_ids[*context];
}

static void renumber_activities(as_vec *activities, const assay_id *new_ids) {
    for (size_t i = 0; i < activities->count; i++) renumber(&AS_AT(as_ns_activity, activities, i).context, new_ids);
}

static void renumber_all(as_ns_values *v, const assay_id *new_ids) {
    as_ns_export *x = v->x;
    renumber_activities(&x->kernels, new_ids);
    renumber_activities(&x->copies, new_ids);
    renumber_activities(&x->sets, new_ids);
    renumber_activities(&x->graphs, new_ids);
    for (size_t i = 0; i < x->syncs.count; i++) renumber(&AS_NS_AT(as_ns_sync, x, syncs, i)->context, new_ids);
    for (size_t i = 0; i < x->calls.count; i++) renumber(&AS_NS_AT(as_ns_call, x, calls, i)->context, new_ids);
    for (size_t i = 0; i < x->ranges.count; i++) renumber(&AS_NS_AT(as_ns_range, x, ranges, i)->context, new_ids);
    for (size_t i = 0; i < x->osrt.count; i++) renumber(&AS_NS_AT(as_ns_osrt, x, osrt, i)->context, new_ids);
    for (size_t i = 0; i < x->samples.count; i++) renumber(&AS_NS_AT(as_ns_sample, x, samples, i)->context, new_ids);
    for (size_t i = 0; i < v->cells.count; i++) renumber(&AS_AT(as_ns_cell, &v->cells, i).context, new_ids);
}

assay_status as_ns_add_rows(as_ns_values *v) {
    as_ns_export *x = v->x;
    const assay_id *new_ids;
    if (!add_below(v)) return as_reader_memory(x->reader);
    settle(v);
    if (!as_tree_finish(&x->tree, &new_ids)) return as_reader_memory(x->reader);
    renumber_all(v, new_ids);
    if (v->cells.count) qsort(v->cells.data, v->cells.count, sizeof(as_ns_cell), compare_cells);
    for (size_t i = 0; i < sizeof MEASURES / sizeof *MEASURES; i++) {
        if (!add_block(v, &MEASURES[i])) return as_reader_memory(x->reader);
    }
    return ASSAY_OK;
}
