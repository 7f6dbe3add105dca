#include "formats/hpctoolkit/computed.h"

#include <stdlib.h>

#include "dataset/formulas.h"

struct as_hpc_computer {
    const as_hpc_computed *computed;
    size_t n;
    as_formula_scope *scope;
    as_globals *globals;
    as_machine **machines;
    /* Of the context that is looked at */
    const as_formula *formula;
    const as_hpc_stored *stored;
    size_t n_stored;
};

/* 0 where there is none. */
static const double *get_metric(void *user, uint32_t which, size_t first, size_t n, double *room) {
    const as_hpc_computer *c = user;
    const as_formula_operand *operands;
    as_formula_operands(c->formula, &operands);
    (void)first;
    double value = 0;
    for (size_t i = 0; i < c->n_stored; i++) {
        if (c->stored[i].id == operands[which].metric) value = c->stored[i].value;
    }
    for (size_t i = 0; i < n; i++) room[i] = value;
    return room;
}

as_hpc_computer *as_hpc_computer_new(const as_hpc_computed *computed, size_t n) {
    as_hpc_computer *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    as_formula_source source = {.user = c, .metric = get_metric};
    c->computed = computed;
    c->n = n;
    c->scope = as_formula_scope_new();
    c->globals = c->scope ? as_globals_new(c->scope, 0) : NULL;
    c->machines = calloc(n + 1, sizeof(as_machine *));
    bool fine = c->globals && c->machines;
    for (size_t i = 0; fine && i < n; i++) {
        c->machines[i] = as_machine_new(computed[i].formula, c->globals, &source, AS_MACHINE_LIMITS);
        fine = c->machines[i] && as_machine_init(c->machines[i]) == AS_RUN_OK;
    }
    if (fine) return c;
    as_hpc_computer_free(c);
    return NULL;
}

void as_hpc_computer_free(as_hpc_computer *c) {
    if (!c) return;
    for (size_t i = 0; c->machines && i < c->n; i++) as_machine_free(c->machines[i]);
    free(c->machines);
    as_globals_free(c->globals);
    as_formula_scope_free(c->scope);
    free(c);
}

bool as_hpc_compute(as_hpc_computer *c, as_dataset *ds, assay_id context, const as_hpc_stored *stored, size_t n) {
    c->stored = stored;
    c->n_stored = n;
    for (size_t i = 0; i < c->n; i++) {
        double value;
        c->formula = c->computed[i].formula;
        if (as_machine_values(c->machines[i], 1, &value) != AS_RUN_OK || isnan(value)) continue;
        as_summary summary = {.metric = c->computed[i].metric,
                              .context = context,
                              .statistic = c->computed[i].name,
                              .value = as_cell_real(value)};
        if (!as_add_summary(ds, &summary)) return false;
    }
    return true;
}
