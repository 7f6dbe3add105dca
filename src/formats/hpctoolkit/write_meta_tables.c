/* What the contexts of meta.db refer to: strings, modules, files, functions. */
#include "formats/hpctoolkit/write_meta.h"

const char *const as_meta_out_scope_names[AS_META_OUT_SCOPES] = {"point", "function", "lex_aware", "execution"};
const char *const as_meta_out_formulas[AS_HPC_STATISTICS] = {"1", "$$", "($$^2)", "$$", "$$"};
const uint8_t as_meta_out_combine[AS_HPC_STATISTICS] = {0, 0, 0, 1, 2};

/* The scope of a side that the source alone knows, or NULL. */
static const char *other_scope(const as_hpc_plan *plan, const as_hpc_group *group) {
    return group->other == ASSAY_NONE ? NULL : plan->kept.scope[as_hpc_side_at(plan, group->other)->metric];
}

uint32_t as_meta_out_side(const as_hpc_plan *plan, const as_hpc_group *group, int scope) {
    switch (scope) {
    case AS_META_OUT_POINT: return group->point != ASSAY_NONE || other_scope(plan, group) ? group->point : group->other;
    case AS_META_OUT_FUNCTION: return group->exclusive;
    case AS_META_OUT_LEXICAL: return group->lexical;
    default: return group->inclusive;
    }
}

/* The same of any scope of the file. */
static uint32_t side_in(const as_meta_out *meta, const as_hpc_group *group, size_t scope) {
    if (scope < AS_META_OUT_SCOPES) return as_meta_out_side(meta->plan, group, (int)scope);
    const char *name = other_scope(meta->plan, group);
    return name && strcmp(name, AS_AT(as_meta_out_scope, &meta->scopes, scope).text) == 0 ? group->other : ASSAY_NONE;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* Puts a text behind the others: its place among them. UINT64_MAX when memory is out. */
static uint64_t append_text(as_vec *texts, const char *text) {
    uint64_t place = texts->count;
    return as_vec_append(texts, text, strlen(text) + 1) ? place : UINT64_MAX;
}

static uint64_t add_text(as_meta_out *meta, const char *text) { return append_text(&meta->strings, text); }

/* What names metrics lies in their own section: Hatchet looks nowhere else. */
static uint64_t add_metric_text(as_meta_out *meta, const char *text) {
    return append_text(&meta->metric_strings, text);
}

static uint64_t add_string(as_meta_out *meta, as_str text) {
    uint32_t known = as_map_get(&meta->known_strings, text);
    if (known != AS_MAP_NONE) return known;
    uint64_t place = add_text(meta, as_ds_text(meta->plan->ds, text));
    bool fine = place < AS_MAP_NONE && as_map_put(&meta->known_strings, text, (uint32_t)place);
    return fine ? place : UINT64_MAX;
}

static bool add_scope(as_meta_out *meta, const char *text) {
    for (size_t i = 0; i < meta->scopes.count; i++) {
        if (strcmp(AS_AT(as_meta_out_scope, &meta->scopes, i).text, text) == 0) return true;
    }
    as_meta_out_scope scope = {.text = text, .name = add_metric_text(meta, text)};
    return scope.name != UINT64_MAX && as_vec_append(&meta->scopes, &scope, 1);
}

static bool add_scopes(as_meta_out *meta) {
    bool fine = true;
    for (int i = 0; i < AS_META_OUT_SCOPES && fine; i++) fine = add_scope(meta, as_meta_out_scope_names[i]);
    for (size_t i = 0; i < meta->plan->groups.count && fine; i++) {
        const char *name = other_scope(meta->plan, as_hpc_group_at(meta->plan, i));
        if (name) fine = add_scope(meta, name);
    }
    return fine;
}

static bool add_texts(as_meta_out *meta) {
    as_hpc_plan *plan = meta->plan;
    meta->title = add_text(meta, as_hpc_title(plan));
    meta->description = add_text(meta, plan->kept.description ? plan->kept.description : "");
    bool fine = meta->title != UINT64_MAX && meta->description != UINT64_MAX;
    for (int i = 0; i < 3 && fine; i++)
        fine = (meta->formulas[i] = add_metric_text(meta, as_meta_out_formulas[i])) != UINT64_MAX;
    fine = fine && add_scopes(meta);
    meta->kinds = as_arena_array(&plan->arena, plan->kinds.count, sizeof *meta->kinds);
    meta->groups = as_arena_array(&plan->arena, plan->groups.count, sizeof *meta->groups);
    fine = fine && meta->kinds && meta->groups;
    for (size_t i = 0; i < plan->kinds.count && fine; i++)
        fine = (meta->kinds[i] = add_text(meta, AS_AT(const char *, &plan->kinds, i))) != UINT64_MAX;
    as_vec name;
    as_vec_init(&name, 1, NULL);
    for (size_t i = 0; i < plan->groups.count && fine; i++)
        fine = as_hpc_group_name(plan, as_hpc_group_at(plan, i), &name) &&
               (meta->groups[i] = add_metric_text(meta, name.data)) != UINT64_MAX;
    as_vec_free(&name);
    return fine;
}

/* ---- modules, files, functions ----------------------------------------------------------------------------------- */

/* UINT32_MAX where it is unknown; *fine is cleared when memory is out. */
static uint32_t find_module(as_meta_out *meta, as_str module, bool *fine) {
    if (as_hpc_is_unknown(as_ds_text(meta->plan->ds, module))) return UINT32_MAX;
    uint32_t at = as_map_get(&meta->known_modules, module);
    if (at != AS_MAP_NONE) return at;
    uint64_t path = add_string(meta, module);
    at = (uint32_t)meta->modules.count;
    *fine = *fine && path != UINT64_MAX && as_vec_append(&meta->modules, &path, 1) &&
            as_map_put(&meta->known_modules, module, at);
    return at;
}

static uint32_t find_file(as_meta_out *meta, as_str file, bool *fine) {
    if (file == AS_NO_STR) return UINT32_MAX;
    uint32_t at = as_map_get(&meta->known_files, file);
    if (at != AS_MAP_NONE) return at;
    as_meta_out_file entry = {.path = add_string(meta, file), .is_copied = as_hpc_is_copied(meta->plan->ds, file)};
    at = (uint32_t)meta->files.count;
    *fine = *fine && entry.path != UINT64_MAX && as_vec_append(&meta->files, &entry, 1) &&
            as_map_put(&meta->known_files, file, at);
    return at;
}

/* UINT32_MAX for one of which nothing is known. */
static uint32_t find_function(as_meta_out *meta, assay_id context, bool *fine) {
    const as_hpc_plan *plan = meta->plan;
    const as_context *c = as_ds_context(plan->ds, context);
    const as_region *region = c->region == ASSAY_NONE ? NULL : as_ds_region(plan->ds, c->region);
    as_str name = c->name != AS_NO_STR || !region ? c->name : region->name;
    uint64_t key = as_pair(c->region, name);
    uint32_t at = as_map_get(&meta->known_functions, key);
    if (at != AS_MAP_NONE) return at;
    as_meta_out_function function = {.module = UINT32_MAX, .file = UINT32_MAX};
    if (region) {
        function.module = find_module(meta, region->module, fine);
        if (!as_hpc_is_unknown(as_ds_text(plan->ds, region->file))) function.file = find_file(meta, region->file, fine);
        function.line = region->line_begin > 0 && region->line_begin <= UINT32_MAX ? (uint32_t)region->line_begin : 0;
        function.offset = plan->kept.offset[c->region];
    }
    const char *text = name == AS_NO_STR ? NULL : as_ds_text(plan->ds, name);
    if (function.module == UINT32_MAX && function.file == UINT32_MAX && !function.line && !function.offset &&
        (!text || !text[0] || strcmp(text, "<unknown function>") == 0))
        return UINT32_MAX;
    function.name = name == AS_NO_STR ? add_text(meta, "") : add_string(meta, name);
    at = (uint32_t)meta->functions.count;
    *fine = *fine && function.name != UINT64_MAX && as_vec_append(&meta->functions, &function, 1) &&
            as_map_put(&meta->known_functions, key, at);
    return at;
}

static bool find_entries(as_meta_out *meta) {
    as_hpc_plan *plan = meta->plan;
    meta->entry_names = as_arena_array(&plan->arena, plan->n_contexts, sizeof *meta->entry_names);
    meta->main_thread = add_text(meta, "main thread");
    bool fine = meta->entry_names && meta->main_thread != UINT64_MAX;
    for (assay_id i = 0; i < plan->n_contexts && fine; i++) {
        const as_context *c = as_ds_context(plan->ds, i);
        uint8_t kind = plan->kinds_of_contexts[i];
        bool is_inside = c->parent != ASSAY_NONE;
        meta->function_of[i] = meta->file_of[i] = UINT32_MAX;
        meta->module_of[i] = is_inside ? meta->module_of[c->parent] : UINT32_MAX;
        if (kind == AS_HPC_PLACELESS || i == plan->root) continue;
        if (as_hpc_is_entry(plan, i)) {
            fine = (meta->entry_names[i] = add_text(meta, as_hpc_context_name(plan, i))) != UINT64_MAX;
            continue;
        }
        if (kind == AS_HPC_FUNCTION || kind == AS_HPC_ENTRY) meta->function_of[i] = find_function(meta, i, &fine);
        if (c->region == ASSAY_NONE) continue;
        const as_region *region = as_ds_region(plan->ds, c->region);
        uint32_t module = find_module(meta, region->module, &fine);
        if (module != UINT32_MAX) meta->module_of[i] = module;
        if (kind == AS_HPC_LOOP || kind == AS_HPC_LINE || kind == AS_HPC_CALL)
            meta->file_of[i] = find_file(meta, region->file, &fine);
    }
    return fine;
}

bool as_meta_out_init(as_meta_out *meta, as_hpc_plan *plan) {
    as_budget *budget = as_ds_budget(plan->ds);
    *meta = (as_meta_out){.plan = plan};
    as_vec_init(&meta->strings, 1, budget);
    as_vec_init(&meta->metric_strings, 1, budget);
    as_map_init(&meta->known_strings, budget);
    as_vec_init(&meta->functions, sizeof(as_meta_out_function), budget);
    as_vec_init(&meta->scopes, sizeof(as_meta_out_scope), budget);
    as_vec_init(&meta->files, sizeof(as_meta_out_file), budget);
    as_vec_init(&meta->modules, sizeof(uint64_t), budget);
    as_map_init(&meta->known_functions, budget);
    as_map_init(&meta->known_files, budget);
    as_map_init(&meta->known_modules, budget);
    meta->function_of = as_arena_array(&plan->arena, plan->n_contexts, sizeof *meta->function_of);
    meta->file_of = as_arena_array(&plan->arena, plan->n_contexts, sizeof *meta->file_of);
    meta->module_of = as_arena_array(&plan->arena, plan->n_contexts, sizeof *meta->module_of);
    return meta->function_of && meta->file_of && meta->module_of && add_texts(meta) && find_entries(meta);
}

void as_meta_out_free(as_meta_out *meta) {
    as_vec_free(&meta->strings);
    as_vec_free(&meta->metric_strings);
    as_map_free(&meta->known_strings);
    as_vec_free(&meta->functions);
    as_vec_free(&meta->scopes);
    as_vec_free(&meta->files);
    as_vec_free(&meta->modules);
    as_map_free(&meta->known_functions);
    as_map_free(&meta->known_files);
    as_map_free(&meta->known_modules);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

enum { METRICS_HEADER = 0x20, SCOPE = 16, METRIC = 32, INSTANCE = 16, SUMMARY = 24 };

/* Without the texts behind it. */
static uint64_t size_of_metrics(const as_meta_out *meta) {
    const as_hpc_plan *plan = meta->plan;
    uint64_t size = METRICS_HEADER + SCOPE * meta->scopes.count + METRIC * plan->groups.count;
    for (size_t i = 0; i < plan->sides.count; i++) {
        unsigned statistics = as_hpc_group_at(plan, as_hpc_side_at(plan, i)->group)->statistics;
        size += INSTANCE + SUMMARY * (uint64_t)__builtin_popcount(statistics);
    }
    return size;
}

uint64_t as_meta_out_metrics_size(const as_meta_out *meta) {
    return size_of_metrics(meta) + meta->metric_strings.count;
}

static void put_scopes(const as_meta_out *meta, uint64_t texts, as_hpc_bytes *b) {
    enum { CUSTOM, POINT, EXECUTION, TRANSITIVE, NO_INDEX = 255 };
    static const uint8_t types[AS_META_OUT_SCOPES] = {POINT, TRANSITIVE, CUSTOM, EXECUTION};
    for (size_t i = 0; i < meta->scopes.count; i++) {
        as_hpc_put_u64(b, texts + AS_AT(as_meta_out_scope, &meta->scopes, i).name);
        as_hpc_put_u8(b, i < AS_META_OUT_SCOPES ? types[i] : CUSTOM);
        as_hpc_put_u8(b, i == AS_META_OUT_FUNCTION ? 0 : NO_INDEX);
        b->at += 6;
    }
}

/* The scopes of a metric, and behind them their statistics. */
static void put_sides(const as_meta_out *meta, const as_hpc_group *group, uint64_t scopes, uint64_t texts,
                      as_hpc_bytes *b) {
    for (size_t k = 0; k < meta->scopes.count; k++) {
        uint32_t side = side_in(meta, group, k);
        if (side == ASSAY_NONE) continue;
        as_hpc_put_u64(b, scopes + k * SCOPE);
        as_hpc_put_u16(b, as_hpc_side_at(meta->plan, side)->id);
        b->at += 6;
    }
    for (size_t k = 0; k < meta->scopes.count; k++) {
        uint32_t side = side_in(meta, group, k);
        for (unsigned s = 0; s < AS_HPC_STATISTICS && side != ASSAY_NONE; s++) {
            if (!(group->statistics >> s & 1)) continue;
            as_hpc_put_u64(b, scopes + k * SCOPE);
            as_hpc_put_u64(b, texts + meta->formulas[s < 3 ? s : AS_HPC_SUM]);
            as_hpc_put_u8(b, as_meta_out_combine[s]);
            as_hpc_put_u8(b, 0);
            as_hpc_put_u16(b, (uint16_t)(as_hpc_side_at(meta->plan, side)->summary_id +
                                         as_hpc_statistic_index(group->statistics, s)));
            b->at += 4;
        }
    }
}

void as_meta_out_put_metrics(const as_meta_out *meta, unsigned char *to) {
    const as_hpc_plan *plan = meta->plan;
    uint64_t pointer = meta->pointers[AS_META_OUT_METRICS], scopes = pointer + METRICS_HEADER;
    uint64_t metrics = scopes + SCOPE * meta->scopes.count, at = metrics + METRIC * plan->groups.count;
    uint64_t texts = pointer + size_of_metrics(meta);
    as_hpc_bytes b = {.at = to};
    as_hpc_put_u64(&b, metrics);
    as_hpc_put_u32(&b, (uint32_t)plan->groups.count);
    as_hpc_put_u8(&b, METRIC);
    as_hpc_put_u8(&b, INSTANCE);
    as_hpc_put_u8(&b, SUMMARY);
    as_hpc_put_u8(&b, 0);
    as_hpc_put_u64(&b, scopes);
    as_hpc_put_u16(&b, (uint16_t)meta->scopes.count);
    as_hpc_put_u8(&b, SCOPE);
    b.at = to + METRICS_HEADER;
    put_scopes(meta, texts, &b);
    for (size_t i = 0; i < plan->groups.count; i++) {
        const as_hpc_group *group = as_hpc_group_at(plan, i);
        uint16_t n = 0;
        for (size_t k = 0; k < meta->scopes.count; k++) n = (uint16_t)(n + (side_in(meta, group, k) != ASSAY_NONE));
        uint16_t n_statistics = (uint16_t)(n * __builtin_popcount(group->statistics));
        as_hpc_put_u64(&b, texts + meta->groups[i]);
        as_hpc_put_u64(&b, at);
        as_hpc_put_u64(&b, at + (uint64_t)n * INSTANCE);
        as_hpc_put_u16(&b, n);
        as_hpc_put_u16(&b, n_statistics);
        b.at += 4;
        as_hpc_bytes sides = {.at = to + (at - pointer)};
        put_sides(meta, group, scopes, texts, &sides);
        at += (uint64_t)n * INSTANCE + (uint64_t)n_statistics * SUMMARY;
    }
    memcpy(to + (texts - pointer), meta->metric_strings.data, meta->metric_strings.count);
}
