/* Private to the writer of experiment.xml: the tables that its tree refers to. */
#ifndef AS_FORMATS_HPCTOOLKIT_WRITE_XML_H
#define AS_FORMATS_HPCTOOLKIT_WRITE_XML_H

#include "formats/hpctoolkit/write_plan.h"

enum { AS_HPC_UNKNOWN_FILE = 2147483647 };

/* A Procedure, LoadModule or File. name NULL: see `of`. */
typedef struct as_hpc_entry {
    uint32_t id;
    const char *name;
    const char *of;  /* File: "<unknown file> [of]" */
    uint64_t offset; /* Procedure */
    int8_t class_of; /* Procedure: 0 or less: not written */
} as_hpc_entry;

typedef struct as_hpc_tables {
    as_hpc_plan *plan;
    as_vec procedures, modules, files; /* as_hpc_entry */
    as_map known_procedures;           /* as_pair(region, name) -> index */
    as_map known_modules,
        known_files;      /* string -> index; of files also as_pair(1, module): the unknown one of a module */
    as_map procedure_ids; /* ids that are taken */
    uint32_t next_unknown, next_file, next_module, next_procedure;
    uint32_t *static_ids;   /* for each region */
    uint32_t *procedure_of; /* for each context the index of its procedure, or UINT32_MAX */
    uint32_t *file_of;      /* for each region its file's id */
    uint32_t *module_of;    /* for each region its module's id */
} as_hpc_tables;

/* False when memory is out; to be freed in every case. */
bool as_hpc_tables_make(as_hpc_tables *tables, as_hpc_plan *plan);
void as_hpc_tables_free(as_hpc_tables *tables);
void as_hpc_tables_write(const as_hpc_tables *tables, as_output *out);

/* MetricTable and MetricDBTable. False when memory is out. */
bool as_hpc_metric_tables_write(const as_hpc_plan *plan, as_output *out);

/* Whether a context is written as a frame of its own, PF. */
bool as_hpc_is_frame(const as_hpc_plan *plan, assay_id context);

/*  v="0x1a86d", with a blank before it. */
void as_hpc_put_offset(as_output *out, uint64_t offset);

#endif
