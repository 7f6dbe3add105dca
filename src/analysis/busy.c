#include "analysis/busy.h"

#include <stdlib.h>

typedef struct activity {
    assay_id device;
    bool is_kernel;
    double start, end;
} activity;

enum { KERNEL, GRAPH, COPY, SET, N_KINDS };

/* The device of a stream: what lies above it, else the location itself. */
static assay_id device_of(const as_dataset *ds, assay_id location) {
    assay_id above = as_ds_location(ds, location)->parent;
    return above == ASSAY_NONE ? location : above;
}

static bool gather(const as_dataset *ds, as_vec *activities, double *span) {
    static const char *const names[N_KINDS] = {
        [KERNEL] = "kernel", [GRAPH] = "graph", [COPY] = "memcpy", [SET] = "memset"};
    as_str kinds[N_KINDS];
    double first = INFINITY, last = -INFINITY;
    bool has_any = false;
    *span = 0;
    for (unsigned k = 0; k < N_KINDS; k++) {
        kinds[k] = as_find(&ds->strings, names[k], strlen(names[k]));
        has_any |= kinds[k] != AS_NO_STR;
    }
    if (!has_any) return true;
    for (uint64_t i = 0, n = as_ds_intervals(ds); i < n; i++) {
        as_event event;
        as_ds_event(ds, i, &event);
        double end = event.end > event.start ? event.end : event.start;
        if (event.start < first) first = event.start;
        if (end > last) last = end;
        unsigned k = 0;
        while (k < N_KINDS && (kinds[k] != event.kind || event.kind == AS_NO_STR)) k++;
        if (k == N_KINDS || event.location == ASSAY_NONE || !(end > event.start)) continue;
        activity a = {device_of(ds, event.location), k <= GRAPH, event.start, end};
        if (!as_vec_append(activities, &a, 1)) return false;
    }
    *span = last > first ? last - first : 0;
    return true;
}

static int compare_activities(const void *a, const void *b) {
    const activity *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* What an activity adds to a union that reaches up to *end. */
static double add_to_union(const activity *a, double *end) {
    double from = a->start > *end ? a->start : *end;
    if (a->end <= from) return 0;
    *end = a->end;
    return a->end - from;
}

bool as_devices_busy(const as_dataset *ds, as_vec *out, double *span) {
    as_vec activities;
    as_vec_init(&activities, sizeof(activity), as_ds_budget(ds));
    bool fine = gather(ds, &activities, span);
    if (fine && activities.count) qsort(activities.data, activities.count, sizeof(activity), compare_activities);
    double kernels_end = -INFINITY, end = -INFINITY;
    for (size_t i = 0; fine && i < activities.count; i++) {
        const activity *a = &AS_AT(activity, &activities, i);
        if (i == 0 || a[-1].device != a->device) {
            as_device_busy device = {.device = a->device};
            kernels_end = end = -INFINITY;
            fine = as_vec_append(out, &device, 1);
        }
        if (!fine) break;
        as_device_busy *device = &AS_AT(as_device_busy, out, out->count - 1);
        if (a->is_kernel) device->kernels += add_to_union(a, &kernels_end);
        device->all += add_to_union(a, &end);
    }
    as_vec_free(&activities);
    return fine;
}
