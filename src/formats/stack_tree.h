/* The contexts of stacks while they are read: 16 bytes each, as files of samples can have one for every few bytes. They
 * become the dataset's in the end.
 *
 * It is as_tree (dataset/build.h) for contexts that are nothing but a region below a parent. */
#ifndef AS_FORMATS_STACK_TREE_H
#define AS_FORMATS_STACK_TREE_H

#include "dataset/build.h"

typedef struct as_stack_tree {
    as_dataset *ds;
    as_vec nodes;   /* private */
    as_vec new_ids; /* private */
    as_map others;  /* parent, key -> id: roots, and children that are not their parent's first */
    uint32_t n_callpaths;
    /* assay_id: where children are told apart by more than their region, the region of each key that
     * as_stack_tree_child() was asked for; NULL: keys are regions */
    const as_vec *regions;
} as_stack_tree;

void as_stack_tree_init(as_stack_tree *tree, as_dataset *ds);
void as_stack_tree_free(as_stack_tree *tree);
/* The context of this region below parent (ASSAY_NONE: a root), made if new. ASSAY_NONE when memory is out. */
assay_id as_stack_tree_child(as_stack_tree *tree, assay_id parent, assay_id region);
static inline size_t as_stack_tree_count(const as_stack_tree *tree) { return tree->nodes.count; }
/* Says that the source names this context as a call path. */
void as_stack_tree_mark(as_stack_tree *tree, assay_id id);
/* Puts the contexts into the dataset in pre-order, children in order of arrival; the tree is not to be used from then
 * on. *new_ids: for each context of the tree its id in the dataset, until the tree is freed. False when memory is
 * out. */
bool as_stack_tree_finish(as_stack_tree *tree, const assay_id **new_ids);

#endif
