/* The body of line_kernel.c, for vectors of WIDTH lanes and the instruction set TARGET; NAME() makes names of its own.
 * No header of its own: it is included once for each instruction set. */
#define reals        NAME(reals)
#define mask         NAME(mask)
#define splat        NAME(splat)
#define magnitude    NAME(magnitude)
#define choose       NAME(choose)
#define prepare      NAME(prepare)
#define coefficients NAME(coefficients)
#define tile_costs   NAME(tile_costs)
#define add_error    NAME(add_error)
#define cross_costs  NAME(cross_costs)
#define plain_costs  NAME(plain_costs)
#define judge_part   NAME(judge_part)
#define INLINE       TARGET static inline __attribute__((always_inline))

typedef double reals __attribute__((vector_size(WIDTH * sizeof(double))));
typedef int64_t mask __attribute__((vector_size(WIDTH * sizeof(int64_t))));

INLINE reals splat(double value) { return (reals){0} + value; }
INLINE reals magnitude(reals a) { return (reals)((mask)a & INT64_MAX); }
INLINE reals choose(mask where, reals a, reals b) { return (reals)(((mask)a & where) | ((mask)b & ~where)); }

/* What is the same for all hypotheses: below which a constant counts as 0 (when point i is left out, or at all), and 1
 * / |y|. */
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

/* The lanes from `from` on. */
INLINE void judge_part(const as_line_plan *plan, const double *tile, size_t from, double *scratch,
                       as_line_verdict *verdict) {
    size_t n = plan->n;
    reals *y = (reals *)scratch, *clean = y + n, *inverse = clean + n;
    for (size_t i = 0; i < n; i++) y[i] = *(const reals *)(tile + i * AS_LANES + from);
    reals best = *(const reals *)(verdict->best + from), second = *(const reals *)(verdict->second + from);
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
        reals counts = splat(0); /* 1 where the term contributes enough at some point; what is no number passes */
        for (size_t i = 0; i < n; i++)
            counts = choose(size * splat(fabs(h->basis[i])) * inverse[i] < minimum, counts, splat(1));
        counts = choose((mask)size > (mask){0}, counts, splat(0)); /* bits of a magnitude order as integers */
        reals score = (plan->options.compare_with_RSS ? costs.RSS : costs.SMAPE) * factor;
        mask valid = (costs.RSS < splat(INFINITY)) & (counts > splat(0));
        mask better = (score < best) & valid, next = (score < second) & valid & ~better;
        reals term = splat((double)t);
        second = choose(better, best, choose(next, score, second));
        second_term = choose(better, best_term, choose(next, term, second_term));
        best = choose(better, score, best);
        best_term = choose(better, term, best_term);
    }
    *(reals *)(verdict->best + from) = best;
    *(reals *)(verdict->second + from) = second;
    *(reals *)(verdict->best_term + from) = best_term;
    *(reals *)(verdict->second_term + from) = second_term;
}

TARGET static void NAME(judge)(const as_line_plan *plan, const double *tile, double *scratch,
                               as_line_verdict *verdict) {
    for (size_t from = 0; from < AS_LANES; from += WIDTH) judge_part(plan, tile, from, scratch, verdict);
}

#undef reals
#undef mask
#undef splat
#undef magnitude
#undef choose
#undef prepare
#undef coefficients
#undef tile_costs
#undef add_error
#undef cross_costs
#undef plain_costs
#undef judge_part
#undef INLINE
#undef NAME
#undef TARGET
#undef WIDTH
