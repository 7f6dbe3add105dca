/* Did it get worse? Any two measurements, of any formats: per call path and metric, with statistics where there are repetitions.
 *
 * A side is one or more datasets; each is a repetition (or several: runs at one point). Samples are kept in strata, one for each point of the parameters that both sides have;
 * datasets without parameters have one stratum. Sides are matched by the path of names and the metric's name. */
#ifndef AS_ANALYSIS_VERDICT_H
#define AS_ANALYSIS_VERDICT_H

#include "dataset/dataset.h"

/* ---- samples (samples.c) -------------------------------------------------------------------------------------------------- */

/* One side's numbers of one call path and metric at one point. */
typedef struct as_stratum {
    const double *values; /* ascending */
    uint32_t n;
} as_stratum;

/* A call path and metric, matched. */
typedef struct as_subject {
    const char *path, *metric, *unit; /* path: names joined with "->" */
    bool is_in[2];                    /* whether each side (AS_BASE, AS_TARGET of algebra/compare.h: 0, 1) has it */
    uint32_t n_strata;
    const as_stratum *strata[2]; /* n_strata each: the same points; values of unmatched points are left out */
    const double *coordinates;   /* n_strata x parameters; NULL: no parameters */
} as_subject;

typedef struct as_samples {
    as_subject *subjects; /* ascending by metric, then in the order of the base's tree, new ones last */
    size_t n;
    size_t n_parameters;
    const char *const *parameters;
    bool has_repetitions; /* some stratum has two or more on both sides */
    size_t n_unmatched_points[2];
    as_arena arena;
} as_samples;

typedef struct as_sample_request {
    const char *const *metrics; /* names, or NULL: all that both have; ended by NULL */
    bool is_inclusive;          /* inclusive values of call paths; else exclusive ones */
} as_sample_request;

/* sides[s]: n[s] datasets. as_samples_free() in every case. Perun's resources: those of one uid at one structure-unit-size, or of a run of the time collector (with `order`),
 * are repetitions; else a run's sum is one value. */
assay_status as_samples_find(const as_dataset *const *const sides[2], const size_t n[2],
                             const as_sample_request *request, as_samples *out, assay_error *error);
void as_samples_free(as_samples *samples);

/* ---- judging (judge.c, bootstrap.c, ranks.c) ------------------------------------------------------------------------------------ */

typedef enum as_finding {
    AS_FINDING_SAME,
    AS_FINDING_WORSE,
    AS_FINDING_MAYBE_WORSE, /* beyond the threshold, but not significant; or significant and around the threshold */
    AS_FINDING_BETTER,
    AS_FINDING_MAYBE_BETTER,
    AS_FINDING_NEW,
    AS_FINDING_GONE,
    AS_FINDING_TOO_FEW /* repetitions too few to say anything: the threshold alone decided nothing */
} as_finding;
const char *as_finding_name(
    as_finding finding); /* "degradation", "maybe degradation", "optimization", … "new", "gone" */

typedef struct as_judgement {
    const as_subject *subject;
    as_finding finding;
    bool is_tested;          /* by statistics; else by the threshold alone */
    double base, target;     /* medians, added over strata */
    double change;           /* target - base */
    double ratio, low, high; /* of medians; its confidence interval, NAN: none */
    double p, adjusted_p;    /* rank test; corrected for the number of subjects; NAN: none */
    double threshold;        /* that was used: 0.05 */
    uint32_t n_base, n_target;
} as_judgement;

/* A threshold of its own for some metrics and paths: patterns (core/pattern.h) or NULL for all. The last that fits counts. */
typedef struct as_threshold_rule {
    const char *metric, *path;
    double threshold;
    bool higher_is_better; /* of metrics such as throughput */
    bool is_ignored;       /* left out of the verdict */
} as_threshold_rule;

typedef struct as_judge_options {
    double threshold; /* 0.05: 5 % */
    double level;     /* of all subjects together: 0.05 */
    uint32_t resamples;
    uint64_t seed;
    const as_threshold_rule *rules;
    size_t n_rules;
    unsigned threads;
} as_judge_options;

typedef struct as_verdict {
    as_judgement *judgements; /* by contribution to the change, largest first; ties in the order of the samples */
    size_t n;
    size_t counts[AS_FINDING_TOO_FEW + 1];
    double total_base, total_target; /* of matched subjects of the first metric */
    double geometric_mean;           /* of their ratios; NAN: none */
    as_arena arena;
} as_verdict;

assay_status as_judge(const as_samples *samples, const as_judge_options *options, as_verdict *out, assay_error *error);
void as_verdict_free(as_verdict *verdict);

/* ---- noise, series, models ------------------------------------------------------------------------------------------------------- */

/* How noisy one side is: of each subject the spread, and the smallest change that a comparison with as many repetitions would find. */
typedef struct as_noise {
    const as_subject *subject;
    uint32_t n;
    double median, spread; /* spread: relative, (q75 - q25) / median */
    double detectable;     /* smallest relative change found with 80 % power; NAN: it needs more repetitions */
} as_noise;
assay_status as_noise_find(const as_samples *samples, const as_judge_options *options, as_noise **out, size_t *n,
                           assay_error *error); /* free() them */

/* A series of one subject over runs in order: change points by binary segmentation with a permutation test (deterministic). */
typedef struct as_change_point {
    size_t at;            /* the first run of the new level */
    double before, after; /* medians of both levels */
    double p;
} as_change_point;
/* values: one a run, NAN: missing. Into out (a vector of as_change_point, ascending). */
bool as_change_points_find(const double *values, size_t n, const as_judge_options *options, as_vec *out);

#endif
