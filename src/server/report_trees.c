/* Call trees in reports: whole ones, as far as there is room. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/report_choice.h"
#include "server/tree_whole.h"

/* A view of all metrics. */
typedef struct whole {
    const char *metrics, *view, *by;
    double left_out; /* rows that it has not */
    double share;    /* and the least part of the whole that one must have */
} whole;

/* With so many rows at most. part 0: nothing is kept, but it is known how much it would take. */
static as_html_report_kept keep_rows(as_html_report *report, whole *w, double rows, double part) {
    char most[AS_NUMBER_SIZE];
    as_report_words words;
    as_uint_format((uint64_t)rows, most);
    as_report_words_begin(&words, report, ASSAY_NONE);
    as_report_words_add(&words, "metrics", w->metrics);
    as_report_words_add(&words, "view", w->view);
    as_report_words_add(&words, "by", w->by);
    as_report_words_add(&words, "sort", "source");
    as_report_words_add(&words, "whole", most);
    as_html_report_kept kept = as_html_report_keep_part(report, "tree", words.parameters, words.n, part);
    w->left_out = as_html_report_last_number(report, "left_out");
    w->share = as_html_report_last_number(report, "min_share");
    return kept;
}

/* A whole tree, as much of it as this part of what is left has room for: some rows tell how much one takes. */
static bool report_whole(as_html_report *report, whole *w, double part) {
    enum { FEWEST = 10, SOME = 3000 };
    double room = (double)as_html_report_left(report) * part;
    double rows = SOME;
    if (keep_rows(report, w, rows, 0) == AS_REPORT_REFUSED) return false;
    while (rows >= FEWEST) {
        double had = as_html_report_last_number(report, "items") - w->left_out; /* fewer than it might have had */
        double size = fmax((double)as_html_report_last_size(report), 1);
        bool is_all = w->left_out == 0 && size <= room;
        if (!is_all)
            rows = fmin(fmin(0.97 * had * room / size, AS_MOST_OF_WHOLE), size > room ? 0.95 * rows : INFINITY);
        as_html_report_kept kept = keep_rows(report, w, rows, part);
        if (kept != AS_REPORT_TOO_LARGE) return kept == AS_REPORT_KEPT;
    }
    return false;
}

static void note_whole(as_html_report *report, const char *what, double left_out, double share, bool is_there) {
    size_t number;
    const char *name = as_view_input_name(as_html_report_input(report, &number));
    char percent[AS_NUMBER_SIZE], count[AS_NUMBER_SIZE];
    if (is_there && !(left_out > 0)) return;
    as_uint_format((uint64_t)left_out, count);
    int digits = share > 0 ? (int)ceil(-log10(share * 100) - 1e-9) : 0; /* of shares of one digit; most have two */
    bool is_short = as_real_round(share, 1) == as_real_round(share, 2);
    digits += is_short ? 0 : 1;
    as_real_format_digits(share > 0 ? share * 100 : 0, false, digits > 0 ? digits : 0, percent, sizeof percent);
    if (!is_there)
        as_html_report_note(report, "%s of %s: there is no room", what, name);
    else if (share > 0)
        as_html_report_note(report, "%s %s of %s that have less than %s %% of the whole", count, what, name, percent);
    else
        as_html_report_note(report, "%s %s of %s", count, what, name);
}

/* The metrics that are not in the report, by name. */
static void note_metrics(as_html_report *report, const as_view_input *input, const assay_id *metrics, size_t n) {
    enum { MOST_NAMES = 20 };
    const as_dataset *ds = input->ds;
    as_vec names;
    size_t n_missing = 0;
    char count[AS_NUMBER_SIZE];
    as_vec_init(&names, sizeof(char), NULL);
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        bool is_there = !as_report_offers(ds, id);
        for (size_t i = 0; !is_there && i < n; i++) is_there = metrics[i] == id;
        if (is_there || n_missing++ >= MOST_NAMES) continue;
        const char *name = as_ds_text(ds, as_ds_metric(ds, id)->name);
        bool fine = as_vec_text(&names, n_missing > 1 ? ", " : "") && as_vec_text(&names, name ? name : "(unknown)");
        if (!fine) as_html_report_fail(report, NULL);
    }
    if (!as_vec_append(&names, "", 1)) as_html_report_fail(report, NULL);
    as_uint_format(n_missing, count);
    if (n_missing)
        as_html_report_note(report, "%s metrics of %s: %s%s", count, as_view_input_name(input),
                            names.count ? (const char *)names.data : "", n_missing > MOST_NAMES ? " …" : "");
    as_vec_free(&names);
}

/* All metrics that the report has, as many as one answer can hold; where there is little room only the first. */
void as_report_trees(as_viewing *viewing, as_html_report *report) {
    static const struct {
        const char *what, *view, *by;
        double part; /* of what is left */
    } wholes[] = {
        {"functions", "flat", "region", 0.15}, {"modules, files and functions", "flat", "scope", 0.15},
        {"call paths", NULL, NULL, 0.6},       {"callers", "bottom-up", NULL, 0.65},
        {"modules", "flat", "module", 0.1},    {"files", "flat", "file", 0.2},
        {"kinds", "flat", "kind", 0.2},
    };
    assay_id metrics[AS_REPORT_METRICS];
    char numbers[AS_REPORT_METRICS * 12] = "";
    size_t number, used = 0;
    const as_view_input *input = as_html_report_input(report, &number);
    if (!input || !AS_COUNT(input->ds, contexts) || !AS_COUNT(input->ds, metrics)) return;
    size_t n = as_report_metrics(viewing, report, metrics);
    note_metrics(report, input, metrics, n);
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(numbers + used, sizeof numbers - used, "%s%u", i ? "," : "", metrics[i]);
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        whole w = {.metrics = numbers, .view = wholes[i].view, .by = wholes[i].by};
        if (wholes[i].by && strcmp(wholes[i].by, "scope") == 0 && !as_view_has_scopes(input->ds)) continue;
        bool is_there = report_whole(report, &w, wholes[i].part);
        note_whole(report, wholes[i].what, w.left_out, w.share, is_there);
    }
}
