#include "analysis/regress/kernel.h"

/* Beyond this e^(-z^2/2) is 0. */
#define NORMAL_REACH       38.6
#define ROOT_2_PI          2.50662827463100050242
#define EPANECHNIKOV_SCALE 0.44721359549995793928 /* 1/sqrt(5): so that the variance is 1 */
#define TRICUBE_SCALE      0.37951675003093735    /* sqrt(35/243) */

static const char *const names[AS_N_KERNELS] = {"epanechnikov", "tricube", "normal", "epanechnikov4", "normal4"};

bool as_kernel_find(const char *name, as_kernel *out) {
    for (int kernel = 0; kernel < AS_N_KERNELS; kernel++) {
        if (strcmp(names[kernel], name) != 0) continue;
        *out = (as_kernel)kernel;
        return true;
    }
    return false;
}

double as_kernel_weight(as_kernel kernel, double z) {
    double scaled = 0, rest = 0;
    switch (kernel) {
    case AS_EPANECHNIKOV:
        scaled = z * EPANECHNIKOV_SCALE;
        return fabs(scaled) < 1 ? 0.75 * EPANECHNIKOV_SCALE * (1 - scaled * scaled) : 0;
    case AS_TRICUBE:
        scaled = fabs(z * TRICUBE_SCALE);
        if (!(scaled < 1)) return 0;
        rest = 1 - scaled * scaled * scaled;
        return 70.0 / 81 * (rest * rest * rest) * TRICUBE_SCALE;
    case AS_EPANECHNIKOV4: return fabs(z) <= 1 ? z * z * (-15.0 / 8) + 9.0 / 8 : 0;
    case AS_NORMAL4: return exp(z * z * -0.5) / ROOT_2_PI * ((3 - z * z) / 2);
    default: return exp(z * z * -0.5) / ROOT_2_PI;
    }
}

double as_kernel_reach(as_kernel kernel) {
    switch (kernel) {
    case AS_EPANECHNIKOV: return 1 / EPANECHNIKOV_SCALE;
    case AS_TRICUBE: return 1 / TRICUBE_SCALE;
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
    series[0] = exp(u * u * -0.5) / ROOT_2_PI;
    for (int i = 1; i < n; i++) series[i] = -(u * series[i - 1] + (i > 1 ? series[i - 2] : 0)) / i;
}

void as_kernel_series(as_kernel kernel, double u, double *series, int n) {
    memset(series, 0, (size_t)n * sizeof *series);
    double square[3] = {u * u, 2 * u, 1}, a = TRICUBE_SCALE, side = u < 0 ? -a * a * a : a * a * a;
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
        constant = 0.75 * EPANECHNIKOV_SCALE;
        factor = -constant * EPANECHNIKOV_SCALE * EPANECHNIKOV_SCALE;
        break;
    default:
        constant = 9.0 / 8;
        factor = -15.0 / 8;
        break;
    }
    for (int i = 0; i < 3 && i < n; i++) series[i] = factor * square[i];
    series[0] += constant;
}
