/* The windows of SciPy that need no parameter, symmetric: weights of a moving average. */
#include "analysis/regress/nonparam.h"

#define PI 3.14159265358979323846

/* From -1 at the first to 1 at the last point; n > 1. */
static double place_of(size_t i, size_t n) { return 2 * (double)i / (double)(n - 1) - 1; }

static void boxcar(double *weights, size_t n) {
    for (size_t i = 0; i < n; i++) weights[i] = 1;
}

static void triang(double *weights, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double from_end = (double)(i < n - 1 - i ? i : n - 1 - i) + 1;
        weights[i] = n % 2 == 1 ? 2 * from_end / (double)(n + 1) : (2 * from_end - 1) / (double)n;
    }
}

static void bartlett(double *weights, size_t n) {
    for (size_t i = 0; i < n; i++) weights[i] = 1 - fabs(place_of(i, n));
}

static void parzen(double *weights, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double off = fabs((double)i - (double)(n - 1) / 2), part = off / ((double)n / 2), rest = 1 - part;
        weights[i] = off <= (double)(n - 1) / 4 ? 1 - 6 * part * part * rest : 2 * rest * rest * rest;
    }
}

static void bohman(double *weights, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double off = fabs(place_of(i, n));
        weights[i] = i == 0 || i == n - 1 ? 0 : (1 - off) * cos(PI * off) + sin(PI * off) / PI;
    }
}

static void barthann(double *weights, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double off = fabs((double)i / (double)(n - 1) - 0.5);
        weights[i] = 0.62 - 0.48 * off + 0.38 * cos(2 * PI * off);
    }
}

static void cosine(double *weights, size_t n) {
    for (size_t i = 0; i < n; i++) weights[i] = sin(PI / (double)n * ((double)i + 0.5));
}

static void exponential(double *weights, size_t n) {
    for (size_t i = 0; i < n; i++) weights[i] = exp(-fabs((double)i - (double)(n - 1) / 2));
}

static void lanczos(double *weights, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double angle = PI * place_of(i, n);
        weights[i] = angle == 0 ? 1 : sin(angle) / angle;
    }
}

/* A quarter of the window on each side is the half of a cosine. */
static void tukey(double *weights, size_t n) {
    double last = (double)(n - 1), width = floor(last / 4);
    for (size_t i = 0; i < n; i++) {
        double from_end = fmin((double)i, last - (double)i);
        weights[i] = from_end <= width ? 0.5 * (1 + cos(PI * (4 * from_end / last - 1))) : 1;
    }
}

/* Four nearly constant side lobes, 30 dB below. */
static void taylor(double *weights, size_t n) {
    enum { LOBES = 4 };
    double a = acosh(pow(10, 30.0 / 20)) / PI, stretch = LOBES * LOBES / (a * a + (LOBES - 0.5) * (LOBES - 0.5));
    double factors[LOBES];
    for (int m = 1; m < LOBES; m++) {
        double upper = m % 2 == 1 ? 1 : -1, lower = 2;
        for (int j = 1; j < LOBES; j++) {
            upper *= 1 - m * m / stretch / (a * a + (j - 0.5) * (j - 0.5));
            if (j != m) lower *= 1 - (double)(m * m) / (j * j);
        }
        factors[m] = upper / lower;
    }
    double middle = 1;
    for (int m = 1; m < LOBES; m++) middle += 2 * factors[m];
    for (size_t i = 0; i < n; i++) {
        weights[i] = 1;
        for (int m = 1; m < LOBES; m++)
            weights[i] += 2 * factors[m] * cos(2 * PI * m * ((double)i - (double)n / 2 + 0.5) / (double)n);
        weights[i] /= middle;
    }
}

/* Sums of cosines. */
static void cosines(double *weights, size_t n, const double *factors, int n_factors) {
    for (size_t i = 0; i < n; i++) {
        weights[i] = 0;
        for (int k = 0; k < n_factors; k++) weights[i] += factors[k] * cos(k * PI * place_of(i, n));
    }
}

static void hann(double *weights, size_t n) { cosines(weights, n, (const double[]){0.5, 0.5}, 2); }
static void hamming(double *weights, size_t n) { cosines(weights, n, (const double[]){0.54, 0.46}, 2); }
static void blackman(double *weights, size_t n) { cosines(weights, n, (const double[]){0.42, 0.5, 0.08}, 3); }
static void nuttall(double *weights, size_t n) {
    cosines(weights, n, (const double[]){0.3635819, 0.4891775, 0.1365995, 0.0106411}, 4);
}
static void blackmanharris(double *weights, size_t n) {
    cosines(weights, n, (const double[]){0.35875, 0.48829, 0.14128, 0.01168}, 4);
}
static void flattop(double *weights, size_t n) {
    cosines(weights, n, (const double[]){0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368}, 5);
}

static const struct {
    const char *name;
    as_window *window;
} windows[] = {
    {"barthann", barthann}, {"bartlett", bartlett}, {"blackman", blackman}, {"blackmanharris", blackmanharris},
    {"bohman", bohman},     {"boxcar", boxcar},     {"cosine", cosine},     {"exponential", exponential},
    {"flattop", flattop},   {"hamming", hamming},   {"hann", hann},         {"lanczos", lanczos},
    {"nuttall", nuttall},   {"parzen", parzen},     {"taylor", taylor},     {"triang", triang},
    {"tukey", tukey},
};

as_window *as_window_find(const char *name) {
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        if (strcmp(windows[i].name, name) == 0) return windows[i].window;
    return NULL;
}

bool as_window_type_is_known(const char *name) { return as_window_find(name) != NULL; }
