/* Which call paths functions are made of: for whoever asks what some of them have at single locations. */
#ifndef AS_ANALYSIS_VIEWS_FUNCTIONS_H
#define AS_ANALYSIS_VIEWS_FUNCTIONS_H

#include "analysis/views/view.h"

/* Of function i those are contexts[starts[i]] … contexts[starts[i + 1] - 1], ascending. */
typedef struct as_view_functions {
    uint32_t *starts;
    assay_id *contexts;
} as_view_functions;

/* n functions as flat views have them (AS_GROUP_REGION), each known by its first context; ASSAY_NONE: it has none. All
 * contexts are looked at once. source: what they are of; its values do not count. as_view_functions_free() in every
 * case. */
assay_status as_view_functions_find(const as_view_source *source, const assay_id *firsts, size_t n,
                                    as_view_functions *out, assay_error *error);
void as_view_functions_free(as_view_functions *functions);

#endif
