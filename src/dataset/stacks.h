/* The stacks of a call tree: which contexts are their frames, and what each stack has itself, of one metric in one run.
 * What flame graphs are drawn of.
 *
 * Call sites are one with whom they call, and so are lines and instructions that do nothing but call. What stands
 * aside, has no place in the tree, or runs beside the rest (sections, where there is anything else) is in no stack; the
 * context that stands for the whole program is a frame only of its own amount. */
#ifndef AS_DATASET_STACKS_H
#define AS_DATASET_STACKS_H

#include "dataset/own_values.h"

typedef struct as_stacks {
    as_own_values own; /* of contexts; as loaded last */
    /* By context: itself where it is a frame, else the one that has its amount; ASSAY_NONE: it is in no stack. A frame
     * comes before those above it */
    assay_id *frames;
    assay_id *callers; /* of frames: the frame below them; ASSAY_NONE: outermost */
} as_stacks;

/* The run whose stacks are meant where nobody says it: the first one of the largest point; where there are no points,
 * the first. ASSAY_NONE: there is none, or memory is out. */
assay_id as_stacks_main_run(const as_dataset *ds);

/* Loads the sums over all locations, which say what is a frame. ASSAY_E_UNSUPPORTED where a metric has no stacks.
 * only_sums: as of as_own_values_open(). as_stacks_close() in every case. */
assay_status as_stacks_open(const as_dataset *ds, assay_id metric, assay_id run, bool only_sums, as_stacks *out,
                            assay_error *error);
/* What is at one location, by its index among those of `own`, or at all. The frames stay. */
assay_status as_stacks_load(as_stacks *stacks, uint32_t location, assay_error *error);
void as_stacks_close(as_stacks *stacks);
/* How many sections are left out, because they run beside the rest. */
size_t as_stacks_sections(const as_dataset *ds);

#endif
