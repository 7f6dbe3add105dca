/* What the files of slices share: events sorted into sets (one for each run, location, kind and section), each of which
 * has as many lanes as its slices need to nest. */
#ifndef AS_FORMATS_SLICES_PRIVATE_H
#define AS_FORMATS_SLICES_PRIVATE_H

#include "formats/slices.h"

/* Slices that nest. */
typedef struct as_slice_lane {
    as_vec open;    /* as_time_slice: those of a walk that have not ended, the innermost last */
    uint64_t n;     /* slices in it */
    uint32_t track; /* index into tracks */
} as_slice_lane;

typedef struct as_slice_set {
    assay_id run, location, section;
    as_slice_kind kind;
    as_vec lanes; /* as_slice_lane */
} as_slice_set;

typedef struct as_slice_sets {
    as_str pause, section, osrt, sample, nvtx; /* kinds */
    as_event_values values;                    /* the style of ranges */
    as_map groups;                             /* run, location -> number */
    as_map of_kinds;                           /* that number, kind -> set */
    as_map of_sections;                        /* that number, context -> set */
    as_vec all;                                /* as_slice_set */
} as_slice_sets;

/* Of a time in seconds since the run's start. */
uint64_t as_slice_nanoseconds(const as_slices *slices, double seconds);

/* Whether that is cut off: nanoseconds have no number for it. */
bool as_slice_is_too_late(const as_slices *slices, double seconds);

/* Whether that is the time itself, as far as doubles tell. */
bool as_slice_is_exact(const as_slices *slices, double seconds);

/* Samples have a slice for it. */
static inline bool as_slice_is_call(const as_dataset *ds, assay_id context) {
    return as_ds_context(ds, context)->role == AS_ROLE_CALL && !as_context_is_root(ds, context);
}

/* Goes through all events once and makes sets and their lanes (slices_walk.c). False when memory is out. */
bool as_slices_make_lanes(as_slices *slices);
/* The numbers of events by tracks. */
bool as_slices_list(as_slices *slices);

#endif
