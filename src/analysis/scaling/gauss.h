/* Gaussian process regression with the kernel  signal * Matern(length, 3/2) + white noise  and mean 0: where
 * measurements say least.
 *
 * Points are rows of d numbers, n rows behind each other. */
#ifndef AS_ANALYSIS_SCALING_GAUSS_H
#define AS_ANALYSIS_SCALING_GAUSS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct as_gauss_kernel {
    double signal; /* variance of the function */
    double length; /* over which distance it changes */
    double noise;  /* variance of one observation around the function */
} as_gauss_kernel;

/* Hyper-parameters are looked for between these. */
#define AS_GAUSS_LEAST 1e-5
#define AS_GAUSS_MOST  1e5

/* Of the function at a and at b, without noise. */
double as_gauss_covariance(const as_gauss_kernel *kernel, const double *a, const double *b, size_t d);

/* The hyper-parameters with the largest log marginal likelihood of the observations y at x; *likelihood (may be NULL)
 * is that. No chance in it: for a given length the best signal is known in closed form, and the best noise is found on
 * a tridiagonal matrix, so that only the length needs a search of matrices. n^3 a step: meant for at most a few hundred
 * points. False when memory is out. */
bool as_gauss_fit(const double *x, const double *y, size_t n, size_t d, as_gauss_kernel *out, double *likelihood);

/* The variance of a new observation (noise included) at each of m candidates, kept up to date while candidates are
 * observed one by one. What is observed does not matter to the variance, only where. */
typedef struct as_gauss_field {
    double *variance; /* m */
    as_gauss_kernel kernel;
    const double *candidates; /* borrowed: m x d */
    double *weights;          /* m rows of `room`: L^-1 k(candidate) for the Cholesky factor L of what is observed */
    size_t m, d, n, room;     /* n: observed so far, at most room */
} as_gauss_field;

/* n observations at x; room for `further` ones. False when memory is out (nothing to free then). */
bool as_gauss_field_init(as_gauss_field *field, const as_gauss_kernel *kernel, const double *x, size_t n, size_t d,
                         const double *candidates, size_t m, size_t further);
void as_gauss_field_free(as_gauss_field *field);
/* Candidate j is observed (once more): m x n steps. At most `further` times. */
void as_gauss_field_observe(as_gauss_field *field, size_t j);

#endif
