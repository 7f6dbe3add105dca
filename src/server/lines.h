/* Time lines as the viewer keeps them: those that `assay trace` would show, with what takes a while to find. For the
 * endpoints of the time line. */
#ifndef AS_SERVER_LINES_H
#define AS_SERVER_LINES_H

#include "cli/trace_view.h"
#include "server/request.h"

enum { AS_MOST_LINES_AT_ONCE = 200 }; /* in one answer */

typedef struct as_lines {
    as_trace_view view;    /* its lines, their labels, the clock and the whole window; has no cli */
    uint32_t telling;      /* the depth that tells most */
    uint64_t **block_ends; /* for each row of intervals, when first asked for: the latest end of each block of them */
    char *key;             /* they are kept under */
} as_lines;

/* Of the input d, chosen by the parameters run, location and wallclock. They belong to the viewing. */
assay_status as_lines_of(as_viewing *viewing, const as_request *request, as_lines **out, assay_error *error);
/* What contexts show at the parameter depth, by default at the telling one. */
assay_status as_lines_frames(as_viewing *viewing, const as_request *request, as_lines *lines, const as_frames **out,
                             assay_error *error);
/* The same at a depth. */
assay_status as_lines_frames_at(as_viewing *viewing, as_lines *lines, uint32_t depth, const as_frames **out,
                                assay_error *error);

/* From the parameters from and to, in seconds: at most the whole. */
assay_status as_lines_window(const as_lines *lines, const as_request *request, as_trace_window *out,
                             assay_error *error);
/* The row that the parameter numbers. */
assay_status as_lines_row(const as_lines *lines, const as_request *request, size_t *out, assay_error *error);

/* Some of the lines as a view of their own, with room for cells. */
assay_status as_lines_part(const as_lines *lines, const as_trace_window *window, const size_t *rows, size_t n,
                           size_t n_columns, as_trace_view *part, assay_error *error);
void as_lines_part_free(as_trace_view *part);
/* Draws them into the cells. */
assay_status as_lines_draw(as_trace_view *part, const as_frames *frames, assay_error *error);

/* Fills the cells with what is there in the middle of each column. */
assay_status as_lines_look(as_trace_view *part, assay_error *error);

/* Numbers i * n_lines / n of n rows, evenly: for a look at all of them where they are many. */
static inline size_t as_lines_every(const as_lines *lines, size_t i, size_t n) {
    return (size_t)((as_whole)i * (as_whole)lines->view.n_lines / (as_whole)n);
}

/* Where the time of a sample begins that follows another: in the middle between them, or with itself where it is the
 * other's until then. */
static inline uint64_t as_lines_border(uint64_t before, uint64_t after, as_trace_rule rule) {
    return rule == AS_TRACE_BEFORE ? after : before + (after - before) / 2;
}

/* Calls visit for each interval of a row that has some of the window, by start, an outer one before those in it; level:
 * how many are around it. False: visit gave that, or memory is out. */
bool as_lines_each_interval(as_lines *lines, size_t row, const as_trace_window *window,
                            bool (*visit)(void *user, const as_interval *interval, size_t level), void *user);

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* "name", "context", "kind" of a procedure's context, for colours and tooltips. NULL: it has no kind. */
const char *as_lines_kind(const as_lines *lines, assay_id context);

/* What a report has of the time lines (report_timeline.c). */
void as_report_timeline(as_viewing *viewing, struct as_html_report *report);

#endif
