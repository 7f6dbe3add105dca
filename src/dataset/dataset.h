/* The data model: everything one open yields, in tables of dense ids. The words are those of docs/architecture.md.
 *
 * Readers fill a dataset through dataset/build.h (or, for points and repetitions, dataset/experiment.h); everybody else
 * only reads it. Strings are ids into ds->strings. ASSAY_NONE and AS_NO_STR: absent. NAN in a statistic: the source
 * does not say it. */
#ifndef AS_DATASET_DATASET_H
#define AS_DATASET_DATASET_H

#include <math.h>
#include <pthread.h>

#include "core/error.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/strings.h"
#include "core/table.h"
#include "dataset/events.h"
#include "dataset/problems.h"
#include "dataset/profile.h"
#include "dataset/share.h"
#include "dataset/trace.h"

/* ---- entities ---------------------------------------------------------------------------------------------------- */

typedef struct as_run {
    as_str source_id, source;
    assay_id point;      /* ASSAY_NONE where there are no parameters */
    uint32_t repetition; /* from 0 */
    double start_time;   /* seconds since 1970, NAN: unknown */
} as_run;

typedef enum as_metric_kind {
    AS_KIND_NONE,
    AS_KIND_INCLUSIVE,
    AS_KIND_EXCLUSIVE,
    AS_KIND_POINT,
    AS_KIND_LEXICAL,
    AS_KIND_DERIVED
} as_metric_kind;

typedef struct as_metric {
    as_str source_id, name, display_name, unit, description;
    as_str dtype; /* as the source writes it, "DOUBLE", "UINT64" … */
    as_metric_kind kind;
    assay_id parent;
    /* Each context's values are all there is to say of it: neither sums nor differences along the tree make anything of
     * them. Where a source stores inclusive and exclusive values, the exclusive ones (of a loop's function, say, they
     * have the loop's as well) are another metric's. */
    bool is_stored;
    assay_id exclusive; /* of an inclusive one that is_stored: the metric with its exclusive values, or ASSAY_NONE */
    /* the metric that this one is another side of: the inclusive one, or where there is none an exclusive one;
     * ASSAY_NONE: none. Views and nodes are that one's */
    assay_id part_of;
} as_metric;

typedef struct as_region {
    as_str source_id, name, mangled, kind, file, module;
    int64_t line_begin, line_end; /* -1: unknown */
} as_region;

/* What a context is to the views. */
typedef enum as_context_role {
    AS_ROLE_CALL,      /* a call of its region, or whatever counts as one */
    AS_ROLE_INNER,     /* a loop, line or instruction: a piece of the nearest call above it */
    AS_ROLE_CALL_SITE, /* where the calls below it come from: one with its callee, or, with none, an inner one */
    AS_ROLE_PLACELESS  /* it has values, but no place in the tree: parent and region ASSAY_NONE; views leave it out */
} as_context_role;

typedef struct as_context {
    as_str source_id; /* where is_numbered, the number itself: as_context_source_id() has the text of both */
    as_str name;
    assay_id parent, region;
    uint32_t depth;    /* roots: 0 */
    uint32_t subtree;  /* contexts in the subtree, itself included: its ids are id … id + subtree - 1 */
    int64_t line;      /* call site, -1: unknown */
    uint32_t role : 8; /* as_context_role */
    /* the compiler put the callee in place. A call where its exclusive values are its own alone; an inner one where
     * those of the call above have them as well */
    bool is_inlined : 1;
    bool is_numbered : 1;
    /* its values say again, in another way, what others have (a wait within a call): sums along the tree, totals and
     * shares leave it out, with all below it */
    bool is_aside : 1;
    bool is_callpath : 1;    /* the source names it as such; inner nodes that only lie on the way are not */
    uint32_t callpath_order; /* of call paths: in which the source first names them, from 0 without gaps */
} as_context;

typedef struct as_location {
    as_str source_id, kind, name;
    assay_id parent;
    int64_t rank; /* -1: none */
    bool leaf;
} as_location;

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* All values of one metric, or of one metric in one run: rows grouped by context, contexts ascending; inside a context
 * by run, then location. This is how experiments are kept, where a series is read over all runs. Profiles, read run by
 * run, are as_profile (dataset/profile.h). */
typedef struct as_block {
    assay_id metric;
    assay_id run; /* of all rows; ASSAY_NONE: see runs */
    uint32_t n_contexts;
    const assay_id *contexts; /* ascending, without repeats */
    const uint64_t *starts;   /* n_contexts + 1; rows of contexts[i]: starts[i] … starts[i + 1] - 1 */
    const assay_id
        *runs;       /* one a row, or NULL; where period is set, those of a context's rows, the same for all contexts */
    uint32_t period; /* rows of each context, where all have the same runs; else 0 */
    const assay_id *locations; /* one a row (ASSAY_NONE: none), or NULL: none */
    as_dtype dtype;            /* AS_DTYPE_INT64, AS_DTYPE_UINT64 or AS_DTYPE_DOUBLE */
    const void *values;        /* int64_t, uint64_t or double */
} as_block;

static inline uint64_t as_block_rows(const as_block *block) { return block->starts[block->n_contexts]; }
static inline assay_id as_block_run(const as_block *block, uint64_t row) {
    return block->runs ? block->runs[block->period ? row % block->period : row] : block->run;
}
/* The runs of the rows of contexts[i], in order; only where block->runs is set. */
static inline const assay_id *as_block_runs(const as_block *block, uint32_t i) {
    return block->runs + (block->period ? 0 : block->starts[i]);
}
static inline assay_id as_block_location(const as_block *block, uint64_t row) {
    return block->locations ? block->locations[row] : ASSAY_NONE;
}
as_number as_block_value(const as_block *block, uint64_t row);
double as_block_real(const as_block *block, uint64_t row);
/* Index into block->contexts, or UINT32_MAX. Binary search. */
uint32_t as_block_find(const as_block *block, assay_id context);

/* A (metric, context) that has data, in the order the source first names it. Where the source stores statistics instead
 * of or beside values, they are measurements[first_measurement …], else n_measurements is 0 and as_measure() computes
 * them. */
typedef struct as_series {
    assay_id metric, context;
    uint64_t first_measurement;
    uint32_t n_measurements;
} as_series;

/* Statistics of one series at one point. NAN: not known; repetitions -1: not known. */
typedef struct as_measurement {
    assay_id point, metric, context;
    int64_t repetitions;
    double mean, median, minimum, maximum, std;
} as_measurement;

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

typedef struct as_summary {
    assay_id metric, context;
    as_str statistic;
    as_cell value;
} as_summary;

/* Adds a dataset's stored statistics, when somebody first asks for them (as_ds_summaries()). */
typedef struct as_summary_source {
    assay_status (*load)(struct as_summary_source *source, struct assay_dataset *ds, assay_error *error);
} as_summary_source;

/* Where a dataset's stored measurements come from, if not from the file itself: values that no run has at a point.
 * Points and repetitions are there at once; the rest is worked out when somebody first asks for it
 * (as_ds_load_measurements()). Both give false when memory is out; values also when visit does. */
typedef struct as_measurement_source {
    bool (*load)(struct as_measurement_source *source, struct assay_dataset *ds);
    bool (*values)(struct as_measurement_source *source,
                   bool (*visit)(void *user, size_t series, assay_id point, double value), void *user);
    bool is_loaded;
    size_t n_elsewhere; /* values of the dataset that are at no point, and in no measurement */
} as_measurement_source;

/* A set of models made in one go. */
typedef struct as_model_set {
    as_str name, modeler, measure; /* modeler: basic, refining, segmented, multi-parameter, or the source's own word */
    as_str raw;                    /* JSON text of the modeler's options as the source writes them, or AS_NO_STR */
    as_str options; /* of models made here: Extra-P's options as JSON members, "allow_log_terms":true,…; or AS_NO_STR */
} as_model_set;

/* c + sum of terms on an interval of the parameter (-inf … inf where it is the only one). */
typedef struct as_segment {
    double constant, from, to;
} as_segment;

/* The errors of one segment's own fit, where the source has them. In order of model and segment. */
typedef struct as_segment_costs {
    assay_id model;
    uint32_t segment;
    double RSS, rRSS, nRSS, SMAPE, AR2, RE;
} as_segment_costs;

typedef struct as_term {
    assay_id model;
    uint32_t segment, term; /* term: terms with one number are multiplied */
    double coefficient;     /* of the whole product, repeated in each factor */
    assay_id parameter;
    as_str exponent, log_exponent; /* "3/2", "2", "0.5"; "0" where there is none; AS_NO_STR in a piecewise factor */
    /* A piecewise factor is the sum of these segments of the model, each on its interval; else 0 */
    uint32_t first_piece, n_pieces;
} as_term;

typedef struct as_model {
    assay_id set, metric, context;
    as_str function; /* as the source writes it; AS_NO_STR: see as_model_function_text() */
    double RSS, rRSS, nRSS, SMAPE, AR2, RE;
    uint32_t first_segment, n_segments;
    uint32_t n_pieces; /* segments behind them that belong to piecewise factors */
    uint32_t first_term, n_terms;
    as_str raw; /* JSON text of the model as the source writes it, or AS_NO_STR */
} as_model;

/* What the rows of a table of records are. All but the first say in another way what is there elsewhere. */
typedef enum as_record_meaning {
    AS_RECORDS_OWN,     /* the source's */
    AS_RECORDS_DERIVED, /* of anything */
    AS_RECORDS_PARTS,   /* each a part of a row of "record", whose id is in the column "record" */
    /* what is counted of what is in the column "name": over all rows of "record" integers add up, and texts that differ
     * are "both" */
    AS_RECORDS_COUNTS,
} as_record_meaning;

/* Rows of the source's own columns. The first two columns are "id" and "run"; the table "record" is one of these, a
 * format may add others. */
typedef struct as_record_table {
    as_str name;
    as_table *table;
    struct as_records
        *records; /* where the rows share their cells (dataset/records.h): what the table is a view of; else NULL */
    as_record_meaning meaning;
} as_record_table;

/* A derived metric: how its value comes about (dataset/formulas.h). */
typedef enum as_derived_kind {
    AS_DERIVED_POST,          /* from the sums of its operands */
    AS_DERIVED_PRE_INCLUSIVE, /* from inclusive operands at each location, then added up like inclusive values */
    AS_DERIVED_PRE_EXCLUSIVE  /* from exclusive operands at each location, then added up like exclusive values */
} as_derived_kind;
typedef struct as_derivations as_derivations;

/* What is released with the dataset. */
typedef struct as_holding {
    void *object;
    void (*release)(void *object);
} as_holding;

/* How the values of several locations at one point become one series: all of them in one pool; without zeros, unless
 * all of a run's are; summed for each run. */
typedef enum as_scaling { AS_SCALING_WEAK, AS_SCALING_WEAK_THREADED, AS_SCALING_STRONG } as_scaling;
const char *as_scaling_name(as_scaling scaling); /* "weak", "weak_threaded", "strong": what files say */

/* ---- the dataset ------------------------------------------------------------------------------------------------- */

/* Numbers of what is in an input, where it was only looked at (as_reader.is_overview). AS_NOT_COUNTED: nobody knows
 * without reading it. */
#define AS_NOT_COUNTED UINT64_MAX
typedef struct as_overview {
    bool is_set; /* else everything was read, and the tables of the dataset say it */
    uint64_t regions, contexts, locations, values, events, attributes;
} as_overview;

struct assay_dataset {
    as_budget budget;
    as_arena arena;
    as_strings strings;

    const char *format; /* static name of the format that read it */
    as_str format_version, path;
    /* the directory that relative files of regions lie in, where the source has copies of them; or AS_NO_STR */
    as_str source_root;
    int evidence; /* bits the format verified when it claimed the input; 0: it was named */
    uint64_t input_size;
    as_share share; /* of whose call paths the values and statistics are here; series and points are those of all */

    as_vec parameters;  /* as_str */
    as_vec coordinates; /* double: points x parameters */
    size_t n_points;
    bool whole_coordinates; /* the source writes whole coordinates as integers, 4 instead of 4.0 */
    as_vec runs, metrics, regions, contexts, locations;
    /* private, atomic: how many contexts there were when they were last looked through, and what they have
     * (dataset.c) */
    uint64_t seen_contexts;
    assay_id first_metric; /* the one that the source wants to be shown first; ASSAY_NONE: it does not say */
    as_vec blocks, series, measurements, summaries;
    as_vec events;                       /* as_event; empty where there is an event_source */
    const as_event_source *event_source; /* NULL: events has all of them. Lives in the arena or among the holdings */
    /* Index into blocks of the one with all runs, or ASSAY_NONE; metrics beyond its end have none */
    as_vec block_of_metric;
    as_map block_of_run;                       /* as_pair(metric, run) -> index into blocks, of those of one run */
    as_summary_source *summary_source;         /* NULL: summaries has all of them */
    bool summaries_are_checked;                /* private: as_ds_check() looked at them */
    as_measurement_source *measurement_source; /* NULL: they are as the source stores them */
    size_t n_left_out;                         /* values of parts that merging left out, because they are at no point */
    as_traces traces;
    as_vec profiles;          /* as_profile */
    uint64_t n_sparse_values; /* stored values of sparse profiles, as the source says */
    as_map profile_of;        /* as_pair(metric, run) -> index into profiles */
    pthread_mutex_t loading;
    as_scaling pooling;          /* how the values of a profile's locations become measurements */
    as_vec holdings;             /* as_holding: inputs that profiles point into */
    as_derivations *derivations; /* of derived metrics; NULL: there are none */
    as_vec model_sets, models, segments, segment_costs, terms;
    as_vec attributes, records; /* records: as_record_table */
    as_problems problems;
    pthread_mutex_t checking; /* private: as_ds_check() */
    as_overview overview;
    /* what the reader of `format` keeps for its own writer, in the arena or among the holdings; nobody else makes
     * anything of it. NULL: nothing */
    const void *of_format;
};
typedef struct assay_dataset as_dataset;

/* NULL when memory is out, or the limit is below some 5000 bytes. memory_limit 0: three quarters of the machine's
 * memory. */
as_dataset *as_dataset_new(uint64_t memory_limit);
/* The same, and what it takes is taken from the parent, too, which must live longer. */
as_dataset *as_dataset_new_below(as_budget *parent, uint64_t memory_limit);
/* For what somebody who only reads the dataset needs for a while: it counts as the dataset's. */
static inline as_budget *as_ds_budget(const as_dataset *ds) { return &((as_dataset *)(uintptr_t)ds)->budget; }
void as_dataset_free(as_dataset *ds);
/* Drops all data but the problems: what a reader that was stopped half-way leaves does not hold together. */
void as_dataset_forget_data(as_dataset *ds);

#define AS_COUNT(ds, member) ((ds)->member.count)
static inline const char *as_ds_text(const as_dataset *ds, as_str id) { return as_str_text(&ds->strings, id); }
static inline size_t as_ds_parameters(const as_dataset *ds) { return ds->parameters.count; }
static inline const char *as_ds_parameter(const as_dataset *ds, size_t i) {
    return as_ds_text(ds, AS_AT(as_str, &ds->parameters, i));
}
const as_run *as_ds_run(const as_dataset *ds, assay_id id);
const as_metric *as_ds_metric(const as_dataset *ds, assay_id id);
static inline const as_region *as_ds_region(const as_dataset *ds, assay_id id) {
    return &AS_AT(as_region, &ds->regions, id);
}
static inline const as_context *as_ds_context(const as_dataset *ds, assay_id id) {
    return &AS_AT(as_context, &ds->contexts, id);
}
const as_location *as_ds_location(const as_dataset *ds, assay_id id);
const as_series *as_ds_series(const as_dataset *ds, size_t index);
const as_block *as_ds_block(const as_dataset *ds, size_t index);
const as_measurement *as_ds_measurement(const as_dataset *ds, uint64_t index);
const as_model *as_ds_model(const as_dataset *ds, assay_id id);
const as_model_set *as_ds_model_set(const as_dataset *ds, assay_id id);
const as_segment *as_ds_segment(const as_dataset *ds, size_t index);
/* Those of a segment (from 0) of a segmented model, or NULL. Binary search. */
const as_segment_costs *as_ds_segment_costs(const as_dataset *ds, assay_id model, uint32_t segment);
const as_term *as_ds_term(const as_dataset *ds, size_t index);
const as_attribute *as_ds_attribute(const as_dataset *ds, size_t index);
const as_problem *as_ds_problem(const as_dataset *ds, size_t index);
/* How many there are by now, and how many more were dropped. */
size_t as_ds_problems(const as_dataset *ds);
uint64_t as_ds_problems_dropped(const as_dataset *ds);
/* The table of records of this name, or NULL. */
as_table *as_ds_records(const as_dataset *ds, const char *name);
/* Stored values, and events (those of trace lines included; as_ds_intervals() of dataset/events.h are those
 * without). */
uint64_t as_ds_values(const as_dataset *ds);
uint64_t as_ds_events(const as_dataset *ds);
/* The stored statistics, *n of them, loaded if they are not yet. Safe from several threads. */
assay_status as_ds_summaries(const as_dataset *ds, const as_summary **summaries, size_t *n, assay_error *error);
size_t as_ds_leaves(const as_dataset *ds);

/* as_ds_parameters(ds) numbers. */
const double *as_ds_point(const as_dataset *ds, assay_id point);
/* "(20,0.5)" into out (cleared first). */
bool as_point_label(const as_dataset *ds, assay_id point, as_vec *out);
/* The contexts that are call paths, in the order the source first names them: *n ids, to be freed. False, and none,
 * when memory is out. */
bool as_ds_callpaths(const as_dataset *ds, assay_id **callpaths, size_t *n);
/* Whether a context stands for the whole program (its region is of the kind "root"): it has values, but no path names
 * it. */
bool as_context_is_root(const as_dataset *ds, assay_id context);
/* Whether a context at the root is a section: its intervals overlap one another and whatever else runs, so they are no
 * part of a whole. Where there is something else (as_ds_has_wholes()), totals are without them. */
bool as_context_is_section(const as_dataset *ds, assay_id context);
/* Whether a region is a process or a thread of one execution, whose name has a number that the operating system gave
 * it. Contexts of such in several datasets are the same by their order among siblings. */
bool as_region_is_place(const as_dataset *ds, assay_id region);
/* Whether a location is a GPU, or a stream of one. */
bool as_location_is_gpu(const as_dataset *ds, assay_id location);
/* Whether something at the root is no section, and does not stand aside. */
bool as_ds_has_wholes(const as_dataset *ds);
/* Whether contexts have roles other than calls: then modules, files, functions and what is inside them can be told
 * apart. */
bool as_ds_has_roles(const as_dataset *ds);
/* Whether a line or instruction has something below it: where none has, no value tells what AS_JOINS_WHERE_IDLE is
 * about (pieces.h). */
bool as_ds_has_calling_lines(const as_dataset *ds);
/* Whether some region is a place (as_region_is_place()). */
bool as_ds_names_places(const as_dataset *ds);
/* How many contexts stand aside (as_context.is_aside), without those below them. */
size_t as_ds_asides(const as_dataset *ds);
/* *out: for each context whether it stands aside, or lies below one that does; to be freed. NULL where there is none.
 * False when memory is out. */
bool as_ds_find_asides(const as_dataset *ds, bool **out);
/* What the source calls the context, in digits or borrowed from the dataset; NULL: nothing. */
const char *as_context_source_id(const as_dataset *ds, assay_id context, char digits[AS_NUMBER_SIZE]);
/* The names from the root joined with "->", NUL-terminated, into out, a vector of char. That of a context that is_root
 * is left out. */
bool as_context_path(const as_dataset *ds, assay_id context, as_vec *out);
/* The last `most` bytes of it, or all; is_whole (may be NULL) says which. Takes no longer for a context a million
 * levels down. */
bool as_context_path_end(const as_dataset *ds, assay_id context, size_t most, as_vec *out, bool *is_whole);
/* The same among contexts that are not in the dataset yet. */
bool as_path_join(const as_strings *strings, const as_context *contexts, assay_id context, as_vec *out);

const char *as_kind_name(as_metric_kind kind);
const char *as_severity_name(as_severity severity);
const char *as_owner_name(as_owner owner);

/* ---- statistics over a point's runs ------------------------------------------------------------------------------ */

/* The block with all runs of this metric, or NULL. */
const as_block *as_ds_metric_block(const as_dataset *ds, assay_id metric);

/* Calls visit for each point the series has data at, in order of point id: as stored, else computed. Inclusive metrics
 * of profiles are measured by their exclusive values, as Extra-P does. Stops early when visit returns false. Profiles
 * must be loaded (as_ds_load()): those that are not have no data. False only when memory is out. */
bool as_measure(const as_dataset *ds, const as_series *series,
                bool (*visit)(void *user, const as_measurement *measurement), void *user);

/* Before somebody reads the statistics of ds->measurements directly; as_measure() does it itself. Safe from several
 * threads. False when memory is out. */
bool as_ds_load_measurements(const as_dataset *ds);

/* Its mean at one point; NAN where it has none. */
bool as_measure_mean(const as_dataset *ds, const as_series *series, assay_id point, double *mean);

/* The kind of the numbers that as_measure() gives for a metric: its own, but exclusive for an inclusive one of
 * profiles. */
as_metric_kind as_measured_kind(const as_dataset *ds, assay_id metric);
/* What contexts[index] of a loaded profile adds to its point's pool: the exclusive values of its locations, as
 * ds->pooling says, behind what out (a vector of double) holds. False when memory is out. */
bool as_pool_row(const as_dataset *ds, const as_profile *profile, uint32_t index, as_vec *out);

/* Mean, median, minimum, maximum and std (divisor n) of n numbers, n > 0; sorts values in place. NaN anywhere makes all
 * NaN. */
void as_statistics(double *values, size_t n, as_measurement *out);

/* Whether an exponent's text is 0: its factor does not show. */
bool as_is_no_exponent(const char *exponent);
/* The function of a model, "c0 + c1 * p^(3/2) * log2(p)^(1)": as the source has it, else in Extra-P's notation from its
 * segments and terms. NUL-terminated into out (a vector of char, cleared first). False when memory is out. */
bool as_model_function_text(const as_dataset *ds, const as_model *model, as_vec *out);
/* The same for people: "12.3 - 0.25 * p^(3/2) * log2(p)^2", coefficients rounded to so many digits. */
bool as_model_function_rounded(const as_dataset *ds, const as_model *model, int digits, as_vec *out);
/* The exact text made from segments and terms, interned. AS_NO_STR when memory is out. */
as_str as_model_function(as_dataset *ds, const as_model *model);

#endif
