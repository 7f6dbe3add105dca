/* Did it get worse? Any two measurements, of any formats: per call path and metric, with statistics where there are
 * repetitions.
 *
 * A side is one or more datasets; each is a repetition (or several: runs at one point). Samples are kept in strata, one
 * for each point of the parameters that both sides have; datasets without parameters have one stratum. Sides are
 * matched by the path of names and the metric's name. */
#ifndef AS_ANALYSIS_VERDICT_H
#define AS_ANALYSIS_VERDICT_H

#include "core/quantile.h"
#include "dataset/dataset.h"

/* ---- samples (samples.c) ----------------------------------------------------------------------------------------- */

/* What a change makes of the base: infinite where that is 0; NAN: undefined. */
static inline double as_relative_change(double base, double change) {
    if (change == 0) return 0;
    return base != 0 ? change / fabs(base) : change > 0 ? INFINITY : change < 0 ? -INFINITY : NAN;
}

/* One side's numbers of one call path and metric at one point. */
typedef struct as_stratum {
    const double *values; /* ascending; no NaN */
    uint32_t n;
} as_stratum;
/* NAN: it has no values. */
static inline double as_stratum_median(const as_stratum *stratum) {
    return stratum->n ? as_median(stratum->values, stratum->n) : NAN;
}

/* A call path and metric, matched. */
typedef struct as_subject {
    const char *path;          /* names joined with "->"; NULL: the total of the metric */
    const char *metric, *unit; /* unit NULL: none */
    const char *file;          /* of its source, as the target says, else the base; NULL: unknown */
    int64_t line;              /* where the function begins; -1: unknown */
    uint32_t in_metric;        /* index into as_samples.metrics */
    uint32_t node;             /* of the tree of names: the same for all metrics */
    bool is_in[2];             /* whether each side (AS_BASE, AS_TARGET of algebra/compare.h: 0, 1) has it */
    /* a part of the total: no section and, of inclusive values, in no other matched subject of this metric */
    bool is_top;
    bool is_apart; /* no part of the total, because it is a section and others are not: listed behind those */
    uint32_t n_strata;
    /* n_strata each: the same points, at which both sides have it; of new and vanished subjects all points of the one
     * side */
    const as_stratum *strata[2];
    const double *coordinates; /* n_strata x parameters; NULL: no parameters */
    /* The values of the one stratum in the order of runs, so that those of all subjects at one place are of one run;
     * NULL: there are several strata, a run has none or several values, or there are more than AS_MOST_SHUFFLED */
    const double *by_run[2];
} as_subject;
enum { AS_MOST_SHUFFLED = 12 };

/* A metric that both sides have. */
typedef struct as_sampled_metric {
    const char *name, *unit; /* of the base */
    /* another one where it is asked for, or where the two have no name in common, and this is the time of both */
    const char *target_name;
    /* values of call paths hold those below them, so that only the topmost ones add up; nobody asked for it */
    bool looks_inclusive;
    size_t first, n;  /* its subjects */
    as_subject whole; /* the same over all subjects, new and vanished ones too */
    /* of each run the sum over matched subjects; without strata where runs have no sums of their own (repetitions
     * inside a run) */
    as_subject total;
} as_sampled_metric;

typedef struct as_samples {
    as_subject *subjects; /* in the order of the metrics; of a metric in the order of the base's tree, new ones last */
    size_t n;
    as_sampled_metric *metrics; /* in the order of the base */
    size_t n_metrics;
    size_t n_parameters;
    const char *const *parameters;
    bool has_repetitions; /* some stratum has two or more on both sides */
    bool is_within_run;   /* some repetitions are of one run: nothing is known of what differs from run to run */
    size_t n_unmatched_points[2];
    bool has_no_common_point; /* both have points, and none is of both */
    as_arena arena;
} as_samples;

typedef struct as_sample_request {
    const char *const *metrics;        /* names, or NULL: all that both have and that add up; ended by NULL */
    const char *const *target_metrics; /* what the target calls each of these; NULL: the same */
    bool is_inclusive;                 /* inclusive values of call paths; else exclusive ones */
    bool (*keeps)(void *user, const char *metric, const char *path); /* whether a call path is looked at; NULL: all */
    void *user;
    /* Of the one dataset of each side the runs that are looked at: repetitions of each other, wherever they were
     * measured. NULLs: all, and those of one point are */
    const bool *runs[2];
} as_sample_request;

/* sides[s]: n[s] datasets. as_samples_free() in every case. Of a side with several datasets each gives one number for a
 * stratum, its median. Contexts that are pieces of a call (lines, loops) belong to the call; siblings of one name are
 * one. In profiles, a call path that one repetition lacks is 0 there. Of files that store only statistics the median
 * (else the mean) is the one value. Perun's resources: those of one uid at one structure-unit-size, or of a run of the
 * time collector (with `order`), are repetitions; else a run's sum is one value. ASSAY_E_USAGE: no metric in common, a
 * metric asked for that one side lacks, different parameters. */
assay_status as_samples_find(const as_dataset *const *const sides[2], const size_t n[2],
                             const as_sample_request *request, as_samples *out, assay_error *error);
void as_samples_free(as_samples *samples);

/* ---- ranks (ranks.c) --------------------------------------------------------------------------------------------- */

/* Room for rank tests of one thread. Zero-initialise. */
typedef struct as_rank_room {
    void *data;
    size_t size;
} as_rank_room;
void as_rank_room_free(as_rank_room *room);

/* Two-sided p of the hypothesis that both sides of all strata (ascending values) are alike: Mann-Whitney's test, over
 * several strata van Elteren's. Exact where that is cheap: one stratum, or several of one size, without ties up to
 * AS_EXACT_VALUES values each, with ties up to AS_EXACT_TIES; else by the normal distribution, corrected for ties and
 * continuity. NAN: nothing to compare, or memory is out. */
enum { AS_EXACT_VALUES = 60, AS_EXACT_TIES = 24 };
double as_rank_test(const as_stratum *base, const as_stratum *target, size_t n_strata, as_rank_room *room);
/* The smallest p that these numbers of values can give. */
double as_rank_least(const as_stratum *base, const as_stratum *target, size_t n_strata);
/* Holm's correction in place of n values of p; NANs stay and do not count. False when memory is out. */
bool as_holm(double *p, size_t n);
/* The same for Benjamini and Hochberg's: at a level, this part of what is found is chance. */
bool as_false_discovery(double *p, size_t n);
/* The values on each side that one test among `n_tests` needs for p to get below level at all. */
uint32_t as_rank_needed(double level, size_t n_tests);

/* ---- shuffled runs (shuffle.c) ----------------------------------------------------------------------------------- */

/* Whether all n subjects have the same runs, as as_subject.by_run has them. */
bool as_can_shuffle(const as_subject *const *subjects, size_t n);
/* Of subjects for which that is so the two-sided p, corrected for their number: the part of all divisions of the runs
 * into sides of these sizes (of many, of 2000 by chance) in which the largest distance of any subject is at least its
 * own (Westfall and Young; the distance is Student's t, with a hundredth of the mean added to the standard error). So p
 * does not depend on how many subjects there are where one is far beyond all others: n runs on both sides can give 2 /
 * C(2n, n). False when memory is out. */
bool as_shuffle_test(const as_subject *const *subjects, size_t n, uint64_t seed, unsigned threads, double *p);

/* ---- resampling (bootstrap.c) ------------------------------------------------------------------------------------ */

/* Medians of resamples of n values are drawn at once from their distribution, which depends on n alone: kept here for
 * all n that occur. */
typedef struct as_median_laws as_median_laws;
/* Of the numbers of values that the subjects have. NULL when memory is out. */
as_median_laws *as_median_laws_new(const as_samples *samples);
void as_median_laws_free(as_median_laws *laws);
/* Confidence interval (percentiles of resamples, in each stratum) of the ratio target / base of medians added over
 * strata. draws: room for `resamples` numbers, of which fewer are used (at least 400) where there are hundreds of
 * strata. The same for the same values and seed. Where the base is not positive: NAN. */
void as_ratio_interval(const as_median_laws *laws, const as_subject *subject, double level, uint32_t resamples,
                       uint64_t seed, double *draws, double *low, double *high);

/* ---- judging (judge.c) ------------------------------------------------------------------------------------------- */

typedef enum as_outcome {
    AS_OUTCOME_SAME, /* within the threshold, too small to matter, or not told from noise */
    AS_OUTCOME_WORSE,
    /* beyond the threshold, and likely: by the false discovery rate, or where repetitions are too few for certainty and
     * no value of one side is among those of the other. Or significant, and perhaps beyond the threshold */
    AS_OUTCOME_MAYBE_WORSE,
    AS_OUTCOME_BETTER,
    AS_OUTCOME_MAYBE_BETTER,
    AS_OUTCOME_NEW,
    AS_OUTCOME_GONE,
    AS_OUTCOME_TOO_FEW, /* beyond the threshold, but there are too few repetitions to tell it from noise */
    AS_N_OUTCOMES
} as_outcome;
/* "no change", "degradation", "maybe degradation", "optimization", "maybe optimization", "new", "gone", "too few
 * repetitions" */
const char *as_outcome_name(as_outcome outcome);
/* That which counts more: WORSE, MAYBE_WORSE, BETTER, MAYBE_BETTER, all others, in this order. */
as_outcome as_outcome_worse(as_outcome a, as_outcome b);
/* Its place in that order, from 0 to 4. */
int as_outcome_rank(as_outcome outcome);

typedef struct as_judgement {
    const as_subject *subject;
    as_outcome outcome;
    bool is_tested; /* by statistics; else by the threshold alone */
    bool is_small;  /* below the floor: not tested, and no finding by itself */
    bool higher_is_better;
    double base, target;     /* medians, added over strata; NAN: this side does not have it */
    double change;           /* target - base */
    double relative;         /* change / |base|; infinite where that is 0; NAN: undefined */
    double ratio, low, high; /* target / base, NAN where the base is negative; its confidence interval, NAN: none */
    double q;                /* rank test, as the false discovery rate; NAN: none */
    double p, adjusted_p;    /* rank test; corrected for the number of subjects, or that of shuffled runs; NAN: none */
    double threshold;        /* that was used: 0.05 */
    double share;            /* the change as a part of what the base has of its metric */
    uint32_t n_base, n_target; /* values */
} as_judgement;

/* A threshold of its own for some metrics and paths: patterns (core/pattern.h) or NULL for all. The last that fits
 * counts. */
typedef struct as_threshold_rule {
    const char *metric, *path;
    double threshold;      /* NAN: the general one */
    bool higher_is_better; /* of metrics such as throughput */
    bool is_ignored;       /* for as_rules_keep(): not looked at */
} as_threshold_rule;

/* Rules whose patterns are ready (rules.c). */
typedef struct as_rules as_rules;
/* ASSAY_E_USAGE with the pattern that is none. The texts are borrowed. */
assay_status as_rules_new(const as_threshold_rule *rules, size_t n, as_rules **out, assay_error *error);
void as_rules_free(as_rules *rules);
/* The rule of a call path (NULL: the total, which only rules without a path fit); NULL: none. */
const as_threshold_rule *as_rules_find(const as_rules *rules, const char *metric, const char *path);
/* For as_sample_request.keeps: false where the rule says is_ignored. */
bool as_rules_keep(void *rules, const char *metric, const char *path);

typedef struct as_judge_options {
    double threshold; /* 0.05: 5 % */
    double level;     /* of all subjects together: 0.05 */
    /* subjects with less of the metric's total (base and target together) than this part are not looked at: 0.001 */
    double floor;
    uint32_t resamples;
    uint64_t seed;
    const as_threshold_rule *rules;
    size_t n_rules;
    unsigned threads;
} as_judge_options;
/* What the command does by default; floor 0 and NULL rules are fine, too. */
#define AS_JUDGE_DEFAULTS                                                                                              \
    ((as_judge_options){.threshold = 0.05, .level = 0.05, .floor = 0.001, .resamples = 2000, .seed = 1})

/* One metric's matched subjects together. */
typedef struct as_metric_verdict {
    const as_sampled_metric *metric;
    as_judgement total; /* its base and target are sums over matched subjects (over the top ones of inclusive values) */
    /* with new and vanished subjects; where there are none it is as the total, and does not count by itself */
    as_judgement whole;
    bool has_whole; /* there are some */
    size_t n_matched;
    size_t counts[AS_N_OUTCOMES]; /* of its subjects, without the total */
    double new_value, gone_value; /* of the subjects that one side lacks */
    /* of the ratios of matched subjects with positive values (the top ones of inclusive values); NAN: none */
    double geometric_mean;
    size_t n_ratios; /* that it is of */
} as_metric_verdict;

typedef struct as_verdict {
    /* by share of the change in the metric's total, largest first, new and gone ones with all they have; ties in the
     * order of the samples */
    as_judgement *judgements;
    size_t n;
    as_metric_verdict *metrics;
    size_t n_metrics;
    size_t counts[AS_N_OUTCOMES]; /* subjects, totals and wholes */
    as_outcome outcome;           /* of all: WORSE, MAYBE_WORSE, BETTER, MAYBE_BETTER, SAME, in this order */
    /* adjusted p are those of as_shuffle_test(): repetitions are too few for ranks among so many tests, but not for
     * it */
    bool is_shuffled;
    size_t n_tested; /* subjects, totals and wholes, which the correction is for */
    /* repetitions on both sides for a degradation to be significant at all; 0: there are enough, or no statistics */
    uint32_t needed;
    as_arena arena;
} as_verdict;

/* as_verdict_free() in every case; the samples must live as long. */
assay_status as_judge(const as_samples *samples, const as_judge_options *options, as_verdict *out, assay_error *error);
void as_verdict_free(as_verdict *verdict);

/* ---- noise (noise.c) --------------------------------------------------------------------------------------------- */

/* How noisy the base is. */
typedef struct as_noise {
    const as_subject *subject; /* with a total's path NULL */
    uint32_t n;                /* repetitions; of several strata the fewest */
    uint32_t outliers;         /* farther from the median than five spreads (of the median distance to it) */
    double median, spread;     /* spread: relative, (q75 - q25) / median; NAN: undefined. Added over strata */
    double threshold;
    /* smallest relative change found with 80 % power by a comparison with as many repetitions; INFINITY: none is; NAN:
     * undefined */
    double detectable;
    /* repetitions on both sides to find a change of twice the threshold with 80 % power; UINT32_MAX: more than
     * AS_MOST_REPETITIONS */
    uint32_t needed;
} as_noise;
enum { AS_MOST_REPETITIONS = 200 };

typedef struct as_noises {
    /* totals first, then by the median, largest first, metric by metric; those below the floor and without repetitions
     * are left out */
    as_noise *list;
    size_t n;
    size_t n_tests; /* that the correction is for */
    size_t n_alone; /* subjects left out for want of repetitions */
    as_arena arena;
} as_noises;

/* samples: the same datasets on both sides. Comparisons are simulated with the test that as_judge() makes, corrected
 * for as many subjects, on numbers drawn from the measured ones (evenly between neighbours). Deterministic by
 * options->seed. as_noises_free() in every case; the samples must live as long. */
assay_status as_noises_find(const as_samples *samples, const as_judge_options *options, as_noises *out,
                            assay_error *error);
void as_noises_free(as_noises *noises);

/* Whether values in order of time are independent. */
typedef struct as_trend {
    double slope_p;         /* two-sided, of Kendall's test against a trend; NAN: fewer than 5 values */
    double change;          /* from the first to the last value along the line (Theil's), as a part of the median */
    double autocorrelation; /* of neighbours; NAN: undefined */
    double limit;           /* beyond which that is no chance at 5 % */
} as_trend;
/* values: NAN missing. False when memory is out. */
bool as_trend_find(const double *values, size_t n, as_trend *out);

/* ---- series (series.c, series_test.c) ---------------------------------------------------------------------------- */

typedef struct as_change_point {
    size_t at;            /* the first run of the new level that has a value */
    double before, after; /* medians of both levels */
    double p; /* corrected for the number of subjects; NAN: too few runs for a test, the threshold alone decided */
} as_change_point;

/* Fewer runs than this cannot show a change at the usual level, whatever their values. */
enum { AS_FEWEST_RUNS = 8 };

/* One subject over all runs, in order. */
typedef struct as_track {
    const double *values; /* one a run, NAN: missing */
    double threshold;     /* levels that differ by less are one: 0.05 */
    as_vec points;        /* as_change_point, ascending: what is found; as_tracks_free() */
    bool is_gradual;      /* a straight line explains the values better than the levels do */
} as_track;

/* Change points of n subjects over the same n_runs runs. Segments are split where the levels left and right differ most
 * for their noise, as long as a permutation test of runs (all subjects together, so that what one run has in common
 * stays together) finds that at options->level for the whole family. Outliers count for little: values are cut at some
 * spreads from the median, a level has 3 runs at least, and medians must differ by the threshold. options: level, seed,
 * threads. Deterministic. False when memory is out. as_tracks_free() in every case. */
bool as_tracks_find(as_track *tracks, size_t n, size_t n_runs, const as_judge_options *options);
void as_tracks_free(as_track *tracks, size_t n);

#endif
