/* The time line in a report: the whole run, of as many rows as there is room for; and all that happened where that is
 * little, else pictures of its parts, as finely as there is room for. */
#include <math.h>
#include <stdio.h>

#include "server/lines.h"
#include "server/report.h"

enum {
    FEW = 50000,            /* samples or intervals: all of them are told */
    FINEST = 64,            /* times as fine as the whole run is shown */
    COLUMNS_OF_PART = 2000, /* two of them would fit the whole run's 1000 */
    LEAST = 4               /* where there is no room for so much, the whole run is all */
};
#define PART_OF_ROOM 0.3

/* Rows that one answer has, and what is asked of them. */
typedef struct block {
    char input[AS_NUMBER_SIZE], rows[2 * AS_NUMBER_SIZE + 2];
    as_parameter parameters[8];
    size_t n;
} block;

/* The first rows are what an answer has of itself. */
static void ask(block *b, size_t input, size_t number) {
    size_t first = number * AS_MOST_LINES_AT_ONCE;
    as_uint_format(input, b->input);
    b->parameters[0] = (as_parameter){"d", b->input};
    b->n = 1;
    if (first == 0) return;
    snprintf(b->rows, sizeof b->rows, "%zu-%zu", first, first + AS_MOST_LINES_AT_ONCE - 1);
    b->parameters[b->n++] = (as_parameter){"rows", b->rows};
}

static bool keep(as_html_report *report, const block *b, double room) {
    double left = (double)as_html_report_left(report);
    double part = left > 0 ? fmax(0, fmin(1, room / left)) : 0;
    return as_html_report_keep_part(report, "timeline_picture", b->parameters, b->n, part) == AS_REPORT_KEPT;
}

/* The whole run, of one block after the other; how many were kept, and what they take together. */
static size_t keep_whole(as_html_report *report, size_t input, double n_rows, double *size) {
    double room = PART_OF_ROOM * (double)as_html_report_left(report);
    size_t n = 0;
    for (*size = 0; n == 0 || (double)n * AS_MOST_LINES_AT_ONCE < n_rows; n++) {
        block b;
        ask(&b, input, n);
        b.parameters[b.n++] = (as_parameter){"columns", "1000"};
        if (n > 0)
            b.parameters[b.n++] = (as_parameter){"bins", "1"}; /* they are those of all rows: the first has them */
        if (!keep(report, &b, room - *size)) break;
        *size += (double)as_html_report_last_size(report);
    }
    return n;
}

static bool keep_exact(as_html_report *report, size_t input, size_t n_blocks) {
    double room = PART_OF_ROOM * (double)as_html_report_left(report);
    for (size_t i = 0; i < n_blocks; i++) {
        block b;
        ask(&b, input, i);
        b.parameters[b.n++] = (as_parameter){"exact", "1"};
        if (!keep(report, &b, room)) return false;
        room -= (double)as_html_report_last_size(report);
    }
    return true;
}

/* The window's parts, each a picture of its own of each block; whether all were kept. */
static bool keep_parts(as_html_report *report, size_t input, size_t n_blocks, double from, double to, size_t n) {
    char begin[AS_NUMBER_SIZE], end[AS_NUMBER_SIZE];
    bool all = true;
    for (size_t i = 0; i < n * n_blocks; i++) {
        size_t at = i / n_blocks;
        block b;
        ask(&b, input, i % n_blocks);
        as_real_format(from + (to - from) * ((double)at / (double)n), begin);
        as_real_format(from + (to - from) * ((double)(at + 1) / (double)n), end);
        const as_parameter window[] = {{"columns", "2000"}, {"bins", "1"}, {"from", begin}, {"to", end}};
        for (size_t k = 0; k < sizeof window / sizeof *window; k++) b.parameters[b.n++] = window[k];
        all = keep(report, &b, PART_OF_ROOM * (double)as_html_report_left(report)) && all;
    }
    return all;
}

/* The finest that fits: `size` is what a thousand columns take. */
static void keep_detail(as_html_report *report, const as_view_input *input, size_t number, size_t n_blocks, double from,
                        double to, double size) {
    char length[AS_NUMBER_SIZE];
    double room = PART_OF_ROOM * (double)as_html_report_left(report);
    unsigned times = FINEST;
    while (times >= LEAST && size * times > room) times /= 2;
    size_t n = times >= LEAST ? times * 1000 / COLUMNS_OF_PART : 0;
    if (n == 0 || !keep_parts(report, number, n_blocks, from, to, n)) times = 1;
    as_real_format_digits((to - from) / 1000 / times, true, 1, length, sizeof length);
    as_html_report_note(report, "what takes less than %s s in the time line of %s", length, as_view_input_name(input));
}

void as_report_timeline(as_viewing *viewing, as_html_report *report) {
    size_t number;
    block b;
    const as_view_input *input = as_html_report_input(report, &number);
    (void)viewing;
    if (!input || as_ds_events(input->ds) == 0) return;
    ask(&b, number, 0);
    as_html_report_kept kept = as_html_report_keep(report, "timeline", b.parameters, b.n);
    if (kept == AS_REPORT_REFUSED) return;
    double count = as_html_report_last_number(report, "count"), from = as_html_report_last_number(report, "from"),
           to = as_html_report_last_number(report, "to"), n_rows = as_html_report_last_number(report, "n_rows"), size;
    size_t n_blocks = kept == AS_REPORT_KEPT ? keep_whole(report, number, n_rows, &size) : 0;
    double n_left = n_rows - (double)n_blocks * AS_MOST_LINES_AT_ONCE;
    if (n_blocks == 0) return as_html_report_note(report, "the time line of %s", as_view_input_name(input));
    if (n_left > 0)
        as_html_report_note(report, "the last %.0f of the %.0f rows of the time line of %s", n_left, n_rows,
                            as_view_input_name(input));
    if (count <= FEW && keep_exact(report, number, n_blocks)) return;
    if (to > from) keep_detail(report, input, number, n_blocks, from, to, size);
}
