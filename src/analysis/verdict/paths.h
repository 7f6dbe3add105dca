/* The call paths of several datasets as one tree of names: siblings of one name are one (a section is no sibling of a
 * region), and pieces of calls (lines, loops, call sites) are the call they lie in, so that a line that moved changes
 * nothing. Processes and threads (as_region_is_place()) are called by their order among siblings. */
#ifndef AS_ANALYSIS_VERDICT_PATHS_H
#define AS_ANALYSIS_VERDICT_PATHS_H

#include "dataset/dataset.h"

/* No node of its own: the context stands for the program, has no place, is a piece, or stands aside (or lies below one
 * that does), where something does not: what it says is said elsewhere. */
#define AS_NO_PATH UINT32_MAX

typedef struct as_paths {
    as_arena arena;
    as_strings names;
    as_map children; /* as_pair(parent, name) -> node */
    as_vec nodes;    /* as_path_node; 0 stands for the program */
} as_paths;

typedef struct as_path_node {
    uint32_t parent; /* smaller than the node's own number */
    as_str name;
    as_str file;      /* of the dataset added last that knows it */
    int64_t line;     /* -1: unknown */
    bool is_apart;    /* a section, or it stands aside, or lies below such: no part of a total */
    const char *text; /* the path, once somebody asked for it */
} as_path_node;

/* False when memory is out; as_paths_free() in every case. */
bool as_paths_init(as_paths *paths, as_budget *budget);
void as_paths_free(as_paths *paths);
/* The node of each context of ds into nodes; AS_NO_PATH: none. False when memory is out. */
bool as_paths_add(as_paths *paths, const as_dataset *ds, uint32_t *nodes);
static inline size_t as_paths_count(const as_paths *paths) { return paths->nodes.count; }
static inline const as_path_node *as_paths_node(const as_paths *paths, uint32_t node) {
    return &AS_AT(as_path_node, &paths->nodes, node);
}
/* The names joined with "->"; of very long ones the end. In the arena, made once. NULL when memory is out. */
const char *as_paths_text(as_paths *paths, uint32_t node, as_arena *arena);

#endif
