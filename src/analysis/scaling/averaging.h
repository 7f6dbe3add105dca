/* Many hypotheses for the same measurements, each weighted by how well it explains them; what all of them together say
 * about a new one.
 *
 * A hypothesis is a constant and columns; a column is the product of the terms of some parameters. Its coefficients
 * have a flat prior, its noise is relative to the value and unknown. Then a new measurement follows Student's t
 * distribution, and the weight of the hypothesis is the integral of its likelihood (docs/predictions.md). */
#ifndef AS_ANALYSIS_SCALING_AVERAGING_H
#define AS_ANALYSIS_SCALING_AVERAGING_H

#include "analysis/scaling/terms.h"

enum {
    AS_MAX_FACTORS = 16, /* parameters; beyond, nothing is said */
    AS_SHAPE_COLUMNS = 16,
    AS_MAX_TOGETHER = AS_SHAPE_COLUMNS + 1,
    AS_MAX_COMPONENTS = 128, /* hypotheses that are kept for prediction; beyond, a sample of them */
    AS_NO_TERM = 0xffff      /* constant in this parameter */
};

/* The measurements of one series. */
typedef struct as_sample {
    size_t n, n_parameters;
    const double *x; /* n rows of n_parameters coordinates */
    const double *y; /* scaled to a largest magnitude of 1 */
    double *weight;  /* 1 / (variance of y relative to that of one repetition, times y^2) */
    double floor;    /* magnitude below which noise no longer shrinks with the value */
    /* Scatter of the repetitions, in the same unit as the weighted squares of residuals, and its degrees of freedom */
    double within;
    unsigned within_freedom;
    double new_variance; /* of a new measurement relative to that of one repetition */
} as_sample;

/* The columns of a hypothesis, each a set of parameters (bit k: parameter k) whose terms are multiplied. */
typedef struct as_shape {
    uint16_t n_columns;
    uint16_t columns[AS_SHAPE_COLUMNS];
} as_shape;

typedef struct as_weighed {
    as_shape shape;
    uint16_t terms[AS_MAX_FACTORS]; /* of each parameter, an index into as_averaging.powers, or AS_NO_TERM */
    double residual;                /* weighted sum of squares */
    double log_determinant, log_prior, log_weight;
} as_weighed;

/* One hypothesis that is kept, with its fit in a common pool. */
typedef struct as_component {
    as_shape shape;
    uint16_t terms[AS_MAX_FACTORS];
    unsigned freedom;
    double weight, scale; /* scale: of the noise of one repetition, relative */
    size_t fit;           /* in the pool: shift and scale of each column, coefficients, Cholesky factor by rows */
} as_component;

typedef struct as_averaging {
    as_sample sample; /* its arrays are the caller's, and needed only until as_averaging_finish() */
    as_vec powers;    /* as_power */
    as_vec bases;     /* double: for parameter k and term t the values at the n points, scaled to a largest of 1 */
    /* double: for parameter k and term t; 0: the term cannot be evaluated at some point or is constant */
    as_vec base_scales;
    as_vec hypotheses; /* as_weighed */
    as_vec components; /* as_component */
    as_vec pool;       /* double */
    double *scratch;   /* n * (AS_MAX_TOGETHER + 1) doubles */
} as_averaging;

/* sample is copied, its arrays are not; powers (as_power) is moved in. False when memory is out; free it all the
 * same. */
bool as_averaging_init(as_averaging *averaging, const as_sample *sample, as_vec *powers);
void as_averaging_free(as_averaging *averaging);

/* The values of a term of a parameter at the points, scaled to a largest magnitude of 1; until
 * as_averaging_finish(). */
const double *as_averaging_base(const as_averaging *averaging, size_t parameter, size_t term);
/* Whether a term can be used for a parameter: it has values, not all alike. */
bool as_averaging_usable(const as_averaging *averaging, size_t parameter, size_t term);
/* Fits the hypotheses of n shapes with these terms (one for each parameter) and appends to hypotheses those that can be
 * fitted and leave a degree of freedom. log_prior: of the probability of each before the measurements, up to a common
 * summand. The shapes have at most AS_MAX_TOGETHER different columns. False when memory is out. */
bool as_averaging_try(as_averaging *averaging, const as_shape *shapes, size_t n, const uint16_t *terms,
                      double log_prior);
/* Fills log_weight of all hypotheses so far, and says which is the best; SIZE_MAX: none. */
size_t as_averaging_weigh(as_averaging *averaging);
/* Weighs, keeps what matters as components and drops the rest. Where no hypothesis fits as well as the repetitions say
 * it should, their scatter is left out, and the residuals alone tell how far off a prediction may be. False when memory
 * is out. */
bool as_averaging_finish(as_averaging *averaging);

/* The interval that holds a new measurement with this probability, the rest on both sides alike, in the scale of
 * sample.y; NAN: unknown. */
void as_averaging_interval(const as_averaging *averaging, const double *point, double probability, double *low,
                           double *high);

#endif
