/* How a series of parameter values goes on. */
#include <math.h>
#include <stdlib.h>

#include "analysis/scaling/advisor.h"
#include "core/quantile.h"

/* Factors and differences of decimal fractions are equal up to rounding. */
static bool same(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); }
static bool same_value(double a, double b) { return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b)); }

/* How often the most frequent one occurs. */
static size_t most_frequent(const double *sorted, size_t n) {
    size_t most = 0;
    for (size_t first = 0, i = 0; i < n; i++) {
        if (!same(sorted[first], sorted[i])) first = i;
        if (i - first + 1 > most) most = i - first + 1;
    }
    return most;
}

static bool is_multiple(double factor, double of) {
    double rest = fmod(factor, of);
    return rest <= 1e-9 * factor || of - rest <= 1e-9 * factor;
}

/* Whether all factors behind the first are one number, where multiples of the first count as the first: that number. */
static bool agree(const double *factors, size_t n, double *out) {
    for (size_t i = 1; i < n; i++) {
        double factor = is_multiple(factors[i], factors[0]) ? factors[0] : factors[i];
        if (i > 1 && !same(factor, *out)) return false;
        if (i == 1) *out = factor;
    }
    return n > 1;
}

/* n factors in order (NULL: none), and both sorted. */
static as_step choose(const double *factors, const double *sorted_factors, const double *sorted_differences, size_t n) {
    as_step add = {'+', as_median(sorted_differences, n)};
    if (!factors) return add;
    size_t equal_factors = most_frequent(sorted_factors, n), equal_differences = most_frequent(sorted_differences, n);
    if (equal_factors > equal_differences) return (as_step){'*', as_median(sorted_factors, n)};
    if (equal_differences > equal_factors || equal_differences == n) return add;
    double factor = 0;
    return agree(factors, n, &factor) ? (as_step){'*', factor} : add;
}

bool as_step_find(const double *values, size_t n, as_step *out) {
    *out = (as_step){'+', 1};
    if (n == 1 && values[0] > 0) *out = (as_step){'*', 2};
    if (n < 2) return true;
    size_t steps = n - 1;
    double *factors = calloc(steps, 3 * sizeof *factors);
    if (!factors) return false;
    double *sorted_factors = factors + steps, *differences = factors + 2 * steps;
    for (size_t i = 0; i < steps; i++) {
        sorted_factors[i] = factors[i] = values[i + 1] / values[i];
        differences[i] = values[i + 1] - values[i];
    }
    qsort(sorted_factors, steps, sizeof *factors, as_real_compare);
    qsort(differences, steps, sizeof *factors, as_real_compare);
    *out = choose(values[0] > 0 ? factors : NULL, sorted_factors, differences, steps);
    free(factors);
    return true;
}

/* ---- extending --------------------------------------------------------------------------------------------------- */

/* Among the first n, which are ascending. */
static bool contains(const as_vec *values, size_t n, double value) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (AS_AT(double, values, middle) < value)
            low = middle + 1;
        else
            high = middle;
    }
    return (low < n && same_value(AS_AT(double, values, low), value)) ||
           (low > 0 && same_value(AS_AT(double, values, low - 1), value));
}

static double follower(double value, as_step step, bool whole) {
    double next = step.operation == '*' ? value * step.amount : value + step.amount;
    return whole ? round(next) : next;
}

static bool are_whole(const as_vec *values) {
    for (size_t i = 0; i < values->count; i++) {
        if (trunc(AS_AT(double, values, i)) != AS_AT(double, values, i)) return false;
    }
    return true;
}

bool as_step_extend(as_vec *values, as_step step, size_t least) {
    size_t old = values->count, added = 0;
    if (old == 0) return true;
    bool whole = are_whole(values);
    double last = AS_AT(double, values, old - 1);
    /* The followers of ascending values are ascending, so a repeat is the one before. */
    for (size_t i = 0; i < old || added < least; i++) {
        double next = follower(i < old ? AS_AT(double, values, i) : last, step, whole);
        if (!isfinite(next)) break;
        if (i >= old && next <= last) next = whole ? last + 1 : last; /* rounding must not stop the series */
        bool repeated = values->count > old && same_value(AS_AT(double, values, values->count - 1), next);
        if (i >= old && same_value(next, last)) break;
        if (i + 1 >= old) last = next;
        if (repeated || contains(values, old, next)) continue;
        if (!as_vec_append(values, &next, 1)) return false;
        added++;
    }
    qsort(values->data, values->count, sizeof(double), as_real_compare);
    return true;
}
