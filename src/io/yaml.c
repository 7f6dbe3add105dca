#include "io/yaml.h"

#include <yaml.h>

#include "core/strings.h"

enum { NO_NODE = UINT32_MAX };

typedef struct reading {
    as_yaml *yaml;
    yaml_parser_t parser;
    const char *path;
    assay_error *error;
    as_vec open;        /* uint32_t: collections that are not complete, the innermost last */
    as_vec pending;     /* uint32_t: links of all open ones, one behind the other */
    as_vec starts;      /* size_t: for each open one, where its links begin */
    as_strings anchors; /* names */
    as_vec anchored;    /* uint32_t: the node that each of them names, NO_NODE while it is not complete */
    as_vec anchor_of;   /* uint32_t: for each open one, its anchor or AS_NO_STR */
    bool is_done;
} reading;

static as_place place_of(const reading *r, yaml_mark_t mark) {
    return (as_place){.path = r->path,
                      .offset = (int64_t)mark.index,
                      .line = (uint32_t)mark.line + 1,
                      .column = (uint32_t)mark.column + 1};
}

static assay_status damaged(const reading *r, yaml_mark_t mark, const char *why) {
    return as_fail(r->error, ASSAY_E_FORMAT, place_of(r, mark), "yaml-damaged", "%s", why);
}

static assay_status no_memory(const reading *r) { return as_fail_memory(r->error, r->path); }

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static as_yaml_node *node_at(const as_yaml *yaml, uint32_t i) { return &AS_AT(as_yaml_node, &yaml->nodes, i); }

/* Hangs a complete node or an alias below the innermost open collection. */
static assay_status link_node(reading *r, uint32_t node) {
    if (r->open.count) return as_vec_append(&r->pending, &node, 1) ? ASSAY_OK : no_memory(r);
    r->yaml->root = node;
    return ASSAY_OK;
}

static assay_status new_node(reading *r, as_yaml_kind kind, yaml_mark_t mark, uint32_t *out) {
    if (r->yaml->nodes.count >= AS_YAML_MAX_NODES)
        return as_fail(r->error, ASSAY_E_FORMAT, place_of(r, mark), "yaml-limit", "it has more than %d nodes",
                       (int)AS_YAML_MAX_NODES);
    as_yaml_node *node = as_vec_push(&r->yaml->nodes);
    if (!node) return no_memory(r);
    *node = (as_yaml_node){.kind = kind, .text = ""};
    node->line = (uint32_t)mark.line + 1;
    node->column = (uint32_t)mark.column + 1;
    *out = (uint32_t)(r->yaml->nodes.count - 1);
    return ASSAY_OK;
}

/* The number of an anchor's name, made if new; AS_NO_STR in *out: the event has none. A name may be given again. */
static assay_status find_anchor(reading *r, const yaml_char_t *name, as_str *out) {
    static const uint32_t none = NO_NODE;
    *out = AS_NO_STR;
    if (!name) return ASSAY_OK;
    *out = as_intern(&r->anchors, (const char *)name, strlen((const char *)name));
    if (*out == AS_NO_STR) return no_memory(r);
    while (r->anchored.count <= *out) {
        if (!as_vec_append(&r->anchored, &none, 1)) return no_memory(r);
    }
    return ASSAY_OK;
}

static void set_anchor(reading *r, as_str anchor, uint32_t node) {
    if (anchor != AS_NO_STR) AS_AT(uint32_t, &r->anchored, anchor) = node;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static assay_status take_scalar(reading *r, const yaml_event_t *event) {
    uint32_t id;
    as_str anchor;
    AS_TRY(new_node(r, AS_YAML_SCALAR, event->start_mark, &id));
    as_yaml_node *node = node_at(r->yaml, id);
    node->size = event->data.scalar.length;
    node->text = as_arena_copy(&r->yaml->arena, (const char *)event->data.scalar.value, node->size);
    node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (!node->text) return no_memory(r);
    AS_TRY(find_anchor(r, event->data.scalar.anchor, &anchor));
    set_anchor(r, anchor, id);
    return link_node(r, id);
}

static assay_status take_alias(reading *r, const yaml_event_t *event) {
    const char *name = (const char *)event->data.alias.anchor;
    as_str anchor = as_find(&r->anchors, name, strlen(name));
    uint32_t node =
        anchor == AS_NO_STR || anchor >= r->anchored.count ? NO_NODE : AS_AT(uint32_t, &r->anchored, anchor);
    if (node == NO_NODE)
        return damaged(r, event->start_mark,
                       anchor == AS_NO_STR ? "an alias names an anchor that is not there"
                                           : "an alias lies inside of what it names");
    /* Aliases take no node, but room. */
    if (r->pending.count + r->yaml->links.count >= 2 * (size_t)AS_YAML_MAX_NODES)
        return as_fail(r->error, ASSAY_E_FORMAT, place_of(r, event->start_mark), "yaml-limit",
                       "it has too many aliases");
    return link_node(r, node);
}

static assay_status open_collection(reading *r, const yaml_event_t *event, as_yaml_kind kind,
                                    const yaml_char_t *anchor_name) {
    uint32_t id;
    as_str anchor;
    if (r->open.count >= AS_YAML_MAX_DEPTH)
        return as_fail(r->error, ASSAY_E_FORMAT, place_of(r, event->start_mark), "yaml-limit",
                       "it is nested more than %d levels deep", (int)AS_YAML_MAX_DEPTH);
    AS_TRY(new_node(r, kind, event->start_mark, &id));
    AS_TRY(find_anchor(r, anchor_name, &anchor));
    set_anchor(r, anchor, NO_NODE);
    bool fine = as_vec_append(&r->open, &id, 1) && as_vec_append(&r->starts, &r->pending.count, 1) &&
                as_vec_append(&r->anchor_of, &anchor, 1);
    return fine ? ASSAY_OK : no_memory(r);
}

static assay_status close_collection(reading *r) {
    uint32_t id = AS_AT(uint32_t, &r->open, r->open.count - 1);
    size_t start = AS_AT(size_t, &r->starts, r->open.count - 1), n = r->pending.count - start;
    as_yaml_node *node = node_at(r->yaml, id);
    node->first = (uint32_t)r->yaml->links.count;
    node->n = (uint32_t)(node->kind == AS_YAML_MAPPING ? n / 2 : n);
    if (n && !as_vec_append(&r->yaml->links, &AS_AT(uint32_t, &r->pending, start), n)) return no_memory(r);
    set_anchor(r, AS_AT(uint32_t, &r->anchor_of, r->open.count - 1), id);
    r->pending.count = start;
    r->open.count = r->starts.count = r->anchor_of.count = r->open.count - 1;
    return link_node(r, id);
}

static assay_status take_event(reading *r, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SCALAR_EVENT: return take_scalar(r, event);
    case YAML_ALIAS_EVENT: return take_alias(r, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(r, event, AS_YAML_SEQUENCE, event->data.sequence_start.anchor);
    case YAML_MAPPING_START_EVENT: return open_collection(r, event, AS_YAML_MAPPING, event->data.mapping_start.anchor);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return close_collection(r);
    case YAML_DOCUMENT_END_EVENT:
    case YAML_STREAM_END_EVENT: r->is_done = true; return ASSAY_OK;
    default: return ASSAY_OK;
    }
}

static assay_status read_events(reading *r) {
    assay_status status = ASSAY_OK;
    while (status == ASSAY_OK && !r->is_done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event)) {
            if (r->parser.error == YAML_MEMORY_ERROR) return no_memory(r);
            return damaged(r, r->parser.problem_mark, r->parser.problem ? r->parser.problem : "it is no YAML");
        }
        status = take_event(r, &event);
        yaml_event_delete(&event);
    }
    if (status != ASSAY_OK || r->yaml->nodes.count) return status;
    return new_node(r, AS_YAML_SCALAR, (yaml_mark_t){0}, &r->yaml->root);
}

/* What follows is only looked at. */
static void find_next(reading *r) {
    yaml_event_t event;
    if (!yaml_parser_parse(&r->parser, &event)) {
        r->yaml->next_line = (uint32_t)r->parser.problem_mark.line + 1;
        return;
    }
    if (event.type == YAML_DOCUMENT_START_EVENT) r->yaml->next_line = (uint32_t)event.start_mark.line + 1;
    yaml_event_delete(&event);
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

assay_status as_yaml_read(const char *path, const char *data, size_t size, as_budget *budget, as_yaml *out,
                          assay_error *error) {
    reading r = {.yaml = out, .path = path, .error = error};
    *out = (as_yaml){.root = 0};
    as_arena_init(&out->arena, budget);
    as_vec_init(&out->nodes, sizeof(as_yaml_node), budget);
    as_vec_init(&out->links, sizeof(uint32_t), budget);
    if (size > AS_YAML_MAX_SIZE)
        return as_fail(error, ASSAY_E_FORMAT, as_place_file(path), "yaml-limit", "it has more than %d MiB",
                       (int)(AS_YAML_MAX_SIZE >> 20));
    if (!yaml_parser_initialize(&r.parser)) return as_fail_memory(error, path);
    as_vec_init(&r.open, sizeof(uint32_t), budget);
    as_vec_init(&r.pending, sizeof(uint32_t), budget);
    as_vec_init(&r.starts, sizeof(size_t), budget);
    as_vec_init(&r.anchored, sizeof(uint32_t), budget);
    as_vec_init(&r.anchor_of, sizeof(uint32_t), budget);
    as_strings_init(&r.anchors, &out->arena);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)data, size);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    assay_status status = read_events(&r);
    if (status == ASSAY_OK) find_next(&r);
    yaml_parser_delete(&r.parser);
    as_strings_free(&r.anchors);
    as_vec_free(&r.open);
    as_vec_free(&r.pending);
    as_vec_free(&r.starts);
    as_vec_free(&r.anchored);
    as_vec_free(&r.anchor_of);
    return status;
}

void as_yaml_free(as_yaml *yaml) {
    as_vec_free(&yaml->nodes);
    as_vec_free(&yaml->links);
    as_arena_free(&yaml->arena);
}

const as_yaml_node *as_yaml_root(const as_yaml *yaml) { return node_at(yaml, yaml->root); }

static const as_yaml_node *linked(const as_yaml *yaml, const as_yaml_node *node, size_t i) {
    return node_at(yaml, AS_AT(uint32_t, &yaml->links, node->first + i));
}

const as_yaml_node *as_yaml_item(const as_yaml *yaml, const as_yaml_node *sequence, uint32_t i) {
    return linked(yaml, sequence, i);
}
const as_yaml_node *as_yaml_key(const as_yaml *yaml, const as_yaml_node *mapping, uint32_t i) {
    return linked(yaml, mapping, 2 * (size_t)i);
}
const as_yaml_node *as_yaml_value(const as_yaml *yaml, const as_yaml_node *mapping, uint32_t i) {
    return linked(yaml, mapping, 2 * (size_t)i + 1);
}

/* Of the mapping itself. */
static const as_yaml_node *get_own(const as_yaml *yaml, const as_yaml_node *mapping, const char *key) {
    for (uint32_t i = 0; mapping->kind == AS_YAML_MAPPING && i < mapping->n; i++) {
        const char *text = as_yaml_text(as_yaml_key(yaml, mapping, i));
        if (text && strcmp(text, key) == 0) return as_yaml_value(yaml, mapping, i);
    }
    return NULL;
}

/* Whether so many more pairs may be looked at. */
static bool take_pairs(uint32_t *left, const as_yaml_node *node) {
    bool are_left = node->n < *left;
    *left -= are_left ? node->n + 1 : *left;
    return are_left;
}

const as_yaml_node *as_yaml_get(const as_yaml *yaml, const as_yaml_node *mapping, const char *key) {
    for (uint32_t left = AS_YAML_MAX_MERGED; mapping;) {
        const as_yaml_node *found = get_own(yaml, mapping, key);
        if (found) return found;
        const as_yaml_node *merged = get_own(yaml, mapping, "<<");
        for (uint32_t k = 0; merged && merged->kind == AS_YAML_SEQUENCE && k < merged->n; k++) {
            const as_yaml_node *item = as_yaml_item(yaml, merged, k);
            if (!take_pairs(&left, item)) return NULL;
            found = get_own(yaml, item, key);
            if (found) return found;
        }
        mapping = merged && merged->kind == AS_YAML_MAPPING && take_pairs(&left, merged) ? merged : NULL;
    }
    return NULL;
}

const char *as_yaml_text(const as_yaml_node *node) { return node && node->kind == AS_YAML_SCALAR ? node->text : NULL; }
