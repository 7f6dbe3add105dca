/* Function texts, byte for byte those of Extra-P 4.2, oddities included: Python conditionals without a blank behind
 * "else", LaTeX by replacing pieces of the Python text. */
#include "render/extrap_function.h"

#include <math.h>
#include <stdio.h>

#include "core/number.h"
#include "render/python_format.h"

/* A float as Python's str() has it. */
static void put_real(as_text *out, double value) {
    char text[AS_NUMBER_SIZE];
    as_text_write(out, text, as_real_format_python(value, text));
}

static const char *parameter_name(const as_dataset *ds, assay_id parameter) {
    return parameter < ds->parameters.count ? as_ds_parameter(ds, parameter) : "";
}

static const as_segment *segment_of(const as_dataset *ds, const as_model *model, uint32_t segment) {
    return as_ds_segment(ds, model->first_segment + segment);
}

/* ---- plain and Python -------------------------------------------------------------------------------------------- */

static void add_sum(as_text *out, const as_dataset *ds, const as_model *model, uint32_t segment, as_notation notation);

/* "p^(1/2)" or "log2(p)^(1/2)", Python: "p**(1/2)". */
static void add_power(as_text *out, const char *name, const char *exponent, bool is_log, as_notation notation) {
    if (is_log) as_text_add(out, "log2(");
    as_text_add(out, name);
    if (is_log) as_text_char(out, ')');
    as_text_add(out, notation == AS_NOTATION_PYTHON ? "**(" : "^(");
    as_text_add(out, exponent);
    as_text_char(out, ')');
}

/* "{f for p<=4.0; g for p>=8.0}"; Python: "(f if p<=4.0 else" "g if p>=8.0 else math.nan)", and without the last part,
 * parenthesis included, where the pieces meet. */
static void add_piecewise(as_text *out, const as_dataset *ds, const as_model *model, const as_term *term,
                          as_notation notation) {
    const char *name = parameter_name(ds, term->parameter);
    bool is_python = notation == AS_NOTATION_PYTHON;
    double previous_end = NAN;
    as_text_char(out, is_python ? '(' : '{');
    for (uint32_t i = 0; i < term->n_pieces; i++) {
        const as_segment *piece = segment_of(ds, model, term->first_piece + i);
        if (i && !is_python) as_text_add(out, "; ");
        add_sum(out, ds, model, term->first_piece + i, notation);
        if (is_python && i && piece->from == previous_end) break;
        as_text_add(out, is_python ? " if " : " for ");
        as_text_add(out, name);
        as_text_add(out, i ? ">=" : "<=");
        put_real(out, i ? piece->from : piece->to);
        if (is_python) as_text_add(out, i ? " else math.nan)" : " else");
        previous_end = piece->to;
    }
    if (!is_python) as_text_char(out, '}');
}

/* The factors of a term of one parameter, each led by separator where *is_first is false. */
static void add_factor(as_text *out, const as_dataset *ds, const as_model *model, const as_term *term,
                       as_notation notation, const char *separator, bool *is_first) {
    const char *name = parameter_name(ds, term->parameter);
    const char *exponents[2] = {as_ds_text(ds, term->exponent), as_ds_text(ds, term->log_exponent)};
    for (int is_log = 0; is_log < 2; is_log++) {
        bool is_there = term->n_pieces ? !is_log : !as_is_no_exponent(exponents[is_log]);
        if (!is_there) continue;
        if (!*is_first) as_text_add(out, separator);
        *is_first = false;
        if (term->n_pieces)
            add_piecewise(out, ds, model, term, notation);
        else
            add_power(out, name, exponents[is_log], is_log, notation);
    }
}

/* The first row from i on that belongs to the segment, or n_terms. Rows of pieces may lie between. */
static uint32_t next_row(const as_dataset *ds, const as_model *model, uint32_t segment, uint32_t i) {
    while (i < model->n_terms && as_ds_term(ds, model->first_term + i)->segment != segment) i++;
    return i;
}

/* The row of the term behind the one that begins at row i, or n_terms. */
static uint32_t next_term(const as_dataset *ds, const as_model *model, uint32_t i) {
    const as_term *first = as_ds_term(ds, model->first_term + i);
    do i = next_row(ds, model, first->segment, i + 1);
    while (i < model->n_terms && as_ds_term(ds, model->first_term + i)->term == first->term);
    return i;
}

/* The term that begins at row i. */
static void add_term(as_text *out, const as_dataset *ds, const as_model *model, uint32_t i, as_notation notation) {
    const char *separator = notation == AS_NOTATION_PYTHON ? "*" : " * ";
    const as_term *first = as_ds_term(ds, model->first_term + i);
    size_t start = as_text_size(out);
    bool is_first = first->coefficient == 1;
    if (!is_first) put_real(out, first->coefficient);
    for (uint32_t end = next_term(ds, model, i); i < end; i = next_row(ds, model, first->segment, i + 1))
        add_factor(out, ds, model, as_ds_term(ds, model->first_term + i), notation, separator, &is_first);
    if (as_text_size(out) == start) put_real(out, first->coefficient); /* a product of nothing */
}

/* "c0 + c1 * p^(1)". */
static void add_sum(as_text *out, const as_dataset *ds, const as_model *model, uint32_t segment, as_notation notation) {
    double constant = segment_of(ds, model, segment)->constant;
    size_t start = as_text_size(out);
    uint32_t i = next_row(ds, model, segment, 0);
    bool is_first = constant == 0 && i < model->n_terms;
    if (!is_first) put_real(out, constant);
    for (; i < model->n_terms; i = next_term(ds, model, i)) {
        if (!is_first) as_text_add(out, notation == AS_NOTATION_PYTHON ? "+" : " + ");
        is_first = false;
        add_term(out, ds, model, i, notation);
    }
    if (notation == AS_NOTATION_PYTHON) as_text_replace(out, start, "+-", "-");
}

/* ---- LaTeX ------------------------------------------------------------------------------------------------------- */

/* value / 10^exponent with ten digits behind the point. */
static double significand_of(double value, int exponent) {
    char text[512];
    double power = 1;
    size_t n = (size_t)snprintf(text, sizeof text, "1e%d", exponent);
    if (!as_real_parse(text, n, &power) || power == 0) return value;
    double rounded = value / power;
    n = as_real_format_digits(rounded, false, 10, text, sizeof text);
    if (n) as_real_parse(text, n, &rounded);
    return rounded;
}

/* "8.125\times10^{−1}": three decimals, an exponent with the minus of typography, "10^{2}" for a round power of ten. */
static void add_scientific(as_text *out, double value) {
    static const as_format_spec three_decimals = {
        .fill = " ", .fill_size = 1, .sign = '-', .precision = 3, .type = 'f'};
    if (!isfinite(value) || value == 0) {
        as_format_real(out, value, &three_decimals);
        return;
    }
    int exponent = (int)floor(log10(fabs(value)));
    double significand = significand_of(value, exponent);
    bool is_bare = significand == 1 && exponent != 0;
    if (!is_bare) {
        char ten_digits[AS_NUMBER_SIZE]; /* matplotlib's, from which the three are made */
        size_t n = as_real_format_digits(significand, true, 9, ten_digits, sizeof ten_digits);
        if (n) as_real_parse(ten_digits, n, &significand);
        as_format_real(out, significand, &three_decimals);
    }
    if (exponent == 0) return;
    char digits[AS_NUMBER_SIZE];
    as_int_format(exponent < 0 ? -exponent : exponent, digits);
    as_text_add(out, is_bare ? "10^{" : "\\times10^{");
    if (exponent < 0) as_text_add(out, "\xe2\x88\x92");
    as_text_add(out, digits);
    as_text_char(out, '}');
}

/* "log2(p)" becomes "\log_2{p}" in what was written from `start` on. */
static void replace_log(as_text *out, size_t start, const char *name) {
    as_text from, to;
    as_text_init(&from);
    as_text_init(&to);
    as_text_add(&from, "log2(");
    as_text_add(&from, name);
    as_text_write(&from, ")", 2); /* with its NUL */
    as_text_add(&to, "\\log_2{");
    as_text_add(&to, name);
    as_text_write(&to, "}", 2);
    if (from.failed || to.failed)
        out->failed = true;
    else
        as_text_replace(out, start, as_text_data(&from), as_text_data(&to));
    as_text_free(&from);
    as_text_free(&to);
}

static void add_latex_term(as_text *out, const as_dataset *ds, const as_model *model, uint32_t i) {
    const as_term *first = as_ds_term(ds, model->first_term + i);
    if (!(first->coefficient < 0)) as_text_char(out, '+');
    size_t start = as_text_size(out);
    add_scientific(out, first->coefficient);
    bool is_first = false;
    for (uint32_t end = next_term(ds, model, i); i < end; i = next_row(ds, model, first->segment, i + 1)) {
        const as_term *term = as_ds_term(ds, model->first_term + i);
        add_factor(out, ds, model, term, AS_NOTATION_PYTHON, "*", &is_first);
        replace_log(out, start, parameter_name(ds, term->parameter));
    }
    as_text_replace(out, start, "**", "^");
    as_text_replace(out, start, "*", "\\cdot ");
    as_text_replace(out, start, "(", "{");
    as_text_replace(out, start, ")", "}");
}

static void add_latex_sum(as_text *out, const as_dataset *ds, const as_model *model, uint32_t segment) {
    as_text_char(out, '$');
    add_scientific(out, segment_of(ds, model, segment)->constant);
    for (uint32_t i = next_row(ds, model, segment, 0); i < model->n_terms; i = next_term(ds, model, i))
        add_latex_term(out, ds, model, i);
    as_text_char(out, '$');
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

void as_extrap_segment(as_text *out, const as_dataset *ds, const as_model *model, uint32_t segment,
                       as_notation notation) {
    bool is_constant = next_row(ds, model, segment, 0) == model->n_terms; /* a plain number in all notations */
    if (notation == AS_NOTATION_LATEX && !is_constant)
        add_latex_sum(out, ds, model, segment);
    else
        add_sum(out, ds, model, segment, notation);
}

/* A bound behind its segment. */
static void add_bound(as_text *out, const char *before, const char *name, const char *relation, double bound) {
    as_text_add(out, before);
    as_text_add(out, name);
    as_text_add(out, relation);
    put_real(out, bound);
}

void as_extrap_function(as_text *out, const as_dataset *ds, const as_model *model, as_notation notation) {
    if (model->n_segments == 1) {
        as_extrap_segment(out, ds, model, 0, notation);
        return;
    }
    static const char *const lead[] = {" for ", " if ", " for $"};
    const char *name = parameter_name(ds, 0);
    double previous_end = NAN;
    for (uint32_t i = 0; i < model->n_segments; i++) {
        const as_segment *segment = segment_of(ds, model, i);
        bool is_last = i + 1 == model->n_segments;
        if (notation == AS_NOTATION_LATEX)
            add_latex_sum(out, ds, model, i);
        else
            add_sum(out, ds, model, i, notation);
        if (notation == AS_NOTATION_PYTHON && i && segment->from == previous_end) break;
        add_bound(out, lead[notation], name, i ? ">=" : "<=", i ? segment->from : segment->to);
        previous_end = segment->to;
        if (notation == AS_NOTATION_LATEX) as_text_char(out, '$');
        if (notation == AS_NOTATION_PYTHON)
            as_text_add(out, i ? " else math.nan" : " else");
        else if (!is_last)
            as_text_char(out, '\n');
    }
}
