/* Where the last digits of Perun's sums decide: they are made as its libraries make them.
 *
 * Local polynomials: the bandwidth at which they begin to work. Perun adds 1 until no matrix has a pivot that is
 * exactly 0; with too few points in a window that depends on the last digits, and so on the order in which NumPy's
 * libraries reckon: matrices are summed point by point with one rounding for a product and its sum, and factored column
 * by column. */
#include "analysis/regress/kernel.h"

enum { MOST_SIZE = AS_MOST_ORDER + 1 };
/* Steps times points times points beyond which nobody waits for it. */
#define MOST_WORK 4e8

typedef double square[MOST_SIZE][MOST_SIZE];

/* The power of a library, not a product of products. */
static double perun_weight(as_kernel kernel, double z) {
    const double scale = sqrt(35.0 / 243);
    if (kernel != AS_TRICUBE) return as_kernel_weight(kernel, z);
    double scaled = fabs(z * scale);
    return scaled < 1 ? 70.0 / 81 * pow(1 - pow(scaled, 3), 3) * scale : 0;
}

static void fill_matrix(const as_groups *groups, as_kernel kernel, double bandwidth, double here, int size, square a) {
    memset(a, 0, sizeof(square));
    for (size_t i = 0; i < groups->n_points; i++) {
        double off = groups->x[i] - here, weight = perun_weight(kernel, off / bandwidth), powers[MOST_SIZE];
        if (weight == 0) continue;
        for (int k = 0; k < size; k++) powers[k] = k == 0 ? 1 : k == 1 ? off : pow(off, k);
        for (int k = 0; k < size; k++)
            for (int j = 0; j < size; j++) a[k][j] = fma(powers[k], weight * powers[j], a[k][j]);
    }
}

static double dot(square a, int row, int column, int n) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum = fma(a[row][k], a[k][column], sum);
    return sum;
}

static void swap(double *a, double *b) {
    double value = *a;
    *a = *b;
    *b = value;
}

static bool is_singular(square a, int size) {
    int pivots[MOST_SIZE];
    for (int j = 0; j < size; j++) {
        for (int i = 0; i < j; i++) swap(&a[i][j], &a[pivots[i]][j]);
        for (int i = 1; i < size; i++) a[i][j] -= dot(a, i, j, i < j ? i : j);
        pivots[j] = j;
        for (int i = j + 1; i < size; i++)
            if (fabs(a[i][j]) > fabs(a[pivots[j]][j])) pivots[j] = i;
        if (a[pivots[j]][j] == 0) return true;
        for (int k = 0; k <= j; k++) swap(&a[j][k], &a[pivots[j]][k]);
        double factor = 1 / a[j][j];
        for (int i = j + 1; i < size; i++) a[i][j] *= factor;
    }
    return false;
}

static bool is_any_singular(const as_groups *groups, as_kernel kernel, double bandwidth, int size) {
    square a;
    for (size_t g = 0; g < groups->n; g++) {
        fill_matrix(groups, kernel, bandwidth, groups->at[g], size, a);
        if (is_singular(a, size)) return true;
    }
    return false;
}

double as_perun_bandwidth(const as_groups *groups, as_kernel kernel, double bandwidth, int order) {
    double each = (double)groups->n * (double)groups->n_points;
    size_t n_tries = (size_t)(MOST_WORK / each);
    for (size_t i = 0; i < n_tries; i++, bandwidth++)
        if (!is_any_singular(groups, kernel, bandwidth, order + 1)) return bandwidth;
    return NAN;
}

double as_perun_scott(const as_groups *groups, double n) {
    double mean = as_mean_of(groups->x, groups->n_points), sum = 0, factor = pow(n, -0.2);
    for (size_t i = 0; i < groups->n_points; i++) sum = fma(groups->x[i] - mean, groups->x[i] - mean, sum);
    return sqrt(factor * factor * (sum * (1 / ((double)groups->n_points - 1))));
}

double as_perun_ridge_error(const as_groups *groups, double gamma) {
    double errors = 0;
    for (size_t j = 0; j < groups->n_points; j++) {
        double weights = 0, sum = 0, y = groups->given[j];
        for (size_t i = 0; i < groups->n_points; i++) {
            double off = groups->x[i] - groups->x[j], weight = i == j ? 0 : exp(-gamma * (off * off));
            weights += weight;
            sum += weight * groups->given[i];
        }
        errors += (sum / weights - y) * (sum / weights - y);
    }
    return errors / (double)groups->n_points;
}
