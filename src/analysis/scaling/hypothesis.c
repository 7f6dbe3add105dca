/* One hypothesis at one set of points: factoring, coefficients, costs. */
#include "analysis/scaling/least_squares.h"
#include "analysis/scaling/line.h"

size_t as_hypothesis_size(size_t n) {
    size_t size;
    if (n <= AS_FEW_POINTS) return 3 * n + 2 * n * n;
    return as_mul_size(n, 10, &size) ? size : SIZE_MAX;
}

/* The columns 1 and term, without point `without` (n: with all). Returns the number of rows. */
static size_t fill_columns(const double *basis, size_t n, size_t without, double *A) {
    size_t rows = n - (without < n), at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == without) continue;
        A[at] = 1;
        A[rows + at++] = basis[i];
    }
    return rows;
}

/* 2 x n with a 0 where the point is left out. */
static void invert_without(const double *basis, size_t n, size_t without, double *scratch, double *out) {
    size_t rows = fill_columns(basis, n, without, scratch);
    as_pseudo_inverse(scratch, rows, 2, rows, false, out);
    if (without >= n) return;
    for (size_t k = 2; k-- > 0;) { /* from the back, because it is spread in place */
        double *from = out + k * rows, *to = out + k * n;
        memmove(to + without + 1, from + without, (rows - without) * sizeof *to);
        memmove(to, from, without * sizeof *to);
        to[without] = 0;
    }
}

/* Leaving one of many points out changes the coefficients by G x_i r_i / (1 - h_i), G being the inverse of A'A: G x_i
 * is the i-th column of the pseudo-inverse. Where h_i is almost 1 that loses too much, and the point is really left
 * out; the h_i add up to 2, so there are at most two such points. */
static void prepare_changes(as_hypothesis *h, size_t n, double *scratch) {
    size_t n_dense = 0;
    for (size_t i = 0; i < n; i++) {
        double *change = h->left_out + 3 * i;
        change[0] = h->full[i];
        change[1] = h->full[n + i];
        change[2] = 1 - (h->full[i] + h->full[n + i] * h->basis[i]);
        if (change[2] > 1e-4 || n_dense == 2) continue;
        size_t at = 3 * n + 2 * n * n_dense++;
        invert_without(h->basis, n, i, scratch, h->left_out + at);
        change[0] = (double)at;
        change[2] = 0;
    }
}

void as_hypothesis_make(as_hypothesis *h, as_power power, const double *x, size_t n, bool cross, double *memory,
                        double *scratch) {
    *h = (as_hypothesis){.power = power, .basis = memory, .full = memory + n, .left_out = memory + 3 * n};
    for (size_t i = 0; i < n; i++) h->basis[i] = as_power_value(&power, x[i]);
    invert_without(h->basis, n, n, scratch, h->full);
    if (!cross) return;
    if (n > AS_FEW_POINTS) {
        prepare_changes(h, n, scratch);
        return;
    }
    for (size_t i = 0; i < n; i++) invert_without(h->basis, n, i, scratch, h->left_out + i * 2 * n);
}

static double product(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

void as_hypothesis_coefficients(const as_hypothesis *h, const double *y, size_t n, double out[2]) {
    out[0] = product(h->full, y, n);
    out[1] = product(h->full + n, y, n);
}

void as_hypothesis_without(const as_hypothesis *h, const double *y, size_t n, size_t i, const double full[2],
                           double out[2]) {
    const double *change = h->left_out + 3 * i, *inverse = as_hypothesis_inverse(h, n, i);
    if (inverse) {
        out[0] = product(inverse, y, n);
        out[1] = product(inverse + n, y, n);
        return;
    }
    double step = (y[i] - (full[0] + full[1] * h->basis[i])) / change[2];
    out[0] = full[0] - change[0] * step;
    out[1] = full[1] - change[1] * step;
}

/* ---- costs ------------------------------------------------------------------------------------------------------- */

static double mean_of(const double *y, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += y[i];
    return sum / (double)n;
}

void as_constant_fit(const double *y, size_t n, as_line_fit *out) {
    double mean = mean_of(y, n), count = (double)n;
    as_costs costs = {.AR2 = 1};
    for (size_t i = 0; i < n; i++) {
        double d = mean - y[i], size = fabs(y[i]) + fabs(mean);
        costs.RSS += d * d;
        if (y[i] != 0) {
            costs.rRSS += d / y[i] * (d / y[i]);
            costs.RE += fabs(d / y[i]) / count;
        }
        if (size != 0) costs.SMAPE += fabs(d) / size;
    }
    costs.SMAPE *= 200 / count;
    costs.nRSS = mean != 0 ? sqrt(costs.RSS) / mean : NAN;
    *out = (as_line_fit){
        .term = -1, .rival = -1, .rival_score = INFINITY, .constant = mean, .coefficient = 0, .costs = costs};
}

static double smallest_without(const double *y, size_t n, size_t i) {
    double smallest = INFINITY;
    for (size_t k = 0; k < n; k++) {
        if (k != i && y[k] < smallest) smallest = y[k];
    }
    return smallest;
}

static bool counts_as_zero(double constant, double smallest, double part) {
    return smallest == 0 ? fabs(constant) < part : fabs(constant / smallest) < part;
}

static void add_left_out(as_costs *costs, double prediction, double y, double mean_of_others, double n) {
    double d = prediction - y, size = fabs(y) + fabs(prediction);
    costs->RSS += d * d;
    costs->nRSS += sqrt(costs->RSS) / mean_of_others / n;
    if (y != 0) {
        costs->RE += fabs(d / y) / n;
        costs->rRSS += d / y * (d / y);
    }
    if (size != 0) costs->SMAPE += fabs(d) / size * 2 / n * 100;
}

static void leave_out_costs(const as_hypothesis *h, const double *y, size_t n, const double c[2], as_costs *costs) {
    double sum = mean_of(y, n) * (double)n;
    /* The two smallest tell the smallest of the others for every point */
    double first = smallest_without(y, n, n), second = INFINITY;
    size_t at = 0;
    while (at < n && y[at] != first) at++;
    if (at < n) second = smallest_without(y, n, at);
    for (size_t i = 0; i < n; i++) {
        double without[2];
        as_hypothesis_without(h, y, n, i, c, without);
        if (counts_as_zero(without[0], i == at ? second : first, AS_CLEAN_LEFT_OUT)) without[0] = 0;
        double others = n <= AS_FEW_POINTS ? 0 : sum - y[i];
        for (size_t k = 0; n <= AS_FEW_POINTS && k < n; k++) others += k != i ? y[k] : 0;
        add_left_out(costs, without[0] + without[1] * h->basis[i], y[i], others / (double)(n - 1), (double)n);
    }
}

static void plain_costs(const as_hypothesis *h, const double *y, size_t n, const double c[2], as_costs *costs) {
    double count = (double)n, used = 0;
    for (size_t i = 0; i < n; i++) {
        double prediction = c[0] + c[1] * h->basis[i], d = prediction - y[i], size = fabs(y[i]) + fabs(prediction);
        costs->RSS += d * d;
        if (y[i] != 0) {
            costs->RE += fabs(d / y[i]) / count;
            costs->rRSS += d / y[i] * (d / y[i]);
        }
        if (size == 0) continue;
        costs->SMAPE += fabs(d) / size;
        used++;
    }
    if (used > 0) costs->SMAPE *= 200 / used;
    costs->nRSS = sqrt(costs->RSS) / mean_of(y, n);
}

void as_hypothesis_fit(const as_hypothesis *h, const double *y, size_t n, double tss, const as_single_options *options,
                       as_line_fit *out) {
    double c[2];
    as_costs costs = {0};
    as_hypothesis_coefficients(h, y, n, c);
    if (options->use_crossvalidation) {
        leave_out_costs(h, y, n, c, &costs);
    } else {
        if (counts_as_zero(c[0], smallest_without(y, n, n), AS_CLEAN_PLAIN)) c[0] = 0;
        plain_costs(h, y, n, c, &costs);
    }
    costs.AR2 = 1 - costs.RSS / tss * ((double)n - 1) / ((double)n - 2);
    *out = (as_line_fit){.term = -2,
                         .rival = -1,
                         .rival_score = INFINITY,
                         .power = h->power,
                         .constant = c[0],
                         .coefficient = c[1],
                         .costs = costs};
}

bool as_contributes_little(const as_hypothesis *h, const double *y, size_t n, double coefficient, double minimum) {
    if (coefficient == 0) return true;
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(coefficient * h->basis[i] / y[i]) < minimum)) return false;
    }
    return true;
}
