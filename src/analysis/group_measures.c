#include "analysis/group_measures.h"

#include <stdlib.h>

#include "dataset/build.h"

/* Of one measure in one group and run. */
struct as_group_sum {
    uint32_t measure;
    assay_id run, group;
    as_whole whole;
    double real;
    bool is_real; /* some are no integers */
};

struct as_group_holder {
    double end;
    assay_id location;
    uint32_t sum;
};

bool as_group_measures_open(const as_dataset *ds, as_group_measures *out) {
    as_budget *budget = as_ds_budget(ds);
    out->ds = ds;
    as_map_init(&out->sum_of, budget);
    as_map_init(&out->stack_of, budget);
    as_vec_init(&out->sums, sizeof(struct as_group_sum), budget);
    as_vec_init(&out->stacks, sizeof(as_vec), budget);
    return as_measures_load(ds, NULL, &out->measured);
}

void as_group_measures_free(as_group_measures *measures) {
    if (!measures->ds) return;
    for (size_t i = 0; i < measures->stacks.count; i++) as_vec_free(&AS_AT(as_vec, &measures->stacks, i));
    as_vec_free(&measures->stacks);
    as_vec_free(&measures->sums);
    as_map_free(&measures->sum_of);
    as_map_free(&measures->stack_of);
    as_measures_free(&measures->measured);
    measures->ds = NULL;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

static size_t first_sample(const as_measures *measured, uint64_t event) {
    const as_sample *samples = measured->samples.data;
    size_t low = 0, high = measured->samples.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (samples[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_whole(as_number number) { return number.kind != AS_REAL; }
static as_whole whole_of(as_number number) { return number.kind == AS_INT ? number.i : (as_whole)number.u; }

static void add(struct as_group_sum *sum, const as_sample *sample, int sign) {
    bool is_difference = sample->type == AS_SAMPLE_SNAPSHOT;
    double real = as_number_real(sample->last) - (is_difference ? as_number_real(sample->first) : 0);
    sum->real += sign * real;
    if (is_whole(sample->last) && is_whole(sample->first))
        sum->whole += sign * (whole_of(sample->last) - (is_difference ? whole_of(sample->first) : 0));
    else
        sum->is_real = true;
}

/* UINT32_MAX when memory is out. */
static uint32_t find_sum(as_group_measures *m, uint32_t cell, uint32_t measure, assay_id run, assay_id group) {
    uint64_t key = as_pair(cell, measure);
    uint32_t known = as_map_get(&m->sum_of, key);
    if (known != AS_MAP_NONE) return known;
    struct as_group_sum sum = {.measure = measure, .run = run, .group = group};
    known = (uint32_t)m->sums.count;
    return as_vec_append(&m->sums, &sum, 1) && as_map_put(&m->sum_of, key, known) ? known : UINT32_MAX;
}

/* NULL when memory is out. */
static as_vec *find_stack(as_group_measures *m, assay_id run, uint32_t measure) {
    uint64_t key = as_pair(run, measure);
    uint32_t known = as_map_get(&m->stack_of, key);
    if (known != AS_MAP_NONE) return &AS_AT(as_vec, &m->stacks, known);
    as_vec *stack = as_vec_push(&m->stacks);
    if (!stack) return NULL;
    as_vec_init(stack, sizeof(struct as_group_holder), as_ds_budget(m->ds));
    return as_map_put(&m->stack_of, key, (uint32_t)(m->stacks.count - 1)) ? stack : NULL;
}

/* Takes the number off the nearest interval around this one that has one. */
static bool nest(as_group_measures *m, const as_event *event, const as_sample *sample, uint32_t sum) {
    as_vec *stack = find_stack(m, event->run, sample->measure);
    if (!stack) return false;
    const struct as_group_holder *top = NULL;
    for (; stack->count; stack->count--) {
        top = &AS_AT(struct as_group_holder, stack, stack->count - 1);
        if (top->end >= event->end && top->end > event->start) break;
    }
    if (stack->count && top->location == event->location)
        add(&AS_AT(struct as_group_sum, &m->sums, top->sum), sample, -1);
    struct as_group_holder mine = {event->end, event->location, sum};
    return as_vec_append(stack, &mine, 1);
}

bool as_group_measures_add(as_group_measures *m, const as_event_interval *interval, uint32_t cell, assay_id group) {
    const as_vec *samples = &m->measured.samples;
    const as_event *event = &interval->event;
    if (!samples->count) return true;
    for (size_t i = first_sample(&m->measured, interval->id); i < samples->count; i++) {
        const as_sample *sample = &AS_AT(as_sample, samples, i);
        if (sample->event != interval->id) break;
        if (sample->type != AS_SAMPLE_SINGLE && sample->type != AS_SAMPLE_SNAPSHOT) continue;
        uint32_t sum = find_sum(m, cell, sample->measure, event->run, group);
        if (sum == UINT32_MAX) return false;
        add(&AS_AT(struct as_group_sum, &m->sums, sum), sample, 1);
        if (interval->class == AS_INTERVAL_NESTED && !nest(m, event, sample, sum)) return false;
    }
    return true;
}

/* ---- the dataset ------------------------------------------------------------------------------------------------- */

static int compare_sums(const void *a, const void *b) {
    const struct as_group_sum *x = a, *y = b;
    if (x->measure != y->measure) return x->measure < y->measure ? -1 : 1;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

static bool fits(const struct as_group_sum *sum) {
    return !sum->is_real && sum->whole >= INT64_MIN && sum->whole <= INT64_MAX;
}

static assay_id add_metric(const as_group_measures *m, as_dataset *out, uint32_t measure, bool is_integer) {
    assay_id from = AS_AT(as_measure_name, &m->measured.measures, measure).metric;
    as_metric metric = AS_METRIC_INIT;
    bool fine = true;
    metric.name = as_ds_intern_text(out, as_measure_text(&m->measured, measure));
    metric.dtype = as_ds_intern_text(out, as_dtype_name(is_integer ? AS_DTYPE_INT64 : AS_DTYPE_DOUBLE));
    metric.kind = AS_KIND_EXCLUSIVE;
    if (from != ASSAY_NONE) {
        metric.unit = as_ds_carry(out, m->ds, as_ds_metric(m->ds, from)->unit, &fine);
        metric.description = as_ds_carry(out, m->ds, as_ds_metric(m->ds, from)->description, &fine);
    }
    return fine && metric.name != AS_NO_STR ? as_add_metric(out, &metric) : ASSAY_NONE;
}

/* The n sums of one measure and run. */
static bool add_profile(as_dataset *out, assay_id metric, const struct as_group_sum *sums, size_t n, bool is_integer) {
    assay_id *contexts = as_arena_array(&out->arena, n, sizeof *contexts);
    char *values = as_arena_array(&out->arena, n, sizeof(int64_t));
    if (!contexts || !values) return false;
    for (size_t i = 0; i < n; i++) {
        int64_t whole = is_integer ? (int64_t)sums[i].whole : 0;
        contexts[i] = sums[i].group;
        memcpy(values + i * sizeof whole, is_integer ? (const void *)&whole : &sums[i].real, sizeof whole);
    }
    as_profile profile = {.metric = metric,
                          .run = sums->run,
                          .type = as_value_type_of(is_integer ? AS_DTYPE_INT64 : AS_DTYPE_DOUBLE, 1),
                          .n_rows = (uint32_t)n,
                          .n_columns = 1,
                          .contexts = contexts,
                          .values = values};
    return as_add_profile(out, &profile);
}

bool as_group_measures_fill(as_group_measures *m, as_dataset *out, const assay_id *ids) {
    struct as_group_sum *sums = m->sums.data;
    size_t n = m->sums.count;
    for (size_t i = 0; i < n; i++) sums[i].group = ids[sums[i].group];
    if (n) qsort(sums, n, sizeof *sums, compare_sums);
    for (size_t i = 0, end; i < n; i = end) {
        bool is_integer = true;
        for (end = i; end < n && sums[end].measure == sums[i].measure; end++)
            is_integer = is_integer && fits(&sums[end]);
        assay_id metric = add_metric(m, out, sums[i].measure, is_integer);
        if (metric == ASSAY_NONE) return false;
        for (size_t at = i, next; at < end; at = next) {
            for (next = at; next < end && sums[next].run == sums[at].run;) next++;
            if (!add_profile(out, metric, sums + at, next - at, is_integer)) return false;
        }
    }
    return true;
}
