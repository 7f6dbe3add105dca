/* The document: its version, its tables, and where the tree is. */
#include "formats/hpctoolkit/experiment.h"

enum { MAX_DEPTH = 1 << 24 }; /* of elements inside each other: there must be an end, and memory for paths */

/* ---- ids --------------------------------------------------------------------------------------------------------- */

assay_id as_hpc_ids_get(const as_hpc_ids *ids, uint32_t column, uint64_t number) {
    if (number < ids->near.count) return ((const assay_id *)ids->near.data)[number * ids->n_columns + column];
    if (number < ids->limit) return ASSAY_NONE;
    uint32_t id = as_map_get(&ids->far, number * ids->n_columns + column);
    return id == AS_MAP_NONE ? ASSAY_NONE : id;
}

bool as_hpc_ids_put(as_hpc_ids *ids, uint32_t column, uint64_t number, assay_id id) {
    uint64_t key = number * ids->n_columns + column;
    if (number >= ids->limit) {
        bool is_known = as_map_get(&ids->far, key) != AS_MAP_NONE;
        return (is_known || as_vec_append(&ids->far_keys, &key, 1)) && as_map_put(&ids->far, key, id);
    }
    if (number >= ids->near.count) {
        size_t extra = (size_t)number + 1 - ids->near.count;
        if (!as_vec_reserve(&ids->near, extra)) return false;
        memset((char *)ids->near.data + ids->near.count * ids->near.size, 0xff,
               extra * ids->near.size); /* ASSAY_NONE */
        ids->near.count += extra;
    }
    ((assay_id *)ids->near.data)[key] = id;
    return true;
}

static void ids_init(as_hpc_ids *ids, uint32_t n_columns, uint64_t limit, as_budget *budget) {
    as_vec_init(&ids->near, n_columns * sizeof(assay_id), budget);
    as_map_init(&ids->far, budget);
    as_vec_init(&ids->far_keys, sizeof(uint64_t), budget);
    ids->limit = limit;
    ids->n_columns = n_columns;
}

static void ids_free(as_hpc_ids *ids) {
    as_vec_free(&ids->near);
    as_map_free(&ids->far);
    as_vec_free(&ids->far_keys);
}

as_hpc_ref as_hpc_ref_parse(as_hpc_experiment *experiment, const as_xml_attribute *attribute, bool *fine) {
    if (!attribute) return AS_HPC_NO_REF;
    uint64_t number = 0;
    size_t i = 0;
    for (; i < attribute->value_size && i < 18; i++) {
        unsigned digit = (unsigned)(unsigned char)attribute->value[i] - '0';
        if (digit > 9) break;
        number = number * 10 + digit;
    }
    if (i && i == attribute->value_size) return number;
    as_str text = as_ds_intern(experiment->ds, attribute->value, attribute->value_size);
    if (text == AS_NO_STR) *fine = false;
    return text == AS_NO_STR ? AS_HPC_NO_REF : AS_HPC_LITERAL + text;
}

as_str as_hpc_name_of(as_hpc_experiment *experiment, const as_hpc_names *names, as_hpc_ref ref, bool *fine) {
    char text[AS_NUMBER_SIZE];
    if (ref == AS_HPC_NO_REF) return AS_NO_STR;
    uint32_t row = as_map_get(&names->index, ref);
    if (row != AS_MAP_NONE) return AS_AT(as_hpc_name, &names->rows, row).name;
    if (ref >= AS_HPC_LITERAL) return (as_str)(ref - AS_HPC_LITERAL);
    as_str name = as_ds_intern(experiment->ds, text, as_uint_format(ref, text));
    if (name == AS_NO_STR) *fine = false;
    return name;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* The next child of an element; *is_there is false behind the last, when the element has ended. Each child is to be
 * read to its end. */
static assay_status next_child(as_hpc_experiment *experiment, bool *is_there) {
    as_xml_event event;
    AS_TRY(as_xml_scan_next(&experiment->scan, &event));
    *is_there = event == AS_XML_START;
    return ASSAY_OK;
}

static assay_status text_of(as_hpc_experiment *experiment, const char *key, as_str *out) {
    const as_xml_attribute *attribute = as_xml_scan_attribute(&experiment->scan, key);
    *out = AS_NO_STR;
    if (!attribute) return ASSAY_OK;
    *out = as_ds_intern(experiment->ds, attribute->value, attribute->value_size);
    return *out == AS_NO_STR ? as_reader_memory(experiment->reader) : ASSAY_OK;
}

/* A whole number that an attribute must be, if it is there. */
static assay_status number_of(as_hpc_experiment *experiment, const char *key, as_number *out, bool *is_there) {
    const as_xml_attribute *attribute = as_xml_scan_attribute(&experiment->scan, key);
    *is_there = false;
    if (!attribute) return ASSAY_OK;
    if (!as_number_parse(attribute->value, attribute->value_size, out))
        return AS_HPC_BROKEN(experiment, attribute->at, "not-a-number", "%s is no number: '%.*s'", key,
                             (int)(attribute->value_size < 80 ? attribute->value_size : 80), attribute->value);
    *is_there = true;
    return ASSAY_OK;
}

/* ---- tables of names --------------------------------------------------------------------------------------------- */

static assay_status read_name(as_hpc_experiment *experiment, as_hpc_names *names) {
    bool fine = true, has_class;
    as_number class = {0};
    as_hpc_name row;
    as_hpc_ref ref = as_hpc_ref_parse(experiment, as_xml_scan_attribute(&experiment->scan, "i"), &fine);
    AS_TRY(text_of(experiment, "n", &row.name));
    AS_TRY(number_of(experiment, "f", &class, &has_class));
    if (ref == AS_HPC_NO_REF || row.name == AS_NO_STR) {
        if (!fine) return as_reader_memory(experiment->reader);
        return AS_HPC_BROKEN(experiment, experiment->scan.element, "no-name", "<%.*s> needs i and n",
                             (int)experiment->scan.name_size, experiment->scan.name);
    }
    row.class = has_class && class.kind == AS_INT ? class.i : 0;
    fine = as_vec_append(&names->rows, &row, 1) && as_map_put(&names->index, ref, (uint32_t)names->rows.count - 1);
    return fine ? ASSAY_OK : as_reader_memory(experiment->reader);
}

/* Copies of sources are below src/ of the database. */
static assay_status note_source(as_hpc_experiment *experiment) {
    const as_xml_attribute *name = as_xml_scan_attribute(&experiment->scan, "n");
    bool is_copy = name && ((name->value_size > 6 && memcmp(name->value, "./src/", 6) == 0) ||
                            (name->value_size > 4 && memcmp(name->value, "src/", 4) == 0));
    if (!is_copy) return ASSAY_OK;
    bool fine =
        as_add_attribute(experiment->ds, AS_OWNER_DATASET, 0, "source", as_cell_text_n(name->value, name->value_size));
    return fine ? ASSAY_OK : as_reader_memory(experiment->reader);
}

/* Of IdentifierNameTable: what the kinds of tuple elements are called. */
static assay_status read_identifier(as_hpc_experiment *experiment) {
    enum { MOST = 1 << 14 };
    as_number id;
    bool has_id;
    as_str name, none = AS_NO_STR;
    AS_TRY(number_of(experiment, "i", &id, &has_id));
    AS_TRY(text_of(experiment, "n", &name));
    if (!has_id || id.kind != AS_INT || id.i < 0 || id.i >= MOST || name == AS_NO_STR) return ASSAY_OK;
    while (experiment->kinds.count <= (size_t)id.i) {
        if (!as_vec_append(&experiment->kinds, &none, 1)) return as_reader_memory(experiment->reader);
    }
    AS_AT(as_str, &experiment->kinds, id.i) = name;
    return ASSAY_OK;
}

static assay_status read_trace_row(as_hpc_experiment *experiment) {
    as_number number;
    bool is_there;
    AS_TRY(number_of(experiment, "u", &number, &is_there));
    if (is_there && as_number_real(number) > 0) experiment->ticks_per_second = as_number_real(number);
    AS_TRY(number_of(experiment, "db-min-time", &number, &is_there));
    if (is_there && number.kind != AS_REAL && (number.kind == AS_UINT || number.i > 0)) {
        experiment->has_start = true;
        experiment->start = number.u;
    }
    return ASSAY_OK;
}

/* ---- tables of metrics ------------------------------------------------------------------------------------------- */

static assay_status read_formula(as_hpc_experiment *experiment, as_hpc_xml_metric *metric) {
    const as_xml_attribute *type = as_xml_scan_attribute(&experiment->scan, "t");
    char first = type && type->value_size ? *type->value : 'f';
    as_str *formula = first == 'c' || first == 'C' ? &metric->combine : &metric->view;
    return *formula == AS_NO_STR ? text_of(experiment, "frm", formula) : ASSAY_OK;
}

static assay_status read_metric(as_hpc_experiment *experiment, as_vec *metrics) {
    as_hpc_xml_metric metric = {.combine = AS_NO_STR, .view = AS_NO_STR, .at = experiment->scan.element};
    const struct {
        const char *key;
        as_str *to;
    } texts[] = {{"i", &metric.id},           {"n", &metric.name},
                 {"md", &metric.description}, {"partner", &metric.partner},
                 {"v", &metric.value_type},   {"t", &metric.type},
                 {"show", &metric.show},      {"show-percent", &metric.show_percent},
                 {"fmt", &metric.format},     {"db-id", &metric.column},
                 {"o", &metric.order}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) AS_TRY(text_of(experiment, texts[i].key, texts[i].to));
    bool is_whole = metric.id != AS_NO_STR && metric.name != AS_NO_STR;
    if (!is_whole) AS_TRY(AS_HPC_BROKEN(experiment, metric.at, "no-name", "a metric needs i and n"));
    for (bool is_there = true;;) {
        AS_TRY(next_child(experiment, &is_there));
        if (!is_there) break;
        if (AS_XML_IS(&experiment->scan, "MetricFormula")) AS_TRY(read_formula(experiment, &metric));
        AS_TRY(as_xml_scan_skip(&experiment->scan));
    }
    return !is_whole || as_vec_append(metrics, &metric, 1) ? ASSAY_OK : as_reader_memory(experiment->reader);
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

typedef enum table_kind {
    MODULES,
    FILES,
    PROCEDURES,
    IDENTIFIERS,
    METRICS,
    DATABASE_METRICS,
    TRACES,
    NO_TABLE
} table_kind;

static table_kind table_of(const as_xml_scan *scan) {
    static const char *const names[] = {"LoadModuleTable", "FileTable",     "ProcedureTable", "IdentifierNameTable",
                                        "MetricTable",     "MetricDBTable", "TraceDBTable"};
    size_t i = 0;
    while (i < NO_TABLE && !as_xml_is(scan, names[i], strlen(names[i]))) i++;
    return (table_kind)i;
}

static assay_status read_row(as_hpc_experiment *experiment, table_kind table) {
    if (table == METRICS) return read_metric(experiment, &experiment->metrics);
    if (table == DATABASE_METRICS) return read_metric(experiment, &experiment->database_metrics);
    if (table == MODULES) AS_TRY(read_name(experiment, &experiment->modules));
    if (table == PROCEDURES) AS_TRY(read_name(experiment, &experiment->procedures));
    if (table == IDENTIFIERS) AS_TRY(read_identifier(experiment));
    if (table == TRACES) AS_TRY(read_trace_row(experiment));
    if (table == FILES) {
        AS_TRY(read_name(experiment, &experiment->files));
        AS_TRY(note_source(experiment));
    }
    return as_xml_scan_skip(&experiment->scan);
}

static assay_status read_tables(as_hpc_experiment *experiment) {
    for (bool is_there = true;;) {
        AS_TRY(next_child(experiment, &is_there));
        if (!is_there) return ASSAY_OK;
        table_kind table = table_of(&experiment->scan);
        if (table == NO_TABLE) {
            AS_TRY(as_xml_scan_skip(&experiment->scan));
            continue;
        }
        for (bool is_row = true;;) {
            AS_TRY(next_child(experiment, &is_row));
            if (!is_row) break;
            AS_TRY(read_row(experiment, table));
        }
    }
}

/* SecCallPathProfile or SecFlatProfile: its tables, then its tree. */
static assay_status read_section(as_hpc_experiment *experiment) {
    for (bool is_there = true;;) {
        AS_TRY(next_child(experiment, &is_there));
        if (!is_there) return ASSAY_OK;
        if (AS_XML_IS(&experiment->scan, "SecHeader"))
            AS_TRY(read_tables(experiment));
        else if (AS_XML_IS(&experiment->scan, "SecCallPathProfileData") ||
                 AS_XML_IS(&experiment->scan, "SecFlatProfileData"))
            AS_TRY(as_hpc_read_tree(experiment));
        else
            AS_TRY(as_xml_scan_skip(&experiment->scan));
    }
}

static assay_status note_title(as_hpc_experiment *experiment) {
    const as_xml_attribute *title = as_xml_scan_attribute(&experiment->scan, "n");
    bool fine =
        !title || !title->value_size ||
        as_add_attribute(experiment->ds, AS_OWNER_DATASET, 0, "title", as_cell_text_n(title->value, title->value_size));
    return fine ? ASSAY_OK : as_reader_memory(experiment->reader);
}

static assay_status read_sections(as_hpc_experiment *experiment) {
    bool has_title = false, has_section = false;
    for (bool is_there = true;;) {
        AS_TRY(next_child(experiment, &is_there));
        if (!is_there) break;
        bool is_flat = AS_XML_IS(&experiment->scan, "SecFlatProfile");
        bool is_section = is_flat || AS_XML_IS(&experiment->scan, "SecCallPathProfile");
        if (!has_title && (is_section || AS_XML_IS(&experiment->scan, "Header"))) {
            AS_TRY(note_title(experiment));
            has_title = true;
        }
        if (is_section && has_section)
            AS_HPC_WARN(experiment, experiment->scan.element, "second-section",
                        "only the first profile of the document is read");
        if (!is_section || has_section) {
            AS_TRY(as_xml_scan_skip(&experiment->scan));
            continue;
        }
        has_section = true;
        experiment->is_flat = is_flat;
        AS_TRY(read_section(experiment));
    }
    if (has_section) return ASSAY_OK;
    return as_fail(experiment->reader->error, ASSAY_E_FORMAT, as_place_file(experiment->path), "no-profile",
                   "the document has no profile in it");
}

/* "4.0" or "2.2"; another minor version is read as well, with a note. */
static assay_status check_version(as_hpc_experiment *experiment) {
    const as_xml_attribute *version = as_xml_scan_attribute(&experiment->scan, "version");
    as_place place = as_xml_scan_place(&experiment->scan, version ? version->at : experiment->scan.element);
    assay_error *error = experiment->reader->error;
    if (!version) return as_fail(error, ASSAY_E_FORMAT, place, "unknown-version", "the document says no version");
    AS_TRY(text_of(experiment, "version", &experiment->version));
    const char *text = as_ds_text(experiment->ds, experiment->version);
    bool is_2x = text[0] >= '0' && text[0] <= '2' && (!text[1] || text[1] == '.');
    bool is_4 = text[0] == '4' && (!text[1] || text[1] == '.');
    if (is_2x != experiment->is_2x && (is_2x || is_4))
        return as_fail(error, ASSAY_E_FORMAT, place, "unknown-version", "version %s is of the format %s", text,
                       is_2x ? "hpctoolkit-xml" : "hpctoolkit-2021");
    if (!is_2x && !is_4)
        return as_fail(error, ASSAY_E_FORMAT, place, "unknown-version",
                       "version %s is not known: assay reads experiment.xml 2.0 to 2.2 and 4.0", text);
    bool is_known = is_4 ? strcmp(text, "4.0") == 0
                         : strcmp(text, "2.0") == 0 || strcmp(text, "2.1") == 0 || strcmp(text, "2.2") == 0;
    if (!is_known)
        as_add_problem(experiment->ds, AS_NOTE, place, "unknown-version", "version %s is read as if it were %s", text,
                       is_4 ? "4.0" : "2.2");
    experiment->ds->format_version = experiment->version;
    return ASSAY_OK;
}

static assay_status read_document(as_hpc_experiment *experiment, const char *data, size_t size) {
    as_reader *reader = experiment->reader;
    as_xml_event event;
    uint32_t max_depth = reader->max_depth > MAX_DEPTH ? reader->max_depth : MAX_DEPTH;
    AS_TRY(as_xml_scan_open(&experiment->scan, experiment->path, data, size, max_depth, &experiment->ds->budget,
                            reader->error));
    AS_TRY(as_xml_scan_next(&experiment->scan, &event));
    if (!AS_XML_IS(&experiment->scan, "HPCToolkitExperiment"))
        return as_fail(reader->error, ASSAY_E_FORMAT, as_xml_scan_place(&experiment->scan, experiment->scan.element),
                       "root-element", "the root element is not HPCToolkitExperiment");
    AS_TRY(check_version(experiment));
    AS_TRY(read_sections(experiment));
    return as_xml_scan_next(&experiment->scan, &event); /* nothing must follow */
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void names_init(as_hpc_names *names, as_budget *budget) {
    as_map_init(&names->index, budget);
    as_vec_init(&names->rows, sizeof(as_hpc_name), budget);
}

static void names_free(as_hpc_names *names) {
    as_map_free(&names->index);
    as_vec_free(&names->rows);
}

assay_status as_hpc_experiment_read(as_hpc_experiment *experiment, as_reader *reader, const char *path,
                                    const char *data, size_t size, bool is_2x) {
    enum {
        SHORTEST_ELEMENT = 10,
        USUAL_ELEMENT = 60
    }; /* <S i="1"/>; one with its place, of which every second makes a text */
    as_dataset *ds = reader->dataset;
    as_budget *budget = &ds->budget;
    memset(experiment, 0, sizeof *experiment);
    experiment->reader = reader;
    experiment->ds = ds;
    experiment->path = path;
    experiment->is_2x = is_2x;
    experiment->name_room = as_hpc_name_room_of(size);
    names_init(&experiment->modules, budget);
    names_init(&experiment->files, budget);
    names_init(&experiment->procedures, budget);
    as_vec_init(&experiment->kinds, sizeof(as_str), budget);
    as_vec_init(&experiment->metrics, sizeof(as_hpc_xml_metric), budget);
    as_vec_init(&experiment->database_metrics, sizeof(as_hpc_xml_metric), budget);
    as_tree_init(&experiment->tree, ds);
    ids_init(&experiment->contexts, 2, size / SHORTEST_ELEMENT + 2, budget);
    ids_init(&experiment->first_regions, 1, size / SHORTEST_ELEMENT + 2, budget);
    as_vec_init(&experiment->values, sizeof(as_hpc_value), budget);
    as_vec_init(&experiment->context_attributes, sizeof(as_attribute), budget);
    as_hpc_tree_init(experiment);
    as_strings_expect(&ds->strings, size / USUAL_ELEMENT / 2);
    AS_TRY(as_hpc_add_root(experiment));
    return read_document(experiment, data, size);
}

void as_hpc_experiment_free(as_hpc_experiment *experiment) {
    as_xml_scan_close(&experiment->scan);
    names_free(&experiment->modules);
    names_free(&experiment->files);
    names_free(&experiment->procedures);
    as_vec_free(&experiment->kinds);
    as_vec_free(&experiment->metrics);
    as_vec_free(&experiment->database_metrics);
    as_tree_free(&experiment->tree);
    ids_free(&experiment->contexts);
    ids_free(&experiment->first_regions);
    as_vec_free(&experiment->values);
    as_vec_free(&experiment->context_attributes);
    as_hpc_tree_free(experiment);
}

assay_status as_hpc_experiment_finish(as_hpc_experiment *experiment, const assay_id **new_ids) {
    bool fine = as_tree_finish(&experiment->tree, new_ids);
    for (size_t i = 0; i < experiment->context_attributes.count && fine; i++) {
        as_attribute attribute = AS_AT(as_attribute, &experiment->context_attributes, i);
        attribute.owner_id = (*new_ids)[attribute.owner_id];
        fine = as_vec_append(&experiment->ds->attributes, &attribute, 1);
    }
    return fine ? ASSAY_OK : as_reader_memory(experiment->reader);
}

assay_status as_hpc_note_sources(as_reader *reader, const char *directory) {
    as_dataset *ds = reader->dataset;
    if (!as_hpc_has(directory, "src")) return ASSAY_OK;
    ds->source_root = as_ds_intern_text(ds, *directory ? directory : ".");
    return ds->source_root == AS_NO_STR ? as_reader_memory(reader) : ASSAY_OK;
}
