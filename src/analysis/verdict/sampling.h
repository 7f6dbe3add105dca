/* How samples come about: gather.c collects one metric's numbers of all datasets, samples.c sorts them into
 * subjects. */
#ifndef AS_ANALYSIS_VERDICT_SAMPLING_H
#define AS_ANALYSIS_VERDICT_SAMPLING_H

#include "analysis/verdict/paths.h"
#include "analysis/verdict/verdict.h"

/* Where numbers come from that belong together: a run, or the rows of one dataset at one point. */
typedef struct as_sample_unit {
    uint32_t side, dataset; /* dataset: of the side */
    uint32_t stratum;
    bool is_profile; /* what it lacks is 0 */
    bool is_rows;    /* each number is a repetition of its own; else those of one path are added up */
} as_sample_unit;

typedef struct as_sample {
    uint32_t node, unit;
    double value;
} as_sample;

typedef struct as_sampling {
    const as_dataset *const *sides[2];
    size_t n[2];
    const as_sample_request *request;
    as_samples *out;
    assay_error *error;
    as_paths paths;
    uint32_t **nodes[2];   /* of each dataset: the node of each context */
    uint32_t **indices[2]; /* of each dataset: its parameter for each of the base's; NULL: none */
    as_arena arena;
    as_strings points;      /* coordinates as bytes; the id is the stratum */
    as_vec units, samples;  /* of the metric at hand: as_sample_unit, as_sample */
    as_vec side_has_points; /* uint8_t for each stratum: bits 1 << side */
    double factor;          /* to the unit of the metric at hand */
    bool has_profiles;      /* among the units */
    bool is_exclusive;      /* of the metric at hand: no value is inside of another */
    size_t n_experiments,
        n_nested[2]; /* of the metric at hand: those whose values do not look inclusive, and those whose do */
} as_sampling;

/* The metric of this name (its own, else the one it is displayed by) that has values of its own; ASSAY_NONE: none. */
assay_id as_sampled_metric_find(const as_dataset *ds, const char *name);
/* Whether it is sampled where nobody names it: plain numbers that add up and are measured. */
bool as_metric_is_sampled(const as_dataset *ds, assay_id metric);

/* All numbers of one dataset's metric into units and samples. */
assay_status as_gather_samples(as_sampling *s, uint32_t side, uint32_t dataset, assay_id metric);
/* The resources of a Perun profile that are repetitions. nodes: those of contexts, of which the ones are taken out that
 * have been sampled. False when memory is out. */
bool as_gather_resources(as_sampling *s, uint32_t side, uint32_t dataset, assay_id metric, uint32_t *nodes);
/* False when memory is out. NaN is left out. */
bool as_sampling_add(as_sampling *s, uint32_t node, uint32_t unit, double value);
uint32_t as_sampling_unit(as_sampling *s, as_sample_unit unit);
/* The stratum of these coordinates, in the order of the base's parameters; n 0: of what has no point. AS_NO_STR when
 * memory is out. */
uint32_t as_sampling_stratum(as_sampling *s, uint32_t side, const double *coordinates, size_t n);

#endif
