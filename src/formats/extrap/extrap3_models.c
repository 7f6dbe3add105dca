/* Model generators and models of Extra-P 3. */
#include <stdio.h>

#include "formats/extrap/extrap3.h"
#include "io/json.h"

/* Bytes that elements of these lists take at least. */
enum {
    SIMPLE_TERM_SIZE = 4 + 10 + 4 + 8,
    COMPOUND_TERM_SIZE = 4 + 12 + 8 + 8,
    MULTI_TERM_SIZE = 8 + 8,
    PAIR_SIZE = 4 + COMPOUND_TERM_SIZE,
    PARTITION_SIZE = 4 + 8
};

/* ---- terms ------------------------------------------------------------------------------------------------------- */

/* coefficient * x^power * log2(x)^logarithm */
typedef struct term {
    double coefficient, power, logarithm;
} term;

static void read_simple_term(as_x3_file *file, term *out) {
    uint64_t offset = file->bytes.at;
    size_t size;
    const char *kind = as_x3_text(file, &size);
    double exponent = as_bytes_f64(&file->bytes);
    if (size == 10 && memcmp(kind, "polynomial", size) == 0)
        out->power += exponent;
    else if (size == 9 && memcmp(kind, "logarithm", size) == 0)
        out->logarithm += exponent;
    else if (!as_x3_failed(file))
        as_x3_wrong(file, offset, "unknown-term", "a term of the unknown kind '%.*s'", (int)(size < 40 ? size : 40),
                    kind);
}

static term read_compound_term(as_x3_file *file) {
    term result = {.coefficient = as_bytes_f64(&file->bytes)};
    uint64_t n = as_x3_count(file, SIMPLE_TERM_SIZE);
    for (uint64_t i = 0; i < n && !as_x3_failed(file); i++) {
        if (as_x3_expect(file, "SimpleTerm")) read_simple_term(file, &result);
    }
    return result;
}

static as_str exponent_text(as_x3_file *file, double exponent) {
    char text[AS_NUMBER_SIZE];
    return as_x3_intern(file, text, as_real_format(exponent, text));
}

static void add_factor(as_x3_file *file, uint32_t number, assay_id parameter, double coefficient, const term *factor) {
    as_term *row = as_vec_push(&file->terms);
    file->no_memory |= !row;
    if (!row) return;
    *row = (as_term){.term = number, .coefficient = coefficient, .parameter = parameter};
    row->exponent = exponent_text(file, factor->power);
    row->log_exponent = exponent_text(file, factor->logarithm);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static void read_single_function(as_x3_file *file, as_segment *segment) {
    segment->constant = as_bytes_f64(&file->bytes);
    uint64_t n = as_x3_count(file, COMPOUND_TERM_SIZE);
    for (uint64_t i = 0; i < n && !as_x3_failed(file); i++) {
        if (!as_x3_expect(file, "CompoundTerm")) break;
        term t = read_compound_term(file);
        add_factor(file, (uint32_t)i, 0, t.coefficient, &t);
    }
}

static void read_multi_function(as_x3_file *file, as_segment *segment) {
    segment->constant = as_bytes_f64(&file->bytes);
    uint64_t n = as_x3_count(file, MULTI_TERM_SIZE);
    for (uint64_t i = 0; i < n && !as_x3_failed(file); i++) {
        size_t first = file->terms.count;
        double coefficient = as_bytes_f64(&file->bytes);
        uint64_t n_pairs = as_x3_count(file, PAIR_SIZE);
        for (uint64_t k = 0; k < n_pairs && !as_x3_failed(file); k++) {
            assay_id parameter = as_x3_parameter(file);
            if (!as_x3_expect(file, "CompoundTerm")) break;
            term factor = read_compound_term(file);
            coefficient *= factor.coefficient;
            if (parameter != ASSAY_NONE) add_factor(file, (uint32_t)i, parameter, 1, &factor);
        }
        if (first == file->terms.count) segment->constant += coefficient; /* a product of nothing */
        for (size_t k = first; k < file->terms.count; k++) AS_AT(as_term, &file->terms, k).coefficient = coefficient;
    }
}

/* A function into file->segments and file->terms. False for "Function", which says nothing. */
static bool read_function(as_x3_file *file) {
    uint64_t offset = file->bytes.at;
    size_t size;
    const char *kind = as_x3_text(file, &size);
    as_segment segment = {.from = -INFINITY, .to = INFINITY};
    file->segments.count = file->terms.count = 0;
#define IS(name) (size == sizeof name - 1 && memcmp(kind, name, size) == 0)
    bool is_something = !IS("Function");
    if (IS("SingleParameterFunction")) {
        read_single_function(file, &segment);
    } else if (IS("MultiParameterFunction")) {
        read_multi_function(file, &segment);
    } else if (IS("CompoundTerm")) {
        term t = read_compound_term(file);
        add_factor(file, 0, 0, t.coefficient, &t);
    } else if (IS("SimpleTerm")) {
        term t = {.coefficient = 1};
        read_simple_term(file, &t);
        add_factor(file, 0, 0, t.coefficient, &t);
    } else if (is_something && !as_x3_failed(file)) {
        as_x3_lost(file, offset, "unknown-function", "a function of the unknown kind '%.*s'",
                   (int)(size < 40 ? size : 40), kind);
    }
#undef IS
    if (file->terms.count && !as_ds_parameters(file->ds))
        as_x3_wrong(file, offset, "no-parameters", "a model, but no parameters before it");
    file->no_memory |= !as_vec_append(&file->segments, &segment, 1);
    return is_something;
}

/* The text of the function read last; AS_NO_STR when memory is out. */
static as_str function_text(as_x3_file *file) {
    as_dataset *ds = file->ds;
    as_model model = {.first_segment = (uint32_t)ds->segments.count,
                      .n_segments = (uint32_t)file->segments.count,
                      .first_term = (uint32_t)ds->terms.count,
                      .n_terms = (uint32_t)file->terms.count};
    size_t n_segments = ds->segments.count, n_terms = ds->terms.count;
    bool fine = as_vec_append(&ds->segments, file->segments.data, file->segments.count) &&
                as_vec_append(&ds->terms, file->terms.data, file->terms.count);
    as_str text = fine ? as_model_function(ds, &model) : AS_NO_STR;
    ds->segments.count = n_segments;
    ds->terms.count = n_terms;
    return text;
}

/* ---- what models have besides ------------------------------------------------------------------------------------ */

/* Rows of the table "model_attribute": a comment, the bounds of an interval, a part of a parameter's range. */
static void add_detail(as_x3_file *file, const char *key, as_cell value) {
    static const char *const columns[] = {"model", "key", "value"};
    if (!file->details) {
        file->details = as_add_record_table(file->ds, "model_attribute");
        for (size_t i = 0; file->details && i < sizeof columns / sizeof *columns; i++) {
            file->no_memory |= as_table_add_column(file->details, columns[i]) == SIZE_MAX;
        }
        file->no_memory |= !file->details;
    }
    if (file->no_memory) return;
    as_cell cells[] = {as_cell_uint(as_table_rows(file->details)), as_cell_null(), as_cell_uint(file->ds->models.count),
                       as_cell_text(key), value};
    file->no_memory |= !as_table_append(file->details, cells);
}

static void read_intervals(as_x3_file *file) {
    static const char *const keys[] = {"confidence_upper", "confidence_lower", "error_cone_upper",
                                       "error_cone_lower", "noise_upper",      "noise_lower"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !as_x3_failed(file); i++) {
        if (!read_function(file) || as_x3_failed(file) || file->rule) continue;
        as_str text = function_text(file);
        file->no_memory |= text == AS_NO_STR;
        if (!file->no_memory) add_detail(file, keys[i], as_cell_text(as_ds_text(file->ds, text)));
    }
}

static void read_comments(as_x3_file *file) {
    uint64_t n = as_x3_count(file, 8);
    for (uint64_t i = 0; i < n && !as_x3_failed(file); i++) {
        as_str comment = as_x3_find(file, &file->comments, as_bytes_i64(&file->bytes), "comment");
        if (!as_x3_failed(file) && !file->rule)
            add_detail(file, "comment", as_cell_text(as_ds_text(file->ds, comment)));
    }
}

static void read_partitions(as_x3_file *file) {
    uint64_t n = as_x3_count(file, PARTITION_SIZE);
    for (uint64_t i = 0; i < n && !as_x3_failed(file); i++) {
        as_str name = as_x3_str(file);
        uint64_t n_intervals = as_x3_count(file, 16);
        for (uint64_t k = 0; k < n_intervals && !as_x3_failed(file); k++) {
            double from = as_bytes_f64(&file->bytes), to = as_bytes_f64(&file->bytes);
            char bounds[2][AS_NUMBER_SIZE], text[2 * AS_NUMBER_SIZE + 8];
            as_real_format(from, bounds[0]);
            as_real_format(to, bounds[1]);
            snprintf(text, sizeof text, "[%s, %s]", bounds[0], bounds[1]);
            if (!as_x3_failed(file)) add_detail(file, as_ds_text(file->ds, name), as_cell_text(text));
        }
    }
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

void as_x3_read_model(as_x3_file *file) {
    as_dataset *ds = file->ds;
    uint64_t offset = file->bytes.at;
    int64_t metric = as_bytes_i64(&file->bytes), callpath = as_bytes_i64(&file->bytes),
            generator = as_bytes_i64(&file->bytes);
    as_model model = {.metric = as_x3_metric(file, metric),
                      .context = as_x3_find(file, &file->callpaths, callpath, "call path"),
                      .function = AS_NO_STR,
                      .rRSS = NAN,
                      .nRSS = NAN,
                      .RE = NAN,
                      .raw = AS_NO_STR};
    bool is_known = generator >= 0 && (uint64_t)generator < file->generators.count;
    if (!is_known && !as_x3_failed(file))
        as_x3_wrong(file, offset, "unknown-id", "the record refers to generator %lld, which is not there",
                    (long long)generator);
    read_function(file);
    as_vec segments = file->segments, terms = file->terms; /* kept while the other functions of the record are read */
    as_vec_init(&file->segments, sizeof(as_segment), &ds->budget);
    as_vec_init(&file->terms, sizeof(as_term), &ds->budget);
    read_intervals(file);
    model.RSS = as_bytes_f64(&file->bytes);
    model.AR2 = as_bytes_f64(&file->bytes);
    model.SMAPE = as_bytes_f64(&file->bytes);
    if (file->is_sparse) model.RE = as_bytes_f64(&file->bytes);
    read_comments(file);
    read_partitions(file);
    as_vec_free(&file->segments);
    as_vec_free(&file->terms);
    file->segments = segments;
    file->terms = terms;
    if (as_x3_failed(file) || file->rule) return;
    model.set = (assay_id)generator;
    AS_AT(as_x3_generator, &file->generators, generator).n_models++;
    file->no_memory |= as_add_model(ds, &model, segments.data, segments.count, terms.data, terms.count) == ASSAY_NONE;
}

/* ---- generators -------------------------------------------------------------------------------------------------- */

typedef enum generator_kind { SINGLE_SIMPLE, SINGLE_REFINING, MULTI_SIMPLE, MULTI_SPARSE, N_GENERATORS } generator_kind;

static const struct {
    const char *kind, *type, *word;
} GENERATORS[N_GENERATORS] = {
    [SINGLE_SIMPLE] = {"SingleParameterSimpleModelGenerator", "SingleParameterModeler", "basic"},
    [SINGLE_REFINING] = {"SingleParameterRefiningModelGenerator", "RefiningModeler", "refining"},
    [MULTI_SIMPLE] = {"MultiParameterSimpleModelGenerator", "MultiParameterModeler", "multi-parameter"},
    [MULTI_SPARSE] = {"MultiParameterSparseModelGenerator", "MultiParameterModeler", "multi-parameter"},
};

static generator_kind generator_of(const char *kind, size_t size) {
    int i = 0;
    while (i < N_GENERATORS && (size != strlen(GENERATORS[i].kind) || memcmp(kind, GENERATORS[i].kind, size) != 0)) i++;
    return (generator_kind)i;
}

bool as_x3_is_generator(const char *kind, size_t size) { return generator_of(kind, size) != N_GENERATORS; }

static bool text_is_one_of(const char *text, size_t size, const char *const *words) {
    for (; *words; words++) {
        if (size == strlen(*words) && memcmp(text, *words, size) == 0) return true;
    }
    return false;
}

/* Options of newer versions, which nothing announces: they are there if their texts are the right words. Else nothing
 * is read. */
static void probe_options(as_x3_file *file, as_output *raw) {
    static const char *const single[] = {"FIRST_POINTS_FOUND", "MAX_NUMBER_POINTS", "CHEAPEST_POINTS", NULL},
                             *const multi[] = {"INCREASING_COST", "DECREASING_COST", NULL};
    as_bytes before = file->bytes;
    if (as_x3_failed(file) || file->rule) return;
    size_t single_size, multi_size;
    int64_t minimum = as_bytes_i64(&file->bytes);
    const char *single_text = as_x3_text(file, &single_size);
    int64_t use_more = as_bytes_i64(&file->bytes), n_more = as_bytes_i64(&file->bytes);
    const char *multi_text = as_x3_text(file, &multi_size);
    if (!file->bytes.failed && text_is_one_of(single_text, single_size, single) &&
        text_is_one_of(multi_text, multi_size, multi)) {
        file->is_sparse = true;
        as_output_printf(raw,
                         ",\"options\":{\"minimum_points\":%lld,\"single_strategy\":\"%.*s\",\"use_extra_points\":%lld,"
                         "\"extra_points\":%lld,\"multi_strategy\":\"%.*s\"}",
                         (long long)minimum, (int)single_size, single_text, (long long)use_more, (long long)n_more,
                         (int)multi_size, multi_text);
        return;
    }
    file->bytes = before;
    file->rule = NULL; /* what looked like bad text is something else */
}

static void write_text(as_output *raw, const char *key, const char *text, size_t size) {
    as_output_printf(raw, ",\"%s\":", key);
    as_json_write_string(raw, text, size);
}

/* Terms the generator tries: [[coefficient, power, logarithm], …]. */
static void read_building_blocks(as_x3_file *file, as_output *raw) {
    uint64_t n = as_x3_count(file, COMPOUND_TERM_SIZE);
    as_output_text(raw, ",\"building_blocks\":[");
    for (uint64_t i = 0; i < n && !as_x3_failed(file); i++) {
        if (!as_x3_expect(file, "CompoundTerm")) break;
        term t = read_compound_term(file);
        as_output_text(raw, i ? ",[" : "[");
        as_json_write_real(raw, t.coefficient);
        as_output_char(raw, ',');
        as_json_write_real(raw, t.power);
        as_output_char(raw, ',');
        as_json_write_real(raw, t.logarithm);
        as_output_char(raw, ']');
    }
    as_output_printf(raw, "],\"max_term_count\":%lld", (long long)as_bytes_i64(&file->bytes));
}

/* The generator's record into raw, a modeler as .extra-p files have it. */
static void read_options(as_x3_file *file, generator_kind kind, as_model_set *set, as_output *raw) {
    size_t size;
    const char *text;
    set->name = as_x3_str(file);
    as_output_printf(raw, ",\"generator\":\"%s\"", GENERATORS[kind].kind);
    if (kind == SINGLE_SIMPLE || kind == SINGLE_REFINING) {
        text = as_x3_text(file, &size);
        write_text(raw, "crossvalidation", text, size);
        as_output_text(raw, ",\"eps\":");
        as_json_write_real(raw, as_bytes_f64(&file->bytes));
    }
    uint64_t offset = file->bytes.at;
    text = as_x3_text(file, &size);
    static const char *const mean[] = {"GENERATE_MODEL_MEAN", NULL}, *const median[] = {"GENERATE_MODEL_MEDIAN", NULL};
    static const char mean_word[] = "mean", median_word[] = "median";
    const char *measure = text_is_one_of(text, size, mean)     ? mean_word
                          : text_is_one_of(text, size, median) ? median_word
                                                               : NULL;
    if (!measure && !as_x3_failed(file)) {
        as_warn(file->reader, as_place_offset(file->reader->input->path, offset), "unknown-measure",
                "a model set is of the unknown measure '%.*s'", (int)(size < 40 ? size : 40), text);
    }
    set->measure = measure ? as_x3_intern(file, measure, strlen(measure)) : AS_NO_STR;
    as_output_printf(raw, ",\"use_median\":%s,\"use_measure\":\"%s\"", measure == median_word ? "true" : "false",
                     !measure                 ? "UNKNOWN"
                     : measure == median_word ? "MEDIAN"
                                              : "MEAN");
    probe_options(file, raw);
    if (kind == SINGLE_SIMPLE) read_building_blocks(file, raw);
}

void as_x3_read_generator(as_x3_file *file, const char *kind_text, size_t size) {
    generator_kind kind = generator_of(kind_text, size);
    as_x3_generator generator = {
        .set = {.name = AS_NO_STR, .measure = AS_NO_STR, .raw = AS_NO_STR, .options = AS_NO_STR}, .id = ASSAY_NONE};
    generator.set.modeler = as_x3_intern(file, GENERATORS[kind].word, strlen(GENERATORS[kind].word));
    as_output *raw = as_output_to_memory();
    file->no_memory |= !raw;
    if (raw) {
        as_output_printf(raw, "{\"$type\":\"%s\"", GENERATORS[kind].type);
        read_options(file, kind, &generator.set, raw);
        as_output_char(raw, '}');
    }
    const char *text = raw ? as_output_memory(raw, &size) : NULL;
    if (!as_x3_failed(file)) {
        generator.set.raw = text ? as_x3_intern(file, text, size) : AS_NO_STR;
        file->no_memory |= generator.set.raw == AS_NO_STR || !as_vec_append(&file->generators, &generator, 1);
    }
    as_output_discard(raw);
}

bool as_x3_finish_models(as_x3_file *file) {
    for (size_t i = 0; i < file->generators.count; i++) {
        as_x3_generator *generator = &AS_AT(as_x3_generator, &file->generators, i);
        if (!generator->n_models) continue;
        generator->id = as_add_model_set(file->ds, &generator->set);
        if (generator->id == ASSAY_NONE) return false;
    }
    for (size_t i = 0; i < file->ds->models.count; i++) {
        as_model *model = &AS_AT(as_model, &file->ds->models, i);
        model->set = AS_AT(as_x3_generator, &file->generators, model->set).id;
    }
    return true;
}
