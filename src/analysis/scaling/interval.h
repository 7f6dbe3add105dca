/* How sure a prediction is: 95 % prediction intervals.
 *
 * A model is one of many functions that explain its measurements almost as well. The interval averages over all of
 * them, weighted by how well they explain the measurements (docs/predictions.md). */
#ifndef AS_ANALYSIS_SCALING_INTERVAL_H
#define AS_ANALYSIS_SCALING_INTERVAL_H

#include "analysis/scaling/fit.h"

typedef struct as_interval {
    double low, high; /* NAN: unknown, too few points */
} as_interval;

/* Everything a series says about new measurements: made once, asked at many points. */
typedef struct as_forecast as_forecast;

/* model: the one fitted to the series with these options; NULL: there is none, the measurements alone speak. The
 * dataset must outlive the forecast. NULL when memory is out. */
as_forecast *as_forecast_new(const as_dataset *ds, const as_fit_options *options, uint32_t series,
                             const as_model *model);
void as_forecast_free(as_forecast *forecast);
/* The interval that holds a new measurement at this point (made with as many repetitions as the others) with this
 * probability, e.g. 0.95. It always holds the model's own value; where no measurement is negative, it is not either,
 * unless that value is. It knows only the measurements of the segment that the point lies in, and nothing (NAN) between
 * segments, where the model has no value, where there are fewer than 3 measurements, and for more than 16
 * parameters. */
as_interval as_forecast_at(const as_forecast *forecast, const double *point, double probability);

#endif
