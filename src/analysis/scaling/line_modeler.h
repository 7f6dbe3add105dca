/* A modeler of one parameter at one set of points: basic, refining or segmented behind one interface. */
#ifndef AS_ANALYSIS_SCALING_LINE_MODELER_H
#define AS_ANALYSIS_SCALING_LINE_MODELER_H

#include "analysis/scaling/line.h"

typedef struct as_line_result {
    as_line_fit whole; /* segmented: only its costs */
    bool is_segmented;
    as_line_fit parts[2];
    double left_end, right_begin; /* the left part holds up to and with the first, the right one from the second on */
} as_line_result;

typedef struct as_line_modeler {
    as_modeler modeler; /* what is really done: too few points for segments make it basic */
    as_single_options options;
    size_t n;
    uint32_t *order;    /* segmented: the points by value */
    double *x;          /* in that order; else as given */
    as_line_plan *plan; /* of all points */
    /* Segmented: plans of parts, made when needed, in three rows of n + 1: windows by their first point, parts from the
     * first point on by their end, parts up to the last point by their first */
    as_line_plan **parts;
    pthread_mutex_t lock;
} as_line_modeler;

/* NULL when memory is out. */
as_line_modeler *as_line_modeler_new(as_modeler modeler, const double *x, size_t n, const as_single_options *options);
void as_line_modeler_free(as_line_modeler *modeler);
/* Doubles of scratch memory that running needs. */
size_t as_line_modeler_scratch(const as_line_modeler *modeler);
/* Models a tile of series: y[i * AS_LANES + lane], 64-byte aligned as scratch is; `lanes` of them are real. False when
 * memory is out. */
bool as_line_modeler_run(as_line_modeler *modeler, const double *y, size_t lanes, double *scratch, as_line_result *out);

/* The value of a result at x; NAN between segments. */
double as_line_result_at(const as_line_result *result, double x);
static inline bool as_line_result_is_constant(const as_line_result *result) {
    return !result->is_segmented && result->whole.term == -1;
}

#endif
