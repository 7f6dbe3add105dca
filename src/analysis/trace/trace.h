/* Time lines: what each location was doing, seen at a depth of its call paths.
 *
 * A sample of a trace line says in which context its location was at one moment. Between samples somebody has to
 * decide: either a sample owns the time between the mid-points to its neighbours (as hpcviewer does by default), or the
 * time until the next one. Before the first and behind the last sample of a line there is nothing.
 *
 * A procedure is what a context shows at the chosen depth: the frame at that depth of its call path, or the deepest one
 * where the path is shorter. Frames of one name are one procedure. All times are the time stamps of the traces (ticks).
 * Nothing here depends on the number of threads. */
#ifndef AS_ANALYSIS_TRACE_TRACE_H
#define AS_ANALYSIS_TRACE_TRACE_H

#include "dataset/dataset.h"

/* ---- procedures at a depth --------------------------------------------------------------------------------------- */

enum {
    AS_PROCEDURE_IDLE,    /* "<no activity>": the root of the call tree itself */
    AS_PROCEDURE_UNKNOWN, /* "<unknown>": a context that is not there */
    AS_PROCEDURE_PAUSED,  /* "<paused>": the program was stopped */
    AS_FIRST_PROCEDURE    /* the others, in the order of the call tree */
};
#define AS_DEEPEST      UINT32_MAX
#define AS_NO_PROCEDURE UINT32_MAX

/* Samples and cells have contexts, ASSAY_NONE for one that is not there, or one of these: nothing was measured then;
 * nothing of the program ran; it was stopped. Only the lines of intervals (trace/timeline.h) have the latter two. */
#define AS_TRACE_NOTHING ((assay_id)(ASSAY_NONE - 1))
#define AS_TRACE_IDLE    ((assay_id)(ASSAY_NONE - 2))
#define AS_TRACE_PAUSED  ((assay_id)(ASSAY_NONE - 3))

typedef struct as_procedure {
    const char *name;
    assay_id context; /* the first frame of this name, or what stands for the name; ASSAY_NONE: none */
} as_procedure;

typedef struct as_frames {
    uint32_t depth;         /* 1: the outermost frames */
    uint32_t deepest;       /* frames of the longest call path */
    uint32_t *procedure_of; /* for each context, its number */
    uint32_t *levels;       /* for each context, how many frames its call path has */
    as_procedure *procedures;
    size_t n_contexts, n_procedures;
    uint32_t *procedure_of_name; /* of as_frames_add_names() */
    size_t n_names;
} as_frames;

/* What all contexts show at a depth from 1 (AS_DEEPEST: each its innermost frame). Frames are calls; loops, lines and
 * call sites belong to the frame above. all_contexts: those count as frames of their own. as_frames_free() in every
 * case. */
assay_status as_frames_at(const as_dataset *ds, uint32_t depth, bool all_contexts, as_frames *out, assay_error *error);
/* Makes n_contexts + i stand for names[i], where something is known by its name and no context: the procedure of that
 * name, or a new one. Once at most. False when memory is out. */
bool as_frames_add_names(as_frames *frames, const as_dataset *ds, const as_str *names, size_t n);
void as_frames_free(as_frames *frames);
/* Leaves out the cells of contexts that are frames of their own wherever they stand, because what they are runs
 * elsewhere (on a GPU) or beside the others: they show themselves at any depth. Returns how many cells are left. */
size_t as_cells_without_alone(const as_dataset *ds, assay_id *cells, size_t n);
/* Of a sample's context; AS_NO_PROCEDURE of AS_TRACE_NOTHING. */
static inline uint32_t as_procedure_of(const as_frames *frames, assay_id context) {
    if (context < frames->n_contexts) return frames->procedure_of[context];
    if (context - frames->n_contexts < frames->n_names) return frames->procedure_of_name[context - frames->n_contexts];
    return context == AS_TRACE_IDLE      ? AS_PROCEDURE_IDLE
           : context == AS_TRACE_PAUSED  ? AS_PROCEDURE_PAUSED
           : context == AS_TRACE_NOTHING ? AS_NO_PROCEDURE
                                         : AS_PROCEDURE_UNKNOWN;
}

/* ---- the window -------------------------------------------------------------------------------------------------- */

/* What time stamps mean: so many a second, and the one at which the seconds of the run begin. */
typedef struct as_trace_clock {
    double ticks_per_second;
    uint64_t start;
} as_trace_clock;

/* Of the samples; the traces must be prepared. */
static inline as_trace_clock as_trace_clock_of(const as_dataset *ds) {
    return (as_trace_clock){ds->traces.ticks_per_second, ds->traces.start};
}
double as_clock_seconds(const as_trace_clock *clock, uint64_t time);
/* The time stamp so many seconds after the run's start, rounded; beyond 64 bits the first or the last one. */
uint64_t as_clock_stamp(const as_trace_clock *clock, double seconds);

typedef enum as_trace_rule { AS_TRACE_NEAREST, AS_TRACE_BEFORE } as_trace_rule;

/* What is looked at: these lines from one time stamp to another, both included. */
typedef struct as_trace_window {
    const as_trace_line *const *lines;
    size_t n_lines;
    uint64_t from, to; /* from <= to */
    as_trace_rule rule;
    /* NULL, or for each line whether its samples are the moments at which something began: its rule is AS_TRACE_BEFORE,
     * then */
    const bool *are_stamped;
} as_trace_window;

static inline as_trace_rule as_trace_rule_of(const as_trace_window *window, size_t line) {
    return window->are_stamped && window->are_stamped[line] ? AS_TRACE_BEFORE : window->rule;
}

/* From the first to the last sample of the lines, into window->from and to; false in *has_any where there are none.
 * is_glance: lines are taken as they lie (as_trace_glance()). */
assay_status as_trace_span(const as_dataset *ds, as_trace_window *window, bool is_glance, bool *has_any,
                           assay_error *error);
/* Seconds from the first to the last sample of all lines, at a glance. False where there are none, one cannot be read,
 * or there are too many lines for an answer at once. */
bool as_trace_quick_duration(const as_dataset *ds, double *seconds);

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

/* Fills n_lines x n_columns cells, line by line: the context of the sample that owns the middle of the column's time;
 * at the ends of a line, of its first or last sample where that lies in the column; else AS_TRACE_NOTHING. Few samples
 * of each line are read, found by binary search, and lines are taken as they lie unless time is seen to go back. */
assay_status as_trace_picture(const as_dataset *ds, const as_trace_window *window, size_t n_columns, assay_id *cells,
                              assay_error *error);

/* The depth that tells most with least: the smallest at which the cells show nearly as many procedures of weight as at
 * any depth, or several; the deepest where there is only one procedure to see. At least 1. */
assay_status as_trace_telling_depth(const as_dataset *ds, const assay_id *cells, size_t n_cells, bool all_contexts,
                                    uint32_t *depth, assay_error *error);

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* What one procedure has of a line, or of all. */
typedef struct as_procedure_time {
    uint32_t procedure;
    uint64_t n_samples; /* inside the window */
    double ticks;
} as_procedure_time;

typedef struct as_line_times {
    uint64_t n_samples;            /* inside the window */
    uint64_t first, last;          /* of them; 0 where there are none */
    double ticks;                  /* that have an owner */
    double longest_gap;            /* between two samples, both inside */
    uint64_t gap_at;               /* where it begins; 0 where there is none */
    as_procedure_time *procedures; /* the longest first, then in order of their numbers */
    size_t n_procedures;
} as_line_times;

typedef struct as_trace_times {
    as_line_times *lines; /* one for each line of the window */
    size_t n_lines;
    as_line_times all; /* of all lines together; gaps are those of lines */
    size_t n_bins;     /* parts of the window, equally long */
    double *bins;      /* all.n_procedures x n_bins: ticks, in the order of all.procedures */
    double *bin_ticks; /* n_bins: of all procedures */
} as_trace_times;

/* The time of each procedure, exactly: every sample of the window is read once, by several threads. n_bins may be 0.
 * as_trace_times_free() in every case. */
assay_status as_trace_times_of(const as_dataset *ds, const as_trace_window *window, const as_frames *frames,
                               size_t n_bins, as_trace_times *out, assay_error *error);
/* The same from the cells of a picture, each of which stands for its column's time: samples are not counted and gaps
 * not known. Bins are columns put together; n_bins at most n_columns. */
assay_status as_trace_times_seen(const as_trace_window *window, const as_frames *frames, const assay_id *cells,
                                 size_t n_columns, size_t n_bins, as_trace_times *out, assay_error *error);
void as_trace_times_free(as_trace_times *times);

#endif
