/* Perun's five methods: which parts of a uid's points are fitted, and which fits are answers. */
#include <math.h>

#include "analysis/regress/fit.h"
#include "core/parallel.h"
#include "core/random.h"

enum { LEAST_POINTS = 3, DEFAULT_STEPS = 3, POINTS_OF_BLOCK = 8192, UIDS_OF_BLOCK = 512 };

/* Some uids that follow each other: the piece of work of a thread. */
struct block {
    size_t from, to;
    as_vec curves, skipped; /* as_curve, as_skipped_curve */
    as_vec numbers;         /* double: what a uid needs */
    bool failed;
};

struct job {
    const as_points_set *set;
    as_regress_options options;
    unsigned models; /* with what they need */
    as_vec blocks;   /* struct block */
};

/* One uid at work. */
struct uid {
    const struct job *job;
    struct block *block;
    const char *name;
    as_fit_points points; /* in the order of the method */
};

static const char *const method_names[] = {
    [AS_REGRESS_FULL] = "full",           [AS_REGRESS_ITERATIVE] = "iterative",
    [AS_REGRESS_INTERVAL] = "interval",   [AS_REGRESS_INITIAL_GUESS] = "initial_guess",
    [AS_REGRESS_BISECTION] = "bisection",
};
const char *as_regress_method_name(as_regress_method method) { return method_names[method]; }

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static void emit(struct uid *u, const as_curve_fit *fit) {
    as_curve curve = {.uid = u->name,
                      .model = fit->model,
                      .method = as_regress_method_name(u->job->options.method),
                      .r_square = fit->r_square,
                      .x_start = fit->x_start,
                      .x_end = fit->x_end,
                      .n_coefficients = fit->model == AS_CURVE_QUADRATIC ? 3 : 2,
                      .snapshot = -1,
                      .y_start = NAN,
                      .bandwidth = NAN,
                      .window_width = -1};
    memcpy(curve.coefficients, fit->coefficients, sizeof curve.coefficients);
    if (!as_vec_append(&u->block->curves, &curve, 1)) u->block->failed = true;
}

static void skip(struct uid *u, const char *model, const char *reason) {
    as_skipped_curve skipped = {u->name, model, reason};
    if (!as_vec_append(&u->block->skipped, &skipped, 1)) u->block->failed = true;
}

/* A constant model follows a linear one, where it is asked for. */
static void emit_with_constant(struct uid *u, const as_curve_fit fits[AS_CURVE_CONSTANT + 1], const as_curve_fit *fit) {
    emit(u, fit);
    if (fit->model == AS_CURVE_LINEAR && u->job->models & AS_BIT(AS_CURVE_CONSTANT)) emit(u, &fits[AS_CURVE_CONSTANT]);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static as_fit_points part_of(const as_fit_points *p, size_t from, size_t to) {
    return (as_fit_points){.x = p->x + from,
                           .y = p->y + from,
                           .log_x = p->log_x ? p->log_x + from : NULL,
                           .log_y = p->log_y ? p->log_y + from : NULL,
                           .n = to - from,
                           .scratch = p->scratch};
}

/* Where part i of n points in k parts begins: the first n mod k parts have one more. */
static size_t part_begin(size_t n, size_t k, size_t i) { return n / k * i + (i < n % k ? i : n % k); }

struct part {
    as_curve_fit fits[AS_CURVE_CONSTANT + 1];
    const as_curve_fit *best; /* NULL: no model can be fitted */
};

static void fit_part(const struct uid *u, size_t from, size_t to, struct part *out) {
    as_fit_points points = part_of(&u->points, from, to);
    as_fit_curves(&points, u->job->models, u->job->options.is_compatible, out->fits);
    out->best = as_best_fit(out->fits, u->job->models);
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

static void run_full(struct uid *u) {
    struct part all;
    fit_part(u, 0, u->points.n, &all);
    const char *common = NULL; /* the reason that all have */
    bool is_common = true;
    for (as_curve_model model = 0; model < AS_CURVE_CONSTANT; model++) {
        if (!(u->job->models & AS_BIT(model))) continue;
        const char *reason = all.fits[model].reason;
        if (!common) common = reason;
        is_common = is_common && reason && reason == common;
    }
    if (is_common) skip(u, NULL, common);
    for (as_curve_model model = 0; model < AS_CURVE_CONSTANT && !is_common; model++) {
        if (!(u->job->models & AS_BIT(model))) continue;
        if (all.fits[model].reason)
            skip(u, as_curve_name(model), all.fits[model].reason);
        else
            emit(u, &all.fits[model]);
    }
    const as_curve_fit *constant = &all.fits[AS_CURVE_CONSTANT];
    if (!is_common && u->job->models & AS_BIT(AS_CURVE_CONSTANT) && !constant->reason) emit(u, constant);
}

static bool has_parts(struct uid *u) {
    if (u->points.n / 2 >= u->job->options.steps) return true;
    skip(u, NULL, "fewer than 2 points for each step");
    return false;
}

static void run_interval(struct uid *u) {
    size_t n = u->points.n, steps = u->job->options.steps;
    if (!has_parts(u)) return;
    for (size_t i = 0; i < steps; i++) {
        size_t from = part_begin(n, steps, i), to = part_begin(n, steps, i + 1);
        if (to - from < LEAST_POINTS) {
            skip(u, NULL, i ? "the other steps have fewer than 3 points" : "fewer than 3 points for each step");
            return;
        }
        struct part part;
        fit_part(u, from, to, &part);
        if (part.best)
            emit_with_constant(u, part.fits, part.best);
        else
            skip(u, NULL, "no model can be fitted to the points of a step");
    }
}

/* Answers for [from, to), whose fits are `parent`. False: as Perun has it, the uid ends here. As deep as its points can
 * be halved. */
static bool bisect(struct uid *u, size_t from, size_t to, const struct part *parent) {
    size_t n = to - from, middle = from + (n + 1) / 2;
    if (n < 4 && u->job->options.is_compatible) {
        skip(u, NULL, "3 points cannot be halved; Perun ends here");
        return false;
    }
    if (to - middle < LEAST_POINTS) {
        emit_with_constant(u, parent->fits, parent->best);
        return true;
    }
    struct part halves[2];
    size_t bounds[3] = {from, middle, to};
    bool differs = false, fitted = true;
    for (int i = 0; i < 2; i++) {
        fit_part(u, bounds[i], bounds[i + 1], &halves[i]);
        fitted = fitted && halves[i].best;
        differs = differs || (halves[i].best && halves[i].best->model != parent->best->model);
    }
    if (!differs || !fitted) { /* a half that cannot be fitted has no better answer than the whole */
        emit_with_constant(u, parent->fits, parent->best);
        return true;
    }
    for (int i = 0; i < 2; i++) {
        if (halves[i].best->model == parent->best->model)
            emit_with_constant(u, halves[i].fits, halves[i].best);
        else if (!bisect(u, bounds[i], bounds[i + 1], &halves[i]))
            return false;
    }
    return true;
}

static void run_bisection(struct uid *u) {
    if (u->points.n < 2 * LEAST_POINTS) {
        skip(u, NULL, "fewer than 6 points");
        return;
    }
    struct part all;
    fit_part(u, 0, u->points.n, &all);
    if (all.best)
        bisect(u, 0, u->points.n, &all);
    else
        skip(u, NULL, "no model can be fitted");
}

/* ---- random methods ---------------------------------------------------------------------------------------------- */

/* A model that has seen the first points only. Sums are around the means of all points. */
struct candidate {
    bool is_out;
    size_t step, seen;
    double low, high; /* of u */
    long double n, u, v, uu, uv, vv, u3, u4, uuv;
    double r_square; /* -1: it cannot be fitted yet */
};

struct search {
    struct uid *uid;
    struct candidate candidates[AS_CURVE_CONSTANT];
    double centre_x, centre_y, scale_x, scale_y, centre_log_x, centre_log_y;
};

static void centre(const double *numbers, size_t n, double *mean, double *scale) {
    double sum = 0, most = 0;
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(numbers[i])) continue;
        sum += numbers[i];
        known++;
    }
    *mean = known ? sum / (double)known : 0;
    if (!isfinite(*mean)) *mean = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(numbers[i] - *mean));
    if (scale) *scale = most > 0 && isfinite(1 / most) ? 1 / most : 1;
}

static void take_points(struct search *s, as_curve_model model, size_t to) {
    struct candidate *c = &s->candidates[model];
    const as_fit_points *p = &s->uid->points;
    bool log_x = AS_NEEDS_LOG_X & AS_BIT(model), log_y = AS_NEEDS_LOG_Y & AS_BIT(model);
    for (; c->seen < to; c->seen++) {
        double x = log_x ? p->log_x[c->seen] - s->centre_log_x : (p->x[c->seen] - s->centre_x) * s->scale_x;
        double y = log_y ? p->log_y[c->seen] - s->centre_log_y : (p->y[c->seen] - s->centre_y) * s->scale_y;
        if (isnan(x) || isnan(y)) continue;
        c->low = c->n > 0 ? fmin(c->low, x) : x;
        c->high = c->n > 0 ? fmax(c->high, x) : x;
        long double u = (long double)x, v = (long double)y;
        c->n += 1;
        c->u += u;
        c->v += v;
        c->uu += u * u;
        c->uv += u * v;
        c->vv += v * v;
        c->u3 += u * u * u;
        c->u4 += u * u * u * u;
        c->uuv += u * u * v;
    }
}

/* What the points seen so far say. */
static double judge(const struct candidate *c, as_curve_model model) {
    if (c->n < LEAST_POINTS || c->low == c->high) return -1;
    long double uu = c->uu - c->u * c->u / c->n, uv = c->uv - c->u * c->v / c->n, vv = c->vv - c->v * c->v / c->n;
    if (!(uu > 0)) return -1;
    long double explained = uv * uv / uu;
    if (model == AS_CURVE_QUADRATIC) {
        long double u3 = c->u3 - c->uu * c->u / c->n, u4 = c->u4 - c->uu * c->uu / c->n;
        long double uuv = c->uuv - c->uu * c->v / c->n, rest = u4 - u3 * u3 / uu, more = uuv - u3 * uv / uu;
        if (!(rest > 1e-15L * u4)) return -1;
        explained += more * more / rest;
    }
    long double r_square = vv > 0 ? explained / vv : 0;
    return r_square > 1 ? 1 : r_square > 0 ? (double)r_square : 0;
}

static void advance(struct search *s, as_curve_model model) {
    struct candidate *c = &s->candidates[model];
    c->step++;
    take_points(s, model, part_begin(s->uid->points.n, s->uid->job->options.steps, c->step));
    c->r_square = judge(c, model);
}

/* The best so far; AS_CURVE_CONSTANT: all are out. */
static as_curve_model leader(const struct search *s) {
    as_curve_model best = AS_CURVE_CONSTANT;
    for (as_curve_model model = 0; model < AS_CURVE_CONSTANT; model++) {
        const struct candidate *c = &s->candidates[model];
        if (!c->is_out && (best == AS_CURVE_CONSTANT || c->r_square > s->candidates[best].r_square)) best = model;
    }
    return best;
}

/* Follows the best one until it has seen everything; is_guess: the first one that is best. Its answer is the fit of all
 * points. */
static void search(struct search *s, bool is_guess) {
    struct uid *u = s->uid;
    as_curve_model best;
    struct part all;
    fit_part(u, 0, u->points.n, &all);
    for (as_curve_model model = 0; model < AS_CURVE_CONSTANT; model++) {
        s->candidates[model].is_out = !(u->job->models & AS_BIT(model)) || all.fits[model].reason;
        if (!s->candidates[model].is_out) advance(s, model);
    }
    while ((best = leader(s)) != AS_CURVE_CONSTANT) {
        struct candidate *c = &s->candidates[best];
        if (c->step == u->job->options.steps || (is_guess && c->r_square >= 0)) {
            emit_with_constant(u, all.fits, &all.fits[best]);
            return;
        }
        bool nothing_known = c->r_square < 0;
        for (as_curve_model model = 0; model < AS_CURVE_CONSTANT; model++) {
            const struct candidate *other = &s->candidates[model];
            if (model == best || (nothing_known && !other->is_out && other->step < u->job->options.steps))
                advance(s, model);
        }
    }
    skip(u, NULL, "no model can be fitted");
}

/* Every uid in an order of its own, which other uids do not change. Perun's x_start and x_end take in the first point
 * even where no model can use it: there it stays the first, so that no seed changes them. */
static void shuffle(const struct uid *u, double *x, double *y) {
    uint64_t state = u->job->options.seed + as_hash_everywhere(u->name, strlen(u->name));
    size_t n = u->points.n;
    if (u->job->options.is_compatible) x++, y++, n--;
    for (size_t left = n; left > 1; left--) {
        size_t other = as_random_below(&state, left);
        double a = x[left - 1], b = y[left - 1];
        x[left - 1] = x[other];
        y[left - 1] = y[other];
        x[other] = a;
        y[other] = b;
    }
}

static void run_random(struct uid *u) {
    if (!has_parts(u)) return;
    struct search s = {.uid = u};
    const as_fit_points *p = &u->points;
    centre(p->x, p->n, &s.centre_x, &s.scale_x);
    centre(p->y, p->n, &s.centre_y, &s.scale_y);
    if (p->log_x) centre(p->log_x, p->n, &s.centre_log_x, NULL);
    if (p->log_y) centre(p->log_y, p->n, &s.centre_log_y, NULL);
    search(&s, u->job->options.method == AS_REGRESS_INITIAL_GUESS);
}

/* ---- the points of a uid ----------------------------------------------------------------------------------------- */

enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS, DIGITS = 6, SORTED_AT_ONCE = 64 };

struct point {
    uint64_t key; /* of x */
    double y;
};

static void sort_few(struct point *points, size_t n) {
    for (size_t i = 1; i < n; i++) {
        struct point point = points[i];
        size_t at = i;
        for (; at > 0 && points[at - 1].key > point.key; at--) points[at] = points[at - 1];
        points[at] = point;
    }
}

/* Stable. Returns where the sorted ones are: in points or in other. */
static struct point *sort_many(struct point *points, struct point *other, size_t n) {
    uint64_t differing = 0;
    for (size_t i = 1; i < n; i++) differing |= points[i].key ^ points[0].key;
    for (int digit = 0; digit < DIGITS; digit++) {
        int shift = digit * RADIX_BITS;
        if (!(differing >> shift & (RADIX - 1))) continue;
        size_t starts[RADIX] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++) starts[points[i].key >> shift & (RADIX - 1)]++;
        for (int i = 0; i < RADIX; i++) {
            size_t count = starts[i];
            starts[i] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++) other[starts[points[i].key >> shift & (RADIX - 1)]++] = points[i];
        struct point *swap = points;
        points = other;
        other = swap;
    }
    return points;
}

/* By x, equal ones in their order. room: 4 n numbers; x and y may be its first ones. */
static void sort_by_x(double *x, double *y, size_t n, double *room) {
    struct point *points = (struct point *)(void *)room, *other = points + n;
    for (size_t i = 0; i < n; i++) points[i] = (struct point){as_real_key(x[i] + 0.0), y[i]}; /* no -0 */
    if (n < SORTED_AT_ONCE)
        sort_few(points, n);
    else
        points = sort_many(points, other, n);
    for (size_t i = 0; i < n; i++) {
        x[i] = as_key_real(points[i].key);
        y[i] = points[i].y;
    }
}

/* NAN where there is none. */
static void take_logarithms(const double *numbers, size_t n, double *out) {
    for (size_t i = 0; i < n; i++) out[i] = numbers[i] > 0 ? log(numbers[i]) : NAN;
}

/* Points in the order of the method, their logarithms, and room: x, y, ln x, ln y, scratch (4 n). */
static bool prepare(struct uid *u, const as_points *points) {
    size_t n = points->n;
    as_regress_method method = u->job->options.method;
    as_vec *numbers = &u->block->numbers;
    numbers->count = 0;
    if (n > SIZE_MAX / 16 || !as_vec_reserve(numbers, 8 * n)) return false;
    double *x = numbers->data, *y = x + n, *log_x = y + n, *log_y = log_x + n, *scratch = log_y + n;
    u->points = (as_fit_points){.x = points->x, .y = points->y, .n = n, .scratch = scratch};
    if (method != AS_REGRESS_FULL) {
        memcpy(x, points->x, n * sizeof *x);
        memcpy(y, points->y, n * sizeof *y);
        u->points.x = x;
        u->points.y = y;
    }
    if (method == AS_REGRESS_INTERVAL || method == AS_REGRESS_BISECTION) sort_by_x(x, y, n, scratch);
    if (method == AS_REGRESS_ITERATIVE || method == AS_REGRESS_INITIAL_GUESS) shuffle(u, x, y);
    if (u->job->models & AS_NEEDS_LOG_X) take_logarithms(u->points.x, n, log_x);
    if (u->job->models & AS_NEEDS_LOG_Y) take_logarithms(u->points.y, n, log_y);
    u->points.log_x = u->job->models & AS_NEEDS_LOG_X ? log_x : NULL;
    u->points.log_y = u->job->models & AS_NEEDS_LOG_Y ? log_y : NULL;
    return true;
}

/* ---- all uids ---------------------------------------------------------------------------------------------------- */

static void run_uid(const struct job *job, struct block *block, const as_points *points) {
    struct uid u = {.job = job, .block = block, .name = points->uid};
    if (points->n < LEAST_POINTS) {
        skip(&u, NULL, "fewer than 3 usable points");
        return;
    }
    if (!prepare(&u, points)) {
        block->failed = true;
        return;
    }
    switch (job->options.method) {
    case AS_REGRESS_INTERVAL: run_interval(&u); break;
    case AS_REGRESS_BISECTION: run_bisection(&u); break;
    case AS_REGRESS_ITERATIVE:
    case AS_REGRESS_INITIAL_GUESS: run_random(&u); break;
    default: run_full(&u); break;
    }
}

static void run_block(void *user, size_t i) {
    const struct job *job = user;
    struct block *block = &AS_AT(struct block, &job->blocks, i);
    for (size_t at = block->from; at < block->to && !block->failed; at++) run_uid(job, block, &job->set->points[at]);
    as_vec_free(&block->numbers);
}

static bool make_blocks(struct job *job, as_budget *budget) {
    for (size_t from = 0, to; from < job->set->n; from = to) {
        size_t points = 0;
        for (to = from; to < job->set->n && points < POINTS_OF_BLOCK && to - from < UIDS_OF_BLOCK; to++)
            points += job->set->points[to].n;
        struct block *block = as_vec_push(&job->blocks);
        if (!block) return false;
        block->from = from;
        block->to = to;
        as_vec_init(&block->curves, sizeof(as_curve), budget);
        as_vec_init(&block->skipped, sizeof(as_skipped_curve), budget);
        as_vec_init(&block->numbers, sizeof(double), budget);
    }
    return true;
}

/* The answers of a block behind those before it, with their own copies of the uids. */
static bool gather(const struct block *block, as_curves *out) {
    const char *uid = NULL, *copy = NULL;
    for (size_t i = 0; i < block->curves.count + block->skipped.count; i++) {
        bool is_curve = i < block->curves.count;
        as_curve *curve = is_curve ? &AS_AT(as_curve, &block->curves, i) : NULL;
        as_skipped_curve *skipped =
            is_curve ? NULL : &AS_AT(as_skipped_curve, &block->skipped, i - block->curves.count);
        const char *name = is_curve ? curve->uid : skipped->uid;
        if (name != uid) copy = as_arena_copy(&out->arena, name, strlen(name));
        uid = name;
        if (!copy) return false;
        if (is_curve)
            curve->uid = copy;
        else
            skipped->uid = copy;
    }
    return as_vec_append(&out->curves, block->curves.data, block->curves.count) &&
           as_vec_append(&out->skipped, block->skipped.data, block->skipped.count);
}

assay_status as_regress(const as_points_set *set, const as_regress_options *options, as_curves *curves,
                        assay_error *error) {
    struct job job = {.set = set, .options = *options, .models = options->models};
    if (!job.options.steps) job.options.steps = DEFAULT_STEPS;
    if (!job.models) job.models = AS_FITTED_DIRECTLY | AS_BIT(AS_CURVE_CONSTANT);
    if (job.models & AS_BIT(AS_CURVE_CONSTANT)) job.models |= AS_BIT(AS_CURVE_LINEAR); /* which it is made of */
    as_vec_init(&job.blocks, sizeof(struct block), curves->arena.budget);
    bool fine = make_blocks(&job, curves->arena.budget);
    if (fine) as_parallel(job.blocks.count, 0, run_block, &job);
    for (size_t i = 0; i < job.blocks.count; i++) {
        struct block *block = &AS_AT(struct block, &job.blocks, i);
        fine = fine && !block->failed && gather(block, curves);
        as_vec_free(&block->curves);
        as_vec_free(&block->skipped);
        as_vec_free(&block->numbers);
    }
    as_vec_free(&job.blocks);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}
