/* The system tree: machines, nodes, processes and the locations that have values, in today's words and in the old
 * ones. */
#include <stdlib.h>

#include "formats/cube/anchor.h"

/* A kind of node. */
typedef struct place_tag {
    const char *tag;
    const char *kind; /* where the document does not say it */
    bool is_leaf, is_old;
} place_tag;

static const place_tag place_tags[] = {
    {"location", "thread", true, false},    {"locationgroup", "process", false, false},
    {"systemtreenode", NULL, false, false}, {"thread", "thread", true, true},
    {"process", "process", false, true},    {"node", "node", false, true},
    {"machine", "machine", false, true},
};

static const place_tag *find_tag(const char *name) {
    for (size_t i = 0; i < sizeof place_tags / sizeof *place_tags; i++) {
        if (strcmp(place_tags[i].tag, name) == 0) return &place_tags[i];
    }
    return NULL;
}

static as_anchor_place *place_at(as_anchor *a, assay_id index) { return &AS_AT(as_anchor_place, &a->places, index); }

static assay_status start_place(as_anchor *a, const as_xml *xml, const place_tag *tag, const char *const *attributes) {
    const char *id = as_anchor_find(attributes, "Id");
    as_anchor_place place = {.location = AS_LOCATION_INIT};
    place.location.parent = a->place;
    place.location.leaf = tag->is_leaf;
    if (a->place != ASSAY_NONE && place_at(a, a->place)->location.leaf)
        return as_anchor_broken(a, xml, "system-tree", "a <%s> inside a location", tag->tag);
    if (tag->is_leaf && a->place == ASSAY_NONE)
        return as_anchor_broken(a, xml, "system-tree", "a <%s> that belongs to nothing", tag->tag);
    if (tag->is_leaf && !as_anchor_number(id, &place.number))
        return as_anchor_broken(a, xml, "location-id", "a <%s> without an Id that is a number", tag->tag);
    if (id) place.location.source_id = as_ds_intern_text(a->ds, id);
    if (tag->kind) place.location.kind = as_ds_intern_text(a->ds, tag->kind);
    place.location.name = as_ds_intern_text(a->ds, "");
    if (place.location.name == AS_NO_STR) return as_reader_memory(a->reader);
    a->place = (assay_id)a->places.count;
    if (a->places.count >= ASSAY_NONE - 1 || !as_vec_append(&a->places, &place, 1)) return as_reader_memory(a->reader);
    return as_anchor_note_others(a, AS_OWNER_LOCATION, a->place, NULL, attributes, "Id");
}

assay_status as_anchor_system_start(as_anchor *a, const as_xml *xml, const char *name, const char *const *attributes) {
    const place_tag *tag = find_tag(name);
    if (tag) return start_place(a, xml, tag, attributes);
    if (strcmp(name, "topologies") == 0)
        return as_anchor_capture_start(a, AS_OWNER_DATASET, 0, AS_CUBE_TOPOLOGIES, name, attributes);
    if (a->place == ASSAY_NONE) return as_anchor_capture_start(a, AS_OWNER_DATASET, 0, AS_CUBE_XML, name, attributes);
    if (strcmp(name, "attr") == 0) return as_anchor_note_attr(a, AS_OWNER_LOCATION, a->place, attributes);
    if (strcmp(name, "descr") == 0) return as_anchor_field_other(a, "", name);
    as_anchor_field field = strcmp(name, "name") == 0                                 ? AS_FIELD_PLACE_NAME
                            : strcmp(name, "rank") == 0                               ? AS_FIELD_PLACE_RANK
                            : strcmp(name, "class") == 0 || strcmp(name, "type") == 0 ? AS_FIELD_PLACE_KIND
                                                                                      : AS_FIELD_NONE;
    if (field == AS_FIELD_NONE)
        return as_anchor_capture_start(a, AS_OWNER_LOCATION, a->place, AS_CUBE_XML, name, attributes);
    as_anchor_field_start(a, field);
    return ASSAY_OK;
}

/* A rank that is no number is kept as it is. */
static assay_status set_rank(as_anchor *a) {
    uint64_t rank;
    if (!as_vec_append(&a->text, "", 1)) return as_reader_memory(a->reader);
    if (as_anchor_number(a->text.data, &rank) && rank <= INT64_MAX) {
        place_at(a, a->place)->location.rank = (int64_t)rank;
        return ASSAY_OK;
    }
    return as_anchor_note(a, AS_OWNER_LOCATION, a->place, "", "rank", a->text.data, a->text.count - 1);
}

assay_status as_anchor_system_field(as_anchor *a) {
    as_location *location = &place_at(a, a->place)->location;
    if (a->field == AS_FIELD_PLACE_NAME) return as_anchor_field_string(a, &location->name);
    if (a->field == AS_FIELD_PLACE_KIND) return as_anchor_field_string(a, &location->kind);
    return a->text.count ? set_rank(a) : ASSAY_OK;
}

void as_anchor_system_end(as_anchor *a, const char *name) {
    if (a->place != ASSAY_NONE && find_tag(name)) a->place = place_at(a, a->place)->location.parent;
}

/* ---- from places to locations ------------------------------------------------------------------------------------ */

typedef struct leaf {
    uint64_t number;
    assay_id place;
} leaf;

static int compare_leaves(const void *a, const void *b) {
    const leaf *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* The leaves in order of Id, which is that of the columns. An Id that comes twice would make the columns ambiguous. */
static assay_status sort_leaves(as_anchor *a, leaf *leaves, size_t n) {
    bool is_sorted = true;
    for (size_t i = 1; i < n && is_sorted; i++) is_sorted = leaves[i - 1].number < leaves[i].number;
    if (is_sorted) return ASSAY_OK;
    qsort(leaves, n, sizeof *leaves, compare_leaves);
    for (size_t i = 1; i < n; i++) {
        if (leaves[i - 1].number != leaves[i].number) continue;
        a->has_said = true;
        return as_fail(a->reader->error, ASSAY_E_FORMAT, as_place_file(a->path), "location-id",
                       "anchor.xml: two locations have the Id %llu: which column is whose?",
                       (unsigned long long)leaves[i].number);
    }
    return ASSAY_OK;
}

/* Inner nodes in the order of the document, then the leaves. new_ids: for each place its location. */
static assay_status add_locations(as_anchor *a, leaf *leaves, assay_id *new_ids, assay_id *columns) {
    size_t n = a->places.count, n_leaves = 0;
    assay_id next = 0;
    for (size_t i = 0; i < n; i++) {
        const as_anchor_place *place = place_at(a, (assay_id)i);
        if (place->location.leaf)
            leaves[n_leaves++] = (leaf){place->number, (assay_id)i};
        else
            new_ids[i] = next++;
    }
    AS_TRY(sort_leaves(a, leaves, n_leaves));
    for (size_t i = 0; i < n_leaves; i++) {
        new_ids[leaves[i].place] = next + (assay_id)i;
        columns[i] = next + (assay_id)i;
    }
    a->cube->n_locations = (uint32_t)n_leaves;
    a->cube->columns = columns;
    as_location *locations = as_vec_reserve(&a->ds->locations, n) ? a->ds->locations.data : NULL;
    if (!locations) return as_reader_memory(a->reader);
    for (size_t i = 0; i < n; i++) {
        as_location *location = &locations[new_ids[i]];
        *location = place_at(a, (assay_id)i)->location;
        if (location->parent != ASSAY_NONE) location->parent = new_ids[location->parent];
    }
    a->ds->locations.count = n;
    return ASSAY_OK;
}

assay_status as_anchor_system_finish(as_anchor *a) {
    size_t n = a->places.count, n_leaves = 0;
    if (!n) return ASSAY_OK;
    for (size_t i = 0; i < n; i++) n_leaves += place_at(a, (assay_id)i)->location.leaf;
    assay_id *columns = as_arena_array(&a->ds->arena, n_leaves, sizeof *columns);
    leaf *leaves = malloc((n_leaves + 1) * sizeof *leaves);
    assay_id *new_ids = malloc(n * sizeof *new_ids);
    assay_status status =
        columns && leaves && new_ids ? add_locations(a, leaves, new_ids, columns) : as_reader_memory(a->reader);
    for (size_t i = 0; i < a->ds->attributes.count && status == ASSAY_OK; i++) {
        as_attribute *attribute = &AS_AT(as_attribute, &a->ds->attributes, i);
        if (attribute->owner == AS_OWNER_LOCATION) attribute->owner_id = new_ids[attribute->owner_id];
    }
    free(new_ids);
    free(leaves);
    return status;
}
