/* Companions between opening and attaching. */
#ifndef AS_FORMATS_HPCTOOLKIT_COMPANIONS_PRIVATE_H
#define AS_FORMATS_HPCTOOLKIT_COMPANIONS_PRIVATE_H

#include "formats/hpctoolkit/companions.h"

/* Whose file it is. Where several files are of one rank and thread (processes that knew nothing of each other), they
 * are told apart by their order. */
typedef struct as_companion_owner {
    uint32_t rank, thread, occurrence;
} as_companion_owner;

/* A .metric-db: a number for each node and column, those of a node together. */
typedef struct as_companion_values {
    as_companion_owner owner;
    const unsigned char *numbers; /* big-endian doubles */
    uint32_t n_nodes, n_columns;
} as_companion_values;

/* A .hpctrace. */
typedef struct as_companion_trace {
    as_companion_owner owner;
    const unsigned char *samples;
    uint64_t n;
    uint32_t record; /* bytes of a sample */
} as_companion_trace;

struct as_hpc_companions {
    as_dataset *ds;
    as_vec values;  /* as_companion_values */
    as_vec by_size; /* the same that have any numbers, those with most nodes first */
    as_vec traces;  /* as_companion_trace */
    uint32_t n_nodes, n_columns;

    /* From as_hpc_companions_attach() on */
    assay_id *contexts; /* by node id below n_contexts */
    uint32_t n_contexts;
    uint32_t *nodes; /* by context of the dataset below n_dataset_contexts; 0: none */
    uint32_t n_dataset_contexts;
    as_map trace_contexts;
};

/* What a file, or a piece of a merged one, holds. False, with *problem in words, where it cannot be used. */
bool as_companion_read_values(const unsigned char *data, size_t size, as_companion_values *out, const char **problem);
bool as_companion_read_trace(const unsigned char *data, size_t size, as_companion_trace *out, const char **problem);

#endif
