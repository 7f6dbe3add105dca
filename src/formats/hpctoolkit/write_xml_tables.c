/* The tables of experiment.xml: procedures, load modules, files. */
#include <stdlib.h>

#include "formats/hpctoolkit/write_xml.h"
#include "io/xml_write.h"

enum { UNKNOWN_MODULE, NO_MODULE, FIRST_MODULE };

bool as_hpc_is_frame(const as_hpc_plan *plan, assay_id context) {
    uint8_t kind = plan->kinds_of_contexts[context];
    return kind == AS_HPC_FUNCTION || kind == AS_HPC_ENTRY ||
           (kind == AS_HPC_INSTRUCTION && as_hpc_relation(plan, context) != AS_HPC_NESTED);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- files and modules ------------------------------------------------------------------------------------------- */

static bool add_entry(as_vec *table, as_map *known, uint64_t key, as_hpc_entry entry) {
    return as_map_put(known, key, (uint32_t)table->count) && as_vec_append(table, &entry, 1);
}

/* Real files are numbered from 0, unknown ones down from the largest. */
static bool find_file(as_hpc_tables *t, assay_id region) {
    const as_dataset *ds = t->plan->ds;
    const as_region *r = as_ds_region(ds, region);
    const char *name = as_ds_text(ds, r->file), *module = as_ds_text(ds, r->module);
    bool is_of_module = !name && !as_hpc_is_unknown(module);
    uint64_t key = is_of_module ? as_pair(1, r->module) : r->file;
    t->file_of[region] = AS_HPC_UNKNOWN_FILE;
    if ((!name && !is_of_module) || (name && strcmp(name, AS_HPC_UNKNOWN_FILE_NAME) == 0)) return true;
    uint32_t at = as_map_get(&t->known_files, key);
    if (at == AS_MAP_NONE) {
        bool is_unknown =
            is_of_module || strncmp(name, AS_HPC_UNKNOWN_FILE_NAME, strlen(AS_HPC_UNKNOWN_FILE_NAME)) == 0;
        as_hpc_entry entry = {.id = is_unknown ? t->next_unknown-- : t->next_file++,
                              .name = is_of_module ? NULL : name,
                              .of = is_of_module ? base_name(module) : NULL};
        at = (uint32_t)t->files.count;
        if (!add_entry(&t->files, &t->known_files, key, entry)) return false;
    }
    t->file_of[region] = AS_AT(as_hpc_entry, &t->files, at).id;
    return true;
}

static bool find_module(as_hpc_tables *t, assay_id region) {
    const as_dataset *ds = t->plan->ds;
    const as_region *r = as_ds_region(ds, region);
    const char *name = as_ds_text(ds, r->module), *kind = as_ds_text(ds, r->kind);
    bool is_placeholder = t->plan->kept.class_of[region] > 0 || (kind && strcmp(kind, "entry") == 0);
    t->module_of[region] = is_placeholder ? NO_MODULE : UNKNOWN_MODULE;
    if (!name) return true;
    if (strcmp(name, "<unknown module>") == 0 || strcmp(name, "<no module>") == 0) {
        t->module_of[region] = name[1] == 'n' ? NO_MODULE : UNKNOWN_MODULE;
        return true;
    }
    uint32_t at = as_map_get(&t->known_modules, r->module);
    if (at == AS_MAP_NONE) {
        at = (uint32_t)t->modules.count;
        if (!add_entry(&t->modules, &t->known_modules, r->module, (as_hpc_entry){.id = t->next_module++, .name = name}))
            return false;
    }
    t->module_of[region] = AS_AT(as_hpc_entry, &t->modules, at).id;
    return true;
}

/* ---- procedures -------------------------------------------------------------------------------------------------- */

/* The static id where no other procedure has it, else a new number. */
static uint32_t procedure_id(as_hpc_tables *t, assay_id region) {
    uint32_t id = region == ASSAY_NONE ? 0 : t->static_ids[region];
    if (id && as_map_get(&t->procedure_ids, id) == AS_MAP_NONE) return id;
    return t->next_procedure++;
}

/* "<unknown procedure> 0xd711 [lib.so]": an instruction of no function that is known. */
static const char *instruction_name(as_hpc_tables *t, assay_id region) {
    as_hpc_plan *plan = t->plan;
    const char *module = region == ASSAY_NONE ? NULL : as_ds_text(plan->ds, as_ds_region(plan->ds, region)->module);
    as_output *text = as_output_to_memory();
    size_t size = 0;
    if (!text) return NULL;
    as_output_printf(text, "<unknown procedure> 0x%llx [%s]",
                     region == ASSAY_NONE ? 0ull : (unsigned long long)plan->kept.offset[region],
                     module ? base_name(module) : "?");
    const char *bytes = as_output_memory(text, &size);
    const char *name = bytes ? as_arena_copy(&plan->arena, bytes, size) : NULL;
    as_output_discard(text);
    return name;
}

static bool find_procedure(as_hpc_tables *t, assay_id context) {
    const as_hpc_plan *plan = t->plan;
    const as_context *c = as_ds_context(plan->ds, context);
    as_str name = c->name != AS_NO_STR || c->region == ASSAY_NONE ? c->name : as_ds_region(plan->ds, c->region)->name;
    uint64_t key = as_pair(c->region, name);
    uint32_t at = as_map_get(&t->known_procedures, key);
    t->procedure_of[context] = at;
    if (at != AS_MAP_NONE) return true;
    uint8_t kind = plan->kinds_of_contexts[context];
    as_hpc_entry entry = {.id = procedure_id(t, c->region),
                          .name = kind == AS_HPC_INSTRUCTION ? instruction_name(t, c->region)
                                                             : as_hpc_context_name(plan, context),
                          .offset = c->region == ASSAY_NONE ? 0 : plan->kept.offset[c->region],
                          .class_of = c->region == ASSAY_NONE ? -1 : plan->kept.class_of[c->region]};
    if (kind != AS_HPC_FUNCTION && entry.class_of < 0) entry.class_of = 1;
    t->procedure_of[context] = (uint32_t)t->procedures.count;
    return entry.name && as_map_put(&t->procedure_ids, entry.id, 0) &&
           add_entry(&t->procedures, &t->known_procedures, key, entry);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* The source's static ids; regions without one have numbers behind them. 0 and 1 have a meaning. */
static void number_regions(as_hpc_tables *t) {
    const as_hpc_plan *plan = t->plan;
    uint32_t next = plan->kept.max_static_id < 2 ? 2 : plan->kept.max_static_id + 1;
    for (assay_id i = 0; i < plan->ds->regions.count; i++)
        t->static_ids[i] = plan->kept.static_id[i] ? plan->kept.static_id[i] : next++;
    t->next_procedure = next;
}

bool as_hpc_tables_make(as_hpc_tables *t, as_hpc_plan *plan) {
    as_budget *budget = as_ds_budget(plan->ds);
    as_arena *arena = &plan->arena;
    size_t n = plan->ds->regions.count;
    *t = (as_hpc_tables){.plan = plan, .next_unknown = AS_HPC_UNKNOWN_FILE - 1, .next_module = FIRST_MODULE};
    as_vec_init(&t->procedures, sizeof(as_hpc_entry), budget);
    as_vec_init(&t->modules, sizeof(as_hpc_entry), budget);
    as_vec_init(&t->files, sizeof(as_hpc_entry), budget);
    as_map_init(&t->known_procedures, budget);
    as_map_init(&t->known_modules, budget);
    as_map_init(&t->known_files, budget);
    as_map_init(&t->procedure_ids, budget);
    t->static_ids = as_arena_array(arena, n, sizeof *t->static_ids);
    t->file_of = as_arena_array(arena, n, sizeof *t->file_of);
    t->module_of = as_arena_array(arena, n, sizeof *t->module_of);
    t->procedure_of = as_arena_array(arena, plan->n_contexts, sizeof *t->procedure_of);
    bool fine = t->static_ids && t->file_of && t->module_of && t->procedure_of;
    if (fine) number_regions(t);
    for (assay_id i = 0; i < n && fine; i++) fine = find_file(t, i) && find_module(t, i);
    for (assay_id i = 0; i < plan->n_contexts && fine; i++) {
        if (as_hpc_is_frame(plan, i)) fine = find_procedure(t, i);
    }
    return fine;
}

void as_hpc_tables_free(as_hpc_tables *t) {
    as_vec_free(&t->procedures);
    as_vec_free(&t->modules);
    as_vec_free(&t->files);
    as_map_free(&t->known_procedures);
    as_map_free(&t->known_modules);
    as_map_free(&t->known_files);
    as_map_free(&t->procedure_ids);
}

void as_hpc_put_offset(as_output *out, uint64_t offset) {
    if (offset)
        as_output_printf(out, " v=\"0x%llx\"", (unsigned long long)offset);
    else
        as_output_text(out, " v=\"0\"");
}

static void put_named(as_output *out, const char *tag, uint32_t id, const char *name) {
    as_output_printf(out, "<%s i=\"%u\"", tag, id);
    as_xml_put_attribute(out, "n", name);
}

static void write_files(const as_hpc_tables *t, as_output *out) {
    as_output_text(out, "<FileTable>\n");
    put_named(out, "File", AS_HPC_UNKNOWN_FILE, AS_HPC_UNKNOWN_FILE_NAME);
    as_output_text(out, "/>\n");
    for (size_t i = 0; i < t->files.count; i++) {
        const as_hpc_entry *file = &AS_AT(as_hpc_entry, &t->files, i);
        if (file->name) {
            put_named(out, "File", file->id, file->name);
        } else {
            as_output_printf(out, "<File i=\"%u\" n=\"&lt;unknown file&gt; [", file->id);
            as_xml_put_value(out, file->of, strlen(file->of));
            as_output_text(out, "]\"");
        }
        as_output_text(out, "/>\n");
    }
    as_output_text(out, "</FileTable>\n");
}

void as_hpc_tables_write(const as_hpc_tables *t, as_output *out) {
    as_output_text(out, "<LoadModuleTable>\n<LoadModule i=\"0\" n=\"&lt;unknown module&gt;\"/>\n"
                        "<LoadModule i=\"1\" n=\"&lt;no module&gt;\"/>\n");
    for (size_t i = 0; i < t->modules.count; i++) {
        put_named(out, "LoadModule", AS_AT(as_hpc_entry, &t->modules, i).id, AS_AT(as_hpc_entry, &t->modules, i).name);
        as_output_text(out, "/>\n");
    }
    as_output_text(out, "</LoadModuleTable>\n");
    write_files(t, out);
    as_output_text(out, "<ProcedureTable>\n");
    for (size_t i = 0; i < t->procedures.count; i++) {
        const as_hpc_entry *procedure = &AS_AT(as_hpc_entry, &t->procedures, i);
        put_named(out, "Procedure", procedure->id, procedure->name);
        as_hpc_put_offset(out, procedure->offset);
        if (procedure->class_of > 0) as_output_printf(out, " f=\"%d\"", procedure->class_of);
        as_output_text(out, "/>\n");
    }
    as_output_text(out, "</ProcedureTable>\n");
}
