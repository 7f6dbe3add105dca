/* Experiments of Extra-P 3: a binary file of either byte order. Read only. */
#include "formats/extrap/extrap3.h"

#include <stdio.h>

#include "core/utf8.h"
#include "formats/extrap/experiment.h"

static const char MAGIC[] = "EXTRAP_EXPERIMENT";
enum { MAGIC_SIZE = sizeof MAGIC - 1, MAGIC_AT = 6 };

/* ---- primitives -------------------------------------------------------------------------------------------------- */

static void set_wrong(as_x3_file *file, uint64_t offset, const char *rule, const char *format, va_list args) {
    if (file->rule) return;
    file->rule = rule;
    file->offset = offset;
    vsnprintf(file->message, sizeof file->message, format, args);
}

void as_x3_wrong(as_x3_file *file, uint64_t offset, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    set_wrong(file, offset, rule, format, args);
    va_end(args);
}

void as_x3_lost(as_x3_file *file, uint64_t offset, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (!as_x3_failed(file)) set_wrong(file, offset, rule, format, args);
    va_end(args);
    file->is_fatal = true;
}

const char *as_x3_text(as_x3_file *file, size_t *size) {
    uint64_t offset = file->bytes.at;
    uint32_t length = as_bytes_u32(&file->bytes);
    const char *text = as_bytes_take(&file->bytes, length);
    *size = text ? length : 0;
    if (text && as_utf8_invalid(text, length))
        as_x3_wrong(file, offset, "invalid-utf8", "the text at this byte is not valid UTF-8");
    else if (text && memchr(text, '\0', length))
        as_x3_wrong(file, offset, "nul-byte", "the text at this byte holds a NUL byte");
    return text ? text : "";
}

as_str as_x3_intern(as_x3_file *file, const char *text, size_t size) {
    as_str result = as_ds_intern(file->ds, text, size);
    file->no_memory |= result == AS_NO_STR;
    return result;
}

as_str as_x3_str(as_x3_file *file) {
    size_t size;
    const char *text = as_x3_text(file, &size);
    return file->bytes.failed ? AS_NO_STR : as_x3_intern(file, text, size);
}

uint64_t as_x3_count(as_x3_file *file, size_t min_size) {
    uint64_t offset = file->bytes.at;
    int64_t n = as_bytes_i64(&file->bytes);
    if (file->bytes.failed || (n >= 0 && (uint64_t)n <= (file->bytes.size - file->bytes.at) / min_size))
        return (uint64_t)n;
    as_x3_lost(file, offset, "absurd-count", "%lld elements cannot follow here: the file has only %zu bytes left",
               (long long)n, file->bytes.size - file->bytes.at);
    return 0;
}

bool as_x3_expect(as_x3_file *file, const char *text) {
    size_t size;
    uint64_t offset = file->bytes.at;
    const char *got = as_x3_text(file, &size);
    bool fits = size == strlen(text) && memcmp(got, text, size) == 0;
    if (!fits)
        as_x3_lost(file, offset, "unexpected-text", "'%s' must stand here, not '%.*s'", text,
                   (int)(size < 40 ? size : 40), got);
    return fits;
}

assay_id as_x3_parameter(as_x3_file *file) {
    uint64_t offset = file->bytes.at;
    size_t size;
    const char *name = as_x3_text(file, &size);
    as_str known = as_find(&file->ds->strings, name, size);
    for (size_t i = 0; known != AS_NO_STR && i < as_ds_parameters(file->ds); i++) {
        if (AS_AT(as_str, &file->ds->parameters, i) == known) return (assay_id)i;
    }
    if (!as_x3_failed(file))
        as_x3_wrong(file, offset, "unknown-parameter", "there is no parameter '%.*s'", (int)(size < 100 ? size : 100),
                    name);
    return ASSAY_NONE;
}

assay_id as_x3_find(as_x3_file *file, const as_map *map, int64_t id, const char *what) {
    uint32_t found = as_map_get(map, (uint64_t)id);
    if (found == AS_MAP_NONE && !as_x3_failed(file))
        as_x3_wrong(file, file->bytes.at, "unknown-id", "the record refers to %s %lld, which is not there", what,
                    (long long)id);
    return found;
}

assay_id as_x3_metric(as_x3_file *file, int64_t position) {
    if (position >= 0 && (uint64_t)position < file->ds->metrics.count) return (assay_id)position;
    if (!as_x3_failed(file))
        as_x3_wrong(file, file->bytes.at, "unknown-id", "the record refers to metric %lld, which is not there",
                    (long long)position);
    return ASSAY_NONE;
}

static void put(as_x3_file *file, as_map *map, int64_t id, uint32_t value) {
    file->no_memory |= !as_map_put(map, (uint64_t)id, value);
}

static as_str id_text(as_x3_file *file, int64_t id) {
    char text[AS_NUMBER_SIZE];
    return as_x3_intern(file, text, as_int_format(id, text));
}

/* ---- records of definitions -------------------------------------------------------------------------------------- */

static void read_parameter(as_x3_file *file) {
    uint64_t offset = file->bytes.at;
    as_bytes_i64(&file->bytes);
    as_str name = as_x3_str(file);
    if (as_x3_failed(file)) return;
    if (file->ds->n_points)
        as_x3_wrong(file, offset, "late-parameter", "a parameter comes behind coordinates");
    else if (as_ds_parameters(file->ds) == AS_EXTRAP_MAX_PARAMETERS)
        as_x3_lost(file, offset, "too-many-parameters", "more than %d parameters", AS_EXTRAP_MAX_PARAMETERS);
    else
        file->no_memory |= as_add_parameter(file->ds, name) == ASSAY_NONE;
}

static void read_metric(as_x3_file *file) {
    int64_t source_id = as_bytes_i64(&file->bytes);
    size_t size;
    const char *name = as_x3_text(file, &size);
    as_str unit = as_x3_str(file);
    if (as_x3_failed(file)) return;
    assay_id id = as_experiment_metric(file->experiment, name, size);
    as_str source = id_text(file, source_id);
    file->no_memory |= id == ASSAY_NONE;
    if (file->no_memory) return;
    as_metric *metric = &AS_AT(as_metric, &file->ds->metrics, id);
    metric->source_id = source;
    if (as_str_size(&file->ds->strings, unit)) metric->unit = unit;
}

/* A name that another region has already becomes "name #1", the next "name #2": call paths must tell them apart. */
static as_str unique_name(as_x3_file *file, as_str name) {
    uint32_t used = as_map_get(&file->region_names, name);
    if (used == AS_MAP_NONE) {
        put(file, &file->region_names, name, 0);
        return name;
    }
    as_vec text;
    as_vec_init(&text, 1, &file->ds->budget);
    char suffix[32];
    as_str result = AS_NO_STR;
    do { /* a region may really be called "name #1" */
        size_t n = (size_t)snprintf(suffix, sizeof suffix, " #%u", ++used);
        text.count = 0;
        if (!as_vec_append(&text, as_ds_text(file->ds, name), as_str_size(&file->ds->strings, name)) ||
            !as_vec_append(&text, suffix, n))
            break;
        result = as_ds_intern(file->ds, text.data, text.count);
    } while (result != AS_NO_STR && as_map_get(&file->region_names, result) != AS_MAP_NONE);
    as_vec_free(&text);
    file->no_memory |= result == AS_NO_STR;
    if (file->no_memory) return result;
    put(file, &file->region_names, name, used);
    put(file, &file->region_names, result, 0);
    return result;
}

static void read_region(as_x3_file *file) {
    int64_t id = as_bytes_i64(&file->bytes);
    as_str name = as_x3_str(file), source_file = as_x3_str(file);
    int64_t line = as_bytes_i64(&file->bytes);
    if (as_x3_failed(file)) return;
    if (as_map_get(&file->regions, (uint64_t)id) == AS_MAP_NONE) name = unique_name(file, name);
    if (file->no_memory) return;
    assay_id region_id = as_tree_region(as_experiment_tree(file->experiment), name);
    as_str source_id = id_text(file, id);
    file->no_memory |= region_id == ASSAY_NONE;
    if (file->no_memory) return;
    as_region *region = &AS_AT(as_region, &file->ds->regions, region_id);
    region->source_id = source_id;
    if (as_str_size(&file->ds->strings, source_file)) region->file = source_file;
    if (line >= 0) region->line_begin = line;
    put(file, &file->regions, id, name);
}

/* Call paths are split at "->", also inside the name of a region, so that every path is unique. */
static assay_id add_below(as_x3_file *file, assay_id parent, as_str name) {
    as_tree *tree = as_experiment_tree(file->experiment);
    size_t size = as_str_size(&file->ds->strings, name);
    const char *at = as_ds_text(file->ds, name), *end = at + size;
    for (;;) {
        const char *arrow = memmem(at, (size_t)(end - at), "->", 2);
        assay_id region = as_tree_region(tree, as_ds_intern(file->ds, at, (size_t)((arrow ? arrow : end) - at)));
        parent = region == ASSAY_NONE ? ASSAY_NONE : as_tree_child(tree, parent, region);
        if (parent == ASSAY_NONE || !arrow) return parent;
        at = arrow + 2;
    }
}

static void read_callpath(as_x3_file *file) {
    int64_t id = as_bytes_i64(&file->bytes), region = as_bytes_i64(&file->bytes), parent = as_bytes_i64(&file->bytes);
    if (as_x3_failed(file)) return;
    as_str name = as_x3_find(file, &file->regions, region, "region");
    assay_id above = parent == -1 ? ASSAY_NONE : as_x3_find(file, &file->callpaths, parent, "parent call path");
    if (file->rule) return;
    assay_id context = add_below(file, above, name);
    as_str source_id = id_text(file, id);
    file->no_memory |= context == ASSAY_NONE;
    if (file->no_memory) return;
    as_tree *tree = as_experiment_tree(file->experiment);
    as_tree_mark_callpath(tree, context);
    AS_AT(as_context, &tree->nodes, context).source_id = source_id;
    put(file, &file->callpaths, id, context);
}

static void read_coordinate(as_x3_file *file) {
    uint64_t offset = file->bytes.at;
    int64_t id = as_bytes_i64(&file->bytes);
    uint64_t n = as_x3_count(file, 12), expected = as_ds_parameters(file->ds);
    as_vec numbers;
    as_vec_init(&numbers, sizeof(double), &file->ds->budget);
    file->no_memory |= !as_vec_reserve(&numbers, (size_t)expected + 1);
    double *values = numbers.data;
    for (uint64_t i = 0; i < expected && values; i++) values[i] = NAN;
    bool is_twice = false;
    for (uint64_t i = 0; i < n && !as_x3_failed(file); i++) {
        assay_id parameter = as_x3_parameter(file);
        double value = as_bytes_f64(&file->bytes);
        if (parameter == ASSAY_NONE) continue;
        is_twice |= !isnan(values[parameter]);
        values[parameter] = value;
    }
    if (!expected) as_x3_wrong(file, offset, "no-parameters", "a coordinate, but no parameters before it");
    if (n != expected || is_twice) {
        as_x3_wrong(file, offset, "coordinate-count", "the coordinate has %llu values, but there are %llu parameters",
                    (unsigned long long)n, (unsigned long long)expected);
    }
    if (!as_x3_failed(file) && !file->rule) {
        assay_id point = as_experiment_point(file->experiment, values);
        file->no_memory |= point == ASSAY_NONE;
        if (!file->no_memory) put(file, &file->coordinates, id, point);
    }
    as_vec_free(&numbers);
}

static void read_comment(as_x3_file *file) {
    int64_t id = as_bytes_i64(&file->bytes);
    size_t size;
    const char *text = as_x3_text(file, &size);
    if (as_x3_failed(file)) return;
    char key[64];
    snprintf(key, sizeof key, "ModelComment:%lld", (long long)id);
    file->no_memory |= !as_add_attribute(file->ds, AS_OWNER_DATASET, 0, key, as_cell_text_n(text, size));
    as_str comment = as_x3_intern(file, text, size);
    if (!file->no_memory) put(file, &file->comments, id, comment);
}

/* ---- measurements ------------------------------------------------------------------------------------------------ */

enum { RECORD_ID, RECORD_RUN, RECORD_METRIC, RECORD_CONTEXT, RECORD_POINT, RECORD_INTERVALS, N_INTERVALS = 4 };

static bool make_records(as_x3_file *file) {
    static const char *const columns[] = {"metric",       "context",       "point",         "mean_ci_low",
                                          "mean_ci_high", "median_ci_low", "median_ci_high"};
    file->records = as_add_record_table(file->ds, "record");
    for (size_t i = 0; file->records && i < sizeof columns / sizeof *columns; i++) {
        if (as_table_add_column(file->records, columns[i]) == SIZE_MAX) return false;
    }
    return file->records != NULL;
}

static bool add_intervals(as_x3_file *file, as_cell_key key, const double intervals[N_INTERVALS]) {
    if (!file->records && !make_records(file)) return false;
    as_cell cells[RECORD_INTERVALS + N_INTERVALS] = {[RECORD_ID] = as_cell_uint(as_table_rows(file->records)),
                                                     [RECORD_RUN] = as_cell_null(),
                                                     [RECORD_METRIC] = as_cell_int(key.metric),
                                                     [RECORD_CONTEXT] = as_cell_int(key.context),
                                                     [RECORD_POINT] = as_cell_int(key.point)};
    for (size_t i = 0; i < N_INTERVALS; i++) cells[RECORD_INTERVALS + i] = as_cell_real(intervals[i]);
    return as_table_append(file->records, cells);
}

static void read_point(as_x3_file *file) {
    as_bytes *bytes = &file->bytes;
    uint64_t offset = bytes->at;
    as_measurement m;
    double intervals[N_INTERVALS];
    int64_t coordinate = as_bytes_i64(bytes);
    m.repetitions = as_bytes_i64(bytes);
    m.mean = as_bytes_f64(bytes);
    intervals[0] = as_bytes_f64(bytes);
    intervals[1] = as_bytes_f64(bytes);
    m.std = as_bytes_f64(bytes);
    m.median = as_bytes_f64(bytes);
    intervals[2] = as_bytes_f64(bytes);
    intervals[3] = as_bytes_f64(bytes);
    m.minimum = as_bytes_f64(bytes);
    m.maximum = as_bytes_f64(bytes);
    int64_t metric = as_bytes_i64(bytes), callpath = as_bytes_i64(bytes);
    if (as_x3_failed(file)) return;
    as_cell_key key = {.metric = as_x3_metric(file, metric),
                       .context = as_x3_find(file, &file->callpaths, callpath, "call path"),
                       .point = as_x3_find(file, &file->coordinates, coordinate, "coordinate")};
    if (m.repetitions < 0)
        as_x3_wrong(file, offset, "absurd-count", "a measurement of %lld samples", (long long)m.repetitions);
    if (file->rule) return;
    file->no_memory |= !as_experiment_statistics(file->experiment, key, &m) || !add_intervals(file, key, intervals);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *kind;
    void (*read)(as_x3_file *file);
} RECORDS[] = {
    {"ExperimentPoint", read_point}, {"Model", as_x3_read_model},     {"Callpath", read_callpath},
    {"Region", read_region},         {"Coordinate", read_coordinate}, {"Metric", read_metric},
    {"Parameter", read_parameter},   {"ModelComment", read_comment},
};

static assay_status read_record(as_x3_file *file) {
    uint64_t offset = file->bytes.at;
    size_t size;
    const char *kind = as_x3_text(file, &size);
    bool is_known = false;
    for (size_t i = 0; i < sizeof RECORDS / sizeof *RECORDS && !is_known; i++) {
        is_known = size == strlen(RECORDS[i].kind) && memcmp(kind, RECORDS[i].kind, size) == 0;
        if (is_known) RECORDS[i].read(file);
    }
    if (!is_known && as_x3_is_generator(kind, size))
        as_x3_read_generator(file, kind, size);
    else if (!is_known)
        as_x3_lost(file, offset, "unknown-record", "a record of the unknown kind '%.*s'", (int)(size < 40 ? size : 40),
                   kind);
    if (file->no_memory) return as_reader_memory(file->reader);
    const char *path = file->reader->input->path;
    if (file->bytes.failed && !file->rule) {
        file->is_fatal = true;
        return as_broken(file->reader, as_place_offset(path, offset), "truncated",
                         "the file ends inside the record that begins at byte %llu", (unsigned long long)offset);
    }
    if (!file->rule) return ASSAY_OK;
    const char *rule = file->rule;
    file->rule = NULL;
    file->is_fatal |= file->bytes.failed;
    return as_broken(file->reader, as_place_offset(path, file->offset), rule, "%s", file->message);
}

static assay_status read_head(as_x3_file *file) {
    as_bytes *bytes = &file->bytes;
    as_place start = as_place_offset(file->reader->input->path, 0);
    uint16_t order = as_bytes_u16(bytes);
    bytes->big_endian = order != 1;
    uint32_t length = as_bytes_u32(bytes);
    const char *magic = length == MAGIC_SIZE ? as_bytes_take(bytes, MAGIC_SIZE) : NULL;
    if (!magic || memcmp(magic, MAGIC, MAGIC_SIZE) != 0)
        return as_fail(file->reader->error, ASSAY_E_FORMAT, start, "wrong-magic",
                       "is not an experiment of Extra-P 3: %s is missing", MAGIC);
    file->ds->format_version = as_x3_str(file);
    if (file->no_memory) return as_reader_memory(file->reader);
    if (file->rule) return as_fail(file->reader->error, ASSAY_E_FORMAT, start, file->rule, "the version is not a text");
    return bytes->failed
               ? as_fail(file->reader->error, ASSAY_E_FORMAT, start, "truncated", "the file ends inside its version")
               : ASSAY_OK;
}

/* A file that says nothing is refused, as Extra-P does. */
static assay_status check_content(as_x3_file *file) {
    const struct {
        bool is_missing;
        const char *rule, *what;
    } needs[] = {{!as_ds_parameters(file->ds), "no-parameters", "parameters"},
                 {!file->ds->n_points, "no-coordinates", "coordinates"},
                 {!file->ds->metrics.count, "no-metrics", "metrics"},
                 {!as_experiment_tree(file->experiment)->nodes.count, "no-callpaths", "call paths"}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (needs[i].is_missing)
            return as_broken(file->reader, as_place_file(file->reader->input->path), needs[i].rule,
                             "the file has no %s", needs[i].what);
    }
    return ASSAY_OK;
}

static assay_status read_all(as_x3_file *file) {
    AS_TRY(read_head(file));
    size_t reported = 0;
    while (!file->is_fatal && file->bytes.at < file->bytes.size) {
        AS_TRY(read_record(file));
        if (file->bytes.at - reported < 1 << 18) continue;
        reported = file->bytes.at;
        AS_TRY(as_reader_progress(file->reader, reported));
    }
    AS_TRY(check_content(file));
    const assay_id *new_ids;
    bool fine = as_x3_finish_models(file) &&
                as_experiment_finish(file->experiment, as_place_file(file->reader->input->path), &new_ids) &&
                as_extrap_renumber(file->ds, new_ids);
    return fine ? ASSAY_OK : as_reader_memory(file->reader);
}

static assay_status read_extrap_3(as_reader *reader) {
    as_dataset *ds = reader->dataset;
    as_x3_file file = {.reader = reader,
                       .ds = ds,
                       .experiment = as_experiment_new(ds),
                       .bytes = as_bytes_of(reader->input->data, reader->input->size)};
    enum { N_MAPS = 5 };
    as_map *const maps[N_MAPS] = {&file.regions, &file.region_names, &file.callpaths, &file.coordinates,
                                  &file.comments};
    for (size_t i = 0; i < N_MAPS; i++) as_map_init(maps[i], &ds->budget);
    as_vec_init(&file.generators, sizeof(as_x3_generator), &ds->budget);
    as_vec_init(&file.segments, sizeof(as_segment), &ds->budget);
    as_vec_init(&file.terms, sizeof(as_term), &ds->budget);
    assay_status status = file.experiment ? read_all(&file) : as_reader_memory(reader);
    as_vec_free(&file.terms);
    as_vec_free(&file.segments);
    as_vec_free(&file.generators);
    for (size_t i = 0; i < N_MAPS; i++) as_map_free(maps[i]);
    as_experiment_free(file.experiment);
    return status;
}

static int bid_extrap_3(const as_probe *probe) {
    bool is_ours = !probe->is_directory && probe->head_size >= MAGIC_AT + MAGIC_SIZE &&
                   memcmp(probe->head + MAGIC_AT, MAGIC, MAGIC_SIZE) == 0;
    return is_ours ? 8 * MAGIC_SIZE : 0;
}

const struct assay_format as_format_extrap_3 = {
    .name = "extrap-3",
    .title = "Extra-P 3 experiment",
    .extensions = "",
    .holds = AS_HOLDS_STATISTICS | AS_HOLDS_MODELS | AS_HOLDS_RECORDS | AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS |
             AS_HOLDS_SOURCE,
    .bid = bid_extrap_3,
    .read = read_extrap_3,
};
