/* Values: what contexts have at threads and streams.
 *
 * First everything is added up in cells; then what is in other contexts as well is taken off: regions lose what is
 * inside them, activities what they share with others. */
#include "formats/nsight/values.h"

#include <stdlib.h>

/* ---- cells ------------------------------------------------------------------------------------------------------- */

as_ns_cell *as_ns_cell_find(const as_ns_values *v, assay_id context, assay_id location) {
    uint32_t known = as_map_get(&v->of, as_pair(context, location));
    return known == AS_MAP_NONE ? NULL : &AS_AT(as_ns_cell, &v->cells, known);
}

as_ns_cell *as_ns_cell_at(as_ns_values *v, assay_id context, assay_id location) {
    if (v->last < v->cells.count) {
        as_ns_cell *last = &AS_AT(as_ns_cell, &v->cells, v->last);
        if (last->context == context && last->location == location) return last;
    }
    uint64_t key = as_pair(context, location);
    uint32_t known = as_map_get(&v->of, key);
    if (known == AS_MAP_NONE) {
        const as_ns_cell new = {.context = context, .location = location};
        known = (uint32_t)v->cells.count;
        if (known == AS_MAP_NONE || !as_vec_append(&v->cells, &new, 1) || !as_map_put(&v->of, key, known)) return NULL;
    }
    v->last = known;
    return &AS_AT(as_ns_cell, &v->cells, known);
}

/* ---- on the host ------------------------------------------------------------------------------------------------- */

static bool add_host_time(as_ns_values *v, assay_id context, uint32_t thread, as_ns_span span) {
    as_ns_cell *cell = as_ns_cell_at(v, context, as_ns_thread_place(v->x, thread));
    if (!cell) return false;
    cell->has |= AS_NS_HAS_TIME;
    cell->time = as_ns_sum(cell->time, as_ns_length(span));
    cell->visits++;
    return true;
}

static bool add_host(as_ns_values *v) {
    as_ns_export *x = v->x;
    bool fine = true;
    for (size_t i = 0; fine && i < x->ranges.count; i++) {
        const as_ns_range *range = AS_NS_AT(as_ns_range, x, ranges, i);
        if (range->context != ASSAY_NONE && range->span.end != AS_NS_OPEN)
            fine = add_host_time(v, range->context, range->thread, range->span);
    }
    for (size_t i = 0; fine && i < x->calls.count; i++) {
        const as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, i);
        fine = add_host_time(v, call->context, call->thread, call->span);
    }
    for (size_t i = 0; fine && i < x->osrt.count; i++) {
        const as_ns_osrt *osrt = AS_NS_AT(as_ns_osrt, x, osrt, i);
        if (osrt->context != ASSAY_NONE) fine = add_host_time(v, osrt->context, osrt->thread, osrt->span);
    }
    for (size_t i = 0; fine && i < x->samples.count; i++) {
        const as_ns_sample *sample = AS_NS_AT(as_ns_sample, x, samples, i);
        as_ns_cell *cell = as_ns_cell_at(v, sample->context, as_ns_thread_place(x, sample->thread));
        if (cell) cell->samples++;
        fine = cell != NULL;
    }
    return fine;
}

/* ---- what is inside ---------------------------------------------------------------------------------------------- */

/* The context that has this one's time as well, until it is taken off: where a call was made, a region around another.
 * ASSAY_NONE: none. */
static assay_id context_around(const as_ns_values *v, assay_id context) {
    const as_ns_builder *b = &v->builder;
    assay_id parent = as_ns_context(b, context)->parent;
    as_ns_node node = as_ns_node_of(b, context);
    if (node == AS_NS_NODE_API) return parent;
    if (node == AS_NS_NODE_LAUNCH || node == AS_NS_NODE_SYNC) return as_ns_context(b, parent)->parent;
    bool nests = node == AS_NS_NODE_REGION || node == AS_NS_NODE_NVTX || node == AS_NS_NODE_OSRT;
    return nests ? parent : ASSAY_NONE;
}

/* What regions lose; what they have of their own is never less than nothing. Ranges of plain exports keep what is left,
 * so that sums are right where calls are inside each other. */
static void take_off_inside(as_ns_values *v) {
    as_ns_cell *cells = v->cells.data;
    for (size_t i = 0; i < v->cells.count; i++) {
        if (!(cells[i].has & AS_NS_HAS_TIME)) continue;
        assay_id around = context_around(v, cells[i].context);
        as_ns_cell *outer = around == ASSAY_NONE ? NULL : as_ns_cell_find(v, around, cells[i].location);
        if (outer) outer->inside = as_ns_sum(outer->inside, cells[i].time);
    }
    for (size_t i = 0; i < v->cells.count; i++) {
        as_ns_node node = as_ns_node_of(&v->builder, cells[i].context);
        if ((node != AS_NS_NODE_REGION && node != AS_NS_NODE_OSRT) || cells[i].inside <= cells[i].time) continue;
        cells[i].inside = cells[i].time;
        v->n_below_zero++;
    }
}

/* ---- idle GPUs --------------------------------------------------------------------------------------------------- */

/* What of a region's own time no kernel covers, where kernels cover some of it. Moments belong to the region that began
 * last, in whatever thread. */
typedef struct idling {
    as_vec spans;     /* as_ns_owned; owner: a cell */
    size_t n_cells;   /* those of regions and others that were there before */
    int64_t *covered; /* of each cell */
    int64_t *own;     /* of each context: the time of its own; then what of it is idle */
    int64_t *busy;    /* of each context: what is covered */
} idling;

static bool find_covered(as_ns_values *v, const as_ns_measure *kernels, idling *idle) {
    as_ns_export *x = v->x;
    for (size_t i = 0; i < x->ranges.count; i++) {
        const as_ns_range *range = AS_NS_AT(as_ns_range, x, ranges, i);
        if (range->context == ASSAY_NONE || as_ns_length(range->span) == 0) continue;
        const as_ns_cell *cell = as_ns_cell_at(v, range->context, as_ns_thread_place(x, range->thread));
        as_ns_owned *span = as_vec_push(&idle->spans);
        if (!cell || !span) return false;
        *span = (as_ns_owned){range->span.start, range->span.end, v->last};
    }
    idle->n_cells = v->cells.count;
    size_t n_contexts = x->tree.nodes.count;
    if (!as_budget_allows(&x->ds->budget, (idle->n_cells + 2 * n_contexts) * sizeof(int64_t))) return false;
    idle->covered = calloc(idle->n_cells + 1, sizeof *idle->covered);
    idle->own = calloc(n_contexts + 1, sizeof *idle->own);
    idle->busy = calloc(n_contexts + 1, sizeof *idle->busy);
    return idle->covered && idle->own && idle->busy &&
           as_ns_cover_latest(idle->spans.data, idle->spans.count, kernels, &x->ds->budget, idle->covered);
}

static void find_idle(const as_ns_values *v, idling *idle) {
    const as_ns_cell *cells = v->cells.data;
    for (size_t i = 0; i < idle->n_cells; i++) {
        int64_t *own = &idle->own[cells[i].context], *busy = &idle->busy[cells[i].context];
        *own = as_ns_sum(*own, cells[i].time - cells[i].inside);
        *busy = as_ns_sum(*busy, idle->covered[i]);
    }
    for (size_t i = 0; i < v->x->tree.nodes.count; i++) {
        bool is_some = idle->busy[i] > 0 && idle->busy[i] < idle->own[i];
        idle->own[i] = is_some ? idle->own[i] - idle->busy[i] : 0;
    }
}

/* What is idle of a context goes to its threads in order, to each at most what it has. */
static bool give_idle(as_ns_values *v, const idling *idle) {
    for (size_t i = 0; i < idle->n_cells; i++) {
        const as_ns_cell cell = AS_AT(as_ns_cell, &v->cells, i);
        int64_t *left = &idle->own[cell.context], part = cell.time - cell.inside - idle->covered[i];
        if (part > *left) part = *left;
        if (part <= 0) continue;
        *left -= part;
        assay_id context = as_ns_child_text(&v->builder, cell.context, AS_NS_NODE_IDLE, "GPU IDLE");
        as_ns_cell *target = context == ASSAY_NONE ? NULL : as_ns_cell_at(v, context, cell.location);
        if (!target) return false;
        target->has |= AS_NS_HAS_TIME;
        target->time = part;
    }
    return true;
}

static assay_status add_idle(as_ns_values *v, const as_ns_measure *kernels) {
    idling idle = {0};
    as_vec_init(&idle.spans, sizeof(as_ns_owned), &v->x->ds->budget);
    bool fine = find_covered(v, kernels, &idle);
    if (fine) find_idle(v, &idle);
    fine = fine && give_idle(v, &idle);
    as_vec_free(&idle.spans);
    free(idle.covered);
    free(idle.own);
    free(idle.busy);
    return fine ? ASSAY_OK : as_reader_memory(v->x->reader);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static assay_status find_all(as_ns_values *v) {
    as_ns_export *x = v->x;
    as_ns_measure kernels = {0};
    AS_TRY(as_ns_builder_init(&v->builder, x));
    assay_status status = add_host(v) ? as_ns_add_gpu(v, &kernels) : as_reader_memory(x->reader);
    if (status == ASSAY_OK) {
        take_off_inside(v);
        if (x->mode == AS_NS_RANGES && kernels.total) status = add_idle(v, &kernels);
    }
    as_ns_measure_free(&kernels);
    if (status == ASSAY_OK && v->n_below_zero)
        as_add_problem(x->ds, AS_NOTE, as_place_file(x->reader->input->path), "time-below-zero",
                       "%zu regions have less time than what is inside them; their own time is 0", v->n_below_zero);
    return status == ASSAY_OK ? as_ns_add_rows(v) : status;
}

assay_status as_ns_find_values(as_ns_export *x) {
    as_ns_values v = {.x = x};
    as_vec_init(&v.cells, sizeof(as_ns_cell), &x->ds->budget);
    as_map_init(&v.of, &x->ds->budget);
    assay_status status = find_all(&v);
    as_vec_free(&v.cells);
    as_map_free(&v.of);
    as_ns_builder_free(&v.builder);
    return status;
}
