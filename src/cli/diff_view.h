/* What diff shows: two profiles side by side, in all shapes of the answer. */
#ifndef AS_CLI_DIFF_VIEW_H
#define AS_CLI_DIFF_VIEW_H

#include "analysis/algebra/compare.h"
#include "cli/algebra.h"

typedef struct as_diff_view {
    as_cli *cli;
    const char *names[2];  /* of the files, as they were given */
    as_run_choice runs[2]; /* the same point */
    as_location_choice locations[2];
    as_comparison comparison;
    as_vec metrics;            /* assay_id of the united dataset, one for each column */
    as_change_request request; /* min_change as the command line says it, a part */
    bool is_cut;               /* nobody asked for that: a hint says how to see all */
    as_vec only[2]; /* assay_id of the united dataset: regions that one side lacks, by their first call path */
} as_diff_view;

#define AS_SIDE_RUN_OPTIONS                                                                                            \
    {.name = "run-a",                                                                                                  \
     .argument = "RUN",                                                                                                \
     .help = "The run or point of the first file, where it is another one: as --run"},                                 \
    {                                                                                                                  \
        .name = "run-b", .argument = "RUN", .help = "That of the second file"                                          \
    }

#define AS_SIDE_METRIC_OPTIONS                                                                                         \
    {.name = "metric-a",                                                                                               \
     .argument = "NAME",                                                                                               \
     .help =                                                                                                           \
         "The metric of the first file, where the second has another name for it: set against that of --metric-b. "    \
         "The unit must be the same; times and counts may have several words for it"},                                 \
    {                                                                                                                  \
        .name = "metric-b", .argument = "NAME",                                                                        \
        .help = "That of the second file. A file that neither names has that of --metric, else its main one"           \
    }

/* Whether metrics are named by these. */
bool as_has_metric_pair(const as_cli *cli);
/* The metric of a side then; what --metric says only where it is there once. */
as_exit as_choose_side_metric(as_cli *cli, const as_dataset *ds, size_t side, assay_id *out);
/* Two metrics of which neither side has the other's: that of the same name, stored in another way, or else the main
 * one, beside the main one of the base. False: their units differ, or there is none. */
bool as_comparison_pair_mains(as_comparison *comparison, assay_id *out);

/* The option that says the run of a side: --run-a or --run-b where it is given, else --run. */
const char *as_side_run_option(const as_cli *cli, size_t side);
/* Whether runs are named by any of these. */
bool as_has_named_runs(const as_cli *cli);
/* The runs of the two sides that are compared: those of these options (a side with one run needs none), else of the
 * largest point that both have. as_run_choice_free() of both in every case. */
as_exit as_choose_common_runs(as_cli *cli, const as_dataset *const *sides, as_run_choice out[2]);
/* What the command line says of the two sides, which stay the caller's, as does the array: no values yet.
 * as_diff_view_close() in every case. */
as_exit as_diff_view_choose(as_cli *cli, const as_dataset *const *sides, const char *const names[2], as_diff_view *out);
/* Where the values of a side come from. */
as_view_source as_diff_view_source(const as_diff_view *view, size_t side);
/* Finds the values of some of the metrics. */
as_exit as_diff_view_load(as_diff_view *view, const assay_id *metrics, size_t n);
/* What the target calls a metric of the comparison; NULL: the same as the base, or it has none. */
const char *as_diff_target_metric(const as_diff_view *view, assay_id metric);
/* Opens all that is needed; the files stay the caller's. as_diff_view_close() in every case. */
as_exit as_diff_view_open(as_cli *cli, const as_inputs *inputs, as_diff_view *out);
void as_diff_view_close(as_diff_view *view);

/* Which call paths or functions changed, column by column. request: with `by` and min_change for that column. */
as_exit as_diff_walk(as_diff_view *view, const as_change_request *request,
                     bool (*visit)(void *user, const as_change_node *node), void *user, as_change_cut *cut);
/* The request for a column: min_change in its unit. */
as_change_request as_diff_request(const as_diff_view *view, size_t column);

/* The shapes. */
as_exit as_diff_print(as_diff_view *view);
as_exit as_diff_json(as_diff_view *view);
as_exit as_diff_table(as_diff_view *view);

#endif
