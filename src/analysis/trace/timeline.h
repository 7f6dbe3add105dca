/* Time lines of intervals: what a dataset's events (dataset/events.h) say, as lines that can be drawn and counted like
 * those of samples (trace.h).
 *
 * Intervals that nest (regions, API calls, kernels …) of one run and location are one row: at each moment the innermost
 * one, AS_TRACE_IDLE between them. Intervals of sections may overlap: each section has rows of its own, as many as
 * overlap (lanes). So have ranges that need not nest. Calls of the OS runtime, which lie within anything, are a row
 * beside that of their location, and so are samples: what was sampled lasts until the next sample, or where that comes
 * late as long as it does between most of them. Where the run was paused all its rows are AS_TRACE_PAUSED (with more
 * than 256 pauses, its first row only). A row is a trace line whose samples are the moments at which something changes;
 * it wants the rule AS_TRACE_BEFORE. */
#ifndef AS_ANALYSIS_TRACE_TIMELINE_H
#define AS_ANALYSIS_TRACE_TIMELINE_H

#include "analysis/trace/trace.h"

typedef struct as_interval {
    uint64_t start, end; /* on the timeline's clock */
    /* of what has none: the number of contexts and that of its name among the timeline's; ASSAY_NONE: it has no name
     * either */
    assay_id context;
    uint32_t event;
} as_interval;

/* Of a section row where there are too many sections for rows of their own. */
#define AS_MANY_SECTIONS ((assay_id)(ASSAY_NONE - 1))

/* What a row of a location has. */
typedef enum as_track {
    AS_TRACK_NESTED,
    AS_TRACK_SECTION, /* events of the kind "section", of one context */
    AS_TRACK_RANGES,  /* of the kind "nvtx" with the style StartEnd */
    AS_TRACK_OSRT,    /* of the kind "osrt", which nest */
    AS_TRACK_SAMPLES  /* of the kind "sample" */
} as_track;

typedef struct as_timeline_row {
    as_trace_source source; /* of the line: must be the first member */
    assay_id run, location; /* location ASSAY_NONE: none */
    as_track track;
    assay_id section;       /* of a section its context, or AS_MANY_SECTIONS; else ASSAY_NONE */
    uint32_t lane;          /* of sections and ranges, from 0 */
    const uint32_t *events; /* of its intervals: by start, the longest first */
    size_t n_intervals;
    size_t n_changes;
    /* Private: millions of changes take a quarter of their size (timeline_changes.c) */
    uint64_t longest; /* of samples: how long one lasts at most */
    as_vec packed;    /* bytes */
    as_vec blocks;    /* as_change_block */
} as_timeline_row;

typedef struct as_timeline {
    as_timeline_row *rows; /* by run and location, then by track */
    as_trace_line *lines;  /* the same, for trace.h */
    size_t n_rows;
    as_trace_clock clock;
    uint64_t n_intervals; /* of all rows */
    uint64_t n_hidden;    /* more of one section, or of ranges, overlap than there are lanes: left out */
    uint64_t n_pauses;
    as_vec names; /* as_str: of intervals without a context; for as_frames_add_names() */
    /* Private */
    const as_dataset *ds;
    double *offsets; /* of each run: when it begins, in seconds */
    as_map numbers_of_names;
    uint32_t *events; /* of all rows */
    uint64_t taken;   /* of the budget */
    as_budget *budget;
} as_timeline;

typedef struct as_timeline_choice {
    const bool *runs;      /* NULL: all */
    const bool *locations; /* NULL: all, and events of no location */
    /* runs begin when they did, the first at 0; else each at 0. Those that do not say when begin at 0. */
    bool by_wallclock;
    const uint32_t *order; /* of the locations: the place of each among all; NULL: that of their ids */
} as_timeline_choice;

/* The dataset must last: intervals are made of its events when somebody asks. as_timeline_free() in every case. */
assay_status as_timeline_of(const as_dataset *ds, const as_timeline_choice *choice, as_timeline *out,
                            assay_error *error);
void as_timeline_free(as_timeline *timeline);
/* Memory that it takes, in bytes. */
uint64_t as_timeline_size(const as_timeline *timeline);

/* Fills n_rows x n_columns cells, row by row: a context of the procedure that has most of the column's time, or one of
 * trace.h's signs. False when memory is out. */
bool as_timeline_picture(const as_timeline *timeline, const as_trace_window *window, const as_frames *frames,
                         size_t n_columns, assay_id *cells);
/* The same in bounded time: of columns with many changes only some are looked at, spread over the column. */
bool as_timeline_glance(const as_timeline *timeline, const as_trace_window *window, const as_frames *frames,
                        size_t n_columns, assay_id *cells);
/* Cells with the context at the moment in the middle of each column: over many columns that tells shares of time. False
 * when memory is out. */
bool as_timeline_moments(const as_timeline *timeline, const as_trace_window *window, size_t n_columns, assay_id *cells);

/* An interval of a row, by its number there. */
as_interval as_row_interval(const as_timeline *timeline, const as_timeline_row *row, size_t number);
/* The intervals of a row that begin in from … to: first … end - 1. */
void as_row_intervals(const as_timeline *timeline, const as_timeline_row *row, uint64_t from, uint64_t to,
                      size_t *first, size_t *end);
/* Makes n_samples of times (of the rows' lines, in their order) the number of intervals that begin in the window: of
 * each procedure those that are its own, not those nested in it, and of <paused> the pauses; and gaps those in which
 * there was none; first and last what of the window the row was there. False when memory is out. */
bool as_timeline_count(const as_timeline *timeline, const as_trace_window *window, const as_frames *frames,
                       as_trace_times *times);

#endif
