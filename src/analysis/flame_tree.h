/* The picture of a flame graph before it is drawn: the frames that are wide enough to be seen, in pre-order, with what
 * they have. */
#ifndef AS_ANALYSIS_FLAME_TREE_H
#define AS_ANALYSIS_FLAME_TREE_H

#include "dataset/flame.h"

/* What of two sides makes the width of a frame. AS_WIDE_AS_MOST: each stack the larger of its two amounts, so that
 * nothing is lost. */
typedef enum as_flame_width { AS_WIDE_AS_FIRST, AS_WIDE_AS_SECOND, AS_WIDE_AS_MOST } as_flame_width;

typedef struct as_flame_request {
    bool is_inverted;     /* innermost functions first, below them who called them */
    as_flame_width width; /* of a flame with one side always the first */
    bool is_normalized;   /* amounts of the first side are scaled so that both sides have the same sum */
    double min_share;     /* frames narrower than this part of the whole are left out; 0: those of no width */
    size_t room,
        /* the narrowest are left out until the rest costs at most this: each frame so much, and its name by bytes; room
         * 0: no limit */
        frame_costs;
    size_t longest_name; /* what a name costs at most */
} as_flame_request;

typedef struct as_flame_node {
    uint32_t parent; /* before it; AS_FLAME_ROOT: none */
    uint32_t depth;  /* first level: 0 */
    as_str name, module, kind;
    double own[2]; /* of the stacks that end here; inverted: that nobody called further */
    double total[2], width, own_width;
    double x; /* where it begins: behind what its parent's earlier children take */
} as_flame_node;

typedef struct as_flame_tree {
    const as_flame *flame;
    as_vec nodes; /* as_flame_node; the widest of several below one come first, else in the order of the flame */
    double total[2], width;
    double scale[2]; /* that amounts were multiplied by */
    uint64_t n_left,
        /* frames that are left out though they have a width; stacks with amounts below 0 or no numbers, which are not
         * counted */
        n_minus;
    double left_width; /* of the stacks that end in frames which are left out */
} as_flame_tree;

/* flame must live as long. as_flame_tree_free() in every case. False when memory is out. */
bool as_flame_tree_make(const as_flame *flame, const as_flame_request *request, as_flame_tree *out);
void as_flame_tree_free(as_flame_tree *tree);

#endif
