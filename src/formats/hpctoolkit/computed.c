#include "formats/hpctoolkit/computed.h"

#include <stdlib.h>

#include "dataset/formulas.h"

enum { N_IDS = UINT16_MAX + 1, NO_USE = UINT32_MAX };

/* That a formula has an id among its operands. */
typedef struct use {
    uint32_t computed, next; /* next: of the same id */
} use;

/* What a context has stored under an id. */
typedef struct stored_value {
    double value;
    uint64_t context,
        /* numbers of contexts, from 1: of the one that has it, and of the last one whose formulas were gone through */
        used_in;
    uint32_t first_use;
} stored_value;

struct as_hpc_computer {
    const as_hpc_computed *computed;
    size_t n;
    as_formula_scope *scope;
    as_globals *globals;
    as_machine **machines;
    stored_value *by_id; /* N_IDS */
    as_vec uses;         /* use */
    uint64_t *done_for;  /* of each one: the number of the context it was last computed for */
    /* Of the context that is looked at */
    uint64_t context;
    const as_formula *formula;
};

/* 0 where there is none. */
static const double *get_metric(void *user, uint32_t which, size_t first, size_t n, double *room) {
    const as_hpc_computer *c = user;
    const as_formula_operand *operands;
    as_formula_operands(c->formula, &operands);
    (void)first;
    uint32_t id = operands[which].metric;
    double value = id < N_IDS && c->by_id[id].context == c->context ? c->by_id[id].value : 0;
    for (size_t i = 0; i < n; i++) room[i] = value;
    return room;
}

static bool note_uses(as_hpc_computer *c, uint32_t computed) {
    const as_formula_operand *operands;
    size_t n = as_formula_operands(c->computed[computed].formula, &operands);
    for (size_t i = 0; i < n; i++) {
        if (operands[i].metric >= N_IDS) continue;
        uint32_t *first = &c->by_id[operands[i].metric].first_use;
        use added = {.computed = computed, .next = *first};
        *first = (uint32_t)c->uses.count;
        if (!as_vec_append(&c->uses, &added, 1)) return false;
    }
    return true;
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
    c->by_id = calloc(N_IDS, sizeof *c->by_id);
    c->done_for = calloc(n + 1, sizeof *c->done_for);
    as_vec_init(&c->uses, sizeof(use), NULL);
    bool fine = c->globals && c->machines && c->by_id && c->done_for;
    for (size_t i = 0; fine && i < N_IDS; i++) c->by_id[i].first_use = NO_USE;
    for (size_t i = 0; fine && i < n; i++) {
        c->machines[i] = as_machine_new(computed[i].formula, c->globals, &source, AS_MACHINE_LIMITS);
        fine = c->machines[i] && as_machine_init(c->machines[i]) == AS_RUN_OK && note_uses(c, (uint32_t)i);
    }
    if (fine) return c;
    as_hpc_computer_free(c);
    return NULL;
}

void as_hpc_computer_free(as_hpc_computer *c) {
    if (!c) return;
    for (size_t i = 0; c->machines && i < c->n; i++) as_machine_free(c->machines[i]);
    free(c->machines);
    free(c->by_id);
    free(c->done_for);
    as_vec_free(&c->uses);
    as_globals_free(c->globals);
    as_formula_scope_free(c->scope);
    free(c);
}

static bool compute(as_hpc_computer *c, as_dataset *ds, assay_id context, uint32_t i) {
    double value;
    c->done_for[i] = c->context;
    c->formula = c->computed[i].formula;
    if (as_machine_values(c->machines[i], 1, &value) != AS_RUN_OK || isnan(value)) return true;
    as_summary summary = {.metric = c->computed[i].metric,
                          .context = context,
                          .statistic = c->computed[i].name,
                          .value = as_cell_real(value)};
    return as_add_summary(ds, &summary);
}

bool as_hpc_compute(as_hpc_computer *c, as_dataset *ds, assay_id context, const as_hpc_stored *stored, size_t n) {
    c->context++;
    for (size_t i = 0; i < n; i++) {
        c->by_id[stored[i].id].value = stored[i].value;
        c->by_id[stored[i].id].context = c->context;
    }
    for (size_t i = 0; i < n; i++) {
        stored_value *value = &c->by_id[stored[i].id];
        if (value->used_in == c->context) continue; /* one id may come many times */
        value->used_in = c->context;
        for (uint32_t next = value->first_use; next != NO_USE; next = AS_AT(use, &c->uses, next).next) {
            uint32_t computed = AS_AT(use, &c->uses, next).computed;
            if (c->done_for[computed] != c->context && !compute(c, ds, context, computed)) return false;
        }
    }
    return true;
}
