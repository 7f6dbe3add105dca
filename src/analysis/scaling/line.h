/* Models of one parameter at one set of points: what basic, refining, segmented and multi-parameter modelling have in
 * common.
 *
 * A hypothesis is factored once for a set of points: its coefficients, with all points and with each of them left out,
 * are linear in the measured values. A plan holds the factored hypotheses of the search space and applies them to many
 * series at once. */
#ifndef AS_ANALYSIS_SCALING_LINE_H
#define AS_ANALYSIS_SCALING_LINE_H

#include <pthread.h>

#include "analysis/scaling/fit.h"

typedef struct as_costs {
    double RSS, rRSS, nRSS, SMAPE, AR2, RE;
} as_costs;

/* ---- one hypothesis ---------------------------------------------------------------------------------------------- */

/* f(x) = c0 + c1 * term(x) at n points. */
typedef struct as_hypothesis {
    as_power power;
    double *basis; /* n: the term's values */
    double *full;  /* 2 x n: c0 and c1 of the fit to all points are their products with y */
    /* Leaving point i out. Few points: 2 x n for each i (0 at i itself). Many points: 3 for each i, so that c changes
     * by (first two) * residual / third; where the third is 0, the first says where in left_out 2 x n of its own
     * are. */
    double *left_out;
} as_hypothesis;

enum { AS_FEW_POINTS = 32 };

/* A constant below this part of the smallest value counts as 0 while points are left out, and in a fit without leaving
 * out; as in Extra-P. */
#define AS_CLEAN_LEFT_OUT 0.0005
#define AS_CLEAN_PLAIN    0.001

/* Doubles that basis, full and left_out take together. SIZE_MAX where that overflows. */
size_t as_hypothesis_size(size_t n);
/* Factors it into memory of as_hypothesis_size(n) doubles. scratch: 2 * n. cross: whether left_out is wanted. */
void as_hypothesis_make(as_hypothesis *h, as_power power, const double *x, size_t n, bool cross, double *memory,
                        double *scratch);
/* 2 x n that give the coefficients with point i left out, or NULL where they are found from those with all points. */
static inline const double *as_hypothesis_inverse(const as_hypothesis *h, size_t n, size_t i) {
    if (n <= AS_FEW_POINTS) return h->left_out + i * 2 * n;
    const double *change = h->left_out + 3 * i;
    return change[2] == 0 ? h->left_out + (size_t)change[0] : NULL;
}
/* Coefficients with point i left out; coefficients of the fit to all points are needed where there are many. */
void as_hypothesis_without(const as_hypothesis *h, const double *y, size_t n, size_t i, const double full[2],
                           double out[2]);
void as_hypothesis_coefficients(const as_hypothesis *h, const double *y, size_t n, double out[2]);

/* Whether and how a hypothesis was judged. */
typedef struct as_line_fit {
    int32_t term;  /* index in the plan's list, -1: constant, -2: a term that is not in it */
    int32_t rival; /* that of the hypothesis that came next, -1: none or the constant */
    double rival_score;
    as_power power;
    double constant, coefficient;
    as_costs costs;
} as_line_fit;

/* The constant model and its costs. */
void as_constant_fit(const double *y, size_t n, as_line_fit *out);
/* Coefficients and all costs of a hypothesis, as Extra-P adds them up. tss: RSS of the constant model. */
void as_hypothesis_fit(const as_hypothesis *h, const double *y, size_t n, double tss, const as_single_options *options,
                       as_line_fit *out);
/* Whether its term contributes less than the options ask for at every point. */
bool as_contributes_little(const as_hypothesis *h, const double *y, size_t n, double coefficient, double minimum);
/* The score that is compared: SMAPE, or RSS. */
static inline double as_score(const as_costs *costs, const as_single_options *options) {
    return options->compare_with_RSS ? costs->RSS : costs->SMAPE;
}

/* ---- a set of points --------------------------------------------------------------------------------------------- */

typedef struct as_line_plan {
    size_t n;
    double *x; /* n, in the order of the series */
    as_single_options options;
    bool has_logs;  /* false: a value below 1 */
    bool lost_logs; /* the options allow logarithms, the values do not */
    as_vec powers;  /* as_power: the search space */
    as_hypothesis *hypotheses;
    double *memory;
    /* Hypotheses outside the search space that refining came by; locked */
    pthread_mutex_t lock;
    as_vec further; /* as_hypothesis * */
    as_arena arena; /* of them */
} as_line_plan;

/* space: whether the search space is wanted (refining does without). NULL when memory is out. */
as_line_plan *as_line_plan_new(const double *x, size_t n, const as_single_options *options, bool space);
void as_line_plan_free(as_line_plan *plan);
/* The factored hypothesis of any power, made when it is asked for first; NULL when memory is out. */
const as_hypothesis *as_line_plan_hypothesis(as_line_plan *plan, as_power power);

/* Series are worked on in tiles of AS_LANES: y[i * AS_LANES + lane]. Lanes that are not used must hold something
 * finite. */
enum { AS_LANES = 8 };

/* The basic modeler for `lanes` series. scratch: as_line_scratch(n) doubles, 64-byte aligned as y must be. */
void as_line_basic(const as_line_plan *plan, const double *y, size_t lanes, double *scratch, as_line_fit *out);
size_t as_line_scratch(size_t n);
/* The refining modeler for one series. False when memory is out. */
bool as_line_refine(as_line_plan *plan, const double *y, as_line_fit *out);

/* ---- the kernel: which hypothesis wins (line_kernel.c) ----------------------------------------------------------- */

typedef struct as_line_verdict {
    /* Scores; in: best is that of the constant, second infinite */
    _Alignas(64) double best[AS_LANES], second[AS_LANES];
    /* Indices of terms, -1: none, or the constant */
    double best_term[AS_LANES], second_term[AS_LANES];
} as_line_verdict;

/* Judges all hypotheses of the plan, in order, for a tile. scratch as above. */
void as_line_judge(const as_line_plan *plan, const double *y, double *scratch, as_line_verdict *verdict);

#endif
