/* Models as lines: measured points, curve and band of some call paths (api/curve), and why a model is what it is
 * (api/why). */
#include <stdlib.h>
#include <string.h>

#include "server/scale.h"

enum { PLACES = 144, MOST_CURVES = 12 };

typedef struct picture {
    as_scale_view *scale;
    assay_id over;
    double *at;    /* where the other parameters are held */
    as_vec places; /* double, ascending */
    bool is_log;
    as_vec models; /* uint32_t */
    as_builder builder;
    as_vec text;
} picture;

/* Places where a model changes from one piece to the next along the parameter: there, curves jump. */
static bool add_bounds(picture *p, const as_model *model, uint32_t first, uint32_t n) {
    const as_dataset *ds = as_scale_ds(p->scale);
    double low = AS_AT(double, &p->places, 0), high = AS_AT(double, &p->places, PLACES - 1);
    for (uint32_t i = first; n > 1 && i < first + n; i++) {
        const as_segment *segment = as_ds_segment(ds, model->first_segment + i);
        double bounds[] = {segment->from, segment->to, nextafter(segment->from, -INFINITY),
                           nextafter(segment->to, INFINITY)};
        for (size_t k = 0; k < 4; k++) {
            if (bounds[k] > low && bounds[k] < high && !as_vec_append(&p->places, &bounds[k], 1)) return false;
        }
    }
    return true;
}

/* The places are the same for all curves of an answer. False when memory is out. */
static bool add_changes(picture *p) {
    const as_dataset *ds = as_scale_ds(p->scale);
    size_t before = p->places.count;
    for (size_t k = 0; k < p->models.count; k++) {
        const as_model *model = as_scale_model(p->scale, AS_AT(uint32_t, &p->models, k));
        if (p->over == 0 && !add_bounds(p, model, 0, model->n_segments)) return false;
        for (uint32_t i = 0; i < model->n_terms; i++) {
            const as_term *term = as_ds_term(ds, model->first_term + i);
            if (term->parameter == p->over && !add_bounds(p, model, term->first_piece, term->n_pieces)) return false;
        }
    }
    double *places = p->places.data;
    size_t n = 0;
    if (p->places.count == before) return true;
    qsort(places, p->places.count, sizeof *places, as_real_compare);
    for (size_t i = 0; i < p->places.count; i++) {
        if (n == 0 || places[i] != places[n - 1]) places[n++] = places[i];
    }
    p->places.count = n;
    return true;
}

/* "y", and "low" and "high" around it. */
static bool build_curve(picture *p, uint32_t number) {
    as_scale_view *s = p->scale;
    const as_dataset *ds = as_scale_ds(s);
    const as_model *model = as_scale_model(s, number);
    size_t n = p->places.count;
    double *numbers = malloc(3 * n * sizeof *numbers);
    const as_forecast *forecast = as_scale_forecast(s, number);
    bool fine = numbers && forecast;
    for (size_t i = 0; i < n && fine; i++) {
        p->at[p->over] = AS_AT(double, &p->places, i);
        as_interval band = as_forecast_at(forecast, p->at, s->request.confidence);
        numbers[i] = as_model_at(ds, model, p->at);
        numbers[n + i] = isnan(numbers[i]) ? NAN : band.low;
        numbers[2 * n + i] = isnan(numbers[i]) ? NAN : band.high;
    }
    static const char *const names[] = {"y", "low", "high"};
    for (size_t k = 0; k < 3 && fine; k++) {
        as_build_array(&p->builder, names[k], false);
        for (size_t i = 0; i < n; i++) as_build_number(&p->builder, NULL, numbers[k * n + i]);
        as_build_end(&p->builder);
    }
    free(numbers);
    return fine;
}

static bool build(picture *p) {
    const as_dataset *ds = as_scale_ds(p->scale);
    as_build_object(&p->builder, NULL, false);
    as_build_text(&p->builder, "over", as_ds_parameter(ds, p->over));
    as_build_bool(&p->builder, "is_log", p->is_log);
    as_build_point(&p->builder, "at", ds, p->at);
    as_build_array(&p->builder, "x", false);
    for (size_t i = 0; i < p->places.count; i++) as_build_number(&p->builder, NULL, AS_AT(double, &p->places, i));
    as_build_end(&p->builder);
    as_build_array(&p->builder, "curves", false);
    for (size_t i = 0; i < p->models.count; i++) {
        uint32_t model = AS_AT(uint32_t, &p->models, i);
        as_build_object(&p->builder, NULL, false);
        if (!as_build_model(&p->builder, p->scale, model, &p->text) || !build_curve(p, model) ||
            !as_build_measured(&p->builder, "measured", p->scale, model))
            return false;
        as_build_end(&p->builder);
    }
    as_build_end(&p->builder);
    as_build_end(&p->builder);
    return true;
}

static assay_status prepare(picture *p, const as_request *request, assay_error *error) {
    const as_scale_view *s = p->scale;
    double to;
    int log;
    if (!p->at) return as_fail_memory(error, NULL);
    AS_TRY(as_scale_chosen(s, request, MOST_CURVES, &p->models, error));
    AS_TRY(as_scale_parameter(s, as_request_text(request, "over"), s->request.processes, &p->over, error));
    AS_TRY(as_scale_at(s, request, p->at, error));
    AS_TRY(as_request_real(request, "to", p->at[p->over], &to, error));
    AS_TRY(as_scale_log(request, &log, error));
    bool fine = as_scale_along(s, p->over, to, log, PLACES, &p->places, &p->is_log) && add_changes(p);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

static assay_status answer_curve(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    picture p = {.builder = as_builder_of(out)};
    AS_TRY(as_scale_open(viewing, request, &p.scale, error));
    p.builder.compact = true;
    as_vec_init(&p.places, sizeof(double), NULL);
    as_vec_init(&p.models, sizeof(uint32_t), NULL);
    as_vec_init(&p.text, 1, NULL);
    p.at = calloc(as_ds_parameters(as_scale_ds(p.scale)), sizeof *p.at);
    assay_status status = prepare(&p, request, error);
    if (status == ASSAY_OK && !build(&p)) status = as_fail_memory(error, NULL);
    as_scale_close(p.scale);
    as_vec_free(&p.places);
    as_vec_free(&p.models);
    as_vec_free(&p.text);
    free(p.at);
    return status;
}

const as_endpoint as_endpoint_curve = {.path = "curve", .answer = answer_curve};

/* ---- why --------------------------------------------------------------------------------------------------------- */

static assay_status explain(as_scale_view *s, const as_request *request, as_output *out, assay_error *error) {
    as_request_cli made;
    as_vec models;
    as_vec_init(&models, sizeof(uint32_t), NULL);
    assay_status status = as_request_cli_make(request, "model", "", out, &made, error);
    if (status == ASSAY_OK) status = as_scale_chosen(s, request, 1, &models, error);
    if (status == ASSAY_OK) {
        uint32_t series = as_scale_note(s, AS_AT(uint32_t, &models, 0))->series;
        status = as_request_cli_status(&made, as_model_why_of(&made.cli, &s->study, series), error);
    }
    as_request_cli_free(&made);
    as_vec_free(&models);
    return status;
}

static assay_status answer_why(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    as_scale_view *scale;
    AS_TRY(as_scale_open(viewing, request, &scale, error));
    assay_status status = explain(scale, request, out, error);
    as_scale_close(scale);
    return status;
}

const as_endpoint as_endpoint_why = {.path = "why", .answer = answer_why};
