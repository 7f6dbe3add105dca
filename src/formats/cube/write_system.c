/* <system>: a tree of <systemtreenode>s, <locationgroup>s in them, and <location>s in those, which is all CubeLib's
 * reader knows. Locations hang in groups only, groups in nodes only, and stand before the nodes beside them; what the
 * dataset lacks of that is made up. */
#include <stdlib.h>

#include "formats/cube/write.h"

typedef enum place_kind { UNUSED, NODE, GROUP, LEAF } place_kind;

typedef struct tree {
    const as_cube_file *file;
    const as_dataset *ds;
    as_output *out;
    place_kind *kinds;
    assay_id *child, *sibling; /* the first child of each, and behind them that of none; the next of its parent */
    uint32_t *column;          /* of a leaf: its Id. Of others: how many children were written */
    uint32_t n_nodes, n_groups;
} tree;

/* ---- the shape --------------------------------------------------------------------------------------------------- */

static assay_id parent_of(const tree *t, assay_id id) { return as_ds_location(t->ds, id)->parent; }

/* Leaves are the columns; every location above one is used, or all are where all leaves are columns. Parents of leaves
 * are groups, unless they have other children as well. */
static void find_kinds(tree *t) {
    size_t n = t->ds->locations.count;
    uint32_t n_columns = t->file->columns ? t->file->n_columns : 0;
    bool all = as_ds_leaves(t->ds) == n_columns;
    for (assay_id i = 0; i < n && all; i++) t->kinds[i] = as_ds_location(t->ds, i)->leaf ? UNUSED : NODE;
    for (uint32_t i = 0; i < n_columns; i++) {
        assay_id leaf = t->file->columns[i];
        t->kinds[leaf] = LEAF;
        t->column[leaf] = i;
        for (assay_id above = parent_of(t, leaf); above != ASSAY_NONE && t->kinds[above] == UNUSED;
             above = parent_of(t, above))
            t->kinds[above] = NODE;
    }
    for (uint32_t i = 0; i < n_columns; i++) {
        assay_id parent = parent_of(t, t->file->columns[i]);
        if (parent != ASSAY_NONE) t->kinds[parent] = GROUP;
    }
    for (assay_id i = 0; i < n; i++) {
        assay_id parent = parent_of(t, i);
        if ((t->kinds[i] == NODE || t->kinds[i] == GROUP) && parent != ASSAY_NONE) t->kinds[parent] = NODE;
    }
}

/* Links the children of each place: groups and leaves, then nodes. */
static void link_children(tree *t) {
    size_t n = t->ds->locations.count;
    for (size_t i = 0; i <= n; i++) t->child[i] = ASSAY_NONE;
    for (int nodes = 1; nodes >= 0; nodes--) { /* from behind, each before those already there */
        for (size_t i = n; i-- > 0;) {
            place_kind kind = t->kinds[i];
            if (kind == UNUSED || (kind == NODE) != nodes) continue;
            assay_id parent = parent_of(t, (assay_id)i);
            size_t place = parent == ASSAY_NONE ? n : parent;
            t->sibling[i] = t->child[place];
            t->child[place] = (assay_id)i;
        }
    }
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static void open_tag(const tree *t, const char *tag, uint32_t number, assay_id id) {
    as_output_printf(t->out, "<%s Id=\"%u\"", tag, number);
    if (id != ASSAY_NONE) as_cube_put_tag(t->file, t->out, AS_OWNER_LOCATION, id, "");
    as_output_text(t->out, ">\n");
}

/* CubeLib wants a rank: where there is none, the place among its siblings. */
static void put_rank(const tree *t, assay_id id, uint32_t otherwise) {
    const char *text = id == ASSAY_NONE ? NULL : as_cube_attribute(t->file->source, AS_OWNER_LOCATION, id, "rank");
    int64_t rank = id == ASSAY_NONE ? -1 : as_ds_location(t->ds, id)->rank;
    as_output_text(t->out, "<rank>");
    if (text && rank < 0)
        as_xml_put_text(t->out, text, strlen(text));
    else
        as_output_int(t->out, rank >= 0 ? rank : otherwise);
    as_output_text(t->out, "</rank>\n");
}

/* An element of system tree nodes only. */
static void put_descr(const tree *t, assay_id id) {
    const char *text = as_cube_attribute(t->file->source, AS_OWNER_LOCATION, id, "descr");
    if (text && (t->kinds[id] == LEAF || t->kinds[id] == GROUP))
        as_cube_put_attr(t->out, "descr", as_cell_text(text));
    else if (text)
        as_cube_put_element(t->out, "descr", text);
}

static const char *kind_text(const tree *t, assay_id id, const char *otherwise) {
    const char *kind = as_ds_text(t->ds, as_ds_location(t->ds, id)->kind);
    return kind ? kind : otherwise;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* CubeLib refuses a file with a type of group or location that it does not know. */
static const char *type_of_group(const tree *t, assay_id id) {
    if (as_cube_is_ours(t->ds)) return kind_text(t, id, "process");
    return as_location_is_gpu(t->ds, id) ? "accelerator" : "process";
}

static const char *type_of_leaf(const tree *t, assay_id id) {
    if (as_cube_is_ours(t->ds)) return kind_text(t, id, "thread");
    return as_location_is_gpu(t->ds, id) ? "accelerator stream" : "thread";
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static void open_made_node(tree *t) {
    open_tag(t, "systemtreenode", t->n_nodes++, ASSAY_NONE);
    as_cube_put_element(t->out, "name", "machine");
    as_cube_put_element(t->out, "class", "machine");
}

static void open_made_group(tree *t, const char *name, assay_id leaf) {
    open_tag(t, "locationgroup", t->n_groups, ASSAY_NONE);
    as_cube_put_element(t->out, "name", name);
    put_rank(t, leaf, t->n_groups++);
    bool is_accelerator = leaf != ASSAY_NONE && !as_cube_is_ours(t->ds) && as_location_is_gpu(t->ds, leaf);
    as_cube_put_element(t->out, "type", is_accelerator ? "accelerator" : "process");
}

/* Of its parent, from 0. */
static uint32_t place_among_siblings(tree *t, assay_id id) {
    assay_id parent = parent_of(t, id);
    return t->column[parent == ASSAY_NONE ? t->ds->locations.count : parent]++;
}

static void put_leaf(tree *t, assay_id id) {
    const char *name = as_ds_text(t->ds, as_ds_location(t->ds, id)->name);
    assay_id parent = parent_of(t, id);
    bool lacks_group = parent == ASSAY_NONE || t->kinds[parent] != GROUP;
    if (lacks_group) open_made_group(t, name, id);
    open_tag(t, "location", t->column[id], id);
    as_cube_put_element(t->out, "name", name);
    put_rank(t, id, place_among_siblings(t, id));
    as_cube_put_element(t->out, "type", type_of_leaf(t, id));
    put_descr(t, id);
    as_cube_put_rest(t->file, t->out, AS_OWNER_LOCATION, id);
    as_output_text(t->out, "</location>\n");
    if (lacks_group) as_output_text(t->out, "</locationgroup>\n");
}

static void open_place(tree *t, assay_id id) {
    const char *name = as_ds_text(t->ds, as_ds_location(t->ds, id)->name);
    if (t->kinds[id] == LEAF)
        put_leaf(t, id);
    else if (t->kinds[id] == GROUP) {
        open_tag(t, "locationgroup", t->n_groups++, id);
        as_cube_put_element(t->out, "name", name);
        put_rank(t, id, place_among_siblings(t, id));
        as_cube_put_element(t->out, "type", type_of_group(t, id));
        put_descr(t, id);
        as_cube_put_rest(t->file, t->out, AS_OWNER_LOCATION, id);
    } else {
        open_tag(t, "systemtreenode", t->n_nodes++, id);
        as_cube_put_element(t->out, "name", name);
        as_cube_put_element(t->out, "class", kind_text(t, id, "node"));
        put_descr(t, id);
        as_cube_put_rest(t->file, t->out, AS_OWNER_LOCATION, id);
    }
}

static void close_place(tree *t, assay_id id) {
    if (t->kinds[id] != LEAF)
        as_output_text(t->out, t->kinds[id] == GROUP ? "</locationgroup>\n" : "</systemtreenode>\n");
}

/* One root and all below it. */
static void put_subtree(tree *t, assay_id root) {
    for (assay_id id = root;;) {
        open_place(t, id);
        if (t->child[id] != ASSAY_NONE) {
            id = t->child[id];
            continue;
        }
        close_place(t, id);
        while (id != root && t->sibling[id] == ASSAY_NONE) {
            id = parent_of(t, id);
            close_place(t, id);
        }
        if (id == root) return;
        id = t->sibling[id];
    }
}

static void put_tree(tree *t) {
    assay_id root = t->child[t->ds->locations.count];
    bool lacks_node = root != ASSAY_NONE && t->kinds[root] != NODE; /* groups and leaves come first */
    if (lacks_node) open_made_node(t);
    for (; root != ASSAY_NONE && t->kinds[root] != NODE; root = t->sibling[root]) put_subtree(t, root);
    if (lacks_node) as_output_text(t->out, "</systemtreenode>\n");
    for (; root != ASSAY_NONE; root = t->sibling[root]) put_subtree(t, root);
}

/* The place of values that have none. */
static void put_made_tree(tree *t) {
    open_made_node(t);
    open_made_group(t, "process", ASSAY_NONE);
    open_tag(t, "location", 0, ASSAY_NONE);
    as_cube_put_element(t->out, "name", "thread");
    put_rank(t, ASSAY_NONE, 0);
    as_cube_put_element(t->out, "type", "thread");
    as_output_text(t->out, "</location>\n</locationgroup>\n</systemtreenode>\n");
}

/* ---- topologies -------------------------------------------------------------------------------------------------- */

static bool parse_number(const char *text, const char *end, uint64_t *out) {
    uint64_t value = 0;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    }
    *out = value;
    return true;
}

/* The Ids of locations that coordinates name: those of the source become those of this file. */
static bool put_topologies(tree *t, const char *text) {
    static const char attribute[] = " locId=\"";
    as_map ids;
    as_map_init(&ids, NULL);
    bool fine = true;
    for (uint32_t i = 0; i < t->file->n_columns && t->file->columns && fine; i++) {
        const char *id = as_ds_text(t->ds, as_ds_location(t->ds, t->file->columns[i])->source_id);
        uint64_t number;
        if (id && parse_number(id, id + strlen(id), &number)) fine = as_map_put(&ids, number, i);
    }
    for (const char *found; fine && (found = strstr(text, attribute));) {
        const char *begin = found + strlen(attribute), *end = strchr(begin, '"');
        uint64_t number;
        uint32_t column = end && parse_number(begin, end, &number) ? as_map_get(&ids, number) : AS_MAP_NONE;
        as_output_write(t->out, text, (size_t)(begin - text));
        text = begin;
        if (column == AS_MAP_NONE) continue;
        as_output_int(t->out, column);
        text = end;
    }
    as_output_text(t->out, text);
    as_output_char(t->out, '\n');
    as_map_free(&ids);
    return fine;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

bool as_cube_fits_system(const as_dataset *ds, bool *does_fit) {
    size_t n = ds->locations.count;
    bool *has_leaf = calloc(n + 1, sizeof *has_leaf), fits = true;
    if (!has_leaf) return false;
    for (assay_id i = 0; i < n && fits; i++) {
        const as_location *location = as_ds_location(ds, i);
        if (!location->leaf) continue;
        fits = location->parent != ASSAY_NONE && as_ds_location(ds, location->parent)->parent != ASSAY_NONE;
        if (fits) has_leaf[location->parent] = true;
    }
    for (assay_id i = 0; i < n && fits; i++) {
        const as_location *location = as_ds_location(ds, i);
        fits = location->leaf || location->parent == ASSAY_NONE || !has_leaf[location->parent];
    }
    free(has_leaf);
    *does_fit = fits;
    return true;
}

bool as_cube_write_system(const as_cube_file *file, as_output *out) {
    size_t n = file->ds->locations.count;
    tree t = {.file = file,
              .ds = file->ds,
              .out = out,
              .kinds = calloc(n + 1, sizeof *t.kinds),
              .child = malloc((n + 1) * sizeof *t.child),
              .sibling = malloc((n + 1) * sizeof *t.sibling),
              .column = calloc(n + 1, sizeof *t.column)};
    bool fine = t.kinds && t.child && t.sibling && t.column;
    as_output_text(out, "<system");
    as_cube_put_tag(file, out, AS_OWNER_DATASET, 0, "system");
    as_output_text(out, ">\n");
    bool has_rows = false;
    for (size_t i = 0; i < file->ds->metrics.count; i++) has_rows |= file->slices[i].view.n_rows > 0;
    bool needs_place = !file->columns && (has_rows || !as_cube_is_ours(file->ds));
    if (fine && !needs_place) {
        find_kinds(&t);
        link_children(&t);
        put_tree(&t);
    } else if (fine)
        put_made_tree(&t);
    const char *topologies = as_cube_attribute(file->source, AS_OWNER_DATASET, 0, AS_CUBE_TOPOLOGIES);
    if (topologies)
        fine = put_topologies(&t, topologies) && fine;
    else
        as_output_text(out, "<topologies>\n</topologies>\n");
    as_output_text(out, "</system>\n");
    free(t.kinds);
    free(t.child);
    free(t.sibling);
    free(t.column);
    return fine;
}
