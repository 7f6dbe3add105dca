/* The inner loop of all modelling: for a tile of series, which hypothesis of a plan has the smallest error.
 *
 * One lane of a vector is one series, so that nothing is summed across lanes and every instruction set gives the same bits (products and sums are never
 * fused: -ffp-contract=off). The code is written once for vectors of eight and compiled for what the machine may have. */
#include <stdlib.h>

#include "analysis/scaling/line.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between functions that are always inlined */

typedef double reals __attribute__((vector_size(AS_LANES * sizeof(double))));
typedef int64_t mask __attribute__((vector_size(AS_LANES * sizeof(int64_t))));

#define INLINE static inline __attribute__((always_inline))

INLINE reals splat(double value) { return (reals){0} + value; }
INLINE reals magnitude(reals a) { return (reals)((mask)a & INT64_MAX); }
INLINE reals choose(mask where, reals a, reals b) { return (reals)(((mask)a & where) | ((mask)b & ~where)); }

/* What is the same for all hypotheses: below which a constant counts as 0 (when point i is left out, or at all), and 1 / |y|. */
INLINE void prepare(const as_line_plan *plan, const reals *y, reals *clean, reals *inverse) {
    size_t n = plan->n;
    bool cross = plan->options.use_crossvalidation;
    reals first = splat(INFINITY), second = first, part = splat(cross ? AS_CLEAN_LEFT_OUT : AS_CLEAN_PLAIN);
    for (size_t i = 0; i < n; i++) {
        mask below = y[i] < first;
        second = choose(below, first, choose(y[i] < second, y[i], second));
        first = choose(below, y[i], first);
    }
    for (size_t i = 0; i < n; i++) {
        reals smallest = cross ? choose(y[i] == first, second, first) : first;
        clean[i] = choose(smallest == splat(0), part, part * magnitude(smallest));
        inverse[i] = splat(1) / magnitude(y[i]);
    }
}

INLINE void coefficients(const double *inverse, const reals *y, size_t n, reals c[2]) {
    reals c0 = splat(0), c1 = splat(0);
    for (size_t i = 0; i < n; i++) {
        c0 += inverse[i] * y[i];
        c1 += inverse[n + i] * y[i];
    }
    c[0] = c0;
    c[1] = c1;
}

typedef struct tile_costs {
    reals RSS, SMAPE;
} tile_costs;

INLINE void add_error(tile_costs *costs, reals prediction, reals y) {
    reals d = prediction - y, size = magnitude(y) + magnitude(prediction);
    costs->RSS += d * d;
    size = choose(size == splat(0), splat(1), size);
    costs->SMAPE += magnitude(d) / size;
}

INLINE tile_costs cross_costs(const as_hypothesis *h, const reals *y, const reals *clean, size_t n, const reals c[2]) {
    tile_costs costs = {splat(0), splat(0)};
    for (size_t i = 0; i < n; i++) {
        reals without[2];
        const double *own = as_hypothesis_inverse(h, n, i);
        if (own) {
            coefficients(own, y, n, without);
        } else {
            const double *change = h->left_out + 3 * i;
            reals step = (y[i] - (c[0] + c[1] * h->basis[i])) / change[2];
            without[0] = c[0] - change[0] * step;
            without[1] = c[1] - change[1] * step;
        }
        without[0] = choose(magnitude(without[0]) < clean[i], splat(0), without[0]);
        add_error(&costs, without[0] + without[1] * h->basis[i], y[i]);
    }
    return costs;
}

/* Without leaving points out. The mean of SMAPE is over the points where it exists. */
INLINE tile_costs plain_costs(const as_hypothesis *h, const reals *y, const reals *clean, size_t n, const reals c[2]) {
    tile_costs costs = {splat(0), splat(0)};
    reals constant = choose(magnitude(c[0]) < clean[0], splat(0), c[0]), used = splat(0);
    for (size_t i = 0; i < n; i++) {
        reals prediction = constant + c[1] * h->basis[i];
        add_error(&costs, prediction, y[i]);
        used += choose(magnitude(y[i]) + magnitude(prediction) == splat(0), splat(0), splat(1));
    }
    costs.SMAPE *= splat((double)n) / choose(used == splat(0), splat(1), used);
    return costs;
}

INLINE void judge(const as_line_plan *plan, const double *values, double *scratch, as_line_verdict *verdict) {
    const reals *y = (const reals *)values;
    size_t n = plan->n;
    reals *clean = (reals *)scratch, *inverse = clean + n;
    reals best = *(const reals *)verdict->best, second = *(const reals *)verdict->second;
    reals best_term = splat(-1), second_term = splat(-1);
    reals factor = splat(plan->options.compare_with_RSS ? 1 : 200 / (double)n);
    reals minimum = splat(plan->options.minimum_term_contribution);
    prepare(plan, y, clean, inverse);
    for (size_t t = 0; t < plan->powers.count; t++) {
        const as_hypothesis *h = &plan->hypotheses[t];
        reals c[2];
        coefficients(h->full, y, n, c);
        tile_costs costs =
            plan->options.use_crossvalidation ? cross_costs(h, y, clean, n, c) : plain_costs(h, y, clean, n, c);
        reals size = magnitude(c[1]);
        mask little = ~(mask){0};
        for (size_t i = 0; i < n; i++) little &= size * splat(fabs(h->basis[i])) * inverse[i] < minimum;
        little |= c[1] == splat(0);
        reals score = (plan->options.compare_with_RSS ? costs.RSS : costs.SMAPE) * factor;
        mask valid = (costs.RSS < splat(INFINITY)) & ~little;
        mask better = (score < best) & valid, next = (score < second) & valid & ~better;
        reals term = splat((double)t);
        second = choose(better, best, choose(next, score, second));
        second_term = choose(better, best_term, choose(next, term, second_term));
        best = choose(better, score, best);
        best_term = choose(better, term, best_term);
    }
    *(reals *)verdict->best = best;
    *(reals *)verdict->second = second;
    *(reals *)verdict->best_term = best_term;
    *(reals *)verdict->second_term = second_term;
}

/* ---- one function for each instruction set --------------------------------------------------------------------------- */

typedef void judge_function(const as_line_plan *plan, const double *y, double *scratch, as_line_verdict *verdict);

static void judge_baseline(const as_line_plan *plan, const double *y, double *scratch, as_line_verdict *verdict) {
    judge(plan, y, scratch, verdict);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void judge_avx2(const as_line_plan *plan, const double *y, double *scratch,
                                                       as_line_verdict *verdict) {
    judge(plan, y, scratch, verdict);
}

__attribute__((target("avx512f,avx512dq"))) static void judge_avx512(const as_line_plan *plan, const double *y,
                                                                     double *scratch, as_line_verdict *verdict) {
    judge(plan, y, scratch, verdict);
}
#endif

typedef struct instruction_set {
    const char *name;
    judge_function *judge;
} instruction_set;

static instruction_set best_set(void) {
    const char *wanted = getenv("ASSAY_SIMD");
    bool any = !wanted || !*wanted;
#if defined(__x86_64__)
    bool wants_512 = any || strcmp(wanted, "avx512") == 0, wants_256 = wants_512 || strcmp(wanted, "avx2") == 0;
    __builtin_cpu_init();
    if (wants_512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return (instruction_set){"avx512", judge_avx512};
    if (wants_256 && __builtin_cpu_supports("avx2")) return (instruction_set){"avx2", judge_avx2};
#else
    (void)any;
#endif
    return (instruction_set){"baseline", judge_baseline};
}

static instruction_set chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void choose_set(void) { chosen = best_set(); }

void as_line_judge(const as_line_plan *plan, const double *y, double *scratch, as_line_verdict *verdict) {
    pthread_once(&once, choose_set);
    chosen.judge(plan, y, scratch, verdict);
}

const char *as_line_simd(void) {
    pthread_once(&once, choose_set);
    return chosen.name;
}
