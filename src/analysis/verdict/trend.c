/* Are repetitions independent, or does the machine drift? */
#include <math.h>
#include <stdlib.h>

#include "analysis/verdict/verdict.h"

enum { FEWEST = 5, MOST_PAIRS = 1000 }; /* values beyond MOST_PAIRS: every second, third … is taken */

/* Kendall's S with its variance corrected for ties, which the sorted values have. */
static double kendall_p(const double *values, const double *sorted, size_t n) {
    int64_t s = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) s += (values[j] > values[i]) - (values[j] < values[i]);
    double m = (double)n, variance = m * (m - 1) * (2 * m + 5);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && sorted[end] == sorted[i];) end++;
        double t = (double)(end - i);
        variance -= t * (t - 1) * (2 * t + 5);
    }
    if (!(variance > 0) || s == 0) return 1;
    double z = (fabs((double)s) - 1) / sqrt(variance / 18);
    return erfc(z / sqrt(2));
}

/* Median of the slopes of all pairs. */
static bool theil_slope(const double *values, size_t n, double *out) {
    size_t count = 0;
    double *slopes = malloc(n * (n - 1) / 2 * sizeof *slopes);
    if (!slopes) return false;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) slopes[count++] = (values[j] - values[i]) / (double)(j - i);
    qsort(slopes, count, sizeof *slopes, as_real_compare);
    *out = as_median(slopes, count);
    free(slopes);
    return true;
}

/* Of ranks, so that one outlier is not all there is to see. */
static double neighbours_correlation(const double *values, const double *sorted, double *ranks, size_t n) {
    double mean = ((double)n - 1) / 2, square = 0, product = 0;
    for (size_t i = 0; i < n; i++) {
        size_t low = 0, high = n;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (sorted[middle] < values[i])
                low = middle + 1;
            else
                high = middle;
        }
        size_t end = low;
        while (end < n && sorted[end] == values[i]) end++;
        ranks[i] = (double)(low + end - 1) / 2 - mean;
    }
    for (size_t i = 0; i < n; i++) square += ranks[i] * ranks[i];
    for (size_t i = 1; i < n; i++) product += ranks[i] * ranks[i - 1];
    return square > 0 ? product / square : NAN;
}

bool as_trend_find(const double *values, size_t n, as_trend *out) {
    *out = (as_trend){NAN, NAN, NAN, NAN};
    double *known = malloc((3 * n + 1) * sizeof *known);
    size_t m = 0, step = (n + MOST_PAIRS - 1) / MOST_PAIRS;
    if (!known) return false;
    for (size_t i = 0; i < n; i += step ? step : 1)
        if (isfinite(values[i])) known[m++] = values[i];
    double *sorted = known + n, slope = 0;
    for (size_t i = 0; i < m; i++) sorted[i] = known[i];
    qsort(sorted, m, sizeof *sorted, as_real_compare);
    bool fine = m < FEWEST || theil_slope(known, m, &slope);
    if (fine && m >= FEWEST) {
        double median = as_median(sorted, m);
        out->slope_p = kendall_p(known, sorted, m);
        out->change = median != 0 ? slope * (double)(m - 1) / fabs(median) : NAN;
        out->autocorrelation = neighbours_correlation(known, sorted, known + 2 * n, m);
        out->limit = 2 / sqrt((double)m);
    }
    free(known);
    return fine;
}
