/* Private to the writers of HPCToolkit databases: what a database in the making is made of. One pass over the tables
 * gives contexts, metrics and profiles their numbers in the files; values are read row by row (a metric at one context)
 * from where they lie. */
#ifndef AS_FORMATS_HPCTOOLKIT_WRITE_PLAN_H
#define AS_FORMATS_HPCTOOLKIT_WRITE_PLAN_H

#include <limits.h>

#include "dataset/sparse.h"
#include "formats/hpctoolkit/database.h"
#include "formats/hpctoolkit/write.h"

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* Those of regions and contexts that the files have a place for, by owner. */
typedef struct as_hpc_kept {
    /* Of regions */
    uint64_t *offset;
    uint32_t *static_id; /* 0: none */
    int8_t *entry_type;  /* -1: none */
    int8_t *class_of;    /* -1: none */
    /* Of contexts */
    uint32_t *trace_id; /* 0: none */
    int8_t *relation;   /* -1: none */
    uint16_t *propagation;
    char *wrapper; /* 'S', 'C' or 0: an element of the same context inside it */
    /* Of metrics, or NULL */
    const char **scope, **show, **format, **formula;
    const char *title, *description; /* of the dataset, or NULL */
    /* Of locations */
    const char **tuple, **tuple_bits;
    uint32_t max_static_id;
} as_hpc_kept;

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

typedef enum as_hpc_kind {
    AS_HPC_ROOT,
    AS_HPC_ENTRY,
    AS_HPC_FUNCTION,
    AS_HPC_LOOP,
    AS_HPC_LINE,
    AS_HPC_INSTRUCTION,
    AS_HPC_CALL, /* a call site of the 2021 form */
    AS_HPC_PLACELESS
} as_hpc_kind;

/* Slots: the dataset's contexts, and behind them two that it may lack. */
enum { AS_HPC_EXTRA_ROOT, AS_HPC_EXTRA_ENTRY, AS_HPC_EXTRAS };

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* How the values of a metric of the files come from those of the dataset's. */
typedef enum as_hpc_make {
    AS_HPC_AS_IT_IS,   /* exclusive ones that are where they were measured: with those of pieces (dataset/pieces.h) */
    AS_HPC_SUMS,       /* inclusive values from exclusive ones */
    AS_HPC_DIFFERENCES /* exclusive values from inclusive ones */
} as_hpc_make;

enum { AS_HPC_COUNT, AS_HPC_SUM, AS_HPC_SUMSQ, AS_HPC_MIN, AS_HPC_MAX, AS_HPC_STATISTICS };
extern const char *const as_hpc_statistic_names[AS_HPC_STATISTICS];

/* A metric of the files. */
typedef struct as_hpc_side {
    assay_id metric;
    as_metric_kind kind;
    as_hpc_make make;
    uint32_t group;      /* of the sides of one name */
    uint16_t id;         /* in thread profiles */
    uint16_t summary_id; /* in the summary profile, of its first statistic; others follow */

    const as_profile *profile;    /* sparse: rows are read from there. Else: */
    uint64_t *starts;             /* of the rows of each context; NULL: no values */
    as_vec at, values;            /* uint32_t, double: profiles (from 0) ascending, and what they have */
    double *extra[AS_HPC_EXTRAS]; /* for each profile, or NULL */
    uint32_t *profile_of_column;  /* of a sparse profile; NULL: the same number */
} as_hpc_side;

typedef struct as_hpc_group {
    as_str name;
    bool names_unit;                                      /* the unit stands behind the name */
    assay_id first;                                       /* metric of the dataset */
    uint32_t inclusive, exclusive, point, lexical, other; /* indexes of sides, or ASSAY_NONE */
    unsigned statistics;                                  /* bits of the statistics that its sides have */
} as_hpc_group;

/* ---- places ------------------------------------------------------------------------------------------------------ */

typedef struct as_hpc_planned_profile {
    assay_id location;           /* ASSAY_NONE: of values without a place */
    uint32_t first_id, n_ids;    /* in plan->ids_of_places */
    uint64_t first_made, n_made; /* samples made from its intervals, in plan->made_samples */
} as_hpc_planned_profile;

typedef struct as_hpc_identifier {
    uint16_t kind; /* index into plan->kinds */
    uint8_t bits;  /* as the form written has it */
    uint64_t logical, physical;
} as_hpc_identifier;

/* A number of the summary profile. */
typedef struct as_hpc_total {
    uint32_t context; /* id in the files */
    uint16_t id;
    double value;
} as_hpc_total;

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

typedef struct as_hpc_plan {
    const as_dataset *ds;
    as_hpc_form form;
    assay_id run;
    unsigned threads;
    assay_error *error;
    bool is_family; /* the dataset comes from a database of HPCToolkit */
    as_arena arena;
    as_hpc_kept kept;

    uint32_t n_contexts, n_slots; /* of the dataset; with the extra ones */
    assay_id root;                /* the context that is the global root, or ASSAY_NONE: the extra one */
    bool has_entry;               /* the extra entry point is there */
    bool has_only_entry;          /* and it is the only one */
    uint8_t *kinds_of_contexts;   /* as_hpc_kind */
    uint32_t *ids;                /* for each slot its id in the files */
    uint32_t *trace_ids;          /* for each context */
    uint32_t n_ids;               /* the largest of them + 1 */
    uint32_t *slot_of;            /* for each id, or UINT32_MAX */
    bool keeps_ids;               /* they are the source's */

    as_vec sides, groups;  /* as_hpc_side ascending by id; as_hpc_group */
    unsigned summary_bits; /* by how much ids are shifted to make those of the summary profile; 2021 only */
    bool has_totals;       /* the dataset has statistics: they are written */
    as_vec totals;         /* as_hpc_total, ascending; complete once the rows were written */

    as_vec kinds;                   /* const char *: names of the kinds of identifiers */
    as_vec profiles, ids_of_places; /* as_hpc_planned_profile, as_hpc_identifier */
    uint32_t *profile_of_location;  /* from 0, or UINT32_MAX */
    uint32_t placeless_profile;     /* of values without a place, or UINT32_MAX */

    as_vec made_samples; /* as_trace_sample, in nanoseconds: where the dataset has intervals instead of trace lines */
    uint64_t made_start; /* the run's start in them */
} as_hpc_plan;

static inline as_hpc_side *as_hpc_side_at(const as_hpc_plan *plan, size_t i) {
    return &AS_AT(as_hpc_side, &plan->sides, i);
}
static inline as_hpc_group *as_hpc_group_at(const as_hpc_plan *plan, size_t i) {
    return &AS_AT(as_hpc_group, &plan->groups, i);
}

/* To be freed in every case. Values that cannot be read row by row are read here. */
assay_status as_hpc_plan_make(as_hpc_plan *plan, const as_writer *writer, as_hpc_form form);
void as_hpc_plan_free(as_hpc_plan *plan);
/* Only its metrics, as if their sums were stored: what the loss report looks at. To be freed in every case. */
assay_status as_hpc_plan_outline(as_hpc_plan *plan, const as_dataset *ds, as_hpc_form form, assay_error *error);

/* The steps of it, each in its own file. */
assay_status as_hpc_plan_metrics(as_hpc_plan *plan);
assay_status as_hpc_plan_places(as_hpc_plan *plan);
assay_status as_hpc_plan_intervals(as_hpc_plan *plan);
assay_status as_hpc_plan_values(as_hpc_plan *plan);
assay_status as_hpc_plan_totals(as_hpc_plan *plan);

/* Whether a metric's values can be written at all: numbers that are no formula's. */
bool as_hpc_can_write(const as_dataset *ds, assay_id metric);
/* The kind of a context of a database. */
as_hpc_kind as_hpc_kind_of(const as_dataset *ds, const as_context *context);
/* Whether it was read from a format whose name begins like that: "hpctoolkit-4" is also its draft. False for one made
 * in memory. */
static inline bool as_hpc_is_from(const as_dataset *ds, const char *format) {
    return ds->format && strncmp(ds->format, format, strlen(format)) == 0;
}
/* Whether it comes from a database of HPCToolkit, of any generation: its words are theirs. */
static inline bool as_hpc_is_family(const as_dataset *ds) { return as_hpc_is_from(ds, "hpctoolkit"); }
/* Whether a context hangs directly below the global root. */
static inline bool as_hpc_is_top(const as_hpc_plan *plan, assay_id context) {
    return plan->kinds_of_contexts[context] != AS_HPC_PLACELESS && context != plan->root &&
           as_ds_context(plan->ds, context)->parent == plan->root;
}
/* Whether a context hangs there and is an entry point of the released form. */
bool as_hpc_is_entry(const as_hpc_plan *plan, assay_id context);
/* How a context comes about in the one above it, as the released form numbers it. */
enum { AS_HPC_NESTED, AS_HPC_CALLED, AS_HPC_INLINED };
uint8_t as_hpc_relation(const as_hpc_plan *plan, assay_id context);
/* Whether the name of a module or file says that none is known: NULL, "<unknown file>", "<no module>". */
bool as_hpc_is_unknown(const char *name);
#define AS_HPC_UNKNOWN_FILE_NAME "<unknown file>" /* "<unknown file> [lib.so]": one of this module */
/* The place of a statistic among those of a side, counted from 0. */
static inline unsigned as_hpc_statistic_index(unsigned statistics, unsigned statistic) {
    return (unsigned)__builtin_popcount(statistics & ((1u << statistic) - 1));
}
/* What a side has at a slot: line->at are profiles from 0, ascending. Safe from several threads. */
assay_status as_hpc_read_row(const as_hpc_plan *plan, const as_hpc_side *side, uint32_t slot, as_sparse_line *line,
                             assay_error *error);
/* Adds the statistics of a row to a vector of as_hpc_total, in order. False when memory is out. */
bool as_hpc_add_totals(const as_hpc_plan *plan, const as_hpc_side *side, uint32_t context, const as_sparse_line *line,
                       as_vec *totals);
/* "CPUTIME (sec)", NUL-terminated, into a vector of char (cleared first). False when memory is out. */
bool as_hpc_group_name(const as_hpc_plan *plan, const as_hpc_group *group, as_vec *name);
/* The name of a context in the dataset; never NULL. */
const char *as_hpc_context_name(const as_hpc_plan *plan, assay_id context);
/* The title of the database; never NULL. */
const char *as_hpc_title(const as_hpc_plan *plan);

/* ---- metrics that are only a formula ----------------------------------------------------------------------------- */

/* Whether a derived metric has a formula that the form can hold, of both sides. */
bool as_hpc_is_written(const as_hpc_plan *plan, assay_id metric);
/* A formula in the words of experiment.xml, "($1280/$2304)", and of default.yaml, "[*m0-execution-sum, "/", …]". False
 * where it cannot be said; out may be NULL. */
bool as_hpc_put_formula_2021(const as_hpc_plan *plan, as_output *out, const char *text, bool is_exclusive);
bool as_hpc_put_formula_4(const as_hpc_plan *plan, as_output *out, const char *text, bool is_exclusive);

/* ---- the files --------------------------------------------------------------------------------------------------- */

/* profile.db and cct.db, and trace.db. */
assay_status as_hpc_write_values(as_hpc_plan *plan, as_output_directory *directory);
assay_status as_hpc_write_traces(const as_hpc_plan *plan, as_output_directory *directory);
/* Of each context whether it is a section or below one, to be freed; NULL when memory is out. */
bool *as_hpc_find_sections(const as_dataset *ds);
/* Whether an interval becomes a part of a trace line: it has a context, and is no part of a section, whose intervals
 * overlap whatever else there is. */
bool as_hpc_is_traceable(const as_dataset *ds, const as_event *event, const bool *in_section);
/* The trace line of a profile: as the dataset has it, or made from intervals. n is 0 where it has none. */
typedef struct as_hpc_line {
    uint64_t n;
    const as_trace_line *stored;
    const as_trace_sample *made;
} as_hpc_line;
as_hpc_line as_hpc_line_of(const as_hpc_plan *plan, size_t profile);
/* Samples first … first + n - 1 in order of time. */
assay_status as_hpc_line_read(const as_hpc_plan *plan, const as_hpc_line *line, uint64_t first, size_t n,
                              as_trace_sample *out);
/* Time stamps of all lines in a second. */
static inline double as_hpc_ticks(const as_hpc_plan *plan) {
    return as_trace_line_count(&plan->ds->traces) ? plan->ds->traces.ticks_per_second : 1e9;
}
/* The first and the last time stamp as they are written; the run's start where the source says it. */
assay_status as_hpc_trace_range(const as_hpc_plan *plan, uint64_t *first, uint64_t *last, bool *has_samples);
/* The metadata of either form. */
assay_status as_hpc_write_xml(as_hpc_plan *plan, as_output_directory *directory);
assay_status as_hpc_write_meta(as_hpc_plan *plan, as_output_directory *directory);
assay_status as_hpc_write_yaml(const as_hpc_plan *plan, as_output_directory *directory);
assay_status as_hpc_write_description(const as_hpc_plan *plan, as_output_directory *directory);
/* Copies a file of a directory. */
assay_status as_hpc_copy_file(const as_hpc_plan *plan, const char *from, const char *name,
                              as_output_directory *directory);
/* The database of the released form that the dataset is; false where it is none, or has no metrics/default.yaml to be
 * copied. */
bool as_hpc_metrics_directory(const as_dataset *ds, char directory[PATH_MAX]);
/* Whether a file of a region is a copy inside the database, "src/main.c" or "./src/main.c". */
bool as_hpc_is_copied(const as_dataset *ds, as_str file);

#endif
