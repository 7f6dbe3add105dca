/* The text of a model's function: Extra-P's notation, or rounded for people. */
#include <math.h>
#include <stdio.h>

#include "dataset/build.h"

typedef struct writing {
    const as_dataset *ds;
    const as_model *model;
    as_vec *out;
    int digits; /* 0: Extra-P's notation, exact; else for people, rounded to so many digits */
} writing;

static bool add_text(const writing *w, const char *text) { return as_vec_append(w->out, text, strlen(text)); }

/* As it is shown. */
static double shown(const writing *w, double value) { return w->digits ? as_real_round(value, w->digits) : value; }

bool as_is_no_exponent(const char *exponent) {
    double value;
    return as_real_parse(exponent, strlen(exponent), &value) && value == 0;
}

static bool add_real(const writing *w, double value) {
    char number[AS_NUMBER_SIZE];
    size_t n = w->digits ? as_real_format(shown(w, value), number) : as_real_format_python(value, number);
    return as_vec_append(w->out, number, n);
}

/* "^(3/2)"; for people "^2" and nothing for one. */
static bool add_exponent(const writing *w, const char *exponent) {
    double value;
    bool whole = w->digits && as_real_parse(exponent, strlen(exponent), &value) && value == floor(value) && value > 0 &&
                 value < 1000;
    if (!whole) return add_text(w, "^(") && add_text(w, exponent) && add_text(w, ")");
    return value == 1 || (add_text(w, "^") && add_real(w, value));
}

static bool add_pieces(const writing *w, uint32_t first, uint32_t n, const char *parameter);

/* "p^(3/2) * log2(p)^(1)", led by " * " where something stands before it; a piecewise factor: "{p^(1) for p<=4.0; p^(2)
 * for p>=4.0}". */
static bool add_factor(const writing *w, const as_term *term, bool *empty) {
    const as_dataset *ds = w->ds;
    const char *name = as_ds_parameter(ds, term->parameter);
    const char *exponent = as_ds_text(ds, term->exponent), *log_exponent = as_ds_text(ds, term->log_exponent);
    if (term->n_pieces) {
        bool fine = (*empty || add_text(w, " * ")) && add_text(w, "{") &&
                    add_pieces(w, term->first_piece, term->n_pieces, name) && add_text(w, "}");
        *empty = false;
        return fine;
    }
    if (!as_is_no_exponent(exponent)) {
        if (!(*empty || add_text(w, " * ")) || !add_text(w, name) || !add_exponent(w, exponent)) return false;
        *empty = false;
    }
    if (!as_is_no_exponent(log_exponent)) {
        if (!(*empty || add_text(w, " * ")) || !add_text(w, "log2(") || !add_text(w, name) || !add_text(w, ")") ||
            !add_exponent(w, log_exponent))
            return false;
        *empty = false;
    }
    return true;
}

/* Whether nothing but its coefficient would show of the term that begins at row i. */
static bool is_bare(const writing *w, uint32_t i) {
    const as_dataset *ds = w->ds;
    const as_term *first = as_ds_term(ds, w->model->first_term + i);
    for (; i < w->model->n_terms; i++) {
        const as_term *term = as_ds_term(ds, w->model->first_term + i);
        if (term->segment != first->segment || term->term != first->term) break;
        if (term->n_pieces || !as_is_no_exponent(as_ds_text(ds, term->exponent)) ||
            !as_is_no_exponent(as_ds_text(ds, term->log_exponent)))
            return false;
    }
    return true;
}

/* Whether the constant shows: not where it is 0 and terms are there; for people not where it is what rounding left of
 * 0. */
static bool shows_constant(const writing *w, uint32_t segment, double constant) {
    bool has_terms = false;
    double largest = 0;
    for (uint32_t i = 0; i < w->model->n_terms; i++) {
        const as_term *term = as_ds_term(w->ds, w->model->first_term + i);
        if (term->segment != segment) continue;
        has_terms = true;
        largest = fmax(largest, fabs(term->coefficient));
    }
    return !has_terms || (w->digits ? fabs(constant) > 1e-9 * largest : constant != 0);
}

static bool add_segment(const writing *w, uint32_t segment) {
    double constant = as_ds_segment(w->ds, w->model->first_segment + segment)->constant;
    bool anything = false;
    if (shows_constant(w, segment, constant)) {
        if (!add_real(w, constant)) return false;
        anything = true;
    }
    const as_term *previous = NULL;
    bool empty = true; /* nothing of the current term is written yet */
    for (uint32_t i = 0; i < w->model->n_terms; i++) {
        const as_term *term = as_ds_term(w->ds, w->model->first_term + i);
        if (term->segment != segment) continue;
        if (!previous || previous->term != term->term) {
            bool minus = w->digits && anything && term->coefficient < 0;
            double coefficient = minus ? -term->coefficient : term->coefficient;
            if (anything && !add_text(w, minus ? " - " : " + ")) return false;
            empty = shown(w, coefficient) == 1 && !is_bare(w, i);
            if (!empty && !add_real(w, coefficient)) return false;
        }
        if (!add_factor(w, term, &empty)) return false;
        anything = true;
        previous = term;
    }
    return true;
}

/* Segments first … first + n - 1, each with its interval where there are several. */
static bool add_pieces(const writing *w, uint32_t first, uint32_t n, const char *parameter) {
    for (uint32_t i = first; i < first + n; i++) {
        const as_segment *segment = as_ds_segment(w->ds, w->model->first_segment + i);
        if ((i > first && !add_text(w, "; ")) || !add_segment(w, i)) return false;
        if (n == 1) continue;
        bool is_left = isinf(segment->from);
        if (!add_text(w, " for ") || !add_text(w, parameter) || !add_text(w, is_left ? "<=" : ">=") ||
            !add_real(w, is_left ? segment->to : segment->from)) {
            return false;
        }
    }
    return true;
}

static bool write_function(const writing *w) {
    const char *parameter = w->ds->parameters.count ? as_ds_parameter(w->ds, 0) : "";
    w->out->count = 0;
    return add_pieces(w, 0, w->model->n_segments, parameter) && as_vec_append(w->out, "", 1);
}

bool as_model_function_text(const as_dataset *ds, const as_model *model, as_vec *out) {
    if (model->function == AS_NO_STR) return write_function(&(writing){.ds = ds, .model = model, .out = out});
    out->count = 0;
    return as_vec_append(out, as_ds_text(ds, model->function), as_str_size(&ds->strings, model->function) + 1);
}

bool as_model_function_rounded(const as_dataset *ds, const as_model *model, int digits, as_vec *out) {
    return write_function(&(writing){.ds = ds, .model = model, .out = out, .digits = digits});
}

as_str as_model_function(as_dataset *ds, const as_model *model) {
    as_vec text;
    as_vec_init(&text, 1, &ds->budget);
    bool fine = write_function(&(writing){.ds = ds, .model = model, .out = &text});
    as_str result = fine ? as_ds_intern(ds, text.data, text.count - 1) : AS_NO_STR;
    as_vec_free(&text);
    return result;
}
