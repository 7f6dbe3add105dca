/* Models on both sides: whether the order of growth changed, and what they say at a point that nobody measured. */
#ifndef AS_ANALYSIS_VERDICT_GROWTH_H
#define AS_ANALYSIS_VERDICT_GROWTH_H

#include "analysis/scaling/interval.h"
#include "analysis/verdict/verdict.h"

/* The models of one call path and metric that both sides have. */
typedef struct as_growth_change {
    const char *path, *metric, *unit; /* unit NULL: none */
    const char *order[2];             /* "n log n", "1": the terms that dominate */
    const char *function[2];          /* rounded, for people */
    int change;                       /* > 0: the target grows faster; < 0: more slowly; 0: alike */
    /* Of the order, looked at four times beyond the largest point. SAME: the two differ by less than the threshold
     * there, or the intervals of both have values in common. WORSE and BETTER: not even intervals that are wider, for
     * the number of models, have; else MAYBE. Of models that came with the files: by their own errors. */
    as_outcome order_outcome;
    /* At the point asked for; NAN: none was, or a model has no value there. */
    double value[2];
    as_interval interval[2];
    double relative; /* (target - base) / |base| */
    /* WORSE and BETTER: beyond the threshold, and the intervals have nothing in common; MAYBE: they have, or are not
     * known */
    as_outcome at_outcome;
} as_growth_change;

typedef struct as_growths {
    as_growth_change
        *changes; /* worst first: by outcome, then by the difference at the point; the others as in the base */
    size_t n;
    size_t n_only[2];             /* models that only this side has */
    size_t counts[AS_N_OUTCOMES]; /* of each the worse of its two outcomes */
    as_outcome outcome;           /* of all */
    bool has_point;
    const char *long_parameter; /* the only one, where texts for people are better with x for it; NULL: none such */
    char label[128];            /* of the point: "n=1000000, p=64" */
    double threshold;           /* of the difference at the point: 0.05 */
    double confidence;          /* of the intervals */
    as_arena arena;
} as_growths;

/* One side: its dataset, and what as_fit_models() gave for it. fit NULL: the models that the dataset came with, which
 * have no intervals. */
typedef struct as_growth_side {
    const as_dataset *ds;
    const as_fit *fit;
} as_growth_side;

typedef struct as_growth_request {
    const double *point; /* as_ds_parameters() of the base; NULL: none */
    double threshold, confidence;
    const as_rules *rules; /* thresholds of their own, and where more is better; may be NULL */
    /* Which stored curves are looked at, as as_sample_request has it; of fitted models the caller fits those that are.
     * NULL: all */
    bool (*keeps)(void *user, const char *metric, const char *path);
    void *user;
    unsigned threads;
} as_growth_request;

/* Whether they have the same parameters in the same order. */
bool as_growths_fit(const as_dataset *base, const as_dataset *target);
/* as_growths_free() in every case; the answer may outlive the datasets. ASSAY_E_USAGE: as_growths_fit() says no. */
assay_status as_growths_find(const as_growth_side sides[2], const as_growth_request *request, as_growths *out,
                             assay_error *error);
/* The same of the curves that Perun's profiles came with, the best parametric one of each uid (growth_curves.c).
 * request->point: one number, the curves' x. They have no intervals: an order is sure where r^2 is 0.9 or more on both
 * sides, a difference at a point never is. */
assay_status as_growths_find_stored(const as_dataset *const sides[2], const as_growth_request *request, as_growths *out,
                                    assay_error *error);
void as_growths_free(as_growths *growths);

/* ---- what both ways have in common ------------------------------------------------------------------------------- */

static inline as_outcome as_growth_outcome(bool is_worse, bool is_sure) {
    return is_worse ? (is_sure ? AS_OUTCOME_WORSE : AS_OUTCOME_MAYBE_WORSE)
                    : (is_sure ? AS_OUTCOME_BETTER : AS_OUTCOME_MAYBE_BETTER);
}
/* The threshold of a call path, and whether more is better there. */
static inline double as_growth_threshold(const as_growth_request *request, const as_growth_change *change,
                                         bool *higher_is_better) {
    const as_threshold_rule *rule = request->rules ? as_rules_find(request->rules, change->metric, change->path) : NULL;
    *higher_is_better = rule && rule->higher_is_better;
    return rule && !isnan(rule->threshold) ? rule->threshold : request->threshold;
}
/* Of changes with their outcomes: puts them in order, counts, and finds the outcome of all. */
void as_growths_rank(as_growths *growths);

#endif
