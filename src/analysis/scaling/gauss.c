/* Gaussian process regression: see gauss.h. */
#include "analysis/scaling/gauss.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

static double distance(const double *a, const double *b, size_t d) {
    double sum = 0;
    for (size_t i = 0; i < d; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* Matern's correlation for nu = 3/2. */
static double correlation(double length, double apart) {
    double t = sqrt(3) * apart / length;
    return (1 + t) * exp(-t);
}

double as_gauss_covariance(const as_gauss_kernel *kernel, const double *a, const double *b, size_t d) {
    return kernel->signal * correlation(kernel->length, distance(a, b, d));
}

/* n x m doubles, or NULL. */
static double *new_matrix(size_t n, size_t m) {
    size_t count, bytes;
    if (!as_mul_size(n, m, &count) || !as_mul_size(count, sizeof(double), &bytes)) return NULL;
    return malloc(bytes ? bytes : 1);
}

/* ---- hyper-parameters -------------------------------------------------------------------------------------------- */

/* Work space of a fit. With ratio = noise / signal the covariance is signal * (M + ratio * I), M the correlations for a
 * length; an orthogonal Q makes Q M Q' tridiagonal, whatever the ratio. */
typedef struct search {
    const double *y;
    size_t n;
    double *apart;                /* n x n distances */
    double *matrix;               /* n x n, scratch */
    double *diagonal, *off;       /* of the tridiagonal matrix */
    double *turned;               /* Q y */
    double *reflector, *products; /* scratch */
} search;

/* What is best for one length. */
typedef struct best {
    double likelihood, signal, ratio;
} best;

/* Takes reflector v (first `size` entries, scaled by beta) from both sides of the lower right corner of the matrix that
 * begins at row first. */
static void reflect(search *s, size_t first, size_t size, double beta) {
    double *v = s->reflector, *p = s->products, overlap = 0, on_y = 0;
    for (size_t i = 0; i < size; i++) {
        const double *row = s->matrix + (first + i) * s->n + first;
        double sum = 0;
        for (size_t j = 0; j < size; j++) sum += row[j] * v[j];
        p[i] = beta * sum;
        overlap += p[i] * v[i];
        on_y += v[i] * s->turned[first + i];
    }
    for (size_t i = 0; i < size; i++) {
        p[i] -= beta / 2 * overlap * v[i];
        s->turned[first + i] -= beta * on_y * v[i];
    }
    for (size_t i = 0; i < size; i++) {
        double *row = s->matrix + (first + i) * s->n + first;
        for (size_t j = 0; j < size; j++) row[j] -= v[i] * p[j] + p[i] * v[j];
    }
}

/* Householder's way from a symmetric matrix to a tridiagonal one. */
static void tridiagonalise(search *s) {
    size_t n = s->n;
    for (size_t k = 0; k + 1 < n; k++) {
        size_t size = n - k - 1;
        double norm = 0, square = 0;
        for (size_t i = 0; i < size; i++) {
            s->reflector[i] = s->matrix[(k + 1 + i) * n + k];
            norm += s->reflector[i] * s->reflector[i];
        }
        norm = sqrt(norm);
        s->off[k] = s->reflector[0];
        if (size == 1 || norm == 0) continue;
        s->off[k] = s->reflector[0] > 0 ? -norm : norm;
        s->reflector[0] -= s->off[k];
        for (size_t i = 0; i < size; i++) square += s->reflector[i] * s->reflector[i];
        reflect(s, k + 1, size, 2 / square);
    }
    for (size_t k = 0; k < n; k++) s->diagonal[k] = s->matrix[k * n + k];
}

static void set_length(search *s, double length) {
    for (size_t i = 0; i < s->n * s->n; i++) s->matrix[i] = correlation(length, s->apart[i]);
    memcpy(s->turned, s->y, s->n * sizeof(double));
    tridiagonalise(s);
}

/* The likelihood for a ratio, with the best signal that keeps signal and noise in their bounds. */
static best at_ratio(const search *s, double log_ratio) {
    double ratio = exp(log_ratio), pivot = 0, z = 0, log_determinant = 0, quadratic = 0, n = (double)s->n;
    for (size_t i = 0; i < s->n; i++) {
        double factor = i ? s->off[i - 1] / pivot : 0;
        z = s->turned[i] - factor * z;
        pivot = s->diagonal[i] + ratio - (i ? factor * s->off[i - 1] : 0);
        if (!(pivot > 0)) return (best){.likelihood = -INFINITY, .signal = 1, .ratio = ratio}; /* lost in rounding */
        log_determinant += log(pivot);
        quadratic += z * z / pivot;
    }
    double least = fmax(AS_GAUSS_LEAST, AS_GAUSS_LEAST / ratio), most = fmin(AS_GAUSS_MOST, AS_GAUSS_MOST / ratio);
    double signal = fmin(fmax(quadratic / n, least), most);
    double likelihood =
        -quadratic / (2 * signal) - n / 2 * log(signal) - log_determinant / 2 - n / 2 * log(2 * 3.14159265358979323846);
    return (best){.likelihood = likelihood, .signal = signal, .ratio = ratio};
}

/* Golden section: the largest value of at() between low and high, beginning with what is known there. */
static best climb(search *s, best (*at)(search *s, double where), double low, double high, unsigned steps,
                  double *where) {
    const double golden = 0.6180339887498949;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    best at_a = at(s, a), at_b = at(s, b);
    while (steps-- > 0) {
        if (at_a.likelihood >= at_b.likelihood) {
            high = b, b = a, at_b = at_a;
            a = high - golden * (high - low);
            at_a = at(s, a);
        } else {
            low = a, a = b, at_a = at_b;
            b = low + golden * (high - low);
            at_b = at(s, b);
        }
    }
    bool first = at_a.likelihood >= at_b.likelihood;
    *where = first ? a : b;
    return first ? at_a : at_b;
}

static best ratio_step(search *s, double log_ratio) { return at_ratio(s, log_ratio); }

static best at_length(search *s, double log_length) {
    set_length(s, exp(log_length));
    const double edge = log(AS_GAUSS_MOST / AS_GAUSS_LEAST), step = 0.5;
    best found = {.likelihood = -INFINITY, .signal = 1, .ratio = 1};
    double where = 0, ignored;
    for (int i = 0; i <= (int)(2 * edge / step); i++) {
        double log_ratio = -edge + i * step;
        best here = at_ratio(s, log_ratio);
        if (here.likelihood > found.likelihood) found = here, where = log_ratio;
    }
    best finer = climb(s, ratio_step, fmax(where - step, -edge), fmin(where + step, edge), 32, &ignored);
    return finer.likelihood > found.likelihood ? finer : found;
}

static bool prepare(search *s, const double *x, size_t d) {
    size_t n = s->n;
    s->apart = new_matrix(n, n);
    s->matrix = new_matrix(n, n);
    s->diagonal = new_matrix(5, n);
    if (!s->apart || !s->matrix || !s->diagonal) return false;
    s->off = s->diagonal + n;
    s->turned = s->off + n;
    s->reflector = s->turned + n;
    s->products = s->reflector + n;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) s->apart[i * n + j] = distance(x + i * d, x + j * d, d);
    }
    return true;
}

/* Below a small part of the smallest distance the correlations are zero, and lengths tell nothing apart. */
static double least_length(const search *s) {
    double least = INFINITY;
    for (size_t i = 0; i < s->n * s->n; i++) {
        if (s->apart[i] > 0 && s->apart[i] < least) least = s->apart[i];
    }
    return isfinite(least) ? fmin(fmax(least / 50, AS_GAUSS_LEAST), AS_GAUSS_MOST / 2) : 1;
}

/* A grid over the lengths, then golden sections around its best peaks. */
static void search_lengths(search *s, best *found, double *log_length) {
    enum { GRID = 32, PEAKS = 3 };
    double low = log(least_length(s)), step = (log(AS_GAUSS_MOST) - low) / (GRID - 1);
    best grid[GRID];
    for (size_t i = 0; i < GRID; i++) {
        grid[i] = at_length(s, low + step * (double)i);
        if (i == 0 || grid[i].likelihood > found->likelihood) *found = grid[i], *log_length = low + step * (double)i;
    }
    bool used[GRID] = {false};
    for (size_t peak = 0; peak < PEAKS; peak++) {
        size_t top = GRID;
        for (size_t i = 0; i < GRID; i++) {
            bool is_peak = (i == 0 || grid[i].likelihood >= grid[i - 1].likelihood) &&
                           (i + 1 == GRID || grid[i].likelihood >= grid[i + 1].likelihood);
            if (is_peak && !used[i] && (top == GRID || grid[i].likelihood > grid[top].likelihood)) top = i;
        }
        if (top == GRID) return;
        used[top] = true;
        double where, at = low + step * (double)top;
        best finer = climb(s, at_length, fmax(at - step, low), fmin(at + step, log(AS_GAUSS_MOST)), 26, &where);
        if (finer.likelihood > found->likelihood) *found = finer, *log_length = where;
    }
}

bool as_gauss_fit(const double *x, const double *y, size_t n, size_t d, as_gauss_kernel *out, double *likelihood) {
    *out = (as_gauss_kernel){.signal = 1, .length = 1, .noise = AS_GAUSS_LEAST};
    if (likelihood) *likelihood = 0;
    if (n == 0) return true;
    search s = {.y = y, .n = n};
    bool fine = prepare(&s, x, d);
    if (fine) {
        best found = {0};
        double log_length = 0;
        search_lengths(&s, &found, &log_length);
        *out =
            (as_gauss_kernel){.signal = found.signal, .length = exp(log_length), .noise = found.signal * found.ratio};
        if (likelihood) *likelihood = found.likelihood;
    }
    free(s.apart);
    free(s.matrix);
    free(s.diagonal);
    return fine;
}

/* ---- variances --------------------------------------------------------------------------------------------------- */

/* row = L^-1 k for the n rows of L known so far; gives what is left of the variance of a new observation. */
static double solve(const double *factor, size_t stride, size_t n, double total, double *row) {
    for (size_t i = 0; i < n; i++) {
        const double *l = factor + i * stride;
        double sum = row[i];
        for (size_t j = 0; j < i; j++) sum -= l[j] * row[j];
        row[i] = sum / l[i];
        total -= row[i] * row[i];
    }
    return total;
}

/* Rounding must not take a variance to 0 or below: there is always noise. */
static double at_least_some(const as_gauss_kernel *kernel, double variance) {
    return fmax(variance, kernel->noise * 1e-3 + kernel->signal * 1e-15);
}

bool as_gauss_field_init(as_gauss_field *field, const as_gauss_kernel *kernel, const double *x, size_t n, size_t d,
                         const double *candidates, size_t m, size_t further) {
    *field = (as_gauss_field){.kernel = *kernel, .candidates = candidates, .m = m, .d = d, .n = n, .room = n + further};
    field->weights = new_matrix(m, field->room);
    field->variance = new_matrix(m, 1);
    double *factor = new_matrix(n, n), total = kernel->signal + kernel->noise;
    bool fine = field->weights && field->variance && factor;
    for (size_t i = 0; fine && i < n; i++) {
        double *row = factor + i * n;
        for (size_t j = 0; j < i; j++) row[j] = as_gauss_covariance(kernel, x + i * d, x + j * d, d);
        row[i] = sqrt(at_least_some(kernel, solve(factor, n, i, total, row)));
    }
    for (size_t c = 0; fine && c < m; c++) {
        double *row = field->weights + c * field->room;
        for (size_t i = 0; i < n; i++) row[i] = as_gauss_covariance(kernel, candidates + c * d, x + i * d, d);
        field->variance[c] = at_least_some(kernel, solve(factor, n, n, total, row));
    }
    free(factor);
    if (!fine) as_gauss_field_free(field);
    return fine;
}

void as_gauss_field_free(as_gauss_field *field) {
    free(field->weights);
    free(field->variance);
    *field = (as_gauss_field){0};
}

/* The new row of the Cholesky factor is what the candidate has gathered already: its weights, and the root of its
 * variance. */
void as_gauss_field_observe(as_gauss_field *field, size_t j) {
    const as_gauss_kernel *kernel = &field->kernel;
    const double *new_row = field->weights + j * field->room, *at = field->candidates + j * field->d;
    double pivot = sqrt(field->variance[j]);
    for (size_t c = 0; c < field->m; c++) {
        double *row = field->weights + c * field->room;
        double sum = as_gauss_covariance(kernel, field->candidates + c * field->d, at, field->d);
        for (size_t i = 0; i < field->n; i++) sum -= row[i] * new_row[i];
        row[field->n] = sum / pivot;
    }
    for (size_t c = 0; c < field->m; c++) {
        double weight = field->weights[c * field->room + field->n];
        field->variance[c] = at_least_some(kernel, field->variance[c] - weight * weight);
    }
    field->n++;
}
