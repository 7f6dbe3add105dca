/* The union of each run's pauses, and how much of an interval it overlaps. */
#include <stdlib.h>

#include "formats/afperf/reading.h"

typedef struct span {
    uint64_t start, end;
    uint64_t before; /* paused before it */
} span;

typedef struct as_af_pauses {
    uint32_t n;
    span spans[];
} as_af_pauses;

static int compare_spans(const void *a, const void *b) {
    const span *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void unite(as_af_pauses *pauses) {
    uint32_t n = 0;
    qsort(pauses->spans, pauses->n, sizeof *pauses->spans, compare_spans);
    for (uint32_t i = 0; i < pauses->n; i++) {
        span *next = &pauses->spans[i], *last = n ? &pauses->spans[n - 1] : NULL;
        if (last && next->start <= last->end) {
            if (last->end < next->end) last->end = next->end;
            continue;
        }
        pauses->spans[n++] = *next;
    }
    pauses->n = n;
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        pauses->spans[i].before = total;
        total += pauses->spans[i].end - pauses->spans[i].start;
    }
}

bool as_af_unite_pauses(as_af_capture *capture) {
    for (size_t i = 0; i < capture->runs.count; i++) {
        as_af_run *run = AS_AF_RUN(capture, i);
        if (!run->n_pauses) continue;
        run->pauses = as_arena_alloc(&capture->ds->arena, sizeof *run->pauses + run->n_pauses * sizeof(span));
        if (!run->pauses) return false;
    }
    for (size_t i = 0; i < capture->intervals.count; i++) {
        const as_af_interval *interval = AS_AF_INTERVAL(capture, i);
        if (as_af_kind_of(interval) != AS_AF_PAUSE) continue;
        as_af_pauses *pauses = AS_AF_RUN(capture, interval->run)->pauses;
        pauses->spans[pauses->n++] = (span){interval->start, as_af_end_of(interval), 0};
    }
    for (size_t i = 0; i < capture->runs.count; i++) {
        if (AS_AF_RUN(capture, i)->pauses) unite(AS_AF_RUN(capture, i)->pauses);
    }
    return true;
}

uint64_t as_af_paused(const as_af_run *run) {
    if (!run->pauses || !run->pauses->n) return 0;
    const span *last = &run->pauses->spans[run->pauses->n - 1];
    return last->before + (last->end - last->start);
}

/* What was paused before a time. */
static uint64_t paused_before(const as_af_pauses *pauses, uint64_t time) {
    uint32_t low = 0, high = pauses->n; /* the spans that start before it */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pauses->spans[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return 0;
    const span *last = &pauses->spans[low - 1];
    return last->before + ((time < last->end ? time : last->end) - last->start);
}

uint64_t as_af_paused_in(const as_af_run *run, uint64_t start, uint64_t end) {
    return run->pauses && start < end ? paused_before(run->pauses, end) - paused_before(run->pauses, start) : 0;
}
