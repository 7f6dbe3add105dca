/* What the files behind database.h share. */
#ifndef AS_FORMATS_HPCTOOLKIT_PRIVATE_H
#define AS_FORMATS_HPCTOOLKIT_PRIVATE_H

#include "formats/hpctoolkit/database.h"
#include "formats/hpctoolkit/file.h"
#include "formats/hpctoolkit/hpctoolkit.h"

/* Both forms have the same indexes, of contexts in profile.db and of metrics in cct.db; values lie the other way round
 * in them. */
enum {
    AS_HPC_CONTEXT_ENTRY = 12, /* u32 context, u64 number of its first value */
    AS_HPC_METRIC_ENTRY = 10,  /* u16 metric, u64 number of its first value */
    AS_HPC_PROFILE_VALUE = 10, /* of profile.db: f64 and u16 metric */
    AS_HPC_CONTEXT_VALUE = 12, /* of cct.db: f64 and u32 profile */
    AS_HPC_SAMPLE = 12         /* u64 time, u32 context */
};

/* A profile of profile.db: values and index lie in the file. */
typedef struct as_hpc_profile {
    uint64_t n_values, values, index; /* index: n_contexts entries */
    uint64_t tuple;                   /* 0: none */
    uint32_t n_contexts;
    bool is_summary;
} as_hpc_profile;

/* What one context has in cct.db. */
typedef struct as_hpc_block {
    uint64_t n_values, values, index; /* index: n_metrics entries */
    uint32_t n_metrics;
} as_hpc_block;

/* cct.db made from profile.db where it cannot be used: of context c the values starts[c] … starts[c + 1] - 1, by
 * metric, then column. */
typedef struct as_hpc_transposed {
    uint64_t *starts;
    uint16_t *metrics;
    uint32_t *columns;
    double *values;
    uint64_t bytes; /* counted in the budget */
} as_hpc_transposed;

struct as_hpc_database {
    as_dataset *ds;
    as_hpc_form form;
    uint32_t context_limit;
    unsigned char *with_values; /* a bit for each context; NULL: the entries of cct.db say it */

    as_hpc_file profile;
    as_hpc_profile *profiles;
    uint32_t n_profiles, profile_entry; /* profile_entry: bytes */
    uint64_t profile_entries;
    uint64_t n_values; /* of all but summaries */

    as_hpc_file cct;
    unsigned char *checked; /* for each context whether its index in cct.db was found to be in order */
    uint64_t cct_entries;
    uint32_t cct_entry;   /* bytes */
    bool has_cct;         /* values of a context are read from it */
    bool has_cct_entries; /* they say which contexts have values */

    bool has_start; /* trace.db says when the run began */
    uint64_t start;
    as_hpc_file trace;
    as_vec lines; /* as_hpc_line, ascending by profile */

    /* From as_hpc_attach() on */
    assay_id *contexts;    /* of the dataset, by context id */
    uint32_t *context_ids; /* by context of the dataset; UINT32_MAX: none */
    uint32_t n_contexts, n_dataset_contexts;
    const assay_id *trace_contexts;
    size_t n_trace_contexts;
    uint32_t *columns; /* by profile; UINT32_MAX: a summary */
    uint32_t *profile_of_column;
    uint32_t n_columns;
    bool is_transposed;           /* atomic */
    as_hpc_statistic *statistics; /* ascending by id */
    size_t n_statistics;

    pthread_mutex_t transposing;
    as_hpc_transposed transposed;
};

typedef struct as_hpc_line {
    uint32_t profile;
    uint64_t at, n;
} as_hpc_line;

/* Opens a file (as_hpc_open_file()) for the loads of file.h; its byte order is not known yet. */
assay_status as_hpc_map_file(const as_reader *reader, const char *directory, const char *name, as_hpc_file *out,
                             assay_error *error);
/* Whether a file begins as it should; the version is checked as well, an unknown minor one noted. Sets the file's byte
 * order for form 4, and that of this machine for form 2021, whose headers tell it (as_hpc_header_2021()). */
assay_status as_hpc_check_magic(as_dataset *ds, as_hpc_form form, as_hpc_file *file, const char *magic_2021,
                                const char *magic_4, assay_error *error);
/* The header of a file of form 2021, in the byte order in which it holds together: n entries of so many bytes at
 * *at. */
assay_status as_hpc_header_2021(as_hpc_file *file, uint32_t entry_size, uint32_t *n, uint64_t *at, assay_error *error);
/* The table that the first section of a file of form 4 begins with: *n entries of *entry_size bytes, at least `least`,
 * at *at; *section is where it begins, with `head` bytes at least. */
assay_status as_hpc_table_4(const as_hpc_file *file, uint32_t head, uint32_t least, uint64_t *section, uint32_t *n,
                            uint32_t *entry_size, uint64_t *at, assay_error *error);
/* The last 8 bytes are one of these two. */
bool as_hpc_has_footer(const as_hpc_file *file, const char *footer, const char *other);

/* The run of values that belong to entry i of an index whose entries have `key` bytes before the number. */
static inline uint64_t as_hpc_index_start(const as_hpc_file *file, uint64_t index, uint32_t i, unsigned key) {
    return as_hpc_u64(file, index + (uint64_t)i * (key + 8) + key);
}
static inline uint64_t as_hpc_index_end(const as_hpc_file *file, uint64_t index, uint32_t i, uint32_t n, unsigned key,
                                        uint64_t n_values) {
    return i + 1 < n ? as_hpc_index_start(file, index, i + 1, key) : n_values;
}

/* What the entry of a context in cct.db says, which must have entries; false where that is not in the file. is_4 and
 * swap are the database's: who goes through many says them once for all. */
static inline bool as_hpc_load_block(const as_hpc_database *db, uint32_t context, bool is_4, bool swap,
                                     as_hpc_block *out) {
    const unsigned char *at = db->cct.data + db->cct_entries + (uint64_t)context * db->cct_entry;
    *out = (as_hpc_block){.n_values = as_hpc_load_u64(at + (is_4 ? 0x00 : 4), swap),
                          .n_metrics = as_hpc_load_u16(at + (is_4 ? 0x10 : 12), swap),
                          .values = as_hpc_load_u64(at + (is_4 ? 0x08 : 14), swap)};
    out->index = is_4 ? as_hpc_load_u64(at + 0x18, swap) : out->values + out->n_values * AS_HPC_CONTEXT_VALUE;
    if (!out->n_values) *out = (as_hpc_block){0};          /* where nothing is, is said by nobody */
    uint64_t n_entries = (uint64_t)out->n_metrics + !is_4; /* form 2021 marks the end of the index */
    return !out->n_values || (as_hpc_fits(&db->cct, out->values, out->n_values, AS_HPC_CONTEXT_VALUE) &&
                              as_hpc_fits(&db->cct, out->index, n_entries, AS_HPC_METRIC_ENTRY));
}

/* Contexts ascend and are below the limit, their values follow each other. */
assay_status as_hpc_check_profile(const as_hpc_database *db, uint32_t profile, assay_error *error);
/* The entry of a context in cct.db, which must have entries. An error where it is not in the file. */
assay_status as_hpc_find_block(const as_hpc_database *db, uint32_t context, as_hpc_block *out, assay_error *error);
/* Metrics ascend, their values follow each other; form 2021: the end is marked. */
assay_status as_hpc_check_block(const as_hpc_database *db, uint32_t context, const as_hpc_block *block,
                                assay_error *error);

/* Makes db->transposed, once. Safe from several threads. */
assay_status as_hpc_transpose(as_hpc_database *db, assay_error *error);
void as_hpc_transposed_free(as_hpc_database *db);

/* trace.db: what is wrong with it is a warning. ASSAY_E_NOMEM. */
assay_status as_hpc_open_trace(as_reader *reader, const char *directory, as_hpc_database *db);

/* Parts of as_hpc_attach(). */
assay_status as_hpc_attach_places(as_reader *reader, as_hpc_database *db, const as_hpc_meaning *meaning,
                                  const assay_id **columns);
assay_status as_hpc_attach_summary(as_reader *reader, as_hpc_database *db, const as_hpc_meaning *meaning);
assay_status as_hpc_attach_traces(as_reader *reader, as_hpc_database *db, const as_hpc_meaning *meaning, assay_id run,
                                  const assay_id *columns);

#endif
