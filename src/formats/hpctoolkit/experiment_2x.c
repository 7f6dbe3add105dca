/* The format `hpctoolkit-xml`: experiment.xml 2.x with values in it, and files beside it with those of each thread. */
#include <stdlib.h>

#include "formats/hpctoolkit/companions.h"
#include "formats/hpctoolkit/database.h"
#include "formats/hpctoolkit/experiment_metrics.h"
#include "formats/hpctoolkit/formulas.h"
#include "formats/hpctoolkit/hpctoolkit.h"

/* ---- values of the document -------------------------------------------------------------------------------------- */

/* A value with the ids of the dataset. */
typedef struct cell {
    assay_id metric, context;
    uint64_t order; /* in the document */
    double value;
} cell;

static int compare_cells(const void *a, const void *b) {
    const cell *x = a, *y = b;
    if (x->metric != y->metric) return x->metric < y->metric ? -1 : 1;
    if (x->context != y->context) return x->context < y->context ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The n cells of one metric, in order of contexts: a profile with one column that is no place. Of two values for one
 * context the later counts. */
static bool add_profile(as_dataset *ds, const cell *cells, size_t n, assay_id run, bool *has_doubles) {
    assay_id *contexts = as_arena_array(&ds->arena, n, sizeof *contexts);
    double *values = as_arena_array(&ds->arena, n, sizeof *values);
    if (!contexts || !values) return false;
    as_profile profile = {.metric = cells[0].metric,
                          .run = run,
                          .type = as_value_type_of(AS_DTYPE_DOUBLE, 1),
                          .n_columns = 1,
                          .contexts = contexts,
                          .values = (const char *)values};
    for (size_t i = 0; i < n; i++) {
        bool is_second = i && cells[i].context == cells[i - 1].context;
        if (is_second)
            *has_doubles = true;
        else
            contexts[profile.n_rows++] = cells[i].context;
        values[profile.n_rows - 1] = cells[i].value;
    }
    return as_add_profile(ds, &profile);
}

/* The cells of the metrics that are known, in order; how many. */
static size_t list_cells(as_hpc_experiment *experiment, const as_map *of_values, const assay_id *new_ids, cell *cells) {
    size_t n = 0, n_unknown = 0;
    for (size_t i = 0; i < experiment->values.count; i++) {
        const as_hpc_value *value = &AS_AT(as_hpc_value, &experiment->values, i);
        uint32_t metric = as_map_get(of_values, value->metric);
        if (metric == AS_MAP_NONE)
            n_unknown++;
        else
            cells[n++] = (cell){metric, new_ids[value->context], i, value->value};
    }
    if (n_unknown)
        as_warn(experiment->reader, as_place_file(experiment->path), "unknown-metric",
                "%zu values of metrics that the MetricTable does not have are left out", n_unknown);
    qsort(cells, n, sizeof *cells, compare_cells);
    return n;
}

static assay_status add_values(as_hpc_experiment *experiment, const as_map *of_values, const assay_id *new_ids,
                               assay_id run) {
    size_t size = experiment->values.count * sizeof(cell), first = 0;
    cell *cells = size && as_budget_take(&experiment->ds->budget, size) ? malloc(size) : NULL;
    if (!size) return ASSAY_OK;
    bool fine = cells != NULL, has_doubles = false;
    size_t n = fine ? list_cells(experiment, of_values, new_ids, cells) : 0;
    for (size_t i = 0; i < n && fine; i++) {
        if (i + 1 < n && cells[i + 1].metric == cells[i].metric) continue;
        fine = add_profile(experiment->ds, cells + first, i + 1 - first, run, &has_doubles);
        first = i + 1;
    }
    if (has_doubles)
        as_warn(experiment->reader, as_place_file(experiment->path), "value-twice",
                "contexts with two values of one metric: the later ones count");
    free(cells);
    as_budget_give(&experiment->ds->budget, cells ? size : 0);
    return fine ? ASSAY_OK : as_reader_memory(experiment->reader);
}

/* ---- companions -------------------------------------------------------------------------------------------------- */

/* For node ids 0 … n - 1 their ids in the tree; those that have values and no place in it are added. NULL when memory
 * is out. */
static assay_id *list_contexts(as_hpc_experiment *experiment, const as_hpc_companions *companions, size_t n) {
    assay_id *contexts = as_arena_array(&experiment->ds->arena, n, sizeof *contexts);
    for (size_t i = 0; contexts && i < n; i++) {
        contexts[i] = as_hpc_ids_get(&experiment->contexts, AS_HPC_OF_VALUES, i);
        if (contexts[i] != ASSAY_NONE || !i || !as_hpc_companions_node_has_values(companions, (uint32_t)i)) continue;
        contexts[i] = as_hpc_add_placeless_context(&experiment->tree, (uint32_t)i);
        if (contexts[i] == ASSAY_NONE) return NULL;
    }
    return contexts;
}

static bool fill_trace_contexts(const as_hpc_ids *ids, const assay_id *new_ids, as_map *out) {
    bool fine = true;
    for (size_t i = 0; i < as_hpc_ids_near(ids) && fine; i++) {
        assay_id id = as_hpc_ids_get(ids, AS_HPC_OF_SAMPLES, i);
        if (id != ASSAY_NONE) fine = as_map_put(out, i, new_ids[id]);
    }
    for (size_t i = 0; i < ids->far_keys.count && fine; i++) {
        uint64_t key = AS_AT(uint64_t, &ids->far_keys, i);
        if (key % ids->n_columns == AS_HPC_OF_SAMPLES)
            fine = as_map_put(out, key / ids->n_columns, new_ids[as_map_get(&ids->far, key)]);
    }
    return fine;
}

static assay_status attach(as_hpc_experiment *experiment, as_hpc_companions *companions, const as_map *of_values,
                           const as_vec *columns, as_map *trace_contexts) {
    as_reader *reader = experiment->reader;
    size_t n_contexts = (size_t)as_hpc_companions_nodes(companions) + 1;
    assay_id *contexts = list_contexts(experiment, companions, n_contexts);
    const assay_id *new_ids;
    as_run run = AS_RUN_INIT;
    run.source = experiment->ds->path;
    if (!contexts) return as_reader_memory(reader);
    AS_TRY(as_hpc_experiment_finish(experiment, &new_ids));
    for (size_t i = 0; i < n_contexts; i++) {
        if (contexts[i] != ASSAY_NONE) contexts[i] = new_ids[contexts[i]];
    }
    assay_id run_id = as_add_run(experiment->ds, &run);
    if (run_id == ASSAY_NONE || !fill_trace_contexts(&experiment->contexts, new_ids, trace_contexts))
        return as_reader_memory(reader);
    AS_TRY(add_values(experiment, of_values, new_ids, run_id));
    double usual = strcmp(as_ds_text(experiment->ds, experiment->version), "2.0") == 0 ? 1e6 : 1e9;
    as_hpc_companions_meaning meaning = {.columns = columns->data,
                                         .n_columns = columns->count,
                                         .contexts = contexts,
                                         .n_contexts = n_contexts,
                                         .trace_contexts = trace_contexts,
                                         .ticks_per_second =
                                             experiment->ticks_per_second > 0 ? experiment->ticks_per_second : usual};
    return as_hpc_companions_attach(reader, companions, &meaning);
}

static assay_status finish(as_hpc_experiment *experiment, as_hpc_companions *companions) {
    as_budget *budget = &experiment->ds->budget;
    as_map of_values, trace_contexts;
    as_vec columns;
    as_map_init(&of_values, budget);
    as_map_init(&trace_contexts, budget);
    as_vec_init(&columns, sizeof(as_hpc_column), budget);
    assay_status status = as_hpc_add_metrics_2x(experiment, &of_values, &columns);
    if (status == ASSAY_OK) status = as_hpc_add_formulas(experiment, NULL);
    if (status == ASSAY_OK) status = attach(experiment, companions, &of_values, &columns, &trace_contexts);
    as_map_free(&of_values);
    as_map_free(&trace_contexts);
    as_vec_free(&columns);
    return status;
}

/* ---- the format -------------------------------------------------------------------------------------------------- */

static assay_status read_2x(as_reader *reader) {
    char directory[PATH_MAX];
    as_input *xml;
    as_hpc_companions *companions;
    AS_TRY(as_hpc_directory(reader, directory));
    AS_TRY(as_hpc_open_file(reader, directory, "experiment.xml", &xml, reader->error));
    AS_TRY(as_hpc_companions_open(reader, directory, &companions));
    as_hpc_experiment *experiment = malloc(sizeof *experiment); /* too large for a stack */
    if (!experiment) return as_reader_memory(reader);
    assay_status status = as_hpc_experiment_read(experiment, reader, xml->path, xml->data, xml->size, true);
    if (status == ASSAY_OK) status = as_hpc_note_sources(reader, directory);
    if (status == ASSAY_OK) status = finish(experiment, companions);
    as_hpc_experiment_free(experiment);
    free(experiment);
    return status;
}

static int bid_2x(const as_probe *probe) { return as_hpc_bid(probe, AS_HPC_GENERATION_XML); }

const struct assay_format as_format_hpctoolkit_xml = {
    .name = "hpctoolkit-xml",
    .title = "HPCToolkit database in XML",
    .versioned = "experiment.xml",
    .extensions = "",
    .holds =
        AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_EVENTS | AS_HOLDS_UNITS | AS_HOLDS_SOURCE | AS_HOLDS_PROFILES,
    .reads_directories = true,
    .bid = bid_2x,
    .read = read_2x,
};
