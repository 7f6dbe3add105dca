/* Extra-P's printed text. Presets are written out here; FORMAT strings are taken apart by extrap_template.c and filled
 * here, once for each model. */
#include "render/extrap_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "core/map.h"
#include "render/extrap_template.h"

typedef struct printing {
    as_output *out;
    const as_dataset *ds;
    as_text text; /* what is written next */
    assay_id *callpaths;
    size_t n_callpaths;
    as_map series, models;    /* (metric, context) -> index of its series; id of its model in the current set */
    as_measurement *at_point; /* of the current series, by point; point ASSAY_NONE: not measured there */
    as_vec path;              /* of the current call path */
    bool is_computed;         /* they are made from values, not stored */
    bool failed;              /* memory is out */
    /* What {?callpath} and {?metric} printed last, and whether {?points} and {?parameters} did for this model */
    assay_id last_callpath, last_metric;
    bool has_points, has_parameters;
} printing;

static const as_format_spec TWO_DIGITS = {.fill = " ", .fill_size = 1, .sign = '-', .precision = 2, .type = 'E'};

static const char *metric_name(const printing *p, assay_id metric) {
    const char *name = as_ds_text(p->ds, as_ds_metric(p->ds, metric)->name);
    return name ? name : "";
}

static const char *parameter_name(const printing *p, size_t i) { return as_ds_parameter(p->ds, i); }

static const char *callpath_name(printing *p, assay_id context) {
    if (!as_context_path(p->ds, context, &p->path)) {
        p->failed = true;
        return "";
    }
    return p->path.data;
}

static void flush(printing *p) {
    as_output_write(p->out, as_text_data(&p->text), as_text_size(&p->text));
    p->failed |= p->text.failed;
    as_text_clear(&p->text);
}

/* ---- measurements ------------------------------------------------------------------------------------------------ */

static bool keep_measurement(void *user, const as_measurement *measurement) {
    as_measurement *slot = (as_measurement *)user + measurement->point;
    if (slot->point == ASSAY_NONE) *slot = *measurement;
    return true;
}

/* What was measured at each point into p->at_point. */
static void gather(printing *p, assay_id metric, assay_id context) {
    for (size_t i = 0; i < p->ds->n_points; i++) p->at_point[i].point = ASSAY_NONE;
    uint32_t series = as_map_get(&p->series, as_pair(metric, context));
    if (series == AS_MAP_NONE) return;
    p->is_computed = !as_ds_series(p->ds, series)->n_measurements;
    p->failed |= !as_measure(p->ds, as_ds_series(p->ds, series), keep_measurement, p->at_point);
}

/* Extra-P has integers where JSON has them, and takes their smallest and largest as they are. */
static bool has_whole_extremes(const printing *p, assay_id metric) {
    const as_block *block = as_ds_metric_block(p->ds, metric);
    return p->ds->whole_coordinates && p->is_computed && block && block->dtype != AS_DTYPE_DOUBLE;
}

/* ---- presets ----------------------------------------------------------------------------------------------------- */

static void add_real(printing *p, const char *before, double value) {
    as_text_add(&p->text, before);
    as_format_real(&p->text, value, &TWO_DIGITS);
}

static void add_coordinate(printing *p, double value) {
    static const as_format_spec plain = {.fill = " ", .fill_size = 1, .sign = '-', .precision = -1};
    if (p->ds->whole_coordinates && value == floor(value))
        as_format_whole(&p->text, value, &plain);
    else
        as_format_real(&p->text, value, &plain);
}

static void add_segments(printing *p, assay_id id, as_notation notation) {
    const as_model *model = as_ds_model(p->ds, id);
    char label[48];
    for (uint32_t i = 0; i < model->n_segments; i++) {
        const as_segment *segment = as_ds_segment(p->ds, model->first_segment + i);
        as_text_write(&p->text, label, (size_t)snprintf(label, sizeof label, "\t\tModel %u: ", (unsigned)i + 1));
        as_extrap_segment(&p->text, p->ds, model, i, notation);
        as_text_add(&p->text, " for ");
        as_text_add(&p->text, parameter_name(p, 0));
        as_text_add(&p->text, i ? ">=" : "<=");
        add_coordinate(p, i ? segment->from : segment->to);
        as_text_char(&p->text, '\n');
    }
    for (uint32_t i = 0; i < model->n_segments; i++) {
        const as_segment_costs *costs = as_ds_segment_costs(p->ds, id, i);
        snprintf(label, sizeof label, "\t\tRSS Model %u: ", (unsigned)i + 1);
        add_real(p, label, costs ? costs->RSS : NAN);
        snprintf(label, sizeof label, "\n\t\tAdjusted R^2 Model %u: ", (unsigned)i + 1);
        add_real(p, label, costs ? costs->AR2 : NAN);
        as_text_char(&p->text, '\n');
    }
}

/* The model of a metric at a call path with what it was made from; points: the texts of all points, ends: where they
 * end. */
static void add_all(printing *p, assay_id context, assay_id metric, as_notation notation, const as_text *points,
                    const size_t *ends) {
    as_text_add(&p->text, "\tMetric: ");
    as_text_add(&p->text, metric_name(p, metric));
    as_text_char(&p->text, '\n');
    gather(p, metric, context);
    for (size_t i = 0; i < p->ds->n_points; i++) {
        const as_measurement *m = &p->at_point[i];
        bool is_there = m->point != ASSAY_NONE;
        size_t from = i ? ends[i - 1] : 0;
        as_text_write(&p->text, as_text_data(points) + from, ends[i] - from);
        add_real(p, " Mean: ", is_there ? m->mean : 0);
        add_real(p, " Median: ", is_there ? m->median : 0);
        as_text_char(&p->text, '\n');
    }
    uint32_t id = as_map_get(&p->models, as_pair(metric, context));
    const as_model *model = id == AS_MAP_NONE ? NULL : as_ds_model(p->ds, id);
    if (model && model->n_segments > 1) {
        add_segments(p, id, notation);
        return;
    }
    as_text_add(&p->text, "\t\tModel: ");
    if (model)
        as_extrap_function(&p->text, p->ds, model, notation);
    else
        as_text_add(&p->text, "None");
    add_real(p, "\n\t\tRSS: ", model ? model->RSS : 0);
    add_real(p, "\n\t\tAdjusted R^2: ", model ? model->AR2 : 0);
    as_text_char(&p->text, '\n');
}

/* "\t\tMeasurement point: (1.00E+00,2.00E+01)" of all points. */
static void label_points(printing *p, as_text *points, size_t *ends) {
    size_t n = p->ds->parameters.count;
    for (size_t i = 0; i < p->ds->n_points; i++) {
        const double *coordinates = as_ds_point(p->ds, (assay_id)i);
        as_text_add(points, "\t\tMeasurement point: (");
        for (size_t k = 0; k < n; k++) {
            if (k) as_text_char(points, ',');
            as_format_real(points, coordinates[k], &TWO_DIGITS);
        }
        as_text_char(points, ')');
        ends[i] = as_text_size(points);
    }
}

static void print_all(printing *p, as_notation notation) {
    as_text points;
    as_text_init(&points);
    size_t *ends = malloc((p->ds->n_points + 1) * sizeof *ends);
    if (ends) label_points(p, &points, ends);
    p->failed |= !ends || points.failed;
    for (size_t i = 0; i < p->n_callpaths && !p->failed; i++) {
        as_text_add(&p->text, "Callpath: ");
        as_text_add(&p->text, callpath_name(p, p->callpaths[i]));
        as_text_char(&p->text, '\n');
        for (size_t m = 0; m < p->ds->metrics.count && !p->failed; m++) {
            add_all(p, p->callpaths[i], (assay_id)m, notation, &points, ends);
            flush(p);
        }
    }
    free(ends);
    as_text_free(&points);
}

static void print_functions(printing *p, as_notation notation) {
    for (size_t i = 0; i < p->ds->models.count && !p->failed; i++) {
        const as_model *model = as_ds_model(p->ds, (assay_id)i);
        if (model->set != 0) continue;
        for (uint32_t s = 0; s < model->n_segments; s++) {
            char label[32];
            if (model->n_segments > 1)
                as_text_write(&p->text, label, (size_t)snprintf(label, sizeof label, "Model %u: ", (unsigned)s + 1));
            as_extrap_segment(&p->text, p->ds, model, s, notation);
            as_text_char(&p->text, '\n');
        }
        flush(p);
    }
}

static void print_names(printing *p, as_field field) {
    size_t n = field == AS_FIELD_CALLPATH ? p->n_callpaths
               : field == AS_FIELD_METRIC ? p->ds->metrics.count
                                          : p->ds->parameters.count;
    for (size_t i = 0; i < n && !p->failed; i++) {
        as_text_add(&p->text, field == AS_FIELD_CALLPATH ? callpath_name(p, p->callpaths[i])
                              : field == AS_FIELD_METRIC ? metric_name(p, (assay_id)i)
                                                         : parameter_name(p, i));
        as_text_char(&p->text, '\n');
        flush(p);
    }
}

/* ---- FORMAT strings ---------------------------------------------------------------------------------------------- */

/* What the placeholders of a text are filled from. */
typedef struct scope {
    const as_model *model;
    assay_id point;
    size_t parameter;
} scope;

static void fill(printing *p, const as_template *template, scope s);

/* is_whole: Extra-P has an integer here. */
static void add_number(printing *p, const as_part *part, double value, bool is_whole) {
    if (part->conversion) {
        as_text digits;
        as_text_init(&digits);
        const as_format_spec plain = {.fill = " ", .fill_size = 1, .sign = '-', .precision = -1};
        if (is_whole)
            as_format_whole(&digits, value, &plain);
        else
            as_format_real(&digits, value, &plain);
        as_format_text(&p->text, as_text_data(&digits), as_text_size(&digits), &part->spec);
        p->failed |= digits.failed;
        as_text_free(&digits);
    } else if (is_whole) {
        as_format_whole(&p->text, value, &part->spec);
    } else {
        as_format_real(&p->text, value, &part->spec);
    }
}

/* "!r" puts it in quotes. */
static void add_parameter(printing *p, const as_part *part, const char *name) {
    if (!part->conversion || part->conversion == 's') {
        as_format_text(&p->text, name, strlen(name), &part->spec);
        return;
    }
    char quote = strchr(name, '\'') && !strchr(name, '"') ? '"' : '\'';
    as_text quoted;
    as_text_init(&quoted);
    as_text_char(&quoted, quote);
    as_text_add(&quoted, name);
    as_text_char(&quoted, quote);
    as_format_text(&p->text, as_text_data(&quoted), as_text_size(&quoted), &part->spec);
    p->failed |= quoted.failed;
    as_text_free(&quoted);
}

/* Of a constant model, Extra-P's AR2 is the integer 1; where it is 0 everywhere, its relative errors are never touched
 * integers. */
static void add_cost(printing *p, const as_part *part, const as_model *model) {
    bool is_constant = model->n_segments == 1 && !model->n_terms;
    bool is_nothing = is_constant && model->RSS == 0 && as_ds_segment(p->ds, model->first_segment)->constant == 0;
    switch (part->field) {
    case AS_FIELD_SMAPE: add_number(p, part, model->SMAPE, false); break;
    case AS_FIELD_RSS: add_number(p, part, model->RSS, false); break;
    case AS_FIELD_RRSS: add_number(p, part, model->rRSS, is_nothing && model->rRSS == 0); break;
    case AS_FIELD_RE: add_number(p, part, model->RE, is_nothing && model->RE == 0); break;
    default: add_number(p, part, is_constant ? 1 : model->AR2, is_constant);
    }
}

static void add_statistic(printing *p, const as_part *part, scope s) {
    const as_measurement *m = &p->at_point[s.point];
    if (m->point == ASSAY_NONE) {
        add_number(p, part, 0, true);
        return;
    }
    bool is_whole = has_whole_extremes(p, s.model->metric);
    switch (part->field) {
    case AS_FIELD_MEAN: add_number(p, part, m->mean, false); break;
    case AS_FIELD_MEDIAN: add_number(p, part, m->median, false); break;
    case AS_FIELD_STD: add_number(p, part, m->std, false); break;
    case AS_FIELD_MIN: add_number(p, part, m->minimum, is_whole); break;
    default: add_number(p, part, m->maximum, is_whole);
    }
}

static void add_separator(printing *p, const as_part *list, const char *usual) {
    if (list->text)
        as_text_write(&p->text, list->text, list->size);
    else
        as_text_add(&p->text, usual);
}

static void add_parameters(printing *p, const as_part *list, scope s) {
    for (s.parameter = 0; s.parameter < p->ds->parameters.count; s.parameter++) {
        if (s.parameter) add_separator(p, list, " ");
        if (list->entry)
            fill(p, list->entry, s);
        else
            as_text_add(&p->text, parameter_name(p, s.parameter));
    }
}

/* list NULL: as usual. */
static void add_point(printing *p, const as_part *list, scope s) {
    static const as_part usual = {.field = AS_FIELD_POINT};
    if (!list) list = &usual;
    for (s.parameter = 0; s.parameter < p->ds->parameters.count; s.parameter++) {
        if (s.parameter) add_separator(p, list, ", ");
        if (list->entry)
            fill(p, list->entry, s);
        else
            as_format_real(&p->text, as_ds_point(p->ds, s.point)[s.parameter], &TWO_DIGITS);
    }
}

static void add_points(printing *p, const as_part *list, scope s) {
    bool is_measured = list->field == AS_FIELD_MEASUREMENTS;
    if (is_measured) gather(p, s.model->metric, s.model->context);
    for (s.point = 0; s.point < p->ds->n_points; s.point++) {
        if (s.point) add_separator(p, list, is_measured ? "\n" : " | ");
        if (list->entry) {
            fill(p, list->entry, s);
            continue;
        }
        as_text_char(&p->text, '(');
        add_point(p, NULL, s);
        as_text_char(&p->text, ')');
        if (!is_measured) continue;
        const as_measurement *m = &p->at_point[s.point];
        add_real(p, " Mean: ", m->point == ASSAY_NONE ? 0 : m->mean);
        add_real(p, " Median: ", m->point == ASSAY_NONE ? 0 : m->median);
    }
}

/* Text written from `start` on is replaced by as many blanks as it has characters. */
static void blank(printing *p, size_t start) {
    size_t n = as_text_characters(as_text_data(&p->text) + start, as_text_size(&p->text) - start);
    p->text.bytes.count = start;
    as_text_fill(&p->text, " ", 1, n);
}

/* Whether a placeholder with "?" was printed just before; remembers that it is now. */
static bool is_repeated(printing *p, as_field field, const as_model *model) {
    bool repeated;
    switch (field) {
    case AS_FIELD_CALLPATH:
        repeated = p->last_callpath == model->context;
        p->last_callpath = model->context;
        return repeated;
    case AS_FIELD_METRIC:
        repeated = p->last_metric == model->metric;
        p->last_metric = model->metric;
        return repeated;
    case AS_FIELD_POINTS:
        repeated = p->has_points;
        p->has_points = true;
        return repeated;
    default:
        repeated = p->has_parameters;
        p->has_parameters = true;
        return repeated;
    }
}

static void fill_part(printing *p, const as_part *part, scope s) {
    const as_dataset *ds = p->ds;
    double coordinate;
    size_t start = as_text_size(&p->text);
    switch (part->field) {
    case AS_FIELD_LITERAL: as_text_write(&p->text, part->text, part->size); break;
    case AS_FIELD_CALLPATH: as_text_add(&p->text, callpath_name(p, s.model->context)); break;
    case AS_FIELD_METRIC: as_text_add(&p->text, metric_name(p, s.model->metric)); break;
    case AS_FIELD_MODEL: as_extrap_function(&p->text, ds, s.model, part->notation); break;
    case AS_FIELD_PARAMETERS: add_parameters(p, part, s); break;
    case AS_FIELD_POINTS:
    case AS_FIELD_MEASUREMENTS: add_points(p, part, s); break;
    case AS_FIELD_POINT: add_point(p, part, s); break;
    case AS_FIELD_PARAMETER: add_parameter(p, part, parameter_name(p, s.parameter)); break;
    case AS_FIELD_COORDINATE:
        coordinate = as_ds_point(ds, s.point)[s.parameter];
        add_number(p, part, coordinate, ds->whole_coordinates && coordinate == floor(coordinate));
        break;
    case AS_FIELD_SMAPE:
    case AS_FIELD_RRSS:
    case AS_FIELD_RSS:
    case AS_FIELD_AR2:
    case AS_FIELD_RE: add_cost(p, part, s.model); break;
    default: add_statistic(p, part, s);
    }
    if (part->once && is_repeated(p, part->field, s.model)) blank(p, start);
}

static void fill(printing *p, const as_template *template, scope s) {
    for (size_t i = 0; i < template->parts.count; i++) fill_part(p, &AS_AT(as_part, &template->parts, i), s);
}

/* The models of one set by metric, then call path. */
static void print_set(printing *p, const as_template *template) {
    for (size_t m = 0; m < p->ds->metrics.count; m++) {
        for (size_t i = 0; i < p->n_callpaths && !p->failed; i++) {
            uint32_t id = as_map_get(&p->models, as_pair((assay_id)m, p->callpaths[i]));
            if (id == AS_MAP_NONE) continue;
            p->has_points = p->has_parameters = false;
            fill(p, template, (scope){.model = as_ds_model(p->ds, id)});
            as_text_char(&p->text, '\n');
            flush(p);
        }
    }
}

static void map_models(printing *p, assay_id set) {
    as_map_free(&p->models);
    as_map_init(&p->models, NULL);
    for (size_t i = 0; i < p->ds->models.count && !p->failed; i++) {
        const as_model *model = as_ds_model(p->ds, (assay_id)i);
        if (model->set == set)
            p->failed |= !as_map_put(&p->models, as_pair(model->metric, model->context), (uint32_t)i);
    }
}

static assay_status print_format(printing *p, const char *format, assay_error *error) {
    as_arena arena;
    as_arena_init(&arena, NULL);
    as_template *template = NULL;
    assay_status status = as_template_parse(format, &arena, &template, error);
    size_t n_sets = status == ASSAY_OK ? p->ds->model_sets.count : 0;
    for (size_t i = 0; i < n_sets && !p->failed; i++) {
        as_str name = as_ds_model_set(p->ds, (assay_id)i)->name;
        if (n_sets > 1) {
            as_text_add(&p->text, "Modeler: ");
            as_text_add(&p->text, name == AS_NO_STR ? "" : as_ds_text(p->ds, name));
            as_text_char(&p->text, '\n');
        }
        map_models(p, (assay_id)i);
        print_set(p, template);
    }
    as_template_free(template);
    as_arena_free(&arena);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool prepare(printing *p) {
    const as_dataset *ds = p->ds;
    p->at_point = malloc((ds->n_points + 1) * sizeof *p->at_point);
    if (!p->at_point || !as_ds_callpaths(ds, &p->callpaths, &p->n_callpaths)) return false;
    for (size_t i = 0; i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        if (!as_map_put(&p->series, as_pair(series->metric, series->context), (uint32_t)i)) return false;
    }
    map_models(p, 0);
    return !p->failed;
}

static const struct {
    const char *name;
    as_field names; /* what it lists; AS_FIELD_MODEL: functions, AS_FIELD_MEASUREMENTS: everything */
    as_notation notation;
} PRESETS[] = {
    {"all", AS_FIELD_MEASUREMENTS, AS_NOTATION_PLAIN},       {"all-python", AS_FIELD_MEASUREMENTS, AS_NOTATION_PYTHON},
    {"all-latex", AS_FIELD_MEASUREMENTS, AS_NOTATION_LATEX}, {"callpaths", AS_FIELD_CALLPATH, AS_NOTATION_PLAIN},
    {"metrics", AS_FIELD_METRIC, AS_NOTATION_PLAIN},         {"parameters", AS_FIELD_PARAMETERS, AS_NOTATION_PLAIN},
    {"functions", AS_FIELD_MODEL, AS_NOTATION_PLAIN},        {"functions-python", AS_FIELD_MODEL, AS_NOTATION_PYTHON},
    {"functions-latex", AS_FIELD_MODEL, AS_NOTATION_LATEX}};

enum { N_PRESETS = sizeof PRESETS / sizeof *PRESETS };

/* Its index, or N_PRESETS. */
static size_t find_preset(const char *what) {
    size_t i = 0;
    while (i < N_PRESETS && strcasecmp(what, PRESETS[i].name) != 0) i++;
    return i;
}

assay_status as_extrap_print_check(const char *what, assay_error *error) {
    if (find_preset(what) < N_PRESETS) return ASSAY_OK;
    as_arena arena;
    as_arena_init(&arena, NULL);
    as_template *template = NULL;
    assay_status status = as_template_parse(what, &arena, &template, error);
    as_template_free(template);
    as_arena_free(&arena);
    return status;
}

static assay_status print(printing *p, const char *what, assay_error *error) {
    size_t i = find_preset(what);
    if (i == N_PRESETS) return print_format(p, what, error);
    if (PRESETS[i].names == AS_FIELD_MEASUREMENTS)
        print_all(p, PRESETS[i].notation);
    else if (PRESETS[i].names == AS_FIELD_MODEL)
        print_functions(p, PRESETS[i].notation);
    else
        print_names(p, PRESETS[i].names);
    return ASSAY_OK;
}

assay_status as_extrap_print(as_output *out, const as_dataset *ds, const char *what, assay_error *error) {
    printing p = {.out = out, .ds = ds, .last_callpath = ASSAY_NONE, .last_metric = ASSAY_NONE};
    as_text_init(&p.text);
    as_map_init(&p.series, NULL);
    as_map_init(&p.models, NULL);
    as_vec_init(&p.path, 1, NULL);
    assay_status status = prepare(&p) ? print(&p, what, error) : as_fail_memory(error, NULL);
    if (status == ASSAY_OK && p.failed) status = as_fail_memory(error, NULL);
    if (status == ASSAY_OK) as_output_char(out, '\n');
    free(p.callpaths);
    free(p.at_point);
    as_map_free(&p.series);
    as_map_free(&p.models);
    as_vec_free(&p.path);
    as_text_free(&p.text);
    return status;
}
