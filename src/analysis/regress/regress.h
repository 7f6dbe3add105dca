/* Regression analysis as Perun does it, with right numbers: points of each uid, curves through them.
 *
 * Points come from the table "record" of any dataset that has one with uids, else from the measurements of a dataset
 * with parameters: uid is the call path then. Results are deterministic: the same points give the same curves, whatever
 * the number of threads. is_compatible: Perun's own numbers, bugs included, where they differ. */
#ifndef AS_ANALYSIS_REGRESS_H
#define AS_ANALYSIS_REGRESS_H

#include "dataset/dataset.h"

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* The usable points of one uid: in Perun's order (type by type, in order of first appearance). */
typedef struct as_points {
    const char *uid; /* flattened; lives as long as the set */
    const double *x, *y;
    size_t n;
    size_t n_unusable; /* rows whose x or y is missing, no number, or not finite */
} as_points;

typedef struct as_points_request {
    const char *of, *per; /* keys; NULL: "amount", "structure-unit-size" */
    const char *metric;   /* of datasets without records: NULL takes `of`, else the only, or the first one */
} as_points_request;

typedef struct as_points_set {
    as_points *points; /* ascending by uid, as bytes */
    size_t n;
    const char *of, *per; /* what they are of */
    bool is_measured;     /* means of measurements: uid is a call path, of a metric, per a parameter */
    as_arena arena;
} as_points_set;

/* as_points_free() in every case. Records with a uid always come before measurements; those without the keys have uids
 * without points, and a row without a uid is of "None". A metric or parameter that there is none of: no points at all.
 * Of several parameters per names one; by default the first. */
assay_status as_points_find(const as_dataset *ds, const as_points_request *request, as_points_set *out,
                            assay_error *error);
void as_points_free(as_points_set *set);

/* ---- curves ------------------------------------------------------------------------------------------------------ */

typedef enum as_curve_model {
    AS_CURVE_EXPONENTIAL,
    AS_CURVE_LINEAR,
    AS_CURVE_LOGARITHMIC,
    AS_CURVE_POWER,
    AS_CURVE_QUADRATIC,
    AS_CURVE_CONSTANT,
    AS_CURVE_REGRESSOGRAM,
    AS_CURVE_MOVING_AVERAGE,
    AS_CURVE_KERNEL,
    AS_CURVE_OTHER, /* a model of a file that nobody knows */
    AS_N_CURVES
} as_curve_model;
const char *as_curve_name(as_curve_model model); /* as Perun writes it: "moving_average" */
bool as_curve_find(const char *name, as_curve_model *out);
static inline bool as_curve_is_parametric(as_curve_model model) { return model <= AS_CURVE_CONSTANT; }

/* One model: fitted here, or stored in a file. Texts and arrays live in its list. NAN, NULL: it does not have this. */
typedef struct as_curve {
    const char *uid;
    as_curve_model model;
    const char *name; /* of OTHER: the file's word; NULL: it has none */
    const char *method;
    double r_square, x_start, x_end;
    double coefficients[3];     /* b0, b1, b2 */
    unsigned n_coefficients;    /* a quadratic with two (files of 2018) is b0 + b1 x^2 */
    int64_t snapshot;           /* -1: none */
    const double *bucket_stats; /* of the others: values at buckets or at sorted points */
    size_t n_buckets;
    double y_start, bandwidth;
    double window_width; /* -1: none; the decay of an ema need not be whole */
    const char *per_key, *of_key, *buckets_method, *statistic_function, *moving_method, *kernel_mode;
} as_curve;
static inline const char *as_curve_word(const as_curve *curve) {
    return curve->model == AS_CURVE_OTHER ? curve->name : as_curve_name(curve->model);
}

/* What could not be fitted. */
typedef struct as_skipped_curve {
    const char *uid, *model; /* model NULL: nothing of this uid */
    const char *reason;
} as_skipped_curve;

typedef struct as_curves {
    as_vec curves;  /* as_curve */
    as_vec skipped; /* as_skipped_curve */
    as_arena arena;
} as_curves;

void as_curves_init(as_curves *curves, as_budget *budget);
void as_curves_free(as_curves *curves);

/* y at x; NAN where it is not defined. Parametric models only. */
double as_curve_at(const as_curve *curve, double x);
/* n points from x_start to x_end as Perun plots them: |x| < 1e-6 is moved to 1e-6. */
void as_curve_plot(const as_curve *curve, size_t n, double *x, double *y);

/* ---- parametric regression (fit.c, methods.c) -------------------------------------------------------------------- */

typedef enum as_regress_method {
    AS_REGRESS_FULL,
    AS_REGRESS_ITERATIVE,
    AS_REGRESS_INTERVAL,
    AS_REGRESS_INITIAL_GUESS,
    AS_REGRESS_BISECTION
} as_regress_method;
const char *as_regress_method_name(as_regress_method method);

typedef struct as_regress_options {
    as_regress_method method;
    unsigned models; /* bits 1 << as_curve_model of parametric ones; 0: all */
    uint32_t steps;  /* 0: 3 */
    uint64_t seed;
    bool is_compatible;
} as_regress_options;

/* Curves of all uids. What cannot be fitted is in curves->skipped and never stops the rest. */
assay_status as_regress(const as_points_set *set, const as_regress_options *options, as_curves *curves,
                        assay_error *error);

/* ---- the others -------------------------------------------------------------------------------------------------- */

/* NULL texts and 0: Perun's defaults. Words are Perun's; who calls has checked them (as_regressogram_methods …). */
typedef struct as_regressogram_options {
    const char *method; /* auto, doane, fd, rice, scott, sqrt, sturges */
    uint32_t buckets;   /* 0: by the method */
    bool is_median, is_compatible;
} as_regressogram_options;
assay_status as_regressogram(const as_points_set *set, const as_regressogram_options *options, as_curves *curves,
                             assay_error *error);

typedef struct as_moving_options {
    const char *method; /* sma, smm, ema */
    uint32_t window;    /* 0: found */
    bool no_center;
    uint32_t min_periods;    /* 0: the window's width */
    const char *window_type; /* SciPy's names; NULL: none */
    const char *decay;       /* com, span, halflife, alpha; NULL: none was given */
    double decay_value;
    bool is_compatible;
} as_moving_options;
/* Whether SciPy has such a window that needs no further parameter. */
bool as_window_type_is_known(const char *name);
assay_status as_moving_average(const as_points_set *set, const as_moving_options *options, as_curves *curves,
                               assay_error *error);

typedef struct as_kernel_options {
    const char *mode;       /* smoothing, ridge, user, method, estimator */
    const char *regression; /* ll, lc */
    const char *bandwidth;  /* scott, silverman, cv_ls, aic; NULL: bandwidth_value */
    double bandwidth_value;
    const char *kernel;    /* epanechnikov, tricube, normal, epanechnikov4, normal4 */
    const char *smoothing; /* spatial-average, local-linear, local-polynomial */
    uint32_t order;
    double gamma_low, gamma_high, gamma_step;
    bool is_compatible;
    unsigned threads;
} as_kernel_options;
assay_status as_kernel_regression(const as_points_set *set, const as_kernel_options *options, as_curves *curves,
                                  assay_error *error);

/* ---- what changes resources -------------------------------------------------------------------------------------- */

typedef struct as_cluster_options {
    bool is_sliding; /* else sort_order */
    double width, height;
    bool width_is_absolute, height_is_absolute;
} as_cluster_options;
/* The cluster of each row of "record" (from 1) into out, as_records_rows() of them; 0 where its amount is no number.
 * ASSAY_E_USAGE for a dataset without records. */
assay_status as_clusterize(const as_dataset *ds, const as_cluster_options *options, uint64_t *out, assay_error *error);
/* Each row's amount by the maximum of its type; NAN where it is no number. */
assay_status as_normalize(const as_dataset *ds, double *out, assay_error *error);

/* ---- stored models (stored.c, strategy.c) ------------------------------------------------------------------------ */

/* The models of the table stored_model, in its order. */
assay_status as_stored_curves(const as_dataset *ds, as_curves *curves, assay_error *error);

typedef enum as_strategy {
    AS_BEST_MODEL,
    AS_BEST_PARAM,
    AS_BEST_NONPARAM,
    AS_ALL_PARAM,
    AS_ALL_NONPARAM,
    AS_ALL_MODELS,
    AS_BEST_BOTH,
    AS_N_STRATEGIES
} as_strategy;
const char *as_strategy_name(as_strategy strategy);
bool as_strategy_find(const char *name, as_strategy *out);
/* Indices of the curves that all_filtered_models() picks, in its order, into out (a vector of size_t). ALL_MODELS and
 * BEST_BOTH are what their two passes pick, one behind the other. */
bool as_strategy_pick(const as_curves *curves, as_strategy strategy, as_vec *out);

#endif
