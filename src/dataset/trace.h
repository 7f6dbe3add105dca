/* Trace lines: which context each location was in, sample by sample, read from where they lie.
 *
 * A reader adds a line for each location that has samples (as_add_trace_line()); all others go through as_trace_read(),
 * which gives them in order of time. */
#ifndef AS_DATASET_TRACE_H
#define AS_DATASET_TRACE_H

#include "core/error.h"
#include "core/memory.h"

struct assay_dataset;
struct as_trace_line;

typedef struct as_trace_sample {
    uint64_t time;    /* as stored */
    assay_id context; /* ASSAY_NONE: the source names one that is not there */
} as_trace_sample;

/* Gives samples first … first + n - 1 of a line as they are stored, in whatever order. Safe from several threads. */
typedef struct as_trace_source {
    assay_status (*read)(const struct as_trace_source *source, const struct as_trace_line *line, uint64_t first,
                         size_t n, as_trace_sample *out, assay_error *error);
} as_trace_source;

typedef struct as_trace_line {
    assay_id run, location;
    uint64_t n; /* samples */
    const as_trace_source *source;
    uint64_t at; /* the source's own: where the line lies */
    /* Private */
    int order;               /* whether they ascend: not known yet, yes, or no, and then sorted has them */
    as_trace_sample *sorted; /* in the dataset's arena */
} as_trace_line;

typedef struct as_traces {
    as_vec lines;            /* as_trace_line, ascending by run, location */
    double ticks_per_second; /* of all time stamps */
    bool has_start;          /* start says when the run began: at or before the first sample */
    uint64_t start;
    uint64_t n_samples; /* of all lines */
    bool is_ready;      /* private */
    bool is_reported;   /* as_ds_check() looked at them */
} as_traces;

static inline size_t as_trace_line_count(const as_traces *traces) { return traces->lines.count; }
static inline const as_trace_line *as_trace_line_at(const as_traces *traces, size_t i) {
    return &AS_AT(as_trace_line, &traces->lines, i);
}
/* That of a location in a run, or NULL. */
const as_trace_line *as_trace_line_of(const struct assay_dataset *ds, assay_id run, assay_id location);

/* Samples first … first + n - 1 in order of time, those of one time as stored. n must not go beyond the line. A line
 * that is not in order is sorted when first read, with a note among the dataset's problems (rule "trace-order"). Safe
 * from several threads. */
assay_status as_trace_read(const struct assay_dataset *ds, const as_trace_line *line, uint64_t first, size_t n,
                           as_trace_sample *out, assay_error *error);
/* As stored, unless the line is known to be out of order: a line nobody has read yet is not read from end to end, as
 * the others do to make sure that it ascends. For glances at long ones; who finds that time goes back calls
 * as_trace_read(), and has it sorted from then on. */
assay_status as_trace_glance(const struct assay_dataset *ds, const as_trace_line *line, uint64_t first, size_t n,
                             as_trace_sample *out, assay_error *error);
/* The first sample at or after this time: its number, or line->n. */
assay_status as_trace_find(const struct assay_dataset *ds, const as_trace_line *line, uint64_t time, uint64_t *index,
                           assay_error *error);
/* Finds the start of the run where the source does not say it (or says one behind the first sample). Afterwards
 * ds->traces.start is known. Safe from several threads. */
assay_status as_trace_prepare(const struct assay_dataset *ds, assay_error *error);
/* Seconds since the start of the run; the traces must be prepared. */
double as_trace_seconds(const struct assay_dataset *ds, uint64_t time);

#endif
