/* Models on both sides: whether the order of growth changed, and what they say at a point that nobody measured. */
#ifndef AS_ANALYSIS_VERDICT_GROWTH_H
#define AS_ANALYSIS_VERDICT_GROWTH_H

#include "analysis/scaling/interval.h"
#include "dataset/dataset.h"

/* The models of one call path and metric that both sides have. */
typedef struct as_growth_change {
    const char *path, *metric, *unit; /* unit NULL: none */
    const char *order[2];             /* "n log n", "1": the terms that dominate */
    const char *function[2];          /* rounded, for people */
    int change;                       /* > 0: the target grows faster; < 0: more slowly; 0: alike */
    bool is_sure; /* no other function explains one side's measurements as well with the other's order */
    /* At the point asked for; NAN: none was, or the model has no value there. */
    double value[2];
    as_interval interval[2];
    bool is_apart; /* both intervals are known and have no number in common */
} as_growth_change;

typedef struct as_growths {
    as_growth_change *
        changes; /* changed orders first, steeper ones before flatter ones; then by the difference at the point, then as in the base */
    size_t n;
    size_t n_only[2];  /* models that only this side has */
    double *point;     /* as_ds_parameters() of the base; NULL: none was asked for */
    char label[128];   /* of the point: "n=1000000, p=64" */
    double threshold;  /* of the difference at the point: 0.05 */
    double confidence; /* of the intervals */
    as_arena arena;
} as_growths;

/* point NULL: none; as_ds_parameters(base) coordinates, of both sides, whose parameters must have the same names in the same order (else ASSAY_E_USAGE). fits[s]: what
 * as_fit_models() gave for this side; NULL: the models that the dataset came with, which have no intervals. */
assay_status as_growths_find(const as_dataset *const sides[2], const as_fit *const fits[2], const double *point,
                             double confidence, as_growths *out, assay_error *error);
void as_growths_free(as_growths *growths);

#endif
