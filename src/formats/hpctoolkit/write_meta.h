/* Private to the writer of meta.db: strings, modules, files and functions, and where they lie. */
#ifndef AS_FORMATS_HPCTOOLKIT_WRITE_META_H
#define AS_FORMATS_HPCTOOLKIT_WRITE_META_H

#include "formats/hpctoolkit/write_bytes.h"

enum { AS_META_OUT_HEADER = 0x90 };
enum {
    AS_META_OUT_GENERAL,
    AS_META_OUT_KINDS,
    AS_META_OUT_METRICS,
    AS_META_OUT_CONTEXTS,
    AS_META_OUT_STRINGS,
    AS_META_OUT_MODULES,
    AS_META_OUT_FILES,
    AS_META_OUT_FUNCTIONS,
    AS_META_OUT_SECTIONS
};

/* Scopes, in the order of the file; behind them those that only the source knows. */
enum { AS_META_OUT_POINT, AS_META_OUT_FUNCTION, AS_META_OUT_LEXICAL, AS_META_OUT_EXECUTION, AS_META_OUT_SCOPES };
extern const char *const as_meta_out_scope_names[AS_META_OUT_SCOPES];
/* The formulas and ways to combine that make the statistics. */
extern const char *const as_meta_out_formulas[AS_HPC_STATISTICS];
extern const uint8_t as_meta_out_combine[AS_HPC_STATISTICS];
/* The side of a group in one of these scopes, or ASSAY_NONE. */
uint32_t as_meta_out_side(const as_hpc_plan *plan, const as_hpc_group *group, int scope);

typedef struct as_meta_out_function {
    uint64_t name; /* in strings */
    uint64_t offset;
    uint32_t module, file, line; /* indexes, or UINT32_MAX */
} as_meta_out_function;

typedef struct as_meta_out_scope {
    const char *text;
    uint64_t name; /* in metric_strings */
} as_meta_out_scope;

typedef struct as_meta_out_file {
    uint64_t path; /* in strings */
    bool is_copied;
} as_meta_out_file;

typedef struct as_meta_out {
    as_hpc_plan *plan;
    as_vec strings, metric_strings;           /* char; those that metrics need lie in their section */
    as_map known_strings;                     /* string of the dataset -> place in strings */
    as_vec functions, files, modules;         /* as_meta_out_function, as_meta_out_file, uint64_t: place in strings */
    as_map known_functions;                   /* as_pair(region, name) -> index */
    as_map known_files, known_modules;        /* string -> index */
    uint32_t *function_of;                    /* for each context, or UINT32_MAX */
    uint32_t *file_of;                        /* for each context that says where it is, or UINT32_MAX */
    uint32_t *module_of;                      /* for each context that of it or of what it is in, or UINT32_MAX */
    uint64_t title, description, formulas[3]; /* places in strings; of formulas in metric_strings */
    as_vec scopes;                            /* as_meta_out_scope */
    uint64_t *kinds, *groups;                 /* of names, in strings; of groups in metric_strings */
    uint64_t *entry_names, main_thread;       /* of contexts that are entry points, in strings; of the extra one */
    uint64_t *runs;                           /* for each slot where its children lie, and behind them the end */
    uint64_t pointers[AS_META_OUT_SECTIONS], sizes[AS_META_OUT_SECTIONS];
} as_meta_out;

/* Collects them. False when memory is out; to be freed in every case. */
bool as_meta_out_init(as_meta_out *meta, as_hpc_plan *plan);
void as_meta_out_free(as_meta_out *meta);
/* What a text at this place has for a pointer in the file. */
static inline uint64_t as_meta_out_text_at(uint64_t place) { return AS_META_OUT_HEADER + place; }
static inline uint64_t as_meta_out_entry(const as_meta_out *meta, int section, uint64_t index, uint64_t size) {
    return meta->pointers[section] + 0x10 + index * size;
}

/* The section of metrics: how long it is, and its bytes. */
uint64_t as_meta_out_metrics_size(const as_meta_out *meta);
void as_meta_out_put_metrics(const as_meta_out *meta, unsigned char *to);

#endif
