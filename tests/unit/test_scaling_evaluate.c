/* Values and growth of models, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/scaling/evaluate.h"
#include "dataset/build.h"

/* A factor of a term: "p", exponents as text. */
typedef struct factor {
    uint32_t segment, term;
    double coefficient;
    assay_id parameter;
    const char *exponent, *log_exponent;
    uint32_t first_piece, n_pieces;
} factor;

static as_dataset *new_dataset(size_t n_parameters) {
    static const char *const names[] = {"p", "q", "r"};
    as_dataset *ds = as_dataset_new(0);
    for (size_t i = 0; i < n_parameters; i++) as_add_parameter(ds, as_ds_intern_text(ds, names[i]));
    return ds;
}

static const as_model *add_model(as_dataset *ds, const as_segment *segments, size_t n_segments, size_t n_pieces,
                                 const factor *factors, size_t n) {
    as_term terms[8];
    for (size_t i = 0; i < n; i++) {
        const factor *f = &factors[i];
        terms[i] = (as_term){.segment = f->segment,
                             .term = f->term,
                             .coefficient = f->coefficient,
                             .parameter = f->parameter,
                             .exponent = f->exponent ? as_ds_intern_text(ds, f->exponent) : AS_NO_STR,
                             .log_exponent = f->log_exponent ? as_ds_intern_text(ds, f->log_exponent) : AS_NO_STR,
                             .first_piece = f->first_piece,
                             .n_pieces = f->n_pieces};
    }
    as_model model = {.function = AS_NO_STR, .raw = AS_NO_STR, .n_pieces = (uint32_t)n_pieces};
    assay_id id = as_add_model(ds, &model, segments, n_segments, terms, n);
    assert_int_not_equal(id, ASSAY_NONE);
    return as_ds_model(ds, id);
}

static as_segment everywhere(double constant) {
    return (as_segment){.constant = constant, .from = -INFINITY, .to = INFINITY};
}

static const as_model *one_term(as_dataset *ds, double constant, double coefficient, const char *exponent,
                                const char *log_exponent) {
    as_segment segment = everywhere(constant);
    factor f = {.coefficient = coefficient, .exponent = exponent, .log_exponent = log_exponent};
    return add_model(ds, &segment, 1, 0, &f, 1);
}

static void values(void **state) {
    (void)state;
    as_dataset *ds = new_dataset(1);
    const as_model *model = one_term(ds, 2, 3, "3/2", "2");
    assert_float_equal(as_model_at(ds, model, (double[]){4}), 2 + 3 * 8 * 4, 1e-12);
    assert_float_equal(as_model_at(ds, one_term(ds, 5, 1, "0", "1"), (double[]){8}), 8, 1e-12);
    assert_float_equal(as_model_at(ds, one_term(ds, 5, 4, "-1", "0"), (double[]){8}), 5.5, 1e-12);
    assert_true(isnan(as_model_at(ds, one_term(ds, 0, 1, "0", "1"), (double[]){-2}))); /* no logarithm */
    as_segment constant = everywhere(7);
    assert_float_equal(as_model_at(ds, add_model(ds, &constant, 1, 0, NULL, 0), (double[]){1e9}), 7, 0);
    as_dataset_free(ds);
}

static void values_of_segments(void **state) {
    (void)state;
    as_dataset *ds = new_dataset(1);
    as_segment segments[] = {{.constant = 1, .from = -INFINITY, .to = 4}, {.constant = 10, .from = 6, .to = INFINITY}};
    factor factors[] = {{0, 0, 2, 0, "1", "0", 0, 0}, {1, 0, 1, 0, "2", "0", 0, 0}};
    const as_model *model = add_model(ds, segments, 2, 0, factors, 2);
    assert_float_equal(as_model_at(ds, model, (double[]){4}), 9, 1e-12);
    assert_float_equal(as_model_at(ds, model, (double[]){6}), 46, 1e-12);
    assert_true(isnan(as_model_at(ds, model, (double[]){5})));
    segments[1].from = 4; /* a shared point belongs to the left segment */
    assert_float_equal(as_model_at(ds, add_model(ds, segments, 2, 0, factors, 2), (double[]){4}), 9, 1e-12);
    as_growth growth = as_model_growth(ds, model);
    assert_int_equal(growth.order, AS_ORDER_QUADRATIC);
    as_dataset_free(ds);
}

/* 1 + 2 p q^2 + 3 r: factors of one term are multiplied, terms added. */
static void values_of_several_parameters(void **state) {
    (void)state;
    as_dataset *ds = new_dataset(3);
    as_segment segment = everywhere(1);
    factor factors[] = {{0, 0, 2, 0, "1", "0", 0, 0}, {0, 0, 2, 1, "2", "0", 0, 0}, {0, 1, 3, 2, "1", "0", 0, 0}};
    const as_model *model = add_model(ds, &segment, 1, 0, factors, 3);
    assert_float_equal(as_model_at(ds, model, (double[]){2, 3, 5}), 1 + 2 * 2 * 9 + 3 * 5, 1e-12);
    as_dataset_free(ds);
}

/* 10 + 2 * {1 + p for p<=4; 3 * p^2 for p>=8} * q: the rows of the pieces lie between the two factors, as readers leave
 * them. */
static void values_of_piecewise_factors(void **state) {
    (void)state;
    as_dataset *ds = new_dataset(2);
    as_segment segments[] = {
        everywhere(10), {.constant = 1, .from = -INFINITY, .to = 4}, {.constant = 0, .from = 8, .to = INFINITY}};
    factor factors[] = {{0, 0, 2, 0, NULL, NULL, 1, 2},
                        {1, 0, 1, 0, "1", "0", 0, 0},
                        {2, 0, 3, 0, "2", "0", 0, 0},
                        {0, 0, 2, 1, "1", "0", 0, 0}};
    const as_model *model = add_model(ds, segments, 3, 2, factors, 4);
    assert_int_equal(model->n_segments, 1);
    assert_float_equal(as_model_at(ds, model, (double[]){4, 7}), 10 + 2 * 5 * 7, 1e-12);
    assert_float_equal(as_model_at(ds, model, (double[]){8, 7}), 10 + 2 * 3 * 64 * 7, 1e-9);
    assert_true(isnan(as_model_at(ds, model, (double[]){6, 7})));
    as_growth growth = as_model_growth(ds, model);
    assert_float_equal(growth.power, 3, 1e-12);
    assert_float_equal(growth.coefficient, 6, 1e-12);
    as_vec text;
    as_vec_init(&text, 1, NULL);
    assert_true(as_growth_text(ds, model, &text));
    assert_string_equal(text.data, "p^2 q");
    as_vec_free(&text);
    as_dataset_free(ds);
}

static void orders(void **state) {
    (void)state;
    static const struct {
        double coefficient;
        const char *exponent, *log_exponent;
        const char *order, *growth;
    } cases[] = {
        {1, "0", "1", "logarithmic", "log p"},
        {1, "0", "2", "logarithmic", "log^2 p"},
        {1, "1/3", "0", "sublinear", "p^(1/3)"},
        {1, "3/4", "2", "sublinear", "p^(3/4) log^2 p"},
        {1, "1", "0", "linear", "p"},
        {1, "1.0", "0", "linear", "p"},
        {1, "1", "1", "linearithmic", "p log p"},
        {1, "1", "-1", "sublinear", "p log^(-1) p"},
        {1, "3/2", "1", "superlinear", "p^(3/2) log p"},
        {1, "2", "0", "quadratic", "p^2"},
        {1, "2", "2", "quadratic", "p^2 log^2 p"},
        {1, "0.5", "0", "sublinear", "p^(0.5)"},
        {1, "5/2", "0", "polynomial", "p^(5/2)"},
        {1, "3", "1", "cubic", "p^3 log p"},
        {1, "4", "0", "steeper than cubic", "p^4"},
        {-1, "2", "0", "decreasing", "p^2"},
        {1, "-1", "0", "decreasing", "1"},
        {-1, "-1", "0", "constant", "1"}, /* grows, but only up to the constant */
        {0, "2", "0", "constant", "1"},
    };
    as_vec text;
    as_vec_init(&text, 1, NULL);
    as_dataset *ds = new_dataset(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const as_model *model = one_term(ds, 5, cases[i].coefficient, cases[i].exponent, cases[i].log_exponent);
        assert_string_equal(as_order_name(as_model_growth(ds, model).order), cases[i].order);
        assert_true(as_growth_text(ds, model, &text));
        assert_string_equal(text.data, cases[i].growth);
    }
    as_vec_free(&text);
    as_dataset_free(ds);
}

/* Each grows more slowly than the next. */
static void growth_is_ordered(void **state) {
    (void)state;
    as_dataset *ds = new_dataset(1);
    static const struct {
        double constant, coefficient;
        const char *exponent, *log_exponent;
    } cases[] = {{0, -1, "2", "0"}, {0, -1, "1", "0"}, {9, 1, "-2", "0"},  {9, 1, "-1", "0"}, {1, 0, "0", "0"},
                 {2, 0, "0", "0"},  {0, 1, "0", "1"},  {0, 2, "0", "1"},   {0, 1, "0", "2"},  {0, 9, "1/4", "0"},
                 {0, 1, "1", "0"},  {0, 1, "1", "1"},  {0, 1, "5/4", "0"}, {0, 1, "2", "0"}};
    as_growth before = {.order = AS_ORDER_CONSTANT};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_growth growth = as_model_growth(
            ds, one_term(ds, cases[i].constant, cases[i].coefficient, cases[i].exponent, cases[i].log_exponent));
        if (i && as_growth_compare(&before, &growth) >= 0) fail_msg("case %zu", i);
        if (i && as_growth_compare(&growth, &before) <= 0) fail_msg("case %zu", i);
        assert_int_equal(as_growth_compare(&growth, &growth), 0);
        before = growth;
    }
    as_dataset_free(ds);
}

static void growth_of_several_parameters(void **state) {
    (void)state;
    as_dataset *ds = new_dataset(3);
    as_segment segment = everywhere(1);
    /* 2 p + 3 p q + 4 q log q + 5 p q: p q dominates p and itself, not q log q */
    factor factors[] = {{0, 0, 2, 0, "1", "0", 0, 0}, {0, 1, 3, 0, "1", "0", 0, 0}, {0, 1, 3, 1, "1", "0", 0, 0},
                        {0, 2, 4, 1, "1", "1", 0, 0}, {0, 3, 5, 0, "1", "0", 0, 0}, {0, 3, 5, 1, "1", "0", 0, 0}};
    const as_model *model = add_model(ds, &segment, 1, 0, factors, 6);
    as_vec text;
    as_vec_init(&text, 1, NULL);
    assert_true(as_growth_text(ds, model, &text));
    assert_string_equal(text.data, "p q + q log q");
    as_growth growth = as_model_growth(ds, model);
    assert_float_equal(growth.power, 2, 1e-12);
    assert_float_equal(growth.coefficient, 8, 1e-12); /* 3 p q + 5 p q */
    assert_int_equal(growth.order, AS_ORDER_QUADRATIC);
    /* p^(1/3) q^(2/3): linear in all, and one factor for each parameter */
    factor thirds[] = {{0, 0, 1, 0, "1/3", "0", 0, 0}, {0, 0, 1, 1, "2/3", "0", 0, 0}};
    model = add_model(ds, &segment, 1, 0, thirds, 2);
    assert_int_equal(as_model_growth(ds, model).order, AS_ORDER_LINEAR);
    assert_true(as_growth_text(ds, model, &text));
    assert_string_equal(text.data, "p^(1/3) q^(2/3)");
    as_vec_free(&text);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(values_of_segments),
        cmocka_unit_test(values_of_several_parameters),
        cmocka_unit_test(values_of_piecewise_factors),
        cmocka_unit_test(orders),
        cmocka_unit_test(growth_is_ordered),
        cmocka_unit_test(growth_of_several_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
