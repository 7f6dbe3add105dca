/* Call trees in reports: whole ones, as far as there is room. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/report_choice.h"
#include "server/tree_whole.h"

/* A view of all metrics. */
typedef struct whole {
    const char *what, *view, *by;
    double weight; /* of its part of the room, where there is not enough for all */
    const char *metrics;
    size_t place;           /* among all views */
    double rows, had, size; /* what was last asked for, rows that it had, and what they took */
    double left_out;        /* rows that it has not */
    double share;           /* and what part of the whole they have less than */
    double need;            /* about what all rows would take, for its weight */
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
    w->rows = rows;
    w->left_out = as_html_report_last_number(report, "left_out");
    w->share = as_html_report_last_number(report, "min_share");
    w->had = as_html_report_last_number(report, "items") - w->left_out;
    w->size = fmax((double)as_html_report_last_size(report), 1);
    return kept;
}

/* Some rows tell how much one takes. False: there is no such view. */
static bool look_at(as_html_report *report, whole *w) {
    enum { SOME = 10000 };
    if (keep_rows(report, w, SOME, 0) == AS_REPORT_REFUSED) return false;
    w->need = w->size * (1 + w->left_out / fmax(w->had, 1)) / w->weight;
    return true;
}

/* As many rows as this part of what is left has room for, but for a few: it is tried with fewer and more of them. */
static bool report_whole(as_html_report *report, whole *w, double part) {
    enum { FEWEST = 10, TRIES = 6 };
    static const double aim = 0.99, enough = 0.93;
    double room = (double)as_html_report_left(report) * part, fits = 0, too_many = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        bool is_all = w->left_out == 0 && w->size <= room;
        double next = is_all ? w->rows : fmin(floor(w->had * aim * room / w->size), AS_MOST_OF_WHOLE);
        if (next <= fits || next >= too_many) next = isfinite(too_many) ? floor((fits + too_many) / 2) : fits + 1;
        if (next < FEWEST || next == fits) break;
        keep_rows(report, w, next, 0);
        if (w->size > room) {
            too_many = next;
            continue;
        }
        fits = next;
        if (w->left_out == 0 || w->size >= enough * room) break;
    }
    return fits > 0 && keep_rows(report, w, fits, part) == AS_REPORT_KEPT;
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

static int compare_needs(const void *a, const void *b) {
    const whole *x = a, *y = b;
    if (x->need != y->need) return x->need < y->need ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* All metrics that the report has. Those views first that need least for their weight: what they leave is for the
 * others. */
void as_report_trees(as_viewing *viewing, as_html_report *report) {
    static const whole views[] = {
        {.what = "functions", .view = "flat", .by = "region", .weight = 1},
        {.what = "modules, files and functions", .view = "flat", .by = "scope", .weight = 1},
        {.what = "call paths", .weight = 4},
        {.what = "callers", .view = "bottom-up", .weight = 2},
        {.what = "modules", .view = "flat", .by = "module", .weight = 0.5},
        {.what = "files", .view = "flat", .by = "file", .weight = 0.5},
        {.what = "kinds", .view = "flat", .by = "kind", .weight = 0.5},
    };
    enum { VIEWS = sizeof views / sizeof *views };
    whole wholes[VIEWS];
    assay_id metrics[AS_REPORT_METRICS];
    char numbers[AS_REPORT_NUMBERS];
    size_t number, n_wholes = 0;
    double weights = 0;
    const as_view_input *input = as_html_report_input(report, &number);
    if (!input || !AS_COUNT(input->ds, contexts) || !AS_COUNT(input->ds, metrics)) return;
    size_t n = as_report_metrics(viewing, report, metrics);
    note_metrics(report, input, metrics, n);
    as_report_metric_numbers(viewing, report, numbers);
    for (size_t i = 0; i < VIEWS; i++) {
        whole w = views[i];
        w.metrics = numbers;
        w.place = i;
        if (w.by && strcmp(w.by, "scope") == 0 && !as_view_has_scopes(input->ds)) continue;
        if (!look_at(report, &w)) continue;
        weights += w.weight;
        wholes[n_wholes++] = w;
    }
    qsort(wholes, n_wholes, sizeof *wholes, compare_needs);
    for (size_t i = 0; i < n_wholes; i++) {
        whole *w = &wholes[i];
        bool is_there = report_whole(report, w, w->weight / weights);
        note_whole(report, w->what, w->left_out, w->share, is_there);
        weights -= w->weight;
    }
}
