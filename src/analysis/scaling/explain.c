/* Why a model is what it is: all hypotheses are tried again for one series, and told with their scores. */
#include <stdlib.h>

#include "analysis/scaling/plan.h"

typedef struct telling {
    as_dataset *ds;
    const as_fit_options *options;
    bool (*visit)(void *user, const as_tried *tried);
    void *user;
    as_vec text; /* of one function */
    uint32_t order;
    bool stopped, out_of_memory;
} telling;

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static bool add_real(as_vec *text, double value) {
    char number[AS_NUMBER_SIZE];
    return as_vec_append(text, number, as_real_format_python(value, number));
}

static void tell(telling *t, const char *label, const char *verdict, const as_costs *costs, bool text_is_fine) {
    if (!text_is_fine || !as_vec_append(&t->text, "", 1)) {
        t->out_of_memory = true;
        return;
    }
    as_tried tried = {.function = t->text.data,
                      .parameter = label,
                      .verdict = verdict,
                      .RSS = costs->RSS,
                      .rRSS = costs->rRSS,
                      .SMAPE = costs->SMAPE,
                      .AR2 = costs->AR2,
                      .RE = costs->RE,
                      .order = t->order++};
    if (!t->stopped && !t->visit(t->user, &tried)) t->stopped = true;
}

/* "12.5 + 0.3 * p^(1/2)" */
static void tell_fit(telling *t, const char *label, const char *name, const as_line_fit *fit, const char *verdict) {
    t->text.count = 0;
    bool fine = add_real(&t->text, fit->constant);
    if (fine && fit->term != -1) {
        fine = as_vec_text(&t->text, " + ") && add_real(&t->text, fit->coefficient) && as_vec_text(&t->text, " * ") &&
               as_power_text(&fit->power, name, &t->text);
    }
    tell(t, label, verdict, &fit->costs, fine);
}

/* ---- one parameter ----------------------------------------------------------------------------------------------- */

static bool same_power(const as_power *a, const as_power *b) {
    return a->power.value == b->power.value && a->log.value == b->log.value;
}

static void tell_hypothesis(telling *t, const char *label, const char *name, const as_line_plan *plan,
                            const as_hypothesis *h, const double *y, double tss, const as_line_fit *chosen) {
    as_line_fit fit;
    as_hypothesis_fit(h, y, plan->n, tss, &plan->options, &fit);
    const char *verdict = "larger error";
    if (chosen->term != -1 && same_power(&chosen->power, &h->power))
        verdict = "chosen";
    else if (!isfinite(fit.costs.RSS))
        verdict = "not finite";
    else if (as_contributes_little(h, y, plan->n, fit.coefficient, plan->options.minimum_term_contribution))
        verdict = "contributes too little";
    tell_fit(t, label, name, &fit, verdict);
}

/* The constant, then all hypotheses of the plan: the search space, or where refining went. y: in the plan's order. */
static void tell_plan(telling *t, const char *label, const char *name, const as_line_plan *plan, const double *y,
                      const as_line_fit *chosen) {
    as_line_fit constant;
    as_constant_fit(y, plan->n, &constant);
    tell_fit(t, label, name, &constant, chosen->term == -1 ? "chosen" : "larger error");
    if (constant.costs.RSS == 0) return; /* nothing else is tried */
    for (size_t i = 0; i < plan->powers.count && !t->stopped; i++)
        tell_hypothesis(t, label, name, plan, &plan->hypotheses[i], y, constant.costs.RSS, chosen);
    for (size_t i = 0; i < plan->further.count && !t->stopped; i++) {
        tell_hypothesis(t, label, name, plan, AS_AT(as_hypothesis *, &plan->further, i), y, constant.costs.RSS, chosen);
    }
}

/* "p <= 64" */
static bool part_label(const char *name, const char *relation, double value, as_vec *out) {
    char number[AS_NUMBER_SIZE];
    as_real_format(value, number);
    return as_vec_text(out, name) && as_vec_text(out, relation) && as_vec_text(out, number) &&
           as_vec_append(out, "", 1);
}

static bool tell_segments(telling *t, const char *name, as_line_modeler *m, const double *sorted,
                          const as_line_result *r) {
    for (int side = 0; side < 2; side++) {
        size_t from = 0, to = m->n;
        while (side && m->x[from] < r->right_begin) from++;
        while (!side && m->x[to - 1] > r->left_end) to--;
        as_line_plan *plan = as_line_plan_new(m->x + from, to - from, &m->options, true);
        as_vec label;
        as_vec_init(&label, 1, NULL);
        bool fine = plan && part_label(name, side ? " >= " : " <= ", side ? r->right_begin : r->left_end, &label);
        if (fine) tell_plan(t, label.data, name, plan, sorted + from, &r->parts[side]);
        as_line_plan_free(plan);
        as_vec_free(&label);
        if (!fine) return false;
    }
    return true;
}

/* Runs the line's modeler for one series and tells what it tried. label NULL: it is the whole model. */
static bool tell_line(telling *t, const as_plan *plan, size_t parameter, const as_samples *samples, bool has_label,
                      as_line_result *result) {
    const as_line_points *line = &plan->lines[parameter];
    const char *name = as_ds_parameter(t->ds, parameter);
    *result = (as_line_result){.whole = {.term = -1, .rival = -1, .rival_score = INFINITY}};
    if (!line->modeler) return true;
    as_line_modeler *m = line->modeler;
    double *tile = aligned_alloc(64, line->n * AS_LANES * sizeof *tile);
    double *scratch = aligned_alloc(64, (as_line_modeler_scratch(m) + AS_LANES) / AS_LANES * AS_LANES * sizeof *tile);
    double *y = malloc((line->n + 1) * sizeof *y);
    bool fine = tile && scratch && y;
    if (fine) {
        for (size_t lane = 0; lane < AS_LANES; lane++)
            as_line_points_values(line, samples->values, samples->means, tile + lane, AS_LANES);
        fine = as_line_modeler_run(m, tile, 1, scratch, result);
    }
    if (fine) {
        for (size_t i = 0; i < line->n; i++) y[i] = tile[m->order[i] * AS_LANES];
        if (result->is_segmented)
            fine = tell_segments(t, name, m, y, result);
        else
            tell_plan(t, has_label ? name : NULL, name, m->plan, y, &result->whole);
    }
    free(tile);
    free(scratch);
    free(y);
    return fine;
}

/* ---- several parameters ------------------------------------------------------------------------------------------ */

/* Combinations are told at the end, when it is known which one is chosen. */
typedef struct combinations {
    telling *t;
    as_vec texts; /* char *, of malloc */
    as_vec costs; /* as_costs */
    as_vec small; /* bool */
    size_t chosen;
} combinations;

static bool keep_combination(void *user, const as_combination *c) {
    combinations *all = user;
    telling *t = all->t;
    t->text.count = 0;
    bool fine = add_real(&t->text, c->coefficients[0]);
    for (size_t j = 0; fine && j < c->n_terms; j++) {
        fine = as_vec_text(&t->text, " + ") && add_real(&t->text, c->coefficients[j + 1]) &&
               as_vec_text(&t->text, " * ") && as_factors_text(t->ds, c->lines, c->kept, c->terms[j], &t->text);
    }
    char *copy = fine ? strndup(t->text.data, t->text.count) : NULL;
    if (!copy) return false;
    if (!as_vec_append(&all->texts, &copy, 1)) {
        free(copy);
        return false;
    }
    return as_vec_append(&all->costs, &c->costs, 1) && as_vec_append(&all->small, &c->is_small, 1);
}

static void note_chosen(void *user, size_t index) { ((combinations *)user)->chosen = index; }

static void tell_combinations(combinations *all) {
    telling *t = all->t;
    for (size_t i = 0; i < all->small.count && !t->stopped; i++) {
        const char *verdict = i == all->chosen              ? "chosen"
                              : AS_AT(bool, &all->small, i) ? "contributes too little"
                                                            : "larger error";
        t->text.count = 0;
        tell(t, NULL, verdict, &AS_AT(as_costs, &all->costs, i), as_vec_text(&t->text, AS_AT(char *, &all->texts, i)));
    }
}

static bool tell_several(telling *t, const as_plan *plan, const as_samples *samples) {
    as_line_result *lines = malloc(plan->n_parameters * sizeof *lines);
    bool fine = lines != NULL;
    for (size_t k = 0; fine && k < plan->n_parameters; k++) fine = tell_line(t, plan, k, samples, true, &lines[k]);
    combinations all = {.t = t};
    as_vec_init(&all.texts, sizeof(char *), NULL);
    as_vec_init(&all.costs, sizeof(as_costs), NULL);
    as_vec_init(&all.small, sizeof(bool), NULL);
    as_combination_witness witness = {keep_combination, note_chosen, &all};
    as_made_head head = {0};
    fine = fine && as_plan_combine(plan, samples->values, lines, &head, NULL, &witness);
    if (fine && all.small.count == 0) {
        as_line_fit constant;
        as_constant_fit(samples->values, plan->n, &constant);
        tell_fit(t, NULL, "", &constant, "chosen");
    } else if (fine) {
        tell_combinations(&all);
    }
    for (size_t i = 0; i < all.texts.count; i++) free(AS_AT(char *, &all.texts, i));
    as_vec_free(&all.texts);
    as_vec_free(&all.costs);
    as_vec_free(&all.small);
    free(lines);
    return fine;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool explain(telling *t, as_samples *samples, uint32_t series) {
    if (!as_samples_take(t->ds, series, t->options->measure, samples)) return false;
    if (samples->n == 0) return true;
    as_plan *plan = as_plan_new(t->ds, t->options, samples->points, samples->n, samples->n < t->ds->n_points);
    if (!plan) return false;
    as_line_result result;
    bool fine = true;
    if (plan->n_parameters > 1) {
        fine = tell_several(t, plan, samples);
    } else if (plan->lines[0].modeler) {
        fine = tell_line(t, plan, 0, samples, false, &result);
    } else {
        as_line_fit constant;
        as_constant_fit(samples->values, plan->n, &constant);
        tell_fit(t, NULL, "", &constant, "chosen: too few points for anything else");
    }
    as_plan_free(plan);
    return fine;
}

assay_status as_fit_explain(as_dataset *ds, const as_fit_options *options, uint32_t series,
                            bool (*visit)(void *user, const as_tried *tried), void *user, assay_error *error) {
    telling t = {.ds = ds, .options = options, .visit = visit, .user = user};
    as_vec_init(&t.text, 1, NULL);
    size_t n = ds->n_points + 1;
    as_samples samples = {.points = malloc(n * sizeof *samples.points),
                          .values = malloc(n * sizeof *samples.values),
                          .means = malloc(n * sizeof *samples.means)};
    bool fine = samples.points && samples.values && samples.means;
    if (fine && !as_fit_needs_means(options)) {
        free(samples.means);
        samples.means = NULL;
    }
    fine = fine && explain(&t, &samples, series) && !t.out_of_memory;
    free(samples.points);
    free(samples.values);
    free(samples.means);
    as_vec_free(&t.text);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}
