#include <stdlib.h>

#include "analysis/regress/moving.h"
#include "core/quantile.h"

static size_t first_of(size_t j, as_moving_window window) { return j > window.before ? j - window.before : 0; }
static size_t last_of(size_t j, size_t n, as_moving_window window) {
    return window.after < n - 1 - j ? j + window.after : n - 1;
}

/* ---- means ------------------------------------------------------------------------------------------------------- */

/* Points are cut into blocks of the window's width: a window is the end of one and the beginning of the next. So
 * nothing is ever taken away from a sum, and no digits are lost where large values leave the window. */
void as_moving_mean(const double *y, size_t n, as_moving_window window, double *out, double *scratch) {
    size_t width = window.before + 1 + window.after;
    double *from_start = scratch, *to_end = scratch + n;
    as_long_sum sum = {0};
    for (size_t i = 0; i < n; i++) {
        if (i % width == 0) sum = (as_long_sum){0};
        as_long_add(&sum, y[i]);
        from_start[i] = as_long_value(sum);
    }
    sum = (as_long_sum){0};
    for (size_t i = n; i-- > 0;) {
        if ((i + 1) % width == 0) sum = (as_long_sum){0};
        as_long_add(&sum, y[i]);
        to_end[i] = as_long_value(sum);
    }
    for (size_t j = 0; j < n; j++) {
        size_t first = first_of(j, window), last = last_of(j, n, window), count = last - first + 1;
        if (count < window.least || count == 0)
            out[j] = NAN;
        else if (first % width == 0)
            out[j] = from_start[last] / (double)count;
        else if (first / width == last / width)
            out[j] = to_end[first] / (double)count;
        else
            out[j] = (to_end[first] + from_start[last]) / (double)count;
    }
}

void as_moving_weighted(const double *y, size_t n, as_moving_window window, const double *weights, bool is_plain,
                        double *out) {
    for (size_t j = 0; j < n; j++) {
        size_t first = first_of(j, window), last = last_of(j, n, window);
        double sum = 0, total = 0, base = is_plain ? 0 : y[j];
        for (size_t i = first; i <= last; i++) {
            double weight = weights[i + window.before - j];
            sum += weight * (y[i] - base);
            total += weight;
        }
        out[j] = last - first + 1 < window.least || total == 0 ? NAN : base + sum / total;
    }
}

void as_moving_exponential(const double *y, size_t n, double alpha, size_t least, double *out) {
    double mean = 0, total = 0;
    for (size_t j = 0; j < n; j++) {
        total = total * (1 - alpha) + 1;
        mean += (y[j] - mean) / total;
        out[j] = j + 1 < least ? NAN : mean;
    }
}

/* ---- medians ----------------------------------------------------------------------------------------------------- */

/* The values of a window by their rank among all: how many there are up to each rank, as sums over ranges whose lengths
 * are powers of two (a Fenwick tree). */
typedef struct rank_counts {
    uint32_t *counts; /* from 1 */
    size_t n, top;    /* top: the largest power of two up to n */
} rank_counts;

static void change_count(rank_counts *tree, size_t rank, uint32_t by) {
    for (size_t i = rank + 1; i <= tree->n; i += i & -i) tree->counts[i] += by;
}

/* The rank of the value that `below` others are before. */
static size_t find_rank(const rank_counts *tree, size_t below) {
    size_t place = 0;
    for (size_t step = tree->top; step > 0; step /= 2) {
        if (place + step > tree->n || tree->counts[place + step] > below) continue;
        place += step;
        below -= tree->counts[place];
    }
    return place;
}

typedef struct ranked {
    double value;
    uint32_t index;
} ranked;

static int compare_ranked(const void *a, const void *b) {
    const ranked *p = a, *q = b;
    if (p->value != q->value) return p->value < q->value ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

static double window_median(const rank_counts *tree, const ranked *order, size_t count) {
    double upper = order[find_rank(tree, count / 2)].value;
    return count % 2 == 1 ? upper : as_halfway(order[find_rank(tree, count / 2 - 1)].value, upper);
}

bool as_moving_median(const double *y, size_t n, as_moving_window window, double *out, as_arena *scratch) {
    if (n >= UINT32_MAX) return false;
    ranked *order = as_arena_array(scratch, n, sizeof *order);
    uint32_t *ranks = as_arena_array(scratch, n, sizeof *ranks);
    rank_counts tree = {as_arena_array(scratch, n + 1, sizeof(uint32_t)), n, 1};
    if (order == NULL || ranks == NULL || tree.counts == NULL) return false;
    for (size_t i = 0; i < n; i++) order[i] = (ranked){y[i], (uint32_t)i};
    qsort(order, n, sizeof *order, compare_ranked);
    for (size_t i = 0; i < n; i++) ranks[order[i].index] = (uint32_t)i;
    while (tree.top * 2 <= n) tree.top *= 2;
    size_t first = 0, end = 0;
    for (size_t j = 0; j < n; j++) {
        for (; end <= last_of(j, n, window); end++) change_count(&tree, ranks[end], 1);
        for (; first < first_of(j, window); first++) change_count(&tree, ranks[first], UINT32_MAX);
        size_t count = end - first;
        out[j] = count < window.least ? NAN : window_median(&tree, order, count);
    }
    return true;
}
