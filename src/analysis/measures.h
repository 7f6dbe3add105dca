/* What was measured of each interval: samples put together from what the event source has, else from the table `record`
 * (its columns type, owner, interval, start, aggregation, measurement, value).
 *
 * Of an interval the raw aggregate counts; else the first and the last of two or more points (a snapshot at start and
 * end); else the one point. Texts, and booleans, are samples one by one, as they were recorded. Points of a run are
 * samples of the run. What was aggregated from several records is left out. */
#ifndef AS_ANALYSIS_MEASURES_H
#define AS_ANALYSIS_MEASURES_H

#include "dataset/dataset.h"

typedef enum as_sample_type {
    AS_SAMPLE_SINGLE,   /* one number, first == last */
    AS_SAMPLE_SNAPSHOT, /* numbers at the start and the end */
    AS_SAMPLE_WORD,     /* a text or boolean */
    AS_SAMPLE_POINT     /* a number of a run at some time */
} as_sample_type;

typedef struct as_sample {
    /* AS_NO_EVENT: of the run. By the table, which does not say which event an interval of a section is, that is the
     * first one of the section */
    uint64_t event;
    assay_id run;
    uint32_t measure; /* index into measures */
    as_sample_type type;
    double time; /* of points of a run, in seconds since its start */
    as_number first, last;
    as_str word; /* a text of words */
} as_sample;

typedef struct as_measure_name {
    as_str name;     /* a text of words */
    assay_id metric; /* of that name; ASSAY_NONE: none */
} as_measure_name;

typedef struct as_measures {
    as_arena arena;
    as_strings words;
    as_vec measures; /* as_measure_name, in the order in which they come first */
    as_vec samples;  /* as_sample, by event (those of runs last), measure and time */
} as_measures;

/* Those of the runs that are wanted (NULL: all). Where the dataset has no such table there are none. False when memory
 * is out; as_measures_free() in every case. */
bool as_measures_load(const as_dataset *ds, const bool *runs, as_measures *out);
void as_measures_free(as_measures *measures);
static inline const char *as_measure_text(const as_measures *measures, size_t measure) {
    return as_str_text(&measures->words, AS_AT(as_measure_name, &measures->measures, measure).name);
}

#endif
