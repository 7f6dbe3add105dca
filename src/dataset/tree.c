/* The tree of contexts while it grows, and its pre-order in the end. */
#include "dataset/build.h"

enum { CONSUMED_AT_ONCE = 1 << 16 };

void as_tree_init(as_tree *tree, as_dataset *ds) {
    *tree = (as_tree){.ds = ds};
    as_vec_init(&tree->nodes, sizeof(as_context), &ds->budget);
    as_map_init(&tree->by_region, &ds->budget);
    as_map_init(&tree->by_path, &ds->budget);
    as_map_init(&tree->regions, &ds->budget);
}

void as_tree_free(as_tree *tree) {
    as_vec_free(&tree->nodes);
    as_map_free(&tree->by_region);
    as_map_free(&tree->by_path);
    as_map_free(&tree->regions);
}

assay_id as_tree_add(as_tree *tree, const as_context *context) {
    if (tree->nodes.count >= ASSAY_NONE - 1) return ASSAY_NONE;
    if (!as_vec_append(&tree->nodes, context, 1)) return ASSAY_NONE;
    as_context *node = &AS_AT(as_context, &tree->nodes, tree->nodes.count - 1);
    node->depth = context->parent == ASSAY_NONE ? 0 : AS_AT(as_context, &tree->nodes, context->parent).depth + 1;
    if (node->name == AS_NO_STR && node->region != ASSAY_NONE) node->name = as_ds_region(tree->ds, node->region)->name;
    return (assay_id)(tree->nodes.count - 1);
}

assay_id as_tree_child(as_tree *tree, assay_id parent, assay_id region) {
    uint64_t key = as_pair(parent + 1, region); /* roots: 0 */
    uint32_t known = as_map_get(&tree->by_region, key);
    if (known != AS_MAP_NONE) return known;
    as_context context = AS_CONTEXT_INIT;
    context.parent = parent;
    context.region = region;
    assay_id id = as_tree_add(tree, &context);
    return id != ASSAY_NONE && as_map_put(&tree->by_region, key, id) ? id : ASSAY_NONE;
}

assay_id as_tree_region(as_tree *tree, as_str name) {
    if (name == AS_NO_STR) return ASSAY_NONE;
    uint32_t known = as_map_get(&tree->regions, name);
    if (known != AS_MAP_NONE) return known;
    as_region region = AS_REGION_INIT;
    region.name = name;
    assay_id id = as_add_region(tree->ds, &region);
    return id != ASSAY_NONE && as_map_put(&tree->regions, name, id) ? id : ASSAY_NONE;
}

/* Whether the names from the root to the context, joined with "->", are this text. */
static bool has_path(const as_tree *tree, assay_id id, const char *path, size_t size) {
    for (;;) {
        const as_context *node = &AS_AT(as_context, &tree->nodes, id);
        size_t n = as_str_size(&tree->ds->strings, node->name);
        if (n > size || memcmp(path + size - n, as_ds_text(tree->ds, node->name), n) != 0) return false;
        size -= n;
        if (node->parent == ASSAY_NONE) return size == 0;
        if (size < 2 || memcmp(path + size - 2, "->", 2) != 0) return false;
        size -= 2;
        id = node->parent;
    }
}

void as_tree_mark_callpath(as_tree *tree, assay_id id) {
    as_context *node = &AS_AT(as_context, &tree->nodes, id);
    if (node->is_callpath) return;
    node->is_callpath = true;
    node->callpath_order = tree->n_callpaths++;
}

assay_id as_tree_path(as_tree *tree, const char *path, size_t size) {
    uint64_t key = as_hash(path, size);
    for (uint32_t known; (known = as_map_get(&tree->by_path, key)) != AS_MAP_NONE;
         key = key * 0x9e3779b97f4a7c15u + 1) {
        if (has_path(tree, known, path, size)) return known;
    }
    assay_id id = ASSAY_NONE;
    for (const char *at = path, *end = path + size;;) {
        const char *arrow = memmem(at, (size_t)(end - at), "->", 2);
        const char *stop = arrow ? arrow : end;
        assay_id region = as_tree_region(tree, as_ds_intern(tree->ds, at, (size_t)(stop - at)));
        if (region == ASSAY_NONE) return ASSAY_NONE;
        id = as_tree_child(tree, id, region);
        if (id == ASSAY_NONE) return ASSAY_NONE;
        if (!arrow) break;
        at = arrow + 2;
    }
    as_tree_mark_callpath(tree, id);
    return as_map_put(&tree->by_path, key, id) ? id : ASSAY_NONE;
}

/* Whether each context stands where it will be: the parent of each is the one before it, or above that one. */
static bool is_in_order(const as_context *nodes, size_t n) {
    for (size_t i = 1; i < n; i++) {
        assay_id at = (assay_id)(i - 1);
        while (at != ASSAY_NONE && at != nodes[i].parent) at = nodes[at].parent;
        if (at != nodes[i].parent) return false;
    }
    return true;
}

/* Sources that give their contexts in order give them as they stay. */
static void move_all(as_tree *tree, assay_id *ids) {
    as_context *nodes = tree->nodes.data;
    for (size_t i = 0; i < tree->nodes.count; i++) {
        nodes[i].subtree = ids[i];
        ids[i] = (assay_id)i;
    }
    as_vec_free(&tree->ds->contexts);
    tree->ds->contexts = tree->nodes;
    as_vec_init(&tree->nodes, sizeof(as_context), &tree->ds->budget);
    as_vec_shrink(&tree->ds->contexts);
}

/* Each child's place follows from its parent's and its elder siblings': next has where the next child of each stands.
 * Those that have found their place are given back as it goes: millions need not be there twice. */
static void sort_into(as_tree *tree, as_context *sorted, assay_id *ids, assay_id *next) {
    const as_context *nodes = tree->nodes.data;
    assay_id next_root = 0;
    for (size_t i = 0, n = tree->nodes.count, gone = 0; i < n; i++) {
        assay_id parent = nodes[i].parent, size = ids[i];
        assay_id *place = parent == ASSAY_NONE ? &next_root : &next[parent];
        ids[i] = *place;
        next[i] = *place + 1;
        *place += size;
        as_context *context = &sorted[ids[i]];
        *context = nodes[i];
        context->parent = parent == ASSAY_NONE ? ASSAY_NONE : ids[parent];
        context->subtree = size;
        if (i - gone < CONSUMED_AT_ONCE) continue;
        as_vec_consumed(&tree->nodes, gone, i);
        gone = i;
    }
}

static bool sort_all(as_tree *tree, assay_id *ids) {
    as_vec next; /* assay_id */
    as_vec_init(&next, sizeof(assay_id), &tree->ds->budget);
    bool fine = as_vec_reserve(&tree->ds->contexts, tree->nodes.count) && as_vec_reserve(&next, tree->nodes.count);
    if (fine) {
        sort_into(tree, tree->ds->contexts.data, ids, next.data);
        tree->ds->contexts.count = tree->nodes.count;
        as_vec_free(&tree->nodes);
    }
    as_vec_free(&next);
    return fine;
}

bool as_tree_finish(as_tree *tree, const assay_id **new_ids) {
    size_t n = tree->nodes.count;
    const as_context *nodes = tree->nodes.data;
    as_map_free(&tree->by_region); /* the contexts may be there twice in a moment */
    as_map_free(&tree->by_path);
    assay_id *ids = as_arena_array(&tree->ds->arena, n, sizeof *ids);
    if (!ids) return false;
    /* Sizes of subtrees, children before parents; where they go they become ids. */
    for (size_t i = 0; i < n; i++) ids[i] = 1;
    for (size_t i = n; i-- > 0;) {
        if (nodes[i].parent != ASSAY_NONE) ids[nodes[i].parent] += ids[i];
    }
    *new_ids = ids;
    if (!is_in_order(nodes, n)) return sort_all(tree, ids);
    move_all(tree, ids);
    return true;
}
