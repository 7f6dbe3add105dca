/* Reading a .extra-p file: what is in experiment.json except models. */
#include "formats/extrap/experiment.h"

#include <stdio.h>
#include <stdlib.h>

/* Newest version whose rules are known. */
enum { KNOWN_MAJOR = 4, KNOWN_MINOR = 2 };

/* A part of the document that can be read only later. */
typedef struct section {
    const char *text;
    size_t size;
} section;

typedef struct document {
    as_xp_file file;
    bool has_parameters;
    section callpaths, metrics, measurements, modelers;
    as_table *records; /* members of measurements that nobody knows */
    as_map columns;    /* string id of their names -> column */
    as_output
        *others; /* those of the current measurement without a column, a JSON object but for its end; NULL: none */
} document;

/* ---- measurements ------------------------------------------------------------------------------------------------ */

typedef struct measurement {
    as_cell_key key;
    as_measurement statistics;
    bool has_point, has_statistics, has_values, is_bad;
    uint64_t chunk, index;
    size_t record; /* SIZE_MAX: none */
} measurement;

static const struct {
    const char *name;
    size_t size, offset;
} STATISTICS[] = {
    {"median", 6, offsetof(as_measurement, median)},   {"mean", 4, offsetof(as_measurement, mean)},
    {"minimum", 7, offsetof(as_measurement, minimum)}, {"maximum", 7, offsetof(as_measurement, maximum)},
    {"std", 3, offsetof(as_measurement, std)},
};

static bool key_is(const char *key, size_t size, const char *name, size_t name_size) {
    return size == name_size && memcmp(key, name, size) == 0;
}

static assay_status read_coordinate(document *d, measurement *m) {
    as_xp_file *file = &d->file;
    size_t expected = as_ds_parameters(file->ds);
    bool fits;
    AS_TRY(as_xp_expect(file, AS_JSON_ARRAY, "coordinate", &fits));
    m->is_bad |= !fits;
    if (!fits) return ASSAY_OK;
    file->numbers.count = 0;
    while (as_json_next(&file->json) != AS_JSON_ARRAY_END) {
        double *number = as_vec_push(&file->numbers);
        if (!number) return as_xp_no_memory(file);
        if (as_xp_real(&file->json, number)) {
            bool is_real = file->json.type != AS_JSON_NUMBER || as_json_number(&file->json).kind == AS_REAL;
            if (is_real && *number == floor(*number)) file->has_real_whole = true;
            continue;
        }
        m->is_bad = true;
        AS_TRY(as_xp_reject(file, "not-a-number", "a coordinate must be a number"));
    }
    if (m->is_bad) return ASSAY_OK;
    if (file->numbers.count != expected || !expected) {
        m->is_bad = true;
        return as_xp_broken(file, "coordinate-count", "the coordinate has %zu numbers, but there are %zu parameters",
                            file->numbers.count, expected);
    }
    file->ds->whole_coordinates = !file->has_real_whole;
    m->key.point = as_experiment_point(file->experiment, file->numbers.data);
    m->has_point = true;
    return m->key.point != ASSAY_NONE ? ASSAY_OK : as_xp_no_memory(file);
}

static assay_status read_repetitions(document *d, measurement *m) {
    as_xp_file *file = &d->file;
    double real;
    if (as_json_next(&file->json) == AS_JSON_NULL) return ASSAY_OK;
    as_number number = file->json.type == AS_JSON_NUMBER ? as_json_number(&file->json) : (as_number){.kind = AS_REAL};
    if (number.kind == AS_INT && number.i >= 0) {
        m->statistics.repetitions = number.i;
        return ASSAY_OK;
    }
    if (as_xp_real(&file->json, &real) && real >= 0 && real < 9e15 && real == (double)(int64_t)real) {
        m->statistics.repetitions = (int64_t)real;
        return ASSAY_OK;
    }
    m->is_bad = true;
    return as_xp_reject(file, "bad-repetitions", "repetitions must be a whole number or null");
}

static void skip_blanks(const char **at) { *at += strspn(*at, " \t\r\n"); }

/* A whole number and what ends it, at `at`, which a non-digit follows at last. */
static bool read_index(const char **at, char end, uint64_t *out) {
    skip_blanks(at);
    char *behind;
    *out = strtoull(*at, &behind, 10);
    if (**at < '0' || **at > '9' || behind - *at > 18) return false;
    *at = behind;
    skip_blanks(at);
    return *(*at)++ == end;
}

/* null, or [chunk, index]. */
static assay_status read_reference(document *d, measurement *m) {
    as_xp_file *file = &d->file;
    const char *raw;
    size_t size;
    AS_TRY(as_xp_skip(file, &raw, &size));
    if (file->json.type == AS_JSON_NULL) return ASSAY_OK;
    const char *at = raw + 1;
    m->has_values = *raw == '[' && read_index(&at, ',', &m->chunk) && read_index(&at, ']', &m->index);
    m->is_bad |= !m->has_values;
    return m->has_values ? ASSAY_OK : as_xp_broken(file, "bad-values", "values must be null or [chunk, index]");
}

/* ---- members nobody knows ---------------------------------------------------------------------------------------- */

enum { RECORD_ID, RECORD_RUN, RECORD_METRIC, RECORD_CONTEXT, RECORD_POINT };
static const char *const RECORD_COLUMNS[] = {"id", "run", "metric", "context", "point"};
enum {
    N_RECORD_COLUMNS = sizeof RECORD_COLUMNS / sizeof *RECORD_COLUMNS,
    MAX_RECORD_COLUMNS = N_RECORD_COLUMNS + AS_EXTRAP_MAX_RECORD_COLUMNS
};
enum { PREFIX_SIZE = sizeof AS_XP_RECORD_PREFIX - 1 };

static bool make_record(document *d, measurement *m) {
    if (!d->records) {
        d->records = as_add_record_table(d->file.ds, "record");
        for (size_t i = RECORD_METRIC; d->records && i < N_RECORD_COLUMNS; i++) {
            if (as_table_add_column(d->records, RECORD_COLUMNS[i]) == SIZE_MAX) return false;
        }
    }
    if (!d->records || !as_table_add_row(d->records)) return false;
    m->record = as_table_rows(d->records) - 1;
    return as_table_set(d->records, m->record, RECORD_ID, as_cell_uint(m->record)) &&
           as_table_set(d->records, m->record, RECORD_METRIC, as_cell_int(m->key.metric)) &&
           as_table_set(d->records, m->record, RECORD_CONTEXT, as_cell_int(m->key.context));
}

/* Whether a member of this name would be taken for something else if its column had the same name. */
static bool needs_prefix(const char *text, size_t size) {
    for (size_t i = 0; i < N_RECORD_COLUMNS; i++) {
        if (key_is(text, size, RECORD_COLUMNS[i], strlen(RECORD_COLUMNS[i]))) return true;
    }
    return key_is(text, size, AS_XP_RECORD_OTHERS, strlen(AS_XP_RECORD_OTHERS)) ||
           (size >= PREFIX_SIZE && memcmp(text, AS_XP_RECORD_PREFIX, PREFIX_SIZE) == 0);
}

/* The column of the name in file->key, made if it is new; SIZE_MAX where there are too many, or for a name with a NUL.
 * False when memory is out. */
static bool find_record_column(document *d, size_t *column) {
    const char *name = d->file.key.data;
    size_t size = d->file.key.count - 1;
    as_strings *strings = &d->file.ds->strings;
    as_str known = as_find(strings, name, size);
    uint32_t place = known == AS_NO_STR ? AS_MAP_NONE : as_map_get(&d->columns, known);
    *column = place == AS_MAP_NONE ? SIZE_MAX : place;
    if (place != AS_MAP_NONE || as_table_columns(d->records) >= MAX_RECORD_COLUMNS || strlen(name) != size) return true;
    known = as_intern(strings, name, size);
    *column = known == AS_NO_STR ? SIZE_MAX : as_table_add_column(d->records, name);
    return *column != SIZE_MAX && as_map_put(&d->columns, known, (uint32_t)*column);
}

/* A member without a column joins the others of its measurement. */
static bool keep_among_others(document *d, const char *key, size_t key_size, const char *raw, size_t size) {
    if (!d->others && !(d->others = as_output_to_memory())) return false;
    as_output_char(d->others, as_output_size(d->others) ? ',' : '{');
    as_json_write_string(d->others, key, key_size);
    as_output_char(d->others, ':');
    as_output_write(d->others, raw, size);
    return true;
}

/* Behind the last member of a measurement. */
static bool set_others(document *d, const measurement *m) {
    if (!d->others) return true;
    size_t size, column = as_table_find_column(d->records, AS_XP_RECORD_OTHERS);
    if (column == SIZE_MAX) column = as_table_add_column(d->records, AS_XP_RECORD_OTHERS);
    as_output_char(d->others, '}');
    const char *text = as_output_memory(d->others, &size);
    bool fine = text && column != SIZE_MAX && as_table_set(d->records, m->record, column, as_cell_json_n(text, size));
    as_output_discard(d->others);
    d->others = NULL;
    return fine;
}

/* Keeps a member of a measurement in a column of its name; names that are taken get AS_XP_RECORD_PREFIX. */
static assay_status keep_in_record(document *d, measurement *m) {
    as_xp_file *file = &d->file;
    size_t size, column;
    const char *text = as_json_text(&file->json, &size), *raw;
    size_t prefix = text && needs_prefix(text, size) ? PREFIX_SIZE : 0;
    file->key.count = 0;
    if (!text || !as_vec_append(&file->key, AS_XP_RECORD_PREFIX, prefix) || !as_vec_append(&file->key, text, size) ||
        !as_vec_append(&file->key, "", 1)) {
        return as_xp_no_memory(file);
    }
    size_t key_size = size;
    AS_TRY(as_xp_skip(file, &raw, &size));
    if ((m->record == SIZE_MAX && !make_record(d, m)) || !find_record_column(d, &column)) return as_xp_no_memory(file);
    if (column == SIZE_MAX) {
        const char *key = (const char *)file->key.data + prefix;
        return keep_among_others(d, key, key_size, raw, size) ? ASSAY_OK : as_xp_no_memory(file);
    }
    as_cell cell = as_xp_cell(&file->json, raw, size);
    if (cell.type == AS_CELL_NULL) cell = as_cell_json_n("null", 4); /* a null cell is a member that is not there */
    return as_table_set(d->records, m->record, column, cell) ? ASSAY_OK : as_xp_no_memory(file);
}

/* ---- one measurement --------------------------------------------------------------------------------------------- */

static assay_status read_member(document *d, measurement *m) {
    as_xp_file *file = &d->file;
    size_t size;
    const char *key = as_json_text(&file->json, &size);
    if (!key) return as_xp_no_memory(file);
    for (size_t i = 0; i < sizeof STATISTICS / sizeof *STATISTICS; i++) {
        if (!key_is(key, size, STATISTICS[i].name, STATISTICS[i].size)) continue;
        m->has_statistics = true;
        double *target = (double *)(void *)((char *)&m->statistics + STATISTICS[i].offset);
        as_json_next(&file->json);
        if (as_xp_real(&file->json, target)) return ASSAY_OK;
        m->is_bad = true;
        return as_xp_reject(file, "not-a-number", "%s must be a number", STATISTICS[i].name);
    }
    if (key_is(key, size, "coordinate", 10)) return read_coordinate(d, m);
    if (key_is(key, size, "repetitions", 11)) return read_repetitions(d, m);
    if (key_is(key, size, "values", 6)) return read_reference(d, m);
    return keep_in_record(d, m);
}

static assay_status add_measurement(document *d, measurement *m) {
    as_xp_file *file = &d->file;
    if (!set_others(d, m)) return as_xp_no_memory(file);
    if (m->record != SIZE_MAX && m->has_point &&
        !as_table_set(d->records, m->record, RECORD_POINT, as_cell_int(m->key.point)))
        return as_xp_no_memory(file);
    if (m->is_bad) return ASSAY_OK;
    if (!m->has_point) return as_xp_broken(file, "missing-key", "a measurement has no coordinate");
    if (m->has_values && as_experiment_keeps(file->experiment, m->key.context)) {
        int64_t repetitions = -1;
        AS_TRY(as_xp_read_values(file, m->chunk, m->index, m->key, &repetitions));
        if (m->statistics.repetitions < 0) m->statistics.repetitions = repetitions;
        if (!m->has_statistics && file->numbers.count)
            as_statistics(file->numbers.data, file->numbers.count, &m->statistics);
    }
    return as_experiment_statistics(file->experiment, m->key, &m->statistics) ? ASSAY_OK : as_xp_no_memory(file);
}

/* The list of one call path and metric. */
static assay_status read_series(document *d, assay_id metric, assay_id context) {
    as_xp_file *file = &d->file;
    bool fits, more;
    AS_TRY(as_xp_expect(file, AS_JSON_ARRAY, "the measurements of a metric", &fits));
    while (fits && as_json_next(&file->json) != AS_JSON_ARRAY_END) {
        if (file->json.type != AS_JSON_OBJECT) {
            AS_TRY(as_xp_reject(file, "wrong-type", "a measurement must be an object"));
            continue;
        }
        measurement m = {
            .key = {metric, context, ASSAY_NONE},
            .statistics = {.repetitions = -1, .mean = NAN, .median = NAN, .minimum = NAN, .maximum = NAN, .std = NAN},
            .record = SIZE_MAX};
        for (;;) {
            AS_TRY(as_xp_next_key(file, &more));
            if (!more) break;
            AS_TRY(read_member(d, &m));
        }
        AS_TRY(add_measurement(d, &m));
    }
    return ASSAY_OK;
}

static assay_status show_progress(as_xp_file *file) {
    double fraction = (double)(file->json.at - file->json.begin) / (double)(file->json.end - file->json.begin);
    return as_reader_progress(file->reader, (size_t)(fraction * (double)file->reader->input->size));
}

static assay_status read_measurements(document *d) {
    as_xp_file *file = &d->file;
    bool fits, more;
    AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "measurements", &fits));
    while (fits) {
        assay_id context, metric;
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        AS_TRY(as_xp_named(file, AS_OWNER_CONTEXT, &context));
        bool is_object;
        AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "the metrics of a call path", &is_object));
        while (is_object) {
            AS_TRY(as_xp_next_key(file, &more));
            if (!more) break;
            AS_TRY(as_xp_named(file, AS_OWNER_METRIC, &metric));
            AS_TRY(read_series(d, metric, context));
        }
        AS_TRY(show_progress(file));
    }
    return ASSAY_OK;
}

/* ---- call paths and metrics with tags ---------------------------------------------------------------------------- */

/* Members that our writer adds for what the tables have columns for (Extra-P steps over them): moves the last attribute
 * to its column. */
static assay_status move_to_column(as_xp_file *file, as_owner owner, assay_id id) {
    as_dataset *ds = file->ds;
    const as_attribute *last = as_ds_attribute(ds, ds->attributes.count - 1);
    const char *key = as_ds_text(ds, last->key);
    as_str *text = NULL;
    if (owner == AS_OWNER_METRIC) {
        as_metric *metric = &AS_AT(as_metric, &ds->metrics, id);
        text = strcmp(key, "unit") == 0           ? &metric->unit
               : strcmp(key, "display_name") == 0 ? &metric->display_name
               : strcmp(key, "description") == 0  ? &metric->description
                                                  : NULL;
    } else {
        const as_tree *tree = as_experiment_tree(file->experiment);
        as_region *region = &AS_AT(as_region, &ds->regions, AS_AT(as_context, &tree->nodes, id).region);
        if (strcmp(key, "line") == 0 && last->value.type == AS_CELL_INT) {
            region->line_begin = last->value.i;
            ds->attributes.count--;
        }
        text = strcmp(key, "file") == 0 ? &region->file : NULL;
    }
    if (!text || last->value.type != AS_CELL_TEXT) return ASSAY_OK;
    *text = as_ds_intern(ds, last->value.text, last->value.size);
    ds->attributes.count--;
    return *text != AS_NO_STR ? ASSAY_OK : as_xp_no_memory(file);
}

/* {"tags": {…}, …} */
static assay_status read_entry(as_xp_file *file, as_owner owner, assay_id id) {
    bool is_object, more;
    AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "an entry of callpaths or metrics", &is_object));
    while (is_object) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        if (!as_json_is(&file->json, "tags")) {
            AS_TRY(as_xp_keep_member(file, owner, id, ""));
            AS_TRY(move_to_column(file, owner, id));
            continue;
        }
        bool has_tags;
        AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "tags", &has_tags));
        while (has_tags) {
            AS_TRY(as_xp_next_key(file, &more));
            if (!more) break;
            AS_TRY(as_xp_keep_member(file, owner, id, AS_XP_TAG_PREFIX));
        }
    }
    return ASSAY_OK;
}

static assay_status read_entries(as_xp_file *file, as_owner owner) {
    bool fits, more;
    assay_id id;
    AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, owner == AS_OWNER_METRIC ? "metrics" : "callpaths", &fits));
    while (fits) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        AS_TRY(as_xp_named(file, owner, &id));
        AS_TRY(read_entry(file, owner, id));
    }
    return ASSAY_OK;
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static assay_status read_parameters(document *d) {
    as_xp_file *file = &d->file;
    bool fits;
    if (d->has_parameters) return as_xp_broken(file, "duplicate-key", "parameters are given twice");
    AS_TRY(as_xp_expect(file, AS_JSON_ARRAY, "parameters", &fits));
    d->has_parameters = true;
    while (fits && as_json_next(&file->json) != AS_JSON_ARRAY_END) {
        if (file->json.type != AS_JSON_STRING) {
            AS_TRY(as_xp_reject(file, "wrong-type", "the name of a parameter must be a text"));
            continue;
        }
        size_t size, known = as_ds_parameters(file->ds);
        const char *name = as_json_text(&file->json, &size);
        if (name && memchr(name, '\0', size)) AS_TRY(as_xp_nul(file, "a parameter"));
        if (known == AS_EXTRAP_MAX_PARAMETERS) {
            return as_fail(file->reader->error, ASSAY_E_FORMAT, as_json_place(&file->json), "too-many-parameters",
                           "more than %d parameters", AS_EXTRAP_MAX_PARAMETERS);
        }
        if (!name || as_add_parameter(file->ds, as_ds_intern(file->ds, name, size)) == ASSAY_NONE)
            return as_xp_no_memory(file);
        if (as_ds_parameters(file->ds) == known)
            AS_TRY(as_xp_broken(file, "duplicate-parameter", "a parameter is named twice"));
    }
    return ASSAY_OK;
}

static assay_status read_scaling(as_xp_file *file) {
    static const char *const known[] = {"weak", "weak_threaded", "strong"};
    if (as_json_next(&file->json) == AS_JSON_NULL) return ASSAY_OK;
    for (size_t i = 0; file->json.type == AS_JSON_STRING && i < sizeof known / sizeof *known; i++) {
        if (!as_json_is(&file->json, known[i])) continue;
        return as_add_attribute(file->ds, AS_OWNER_DATASET, 0, "scaling", as_cell_text(known[i]))
                   ? ASSAY_OK
                   : as_xp_no_memory(file);
    }
    return as_xp_reject(file, "unknown-scaling", "scaling must be \"weak\", \"weak_threaded\", \"strong\" or null");
}

static assay_status read_version(as_xp_file *file) {
    bool fits;
    AS_TRY(as_xp_expect(file, AS_JSON_STRING, "the version", &fits));
    if (!fits) return ASSAY_OK;
    size_t size;
    const char *text = as_json_text(&file->json, &size);
    if (!text || (file->ds->format_version = as_ds_intern(file->ds, text, size)) == AS_NO_STR)
        return as_xp_no_memory(file);
    unsigned major = 0, minor = 0;
    sscanf(as_ds_text(file->ds, file->ds->format_version), "%9u.%9u", &major, &minor);
    if (major > KNOWN_MAJOR || (major == KNOWN_MAJOR && minor > KNOWN_MINOR)) {
        as_warn(file->reader, as_json_place(&file->json), "newer-version",
                "written by Extra-P %s, newer than the %d.%d known here; what is new may be missing",
                as_ds_text(file->ds, file->ds->format_version), KNOWN_MAJOR, KNOWN_MINOR);
    }
    return ASSAY_OK;
}

/* ---- sections that must wait ------------------------------------------------------------------------------------- */

static assay_status defer(document *d, section *later) {
    if (later->text) return as_xp_broken(&d->file, "duplicate-key", "a part of the experiment is given twice");
    return as_xp_skip(&d->file, &later->text, &later->size);
}

/* Coordinates and terms need parameters. */
static assay_status read_or_defer(document *d, section *later, assay_status (*read)(document *)) {
    return d->has_parameters ? read(d) : defer(d, later);
}

static assay_status read_modelers(document *d) { return as_xp_read_modelers(&d->file); }
static assay_status read_callpaths(document *d) { return read_entries(&d->file, AS_OWNER_CONTEXT); }
static assay_status read_metrics(document *d) { return read_entries(&d->file, AS_OWNER_METRIC); }

static assay_status read_deferred(document *d, const char *begin, const section *later,
                                  assay_status (*read)(document *)) {
    if (!later->text) return ASSAY_OK;
    as_json_restart(&d->file.json, later->text, later->size, 1);
    d->file.json.begin = begin; /* places are those in the document */
    return read(d);
}

static assay_status read_top_member(document *d) {
    as_xp_file *file = &d->file;
    as_json *json = &file->json;
    if (as_json_is(json, "Extra-P")) return read_version(file);
    if (as_json_is(json, "scaling")) return read_scaling(file);
    if (as_json_is(json, "parameters")) return read_parameters(d);
    if (as_json_is(json, "callpaths"))
        return defer(d, &d->callpaths); /* measurements give call paths and metrics their order */
    if (as_json_is(json, "metrics")) return defer(d, &d->metrics);
    if (as_json_is(json, "measurements")) return read_or_defer(d, &d->measurements, read_measurements);
    if (as_json_is(json, "modelers")) return read_or_defer(d, &d->modelers, read_modelers);
    return as_xp_keep_member(file, AS_OWNER_DATASET, 0, "");
}

static assay_status read_document(document *d) {
    as_xp_file *file = &d->file;
    as_json *json = &file->json;
    const char *begin = json->begin;
    bool fits, more;
    AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "an experiment", &fits));
    while (fits) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        AS_TRY(read_top_member(d));
    }
    if (as_json_next(json) == AS_JSON_ERROR) return as_json_fail(json, file->reader->error);
    AS_TRY(read_deferred(d, begin, &d->measurements, read_measurements));
    AS_TRY(read_deferred(d, begin, &d->callpaths, read_callpaths));
    AS_TRY(read_deferred(d, begin, &d->metrics, read_metrics));
    AS_TRY(read_deferred(d, begin, &d->modelers, read_modelers));
    as_place whole = as_place_file(file->json_path);
    if (!as_ds_parameters(file->ds))
        return as_broken(file->reader, whole, "no-parameters", "the experiment has no parameters");
    if (!file->ds->n_points)
        return as_broken(file->reader, whole, "no-measurements", "the experiment has no measurements");
    return ASSAY_OK;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static bool is_ours(void *user, const char *name) {
    (void)user;
    return strcmp(name, AS_XP_JSON_NAME) == 0 || strncmp(name, "values/", 7) == 0;
}

/* "values/12.vals" */
static bool index_entry(as_xp_file *file, size_t index) {
    const char *name = file->entries[index].name;
    if (strncmp(name, "values/", 7) != 0 || name[7] < '0' || name[7] > '9') return true;
    char *end;
    uint64_t chunk = strtoull(name + 7, &end, 10);
    if (strcmp(end, ".vals") == 0) return as_map_put(&file->vals, chunk, (uint32_t)index);
    return strcmp(end, ".indx") != 0 || as_map_put(&file->indices, chunk, (uint32_t)index);
}

static assay_status read_entries_of_zip(document *d) {
    as_xp_file *file = &d->file;
    as_reader *reader = file->reader;
    AS_TRY(
        as_zip_read(reader->input, is_ours, NULL, &file->ds->budget, &file->entries, &file->n_entries, reader->error));
    const as_zip_entry *json = NULL;
    for (size_t i = 0; i < file->n_entries; i++) {
        if (!index_entry(file, i)) return as_xp_no_memory(file);
        if (strcmp(file->entries[i].name, AS_XP_JSON_NAME) == 0) json = &file->entries[i];
    }
    if (!json) {
        return as_fail(reader->error, ASSAY_E_FORMAT, as_place_file(reader->input->path), "no-experiment-json",
                       "the archive has no %s; it is not an Extra-P experiment", AS_XP_JSON_NAME);
    }
    as_json_init(&file->json, file->json_path, json->data, json->size,
                 (as_json_options){.nan_literals = true, .max_depth = reader->max_depth}, &file->ds->budget);
    assay_status status = read_document(d);
    as_json_free(&file->json);
    AS_TRY(status);
    const assay_id *new_ids;
    bool fine = as_experiment_finish(file->experiment, as_place_file(reader->input->path), &new_ids) &&
                as_extrap_renumber(file->ds, new_ids);
    return fine ? ASSAY_OK : as_xp_no_memory(file);
}

static char *path_of_json(as_reader *reader) {
    size_t size = strlen(reader->input->path);
    size_t room = size + sizeof AS_XP_JSON_NAME + 1;
    char *path = as_arena_alloc(&reader->dataset->arena, room);
    if (path) snprintf(path, room, "%s/%s", reader->input->path, AS_XP_JSON_NAME);
    return path;
}

static assay_status read_experiment(as_reader *reader) {
    as_dataset *ds = reader->dataset;
    document d = {
        .file = {.reader = reader, .ds = ds, .experiment = as_experiment_new(ds), .json_path = path_of_json(reader)}};
    as_xp_file *file = &d.file;
    as_map_init(&d.columns, &ds->budget);
    as_map_init(&file->vals, &ds->budget);
    as_map_init(&file->indices, &ds->budget);
    as_map_init(&file->tagged, &ds->budget);
    as_vec_init(&file->numbers, sizeof(double), &ds->budget);
    as_vec_init(&file->key, 1, &ds->budget);
    as_vec_init(&file->segments, sizeof(as_segment), &ds->budget);
    as_vec_init(&file->terms, sizeof(as_term), &ds->budget);
    as_vec_init(&file->intervals, sizeof(double), &ds->budget);
    as_vec_init(&file->segment_costs, sizeof(as_segment_costs), &ds->budget);
    assay_status status = file->experiment && file->json_path ? read_entries_of_zip(&d) : as_reader_memory(reader);
    as_zip_free(file->entries, file->n_entries, &ds->budget);
    as_vec_free(&file->segment_costs);
    as_vec_free(&file->intervals);
    as_vec_free(&file->terms);
    as_vec_free(&file->segments);
    as_vec_free(&file->key);
    as_vec_free(&file->numbers);
    as_map_free(&file->tagged);
    as_map_free(&file->indices);
    as_map_free(&file->vals);
    as_map_free(&d.columns);
    if (d.others) as_output_discard(d.others);
    as_experiment_free(file->experiment);
    return status;
}

/* A ZIP whose directory, at its end, or whose first entries name experiment.json. */
static int bid_experiment(const as_probe *probe) {
    if (probe->is_directory || probe->head_size < 4 || memcmp(probe->head, "PK\3\4", 4) != 0) return 0;
    bool named = memmem(probe->head, probe->head_size, AS_XP_JSON_NAME, strlen(AS_XP_JSON_NAME)) ||
                 memmem(probe->tail, probe->tail_size, AS_XP_JSON_NAME, strlen(AS_XP_JSON_NAME));
    return named ? 32 + 8 * (int)strlen(AS_XP_JSON_NAME) : 0;
}

/* Extra-P begins a new chunk of values after a gibibyte and reads any size; small ones keep the memory small. */
static assay_status write_experiment(as_writer *writer) { return as_xp_write(writer, (uint64_t)4 << 20); }

const struct assay_format as_format_extrap_experiment = {
    .name = "extrap-experiment",
    .title = "Extra-P experiment",
    .extensions = ".extra-p",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_STATISTICS | AS_HOLDS_MODELS | AS_HOLDS_LOCATIONS | AS_HOLDS_RECORDS |
             AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS | AS_HOLDS_SOURCE | AS_HOLDS_FOREIGN | AS_HOLDS_ASIDES | /* by tags */
             AS_HOLDS_SHOWN | AS_HOLDS_DESCRIBED,
    .bid = bid_experiment,
    .read = read_experiment,
    .write = write_experiment,
    .losses = as_xp_losses,
};
