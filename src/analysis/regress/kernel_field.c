#include "analysis/regress/kernel.h"

/* Weights of the normal kernel below e^-41.5, a 10^-18th of the largest, do not matter. */
#define NEGLIGIBLE_SQUARES 83.0
enum { MOST_TERMS = 48, NORMAL_TERMS = 22, LEAST_IN_CELL = 8, LEAST_GROUPS = 512, LEAST_WINDOW = 256 };

/* ---- points with the same x ----------------------------------------------------------------------------------------------- */

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

/* ---- windows ------------------------------------------------------------------------------------------------------------------ */

/* The first group from `from` on that lies at or above (is_above: above) this place. */
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
    if (field->kernel == AS_NORMAL || field->kernel == AS_NORMAL4) {
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

/* ---- cells ----------------------------------------------------------------------------------------------------------------- */

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
    field->n_cells = 0;
    for (size_t g = 0; g < groups->n; g++) {
        if (g == 0 || !(groups->at[g] - groups->at[field->cell_start[field->n_cells - 1]] < width))
            field->cell_start[field->n_cells++] = g;
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

bool as_field_make(const as_groups *groups, as_kernel kernel, double bandwidth, int n_powers, as_arena *arena,
                   as_field *out) {
    *out = (as_field){.groups = groups, .kernel = kernel, .bandwidth = bandwidth};
    int n_terms = terms_needed(kernel, n_powers);
    if (n_terms > MOST_TERMS || groups->n >= UINT32_MAX || !is_dense(out)) return true;
    bool is_normal = kernel == AS_NORMAL || kernel == AS_NORMAL4;
    out->n_terms = n_terms;
    out->cell_of = as_arena_array(arena, groups->n, sizeof *out->cell_of);
    out->cell_start = as_arena_array(arena, groups->n + 1, sizeof *out->cell_start);
    if (out->cell_of == NULL || out->cell_start == NULL) return false;
    cut_cells(out, (is_normal ? 0.5 : as_kernel_reach(kernel) / 24) * bandwidth);
    out->cell_center = as_arena_array(arena, out->n_cells, sizeof *out->cell_center);
    out->moments = as_arena_array(arena, out->n_cells, 2 * (size_t)n_terms * sizeof *out->moments);
    if (out->cell_center == NULL || out->moments == NULL) return false;
    for (size_t cell = 0; cell < out->n_cells; cell++)
        if (out->cell_start[cell + 1] - out->cell_start[cell] >= LEAST_IN_CELL) fill_cell(out, cell);
    return true;
}

/* ---- sums --------------------------------------------------------------------------------------------------------------------- */

static void add_groups(const as_field *field, double here, size_t begin, size_t end, int n_s, int n_t, double *s,
                       double *t) {
    const as_groups *groups = field->groups;
    for (size_t g = begin; g < end; g++) {
        double z = (groups->at[g] - here) / field->bandwidth, weight = as_kernel_weight(field->kernel, z);
        double count = weight * groups->count[g], sum = weight * groups->sum[g];
        int k = 0;
        for (; k < n_t; k++, count *= z, sum *= z) {
            s[k] += count;
            t[k] += sum;
        }
        for (; k < n_s; k++, count *= z) s[k] += count;
    }
}

static void add_cell(const as_field *field, double here, size_t cell, int n_s, int n_t, double *s, double *t) {
    double series[MOST_TERMS], u = (field->cell_center[cell] - here) / field->bandwidth;
    int n = field->n_terms;
    const double *counts = field->moments + cell * 2 * (size_t)n, *sums = counts + n;
    as_kernel_series(field->kernel, u, series, n);
    for (int k = 0; k < n_s; k++) {
        double count = 0, sum = 0;
        for (int i = 0; i < n; i++) count += series[i] * counts[i];
        s[k] += count;
        if (k < n_t) {
            for (int i = 0; i < n; i++) sum += series[i] * sums[i];
            t[k] += sum;
        }
        for (int i = n - 1; i > 0; i--) series[i] = u * series[i] + series[i - 1];
        series[0] *= u;
    }
}

void as_field_sums(const as_field *field, size_t target, int n_s, int n_t, double *s, double *t) {
    size_t begin, end;
    double here = field->groups->at[target];
    as_field_window(field, target, &begin, &end);
    for (int k = 0; k < n_s; k++) s[k] = 0;
    for (int k = 0; k < n_t; k++) t[k] = 0;
    if (field->n_terms == 0) {
        add_groups(field, here, begin, target, n_s, n_t, s, t);
        add_groups(field, here, target + 1, end, n_s, n_t, s, t);
        return;
    }
    for (size_t cell = field->cell_of[begin]; cell <= field->cell_of[end - 1]; cell++) {
        size_t first = field->cell_start[cell], last = field->cell_start[cell + 1];
        bool is_whole =
            first >= begin && last <= end && last - first >= LEAST_IN_CELL && cell != field->cell_of[target];
        if (is_whole) {
            add_cell(field, here, cell, n_s, n_t, s, t);
            continue;
        }
        first = first > begin ? first : begin;
        last = last < end ? last : end;
        if (target < first || target >= last) {
            add_groups(field, here, first, last, n_s, n_t, s, t);
        } else {
            add_groups(field, here, first, target, n_s, n_t, s, t);
            add_groups(field, here, target + 1, last, n_s, n_t, s, t);
        }
    }
}
