/* Values of a context over all profiles, from cct.db, and of a profile over all contexts, from profile.db. */
#include "dataset/sparse.h"
#include "formats/hpctoolkit/private.h"

#define INLINE static inline __attribute__((always_inline))

/* One metric's values in all profiles. */
typedef struct metric_source {
    as_profile_source source;
    as_hpc_database *db;
    uint16_t id;
} metric_source;

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* n values of cct.db, with the columns of their profiles. False where those do not ascend, or are none. */
INLINE bool decode_run(const as_hpc_database *db, const unsigned char *at, size_t n, bool swap, unsigned value_at,
                       unsigned profile_at, as_sparse_line *out) {
    const uint32_t *columns = db->columns, n_profiles = db->n_profiles;
    uint32_t *out_at = out->at, count = 0;
    double *out_values = out->values;
    int64_t last = -1;
    bool is_fine = true;
    for (size_t i = 0; i < n; i++, at += AS_HPC_CONTEXT_VALUE) {
        uint32_t profile = as_hpc_load_u32(at + profile_at, swap);
        uint32_t column = profile < n_profiles ? columns[profile] : UINT32_MAX;
        double value = as_hpc_load_f64(at + value_at, swap);
        is_fine &= (int64_t)column > last && column != UINT32_MAX;
        last = column;
        out_at[count] = column;
        out_values[count] = value;
        count += value != 0;
    }
    out->n = count;
    return is_fine;
}

/* The same where a profile may come twice: the last value counts. */
static bool decode_repeats(const as_hpc_database *db, const unsigned char *at, size_t n, as_sparse_line *out) {
    unsigned value_at = db->form == AS_HPC_4 ? 4 : 0, profile_at = db->form == AS_HPC_4 ? 0 : 8;
    int64_t last = -1;
    out->n = 0;
    for (size_t i = 0; i < n; i++, at += AS_HPC_CONTEXT_VALUE) {
        uint32_t profile = as_hpc_load_u32(at + profile_at, db->cct.swap);
        uint32_t column = profile < db->n_profiles ? db->columns[profile] : UINT32_MAX;
        double value = as_hpc_load_f64(at + value_at, db->cct.swap);
        if (column == UINT32_MAX || (int64_t)column < last) return false;
        last = column;
        if (value == 0) continue;
        if (!out->n || out->at[out->n - 1] != column) out->n++;
        out->at[out->n - 1] = column;
        out->values[out->n - 1] = value;
    }
    return true;
}

static bool decode(const as_hpc_database *db, const unsigned char *at, size_t n, as_sparse_line *out) {
    bool swap = db->cct.swap, is_fine;
    if (db->form == AS_HPC_4)
        is_fine = decode_run(db, at, n, swap, 4, 0, out);
    else
        is_fine = swap ? decode_run(db, at, n, true, 0, 8, out) : decode_run(db, at, n, false, 0, 8, out);
    return is_fine || decode_repeats(db, at, n, out);
}

/* Of few metrics all are counted that come before one: nobody can guess which way a search goes. */
enum { FEW_METRICS = 16 };

/* The entry of a metric in the index of a block, or n_metrics. */
INLINE uint32_t find_metric(const as_hpc_file *file, const as_hpc_block *block, uint16_t metric, bool swap) {
    const unsigned char *index = file->data + block->index;
    uint32_t low = 0, n = block->n_metrics, high = n > FEW_METRICS ? n : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (as_hpc_load_u16(index + (size_t)middle * AS_HPC_METRIC_ENTRY, swap) < metric)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t i = 0; n <= FEW_METRICS && i < n; i++)
        low += as_hpc_load_u16(index + (size_t)i * AS_HPC_METRIC_ENTRY, swap) < metric;
    return low < n && as_hpc_load_u16(index + (size_t)low * AS_HPC_METRIC_ENTRY, swap) == metric ? low : n;
}

/* The index of a block is checked when it is first used. */
static assay_status open_block(const as_hpc_database *db, uint32_t context, as_hpc_block *block, assay_error *error) {
    AS_TRY(as_hpc_find_block(db, context, block, error));
    if (__atomic_load_n(&db->checked[context], __ATOMIC_RELAXED)) return ASSAY_OK;
    AS_TRY(as_hpc_check_block(db, context, block, error));
    __atomic_store_n(&db->checked[context], 1, __ATOMIC_RELAXED);
    return ASSAY_OK;
}

static assay_status read_from_cct(const as_hpc_database *db, uint32_t context, uint16_t metric, as_sparse_line *out,
                                  assay_error *error) {
    const as_hpc_file *file = &db->cct;
    as_hpc_block block;
    AS_TRY(open_block(db, context, &block, error));
    uint32_t i = find_metric(file, &block, metric, file->swap);
    if (i == block.n_metrics) return ASSAY_OK;
    uint64_t start = as_hpc_index_start(file, block.index, i, 2);
    uint64_t end = as_hpc_index_end(file, block.index, i, block.n_metrics, 2, block.n_values);
    uint64_t at = block.values + start * AS_HPC_CONTEXT_VALUE;
    if (start > end || end > block.n_values || end - start > UINT32_MAX)
        return as_fail(error, ASSAY_E_FORMAT, as_place_offset(file->path, block.index), "cct-damaged",
                       "context %u has an impossible number of values", context);
    if (!as_sparse_line_reserve(out, (uint32_t)(end - start))) return as_fail_memory(error, file->path);
    if (decode(db, file->data + at, (size_t)(end - start), out)) return ASSAY_OK;
    return as_fail(error, ASSAY_E_FORMAT, as_place_offset(file->path, at), "cct-damaged",
                   "the profiles of context %u do not ascend, or are not in profile.db", context);
}

static assay_status read_from_transposed(as_hpc_database *db, uint32_t context, uint16_t metric, as_sparse_line *out,
                                         assay_error *error) {
    AS_TRY(as_hpc_transpose(db, error));
    const as_hpc_transposed *all = &db->transposed;
    uint64_t low = all->starts[context], end = all->starts[context + 1], high = end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (all->metrics[middle] < metric)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < end && all->metrics[high] == metric;) high++;
    uint64_t most = high - low < db->n_columns ? high - low : db->n_columns;
    if (most && !as_sparse_line_reserve(out, (uint32_t)most)) return as_fail_memory(error, db->profile.path);
    for (uint64_t i = low; i < high; i++) {
        if (i + 1 < high && all->columns[i + 1] == all->columns[i]) continue; /* twice: the last counts */
        out->at[out->n] = all->columns[i];
        out->values[out->n++] = all->values[i];
    }
    return ASSAY_OK;
}

static assay_status read_row(const as_profile_source *source, const as_profile *profile, assay_id context,
                             as_sparse_line *out, assay_error *error) {
    const metric_source *metric = (const metric_source *)source;
    as_hpc_database *db = metric->db;
    (void)profile;
    out->n = 0;
    uint32_t id = context < db->n_dataset_contexts ? db->context_ids[context] : UINT32_MAX;
    if (id >= db->context_limit) return ASSAY_OK;
    return db->has_cct ? read_from_cct(db, id, metric->id, out, error)
                       : read_from_transposed(db, id, metric->id, out, error);
}

/* Entries say where the blocks of contexts are: later ones are asked for before them. */
static void fetch_row(const as_profile_source *source, assay_id soon, assay_id later) {
    const as_hpc_database *db = ((const metric_source *)source)->db;
    if (!db->has_cct) return;
    uint32_t id = later < db->n_dataset_contexts ? db->context_ids[later] : UINT32_MAX;
    if (id < db->context_limit) {
        __builtin_prefetch(db->cct.data + db->cct_entries + (uint64_t)id * db->cct_entry);
        __builtin_prefetch(&db->checked[id]);
    }
    as_hpc_block block;
    id = soon < db->n_dataset_contexts ? db->context_ids[soon] : UINT32_MAX;
    if (id >= db->context_limit || !as_hpc_load_block(db, id, db->form == AS_HPC_4, db->cct.swap, &block)) return;
    __builtin_prefetch(db->cct.data + block.index);
    __builtin_prefetch(db->cct.data + block.values);
}

/* ---- sums of many rows ------------------------------------------------------------------------------------------- */

enum { ROWS_AT_ONCE = 32 };

/* Values of one metric. */
typedef struct run_of_values {
    const unsigned char *at;
    uint64_t n;
} run_of_values;

/* The id of a context, which need not be looked for where contexts come in the order of ids. */
INLINE uint32_t id_of(const as_hpc_database *db, const as_row_list *rows, uint32_t i) {
    assay_id context = rows->contexts[i];
    if (context >= db->n_dataset_contexts) return UINT32_MAX;
    return rows->first == SIZE_MAX ? db->context_ids[context] : (uint32_t)rows->first + i;
}

/* The blocks of some contexts, as far as they are in order. Returns how many that are. Those without values have no
 * metrics. */
INLINE uint32_t open_blocks(const as_hpc_database *db, const as_row_list *rows, uint32_t at, uint32_t n, bool is_4,
                            bool swap, as_hpc_block *out) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = id_of(db, rows, at + i);
        out[i] = (as_hpc_block){0};
        if (id >= db->context_limit) continue;
        if (!__atomic_load_n(&db->checked[id], __ATOMIC_RELAXED) || !as_hpc_load_block(db, id, is_4, swap, &out[i]))
            return i;
        __builtin_prefetch(db->cct.data + out[i].index);
        __builtin_prefetch(db->cct.data + out[i].values);
    }
    return n;
}

/* The entries of two metrics in the index of a block, or where they would be. */
INLINE void find_two(const as_hpc_file *file, const as_hpc_block *block, const uint16_t *metrics, bool swap,
                     uint32_t *out) {
    const unsigned char *entry = file->data + block->index;
    out[0] = out[1] = 0;
    for (uint32_t i = 0; i < block->n_metrics && block->n_metrics <= FEW_METRICS; i++, entry += AS_HPC_METRIC_ENTRY) {
        uint16_t metric = as_hpc_load_u16(entry, swap);
        out[0] += metric < metrics[0];
        out[1] += metric < metrics[1];
    }
    for (int k = 0; k < 2 && block->n_metrics > FEW_METRICS; k++) out[k] = find_metric(file, block, metrics[k], swap);
}

/* The values of entry i of the index, if it is the metric's. False where the index is damaged. */
INLINE bool find_run(const as_hpc_database *db, const as_hpc_block *block, uint32_t i, uint16_t metric, bool swap,
                     run_of_values *out) {
    const unsigned char *entry = db->cct.data + block->index + (size_t)i * AS_HPC_METRIC_ENTRY;
    *out = (run_of_values){0};
    if (i == block->n_metrics || as_hpc_load_u16(entry, swap) != metric) return true;
    uint64_t start = as_hpc_load_u64(entry + 2, swap);
    uint64_t end = i + 1 < block->n_metrics ? as_hpc_load_u64(entry + AS_HPC_METRIC_ENTRY + 2, swap) : block->n_values;
    if (start > end || end > block->n_values) return false;
    *out = (run_of_values){db->cct.data + block->values + start * AS_HPC_CONTEXT_VALUE, end - start};
    __builtin_prefetch(out->at);
    return true;
}

/* Numbers of all lanes, two at a time: so they stay in registers. */
typedef double lane_pair __attribute__((vector_size(2 * sizeof(double))));
typedef uint64_t lane_bits __attribute__((vector_size(2 * sizeof(uint64_t))));

/* What decode_run() gives, added up. False where profiles do not ascend, or are none. */
INLINE bool sum_run(const as_hpc_database *db, run_of_values run, const uint8_t *lane_of, bool is_4, bool swap,
                    double *sum, bool *has) {
    static const lane_bits lane_masks[AS_ROW_LANES + 1][2] = {{{UINT64_MAX, 0}, {0, 0}},
                                                              {{0, UINT64_MAX}, {0, 0}},
                                                              {{0, 0}, {UINT64_MAX, 0}},
                                                              {{0, 0}, {0, UINT64_MAX}},
                                                              {{0, 0}, {0, 0}}};
    lane_pair low = {0}, high = {0};
    uint64_t any = 0;
    uint32_t before = 0;
    bool is_fine = true;
    for (const unsigned char *at = run.at; run.n > 0; run.n--, at += AS_HPC_CONTEXT_VALUE) {
        uint32_t profile = as_hpc_load_u32(at + (is_4 ? 0 : 8), swap);
        uint32_t column = profile < db->n_profiles ? db->columns[profile] : UINT32_MAX;
        uint64_t bits = as_hpc_load_u64(at + (is_4 ? 4 : 0), swap);
        is_fine &= column + 1 > before; /* that of none is 0 */
        before = column + 1;
        uint8_t lane = lane_of[column != UINT32_MAX ? column : 0];
        lane_bits value = {bits, bits};
        low += (lane_pair)(value & lane_masks[lane][0]);
        high += (lane_pair)(value & lane_masks[lane][1]);
        any |= lane == AS_NO_LANE ? 0 : bits << 1; /* without its sign a zero is none */
    }
    *sum = as_lanes_sum((const double[AS_ROW_LANES]){low[0], low[1], high[0], high[1]});
    *has = any != 0;
    return is_fine;
}

/* In three steps, each of which asks for the memory that the next one needs. */
INLINE uint32_t sum_batch(const as_hpc_database *db, const uint16_t *metrics, int n_metrics, const as_row_list *rows,
                          uint32_t first, uint32_t n, bool is_4, bool swap, const as_row_sums *out) {
    as_hpc_block blocks[ROWS_AT_ONCE];
    run_of_values runs[2][ROWS_AT_ONCE];
    n = open_blocks(db, rows, first, n, is_4, swap, blocks);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t places[2];
        assay_id to = rows->contexts[first + i] - out->first;
        for (int k = 0; k < n_metrics && rows->contexts[first + i] != ASSAY_NONE; k++) {
            __builtin_prefetch(&out->sums[k][to], 1);
            __builtin_prefetch(&out->has[k][to], 1);
        }
        find_two(&db->cct, &blocks[i], metrics, swap, places);
        for (int k = 0; k < n_metrics; k++) {
            if (!find_run(db, &blocks[i], places[k], metrics[k], swap, &runs[k][i])) n = i;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        assay_id context = rows->contexts[first + i], at = context - out->first;
        for (int k = 0; k < n_metrics && context != ASSAY_NONE; k++) {
            if (!sum_run(db, runs[k][i], out->lane_of, is_4, swap, &out->sums[k][at], &out->has[k][at])) return i;
        }
    }
    return n;
}

INLINE uint32_t sum_all(const as_hpc_database *db, const uint16_t *metrics, int n_metrics, const as_row_list *rows,
                        bool is_4, bool swap, const as_row_sums *out) {
    for (uint32_t at = 0; at < rows->n; at += ROWS_AT_ONCE) {
        uint32_t wanted = rows->n - at < ROWS_AT_ONCE ? rows->n - at : ROWS_AT_ONCE;
        uint32_t done = sum_batch(db, metrics, n_metrics, rows, at, wanted, is_4, swap, out);
        if (done < wanted) return at + done;
    }
    return rows->n;
}

static uint32_t sum_rows(const as_profile_source *source, const as_profile_source *other, const as_row_list *rows,
                         const as_row_sums *out) {
    const metric_source *metric = (const metric_source *)source, *second = (const metric_source *)other;
    const as_hpc_database *db = metric->db;
    if (!db->has_cct || (other && (other->sum_rows != sum_rows || second->db != db))) return 0;
    uint16_t metrics[2] = {metric->id, other ? second->id : 0};
    int n_metrics = other ? 2 : 1;
    bool swap = db->cct.swap;
    if (db->form == AS_HPC_4) return sum_all(db, metrics, n_metrics, rows, true, swap, out);
    return swap ? sum_all(db, metrics, n_metrics, rows, false, true, out)
                : sum_all(db, metrics, n_metrics, rows, false, false, out);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* The last value of a metric among n of profile.db that is not 0, which is none. Metrics come in no order. */
INLINE bool find_value(const unsigned char *at, uint64_t n, bool swap, unsigned value_at, unsigned metric_at,
                       uint16_t metric, double *value) {
    bool found = false;
    for (uint64_t i = 0; i < n; i++, at += AS_HPC_PROFILE_VALUE) {
        if (as_hpc_load_u16(at + metric_at, swap) != metric) continue;
        double here = as_hpc_load_f64(at + value_at, swap);
        if (here == 0) continue;
        *value = here;
        found = true;
    }
    return found;
}

/* What a profile has of a metric. The contexts are those of the dataset. False where its index is damaged. */
INLINE bool decode_column(const as_hpc_database *db, const as_hpc_profile *profile, uint16_t metric, bool swap,
                          unsigned value_at, unsigned metric_at, as_sparse_line *out) {
    const unsigned char *entry = db->profile.data + profile->index, *values = db->profile.data + profile->values;
    uint64_t start = profile->n_contexts ? as_hpc_load_u64(entry + 4, swap) : 0;
    int64_t last = -1;
    for (uint32_t i = 0; i < profile->n_contexts; i++, entry += AS_HPC_CONTEXT_ENTRY) {
        uint32_t context = as_hpc_load_u32(entry, swap);
        uint64_t end =
            i + 1 < profile->n_contexts ? as_hpc_load_u64(entry + AS_HPC_CONTEXT_ENTRY + 4, swap) : profile->n_values;
        double value = 0;
        if ((int64_t)context <= last || context >= db->context_limit || end < start || end > profile->n_values)
            return false;
        bool found =
            find_value(values + start * AS_HPC_PROFILE_VALUE, end - start, swap, value_at, metric_at, metric, &value);
        last = context;
        start = end;
        assay_id target = context < db->n_contexts ? db->contexts[context] : ASSAY_NONE;
        if (!found || target == ASSAY_NONE) continue;
        out->at[out->n] = target;
        out->values[out->n++] = value;
    }
    return true;
}

static assay_status read_column(const as_profile_source *source, const as_profile *profile, uint32_t column,
                                as_sparse_line *out, assay_error *error) {
    const metric_source *metric = (const metric_source *)source;
    const as_hpc_database *db = metric->db;
    (void)profile;
    out->n = 0;
    if (column >= db->n_columns) return ASSAY_OK;
    uint32_t number = db->profile_of_column[column];
    const as_hpc_profile *found = &db->profiles[number];
    if (!as_sparse_line_reserve(out, found->n_contexts)) return as_fail_memory(error, db->profile.path);
    bool swap = db->profile.swap, is_fine;
    if (db->form == AS_HPC_4)
        is_fine = decode_column(db, found, metric->id, swap, 2, 0, out);
    else
        is_fine = swap ? decode_column(db, found, metric->id, true, 0, 8, out)
                       : decode_column(db, found, metric->id, false, 0, 8, out);
    if (is_fine) return ASSAY_OK;
    AS_TRY(as_hpc_check_profile(db, number, error));
    return as_fail(error, ASSAY_E_FORMAT, as_place_offset(db->profile.path, found->index), "index-damaged",
                   "profile %u: its contexts changed while they were read", number);
}

/* ---- attaching --------------------------------------------------------------------------------------------------- */

/* Which context each id stands for, and back. */
static bool copy_contexts(as_hpc_database *db, const as_hpc_meaning *meaning) {
    as_dataset *ds = db->ds;
    size_t n = meaning->n_contexts < db->context_limit ? meaning->n_contexts : db->context_limit;
    db->n_contexts = (uint32_t)n;
    db->n_dataset_contexts = (uint32_t)AS_COUNT(ds, contexts);
    db->contexts = as_arena_array(&ds->arena, n, sizeof *db->contexts);
    db->context_ids = as_arena_array(&ds->arena, db->n_dataset_contexts, sizeof *db->context_ids);
    if (!db->contexts || !db->context_ids) return false;
    memset(db->context_ids, 0xff, db->n_dataset_contexts * sizeof *db->context_ids);
    for (uint32_t id = 0; id < n; id++) {
        assay_id context = meaning->contexts[id];
        bool is_new = context < db->n_dataset_contexts && db->context_ids[context] == UINT32_MAX;
        db->contexts[id] = is_new ? context : ASSAY_NONE;
        if (is_new) db->context_ids[context] = id;
    }
    return true;
}

static assay_status attach_values(as_reader *reader, as_hpc_database *db, const as_hpc_meaning *meaning, assay_id run,
                                  const assay_id *columns) {
    as_dataset *ds = db->ds;
    metric_source *sources = as_arena_array(&ds->arena, meaning->n_metrics, sizeof *sources);
    if (!sources || !copy_contexts(db, meaning)) return as_reader_memory(reader);
    for (size_t i = 0; i < meaning->n_metrics; i++) {
        sources[i] = (metric_source){.source = {.load = as_sparse_load,
                                                .read_row = read_row,
                                                .fetch_row = fetch_row,
                                                .sum_rows = sum_rows,
                                                .order = db->contexts,
                                                .n_order = db->n_contexts,
                                                .read_column = read_column,
                                                .mismatch = "cct-transpose"},
                                     .db = db,
                                     .id = meaning->metrics[i].id};
        as_profile profile = {.metric = meaning->metrics[i].metric,
                              .run = run,
                              .type = as_value_type_of(AS_DTYPE_DOUBLE, 1),
                              .n_rows = db->n_dataset_contexts,
                              .n_columns = db->n_columns,
                              .columns = columns,
                              .source = &sources[i].source};
        if (!as_add_profile(ds, &profile)) return as_reader_memory(reader);
    }
    ds->n_sparse_values += db->n_values;
    return ASSAY_OK;
}

assay_status as_hpc_attach(as_reader *reader, as_hpc_database *db, const as_hpc_meaning *meaning) {
    as_dataset *ds = db->ds;
    const assay_id *columns;
    assay_id run_id = 0;
    if (!AS_COUNT(ds, runs)) {
        as_run run = AS_RUN_INIT;
        run_id = as_add_run(ds, &run);
        if (run_id == ASSAY_NONE) return as_reader_memory(reader);
    }
    AS_TRY(as_hpc_attach_places(reader, db, meaning, &columns));
    AS_TRY(attach_values(reader, db, meaning, run_id, columns));
    AS_TRY(as_hpc_attach_summary(reader, db, meaning));
    return as_hpc_attach_traces(reader, db, meaning, run_id, columns);
}
