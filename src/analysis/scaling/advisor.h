/* What to measure next: the measurement-point advisor.
 *
 * The method is Extra-P's, in three stages. base: some parameter has no line of AS_LINE_POINTS points (all others
 * fixed), so its longest line is completed. add: all have, but nothing is measured outside one line per parameter, so
 * nothing tells how the parameters act together: the cheapest new points. gpr: everything is there; a Gaussian process
 * says which affordable measurement teaches most for its cost. Where it departs from Extra-P, a comment beside the code
 * says why. No chance is involved: the same input gives the same answer. */
#ifndef AS_ANALYSIS_SCALING_ADVISOR_H
#define AS_ANALYSIS_SCALING_ADVISOR_H

#include "core/error.h"
#include "dataset/dataset.h"

enum { AS_LINE_POINTS = 5 };

/* ---- series of values (advisor_series.c) ------------------------------------------------------------------------- */

/* How a parameter goes on: by adding ('+') or multiplying ('*'). */
typedef struct as_step {
    char operation;
    double amount;
} as_step;

/* Of n values, ascending, each once. The more frequent of equal factors and equal differences, by their median; of a
 * tie '+' if all differences are equal, else '*' if the factors agree up to multiples of the first, else '+'. One
 * value: '*' 2. Values that are not above 0 have no factors. False when memory is out. */
bool as_step_find(const double *values, size_t n, as_step *out);
/* Adds to ascending values (a vector of double) the follower of each, and further ones until at least `least` are new.
 * Where all values are whole numbers, new ones are rounded: nobody runs 4.5 processes. False when memory is out. */
bool as_step_extend(as_vec *values, as_step step, size_t least);

/* ---- what was measured (advisor_campaign.c) ---------------------------------------------------------------------- */

/* The measurement campaign so far: the points with data, in ascending order (first parameter first). Runtimes are sums
 * over the chosen series. */
typedef struct as_campaign {
    size_t n_parameters, n;
    double *points;      /* n x n_parameters */
    double *runtimes;    /* seconds, of the means */
    double *spent;       /* seconds, of all repetitions */
    double *repetitions; /* the least of the series at that point */
    /* Mean over series and points of std / mean; NAN: no point has repetitions */
    double noise;
    size_t n_unknown;    /* measurements without a number of repetitions, taken as one */
    size_t n_not_finite; /* measurements left out because their mean is NaN or infinite */
} as_campaign;

/* Of n series (indices into ds->series), one unit of whose metric is `seconds` long. ASSAY_E_NOMEM only. */
assay_status as_campaign_collect(const as_dataset *ds, const uint32_t *series, size_t n, double seconds,
                                 as_campaign *out, assay_error *error);
/* Fills *out from points in any order, each once, all arrays of malloc and taken over, also when it fails: for other
 * sources than a dataset. False when memory is out. */
bool as_campaign_take(as_campaign *out, size_t n_parameters, size_t n, double *points, double *runtimes, double *spent,
                      double *repetitions);
void as_campaign_free(as_campaign *campaign);
/* Whether the point was measured: its index, or SIZE_MAX. */
size_t as_campaign_find(const as_campaign *campaign, const double *point);
/* The different values of one parameter, ascending, into out (a vector of double, cleared first). False when memory is
 * out. */
bool as_campaign_values(const as_campaign *campaign, size_t parameter, as_vec *out);
/* The median of the points' repetitions, at least 1. False when memory is out. */
bool as_campaign_repetitions(const as_campaign *campaign, uint32_t *out);

/* The points that differ in one parameter only. */
typedef struct as_line {
    size_t point; /* the first of them */
    size_t length;
} as_line;
/* The longest of a parameter (of equally long ones that with the smallest first point) into lines[n_parameters]. False
 * when memory is out. */
bool as_lines_find(const as_campaign *campaign, as_line *lines);

/* ---- advice (advisor.c, advisor_modes.c) ------------------------------------------------------------------------- */

typedef enum as_advice_mode { AS_ADVICE_AUTO, AS_ADVICE_BASE, AS_ADVICE_ADD, AS_ADVICE_GPR } as_advice_mode;

/* "base", "add", "gpr". */
const char *as_advice_mode_name(as_advice_mode mode);
/* What the points call for; *parameter: for base, the first parameter without a complete line. */
as_advice_mode as_advice_mode_of(const as_campaign *campaign, const as_line *lines, size_t *parameter);

typedef struct as_advice_options {
    double budget;       /* core hours for all measurements, those that exist included, as Extra-P counts */
    as_advice_mode mode; /* AS_ADVICE_AUTO: as the points call for */
    bool is_strong;      /* strong scaling: the measured time is that of all cores */
    size_t processes;    /* index of the parameter that counts them; SIZE_MAX: n_processes at every point */
    double n_processes;
    uint32_t repetitions;  /* of new points (gpr: at most); 0: as the existing ones (gpr: 5) */
    const as_vec *values;  /* n_parameters vectors of double, empty where the series is to be found; or NULL */
    size_t max_points;     /* suggested at most */
    size_t max_candidates; /* looked at at most */
    /* The time of one run at a point in seconds by the models, NAN where they say nothing. Not asked in base mode,
     * which has no models yet */
    double (*runtime)(void *user, const double *point);
    void *user;
} as_advice_options;

typedef enum as_gain {
    AS_GAIN_LINE,        /* one point more on the line of a parameter */
    AS_GAIN_COMBINATION, /* of values that were not measured together, on no line */
    AS_GAIN_REPETITION   /* of a measured point */
} as_gain;

typedef struct as_suggestion {
    size_t point;         /* row of as_advice.points */
    uint32_t repetitions; /* to measure */
    double runtime;       /* seconds, of one run */
    double cost;          /* core hours, of all its repetitions */
    bool fits;            /* into the budget, with all suggestions before it */
    as_gain gain;
    size_t parameter; /* AS_GAIN_LINE: whose line */
    size_t count;     /* AS_GAIN_LINE: points it then has; AS_GAIN_REPETITION: repetitions the point then has */
} as_suggestion;

typedef struct as_advice {
    as_advice_mode mode;
    bool is_forced;   /* it was asked for, and is not what the points call for */
    size_t parameter; /* base: the first without a complete line */
    size_t n_parameters;
    as_line *lines;                     /* n_parameters */
    as_vec points;                      /* double: n_parameters a row */
    as_vec suggestions;                 /* as_suggestion */
    double used, suggested;             /* core hours; suggested counts what fits */
    uint32_t repetitions;               /* of a new point (gpr: at most) */
    double space;                       /* points of the search space that are not measured yet, before any cut */
    bool is_cut;                        /* the search space was cut to max_candidates: large values were left out */
    bool is_full;                       /* there was more that fits, but max_points were suggested */
    size_t n_candidates, n_unpredicted; /* unpredicted: left out because the models see no positive runtime there */
    /* The cheapest candidate; SIZE_MAX: there is none */
    size_t cheapest;      /* row of points */
    double cheapest_cost; /* of one repetition */
} as_advice;

/* ASSAY_E_NOMEM only. */
assay_status as_advise(const as_campaign *campaign, const as_advice_options *options, as_advice *out,
                       assay_error *error);
void as_advice_free(as_advice *advice);
/* Core hours of one run. */
double as_advice_cost(const as_advice_options *options, const double *point, double seconds);

/* ---- inside the advisor ------------------------------------------------------------------------------------------ */

/* A point that could be measured. */
typedef struct as_candidate {
    size_t point;         /* row of as_advice.points */
    double runtime, cost; /* of one run */
    uint32_t has, room;   /* repetitions it has, and how many more it may get (gpr) */
} as_candidate;

/* The three modes: add suggestions to advice; candidates (as_candidate, in order of the search space) are for the last
 * two. False when memory is out. */
bool as_advise_base(const as_campaign *campaign, const as_advice_options *options, const as_vec *series,
                    as_advice *advice);
bool as_advise_add(const as_campaign *campaign, const as_advice_options *options, const as_vec *candidates,
                   as_advice *advice);
bool as_advise_gpr(const as_campaign *campaign, const as_advice_options *options, as_vec *candidates,
                   as_advice *advice);
/* Adds one; fills in cost, fits and gain from the point, runtime and repetitions. False when memory is out. */
bool as_advice_suggest(const as_campaign *campaign, const as_advice_options *options, as_advice *advice, size_t point,
                       double runtime, uint32_t repetitions);

#endif
