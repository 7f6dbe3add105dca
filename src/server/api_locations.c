/* How a metric lies over the places of a run (api/locations): statistics, a heat map, the sorted curve, a histogram,
 * and who is out of line. */
#include <stdlib.h>

#include "server/location_cells.h"
#include "server/report_choice.h"

enum { CURVE_POINTS = 1001, MOST_OUTLIERS = 40, LONGEST_PATH = 4096 };

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void build_exact(as_builder *b, const char *key, const as_spread *s, as_whole whole, double real) {
    as_answer_number(b, key, s->is_integer ? as_whole_number(whole) : (as_number){.kind = AS_REAL, .r = real});
}

static void build_at(as_builder *b, const char *key, const as_stat_view *view, uint32_t place) {
    char label[AS_PLACE_SIZE];
    as_stat_place(view, place, label);
    as_build_text(b, key, label);
}

/* n 0: null. */
static void build_spread(as_builder *b, const char *key, const as_placed_values *of, const as_spread *s, uint32_t n) {
    if (n == 0) {
        as_build_text(b, key, NULL);
        return;
    }
    as_build_object(b, key, false);
    as_build_int(b, "count", s->n);
    build_exact(b, "sum", s, s->whole_sum, s->sum);
    as_build_real(b, "mean", s->mean);
    build_exact(b, "min", s, s->whole_min, s->min);
    build_exact(b, "max", s, s->whole_max, s->max);
    as_build_real(b, "stddev", s->stddev);
    as_build_real(b, "q1", s->q1);
    as_build_real(b, "median", s->median);
    as_build_real(b, "q3", s->q3);
    if (isnan(s->imbalance))
        as_build_text(b, "imbalance", NULL);
    else
        as_build_real(b, "imbalance", s->imbalance);
    as_build_real(b, "excess", s->excess);
    build_at(b, "min_at", &of->view, s->min_at);
    build_at(b, "max_at", &of->view, s->max_at);
    as_build_end(b);
}

/* ---- the places by size ------------------------------------------------------------------------------------------ */

/* A place with a value. */
typedef struct member {
    double value;
    uint32_t place;
} member;

static int compare_members(const void *a, const void *b) {
    const member *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Those with a value, the smallest first; to be freed. NULL when memory is out. */
static member *sort_members(const as_placed_values *of) {
    member *members = malloc(((size_t)of->n_values + 1) * sizeof *members);
    uint32_t n = 0;
    for (uint32_t i = 0; members && i < of->view.places.n; i++) {
        if (as_placed_has(of, i)) members[n++] = (member){as_number_real(of->values[i]), i};
    }
    if (n) qsort(members, n, sizeof *members, compare_members);
    return members;
}

/* Values of some of them, from the smallest to the largest, and where in the order they are. */
static void build_curve(as_builder *b, const as_placed_values *of, const member *members) {
    uint32_t n = of->n_values, points = n < CURVE_POINTS ? n : CURVE_POINTS;
    as_build_object(b, "curve", false);
    as_build_array(b, "index", false);
    for (uint32_t i = 0; i < points; i++)
        as_build_int(b, NULL, points < 2 ? 0 : (int64_t)((uint64_t)i * (n - 1) / (points - 1)));
    as_build_end(b);
    as_build_array(b, "value", false);
    for (uint32_t i = 0; i < points; i++)
        as_build_real(b, NULL, members[points < 2 ? 0 : (uint64_t)i * (n - 1) / (points - 1)].value);
    as_build_end(b);
    as_build_array(b, "label", false);
    for (uint32_t i = 0; i < points; i++)
        build_at(b, NULL, &of->view, members[points < 2 ? 0 : (uint64_t)i * (n - 1) / (points - 1)].place);
    as_build_end(b);
    as_build_end(b);
}

static bool build_histogram(as_builder *b, const as_placed_values *of, const member *members) {
    uint32_t n = of->n_values, n_bins = n <= 16 ? 8 : n <= 128 ? 16 : n <= 1024 ? 32 : 64, bins[64];
    const as_spread *s = &of->spread;
    if (n == 0 || !isfinite(s->min) || !isfinite(s->max) || s->min == s->max) {
        as_build_text(b, "histogram", NULL);
        return true;
    }
    double *values = malloc(n * sizeof *values);
    if (!values) return false;
    for (uint32_t i = 0; i < n; i++) values[i] = members[i].value;
    as_spread_count(values, n, s->min, s->max, bins, n_bins);
    free(values);
    as_build_object(b, "histogram", false);
    as_build_real(b, "min", s->min);
    as_build_real(b, "max", s->max);
    as_build_array(b, "count", false);
    for (uint32_t i = 0; i < n_bins; i++) as_build_int(b, NULL, bins[i]);
    as_build_end(b);
    as_build_end(b);
    return true;
}

/* Those beyond 1.5 times the distance of the quartiles, the farthest first: from both ends of the order. What is less
 * than one percent of the median away is in line, however close the others are. */
static void build_outliers(as_builder *b, const as_placed_values *of, const member *members) {
    const as_spread *s = &of->spread;
    uint32_t n = of->n_values, low = 0, high = 0, shown[MOST_OUTLIERS], n_shown = 0;
    double reach = n ? fmax(1.5 * (s->q3 - s->q1), 0.01 * fabs(s->median)) : NAN;
    while (low < n && members[low].value < s->q1 - reach) low++;
    while (high < n - low && members[n - 1 - high].value > s->q3 + reach) high++;
    for (uint32_t i = 0, k = 0; n_shown < MOST_OUTLIERS && (i < low || k < high);) {
        bool is_low = k == high || (i < low && s->q1 - members[i].value > members[n - 1 - k].value - s->q3);
        shown[n_shown++] = is_low ? i++ : n - 1 - k++;
    }
    as_build_object(b, "outliers", false);
    as_build_int(b, "low", low);
    as_build_int(b, "high", high);
    as_build_array(b, "place", false);
    for (uint32_t i = 0; i < n_shown; i++) as_build_int(b, NULL, members[shown[i]].place);
    as_build_end(b);
    as_build_array(b, "label", false);
    for (uint32_t i = 0; i < n_shown; i++) build_at(b, NULL, &of->view, members[shown[i]].place);
    as_build_end(b);
    as_build_array(b, "value", false);
    for (uint32_t i = 0; i < n_shown; i++) as_answer_number(b, NULL, of->values[members[shown[i]].place]);
    as_build_end(b);
    as_build_end(b);
}

static bool build_by_size(as_builder *b, const as_placed_values *of) {
    member *members = sort_members(of);
    bool fine = members != NULL && build_histogram(b, of, members);
    if (fine) build_outliers(b, of, members);
    if (fine && of->view.places.n > AS_MOST_SINGLE_PLACES) build_curve(b, of, members);
    free(members);
    return fine;
}

/* ---- some of the places ------------------------------------------------------------------------------------------ */

static assay_status build_selection(as_builder *b, const as_placed_values *of, const bool *selected, const char *label,
                                    assay_error *error) {
    as_spread spread = {0};
    uint32_t n = 0, n_places = 0, *at = malloc(((size_t)of->n_values + 1) * sizeof *at);
    as_whole *wholes = malloc(((size_t)of->n_values + 1) * sizeof *wholes);
    double *reals = malloc(((size_t)of->n_values + 1) * sizeof *reals);
    void *room = malloc(AS_SPREAD_ROOM((size_t)of->n_values + 1));
    bool fine = at && wholes && reals && room;
    for (uint32_t i = 0; fine && i < of->view.places.n; i++) {
        n_places += selected[i];
        if (!selected[i] || !as_placed_has(of, i)) continue;
        as_number number = of->values[i];
        at[n] = i;
        wholes[n] = number.kind == AS_INT ? number.i : number.kind == AS_UINT ? (as_whole)number.u : 0;
        reals[n++] = as_number_real(number);
    }
    if (fine && n) {
        if (of->spread.is_integer)
            as_spread_integers(wholes, n, room, &spread);
        else
            as_spread_reals(reals, n, AS_PART_ADD, room, &spread);
        spread.min_at = at[spread.min_at];
        spread.max_at = at[spread.max_at];
    }
    if (fine) {
        as_build_object(b, "selection", false);
        as_build_text(b, "label", label);
        as_build_int(b, "n", n_places);
        build_spread(b, "statistics", of, &spread, n);
        as_build_end(b);
    }
    free(at);
    free(wholes);
    free(reals);
    free(room);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static bool build_context(as_builder *b, const as_placed_values *of) {
    as_vec path;
    bool is_whole = true;
    as_build_known(b, "context", of->context == ASSAY_NONE ? -1 : (int64_t)of->context, false);
    if (of->context == ASSAY_NONE) {
        as_build_text(b, "path", NULL);
        return true;
    }
    as_vec_init(&path, 1, NULL);
    bool fine = as_context_path_end(of->view.ds, of->context, LONGEST_PATH, &path, &is_whole);
    if (fine) as_build_text(b, "path", path.data);
    as_vec_free(&path);
    return fine;
}

static bool build_head(as_builder *b, const as_placed_values *of) {
    static const char *const overs[] = {"locations", "processes", "runs"};
    const as_dataset *ds = of->view.ds;
    const as_metric *metric = as_ds_metric(ds, of->metric);
    as_build_object(b, NULL, false);
    as_build_text(b, "over", overs[of->view.places.over]);
    as_build_text(b, "run", *of->view.where ? of->view.where : NULL);
    as_build_text(b, "metric", as_ds_text(ds, metric->name));
    as_build_text(b, "unit", as_ds_text(ds, metric->unit));
    as_build_text(b, "kind", of->is_exclusive ? "exclusive" : "inclusive");
    as_build_bool(b, "adds_up", of->adds_up);
    as_build_bool(b, "is_integer", of->n_values && of->spread.is_integer);
    as_build_int(b, "n", of->view.places.n);
    as_build_int(b, "n_processes", (int64_t)of->view.n_processes);
    return build_context(b, of);
}

static assay_status answer_locations(as_viewing *viewing, const as_request *request, as_output *out,
                                     assay_error *error) {
    const as_placed_values *of;
    bool *selected;
    char label[256];
    AS_TRY(as_placed_values_find(viewing, request, &of, error));
    AS_TRY(as_placed_selection(request, of, &selected, label, error));
    as_builder b = as_builder_of(out);
    b.compact = true;
    assay_status status = build_head(&b, of) ? ASSAY_OK : as_fail_memory(error, NULL);
    build_spread(&b, "statistics", of, &of->spread, of->n_values);
    if (status == ASSAY_OK && selected) status = build_selection(&b, of, selected, label, error);
    if (status == ASSAY_OK && of->view.places.over != AS_OVER_RUNS) status = as_answer_cells(&b, of, selected, error);
    if (status == ASSAY_OK && of->view.places.over == AS_OVER_RUNS) as_answer_runs(&b, of);
    if (status == ASSAY_OK && !build_by_size(&b, of)) status = as_fail_memory(error, NULL);
    if (status == ASSAY_OK) as_build_end(&b);
    free(selected);
    return status;
}

/* ---- in a report ------------------------------------------------------------------------------------------------- */

void as_report_row_places(as_viewing *viewing, as_html_report *report, const char *view) {
    enum { ROWS = 60, FEWEST = 4, WORK = 1 << 22 }; /* each looks at all contexts */
    size_t number;
    const as_dataset *ds = as_html_report_input(report, &number)->ds;
    size_t most = WORK / (AS_COUNT(ds, contexts) + 1);
    char metrics[AS_REPORT_NUMBERS];
    as_report_words words;
    if (view && as_ds_leaves(ds) < 2) return; /* details say nothing of runs */
    as_report_metric_numbers(viewing, report, metrics);
    as_vec rows; /* int64_t */
    as_vec_init(&rows, sizeof(int64_t), NULL);
    most = !view || most > ROWS ? ROWS : most < FEWEST ? FEWEST : most;
    as_report_rows(viewing, report, view, view ? metrics : NULL, (uint32_t)most, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        as_report_words_begin(&words, report, ASSAY_NONE);
        as_report_words_add(&words, "metrics", view ? metrics : NULL);
        as_report_words_add(&words, "view", view);
        as_report_words_row(&words, view ? "node" : "context", AS_AT(int64_t, &rows, i));
        as_html_report_keep_part(report, "locations", words.parameters, words.n, 0.005);
        as_report_words_add(&words, "kind", "exclusive");
        as_html_report_keep_part(report, "locations", words.parameters, words.n, 0.005);
    }
    as_vec_free(&rows);
}

/* The whole program in every way the page shows it, then the contexts that have most. */
static void report_places(as_viewing *viewing, as_html_report *report) {
    static const char *const ways[] = {NULL, "process", "run"};
    size_t number;
    const as_view_input *input = as_html_report_input(report, &number);
    assay_id metrics[AS_REPORT_METRICS];
    as_report_words words;
    if (!input || (as_ds_leaves(input->ds) < 2 && AS_COUNT(input->ds, runs) < 2)) return;
    size_t n = as_report_metrics(viewing, report, metrics);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < (AS_COUNT(input->ds, runs) > 1 ? 3 : 2); k++) {
            as_report_words_begin(&words, report, metrics[i]);
            as_report_words_add(&words, "by", ways[k]);
            as_html_report_keep_part(report, "locations", words.parameters, words.n, 0.05);
            as_html_report_keep_part(report, "location_tree", words.parameters, words.n, 0.05);
        }
    }
    if (AS_COUNT(input->ds, contexts)) as_report_row_places(viewing, report, NULL);
}

const as_endpoint as_endpoint_locations = {.path = "locations", .answer = answer_locations, .report = report_places};
