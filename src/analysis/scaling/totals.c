/* The whole program: what the series of a metric add up to. */
#include "analysis/scaling/totals.h"

#include <math.h>
#include <stdlib.h>

#include "dataset/experiment.h"
#include "dataset/own_values.h"

bool as_metric_series_init(as_metric_series *out, const as_dataset *ds) {
    size_t n = ds->series.count, n_metrics = ds->metrics.count;
    *out = (as_metric_series){.starts = calloc(n_metrics + 2, sizeof *out->starts),
                              .series = calloc(n + 1, sizeof *out->series)};
    if (!out->starts || !out->series) return false;
    /* A counting sort: starts[m + 2] counts, then starts[m + 1] moves from the beginning to the end of metric m */
    for (size_t i = 0; i < n; i++) out->starts[as_ds_series(ds, i)->metric + 2]++;
    for (size_t m = 2; m < n_metrics + 2; m++) out->starts[m] += out->starts[m - 1];
    for (size_t i = 0; i < n; i++) out->series[out->starts[as_ds_series(ds, i)->metric + 1]++] = (uint32_t)i;
    return true;
}

void as_metric_series_free(as_metric_series *of) {
    free(of->starts);
    free(of->series);
}

/* ---- what is a part ---------------------------------------------------------------------------------------------- */

/* What is known of a context while one metric is looked at. */
typedef struct node {
    bool is_measured, is_inner;
    double value[2], below[2]; /* at the first and the last point; below: sum of the measured ones next below */
} node;

typedef struct look {
    assay_id points[2];
    node *node;
} look;

static bool take_value(void *user, const as_measurement *m) {
    look *l = user;
    for (int i = 0; i < 2; i++) {
        if (m->point == l->points[i]) l->node->value[i] = m->mean;
    }
    return true;
}

/* The next context above that is measured, or ASSAY_NONE. */
static assay_id measured_above(const as_dataset *ds, const node *nodes, assay_id context) {
    assay_id above = as_ds_context(ds, context)->parent;
    while (above != ASSAY_NONE && !nodes[above].is_measured) above = as_ds_context(ds, above)->parent;
    return above;
}

/* Fills the nodes of the series of a metric. False when memory is out. */
static bool fill_nodes(const as_dataset *ds, const uint32_t *series, size_t n, bool with_values, node *nodes) {
    look l = {.points = {0, (assay_id)(ds->n_points ? ds->n_points - 1 : 0)}};
    for (size_t i = 0; i < n; i++) {
        const as_series *one = as_ds_series(ds, series[i]);
        l.node = &nodes[one->context];
        l.node->is_measured = true;
        if (with_values && !as_measure(ds, one, take_value, &l)) return false;
    }
    for (size_t i = 0; with_values && i < n; i++) {
        assay_id context = as_ds_series(ds, series[i])->context, above = measured_above(ds, nodes, context);
        if (above == ASSAY_NONE || as_ds_context(ds, context)->is_aside) continue;
        nodes[above].is_inner = true;
        for (int k = 0; k < 2; k++) nodes[above].below[k] += nodes[context].value[k];
    }
    return true;
}

static as_nesting nesting_of(const as_dataset *ds, const uint32_t *series, size_t n, const node *nodes) {
    bool has_inner = false;
    for (size_t i = 0; i < n; i++) {
        assay_id context = as_ds_series(ds, series[i])->context;
        const node *one = &nodes[context];
        if (!one->is_inner) continue;
        has_inner = true;
        bool is_root = measured_above(ds, nodes, context) == ASSAY_NONE;
        for (int k = 0; k < 2; k++) {
            if (!as_looks_inclusive(one->value[k], one->below[k], is_root)) return AS_NESTING_APART;
        }
    }
    return has_inner ? AS_NESTING_INCLUSIVE : AS_NESTING_NONE;
}

/* What is no part of the whole is left out where something else is measured. */
static void leave_apart(const as_dataset *ds, const bool *apart, const uint32_t *series, size_t n, bool *parts) {
    size_t n_others = 0;
    for (size_t i = 0; i < n; i++) n_others += !apart[as_ds_series(ds, series[i])->context];
    for (size_t i = 0; i < n && n_others; i++) parts[series[i]] &= !apart[as_ds_series(ds, series[i])->context];
}

/* For each context whether it is a section, stands aside, or lies below one that does. malloc; NULL when memory is
 * out. */
static bool *find_apart(const as_dataset *ds) {
    bool *apart = calloc(ds->contexts.count + 1, sizeof *apart);
    for (assay_id id = 0; apart && id < ds->contexts.count; id++) {
        const as_context *context = as_ds_context(ds, id);
        apart[id] = context->is_aside ||
                    (context->parent == ASSAY_NONE ? as_context_is_section(ds, id) : apart[context->parent]);
    }
    return apart;
}

/* One metric; nodes: zero for all contexts, before and after. False when memory is out. */
static bool find_parts(const as_dataset *ds, const uint32_t *series, size_t n, as_metric_kind kind, node *nodes,
                       bool *parts, bool *is_guessed) {
    bool fine = fill_nodes(ds, series, n, kind == AS_KIND_NONE, nodes);
    *is_guessed = fine && kind == AS_KIND_NONE && nesting_of(ds, series, n, nodes) == AS_NESTING_INCLUSIVE;
    for (size_t i = 0; i < n; i++) {
        bool is_covered = kind == AS_KIND_INCLUSIVE || *is_guessed;
        parts[series[i]] = !is_covered || measured_above(ds, nodes, as_ds_series(ds, series[i])->context) == ASSAY_NONE;
    }
    for (size_t i = 0; i < n; i++) nodes[as_ds_series(ds, series[i])->context] = (node){0};
    return fine;
}

bool *as_total_parts(const as_dataset *ds, const as_metric_series *by_metric, assay_id *guessed) {
    bool *parts = calloc(ds->series.count + 1, sizeof *parts);
    node *nodes = calloc(ds->contexts.count + 1, sizeof *nodes);
    bool *apart = find_apart(ds), fine = parts && nodes && apart;
    *guessed = ASSAY_NONE;
    for (assay_id metric = 0; fine && metric < ds->metrics.count; metric++) {
        uint32_t first = by_metric->starts[metric], end = by_metric->starts[metric + 1];
        bool is_guessed;
        fine = find_parts(ds, by_metric->series + first, end - first, as_measured_kind(ds, metric), nodes, parts,
                          &is_guessed);
        leave_apart(ds, apart, by_metric->series + first, end - first, parts);
        if (is_guessed && *guessed == ASSAY_NONE) *guessed = metric;
    }
    free(nodes);
    free(apart);
    if (fine) return parts;
    free(parts);
    return NULL;
}

bool as_metric_nesting(const as_dataset *ds, assay_id metric, as_nesting *out) {
    as_metric_kind kind = as_measured_kind(ds, metric);
    *out = kind == AS_KIND_INCLUSIVE ? AS_NESTING_INCLUSIVE : AS_NESTING_APART;
    if (kind != AS_KIND_NONE) return true;
    as_metric_series by_metric;
    node *nodes = calloc(ds->contexts.count + 1, sizeof *nodes);
    bool fine = as_metric_series_init(&by_metric, ds) && nodes;
    if (fine) {
        const uint32_t *series = by_metric.series + by_metric.starts[metric];
        size_t n = by_metric.starts[metric + 1] - by_metric.starts[metric];
        fine = fill_nodes(ds, series, n, true, nodes);
        if (fine) *out = nesting_of(ds, series, n, nodes);
    }
    free(nodes);
    as_metric_series_free(&by_metric);
    return fine;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* The sums of one metric at each point. */
typedef struct sums {
    as_measurement *at; /* std: sum of squares */
    size_t *counts;     /* parts with a finite mean */
    size_t n_parts;
} sums;

static bool add_measurement(void *user, const as_measurement *m) {
    sums *s = user;
    as_measurement *sum = &s->at[m->point];
    if (!isfinite(m->mean)) return true;
    bool is_first = s->counts[m->point]++ == 0;
    sum->mean += m->mean;
    sum->median += m->median;
    sum->minimum += m->minimum;
    sum->maximum += m->maximum;
    sum->std += m->std * m->std;
    if (is_first || m->repetitions < sum->repetitions) sum->repetitions = m->repetitions;
    return true;
}

/* Adds up the parts of a metric. False when memory is out. */
static bool add_up(const as_dataset *ds, const as_metric_series *by_metric, const bool *parts, assay_id metric,
                   sums *s) {
    memset(s->at, 0, ds->n_points * sizeof *s->at);
    memset(s->counts, 0, ds->n_points * sizeof *s->counts);
    s->n_parts = 0;
    for (uint32_t i = by_metric->starts[metric]; i < by_metric->starts[metric + 1]; i++) {
        uint32_t series = by_metric->series[i];
        if (!parts[series]) continue;
        s->n_parts++;
        if (!as_measure(ds, as_ds_series(ds, series), add_measurement, s)) return false;
    }
    return true;
}

/* Puts the sums of a metric into the experiment; *is_there: there was something to put. */
static bool put_total(const as_dataset *ds, assay_id metric, const sums *s, as_experiment *e, bool *is_there) {
    const char *name = as_ds_text(ds, as_ds_metric(ds, metric)->name);
    as_cell_key key = {.metric = ASSAY_NONE};
    *is_there = false;
    for (assay_id point = 0; point < ds->n_points; point++) {
        if (s->n_parts == 0 || s->counts[point] < s->n_parts) continue;
        if (!*is_there) {
            key.metric = as_experiment_metric(e, name ? name : "", name ? strlen(name) : 0);
            key.context = as_experiment_callpath(e, "total", 5);
            if (key.metric == ASSAY_NONE || key.context == ASSAY_NONE) return false;
        }
        *is_there = true;
        as_measurement total = s->at[point];
        total.std = sqrt(total.std);
        key.point = as_experiment_point(e, as_ds_point(ds, point));
        if (key.point == ASSAY_NONE || !as_experiment_statistics(e, key, &total)) return false;
    }
    return true;
}

static bool put_totals(const as_dataset *ds, const as_metric_series *by_metric, const bool *parts, as_dataset *out,
                       as_experiment *e, assay_id *metrics) {
    sums s = {.at = calloc(ds->n_points + 1, sizeof *s.at), .counts = calloc(ds->n_points + 1, sizeof *s.counts)};
    bool fine = s.at && s.counts;
    size_t n = 0;
    for (size_t k = 0; fine && k < as_ds_parameters(ds); k++) {
        as_str name = as_ds_intern_text(out, as_ds_parameter(ds, k));
        fine = name != AS_NO_STR && as_add_parameter(out, name) != ASSAY_NONE;
    }
    for (assay_id metric = 0; fine && metric < ds->metrics.count; metric++) {
        bool is_there = false;
        fine = add_up(ds, by_metric, parts, metric, &s) && put_total(ds, metric, &s, e, &is_there);
        if (is_there) metrics[n++] = metric;
    }
    free(s.at);
    free(s.counts);
    return fine && as_experiment_finish(e, AS_NOWHERE, NULL);
}

as_dataset *as_totals(const as_dataset *ds, const as_metric_series *by_metric, const bool *parts, assay_id **metrics) {
    as_dataset *out = as_dataset_new(0);
    as_experiment *e = out ? as_experiment_new(out) : NULL;
    *metrics = calloc(ds->metrics.count + 1, sizeof **metrics);
    bool fine = e && *metrics && put_totals(ds, by_metric, parts, out, e, *metrics);
    if (e) as_experiment_free(e);
    if (fine) return out;
    as_dataset_free(out);
    free(*metrics);
    *metrics = NULL;
    return NULL;
}
