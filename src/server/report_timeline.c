/* The time line in a report: the whole run; and all that happened where that is little, else pictures of its parts, as finely as there is room for. */
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

/* The window's parts, each a picture of its own; how many were kept. */
static size_t keep_parts(as_html_report *report, const char *input, double from, double to, size_t n) {
    char begin[AS_NUMBER_SIZE], end[AS_NUMBER_SIZE];
    as_parameter parameters[] = {{"d", input}, {"columns", "2000"}, {"bins", "1"}, {"from", begin}, {"to", end}};
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++) {
        as_real_format(from + (to - from) * ((double)i / (double)n), begin);
        as_real_format(from + (to - from) * ((double)(i + 1) / (double)n), end);
        n_kept += as_html_report_keep_part(report, "timeline_picture", parameters, 5, PART_OF_ROOM) == AS_REPORT_KEPT;
    }
    return n_kept;
}

/* The finest that fits: `size` is what a thousand columns take. */
static void keep_detail(as_html_report *report, const as_view_input *input, const char *number, double from, double to,
                        uint64_t size) {
    char length[AS_NUMBER_SIZE];
    double room = PART_OF_ROOM * (double)as_html_report_left(report);
    unsigned times = FINEST;
    while (times >= LEAST && (double)size * times > room) times /= 2;
    size_t n = times >= LEAST ? times * 1000 / COLUMNS_OF_PART : 0;
    if (n == 0 || keep_parts(report, number, from, to, n) < n) times = 1;
    as_real_format_digits((to - from) / 1000 / times, true, 1, length, sizeof length);
    as_html_report_note(report, "what takes less than %s s in the time line of %s", length, as_view_input_name(input));
}

void as_report_timeline(as_viewing *viewing, as_html_report *report) {
    char number[AS_NUMBER_SIZE];
    as_parameter parameters[] = {{"d", number}, {"columns", "1000"}}, exact[] = {{"d", number}, {"exact", "1"}};
    size_t i;
    const as_view_input *input = as_html_report_input(report, &i);
    (void)viewing;
    if (!input || as_ds_events(input->ds) == 0) return;
    as_uint_format(i, number);
    if (as_html_report_keep(report, "timeline", parameters, 1) == AS_REPORT_REFUSED) return;
    double count = as_html_report_last_number(report, "count"), from = as_html_report_last_number(report, "from"),
           to = as_html_report_last_number(report, "to"), n_rows = as_html_report_last_number(report, "n_rows");
    if (as_html_report_keep_part(report, "timeline_picture", parameters, 2, PART_OF_ROOM) != AS_REPORT_KEPT) {
        as_html_report_note(report, "the time line of %s", as_view_input_name(input));
        return;
    }
    uint64_t size = as_html_report_last_size(report);
    if (n_rows > AS_MOST_LINES_AT_ONCE)
        as_html_report_note(report, "rows of the time line of %s but for the first %d", as_view_input_name(input),
                            AS_MOST_LINES_AT_ONCE);
    if (count <= FEW && as_html_report_keep_part(report, "timeline_picture", exact, 2, PART_OF_ROOM) == AS_REPORT_KEPT)
        return;
    if (to > from) keep_detail(report, input, number, from, to, size);
}
