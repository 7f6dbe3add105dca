/* Modelling series that were measured at the same points: everything that depends on the points alone is done once. */
#ifndef AS_ANALYSIS_SCALING_PLAN_H
#define AS_ANALYSIS_SCALING_PLAN_H

#include "analysis/scaling/made.h"
#include "analysis/scaling/samples.h"

enum { AS_ENOUGH_POINTS = 5 };

/* The points of one parameter's line, each a mean over some points that differ in the other parameters. */
typedef struct as_line_points {
    size_t n;
    double *x;                /* n */
    uint32_t *starts;         /* n + 1: members of point i are members[starts[i]] … */
    uint32_t *members;        /* indices into the plan's points */
    as_line_modeler *modeler; /* NULL: too few points are left, constant in this parameter */
} as_line_points;

typedef struct as_plan {
    const as_dataset *ds;
    const as_fit_options *options;
    uint64_t hash;
    size_t n;
    assay_id *points;    /* n */
    double *coordinates; /* parameters x n: all values of the first parameter, then of the second … */
    size_t n_parameters;
    as_line_points *lines; /* one a parameter */
    uint32_t flags;        /* of every series that is modelled with it */
} as_plan;

/* points: n ids, copied. is_ragged: not all points of the dataset. NULL when memory is out. */
as_plan *as_plan_new(const as_dataset *ds, const as_fit_options *options, const assay_id *points, size_t n,
                     bool is_ragged);
void as_plan_free(as_plan *plan);
/* Bytes it takes, roughly. */
size_t as_plan_size(const as_plan *plan);

/* One series to model. */
typedef struct as_job {
    uint32_t position;
    const as_samples *samples;
} as_job;

/* Models n series and appends what it made to bytes. False when memory is out. */
bool as_plan_run(as_plan *plan, const as_job *jobs, size_t n, as_vec *bytes);

/* ---- inside (lines.c, combine.c) --------------------------------------------------------------------------------- */

/* Chooses the points of a parameter's line where there are several parameters; makes no modeler. False when memory is
 * out. */
bool as_line_points_choose(const as_plan *plan, size_t parameter, as_line_points *line);
void as_line_points_free(as_line_points *line);
/* The values of a line's points from those of all points, out[i * stride]. means: NULL, or what Extra-P's slip with
 * averaged minima and maxima needs. */
void as_line_points_values(const as_line_points *line, const double *y, const double *means, double *out,
                           size_t stride);

/* "p^(1) * q^(2)", "{p} * q^(2)" where p's factor is piecewise: the factors of a term, appended to text. lines: one a
 * parameter; term: a set, bit k being kept[k]. False when memory is out. */
bool as_factors_text(const as_dataset *ds, const as_line_result *lines, const uint32_t *kept, uint64_t term,
                     as_vec *text);

/* A combination of the parameters' terms as it was tried. */
typedef struct as_combination {
    const as_line_result *lines; /* one a parameter */
    const uint32_t *kept;        /* the n_kept parameters that are not constant */
    size_t n_kept;
    const uint64_t *terms; /* n_terms sets of them, bit k: kept[k] */
    size_t n_terms;
    const double *coefficients; /* n_terms + 1: the constant, then one a term */
    as_costs costs;
    bool is_small; /* some term contributes too little */
} as_combination;

/* Told of each combination that is tried, in order; which is chosen is known at the end. */
typedef struct as_combination_witness {
    bool (*tried)(void *user, const as_combination *combination); /* false: memory is out */
    void (*chosen)(void *user, size_t index);
    void *user;
} as_combination_witness;

/* Combines the models of the lines (one a parameter, of one series) to one of all parameters, and appends it. y:
 * plan->n. witness may be NULL, as bytes where there is one. */
bool as_plan_combine(const as_plan *plan, const double *y, const as_line_result *lines, as_made_head *head,
                     as_vec *bytes, const as_combination_witness *witness);

#endif
