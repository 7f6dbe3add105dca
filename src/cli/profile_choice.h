/* Which part of a dataset is meant: metrics, runs and locations by the names people use. For the verbs over call trees
 * (tree, top, stat, diff …); model and its like share the words about metrics. */
#ifndef AS_CLI_PROFILE_CHOICE_H
#define AS_CLI_PROFILE_CHOICE_H

#include "cli/cli.h"
#include "dataset/main_metric.h"

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

#define AS_METRIC_OPTION                                                                                               \
    { .name = "metric", .argument = "NAME", .help = "Take only this metric; may be given several times" }

/* Marks those of --metric in wanted (one for each metric); all where none is given. An unknown name: prints which there
 * are, status 2. */
as_exit as_mark_metrics(as_cli *cli, const as_dataset *ds, bool *wanted);
/* The metrics of --metric, or of another option of the same form, in the order given and each once, behind those in
 * metrics (a vector of assay_id). A name is the metric's own, else the one it is displayed by. Where none is given
 * nothing is added. */
as_exit as_choose_metrics_by(as_cli *cli, const as_dataset *ds, const char *option, as_vec *metrics);
static inline as_exit as_choose_metrics(as_cli *cli, const as_dataset *ds, as_vec *metrics) {
    return as_choose_metrics_by(cli, ds, "metric", metrics);
}

/* Those of --derive, which are the last ones of what was read, behind those in metrics. False when memory is out. */
bool as_append_derived(const as_cli *cli, const as_dataset *ds, as_vec *metrics);

/* ---- runs -------------------------------------------------------------------------------------------------------- */

#define AS_RUN_OPTION                                                                                                  \
    {                                                                                                                  \
        .name = "run", .argument = "RUN",                                                                              \
        .help = "Take this run (its number), or the mean of those at a point such as p=64,n=10; by default the "       \
                "largest point"                                                                                        \
    }

/* The runs whose mean is taken. */
typedef struct as_run_choice {
    assay_id point;  /* of all of them; ASSAY_NONE: none */
    assay_id *runs;  /* ascending */
    size_t n_runs;   /* 0: the source has only statistics of the point */
    char label[256]; /* "p=64, n=10, mean of 5 runs"; "" where there was nothing to choose */
} as_run_choice;

/* Whether some runs are at no point: their values are of the whole, and points have only statistics. Then they are what
 * is meant where nobody says otherwise. */
bool as_has_whole_runs(const as_dataset *ds);
/* What --run says, or another option of the same form. as_run_choice_free() in every case. */
as_exit as_choose_runs_by(as_cli *cli, const as_dataset *ds, const char *option, as_run_choice *out);
static inline as_exit as_choose_runs(as_cli *cli, const as_dataset *ds, as_run_choice *out) {
    return as_choose_runs_by(cli, ds, "run", out);
}
/* Of each run of ds whether it is chosen. To be freed; NULL when memory is out. */
bool *as_run_choice_marks(const as_run_choice *choice, const as_dataset *ds);
void as_run_choice_free(as_run_choice *choice);

/* "p=64, n=10" of coordinates, as much as there is room for. */
void as_describe_point(const as_dataset *ds, const double *coordinates, char *out, size_t room);

/* ---- locations --------------------------------------------------------------------------------------------------- */

#define AS_LOCATION_OPTION                                                                                             \
    {                                                                                                                  \
        .name = "location", .argument = "PLACE",                                                                       \
        .help =                                                                                                        \
            "Take only these places: a process by its rank (3), one of its threads (3.0), anything by its name, "      \
            "or what lies in places of some kinds (rank=0-3|8,thread=0 or node=nid00* or gpustream); may be given "    \
            "several times"                                                                                            \
    }

/* The locations that are summed up. */
typedef struct as_location_choice {
    bool *wanted;    /* for each location; NULL: all */
    size_t n_leaves; /* that are wanted */
    char label[256]; /* "process 3", "thread 3.0", "rank=0-3"; "" for all */
} as_location_choice;

/* What --location says: whatever lies below a place that is meant is wanted, too. as_location_choice_free() in every
 * case. */
as_exit as_choose_locations(as_cli *cli, const as_dataset *ds, as_location_choice *out);
void as_location_choice_free(as_location_choice *choice);
/* The number a place is called by: that in its name (3 of "thread 3", 0 of "device 0 (A100)"), else its rank. -1:
 * none. */
int64_t as_location_number(const as_dataset *ds, const as_location *location);

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* "5", "0.5%" of --min-share as a part of 1; unset: *out stays. */
as_exit as_choose_min_share(as_cli *cli, double *out);

/* ---- names of call paths ----------------------------------------------------------------------------------------- */

/* "there is no SUBJECT 'NAME'; did you mean …": status 2. The names offered are those of the regions. */
as_exit as_fail_context_name(as_cli *cli, const as_dataset *ds, const char *subject, const char *name);

#endif
