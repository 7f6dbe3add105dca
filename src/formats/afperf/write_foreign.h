/* Datasets of other formats as captures: what the parts of it share.
 *
 * Each run of the dataset is a run; parameters and attributes are its tags. A call path is a region, laid out in time
 * so that it nests and lasts as the tree and its times say, and all its measured values are one raw aggregate; where
 * the dataset has events, these are the regions and sections instead. Values are inclusive and added up over
 * locations. */
#ifndef AS_FORMATS_AFPERF_WRITE_FOREIGN_H
#define AS_FORMATS_AFPERF_WRITE_FOREIGN_H

#include "formats/afperf/write.h"

/* ---- values (write_values.c) ------------------------------------------------------------------------------------- */

/* What a metric becomes. */
typedef enum as_af_use {
    AS_AF_USE_MEASURED,  /* a MeasurementType */
    AS_AF_USE_TIME,      /* how long regions last */
    AS_AF_USE_VISITS,    /* how many there are */
    AS_AF_USE_COVERED,   /* of sections */
    AS_AF_USE_SIDE,      /* none: it is another side of one that is written */
    AS_AF_USE_DERIVED,   /* none: it is computed from others */
    AS_AF_USE_NO_NUMBER, /* none: its values are no numbers that add up */
} as_af_use;
as_af_use as_af_use_of(const as_dataset *ds, assay_id metric);
/* Seconds in one of the metric's unit; 0: it is none of time. */
double as_af_unit_seconds(const as_dataset *ds, assay_id metric);
/* That regions last as long as: the one called time, else the first one of time, which is measured as well. ASSAY_NONE:
 * none. */
assay_id as_af_time_metric(const as_dataset *ds);
/* The metric of this use, or ASSAY_NONE. */
assay_id as_af_metric_for(const as_dataset *ds, as_af_use use);

/* A run to write: one of the dataset's, or where it has none but statistics, a point of these. */
typedef struct as_af_written_run {
    assay_id run, point; /* run ASSAY_NONE: the means at the point */
} as_af_written_run;
size_t as_af_runs(const as_dataset *ds);
as_af_written_run as_af_run_at(const as_dataset *ds, size_t index);

/* The inclusive values of a metric in a run, by context. */
typedef struct as_af_values {
    as_number *numbers;
    bool *has;
    size_t n;
} as_af_values;
bool as_af_values_init(as_af_values *values, const as_dataset *ds);
void as_af_values_free(as_af_values *values);
assay_status as_af_values_load(as_af_values *values, const as_dataset *ds, assay_id metric, as_af_written_run run,
                               assay_error *error);

/* A context that is written: it has a name and a place in the call tree, and is not the whole program. */
bool as_af_has_place(const as_dataset *ds, assay_id context);
/* Whether it is written as a section. */
bool as_af_is_section(const as_dataset *ds, assay_id context);

/* ---- texts (write_tags.c) ---------------------------------------------------------------------------------------- */

/* Tags of a call path: what and where it is; behind what tags (of char) holds. */
bool as_af_context_tags(const as_dataset *ds, assay_id context, as_vec *tags);
/* name=value behind others. False when memory is out. What no tag can say is as_af_is_tag()'s to tell. */
bool as_af_add_tag(as_vec *tags, const char *name, as_cell value);
bool as_af_is_tag(const char *name, as_cell value);
/* Whether an attribute finds a place. */
bool as_af_keeps_attribute(const as_dataset *ds, const as_attribute *attribute);
/* ",0x1f". */
void as_af_put_hex(as_output *out, uint64_t id);
void as_af_put_number(as_output *out, uint64_t number);

/* ---- regions and sections (write_tree.c, write_events.c) --------------------------------------------------------- */

/* Where the values of a context go. */
typedef struct as_af_place_of {
    uint64_t id, start, end; /* id 0: nowhere */
    bool is_section;         /* then they are those of its interval 0 */
} as_af_place_of;

typedef struct as_af_foreign {
    const as_dataset *ds;
    as_output *out;
    as_budget *budget;
    assay_error *error;
    bool *is_real;     /* by metric: some sum of whole numbers does not fit in 64 bits */
    bool *is_there;    /* by context: it, or one below it, has a value in the run at hand */
    assay_id *parents; /* by context: the nearest one above it that is written, or ASSAY_NONE */
    as_af_place_of *places;
    uint64_t next_id;                      /* of regions and sections */
    as_map run_ids;                        /* that are taken */
    size_t *attributes, *first_attribute;  /* those of runs, sorted by run; where those of each begin */
    size_t *of_dataset, *first_of_dataset; /* the same of the dataset: one owner */
    size_t *of_events, *first_of_event; /* the same of events; NULL where there are none, or an event source has them */
    bool fine;                          /* memory was never out */
} as_af_foreign;

/* Fills attributes and first_attribute. False when memory is out. */
bool as_af_sort_attributes(as_af_foreign *foreign);
/* The RunInfo of run number `index`; its id. start: the time stamp of its start. */
uint64_t as_af_put_run(as_af_foreign *foreign, size_t index, uint64_t start);
void as_af_put_measurement_type(as_output *out, const as_dataset *ds, uint64_t run, uint64_t id, assay_id metric,
                                bool is_real);

/* The regions of a run from its call tree, and where they are. */
assay_status as_af_write_tree(as_af_foreign *foreign, as_af_written_run run, uint64_t run_id);
/* The same from the dataset's events. origin: the time stamp of the run's start. */
assay_status as_af_write_events(as_af_foreign *foreign, as_af_written_run run, uint64_t run_id, uint64_t origin);
/* The time stamp of the run's start: above 0 where events are before it. */
uint64_t as_af_origin(const as_dataset *ds, as_af_written_run run);
/* Nanoseconds, never below 0. */
uint64_t as_af_nanoseconds(double seconds);

#endif
