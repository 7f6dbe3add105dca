/* meta.db of the released form: the tables, and the tree of contexts. The children of a context lie side by side, and
 * the runs of children in the order of their parents. */
#include <stdlib.h>

#include "formats/hpctoolkit/write_meta.h"

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

enum { ENTRY = 32, CONTEXT = 0x20, MOST_FLEX = 5, CONTEXTS_HEADER = 0x10 };
enum { HAS_FUNCTION = 1, HAS_SOURCE = 2, HAS_POINT = 4 };

/* Which parts a context has. */
static unsigned flags_of(const as_meta_out *meta, assay_id context) {
    const as_hpc_plan *plan = meta->plan;
    uint8_t kind = plan->kinds_of_contexts[context];
    assay_id region = as_ds_context(plan->ds, context)->region;
    unsigned flags = meta->function_of[context] != UINT32_MAX ? HAS_FUNCTION : 0;
    if (meta->file_of[context] != UINT32_MAX) flags |= HAS_SOURCE;
    if (region == ASSAY_NONE || meta->module_of[context] == UINT32_MAX || kind == AS_HPC_FUNCTION ||
        kind == AS_HPC_ENTRY)
        return flags;
    return plan->kept.offset[region] || kind == AS_HPC_INSTRUCTION ? flags | HAS_POINT : flags;
}

static unsigned flex_words(unsigned flags) {
    return (flags & HAS_FUNCTION ? 1 : 0) + (flags & HAS_SOURCE ? 2 : 0) + (flags & HAS_POINT ? 2 : 0);
}

static uint64_t context_size(const as_meta_out *meta, assay_id context) {
    return CONTEXT + 8 * (uint64_t)flex_words(flags_of(meta, context));
}

/* Children of a slot: contexts below it. The root's are entry points, which lie elsewhere. */
static assay_id first_child(const as_hpc_plan *plan, uint32_t slot) {
    if (slot < plan->n_contexts) return slot + 1;
    return plan->root == ASSAY_NONE ? 0 : plan->root + 1;
}
static assay_id children_end(const as_hpc_plan *plan, uint32_t slot) {
    if (slot < plan->n_contexts) return slot + as_ds_context(plan->ds, slot)->subtree;
    return plan->root == ASSAY_NONE ? plan->n_contexts : plan->root + as_ds_context(plan->ds, plan->root)->subtree;
}
/* Of the extra entry point: those that are none themselves. */
static bool is_child(const as_hpc_plan *plan, uint32_t slot, assay_id context) {
    return slot < plan->n_contexts || (as_hpc_is_top(plan, context) && !as_hpc_is_entry(plan, context));
}

static uint64_t run_size(const as_meta_out *meta, uint32_t slot) {
    const as_hpc_plan *plan = meta->plan;
    uint64_t size = 0;
    for (assay_id i = first_child(plan, slot); i < children_end(plan, slot); i += as_ds_context(plan->ds, i)->subtree) {
        if (is_child(plan, slot, i)) size += context_size(meta, i);
    }
    return size;
}

/* Whether the slot has children that are written as such. */
static bool has_run(const as_hpc_plan *plan, uint32_t slot) {
    if (slot < plan->n_contexts) return slot != plan->root && plan->kinds_of_contexts[slot] != AS_HPC_PLACELESS;
    return slot == plan->n_contexts + AS_HPC_EXTRA_ENTRY && plan->has_entry;
}

static size_t count_entries(const as_hpc_plan *plan) {
    size_t n = plan->has_entry;
    for (assay_id i = 0; i < plan->n_contexts; i++) n += as_hpc_is_entry(plan, i);
    return n;
}

static bool size_contexts(as_meta_out *meta, uint64_t pointer, uint64_t *size) {
    as_hpc_plan *plan = meta->plan;
    meta->runs = as_arena_array(&plan->arena, (size_t)plan->n_slots + 1, sizeof *meta->runs);
    if (!meta->runs) return false;
    uint64_t at = pointer + CONTEXTS_HEADER + ENTRY * count_entries(plan);
    for (uint32_t i = 0; i < plan->n_slots; i++) {
        meta->runs[i] = at;
        if (has_run(plan, i)) at += run_size(meta, i);
    }
    meta->runs[plan->n_slots] = at;
    *size = at - pointer;
    return true;
}

/* Where the children lie; 0 and 0 for none. */
static void put_run(const as_meta_out *meta, as_hpc_bytes *b, uint32_t slot) {
    uint64_t size = meta->runs[slot + 1] - meta->runs[slot];
    as_hpc_put_u64(b, size);
    as_hpc_put_u64(b, size ? meta->runs[slot] : 0);
}

static uint16_t entry_type(const as_hpc_plan *plan, assay_id context) {
    assay_id region = as_ds_context(plan->ds, context)->region;
    const char *name = as_hpc_context_name(plan, context);
    if (region != ASSAY_NONE && plan->kept.entry_type[region] >= 0) return (uint16_t)plan->kept.entry_type[region];
    if (strcmp(name, "main thread") == 0 || strcmp(name, "<program root>") == 0) return 1;
    return strcmp(name, "application thread") == 0 || strcmp(name, "<thread root>") == 0 ? 2 : 0;
}

static void put_entry(const as_meta_out *meta, as_output *out, uint32_t slot, uint16_t type, uint64_t name) {
    unsigned char bytes[ENTRY] = {0};
    as_hpc_bytes b = {.at = bytes};
    put_run(meta, &b, slot);
    as_hpc_put_u32(&b, meta->plan->ids[slot]);
    as_hpc_put_u16(&b, type);
    b.at += 2;
    as_hpc_put_u64(&b, as_meta_out_text_at(name));
    as_output_write(out, bytes, sizeof bytes);
}

static void put_flex(const as_meta_out *meta, as_hpc_bytes *b, assay_id context, unsigned flags) {
    assay_id id = as_ds_context(meta->plan->ds, context)->region;
    if (flags & HAS_FUNCTION)
        as_hpc_put_u64(b, as_meta_out_entry(meta, AS_META_OUT_FUNCTIONS, meta->function_of[context], 40));
    if (flags & HAS_SOURCE) {
        int64_t line = as_ds_region(meta->plan->ds, id)->line_begin;
        as_hpc_put_u64(b, as_meta_out_entry(meta, AS_META_OUT_FILES, meta->file_of[context], 16));
        as_hpc_put_u32(b, line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0);
        b->at += 4;
    }
    if (flags & HAS_POINT) {
        as_hpc_put_u64(b, as_meta_out_entry(meta, AS_META_OUT_MODULES, meta->module_of[context], 16));
        as_hpc_put_u64(b, meta->plan->kept.offset[id]);
    }
}

static void put_context(const as_meta_out *meta, as_output *out, assay_id context) {
    static const uint8_t types[] = {
        [AS_HPC_LOOP] = 1, [AS_HPC_LINE] = 2, [AS_HPC_INSTRUCTION] = 3, [AS_HPC_CALL] = 2, [AS_HPC_PLACELESS] = 0};
    unsigned char bytes[CONTEXT + 8 * MOST_FLEX] = {0};
    unsigned flags = flags_of(meta, context);
    uint8_t relation = as_hpc_relation(meta->plan, context);
    unsigned propagation = meta->plan->kept.propagation[context] & ~1u;
    as_hpc_bytes b = {.at = bytes};
    put_run(meta, &b, context);
    as_hpc_put_u32(&b, meta->plan->ids[context]);
    as_hpc_put_u8(&b, (uint8_t)flags);
    as_hpc_put_u8(&b, relation);
    as_hpc_put_u8(&b, types[meta->plan->kinds_of_contexts[context]]);
    as_hpc_put_u8(&b, (uint8_t)flex_words(flags));
    as_hpc_put_u16(&b, (uint16_t)(propagation | (relation == AS_HPC_NESTED)));
    b.at = bytes + CONTEXT;
    put_flex(meta, &b, context, flags);
    as_output_write(out, bytes, (size_t)(b.at - bytes));
}

static void write_contexts(const as_meta_out *meta, as_output *out) {
    const as_hpc_plan *plan = meta->plan;
    unsigned char header[CONTEXTS_HEADER] = {0};
    as_hpc_bytes b = {.at = header};
    as_hpc_put_u64(&b, meta->pointers[AS_META_OUT_CONTEXTS] + CONTEXTS_HEADER);
    as_hpc_put_u16(&b, (uint16_t)count_entries(plan));
    as_hpc_put_u8(&b, ENTRY);
    as_output_write(out, header, sizeof header);
    uint32_t extra = plan->n_contexts + AS_HPC_EXTRA_ENTRY;
    for (assay_id i = 0; i < plan->n_contexts; i++) {
        if (as_hpc_is_entry(plan, i)) put_entry(meta, out, i, entry_type(plan, i), meta->entry_names[i]);
    }
    if (plan->has_entry) put_entry(meta, out, extra, 1, meta->main_thread);
    for (uint32_t slot = 0; slot < plan->n_slots; slot++) {
        if (!has_run(plan, slot)) continue;
        for (assay_id i = first_child(plan, slot); i < children_end(plan, slot);
             i += as_ds_context(plan->ds, i)->subtree) {
            if (is_child(plan, slot, i)) put_context(meta, out, i);
        }
    }
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* The sections that lie in memory, from the strings to the functions: where each begins. The contexts come behind
 * them. */
static bool place_sections(as_meta_out *meta) {
    const as_hpc_plan *plan = meta->plan;
    static const int order[] = {AS_META_OUT_STRINGS, AS_META_OUT_GENERAL, AS_META_OUT_KINDS,     AS_META_OUT_METRICS,
                                AS_META_OUT_MODULES, AS_META_OUT_FILES,   AS_META_OUT_FUNCTIONS, AS_META_OUT_CONTEXTS};
    meta->sizes[AS_META_OUT_STRINGS] = meta->strings.count;
    meta->sizes[AS_META_OUT_GENERAL] = 0x10;
    meta->sizes[AS_META_OUT_KINDS] = 0x10 + 8 * plan->kinds.count;
    meta->sizes[AS_META_OUT_METRICS] = as_meta_out_metrics_size(meta);
    meta->sizes[AS_META_OUT_MODULES] = 0x10 + 16 * meta->modules.count;
    meta->sizes[AS_META_OUT_FILES] = 0x10 + 16 * meta->files.count;
    meta->sizes[AS_META_OUT_FUNCTIONS] = 0x10 + 40 * meta->functions.count;
    uint64_t at = AS_META_OUT_HEADER;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        meta->pointers[order[i]] = at;
        at = as_hpc_align(at + meta->sizes[order[i]]);
    }
    return size_contexts(meta, meta->pointers[AS_META_OUT_CONTEXTS], &meta->sizes[AS_META_OUT_CONTEXTS]);
}

/* The beginning of a section that is an array of entries. */
static as_hpc_bytes put_array(const as_meta_out *meta, unsigned char *bytes, int section, size_t n, uint16_t size) {
    as_hpc_bytes b = {.at = bytes + meta->pointers[section]};
    as_hpc_put_u64(&b, meta->pointers[section] + 0x10);
    as_hpc_put_u32(&b, (uint32_t)n);
    as_hpc_put_u16(&b, size);
    b.at += 2;
    return b;
}

static uint64_t pointer_to(const as_meta_out *meta, int section, uint32_t index, uint64_t size) {
    return index == UINT32_MAX ? 0 : as_meta_out_entry(meta, section, index, size);
}

static void put_sources(const as_meta_out *meta, unsigned char *bytes) {
    as_hpc_bytes b = put_array(meta, bytes, AS_META_OUT_MODULES, meta->modules.count, 16);
    for (size_t i = 0; i < meta->modules.count; i++) {
        b.at += 8;
        as_hpc_put_u64(&b, as_meta_out_text_at(AS_AT(uint64_t, &meta->modules, i)));
    }
    b = put_array(meta, bytes, AS_META_OUT_FILES, meta->files.count, 16);
    for (size_t i = 0; i < meta->files.count; i++) {
        const as_meta_out_file *file = &AS_AT(as_meta_out_file, &meta->files, i);
        as_hpc_put_u32(&b, file->is_copied);
        b.at += 4;
        as_hpc_put_u64(&b, as_meta_out_text_at(file->path));
    }
    b = put_array(meta, bytes, AS_META_OUT_FUNCTIONS, meta->functions.count, 40);
    for (size_t i = 0; i < meta->functions.count; i++) {
        const as_meta_out_function *function = &AS_AT(as_meta_out_function, &meta->functions, i);
        as_hpc_put_u64(&b, as_meta_out_text_at(function->name));
        as_hpc_put_u64(&b, pointer_to(meta, AS_META_OUT_MODULES, function->module, 16));
        as_hpc_put_u64(&b, function->offset);
        as_hpc_put_u64(&b, pointer_to(meta, AS_META_OUT_FILES, function->file, 16));
        as_hpc_put_u32(&b, function->line);
        b.at += 4;
    }
}

static assay_status write_tables(const as_meta_out *meta, as_output *out) {
    const as_hpc_plan *plan = meta->plan;
    uint64_t size = meta->pointers[AS_META_OUT_CONTEXTS];
    unsigned char *bytes = as_budget_take(as_ds_budget(plan->ds), size) ? calloc(1, size) : NULL;
    if (bytes) {
        as_hpc_bytes b = {.at = bytes + 16};
        memcpy(bytes, "HPCTOOLKITmeta\4", 16);
        for (int i = 0; i < AS_META_OUT_SECTIONS; i++) {
            as_hpc_put_u64(&b, meta->sizes[i]);
            as_hpc_put_u64(&b, meta->pointers[i]);
        }
        memcpy(bytes + AS_META_OUT_HEADER, meta->strings.data, meta->strings.count);
        b.at = bytes + meta->pointers[AS_META_OUT_GENERAL];
        as_hpc_put_u64(&b, as_meta_out_text_at(meta->title));
        as_hpc_put_u64(&b, as_meta_out_text_at(meta->description));
        b.at = bytes + meta->pointers[AS_META_OUT_KINDS];
        as_hpc_put_u64(&b, meta->pointers[AS_META_OUT_KINDS] + 0x10);
        as_hpc_put_u8(&b, (uint8_t)plan->kinds.count);
        b.at += 7;
        for (size_t i = 0; i < plan->kinds.count; i++) as_hpc_put_u64(&b, as_meta_out_text_at(meta->kinds[i]));
        as_meta_out_put_metrics(meta, bytes + meta->pointers[AS_META_OUT_METRICS]);
        put_sources(meta, bytes);
        as_output_write(out, bytes, size);
        as_budget_give(as_ds_budget(plan->ds), size);
    }
    free(bytes);
    return bytes ? ASSAY_OK : as_fail_memory(plan->error, NULL);
}

assay_status as_hpc_write_meta(as_hpc_plan *plan, as_output_directory *directory) {
    as_output *out = NULL;
    as_meta_out meta;
    AS_TRY(as_output_directory_file(directory, "meta.db", &out, plan->error));
    assay_status code = as_meta_out_init(&meta, plan) && place_sections(&meta) ? write_tables(&meta, out)
                                                                               : as_fail_memory(plan->error, NULL);
    if (code == ASSAY_OK) write_contexts(&meta, out);
    as_output_text(out, "_meta.db");
    as_meta_out_free(&meta);
    if (code == ASSAY_OK) return as_output_commit(out, plan->error);
    as_output_discard(out);
    return code;
}
