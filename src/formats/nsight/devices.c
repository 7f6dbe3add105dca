/* GPUs and what they can do; the names of processes and threads. */
#include <stdlib.h>

#include "formats/nsight/load.h"

typedef struct gpu {
    int64_t id;
    as_str name;
    double max_threads; /* 0: unknown, or no GPU of NVIDIA's */
} gpu;

typedef struct as_ns_gpus {
    as_vec gpus;     /* gpu, by id */
    as_vec ranked;   /* those that compute, uint32_t: rows of gpus */
    as_ns_keys keys; /* (pid, device) that are known to be this GPU: */
    as_vec mapped;   /* int64_t, one for each key */
} as_ns_gpus;

/* ---- GPUs -------------------------------------------------------------------------------------------------------- */

/* The text of a cell as a name; AS_NO_STR: it has none, or memory is out. */
static as_str name_of_cell(as_ns_export *x, const as_scan *scan, size_t column, bool *fine) {
    size_t size;
    if (as_scan_type_of(scan, column) < AS_SCAN_TEXT) return AS_NO_STR;
    const char *text = as_scan_text(scan, column, &size);
    as_str name = as_ns_fit_name(x, text, size, false);
    *fine &= name != AS_NO_STR;
    return name;
}

/* id, compute capability, processors, threads of a warp, warps of a processor, name. */
static assay_status read_gpus(as_ns_export *x, const char *table, const char *const *columns) {
    enum { ID, MAJOR, PROCESSORS, LANES, WARPS, N, NAME = N };
    as_scan *scan;
    AS_TRY(as_scan_open(x->db, table, columns, N + 1, (as_scan_range){0}, &scan, x->reader->error));
    bool fine = true;
    uint64_t n_wrong = 0;
    while (fine && as_scan_next(scan)) {
        int64_t cells[N];
        if (!as_ns_ints(scan, 0, N, cells)) {
            n_wrong++;
            continue;
        }
        gpu *new = as_vec_push(&x->gpus->gpus);
        if (!(fine = new != NULL)) break;
        new->id = as_ns_or(cells[ID], 0);
        new->name = name_of_cell(x, scan, NAME, &fine);
        if (as_ns_or(cells[MAJOR], 0) > 0 && cells[PROCESSORS] > 0 && cells[LANES] > 0 && cells[WARPS] > 0)
            new->max_threads = (double)cells[PROCESSORS] * (double)cells[LANES] * (double)cells[WARPS];
    }
    as_ns_tell_wrong(x, table, n_wrong);
    assay_status status = as_scan_close(scan, x->reader->error);
    return fine ? status : as_reader_memory(x->reader);
}

static assay_status read_mapped(as_ns_export *x) {
    static const char *const columns[] = {"pid", "cudaId", "gpuId"};
    as_scan *scan;
    AS_TRY(as_scan_open(x->db, "TARGET_INFO_CUDA_DEVICE", columns, 3, (as_scan_range){0}, &scan, x->reader->error));
    bool fine = true;
    while (fine && as_scan_next(scan)) {
        int64_t cells[3];
        if (!as_ns_ints(scan, 0, 3, cells) || cells[1] == AS_NS_NULL || cells[2] == AS_NS_NULL) continue;
        uint32_t number = as_ns_keys_number(&x->gpus->keys, cells);
        fine =
            number != AS_NS_NONE && (number < x->gpus->mapped.count || as_vec_append(&x->gpus->mapped, &cells[2], 1));
    }
    assay_status status = as_scan_close(scan, x->reader->error);
    return fine ? status : as_reader_memory(x->reader);
}

static int compare_gpus(const void *a, const void *b) {
    const gpu *p = a, *q = b;
    return p->id < q->id ? -1 : p->id > q->id;
}

assay_status as_ns_devices_read(as_ns_export *x) {
    static const char *const new_columns[] = {"id",  "computeMajor", "smCount", "threadsPerWarp", "maxWarpsPerSm",
                                              "name"};
    static const char *const old_columns[] = {"deviceId",          "computeCapabilityMajor",    "numMultiprocessors",
                                              "numThreadsPerWarp", "maxWarpsPerMultiprocessor", "name"};
    as_ns_gpus *gpus = x->gpus = calloc(1, sizeof *gpus);
    if (!gpus) return as_reader_memory(x->reader);
    as_vec_init(&gpus->gpus, sizeof(gpu), &x->ds->budget);
    as_vec_init(&gpus->ranked, sizeof(uint32_t), &x->ds->budget);
    as_vec_init(&gpus->mapped, sizeof(int64_t), &x->ds->budget);
    as_ns_keys_init(&gpus->keys, 2, &x->ds->budget);
    if (as_database_has_column(x->db, "TARGET_INFO_GPU", "smCount"))
        AS_TRY(read_gpus(x, "TARGET_INFO_GPU", new_columns));
    else
        AS_TRY(read_gpus(x, "TARGET_INFO_CUDA_GPU", old_columns));
    if (gpus->gpus.count) qsort(gpus->gpus.data, gpus->gpus.count, sizeof(gpu), compare_gpus);
    for (uint32_t i = 0; i < gpus->gpus.count; i++) {
        if (AS_AT(gpu, &gpus->gpus, i).max_threads > 0 && !as_vec_append(&gpus->ranked, &i, 1))
            return as_reader_memory(x->reader);
    }
    return read_mapped(x);
}

void as_ns_devices_free(as_ns_export *x) {
    if (!x->gpus) return;
    as_vec_free(&x->gpus->gpus);
    as_vec_free(&x->gpus->ranked);
    as_vec_free(&x->gpus->mapped);
    as_ns_keys_free(&x->gpus->keys);
    free(x->gpus);
    x->gpus = NULL;
}

int64_t as_ns_physical_device(const as_ns_export *x, uint32_t process, int64_t device) {
    int64_t pid = process == AS_NS_NONE ? AS_NS_NULL : (int64_t)AS_NS_AT(as_ns_process, x, processes, process)->pid;
    uint32_t of_process = as_ns_keys_find(&x->gpus->keys, (int64_t[]){pid, device}),
             of_all = as_ns_keys_find(&x->gpus->keys, (int64_t[]){AS_NS_NULL, device});
    uint32_t number = of_process != AS_NS_NONE ? of_process : of_all;
    return number == AS_NS_NONE ? device : AS_AT(int64_t, &x->gpus->mapped, number);
}

/* The GPU of a device: of its number where that is one that computes, else the one of that rank among those that do. */
static const gpu *gpu_of(const as_ns_export *x, int64_t device) {
    const as_ns_gpus *gpus = x->gpus;
    size_t low = 0, high = gpus->gpus.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (AS_AT(gpu, &gpus->gpus, middle).id < device)
            low = middle + 1;
        else
            high = middle;
    }
    const gpu *same = low < gpus->gpus.count ? &AS_AT(gpu, &gpus->gpus, low) : NULL;
    if (same && same->id == device && same->max_threads > 0) return same;
    if (device >= 0 && (uint64_t)device < gpus->ranked.count)
        return &AS_AT(gpu, &gpus->gpus, AS_AT(uint32_t, &gpus->ranked, device));
    return same && same->id == device ? same : NULL;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* PROCESSES: the first that is said of a process. */
static assay_status name_processes(as_ns_export *x) {
    static const char *const columns[] = {"globalPid", "name"};
    as_scan *scan;
    AS_TRY(as_scan_open(x->db, "PROCESSES", columns, 2, (as_scan_range){0}, &scan, x->reader->error));
    bool fine = true;
    as_map rows;
    as_map_init(&rows, &x->ds->budget);
    for (uint32_t i = 0; fine && i < x->processes.count; i++)
        fine = as_map_put(&rows, AS_NS_AT(as_ns_process, x, processes, i)->global_pid, i);
    while (fine && as_scan_next(scan)) {
        if (as_scan_type_of(scan, 0) != AS_SCAN_INT) continue;
        uint32_t row = as_map_get(&rows, (uint64_t)as_scan_int(scan, 0));
        if (row == AS_MAP_NONE) continue;
        as_ns_process *process = AS_NS_AT(as_ns_process, x, processes, row);
        if (process->name == AS_NO_STR) process->name = name_of_cell(x, scan, 1, &fine);
    }
    as_map_free(&rows);
    assay_status status = as_scan_close(scan, x->reader->error);
    return fine ? status : as_reader_memory(x->reader);
}

/* ThreadNames: that of the highest priority, of those the first; else what NVTX says. */
static assay_status name_threads(as_ns_loading *loading) {
    as_ns_export *x = loading->x;
    static const char *const columns[] = {"globalTid", "priority", "nameId"};
    as_scan *scan;
    AS_TRY(as_scan_open(x->db, "ThreadNames", columns, 3, (as_scan_range){0}, &scan, x->reader->error));
    as_map rows;
    as_vec priorities; /* int64_t, of the threads' names */
    as_map_init(&rows, &x->ds->budget);
    as_vec_init(&priorities, sizeof(int64_t), &x->ds->budget);
    bool fine = as_ns_zeros(&priorities, x->threads.count);
    for (uint32_t i = 0; fine && i < x->threads.count; i++)
        fine = as_map_put(&rows, AS_NS_AT(as_ns_thread, x, threads, i)->global_tid, i);
    while (fine && as_scan_next(scan)) {
        int64_t cells[3];
        if (!as_ns_ints(scan, 0, 3, cells) || cells[2] == AS_NS_NULL) continue;
        uint32_t row = as_map_get(&rows, (uint64_t)as_ns_or(cells[0], 0));
        if (row == AS_MAP_NONE) continue;
        as_ns_thread *thread = AS_NS_AT(as_ns_thread, x, threads, row);
        int64_t *priority = &AS_AT(int64_t, &priorities, row);
        if (thread->name != AS_NO_STR && as_ns_or(cells[1], 0) <= *priority) continue;
        thread->name = as_ns_string(x, cells[2]);
        *priority = as_ns_or(cells[1], 0);
        fine = thread->name != AS_NO_STR;
    }
    for (size_t i = 0; fine && i < x->threads.count; i++) {
        as_ns_thread *thread = AS_NS_AT(as_ns_thread, x, threads, i);
        if (thread->name == AS_NO_STR) thread->name = as_map_get(&loading->thread_names, thread->global_tid);
    }
    as_vec_free(&priorities);
    as_map_free(&rows);
    assay_status status = as_scan_close(scan, x->reader->error);
    return fine ? status : as_reader_memory(x->reader);
}

assay_status as_ns_describe_places(as_ns_loading *loading) {
    as_ns_export *x = loading->x;
    for (size_t i = 0; i < x->devices.count; i++) {
        as_ns_device *device = AS_NS_AT(as_ns_device, x, devices, i);
        const gpu *g = gpu_of(x, device->id);
        if (!g) continue;
        device->name = g->name;
        device->max_threads = g->max_threads;
    }
    AS_TRY(name_processes(x));
    return name_threads(loading);
}
