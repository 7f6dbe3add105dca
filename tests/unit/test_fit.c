/* The modelling engine. Expected numbers are worked out by hand in the comments, or follow from data that a function
 * makes exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "analysis/scaling/evaluate.h"
#include "analysis/scaling/fit.h"
#include "analysis/scaling/least_squares.h"
#include "analysis/scaling/line.h"

static as_dataset *read_text(const char *text) {
    as_read_config config = {.format = "extrap-text"};
    as_dataset *ds = NULL;
    assay_error error;
    assert_int_equal(as_read_memory("t.txt", text, strlen(text), &config, &ds, &error), ASSAY_OK);
    return ds;
}

static as_fit_options options_of(const as_dataset *ds, const char *modeler, const char *const *given) {
    as_fit_options options;
    assay_error error;
    assert_int_equal(as_fit_options_parse(as_ds_parameters(ds), modeler, NULL, given, &options, &error), ASSAY_OK);
    return options;
}

static as_fit fit_all(as_dataset *ds, const as_fit_options *options) {
    uint32_t *series;
    size_t n;
    as_fit fit;
    assay_error error;
    assert_true(as_choice_all(ds, &series, &n));
    assert_int_equal(as_fit_models(ds, options, (as_choice){series, n}, "set", NULL, NULL, NULL, &fit, &error),
                     ASSAY_OK);
    assert_int_equal(fit.n, n);
    free(series);
    return fit;
}

/* The models of a text, in order of its regions. */
static as_fit fit_text(const char *text, const char *modeler, const char *const *given, as_dataset **ds) {
    *ds = read_text(text);
    as_fit_options options = options_of(*ds, modeler, given);
    return fit_all(*ds, &options);
}

static const as_model *model_of(const as_dataset *ds, const as_fit *fit, size_t i) {
    return as_ds_model(ds, fit->first_model + (assay_id)i);
}

static double constant_of(const as_dataset *ds, const as_model *model) {
    return as_ds_segment(ds, model->first_segment)->constant;
}

static void close_to(double expected, double actual, double tolerance) {
    if (!(fabs(expected - actual) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("expected %.17g, got %.17g", expected, actual);
}

static void term_is(const as_dataset *ds, const as_model *model, uint32_t i, const char *exponent, const char *log,
                    double coefficient) {
    assert_true(i < model->n_terms);
    const as_term *term = as_ds_term(ds, model->first_term + i);
    assert_string_equal(as_ds_text(ds, term->exponent), exponent);
    assert_string_equal(as_ds_text(ds, term->log_exponent), log);
    close_to(coefficient, term->coefficient, 1e-9);
}

/* ---- least squares ----------------------------------------------------------------------------------------------- */

/* One row (1, 3), two unknowns: the shortest solution of c0 + 3 c1 = y is y * (1, 3) / 10. */
static void test_minimum_norm(void **state) {
    (void)state;
    double A[] = {1, 3}, inverse[2];
    assert_int_equal(as_pseudo_inverse(A, 1, 2, 1, false, inverse), 1);
    close_to(0.1, inverse[0], 1e-15);
    close_to(0.3, inverse[1], 1e-15);
}

/* Columns 1 and 1e20 * (1, 2, 3): the constant is below the cut-off and lost, y = (1, 2, 3) gives 1e-20. */
static void test_cut_off(void **state) {
    (void)state;
    double A[] = {1, 1, 1, 1e20, 2e20, 3e20}, inverse[6];
    assert_int_equal(as_pseudo_inverse(A, 3, 2, 3, false, inverse), 1);
    close_to(1, 1e20 * (inverse[3] + 2 * inverse[4] + 3 * inverse[5]), 1e-12);
}

static void test_not_finite(void **state) {
    (void)state;
    double A[] = {1, 1, 1, INFINITY}, inverse[4];
    assert_int_equal(as_pseudo_inverse(A, 2, 2, 2, false, inverse), 0);
    for (int i = 0; i < 4; i++) assert_true(isnan(inverse[i]));
}

/* A line through three points on it, reduced first: same answer. */
static void test_triangulate(void **state) {
    (void)state;
    double A[] = {1, 1, 1, 1, 1, 2, 3, 4}, y[] = {5, 7, 9, 11}, small[4], inverse[4];
    as_triangulate(A, y, 4, 2);
    assert_true(A[1] == 0);
    for (int j = 0; j < 2; j++) memcpy(small + 2 * j, A + 4 * j, 2 * sizeof *small);
    assert_int_equal(as_pseudo_inverse(small, 2, 2, 4, true, inverse), 2);
    close_to(3, inverse[0] * y[0] + inverse[1] * y[1], 1e-14);
    close_to(2, inverse[2] * y[0] + inverse[3] * y[1], 1e-14);
}

/* ---- one parameter ----------------------------------------------------------------------------------------------- */

static void test_exact_line(void **state) {
    (void)state;
    as_dataset *ds;
    as_fit fit = fit_text("PARAMETER p\nPOINTS 2 4 8 16 32\nREGION r\nMETRIC m\n"
                          "DATA 8\nDATA 14\nDATA 26\nDATA 50\nDATA 98\n",
                          "default", NULL, &ds);
    const as_model *model = model_of(ds, &fit, 0);
    assert_int_equal(model->n_terms, 1);
    term_is(ds, model, 0, "1", "0", 3);
    close_to(2, constant_of(ds, model), 1e-9);
    assert_true(model->SMAPE < 1e-8 && model->RSS < 1e-16);
    close_to(1, model->AR2, 1e-12);
    close_to(2 + 3 * 1000, as_model_at(ds, model, (double[]){1000}), 1e-12);
    assert_int_equal(fit.notes[0].flags & ~(unsigned)AS_FIT_TIE, 0);
    assert_int_equal(fit.notes[0].n_points, 5);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

static void test_constant(void **state) {
    (void)state;
    as_dataset *ds;
    as_fit fit = fit_text("PARAMETER p\nPOINTS 2 4 8 16 32\nREGION r\nMETRIC m\n"
                          "DATA 7\nDATA 7\nDATA 7\nDATA 7\nDATA 7\n",
                          "default", NULL, &ds);
    const as_model *model = model_of(ds, &fit, 0);
    assert_int_equal(model->n_terms, 0);
    assert_true(constant_of(ds, model) == 7 && model->RSS == 0 && model->SMAPE == 0 && model->AR2 == 1);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

/* x = 1, 2, 3; y = 1, 2, 3.1; only the term p.
 * Without the first: slope 1.1, constant -0.2, predicts 0.9 for 1. Without the second: slope 1.05, constant -0.05,
 * predicts 2.05 for 2. Without the third: slope 1, constant 0, predicts 3 for 3.1. All points: slope 2.1 / 2, constant
 * 6.1 / 3 - 2.1. */
static void test_leave_one_out(void **state) {
    (void)state;
    as_dataset *ds;
    const char *given[] = {"poly_exponents=1", NULL};
    as_fit fit =
        fit_text("PARAMETER p\nPOINTS 1 2 3\nREGION r\nMETRIC m\nDATA 1\nDATA 2\nDATA 3.1\n", "basic", given, &ds);
    const as_model *model = model_of(ds, &fit, 0);
    term_is(ds, model, 0, "1", "0", 1.05);
    double mean = 6.1 / 3, tss = (1 - mean) * (1 - mean) + (2 - mean) * (2 - mean) + (3.1 - mean) * (3.1 - mean);
    close_to(mean - 2.1, constant_of(ds, model), 1e-12);
    close_to(0.01 + 0.0025 + 0.01, model->RSS, 1e-12);
    close_to(0.01 + 0.000625 + 0.01 / 9.61, model->rRSS, 1e-12);
    close_to((0.1 + 0.025 + 0.1 / 3.1) / 3, model->RE, 1e-12);
    close_to(100.0 / 3 * (0.2 / 1.9 + 0.1 / 4.05 + 0.2 / 6.1), model->SMAPE, 1e-12);
    close_to(1 - 0.0225 / tss * 2, model->AR2, 1e-12);
    assert_true(fit.notes[0].flags & AS_FIT_FEW_POINTS);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

/* The same without leaving out: residuals of -1/15 + 1.05 p are 1/60, -1/30, 1/60. */
static void test_in_sample(void **state) {
    (void)state;
    as_dataset *ds;
    const char *given[] = {"poly_exponents=1", "use_crossvalidation=no", NULL};
    as_fit fit =
        fit_text("PARAMETER p\nPOINTS 1 2 3\nREGION r\nMETRIC m\nDATA 1\nDATA 2\nDATA 3.1\n", "basic", given, &ds);
    const as_model *model = model_of(ds, &fit, 0);
    close_to(6 / 3600.0, model->RSS, 1e-12);
    close_to((1 / 60.0 + 1 / 60.0 + 1 / 60.0 / 3.1) / 3, model->RE, 1e-12);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

/* Many points leave one out by a formula; here against really leaving it out. */
static void test_many_points(void **state) {
    (void)state;
    enum { N = 48 };
    double x[N], y[N], scratch[2 * N], A[2 * N], inverse[2 * N], full[2], without[2];
    double *memory = malloc(as_hypothesis_size(N) * sizeof *memory);
    for (int i = 0; i < N; i++) {
        x[i] = i < N - 1 ? i + 1 : 1e6; /* the last one alone decides about the slope */
        y[i] = 5 + 2 * x[i] + (i % 7) * 0.3;
    }
    as_hypothesis h;
    as_hypothesis_make(&h, (as_power){as_exponent_fraction(1, 1), as_exponent_fraction(0, 1)}, x, N, true, memory,
                       scratch);
    as_hypothesis_coefficients(&h, y, N, full);
    for (size_t i = 0; i < N; i++) {
        size_t at = 0;
        double c[2] = {0};
        for (size_t k = 0; k < N; k++) {
            if (k == i) continue;
            A[at] = 1;
            A[N - 1 + at++] = x[k];
        }
        as_pseudo_inverse(A, N - 1, 2, N - 1, false, inverse);
        for (size_t k = 0; k < N - 1; k++) {
            c[0] += inverse[k] * y[k < i ? k : k + 1];
            c[1] += inverse[N - 1 + k] * y[k < i ? k : k + 1];
        }
        as_hypothesis_without(&h, y, N, i, full, without);
        close_to(c[0], without[0], 1e-9);
        close_to(c[1], without[1], 1e-9);
    }
    free(memory);
}

/* p^(3/2) lies between the whole exponents that refining begins with: 1 and 2 have it as their mediant. */
static void test_refining(void **state) {
    (void)state;
    as_dataset *ds;
    char text[512] = "PARAMETER p\nPOINTS 4 9 16 25 36 49\nREGION r\nMETRIC m\n";
    for (int root = 2; root <= 7; root++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "DATA %d\n", 10 + 2 * root * root * root);
    as_fit fit = fit_text(text, "refining", NULL, &ds);
    const as_model *model = model_of(ds, &fit, 0);
    term_is(ds, model, 0, "3/2", "0", 2);
    close_to(10, constant_of(ds, model), 1e-7);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

/* y = p up to 6, then 100 p: both parts are found, with the change between two points. */
static void test_segmented(void **state) {
    (void)state;
    as_dataset *ds;
    char text[1024] = "PARAMETER p\nPOINTS 1 2 3 4 5 6 7 8 9 10 11 12\nREGION r\nMETRIC m\n";
    for (int p = 1; p <= 12; p++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "DATA %d\n", p <= 6 ? p : 100 * p);
    as_fit fit = fit_text(text, "segmented", NULL, &ds);
    const as_model *model = model_of(ds, &fit, 0);
    assert_int_equal(model->n_segments, 2);
    const as_segment *left = as_ds_segment(ds, model->first_segment), *right = left + 1;
    assert_true(left->from == -INFINITY && right->to == INFINITY && left->to <= right->from);
    close_to(2, as_model_at(ds, model, (double[]){2}), 1e-6);
    close_to(1200, as_model_at(ds, model, (double[]){12}), 1e-6);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

static void test_segmented_with_few_points(void **state) {
    (void)state;
    as_dataset *ds;
    as_fit fit = fit_text("PARAMETER p\nPOINTS 1 2 3 4\nREGION r\nMETRIC m\nDATA 1\nDATA 2\nDATA 3\nDATA 4\n",
                          "segmented", NULL, &ds);
    assert_int_equal(model_of(ds, &fit, 0)->n_segments, 1);
    assert_true(fit.notes[0].flags & AS_FIT_NOT_SEGMENTED);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

/* ---- odd data ---------------------------------------------------------------------------------------------------- */

/* c has all points; d four of six, which is too few; e has NaN and infinity at two. */
static void test_ragged_and_not_finite(void **state) {
    (void)state;
    static const char lines[] = "{\"params\":{\"p\":%d},\"callpath\":\"%s\",\"value\":%s}\n";
    char text[4096] = "";
    static const char *const odd[] = {"3", "5", "NaN", "9", "11", "Infinity"};
    for (int i = 1; i <= 6; i++) {
        char value[32];
        snprintf(value, sizeof value, "%d", 1 + 2 * i);
        size_t used = strlen(text);
        used += (size_t)snprintf(text + used, sizeof text - used, lines, i, "c", value);
        if (i <= 4) used += (size_t)snprintf(text + used, sizeof text - used, lines, i, "d", value);
        snprintf(text + used, sizeof text - used, lines, i, "e", odd[i - 1]);
    }
    as_read_config config = {.format = "extrap-jsonl"};
    as_dataset *ds = NULL;
    assay_error error;
    assert_int_equal(as_read_memory("t.jsonl", text, strlen(text), &config, &ds, &error), ASSAY_OK);
    as_fit_options options = options_of(ds, "default", NULL);
    as_fit fit = fit_all(ds, &options);
    assert_int_equal(fit.n, 3);
    term_is(ds, model_of(ds, &fit, 0), 0, "1", "0", 2);
    assert_int_equal(model_of(ds, &fit, 1)->n_terms, 0);
    close_to((3 + 5 + 7 + 9) / 4.0, constant_of(ds, model_of(ds, &fit, 1)), 1e-12);
    unsigned cut = AS_FIT_MISSING | AS_FIT_CUT | AS_FIT_FEW_POINTS;
    assert_int_equal(fit.notes[1].flags & cut, cut);
    assert_int_equal(fit.notes[1].n_missing, 2);
    assert_true(fit.notes[2].flags & AS_FIT_NOT_FINITE);
    assert_int_equal(fit.notes[2].n_points, 4);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

/* Half a core has no logarithm that models could use. */
static void test_values_below_one(void **state) {
    (void)state;
    as_dataset *ds;
    as_fit fit = fit_text("PARAMETER p\nPOINTS 0 0.5 1 2 4\nREGION r\nMETRIC m\n"
                          "DATA 1\nDATA 2\nDATA 3\nDATA 5\nDATA 9\n",
                          "default", NULL, &ds);
    term_is(ds, model_of(ds, &fit, 0), 0, "1", "0", 2);
    assert_true(fit.notes[0].flags & AS_FIT_NO_LOG);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

/* Values 10 and 12 at each of 5 points: mean 11, deviation with divisor n - 1 is sqrt(2), so noise is sqrt(2) / 11. */
static void test_noise(void **state) {
    (void)state;
    as_dataset *ds;
    as_fit fit = fit_text("PARAMETER p\nPOINTS 1 2 3 4 5\nREGION r\nMETRIC m\n"
                          "DATA 10 12\nDATA 10 12\nDATA 12 10\nDATA 10 12\nDATA 10 12\n",
                          "default", NULL, &ds);
    close_to(sqrt(2) / 11, (double)fit.notes[0].noise, 1e-6);
    assert_true(fit.notes[0].flags & AS_FIT_NOISY);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

/* ---- several parameters ------------------------------------------------------------------------------------------ */

/* All points of {1, 2, 3, 4, 5} x {2, 4, 8, 16, 32}, with a value each. */
static as_dataset *two_parameters(double (*f)(double p, double q)) {
    static char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "PARAMETER p q\nPOINTS");
    for (int p = 1; p <= 5; p++) {
        for (int q = 2; q <= 32; q *= 2) used += (size_t)snprintf(text + used, sizeof text - used, " (%d %d)", p, q);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "\nREGION r\nMETRIC m\n");
    for (int p = 1; p <= 5; p++) {
        for (int q = 2; q <= 32; q *= 2)
            used += (size_t)snprintf(text + used, sizeof text - used, "DATA %.17g\n", f(p, q));
    }
    return read_text(text);
}

static double product_of(double p, double q) { return 7 + 3 * p * q; }
static double sum_of(double p, double q) { return 7 + 3 * p * p + 2 * q; }
static double only_q(double p, double q) { return (void)p, 4 + 0.5 * q; }
static double both(double p, double q) { return 100 + 3 * p + 2 * p * q; }

static void test_product(void **state) {
    (void)state;
    as_dataset *ds = two_parameters(product_of);
    as_fit_options options = options_of(ds, "default", NULL);
    as_fit fit = fit_all(ds, &options);
    const as_model *model = model_of(ds, &fit, 0);
    assert_int_equal(model->n_terms, 2);
    term_is(ds, model, 0, "1", "0", 3);
    term_is(ds, model, 1, "1", "0", 3);
    assert_int_equal(as_ds_term(ds, model->first_term + 1)->term, 0);
    close_to(7, constant_of(ds, model), 1e-9);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

static void test_sum(void **state) {
    (void)state;
    as_dataset *ds = two_parameters(sum_of);
    as_fit_options options = options_of(ds, "default", NULL);
    as_fit fit = fit_all(ds, &options);
    const as_model *model = model_of(ds, &fit, 0);
    term_is(ds, model, 0, "2", "0", 3);
    term_is(ds, model, 1, "1", "0", 2);
    assert_int_equal(as_ds_term(ds, model->first_term + 1)->term, 1);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

static void test_one_parameter_left(void **state) {
    (void)state;
    as_dataset *ds = two_parameters(only_q);
    as_fit_options options = options_of(ds, "default", NULL);
    as_fit fit = fit_all(ds, &options);
    const as_model *model = model_of(ds, &fit, 0);
    assert_int_equal(model->n_terms, 1);
    term_is(ds, model, 0, "1", "0", 0.5);
    assert_int_equal(as_ds_term(ds, model->first_term)->parameter, 1);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

static void test_term_and_product(void **state) {
    (void)state;
    as_dataset *ds = two_parameters(both);
    as_fit_options options = options_of(ds, "default", NULL);
    as_fit fit = fit_all(ds, &options);
    const as_model *model = model_of(ds, &fit, 0);
    assert_int_equal(model->n_terms, 3);
    term_is(ds, model, 0, "1", "0", 3);
    term_is(ds, model, 1, "1", "0", 2);
    close_to(100, constant_of(ds, model), 1e-8);
    as_fit_free(&fit);
    as_dataset_free(ds);
}

/* ---- threads and reasons ----------------------------------------------------------------------------------------- */

static bool same_number(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* 700 series in several groups of points: the same models from 1 and from 7 threads. */
static void test_threads(void **state) {
    (void)state;
    as_vec text;
    as_vec_init(&text, 1, NULL);
    uint64_t random = 88172645463325252u;
    for (int c = 0; c < 700; c++) {
        for (int i = 0; i < 7; i++) {
            char line[128];
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            if (c % 3 == 0 && (int)(random % 7) == i) continue;
            double noise = 1 + (double)(random >> 11) / 9007199254740992.0 * 0.1;
            int n = snprintf(line, sizeof line, "{\"params\":{\"p\":%d},\"callpath\":\"c%d\",\"value\":%.17g}\n",
                             4 << i, c, noise * (c + pow(4 << i, c % 5 * 0.5)));
            assert_true(as_vec_append(&text, line, (size_t)n));
        }
    }
    as_fit fits[2];
    as_dataset *sets[2];
    for (int k = 0; k < 2; k++) {
        as_read_config config = {.format = "extrap-jsonl"};
        assay_error error;
        assert_int_equal(as_read_memory("t.jsonl", text.data, text.count, &config, &sets[k], &error), ASSAY_OK);
        as_fit_options options = options_of(sets[k], "default", NULL);
        options.threads = k ? 7 : 1;
        fits[k] = fit_all(sets[k], &options);
    }
    for (size_t i = 0; i < 700; i++) {
        const as_model *a = model_of(sets[0], &fits[0], i), *b = model_of(sets[1], &fits[1], i);
        assert_int_equal(a->context, b->context);
        assert_int_equal(a->n_terms, b->n_terms);
        assert_true(same_number(a->SMAPE, b->SMAPE) && same_number(a->RSS, b->RSS));
        assert_true(same_number(constant_of(sets[0], a), constant_of(sets[1], b)));
        assert_int_equal(fits[0].notes[i].flags, fits[1].notes[i].flags);
    }
    for (int k = 0; k < 2; k++) {
        as_fit_free(&fits[k]);
        as_dataset_free(sets[k]);
    }
    as_vec_free(&text);
}

typedef struct told {
    size_t n, n_chosen;
    double chosen_error, smallest;
} told;

static bool listen(void *user, const as_tried *tried) {
    told *t = user;
    assert_int_equal(tried->order, t->n);
    t->n++;
    if (tried->SMAPE < t->smallest) t->smallest = tried->SMAPE;
    if (strcmp(tried->verdict, "chosen") != 0) return true;
    t->n_chosen++;
    t->chosen_error = tried->SMAPE;
    return true;
}

/* The constant and the 42 terms; the chosen one is the best. */
static void test_why(void **state) {
    (void)state;
    as_dataset *ds = read_text("PARAMETER p\nPOINTS 2 4 8 16 32\nREGION r\nMETRIC m\n"
                               "DATA 8.1\nDATA 14\nDATA 26.2\nDATA 50\nDATA 97\n");
    as_fit_options options = options_of(ds, "default", NULL);
    told t = {.smallest = INFINITY};
    assay_error error;
    assert_int_equal(as_fit_explain(ds, &options, 0, listen, &t, &error), ASSAY_OK);
    assert_int_equal(t.n, 43);
    assert_int_equal(t.n_chosen, 1);
    assert_true(same_number(t.chosen_error, t.smallest));
    as_dataset_free(ds);
}

/* Per parameter the constant and 42 terms, then 4 combinations; each has one that is chosen. */
static void test_why_with_two_parameters(void **state) {
    (void)state;
    as_dataset *ds = two_parameters(both);
    as_fit_options options = options_of(ds, "default", NULL);
    told t = {.smallest = INFINITY};
    assay_error error;
    assert_int_equal(as_fit_explain(ds, &options, 0, listen, &t, &error), ASSAY_OK);
    assert_int_equal(t.n, 43 + 43 + 4);
    assert_int_equal(t.n_chosen, 3);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minimum_norm),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_triangulate),
        cmocka_unit_test(test_exact_line),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_leave_one_out),
        cmocka_unit_test(test_in_sample),
        cmocka_unit_test(test_many_points),
        cmocka_unit_test(test_refining),
        cmocka_unit_test(test_segmented),
        cmocka_unit_test(test_segmented_with_few_points),
        cmocka_unit_test(test_ragged_and_not_finite),
        cmocka_unit_test(test_values_below_one),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_one_parameter_left),
        cmocka_unit_test(test_term_and_product),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_why),
        cmocka_unit_test(test_why_with_two_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
