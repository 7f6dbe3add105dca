/* Statistics over the runs of a point. */
#include "dataset/build.h"

#include <stdlib.h>

/* Neumaier's sum: exact enough that the order of the runs does not show. Infinities pass through. */
static double sum_of(const double *values, size_t n) {
    double sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        double next = sum + values[i];
        lost += fabs(sum) >= fabs(values[i]) ? (sum - next) + values[i] : (values[i] - next) + sum;
        sum = next;
    }
    return isfinite(sum) ? sum + lost : sum;
}

static void sort_reals(double *values, size_t n) {
    if (n > 16) {
        qsort(values, n, sizeof *values, as_real_compare);
        return;
    }
    for (size_t i = 1; i < n; i++) { /* most points have a handful of repetitions */
        double value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
}

void as_statistics(double *values, size_t n, as_measurement *out) {
    out->mean = out->median = out->minimum = out->maximum = out->std = NAN;
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i])) return;
    }
    sort_reals(values, n);
    out->minimum = values[0];
    out->maximum = values[n - 1];
    out->median = n % 2 ? values[n / 2] : values[n / 2 - 1] / 2 + values[n / 2] / 2;
    if (n % 2 == 0 && isfinite(values[n / 2 - 1] + values[n / 2]))
        out->median = (values[n / 2 - 1] + values[n / 2]) / 2;
    out->mean = sum_of(values, n) / (double)n;
    if (!isfinite(out->mean) && isfinite(out->minimum) &&
        isfinite(out->maximum)) { /* the sum overflowed, the mean does not */
        out->mean = 0;
        for (size_t i = 0; i < n; i++) out->mean += values[i] / (double)n;
    }
    double squares = 0;
    for (size_t i = 0; i < n; i++) squares += (values[i] - out->mean) * (values[i] - out->mean);
    out->std = n == 1 && isfinite(values[0]) ? 0 : sqrt(squares / (double)n);
}

/* The rows of contexts[index], sorted by run; runs of one point are neighbours, because runs are numbered by point. */
static bool measure_rows(const as_dataset *ds, const as_block *block, uint32_t index, as_measurement *out,
                         bool (*visit)(void *, const as_measurement *), void *user) {
    const as_run *all_runs = ds->runs.data;
    uint64_t first = block->starts[index], rows = block->starts[index + 1] - first;
    const assay_id *runs = block->runs ? as_block_runs(block, index) : NULL;
    double few[64], *values = few;
    size_t room = sizeof few / sizeof *few;
    bool fine = true;
    for (uint64_t row = 0; row < rows && fine;) {
        size_t n = 0;
        assay_id run = ASSAY_NONE;
        out->repetitions = 0;
        out->point = all_runs[runs ? runs[row] : block->run].point;
        for (; row < rows; row++) {
            assay_id here = runs ? runs[row] : block->run;
            if (all_runs[here].point != out->point) break;
            if (n == room) {
                double *larger = malloc(room * 2 * sizeof *larger);
                if (!larger) {
                    if (values != few) free(values);
                    return false;
                }
                memcpy(larger, values, n * sizeof *larger);
                if (values != few) free(values);
                values = larger;
                room *= 2;
            }
            values[n++] = as_block_real(block, first + row);
            out->repetitions += here != run;
            run = here;
        }
        if (out->point == ASSAY_NONE) continue; /* a run without a point measures nothing over points */
        as_statistics(values, n, out);
        if (!visit(user, out)) break;
    }
    if (values != few) free(values);
    return fine;
}

bool as_measure(const as_dataset *ds, const as_series *series,
                bool (*visit)(void *user, const as_measurement *measurement), void *user) {
    for (uint32_t i = 0; i < series->n_measurements; i++) {
        if (!visit(user, as_ds_measurement(ds, series->first_measurement + i))) return true;
    }
    if (series->n_measurements) return true;
    const as_block *block = as_ds_metric_block(ds, series->metric);
    uint32_t index = block ? as_block_find(block, series->context) : UINT32_MAX;
    if (index == UINT32_MAX) return true;
    as_measurement measurement = {.metric = series->metric, .context = series->context};
    return measure_rows(ds, block, index, &measurement, visit, user);
}
