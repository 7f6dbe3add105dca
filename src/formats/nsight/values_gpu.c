/* What runs on GPUs: its time, what of it overlaps, and how busy devices are. */
#include <stdlib.h>
#include <strings.h>

#include "formats/nsight/values.h"

/* Threads of a kernel whose device is not known: sums of so many are exact. */
#define MAX_THREADS 0x1p42

/* ---- spans ------------------------------------------------------------------------------------------------------- */

/* Activities that take time, as sweeps want them. */
typedef struct spans {
    size_t n;
    as_ns_weighted *spans;
    uint32_t *rows; /* each one's activity */
    double *overlaps;
    uint64_t bytes; /* of the budget */
} spans;

static void spans_free(const as_ns_export *x, spans *s) {
    as_budget_give(&x->ds->budget, s->bytes);
    free(s->spans);
    free(s->rows);
    free(s->overlaps);
    *s = (spans){0};
}

/* Room for n. False when memory is out. */
static bool spans_reserve(const as_ns_export *x, spans *s, size_t n) {
    *s = (spans){0};
    uint64_t bytes = (uint64_t)(n + 1) * (sizeof *s->spans + sizeof *s->rows + sizeof *s->overlaps);
    if (n >= UINT32_MAX || !as_budget_take(&x->ds->budget, bytes)) return false;
    s->bytes = bytes;
    s->spans = malloc((n + 1) * sizeof *s->spans);
    s->rows = malloc((n + 1) * sizeof *s->rows);
    s->overlaps = calloc(n + 1, sizeof *s->overlaps);
    return s->spans && s->rows && s->overlaps;
}

static void spans_put(spans *s, size_t at, as_ns_span span, double weight, size_t row) {
    s->spans[at] = (as_ns_weighted){span.start, span.end, weight};
    s->rows[at] = (uint32_t)row;
}

static bool take_spans(const as_ns_export *x, const as_vec *activities, spans *s) {
    if (!spans_reserve(x, s, activities->count)) return false;
    for (size_t i = 0; i < activities->count; i++) {
        as_ns_span span = AS_AT(as_ns_activity, activities, i).span;
        if (as_ns_length(span) > 0) spans_put(s, s->n++, span, 1, i);
    }
    return true;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* What a kernel takes of its device. */
static double threads_of(const as_ns_export *x, const as_ns_activity *kernel) {
    double threads = 1, most = 0;
    if (kernel->detail < x->shapes.count) {
        const as_ns_shape *shape = AS_NS_AT(as_ns_shape, x, shapes, kernel->detail);
        for (int i = 0; i < 3; i++) {
            if (shape->grid[i] >= 0) threads *= (double)shape->grid[i];
            if (shape->block[i] >= 0) threads *= (double)shape->block[i];
        }
    }
    if (kernel->stream < x->streams.count) {
        uint32_t device = AS_NS_AT(as_ns_stream, x, streams, kernel->stream)->device;
        if (device < x->devices.count) most = AS_NS_AT(as_ns_device, x, devices, device)->max_threads;
    }
    if (!(most > 0)) most = MAX_THREADS;
    return threads < most ? threads : most;
}

/* The device of each kernel that takes time; the number of devices where it is not known, one more where it takes
 * none. */
static size_t device_of(const as_ns_export *x, const as_ns_activity *kernel) {
    size_t n = x->devices.count;
    if (as_ns_length(kernel->span) == 0) return n + 1;
    uint32_t device =
        kernel->stream < x->streams.count ? AS_NS_AT(as_ns_stream, x, streams, kernel->stream)->device : AS_NS_NONE;
    return device < n ? device : n;
}

/* Device by device; *firsts (to be freed): of each of them, of those of none, and the end of all. */
static bool take_kernels(const as_ns_export *x, spans *s, size_t **firsts) {
    size_t n_devices = x->devices.count;
    size_t *first = *firsts = calloc(n_devices + 4, sizeof *first);
    if (!first || !spans_reserve(x, s, x->kernels.count)) return false;
    for (size_t i = 0; i < x->kernels.count; i++) first[device_of(x, AS_NS_AT(as_ns_activity, x, kernels, i)) + 2]++;
    for (size_t d = 2; d <= n_devices + 2; d++) first[d] += first[d - 1];
    for (size_t i = 0; i < x->kernels.count; i++) {
        const as_ns_activity *kernel = AS_NS_AT(as_ns_activity, x, kernels, i);
        size_t device = device_of(x, kernel);
        if (device <= n_devices) spans_put(s, first[device + 1]++, kernel->span, threads_of(x, kernel), i);
    }
    s->n = first[n_devices + 1];
    return true;
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

/* From the first start to the last end, of these (each of which begins with its span) and of those before. */
static uint64_t stretch(const as_vec *activities, int64_t *least, int64_t *greatest) {
    for (size_t i = 0; i < activities->count; i++) {
        const as_ns_span *span = (const as_ns_span *)((const char *)activities->data + i * activities->size);
        if (as_ns_length(*span) == 0) continue;
        if (span->start < *least) *least = span->start;
        if (span->end > *greatest) *greatest = span->end;
    }
    return *greatest > *least ? (uint64_t)*greatest - (uint64_t)*least : 0;
}

/* How long the capture took: as the export says, else as long as there is anything. */
static assay_status capture_length(const as_ns_export *x, uint64_t *out) {
    static const char *const columns[] = {"duration"};
    as_scan *scan;
    *out = 0;
    if (x->db) {
        AS_TRY(as_scan_open(x->db, "ANALYSIS_DETAILS", columns, 1, (as_scan_range){0}, &scan, x->reader->error));
        while (as_scan_next(scan)) {
            int64_t length = as_scan_type_of(scan, 0) == AS_SCAN_INT ? as_scan_int(scan, 0) : 0;
            if (length > 0 && (uint64_t)length > *out) *out = (uint64_t)length;
        }
        AS_TRY(as_scan_close(scan, x->reader->error));
    }
    if (*out) return ASSAY_OK;
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    const as_vec *all[] = {&x->kernels, &x->copies, &x->sets, &x->graphs, &x->syncs, &x->calls, &x->ranges, &x->osrt};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) *out = stretch(all[i], &least, &greatest);
    return ASSAY_OK;
}

static bool add_fact(as_ns_export *x, as_owner owner, assay_id id, const char *key, double value) {
    return as_add_attribute(x->ds, owner, id, key, as_cell_real(value));
}

/* How long kernels run on a device, in all and of the capture. */
static bool add_device_facts(as_ns_export *x, size_t device, uint64_t busy, uint64_t capture) {
    assay_id location = AS_NS_AT(as_ns_device, x, devices, device)->location;
    if (location == ASSAY_NONE || busy == 0) return true;
    return add_fact(x, AS_OWNER_LOCATION, location, "gpu_busy_time", (double)busy / 1e9) &&
           (!capture || add_fact(x, AS_OWNER_LOCATION, location, "gpu_utilisation", (double)busy / (double)capture));
}

static bool add_run_facts(as_ns_export *x, const as_ns_measure *kernels) {
    if (kernels->total == 0) return true;
    double sum = 0;
    for (size_t i = 0; i < x->kernels.count; i++)
        sum += (double)as_ns_length(AS_NS_AT(as_ns_activity, x, kernels, i)->span);
    return add_fact(x, AS_OWNER_RUN, x->run, "gpu_busy_time", (double)kernels->total / 1e9) &&
           add_fact(x, AS_OWNER_RUN, x->run, "gpu_concurrency", sum / (double)kernels->total);
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static bool add_activities(as_ns_values *v, const as_vec *activities, bool has_bytes) {
    as_ns_export *x = v->x;
    for (size_t i = 0; i < activities->count; i++) {
        const as_ns_activity *activity = &AS_AT(as_ns_activity, activities, i);
        as_ns_cell *cell = as_ns_cell_at(v, activity->context, as_ns_stream_place(x, activity->stream));
        if (!cell) return false;
        int64_t length = as_ns_length(activity->span);
        cell->gpu_time = as_ns_sum(cell->gpu_time, length);
        cell->has |= AS_NS_HAS_GPU_TIME;
        if (x->mode != AS_NS_PLAIN) {
            cell->time = as_ns_sum(cell->time, length);
            cell->has |= AS_NS_HAS_TIME;
        }
        cell->visits++;
        if (!has_bytes) continue;
        if (__builtin_add_overflow(cell->bytes, activity->bytes, &cell->bytes)) cell->bytes = UINT64_MAX;
        cell->has |= AS_NS_HAS_BYTES;
    }
    return true;
}

static bool add_overlaps(as_ns_values *v, const as_vec *activities, const spans *s) {
    for (size_t i = 0; i < s->n; i++) {
        if (!(s->overlaps[i] > 0)) continue;
        const as_ns_activity *activity = &AS_AT(as_ns_activity, activities, s->rows[i]);
        as_ns_cell *cell = as_ns_cell_at(v, activity->context, as_ns_stream_place(v->x, activity->stream));
        if (!cell) return false;
        cell->overlap += s->overlaps[i];
    }
    return true;
}

/* Overlaps of kernels, facts of devices, and what all kernels cover. */
static assay_status sweep_kernels(as_ns_values *v, as_ns_measure *kernels) {
    as_ns_export *x = v->x;
    as_budget *budget = &x->ds->budget;
    spans s = {0};
    size_t *firsts = NULL;
    uint64_t capture;
    AS_TRY(capture_length(x, &capture));
    bool fine = take_kernels(x, &s, &firsts);
    for (size_t d = 0; fine && d <= x->devices.count; d++) {
        size_t first = firsts[d], n = firsts[d + 1] - first;
        if (n == 0) continue;
        as_ns_measure busy = {0};
        fine = (x->mode == AS_NS_PLAIN || as_ns_kernel_overlaps(s.spans + first, n, budget, s.overlaps + first)) &&
               as_ns_measure_union(s.spans + first, n, NULL, budget, &busy);
        if (fine && d < x->devices.count) fine = add_device_facts(x, d, busy.total, capture);
        if (n == s.n)
            *kernels = busy; /* of all */
        else
            as_ns_measure_free(&busy);
    }
    if (fine && s.n && kernels->total == 0) fine = as_ns_measure_union(s.spans, s.n, NULL, budget, kernels);
    fine = fine && add_overlaps(v, &x->kernels, &s) && add_run_facts(x, kernels);
    spans_free(x, &s);
    free(firsts);
    return fine ? ASSAY_OK : as_reader_memory(x->reader);
}

/* Overlaps of copies or memsets, where `cover` takes all of it; *all: that, and these. To be freed in any case. */
static bool sweep_others(as_ns_values *v, const as_vec *activities, const as_ns_measure *cover, as_ns_measure *all) {
    as_ns_export *x = v->x;
    spans s = {0};
    bool fine = take_spans(x, activities, &s) &&
                as_ns_shared_overlaps(s.spans, s.n, cover, &x->ds->budget, s.overlaps) &&
                add_overlaps(v, activities, &s) && as_ns_measure_union(s.spans, s.n, cover, &x->ds->budget, all);
    spans_free(x, &s);
    return fine;
}

/* ---- calls that wait --------------------------------------------------------------------------------------------- */

/* Time of copies and memsets that the host waits for is theirs, not that of their call; it has no less than nothing. */
static bool take_off_blocking(as_ns_values *v) {
    as_ns_export *x = v->x;
    size_t n = x->calls.count;
    if (x->copies.count + x->sets.count == 0) return true;
    int64_t *left = as_budget_allows(&x->ds->budget, n * sizeof *left) ? malloc((n + 1) * sizeof *left) : NULL;
    if (!left) return false;
    for (size_t i = 0; i < n; i++) left[i] = as_ns_length(AS_NS_AT(as_ns_call, x, calls, i)->span);
    const as_vec *both[] = {&x->copies, &x->sets};
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < both[k]->count; i++) {
            const as_ns_activity *activity = &AS_AT(as_ns_activity, both[k], i);
            if (activity->call >= n || !as_ns_is_blocking(x, k ? AS_NS_SET : AS_NS_COPY, activity)) continue;
            const as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, activity->call);
            if (as_ns_node_of(&v->builder, call->context) != AS_NS_NODE_API ||
                as_ns_is_allocation(as_ds_text(x->ds, call->name)))
                continue;
            int64_t length = as_ns_length(activity->span), *rest = &left[activity->call];
            if (length > *rest) length = *rest;
            as_ns_cell *cell = as_ns_cell_find(v, call->context, as_ns_thread_place(x, call->thread));
            if (cell) cell->inside = as_ns_sum(cell->inside, length);
            *rest -= length;
        }
    }
    free(left);
    return true;
}

/* Waits: what of them is covered overlaps. */
static bool add_syncs(as_ns_values *v, const as_ns_measure *busy) {
    as_ns_export *x = v->x;
    for (size_t i = 0; i < x->syncs.count; i++) {
        const as_ns_sync *sync = AS_NS_AT(as_ns_sync, x, syncs, i);
        if (as_ns_node_of(&v->builder, sync->context) != AS_NS_NODE_SYNC) continue;
        bool has_call = sync->call < x->calls.count;
        assay_id place = has_call ? as_ns_thread_place(x, AS_NS_AT(as_ns_call, x, calls, sync->call)->thread)
                                  : as_ns_stream_place(x, sync->stream);
        if (place == ASSAY_NONE) continue; /* of a whole device, and nobody knows who waited */
        as_ns_cell *cell = as_ns_cell_at(v, sync->context, place);
        if (!cell) return false;
        int64_t length = as_ns_length(sync->span);
        cell->wait = as_ns_sum(cell->wait, length);
        cell->has |= AS_NS_HAS_WAIT;
        if (has_call && length > 0)
            cell->overlap += (double)as_ns_measure_between(busy, sync->span.start, sync->span.end);
    }
    return true;
}

/* Calls that take or give memory of the device and wait for it. */
static bool waits_for_memory(const char *name) {
    return as_ns_is_allocation(name) && !strcasestr(name, "host") && !strcasestr(name, "async");
}

static bool add_allocations(as_ns_values *v, const as_ns_measure *busy) {
    as_ns_export *x = v->x;
    as_map known; /* a name -> whether it is such a call's */
    as_map_init(&known, &x->ds->budget);
    bool fine = true;
    for (size_t i = 0; fine && i < x->calls.count; i++) {
        const as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, i);
        uint32_t waits = as_map_get(&known, call->name);
        if (waits == AS_MAP_NONE) {
            waits = waits_for_memory(as_ds_text(x->ds, call->name));
            fine = as_map_put(&known, call->name, waits);
        }
        if (!waits || as_ns_length(call->span) == 0) continue;
        as_ns_cell *cell = as_ns_cell_at(v, call->context, as_ns_thread_place(x, call->thread));
        fine = fine && cell;
        if (fine) cell->overlap += (double)as_ns_measure_between(busy, call->span.start, call->span.end);
    }
    as_map_free(&known);
    return fine;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool add_shares(as_ns_values *v, const as_ns_measure *kernels) {
    as_ns_export *x = v->x;
    as_ns_measure with_sets = {0}, with_copies = {0}, busy = {0};
    spans graphs = {0};
    bool fine = take_off_blocking(v) && sweep_others(v, &x->sets, kernels, &with_sets) &&
                sweep_others(v, &x->copies, &with_sets, &with_copies);
    as_ns_measure_free(&with_sets);
    fine = fine && take_spans(x, &x->graphs, &graphs) &&
           as_ns_measure_union(graphs.spans, graphs.n, &with_copies, &x->ds->budget, &busy);
    as_ns_measure_free(&with_copies);
    fine = fine && add_syncs(v, &busy) && add_allocations(v, &busy);
    as_ns_measure_free(&busy);
    spans_free(x, &graphs);
    return fine;
}

assay_status as_ns_add_gpu(as_ns_values *v, as_ns_measure *kernels) {
    as_ns_export *x = v->x;
    if (!add_activities(v, &x->kernels, false) || !add_activities(v, &x->copies, true) ||
        !add_activities(v, &x->sets, true) || !add_activities(v, &x->graphs, false))
        return as_reader_memory(x->reader);
    AS_TRY(sweep_kernels(v, kernels));
    return x->mode == AS_NS_PLAIN || add_shares(v, kernels) ? ASSAY_OK : as_reader_memory(x->reader);
}
