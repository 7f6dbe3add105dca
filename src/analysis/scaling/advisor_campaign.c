/* The advisor's view of a dataset: points with total runtimes, and lines of points. */
#include <math.h>
#include <stdlib.h>

#include "analysis/scaling/advisor.h"

/* ---- order of points --------------------------------------------------------------------------------------------- */

/* A point with all that is needed to compare it. */
typedef struct row {
    const double *at;
    size_t n, last; /* n coordinates; that of `last` counts after all others (n: none does) */
    size_t index;
} row;

static int compare_rows(const void *a, const void *b) {
    const row *x = a, *y = b;
    for (size_t i = 0; i < x->n; i++) {
        if (i != x->last && x->at[i] != y->at[i]) return x->at[i] < y->at[i] ? -1 : 1;
    }
    double u = x->last < x->n ? x->at[x->last] : 0, v = y->last < y->n ? y->at[y->last] : 0;
    return (u > v) - (u < v);
}

/* n rows in order, or NULL. */
static row *sort_rows(const double *points, size_t n, size_t n_parameters, size_t last) {
    row *rows = calloc(n ? n : 1, sizeof *rows);
    for (size_t i = 0; rows && i < n; i++)
        rows[i] = (row){.at = points + i * n_parameters, .n = n_parameters, .last = last, .index = i};
    if (rows) qsort(rows, n, sizeof *rows, compare_rows);
    return rows;
}

size_t as_campaign_find(const as_campaign *campaign, const double *point) {
    size_t low = 0, high = campaign->n, n = campaign->n_parameters;
    row wanted = {.at = point, .n = n, .last = n};
    while (low < high) {
        size_t middle = (low + high) / 2;
        row here = {.at = campaign->points + middle * n, .n = n, .last = n};
        int order = compare_rows(&here, &wanted);
        if (order == 0) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

/* ---- collecting -------------------------------------------------------------------------------------------------- */

/* Puts array into the order of rows. */
static bool reorder(double **array, size_t width, const row *rows, size_t n) {
    double *sorted = calloc(n ? n : 1, width * sizeof *sorted);
    if (!sorted) return false;
    for (size_t i = 0; i < n; i++) memcpy(sorted + i * width, *array + rows[i].index * width, width * sizeof *sorted);
    free(*array);
    *array = sorted;
    return true;
}

bool as_campaign_take(as_campaign *out, size_t n_parameters, size_t n, double *points, double *runtimes, double *spent,
                      double *repetitions) {
    *out = (as_campaign){.n_parameters = n_parameters,
                         .n = n,
                         .points = points,
                         .runtimes = runtimes,
                         .spent = spent,
                         .repetitions = repetitions,
                         .noise = NAN};
    row *rows = points && runtimes && spent && repetitions ? sort_rows(points, n, n_parameters, n_parameters) : NULL;
    /* The points last: the rows refer to them. */
    bool fine = rows && reorder(&out->runtimes, 1, rows, n) && reorder(&out->spent, 1, rows, n) &&
                reorder(&out->repetitions, 1, rows, n) && reorder(&out->points, n_parameters, rows, n);
    free(rows);
    if (!fine) as_campaign_free(out);
    return fine;
}

void as_campaign_free(as_campaign *campaign) {
    free(campaign->points);
    free(campaign->runtimes);
    free(campaign->spent);
    free(campaign->repetitions);
    *campaign = (as_campaign){0};
}

typedef struct collection {
    double seconds;
    double *runtimes, *spent, *repetitions; /* one a point of the dataset; repetitions 0: no data */
    /* Of the series at hand, then of all */
    double series_noise, noise;
    size_t n_series_noise, n_noise;
    size_t n_unknown, n_not_finite;
} collection;

static bool collect_measurement(void *user, const as_measurement *measurement) {
    collection *c = user;
    if (!isfinite(measurement->mean)) {
        c->n_not_finite++;
        return true;
    }
    double repetitions = (double)measurement->repetitions, mean = measurement->mean * c->seconds;
    if (repetitions < 1) {
        repetitions = 1;
        c->n_unknown++;
    }
    assay_id point = measurement->point;
    c->runtimes[point] += mean;
    c->spent[point] += mean * repetitions;
    if (c->repetitions[point] == 0 || repetitions < c->repetitions[point]) c->repetitions[point] = repetitions;
    if (repetitions > 1 && mean != 0 && isfinite(measurement->std)) {
        c->series_noise += fabs(measurement->std / measurement->mean);
        c->n_series_noise++;
    }
    return true;
}

/* Keeps only the points with data; gives how many. */
static size_t compact(const as_dataset *ds, collection *c, double *points) {
    size_t n = 0, width = as_ds_parameters(ds);
    for (size_t i = 0; i < ds->n_points; i++) {
        if (c->repetitions[i] == 0) continue;
        memcpy(points + n * width, as_ds_point(ds, (assay_id)i), width * sizeof *points);
        c->runtimes[n] = c->runtimes[i];
        c->spent[n] = c->spent[i];
        c->repetitions[n++] = c->repetitions[i];
    }
    return n;
}

assay_status as_campaign_collect(const as_dataset *ds, const uint32_t *series, size_t n, double seconds,
                                 as_campaign *out, assay_error *error) {
    size_t room = ds->n_points ? ds->n_points : 1, width = as_ds_parameters(ds);
    collection c = {.seconds = seconds,
                    .runtimes = calloc(room, sizeof(double)),
                    .spent = calloc(room, sizeof(double)),
                    .repetitions = calloc(room, sizeof(double))};
    double *points = calloc(room, (width ? width : 1) * sizeof *points);
    bool fine = c.runtimes && c.spent && c.repetitions && points;
    for (size_t i = 0; fine && i < n; i++) {
        c.series_noise = 0;
        c.n_series_noise = 0;
        fine = as_measure(ds, as_ds_series(ds, series[i]), collect_measurement, &c);
        if (c.n_series_noise == 0) continue;
        c.noise += c.series_noise / (double)c.n_series_noise;
        c.n_noise++;
    }
    size_t n_points = fine ? compact(ds, &c, points) : 0;
    /* It takes the arrays over also where one of them is missing, and says so. */
    bool is_taken = as_campaign_take(out, width, n_points, points, c.runtimes, c.spent, c.repetitions);
    if (is_taken && !fine) as_campaign_free(out);
    if (!is_taken || !fine) return as_fail_memory(error, as_ds_text(ds, ds->path));
    out->noise = c.n_noise ? c.noise / (double)c.n_noise : NAN;
    out->n_unknown = c.n_unknown;
    out->n_not_finite = c.n_not_finite;
    return ASSAY_OK;
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

bool as_campaign_values(const as_campaign *campaign, size_t parameter, as_vec *out) {
    out->count = 0;
    for (size_t i = 0; i < campaign->n; i++) {
        if (!as_vec_append(out, &campaign->points[i * campaign->n_parameters + parameter], 1)) return false;
    }
    if (out->count) qsort(out->data, out->count, sizeof(double), as_real_compare);
    size_t n = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (n == 0 || AS_AT(double, out, n - 1) != AS_AT(double, out, i))
            AS_AT(double, out, n++) = AS_AT(double, out, i);
    }
    out->count = n;
    return true;
}

bool as_campaign_repetitions(const as_campaign *campaign, uint32_t *out) {
    *out = 1;
    if (campaign->n == 0) return true;
    double *sorted = malloc(campaign->n * sizeof *sorted);
    if (!sorted) return false;
    memcpy(sorted, campaign->repetitions, campaign->n * sizeof *sorted);
    qsort(sorted, campaign->n, sizeof *sorted, as_real_compare);
    *out = (uint32_t)fmin(fmax(sorted[campaign->n / 2], 1), 1e6);
    free(sorted);
    return true;
}

/* Sorted by all others first, the points of a line are neighbours. */
static as_line longest_line(const as_campaign *campaign, const row *rows, size_t parameter) {
    as_line longest = {0};
    for (size_t first = 0, i = 0; i < campaign->n; i++) {
        row a = rows[first], b = rows[i];
        for (size_t k = 0; k < a.n; k++) {
            if (k != parameter && a.at[k] != b.at[k]) first = i;
        }
        size_t length = i - first + 1, point = rows[first].index;
        if (length > longest.length || (length == longest.length && point < longest.point))
            longest = (as_line){.point = point, .length = length};
    }
    return longest;
}

bool as_lines_find(const as_campaign *campaign, as_line *lines) {
    for (size_t i = 0; i < campaign->n_parameters; i++) {
        row *rows = sort_rows(campaign->points, campaign->n, campaign->n_parameters, i);
        if (!rows) return false;
        lines[i] = longest_line(campaign, rows, i);
        free(rows);
    }
    return true;
}
