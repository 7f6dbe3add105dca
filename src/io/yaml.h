/* Reading YAML: a document as a tree of checked nodes, made by libyaml's parser. Anchors and aliases are resolved: a
 * node that several aliases name is one node with several parents, so what is read never takes more room than the text
 * does. Nothing is recursive, and no alias leads in a circle. Tags and comments are dropped. */
#ifndef AS_IO_YAML_H
#define AS_IO_YAML_H

#include "core/error.h"
#include "core/memory.h"

enum { AS_YAML_MAX_SIZE = 8 << 20, AS_YAML_MAX_DEPTH = 100, AS_YAML_MAX_NODES = 1 << 20, AS_YAML_MAX_MERGED = 100 };

typedef enum as_yaml_kind { AS_YAML_SCALAR, AS_YAML_SEQUENCE, AS_YAML_MAPPING } as_yaml_kind;

typedef struct as_yaml_node {
    as_yaml_kind kind;
    const char *text; /* of a scalar, NUL-terminated; "" of others */
    size_t size;
    bool is_plain;   /* a scalar without quotes */
    uint32_t line;   /* from 1 */
    uint32_t column; /* from 1 */
    uint32_t n;      /* items of a sequence; of a mapping: pairs */
    uint32_t first;  /* private: of its links */
} as_yaml_node;

typedef struct as_yaml {
    as_arena arena;
    as_vec nodes; /* as_yaml_node */
    as_vec links; /* uint32_t: numbers of nodes; items, or key and value alternating */
    uint32_t root;
    uint32_t next_line; /* where something follows the document; 0: nothing does */
} as_yaml;

/* Reads the first document. path: for messages. ASSAY_E_FORMAT with the place and the rule yaml-damaged (what libyaml
 * says; an alias without anchor, or inside of what it names) or yaml-limit (size, depth or number of nodes);
 * ASSAY_E_NOMEM. as_yaml_free() in every case. An empty text is an empty scalar. */
assay_status as_yaml_read(const char *path, const char *data, size_t size, as_budget *budget, as_yaml *out,
                          assay_error *error);
void as_yaml_free(as_yaml *yaml);

const as_yaml_node *as_yaml_root(const as_yaml *yaml);
/* Item i of a sequence, key or value i of a mapping. */
const as_yaml_node *as_yaml_item(const as_yaml *yaml, const as_yaml_node *sequence, uint32_t i);
const as_yaml_node *as_yaml_key(const as_yaml *yaml, const as_yaml_node *mapping, uint32_t i);
const as_yaml_node *as_yaml_value(const as_yaml *yaml, const as_yaml_node *mapping, uint32_t i);
/* The value of a key, also by way of merge keys (<<), as far as those lead to no more than AS_YAML_MAX_MERGED pairs;
 * NULL where there is none, or the node (may be NULL) is no mapping. */
const as_yaml_node *as_yaml_get(const as_yaml *yaml, const as_yaml_node *mapping, const char *key);
/* The text of a scalar; NULL for anything else, NULL included. */
const char *as_yaml_text(const as_yaml_node *node);

#endif
