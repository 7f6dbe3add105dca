/* `assay compare --series`, inside cli/: runs in order, and one number for each of them and each (call path,
 * metric). */
#ifndef AS_CLI_SERIES_VIEW_H
#define AS_CLI_SERIES_VIEW_H

#include "cli/compare_view.h"

/* One run, before and after it is read. NULL, NAN: unknown. */
typedef struct as_series_run {
    const char *path;   /* what is opened */
    const char *name;   /* the file's, as people see it */
    const char *commit; /* whole */
    const char
        *group;  /* runs of different groups are different series: "bubblesort -n 10 (trace)"; "": nothing says so */
    double time; /* seconds since 1970 */
    double commit_time; /* of a store's, where the repository says it */
    bool is_pending;    /* of a store: of no commit yet */
    size_t given;       /* its place on the command line */
    size_t place;       /* its place in the order of --order, or of the commits; SIZE_MAX: it is not there */
} as_series_run;

/* One (call path, metric) of a group over its runs. */
typedef struct as_series_subject {
    const char *path;          /* NULL: the total of the metric */
    const char *metric, *unit; /* unit NULL: none */
    bool higher_is_better;
    as_track track;     /* values: one a run of the group */
    as_outcome outcome; /* of the last level against the first: WORSE, BETTER, SAME; MAYBE where no test was possible */
    size_t bad;         /* change point that it became worse (or better) at, to stay so; SIZE_MAX: none */
} as_series_subject;

typedef struct as_series_group {
    const char *name;
    const as_series_run **runs; /* in order */
    size_t n_runs;
    as_series_subject *subjects; /* worst first: by the run where it became worse, then by how much; then the others */
    size_t n_subjects;
    size_t counts[AS_N_OUTCOMES];
} as_series_group;

typedef struct as_series_view {
    as_cli *cli;
    const as_compare_config *config; /* its level: of all groups together */
    as_rules *rules;
    const char *order;   /* what runs are ordered by: "time", "commit", "name", "given", "file" */
    const char *root;    /* the directory that the store is in, where that was given; else NULL */
    as_vec runs;         /* as_series_run */
    as_vec cells;        /* struct as_series_cell: numbers as they come, private */
    as_strings subjects; /* "metric\0path" of each, private; path with a byte before it that says whether it is one */
    as_strings strata;   /* private */
    as_vec units;        /* const char *, of each subject, private */
    as_series_group *groups; /* in order of their first run */
    size_t n_groups;
    size_t n_skipped; /* files that are no measurements, in directories */
    as_arena arena;
} as_series_view;

/* as_series_view_close() in every case, of a view that is zero, too. */
as_exit as_series_view_open(as_cli *cli, const as_compare_config *config, as_series_view *view);
void as_series_view_close(as_series_view *view);
/* The numbers of datasets that are open already, in order of time, else of names; no change points. */
as_exit as_series_of_open(as_series_view *view, as_dataset *const *parts, size_t n);

/* ---- runs (series_runs.c) ---------------------------------------------------------------------------------------- */

/* Finds what the operands name, opens each and calls take() with it, then orders them. Prints what is wrong. */
typedef as_exit as_series_take(as_series_view *view, const as_dataset *ds, size_t run);
as_exit as_series_find_runs(as_series_view *view, as_series_take *take);
/* The same with datasets that are open. */
as_exit as_series_add_open(as_series_view *view, as_dataset *const *parts, size_t n, as_series_take *take);
/* <0 where a comes before b. */
int as_series_compare_runs(const as_series_view *view, const as_series_run *const *a, const as_series_run *const *b);
/* Seconds since 1970 of "2024-01-16 12:34:56", with T, fractions, Z or +01:00, or of a number; NAN: it is neither. */
double as_series_time(const char *text);

/* ---- printing (series_print.c) ----------------------------------------------------------------------------------- */

as_exit as_series_print(as_series_view *view);
/* "solve +23 % at run 14 of 30": the first that became worse; NULL: none did. */
const as_series_subject *as_series_first_bad(const as_series_view *view, const as_series_group **group);
/* The outcome of all. */
as_outcome as_series_outcome(const as_series_view *view);

static inline const as_change_point *as_series_point(const as_series_subject *subject, size_t i) {
    return &AS_AT(as_change_point, &subject->track.points, i);
}

#endif
