/* meta.db: what contexts are of. Functions are known by their number, all else by what it says. */
#include "core/number.h"
#include "formats/hpctoolkit/meta.h"

static const char *const KINDS[] = {"function", "loop", "line", "instruction"};
enum { FUNCTION, LOOP, LINE, INSTRUCTION, N_KINDS };

typedef struct known_region {
    as_meta_scope scope;
    assay_id region;
} known_region;

static assay_status memory_is_out(const as_meta *meta) { return as_fail_memory(meta->reader->error, meta->path); }

bool as_meta_regions_init(as_meta_regions *regions, as_meta *meta) {
    *regions = (as_meta_regions){.unknown_function = ASSAY_NONE};
    as_map_init(&regions->known, &meta->ds->budget);
    as_vec_init(&regions->scopes, sizeof(known_region), &meta->ds->budget);
    as_vec_init(&regions->name, 1, &meta->ds->budget);
    bool fine = true;
    for (unsigned i = 0; i < N_KINDS; i++) {
        regions->kinds[i] = as_ds_intern_text(meta->ds, KINDS[i]);
        fine &= regions->kinds[i] != AS_NO_STR;
    }
    return fine;
}

void as_meta_regions_free(as_meta_regions *regions) {
    as_map_free(&regions->known);
    as_vec_free(&regions->scopes);
    as_vec_free(&regions->name);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool add_number(as_vec *name, uint64_t number) {
    char digits[AS_NUMBER_SIZE];
    return as_vec_append(name, digits, as_uint_format(number, digits));
}

static bool add_hexadecimal(as_vec *name, uint64_t number) {
    char digits[2 + 16], *at = digits + sizeof digits;
    do *--at = "0123456789abcdef"[number & 15];
    while (number >>= 4);
    *--at = 'x';
    *--at = '0';
    return as_vec_append(name, at, (size_t)(digits + sizeof digits - at));
}

/* "MODULE+0xOFFSET", the module without its directory. */
static bool add_point(const as_meta *meta, as_vec *name, as_str module, uint64_t offset) {
    const char *path = module == AS_NO_STR ? "" : as_ds_text(meta->ds, module), *slash = strrchr(path, '/');
    return as_vec_text(name, !*path  ? "?"
                             : slash ? slash + 1
                                     : path) &&
           as_vec_append(name, "+", 1) && add_hexadecimal(name, offset);
}

static bool add_line(const as_meta *meta, as_vec *name, as_str file, uint32_t line) {
    return (file == AS_NO_STR ||
            as_vec_append(name, as_ds_text(meta->ds, file), as_str_size(&meta->ds->strings, file))) &&
           as_vec_append(name, ":", 1) && add_number(name, line);
}

/* AS_NO_STR when memory is out, or what names may have of it. */
static as_str intern_name(as_meta *meta, const as_vec *name) {
    return as_hpc_name_room_take(&meta->name_room, name->count) ? as_ds_intern(meta->ds, name->data, name->count)
                                                                : AS_NO_STR;
}

/* Of anything but a function. */
static as_str scope_name(as_meta *meta, as_vec *name, const as_meta_scope *scope, const as_region *region) {
    bool has_line = scope->flags & AS_META_LINE, has_point = scope->flags & AS_META_POINT, fine;
    name->count = 0;
    switch (scope->type) {
    case LOOP: fine = as_vec_text(name, "loop at "); break;
    case LINE: fine = as_vec_text(name, "line "); break;
    case INSTRUCTION: fine = as_vec_text(name, "insn "); break;
    default: fine = as_vec_text(name, "lex") && add_number(name, scope->type); has_line = has_point = false;
    }
    if (has_line && scope->type != INSTRUCTION)
        fine = fine && add_line(meta, name, region->file, scope->line);
    else if (has_point && scope->type != LINE)
        fine = fine && add_point(meta, name, region->module, scope->offset);
    else if (scope->type < N_KINDS)
        fine = fine && as_vec_text(name, "?");
    return fine ? intern_name(meta, name) : AS_NO_STR;
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

static assay_status add_region(const as_meta *meta, const as_region *region, uint64_t offset, assay_id *out) {
    *out = region->name != AS_NO_STR && region->kind != AS_NO_STR ? as_add_region(meta->ds, region) : ASSAY_NONE;
    if (*out == ASSAY_NONE) return as_hpc_fail_name(&meta->name_room, meta->path, meta->reader->error);
    if (!offset || as_add_attribute(meta->ds, AS_OWNER_REGION, *out, "offset", as_cell_uint(offset))) return ASSAY_OK;
    return memory_is_out(meta);
}

static assay_status function_region(as_meta *meta, as_meta_regions *regions, uint32_t function, assay_id *out) {
    *out = meta->function_regions[function];
    if (*out != ASSAY_NONE) return ASSAY_OK;
    uint64_t at = meta->functions.at + (uint64_t)function * meta->functions.size;
    uint64_t module = as_meta_u64(meta, at + 0x08), offset = as_meta_u64(meta, at + 0x10),
             file = as_meta_u64(meta, at + 0x18);
    uint32_t line = as_meta_u32(meta, at + 0x20), index;
    as_region region = AS_REGION_INIT;
    region.kind = regions->kinds[FUNCTION];
    if (module) {
        AS_TRY(as_meta_index(meta, at + 0x08, module, &meta->modules, "module", &index));
        AS_TRY(as_meta_module_name(meta, index, &region.module));
    }
    if (file) {
        AS_TRY(as_meta_index(meta, at + 0x18, file, &meta->files, "file", &index));
        region.file = meta->file_names[index];
    }
    if (line) region.line_begin = line;
    AS_TRY(as_meta_text(meta, at, &region.name));
    if (region.name == AS_NO_STR || !as_str_size(&meta->ds->strings, region.name)) {
        as_vec *name = &regions->name;
        name->count = 0;
        bool fine = as_vec_text(name, "<anonymous ") && add_point(meta, name, region.module, offset) &&
                    as_vec_append(name, ">", 1);
        region.name = fine ? intern_name(meta, name) : AS_NO_STR;
    }
    AS_TRY(add_region(meta, &region, offset, out));
    meta->function_regions[function] = *out;
    return ASSAY_OK;
}

static assay_status unknown_function(const as_meta *meta, as_meta_regions *regions, assay_id *out) {
    if (regions->unknown_function == ASSAY_NONE) {
        as_region region = AS_REGION_INIT;
        region.kind = regions->kinds[FUNCTION];
        region.name = as_ds_intern_text(meta->ds, "<unknown function>");
        AS_TRY(add_region(meta, &region, 0, &regions->unknown_function));
    }
    *out = regions->unknown_function;
    return ASSAY_OK;
}

static assay_status new_region(as_meta *meta, as_meta_regions *regions, const as_meta_scope *scope, assay_id *out) {
    as_region region = AS_REGION_INIT;
    if (scope->flags & AS_META_LINE) {
        region.file = meta->file_names[scope->file];
        region.line_begin = scope->line;
    }
    if (scope->flags & AS_META_POINT) AS_TRY(as_meta_module_name(meta, scope->module, &region.module));
    region.name = scope_name(meta, &regions->name, scope, &region);
    region.kind = scope->type < N_KINDS ? regions->kinds[scope->type] : region.name;
    return add_region(meta, &region, scope->offset, out);
}

/* Scopes are all zeros but for what they have. */
static bool is_same(const as_meta_scope *a, const as_meta_scope *b) {
    return a->type == b->type && a->flags == b->flags && a->file == b->file && a->line == b->line &&
           a->module == b->module && a->offset == b->offset;
}

assay_status as_meta_region(as_meta *meta, as_meta_regions *regions, const as_meta_scope *scope, assay_id *out) {
    if (scope->type == FUNCTION)
        return scope->flags & AS_META_FUNCTION ? function_region(meta, regions, scope->function, out)
                                               : unknown_function(meta, regions, out);
    const uint64_t words[] = {as_pair(scope->file, scope->line), as_pair(scope->module, scope->type), scope->offset};
    uint64_t key = as_hash(words, sizeof words);
    uint32_t index;
    for (; (index = as_map_get(&regions->known, key)) != AS_MAP_NONE; key = key * 0x9e3779b97f4a7c15u + 1) {
        const known_region *known = &AS_AT(known_region, &regions->scopes, index);
        if (!is_same(&known->scope, scope)) continue;
        *out = known->region;
        return ASSAY_OK;
    }
    known_region added = {.scope = *scope};
    AS_TRY(new_region(meta, regions, scope, &added.region));
    *out = added.region;
    bool fine =
        as_map_put(&regions->known, key, (uint32_t)regions->scopes.count) && as_vec_append(&regions->scopes, &added, 1);
    return fine ? ASSAY_OK : memory_is_out(meta);
}
