#include "analysis/verdict/paths.h"

#include <stdio.h>
#include <stdlib.h>

#include "dataset/pieces.h"

bool as_paths_init(as_paths *paths, as_budget *budget) {
    as_arena_init(&paths->arena, budget);
    as_strings_init(&paths->names, &paths->arena);
    as_map_init(&paths->children, budget);
    as_vec_init(&paths->nodes, sizeof(as_path_node), budget);
    return as_vec_push(&paths->nodes) != NULL;
}

void as_paths_free(as_paths *paths) {
    as_vec_free(&paths->nodes);
    as_map_free(&paths->children);
    as_strings_free(&paths->names);
    as_arena_free(&paths->arena);
}

static uint32_t child_of(as_paths *paths, uint32_t parent, as_str name, bool is_section, bool is_aside) {
    uint64_t way = as_pair(is_section ? AS_NO_PATH : parent, name);
    uint32_t node = as_map_get(&paths->children, way);
    if (node != AS_MAP_NONE) return node;
    node = (uint32_t)paths->nodes.count;
    as_path_node *new = as_vec_push(&paths->nodes);
    if (!new || !as_map_put(&paths->children, way, node)) return AS_NO_PATH;
    bool is_apart = is_section || is_aside || as_paths_node(paths, parent)->is_apart;
    *new = (as_path_node){.parent = parent, .name = name, .file = AS_NO_STR, .line = -1, .is_apart = is_apart};
    return node;
}

/* A text of a dataset among those of all; known: of this dataset's strings those that were looked up already. */
static as_str name_of(as_paths *paths, const as_dataset *ds, as_str text, as_str *known) {
    if (text == AS_NO_STR) return as_intern(&paths->names, "(unknown)", 9);
    if (known[text] == AS_NO_STR)
        known[text] = as_intern(&paths->names, as_ds_text(ds, text), as_str_size(&ds->strings, text));
    return known[text];
}

static bool set_source(as_paths *paths, const as_dataset *ds, const as_context *context, uint32_t node, as_str *known) {
    const as_region *region = context->region == ASSAY_NONE ? NULL : as_ds_region(ds, context->region);
    if (!region || region->file == AS_NO_STR || !*as_ds_text(ds, region->file)) return true;
    as_path_node *to = &AS_AT(as_path_node, &paths->nodes, node);
    to->file = name_of(paths, ds, region->file, known);
    to->line = region->line_begin;
    return to->file != AS_NO_STR;
}

/* "process 0", "thread 1": what a place is called in all executions. n_before: how many places among its siblings come
 * before it. */
static as_str place_name(as_paths *paths, const as_dataset *ds, const as_region *region, uint32_t n_before) {
    char name[32];
    int size = snprintf(name, sizeof name, "%s %u", as_ds_text(ds, region->kind), n_before);
    return as_intern(&paths->names, name, (size_t)size);
}

/* What is needed of a dataset while its contexts are added. */
typedef struct adding {
    uint32_t *within; /* for each context the node that those below it hang on */
    uint32_t
        *n_places; /* for each context how many of its children were processes or threads so far; the last: of roots */
    as_str *known; /* of each text of the dataset */
} adding;

static as_str context_name(as_paths *paths, const as_dataset *ds, assay_id id, adding *a) {
    const as_context *context = as_ds_context(ds, id);
    size_t parent = context->parent == ASSAY_NONE ? AS_COUNT(ds, contexts) : context->parent;
    if (as_region_is_place(ds, context->region))
        return place_name(paths, ds, as_ds_region(ds, context->region), a->n_places[parent]++);
    return name_of(paths, ds, context->name, a->known);
}

static bool add_contexts(as_paths *paths, const as_dataset *ds, uint32_t *nodes, adding *a) {
    uint32_t *within = a->within;
    bool leaves_aside = as_ds_has_wholes(ds);
    for (assay_id id = 0; id < AS_COUNT(ds, contexts); id++) {
        const as_context *context = as_ds_context(ds, id);
        bool is_root = context->parent == ASSAY_NONE;
        uint32_t parent = is_root ? 0 : within[context->parent];
        if (leaves_aside && context->is_aside) parent = AS_NO_PATH;
        nodes[id] = AS_NO_PATH;
        within[id] = parent;
        if (parent == AS_NO_PATH) continue;
        if (context->role == AS_ROLE_PLACELESS || as_context_is_root(ds, id) || (parent && as_is_piece(ds, id)))
            continue;
        as_str name = context_name(paths, ds, id, a);
        if (name == AS_NO_STR) return false;
        within[id] = nodes[id] = child_of(paths, parent, name, as_context_is_section(ds, id), context->is_aside);
        if (nodes[id] == AS_NO_PATH) return false;
        if (!set_source(paths, ds, context, nodes[id], a->known)) return false;
    }
    return true;
}

bool as_paths_add(as_paths *paths, const as_dataset *ds, uint32_t *nodes) {
    size_t n = AS_COUNT(ds, contexts), n_strings = ds->strings.entries.count;
    adding a = {.within = malloc((n + 1) * sizeof(uint32_t)),
                .n_places = calloc(n + 1, sizeof(uint32_t)),
                .known = malloc((n_strings + 1) * sizeof(as_str))};
    bool fine = a.within && a.n_places && a.known;
    if (fine) {
        memset(a.known, 0xff, n_strings * sizeof(as_str));
        as_map_expect(&paths->children, paths->children.count + n);
        fine = add_contexts(paths, ds, nodes, &a);
    }
    free(a.within);
    free(a.n_places);
    free(a.known);
    return fine;
}

const char *as_paths_text(as_paths *paths, uint32_t node, as_arena *arena) {
    enum { LONGEST = 4096, DOTS = 5 };
    as_path_node *last = &AS_AT(as_path_node, &paths->nodes, node);
    if (last->text) return last->text;
    char text[LONGEST + DOTS];
    size_t at = sizeof text;
    for (uint32_t i = node; i; i = as_paths_node(paths, i)->parent) {
        as_str name = as_paths_node(paths, i)->name;
        size_t size = as_str_size(&paths->names, name), arrow = i == node ? 0 : 2;
        if (size + arrow > at - DOTS) {
            at -= DOTS;
            memcpy(text + at, "\xe2\x80\xa6->", DOTS);
            break;
        }
        at -= arrow;
        memcpy(text + at, "->", arrow);
        at -= size;
        memcpy(text + at, as_str_text(&paths->names, name), size);
    }
    return last->text = as_arena_copy(arena, text + at, sizeof text - at);
}
