/* Perun's eight checks of a target against a baseline, with its words for the result. is_compatible: Perun's own
 * numbers, bugs included. */
#ifndef AS_ANALYSIS_CHECKS_H
#define AS_ANALYSIS_CHECKS_H

#include "dataset/dataset.h"

typedef enum as_result {
    AS_UNKNOWN = -6,
    AS_NOT_IN_BASELINE,
    AS_TOTAL_DEGRADATION,
    AS_SEVERE_DEGRADATION,
    AS_DEGRADATION,
    AS_MAYBE_DEGRADATION,
    AS_NO_CHANGE,
    AS_MAYBE_OPTIMIZATION,
    AS_OPTIMIZATION,
    AS_SEVERE_OPTIMIZATION,
    AS_TOTAL_OPTIMIZATION,
    AS_NOT_IN_TARGET
} as_result;
const char *as_result_name(as_result result); /* "MaybeDegradation" */
static inline bool as_result_is_degradation(as_result result) {
    return result >= AS_TOTAL_DEGRADATION && result <= AS_DEGRADATION;
}

typedef enum as_check {
    AS_CHECK_AMOUNT,     /* average_amount_threshold, aat */
    AS_CHECK_ORDER,      /* best_model_order_equality, bmoe */
    AS_CHECK_POLYNOMIAL, /* polynomial_regression, preg */
    AS_CHECK_LINEAR,     /* linear_regression, lreg */
    AS_CHECK_FAST,       /* fast_check, fast */
    AS_CHECK_INTEGRAL,   /* integral_comparison, int */
    AS_CHECK_LOCAL,      /* local_statistics, loc */
    AS_CHECK_OUTLIERS,   /* exclusive_time_outliers, eto */
    AS_N_CHECKS
} as_check;
const char *as_check_name(as_check check);
const char *as_check_short_name(as_check check);     /* "aat" */
bool as_check_find(const char *name, as_check *out); /* by its long or short name */

typedef struct as_check_interval {
    as_result result;
    double relative, from, to;
} as_check_interval;

/* One location's result. Texts live in the list; NULL and NAN: there is none. */
typedef struct as_check_change {
    as_check check;
    const char *strategy; /* of integral and local, else NULL */
    const char *location;
    as_result result;
    const char *type, *from, *to;
    double rate, rate_relative;
    const char *confidence_type;
    double confidence;
    const as_check_interval *intervals;
    size_t n_intervals;
} as_check_change;

typedef struct as_check_skipped {
    as_check check;
    const char *reason;
} as_check_skipped;

typedef struct as_check_report {
    as_vec changes; /* as_check_change, all locations: NoChange, too */
    as_vec skipped; /* as_check_skipped */
    as_arena arena;
} as_check_report;

typedef struct as_check_request {
    unsigned checks;     /* bits 1 << as_check */
    unsigned strategies; /* bits 1 << as_strategy (analysis/regress/regress.h); 0: best-model */
    bool is_compatible;
} as_check_request;

/* as_check_report_free() in every case. A check without its columns or models is skipped. */
assay_status as_checks_run(const as_dataset *base, const as_dataset *target, const as_check_request *request,
                           as_check_report *out, assay_error *error);
void as_check_report_free(as_check_report *report);

#endif
