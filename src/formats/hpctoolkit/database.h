/* The binary files of an HPCToolkit database: profile.db, cct.db and trace.db, of the 2021 form and of the released one
 * (with its drafts).
 *
 * The reader of the metadata (experiment.xml or meta.db) opens them, asks which contexts have values and which profiles
 * there are, builds its tables, and then says what the files' numbers stand for. From there on values, statistics and
 * traces are read from the mapped files when somebody asks, each access checked. */
#ifndef AS_FORMATS_HPCTOOLKIT_DATABASE_H
#define AS_FORMATS_HPCTOOLKIT_DATABASE_H

#include "formats/format.h"

typedef enum as_hpc_form {
    AS_HPC_2021, /* "HPCPROF-…": either byte order, version 1.0 or 4.0 */
    AS_HPC_4     /* "HPCTOOLKIT…": little-endian, version 4; profile entries of 48 bytes, or of 40 in drafts */
} as_hpc_form;

typedef struct as_hpc_database as_hpc_database;

/* Opens the files of a directory and checks what does not grow with the number of values: headers, indexes of profiles,
 * contexts and trace lines. What is wrong with profile.db is an error; where cct.db is missing, damaged or empty its
 * part comes from profile.db, with a warning; a missing trace.db is no traces, a damaged one a warning and none. The
 * database belongs to the dataset from here on. */
assay_status as_hpc_open(as_reader *reader, const char *directory, as_hpc_form form, as_hpc_database **out);

/* Context ids of values and samples are below this. */
uint32_t as_hpc_context_limit(const as_hpc_database *db);
bool as_hpc_context_has_values(const as_hpc_database *db, uint32_t context_id);

/* ---- what the numbers stand for ---------------------------------------------------------------------------------- */

/* A metric of thread profiles. */
typedef struct as_hpc_metric {
    uint16_t id; /* in the files */
    assay_id metric;
} as_hpc_metric;

/* A statistic of the summary profile. */
typedef struct as_hpc_statistic {
    uint16_t id; /* in the summary profile */
    assay_id metric;
    const char *name; /* static: "count", "sum", "sumsq", "min", "max" */
} as_hpc_statistic;

/* A statistic that is computed from stored ones of the same context: the formula's metrics are their ids in the summary
 * profile. */
typedef struct as_hpc_computed {
    assay_id metric;
    as_str name; /* "mean" */
    struct as_formula *formula;
} as_hpc_computed;

typedef struct as_hpc_meaning {
    const char *const
        *kinds; /* names of the kinds of tuple elements, "NODE" …; NULL entries and those beyond: by their number */
    size_t n_kinds;
    const as_hpc_metric *metrics;
    size_t n_metrics;
    const as_hpc_statistic *statistics;
    size_t n_statistics;
    const as_hpc_computed *computed; /* see formulas.h; lives as long as the dataset */
    size_t n_computed;
    const assay_id
        *contexts; /* for each context id of values its context in the dataset, each one's own, or ASSAY_NONE */
    size_t n_contexts;
    const assay_id *trace_contexts; /* the same for samples; NULL: contexts */
    size_t n_trace_contexts;
    double ticks_per_second; /* of time stamps */
    bool has_start;          /* what the metadata say about the first time stamp */
    uint64_t start;
} as_hpc_meaning;

/* Adds to the dataset, whose metrics and contexts are complete: one run (if there is none yet), locations with their id
 * tuples, sparse profiles, the source of summaries, trace lines. All arrays are copied. */
assay_status as_hpc_attach(as_reader *reader, as_hpc_database *db, const as_hpc_meaning *meaning);

/* A context that has values, but no place in the tree: "<context N>". ASSAY_NONE when memory is out. */
assay_id as_hpc_add_placeless_context(as_tree *tree, uint32_t id);
/* Adds such a one for each id that has values and no entry in `contexts` (tree ids of that many context ids,
 * ASSAY_NONE: none), which are filled in. */
assay_status as_hpc_add_placeless(as_reader *reader, const as_hpc_database *db, as_tree *tree, assay_id *contexts,
                                  size_t n_contexts);

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* One element of an id tuple. */
typedef struct as_hpc_place {
    const char *kind; /* "RANK" */
    uint64_t logical, physical;
    unsigned bits; /* how the two are meant, as the form of the database has it */
} as_hpc_place;

/* The locations of id tuples: equal beginnings are shared, leaves never. {0} is empty. */
typedef struct as_hpc_places {
    as_map known; /* a hash of parent, kind and numbers -> index into list */
    as_vec list, text;
} as_hpc_places;

/* The leaf of a tuple: a location with this source_id, its rank, and the attributes id_tuple ("NODE:0:713047168
 * RANK:1:1", logical:physical) and, where any are set, id_tuple_bits ("0 3"). An empty tuple is a leaf of kind
 * "profile". ASSAY_NONE when memory is out. */
assay_id as_hpc_add_leaf(as_dataset *ds, as_hpc_places *places, const as_hpc_place *tuple, size_t n, as_str source_id);
void as_hpc_places_free(as_hpc_places *places);

#endif
