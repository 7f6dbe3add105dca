/* Kernel regression: sums over the neighbours of a point, weighted by their distance in bandwidths. */
#ifndef AS_ANALYSIS_REGRESS_KERNEL_H
#define AS_ANALYSIS_REGRESS_KERNEL_H

#include "analysis/regress/nonparam.h"

typedef enum as_kernel { AS_EPANECHNIKOV, AS_TRICUBE, AS_NORMAL, AS_EPANECHNIKOV4, AS_NORMAL4, AS_N_KERNELS } as_kernel;

bool as_kernel_find(const char *name, as_kernel *out);
#define AS_ROOT_2_PI          2.50662827463100050242
#define AS_EPANECHNIKOV_SCALE 0.44721359549995793928 /* 1/sqrt(5): so that the variance is 1 */
#define AS_TRICUBE_SCALE      0.37951675003093735    /* sqrt(35/243) */
static inline double as_kernel_weight(as_kernel kernel, double z) {
    double scaled = 0, rest = 0;
    switch (kernel) {
    case AS_EPANECHNIKOV:
        scaled = z * AS_EPANECHNIKOV_SCALE;
        return fabs(scaled) < 1 ? 0.75 * AS_EPANECHNIKOV_SCALE * (1 - scaled * scaled) : 0;
    case AS_TRICUBE:
        scaled = fabs(z * AS_TRICUBE_SCALE);
        if (!(scaled < 1)) return 0;
        rest = 1 - scaled * scaled * scaled;
        return 70.0 / 81 * (rest * rest * rest) * AS_TRICUBE_SCALE;
    case AS_EPANECHNIKOV4: return fabs(z) <= 1 ? z * z * (-15.0 / 8) + 9.0 / 8 : 0;
    case AS_NORMAL4: return exp(z * z * -0.5) / AS_ROOT_2_PI * ((3 - z * z) / 2);
    default: return exp(z * z * -0.5) / AS_ROOT_2_PI;
    }
}

/* Weights are 0 from this distance on. */
double as_kernel_reach(as_kernel kernel);
/* The first n coefficients of the weight at u + e as a series in e, for an e that reaches neither 0 nor the end of the
 * kernel. */
void as_kernel_series(as_kernel kernel, double u, double *series, int n);

/* Points with the same x taken together. y is counted from `center`, so that what all have in common takes no
 * digits. */
typedef struct as_groups {
    const double *x, *y, *given; /* of the points; y is what is given less center */
    double *at;                  /* ascending, different */
    double *count, *sum;         /* points there; of y */
    size_t *start;               /* their first point; n + 1 of them */
    size_t n, n_points;
    double center;
} as_groups;

/* In the arena. False when memory is out. */
bool as_groups_make(const as_sorted *points, as_arena *arena, as_groups *out);

/* Sums over groups for one bandwidth. Where groups lie dense, whole cells of them are summed at once by the series of
 * the kernel around their centres, and what all other cells add in one cell is itself a series, made once: as exact as
 * one by one. */
typedef struct as_field {
    const as_groups *groups;
    as_kernel kernel;
    double bandwidth;
    int n_s, n_t;          /* sums */
    int n_terms;           /* of the series; 0: there are no cells */
    uint32_t *cell_of;     /* of each group */
    size_t *cell_start;    /* first group of each cell; one more at the end */
    double *cell_center;   /* in x */
    double *moments;       /* n_terms of counts, then n_terms of sums, of each cell with enough groups */
    double *others;        /* n_terms of each sum, of each cell: what the other cells add in it */
    uint32_t *others_from; /* the cells among these others, of each cell; none: it has too few groups */
    uint32_t *others_end;
    size_t n_cells;
} as_field;

enum { AS_MOST_ORDER = 20, AS_MOST_POWERS = 2 * AS_MOST_ORDER + 1 };

/* For sums of n_s powers of the distance, and of y with n_s / 2 + 1 of them. In the arena. False when memory is out. */
bool as_field_make(const as_groups *groups, as_kernel kernel, double bandwidth, int n_s, unsigned threads,
                   as_arena *arena, as_field *out);
/* The groups that have a weight at group `target`, itself among them. */
void as_field_window(const as_field *field, size_t target, size_t *begin, size_t *end);
/* Over all groups but the target itself: s[k] of weight z^k for each point, k < n_s; t[k] of weight z^k y, k <= n_s /
 * 2. z: the distance from the target in bandwidths. */
void as_field_sums(const as_field *field, size_t target, double *s, double *t);

/* The value at group `target` (from the center) of the polynomial of this order fitted with the weights; of a lower
 * order, where too few groups have one. */
double as_polynomial_at(const as_field *field, size_t target, int order);
/* The least bandwidth, from `bandwidth` in steps of 1, at which every group has order + 1 groups with a weight; NAN:
 * there is none. */
double as_polynomial_bandwidth(const as_groups *groups, as_kernel kernel, double bandwidth, int order);
/* The same as Perun finds it, for which the rounding of its matrices decides. NAN: not found in time. */
double as_perun_bandwidth(const as_groups *groups, as_kernel kernel, double bandwidth, int order);

/* sqrt(n^-0.4 variance), and as_ridge_error() by its own sums. */
double as_perun_scott(const as_groups *groups, double n);
double as_perun_ridge_error(const as_groups *groups, double gamma);

/* ---- the choice of a bandwidth, all of the normal kernel --------------------------------------------------------- */

typedef struct as_bandwidth_search {
    const as_groups *groups;
    bool is_linear; /* local linear, else local constant */
    bool is_aic;    /* Hurvich's criterion, else cross-validation by leaving one out */
    double start;   /* where to look first */
    unsigned threads;
    as_budget *budget;
} as_bandwidth_search;

/* NAN when memory is out. */
double as_bandwidth_find(const as_bandwidth_search *search);
/* The mean squared error of predicting each point from the others with the weights exp(-gamma d^2). NAN: it is not
 * defined; *is_out: memory is out. */
double as_ridge_error(const as_groups *groups, double gamma, unsigned threads, as_budget *budget, bool *is_out);

#endif
