/* Values that a part has in blocks stay in blocks: of a context what it has at its few places, however many there
 * are. */
#include <stdlib.h>

#include "analysis/algebra/cutting.h"

/* A value where it goes. */
typedef struct moved {
    assay_id context, run, location;
    as_number value;
} moved;

static int compare_moved(const void *a, const void *b) {
    const moved *x = a, *y = b;
    if (x->context != y->context) return x->context < y->context ? -1 : 1;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    return x->location + 1 < y->location + 1 ? -1 : x->location + 1 > y->location + 1; /* none first */
}

/* Beyond 64 bits the nearest limit, which *n_limited counts. */
static as_number add_numbers(as_dtype dtype, as_number a, as_number b, uint64_t *n_limited) {
    if (dtype == AS_DTYPE_DOUBLE) return (as_number){.kind = AS_REAL, .r = as_number_real(a) + as_number_real(b)};
    as_whole sum = (a.kind == AS_UINT ? (as_whole)a.u : a.i) + (b.kind == AS_UINT ? (as_whole)b.u : b.i);
    as_whole most = dtype == AS_DTYPE_UINT64 ? (as_whole)UINT64_MAX : INT64_MAX;
    *n_limited += sum > most || sum < INT64_MIN;
    return as_whole_number(sum > most ? most : sum < INT64_MIN ? INT64_MIN : sum);
}

/* The run of the result that each of the part is. NULL when memory is out. */
static assay_id *map_runs(const as_cutting *c) {
    assay_id *runs = calloc(c->part->runs.count + 1, sizeof *runs);
    for (assay_id i = 0; runs && i < c->op->runs.count; i++) runs[as_part_run_at(c->op, i)->run] = i;
    return runs;
}

static bool move_block(const as_cutting *c, const as_block *block, const assay_id *runs, const assay_id *into,
                       as_vec *out) {
    const assay_id *locations = c->op->u.maps[0].locations;
    for (uint32_t i = 0; i < block->n_contexts; i++) {
        assay_id context = into[block->contexts[i]];
        if (context == ASSAY_NONE) continue;
        for (uint64_t row = block->starts[i]; row < block->starts[i + 1]; row++) {
            assay_id location = as_block_location(block, row);
            moved value = {context, runs[as_block_run(block, row)],
                           location == ASSAY_NONE ? ASSAY_NONE : locations[location], as_block_value(block, row)};
            if (!as_vec_append(out, &value, 1)) return false;
        }
    }
    return true;
}

/* Those of one place become one; they are sorted. */
static void add_up(as_vec *values, as_dtype dtype, uint64_t *n_limited) {
    moved *all = values->data;
    size_t n = 0;
    for (size_t i = 0; i < values->count; i++) {
        if (n && compare_moved(&all[n - 1], &all[i]) == 0)
            all[n - 1].value = add_numbers(dtype, all[n - 1].value, all[i].value, n_limited);
        else
            all[n++] = all[i];
    }
    values->count = n;
}

static bool put_block(as_dataset *ds, assay_id metric, as_dtype dtype, const as_vec *values) {
    const moved *all = values->data;
    size_t n = values->count, n_contexts = 0;
    if (!n) return true;
    for (size_t i = 0; i < n; i++) n_contexts += !i || all[i].context != all[i - 1].context;
    assay_id *contexts = as_arena_array(&ds->arena, n_contexts, sizeof *contexts);
    uint64_t *starts = as_arena_array(&ds->arena, n_contexts + 1, sizeof *starts);
    assay_id *runs = as_arena_array(&ds->arena, n, sizeof *runs),
             *locations = as_arena_array(&ds->arena, n, sizeof *locations);
    uint64_t *bits = as_arena_array(&ds->arena, n, sizeof *bits);
    if (!contexts || !starts || !runs || !locations || !bits) return false;
    as_block block = {.metric = metric,
                      .run = ASSAY_NONE,
                      .contexts = contexts,
                      .starts = starts,
                      .runs = runs,
                      .dtype = dtype,
                      .values = bits};
    for (size_t i = 0; i < n; i++) {
        if (!i || all[i].context != all[i - 1].context) {
            contexts[block.n_contexts] = all[i].context;
            starts[block.n_contexts++] = i;
        }
        runs[i] = all[i].run;
        locations[i] = all[i].location;
        if (all[i].location != ASSAY_NONE) block.locations = locations;
        double real = dtype == AS_DTYPE_DOUBLE ? as_number_real(all[i].value) : 0;
        if (dtype == AS_DTYPE_DOUBLE)
            memcpy(&bits[i], &real, sizeof real);
        else
            bits[i] = all[i].value.u; /* of either sign */
    }
    starts[block.n_contexts] = n;
    return as_add_block(ds, &block);
}

bool as_cutting_has_blocks(const as_cutting *c, assay_id metric) {
    size_t n = 0;
    as_dtype dtype = AS_DTYPE_DOUBLE;
    for (assay_id run = 0; run < c->part->runs.count; run++) {
        if (as_ds_profile(c->part, metric, run)) return false;
    }
    for (size_t i = 0; i < c->part->blocks.count; i++) {
        const as_block *block = as_ds_block(c->part, i);
        if (block->metric != metric) continue;
        if (n++ && block->dtype != dtype) return false;
        dtype = block->dtype;
    }
    return n > 0;
}

bool as_cutting_move_blocks(as_cutting *c, assay_id metric, assay_id own, bool adds) {
    as_dtype dtype = as_ds_metric_type(c->part, own).dtype;
    const assay_id *into = adds ? c->into : c->op->u.maps[0].contexts;
    uint64_t n_limited = 0;
    as_vec values; /* moved */
    as_vec_init(&values, sizeof(moved), as_ds_budget(c->part));
    assay_id *runs = map_runs(c);
    bool fine = runs != NULL;
    for (size_t i = 0; fine && i < c->part->blocks.count; i++) {
        const as_block *block = as_ds_block(c->part, i);
        if (block->metric == own) fine = move_block(c, block, runs, into, &values);
    }
    if (fine && values.count) qsort(values.data, values.count, sizeof(moved), compare_moved);
    if (fine) add_up(&values, dtype, &n_limited);
    fine = fine && put_block(c->op->ds, metric, dtype, &values);
    as_vec_free(&values);
    free(runs);
    as_tell_limits(c->op->ds, metric, n_limited, as_dtype_name(dtype));
    return fine;
}
