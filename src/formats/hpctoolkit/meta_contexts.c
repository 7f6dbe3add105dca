/* meta.db: the tree of contexts, read run of children by run of children. */
#include "core/number.h"
#include "formats/hpctoolkit/meta.h"

enum { USUAL_SIZE = 72 }; /* bytes of the file for a name: one in two contexts or so has its own */
enum { ENTRY_SIZE = 32, CONTEXT_SIZE = 0x20, DRAFT_CONTEXT_SIZE = 0x18, WORD = 8 };
enum { FUNCTION, LOOP, LINE, INSTRUCTION };
enum { NESTED, CALLED, INLINED };

/* Children that are still to be read. */
typedef struct pending {
    uint64_t at, size;
    assay_id parent;
} pending;

typedef struct reading {
    as_meta *meta;
    as_meta_regions regions;
    as_vec stack;        /* pending */
    uint64_t bytes_left; /* that children may still have: they do not share theirs */
} reading;

/* What a context of a run says. */
typedef struct record {
    uint64_t at, children, children_size, end;
    uint32_t id;
    unsigned relation, propagation;
    as_meta_scope scope;
} record;

static assay_status memory_is_out(const reading *r) { return as_fail_memory(r->meta->reader->error, r->meta->path); }

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

/* Whether an id is new. */
static assay_status claim_id(reading *r, uint64_t at, uint32_t id, assay_id context, bool *is_new) {
    as_meta *meta = r->meta;
    *is_new =
        id < meta->n_contexts ? meta->contexts[id] == ASSAY_NONE : as_map_get(&meta->other_contexts, id) == AS_MAP_NONE;
    if (!*is_new)
        return as_broken(meta->reader, as_place_offset(meta->path, at), "context-id",
                         "context %u is in the tree already", id);
    if (id < meta->n_contexts)
        meta->contexts[id] = context;
    else if (!as_map_put(&meta->other_contexts, id, context))
        return memory_is_out(r);
    return ASSAY_OK;
}

static assay_status push_children(reading *r, uint64_t offset, uint64_t at, uint64_t size, assay_id parent) {
    if (!size) return ASSAY_OK;
    if (!as_meta_has(r->meta, at, size))
        return as_meta_bad(r->meta, offset, "outside-file", "%llu bytes of children at %llu are not all in the file",
                           (unsigned long long)size, (unsigned long long)at);
    if (size > r->bytes_left)
        return as_meta_bad(r->meta, offset, "circle",
                           "children of several contexts are the same: they lead in a circle");
    r->bytes_left -= size;
    pending children = {at, size, parent};
    return as_vec_append(&r->stack, &children, 1) ? ASSAY_OK : memory_is_out(r);
}

/* A new context, *out, or ASSAY_NONE where one has its id already. */
static assay_status add_context(reading *r, uint64_t at, uint32_t id, as_context *context, assay_id *out) {
    as_meta *meta = r->meta;
    bool is_new;
    *out = ASSAY_NONE;
    AS_TRY(claim_id(r, at, id, (assay_id)meta->tree.nodes.count, &is_new));
    if (!is_new) return ASSAY_OK;
    context->source_id = id;
    context->is_numbered = true;
    context->is_callpath = true;
    context->callpath_order = meta->tree.n_callpaths++;
    *out = as_tree_add(&meta->tree, context);
    return *out != ASSAY_NONE ? ASSAY_OK : memory_is_out(r);
}

/* ---- one context ------------------------------------------------------------------------------------------------- */

/* Words behind a context: 64-bit fields take one each, two 32-bit fields share one. */
static assay_status read_words(reading *r, record *context, uint64_t at, uint64_t end) {
    as_meta *meta = r->meta;
    as_meta_scope *scope = &context->scope;
    uint64_t function = 0, file = 0, module = 0;
    unsigned needed = (scope->flags & AS_META_FUNCTION ? 1u : 0) + (scope->flags & AS_META_LINE ? 2u : 0) +
                      (scope->flags & AS_META_POINT ? 2u : 0);
    if (needed > (end - at) / WORD)
        return as_meta_bad(meta, context->at, "context-size",
                           "context %u has fields that do not fit into its %llu words", context->id,
                           (unsigned long long)(end - at) / WORD);
    if (scope->flags & AS_META_FUNCTION) function = at, at += WORD;
    if (scope->flags & AS_META_LINE) {
        file = at;
        scope->line = as_meta_u32(meta, at + WORD);
        at += 2 * WORD;
    }
    if (scope->flags & AS_META_POINT) {
        module = at;
        scope->offset = as_meta_u64(meta, at + WORD);
    }
    if (function)
        AS_TRY(
            as_meta_index(meta, function, as_meta_u64(meta, function), &meta->functions, "function", &scope->function));
    if (file) AS_TRY(as_meta_index(meta, file, as_meta_u64(meta, file), &meta->files, "file", &scope->file));
    if (module)
        AS_TRY(as_meta_index(meta, module, as_meta_u64(meta, module), &meta->modules, "module", &scope->module));
    return ASSAY_OK;
}

static assay_status read_record(reading *r, uint64_t at, uint64_t end, record *out) {
    as_meta *meta = r->meta;
    uint64_t size = meta->is_draft ? DRAFT_CONTEXT_SIZE : CONTEXT_SIZE;
    if (size > end - at || meta->data[at + 0x17] * (uint64_t)WORD > end - at - size)
        return as_meta_bad(meta, at, "context-size", "a context goes beyond the end of its siblings");
    *out = (record){.at = at,
                    .children_size = as_meta_u64(meta, at),
                    .children = as_meta_u64(meta, at + 0x08),
                    .id = as_meta_u32(meta, at + 0x10),
                    .relation = meta->data[at + 0x15],
                    .end = at + size + meta->data[at + 0x17] * (uint64_t)WORD};
    out->scope.type = meta->data[at + 0x16];
    out->scope.flags = meta->data[at + 0x14] & (AS_META_FUNCTION | AS_META_LINE | AS_META_POINT);
    out->propagation = meta->is_draft ? out->relation == NESTED : as_meta_u16(meta, at + 0x18);
    return read_words(r, out, at + size, out->end);
}

/* What cannot be told from the kind of a context. */
static bool add_attributes(as_meta *meta, const record *context, assay_id id) {
    as_dataset *ds = meta->ds;
    unsigned type = context->scope.type, relation = context->relation;
    bool is_usual = type == FUNCTION      ? relation == CALLED || relation == INLINED
                    : type == INSTRUCTION ? relation == CALLED
                                          : relation == NESTED;
    return (is_usual || as_add_attribute(ds, AS_OWNER_CONTEXT, id, "relation", as_cell_uint(relation))) &&
           (context->propagation == (relation == NESTED) ||
            as_add_attribute(ds, AS_OWNER_CONTEXT, id, "propagation", as_cell_uint(context->propagation)));
}

static assay_status read_child(reading *r, const record *child, assay_id parent) {
    as_context context = AS_CONTEXT_INIT;
    assay_id id;
    context.parent = parent;
    context.role = child->scope.type == FUNCTION ? AS_ROLE_CALL : AS_ROLE_INNER;
    context.is_inlined = child->scope.type == FUNCTION && child->relation == INLINED;
    AS_TRY(as_meta_region(r->meta, &r->regions, &child->scope, &context.region));
    AS_TRY(add_context(r, child->at, child->id, &context, &id));
    if (id == ASSAY_NONE) return ASSAY_OK;
    if (!add_attributes(r->meta, child, id)) return memory_is_out(r);
    return push_children(r, child->at, child->children, child->children_size, id);
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static assay_status add_root(reading *r, assay_id *out) {
    as_meta *meta = r->meta;
    as_region region = AS_REGION_INIT;
    as_context root = AS_CONTEXT_INIT;
    region.name = as_ds_intern_text(meta->ds, "<root>");
    region.kind = as_ds_intern_text(meta->ds, "root");
    root.source_id = 0;
    root.is_numbered = true;
    root.region = region.name != AS_NO_STR && region.kind != AS_NO_STR ? as_add_region(meta->ds, &region) : ASSAY_NONE;
    *out = root.region != ASSAY_NONE ? as_tree_add(&meta->tree, &root) : ASSAY_NONE;
    if (*out == ASSAY_NONE) return memory_is_out(r);
    bool is_new;
    return claim_id(r, 0, 0, *out, &is_new);
}

static assay_status read_entry(reading *r, uint64_t at, as_str kind, assay_id root) {
    static const char *const names[] = {"unknown entry", "main thread", "application thread"};
    as_meta *meta = r->meta;
    as_dataset *ds = meta->ds;
    unsigned type = as_meta_u16(meta, at + 0x14);
    as_region region = AS_REGION_INIT;
    as_context context = AS_CONTEXT_INIT;
    region.kind = kind;
    AS_TRY(as_meta_text(meta, at + 0x18, &region.name));
    if (region.name == AS_NO_STR) region.name = as_ds_intern_text(ds, names[type < 3 ? type : 0]);
    context.region = region.name != AS_NO_STR ? as_add_region(ds, &region) : ASSAY_NONE;
    if (context.region == ASSAY_NONE ||
        !as_add_attribute(ds, AS_OWNER_REGION, context.region, "entry_type", as_cell_uint(type)))
        return memory_is_out(r);
    assay_id id;
    context.parent = root;
    AS_TRY(add_context(r, at, as_meta_u32(meta, at + 0x10), &context, &id));
    if (id == ASSAY_NONE) return ASSAY_OK;
    return push_children(r, at, as_meta_u64(meta, at + 8), as_meta_u64(meta, at), id);
}

static assay_status read_entries(reading *r, uint64_t section, assay_id root) {
    as_meta *meta = r->meta;
    as_meta_table entries;
    as_str kind = as_ds_intern_text(meta->ds, "entry");
    if (kind == AS_NO_STR) return memory_is_out(r);
    AS_TRY(as_meta_find_table(meta, section, as_meta_u64(meta, section), as_meta_u16(meta, section + 8),
                              meta->data[section + 0x0a], ENTRY_SIZE, "entry points", &entries));
    for (uint32_t i = 0; i < entries.n; i++) AS_TRY(read_entry(r, entries.at + (uint64_t)i * entries.size, kind, root));
    return ASSAY_OK;
}

static assay_status read_tree(reading *r) {
    as_meta *meta = r->meta;
    uint64_t section = meta->sections[AS_META_CONTEXTS];
    assay_id root;
    AS_TRY(add_root(r, &root));
    if (!section) return ASSAY_OK;
    AS_TRY(meta->is_draft ? push_children(r, section, as_meta_u64(meta, section + 8), as_meta_u64(meta, section), root)
                          : read_entries(r, section, root));
    while (r->stack.count) {
        pending run = AS_AT(pending, &r->stack, --r->stack.count);
        for (uint64_t at = run.at, end = run.at + run.size; at < end;) {
            record child;
            AS_TRY(read_record(r, at, end, &child));
            AS_TRY(read_child(r, &child, run.parent));
            at = child.end;
        }
    }
    return ASSAY_OK;
}

assay_status as_meta_read_contexts(as_meta *meta, uint32_t limit) {
    reading r = {.meta = meta, .bytes_left = meta->size};
    as_vec_init(&r.stack, sizeof(pending), &meta->ds->budget);
    meta->contexts = as_arena_array(&meta->ds->arena, limit, sizeof *meta->contexts);
    meta->n_contexts = limit;
    bool fine = as_meta_regions_init(&r.regions, meta) && meta->contexts;
    if (fine) memset(meta->contexts, 0xff, limit * sizeof *meta->contexts);
    as_strings_expect(&meta->ds->strings, meta->size / USUAL_SIZE);
    as_map_expect(&r.regions.known, meta->size / USUAL_SIZE);
    assay_status status = fine ? read_tree(&r) : memory_is_out(&r);
    as_meta_regions_free(&r.regions);
    as_vec_free(&r.stack);
    return status;
}

assay_status as_meta_finish_contexts(as_meta *meta) {
    const assay_id *ids;
    as_dataset *ds = meta->ds;
    if (!as_tree_finish(&meta->tree, &ids)) return as_fail_memory(meta->reader->error, meta->path);
    for (size_t i = 0; i < meta->n_contexts; i++)
        if (meta->contexts[i] != ASSAY_NONE) meta->contexts[i] = ids[meta->contexts[i]];
    for (size_t i = 0; i < ds->attributes.count; i++) {
        as_attribute *attribute = &AS_AT(as_attribute, &ds->attributes, i);
        if (attribute->owner == AS_OWNER_CONTEXT) attribute->owner_id = ids[attribute->owner_id];
    }
    return ASSAY_OK;
}
