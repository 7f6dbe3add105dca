/* cct.db made in memory from profile.db, for databases that have none: the values of each context, by metric and
 * profile. */
#include <stdlib.h>

#include "formats/hpctoolkit/private.h"

static void free_arrays(as_hpc_transposed *all) {
    free(all->starts);
    free(all->metrics);
    free(all->columns);
    free(all->values);
}

void as_hpc_transposed_free(as_hpc_database *db) {
    free_arrays(&db->transposed);
    as_budget_give(&db->ds->budget, db->transposed.bytes);
    db->transposed = (as_hpc_transposed){0};
}

static assay_status make_arrays(as_hpc_database *db, as_hpc_transposed *all, assay_error *error) {
    size_t n_starts = (size_t)db->context_limit + 2, n = (size_t)db->n_values;
    uint64_t bytes =
        n_starts * sizeof *all->starts + n * (sizeof *all->metrics + sizeof *all->columns + sizeof *all->values);
    if (!as_budget_take(&db->ds->budget, bytes)) return as_fail_memory(error, db->profile.path);
    all->bytes = bytes;
    all->starts = calloc(n_starts, sizeof *all->starts);
    all->metrics = malloc((n ? n : 1) * sizeof *all->metrics);
    all->columns = malloc((n ? n : 1) * sizeof *all->columns);
    all->values = malloc((n ? n : 1) * sizeof *all->values);
    bool is_fine = all->starts && all->metrics && all->columns && all->values;
    return is_fine ? ASSAY_OK : as_fail_memory(error, db->profile.path);
}

/* The values of one profile: counted in starts[context + 2], or put where starts[context + 1] says, which moves on. */
static void walk_profile(const as_hpc_database *db, as_hpc_transposed *all, uint32_t number, bool is_counting) {
    const as_hpc_profile *profile = &db->profiles[number];
    const as_hpc_file *file = &db->profile;
    unsigned value_at = db->form == AS_HPC_4 ? 2 : 0, metric_at = db->form == AS_HPC_4 ? 0 : 8;
    for (uint32_t k = 0; k < profile->n_contexts; k++) {
        uint32_t context = as_hpc_u32(file, profile->index + (uint64_t)k * AS_HPC_CONTEXT_ENTRY);
        uint64_t start = as_hpc_index_start(file, profile->index, k, 4);
        uint64_t end = as_hpc_index_end(file, profile->index, k, profile->n_contexts, 4, profile->n_values);
        const unsigned char *at = file->data + profile->values + start * AS_HPC_PROFILE_VALUE;
        for (uint64_t i = start; i < end; i++, at += AS_HPC_PROFILE_VALUE) {
            double value = as_hpc_load_f64(at + value_at, file->swap);
            if (value == 0) continue;
            if (is_counting) {
                all->starts[context + 2]++;
                continue;
            }
            uint64_t place = all->starts[context + 1]++;
            all->metrics[place] = as_hpc_load_u16(at + metric_at, file->swap);
            all->columns[place] = db->columns[number];
            all->values[place] = value;
        }
    }
}

/* What sorting the values of one context needs. */
typedef struct sorter {
    uint64_t *places; /* for each metric: how many values, then where the next one goes */
    as_vec seen;      /* uint16_t: metrics of the context */
    as_vec metrics, columns, values;
} sorter;

static int compare_metrics(const void *a, const void *b) {
    uint16_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Counts the metrics of n values, and finds out where those of each begin. */
static bool place_metrics(sorter *s, const uint16_t *metrics, uint64_t n) {
    s->seen.count = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!s->places[metrics[i]]++ && !as_vec_append(&s->seen, &metrics[i], 1)) return false;
    }
    qsort(s->seen.data, s->seen.count, sizeof(uint16_t), compare_metrics);
    uint64_t next = 0;
    for (size_t i = 0; i < s->seen.count; i++) {
        uint64_t *place = &s->places[AS_AT(uint16_t, &s->seen, i)], count = *place;
        *place = next;
        next += count;
    }
    return true;
}

/* Puts one context's values, which are in the order of columns, in that of metrics; each metric's stay in order. */
static bool sort_context(sorter *s, as_hpc_transposed *all, uint64_t start, uint64_t n) {
    s->metrics.count = s->columns.count = s->values.count = 0;
    bool is_fine = as_vec_append(&s->metrics, all->metrics + start, (size_t)n) &&
                   as_vec_append(&s->columns, all->columns + start, (size_t)n) &&
                   as_vec_append(&s->values, all->values + start, (size_t)n) && place_metrics(s, s->metrics.data, n);
    for (uint64_t i = 0; i < n && is_fine; i++) {
        uint16_t metric = AS_AT(uint16_t, &s->metrics, i);
        uint64_t place = start + s->places[metric]++;
        all->metrics[place] = metric;
        all->columns[place] = AS_AT(uint32_t, &s->columns, i);
        all->values[place] = AS_AT(double, &s->values, i);
    }
    for (size_t i = 0; i < s->seen.count; i++) s->places[AS_AT(uint16_t, &s->seen, i)] = 0;
    return is_fine;
}

static bool sort_contexts(as_hpc_database *db, as_hpc_transposed *all) {
    as_budget *budget = &db->ds->budget;
    sorter s = {.places = calloc(1 << 16, sizeof *s.places)};
    as_vec_init(&s.seen, sizeof(uint16_t), budget);
    as_vec_init(&s.metrics, sizeof(uint16_t), budget);
    as_vec_init(&s.columns, sizeof(uint32_t), budget);
    as_vec_init(&s.values, sizeof(double), budget);
    bool is_fine = s.places != NULL;
    for (uint32_t context = 0; context < db->context_limit && is_fine; context++) {
        uint64_t start = all->starts[context], n = all->starts[context + 1] - start;
        if (n > 1) is_fine = sort_context(&s, all, start, n);
    }
    free(s.places);
    as_vec_free(&s.seen);
    as_vec_free(&s.metrics);
    as_vec_free(&s.columns);
    as_vec_free(&s.values);
    return is_fine;
}

static assay_status make_transposed(as_hpc_database *db, as_hpc_transposed *all, assay_error *error) {
    AS_TRY(make_arrays(db, all, error));
    for (uint32_t i = 0; i < db->n_profiles; i++) {
        if (db->profiles[i].is_summary) continue;
        AS_TRY(as_hpc_check_profile(db, i, error));
        walk_profile(db, all, i, true);
    }
    for (uint32_t context = 0; context < db->context_limit; context++)
        all->starts[context + 2] += all->starts[context + 1];
    for (uint32_t i = 0; i < db->n_profiles; i++) {
        if (!db->profiles[i].is_summary) walk_profile(db, all, i, false);
    }
    return sort_contexts(db, all) ? ASSAY_OK : as_fail_memory(error, db->profile.path);
}

assay_status as_hpc_transpose(as_hpc_database *db, assay_error *error) {
    if (__atomic_load_n(&db->is_transposed, __ATOMIC_ACQUIRE)) return ASSAY_OK;
    pthread_mutex_lock(&db->transposing);
    assay_status status = ASSAY_OK;
    if (!db->is_transposed) {
        status = make_transposed(db, &db->transposed, error);
        if (status == ASSAY_OK)
            __atomic_store_n(&db->is_transposed, true, __ATOMIC_RELEASE);
        else
            as_hpc_transposed_free(db);
    }
    pthread_mutex_unlock(&db->transposing);
    return status;
}
