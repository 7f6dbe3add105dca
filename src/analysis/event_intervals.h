/* The intervals of a dataset's events in the order of time, each with what lies around it.
 *
 * Sections and pauses lie in nothing, and nothing lies in them: their intervals may overlap anything. All others of one
 * run and location nest: where they have contexts these say what lies in what, else their times do. Moments (events
 * without an end) are left out. */
#ifndef AS_ANALYSIS_EVENT_INTERVALS_H
#define AS_ANALYSIS_EVENT_INTERVALS_H

#include "dataset/dataset.h"

/* ---- pauses ------------------------------------------------------------------------------------------------------ */

/* When each run stood still: the union of its events of the kind "pause". */
typedef struct as_pauses {
    as_vec spans;    /* struct as_pause: by run and time, none touching another */
    uint64_t *first; /* of each run, and one behind the last */
    size_t n_runs;
} as_pauses;

/* False when memory is out; as_pauses_free() in every case. */
bool as_pauses_load(const as_dataset *ds, as_pauses *out);
void as_pauses_free(as_pauses *pauses);
/* Seconds of from … to in which the run stood still. pauses may be NULL: none. */
double as_paused(const as_pauses *pauses, assay_id run, double from, double to);

/* ---- intervals --------------------------------------------------------------------------------------------------- */

#define AS_NO_SLOT ((uint32_t)-1)

typedef enum as_interval_class { AS_INTERVAL_NESTED, AS_INTERVAL_SECTION, AS_INTERVAL_PAUSE } as_interval_class;

typedef struct as_event_interval {
    uint64_t id; /* of the event */
    as_event event;
    as_interval_class class;
    double duration; /* in seconds, less the pauses in it where these are deducted */
    /* A number among those that are open, which it keeps until it is over; then another gets it. For what somebody
     * wants to know of it when an inner one comes. AS_NO_SLOT: nothing lies in it */
    uint32_t slot;
    uint32_t around; /* the slot of the innermost one around it; AS_NO_SLOT: none */
} as_event_interval;

typedef struct as_event_intervals {
    const as_dataset *ds;
    const bool *runs;        /* for each whether it is looked at; NULL: all */
    const as_pauses *pauses; /* deducted from durations; NULL: nothing is */
} as_event_intervals;

/* Calls visit for each interval: those of one run by start, an outer one before those in it. One pass where the source
 * has them so, else they are sorted first. Ends early, with status ASSAY_OK, when visit returns false. */
assay_status as_event_intervals_walk(const as_event_intervals *request,
                                     bool (*visit)(void *user, const as_event_interval *interval), void *user,
                                     assay_error *error);

#endif
