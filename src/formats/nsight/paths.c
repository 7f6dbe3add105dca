/* Contexts of all activities.
 *
 * A call has the context P: where it was called from, and its own name. What it does on the GPU stands below:
 *
 *   P -> K -> GPU K           kernels; the time of the call itself is at K, of its first kernel
 *   P -> KIND, GPU MEMSET …   copies, memsets, graphs
 *   P -> T                    waits: the time of the call itself is at T
 *
 * Plain exports have P -> GPU K, and no T. */
#include "formats/nsight/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

static const char *const KINDS[AS_NS_NODES] = {
    [AS_NS_NODE_PROCESS] = "process", [AS_NS_NODE_THREAD] = "thread",   [AS_NS_NODE_REGION] = "region",
    [AS_NS_NODE_NVTX] = "nvtx",       [AS_NS_NODE_API] = "api",         [AS_NS_NODE_LAUNCH] = "launch",
    [AS_NS_NODE_KERNEL] = "kernel",   [AS_NS_NODE_COPY] = "memcpy",     [AS_NS_NODE_SET] = "memset",
    [AS_NS_NODE_GRAPH] = "graph",     [AS_NS_NODE_SYNC] = "sync",       [AS_NS_NODE_OSRT] = "osrt",
    [AS_NS_NODE_FRAME] = "frame",     [AS_NS_NODE_SAMPLES] = "samples", [AS_NS_NODE_SECTION] = "section",
    [AS_NS_NODE_OVERLAP] = "overlap", [AS_NS_NODE_WAIT] = "wait",       [AS_NS_NODE_IDLE] = "idle"};

assay_status as_ns_builder_init(as_ns_builder *b, as_ns_export *x) {
    *b = (as_ns_builder){.x = x, .uncorrelated = ASSAY_NONE};
    as_map_init(&b->regions, &x->ds->budget);
    as_map_init(&b->fit, &x->ds->budget);
    b->known = calloc(AS_NS_CACHE, sizeof *b->known);
    b->threads = malloc((x->threads.count + 1) * sizeof *b->threads);
    bool fine = b->known && b->threads;
    for (size_t i = 0; fine && i < x->threads.count; i++) b->threads[i] = ASSAY_NONE;
    for (unsigned i = 0; i < AS_NS_NODES && fine; i++)
        fine = (b->kinds[i] = as_ds_intern_text(x->ds, KINDS[i])) != AS_NO_STR;
    for (unsigned i = 0; fine && i < AS_NS_CACHE; i++) b->known[i].id = ASSAY_NONE;
    return fine ? ASSAY_OK : as_reader_memory(x->reader);
}

void as_ns_builder_free(as_ns_builder *b) {
    as_map_free(&b->regions);
    as_map_free(&b->fit);
    free(b->known);
    free(b->threads);
}

/* A name as it stands in contexts. */
static as_str fit_name(as_ns_builder *b, as_str name) {
    uint32_t known = as_map_get(&b->fit, name);
    if (known != AS_MAP_NONE) return known;
    const as_strings *strings = &b->x->ds->strings;
    as_str fit = as_ns_fit_name(b->x, as_str_text(strings, name), as_str_size(strings, name), true);
    return fit != AS_NO_STR && as_map_put(&b->fit, name, fit) ? fit : AS_NO_STR;
}

static assay_id region_of(as_ns_builder *b, as_ns_node node, as_str name) {
    uint64_t key = as_pair(node, name);
    uint32_t known = as_map_get(&b->regions, key);
    if (known != AS_MAP_NONE) return known;
    as_region region = AS_REGION_INIT;
    region.name = name;
    region.kind = b->kinds[node];
    assay_id id = as_add_region(b->x->ds, &region);
    return id != ASSAY_NONE && as_map_put(&b->regions, key, id) ? id : ASSAY_NONE;
}

assay_id as_ns_child(as_ns_builder *b, assay_id parent, as_ns_node node, as_str name) {
    uint64_t mixed = (as_pair(parent, name) + node) * 0x9e3779b97f4a7c15u;
    as_ns_known *known = &b->known[mixed >> 52];
    if (known->id != ASSAY_NONE && known->parent == parent && known->node == node && known->name == name)
        return known->id;
    as_str fit = name == AS_NO_STR ? AS_NO_STR : fit_name(b, name);
    assay_id region = fit == AS_NO_STR ? ASSAY_NONE : region_of(b, node, fit);
    assay_id id = region == ASSAY_NONE ? ASSAY_NONE : as_tree_child(&b->x->tree, parent, region);
    if (id == ASSAY_NONE) return ASSAY_NONE;
    if (node == AS_NS_NODE_WAIT || node == AS_NS_NODE_IDLE) AS_AT(as_context, &b->x->tree.nodes, id).is_aside = true;
    *known = (as_ns_known){parent, node, name, id};
    return id;
}

assay_id as_ns_child_text(as_ns_builder *b, assay_id parent, as_ns_node node, const char *name) {
    return as_ns_child(b, parent, node, as_ds_intern_text(b->x->ds, name));
}

assay_status as_ns_inner_child(as_ns_builder *b, assay_id parent, as_ns_node node, as_str name, assay_id *out) {
    as_reader *reader = b->x->reader;
    if (parent != ASSAY_NONE && as_ns_context(b, parent)->depth + 1 >= reader->max_depth) {
        *out = parent;
        if (b->is_too_deep) return ASSAY_OK;
        b->is_too_deep = true;
        return as_broken(reader, as_place_file(reader->input->path), "too-deep",
                         "has call paths of more than %u levels", reader->max_depth);
    }
    *out = as_ns_child(b, parent, node, name);
    return *out == ASSAY_NONE ? as_reader_memory(reader) : ASSAY_OK;
}

as_ns_node as_ns_node_of(const as_ns_builder *b, assay_id context) {
    as_str kind = as_ds_region(b->x->ds, as_ns_context(b, context)->region)->kind;
    as_ns_node node = 0;
    while (b->kinds[node] != kind) node++;
    return node;
}

assay_id as_ns_uncorrelated(as_ns_builder *b) {
    if (b->uncorrelated == ASSAY_NONE)
        b->uncorrelated = as_ns_child_text(b, ASSAY_NONE, AS_NS_NODE_REGION, "[Uncorrelated]");
    return b->uncorrelated;
}

bool as_ns_is_allocation(const char *name) {
    return strncmp(name, "cudaFree", 8) == 0 || strncmp(name, "cudaMalloc", 10) == 0 ||
           strncmp(name, "cudaHostAlloc", 13) == 0;
}

/* ---- what calls do ----------------------------------------------------------------------------------------------- */

enum { DOES_NOTHING, WAITS, COPIES, LAUNCHES };

/* What there is of each call. */
typedef struct doings {
    uint8_t *what;
    uint32_t *first; /* row of the first kernel, or wait */
} doings;

static void note(const as_ns_export *x, doings *d, uint32_t call, uint8_t what, size_t row) {
    if (call >= x->calls.count || d->what[call] >= what) return;
    d->what[call] = what;
    d->first[call] = (uint32_t)row;
}

static assay_status find_doings(const as_ns_export *x, doings *d) {
    size_t n = x->calls.count + 1;
    d->what = calloc(n, sizeof *d->what);
    d->first = calloc(n, sizeof *d->first);
    if (!d->what || !d->first || !as_budget_allows(&x->ds->budget, n * (sizeof *d->what + sizeof *d->first)))
        return as_reader_memory(x->reader);
    for (size_t i = 0; i < x->kernels.count; i++)
        note(x, d, AS_NS_AT(as_ns_activity, x, kernels, i)->call, LAUNCHES, i);
    const as_vec *others[] = {&x->copies, &x->sets, &x->graphs};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        for (size_t i = 0; i < others[k]->count; i++) note(x, d, AS_AT(as_ns_activity, others[k], i).call, COPIES, i);
    }
    for (size_t i = 0; i < x->syncs.count; i++) note(x, d, AS_NS_AT(as_ns_sync, x, syncs, i)->call, WAITS, i);
    return ASSAY_OK;
}

/* ---- on the GPU -------------------------------------------------------------------------------------------------- */

/* The context of the call itself, which has not moved yet; of none: "[Uncorrelated]". */
static assay_id context_above(as_ns_builder *b, uint32_t call) {
    return call < b->x->calls.count ? AS_NS_AT(as_ns_call, b->x, calls, call)->context : as_ns_uncorrelated(b);
}

/* "GPU K" of all functions. */
static as_str *name_kernels(as_ns_export *x) {
    as_str *names = calloc(x->functions.count + 1, sizeof *names);
    as_vec text;
    as_vec_init(&text, 1, &x->ds->budget);
    bool fine = names != NULL;
    for (size_t i = 0; fine && i < x->functions.count; i++) {
        as_str name = AS_NS_AT(as_ns_function, x, functions, i)->name;
        text.count = 0;
        fine = as_vec_text(&text, "GPU ") &&
               as_vec_append(&text, as_ds_text(x->ds, name), as_str_size(&x->ds->strings, name)) &&
               (names[i] = as_ds_intern(x->ds, text.data, text.count)) != AS_NO_STR;
    }
    as_vec_free(&text);
    if (fine) return names;
    free(names);
    return NULL;
}

static bool place_kernels(as_ns_builder *b) {
    as_ns_export *x = b->x;
    as_str *gpu_names = name_kernels(x);
    as_map of; /* as_pair(context of the call, function) -> context */
    as_map_init(&of, &x->ds->budget);
    bool fine = gpu_names != NULL;
    for (size_t i = 0; fine && i < x->kernels.count; i++) {
        as_ns_activity *kernel = AS_NS_AT(as_ns_activity, x, kernels, i);
        assay_id above = context_above(b, kernel->call);
        uint64_t key = as_pair(above, kernel->what);
        uint32_t known = as_map_get(&of, key);
        if (known == AS_MAP_NONE && (fine = above != ASSAY_NONE)) {
            as_str name = AS_NS_AT(as_ns_function, x, functions, kernel->what)->name;
            if (x->mode != AS_NS_PLAIN) above = as_ns_child(b, above, AS_NS_NODE_LAUNCH, name);
            known =
                above == ASSAY_NONE ? ASSAY_NONE : as_ns_child(b, above, AS_NS_NODE_KERNEL, gpu_names[kernel->what]);
            fine = known != ASSAY_NONE && as_map_put(&of, key, known);
        }
        kernel->context = known;
    }
    as_map_free(&of);
    free(gpu_names);
    return fine;
}

static as_str name_other(as_ns_export *x, as_ns_kind kind, uint32_t what, bool is_blocking) {
    char buffer[AS_NS_NAME_SIZE], name[AS_NS_NAME_SIZE + 16];
    if (kind == AS_NS_GRAPH)
        snprintf(name, sizeof name, "GRAPH %u", what);
    else
        snprintf(name, sizeof name, "%s%s", is_blocking ? "BLOCKING " : "",
                 kind == AS_NS_COPY ? as_ns_copy_name(what, buffer) : "GPU MEMSET");
    return as_ds_intern_text(x->ds, name);
}

/* names: as_pair(what, is_blocking) -> name */
static assay_id place_other(as_ns_builder *b, as_ns_kind kind, const as_ns_activity *activity, as_map *names) {
    static const as_ns_node nodes[] = {
        [AS_NS_COPY] = AS_NS_NODE_COPY, [AS_NS_SET] = AS_NS_NODE_SET, [AS_NS_GRAPH] = AS_NS_NODE_GRAPH};
    bool is_blocking = b->x->mode != AS_NS_PLAIN && kind != AS_NS_GRAPH && as_ns_is_blocking(b->x, kind, activity);
    uint64_t key = as_pair(kind == AS_NS_SET ? 0 : activity->what, is_blocking);
    as_str name = as_map_get(names, key);
    if (name == AS_MAP_NONE) {
        name = name_other(b->x, kind, activity->what, is_blocking);
        if (name == AS_NO_STR || !as_map_put(names, key, name)) return ASSAY_NONE;
    }
    assay_id above = context_above(b, activity->call);
    return above == ASSAY_NONE ? ASSAY_NONE : as_ns_child(b, above, nodes[kind], name);
}

static bool place_others(as_ns_builder *b, as_ns_kind kind, as_vec *activities) {
    as_map names;
    as_map_init(&names, &b->x->ds->budget);
    bool fine = true;
    for (size_t i = 0; fine && i < activities->count; i++) {
        as_ns_activity *activity = &AS_AT(as_ns_activity, activities, i);
        fine = (activity->context = place_other(b, kind, activity, &names)) != ASSAY_NONE;
    }
    as_map_free(&names);
    return fine;
}

/* ---- calls and waits --------------------------------------------------------------------------------------------- */

/* Where the time of a call itself is: not at P where it launches or waits. */
static bool move_call(as_ns_builder *b, as_ns_call *call, uint8_t what, uint32_t first) {
    as_ns_export *x = b->x;
    const char *name = as_ds_text(x->ds, call->name);
    if (what == DOES_NOTHING || what == COPIES || as_ns_is_allocation(name)) return true;
    if (what == LAUNCHES)
        call->context = as_ns_context(b, AS_NS_AT(as_ns_activity, x, kernels, first)->context)->parent;
    else
        call->context = as_ns_child(b, call->context, AS_NS_NODE_SYNC, AS_NS_AT(as_ns_sync, x, syncs, first)->name);
    return call->context != ASSAY_NONE;
}

/* Of a wait whose call waits and does nothing else, that of the call; else that of what it was called by. */
static bool place_syncs(as_ns_builder *b, const doings *d) {
    as_ns_export *x = b->x;
    for (size_t i = 0; i < x->syncs.count; i++) {
        as_ns_sync *sync = AS_NS_AT(as_ns_sync, x, syncs, i);
        if (sync->call < x->calls.count) {
            sync->context = AS_NS_AT(as_ns_call, x, calls, sync->call)->context;
            if (x->mode != AS_NS_PLAIN && d->what[sync->call] == LAUNCHES &&
                as_ns_node_of(b, sync->context) == AS_NS_NODE_LAUNCH)
                sync->context = as_ns_context(b, sync->context)->parent;
        } else {
            assay_id above = as_ns_uncorrelated(b);
            sync->context = above == ASSAY_NONE ? ASSAY_NONE : as_ns_child(b, above, AS_NS_NODE_SYNC, sync->name);
        }
        if (sync->context == ASSAY_NONE) return false;
    }
    return true;
}

static assay_status place_activities(as_ns_builder *b) {
    as_ns_export *x = b->x;
    doings d = {0};
    assay_status status = find_doings(x, &d);
    bool fine = place_kernels(b) && place_others(b, AS_NS_COPY, &x->copies) && place_others(b, AS_NS_SET, &x->sets) &&
                place_others(b, AS_NS_GRAPH, &x->graphs);
    for (size_t i = 0; status == ASSAY_OK && fine && x->mode != AS_NS_PLAIN && i < x->calls.count; i++)
        fine = move_call(b, AS_NS_AT(as_ns_call, x, calls, i), d.what[i], d.first[i]);
    if (status == ASSAY_OK && fine) fine = place_syncs(b, &d);
    free(d.what);
    free(d.first);
    if (status != ASSAY_OK) return status;
    return fine ? ASSAY_OK : as_reader_memory(x->reader);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Nothing has one yet; 0 would be a context. */
static void forget_contexts(as_ns_export *x) {
    for (size_t i = 0; i < x->ranges.count; i++) AS_NS_AT(as_ns_range, x, ranges, i)->context = ASSAY_NONE;
    for (size_t i = 0; i < x->osrt.count; i++) AS_NS_AT(as_ns_osrt, x, osrt, i)->context = ASSAY_NONE;
    for (size_t i = 0; i < x->samples.count; i++) AS_NS_AT(as_ns_sample, x, samples, i)->context = ASSAY_NONE;
}

assay_status as_ns_find_paths(as_ns_export *x) {
    static assay_status (*const of_mode[])(as_ns_builder *) = {[AS_NS_RANGES] = as_ns_paths_of_ranges,
                                                               [AS_NS_CHAINS] = as_ns_paths_of_chains,
                                                               [AS_NS_RESOLVED] = as_ns_paths_of_resolved,
                                                               [AS_NS_PLAIN] = as_ns_paths_of_nesting};
    as_ns_builder b;
    assay_status status = as_ns_builder_init(&b, x);
    forget_contexts(x);
    if (status == ASSAY_OK) status = of_mode[x->mode](&b);
    if (status == ASSAY_OK) status = place_activities(&b);
    if (status == ASSAY_OK) status = as_ns_paths_of_osrt(&b);
    if (status == ASSAY_OK) status = as_ns_paths_of_samples(&b);
    as_ns_builder_free(&b);
    return status;
}
