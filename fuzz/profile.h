/* What the fuzz targets of profiles share: whatever was read must have node sums, views and statistics (or an error in
 * words), stay the same when written and read again, and obey the laws of the algebra: a profile less itself is 0, and
 * its mean and merger with itself are the profile. */
#ifndef AS_FUZZ_PROFILE_H
#define AS_FUZZ_PROFILE_H

#include <stdio.h>
#include <stdlib.h>

#include "analysis/algebra/algebra.h"
#include "analysis/location_statistics.h"
#include "analysis/trace/trace.h"
#include "analysis/views/view.h"
#include "formats/format.h"

enum { AS_FUZZ_PROFILE_MEMORY = 1 << 28, AS_FUZZ_MOST_CONTEXTS = 2000, AS_FUZZ_MOST_METRICS = 100 };

/* Every failure is one in words. */
static inline bool fine(assay_status status, const assay_error *error) {
    if (status != ASSAY_OK && !error->message[0]) abort();
    return status == ASSAY_OK;
}

static inline bool same_real(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* ---- one profile ------------------------------------------------------------------------------------------------- */

static inline bool skip_node(void *user, const as_view_node *node) {
    size_t *n = user;
    if (!node->values) abort();
    ++*n;
    return true;
}

static inline void check_views(const as_dataset *ds, assay_id metric) {
    assay_id run = 0;
    as_view_source source = {.ds = ds, .runs = &run, .n_runs = 1, .point = ASSAY_NONE};
    as_view_data data;
    assay_error error = {.message = ""};
    if (fine(as_view_load(&source, &metric, 1, NULL, 0, &data, &error), &error)) {
        for (as_view_kind kind = AS_VIEW_TOP_DOWN; kind <= AS_VIEW_FLAT; kind++) {
            as_view_request request = {.kind = kind, .order = (as_view_sorting)(metric % 4)};
            as_view_cut cut;
            size_t n = 0;
            bool done = fine(as_view_walk(&data, &request, skip_node, &n, &cut, &error), &error);
            if (done && kind == AS_VIEW_TOP_DOWN && n != ds->contexts.count) abort();
        }
    }
    as_view_data_free(&data);
}

static inline void check_statistics(const as_dataset *ds, assay_id metric) {
    as_places places;
    as_vec spreads;
    assay_error error = {.message = ""};
    as_vec_init(&spreads, sizeof(as_context_spread), NULL);
    if (fine(as_places_of_run(ds, 0, metric % 2 ? AS_OVER_PROCESSES : AS_OVER_LOCATIONS, &places, &error), &error) &&
        places.n && as_has_statistics(ds, &places, metric))
        fine(as_location_statistics(ds, &places, metric, AS_INCLUSIVE_VALUES | AS_EXCLUSIVE_VALUES, &spreads, &error),
             &error);
    as_places_free(&places);
    as_vec_free(&spreads);
}

/* Every sample, in order of time; pictures and times of all lines. */
static inline void check_traces(const as_dataset *ds) {
    enum { SAMPLES = 256, COLUMNS = 8, MOST_LINES = 64 };
    as_trace_sample samples[SAMPLES];
    const as_trace_line *lines[MOST_LINES];
    assay_id cells[MOST_LINES * COLUMNS];
    assay_error error = {.message = ""};
    as_trace_window window = {.lines = lines};
    bool has_any;
    if (!fine(as_trace_prepare(ds, &error), &error)) return;
    for (size_t i = 0; i < as_trace_line_count(&ds->traces); i++) {
        const as_trace_line *line = as_trace_line_at(&ds->traces, i);
        uint64_t before = 0;
        for (uint64_t first = 0; first < line->n; first += SAMPLES) {
            size_t n = line->n - first < SAMPLES ? (size_t)(line->n - first) : SAMPLES;
            if (!fine(as_trace_read(ds, line, first, n, samples, &error), &error)) return;
            for (size_t k = 0; k < n; before = samples[k++].time) {
                if (samples[k].time < before) abort();
                if (samples[k].context != ASSAY_NONE && samples[k].context >= ds->contexts.count) abort();
            }
        }
        if (window.n_lines < MOST_LINES) lines[window.n_lines++] = line;
    }
    if (!fine(as_trace_span(ds, &window, false, &has_any, &error), &error) || !has_any) return;
    if (!fine(as_trace_picture(ds, &window, COLUMNS, cells, &error), &error)) return;
    as_frames frames;
    as_trace_times times = {0};
    if (fine(as_frames_at(ds, 3, ds->contexts.count % 2, &frames, &error), &error) &&
        fine(as_trace_times_of(ds, &window, &frames, COLUMNS, &times, &error), &error) &&
        times.all.ticks > (double)(window.to - window.from) * (double)window.n_lines * (1 + 1e-9))
        abort();
    as_trace_times_free(&times);
    as_frames_free(&frames);
}

/* The sums of every metric, derived ones too. */
static inline void check_sums(const as_dataset *ds) {
    as_node_list list;
    as_node_list_init(&list);
    for (assay_id m = 0; m < ds->metrics.count; m++) {
        assay_error error = {.message = ""};
        if (!fine(as_nodes_find(ds, 0, m, ASSAY_NONE, &list, &error), &error)) continue;
        for (size_t i = 0; i < as_node_count(&list); i++) {
            assay_id context = as_node_at(&list, i)->context;
            if (context >= ds->contexts.count || (i && as_node_at(&list, i - 1)->context >= context)) abort();
        }
        check_views(ds, m);
        check_statistics(ds, m);
    }
    as_node_list_free(&list);
}

/* ---- two of them ------------------------------------------------------------------------------------------------- */

static inline bool is_zero_node(const as_node_list *list, size_t i) {
    const as_node *node = as_node_at(list, i);
    for (uint32_t k = 0; k < list->n_parts; k++)
        if (as_node_parts(list, i, false)[k] != 0 || as_node_parts(list, i, true)[k] != 0) return false;
    return list->n_parts ||
           (as_number_real(node->inclusive) == 0 && (!node->has_exclusive || as_number_real(node->exclusive) == 0));
}

static inline bool same_node(const as_node_list *a, size_t i, const as_node_list *b, size_t k) {
    const as_node *x = as_node_at(a, i), *y = as_node_at(b, k);
    if (x->context != y->context || x->is_whole != y->is_whole || x->has_exclusive != y->has_exclusive) return false;
    for (uint32_t p = 0; p < a->n_parts; p++)
        if (!same_real(as_node_parts(a, i, false)[p], as_node_parts(b, k, false)[p])) return false;
    if (x->is_whole) return x->whole_inclusive == y->whole_inclusive && x->whole_exclusive == y->whole_exclusive;
    return same_real(as_number_real(x->inclusive), as_number_real(y->inclusive)) &&
           (!x->has_exclusive || same_real(as_number_real(x->exclusive), as_number_real(y->exclusive)));
}

static inline void tell_node(const as_node_list *list, size_t i) {
    if (i == as_node_count(list)) return;
    const as_node *node = as_node_at(list, i);
    fprintf(stderr, "context %u: inclusive %.17g, exclusive %.17g\n", node->context, as_number_real(node->inclusive),
            as_number_real(node->exclusive));
    for (uint32_t k = 0; k < list->n_parts; k++)
        fprintf(stderr, "  part %u: %.17g, %.17g\n", k, as_node_parts(list, i, false)[k],
                as_node_parts(list, i, true)[k]);
}

/* Nodes of zeros may be missing. */
static inline bool have_same_nodes(const as_node_list *a, const as_node_list *b) {
    if (as_node_count(a) && as_node_count(b) && a->n_parts != b->n_parts) return false;
    for (size_t i = 0, k = 0;; i++, k++) {
        while (i < as_node_count(a) && is_zero_node(a, i)) i++;
        while (k < as_node_count(b) && is_zero_node(b, k)) k++;
        bool ends = i == as_node_count(a), other_ends = k == as_node_count(b);
        if (ends && other_ends) return true;
        if (!ends && !other_ends && same_node(a, i, b, k)) continue;
        tell_node(a, i);
        tell_node(b, k);
        return false;
    }
}

/* The metric that stands behind `metric` where parents stand before all that is below them, as files have it;
 * ASSAY_NONE at the end. */
static inline assay_id next_metric(const as_dataset *ds, assay_id metric) {
    assay_id parent = metric, after = 0; /* first below the metric itself, then behind those above it */
    for (;;) {
        for (assay_id m = after; m < ds->metrics.count; m++)
            if (as_ds_metric(ds, m)->parent == parent) return m;
        if (parent == ASSAY_NONE) return ASSAY_NONE;
        after = parent + 1;
        parent = as_ds_metric(ds, parent)->parent;
    }
}

/* Whether the sums of a metric stay the same, to the last bit, when locations are added that have no values: those of
 * reals are added up in another order then, and what is derived from minima and maxima finds infinite ones. */
static inline bool is_sure(const as_dataset *ds, assay_id metric) {
    const as_profile *profile = as_ds_profile(ds, metric, 0);
    return profile && (as_dtype_is_integer(profile->type.dtype) || as_dtype_is_extreme(profile->type.dtype));
}

/* Whether some context is no part of sums, which files do not say. */
static inline bool has_aside(const as_dataset *ds) {
    for (assay_id c = 0; c < ds->contexts.count; c++)
        if (as_ds_context(ds, c)->is_aside) return true;
    return false;
}

/* Whether a file says what its values are: those that are for themselves become exclusive ones. */
static inline bool is_kept(const as_metric *metric) {
    bool is_for_itself = metric->kind == AS_KIND_NONE;
    bool is_lone = metric->is_stored && metric->exclusive == ASSAY_NONE && metric->part_of == ASSAY_NONE;
    return !is_for_itself && !is_lone;
}

/* The same metrics, call tree and sums: all of them, or those that are sure to be the same. */
static inline void check_same(const as_dataset *a, const as_dataset *b, bool all) {
    if (a->metrics.count != b->metrics.count || a->contexts.count != b->contexts.count) abort();
    if (has_aside(a)) return;
    as_node_list x, y;
    as_node_list_init(&x);
    as_node_list_init(&y);
    assay_id m = ASSAY_NONE, n = ASSAY_NONE;
    for (size_t i = 0; i < a->metrics.count; i++) {
        assay_error error = {.message = ""}, other = {.message = ""};
        m = next_metric(a, m);
        n = next_metric(b, n);
        if ((!all && !is_sure(a, m)) || !is_kept(as_ds_metric(a, m))) continue;
        bool first = fine(as_nodes_find(a, 0, m, ASSAY_NONE, &x, &error), &error),
             second = fine(as_nodes_find(b, 0, n, ASSAY_NONE, &y, &other), &other);
        if (first == second && (!first || have_same_nodes(&x, &y))) continue;
        fprintf(stderr, "metric %s\n", as_ds_text(a, as_ds_metric(a, m)->name));
        abort();
    }
    as_node_list_free(&x);
    as_node_list_free(&y);
}

/* What is written is read back with the same sums. */
static inline void check_written(const as_dataset *ds, const char *compression, bool all) {
    const char *options[] = {compression, NULL};
    as_output *out = as_output_to_memory();
    assay_error error = {.message = ""};
    if (!out) abort();
    if (fine(as_write(ds, as_format_find("cube"), options, 1, out, &error), &error)) {
        size_t size;
        const char *bytes = as_output_memory(out, &size);
        as_read_config config = {.format = "cube", .memory_limit = AS_FUZZ_PROFILE_MEMORY};
        as_dataset *back = NULL;
        if (as_read_memory("written", bytes, size, &config, &back, &error) != ASSAY_OK) abort();
        check_same(ds, back, all);
        as_dataset_free(back);
    }
    as_output_discard(out);
}

/* ---- the algebra ------------------------------------------------------------------------------------------------- */

/* A result of the algebra stands on its own. */
static inline bool check_result(assay_status status, const as_dataset *result, const assay_error *error) {
    if (!fine(status, error)) return false;
    check_sums(result);
    check_written(result, "compression=none", false);
    return true;
}

static inline void check_zeros(const as_dataset *ds) {
    for (assay_id m = 0; m < ds->metrics.count; m++) {
        as_slice slice;
        assay_error error = {.message = ""};
        if (!fine(as_slice_open_all(ds, m, 0, &slice, &error), &error)) abort();
        as_value_type type = slice.view.type;
        for (uint32_t i = 0; i < slice.view.n_rows; i++) {
            const char *row = as_profile_row(&slice.view, i);
            for (size_t k = 0; k < (size_t)slice.view.n_columns * type.n_parts; k++) {
                double part = as_part_real(type, row + k / type.n_parts * type.size, (uint32_t)(k % type.n_parts));
                if (part != 0 && !isnan(part)) abort(); /* infinite less infinite is none */
            }
        }
        as_slice_close(&slice);
    }
}

/* The number that sums take of a cell. */
static inline as_number cell(const as_profile *view, uint32_t row, uint32_t column, uint32_t part) {
    as_number number = as_part_get(view->type, as_profile_row(view, row) + (size_t)column * view->type.size, part);
    bool ran_below = view->below_zero && number.kind == AS_UINT && number.u > AS_COUNTER_LIMIT;
    return ran_below ? (as_number){.kind = AS_INT} : number;
}

/* Cell by cell; types may differ. */
static inline void check_same_values(const as_dataset *a, assay_id a_metric, const as_dataset *b, assay_id b_metric) {
    as_slice x, y;
    assay_error error = {.message = ""}, other = {.message = ""};
    bool first = fine(as_slice_open_all(a, a_metric, 0, &x, &error), &error),
         second = fine(as_slice_open_all(b, b_metric, 0, &y, &other), &other);
    if (!x.view.n_columns) x.view.n_rows = 0;
    if (first != second || x.view.n_rows != y.view.n_rows) abort();
    for (uint32_t i = 0; i < x.view.n_rows; i++) {
        if (x.view.contexts[i] != y.view.contexts[i] || x.view.n_columns != y.view.n_columns) abort();
        for (uint32_t c = 0; c < x.view.n_columns; c++)
            for (uint32_t part = 0; part < x.view.type.n_parts; part++)
                if (!same_real(as_number_real(cell(&x.view, i, c, part)), as_number_real(cell(&y.view, i, c, part))))
                    abort();
    }
    as_slice_close(&x);
    as_slice_close(&y);
}

/* The metric of this name, which no other has; else ASSAY_NONE. */
static inline assay_id only_metric(const as_dataset *ds, const char *name) {
    assay_id found = ASSAY_NONE;
    for (assay_id m = 0; m < ds->metrics.count; m++) {
        if (strcmp(as_ds_text(ds, as_ds_metric(ds, m)->name), name) != 0) continue;
        if (found != ASSAY_NONE) return ASSAY_NONE;
        found = m;
    }
    return found;
}

static inline void check_same_profile(const as_dataset *ds, const as_dataset *result) {
    if (result->contexts.count != ds->contexts.count || result->locations.count != ds->locations.count) abort();
    for (assay_id m = 0; m < result->metrics.count; m++) {
        const as_metric *metric = as_ds_metric(result, m);
        const char *name = as_ds_text(result, metric->name);
        if (metric->kind == AS_KIND_DERIVED || only_metric(result, name) == ASSAY_NONE) continue;
        assay_id own = only_metric(ds, name);
        if (own != ASSAY_NONE) check_same_values(ds, own, result, m);
    }
}

static inline void check_cut(const as_dataset *ds, const char *name, bool is_root) {
    as_cut_names names =
        is_root ? (as_cut_names){.roots = &name, .n_roots = 1} : (as_cut_names){.prunes = &name, .n_prunes = 1};
    as_dataset *result = NULL;
    assay_error error = {.message = ""};
    check_result(as_cut(ds, &names, &result, &error), result, &error);
    as_dataset_free(result);
}

/* With itself. */
static inline void check_algebra(const as_dataset *ds, as_matching matching) {
    const as_dataset *twice[] = {ds, ds};
    as_dataset *result = NULL;
    assay_error error = {.message = ""};
    if (check_result(as_diff(ds, ds, matching, true, &result, &error), result, &error)) check_zeros(result);
    as_dataset_free(result);
    result = NULL;
    if (check_result(as_mean(twice, 2, matching, &result, &error), result, &error)) check_same_profile(ds, result);
    as_dataset_free(result);
    result = NULL;
    if (check_result(as_merge_profiles(twice, 2, matching, &result, &error), result, &error))
        check_same_profile(ds, result);
    as_dataset_free(result);
    if (!ds->contexts.count) return;
    const char *first = as_ds_text(ds, as_ds_context(ds, 0)->name),
               *last = as_ds_text(ds, as_ds_context(ds, (assay_id)(ds->contexts.count - 1))->name);
    check_cut(ds, last, true);
    check_cut(ds, last, false);
    check_cut(ds, first, false);
}

/* All of it, for a dataset of one run. */
static inline void check_profile(const as_dataset *ds) {
    if (ds->contexts.count > AS_FUZZ_MOST_CONTEXTS || ds->metrics.count > AS_FUZZ_MOST_METRICS) return;
    check_sums(ds);
    check_traces(ds);
    check_written(ds, "compression=none", true);
    check_written(ds, "compression=zlib", true);
    check_algebra(ds, ds->contexts.count % 2 ? AS_MATCH_NAME : AS_MATCH_EXACT);
}

#endif
