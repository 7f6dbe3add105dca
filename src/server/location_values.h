/* What a call path, or the whole program, has at each place (locations, processes, or runs), as `assay stat` has it:
 * kept from request to request. */
#ifndef AS_SERVER_LOCATION_VALUES_H
#define AS_SERVER_LOCATION_VALUES_H

#include "cli/stat_view.h"
#include "server/request.h"

typedef struct as_placed_values {
    as_stat_view view;        /* the places; --location leaves out none of them */
    assay_id metric, context; /* context ASSAY_NONE: the whole program, or a row */
    bool is_exclusive;
    bool adds_up;      /* the values of several places have a sum */
    as_number *values; /* of each place; an AS_REAL NAN: none. NULL: there are none at all */
    uint32_t n_values;
    as_spread spread; /* of those that are there; unless n_values is 0 */
} as_placed_values;

/* Of the parameters d, metric, run, by (location, process, run), context and kind (inclusive, exclusive; of a metric
 * that has both); or instead of context `node`, a row of a view (tables.h), whose own `by` is called `tree` here. The
 * viewing owns it; it lives until the request ends. */
assay_status as_placed_values_find(as_viewing *viewing, const as_request *request, const as_placed_values **out,
                                   assay_error *error);

/* Which places the parameter `location` means, one bool each, to be freed; NULL: all. label: as the command says it. */
assay_status as_placed_selection(const as_request *request, const as_placed_values *of, bool **out, char label[256],
                                 assay_error *error);

static inline bool as_placed_has(const as_placed_values *of, uint32_t place) {
    return of->values && !(of->values[place].kind == AS_REAL && isnan(of->values[place].r));
}

#endif
