/* The costs of a call tree as integers, all plain metrics side by side: for formats that have stacks of functions and
 * nothing but integers (pprof, callgrind).
 *
 * Of the main run (as_stacks_main_run()), summed over locations or of one. Integers stay what they are. Times that are
 * reals become nanoseconds; other reals stay where all of them are whole, else they become millionths. Metrics that are
 * computed from others, or whose values do not add up, are left out. */
#ifndef AS_FORMATS_COSTS_H
#define AS_FORMATS_COSTS_H

#include "dataset/stacks.h"
#include "formats/format.h"

typedef struct as_cost_type {
    assay_id metric;
    double factor;   /* of reals: what values are multiplied by */
    char unit[64];   /* "nanoseconds", "bytes", "millionths of J"; "count" where it has none */
    bool is_rounded; /* digits were lost */
    /* amounts beyond 64 bits, which are the largest there are, and those that are no numbers, which are 0 */
    uint64_t n_wrong;
} as_cost_type;

typedef struct as_costs {
    const as_dataset *ds;
    assay_id run;
    as_vec types;               /* as_cost_type */
    assay_id *frames, *callers; /* as those of as_stacks, of all metrics together */
    as_vec amounts;             /* int64_t: one of each type, for each context */
    as_vec locations;           /* assay_id, ascending: those with values, where single ones were asked for */
    size_t n_others;            /* metrics with values that are left out */
    /* Private */
    as_vec stacks; /* as_stacks of each type, where single locations were asked for */
} as_costs;

/* Loads the sums over all locations. ASSAY_E_UNSUPPORTED where there is nothing to write. as_costs_close() in every
 * case. */
assay_status as_costs_open(const as_dataset *ds, bool by_location, as_costs *out, assay_error *error);
/* Loads what is at one of `locations`, by its index. */
assay_status as_costs_load(as_costs *costs, size_t location, assay_error *error);
void as_costs_close(as_costs *costs);

static inline const int64_t *as_costs_of(const as_costs *costs, assay_id context) {
    return (const int64_t *)costs->amounts.data + (size_t)context * costs->types.count;
}
/* Whether a frame has anything of its own. */
bool as_costs_any(const as_costs *costs, assay_id context);

/* A frame as functions see it: a line (or a piece of code of the kind "line") belongs to the function around it. */
typedef struct as_cost_place {
    assay_id function; /* the frame that is the function */
    int64_t line;      /* of the source within it; 0: unknown */
} as_cost_place;
as_cost_place as_cost_place_of(const as_costs *costs, assay_id frame);
/* The name of a frame; never NULL. size (may be NULL): of those that have zero bytes. */
const char *as_frame_name(const as_dataset *ds, assay_id frame, size_t *size);

/* What writing costs alone loses: digits, metrics, runs, sections; where they are of stacks (as_lose_frames()), what
 * these leave out. */
void as_lose_costs(const as_dataset *ds, bool are_of_stacks, as_losses *losses);

#endif
