/* Statistics over all threads, as profile 0 has them. */
#include <stdlib.h>

#include "formats/hpctoolkit/computed.h"
#include "formats/hpctoolkit/private.h"

typedef struct profile_0 {
    as_summary_source source;
    as_hpc_database *db;
    as_str *names; /* of db->statistics */
    const as_hpc_computed *computed;
    size_t n_computed;
    /* While it is loaded */
    as_hpc_computer *computer; /* NULL: nothing is computed */
    as_vec stored;             /* as_hpc_stored */
} profile_0;

static int compare_statistics(const void *a, const void *b) {
    const as_hpc_statistic *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->metric > y->metric) - (x->metric < y->metric);
}

/* The first statistic of an id, or n_statistics. */
static size_t find_statistic(const as_hpc_database *db, uint16_t id) {
    size_t low = 0, high = db->n_statistics;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (db->statistics[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sorts the statistics. One value is that of one statistic: where many claim to be it, only the first few are kept. */
static size_t sort_statistics(as_hpc_statistic *statistics, size_t n) {
    enum { MOST_OF_ONE_ID = 4 };
    size_t kept = 0;
    qsort(statistics, n, sizeof *statistics, compare_statistics);
    for (size_t i = 0; i < n; i++) {
        if (kept >= MOST_OF_ONE_ID && statistics[kept - MOST_OF_ONE_ID].id == statistics[i].id) continue;
        statistics[kept++] = statistics[i];
    }
    return kept;
}

static int compare_summaries(const void *a, const void *b) {
    const as_summary *x = a, *y = b;
    if (x->metric != y->metric) return x->metric < y->metric ? -1 : 1;
    return (x->statistic > y->statistic) - (x->statistic < y->statistic);
}

/* Adds what entry k of the index has. */
static bool add_context(profile_0 *source, as_dataset *ds, assay_id context, uint32_t k) {
    const as_hpc_database *db = source->db;
    const as_hpc_profile *profile = &db->profiles[0];
    const as_hpc_file *file = &db->profile;
    unsigned value_at = db->form == AS_HPC_4 ? 2 : 0, id_at = db->form == AS_HPC_4 ? 0 : 8;
    uint64_t start = as_hpc_index_start(file, profile->index, k, 4);
    uint64_t end = as_hpc_index_end(file, profile->index, k, profile->n_contexts, 4, profile->n_values);
    size_t first = ds->summaries.count;
    source->stored.count = 0;
    for (uint64_t i = start; i < end; i++) {
        const unsigned char *at = file->data + profile->values + i * AS_HPC_PROFILE_VALUE;
        uint16_t id = as_hpc_load_u16(at + id_at, file->swap);
        double value = as_hpc_load_f64(at + value_at, file->swap);
        as_hpc_stored stored = {.id = id, .value = value};
        if (source->computer && !as_vec_append(&source->stored, &stored, 1)) return false;
        for (size_t s = find_statistic(db, id); s < db->n_statistics && db->statistics[s].id == id; s++) {
            as_summary summary = {.metric = db->statistics[s].metric,
                                  .context = context,
                                  .statistic = source->names[s],
                                  .value = as_cell_real(value)};
            if (!as_add_summary(ds, &summary)) return false;
        }
    }
    if (source->computer && source->stored.count &&
        !as_hpc_compute(source->computer, ds, context, source->stored.data, source->stored.count))
        return false;
    size_t n = ds->summaries.count - first;
    if (n > 1) qsort(&AS_AT(as_summary, &ds->summaries, first), n, sizeof(as_summary), compare_summaries);
    return true;
}

/* The entry of a context in the index of profile 0, or n_contexts. */
static uint32_t find_entry(const as_hpc_database *db, uint32_t id) {
    const as_hpc_profile *profile = &db->profiles[0];
    uint32_t low = 0, high = profile->n_contexts;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (as_hpc_u32(&db->profile, profile->index + (uint64_t)middle * AS_HPC_CONTEXT_ENTRY) < id)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < profile->n_contexts &&
                    as_hpc_u32(&db->profile, profile->index + (uint64_t)low * AS_HPC_CONTEXT_ENTRY) == id;
    return is_there ? low : profile->n_contexts;
}

static bool add_contexts(profile_0 *summary, as_dataset *ds) {
    const as_hpc_database *db = summary->db;
    for (assay_id context = 0; context < db->n_dataset_contexts; context++) {
        if (db->context_ids[context] == UINT32_MAX) continue;
        uint32_t k = find_entry(db, db->context_ids[context]);
        if (k < db->profiles[0].n_contexts && !add_context(summary, ds, context, k)) return false;
    }
    return true;
}

static assay_status load(as_summary_source *source, as_dataset *ds, assay_error *error) {
    profile_0 *summary = (profile_0 *)source;
    AS_TRY(as_hpc_check_profile(summary->db, 0, error));
    as_vec_init(&summary->stored, sizeof(as_hpc_stored), as_ds_budget(ds));
    if (summary->n_computed) summary->computer = as_hpc_computer_new(summary->computed, summary->n_computed);
    bool fine = (!summary->n_computed || summary->computer) && add_contexts(summary, ds);
    as_hpc_computer_free(summary->computer);
    summary->computer = NULL;
    as_vec_free(&summary->stored);
    return fine ? ASSAY_OK : as_fail_memory(error, summary->db->profile.path);
}

assay_status as_hpc_attach_summary(as_reader *reader, as_hpc_database *db, const as_hpc_meaning *meaning) {
    as_dataset *ds = db->ds;
    if (!meaning->n_statistics || !db->n_profiles || !db->profiles[0].is_summary) return ASSAY_OK;
    profile_0 *summary = as_arena_alloc(&ds->arena, sizeof *summary);
    db->n_statistics = meaning->n_statistics;
    db->statistics = as_arena_array(&ds->arena, db->n_statistics, sizeof *db->statistics);
    if (!summary || !db->statistics) return as_reader_memory(reader);
    summary->names = as_arena_array(&ds->arena, db->n_statistics, sizeof *summary->names);
    if (!summary->names) return as_reader_memory(reader);
    memcpy(db->statistics, meaning->statistics, db->n_statistics * sizeof *db->statistics);
    db->n_statistics = sort_statistics(db->statistics, db->n_statistics);
    for (size_t i = 0; i < db->n_statistics; i++) {
        summary->names[i] = as_ds_intern_text(ds, db->statistics[i].name);
        if (summary->names[i] == AS_NO_STR) return as_reader_memory(reader);
    }
    summary->computed = meaning->computed;
    summary->n_computed = meaning->n_computed;
    summary->source.load = load;
    summary->db = db;
    ds->summary_source = &summary->source;
    return ASSAY_OK;
}
