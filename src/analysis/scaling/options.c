/* The options of the modelers: names, tables, and reading what was given. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/scaling/fit.h"
#include "core/words.h"

/* ---- tables ------------------------------------------------------------------------------------------------------ */

#define SINGLE_ROWS(prefix)                                                                                            \
    {prefix "allow_log_terms", AS_OPTION_BOOL, "yes", NULL, "Allow terms with logarithms"},                            \
        {prefix "use_crossvalidation", AS_OPTION_BOOL, "yes", NULL,                                                    \
         "Compare hypotheses by their error on points left out of the fit"},                                           \
        {prefix "compare_with_RSS", AS_OPTION_BOOL, "no", NULL,                                                        \
         "Compare hypotheses by their residual sum of squares instead of SMAPE"},                                      \
    {                                                                                                                  \
        prefix "minimum_term_contribution", AS_OPTION_REAL, "0.0005", NULL,                                            \
            "A term must make up at least this part of the value at some point"                                        \
    }

#define EXPONENT_ROWS(prefix)                                                                                          \
    {prefix "poly_exponents", AS_OPTION_TEXT, "", NULL,                                                                \
     "Search these powers instead of the default ones, as a comma list"},                                              \
        {prefix "log_exponents", AS_OPTION_TEXT, "", NULL,                                                             \
         "Search these powers of the logarithm instead of the default ones, as a comma list"},                         \
        {prefix "retain_default_exponents", AS_OPTION_BOOL, "no", NULL,                                                \
         "Search the default exponents besides those given"},                                                          \
        {prefix "force_combination_exponents", AS_OPTION_BOOL, "no", NULL,                                             \
         "Use the given exponents only as products of a power and a logarithm"},                                       \
    {                                                                                                                  \
        prefix "allow_negative_exponents", AS_OPTION_BOOL, "no", NULL, "Search negative exponents, too"                \
    }

#define MULTI_ROWS                                                                                                     \
    {"single_parameter_modeler", AS_OPTION_CHOICE, "basic", "basic|refining|segmented",                                \
     "Several parameters: how each of them alone is modelled"},                                                        \
        {"single_parameter_point_selection", AS_OPTION_CHOICE, "auto", "auto|all|smallest",                            \
         "Several parameters: which points each of them alone is modelled from"},                                      \
    {                                                                                                                  \
        "allow_combinations_of_sums_and_products", AS_OPTION_BOOL, "yes", NULL,                                        \
            "Several parameters: try sums of products besides the plain sum and product"                               \
    }

#define COMPARE_ROW                                                                                                    \
    {                                                                                                                  \
        "compare_with_RSS", AS_OPTION_BOOL, "no", NULL,                                                                \
            "Compare hypotheses by their residual sum of squares instead of SMAPE"                                     \
    }
#define COMPAT_ROW                                                                                                     \
    { "compat", AS_OPTION_CHOICE, "no", "no|extrap", "Repeat two slips of Extra-P, to reproduce published models" }
#define LAST_ROW                                                                                                       \
    { .name = NULL }

const as_option as_fit_option_table[] = {
    SINGLE_ROWS(""),
    EXPONENT_ROWS(""),
    MULTI_ROWS,
    {"single.KEY", AS_OPTION_TEXT, "", NULL, "Several parameters: an option of the modeler of each alone"},
    COMPAT_ROW,
    LAST_ROW,
};

static const as_option single_table[] = {SINGLE_ROWS(""), EXPONENT_ROWS(""), COMPAT_ROW, LAST_ROW};
static const as_option refining_table[] = {SINGLE_ROWS(""), COMPAT_ROW, LAST_ROW};
static const as_option multi_table[] = {MULTI_ROWS, COMPARE_ROW, SINGLE_ROWS("single."), EXPONENT_ROWS("single."),
                                        COMPAT_ROW, LAST_ROW};
static const as_option multi_refining_table[] = {MULTI_ROWS, COMPARE_ROW, SINGLE_ROWS("single."), COMPAT_ROW, LAST_ROW};

/* Terms that are searched at most: each is fitted to every set of points, and again without each of them. */
enum { MAX_PAIRS = 20000 };

static const char SINGLE_PREFIX[] = "single.";
enum { PREFIX_SIZE = sizeof SINGLE_PREFIX - 1 };

static const as_option *find_row(const as_option *table, const char *name, size_t size) {
    for (const as_option *row = table; row->name; row++) {
        if (strlen(row->name) == size && memcmp(row->name, name, size) == 0) return row;
    }
    return NULL;
}

static bool has_prefix(const char *key_value) { return strncmp(key_value, SINGLE_PREFIX, PREFIX_SIZE) == 0; }

bool as_fit_option_known(const char *key_value) {
    return has_prefix(key_value) || find_row(as_fit_option_table, key_value, strcspn(key_value, "=")) != NULL;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const char *const modeler_names[] = {"basic", "refining", "segmented", "multi-parameter"};
static const char *const statistic_names[] = {"mean", "median", "minimum", "maximum"};
enum { N_MODELERS = 4, N_STATISTICS = 4 };

const char *as_modeler_name(as_modeler modeler) { return modeler_names[modeler]; }
const char *as_statistic_name(as_statistic statistic) { return statistic_names[statistic]; }

double as_statistic_of(as_statistic statistic, const as_measurement *measurement) {
    switch (statistic) {
    case AS_MEDIAN: return measurement->median;
    case AS_MINIMUM: return measurement->minimum;
    case AS_MAXIMUM: return measurement->maximum;
    default: return measurement->mean;
    }
}

/* The index of word in names, or n. */
static unsigned find_name(const char *const *names, unsigned n, const char *word) {
    unsigned i = 0;
    while (i < n && strcmp(names[i], word) != 0) i++;
    return i;
}

static assay_status fail_name(const char *what, const char *choices, const char *const *names, unsigned n,
                              const char *word, assay_error *error) {
    as_nearest nearest = as_nearest_start(word, strlen(word));
    for (unsigned i = 0; i < n; i++) as_nearest_offer(&nearest, names[i]);
    if (nearest.word) {
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "option-value", "there is no %s '%s'; did you mean '%s'?",
                       what, word, nearest.word);
    }
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "option-value", "there is no %s '%s'; there are %s", what, word,
                   choices);
}

static assay_status choose_modeler(size_t n_parameters, const char *name, as_modeler *out, assay_error *error) {
    if (!name || strcmp(name, "default") == 0) {
        *out = n_parameters > 1 ? AS_MODELER_MULTI : AS_MODELER_BASIC;
        return ASSAY_OK;
    }
    unsigned found = find_name(modeler_names, N_MODELERS, name);
    if (found == N_MODELERS) {
        return fail_name("modeler", "default, basic, refining, segmented and multi-parameter", modeler_names,
                         N_MODELERS, name, error);
    }
    *out = (as_modeler)found;
    if (*out == AS_MODELER_MULTI && n_parameters < 2) {
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "wrong-modeler",
                       "the multi-parameter modeler needs several parameters, and there is one; use basic, refining or "
                       "segmented");
    }
    if (*out != AS_MODELER_MULTI && n_parameters > 1) {
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "wrong-modeler",
                       "the %s modeler is for one parameter, and there are %zu; use multi-parameter, with -O "
                       "single_parameter_modeler=%s",
                       name, n_parameters, name);
    }
    return ASSAY_OK;
}

/* ---- what was given ---------------------------------------------------------------------------------------------- */

/* The key belongs to another modeler, or to none. */
static assay_status fail_key(const as_option *table, const as_fit_options *fit, const char *given, size_t size,
                             assay_error *error) {
    const char *modeler = as_modeler_name(fit->modeler);
    bool is_multi = fit->modeler == AS_MODELER_MULTI;
    char other[64]; /* the same key with or without the prefix */
    if (is_multi)
        snprintf(other, sizeof other, "%s%.*s", SINGLE_PREFIX, (int)size, given);
    else
        snprintf(other, sizeof other, "%.*s", (int)(size - PREFIX_SIZE), has_prefix(given) ? given + PREFIX_SIZE : "");
    if (find_row(table, other, strlen(other))) {
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "unknown-option",
                       "the %s modeler has no option '%.*s'; with %s write -O %s=…", modeler, (int)size, given,
                       is_multi ? "several parameters" : "one parameter", other);
    }
    if (!is_multi && find_row(multi_table, given, size)) {
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "unknown-option",
                       "the option %.*s is for several parameters, and there is one", (int)size, given);
    }
    if (find_row(is_multi ? multi_table : single_table, given, size)) {
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "unknown-option",
                       "the refining modeler has no option '%.*s'; basic and segmented have", (int)size, given);
    }
    as_nearest nearest = as_nearest_start(given, size);
    for (const as_option *row = table; row->name; row++) as_nearest_offer(&nearest, row->name);
    if (nearest.word) {
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "unknown-option",
                       "the %s modeler has no option '%.*s'; did you mean '%s'?", modeler, (int)size, given,
                       nearest.word);
    }
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "unknown-option",
                   "the %s modeler has no option '%.*s'; 'assay model --help' lists them", modeler, (int)size, given);
}

/* Extra-P leaves out what is no number; but whoever wrote it meant something. */
static assay_status check_list(const char *name, const char *list, size_t *n, assay_error *error) {
    as_vec exponents;
    const char *wrong;
    size_t size;
    as_vec_init(&exponents, sizeof(as_exponent), NULL);
    bool fine = as_exponents_parse(list, &exponents, &wrong, &size);
    *n = exponents.count;
    as_vec_free(&exponents);
    if (!fine) return as_fail_memory(error, NULL);
    if (wrong) {
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "option-value",
                       "the option %s cannot have '%.*s'; it takes a comma list of numbers such as 1/2,1,2", name,
                       (int)(size < 100 ? size : 100), wrong);
    }
    if (*n || !*list) return ASSAY_OK;
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "option-value",
                   "the option %s cannot be '%s'; it takes a comma list of numbers such as 1/2,1,2", name, list);
}

/* Both lists, and that there are not too many pairs of their entries. */
static assay_status check_lists(const char *prefix, const as_single_options *o, assay_error *error) {
    char name[64];
    size_t n_poly, n_log;
    snprintf(name, sizeof name, "%spoly_exponents", prefix);
    AS_TRY(check_list(name, o->poly_exponents, &n_poly, error));
    snprintf(name, sizeof name, "%slog_exponents", prefix);
    AS_TRY(check_list(name, o->log_exponents, &n_log, error));
    if (n_poly <= MAX_PAIRS && n_log <= MAX_PAIRS && (n_poly + 1) * (n_log + 1) <= MAX_PAIRS) return ASSAY_OK;
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "option-value",
                   "%zu entries of %spoly_exponents and %zu of %slog_exponents make more than %d pairs; give fewer",
                   n_poly, prefix, n_log, prefix, MAX_PAIRS);
}

/* Reads the options of one parameter's modeler; prefix "" or "single.". */
static assay_status read_single(const as_options *options, as_modeler modeler, const char *prefix,
                                as_single_options *out, assay_error *error) {
    char name[64];
#define KEY(text) (snprintf(name, sizeof name, "%s%s", prefix, text), name)
    *out = (as_single_options){
        .allow_log_terms = as_option_bool(options, KEY("allow_log_terms")), .poly_exponents = "", .log_exponents = ""};
    out->use_crossvalidation = as_option_bool(options, KEY("use_crossvalidation"));
    out->compare_with_RSS = as_option_bool(options, KEY("compare_with_RSS"));
    out->minimum_term_contribution = as_option_real(options, KEY("minimum_term_contribution"));
    if (!isfinite(out->minimum_term_contribution) || out->minimum_term_contribution < 0) {
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "option-value",
                       "the option %s cannot be '%s'; it takes a number from 0 on", name,
                       as_option_text(options, name));
    }
    if (modeler == AS_MODELER_REFINING) return ASSAY_OK;
    out->retain_default_exponents = as_option_bool(options, KEY("retain_default_exponents"));
    out->force_combination_exponents = as_option_bool(options, KEY("force_combination_exponents"));
    out->allow_negative_exponents = as_option_bool(options, KEY("allow_negative_exponents"));
    out->poly_exponents = as_option_text(options, KEY("poly_exponents"));
    out->log_exponents = as_option_text(options, KEY("log_exponents"));
    return check_lists(prefix, out, error);
#undef KEY
}

/* The value of single_parameter_modeler, needed before the table of options is known; other values are refused
 * later. */
static as_modeler single_modeler(const char *const *given) {
    as_options options = {.table = multi_table, .given = given};
    unsigned found = find_name(modeler_names, N_MODELERS, as_option_text(&options, "single_parameter_modeler"));
    return found == N_MODELERS ? AS_MODELER_BASIC : (as_modeler)found;
}

static as_selection selection_of(const char *word) {
    return strcmp(word, "all") == 0        ? AS_SELECT_ALL
           : strcmp(word, "smallest") == 0 ? AS_SELECT_SMALLEST
                                           : AS_SELECT_AUTO;
}

assay_status as_fit_options_parse(size_t n_parameters, const char *modeler, const char *measure,
                                  const char *const *given, as_fit_options *out, assay_error *error) {
    *out = (as_fit_options){.single_modeler = AS_MODELER_BASIC, .allow_combinations = true};
    AS_TRY(choose_modeler(n_parameters, modeler, &out->modeler, error));
    unsigned statistic = measure ? find_name(statistic_names, N_STATISTICS, measure) : (unsigned)AS_MEAN;
    if (statistic == N_STATISTICS) {
        return fail_name("measure", "mean, median, minimum and maximum", statistic_names, N_STATISTICS, measure, error);
    }
    out->measure = (as_statistic)statistic;
    bool is_multi = out->modeler == AS_MODELER_MULTI;
    as_modeler single = is_multi ? single_modeler(given) : out->modeler;
    const as_option *single_rows = single == AS_MODELER_REFINING ? refining_table : single_table;
    const as_option *multi_rows = single == AS_MODELER_REFINING ? multi_refining_table : multi_table;
    as_options options = {.table = is_multi ? multi_rows : single_rows, .given = given};
    for (const char *const *key = given; key && *key; key++) {
        size_t size = strcspn(*key, "=");
        if (!find_row(options.table, *key, size)) return fail_key(options.table, out, *key, size, error);
    }
    AS_TRY(as_options_check(&options, as_modeler_name(out->modeler), error));
    AS_TRY(read_single(&options, single, is_multi ? SINGLE_PREFIX : "", &out->single, error));
    out->compat_extrap = strcmp(as_option_text(&options, "compat"), "extrap") == 0;
    if (!is_multi) return ASSAY_OK;
    out->single_modeler = single;
    out->compare_with_RSS = as_option_bool(&options, "compare_with_RSS");
    out->point_selection = selection_of(as_option_text(&options, "single_parameter_point_selection"));
    out->allow_combinations = as_option_bool(&options, "allow_combinations_of_sums_and_products");
    return ASSAY_OK;
}
