/* For writers of stacks with amounts (folded stacks, speedscope): which metrics and which run are written, and what
 * that leaves out. */
#ifndef AS_FORMATS_STACK_TARGET_H
#define AS_FORMATS_STACK_TARGET_H

#include "dataset/stacks.h"
#include "formats/format.h"

#define AS_STACK_METRIC_OPTION                                                                                         \
    {                                                                                                                  \
        "metric", AS_OPTION_TEXT, "", NULL,                                                                            \
            "the metric whose exclusive values are written, or several: A,B; default: the time, else the first one"    \
    }
#define AS_STACK_RUN_OPTION                                                                                            \
    {                                                                                                                  \
        "run", AS_OPTION_INT, "", NULL,                                                                                \
            "which run, by its id in the table run; default: the first one, of the largest point"                      \
    }

/* Samples repeat their call paths: trees of endless recursion would fill any disk. So many frames are written at
 * most. */
#define AS_STACK_MOST_WRITTEN ((uint64_t)1000000000)
assay_status as_stack_fail_large(assay_error *error);

/* The metrics of -O metric=A,B, in that order, else the main one: as assay_id in out. ASSAY_E_USAGE where a name is
 * none; ASSAY_E_UNSUPPORTED where there are no values of a call tree. */
assay_status as_stack_target_metrics(const as_writer *writer, as_vec *out);
/* The run of -O run=N, else the main one. */
assay_status as_stack_target_run(const as_writer *writer, assay_id *out);
/* What is beyond one run: others, and parameters. */
void as_stack_target_run_losses(const as_dataset *ds, as_losses *losses);
/* The same, and what is beyond the first metrics, of which so many are written: further ones, sections, what stands
 * aside, frames. */
void as_stack_target_losses(const as_dataset *ds, size_t n_written, as_losses *losses);
/* Of a call tree written as stacks: contexts that are one with others (frames, callers: those of as_stacks), frames
 * that neither have anything nor what is below them (has, by context; NULL: not known), and those that names cannot
 * tell apart. */
void as_lose_frames(const as_dataset *ds, const assay_id *frames, const assay_id *callers, bool *has,
                    as_losses *losses);
/* The name of a frame, "" where it has none. */
const char *as_stack_frame_name(const as_dataset *ds, assay_id context, size_t *size);

#endif
