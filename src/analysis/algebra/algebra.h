/* The algebra of profiles: differences, merged and mean profiles, and parts of call trees. Each gives a new dataset
 * that stands on its own: the tables of its inputs united (dataset/unify.h), all values in memory. docs/algebra.md has
 * the rules for people.
 *
 * Runs: those of inputs with parameters belong together by their point. Inputs without parameters are one point.
 * What could not be kept or held is a problem of the result: "metric-left-out", "point-left-out" (notes),
 * "beyond-limit" (a warning). */
#ifndef AS_ANALYSIS_ALGEBRA_H
#define AS_ANALYSIS_ALGEBRA_H

#include "dataset/unify.h"

/* target - base. Integers give INT64, exact; beyond it the nearest limit. What one side lacks is 0; a metric that one
 * side lacks is left out unless all_metrics, derived ones are always. Where a point has several runs and not the same
 * number on both sides, the means of its runs are compared. */
assay_status as_diff(const as_dataset *base, const as_dataset *target, as_matching matching, bool all_metrics,
                     as_dataset **out, assay_error *error);

/* Each column (metric, location) of each point whole from the last part that has both. */
assay_status as_merge_profiles(const as_dataset *const *parts, size_t n, as_matching matching, as_dataset **out,
                               assay_error *error);

/* The mean over all runs of a point, of whatever part, that have the metric: one run a point. Plain numbers become
 * DOUBLE. */
assay_status as_mean(const as_dataset *const *parts, size_t n, as_matching matching, as_dataset **out,
                     assay_error *error);

typedef struct as_cut_names {
    const char *const *roots, *const *prunes;
    size_t n_roots, n_prunes;
} as_cut_names;

/* Subtrees of regions as trees of their own, and subtrees folded into what calls them. ASSAY_E_USAGE where a name is
 * not in the call tree, is both, or none is given. */
assay_status as_cut(const as_dataset *part, const as_cut_names *names, as_dataset **out, assay_error *error);

/* The call tree by what its contexts are (as_region.kind), merged over processes and threads:
 *
 * kernel  what ran on GPUs, kernels, copies, memsets and graphs, below those who caused it: bottom-up it is the list of
 *         these, each with its callers. What overlaps an activity counts as its own.
 * api     first the calls of the API, below each what it caused. GPU activities of no call are below what they stand
 *         below in the part.
 * nvtx    first the NVTX ranges as they nest, below each the API calls in it and what these caused. Calls in no range
 *         are below "(no NVTX range)".
 *
 * Each value of what is shown counts once; whatever is none of these is left out. Values must be exclusive ones. The
 * result has the name of the part. ASSAY_E_UNSUPPORTED where nothing is of such a kind. */
typedef enum as_regrouping { AS_REGROUP_KERNEL, AS_REGROUP_API, AS_REGROUP_NVTX } as_regrouping;
/* Whether a region is something that runs on a GPU, by its kind. */
bool as_region_is_gpu(const as_dataset *ds, assay_id region);
/* Of the words "kernel", "api", "nvtx"; false: another one. */
bool as_regrouping_of(const char *word, as_regrouping *out);
/* Whether it has regions of the kind that this is about. */
bool as_can_regroup(const as_dataset *ds, as_regrouping by);
assay_status as_regroup(const as_dataset *part, as_regrouping by, as_dataset **out, assay_error *error);

#endif
