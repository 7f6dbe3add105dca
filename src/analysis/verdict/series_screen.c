/* Most orders of a series come nowhere near a statistic that matters: seen here by bounds, in numbers of single
 * precision, at a fraction of what the statistic costs. */
#include <float.h>
#include <math.h>

#include "analysis/verdict/segments.h"

/* Bounds are wider by this part, far more than what rounding makes of them; that of the sums has a bound of its own. */
static const double slack = 1e-5;

bool as_screen_make(as_arena *arena, size_t longest, as_screen *out) {
    float *number = as_arena_array(arena, longest + 1, sizeof *number);
    float *inverse = as_arena_array(arena, longest + 1, sizeof *inverse);
    float *backward = as_arena_array(arena, longest + 1, sizeof *backward);
    *out = (as_screen){.longest = longest, .number = number, .inverse = inverse, .backward = backward};
    if (!number || !inverse || !backward) return false;
    for (size_t i = 0; i <= longest; i++) {
        number[i] = (float)i;
        inverse[i] = i ? 1 / (float)i : 0;
        backward[i] = i < longest ? 1 / (float)(longest - i) : 0;
    }
    return true;
}

/* With S = (sum of the first k values) - k mean and w = 1/k + 1/(n - k): the levels differ by |S| w, which explains S^2
 * w of the sum of squares. Whether both are enough at any of the n_splits places, whose sums are those from `start` on.
 * No branches: several at a time. */
static bool any_reaches(const float *restrict sums, float start, const float *restrict number,
                        const float *restrict inverse, const float *restrict backward, size_t n_splits, float mean,
                        float explained, float difference) {
    uint32_t found = 0;
    for (size_t i = 0; i < n_splits; i++) {
        float sum = sums[i] - start - number[i] * mean, weight = inverse[i] + backward[i];
        float of_sum = sum * sum * weight;
        found |= (uint32_t)(of_sum >= explained) & (uint32_t)(of_sum * weight >= difference);
    }
    return found != 0;
}

/* The t^2 that each length needs for the statistic to be above `level`. */
static void set_bar(as_bar *bar, size_t n, double level) {
    if (bar->n == n && bar->level == level) return;
    *bar = (as_bar){.n = n, .level = level};
    for (size_t length = n, i = 0; length && i < AS_MOST_LENGTHS; length = as_interval_shorter(length), i++)
        bar->t_square[i] = as_deviate_inverse(level, length) * (1 - slack);
}

/* What is the same for all intervals of a length, where values are in units of the farthest one. */
struct length_bound {
    size_t length, first, n_splits;
    double inverse, per_square, fixed; /* explained is at least per_square * (sum of squares around the mean) + fixed */
    float difference;                  /* of the levels, squared */
};

/* Not above (root of `square` - rounding)^2, whatever the rounding is: no root is needed. */
static double square_less(double square, double rounding) {
    return (1 - 100 * slack) * square - rounding * rounding / (50 * slack);
}

/* t^2 = explained / ((around the mean - explained) / freedom + floor) */
static struct length_bound bound_of(const as_segment_test *segment, size_t length, double t_square, double inverse_unit,
                                    double rounding) {
    double n = (double)length, freedom = n - 2, part = t_square / (1 + t_square / freedom);
    double first = (double)segment->shortest, heaviest = 1 / first + 1 / (n - first);
    double floor = segment->floor * inverse_unit * inverse_unit;
    double difference = segment->threshold * (fabs(segment->middle) * inverse_unit * (1 - slack) - (1 + slack));
    struct length_bound bound = {.length = length, .first = segment->shortest, .inverse = 1 / n};
    bound.n_splits = length + 1 - 2 * segment->shortest;
    bound.per_square = square_less(part / freedom, 0);
    bound.fixed = square_less(part * floor, rounding * sqrt(heaviest));
    bound.difference = difference > 0 ? (float)square_less(difference * difference, rounding * heaviest) : 0;
    return bound;
}

static bool interval_may_reach(const as_screen *screen, const struct length_bound *bound, const float *sums,
                               double total, double square, size_t from) {
    size_t length = bound->length, first = bound->first;
    double mean = total * bound->inverse;
    double explained = bound->per_square * (square * (1 - slack) - total * mean) + bound->fixed;
    return any_reaches(sums + from + first, sums[from], screen->number + first, screen->inverse + first,
                       screen->backward + screen->longest - length + first, bound->n_splits, (float)mean,
                       (float)explained, bound->difference);
}

bool as_segment_may_reach(const as_screen *screen, const as_segment_test *segment, const double *sums,
                          const double *squares, double level, as_bar *bar, float *room) {
    size_t n = segment->n;
    double inverse_unit = 1 / segment->farthest, highest = 0, to_unit = inverse_unit * inverse_unit;
    if (!(to_unit > 0) || !isfinite(squares[n] * to_unit) || n < 2 * segment->shortest || n < 3) return true;
    for (size_t i = 0; i <= n; i++) {
        double sum = sums[i] * inverse_unit;
        highest = fabs(sum) > highest ? fabs(sum) : highest;
        room[i] = (float)sum;
    }
    double rounding = 16 * (double)FLT_EPSILON * highest;
    set_bar(bar, n, level);
    for (size_t length = n, i = 0; length; length = as_interval_shorter(length), i++) {
        if (i >= AS_MOST_LENGTHS) return true;
        if (bar->t_square[i] > AS_LARGEST_T_SQUARE) continue;
        struct length_bound bound = bound_of(segment, length, bar->t_square[i], inverse_unit, rounding);
        for (size_t k = 0, n_intervals = as_interval_count(n, length); k < n_intervals; k++) {
            size_t from = as_interval_from(n, length, n_intervals, k);
            double total = (sums[from + length] - sums[from]) * inverse_unit;
            double square = (squares[from + length] - squares[from]) * to_unit;
            if (interval_may_reach(screen, &bound, room, total, square, from)) return true;
        }
    }
    return false;
}
