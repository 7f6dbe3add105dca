/* What the files of the time line share. */
#ifndef AS_ANALYSIS_TRACE_TIMELINE_PRIVATE_H
#define AS_ANALYSIS_TRACE_TIMELINE_PRIVATE_H

#include "analysis/trace/timeline.h"

/* One of the disjoint pauses of a run, ascending. */
typedef struct as_pause_span {
    assay_id run;
    uint64_t start, end;
} as_pause_span;

/* Intervals that are shown together: in one row where they nest, else in as many as overlap. */
typedef struct as_interval_set {
    assay_id run, location, section; /* as in as_timeline_row */
    as_track track;
    uint32_t *events;
    size_t n;
    const as_pause_span *pauses; /* of the run */
    size_t n_pauses;
    as_timeline_row *rows; /* made of them */
    size_t n_rows;
    uint64_t n_hidden;
    bool is_done;
} as_interval_set;

/* Whether its intervals nest, and are one row; else they are in lanes. */
static inline bool as_track_nests(as_track track) { return track == AS_TRACK_NESTED || track == AS_TRACK_OSRT; }

/* Sorts the intervals and makes rows of them. False when memory is out. Safe for several sets at once. */
bool as_set_make_rows(as_interval_set *set, as_timeline *timeline);
void as_row_free(as_timeline_row *row);
/* The rows that are still its own. */
void as_set_free(as_interval_set *set);

/* What an event is on the timeline's clock. */
as_interval as_interval_of(const as_timeline *timeline, uint32_t event);

/* ---- changes (timeline_changes.c) -------------------------------------------------------------------------------- */

/* Changes are packed in blocks: the time since the one before, and the context, in as few bytes as they need. */
enum { AS_BLOCK_CHANGES = 64 };

typedef struct as_change_block {
    uint64_t time; /* of its first change */
    uint64_t at;   /* where its bytes begin */
} as_change_block;

/* Puts one behind the others. False when memory is out. */
bool as_row_add_change(as_timeline_row *row, const as_trace_sample *change, uint64_t time_before);

/* Changes of a row as they are read: a block at a time. For one thread; begin with as_changes_of(). */
typedef struct as_changes {
    const as_timeline_row *row;
    size_t block;                                  /* at hand; SIZE_MAX: none */
    as_trace_sample samples[AS_BLOCK_CHANGES + 1]; /* of the block; behind them the time of the next change */
} as_changes;

static inline void as_changes_of(as_changes *changes, const as_timeline_row *row) {
    changes->row = row;
    changes->block = SIZE_MAX;
}
void as_changes_load(as_changes *changes, size_t block);
/* Behind it lies the time of the next one, where there is one; valid until another is asked for. number <
 * row->n_changes. */
static inline const as_trace_sample *as_change_at(as_changes *changes, size_t number) {
    if (number / AS_BLOCK_CHANGES != changes->block) as_changes_load(changes, number / AS_BLOCK_CHANGES);
    return &changes->samples[number % AS_BLOCK_CHANGES];
}
/* The number of the first change at or after a time from the change `from` on; n_changes: there is none. */
size_t as_change_from(as_changes *changes, size_t from, uint64_t time);
/* The number of the last change at or before a time (of several at that time, the first); 0 where there is none. */
size_t as_change_before(as_changes *changes, uint64_t time);

/* For lines (as_trace_source.read). */
assay_status as_row_read(const as_trace_source *source, const as_trace_line *line, uint64_t first, size_t n,
                         as_trace_sample *out, assay_error *error);

/* Counts memory of the timeline in the dataset's budget until as_timeline_free(). Safe from several threads. */
bool as_timeline_take(as_timeline *timeline, uint64_t bytes);

#endif
