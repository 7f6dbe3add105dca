/* What the checks share, inside analysis/checks. */
#ifndef AS_ANALYSIS_CHECKS_PRIVATE_H
#define AS_ANALYSIS_CHECKS_PRIVATE_H

#include "analysis/checks/checks.h"
#include "analysis/regress/regress.h"

enum { AS_SIDE_BASE, AS_SIDE_TARGET };
enum { AS_CHECK_SAMPLES = 1000 }; /* points at which formulas are compared */

/* One run of the checks. */
typedef struct as_checking {
    const as_dataset *sides[2];
    bool is_compatible;
    as_curves curves[2];
    as_check_report *out;
    assay_error *error;
    const char *failure;                /* why Perun ends this check without an answer; NULL: it does not */
    as_points_set points;               /* the target's, for what has to be computed again */
    const char *points_of, *points_per; /* NULL: there are none yet */
} as_checking;

/* ---- results (run.c) --------------------------------------------------------------------------------------------- */

/* A further change; NULL when memory is out. */
as_check_change *as_check_add(as_checking *checking, as_check check, const char *strategy, const char *location);
/* A copy in the report; NULL when memory is out. */
const char *as_check_text(as_checking *checking, const char *text);
/* A number rounded to so many decimals as Python writes it, with a unit behind. */
const char *as_check_number_text(as_checking *checking, double value, int decimals, const char *unit);
/* The check has no answer for this reason: where Perun raises an exception. Always false. */
bool as_check_fails(as_checking *checking, const char *reason);
assay_status as_check_memory(as_checking *checking);

/* Python's round(): exact, half to even. */
double as_round_decimals(double value, int decimals);
/* What a relative difference amounts to: nothing up to `none`, maybe something up to `sure`. */
as_result as_check_classify(double difference, double none, double sure);
/* dividend / divisor, which counts as 1e-6 where it is 0, as in Perun. */
static inline double as_check_divide(double dividend, double divisor) {
    return dividend / (divisor == 0 ? 1e-6 : divisor);
}
/* NaN is 0, infinities are the largest doubles, as numpy's nan_to_num has it. */
double as_finite_number(double value);

/* ---- groups of records (groups.c) -------------------------------------------------------------------------------- */

/* The records of one uid, or of one uid and location. */
typedef struct as_check_group {
    const char *uid, *location; /* location NULL where it was not asked for */
    double sum;                 /* of the column's numbers */
    uint64_t n;                 /* of numbers that are not NaN */
} as_check_group;

typedef struct as_check_groups {
    as_vec groups;     /* as_check_group, ascending by uid, then location */
    bool has_column;   /* the table has the column, */
    bool has_location; /* and locations, */
    bool has_text;     /* and the column has what is no number */
    as_arena arena;
} as_check_groups;

/* Of the table "record"; records without a uid, or without a location where by_location, are left out.
 * as_check_groups_free() in every case. False when memory is out. */
bool as_check_groups_find(const as_dataset *ds, const char *column, bool by_location, as_check_groups *out);
void as_check_groups_free(as_check_groups *groups);
/* The first attribute of a run whose key begins so (is_prefix) or is this, as text; NULL: there is none. */
const char *as_check_attribute(const as_dataset *ds, const char *key, bool is_prefix);

/* ---- pairs of models (pairs.c) ----------------------------------------------------------------------------------- */

typedef struct as_curve_pair {
    const as_curve *base, *target;
} as_curve_pair;

/* The stored models of both sides; with Perun's numbers without those that Perun does not read. */
assay_status as_check_load_curves(as_checking *checking);
/* What both sides have of a strategy (not of those with two passes): by uid, and by model where all are taken;
 * ascending by uid and model. pairs: a vector of as_curve_pair. False when memory is out. */
bool as_check_pairs(as_checking *checking, as_strategy strategy, as_vec *pairs);
/* The last linear model of each uid, as Perun picks it, ascending by uid: a vector of const as_curve *. */
bool as_check_linear_curves(as_checking *checking, int side, as_vec *out);
/* By uid in such a vector; NULL: it has none. */
const as_curve *as_check_find_curve(const as_vec *curves, const char *uid);

/* Fills in the change of one pair, which has its names and the smaller r_square already. False when memory is out. */
typedef bool as_pair_compare(as_checking *checking, const as_curve_pair *pair, as_check_change *change);
/* Adds a change for each pair of a strategy, called `name`, whose models both fit well enough: r_square of at least
 * 0.15. */
bool as_check_compare_pairs(as_checking *checking, as_check check, as_strategy strategy, const char *name,
                            as_pair_compare *compare);

/* Part of the x-axis that both models are about; false where there is none. */
bool as_common_range(const as_curve *base, const as_curve *target, double *low, double *high);
/* Whether it has all that its formula needs. */
bool as_curve_has_formula(const as_curve *curve);

/* ---- curves as points (samples.c) -------------------------------------------------------------------------------- */

typedef struct as_curve_samples {
    double x[AS_CHECK_SAMPLES], y[AS_CHECK_SAMPLES];
} as_curve_samples;

/* Equally spaced from low to high, as numpy's linspace has them. */
void as_linspace(double low, double high, size_t n, double *x);
/* The model at points of [low, high]. */
void as_curve_sample(const as_curve *curve, double low, double high, as_curve_samples *out);
/* As Perun does it: on the model's own range, of a power at log10 of x. False where that raises an exception:
 * checking->failure says so. */
bool as_curve_sample_as_perun(as_checking *checking, const as_curve *curve, as_curve_samples *out);
/* A model of any kind at x; NAN where it is not defined. */
double as_curve_value(const as_curve *curve, double x);
/* Leaves out the ends of [low, high] where a model of values has none; false where nothing is left. */
bool as_curve_defined_range(const as_curve *curve, double *low, double *high);

/* What Perun compares of a pair of which it takes values: n points. Borrowed from the curves, or in buffer. */
typedef struct as_pair_points {
    double *x, *base, *target;
    size_t n;
    as_vec buffer; /* double */
} as_pair_points;
/* False: memory is out, or Perun raises an exception (checking->failure). as_vec_free(&out->buffer) in every case. */
bool as_pair_points_as_perun(as_checking *checking, const as_curve_pair *pair, as_pair_points *out);

/* Simpson's rule through n points, of an even number the mean of both ways, as scipy.integrate.simpson does it. */
double as_simpson(const double *y, const double *x, size_t n);

/* ---- the checks: changes and failure into the report; false when memory is out or checking->failure is set ------- */

bool as_check_amounts(as_checking *checking);
bool as_check_order(as_checking *checking);
bool as_check_general(as_checking *checking, as_check check);
bool as_check_integral(as_checking *checking, as_strategy strategy, const char *name);
bool as_check_local(as_checking *checking, as_strategy strategy, const char *name);
bool as_check_outliers(as_checking *checking);

/* How a difference of two curves grows, in Perun's words (classify.c): "linear", "quadratic ", … NULL: memory is out or
 * Perun raises an exception. */
const char *as_growth_by_polynomials(as_checking *checking, const double *x, const double *error);
const char *as_growth_by_regression(as_checking *checking, const double *x, const double *error); /* in capitals */
typedef struct as_line_growth {
    const double *x, *error; /* of the linear models */
    double largest;          /* the largest difference of the best models */
    double b0, b1;           /* differences of b0 of the best models, and of b1 of the linear ones */
    bool is_flat;            /* the best model of the base is linear or constant */
} as_line_growth;
const char *as_growth_by_line(as_checking *checking, const as_line_growth *growth);

/* r_square of the parametric models of n points, as Perun's sums give them (perun_sums.c). False where Perun ends with
 * an exception. */
bool as_perun_r_squares(const double *x, const double *y, size_t n, double out[AS_CURVE_CONSTANT + 1]);

/* ---- names that changed a little (names.c) ----------------------------------------------------------------------- */

/* Renames locations of both sides that are so alike (difflib's ratio >= 0.6) that one probably is the other of another
 * version: both get what they have in common. names[side]: n[side] different names; renamed[side][i] is the new name,
 * in the arena, or NULL: it stays. Long names and many of them are compared only as far as a fixed amount of work goes;
 * the others have to be equal. False when memory is out. */
bool as_match_names(const char *const *const names[2], const size_t n[2], bool is_compatible, as_arena *arena,
                    const char **const renamed[2]);
/* How alike two texts are, from 0 to 1: difflib.SequenceMatcher(None, text, word).ratio(), which is not symmetric.
 * *work: steps left; where they do not suffice, 0. False when memory is out. */
bool as_likeness(const char *text, const char *word, uint64_t *work, double *out);

#endif
