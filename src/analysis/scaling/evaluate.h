/* The value of a model at a point, and what its function says in words. */
#ifndef AS_ANALYSIS_SCALING_EVALUATE_H
#define AS_ANALYSIS_SCALING_EVALUATE_H

#include "analysis/scaling/terms.h"
#include "dataset/dataset.h"

/* The model's value at a point (as_ds_parameters() coordinates). NAN between the intervals of a segmented model, and
 * where a logarithm or power does not exist. Cheap: a few pow() per term. */
double as_model_at(const as_dataset *ds, const as_model *model, const double *point);

/* The growth of one segment of a model for large parameter values. */
typedef enum as_order {
    AS_ORDER_CONSTANT,
    AS_ORDER_DECREASING,   /* the term that grows fastest has a negative coefficient, or fades away from above */
    AS_ORDER_LOGARITHMIC,  /* (log p)^j */
    AS_ORDER_SUBLINEAR,    /* p^i, i < 1, with or without logarithm */
    AS_ORDER_LINEAR,       /* p */
    AS_ORDER_LINEARITHMIC, /* p (log p)^j */
    AS_ORDER_SUPERLINEAR,  /* 1 < i < 2 */
    AS_ORDER_QUADRATIC,    /* 2, with or without logarithm */
    AS_ORDER_POLYNOMIAL,   /* 2 < i < 3 */
    AS_ORDER_CUBIC,        /* 3 */
    AS_ORDER_STEEPER       /* above 3 */
} as_order;

const char *as_order_name(as_order order); /* "constant", "linearithmic" … */

typedef struct as_growth {
    as_order order;
    /* What it is ordered by: total power and logarithm of the dominating term (several parameters: the sums over its
     * factors, all parameters growing alike), then its coefficient */
    double power, log, coefficient;
} as_growth;

/* Of the last segment, which holds for large values. */
as_growth as_model_growth(const as_dataset *ds, const as_model *model);
/* <0 where a grows more slowly than b. */
int as_growth_compare(const as_growth *a, const as_growth *b);
/* "1", "log p", "p^(3/2) log p", "p q^2", "p + q log q": the dominating term of each kind, without coefficients;
 * NUL-terminated into out (a vector of char, cleared first). False when memory is out. */
bool as_growth_text(const as_dataset *ds, const as_model *model, as_vec *out);

#endif
