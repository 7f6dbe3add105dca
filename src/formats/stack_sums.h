/* For readers of stacks with amounts (folded stacks, speedscope, pprof): contexts and what each has itself, added up as
 * it comes, then as blocks of exclusive values of one run. */
#ifndef AS_FORMATS_STACK_SUMS_H
#define AS_FORMATS_STACK_SUMS_H

#include "formats/format.h"
#include "formats/stack_tree.h"

/* What a context has at a location: whole numbers and others apart, so that integers stay exact. */
typedef struct as_stack_sum {
    assay_id context, location; /* context: of the tree */
    as_whole whole;
    double real;
} as_stack_sum;

typedef struct as_stack_metric {
    as_str name, unit, description; /* unit, description: may be AS_NO_STR */
    bool has_real;
    as_vec sums;      /* as_stack_sum: those of one location together */
    as_vec of;        /* uint32_t, by context of the tree: where its sum at the location at hand is */
    size_t first_sum; /* of the location at hand */
    size_t last_run;  /* private: where the sums of the location begin that the last one is of */
} as_stack_metric;

typedef struct as_stack_sums {
    as_dataset *ds;
    as_stack_tree tree;
    as_vec metrics;          /* as_stack_metric */
    assay_id location;       /* at hand; ASSAY_NONE: no place */
    const assay_id *new_ids; /* once finished, until it is freed: for each context of the tree its id in the dataset */
} as_stack_sums;

void as_stack_sums_init(as_stack_sums *sums, as_dataset *ds);
void as_stack_sums_free(as_stack_sums *sums);
/* A new metric: its number, from 0. SIZE_MAX when memory is out. */
size_t as_stack_metric_add(as_stack_sums *sums, as_str name, as_str unit);
/* From now on amounts are those of this location. */
void as_stack_sums_at(as_stack_sums *sums, assay_id location);
/* Adds to what a context has. False when memory is out. */
bool as_stack_sums_add(as_stack_sums *sums, size_t metric, assay_id context, as_number amount);
/* Puts together what a location has that was at hand more than once: then there is one sum for each context and
 * location. as_stack_sums_finish() does it, too. */
void as_stack_sums_join(as_stack_sums *sums);
/* The run, where there is none yet, the contexts, the metrics and their values into the dataset; metrics have the ids
 * that as_stack_metric_add() gave as numbers. Metrics are INT64 where all amounts are whole (UINT64 where they are too
 * large for that), else DOUBLE. False when memory is out. */
bool as_stack_sums_finish(as_stack_sums *sums);

#endif
