/* The table of events: activities as they are kept, each made an event when somebody asks. */
#include <stdio.h>

#include "core/search.h"
#include "formats/nsight/export.h"

/* How many attributes lie before an event is known for every so many of them. */
enum { STEP = 16, MAX_ATTRIBUTES = 8 };

typedef enum attribute_key {
    CORRELATION_ID,
    DEMANGLED_NAME,
    MANGLED_NAME,
    GRID,
    BLOCK,
    REGISTERS,
    STATIC_SHARED_MEMORY,
    DYNAMIC_SHARED_MEMORY,
    BYTES,
    SRC_KIND,
    DST_KIND,
    MEM_KIND,
    DOMAIN,
    STYLE,
    RESULT,
    BLOCKING,
    UNFINISHED,
    N_KEYS
} attribute_key;

/* Texts that events need and activities have as numbers. */
typedef struct as_ns_event_words {
    uint64_t first[AS_NS_KINDS + 1]; /* event of each kind; the last: of all */
    as_str kinds[AS_NS_KINDS], keys[N_KEYS];
    as_map copies, sets, graphs; /* copyKind, value, id -> name */
    as_str *grids, *blocks;      /* of each shape; AS_NO_STR: not said */
    uint64_t *attributes_before;
} as_ns_event_words;

static const as_ns_export *export_of(const as_event_source *source) {
    return (const as_ns_export *)((const char *)source - offsetof(as_ns_export, events));
}

static const as_vec *rows_of(const as_ns_export *x, as_ns_kind kind) {
    const as_vec *rows[AS_NS_KINDS] = {
        [AS_NS_KERNEL] = &x->kernels, [AS_NS_COPY] = &x->copies, [AS_NS_SET] = &x->sets,
        [AS_NS_GRAPH] = &x->graphs,   [AS_NS_SYNC] = &x->syncs,  [AS_NS_CALL] = &x->calls,
        [AS_NS_RANGE] = &x->ranges,   [AS_NS_OSRT] = &x->osrt,   [AS_NS_SAMPLE] = &x->samples};
    return rows[kind];
}

static as_ns_kind kind_of(const as_ns_event_words *words, uint64_t event) {
    as_ns_kind kind = AS_NS_KERNEL;
    while (event >= words->first[kind + 1]) kind++;
    return kind;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static double seconds(const as_ns_export *x, int64_t raw) {
    int64_t since;
    if (__builtin_sub_overflow(raw, x->origin, &since)) return (double)raw / 1e9 - (double)x->origin / 1e9;
    return (double)since / 1e9;
}

static void set_span(const as_ns_export *x, as_ns_span span, as_event *out) {
    out->start = seconds(x, span.start);
    out->start_raw = as_cell_int(span.start);
    if (span.end == AS_NS_OPEN) return;
    out->end = seconds(x, span.end);
    out->end_raw = as_cell_int(span.end);
}

static assay_id thread_location(const as_ns_export *x, uint32_t thread) {
    return thread == AS_NS_NONE ? ASSAY_NONE : AS_NS_AT(as_ns_thread, x, threads, thread)->location;
}

static assay_id stream_location(const as_ns_export *x, uint32_t stream) {
    return stream == AS_NS_NONE ? ASSAY_NONE : AS_NS_AT(as_ns_stream, x, streams, stream)->location;
}

static as_str activity_name(const as_ns_export *x, as_ns_kind kind, const as_ns_activity *activity) {
    const as_ns_event_words *words = x->event_words;
    if (kind == AS_NS_KERNEL) return AS_NS_AT(as_ns_function, x, functions, activity->what)->name;
    return as_map_get(kind == AS_NS_COPY  ? &words->copies
                      : kind == AS_NS_SET ? &words->sets
                                          : &words->graphs,
                      activity->what);
}

/* A host waits: the thread whose call it is. Where that is not known, what it waits for. */
static assay_id sync_location(const as_ns_export *x, const as_ns_sync *sync) {
    if (sync->call != AS_NS_NONE) return thread_location(x, AS_NS_AT(as_ns_call, x, calls, sync->call)->thread);
    if (sync->stream != AS_NS_NONE) return stream_location(x, sync->stream);
    return sync->process == AS_NS_NONE ? ASSAY_NONE : AS_NS_AT(as_ns_process, x, processes, sync->process)->location;
}

static void make_of_host(const as_ns_export *x, as_ns_kind kind, size_t row, as_event *out) {
    uint32_t thread;
    as_ns_span span;
    if (kind == AS_NS_CALL) {
        const as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, row);
        span = call->span, thread = call->thread, out->name = call->name, out->context = call->context;
    } else if (kind == AS_NS_RANGE) {
        const as_ns_range *range = AS_NS_AT(as_ns_range, x, ranges, row);
        span = range->span, thread = range->thread, out->name = range->name, out->context = range->context;
    } else if (kind == AS_NS_OSRT) {
        const as_ns_osrt *osrt = AS_NS_AT(as_ns_osrt, x, osrt, row);
        span = osrt->span, thread = osrt->thread, out->name = osrt->name, out->context = osrt->context;
    } else {
        const as_ns_sample *sample = AS_NS_AT(as_ns_sample, x, samples, row);
        span = (as_ns_span){sample->time, AS_NS_OPEN};
        thread = sample->thread, out->name = sample->name, out->context = sample->context;
    }
    out->location = thread_location(x, thread);
    set_span(x, span, out);
}

static void make_event(const as_event_source *source, uint64_t event, as_event *out) {
    const as_ns_export *x = export_of(source);
    as_ns_kind kind = kind_of(x->event_words, event);
    size_t row = event - x->event_words->first[kind];
    *out = (as_event){.source_id = AS_NO_STR,
                      .kind = x->event_words->kinds[kind],
                      .run = x->run,
                      .end = NAN,
                      .end_raw = as_cell_null()};
    if (kind > AS_NS_SYNC) {
        make_of_host(x, kind, row, out);
    } else if (kind == AS_NS_SYNC) {
        const as_ns_sync *sync = AS_NS_AT(as_ns_sync, x, syncs, row);
        out->name = sync->name;
        out->location = sync_location(x, sync);
        out->context = sync->context;
        set_span(x, sync->span, out);
    } else {
        const as_ns_activity *activity = &AS_AT(as_ns_activity, rows_of(x, kind), row);
        out->name = activity_name(x, kind, activity);
        out->location = stream_location(x, activity->stream);
        out->context = activity->context;
        set_span(x, activity->span, out);
    }
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* Those of one event. */
typedef struct attribute_list {
    const as_ns_export *x;
    unsigned n;
    bool counts; /* nothing else is wanted */
    attribute_key keys[MAX_ATTRIBUTES];
    as_cell values[MAX_ATTRIBUTES];
} attribute_list;

static void add(attribute_list *list, attribute_key key, as_cell value) {
    list->keys[list->n] = key;
    list->values[list->n++] = value;
}

/* -1: not said. */
static void add_count(attribute_list *list, attribute_key key, int64_t value) {
    if (value >= 0) add(list, key, as_cell_int(value));
}

static void add_text(attribute_list *list, attribute_key key, as_str text) {
    const as_dataset *ds = list->x->ds;
    if (text == AS_NO_STR) return;
    add(list, key,
        list->counts ? as_cell_null() : as_cell_text_n(as_ds_text(ds, text), as_str_size(&ds->strings, text)));
}

static void add_correlation(attribute_list *list, int64_t correlation) {
    if (correlation) add(list, CORRELATION_ID, as_cell_int(correlation));
}

static void add_memory(attribute_list *list, attribute_key key, uint32_t kind) {
    const char *name = as_ns_memory_name(kind);
    if (kind == AS_NS_NO_MEMORY_KIND) return;
    add(list, key, name ? as_cell_text(name) : as_cell_int(kind));
}

static void list_of_kernel(attribute_list *list, const as_ns_activity *kernel) {
    const as_ns_event_words *words = list->x->event_words;
    const as_ns_function *function = AS_NS_AT(as_ns_function, list->x, functions, kernel->what);
    add_correlation(list, kernel->correlation);
    if (function->demangled != function->name) add_text(list, DEMANGLED_NAME, function->demangled);
    if (function->mangled != function->name) add_text(list, MANGLED_NAME, function->mangled);
    if (kernel->detail == AS_NS_NONE) return;
    const as_ns_shape *shape = AS_NS_AT(as_ns_shape, list->x, shapes, kernel->detail);
    add_text(list, GRID, words->grids[kernel->detail]);
    add_text(list, BLOCK, words->blocks[kernel->detail]);
    add_count(list, REGISTERS, shape->registers);
    add_count(list, STATIC_SHARED_MEMORY, shape->static_memory);
    add_count(list, DYNAMIC_SHARED_MEMORY, shape->dynamic_memory);
}

static void list_of_activity(attribute_list *list, as_ns_kind kind, const as_ns_activity *activity) {
    add_correlation(list, activity->correlation);
    if (kind == AS_NS_GRAPH) return;
    add(list, BYTES, as_cell_uint(activity->bytes));
    if (kind == AS_NS_COPY && activity->detail != AS_NS_NONE) {
        add_memory(list, SRC_KIND, activity->detail / 256);
        add_memory(list, DST_KIND, activity->detail % 256);
    } else if (activity->detail != AS_NS_NONE) {
        add_memory(list, MEM_KIND, activity->detail);
    }
    if (as_ns_is_blocking(list->x, kind, activity)) add(list, BLOCKING, as_cell_int(1));
}

enum { NVTX_MARK = 34, NVTX_START_END = 60, NVTXT_START_END = 71 };

static void list_of_range(attribute_list *list, const as_ns_range *range) {
    if (range->domain != AS_NS_NONE)
        add_text(list, DOMAIN, AS_NS_AT(as_ns_domain, list->x, domains, range->domain)->name);
    const char *style = range->type == NVTX_MARK                                          ? "Mark"
                        : range->type == NVTX_START_END || range->type == NVTXT_START_END ? "StartEnd"
                                                                                          : "PushPop";
    add(list, STYLE, as_cell_text(style));
    if (range->type != NVTX_MARK && range->span.end == AS_NS_OPEN) add(list, UNFINISHED, as_cell_int(1));
}

static void list_attributes(attribute_list *list, as_ns_kind kind, size_t row) {
    const as_ns_export *x = list->x;
    if (kind == AS_NS_KERNEL) {
        list_of_kernel(list, AS_NS_AT(as_ns_activity, x, kernels, row));
    } else if (kind < AS_NS_SYNC) {
        list_of_activity(list, kind, &AS_AT(as_ns_activity, rows_of(x, kind), row));
    } else if (kind == AS_NS_SYNC) {
        add_correlation(list, AS_NS_AT(as_ns_sync, x, syncs, row)->correlation);
    } else if (kind == AS_NS_CALL) {
        const as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, row);
        add_correlation(list, call->correlation);
        if (call->result) add(list, RESULT, as_cell_int(call->result));
    } else if (kind == AS_NS_RANGE) {
        list_of_range(list, AS_NS_AT(as_ns_range, x, ranges, row));
    }
}

static unsigned count_attributes(const as_ns_export *x, as_ns_kind kind, uint64_t event) {
    attribute_list list;
    list.x = x, list.n = 0, list.counts = true;
    list_attributes(&list, kind, event - x->event_words->first[kind]);
    return list.n;
}

static uint64_t first_attribute(const as_event_source *source, uint64_t event) {
    const as_ns_export *x = export_of(source);
    uint64_t block = event / STEP, n = x->event_words->attributes_before[block];
    for (uint64_t i = block * STEP; i < event; i++) n += count_attributes(x, kind_of(x->event_words, i), i);
    return n;
}

static void make_attribute(const as_event_source *source, uint64_t attribute, as_attribute *out) {
    const as_ns_export *x = export_of(source);
    const as_ns_event_words *words = x->event_words;
    size_t block = as_last_not_above(words->attributes_before, source->n_events / STEP + 1, attribute);
    uint64_t event = block * STEP, left = attribute - words->attributes_before[block];
    unsigned n;
    while (left >= (n = count_attributes(x, kind_of(words, event), event))) {
        left -= n;
        event++;
    }
    as_ns_kind kind = kind_of(words, event);
    attribute_list list;
    list.x = x, list.n = 0, list.counts = false;
    list_attributes(&list, kind, event - words->first[kind]);
    *out = (as_attribute){.owner = AS_OWNER_EVENT,
                          .owner_id = (assay_id)event,
                          .key = words->keys[list.keys[left]],
                          .value = list.values[left]};
}

static bool find_value(const as_event_source *source, uint64_t event, as_str key, as_cell *out) {
    const as_ns_export *x = export_of(source);
    const as_ns_event_words *words = x->event_words;
    as_ns_kind kind = kind_of(words, event);
    attribute_list list;
    list.x = x, list.n = 0, list.counts = false;
    list_attributes(&list, kind, event - words->first[kind]);
    for (unsigned i = 0; i < list.n; i++) {
        if (words->keys[list.keys[i]] != key) continue;
        *out = list.values[i];
        return true;
    }
    return false;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static bool intern_fixed(as_ns_export *x, as_ns_event_words *words) {
    static const char *const kinds[AS_NS_KINDS] = {
        [AS_NS_KERNEL] = "kernel", [AS_NS_COPY] = "memcpy", [AS_NS_SET] = "memset",
        [AS_NS_GRAPH] = "graph",   [AS_NS_SYNC] = "sync",   [AS_NS_CALL] = "api",
        [AS_NS_RANGE] = "nvtx",    [AS_NS_OSRT] = "osrt",   [AS_NS_SAMPLE] = "sample"};
    static const char *const keys[N_KEYS] = {[CORRELATION_ID] = "correlation_id",
                                             [DEMANGLED_NAME] = "demangled_name",
                                             [MANGLED_NAME] = "mangled_name",
                                             [GRID] = "grid",
                                             [BLOCK] = "block",
                                             [REGISTERS] = "registers",
                                             [STATIC_SHARED_MEMORY] = "static_shared_memory",
                                             [DYNAMIC_SHARED_MEMORY] = "dynamic_shared_memory",
                                             [BYTES] = "bytes",
                                             [SRC_KIND] = "src_kind",
                                             [DST_KIND] = "dst_kind",
                                             [MEM_KIND] = "mem_kind",
                                             [DOMAIN] = "domain",
                                             [STYLE] = "style",
                                             [RESULT] = "result",
                                             [BLOCKING] = "blocking",
                                             [UNFINISHED] = "unfinished"};
    bool fine = true;
    for (unsigned i = 0; i < AS_NS_KINDS && fine; i++)
        fine = (words->kinds[i] = as_ds_intern_text(x->ds, kinds[i])) != AS_NO_STR;
    for (unsigned i = 0; i < N_KEYS && fine; i++)
        fine = (words->keys[i] = as_ds_intern_text(x->ds, keys[i])) != AS_NO_STR;
    return fine;
}

static const char *make_name(as_ns_kind kind, uint32_t what, char buffer[AS_NS_NAME_SIZE]) {
    if (kind == AS_NS_COPY) return as_ns_copy_name(what, buffer);
    snprintf(buffer, AS_NS_NAME_SIZE, kind == AS_NS_SET ? "MEMSET %u" : "GRAPH %u", what);
    return buffer;
}

/* The name of each kind of copy, value of memsets and graph that there is. */
static bool intern_names(as_ns_export *x, as_ns_kind kind, as_map *names) {
    const as_vec *rows = rows_of(x, kind);
    char buffer[AS_NS_NAME_SIZE];
    bool fine = true;
    for (size_t i = 0; i < rows->count && fine; i++) {
        uint32_t what = AS_AT(as_ns_activity, rows, i).what;
        if (as_map_get(names, what) != AS_MAP_NONE) continue;
        as_str name = as_ds_intern_text(x->ds, make_name(kind, what, buffer));
        fine = name != AS_NO_STR && as_map_put(names, what, name);
    }
    return fine;
}

/* "256,1,1"; AS_NO_STR where not all of it is said. */
static as_str intern_triple(as_ns_export *x, const int64_t triple[3], bool *fine) {
    char text[3 * AS_NUMBER_SIZE];
    if (triple[0] < 0 || triple[1] < 0 || triple[2] < 0) return AS_NO_STR;
    snprintf(text, sizeof text, "%lld,%lld,%lld", (long long)triple[0], (long long)triple[1], (long long)triple[2]);
    as_str id = as_ds_intern_text(x->ds, text);
    *fine &= id != AS_NO_STR;
    return id;
}

static bool intern_shapes(as_ns_export *x, as_ns_event_words *words) {
    bool fine = true;
    size_t n = x->shapes.count;
    words->grids = as_arena_array(&x->ds->arena, n, sizeof(as_str));
    words->blocks = as_arena_array(&x->ds->arena, n, sizeof(as_str));
    if (!words->grids || !words->blocks) return false;
    for (size_t i = 0; i < n && fine; i++) {
        const as_ns_shape *shape = AS_NS_AT(as_ns_shape, x, shapes, i);
        words->grids[i] = intern_triple(x, shape->grid, &fine);
        words->blocks[i] = intern_triple(x, shape->block, &fine);
    }
    return fine;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool sum_attributes(as_ns_export *x, as_ns_event_words *words, uint64_t n_events, uint64_t *total) {
    words->attributes_before = as_arena_array(&x->ds->arena, n_events / STEP + 2, sizeof(uint64_t));
    if (!words->attributes_before) return false;
    *total = 0;
    for (as_ns_kind kind = 0; kind < AS_NS_KINDS; kind++) {
        for (uint64_t i = words->first[kind]; i < words->first[kind + 1]; i++) {
            if (i % STEP == 0) words->attributes_before[i / STEP] = *total;
            *total += count_attributes(x, kind, i);
        }
    }
    if (n_events % STEP == 0) words->attributes_before[n_events / STEP] = *total;
    return true;
}

static void release_words(void *object) {
    as_ns_event_words *words = object;
    as_map_free(&words->copies);
    as_map_free(&words->sets);
    as_map_free(&words->graphs);
}

assay_status as_ns_add_events(as_ns_export *x) {
    as_dataset *ds = x->ds;
    as_ns_event_words *words = as_arena_alloc(&ds->arena, sizeof *words);
    uint64_t n = 0, n_attributes = 0;
    if (!words) return as_reader_memory(x->reader);
    as_map_init(&words->copies, &ds->budget);
    as_map_init(&words->sets, &ds->budget);
    as_map_init(&words->graphs, &ds->budget);
    if (!as_ds_hold(ds, words, release_words)) return as_reader_memory(x->reader);
    for (as_ns_kind kind = 0; kind < AS_NS_KINDS; kind++) {
        words->first[kind] = n;
        n += rows_of(x, kind)->count;
    }
    words->first[AS_NS_KINDS] = n;
    if (n >= ASSAY_NONE)
        return as_fail(x->reader->error, ASSAY_E_UNSUPPORTED, as_place_file(x->reader->input->path), "too-many-events",
                       "has %llu activities; at most 4294967294 can be events", (unsigned long long)n);
    x->event_words = words;
    bool fine = intern_fixed(x, words) && intern_names(x, AS_NS_COPY, &words->copies) &&
                intern_names(x, AS_NS_SET, &words->sets) && intern_names(x, AS_NS_GRAPH, &words->graphs) &&
                intern_shapes(x, words) && sum_attributes(x, words, n, &n_attributes);
    if (!fine) return as_reader_memory(x->reader);
    x->events = (as_event_source){.n_events = n,
                                  .n_attributes = n_attributes,
                                  .event = make_event,
                                  .attribute = make_attribute,
                                  .first_attribute = first_attribute,
                                  .value = find_value};
    ds->event_source = &x->events;
    return ASSAY_OK;
}
