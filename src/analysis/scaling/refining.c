/* The refining modeler: a coarse grid of whole exponents, then mediants between neighbours of the best, as long as that
 * helps. */
#include "analysis/scaling/line.h"

enum { MAX_POWER = 5, MAX_LOG = 2, MAX_SLICES = 4, MAX_ROUNDS = 10, MAX_BEST = MAX_SLICES + MAX_ROUNDS };

static const double accept_from = 1.5, go_on_from = 2, better_than_constant = 1.3, least_contribution = 0.0005;

/* One exponent varies, the other is fixed. */
typedef struct slice {
    bool varies_log;
    as_exponent fixed;
    as_exponent left, center, right; /* where the search is */
} slice;

typedef struct search {
    as_line_plan *plan;
    const double *y;
    double tss;
    bool out_of_memory;
} search;

/* Of a slice: the best hypothesis and its place among the candidates, or -1 where none is valid. */
typedef struct candidate {
    as_line_fit fit;
    int place;
} candidate;

static as_power power_of(const slice *s, as_exponent exponent) {
    return s->varies_log ? (as_power){s->fixed, exponent} : (as_power){exponent, s->fixed};
}

/* The best of n exponents of a slice; the first valid one is taken as it is. */
static candidate best_of(search *f, const slice *s, const as_exponent *exponents, int n) {
    const as_single_options *options = &f->plan->options;
    candidate best = {.place = -1};
    for (int i = 0; i < n; i++) {
        if (exponents[i].value == 0 && s->fixed.value == 0) continue;
        const as_hypothesis *h = as_line_plan_hypothesis(f->plan, power_of(s, exponents[i]));
        if (!h) {
            f->out_of_memory = true;
            return best;
        }
        as_line_fit fit;
        as_hypothesis_fit(h, f->y, f->plan->n, f->tss, options, &fit);
        if (!isfinite(fit.costs.RSS)) continue;
        if (best.place >= 0 &&
            (as_contributes_little(h, f->y, f->plan->n, fit.coefficient, options->minimum_term_contribution) ||
             !(as_score(&fit.costs, options) < as_score(&best.fit.costs, options)))) {
            continue;
        }
        best = (candidate){fit, i};
    }
    return best;
}

static size_t make_slices(const as_line_plan *plan, slice *slices) {
    bool allow_log = plan->options.allow_log_terms;
    for (size_t i = 0; i < plan->n; i++) allow_log = allow_log && plan->x[i] >= 1;
    size_t n = 0;
    for (int log = 0; log <= (allow_log ? MAX_LOG : 0); log++)
        slices[n++] = (slice){.fixed = as_exponent_fraction(log, 1)};
    if (allow_log) slices[n++] = (slice){.varies_log = true, .fixed = as_exponent_fraction(0, 1)};
    return n;
}

/* The best on the coarse grid, and its neighbours as the range to search in. */
static candidate coarse(search *f, slice *s) {
    as_exponent grid[MAX_POWER + 1];
    int n = s->varies_log ? MAX_LOG + 1 : MAX_POWER + 1;
    for (int i = 0; i < n; i++) grid[i] = as_exponent_fraction(i, 1);
    candidate best = best_of(f, s, grid, n);
    int at = best.place < 0 ? 0 : best.place;
    s->left = grid[at > 0 ? at - 1 : 0];
    s->center = grid[at];
    s->right = grid[at + 1 < n ? at + 1 : n - 1];
    if (s->left.value == s->right.value) s->right = as_exponent_fraction(s->right.numerator + 1, 1);
    return best;
}

static candidate refine(search *f, slice *s) {
    as_exponent between[3] = {as_exponent_mediant(s->left, s->center), s->center,
                              as_exponent_mediant(s->center, s->right)};
    candidate best = best_of(f, s, between, 3);
    if (best.place == 0) {
        s->right = s->center;
        s->center = between[0];
    } else if (best.place == 2) {
        s->left = s->center;
        s->center = between[2];
    } else {
        s->left = between[0];
        s->right = between[2];
    }
    return best;
}

/* The first with the smallest score; NULL where none is valid. */
static const candidate *smallest(const candidate *list, size_t n, const as_single_options *options) {
    const candidate *best = NULL;
    for (size_t i = 0; i < n; i++) {
        if (list[i].place < 0) continue;
        if (!best || as_score(&list[i].fit.costs, options) < as_score(&best->fit.costs, options)) best = &list[i];
    }
    return best;
}

static double improvement(const candidate *before, const candidate *after, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        if (before[i].place < 0 || after[i].place < 0) continue;
        double ratio = before[i].fit.costs.SMAPE / after[i].fit.costs.SMAPE;
        if (ratio > largest) largest = ratio;
    }
    return largest;
}

/* Refines all slices round by round; adds what is clearly better to best. Returns how many are in it. */
static size_t search_on(search *f, slice *slices, size_t n, candidate *best) {
    const as_single_options *options = &f->plan->options;
    candidate buffers[2][MAX_SLICES], *previous = buffers[0], *step = buffers[1];
    memcpy(previous, best, n * sizeof *best);
    double threshold = accept_from;
    size_t n_best = n;
    for (int round = 0; round < MAX_ROUNDS && !f->out_of_memory; round++) {
        for (size_t i = 0; i < n; i++) step[i] = refine(f, &slices[i]);
        const candidate *of_step = smallest(step, n, options), *of_all = smallest(best, n_best, options);
        if (!of_step) break;
        if (!of_all || of_all->fit.costs.SMAPE / of_step->fit.costs.SMAPE >= threshold) {
            best[n_best++] = *of_step;
            threshold = accept_from;
        } else {
            threshold *= accept_from;
        }
        if (!(improvement(previous, step, n) >= go_on_from)) break;
        candidate *swap = previous;
        previous = step;
        step = swap;
    }
    return n_best;
}

bool as_line_refine(as_line_plan *plan, const double *y, as_line_fit *out) {
    as_constant_fit(y, plan->n, out);
    if (out->costs.RSS == 0) return true;
    search f = {.plan = plan, .y = y, .tss = out->costs.RSS};
    slice slices[MAX_SLICES];
    candidate best[MAX_BEST] = {0};
    size_t n = make_slices(plan, slices);
    for (size_t i = 0; i < n; i++) best[i] = coarse(&f, &slices[i]);
    size_t n_best = search_on(&f, slices, n, best);
    const candidate *chosen = smallest(best, n_best, &plan->options);
    if (f.out_of_memory) return false;
    if (!chosen || out->costs.SMAPE / chosen->fit.costs.SMAPE < better_than_constant) return true;
    const as_hypothesis *h = as_line_plan_hypothesis(plan, chosen->fit.power);
    if (!h) return false;
    if (as_contributes_little(h, y, plan->n, chosen->fit.coefficient, least_contribution)) return true;
    *out = chosen->fit;
    return true;
}
