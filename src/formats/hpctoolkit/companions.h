/* The files beside an experiment.xml of version 2.x: values of each thread (*.metric-db, or experiment-N.mdb with all
 * of them) and trace lines (*.hpctrace, or experiment.mt with all of them).
 *
 * The reader of the XML opens them, asks which nodes have values, builds its tables, and then says what the files'
 * numbers stand for. From there on values and samples are read from the mapped files when somebody asks. */
#ifndef AS_FORMATS_HPCTOOLKIT_COMPANIONS_H
#define AS_FORMATS_HPCTOOLKIT_COMPANIONS_H

#include "formats/format.h"

typedef struct as_hpc_companions as_hpc_companions;

/* Maps the companions that a directory has, be it none. What is damaged is left out, with a warning. Names of files say
 * whose they are: …-RANK-THREAD-HOST-PID-GENERATION; a pair of rank and thread that has a file of its own is not looked
 * up in the merged one. The companions belong to the dataset from here on. */
assay_status as_hpc_companions_open(as_reader *reader, const char *directory, as_hpc_companions **out);

/* Node ids of values are 1 … this; 0 where there are none. */
uint32_t as_hpc_companions_nodes(const as_hpc_companions *companions);
/* Whether any file has a value other than 0 for the node in any column. */
bool as_hpc_companions_node_has_values(const as_hpc_companions *companions, uint32_t node_id);

/* A metric of the MetricDBTable. */
typedef struct as_hpc_column {
    uint32_t id; /* db-id */
    assay_id metric;
} as_hpc_column;

typedef struct as_hpc_companions_meaning {
    const as_hpc_column *columns; /* copied */
    size_t n_columns;
    const assay_id
        *contexts; /* for each node id its context in the dataset, or ASSAY_NONE: it has no values then; copied */
    size_t n_contexts;
    /* of each `it` (or node id) its context; taken over, and empty afterwards. NULL: nothing is known, samples have no
     * contexts */
    as_map *trace_contexts;
    double ticks_per_second;
} as_hpc_companions_meaning;

/* Adds to the dataset, whose metrics and contexts are complete: one run (if there is none yet), a leaf location for
 * each rank and thread (source_id "RANK.THREAD"), sparse profiles of the metrics, and trace lines. A column that two
 * metrics claim is the first one's, with a warning; a metric without a column has no values. */
assay_status as_hpc_companions_attach(as_reader *reader, as_hpc_companions *companions,
                                      const as_hpc_companions_meaning *meaning);

#endif
