/* Prediction intervals: what a series says about a new measurement. */
#include "analysis/scaling/interval.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/scaling/averaging.h"
#include "analysis/scaling/combinations.h"
#include "analysis/scaling/evaluate.h"

/* Noise no longer shrinks with values smaller than this part of the largest; where values have both signs or are 0,
 * than that part. */
#define LEAST_VALUE        1e-6
#define LEAST_SIGNED_VALUE 0.1

enum { LEAST_POINTS = 3, MOST_REPETITIONS = 1000000, MOST_FREEDOM = 100000000 };

/* The measurements of one segment, or all. */
typedef struct part {
    double from, to;
    bool is_known, is_zero; /* is_zero: all values are 0 */
    bool is_positive;       /* no value below 0 */
    double largest;         /* magnitude of a value */
    as_averaging averaging; /* where known */
} part;

struct as_forecast {
    const as_dataset *ds;
    bool has_model;
    as_model model;
    size_t n_parts;
    part parts[];
};

/* ---- measurements ------------------------------------------------------------------------------------------------ */

typedef struct observation {
    assay_id point;
    double value, std;
    double repetitions;
} observation;

typedef struct gathering {
    as_statistic statistic;
    as_vec observations;
    bool failed; /* memory is out */
} gathering;

static bool gather(void *user, const as_measurement *m) {
    gathering *g = user;
    double value = as_statistic_of(g->statistic, m);
    if (!isfinite(value)) return true;
    observation *o = as_vec_push(&g->observations);
    if (!o) {
        g->failed = true;
        return false;
    }
    bool is_repeated = m->repetitions > 1;
    *o = (observation){.point = m->point,
                       .value = value,
                       .std = is_repeated && isfinite(m->std) ? m->std : NAN,
                       .repetitions = is_repeated ? fmin((double)m->repetitions, MOST_REPETITIONS) : 1};
    return true;
}

/* The variance of a statistic of normal repetitions, relative to that of one of them. Good to a few percent. */
static double variance_of(as_statistic statistic, double repetitions) {
    double logarithm = log(repetitions);
    switch (statistic) {
    case AS_MEAN: return 1 / repetitions;
    case AS_MEDIAN: return M_PI_2 / (repetitions + M_PI_2 - 1);
    case AS_MINIMUM:
    case AS_MAXIMUM: return 1 / (1 + 0.6 * logarithm + 0.1 * logarithm * logarithm);
    }
    return 1;
}

/* ---- one part ---------------------------------------------------------------------------------------------------- */

static bool is_in(const as_dataset *ds, const part *p, const observation *o) {
    double x = as_ds_point(ds, o->point)[0];
    return p->from == -INFINITY && p->to == INFINITY ? true : x >= p->from && x <= p->to;
}

static void describe(part *p, const observation *o, size_t n, bool *is_signed) {
    p->is_positive = true;
    bool is_negative = true, has_zero = false;
    for (size_t i = 0; i < n; i++) {
        p->largest = fmax(p->largest, fabs(o[i].value));
        p->is_positive &= o[i].value >= 0;
        is_negative &= o[i].value <= 0;
        has_zero |= o[i].value == 0;
    }
    p->is_zero = p->largest == 0;
    *is_signed = has_zero || (!p->is_positive && !is_negative);
}

/* Fills x, y and weights, and what the repetitions say about the noise. */
static void fill_sample(const as_dataset *ds, as_statistic statistic, const part *p, const observation *o, as_sample *s,
                        double *x, double *y) {
    double variances = 0, freedom = 0;
    for (size_t i = 0; i < s->n; i++) {
        memcpy(x + i * s->n_parameters, as_ds_point(ds, o[i].point), s->n_parameters * sizeof *x);
        y[i] = o[i].value / p->largest;
        double magnitude = fmax(fabs(y[i]), s->floor), variance = variance_of(statistic, o[i].repetitions);
        s->weight[i] = 1 / (variance * magnitude * magnitude);
        variances += variance;
        if (isnan(o[i].std)) continue;
        double relative = o[i].std / p->largest / magnitude;
        s->within += o[i].repetitions * relative * relative;
        freedom += o[i].repetitions - 1;
    }
    s->new_variance = variances / (double)s->n;
    if (!isfinite(s->within)) s->within = freedom = 0;
    s->within_freedom = (unsigned)fmin(freedom, MOST_FREEDOM);
    s->x = x;
    s->y = y;
}

/* ---- hypotheses -------------------------------------------------------------------------------------------------- */

static uint16_t find_power(as_vec *powers, const as_power *wanted) {
    for (size_t i = 0; i < powers->count; i++) {
        if (as_power_compare(&AS_AT(as_power, powers, i), wanted) == 0) return (uint16_t)i;
    }
    if (powers->count >= AS_NO_TERM || !as_vec_append(powers, wanted, 1)) return AS_NO_TERM;
    return (uint16_t)(powers->count - 1);
}

/* The terms of the model, added to the powers where they are not among them. */
static void choose_terms(const as_forecast *f, as_vec *powers, uint16_t *chosen) {
    for (size_t k = 0; k < AS_MAX_FACTORS; k++) chosen[k] = AS_NO_TERM;
    for (uint32_t i = 0; f->has_model && i < f->model.n_terms; i++) {
        const as_term *term = as_ds_term(f->ds, f->model.first_term + i);
        const char *power = as_ds_text(f->ds, term->exponent), *log = as_ds_text(f->ds, term->log_exponent);
        as_power own;
        if (term->n_pieces || term->parameter >= AS_MAX_FACTORS || !power || !log) continue;
        if (as_exponent_parse(power, &own.power) && as_exponent_parse(log, &own.log))
            chosen[term->parameter] = find_power(powers, &own);
    }
}

/* The refining modeler also goes beyond the list, up to the fifth power. */
static bool add_steep_powers(as_vec *powers, bool allow_log) {
    for (int power = 4; power <= 5; power++) {
        for (int log = 0; log <= (allow_log ? 2 : 0); log++) {
            as_power *added = as_vec_push(powers);
            if (!added) return false;
            *added = (as_power){as_exponent_fraction(power, 1), as_exponent_fraction(log, 1)};
        }
    }
    return true;
}

/* The search space of the fit, without logarithms where some coordinate has none. */
static bool list_powers(const as_fit_options *options, const as_sample *s, as_vec *powers) {
    const as_single_options *o = &options->single;
    bool has_small = false;
    for (size_t i = 0; i < s->n * s->n_parameters; i++)
        has_small |= o->allow_negative_exponents ? s->x[i] <= 1 : s->x[i] < 1;
    if (!as_power_list(powers, o->allow_log_terms, o->allow_negative_exponents, o->poly_exponents, o->log_exponents,
                       o->retain_default_exponents, o->force_combination_exponents))
        return false;
    as_modeler single = options->modeler == AS_MODELER_MULTI ? options->single_modeler : options->modeler;
    if (single == AS_MODELER_REFINING && !add_steep_powers(powers, o->allow_log_terms)) return false;
    if (has_small) as_power_list_drop_logs(powers);
    return true;
}

static bool average(const as_forecast *f, const as_fit_options *options, const as_sample *s, part *p) {
    as_vec powers;
    uint16_t chosen[AS_MAX_FACTORS];
    as_vec_init(&powers, sizeof(as_power), NULL);
    bool fine = list_powers(options, s, &powers);
    if (fine) choose_terms(f, &powers, chosen);
    fine = fine && as_averaging_init(&p->averaging, s, &powers);
    as_vec_free(&powers);
    p->is_known = true;
    if (fine && s->n_parameters == 1) fine = as_try_terms(&p->averaging);
    if (fine && s->n_parameters > 1) fine = as_try_combinations(&p->averaging, chosen, options->allow_combinations);
    return fine && as_averaging_finish(&p->averaging);
}

/* ---- forecasts --------------------------------------------------------------------------------------------------- */

/* observations: all of the series; the part's own are moved to the front. */
static bool make_part(const as_forecast *f, const as_fit_options *options, as_vec *observations, part *p) {
    observation *o = observations->data;
    size_t n = 0, n_parameters = as_ds_parameters(f->ds);
    for (size_t i = 0; i < observations->count; i++) {
        if (!is_in(f->ds, p, &o[i])) continue;
        observation kept = o[i];
        o[i] = o[n];
        o[n++] = kept;
    }
    bool is_signed;
    describe(p, o, n, &is_signed);
    if (n < LEAST_POINTS || p->is_zero || n_parameters > AS_MAX_FACTORS) {
        p->is_zero &= n >= LEAST_POINTS;
        return true;
    }
    double *numbers = calloc(n, (n_parameters + 2) * sizeof *numbers);
    if (!numbers) return false;
    as_sample s = {.n = n,
                   .n_parameters = n_parameters,
                   .weight = numbers + n * (n_parameters + 1),
                   .floor = is_signed ? LEAST_SIGNED_VALUE : LEAST_VALUE};
    fill_sample(f->ds, options->measure, p, o, &s, numbers, numbers + n * n_parameters);
    bool fine = average(f, options, &s, p);
    free(numbers);
    return fine;
}

as_forecast *as_forecast_new(const as_dataset *ds, const as_fit_options *options, uint32_t series,
                             const as_model *model) {
    size_t n_parts = model && as_ds_parameters(ds) == 1 && model->n_segments > 1 ? model->n_segments : 1;
    as_forecast *f = calloc(1, sizeof *f + n_parts * sizeof *f->parts);
    if (!f) return NULL;
    *f = (as_forecast){.ds = ds, .has_model = model != NULL, .n_parts = n_parts};
    if (model) f->model = *model;
    gathering g = {.statistic = options->measure};
    as_vec_init(&g.observations, sizeof(observation), NULL);
    bool fine = as_measure(ds, as_ds_series(ds, series), gather, &g) && !g.failed;
    for (size_t i = 0; fine && i < n_parts; i++) {
        part *p = &f->parts[i];
        const as_segment *segment = n_parts > 1 ? as_ds_segment(ds, model->first_segment + i) : NULL;
        p->from = segment ? segment->from : -INFINITY;
        p->to = segment ? segment->to : INFINITY;
        fine = make_part(f, options, &g.observations, p);
    }
    as_vec_free(&g.observations);
    if (fine) return f;
    as_forecast_free(f);
    return NULL;
}

void as_forecast_free(as_forecast *f) {
    for (size_t i = 0; f && i < f->n_parts; i++) {
        if (f->parts[i].is_known) as_averaging_free(&f->parts[i].averaging);
    }
    free(f);
}

as_interval as_forecast_at(const as_forecast *f, const double *point, double probability) {
    as_interval unknown = {NAN, NAN}, interval = unknown;
    const part *p = NULL;
    for (size_t i = 0; i < f->n_parts && !p; i++) {
        if (f->n_parts == 1 || (point[0] >= f->parts[i].from && point[0] <= f->parts[i].to)) p = &f->parts[i];
    }
    double value = f->has_model ? as_model_at(f->ds, &f->model, point) : NAN;
    if (!p || (f->has_model && !isfinite(value))) return unknown;
    if (p->is_zero) interval = (as_interval){0, 0};
    if (p->is_known) as_averaging_interval(&p->averaging, point, probability, &interval.low, &interval.high);
    if (p->is_known) {
        interval.low *= p->largest;
        interval.high *= p->largest;
    }
    if (!isfinite(interval.low) || !isfinite(interval.high)) return unknown;
    if (p->is_positive) {
        interval.low = fmax(interval.low, 0);
        interval.high = fmax(interval.high, 0);
    }
    if (f->has_model) {
        interval.low = fmin(interval.low, value);
        interval.high = fmax(interval.high, value);
    }
    return interval;
}
