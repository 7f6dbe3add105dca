/* CubePL: any text compiles or is refused with a reason, any program ends. The first line of the input is the init, the
 * rest the value; both are also what combines. Values of a batch and of its points one by one are the same. */
#include <math.h>
#include <stdlib.h>

#include "dataset/formula/cubepl.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { N_POINTS = 7, MAX_SIZE = 4096 };

static uint32_t find_metric(void *user, const char *name, size_t size) {
    (void)user;
    return size == 1 && *name >= 'a' && *name <= 'z' ? (uint32_t)(*name - 'a') : AS_UNKNOWN_NAME;
}

static uint32_t find_fact(void *user, const char *name, size_t size, bool *varies) {
    (void)user;
    if (size != 2 || name[0] != 'f') return AS_UNKNOWN_NAME;
    *varies = name[1] & 1;
    return (uint32_t)(unsigned char)name[1];
}

static const double *get_metric(void *user, uint32_t operand, size_t first, size_t n, double *room) {
    (void)user;
    for (size_t i = 0; i < n; i++) room[i] = (double)((first + i) * (operand + 3) % 5) - 1;
    return room;
}

static bool get_metric_at(void *user, uint32_t operand, double context, double *out) {
    (void)user;
    *out = context + operand;
    return true;
}

static bool get_fact(void *user, uint32_t fact, size_t point, double index, as_formula_value *out) {
    static const char *const texts[] = {"", "MPI_Init", "12", "main"};
    (void)user;
    *out = (as_formula_value){.number = (double)(fact + (fact & 1) * point)};
    size_t which = (size_t)(fabs(index) < 100 ? fabs(index) : 0) + (fact & 1) * point;
    if (fact & 2) *out = (as_formula_value){.text = texts[which % 4], .size = strlen(texts[which % 4])};
    return true;
}

static double get_fact_size(void *user, uint32_t fact) {
    (void)user;
    return fact;
}

static bool set_void(void *user, uint32_t metric, bool is_void) {
    (void)user, (void)metric, (void)is_void;
    return true;
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void run(const as_formula *formula, const as_formula_scope *scope) {
    static const as_formula_source source = {NULL, get_metric, get_metric_at, get_fact, NULL, get_fact_size, set_void};
    static const as_machine_limits limits = {1000, 1000, 20000, 10000, NULL};
    as_globals *globals = as_globals_new(scope, 10000);
    as_machine *machine = as_machine_new(formula, globals, &source, limits);
    double out[N_POINTS], prefix[N_POINTS];
    if (!globals || !machine) abort();
    if (as_machine_init(machine) == AS_RUN_OK) {
        as_machine *other = as_machine_like(machine, &source);
        if (other && as_machine_values(machine, N_POINTS, out) == AS_RUN_OK) {
            /* One point less at a time: the first ones have to stay as they are. */
            for (size_t n = N_POINTS; n > 0; n /= 2) {
                if (as_machine_values(other, n, prefix) != AS_RUN_OK) continue;
                for (size_t i = 0; i < n; i++) {
                    if (!same(out[i], prefix[i])) abort();
                }
            }
        }
        if (as_formula_has(formula, AS_FORMULA_PLUS))
            as_machine_combine(machine, AS_FORMULA_PLUS, prefix, out, N_POINTS, out);
        as_machine_free(other);
    }
    as_machine_free(machine);
    as_globals_free(globals);
}

static void compile(as_formula_scope *scope, const as_formula_text texts[AS_FORMULA_PARTS]) {
    static const as_formula_names names = {NULL, find_metric, find_fact};
    as_formula *formula;
    assay_error error = {.code = ASSAY_OK};
    if (as_cubepl_compile(scope, &names, texts, &formula, NULL, &error) == ASSAY_OK)
        run(formula, scope);
    else if (!error.message[0] || !error.line || !error.column)
        abort();
    as_formula_free(formula);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size > MAX_SIZE) return 0;
    const char *text = (const char *)bytes, *line = size ? memchr(text, '\n', size) : NULL;
    as_formula_text first = {line ? text : NULL, line ? (size_t)(line - text) : 0};
    as_formula_text rest = {line ? line + 1 : text, line ? size - first.size - 1 : size};
    as_formula_scope *scope = as_formula_scope_new();
    if (!scope) abort();
    if (!rest.text) rest.text = "";
    compile(scope, (as_formula_text[AS_FORMULA_PARTS]){[AS_FORMULA_INIT] = first, [AS_FORMULA_VALUE] = rest});
    compile(scope, (as_formula_text[AS_FORMULA_PARTS]){[AS_FORMULA_VALUE] = {"0", 1}, [AS_FORMULA_PLUS] = rest});
    as_formula_scope_free(scope);
    return 0;
}
