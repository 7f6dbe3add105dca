/* The numbers of one metric of one dataset: of runs, of experiments, of stored statistics. */
#include <stdlib.h>

#include "analysis/nodes.h"
#include "analysis/scaling/totals.h"
#include "analysis/verdict/sampling.h"
#include "core/words.h"

assay_id as_sampled_metric_find(const as_dataset *ds, const char *name) {
    assay_id displayed = ASSAY_NONE;
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        const as_metric *metric = as_ds_metric(ds, id);
        const char *own = as_ds_text(ds, metric->name), *shown = as_ds_text(ds, metric->display_name);
        if (metric->part_of != ASSAY_NONE) continue;
        if (own && strcmp(own, name) == 0) return id;
        if (shown && strcmp(shown, name) == 0 && displayed == ASSAY_NONE) displayed = id;
    }
    return displayed;
}

bool as_metric_is_sampled(const as_dataset *ds, assay_id id) {
    const as_metric *metric = as_ds_metric(ds, id);
    as_dtype dtype = as_ds_metric_type(ds, id).dtype;
    return metric->part_of == ASSAY_NONE && metric->kind != AS_KIND_DERIVED && !as_dtype_is_composite(dtype) &&
           !as_dtype_is_extreme(dtype);
}

bool as_sampling_add(as_sampling *s, uint32_t node, uint32_t unit, double value) {
    if (isnan(value)) return true;
    as_sample sample = {node, unit, value * s->factor};
    return as_vec_append(&s->samples, &sample, 1);
}

uint32_t as_sampling_unit(as_sampling *s, as_sample_unit unit) {
    if (s->units.count >= UINT32_MAX - 1 || !as_vec_append(&s->units, &unit, 1)) return UINT32_MAX;
    s->has_profiles |= unit.is_profile;
    return (uint32_t)s->units.count - 1;
}

uint32_t as_sampling_stratum(as_sampling *s, uint32_t side, const double *coordinates, size_t n) {
    as_str id = as_intern(&s->points, (const char *)coordinates, n * sizeof *coordinates);
    if (id == AS_NO_STR) return AS_NO_STR;
    while (s->side_has_points.count <= id)
        if (!as_vec_push(&s->side_has_points)) return AS_NO_STR;
    AS_AT(uint8_t, &s->side_has_points, id) |= (uint8_t)(1u << side);
    return id;
}

/* That of a point of a dataset; ASSAY_NONE: it has none. */
static uint32_t stratum_of(as_sampling *s, uint32_t side, uint32_t dataset, assay_id point) {
    const uint32_t *indices = s->indices[side][dataset];
    size_t n = s->out->n_parameters;
    static const double nowhere = 0;
    double in_order[16], *coordinates = in_order;
    if (point == ASSAY_NONE || !indices) return as_sampling_stratum(s, side, &nowhere, 0);
    if (n > 16 && !(coordinates = malloc(n * sizeof *coordinates))) return AS_NO_STR;
    const double *own = as_ds_point(s->sides[side][dataset], point);
    for (size_t i = 0; i < n; i++) coordinates[i] = own[indices[i]] + 0.0; /* -0 is 0 */
    uint32_t stratum = as_sampling_stratum(s, side, coordinates, n);
    if (coordinates != in_order) free(coordinates);
    return stratum;
}

static bool takes_run(const as_sampling *s, uint32_t side, assay_id run) {
    return !s->request->runs[side] || s->request->runs[side][run];
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static bool add_nodes(as_sampling *s, const as_node_list *list, const uint32_t *nodes, uint32_t unit, bool is_stored) {
    bool by_itself = !s->request->is_inclusive;
    for (size_t i = 0; i < as_node_count(list); i++) {
        const as_node *node = as_node_at(list, i);
        bool is_exclusive = by_itself && node->has_exclusive;
        if (nodes[node->context] == AS_NO_PATH || (is_exclusive && is_stored && node->lacks_exclusive)) continue;
        double value = as_number_real(is_exclusive ? node->exclusive : node->inclusive);
        if (!node->has_exclusive || is_exclusive) s->is_exclusive = true;
        if (!as_sampling_add(s, nodes[node->context], unit, value)) return false;
    }
    return true;
}

/* What calls have beyond their stored exclusive values: code below them that nobody could tell the function of is an
 * instruction, a piece to us, but a call to its source. Without it call paths would not add up to the total. */
static bool add_unnamed(as_sampling *s, const as_dataset *ds, const as_node_list *list, const uint32_t *nodes,
                        uint32_t unit) {
    const double rounding = 1e-4; /* sources store six digits of either side */
    size_t n = AS_COUNT(ds, contexts);
    assay_id *call = malloc((n + 1) * sizeof *call); /* by context: itself, or the nearest one above it */
    double *own = calloc(n + 1, sizeof *own);
    bool fine = call && own;
    for (assay_id id = 0; fine && id < n; id++) {
        assay_id parent = as_ds_context(ds, id)->parent;
        call[id] = nodes[id] != AS_NO_PATH ? id : parent == ASSAY_NONE ? ASSAY_NONE : call[parent];
    }
    for (size_t i = 0; fine && i < as_node_count(list); i++) {
        const as_node *node = as_node_at(list, i);
        if (nodes[node->context] == AS_NO_PATH) continue;
        assay_id parent = as_ds_context(ds, node->context)->parent;
        double inclusive = as_number_real(node->inclusive);
        own[node->context] += inclusive - as_number_real(node->exclusive);
        bool is_aside = as_ds_context(ds, node->context)->is_aside;
        if (!is_aside && parent != ASSAY_NONE && call[parent] != ASSAY_NONE) own[call[parent]] -= inclusive;
    }
    for (size_t i = 0; fine && i < as_node_count(list); i++) {
        const as_node *node = as_node_at(list, i);
        bool is_more = own[node->context] > rounding * as_number_real(node->inclusive);
        if (nodes[node->context] != AS_NO_PATH && is_more)
            fine = as_sampling_add(s, nodes[node->context], unit, own[node->context]);
    }
    free(call);
    free(own);
    return fine;
}

/* One number for each call path of each run, inclusive or exclusive. nodes: of contexts. */
static assay_status gather_runs(as_sampling *s, uint32_t side, uint32_t dataset, assay_id metric,
                                const uint32_t *nodes) {
    const as_dataset *ds = s->sides[side][dataset];
    as_node_list list;
    as_node_list_init_of(&list, ds);
    assay_status status = ASSAY_OK;
    for (assay_id run = 0; run < AS_COUNT(ds, runs) && status == ASSAY_OK; run++) {
        if (!takes_run(s, side, run)) continue;
        status = as_nodes_find(ds, run, metric, ASSAY_NONE, &list, s->error);
        if (status != ASSAY_OK || !as_node_count(&list)) continue;
        uint32_t stratum = stratum_of(s, side, dataset, as_ds_run(ds, run)->point);
        uint32_t unit = as_sampling_unit(s, (as_sample_unit){side, dataset, stratum, .is_profile = true});
        bool is_stored = as_ds_metric(ds, metric)->is_stored;
        bool is_pair = is_stored && !s->request->is_inclusive && as_node_at(&list, 0)->has_exclusive;
        if (stratum == AS_NO_STR || unit == UINT32_MAX || !add_nodes(s, &list, nodes, unit, is_stored) ||
            (is_pair && !add_unnamed(s, ds, &list, nodes, unit)))
            status = as_fail_memory(s->error, NULL);
    }
    as_node_list_free(&list);
    return status;
}

static assay_status gather_rows_and_runs(as_sampling *s, uint32_t side, uint32_t dataset, assay_id metric) {
    size_t n = AS_COUNT(s->sides[side][dataset], contexts);
    uint32_t *nodes = malloc((n + 1) * sizeof *nodes);
    if (!nodes) return as_fail_memory(s->error, NULL);
    if (n) memcpy(nodes, s->nodes[side][dataset], n * sizeof *nodes);
    assay_status status = as_gather_resources(s, side, dataset, metric, nodes)
                              ? gather_runs(s, side, dataset, metric, nodes)
                              : as_fail_memory(s->error, NULL);
    free(nodes);
    return status;
}

/* Whether values of experiments hold those below them, which few sources say. */
static bool note_nesting(as_sampling *s, const as_dataset *ds, assay_id metric) {
    as_nesting nesting;
    if (!as_metric_nesting(ds, metric, &nesting)) return false;
    s->n_experiments++;
    if (nesting != AS_NESTING_NONE) s->n_nested[nesting == AS_NESTING_INCLUSIVE]++;
    return true;
}

/* ---- experiments ------------------------------------------------------------------------------------------------- */

static bool add_block(as_sampling *s, const as_block *block, const uint32_t *nodes, const uint32_t *units) {
    for (uint32_t i = 0; i < block->n_contexts; i++) {
        uint32_t node = nodes[block->contexts[i]];
        if (node == AS_NO_PATH) continue;
        for (uint64_t row = block->starts[i]; row < block->starts[i + 1];) {
            assay_id run = as_block_run(block, row);
            double sum = 0; /* over locations */
            for (; row < block->starts[i + 1] && as_block_run(block, row) == run; row++)
                sum += as_block_real(block, row);
            if (units[run] != UINT32_MAX && !as_sampling_add(s, node, units[run], sum)) return false;
        }
    }
    return true;
}

static bool gather_block(as_sampling *s, uint32_t side, uint32_t dataset, const as_block *block) {
    const as_dataset *ds = s->sides[side][dataset];
    size_t n = AS_COUNT(ds, runs);
    uint32_t *units = malloc((n + 1) * sizeof *units);
    bool fine = units != NULL;
    for (assay_id run = 0; fine && run < n; run++) {
        units[run] = UINT32_MAX;
        if (!takes_run(s, side, run)) continue;
        uint32_t stratum = stratum_of(s, side, dataset, as_ds_run(ds, run)->point);
        units[run] = as_sampling_unit(s, (as_sample_unit){side, dataset, stratum, .is_profile = false});
        fine = stratum != AS_NO_STR && units[run] != UINT32_MAX;
    }
    fine = fine && add_block(s, block, s->nodes[side][dataset], units);
    free(units);
    return fine;
}

/* ---- statistics that are stored ---------------------------------------------------------------------------------- */

typedef struct statistics {
    as_sampling *s;
    uint32_t node;
    const uint32_t *units; /* of points */
} statistics;

static bool add_measurement(void *user, const as_measurement *m) {
    statistics *u = user;
    return as_sampling_add(u->s, u->node, u->units[m->point], isnan(m->median) ? m->mean : m->median);
}

static bool gather_statistics(as_sampling *s, uint32_t side, uint32_t dataset, assay_id metric) {
    const as_dataset *ds = s->sides[side][dataset];
    uint32_t *units = malloc((ds->n_points + 1) * sizeof *units);
    statistics user = {.s = s, .units = units};
    bool fine = units != NULL;
    for (assay_id point = 0; fine && point < ds->n_points; point++) {
        uint32_t stratum = stratum_of(s, side, dataset, point);
        units[point] = as_sampling_unit(s, (as_sample_unit){side, dataset, stratum, .is_profile = false});
        fine = stratum != AS_NO_STR && units[point] != UINT32_MAX;
    }
    for (size_t i = 0; fine && i < AS_COUNT(ds, series); i++) {
        const as_series *series = as_ds_series(ds, i);
        if (series->metric != metric || !series->n_measurements) continue;
        user.node = s->nodes[side][dataset][series->context];
        if (user.node != AS_NO_PATH) fine = as_measure(ds, series, add_measurement, &user);
    }
    free(units);
    return fine;
}

assay_status as_gather_samples(as_sampling *s, uint32_t side, uint32_t dataset, assay_id metric) {
    const as_dataset *ds = s->sides[side][dataset];
    const as_block *block = as_ds_metric_block(ds, metric);
    bool fine = true;
    if (!AS_COUNT(ds, runs))
        fine = gather_statistics(s, side, dataset, metric) && note_nesting(s, ds, metric);
    else if (block && as_ds_metric(ds, metric)->kind == AS_KIND_NONE)
        fine = gather_block(s, side, dataset, block) && note_nesting(s, ds, metric);
    else
        return gather_rows_and_runs(s, side, dataset, metric);
    return fine ? ASSAY_OK : as_fail_memory(s->error, NULL);
}
