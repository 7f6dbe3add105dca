/* Statistics over the runs of a point. */
#include "dataset/build.h"

#include <stdlib.h>

#include "core/quantile.h"

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

enum { FEW = 24, BUCKETS = 256, LEAST_DEALT = 64, MOST_DEALT = 4096 };

/* Sorts by insertion; to may be from. */
static void insert_all(const double *from, double *to, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double value = from[i];
        size_t at = i;
        for (; at > 0 && to[at - 1] > value; at--) to[at] = to[at - 1];
        to[at] = value;
    }
}

/* Sorts by parts around a middle value; pieces that do not get smaller (adversarial order) go to the library, few
 * numbers to insertion. */
static void sort_parts(double *values, size_t n) {
    for (size_t rounds = 0; n > FEW; rounds++) {
        if (rounds > 64) {
            qsort(values, n, sizeof *values, as_real_compare);
            return;
        }
        double a = values[0], b = values[n / 2], c = values[n - 1];
        double pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        size_t i = 0, j = n - 1;
        for (;; i++, j--) {
            while (values[i] < pivot) i++;
            while (pivot < values[j]) j--;
            if (i >= j) break;
            double swapped = values[i];
            values[i] = values[j];
            values[j] = swapped;
        }
        size_t left = j + 1; /* the smaller part in a call of its own: the stack stays low */
        if (left < n - left) {
            sort_parts(values, left);
            values += left;
            n -= left;
        } else {
            sort_parts(values + left, n - left);
            n = left;
        }
    }
    insert_all(values, values, n); /* most points have a handful of repetitions */
}

/* Deals the values into buckets by their highest differing bits, then sorts each: twice as fast as by parts alone, for
 * what has about as many as there are buckets. */
static void deal_reals(double *values, size_t n) {
    double dealt[MOST_DEALT];
    uint64_t low = as_real_key(values[0]), high = low;
    for (size_t i = 1; i < n; i++) {
        uint64_t key = as_real_key(values[i]);
        if (key < low) low = key;
        if (key > high) high = key;
    }
    if (low == high) return;
    int bits = n < BUCKETS / 2 ? 6 : n < BUCKETS ? 7 : 8;
    int shift = 64 - __builtin_clzll(high - low) - bits;
    if (shift < 0) shift = 0;
    uint32_t ends[BUCKETS + 1] = {0}, most = 0;
    for (size_t i = 0; i < n; i++) ends[((as_real_key(values[i]) - low) >> shift) + 1]++;
    for (size_t b = 1; b <= (size_t)1 << bits; b++) {
        if (ends[b] > most) most = ends[b];
        ends[b] += ends[b - 1];
    }
    for (size_t i = 0; i < n; i++) dealt[ends[(as_real_key(values[i]) - low) >> shift]++] = values[i];
    if (most <= FEW) { /* none has far to go */
        insert_all(dealt, values, n);
        return;
    }
    memcpy(values, dealt, n * sizeof *values);
    for (size_t b = 0, first = 0; b < (size_t)1 << bits; first = ends[b++]) {
        if (ends[b] - first > 1) sort_parts(values + first, ends[b] - first);
    }
}

static void sort_reals(double *values, size_t n) {
    if (n >= LEAST_DEALT && n <= MOST_DEALT)
        deal_reals(values, n);
    else
        sort_parts(values, n);
}

void as_statistics(double *values, size_t n, as_measurement *out) {
    out->mean = out->median = out->minimum = out->maximum = out->std = NAN;
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i])) return;
    }
    sort_reals(values, n);
    out->minimum = values[0];
    out->maximum = values[n - 1];
    out->median = as_median(values, n);
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

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

as_metric_kind as_measured_kind(const as_dataset *ds, assay_id metric) {
    as_metric_kind kind = as_ds_metric(ds, metric)->kind;
    bool is_profile = ds->profiles.count && !as_ds_metric_block(ds, metric);
    const as_metric *about = as_ds_metric(ds, metric);
    bool has_exclusive = !about->is_stored || about->exclusive != ASSAY_NONE;
    return is_profile && kind == AS_KIND_INCLUSIVE && has_exclusive ? AS_KIND_EXCLUSIVE : kind;
}

/* A value of a row as as_values_widen() leaves it: unsigned of UINT64, whole of the other integers, else real. */
typedef union wide {
    uint64_t natural;
    int64_t whole;
    double real;
} wide;

static void widen_row(const as_profile *profile, uint32_t index, wide *out) {
    as_values_widen(profile->type, as_profile_row(profile, index), profile->n_columns, 0, out);
    if (!profile->below_zero) return;
    for (uint32_t i = 0; i < profile->n_columns; i++) {
        if (out[i].natural > AS_COUNTER_LIMIT) out[i].natural = 0;
    }
}

/* What an inclusive row keeps without that of a child, in the type's own arithmetic: unsigned differences end at 0,
 * signed ones at the limits. */
static void leave_child(as_dtype dtype, wide *own, const wide *child, uint32_t n) {
    if (dtype == AS_DTYPE_UINT64) {
        for (uint32_t i = 0; i < n; i++)
            own[i].natural = child[i].natural > own[i].natural ? 0 : own[i].natural - child[i].natural;
    } else if (as_dtype_is_integer(dtype)) {
        int64_t least = as_dtype_is_unsigned(dtype) ? 0 : INT64_MIN;
        for (uint32_t i = 0; i < n; i++) {
            if (__builtin_sub_overflow(own[i].whole, child[i].whole, &own[i].whole))
                own[i].whole = child[i].whole > 0 ? INT64_MIN : INT64_MAX;
            if (own[i].whole < least) own[i].whole = least;
        }
    } else if (as_dtype_is_extreme(dtype)) {
        as_part_rule rule = as_part_rule_of(dtype, 0);
        for (uint32_t i = 0; i < n; i++) own[i].real = as_part_combine(rule, own[i].real, child[i].real);
    } else {
        for (uint32_t i = 0; i < n; i++) own[i].real -= child[i].real;
    }
}

static void leave_children(const as_dataset *ds, const as_profile *profile, uint32_t index, wide *own, wide *child) {
    const as_context *context = as_ds_context(ds, profile->contexts[index]);
    assay_id id = profile->contexts[index] + 1, end = profile->contexts[index] + context->subtree;
    for (; id < end; id += as_ds_context(ds, id)->subtree) {
        uint32_t at = as_ds_context(ds, id)->is_aside ? UINT32_MAX : as_profile_find(profile, id);
        if (at == UINT32_MAX) continue;
        widen_row(profile, at, child);
        leave_child(profile->type.dtype, own, child, profile->n_columns);
    }
}

/* The row that the exclusive metric of a stored one has for the same context; zeros where it has none. Both metrics
 * have the same columns. */
static void take_partner(const as_dataset *ds, const as_profile *profile, uint32_t index, assay_id exclusive,
                         wide *own) {
    const as_profile *partner = as_ds_profile(ds, exclusive, profile->run);
    bool fits = partner && partner->is_loaded && partner->n_columns == profile->n_columns &&
                partner->type.dtype == profile->type.dtype;
    uint32_t at = fits ? as_profile_find(partner, profile->contexts[index]) : UINT32_MAX;
    memset(own, 0, profile->n_columns * sizeof *own);
    if (at != UINT32_MAX) widen_row(partner, at, own);
}

static void make_real(as_dtype dtype, wide *row, uint32_t n) {
    if (!as_dtype_is_integer(dtype)) return;
    for (uint32_t i = 0; i < n; i++)
        row[i].real = dtype == AS_DTYPE_UINT64 ? (double)row[i].natural : (double)row[i].whole;
}

/* Of all locations of a run: the sum, or what takes its place. */
static double total_of(as_dtype dtype, const wide *row, uint32_t n) {
    as_part_rule rule = as_part_rule_of(dtype, 0);
    double total = row[0].real;
    for (uint32_t i = 1; i < n; i++) total = as_part_combine(rule, total, row[i].real);
    return total;
}

bool as_pool_row(const as_dataset *ds, const as_profile *profile, uint32_t index, as_vec *out) {
    uint32_t n = profile->n_columns;
    size_t start = out->count, kept = 0;
    if (!as_vec_reserve(out, 2 * (size_t)n)) return false;
    wide *own = (wide *)((double *)out->data + start);
    as_dtype dtype = profile->type.dtype;
    const as_metric *metric = as_ds_metric(ds, profile->metric);
    widen_row(profile, index, own);
    if (metric->is_stored && metric->exclusive != ASSAY_NONE)
        take_partner(ds, profile, index, metric->exclusive, own);
    else if (metric->kind == AS_KIND_INCLUSIVE && !metric->is_stored)
        leave_children(ds, profile, index, own, own + n);
    make_real(dtype, own, n);
    out->count += n;
    if (ds->pooling == AS_SCALING_STRONG && n) {
        own[0].real = total_of(dtype, own, n);
        out->count = start + 1;
    } else if (ds->pooling == AS_SCALING_WEAK_THREADED) {
        for (uint32_t i = 0; i < n; i++) {
            if (own[i].real != 0) own[kept++] = own[i];
        }
        if (kept) out->count = start + kept;
    }
    return true;
}

/* Runs of one point are neighbours. */
static bool measure_profiles(const as_dataset *ds, as_measurement *out, as_vec *pool,
                             bool (*visit)(void *, const as_measurement *), void *user) {
    for (assay_id run = 0; run < ds->runs.count;) {
        out->point = as_ds_run(ds, run)->point;
        out->repetitions = 0;
        pool->count = 0;
        for (; run < ds->runs.count && as_ds_run(ds, run)->point == out->point; run++) {
            const as_profile *profile = as_ds_profile(ds, out->metric, run);
            uint32_t index = profile && profile->is_loaded ? as_profile_find(profile, out->context) : UINT32_MAX;
            if (index == UINT32_MAX) continue;
            if (!as_pool_row(ds, profile, index, pool)) return false;
            out->repetitions++;
        }
        if (!pool->count || out->point == ASSAY_NONE) continue;
        as_statistics(pool->data, pool->count, out);
        if (!visit(user, out)) break;
    }
    return true;
}

bool as_ds_load_measurements(const as_dataset *ds) {
    as_dataset *mutable = (as_dataset *)(uintptr_t)ds;
    as_measurement_source *source = ds->measurement_source;
    if (!source || __atomic_load_n(&source->is_loaded, __ATOMIC_ACQUIRE)) return true;
    pthread_mutex_lock(&mutable->loading);
    bool fine = source->is_loaded || source->load(source, mutable);
    if (fine) __atomic_store_n(&source->is_loaded, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&mutable->loading);
    return fine;
}

bool as_measure(const as_dataset *ds, const as_series *series,
                bool (*visit)(void *user, const as_measurement *measurement), void *user) {
    if (series->n_measurements && !as_ds_load_measurements(ds)) return false;
    for (uint32_t i = 0; i < series->n_measurements; i++) {
        if (!visit(user, as_ds_measurement(ds, series->first_measurement + i))) return true;
    }
    if (series->n_measurements) return true;
    as_measurement measurement = {.metric = series->metric, .context = series->context};
    const as_block *block = as_ds_metric_block(ds, series->metric);
    if (!block && ds->profiles.count) {
        as_vec pool;
        as_vec_init(&pool, sizeof(double), NULL);
        bool fine = measure_profiles(ds, &measurement, &pool, visit, user);
        as_vec_free(&pool);
        return fine;
    }
    uint32_t index = block ? as_block_find(block, series->context) : UINT32_MAX;
    if (index == UINT32_MAX) return true;
    return measure_rows(ds, block, index, &measurement, visit, user);
}

struct mean_at {
    assay_id point;
    double mean;
};

static bool take_mean(void *user, const as_measurement *measurement) {
    struct mean_at *at = user;
    if (measurement->point == at->point) at->mean = measurement->mean;
    return measurement->point != at->point;
}

bool as_measure_mean(const as_dataset *ds, const as_series *series, assay_id point, double *mean) {
    struct mean_at at = {.point = point, .mean = NAN};
    bool fine = as_measure(ds, series, take_mean, &at);
    *mean = at.mean;
    return fine;
}
