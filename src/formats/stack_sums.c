#include "formats/stack_sums.h"

#include <stdlib.h>

void as_stack_sums_init(as_stack_sums *sums, as_dataset *ds) {
    *sums = (as_stack_sums){.ds = ds, .location = ASSAY_NONE};
    as_stack_tree_init(&sums->tree, ds);
    as_vec_init(&sums->metrics, sizeof(as_stack_metric), &ds->budget);
}

void as_stack_sums_free(as_stack_sums *sums) {
    for (size_t i = 0; i < sums->metrics.count; i++) {
        as_vec_free(&AS_AT(as_stack_metric, &sums->metrics, i).sums);
        as_vec_free(&AS_AT(as_stack_metric, &sums->metrics, i).of);
    }
    as_vec_free(&sums->metrics);
    as_stack_tree_free(&sums->tree);
}

size_t as_stack_metric_add(as_stack_sums *sums, as_str name, as_str unit) {
    as_stack_metric *metric = as_vec_push(&sums->metrics);
    if (!metric) return SIZE_MAX;
    *metric = (as_stack_metric){.name = name, .unit = unit, .description = AS_NO_STR};
    as_vec_init(&metric->sums, sizeof(as_stack_sum), &sums->ds->budget);
    as_vec_init(&metric->of, sizeof(uint32_t), &sums->ds->budget);
    return sums->metrics.count - 1;
}

void as_stack_sums_at(as_stack_sums *sums, assay_id location) {
    sums->location = location;
    for (size_t i = 0; i < sums->metrics.count; i++) {
        as_stack_metric *metric = &AS_AT(as_stack_metric, &sums->metrics, i);
        size_t n = metric->sums.count;
        /* Others may have been at hand, but the metric has nothing of them */
        bool goes_on = n && AS_AT(as_stack_sum, &metric->sums, n - 1).location == location;
        metric->first_sum = goes_on ? metric->last_run : n;
    }
}

/* The sum of a context at the location at hand, made if new; NULL when memory is out. What `of` says may be from
 * another location: then the sum is of another context, or comes before. */
static as_stack_sum *sum_of(as_stack_sums *sums, as_stack_metric *metric, assay_id context) {
    as_vec *of = &metric->of;
    while (of->count <= context) {
        uint32_t none = UINT32_MAX;
        if (!as_vec_append(of, &none, 1)) return NULL;
    }
    uint32_t at = AS_AT(uint32_t, of, context);
    if (at != UINT32_MAX && at >= metric->first_sum) return &AS_AT(as_stack_sum, &metric->sums, at);
    size_t n = metric->sums.count;
    if (n >= UINT32_MAX) return NULL;
    if (!n || AS_AT(as_stack_sum, &metric->sums, n - 1).location != sums->location) metric->last_run = n;
    as_stack_sum *sum = as_vec_push(&metric->sums);
    if (!sum) return NULL;
    sum->context = context;
    sum->location = sums->location;
    AS_AT(uint32_t, of, context) = (uint32_t)(metric->sums.count - 1);
    return sum;
}

bool as_stack_sums_add(as_stack_sums *sums, size_t metric, assay_id context, as_number amount) {
    as_stack_metric *m = &AS_AT(as_stack_metric, &sums->metrics, metric);
    as_stack_sum *sum = sum_of(sums, m, context);
    if (!sum) return false;
    if (amount.kind == AS_INT) sum->whole += amount.i;
    if (amount.kind == AS_UINT) sum->whole += amount.u;
    if (amount.kind == AS_REAL) {
        sum->real += amount.r;
        m->has_real = true;
    }
    return true;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int compare_sums(const void *a, const void *b) {
    const as_stack_sum *x = a, *y = b;
    if (x->location != y->location) return x->location < y->location ? -1 : 1;
    return x->context < y->context ? -1 : x->context > y->context;
}

/* Where a location was at hand more than once: its sums together, one for each context. */
static void order_sums(as_stack_metric *metric) {
    as_stack_sum *all = metric->sums.data;
    size_t n = metric->sums.count, i = 1, kept = 0;
    while (i < n && all[i].location >= all[i - 1].location) i++;
    if (i >= n) return;
    qsort(all, n, sizeof *all, compare_sums);
    for (i = 1; i < n; i++) {
        if (compare_sums(&all[i], &all[kept]) == 0) {
            all[kept].whole += all[i].whole;
            all[kept].real += all[i].real;
        } else
            all[++kept] = all[i];
    }
    metric->sums.count = kept + 1;
}

void as_stack_sums_join(as_stack_sums *sums) {
    for (size_t i = 0; i < sums->metrics.count; i++) order_sums(&AS_AT(as_stack_metric, &sums->metrics, i));
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static as_dtype dtype_of(const as_stack_metric *metric) {
    bool fits_signed = true, fits_unsigned = true;
    for (size_t i = 0; i < metric->sums.count; i++) {
        as_whole whole = AS_AT(as_stack_sum, &metric->sums, i).whole;
        fits_signed &= whole >= INT64_MIN && whole <= INT64_MAX;
        fits_unsigned &= whole >= 0 && whole <= (as_whole)AS_COUNTER_LIMIT;
    }
    return metric->has_real ? AS_DTYPE_DOUBLE
           : fits_signed    ? AS_DTYPE_INT64
           : fits_unsigned  ? AS_DTYPE_UINT64
                            : AS_DTYPE_DOUBLE;
}

static void put_value(void *values, as_dtype dtype, uint64_t at, const as_stack_sum *sum) {
    if (dtype == AS_DTYPE_INT64) ((int64_t *)values)[at] = (int64_t)sum->whole;
    if (dtype == AS_DTYPE_UINT64) ((uint64_t *)values)[at] = (uint64_t)sum->whole;
    if (dtype == AS_DTYPE_DOUBLE) ((double *)values)[at] = sum->real + (double)sum->whole;
}

/* Contexts ascending, locations in the order in which they came. next: room for a number a context, and one more. */
static bool add_block(as_stack_sums *sums, const as_stack_metric *metric, assay_id id, as_dtype dtype, uint64_t *next) {
    as_dataset *ds = sums->ds;
    const as_stack_sum *all = metric->sums.data;
    size_t n = metric->sums.count, n_contexts = 0, k = 0;
    bool has_places = false;
    memset(next, 0, (ds->contexts.count + 1) * sizeof *next);
    for (size_t i = 0; i < n; i++) {
        n_contexts += next[sums->new_ids[all[i].context]]++ == 0;
        has_places |= all[i].location != ASSAY_NONE;
    }
    assay_id *contexts = as_arena_array(&ds->arena, n_contexts, sizeof *contexts);
    uint64_t *starts = as_arena_array(&ds->arena, n_contexts + 1, sizeof *starts), at = 0;
    assay_id *locations = has_places ? as_arena_array(&ds->arena, n, sizeof *locations) : NULL;
    void *values = as_arena_array(&ds->arena, n, 8);
    if (!contexts || !starts || !values || (has_places && !locations)) return false;
    for (assay_id c = 0; c < ds->contexts.count; c++) {
        uint64_t count = next[c];
        next[c] = at;
        if (!count) continue;
        contexts[k] = c;
        starts[k++] = at;
        at += count;
    }
    starts[n_contexts] = at;
    for (size_t i = 0; i < n; i++) {
        uint64_t row = next[sums->new_ids[all[i].context]]++;
        if (locations) locations[row] = all[i].location;
        put_value(values, dtype, row, &all[i]);
    }
    as_block block = {.metric = id,
                      .run = 0,
                      .n_contexts = (uint32_t)n_contexts,
                      .contexts = contexts,
                      .starts = starts,
                      .locations = locations,
                      .dtype = dtype,
                      .values = values};
    return as_add_block(ds, &block);
}

static bool add_metric(as_stack_sums *sums, const as_stack_metric *metric, uint64_t *next) {
    as_dataset *ds = sums->ds;
    as_dtype dtype = dtype_of(metric);
    as_metric about = AS_METRIC_INIT;
    about.name = metric->name;
    about.unit = metric->unit;
    about.description = metric->description;
    about.dtype = as_ds_intern_text(ds, as_dtype_name(dtype));
    about.kind = AS_KIND_EXCLUSIVE;
    assay_id id = about.dtype == AS_NO_STR ? ASSAY_NONE : as_add_metric(ds, &about);
    return id != ASSAY_NONE && (!metric->sums.count || add_block(sums, metric, id, dtype, next));
}

bool as_stack_sums_finish(as_stack_sums *sums) {
    as_dataset *ds = sums->ds;
    as_run run = AS_RUN_INIT;
    as_vec next; /* uint64_t */
    if (!ds->runs.count && as_add_run(ds, &run) == ASSAY_NONE) return false;
    for (size_t i = 0; i < sums->metrics.count; i++) as_vec_free(&AS_AT(as_stack_metric, &sums->metrics, i).of);
    if (!as_stack_tree_finish(&sums->tree, &sums->new_ids)) return false;
    as_vec_init(&next, sizeof(uint64_t), NULL);
    as_vec_expect(&next, ds->contexts.count + 1);
    bool fine = as_vec_reserve(&next, ds->contexts.count + 1);
    as_stack_sums_join(sums);
    for (size_t i = 0; fine && i < sums->metrics.count; i++) {
        as_stack_metric *metric = &AS_AT(as_stack_metric, &sums->metrics, i);
        fine = add_metric(sums, metric, next.data);
        as_vec_free(&metric->sums);
    }
    as_vec_free(&next);
    return fine;
}
