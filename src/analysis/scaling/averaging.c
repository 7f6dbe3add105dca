/* Weighing hypotheses, and the mixture of what they predict. */
#include "analysis/scaling/averaging.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/scaling/student.h"

/* An effect over the measured range is expected to be within plus or minus twice the mean value: the width of its flat
 * prior in mean values. It matters only for whether there is an effect at all. */
#define EFFECT_WIDTH 4.0
/* Hypotheses with less than this part of the best one's weight are left out. */
#define NEGLIGIBLE 1e-4
/* Noise below this is rounding. */
#define LEAST_NOISE 1e-12
/* One-sided normal deviate of 1 %: where residuals are larger than repetitions explain by more than this, no hypothesis
 * is true, and the scatter of the repetitions says nothing about how far off they are. */
#define MISFIT 2.326
/* Pivots below this part of their diagonal: the columns depend on each other. */
#define DEPENDENT 1e-11

/* The part of the squares of the values below which squares of residuals are rounding. */
#define ROUNDING 4e-16
/* The probability beyond the ends of an interval is right to this part. */
#define SAME_PROBABILITY 1e-4

enum { MAX_SIZE = AS_SHAPE_COLUMNS + 1, MAX_STEPS = 120 };

/* ---- terms ------------------------------------------------------------------------------------------------------- */

/* As as_power_value(), but cheaper for many terms at one x; log2_x: log2(x). */
static double term_value(const as_power *power, double x, double log2_x) {
    if (!(x > 0)) return as_power_value(power, x);
    double value = power->power.value == 0 ? 1 : exp2(power->power.value * log2_x);
    if (power->log.value == 0) return value;
    if (power->log.value == 1) return value * log2_x;
    return value * (power->log.value == 2 ? log2_x * log2_x : pow(log2_x, power->log.value));
}

const double *as_averaging_base(const as_averaging *a, size_t parameter, size_t term) {
    return &AS_AT(double, &a->bases, (parameter * a->powers.count + term) * a->sample.n);
}

static double base_scale(const as_averaging *a, size_t parameter, size_t term) {
    return AS_AT(double, &a->base_scales, parameter * a->powers.count + term);
}

static void fill_base(as_averaging *a, size_t parameter, size_t term, const double *logs) {
    const as_sample *s = &a->sample;
    double *base = &AS_AT(double, &a->bases, (parameter * a->powers.count + term) * s->n), largest = 0;
    bool varies = false, is_finite = true;
    for (size_t i = 0; i < s->n; i++) {
        base[i] = term_value(&AS_AT(as_power, &a->powers, term), s->x[i * s->n_parameters + parameter], logs[i]);
        varies |= base[i] != base[0];
        is_finite &= isfinite(base[i]);
        largest = fmax(largest, fabs(base[i]));
    }
    double scale = varies && is_finite ? 1 / largest : 0;
    if (!isfinite(scale)) scale = 0;
    for (size_t i = 0; i < s->n; i++) base[i] *= scale;
    AS_AT(double, &a->base_scales, parameter * a->powers.count + term) = scale;
}

bool as_averaging_init(as_averaging *a, const as_sample *sample, as_vec *powers) {
    *a = (as_averaging){.sample = *sample, .powers = *powers};
    as_vec_init(powers, sizeof(as_power), NULL);
    as_vec_init(&a->bases, sizeof(double), NULL);
    as_vec_init(&a->base_scales, sizeof(double), NULL);
    as_vec_init(&a->hypotheses, sizeof(as_weighed), NULL);
    as_vec_init(&a->components, sizeof(as_component), NULL);
    as_vec_init(&a->pool, sizeof(double), NULL);
    size_t n_terms = a->powers.count, n_bases, n_values;
    if (!as_mul_size(n_terms, sample->n_parameters, &n_bases) || !as_mul_size(n_bases, sample->n, &n_values) ||
        !as_vec_reserve(&a->bases, n_values) || !as_vec_reserve(&a->base_scales, n_bases) ||
        !as_vec_reserve(&a->hypotheses, n_terms + 1))
        return false;
    a->bases.count = n_values;
    a->base_scales.count = n_bases;
    a->scratch = calloc(sample->n, (AS_MAX_TOGETHER + 1) * sizeof(double));
    if (!a->scratch) return false;
    for (size_t k = 0; k < sample->n_parameters; k++) {
        for (size_t i = 0; i < sample->n; i++) a->scratch[i] = log2(sample->x[i * sample->n_parameters + k]);
        for (size_t t = 0; t < n_terms; t++) fill_base(a, k, t, a->scratch);
    }
    return true;
}

void as_averaging_free(as_averaging *a) {
    as_vec_free(&a->powers);
    as_vec_free(&a->bases);
    as_vec_free(&a->base_scales);
    as_vec_free(&a->hypotheses);
    as_vec_free(&a->components);
    as_vec_free(&a->pool);
    free(a->scratch);
}

bool as_averaging_usable(const as_averaging *a, size_t parameter, size_t term) {
    return base_scale(a, parameter, term) != 0;
}

/* ---- fits -------------------------------------------------------------------------------------------------------- */

/* A weighted least-squares fit: 1 and the columns, each scaled to 0 … 1 over the points, so that coefficients are
 * effects. */
typedef struct fit {
    size_t size; /* columns and the constant */
    double shift[AS_SHAPE_COLUMNS], scale[AS_SHAPE_COLUMNS];
    double coefficients[MAX_SIZE];
    double factor[MAX_SIZE][MAX_SIZE]; /* lower triangle */
} fit;

/* The values of a column at the points. False where it is constant. */
static bool fill_column(const as_averaging *a, uint16_t parameters, const uint16_t *terms, double *column,
                        double *shift, double *scale) {
    size_t n = a->sample.n;
    bool is_first = true;
    for (size_t k = 0; k < a->sample.n_parameters; k++) {
        if (!(parameters >> k & 1)) continue;
        const double *base = as_averaging_base(a, k, terms[k]);
        for (size_t i = 0; i < n; i++) column[i] = is_first ? base[i] : column[i] * base[i];
        is_first = false;
    }
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        low = column[i] < low ? column[i] : low;
        high = column[i] > high ? column[i] : high;
    }
    *shift = low;
    *scale = 1 / (high - low);
    if (!isfinite(*scale)) return false;
    for (size_t i = 0; i < n; i++) column[i] = (column[i] - low) * *scale;
    return true;
}

/* The Cholesky factor of the weighted products of the columns. False where they depend on each other. */
static bool factor_products(const as_averaging *a, fit *f) {
    const double *w = a->sample.weight;
    size_t n = a->sample.n;
    for (size_t r = 0; r < f->size; r++) {
        const double *row = r ? a->scratch + (r - 1) * n : NULL;
        for (size_t c = 0; c <= r; c++) {
            const double *column = c ? a->scratch + (c - 1) * n : NULL;
            double sum = 0;
            for (size_t i = 0; i < n; i++) sum += w[i] * (row ? row[i] : 1) * (column ? column[i] : 1);
            double diagonal = sum;
            for (size_t k = 0; k < c; k++) sum -= f->factor[r][k] * f->factor[c][k];
            if (c < r) {
                f->factor[r][c] = sum / f->factor[c][c];
            } else {
                if (!(sum > DEPENDENT * diagonal)) return false;
                f->factor[r][r] = sqrt(sum);
            }
        }
    }
    return true;
}

/* Adds the solution for the residuals to the coefficients; gives the weighted squares of what is left. */
static double improve(const as_averaging *a, fit *f, double *residuals) {
    const as_sample *s = &a->sample;
    double right[MAX_SIZE];
    for (size_t r = 0; r < f->size; r++) {
        const double *row = r ? a->scratch + (r - 1) * s->n : NULL;
        double sum = 0;
        for (size_t i = 0; i < s->n; i++) sum += s->weight[i] * residuals[i] * (row ? row[i] : 1);
        for (size_t k = 0; k < r; k++) sum -= f->factor[r][k] * right[k];
        right[r] = sum / f->factor[r][r];
    }
    for (size_t r = f->size; r-- > 0;) {
        for (size_t k = r + 1; k < f->size; k++) right[r] -= f->factor[k][r] * right[k];
        right[r] /= f->factor[r][r];
        f->coefficients[r] += right[r];
    }
    double squares = 0;
    for (size_t i = 0; i < s->n; i++) {
        double value = f->coefficients[0];
        for (size_t r = 1; r < f->size; r++) value += f->coefficients[r] * a->scratch[(r - 1) * s->n + i];
        residuals[i] = s->y[i] - value;
        squares += s->weight[i] * residuals[i] * residuals[i];
    }
    return squares;
}

/* In two rounds, so that coefficients are exact for exact data. False where there is no fit. */
static bool make_fit(const as_averaging *a, const as_shape *shape, const uint16_t *terms, fit *f, double *squares) {
    const as_sample *s = &a->sample;
    f->size = shape->n_columns + 1u;
    if (f->size >= s->n) return false;
    for (size_t c = 0; c < shape->n_columns; c++) {
        if (!fill_column(a, shape->columns[c], terms, a->scratch + c * s->n, &f->shift[c], &f->scale[c])) return false;
    }
    if (!factor_products(a, f)) return false;
    double *residuals = a->scratch + AS_SHAPE_COLUMNS * s->n;
    for (size_t i = 0; i < s->n; i++) residuals[i] = s->y[i];
    for (size_t r = 0; r < f->size; r++) f->coefficients[r] = 0;
    improve(a, f, residuals);
    *squares = improve(a, f, residuals);
    return isfinite(*squares);
}

/* ---- trying ------------------------------------------------------------------------------------------------------ */

/* Weighted products of the columns of several shapes with each other and with the values; the constant is the first. */
typedef struct products {
    size_t n;
    uint16_t columns[AS_MAX_TOGETHER + 1];
    double of[AS_MAX_TOGETHER + 1][AS_MAX_TOGETHER + 1]; /* lower triangle */
    double with_y[AS_MAX_TOGETHER + 1];
    double of_y;
} products;

static size_t find_column(const products *p, uint16_t column) {
    size_t i = 1;
    while (i < p->n && p->columns[i] != column) i++;
    return i;
}

static void add_products(const as_averaging *a, products *p, const double *column) {
    const as_sample *s = &a->sample;
    size_t r = p->n++;
    double with_y = 0, own = 0, sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double weighted = s->weight[i] * column[i];
        sum += weighted;
        own += weighted * column[i];
        with_y += weighted * s->y[i];
    }
    p->of[r][0] = sum;
    p->of[r][r] = own;
    p->with_y[r] = with_y;
    for (size_t c = 1; c < r; c++) {
        const double *other = a->scratch + (c - 1) * s->n;
        double product = 0;
        for (size_t i = 0; i < s->n; i++) product += s->weight[i] * column[i] * other[i];
        p->of[r][c] = product;
    }
}

static void start_products(const as_sample *s, products *p) {
    p->n = 1;
    p->columns[0] = 0;
    double weights = 0, with_y = 0, of_y = 0;
    for (size_t i = 0; i < s->n; i++) {
        weights += s->weight[i];
        with_y += s->weight[i] * s->y[i];
        of_y += s->weight[i] * s->y[i] * s->y[i];
    }
    p->of[0][0] = weights;
    p->with_y[0] = with_y;
    p->of_y = of_y;
}

/* The determinant of the products of a shape's columns and the squares it leaves, by Cholesky's factorisation. False
 * where columns depend on each other. */
static bool solve_shape(const as_sample *s, const products *p, const as_shape *shape, as_weighed *h) {
    size_t at[MAX_SIZE] = {0}, size = shape->n_columns + 1u;
    double factor[MAX_SIZE][MAX_SIZE], solved[MAX_SIZE] = {0}, determinant = 1, squares = p->of_y;
    for (size_t r = 0; r < size; r++) {
        if (r) at[r] = find_column(p, shape->columns[r - 1]);
        for (size_t c = 0; c <= r; c++) {
            double diagonal = at[r] >= at[c] ? p->of[at[r]][at[c]] : p->of[at[c]][at[r]], sum = diagonal;
            for (size_t k = 0; k < c; k++) sum -= factor[r][k] * factor[c][k];
            if (c == r && !(sum > DEPENDENT * diagonal)) return false;
            factor[r][c] = c < r ? sum / factor[c][c] : sqrt(sum);
        }
        double right = p->with_y[at[r]];
        for (size_t k = 0; k < r; k++) right -= factor[r][k] * solved[k];
        solved[r] = right / factor[r][r];
        squares -= solved[r] * solved[r];
        determinant *= factor[r][r];
    }
    h->residual = fmax(squares, ROUNDING * (double)s->n * p->of_y);
    h->log_determinant = 2 * log(determinant);
    return isfinite(h->residual) && isfinite(h->log_determinant);
}

bool as_averaging_try(as_averaging *a, const as_shape *shapes, size_t n, const uint16_t *terms, double log_prior) {
    const as_sample *s = &a->sample;
    products p;
    start_products(s, &p);
    for (size_t i = 0; i < n; i++) {
        bool is_possible = shapes[i].n_columns + 1u < s->n;
        for (size_t c = 0; is_possible && c < shapes[i].n_columns; c++) {
            if (find_column(&p, shapes[i].columns[c]) < p.n) continue;
            double *column = a->scratch + (p.n - 1) * s->n, shift, scale;
            is_possible = fill_column(a, shapes[i].columns[c], terms, column, &shift, &scale);
            p.columns[p.n] = shapes[i].columns[c];
            if (is_possible) add_products(a, &p, column);
        }
        as_weighed h = {.shape = shapes[i], .log_prior = log_prior};
        for (size_t k = 0; k < s->n_parameters; k++) h.terms[k] = terms[k];
        if (is_possible && solve_shape(s, &p, &shapes[i], &h) && !as_vec_append(&a->hypotheses, &h, 1)) return false;
    }
    return true;
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

static unsigned freedom_of(const as_sample *s, unsigned n_columns) {
    return (unsigned)s->n + s->within_freedom - n_columns - 1;
}

/* Squares of residuals and repetitions together; never exactly none. */
static double squares_of(const as_sample *s, double residual, unsigned freedom) {
    return fmax(residual + s->within, freedom * LEAST_NOISE * LEAST_NOISE);
}

static double mean_magnitude(const as_sample *s) {
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) sum += fabs(s->y[i]);
    return sum / (double)s->n;
}

/* The logarithm of the integral of the likelihood over coefficients and noise (which has the prior 1 / noise), without
 * what all share. */
size_t as_averaging_weigh(as_averaging *a) {
    const as_sample *s = &a->sample;
    double per_size[MAX_SIZE + 1], effect = log(EFFECT_WIDTH * mean_magnitude(s));
    for (unsigned c = 0; c <= AS_SHAPE_COLUMNS; c++) {
        int sign;
        double half = freedom_of(s, c) / 2.0;
        bool is_possible = c + 1 < s->n + s->within_freedom;
        per_size[c] =
            is_possible ? lgamma_r(half, &sign) + half * log(2) + (c + 1) / 2.0 * log(2 * M_PI) - c * effect : 0;
    }
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < a->hypotheses.count; i++) {
        as_weighed *h = &AS_AT(as_weighed, &a->hypotheses, i);
        unsigned freedom = freedom_of(s, h->shape.n_columns);
        h->log_weight = h->log_prior + per_size[h->shape.n_columns] - h->log_determinant / 2 -
                        freedom / 2.0 * log(squares_of(s, h->residual, freedom));
        if (best == SIZE_MAX || h->log_weight > AS_AT(as_weighed, &a->hypotheses, best).log_weight) best = i;
    }
    return best;
}

/* Whether residuals are larger than the repetitions explain: an F test, by Wilson and Hilferty's transformation. */
static bool is_misfit(const as_sample *s, const as_weighed *h) {
    if (s->within_freedom == 0) return false;
    double d1 = (double)s->n - h->shape.n_columns - 1, d2 = s->within_freedom;
    if (s->within <= 0) return h->residual > d1 * LEAST_NOISE * LEAST_NOISE;
    double root = cbrt(h->residual / d1 / (s->within / d2)), v1 = 2 / (9 * d1), v2 = 2 / (9 * d2);
    return (1 - v2) * root - (1 - v1) > MISFIT * sqrt(v2 * root * root + v1);
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static int heavier_first(const void *x, const void *y) {
    const as_weighed *a = x, *b = y;
    if (a->log_weight != b->log_weight) return a->log_weight > b->log_weight ? -1 : 1;
    int shapes = memcmp(&a->shape, &b->shape, sizeof a->shape);
    return shapes ? shapes : memcmp(a->terms, b->terms, sizeof a->terms);
}

static bool keep(as_averaging *a, const as_weighed *h, double best) {
    fit f;
    double squares = NAN;
    if (!make_fit(a, &h->shape, h->terms, &f, &squares)) return true;
    as_component *c = as_vec_push(&a->components);
    if (!c) return false;
    c->shape = h->shape;
    memcpy(c->terms, h->terms, sizeof c->terms);
    c->freedom = freedom_of(&a->sample, h->shape.n_columns);
    c->weight = exp(h->log_weight - best);
    c->scale = sqrt(squares_of(&a->sample, squares, c->freedom) / c->freedom);
    c->fit = a->pool.count;
    bool fine = as_vec_append(&a->pool, f.shift, f.size - 1) && as_vec_append(&a->pool, f.scale, f.size - 1) &&
                as_vec_append(&a->pool, f.coefficients, f.size);
    for (size_t r = 0; fine && r < f.size; r++) fine = as_vec_append(&a->pool, f.factor[r], r + 1);
    return fine;
}

/* Of more hypotheses than can be kept, a systematic sample that stands for all: after each AS_MAX_COMPONENTS-th part of
 * the weight, one; those chosen several times weigh as much more. Returns how many are left. */
static size_t thin_out(as_averaging *a, size_t n, double most) {
    as_weighed *h = a->hypotheses.data;
    qsort(h, n, sizeof *h, heavier_first);
    double sum = 0, passed = 0;
    for (size_t i = 0; i < n; i++) sum += exp(h[i].log_weight - most);
    size_t kept = 0;
    for (size_t i = 0, chosen = 0; i < n; i++) {
        passed += exp(h[i].log_weight - most);
        size_t before = chosen;
        while (chosen < AS_MAX_COMPONENTS && (double)chosen + 0.5 <= passed / sum * AS_MAX_COMPONENTS) chosen++;
        if (chosen == before) continue;
        h[kept] = h[i];
        h[kept++].log_weight = most + log((double)(chosen - before));
    }
    return kept;
}

bool as_averaging_finish(as_averaging *a) {
    size_t n = a->hypotheses.count, kept = 0, best = as_averaging_weigh(a);
    if (best != SIZE_MAX && is_misfit(&a->sample, &AS_AT(as_weighed, &a->hypotheses, best))) {
        a->sample.within = 0;
        a->sample.within_freedom = 0;
        best = as_averaging_weigh(a);
    }
    double most = best == SIZE_MAX ? 0 : AS_AT(as_weighed, &a->hypotheses, best).log_weight;
    for (size_t i = 0; i < n; i++) {
        const as_weighed *h = &AS_AT(as_weighed, &a->hypotheses, i);
        if (h->log_weight > most + log(NEGLIGIBLE)) AS_AT(as_weighed, &a->hypotheses, kept++) = *h;
    }
    if (kept > AS_MAX_COMPONENTS) kept = thin_out(a, kept, most);
    bool fine = as_vec_reserve(&a->components, kept) && as_vec_reserve(&a->pool, kept * 8);
    for (size_t i = 0; fine && i < kept; i++) fine = keep(a, &AS_AT(as_weighed, &a->hypotheses, i), most);
    double sum = 0;
    for (size_t i = 0; i < a->components.count; i++) sum += AS_AT(as_component, &a->components, i).weight;
    for (size_t i = 0; i < a->components.count; i++) AS_AT(as_component, &a->components, i).weight /= sum;
    as_vec_free(&a->bases);
    as_vec_free(&a->hypotheses);
    free(a->scratch);
    a->scratch = NULL;
    a->sample.x = a->sample.y = a->sample.weight = NULL;
    return fine;
}

/* ---- predictions ------------------------------------------------------------------------------------------------- */

typedef struct mixture {
    size_t n;
    double weight[AS_MAX_COMPONENTS], centre[AS_MAX_COMPONENTS], spread[AS_MAX_COMPONENTS];
    double deviate[AS_MAX_COMPONENTS]; /* of the upper end, for the component alone */
    unsigned freedom[AS_MAX_COMPONENTS];
} mixture;

static double column_at(const as_averaging *a, const as_component *c, uint16_t parameters, const double *point,
                        const double *logs) {
    double value = 1;
    for (size_t k = 0; k < a->sample.n_parameters; k++) {
        if (!(parameters >> k & 1)) continue;
        value *=
            term_value(&AS_AT(as_power, &a->powers, c->terms[k]), point[k], logs[k]) * base_scale(a, k, c->terms[k]);
    }
    return value;
}

/* Where a component expects a new measurement, and how far off. */
static void predict(const as_averaging *a, const as_component *c, const double *point, const double *logs,
                    double *centre, double *spread) {
    size_t n = c->shape.n_columns;
    const double *shift = &AS_AT(double, &a->pool, c->fit), *scale = shift + n, *coefficients = scale + n,
                 *row = coefficients + n + 1;
    double solved[MAX_SIZE] = {0}, leverage = 0, value = coefficients[0];
    for (size_t r = 0; r <= n; row += ++r) {
        double x = r ? (column_at(a, c, c->shape.columns[r - 1], point, logs) - shift[r - 1]) * scale[r - 1] : 1;
        if (r) value += coefficients[r] * x;
        for (size_t k = 0; k < r; k++) x -= row[k] * solved[k];
        solved[r] = x / row[r];
        leverage += solved[r] * solved[r];
    }
    double own = fmax(fabs(value), a->sample.floor);
    *centre = value;
    *spread = c->scale * sqrt(a->sample.new_variance * own * own + leverage);
}

/* The logarithm of the probability beyond a value (sign -1: below it, 1: above it), relative to `tail`. */
static double beyond(const mixture *m, double value, double sign, double tail) {
    double sum = 0;
    for (size_t i = 0; i < m->n; i++)
        sum += m->weight[i] * as_student_cdf(sign * (m->centre[i] - value) / m->spread[i], m->freedom[i]);
    return log(sum / tail);
}

/* The value beyond which a new measurement falls with probability `tail`: somewhere between those of the components
 * alone. By the Illinois method; in the logarithm of the probability, as that is nearly straight far out. */
static double quantile(const mixture *m, double tail, double sign) {
    double outer = -INFINITY, inner = INFINITY; /* times sign: outer ones have less beyond them */
    for (size_t i = 0; i < m->n; i++) {
        double alone = sign * m->centre[i] + m->deviate[i] * m->spread[i];
        outer = fmax(outer, alone);
        inner = fmin(inner, alone);
    }
    double less = beyond(m, sign * outer, sign, tail), more = beyond(m, sign * inner, sign, tail);
    if (!(less < -SAME_PROBABILITY)) return sign * outer;
    if (!(more > SAME_PROBABILITY)) return sign * inner;
    for (int i = 0, side = 0; i < MAX_STEPS; i++) {
        bool is_creeping = i % 8 == 7;
        double next = is_creeping ? (inner + outer) / 2 : (inner * less - outer * more) / (less - more);
        double here = beyond(m, sign * next, sign, tail);
        if (fabs(here) < SAME_PROBABILITY || next == inner || next == outer) return sign * next;
        if (here < 0) {
            outer = next;
            less = here;
            if (side == -1) more /= 2;
            side = -1;
        } else {
            inner = next;
            more = here;
            if (side == 1) less /= 2;
            side = 1;
        }
    }
    return sign * (inner + outer) / 2;
}

void as_averaging_interval(const as_averaging *a, const double *point, double probability, double *low, double *high) {
    *low = *high = NAN;
    mixture m = {.n = a->components.count};
    if (m.n == 0 || !(probability > 0 && probability < 1)) return;
    double logs[AS_MAX_FACTORS], tail = (1 - probability) / 2;
    for (size_t k = 0; k < a->sample.n_parameters; k++) logs[k] = log2(point[k]);
    for (size_t i = 0; i < m.n; i++) {
        const as_component *c = &AS_AT(as_component, &a->components, i);
        predict(a, c, point, logs, &m.centre[i], &m.spread[i]);
        if (!isfinite(m.centre[i]) || !isfinite(m.spread[i])) return;
        m.weight[i] = c->weight;
        m.freedom[i] = c->freedom;
        bool is_known = i && c->freedom == m.freedom[i - 1];
        m.deviate[i] = is_known ? m.deviate[i - 1] : as_student_quantile(1 - tail, c->freedom);
    }
    *low = quantile(&m, tail, -1);
    *high = quantile(&m, tail, 1);
}
