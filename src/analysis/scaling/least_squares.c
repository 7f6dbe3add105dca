#include "analysis/scaling/least_squares.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_SWEEPS = 60 };

/* Four sums side by side: fast, and always the same. */
static double dot(const double *a, const double *b, size_t n) {
    double sums[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        sums[0] += a[i] * b[i];
        sums[1] += a[i + 1] * b[i + 1];
        sums[2] += a[i + 2] * b[i + 2];
        sums[3] += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static void rotate(double *a, double *b, size_t n, double c, double s) {
    for (size_t i = 0; i < n; i++) {
        double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

/* Makes the columns of A orthogonal by rotations from the right, collected in V (n x n, column after column). */
static void orthogonalise(double *A, double *V, size_t rows, size_t n) {
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        double off = 0;
        for (size_t p = 0; p < n; p++) {
            for (size_t q = p + 1; q < n; q++) {
                double *left = A + p * rows, *right = A + q * rows;
                double a = dot(left, left, rows), b = dot(right, right, rows), g = dot(left, right, rows);
                double size = sqrt(a) * sqrt(b);
                if (size == 0 || g == 0) continue;
                off = fmax(off, fabs(g) / size);
                if (fabs(g) <= 1e-17 * size) continue;
                double z = (b - a) / (2 * g);
                double t = (z >= 0 ? 1 : -1) / (fabs(z) + hypot(1, z));
                double c = 1 / sqrt(1 + t * t);
                rotate(left, right, rows, c, c * t);
                rotate(V + p * n, V + q * n, n, c, c * t);
            }
        }
        if (off < 1e-15) return;
    }
}

/* Columns are scaled by one power of two, so that squares of what is in range stay in range. */
static double scale_columns(double *A, size_t size) {
    double largest = 0;
    for (size_t i = 0; i < size; i++) {
        if (!isfinite(A[i])) return 0;
        largest = fmax(largest, fabs(A[i]));
    }
    if (largest == 0 || (largest < 1e100 && largest > 1e-100)) return 1;
    int exponent;
    frexp(largest, &exponent);
    double factor = ldexp(1, -exponent / 2 * 2);
    for (size_t i = 0; i < size; i++) A[i] *= factor;
    return factor;
}

static size_t invert(const double *A, const double *V, const double *singular, double cut, size_t rows, size_t n,
                     double *inverse) {
    size_t rank = 0;
    memset(inverse, 0, n * rows * sizeof *inverse);
    for (size_t j = 0; j < n; j++) {
        if (!(singular[j] > cut)) continue;
        rank++;
        for (size_t k = 0; k < n; k++) {
            double weight = V[j * n + k] / singular[j];
            for (size_t i = 0; i < rows; i++) inverse[k * rows + i] += weight * (A[j * rows + i] / singular[j]);
        }
    }
    return rank;
}

size_t as_pseudo_inverse(double *A, size_t rows, size_t n_columns, size_t true_rows, bool retry, double *inverse) {
    double V[AS_MAX_UNKNOWNS * AS_MAX_UNKNOWNS], singular[AS_MAX_UNKNOWNS], largest = 0;
    size_t n = n_columns;
    double factor = scale_columns(A, rows * n);
    if (factor == 0) {
        for (size_t i = 0; i < n * rows; i++) inverse[i] = NAN;
        return 0;
    }
    memset(V, 0, n * n * sizeof *V);
    for (size_t k = 0; k < n; k++) V[k * n + k] = 1;
    orthogonalise(A, V, rows, n);
    for (size_t k = 0; k < n; k++) {
        singular[k] = sqrt(dot(A + k * rows, A + k * rows, rows));
        largest = fmax(largest, singular[k]);
    }
    double longer = (double)(true_rows > n ? true_rows : n);
    size_t rank = invert(A, V, singular, DBL_EPSILON * longer * largest, rows, n, inverse);
    /* LAPACK calls half of C's epsilon its machine precision */
    if (rank < n && retry) invert(A, V, singular, DBL_EPSILON / 2 * largest, rows, n, inverse);
    if (factor != 1) {
        for (size_t i = 0; i < n * rows; i++) inverse[i] *= factor;
    }
    return rank;
}

void as_triangulate(double *A, double *y, size_t rows, size_t n_columns) {
    for (size_t k = 0; k < n_columns && k + 1 < rows; k++) {
        double *column = A + k * rows + k;
        size_t n = rows - k;
        double norm = sqrt(dot(column, column, n));
        double head = column[0] > 0 ? -norm : norm;
        double first = column[0] - head, size = first * first + dot(column + 1, column + 1, n - 1);
        if (size == 0) continue;
        column[0] = first; /* the column is the reflector until it is replaced by its image */
        for (size_t j = k + 1; j <= n_columns; j++) {
            double *other = j < n_columns ? A + j * rows + k : y + k;
            double scale = 2 * dot(column, other, n) / size;
            for (size_t i = 0; i < n; i++) other[i] -= scale * column[i];
        }
        column[0] = head;
        memset(column + 1, 0, (n - 1) * sizeof *column);
    }
}
