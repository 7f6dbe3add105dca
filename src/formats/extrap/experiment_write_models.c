/* The model sets of a .extra-p file. What was read from one goes back as it was; models from elsewhere get the layout
 * Extra-P needs. */
#include "formats/extrap/experiment.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/map.h"

typedef struct model_writer {
    as_writer *writer;
    as_output *out;
    const as_dataset *ds;
    as_vec path;   /* of the current call path */
    as_map series; /* (metric, context) -> index of its series; empty where no model is segmented */
} model_writer;

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Exponents of powers are fractions or whole numbers in quotes, those of logarithms reals, as Extra-P writes them. */
static void write_exponent(as_output *out, const char *text, bool is_logarithm) {
    double value;
    bool is_real = as_real_parse(text, strlen(text), &value), is_whole = strspn(text, "+-0123456789") == strlen(text);
    if (is_real && (is_logarithm || !is_whole))
        as_xp_write_real(out, value);
    else
        as_json_write_string(out, text, strlen(text));
}

static void write_simple_terms(as_output *out, const as_dataset *ds, const as_term *term) {
    const char *exponent = as_ds_text(ds, term->exponent), *log_exponent = as_ds_text(ds, term->log_exponent);
    bool has_power = !as_is_no_exponent(exponent);
    as_output_text(out, "\"simple_terms\":[");
    if (has_power) {
        as_output_text(out, "{\"term_type\":\"polynomial\",\"exponent\":");
        write_exponent(out, exponent, false);
        as_output_char(out, '}');
    }
    if (!as_is_no_exponent(log_exponent)) {
        as_output_text(out, has_power ? ",{\"term_type\":\"logarithm\",\"exponent\":"
                                      : "{\"term_type\":\"logarithm\",\"exponent\":");
        write_exponent(out, log_exponent, true);
        as_output_char(out, '}');
    }
    as_output_char(out, ']');
}

static void write_constant_and_terms(as_output *out, const as_dataset *ds, const as_model *model, uint32_t segment,
                                     bool is_multi);

static bool has_terms(const as_dataset *ds, const as_model *model, uint32_t segment) {
    for (uint32_t i = 0; i < model->n_terms; i++) {
        if (as_ds_term(ds, model->first_term + i)->segment == segment) return true;
    }
    return false;
}

/* The last member of an object: its class in Extra-P. */
static void write_type(as_output *out, const char *type) {
    as_output_text(out, ",\"$type\":\"");
    as_output_text(out, type);
    as_output_text(out, "\"}");
}

/* "segments":[…],"intervals":[…] */
static void write_segments(as_output *out, const as_dataset *ds, const as_model *model, uint32_t first, uint32_t n) {
    as_output_text(out, "\"segments\":[");
    for (uint32_t i = first; i < first + n; i++) {
        as_output_text(out, i > first ? ",{" : "{");
        write_constant_and_terms(out, ds, model, i, false);
        write_type(out, has_terms(ds, model, i) ? "SingleParameterFunction" : "ConstantFunction");
    }
    as_output_text(out, "],\"intervals\":[");
    for (uint32_t i = first; i < first + n; i++) {
        const as_segment *segment = as_ds_segment(ds, model->first_segment + i);
        as_output_text(out, i > first ? ",[" : "[");
        as_xp_write_real(out, segment->from);
        as_output_char(out, ',');
        as_xp_write_real(out, segment->to);
        as_output_char(out, ']');
    }
    as_output_char(out, ']');
}

/* "0":{…}: a factor of a term of several parameters. */
static void write_pair(as_output *out, const as_dataset *ds, const as_model *model, const as_term *term) {
    as_output_printf(out, "\"%u\":{\"coefficient\":1.0,", (unsigned)term->parameter);
    if (term->n_pieces) {
        write_segments(out, ds, model, term->first_piece, term->n_pieces);
        as_output_text(out, ",\"$variant\":\"SegmentedTerm\"");
    } else {
        write_simple_terms(out, ds, term);
    }
    as_output_char(out, '}');
}

/* Factors of one term are neighbours and share its number. */
static void write_constant_and_terms(as_output *out, const as_dataset *ds, const as_model *model, uint32_t segment,
                                     bool is_multi) {
    as_output_text(out, "\"constant_coefficient\":");
    as_xp_write_real(out, as_ds_segment(ds, model->first_segment + segment)->constant);
    as_output_text(out, ",\"compound_terms\":[");
    const as_term *previous = NULL;
    for (uint32_t i = 0; i < model->n_terms; i++) {
        const as_term *term = as_ds_term(ds, model->first_term + i);
        if (term->segment != segment) continue;
        bool is_new = !previous || previous->term != term->term;
        if (is_new) {
            if (previous) as_output_text(out, is_multi ? "}}," : "},");
            as_output_text(out, "{\"coefficient\":");
            as_xp_write_real(out, term->coefficient);
            as_output_text(out, is_multi ? ",\"parameter_term_pairs\":{" : ",");
        } else {
            as_output_char(out, ',');
        }
        if (is_multi)
            write_pair(out, ds, model, term);
        else
            write_simple_terms(out, ds, term);
        previous = term;
    }
    if (previous) as_output_text(out, is_multi ? "}}" : "}");
    as_output_char(out, ']');
}

typedef enum function_kind { CONSTANT, SINGLE_PARAMETER, MULTI_PARAMETER, SEGMENTED } function_kind;

static function_kind kind_of(const as_dataset *ds, const as_model *model) {
    if (model->n_segments > 1) return SEGMENTED;
    if (!model->n_terms) return CONSTANT;
    return as_ds_parameters(ds) > 1 ? MULTI_PARAMETER : SINGLE_PARAMETER;
}

static void write_function(as_output *out, const as_dataset *ds, const as_model *model, uint32_t segment,
                           function_kind kind) {
    static const char *const types[] = {"ConstantFunction", "SingleParameterFunction", "MultiParameterFunction",
                                        "SegmentedFunction"};
    as_output_char(out, '{');
    if (kind == CONSTANT) {
        as_output_text(out, "\"constant_coefficient\":");
        as_xp_write_real(out, model->n_segments ? as_ds_segment(ds, model->first_segment + segment)->constant : 0);
    } else if (kind == SEGMENTED) {
        write_segments(out, ds, model, 0, model->n_segments);
    } else {
        write_constant_and_terms(out, ds, model, segment, kind == MULTI_PARAMETER);
    }
    write_type(out, types[kind]);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* "MEAN" for "mean". */
static void write_measure(as_output *out, const as_dataset *ds, as_str measure) {
    as_output_char(out, '"');
    for (const char *at = measure == AS_NO_STR ? "unknown" : as_ds_text(ds, measure); *at; at++) {
        if (isalnum((unsigned char)*at)) as_output_char(out, (char)toupper((unsigned char)*at));
    }
    as_output_char(out, '"');
}

static bool is_median(const as_dataset *ds, as_str measure) {
    return measure != AS_NO_STR && strcmp(as_ds_text(ds, measure), "median") == 0;
}

/* key: with all that is around it, because there are millions. */
static void write_cost(as_output *out, const char *key, double value) {
    as_output_text(out, key);
    as_xp_write_real(out, value);
}

/* Whether the raw texts of models are in the layout written here. */
static bool has_our_layout(const as_dataset *ds) { return strncmp(ds->format, "extrap-", 7) == 0; }

/* "hypothesis":{…} of a function with these costs. */
static void write_hypothesis(as_output *out, const as_dataset *ds, const as_model *model, uint32_t segment,
                             function_kind kind, const as_segment_costs *costs) {
    static const char *const types[] = {"ConstantHypothesis", "SingleParameterHypothesis", "MultiParameterHypothesis",
                                        "SingleParameterHypothesis"};
    as_str measure = as_ds_model_set(ds, model->set)->measure;
    as_output_text(out, "\"hypothesis\":{\"function\":");
    write_function(out, ds, model, segment, kind);
    write_cost(out, ",\"RSS\":", costs->RSS);
    write_cost(out, ",\"rRSS\":", costs->rRSS);
    write_cost(out, ",\"nRSS\":", costs->nRSS);
    write_cost(out, ",\"SMAPE\":", costs->SMAPE);
    if (kind != CONSTANT) write_cost(out, ",\"AR2\":", costs->AR2); /* a constant's is 1 */
    write_cost(out, ",\"RE\":", costs->RE);
    as_output_text(out, is_median(ds, measure) ? ",\"_use_median\":true" : ",\"_use_median\":false");
    as_output_text(out, ",\"_use_measure\":");
    write_measure(out, ds, measure);
    as_output_text(out, ",\"_costs_are_calculated\":true");
    write_type(out, types[kind]);
}

/* ---- segmented models -------------------------------------------------------------------------------------------- */

typedef struct search {
    const as_dataset *ds;
    double coordinate;
    as_measurement found; /* point ASSAY_NONE: not yet */
} search;

static bool compare_point(void *user, const as_measurement *measurement) {
    search *s = user;
    if (as_ds_point(s->ds, measurement->point)[0] != s->coordinate) return true;
    s->found = *measurement;
    return false;
}

/* The measurements at which the segments of a model end and begin: one where they meet. Extra-P looks for them among
 * those of the series, by mean and median. *n 0: there are none it would find. */
static bool find_changes(const model_writer *w, const as_model *model, as_measurement changes[2], size_t *n) {
    const as_dataset *ds = w->ds;
    uint32_t series = as_map_get(&w->series, as_pair(model->metric, model->context));
    *n = 0;
    if (series == AS_MAP_NONE || model->n_segments != 2) return true;
    double bounds[] = {as_ds_segment(ds, model->first_segment)->to, as_ds_segment(ds, model->first_segment + 1)->from};
    size_t wanted = bounds[0] == bounds[1] ? 1 : 2;
    for (size_t i = 0; i < wanted; i++) {
        search s = {.ds = ds, .coordinate = bounds[i], .found = {.point = ASSAY_NONE}};
        if (!as_measure(ds, as_ds_series(ds, series), compare_point, &s)) return false;
        if (s.found.point == ASSAY_NONE || isnan(s.found.mean) || isnan(s.found.median)) return true;
        changes[i] = s.found;
    }
    *n = wanted;
    return true;
}

static void write_callpath(const model_writer *w) {
    as_output_text(w->out, ",\"callpath\":{\"name\":");
    as_json_write_string(w->out, w->path.data, w->path.count - 1);
    as_output_text(w->out, ",\"tags\":{}}");
}

static void write_metric(const model_writer *w, const as_model *model) {
    as_output_text(w->out, ",\"metric\":{\"name\":");
    as_xp_write_str(w->out, w->ds, as_ds_metric(w->ds, model->metric)->name);
    as_output_text(w->out, ",\"tags\":{}}");
}

static void write_change(const model_writer *w, const as_model *model, const as_measurement *m) {
    as_output_text(w->out, "{\"coordinate\":[");
    as_xp_write_real(w->out, as_ds_point(w->ds, m->point)[0]);
    as_output_char(w->out, ']');
    write_metric(w, model);
    write_callpath(w);
    write_cost(w->out, ",\"median\":", m->median);
    write_cost(w->out, ",\"mean\":", m->mean);
    write_cost(w->out, ",\"minimum\":", m->minimum);
    write_cost(w->out, ",\"maximum\":", m->maximum);
    write_cost(w->out, ",\"std\":", m->std);
    as_output_text(w->out, ",\"repetitions\":");
    if (m->repetitions < 0)
        as_output_text(w->out, "null");
    else
        as_output_int(w->out, m->repetitions);
    as_output_text(w->out, ",\"values\":null}");
}

/* What a segmented model has besides its hypothesis: a model for each segment, and the points between them. */
static void write_segment_models(const model_writer *w, assay_id id, const as_measurement *changes, size_t n_changes) {
    static const as_segment_costs unknown = {.RSS = NAN, .rRSS = NAN, .nRSS = NAN, .SMAPE = NAN, .AR2 = NAN, .RE = NAN};
    const as_model *model = as_ds_model(w->ds, id);
    write_callpath(w);
    write_metric(w, model);
    as_output_text(w->out, ",\"annotations\":[],\"segment_models\":[");
    for (uint32_t i = 0; i < model->n_segments; i++) {
        const as_segment_costs *costs = as_ds_segment_costs(w->ds, id, i);
        as_output_text(w->out, i ? ",{" : "{");
        write_hypothesis(w->out, w->ds, model, i, has_terms(w->ds, model, i) ? SINGLE_PARAMETER : CONSTANT,
                         costs ? costs : &unknown);
        write_callpath(w);
        write_metric(w, model);
        as_output_text(w->out, ",\"annotations\":[]}");
    }
    as_output_text(w->out, "],\"changing_points\":[");
    for (size_t i = 0; i < n_changes; i++) {
        if (i) as_output_char(w->out, ',');
        write_change(w, model, &changes[i]);
    }
    as_output_text(w->out, "],\"$type\":\"SegmentedModel\"}");
}

/* False when memory is out. */
static bool write_model(const model_writer *w, assay_id id) {
    const as_dataset *ds = w->ds;
    const as_model *model = as_ds_model(ds, id);
    if (model->raw != AS_NO_STR && has_our_layout(ds)) {
        as_output_write(w->out, as_ds_text(ds, model->raw), as_str_size(&ds->strings, model->raw));
        return true;
    }
    as_segment_costs costs = {.RSS = model->RSS,
                              .rRSS = model->rRSS,
                              .nRSS = model->nRSS,
                              .SMAPE = model->SMAPE,
                              .AR2 = model->AR2,
                              .RE = model->RE};
    as_measurement changes[2];
    size_t n_changes;
    as_output_char(w->out, '{');
    write_hypothesis(w->out, ds, model, 0, kind_of(ds, model), &costs);
    if (!find_changes(w, model, changes, &n_changes)) return false;
    if (n_changes)
        write_segment_models(w, id, changes, n_changes);
    else
        as_output_text(w->out, ",\"annotations\":[]}");
    return true;
}

/* ---- model sets -------------------------------------------------------------------------------------------------- */

static void write_modeler(as_output *out, const as_dataset *ds, const as_model_set *set) {
    if (set->raw != AS_NO_STR && has_our_layout(ds)) {
        as_output_write(out, as_ds_text(ds, set->raw), as_str_size(&ds->strings, set->raw));
        return;
    }
    const char *type = set->modeler == AS_NO_STR ? "SingleParameterModeler" : as_ds_text(ds, set->modeler);
    for (const as_xp_modeler_name *name = as_xp_modeler_names; name->type; name++) {
        if (strcmp(type, name->word) == 0) type = name->type;
    }
    as_output_printf(out, "{\"use_median\":%s,\"use_measure\":", is_median(ds, set->measure) ? "true" : "false");
    write_measure(out, ds, set->measure);
    if (set->options != AS_NO_STR) {
        as_output_char(out, ',');
        as_output_write(out, as_ds_text(ds, set->options), as_str_size(&ds->strings, set->options));
    }
    as_output_text(out, ",\"$type\":");
    as_json_write_string(out, type, strlen(type));
    as_output_char(out, '}');
}

/* Members of a model set that nobody knew. They come in the order of the sets: next is where to look on. */
static void write_further_members(as_output *out, const as_dataset *ds, size_t set, size_t *next) {
    for (; *next < ds->attributes.count; ++*next) {
        const as_attribute *attribute = as_ds_attribute(ds, *next);
        const char *key = as_ds_text(ds, attribute->key);
        if (attribute->owner != AS_OWNER_DATASET ||
            strncmp(key, AS_XP_MODELER_PREFIX, strlen(AS_XP_MODELER_PREFIX)) != 0)
            continue;
        char *colon;
        unsigned long long index = strtoull(key + strlen(AS_XP_MODELER_PREFIX), &colon, 10);
        if (index > set) return;
        if (index < set || *colon != ':') continue;
        as_output_char(out, ',');
        as_json_write_string(out, colon + 1, strlen(colon + 1));
        as_output_char(out, ':');
        as_xp_write_cell(out, attribute->value);
    }
}

/* The models of one set by call path; models: their ids, in groups of one context. */
static assay_status write_models(model_writer *w, const as_xp_groups *groups, const assay_id *models) {
    const as_dataset *ds = w->ds;
    as_output *out = w->out;
    for (size_t i = 0; i < groups->n_groups; i++) {
        uint32_t item = groups->heads[i];
        if (!as_context_path(ds, as_ds_model(ds, models[item])->context, &w->path))
            return as_fail_memory(w->writer->error, NULL);
        AS_TRY(as_xp_check_size(w->writer, as_output_size(out)));
        if (i) as_output_char(out, ',');
        as_json_write_string(out, w->path.data, w->path.count - 1);
        as_output_text(out, ":{");
        for (bool is_first = true; item != UINT32_MAX; item = groups->next[item], is_first = false) {
            const as_model *model = as_ds_model(ds, models[item]);
            if (!is_first) as_output_char(out, ',');
            as_xp_write_str(out, ds, as_ds_metric(ds, model->metric)->name);
            as_output_char(out, ':');
            if (!write_model(w, models[item])) return as_fail_memory(w->writer->error, NULL);
        }
        as_output_char(out, '}');
    }
    return ASSAY_OK;
}

static assay_status write_set(model_writer *w, assay_id id, const assay_id *models, size_t n, size_t *next_member) {
    const as_dataset *ds = w->ds;
    as_output *out = w->out;
    const as_model_set *set = as_ds_model_set(ds, id);
    as_output_text(out, id ? ",{\"name\":" : "{\"name\":");
    if (set->name == AS_NO_STR)
        as_output_printf(out, "\"Models %u\"", (unsigned)id + 1);
    else
        as_xp_write_str(out, ds, set->name);
    as_output_text(out, ",\"modeler\":");
    write_modeler(out, ds, set);
    as_output_text(out, ",\"models\":{");
    assay_id *contexts = malloc((n + 1) * sizeof *contexts);
    as_xp_groups groups = {0};
    for (size_t i = 0; contexts && i < n; i++) contexts[i] = as_ds_model(ds, models[i])->context;
    bool fine = contexts && as_xp_group(&groups, contexts, n);
    assay_status status = fine ? write_models(w, &groups, models) : as_fail_memory(w->writer->error, NULL);
    as_xp_groups_free(&groups);
    free(contexts);
    as_output_char(out, '}');
    write_further_members(out, ds, id, next_member);
    as_output_char(out, '}');
    return status;
}

/* Only segmented models need to find their series. */
static bool map_series(model_writer *w) {
    const as_dataset *ds = w->ds;
    bool is_needed = false;
    for (size_t i = 0; i < ds->models.count && !is_needed; i++)
        is_needed = as_ds_model(ds, (assay_id)i)->n_segments > 1;
    for (size_t i = 0; i < ds->series.count && is_needed; i++) {
        const as_series *series = as_ds_series(ds, i);
        if (!as_map_put(&w->series, as_pair(series->metric, series->context), (uint32_t)i)) return false;
    }
    return true;
}

assay_status as_xp_write_modelers(as_writer *writer, as_output *out) {
    const as_dataset *ds = writer->dataset;
    size_t n_sets = ds->model_sets.count, n = ds->models.count;
    size_t *starts = calloc(n_sets + 2, sizeof *starts);
    assay_id *sorted = malloc((n + 1) * sizeof *sorted); /* models by set, in their order */
    model_writer w = {.writer = writer, .out = out, .ds = ds};
    as_vec_init(&w.path, 1, NULL);
    as_map_init(&w.series, NULL);
    assay_status status = starts && sorted && map_series(&w) ? ASSAY_OK : as_fail_memory(writer->error, NULL);
    if (status == ASSAY_OK) {
        for (size_t i = 0; i < n; i++) starts[as_ds_model(ds, (assay_id)i)->set + 2]++;
        for (size_t i = 2; i < n_sets + 2; i++) starts[i] += starts[i - 1];
        for (size_t i = 0; i < n; i++) sorted[starts[as_ds_model(ds, (assay_id)i)->set + 1]++] = (assay_id)i;
    }
    size_t next_member = 0;
    as_output_char(out, '[');
    for (size_t i = 0; i < n_sets && status == ASSAY_OK; i++)
        status = write_set(&w, (assay_id)i, sorted + starts[i], starts[i + 1] - starts[i], &next_member);
    as_output_char(out, ']');
    as_map_free(&w.series);
    as_vec_free(&w.path);
    free(sorted);
    free(starts);
    return status;
}
