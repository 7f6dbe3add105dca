/* Model sets of a .extra-p file. What the tables have no place for stays in the raw JSON text of the model and of the
 * modeler. */
#include "formats/extrap/experiment.h"

#include <ctype.h>
#include <stdio.h>

/* A function inside a function: the pieces of a piecewise one. Extra-P makes two of them. */
enum { MAX_NESTED_FUNCTIONS = 2, MAX_SEGMENTS = 1000 };

static assay_status read_function(as_xp_file *file, uint32_t level);

static assay_status read_real(as_xp_file *file, const char *what, double *out) {
    as_json_next(&file->json);
    return as_xp_real(&file->json, out) ? ASSAY_OK : as_xp_reject(file, "not-a-number", "%s must be a number", what);
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

/* The text of an exponent: fractions and whole numbers in quotes as they are, reals in their shortest form. */
static assay_status read_exponent(as_xp_file *file, as_str *out) {
    double value;
    as_json_next(&file->json);
    if (!as_xp_real(&file->json, &value)) return as_xp_reject(file, "not-a-number", "an exponent must be a number");
    char text[AS_NUMBER_SIZE];
    size_t size;
    const char *from = text;
    if (file->json.type == AS_JSON_STRING)
        from = as_json_text(&file->json, &size);
    else
        size = as_real_format(value, text);
    *out = from ? as_ds_intern(file->ds, from, size) : AS_NO_STR;
    return *out != AS_NO_STR ? ASSAY_OK : as_xp_no_memory(file);
}

static double exponent_value(const as_dataset *ds, as_str exponent) {
    const char *text = as_ds_text(ds, exponent), *slash = strchr(text, '/');
    double numerator = NAN, denominator = 1;
    as_real_parse(text, slash ? (size_t)(slash - text) : strlen(text), &numerator);
    if (slash) as_real_parse(slash + 1, strlen(slash + 1), &denominator);
    return numerator / denominator;
}

/* p^a * p^b is p^(a + b). */
static assay_status add_exponent(as_xp_file *file, as_str *sum, as_str exponent) {
    double before = exponent_value(file->ds, *sum);
    if (before == 0) {
        *sum = exponent;
        return ASSAY_OK;
    }
    char text[AS_NUMBER_SIZE];
    *sum = as_ds_intern(file->ds, text, as_real_format(before + exponent_value(file->ds, exponent), text));
    return *sum != AS_NO_STR ? ASSAY_OK : as_xp_no_memory(file);
}

/* {"term_type": "polynomial", "exponent": "3/2"}: a factor of the term at `index`. */
static assay_status read_simple_term(as_xp_file *file, size_t index) {
    as_str exponent = AS_NO_STR;
    bool more, is_polynomial = false, is_logarithm = false;
    for (;;) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        if (as_json_is(&file->json, "exponent")) {
            AS_TRY(read_exponent(file, &exponent));
        } else if (as_json_is(&file->json, "term_type")) {
            as_json_next(&file->json);
            is_polynomial = file->json.type == AS_JSON_STRING && as_json_is(&file->json, "polynomial");
            is_logarithm = file->json.type == AS_JSON_STRING && as_json_is(&file->json, "logarithm");
            if (!is_polynomial && !is_logarithm)
                AS_TRY(as_xp_reject(file, "unknown-term", "term_type must be \"polynomial\" or \"logarithm\""));
        } else {
            const char *raw;
            size_t size;
            AS_TRY(as_xp_skip(file, &raw, &size));
        }
    }
    if ((!is_polynomial && !is_logarithm) || exponent == AS_NO_STR)
        return as_xp_broken(file, "missing-key", "a term needs term_type and exponent");
    as_term *term = &AS_AT(as_term, &file->terms, index);
    as_str sum = is_polynomial ? term->exponent : term->log_exponent;
    AS_TRY(add_exponent(file, &sum, exponent));
    *(is_polynomial ? &term->exponent : &term->log_exponent) = sum;
    return ASSAY_OK;
}

/* A list of objects, each given to read. */
static assay_status read_list(as_xp_file *file, const char *what, size_t argument,
                              assay_status (*read)(as_xp_file *file, size_t argument)) {
    bool fits;
    AS_TRY(as_xp_expect(file, AS_JSON_ARRAY, what, &fits));
    while (fits && as_json_next(&file->json) != AS_JSON_ARRAY_END) {
        if (file->json.type == AS_JSON_OBJECT)
            AS_TRY(read(file, argument));
        else
            AS_TRY(as_xp_reject(file, "wrong-type", "an element of %s must be an object", what));
    }
    return ASSAY_OK;
}

static assay_status read_nested_function(as_xp_file *file, size_t level) {
    return read_function(file, (uint32_t)level);
}

/* [["-inf", 4.0], [4.0, "inf"]] into file->intervals. */
static assay_status read_intervals(as_xp_file *file) {
    bool fits;
    AS_TRY(as_xp_expect(file, AS_JSON_ARRAY, "intervals", &fits));
    file->intervals.count = 0;
    while (fits && as_json_next(&file->json) != AS_JSON_ARRAY_END) {
        size_t before = file->intervals.count;
        if (file->json.type != AS_JSON_ARRAY) {
            AS_TRY(as_xp_reject(file, "wrong-type", "an interval must be a list"));
            continue;
        }
        while (as_json_next(&file->json) != AS_JSON_ARRAY_END) {
            double *bound = as_vec_push(&file->intervals);
            if (!bound) return as_xp_no_memory(file);
            if (!as_xp_real(&file->json, bound))
                AS_TRY(as_xp_reject(file, "not-a-number", "the bound of an interval must be a number"));
        }
        if (file->intervals.count - before == 2) continue;
        file->intervals.count = before;
        AS_TRY(as_xp_broken(file, "bad-interval", "an interval must have two bounds"));
    }
    return ASSAY_OK;
}

/* Gives the segments from `first` on their intervals. */
static assay_status set_intervals(as_xp_file *file, size_t first) {
    size_t n = file->segments.count - first;
    if (file->intervals.count != 2 * n)
        return as_xp_broken(file, "bad-interval", "there are %zu segments but %zu intervals", n,
                            file->intervals.count / 2);
    for (size_t i = 0; i < n; i++) {
        as_segment *segment = &AS_AT(as_segment, &file->segments, first + i);
        segment->from = AS_AT(double, &file->intervals, 2 * i);
        segment->to = AS_AT(double, &file->intervals, 2 * i + 1);
    }
    return ASSAY_OK;
}

/* One factor: {"coefficient", "simple_terms"}, or a piecewise one with "segments" and "intervals". coefficient:
 * multiplied into. */
static assay_status read_factor(as_xp_file *file, assay_id parameter, uint32_t segment, uint32_t term,
                                double *coefficient, uint32_t level) {
    as_term *factor = as_vec_push(&file->terms);
    as_str zero = as_ds_intern_text(file->ds, "0");
    if (!factor || zero == AS_NO_STR) return as_xp_no_memory(file);
    *factor =
        (as_term){.segment = segment, .term = term, .parameter = parameter, .exponent = zero, .log_exponent = zero};
    size_t index = file->terms.count - 1, first_piece = file->segments.count;
    double own = 1;
    bool more, is_piecewise = false;
    for (;;) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        if (as_json_is(&file->json, "coefficient")) {
            AS_TRY(read_real(file, "a coefficient", &own));
        } else if (as_json_is(&file->json, "simple_terms")) {
            AS_TRY(read_list(file, "simple_terms", index, read_simple_term));
        } else if (as_json_is(&file->json, "segments")) {
            is_piecewise = true;
            file->parameter = parameter;
            AS_TRY(read_list(file, "segments", level + 1, read_nested_function));
            file->parameter = 0;
        } else if (as_json_is(&file->json, "intervals")) {
            AS_TRY(read_intervals(file));
        } else {
            const char *raw;
            size_t size;
            AS_TRY(as_xp_skip(file, &raw, &size));
        }
    }
    *coefficient *= own;
    if (!is_piecewise) return ASSAY_OK;
    as_term *whole = &AS_AT(as_term, &file->terms, index);
    whole->exponent = whole->log_exponent = AS_NO_STR;
    whole->first_piece = (uint32_t)first_piece;
    whole->n_pieces = (uint32_t)(file->segments.count - first_piece);
    file->n_pieces += whole->n_pieces;
    return set_intervals(file, first_piece);
}

/* {"0": {…}, "1": {…}}: factors by index of their parameter. */
static assay_status read_pairs(as_xp_file *file, uint32_t segment, uint32_t term, double *coefficient, uint32_t level) {
    bool fits, more;
    AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "parameter_term_pairs", &fits));
    while (fits) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        size_t size;
        const char *text = as_json_text(&file->json, &size);
        as_number number = {.kind = AS_REAL};
        bool is_index = text && as_number_parse(text, size, &number) && number.kind == AS_INT && number.i >= 0 &&
                        (uint64_t)number.i < as_ds_parameters(file->ds);
        if (!is_index) AS_TRY(as_xp_broken(file, "unknown-parameter", "a term names a parameter that is not there"));
        bool is_object;
        AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "a factor", &is_object));
        if (is_object) AS_TRY(read_factor(file, is_index ? (assay_id)number.i : 0, segment, term, coefficient, level));
    }
    return ASSAY_OK;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Where the terms of a function go. */
typedef struct function {
    uint32_t segment, n_terms, level;
} function;

/* Plain ones have "simple_terms", those of several parameters "parameter_term_pairs". */
static assay_status read_compound_term(as_xp_file *file, function *f) {
    size_t first = file->terms.count;
    double coefficient = 1;
    uint32_t term = f->n_terms++;
    bool more;
    as_str zero = as_ds_intern_text(file->ds, "0");
    for (;;) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        if (as_json_is(&file->json, "coefficient")) {
            double own = 1;
            AS_TRY(read_real(file, "a coefficient", &own));
            coefficient *= own;
        } else if (as_json_is(&file->json, "parameter_term_pairs")) {
            AS_TRY(read_pairs(file, f->segment, term, &coefficient, f->level));
        } else if (as_json_is(&file->json, "simple_terms")) {
            as_term *factor = as_vec_push(&file->terms);
            if (!factor || zero == AS_NO_STR) return as_xp_no_memory(file);
            *factor = (as_term){.segment = f->segment,
                                .term = term,
                                .parameter = file->parameter,
                                .exponent = zero,
                                .log_exponent = zero};
            AS_TRY(read_list(file, "simple_terms", file->terms.count - 1, read_simple_term));
        } else {
            const char *raw;
            size_t size;
            AS_TRY(as_xp_skip(file, &raw, &size));
        }
    }
    if (first == file->terms.count)
        AS_AT(as_segment, &file->segments, f->segment).constant += coefficient; /* a product of nothing */
    for (size_t i = first; i < file->terms.count; i++) {
        as_term *factor = &AS_AT(as_term, &file->terms, i);
        if (factor->segment == f->segment) factor->coefficient = coefficient; /* not those of its pieces */
    }
    return ASSAY_OK;
}

static assay_status read_compound_terms(as_xp_file *file, function *f) {
    bool fits;
    AS_TRY(as_xp_expect(file, AS_JSON_ARRAY, "compound_terms", &fits));
    while (fits && as_json_next(&file->json) != AS_JSON_ARRAY_END) {
        if (file->json.type == AS_JSON_OBJECT)
            AS_TRY(read_compound_term(file, f));
        else
            AS_TRY(as_xp_reject(file, "wrong-type", "a term must be an object"));
    }
    return ASSAY_OK;
}

/* A piecewise function has no terms of its own: its segment goes, those behind it move up. */
static void drop_segment(as_xp_file *file, uint32_t segment) {
    as_segment *segments = file->segments.data;
    memmove(segments + segment, segments + segment + 1, (file->segments.count - segment - 1) * sizeof *segments);
    file->segments.count--;
    for (size_t i = 0; i < file->terms.count; i++) {
        as_term *term = &AS_AT(as_term, &file->terms, i);
        if (term->segment > segment) term->segment--;
    }
}

/* json is at the object. */
static assay_status read_function(as_xp_file *file, uint32_t level) {
    if (level >= MAX_NESTED_FUNCTIONS) return as_xp_reject(file, "nested-segments", "segments must not have segments");
    if (file->segments.count >= MAX_SEGMENTS)
        return as_xp_reject(file, "too-many-segments", "a model has more than %d segments", MAX_SEGMENTS);
    function f = {.segment = (uint32_t)file->segments.count, .level = level};
    as_segment *own = as_vec_push(&file->segments);
    if (!own) return as_xp_no_memory(file);
    *own = (as_segment){.from = -INFINITY, .to = INFINITY};
    bool more, is_piecewise = false;
    for (;;) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        if (as_json_is(&file->json, "constant_coefficient")) {
            double constant = 0;
            AS_TRY(read_real(file, "constant_coefficient", &constant));
            AS_AT(as_segment, &file->segments, f.segment).constant += constant;
        } else if (as_json_is(&file->json, "compound_terms")) {
            AS_TRY(read_compound_terms(file, &f));
        } else if (as_json_is(&file->json, "segments")) {
            is_piecewise = true;
            AS_TRY(read_list(file, "segments", level + 1, read_nested_function));
        } else if (level == 0 && as_json_is(&file->json, "intervals")) {
            AS_TRY(read_intervals(file));
        } else {
            const char *raw;
            size_t size;
            AS_TRY(as_xp_skip(file, &raw, &size));
        }
    }
    if (!is_piecewise) return ASSAY_OK;
    if (f.n_terms || file->n_pieces || level)
        return as_xp_broken(file, "nested-segments", "a function with segments must have no terms besides");
    drop_segment(file, f.segment);
    return set_intervals(file, f.segment);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    size_t offset;
} COSTS[] = {{"RSS", offsetof(as_segment_costs, RSS)},   {"rRSS", offsetof(as_segment_costs, rRSS)},
             {"nRSS", offsetof(as_segment_costs, nRSS)}, {"SMAPE", offsetof(as_segment_costs, SMAPE)},
             {"AR2", offsetof(as_segment_costs, AR2)},   {"RE", offsetof(as_segment_costs, RE)}};

static double *cost_of(as_json *json, as_segment_costs *costs) {
    for (size_t i = 0; i < sizeof COSTS / sizeof *COSTS; i++) {
        if (as_json_is(json, COSTS[i].name)) return (double *)(void *)((char *)costs + COSTS[i].offset);
    }
    return NULL;
}

/* The members of "hypothesis". A constant's AR2 is 1 and not written. has_function NULL: the function is known, only
 * the costs are read. */
static assay_status read_hypothesis(as_xp_file *file, as_segment_costs *costs, bool *has_function) {
    bool fits, more, is_constant = false;
    costs->RSS = costs->rRSS = costs->nRSS = costs->SMAPE = costs->AR2 = costs->RE = NAN;
    AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "hypothesis", &fits));
    while (fits) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        double *cost = cost_of(&file->json, costs);
        const char *raw;
        size_t size;
        bool is_object;
        if (cost) {
            AS_TRY(read_real(file, "a cost", cost));
        } else if (has_function && as_json_is(&file->json, "function")) {
            if (*has_function) return as_xp_broken(file, "duplicate-key", "a hypothesis has two functions");
            AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "function", &is_object));
            if (is_object) AS_TRY(read_function(file, 0));
            *has_function = is_object;
        } else {
            bool is_type = as_json_is(&file->json, "$type");
            AS_TRY(as_xp_skip(file, &raw, &size));
            is_constant |=
                is_type && file->json.type == AS_JSON_STRING && as_json_is(&file->json, "ConstantHypothesis");
        }
    }
    if (is_constant && isnan(costs->AR2)) costs->AR2 = 1;
    return ASSAY_OK;
}

/* An element of "segment_models": its costs; the function is that of the segment. */
static assay_status read_segment_model(as_xp_file *file, size_t unused) {
    (void)unused;
    as_segment_costs costs = {.segment = (uint32_t)file->segment_costs.count};
    bool more;
    const char *raw;
    size_t size;
    for (;;) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        if (as_json_is(&file->json, "hypothesis"))
            AS_TRY(read_hypothesis(file, &costs, NULL));
        else
            AS_TRY(as_xp_skip(file, &raw, &size));
    }
    return as_vec_append(&file->segment_costs, &costs, 1) ? ASSAY_OK : as_xp_no_memory(file);
}

static assay_status add_model(as_xp_file *file, as_model *model, const as_segment_costs *costs) {
    model->RSS = costs->RSS;
    model->rRSS = costs->rRSS;
    model->nRSS = costs->nRSS;
    model->SMAPE = costs->SMAPE;
    model->AR2 = costs->AR2;
    model->RE = costs->RE;
    model->n_pieces = file->n_pieces;
    if (as_add_model(file->ds, model, file->segments.data, file->segments.count, file->terms.data, file->terms.count) ==
        ASSAY_NONE)
        return as_xp_no_memory(file);
    size_t n_segments = file->segments.count - file->n_pieces, n_costs = file->segment_costs.count;
    for (size_t i = 0; i < n_costs && n_costs == n_segments; i++) {
        if (!as_add_segment_costs(file->ds, &AS_AT(as_segment_costs, &file->segment_costs, i)))
            return as_xp_no_memory(file);
    }
    return ASSAY_OK;
}

static assay_status read_model(as_xp_file *file, assay_id set, assay_id metric, assay_id context) {
    bool fits, more, has_function = false;
    AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "a model", &fits));
    if (!fits) return ASSAY_OK;
    const char *begin = file->json.token;
    as_model model = {.set = set, .metric = metric, .context = context, .function = AS_NO_STR};
    as_segment_costs costs = {0};
    file->segments.count = file->terms.count = file->intervals.count = file->n_pieces = 0;
    file->segment_costs.count = 0;
    for (;;) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        const char *raw;
        size_t size;
        if (as_json_is(&file->json, "hypothesis"))
            AS_TRY(read_hypothesis(file, &costs, &has_function));
        else if (as_json_is(&file->json, "segment_models"))
            AS_TRY(read_list(file, "segment_models", 0, read_segment_model));
        else
            AS_TRY(as_xp_skip(file, &raw, &size));
    }
    if (!has_function) return as_xp_broken(file, "missing-key", "a model has no function");
    model.raw = as_ds_intern(file->ds, begin, (size_t)(file->json.token + file->json.token_size - begin));
    return model.raw == AS_NO_STR ? as_xp_no_memory(file) : add_model(file, &model, &costs);
}

static assay_status read_models(as_xp_file *file, assay_id set) {
    bool fits, more;
    assay_id context, metric;
    AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "models", &fits));
    while (fits) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        AS_TRY(as_xp_named(file, AS_OWNER_CONTEXT, &context));
        bool is_object;
        AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "the models of a call path", &is_object));
        while (is_object) {
            AS_TRY(as_xp_next_key(file, &more));
            if (!more) break;
            AS_TRY(as_xp_named(file, AS_OWNER_METRIC, &metric));
            AS_TRY(read_model(file, set, metric, context));
        }
    }
    return ASSAY_OK;
}

/* ---- model sets -------------------------------------------------------------------------------------------------- */

const as_xp_modeler_name as_xp_modeler_names[] = {
    {"SingleParameterModeler", "basic"},          {"RefiningModeler", "refining"}, {"SegmentedModeler", "segmented"},
    {"MultiParameterModeler", "multi-parameter"}, {"AdaptiveModeler", "adaptive"}, {NULL, NULL},
};

/* The current text as a word of ours: modelers by their class, others as they are. */
static as_str modeler_word(as_xp_file *file) {
    size_t size;
    const char *text = as_json_text(&file->json, &size);
    for (const as_xp_modeler_name *name = as_xp_modeler_names; text && name->type; name++) {
        if (as_json_is(&file->json, name->type)) return as_ds_intern_text(file->ds, name->word);
    }
    return text ? as_ds_intern(file->ds, text, size) : AS_NO_STR;
}

static as_str lower_case(as_xp_file *file) {
    size_t size;
    const char *text = as_json_text(&file->json, &size);
    file->key.count = 0;
    if (!text || !as_vec_append(&file->key, text, size)) return AS_NO_STR;
    for (size_t i = 0; i < size; i++) AS_AT(char, &file->key, i) = (char)tolower(AS_AT(unsigned char, &file->key, i));
    return as_ds_intern(file->ds, file->key.data ? file->key.data : "", size);
}

/* Old files have only use_median, new ones both. */
static assay_status read_modeler(as_xp_file *file, as_model_set *set) {
    bool fits, more;
    AS_TRY(as_xp_expect(file, AS_JSON_OBJECT, "modeler", &fits));
    if (!fits) return ASSAY_OK;
    const char *begin = file->json.token;
    as_str by_median = AS_NO_STR;
    for (;;) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        bool is_type = as_json_is(&file->json, "$type"), is_measure = as_json_is(&file->json, "use_measure"),
             is_median = as_json_is(&file->json, "use_median");
        const char *raw;
        size_t size;
        AS_TRY(as_xp_skip(file, &raw, &size));
        bool is_text = file->json.type == AS_JSON_STRING;
        if (is_type && is_text && (set->modeler = modeler_word(file)) == AS_NO_STR) return as_xp_no_memory(file);
        if (is_measure && is_text && (set->measure = lower_case(file)) == AS_NO_STR) return as_xp_no_memory(file);
        if (is_median) by_median = as_ds_intern_text(file->ds, file->json.type == AS_JSON_TRUE ? "median" : "mean");
    }
    if (set->measure == AS_NO_STR) set->measure = by_median;
    set->raw = as_ds_intern(file->ds, begin, (size_t)(file->json.token + file->json.token_size - begin));
    return set->raw != AS_NO_STR ? ASSAY_OK : as_xp_no_memory(file);
}

/* json is at the object of one model set. */
static assay_status read_model_set(as_xp_file *file, size_t index) {
    as_model_set set = {
        .name = AS_NO_STR, .modeler = AS_NO_STR, .measure = AS_NO_STR, .raw = AS_NO_STR, .options = AS_NO_STR};
    assay_id id = as_add_model_set(file->ds, &set);
    if (id == ASSAY_NONE) return as_xp_no_memory(file);
    bool more, fits;
    for (;;) {
        AS_TRY(as_xp_next_key(file, &more));
        if (!more) break;
        if (as_json_is(&file->json, "models")) {
            AS_TRY(read_models(file, id));
        } else if (as_json_is(&file->json, "modeler")) {
            AS_TRY(read_modeler(file, &set));
        } else if (as_json_is(&file->json, "name")) {
            AS_TRY(as_xp_expect(file, AS_JSON_STRING, "the name of a model set", &fits));
            size_t size;
            const char *name = fits ? as_json_text(&file->json, &size) : NULL;
            if (fits && (!name || (set.name = as_ds_intern(file->ds, name, size)) == AS_NO_STR))
                return as_xp_no_memory(file);
        } else {
            char prefix[64];
            snprintf(prefix, sizeof prefix, AS_XP_MODELER_PREFIX "%zu:", index);
            AS_TRY(as_xp_keep_member(file, AS_OWNER_DATASET, 0, prefix));
        }
    }
    AS_AT(as_model_set, &file->ds->model_sets, id) = set;
    return ASSAY_OK;
}

assay_status as_xp_read_modelers(as_xp_file *file) {
    bool fits;
    AS_TRY(as_xp_expect(file, AS_JSON_ARRAY, "modelers", &fits));
    if (fits && !as_ds_parameters(file->ds))
        return as_xp_reject(file, "no-parameters", "there are models but no parameters");
    while (fits && as_json_next(&file->json) != AS_JSON_ARRAY_END) {
        if (file->json.type == AS_JSON_OBJECT)
            AS_TRY(read_model_set(file, file->ds->model_sets.count));
        else
            AS_TRY(as_xp_reject(file, "wrong-type", "a model set must be an object"));
    }
    return ASSAY_OK;
}
