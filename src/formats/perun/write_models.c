/* Models of one parameter that Perun has a word for: constant, linear, logarithmic, quadratic, power. */
#include <math.h>

#include "formats/perun/write_foreign.h"

typedef struct perun_model {
    const char *name;
    double b[3];
    unsigned n; /* coefficients */
} perun_model;

/* The number an exponent's text stands for ("3/2"); NAN where it is none. */
static double exponent_of(const as_dataset *ds, as_str text) {
    const char *words = as_ds_text(ds, text);
    if (!words) return NAN;
    const char *slash = strchr(words, '/');
    double number, divisor = 1;
    if (!as_real_parse(words, slash ? (size_t)(slash - words) : strlen(words), &number)) return NAN;
    if (slash && !as_real_parse(slash + 1, strlen(slash + 1), &divisor)) return NAN;
    return number / divisor;
}

/* Adds a term that is its only factor. */
static bool add_term(const as_dataset *ds, const as_term *term, double constant, perun_model *out) {
    double exponent = exponent_of(ds, term->exponent), logarithm = exponent_of(ds, term->log_exponent);
    bool is_first = strcmp(out->name, "constant") == 0, is_linear = strcmp(out->name, "linear") == 0;
    if (term->n_pieces || isnan(exponent) || isnan(logarithm)) return false;
    if (logarithm == 1 && exponent == 0 && is_first) {
        *out = (perun_model){"logarithmic", {constant, term->coefficient / log(2)}, 2}; /* Perun's is the natural one */
    } else if (logarithm != 0) {
        return false;
    } else if (exponent == 1 && (is_first || (out->n == 3 && out->b[1] == 0))) {
        if (is_first) *out = (perun_model){"linear", {constant, 0, 0}, 2};
        out->b[1] = term->coefficient;
    } else if (exponent == 2 && (is_first || is_linear)) {
        *out = (perun_model){"quadratic", {constant, is_linear ? out->b[1] : 0, term->coefficient}, 3};
    } else if (is_first && constant == 0) {
        *out = (perun_model){"power", {term->coefficient, exponent}, 2};
    } else {
        return false;
    }
    return true;
}

static bool express(const as_dataset *ds, const as_model *model, perun_model *out) {
    if (as_ds_parameters(ds) != 1 || model->n_segments != 1) return false;
    double constant = as_ds_segment(ds, model->first_segment)->constant;
    *out = (perun_model){"constant", {constant, 0}, 2};
    for (uint32_t i = 0; i < model->n_terms; i++) {
        const as_term *term = as_ds_term(ds, model->first_term + i);
        bool has_more = i + 1 < model->n_terms && as_ds_term(ds, model->first_term + i + 1)->term == term->term;
        if (has_more || !add_term(ds, term, constant, out)) return false;
    }
    return true;
}

/* ---- what was measured ------------------------------------------------------------------------------------------- */

typedef struct measured {
    const as_dataset *ds;
    size_t n;
    double mean, squares; /* of the means: their mean, and the sum of squares of what differs from it */
    double low, high;     /* coordinates */
} measured;

static bool see_point(void *user, const as_measurement *measurement) {
    measured *m = user;
    double x = as_ds_point(m->ds, measurement->point)[0], y = measurement->mean, off = y - m->mean;
    m->low = m->n ? fmin(m->low, x) : x;
    m->high = m->n ? fmax(m->high, x) : x;
    m->n++;
    m->mean += off / (double)m->n;
    m->squares += off * (y - m->mean);
    return true;
}

static void write_model(const as_dataset *ds, const as_model *model, const perun_model *perun, const measured *m,
                        as_vec *path, as_output *out) {
    double r_square = m->squares > 0 ? 1 - model->RSS / m->squares : model->RSS == 0;
    as_output_text(out, "{\"uid\": ");
    as_json_write_string(out, path->data, path->count ? strlen(path->data) : 0);
    as_output_text(out, ", \"type\": ");
    as_perun_write_str(out, ds, as_ds_metric(ds, model->metric)->name);
    as_output_text(out, ", \"model\": \"");
    as_output_text(out, perun->name);
    as_output_text(out, "\", \"method\": \"full\", \"r_square\": ");
    as_perun_write_real(out, isnan(r_square) ? 0 : fmax(r_square, 0));
    as_output_text(out, ", \"x_start\": ");
    as_perun_write_real(out, m->low);
    as_output_text(out, ", \"x_end\": ");
    as_perun_write_real(out, m->high);
    as_output_text(out, ", \"coeffs\": [");
    for (unsigned i = 0; i < perun->n; i++) {
        as_output_printf(out, "%s{\"name\": \"b%u\", \"value\": ", i ? ", " : "", i);
        as_perun_write_real(out, perun->b[i]);
        as_output_char(out, '}');
    }
    as_output_text(out, "]}");
}

size_t as_foreign_write_models(const as_dataset *ds, as_output *out, bool *fine) {
    as_map series_of; /* as_pair(metric, context) */
    as_vec path;
    size_t n = 0;
    as_map_init(&series_of, as_ds_budget(ds));
    as_vec_init(&path, 1, as_ds_budget(ds));
    for (size_t i = 0; *fine && ds->models.count && i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        *fine = as_map_put(&series_of, as_pair(series->metric, series->context), (uint32_t)i);
    }
    for (assay_id i = 0; *fine && i < ds->models.count; i++) {
        const as_model *model = as_ds_model(ds, i);
        perun_model perun;
        if (!express(ds, model, &perun)) continue;
        uint32_t series = as_map_get(&series_of, as_pair(model->metric, model->context));
        measured m = {.ds = ds};
        if (series == AS_MAP_NONE) continue;
        if (out)
            *fine =
                as_measure(ds, as_ds_series(ds, series), see_point, &m) && as_context_path(ds, model->context, &path);
        if (out && *fine) {
            as_output_text(out, n ? ",\n    " : "\n    ");
            write_model(ds, model, &perun, &m, &path, out);
        }
        n++;
    }
    as_map_free(&series_of);
    as_vec_free(&path);
    return n;
}
