/* One set of tables for all files of a set: metrics by name, contexts by path, locations by process and thread. */
#include <stdlib.h>

#include "formats/cube/set.h"

static as_set_file *file_at(const as_set *set, size_t i) { return &AS_AT(as_set_file, &set->files, i); }

/* ---- regions and contexts ---------------------------------------------------------------------------------------- */

/* The region of this name, as the first file has it. */
static assay_id unite_region(as_union *u, size_t k, const as_region *from, as_map *by_name) {
    const as_dataset *part = u->parts[k];
    bool fine = true;
    as_region region = *from;
    region.source_id = AS_NO_STR;
    region.name = as_ds_carry(u->ds, part, from->name, &fine);
    uint32_t known = fine ? as_map_get(by_name, region.name) : AS_MAP_NONE, origin = (uint32_t)k;
    if (known != AS_MAP_NONE) return known;
    region.mangled = as_ds_carry(u->ds, part, from->mangled, &fine);
    region.kind = as_ds_carry(u->ds, part, from->kind, &fine);
    region.file = as_ds_carry(u->ds, part, from->file, &fine);
    region.module = as_ds_carry(u->ds, part, from->module, &fine);
    assay_id id = fine && as_vec_append(&u->region_origins, &origin, 1) ? as_add_region(u->ds, &region) : ASSAY_NONE;
    return id != ASSAY_NONE && as_map_put(by_name, region.name, id) ? id : ASSAY_NONE;
}

/* *owners: for each region of the part that of the set, where it is the first of its name; *regions: in any case. */
static bool unite_regions(as_union *u, size_t k, as_map *by_name, assay_id *regions) {
    size_t n = u->parts[k]->regions.count;
    assay_id *owners = u->maps[k].regions = malloc((n + 1) * sizeof *owners);
    for (assay_id i = 0; i < n && owners; i++) {
        size_t before = u->ds->regions.count;
        regions[i] = unite_region(u, k, as_ds_region(u->parts[k], i), by_name);
        if (regions[i] == ASSAY_NONE) return false;
        owners[i] = u->ds->regions.count > before ? regions[i] : ASSAY_NONE;
    }
    return owners != NULL;
}

/* contexts: for each context of the part the tree's. Those that are new with this one keep its call site and its
 * attributes. */
static bool unite_contexts(as_union *u, size_t k, as_tree *tree, const assay_id *regions, assay_id *contexts) {
    const as_dataset *part = u->parts[k];
    size_t n = part->contexts.count;
    uint32_t origin = (uint32_t)k;
    assay_id *owners = u->maps[k].contexts = malloc((n + 1) * sizeof *owners);
    for (assay_id i = 0; i < n && owners; i++) {
        const as_context *context = as_ds_context(part, i);
        size_t before = tree->nodes.count;
        assay_id parent = context->parent == ASSAY_NONE ? ASSAY_NONE : contexts[context->parent];
        contexts[i] = as_tree_child(tree, parent, regions[context->region]);
        if (contexts[i] == ASSAY_NONE) return false;
        bool is_new = tree->nodes.count > before;
        owners[i] = is_new ? contexts[i] : ASSAY_NONE;
        if (!is_new) continue;
        AS_AT(as_context, &tree->nodes, contexts[i]).line = context->line;
        if (!as_vec_append(&u->context_origins, &origin, 1)) return false;
    }
    return owners != NULL;
}

/* Ids of the growing tree become those of the dataset. */
static bool renumber(as_set *set, as_union *u, const assay_id *new_ids) {
    size_t n = u->context_origins.count;
    uint32_t *origins = malloc((n + 1) * sizeof *origins);
    if (!origins) return false;
    for (size_t i = 0; i < n; i++) origins[new_ids[i]] = AS_AT(uint32_t, &u->context_origins, i);
    if (n) memcpy(u->context_origins.data, origins, n * sizeof *origins);
    free(origins);
    for (size_t k = 0; k < u->n; k++) {
        as_set_file *file = file_at(set, k);
        assay_id *contexts = (assay_id *)(uintptr_t)file->contexts; /* made in unite_trees() */
        file->is_same_tree = u->parts[k]->contexts.count == n;
        for (size_t i = 0; i < u->parts[k]->contexts.count; i++) {
            if (u->maps[k].contexts[i] != ASSAY_NONE) u->maps[k].contexts[i] = new_ids[contexts[i]];
            contexts[i] = new_ids[contexts[i]];
            file->is_same_tree &= contexts[i] == i;
        }
    }
    return true;
}

static bool unite_tree(as_set *set, as_union *u, size_t k, as_tree *tree, as_map *by_name) {
    assay_id *regions = malloc((u->parts[k]->regions.count + 1) * sizeof *regions);
    assay_id *contexts = as_arena_array(&u->ds->arena, u->parts[k]->contexts.count, sizeof *contexts);
    bool fine =
        regions && contexts && unite_regions(u, k, by_name, regions) && unite_contexts(u, k, tree, regions, contexts);
    file_at(set, k)->contexts = contexts;
    free(regions);
    return fine;
}

static bool unite_trees(as_set *set, as_union *u) {
    as_map by_name;
    as_tree tree;
    const assay_id *new_ids;
    as_map_init(&by_name, &u->ds->budget);
    as_tree_init(&tree, u->ds);
    bool fine = true;
    for (size_t k = 0; k < u->n && fine; k++) fine = unite_tree(set, u, k, &tree, &by_name);
    fine = fine && as_tree_finish(&tree, &new_ids) && renumber(set, u, new_ids);
    as_tree_free(&tree);
    as_map_free(&by_name);
    return fine;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static bool find_columns(as_union *u, size_t k, as_set_file *file) {
    const as_dataset *part = u->parts[k];
    assay_id *columns = as_arena_array(&u->ds->arena, as_ds_leaves(part), sizeof *columns);
    size_t n = 0;
    if (!columns) return false;
    file->columns_ascend = true;
    for (assay_id i = 0; i < part->locations.count; i++) { /* the leaves are in the order of the columns */
        if (!as_ds_location(part, i)->leaf) continue;
        columns[n] = u->maps[k].locations[i];
        file->columns_ascend &= !n || columns[n - 1] < columns[n];
        n++;
    }
    file->columns = columns;
    return true;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* Whether a key is that of an <attr> of the document. */
static bool is_attr(const char *key) {
    return key[0] != '@' && strcmp(key, AS_CUBE_XML) != 0 && strcmp(key, AS_CUBE_MIRROR) != 0 &&
           strcmp(key, AS_CUBE_TOPOLOGIES) != 0 && strncmp(key, AS_CUBE_FILE, strlen(AS_CUBE_FILE)) != 0;
}

/* Whether one of the first n attributes, which are the set's, says the same. */
static bool is_shared(const as_dataset *ds, size_t n, const char *key, as_cell value) {
    for (size_t i = 0; i < n; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->value.size == value.size && memcmp(attribute->value.text, value.text, value.size) == 0 &&
            strcmp(as_ds_text(ds, attribute->key), key) == 0)
            return true;
    }
    return false;
}

/* What not all files say of themselves belongs to their runs. */
static bool add_attributes_of_runs(as_union *u) {
    size_t n_shared = 0; /* as_unite_attributes() begins with them */
    while (n_shared < u->ds->attributes.count && as_ds_attribute(u->ds, n_shared)->owner == AS_OWNER_DATASET)
        n_shared++;
    for (size_t k = 0; k < u->n; k++) {
        const as_dataset *part = u->parts[k];
        for (size_t i = 0; i < part->attributes.count; i++) {
            const as_attribute *attribute = as_ds_attribute(part, i);
            const char *key = as_ds_text(part, attribute->key);
            if (attribute->owner != AS_OWNER_DATASET || !is_attr(key) ||
                is_shared(u->ds, n_shared, key, attribute->value))
                continue;
            if (!as_add_attribute(u->ds, AS_OWNER_RUN, (assay_id)k, key, attribute->value)) return false;
        }
    }
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* From here on the parts belong to the dataset: its values come from them. Their memory counts as its own already. */
static bool hold_parts(as_set *set) {
    bool fine = true;
    for (size_t i = 0; i < set->files.count && fine; i++) {
        as_set_file *file = file_at(set, i);
        as_dataset *part = file->part;
        set->ds->input_size += part->input_size;
        file->part = NULL;
        fine = as_ds_hold(set->ds, part, (void (*)(void *))as_dataset_free);
        file->source = fine ? part : NULL;
    }
    return fine;
}

static assay_status unite(as_set *set, as_union *u) {
    bool fine = as_unite_metrics(u) && as_unite_locations(u) && unite_trees(set, u) && as_unite_attributes(u) &&
                add_attributes_of_runs(u) && as_unite_formulas(u) && hold_parts(set);
    if (!fine) return as_reader_memory(set->reader);
    for (size_t k = 0; k < u->n; k++) {
        as_set_file *file = file_at(set, k);
        if (!find_columns(u, k, file)) return as_reader_memory(set->reader);
        AS_TRY(as_set_add_profiles(set, file, (assay_id)k, u->maps[k].metrics));
    }
    return ASSAY_OK;
}

assay_status as_set_unite(as_set *set) {
    size_t n = set->files.count;
    const as_dataset **parts = malloc((n + 1) * sizeof *parts);
    if (!parts) return as_reader_memory(set->reader);
    for (size_t i = 0; i < n; i++) parts[i] = file_at(set, i)->part;
    as_union u;
    assay_status status = as_union_init(&u, set->ds, parts, n) ? unite(set, &u) : as_reader_memory(set->reader);
    as_union_free(&u);
    free(parts);
    return status;
}
