/* Local polynomials: least squares with the kernel's weights. */
#include "analysis/regress/kernel.h"

/* Windows of more groups than these are solved by their moments, unless these depend on each other; a search for good
 * base points in larger ones than these costs too much. */
enum { LEAST_FOR_MOMENTS = 32, MOST_FOR_POINTS = 4096, MOST_SIZE = AS_MOST_ORDER + 1 };
#define DEPENDENT 1e-7

typedef struct small_system {
    double a[MOST_SIZE][MOST_SIZE], b[MOST_SIZE];
    int n;
} small_system;

/* Gauss with full pivoting; the system ends. *least: the smallest pivot. False: it is singular. */
static bool solve(small_system *s, double *x, double *least) {
    int order[MOST_SIZE] = {0};
    *least = INFINITY;
    for (int i = 0; i < s->n; i++) order[i] = i;
    for (int k = 0; k < s->n; k++) {
        int row = k, column = k;
        for (int i = k; i < s->n; i++)
            for (int j = k; j < s->n; j++)
                if (fabs(s->a[i][j]) > fabs(s->a[row][column])) row = i, column = j;
        double pivot = s->a[row][column];
        *least = fmin(*least, fabs(pivot));
        if (pivot == 0 || !isfinite(pivot)) return false;
        for (int j = 0; j < s->n; j++) {
            double value = s->a[k][j];
            s->a[k][j] = s->a[row][j], s->a[row][j] = value;
        }
        double right = s->b[k];
        s->b[k] = s->b[row], s->b[row] = right;
        for (int i = 0; i < s->n; i++) {
            double value = s->a[i][k];
            s->a[i][k] = s->a[i][column], s->a[i][column] = value;
        }
        int place = order[k];
        order[k] = order[column], order[column] = place;
        for (int i = k + 1; i < s->n; i++) {
            double factor = s->a[i][k] / s->a[k][k];
            for (int j = k; j < s->n; j++) s->a[i][j] -= factor * s->a[k][j];
            s->b[i] -= factor * s->b[k];
        }
    }
    for (int k = s->n - 1; k >= 0; k--) {
        double value = s->b[k];
        for (int j = k + 1; j < s->n; j++) value -= s->a[k][j] * x[order[j]];
        x[order[k]] = value / s->a[k][k];
    }
    return true;
}

/* ---- by moments -------------------------------------------------------------------------------------------------- */

static bool solve_moments(const as_field *field, size_t target, int order, double *value) {
    double s[AS_MOST_POWERS], t[MOST_SIZE], scale[MOST_SIZE], x[MOST_SIZE], least;
    as_field_sums(field, target, s, t);
    double own = as_kernel_weight(field->kernel, 0);
    s[0] += own * field->groups->count[target];
    t[0] += own * field->groups->sum[target];
    small_system system = {.n = order + 1};
    for (int i = 0; i <= order; i++) scale[i] = s[2 * i] != 0 ? 1 / sqrt(fabs(s[2 * i])) : 1;
    for (int i = 0; i <= order; i++) {
        for (int j = 0; j <= order; j++) system.a[i][j] = s[i + j] * scale[i] * scale[j];
        system.b[i] = t[i] * scale[i];
    }
    if (!solve(&system, x, &least) || least < DEPENDENT) return false;
    *value = x[0] * scale[0];
    return isfinite(*value);
}

/* ---- by base points ---------------------------------------------------------------------------------------------- */

/* The polynomial is described by its values at some of the points: the target, and those that have both weight and
 * distance from the ones before. So even weights of very different sizes, such as the normal kernel's far away, all
 * count with their digits. */
typedef struct base_points {
    size_t groups[MOST_SIZE];
    double z[MOST_SIZE], factor[MOST_SIZE]; /* factor: 1 / product of distances from the others */
    double root[MOST_SIZE], sign[MOST_SIZE];
    int n;
} base_points;

static double weight_at(const as_field *field, size_t target, size_t group, double *z) {
    *z = (field->groups->at[group] - field->groups->at[target]) / field->bandwidth;
    return as_kernel_weight(field->kernel, *z) * field->groups->count[group];
}

static void add_base(const as_field *field, size_t target, size_t group, base_points *base) {
    double weight = weight_at(field, target, group, &base->z[base->n]);
    base->groups[base->n] = group;
    base->root[base->n] = sqrt(fabs(weight));
    base->sign[base->n++] = weight < 0 ? -1 : 1;
}

static void choose_base(const as_field *field, size_t target, size_t begin, size_t end, int order, base_points *base) {
    base->n = 0;
    add_base(field, target, target, base);
    while (base->n <= order) {
        double best = 0;
        size_t chosen = target;
        for (size_t g = begin; g < end; g++) {
            double z, volume = sqrt(fabs(weight_at(field, target, g, &z)));
            for (int b = 0; b < base->n; b++) volume *= fabs(z - base->z[b]);
            if (volume > best) best = volume, chosen = g;
        }
        if (best == 0) break;
        add_base(field, target, chosen, base);
    }
    for (int b = 0; b < base->n; b++) {
        base->factor[b] = 1;
        for (int c = 0; c < base->n; c++)
            if (c != b) base->factor[b] /= base->z[b] - base->z[c];
    }
}

static bool is_base(const base_points *base, size_t group) {
    for (int b = 0; b < base->n; b++)
        if (base->groups[b] == group) return true;
    return false;
}

static double solve_points(const as_field *field, size_t target, size_t begin, size_t end, int order) {
    const as_groups *groups = field->groups;
    base_points base;
    choose_base(field, target, begin, end, order, &base);
    small_system system = {.n = base.n};
    for (int b = 0; b < base.n; b++) {
        size_t g = base.groups[b];
        system.a[b][b] = base.sign[b];
        system.b[b] = base.sign[b] * base.root[b] * (groups->sum[g] / groups->count[g]);
    }
    for (size_t g = begin; g < end; g++) {
        double z, weight = weight_at(field, target, g, &z), root = sqrt(fabs(weight)), parts[MOST_SIZE];
        if (weight == 0 || is_base(&base, g)) continue;
        for (int b = 0; b < base.n; b++) {
            parts[b] = base.factor[b] * root / base.root[b];
            for (int c = 0; c < base.n; c++)
                if (c != b) parts[b] *= z - base.z[c];
        }
        double sign = weight < 0 ? -1 : 1, y = groups->sum[g] / groups->count[g];
        for (int b = 0; b < base.n; b++) {
            for (int c = 0; c < base.n; c++) system.a[b][c] += sign * parts[b] * parts[c];
            system.b[b] += sign * root * y * parts[b];
        }
    }
    double x[MOST_SIZE], least;
    if (!solve(&system, x, &least)) return groups->sum[target] / groups->count[target];
    return x[0] / base.root[0];
}

double as_polynomial_at(const as_field *field, size_t target, int order) {
    size_t begin, end;
    double value;
    as_field_window(field, target, &begin, &end);
    if (end - begin >= (size_t)(LEAST_FOR_MOMENTS * (order + 1)) && solve_moments(field, target, order, &value))
        return value;
    if (end - begin > MOST_FOR_POINTS) { /* the nearest ones */
        begin = target - begin > MOST_FOR_POINTS / 2 ? target - MOST_FOR_POINTS / 2 : begin;
        end = end - target > MOST_FOR_POINTS / 2 ? target + MOST_FOR_POINTS / 2 : end;
    }
    return solve_points(field, target, begin, end, order);
}

/* ---- bandwidths at which there are enough points ----------------------------------------------------------------- */

/* How far the farthest of the order + 1 nearest groups is, at the group where this is farthest. */
static double farthest_needed(const as_groups *groups, size_t order) {
    double farthest = 0;
    for (size_t g = 0; g < groups->n; g++) {
        double nearest = INFINITY;
        size_t first = g > order ? g - order : 0;
        for (size_t begin = first; begin <= g && begin + order < groups->n; begin++)
            nearest = fmin(nearest, fmax(groups->at[g] - groups->at[begin], groups->at[begin + order] - groups->at[g]));
        farthest = fmax(farthest, nearest);
    }
    return farthest;
}

double as_polynomial_bandwidth(const as_groups *groups, as_kernel kernel, double bandwidth, int order) {
    if (groups->n <= (size_t)order) return NAN;
    double needed = farthest_needed(groups, (size_t)order), reach = as_kernel_reach(kernel);
    if (!isfinite(needed)) return NAN;
    if (needed / bandwidth < reach) return bandwidth;
    double found = bandwidth + floor(fmax(needed / reach - bandwidth, 0));
    while (needed / found >= reach) {
        if (found + 1 == found) return NAN;
        found++;
    }
    return found;
}
