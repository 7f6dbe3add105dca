/* Private to values*.c: what is summed up of an export, and how it becomes blocks. */
#ifndef AS_FORMATS_NSIGHT_VALUES_H
#define AS_FORMATS_NSIGHT_VALUES_H

#include "formats/nsight/paths.h"

/* What a cell has a row of. */
enum { AS_NS_HAS_TIME = 1, AS_NS_HAS_GPU_TIME = 2, AS_NS_HAS_BYTES = 4, AS_NS_HAS_WAIT = 8 };

/* What one context has at one place. Nanoseconds, as integers where they are. */
typedef struct as_ns_cell {
    assay_id context, location;
    uint8_t has;
    int64_t time; /* all of it */
    /* what is in other contexts as well, and not to be counted here: children, copies that the host waits for */
    int64_t inside;
    double overlap; /* the same: what stands below OVERLAP */
    int64_t gpu_time, wait;
    uint64_t visits, bytes, samples;
} as_ns_cell;

typedef struct as_ns_values {
    as_ns_builder builder;
    as_ns_export *x;
    as_vec cells;  /* as_ns_cell */
    as_map of;     /* as_pair(context, location) -> cell */
    uint32_t last; /* that was found */
    size_t n_below_zero;
} as_ns_values;

/* The cell of a context at a place (ASSAY_NONE: none is known), made when new; NULL when memory is out. Pointers to
 * others end their life. */
as_ns_cell *as_ns_cell_at(as_ns_values *v, assay_id context, assay_id location);
/* One that is there, or NULL. */
as_ns_cell *as_ns_cell_find(const as_ns_values *v, assay_id context, assay_id location);

static inline assay_id as_ns_thread_place(const as_ns_export *x, uint32_t thread) {
    return thread < x->threads.count ? AS_NS_AT(as_ns_thread, x, threads, thread)->location : ASSAY_NONE;
}
static inline assay_id as_ns_stream_place(const as_ns_export *x, uint32_t stream) {
    return stream < x->streams.count ? AS_NS_AT(as_ns_stream, x, streams, stream)->location : ASSAY_NONE;
}
/* a + b, or the end of what numbers can say. */
static inline int64_t as_ns_sum(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* Kernels, copies, memsets and graphs at their streams; overlaps of these, and of calls that wait or allocate; facts of
 * devices. kernels: what they cover, to be freed in any case (values_gpu.c). */
assay_status as_ns_add_gpu(as_ns_values *v, as_ns_measure *kernels);
/* Cells become rows, and contexts those of the dataset (values_rows.c). */
assay_status as_ns_add_rows(as_ns_values *v);

#endif
