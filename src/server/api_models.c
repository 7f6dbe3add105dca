/* Models to be evaluated elsewhere (api/models): their terms, and the intervals of predictions at some places. A report
 * has them, so that its page predicts as the server does. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/scaling/coordinates.h"
#include "core/parallel.h"
#include "render/plot_axis.h"
#include "server/scale.h"

enum {
    MOST_MODELS = 1000000, /* in a report */
    MOST_SENT = 1000,      /* to a client */
    MOST_DETAILS = 5000,
    MOST_PLACES = 1024,  /* of intervals, all combinations of the parameters' values */
    FINEST = 4,          /* steps to a doubling, as the page's slider has them */
    FURTHEST = 1024,     /* times the largest value, as well */
    INTERVAL_DIGITS = 4, /* as many as anybody sees */
    PLACE_DIGITS = 4
};

typedef struct models {
    as_scale_view *scale;
    const uint32_t *order; /* by growth */
    size_t n_rows, n_details;
    as_vec *ladders;  /* double: of each parameter the values at which there are intervals */
    size_t n_places;  /* their combinations; 0: there are no intervals */
    as_interval *all; /* n_places for each row that has details, and those of the total */
    bool failed;      /* memory is out */
    as_vec text;
    as_builder builder;
} models;

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* The measured values, and equal factors from the first of them to far beyond the last: `steps` to a doubling. Whole
 * numbers stay whole. Where there are no factors, equal steps. */
static bool make_ladder(const as_dataset *ds, assay_id parameter, double steps, as_vec *out) {
    if (!as_parameter_values(ds, parameter, out) || out->count == 0) return false;
    double first = AS_AT(double, out, 0), last = AS_AT(double, out, out->count - 1);
    bool is_whole = true, fine = true;
    size_t n = 0;
    for (size_t i = 0; i < out->count; i++) is_whole &= AS_AT(double, out, i) == floor(AS_AT(double, out, i));
    if (first > 0) {
        double factor = pow(2, 1 / steps), step = factor < 2 ? 2 : factor;
        /* Numbers below DBL_MIN may be the same again times a factor */
        for (double x = steps >= 1 ? fmax(first, DBL_MIN) : last; fine && x < last * FURTHEST * 1.0001; x *= factor) {
            double place = is_whole ? round(x) : as_real_round(x, PLACE_DIGITS);
            fine = as_vec_append(out, &place, 1);
        }
        for (double x = last; fine && x < last * FURTHEST; x *= step) fine = as_vec_append(out, &x, 1);
        fine = fine && as_vec_append(out, &(double){last * FURTHEST}, 1);
    } else {
        enum { FURTHER = 4 };
        double step = last > first ? (last - first) / 2 : 1;
        for (size_t i = 1; fine && i <= FURTHER; i++) fine = as_vec_append(out, &(double){last + (double)i * step}, 1);
    }
    qsort(out->data, out->count, sizeof(double), as_real_compare);
    for (size_t i = 0; i < out->count; i++) {
        double x = AS_AT(double, out, i);
        if (n == 0 || x != AS_AT(double, out, n - 1)) AS_AT(double, out, n++) = x;
    }
    out->count = n;
    return fine;
}

/* As finely as there may be places. */
static bool make_places(models *m) {
    const as_dataset *ds = as_scale_ds(m->scale);
    for (double steps = FINEST; steps >= 0.1; steps /= 2) {
        size_t n = 1;
        for (assay_id k = 0; k < as_ds_parameters(ds); k++) {
            if (!make_ladder(ds, k, steps, &m->ladders[k])) return false;
            if (!as_mul_size(n, m->ladders[k].count, &n)) n = SIZE_MAX / 2;
        }
        m->n_places = n <= MOST_PLACES ? n : 0;
        if (m->n_places) return true;
    }
    return true;
}

/* The values of the parameters at a place; the last one changes fastest. */
static void place_at(const models *m, size_t place, double *out) {
    for (size_t k = as_ds_parameters(as_scale_ds(m->scale)); k-- > 0;) {
        out[k] = AS_AT(double, &m->ladders[k], place % m->ladders[k].count);
        place /= m->ladders[k].count;
    }
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

static void set_intervals(void *user, size_t row) {
    models *m = user;
    const as_scale_view *s = m->scale;
    const as_predictor *p = &s->predictor;
    bool is_total = row == m->n_details;
    uint32_t model = is_total ? 0 : m->order[row], total = p->total_series[s->metric];
    as_interval *out = m->all + row * m->n_places;
    for (size_t i = 0; i < m->n_places; i++) out[i] = (as_interval){NAN, NAN};
    if (is_total && total == AS_TOTAL) return;
    as_forecast *forecast = is_total ? as_forecast_new(p->totals, &p->fit.options, total, NULL)
                                     : as_forecast_new(s->study.ds, &p->fit.options, as_scale_note(s, model)->series,
                                                       as_scale_model(s, model));
    double *point = malloc((as_ds_parameters(as_scale_ds(s)) + 1) * sizeof *point);
    if (!forecast || !point) __atomic_store_n(&m->failed, true, __ATOMIC_RELAXED);
    for (size_t i = 0; forecast && point && i < m->n_places; i++) {
        place_at(m, i, point);
        out[i] = as_forecast_at(forecast, point, s->request.confidence);
    }
    as_forecast_free(forecast);
    free(point);
}

static bool make_intervals(models *m) {
    m->all = calloc((m->n_details + 1) * (m->n_places + 1), sizeof *m->all);
    if (!m->all) return false;
    if (m->n_places) as_parallel(m->n_details + 1, 0, set_intervals, m);
    return !m->failed;
}

static void build_intervals(models *m, size_t row) {
    const as_interval *of = m->all + row * m->n_places;
    as_build_array(&m->builder, "low", false);
    for (size_t i = 0; i < m->n_places; i++)
        as_build_number(&m->builder, NULL, as_real_round(of[i].low, INTERVAL_DIGITS));
    as_build_end(&m->builder);
    as_build_array(&m->builder, "high", false);
    for (size_t i = 0; i < m->n_places; i++)
        as_build_number(&m->builder, NULL, as_real_round(of[i].high, INTERVAL_DIGITS));
    as_build_end(&m->builder);
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

static bool is_simple(const as_dataset *ds, const as_model *model) {
    for (uint32_t i = 0; i < model->n_terms; i++) {
        if (as_ds_term(ds, model->first_term + i)->n_pieces) return false;
    }
    return model->n_segments <= 1;
}

static double exponent_of(const as_dataset *ds, as_str text) {
    as_exponent exponent;
    const char *written = as_ds_text(ds, text);
    return written && as_exponent_parse(written, &exponent) ? exponent.value : 0;
}

/* The factors of the term that begins at *i, which is then behind it, as JSON into out: "[0,1.5,2],[1,1,0]": parameter,
 * power and that of the logarithm. */
static bool term_factors(const as_dataset *ds, const as_model *model, uint32_t *i, as_vec *out) {
    uint32_t number = as_ds_term(ds, model->first_term + *i)->term;
    out->count = 0;
    for (; *i < model->n_terms; ++*i) {
        const as_term *term = as_ds_term(ds, model->first_term + *i);
        char parameter[AS_NUMBER_SIZE], power[AS_NUMBER_SIZE], log[AS_NUMBER_SIZE];
        if (term->term != number) break;
        as_uint_format(term->parameter, parameter);
        as_real_format(exponent_of(ds, term->exponent), power);
        as_real_format(exponent_of(ds, term->log_exponent), log);
        const char *const parts[] = {out->count ? ",[" : "[", parameter, ",", power, ",", log, "]"};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            if (!as_vec_text(out, parts[k])) return false;
        }
    }
    return as_vec_append(out, "", 1);
}

/* [constant, [coefficient, factors…]…]; null where a model has no value. */
static bool build_terms(models *m, const as_model *model) {
    const as_dataset *ds = as_scale_ds(m->scale);
    if (model->n_segments == 0) {
        as_build_text(&m->builder, "terms", NULL);
        return true;
    }
    as_build_array(&m->builder, "terms", false);
    as_build_number(&m->builder, NULL, as_ds_segment(ds, model->first_segment)->constant);
    for (uint32_t i = 0; i < model->n_terms;) {
        double coefficient = as_ds_term(ds, model->first_term + i)->coefficient;
        if (!term_factors(ds, model, &i, &m->text)) return false;
        as_build_array(&m->builder, NULL, false);
        as_build_number(&m->builder, NULL, coefficient);
        as_build_json(&m->builder, NULL, m->text.data);
        as_build_end(&m->builder);
    }
    as_build_end(&m->builder);
    return true;
}

/* ---- what has no row --------------------------------------------------------------------------------------------- */

/* The sum of functions: terms with the same factors are one. */
typedef struct sum {
    double constant;
    as_arena arena;
    as_strings factors;  /* "[0,1,0]" */
    as_vec coefficients; /* double, of each string */
} sum;

static bool add_to_sum(models *m, const as_model *model, sum *to) {
    const as_dataset *ds = as_scale_ds(m->scale);
    to->constant += model->n_segments ? as_ds_segment(ds, model->first_segment)->constant : NAN;
    for (uint32_t i = 0; i < model->n_terms;) {
        double coefficient = as_ds_term(ds, model->first_term + i)->coefficient;
        if (!term_factors(ds, model, &i, &m->text)) return false;
        as_str factors = as_intern(&to->factors, m->text.data, m->text.count - 1);
        if (factors == AS_NO_STR) return false;
        while (to->coefficients.count <= factors) {
            if (!as_vec_append(&to->coefficients, &(double){0}, 1)) return false;
        }
        AS_AT(double, &to->coefficients, factors) += coefficient;
    }
    return true;
}

static void build_sum(models *m, const sum *of) {
    as_build_array(&m->builder, "rest", false);
    as_build_number(&m->builder, NULL, of->constant);
    for (as_str id = 0; id < of->coefficients.count; id++) {
        double coefficient = AS_AT(double, &of->coefficients, id);
        if (coefficient == 0) continue;
        as_build_array(&m->builder, NULL, false);
        as_build_number(&m->builder, NULL, coefficient);
        as_build_json(&m->builder, NULL, as_str_text(&of->factors, id));
        as_build_end(&m->builder);
    }
    as_build_end(&m->builder);
}

/* What the models without a row add to the total. */
static bool build_rest(models *m) {
    const as_scale_view *s = m->scale;
    sum rest = {0};
    bool fine = true;
    as_arena_init(&rest.arena, NULL);
    as_strings_init(&rest.factors, &rest.arena);
    as_vec_init(&rest.coefficients, sizeof(double), NULL);
    for (size_t i = m->n_rows; fine && i < s->predictor.fit.n; i++) {
        if (s->predictor.parts[as_scale_note(s, m->order[i])->series])
            fine = add_to_sum(m, as_scale_model(s, m->order[i]), &rest);
    }
    if (fine) build_sum(m, &rest);
    as_strings_free(&rest.factors);
    as_arena_free(&rest.arena);
    as_vec_free(&rest.coefficients);
    return fine;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Other orders of the rows. */
static bool build_orders(models *m) {
    static const struct {
        const char *name;
        as_scale_order order;
    } orders[] = {{"error", AS_BY_ERROR}, {"name", AS_BY_NAME}, {"tree", AS_BY_TREE}};
    size_t n = m->scale->predictor.fit.n;
    uint32_t *row_of = malloc((n + 1) * sizeof *row_of);
    if (!row_of) return false;
    for (size_t i = 0; i < n; i++) row_of[m->order[i]] = (uint32_t)i;
    bool fine = true;
    as_build_object(&m->builder, "orders", false);
    for (size_t k = 0; fine && k < sizeof orders / sizeof *orders; k++) {
        const uint32_t *list = as_scale_ordered(m->scale, orders[k].order);
        fine = list != NULL;
        as_build_array(&m->builder, orders[k].name, false);
        for (size_t i = 0; fine && i < n; i++) {
            if (row_of[list[i]] < m->n_rows) as_build_int(&m->builder, NULL, row_of[list[i]]);
        }
        as_build_end(&m->builder);
    }
    as_build_end(&m->builder);
    free(row_of);
    return fine;
}

/* Of each parameter the values at which there are intervals, and whether its axis is logarithmic. */
static bool build_places(models *m) {
    const as_dataset *ds = as_scale_ds(m->scale);
    bool fine = true, is_log;
    as_build_array(&m->builder, "places", false);
    for (size_t k = 0; k < as_ds_parameters(ds); k++) {
        as_build_array(&m->builder, NULL, false);
        for (size_t i = 0; m->n_places && i < m->ladders[k].count; i++)
            as_build_number(&m->builder, NULL, AS_AT(double, &m->ladders[k], i));
        as_build_end(&m->builder);
    }
    as_build_end(&m->builder);
    as_build_array(&m->builder, "is_log", false);
    for (assay_id k = 0; fine && k < as_ds_parameters(ds); k++) {
        m->ladders[k].count = 0;
        fine = as_scale_along(m->scale, k, 0, -1, 2, &m->ladders[k], &is_log);
        as_build_bool(&m->builder, NULL, fine && is_log);
    }
    as_build_end(&m->builder);
    return fine;
}

static bool build_model(models *m, size_t row) {
    const as_scale_view *s = m->scale;
    uint32_t number = m->order[row];
    const as_model *model = as_scale_model(s, number);
    const as_fit_note *note = as_scale_note(s, number);
    as_build_object(&m->builder, NULL, false);
    bool fine = as_build_model(&m->builder, s, number, &m->text);
    as_build_int(&m->builder, "number", number);
    as_build_int(&m->builder, "depth", as_ds_context(as_scale_ds(s), model->context)->depth);
    as_build_int(&m->builder, "points", note->n_points);
    as_build_bool(&m->builder, "is_part", s->predictor.parts[note->series]);
    fine = fine && build_terms(m, model);
    if (row < m->n_details) {
        fine = fine && as_build_measured(&m->builder, "measured", s, number);
        build_intervals(m, row);
    }
    as_build_end(&m->builder);
    return fine;
}

static bool build(models *m) {
    const as_scale_view *s = m->scale;
    as_build_object(&m->builder, NULL, false);
    as_build_int(&m->builder, "n", (int64_t)s->predictor.fit.n);
    as_build_int(&m->builder, "processes", s->request.processes);
    as_build_number(&m->builder, "fewest", s->request.fewest);
    as_build_object(&m->builder, "total", false);
    build_intervals(m, m->n_details);
    as_build_end(&m->builder);
    bool fine = build_places(m) && build_orders(m) && build_rest(m);
    as_build_array(&m->builder, "rows", false);
    for (size_t i = 0; fine && i < m->n_rows; i++) fine = build_model(m, i);
    as_build_end(&m->builder);
    as_build_end(&m->builder);
    return fine;
}

static assay_status prepare(models *m, const as_request *request, assay_error *error) {
    as_scale_view *s = m->scale;
    size_t n = s->predictor.fit.n;
    int64_t rows, details;
    AS_TRY(as_request_number(request, "rows", 0, request->connection ? MOST_SENT : MOST_MODELS, 200, &rows, error));
    AS_TRY(as_request_number(request, "details", 0, MOST_DETAILS, 0, &details, error));
    for (uint32_t i = 0; i < n; i++) {
        if (!is_simple(as_scale_ds(s), as_scale_model(s, i)))
            return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "models in segments are told by 'curve' alone");
    }
    m->n_rows = (size_t)rows < n ? (size_t)rows : n;
    m->n_details = (size_t)details < m->n_rows ? (size_t)details : m->n_rows;
    m->order = as_scale_ordered(s, AS_BY_GROWTH);
    return m->order && m->ladders && make_places(m) && make_intervals(m) ? ASSAY_OK : as_fail_memory(error, NULL);
}

static assay_status answer(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    models m = {.builder = as_builder_of(out)};
    AS_TRY(as_scale_open(viewing, request, &m.scale, error));
    size_t n = as_ds_parameters(as_scale_ds(m.scale));
    m.builder.compact = true;
    as_vec_init(&m.text, 1, NULL);
    m.ladders = calloc(n + 1, sizeof *m.ladders);
    for (size_t k = 0; m.ladders && k < n; k++) as_vec_init(&m.ladders[k], sizeof(double), NULL);
    assay_status status = prepare(&m, request, error);
    if (status == ASSAY_OK && !build(&m)) status = as_fail_memory(error, NULL);
    as_scale_close(m.scale);
    for (size_t k = 0; m.ladders && k < n; k++) as_vec_free(&m.ladders[k]);
    free(m.ladders);
    free(m.all);
    as_vec_free(&m.text);
    return status;
}

const as_endpoint as_endpoint_models = {.path = "models", .answer = answer};
