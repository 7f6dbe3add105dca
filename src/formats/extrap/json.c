/* extrap-json: one document, in the newer layout (measurements is an object, json_new.c) or the older one
 * (measurements is a list that refers to other lists by ids, json_old.c).
 *
 * The newer layout is read in one pass where the parameters come first, as they mostly do. Otherwise, and in the
 * older layout, a first pass checks the JSON and notes where each member stands, and a second one reads them in the
 * order in which they can be understood. */
#include "formats/extrap/json.h"

#include "formats/extrap/bid.h"

static const char *const MEMBERS[AS_DOC_MEMBERS] = {"parameters", "measurements", "callpaths", "metrics",
                                                    "coordinates"};

assay_status as_doc_enter(as_extrap_doc *doc, int member) {
    as_cursor *c = &doc->cursor;
    const as_doc_member *place = &doc->members[member];
    as_json_restart(&c->json, place->text, place->size, 1);
    c->told = (size_t)(place->text - c->reader->input->data);
    return as_cursor_next(c);
}

/* ---- the top level ----------------------------------------------------------------------------------------------- */

static assay_status add_attribute(as_cursor *c, const char *key) {
    as_cell cell;
    AS_TRY(as_cursor_cell(c, &cell));
    return as_add_attribute(c->reader->dataset, AS_OWNER_DATASET, 0, key, cell) ? ASSAY_OK
                                                                                : as_reader_memory(c->reader);
}

/* A key that has no meaning here is kept as an attribute. */
static assay_status read_attribute(as_extrap_doc *doc) {
    as_cursor *c = &doc->cursor;
    as_dataset *ds = c->reader->dataset;
    const char *key;
    size_t size;
    AS_TRY(as_cursor_name(c, "a key", &key, &size));
    as_str name = as_ds_intern(ds, key, size);
    if (name == AS_NO_STR) return as_reader_memory(c->reader);
    if (as_map_get(&doc->keys, name) != AS_MAP_NONE) return as_cursor_duplicate(c);
    if (!as_map_put(&doc->keys, name, 1)) return as_reader_memory(c->reader);
    AS_TRY(as_cursor_next(c));
    return add_attribute(c, as_ds_text(ds, name));
}

/* Names are read at once. Anything else is left for later. */
static assay_status read_parameters(as_extrap_doc *doc) {
    as_cursor *c = &doc->cursor;
    uint32_t depth = c->json.depth;
    AS_TRY(as_cursor_next(c));
    if (c->json.type == AS_JSON_OBJECT || c->json.type == AS_JSON_OBJECT_END) return as_cursor_leave(c, depth);
    return as_json_new_parameters(c);
}

static assay_status read_member(as_extrap_doc *doc, bool *is_read) {
    as_cursor *c = &doc->cursor;
    int member = 0;
    while (member < AS_DOC_MEMBERS && !as_json_is(&c->json, MEMBERS[member])) member++;
    if (member == AS_DOC_MEMBERS) return read_attribute(doc);
    as_doc_member *place = &doc->members[member];
    if (place->text) return as_cursor_duplicate(c);
    AS_TRY(as_cursor_next(c));
    place->text = c->json.token;
    if (member == AS_DOC_MEASUREMENTS && c->json.type == AS_JSON_OBJECT && as_ds_parameters(c->reader->dataset)) {
        *is_read = true;
        AS_TRY(as_json_new_measurements(c));
    } else if (member == AS_DOC_PARAMETERS && c->json.type == AS_JSON_ARRAY) {
        AS_TRY(read_parameters(doc));
    } else if (c->json.type == AS_JSON_OBJECT || c->json.type == AS_JSON_ARRAY) {
        AS_TRY(as_cursor_leave(c, c->json.depth));
    }
    place->size = (size_t)(c->json.token + c->json.token_size - place->text);
    return ASSAY_OK;
}

static assay_status read_top_level(as_extrap_doc *doc, bool *is_read) {
    as_cursor *c = &doc->cursor;
    AS_TRY(as_cursor_next(c));
    AS_TRY(as_cursor_expect(c, AS_JSON_OBJECT, "the document"));
    for (;;) {
        AS_TRY(as_cursor_next(c));
        if (c->json.type == AS_JSON_OBJECT_END) break;
        assay_status status = read_member(doc, is_read);
        if (status == AS_STEP_OVER) status = as_cursor_resync(c, 1);
        AS_TRY(status);
    }
    return as_cursor_next(c); /* nothing more in the file */
}

/* ---- the layouts ------------------------------------------------------------------------------------------------- */

static assay_status require(as_extrap_doc *doc, int member) {
    if (doc->members[member].text) return ASSAY_OK;
    return as_cursor_broken_at(&doc->cursor, doc->cursor.begin, "missing-key", "the document has no key \"%s\"",
                               MEMBERS[member]);
}

static assay_status read_new(as_extrap_doc *doc, bool is_read) {
    as_cursor *c = &doc->cursor;
    AS_TRY(require(doc, AS_DOC_PARAMETERS));
    AS_TRY(require(doc, AS_DOC_MEASUREMENTS));
    if (!is_read) {
        if (!as_ds_parameters(c->reader->dataset)) { /* no list, or one without names */
            AS_TRY(as_doc_enter(doc, AS_DOC_PARAMETERS));
            AS_TRY(as_cursor_expect(c, AS_JSON_ARRAY, "parameters"));
            AS_TRY(as_cursor_next(c));
            AS_TRY(as_json_new_parameters(c));
            AS_TRY(as_cursor_broken_at(c, doc->members[AS_DOC_PARAMETERS].text, "no-parameters",
                                       "the list of parameters is empty"));
        }
        AS_TRY(as_doc_enter(doc, AS_DOC_MEASUREMENTS));
        AS_TRY(as_cursor_expect(c, AS_JSON_OBJECT, "measurements"));
        AS_TRY(as_json_new_measurements(c));
    }
    for (int member = AS_DOC_METRICS; member < AS_DOC_MEMBERS; member++) { /* without a meaning in this layout */
        if (!doc->members[member].text) continue;
        AS_TRY(as_doc_enter(doc, member));
        AS_TRY(add_attribute(c, MEMBERS[member]));
    }
    return ASSAY_OK;
}

static assay_status read_document(as_extrap_doc *doc) {
    bool is_read = false;
    AS_TRY(read_top_level(doc, &is_read));
    const as_doc_member *measurements = &doc->members[AS_DOC_MEASUREMENTS];
    bool is_old = doc->members[AS_DOC_CALLPATHS].text || (measurements->text && *measurements->text == '[');
    if (!is_old) return read_new(doc, is_read);
    for (int member = 0; member < AS_DOC_MEMBERS; member++) AS_TRY(require(doc, member));
    return as_json_old_read(doc);
}

/* What belongs to metrics and contexts, now that these have their ids. */
static assay_status add_attributes(as_extrap_doc *doc) {
    as_cursor *c = &doc->cursor;
    for (size_t i = 0; i < doc->attributes.count; i++) {
        const as_doc_attribute *attribute = &AS_AT(as_doc_attribute, &doc->attributes, i);
        assay_id id = attribute->owner == AS_OWNER_CONTEXT ? c->new_ids[attribute->id] : attribute->id;
        if (!as_add_attribute(c->reader->dataset, attribute->owner, id, as_ds_text(c->reader->dataset, attribute->key),
                              attribute->value))
            return as_reader_memory(c->reader);
    }
    return ASSAY_OK;
}

static assay_status read_json(as_reader *reader) {
    as_extrap_doc doc = {0};
    as_map_init(&doc.keys, &reader->dataset->budget);
    as_vec_init(&doc.attributes, sizeof(as_doc_attribute), &reader->dataset->budget);
    assay_status status = as_cursor_begin(&doc.cursor, reader, false) ? read_document(&doc) : as_reader_memory(reader);
    if (status == ASSAY_OK || status == AS_STEP_OVER) status = as_cursor_finish(&doc.cursor);
    if (status == ASSAY_OK) status = add_attributes(&doc);
    as_map_free(&doc.keys);
    as_vec_free(&doc.attributes);
    as_cursor_end(&doc.cursor);
    return status;
}

/* The older layout may have much before its measurements. */
static int bid_json(const as_probe *probe) {
    static const as_bid_key any[] = {{"measurements", "{[", true}, {"parameters", "[", false},
                                     {"callpaths", "[", false},    {"metrics", "[", false},
                                     {"coordinates", "[", false},  {0}};
    static const as_bid_key old[] = {{"callpaths", "[", true},
                                     {"parameters", "[", false},
                                     {"metrics", "[", false},
                                     {"coordinates", "[", false},
                                     {0}};
    int bits = as_bid_json(probe, any, false);
    return bits || probe->size <= probe->head_size ? bits : as_bid_json(probe, old, false);
}

const struct assay_format as_format_extrap_json = {
    .name = "extrap-json",
    .title = "Extra-P JSON",
    .extensions = ".json",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_RECORDS | AS_HOLDS_ATTRIBUTES,
    .bid = bid_json,
    .read = read_json,
    .write = as_extrap_json_write,
    .losses = as_extrap_json_losses,
};
