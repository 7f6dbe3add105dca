/* What statistics are taken over: the locations of a run, its processes, or some runs; and which of them take part at a
 * call path.
 *
 * Where a file stores a number for every location (Cube), all take part, and what is missing is 0. Where it stores only
 * what is there (HPCToolkit, Nsight Systems), that would count GPUs for what only threads can have, and the other way
 * round:
 * - GPUs and their streams take part where they have a value themselves: what runs on one is no share of the work of
 *   another;
 * - the threads of the host share work, and take part all together where one of them has a value: the others have 0;
 * - below a process or thread that is itself a part of the call path, only who has a value takes part: nobody else can
 *   have one.
 * A value is one other than 0. */
#ifndef AS_ANALYSIS_PLACES_H
#define AS_ANALYSIS_PLACES_H

#include "dataset/dataset.h"

typedef enum as_over {
    AS_OVER_LOCATIONS,
    AS_OVER_PROCESSES, /* the threads of a process are summed */
    AS_OVER_RUNS       /* each run is summed; where a run of an experiment has no value, it takes no part */
} as_over;

/* What the statistics are taken over. */
typedef struct as_places {
    as_over over;
    uint32_t n;
    uint32_t n_sharing; /* those that share work: no GPUs, and none where call paths name them */
    assay_id *ids;      /* locations (leaves, or what lies above them), or runs; ascending */
    assay_id run;       /* unless over runs */
    uint32_t *place;    /* for each location of the dataset its place, or UINT32_MAX; unless over runs */
    bool is_shared;     /* some place stands for several locations */
    bool is_narrowed;   /* locations were left out */
    bool *is_gpu;       /* of each place; NULL: all places take part everywhere */
    /* of each context: it names a process or thread, or lies below one that does; NULL: none does */
    bool *is_named;
} as_places;

/* The locations of a run: those with a column in any of its metrics; all leaves, where it is the only run. n is 0 where
 * there are none. as_places_free() in every case. */
assay_status as_places_of_run(const as_dataset *ds, assay_id run, as_over over, as_places *out, assay_error *error);
assay_status as_places_of_runs(const assay_id *runs, uint32_t n, as_places *out, assay_error *error);
/* Leaves out the locations that are not wanted (one bool for each of the dataset), and places of which nothing is left.
 * Not of runs. */
assay_status as_places_narrow(as_places *places, size_t n_locations, const bool *wanted, assay_error *error);
void as_places_free(as_places *places);

/* Who takes part at a context: takes_part says which of n numbers are values, and then which count. of: the place of
 * each number; NULL: the first is of place 0, and so on. Only where is_gpu is there. */
void as_places_choose(const as_places *places, assay_id context, const uint32_t *of, uint32_t n, bool *takes_part);

#endif
