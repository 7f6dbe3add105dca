/* Chains of frames: where CUDA calls were called from, and where samples were taken; and the call paths that Extra-P
 * left in a file.
 *
 * A chain is rows of one id, a frame each, the innermost at stackDepth 0. Most chains begin as others do, so they are
 * kept as one tree; only what somebody asks for becomes contexts. */
#include <stdlib.h>

#include "formats/nsight/load.h"
#include "formats/nsight/paths.h"

/* ---- chains of a table ------------------------------------------------------------------------------------------- */

typedef struct frame {
    int64_t id, depth;
    as_str name, module; /* name AS_NO_STR: the chain is there, but this frame says nothing */
} frame;

/* A frame below others. */
typedef struct link {
    uint32_t parent;
    as_str name, module;
    bool is_needed;
    assay_id context;
} link;

typedef struct chains {
    as_ns_builder *b;
    as_vec links;     /* link; the first stands for no frame at all */
    as_map below;     /* as_pair(link, name) -> link */
    as_map of;        /* id -> the link of its innermost frame */
    as_map marked;    /* a name -> that of a frame in the kernel */
    as_vec frames;    /* frame: those that wait to be linked */
    uint64_t n_wrong; /* rows without an id or a depth */
    int64_t least;    /* id of all */
} chains;

static bool chains_init(chains *c, as_ns_builder *b) {
    as_budget *budget = &b->x->ds->budget;
    *c = (chains){.b = b, .least = INT64_MAX};
    as_vec_init(&c->links, sizeof(link), budget);
    as_vec_init(&c->frames, sizeof(frame), budget);
    as_map_init(&c->below, budget);
    as_map_init(&c->of, budget);
    as_map_init(&c->marked, budget);
    return as_vec_push(&c->links) != NULL;
}

static void chains_free(chains *c) {
    as_vec_free(&c->links);
    as_vec_free(&c->frames);
    as_map_free(&c->below);
    as_map_free(&c->of);
    as_map_free(&c->marked);
}

/* By chain, the outermost frame first. */
static int compare_frames(const void *a, const void *b) {
    const frame *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (y->depth > x->depth) - (y->depth < x->depth);
}

static bool link_frame(chains *c, const frame *f, uint32_t *at) {
    if (f->name == AS_NO_STR) return true;
    uint64_t key = as_pair(*at, f->name);
    uint32_t known = as_map_get(&c->below, key);
    if (known == AS_MAP_NONE) {
        const link new = {.parent = *at, .name = f->name, .module = f->module, .context = ASSAY_NONE};
        known = (uint32_t)c->links.count;
        if (known == AS_MAP_NONE || !as_vec_append(&c->links, &new, 1) || !as_map_put(&c->below, key, known))
            return false;
    }
    *at = known;
    return true;
}

/* One chain from the innermost frame on, as most are, is only turned round. */
static void sort_frames(frame *frames, size_t n) {
    size_t i = 1;
    while (i < n && frames[i].id == frames[0].id && frames[i - 1].depth < frames[i].depth) i++;
    if (i < n) {
        qsort(frames, n, sizeof *frames, compare_frames);
        return;
    }
    for (size_t low = 0, high = n; low + 1 < high; low++) {
        frame outer = frames[--high];
        frames[high] = frames[low];
        frames[low] = outer;
    }
}

/* All that waits becomes links. */
static bool link_frames(chains *c) {
    frame *frames = c->frames.data;
    size_t n = c->frames.count;
    bool fine = true;
    sort_frames(frames, n);
    for (size_t first = 0, end; fine && first < n; first = end) {
        uint32_t at = 0;
        for (end = first; fine && end < n && frames[end].id == frames[first].id; end++)
            fine = link_frame(c, &frames[end], &at);
        fine = fine && as_map_put(&c->of, (uint64_t)frames[first].id, at);
    }
    c->frames.count = 0;
    return fine;
}

enum { ID, DEPTH, SYMBOL, MODULE, UNRESOLVED, KERNEL_MODE, N_COLUMNS };
static const char *const COLUMNS[N_COLUMNS] = {"id", "stackDepth", "symbol", "module", "unresolved", "kernelMode"};

/* "name [kernel]": a frame of the operating system. */
static as_str mark_kernel(chains *c, as_str name) {
    as_ns_export *x = c->b->x;
    uint32_t known = as_map_get(&c->marked, name);
    if (known != AS_MAP_NONE) return known;
    as_vec text;
    as_vec_init(&text, 1, &x->ds->budget);
    as_str marked = AS_NO_STR;
    if (as_vec_append(&text, as_ds_text(x->ds, name), as_str_size(&x->ds->strings, name)) &&
        as_vec_text(&text, " [kernel]"))
        marked = as_ds_intern(x->ds, text.data, text.count);
    as_vec_free(&text);
    return marked != AS_NO_STR && as_map_put(&c->marked, name, marked) ? marked : AS_NO_STR;
}

/* A row as a frame. False when memory is out. */
static bool take_frame(chains *c, const as_scan *scan, frame *out) {
    as_ns_export *x = c->b->x;
    *out = (frame){as_scan_int(scan, ID), as_scan_int(scan, DEPTH), AS_NO_STR, AS_NO_STR};
    if (as_scan_type_of(scan, UNRESOLVED) != AS_SCAN_NULL || as_scan_type_of(scan, SYMBOL) != AS_SCAN_INT) return true;
    out->name = as_ns_string(x, as_scan_int(scan, SYMBOL));
    if (out->name != AS_NO_STR && as_scan_type_of(scan, KERNEL_MODE) == AS_SCAN_INT && as_scan_int(scan, KERNEL_MODE))
        out->name = mark_kernel(c, out->name);
    if (as_scan_type_of(scan, MODULE) == AS_SCAN_INT) out->module = as_ns_string(x, as_scan_int(scan, MODULE));
    return out->name != AS_NO_STR;
}

typedef enum pass { PASS_DONE, PASS_OUT_OF_ORDER, PASS_NO_MEMORY } pass;

/* Rows come chain by chain, with ascending ids, so that few wait at a time. Where they do not, keeps_all must be
 * set. */
static pass take_rows(chains *c, as_scan *scan, bool keeps_all) {
    int64_t last = INT64_MIN;
    while (as_scan_next(scan)) {
        if (as_scan_type_of(scan, ID) != AS_SCAN_INT || as_scan_type_of(scan, DEPTH) != AS_SCAN_INT) {
            c->n_wrong++;
            continue;
        }
        int64_t id = as_scan_int(scan, ID);
        if (id < last && !keeps_all) return PASS_OUT_OF_ORDER;
        if (id != last && !keeps_all && !link_frames(c)) return PASS_NO_MEMORY;
        last = id;
        if (id < c->least) c->least = id;
        frame *f = as_vec_push(&c->frames);
        if (!f || !take_frame(c, scan, f)) return PASS_NO_MEMORY;
    }
    return link_frames(c) ? PASS_DONE : PASS_NO_MEMORY;
}

static assay_status read_chains(chains *c, as_ns_builder *b, const char *table) {
    as_ns_export *x = b->x;
    pass result = PASS_OUT_OF_ORDER;
    if (!chains_init(c, b)) return as_reader_memory(x->reader);
    for (int attempt = 0; attempt < 2 && result == PASS_OUT_OF_ORDER; attempt++) {
        as_scan *scan;
        AS_TRY(as_scan_open(x->db, table, COLUMNS, N_COLUMNS, (as_scan_range){0}, &scan, x->reader->error));
        result = take_rows(c, scan, attempt > 0);
        assay_status status = as_scan_close(scan, x->reader->error);
        if (status != ASSAY_OK) return status;
        if (result != PASS_OUT_OF_ORDER) break;
        chains_free(c);
        if (!chains_init(c, b)) result = PASS_NO_MEMORY;
    }
    as_ns_tell_wrong(x, table, c->n_wrong);
    return result == PASS_DONE ? ASSAY_OK : as_reader_memory(x->reader);
}

/* ---- links become contexts --------------------------------------------------------------------------------------- */

/* The link of a chain, which will be a context; 0, no frame at all, where there is no such chain. */
static uint32_t need_chain(chains *c, int64_t id) {
    uint32_t found = as_map_get(&c->of, (uint64_t)id);
    if (found == AS_MAP_NONE) return 0;
    for (uint32_t at = found; at && !AS_AT(link, &c->links, at).is_needed; at = AS_AT(link, &c->links, at).parent)
        AS_AT(link, &c->links, at).is_needed = true;
    return found;
}

/* Parents come before their children. */
static assay_status place_links(chains *c, assay_id root, as_ns_node node) {
    as_ns_builder *b = c->b;
    AS_AT(link, &c->links, 0).context = root;
    for (size_t i = 1; i < c->links.count; i++) {
        link *l = &AS_AT(link, &c->links, i);
        if (!l->is_needed) continue;
        AS_TRY(as_ns_inner_child(b, AS_AT(link, &c->links, l->parent).context, node, l->name, &l->context));
        as_region *region = &AS_AT(as_region, &b->x->ds->regions, as_ns_context(b, l->context)->region);
        if (region->module == AS_NO_STR) region->module = l->module;
    }
    return ASSAY_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* What a callchainId and the id of its chain differ by: both count from their own beginning. */
static int64_t find_offset(const as_ns_export *x, const chains *c) {
    uint32_t least = AS_NS_NONE;
    for (size_t i = 0; i < x->calls.count; i++) {
        uint32_t chain = AS_NS_AT(as_ns_call, x, calls, i)->chain;
        if (chain < least) least = chain;
    }
    int64_t offset;
    return c->of.count == 0 || __builtin_sub_overflow(c->least, (int64_t)least, &offset) ? 0 : offset;
}

static assay_status place_chained(chains *c) {
    as_ns_builder *b = c->b;
    as_ns_export *x = b->x;
    int64_t offset = find_offset(x, c);
    for (size_t i = 0; i < x->calls.count; i++) {
        as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, i);
        int64_t id;
        bool has = call->chain != AS_NS_NONE && !__builtin_add_overflow((int64_t)call->chain, offset, &id);
        call->context = has ? need_chain(c, id) : 0;
    }
    AS_TRY(place_links(c, ASSAY_NONE, AS_NS_NODE_REGION));
    for (size_t i = 0; i < x->calls.count; i++) {
        as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, i);
        bool is_outside = call->chain == AS_NS_NONE;
        assay_id above = is_outside ? as_ns_uncorrelated(b) : AS_AT(link, &c->links, call->context).context;
        call->context =
            is_outside && above == ASSAY_NONE ? ASSAY_NONE : as_ns_child(b, above, AS_NS_NODE_API, call->name);
        if (call->context == ASSAY_NONE) return as_reader_memory(x->reader);
    }
    return ASSAY_OK;
}

assay_status as_ns_paths_of_chains(as_ns_builder *b) {
    chains c;
    assay_status status = read_chains(&c, b, "CUDA_CALLCHAINS");
    if (status == ASSAY_OK) status = place_chained(&c);
    chains_free(&c);
    return status;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* A sample without a frame that says anything has the context of its own, not that of the section. */
static assay_status place_samples(chains *c, assay_id root) {
    as_ns_export *x = c->b->x;
    for (size_t i = 0; i < x->samples.count; i++) {
        as_ns_sample *sample = AS_NS_AT(as_ns_sample, x, samples, i);
        sample->context = need_chain(c, sample->chain);
    }
    AS_TRY(place_links(c, root, AS_NS_NODE_FRAME));
    for (size_t i = 0; i < x->samples.count; i++) {
        as_ns_sample *sample = AS_NS_AT(as_ns_sample, x, samples, i);
        sample->context = sample->context ? AS_AT(link, &c->links, sample->context).context
                                          : as_ns_child_text(c->b, root, AS_NS_NODE_FRAME, "[unresolved]");
        if (sample->context == ASSAY_NONE) return as_reader_memory(x->reader);
    }
    return ASSAY_OK;
}

/* Whether something at the root is no section. */
static bool has_wholes(const as_ns_builder *b) {
    for (size_t i = 0; i < b->x->tree.nodes.count; i++) {
        assay_id id = (assay_id)i;
        if (as_ns_context(b, id)->parent == ASSAY_NONE && as_ns_node_of(b, id) != AS_NS_NODE_SECTION) return true;
    }
    return false;
}

assay_status as_ns_paths_of_samples(as_ns_builder *b) {
    if (b->x->samples.count == 0) return ASSAY_OK;
    as_ns_node node = has_wholes(b) ? AS_NS_NODE_SAMPLES : AS_NS_NODE_SECTION;
    assay_id root = as_ns_child_text(b, ASSAY_NONE, node, "[Samples]");
    if (root == ASSAY_NONE) return as_reader_memory(b->x->reader);
    chains c;
    assay_status status = read_chains(&c, b, "SAMPLING_CALLCHAINS");
    if (status == ASSAY_OK) status = place_samples(&c, root);
    chains_free(&c);
    return status;
}

/* ---- what Extra-P resolved --------------------------------------------------------------------------------------- */

/* Call paths by correlation. */
typedef struct resolved {
    as_arena arena;
    as_strings paths;
    as_map of; /* correlation -> path */
    as_vec names;
    as_map contexts; /* path -> context */
} resolved;

static assay_status read_resolved(as_ns_export *x, resolved *r) {
    static const char *const columns[] = {"correlationId", "callpath"};
    as_scan *scan;
    AS_TRY(as_scan_open(x->db, "EXTRAP_RESOLVED_CALLPATHS", columns, 2, (as_scan_range){0}, &scan, x->reader->error));
    bool fine = true;
    while (fine && as_scan_next(scan)) {
        if (as_scan_type_of(scan, 0) != AS_SCAN_INT || as_scan_type_of(scan, 1) != AS_SCAN_TEXT) continue;
        size_t size;
        const char *text = as_scan_text(scan, 1, &size);
        as_str path = as_intern(&r->paths, text, size);
        fine = path != AS_NO_STR && as_map_put(&r->of, (uint64_t)as_scan_int(scan, 0), path);
    }
    assay_status status = as_scan_close(scan, x->reader->error);
    return fine ? status : as_reader_memory(x->reader);
}

/* The last of its names is that of the call. */
static assay_status place_resolved(as_ns_builder *b, resolved *r, as_str path, assay_id *out) {
    *out = as_map_get(&r->contexts, path);
    if (*out != AS_MAP_NONE) return ASSAY_OK;
    r->names.count = 0;
    if (!as_ns_path_names(b->x, as_str_text(&r->paths, path), as_str_size(&r->paths, path), &r->names))
        return as_reader_memory(b->x->reader);
    for (size_t i = 0; i < r->names.count; i++) {
        as_ns_node node = i + 1 < r->names.count ? AS_NS_NODE_REGION : AS_NS_NODE_API;
        AS_TRY(as_ns_inner_child(b, *out, node, AS_AT(as_str, &r->names, i), out));
    }
    return as_map_put(&r->contexts, path, *out) ? ASSAY_OK : as_reader_memory(b->x->reader);
}

static assay_status place_all_resolved(as_ns_builder *b, resolved *r) {
    as_ns_export *x = b->x;
    for (size_t i = 0; i < x->calls.count; i++) {
        as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, i);
        uint32_t path = call->correlation ? as_map_get(&r->of, (uint64_t)call->correlation) : AS_MAP_NONE;
        if (path != AS_MAP_NONE) {
            AS_TRY(place_resolved(b, r, path, &call->context));
            continue;
        }
        assay_id above = as_ns_uncorrelated(b);
        call->context = above == ASSAY_NONE ? ASSAY_NONE : as_ns_child(b, above, AS_NS_NODE_API, call->name);
        if (call->context == ASSAY_NONE) return as_reader_memory(x->reader);
    }
    return ASSAY_OK;
}

assay_status as_ns_paths_of_resolved(as_ns_builder *b) {
    as_ns_export *x = b->x;
    resolved r = {0};
    AS_TRY(as_ns_symbols_read(x));
    as_arena_init(&r.arena, &x->ds->budget);
    as_strings_init(&r.paths, &r.arena);
    as_map_init(&r.of, &x->ds->budget);
    as_map_init(&r.contexts, &x->ds->budget);
    as_vec_init(&r.names, sizeof(as_str), &x->ds->budget);
    assay_status status = read_resolved(x, &r);
    if (status == ASSAY_OK) status = place_all_resolved(b, &r);
    as_vec_free(&r.names);
    as_map_free(&r.contexts);
    as_map_free(&r.of);
    as_strings_free(&r.paths);
    as_arena_free(&r.arena);
    return status;
}
