/* Statistics over the runs of a point, and the text of a model's function. */
#include "dataset/build.h"

#include <stdlib.h>

static int compare_reals(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Neumaier's sum: exact enough that the order of the runs does not show. Infinities pass through. */
static double sum_of(const double *values, size_t n) {
    double sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        double next = sum + values[i];
        lost += fabs(sum) >= fabs(values[i]) ? (sum - next) + values[i] : (values[i] - next) + sum;
        sum = next;
    }
    return isfinite(sum) ? sum + lost : sum;
}

static void sort_reals(double *values, size_t n) {
    if (n > 16) {
        qsort(values, n, sizeof *values, compare_reals);
        return;
    }
    for (size_t i = 1; i < n; i++) { /* most points have a handful of repetitions */
        double value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
}

void as_statistics(double *values, size_t n, as_measurement *out) {
    out->mean = out->median = out->minimum = out->maximum = out->std = NAN;
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i])) return;
    }
    sort_reals(values, n);
    out->minimum = values[0];
    out->maximum = values[n - 1];
    out->median = n % 2 ? values[n / 2] : values[n / 2 - 1] / 2 + values[n / 2] / 2;
    if (n % 2 == 0 && isfinite(values[n / 2 - 1] + values[n / 2]))
        out->median = (values[n / 2 - 1] + values[n / 2]) / 2;
    out->mean = sum_of(values, n) / (double)n;
    if (!isfinite(out->mean) && isfinite(out->minimum) &&
        isfinite(out->maximum)) { /* the sum overflowed, the mean does not */
        out->mean = 0;
        for (size_t i = 0; i < n; i++) out->mean += values[i] / (double)n;
    }
    double squares = 0;
    for (size_t i = 0; i < n; i++) squares += (values[i] - out->mean) * (values[i] - out->mean);
    out->std = n == 1 && isfinite(values[0]) ? 0 : sqrt(squares / (double)n);
}

/* The rows of contexts[index], sorted by run; runs of one point are neighbours, because runs are numbered by point. */
static bool measure_rows(const as_dataset *ds, const as_block *block, uint32_t index, as_measurement *out,
                         bool (*visit)(void *, const as_measurement *), void *user) {
    const as_run *all_runs = ds->runs.data;
    uint64_t first = block->starts[index], rows = block->starts[index + 1] - first;
    const assay_id *runs = block->runs ? as_block_runs(block, index) : NULL;
    double few[64], *values = few;
    size_t room = sizeof few / sizeof *few;
    bool fine = true;
    for (uint64_t row = 0; row < rows && fine;) {
        size_t n = 0;
        assay_id run = ASSAY_NONE;
        out->repetitions = 0;
        out->point = all_runs[runs ? runs[row] : block->run].point;
        for (; row < rows; row++) {
            assay_id here = runs ? runs[row] : block->run;
            if (all_runs[here].point != out->point) break;
            if (n == room) {
                double *larger = malloc(room * 2 * sizeof *larger);
                if (!larger) {
                    if (values != few) free(values);
                    return false;
                }
                memcpy(larger, values, n * sizeof *larger);
                if (values != few) free(values);
                values = larger;
                room *= 2;
            }
            values[n++] = as_block_real(block, first + row);
            out->repetitions += here != run;
            run = here;
        }
        if (out->point == ASSAY_NONE) continue; /* a run without a point measures nothing over points */
        as_statistics(values, n, out);
        if (!visit(user, out)) break;
    }
    if (values != few) free(values);
    return fine;
}

bool as_measure(const as_dataset *ds, const as_series *series,
                bool (*visit)(void *user, const as_measurement *measurement), void *user) {
    for (uint32_t i = 0; i < series->n_measurements; i++) {
        if (!visit(user, as_ds_measurement(ds, series->first_measurement + i))) return true;
    }
    if (series->n_measurements) return true;
    const as_block *block = as_ds_metric_block(ds, series->metric);
    uint32_t index = block ? as_block_find(block, series->context) : UINT32_MAX;
    if (index == UINT32_MAX) return true;
    as_measurement measurement = {.metric = series->metric, .context = series->context};
    return measure_rows(ds, block, index, &measurement, visit, user);
}

/* ---- the text of a function ------------------------------------------------------------------------------------------ */

static bool add_text(as_vec *out, const char *text) { return as_vec_append(out, text, strlen(text)); }

static bool add_real(as_vec *out, double value) {
    char number[AS_NUMBER_SIZE];
    size_t n = as_real_format(value, number);
    bool whole = strspn(number, "-0123456789") == n; /* floats print like Python's: 2.0 */
    return as_vec_append(out, number, n) && (!whole || add_text(out, ".0"));
}

static bool is_zero(const char *exponent) {
    double value;
    return as_real_parse(exponent, strlen(exponent), &value) && value == 0;
}

static bool add_pieces(as_vec *out, const as_dataset *ds, const as_model *model, uint32_t first, uint32_t n,
                       const char *parameter);

/* "p^(3/2) * log2(p)^(1)", led by " * " where something stands before it; a piecewise factor: "{p^(1) for p<=4.0; p^(2) for p>=4.0}". */
static bool add_factor(as_vec *out, const as_dataset *ds, const as_model *model, const as_term *term, bool *empty) {
    const char *name = as_ds_text(ds, AS_AT(as_str, &ds->parameters, term->parameter));
    const char *exponent = as_ds_text(ds, term->exponent), *log_exponent = as_ds_text(ds, term->log_exponent);
    if (term->n_pieces) {
        bool fine = (*empty || add_text(out, " * ")) && add_text(out, "{") &&
                    add_pieces(out, ds, model, term->first_piece, term->n_pieces, name) && add_text(out, "}");
        *empty = false;
        return fine;
    }
    if (!is_zero(exponent)) {
        if (!(*empty || add_text(out, " * ")) || !add_text(out, name) || !add_text(out, "^(") ||
            !add_text(out, exponent) || !add_text(out, ")"))
            return false;
        *empty = false;
    }
    if (!is_zero(log_exponent)) {
        if (!(*empty || add_text(out, " * ")) || !add_text(out, "log2(") || !add_text(out, name) ||
            !add_text(out, ")^(") || !add_text(out, log_exponent) || !add_text(out, ")"))
            return false;
        *empty = false;
    }
    return true;
}

/* Whether nothing but its coefficient would show of the term that begins at row i. */
static bool is_bare(const as_dataset *ds, const as_model *model, uint32_t i) {
    const as_term *first = as_ds_term(ds, model->first_term + i);
    for (; i < model->n_terms; i++) {
        const as_term *term = as_ds_term(ds, model->first_term + i);
        if (term->segment != first->segment || term->term != first->term) break;
        if (term->n_pieces || !is_zero(as_ds_text(ds, term->exponent)) || !is_zero(as_ds_text(ds, term->log_exponent)))
            return false;
    }
    return true;
}

static bool add_segment(as_vec *out, const as_dataset *ds, const as_model *model, uint32_t segment) {
    double constant = as_ds_segment(ds, model->first_segment + segment)->constant;
    bool anything = false;
    const as_term *previous = NULL;
    bool has_terms = false;
    for (uint32_t i = 0; i < model->n_terms; i++)
        has_terms |= as_ds_term(ds, model->first_term + i)->segment == segment;
    if (constant != 0 || !has_terms) {
        if (!add_real(out, constant)) return false;
        anything = true;
    }
    bool empty = true; /* nothing of the current term is written yet */
    for (uint32_t i = 0; i < model->n_terms; i++) {
        const as_term *term = as_ds_term(ds, model->first_term + i);
        if (term->segment != segment) continue;
        if (!previous || previous->term != term->term) {
            if (anything && !add_text(out, " + ")) return false;
            empty = term->coefficient == 1 && !is_bare(ds, model, i);
            if (!empty && !add_real(out, term->coefficient)) return false;
        }
        if (!add_factor(out, ds, model, term, &empty)) return false;
        anything = true;
        previous = term;
    }
    return true;
}

/* Segments first … first + n - 1, each with its interval where there are several. */
static bool add_pieces(as_vec *out, const as_dataset *ds, const as_model *model, uint32_t first, uint32_t n,
                       const char *parameter) {
    for (uint32_t i = first; i < first + n; i++) {
        const as_segment *segment = as_ds_segment(ds, model->first_segment + i);
        if ((i > first && !add_text(out, "; ")) || !add_segment(out, ds, model, i)) return false;
        if (n == 1) continue;
        bool is_left = isinf(segment->from);
        if (!add_text(out, " for ") || !add_text(out, parameter) || !add_text(out, is_left ? "<=" : ">=") ||
            !add_real(out, is_left ? segment->to : segment->from)) {
            return false;
        }
    }
    return true;
}

as_str as_model_function(as_dataset *ds, const as_model *model) {
    as_vec text;
    as_vec_init(&text, 1, &ds->budget);
    const char *parameter = ds->parameters.count ? as_ds_text(ds, AS_AT(as_str, &ds->parameters, 0)) : "";
    bool fine = add_pieces(&text, ds, model, 0, model->n_segments, parameter);
    as_str result = fine ? as_ds_intern(ds, text.data ? text.data : "", text.count) : AS_NO_STR;
    as_vec_free(&text);
    return result;
}
