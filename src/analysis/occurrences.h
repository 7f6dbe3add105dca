/* Statistics over the occurrences of regions and sections: how long they took one by one, which took longest, and what
 * was measured of them. */
#ifndef AS_ANALYSIS_OCCURRENCES_H
#define AS_ANALYSIS_OCCURRENCES_H

#include "analysis/event_intervals.h"
#include "analysis/measures.h"

/* How n numbers lie. All but n and sum are NAN where n is 0. stddev divides by n; quantiles are straight between
 * neighbours (core/quantile.h). NaN takes no part. */
typedef struct as_distribution {
    uint64_t n;
    double sum, mean, stddev, min, q1, median, q3, p90, p99, max;
} as_distribution;
/* Sorts the values; room: for n more. */
void as_distribution_of(double *values, size_t n, double *room, as_distribution *out);

/* What occurs: a call path (for each kind of its events), a section, a group; pauses. */
typedef struct as_subject {
    assay_id context;  /* of the dataset, or of the groups; ASSAY_NONE: it has only a name */
    as_str name, kind; /* texts of the dataset; of groups AS_NO_STR */
    as_distribution time;
    size_t first_worst, n_worst; /* of occurrences->worst: the longest first; at least one */
    size_t first_measure, n_measures;
} as_subject;

typedef struct as_worst {
    uint64_t event;
    double duration;
} as_worst;

/* What was measured of a subject, or of a run. */
typedef struct as_subject_measure {
    uint32_t subject, measure;  /* subject AS_OF_RUN: of the run */
    assay_id run;               /* of a run's own; else ASSAY_NONE */
    as_distribution value;      /* single numbers and the differences of snapshots; of a run its points */
    as_distribution start, end; /* of snapshots */
    as_number first, last;      /* of a run's points: by time */
    size_t first_word, n_words; /* of occurrences->words: the most frequent first */
    uint64_t n_recorded;        /* words in all */
} as_subject_measure;
#define AS_OF_RUN ((uint32_t)-1)

typedef struct as_word_count {
    as_str word; /* a text of measured.words */
    uint64_t count;
} as_word_count;

typedef struct as_occurrences {
    as_vec subjects; /* as_subject: contexts ascending, then those without */
    as_vec worst;    /* as_worst */
    as_vec measures; /* as_subject_measure: by subject, runs last, then by measure */
    as_vec words;    /* as_word_count */
    as_measures measured;
} as_occurrences;

typedef struct as_occurrences_request {
    const as_dataset *ds;
    const bool *runs;        /* that are looked at; NULL: all */
    const as_pauses *pauses; /* deducted; NULL: nothing is */
    bool is_exclusive;       /* without the intervals directly in each */
    bool is_time_only;       /* what was measured is of no interest */
    size_t n_worst;
    const assay_id
        *group_of; /* of each event, instead of its context; NULL: contexts. Those of ASSAY_NONE are left out */
} as_occurrences_request;

/* as_occurrences_free() in every case. */
assay_status as_occurrences_find(const as_occurrences_request *request, as_occurrences *out, assay_error *error);
void as_occurrences_free(as_occurrences *occurrences);

#endif
