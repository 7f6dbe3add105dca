/* A dataset of another format as a profile. Call paths are written as Perun's collector kperf does, the function as uid
 * and its callers as trace, outermost first, since names stay what they are then; in experiments the whole path is the
 * uid, by which Perun tells apart what it fits. */
#include "formats/perun/write_foreign.h"

#include <stdlib.h>
#include <strings.h>

/* Traces repeat the path for each value: trees of endless recursion would fill any disk. */
enum { MOST_FRAMES = 500000000 };

/* A type of the new layout: one (metric, context). */
typedef struct foreign_type {
    assay_id metric, context;
    uint32_t number; /* among those of its uid */
} foreign_type;

typedef struct foreign {
    as_writer *writer;
    as_output *out;
    const as_dataset *ds;
    const as_perun_edits *edits;
    as_budget *budget;
    as_region_list regions;
    bool is_new, is_experiment, fine;
    as_vec types;      /* foreign_type */
    as_vec values;     /* as_foreign_value: of the metric at hand */
    as_vec path, text; /* assay_id; char */
    as_arena arena;
    as_strings uids;
    as_vec numbers; /* uint32_t, by uid: its types so far */
    /* by context: a metric of which it has a value, which is 0; ASSAY_NONE: none, or the path is known already */
    assay_id *idle;
    assay_id *calls; /* see as_foreign_calls() */
    uint64_t n_frames, n_resources;
} foreign;

/* ---- resources --------------------------------------------------------------------------------------------------- */

static const char *name_of(const foreign *f, assay_id context, size_t *size) {
    as_str name = as_ds_context(f->ds, context)->name;
    *size = name == AS_NO_STR ? 0 : as_str_size(&f->ds->strings, name);
    return name == AS_NO_STR ? "" : as_ds_text(f->ds, name);
}

/* Valid until the next call. */
static as_raw_json uid_of(foreign *f, assay_id context) {
    as_raw_json uid;
    if (f->is_experiment) {
        f->fine &= as_context_path(f->ds, context, &f->text);
        uid = (as_raw_json){f->text.data, f->text.count ? strlen(f->text.data) : 0};
    } else
        uid.text = name_of(f, context, &uid.size);
    return uid;
}

/* Callers, outermost first; the whole program is none, and neither are lines and loops. */
static void write_trace(foreign *f, assay_id context) {
    f->path.count = 0;
    for (assay_id id = as_ds_context(f->ds, context)->parent; id != ASSAY_NONE; id = as_ds_context(f->ds, id)->parent) {
        if (!as_context_is_root(f->ds, id) && f->calls[id] == id) f->fine &= as_vec_append(&f->path, &id, 1);
    }
    as_output_text(f->out, ", \"trace\": [");
    for (size_t i = f->path.count; i-- > 0;) {
        size_t size;
        const char *name = name_of(f, AS_AT(assay_id, &f->path, i), &size);
        as_output_text(f->out, "{\"func\": ");
        as_json_write_string(f->out, name, size);
        as_output_text(f->out, i ? "}, " : "}");
    }
    as_output_char(f->out, ']');
    f->n_frames += f->path.count;
}

/* "type": …, "uid": … and where it is. */
static void write_properties(foreign *f, assay_id metric, assay_id context) {
    as_raw_json uid = uid_of(f, context);
    assay_id region_id = as_ds_context(f->ds, context)->region;
    const as_region *region = region_id == ASSAY_NONE ? NULL : as_ds_region(f->ds, region_id);
    as_output_text(f->out, "\"type\": ");
    as_perun_write_str(f->out, f->ds, as_ds_metric(f->ds, metric)->name);
    as_output_text(f->out, ", \"uid\": ");
    as_json_write_string(f->out, uid.text, uid.size);
    if (!f->is_experiment) write_trace(f, context);
    if (region && region->file != AS_NO_STR) {
        as_output_text(f->out, ", \"source\": ");
        as_perun_write_str(f->out, f->ds, region->file);
    }
    if (region && region->line_begin >= 0) {
        as_output_text(f->out, ", \"line\": ");
        as_output_int(f->out, region->line_begin);
    }
}

/* Keys of resources, which no parameter may take. */
static bool is_taken(const char *name) {
    static const char *const taken[] = {"amount", "type", "uid", "trace", "source", "line", "time", "snapshot", NULL};
    for (size_t i = 0; taken[i]; i++) {
        if (strcmp(name, taken[i]) == 0) return true;
    }
    return false;
}

static void write_parameter_key(const foreign *f, size_t parameter) {
    const char *name = as_ds_parameter(f->ds, parameter);
    if (as_ds_parameters(f->ds) == 1)
        as_output_text(f->out, "\"structure-unit-size\"");
    else if (is_taken(name)) {
        as_output_text(f->out, "\"parameter ");
        as_output_text(f->out, name);
        as_output_char(f->out, '"');
    } else
        as_json_write_string(f->out, name, strlen(name));
}

/* Sizes are whole numbers wherever they can be. */
static void write_coordinate(const foreign *f, assay_id point, size_t parameter) {
    double value = point == ASSAY_NONE ? NAN : as_ds_point(f->ds, point)[parameter];
    if (value >= -9007199254740992.0 && value <= 9007199254740992.0 && value == (double)(int64_t)value)
        as_output_int(f->out, (int64_t)value);
    else if (isfinite(value))
        as_perun_write_real(f->out, value);
    else
        as_output_text(f->out, "null");
}

static bool write_id(foreign *f, const foreign_type *type, size_t i) {
    char digits[AS_NUMBER_SIZE];
    as_raw_json uid = uid_of(f, type->context);
    as_vec id;
    as_vec_init(&id, 1, f->budget);
    bool fine = as_vec_append(&id, uid.text, uid.size) && as_vec_text(&id, "#") &&
                as_vec_append(&id, digits, as_uint_format(type->number, digits));
    as_output_text(f->out, i ? ",\n    " : "\n    ");
    if (fine) as_json_write_string(f->out, id.data, id.count);
    as_output_text(f->out, ": {");
    as_vec_free(&id);
    return fine;
}

/* The n values of one (metric, context) as columns. */
static bool add_type(foreign *f, assay_id metric, const as_foreign_value *values, size_t n) {
    foreign_type type = {metric, values->context, 0};
    as_raw_json uid = uid_of(f, type.context);
    as_str known = as_intern(&f->uids, uid.text, uid.size);
    if (known == AS_NO_STR) return false;
    if (known == f->numbers.count && !as_vec_push(&f->numbers)) return false;
    type.number = AS_AT(uint32_t, &f->numbers, known)++;
    if (!write_id(f, &type, f->types.count) || !as_vec_append(&f->types, &type, 1)) return false;
    as_output_text(f->out, "\"amount\": [");
    for (size_t i = 0; i < n; i++) {
        if (i) as_output_text(f->out, ", ");
        as_perun_write_number(f->out, values[i].number);
    }
    as_output_char(f->out, ']');
    for (size_t p = 0; f->is_experiment && p < as_ds_parameters(f->ds); p++) {
        as_output_text(f->out, ", ");
        write_parameter_key(f, p);
        as_output_text(f->out, ": [");
        for (size_t i = 0; i < n; i++) {
            if (i) as_output_text(f->out, ", ");
            write_coordinate(f, values[i].point, p);
        }
        as_output_char(f->out, ']');
    }
    as_output_char(f->out, '}');
    return true;
}

/* The same one by one. */
static void add_resources(foreign *f, assay_id metric, const as_foreign_value *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        as_output_text(f->out, f->n_resources++ ? ",\n    {" : "\n    {");
        write_properties(f, metric, values->context);
        as_output_text(f->out, ", \"amount\": ");
        as_perun_write_number(f->out, values[i].number);
        for (size_t p = 0; f->is_experiment && p < as_ds_parameters(f->ds); p++) {
            as_output_text(f->out, ", ");
            write_parameter_key(f, p);
            as_output_text(f->out, ": ");
            write_coordinate(f, values[i].point, p);
        }
        as_output_char(f->out, '}');
    }
}

static bool is_zero(as_number number) {
    return number.kind == AS_REAL ? number.r == 0 : number.kind == AS_INT && number.i == 0;
}

static void mark_known(foreign *f, assay_id context) {
    for (; context != ASSAY_NONE && f->idle[context] != ASSAY_NONE - 1; context = as_ds_context(f->ds, context)->parent)
        f->idle[context] = ASSAY_NONE - 1;
}

static assay_status write_values(foreign *f, assay_id metric, const as_foreign_value *values, size_t n) {
    if (f->is_new)
        f->fine &= add_type(f, metric, values, n);
    else
        add_resources(f, metric, values, n);
    if (!f->fine) return as_fail_memory(f->writer->error, NULL);
    if (f->n_frames > MOST_FRAMES)
        return as_fail(f->writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "too-deep",
                       "the call tree is too deep for a profile, which repeats the call path at each value");
    return ASSAY_OK;
}

/* Of profiles only what is not 0: most of their matrix is. */
static assay_status write_metric(foreign *f, assay_id metric) {
    AS_TRY(as_foreign_values(f->ds, f->calls, metric, &f->values, f->writer->error));
    const as_foreign_value *values = f->values.data;
    for (size_t i = 0, n; i < f->values.count; i += n) {
        assay_id context = values[i].context;
        bool is_idle = !f->is_experiment;
        for (n = 0; i + n < f->values.count && values[i + n].context == context; n++)
            is_idle &= is_zero(values[i + n].number);
        if (!as_foreign_has_place(f->ds, context)) continue;
        if (is_idle) {
            if (f->idle[context] == ASSAY_NONE) f->idle[context] = metric;
            continue;
        }
        AS_TRY(write_values(f, metric, values + i, n));
        mark_known(f, context);
    }
    return ASSAY_OK;
}

/* Contexts where nothing happened, and nothing below them, are there all the same. */
static assay_status write_idle(foreign *f) {
    for (assay_id i = (assay_id)f->ds->contexts.count; i-- > 0;) {
        if (f->idle[i] >= ASSAY_NONE - 1) continue;
        as_value_type type = as_ds_metric_type(f->ds, f->idle[i]);
        as_foreign_value value = {.context = i, .point = ASSAY_NONE};
        value.number.kind = as_dtype_is_integer(type.dtype) ? AS_INT : AS_REAL;
        AS_TRY(write_values(f, f->idle[i], &value, 1));
        mark_known(f, i);
    }
    return ASSAY_OK;
}

static assay_status write_all_values(foreign *f) {
    for (assay_id metric = 0; metric < f->ds->metrics.count; metric++) {
        if (as_foreign_metric_of(f->ds, metric) == AS_FOREIGN_FINE) AS_TRY(write_metric(f, metric));
    }
    return write_idle(f);
}

static assay_status write_resources(foreign *f) {
    as_region_named(&f->regions, f->is_new ? "resources" : "global");
    as_output_text(f->out, f->is_new ? "{" : "{\"resources\": [");
    AS_TRY(write_all_values(f));
    if (!f->is_new) {
        as_output_text(f->out, f->n_resources ? "\n  ]}" : "]}");
        return ASSAY_OK;
    }
    as_output_text(f->out, f->types.count ? "\n  }" : "}");
    as_region_named(&f->regions, "resource_type_map");
    as_output_char(f->out, '{');
    for (size_t i = 0; i < f->types.count; i++) {
        const foreign_type *type = &AS_AT(foreign_type, &f->types, i);
        f->fine &= write_id(f, type, i);
        write_properties(f, type->metric, type->context);
        as_output_char(f->out, '}');
        if (f->n_frames > MOST_FRAMES) break;
    }
    as_output_text(f->out, f->types.count ? "\n  }" : "}");
    return ASSAY_OK;
}

/* ---- header and the like ----------------------------------------------------------------------------------------- */

/* What a dataset or its first run says under this key. */
static const as_attribute *find_attribute(const as_dataset *ds, const char *key) {
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner <= AS_OWNER_RUN && attribute->owner_id == 0 && attribute->value.type == AS_CELL_TEXT &&
            strcmp(as_ds_text(ds, attribute->key), key) == 0)
            return attribute;
    }
    return NULL;
}

/* Those of the dataset and its runs go into metadata, unless the header has them. */
static bool is_header(const as_dataset *ds, const as_attribute *attribute) {
    const char *key = as_ds_text(ds, attribute->key);
    return strcmp(key, "header:cmd") == 0 || strcmp(key, "header:args") == 0 || strcmp(key, "header:workload") == 0;
}

static bool is_kept(const as_dataset *ds, const as_attribute *attribute) {
    (void)ds;
    return attribute->owner <= AS_OWNER_RUN;
}

typedef enum unit_family { NO_UNIT, TIME_UNIT, MEMORY_UNIT, OTHER_UNIT } unit_family;

static unit_family family_of(const char *unit) {
    static const char *const times = " s sec seconds ms msec milliseconds us usec microseconds ns nsec nanoseconds ";
    static const char *const sizes = " b byte bytes kb mb gb kib mib gib ";
    char wanted[32] = " ";
    size_t size = unit ? strlen(unit) : 0;
    if (size == 0) return NO_UNIT;
    if (size + 3 > sizeof wanted) return OTHER_UNIT;
    memcpy(wanted + 1, unit, size);
    memcpy(wanted + 1 + size, " ", 2);
    return strcasestr(times, wanted) ? TIME_UNIT : strcasestr(sizes, wanted) ? MEMORY_UNIT : OTHER_UNIT;
}

/* Perun knows three types of profiles. */
static const char *type_of(const as_dataset *ds) {
    unsigned families = 0;
    for (assay_id i = 0; i < ds->metrics.count; i++) {
        if (as_foreign_metric_of(ds, i) == AS_FOREIGN_FINE)
            families |= 1u << family_of(as_ds_text(ds, as_ds_metric(ds, i)->unit));
    }
    return families == 1u << TIME_UNIT ? "time" : families == 1u << MEMORY_UNIT ? "memory" : "mixed";
}

static void write_text_member(foreign *f, const char *key, const char *text) {
    as_output_text(f->out, ", \"");
    as_output_text(f->out, key);
    as_output_text(f->out, "\": ");
    as_json_write_string(f->out, text, strlen(text));
}

static void write_header(foreign *f) {
    const as_attribute *cmd = find_attribute(f->ds, "header:cmd"), *args = find_attribute(f->ds, "header:args"),
                       *workload = find_attribute(f->ds, "header:workload");
    size_t n = 0;
    as_region_named(&f->regions, "header");
    as_output_text(f->out, "{\"type\": \"");
    as_output_text(f->out, type_of(f->ds));
    as_output_text(f->out, "\", \"units\": {");
    for (assay_id i = 0; i < f->ds->metrics.count; i++) {
        const as_metric *metric = as_ds_metric(f->ds, i);
        if (as_foreign_metric_of(f->ds, i) != AS_FOREIGN_FINE || metric->unit == AS_NO_STR) continue;
        if (n++) as_output_text(f->out, ", ");
        as_perun_write_str(f->out, f->ds, metric->name);
        as_output_text(f->out, ": ");
        as_perun_write_str(f->out, f->ds, metric->unit);
    }
    as_output_char(f->out, '}');
    write_text_member(f, "cmd", cmd ? cmd->value.text : as_source_name(f->ds));
    write_text_member(f, "args", args ? args->value.text : "");
    write_text_member(f, "workload", workload ? workload->value.text : "");
    as_output_char(f->out, '}');
}

static void write_collector(foreign *f) {
    const char *path = as_ds_text(f->ds, f->ds->path);
    as_region_named(&f->regions, "collector_info");
    as_output_text(f->out, "{\"name\": ");
    as_json_write_string(f->out, f->ds->format, strlen(f->ds->format));
    as_output_text(f->out, ", \"params\": {\"file\": ");
    as_json_write_string(f->out, path ? path : "", path ? strlen(path) : 0);
    if (f->is_experiment) {
        as_output_text(f->out, ", \"parameters\": [");
        for (size_t i = 0; i < as_ds_parameters(f->ds); i++) {
            const char *name = as_ds_parameter(f->ds, i);
            if (i) as_output_text(f->out, ", ");
            as_json_write_string(f->out, name, strlen(name));
        }
        as_output_char(f->out, ']');
    }
    as_output_text(f->out, "}}");
}

static void write_metadata(foreign *f) {
    size_t n = 0;
    for (size_t i = 0; i < f->ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(f->ds, i);
        if (!is_kept(f->ds, attribute) || is_header(f->ds, attribute)) continue;
        if (n)
            as_output_text(f->out, ", ");
        else {
            as_region_named(&f->regions, "metadata");
            as_output_char(f->out, '[');
        }
        n++;
        as_output_text(f->out, "{\"name\": ");
        as_perun_write_str(f->out, f->ds, attribute->key);
        as_output_text(f->out, ", \"value\": ");
        as_perun_write_cell(f->out, attribute->value);
        as_output_char(f->out, '}');
    }
    if (n) as_output_char(f->out, ']');
}

static void write_models(foreign *f) {
    size_t n_added = f->edits ? f->edits->n_models : 0;
    as_region_named(&f->regions, "models");
    as_output_char(f->out, '[');
    size_t n = as_foreign_write_models(f->ds, f->out, &f->fine);
    for (size_t i = 0; i < n_added; i++) {
        as_output_text(f->out, n++ ? ",\n    " : "\n    ");
        as_perun_write_raw(f->out, f->edits->models[i]);
    }
    as_output_text(f->out, n ? "\n  ]" : "]");
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static assay_status write_regions(foreign *f) {
    write_header(f);
    write_collector(f);
    as_region_named(&f->regions, "postprocessors");
    as_output_char(f->out, '[');
    if (f->edits) as_perun_write_raw(f->out, f->edits->postprocessor);
    as_output_char(f->out, ']');
    write_metadata(f);
    AS_TRY(write_resources(f));
    write_models(f);
    as_region_end(&f->regions);
    return f->fine ? ASSAY_OK : as_fail_memory(f->writer->error, NULL);
}

assay_status as_perun_write_foreign(as_writer *writer, const as_perun_edits *edits, bool is_new) {
    const as_dataset *ds = writer->dataset;
    if (edits && edits->column)
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-resources",
                       "only the resources of a Perun profile can be changed, and this is none");
    foreign f = {.writer = writer,
                 .out = writer->out,
                 .ds = ds,
                 .edits = edits,
                 .budget = as_ds_budget(ds),
                 .regions = {.out = writer->out},
                 .is_new = is_new,
                 .is_experiment = as_foreign_is_experiment(ds),
                 .fine = true};
    as_vec_init(&f.types, sizeof(foreign_type), f.budget);
    as_vec_init(&f.values, sizeof(as_foreign_value), f.budget);
    as_vec_init(&f.path, sizeof(assay_id), f.budget);
    as_vec_init(&f.text, 1, f.budget);
    as_vec_init(&f.numbers, sizeof(uint32_t), f.budget);
    as_arena_init(&f.arena, f.budget);
    as_strings_init(&f.uids, &f.arena);
    f.idle = malloc((ds->contexts.count + 1) * sizeof *f.idle);
    for (size_t i = 0; f.idle && i < ds->contexts.count; i++) f.idle[i] = ASSAY_NONE;
    f.calls = as_foreign_calls(ds);
    assay_status status = f.idle && f.calls ? write_regions(&f) : as_fail_memory(writer->error, NULL);
    free(f.idle);
    free(f.calls);
    as_strings_free(&f.uids);
    as_arena_free(&f.arena);
    as_vec_free(&f.types);
    as_vec_free(&f.values);
    as_vec_free(&f.path);
    as_vec_free(&f.text);
    as_vec_free(&f.numbers);
    return status;
}

/* ---- what is lost ------------------------------------------------------------------------------------------------ */

static void lose(as_losses *losses, uint64_t n, const char *one, const char *many) {
    if (n) as_lose(losses, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

static void lose_metrics(const as_dataset *ds, as_losses *losses) {
    size_t n_derived = 0, n_others = 0;
    for (assay_id i = 0; i < ds->metrics.count; i++) {
        as_foreign_metric why = as_foreign_metric_of(ds, i);
        n_derived += why == AS_FOREIGN_DERIVED;
        n_others += why == AS_FOREIGN_NO_NUMBER;
    }
    lose(losses, n_derived, "metric that is computed from others", "metrics that are computed from others");
    lose(losses, n_others, "metric whose values are no numbers that add up",
         "metrics whose values are no numbers that add up");
}

void as_perun_foreign_losses(const as_dataset *ds, as_losses *losses) {
    uint64_t n_placeless = 0, n_pieces = 0, n_sections = 0;
    bool fine = true;
    if (!as_foreign_is_experiment(ds) && ds->runs.count > 1)
        as_lose(losses, "which of %zu runs a value is of", ds->runs.count);
    lose_metrics(ds, losses);
    size_t n_models = as_foreign_write_models(ds, NULL, &fine);
    losses->failed |= !fine;
    lose(losses, ds->models.count - n_models, "model that Perun has no word for", "models that Perun has no words for");
    as_lose_records(losses, ds);
    as_lose_details(losses, ds, AS_HOLDS_SOURCE);
    for (assay_id i = 0; i < ds->contexts.count; i++) n_placeless += !as_foreign_has_place(ds, i);
    if (n_placeless)
        as_lose(losses, "the values of %llu context%s without a place in the call tree",
                (unsigned long long)n_placeless, n_placeless == 1 ? "" : "s");
    assay_id *calls = as_foreign_calls(ds);
    for (assay_id i = 0; calls && i < ds->contexts.count; i++) n_pieces += calls[i] != i;
    losses->failed |= !calls;
    free(calls);
    lose(losses, n_pieces, "line or loop of a call (its values count for the call)",
         "lines and loops of calls (their values count for the calls)");
    for (assay_id i = 0; as_ds_has_wholes(ds) && i < ds->contexts.count; i++)
        n_sections += as_context_is_section(ds, i);
    lose(losses, n_sections, "section that is no part of the whole (it counts as one there)",
         "sections that are no parts of the whole (they count as such there)");
    as_lose_attributes(losses, ds, is_kept);
}

static size_t count_statistics(const as_dataset *ds) {
    size_t n = 0;
    for (size_t i = 0; i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        const as_block *block = as_ds_metric_block(ds, series->metric);
        n += series->n_measurements && (!block || as_block_find(block, series->context) == UINT32_MAX);
    }
    return n;
}

void as_perun_foreign_remarks(const as_dataset *ds, as_losses *remarks) {
    size_t n_statistics = count_statistics(ds);
    if (as_ds_parameters(ds) == 1 && strcmp(as_ds_parameter(ds, 0), "structure-unit-size") != 0)
        as_lose(remarks, "the parameter %s is called structure-unit-size in a profile", as_ds_parameter(ds, 0));
    if (n_statistics) as_lose(remarks, "the means of %zu series of statistics are written as values", n_statistics);
}
