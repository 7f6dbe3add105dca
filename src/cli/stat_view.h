/* The answer of `assay stat` in its shapes, inside cli/. */
#ifndef AS_CLI_STAT_VIEW_H
#define AS_CLI_STAT_VIEW_H

#include "analysis/location_statistics.h"
#include "analysis/nodes.h"
#include "cli/cli.h"
#include "cli/profile_choice.h"
#include "render/json_builder.h"

/* What one metric has: rows, of which some are shown. */
typedef struct as_stat_metric {
    assay_id metric;
    as_value_kinds kinds; /* that were asked for and that it has */
    as_vec items;         /* as_context_spread, contexts ascending */
    uint32_t *rows;       /* indices into items, in the order in which they are shown */
    size_t n_rows;        /* that match */
    as_number *values[2]; /* of --context: those of every place, inclusive and exclusive; NULL where there are none */
    assay_error error;    /* of the work on this metric, which may run beside others */
    assay_status status;
} as_stat_metric;

typedef struct as_stat_view {
    const as_dataset *ds;
    as_run_choice choice;
    char where[256]; /* "p=64, n=10, run 3"; "" where there was nothing to choose */
    as_places places;
    as_location_choice locations; /* what --location says */
    size_t n_processes;           /* that the locations belong to */
    bool has_ranks;               /* some of these are processes, and not only something that threads lie in */
    bool one_thread;              /* every process has one thread only, so that its rank names it */
    assay_id context;             /* of --context; ASSAY_NONE: all */
    as_stat_metric *metrics;
    size_t n_metrics;
    size_t limit; /* rows to show; SIZE_MAX: all */
    bool is_ascii;
} as_stat_view;

static inline const as_context_spread *as_stat_row(const as_stat_metric *m, size_t row) {
    return &AS_AT(as_context_spread, &m->items, m->rows[row]);
}

/* stat_choice.c: what is asked for. Tables for people show less: one metric and one kind of values. */
bool as_stat_is_for_people(const as_cli *cli);
/* The runs, locations and places of view->ds, as --run, --location and --by say: the locations of a run, where it has
 * any, else the runs of a point. */
as_exit as_stat_choose_places(as_cli *cli, as_stat_view *view);
/* Those of --metric behind those in chosen (assay_id); else the main one for people, and all for programs. The places
 * must be known. */
as_exit as_stat_choose_metrics(as_cli *cli, as_stat_view *view, as_vec *chosen);
/* People see one kind, programs both unless one is asked for. */
as_value_kinds as_stat_kinds(const as_cli *cli, const as_dataset *ds, assay_id metric);
/* verb_stat.c: all of it, rows in the order in which they are shown. as_stat_view_free() in every case. */
as_exit as_stat_find(as_cli *cli, const as_dataset *ds, as_stat_view *view);
void as_stat_free_metrics(as_stat_view *view);
void as_stat_view_free(as_stat_view *view);

enum { AS_PLACE_SIZE = 80 };
/* "3", the rank of a process; "3.1" of its thread; a name where there are no ranks; the number of a run. */
void as_stat_place(const as_stat_view *view, uint32_t place, char out[AS_PLACE_SIZE]);

/* Why there is nothing to see of a metric: "all values are 0". */
const char *as_stat_nothing(const as_stat_view *view, const as_stat_metric *m);

/* stat_text.c: tables for people, or --context; false when memory is out. */
bool as_stat_text(as_cli *cli, const as_stat_view *view);
/* stat_detail.c: what there is to say about one call path. */
bool as_stat_detail(as_cli *cli, const as_stat_view *view, const as_stat_metric *m);
/* stat_machine.c: the JSON object of a file, */
bool as_stat_json(as_builder *builder, const as_stat_view *view);
/* and rows for CSV, JSON Lines and Markdown. file: what the first column has, or NULL: there is none. */
const as_column *as_stat_columns(const as_cli *cli, size_t *n);
bool as_stat_rows(as_printer *printer, as_table *batch, const as_stat_view *view, const char *file);

#endif
