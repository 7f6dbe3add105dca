#include "formats/stack_tree.h"

/* Stacks branch seldom: most nodes have one child, which stands in the node itself, so that a stack that is new from some frame on needs no look into the map. */
typedef struct stack_node {
    assay_id parent, region; /* region: or what it has as a key */
    assay_id first;          /* child; 0: none, as the first of all is a root */
    uint32_t order;          /* of call paths: which one it is, from 1; else 0 */
} stack_node;

void as_stack_tree_init(as_stack_tree *tree, as_dataset *ds) {
    *tree = (as_stack_tree){.ds = ds};
    as_vec_init(&tree->nodes, sizeof(stack_node), &ds->budget);
    as_map_init(&tree->others, &ds->budget);
}

void as_stack_tree_free(as_stack_tree *tree) {
    as_vec_free(&tree->nodes);
    as_map_free(&tree->others);
}

static assay_id add(as_stack_tree *tree, assay_id parent, assay_id region) {
    as_vec *nodes = &tree->nodes;
    if (nodes->count >= ASSAY_NONE - 1 || (nodes->count == nodes->capacity && !as_vec_reserve(nodes, 1)))
        return ASSAY_NONE;
    AS_AT(stack_node, nodes, nodes->count) = (stack_node){.parent = parent, .region = region};
    return (assay_id)nodes->count++;
}

assay_id as_stack_tree_child(as_stack_tree *tree, assay_id parent, assay_id region) {
    if (parent != ASSAY_NONE) {
        assay_id first = AS_AT(stack_node, &tree->nodes, parent).first;
        if (first && AS_AT(stack_node, &tree->nodes, first).region == region) return first;
        if (!first) {
            first = add(tree, parent, region);
            if (first != ASSAY_NONE) AS_AT(stack_node, &tree->nodes, parent).first = first;
            return first;
        }
    }
    uint32_t known = as_map_get(&tree->others, as_pair(parent, region));
    if (known != AS_MAP_NONE) return known;
    assay_id id = add(tree, parent, region);
    return id != ASSAY_NONE && as_map_put(&tree->others, as_pair(parent, region), id) ? id : ASSAY_NONE;
}

void as_stack_tree_mark(as_stack_tree *tree, assay_id id) {
    stack_node *node = &AS_AT(stack_node, &tree->nodes, id);
    if (!node->order) node->order = ++tree->n_callpaths;
}

/* Where each goes, by its parent's place and its elder siblings', whose subtrees stand before it. sizes: of subtrees; next: room for where the next child of each stands. */
static void find_places(const stack_node *nodes, size_t n, const uint32_t *sizes, assay_id *next, assay_id *ids) {
    assay_id next_root = 0;
    for (size_t i = 0; i < n; i++) {
        assay_id *place = nodes[i].parent == ASSAY_NONE ? &next_root : &next[nodes[i].parent];
        ids[i] = *place;
        next[i] = *place + 1;
        *place += sizes[i];
    }
}

/* names: of regions, close together. */
static void put_contexts(as_stack_tree *tree, const uint32_t *sizes, const as_str *names, const assay_id *ids) {
    const stack_node *nodes = tree->nodes.data;
    as_context *contexts = tree->ds->contexts.data;
    const assay_id *regions = tree->regions ? tree->regions->data : NULL;
    for (size_t i = 0; i < tree->nodes.count; i++) {
        as_context *context = &contexts[ids[i]];
        *context = AS_CONTEXT_INIT;
        if (nodes[i].parent != ASSAY_NONE) {
            context->parent = ids[nodes[i].parent];
            context->depth = contexts[context->parent].depth + 1;
        }
        context->region = regions ? regions[nodes[i].region] : nodes[i].region;
        context->name = names[context->region];
        context->subtree = sizes[i];
        context->is_callpath = nodes[i].order != 0;
        if (nodes[i].order) context->callpath_order = nodes[i].order - 1;
    }
    tree->ds->contexts.count = tree->nodes.count;
}

bool as_stack_tree_finish(as_stack_tree *tree, const assay_id **new_ids) {
    const stack_node *nodes = tree->nodes.data;
    size_t n = tree->nodes.count;
    as_vec sizes, next, names; /* uint32_t, assay_id, as_str */
    as_vec_init(&sizes, sizeof(uint32_t), &tree->ds->budget);
    as_vec_init(&next, sizeof(assay_id), &tree->ds->budget);
    as_vec_init(&names, sizeof(as_str), &tree->ds->budget);
    as_map_free(&tree->others);
    assay_id *ids = as_arena_array(&tree->ds->arena, n, sizeof *ids);
    bool fine = ids && as_vec_reserve(&sizes, n) && as_vec_reserve(&next, n);
    if (fine) {
        uint32_t *size = sizes.data;
        for (size_t i = 0; i < n; i++) size[i] = 1;
        for (size_t i = n; i-- > 0;) {
            if (nodes[i].parent != ASSAY_NONE) size[nodes[i].parent] += size[i];
        }
        find_places(nodes, n, size, next.data, ids);
    }
    as_vec_free(&next);
    if (fine) as_vec_expect(&tree->ds->contexts, n);
    fine = fine && as_vec_reserve(&tree->ds->contexts, n);
    for (size_t i = 0; fine && i < tree->ds->regions.count; i++)
        fine = as_vec_append(&names, &as_ds_region(tree->ds, (assay_id)i)->name, 1);
    if (fine) put_contexts(tree, sizes.data, names.data, ids);
    as_vec_free(&names);
    as_vec_free(&sizes);
    as_vec_free(&tree->nodes);
    *new_ids = ids;
    return fine;
}
