/* What timeline.c and timeline_rows.c share. */
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
    as_interval *intervals;
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
/* The rows that are still its own. */
void as_set_free(as_interval_set *set);

/* The number of the last change at or before a time (of several at that time, the first); 0 where there is none. */
static inline size_t as_row_change_at(const as_timeline_row *row, uint64_t time) {
    size_t low = 0, high = row->n_changes;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (row->changes[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low < row->n_changes && row->changes[low].time == time ? low : low ? low - 1 : 0;
}

/* Counts memory of the timeline in the dataset's budget until as_timeline_free(). Safe from several threads. */
bool as_timeline_take(as_timeline *timeline, uint64_t bytes);

#endif
