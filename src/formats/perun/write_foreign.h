/* Datasets of other formats as profiles: what the parts of it share. A resource for each value that is a context's own
 * (exclusive), added up over locations. */
#ifndef AS_FORMATS_PERUN_WRITE_FOREIGN_H
#define AS_FORMATS_PERUN_WRITE_FOREIGN_H

#include "formats/perun/write.h"

/* One value, of a context at a point (ASSAY_NONE: there are no parameters). */
typedef struct as_foreign_value {
    assay_id context, point;
    as_number number;
} as_foreign_value;

/* ---- values (write_values.c) ------------------------------------------------------------------------------------- */

/* Why a metric cannot be written. */
typedef enum as_foreign_metric {
    AS_FOREIGN_FINE,
    AS_FOREIGN_SIDE,     /* it is another side of one that can */
    AS_FOREIGN_DERIVED,  /* it is computed from others */
    AS_FOREIGN_NO_NUMBER /* its values are no numbers that add up */
} as_foreign_metric;
as_foreign_metric as_foreign_metric_of(const as_dataset *ds, assay_id metric);

/* For each context the call that it is a piece of (dataset/pieces.h), itself where it is none. The caller frees it;
 * NULL when memory is out. */
assay_id *as_foreign_calls(const as_dataset *ds);

/* All values of a metric, contexts ascending, those of a context in the order of runs; out (as_foreign_value) is
 * cleared first. What pieces of calls have is in their calls' values. Where there are only statistics: the means. */
assay_status as_foreign_values(const as_dataset *ds, const assay_id *calls, assay_id metric, as_vec *out,
                               assay_error *error);

/* A context that has a name and a place in the call tree. Values of others are in no total: as roots they would count
 * twice. */
bool as_foreign_has_place(const as_dataset *ds, assay_id context);
/* Values of experiments, whose resources are told apart by call paths: each is a resource, 0 as well. */
static inline bool as_foreign_is_experiment(const as_dataset *ds) { return as_ds_parameters(ds) != 0; }

/* ---- models (write_models.c) ------------------------------------------------------------------------------------- */

/* Writes those that Perun has words for, a line each; without an output (NULL) they are only counted. Returns how many.
 * *fine is cleared when memory is out. */
size_t as_foreign_write_models(const as_dataset *ds, as_output *out, bool *fine);

#endif
