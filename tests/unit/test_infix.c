/* Formulas of users: values reckoned by hand, how tightly operators bind, what is refused and where, what has no
 * value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataset/formula/infix.h"

/* ---- three metrics at five points -------------------------------------------------------------------------------- */

enum { N_POINTS = 5, METRIC_A = 0, METRIC_B, METRIC_C };
static const double values[3][N_POINTS] = {{6, 8, 0, 0, NAN}, {3, 0, 5, 0, 2}, {-2, -2, -2, 0, NAN}};
static const double totals[3] = {100, 50, -10};

static bool find_metric(void *user, as_infix_reference kind, const char *name, size_t size, as_formula_operand *out,
                        char *why, size_t room) {
    static const char *const names[][3] = {{"a", "b", "c (sec)"}, {"7", "8", "-9"}, {"1", "2", "3"}};
    (void)user;
    for (uint32_t i = 0; i < 3; i++) {
        const char *known = names[kind][i];
        if (strlen(known) == size && memcmp(known, name, size) == 0) {
            out->metric = i;
            return true;
        }
    }
    snprintf(why, room, "no %.*s", (int)size, name);
    return false;
}

static const double *get_metric(void *user, uint32_t which, size_t first, size_t n, double *room) {
    const as_formula *formula = user;
    const as_formula_operand *operands;
    assert_true(which < as_formula_operands(formula, &operands));
    for (size_t i = 0; i < n; i++)
        room[i] = operands[which].reach == AS_REACH_ALL ? totals[operands[which].metric]
                                                        : values[operands[which].metric][(first + i) % N_POINTS];
    return room;
}

static const as_infix_names all_names = {.metric = find_metric};

static void run(const char *text, size_t n, double *out) {
    as_formula *formula;
    assay_error error;
    if (as_infix_compile(&all_names, (as_formula_text){text, strlen(text)}, &formula, &error) != ASSAY_OK)
        fail_msg("%s: %u: %s", text, error.column, error.message);
    as_formula_scope *scope = as_formula_scope_new();
    as_globals *globals = as_globals_new(scope, 1);
    as_formula_source source = {.user = formula, .metric = get_metric};
    as_machine *machine = as_machine_new(formula, globals, &source, AS_MACHINE_LIMITS);
    assert_non_null(machine);
    assert_int_equal(as_machine_init(machine), AS_RUN_OK);
    assert_int_equal(as_machine_values(machine, n, out), AS_RUN_OK);
    as_machine_free(machine);
    as_globals_free(globals);
    as_formula_scope_free(scope);
    as_formula_free(formula);
}

static bool near(double a, double b) { return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= 1e-14 * fabs(b); }

static void check_number(const char *text, double expected) {
    double out[1];
    run(text, 1, out);
    if (!near(out[0], expected)) fail_msg("%s: %.17g, expected %.17g", text, out[0], expected);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void test_binding(void **state) {
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"1 + 2 * 3", 7},         {"(1 + 2) * 3", 9},    {"10 - 4 - 3", 3}, {"100 / 10 / 5", 2}, {"2 * 3 ^ 2", 18},
        {"2 ^ 3 ^ 2", 512},       {"(2 ^ 3) ^ 2", 64},   {"-2 ^ 2", -4},    {"(-2) ^ 2", 4},     {"2 ^ -1", 0.5},
        {"2 ^ -2 ^ 2", 1.0 / 16}, {"3 - -2", 5},         {"3--2", 5},       {"--3", 3},          {"+3 * -2", -6},
        {"2 * -3 ^ 2", -18},      {"1e+06 / 1E3", 1000}, {".5 + 1.", 1.5},  {"7 / 2 * 2", 7},    {"8 - 2 + 1", 7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_number(rows[i].text, rows[i].value);
}

static void test_functions(void **state) {
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"sum(1, 2, 3)", 6},
        {"SUM(4)", 4},
        {"Min(3, 1, 2)", 1},
        {"max(3, 7, 2)", 7},
        {"avg(1, 2, 6)", 3},
        {"stdev(2, 4, 4, 4, 5, 5, 7, 9)", 2},
        {"stdev(5)", 0},
        {"sqrt(16)", 4},
        {"sqrt(-1)", NAN},
        {"pow(2, 10)", 1024},
        {"log(1000)", 3},
        {"log(8, 2)", 3},
        {"ln(e)", 1},
        {"lg(8)", 3},
        {"ln(0)", NAN},
        {"log(-1)", NAN},
        {"exp(0)", 1},
        {"abs(-3)", 3},
        {"floor(-1.5)", -2},
        {"ceil(-1.5)", -1},
        {"round(2.5)", 3},
        {"round(-2.5)", -3},
        {"mod(7, 3)", 1},
        {"mod(-7, 3)", -1},
        {"sign(-4) + sign(0) + sign(9)", 0},
        {"fact(5)", 120},
        {"fact(1.5)", NAN},
        {"combin(5, 2)", 10},
        {"combin(30, 15)", 155117520},
        {"combin(2, 3)", 0},
        {"sin(0) + cos(0) + tan(0)", 1},
        {"asin(1) * 2", 3.141592653589793},
        {"acos(1) + atan(0)", 0},
        {"sinh(0) + cosh(0) + tanh(0)", 1},
        {"asinh(0) + acosh(1) + atanh(0)", 0},
        {"pi", 3.141592653589793},
        {"PI()", 3.141592653589793},
        {"e", 2.718281828459045},
        {"prod(2, 3, 4)", 24},
        {"1 / 0", NAN},
        {"0 / 0", NAN},
        {"max(1, 2) ^ min(3, 4)", 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_number(rows[i].text, rows[i].value);
}

/* What is missing counts as 0; there is no value where all of it is missing, or the divisor is. */
static void test_metrics(void **state) {
    static const struct {
        const char *text;
        double values[N_POINTS];
    } rows[] = {
        {"a / b", {2, NAN, 0, NAN, 0}},
        {"a + b", {9, 8, 5, NAN, 2}},
        {"1 + a", {7, 9, NAN, NAN, NAN}},
        {"$7 - $8", {3, 8, -5, NAN, -2}},
        {"'c (sec)' * 2", {-4, -4, -4, NAN, NAN}},
        {"\"c (sec)\" + `c (sec)`", {-4, -4, -4, NAN, NAN}},
        {"$-9", {-2, -2, -2, NAN, NAN}},
        {"#1 + #2", {9, 8, 5, NAN, 2}},
        {"a / @a", {0.06, 0.08, NAN, NAN, NAN}},
        {"@7 + @b + @'c (sec)'", {140, 140, 140, 140, 140}},
        {"@$8 * a", {300, 400, NAN, NAN, NAN}},
        {"max(a, b)", {6, 8, 5, NAN, 2}},
        {"a - a", {0, 0, NAN, NAN, NAN}},
        {"stdev(a, b)", {1.5, 4, 2.5, NAN, 1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double out[1000];
        for (size_t n = 1; n <= 1000; n = n * 3 + 2) {
            run(rows[i].text, n, out);
            for (size_t k = 0; k < n; k++) {
                if (!near(out[k], rows[i].values[k % N_POINTS]))
                    fail_msg("%s at %zu: %.17g, expected %.17g", rows[i].text, k, out[k], rows[i].values[k % N_POINTS]);
            }
        }
    }
}

static void test_refused(void **state) {
    static const struct {
        const char *text;
        unsigned column;
        const char *part;
    } rows[] = {
        {"", 1, "no expression"},
        {"1 +", 4, "ends"},
        {"* 2", 1, "value is missing"},
        {"(1 + 2", 7, ") is missing"},
        {"1 + 2)", 6, "closes nothing"},
        {"1 2", 3, "operator is missing"},
        {"a b", 3, "operator is missing"},
        {"x / a", 1, "no x"},
        {"a / 'x y'", 5, "no x y"},
        {"$5", 1, "no 5"},
        {"$", 1, "behind $"},
        {"@", 2, "behind @"},
        {"'a", 1, "does not end"},
        {"sqr(4)", 1, "did you mean sqrt?"},
        {"nothing(4)", 1, "no function nothing"},
        {"sqrt(1, 2)", 1, "sqrt takes one argument"},
        {"pow(1)", 1, "pow takes two arguments"},
        {"sum()", 1, "at least one"},
        {"pi(1)", 1, "no argument"},
        {"log()", 1, "one or two"},
        {"rand()", 1, "not supported"},
        {"max(1; 2)", 6, "no meaning"},
        {"max(1 2)", 7, "missing here"},
        {"a = 2", 3, "no meaning"},
        {"1.2.3", 4, "operator"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        as_formula *formula;
        assay_error error;
        assert_int_equal(
            as_infix_compile(&all_names, (as_formula_text){rows[i].text, strlen(rows[i].text)}, &formula, &error),
            ASSAY_E_FORMAT);
        assert_null(formula);
        if (error.column != rows[i].column || !strstr(error.message, rows[i].part))
            fail_msg("'%s': column %u: %s", rows[i].text, error.column, error.message);
    }
}

static void check_repeated(const char *before, const char *piece, const char *middle, const char *after, size_t n,
                           assay_status expected) {
    size_t size = n * (strlen(piece) + strlen(after)) + strlen(before) + strlen(middle) + 1, at;
    char *text = malloc(size);
    as_formula *formula;
    assay_error error;
    assert_non_null(text);
    at = (size_t)snprintf(text, size, "%s", before);
    for (size_t i = 0; i < n; i++) at += (size_t)snprintf(text + at, size - at, "%s", piece);
    at += (size_t)snprintf(text + at, size - at, "%s", middle);
    for (size_t i = 0; i < n; i++) at += (size_t)snprintf(text + at, size - at, "%s", after);
    assert_int_equal(as_infix_compile(&all_names, (as_formula_text){text, at}, &formula, &error), expected);
    as_formula_free(formula);
    free(text);
}

static void test_limits(void **state) {
    (void)state;
    check_repeated("", "(", "a", ")", 90, ASSAY_OK);
    check_repeated("", "(", "a", ")", 30000, ASSAY_E_FORMAT);
    check_repeated("", "-", "a", "", 60000, ASSAY_E_FORMAT);
    check_repeated("", "2^", "a", "", 30000, ASSAY_E_FORMAT);
    check_repeated("", "sin(", "a", ")", 10000, ASSAY_E_FORMAT);
    check_repeated("a", "+a", "", "", 30000, ASSAY_OK);
    check_repeated("a", "+a", "", "", 40000, ASSAY_E_FORMAT); /* too long */
    check_repeated("stdev(a", ",a", ")", "", 900, ASSAY_OK);
    check_repeated("stdev(a", ",a", ")", "", 20000, ASSAY_E_FORMAT);
}

/* Metrics and numbers of a copy are its own. */
static void test_copy(void **state) {
    static const char text[] = "a * 2 + @b";
    const uint32_t new_ids[] = {METRIC_B, METRIC_C, METRIC_A};
    as_formula *formula, *copy;
    const as_formula_operand *operands;
    assay_error error;
    (void)state;
    assert_int_equal(as_infix_compile(&all_names, (as_formula_text){text, strlen(text)}, &formula, &error), ASSAY_OK);
    copy = as_formula_copy(formula, new_ids);
    as_formula_free(formula);
    assert_non_null(copy);
    assert_true(as_formula_can_be_empty(copy));
    assert_int_equal(as_formula_operands(copy, &operands), 2);
    assert_int_equal(operands[0].metric, METRIC_B);
    assert_int_equal(operands[1].metric, METRIC_C);
    assert_int_equal(operands[1].reach, AS_REACH_ALL);
    as_formula_free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binding), cmocka_unit_test(test_functions), cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_limits),    cmocka_unit_test(test_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
