/* The format `hpctoolkit-2021`: experiment.xml 4.0 with profile.db, cct.db and trace.db. */
#include <stdlib.h>

#include "formats/hpctoolkit/database.h"
#include "formats/hpctoolkit/experiment_metrics.h"
#include "formats/hpctoolkit/formulas.h"
#include "formats/hpctoolkit/hpctoolkit.h"
#include "formats/hpctoolkit/write.h"

/* ---- what values and samples belong to --------------------------------------------------------------------------- */

/* For ids 0 … n - 1 what the tree has for them, in the dataset's arena; NULL when memory is out. */
static assay_id *list_ids(as_dataset *ds, const as_hpc_ids *ids, uint32_t column, size_t n) {
    assay_id *list = as_arena_array(&ds->arena, n, sizeof *list);
    for (size_t i = 0; list && i < n; i++) list[i] = as_hpc_ids_get(ids, column, i);
    return list;
}

static void renumber(assay_id *list, size_t n, const assay_id *new_ids) {
    for (size_t i = 0; i < n; i++) {
        if (list[i] != ASSAY_NONE) list[i] = new_ids[list[i]];
    }
}

/* Samples name contexts by `it`, or, where no element has that one, by their id. */
static assay_id *list_trace_contexts(as_hpc_experiment *experiment, const assay_id *contexts, size_t n_contexts,
                                     const assay_id *new_ids, size_t *n) {
    size_t n_near = as_hpc_ids_near(&experiment->contexts);
    *n = n_near > n_contexts ? n_near : n_contexts;
    assay_id *list = list_ids(experiment->ds, &experiment->contexts, AS_HPC_OF_SAMPLES, *n);
    if (!list) return NULL;
    renumber(list, *n, new_ids);
    for (size_t i = 0; i < n_contexts; i++) {
        if (list[i] == ASSAY_NONE) list[i] = contexts[i];
    }
    return list;
}

/* The names that the document has for the kinds of tuple elements, or those that all of its time have. */
static const char **list_kinds(as_hpc_experiment *experiment, size_t *n) {
    static const char *usual[] = {"SUMMARY", "NODE", "RANK", "THREAD", "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"};
    *n = sizeof usual / sizeof *usual;
    if (!experiment->kinds.count) return usual;
    *n = experiment->kinds.count;
    const char **names = as_arena_array(&experiment->ds->arena, *n, sizeof *names);
    for (size_t i = 0; names && i < *n; i++)
        names[i] = as_ds_text(experiment->ds, AS_AT(as_str, &experiment->kinds, i));
    return names;
}

static assay_status attach(as_hpc_experiment *experiment, as_hpc_database *db, as_vec *metrics, as_vec *statistics) {
    as_reader *reader = experiment->reader;
    size_t n_contexts = as_hpc_context_limit(db), n_trace_contexts, n_kinds;
    assay_id *contexts = list_ids(experiment->ds, &experiment->contexts, AS_HPC_OF_VALUES, n_contexts);
    const assay_id *new_ids;
    if (!contexts) return as_reader_memory(reader);
    AS_TRY(as_hpc_add_placeless(reader, db, &experiment->tree, contexts, n_contexts));
    AS_TRY(as_hpc_experiment_finish(experiment, &new_ids));
    renumber(contexts, n_contexts, new_ids);
    const char **kinds = list_kinds(experiment, &n_kinds);
    assay_id *trace_contexts = list_trace_contexts(experiment, contexts, n_contexts, new_ids, &n_trace_contexts);
    if (!kinds || !trace_contexts) return as_reader_memory(reader);
    as_hpc_meaning meaning = {.kinds = kinds,
                              .n_kinds = n_kinds,
                              .metrics = metrics->data,
                              .n_metrics = metrics->count,
                              .statistics = statistics->data,
                              .n_statistics = statistics->count,
                              .contexts = contexts,
                              .n_contexts = n_contexts,
                              .trace_contexts = trace_contexts,
                              .n_trace_contexts = n_trace_contexts,
                              .ticks_per_second = experiment->ticks_per_second > 0 ? experiment->ticks_per_second : 1e9,
                              .has_start = experiment->has_start,
                              .start = experiment->start};
    AS_TRY(as_hpc_add_formulas(experiment, &meaning));
    return as_hpc_attach(reader, db, &meaning);
}

static assay_status read_metrics(as_hpc_experiment *experiment, as_hpc_database *db) {
    as_vec metrics, statistics;
    as_vec_init(&metrics, sizeof(as_hpc_metric), &experiment->ds->budget);
    as_vec_init(&statistics, sizeof(as_hpc_statistic), &experiment->ds->budget);
    assay_status status = as_hpc_add_metrics_2021(experiment, &metrics, &statistics);
    if (status == ASSAY_OK) status = attach(experiment, db, &metrics, &statistics);
    as_vec_free(&metrics);
    as_vec_free(&statistics);
    return status;
}

/* ---- the format -------------------------------------------------------------------------------------------------- */

static assay_status read_2021(as_reader *reader) {
    char directory[PATH_MAX];
    as_input *xml;
    as_hpc_database *db;
    AS_TRY(as_hpc_directory(reader, directory));
    AS_TRY(as_hpc_open_file(reader, directory, "experiment.xml", &xml, reader->error));
    AS_TRY(as_hpc_open(reader, directory, AS_HPC_2021, &db));
    as_hpc_experiment *experiment = malloc(sizeof *experiment); /* too large for a stack */
    if (!experiment) return as_reader_memory(reader);
    assay_status status = as_hpc_experiment_read(experiment, reader, xml->path, xml->data, xml->size, false);
    if (status == ASSAY_OK) status = as_hpc_note_sources(reader, directory);
    if (status == ASSAY_OK) status = read_metrics(experiment, db);
    as_hpc_experiment_free(experiment);
    free(experiment);
    return status;
}

static int bid_2021(const as_probe *probe) { return as_hpc_bid(probe, AS_HPC_GENERATION_2021); }

const struct assay_format as_format_hpctoolkit_2021 = {
    .name = "hpctoolkit-2021",
    .title = "HPCToolkit database of 2021",
    .versioned = "experiment.xml",
    .extensions = "",
    .holds = AS_HPC_HOLDS,
    .reads_directories = true,
    .writes_directories = true,
    .write_options = as_hpc_write_options,
    .bid = bid_2021,
    .read = read_2021,
    .write = as_hpc_write_2021,
    .losses = as_hpc_losses_2021,
};
