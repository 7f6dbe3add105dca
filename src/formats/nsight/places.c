/* Where activities are: threads of processes, streams of devices. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/nsight/load.h"

#define THREAD_BITS 0xffffffu

typedef struct as_ns_place_index {
    as_map processes, threads, devices; /* the id -> row */
    as_ns_keys streams;
} as_ns_place_index;

static as_ns_place_index *index_of(as_ns_export *x) {
    if (x->place_index) return x->place_index;
    as_ns_place_index *index = x->place_index = calloc(1, sizeof *index);
    if (!index) return NULL;
    as_map_init(&index->processes, &x->ds->budget);
    as_map_init(&index->threads, &x->ds->budget);
    as_map_init(&index->devices, &x->ds->budget);
    as_ns_keys_init(&index->streams, 4, &x->ds->budget);
    return index;
}

void as_ns_places_free(as_ns_export *x) {
    if (!x->place_index) return;
    as_map_free(&x->place_index->processes);
    as_map_free(&x->place_index->threads);
    as_map_free(&x->place_index->devices);
    as_ns_keys_free(&x->place_index->streams);
    free(x->place_index);
    x->place_index = NULL;
}

uint32_t as_ns_process_of(as_ns_export *x, uint64_t global_id) {
    as_ns_place_index *index = index_of(x);
    uint64_t id = global_id & ~(uint64_t)THREAD_BITS;
    uint32_t row = index ? as_map_get(&index->processes, id) : AS_NS_NONE;
    if (row != AS_MAP_NONE || !index) return row;
    as_ns_process *process = as_vec_push(&x->processes);
    row = (uint32_t)(x->processes.count - 1);
    if (!process || !as_map_put(&index->processes, id, row)) return AS_NS_NONE;
    *process = (as_ns_process){
        .global_pid = id, .pid = (uint32_t)(id >> 24 & THREAD_BITS), .name = AS_NO_STR, .location = ASSAY_NONE};
    return row;
}

uint32_t as_ns_thread_of(as_ns_export *x, uint64_t global_tid) {
    as_ns_place_index *index = index_of(x);
    uint32_t row = index ? as_map_get(&index->threads, global_tid) : AS_NS_NONE;
    if (row != AS_MAP_NONE || !index) return row;
    uint32_t process = as_ns_process_of(x, global_tid);
    as_ns_thread *thread = process != AS_NS_NONE ? as_vec_push(&x->threads) : NULL;
    row = (uint32_t)(x->threads.count - 1);
    if (!thread || !as_map_put(&index->threads, global_tid, row)) return AS_NS_NONE;
    *thread = (as_ns_thread){.global_tid = global_tid,
                             .process = process,
                             .tid = (uint32_t)(global_tid & THREAD_BITS),
                             .name = AS_NO_STR,
                             .location = ASSAY_NONE};
    return row;
}

uint32_t as_ns_device_of(as_ns_export *x, int64_t device) {
    as_ns_place_index *index = index_of(x);
    uint32_t row = index ? as_map_get(&index->devices, (uint64_t)device) : AS_NS_NONE;
    if (row != AS_MAP_NONE || !index) return row;
    as_ns_device *new = as_vec_push(&x->devices);
    row = (uint32_t)(x->devices.count - 1);
    if (!new || !as_map_put(&index->devices, (uint64_t)device, row)) return AS_NS_NONE;
    *new = (as_ns_device){.id = device, .name = AS_NO_STR, .location = ASSAY_NONE};
    return row;
}

uint32_t as_ns_stream_of(as_ns_export *x, uint32_t process, int64_t device, int64_t context, int64_t stream) {
    as_ns_place_index *index = index_of(x);
    uint32_t device_row = as_ns_device_of(x, device);
    if (!index || device_row == AS_NS_NONE) return AS_NS_NONE;
    uint32_t row = as_ns_keys_number(&index->streams, (int64_t[]){process, device_row, context, stream});
    if (row == AS_NS_NONE || row < x->streams.count) return row;
    as_ns_stream *new = as_vec_push(&x->streams);
    if (!new) return AS_NS_NONE;
    *new = (as_ns_stream){
        .process = process, .device = device_row, .context = context, .stream = stream, .location = ASSAY_NONE};
    return row;
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

static bool add_number(as_dataset *ds, assay_id location, const char *key, int64_t number) {
    return as_add_attribute(ds, AS_OWNER_LOCATION, location, key, as_cell_int(number));
}

/* "process 17 (solver)": a word, a number, and a name where there is one. */
static assay_id add_location(as_ns_export *x, assay_id parent, const char *kind, int64_t number, as_str name,
                             const char *more) {
    as_dataset *ds = x->ds;
    as_vec text;
    as_vec_init(&text, 1, &ds->budget);
    char digits[64];
    snprintf(digits, sizeof digits, "%s %lld%s", kind, (long long)number, more);
    bool fine = as_vec_text(&text, digits);
    if (name != AS_NO_STR && *as_ds_text(ds, name))
        fine = fine && as_vec_text(&text, " (") && as_vec_text(&text, as_ds_text(ds, name)) && as_vec_text(&text, ")");
    as_location location = AS_LOCATION_INIT;
    location.parent = parent;
    location.kind = as_ds_intern_text(ds, kind);
    location.name = fine ? as_ds_intern(ds, text.data, text.count) : AS_NO_STR;
    location.leaf = parent != ASSAY_NONE;
    as_vec_free(&text);
    if (location.name == AS_NO_STR || location.kind == AS_NO_STR) return ASSAY_NONE;
    return as_add_location(ds, &location);
}

static bool add_threads(as_ns_export *x) {
    for (size_t i = 0; i < x->processes.count; i++) {
        as_ns_process *process = AS_NS_AT(as_ns_process, x, processes, i);
        process->location = add_location(x, ASSAY_NONE, "process", process->pid, process->name, "");
        if (process->location == ASSAY_NONE || !add_number(x->ds, process->location, "pid", process->pid)) return false;
    }
    for (size_t i = 0; i < x->threads.count; i++) {
        as_ns_thread *thread = AS_NS_AT(as_ns_thread, x, threads, i);
        assay_id process = AS_NS_AT(as_ns_process, x, processes, thread->process)->location;
        thread->location = add_location(x, process, "thread", thread->tid, thread->name, "");
        if (thread->location == ASSAY_NONE || !add_number(x->ds, thread->location, "tid", thread->tid)) return false;
    }
    return true;
}

/* Whose streams a device has: of several contexts, of several processes. */
typedef struct sharing {
    const as_ns_stream *first;
    bool has_contexts, has_processes;
} sharing;

static void note_sharing(const as_ns_export *x, sharing *devices) {
    for (size_t i = 0; i < x->streams.count; i++) {
        const as_ns_stream *stream = AS_NS_AT(as_ns_stream, x, streams, i);
        sharing *device = &devices[stream->device];
        if (!device->first) device->first = stream;
        device->has_contexts |= stream->context != device->first->context;
        device->has_processes |= stream->process != device->first->process;
    }
}

static bool add_stream(as_ns_export *x, as_ns_stream *stream, const sharing *device) {
    char more[64] = "";
    int64_t pid =
        stream->process == AS_NS_NONE ? -1 : (int64_t)AS_NS_AT(as_ns_process, x, processes, stream->process)->pid;
    int n = device->has_contexts ? snprintf(more, sizeof more, ", context %lld", (long long)stream->context) : 0;
    if (device->has_processes && pid >= 0 && n >= 0 && n < 40)
        snprintf(more + n, sizeof more - (size_t)n, ", process %lld", (long long)pid);
    assay_id parent = AS_NS_AT(as_ns_device, x, devices, stream->device)->location;
    stream->location = add_location(x, parent, "stream", stream->stream, AS_NO_STR, more);
    return stream->location != ASSAY_NONE && add_number(x->ds, stream->location, "stream", stream->stream) &&
           add_number(x->ds, stream->location, "context", stream->context) &&
           (pid < 0 || add_number(x->ds, stream->location, "pid", pid));
}

static bool add_streams(as_ns_export *x) {
    for (size_t i = 0; i < x->devices.count; i++) {
        as_ns_device *device = AS_NS_AT(as_ns_device, x, devices, i);
        device->location = add_location(x, ASSAY_NONE, "device", device->id, device->name, "");
        if (device->location == ASSAY_NONE || !add_number(x->ds, device->location, "device", device->id)) return false;
    }
    as_vec devices;
    as_vec_init(&devices, sizeof(sharing), &x->ds->budget);
    bool fine = as_ns_zeros(&devices, x->devices.count);
    if (fine) note_sharing(x, devices.data);
    for (size_t i = 0; fine && i < x->streams.count; i++) {
        as_ns_stream *stream = AS_NS_AT(as_ns_stream, x, streams, i);
        fine = add_stream(x, stream, &AS_AT(sharing, &devices, stream->device));
    }
    as_vec_free(&devices);
    return fine;
}

assay_status as_ns_add_locations(as_ns_export *x) {
    return add_threads(x) && add_streams(x) ? ASSAY_OK : as_reader_memory(x->reader);
}
