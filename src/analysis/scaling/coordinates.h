/* Points given on the command line: "p=4096,n=100", and ranges "p=64..65536:x2". */
#ifndef AS_ANALYSIS_SCALING_COORDINATES_H
#define AS_ANALYSIS_SCALING_COORDINATES_H

#include "dataset/dataset.h"

/* Appends the points (as_ds_parameters() doubles each) that text describes to points (a vector of double). Parameters
 * in any order, each named once; with one parameter its name may be left out ("4096", "64..65536:x2"). A range a..b:xF
 * multiplies by F, a..b:+D adds D, both ends included where hit; a..b alone doubles. Several ranges give all
 * combinations, the first parameter slowest. ASSAY_E_USAGE with what is wrong: an unknown or missing parameter (naming
 * the nearest), no number, not finite, a range that never ends or has more than 100000 points. */
assay_status as_points_parse(const as_dataset *ds, const char *text, as_vec *points, assay_error *error);
/* How far a point lies outside what was measured: the largest of (value / largest measured value) and (smallest /
 * value) over the parameters; 1 inside. *parameter (may be NULL): which one. */
double as_extrapolation(const as_dataset *ds, const double *point, assay_id *parameter);

/* The smallest and the largest value that points have of a parameter; INFINITY and -INFINITY where there are no
 * points. */
void as_parameter_extent(const as_dataset *ds, assay_id parameter, double *smallest, double *largest);
/* The values that points have of a parameter, ascending without repeats, into out (a vector of double, cleared first).
 * False when memory is out. */
bool as_parameter_values(const as_dataset *ds, assay_id parameter, as_vec *out);

#endif
