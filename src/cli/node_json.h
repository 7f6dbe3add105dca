/* Nodes of a tree for programs, as a walk meets them: their paths, and nested JSON that is written as the walk goes,
 * whatever its size and depth. */
#ifndef AS_CLI_NODE_JSON_H
#define AS_CLI_NODE_JSON_H

#include "analysis/views/view.h"
#include "io/output.h"

/* ---- paths ------------------------------------------------------------------------------------------------------- */

/* The path of the node at hand: "main->solve". */
typedef struct as_walk_path {
    as_vec text;         /* char */
    as_vec lengths;      /* size_t, for each depth */
    uint32_t n_left_out; /* levels on top that no path names: 0 or 1 */
} as_walk_path;
enum {
    AS_LONGEST_PATH = 1 << 14
}; /* longer ones are not shown: in a deep tree all of them together would have no end */
void as_walk_path_init(as_walk_path *path);
void as_walk_path_free(as_walk_path *path);
/* Goes on to a node. above: the context over a node of depth 0, whose path comes first, with those names that a view
 * shows; ASSAY_NONE: none. arrow: "->" or "<-". False when memory is out. */
bool as_walk_path_step(as_walk_path *path, const as_dataset *ds, uint32_t depth, as_str name, assay_id above,
                       const char *arrow);
/* Goes on to the root of all, at depth 0, which has no path. */
bool as_walk_path_skip(as_walk_path *path);

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

typedef struct as_node_json {
    as_output *out;
    bool has_top;    /* a node above the first level */
    uint32_t n_open; /* nodes whose children may still come */
    bool is_filled;  /* the innermost of them has a child */
} as_node_json;

/* A text, or null. */
void as_node_json_text(as_output *out, const char *text);
/* "key":"text", or null; with a comma behind it, like the following two. */
void as_node_json_member(as_output *out, const char *key, const char *text);
void as_node_json_path(as_output *out, const as_walk_path *path);
void as_node_json_line(as_output *out, int64_t line); /* below 0: null */
/* n_parts: of a composite number. */
void as_node_json_number(as_output *out, const as_view_number *number, uint32_t n_parts);
/* The names of metrics as members of an array. */
void as_node_json_metric(as_output *out, const as_dataset *ds, assay_id metric);

/* Ends what is not above a node of this depth, and begins it: "{". Its members follow, then as_node_json_children(). */
void as_node_json_begin(as_node_json *json, uint32_t depth);
/* The last member: nodes below it may follow. */
void as_node_json_children(as_node_json *json);
/* Ends nodes until only n are open. */
void as_node_json_close(as_node_json *json, uint32_t n);

#endif
