/* The answer of `assay trace` in its shapes, inside cli/. */
#ifndef AS_CLI_TRACE_VIEW_H
#define AS_CLI_TRACE_VIEW_H

#include "analysis/trace/timeline.h"
#include "cli/cli.h"
#include "cli/profile_choice.h"
#include "render/json_builder.h"
#include "render/quantity.h"
#include "render/text_buffer.h"

/* What is shown. */
typedef enum as_trace_shape {
    AS_TRACE_LINES,
    AS_TRACE_SUMMARY,
    AS_TRACE_BY_LOCATION,
    AS_TRACE_SAMPLES,
    AS_TRACE_INTERVALS
} as_trace_shape;

typedef struct as_trace_view {
    as_cli *cli;
    const as_dataset *ds;
    const char *path; /* as it was given */
    as_trace_shape shape;
    bool is_ascii;
    bool is_svg;
    /* The lines that were chosen, in the order of their places, and what these are called. Of a source of intervals
     * they are the rows of the timeline. */
    bool has_intervals;
    as_timeline timeline;
    size_t n_runs; /* that are shown */
    assay_id run;  /* the first of them */
    const as_trace_line **lines;
    const char **labels;
    const char **below; /* NULL, or what lines are called that stand below that of their run: "  solve" */
    bool *are_stamped;  /* those of GPUs */
    size_t n_lines;
    as_arena texts;
    as_trace_window window;
    as_trace_clock clock;
    double from, to;    /* of the window, in seconds */
    uint64_t n_samples; /* of the lines, inside the window or not */
    bool is_exact;      /* every sample was read; else times are those of the picture */
    bool all_contexts;
    as_frames frames;
    /* The picture, in contexts */
    size_t n_columns;
    assay_id *cells;
    /* Times at the depth; what of them is shown, in which order, and by which letter */
    size_t n_bins;
    as_trace_times times;
    size_t *order;          /* indices into times.all.procedures */
    size_t n_letters;       /* those of the largest shares have one */
    char *letters;          /* for each procedure of frames */
    unsigned char *colours; /* for each procedure of frames: 0 none, else 1 + its place in the palette */
    size_t n_rows;          /* of the picture for people */
    size_t label_width;     /* left of it */
    size_t limit;           /* of procedures or samples for people */
} as_trace_view;

enum { AS_LETTER_IDLE = '.', AS_LETTER_UNKNOWN = '?', AS_LETTER_PAUSED = '=', AS_LETTER_OTHER = '*' };

static inline double as_trace_duration(const as_trace_view *view, double ticks) {
    return ticks / view->clock.ticks_per_second;
}
static inline double as_trace_time(const as_trace_view *view, uint64_t stamp) {
    return as_clock_seconds(&view->clock, stamp);
}
/* What a line is called where all of them stand one below the other. */
static inline const char *as_trace_listed(const as_trace_view *view, size_t line) {
    return view->below && view->below[line] ? view->below[line] : view->labels[line];
}
/* Whether a line has anything in the window. */
static inline bool as_trace_is_there(const as_trace_view *view, const as_line_times *line) {
    return view->has_intervals ? line->n_procedures > 0 : line->n_samples > 0;
}
/* What is counted of a procedure: "samples", "intervals". */
static inline const char *as_trace_counted(const as_trace_view *view) {
    return view->has_intervals ? "intervals" : "samples";
}
static inline const char *as_trace_name(const as_trace_view *view, uint32_t procedure) {
    return view->frames.procedures[procedure].name;
}

/* trace_choice.c: what the options say of a dataset; everything the shape needs is computed. as_trace_view_free() in
 * every case. */
as_exit as_trace_choose(as_cli *cli, const as_dataset *ds, const char *path, as_trace_view *view);
/* Only what that begins with: the lines, what they are called, the clock and the window. */
as_exit as_trace_choose_lines(as_cli *cli, const as_dataset *ds, const char *path, as_trace_view *view);
/* The depth that tells most of the view's cells. */
assay_status as_trace_find_depth(const as_trace_view *view, uint32_t *depth, assay_error *error);
void as_trace_view_free(as_trace_view *view);

/* trace_places.c: places in the order of what they are part of, the way people count. */
int as_trace_compare_places(const as_dataset *ds, assay_id a, assay_id b);
/* Calls n different places by no more than tells them apart: their own names and those of their processes, where there
 * are several. False when memory is out. */
bool as_trace_name_places(as_trace_view *view, const assay_id *places, size_t n, const char **labels);

/* trace_rows.c: the timeline of a source of intervals, its rows as lines, and what these are called. */
as_exit as_trace_choose_rows(as_cli *cli, as_trace_view *view);

/* trace_letters.c: gives procedures letters and colours, the largest first. False when memory is out. */
bool as_trace_give_letters(as_trace_view *view);

/* trace_picture.c: rows are locations; or bins of time, procedures stacked by their share. False when memory is out. */
bool as_trace_draw_lines(as_trace_view *view);
bool as_trace_draw_summary(as_trace_view *view);
/* The cells of a row: of each column the procedure that most of its lines show, or AS_ROW_NOTHING. counts: zeros, one
 * for each procedure of frames; they stay that. */
#define AS_ROW_NOTHING UINT32_MAX
void as_trace_fill_row(const as_trace_view *view, size_t row, uint32_t *counts, uint32_t *cells);
/* Prints a procedure's letter as it stands in the pictures. */
void as_trace_print_letter(const as_trace_view *view, uint32_t procedure);

/* trace_text.c: the whole answer for people. */
bool as_trace_text(as_trace_view *view);
/* "9 locations, 2.41 s, 4,320 samples, depth 3 of 7". */
void as_trace_describe(const as_trace_view *view, as_output *out);
/* The part of all time that a procedure has. */
double as_trace_share(const as_trace_view *view, const as_procedure_time *p);
/* What people see of a procedure's name, uncut. */
void as_trace_put_name(const as_trace_view *view, uint32_t procedure, as_text *out);

/* trace_svg.c: the picture of AS_TRACE_LINES as an interactive SVG. */
bool as_trace_svg(as_trace_view *view);

/* trace_machine.c: the JSON object of a file; */
bool as_trace_json(as_builder *builder, const as_trace_view *view);
/* rows for CSV, JSON Lines and Markdown, of samples also for JSON and people. file: a first column, or NULL. On
 * failure, with its line, the status. */
as_table *as_trace_table(as_trace_shape shape, bool for_people, bool has_file);
as_exit as_trace_rows(as_printer *printer, as_table *batch, as_trace_view *view, const char *file);

/* Where rows go. */
typedef struct as_trace_sink {
    as_printer *printer;
    as_table *batch;
    const char *file; /* NULL: no such column */
} as_trace_sink;
/* cells[0] is the file's. False when memory is out. */
bool as_trace_add_row(as_trace_sink *sink, as_cell *cells);

/* trace_intervals.c: their columns, the file's first; and those of the window, row by row. */
extern const as_column as_interval_columns[], as_shown_interval_columns[];
enum { AS_INTERVAL_COLUMNS = 13, AS_SHOWN_INTERVAL_COLUMNS = 7 };
as_exit as_trace_add_intervals(as_trace_sink *sink, as_trace_view *view);

#endif
