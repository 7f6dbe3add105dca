#include "analysis/regress/kernel.h"
#include "core/parallel.h"

/* Weights of the normal kernel below e^-41.5, a 10^-18th of the largest, do not matter. */
#define NEGLIGIBLE_SQUARES 83.0
/* Beyond this distance the series has too few terms for a cell of the normal kernel. */
#define FAR 8.0
/* LEAST_FOR_OTHERS: groups for which a series of the other cells pays. MOST_APART: in a cell whose own groups are
 * summed one by one. */
enum { MOST_TERMS = 48, NORMAL_TERMS = 22, LEAST_IN_CELL = 8, LEAST_GROUPS = 512, LEAST_WINDOW = 256 };
enum { LEAST_FOR_OTHERS = 32, MOST_APART = 256 };

/* ---- points with the same x -------------------------------------------------------------------------------------- */

bool as_groups_make(const as_sorted *points, as_arena *arena, as_groups *out) {
    size_t n = points->n;
    double *y = as_arena_array(arena, n, sizeof *y);
    *out = (as_groups){.x = points->x,
                       .y = y,
                       .given = points->y,
                       .at = as_arena_array(arena, n, sizeof *out->at),
                       .count = as_arena_array(arena, n, sizeof *out->count),
                       .sum = as_arena_array(arena, n, sizeof *out->sum),
                       .start = as_arena_array(arena, n + 1, sizeof *out->start),
                       .n_points = n};
    if (y == NULL || out->at == NULL || out->count == NULL || out->sum == NULL || out->start == NULL) return false;
    double low = points->y[0], high = points->y[0];
    for (size_t i = 1; i < n; i++) {
        low = fmin(low, points->y[i]);
        high = fmax(high, points->y[i]);
    }
    out->center = low + (high / 2 - low / 2);
    for (size_t i = 0; i < n; i++) {
        y[i] = points->y[i] - out->center;
        if (i == 0 || points->x[i] != points->x[i - 1]) {
            out->at[out->n] = points->x[i];
            out->start[out->n++] = i;
        }
    }
    out->start[out->n] = n;
    for (size_t g = 0; g < out->n; g++) {
        as_long_sum sum = {0};
        for (size_t i = out->start[g]; i < out->start[g + 1]; i++) as_long_add(&sum, y[i]);
        out->count[g] = (double)(out->start[g + 1] - out->start[g]);
        out->sum[g] = as_long_value(sum);
    }
    return true;
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

static bool is_normal(const as_field *field) { return field->kernel == AS_NORMAL || field->kernel == AS_NORMAL4; }

/* The first group that lies at or above (is_above: above) this place. */
static size_t first_at(const as_groups *groups, double place, bool is_above) {
    size_t low = 0, high = groups->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (groups->at[middle] < place || (is_above && groups->at[middle] == place))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void as_field_window(const as_field *field, size_t target, size_t *begin, size_t *end) {
    const as_groups *groups = field->groups;
    double here = groups->at[target], reach = as_kernel_reach(field->kernel);
    if (is_normal(field)) {
        double nearest = INFINITY;
        if (target > 0) nearest = here - groups->at[target - 1];
        if (target + 1 < groups->n) nearest = fmin(nearest, groups->at[target + 1] - here);
        nearest /= field->bandwidth;
        reach = fmin(reach, sqrt(nearest * nearest + NEGLIGIBLE_SQUARES));
    }
    *begin = first_at(groups, here - reach * field->bandwidth, false);
    *end = first_at(groups, here + reach * field->bandwidth, true);
    if (*begin > target) *begin = target;
    if (*end <= target) *end = target + 1;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static int terms_needed(as_kernel kernel, int n_powers) {
    switch (kernel) {
    case AS_TRICUBE: return 9 + n_powers;
    case AS_EPANECHNIKOV:
    case AS_EPANECHNIKOV4: return 2 + n_powers;
    default: return NORMAL_TERMS;
    }
}

/* Whether most windows hold so many groups that cells pay. */
static bool is_dense(const as_field *field) {
    size_t n = field->groups->n, total = 0, begin, end;
    if (n < LEAST_GROUPS) return false;
    for (int i = 0; i < 16; i++) {
        as_field_window(field, n / 16 * (size_t)i + n / 32, &begin, &end);
        total += end - begin;
    }
    return total / 16 >= LEAST_WINDOW;
}

static void cut_cells(as_field *field, double width) {
    const as_groups *groups = field->groups;
    size_t start = 0, most = field->kernel == AS_TRICUBE ? MOST_APART : groups->n;
    field->n_cells = 0;
    for (size_t g = 0; g < groups->n; g++) {
        if (g == 0 || g - start >= most || !(groups->at[g] - groups->at[start] < width))
            field->cell_start[field->n_cells++] = start = g;
        field->cell_of[g] = (uint32_t)(field->n_cells - 1);
    }
    field->cell_start[field->n_cells] = groups->n;
}

static void fill_cell(as_field *field, size_t cell) {
    const as_groups *groups = field->groups;
    size_t begin = field->cell_start[cell], end = field->cell_start[cell + 1];
    double center = groups->at[begin] + (groups->at[end - 1] - groups->at[begin]) / 2;
    double *counts = field->moments + cell * 2 * (size_t)field->n_terms, *sums = counts + field->n_terms;
    field->cell_center[cell] = center;
    for (size_t g = begin; g < end; g++) {
        double off = (groups->at[g] - center) / field->bandwidth, power = 1;
        for (int k = 0; k < field->n_terms; k++, power *= off) {
            counts[k] += groups->count[g] * power;
            sums[k] += groups->sum[g] * power;
        }
    }
}

static bool is_full(const as_field *field, size_t cell) {
    return field->cell_start[cell + 1] - field->cell_start[cell] >= LEAST_IN_CELL;
}

/* The cells that add to all groups of this one: all of the normal kernel's with a weight that matters, of others only
 * those that lie within it from wherever it is seen. */
static void choose_others(as_field *field, size_t cell) {
    size_t first = field->cell_start[cell], last = field->cell_start[cell + 1] - 1, begin, end, unused;
    bool is_wide = is_normal(field);
    as_field_window(field, is_wide ? first : last, &begin, &unused);
    as_field_window(field, is_wide ? last : first, &unused, &end);
    uint32_t from = field->cell_of[begin], to = field->cell_of[end - 1];
    if (!is_wide && field->cell_start[from] < begin) from++;
    if (is_wide || field->cell_start[to + 1] <= end) to++;
    field->others_from[cell] = from;
    field->others_end[cell] = to > from ? to : from;
}

/* out[i] += sum over j of moments[j] series[i + j] */
static void add_shifted(double *restrict out, const double *restrict series, const double *restrict moments, int n) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n - j; i++) out[i] += moments[j] * series[i + j];
}

/* From a series of the weight around u to that of the weight times the distance. */
static void multiply_by_distance(double *series, double u, int n) {
    for (int i = n - 1; i > 0; i--) series[i] = u * series[i] + series[i - 1];
    series[0] *= u;
}

/* sum over e of f(u + e - d) = sum over i of (-d)^i / i! sum over j of (i + j)! f[i + j] (sum over e of e^j / j!), f:
 * the series of the kernel at u */
static void add_other(as_field *field, const double *factorials, size_t cell, size_t other) {
    int n = field->n_terms;
    double u = (field->cell_center[other] - field->cell_center[cell]) / field->bandwidth, series[MOST_TERMS];
    double counts[MOST_TERMS], sums[MOST_TERMS], scaled[MOST_TERMS];
    const double *moments = field->moments + other * 2 * (size_t)n;
    double *out = field->others + cell * (size_t)(field->n_s + field->n_t) * (size_t)n;
    for (int i = 0; i < n; i++) {
        counts[i] = moments[i] / factorials[i];
        sums[i] = moments[n + i] / factorials[i];
    }
    as_kernel_series(field->kernel, u, series, n);
    for (int k = 0; k < field->n_s; k++) {
        for (int i = 0; i < n; i++) scaled[i] = series[i] * factorials[i];
        add_shifted(out + k * n, scaled, counts, n);
        if (k < field->n_t) add_shifted(out + (field->n_s + k) * n, scaled, sums, n);
        multiply_by_distance(series, u, n);
    }
}

static void fill_others(void *user, size_t cell) {
    as_field *field = user;
    int n = field->n_terms;
    double factorials[MOST_TERMS] = {1};
    if (field->cell_start[cell + 1] - field->cell_start[cell] < LEAST_FOR_OTHERS) return;
    for (int i = 1; i < n; i++) factorials[i] = factorials[i - 1] * i;
    choose_others(field, cell);
    for (size_t other = field->others_from[cell]; other < field->others_end[cell]; other++)
        if (other != cell && is_full(field, other)) add_other(field, factorials, cell, other);
    double *out = field->others + cell * (size_t)(field->n_s + field->n_t) * (size_t)n;
    for (int k = 0; k < field->n_s + field->n_t; k++)
        for (int i = 0; i < n; i++) out[k * n + i] /= factorials[i];
}

bool as_field_make(const as_groups *groups, as_kernel kernel, double bandwidth, int n_s, unsigned threads,
                   as_arena *arena, as_field *out) {
    *out = (as_field){.groups = groups, .kernel = kernel, .bandwidth = bandwidth, .n_s = n_s, .n_t = n_s / 2 + 1};
    int n_terms = terms_needed(kernel, n_s);
    if (n_terms > MOST_TERMS || groups->n >= UINT32_MAX || !is_dense(out)) return true;
    out->n_terms = n_terms;
    out->cell_of = as_arena_array(arena, groups->n, sizeof *out->cell_of);
    out->cell_start = as_arena_array(arena, groups->n + 1, sizeof *out->cell_start);
    if (out->cell_of == NULL || out->cell_start == NULL) return false;
    cut_cells(out, (is_normal(out) ? 0.5 : as_kernel_reach(kernel) / 24) * bandwidth);
    size_t n = out->n_cells, series = (size_t)n_terms * sizeof(double);
    out->cell_center = as_arena_array(arena, n, sizeof *out->cell_center);
    out->moments = as_arena_array(arena, n, 2 * series);
    out->others = as_arena_array(arena, n, (size_t)(out->n_s + out->n_t) * series);
    out->others_from = as_arena_array(arena, n, sizeof *out->others_from);
    out->others_end = as_arena_array(arena, n, sizeof *out->others_end);
    if (out->cell_center == NULL || out->moments == NULL || out->others == NULL || out->others_from == NULL ||
        out->others_end == NULL)
        return false;
    for (size_t cell = 0; cell < n; cell++)
        if (is_full(out, cell)) fill_cell(out, cell);
    as_parallel(n, threads, fill_others, out);
    return true;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Inlined with numbers of sums that are known, so that these stay in registers: most of the time of regressions is
 * spent here. */
__attribute__((always_inline)) static inline void add_weighted(const as_field *field, double here, size_t begin,
                                                               size_t end, double *restrict s, double *restrict t,
                                                               as_kernel kernel, int n_s, int n_t) {
    const as_groups *groups = field->groups;
    const double *at = groups->at, *counts = groups->count, *values = groups->sum;
    double bandwidth = field->bandwidth, s_here[AS_MOST_POWERS], t_here[AS_MOST_POWERS];
    for (int k = 0; k < n_s; k++) s_here[k] = s[k];
    for (int k = 0; k < n_t; k++) t_here[k] = t[k];
    for (size_t g = begin; g < end; g++) {
        double z = (at[g] - here) / bandwidth, weight = as_kernel_weight(kernel, z);
        double count = weight * counts[g], sum = weight * values[g];
        for (int k = 0; k < n_s; k++, count *= z) s_here[k] += count;
        for (int k = 0; k < n_t; k++, sum *= z) t_here[k] += sum;
    }
    for (int k = 0; k < n_s; k++) s[k] = s_here[k];
    for (int k = 0; k < n_t; k++) t[k] = t_here[k];
}

static void add_groups(const as_field *field, double here, size_t begin, size_t end, double *s, double *t) {
    bool is_epanechnikov = field->kernel == AS_EPANECHNIKOV;
    switch (is_epanechnikov ? field->n_s : 0) {
    case 1: add_weighted(field, here, begin, end, s, t, AS_EPANECHNIKOV, 1, 1); break;
    case 5: add_weighted(field, here, begin, end, s, t, AS_EPANECHNIKOV, 5, 3); break;
    case 7: add_weighted(field, here, begin, end, s, t, AS_EPANECHNIKOV, 7, 4); break;
    default: add_weighted(field, here, begin, end, s, t, field->kernel, field->n_s, field->n_t);
    }
}

static void add_cell(const as_field *field, double here, size_t cell, double *s, double *t) {
    double series[MOST_TERMS], u = (field->cell_center[cell] - here) / field->bandwidth;
    int n = field->n_terms;
    const double *counts = field->moments + cell * 2 * (size_t)n, *sums = counts + n;
    as_kernel_series(field->kernel, u, series, n);
    for (int k = 0; k < field->n_s; k++) {
        double count = 0, sum = 0;
        for (int i = 0; i < n; i++) count += series[i] * counts[i];
        s[k] += count;
        if (k < field->n_t) {
            for (int i = 0; i < n; i++) sum += series[i] * sums[i];
            t[k] += sum;
        }
        multiply_by_distance(series, u, n);
    }
}

static double series_at(const double *series, double e, int n) {
    double value = 0;
    for (int i = n - 1; i >= 0; i--) value = value * e + series[i];
    return value;
}

static void add_others(const as_field *field, double here, size_t cell, double *s, double *t) {
    int n = field->n_terms;
    const double *others = field->others + cell * (size_t)(field->n_s + field->n_t) * (size_t)n;
    double e = (field->cell_center[cell] - here) / field->bandwidth;
    for (int k = 0; k < field->n_s; k++) s[k] += series_at(others + k * n, e, n);
    for (int k = 0; k < field->n_t; k++) t[k] += series_at(others + (field->n_s + k) * n, e, n);
}

/* The cell with the target; false where its groups are better taken one by one: those with a corner at 0, and where
 * hardly anything is left without the target. */
static bool add_own_cell(const as_field *field, size_t target, double *s, double *t) {
    const as_groups *groups = field->groups;
    size_t cell = field->cell_of[target];
    if (field->kernel == AS_TRICUBE || !is_full(field, cell) ||
        groups->count[target] * 2 > field->moments[cell * 2 * (size_t)field->n_terms])
        return false;
    add_cell(field, groups->at[target], cell, s, t);
    double own = as_kernel_weight(field->kernel, 0);
    s[0] -= own * groups->count[target];
    t[0] -= own * groups->sum[target];
    return true;
}

/* Groups first to last - 1 but the target. */
static void add_but_target(const as_field *field, size_t target, size_t first, size_t last, double *s, double *t) {
    double here = field->groups->at[target];
    if (target < first || target >= last) {
        add_groups(field, here, first, last, s, t);
    } else {
        add_groups(field, here, first, target, s, t);
        add_groups(field, here, target + 1, last, s, t);
    }
}

void as_field_sums(const as_field *field, size_t target, double *s, double *t) {
    size_t begin, end;
    double here = field->groups->at[target];
    as_field_window(field, target, &begin, &end);
    for (int k = 0; k < field->n_s; k++) s[k] = 0;
    for (int k = 0; k < field->n_t; k++) t[k] = 0;
    if (field->n_terms == 0) {
        add_but_target(field, target, begin, end, s, t);
        return;
    }
    size_t own = field->cell_of[target];
    if (field->others_end[own] > field->others_from[own]) add_others(field, here, own, s, t);
    for (size_t cell = field->cell_of[begin]; cell <= field->cell_of[end - 1]; cell++) {
        size_t first = field->cell_start[cell], last = field->cell_start[cell + 1];
        if (cell == own) {
            if (add_own_cell(field, target, s, t)) continue;
        } else if (is_full(field, cell)) {
            if (cell >= field->others_from[own] && cell < field->others_end[own]) continue;
            if (is_normal(field) ? fabs(field->cell_center[cell] - here) <= FAR * field->bandwidth
                                 : first >= begin && last <= end) {
                add_cell(field, here, cell, s, t);
                continue;
            }
        }
        add_but_target(field, target, first > begin ? first : begin, last < end ? last : end, s, t);
    }
}
