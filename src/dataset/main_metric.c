#include "dataset/main_metric.h"

#include <stdlib.h>
#include <strings.h>

#include "core/words.h"
#include "dataset/sparse.h"

bool as_metric_has_data(const as_dataset *ds, assay_id metric) {
    const as_block *block = as_ds_metric_block(ds, metric);
    if (block && block->n_contexts) return true;
    for (size_t i = 0; i < AS_COUNT(ds, blocks); i++) {
        if (as_ds_block(ds, i)->metric == metric && as_ds_block(ds, i)->n_contexts) return true;
    }
    for (size_t i = 0; i < AS_COUNT(ds, profiles); i++) {
        const as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        /* Rows of damaged data cannot be counted: whoever wants them is to be told so. */
        if (profile->metric == metric && (profile->n_rows || !profile->is_loaded)) return true;
    }
    for (size_t i = 0; i < AS_COUNT(ds, series); i++) {
        if (as_ds_series(ds, i)->metric == metric) return true;
    }
    return false;
}

static bool is_time(const as_dataset *ds, const as_metric *metric) {
    const char *unit = as_ds_text(ds, metric->unit), *name = as_ds_text(ds, metric->name);
    if (unit && *unit) return as_unit_seconds(unit) > 0;
    return name && (strcasecmp(name, "time") == 0 || strcasecmp(name, "runtime") == 0 ||
                    strcasecmp(name, "walltime") == 0 || strcasecmp(name, "execution") == 0);
}

/* Whether its values are single numbers that add up; a type the dataset does not know counts as such. */
static bool is_number(const as_dataset *ds, const as_metric *metric) {
    const char *text = as_ds_text(ds, metric->dtype);
    as_value_type type;
    if (!text || !as_value_type_parse(text, strlen(text), &type)) return true;
    return !as_dtype_is_composite(type.dtype) && !as_dtype_is_extreme(type.dtype);
}

/* What a sparse profile of inclusive values has at the top of the tree, at all locations: cheap, and 0 where it has no
 * value anywhere. */
static assay_status total_of_profile(const as_dataset *ds, const as_profile *profile, double *total) {
    enum { ROOTS_LOOKED_AT = 64 };
    as_sparse_line line = {0};
    assay_status status = ASSAY_OK;
    size_t n_roots = 0;
    const as_context *context;
    for (assay_id id = 0; id < AS_COUNT(ds, contexts) && n_roots < ROOTS_LOOKED_AT && status == ASSAY_OK;
         id += context->depth ? context->subtree : 1) {
        context = as_ds_context(ds, id);
        if (context->role == AS_ROLE_PLACELESS) continue;
        n_roots++;
        status = profile->source->read_row(profile->source, profile, id, &line, NULL);
        for (uint32_t k = 0; k < line.n && status == ASSAY_OK; k++) *total += fabs(line.values[k]);
    }
    as_sparse_line_free(&line);
    return status;
}

/* The same over all runs. Negative: not known; whoever wants the values of a damaged profile is to be told so. */
static double total_at_top(const as_dataset *ds, assay_id metric) {
    double total = 0;
    bool is_known = false;
    if (as_ds_metric(ds, metric)->kind != AS_KIND_INCLUSIVE) return -1;
    for (size_t i = 0; i < AS_COUNT(ds, profiles); i++) {
        const as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        if (profile->metric != metric) continue;
        if (!as_profile_is_sparse(profile) || total_of_profile(ds, profile, &total) != ASSAY_OK) return -1;
        is_known = true;
    }
    return is_known ? total : -1;
}

/* Whether values of the metric lie at locations, and not only at the program as a whole. */
static bool lies_at_places(const as_dataset *ds, assay_id metric) {
    for (size_t i = 0; i < AS_COUNT(ds, profiles); i++) {
        const as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        if (profile->metric == metric && profile->columns) return true;
    }
    for (size_t i = 0; i < AS_COUNT(ds, blocks); i++) {
        if (as_ds_block(ds, i)->metric == metric && as_ds_block(ds, i)->locations) return true;
    }
    return false;
}

assay_id as_main_metric(const as_dataset *ds, bool at_places) {
    assay_id best = ASSAY_NONE;
    int best_worth = -1;
    double best_total = 0;
    assay_id first = ds->first_metric;
    if (first != ASSAY_NONE && as_metric_has_data(ds, first) && (!at_places || lies_at_places(ds, first))) return first;
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        const as_metric *metric = as_ds_metric(ds, id);
        const char *name = as_ds_text(ds, metric->name);
        bool is_plain = metric->kind != AS_KIND_DERIVED && is_number(ds, metric);
        int worth = !is_plain || metric->part_of != ASSAY_NONE || !as_metric_has_data(ds, id) ? 0
                    : !is_time(ds, metric)                                                    ? 1
                    : name && strcasecmp(name, "time") == 0                                   ? 3
                                                                                              : 2;
        double total = worth > 0 && worth >= best_worth ? total_at_top(ds, id) : -1;
        if (total == 0 || (at_places && worth && !lies_at_places(ds, id))) worth = 0;
        if (worth < best_worth || (worth == best_worth && !(worth == 2 && total > best_total))) continue;
        best = id;
        best_worth = worth;
        best_total = total < 0 ? INFINITY : total; /* the first, where nobody knows */
    }
    return best;
}

assay_id as_gpu_time_metric(const as_dataset *ds) {
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        const char *name = as_ds_text(ds, as_ds_metric(ds, id)->name);
        if (name && strcmp(name, "gpu_time") == 0 && as_metric_has_data(ds, id)) return id;
    }
    return ASSAY_NONE;
}

/* Of the points that are marked; NULL: of all. */
static bool find_largest(const as_dataset *ds, const bool *marks, assay_id *out) {
    size_t n = as_ds_parameters(ds);
    double *largest = malloc((n ? n : 1) * sizeof *largest), best = -INFINITY;
    if (!largest) return false;
    for (size_t i = 0; i < n; i++) largest[i] = -INFINITY;
    for (assay_id point = 0; point < ds->n_points; point++) {
        for (size_t i = 0; i < n; i++) largest[i] = fmax(largest[i], as_ds_point(ds, point)[i]);
    }
    *out = 0;
    for (assay_id point = 0; point < ds->n_points; point++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += as_ds_point(ds, point)[i] / (largest[i] > 0 ? largest[i] : 1);
        if (sum <= best || (marks && !marks[point])) continue;
        best = sum;
        *out = point;
    }
    free(largest);
    return true;
}

bool as_largest_point(const as_dataset *ds, assay_id *out) { return find_largest(ds, NULL, out); }

bool as_largest_point_with_runs(const as_dataset *ds, assay_id *out) {
    bool *marks = calloc(ds->n_points + 1, sizeof *marks), has_any = false;
    if (!marks) return false;
    for (assay_id run = 0; run < AS_COUNT(ds, runs); run++) {
        assay_id point = as_ds_run(ds, run)->point;
        if (point != ASSAY_NONE) marks[point] = has_any = true;
    }
    bool fine = find_largest(ds, has_any ? marks : NULL, out);
    free(marks);
    return fine;
}
