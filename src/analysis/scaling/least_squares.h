/* Minimum-norm least squares of small, tall matrices, as numpy's lstsq answers it: singular values at or below eps *
 * max(rows, columns) * the largest are dropped. One-sided Jacobi rotations find them, because they keep the accuracy of
 * columns of very different size (1 beside p^3). */
#ifndef AS_ANALYSIS_SCALING_LEAST_SQUARES_H
#define AS_ANALYSIS_SCALING_LEAST_SQUARES_H

#include <stdbool.h>
#include <stddef.h>

enum { AS_MAX_UNKNOWNS = 64 };

/* A is rows x n_columns, column after column; it is overwritten. n_columns <= AS_MAX_UNKNOWNS. Writes the
 * pseudo-inverse, n_columns rows of `rows` numbers each, to inverse: coefficient k = sum of inverse[k * rows + i] *
 * y[i]. true_rows: the number of rows the cut-off is about, where A was reduced before. retry: where the rank is
 * deficient it is done again with the cut-off eps / 2 (numpy with rcond -1). Returns the rank; 0 with NAN everywhere
 * where A is not finite. */
size_t as_pseudo_inverse(double *A, size_t rows, size_t n_columns, size_t true_rows, bool retry, double *inverse);

/* Reduces A (rows x n_columns, column after column, rows >= n_columns) to its upper triangle by Householder
 * reflections, and applies them to y. On return the first n_columns rows of A and y hold the reduced problem: same
 * solutions, same singular values. Entries below the diagonal of A are 0 there. Squares of the entries must be
 * finite. */
void as_triangulate(double *A, double *y, size_t rows, size_t n_columns);

#endif
