/* experiment.xml of both generations: 4.0, the metadata of a database of 2021, and 2.x, which has values too.
 *
 * experiment.c reads the document and its tables, experiment_tree.c makes contexts of the elements of the tree,
 * experiment_regions.c says what they are contexts of. The formats that use them are experiment_2021.c and
 * experiment_2x.c. */
#ifndef AS_FORMATS_HPCTOOLKIT_EXPERIMENT_H
#define AS_FORMATS_HPCTOOLKIT_EXPERIMENT_H

#include "formats/hpctoolkit/hpctoolkit.h"
#include "io/xml_scan.h"

/* ---- ids --------------------------------------------------------------------------------------------------------- */

/* What an attribute refers to: a number below AS_HPC_LITERAL, or a name itself (in old files), as AS_HPC_LITERAL + the
 * id of its text. */
typedef uint64_t as_hpc_ref;
#define AS_HPC_NO_REF  UINT64_MAX
#define AS_HPC_LITERAL (1ull << 62)

/* Numbers to ids, or to several, one a column, that are often asked for together. Numbers that a document of some size
 * can have, if it counts from 0 or 1, are looked up in an array. */
typedef struct as_hpc_ids {
    as_vec near; /* assay_id[n_columns] */
    as_map far;
    as_vec far_keys; /* uint64_t: number * n_columns + column */
    uint64_t limit;  /* of near ones */
    uint32_t n_columns;
} as_hpc_ids;

/* ASSAY_NONE: unknown. Numbers are below AS_HPC_LITERAL. */
assay_id as_hpc_ids_get(const as_hpc_ids *ids, uint32_t column, uint64_t number);
/* False when memory is out. */
bool as_hpc_ids_put(as_hpc_ids *ids, uint32_t column, uint64_t number, assay_id id);
/* How many numbers, from 0, are near so far. */
static inline size_t as_hpc_ids_near(const as_hpc_ids *ids) { return ids->near.count; }
/* It will be asked for soon. */
static inline void as_hpc_ids_prefetch(const as_hpc_ids *ids, uint64_t number) {
    if (number < ids->near.count) __builtin_prefetch((const assay_id *)ids->near.data + number * ids->n_columns, 1);
}

/* Columns of as_hpc_experiment.contexts: ids in the tree of the context with this id, and of the one that samples mean
 * with this number (`it`). */
enum { AS_HPC_OF_VALUES, AS_HPC_OF_SAMPLES };

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* A row of LoadModuleTable, FileTable or ProcedureTable. */
typedef struct as_hpc_name {
    as_str name;
    int64_t class; /* `f` of a Procedure; 0: none */
} as_hpc_name;

typedef struct as_hpc_names {
    as_map index; /* as_hpc_ref -> index into rows */
    as_vec rows;  /* as_hpc_name */
} as_hpc_names;

/* A Metric or a MetricDB, texts as they stand there; AS_NO_STR: absent. */
typedef struct as_hpc_xml_metric {
    as_str id, name, description, partner, value_type, type, show, show_percent, format;
    as_str order;         /* `o`: what #n of formulas means */
    as_str combine, view; /* formulas; view: or finalize, which has its role in 2.x */
    as_str column;        /* db-id of a MetricDB of 2.x */
    const char *at;       /* the element, for messages */
} as_hpc_xml_metric;

/* An inline value of 2.x. */
typedef struct as_hpc_value {
    assay_id context; /* of the tree */
    as_hpc_ref metric;
    double value;
} as_hpc_value;

/* Texts that come again and again. */
typedef struct as_hpc_words {
    as_str root, function, loop, line, call, module, file; /* kinds of regions */
    as_str static_id, offset, class, trace_id, wrapper;    /* keys of attributes */
} as_hpc_words;

/* ---- the document ------------------------------------------------------------------------------------------------ */

typedef struct as_hpc_experiment {
    as_reader *reader;
    as_dataset *ds;
    as_xml_scan scan;
    const char *path; /* of experiment.xml */
    as_str version;
    bool is_2x;   /* values inside, the root is context 1 */
    bool is_flat; /* a flat profile of 2.x */

    as_hpc_names modules, files, procedures;
    as_vec kinds;                     /* as_str: names of the kinds of tuple elements; AS_NO_STR: none */
    as_vec metrics, database_metrics; /* as_hpc_xml_metric: of MetricTable and MetricDBTable */
    double ticks_per_second;          /* 0: the document does not say */
    bool has_start;
    uint64_t start; /* the first time stamp */

    as_tree tree;
    as_hpc_ids contexts;       /* AS_HPC_OF_VALUES, AS_HPC_OF_SAMPLES */
    as_vec values;             /* as_hpc_value */
    as_vec context_attributes; /* as_attribute, owner_id being an id in the tree */

    /* Private */
    as_vec frames;            /* open elements of the tree */
    as_vec marks;             /* what is known of each context of the tree */
    as_hpc_ids first_regions; /* static id -> the first region that has it */
    as_map more_regions;      /* hash of what a region is known by -> region, of all others */
    as_vec region_keys;       /* one for each region of the dataset */
    as_vec text;              /* char: a name in the making */
    as_hpc_name_room name_room;
    as_hpc_words words;
} as_hpc_experiment;

/* Reads a document into the reader's dataset: title, regions, and what the struct has of metrics and the tree, which is
 * not finished yet. The bytes must stay until as_hpc_experiment_free(), which is to be called in every case. */
assay_status as_hpc_experiment_read(as_hpc_experiment *experiment, as_reader *reader, const char *path,
                                    const char *data, size_t size, bool is_2x);
void as_hpc_experiment_free(as_hpc_experiment *experiment);

/* Puts the tree into the dataset, with the attributes of its contexts. *new_ids: for each id in the tree its final one,
 * in the dataset's arena. */
assay_status as_hpc_experiment_finish(as_hpc_experiment *experiment, const assay_id **new_ids);

/* Says where the copies of sources lie, if the database has any. */
assay_status as_hpc_note_sources(as_reader *reader, const char *directory);

/* The reference in an attribute's value; AS_HPC_NO_REF where it is absent (NULL), and *fine is cleared where memory is
 * out. */
as_hpc_ref as_hpc_ref_parse(as_hpc_experiment *experiment, const as_xml_attribute *attribute, bool *fine);
/* The name that a table has for it, else what stands there itself. AS_NO_STR where there is none; *fine is cleared
 * where memory is out. */
as_str as_hpc_name_of(as_hpc_experiment *experiment, const as_hpc_names *names, as_hpc_ref ref, bool *fine);

/* The reader's as_broken() and as_warn() at a place in the document. */
#define AS_HPC_BROKEN(experiment, at, ...)                                                                             \
    as_broken((experiment)->reader, as_xml_scan_place(&(experiment)->scan, at), __VA_ARGS__)
#define AS_HPC_WARN(experiment, at, ...)                                                                               \
    as_warn((experiment)->reader, as_xml_scan_place(&(experiment)->scan, at), __VA_ARGS__)

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

typedef enum as_hpc_tag {
    AS_HPC_PF, /* frame of a procedure */
    AS_HPC_PR, /* procedure inside one */
    AS_HPC_P,  /* procedure of a flat profile */
    AS_HPC_C,  /* call site */
    AS_HPC_L,  /* loop */
    AS_HPC_S,  /* line */
    AS_HPC_A,  /* lines that come from elsewhere */
    AS_HPC_LM, /* module of a flat profile */
    AS_HPC_F,  /* file of a flat profile */
    AS_HPC_M,  /* value */
    AS_HPC_OTHER
} as_hpc_tag;

/* A start tag of the tree. */
typedef struct as_hpc_element {
    as_hpc_tag tag;
    bool has_id, has_trace_id, is_alien;
    int64_t id;
    uint64_t trace_id;
    as_hpc_ref static_id, name, file, module;
    uint64_t offset;
    int64_t line;     /* 0: unknown */
    int64_t line_end; /* of a range, else -1 */
} as_hpc_element;

void as_hpc_tree_init(as_hpc_experiment *experiment);
void as_hpc_tree_free(as_hpc_experiment *experiment);
/* The root of all contexts, below which everything else will be. */
assay_status as_hpc_add_root(as_hpc_experiment *experiment);
/* Reads the tree below the element that was just started (SecCallPathProfileData), to its end. */
assay_status as_hpc_read_tree(as_hpc_experiment *experiment);

/* ---- regions ----------------------------------------------------------------------------------------------------- */

/* Interns experiment->words. False when memory is out. */
bool as_hpc_words_init(as_hpc_experiment *experiment);
/* The region of an element, shared by all that say the same of it. file and module: its own, or those of the elements
 * around it. ASSAY_NONE when memory is out. Loops, lines and call sites have no names yet. */
assay_id as_hpc_region(as_hpc_experiment *experiment, const as_hpc_element *element, as_hpc_ref file,
                       as_hpc_ref module);
/* Gives names to those that have none yet. */
assay_status as_hpc_name_places(as_hpc_experiment *experiment);
/* That of the root of all contexts. */
assay_id as_hpc_root_region(as_hpc_experiment *experiment);

#endif
