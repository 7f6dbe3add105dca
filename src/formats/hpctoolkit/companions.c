/* Values and samples of the companions of an experiment.xml, read from where they lie. */
#include <endian.h>
#include <stdlib.h>

#include "dataset/sparse.h"
#include "formats/hpctoolkit/companions_private.h"
#include "formats/hpctoolkit/database.h"

static double number_at(const as_companion_values *file, uint32_t node, uint32_t column) {
    uint64_t bits;
    double number;
    size_t index = (size_t)(node - 1) * file->n_columns + column;
    memcpy(&bits, file->numbers + index * sizeof bits, sizeof bits);
    bits = be64toh(bits);
    memcpy(&number, &bits, sizeof number);
    return number;
}

uint32_t as_hpc_companions_nodes(const as_hpc_companions *companions) { return companions->n_nodes; }

bool as_hpc_companions_node_has_values(const as_hpc_companions *companions, uint32_t node_id) {
    if (!node_id) return false;
    for (size_t i = 0; i < companions->by_size.count; i++) {
        const as_companion_values *file = &AS_AT(as_companion_values, &companions->by_size, i);
        if (node_id > file->n_nodes) break;
        for (uint32_t column = 0; column < file->n_columns; column++)
            if (number_at(file, node_id, column) != 0) return true;
    }
    return false;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

typedef struct value_source {
    as_profile_source base;
    const as_hpc_companions *companions;
    uint32_t column;
} value_source;

/* Columns of the profile are the files, in order. */
static assay_status read_row(const as_profile_source *base, const as_profile *profile, assay_id context,
                             as_sparse_line *out, assay_error *error) {
    const value_source *source = (const value_source *)base;
    const as_hpc_companions *c = source->companions;
    if (!as_sparse_line_reserve(out, profile->n_columns)) return as_fail_memory(error, NULL);
    uint32_t node = context < c->n_dataset_contexts ? c->nodes[context] : 0;
    for (uint32_t i = 0; node && i < profile->n_columns; i++) {
        const as_companion_values *file = &AS_AT(as_companion_values, &c->values, i);
        double number =
            node <= file->n_nodes && source->column < file->n_columns ? number_at(file, node, source->column) : 0;
        if (number == 0) continue;
        out->at[out->n] = i;
        out->values[out->n++] = number;
    }
    return ASSAY_OK;
}

static assay_status read_column(const as_profile_source *base, const as_profile *profile, uint32_t column,
                                as_sparse_line *out, assay_error *error) {
    const value_source *source = (const value_source *)base;
    const as_hpc_companions *c = source->companions;
    const as_companion_values *file = &AS_AT(as_companion_values, &c->values, column);
    (void)profile;
    out->n = 0;
    if (source->column >= file->n_columns) return ASSAY_OK;
    if (!as_sparse_line_reserve(out, file->n_nodes)) return as_fail_memory(error, NULL);
    for (uint32_t node = 1; node <= file->n_nodes && node < c->n_contexts; node++) {
        if (c->contexts[node] == ASSAY_NONE) continue;
        double number = number_at(file, node, source->column);
        if (number == 0) continue;
        out->at[out->n] = c->contexts[node];
        out->values[out->n++] = number;
    }
    return ASSAY_OK;
}

static assay_status add_profile(as_reader *reader, as_hpc_companions *c, const as_hpc_column *column,
                                const assay_id *columns) {
    as_dataset *ds = reader->dataset;
    value_source *source = as_arena_alloc(&ds->arena, sizeof *source);
    if (!source) return as_reader_memory(reader);
    *source = (value_source){.base = {.load = as_sparse_load, .read_row = read_row, .read_column = read_column},
                             .companions = c,
                             .column = column->id};
    as_profile profile = {.metric = column->metric,
                          .type = as_value_type_of(AS_DTYPE_DOUBLE, 0),
                          .n_rows = c->n_dataset_contexts,
                          .n_columns = (uint32_t)c->values.count,
                          .columns = columns,
                          .source = &source->base};
    if (!as_add_profile(ds, &profile)) return as_reader_memory(reader);
    as_sparse_line line = {0};
    assay_status status = ASSAY_OK;
    for (uint32_t i = 0; i < profile.n_columns && status == ASSAY_OK; i++) {
        status = read_column(&source->base, &profile, i, &line, reader->error);
        if (status == ASSAY_OK) ds->n_sparse_values += line.n;
    }
    as_sparse_line_free(&line);
    return status;
}

/* A column that some metric has is no other's. */
static assay_status attach_values(as_reader *reader, as_hpc_companions *c, const as_hpc_companions_meaning *meaning,
                                  const assay_id *columns) {
    as_map taken;
    as_map_init(&taken, &reader->dataset->budget);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < meaning->n_columns && status == ASSAY_OK; i++) {
        const as_hpc_column *column = &meaning->columns[i];
        if (column->id >= c->n_columns) continue;
        if (as_map_get(&taken, column->id) != AS_MAP_NONE)
            as_warn(reader, as_place_file(reader->input->path), "metric-column",
                    "column %u of the values is that of two metrics; it is taken as the first one's", column->id);
        else if (!as_map_put(&taken, column->id, 0))
            status = as_reader_memory(reader);
        else
            status = add_profile(reader, c, column, columns);
    }
    as_map_free(&taken);
    return status;
}

/* ---- traces ------------------------------------------------------------------------------------------------------ */

typedef struct trace_source {
    as_trace_source base;
    const as_hpc_companions *companions;
} trace_source;

static assay_status read_samples(const as_trace_source *base, const as_trace_line *line, uint64_t first, size_t n,
                                 as_trace_sample *out, assay_error *error) {
    const as_hpc_companions *c = ((const trace_source *)base)->companions;
    const as_companion_trace *trace = &AS_AT(as_companion_trace, &c->traces, line->at);
    (void)error;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *at = trace->samples + (first + i) * trace->record;
        uint64_t time;
        uint32_t id;
        memcpy(&time, at, sizeof time);
        memcpy(&id, at + sizeof time, sizeof id);
        uint32_t context = as_map_get(&c->trace_contexts, be32toh(id));
        out[i] = (as_trace_sample){be64toh(time), context == AS_MAP_NONE ? ASSAY_NONE : context};
    }
    return ASSAY_OK;
}

static assay_status attach_traces(as_reader *reader, as_hpc_companions *c, const as_hpc_companions_meaning *meaning,
                                  const assay_id *locations) {
    as_dataset *ds = reader->dataset;
    if (!c->traces.count) return ASSAY_OK;
    trace_source *source = as_arena_alloc(&ds->arena, sizeof *source);
    if (!source) return as_reader_memory(reader);
    *source = (trace_source){{read_samples}, c};
    ds->traces.ticks_per_second = meaning->ticks_per_second;
    for (size_t i = 0; i < c->traces.count; i++) {
        const as_companion_trace *trace = &AS_AT(as_companion_trace, &c->traces, i);
        as_trace_line line = {.location = locations[i], .n = trace->n, .source = &source->base, .at = i};
        if (trace->n && !as_add_trace_line(ds, &line)) return as_reader_memory(reader);
    }
    return ASSAY_OK;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static int compare_owners(const as_companion_owner *a, const as_companion_owner *b) {
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    return (a->occurrence > b->occurrence) - (a->occurrence < b->occurrence);
}

static int compare_values(const void *a, const void *b) {
    return compare_owners(&((const as_companion_values *)a)->owner, &((const as_companion_values *)b)->owner);
}

static int compare_traces(const void *a, const void *b) {
    return compare_owners(&((const as_companion_trace *)a)->owner, &((const as_companion_trace *)b)->owner);
}

static assay_id add_leaf(as_dataset *ds, as_hpc_places *places, const as_companion_owner *owner) {
    as_hpc_place tuple[] = {{.kind = "RANK", .logical = owner->rank, .physical = owner->rank},
                            {.kind = "THREAD", .logical = owner->thread, .physical = owner->thread}};
    char text[2 * AS_NUMBER_SIZE];
    size_t n = as_uint_format(owner->rank, text);
    text[n++] = '.';
    n += as_uint_format(owner->thread, text + n);
    as_str source_id = as_ds_intern(ds, text, n);
    return source_id == AS_NO_STR ? ASSAY_NONE : as_hpc_add_leaf(ds, places, tuple, 2, source_id);
}

/* The leaf of each file of values and of each trace, in order of rank and thread; both are sorted by them already. */
static bool add_leaves(as_hpc_companions *c, as_hpc_places *places, assay_id *of_values, assay_id *of_traces) {
    size_t v = 0, t = 0;
    while (v < c->values.count || t < c->traces.count) {
        const as_companion_owner *a = v < c->values.count ? &AS_AT(as_companion_values, &c->values, v).owner : NULL;
        const as_companion_owner *b = t < c->traces.count ? &AS_AT(as_companion_trace, &c->traces, t).owner : NULL;
        int order = !a ? 1 : !b ? -1 : compare_owners(a, b);
        assay_id leaf = add_leaf(c->ds, places, order <= 0 ? a : b);
        if (leaf == ASSAY_NONE) return false;
        if (order <= 0) of_values[v++] = leaf;
        if (order >= 0) of_traces[t++] = leaf;
    }
    return true;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Nodes and contexts, each by the other; a context that several nodes claim is the first one's. */
static bool keep_contexts(as_hpc_companions *c, const as_hpc_companions_meaning *meaning) {
    as_dataset *ds = c->ds;
    c->n_contexts = (uint32_t)(meaning->n_contexts < UINT32_MAX ? meaning->n_contexts : UINT32_MAX);
    c->n_dataset_contexts = (uint32_t)AS_COUNT(ds, contexts);
    c->contexts = as_arena_array(&ds->arena, c->n_contexts, sizeof *c->contexts);
    c->nodes = as_arena_array(&ds->arena, c->n_dataset_contexts, sizeof *c->nodes);
    if (!c->contexts || !c->nodes) return false;
    for (uint32_t node = 0; node < c->n_contexts; node++) {
        assay_id context = node ? meaning->contexts[node] : ASSAY_NONE;
        bool is_free = context < c->n_dataset_contexts && !c->nodes[context];
        c->contexts[node] = is_free ? context : ASSAY_NONE;
        if (is_free) c->nodes[context] = node;
    }
    if (meaning->trace_contexts) {
        as_map_free(&c->trace_contexts);
        c->trace_contexts = *meaning->trace_contexts;
        as_map_init(meaning->trace_contexts, meaning->trace_contexts->budget);
    }
    return true;
}

assay_status as_hpc_companions_attach(as_reader *reader, as_hpc_companions *companions,
                                      const as_hpc_companions_meaning *meaning) {
    as_dataset *ds = reader->dataset;
    as_hpc_companions *c = companions;
    as_run run = AS_RUN_INIT;
    if (!keep_contexts(c, meaning) || (!AS_COUNT(ds, runs) && as_add_run(ds, &run) == ASSAY_NONE))
        return as_reader_memory(reader);
    if (c->values.count) qsort(c->values.data, c->values.count, sizeof(as_companion_values), compare_values);
    if (c->traces.count) qsort(c->traces.data, c->traces.count, sizeof(as_companion_trace), compare_traces);
    assay_id *columns = as_arena_array(&ds->arena, c->values.count, sizeof *columns),
             *locations = as_arena_array(&ds->arena, c->traces.count, sizeof *locations);
    as_hpc_places places = {0};
    bool fine = columns && locations && add_leaves(c, &places, columns, locations);
    as_hpc_places_free(&places);
    if (!fine) return as_reader_memory(reader);
    if (c->values.count) AS_TRY(attach_values(reader, c, meaning, columns));
    return attach_traces(reader, c, meaning, locations);
}
