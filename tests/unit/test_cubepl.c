/* CubePL: values reckoned by hand, what is refused and where, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataset/formula/cubepl.h"

/* ---- two metrics and a few facts at points ----------------------------------------------------------------------- */

enum { METRIC_V, METRIC_T, METRIC_PAPI };
enum { FACT_POINT, FACT_COUNT, FACT_NAMES, FACT_NAME };

static const double v[] = {1, 2, 10, 20, 0}, t[] = {2, 4, 30, 40, 5};
enum { N_POINTS = 5 };
static const char *const names[] = {"MPI_Init", "main", "MPI_Send", "foo", "MPI_Init"};

static bool is(const char *name, size_t size, const char *expected) {
    return size == strlen(expected) && memcmp(name, expected, size) == 0;
}

static uint32_t find_metric(void *user, const char *name, size_t size) {
    (void)user;
    if (is(name, size, "v")) return METRIC_V;
    if (is(name, size, "t")) return METRIC_T;
    return is(name, size, "PAPI::L1=x") ? METRIC_PAPI : AS_UNKNOWN_NAME;
}

static uint32_t find_fact(void *user, const char *name, size_t size, bool *varies) {
    (void)user;
    *varies = is(name, size, "point") || is(name, size, "name");
    if (is(name, size, "point")) return FACT_POINT;
    if (is(name, size, "cube::#points")) return FACT_COUNT;
    if (is(name, size, "names")) return FACT_NAMES;
    return is(name, size, "name") ? FACT_NAME : AS_UNKNOWN_NAME;
}

static const as_formula_names all_names = {NULL, find_metric, find_fact};

typedef struct world {
    const as_formula *formula;
    uint32_t voided;
    bool fails;
} world;

/* v or t; 1000 more for inclusive ones, 2000 for exclusive ones, 10000 for one context, 20000 for all. */
static double operand_value(const as_formula_operand *operand, size_t point) {
    double value = operand->metric == METRIC_V ? v[point % N_POINTS] : t[point % N_POINTS];
    return value + operand->flavour * 1000 + operand->reach * 10000;
}

static const double *get_metric(void *user, uint32_t which, size_t first, size_t n, double *room) {
    const world *w = user;
    const as_formula_operand *operands;
    assert_true(which < as_formula_operands(w->formula, &operands));
    if (w->fails) return NULL;
    for (size_t i = 0; i < n; i++) room[i] = operand_value(&operands[which], first + i);
    return room;
}

static bool get_metric_at(void *user, uint32_t which, double context, double *out) {
    const world *w = user;
    const as_formula_operand *operands;
    as_formula_operands(w->formula, &operands);
    *out = operand_value(&operands[which], (size_t)context);
    return true;
}

static bool get_fact(void *user, uint32_t fact, size_t point, double index, as_formula_value *out) {
    (void)user;
    *out = (as_formula_value){0};
    if (fact == FACT_POINT) out->number = (double)point;
    if (fact == FACT_COUNT) out->number = N_POINTS;
    const char *name = fact == FACT_NAME                        ? names[point % N_POINTS]
                       : fact == FACT_NAMES && index < N_POINTS ? names[(size_t)index]
                                                                : NULL;
    out->is_nothing = fact == FACT_NAMES && !name;
    if (name) *out = (as_formula_value){.text = name, .size = strlen(name)};
    return true;
}

static double get_fact_size(void *user, uint32_t fact) {
    (void)user;
    return fact == FACT_NAMES ? N_POINTS : 1;
}

static bool set_void(void *user, uint32_t metric, bool is_void) {
    world *w = user;
    if (is_void) w->voided |= 1u << metric;
    return true;
}

static as_formula_text text_of(const char *text) { return (as_formula_text){text, text ? strlen(text) : 0}; }

static as_formula *compile(as_formula_scope *scope, const char *init, const char *value) {
    as_formula_text texts[AS_FORMULA_PARTS] = {[AS_FORMULA_INIT] = text_of(init), [AS_FORMULA_VALUE] = text_of(value)};
    as_formula *formula;
    assay_error error;
    if (as_cubepl_compile(scope, &all_names, texts, &formula, NULL, &error) != ASSAY_OK)
        fail_msg("%s: %u:%u: %s", value, error.line, error.column, error.message);
    return formula;
}

/* The values at n points, with all that lies on the way. */
static as_run_result run(const char *init, const char *value, size_t n, double *out) {
    as_formula_scope *scope = as_formula_scope_new();
    as_formula *formula = compile(scope, init, value);
    world w = {.formula = formula};
    as_formula_source source = {&w, get_metric, get_metric_at, get_fact, NULL, get_fact_size, set_void};
    as_globals *globals = as_globals_new(scope, 1 << 20);
    as_machine *machine = as_machine_new(formula, globals, &source, AS_MACHINE_LIMITS);
    assert_non_null(machine);
    as_run_result result = as_machine_init(machine);
    if (result == AS_RUN_OK) result = as_machine_values(machine, n, out);
    as_machine_free(machine);
    as_globals_free(globals);
    as_formula_free(formula);
    as_formula_scope_free(scope);
    return result;
}

static bool near(double a, double b) { return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= 1e-12 * fabs(b); }

typedef struct expectation {
    const char *text;
    double values[N_POINTS]; /* at the points; only the first, where the others are 0 */
} expectation;

static void check(const expectation *expected, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double out[N_POINTS];
        assert_int_equal(run(NULL, expected[i].text, N_POINTS, out), AS_RUN_OK);
        for (size_t k = 0; k < N_POINTS; k++) {
            if (!near(out[k], expected[i].values[k]))
                fail_msg("%s at point %zu: %.17g, expected %.17g", expected[i].text, k, out[k], expected[i].values[k]);
        }
    }
}

/* The same at all points. */
static void check_same(const char *text, double expected) {
    double out[N_POINTS];
    assert_int_equal(run(NULL, text, N_POINTS, out), AS_RUN_OK);
    for (size_t k = 0; k < N_POINTS; k++) {
        if (!near(out[k], expected)) fail_msg("%s: %.17g, expected %.17g", text, out[k], expected);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void test_arithmetic(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } same[] = {
        {"", 0},
        {" 7 ", 7},
        {"1.5e3", 1500},
        {".5", 0.5},
        {"2 + 3 * 4", 14},
        {"(2 + 3) * 4", 20},
        {"10 - 4 - 3", 3},
        {"100 / 10 / 5", 2},
        {"2 ^ 3 ^ 2", 64}, /* from the left */
        {"2 * 3 ^ 2", 18},
        {"-2 ^ 2", -4},
        {"-2 + 3", 1},
        {"2 - -3", 5},
        {"--3", 3},
        {"8 / -2 * 2", -2}, /* the sign takes the product: 8 / -(2 * 2) */
        {"2 ^ -1", 0.5},
        {"|3 - 5| * 2", 4},
        {"| |1-3| - 5 |", 3},
        {"123.4 + 234 -( 23)^2", -171.6},
        {"0 / 0", 0},
        {"1 / 0", NAN},
        {"0 * (1 / 0)", 0},
        {"0.3 - 0.1 - 0.2", 0}, /* nothing but rounding: 0.3 - 0.1 is 0.19999999999999998 */
        {"1 - 0.9", 0.1},
        {"1 // one\n + 1", 2},
        {"1;", 1},
        {"{ return 24; }", 24},
        {"{ return sqrt ({ return 16; }); }", 4},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) check_same(same[i].text, same[i].value);
}

static void test_functions(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } same[] = {
        {"abs(-2.5)", 2.5},
        {"sqrt(9)", 3},
        {"sqrt(-9)", 0},
        {"log(1)", 0},
        {"ln(exp(2))", 2},
        {"log(0)", NAN},
        {"log(-1)", 0},
        {"exp(0)", 1},
        {"sin(0)", 0},
        {"cos(0)", 1},
        {"tan(0)", 0},
        {"asin(1) * 2", 3.14159265358979323846},
        {"acos(1)", 0},
        {"atan(1) * 4", 3.14159265358979323846},
        {"floor(2.7)", 2},
        {"floor(-2.1)", -3},
        {"ceil(2.1)", 3},
        {"ceil(-2.7)", -2},
        {"sgn(-3)", -1},
        {"sgn(0)", 0},
        {"sgn(0.1)", 1},
        {"pos(-1)", 0},
        {"pos(4)", 4},
        {"neg(-1)", -1},
        {"neg(4)", 0},
        {"min(2, 1 + 0)", 1},
        {"max(2, 3) + min(5, 4)", 7},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) check_same(same[i].text, same[i].value);
}

static void test_logic(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } same[] = {
        {"1 < 2", 1},
        {"2 < 2", 0},
        {"2 <= 2", 1},
        {"3 > 2", 1},
        {"2 >= 3", 0},
        {"2 == 2.0", 1},
        {"2 != 2", 0},
        {"1 + 1 == 2", 1},
        {"true", 1},
        {"false", 0},
        {"1 and 0", 0},
        {"2 and 3", 1},
        {"0 or 5", 1},
        {"0 or 0", 0},
        {"1 xor 1", 0},
        {"0 xor 3", 1},
        {"not (1 > 2)", 1},
        {"not 0", 1},
        {"not 1 == 2", 1},
        {"1 or 0 and 0", 0}, /* one level, from the left */
        {"1 or (0 and 0)", 1},
        {"not (0) and 0", 0},
        {"(1 > 0) and (2 > 1)", 1},
        {"0 and {${a}=1; while (1) {${a}=1;}; return 1; }", 0}, /* the right side is never looked at */
        {"0 * {while (1) {${a}=1;}; return 1; }", 0},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) check_same(same[i].text, same[i].value);
}

static void test_points(void **state) {
    (void)state;
    static const expectation expected[] = {
        {"metric::v()", {1, 2, 10, 20, 0}},
        {"metric::t() / metric::v()", {2, 2, 3, 2, NAN}},
        {"metric::v() / metric::t()", {0.5, 0.5, 10.0 / 30, 0.5, 0}},
        {"-metric::v() * 2", {-2, -4, -20, -40, 0}},
        {"max(metric::v(), 5) - metric::t()", {3, 1, -20, -20, 0}},
        {"metric::v() >= 10", {0, 0, 1, 1, 0}},
        {"metric::v() > 1 and metric::t() < 40", {0, 1, 1, 0, 0}},
        {"metric::v() == 0 or metric::t() == 2", {1, 0, 0, 0, 1}},
        {"${point} * 2", {0, 2, 4, 6, 8}},
        {"{ ${a} = metric::v(); if (${a} > 5) { ${a} = 100; }; return ${a}; }", {1, 2, 100, 100, 0}},
        {"{ ${a} = metric::v(); ${b} = ${a} * 2; return ${b} + ${a}; }", {3, 6, 30, 60, 0}},
        {"{ if (metric::v() > 5) { return 1; } elseif (metric::v() > 1) { return 2; } else { return 3; } }",
         {3, 2, 1, 1, 3}},
        {"{ ${s} = 0; ${i} = 0; while (${i} < metric::v()) { ${i} = ${i} + 1; ${s} = ${s} + ${i}; }; return ${s}; }",
         {1, 3, 55, 210, 0}},
        {"metric::v() + { ${a} = metric::t(); return ${a}; } + ${a}", {5, 10, 70, 100, 10}},
    };
    check(expected, sizeof expected / sizeof *expected);
}

/* flavour * 1000 + reach * 10000 is added: see operand_value(). */
static void test_references(void **state) {
    (void)state;
    static const expectation expected[] = {
        {"metric::v(*)", {1, 2, 10, 20, 0}},
        {"metric::v(i)", {1001, 1002, 1010, 1020, 1000}},
        {"metric::v( e , i )", {2001, 2002, 2010, 2020, 2000}},
        {"metric::context::v(i,*)", {1001, 1002, 1010, 1020, 1000}},
        {"metric::fixed::v()", {21001, 21002, 21010, 21020, 21000}},
        {"metric::fixed::v(e)", {12001, 12002, 12010, 12020, 12000}},
        {"metric::fixed::v(e,e)", {2001, 2002, 2010, 2020, 2000}},
        {"metric::call::v(1, i)", {31002, 31002, 31002, 31002, 31002}},
        {"metric::call::v(4 - ${point}, e)", {32000, 32020, 32010, 32002, 32001}},
        {"metric::PAPI::L1=x(i)", {1002, 1004, 1030, 1040, 1005}},
    };
    check(expected, sizeof expected / sizeof *expected);

    as_formula_scope *scope = as_formula_scope_new();
    as_formula *formula = compile(scope, NULL, "metric::v(i) + metric::v(i) + metric::v() * metric::t(i)");
    const as_formula_operand *operands;
    assert_int_equal(as_formula_operands(formula, &operands), 3);
    assert_int_equal(operands[0].metric, METRIC_V);
    assert_int_equal(operands[0].flavour, AS_FLAVOUR_INCLUSIVE);
    assert_int_equal(operands[1].flavour, AS_FLAVOUR_SAME);
    assert_int_equal(operands[2].metric, METRIC_T);
    as_formula_free(formula);
    as_formula_scope_free(scope);
}

static void test_texts(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } same[] = {
        {"\"abc\" eq \"abc\"", 1},
        {"\"abc\" eq \"ABC\"", 0},
        {"\"abc\" seq \"aBC\"", 1},
        {"\"abc\" seq \"aBCd\"", 0},
        {"\"a\\\"b\" eq \"a\\\"b\"", 1},
        {"\"abc\" =~ /^a.c$/", 1},
        {"\"a/c\" =~ /a\\/c/", 1},
        {"\"abc\" =~ /x/", 0},
        {"not (\"abc\" =~ /x/)", 1},
        {"lowercase(\"AbC\") eq \"abc\"", 1},
        {"uppercase(\"AbC\") eq \"ABC\"", 1},
        {"\"12.5\" * 2", 25},
        {"\"abc\" + 1", 1},
        {"5 eq \"5\"", 1},
        {"0.1 + 0.2 eq \"0.3\"", 1},
        {"${nothing} eq \"\"", 1},
        {"${nothing} + 1", 1},
        {"{ ${a} = 0; return ${a} eq \"\"; }", 0},
        {"{ ${a} = \"x\"; ${b} = ${a}; return ${b} eq \"x\"; }", 1},
        {"{ ${a}[3] = \"x\"; ${a}[1] = 5; return (${a}[3] eq \"x\") + ${a}[1] + ${a}[2] + (${a}[2] eq \"\"); }", 7},
        {"{ ${a}[3] = \"x\"; ${a}[3] = 4; return ${a}[3]; }", 4},
        {"${names}[2] eq \"MPI_Send\"", 1},
        {"${names}[99] eq \"\"", 1},
        {"sizeof(names)", 5},
        {"${cube::#points}", 5},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) check_same(same[i].text, same[i].value);
    static const expectation expected[] = {
        {"${name} =~ /^MPI_/", {1, 0, 1, 0, 1}},
        {"${names}[${point}] eq \"MPI_Init\"", {1, 0, 0, 0, 1}},
        {"{ if (${name} =~ /^MPI_/) { return metric::t(); }; return 0; }", {2, 0, 30, 0, 5}},
    };
    check(expected, sizeof expected / sizeof *expected);
}

static void test_variables(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } same[] = {
        {"{ ${a}[2] = 7; return ${a}[2] + ${a}[1] + ${a}[0] + ${a}; }", 7},
        {"{ ${a} = 3; return ${a}[0]; }", 3},
        {"{ ${a}[0] = 3; return ${a}; }", 3},
        {"{ ${a}[1.9] = 3; return ${a}[1]; }", 3},
        {"{ ${a}[4] = 1; return sizeof(a); }", 5},
        {"{ ${a} = 1; return sizeof(a) + sizeof(b); }", 1},
        {"{ ${a} = 1; return defined(a) * 10 + defined(b) + defined(names) * 100; }", 110},
        {"${a}[-1] + ${a}[1000000]", 0},
        {"{ local(a); ${ a } = 2; return ${a}; }", 2},
        {"{ ${i}=0; ${b}=0; while (${i}<123) { ${b}=${b}+2; ${i}=${i}+1; }; return ${b}; }", 246},
        {"{ ${i}=0; while (true) { ${i}=${i}+1; if (${i} >= 10) { return ${i}; } } }", 10},
        {"{ ${a}=1; }", 0},
        {"{ ${a}=1; return { ${a}=${a}+1; return ${a}*10; } + ${a}; }", 22},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) check_same(same[i].text, same[i].value);
    /* Each evaluation starts anew. */
    check_same("{ ${a} = ${a} + 1; ${b}[2] = ${b}[2] + 1; return ${a} + ${b}[2]; }", 2);
}

static void test_init(void **state) {
    (void)state;
    double out[N_POINTS];
    assert_int_equal(run("{ ${unit} = 1000; ${l}[1] = 5; return 0; }",
                         "{ ${unit} = ${unit} + ${l}[1]; ${l}[1] = 9; return ${unit} * metric::v(); }", N_POINTS, out),
                     AS_RUN_OK);
    assert_true(near(out[0], 1005) && near(out[2], 10050));

    static const char mask[] = "{ global(mpi); ${i} = 0; while (${i} < ${cube::#points}) {"
                               " if (${names}[${i}] =~ /^MPI_/) { ${mpi}[${i}] = 1; };"
                               " ${n} = lowercase(${names}[${i}]); ${i} = ${i} + 1; }; ${last} = ${n}; return 0; }";
    static const double masked[] = {2, 0, 30, 0, 5};
    assert_int_equal(run(mask, "${mpi}[${point}] * metric::t(e)", N_POINTS, out), AS_RUN_OK);
    for (size_t i = 0; i < N_POINTS; i++) assert_true(near(out[i], masked[i] ? masked[i] + 2000 : 0));
    assert_int_equal(run(mask, "(${last} eq \"mpi_init\") + sizeof(mpi) * 10", 1, out), AS_RUN_OK);
    assert_true(near(out[0], 51));
}

/* Globals belong to all formulas of a scope, whichever was compiled first. */
static void test_scope(void **state) {
    (void)state;
    static const char init[] = "{ global(g); ${g}[1] = 4; cube::metric::set::t(\"value\", \"VOID\"); "
                               "cube::metric::set::nosuch(\"value\",\"VOID\"); }";
    as_formula_scope *scope = as_formula_scope_new();
    assert_true(as_cubepl_declare(scope, text_of(init)));
    as_formula *reader = compile(scope, NULL, "${g}[1] + ${g}"), *writer = compile(scope, init, "0");
    const uint32_t *globals;
    assert_int_equal(as_formula_globals_read(reader, &globals), 1);
    assert_int_equal(as_formula_globals_set(reader, &globals), 0);
    assert_int_equal(as_formula_globals_set(writer, &globals), 1);
    assert_int_equal(as_formula_scope_globals(scope), 1);
    world w = {.formula = writer};
    as_formula_source source = {&w, get_metric, get_metric_at, get_fact, NULL, get_fact_size, set_void};
    as_globals *values = as_globals_new(scope, 100);
    as_machine *writes = as_machine_new(writer, values, &source, AS_MACHINE_LIMITS);
    as_machine *reads = as_machine_new(reader, values, &source, AS_MACHINE_LIMITS);
    double out;
    assert_int_equal(as_machine_init(writes), AS_RUN_OK);
    assert_int_equal(as_machine_init(reads), AS_RUN_OK);
    as_machine *other = as_machine_like(reads, &source);
    assert_int_equal(as_machine_values(reads, 1, &out), AS_RUN_OK);
    assert_true(out == 4);
    assert_int_equal(as_machine_values(other, 1, &out), AS_RUN_OK);
    assert_true(out == 4);
    assert_int_equal(w.voided, 1u << METRIC_T);
    as_machine_free(other);
    as_machine_free(reads);
    as_machine_free(writes);
    as_globals_free(values);
    as_formula_free(reader);
    as_formula_free(writer);
    as_formula_scope_free(scope);
}

static void test_combining(void **state) {
    (void)state;
    as_formula_text texts[AS_FORMULA_PARTS] = {
        [AS_FORMULA_VALUE] = text_of("1"),
        [AS_FORMULA_PLUS] = text_of("max(arg1, arg2)"),
        [AS_FORMULA_MINUS] = text_of("{ if (arg1 > arg2) { return arg1 - 2 * arg2; }; return 0; }")};
    as_formula_scope *scope = as_formula_scope_new();
    as_formula *formula;
    assay_error error;
    assert_int_equal(as_cubepl_compile(scope, &all_names, texts, &formula, NULL, &error), ASSAY_OK);
    assert_true(as_formula_has(formula, AS_FORMULA_PLUS) && !as_formula_has(formula, AS_FORMULA_AGGR) &&
                !as_formula_has(formula, AS_FORMULA_INIT));
    as_globals *globals = as_globals_new(scope, 0);
    as_formula_source nothing = {0};
    as_machine *machine = as_machine_new(formula, globals, &nothing, AS_MACHINE_LIMITS);
    double a[] = {1, 5, 3}, b[] = {2, 1, 3}, out[3];
    assert_int_equal(as_machine_init(machine), AS_RUN_OK);
    assert_int_equal(as_machine_combine(machine, AS_FORMULA_PLUS, a, b, 3, out), AS_RUN_OK);
    assert_true(out[0] == 2 && out[1] == 5 && out[2] == 3);
    assert_int_equal(as_machine_combine(machine, AS_FORMULA_MINUS, a, b, 3, a), AS_RUN_OK);
    assert_true(a[0] == 0 && a[1] == 3 && a[2] == 0);
    as_machine_free(machine);
    as_globals_free(globals);
    as_formula_free(formula);
    as_formula_scope_free(scope);
}

/* More points than go into one batch, the same and going different ways. */
static void test_many(void **state) {
    (void)state;
    static const char *const texts[] = {"metric::v() * 3 + ${point} - 1",
                                        "{ if (${point} > 700) { return metric::v() * 3 + ${point} - 1; } else { ${b} "
                                        "= metric::v(); return ${b} * 3 - 1 + ${point}; } }"};
    enum { N = 1000 };
    double out[N];
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(run(NULL, texts[k], N, out), AS_RUN_OK);
        for (size_t i = 0; i < N; i++) assert_true(out[i] == v[i % N_POINTS] * 3 + (double)i - 1);
    }
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t line, column;
    } bad[] = {
        {"metric::v() +", 1, 14},
        {"metric::nosuch()", 1, 1},
        {"1 + metric::nosuch()", 1, 5},
        {"metric::()", 1, 9},
        {"metric::v", 1, 10},
        {"metric::v(x)", 1, 11},
        {"metric::v(i", 1, 12},
        {"metric::call::v(1)", 1, 18},
        {"metric::call::v(1, i, 2, i)", 1, 21},
        {"(1", 1, 3},
        {"1)", 1, 2},
        {"1 2", 1, 3},
        {"1 +\n  * 2", 2, 3},
        {"", 0, 0},
        {"foo(1)", 1, 1},
        {"log10(1)", 1, 1},
        {"random(5)", 1, 1},
        {"env(\"HOME\")", 1, 1},
        {"cube::metric::get::v(\"uom\")", 1, 1},
        {"{ cube::metric::postderived::x << 1 >>; return 1; }", 1, 3},
        {"{ cube::metric::set::v(\"value\", \"VOID\"); return 1; }", 1, 3},
        {"min(1)", 1, 6},
        {"sqrt 1", 1, 6},
        {"1.2.3", 1, 1},
        {"\"abc", 1, 1},
        {"$a", 1, 2},
        {"${1}", 1, 3},
        {"${a", 1, 4},
        {"${a}[1", 1, 7},
        {"1 # 2", 1, 3},
        {"\"a\" =~ \"b\"", 1, 8},
        {"\"a\" =~ /b", 1, 5},
        {"\"a\" =~ /(b/", 1, 9},
        {"arg1 + 1", 1, 1},
        {"{ return 1; ", 1, 13},
        {"{ ${a} 1; }", 1, 8},
        {"{ ${a} = 1 ${b} = 2; }", 1, 12},
        {"{ if 1 { } }", 1, 6},
        {"{ if (1) ${a} = 1; }", 1, 10},
        {"{ 1 + 1; }", 1, 3},
        {"{ ${point} = 1; }", 1, 3},
        {"{ sizeof a; }", 1, 10},
        {"|1", 1, 3},
        {"not", 1, 4},
    };
    as_formula_scope *scope = as_formula_scope_new();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!bad[i].line) continue;
        as_formula_text texts[AS_FORMULA_PARTS] = {[AS_FORMULA_VALUE] = text_of(bad[i].text)};
        as_formula *formula;
        assay_error error;
        as_formula_part part = AS_FORMULA_INIT;
        if (as_cubepl_compile(scope, &all_names, texts, &formula, &part, &error) == ASSAY_OK)
            fail_msg("accepted: %s", bad[i].text);
        assert_null(formula);
        assert_int_equal(part, AS_FORMULA_VALUE);
        assert_string_equal(error.rule, "cubepl");
        if (error.line != bad[i].line || error.column != bad[i].column)
            fail_msg("%s: %u:%u: %s; expected %u:%u", bad[i].text, error.line, error.column, error.message, bad[i].line,
                     bad[i].column);
    }
    as_formula_scope_free(scope);
}

static void test_refused_parts(void **state) {
    (void)state;
    static const struct {
        as_formula_part part;
        const char *text;
    } bad[] = {{AS_FORMULA_INIT, "{ ${a} = metric::v(); }"},  {AS_FORMULA_INIT, "{ ${a} = ${point}; }"},
               {AS_FORMULA_PLUS, "arg1 + metric::v()"},       {AS_FORMULA_INIT, "{ ${a} = arg1; }"},
               {AS_FORMULA_VALUE, "{ ${g} = 1; return 1; }"}, {AS_FORMULA_AGGR, "arg1 +"}};
    as_formula_scope *scope = as_formula_scope_new();
    assert_true(as_cubepl_declare(scope, text_of("{ global(g); }")));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        as_formula_text texts[AS_FORMULA_PARTS] = {[AS_FORMULA_VALUE] = text_of("1")};
        texts[bad[i].part] = text_of(bad[i].text);
        as_formula *formula;
        assay_error error;
        as_formula_part part = AS_FORMULA_PARTS;
        assert_int_equal(as_cubepl_compile(scope, &all_names, texts, &formula, &part, &error), ASSAY_E_FORMAT);
        assert_int_equal(part, bad[i].part);
    }
    as_formula_scope_free(scope);
}

/* n times `open`, then `middle`, then n times `close`. */
static char *nested(const char *open, const char *middle, const char *close, size_t n) {
    char *text = malloc(n * (strlen(open) + strlen(close)) + strlen(middle) + 1), *at = text;
    for (size_t i = 0; i < n; i++) at = stpcpy(at, open);
    at = stpcpy(at, middle);
    for (size_t i = 0; i < n; i++) at = stpcpy(at, close);
    return text;
}

static void test_nesting(void **state) {
    (void)state;
    static const char *const kinds[][3] = {{"(", "1", ")"},     {"-", "1", ""},          {"not ", "1", ""},
                                           {"sqrt(", "1", ")"}, {"{return ", "1", ";}"}, {"|", "1", "|"},
                                           {"1+(", "1", ")"},   {"${a}[", "1", "]"}};
    as_formula_scope *scope = as_formula_scope_new();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double out;
        char *fine = nested(kinds[i][0], kinds[i][1], kinds[i][2], 50);
        assert_int_equal(run(NULL, fine, 1, &out), AS_RUN_OK);
        free(fine);
        char *deep = nested(kinds[i][0], kinds[i][1], kinds[i][2], 100000);
        as_formula_text texts[AS_FORMULA_PARTS] = {[AS_FORMULA_VALUE] = text_of(deep)};
        as_formula *formula;
        assay_error error;
        assert_int_equal(as_cubepl_compile(scope, &all_names, texts, &formula, NULL, &error), ASSAY_E_FORMAT);
        assert_non_null(strstr(error.message, "nested"));
        free(deep);
    }
    /* Long is not deep. */
    double out;
    char *sum = nested("1+", "0", "", 20000);
    assert_int_equal(run(NULL, sum, 1, &out), AS_RUN_OK);
    assert_true(out == 20000);
    free(sum);
    char *blocks = nested("{ if (1) ", "{ ${a} = 1; }", " }", 100000);
    as_formula_text texts[AS_FORMULA_PARTS] = {[AS_FORMULA_VALUE] = text_of(blocks)};
    as_formula *formula;
    assert_int_equal(as_cubepl_compile(scope, &all_names, texts, &formula, NULL, NULL), ASSAY_E_FORMAT);
    free(blocks);
    as_formula_scope_free(scope);
}

static void test_limits(void **state) {
    (void)state;
    double out[2];
    assert_int_equal(run(NULL, "{ while (1) { ${a} = 1; }; return 1; }", 2, out), AS_RUN_TOO_LONG);
    assert_int_equal(run("{ while (1) { ${a} = 1; }; return 1; }", "1", 2, out), AS_RUN_TOO_LONG);
    assert_int_equal(run(NULL, "{ ${a}[1000000000] = 1; return 1; }", 1, out), AS_RUN_TOO_LARGE);
    assert_int_equal(run(NULL, "{ ${a}[-1] = 1; return 1; }", 1, out), AS_RUN_TOO_LARGE);
    assert_int_equal(run(NULL, "{ ${i} = 0; while (1) { ${a}[${i}] = \"x\"; ${i} = ${i} + 1; }; return 1; }", 1, out),
                     AS_RUN_TOO_LONG);
    assert_int_equal(run("{ global(g); ${g}[2000000] = 1; }", "1", 1, out), AS_RUN_TOO_LARGE);
    /* Texts that grow in a loop come to an end as well. */
    assert_int_equal(run(NULL,
                         "{ while (1) { ${a} = "
                         "lowercase("
                         "\"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
                         "123456789\"); }; return 1; }",
                         1, out),
                     AS_RUN_TOO_LARGE);

    as_formula_scope *scope = as_formula_scope_new();
    as_formula *formula = compile(scope, NULL, "metric::v()");
    world w = {.formula = formula, .fails = true};
    as_formula_source source = {.user = &w, .metric = get_metric};
    as_globals *globals = as_globals_new(scope, 0);
    as_machine *machine = as_machine_new(formula, globals, &source, AS_MACHINE_LIMITS);
    assert_int_equal(as_machine_init(machine), AS_RUN_OK);
    assert_int_equal(as_machine_values(machine, 2, out), AS_RUN_FAILED);
    as_machine_free(machine);
    as_globals_free(globals);
    as_formula_free(formula);
    as_formula_scope_free(scope);
}

/* Turns of a loop are counted by what they take: a long body, and long texts. */
static void test_long_turns(void **state) {
    (void)state;
    enum { BYTES = 20000 };
    static const char begin[] = "{ ${i} = 0; while (${i} < 100000) { ${i} = ${i} + 1; ", end[] = "}; return ${i}; }";
    double out[2];
    char *body = nested("${a} = ${i};", "", "", 10), *text = malloc(4 * BYTES);
    sprintf(text, "%s%s%s", begin, body, end);
    assert_int_equal(run(NULL, text, 1, out), AS_RUN_OK);
    assert_true(out[0] == 100000);
    free(body);
    body = nested("${a} = ${i};", "", "", 1000);
    sprintf(text, "%s%s%s", begin, body, end);
    assert_int_equal(run(NULL, text, 1, out), AS_RUN_TOO_LONG);
    free(body);
    body = nested("x", "", "", BYTES);
    sprintf(text, "%s if (\"%s\" seq \"%s\") { ${a} = 1; }; %s", begin, "x", "y", end);
    assert_int_equal(run(NULL, text, 1, out), AS_RUN_OK);
    sprintf(text, "%s if (\"%s\" seq \"%s\") { ${a} = 1; }; %s", begin, body, body, end);
    assert_int_equal(run(NULL, text, 1, out), AS_RUN_OK); /* 4 more steps a turn */
    sprintf(text,
            "{ ${s} = lowercase(\"%s\"); ${i} = 0; while (${i} < 100000) { ${i} = ${i} + 1; if (${s} =~ /y/) { ${a} = "
            "1; } }; return 1; }",
            body);
    assert_int_equal(run(NULL, text, 1, out), AS_RUN_TOO_LONG);
    free(body);
    free(text);
}

/* Machines that share a limit use it up together; who has no loops does not mind. */
static void test_shared_work(void **state) {
    (void)state;
    enum { TURNS = 100 };
    double out[2];
    uint64_t left = 3 * TURNS * (2 + AS_TURN_WORK);
    as_machine_limits limits = AS_MACHINE_LIMITS;
    limits.work_left = &left;
    as_formula_source nothing = {NULL};
    as_formula_scope *scope = as_formula_scope_new();
    as_formula *loop = compile(scope, NULL, "{ ${i} = 0; while (${i} < 100) { ${i} = ${i} + 1; }; return ${i}; }"),
               *plain = compile(scope, NULL, "1 + 2");
    as_globals *globals = as_globals_new(scope, 0);
    as_machine *first = as_machine_new(loop, globals, &nothing, limits);
    as_machine *others[] = {as_machine_new(loop, globals, &nothing, limits), as_machine_like(first, &nothing),
                            as_machine_new(plain, globals, &nothing, limits)};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(as_machine_init(others[0]), AS_RUN_OK);
        assert_int_equal(as_machine_values(others[i], 2, out), AS_RUN_OK);
        assert_true(out[0] == TURNS && out[1] == TURNS);
    }
    assert_int_equal(left, TURNS * (2 + AS_TURN_WORK));
    assert_int_equal(as_machine_values(others[0], 2, out), AS_RUN_OK);
    assert_int_equal(as_machine_values(others[1], 2, out), AS_RUN_TOO_LONG);
    assert_int_equal(as_machine_values(others[0], 1, out), AS_RUN_TOO_LONG);
    assert_int_equal(as_machine_values(others[2], 2, out), AS_RUN_OK);
    assert_true(out[1] == 3);
    for (int i = 0; i < 3; i++) as_machine_free(others[i]);
    as_machine_free(first);
    as_globals_free(globals);
    as_formula_free(loop);
    as_formula_free(plain);
    as_formula_scope_free(scope);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_work), cmocka_unit_test(test_arithmetic),    cmocka_unit_test(test_functions),
        cmocka_unit_test(test_logic),       cmocka_unit_test(test_points),        cmocka_unit_test(test_references),
        cmocka_unit_test(test_texts),       cmocka_unit_test(test_variables),     cmocka_unit_test(test_init),
        cmocka_unit_test(test_scope),       cmocka_unit_test(test_combining),     cmocka_unit_test(test_many),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_refused_parts), cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_long_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
