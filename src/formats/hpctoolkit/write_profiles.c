/* profile.db: each profile's values at all contexts, the summary's behind those of threads. */
#include <stdlib.h>

#include "core/parallel.h"
#include "core/search.h"
#include "formats/hpctoolkit/write_bytes.h"

enum { GROUP_BYTES = 48 << 20, LEAST_BYTES = 1 << 20, MAX_WORKERS = 16 };

/* Where things lie in the file. */
typedef struct layout {
    uint64_t infos, n_profiles; /* the summary included */
    uint64_t tuples, tuples_size, blocks;
    uint64_t *offsets; /* of each block, the summary's first, and the end */
} layout;

/* Some profiles that follow each other, made by one thread from all rows. */
typedef struct group {
    const as_hpc_plan *plan;
    const as_hpc_counts *counts;
    const uint8_t *has_values;
    const uint64_t *offsets;
    uint32_t first, end; /* profiles from 0 */
    unsigned char *bytes;
    assay_status code;
    assay_error error;
} group;

/* Where the next value and the next context of a profile go. */
typedef struct cursor {
    unsigned char *values, *contexts;
    uint64_t n;
    uint32_t last; /* id + 1 */
} cursor;

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void put_value(bool is_2021, cursor *to, uint16_t metric, double value) {
    as_hpc_bytes b = {.at = to->values, .big_endian = is_2021};
    if (is_2021) {
        as_hpc_put_f64(&b, value);
        as_hpc_put_u16(&b, metric);
    } else {
        as_hpc_put_u16(&b, metric);
        as_hpc_put_f64(&b, value);
    }
    to->values = b.at;
}

static void put_context(bool is_2021, cursor *to, uint32_t id, uint64_t start) {
    as_hpc_bytes b = {.at = to->contexts, .big_endian = is_2021};
    as_hpc_put_u32(&b, id);
    as_hpc_put_u64(&b, start);
    to->contexts = b.at;
}

static inline void put_one(bool is_2021, cursor *to, uint32_t context, uint16_t metric, double value) {
    if (to->last != context + 1) {
        to->last = context + 1;
        put_context(is_2021, to, context, to->n);
    }
    put_value(is_2021, to, metric, value);
    to->n++;
}

static cursor cursor_at(as_hpc_form form, unsigned char *block, uint64_t n_values) {
    uint64_t size = 10 * n_values;
    return (cursor){.values = block, .contexts = block + (form == AS_HPC_2021 ? size : as_hpc_align(size))};
}

static void put_row(const group *g, const as_sparse_line *line, uint32_t context, uint16_t metric, cursor *cursors) {
    bool is_2021 = g->plan->form == AS_HPC_2021;
    for (size_t i = as_first_not_below(line->at, line->n, g->first); i < line->n && line->at[i] < g->end; i++)
        put_one(is_2021, &cursors[line->at[i] - g->first], context, metric, line->values[i]);
}

static assay_status put_rows(group *g, cursor *cursors) {
    const as_hpc_plan *plan = g->plan;
    as_sparse_line line = {0};
    assay_status code = ASSAY_OK;
    for (uint32_t id = 0; id < plan->n_ids && code == ASSAY_OK; id++) {
        if (!(g->has_values[id / 8] >> (id % 8) & 1)) continue;
        for (size_t i = 0; i < plan->sides.count && code == ASSAY_OK; i++) {
            const as_hpc_side *side = as_hpc_side_at(plan, i);
            code = as_hpc_read_row(plan, side, plan->slot_of[id], &line, &g->error);
            if (code == ASSAY_OK) put_row(g, &line, id, side->id, cursors);
        }
    }
    as_sparse_line_free(&line);
    return code;
}

static void make_group(void *user, size_t i) {
    group *g = (group *)user + i;
    uint64_t start = g->offsets[g->first + 1], size = g->offsets[g->end + 1] - start;
    cursor *cursors = calloc((size_t)(g->end - g->first) + 1, sizeof *cursors);
    if (as_budget_take(as_ds_budget(g->plan->ds), size)) {
        g->bytes = calloc(1, size + 1);
        if (!g->bytes) as_budget_give(as_ds_budget(g->plan->ds), size);
    }
    if (!cursors || !g->bytes) {
        g->code = as_fail_memory(&g->error, NULL);
    } else {
        for (uint32_t k = g->first; k < g->end; k++)
            cursors[k - g->first] =
                cursor_at(g->plan->form, g->bytes + (g->offsets[k + 1] - start), g->counts[k].values);
        g->code = put_rows(g, cursors);
        for (uint32_t k = g->first; k < g->end && g->plan->form == AS_HPC_2021 && g->code == ASSAY_OK; k++)
            put_context(true, &cursors[k - g->first], AS_HPC_END_CONTEXTS, g->counts[k].values);
    }
    free(cursors);
}

static void count_totals(const as_hpc_plan *plan, as_hpc_counts *counts) {
    *counts = (as_hpc_counts){.values = plan->totals.count};
    for (size_t i = 0; i < plan->totals.count; i++)
        counts->contexts += i == 0 || AS_AT(as_hpc_total, &plan->totals, i).context !=
                                          AS_AT(as_hpc_total, &plan->totals, i - 1).context;
}

static assay_status write_totals(const as_hpc_plan *plan, as_output *out) {
    bool is_2021 = plan->form == AS_HPC_2021;
    as_hpc_counts counts;
    count_totals(plan, &counts);
    uint64_t size = as_hpc_block_size(plan->form, counts.values, counts.contexts);
    unsigned char *bytes = calloc(1, size + 1);
    if (!bytes) return as_fail_memory(plan->error, NULL);
    cursor to = cursor_at(plan->form, bytes, counts.values);
    for (size_t i = 0; i < plan->totals.count; i++) {
        const as_hpc_total *total = &AS_AT(as_hpc_total, &plan->totals, i);
        put_one(is_2021, &to, total->context, total->id, total->value);
    }
    if (is_2021) put_context(true, &to, AS_HPC_END_CONTEXTS, counts.values);
    as_output_write(out, bytes, size);
    free(bytes);
    return ASSAY_OK;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static uint64_t tuple_size(const as_hpc_plan *plan, uint64_t n_ids) {
    return plan->form == AS_HPC_2021 ? 2 + 18 * n_ids : 8 + 16 * n_ids;
}

static bool make_layout(const as_hpc_plan *plan, const as_hpc_counts *counts, layout *l) {
    bool is_2021 = plan->form == AS_HPC_2021;
    l->n_profiles = plan->profiles.count + 1;
    l->infos = is_2021 ? AS_HPC_FIRST_SECTION : 0x40;
    l->tuples = as_hpc_align(l->infos + l->n_profiles * (is_2021 ? 52 : 48));
    l->tuples_size = is_2021 ? tuple_size(plan, 1) : 0;
    for (size_t i = 0; i < plan->profiles.count; i++)
        l->tuples_size += tuple_size(plan, AS_AT(as_hpc_planned_profile, &plan->profiles, i).n_ids);
    l->blocks = as_hpc_align(l->tuples + l->tuples_size);
    l->offsets = calloc(l->n_profiles + 1, sizeof *l->offsets);
    if (!l->offsets) return false;
    uint64_t at = l->blocks;
    for (size_t i = 0; i < plan->profiles.count; i++) {
        l->offsets[i + 1] = at;
        at += as_hpc_block_size(plan->form, counts[i].values, counts[i].contexts);
    }
    l->offsets[plan->profiles.count + 1] = l->offsets[0] =
        at; /* the end of threads' blocks is where the summary's is */
    return true;
}

static void put_header(const as_hpc_plan *plan, const layout *l, unsigned char *table) {
    as_hpc_bytes b = {.at = table, .big_endian = plan->form == AS_HPC_2021};
    if (plan->form == AS_HPC_2021) {
        memcpy(b.at, "HPCPROF-profdb__\1", 18);
        b.at += 18;
        as_hpc_put_u32(&b, (uint32_t)l->n_profiles);
        as_hpc_put_u16(&b, 2);
        as_hpc_put_u64(&b, 52 * l->n_profiles);
        as_hpc_put_u64(&b, l->infos);
        as_hpc_put_u64(&b, l->tuples_size);
        as_hpc_put_u64(&b, l->tuples);
        return;
    }
    memcpy(b.at, "HPCTOOLKITprof\4", 16);
    b.at += 16;
    as_hpc_put_u64(&b, 0x10 + 48 * l->n_profiles);
    as_hpc_put_u64(&b, 0x30);
    as_hpc_put_u64(&b, l->tuples_size);
    as_hpc_put_u64(&b, l->tuples);
    as_hpc_put_u64(&b, l->infos);
    as_hpc_put_u32(&b, (uint32_t)l->n_profiles);
    as_hpc_put_u8(&b, 48);
}

static void put_info(const as_hpc_plan *plan, as_hpc_bytes *b, const as_hpc_counts *counts, uint64_t offset,
                     uint64_t tuple, bool is_summary) {
    if (plan->form == AS_HPC_2021) {
        as_hpc_put_u64(b, tuple);
        b->at += 24;
        as_hpc_put_u64(b, counts->values);
        as_hpc_put_u32(b, counts->contexts);
        as_hpc_put_u64(b, offset);
        return;
    }
    as_hpc_put_u64(b, counts->values);
    as_hpc_put_u64(b, offset);
    as_hpc_put_u32(b, counts->contexts);
    b->at += 4;
    as_hpc_put_u64(b, offset + as_hpc_align(10 * counts->values));
    as_hpc_put_u64(b, is_summary ? 0 : tuple);
    as_hpc_put_u32(b, is_summary);
    b->at += 4;
}

static void put_tuple(const as_hpc_plan *plan, as_hpc_bytes *b, const as_hpc_identifier *ids, uint32_t n) {
    bool is_2021 = plan->form == AS_HPC_2021;
    as_hpc_put_u16(b, (uint16_t)n);
    if (!is_2021) b->at += 6;
    for (uint32_t i = 0; i < n; i++) {
        if (is_2021) {
            as_hpc_put_u16(b, (uint16_t)(ids[i].kind | ids[i].bits << 14));
            as_hpc_put_u64(b, ids[i].physical);
            as_hpc_put_u64(b, ids[i].logical);
        } else {
            as_hpc_put_u8(b, (uint8_t)ids[i].kind);
            as_hpc_put_u8(b, 0);
            as_hpc_put_u16(b, ids[i].bits);
            as_hpc_put_u32(b, ids[i].logical < UINT32_MAX ? (uint32_t)ids[i].logical : UINT32_MAX);
            as_hpc_put_u64(b, ids[i].physical);
        }
    }
}

static assay_status write_tables(const as_hpc_plan *plan, const layout *l, const as_hpc_counts *counts,
                                 as_output *out) {
    bool is_2021 = plan->form == AS_HPC_2021;
    unsigned char *table = calloc(1, l->blocks);
    as_hpc_counts totals;
    if (!table) return as_fail_memory(plan->error, NULL);
    put_header(plan, l, table);
    as_hpc_bytes infos = {.at = table + l->infos, .big_endian = is_2021};
    as_hpc_bytes tuples = {.at = table + l->tuples, .big_endian = is_2021};
    static const as_hpc_identifier summary = {0};
    count_totals(plan, &totals);
    put_info(plan, &infos, &totals, l->offsets[0], l->tuples, true);
    if (is_2021) put_tuple(plan, &tuples, &summary, 1);
    for (size_t i = 0; i < plan->profiles.count; i++) {
        const as_hpc_planned_profile *profile = &AS_AT(as_hpc_planned_profile, &plan->profiles, i);
        put_info(plan, &infos, &counts[i], l->offsets[i + 1], (uint64_t)(tuples.at - table), false);
        put_tuple(plan, &tuples, (const as_hpc_identifier *)plan->ids_of_places.data + profile->first_id,
                  profile->n_ids);
    }
    as_output_write(out, table, l->blocks);
    free(table);
    return ASSAY_OK;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* The profiles from `first` on whose blocks stay below a size together, at least one. */
static uint32_t group_end(const as_hpc_plan *plan, const layout *l, uint32_t first, uint64_t most) {
    uint32_t end = first + 1;
    while (end < plan->profiles.count && l->offsets[end + 2] - l->offsets[first + 1] <= most) end++;
    return end;
}

static assay_status write_blocks(const as_hpc_plan *plan, const layout *l, const as_hpc_counts *counts,
                                 const uint8_t *has_values, as_output *out) {
    unsigned workers = plan->threads ? plan->threads : as_core_count();
    if (workers > MAX_WORKERS) workers = MAX_WORKERS;
    uint64_t most = (l->offsets[0] - l->blocks) / workers + 1;
    if (most > GROUP_BYTES) most = GROUP_BYTES;
    while (most > LEAST_BYTES && !as_budget_allows(as_ds_budget(plan->ds), most * workers)) most /= 2;
    assay_status code = ASSAY_OK;
    for (uint32_t first = 0; first < plan->profiles.count && code == ASSAY_OK;) {
        group groups[MAX_WORKERS];
        unsigned n = 0;
        for (; n < workers && first < plan->profiles.count; n++) {
            groups[n] = (group){.plan = plan,
                                .counts = counts,
                                .has_values = has_values,
                                .offsets = l->offsets,
                                .first = first,
                                .end = group_end(plan, l, first, most)};
            first = groups[n].end;
        }
        as_parallel(n, workers, make_group, groups);
        for (unsigned i = 0; i < n; i++) {
            const group *g = &groups[i];
            if (g->code != ASSAY_OK && code == ASSAY_OK) {
                code = g->code;
                if (plan->error) *plan->error = g->error;
            }
            uint64_t size = l->offsets[g->end + 1] - l->offsets[g->first + 1];
            if (code == ASSAY_OK) as_output_write(out, g->bytes, size);
            if (g->bytes) as_budget_give(as_ds_budget(plan->ds), size);
            free(g->bytes);
        }
    }
    return code;
}

static assay_status write_profile_file(const as_hpc_plan *plan, as_output_directory *directory,
                                       const as_hpc_counts *counts, const uint8_t *has_values) {
    as_output *out = NULL;
    layout l = {0};
    AS_TRY(as_output_directory_file(directory, "profile.db", &out, plan->error));
    assay_status code =
        make_layout(plan, counts, &l) ? write_tables(plan, &l, counts, out) : as_fail_memory(plan->error, NULL);
    if (code == ASSAY_OK) code = write_blocks(plan, &l, counts, has_values, out);
    if (code == ASSAY_OK) code = write_totals(plan, out);
    as_output_text(out, plan->form == AS_HPC_2021 ? "tfBDFORP" : "_prof.db");
    free(l.offsets);
    if (code == ASSAY_OK) return as_output_commit(out, plan->error);
    as_output_discard(out);
    return code;
}

assay_status as_hpc_write_values(as_hpc_plan *plan, as_output_directory *directory) {
    as_hpc_counts *counts = calloc(plan->profiles.count + 1, sizeof *counts);
    uint8_t *has_values = calloc(plan->n_ids / 8 + 1, 1);
    assay_status code = counts && has_values ? as_hpc_write_cct(plan, directory, counts, has_values)
                                             : as_fail_memory(plan->error, NULL);
    if (code == ASSAY_OK) code = write_profile_file(plan, directory, counts, has_values);
    free(counts);
    free(has_values);
    return code;
}
