/* Statistics that are computed from those of the summary profile, context by context. */
#ifndef AS_FORMATS_HPCTOOLKIT_COMPUTED_H
#define AS_FORMATS_HPCTOOLKIT_COMPUTED_H

#include "formats/hpctoolkit/database.h"

typedef struct as_hpc_computer as_hpc_computer;

/* Of all that are in the array, which must live as long. NULL when memory is out. */
as_hpc_computer *as_hpc_computer_new(const as_hpc_computed *computed, size_t n);
void as_hpc_computer_free(as_hpc_computer *computer);

/* A stored value of a context, by its id in the summary profile. */
typedef struct as_hpc_stored {
    uint16_t id;
    double value;
} as_hpc_stored;

/* Adds the statistics of a context that are made of one of its stored values at least, as far as they have a value. Of
 * two values of an id the last counts. False when memory is out. */
bool as_hpc_compute(as_hpc_computer *computer, as_dataset *ds, assay_id context, const as_hpc_stored *stored, size_t n);

#endif
