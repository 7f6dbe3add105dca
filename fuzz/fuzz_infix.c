/* Formulas of users: any text compiles or is refused with a reason and a place; any program ends. The values of a batch
 * and of its points one by one are the same, and those of a copy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataset/formula/infix.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { N_POINTS = 9, MAX_SIZE = 8192 };

static bool find_metric(void *user, as_infix_reference kind, const char *name, size_t size, as_formula_operand *out,
                        char *why, size_t room) {
    (void)user;
    snprintf(why, room, "no %.*s", (int)(size < 20 ? size : 20), name);
    if (size != 1 || (kind == AS_INFIX_NAME && (*name == 'e' || *name == 'p'))) return false;
    out->metric = (uint32_t)(unsigned char)*name;
    out->flavour = (as_flavour)(*name % 3);
    return true;
}

static const double *get_metric(void *user, uint32_t operand, size_t first, size_t n, double *room) {
    static const double values[] = {0, 1, -2, 0.5, 1e300, NAN, INFINITY};
    (void)user;
    for (size_t i = 0; i < n; i++) room[i] = values[(first + i) * (operand + 3) % 7];
    return room;
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void run(const as_formula *formula, double out[N_POINTS]) {
    static const as_formula_source source = {.metric = get_metric};
    as_formula_scope *scope = as_formula_scope_new();
    as_globals *globals = as_globals_new(scope, 10);
    as_machine *machine = as_machine_new(formula, globals, &source, AS_MACHINE_LIMITS);
    if (!scope || !globals || !machine || as_machine_init(machine) != AS_RUN_OK) abort();
    if (as_machine_values(machine, N_POINTS, out) != AS_RUN_OK) abort();
    for (size_t n = N_POINTS; n > 0; n /= 2) {
        double prefix[N_POINTS];
        if (as_machine_values(machine, n, prefix) != AS_RUN_OK) abort();
        for (size_t i = 0; i < n; i++) {
            if (!same(prefix[i], out[i])) abort();
        }
    }
    as_machine_free(machine);
    as_globals_free(globals);
    as_formula_scope_free(scope);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const as_infix_names names = {.metric = find_metric},
                                rounding = {.metric = find_metric, .sqrt_rounds = true};
    static uint32_t same_ids[256];
    double values[N_POINTS], copied[N_POINTS];
    as_formula *formula;
    assay_error error = {.code = ASSAY_OK};
    if (size > MAX_SIZE) return 0;
    as_formula_text text = {size ? (const char *)bytes : "", size};
    for (uint32_t i = 0; i < 256; i++) same_ids[i] = i;
    if (as_infix_compile(&names, text, &formula, &error) != ASSAY_OK) {
        if (!error.message[0] || error.line != 1 || !error.column || error.column > size + 1 || formula) abort();
        return 0;
    }
    run(formula, values);
    as_formula *copy = as_formula_copy(formula, same_ids);
    if (!copy || as_formula_is_one_metric(copy) != as_formula_is_one_metric(formula)) abort();
    as_formula_free(formula);
    run(copy, copied);
    as_formula_free(copy);
    for (size_t i = 0; i < N_POINTS; i++) {
        if (!same(values[i], copied[i])) abort();
    }
    if (as_infix_compile(&rounding, text, &formula, &error) != ASSAY_OK) abort();
    run(formula, values);
    as_formula_free(formula);
    return 0;
}
