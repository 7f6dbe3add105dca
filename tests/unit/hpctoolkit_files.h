/* The bytes of small profile.db, cct.db and trace.db, of both forms and either byte order, and a database of them that
 * is read without metadata. */
#ifndef AS_TESTS_HPCTOOLKIT_FILES_H
#define AS_TESTS_HPCTOOLKIT_FILES_H

#include <stdlib.h>
#include <string.h>

#include "formats/hpctoolkit/database.h"
#include "formats/hpctoolkit/hpctoolkit.h"

/* A stored value. Profile 0 is the summary. Cells are in ascending order of profile, context, metric. */
typedef struct cell {
    uint32_t profile, context;
    uint16_t metric;
    double value;
} cell;

typedef struct element {
    uint16_t kind, bits;
    uint64_t logical, physical;
} element;

/* How the files are made. */
typedef struct shape {
    as_hpc_form form;
    bool big;             /* form 2021: the byte order */
    uint8_t major, minor; /* 0: those of real files */
    uint32_t first;       /* form 2021: where the first section begins; 0: at 128 */
    uint8_t entry_size;   /* form 4: of profile entries; 0: 48 */
} shape;

enum { N_CONTEXTS = 7, N_PROFILES = 4, N_METRICS = 2, TIME = 1, BYTES = 2 };

/* Two metrics at six of seven contexts in three profiles, of which the last has nothing; the summary has the sums as 11
 * and 12. */
static const cell CELLS[] = {{0, 0, 11, 10.5},  {0, 1, 11, 10.5},   {0, 2, 11, 3},      {0, 2, 12, 300},
                             {0, 4, 11, 0.5},   {0, 6, 12, 7},      {1, 0, TIME, 4},    {1, 1, TIME, 4},
                             {1, 2, TIME, 1},   {1, 2, BYTES, 100}, {1, 6, BYTES, 7},   {2, 0, TIME, 6.5},
                             {2, 1, TIME, 6.5}, {2, 2, TIME, 2},    {2, 2, BYTES, 200}, {2, 4, TIME, 0.5}};
enum { N_CELLS = sizeof CELLS / sizeof *CELLS };

static const element TUPLES[N_PROFILES][3] = {{{0, 0, 0, 0}},
                                              {{1, 0, 0, 713047168}, {2, 3, 0, 0}, {3, 3, 0, 0}},
                                              {{1, 0, 0, 713047168}, {2, 3, 1, 1}, {3, 3, 0, 0}},
                                              {{1, 0, 0, 713047168}, {2, 3, 1, 1}, {9, 3, 5, 6}}};

/* Samples of profiles 1 and 2; the second goes back in time. */
typedef struct sample {
    uint64_t time;
    uint32_t context;
} sample;
#define START 1700000000000000000u
static const sample LINES[2][3] = {{{START, 1}, {START + 1000, 2}, {START + 2000, 0}},
                                   {{START + 500, 2}, {START + 400, 1}, {START + 3000, 99}}};

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static inline void put(as_vec *out, bool big, uint64_t value, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        unsigned char byte = (unsigned char)(value >> 8 * (big ? n - 1 - i : i));
        if (!as_vec_append(out, &byte, 1)) abort();
    }
}
static inline void put_real(as_vec *out, bool big, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(out, big, bits, 8);
}
static inline void put_zeros(as_vec *out, size_t until) {
    while (out->count < until) put(out, false, 0, 1);
}
static inline void put_at(as_vec *out, size_t at, bool big, uint64_t value, unsigned n) {
    size_t count = out->count;
    out->count = at;
    put(out, big, value, n);
    out->count = count;
}

static inline as_vec begin(const shape *how, const char *magic_2021, const char *magic_4, unsigned n,
                           unsigned n_sections, unsigned entry_size) {
    as_vec out;
    as_vec_init(&out, 1, NULL);
    as_vec_text(&out, how->form == AS_HPC_2021 ? magic_2021 : magic_4);
    put(&out, false, how->major ? how->major : how->form == AS_HPC_2021 ? 1 : 4, 1);
    put(&out, false, how->minor, 1);
    if (how->form == AS_HPC_2021) {
        put(&out, how->big, n, 4);
        put(&out, how->big, n_sections, 2);
        put(&out, how->big, (uint64_t)n * entry_size, 8);
        put(&out, how->big, how->first ? how->first : 128, 8);
        put_zeros(&out, how->first ? how->first : 128);
    } else {
        put_zeros(&out, 0x10 + 16 * n_sections);
        put_at(&out, 0x18, false, out.count, 8); /* the first section lies behind the header */
        put(&out, false, out.count + 32, 8);
        put(&out, false, n, 4);
        put(&out, false, entry_size, 1);
        put_zeros(&out, 0x10 + 16 * n_sections + 32);
    }
    return out;
}

/* ---- profile.db -------------------------------------------------------------------------------------------------- */

static inline uint64_t add_tuple(as_vec *out, const shape *how, uint32_t profile) {
    uint64_t at = out->count;
    unsigned n = profile ? 3 : 1;
    bool is_2021 = how->form == AS_HPC_2021;
    put(out, how->big, n, 2);
    if (!is_2021) put(out, false, 0, 6);
    for (unsigned i = 0; i < n; i++) {
        const element *e = &TUPLES[profile][i];
        if (is_2021) {
            put(out, how->big, e->kind | (unsigned)e->bits << 14, 2);
            put(out, how->big, e->physical, 8);
            put(out, how->big, e->logical, 8);
        } else {
            put(out, false, e->kind, 2);
            put(out, false, e->bits == 0, 2);
            put(out, false, e->logical, 4);
            put(out, false, e->physical, 8);
        }
    }
    return at;
}

/* Values and index of one profile; what its entry says of them. */
typedef struct placed {
    uint64_t n_values, values, index, tuple;
    uint32_t n_contexts;
} placed;

static inline placed add_profile(as_vec *out, const shape *how, uint32_t profile, const cell *cells, size_t n) {
    placed where = {.values = out->count};
    bool is_2021 = how->form == AS_HPC_2021;
    as_vec index;
    as_vec_init(&index, 1, NULL);
    for (size_t i = 0; i < n; i++) {
        if (cells[i].profile != profile) continue;
        if (!i || cells[i - 1].profile != profile || cells[i - 1].context != cells[i].context) {
            put(&index, how->big, cells[i].context, 4);
            put(&index, how->big, where.n_values, 8);
            where.n_contexts++;
        }
        if (is_2021) put_real(out, how->big, cells[i].value);
        put(out, how->big, cells[i].metric, 2);
        if (!is_2021) put_real(out, false, cells[i].value);
        where.n_values++;
    }
    where.index = out->count;
    if (is_2021) {
        put(&index, how->big, 0x656E6421, 4);
        put(&index, how->big, where.n_values, 8);
    }
    as_vec_append(out, index.data, index.count);
    as_vec_free(&index);
    return where;
}

static inline as_vec make_profile(const shape *how, const cell *cells, size_t n) {
    bool is_2021 = how->form == AS_HPC_2021;
    unsigned entry_size = is_2021 ? 52 : how->entry_size ? how->entry_size : 48;
    as_vec out = begin(how, "HPCPROF-profdb__", "HPCTOOLKITprof", N_PROFILES, 2, entry_size);
    size_t entries = out.count;
    put_zeros(&out, entries + (size_t)N_PROFILES * entry_size);
    for (uint32_t i = 0; i < N_PROFILES; i++) {
        uint64_t tuple = is_2021 || i ? add_tuple(&out, how, i) : 0;
        placed where = add_profile(&out, how, i, cells, n);
        size_t at = entries + (size_t)i * entry_size;
        if (is_2021) {
            put_at(&out, at, how->big, tuple, 8);
            put_at(&out, at + 32, how->big, where.n_values, 8);
            put_at(&out, at + 40, how->big, where.n_contexts, 4);
            put_at(&out, at + 44, how->big, where.values, 8);
        } else {
            put_at(&out, at, false, where.n_values, 8);
            put_at(&out, at + 8, false, where.values, 8);
            put_at(&out, at + 16, false, where.n_contexts, 4);
            put_at(&out, at + 24, false, where.index, 8);
            put_at(&out, at + 32, false, tuple, 8);
            if (entry_size >= 48) put_at(&out, at + 40, false, i == 0, 4);
        }
    }
    as_vec_text(&out, is_2021 ? "tfBDFORP" : "_prof.db");
    return out;
}

/* ---- cct.db ------------------------------------------------------------------------------------------------------ */

static inline as_vec make_cct(const shape *how, const cell *cells, size_t n) {
    bool is_2021 = how->form == AS_HPC_2021;
    unsigned entry_size = is_2021 ? 22 : 32;
    as_vec out = begin(how, "HPCPROF-cctdb___", "HPCTOOLKITctxt", N_CONTEXTS, 1, entry_size);
    size_t entries = out.count;
    put_zeros(&out, entries + (size_t)N_CONTEXTS * entry_size);
    for (uint32_t context = 0; context < N_CONTEXTS; context++) {
        uint64_t n_values = 0, values = out.count, n_metrics = 0;
        as_vec index;
        as_vec_init(&index, 1, NULL);
        for (uint16_t metric = 1; metric <= N_METRICS; metric++) {
            uint64_t before = n_values;
            for (size_t i = 0; i < n; i++) {
                if (!cells[i].profile || cells[i].context != context || cells[i].metric != metric) continue;
                if (is_2021) put_real(&out, how->big, cells[i].value);
                put(&out, how->big, cells[i].profile, 4);
                if (!is_2021) put_real(&out, false, cells[i].value);
                n_values++;
            }
            if (n_values == before) continue;
            put(&index, how->big, metric, 2);
            put(&index, how->big, before, 8);
            n_metrics++;
        }
        if (is_2021 && n_values) {
            put(&index, how->big, 0x6564, 2);
            put(&index, how->big, n_values, 8);
        }
        size_t at = entries + (size_t)context * entry_size;
        if (is_2021) put_at(&out, at, how->big, context, 4);
        put_at(&out, at + (is_2021 ? 4 : 0), how->big, n_values, 8);
        put_at(&out, at + (is_2021 ? 14 : 8), how->big, values, 8);
        put_at(&out, at + (is_2021 ? 12 : 16), how->big, n_metrics, 2);
        if (!is_2021) put_at(&out, at + 24, false, out.count, 8);
        if (index.count) as_vec_append(&out, index.data, index.count);
        as_vec_free(&index);
    }
    as_vec_text(&out, is_2021 ? "rtfBDTCC" : "__ctx.db");
    return out;
}

/* ---- trace.db ---------------------------------------------------------------------------------------------------- */

static inline as_vec make_trace(const shape *how) {
    bool is_2021 = how->form == AS_HPC_2021;
    unsigned entry_size = is_2021 ? 22 : 24;
    as_vec out = begin(how, "HPCPROF-tracedb_", "HPCTOOLKITtrce", N_PROFILES - 1, 1, entry_size);
    size_t entries = out.count;
    if (!is_2021) {
        put_at(&out, 0x20 + 0x10, false, START - 1000000000, 8);
        put_at(&out, 0x20 + 0x18, false, START + 3000, 8);
    }
    put_zeros(&out, entries + (size_t)(N_PROFILES - 1) * entry_size);
    for (uint32_t i = 0; i < N_PROFILES - 1; i++) {
        uint64_t start = out.count;
        for (unsigned k = 0; k < 3 && i < 2; k++) {
            put(&out, how->big, LINES[i][k].time, 8);
            put(&out, how->big, LINES[i][k].context, 4);
        }
        size_t at = entries + (size_t)i * entry_size;
        put_at(&out, at, how->big, i + 1, 4);
        put_at(&out, at + (is_2021 ? 6 : 8), how->big, start, 8);
        put_at(&out, at + (is_2021 ? 14 : 16), how->big, out.count, 8);
    }
    if (!is_2021) as_vec_text(&out, "trace.db");
    return out;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A dataset of the files in a directory: contexts 0 … 6 are those of the files in opposite order, the metrics TIME and
 * BYTES are 0 and 1. */
typedef struct opened {
    assay_status status;
    assay_error error;
    as_dataset *ds;
    as_hpc_database *db;
    as_input *input;
} opened;

static inline assay_status attach(opened *o, as_reader *reader) {
    static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
    static const as_hpc_metric metrics[] = {{TIME, 0}, {BYTES, 1}};
    static const as_hpc_statistic statistics[] = {{12, 1, "sum"}, {11, 0, "sum"}};
    as_tree tree;
    uint32_t limit = as_hpc_context_limit(o->db);
    assay_id *contexts = malloc((limit + 1) * sizeof *contexts);
    const assay_id *ids;
    as_tree_init(&tree, o->ds);
    as_context context = AS_CONTEXT_INIT;
    for (uint32_t id = limit; id-- > 0;) contexts[id] = id < N_CONTEXTS ? as_tree_add(&tree, &context) : ASSAY_NONE;
    assay_status status = as_hpc_add_placeless(reader, o->db, &tree, contexts, limit);
    if (status == ASSAY_OK && !as_tree_finish(&tree, &ids)) status = as_reader_memory(reader);
    for (uint32_t id = 0; id < limit && status == ASSAY_OK; id++) {
        if (contexts[id] != ASSAY_NONE) contexts[id] = ids[contexts[id]];
    }
    as_metric metric = AS_METRIC_INIT;
    for (unsigned i = 0; i < N_METRICS; i++) as_add_metric(o->ds, &metric);
    as_hpc_meaning meaning = {.kinds = kinds,
                              .n_kinds = 4,
                              .metrics = metrics,
                              .n_metrics = N_METRICS,
                              .statistics = statistics,
                              .n_statistics = 2,
                              .contexts = contexts,
                              .n_contexts = limit,
                              .ticks_per_second = 1e9};
    if (status == ASSAY_OK) status = as_hpc_attach(reader, o->db, &meaning);
    as_tree_free(&tree);
    free(contexts);
    return status;
}

static inline opened open_files(const char *directory, as_hpc_form form, uint64_t memory) {
    opened o = {.ds = as_dataset_new(memory)};
    if (!o.ds || as_input_open(directory, NULL, &o.input, &o.error) != ASSAY_OK) abort();
    o.ds->path = as_ds_intern_text(o.ds, directory);
    as_reader reader = {.input = o.input, .dataset = o.ds, .error = &o.error, .max_depth = 1024};
    o.status = as_hpc_open(&reader, directory, form, &o.db);
    if (o.status == ASSAY_OK) o.status = attach(&o, &reader);
    return o;
}

static inline void close_files(opened *o) {
    as_dataset_free(o->ds);
    as_input_close(o->input);
}

#endif
