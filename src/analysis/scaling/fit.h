/* Scaling models: for every (metric, call path) the function of the parameters that explains its measurements.
 *
 * The method is Extra-P's (docs/models.md): a constant and terms c * p^(i) * log2(p)^(j), chosen among a fixed list of
 * hypotheses by their error on points left out. The answers are Extra-P's; the way there is not: hypotheses are
 * factored once for a set of points, and applied to blocks of call paths that were measured at these points. Same
 * result for any number of threads and any instruction set. */
#ifndef AS_ANALYSIS_SCALING_FIT_H
#define AS_ANALYSIS_SCALING_FIT_H

#include "analysis/scaling/terms.h"
#include "dataset/dataset.h"
#include "formats/format.h"

typedef enum as_modeler {
    AS_MODELER_BASIC,
    AS_MODELER_REFINING,
    AS_MODELER_SEGMENTED,
    AS_MODELER_MULTI /* several parameters */
} as_modeler;

/* Which statistic of a point's repetitions is modelled. */
typedef enum as_statistic { AS_MEAN, AS_MEDIAN, AS_MINIMUM, AS_MAXIMUM } as_statistic;

typedef enum as_selection { AS_SELECT_AUTO, AS_SELECT_ALL, AS_SELECT_SMALLEST } as_selection;

/* How one parameter is modelled. */
typedef struct as_single_options {
    bool allow_log_terms, use_crossvalidation, compare_with_RSS;
    bool retain_default_exponents, force_combination_exponents, allow_negative_exponents;
    double minimum_term_contribution;
    const char *poly_exponents, *log_exponents; /* comma lists as given; "" for none */
} as_single_options;

typedef struct as_fit_options {
    as_modeler modeler;
    as_statistic measure;
    as_single_options single; /* of the one parameter, or of each of several */
    /* Several parameters */
    as_modeler single_modeler;
    as_selection point_selection;
    bool allow_combinations, compare_with_RSS;
    bool compat_extrap; /* repeats two slips of Extra-P, to reproduce published models */
    unsigned threads;   /* 0: as many as the machine has cores */
} as_fit_options;

/* Words for the names on the command line and in files: "basic", "multi-parameter"; "mean", "minimum". */
const char *as_modeler_name(as_modeler modeler);
const char *as_statistic_name(as_statistic statistic);
/* The number of the statistic the options choose. */
double as_statistic_of(as_statistic statistic, const as_measurement *measurement);

/* The options of a modeler as a table (for help and man pages); ended by a row without a name. */
extern const as_option as_fit_option_table[];
/* Whether "key=value" is for the method; anything else is for the reader of the file. */
bool as_fit_option_known(const char *key_value);
/* Fills *out for a dataset with n_parameters. modeler: "default", NULL or a name; measure: NULL or a name; given:
 * "key=value"… ended by NULL, or NULL, only those as_fit_option_known(). The texts must outlive *out. ASSAY_E_USAGE
 * where a name, key or value does not fit, or the modeler is not for this number of parameters. */
assay_status as_fit_options_parse(size_t n_parameters, const char *modeler, const char *measure,
                                  const char *const *given, as_fit_options *out, assay_error *error);

/* The options as JSON members under Extra-P's names, for as_model_set.options: "allow_log_terms":true,… (without
 * braces). AS_NO_STR when memory is out. */
as_str as_fit_options_json(as_dataset *ds, const as_fit_options *options);

/* ---- the answer -------------------------------------------------------------------------------------------------- */

typedef enum as_fit_flag {
    AS_FIT_FEW_POINTS = 1 << 0, /* fewer than 5 points on some parameter's line */
    AS_FIT_MISSING = 1 << 1,    /* not measured at all points of the dataset */
    AS_FIT_CUT =
        1 << 2, /* constant (in some parameter) because too few points are left, or of more than 62 parameters */
    AS_FIT_NOISY = 1 << 3,         /* noise above AS_NOISY */
    AS_FIT_TIE = 1 << 4,           /* another hypothesis is as good, see rival */
    AS_FIT_NOT_FINITE = 1 << 5,    /* points whose value is NaN or infinite were left out */
    AS_FIT_NO_LOG = 1 << 6,        /* a parameter value below 1 (with negative exponents: at most 1): no logarithms */
    AS_FIT_NOT_SEGMENTED = 1 << 7, /* fewer than five points: the basic model instead of a segmented one */
    AS_FIT_EXTRAPOLATED = 1 << 8   /* asked at a point outside what was measured: set by who asks */
} as_fit_flag;

/* Relative noise from which a model is called noisy. */
#define AS_NOISY 0.1
/* Two hypotheses tie where their errors differ by less than this part. */
#define AS_TIE 0.01

/* What is known of a model beyond what as_model holds. */
typedef struct as_fit_note {
    uint32_t series; /* index into ds->series */
    uint32_t flags;  /* as_fit_flag */
    uint32_t n_points, n_missing;
    /* One parameter: the hypothesis that came next, where it ties; several: that of the combinations. AS_NO_STR: none.
     * Its function's shape as text, "p^(3/2) * log2(p)^(1)" */
    as_str rival;
    float rival_error; /* its SMAPE (RSS under compare_with_RSS) */
    /* Root mean square of std / mean over the points with repetitions (divisor n - 1); NAN: unknown */
    float noise;
} as_fit_note;

/* All models of one go: models first_model … first_model + n - 1 of the dataset, note i is of model first_model + i. */
typedef struct as_fit {
    assay_id set, first_model;
    size_t n;
    as_fit_note *notes; /* malloc */
    as_fit_options options;
} as_fit;

/* Which series are modelled: n indices into ds->series, ascending. */
typedef struct as_choice {
    const uint32_t *series;
    size_t n;
} as_choice;

/* A hook to share the work among processes: this one fits the call paths that are its own (dataset/share.h; values of
 * others are not needed), then exchange() puts the results of all processes behind each other, in order of index, into
 * `bytes` of the process with index 0, whose dataset alone gets models. Series, points and choice must be the same in
 * all of them. NULL in a single process. */
typedef struct as_fit_share {
    uint32_t index, count;
    assay_status (*exchange)(void *user, as_vec *bytes, assay_error *error);
    void *user;
} as_fit_share;

/* Called now and then with the part that is done; returning false cancels. May be NULL. */
typedef bool (*as_fit_progress)(void *user, double fraction);

/* Fits a model to each chosen series and adds them to the dataset as one model set `name`, in order of series. Models
 * already in the dataset stay (as_ds_forget_models() drops them). Fails only when memory is out or it is cancelled:
 * what is wrong with a series is in its flags. */
assay_status as_fit_models(as_dataset *ds, const as_fit_options *options, as_choice choice, const char *name,
                           const as_fit_share *share, as_fit_progress progress, void *user, as_fit *out,
                           assay_error *error);
void as_fit_free(as_fit *fit);
/* Drops all models of the dataset. */
void as_ds_forget_models(as_dataset *ds);
/* Models apart from their dataset: so can several fits of the same measurements be kept, each by itself. They count in
 * the dataset's budget, and must be freed before it. */
typedef struct as_models_aside {
    as_vec model_sets, models, segments, segment_costs, terms;
} as_models_aside;
/* None. */
void as_models_aside_init(as_models_aside *aside, as_dataset *ds);
/* Those aside become the dataset's, and the other way round. */
void as_models_exchange(as_dataset *ds, as_models_aside *aside);
void as_models_aside_free(as_models_aside *aside);
/* Fills all series of the dataset into *out (malloc, the caller frees series). False when memory is out. */
bool as_choice_all(const as_dataset *ds, uint32_t **series, size_t *n);

/* ---- why --------------------------------------------------------------------------------------------------------- */

/* One hypothesis as it was tried. */
typedef struct as_tried {
    const char *function; /* "12.5 + 0.3 * p^(1/2)", of the fit to all points; borrowed during the call */
    const char
        *parameter;      /* NULL: a hypothesis for the whole; else one for this parameter alone (several parameters) */
    const char *verdict; /* "chosen", "larger error", "contributes too little", "not finite" … */
    double RSS, rRSS, SMAPE, AR2, RE;
    uint32_t order; /* in which it was tried, from 0; the constant is first */
} as_tried;

/* Tries all hypotheses for one series again and calls visit for each, in the order they are tried, until it says
 * false. */
assay_status as_fit_explain(as_dataset *ds, const as_fit_options *options, uint32_t series,
                            bool (*visit)(void *user, const as_tried *tried), void *user, assay_error *error);

#endif
