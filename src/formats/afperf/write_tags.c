/* What captures say in words: runs, measurement types, tags. */
#include <math.h>
#include <stdlib.h>

#include "formats/afperf/write_foreign.h"

void as_af_put_hex(as_output *out, uint64_t id) {
    char digits[AS_NUMBER_SIZE];
    as_output_char(out, ',');
    as_output_write(out, digits, as_hex_format(id, digits));
}

void as_af_put_number(as_output *out, uint64_t number) {
    char digits[AS_NUMBER_SIZE];
    as_output_char(out, ',');
    as_output_write(out, digits, as_uint_format(number, digits));
}

static void put_words(as_output *out, const char *text) {
    as_output_char(out, ',');
    if (text) as_af_put_text(out, text, strlen(text));
}

/* ---- tags -------------------------------------------------------------------------------------------------------- */

bool as_af_is_tag(const char *name, as_cell value) {
    bool is_text = value.type == AS_CELL_TEXT || value.type == AS_CELL_JSON;
    return *name && !strpbrk(name, "=;") && value.type != AS_CELL_NULL &&
           !(is_text && (memchr(value.text, ';', value.size) || memchr(value.text, '\0', value.size)));
}

static size_t cell_digits(as_cell value, char digits[AS_NUMBER_SIZE]) {
    if (value.type == AS_CELL_INT) return as_int_format(value.i, digits);
    if (value.type == AS_CELL_UINT) return as_uint_format(value.u, digits);
    return as_real_format(value.r, digits);
}

bool as_af_add_tag(as_vec *tags, const char *name, as_cell value) {
    char digits[AS_NUMBER_SIZE];
    bool is_text = value.type == AS_CELL_TEXT || value.type == AS_CELL_JSON;
    size_t size = is_text ? value.size : cell_digits(value, digits);
    return (!tags->count || as_vec_text(tags, ";")) && as_vec_text(tags, name) && as_vec_text(tags, "=") &&
           as_vec_append(tags, is_text ? value.text : digits, size);
}

/* "size" of the attribute "tag:size", which was a tag before. */
static const char *tag_name(const char *key) { return strncmp(key, "tag:", 4) == 0 ? key + 4 : key; }

/* Those that RunInfo has fields for, or that say what follows from the records. */
static bool is_field(const char *key) {
    static const char *const fields[] = {"application name",
                                         "application version",
                                         "afperf format version",
                                         "timestamp units",
                                         "start timestamp",
                                         "pauses",
                                         "paused"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(key, fields[i]) == 0) return true;
    }
    return false;
}

bool as_af_keeps_attribute(const as_dataset *ds, const as_attribute *attribute) {
    const char *key = as_ds_text(ds, attribute->key);
    bool is_of_run = attribute->owner == AS_OWNER_RUN || attribute->owner == AS_OWNER_DATASET;
    if (is_of_run && is_field(key)) return true;
    return (is_of_run || attribute->owner == AS_OWNER_EVENT) && as_af_is_tag(tag_name(key), attribute->value);
}

/* Attribute number i of the run, those of the whole dataset being behind its own; NULL: there are not so many. */
static const as_attribute *attribute_of(const as_af_foreign *f, as_af_written_run run, size_t i) {
    size_t n = 0;
    if (run.run != ASSAY_NONE) {
        size_t first = f->first_attribute[run.run];
        n = f->first_attribute[run.run + 1] - first;
        if (i < n) return as_ds_attribute(f->ds, f->attributes[first + i]);
    }
    return i - n < f->first_of_dataset[1] ? as_ds_attribute(f->ds, f->of_dataset[i - n]) : NULL;
}

/* Numbers of the attributes of one kind of owner, sorted by owner, of which there are n. */
static bool sort_by_owner(const as_dataset *ds, as_owner owner, size_t n, size_t **numbers, size_t **first) {
    *numbers = malloc((ds->attributes.count + 1) * sizeof **numbers);
    *first = calloc(n + 2, sizeof **first);
    if (!*numbers || !*first) return false;
    size_t *next = *first + 1; /* of each where its next one goes: in the end, where those of the one behind it begin */
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner == owner && attribute->owner_id < n) next[attribute->owner_id + 1]++;
    }
    for (size_t i = 1; i <= n; i++) next[i] += next[i - 1];
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner == owner && attribute->owner_id < n) (*numbers)[next[attribute->owner_id]++] = i;
    }
    return true;
}

bool as_af_sort_attributes(as_af_foreign *f) {
    const as_dataset *ds = f->ds;
    if (!sort_by_owner(ds, AS_OWNER_RUN, ds->runs.count, &f->attributes, &f->first_attribute) ||
        !sort_by_owner(ds, AS_OWNER_DATASET, 1, &f->of_dataset, &f->first_of_dataset))
        return false;
    return ds->event_source || !ds->events.count ||
           sort_by_owner(ds, AS_OWNER_EVENT, ds->events.count, &f->of_events, &f->first_of_event);
}

static bool add_attribute(const as_dataset *ds, const as_attribute *attribute, as_vec *tags) {
    const char *key = as_ds_text(ds, attribute->key);
    bool is_said = is_field(key);
    return is_said || !as_af_keeps_attribute(ds, attribute) || as_af_add_tag(tags, tag_name(key), attribute->value);
}

static bool add_attributes(const as_af_foreign *f, as_af_written_run run, as_vec *tags) {
    const as_attribute *attribute;
    bool fine = true;
    for (size_t i = 0; fine && (attribute = attribute_of(f, run, i)); i++) fine = add_attribute(f->ds, attribute, tags);
    return fine;
}

bool as_af_context_tags(const as_dataset *ds, assay_id context, as_vec *tags) {
    const as_context *about = as_ds_context(ds, context);
    if (about->region == ASSAY_NONE) return true;
    const as_region *region = as_ds_region(ds, about->region);
    const char *kind = as_ds_text(ds, region->kind), *file = as_ds_text(ds, region->file),
               *module = as_ds_text(ds, region->module);
    bool fine = true;
    if (kind && *kind && strcmp(kind, "region") != 0 && strcmp(kind, "section") != 0 && strcmp(kind, "function") != 0 &&
        as_af_is_tag("kind", as_cell_text(kind)))
        fine = as_af_add_tag(tags, "kind", as_cell_text(kind));
    if (fine && file && *file && as_af_is_tag("file", as_cell_text(file)))
        fine = as_af_add_tag(tags, "file", as_cell_text(file));
    if (fine && region->line_begin > 0) fine = as_af_add_tag(tags, "line", as_cell_int(region->line_begin));
    if (fine && module && *module && as_af_is_tag("module", as_cell_text(module)))
        fine = as_af_add_tag(tags, "module", as_cell_text(module));
    return fine;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* A parameter is a tag whatever it is called. */
static bool add_coordinates(const as_dataset *ds, assay_id point, as_vec *tags) {
    bool fine = true;
    for (size_t i = 0; fine && point != ASSAY_NONE && i < as_ds_parameters(ds); i++) {
        size_t at = tags->count + (tags->count != 0), size = strlen(as_ds_parameter(ds, i));
        fine = as_af_add_tag(tags, as_ds_parameter(ds, i), as_cell_real(as_ds_point(ds, point)[i]));
        char *name = fine ? &AS_AT(char, tags, at) : NULL;
        for (size_t k = 0; name && k < size; k++) {
            if (name[k] == '=' || name[k] == ';') name[k] = '_';
        }
    }
    return fine;
}

static const char *run_attribute(const as_af_foreign *f, as_af_written_run run, const char *key) {
    const as_attribute *attribute;
    for (size_t i = 0; (attribute = attribute_of(f, run, i)); i++) {
        if (attribute->value.type == AS_CELL_TEXT && strcmp(as_ds_text(f->ds, attribute->key), key) == 0)
            return attribute->value.text;
    }
    return NULL;
}

/* The name of the file it comes from, where nobody says. */
static const char *application_of(const as_af_foreign *f, as_af_written_run run) {
    const char *name = run_attribute(f, run, "application name");
    if (name) return name;
    const char *path = run.run == ASSAY_NONE ? NULL : as_ds_text(f->ds, as_ds_run(f->ds, run.run)->source);
    if (!path || !*path) path = as_ds_text(f->ds, f->ds->path);
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash && slash[1] ? slash + 1 : path && *path ? path : "unknown";
}

/* The source's own number where it is one; else one that hardly any other run has, but always the same for the same
 * input. */
static uint64_t id_of(as_af_foreign *f, as_af_written_run run, size_t index) {
    const char *source = run.run == ASSAY_NONE ? NULL : as_ds_text(f->ds, as_ds_run(f->ds, run.run)->source_id);
    const char *path = as_ds_text(f->ds, f->ds->path);
    as_af_field field = {.text = source, .size = source ? (uint32_t)strlen(source) : 0};
    uint64_t id;
    if (!source || strncmp(source, "0x", 2) != 0 || !as_af_integer(&field, &id))
        id = ((path ? as_hash_everywhere(path, strlen(path)) : 0) & ~0xffffffull) + index + 1;
    while (as_map_get(&f->run_ids, id) != AS_MAP_NONE) id++;
    f->fine &= as_map_put(&f->run_ids, id, 0);
    return id;
}

uint64_t as_af_put_run(as_af_foreign *f, size_t index, uint64_t start) {
    as_af_written_run run = as_af_run_at(f->ds, index);
    as_output *out = f->out;
    uint64_t id = id_of(f, run, index);
    double wallclock = run.run == ASSAY_NONE ? NAN : as_ds_run(f->ds, run.run)->start_time;
    as_vec tags;
    as_vec_init(&tags, 1, f->budget);
    f->fine &= add_coordinates(f->ds, run.point, &tags) && add_attributes(f, run, &tags);
    as_output_text(out, "RunInfo");
    as_af_put_number(out, start);
    as_output_text(out, ",nanoseconds,");
    as_output_real(out, isfinite(wallclock) ? wallclock : 0);
    as_output_text(out, ",1.0.0");
    as_af_put_hex(out, id);
    put_words(out, application_of(f, run));
    put_words(out, run_attribute(f, run, "application version"));
    as_output_char(out, ',');
    as_af_put_text(out, tags.data ? tags.data : "", tags.count);
    as_output_char(out, '\n');
    as_vec_free(&tags);
    return id;
}

/* ---- measurement types ------------------------------------------------------------------------------------------- */

void as_af_put_measurement_type(as_output *out, const as_dataset *ds, uint64_t run, uint64_t id, assay_id metric,
                                bool is_real) {
    const as_metric *about = as_ds_metric(ds, metric);
    bool is_whole = as_dtype_is_integer(as_ds_metric_type(ds, metric).dtype) && !is_real;
    const char *unit = as_ds_text(ds, about->unit), *shown = as_ds_text(ds, about->display_name);
    double seconds = as_af_unit_seconds(ds, metric);
    if (seconds > 0) unit = seconds == 1 ? "s" : seconds == 1e-3 ? "ms" : seconds == 1e-6 ? "us" : "ns";
    if (!unit || !*unit) unit = "count";
    as_output_text(out, "MeasurementType,0");
    as_af_put_hex(out, run);
    as_af_put_hex(out, id);
    put_words(out, as_ds_text(ds, about->name));
    put_words(out, is_whole ? "int64" : "double");
    put_words(out, unit);
    put_words(out, shown && about->display_name != about->name ? shown : "");
    put_words(out, as_ds_text(ds, about->description));
    as_output_char(out, '\n');
}
