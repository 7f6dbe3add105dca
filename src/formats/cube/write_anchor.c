/* anchor.xml in the grammar of CubeLib's own reader, which is stricter than XML: attributes in an order, parts in an
 * order, <url></url> instead of <url/>. Two passes make it, one to know its size: it may be as large as memory. */
#include <stdlib.h>

#include "formats/cube/write.h"

/* Where the attributes of an owner go: to each part of an element its own. */
typedef struct putting {
    const as_cube_file *file;
    as_output *out;
    const char *wanted; /* a key, or the beginning of one */
    as_owner owner;
    assay_id id;
    const as_map *types; /* of a context's parameters; NULL: look for them */
} putting;

static bool has_prefix(const char *key, const char *prefix) { return strncmp(key, prefix, strlen(prefix)) == 0; }

static bool is_one_of(const char *key, const char *const *list) {
    while (*list && strcmp(*list, key) != 0) list++;
    return *list != NULL;
}

/* The attributes of tags that CubeLib knows; "PART:" before those of a part of the element. */
static bool goes_on_tag(as_owner owner, const char *name) {
    static const char *const of_dataset[] = {"metrics:title", "program:title", "system:title", NULL},
                             *const of_metric[] = {"viztype", "convertible", "cacheable", "cubepl:rowwise", NULL},
                             *const of_context[] = {"mod", NULL};
    switch (owner) {
    case AS_OWNER_DATASET: return is_one_of(name, of_dataset);
    case AS_OWNER_METRIC: return is_one_of(name, of_metric);
    case AS_OWNER_CONTEXT: return is_one_of(name, of_context);
    default: return false;
    }
}

/* Keys that have a place of their own in the document (cube.h); what is left becomes <attr>, or a parameter of a
 * cnode. */
static bool has_own_place(as_owner owner, const char *key) {
    static const char
        *const of_dataset[] = {AS_CUBE_MIRROR, AS_CUBE_TOPOLOGIES, NULL},
               *const of_metric[] = {AS_CUBE_TYPE, "url", "val", AS_CUBE_CUBEPL, AS_CUBE_CUBEPL_INIT, NULL},
               *const of_region[] = {"paradigm", "url", "descr", NULL}, *const of_location[] = {"descr", "rank", NULL};
    if (*key == '@' && goes_on_tag(owner, key + 1)) return true;
    switch (owner) {
    case AS_OWNER_DATASET: return is_one_of(key, of_dataset) || has_prefix(key, AS_CUBE_FILE);
    case AS_OWNER_METRIC: return is_one_of(key, of_metric) || has_prefix(key, AS_CUBE_CUBEPL_AGGR);
    case AS_OWNER_REGION: return is_one_of(key, of_region);
    case AS_OWNER_LOCATION: return is_one_of(key, of_location);
    case AS_OWNER_CONTEXT: return *key != '@' && !has_prefix(key, AS_CUBE_ATTR); /* parameters */
    default: return false;
    }
}

/* "@NAME" on the tag of the element; "@PART:NAME" where wanted is "@PART:". */
static void put_tag_attribute(void *user, const char *key, as_cell value) {
    putting *p = user;
    char number[AS_NUMBER_SIZE];
    size_t prefix = strlen(p->wanted);
    if (!has_prefix(key, p->wanted) || !goes_on_tag(p->owner, key + 1) || strchr(key + prefix, ':')) return;
    as_xml_put_attribute(p->out, key + prefix, as_cube_cell_text(value, number));
}

static void put_attr(void *user, const char *key, as_cell value) {
    putting *p = user;
    if (has_own_place(p->owner, key)) return;
    if (p->file->is_of_set && as_cube_is_of_reading(p->owner, key)) return;
    as_cube_put_attr(p->out, has_prefix(key, AS_CUBE_ATTR) ? key + strlen(AS_CUBE_ATTR) : key, value);
}

static void each(const as_cube_file *file, as_output *out, as_owner owner, assay_id id, const char *wanted,
                 as_cube_visit *visit) {
    putting p = {.file = file, .out = out, .wanted = wanted, .owner = owner, .id = id};
    as_cube_each_attribute(file->source, owner, id, visit, &p);
}

void as_cube_put_tag(const as_cube_file *file, as_output *out, as_owner owner, assay_id id, const char *part) {
    char wanted[32] = "@";
    size_t size = strlen(part);
    if (size > sizeof wanted - 3) return;
    memcpy(wanted + 1, part, size);
    if (size) wanted[size + 1] = ':';
    each(file, out, owner, id, wanted, put_tag_attribute);
}

void as_cube_put_rest(const as_cube_file *file, as_output *out, as_owner owner, assay_id id) {
    each(file, out, owner, id, "", put_attr);
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static void put_mirror(void *user, const char *key, as_cell value) {
    putting *p = user;
    char number[AS_NUMBER_SIZE];
    if (strcmp(key, AS_CUBE_MIRROR) == 0) as_cube_put_element(p->out, "murl", as_cube_cell_text(value, number));
}

/* Those CubeLib knows; any other would be refused. */
static const char *version_of(const as_dataset *ds) {
    static const char *const known[] = {"4.0", "4.1", "4.2", "4.3", "4.4", "4.5", "4.7", NULL};
    const char *version = as_ds_text(ds, ds->format_version);
    bool is_ours = version && as_cube_is_ours(ds);
    bool has_accelerator = false;
    for (assay_id i = 0; i < ds->locations.count && !has_accelerator; i++) has_accelerator = as_location_is_gpu(ds, i);
    return is_ours && is_one_of(version, known) ? version : has_accelerator ? "4.7" : "4.4";
}

static void put_beginning(const as_cube_file *file, as_output *out) {
    as_output_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube");
    as_xml_put_attribute(out, "version", version_of(file->ds));
    as_cube_put_tag(file, out, AS_OWNER_DATASET, 0, "");
    as_output_text(out, ">\n");
    each(file, out, AS_OWNER_DATASET, 0, "", put_attr);
    if (file->run != ASSAY_NONE) each(file, out, AS_OWNER_RUN, file->run, "", put_attr);
    as_output_text(out, "<doc");
    as_cube_put_tag(file, out, AS_OWNER_DATASET, 0, "doc");
    as_output_text(out, ">\n<mirrors>\n");
    each(file, out, AS_OWNER_DATASET, 0, "", put_mirror);
    as_output_text(out, "</mirrors>\n</doc>\n");
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static void put_id(as_output *out, bool kept, const char *source_id, size_t number) {
    if (kept)
        as_output_text(out, source_id);
    else
        as_output_int(out, (int64_t)number);
}

void as_cube_write_metric_id(const as_cube_source *source, assay_id metric, as_output *out) {
    put_id(out, source->keeps_metric_ids, as_ds_text(source->ds, as_ds_metric(source->ds, metric)->source_id),
           source->metric_numbers[metric]);
}

/* A word of the file's own stays as long as it stands for the kind that the metric has. */
static const char *type_of(const as_cube_file *file, assay_id id) {
    const as_metric *metric = as_ds_metric(file->ds, id);
    const char *type = as_cube_attribute(file->source, AS_OWNER_METRIC, id, AS_CUBE_TYPE);
    bool is_simple = type && strcmp(type, "SIMPLE") == 0;
    bool is_unknown = type && !is_simple && !as_cube_is_derived(type, &(as_derived_kind){0});
    if (metric->kind == AS_KIND_INCLUSIVE) return is_simple ? type : "INCLUSIVE";
    if (metric->kind == AS_KIND_EXCLUSIVE) return is_unknown ? type : "EXCLUSIVE";
    if (type) return type;
    bool has_expression = as_cube_attribute(file->source, AS_OWNER_METRIC, id, AS_CUBE_CUBEPL) != NULL;
    return metric->kind == AS_KIND_DERIVED && has_expression ? "POSTDERIVED" : "EXCLUSIVE";
}

/* The metric's own word for its type where it says what the values are; else ours. */
static void put_dtype(const as_cube_file *file, as_output *out, assay_id id) {
    const char *text = as_ds_text(file->ds, as_ds_metric(file->ds, id)->dtype);
    as_value_type actual = file->slices[id].view.type, said;
    bool is_known = text && as_value_type_parse(text, strlen(text), &said);
    bool is_ours = as_cube_is_ours(file->ds);
    bool has_values = actual.size > 0;
    as_output_text(out, "<dtype");
    as_cube_put_tag(file, out, AS_OWNER_METRIC, id, "dtype");
    as_output_char(out, '>');
    if (is_known ? !has_values || (said.dtype == actual.dtype && said.size == actual.size) : text && *text && is_ours)
        as_xml_put_text(out, text, strlen(text));
    else {
        as_output_text(out, has_values ? as_dtype_name(actual.dtype) : "DOUBLE");
        uint32_t n = actual.dtype == AS_DTYPE_HISTOGRAM ? actual.n_parts - 2 : actual.n_parts;
        if (has_values && (actual.dtype == AS_DTYPE_NDOUBLES || actual.dtype == AS_DTYPE_HISTOGRAM))
            as_output_printf(out, "(%u)", n);
    }
    as_output_text(out, "</dtype>\n");
}

static void put_aggregation(void *user, const char *key, as_cell value) {
    putting *p = user;
    if (!has_prefix(key, AS_CUBE_CUBEPL_AGGR) || value.type != AS_CELL_TEXT) return;
    as_output_text(p->out, "<cubeplaggr");
    as_xml_put_attribute(p->out, "cubeplaggrtype", key + strlen(AS_CUBE_CUBEPL_AGGR));
    as_output_char(p->out, '>');
    as_xml_put_text(p->out, value.text, value.size);
    as_output_text(p->out, "</cubeplaggr>\n");
}

/* An element of a metric, with attributes of its own. */
static void put_part(const as_cube_file *file, as_output *out, assay_id metric, const char *name, const char *text) {
    as_output_char(out, '<');
    as_output_text(out, name);
    as_cube_put_tag(file, out, AS_OWNER_METRIC, metric, name);
    as_output_char(out, '>');
    if (text) as_xml_put_text(out, text, strlen(text));
    as_output_printf(out, "</%s>\n", name);
}

/* One that is an attribute here, where there is one. */
static void put_kept(const as_cube_file *file, as_output *out, assay_id metric, const char *name) {
    const char *text = as_cube_attribute(file->source, AS_OWNER_METRIC, metric, name);
    if (text) put_part(file, out, metric, name, text);
}

static void put_metric(const as_cube_file *file, as_output *out, assay_id id) {
    const as_dataset *ds = file->ds;
    const as_metric *metric = as_ds_metric(ds, id);
    const char *name = as_ds_text(ds, metric->name), *display = as_ds_text(ds, metric->display_name);
    as_output_text(out, "<metric id=\"");
    as_cube_write_metric_id(file->source, id, out);
    as_output_char(out, '"');
    as_xml_put_attribute(out, "type", type_of(file, id));
    as_cube_put_tag(file, out, AS_OWNER_METRIC, id, "");
    as_output_text(out, ">\n");
    put_part(file, out, id, "disp_name", display || as_cube_is_ours(ds) ? display : name);
    put_part(file, out, id, "uniq_name", name);
    put_dtype(file, out, id);
    put_part(file, out, id, "uom", as_ds_text(ds, metric->unit));
    put_kept(file, out, id, "val");
    put_part(file, out, id, "url", as_cube_attribute(file->source, AS_OWNER_METRIC, id, "url"));
    put_part(file, out, id, "descr", as_ds_text(ds, metric->description));
    put_kept(file, out, id, AS_CUBE_CUBEPL);
    put_kept(file, out, id, AS_CUBE_CUBEPL_INIT);
    each(file, out, AS_OWNER_METRIC, id, "", put_aggregation);
    as_cube_put_rest(file, out, AS_OWNER_METRIC, id);
}

static void put_metrics(const as_cube_file *file, as_output *out) {
    const as_cube_source *source = file->source;
    as_output_text(out, "<metrics");
    as_cube_put_tag(file, out, AS_OWNER_DATASET, 0, "metrics");
    as_output_text(out, ">\n");
    for (assay_id id = source->child[file->ds->metrics.count]; id != ASSAY_NONE;) {
        put_metric(file, out, id);
        if (source->child[id] != ASSAY_NONE) {
            id = source->child[id];
            continue;
        }
        as_output_text(out, "</metric>\n");
        while (source->sibling[id] == ASSAY_NONE && as_ds_metric(file->ds, id)->parent != ASSAY_NONE) {
            id = as_ds_metric(file->ds, id)->parent;
            as_output_text(out, "</metric>\n");
        }
        id = source->sibling[id];
    }
    as_output_text(out, "</metrics>\n");
}

/* ---- program ----------------------------------------------------------------------------------------------------- */

static void put_line(as_output *out, const char *name, int64_t line) {
    char number[AS_NUMBER_SIZE];
    as_int_format(line, number);
    as_xml_put_attribute(out, name, number);
}

/* like: the region that says all but the name; ASSAY_NONE: none does. */
static void put_region(const as_cube_file *file, as_output *out, size_t number, assay_id like, as_str name) {
    const as_dataset *ds = file->ds;
    as_region region = AS_REGION_INIT;
    if (like != ASSAY_NONE) region = *as_ds_region(ds, like);
    const char *file_name = as_ds_text(ds, region.file), *mangled = as_ds_text(ds, region.mangled),
               *role = as_ds_text(ds, region.kind);
    bool is_own = number < ds->regions.count;
    as_output_text(out, "<region id=\"");
    put_id(out, is_own && file->source->keeps_region_ids, as_ds_text(ds, region.source_id), number);
    as_output_char(out, '"');
    as_xml_put_attribute(out, "mod", file_name ? file_name : "");
    put_line(out, "begin", region.line_begin);
    put_line(out, "end", region.line_end);
    if (like != ASSAY_NONE) as_cube_put_tag(file, out, AS_OWNER_REGION, like, "");
    as_output_text(out, ">\n");
    as_cube_put_element(out, "name", as_ds_text(ds, name));
    if (mangled && is_own) as_cube_put_element(out, "mangled_name", mangled);
    const char *paradigm = NULL, *url = NULL, *descr = NULL;
    if (like != ASSAY_NONE) {
        paradigm = as_cube_attribute(file->source, AS_OWNER_REGION, like, "paradigm");
        url = as_cube_attribute(file->source, AS_OWNER_REGION, like, "url");
        descr = as_cube_attribute(file->source, AS_OWNER_REGION, like, "descr");
    }
    if (paradigm) as_cube_put_element(out, "paradigm", paradigm);
    if (role) as_cube_put_element(out, "role", role);
    as_cube_put_element(out, "url", url);
    as_cube_put_element(out, "descr", descr);
    if (like != ASSAY_NONE) as_cube_put_rest(file, out, AS_OWNER_REGION, like);
    as_output_text(out, "</region>\n");
}

/* What "partype:KEY" says of a parameter. */
typedef struct parameter_type {
    const char *key, *type; /* type NULL: nothing so far */
} parameter_type;

static void take_type(void *user, const char *key, as_cell value) {
    parameter_type *wanted = user;
    if (!wanted->type && value.type == AS_CELL_TEXT && has_prefix(key, AS_CUBE_PARTYPE) &&
        strcmp(key + strlen(AS_CUBE_PARTYPE), wanted->key) == 0)
        wanted->type = value.text;
}

enum { MANY_ATTRIBUTES = 32 };

/* Where the types of parameters stand: from "partype:KEY" to the attribute, the first of each. For contexts with so
 * many attributes that each parameter should not look through all. False: it has few of them, or memory is out. */
static bool index_types(const as_cube_source *source, assay_id context, as_map *types) {
    const as_cube_owned *owned = &source->owned[AS_OWNER_CONTEXT];
    if (owned->starts[context + 1] - owned->starts[context] < MANY_ATTRIBUTES) return false;
    for (uint32_t i = owned->starts[context]; i < owned->starts[context + 1]; i++) {
        const as_attribute *attribute = as_ds_attribute(source->ds, owned->list[i]);
        if (attribute->value.type != AS_CELL_TEXT ||
            !has_prefix(as_ds_text(source->ds, attribute->key), AS_CUBE_PARTYPE))
            continue;
        if (as_map_get(types, attribute->key) == AS_MAP_NONE && !as_map_put(types, attribute->key, owned->list[i]))
            return false;
    }
    return true;
}

static const char *find_type(const putting *p, const char *key) {
    const as_dataset *ds = p->file->ds;
    as_vec name;
    as_vec_init(&name, 1, NULL);
    bool named = p->types && as_vec_text(&name, AS_CUBE_PARTYPE) && as_vec_text(&name, key);
    as_str id = named ? as_find(&ds->strings, name.data, name.count) : AS_NO_STR;
    as_vec_free(&name);
    if (named) {
        uint32_t at = id == AS_NO_STR ? AS_MAP_NONE : as_map_get(p->types, id);
        return at == AS_MAP_NONE ? NULL : as_ds_attribute(ds, at)->value.text;
    }
    parameter_type said = {.key = key};
    as_cube_each_attribute(p->file->source, AS_OWNER_CONTEXT, p->id, take_type, &said);
    return said.type;
}

static void put_parameter(void *user, const char *key, as_cell value) {
    putting *p = user;
    char number[AS_NUMBER_SIZE];
    if (*key == '@' || has_prefix(key, AS_CUBE_ATTR) || has_prefix(key, AS_CUBE_PARTYPE)) return;
    if (has_prefix(key, AS_CUBE_PARAMETER)) key += strlen(AS_CUBE_PARAMETER);
    const char *type = find_type(p, key);
    as_output_text(p->out, "<parameter");
    as_xml_put_attribute(p->out, "partype", type ? type : "string");
    as_xml_put_attribute(p->out, "parkey", key);
    as_xml_put_attribute(p->out, "parvalue", as_cube_cell_text(value, number));
    as_output_text(p->out, "/>\n");
}

static void put_context(const as_cube_file *file, as_output *out, assay_id id) {
    const as_dataset *ds = file->ds;
    const as_cube_source *source = file->source;
    const as_context *context = as_ds_context(ds, id);
    assay_id region = source->region_of ? source->region_of[id] : context->region;
    bool keeps_region_id = region < ds->regions.count && source->keeps_region_ids;
    as_output_text(out, "<cnode id=\"");
    char digits[AS_NUMBER_SIZE];
    put_id(out, source->keeps_context_ids, as_context_source_id(ds, id, digits), id);
    as_output_char(out, '"');
    if (context->line >= 0) put_line(out, "line", context->line);
    bool has_attributes = source->owned[AS_OWNER_CONTEXT].starts != NULL;
    if (has_attributes) as_cube_put_tag(file, out, AS_OWNER_CONTEXT, id, "");
    as_output_text(out, " calleeId=\"");
    put_id(out, keeps_region_id, keeps_region_id ? as_ds_text(ds, as_ds_region(ds, region)->source_id) : NULL, region);
    as_output_text(out, "\">\n");
    if (!has_attributes) return;
    as_map types;
    as_map_init(&types, NULL);
    putting p = {.file = file, .out = out, .owner = AS_OWNER_CONTEXT, .id = id};
    if (index_types(source, id, &types)) p.types = &types;
    as_cube_each_attribute(source, AS_OWNER_CONTEXT, id, put_parameter, &p);
    as_map_free(&types);
    as_cube_put_rest(file, out, AS_OWNER_CONTEXT, id);
}

static void put_program(const as_cube_file *file, as_output *out) {
    const as_dataset *ds = file->ds;
    size_t n_regions = ds->regions.count, n_contexts = ds->contexts.count;
    as_output_text(out, "<program");
    as_cube_put_tag(file, out, AS_OWNER_DATASET, 0, "program");
    as_output_text(out, ">\n");
    for (size_t i = 0; i < n_regions; i++) put_region(file, out, i, (assay_id)i, as_ds_region(ds, (assay_id)i)->name);
    for (size_t i = 0; i < file->source->more_regions.count; i++) {
        const as_cube_region *region = &AS_AT(as_cube_region, &file->source->more_regions, i);
        put_region(file, out, n_regions + i, region->like, region->name);
    }
    for (size_t i = 0; i < n_contexts; i++) { /* the next context says how many end before it */
        put_context(file, out, (assay_id)i);
        uint32_t depth = as_ds_context(ds, (assay_id)i)->depth,
                 next = i + 1 < n_contexts ? as_ds_context(ds, (assay_id)i + 1)->depth : 0;
        for (; next <= depth; next++) as_output_text(out, "</cnode>\n");
    }
    as_output_text(out, "</program>\n");
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

bool as_cube_write_anchor(const as_cube_file *file, as_output *out) {
    put_beginning(file, out);
    put_metrics(file, out);
    put_program(file, out);
    if (!as_cube_write_system(file, out)) return false;
    as_output_text(out, "</cube>\n");
    return true;
}
