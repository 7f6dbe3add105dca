#include "analysis/regress/kernel.h"

/* Beyond this e^(-z^2/2) is 0. */
#define NORMAL_REACH 38.6

static const char *const names[AS_N_KERNELS] = {"epanechnikov", "tricube", "normal", "epanechnikov4", "normal4"};

bool as_kernel_find(const char *name, as_kernel *out) {
    for (int kernel = 0; kernel < AS_N_KERNELS; kernel++) {
        if (strcmp(names[kernel], name) != 0) continue;
        *out = (as_kernel)kernel;
        return true;
    }
    return false;
}

double as_kernel_reach(as_kernel kernel) {
    switch (kernel) {
    case AS_EPANECHNIKOV: return 1 / AS_EPANECHNIKOV_SCALE;
    case AS_TRICUBE: return 1 / AS_TRICUBE_SCALE;
    case AS_EPANECHNIKOV4: return 1;
    default: return NORMAL_REACH;
    }
}

/* Both of n terms, of which the first has `n_known`. */
static void multiply(double *series, int n_known, const double *factor, int n_factor, int n) {
    for (int i = n - 1; i >= 0; i--) {
        double sum = 0;
        for (int j = 0; j < n_factor && j <= i; j++)
            if (i - j < n_known) sum += series[i - j] * factor[j];
        series[i] = sum;
    }
}

static void normal_series(double u, double *series, int n) {
    series[0] = exp(u * u * -0.5) / AS_ROOT_2_PI;
    for (int i = 1; i < n; i++) series[i] = -(u * series[i - 1] + (i > 1 ? series[i - 2] : 0)) / i;
}

void as_kernel_series(as_kernel kernel, double u, double *series, int n) {
    memset(series, 0, (size_t)n * sizeof *series);
    double square[3] = {u * u, 2 * u, 1}, a = AS_TRICUBE_SCALE, side = u < 0 ? -a * a * a : a * a * a;
    double factor = 0, constant = 0;
    switch (kernel) {
    case AS_NORMAL: normal_series(u, series, n); return;
    case AS_NORMAL4:
        normal_series(u, series, n);
        multiply(series, n, (const double[]){(3 - square[0]) / 2, -square[1] / 2, -0.5}, 3, n);
        return;
    case AS_TRICUBE: {
        double rest[4] = {1 - side * u * u * u, -3 * side * u * u, -3 * side * u, -side};
        for (int i = 0; i < 4 && i < n; i++) series[i] = rest[i] * (70.0 / 81 * a);
        multiply(series, 4, rest, 4, n);
        multiply(series, 7, rest, 4, n);
        return;
    }
    case AS_EPANECHNIKOV:
        constant = 0.75 * AS_EPANECHNIKOV_SCALE;
        factor = -constant * AS_EPANECHNIKOV_SCALE * AS_EPANECHNIKOV_SCALE;
        break;
    default:
        constant = 9.0 / 8;
        factor = -15.0 / 8;
        break;
    }
    for (int i = 0; i < 3 && i < n; i++) series[i] = factor * square[i];
    series[0] += constant;
}
