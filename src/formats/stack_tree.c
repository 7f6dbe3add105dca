#include "formats/stack_tree.h"

/* Stacks branch seldom: most nodes have one child, which stands in the node itself, so that a stack that is new from
 * some frame on needs no look into the map. */
typedef struct stack_node {
    assay_id parent, region; /* region: or what it has as a key */
    assay_id first;          /* child; 0: none, as the first of all is a root */
    uint32_t order;          /* of call paths: which one it is, from 1; else 0 */
} stack_node;

void as_stack_tree_init(as_stack_tree *tree, as_dataset *ds) {
    *tree = (as_stack_tree){.ds = ds};
    as_vec_init(&tree->nodes, sizeof(stack_node), &ds->budget);
    as_vec_init(&tree->new_ids, sizeof(assay_id), &ds->budget);
    as_map_init(&tree->others, &ds->budget);
}

void as_stack_tree_free(as_stack_tree *tree) {
    as_vec_free(&tree->nodes);
    as_vec_free(&tree->new_ids);
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

/* How many contexts are in the subtree of each, which its node has from now on in the place of its first child. */
static void find_sizes(stack_node *nodes, size_t n) {
    for (size_t i = 0; i < n; i++) nodes[i].first = 1;
    for (size_t i = n; i-- > 0;) {
        if (nodes[i].parent != ASSAY_NONE) nodes[nodes[i].parent].first += nodes[i].first;
    }
}

/* Where each goes, by its parent's place and its elder siblings', whose subtrees stand before it. next: room for where
 * the next child of each stands. */
static void find_places(const stack_node *nodes, size_t n, assay_id *next, assay_id *ids) {
    assay_id next_root = 0;
    for (size_t i = 0; i < n; i++) {
        assay_id *place = nodes[i].parent == ASSAY_NONE ? &next_root : &next[nodes[i].parent];
        ids[i] = *place;
        next[i] = *place + 1;
        *place += nodes[i].first;
    }
}

/* names: of regions, close together. */
static void put_contexts(as_stack_tree *tree, const as_str *names, const assay_id *ids) {
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
        context->subtree = nodes[i].first;
        context->is_callpath = nodes[i].order != 0;
        if (nodes[i].order) context->callpath_order = nodes[i].order - 1;
    }
    tree->ds->contexts.count = tree->nodes.count;
}

static bool reserve(as_vec *vec, size_t n) {
    as_vec_expect(vec, n);
    return as_vec_reserve(vec, n);
}

bool as_stack_tree_finish(as_stack_tree *tree, const assay_id **new_ids) {
    size_t n = tree->nodes.count;
    as_vec next, names; /* assay_id, as_str */
    as_vec_init(&next, sizeof(assay_id), &tree->ds->budget);
    as_vec_init(&names, sizeof(as_str), &tree->ds->budget);
    as_map_free(&tree->others);
    bool fine = reserve(&tree->new_ids, n) && reserve(&next, n);
    if (fine) {
        find_sizes(tree->nodes.data, n);
        find_places(tree->nodes.data, n, next.data, tree->new_ids.data);
    }
    as_vec_free(&next);
    fine = fine && reserve(&tree->ds->contexts, n);
    for (size_t i = 0; fine && i < tree->ds->regions.count; i++)
        fine = as_vec_append(&names, &as_ds_region(tree->ds, (assay_id)i)->name, 1);
    if (fine) put_contexts(tree, names.data, tree->new_ids.data);
    as_vec_free(&names);
    as_vec_free(&tree->nodes);
    *new_ids = tree->new_ids.data;
    return fine;
}
