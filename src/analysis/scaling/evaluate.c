/* The value of a model at a point, and how it grows. */
#include "analysis/scaling/evaluate.h"

#include <stdlib.h>

enum { MAX_GROWTH_TERMS = 64 }; /* shown of one model; files may hold any number */

/* Exponents that are sums of fractions are whole up to rounding. */
#define SAME 1e-9

static as_exponent zero_exponent(void) { return as_exponent_fraction(0, 1); }

static as_exponent exponent_of(const as_dataset *ds, as_str text) {
    as_exponent exponent;
    const char *written = as_ds_text(ds, text);
    return written && as_exponent_parse(written, &exponent) ? exponent : zero_exponent();
}

static as_power power_of(const as_dataset *ds, const as_term *term) {
    return (as_power){.power = exponent_of(ds, term->exponent), .log = exponent_of(ds, term->log_exponent)};
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static double segment_value(const as_dataset *ds, const as_model *model, uint32_t segment, const double *point);

static bool holds(const as_segment *segment, double x) { return x >= segment->from && x <= segment->to; }

/* The value of the first of segments first … first + n - 1 that holds at x: at a change point that is the left one. */
static double pieces_value(const as_dataset *ds, const as_model *model, uint32_t first, uint32_t n, double x,
                           const double *point) {
    for (uint32_t i = first; i < first + n; i++) {
        if (n == 1 || holds(as_ds_segment(ds, model->first_segment + i), x)) return segment_value(ds, model, i, point);
    }
    return NAN;
}

static double factor_value(const as_dataset *ds, const as_model *model, const as_term *term, const double *point) {
    double x = point[term->parameter];
    if (term->n_pieces) {
        /* Pieces have no pieces of their own */
        if (term->segment >= model->n_segments) return NAN;
        return pieces_value(ds, model, term->first_piece, term->n_pieces, x, point);
    }
    as_power power = power_of(ds, term);
    return as_power_value(&power, x);
}

static double segment_value(const as_dataset *ds, const as_model *model, uint32_t segment, const double *point) {
    double sum = as_ds_segment(ds, model->first_segment + segment)->constant;
    for (uint32_t i = 0; i < model->n_terms;) {
        const as_term *first = as_ds_term(ds, model->first_term + i);
        if (first->segment != segment) {
            i++;
            continue;
        }
        double product = first->coefficient;
        for (; i < model->n_terms; i++) {
            const as_term *term = as_ds_term(ds, model->first_term + i);
            if (term->segment != segment) continue; /* the terms of a factor's pieces lie behind it */
            if (term->term != first->term) break;
            product *= factor_value(ds, model, term, point);
        }
        sum += product;
    }
    return sum;
}

double as_model_at(const as_dataset *ds, const as_model *model, const double *point) {
    if (model->n_segments == 0) return NAN;
    return pieces_value(ds, model, 0, model->n_segments, as_ds_parameters(ds) ? point[0] : NAN, point);
}

/* ---- growth ------------------------------------------------------------------------------------------------------ */

static as_exponent exponent_sum(as_exponent a, as_exponent b) {
    if (a.denominator == 0 || b.denominator == 0) return as_exponent_real(a.value + b.value);
    return as_exponent_fraction((int64_t)a.numerator * b.denominator + (int64_t)b.numerator * a.denominator,
                                (int64_t)a.denominator * b.denominator);
}

/* What a piecewise factor is for large values: the fastest of its last piece's terms, and that one's coefficient. A
 * piece has one parameter. */
static as_power last_piece(const as_dataset *ds, const as_model *model, const as_term *factor, double *coefficient) {
    uint32_t piece = factor->first_piece + factor->n_pieces - 1;
    as_power best = {zero_exponent(), zero_exponent()};
    *coefficient = as_ds_segment(ds, model->first_segment + piece)->constant;
    for (uint32_t i = 0; i < model->n_terms; i++) {
        const as_term *term = as_ds_term(ds, model->first_term + i);
        if (term->segment != piece || term->n_pieces || term->coefficient == 0) continue;
        as_power power = power_of(ds, term);
        if (as_power_compare(&power, &best) <= 0 && *coefficient != 0) continue;
        best = power;
        *coefficient = term->coefficient;
    }
    return best;
}

/* One factor for large values; multiplies *coefficient. */
static as_power factor_growth(const as_dataset *ds, const as_model *model, const as_term *term, double *coefficient) {
    if (!term->n_pieces) return power_of(ds, term);
    double of_piece;
    as_power power = last_piece(ds, model, term, &of_piece);
    *coefficient *= of_piece;
    return power;
}

/* Walks the terms of the last segment: *row is the first row of the one at or behind *next, *next then lies behind its
 * rows; rows of other segments may lie among them. False at the end. */
static bool next_term(const as_dataset *ds, const as_model *model, uint32_t *next, uint32_t *row) {
    uint32_t last = model->n_segments - 1, i = *next;
    while (i < model->n_terms && as_ds_term(ds, model->first_term + i)->segment != last) i++;
    if (i == model->n_terms) return false;
    *row = i;
    uint32_t number = as_ds_term(ds, model->first_term + i)->term;
    for (; i < model->n_terms; i++) {
        const as_term *term = as_ds_term(ds, model->first_term + i);
        if (term->segment == last && term->term != number) break;
    }
    *next = i;
    return true;
}

static int compare_reals(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(b) - isnan(a);
    return (a > b) - (a < b);
}

static int compare_exponents(double a, double b) { return fabs(a - b) < SAME ? 0 : compare_reals(a, b); }

/* By power and logarithm alone. */
static int compare_speed(const as_growth *a, const as_growth *b) {
    int power = compare_exponents(a->power, b->power);
    return power ? power : compare_exponents(a->log, b->log);
}

static as_order order_of(const as_growth *growth) {
    double power = growth->power, log = growth->log;
    if (growth->coefficient < 0) return AS_ORDER_DECREASING;
    if (fabs(power) < SAME) return AS_ORDER_LOGARITHMIC;
    if (power < 1 - SAME) return AS_ORDER_SUBLINEAR;
    if (power < 1 + SAME)
        return log > SAME ? AS_ORDER_LINEARITHMIC : log < -SAME ? AS_ORDER_SUBLINEAR : AS_ORDER_LINEAR;
    if (power < 2 - SAME) return AS_ORDER_SUPERLINEAR;
    if (power < 2 + SAME) return AS_ORDER_QUADRATIC;
    if (power < 3 - SAME) return AS_ORDER_POLYNOMIAL;
    return power < 3 + SAME ? AS_ORDER_CUBIC : AS_ORDER_STEEPER;
}

as_growth as_model_growth(const as_dataset *ds, const as_model *model) {
    as_growth best = {.order = AS_ORDER_CONSTANT, .coefficient = NAN};
    if (model->n_segments == 0) return best;
    const as_growth constant = {.coefficient =
                                    as_ds_segment(ds, model->first_segment + model->n_segments - 1)->constant};
    bool any = false;
    for (uint32_t next = 0, row; next_term(ds, model, &next, &row);) {
        as_growth growth = {.coefficient = as_ds_term(ds, model->first_term + row)->coefficient};
        for (uint32_t i = row; i < next; i++) {
            const as_term *term = as_ds_term(ds, model->first_term + i);
            if (term->segment != model->n_segments - 1) continue;
            as_power power = factor_growth(ds, model, term, &growth.coefficient);
            growth.power += power.power.value;
            growth.log += power.log.value;
        }
        if (growth.coefficient == 0) continue;
        int compared = any ? compare_speed(&growth, &best) : 1;
        if (compared == 0) best.coefficient += growth.coefficient;
        if (compared > 0) best = growth;
        any = true;
    }
    int fades = any ? compare_speed(&best, &constant) : 0;
    if (fades > 0 && best.coefficient != 0) {
        best.order = order_of(&best);
        return best;
    }
    /* What fades away leaves the constant behind */
    if (fades < 0 && best.coefficient > 0) {
        best.order = AS_ORDER_DECREASING;
        return best;
    }
    return constant;
}

/* -1: falls without end; 0: falls to a constant; 1: constant; 2: grows. */
static int direction(const as_growth *growth) {
    if (growth->order == AS_ORDER_CONSTANT) return 1;
    if (growth->order != AS_ORDER_DECREASING) return 2;
    return growth->coefficient < 0 ? -1 : 0;
}

int as_growth_compare(const as_growth *a, const as_growth *b) {
    int way = direction(a), other = direction(b);
    if (way != other) return way - other;
    int speed = compare_speed(a, b);
    if (speed) return way < 0 ? -speed : speed;
    return compare_reals(a->coefficient, b->coefficient);
}

const char *as_order_name(as_order order) {
    static const char *const names[] = {"constant",   "decreasing",   "logarithmic",       "sublinear",
                                        "linear",     "linearithmic", "superlinear",       "quadratic",
                                        "polynomial", "cubic",        "steeper than cubic"};
    return names[order];
}

/* ---- growth in words --------------------------------------------------------------------------------------------- */

/* Terms that no other one dominates: a row of as_power for each, one for each parameter. */
struct kinds {
    as_power *rows;
    size_t n, n_parameters;
    bool is_cut;
};

static int compare_powers(const as_power *a, const as_power *b) {
    int power = compare_exponents(a->power.value, b->power.value);
    return power ? power : compare_exponents(a->log.value, b->log.value);
}

/* Whether a grows at least as fast as b in every parameter. */
static bool dominates(const as_power *a, const as_power *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (compare_powers(&a[i], &b[i]) < 0) return false;
    }
    return true;
}

static void add_kind(struct kinds *kinds, const as_power *row) {
    size_t n = kinds->n_parameters, kept = 0;
    for (size_t i = 0; i < kinds->n; i++) {
        if (dominates(&kinds->rows[i * n], row, n)) return;
    }
    for (size_t i = 0; i < kinds->n; i++) {
        if (dominates(row, &kinds->rows[i * n], n)) continue;
        if (kept != i) memcpy(&kinds->rows[kept * n], &kinds->rows[i * n], n * sizeof *row);
        kept++;
    }
    kinds->n = kept;
    if (kept == MAX_GROWTH_TERMS) {
        kinds->is_cut = true;
        return;
    }
    memcpy(&kinds->rows[kept * n], row, n * sizeof *row);
    kinds->n++;
}

static bool is_zero(const as_exponent *exponent) { return fabs(exponent->value) < SAME; }

/* A row for the term in rows first … end - 1; false where it does not grow in any parameter. */
static bool fill_row(const as_dataset *ds, const as_model *model, uint32_t first, uint32_t end, as_power *row,
                     size_t n) {
    double coefficient = as_ds_term(ds, model->first_term + first)->coefficient;
    for (size_t i = 0; i < n; i++) row[i] = (as_power){zero_exponent(), zero_exponent()};
    for (uint32_t i = first; i < end; i++) {
        const as_term *term = as_ds_term(ds, model->first_term + i);
        if (term->segment != model->n_segments - 1) continue;
        as_power power = factor_growth(ds, model, term, &coefficient), *sum = &row[term->parameter];
        sum->power = exponent_sum(sum->power, power.power);
        sum->log = exponent_sum(sum->log, power.log);
    }
    if (coefficient == 0) return false;
    const as_power nothing = {zero_exponent(), zero_exponent()};
    for (size_t i = 0; i < n; i++) {
        if (compare_powers(&row[i], &nothing) > 0) return true;
    }
    return false;
}

/* "", "^2", "^(3/2)". */
static bool add_exponent(as_vec *out, const as_exponent *exponent) {
    if (fabs(exponent->value - 1) < SAME) return true;
    char text[AS_NUMBER_SIZE];
    bool whole = exponent->value > 0 && exponent->value < 1000 && exponent->value == floor(exponent->value);
    if (whole)
        as_int_format((int64_t)exponent->value, text);
    else
        as_exponent_text(*exponent, text);
    return as_vec_text(out, whole ? "^" : "^(") && as_vec_text(out, text) && as_vec_text(out, whole ? "" : ")");
}

/* "p^2 log p q". */
static bool add_row(const as_dataset *ds, const as_power *row, size_t n, as_vec *out) {
    bool first = true;
    for (size_t i = 0; i < n; i++) {
        const char *name = as_ds_parameter(ds, i);
        if (!is_zero(&row[i].power)) {
            if (!as_vec_text(out, first ? "" : " ") || !as_vec_text(out, name) || !add_exponent(out, &row[i].power))
                return false;
            first = false;
        }
        if (!is_zero(&row[i].log)) {
            if (!as_vec_text(out, first ? "log" : " log") || !add_exponent(out, &row[i].log) ||
                !as_vec_text(out, " ") || !as_vec_text(out, name))
                return false;
            first = false;
        }
    }
    return true;
}

static bool add_kinds(const as_dataset *ds, const struct kinds *kinds, as_vec *out) {
    if (kinds->n == 0 && !as_vec_text(out, "1")) return false;
    for (size_t i = 0; i < kinds->n; i++) {
        if ((i && !as_vec_text(out, " + ")) ||
            !add_row(ds, &kinds->rows[i * kinds->n_parameters], kinds->n_parameters, out))
            return false;
    }
    return (!kinds->is_cut || as_vec_text(out, " + …")) && as_vec_append(out, "", 1);
}

bool as_growth_text(const as_dataset *ds, const as_model *model, as_vec *out) {
    struct kinds kinds = {.n_parameters = as_ds_parameters(ds)};
    as_power few[4 * 4]; /* most models have a term or two */
    size_t rows = model->n_terms < MAX_GROWTH_TERMS ? model->n_terms : MAX_GROWTH_TERMS, room = 0;
    if (!as_mul_size(rows + 1, kinds.n_parameters, &room)) return false;
    bool is_many = room > sizeof few / sizeof *few;
    as_power *many = is_many ? calloc(room, sizeof *many) : NULL;
    if (is_many && !many) return false;
    kinds.rows = is_many ? many : few;
    as_power *row = kinds.rows + rows * kinds.n_parameters;
    for (uint32_t next = 0, first; model->n_segments && next_term(ds, model, &next, &first);) {
        if (fill_row(ds, model, first, next, row, kinds.n_parameters)) add_kind(&kinds, row);
    }
    out->count = 0;
    bool fine = add_kinds(ds, &kinds, out);
    free(many);
    return fine;
}
