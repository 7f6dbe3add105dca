/* What is modelled of a series: one number for each point it was measured at. */
#ifndef AS_ANALYSIS_SCALING_SAMPLES_H
#define AS_ANALYSIS_SCALING_SAMPLES_H

#include "analysis/scaling/fit.h"

typedef struct as_samples {
    uint32_t n;
    uint32_t flags;     /* AS_FIT_MISSING, AS_FIT_NOT_FINITE, AS_FIT_NOISY */
    uint32_t n_missing; /* points of the dataset it has nothing at */
    float noise;
    assay_id *points; /* n, in the order as_measure() gives them */
    double *values;   /* n: the chosen statistic, finite */
    double *means;    /* n: the mean beside it; NULL unless it was asked for */
} as_samples;

/* Whether the means are needed beside minimum or maximum: for a slip of Extra-P's that compat repeats. */
bool as_fit_needs_means(const as_fit_options *options);
/* Fills *out for a series; points, values and means (may be NULL) must have room for all points of the dataset. False
 * when memory is out. */
bool as_samples_take(const as_dataset *ds, uint32_t series, as_statistic statistic, as_samples *out);

#endif
