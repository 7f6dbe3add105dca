/* cct.db: each context's values at all profiles. */
#include <stdlib.h>

#include "core/parallel.h"
#include "formats/hpctoolkit/write_bytes.h"

enum { CHUNK = 1024, MAX_WORKERS = 16 };

/* What is known of a context once its block is made. */
typedef struct block_info {
    uint64_t n_values, offset; /* offset: in the chunk, later in the file */
    uint64_t indices;          /* where its index of metrics begins, like offset */
    uint16_t n_metrics;
} block_info;

/* Some contexts, made by one thread. */
typedef struct chunk {
    const as_hpc_plan *plan;
    uint32_t first, n; /* ids */
    as_vec bytes, totals;
    block_info infos[CHUNK];
    as_hpc_counts *counts; /* of all that this worker did, for each profile */
    uint32_t *last;        /* the last context that each profile had anything at, + 1 */
    as_sparse_line line;
    as_vec indices; /* uint64_t: id << 48 | start */
    assay_status code;
    assay_error error;
} chunk;

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static bool put_row(chunk *c, uint32_t id) {
    const as_sparse_line *line = &c->line;
    bool is_2021 = c->plan->form == AS_HPC_2021;
    if (!as_vec_reserve(&c->bytes, (size_t)line->n * 12)) return false;
    as_hpc_bytes b = {.at = (unsigned char *)c->bytes.data + c->bytes.count, .big_endian = is_2021};
    for (uint32_t i = 0; i < line->n; i++) {
        uint32_t profile = line->at[i];
        if (is_2021) {
            as_hpc_put_f64(&b, line->values[i]);
            as_hpc_put_u32(&b, profile + 1);
        } else {
            as_hpc_put_u32(&b, profile + 1);
            as_hpc_put_f64(&b, line->values[i]);
        }
        as_hpc_counts *counts = &c->counts[profile];
        counts->values++;
        if (c->last[profile] != id + 1) {
            c->last[profile] = id + 1;
            counts->contexts++;
        }
    }
    c->bytes.count += (size_t)line->n * 12;
    return true;
}

static bool pad(chunk *c) {
    static const char zeros[8] = "";
    size_t size = c->bytes.count;
    return as_vec_append(&c->bytes, zeros, as_hpc_align(size) - size);
}

/* The index of metrics behind the values. */
static bool put_indices(chunk *c, block_info *info) {
    bool is_2021 = c->plan->form == AS_HPC_2021;
    size_t n = c->indices.count + is_2021;
    if (!is_2021 && !pad(c)) return false;
    info->indices = c->bytes.count;
    if (!as_vec_reserve(&c->bytes, n * 10)) return false;
    as_hpc_bytes b = {.at = (unsigned char *)c->bytes.data + c->bytes.count, .big_endian = is_2021};
    for (size_t i = 0; i < c->indices.count; i++) {
        uint64_t index = AS_AT(uint64_t, &c->indices, i);
        as_hpc_put_u16(&b, (uint16_t)(index >> 48));
        as_hpc_put_u64(&b, index & 0xffffffffffff);
    }
    if (is_2021) {
        as_hpc_put_u16(&b, AS_HPC_END_METRICS);
        as_hpc_put_u64(&b, info->n_values);
    }
    c->bytes.count += n * 10;
    return is_2021 || pad(c);
}

static assay_status make_block(chunk *c, uint32_t id, block_info *info) {
    const as_hpc_plan *plan = c->plan;
    uint32_t slot = plan->slot_of[id];
    *info = (block_info){.offset = c->bytes.count, .indices = c->bytes.count};
    if (slot == UINT32_MAX) return ASSAY_OK;
    c->indices.count = 0;
    for (size_t i = 0; i < plan->sides.count; i++) {
        const as_hpc_side *side = as_hpc_side_at(plan, i);
        uint64_t index = (uint64_t)side->id << 48 | info->n_values;
        AS_TRY(as_hpc_read_row(plan, side, slot, &c->line, &c->error));
        if (!c->line.n) continue;
        bool fine = put_row(c, id) && as_vec_append(&c->indices, &index, 1);
        if (!plan->has_totals || slot >= plan->n_contexts)
            fine = fine && as_hpc_add_totals(plan, side, id, &c->line, &c->totals);
        if (!fine) return as_fail_memory(&c->error, NULL);
        info->n_values += c->line.n;
    }
    info->n_metrics = (uint16_t)c->indices.count;
    if (!info->n_values) return ASSAY_OK;
    return put_indices(c, info) ? ASSAY_OK : as_fail_memory(&c->error, NULL);
}

static void make_chunk(void *user, size_t i) {
    chunk *c = (chunk *)user + i;
    c->bytes.count = c->totals.count = 0;
    c->code = ASSAY_OK;
    for (uint32_t k = 0; k < c->n && c->code == ASSAY_OK; k++) c->code = make_block(c, c->first + k, &c->infos[k]);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static uint64_t table_end(const as_hpc_plan *plan) {
    enum { ENTRIES_4 = 0x40 };
    return as_hpc_align(plan->form == AS_HPC_2021 ? AS_HPC_FIRST_SECTION + (uint64_t)22 * plan->n_ids
                                                  : ENTRIES_4 + (uint64_t)32 * plan->n_ids);
}

static void put_header(const as_hpc_plan *plan, unsigned char *table) {
    as_hpc_bytes b = {.at = table, .big_endian = plan->form == AS_HPC_2021};
    if (plan->form == AS_HPC_2021) {
        memcpy(b.at, "HPCPROF-cctdb___\1", 18);
        b.at += 18;
        as_hpc_put_u32(&b, plan->n_ids);
        as_hpc_put_u16(&b, 1);
        as_hpc_put_u64(&b, (uint64_t)22 * plan->n_ids);
        as_hpc_put_u64(&b, AS_HPC_FIRST_SECTION);
        return;
    }
    memcpy(b.at, "HPCTOOLKITctxt\4", 16);
    b.at += 16;
    as_hpc_put_u64(&b, 0x10 + (uint64_t)32 * plan->n_ids);
    as_hpc_put_u64(&b, 0x30);
    b.at = table + 0x30;
    as_hpc_put_u64(&b, 0x40);
    as_hpc_put_u32(&b, plan->n_ids);
    as_hpc_put_u8(&b, 32);
}

static void put_entry(const as_hpc_plan *plan, unsigned char *table, uint32_t id, const block_info *info) {
    bool is_2021 = plan->form == AS_HPC_2021;
    as_hpc_bytes b = {.at = table + (is_2021 ? AS_HPC_FIRST_SECTION + (size_t)22 * id : 0x40 + (size_t)32 * id),
                      .big_endian = is_2021};
    if (is_2021) {
        as_hpc_put_u32(&b, id);
        as_hpc_put_u64(&b, info->n_values);
        as_hpc_put_u16(&b, info->n_metrics);
        as_hpc_put_u64(&b, info->offset);
        return;
    }
    as_hpc_put_u64(&b, info->n_values);
    as_hpc_put_u64(&b, info->offset);
    as_hpc_put_u16(&b, info->n_metrics);
    b.at += 6;
    as_hpc_put_u64(&b, info->indices);
}

/* Puts a finished chunk behind what is written. */
static assay_status write_chunk(as_hpc_plan *plan, chunk *c, as_output *out, unsigned char *table,
                                uint8_t *has_values) {
    uint64_t offset = as_output_size(out);
    if (c->code != ASSAY_OK) {
        if (plan->error) *plan->error = c->error;
        return c->code;
    }
    for (uint32_t k = 0; k < c->n; k++) {
        block_info *info = &c->infos[k];
        info->offset += offset;
        info->indices += offset;
        put_entry(plan, table, c->first + k, info);
        if (info->n_values) has_values[(c->first + k) / 8] |= (uint8_t)(1 << (c->first + k) % 8);
    }
    as_output_write(out, c->bytes.data, c->bytes.count);
    return as_vec_append(&plan->totals, c->totals.data, c->totals.count) ? ASSAY_OK : as_fail_memory(plan->error, NULL);
}

static assay_status write_chunks(as_hpc_plan *plan, chunk *chunks, unsigned workers, as_output *out,
                                 unsigned char *table, uint8_t *has_values) {
    for (uint64_t id = 0; id < plan->n_ids;) {
        unsigned n = 0;
        for (; n < workers && id < plan->n_ids; n++) {
            uint64_t rest = plan->n_ids - id;
            chunks[n].first = (uint32_t)id;
            chunks[n].n = rest < CHUNK ? (uint32_t)rest : CHUNK;
            id += chunks[n].n;
        }
        as_parallel(n, workers, make_chunk, chunks);
        for (unsigned i = 0; i < n; i++) AS_TRY(write_chunk(plan, &chunks[i], out, table, has_values));
    }
    return ASSAY_OK;
}

/* False when memory is out; to be freed in every case. */
static bool init_chunks(const as_hpc_plan *plan, chunk *chunks, unsigned workers) {
    bool fine = true;
    for (unsigned i = 0; i < workers; i++) {
        chunk *c = &chunks[i];
        c->plan = plan;
        as_vec_init(&c->bytes, 1, NULL);
        as_vec_init(&c->totals, sizeof(as_hpc_total), NULL);
        as_vec_init(&c->indices, sizeof(uint64_t), NULL);
        c->counts = calloc(plan->profiles.count + 1, sizeof *c->counts);
        c->last = calloc(plan->profiles.count + 1, sizeof *c->last);
        fine = fine && c->counts && c->last;
    }
    return fine;
}

static void free_chunks(chunk *chunks, unsigned workers) {
    for (unsigned i = 0; i < workers; i++) {
        as_vec_free(&chunks[i].bytes);
        as_vec_free(&chunks[i].totals);
        as_vec_free(&chunks[i].indices);
        as_sparse_line_free(&chunks[i].line);
        free(chunks[i].counts);
        free(chunks[i].last);
    }
    free(chunks);
}

/* Workers have counted each for themselves. */
static void add_counts(const as_hpc_plan *plan, const chunk *chunks, unsigned workers, as_hpc_counts *counts) {
    for (unsigned i = 0; i < workers; i++) {
        for (size_t k = 0; k < plan->profiles.count; k++) {
            counts[k].values += chunks[i].counts[k].values;
            counts[k].contexts += chunks[i].counts[k].contexts;
        }
    }
}

static assay_status write_file(as_hpc_plan *plan, as_output *out, unsigned char *table, as_hpc_counts *counts,
                               uint8_t *has_values) {
    unsigned workers = plan->threads ? plan->threads : as_core_count();
    if (workers > MAX_WORKERS) workers = MAX_WORKERS;
    size_t size = table_end(plan);
    chunk *chunks = calloc(workers, sizeof *chunks);
    bool fine = chunks && init_chunks(plan, chunks, workers);
    put_header(plan, table);
    as_output_write(out, table, size);
    assay_status code =
        fine ? write_chunks(plan, chunks, workers, out, table, has_values) : as_fail_memory(plan->error, NULL);
    if (code == ASSAY_OK) {
        as_output_patch(out, 0, table, size);
        as_output_text(out, plan->form == AS_HPC_2021 ? "rtfBDTCC" : "__ctx.db");
        add_counts(plan, chunks, workers, counts);
    }
    if (chunks) free_chunks(chunks, workers);
    return code;
}

assay_status as_hpc_write_cct(as_hpc_plan *plan, as_output_directory *directory, as_hpc_counts *counts,
                              uint8_t *has_values) {
    as_output *out = NULL;
    AS_TRY(as_output_directory_file(directory, "cct.db", &out, plan->error));
    uint64_t size = table_end(plan);
    unsigned char *table = as_budget_take(as_ds_budget(plan->ds), size) ? calloc(1, size) : NULL;
    assay_status code = table ? write_file(plan, out, table, counts, has_values) : as_fail_memory(plan->error, NULL);
    if (table) as_budget_give(as_ds_budget(plan->ds), size);
    free(table);
    if (code == ASSAY_OK) return as_output_commit(out, plan->error);
    as_output_discard(out);
    return code;
}
