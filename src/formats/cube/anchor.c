/* anchor.xml: the metrics, the program (regions and the call tree) and the system, in one pass. Contexts need no
 * sorting: the document's order is pre-order. Nothing here recurses, so nesting costs memory only. */
#include "formats/cube/anchor.h"

#include <stdio.h>
#include <strings.h>

#include "io/gzip.h"

enum {
    MAX_DEPTH = 1 << 16, /* of open elements; a caller may allow more. The path of a context is as long as its depth */
    PROGRESS_ELEMENTS = 1 << 16, /* between two words of progress */
};

typedef struct field_name {
    const char *name;
    as_anchor_field field;
} field_name;

static as_anchor_field find_field(const field_name *fields, const char *name) {
    while (fields->name && strcmp(fields->name, name) != 0) fields++;
    return fields->field;
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static const field_name metric_fields[] = {
    {"disp_name", AS_FIELD_DISPLAY_NAME},
    {"uniq_name", AS_FIELD_UNIQUE_NAME},
    {"dtype", AS_FIELD_DTYPE},
    {"uom", AS_FIELD_UNIT},
    {"descr", AS_FIELD_DESCRIPTION},
    {"url", AS_FIELD_OTHER},
    {"val", AS_FIELD_OTHER},
    {AS_CUBE_CUBEPL, AS_FIELD_OTHER},
    {AS_CUBE_CUBEPL_INIT, AS_FIELD_OTHER},
    {"cubeplaggr", AS_FIELD_AGGREGATION},
    {NULL, AS_FIELD_NONE},
};

static as_metric *metric_at(as_anchor *a) { return &AS_AT(as_metric, &a->ds->metrics, a->metric); }

/* No type and unknown ones are EXCLUSIVE, and SIMPLE ones are numbered and summed as INCLUSIVE ones: CubeLib reads them
 * so. */
static assay_status set_kind(as_anchor *a, const as_xml *xml, const char *type, as_cube_metric *numbers) {
    as_metric *metric = metric_at(a);
    bool is_simple = type && strcmp(type, "SIMPLE") == 0;
    numbers->is_wide = is_simple || (type && strcmp(type, "INCLUSIVE") == 0);
    metric->kind = numbers->is_wide ? AS_KIND_INCLUSIVE : AS_KIND_EXCLUSIVE;
    if (!type || strcmp(type, "EXCLUSIVE") == 0 || (numbers->is_wide && !is_simple)) return ASSAY_OK;
    if (as_cube_is_derived(type, &(as_derived_kind){0}))
        metric->kind = AS_KIND_DERIVED;
    else if (!is_simple)
        as_anchor_warn(a, xml, "metric-type", "metric %s has the unknown type '%s'; its values are taken as exclusive",
                       as_ds_text(a->ds, metric->source_id), type);
    return as_anchor_note(a, AS_OWNER_METRIC, a->metric, "", AS_CUBE_TYPE, type, strlen(type));
}

static assay_status start_metric(as_anchor *a, const as_xml *xml, const char *const *attributes) {
    const char *id = as_anchor_find(attributes, "id");
    uint64_t number;
    if (!as_anchor_number(id, &number) || number > UINT32_MAX)
        return as_anchor_broken(a, xml, "metric-id", "a metric whose id '%s' is no number", id ? id : "");
    if (as_map_get(&a->metric_numbers, number) != AS_MAP_NONE)
        return as_anchor_broken(a, xml, "metric-id", "two metrics have the id %llu: whose are its values?",
                                (unsigned long long)number);
    as_metric metric = AS_METRIC_INIT;
    as_cube_metric numbers = {.number = (uint32_t)number};
    metric.source_id = as_ds_intern_text(a->ds, id);
    metric.parent = a->metric;
    a->metric = numbers.id = metric.source_id == AS_NO_STR ? ASSAY_NONE : as_add_metric(a->ds, &metric);
    if (a->metric == ASSAY_NONE || !as_map_put(&a->metric_numbers, number, a->metric))
        return as_reader_memory(a->reader);
    AS_TRY(set_kind(a, xml, as_anchor_find(attributes, "type"), &numbers));
    if (!as_vec_append(a->metrics, &numbers, 1)) return as_reader_memory(a->reader);
    return as_anchor_note_others(a, AS_OWNER_METRIC, a->metric, NULL, attributes, "id type");
}

static assay_status start_in_metrics(as_anchor *a, const as_xml *xml, const char *name, const char *const *attributes) {
    if (strcmp(name, "metric") == 0) return start_metric(a, xml, attributes);
    if (a->metric == ASSAY_NONE) return as_anchor_capture_start(a, AS_OWNER_DATASET, 0, AS_CUBE_XML, name, attributes);
    if (strcmp(name, "attr") == 0) return as_anchor_note_attr(a, AS_OWNER_METRIC, a->metric, attributes);
    as_anchor_field field = find_field(metric_fields, name);
    if (field == AS_FIELD_NONE)
        return as_anchor_capture_start(a, AS_OWNER_METRIC, a->metric, AS_CUBE_XML, name, attributes);
    if (field == AS_FIELD_AGGREGATION) {
        const char *type = as_anchor_find(attributes, "cubeplaggrtype");
        return as_anchor_field_other(a, AS_CUBE_CUBEPL_AGGR, type ? type : "plus");
    }
    AS_TRY(as_anchor_note_others(a, AS_OWNER_METRIC, a->metric, name, attributes, ""));
    if (field == AS_FIELD_OTHER) return as_anchor_field_other(a, "", name);
    as_anchor_field_start(a, field);
    return ASSAY_OK;
}

/* The name of a type without blanks around it. */
static assay_status set_dtype(as_anchor *a) {
    const char *text = a->text.data, *end = text + a->text.count;
    while (text < end && (unsigned char)*text <= ' ') text++;
    while (text < end && (unsigned char)end[-1] <= ' ') end--;
    metric_at(a)->dtype = as_ds_intern(a->ds, text, (size_t)(end - text));
    return metric_at(a)->dtype == AS_NO_STR ? as_reader_memory(a->reader) : ASSAY_OK;
}

/* Everything else finds a metric by its name: there must be one. */
static assay_status end_metric(as_anchor *a, const as_xml *xml) {
    as_metric *metric = metric_at(a);
    a->metric = metric->parent;
    if (metric->name != AS_NO_STR) return ASSAY_OK;
    metric->name = metric->display_name != AS_NO_STR ? metric->display_name : metric->source_id;
    as_anchor_warn(a, xml, "metric-name", "metric %s has no uniq_name; '%s' is taken",
                   as_ds_text(a->ds, metric->source_id), as_ds_text(a->ds, metric->name));
    return ASSAY_OK;
}

/* ---- regions and contexts ---------------------------------------------------------------------------------------- */

static const field_name region_fields[] = {
    {"name", AS_FIELD_NAME}, {"mangled_name", AS_FIELD_MANGLED}, {"role", AS_FIELD_ROLE}, {"paradigm", AS_FIELD_OTHER},
    {"url", AS_FIELD_OTHER}, {"descr", AS_FIELD_OTHER},          {NULL, AS_FIELD_NONE},
};

static assay_status start_region(as_anchor *a, const as_xml *xml, const char *const *attributes) {
    const char *id = as_anchor_find(attributes, "id"), *file = as_anchor_find(attributes, "mod");
    uint64_t number;
    if (a->region != ASSAY_NONE || a->context != ASSAY_NONE)
        return as_anchor_broken(a, xml, "program", "a region inside a %s",
                                a->region == ASSAY_NONE ? "cnode" : "region");
    if (!as_anchor_number(id, &number))
        return as_anchor_broken(a, xml, "region-id", "a region whose id '%s' is no number", id ? id : "");
    if (as_map_get(&a->region_numbers, number) != AS_MAP_NONE)
        return as_anchor_broken(a, xml, "region-id", "two regions have the id %llu", (unsigned long long)number);
    as_region region = AS_REGION_INIT;
    region.source_id = as_ds_intern_text(a->ds, id);
    region.name = as_ds_intern_text(a->ds, "");
    if (file && *file) region.file = as_ds_intern_text(a->ds, file);
    region.line_begin = as_anchor_line(as_anchor_find(attributes, "begin"));
    region.line_end = as_anchor_line(as_anchor_find(attributes, "end"));
    a->region = region.source_id == AS_NO_STR || region.name == AS_NO_STR ? ASSAY_NONE : as_add_region(a->ds, &region);
    if (a->region == ASSAY_NONE || !as_map_put(&a->region_numbers, number, a->region))
        return as_reader_memory(a->reader);
    return as_anchor_note_others(a, AS_OWNER_REGION, a->region, NULL, attributes, "id mod begin end");
}

static assay_status start_in_region(as_anchor *a, const char *name, const char *const *attributes) {
    as_anchor_field field = find_field(region_fields, name);
    if (field == AS_FIELD_OTHER) return as_anchor_field_other(a, "", name);
    if (field != AS_FIELD_NONE) {
        as_anchor_field_start(a, field);
        return ASSAY_OK;
    }
    if (strcmp(name, "attr") == 0) return as_anchor_note_attr(a, AS_OWNER_REGION, a->region, attributes);
    return as_anchor_capture_start(a, AS_OWNER_REGION, a->region, AS_CUBE_XML, name, attributes);
}

static as_context *context_at(as_anchor *a, assay_id id) { return &AS_AT(as_context, &a->ds->contexts, id); }

static void set_region(as_anchor *a, assay_id context, assay_id region) {
    context_at(a, context)->region = region;
    context_at(a, context)->name = AS_AT(as_region, &a->ds->regions, region).name;
}

/* The ids of contexts mean nothing to the data, but somebody may look for one. */
static bool note_context_id(as_anchor *a, as_str id) {
    if (id >= a->context_ids.count) {
        size_t more = id + 1 - a->context_ids.count;
        if (!as_vec_reserve(&a->context_ids, more)) return false;
        memset((char *)a->context_ids.data + a->context_ids.count, 0, more);
        a->context_ids.count += more;
    }
    a->n_duplicate_contexts += AS_AT(uint8_t, &a->context_ids, id);
    AS_AT(uint8_t, &a->context_ids, id) = 1;
    return true;
}

static assay_status start_context(as_anchor *a, const as_xml *xml, const char *const *attributes) {
    const char *id = as_anchor_find(attributes, "id"), *callee = as_anchor_find(attributes, "calleeId");
    uint64_t number;
    if (a->region != ASSAY_NONE) return as_anchor_broken(a, xml, "program", "a cnode inside a region");
    if (!as_anchor_number(callee, &number))
        return as_anchor_broken(a, xml, "unknown-region", "cnode %s: its calleeId '%s' is no number", id ? id : "",
                                callee ? callee : "");
    size_t n = a->ds->contexts.count;
    as_context *context = n < ASSAY_NONE - 1 ? as_vec_push(&a->ds->contexts) : NULL;
    if (!context) return as_reader_memory(a->reader);
    *context = AS_CONTEXT_INIT;
    context->parent = a->context;
    context->depth = a->context == ASSAY_NONE ? 0 : context_at(a, a->context)->depth + 1;
    context->is_callpath = true;
    context->callpath_order = (uint32_t)n;
    context->line = as_anchor_line(as_anchor_find(attributes, "line"));
    a->n_unnumbered_contexts += !as_anchor_number(id, &(uint64_t){0});
    if (id) {
        context->source_id = as_ds_intern_text(a->ds, id);
        if (context->source_id == AS_NO_STR || !note_context_id(a, context->source_id))
            return as_reader_memory(a->reader);
    }
    a->context = (assay_id)n;
    uint32_t region = as_map_get(&a->region_numbers, number);
    if (region != AS_MAP_NONE)
        set_region(a, a->context, region);
    else { /* regions may come later */
        as_place place = as_xml_place(xml);
        as_anchor_pending pending = {a->context, place.line, place.column, number};
        if (!as_vec_append(&a->pending, &pending, 1)) return as_reader_memory(a->reader);
    }
    return as_anchor_note_others(a, AS_OWNER_CONTEXT, a->context, NULL, attributes, "id calleeId line");
}

/* Whether the key of a parameter would be mistaken for one of ours. */
static bool is_reserved(const char *key) {
    return key[0] == '@' || strncmp(key, AS_CUBE_ATTR, strlen(AS_CUBE_ATTR)) == 0 ||
           strncmp(key, AS_CUBE_PARTYPE, strlen(AS_CUBE_PARTYPE)) == 0 ||
           strncmp(key, AS_CUBE_PARAMETER, strlen(AS_CUBE_PARAMETER)) == 0;
}

static assay_status note_parameter(as_anchor *a, const char *const *attributes) {
    const char *type = as_anchor_find(attributes, "partype"), *key = as_anchor_find(attributes, "parkey"),
               *value = as_anchor_find(attributes, "parvalue");
    if (!key) key = "";
    if (!value) value = "";
    AS_TRY(as_anchor_note(a, AS_OWNER_CONTEXT, a->context, is_reserved(key) ? AS_CUBE_PARAMETER : "", key, value,
                          strlen(value)));
    if (!type || strcmp(type, "string") == 0) return ASSAY_OK;
    return as_anchor_note(a, AS_OWNER_CONTEXT, a->context, AS_CUBE_PARTYPE, key, type, strlen(type));
}

static assay_status start_in_program(as_anchor *a, const as_xml *xml, const char *name, const char *const *attributes) {
    if (strcmp(name, "cnode") == 0) return start_context(a, xml, attributes);
    if (strcmp(name, "region") == 0) return start_region(a, xml, attributes);
    if (a->region != ASSAY_NONE) return start_in_region(a, name, attributes);
    if (a->context == ASSAY_NONE) return as_anchor_capture_start(a, AS_OWNER_DATASET, 0, AS_CUBE_XML, name, attributes);
    if (strcmp(name, "parameter") == 0) return note_parameter(a, attributes);
    if (strcmp(name, "attr") == 0) return as_anchor_note_attr(a, AS_OWNER_CONTEXT, a->context, attributes);
    return as_anchor_capture_start(a, AS_OWNER_CONTEXT, a->context, AS_CUBE_ATTR AS_CUBE_XML, name, attributes);
}

static void end_in_program(as_anchor *a, const char *name) {
    if (a->context != ASSAY_NONE && strcmp(name, "cnode") == 0) {
        as_context *context = context_at(a, a->context);
        context->subtree = (uint32_t)(a->ds->contexts.count - a->context);
        a->context = context->parent;
    } else if (strcmp(name, "region") == 0)
        a->region = ASSAY_NONE;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static assay_status tell_progress(as_anchor *a, const as_xml *xml) {
    a->n_elements = 0;
    const as_reader *reader = a->reader;
    double fraction = (double)as_xml_offset(xml) / (double)(a->size + 1);
    if (!reader->progress || reader->progress(reader->user, "reading", fraction)) return ASSAY_OK;
    return as_fail(reader->error, ASSAY_E_CANCELLED, as_place_file(a->path), "cancelled", "cancelled");
}

static assay_status start_document(as_anchor *a, const as_xml *xml, const char *name, const char *const *attributes) {
    const char *version = as_anchor_find(attributes, "version");
    if (strcmp(name, "cube") != 0) {
        a->has_said = true;
        return as_fail(a->reader->error, ASSAY_E_FORMAT, as_xml_place(xml), "not-cube",
                       "anchor.xml: not a description of a Cube file: the document is <%s> instead of <cube>", name);
    }
    if (version) a->ds->format_version = as_ds_intern_text(a->ds, version);
    return as_anchor_note_others(a, AS_OWNER_DATASET, 0, NULL, attributes, "version");
}

static assay_status start_section(as_anchor *a, const char *name, const char *const *attributes) {
    static const struct {
        const char *name;
        as_anchor_section section;
    } sections[] = {{"doc", AS_ANCHOR_DOC},
                    {"metrics", AS_ANCHOR_METRICS},
                    {"program", AS_ANCHOR_PROGRAM},
                    {"system", AS_ANCHOR_SYSTEM}};
    if (strcmp(name, "attr") == 0) return as_anchor_note_attr(a, AS_OWNER_DATASET, 0, attributes);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (strcmp(name, sections[i].name) != 0) continue;
        a->section = sections[i].section;
        return as_anchor_note_others(a, AS_OWNER_DATASET, 0, name, attributes, "");
    }
    return as_anchor_capture_start(a, AS_OWNER_DATASET, 0, AS_CUBE_XML, name, attributes);
}

static assay_status start_in_doc(as_anchor *a, const char *name, const char *const *attributes) {
    if (strcmp(name, "mirrors") == 0) return ASSAY_OK;
    if (strcmp(name, "murl") != 0)
        return as_anchor_capture_start(a, AS_OWNER_DATASET, 0, AS_CUBE_XML, name, attributes);
    as_anchor_field_start(a, AS_FIELD_MIRROR);
    return ASSAY_OK;
}

static assay_status on_start(void *user, const as_xml *xml, const char *name, const char *const *attributes) {
    as_anchor *a = user;
    if (++a->n_elements == PROGRESS_ELEMENTS) AS_TRY(tell_progress(a, xml));
    if (a->capture.depth) return as_anchor_capture_element(a, name, attributes);
    if (a->field) { /* only its text counts */
        a->field_depth++;
        return ASSAY_OK;
    }
    if (xml->depth == 1) return start_document(a, xml, name, attributes);
    switch (a->section) {
    case AS_ANCHOR_DOC: return start_in_doc(a, name, attributes);
    case AS_ANCHOR_METRICS: return start_in_metrics(a, xml, name, attributes);
    case AS_ANCHOR_PROGRAM: return start_in_program(a, xml, name, attributes);
    case AS_ANCHOR_SYSTEM: return as_anchor_system_start(a, xml, name, attributes);
    default: return start_section(a, name, attributes);
    }
}

static assay_status on_text(void *user, const as_xml *xml, const char *data, size_t size) {
    (void)xml;
    as_anchor *a = user;
    if (a->capture.depth) return as_anchor_capture_text(a, data, size);
    if (!a->field) return ASSAY_OK;
    return as_vec_append(&a->text, data, size) ? ASSAY_OK : as_reader_memory(a->reader);
}

/* An attribute of what the field is in. */
static assay_status end_other(as_anchor *a) {
    as_owner owner = a->section == AS_ANCHOR_METRICS   ? AS_OWNER_METRIC
                     : a->section == AS_ANCHOR_PROGRAM ? AS_OWNER_REGION
                                                       : AS_OWNER_LOCATION;
    assay_id id = owner == AS_OWNER_METRIC ? a->metric : owner == AS_OWNER_REGION ? a->region : a->place;
    if (!a->text.count) return ASSAY_OK;
    return as_anchor_note(a, owner, id, "", as_ds_text(a->ds, a->field_key), a->text.data, a->text.count);
}

static assay_status end_field(as_anchor *a) {
    as_region *region = a->region == ASSAY_NONE ? NULL : &AS_AT(as_region, &a->ds->regions, a->region);
    switch (a->field) {
    case AS_FIELD_MIRROR:
        return as_anchor_note(a, AS_OWNER_DATASET, 0, "", AS_CUBE_MIRROR, a->text.count ? a->text.data : "",
                              a->text.count);
    case AS_FIELD_DISPLAY_NAME: return as_anchor_field_string(a, &metric_at(a)->display_name);
    case AS_FIELD_UNIQUE_NAME: return as_anchor_field_string(a, &metric_at(a)->name);
    case AS_FIELD_DTYPE: return a->text.count ? set_dtype(a) : ASSAY_OK;
    case AS_FIELD_UNIT: return as_anchor_field_string(a, &metric_at(a)->unit);
    case AS_FIELD_DESCRIPTION: return as_anchor_field_string(a, &metric_at(a)->description);
    case AS_FIELD_NAME: return as_anchor_field_string(a, &region->name);
    case AS_FIELD_MANGLED: return as_anchor_field_string(a, &region->mangled);
    case AS_FIELD_ROLE: return as_anchor_field_string(a, &region->kind);
    case AS_FIELD_PLACE_NAME:
    case AS_FIELD_PLACE_RANK:
    case AS_FIELD_PLACE_KIND: return as_anchor_system_field(a);
    default: return end_other(a);
    }
}

static assay_status on_end(void *user, const as_xml *xml, const char *name) {
    as_anchor *a = user;
    if (a->capture.depth) return as_anchor_capture_end(a, name);
    if (a->field) {
        if (a->field_depth) {
            a->field_depth--;
            return ASSAY_OK;
        }
        assay_status status = end_field(a);
        a->field = AS_FIELD_NONE;
        return status;
    }
    if (xml->depth == 2)
        a->section = AS_ANCHOR_TOP;
    else if (a->section == AS_ANCHOR_PROGRAM)
        end_in_program(a, name);
    else if (a->section == AS_ANCHOR_SYSTEM)
        as_anchor_system_end(a, name);
    else if (a->section == AS_ANCHOR_METRICS && strcmp(name, "metric") == 0)
        return end_metric(a, xml);
    return ASSAY_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Contexts that came before their region. */
static assay_status resolve_regions(as_anchor *a) {
    for (size_t i = 0; i < a->pending.count; i++) {
        const as_anchor_pending *pending = &AS_AT(as_anchor_pending, &a->pending, i);
        uint32_t region = as_map_get(&a->region_numbers, pending->region);
        if (region != AS_MAP_NONE) {
            set_region(a, pending->context, region);
            continue;
        }
        const char *id = as_ds_text(a->ds, context_at(a, pending->context)->source_id);
        a->has_said = true;
        /* There is no tree without it, so nothing to go on with. */
        return as_fail(a->reader->error, ASSAY_E_FORMAT, as_place_line(a->path, pending->line, pending->column),
                       "unknown-region", "anchor.xml: cnode %s calls region %llu, which is not there", id ? id : "",
                       (unsigned long long)pending->region);
    }
    return ASSAY_OK;
}

static assay_status finish(as_anchor *a) {
    AS_TRY(resolve_regions(a));
    AS_TRY(as_anchor_system_finish(a));
    a->cube->n_contexts = (uint32_t)a->ds->contexts.count;
    if (a->n_duplicate_contexts)
        as_warn(a->reader, as_place_file(a->path), "cnode-id",
                "anchor.xml: %u cnodes have an id that another one has; values are found by place in the tree, so none "
                "are lost",
                a->n_duplicate_contexts);
    if (a->n_unnumbered_contexts)
        as_warn(
            a->reader, as_place_file(a->path), "cnode-id",
            "anchor.xml: %u cnode%s no number as an id; values are found by place in the tree, so none are lost, but "
            "CubeLib does not read the file",
            a->n_unnumbered_contexts, a->n_unnumbered_contexts == 1 ? " has" : "s have");
    return ASSAY_OK;
}

/* What others say of the document, in our words: the path is that of the archive. */
static assay_status name_anchor(assay_error *error) {
    assay_error said = *error;
    as_place place = {.path = said.path, .offset = said.offset, .line = said.line, .column = said.column};
    return as_fail(error, ASSAY_E_FORMAT, place, said.rule, "anchor.xml: %s", said.message);
}

static assay_status read_document(as_anchor *a, const char *data, size_t size) {
    static const as_xml_handler handler = {on_start, on_end, on_text};
    as_reader *reader = a->reader;
    uint32_t max_depth = reader->max_depth > MAX_DEPTH ? reader->max_depth : MAX_DEPTH;
    a->size = size;
    AS_TRY(as_xml_read(a->path, data, size, &handler, a, max_depth, &a->ds->budget, reader->error));
    return finish(a);
}

static assay_status quote_and_read(as_anchor *a, const char *data, size_t size) {
    as_vec quoted;
    as_vec_init(&quoted, 1, &a->ds->budget);
    assay_status status = as_anchor_quote(a, data, size, &quoted);
    if (status == ASSAY_OK)
        status = quoted.count ? read_document(a, quoted.data, quoted.count) : read_document(a, data, size);
    as_vec_free(&quoted);
    return status;
}

static assay_status unpack_and_read(as_anchor *a, const as_tar_member *anchor) {
    if (!as_gzip_looks_like(anchor->data, anchor->size)) return quote_and_read(a, anchor->data, anchor->size);
    as_vec document;
    as_vec_init(&document, 1, &a->ds->budget);
    assay_status status = as_gunzip(a->path, anchor->data, anchor->size, &document, a->reader->error);
    if (status == ASSAY_OK) status = quote_and_read(a, document.data, document.count);
    as_vec_free(&document);
    return status;
}

static assay_status read_anchor(as_anchor *a, const as_tar_member *anchor) {
    as_reader *reader = a->reader;
    assay_error unwanted = {0}, *wanted = reader->error;
    if (!wanted) reader->error = &unwanted;
    assay_status status = unpack_and_read(a, anchor);
    if (status == ASSAY_E_FORMAT && !a->has_said) status = name_anchor(reader->error);
    reader->error = wanted;
    return status;
}

assay_status as_cube_read_anchor(as_reader *reader, const as_tar_member *anchor, as_cube *cube, as_vec *metrics) {
    as_budget *budget = &reader->dataset->budget;
    as_anchor a = {.reader = reader,
                   .ds = reader->dataset,
                   .cube = cube,
                   .metrics = metrics,
                   .path = cube->path,
                   .metric = ASSAY_NONE,
                   .region = ASSAY_NONE,
                   .context = ASSAY_NONE,
                   .place = ASSAY_NONE};
    as_vec_init(&a.text, 1, budget);
    as_vec_init(&a.key, 1, budget);
    as_vec_init(&a.capture.text, 1, budget);
    as_vec_init(&a.pending, sizeof(as_anchor_pending), budget);
    as_vec_init(&a.places, sizeof(as_anchor_place), budget);
    as_vec_init(&a.context_ids, 1, budget);
    as_map_init(&a.metric_numbers, budget);
    as_map_init(&a.region_numbers, budget);
    assay_status status = read_anchor(&a, anchor);
    as_map_free(&a.region_numbers);
    as_map_free(&a.metric_numbers);
    as_vec_free(&a.context_ids);
    as_vec_free(&a.places);
    as_vec_free(&a.pending);
    as_vec_free(&a.capture.text);
    as_vec_free(&a.key);
    as_vec_free(&a.text);
    return status;
}
