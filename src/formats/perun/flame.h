/* Stacks of profiles. */
#ifndef AS_FORMATS_PERUN_FLAME_H
#define AS_FORMATS_PERUN_FLAME_H

#include "formats/perun/perun.h"

/* The amounts of one kind of resources. */
typedef struct as_perun_amount {
    bool is_there, has_real;
    as_whole whole;
    double real, lost; /* the sum of reals, and what its rounding lost */
} as_perun_amount;

/* Adds up the numeric amounts of each kind; out has one for each of perun->kinds, zeroed. runs: one bool for each run
 * of the dataset; NULL: all. */
void as_perun_add_amounts(const as_perun *perun, const bool *runs, as_perun_amount *out);

/* The lines of Perun's to_flame_graph_format: "uid;outermost or innermost;… AMOUNT", a line for each resource, snapshot
 * by snapshot and type by type. What Perun stumbles over (a resource without amount, trace or the keys of a frame) is
 * left out, or shown as well as it goes. False when memory is out. */
bool as_perun_flame_lines(const as_dataset *ds, as_output *out);

#endif
