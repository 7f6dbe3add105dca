#include "dataset/trace.h"

#include <stdlib.h>

#include "dataset/build.h"

enum { UNKNOWN, ASCENDING, SORTED };
enum { SAMPLES_AT_ONCE = 4096 };

bool as_add_trace_line(as_dataset *ds, const as_trace_line *line) {
    as_trace_line *added = as_vec_push(&ds->traces.lines);
    if (!added) return false;
    *added = *line;
    ds->traces.n_samples += line->n;
    return true;
}

const as_trace_line *as_trace_line_of(const as_dataset *ds, assay_id run, assay_id location) {
    size_t low = 0, high = ds->traces.lines.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const as_trace_line *line = as_trace_line_at(&ds->traces, middle);
        if (line->run < run || (line->run == run && line->location < location))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == ds->traces.lines.count) return NULL;
    const as_trace_line *line = as_trace_line_at(&ds->traces, low);
    return line->run == run && line->location == location ? line : NULL;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int order_of(const as_trace_line *line) { return __atomic_load_n(&line->order, __ATOMIC_ACQUIRE); }

static assay_status ascends(const as_trace_line *line, bool *answer, assay_error *error) {
    as_trace_sample *samples = malloc(SAMPLES_AT_ONCE * sizeof *samples);
    if (!samples) return as_fail_memory(error, NULL);
    uint64_t before = 0;
    assay_status status = ASSAY_OK;
    *answer = true;
    for (uint64_t first = 0; first < line->n && *answer && status == ASSAY_OK; first += SAMPLES_AT_ONCE) {
        size_t n = line->n - first < SAMPLES_AT_ONCE ? (size_t)(line->n - first) : SAMPLES_AT_ONCE;
        status = line->source->read(line->source, line, first, n, samples, error);
        for (size_t i = 0; i < n && status == ASSAY_OK; i++) {
            *answer &= samples[i].time >= before;
            before = samples[i].time;
        }
    }
    free(samples);
    return status;
}

typedef struct numbered_sample {
    as_trace_sample sample;
    uint64_t number;
} numbered_sample;

static int compare_samples(const void *a, const void *b) {
    const numbered_sample *x = a, *y = b;
    if (x->sample.time != y->sample.time) return x->sample.time < y->sample.time ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static assay_status sort_line(as_dataset *ds, as_trace_line *line, assay_error *error) {
    size_t size;
    if (line->n > SIZE_MAX || !as_mul_size((size_t)line->n, sizeof(numbered_sample), &size))
        return as_fail_memory(error, NULL);
    as_trace_sample *sorted = as_arena_array(&ds->arena, (size_t)line->n, sizeof *sorted);
    numbered_sample *numbered = sorted && as_budget_take(&ds->budget, size) ? malloc(size) : NULL;
    if (!numbered) return as_fail_memory(error, NULL);
    assay_status status = line->source->read(line->source, line, 0, (size_t)line->n, sorted, error);
    for (size_t i = 0; i < line->n && status == ASSAY_OK; i++)
        numbered[i] = (numbered_sample){.sample = sorted[i], .number = i};
    if (status == ASSAY_OK) {
        qsort(numbered, (size_t)line->n, sizeof *numbered, compare_samples);
        for (size_t i = 0; i < line->n; i++) sorted[i] = numbered[i].sample;
        line->sorted = sorted;
    }
    free(numbered);
    as_budget_give(&ds->budget, size);
    return status;
}

/* Finds out whether the line is in order, and sorts it if not. */
static assay_status put_in_order(const as_dataset *ds, const as_trace_line *line, assay_error *error) {
    if (order_of(line) != UNKNOWN) return ASSAY_OK;
    as_dataset *mutable = (as_dataset *)(uintptr_t)ds;
    as_trace_line *target = (as_trace_line *)(uintptr_t)line;
    bool is_ascending = false;
    AS_TRY(ascends(line, &is_ascending, error));
    pthread_mutex_lock(&mutable->loading);
    assay_status status = ASSAY_OK;
    if (order_of(line) == UNKNOWN) {
        if (!is_ascending) status = sort_line(mutable, target, error);
        if (!is_ascending && status == ASSAY_OK) {
            const char *place = as_ds_text(ds, as_ds_location(ds, line->location)->name);
            as_add_problem(mutable, AS_NOTE, (as_place){.path = as_ds_text(ds, ds->path), .offset = -1}, "trace-order",
                           "the trace of %s goes back in time; its samples were sorted", place ? place : "a location");
        }
        if (status == ASSAY_OK) __atomic_store_n(&target->order, is_ascending ? ASCENDING : SORTED, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&mutable->loading);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

assay_status as_trace_glance(const as_dataset *ds, const as_trace_line *line, uint64_t first, size_t n,
                             as_trace_sample *out, assay_error *error) {
    (void)ds;
    if (order_of(line) != SORTED) return line->source->read(line->source, line, first, n, out, error);
    memcpy(out, line->sorted + first, n * sizeof *out);
    return ASSAY_OK;
}

assay_status as_trace_read(const as_dataset *ds, const as_trace_line *line, uint64_t first, size_t n,
                           as_trace_sample *out, assay_error *error) {
    AS_TRY(put_in_order(ds, line, error));
    return as_trace_glance(ds, line, first, n, out, error);
}

assay_status as_trace_find(const as_dataset *ds, const as_trace_line *line, uint64_t time, uint64_t *index,
                           assay_error *error) {
    uint64_t low = 0, high = line->n;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        as_trace_sample sample;
        AS_TRY(as_trace_read(ds, line, middle, 1, &sample, error));
        if (sample.time < time)
            low = middle + 1;
        else
            high = middle;
    }
    *index = low;
    return ASSAY_OK;
}

assay_status as_trace_prepare(const as_dataset *ds, assay_error *error) {
    as_traces *traces = (as_traces *)(uintptr_t)&ds->traces;
    if (__atomic_load_n(&traces->is_ready, __ATOMIC_ACQUIRE)) return ASSAY_OK;
    pthread_mutex_t *lock = &((as_dataset *)(uintptr_t)ds)->loading;
    pthread_mutex_lock(lock); /* another may set them */
    bool has_start = traces->has_start, is_said = has_start;
    uint64_t start = traces->start;
    pthread_mutex_unlock(lock);
    for (size_t i = 0; i < traces->lines.count; i++) {
        const as_trace_line *line = as_trace_line_at(traces, i);
        as_trace_sample first;
        if (!line->n) continue;
        /* A source that says when the run began knows the first sample; nothing is gained by reading all to make
         * sure. */
        if (is_said)
            AS_TRY(as_trace_glance(ds, line, 0, 1, &first, error));
        else
            AS_TRY(as_trace_read(ds, line, 0, 1, &first, error));
        if (!has_start || first.time < start) start = first.time;
        has_start = true;
    }
    pthread_mutex_lock(lock);
    if (!traces->is_ready) {
        traces->has_start = has_start;
        traces->start = start;
    }
    __atomic_store_n(&traces->is_ready, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(lock);
    return ASSAY_OK;
}

double as_trace_seconds(const as_dataset *ds, uint64_t time) {
    const as_traces *traces = &ds->traces;
    return time <= traces->start ? 0 : (double)(time - traces->start) / traces->ticks_per_second;
}
