/* What ran on GPUs, and what waited for it. */
#include "formats/nsight/load.h"

/* Columns that all of them have, in this order. */
#define PLACED_COLUMNS "start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId"
enum { START, END, PROCESS, DEVICE, CONTEXT, STREAM, CORRELATION, N_PLACED };

typedef struct placed {
    as_ns_span span;
    uint32_t place;
    int64_t process, correlation;
} placed;

static as_ns_taken take_placed(as_ns_part *part, const as_scan *scan, placed *out) {
    int64_t cells[N_PLACED];
    if (!as_ns_ints(scan, 0, N_PLACED, cells) || cells[START] == AS_NS_NULL) return AS_NS_WRONG;
    out->process = cells[PROCESS];
    out->correlation = as_ns_or(cells[CORRELATION], 0);
    out->place = as_ns_keys_number(&part->places, &cells[PROCESS]);
    if (out->place == AS_NS_NONE) return AS_NS_MEMORY;
    as_ns_take_span(part, cells[START], cells[END], &out->span);
    return AS_NS_TAKEN;
}

/* An activity whose own columns were fine. */
static as_ns_taken take_activity(as_ns_part *part, const as_scan *scan, as_ns_activity *row) {
    placed p;
    as_ns_taken taken = take_placed(part, scan, &p);
    if (taken != AS_NS_TAKEN) return taken;
    row->span = p.span;
    row->call = AS_NS_NONE;
    row->stream = p.place;
    row->correlation = p.correlation;
    row->context = ASSAY_NONE;
    return AS_NS_TAKEN;
}

static void settle_place(const as_ns_part *part, void *row) {
    as_ns_activity *activity = row;
    activity->stream = part->place_of[activity->stream];
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

enum { NAMES = N_PLACED, N_NAMES = 3, SHAPE = NAMES + N_NAMES };
static const char *const kernel_columns[] = {PLACED_COLUMNS,
                                             "shortName",
                                             "demangledName",
                                             "mangledName",
                                             "gridX",
                                             "gridY",
                                             "gridZ",
                                             "blockX",
                                             "blockY",
                                             "blockZ",
                                             "registersPerThread",
                                             "staticSharedMemory",
                                             "dynamicSharedMemory"};

static as_ns_taken take_kernel(as_ns_part *part, const as_scan *scan, void *row) {
    as_ns_activity *kernel = row;
    int64_t names[N_NAMES], shape[AS_NS_KEY_WORDS];
    if (!as_ns_ints(scan, NAMES, N_NAMES, names) || !as_ns_ints(scan, SHAPE, AS_NS_KEY_WORDS, shape))
        return AS_NS_WRONG;
    as_ns_taken taken = take_activity(part, scan, kernel);
    if (taken != AS_NS_TAKEN) return taken;
    kernel->what = as_ns_keys_number(&part->names, names);
    kernel->detail = as_ns_keys_number(&part->shapes, shape);
    return kernel->what == AS_NS_NONE || kernel->detail == AS_NS_NONE ? AS_NS_MEMORY : AS_NS_TAKEN;
}

static bool number_function(as_ns_loading *loading, const as_ns_part *part, const int64_t *key, uint32_t *out) {
    (void)part;
    as_ns_export *x = loading->x;
    *out = as_ns_keys_number(&loading->functions, key);
    if (*out == AS_NS_NONE || *out < x->functions.count) return *out != AS_NS_NONE;
    as_str names[N_NAMES];
    for (size_t i = 0; i < N_NAMES; i++) {
        names[i] = key[i] == AS_NS_NULL ? AS_NO_STR : as_ns_string(x, key[i]);
        if (names[i] == AS_NO_STR && key[i] != AS_NS_NULL) return false;
    }
    as_ns_function *function = as_vec_push(&x->functions);
    if (!function) return false;
    *function = (as_ns_function){names[0], names[1], names[2]};
    for (size_t i = 1; i < N_NAMES && function->name == AS_NO_STR; i++) function->name = names[i];
    if (function->name == AS_NO_STR) function->name = as_ds_intern_text(x->ds, "[unnamed]");
    return function->name != AS_NO_STR;
}

static bool number_shape(as_ns_loading *loading, const as_ns_part *part, const int64_t *key, uint32_t *out) {
    (void)part;
    as_ns_export *x = loading->x;
    bool is_said = false;
    for (size_t i = 0; i < AS_NS_KEY_WORDS; i++) is_said |= key[i] != AS_NS_NULL;
    *out = AS_NS_NONE;
    if (!is_said) return true;
    *out = as_ns_keys_number(&loading->shapes, key);
    if (*out == AS_NS_NONE || *out < x->shapes.count) return *out != AS_NS_NONE;
    as_ns_shape *shape = as_vec_push(&x->shapes);
    if (!shape) return false;
    for (size_t i = 0; i < 3; i++) {
        shape->grid[i] = as_ns_or(key[i], -1);
        shape->block[i] = as_ns_or(key[3 + i], -1);
    }
    shape->registers = as_ns_or(key[6], -1);
    shape->static_memory = as_ns_or(key[7], -1);
    shape->dynamic_memory = as_ns_or(key[8], -1);
    return true;
}

static void settle_kernel(const as_ns_part *part, void *row) {
    as_ns_activity *kernel = row;
    settle_place(part, row);
    kernel->what = part->name_of[kernel->what];
    kernel->detail = part->shape_of[kernel->detail];
}

const as_ns_source as_ns_load_kernels = {.table = "CUPTI_ACTIVITY_KIND_KERNEL",
                                         AS_NS_COLUMNS(kernel_columns),
                                         .rows = offsetof(as_ns_export, kernels),
                                         .name_words = N_NAMES,
                                         .shape_words = AS_NS_KEY_WORDS,
                                         .is_gpu = true,
                                         .take = take_kernel,
                                         .settle = settle_kernel,
                                         .name = number_function,
                                         .shape = number_shape};

/* ---- copies, memsets, graphs ------------------------------------------------------------------------------------- */

static const char *const copy_columns[] = {PLACED_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind"};

static uint32_t memory_kind(int64_t kind) {
    return kind >= 0 && kind < AS_NS_NO_MEMORY_KIND ? (uint32_t)kind : AS_NS_NO_MEMORY_KIND;
}

static as_ns_taken take_copy(as_ns_part *part, const as_scan *scan, void *row) {
    as_ns_activity *copy = row;
    int64_t cells[4]; /* bytes, kind, source, target */
    if (!as_ns_ints(scan, N_PLACED, 4, cells) || as_ns_or(cells[0], 0) < 0 || !as_ns_small(cells[1], 0, &copy->what))
        return AS_NS_WRONG;
    copy->bytes = (uint64_t)as_ns_or(cells[0], 0);
    copy->detail = cells[2] == AS_NS_NULL && cells[3] == AS_NS_NULL
                       ? AS_NS_NONE
                       : memory_kind(cells[2]) * 256 + memory_kind(cells[3]);
    return take_activity(part, scan, copy);
}

const as_ns_source as_ns_load_copies = {.table = "CUPTI_ACTIVITY_KIND_MEMCPY",
                                        AS_NS_COLUMNS(copy_columns),
                                        .rows = offsetof(as_ns_export, copies),
                                        .is_gpu = true,
                                        .take = take_copy,
                                        .settle = settle_place};

static const char *const set_columns[] = {PLACED_COLUMNS, "bytes", "value", "memKind"};

static as_ns_taken take_set(as_ns_part *part, const as_scan *scan, void *row) {
    as_ns_activity *set = row;
    int64_t cells[3], value; /* bytes, value, memory */
    if (!as_ns_ints(scan, N_PLACED, 3, cells) || as_ns_or(cells[0], 0) < 0) return AS_NS_WRONG;
    value = as_ns_or(cells[1], 0); /* of 32 bits, whatever sign they were given */
    if (value < INT32_MIN || value > UINT32_MAX) return AS_NS_WRONG;
    set->what = (uint32_t)value;
    set->bytes = (uint64_t)as_ns_or(cells[0], 0);
    set->detail = cells[2] == AS_NS_NULL ? AS_NS_NONE : memory_kind(cells[2]);
    return take_activity(part, scan, set);
}

const as_ns_source as_ns_load_sets = {.table = "CUPTI_ACTIVITY_KIND_MEMSET",
                                      AS_NS_COLUMNS(set_columns),
                                      .rows = offsetof(as_ns_export, sets),
                                      .is_gpu = true,
                                      .take = take_set,
                                      .settle = settle_place};

static const char *const graph_columns[] = {PLACED_COLUMNS, "graphId"};

static as_ns_taken take_graph(as_ns_part *part, const as_scan *scan, void *row) {
    as_ns_activity *graph = row;
    int64_t number;
    if (!as_ns_int(scan, N_PLACED, &number) || !as_ns_small(number, 0, &graph->what)) return AS_NS_WRONG;
    graph->detail = AS_NS_NONE;
    return take_activity(part, scan, graph);
}

const as_ns_source as_ns_load_graphs = {.table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                        AS_NS_COLUMNS(graph_columns),
                                        .rows = offsetof(as_ns_export, graphs),
                                        .is_gpu = true,
                                        .take = take_graph,
                                        .settle = settle_place};

/* ---- waits ------------------------------------------------------------------------------------------------------- */

static const char *const sync_columns[] = {PLACED_COLUMNS, "syncType"};

/* The name is the number of its type until calls are known. */
static as_ns_taken take_sync(as_ns_part *part, const as_scan *scan, void *row) {
    as_ns_sync *sync = row;
    int64_t type;
    placed p;
    if (!as_ns_int(scan, N_PLACED, &type) || !as_ns_small(type, 0, &sync->name)) return AS_NS_WRONG;
    as_ns_taken taken = take_placed(part, scan, &p);
    if (taken != AS_NS_TAKEN) return taken;
    sync->span = p.span;
    sync->call = AS_NS_NONE;
    sync->stream = p.place;
    sync->process = as_ns_keys_number(&part->shapes, &p.process);
    sync->correlation = p.correlation;
    sync->context = ASSAY_NONE;
    return sync->process == AS_NS_NONE ? AS_NS_MEMORY : AS_NS_TAKEN;
}

static bool number_process(as_ns_loading *loading, const as_ns_part *part, const int64_t *key, uint32_t *out) {
    (void)part;
    *out = AS_NS_NONE;
    return *key == AS_NS_NULL || (*out = as_ns_process_of(loading->x, (uint64_t)*key)) != AS_NS_NONE;
}

static void settle_sync(const as_ns_part *part, void *row) {
    as_ns_sync *sync = row;
    sync->stream = part->place_of[sync->stream];
    sync->process = part->shape_of[sync->process];
}

const as_ns_source as_ns_load_syncs = {.table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                       AS_NS_COLUMNS(sync_columns),
                                       .rows = offsetof(as_ns_export, syncs),
                                       .shape_words = 1,
                                       .is_gpu = true,
                                       .take = take_sync,
                                       .settle = settle_sync,
                                       .shape = number_process};
