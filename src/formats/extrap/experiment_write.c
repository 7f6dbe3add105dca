/* Writing a .extra-p file as Extra-P 4.2 opens it. Members it does not know, which carry what it has no place for, it
 * steps over. */
#include "formats/extrap/experiment.h"

#include <stdlib.h>

static const char VERSION[] = "4.2.5"; /* of the layout written here */
static const char *const KNOWN_KEYS[] = {"Extra-P", "scaling",      "parameters", "callpaths",
                                         "metrics", "measurements", "modelers"};

/* ---- small parts ------------------------------------------------------------------------------------------------- */

size_t as_xp_format_real(double value, char buffer[AS_NUMBER_SIZE]) {
    if (!isfinite(value)) {
        const char *word = isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"";
        memcpy(buffer, word, strlen(word) + 1);
        return strlen(word);
    }
    return as_real_format_python(value, buffer);
}

void as_xp_write_real(as_output *out, double value) {
    char text[AS_NUMBER_SIZE];
    as_output_write(out, text, as_xp_format_real(value, text));
}

void as_xp_write_str(as_output *out, const as_dataset *ds, as_str text) {
    as_json_write_string(out, as_ds_text(ds, text), as_str_size(&ds->strings, text));
}

void as_xp_write_cell(as_output *out, as_cell cell) {
    switch (cell.type) {
    case AS_CELL_NULL: as_output_text(out, "null"); break;
    case AS_CELL_INT: as_output_int(out, cell.i); break;
    case AS_CELL_UINT: as_output_number(out, (as_number){.kind = AS_UINT, .u = cell.u}); break;
    case AS_CELL_REAL: as_xp_write_real(out, cell.r); break;
    case AS_CELL_TEXT: as_json_write_string(out, cell.text, cell.size); break;
    case AS_CELL_JSON: as_output_write(out, cell.text, cell.size); break;
    }
}

assay_status as_xp_check_size(const as_writer *writer, uint64_t size) {
    const as_budget *budget = &writer->dataset->budget;
    return !budget->limit || size <= budget->limit ? ASSAY_OK : as_fail_memory(writer->error, NULL);
}

bool as_xp_group(as_xp_groups *groups, const assay_id *contexts, size_t n) {
    size_t n_contexts = 0;
    for (size_t i = 0; i < n; i++) {
        if (contexts[i] != ASSAY_NONE && contexts[i] >= n_contexts) n_contexts = (size_t)contexts[i] + 1;
    }
    *groups = (as_xp_groups){.heads = malloc((n + 1) * sizeof *groups->heads),
                             .next = malloc((n + 1) * sizeof *groups->next)};
    uint32_t *tails =
        calloc(n_contexts + 1, sizeof *tails); /* by context: the last item of its group so far + 1, or 0 */
    bool fine = groups->heads && groups->next && tails;
    for (size_t i = 0; fine && i < n; i++) {
        groups->next[i] = UINT32_MAX;
        if (contexts[i] == ASSAY_NONE) continue;
        uint32_t *tail = &tails[contexts[i]];
        if (*tail)
            groups->next[*tail - 1] = (uint32_t)i;
        else
            groups->heads[groups->n_groups++] = (uint32_t)i;
        *tail = (uint32_t)i + 1;
    }
    free(tails);
    return fine;
}

void as_xp_groups_free(as_xp_groups *groups) {
    free(groups->heads);
    free(groups->next);
}

/* ---- the state of a writer --------------------------------------------------------------------------------------- */

typedef struct writing {
    as_writer *writer;
    const as_dataset *ds;
    as_output *json;
    as_xp_value_writer values;
    as_vec path;             /* char: of a call path */
    as_vec points;           /* char: "[4.0,8.0]" of all points, one behind the other */
    as_vec point_ends;       /* size_t */
    const as_table *records; /* further members of measurements, or NULL */
    as_map record_of;        /* (series, point) -> row of records */

    /* the series being written */
    uint32_t series_index;
    const as_block *block; /* NULL: it has no values */
    const assay_id *runs;  /* of its rows, or NULL: all are of block->run */
    uint64_t begin_row, end_row;
    uint64_t next_row;   /* the first one that is not taken */
    assay_id last_point; /* whose rows are taken */
    bool is_first;
} writing;

static assay_status no_memory(const writing *w) { return as_fail_memory(w->writer->error, NULL); }

static assay_status write_path(writing *w, assay_id context) {
    if (!as_context_path(w->ds, context, &w->path)) return no_memory(w);
    as_json_write_string(w->json, w->path.data, w->path.count - 1);
    return as_xp_check_size(w->writer, as_output_size(w->json));
}

static bool format_points(writing *w) {
    size_t n = as_ds_parameters(w->ds);
    for (size_t point = 0; point < w->ds->n_points; point++) {
        const double *coordinates = as_ds_point(w->ds, (assay_id)point);
        for (size_t i = 0; i < n; i++) {
            char text[AS_NUMBER_SIZE];
            if (!as_vec_append(&w->points, i ? "," : "[", 1) ||
                !as_vec_append(&w->points, text, as_xp_format_real(coordinates[i], text)))
                return false;
        }
        if (!as_vec_append(&w->points, "]", 1) || !as_vec_append(&w->point_ends, &w->points.count, 1)) return false;
    }
    return true;
}

/* ---- records: further members of measurements -------------------------------------------------------------------- */

typedef struct record_columns {
    size_t metric, context, point;
} record_columns;

static bool find_record_columns(const as_table *table, record_columns *columns) {
    columns->metric = as_table_find_column(table, "metric");
    columns->context = as_table_find_column(table, "context");
    columns->point = as_table_find_column(table, "point");
    return columns->metric != SIZE_MAX && columns->context != SIZE_MAX && columns->point != SIZE_MAX;
}

/* Which measurement each record belongs to. *homeless: records without one, or with one that another has already. False
 * when memory is out. */
static bool index_records(const as_dataset *ds, const as_table *table, as_map *record_of, uint64_t *homeless) {
    record_columns columns;
    size_t n = as_table_rows(table);
    *homeless = n;
    if (!find_record_columns(table, &columns)) return true;
    as_map series_of;
    as_map_init(&series_of, NULL);
    bool fine = n < UINT32_MAX;
    for (size_t i = 0; i < ds->series.count && fine; i++) {
        const as_series *series = as_ds_series(ds, i);
        fine = as_map_put(&series_of, as_pair(series->metric, series->context), (uint32_t)i);
    }
    for (size_t row = 0; row < n && fine; row++) {
        as_cell metric = as_table_get(table, row, columns.metric), context = as_table_get(table, row, columns.context),
                point = as_table_get(table, row, columns.point);
        if (metric.type != AS_CELL_INT || context.type != AS_CELL_INT || point.type != AS_CELL_INT) continue;
        uint32_t series = as_map_get(&series_of, as_pair((uint32_t)metric.i, (uint32_t)context.i));
        if (series == AS_MAP_NONE || as_map_get(record_of, as_pair(series, (uint32_t)point.i)) != AS_MAP_NONE) continue;
        fine = as_map_put(record_of, as_pair(series, (uint32_t)point.i), (uint32_t)row);
        --*homeless;
    }
    as_map_free(&series_of);
    return fine;
}

static bool is_record_key(const char *name) {
    static const char *const own[] = {"id", "run", "metric", "context", "point"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strcmp(name, own[i]) == 0) return true;
    }
    return false;
}

static void write_record(writing *w, uint32_t row) {
    for (size_t column = 0; column < as_table_columns(w->records); column++) {
        const char *name = as_table_column_name(w->records, column);
        as_cell cell = as_table_get(w->records, row, column);
        if (is_record_key(name) || cell.type == AS_CELL_NULL) continue;
        if (strcmp(name, AS_XP_RECORD_OTHERS) == 0 && cell.type == AS_CELL_JSON && cell.size > 2 &&
            cell.text[0] == '{') {
            as_output_char(w->json, ',');
            as_output_write(w->json, cell.text + 1, cell.size - 2); /* {"a":1,"b":2} without its braces */
            continue;
        }
        if (strncmp(name, AS_XP_RECORD_PREFIX, strlen(AS_XP_RECORD_PREFIX)) == 0) name += strlen(AS_XP_RECORD_PREFIX);
        as_output_char(w->json, ',');
        as_json_write_string(w->json, name, strlen(name));
        as_output_char(w->json, ':');
        as_xp_write_cell(w->json, cell);
    }
}

/* ---- measurements ------------------------------------------------------------------------------------------------ */

static void begin_series(writing *w, uint32_t index) {
    const as_series *series = as_ds_series(w->ds, index);
    w->series_index = index;
    w->block = as_ds_metric_block(w->ds, series->metric);
    uint32_t context = w->block ? as_block_find(w->block, series->context) : UINT32_MAX;
    if (context == UINT32_MAX) w->block = NULL;
    w->begin_row = w->next_row = w->block ? w->block->starts[context] : 0;
    w->end_row = w->block ? w->block->starts[context + 1] : 0;
    w->runs = w->block && w->block->runs ? as_block_runs(w->block, context) : NULL;
    w->last_point = ASSAY_NONE;
}

static assay_id point_of_row(const writing *w, uint64_t row) {
    return as_ds_run(w->ds, w->runs ? w->runs[row - w->begin_row] : w->block->run)->point;
}

/* First row of the series whose point is not below `point`: rows are sorted by run, runs by point. */
static uint64_t lower_row(const writing *w, uint64_t point) {
    uint64_t low = w->next_row, high = w->end_row;
    if (low < high && point_of_row(w, low) >= point) return low;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (point_of_row(w, middle) < point)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The rows of the next point of the series, *first … w->next_row - 1. False if it has none, or is the one before: its
 * values are with the first. */
static bool take_rows(writing *w, assay_id point, uint64_t *first) {
    if (point == w->last_point || !w->block) return false;
    *first = lower_row(w, point);
    uint64_t end = *first;
    while (end < w->end_row && point_of_row(w, end) == point) end++;
    w->last_point = point;
    if (end == *first) return false;
    w->next_row = end;
    return true;
}

static assay_status add_values(writing *w, assay_id point) {
    uint64_t first;
    return take_rows(w, point, &first) ? as_xp_write_values(&w->values, w->block, first, w->next_row) : ASSAY_OK;
}

/* The raw values of the points that as_measure() visits, in that order. */
static assay_status add_series_values(writing *w, uint32_t index) {
    const as_series *series = as_ds_series(w->ds, index);
    begin_series(w, index);
    for (uint32_t i = 0; i < series->n_measurements; i++)
        AS_TRY(add_values(w, as_ds_measurement(w->ds, series->first_measurement + i)->point));
    for (uint64_t row = w->begin_row; row < w->end_row && !series->n_measurements;) {
        assay_id point = point_of_row(w, row);
        while (row < w->end_row && point_of_row(w, row) == point) row++;
        if (point != ASSAY_NONE) AS_TRY(add_values(w, point));
    }
    return ASSAY_OK;
}

/* All raw values, in the order of the document that will refer to them. They come first: the document is written as it
 * is made, and takes no other entry in between. */
static assay_status write_values(writing *w, const as_xp_groups *groups) {
    for (size_t i = 0; i < groups->n_groups; i++) {
        for (uint32_t item = groups->heads[i]; item != UINT32_MAX; item = groups->next[item])
            AS_TRY(add_series_values(w, item));
    }
    return as_xp_flush_values(&w->values);
}

/* Where the raw values of a point are, if there are any. */
static void write_reference(writing *w, assay_id point) {
    uint64_t first, chunk, index;
    if (!take_rows(w, point, &first)) {
        as_output_write(w->json, "null", 4);
        return;
    }
    as_xp_next_values(&w->values, &chunk, &index);
    char text[2 * AS_NUMBER_SIZE + 3], *at = text;
    *at++ = '[';
    at += as_uint_format(chunk, at);
    *at++ = ',';
    at += as_uint_format(index, at);
    *at++ = ']';
    as_output_write(w->json, text, (size_t)(at - text));
}

static char *put_text(char *at, const char *text, size_t size) {
    memcpy(at, text, size);
    return at + size;
}

static bool write_measurement(void *user, const as_measurement *m) {
    writing *w = user;
    size_t from = m->point ? AS_AT(size_t, &w->point_ends, m->point - 1) : 0,
           to = AS_AT(size_t, &w->point_ends, m->point);
    if (!w->is_first) as_output_char(w->json, ',');
    w->is_first = false;
    as_output_write(w->json, "{\"coordinate\":", 14);
    as_output_write(w->json, (const char *)w->points.data + from, to - from);
    char text[6 * AS_NUMBER_SIZE + 128], *at = text; /* in one piece: this is where the time goes */
#define PUT(literal) at = put_text(at, literal, sizeof literal - 1)
    PUT(",\"median\":");
    at += as_xp_format_real(m->median, at);
    PUT(",\"mean\":");
    at += as_xp_format_real(m->mean, at);
    PUT(",\"minimum\":");
    at += as_xp_format_real(m->minimum, at);
    PUT(",\"maximum\":");
    at += as_xp_format_real(m->maximum, at);
    PUT(",\"std\":");
    at += as_xp_format_real(m->std, at);
    PUT(",\"repetitions\":");
    if (m->repetitions < 0)
        PUT("null");
    else
        at += as_int_format(m->repetitions, at);
    PUT(",\"values\":");
#undef PUT
    as_output_write(w->json, text, (size_t)(at - text));
    write_reference(w, m->point);
    uint32_t record = w->records ? as_map_get(&w->record_of, as_pair(w->series_index, m->point)) : AS_MAP_NONE;
    if (record != AS_MAP_NONE) write_record(w, record);
    as_output_char(w->json, '}');
    return true;
}

static assay_status write_series(writing *w, uint32_t index) {
    const as_series *series = as_ds_series(w->ds, index);
    begin_series(w, index);
    w->is_first = true;
    as_xp_write_str(w->json, w->ds, as_ds_metric(w->ds, series->metric)->name);
    as_output_text(w->json, ":[");
    if (!as_measure(w->ds, series, write_measurement, w)) return no_memory(w);
    as_output_char(w->json, ']');
    return ASSAY_OK;
}

static assay_status write_groups(writing *w, const as_xp_groups *groups) {
    for (size_t i = 0; i < groups->n_groups; i++) {
        uint32_t item = groups->heads[i];
        if (i) as_output_char(w->json, ',');
        AS_TRY(write_path(w, as_ds_series(w->ds, item)->context));
        as_output_text(w->json, ":{");
        for (bool first = true; item != UINT32_MAX; item = groups->next[item], first = false) {
            if (!first) as_output_char(w->json, ',');
            AS_TRY(write_series(w, item));
        }
        as_output_char(w->json, '}');
    }
    return ASSAY_OK;
}

/* The series of each call path, to be freed with as_xp_groups_free(). False when memory is out. */
static bool group_series(const as_dataset *ds, as_xp_groups *groups) {
    size_t n = ds->series.count;
    assay_id *contexts = malloc((n + 1) * sizeof *contexts);
    for (size_t i = 0; contexts && i < n; i++) contexts[i] = as_ds_series(ds, i)->context;
    bool fine = contexts && as_xp_group(groups, contexts, n);
    free(contexts);
    return fine;
}

/* ---- entries of call paths and metrics --------------------------------------------------------------------------- */

/* Attributes of one owner, as a chain through the dataset's list. */
static void write_attributes(writing *w, const as_xp_groups *chain, uint32_t head, bool tags, bool *is_first) {
    for (uint32_t i = head; i != UINT32_MAX; i = chain->next[i]) {
        const as_attribute *attribute = as_ds_attribute(w->ds, i);
        const char *key = as_ds_text(w->ds, attribute->key);
        bool is_tag = strncmp(key, AS_XP_TAG_PREFIX, strlen(AS_XP_TAG_PREFIX)) == 0;
        if (is_tag != tags) continue;
        if (is_tag) key += strlen(AS_XP_TAG_PREFIX);
        if (!*is_first) as_output_char(w->json, ',');
        *is_first = false;
        as_json_write_string(w->json, key, strlen(key));
        as_output_char(w->json, ':');
        as_xp_write_cell(w->json, attribute->value);
    }
}

static void write_text_member(writing *w, const char *key, as_str text) {
    if (text == AS_NO_STR) return;
    as_output_printf(w->json, ",\"%s\":", key);
    as_xp_write_str(w->json, w->ds, text);
}

/* {"tags":{…},…}: tags, what the tables have columns for, other attributes. */
static void write_entry(writing *w, as_owner owner, assay_id id, const as_xp_groups *chain, uint32_t head) {
    bool is_first = true;
    as_output_text(w->json, ":{\"tags\":{");
    write_attributes(w, chain, head, true, &is_first);
    as_output_char(w->json, '}');
    if (owner == AS_OWNER_METRIC) {
        const as_metric *metric = as_ds_metric(w->ds, id);
        write_text_member(w, "unit", metric->unit);
        write_text_member(w, "display_name", metric->display_name);
        write_text_member(w, "description", metric->description);
    } else if (as_ds_context(w->ds, id)->region != ASSAY_NONE) {
        const as_region *region = as_ds_region(w->ds, as_ds_context(w->ds, id)->region);
        write_text_member(w, "file", region->file);
        if (region->line_begin >= 0) as_output_printf(w->json, ",\"line\":%lld", (long long)region->line_begin);
    }
    is_first = false;
    write_attributes(w, chain, head, false, &is_first);
    as_output_char(w->json, '}');
}

/* Whether an owner needs an entry even without attributes. */
static bool has_details(const as_dataset *ds, as_owner owner, assay_id id, bool has_series) {
    if (owner == AS_OWNER_METRIC) {
        const as_metric *metric = as_ds_metric(ds, id);
        return !has_series || metric->unit != AS_NO_STR || metric->display_name != AS_NO_STR ||
               metric->description != AS_NO_STR;
    }
    const as_context *context = as_ds_context(ds, id);
    if (!context->is_callpath) return false;
    const as_region *region = context->region == ASSAY_NONE ? NULL : as_ds_region(ds, context->region);
    return !has_series || (region && (region->file != AS_NO_STR || region->line_begin >= 0));
}

static assay_status write_owner_entries(writing *w, as_owner owner, const as_xp_groups *chain, const uint32_t *head_of,
                                        const bool *has_series, size_t n) {
    bool is_first = true;
    for (size_t id = 0; id < n; id++) {
        if (head_of[id] == UINT32_MAX && !has_details(w->ds, owner, (assay_id)id, has_series[id])) continue;
        as_output_text(w->json, is_first ? owner == AS_OWNER_METRIC ? "\"metrics\":{" : "\"callpaths\":{" : ",");
        is_first = false;
        if (owner == AS_OWNER_METRIC)
            as_xp_write_str(w->json, w->ds, as_ds_metric(w->ds, (assay_id)id)->name);
        else
            AS_TRY(write_path(w, (assay_id)id));
        write_entry(w, owner, (assay_id)id, chain, head_of[id]);
    }
    if (!is_first) as_output_text(w->json, "},");
    return ASSAY_OK;
}

/* "callpaths" or "metrics", with a comma behind, if any has something to say. */
static assay_status write_owners(writing *w, as_owner owner) {
    size_t n = owner == AS_OWNER_METRIC ? w->ds->metrics.count : w->ds->contexts.count,
           n_attributes = w->ds->attributes.count;
    assay_id *owners = malloc((n_attributes + 1) * sizeof *owners);
    uint32_t *head_of = malloc((n + 1) * sizeof *head_of);
    bool *has_series = calloc(n + 1, sizeof *has_series);
    as_xp_groups chain = {0};
    for (size_t i = 0; owners && i < n_attributes; i++) {
        const as_attribute *attribute = as_ds_attribute(w->ds, i);
        owners[i] = attribute->owner == owner ? attribute->owner_id : ASSAY_NONE;
    }
    bool fine = owners && head_of && has_series && as_xp_group(&chain, owners, n_attributes);
    if (fine) memset(head_of, 0xff, n * sizeof *head_of);
    for (size_t i = 0; fine && i < chain.n_groups; i++) head_of[owners[chain.heads[i]]] = chain.heads[i];
    for (size_t i = 0; fine && i < w->ds->series.count; i++) {
        const as_series *series = as_ds_series(w->ds, i);
        has_series[owner == AS_OWNER_METRIC ? series->metric : series->context] = true;
    }
    assay_status status = fine ? write_owner_entries(w, owner, &chain, head_of, has_series, n) : no_memory(w);
    as_xp_groups_free(&chain);
    free(has_series);
    free(head_of);
    free(owners);
    return status;
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static bool is_known_key(const char *key) {
    for (size_t i = 0; i < sizeof KNOWN_KEYS / sizeof *KNOWN_KEYS; i++) {
        if (strcmp(key, KNOWN_KEYS[i]) == 0) return true;
    }
    return strncmp(key, AS_XP_MODELER_PREFIX, strlen(AS_XP_MODELER_PREFIX)) == 0;
}

/* The dataset's scaling, as one of the words that Extra-P takes, or NULL. */
static const char *scaling_of(const as_dataset *ds) {
    static const char *const words[] = {"weak", "weak_threaded", "strong"};
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner != AS_OWNER_DATASET || attribute->value.type != AS_CELL_TEXT ||
            strcmp(as_ds_text(ds, attribute->key), "scaling") != 0)
            continue;
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            if (strcmp(attribute->value.text, words[k]) == 0) return words[k];
        }
    }
    return NULL;
}

static void write_version(writing *w) {
    bool is_own = strcmp(w->ds->format, "extrap-experiment") == 0 && w->ds->format_version != AS_NO_STR;
    as_output_text(w->json, "{\"Extra-P\":");
    if (is_own)
        as_xp_write_str(w->json, w->ds, w->ds->format_version);
    else
        as_json_write_string(w->json, VERSION, strlen(VERSION));
    const char *scaling = scaling_of(w->ds);
    if (scaling) as_output_printf(w->json, ",\"scaling\":\"%s\"", scaling);
}

static assay_status write_document(writing *w, const as_xp_groups *groups) {
    const as_dataset *ds = w->ds;
    write_version(w);
    as_output_text(w->json, ",\"parameters\":[");
    for (size_t i = 0; i < as_ds_parameters(ds); i++) {
        if (i) as_output_char(w->json, ',');
        as_xp_write_str(w->json, ds, AS_AT(as_str, &ds->parameters, i));
    }
    as_output_text(w->json, "],");
    AS_TRY(write_owners(w, AS_OWNER_CONTEXT));
    AS_TRY(write_owners(w, AS_OWNER_METRIC));
    as_output_text(w->json, "\"measurements\":{");
    AS_TRY(write_groups(w, groups));
    as_output_char(w->json, '}');
    if (ds->model_sets.count) {
        as_output_text(w->json, ",\"modelers\":");
        AS_TRY(as_xp_write_modelers(w->writer, w->json));
    }
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        const char *key = as_ds_text(ds, attribute->key);
        if (attribute->owner != AS_OWNER_DATASET || is_known_key(key)) continue;
        as_output_char(w->json, ',');
        as_json_write_string(w->json, key, strlen(key));
        as_output_char(w->json, ':');
        as_xp_write_cell(w->json, attribute->value);
    }
    as_output_char(w->json, '}');
    return ASSAY_OK;
}

static assay_status check_name(const writing *w, as_str name) {
    const char *text = as_ds_text(w->ds, name);
    if (!strstr(text, AS_XP_TAGS_IN_NAME)) return ASSAY_OK;
    return as_fail(w->writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "bad-name",
                   "Extra-P would take a part of the name '%s' for tags", text);
}

static assay_status check_names(const writing *w) {
    for (size_t i = 0; i < w->ds->metrics.count; i++) AS_TRY(check_name(w, as_ds_metric(w->ds, (assay_id)i)->name));
    for (size_t i = 0; i < w->ds->contexts.count; i++) AS_TRY(check_name(w, as_ds_context(w->ds, (assay_id)i)->name));
    return ASSAY_OK;
}

static assay_status write_entries(writing *w, as_zip_writer *zip, const as_xp_groups *groups) {
    AS_TRY(write_values(w, groups));
    AS_TRY(as_zip_begin(zip, AS_XP_JSON_NAME, w->writer->threads, &w->json, w->writer->error));
    AS_TRY(write_document(w, groups));
    return as_zip_end(zip, w->writer->error);
}

static assay_status write_zip(writing *w, as_zip_writer *zip) {
    uint64_t homeless;
    AS_TRY(check_names(w));
    if (!format_points(w) || (w->records && !index_records(w->ds, w->records, &w->record_of, &homeless)))
        return no_memory(w);
    as_xp_groups groups = {0};
    assay_status status = group_series(w->ds, &groups) ? write_entries(w, zip, &groups) : no_memory(w);
    as_xp_groups_free(&groups);
    return status;
}

assay_status as_xp_write(as_writer *writer, uint64_t chunk_size) {
    const as_dataset *ds = writer->dataset;
    if (!as_ds_parameters(ds)) {
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-parameters",
                       "the dataset has no parameters; an Extra-P experiment needs one at least");
    }
    as_zip_writer *zip = as_zip_writer_new(writer->out);
    if (!zip) return as_fail_memory(writer->error, NULL);
    writing w = {.writer = writer, .ds = ds, .records = as_ds_records(ds, "record")};
    as_vec_init(&w.path, 1, NULL);
    as_vec_init(&w.points, 1, NULL);
    as_vec_init(&w.point_ends, sizeof(size_t), NULL);
    as_map_init(&w.record_of, NULL);
    bool fine = as_xp_value_writer_init(&w.values, zip, chunk_size, writer->error);
    assay_status status = fine ? write_zip(&w, zip) : no_memory(&w);
    as_xp_value_writer_free(&w.values);
    as_map_free(&w.record_of);
    as_vec_free(&w.point_ends);
    as_vec_free(&w.points);
    as_vec_free(&w.path);
    if (status == ASSAY_OK) return as_zip_finish(zip, writer->error);
    as_zip_discard(zip);
    return status;
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

static void lose_attributes(const as_dataset *ds, as_losses *losses) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < as_ds_attribute_count(ds); i++) {
        as_attribute attribute;
        as_ds_any_attribute(ds, i, &attribute);
        const char *key = as_ds_text(ds, attribute.key);
        if (attribute.owner == AS_OWNER_CONTEXT || attribute.owner == AS_OWNER_METRIC) continue;
        bool is_kept = !is_known_key(key) || strcmp(ds->format, "extrap-experiment") == 0 ||
                       (strcmp(key, "scaling") == 0 && scaling_of(ds));
        n += attribute.owner != AS_OWNER_DATASET || !is_kept;
    }
    if (n)
        as_lose(losses, "%llu attribute%s that belong%s to no metric or call path", (unsigned long long)n,
                n == 1 ? "" : "s", n == 1 ? "s" : "");
}

static void lose_records(const as_dataset *ds, as_losses *losses) {
    uint64_t n = 0;
    for (size_t i = 0; i < ds->records.count; i++) {
        const as_record_table *records = &AS_AT(as_record_table, &ds->records, i);
        uint64_t homeless = as_table_rows(records->table);
        if (strcmp(as_ds_text(ds, records->name), "record") == 0) {
            as_map record_of;
            as_map_init(&record_of, NULL);
            losses->failed |= !index_records(ds, records->table, &record_of, &homeless);
            as_map_free(&record_of);
        }
        n += homeless;
    }
    if (n)
        as_lose(losses, "%llu record%s that belong%s to no single measurement", (unsigned long long)n,
                n == 1 ? "" : "s", n == 1 ? "s" : "");
}

static void lose_points(const as_dataset *ds, as_losses *losses) {
    bool *measured = calloc(ds->n_points + 1, sizeof *measured);
    if (!measured) {
        losses->failed = true;
        return;
    }
    for (size_t i = 0; i < ds->runs.count; i++) {
        assay_id point = as_ds_run(ds, (assay_id)i)->point;
        if (point != ASSAY_NONE) measured[point] = true;
    }
    for (size_t i = 0; i < ds->measurements.count; i++) measured[as_ds_measurement(ds, i)->point] = true;
    uint64_t n = 0;
    for (size_t i = 0; i < ds->n_points; i++) n += !measured[i];
    if (n) as_lose(losses, "%llu point%s without data", (unsigned long long)n, n == 1 ? "" : "s");
    free(measured);
}

void as_xp_losses(const as_dataset *ds, as_losses *losses) {
    as_xp_lose_values(ds, losses);
    lose_attributes(ds, losses);
    lose_records(ds, losses);
    lose_points(ds, losses);
}
