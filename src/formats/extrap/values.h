/* What the writers of Extra-P's JSON kinds share: values as lists, and which of them make one record. */
#ifndef AS_FORMATS_EXTRAP_VALUES_H
#define AS_FORMATS_EXTRAP_VALUES_H

#include "formats/extrap/extras.h"
#include "formats/extrap/series.h"

/* A string of the dataset in quotes; none: "". */
void as_write_json_str(as_output *out, const as_dataset *ds, as_str text);
/* n rows of a walk from `first` on: [1,2], with locations [[1,2],[3]]. as_list: also a value alone is a list. */
void as_write_json_values(as_output *out, const as_series_walk *walk, uint64_t first, uint64_t n, bool as_list);

/* The rows of a walk's point, split where records with unknown keys begin and end. */
typedef struct as_record_split {
    const as_series_walk *walk;
    const as_extras_index *extras;
    const as_series *series;

    /* the current piece */
    uint64_t first, n; /* rows, as in the walk */
    size_t row;        /* of the unknown keys, or SIZE_MAX */
} as_record_split;

as_record_split as_record_split_begin(const as_series_walk *walk, const as_extras_index *extras,
                                      const as_series *series);
bool as_record_split_next(as_record_split *split);

/* Locations are written by their position in a list: says what is lost where they are more than that. */
void as_lose_locations(const as_dataset *ds, as_losses *losses);

#endif
