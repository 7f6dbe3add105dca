/* Statistics over places: for each context, how the values of a metric lie over the locations of a run (or its
 * processes), or over some runs.
 *
 * Values are inclusive and exclusive ones, location by location (analysis/rows.h). A location of the run that has no
 * value has 0, unless the metric's sum is a minimum or maximum: then it takes no part. Nor does it where it could have
 * none (analysis/places.h). */
#ifndef AS_ANALYSIS_LOCATION_STATISTICS_H
#define AS_ANALYSIS_LOCATION_STATISTICS_H

#include "analysis/places.h"
#include "analysis/spread.h"

/* Whether the metric is computed at each location, by a formula or from the parts of composite values (the number
 * people see). What all locations together have is then computed as well, and no sum of theirs; a location where there
 * is no number (0 / 0) takes no part. */
bool as_is_computed(const as_dataset *ds, const as_places *places, assay_id metric);
/* Whether there are such statistics of the metric. Not of bytes that are only kept, formulas that cannot be used, and
 * what is computed where a place stands for several locations, or some were left out. */
bool as_has_statistics(const as_dataset *ds, const as_places *places, assay_id metric);

typedef enum as_value_kinds { AS_INCLUSIVE_VALUES = 1, AS_EXCLUSIVE_VALUES = 2 } as_value_kinds;

typedef struct as_context_spread {
    assay_id context;
    bool is_exclusive;
    as_spread spread; /* min_at, max_at: places */
} as_context_spread;

/* Appends to out (as_context_spread) those of all contexts with a value other than 0 in one of the kinds asked for:
 * contexts ascending, inclusive before exclusive. Metrics without two kinds have theirs as inclusive. */
assay_status as_location_statistics(const as_dataset *ds, const as_places *places, assay_id metric,
                                    as_value_kinds kinds, as_vec *out, assay_error *error);

/* The values of one context themselves. values: of every place, to be freed; an AS_REAL NAN takes no part. NULL where
 * the context has none. out: NULL where nobody asks for it. */
assay_status as_location_values(const as_dataset *ds, const as_places *places, assay_id metric, assay_id context,
                                as_value_kinds kind, as_number **values, as_spread *out, assay_error *error);
/* The same for who reads many contexts one after the other: room is made once. */
typedef struct as_location_reader as_location_reader;
/* as_location_reader_close() in every case; dataset and places must last. */
assay_status as_location_reader_open(const as_dataset *ds, const as_places *places, assay_id metric,
                                     as_value_kinds kind, as_location_reader **out, assay_error *error);
/* values: they live until the next call. */
assay_status as_location_reader_next(as_location_reader *reader, assay_id context, const as_number **values,
                                     assay_error *error);
/* NULL is fine. */
void as_location_reader_close(as_location_reader *reader);
/* The same of all contexts together: of what views take for the whole of a metric. NULL also where the values of
 * several contexts make no whole (single exclusive values, formulas). */
assay_status as_location_totals(const as_dataset *ds, const as_places *places, assay_id metric, as_number **values,
                                as_spread *out, assay_error *error);
/* The same of some contexts, ascending: as inclusive values those of one below another count once. */
assay_status as_location_sums(const as_dataset *ds, const as_places *places, assay_id metric, const assay_id *contexts,
                              size_t n, as_value_kinds kind, as_number **values, as_spread *out, assay_error *error);

#endif
